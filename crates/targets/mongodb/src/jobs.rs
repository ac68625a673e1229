//! MongoDB's part in jobs, whose rows several processes write.
//!
//! There are no transactions for so many rows, and no locks of a connection. So a job makes its rows seen at once only by giving a
//! collection its name, which is one step; a partition that comes in by itself is written straight into the collection, by ids that say
//! which row of which partition of which job a document is, so that writing it again finds it there (`ids`); a change of a state is an
//! update of one document, which is one step too; and a lock is a field of the job's document with a time until which it holds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::bson::{Document, Raw};
use crate::client::{Failure, refused};
use crate::connect;
use crate::facts::{CAPPED, TIME_SERIES, VIEW};
use crate::session::{Session, explain};
use crate::staging::TRIES;
use crate::{fields, ids};
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::target::{
    At, Console, Copying, Entry, Fence, Home, JobLock, JobRows, JobTables, Location, Part, Set,
    Untold, Wanted, Which,
};
use inrush_core::{Job, TargetFacts};

/// Jobs of MongoDB, and of what speaks its protocol.
pub(super) struct MongoJobs;

/// For how long a lock is held that is not renewed.
const LEASE: Duration = Duration::from_secs(30);

/// Bytes of documents that are copied by one command.
const COPIED_BYTES: usize = 4 << 20;

/// The text as extended JSON has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

/// An index as it is made, named as the server would.
fn index(fields: &[&str], unique: bool) -> String {
    let keys: Vec<String> = fields.iter().map(|field| format!("{}: 1", quoted(field))).collect();
    let name: Vec<String> = fields.iter().map(|field| format!("{field}_1")).collect();
    let (keys, name) = (keys.join(", "), quoted(&name.join("_")));
    format!("{{\"key\": {{{keys}}}, \"name\": {name}, \"unique\": {unique}}}")
}

impl JobTables for MongoJobs {
    /// To give a collection a name takes that of the database.
    fn home(&self, facts: &TargetFacts, table: &str) -> Home {
        let server = crate::facts::ServerFacts::of(facts);
        Home { schema: Some(server.database.clone()), table: table.to_owned() }
    }

    fn refuse(&self, job: &Job, _makes_tables: bool) -> Result<()> {
        let kept = job.kept_table().and_then(|table| table.storage.as_deref());
        match kept {
            Some(kind @ (VIEW | CAPPED | TIME_SERIES)) => {
                Err(Error::target(format!("{} is a {kind}, and no job writes into one", job.table))
                    .advise("name a plain collection"))
            }
            _ => Ok(()),
        }
    }

    /// A collection says neither which column is `_id`, nor what kind of value a text is to become.
    fn untold(&self, job: &Job) -> Untold {
        let primary_key = match job.request.primary_key.as_slice() {
            [key] => vec![key.clone()],
            _ => Vec::new(),
        };
        let types = job.facts.source.loaded().map(|field| (field.name.clone(), field.ty)).collect();
        Untold { primary_key, types }
    }

    fn opening(&self) -> Option<&'static str> {
        None
    }

    fn requested(&self, _home: &Home, table: &str) -> String {
        table.to_owned()
    }

    fn make_ledger(&self, _home: &Home, ledger: &str) -> String {
        create(ledger)
    }

    fn make_partitions(&self, _home: &Home, partitions: &str) -> String {
        create(partitions)
    }

    fn make_template(&self, _job: &Job, _home: &Home, template: &str, _keyed: bool) -> Vec<String> {
        vec![create(template)]
    }

    fn make_like(&self, _home: &Home, table: &str, _template: &str) -> String {
        create(table)
    }

    fn complete(&self, job: &Job, _home: &Home, table: &str, _keyed: bool) -> Vec<String> {
        let field = |name: &String| {
            let columns = job.choice.columns.iter().map(|column| column.name.as_str());
            let column = columns.into_iter().find(|column| column.eq_ignore_ascii_case(name));
            fields::name(column.unwrap_or(name), &job.request).to_owned()
        };
        let made = |names: &[String], unique| {
            let names: Vec<String> = names.iter().map(field).collect();
            index(&names.iter().map(String::as_str).collect::<Vec<_>>(), unique)
        };
        let key = &job.request.primary_key;
        let mut indexes: Vec<String> = Vec::new();
        indexes.extend((key.len() > 1).then(|| made(key, true)));
        indexes.extend(job.request.indexes.iter().map(|names| made(names, false)));
        let all = indexes.join(", ");
        let command = format!("{{\"createIndexes\": {}, \"indexes\": [{all}]}}", quoted(table));
        if indexes.is_empty() { Vec::new() } else { vec![command] }
    }

    fn renames_in_transaction(&self) -> bool {
        false
    }

    fn take_name(
        &self,
        console: &mut dyn Console,
        home: &Home,
        hidden: &str,
        replaces: bool,
    ) -> Result<()> {
        let full =
            |name: &str| quoted(&format!("{}.{name}", home.schema.as_deref().unwrap_or_default()));
        // FerretDB takes a name only when it is free.
        let drops = replaces && !console.engine()?.starts_with("FerretDB");
        let drops_before = replaces && !drops;
        let drops = if drops { "\"dropTarget\": true, " } else { "" };
        let command = format!(
            "{{\"renameCollection\": {}, \"to\": {}, {drops}\"writeConcern\": {SAFE}, \"$db\": \"admin\"}}",
            full(hidden),
            full(&home.table)
        );
        if !drops_before {
            return console.execute(&command).map(drop);
        }
        let (mut tries, mut is_bare) = (1..TRIES, false);
        loop {
            let dropped = console.execute(&format!("{{\"drop\": {}}}", quoted(&home.table)));
            is_bare |= dropped.is_ok();
            let renamed = dropped.and_then(|_| console.execute(&command));
            let Err(error) = renamed else { return Ok(()) };
            is_bare &= error.is_refusal();
            // Another client's insert may have made the collection again.
            let again = is_bare && !names(console, &quoted(&home.table))?.is_empty();
            if !again || tries.next().is_none() {
                return Err(if is_bare { bare(error, &home.table) } else { error });
            }
        }
    }

    fn drop_tables(&self, console: &mut dyn Console, _home: &Home, tables: &[&str]) -> bool {
        let drop = |table: &&str| console.execute(&format!("{{\"drop\": {}}}", quoted(table)));
        tables.iter().map(drop).all(|dropped| dropped.is_ok())
    }

    /// Whose a hidden collection is, only the machine knows that made it: its next load drops it.
    fn sweep(&self, _console: &mut dyn Console, _home: &Home) {}
}

/// What had the name is dropped, and nothing has taken its place.
fn bare(error: Error, table: &str) -> Error {
    let what = format!(
        "{}: the old collection {table} is dropped, and the job's has not got its name",
        error.what()
    );
    Error::new(error.kind(), what)
        .advise(format!("publish the job again while no other client writes into {table}"))
        .leaving(Aftermath::Committed { rows: 0 })
}

/// What a change of a job's state waits for.
const SAFE: &str = "{\"w\": \"majority\", \"j\": true}";

fn create(collection: &str) -> String {
    format!("{{\"create\": {}}}", quoted(collection))
}

/// Which document of the ledger.
fn filter(which: Which<'_>) -> String {
    let state = which.state.map(|state| format!(", \"state\": {}", quoted(state)));
    let (id, digits) = (quoted(which.id), quoted(which.digits));
    format!("\"_id\": {id}, \"digits\": {digits}{}", state.unwrap_or_default())
}

fn whole(number: i64) -> String {
    format!("{{\"$numberLong\": \"{number}\"}}")
}

/// Changes one document; whether it was there.
fn update(console: &mut dyn Console, collection: &str, filter: &str, change: &str) -> Result<bool> {
    let command = format!(
        "{{\"update\": {}, \"updates\": [{{\"q\": {{{filter}}}, \"u\": {{{change}}}}}], \"writeConcern\": {SAFE}}}",
        quoted(collection)
    );
    Ok(console.execute(&command)? == 1)
}

fn counted(console: &mut dyn Console, collection: &str, filter: &str) -> Result<u64> {
    let command = format!(
        "{{\"aggregate\": {}, \"pipeline\": [{{\"$match\": {{{filter}}}}}, {{\"$count\": \"n\"}}], \"cursor\": {{}}}}",
        quoted(collection)
    );
    Ok(console.value(&command)?.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// The field of a lock.
fn field(number: u32) -> String {
    format!("locks.n{number}")
}

impl JobRows for MongoJobs {
    fn has_transactions(&self) -> bool {
        false
    }

    fn schemas_with(&self, console: &mut dyn Console, table: &str) -> Result<Vec<Option<String>>> {
        Ok(names(console, &quoted(table))?.into_iter().map(|_| None).collect())
    }

    fn tables(&self, at: At<'_>, prefix: &str) -> Result<Vec<String>> {
        names(at.console, &format!("{{\"$regex\": {}}}", quoted(&format!("^{prefix}"))))
    }

    fn count(&self, at: At<'_>, table: &str) -> Result<u64> {
        counted(at.console, table, "")
    }

    fn left(&self, at: At<'_>, table: &str, job: &str) -> Result<u64> {
        let [first, last] = ids::of_job(job).map(|id| {
            format!(
                "{{\"$binary\": {{\"base64\": \"{}\", \"subType\": \"04\"}}}}",
                BASE64_STANDARD.encode(id)
            )
        });
        counted(at.console, table, &format!("\"_id\": {{\"$gte\": {first}, \"$lte\": {last}}}"))
    }

    fn drop_surely(&self, at: At<'_>, table: &str) -> Result<bool> {
        let Some(own) = identity(at.console, table)? else { return Ok(false) };
        at.console.execute(&format!("{{\"drop\": {}}}", quoted(table)))?;
        // A command of a connection that was lost may have given it its name in between: whether a collection was dropped not all
        // servers say.
        Ok(own.is_empty() || identity(at.console, &at.home.table)? != Some(own))
    }

    fn copying(&self, _job: &Job, _home: &Home, into: &str) -> Copying {
        Copying { before: into.to_owned(), ..Copying::default() }
    }

    fn copy(
        &self,
        _at: At<'_>,
        (location, stop): (&Location, &AtomicBool),
        copying: &Copying,
        from: &str,
    ) -> Result<u64> {
        let place = Arc::new(connect::place(&location.secret)?);
        let mut reading = Session::open(&place, stop)?;
        let mut writing = Session::open(&place, stop)?;
        let mut batch = Batch { bytes: Vec::new(), documents: 0, copied: 0 };
        let mut failed = None;
        let find = Document::new().string("find", from);
        let read = reading.documents(find, |document| {
            if failed.is_none() {
                failed = batch.add(&mut writing, &copying.before, document).err();
            }
        });
        read.map_err(|failure| explain(&place, failure))?;
        let written = match failed {
            Some(failure) => Err(failure),
            None => batch.send(&mut writing, &copying.before),
        };
        written.map_err(|failure| explain(&place, failure))?;
        Ok(batch.copied)
    }

    fn entries(&self, at: At<'_>, ledger: &str, wanted: Wanted<'_>) -> Result<Vec<Entry>> {
        let filter = match wanted {
            Wanted::One { id, .. } => format!("\"_id\": {}", quoted(id)),
            Wanted::All => String::new(),
        };
        let now = at.console.seconds()?;
        let find = format!(
            "{{\"find\": {}, \"filter\": {{{filter}}}, \"sort\": {{\"begun\": 1, \"_id\": 1}}}}",
            quoted(ledger)
        );
        let mut entries = Vec::new();
        at.console.query(&find, &mut |row| {
            let text = |index| inrush_core::target::text(row, index);
            let must = |index| text(index).unwrap_or_default();
            let number = |index| must(index).parse().unwrap_or(0);
            // In the order in which a document was made, which no update changes.
            entries.push(Entry {
                id: must(0),
                target: must(1),
                state: must(2),
                digits: must(3),
                version: must(4),
                begun: number(5),
                heartbeat: number(6),
                age: now - number(6),
                job: must(7),
                tokens: text(8),
                report: text(9),
            });
        })?;
        Ok(entries)
    }

    fn add_entry(&self, at: At<'_>, ledger: &str, entry: &Entry) -> Result<()> {
        let now = whole(at.console.seconds()?);
        let Entry { id, target, state, digits, version, job, .. } = entry;
        let [id, target, state, digits, version, job] =
            [id, target, state, digits, version, job].map(|text| quoted(text));
        let insert = format!(
            "{{\"insert\": {}, \"documents\": [{{\"_id\": {id}, \"target\": {target}, \"state\": {state}, \"digits\": {digits}, \
             \"version\": {version}, \"begun\": {now}, \"heartbeat\": {now}, \"job\": {job}, \"tokens\": null, \"report\": null, \
             \"locks\": {{}}}}], \"writeConcern\": {SAFE}}}",
            quoted(ledger)
        );
        at.console.execute(&insert).map(drop)
    }

    fn change_entry(
        &self,
        at: At<'_>,
        ledger: &str,
        which: Which<'_>,
        sets: &[(&str, Set<'_>)],
    ) -> Result<bool> {
        let now = whole(at.console.seconds()?);
        let set = |(name, set): &(&str, Set<'_>)| match set {
            Set::Text(text) => format!("\"{name}\": {}", quoted(text)),
            Set::Null => format!("\"{name}\": null"),
            Set::Now => format!("\"{name}\": {now}"),
        };
        let sets: Vec<String> = sets.iter().map(set).collect();
        let change = format!("\"$set\": {{{}}}", sets.join(", "));
        update(at.console, ledger, &filter(which), &change)
    }

    fn remove_entry(&self, at: At<'_>, ledger: &str, which: Which<'_>) -> Result<bool> {
        let delete = format!(
            "{{\"delete\": {}, \"deletes\": [{{\"q\": {{{}}}, \"limit\": 1}}], \"writeConcern\": {SAFE}}}",
            quoted(ledger),
            filter(which)
        );
        Ok(at.console.execute(&delete)? == 1)
    }

    fn add_fence(&self, _at: At<'_>, _partitions: &str) -> Result<()> {
        Ok(())
    }

    fn keep_fence(&self, _at: At<'_>, _partitions: &str, _fence: Fence) -> Result<()> {
        Ok(())
    }

    fn claim(&self, _at: At<'_>, _partitions: &str, _number: u32, _attempt: &str) -> Result<()> {
        Ok(())
    }

    /// An error where it is noted already: its number is the document's id.
    fn note(&self, at: At<'_>, partitions: &str, number: u32, part: &Part) -> Result<()> {
        let Part { loaded, origin, token } = part;
        let insert = format!(
            "{{\"insert\": {}, \"documents\": [{{\"_id\": {}, \"loaded\": {}, \"origin\": {}, \"token\": {}}}], \"writeConcern\": {SAFE}}}",
            quoted(partitions),
            whole(number.into()),
            whole(loaded.cast_signed()),
            or_null(origin.as_deref()),
            quoted(token)
        );
        at.console.execute(&insert).map(drop)
    }

    fn parts(&self, at: At<'_>, partitions: &str, number: Option<u32>) -> Result<Vec<Part>> {
        let wanted = number.map(|number| format!("\"_id\": {}", whole(number.into())));
        let find = format!(
            "{{\"find\": {}, \"filter\": {{{}}}, \"sort\": {{\"_id\": 1}}}}",
            quoted(partitions),
            wanted.unwrap_or_default()
        );
        let mut parts = Vec::new();
        at.console.query(&find, &mut |row| {
            let text = |index| inrush_core::target::text(row, index);
            parts.push(Part {
                loaded: text(1).and_then(|text| text.parse().ok()).unwrap_or(0),
                origin: text(2),
                token: text(3).unwrap_or_default(),
            });
        })?;
        Ok(parts)
    }

    fn try_locks(
        &self,
        at: At<'_>,
        ledger: &str,
        first: JobLock<'_>,
        last: u32,
        _again: bool,
    ) -> Result<Option<u32>> {
        let now = at.console.seconds()?;
        let which = filter(Which { id: first.id, digits: first.digits, state: None });
        let owner = quoted(first.owner);
        for number in first.number..=last {
            let field = field(number);
            let free = format!(
                "{which}, \"$or\": [{{\"{field}\": {{\"$exists\": false}}}}, {{\"{field}.until\": {{\"$lte\": {}}}}}]",
                whole(now)
            );
            let take = format!(
                "\"$set\": {{\"{field}\": {{\"owner\": {owner}, \"until\": {}}}}}",
                whole(until(now))
            );
            if update(at.console, ledger, &free, &take)? {
                return Ok(Some(number));
            }
        }
        // A job that is not in the ledger has nobody who could hold a lock.
        Ok((counted(at.console, ledger, &which)? == 0).then_some(first.number))
    }

    fn are_free(&self, at: At<'_>, ledger: &str, last: JobLock<'_>) -> Result<bool> {
        let now = whole(at.console.seconds()?);
        let held = |number| format!("{{\"{}.until\": {{\"$gt\": {now}}}}}", field(number));
        let held: Vec<String> = (0..=last.number).map(held).collect();
        let which = filter(Which { id: last.id, digits: last.digits, state: None });
        let filter = format!("{which}, \"$or\": [{}]", held.join(", "));
        Ok(counted(at.console, ledger, &filter)? == 0)
    }

    fn lease(&self) -> Option<Duration> {
        Some(LEASE)
    }

    fn renew(&self, at: At<'_>, ledger: &str, lock: JobLock<'_>, keep: bool) -> Result<()> {
        let which = filter(Which { id: lock.id, digits: lock.digits, state: None });
        let field = field(lock.number);
        let own = format!("{which}, \"{field}.owner\": {}", quoted(lock.owner));
        let change = match keep {
            true => {
                let until = until(at.console.seconds()?);
                format!("\"$set\": {{\"{field}.until\": {}}}", whole(until))
            }
            false => format!("\"$unset\": {{\"{field}\": \"\"}}"),
        };
        update(at.console, ledger, &own, &change).map(drop)
    }
}

fn until(now: i64) -> i64 {
    now + LEASE.as_secs().cast_signed()
}

/// The names of collections that are, or are like, this.
fn names(console: &mut dyn Console, name: &str) -> Result<Vec<String>> {
    let list =
        format!("{{\"listCollections\": 1, \"filter\": {{\"name\": {name}}}, \"nameOnly\": true}}");
    Ok(console.column(&list)?.into_iter().flatten().collect())
}

/// What a collection is known by whatever it is called, where the server says that; `None` without one of the name
/// (<https://www.mongodb.com/docs/manual/reference/command/listCollections/>).
fn identity(console: &mut dyn Console, name: &str) -> Result<Option<String>> {
    let list = format!("{{\"listCollections\": 1, \"filter\": {{\"name\": {}}}}}", quoted(name));
    let mut found = None;
    console.query(&list, &mut |row| {
        let mut shown = (0..row.len()).filter_map(|at| inrush_core::target::text(row, at));
        found = Some(shown.find(|shown| shown.contains("\"uuid\"")).unwrap_or_default());
    })?;
    Ok(found)
}

/// Documents on their way into another collection.
struct Batch {
    bytes: Vec<u8>,
    documents: usize,
    copied: u64,
}

impl Batch {
    fn add(
        &mut self,
        session: &mut Session<'_>,
        into: &str,
        document: Raw<'_>,
    ) -> Result<(), Failure> {
        self.bytes.extend_from_slice(document.bytes());
        self.documents += 1;
        match self.bytes.len() >= COPIED_BYTES || self.documents == session.greeted.batch_max {
            true => self.send(session, into),
            false => Ok(()),
        }
    }

    fn send(&mut self, session: &mut Session<'_>, into: &str) -> Result<(), Failure> {
        if self.documents == 0 {
            return Ok(());
        }
        let concern = Document::new().string("w", "majority").boolean("j", true);
        let command = Document::new().string("insert", into).document("writeConcern", concern);
        let reply = session.drive(|client, database| {
            client.command_with(database, command, "documents", &self.bytes)
        })?;
        let reply = reply.document();
        let error = reply.documents("writeErrors").next().or(reply.document("writeConcernError"));
        if let Some(error) = error {
            let code = error.number("code").unwrap_or_default();
            return Err(refused(code, error.text("errmsg").unwrap_or("the server refuses it")));
        }
        self.copied += reply.number("n").and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        self.bytes.clear();
        self.documents = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_quoted() {
        assert_eq!(create("a\"b"), r#"{"create": "a\"b"}"#);
        assert_eq!(
            filter(Which { id: "x\"}", digits: "0", state: Some("open") }),
            r#""_id": "x\"}", "digits": "0", "state": "open""#
        );
        assert_eq!(
            index(&["b", "a"], true),
            r#"{"key": {"b": 1, "a": 1}, "name": "b_1_a_1", "unique": true}"#
        );
    }
}
