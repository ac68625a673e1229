//! Commands over a connection of their own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::bson::{Document, Raw, Value};
use crate::client::{Client, Failure, Reply, code, code_of};
use crate::connect::Place;
use crate::session::ADMIN;
use crate::{facts, json};
use inrush_core::error::{Error, Result};
use inrush_core::target::may_be_secret;
use inrush_core::target::{Console, Row, Setting};
use inrush_net::Wired as _;

/// A connection; nothing goes over it but what it is told to send.
///
/// A statement is a command, written as extended JSON: `{"count": "t", "query": {"i": 5}}`. The documents of a cursor are rows, their
/// fields columns; of any other command that asks something, the answer is a row.
pub(super) struct MongoConsole<'a> {
    /// `None` once it is lost.
    client: Option<Client<'a>>,
    database: String,
}

/// Fields of an answer that are the protocol's.
const FRAME: [&str; 4] = ["ok", "$clusterTime", "operationTime", "electionId"];

impl<'a> MongoConsole<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        match Client::connect(place, Some(stop)) {
            Ok(client) => Ok(Self { client: Some(client), database: place.database.clone() }),
            Err(Failure::Lost(lost)) => Err(Error::target(format!("no connection: {lost}"))
                .advise(format!("check that the server runs at {}", place.shown))),
            Err(failure) => Err(in_words(failure)),
        }
    }

    fn command(&mut self, database: Option<&str>, command: Document) -> Result<Reply> {
        let Some(client) = &mut self.client else {
            return Err(Error::target("the connection is closed").of_lost_connection());
        };
        let outcome = client.command(database.unwrap_or(&self.database), command);
        let was_stopped = client.was_stopped();
        if matches!(outcome, Err(Failure::Lost(_))) {
            self.client = None;
        }
        match outcome {
            // Whether it came to its end before it was told to, nobody knows.
            _ if was_stopped => Err(Error::interrupted()),
            Err(failure) if code_of(&failure) == code::NAMESPACE_NOT_FOUND => {
                Err(Error::target(GONE))
            }
            outcome => outcome.map_err(in_words),
        }
    }
}

/// As servers word it in different ways.
const GONE: &str = "there is no such collection";

impl Console for MongoConsole<'_> {
    fn run(&mut self, text: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let command = json::command(text).map_err(|wanted| {
            Error::target(format!("the command is not {wanted}"))
                .advise("write it as {\"find\": \"collection\", \"filter\": {}}")
        })?;
        let command =
            Raw::read(&command).ok_or_else(|| Error::target("the command is no document"))?;
        let verb =
            command.elements().next().map(|(name, _)| String::from_utf8_lossy(name).into_owned());
        let verb = verb.ok_or_else(|| Error::target("the command is empty"))?;
        let database = command.text("$db").map(str::to_owned);
        let elements = command.elements().filter(|(name, _)| *name != b"$db");
        let command = elements.fold(Document::new(), |copy, (name, value)| {
            copy.value(&String::from_utf8_lossy(name), value)
        });
        let mut reply = match self.command(database.as_deref(), command) {
            // Since MongoDB 7.0 a collection that isn't there is as good as dropped.
            Err(error) if verb == "drop" && error.what() == GONE => return Ok(0),
            reply => reply?,
        };
        loop {
            let answer = reply.document();
            if let Some(error) =
                answer.documents("writeErrors").next().or(answer.document("writeConcernError"))
            {
                return Err(Error::target(error.text("errmsg").unwrap_or("the server refuses it")));
            }
            let Some(cursor) = answer.document("cursor") else {
                return Ok(answered(&verb, answer, row));
            };
            let batch = if cursor.get("firstBatch").is_some() { "firstBatch" } else { "nextBatch" };
            cursor.documents(batch).for_each(|document| hand_out(document, row));
            let id = cursor.number("id").unwrap_or_default();
            let collection = cursor
                .text("ns")
                .and_then(|name| name.split_once('.'))
                .map(|(_, name)| name.to_owned());
            if id == 0 {
                return Ok(0);
            }
            let more = Document::new()
                .int64("getMore", id)
                .string("collection", &collection.unwrap_or_default());
            reply = self.command(database.as_deref(), more)?;
        }
    }

    fn ping(&mut self) -> Result<()> {
        self.command(None, Document::new().int32("ping", 1)).map(drop)
    }

    fn seconds(&mut self) -> Result<i64> {
        let reply = self.command(None, Document::new().int32("hello", 1))?;
        let millis = reply.document().get("localTime").and_then(Value::date);
        millis.map(|millis| millis / 1000).ok_or_else(|| {
            Error::target("the server does not say what time it is (localTime of hello)")
        })
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        let all = self.command(Some(ADMIN), Document::new().string("getParameter", "*"));
        let reply = match all {
            Ok(reply) => reply,
            // Who may write rows need not be the administrator.
            Err(_) if self.client.is_some() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let settings = reply.document().elements().filter_map(|(name, value)| {
            let name = String::from_utf8_lossy(name).into_owned();
            let is_setting = !FRAME.contains(&name.as_str()) && !may_be_secret(&name);
            let value = json::shown(value).filter(|_| is_setting)?;
            Some(Setting { name, value, default: None })
        });
        let mut settings: Vec<Setting> = settings.collect();
        settings.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(settings)
    }

    fn engine(&mut self) -> Result<String> {
        let reply = self.command(None, Document::new().int32("buildInfo", 1))?;
        Ok(facts::engine(reply.document()))
    }
}

/// Hands out a document's fields.
fn hand_out(document: Raw<'_>, row: &mut dyn FnMut(&Row<'_>)) {
    let shown: Vec<Option<String>> =
        document.elements().map(|(_, value)| json::shown(value)).collect();
    row(&shown.iter().map(|value| value.as_ref().map(String::as_bytes)).collect::<Vec<_>>());
}

/// What a command without a cursor has answered: of one that writes, how many documents it changed.
fn answered(verb: &str, answer: Raw<'_>, row: &mut dyn FnMut(&Row<'_>)) -> u64 {
    let count =
        |name: &str| answer.number(name).and_then(|n| u64::try_from(n).ok()).unwrap_or_default();
    match verb {
        "insert" | "delete" => count("n"),
        "update" => count("nModified") + answer.documents("upserted").count() as u64,
        "create" | "createIndexes" | "drop" | "dropDatabase" | "dropIndexes"
        | "renameCollection" | "ping" => 0,
        _ => {
            let fields = answer
                .elements()
                .filter(|(name, _)| !FRAME.iter().any(|frame| frame.as_bytes() == *name));
            let shown: Vec<Option<String>> = fields.map(|(_, value)| json::shown(value)).collect();
            row(&shown
                .iter()
                .map(|value| value.as_ref().map(String::as_bytes))
                .collect::<Vec<_>>());
            0
        }
    }
}

fn in_words(failure: Failure) -> Error {
    match failure {
        Failure::Stopped => Error::interrupted(),
        Failure::Lost(lost) => lost.in_words(),
        Failure::Server(refused) if refused.code == code::UNAUTHORIZED => {
            Error::target(refused.message).of_lacking_right()
        }
        Failure::Server(refused) => Error::target(refused.message),
    }
}
