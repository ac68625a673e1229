//! The servers are the oracle: they take the files, find nothing wrong in them, and go on working with them as with their own.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use inrush_innodb_pages::Template;

use crate::reader::Value;
use crate::rows::{Random, Table, Type, encode, write};

/// The servers that files are known to be for.
const NAMES: &[&str] = &["mariadb-10.11", "mariadb-11.4", "mysql-5.7", "mysql-8.0", "mysql-8.0.15"];

/// A connection by the system's `mariadb` client, in a database of its own.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: String,
    socket: String,
    database: String,
    /// The database's folder.
    folder: PathBuf,
}

impl Client {
    fn new(name: &str, url: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let database =
            format!("inrush_pages_{}_{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let (_, socket) = url.split_once("?socket=").expect("a server of ours has a socket");
        let socket = socket.replace("%2F", "/");
        let mut child = command(&socket)
            .args(["--unbuffered", "--max-allowed-packet=16M"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the package mariadb-client is installed");
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            child,
            input,
            output,
            name: name.into(),
            socket,
            database,
            folder: PathBuf::new(),
        };
        let database = client.database.clone();
        client.run(&format!("CREATE DATABASE {database}; USE {database};"));
        client.folder = PathBuf::from(client.run("SELECT @@datadir;")).join(&database);
        client
    }

    /// Runs statements and returns what they say, line by line. One that fails ends the client, and the test.
    fn run(&mut self, sql: &str) -> String {
        const END: &str = "-- that was all --";
        writeln!(self.input, "{sql}\nSELECT '{END}';").expect("the client runs");
        let mut lines = Vec::new();
        for line in (&mut self.output).lines() {
            let line = line.unwrap();
            if line == END {
                return lines.join("\n");
            }
            lines.push(line);
        }
        let begin: String = sql.chars().take(300).collect();
        panic!("{}: the client ended at: {begin}", self.name);
    }

    /// What is said to a statement that fails, by another client.
    fn error(&self, sql: &str) -> String {
        let output = command(&self.socket).args([&self.database, "-e", sql]).output().unwrap();
        assert!(!output.status.success(), "{}: {sql:.300}", self.name);
        String::from_utf8(output.stderr).unwrap()
    }

    fn file(&self, table: &str, suffix: &str) -> PathBuf {
        self.folder.join(format!("{table}.{suffix}"))
    }

    /// The file of an empty table, which then takes the one that `make` makes of it.
    fn exchange(&mut self, table: &str, make: impl FnOnce(&Template) -> Vec<u8>) {
        self.run(&format!("FLUSH TABLES {table} FOR EXPORT;"));
        let template = fs::read(self.file(table, "ibd")).unwrap();
        let description = fs::read(self.file(table, "cfg")).unwrap();
        self.run("UNLOCK TABLES;");
        let file = make(&Template::read(&template).unwrap());
        self.run(&format!("ALTER TABLE {table} DISCARD TABLESPACE;"));
        fs::write(self.file(table, "ibd"), file).unwrap();
        fs::write(self.file(table, "cfg"), description).unwrap();
        self.run(&format!("ALTER TABLE {table} IMPORT TABLESPACE;"));
        self.check(table);
    }

    fn check(&mut self, table: &str) {
        let said = self.run(&format!("CHECK TABLE {table} EXTENDED;"));
        // MariaDB warns of rows that were deleted a moment ago.
        let mut lines =
            said.lines().filter(|line| !line.contains("Unpurged clustered index record"));
        let is_right = lines.next().is_some_and(|line| line.ends_with("\tstatus\tOK"));
        assert!(is_right && lines.next().is_none(), "{}: {said}", self.name);
    }

    fn insert(&mut self, of: &Table, table: &str, rows: &[Vec<Value>]) {
        let mut sql = String::new();
        for (i, row) in rows.iter().enumerate() {
            let values: Vec<String> = of
                .columns
                .iter()
                .zip(row)
                .map(|((of, _), value)| {
                    value.as_ref().map_or("NULL".into(), |value| of.literal(value))
                })
                .collect();
            let begin =
                if sql.is_empty() { format!("INSERT INTO {table} VALUES") } else { ",".into() };
            write!(sql, "{begin} ({})", values.join(", ")).unwrap();
            if sql.len() > 1 << 18 || i + 1 == rows.len() {
                self.run(&format!("{sql};"));
                sql.clear();
            }
        }
    }

    fn create(&mut self, of: &Table, table: &str) {
        let sql = create(of, table);
        self.run(&sql);
    }

    /// Whether two tables hold the same, in order on disk too.
    fn compare(&mut self, what: &dyn std::fmt::Debug) {
        self.check("a");
        self.check("b");
        let sums = self.run("CHECKSUM TABLE a, b EXTENDED;");
        let sums: Vec<_> = sums.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
        assert_eq!(sums[0], sums[1], "{}: {what:?}", self.name);
    }
}

fn command(socket: &str) -> Command {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"]);
    command.args(["--default-character-set=utf8mb4", "--socket", socket]);
    command
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed may have left it without a client to tell.
        let _ = writeln!(self.input, "DROP DATABASE {};\nexit", self.database);
        let _ = self.child.wait();
    }
}

fn create(of: &Table, table: &str) -> String {
    let mut columns: Vec<String> = of
        .columns
        .iter()
        .enumerate()
        .map(|(i, (of, is_nullable))| {
            format!("c{i} {} {}", of.sql(), if *is_nullable { "NULL" } else { "NOT NULL" })
        })
        .collect();
    if of.key > 0 {
        let key: Vec<_> = (0..of.key).map(|i| format!("c{i}")).collect();
        columns.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    format!("CREATE TABLE {table} ({}) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;", columns.join(", "))
}

fn for_each_server(test: impl Fn(&mut Client)) {
    let servers = std::env::var("INRUSH_TEST_SERVERS").unwrap_or_default();
    let named = servers.split_whitespace().filter_map(|server| server.split_once('='));
    let ours: Vec<_> = named.filter(|(name, _)| NAMES.contains(name)).collect();
    if ours.is_empty() {
        eprintln!(
            "SKIPPED: no server to test with: `make test` starts some, and sets INRUSH_TEST_SERVERS"
        );
    }
    for (name, url) in ours {
        // A test that changes the settings of a server holds this alone.
        let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.lock"));
        let lock = fs::File::create(lock).unwrap();
        lock.lock_shared().unwrap();
        test(&mut Client::new(name, url));
    }
}

/// A random table of `seed`, written and inserted, and both changed in the same way.
fn check_random(client: &mut Client, seed: u64) {
    let mut random = Random(seed);
    let table = Table::draw(&mut random);
    let count = random.one_of(&[0, 1, 2, 30, 300, 2000]);
    let long = random.one_of(&[50, 9000, 40_000]);
    let count = count.min(1_000_000 / (long * table.columns.len()));
    let rows = table.rows(&mut random, count, long);
    // Some come later.
    let is_late = |i: &usize| i % 5 == 3;
    let part = |late: bool| -> Vec<Vec<Value>> {
        let of = rows.iter().enumerate().filter(|(i, _)| is_late(i) == late);
        of.map(|(_, row)| row.clone()).collect()
    };
    client.create(&table, "a");
    client.create(&table, "b");
    client.exchange("a", |template| write(template, &table.layout(), part(false)).0);
    client.insert(&table, "b", &part(false));
    client.compare(&(seed, &table));
    let (i, (of, _)) = table.columns.iter().copied().enumerate().next_back().unwrap();
    let value = of.literal(&of.value(&mut random, long));
    for name in ["a", "b"] {
        client.run(&format!("DELETE FROM {name} WHERE CRC32(c0) % 3 = 1;"));
        client.insert(&table, name, &part(true));
        if i >= table.key {
            client.run(&format!("UPDATE {name} SET c{i} = {value} WHERE CRC32(c0) % 4 = 2;"));
        }
    }
    client.compare(&(seed, &table));
    client.run("DROP TABLE a, b;");
}

#[test]
fn random_tables_are_what_inserts_make_of_them() {
    for_each_server(|client| (0..4).for_each(|seed| check_random(client, seed)));
}

#[test]
#[ignore = "campaign: 200 tables on each server"]
fn two_hundred_random_tables_are_what_inserts_make_of_them() {
    for_each_server(|client| (1000..1200).for_each(|seed| check_random(client, seed)));
}

/// Rows of a number and a short text, which make two levels and whole extents.
#[test]
fn many_rows_go_in_and_are_changed() {
    many_rows(25_000, 60);
}

#[test]
#[ignore = "campaign: a file of 300 MB, which has more than one page of descriptors"]
fn very_many_rows_go_in_and_are_changed() {
    many_rows(250_000, 1200);
}

fn many_rows(rows: u32, most: usize) {
    let table =
        Table { columns: vec![(Type::Int, false), (Type::AsciiVarchar(2000), true)], key: 1 };
    let layout = table.layout();
    for_each_server(|client| {
        let row = |i: u32| {
            let text =
                (!i.is_multiple_of(7)).then(|| vec![b'a' + (i % 26) as u8; i as usize % most]);
            vec![Some(((1 << 31) | (i * 2)).to_be_bytes().to_vec()), text]
        };
        client.create(&table, "a");
        client.exchange("a", |template| write(template, &layout, (1..=rows).map(row)).0);
        let lengths: usize = (1..=rows).filter_map(|i| row(i)[1].as_ref().map(Vec::len)).sum();
        let sums = client.run("SELECT COUNT(*), SUM(c0), SUM(LENGTH(c1)), MAX(c0) FROM a;");
        let sum = u64::from(rows) * u64::from(rows + 1);
        assert_eq!(sums, format!("{rows}\t{sum}\t{lengths}\t{}", 2 * rows), "{}", client.name);
        client.create(&table, "b");
        client.run("INSERT INTO b SELECT * FROM a;");
        // `b` comes last, as both take rows of it.
        for name in ["a", "b"] {
            client.run(&format!(
                "INSERT INTO {name} SELECT c0 + 1, REPEAT('x', c0 % 90) FROM b WHERE c0 % 10 < 3 AND c0 % 2 = 0;
                 UPDATE {name} SET c1 = REPEAT('y', 700) WHERE c0 % 50 = 4;
                 DELETE FROM {name} WHERE c0 % 6 = 2 OR c0 BETWEEN 1000 AND 20000;"
            ));
        }
        client.compare(&rows);
    });
}

/// The server refuses the rows that are refused here, and no others.
#[test]
fn rows_are_as_long_as_the_server_takes_them() {
    let mut columns = vec![(Type::Int, false)];
    columns.extend([(Type::Varbinary(255), true); 33]);
    let table = Table { columns, key: 1 };
    let mut encoder = inrush_innodb_pages::Encoder::new(&table.layout());
    let row = |last: usize| {
        let mut row = vec![Some(vec![0x80, 0, 0, 1])];
        row.extend(vec![Some(vec![b'v'; 250]); 32]);
        row.push(Some(vec![b'v'; last]));
        row
    };
    let fits = |last: &usize| encode(&mut encoder, &row(*last), &mut Vec::new()).is_ok();
    let longest = (0..=255).filter(fits).max().unwrap();
    assert!(longest < 255);
    for_each_server(|client| {
        client.run("SET SESSION innodb_strict_mode = OFF;");
        client.create(&table, "a");
        client.create(&table, "b");
        client.exchange("a", |template| write(template, &table.layout(), [row(longest)]).0);
        client.insert(&table, "b", &[row(longest)]);
        client.compare(&longest);
        let longer = Type::Varbinary(255).literal(&vec![b'v'; longest + 1]);
        for name in ["a", "b"] {
            let error = client.error(&format!("UPDATE {name} SET c33 = {longer}"));
            assert!(error.contains("Row size too large"), "{error}");
        }
        client.compare(&longest);
    });
}
