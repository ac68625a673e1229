//! What a collection has besides documents, which goes when another takes its place.

use crate::client::Failure;
use crate::facts::{indexes, is_default, key_of, list};
use crate::session::Session;

/// In words, one each.
pub(super) fn read(session: &mut Session<'_>, collection: &str) -> Result<Vec<String>, Failure> {
    let mut lost = Vec::new();
    indexes(session, collection, |index| {
        if !is_default(index) {
            let word = if index.is_true("unique") { "UNIQUE INDEX" } else { "INDEX" };
            let name = index.text("name").unwrap_or_default();
            lost.push(format!("{word} {name} ({})", key_of(index).join(", ")));
        }
    })?;
    session.catalogue(list(collection), |found| {
        let Some(options) = found.document("options") else { return };
        if options.is_true("capped") {
            lost.push("its being capped".to_owned());
        }
        for (name, words) in [
            ("validator", "its validator"),
            ("collation", "its collation"),
            ("clusteredIndex", "its clustered index"),
            ("expireAfterSeconds", "the time after which its documents expire"),
            ("changeStreamPreAndPostImages", "the images of its documents for change streams"),
        ] {
            if options.get(name).is_some() {
                lost.push(words.to_owned());
            }
        }
    })?;
    Ok(lost)
}
