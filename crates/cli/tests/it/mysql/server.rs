//! A server of `INRUSH_TEST_SERVERS`, seen through the system's `mariadb` client.

use std::cell::RefCell;
use std::ops::Deref;
use std::process::Command;

use crate::contract::{TWO_LANES, Traits, select};
use crate::fixture::Fixture;
use crate::servers::{self, Database, Family, OnDrop, State};

pub(super) use crate::servers::{Extras, Rows, Way, cell, rows};

/// Runs the test on every server, in a database and a directory of its own.
pub(super) fn for_each_server(test: impl Fn(&Server)) {
    servers::for_each_server(test);
}

/// The same on one of both kinds, another for each test: for what does not depend on it. `make test-all` takes all.
pub(super) fn for_some_servers(test: impl Fn(&Server)) {
    servers::for_some_servers(test);
}

/// The same on the first server alone, which is a MariaDB: loads take more steps there than on MySQL.
pub(super) fn for_one_server(test: impl Fn(&Server)) {
    servers::for_one_server(test);
}

/// [`for_each_server`] while no other test uses the server: the test changes what holds for all of its connections.
pub(super) fn alone_on_each_server(test: impl Fn(&Server)) {
    servers::alone_on_each_server(test);
}

/// The same on one of both kinds.
pub(super) fn alone_on_some_servers(test: impl Fn(&Server)) {
    servers::alone_on_some_servers(test);
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
pub(super) type Server = servers::Server<MySql>;

/// A database on a server.
pub(crate) struct MySql {
    pub(super) name: String,
    /// Host and port.
    pub(super) address: String,
    pub(super) database: String,
    /// `?socket=...`, or nothing.
    parameters: String,
    user: String,
    pub(super) is_mariadb: bool,
    pub(super) version: (u32, u32),
    /// The third number of its version.
    patch: u32,
    client: RefCell<Client>,
    /// One that goes on after an error, its own or that of the test.
    dogged: RefCell<Option<Client>>,
    files: Fixture,
}

/// The files.
impl Deref for MySql {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.files
    }
}

impl Database for MySql {
    const FAMILY: Family = Family {
        name: "MySQL or MariaDB",
        schemes: &["mysql://", "mariadb://"],
        example: "mariadb=mysql://root@127.0.0.1:3306/",
    };

    const TRAITS: Traits = Traits {
        lanes: TWO_LANES,
        // Those for tables without transactions.
        special: &["mysql/csv-file", "mysql/convert", "mysql/insert-delayed", "mysql/tablespace"],
        has_steps: true,
        replaces_in_steps: false,
        ..Traits::of("mysql")
    };

    fn has(&self, strategy: &str) -> bool {
        strategy != "mysql/bulk" || self.is_mariadb
    }

    fn make(name: &str, url: &str) -> Self {
        let rest = url.split_once("://").expect("a URL").1;
        let (place, parameters) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, address) = place.split_once('@').unwrap_or(("root", place));
        let mut client = Client::start(user, address, parameters, &[]);
        let database = servers::new_database();
        client.answer(&format!("CREATE DATABASE {database} DEFAULT CHARACTER SET utf8mb4"));
        client.answer(&format!("USE {database}"));
        client.answer("SET SESSION sql_mode = 'STRICT_ALL_TABLES'");
        let version = client.answer("SELECT VERSION()").remove(0).remove(0).unwrap();
        let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        Self {
            name: name.to_owned(),
            address: address.to_owned(),
            database,
            parameters: parameters.to_owned(),
            user: user.to_owned(),
            is_mariadb: version.contains("MariaDB"),
            version: (numbers.next().unwrap(), numbers.next().unwrap()),
            patch: numbers.next().unwrap(),
            client: RefCell::new(client),
            dogged: RefCell::new(None),
            files: Fixture::new(),
        }
    }

    fn keeps_fractions(&self) -> bool {
        self.is_mariadb || self.version >= (5, 6)
    }

    fn row_bytes_max(&self) -> usize {
        let rows = self.query("SELECT @@max_allowed_packet");
        let bytes: usize = rows[0][0].as_ref().unwrap().parse().unwrap();
        // What a statement has besides the row, and each byte escaped.
        bytes / 2 - 1024
    }

    fn discard(&mut self, quietly: bool) {
        let sql = format!("DROP DATABASE {}", self.database);
        let client = self.client.get_mut();
        if quietly {
            client.say(&sql);
        } else {
            client.answer(&sql);
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn url(&self) -> String {
        self.url_of(&self.user)
    }

    /// A NUL in it is shown as a space; HEX() shows all.
    fn query(&self, sql: &str) -> Rows {
        self.client.borrow_mut().answer(sql)
    }

    fn tables(&self) -> Vec<String> {
        let rows = self.query(
            "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1",
        );
        rows.into_iter().flatten().flatten().collect()
    }

    fn rows(&self, table: &str, columns: &[&str]) -> Rows {
        self.query(&select(table, columns, |name| format!("`{name}`")))
    }

    fn state(&self) -> State {
        self.tables()
            .into_iter()
            .map(|table| {
                let made = self.query(&format!("SHOW CREATE TABLE `{table}`"));
                // Read at once by some statistics, the next number of a column that counts is no content.
                let made =
                    made.into_iter().map(|row| row.into_iter().map(without_counter).collect());
                let sum = self.query(&format!("CHECKSUM TABLE `{table}`"));
                (table, (made.collect(), sum))
            })
            .collect()
    }

    fn connections(&self) -> Vec<String> {
        let rows = self.query(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()",
        );
        rows.into_iter().flatten().flatten().collect()
    }

    fn end_connections(&self) {
        self.connections().iter().for_each(|id| self.kill("CONNECTION", id));
    }

    fn bring_rows(&self) -> Vec<String> {
        let rows = self.query(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() \
             AND (INFO LIKE 'LOAD DATA%' OR INFO LIKE 'INSERT%')",
        );
        rows.into_iter().flatten().flatten().collect()
    }

    fn has_rows_of_a_load(&self) -> bool {
        // A statement may be over between two looks; the transaction is not.
        let brought = "SELECT 1 FROM information_schema.INNODB_TRX JOIN information_schema.PROCESSLIST \
             ON ID = trx_mysql_thread_id WHERE DB = DATABASE() AND trx_rows_modified > 0";
        !self.bring_rows().is_empty() || !self.query(brought).is_empty()
    }
}

impl MySql {
    /// The target for another user, or `user:password`.
    pub(super) fn url_of(&self, user: &str) -> String {
        format!("mysql://{user}@{}/{}{}", self.address, self.database, self.parameters)
    }

    /// The target by TCP, at another address: a proxy's.
    pub(super) fn url_at(&self, address: &str) -> String {
        format!("mysql://{}@{address}/{}", self.user, self.database)
    }

    /// After the server was away.
    pub(crate) fn connect_again(&self) {
        let Self { user, address, parameters, database, .. } = self;
        let mut new = Client::start(user, address, parameters, &[]);
        new.answer(&format!("USE {database}"));
        *self.client.borrow_mut() = new;
        *self.dogged.borrow_mut() = None;
    }

    /// Runs a statement of the server's, whatever becomes of it.
    fn try_sql(&self, statement: &str) {
        let Self { user, address, parameters, .. } = self;
        let mut dogged = self.dogged.borrow_mut();
        let client = || Client::start(user, address, parameters, &["--force"]);
        dogged.get_or_insert_with(client).answer(statement);
    }

    /// Another client, for any thread: each statement over a connection of its own, whatever becomes of it.
    pub(super) fn another_client(&self) -> impl Fn(&str) -> Rows + Send + Sync + use<> {
        let Self { user, address, parameters, database, .. } = self;
        let [user, address, parameters, database] =
            [user, address, parameters, database].map(Clone::clone);
        move |statement| {
            let mut client = Client::start(&user, &address, &parameters, &["--force"]);
            client.answer(&format!("USE {database}"));
            client.answer(statement)
        }
    }

    /// The rows of a table as its client's dump has them, in the order of the primary key.
    pub(super) fn dump(&self, table: &str) -> String {
        let mut command = client("mariadb-dump", &self.user, &self.address, &self.parameters);
        command.args(["--compact", "--no-create-info", "--order-by-primary", "--hex-blob"]);
        command.args(["--skip-lock-tables", "--default-character-set=utf8mb4"]);
        let run = command.args([&self.database, table]).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }

    /// `KILL CONNECTION 7`, whether or not it is there.
    pub(super) fn kill(&self, what: &str, id: &str) {
        self.try_sql(&format!("KILL {what} {id}"));
    }

    pub(super) fn drop_user(&self, user: &str) {
        self.try_sql(&format!("DROP USER {user}"));
    }

    /// Whether it is MySQL of this version or a later one, or MariaDB.
    pub(crate) fn is_from(&self, (major, minor, patch): (u32, u32, u32)) -> bool {
        self.is_mariadb || (self.version, self.patch) >= ((major, minor), patch)
    }

    /// Whether INSERT DELAYED is more than a word.
    pub(super) fn queues(&self) -> bool {
        self.is_mariadb || self.version < (5, 7)
    }

    /// Whether every login sees all foreign keys of InnoDB.
    pub(super) fn lists_foreign_keys(&self) -> bool {
        !self.is_mariadb && self.version >= (8, 0)
    }

    pub(super) fn has_engine(&self, engine: &str) -> bool {
        let sql = "SELECT LOWER(ENGINE) FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')";
        self.query(sql).iter().flatten().flatten().any(|name| name == engine)
    }
}

impl Server {
    /// Runs statements, separated by `;;`.
    pub(super) fn sql(&self, statements: &str) -> &Self {
        for statement in statements.split(";;").filter(|statement| !statement.trim().is_empty()) {
            self.client.borrow_mut().answer(statement);
        }
        self
    }

    pub(super) fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM `{table}`"))
    }

    /// Sets a global variable, and sets it back afterwards; for tests that are alone.
    pub(super) fn with_global(&self, name: &str, value: &str, work: impl FnOnce()) {
        let before = self.query(&format!("SELECT @@GLOBAL.{name}"))[0][0].clone().unwrap();
        let restore = match before.parse::<i128>() {
            Ok(number) => number.to_string(),
            Err(_) => format!("'{before}'"),
        };
        let _restored = OnDrop(|| {
            self.try_sql(&format!("SET GLOBAL {name} = {restore}"));
        });
        self.sql(&format!("SET GLOBAL {name} = {value}"));
        work();
    }

    /// The table is gone, if it was there.
    pub(super) fn drop_table(&self, table: &str) -> &Self {
        self.sql(&format!("DROP TABLE IF EXISTS `{table}`"))
    }
}

/// SHOW CREATE TABLE without the next number of a column that counts: a row that was not stored may use one up.
fn without_counter(text: Option<String>) -> Option<String> {
    let text = text?;
    let Some((before, after)) = text.split_once(" AUTO_INCREMENT=") else { return Some(text) };
    Some(before.to_owned() + after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The client, and how many answers it has given.
struct Client {
    client: servers::Client,
    answers: u32,
}

impl Client {
    fn start(user: &str, address: &str, parameters: &str, more: &[&str]) -> Self {
        let mut command = client("mariadb", user, address, parameters);
        // Binary: no character but the delimiter means anything to the client.
        command.args(["--xml", "--unbuffered", "--binary-mode", "--delimiter=$$"]);
        command.arg("--default-character-set=utf8mb4").args(more);
        Self { client: servers::Client::start(&mut command), answers: 0 }
    }

    fn say(&mut self, sql: &str) {
        self.client.say(&format!("{sql}\n$$\n"));
    }

    fn answer(&mut self, sql: &str) -> Rows {
        self.answers += 1;
        self.say(sql);
        self.say(&format!("SELECT {} AS inrush_answered", self.answers));
        let end = format!("<field name=\"inrush_answered\">{}</field>", self.answers);
        rows_of(&self.client.hear(&end, "</resultset>\n"))
    }
}

/// A program of MariaDB's with what it needs to connect.
fn client(program: &str, user: &str, address: &str, parameters: &str) -> Command {
    let socket = parameters.strip_prefix("?socket=");
    let (host, port) = address.split_once(':').unwrap_or((address, "3306"));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut command = Command::new(program);
    command.args(["--no-defaults", "--user", user, "--host", host, "--port", port]);
    match socket {
        Some(path) => command.arg(format!("--socket={path}")),
        None => command.arg("--protocol=tcp"),
    };
    command.env("MYSQL_PWD", password);
    command
}

/// Rows of the client's XML. Its `<` is never part of a value.
fn rows_of(xml: &str) -> Rows {
    let value = |field: &str| {
        let (_name, value) = field.split_once('"').unwrap();
        let text = value.strip_prefix('>')?.split("</field>").next().unwrap();
        if !text.contains('&') {
            return Some(text.to_owned());
        }
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        Some(plain.replace("&amp;", "&"))
    };
    let is_row = |row: &&str| row.contains("</row>");
    let rows = xml.split("<row>").skip(1).filter(is_row);
    rows.map(|row| row.split("<field name=\"").skip(1).map(value).collect()).collect()
}

/// Those of them that take one connection and nothing but a new table, or one of an engine without transactions.
pub(super) const SPECIAL: [&str; 3] = ["mysql/csv-file", "mysql/convert", "mysql/insert-delayed"];

/// One with tests of its own (`tablespace`).
const APART: &str = "mysql/tablespace";

impl Server {
    /// All strategies that this server has; of the one that only MariaDB has, others must say so.
    pub(super) fn strategies(&self) -> Vec<String> {
        servers::strategies("mysql")
            .into_iter()
            .filter(|id| id != APART && (self.has_bulk() || id != "mysql/bulk"))
            .collect()
    }

    /// Whether rows of parameters can be sent in bulk.
    pub(super) fn has_bulk(&self) -> bool {
        self.is_mariadb
    }

    /// Every way to write into a table that the load makes.
    pub(super) fn ways_into_new(&self) -> Vec<Way> {
        let special = SPECIAL.map(|strategy| Way { strategy: strategy.to_owned(), lanes: "1" });
        [self.ways_into_empty(), special.to_vec()].concat()
    }

    /// Every way to write into a table that is there and empty.
    pub(super) fn ways_into_empty(&self) -> Vec<Way> {
        let with = |lanes| self.ways_into_used().into_iter().map(move |way| Way { lanes, ..way });
        with("1").chain(with("2")).collect()
    }

    /// Every way to write into a table that holds rows.
    pub(super) fn ways_into_used(&self) -> Vec<Way> {
        let ids = self.strategies().into_iter().filter(|id| !SPECIAL.contains(&id.as_str()));
        ids.map(|strategy| Way { strategy, lanes: "1" }).collect()
    }
}
