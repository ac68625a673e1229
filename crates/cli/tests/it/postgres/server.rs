//! A server of `INRUSH_TEST_SERVERS`, seen through the system's `psql`.

use std::cell::RefCell;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use crate::contract::{TWO_LANES, Traits, select};
use crate::fixture::{Fixture, quoted, size};
use crate::servers::{self, Database, Family, State};

pub(super) use crate::servers::{Extras, Rows, Way, rows};

/// Runs the test on every server, in a database and a directory of its own.
pub(super) fn for_each_server(test: impl Fn(&Server)) {
    servers::for_each_server(test);
}

/// Runs the test with a private server of each version that is meant, which it may kill.
pub(super) fn for_each_private_server(
    is_meant: impl Fn(&str) -> bool,
    extras: Extras<'_>,
    test: impl Fn(&mut inrush_servers::Server, &Server),
) {
    servers::for_each_private_server(is_meant, extras, test);
}

/// A server, a database in it, and files to load.
pub(super) type Server = servers::Server<Postgres>;

/// A database on a server.
pub(crate) struct Postgres {
    name: String,
    /// Host and port.
    pub(super) address: String,
    pub(super) database: String,
    /// `?host=...`, or nothing.
    parameters: String,
    user: String,
    /// 15 and later.
    pub(super) version: u32,
    client: RefCell<Client>,
    /// One that goes on after an error, its own or that of the test, from when it is needed.
    dogged: RefCell<Option<Client>>,
    files: Fixture,
}

/// The files.
impl Deref for Postgres {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.files
    }
}

/// Tables, views and the like that are not the server's own.
const RELATIONS: &str = "pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
     AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')";

/// Parts of a table's definition, each with a name or number: the table itself, columns, constraints, indexes, triggers, rules,
/// policies.
const DEFINITION: &str = "
    SELECT 1, c.relname::text, concat_ws(' ', c.relkind, c.relpersistence, c.relowner::regrole, c.relacl::text, c.reloptions::text,
        c.relrowsecurity, obj_description(c.oid, 'pg_class'), pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid))
    FROM pg_class c WHERE c.oid = TABLE
    UNION ALL SELECT 2, a.attnum::text, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
        a.attgenerated, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = TABLE AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL SELECT 3, conname, concat_ws(' ', pg_get_constraintdef(oid), convalidated) FROM pg_constraint
    WHERE conrelid = TABLE OR confrelid = TABLE
    UNION ALL SELECT 4, i.indexrelid::regclass::text, concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisclustered)
    FROM pg_index i WHERE i.indrelid = TABLE
    UNION ALL SELECT 5, tgname, concat_ws(' ', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE tgrelid = TABLE AND NOT tgisinternal
    UNION ALL SELECT 6, rulename, pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = TABLE
    UNION ALL SELECT 7, polname, concat_ws(' ', polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
    FROM pg_policy WHERE polrelid = TABLE
    ORDER BY 1, 2, 3";

impl Database for Postgres {
    const FAMILY: Family = Family {
        name: "PostgreSQL",
        schemes: &["postgres://", "postgresql://"],
        example: "postgres=postgres://postgres@127.0.0.1:5432/postgres",
    };

    const TRAITS: Traits = Traits { lanes: TWO_LANES, has_steps: true, ..Traits::of("postgres") };

    fn make(name: &str, url: &str) -> Self {
        let rest = url.split_once("://").expect("a URL").1;
        let (place, rest) = rest.split_once('/').unwrap_or((rest, "postgres"));
        let parameters = rest.find('?').map_or("", |at| &rest[at..]);
        let (user, address) = place.split_once('@').unwrap_or(("postgres", place));
        let database = servers::new_database();
        let mut client = Client::start(url, true);
        client.answer(&format!("CREATE DATABASE {database}"));
        client.say(&format!("\\connect {database}"));
        let version = client.answer("SHOW server_version_num").remove(0).remove(0).unwrap();
        Self {
            name: name.to_owned(),
            address: address.to_owned(),
            database,
            parameters: parameters.to_owned(),
            user: user.to_owned(),
            version: version.parse::<u32>().unwrap() / 10_000,
            client: RefCell::new(client),
            dogged: RefCell::new(None),
            files: Fixture::new(),
        }
    }

    fn discard(&mut self, quietly: bool) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.database);
        if quietly {
            // The test's own client may have ended with an error.
            let (user, address, parameters) = (&self.user, &self.address, &self.parameters);
            let postgres = format!("postgres://{user}@{address}/postgres{parameters}");
            Client::start(&postgres, false).say(&drop);
        } else {
            let client = self.client.get_mut();
            client.say("\\connect postgres");
            client.answer(&drop);
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn url(&self) -> String {
        self.url_of(&self.user)
    }

    fn query(&self, sql: &str) -> Rows {
        self.client.borrow_mut().answer(sql)
    }

    fn tables(&self) -> Vec<String> {
        let rows = self.query(&format!(
            "SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname FROM {RELATIONS} ORDER BY 1"
        ));
        rows.into_iter().flatten().flatten().collect()
    }

    fn rows(&self, table: &str, columns: &[&str]) -> Rows {
        self.query(&select(table, columns, quoted))
    }

    fn state(&self) -> State {
        // In a transaction, because names that are looked up may be in several schemas.
        let tables = self.query(&format!(
            "SELECT c.oid, format('%I.%I', n.nspname, c.relname) FROM {RELATIONS}"
        ));
        tables
            .into_iter()
            .map(|row| {
                let [Some(oid), Some(table)] = &row[..] else { panic!("{row:?}") };
                let made = self.query(&DEFINITION.replace("TABLE", oid));
                let sum = self.query(&format!(
                    "SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM {table} t"
                ));
                (table.clone(), (made, sum))
            })
            .collect()
    }

    fn connections(&self) -> Vec<String> {
        self.activity("true")
    }

    fn end_connections(&self) {
        self.connections().iter().for_each(|id| self.kill(id));
    }

    fn bring_rows(&self) -> Vec<String> {
        self.activity("state <> 'idle' AND query ~ '(COPY|INSERT INTO) '")
    }
}

impl Postgres {
    /// Connections to this database of which this is true, except for the test's own.
    pub(super) fn activity(&self, condition: &str) -> Vec<String> {
        let rows = self.query(&format!(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' \
             AND application_name <> '{APPLICATION}' AND {condition}"
        ));
        rows.into_iter().flatten().flatten().collect()
    }

    /// The target for another user, or `user:password`.
    pub(super) fn url_of(&self, user: &str) -> String {
        format!("postgres://{user}@{}/{}{}", self.address, self.database, self.parameters)
    }

    /// The target by TCP, at another address: a proxy's.
    pub(super) fn url_at(&self, address: &str) -> String {
        format!("postgres://{}@{address}/{}", self.user, self.database)
    }

    /// After the server was away.
    pub(crate) fn connect_again(&self) {
        *self.client.borrow_mut() = Client::start(&Database::url(self), true);
        *self.dogged.borrow_mut() = None;
    }

    /// Runs statements, whatever becomes of them.
    pub(super) fn try_sql(&self, statements: &str) {
        let mut dogged = self.dogged.borrow_mut();
        dogged.get_or_insert_with(|| Client::start(&Database::url(self), false)).answer(statements);
    }

    /// Ends a connection, whether or not it is there.
    pub(super) fn kill(&self, id: &str) {
        self.try_sql(&format!("SELECT pg_terminate_backend({id})"));
    }
}

impl Server {
    /// Runs statements, and commands of psql.
    pub(super) fn sql(&self, statements: &str) -> &Self {
        self.query(statements);
        self
    }

    pub(super) fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM {}", quoted(table)))
    }

    /// The table is gone, if it was there.
    pub(super) fn drop_table(&self, table: &str) -> &Self {
        self.sql(&format!("DROP TABLE IF EXISTS {} CASCADE", quoted(table)))
    }

    /// Every way to write into a table that the load makes; over one connection and over two, by turns where the tests do not take their
    /// time.
    pub(super) fn ways_into_new(&self) -> Vec<Way> {
        let lanes = ["1", "2"];
        let over = |number: usize| size(&lanes[number % 2..=number % 2], &lanes[..]).to_vec();
        let ways = self.ways_into_used().into_iter().enumerate();
        ways.flat_map(|(number, way)| {
            over(number).into_iter().map(move |lanes| Way { strategy: way.strategy.clone(), lanes })
        })
        .collect()
    }

    /// Every way to write into an existing table.
    pub(super) fn ways_into_used(&self) -> Vec<Way> {
        let ids = servers::strategies("postgres").into_iter();
        ids.map(|strategy| Way { strategy, lanes: "1" }).collect()
    }
}

/// What our own connections are called.
const APPLICATION: &str = "inrush-test";

/// Between fields, between rows, and for NULL: no text of a test has them.
const FIELD: char = '\u{1f}';
const ROW: char = '\u{1e}';
const NULL: &str = "\u{1d}";

/// PostgreSQL's client. Debian's is a script which looks for the newest one, and takes longer for that than the client for its work.
pub(crate) fn psql() -> Command {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
        let newest = versions.map(|entry| entry.path()).max_by_key(version);
        let found = newest.map(|path| path.join("bin/psql")).filter(|path| path.exists());
        found.unwrap_or_else(|| "psql".into())
    });
    Command::new(&*PATH)
}

/// The client, and how many answers it has given.
struct Client {
    client: servers::Client,
    answers: u32,
}

impl Client {
    /// Connects; after an error it ends, or goes on.
    fn start(url: &str, stops: bool) -> Self {
        let mut command = psql();
        command.args(["-X", "-A", "-t", "-q", "-d", url, "-v", "VERBOSITY=verbose"]);
        command.arg("-F").arg(FIELD.to_string()).arg("-R").arg(ROW.to_string());
        command.args(["-P", &format!("null={NULL}")]);
        command.args(stops.then_some(["-v", "ON_ERROR_STOP=1"]).iter().flatten());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PG")) {
            command.env_remove(name);
        }
        command.env("PGAPPNAME", APPLICATION).env("PGCLIENTENCODING", "UTF8");
        command.env("PGOPTIONS", "-c client_min_messages=error");
        Self { client: servers::Client::start(&mut command), answers: 0 }
    }

    fn say(&mut self, sql: &str) {
        self.client.say(&format!("{sql}\n;\n"));
    }

    /// The rows of all queries in it.
    fn answer(&mut self, sql: &str) -> Rows {
        self.answers += 1;
        self.say(sql);
        let end = format!("{ROW}answer {}\n", self.answers);
        // Its own words it keeps until there are more; an answer of the server it passes on.
        self.say(&format!("SELECT '{}'", end.trim_end()));
        let heard = self.client.hear(&end, &end);
        let rows = heard.strip_suffix('\n').map(|rows| rows.split(ROW));
        rows.into_iter().flatten().map(fields).collect()
    }
}

fn fields(row: &str) -> Vec<Option<String>> {
    let field = |field: &str| (field != NULL).then(|| field.to_owned());
    row.split(FIELD).map(field).collect()
}
