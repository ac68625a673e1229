//! A server of `INRUSH_TEST_SERVERS`, seen through the system's `mariadb` client.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::fixture::{Fixture, Outcome};

const VARIABLE: &str = "INRUSH_TEST_SERVERS";

/// Rows of a table or answer; `None` is NULL.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// Runs the test on every server, in a database and a directory of its own.
pub(super) fn for_each_server(test: impl Fn(&Server)) {
    for (name, url) in named() {
        let lock = lock_file(&name);
        lock.lock_shared().unwrap();
        test(&Server::new(&name, &url));
    }
}

/// The same while no other test uses the server: the test changes what holds for all of its connections.
pub(super) fn alone_on_each_server(test: impl Fn(&Server)) {
    for (name, url) in named() {
        let lock = lock_file(&name);
        lock.lock().unwrap();
        test(&Server::new(&name, &url));
    }
}

/// What a private server is started with, besides the settings for tests.
#[derive(Clone, Copy, Default)]
pub(super) struct Extras<'a> {
    pub(super) settings: &'a [(&'a str, &'a str)],
    pub(super) environment: &'a [(&'a str, &'a str)],
}

/// Runs the test with a private server of each version that is meant, which it may kill.
pub(super) fn for_each_private_server(
    is_meant: impl Fn(&str) -> bool,
    extras: Extras<'_>,
    test: impl Fn(&mut inrush::server::Server, &Server),
) {
    for (name, _) in named().into_iter().filter(|(name, _)| is_meant(name)) {
        let mut installed = match inrush::server::Installed::find(&name) {
            Ok(installed) => installed,
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                continue;
            }
        };
        for (name, value) in extras.environment {
            installed = installed.with_variable(name, value);
        }
        let more =
            extras.settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: Vec<_> = installed.test_settings().into_iter().chain(more).collect();
        let mut private = inrush::server::Server::start(&installed, &settings).unwrap();
        let server = Server::new(&name, &private.url());
        test(&mut private, &server);
    }
}

/// Names and URLs of the servers that are of this family; none, and a word about it, where nobody has started any.
fn named() -> Vec<(String, String)> {
    let servers = std::env::var(VARIABLE).unwrap_or_default();
    let servers: Vec<(String, String)> = servers
        .split_whitespace()
        .map(|server| {
            let (name, url) = server.split_once('=').expect("NAME=URL");
            (name.to_owned(), url.to_owned())
        })
        .filter(|(_, url)| ["mysql://", "mariadb://"].iter().any(|scheme| url.starts_with(scheme)))
        .collect();
    if servers.is_empty() {
        let how = format!(
            "no MySQL or MariaDB server to test with: `make test` starts them, or set {VARIABLE} to NAME=URL, \
             such as mariadb=mysql://root@127.0.0.1:3306/"
        );
        assert!(std::env::var("CI").is_err(), "{how}");
        eprintln!("SKIPPED: {how}");
    }
    servers
}

/// Held shared by every test on the server, and alone by those that change its settings. Tests run in processes of their own.
fn lock_file(server: &str) -> File {
    File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{server}.lock"))).unwrap()
}

/// A server, a database in it, and files to load.
pub(super) struct Server {
    pub(super) name: String,
    /// Host and port.
    pub(super) address: String,
    pub(super) database: String,
    /// `?socket=...`, or nothing.
    parameters: String,
    user: String,
    pub(super) is_mariadb: bool,
    pub(super) version: (u32, u32),
    client: RefCell<Client>,
    /// One that goes on after an error, its own or that of the test.
    dogged: RefCell<Client>,
    files: Fixture,
}

/// The files.
impl Deref for Server {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.files
    }
}

impl Server {
    fn new(name: &str, url: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Shown when the test fails.
        println!("on {name}");
        let rest = url.split_once("://").expect("a URL").1;
        let (place, parameters) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, address) = place.split_once('@').unwrap_or(("root", place));
        let mut client = Client::start(user, address, parameters, &[]);
        let dogged = Client::start(user, address, parameters, &["--force"]);
        let database = format!("inrush_{}_{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
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
            client: RefCell::new(client),
            dogged: RefCell::new(dogged),
            files: Fixture::new(),
        }
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.files.write(name, bytes);
        self
    }

    /// The target as a user writes it.
    pub(super) fn url(&self) -> String {
        self.url_of(&self.user)
    }

    /// The target for another user, or `user:password`.
    pub(super) fn url_of(&self, user: &str) -> String {
        format!("mysql://{user}@{}/{}{}", self.address, self.database, self.parameters)
    }

    /// The target by TCP, at another address: a proxy's.
    pub(super) fn url_at(&self, address: &str) -> String {
        format!("mysql://{}@{address}/{}", self.user, self.database)
    }

    /// After the server was away.
    pub(super) fn connect_again(&self) {
        let Self { user, address, parameters, database, .. } = self;
        for (client, more) in [(&self.client, &[][..]), (&self.dogged, &["--force"])] {
            let mut new = Client::start(user, address, parameters, more);
            new.answer(&format!("USE {database}"));
            *client.borrow_mut() = new;
        }
    }

    /// Runs statements, separated by `;;`.
    pub(super) fn sql(&self, statements: &str) -> &Self {
        for statement in statements.split(";;").filter(|statement| !statement.trim().is_empty()) {
            self.client.borrow_mut().answer(statement);
        }
        self
    }

    /// What a query answers. A NUL in it is shown as a space; HEX() shows all.
    pub(super) fn query(&self, sql: &str) -> Rows {
        self.client.borrow_mut().answer(sql)
    }

    /// The one whole number that a query answers.
    pub(super) fn number(&self, sql: &str) -> i64 {
        let rows = self.query(sql);
        rows[0][0].as_ref().unwrap().parse().unwrap_or_else(|_| panic!("{sql}: {rows:?}"))
    }

    pub(super) fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM `{table}`"))
    }

    /// Sets a global variable, and sets it back afterwards; for tests that are alone.
    pub(super) fn with_global(&self, name: &str, value: &str, work: impl FnOnce()) {
        let before = self.query(&format!("SELECT @@GLOBAL.{name}"))[0][0].clone().unwrap();
        let restore = match before.parse::<i64>() {
            Ok(number) => number.to_string(),
            Err(_) => format!("'{before}'"),
        };
        let _restored = OnDrop(|| {
            self.dogged.borrow_mut().answer(&format!("SET GLOBAL {name} = {restore}"));
        });
        self.sql(&format!("SET GLOBAL {name} = {value}"));
        work();
    }

    /// Tables of the database, views too, in order.
    pub(super) fn tables(&self) -> Vec<String> {
        let rows = self.query(
            "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1",
        );
        rows.into_iter().flatten().flatten().collect()
    }

    /// What becomes of every table when something is done to it: its definition, and a sum over its rows.
    pub(super) fn state(&self) -> BTreeMap<String, (Rows, Rows)> {
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

    /// Runs `work` and checks that no table of the database has changed, come or gone, and no file here.
    pub(super) fn leaves_everything<T>(&self, work: impl FnOnce() -> T) -> T {
        self.leaves_tables(|| self.leaves_all(work))
    }

    /// The same for the tables alone.
    pub(super) fn leaves_tables<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.state();
        let answer = work();
        assert_eq!(before, self.state(), "tables have changed on {}", self.name);
        answer
    }

    fn with_target<'a>(&self, args: &[&'a str], url: &'a str) -> Vec<&'a str> {
        [args, &[url]].concat()
    }

    /// `inrush load` into the database.
    pub(super) fn load(&self, args: &[&str]) -> Outcome {
        self.load_at(&self.url(), args)
    }

    /// The same by another URL.
    pub(super) fn load_at(&self, url: &str, args: &[&str]) -> Outcome {
        self.files.load(&self.with_target(args, url))
    }

    /// `inrush load` into the database, with these bytes on standard input.
    pub(super) fn load_reading(&self, stdin: &[u8], args: &[&str]) -> Outcome {
        self.files.load_reading(stdin, &self.with_target(args, &self.url()))
    }

    /// `inrush plan` for the database.
    pub(super) fn plan(&self, args: &[&str]) -> Outcome {
        self.files.inrush(&[&["plan"], &self.with_target(args, &self.url())[..]].concat())
    }

    /// A load that succeeds: its report.
    pub(super) fn report(&self, args: &[&str]) -> serde_json::Value {
        self.load(&[args, &["--json"]].concat()).exits(0).json()
    }

    /// A load that fails with exit code 1, says so in its last line, and leaves everything as it was.
    #[track_caller]
    pub(super) fn refuses(&self, args: &[&str]) -> Outcome {
        let url = self.url();
        self.refuses_at(&url, args)
    }

    /// The same at another URL.
    #[track_caller]
    pub(super) fn refuses_at(&self, url: &str, args: &[&str]) -> Outcome {
        let run = self.leaves_everything(|| self.load_at(url, args));
        assert_eq!(run.stdout, "", "a failed load has nothing to report");
        run.exits(1).ends_with_nothing_changed()
    }

    /// A command that is wrong: exit code 2, nothing touched.
    #[track_caller]
    pub(super) fn misused(&self, args: &[&str]) -> Outcome {
        self.leaves_everything(|| self.load(args)).exits(2)
    }

    /// The table is gone, if it was there.
    pub(super) fn drop_table(&self, table: &str) -> &Self {
        self.sql(&format!("DROP TABLE IF EXISTS `{table}`"))
    }

    /// Ids of the connections to this database, but for the test's own.
    pub(super) fn connections(&self) -> Vec<String> {
        let rows = self.query(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()",
        );
        rows.into_iter().flatten().flatten().collect()
    }

    /// Waits until a load's rows are on their way: the server has a statement that brings some. Returns its connection.
    #[track_caller]
    pub(super) fn wait_for_rows(&self) -> String {
        let before = Instant::now();
        loop {
            let rows = self.query(
                "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() \
                 AND (INFO LIKE 'LOAD DATA%' OR INFO LIKE 'INSERT%')",
            );
            if let Some(id) = rows.into_iter().flatten().flatten().next() {
                return id;
            }
            assert!(before.elapsed() < Duration::from_secs(20), "no rows come");
        }
    }

    /// `KILL CONNECTION 7`, whether or not it is there.
    pub(super) fn kill(&self, what: &str, id: &str) {
        self.dogged.borrow_mut().answer(&format!("KILL {what} {id}"));
    }

    pub(super) fn drop_user(&self, user: &str) {
        self.dogged.borrow_mut().answer(&format!("DROP USER {user}"));
    }

    /// Waits until the server has noticed that a killed load is gone.
    #[track_caller]
    pub(super) fn wait_until_alone(&self) {
        let before = Instant::now();
        while !self.connections().is_empty() {
            assert!(before.elapsed() < Duration::from_secs(30), "{:?}", self.connections());
            sleep(Duration::from_millis(5));
        }
    }

    /// Hidden tables.
    pub(super) fn hidden(&self) -> Vec<String> {
        self.tables().into_iter().filter(|name| name.starts_with("inrush_staging_")).collect()
    }

    /// Whether INSERT DELAYED is more than a word.
    pub(super) fn queues(&self) -> bool {
        self.is_mariadb || self.version < (5, 7)
    }

    pub(super) fn has_engine(&self, engine: &str) -> bool {
        let sql = "SELECT LOWER(ENGINE) FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')";
        self.query(sql).iter().flatten().flatten().any(|name| name == engine)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // One fault is told already.
            let sql = format!("DROP DATABASE {}", self.database);
            self.client.get_mut().say(&sql);
            return;
        }
        let hidden = self.hidden();
        self.sql(&format!("DROP DATABASE {}", self.database));
        assert!(hidden.is_empty(), "left over on {}: {hidden:?}", self.name);
    }
}

/// SHOW CREATE TABLE without the next number of a column that counts: a row that was not stored may use one up.
fn without_counter(text: Option<String>) -> Option<String> {
    let text = text?;
    let Some((before, after)) = text.split_once(" AUTO_INCREMENT=") else { return Some(text) };
    Some(before.to_owned() + after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The client, which goes on reading statements: one session for the whole test.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    answers: u32,
}

impl Client {
    fn start(user: &str, address: &str, parameters: &str, more: &[&str]) -> Self {
        let socket = parameters.strip_prefix("?socket=");
        let (host, port) = address.split_once(':').unwrap_or((address, "3306"));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let mut command = Command::new("mariadb");
        // Binary: no character but the delimiter means anything to the client.
        command.args(["--no-defaults", "--xml", "--unbuffered", "--binary-mode", "--delimiter=$$"]);
        command.args(["--default-character-set=utf8mb4", "--user", user, "--host", host]);
        command
            .args(more)
            .args(["--port", port])
            .args(socket.map(|path| format!("--socket={path}")));
        if socket.is_none() {
            command.arg("--protocol=tcp");
        }
        command.env("MYSQL_PWD", password);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the mariadb client, of Debian's mariadb-client");
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output, answers: 0 }
    }

    fn say(&mut self, sql: &str) {
        // What goes wrong is seen in the answer.
        let _ = self.input.as_mut().unwrap().write_all(format!("{sql}\n$$\n").as_bytes());
    }

    fn answer(&mut self, sql: &str) -> Rows {
        self.answers += 1;
        self.say(sql);
        self.say(&format!("SELECT {} AS inrush_answered", self.answers));
        let end = format!("<field name=\"inrush_answered\">{}</field>", self.answers);
        let mut xml = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = self.output.read(&mut buffer).unwrap();
            if read == 0 {
                let mut error = String::new();
                self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
                panic!("{error}\n{sql}");
            }
            xml.extend_from_slice(&buffer[..read]);
            // The answer's end may have come in two parts.
            let tail = &xml[xml.len().saturating_sub(read + 200)..];
            if String::from_utf8_lossy(tail).contains(&end) && xml.ends_with(b"</resultset>\n") {
                break;
            }
        }
        let xml = String::from_utf8_lossy(&xml);
        rows_of(xml.split(&end).next().unwrap())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Rows of the client's XML. Its `<` is never part of a value.
fn rows_of(xml: &str) -> Rows {
    let value = |field: &str| {
        let (_name, value) = field.split_once('"').unwrap();
        let text = value.strip_prefix('>')?.split("</field>").next().unwrap();
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        Some(plain.replace("&amp;", "&"))
    };
    let is_row = |row: &&str| row.contains("</row>");
    let rows = xml.split("<row>").skip(1).filter(is_row);
    rows.map(|row| row.split("<field name=\"").skip(1).map(value).collect()).collect()
}

/// A value as tests write it.
pub(super) trait Cell {
    fn cell(self) -> Option<String>;
}

impl Cell for &str {
    fn cell(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl Cell for String {
    fn cell(self) -> Option<String> {
        Some(self)
    }
}

impl Cell for i64 {
    fn cell(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Cell for f64 {
    fn cell(self) -> Option<String> {
        // As the server writes it: 1e308, not a one with 308 zeros.
        let long = self != 0.0 && !(1e-5..1e15).contains(&self.abs());
        Some(if long { format!("{self:e}") } else { self.to_string() })
    }
}

/// NULL.
impl Cell for () {
    fn cell(self) -> Option<String> {
        None
    }
}

pub(super) fn cell(value: impl Cell) -> Option<String> {
    value.cell()
}

/// Rows as tests write them: `rows![[1, "one"], [2, ()]]`, where `()` is NULL.
macro_rules! rows {
    ($([$($value:expr),* $(,)?]),* $(,)?) => {
        vec![$(vec![$($crate::mysql::server::cell($value)),*]),*]
    };
}
pub(super) use rows;

/// A way to write: a strategy, and over how many connections.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) strategy: String,
    lanes: &'static str,
}

impl Way {
    /// The options that choose it, with chunks so small that there are many. Some ways promise nothing for a crash.
    pub(super) fn options(&self) -> [&str; 8] {
        let Self { strategy, lanes } = self;
        ["--strategy", strategy, "--lanes", lanes, "--chunk-size", "1k", "--durability", "none"]
    }

    pub(super) fn lanes(&self) -> &str {
        self.lanes
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.strategy.ends_with(&format!("/{name}"))
    }
}

/// What `inrush strategies mysql` lists.
fn strategies() -> Vec<String> {
    let list = Fixture::new().inrush(&["strategies", "mysql"]).exits(0).stdout;
    let is_id = |line: &&str| line.starts_with("mysql/");
    let ids: Vec<String> = list.lines().filter(is_id).map(str::to_owned).collect();
    assert!(ids.len() >= 9, "{list}");
    ids
}

/// Those of them that take one connection and nothing but a new table, or one of an engine without transactions.
const SPECIAL: [&str; 3] = ["mysql/csv-file", "mysql/convert", "mysql/insert-delayed"];

impl Server {
    /// All strategies that this server has; of the one that only MariaDB has, others must say so.
    pub(super) fn strategies(&self) -> Vec<String> {
        strategies().into_iter().filter(|id| self.has_bulk() || id != "mysql/bulk").collect()
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
