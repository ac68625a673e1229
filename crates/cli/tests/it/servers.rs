//! Database servers that tests run on: those of `INRUSH_TEST_SERVERS`, and what is the same for all that speak SQL over a connection.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use inrush::target::{Console, find};

use crate::contract::{Place, Traits};
use crate::crash::send;
use crate::fixture::{Fixture, Outcome, size, some, start, wait_until};

const VARIABLE: &str = "INRUSH_TEST_SERVERS";

/// Rows of a table or answer; `None` is NULL.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

/// What becomes of tables when something is done to them: of each its definition, and a sum over its rows.
pub(crate) type State = BTreeMap<String, (Rows, Rows)>;

/// Servers that are tested by the same tests.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// How their URLs begin.
    pub(crate) schemes: &'static [&'static str],
    pub(crate) example: &'static str,
}

/// A database of the test's own on a server, and files to load.
pub(crate) trait Database: Deref<Target = Fixture> {
    const FAMILY: Family;

    /// What the contract has to know.
    const TRAITS: Traits;

    /// Makes the database on the server of this name and URL.
    fn make(name: &str, url: &str) -> Self;

    /// Whether the server has this strategy of its family.
    fn has(&self, _strategy: &str) -> bool {
        true
    }

    /// Drops it; where a test has failed already, without a word.
    fn discard(&mut self, quietly: bool);

    /// The server's name.
    fn name(&self) -> &str;

    /// The target as a user writes it.
    fn url(&self) -> String;

    /// What a query answers.
    fn query(&self, sql: &str) -> Rows;

    /// Tables of the database, views too, in order.
    fn tables(&self) -> Vec<String>;

    /// All rows of a table, in whatever order.
    fn rows(&self, table: &str, columns: &[&str]) -> Rows;

    /// All of them.
    fn state(&self) -> State;

    /// Ids of the connections to this database, except for the test's own.
    fn connections(&self) -> Vec<String>;

    /// Whether a moment may have a fraction of a second.
    fn keeps_fractions(&self) -> bool {
        true
    }

    /// Bytes of the longest row.
    fn row_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Ends all of them.
    fn end_connections(&self) {}

    /// Waits until the server has noticed that a killed load is gone.
    fn settle(&self) {
        wait_until("no connection but the test's own", || self.connections().is_empty());
    }

    /// The connections among them that bring rows.
    fn bring_rows(&self) -> Vec<String>;

    /// Whether rows of a load are on their way, or were brought and are not committed.
    fn has_rows_of_a_load(&self) -> bool {
        !self.bring_rows().is_empty()
    }
}

/// A server, a database in it, and files to load.
pub(crate) struct Server<D: Database>(D);

/// What only this family has, and the files.
impl<D: Database> Deref for Server<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

impl<D: Database> Place for Server<D> {
    const TRAITS: Traits = D::TRAITS;

    fn for_each(test: impl Fn(&Self)) {
        for_some_servers(test);
    }

    fn files(&self) -> &Fixture {
        self
    }

    fn url(&self) -> String {
        self.0.url()
    }

    fn has(&self, strategy: &str) -> bool {
        self.0.has(strategy)
    }

    fn keeps_fractions(&self) -> bool {
        self.0.keeps_fractions()
    }

    fn row_bytes_max(&self) -> usize {
        self.0.row_bytes_max()
    }

    fn settle(&self) {
        self.0.settle();
    }

    fn end_connections(&self) {
        self.0.end_connections();
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let is_there = self.tables().iter().any(|name| name == self.table());
        is_there.then(|| self.0.rows(self.table(), columns))
    }
}

/// Whether other tests may use the server at the same time.
#[derive(Clone, Copy)]
enum Use {
    Shared,
    /// The test changes what holds for all of its connections.
    Alone,
}

/// Runs the test on each of these servers, in a database and a directory of its own.
fn on_each<D: Database>(servers: Vec<(String, String)>, how: Use, test: impl Fn(&Server<D>)) {
    for (name, url) in servers {
        let lock = lock_file(&name);
        match how {
            Use::Shared => lock.lock_shared().unwrap(),
            Use::Alone => lock.lock().unwrap(),
        }
        test(&Server::new(&name, &url));
    }
}

/// Runs the test on every server of the family.
pub(crate) fn for_each_server<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(named(&D::FAMILY), Use::Shared, test);
}

/// The same with some of them, others for each test: `make test-all` takes all.
pub(crate) fn for_some_servers<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(some(named(&D::FAMILY)), Use::Shared, test);
}

/// The same with one server of the family alone, for what takes long and is the same on all: `make test-all` has the others.
pub(crate) fn for_one_server<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(one_of(named(&D::FAMILY)), Use::Shared, test);
}

/// [`for_each_server`] while no other test uses the server.
pub(crate) fn alone_on_each_server<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(named(&D::FAMILY), Use::Alone, test);
}

/// [`for_some_servers`] while no other test uses the server.
pub(crate) fn alone_on_some_servers<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(some(named(&D::FAMILY)), Use::Alone, test);
}

/// [`alone_on_each_server`] with one server of the family.
pub(crate) fn alone_on_one_server<D: Database>(test: impl Fn(&Server<D>)) {
    on_each(one_of(named(&D::FAMILY)), Use::Alone, test);
}

/// What a private server is started with, besides the settings for tests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    pub(crate) settings: &'a [(&'a str, &'a str)],
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

/// Runs the test with a private server of each version that is meant, which it may kill.
pub(crate) fn for_each_private_server<D: Database>(
    is_meant: impl Fn(&str) -> bool,
    extras: Extras<'_>,
    test: impl Fn(&mut inrush_servers::Server, &Server<D>),
) {
    for (name, _) in named(&D::FAMILY).into_iter().filter(|(name, _)| is_meant(name)) {
        let mut installed = match inrush_servers::Installed::find(&name) {
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
        let mut private = inrush_servers::Server::start(&installed, &settings).unwrap();
        let server = Server::new(&name, &private.url());
        test(&mut private, &server);
    }
}

/// The same with one of the first version; of each where the tests take their time.
pub(crate) fn for_one_private_server<D: Database>(
    extras: Extras<'_>,
    test: impl Fn(&mut inrush_servers::Server, &Server<D>),
) {
    let names = one_of(named(&D::FAMILY));
    let is_meant = |meant: &str| names.iter().any(|(name, _)| name == meant);
    for_each_private_server(is_meant, extras, test);
}

/// Names and URLs of the servers that are of this family; none, and a word about it, where nobody has started any.
pub(crate) fn named(family: &Family) -> Vec<(String, String)> {
    let servers = std::env::var(VARIABLE).unwrap_or_default();
    let servers: Vec<(String, String)> = servers
        .split_whitespace()
        .map(|server| {
            let (name, url) = server.split_once('=').expect("NAME=URL");
            (name.to_owned(), url.to_owned())
        })
        .filter(|(_, url)| family.schemes.iter().any(|scheme| url.starts_with(scheme)))
        .collect();
    if servers.is_empty() {
        let how = format!(
            "no {} server to test with: `make test` starts them, or set {VARIABLE} to NAME=URL, such as {}",
            family.name, family.example
        );
        assert!(std::env::var("CI").is_err(), "{how}");
        eprintln!("SKIPPED: {how}");
    }
    servers
}

/// The first of them; all where the tests take their time.
fn one_of(mut servers: Vec<(String, String)>) -> Vec<(String, String)> {
    servers.truncate(size(1, servers.len()));
    servers
}

/// Held shared by every test on the server, and alone by those that change its settings. Tests run in processes of their own.
fn lock_file(server: &str) -> File {
    File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{server}.lock"))).unwrap()
}

/// A name that no other test's database has.
pub(crate) fn new_database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("inrush_{}_{}", std::process::id(), COUNT.fetch_add(1, Relaxed))
}

impl<D: Database> Server<D> {
    fn new(name: &str, url: &str) -> Self {
        // Shown when the test fails.
        println!("on {name}");
        Self(D::make(name, url))
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        Fixture::write(self, name, bytes);
        self
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    /// What a query answers.
    pub(crate) fn query(&self, sql: &str) -> Rows {
        self.0.query(sql)
    }

    /// Loads into tables that are called nearly as those are which loads hide: they are the user's, and no other load drops them.
    pub(crate) fn keeps_tables_of_nearly_hidden_names(&self) {
        let names = ["orders", "2026", "00ff00ff00ff00ff0", "orders_old"]
            .map(|name| format!("inrush_staging_{name}"));
        self.write("t.csv", "id\n1\n2\n");
        for name in &names {
            self.load(&["t.csv", "--table", name]).exits(0);
        }
        for more in [&["--if-exists", "replace"][..], &["--if-exists", "replace", "--lanes", "2"]] {
            self.load(&[&["t.csv", "--table", "t"], more].concat()).exits(0);
        }
        for name in &names {
            assert_eq!(self.0.rows(name, &["id"]).len(), 2, "{name}");
            self.load(&["t.csv", "--table", name, "--if-exists", "append"]).exits(0);
            assert_eq!(self.0.rows(name, &["id"]).len(), 4, "{name}");
            crate::jobs::drop_table(self, name);
        }
    }

    /// The one whole number that a query answers.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let rows = self.query(sql);
        rows[0][0].as_ref().unwrap().parse().unwrap_or_else(|_| panic!("{sql}: {rows:?}"))
    }

    /// Tables of the database, views too, in order.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.0.tables()
    }

    /// Ids of the connections to this database, except for the test's own.
    pub(crate) fn connections(&self) -> Vec<String> {
        self.0.connections()
    }

    /// What becomes of every table when something is done to it.
    pub(crate) fn state(&self) -> State {
        self.0.state()
    }

    /// Runs `work` and checks that no table of the database has changed, come or gone, and no file here.
    pub(crate) fn leaves_everything<T>(&self, work: impl FnOnce() -> T) -> T {
        self.leaves_tables(|| self.leaves_all(work))
    }

    /// The same for the tables alone.
    pub(crate) fn leaves_tables<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.state();
        let answer = work();
        assert_eq!(before, self.state(), "tables have changed on {}", self.name());
        answer
    }

    fn with_target<'a>(&self, args: &[&'a str], url: &'a str) -> Vec<&'a str> {
        [args, &[url]].concat()
    }

    /// `inrush load` into the database.
    pub(crate) fn load(&self, args: &[&str]) -> Outcome {
        self.load_at(&self.url(), args)
    }

    /// The same by another URL.
    pub(crate) fn load_at(&self, url: &str, args: &[&str]) -> Outcome {
        Fixture::load(self, &self.with_target(args, url))
    }

    /// `inrush load` into the database, with these bytes on standard input.
    pub(crate) fn load_reading(&self, stdin: &[u8], args: &[&str]) -> Outcome {
        Fixture::load_reading(self, stdin, &self.with_target(args, &self.url()))
    }

    /// `inrush plan` for the database.
    pub(crate) fn plan(&self, args: &[&str]) -> Outcome {
        self.inrush(&[&["plan"], &self.with_target(args, &self.url())[..]].concat())
    }

    /// A load that succeeds: its report.
    pub(crate) fn report(&self, args: &[&str]) -> serde_json::Value {
        self.load(&[args, &["--json"]].concat()).exits(0).json()
    }

    /// A load that fails with exit code 1, says so in its last line, and leaves everything as it was.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str]) -> Outcome {
        let url = self.url();
        self.refuses_at(&url, args)
    }

    /// The same at another URL.
    #[track_caller]
    pub(crate) fn refuses_at(&self, url: &str, args: &[&str]) -> Outcome {
        let run = self.leaves_everything(|| self.load_at(url, args));
        assert_eq!(run.stdout, "", "a failed load has nothing to report");
        run.exits(1).ends_with_nothing_changed()
    }

    /// A command that is wrong: exit code 2, nothing touched.
    #[track_caller]
    pub(crate) fn misused(&self, args: &[&str]) -> Outcome {
        self.leaves_everything(|| self.load(args)).exits(2)
    }

    /// A load that is caught while it brings rows, and stands still until [`go_on`]; and one of the connections that bring some. One that
    /// was over before anybody looked is begun anew.
    #[track_caller]
    pub(crate) fn caught(&self, begin: impl Fn() -> Child) -> (Child, String) {
        for _ in 0..50 {
            let mut child = begin();
            while child.try_wait().unwrap().is_none() {
                let Some(id) = self.bring_rows().into_iter().next() else { continue };
                send(&child, "STOP");
                if child.try_wait().unwrap().is_none() {
                    return (child, id);
                }
            }
            // Shown when the test fails.
            println!("{:?}", child.wait_with_output().unwrap());
        }
        panic!("no rows come")
    }

    /// Waits until rows of a load that its source keeps from ending are with the server.
    #[track_caller]
    pub(crate) fn wait_for_rows(&self) {
        wait_until("rows come", || self.has_rows_of_a_load());
    }

    /// Waits until the server has noticed that a killed load is gone.
    #[track_caller]
    pub(crate) fn wait_until_alone(&self) {
        self.0.settle();
    }

    /// Hidden tables.
    pub(crate) fn hidden(&self) -> Vec<String> {
        self.tables().into_iter().filter(|name| name.contains("inrush_staging_")).collect()
    }
}

impl<D: Database> Drop for Server<D> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // One fault is told already.
            self.0.discard(true);
            return;
        }
        let hidden = self.hidden();
        self.0.discard(false);
        assert!(hidden.is_empty(), "left over on {}: {hidden:?}", self.name());
    }
}

pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A family's own command-line client, which goes on reading statements: one session for the whole test.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
}

impl Client {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = start(command);
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output }
    }

    pub(crate) fn say(&mut self, text: &str) {
        // What goes wrong is seen in the answer.
        let _ = self.input.as_mut().unwrap().write_all(text.as_bytes());
    }

    /// What the client says up to the first of these ends, and a last one which has to stand at the very end.
    ///
    /// # Panics
    /// With what it complains of, when it says nothing more.
    pub(crate) fn hear(&mut self, end: &str, last: &str) -> String {
        let mut heard = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = self.output.read(&mut buffer).unwrap();
            if read == 0 {
                let mut error = String::new();
                self.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
                panic!("{error}");
            }
            heard.extend_from_slice(&buffer[..read]);
            // The answer's end may have come in two parts.
            let tail = &heard[heard.len().saturating_sub(read + 200)..];
            if String::from_utf8_lossy(tail).contains(end) && heard.ends_with(last.as_bytes()) {
                break;
            }
        }
        let heard = String::from_utf8_lossy(&heard);
        heard.split(end).next().unwrap().to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// One of our own consoles.
pub(crate) fn console(url: &str) -> inrush::Result<Box<dyn Console>> {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let (target, location) = find(url)?;
    target.console(&location, &GO_ON)
}

/// What a statement answers, by one.
#[track_caller]
pub(crate) fn ask(url: &str, statement: &str) -> Rows {
    let mut console = console(url).unwrap_or_else(|error| panic!("{error}: {statement}"));
    answer(&mut *console, statement)
}

/// The same by one that is open.
#[track_caller]
pub(crate) fn answer(console: &mut dyn Console, statement: &str) -> Rows {
    let mut rows = Rows::new();
    let text = |value: &Option<&[u8]>| value.map(|it| String::from_utf8(it.to_vec()).unwrap());
    console
        .run(statement, &mut |row| rows.push(row.iter().map(text).collect()))
        .unwrap_or_else(|error| panic!("{error}: {statement}"));
    rows
}

/// A value as tests write it.
pub(crate) trait Cell {
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
        // As servers write it: 1e308, not a one with 308 zeros.
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

pub(crate) fn cell(value: impl Cell) -> Option<String> {
    value.cell()
}

/// Rows as tests write them: `rows![[1, "one"], [2, ()]]`, where `()` is NULL.
macro_rules! rows {
    ($([$($value:expr),* $(,)?]),* $(,)?) => {
        vec![$(vec![$($crate::servers::cell($value)),*]),*]
    };
}
pub(crate) use rows;

/// A way to write: a strategy, and over how many connections.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) strategy: String,
    pub(crate) lanes: &'static str,
}

impl Way {
    /// The options that choose it, with chunks so small that there are many. Some ways promise nothing for a crash.
    pub(crate) fn options(&self) -> [&str; 8] {
        let Self { strategy, lanes } = self;
        ["--strategy", strategy, "--lanes", lanes, "--chunk-size", "1k", "--durability", "none"]
    }

    pub(crate) fn lanes(&self) -> &str {
        self.lanes
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.strategy.ends_with(&format!("/{name}"))
    }
}

/// What `inrush strategies TARGET` lists.
pub(crate) fn strategies(target: &str) -> Vec<String> {
    let list = Fixture::new().inrush(&["strategies", target]).exits(0).stdout;
    let prefix = format!("{target}/");
    let is_id = |line: &&str| line.starts_with(&prefix);
    let ids: Vec<String> = list.lines().filter(is_id).map(str::to_owned).collect();
    let known = inrush::target::ALL.iter().find(|known| known.name() == target).unwrap();
    assert!(known.strategies().iter().map(|it| it.id()).eq(ids.iter()), "{list}");
    ids
}
