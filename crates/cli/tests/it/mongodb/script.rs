//! A server in memory that speaks MongoDB's protocol as far as loads need it, and otherwise answers as a test tells it to.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value as Json, json};

/// What a test makes of a command and of the documents behind it.
pub(crate) enum Fate {
    /// It is carried out.
    Done,
    /// It is answered so, and nothing is done.
    Answered(Json),
    /// It is carried out, and the connection ends before the answer.
    Swallowed,
}

/// Under this name a command has what it is called by: members of an object here have no order.
pub(crate) const VERB: &str = "$verb";

type Judge = dyn Fn(&Json, &[Json]) -> Fate + Send + Sync;

/// A server.
pub(crate) struct Script {
    pub(crate) address: String,
    state: Arc<State>,
}

struct State {
    address: String,
    collections: Mutex<BTreeMap<String, Vec<Json>>>,
    /// The commands that came, and the documents behind them.
    heard: Mutex<Vec<(Json, Vec<Json>)>>,
    judge: Box<Judge>,
}

impl Script {
    pub(crate) fn start(judge: impl Fn(&Json, &[Json]) -> Fate + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            address: address.clone(),
            collections: Mutex::default(),
            heard: Mutex::default(),
            judge: Box::new(judge),
        });
        let serving = Arc::clone(&state);
        // They end with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&serving);
                std::thread::spawn(move || while state.serve(&client).is_some() {});
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("mongodb://{}/d", self.address)
    }

    pub(crate) fn collections(&self) -> Vec<String> {
        self.state.collections.lock().unwrap().keys().cloned().collect()
    }

    pub(crate) fn put(&self, collection: &str, documents: &[Json]) {
        self.state.collections.lock().unwrap().insert(collection.to_owned(), documents.to_vec());
    }

    pub(crate) fn documents(&self, collection: &str) -> Vec<Json> {
        self.state.collections.lock().unwrap().get(collection).cloned().unwrap_or_default()
    }

    /// Commands of this name that came.
    pub(crate) fn heard(&self, name: &str) -> Vec<Json> {
        let heard = self.state.heard.lock().unwrap();
        let named = heard.iter().map(|(command, _)| command);
        named.filter(|command| command[VERB] == name).cloned().collect()
    }

    /// Documents that came behind commands of this name.
    pub(crate) fn sent(&self, name: &str) -> Vec<Json> {
        let heard = self.state.heard.lock().unwrap();
        let named = heard.iter().filter(|(command, _)| command[VERB] == name);
        named.flat_map(|(_, documents)| documents.clone()).collect()
    }
}

impl State {
    /// Answers one message; `None` when the connection has ended.
    fn serve(&self, mut client: &TcpStream) -> Option<()> {
        let mut length = [0; 4];
        client.read_exact(&mut length).ok()?;
        let mut message = vec![0; u32::from_le_bytes(length) as usize - 4];
        client.read_exact(&mut message).ok()?;
        let number = &message[..4];
        let is_told = message[12] & 2 != 0;
        let mut at = 16;
        let mut command = Json::Null;
        let mut documents = Vec::new();
        while at < message.len() {
            let section = message[at];
            let size = u32::from_le_bytes(message[at + 1..at + 5].try_into().unwrap()) as usize;
            let body = &message[at + 1..at + 1 + size];
            if section == 0 {
                command = document(body, false);
                let end = 5 + body[5..].iter().position(|byte| *byte == 0).unwrap();
                command[VERB] = json!(std::str::from_utf8(&body[5..end]).unwrap());
            } else {
                let mut rest = &body[5 + body[4..].iter().position(|byte| *byte == 0).unwrap()..];
                while !rest.is_empty() {
                    let size = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
                    documents.push(document(&rest[..size], false));
                    rest = &rest[size..];
                }
            }
            at += 1 + size;
        }
        self.heard.lock().unwrap().push((command.clone(), documents.clone()));
        let answer = match (self.judge)(&command, &documents) {
            Fate::Done => self.done(&command, documents),
            Fate::Answered(answer) => answer,
            Fate::Swallowed => {
                self.done(&command, documents);
                let _ = client.shutdown(std::net::Shutdown::Both);
                return None;
            }
        };
        if is_told {
            return Some(());
        }
        let body = bytes(&answer);
        let mut reply = (21 + body.len() as u32).to_le_bytes().to_vec();
        reply.extend_from_slice(&[0; 4]);
        reply.extend_from_slice(number);
        reply.extend_from_slice(&2013_u32.to_le_bytes());
        reply.extend_from_slice(&[0; 5]);
        reply.extend_from_slice(&body);
        client.write_all(&reply).ok()
    }

    fn done(&self, command: &Json, documents: Vec<Json>) -> Json {
        let verb = command[VERB].as_str().unwrap();
        let name = command[verb].as_str().unwrap_or_default().to_owned();
        let mut collections = self.collections.lock().unwrap();
        let cursor = |batch: Vec<Json>| json!({"cursor": {"id": 0, "ns": format!("d.{name}"), "firstBatch": batch}, "ok": 1.0});
        let there = |name: &String| collections.contains_key(name);
        match verb {
            "hello" => hello(&json!({})),
            "buildInfo" => json!({"version": "7.0.0", "ok": 1.0}),
            "listCollections" => {
                let wanted = command.pointer("/filter/name").and_then(Json::as_str);
                let is_wanted = |name: &&String| wanted.is_none_or(|wanted| wanted == *name);
                let list = collections.keys().filter(is_wanted);
                cursor(
                    list.map(|name| json!({"name": name, "type": "collection", "options": {}}))
                        .collect(),
                )
            }
            "listIndexes" => cursor(vec![json!({"v": 2, "key": {"_id": 1}, "name": "_id_"})]),
            "create" if there(&name) => refusal(48, "already there"),
            "create" => {
                collections.insert(name, Vec::new());
                json!({"ok": 1.0})
            }
            "drop" => match collections.remove(&name) {
                Some(_) => json!({"ok": 1.0}),
                None => refusal(26, "ns not found"),
            },
            "renameCollection" => {
                let from = name.strip_prefix("d.").unwrap();
                let to = command["to"].as_str().unwrap().strip_prefix("d.").unwrap();
                if collections.contains_key(to) && command["dropTarget"] != json!(true) {
                    return refusal(48, "target namespace exists");
                }
                match collections.remove(from) {
                    Some(documents) => {
                        collections.insert(to.to_owned(), documents);
                        json!({"ok": 1.0})
                    }
                    None => refusal(26, "source namespace does not exist"),
                }
            }
            "insert" => {
                let taken = documents.len();
                collections.entry(name).or_default().extend(documents);
                json!({"n": taken, "ok": 1.0})
            }
            "find" => cursor(collections.get(&name).cloned().unwrap_or_default()),
            "aggregate" => {
                let count = collections.get(&name).map_or(0, Vec::len);
                cursor(if count > 0 { vec![json!({"n": count})] } else { Vec::new() })
            }
            "update" => json!({"n": 0, "nModified": 0, "ok": 1.0}),
            "createIndexes" | "ping" | "killSessions" => json!({"ok": 1.0}),
            other => refusal(59, &format!("no such command: '{other}' on {}", self.address)),
        }
    }
}

/// What a server says of itself, with what a test has it say besides.
pub(crate) fn hello(more: &Json) -> Json {
    let mut hello = json!({
        "isWritablePrimary": true,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "logicalSessionTimeoutMinutes": 30,
        "minWireVersion": 0,
        "maxWireVersion": 21,
        "ok": 1.0,
    });
    let more = more.as_object().unwrap().clone();
    hello.as_object_mut().unwrap().extend(more);
    hello
}

pub(crate) fn refusal(code: i32, message: &str) -> Json {
    json!({"ok": 0.0, "code": code, "errmsg": message})
}

/// BSON of an object, or of an array.
fn bytes(value: &Json) -> Vec<u8> {
    let members: Vec<(String, &Json)> = match value {
        Json::Array(values) => {
            values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        Json::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        other => panic!("{other} is no document"),
    };
    let mut out = vec![0; 4];
    for (name, value) in members {
        let (kind, body) = match value {
            Json::Null => (0x0a, Vec::new()),
            Json::Bool(truth) => (0x08, vec![u8::from(*truth)]),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => match i32::try_from(number) {
                    Ok(number) => (0x10, number.to_le_bytes().to_vec()),
                    Err(_) => (0x12, number.to_le_bytes().to_vec()),
                },
                (None, number) => (0x01, number.unwrap().to_le_bytes().to_vec()),
            },
            Json::String(text) => {
                let length = (text.len() as u32 + 1).to_le_bytes();
                (0x02, [&length[..], text.as_bytes(), &[0]].concat())
            }
            Json::Array(_) => (0x04, bytes(value)),
            Json::Object(_) => (0x03, bytes(value)),
        };
        out.push(kind);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.extend_from_slice(&body);
    }
    out.push(0);
    let length = (out.len() as u32).to_le_bytes();
    out[..4].copy_from_slice(&length);
    out
}

/// The document as JSON; what JSON has not comes as text.
fn document(bytes: &[u8], is_array: bool) -> Json {
    let mut members = Map::new();
    let mut values = Vec::new();
    let mut rest = &bytes[4..bytes.len() - 1];
    while let Some((kind, behind)) = rest.split_first() {
        let end = behind.iter().position(|byte| *byte == 0).unwrap();
        let name = String::from_utf8(behind[..end].to_vec()).unwrap();
        let body = &behind[end + 1..];
        let counted = || u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
        let (value, length) = match kind {
            0x01 => (json!(f64::from_le_bytes(body[..8].try_into().unwrap())), 8),
            0x02 => {
                let length = counted();
                (json!(std::str::from_utf8(&body[4..3 + length]).unwrap()), 4 + length)
            }
            0x03 | 0x04 => (document(&body[..counted()], *kind == 0x04), counted()),
            0x05 => (json!(String::from_utf8_lossy(&body[5..5 + counted()])), 5 + counted()),
            0x07 => {
                (json!(body[..12].iter().map(|byte| format!("{byte:02x}")).collect::<String>()), 12)
            }
            0x08 => (json!(body[0] == 1), 1),
            0x0a => (Json::Null, 0),
            0x10 => (json!(i32::from_le_bytes(body[..4].try_into().unwrap())), 4),
            0x09 | 0x12 => (json!(i64::from_le_bytes(body[..8].try_into().unwrap())), 8),
            0x13 => (json!("a decimal"), 16),
            other => panic!("kind {other:#x} in {name}"),
        };
        match is_array {
            true => values.push(value),
            false => drop(members.insert(name, value)),
        }
        rest = &body[length..];
    }
    match is_array {
        true => Json::Array(values),
        false => Json::Object(members),
    }
}
