//! The rows that are loaded: the user's, or some like them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use inrush::doctor::Copy;
use inrush::source::Place;
use inrush::{Error, Observer, Request, Result};
use inrush_core::{Column, TableFacts, Type};

use super::twin::Ground;
use crate::generate::{Generator, SplitMix64};

/// Of a larger source the beginning is loaded.
const SAMPLE_BYTES: u64 = 64 << 20;

/// Rows that are made where there is no source.
const ROWS: u64 = 200_000;

/// Files to load.
pub(super) struct Sample {
    pub(super) sources: Vec<String>,
    /// Whether it is all that the user's load would bring.
    pub(super) is_whole: bool,
}

impl Sample {
    /// The user's source, or its beginning; without one, rows of eight columns.
    pub(super) fn of(request: &Request, folder: &Path) -> Result<Self> {
        let [source] = request.sources.as_slice() else {
            return match request.sources.as_slice() {
                [] => Self::made_up(folder),
                _ => Ok(Self { sources: request.sources.clone(), is_whole: true }),
            };
        };
        let bytes = std::fs::metadata(source).map_or(0, |found| found.len());
        if bytes <= SAMPLE_BYTES {
            return Ok(Self { sources: request.sources.clone(), is_whole: true });
        }
        let is_text = [".csv", ".tsv", ".txt", ".jsonl", ".ndjson"]
            .iter()
            .any(|ending| source.to_ascii_lowercase().ends_with(ending));
        if !is_text {
            return Err(Error::target(format!(
                "{source} is larger than 64 MB, and not plain text"
            ))
            .advise("name a smaller source"));
        }
        let name = Path::new(source).file_name().unwrap_or_default();
        let path = folder.join(name);
        beginning(source, &path).map_err(|error| Error::source(format!("{source}: {error}")))?;
        Ok(Self { sources: vec![text(&path)], is_whole: false })
    }

    /// Rows for a table: the user's source where it is named after it, or else what its columns take.
    pub(super) fn like(
        request: &Request,
        table: &str,
        copy: &Copy,
        ground: &Ground,
        folder: &Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let is_its = |source: &String| Place::File(source.into()).stem() == table;
        if request.sources.iter().any(is_its) {
            return Self::of(request, folder);
        }
        let facts = ground.facts(copy, table, observer)?;
        let path = folder.join("rows.csv");
        written(&path, |out| {
            let names: Vec<String> =
                facts.columns.iter().map(|column| quoted(&column.name)).collect();
            writeln!(out, "{}", names.join(","))?;
            let mut random = SplitMix64::new(1);
            for row in 0..ROWS {
                let refers = |name| copy.referring.iter().any(|key| key.columns.contains(name));
                let values = facts.columns.iter().map(|column| match refers(&column.name) {
                    true => String::new(),
                    false => value(column, &facts, row, &mut random),
                });
                writeln!(out, "{}", values.collect::<Vec<_>>().join(","))?;
            }
            Ok(())
        })?;
        Ok(Self { sources: vec![text(&path)], is_whole: false })
    }

    /// Points of a map, as in the fastest-import study.
    fn made_up(folder: &Path) -> Result<Self> {
        let generator = Generator::of("nodes", 1)?;
        let path = folder.join("nodes.tsv");
        written(&path, |out| {
            let names: Vec<&str> = generator.columns().iter().map(|column| column.name).collect();
            writeln!(out, "{}", names.join("\t"))?;
            generator.write(0..ROWS, out)
        })?;
        Ok(Self { sources: vec![text(&path)], is_whole: false })
    }
}

fn written(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        fill(&mut out)?;
        out.flush()
    };
    write().map_err(|error| Error::source(format!("{}: {error}", path.display())))
}

/// Copies whole lines.
fn beginning(source: &str, path: &PathBuf) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut lines = BufReader::new(File::open(source)?.take(SAMPLE_BYTES));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        // The last one may have been cut.
        if line.ends_with(b"\n") {
            out.write_all(&line)?;
        }
        line.clear();
    }
    out.flush()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A value that a column takes; one that no other row has, where it is part of a key.
fn value(column: &Column, table: &TableFacts, row: u64, random: &mut SplitMix64) -> String {
    let is_in = |key: &Vec<String>| key.contains(&column.name);
    let is_key = is_in(&table.primary_key) || table.unique_keys.iter().any(is_in);
    let declared = column.declared.as_deref().unwrap_or_default().to_ascii_lowercase();
    let number = if is_key { row + 1 } else { random.below(100) };
    match column.ty {
        _ if declared.starts_with("uuid") => {
            let word = if is_key { row } else { random.word() };
            format!("{:08x}-0000-4000-8000-{:012x}", random.word() >> 32, word & 0xffff_ffff_ffff)
        }
        Type::Integer => number.to_string(),
        Type::Float => format!("{number}.5"),
        Type::Decimal { precision, scale } => {
            let digits = u32::from(precision.saturating_sub(scale)).clamp(1, 9);
            let whole = if precision == 0 { number } else { number % 10_u64.pow(digits) };
            format!("{whole}.{}", "0".repeat(usize::from(scale.min(9)).max(1)))
        }
        Type::Boolean => if number % 2 == 0 { "true" } else { "false" }.to_owned(),
        Type::Date => format!("2024-01-{:02}", number % 28 + 1),
        Type::Timestamp { zone } | Type::TimestampNs { zone } => {
            let (day, second) = (number % 28 + 1, number % 60);
            format!("2024-01-{day:02} 12:00:{second:02}{}", if zone { "+00:00" } else { "" })
        }
        Type::Json => format!("\"{{\"\"a\"\":{number}}}\""),
        Type::Text | Type::Time | Type::Uuid | Type::Interval | Type::Bytes => match is_key {
            true => format!("{number:08}"),
            false => format!("w{:05}", random.below(100_000)),
        },
    }
}
