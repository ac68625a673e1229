//! What goes with a table that is dropped and recreated.

use crate::plan::{Facts, Request};

/// So many are named, and the others counted.
const NAMED_MAX: usize = 20;

/// What a user should know of a table that `--if-exists replace` drops; `None` where it was nothing but columns and rows, or where the
/// new table has the same.
pub(crate) fn lost_with(request: &Request, facts: &Facts) -> Option<String> {
    let with = |words: &str, columns: &[String]| format!("{words} ({})", columns.join(", "));
    let key = with("PRIMARY KEY", &request.primary_key);
    let is_made_again = |lost: &str| {
        let is_index = |columns: &Vec<String>| {
            lost.starts_with("INDEX ") && lost.ends_with(&with("", columns))
        };
        lost == key || request.indexes.iter().any(is_index)
    };
    let lost: Vec<&str> = facts
        .target
        .lost_with
        .iter()
        .map(String::as_str)
        .filter(|lost| !is_made_again(lost))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let mut words = lost[..lost.len().min(NAMED_MAX)].join(", ");
    if lost.len() > NAMED_MAX {
        words.push_str(&format!(" and {} more", lost.len() - NAMED_MAX));
    }
    Some(format!(
        "--if-exists replace drops what the old table had: {words} (--if-exists truncate keeps it)"
    ))
}
