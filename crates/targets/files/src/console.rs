//! Statements over a file: what a program does with one that has no database. Each opens the file and reads all of it.

use std::borrow::Cow;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use inrush_scan::{Field, Form, Scanner, unescape};

use crate::integers::Integers;
use crate::json::{JsonRow, text_of};
use crate::parquet;
use crate::place::{Format, Place, Version};
use crate::read::{self, BOM};
use inrush_core::error::{Error, Result, shorten};
use inrush_core::pending::{Pending, Turn};
use inrush_core::target::{Console, Row, Setting};

/// What can be said to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement<'s> {
    /// The sum of a column of integers; NULL where it has no value.
    Sum(&'s str),
    /// Adds to every value of a column of integers: the file is written anew under a hidden name, which then takes its place.
    Add(i64, &'s str),
    /// Bytes.
    Size,
    /// All rows.
    Rows,
    /// Removes the file.
    Drop,
}

impl<'s> Statement<'s> {
    /// Words in any case; a column's name is all that is behind them.
    fn parse(text: &'s str) -> Result<Self> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim_start();
        let found = match (word.to_ascii_uppercase().as_str(), rest) {
            ("SUM", column) if !column.is_empty() => Some(Self::Sum(column)),
            ("ADD", rest) => add(rest),
            ("SIZE", "") => Some(Self::Size),
            ("ROWS", "") => Some(Self::Rows),
            ("DROP", "") => Some(Self::Drop),
            _ => None,
        };
        found.ok_or_else(|| {
            Error::target(format!("{} is no statement for a file", shorten(text.as_bytes())))
                .advise("say SUM COLUMN, ADD N TO COLUMN, SIZE, ROWS or DROP")
        })
    }
}

/// `N TO COLUMN`
fn add(text: &str) -> Option<Statement<'_>> {
    let (number, rest) = text.split_once(char::is_whitespace)?;
    let (to, column) = rest.trim_start().split_once(char::is_whitespace)?;
    let number = inrush_scan::integer(number.as_bytes()).ok()?;
    to.eq_ignore_ascii_case("TO").then_some(Statement::Add(number, column.trim_start()))
}

/// A file, opened anew by every statement. Nothing waits for the disk.
pub(super) struct FileConsole<'a> {
    place: Place,
    stop: &'a AtomicBool,
}

impl<'a> FileConsole<'a> {
    pub(super) fn new(place: Place, stop: &'a AtomicBool) -> Self {
        Self { place, stop }
    }

    fn open(&self) -> Result<File> {
        File::open(&self.place.path).map_err(failed)
    }

    /// Hands out chunks until the user wants to stop.
    fn chunks(&self, input: impl Read, mut work: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        read::chunks(&self.place, self.place.text(input).map_err(failed)?, |bytes| {
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
            work(bytes).map(|()| true)
        })
    }

    fn sum(&self, column: &str) -> Result<Option<i128>> {
        if self.place.format == Format::Parquet {
            return parquet::sum(&self.place, self.stop, column);
        }
        let mut integers = Integers::of(self.place.format, column);
        let mut sum = None;
        self.chunks(self.open()?, |bytes| {
            integers.each(bytes, |_, number| {
                *sum.get_or_insert(0) += i128::from(number);
                Ok(())
            })
        })?;
        integers.end()?;
        Ok(sum)
    }

    fn add(&self, summand: i64, column: &str) -> Result<u64> {
        if self.place.format == Format::Parquet || self.place.packing().is_some() {
            return Err(Error::target(
                "what is compressed has no values that could be changed in their place",
            ));
        }
        let file = self.open()?;
        let found = file.metadata().map_err(failed)?;
        let path = self.place.real_path();
        let pending = Pending::create(&path, false).map_err(failed)?;
        let rows = self.rewrite(file, &found, &pending, summand, column).and_then(|rows| {
            let _turn = Turn::wait(&path).map_err(failed)?;
            let now = fs::metadata(&path).map_err(failed)?;
            if Version::of(&now) != Version::of(&found) {
                return Err(Error::target("the file was changed by another process meanwhile"));
            }
            fs::rename(&pending.path, &path).map_err(failed)?;
            Ok(rows)
        });
        if rows.is_err() {
            // One that can't be removed is swept by who writes here next.
            let _ = fs::remove_file(&pending.path);
        }
        rows
    }

    /// Writes the file anew except for the digits of the column's values; how many rows it has.
    fn rewrite(
        &self,
        mut file: File,
        found: &Metadata,
        pending: &Pending,
        summand: i64,
        column: &str,
    ) -> Result<u64> {
        fs::set_permissions(&pending.path, found.permissions()).map_err(failed)?;
        let mut output = File::options().write(true).open(&pending.path).map_err(failed)?;
        let mut mark = Vec::new();
        Read::by_ref(&mut file).take(BOM.len() as u64).read_to_end(&mut mark).map_err(failed)?;
        if mark == BOM {
            output.write_all(BOM).map_err(failed)?;
            mark.clear();
        }
        let mut integers = Integers::of(self.place.format, column);
        let mut changed = Vec::new();
        self.chunks(mark.chain(file), |bytes| {
            changed.clear();
            let mut copied = 0;
            integers.each(bytes, |place, number| {
                let sum = number.checked_add(summand).ok_or_else(|| {
                    Error::target(format!("{number} + {summand} is out of range"))
                })?;
                changed.extend_from_slice(&bytes[copied..place.start]);
                copied = place.end;
                // Writing to memory doesn't fail.
                let _ = write!(changed, "{sum}");
                Ok(())
            })?;
            changed.extend_from_slice(&bytes[copied..]);
            output.write_all(&changed).map_err(failed)
        })?;
        integers.end()
    }

    fn rows(&self, row: &mut dyn FnMut(&Row<'_>)) -> Result<()> {
        if self.place.format == Format::Parquet {
            return parquet::rows(&self.place, self.stop, row);
        }
        let mut csv = CsvRows { width: None, fields: Vec::new() };
        self.chunks(self.open()?, |bytes| {
            match self.place.format {
                Format::Jsonl => {
                    for json in read::lines(bytes).filter_map(JsonRow::read) {
                        let texts: Vec<_> = json.values().map(text_of).collect();
                        let bytes = texts.iter().map(|text| text.as_deref().map(str::as_bytes));
                        row(&bytes.collect::<Vec<_>>());
                    }
                }
                _ => csv.each(bytes, row),
            }
            Ok(())
        })
    }
}

struct CsvRows {
    /// The columns, once the header is read.
    width: Option<usize>,
    fields: Vec<Field>,
}

impl CsvRows {
    fn each(&mut self, bytes: &[u8], row: &mut dyn FnMut(&Row<'_>)) {
        let dialect = Format::Csv.dialect();
        let mut scanner = Scanner::new(&dialect, bytes);
        while let Some(record) = scanner.next(&mut self.fields) {
            let Some(width) = self.width else {
                self.width = Some(self.fields.len());
                continue;
            };
            if record.fault.is_some() || (record.is_blank() && width > 1) {
                continue;
            }
            let value = |field: &Field| match (field.form, field.raw(bytes)) {
                (Form::Plain, []) => None,
                (Form::Escaped { .. }, raw) => {
                    let mut text = Vec::new();
                    unescape(&dialect, raw, field.form, &mut text);
                    Some(Cow::Owned(text))
                }
                (_, raw) => Some(Cow::Borrowed(raw)),
            };
            let texts: Vec<Option<Cow<'_, [u8]>>> = self.fields.iter().map(value).collect();
            row(&texts.iter().map(Option::as_deref).collect::<Vec<_>>());
        }
    }
}

impl Console for FileConsole<'_> {
    fn run(&mut self, text: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        match Statement::parse(text)? {
            Statement::Sum(column) => {
                let sum = self.sum(column)?.map(|sum| sum.to_string());
                row(&[sum.as_deref().map(str::as_bytes)]);
            }
            Statement::Add(number, column) => return self.add(number, column),
            Statement::Size => {
                let size = fs::metadata(&self.place.path).map_err(failed)?.len().to_string();
                row(&[Some(size.as_bytes())]);
            }
            Statement::Rows => self.rows(row)?,
            Statement::Drop => fs::remove_file(&self.place.path).map_err(failed)?,
        }
        Ok(0)
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }

    fn engine(&mut self) -> Result<String> {
        Ok(self.place.format.words().to_owned())
    }
}

/// The system's own words.
#[expect(clippy::needless_pass_by_value, reason = "what map_err hands over")]
fn failed(error: io::Error) -> Error {
    Error::target(format!("the file can't be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_words_in_any_case_and_a_column() {
        let parse = |text| Statement::parse(text).ok();
        assert_eq!(parse("SUM i"), Some(Statement::Sum("i")));
        assert_eq!(parse(" sum  two words \n"), Some(Statement::Sum("two words")));
        assert_eq!(parse("add -1 to i2"), Some(Statement::Add(-1, "i2")));
        assert_eq!(parse("ROWS"), Some(Statement::Rows));
        assert_eq!(parse("size"), Some(Statement::Size));
        assert_eq!(parse("Drop"), Some(Statement::Drop));
        for wrong in
            ["", "SUM", "SUM ", "ADD 1 i", "ADD x TO i", "ROWS 5", "SELECT 1", "DROP TABLE"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
