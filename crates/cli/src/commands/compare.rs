//! `inrush compare`.

use anyhow::Result;
use inrush::{Error, Kind};
use inrush_bench::finding::Comparison;
use inrush_bench::store::{Run, RunFolder};
use serde_json::json;

use crate::args::CompareArgs;
use crate::render;

/// Prints how two runs stand to each other, and answers whether the second is slower than allowed, or fails where the first does not.
pub(crate) fn compare(args: &CompareArgs) -> Result<bool> {
    let (a, b) = (RunFolder::open(&args.a)?, RunFolder::open(&args.b)?);
    let comparison = inrush_bench::compare::compare(&a, &b);
    if !comparison.differences.is_empty() && !args.force {
        let differences = comparison.differences.join("; ");
        let error = Error::new(Kind::Usage, format!("these runs can't be compared: {differences}"));
        return Err(error.advise("--force compares them all the same, under a banner").into());
    }
    if comparison.cells.is_empty() && comparison.failed_in_b.is_empty() {
        // Nobody may take this for "nothing is slower".
        return Err(Error::new(Kind::Source, "these runs have no measured cell in common").into());
    }
    let slower: Vec<String> = args
        .fail_if_slower
        .map(|percent| comparison.slower_than(percent))
        .unwrap_or_default()
        .into_iter()
        .map(|cell| format!("{}: {}", cell.experiment, cell.label))
        .collect();
    let text = if args.json {
        json(&a, &b, &comparison, args.fail_if_slower, &slower)
    } else {
        render::comparison([&a.manifest, &b.manifest], &comparison, args.fail_if_slower, &slower)
    };
    super::print(&text)?;
    let has_failed = args.fail_if_slower.is_some() && !comparison.failed_in_b.is_empty();
    Ok(has_failed || !slower.is_empty())
}

fn json(a: &Run, b: &Run, found: &Comparison, limit: Option<f64>, slower: &[String]) -> String {
    let object = json!({
        "version": 1,
        "a": a.manifest.run,
        "b": b.manifest.run,
        "comparable": found.differences.is_empty(),
        "differences": found.differences,
        "cells": found.cells,
        "failed_in_b": found.failed_in_b,
        "only_in_a": found.only_in_a,
        "only_in_b": found.only_in_b,
        "fail_if_slower_percent": limit,
        "slower": slower,
    });
    format!("{object}\n")
}
