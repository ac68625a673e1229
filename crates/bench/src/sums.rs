//! What rows add up to, whatever their order: the same code for rows that were generated and for rows that a database gives back.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::generate::GeneratedColumn;
use inrush_core::wording::{counted, were};

/// Between the fields of a row that is hashed whole.
const BETWEEN: u8 = 0x1f;

/// What stands there for NULL. A text of this one character would look the same; no generator makes it.
const NULL: &[u8] = &[0];

/// Sums over rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Expected {
    /// How many.
    pub rows: u64,
    /// One for each column.
    pub columns: Vec<ColumnSum>,
    /// The wrapping sum of xxh3 over each row's fields joined by 0x1f.
    pub row_hash: u64,
    /// Bytes of the rows as tab-separated lines.
    pub bytes: u64,
}

/// Sums over one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ColumnSum {
    /// The wrapping sum of xxh3 over each value's text.
    pub hash: u64,
    /// The sum of an integer column; 0 for others.
    pub sum: i128,
}

impl Expected {
    /// Adds what other rows of the same columns add up to.
    pub fn merge(&mut self, other: &Expected) {
        self.rows += other.rows;
        self.row_hash = self.row_hash.wrapping_add(other.row_hash);
        self.bytes += other.bytes;
        self.columns.resize(self.columns.len().max(other.columns.len()), ColumnSum::default());
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            mine.hash = mine.hash.wrapping_add(theirs.hash);
            mine.sum = mine.sum.wrapping_add(theirs.sum);
        }
    }

    /// The hash of the rows as people see it.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.row_hash)
    }
}

/// Adds rows up.
#[derive(Clone, Debug)]
pub struct RowSums {
    columns: Vec<Adding>,
    sums: Expected,
    row: Vec<u8>,
    ends: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Adding {
    name: &'static str,
    integer: bool,
    /// What was added to every value since it was generated.
    added: i128,
}

impl RowSums {
    /// For rows of these columns. `added` is what an UPDATE has added to every value of each since the rows were generated, and is
    /// taken off before they are added up; it may be shorter than the columns are many.
    pub fn new(columns: &[GeneratedColumn], added: &[i128]) -> Self {
        let added = added.iter().copied().chain(std::iter::repeat(0));
        Self {
            columns: columns
                .iter()
                .zip(added)
                .map(|(column, added)| Adding { name: column.name, integer: column.integer, added })
                .collect(),
            sums: Expected {
                columns: vec![ColumnSum::default(); columns.len()],
                ..Expected::default()
            },
            row: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds a row, `None` for NULL. One with another number of fields than there are columns makes a difference for certain.
    pub fn add(&mut self, fields: &[Option<&[u8]>]) {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        self.ends.clear();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                row.push(BETWEEN);
            }
            let added = self.columns.get(index).map_or(0, |column| column.added);
            match field {
                None => row.extend_from_slice(NULL),
                Some(text) => match parse(text).filter(|_| added != 0) {
                    Some(value) => {
                        row.extend_from_slice(itoa::Buffer::new().format(value - added).as_bytes())
                    }
                    None => row.extend_from_slice(text),
                },
            }
            self.ends.push(row.len());
        }
        self.add_row(&row);
        self.row = row;
    }

    /// Adds a row that lies there as it is generated, without its line break.
    pub(super) fn add_line(&mut self, line: &mut [u8]) {
        self.ends.clear();
        for (at, byte) in line.iter_mut().enumerate() {
            if *byte == b'\t' {
                *byte = BETWEEN;
                self.ends.push(at);
            }
        }
        self.ends.push(line.len());
        self.add_row(line);
    }

    fn add_row(&mut self, row: &[u8]) {
        self.sums.rows += 1;
        self.sums.bytes += row.len() as u64 + 1;
        self.sums.row_hash = self.sums.row_hash.wrapping_add(xxh3_64(row));
        let mut start = 0;
        for ((sum, column), end) in self.sums.columns.iter_mut().zip(&self.columns).zip(&self.ends)
        {
            let field = &row[start..*end];
            sum.hash = sum.hash.wrapping_add(xxh3_64(field));
            if column.integer {
                sum.sum = sum.sum.wrapping_add(parse(field).unwrap_or(0));
            }
            start = end + 1;
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.sums.rows
    }

    /// The wrapping sum of the rows' hashes.
    pub fn row_hash(&self) -> u64 {
        self.sums.row_hash
    }

    /// What they add up to.
    pub fn finish(self) -> Expected {
        self.sums
    }

    /// What differs from what was generated, a sentence each; nothing when nothing does.
    pub fn differences(&self, expected: &Expected) -> Vec<String> {
        let found = &self.sums;
        let mut sentences = Vec::new();
        if expected.rows != found.rows {
            let (rows, were) = (counted(expected.rows, "row"), were(expected.rows));
            let are = if found.rows == 1 { "is" } else { "are" };
            sentences.push(format!("{rows} {were} sent, {} {are} there", found.rows));
        }
        for ((column, sent), there) in
            self.columns.iter().zip(&expected.columns).zip(&found.columns)
        {
            if sent.sum != there.sum {
                sentences.push(format!(
                    "column {} adds up to {}, not to {}",
                    column.name, there.sum, sent.sum
                ));
            } else if sent.hash != there.hash && expected.rows == found.rows {
                sentences.push(format!("column {} has other values than were sent", column.name));
            }
        }
        if sentences.is_empty() && expected.row_hash != found.row_hash {
            sentences.push("every column has its values, but not in the same rows".to_owned());
        }
        sentences
    }
}

/// Every integer of 64 bits.
#[inline]
fn parse(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut value: u128 = 0;
    if let Some(short) = digits.get(..digits.len().min(19)) {
        let mut word: u64 = 0;
        for byte in short {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            word = word * 10 + u64::from(digit);
        }
        value = u128::from(word);
    }
    if let Some(last) = digits.get(19) {
        let digit = last.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u128::from(digit);
    }
    let value = value as i128;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    fn read_back(text: &str, sums: &mut RowSums) {
        for line in text.lines() {
            let fields: Vec<Option<&[u8]>> = line
                .split('\t')
                .map(|field| (field != "NULL").then_some(field.as_bytes()))
                .collect();
            sums.add(&fields);
        }
    }

    fn pairs(text: &str) -> Vec<String> {
        let generator = Generator::of("pairs", 0).unwrap();
        let mut sums = RowSums::new(generator.columns(), &[]);
        read_back(text, &mut sums);
        sums.differences(&generator.expected(3))
    }

    #[test]
    fn rows_in_any_order_are_the_rows() {
        for kind in crate::generate::KINDS {
            let generator = Generator::of(kind, 3).unwrap();
            let mut text = Vec::new();
            generator.write(0..500, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            lines.reverse();
            let mut sums = RowSums::new(generator.columns(), &[]);
            read_back(&lines.join("\n"), &mut sums);
            assert_eq!(sums.finish(), generator.expected(500), "{kind}");
        }
    }

    #[test]
    fn what_differs_is_said_in_words() {
        assert!(pairs("2\t4\n0\t0\n1\t2").is_empty());
        assert_eq!(
            pairs("0\t0\n1\t2"),
            [
                "3 rows were sent, 2 are there",
                "column i adds up to 1, not to 3",
                "column i2 adds up to 2, not to 6"
            ]
        );
        assert_eq!(pairs("0\t0\n1\t2\n2\t5"), ["column i2 adds up to 7, not to 6"]);
        assert_eq!(pairs("0\t0\n1\t2\n2\t04"), ["column i2 has other values than were sent"]);
        assert_eq!(pairs("NULL\t0\n1\t2\n2\t4"), ["column i has other values than were sent"]);
        assert_eq!(
            pairs("0\t2\n1\t0\n2\t4"),
            ["every column has its values, but not in the same rows"]
        );
        assert!(!pairs("0\t0\t9\n1\t2\n2\t4").is_empty());
        assert!(!pairs("0\t0\n1\n2\t4").is_empty());
    }

    #[test]
    fn an_update_is_taken_back() {
        let generator = Generator::of("pairs", 0).unwrap();
        let mut sums = RowSums::new(generator.columns(), &[0, 2]);
        read_back("0\t2\n1\t4\n2\t6", &mut sums);
        assert_eq!(sums.finish(), generator.expected(3));
    }

    #[test]
    fn integers_are_integers() {
        for value in [0, 1, -1, i128::from(i64::MAX), i128::from(i64::MIN), i128::from(u64::MAX)] {
            assert_eq!(parse(value.to_string().as_bytes()), Some(value));
        }
        for text in ["", "-", "1.0", "x", "123456789012345678901", "1234567890123456789x"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
