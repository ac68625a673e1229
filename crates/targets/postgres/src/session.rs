//! One connection, used from a plain thread, that notices when the user wants to stop.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Client, STATEMENT};
use crate::connect::Place;
use crate::orphans::OwnKey;
use crate::repeats;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::target::Spare;
use inrush_core::wording::shell_word;
use inrush_core::{Job, Orphans, Repeats, Retry};
use inrush_net::{Advice, Answers, LostKind, TextRows, staging};

/// What gets users past what keeps them out.
const ADVICE: Advice = Advice {
    without_tls: Some("?sslmode=disable goes without: anybody on the way can read along"),
    with_tls: None,
    any_name: "?sslmode=verify-ca takes any name, for a certificate of an authority that ?sslrootcert=FILE names",
    authority: "?sslrootcert=FILE names the authority that signed it",
    unchecked: "?sslmode=require encrypts without looking who answers",
    certificate_file: "?sslrootcert=FILE takes the authority's certificate, in PEM or DER",
    replica_set: None,
    writable: None,
    check_server: "check that the server runs, and host, port or ?host=/directory in the URL",
};

/// A connection.
pub(super) struct Session<'a> {
    client: Option<Client<'a>>,
    place: Arc<Place>,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
    /// How many transactions were begun by [`Connection::begin`].
    pub(super) transactions: u64,
    /// Whether there are none: each statement is one by itself.
    pub(super) autocommits: bool,
    /// What each of them begins with.
    pub(super) settings: String,
    /// The load, where it may look for rows that repeat a key before it goes on.
    pub(super) may_seek: Option<&'a Job>,
    /// Foreign keys of the load's table that refer to itself, and whether it may look for rows that they refuse.
    pub(super) own_keys: &'a [OwnKey],
    pub(super) may_seek_orphans: bool,
    /// Where the connection came from, and where it goes that is handed on.
    spare: Spare,
    is_handed_on: bool,
    /// Rows that were written, and rows that were refused for their key.
    pub(super) written: u64,
    pub(super) repeated: Cell<u64>,
    /// The first warning of a commit.
    pub(super) warning: Option<String>,
}

/// Rows refused for their key, from which on looking for all of them pays, and one in how many: each costs as much time as some
/// thousand rows do in a second reading.
const SEEK_FROM: u64 = 200;
const SEEK_ONE_IN: u64 = 2000;

/// What the server says no with.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// The row of the statement that it was at, from 0; not the server's word, but what the statement's writer knows.
    pub(super) row: Option<usize>,
    pub(super) is_fatal: bool,
    /// SQLSTATE (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    pub(super) state: String,
    pub(super) message: String,
    pub(super) detail: Option<String>,
    pub(super) hint: Option<String>,
    /// Where in what it was doing.
    pub(super) context: Option<String>,
    pub(super) column: Option<String>,
    pub(super) constraint: Option<String>,
    /// The function of the server that said so, whatever language it speaks.
    pub(super) routine: String,
}

/// Why a statement failed.
pub(super) type Failure = inrush_net::Failure<Box<Refusal>>;

impl<'a> Session<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        Session::with(place, Spare::default(), stop)
    }

    /// The same by the connection that the step before has left, if it has.
    pub(super) fn take_over(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        Session::with(place, place.spare.clone(), stop)
    }

    fn with(place: &Arc<Place>, spare: Spare, stop: &'a AtomicBool) -> Result<Self> {
        let mut session = Self {
            client: None,
            place: Arc::clone(place),
            stop: Some(stop),
            transactions: 0,
            autocommits: false,
            settings: String::new(),
            may_seek: None,
            own_keys: &[],
            may_seek_orphans: false,
            spare,
            is_handed_on: false,
            written: 0,
            repeated: Cell::new(0),
            warning: None,
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<()> {
        match Client::take_over(&self.place, &self.spare, self.stop) {
            Ok((client, server)) => {
                self.client = Some(client);
                // Of several servers all connections of a load have to be to the same.
                if self.place.servers.len() > 1 {
                    self.place =
                        Arc::new(Place { servers: vec![server], ..Place::clone(&self.place) });
                }
                Ok(())
            }
            Err(Failure::Lost(lost)) => Err(lost.no_connection(&self.place.shown, &ADVICE)),
            Err(failure) => {
                let advice = at_start(&failure);
                let error = self.explain(failure);
                Err(advice.into_iter().fold(error, Error::advise))
            }
        }
    }

    /// Once this one is through, whoever connects next may have the connection: nothing was set that outlasts a transaction.
    pub(super) fn hand_on(&mut self) {
        self.is_handed_on = true;
    }

    /// A second connection to the same place.
    pub(super) fn another(&self, stop: &'a AtomicBool) -> Result<Self> {
        Session::open(&self.place, stop)
    }

    /// Has transactions that are begun from now on start with these statements.
    pub(super) fn set_up(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
    }

    /// Connects again where the connection was lost.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        self.close();
        self.connect()
    }

    /// From here on there is no stopping halfway.
    pub(super) fn unwatch(&mut self) {
        self.stop = None;
        if let Some(client) = &mut self.client {
            client.unwatch();
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.client.is_none()
    }

    /// Whether the server is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.client.as_ref().is_some_and(Client::is_local)
    }

    /// Lets `work` use the connection's protocol; the connection is gone when it fails in a way that leaves nothing to say.
    pub(super) fn drive<T>(
        &mut self,
        work: impl FnOnce(&mut Client<'a>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        inrush_net::drive(&mut self.client, work)
    }

    /// Has the server prepare a statement. Where each execution is a transaction of its own, a pooler may bring every one to another
    /// connection: there nobody else's statement may have the name.
    pub(super) fn prepare(&mut self, sql: &str) -> Result<(), Failure> {
        let name = match self.transactions {
            0 if self.autocommits => staging::hidden_name(),
            _ => STATEMENT.to_owned(),
        };
        self.drive(|client| client.prepare(&name, sql))
    }

    /// Runs statements that give no rows; how many rows the last one that counts has written.
    pub(super) fn execute(&mut self, sql: impl AsRef<str>) -> Result<u64, Failure> {
        self.drive(|client| client.query(sql.as_ref()))
    }

    /// Has the server run statements, and goes on without its answer: where they fail, the next call does.
    pub(super) fn send_ahead(&mut self, sql: impl AsRef<str>) -> Result<(), Failure> {
        self.drive(|client| client.send_ahead(sql.as_ref()))
    }

    /// The same, and how many rows all of them have written.
    pub(super) fn execute_all(&mut self, sql: impl AsRef<str>) -> Result<u64, Failure> {
        self.drive(|client| {
            client.query(sql.as_ref())?;
            Ok(client.written_by_all())
        })
    }

    /// All rows of a query.
    pub(super) fn table(&mut self, sql: &str) -> Result<TextRows, Failure> {
        self.tables([sql]).map(|[rows]| rows)
    }

    /// The same of several statements, in one round trip, and in one transaction if none is open.
    pub(super) fn tables<const N: usize>(
        &mut self,
        statements: [&str; N],
    ) -> Result<[TextRows; N], Failure> {
        let mut answers = Answers::default();
        let sql = statements.join("; ");
        self.drive(|client| client.results(&sql, |at, row| answers.add(at, row)))?;
        answers.kept()
    }

    /// The first value of a query.
    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        self.table(sql).map(first)
    }

    /// What the user reads of a failure that no row is to blame for.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        let refused = match failure {
            Failure::Stopped => return Error::interrupted(),
            Failure::Lost(lost) => {
                let error = lost.lost_connection(&self.place.shown);
                return match lost.kind() {
                    LostKind::TransactionTimeout => error.advise("the user's or the database's transaction_timeout is too short for a load: PGOPTIONS='-c transaction_timeout=0' lifts it"),
                    _ => error.advise("look into the server's log, and run the load again"),
                };
            }
            Failure::Server(refused) => refused,
        };
        let mut what = format!("{}: {}", self.place.shown, refused.message);
        if let Some(detail) = &refused.detail {
            what.push_str(&format!(" ({})", detail.trim_end_matches('.')));
        }
        if let Some(function) = function(&refused) {
            what.push_str(&format!(" ({function})"));
        }
        let error = Error::new(Kind::Target, what);
        match refused.state.as_str() {
            "28P01" | "28000" => error.advise(
                "check the user in the URL; the password comes from the URL, PGPASSWORD, INRUSH_PASSWORD or ~/.pgpass",
            ),
            "42501" => error.advise("ask for that privilege, or use another user"),
            "3D000" => error.advise(match self.place.database.split_once('/') {
                // A name may have one, which is hardly meant.
                Some((database, "")) => format!("end the URL with {database}, without a slash"),
                Some((database, table)) => {
                    format!("end the URL with {database}, and say --table {}", shell_word(table))
                }
                None => {
                    let database = crate::ddl::quote(&self.place.database);
                    format!("make it first: CREATE DATABASE {database}")
                }
            }),
            "3F000" => error.advise("make it first: CREATE SCHEMA"),
            "53100" => error.advise("the server's disk is full: make room and run the load again"),
            "53300" => error.advise("--lanes 1 takes fewer connections"),
            "53400" => error.advise("have that limit raised for this user: ALTER ROLE ... SET temp_file_limit"),
            "57P03" => error.advise("the server starts, stops or recovers: try again in a while"),
            "55P03" | "40P01" => {
                error.advise("another connection holds the table or its rows: try again when it is through")
            }
            "57014" if refused.message.contains("statement timeout") => error
                .advise("the user's or the database's statement_timeout is too short for a load: PGOPTIONS='-c statement_timeout=0' lifts it")
                .advise("--chunk-size 64k makes statements shorter"),
            "57014" => error.advise(
                "another connection has canceled the statement (pg_cancel_backend), or a timeout has: run the load again",
            ),
            "40001" => error
                .advise("other connections have changed the same rows during the load: run it again")
                .advise("where they always do, --strategy postgres/unnest --set rows_per_transaction=10000 commits on the way, and waits for their rows"),
            "2BP01" => error.advise("drop what depends on it first, and make it again afterwards"),
            "26000" => error.advise("a pooler in transaction mode takes it to another connection: --strategy values prepares nothing"),
            "25006" => error.advise("the server, or this database, only reads: load into the primary server"),
            _ => match refused.hint {
                Some(hint) => error.advise(hint),
                None => error,
            },
        }
    }

    /// The foreign key of the load's table, which refers to itself, that refuses rows.
    pub(super) fn own_key(&self, refused: &Refusal) -> Option<&'a OwnKey> {
        let name = refused.constraint.as_ref().filter(|_| refused.state == "23503")?;
        self.own_keys.iter().find(|key| key.name == *name)
    }

    /// What to look for before the load goes on, where the rows can't be refused one by one: they are too many that repeat a key, or
    /// those that refer to none are known only when all are in.
    pub(super) fn seeks(&self, refused: &Refusal) -> Option<Retry> {
        if self.may_seek_orphans && self.own_key(refused).is_some() {
            return Some(Retry::Orphans(Orphans::Sought));
        }
        let job = self.may_seek.filter(|_| refused.state == "23505")?;
        let repeated = self.repeated.get();
        if repeated < SEEK_FROM || repeated * SEEK_ONE_IN < self.written {
            return None;
        }
        let key = repeats::key_meant(job, refused.detail.as_deref()?)?;
        Some(Retry::Repeats(Repeats::Sought { key, words: refused.message.clone() }))
    }

    fn close(&mut self) {
        if let Some(client) = self.client.take() {
            match self.is_handed_on {
                true => client.leave(&self.spare, self.place.servers[0].clone()),
                false => client.quit(),
            }
        }
    }
}

/// The first value.
pub(super) fn first(rows: TextRows) -> Option<String> {
    rows.into_iter().next()?.into_iter().next()?
}

/// Names and their values, the first two columns; a name whose value is NULL is left out.
pub(super) fn pairs(rows: TextRows) -> BTreeMap<String, String> {
    let pair = |row: Vec<Option<String>>| {
        let mut row = row.into_iter().flatten();
        Some((row.next()?, row.next()?))
    };
    rows.into_iter().filter_map(pair).collect()
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

/// What the server says no with; when it hangs up with it, the connection is lost.
pub(super) fn refused(refusal: Refusal) -> Failure {
    // Class 57 are the administrator's doings, 08 are troubles of the way there; others are refusals at the door.
    if refusal.is_fatal
        && matches!(refusal.state.get(..2), Some("57" | "08" | "25" | "XX"))
        && refusal.state != "57P03"
    {
        let kind = match refusal.state.as_str() {
            "25P04" => LostKind::TransactionTimeout,
            _ => LostKind::Closed,
        };
        return Failure::lost(kind, refusal.message);
    }
    Failure::Server(Box::new(refusal))
}

/// We say no in the server's place, as it says it.
fn refused_by_us(state: &str, message: &str) -> Failure {
    Failure::Server(Box::new(Refusal {
        state: state.to_owned(),
        message: message.to_owned(),
        ..Refusal::default()
    }))
}

/// We do not get in, for a reason of our own.
pub(super) fn denied(why: &str) -> Failure {
    refused_by_us("28000", why)
}

/// COMMIT has not committed.
pub(super) fn undone() -> Failure {
    refused_by_us("25P02", "the server has taken the transaction back at its end")
}

/// Rows are missing that the server took.
pub(super) fn left_out() -> Failure {
    refused_by_us("23000", "the server left rows out: a trigger's or a rule's doing")
}

/// What the report says of a warning that came with a commit.
pub(super) fn warned(said: &str) -> String {
    format!("the server at the commit: {said}")
}

/// A row that no message has room for.
pub(super) fn too_long() -> Failure {
    refused_by_us("54000", "the row takes more than 1 GB")
}

/// Says which row of the statement was at fault.
pub(super) fn at_row(mut failure: Failure, row: usize) -> Failure {
    if let Failure::Server(refused) = &mut failure {
        refused.row = Some(row);
    }
    failure
}

/// The SQLSTATE of a message with a character that the database's encoding has not.
pub(super) const NOT_ENCODED: &str = "22P05";

/// What such a message means where the character is in a name.
pub(super) fn not_encoded(what: &str, name: &str, encoding: &str) -> Error {
    let name = name.escape_debug();
    Error::target(format!("{what} {name}: the database can't write this name in {encoding}"))
}

/// The function that was at work, such as a trigger's, and where in it: `PL/pgSQL function f() line 3 at RAISE`. The server says so in its
/// own language, in which `PL/pgSQL` is the same.
pub(super) fn function(refused: &Refusal) -> Option<&str> {
    refused.context.as_deref()?.lines().find(|line| line.contains("PL/"))
}

/// The server's own code; empty when it said nothing.
pub(super) fn state(failure: &Failure) -> &str {
    failure.refusal().map_or("", |refused| &refused.state)
}

/// What to do where the server, or a pooler, takes no session that begins as it is told to: a value that it doesn't know, or a setting.
pub(super) fn at_start(failure: &Failure) -> Option<&'static str> {
    matches!(state(failure), "22023" | "42704" | "08P01").then_some(
        "check what sessions begin with: options in the URL, PGOPTIONS, PGTZ, PGDATESTYLE and PGGEQO",
    )
}

/// Ends what a transaction begins with. From then on it always has this one savepoint: a statement may have to be taken back after
/// it succeeded, when the server has written fewer rows than it was sent.
pub(super) const FIRST: &str = "; SAVEPOINT inrush";

/// Goes before a statement that may have to be taken back, and lets go of what came before: savepoints of one name would pile up.
pub(super) const SET: &str = "RELEASE SAVEPOINT inrush; SAVEPOINT inrush; ";

/// The same around a statement that is to be part of the transaction itself.
pub(super) fn around(sql: &str) -> String {
    format!("RELEASE SAVEPOINT inrush; {sql}; SAVEPOINT inrush; ")
}

/// What goes before a statement.
pub(super) fn savepoint(guarded: bool) -> &'static str {
    if guarded { SET } else { "" }
}

/// Takes it back.
pub(super) const UNDO: &str = "ROLLBACK TO SAVEPOINT inrush";
