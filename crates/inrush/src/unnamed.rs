//! The target of a check that names none: it takes all that its columns' types are, and nobody loads into it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_scan as scan;

use crate::target::Way;
use crate::target::{Console, Fit, Jobs, Load, Location, Memory, Strategy, Target};
use inrush_core::encode::{self, BadValue, Encode, EncodeRow, Row};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Code, Wire};
use inrush_core::value::double;
use inrush_core::value::rule::{self, Truths};
use inrush_core::{Column, Durability, Facts, Job, Request, TargetFacts, Type};

/// The target, and where it is.
pub(crate) fn unnamed() -> (&'static dyn Target, Location) {
    let place = "no target".to_owned();
    (&Unnamed, Location::new(String::new(), place, Vec::new()))
}

struct Unnamed;

static CHECK: Way = Way {
    id: "unnamed/check",
    about: "reads and checks, and writes nothing",
    knobs: &[],
    fit: |_, facts: &Facts, _| Fit::Usable {
        atomic: true,
        durability: Durability::Durable,
        weakness: None,
        lanes: 1,
        lanes_max: 1,
        encoders: facts.processors,
        notes: Vec::new(),
    },
    memory: |_| Memory { wire_bytes_per_byte: 1, fixed_bytes: 0, chunk_bytes: 256 << 10 },
    start: |_, _| refuse(),
};

fn refuse<'a>() -> Result<Box<dyn Load + 'a>> {
    Err(Error::usage("no target is named"))
}

impl Target for Unnamed {
    fn name(&self) -> &'static str {
        "unnamed"
    }

    fn spelling(&self) -> &'static str {
        ""
    }

    fn claim(&self, _text: &str) -> Option<Location> {
        None
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        static ALL: [&dyn Strategy; 1] = [&CHECK];
        &ALL
    }

    fn facts(
        &self,
        _location: &Location,
        _table: &str,
        _request: &Request,
        _stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        Ok(TargetFacts {
            engine: "check without a target".to_owned(),
            text_types: &[Type::Time, Type::Uuid],
            columns_max: usize::MAX,
            name_fault: None,
            ..TargetFacts::default()
        })
    }

    fn console<'a>(
        &self,
        _location: &Location,
        _stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        Err(Error::usage("no target is named"))
    }

    fn jobs(&self) -> Result<Jobs> {
        Err(Error::usage("no target is named"))
    }

    fn nul_fault(&self) -> Option<&'static str> {
        Some("most databases take none in text")
    }

    fn spell(&self, column: &Column, _job: &Job) -> String {
        // As standard SQL has it, and most databases take it.
        match column.ty {
            Type::Integer => "bigint".to_owned(),
            Type::Float => "double precision".to_owned(),
            Type::Timestamp { zone: true } => "timestamp with time zone".to_owned(),
            ty => ty.to_string(),
        }
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let columns = job.choice.columns.iter();
        let columns =
            columns.map(|column| (column.ty, !column.is_strict(), column.required)).collect();
        Ok(encode::encoder(Arc::clone(&job.shape), TypeChecker { columns }))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let mut parts: Vec<String> = job
            .choice
            .columns
            .iter()
            .map(|column| {
                let null = if column.required { " NOT NULL" } else { "" };
                format!("{} {}{null}", quote(&column.name), self.spell(column, job))
            })
            .collect();
        let key: Vec<String> = job.request.primary_key.iter().map(|name| quote(name)).collect();
        if !key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        Some(format!("CREATE TABLE {} (\n  {}\n)", quote(&job.table), parts.join(",\n  ")))
    }
}

/// Looks whether values are of their columns' types, and makes nothing of them.
struct TypeChecker {
    /// Type, whether the type is declared, whether NULL is a bad value.
    columns: Vec<(Type, bool, bool)>,
}

impl EncodeRow for TypeChecker {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        for (column, (ty, declared, required)) in self.columns.iter().enumerate() {
            // What a source has in a type of its own is of it.
            if row.typed(column).is_some() {
                continue;
            }
            wire.values.clear();
            let Some((home, span)) = row.value(column, &mut wire.values) else {
                if *required {
                    return Err(BadValue::null(column));
                }
                continue;
            };
            check(row.bytes(home, span, &wire.values), *ty, *declared)
                .map_err(|(code, wanted)| BadValue { column, code, wanted })?;
        }
        Ok(())
    }
}

/// Whether a text is a value of the type. One that isn't declared is a guess, and the text has to come back from it as it is.
fn check(value: &[u8], ty: Type, declared: bool) -> Result<(), (Code, &'static str)> {
    match ty {
        Type::Integer if scan::plain_integer(value).is_some() => Ok(()),
        Type::Integer => rule::long(value, !declared).map(drop),
        Type::Float if scan::plain_decimal(value).is_some() => Ok(()),
        Type::Float => double::kept(value, !declared, double::Specials::All).map(drop),
        Type::Decimal { precision: 0, .. } => rule::decimal(value, None, false, "").map(drop),
        Type::Decimal { precision, scale } => {
            let wanted = "a decimal of the column's precision and scale";
            let (whole, fraction) = rule::decimal(value, None, false, wanted)?.size();
            let (precision, scale) = (i64::from(precision), i64::from(scale));
            let fits = whole <= precision - scale && fraction <= scale;
            if fits { Ok(()) } else { Err((Code::Range, wanted)) }
        }
        Type::Boolean => rule::boolean(value, !declared, Truths::Digits).map(drop),
        Type::Date => rule::date(value).map(drop),
        Type::Timestamp { .. } | Type::TimestampNs { .. } if declared && scan::is_date(value) => {
            Ok(())
        }
        ty if ty.has_offset() && scan::timestamp(value).is_some() => Ok(()),
        Type::Timestamp { zone } | Type::TimestampNs { zone } => rule::timestamp(value, zone),
        Type::Json => rule::json(value),
        Type::Uuid => rule::uuid(value).map(drop),
        Type::Time => rule::time(value).map(drop),
        Type::Text | Type::Interval | Type::Bytes => Ok(()),
    }
}
