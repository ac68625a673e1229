//! CSV, JSON Lines and Parquet files: a table that is a file. And the same, or an Arrow stream, on standard output.
//!
//! ```text
//! place   the file, its version       types   what each column takes, and how JSON says it
//! form    what it is by its looks     csv, jsonl, parquet: rows in the file's form
//! facts   what it holds already
//! output  the hidden file             packing how its text is compressed
//! load    the steps of a load         read    the file read back
//! old     what new rows are added to
//! stdout  rows that go to standard output instead
//! ```

mod console;
mod csv;
mod facts;
mod form;
mod integers;
mod json;
mod jsonl;
mod knobs;
mod layout;
mod load;
mod old;
mod output;
mod packing;
mod parquet;
mod place;
mod read;
mod stdout;
mod types;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::Way;
use inrush_core::target::{
    Console, Jobs, Location, STANDARD_OUTPUT, Strategy, Target, no_jobs, scheme,
};
use inrush_core::{Column, Job, Request, TargetFacts, Type};
use load::FileLoad;
use place::{Format, Place};

static STRATEGIES: &[&dyn Strategy] = &[
    &Way {
        id: "files/csv",
        about: "a CSV file (RFC 4180), written under a hidden name and put in place when it is whole",
        knobs: &knobs::CSV,
        fit: |request, facts, knobs| load::fit(Format::Csv, request, facts, knobs),
        memory: |request| load::memory(csv::GROWTH, request),
        start: |job, stop| FileLoad::start(Format::Csv, job, stop),
    },
    &Way {
        id: "files/jsonl",
        about: "a JSON Lines file, written under a hidden name and put in place when it is whole",
        knobs: &knobs::JSONL,
        fit: |request, facts, knobs| load::fit(Format::Jsonl, request, facts, knobs),
        memory: |request| load::memory(jsonl::GROWTH, request),
        start: |job, stop| FileLoad::start(Format::Jsonl, job, stop),
    },
    &Way {
        id: "files/parquet",
        about: "a Parquet file, whose row groups are encoded and compressed on all processors, written under a hidden name and put in place when it is whole",
        knobs: &knobs::PARQUET,
        fit: |request, facts, knobs| load::fit(Format::Parquet, request, facts, knobs),
        memory: parquet::memory,
        start: |job, stop| FileLoad::start(Format::Parquet, job, stop),
    },
    &Way {
        id: "files/arrow",
        about: "an Arrow stream (IPC) on standard output, a record batch a chunk",
        knobs: &[],
        fit: |request, facts, knobs| load::fit(Format::Arrow, request, facts, knobs),
        memory: |request| load::memory(stdout::ARROW_GROWTH, request),
        start: |job, stop| FileLoad::start(Format::Arrow, job, stop),
    },
];

/// Files.
struct Files;

/// The target.
pub static TARGET: &dyn Target = &Files;

impl Target for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn spelling(&self) -> &'static str {
        "csv:PATH, jsonl:PATH or FILE.parquet; csv:-, jsonl:- or arrow:-"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        let (format, path) = match scheme(text) {
            Some((scheme, path)) => (Format::of_scheme(&scheme)?, path),
            None => by_ending(text)?,
        };
        let scheme = format.scheme();
        let path = path.strip_prefix("//").unwrap_or(path);
        if path == place::STDOUT {
            let (secret, shown) = (format!("{scheme}:{path}"), STANDARD_OUTPUT.to_owned());
            return Some(Location::new(secret, shown, Vec::new()));
        }
        (!path.is_empty())
            .then(|| Location::new(format!("{scheme}:{path}"), path.to_owned(), vec![path.into()]))
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        STRATEGIES
    }

    fn has_tables(&self) -> bool {
        false
    }

    fn facts(
        &self,
        location: &Location,
        _table: &str,
        request: &Request,
        _stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        facts::gather(&Place::of(location), request)
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        Ok(Box::new(console::FileConsole::new(Place::of(location), stop)))
    }

    fn jobs(&self) -> Result<Jobs> {
        Err(no_jobs("a file has one writer", "have every worker write one of its own"))
    }

    fn no_steps(&self) -> Option<&'static str> {
        Some("a file gets its name when it is whole")
    }

    fn nul_fault(&self) -> Option<&'static str> {
        // A CSV file holds it as the byte that it is, JSON as an escape; what reads these files reads lengths, not C strings.
        None
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        let words = match (Place::of(&job.location).format, column.ty) {
            (Format::Parquet | Format::Arrow, _) => return parquet::spell(column),
            (Format::Csv, _) => "as written",
            (Format::Jsonl, Type::Integer | Type::Float) => "number",
            (Format::Jsonl, ty @ Type::Decimal { .. }) if types::is_safe_decimal(ty) => "number",
            (Format::Jsonl, Type::Boolean) => "true, false",
            (Format::Jsonl, Type::Json) => "any",
            (Format::Jsonl, Type::Bytes) => "string (base64)",
            (
                Format::Jsonl,
                Type::Text
                | Type::Time
                | Type::Uuid
                | Type::Interval
                | Type::Date
                | Type::Timestamp { .. }
                | Type::TimestampNs { .. }
                | Type::Decimal { .. },
            ) => "string",
        };
        words.to_owned()
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let (shape, layout) = (Arc::clone(&job.shape), layout::Layout::of(job));
        Ok(match Place::of(&job.location).format {
            Format::Csv => csv::encoder(shape, job, &layout, None),
            Format::Jsonl => jsonl::encoder(shape, job, &layout, None),
            Format::Parquet => parquet::checker(shape, job, &layout)?,
            Format::Arrow => stdout::arrow_encoder(shape, job),
        })
    }
}

/// The target that a path names by its ending. A bare `FILE.csv` is a source, forgotten targets being what they are; a Parquet file
/// that holds rows takes no others unless told to.
fn by_ending(text: &str) -> Option<(Format, &str)> {
    let is_url = text.contains("://");
    (!is_url && text.ends_with(".parquet")).then_some((Format::Parquet, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_schemes_are_claimed() {
        let claim = |text| Files.claim(text).map(|location| (location.secret, location.shown));
        let pair = |secret: &str, shown: &str| Some((secret.to_owned(), shown.to_owned()));
        assert_eq!(claim("csv:clean.csv"), pair("csv:clean.csv", "clean.csv"));
        assert_eq!(claim("csv:///tmp/a"), pair("csv:/tmp/a", "/tmp/a"));
        assert_eq!(claim("jsonl:a:b"), pair("jsonl:a:b", "a:b"));
        assert_eq!(claim("parquet:a"), pair("parquet:a", "a"));
        assert_eq!(claim("a:b.parquet"), pair("parquet:a:b.parquet", "a:b.parquet"));
        assert_eq!(claim("CSV:b.db"), pair("csv:b.db", "b.db"));
        assert_eq!(claim("csv:b.parquet"), pair("csv:b.parquet", "b.parquet"));
        assert_eq!(claim("s3://a/b.parquet"), None);
        for other in
            ["clean.csv", "csv:", "jsonl://", "tsv:a", "postgres://h/x.csv", "https:x.parquet"]
        {
            assert_eq!(claim(other), None, "{other}");
        }
    }
}
