//! PostgreSQL's part in jobs, whose rows several processes write.

use crate::ddl::{self, Table, literal, names};
use crate::facts::ServerFacts;
use crate::staging;
use inrush_core::error::{Error, Result};
use inrush_core::target::{
    At, Console, Home, JobTables, Lost, SqlRows, Twins, WITHOUT_TABLES, fills,
};
use inrush_core::{Job, OnConflict, TargetFacts};
use inrush_net::staging::Asks as _;

/// Jobs of PostgreSQL: everything that publishes, renames too, is one transaction.
pub(super) struct PostgresJobs;

/// A table beside the job's.
fn beside(home: &Home, table: &str) -> Table {
    Table::in_schema(home.schema.as_deref().unwrap_or("public"), table)
}

/// A lock's number. Digits are random, so that numbers of jobs lie far from each other.
fn key(digits: &str, number: u32) -> i64 {
    let digits = u64::from_str_radix(digits, 16).unwrap_or_default();
    digits.wrapping_add(u64::from(number)).cast_signed()
}

impl JobTables for PostgresJobs {
    fn home(&self, facts: &TargetFacts, _table: &str) -> Home {
        let server = ServerFacts::of(facts);
        let named = facts.table.as_ref().map_or(&server.table, |table| &table.name);
        Home { schema: Some(server.schema.clone()), table: named.clone() }
    }

    fn refuse(&self, job: &Job, _makes_tables: bool) -> Result<()> {
        let server = ServerFacts::of(&job.facts.target);
        if server.creates {
            return Ok(());
        }
        let schema = &server.schema;
        Err(Error::target(format!("a job makes tables in schema {schema}, and this user may not"))
            .advise(WITHOUT_TABLES))
    }

    fn admits(&self, console: &mut dyn Console, job: &Job, home: &Home) -> Result<()> {
        let table = &home.table;
        let relation = format!("{}::pg_catalog.regclass", beside(home, table).literal());
        if job.kept_table().is_none() {
            return Ok(());
        }
        let reads = format!("SELECT 1 WHERE pg_catalog.has_table_privilege({relation}, 'SELECT')");
        match console.value(&reads)? {
            Some(_) => Ok(()),
            None => Err(Error::target(format!(
                "a job makes tables like {table}, and this user may not read all of its columns"
            ))
            .advise(format!("ask for the right: GRANT SELECT ON {}", beside(home, table).sql()))
            .advise(WITHOUT_TABLES)),
        }
    }

    /// The answer to a statement that a rule replaces is that of the other statement
    /// (<https://www.postgresql.org/docs/current/rules-status.html>), and a trigger may take a row away behind it.
    fn miscounts(&self, job: &Job) -> bool {
        let server = ServerFacts::of(&job.facts.target);
        // Of rows that a policy hides a count says nothing.
        job.kept_table().is_some() && server.loses_written && !server.is_secured
    }

    fn opening(&self) -> Option<&'static str> {
        Some(
            // One may wait for as long as others copy (before PostgreSQL 14 there is no such limit), and then has to see what they
            // have done. What a job's table says, and who reads it, has to be true after a crash, too.
            "SET client_min_messages = error; \
             SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED; \
             SELECT pg_catalog.set_config('idle_session_timeout', '0', false) \
             WHERE pg_catalog.current_setting('idle_session_timeout', true) IS NOT NULL; \
             SELECT pg_catalog.set_config('synchronous_commit', 'on', false) \
             WHERE pg_catalog.current_setting('synchronous_commit') = 'off'",
        )
    }

    fn requested(&self, home: &Home, table: &str) -> String {
        self.named(home, table)
    }

    fn make_ledger(&self, home: &Home, ledger: &str) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {} (id text PRIMARY KEY, target text NOT NULL, state text NOT NULL, digits text NOT NULL, \
             version text NOT NULL, begun bigint NOT NULL, heartbeat bigint NOT NULL, job text NOT NULL, tokens text, report text)",
            beside(home, ledger).sql()
        )
    }

    fn make_partitions(&self, home: &Home, partitions: &str) -> String {
        format!(
            "CREATE TABLE {} (part bigint PRIMARY KEY, attempt text NOT NULL, loaded bigint NOT NULL, origin text, token text)",
            beside(home, partitions).sql()
        )
    }

    /// Unlogged: a crash of the server empties such tables, and publishing, which counts, finds out.
    fn make_template(&self, job: &Job, home: &Home, template: &str, keyed: bool) -> Vec<String> {
        let table = beside(home, template);
        let Some(kept) = job.kept_table() else {
            let mut made = vec![ddl::create_table(&table, job, true, false)];
            made.extend(ddl::primary_key(job).filter(|_| keyed).map(|key| add(&table, &key)));
            return made;
        };
        let mut made = vec![format!(
            "CREATE UNLOGGED TABLE {} (LIKE {} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING IDENTITY)",
            table.sql(),
            beside(home, &home.table).sql()
        )];
        if keyed {
            let of = |columns: &Vec<String>| names(columns.iter().map(String::as_str));
            let mut keys = kept.unique_keys.clone();
            keys.retain(|key| *key != kept.primary_key);
            if kept.primary_key.is_empty() {
                made.extend(keys.iter().map(|key| add(&table, &format!("UNIQUE ({})", of(key)))));
            } else {
                let primary = format!("PRIMARY KEY ({})", of(&kept.primary_key));
                made.push(add(&table, &primary));
                made.extend(keys.iter().map(|key| add(&table, &format!("UNIQUE ({})", of(key)))));
            }
        }
        made
    }

    fn make_like(&self, home: &Home, table: &str, template: &str) -> String {
        let (table, template) = (beside(home, table).sql(), beside(home, template).sql());
        format!("CREATE UNLOGGED TABLE {table} (LIKE {template} INCLUDING ALL)")
    }

    fn make_hidden(&self, home: &Home, hidden: &str, template: &str) -> String {
        let (hidden, template) = (beside(home, hidden).sql(), beside(home, template).sql());
        format!("CREATE TABLE {hidden} (LIKE {template} INCLUDING ALL)")
    }

    fn complete(&self, job: &Job, home: &Home, table: &str, keyed: bool) -> Vec<String> {
        let table = beside(home, table);
        let key = ddl::primary_key(job).filter(|_| !keyed).map(|key| add(&table, &key));
        key.into_iter().chain(ddl::indexes(&table, job)).collect()
    }

    fn renames_in_transaction(&self) -> bool {
        true
    }

    fn take_name(
        &self,
        console: &mut dyn Console,
        home: &Home,
        hidden: &str,
        replaces: bool,
    ) -> Result<()> {
        staging::take_name(console, &beside(home, hidden), &beside(home, &home.table), replaces)
    }

    fn drop_tables(&self, console: &mut dyn Console, home: &Home, tables: &[&str]) -> bool {
        let tables: Vec<Table> = tables.iter().map(|table| beside(home, table)).collect();
        staging::discard(console, &tables)
    }

    fn sweep(&self, console: &mut dyn Console, home: &Home) {
        let table = beside(home, &home.table);
        let hidden = console.names(&staging::hidden_tables(&table)).unwrap_or_default();
        staging::sweep(console, &table, hidden);
    }

    fn twins(&self) -> Option<&dyn Twins> {
        Some(self)
    }
}

impl Twins for PostgresJobs {
    fn keep_hidden(&self, console: &mut dyn Console, home: &Home, hidden: &str) -> Result<()> {
        console.execute(self.begin_locks())?;
        staging::keep(console, &beside(home, hidden))
    }

    /// A default that counts by the existing table's own sequence would count that one up.
    fn make_twin(&self, home: &Home, twin: &str, table: &str) -> Vec<String> {
        let (twin, table) = (beside(home, twin), beside(home, table));
        let counting = format!(
            "DO $twin$ DECLARE counted name; BEGIN \
             PERFORM pg_catalog.set_config('quote_all_identifiers', 'off', true); \
             FOR counted IN SELECT a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_attrdef d \
             ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = {}::pg_catalog.regclass \
             AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' AND NOT a.attisdropped LOOP \
             EXECUTE pg_catalog.format('ALTER TABLE {} ALTER %1$I DROP DEFAULT, ALTER %1$I SET NOT NULL', counted); \
             EXECUTE pg_catalog.format('ALTER TABLE {} ALTER %1$I ADD GENERATED BY DEFAULT AS IDENTITY', counted); \
             END LOOP; END $twin$",
            twin.literal(),
            twin.sql().replace('\'', "''").replace('%', "%%"),
            twin.sql().replace('\'', "''").replace('%', "%%"),
        );
        vec![format!("CREATE TABLE {} (LIKE {} INCLUDING ALL)", twin.sql(), table.sql()), counting]
    }
}

impl SqlRows for PostgresJobs {
    fn named(&self, home: &Home, table: &str) -> String {
        beside(home, table).sql()
    }

    fn literal(&self, text: &str) -> String {
        literal(text)
    }

    fn seconds(&self) -> &'static str {
        "CAST(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()) AS bigint)"
    }

    fn schemas_with(&self, table: &str) -> String {
        format!(
            "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relname = {} AND c.relkind = 'r' ORDER BY 1",
            literal(table)
        )
    }

    fn tables(&self, home: &Home, prefix: &str) -> String {
        format!(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = {} AND c.relkind = 'r' AND pg_catalog.starts_with(c.relname, {}) ORDER BY 1",
            literal(home.schema.as_deref().unwrap_or_default()),
            literal(prefix)
        )
    }

    /// FOR SHARE would be refused in a transaction that sees the row as it was before another change of it.
    fn shared(&self) -> &'static str {
        " FOR KEY SHARE"
    }

    fn begin_alone(&self, at: At<'_>) -> Result<bool> {
        let At { console, home } = at;
        let table = beside(home, &home.table);
        console.execute("SAVEPOINT alone")?;
        let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", table.sql());
        match console.execute(&lock) {
            Ok(_) => return Ok(false),
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error),
        }
        // This user may not have others wait, or the table is none that can be locked: other loads are kept out.
        console.execute("ROLLBACK TO SAVEPOINT alone")?;
        match console.value(&ddl::try_lock(&table))?.as_deref() {
            Some("t") => Ok(true),
            _ => Err(fills(home)),
        }
    }

    fn end_alone(&self, at: At<'_>) -> Result<()> {
        at.console.execute("ROLLBACK TO SAVEPOINT alone").map(drop)
    }

    /// Within a transaction: what a session is told stays with a pooler's connection.
    fn impatient(&self) -> &'static str {
        "BEGIN; SET LOCAL lock_timeout = '1s'"
    }

    fn insert(&self, job: &Job, home: &Home, table: &str) -> (String, String) {
        let insert = ddl::Insert::into(&beside(home, table), job);
        (insert.head, insert.tail)
    }

    /// The server counts a row that changes another as one that is new.
    fn lost(&self, job: &Job, home: &Home, table: &str) -> Option<Lost> {
        match job.request.on_conflict {
            OnConflict::Fail => None,
            OnConflict::Update | OnConflict::Replace => Some(Lost::Uncounted),
            OnConflict::Skip if !ServerFacts::of(&job.facts.target).triggers_decide => None,
            OnConflict::Skip => {
                let (before, after) = ddl::lost(&beside(home, table), &job.choice.key);
                Some(Lost::Found { before, after })
            }
        }
    }

    fn columns(&self, job: &Job) -> String {
        ddl::columns(job)
    }

    /// Locks belong to the transaction, not to the session, which behind a pooler may be another one after each commit.
    fn begin_locks(&self) -> &'static str {
        // Before PostgreSQL 17 a transaction may take any time.
        "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; \
         SELECT pg_catalog.set_config('transaction_timeout', '0', true) \
         WHERE pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL"
    }

    fn try_lock(&self, digits: &str, number: u32) -> String {
        format!("pg_catalog.pg_try_advisory_xact_lock({})", key(digits, number))
    }

    fn are_free(&self, digits: &str, last: u32) -> String {
        // https://www.postgresql.org/docs/current/view-pg-locks.html: a key of 64 bits is in two halves.
        const KEY: &str = "((classid::int8 << 32) | objid::int8)";
        let (first, last) = (key(digits, 0), key(digits, last));
        // Behind the largest key comes the smallest.
        let both = if first <= last { "AND" } else { "OR" };
        format!(
            "SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
             AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) \
             AND ({KEY} >= ({first}) {both} {KEY} <= ({last})))"
        )
    }
}

fn add(table: &Table, part: &str) -> String {
    format!("ALTER TABLE {} ADD {part}", table.sql())
}
