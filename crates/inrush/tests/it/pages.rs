use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use inrush::plan::{Durability, LoadOptions, RejectLimit, RejectsTo, Request};
use inrush::{Unobserved, plan, run};
use proptest::test_runner::{Config, TestRunner};

use crate::case::{Case, cases};
use crate::database::{
    assert_indexes_answer, assert_sound, content, dump, make, open, query, stir,
};

/// How many cases, unless PROPTEST_CASES says otherwise.
const CASES: u32 = 60;

/// How many cases pages took, and how many they refused.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static LOADED: AtomicU64 = AtomicU64::new(0);
static ROWS: AtomicU64 = AtomicU64::new(0);
static REJECTED: AtomicU64 = AtomicU64::new(0);

/// What a load answered, in words that don't tell who answered.
#[derive(Debug, PartialEq)]
struct Answer {
    said: Result<(u64, u64, u64, Vec<String>), String>,
    rejects: Option<Vec<u8>>,
    notes: Option<Vec<u8>>,
}

fn load(dir: &Path, request: &Request, strategy: &str) -> Option<Answer> {
    let name = format!("{strategy}.db");
    let rejects = dir.join(format!("{strategy}.rejects.csv"));
    let mut request = Request {
        sources: vec![dir.join("in.csv").display().to_string()],
        target: dir.join(&name).display().to_string(),
        ..request.clone()
    };
    request.strategy = Some(strategy.to_owned());
    request.rejects = RejectsTo::File(rejects.clone());
    if strategy == "pages" {
        // The least: now and then a file of these sizes has more keys.
        request.knobs.insert("sort_memory".to_owned(), (1 << 20).to_string());
    }
    let plan = match plan(&request, &Unobserved) {
        Ok(plan) => plan,
        Err(error) if error.to_string().contains("sqlite/pages: ") => return None,
        Err(error) => return Some(refused(&error.to_string().replace(&name, "it.db"))),
    };
    let said = match run(&plan, &Unobserved) {
        Ok(report) => {
            let columns = &report.plan.choice.columns;
            let columns = columns.iter().map(|column| format!("{} {}", column.name, column.ty));
            Ok((report.rows_read, report.rows_loaded, report.rows_rejected, columns.collect()))
        }
        Err(error) => {
            let text = format!("{:?}, {error}, {:?}", error.kind(), error.aftermath());
            Err(text.replace(strategy, "it"))
        }
    };
    let notes = inrush::pipe::reject::sidecar_path(&rejects);
    Some(Answer { said, rejects: fs::read(rejects).ok(), notes: fs::read(notes).ok() })
}

fn refused(why: &str) -> Answer {
    Answer { said: Err(why.to_owned()), rejects: None, notes: None }
}

fn check(case: &Case, number: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("in.csv"), case.file()).unwrap();
    if case.is_there() {
        make(&path("before.db"), &case.sql());
        fs::copy(path("before.db"), path("bind.db")).unwrap();
        fs::copy(path("before.db"), path("pages.db")).unwrap();
    }
    let request = case.request();
    let Some(pages) = load(dir.path(), &request, "pages") else {
        REFUSED.fetch_add(1, Relaxed);
        return;
    };
    TAKEN.fetch_add(1, Relaxed);
    let bind = load(dir.path(), &request, "bind").unwrap();
    assert_eq!(shown(&pages), shown(&bind));
    assert!(pages == bind, "other rejects than bind's");
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    // Bad rows are compared above; a journal stays where the mode is "persist".
    names.retain(|name| {
        let name = name.to_string_lossy();
        !name.contains("rejects") && !name.ends_with("-journal")
    });
    let there =
        if pages.said.is_ok() { &["bind.db", "in.csv", "pages.db"][..] } else { &["in.csv"] };
    let there =
        if case.is_there() { &["before.db", "bind.db", "in.csv", "pages.db"] } else { there };
    assert_eq!(names, there);
    let Ok((_, loaded, rejected, _)) = &pages.said else {
        if case.is_there() {
            assert!(content(&open(&path("pages.db"))) == content(&open(&path("before.db"))));
            assert_sound(&open(&path("pages.db")));
        }
        return;
    };
    LOADED.fetch_add(1, Relaxed);
    ROWS.fetch_add(*loaded, Relaxed);
    REJECTED.fetch_add(*rejected, Relaxed);
    let (by_pages, by_bind) = (open(&path("pages.db")), open(&path("bind.db")));
    same_content(&by_pages, &by_bind);
    assert_sound(&by_pages);
    assert_indexes_answer(&by_pages, "t");
    if number.is_multiple_of(16) {
        let (text, wanted) = (dump(&path("pages.db")), dump(&path("bind.db")));
        assert!(text == wanted, "the shell says {text:.1000}, of bind's {wanted:.1000}");
    }
    for connection in [&by_pages, &by_bind] {
        stir(connection, "t");
        assert_sound(connection);
    }
    same_content(&by_pages, &by_bind);
    for again in ["REINDEX", "VACUUM"] {
        by_pages.execute_batch(again).unwrap();
        assert_sound(&by_pages);
    }
    if !case.is_there() {
        assert_eq!(query(&by_pages, "PRAGMA page_size"), query(&by_bind, "PRAGMA page_size"));
    }
}

/// An answer that fits the screen.
fn shown(answer: &Answer) -> String {
    let text = |bytes: &Option<Vec<u8>>| {
        let bytes = bytes.as_deref().unwrap_or(b"none");
        String::from_utf8_lossy(&bytes[..bytes.len().min(3000)]).into_owned()
    };
    format!("{:#?}\n{}\n{}", answer.said, text(&answer.rejects), text(&answer.notes))
}

fn same_content(pages: &rusqlite::Connection, bind: &rusqlite::Connection) {
    for ((table, pages), (_, bind)) in content(pages).into_iter().zip(content(bind)) {
        if let Some(at) = pages.iter().zip(&bind).position(|(pages, bind)| pages != bind) {
            panic!("{table}, row {at}: {:.300?}, by bind {:.300?}", pages[at], bind[at]);
        }
        assert_eq!(pages.len(), bind.len(), "{table}");
    }
}

#[test]
fn pages_do_what_bind_does() {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = Config {
        cases: wanted.unwrap_or(CASES),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let number = AtomicU64::new(0);
    let mut runner = TestRunner::new(config);
    runner
        .run(&cases(), |case| {
            check(&case, number.fetch_add(1, Relaxed));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let [taken, refused, loaded, rows, rejected] =
        [&TAKEN, &REFUSED, &LOADED, &ROWS, &REJECTED].map(|count| count.load(Relaxed));
    println!(
        "{taken} cases, {loaded} loads with {rows} rows and {rejected} bad ones; refused: {refused}"
    );
    assert!(taken > 2 * refused && loaded * 3 > taken, "too few cases that say something");
}

/// A database made by these statements, a file, and what is asked for besides: both strategies have to agree.
#[track_caller]
fn agree(sql: &str, file: &str, change: impl Fn(&mut Request)) -> Option<Answer> {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("in.csv"), file).unwrap();
    for name in ["pages.db", "bind.db"] {
        make(&path(name), sql);
    }
    let options = LoadOptions {
        table: Some("t".to_owned()),
        durability: Durability::None,
        ..LoadOptions::default()
    };
    let mut request = Request { options, ..Request::default() };
    request.dialect.header = Some(true);
    change(&mut request);
    let pages = load(dir.path(), &request, "pages")?;
    let bind = load(dir.path(), &request, "bind").unwrap();
    assert_eq!(shown(&pages), shown(&bind));
    let (by_pages, by_bind) = (open(&path("pages.db")), open(&path("bind.db")));
    same_content(&by_pages, &by_bind);
    assert_sound(&by_pages);
    Some(pages)
}

/// As many bad rows as a test has.
fn lenient(request: &mut Request) {
    request.max_rejects = RejectLimit::Rows(1000);
}

/// Schemas that are easily read wrong; the file repeats keys, and rows are rejected.
const SCHEMAS: &[(&str, &str, &str)] = &[
    (
        "the rowid has a default, which never counts",
        "CREATE TABLE t (id INTEGER DEFAULT 5 PRIMARY KEY, x)",
        "x\na\nb\n",
    ),
    (
        "defaults in columns of other affinities",
        "CREATE TABLE t (id, r REAL DEFAULT 5, n NUMERIC DEFAULT -0, x TEXT DEFAULT '\u{e9}''')",
        "id\n1\n",
    ),
    ("a quoted type", "CREATE TABLE t (id 'INTEGER' PRIMARY KEY, p)", "id,p\n2,1\n1,\n2,2\n"),
    (
        "a type in small letters",
        "CREATE TABLE t (id \"integer\" PRIMARY KEY, p [int eger])",
        "id,p\n2,1\n1,\n2,2\n",
    ),
    ("INTEGER(5)", "CREATE TABLE t (id INTEGER(5) PRIMARY KEY, p)", "id,p\n2,1\n1,\n2,2\n"),
    ("INT", "CREATE TABLE t (id INT PRIMARY KEY, p)", "id,p\n2,1\n1,\n2,2\n,3\n"),
    (
        "a key declared twice",
        "CREATE TABLE t (id INTEGER PRIMARY KEY UNIQUE, p, UNIQUE (p, id), UNIQUE (p))",
        "id,p\n2,1\n1,\n2,4\n4,1\n",
    ),
    (
        "answers to conflicts in the schema",
        "CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, p UNIQUE ON CONFLICT REPLACE,
         q UNIQUE ON CONFLICT IGNORE, r UNIQUE)",
        "id,p,q,r\n1,1,1,1\n1,1,1,1\n2,1,1,1\n3,3,1,1\n4,4,4,1\n",
    ),
    (
        "answers to conflicts in the schema of a table WITHOUT ROWID",
        "CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, p UNIQUE ON CONFLICT REPLACE,
         q UNIQUE ON CONFLICT IGNORE, r UNIQUE) WITHOUT ROWID",
        "id,p,q,r\n1,1,1,1\n1,1,1,1\n2,1,1,1\n3,3,1,1\n4,4,4,1\n",
    ),
    (
        "NULL where the schema has an answer to it",
        "CREATE TABLE t (id INTEGER, p NOT NULL ON CONFLICT REPLACE DEFAULT 'x')",
        "id,p\n1,\n2,3\n",
    ),
    ("NULLs in a primary key", "CREATE TABLE t (id TEXT PRIMARY KEY, p)", "id,p\n,1\n,2\n2,3\n2,4\n"),
    (
        "a column twice in an index",
        "CREATE TABLE t (id, p); CREATE UNIQUE INDEX u ON t (id, id, p); CREATE INDEX v ON t (p, p)",
        "id,p\n1,1\n1,1\n2,3\n",
    ),
    (
        "the rowid's column in an index",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, p); CREATE UNIQUE INDEX u ON t (id); CREATE INDEX v ON t (p, id)",
        "id,p\n3,1\n1,1\n2,3\n1,1\n",
    ),
    (
        "a column twice in the primary key of a table WITHOUT ROWID",
        "CREATE TABLE t (a, b, c, PRIMARY KEY (b, a, b)) WITHOUT ROWID; CREATE INDEX v ON t (c, b, c)",
        "a,b,c\n3,1,1\n1,1,1\n2,3,1\n1,1,1\n",
    ),
    (
        "columns that are missing in a table WITHOUT ROWID",
        "CREATE TABLE t (a, b, c NOT NULL DEFAULT 'q', d INTEGER DEFAULT 4, PRIMARY KEY (b, a)) WITHOUT ROWID;
         CREATE INDEX v ON t (c, b, d)",
        "a,b\n3,1\n1,1\n2,3\n1,1\n,4\n",
    ),
    (
        "columns added later",
        "CREATE TABLE t (a, b); ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'new';
         ALTER TABLE t ADD COLUMN d INTEGER NOT NULL DEFAULT 3; CREATE INDEX i ON t (c, d)",
        "a,b\n1,2\n",
    ),
    (
        "two columns that take no NULL and get nothing else",
        "CREATE TABLE t (a, b NOT NULL, c NOT NULL, d UNIQUE)",
        "a,b,c,d\n1,,,2\n1,,,2\n",
    ),
    (
        "names that need quotes",
        "CREATE TABLE t (\"a\"\"b\", [c d], `e'f` UNIQUE); CREATE INDEX \"i\"\"'x\" ON t (\"a\"\"b\", [c d])",
        "\"a\"\"b\",c d,e'f\n1,2,3\n1,2,3\n",
    ),
    (
        "an analyzed database",
        "CREATE TABLE t (a, b); CREATE INDEX i ON t (a); CREATE TABLE q (a); INSERT INTO q VALUES (1);
         CREATE INDEX z ON q (a); ANALYZE",
        "a,b\n1,2\n",
    ),
    (
        "a rowid declared as descending, which it isn't",
        "CREATE TABLE t (a INTEGER, b, PRIMARY KEY (a DESC))",
        "a,b\n1,2\n3,4\n2,2\n2,3\n",
    ),
    (
        "a key declared as descending, which is no rowid",
        "CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b)",
        "a,b\n1,2\n3,4\n2,2\n2,3\n",
    ),
    (
        "indexes that descend",
        "CREATE TABLE t (a, b TEXT, c REAL); CREATE INDEX i ON t (a DESC); CREATE INDEX j ON t (b, c DESC);
         CREATE UNIQUE INDEX u ON t (c DESC, a, b DESC)",
        "a,b,c\n1,x,2.5\n3,,-4\n2,longer than a prefix,1e300\n2,longer than a prefix it is,\n,x,0\n,,\n3,,-4\n1,x,2.5\n",
    ),
    (
        "a descending key in a table WITHOUT ROWID",
        "CREATE TABLE t (a, b, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID; CREATE INDEX v ON t (c DESC)",
        "a,b,c\n3,1,1\n1,1,1\n2,3,1\n1,1,1\n2,4,x\n",
    ),
    (
        "a descending index in a database of the oldest format, in which it ascends",
        "PRAGMA legacy_file_format = on; CREATE TABLE t (a, b); CREATE INDEX i ON t (a DESC, b)",
        "a,b\n1,2\n3,4\n2,2\n",
    ),
    (
        "children that have no parent yet",
        "PRAGMA foreign_keys = off; CREATE TABLE t (id INTEGER PRIMARY KEY, p);
         CREATE TABLE c (pid REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO c VALUES (1), (9)",
        "id,p\n1,1\n2,\n",
    ),
];

#[test]
fn schemas_that_are_easily_read_wrong() {
    for (what, sql, file) in SCHEMAS {
        println!("{what}");
        let answer = agree(sql, file, lenient).expect("pages take it");
        assert!(answer.said.is_ok());
        println!("{:?}", answer.said);
    }
}

#[test]
fn types_that_the_user_fixed() {
    let types = [("a", "float"), ("b", "integer"), ("c", "float"), ("d", "decimal")];
    let answer = agree(
        "CREATE TABLE t (a BLOB UNIQUE, b TEXT UNIQUE, c UNIQUE, d NUMERIC UNIQUE)",
        "a,b,c,d\n-0.0,1,-0.0,1\n1.0,2,2.0,2\n0,01,0,1.0\n0.0,3,,\n",
        |request| {
            lenient(request);
            for (name, ty) in types {
                request.types.insert(name.to_owned(), ty.parse().unwrap());
            }
        },
    );
    assert!(answer.is_some());
}

/// The row that ended the load was the first bad one that pages knew of; that an earlier one repeats a key they found out at
/// the end.
#[test]
fn the_first_bad_row_is_told_whatever_is_wrong_with_it() {
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INTEGER)";
    for (file, line) in [
        ("id,code,n\n1,a,1\n2,a,2\n3,c,many\n", 3),
        ("id,code,n\n2,a,1\n1,b,2\n2,c,2\n4,d,many\n", 4),
    ] {
        let said = agree(sql, file, |_| ()).unwrap().said.unwrap_err();
        assert!(said.contains(&format!("line {line},")) && said.contains("UNIQUE"), "{said}");
        let said = agree(sql, file, |request| request.max_rejects = RejectLimit::Rows(1));
        assert!(said.unwrap().said.unwrap_err().contains("many"));
    }
}

/// A value that shows a type to be guessed wrong, behind a row that repeats a key as long as the guess is right.
#[test]
fn a_key_is_repeated_before_a_type_turns_out_wrong() {
    let file = |words: std::ops::Range<u32>| {
        let line = |n: u32| match n {
            99 => "99,some text that is a bit long\n".to_owned(),
            100 => "99.0,x\n".to_owned(),
            n if words.contains(&n) => format!("abc{n},x\n"),
            n => format!("{n}.5,some text that is a bit long\n"),
        };
        format!("id,v\n{}", (0..60_000).map(line).collect::<String>())
    };
    let keyed = |request: &mut Request| request.primary_key = vec!["id".to_owned()];
    let said =
        agree("CREATE TABLE other (a)", &file(33_333..33_334), keyed).unwrap().said.unwrap_err();
    assert!(said.contains("line 102, column id: '99.0'"), "{said}");
    let lenient = |request: &mut Request| {
        keyed(request);
        lenient(request);
    };
    let rows = |file: String| {
        let said = agree("CREATE TABLE other (a)", &file, lenient).unwrap().said.unwrap();
        (said.1, said.2)
    };
    assert_eq!(rows(file(25_000..60_000)), (60_000, 0), "as text every key is another");
    assert_eq!(
        rows(file(33_333..33_334)),
        (59_998, 2),
        "one word is a bad row where there may be some"
    );
}

/// Headers of records that are longer than 127 bytes.
#[test]
fn tables_that_are_wide() {
    let names: Vec<String> = (0..300).map(|number| format!("c{number}")).collect();
    let row = |row: usize| {
        let fields: Vec<String> =
            (0..300).map(|column| (row * column % 1000).to_string()).collect();
        fields.join(",") + "\n"
    };
    let rows: String = [5, 3, 9, 3, 4, 7].map(row).concat();
    let (all, key) = (names.join(", "), names[100..240].join(", "));
    for end in ["", " WITHOUT ROWID"] {
        let sql = format!(
            "CREATE TABLE t ({all}, PRIMARY KEY (c299, c0)){end}; CREATE INDEX i ON t ({key}); CREATE UNIQUE INDEX u ON t ({key}, c7)"
        );
        let said = agree(&sql, &format!("{}\n{rows}", names.join(",")), lenient).unwrap().said;
        assert_eq!(said.unwrap().2, 1);
    }
}
