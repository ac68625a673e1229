//! What a server's settings and a database's collections put at risk or hold back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::indexes::{Index, covered};
use inrush_core::doctor::{Check, Doctor, Examined, Found, Rule, Severity, Surroundings, apply};
use inrush_core::error::{Error, Result};
use inrush_core::target::Location;

use crate::bson::{Document, Raw};
use crate::client::{Client, Failure, Reply};
use crate::connect;
use crate::facts::engine;
use crate::json;
use crate::session::{ADMIN, no_connection};
use inrush_net::Wired as _;

/// Collections whose indexes are looked at: each is a command.
const LOOKED_AT_MAX: usize = 300;

/// What is read of a server and a database.
#[derive(Default)]
struct Seen {
    database: String,
    /// Whether its options switch the journal off.
    is_without_journal: bool,
    /// Seconds between checkpoints.
    sync_delay: Option<f64>,
    /// Acknowledgements that a write waits for where nobody says otherwise.
    write_concern: Option<i64>,
    profile: i64,
    /// A table is a collection.
    indexes: Vec<Index>,
    not_known: Vec<String>,
}

static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "storage.journal.enabled",
            severity: Severity::Risk,
            reads: "getCmdLineOpts",
            finds: "false, which servers before 6.1 take",
            why: "a crash loses all that was written since the last checkpoint, up to a minute",
            source: "https://www.mongodb.com/docs/manual/core/journaling/",
            change: "a line of mongod.conf, and a restart",
            risk: "writes with j: true wait for the disk",
        },
        look: |seen| match seen.is_without_journal {
            true => vec![
                Found::new("server", "false", "true")
                    .line("storage.journal.enabled: true")
                    .after_restart(),
            ],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "syncdelay",
            severity: Severity::Risk,
            reads: "getParameter",
            finds: "0",
            why: "no checkpoint is written: the journal grows, and without it nothing is on disk",
            source: "https://www.mongodb.com/docs/manual/reference/parameters/",
            change: "setParameter",
            risk: "writes in the background every minute",
        },
        look: |seen| match seen.sync_delay {
            Some(0.0) => vec![
                Found::new("server", "0", "60 seconds, the default")
                    .statement(r#"{"setParameter": 1, "syncdelay": 60, "$db": "admin"}"#)
                    .line("setParameter.syncdelay: 60"),
            ],
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "defaultWriteConcern",
            severity: Severity::Risk,
            reads: "getDefaultRWConcern",
            finds: "w: 0",
            why: "writes of programs that name no concern are not acknowledged: an error is never heard of",
            source: "https://www.mongodb.com/docs/manual/reference/command/setDefaultRWConcern/",
            change: "setDefaultRWConcern",
            risk: "such programs wait for most members of the replica set",
        },
        look: |seen| {
            match seen.write_concern {
            Some(0) => vec![Found::new("server", "w: 0", "w: majority").statement(
                r#"{"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": "majority"}, "$db": "admin"}"#,
            )],
            _ => Vec::new(),
        }
        },
    },
    Check {
        rule: Rule {
            id: "profile",
            severity: Severity::Slow,
            reads: "profile",
            finds: "2",
            why: "each command, and each batch of a load, is written into system.profile as well",
            source: "https://www.mongodb.com/docs/manual/tutorial/manage-the-database-profiler/",
            change: "profile",
            risk: "what was done is no longer on record",
        },
        look: |seen| match seen.profile {
            2 => vec![
                Found::new(format!("database {}", seen.database), "2: all commands", "1, or 0")
                    .statement(r#"{"profile": 0}"#),
            ],
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "listIndexes",
            finds: "an index whose fields are, or begin, those of another one",
            why: "every document is written into both indexes, and the other one answers all that this one can",
            source: "https://www.mongodb.com/docs/manual/core/indexes/index-types/index-compound/",
            change: "dropIndexes",
            risk: "a query that names it in a hint fails",
        },
        look: |seen| {
            let found = |(index, other): (&Index, &Index)| {
                let command = serde_json::json!({"dropIndexes": index.table, "index": index.name});
                let is = format!("covered by {}", other.name);
                Found::new(format!("index {} of {}", index.name, index.table), is, "no index")
                    .statement(command.to_string())
            };
            covered(&seen.indexes).into_iter().map(found).collect()
        },
    },
];

pub(super) struct MongoDoctor;

impl Doctor for MongoDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        CHECKS.iter().map(|check| &check.rule).collect()
    }

    fn examine(
        &self,
        location: &Location,
        _around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let place = Arc::new(connect::place(&location.secret)?);
        let client = Client::connect(&place, Some(stop))
            .map_err(|failure| no_connection(&place, failure))?;
        let mut asked = Commands { client, seen: Seen::default() };
        asked.seen.database.clone_from(&place.database);
        let version = asked
            .ask(ADMIN, Document::new().int32("buildInfo", 1))?
            .map(|reply| engine(reply.document()))
            .unwrap_or_default();
        asked.read_server()?;
        asked.read_collections()?;
        let mut seen = asked.seen;
        seen.not_known.push(
            "memory, disk and processors of the server's machine: MongoDB is looked at by commands only"
                .to_owned(),
        );
        Ok(Examined {
            version,
            findings: apply(CHECKS, &seen),
            not_known: seen.not_known,
            folders: Vec::new(),
            settings: Vec::new(),
        })
    }
}

/// A connection that is asked.
struct Commands<'a> {
    client: Client<'a>,
    seen: Seen,
}

impl Commands<'_> {
    /// The answer; `None` where the server refuses.
    fn ask(&mut self, database: &str, command: Document) -> Result<Option<Reply>> {
        match self.client.command(database, command) {
            _ if self.client.was_stopped() => Err(Error::interrupted()),
            Ok(reply) => Ok(Some(reply)),
            Err(Failure::Lost(lost)) => Err(lost.in_words()),
            Err(_) => Ok(None),
        }
    }

    /// The same, where a refusal leaves something unknown.
    fn wanted(&mut self, command: Document, what: &str) -> Result<Option<Reply>> {
        let reply = self.ask(ADMIN, command)?;
        if reply.is_none() {
            self.seen.not_known.push(format!("{what}: takes the role clusterMonitor"));
        }
        Ok(reply)
    }

    fn read_server(&mut self) -> Result<()> {
        let options =
            self.wanted(Document::new().int32("getCmdLineOpts", 1), "the server's options")?;
        if let Some(reply) = options {
            let storage = reply.document().document("parsed").and_then(|it| it.document("storage"));
            let enabled = storage
                .and_then(|storage| storage.document("journal"))
                .and_then(|journal| journal.get("enabled"))
                .and_then(super::bson::Value::boolean);
            self.seen.is_without_journal = enabled == Some(false);
        }
        let parameter = Document::new().int32("getParameter", 1).int32("syncdelay", 1);
        if let Some(reply) = self.ask(ADMIN, parameter)? {
            let value = reply.document().get("syncdelay");
            self.seen.sync_delay =
                value.and_then(|value| value.double().or_else(|| value.number().map(|n| n as f64)));
        }
        // A server that stands alone has none.
        if let Some(reply) = self.ask(ADMIN, Document::new().int32("getDefaultRWConcern", 1))? {
            let concern = reply.document().document("defaultWriteConcern");
            self.seen.write_concern = concern.and_then(|concern| concern.number("w"));
        }
        let database = self.seen.database.clone();
        if let Some(reply) = self.ask(&database, Document::new().int32("profile", -1))? {
            self.seen.profile = reply.document().number("was").unwrap_or(0);
        }
        Ok(())
    }

    fn read_collections(&mut self) -> Result<()> {
        let database = self.seen.database.clone();
        let list = Document::new()
            .int32("listCollections", 1)
            .boolean("nameOnly", true)
            .document("cursor", Document::new().int32("batchSize", 1000));
        let Some(reply) = self.ask(&database, list)? else {
            self.seen.not_known.push("indexes: takes the role read on the database".to_owned());
            return Ok(());
        };
        let cursor = reply.document().document("cursor");
        let names: Vec<String> = cursor
            .into_iter()
            .flat_map(|cursor| cursor.documents("firstBatch"))
            .filter(|collection| collection.text("type").is_none_or(|kind| kind == "collection"))
            .filter_map(|collection| collection.text("name").map(str::to_owned))
            .filter(|name| !name.starts_with("system."))
            .collect();
        for name in names.into_iter().take(LOOKED_AT_MAX) {
            let list = Document::new()
                .string("listIndexes", &name)
                .document("cursor", Document::new().int32("batchSize", 1000));
            let Some(reply) = self.ask(&database, list)? else { continue };
            if let Some(cursor) = reply.document().document("cursor") {
                self.seen.indexes.extend(
                    cursor.documents("firstBatch").filter_map(|index| index_of(&name, index)),
                );
            }
        }
        Ok(())
    }
}

/// An index as listIndexes has it. What has options is of a kind of its own.
fn index_of(collection: &str, index: Raw<'_>) -> Option<Index> {
    let name = index.text("name")?.to_owned();
    let field = |(name, value): (&[u8], super::bson::Value<'_>)| {
        let order = json::shown(value).unwrap_or_default();
        format!("{}\0{order}", String::from_utf8_lossy(name))
    };
    let is_plain = |option: &[u8]| matches!(option, b"v" | b"key" | b"name" | b"unique" | b"ns");
    let has_options = index.elements().any(|(option, _)| !is_plain(option));
    Some(Index {
        table: collection.to_owned(),
        columns: index.document("key")?.elements().map(field).collect(),
        kind: if has_options { format!("options of {name}") } else { String::new() },
        is_unique: index.is_true("unique") || name == "_id_",
        is_kept: name == "_id_",
        name,
    })
}
