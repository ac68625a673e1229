//! The columns' names: from a header, or made up.

use inrush_scan::Dialect;

use crate::Source;
use crate::head::{Head, body_start};
use crate::infer::{Observed, Spot, is_null_like};
use crate::sample::Sample;
use crate::sniff;
use inrush_core::error::{Error, Result, shorten};
use inrush_core::{DialectRequest, Nulls};

impl Source {
    /// Decides about the header, moves every input's body behind it, and maps each input's fields to the first one's.
    pub(super) fn find_header(
        &mut self,
        heads: &mut [Head],
        dialect: &Dialect,
        request: &DialectRequest,
        known: Option<&[String]>,
        reasons: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for (index, head) in heads.iter_mut().enumerate() {
            let start = body_start(&head.text, request.skip_lines);
            let text = &head.text[start..];
            let first = sniff::first_record(text, dialect);
            if index == 0 {
                self.header = match (request.header, &first) {
                    (_, None) => false,
                    (Some(header), _) => header,
                    (None, Some((values, record))) => {
                        let rest = &text[record.next as usize..];
                        let verdict = self.looks_like_header(values, rest, known);
                        let Some(header) = verdict.header else {
                            return Err(unclear(&head.input.name, values, known, verdict.why));
                        };
                        let (what, otherwise) = match header {
                            true => (
                                "the first line is taken as the header",
                                "--header no if it is data",
                            ),
                            false => {
                                ("there is no header", "--header yes if the first line is one")
                            }
                        };
                        let reason = format!("{what}: {}", verdict.why);
                        if verdict.proven {
                            reasons.push(reason);
                        } else {
                            warnings.push(format!("{reason} ({otherwise})"));
                        }
                        header
                    }
                };
            }
            let mut body_at = start;
            let here = match first {
                Some((values, record)) if self.header => {
                    if record.fault.is_some() {
                        return Err(Error::source(format!(
                            "{}: the quoting of the header is broken",
                            head.input.name
                        ))
                        .advise("check --quote, or say --quote none"));
                    }
                    body_at = start + record.next as usize;
                    head.input.header = text[record.start as usize..record.next as usize].to_vec();
                    header_names(&head.input.name, values)?
                }
                Some((values, _)) if index == 0 => {
                    let width = sniff::width(text, head.whole, dialect).max(if head.whole {
                        1
                    } else {
                        values.len()
                    });
                    (1..=width).map(column_name).collect()
                }
                _ => names.clone(),
            };
            head.input.lines_before = inrush_scan::count_lines(dialect, &head.text[..body_at]);
            head.input.body_at = body_at as u64;
            if index == 0 {
                names = here;
                self.orders.push((0..names.len()).collect());
            } else {
                let order = order(&names, &here, &head.input.name)?;
                self.orders.push(order);
            }
        }
        if names.is_empty() {
            return Err(Error::source(format!(
                "{} is empty: no header, no rows",
                heads[0].input.name
            ))
            .advise("check that it is the file you mean"));
        }
        Ok(unique(names, warnings))
    }

    fn looks_like_header(
        &mut self,
        values: &[Vec<u8>],
        rest: &[u8],
        known: Option<&[String]>,
    ) -> sniff::HeaderVerdict {
        let names: Vec<String> =
            values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        // Whether these are the columns' names is the question, so each column has both of its names.
        let numbers: Vec<String> = (1..=names.len()).map(column_name).collect();
        let known_as = [&names, &numbers].map(|names| names.iter().map(String::as_str).collect());
        self.nulls = Nulls::of(&self.read.nulls, &known_as);
        let is_null = |column: usize, value: &[u8]| {
            value.is_empty()
                || is_null_like(value)
                || self.nulls.of_column(column).any(|null| null == value)
        };
        let first: Vec<Observed> = values
            .iter()
            .enumerate()
            .map(|(column, value)| {
                let mut observed = Observed::default();
                if !is_null(column, value) {
                    observed.add(value, Spot::default());
                }
                observed
            })
            .collect();
        let (seen, _) = self.survey(vec![Sample::of(0, rest)], values.len());
        sniff::header(&names, &first, &seen, known)
    }
}

/// What a column without a name is called.
pub(super) fn column_name(number: usize) -> String {
    format!("column_{number}")
}

/// The first line may be a row of the table or the header of another one: to take it for either would be to lose a row, or to make one.
pub(super) fn unclear(
    input: &str,
    values: &[Vec<u8>],
    known: Option<&[String]>,
    why: &str,
) -> Error {
    let shown: Vec<String> =
        values.iter().take(SHOWN_MAX).map(|value| shorten(value.trim_ascii())).collect();
    let known = known.unwrap_or_default();
    let known: Vec<&str> = known.iter().take(SHOWN_MAX).map(String::as_str).collect();
    Error::source(format!(
        "{input}: is the first line a header? {why}: {}; the table's columns are {}",
        shown.join(", "),
        known.join(", ")
    ))
    .advise("--header yes if it is one: then its names have to be the table's, or --match position goes by their order")
    .advise("--header no if it is data")
}

/// Fields of a line that a message shows.
const SHOWN_MAX: usize = 10;

fn header_names(input: &str, values: Vec<Vec<u8>>) -> Result<Vec<String>> {
    let bad = |what: &str, n: usize| {
        Error::source(format!("{input}: the name of column {n} in the header {what}"))
            .advise("check --encoding, or say --header no if the first line is data")
    };
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let name = String::from_utf8(value).map_err(|_| bad("is not UTF-8", index + 1))?;
            if name.contains('\0') {
                return Err(bad("holds a NUL byte", index + 1));
            }
            Ok(name.trim().to_owned())
        })
        .collect()
}

/// Makes names usable: an empty one becomes `column_N`, a second `a` becomes `a_2`. Case doesn't tell names apart in SQL.
pub(super) fn unique(names: Vec<String>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut taken: std::collections::HashSet<String> =
        names.iter().map(|name| name.to_lowercase()).collect();
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            if !name.is_empty() && seen.insert(name.to_lowercase()) {
                return name;
            }
            let (base, first) =
                if name.is_empty() { ("column", index + 1) } else { (name.as_str(), 2) };
            let free = (first..)
                .map(|n| format!("{base}_{n}"))
                .find(|candidate| taken.insert(candidate.to_lowercase()))
                .unwrap_or_default();
            let what = if name.is_empty() {
                "has no name".to_owned()
            } else {
                format!("is a second '{name}'")
            };
            warnings
                .push(format!("column {} of the header {what}: it is called {free}", index + 1));
            seen.insert(free.to_lowercase());
            free
        })
        .collect()
}

/// Where a later input has each of the first one's fields.
pub(super) fn order(names: &[String], here: &[String], input: &str) -> Result<Vec<usize>> {
    if names == here {
        return Ok((0..names.len()).collect());
    }
    let exactly = |name: &String| here.iter().position(|other| other == name);
    let find = |name: &String| {
        exactly(name).or_else(|| here.iter().position(|other| other.eq_ignore_ascii_case(name)))
    };
    let order: Option<Vec<usize>> = names.iter().map(find).collect();
    match order {
        Some(order)
            if names.len() == here.len()
                && order.iter().collect::<std::collections::HashSet<_>>().len() == order.len() =>
        {
            Ok(order)
        }
        _ => {
            let missing: Vec<&str> =
                names.iter().filter(|name| find(name).is_none()).map(String::as_str).collect();
            let extra: Vec<&str> = here
                .iter()
                .filter(|name| !names.iter().any(|other| other.eq_ignore_ascii_case(name)))
                .map(String::as_str)
                .collect();
            Err(Error::source(format!(
                "{input} has other columns than the first input (missing: {}; more: {})",
                list(&missing),
                list(&extra)
            ))
            .advise("load files of different shape into tables of their own"))
        }
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_become_unique_without_taking_anothers() {
        let mut warnings = Vec::new();
        let made = unique(names(&["a", "A", "", "a_2", "a", "column_3"]), &mut warnings);
        assert_eq!(made[0], "a");
        assert_eq!(made[3], "a_2");
        assert_eq!(made[5], "column_3");
        let lower: std::collections::HashSet<String> =
            made.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(lower.len(), made.len(), "{made:?}");
        assert_eq!(warnings.len(), 3);
    }

    #[test]
    fn later_inputs_may_order_their_columns_otherwise() {
        assert_eq!(order(&names(&["a", "b"]), &names(&["B", "a"]), "x").unwrap(), vec![1, 0]);
        assert!(
            order(&names(&["a", "b"]), &names(&["a", "c"]), "x")
                .unwrap_err()
                .what()
                .contains("missing: b; more: c")
        );
        assert!(order(&names(&["a", "b"]), &names(&["a"]), "x").is_err());
    }
}
