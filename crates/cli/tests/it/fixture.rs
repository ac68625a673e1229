//! A directory of its own, files in it, the command run there, and what is left afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value as Json;
use tempfile::TempDir;

/// The command as cargo built it.
pub(crate) const INRUSH: &str = env!("CARGO_BIN_EXE_inrush");

/// How long a test waits for what has to happen. On a busy machine anything may take a while, and a test that hangs is ended
/// by what runs it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// Whether the tests are to take their time: `make test-all` sets this. Else whatever repeats one check over random cases, moments
/// or many rows makes do with few of them.
pub(crate) fn thorough() -> bool {
    std::env::var_os("INRUSH_TEST_ALL").is_some_and(|value| !value.is_empty() && value != "0")
}

/// How many: so few, and so many where the tests take their time.
pub(crate) fn size<T>(few: T, many: T) -> T {
    if thorough() { many } else { few }
}

/// Of the ways to do the same thing every third, at least one, and others for each test, so that many tests together take all; each test
/// takes all of them where the tests take their time.
pub(crate) fn some<T>(ways: Vec<T>) -> Vec<T> {
    picked(ways, 3)
}

/// The same, and no more than one of them.
pub(crate) fn one<T>(ways: Vec<T>) -> Vec<T> {
    let count = ways.len();
    picked(ways, count)
}

fn picked<T>(ways: Vec<T>, step: usize) -> Vec<T> {
    if thorough() {
        return ways;
    }
    // The harness names a test's thread after it.
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let first = test.bytes().fold(0, |sum: usize, byte| sum * 31 % 1_000_003 + usize::from(byte));
    let step = step.max(1);
    let first = first % ways.len().clamp(1, step);
    ways.into_iter().skip(first).step_by(step).collect()
}

/// Waits until it is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a program waits itself: for its input, a lock or an answer. All of its threads are asleep time and again, and in between
/// they have done no work. One that only looks around now and then may be found waiting for a processor for as long as others have them.
#[track_caller]
pub(crate) fn wait_until_it_waits(child: &Child) {
    /// How often all are asleep, 5 ms apart.
    const LOOKS: u32 = 12;
    /// What a program does that does nothing: it wakes up, and goes to sleep again.
    const IDLE: Duration = Duration::from_millis(3);
    let tasks = format!("/proc/{}/task", child.id());
    // Whether a thread sleeps, and for how long it has had a processor so far.
    let thread = |task: fs::DirEntry| {
        let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        // The state is behind the name, which may hold anything.
        let stat = read("stat");
        let sleeps = stat.rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with(['R', 'D']));
        let nanos = read("schedstat").split(' ').next().and_then(|nanos| nanos.parse().ok());
        (sleeps, Duration::from_nanos(nanos.unwrap_or_default()))
    };
    let looks = std::cell::Cell::new((0, Duration::MAX));
    wait_until("the program waits", || {
        // Elsewhere than on Linux nothing is known.
        let threads: Vec<_> =
            fs::read_dir(&tasks).into_iter().flatten().flatten().map(thread).collect();
        let worked = threads.iter().map(|(_, worked)| *worked).sum::<Duration>();
        let (mut seen, mut since) = looks.get();
        let all_sleep = threads.iter().all(|(sleeps, _)| *sleeps);
        // A thread that has ended is not counted any more. Where none is, for want of such a file, all have to sleep at each look.
        if worked < since || worked - since > IDLE || worked.is_zero() && !all_sleep {
            (seen, since) = (0, worked);
        }
        seen += u32::from(all_sleep);
        looks.set((seen, since));
        seen >= LOOKS
    });
}

/// Content of a directory: names, and bytes of the files.
pub(crate) type Snapshot = BTreeMap<String, Vec<u8>>;

/// An empty directory that the command runs in, so that messages show the names that the test wrote.
pub(crate) struct Fixture {
    dir: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What the directory holds, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.dir())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Every byte of the directory's files; of a directory in it, the name.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let bytes = |name: &String| fs::read(self.path(name)).unwrap_or_default();
        self.names().into_iter().map(|name| (name.clone(), bytes(&name))).collect()
    }

    /// Runs a program of the machine here and returns what it writes. It has to succeed.
    pub(crate) fn tool(&self, program: &str, args: &[&str], stdin: &[u8]) -> Vec<u8> {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir());
        let child = start(&mut command);
        let (status, stdout, stderr) = finish(child, stdin);
        assert!(status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&stderr));
        stdout
    }

    /// The command, ready to run here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(INRUSH);
        command.args(args).current_dir(self.dir());
        // Servers of tests are here, whatever stands between this machine and others.
        command.env("NO_PROXY", "127.0.0.1,localhost").env_remove("no_proxy");
        command
    }

    /// Runs the command to its end.
    pub(crate) fn inrush(&self, args: &[&str]) -> Outcome {
        self.inrush_reading(b"", args)
    }

    /// Runs the command with these bytes on standard input.
    pub(crate) fn inrush_reading(&self, stdin: &[u8], args: &[&str]) -> Outcome {
        let child = start(&mut self.command(args));
        Outcome::of(format!("inrush {}", args.join(" ")), finish(child, stdin))
    }

    /// `inrush load`.
    pub(crate) fn load(&self, args: &[&str]) -> Outcome {
        self.inrush(&[&["load"], args].concat())
    }

    /// `inrush load` with these bytes on standard input.
    pub(crate) fn load_reading(&self, stdin: &[u8], args: &[&str]) -> Outcome {
        self.inrush_reading(stdin, &[&["load"], args].concat())
    }

    /// A load that succeeds: its report.
    pub(crate) fn report(&self, args: &[&str]) -> Json {
        self.load(&[args, &["--json"]].concat()).exits(0).json()
    }

    /// A load that fails with exit code 1, says so in its last line, and leaves every file here as it was: no byte
    /// changed, nothing made, nothing left over.
    pub(crate) fn refuses(&self, args: &[&str]) -> Outcome {
        let run = self.leaves_all(|| self.load(args).exits(1)).ends_with_nothing_changed();
        assert_eq!(run.stdout, "", "a failed load has nothing to report");
        run
    }

    /// A command that is wrong: exit code 2, nothing touched.
    pub(crate) fn misused(&self, args: &[&str]) -> Outcome {
        self.leaves_all(|| self.inrush(args).exits(2))
    }

    /// Runs `work` and checks that no file here has changed, come or gone.
    pub(crate) fn leaves_all<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.snapshot();
        let answer = work();
        self.assert_unchanged(&before);
        answer
    }

    pub(crate) fn assert_unchanged(&self, before: &Snapshot) {
        let after = self.snapshot();
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            after.keys().collect::<Vec<_>>(),
            "files came or went"
        );
        for (name, bytes) in before {
            assert!(*bytes == after[name], "{name} has changed");
        }
    }

    /// The database, which has to be there.
    pub(crate) fn db(&self, name: &str) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(self.path(name), flags)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes a database, or changes one.
    pub(crate) fn sql(&self, db: &str, sql: &str) -> &Self {
        Connection::open(self.path(db)).unwrap().execute_batch(sql).unwrap();
        self
    }

    /// What a query answers.
    pub(crate) fn query(&self, db: &str, sql: &str) -> Vec<Vec<Value>> {
        query(&self.db(db), sql)
    }

    /// A table's rows in the order of their insertion.
    pub(crate) fn table(&self, db: &str, table: &str) -> Vec<Vec<Value>> {
        self.query(db, &format!("SELECT * FROM {} ORDER BY rowid", quoted(table)))
    }

    /// A table's rows with `typeof()` before each value, so that 1, 1.0 and '1' can't be mistaken for each other.
    pub(crate) fn typed_table(&self, db: &str, table: &str) -> Vec<Vec<Value>> {
        let columns: Vec<String> = self
            .columns(db, table)
            .iter()
            .map(|(name, _)| format!("typeof({0}), {0}", quoted(name)))
            .collect();
        let sql = format!("SELECT {} FROM {} ORDER BY rowid", columns.join(", "), quoted(table));
        self.query(db, &sql)
    }

    /// Names and declared types of a table's columns.
    pub(crate) fn columns(&self, db: &str, table: &str) -> Vec<(String, String)> {
        let db = self.db(db);
        let mut statement = db.prepare("SELECT name, type FROM pragma_table_info(?1)").unwrap();
        let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// The one whole number that a query answers.
    pub(crate) fn number(&self, db: &str, sql: &str) -> i64 {
        self.db(db).query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// SQLite finds nothing wrong with the database.
    pub(crate) fn assert_sound(&self, db: &str) {
        assert_eq!(self.query(db, "PRAGMA integrity_check"), rows![["ok"]]);
    }
}

/// `t.db` with a table of three columns and, if any, these rows.
pub(crate) fn with_table(values: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, size REAL DEFAULT 0.5)");
    if !values.is_empty() {
        fixture.sql("t.db", &format!("INSERT INTO t VALUES {values}"));
    }
    fixture
}

/// What a query answers on a connection that is kept open.
pub(crate) fn query(db: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = db.prepare(sql).unwrap();
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|index| row.get(index)).collect::<Result<Vec<_>, _>>())
        .unwrap();
    rows.map(Result::unwrap).collect()
}

/// A name as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Starts a program whose standard streams are all ours.
pub(crate) fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Starts a load, waits until it says all of `words`, and has it end by `go_on`. It succeeds then.
pub(crate) fn says_while_it_waits(mut command: Command, words: &[&str], go_on: impl FnOnce()) {
    let said = tempfile::NamedTempFile::new().unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.reopen().unwrap())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let heard = || fs::read_to_string(said.path()).unwrap();
    let began = Instant::now();
    while !words.iter().all(|word| heard().contains(word)) {
        assert!(began.elapsed() < PATIENCE, "no {words:?} in\n{}", heard());
        std::thread::sleep(Duration::from_millis(50));
    }
    go_on();
    assert!(child.wait().unwrap().success(), "{}", heard());
}

/// Feeds a program and waits for its end.
pub(crate) fn finish(mut child: Child, stdin: &[u8]) -> (ExitStatus, Vec<u8>, Vec<u8>) {
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that has seen enough closes its end; what it then says is the test's business.
            let _ = input.write_all(stdin);
        });
        child.wait_with_output().unwrap()
    });
    (output.status, output.stdout, output.stderr)
}

/// What a run of the command answered.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) command: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn of(command: String, run: (ExitStatus, Vec<u8>, Vec<u8>)) -> Self {
        let (status, stdout, stderr) = run;
        // Whatever is in the input, what the command prints is text.
        let text = |bytes| String::from_utf8(bytes).expect("output in UTF-8");
        Self { command, status, stdout: text(stdout), stderr: text(stderr) }
    }

    fn shown(&self) -> String {
        let Self { command, status, stdout, stderr } = self;
        format!("$ {command}\n{status}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.shown());
        self
    }

    /// All of these stand on standard error.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no \"{word}\" in\n{}", self.shown());
        }
        self
    }

    /// All of these stand on standard output.
    #[track_caller]
    pub(crate) fn prints(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stdout.contains(word), "no \"{word}\" in\n{}", self.shown());
        }
        self
    }

    #[track_caller]
    pub(crate) fn ends_with_nothing_changed(self) -> Self {
        let last = self.stderr.lines().last().unwrap_or_default();
        assert!(last.contains("nothing changed"), "{}", self.shown());
        self
    }

    /// Standard output, which is one JSON object and nothing else.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        let value: Json = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}):\n{}", self.shown()));
        assert!(value.is_object(), "{}", self.shown());
        value
    }
}

/// A value as tests write it.
pub(crate) trait Cell {
    fn cell(self) -> Value;
}

impl Cell for i64 {
    fn cell(self) -> Value {
        Value::Integer(self)
    }
}

impl Cell for f64 {
    fn cell(self) -> Value {
        Value::Real(self)
    }
}

impl Cell for &str {
    fn cell(self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl Cell for String {
    fn cell(self) -> Value {
        Value::Text(self)
    }
}

/// A blob.
impl Cell for &[u8] {
    fn cell(self) -> Value {
        Value::Blob(self.to_vec())
    }
}

/// NULL.
impl Cell for () {
    fn cell(self) -> Value {
        Value::Null
    }
}

pub(crate) fn cell(value: impl Cell) -> Value {
    value.cell()
}

/// Rows as tests write them: `rows![[1, "one"], [2, ()]]`, where `()` is NULL.
macro_rules! rows {
    ($([$($value:expr),* $(,)?]),* $(,)?) => {
        vec![$(vec![$($crate::fixture::cell($value)),*]),*]
    };
}
pub(crate) use rows;

/// The lines of a JSON Lines file.
pub(crate) fn json_lines(bytes: &[u8]) -> Vec<Json> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The command runs far from where the servers were fetched to.
pub(crate) fn find_servers(command: &mut Command) -> &mut Command {
    if std::env::var_os("INRUSH_SERVERS").is_none() {
        command.env("INRUSH_SERVERS", repository("target/servers"));
    }
    command
}

/// Compares a table with what Python's csv module reads from the file, and returns how many rows there are.
#[track_caller]
pub(crate) fn compare(fixture: &Fixture, file: &str, db: &str, table: &str, null: &str) -> u64 {
    let script = repository("crates/cli/tests/it/compare.py");
    let script = script.to_str().unwrap();
    let rows = fixture.tool("python3", &[script, file, db, table, null], b"");
    String::from_utf8(rows).unwrap().trim().parse().unwrap()
}

/// Whether the tests run as root, who may read and write everything.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

/// The ids of strategies that this build has.
pub(crate) fn strategies() -> Vec<String> {
    let list = Fixture::new().inrush(&["strategies", "sqlite"]).exits(0).stdout;
    let ids: Vec<String> = list
        .lines()
        .filter(|line| line.contains('/') && !line.starts_with(' '))
        .map(str::to_owned)
        .collect();
    assert!(ids.len() >= 3, "{list}");
    ids
}

/// The strategies that write through SQL: what needs the engine itself (triggers, answers to conflicts) is theirs alone.
pub(crate) fn sql_strategies() -> Vec<String> {
    strategies().into_iter().filter(|id| id != "sqlite/pages").collect()
}

/// Numbers that look random and are the same in every run with the same seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
