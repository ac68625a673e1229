use std::fs;
use std::path::PathBuf;
use std::process::Command;

use inrush::plan::{Durability, IfExists, LoadOptions, OnConflict, Request};
use inrush::{Plan, Unobserved, plan, run};
use tempfile::TempDir;

use crate::database::{Rows, assert_sound, make, open, query};

/// Three rows for nearly every table here.
const FILE: &str = "id,name,n\n1,a,10\n2,b,20\n3,c,30\n";

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(sql: &str) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::write(place.path("in.csv"), FILE).unwrap();
        make(&place.path("t.db"), sql);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn request(&self, change: impl Fn(&mut Request)) -> Request {
        let mut request = Request {
            sources: vec![self.path("in.csv").display().to_string()],
            target: self.path("t.db").display().to_string(),
            options: LoadOptions {
                table: Some("t".to_owned()),
                durability: Durability::None,
                ..LoadOptions::default()
            },
            ..Request::default()
        };
        change(&mut request);
        request
    }

    fn plan(&self, change: impl Fn(&mut Request)) -> Plan {
        plan(&self.request(change), &Unobserved).unwrap()
    }

    fn query(&self, sql: &str) -> Rows {
        query(&open(&self.path("t.db")), sql)
    }

    /// Pages are refused for this reason, by name as well, and the load goes well another way.
    #[track_caller]
    fn refuses(&self, reason: &str, change: impl Fn(&mut Request) + Copy) {
        let chosen = self.plan(change);
        assert_eq!(chosen.choice.strategy.id(), "sqlite/bind", "{reason}");
        let line = format!("not sqlite/pages: {reason}");
        assert!(chosen.choice.reasons.contains(&line), "{reason}: {:?}", chosen.choice.reasons);
        let mut request = self.request(change);
        request.strategy = Some("pages".to_owned());
        let error = plan(&request, &Unobserved).err().unwrap();
        assert_eq!(error.what(), format!("sqlite/pages: {reason}"));
        let report = run(&chosen, &Unobserved).unwrap();
        assert_eq!(report.rows_loaded, 3, "{reason}");
        assert_sound(&open(&self.path("t.db")));
    }
}

fn as_they_are(_: &mut Request) {}

fn append(request: &mut Request) {
    request.if_exists = IfExists::Append;
}

const LOADED: [[&str; 3]; 3] = [
    ["Integer(1)", "Text(a)", "Integer(10)"],
    ["Integer(2)", "Text(b)", "Integer(20)"],
    ["Integer(3)", "Text(c)", "Integer(30)"],
];

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)";

/// The table with one more thing in its parentheses.
fn with(more: &str) -> String {
    TABLE.replace("n INTEGER)", &format!("n INTEGER, {more})"))
}

#[test]
fn tables_that_only_sqlite_can_write() {
    let cases = [
        (format!("PRAGMA auto_vacuum = full; {TABLE}"), "the database is in auto_vacuum mode"),
        (
            format!("PRAGMA auto_vacuum = incremental; {TABLE}"),
            "the database is in auto_vacuum mode",
        ),
        (format!("PRAGMA encoding = 'UTF-16le'; {TABLE}"), "the database's text is UTF-16le"),
        (format!("PRAGMA encoding = 'UTF-16be'; {TABLE}"), "the database's text is UTF-16be"),
        (
            format!("{TABLE}; CREATE TRIGGER g AFTER DELETE ON t BEGIN SELECT 1; END"),
            "the table has a trigger",
        ),
        (with("CHECK (n > 0)"), "the table has a CHECK constraint, or a name like it"),
        (with("\"check\""), "the table has a CHECK constraint, or a name like it"),
        (with("g AS (n + 1)"), "the table has a generated column"),
        (with("g AS (n + 1) STORED"), "the table has a generated column"),
        (format!("{TABLE} STRICT"), "the table is STRICT"),
        (
            "CREATE TABLE p (x INTEGER PRIMARY KEY); INSERT INTO p VALUES (10), (20), (30);
             CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER REFERENCES p)"
                .to_owned(),
            "the table has a foreign key",
        ),
        (
            format!("{TABLE}; CREATE INDEX i ON t (name COLLATE NOCASE)"),
            "the table has an index with a collation",
        ),
        (
            "CREATE TABLE t (id INTEGER, name TEXT COLLATE NOCASE UNIQUE, n INTEGER)".to_owned(),
            "the table has an index with a collation",
        ),
        (
            format!("{TABLE}; CREATE INDEX i ON t (name) WHERE n > 10"),
            "the table has a partial index",
        ),
        (
            format!("{TABLE}; CREATE INDEX i ON t (n, name || 'x')"),
            "the table has an index on an expression",
        ),
        (
            TABLE.replace("KEY", "KEY AUTOINCREMENT"),
            "the table has AUTOINCREMENT, or a name like it",
        ),
        (with("x DEFAULT CURRENT_DATE"), "the table computes the default of column x"),
        (with("x INTEGER DEFAULT (1 + 1)"), "the table computes the default of column x"),
    ];
    for (sql, reason) in cases {
        let place = Place::new(&sql);
        place.refuses(reason, as_they_are);
        assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED, "{reason}");
    }
}

#[test]
fn pages_with_reserved_bytes() {
    let place = Place::new("");
    let run = Command::new("sqlite3")
        .arg(place.path("t.db"))
        .args([".filectrl reserve_bytes 8", TABLE, "VACUUM"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    // https://sqlite.org/fileformat2.html, section 1.3.
    assert_eq!(fs::read(place.path("t.db")).unwrap()[20], 8);
    place.refuses("the database's pages have reserved bytes", as_they_are);
    assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED);
}

#[test]
fn tables_that_are_no_ordinary_ones() {
    let place = Place::new("CREATE VIRTUAL TABLE t USING fts5 (id, name, n)");
    place.refuses("the table is a virtual table", as_they_are);
    assert_eq!(place.query("SELECT count(*) FROM t WHERE t MATCH 'b'"), [["Integer(1)"]]);
    let place = Place::new(
        "CREATE TABLE a (x INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE b (x); CREATE INDEX i ON b (x);
         INSERT INTO b VALUES (1); ANALYZE",
    );
    for (table, file) in [
        ("sqlite_sequence", "name,seq\na,1\nx,2\ny,3\n"),
        ("sqlite_stat1", "tbl,idx,stat\na,,1\nb,,1\nc,,1\n"),
    ] {
        fs::write(place.path("in.csv"), file).unwrap();
        place.refuses("the table is SQLite's own", |request| {
            request.table = Some(table.to_owned());
            append(request);
        });
    }
}

#[test]
fn loads_that_look_at_rows() {
    let place = Place::new(&format!("{TABLE}; INSERT INTO t VALUES (9, 'z', 9)"));
    place.refuses("the table holds rows", append);
    assert_eq!(place.query("SELECT count(*) FROM t"), [["Integer(4)"]]);
    for answer in [OnConflict::Skip, OnConflict::Update, OnConflict::Replace] {
        let place = Place::new(TABLE);
        place.refuses(&format!("--on-conflict {answer} looks keys up row by row"), |request| {
            request.on_conflict = answer;
        });
        assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED);
    }
}

#[test]
fn rows_that_are_parents_of_others() {
    for if_exists in [IfExists::Truncate, IfExists::Replace] {
        // SQLite counts a child whose parent goes, and counts it off when the parent comes back.
        let place = Place::new(&format!(
            "{TABLE}; CREATE TABLE c (id REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED);
             INSERT INTO t VALUES (1, 'old', 1), (4, 'old', 4); INSERT INTO c VALUES (1)"
        ));
        let reason = "foreign keys of other tables refer to the rows that are deleted";
        place.refuses(reason, |request| {
            request.if_exists = if_exists;
            if if_exists == IfExists::Replace {
                request.primary_key = vec!["id".to_owned()];
            }
        });
        assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED);
    }
}

#[test]
fn a_journal_that_undoes_nothing() {
    let place = Place::new(TABLE);
    place.refuses("with journal_mode=off SQLite can't roll back", |request| {
        request.knobs.insert("journal_mode".to_owned(), "off".to_owned());
    });
    assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED);
}

/// A row of two bytes can become one of thousands, and chunks of them far more memory than the plan tells.
#[test]
fn columns_that_are_missing_and_long() {
    let columns: String = (0..100).map(|number| format!("x{number}, ")).collect();
    for more in ["x TEXT DEFAULT '".to_owned() + &"long".repeat(100) + "'", columns + "x"] {
        let place = Place::new(&with(&more));
        let reason = "the columns that the source lacks would make its rows many times longer";
        place.refuses(reason, as_they_are);
        assert_eq!(place.query("SELECT id, name, n FROM t"), LOADED);
    }
}

/// What looks like the cases above and is none of them.
#[test]
fn tables_that_pages_can_write() {
    let cases = [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, n INTEGER)",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER);
         CREATE TABLE b (x INTEGER PRIMARY KEY AUTOINCREMENT CHECK (x > 0), y REFERENCES t);
         CREATE TRIGGER g AFTER INSERT ON b BEGIN DELETE FROM t; END; CREATE INDEX i ON b (y DESC); ANALYZE",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, checked DEFAULT 'no', x INTEGER DEFAULT -1)",
        "CREATE TABLE t (id, name, n, UNIQUE (n, name)); CREATE INDEX i ON t (name COLLATE BINARY)",
        "CREATE TABLE t (id INTEGER, name TEXT, n INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT * FROM t; CREATE TABLE t (id INTEGER, name TEXT, n INTEGER)",
    ];
    for sql in cases {
        let place = Place::new(sql);
        let plan = place.plan(as_they_are);
        assert_eq!(plan.choice.strategy.id(), "sqlite/pages", "{sql}: {:?}", plan.choice.reasons);
        run(&plan, &Unobserved).unwrap();
        assert_sound(&open(&place.path("t.db")));
        let rows = place.query("SELECT CAST(id AS INTEGER), name, CAST(n AS INTEGER) FROM t");
        assert_eq!(rows, LOADED, "{sql}");
    }
}
