use inrush::plan::{Durability, IfExists, LoadOptions, RejectLimit, Request, Verify};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::random_numbers::Random;

/// A table, and what goes into it. Values come from the seed, so that a failing case shrinks to a small shape.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) columns: Vec<Column>,
    pub(crate) table: Table,
    pub(crate) data: Data,
    pub(crate) how: How,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    declared: &'static str,
    values: Values,
    /// NULLs of a thousand values.
    nulls: u64,
    not_null: bool,
    nocase: bool,
    default: Option<&'static str>,
    /// The source doesn't have it.
    missing: bool,
}

/// Where the rows go.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// A new table, in a new file or beside others.
    New { file: bool, primary_key: Vec<Index>, indexes: Vec<Vec<Index>> },
    /// An existing table.
    There {
        primary_key: PrimaryKey,
        without_rowid: bool,
        uniques: Vec<Vec<Index>>,
        indexes: Vec<Vec<Index>>,
        /// What is done with it; it holds rows unless they are only added.
        if_exists: IfExists,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum PrimaryKey {
    None,
    /// The column is the rowid.
    Rowid(Index),
    Columns(Vec<Index>),
}

#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub(crate) rows: usize,
    seed: u64,
    /// Of a thousand values so many are of another kind, and of a thousand rows so many have a field too many or too few.
    odd: u64,
    ragged: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct How {
    page_size: u32,
    pub(crate) wal: bool,
    freelist: bool,
    max_rejects: RejectLimit,
    verify: Verify,
    chunk_bytes: usize,
    encoders: usize,
    /// Knobs that both strategies have.
    knobs: Vec<(&'static str, &'static str)>,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Values {
    Ascending,
    Descending,
    /// Each once, in no order.
    Scattered,
    /// One of so many.
    Few(u64),
    Integers,
    Reals,
    Decimals,
    Short,
    Long,
    /// What is nearly a number.
    Odd,
    Days,
    Booleans,
    Bytes,
}

const NAMES: [&str; 8] = ["id", "b c", "d\"e", "order", "f,g", "\u{e9}t\u{e9}", "H", "group's"];

const INTEGERS: &[Values] = &[
    Values::Ascending,
    Values::Ascending,
    Values::Scattered,
    Values::Descending,
    Values::Few(3),
    Values::Few(500),
    Values::Integers,
];
const REALS: &[Values] =
    &[Values::Reals, Values::Scattered, Values::Few(50), Values::Decimals, Values::Integers];
const TEXTS: &[Values] = &[
    Values::Short,
    Values::Long,
    Values::Scattered,
    Values::Few(3),
    Values::Few(500),
    Values::Odd,
    Values::Days,
];
const ANY: &[Values] = &[Values::Odd, Values::Short, Values::Few(20), Values::Scattered];

/// Declared types, what fits them, and defaults.
const TYPES: &[(&str, &[Values], &[&str])] = &[
    ("INTEGER", INTEGERS, &["5", "-17", "007", "NULL", "0"]),
    ("INT", INTEGERS, &["1", "999999999999999"]),
    ("UNSIGNED BIG INT", INTEGERS, &["'5'"]),
    ("REAL", REALS, &["2", "+3"]),
    ("DOUBLE PRECISION", REALS, &["1.5"]),
    ("FLOATING POINT", REALS, &["4"]),
    ("TEXT", TEXTS, &["'it''s'", "''"]),
    ("VARCHAR(10)", TEXTS, &["'x'", "NULL"]),
    ("", TEXTS, &["'none'"]),
    ("BLOB", &[Values::Bytes, Values::Short, Values::Long], &["'b'"]),
    ("STRING", ANY, &["7"]),
    ("DECIMAL(10,2)", &[Values::Decimals, Values::Few(50), Values::Reals], &["12"]),
    ("NUMERIC", &[Values::Decimals, Values::Integers, Values::Scattered], &["-1"]),
    ("DATE", &[Values::Days, Values::Few(20)], &["NULL"]),
    ("TIMESTAMP", &[Values::Days], &["3"]),
    ("BOOLEAN", &[Values::Booleans], &["1"]),
    ("JSON", &[Values::Few(5), Values::Booleans], &["0"]),
];

fn column() -> impl Strategy<Value = Column> {
    let ty = prop_oneof![3 => 0..2_usize, 2 => Just(6_usize), 6 => 0..TYPES.len()];
    let misfit = prop_oneof![9 => Just(false), 1 => Just(true)];
    let nulls = prop_oneof![4 => Just(0_u64), 1 => Just(50), 1 => Just(500)];
    let rare = |weight| prop_oneof![weight => Just(false), 1 => Just(true)];
    (ty, misfit, any::<Index>(), nulls, (rare(4), rare(20), rare(6)), any::<Option<Index>>())
        .prop_map(|(ty, misfit, values, nulls, (not_null, nocase, missing), default)| {
            let (declared, fitting, defaults) = TYPES[ty];
            let values = *values.get(if misfit { TEXTS } else { fitting });
            let default = default.map(|default| *default.get(defaults));
            Column { declared, values, nulls, not_null, nocase, default, missing }
        })
}

fn keys(
    count: std::ops::Range<usize>,
    columns_max: usize,
) -> impl Strategy<Value = Vec<Vec<Index>>> {
    proptest::collection::vec(proptest::collection::vec(any::<Index>(), 1..=columns_max), count)
}

fn table() -> impl Strategy<Value = Table> {
    let key = |most| proptest::collection::vec(any::<Index>(), 1..=most);
    let made = (any::<bool>(), prop_oneof![Just(Vec::new()), key(1), key(3)], keys(0..3, 3))
        .prop_map(|(file, primary_key, indexes)| Table::New { file, primary_key, indexes });
    let primary_key = prop_oneof![
        2 => Just(PrimaryKey::None),
        3 => any::<Index>().prop_map(PrimaryKey::Rowid),
        2 => key(1).prop_map(PrimaryKey::Columns),
        2 => key(3).prop_map(PrimaryKey::Columns),
    ];
    let if_exists = prop_oneof![
        12 => Just(IfExists::Empty),
        2 => Just(IfExists::Truncate),
        1 => Just(IfExists::Replace),
        1 => Just(IfExists::Append),
    ];
    let there = (primary_key, any::<bool>(), keys(0..3, 3), keys(0..3, 4), if_exists).prop_map(
        |(primary_key, without_rowid, uniques, indexes, if_exists)| Table::There {
            primary_key,
            without_rowid,
            uniques,
            indexes,
            if_exists,
        },
    );
    prop_oneof![1 => made, 2 => there]
}

fn data() -> impl Strategy<Value = Data> {
    let rows = prop_oneof![
        1 => Just(0_usize), 1 => Just(1), 10 => 2_usize..60, 5 => 60_usize..1000, 1 => 1000_usize..6000
    ];
    let odd = prop_oneof![4 => Just(0_u64), 1 => Just(5), 1 => Just(100)];
    let ragged = prop_oneof![4 => Just(0_u64), 1 => Just(10)];
    (rows, any::<u64>(), odd, ragged).prop_map(|(rows, seed, odd, ragged)| Data {
        rows,
        seed,
        odd,
        ragged,
    })
}

fn how() -> impl Strategy<Value = How> {
    let sizes = select(vec![512, 1024, 2048, 4096, 4096, 8192, 16384, 32768, 65536]);
    let limits = prop_oneof![
        3 => Just(RejectLimit::Rows(0)),
        1 => (1_u64..30).prop_map(RejectLimit::Rows),
        1 => Just(RejectLimit::Percent(10.0)),
        6 => Just(RejectLimit::Rows(1_000_000)),
    ];
    let verify = select(vec![Verify::Count, Verify::Checksum, Verify::None]);
    let chunks = select(vec![1 << 10, 3000, 1 << 14, 1 << 18]);
    let flags = (prop_oneof![4 => Just(false), 1 => Just(true)], any::<bool>());
    // With a cache so small SQLite writes pages before their time, and reads them again.
    let knobs = prop_oneof![
        4 => Just(Vec::new()),
        2 => Just(vec![("cache", "0")]),
        1 => Just(vec![("cache", "0"), ("journal_mode", "wal")]),
        1 => Just(vec![("journal_mode", "delete")]),
        1 => Just(vec![("journal_mode", "memory"), ("begin", "deferred")]),
        1 => Just(vec![("journal_mode", "persist"), ("begin", "exclusive")]),
    ];
    (sizes, flags, limits, verify, chunks, 1_usize..4, knobs).prop_map(
        |(page_size, (wal, freelist), max_rejects, verify, chunk_bytes, encoders, knobs)| How {
            page_size,
            wal,
            freelist,
            max_rejects,
            verify,
            chunk_bytes,
            encoders,
            knobs,
        },
    )
}

/// A key's columns, each once.
fn distinct(key: &[Index], count: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = Vec::new();
    for column in key.iter().map(|column| column.index(count)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    (proptest::collection::vec(column(), 1..=NAMES.len()), table(), data(), how()).prop_map(
        |(mut columns, table, data, how)| {
            if let Table::There { primary_key: PrimaryKey::Rowid(column), .. } = &table {
                let count = columns.len();
                let column = &mut columns[column.index(count)];
                column.declared = "INTEGER";
                if !INTEGERS.contains(&column.values) {
                    column.values = Values::Scattered;
                }
            }
            if columns.iter().all(|column| column.missing) {
                columns[0].missing = false;
            }
            Case { columns, table, data, how }
        },
    )
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Case {
    fn names(&self, key: &[Index]) -> Vec<&'static str> {
        distinct(key, self.columns.len()).into_iter().map(|column| NAMES[column]).collect()
    }

    /// The same with every other column descending, the first one where `number` is odd.
    fn mixed(&self, key: &[Index], number: usize) -> String {
        let part = |(at, name)| match (at + number) % 2 {
            0 => quote(name),
            _ => quote(name) + " DESC",
        };
        self.names(key).into_iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
    }

    fn list(&self, key: &[Index]) -> String {
        self.names(key).into_iter().map(quote).collect::<Vec<_>>().join(", ")
    }

    /// Whether the database is there before the load.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self.table, Table::New { file: true, .. })
    }

    /// The database before the load.
    pub(crate) fn sql(&self) -> String {
        let mut sql = format!(
            "PRAGMA page_size = {};
             CREATE TABLE other (a INTEGER PRIMARY KEY, b TEXT UNIQUE);
             INSERT INTO other VALUES (1, 'one'), (2, hex(zeroblob(3000)));",
            self.how.page_size
        );
        if self.how.freelist {
            sql.push_str(
                "CREATE TABLE gone (a);
                 WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 40)
                 INSERT INTO gone SELECT zeroblob(900) FROM n;
                 DROP TABLE gone;",
            );
        }
        if let Table::There { primary_key, without_rowid, uniques, indexes, if_exists } =
            &self.table
        {
            sql.push_str(&self.create(primary_key, *without_rowid, uniques));
            for (number, index) in indexes.iter().enumerate() {
                sql.push_str(&format!(
                    "CREATE INDEX i{number} ON t ({});",
                    self.mixed(index, number)
                ));
            }
            if *if_exists != IfExists::Empty {
                let values: Vec<&str> = self.columns.iter().map(|_| "7").collect();
                sql.push_str(&format!("INSERT INTO t VALUES ({});", values.join(", ")));
            }
        }
        if self.how.wal {
            sql.push_str("PRAGMA journal_mode = wal;");
        }
        sql
    }

    fn create(
        &self,
        primary_key: &PrimaryKey,
        without_rowid: bool,
        uniques: &[Vec<Index>],
    ) -> String {
        let mut parts = Vec::new();
        for (column, name) in self.columns.iter().zip(NAMES) {
            let mut part = format!("{} {}", quote(name), column.declared);
            if column.not_null {
                part.push_str(" NOT NULL");
            }
            if column.nocase {
                part.push_str(" COLLATE NOCASE");
            }
            if let Some(default) = column.default {
                part.push_str(&format!(" DEFAULT {default}"));
            }
            parts.push(part);
        }
        let key = match primary_key {
            PrimaryKey::None => None,
            PrimaryKey::Rowid(column) => Some(self.list(&[*column])),
            PrimaryKey::Columns(columns) => Some(self.mixed(columns, 0)),
        };
        parts.extend(key.iter().map(|key| format!("PRIMARY KEY ({key})")));
        for (number, unique) in uniques.iter().enumerate() {
            parts.push(format!("UNIQUE ({})", self.mixed(unique, number)));
        }
        let options = if without_rowid && key.is_some() { " WITHOUT ROWID" } else { "" };
        format!("CREATE TABLE t ({}){options};", parts.join(", "))
    }

    /// What is asked for, except for source, target and strategy.
    pub(crate) fn request(&self) -> Request {
        let how = &self.how;
        let options = LoadOptions {
            table: Some("t".to_owned()),
            chunk_bytes: Some(how.chunk_bytes),
            encoders: Some(how.encoders),
            max_rejects: how.max_rejects,
            verify: how.verify,
            durability: Durability::None,
            ..LoadOptions::default()
        };
        let mut request = Request { options, ..Request::default() };
        request.dialect.delimiter = Some(b',');
        request.dialect.quote = Some(Some(b'"'));
        request.dialect.header = Some(true);
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        for (name, value) in &how.knobs {
            request.knobs.insert((*name).to_owned(), (*value).to_owned());
        }
        match &self.table {
            Table::New { file, primary_key, indexes } => {
                request.primary_key = owned(self.names(primary_key));
                request.indexes = indexes.iter().map(|index| owned(self.names(index))).collect();
                if *file {
                    request.knobs.insert("page_size".to_owned(), how.page_size.to_string());
                }
            }
            Table::There { if_exists, .. } => request.if_exists = *if_exists,
        }
        request
    }

    /// The source.
    pub(crate) fn file(&self) -> Vec<u8> {
        let mut random = Random(self.data.seed);
        let mut order: Vec<usize> = (0..self.columns.len())
            .filter(|column| !self.has_missing() || !self.columns[*column].missing)
            .collect();
        for index in (1..order.len()).rev() {
            order.swap(index, random.below(index as u64 + 1) as usize);
        }
        let names: Vec<String> = order.iter().map(|column| quote(NAMES[*column])).collect();
        let mut file = (names.join(",") + "\n").into_bytes();
        for row in 0..self.data.rows {
            // So that a case takes milliseconds.
            if file.len() > 1_500_000 {
                break;
            }
            for (at, column) in order.iter().enumerate() {
                if at > 0 {
                    file.push(b',');
                }
                self.field(&self.columns[*column], row, &mut random, &mut file);
            }
            if permille(&mut random, self.data.ragged) {
                file.extend_from_slice(b",more");
            }
            file.push(b'\n');
        }
        file
    }

    /// Whether columns can be missing: those of a table that the load makes are those of the source. But names that a key has
    /// must be there.
    fn has_missing(&self) -> bool {
        match self.table {
            Table::New { .. } => false,
            Table::There { if_exists, .. } => if_exists != IfExists::Replace,
        }
    }

    fn field(&self, column: &Column, row: usize, random: &mut Random, file: &mut Vec<u8>) {
        if permille(random, column.nulls) {
            return;
        }
        let odd = permille(random, self.data.odd);
        let values = if odd { Values::Odd } else { column.values };
        let bytes = value(values, row, self.data.rows, random);
        let special = bytes.is_empty() || bytes.iter().any(|byte| b",\"\r\n".contains(byte));
        if !special && !permille(random, 30) {
            file.extend_from_slice(&bytes);
            return;
        }
        file.push(b'"');
        for byte in bytes {
            if byte == b'"' {
                file.push(b'"');
            }
            file.push(byte);
        }
        file.push(b'"');
    }
}

const ODD: [&str; 46] = [
    "",
    "0",
    "-0",
    "-0.0",
    "0.0",
    "+1",
    "007",
    "1.0",
    "1.50",
    "5.",
    ".5",
    "-.5",
    ".",
    "-",
    "1e5",
    "1E5",
    "1e",
    "1e+",
    "1e400",
    "-1e400",
    "1e-400",
    "0x10",
    " 7",
    "7 ",
    "\u{b}7",
    "inf",
    "nan",
    "NULL",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "9007199254740993",
    "9223372036854775808.0",
    "-9223372036854775808.0",
    "1_000",
    "abc",
    "a\nb",
    "12abc",
    "\u{1f600}",
    "2012-02-29",
    "2012-02-30",
    "2012-02-29 12:00:00",
    "true",
    "{\"a\": 1}",
    "0.1",
    "123456789012345678.5",
];

/// True so many times of a thousand.
fn permille(random: &mut Random, share: u64) -> bool {
    random.below(1000) < share
}

fn value(values: Values, row: usize, rows: usize, random: &mut Random) -> Vec<u8> {
    match values {
        Values::Ascending => (row as i64 * 3 - 10).to_string().into(),
        Values::Descending => (rows - row).to_string().into(),
        // 7919 is a prime, and greater than any number of rows.
        Values::Scattered => (row as u64 * 6007 % 7919).to_string().into(),
        Values::Few(count) => random.below(count).to_string().into(),
        Values::Integers => match random.below(3) {
            0 => (random.pick(&[i64::MIN, i64::MAX, 0, 1, -1, 127, -128, 128, 1 << 47, -1 << 23]))
                .to_string()
                .into(),
            _ => (random.bits() as i64 >> random.below(64)).to_string().into(),
        },
        Values::Reals => match random.below(4) {
            0 => random
                .pick(&[
                    "-0.0",
                    "1e15",
                    "281474976710656.0",
                    "1e300",
                    "-1e-300",
                    "0.1",
                    "2.0",
                    "1e18",
                    "9.3e18",
                ])
                .as_bytes()
                .to_vec(),
            1 => format!("{}.0", random.bits() as i64 >> random.below(64).max(12)).into(),
            _ => {
                let real = f64::from_bits(random.bits());
                if real.is_finite() { format!("{real:e}").into() } else { b"0.25".to_vec() }
            }
        },
        Values::Decimals => {
            let number = random.bits() as i32 >> random.below(32);
            format!("{}.{:02}", number / 100, number.unsigned_abs() % 100).into()
        }
        Values::Short => {
            let length = random.below(14) as usize;
            (0..length)
                .map(|_| random.pick(b"ab \"',\nAB012\xc3"))
                .collect::<Vec<u8>>()
                .into_iter()
                // Mostly text; the byte that isn't becomes a letter but now and then.
                .map(|byte| if byte == 0xc3 && !permille(random, 3) { b'z' } else { byte })
                .collect()
        }
        Values::Long => {
            let length = if permille(random, 2) { 100_000 } else { 20_000 >> random.below(16) };
            let length = length.min(length / 2 + random.below(length + 1)) as usize;
            let piece = random.pick(&["a", "xyz ", "\u{e4}\u{1f600}", "'\""]);
            let mut text = piece.repeat(length.div_ceil(piece.len()));
            text.push_str(&random.below(50).to_string());
            text.into()
        }
        Values::Odd => random.pick(&ODD).as_bytes().to_vec(),
        Values::Days => {
            let (year, month, day) =
                (1900 + random.below(200), 1 + random.below(12), 1 + random.below(28));
            let clock = random.below(3);
            match clock {
                0 => format!("{year}-{month:02}-{day:02} {clock:02}:30:00").into(),
                _ => format!("{year}-{month:02}-{day:02}").into(),
            }
        }
        Values::Booleans => random.pick(&["true", "false", "0", "1", "TRUE"]).as_bytes().to_vec(),
        Values::Bytes => {
            let length = random.below(30);
            let nul = permille(random, 20);
            (0..length).map(|_| random.bits() as u8).filter(|byte| *byte != 0 || nul).collect()
        }
    }
}
