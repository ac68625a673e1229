//! The hidden table that a load fills before it takes the target's place.
//!
//! Its name tells nothing of its owner; a named lock does, which the server gives up when the owner's connection ends. So a
//! load that was killed leaves a table that nobody has locked, and the next load into the database drops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ddl::{self, literal, quote};
use crate::session::{Failure, Session};
use crate::{facts, indexes, load};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::target::Console;
use inrush_core::wording::asks_about_commit;
use inrush_core::{Action, Job};
use inrush_net::TextRows;
use inrush_net::staging::{Asks, PREFIX, digits_of, hidden_name, unhidden};

impl Asks for Session<'_> {
    type Failure = Failure;

    fn execute(&mut self, sql: &str) -> Result<(), Failure> {
        Session::execute(self, sql).map(drop)
    }

    fn table(&mut self, sql: &str) -> Result<TextRows, Failure> {
        Session::table(self, sql)
    }
}

/// What follows the hidden table's name in that of the table which it replaced.
const OLD: &str = "_old";

/// The same for a table that should be empty: rows in it are somebody's, and no sweep may drop them.
const EMPTY: &str = "_empty";

/// A hidden table.
pub(super) struct Staging {
    pub(super) name: String,
    /// Indexes of the target that this table lacks until its rows are in.
    left_out: Vec<String>,
    /// As it was made, where rows go into a file that the server reads by it.
    definition: Option<String>,
    /// What the existing table is whose place it takes, see [`found`].
    place: Option<String>,
    /// Whether it is the target itself, which nobody else knows.
    is_target: bool,
}

/// What the load's table is, its definition and its triggers; and whether it holds rows. All in one round trip. Foreign keys of others
/// would follow the old table, which the server then does not let go.
fn found(session: &mut Session<'_>, job: &Job) -> Result<(String, bool), Failure> {
    let rows = ddl::first_row(&job.table);
    let [_, create, triggers, rows, _] = indexes::plainly(
        session,
        [
            indexes::PLAIN,
            &indexes::show_create(&job.table),
            &facts::triggers(&job.table),
            &rows,
            indexes::RESTORE,
        ],
    )?;
    let create = indexes::without_counter(&indexes::created(create));
    Ok((format!("{create} {triggers:?}"), !rows.is_empty()))
}

/// Looks whether the load's table still is what was found.
///
/// # Errors
/// When another client has changed it, or written rows into one that has to be empty.
fn expect(place: &str, session: &mut Session<'_>, job: &Job) -> Result<()> {
    let now = found(session, job).map_err(|failure| session.explain(failure))?;
    match now {
        (_, true) if job.choice.action == Action::Append => Err(written(job)),
        (definition, _) if definition == place => Ok(()),
        _ => Err(Error::target(format!(
            "another client has altered table {} during the load",
            job.table
        ))
        .advise("run the load again: it will look at what is there now")),
    }
}

/// What the user reads where the load's rows would not be the only new ones.
pub(super) fn written(job: &Job) -> Error {
    let error = Error::target(format!(
        "another client has written rows into table {} during the load",
        job.table
    ));
    error.advise("run the load again: --if-exists append adds to them")
}

impl Staging {
    fn named(name: String, is_target: bool) -> Self {
        Self { name, left_out: Vec::new(), definition: None, place: None, is_target }
    }

    /// Makes the table: as the plan says, or like the existing one.
    pub(super) fn make(
        session: &mut Session<'_>,
        job: &Job,
        engine: &str,
    ) -> Result<Self, Failure> {
        if job.request.owns_table {
            return Ok(Self::named(job.table.clone(), true));
        }
        let mut staging = Self::named(hidden_name(), false);
        // What is altered while the hidden table is made is noticed in the end.
        if job.choice.action != Action::Create {
            staging.place = Some(found(session, job)?.0);
        }
        let lock = lock_name(session.database(), &staging.name);
        session.value(&format!("SELECT GET_LOCK({lock}, 10)"))?;
        match job.choice.action.makes_table() {
            true => session.execute(ddl::create_table(&staging.name, job, engine)).map(drop)?,
            false => staging.make_like(session, job)?,
        }
        if let Some(add) = ddl::add_columns(&staging.name, job) {
            indexes::define(session, &add)?;
        }
        Ok(staging)
    }

    /// Makes the table like the target. What that leaves out is where a column that counts by itself goes on, which only TRUNCATE may reset
    /// (<https://dev.mysql.com/doc/refman/8.0/en/create-table-like.html>).
    fn make_like(&self, session: &mut Session<'_>, job: &Job) -> Result<(), Failure> {
        let (staging, target) = (quote(&self.name), quote(&job.table));
        indexes::define(session, &format!("CREATE TABLE {staging} LIKE {target}"))?;
        if job.choice.action == Action::Append
            && let Some(next) = indexes::next_number(&indexes::show(session, &job.table)?)
        {
            let goes_on = format!("ALTER TABLE {staging} AUTO_INCREMENT = {next}");
            if let Err(failure) = indexes::define(session, &goes_on) {
                // Who may make tables and not alter them has one that nobody wants.
                let _ = session.execute(format!("DROP TABLE {staging}"));
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Has the table, made like the target, go without `indexes` until its rows are in, if that can be done.
    pub(super) fn leave_out(
        &mut self,
        indexes: &[String],
        session: &mut Session<'_>,
        job: &Job,
    ) -> Result<(), Failure> {
        if indexes.is_empty() || self.is_target {
            return Ok(());
        }
        if indexes::take_out(session, &self.name, &job.table, indexes)? {
            self.left_out = indexes.to_vec();
            return Ok(());
        }
        // Who knows which it has now.
        session.execute(format!("DROP TABLE {}", quote(&self.name)))?;
        self.make_like(session, job)
    }

    /// Notes what the table is.
    pub(super) fn note(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        self.definition = Some(indexes::show(session, &self.name)?);
        Ok(())
    }

    /// Looks whether the table still is what was noted. The server takes a file whose columns have the widths of the table's, and by another
    /// definition the same bytes are other values: a member of an ENUM is a number, a decimal point is no byte.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn expect_as_noted(&self, session: &mut Session<'_>) -> Result<()> {
        let Some(noted) = &self.definition else { return Ok(()) };
        let found = indexes::show(session, &self.name);
        if found.map_err(|failure| session.explain(failure))? == *noted {
            return Ok(());
        }
        Err(Error::target(format!(
            "another client has altered {}, the hidden table of this load",
            self.name
        ))
        .advise("run the load again"))
    }

    /// Whether there are indexes to be built after the rows.
    pub(super) fn lacks_indexes(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// Builds what was left out.
    ///
    /// # Errors
    /// When it can't be done, or the table is not like the target afterwards: nobody must lose an index.
    pub(super) fn build_indexes(&mut self, session: &mut Session<'_>, job: &Job) -> Result<()> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let alike = indexes::build(session, &self.name, &job.table, &self.left_out)
            .map_err(|failure| session.explain(failure))?;
        if !alike {
            return Err(Error::target(format!(
                "table {} has other columns or indexes than when the load began",
                job.table
            ))
            .advise("run the load again: it will look at what is there now"));
        }
        self.left_out.clear();
        Ok(())
    }

    /// Gives the table the target's name, in one step that other connections see whole or not at all. What had the name goes.
    ///
    /// # Errors
    /// When it kept its name, or when the connection is lost for good: then nobody knows which table has the target's.
    pub(super) fn publish(
        &self,
        session: &mut Session<'_>,
        job: &Job,
        note: &dyn Fn(&str),
    ) -> Result<()> {
        if self.is_target {
            session.unwatch();
            return Ok(());
        }
        let (staging, target) = (quote(&self.name), quote(&job.table));
        let appends = job.choice.action == Action::Append;
        let old = quote(&self.replaced(job));
        let renamed = match &self.place {
            Some(place) => {
                let guard = guard(session, job)?;
                let sql = replace(&target, &old, &staging);
                match guard {
                    Some(mut guard) => {
                        expect(place, &mut guard, job)?;
                        while_guarded(session, &sql, guard)
                    }
                    None => by_turns(session, &sql, |session| expect(place, session, job))?,
                }
            }
            None => session.execute(format!("RENAME TABLE {staging} TO {target}")).map(drop),
        };
        // Others may use the table for as long as they like, and the user may not want to wait for them.
        if let Err(failure) = renamed
            && !self.was_published(session, job, &failure, note)
        {
            let is_taken = failure.refusal().is_some_and(|refused| refused.code == IS_TAKEN);
            return Err(if is_taken { job.was_made_meanwhile() } else { session.explain(failure) });
        }
        session.unwatch();
        if self.place.is_none() {
            return Ok(());
        }
        if appends {
            // Without a lock another client may have written rows after the look, which would be lost with the old table.
            let look = format!("SELECT 1 FROM {old} LIMIT 1");
            match asked(session, |session| session.table(&look)) {
                Ok(rows) if rows.is_empty() => {}
                Err(lost @ Failure::Lost(_)) => return Err(session.explain(lost)),
                Ok(_) | Err(_) => {
                    session
                        .execute(replace(&target, &staging, &old))
                        .map_err(|failure| session.explain(failure))?;
                    return Err(written(job));
                }
            }
        }
        let refused = match session.execute(drop_old(&old)) {
            Err(failure) if failure.refusal().is_some_and(|one| IS_PARENT.contains(&one.code)) => {
                failure
            }
            // The load is done whether or not this worked: the next one sweeps the table away.
            Ok(_) | Err(_) => return Ok(()),
        };
        session
            .execute(replace(&target, &staging, &old))
            .map_err(|failure| session.explain(failure))?;
        Err(stays(session.explain(refused), &job.table))
    }

    /// The name of the table whose place this one has taken, until it is dropped.
    fn replaced(&self, job: &Job) -> String {
        let appends = job.choice.action == Action::Append;
        format!("{}{}", self.name, if appends { EMPTY } else { OLD })
    }

    /// After a connection that was lost in between, only the catalogue knows whether the rename has happened. With the connection the
    /// hidden table has lost its lock, and another load may have swept it away: that it is gone says nothing by itself.
    fn was_published(
        &self,
        session: &mut Session<'_>,
        job: &Job,
        failure: &Failure,
        note: &dyn Fn(&str),
    ) -> bool {
        if !matches!(failure, Failure::Lost(_)) {
            return false;
        }
        note(&asks_about_commit(ASK_TIMEOUT));
        let witness = if self.place.is_some() { self.replaced(job) } else { job.table.clone() };
        asked(session, |session| Ok(!exists(session, &self.name)? && exists(session, &witness)?))
            .unwrap_or_default()
    }

    /// Whether the table is there, under its own name.
    pub(super) fn is_there(&self, session: &mut Session<'_>) -> bool {
        asked(session, |session| exists(session, &self.name)).unwrap_or_default()
    }

    /// Drops the table, if it can be done.
    pub(super) fn discard(&self, session: &mut Session<'_>) -> bool {
        // Whoever has made the target drops it.
        self.is_target || drop_soon(session, &[&self.name])
    }
}

/// How often, and for how long, a question is asked whose answer is lost.
const TRIES: usize = 10;
const ASK_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks a server what has become of a table, by another connection where this one is lost, or gets lost over the question.
fn asked<T>(
    session: &mut Session<'_>,
    question: impl Fn(&mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let began = Instant::now();
    let mut answer = question(session);
    for _ in 1..TRIES {
        if !matches!(answer, Err(Failure::Lost(_))) || began.elapsed() > ASK_TIMEOUT {
            break;
        }
        if session.reconnect().is_ok() {
            answer = question(session);
        }
    }
    answer
}

/// Keeps all others from the target until another takes its place, by a connection that has it locked; `None` where the login has no
/// right to that, or no further connection.
fn guard<'s>(session: &Session<'s>, job: &Job) -> Result<Option<Session<'s>>> {
    let Ok(mut guard) = session.beside() else { return Ok(None) };
    // The server writes a definition as a session has its zone and its characters.
    load::configure(&mut guard, job, None)?;
    match guard.execute(format!("LOCK TABLES {} WRITE", quote(&job.table))) {
        Ok(_) => Ok(Some(guard)),
        Err(Failure::Stopped) => Err(Error::interrupted()),
        Err(_) => Ok(None),
    }
}

/// How long a lock is kept for a statement that does not come to wait for it.
const GUARD_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs a statement that renames what `guard` has locked. The lock is given up once the statement waits for it: a renaming goes before
/// all who wait to read or write (<https://dev.mysql.com/doc/refman/8.0/en/metadata-locking.html>). Not every server renames tables
/// for the connection itself that has them locked.
fn while_guarded(
    session: &mut Session<'_>,
    sql: &str,
    mut guard: Session<'_>,
) -> Result<(), Failure> {
    let waits = format!(
        "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {} AND STATE LIKE 'Waiting for %'",
        session.id()
    );
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            // The server goes through all connections each time.
            let mut pause = Duration::from_millis(1);
            while !is_over.load(Ordering::Relaxed)
                && began.elapsed() < GUARD_TIMEOUT
                && guard.table(&waits).is_ok_and(|rows| rows.is_empty())
            {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            let _ = guard.execute("UNLOCK TABLES");
        });
        let done = session.execute(sql);
        is_over.store(true, Ordering::Relaxed);
        done.map(drop)
    })
}

/// Runs a statement that renames tables which nothing keeps others from, after a look by `expect`. MySQL goes on waiting for them when
/// the client is gone, and would rename them at last for a load that was killed: so it waits for some seconds only, again and again, for
/// as long as the server would.
fn by_turns(
    session: &mut Session<'_>,
    sql: &str,
    expect: impl Fn(&mut Session<'_>) -> Result<()>,
) -> Result<Result<(), Failure>> {
    let limit = match session.value("SELECT @@SESSION.lock_wait_timeout") {
        Ok(seconds) => seconds.and_then(|seconds| seconds.parse().ok()),
        Err(failure) => return Ok(Err(failure)),
    };
    let sql = format!("{}; {sql}", wait_soon());
    let began = Instant::now();
    let goes_on = |failure: &Failure| {
        failure.refusal().is_some_and(|refused| refused.code == load::TIMED_OUT)
            && limit.is_none_or(|seconds| began.elapsed() < Duration::from_secs(seconds))
    };
    loop {
        expect(session)?;
        let done = session.execute(&sql);
        let _ = session.execute(WAIT);
        match done {
            Err(failure) if goes_on(&failure) => {}
            done => return Ok(done.map(drop)),
        }
    }
}

/// Gives a table's name to another one, in one step. Without checks the server would not see to it that foreign keys go along.
fn replace(target: &str, old: &str, new: &str) -> String {
    format!("{CHECKED}RENAME TABLE {target} TO {old}, {new} TO {target}")
}

/// Drops a table whose name another one has taken, unless foreign keys refer to it.
fn drop_old(old: &str) -> String {
    format!("{CHECKED}DROP TABLE {old}")
}

/// How the server refuses to drop a table that foreign keys refer to: ER_ROW_IS_REFERENCED, its second form, and
/// ER_FK_CANNOT_DROP_PARENT (<https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>).
const IS_PARENT: [u16; 3] = [1217, 1451, 3730];

/// How the server refuses a name that a table has: ER_TABLE_EXISTS_ERROR.
pub(super) const IS_TAKEN: u16 = 1050;

/// Whatever the server's default is.
const CHECKED: &str = "SET SESSION foreign_key_checks = 1; ";

/// What the user reads where the old table can't be dropped: foreign keys go with it through a rename, and would refer to a table that is
/// no more. The facts know those that the login may see.
fn stays(refused: Error, table: &str) -> Error {
    let suffixed = [OLD, EMPTY].map(|suffix| format!("{table}{suffix}"));
    let reworded = refused.reworded(|text| {
        suffixed.iter().fold(unhidden(text, table), |text, old| text.replace(old, table))
    });
    reworded.advise(format!(
        "foreign keys may refer to {table} that this login can't see: once it can, --if-exists append and truncate write straight into the table"
    ))
}

/// Gives the hidden table of a job the target's name, as [`Staging::publish`] does.
///
/// # Errors
/// When it kept its name, or when the connection is lost.
pub(super) fn take_name(
    console: &mut dyn Console,
    hidden: &str,
    table: &str,
    replaces: bool,
) -> Result<()> {
    let (target, new, old) = (quote(table), quote(hidden), quote(&format!("{hidden}{OLD}")));
    if !replaces {
        return console.execute(&format!("RENAME TABLE {new} TO {target}")).map(drop);
    }
    console.execute(&replace(&target, &old, &new))?;
    match console.execute(&drop_old(&old)) {
        Err(refused) if !refused.is_lost_connection() && refused.kind() != Kind::Interrupted => {
            console.execute(&replace(&target, &new, &old))?;
            let refused = refused.reworded(|text| text.replace(&format!("{hidden}{OLD}"), table));
            Err(stays(refused, table))
        }
        // What has its name is seen, whatever becomes of the old table: it goes with what else is left of the job.
        _ => Ok(()),
    }
}

/// Seconds to wait for another connection that uses a table: it may be one that was cut, and the server does not know yet.
const SOON_S: u32 = 5;

/// Drops the tables, unless another connection goes on using one: without a limit that would be waited for as long as a day.
pub(super) fn drop_soon<A: Asks + ?Sized>(session: &mut A, tables: &[&str]) -> bool {
    let names: Vec<String> = tables.iter().map(|table| quote(table)).collect();
    let drop = format!("{}; DROP TABLE IF EXISTS {}; {WAIT}", wait_soon(), names.join(", "));
    let dropped = session.execute(&drop).is_ok();
    if !dropped {
        // What follows a statement that fails is not run.
        let _ = session.execute(WAIT);
    }
    dropped
}

/// Has statements wait for a table no longer than [`SOON_S`].
pub(super) fn wait_soon() -> String {
    format!("SET SESSION lock_wait_timeout = {SOON_S}")
}

/// Has them wait as long as the server would.
pub(super) const WAIT: &str = "SET SESSION lock_wait_timeout = DEFAULT";

pub(super) fn exists(session: &mut Session<'_>, table: &str) -> Result<bool, Failure> {
    let count = session.value(&format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(table)
    ))?;
    Ok(count.is_some_and(|count| count != "0"))
}

/// Tells sweeps that the hidden table is this connection's, until it closes.
pub(super) fn keep(console: &mut dyn Console, hidden: &str) -> Result<()> {
    console.execute("SET SESSION wait_timeout = 2147483")?;
    let database = console.value("SELECT DATABASE()")?.unwrap_or_default();
    let lock = lock_name(&database, hidden);
    match console.value(&format!("SELECT GET_LOCK({lock}, 10)"))?.as_deref() {
        Some("1") => Ok(()),
        _ => Err(Error::target(format!("another connection has the lock {lock}"))),
    }
}

/// The name of a hidden table's lock. Locks belong to the server, not to a database, and their names are at most 64 characters
/// (<https://dev.mysql.com/doc/refman/8.0/en/locking-functions.html>).
/// Upper case in the database's is left out: a URL may spell it otherwise than the server does.
fn lock_name(database: &str, table: &str) -> String {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(database.to_lowercase().as_bytes());
    literal(&format!("{table}_{:016x}", hasher.digest()))
}

/// The name of the lock of a load that fills an empty table in its place.
pub(super) fn filling(database: &str, table: &str) -> String {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    hasher.update(table.as_bytes());
    lock_name(database, &format!("inrush_fills_{:016x}", hasher.digest()))
}

/// A query for the names of the tables that begin so; of letters, digits and underscores.
pub(super) fn tables_like(prefix: &str) -> String {
    let pattern = prefix.replace('_', "\\\\_");
    format!(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE '{pattern}%' ORDER BY 1"
    )
}

/// A query for the names of hidden tables.
pub(super) fn hidden_tables() -> String {
    tables_like(PREFIX)
}

/// Drops those of them whose loads are no more. What can't be dropped stays for another time.
pub(super) fn sweep<A: Asks + ?Sized>(session: &mut A, hidden: Vec<String>) {
    if hidden.is_empty() {
        return;
    }
    let Ok(Some(database)) = session.value("SELECT DATABASE()") else { return };
    for table in hidden {
        let owner = [OLD, EMPTY].iter().find_map(|suffix| table.strip_suffix(suffix));
        let owner = owner.unwrap_or(&table);
        if digits_of(owner).is_none() {
            continue;
        }
        let lock = lock_name(&database, owner);
        let free = session.value(&format!("SELECT IS_FREE_LOCK({lock})"));
        let is_free = matches!(free, Ok(Some(free)) if free == "1");
        let holds = |session: &mut A| {
            let rows = session.table(&ddl::first_row(&table));
            !rows.is_ok_and(|rows| rows.is_empty())
        };
        if is_free && !(table.ends_with(EMPTY) && holds(session)) {
            drop_soon(session, &[&table]);
        }
    }
}
