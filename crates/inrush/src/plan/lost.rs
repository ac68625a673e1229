//! What goes with a table that is dropped and recreated.

use crate::plan::{Column, Facts, Request};
use inrush_core::mentions::Mention;
use inrush_core::reading::is_alike;

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
    let words = first_of(&lost);
    Some(format!(
        "--if-exists replace drops what the old table had: {words} (--if-exists truncate keeps it)"
    ))
}

/// What a user should know of views and the like that may not work with the columns of the table that takes the old one's place.
pub(crate) fn broken_with(facts: &Facts, columns: &[Column]) -> Option<String> {
    let old = facts.target.table.as_ref()?;
    let old = old.columns.iter().map(|column| &column.name).chain(&old.computed);
    let is_kept = |name: &str| columns.iter().any(|column| is_alike(&column.name, name));
    let lacked: Vec<&String> = old.filter(|name| !is_kept(name)).collect();
    let mentions = &facts.target.mentioned_by;
    let said = lacked.iter().filter(|name| mentions.iter().any(|mention| mention.says(name)));
    let said: Vec<&str> = said.map(|name| name.as_str()).collect();
    let broken = mentions.iter().filter(|mention| said.iter().any(|name| mention.says(name)));
    let broken: Vec<&str> = broken.map(Mention::what).collect();
    if broken.is_empty() {
        return None;
    }
    Some(format!(
        "--if-exists replace: the new table lacks {}, which {} may need: look whether they still work (--if-exists truncate keeps the \
         columns)",
        first_of(&said),
        first_of(&broken)
    ))
}

/// The first of them by name, and how many there are besides.
fn first_of(names: &[&str]) -> String {
    let mut words = names[..names.len().min(NAMED_MAX)].join(", ");
    if names.len() > NAMED_MAX {
        words.push_str(&format!(" and {} more", names.len() - NAMED_MAX));
    }
    words
}
