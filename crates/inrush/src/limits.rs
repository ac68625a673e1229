//! What a program can put into its options, and no text of a command says.

use crate::target;
use inrush_core::RejectLimit;
use inrush_core::error::{Error, Result};
use inrush_core::reading::is_alike;
use inrush_core::request::LoadOptions;
use inrush_core::schema::Type;
use inrush_core::wording::said_of;

/// Refuses what is no value of an option, before anything is looked at.
///
/// # Errors
/// When there is one.
pub(crate) fn check(options: &LoadOptions) -> Result<()> {
    let LoadOptions { max_rejects, types, .. } = options;
    // A type and a limit are what their own texts say.
    let limit = max_rejects.to_string();
    limit.parse::<RejectLimit>().map_err(|why| Error::usage(format!("--max-rejects: {why}")))?;
    for (name, ty) in types {
        ty.to_string()
            .parse::<Type>()
            .map_err(|why| Error::usage(format!("{}: {why}", said_of("--type", name, ty))))?;
    }
    let lists = [("--primary-key", &options.primary_key), ("--key", &options.key)];
    let indexes = options.indexes.iter().map(|index| ("--index", index));
    if options.indexes.iter().any(Vec::is_empty) {
        return Err(Error::usage("--index: an index has at least one column"));
    }
    for (option, names) in lists.into_iter().chain(indexes) {
        let is_second = |at: &usize| names[..*at].iter().any(|name| is_alike(name, &names[*at]));
        if let Some(second) = (0..names.len()).find(is_second) {
            let (all, name) = (names.join(","), &names[second]);
            return Err(Error::usage(format!("{option} {all}: names column {name} twice")));
        }
    }
    match options.libraries.keys().find(|name| !target::is_known(name)) {
        Some(unknown) => Err(Error::usage(format!(
            "a library is named for target '{unknown}', which there is not"
        ))),
        None => Ok(()),
    }
}
