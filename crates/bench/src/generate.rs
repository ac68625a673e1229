//! Rows from a seed.
//!
//! Every value of row `i` is a function of (seed, column, `i`) and of nothing else: workers and repeated runs make any part of the
//! rows without the rows before it, and the same bytes on every machine. The random numbers are SplitMix64 (Steele, Lea, Flood,
//! 2014): column `c` has the generator whose seed is output `c` of the generator that the dataset's seed begins, and row `i` takes
//! its output `i` (or several that no other row takes). A test holds the bytes; a kind whose rows have to change gets another
//! name, for old results name this one.
//!
//! Rows are tab-separated, without a header. No value holds a tab, a line break, a backslash or a quote, none is NULL, and each
//! reads back as the same text from columns of the types that [`Generator::columns`] names.

use std::io::{self, Write};
use std::ops::Range;

pub use crate::sums::{ColumnSum, Expected, RowSums};
use inrush_core::error::{Error, Result};

/// Bytes that are made before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// A column of generated rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedColumn {
    /// Its name.
    pub name: &'static str,
    /// Whether its values are integers, which databases can add up.
    pub integer: bool,
    /// A type of standard SQL that keeps its values' text. SQLite needs TEXT for decimals.
    pub sql: &'static str,
}

const fn integer(name: &'static str, sql: &'static str) -> GeneratedColumn {
    GeneratedColumn { name, integer: true, sql }
}

const fn text(name: &'static str, sql: &'static str) -> GeneratedColumn {
    GeneratedColumn { name, integer: false, sql }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pairs,
    Nodes,
    Events,
    Registrants,
    Mixed,
    Area,
}

/// The kinds, as suites name them.
pub const KINDS: &[&str] = &["pairs", "nodes", "events", "registrants", "mixed", "area"];

static PAIRS: &[GeneratedColumn] = &[integer("i", "int"), integer("i2", "int")];

static NODES: &[GeneratedColumn] = &[
    integer("id", "bigint"),
    text("lat", "decimal(9,7)"),
    text("lon", "decimal(10,7)"),
    integer("version", "int"),
    text("timestamp", "timestamp"),
    integer("changeset", "bigint"),
    integer("uid", "bigint"),
    text("user", "varchar(255)"),
];

static EVENTS: &[GeneratedColumn] = &[integer("id", "int"), text("name", "varchar(45)")];

static REGISTRANTS: &[GeneratedColumn] = &[
    integer("id", "int"),
    integer("sitting_table_id", "int"),
    text("name", "varchar(45)"),
    text("features", "varchar(1024)"),
];

static MIXED: &[GeneratedColumn] = &[
    integer("id", "int"),
    integer("account", "int"),
    text("amount", "decimal(9,2)"),
    text("day", "date"),
    integer("active", "smallint"),
    text("label", "varchar(20)"),
];

static AREA: &[GeneratedColumn] =
    &[text("area", "char(6)"), integer("age", "int"), integer("active", "int")];

/// What `events` and `registrants` have as names.
const NAME: &[u8] = b"xxxxxxxxxxxxxxxxxxxx";

/// Digits in `registrants.features`: 1,024 characters, as wide in text as the bytes of the column that they stand for.
const FEATURE_WORDS: u64 = 1024 / 16;

/// Accounts that nodes were edited with.
const ACCOUNTS: u64 = 50_000;

/// Those who edit most have names of their own, everybody else one of these and a number.
const USERS: [&str; 12] = [
    "rubensd",
    "j3m",
    "sergionaranja",
    "Xapitoun",
    "Ivan Garcia",
    "maria_lopez",
    "osm-import-bot",
    "afernandez",
    "P\u{e9}p\u{e9}",
    "\u{410}\u{43b}\u{435}\u{43a}\u{441}\u{435}\u{439}",
    "O'Brien",
    "M\u{fc}ller & S\u{f8}n",
];

/// In coordinates of seven decimals.
const DEGREE: u64 = 10_000_000;

/// Makes the rows of one dataset.
#[derive(Clone, Debug)]
pub struct Generator {
    kind: Kind,
    columns: Vec<Column>,
}

/// The random numbers of one column: any of them, without those before it.
#[derive(Clone, Copy, Debug)]
struct Column {
    seed: u64,
}

impl Column {
    #[inline]
    fn word(self, index: u64) -> u64 {
        SplitMix64::output(self.seed, index)
    }

    /// A number below `end`.
    #[inline]
    fn below(self, index: u64, end: u64) -> u64 {
        scale(self.word(index), end)
    }
}

/// Random numbers one after the other: SplitMix64 (Steele, Lea, Flood, 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// Those that a seed begins.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next one.
    pub fn word(&mut self) -> u64 {
        let word = Self::output(self.state, 0);
        self.state = self.state.wrapping_add(GOLDEN);
        word
    }

    /// The next one as a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        scale(self.word(), end)
    }

    /// The one of this index, from 0, that a seed leads to.
    #[inline]
    fn output(seed: u64, index: u64) -> u64 {
        let mut z = seed.wrapping_add(GOLDEN.wrapping_mul(index.wrapping_add(1)));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[inline]
fn scale(word: u64, end: u64) -> u64 {
    ((u128::from(word) * u128::from(end)) >> 64) as u64
}

impl Generator {
    /// The generator of a kind.
    ///
    /// # Errors
    /// When there is no such kind.
    pub fn of(kind: &str, seed: u64) -> Result<Self> {
        let kind = match kind {
            "pairs" => Kind::Pairs,
            "nodes" => Kind::Nodes,
            "events" => Kind::Events,
            "registrants" => Kind::Registrants,
            "mixed" => Kind::Mixed,
            "area" => Kind::Area,
            _ => {
                return Err(Error::usage(format!("no generator is called '{kind}'"))
                    .advise(format!("there are {}", KINDS.join(", "))));
            }
        };
        let root = Column { seed };
        let columns = (0..kind.columns().len() as u64)
            .map(|column| Column { seed: root.word(column) })
            .collect();
        Ok(Self { kind, columns })
    }

    /// The columns, in their order.
    pub fn columns(&self) -> &'static [GeneratedColumn] {
        self.kind.columns()
    }

    /// Writes rows, counted from 0.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, rows: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES + 4096);
        for row in rows {
            self.row(row, &mut buffer);
            if buffer.len() >= BUFFER_BYTES {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
        out.write_all(&buffer)
    }

    /// What the first `rows` rows add up to.
    pub fn expected(&self, rows: u64) -> Expected {
        self.sums(0..rows)
    }

    /// What some rows add up to; parts that were added up apart are put together by [`Expected::merge`].
    pub fn sums(&self, rows: Range<u64>) -> Expected {
        let mut sums = RowSums::new(self.columns(), &[]);
        let mut line = Vec::with_capacity(2048);
        for row in rows {
            line.clear();
            self.row(row, &mut line);
            line.pop();
            sums.add_line(&mut line);
        }
        sums.finish()
    }

    /// Appends one row.
    #[inline]
    fn row(&self, row: u64, out: &mut Vec<u8>) {
        match self.kind {
            Kind::Pairs => {
                number(out, row as i64);
                out.push(b'\t');
                number(out, 2 * row as i64);
            }
            Kind::Nodes => node(&self.columns, row, out),
            Kind::Events => {
                number(out, row as i64 + 1);
                out.push(b'\t');
                out.extend_from_slice(NAME);
            }
            Kind::Registrants => {
                number(out, row as i64 + 1);
                out.push(b'\t');
                number(out, row as i64 + 1);
                out.push(b'\t');
                out.extend_from_slice(NAME);
                out.push(b'\t');
                for word in row * FEATURE_WORDS..(row + 1) * FEATURE_WORDS {
                    hexadecimal(out, self.columns[3].word(word));
                }
            }
            Kind::Mixed => mixed(&self.columns, row, out),
            Kind::Area => {
                digits::<6>(out, self.columns[0].below(row, 1_000_000));
                out.push(b'\t');
                number(out, 5 * (1 + self.columns[1].below(row, 3) as i64));
                out.push(b'\t');
                out.push(b'0' + self.columns[2].below(row, 2) as u8);
            }
        }
        out.push(b'\n');
    }
}

impl Kind {
    fn columns(self) -> &'static [GeneratedColumn] {
        match self {
            Kind::Pairs => PAIRS,
            Kind::Nodes => NODES,
            Kind::Events => EVENTS,
            Kind::Registrants => REGISTRANTS,
            Kind::Mixed => MIXED,
            Kind::Area => AREA,
        }
    }
}

/// A row of a table of map nodes: ids ascend with gaps, coordinates lie in a box with seven decimals, few users own most rows.
fn node(columns: &[Column], row: u64, out: &mut Vec<u8>) {
    let [id, lat, lon, version, timestamp, changeset, _, user] = columns else { return };
    number(out, (171_773 + 20 * row + id.below(row, 20)) as i64);
    out.push(b'\t');
    let lat = 36 * DEGREE + lat.below(row, 8 * DEGREE);
    number(out, (lat / DEGREE) as i64);
    out.push(b'.');
    digits::<7>(out, lat % DEGREE);
    out.push(b'\t');
    let lon = lon.below(row, 13 * DEGREE) as i64 - 9 * DEGREE as i64;
    if lon < 0 {
        out.push(b'-');
    }
    number(out, (lon.unsigned_abs() / DEGREE) as i64);
    out.push(b'.');
    digits::<7>(out, lon.unsigned_abs() % DEGREE);
    out.push(b'\t');
    number(out, 1 + version.below(row, 9) as i64);
    out.push(b'\t');
    moment(out, timestamp.word(row));
    out.push(b'\t');
    number(out, 600_000 + changeset.below(row, 12_000_000) as i64);
    out.push(b'\t');
    // The fourth power of a number between 0 and 1: one account in 50,000 made a fifteenth of the rows.
    let share = u128::from(user.word(row) >> 32);
    let square = (share * share) >> 32;
    let account = ((((square * square) >> 32) * u128::from(ACCOUNTS)) >> 32) as u64;
    number(out, 1_000 + 11 * account as i64);
    out.push(b'\t');
    out.extend_from_slice(USERS[account as usize % USERS.len()].as_bytes());
    if account >= USERS.len() as u64 {
        out.push(b'_');
        number(out, account as i64);
    }
}

/// A row of six mixed columns: about 26 bytes as databases store them, about 46 as a line.
fn mixed(columns: &[Column], row: u64, out: &mut Vec<u8>) {
    let [_, account, amount, day, active, label] = columns else { return };
    number(out, row as i64 + 1);
    out.push(b'\t');
    number(out, 1_000_000 + account.below(row, 9_000_000) as i64);
    out.push(b'\t');
    let amount = amount.below(row, 10_000_000);
    number(out, (amount / 100) as i64);
    out.push(b'.');
    digits::<2>(out, amount % 100);
    out.push(b'\t');
    date(out, day.word(row));
    out.push(b'\t');
    out.push(b'0' + active.below(row, 2) as u8);
    out.push(b'\t');
    let mut letters = label.word(row);
    for _ in 0..5 + letters % 6 {
        letters = letters.rotate_right(7);
        out.push(b'a' + (((letters & 0xff) * 26) >> 8) as u8);
    }
}

/// A date from 2006 to 2014 that every zone has: the days 29 to 31 are left out, and with them those on which clocks jumped over a whole day.
fn date(out: &mut Vec<u8>, word: u64) {
    digits::<4>(out, 2006 + (word & 0xffff) * 9 / 0x1_0000);
    out.push(b'-');
    digits::<2>(out, 1 + (word >> 16 & 0xff) * 12 / 0x100);
    out.push(b'-');
    digits::<2>(out, 1 + (word >> 24 & 0xff) * 28 / 0x100);
}

/// The same with a time that every zone has: where clocks are put forward, it is before four o'clock.
fn moment(out: &mut Vec<u8>, word: u64) {
    date(out, word);
    out.push(b' ');
    digits::<2>(out, 4 + (word >> 32 & 0xff) * 20 / 0x100);
    out.push(b':');
    digits::<2>(out, (word >> 40 & 0xff) * 60 / 0x100);
    out.push(b':');
    digits::<2>(out, (word >> 48 & 0xff) * 60 / 0x100);
}

fn number(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The last `WIDTH` digits.
#[inline]
fn digits<const WIDTH: usize>(out: &mut Vec<u8>, mut value: u64) {
    let mut text = [b'0'; WIDTH];
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&text);
}

fn hexadecimal(out: &mut Vec<u8>, mut word: u64) {
    let mut text = [0; 16];
    for digit in &mut text {
        *digit = b"0123456789abcdef"[(word >> 60) as usize];
        word <<= 4;
    }
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn bytes(kind: &str, rows: Range<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        Generator::of(kind, 7).unwrap().write(rows, &mut out).unwrap();
        out
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_for_ever() {
        let hashes: Vec<(&str, u64)> =
            KINDS.iter().map(|kind| (*kind, xxh3_64(&bytes(kind, 0..10_000)))).collect();
        let pinned = [
            ("pairs", 0x3c4d_4281_8830_dda3),
            ("nodes", 0x15a9_daa3_4e00_b597),
            ("events", 0x0615_de0b_268e_4ea6),
            ("registrants", 0x165a_3a1d_1c33_7c90),
            ("mixed", 0xbc75_642c_118c_a39f),
            ("area", 0x62d5_ea92_69e6_c8e2),
        ];
        assert_eq!(hashes, pinned);
    }

    #[test]
    fn the_random_numbers_are_those_that_were_published() {
        // The first three outputs for seed 0: https://prng.di.unimi.it/splitmix64.c
        let mut random = SplitMix64::new(0);
        let published = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([random.word(), random.word(), random.word()], published);
        assert!((0..1_000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn a_part_of_the_rows_needs_none_before_it() {
        for kind in KINDS {
            let mut parts = bytes(kind, 0..700);
            parts.extend(bytes(kind, 700..1_000));
            assert_eq!(parts, bytes(kind, 0..1_000), "{kind}");
            let generator = Generator::of(kind, 7).unwrap();
            let mut sums = generator.sums(0..700);
            sums.merge(&generator.sums(700..1_000));
            assert_eq!(sums, generator.expected(1_000), "{kind}");
            assert_eq!(sums.bytes, parts.len() as u64, "{kind}");
        }
    }

    #[test]
    fn no_value_needs_quotes_and_every_row_has_all() {
        for kind in KINDS {
            let generator = Generator::of(kind, 7).unwrap();
            let text = String::from_utf8(bytes(kind, 0..3_000)).unwrap();
            assert!(!text.contains(['"', '\\', '\r', '\0', ',']), "{kind}");
            for line in text.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                assert_eq!(fields.len(), generator.columns().len(), "{kind}: {line}");
                for (field, column) in fields.iter().zip(generator.columns()) {
                    assert!(!field.is_empty() && field.trim() == *field, "{kind}: {line}");
                    if column.integer {
                        let value: i64 = field.parse().unwrap();
                        assert_eq!(value.to_string(), *field, "{kind}: {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn nodes_look_like_nodes() {
        let text = String::from_utf8(bytes("nodes", 0..10_000)).unwrap();
        let mut last = 0;
        let mut names = std::collections::HashMap::<&str, u32>::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let id: i64 = fields[0].parse().unwrap();
            assert!(id > last);
            last = id;
            assert!(("2006-01-01 04:00:00".."2014-12-29").contains(&fields[4]), "{line}");
            *names.entry(fields[7]).or_default() += 1;
        }
        let bytes_per_row = text.len() / 10_000;
        assert!((70..90).contains(&bytes_per_row), "{bytes_per_row}");
        assert!(names.values().any(|rows| *rows > 500) && names.len() > 1_000);
        assert!(names.keys().any(|name| !name.is_ascii()));
    }

    #[test]
    fn mixed_rows_are_as_long_as_the_study_has_them() {
        // 53 MiB for 1,200,000 rows.
        let bytes = Generator::of("mixed", 7).unwrap().sums(600_000..610_000).bytes;
        assert!((440_000..490_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn an_unknown_kind_is_told_which_there_are() {
        let error = Generator::of("tables", 0).unwrap_err().to_string();
        assert!(error.contains("'tables'") && error.contains("nodes"), "{error}");
    }
}
