//! How to name the inputs of one kind, where others lie in the same folder or archive.

use std::sync::atomic::AtomicBool;

use inrush_core::wording::shell_word;
use inrush_place::{Place, expand, some_of};
use inrush_store::Pattern;

/// What leaves out `others`, if there are any: the pattern, quoted for a shell, that all of `wanted` fit and nothing else does.
pub(crate) fn advice(wanted: &[&Place], others: &[&Place]) -> Option<String> {
    let pattern = pattern(wanted, others)?;
    Some(match others {
        [_] => format!("{} leaves the other out", shell_word(&pattern)),
        _ => {
            // They are named, for one of them may be data as well.
            let names: Vec<String> = others.iter().map(|place| place.name()).collect();
            format!("{} leaves out {}", shell_word(&pattern), some_of(&names))
        }
    })
}

fn pattern(wanted: &[&Place], others: &[&Place]) -> Option<String> {
    let all = || wanted.iter().chain(others);
    let archive = archive(wanted.first()?);
    if all().any(|place| self::archive(place) != archive) {
        return None;
    }
    let root = match &archive {
        Some(archive) => format!("{archive}!"),
        None => folder(&all().map(|place| place.name()).collect::<Vec<_>>()),
    };
    let ending = ending(wanted.first()?)?;
    if Pattern::is_one(&root)
        || wanted.iter().any(|place| self::ending(place) != Some(ending.clone()))
    {
        return None;
    }
    let within = |place: &&&Place| place.name().strip_prefix(&root).map(str::to_owned);
    let is_deep = wanted.iter().filter_map(|place| within(&place)).any(|name| name.contains('/'));
    let inside = if is_deep { format!("**/*{ending}") } else { format!("*{ending}") };
    let fits = |place: &&Place| {
        let pattern = Pattern::new(&inside);
        within(&place).zip(pattern.ok()).is_some_and(|(name, pattern)| pattern.fits(&name))
    };
    let pattern = format!("{root}{inside}");
    let is_right = wanted.iter().all(fits) && !others.iter().any(fits);
    (is_right && finds(&pattern, wanted)).then_some(pattern)
}

/// Whether a pattern for files finds no more than these, for others may lie beside those that were named.
fn finds(pattern: &str, wanted: &[&Place]) -> bool {
    if wanted.iter().any(|place| place.plain().is_none()) {
        return true;
    }
    expand(&[pattern.to_owned()], None, &AtomicBool::new(false)).is_ok_and(|(found, _)| {
        found.len() == wanted.len() && found.iter().all(|place| wanted.contains(&place))
    })
}

/// The archive that it is a member of.
fn archive(place: &Place) -> Option<String> {
    match place {
        Place::Member(member) => Some(member.archive.name()),
        _ => None,
    }
}

/// The folder, with a slash behind it, that all of these names are in.
fn folder(names: &[String]) -> String {
    let folders = |name: &str| -> Vec<String> {
        let mut parts: Vec<String> = name.split_inclusive('/').map(str::to_owned).collect();
        parts.pop();
        parts
    };
    let common = names.iter().map(|name| folders(name)).reduce(|common, other| {
        let is_same = |(one, two): &(String, String)| one == two;
        common.into_iter().zip(other).take_while(is_same).map(|(one, _)| one).collect()
    });
    common.unwrap_or_default().concat()
}

/// The end of its name that tells the format, with those of compressions.
fn ending(place: &Place) -> Option<String> {
    let (name, extension) = (place.file_name(), place.extension());
    let at = name.to_ascii_lowercase().rfind(&format!(".{extension}"))?;
    (!extension.is_empty()).then(|| name[at..].to_owned())
}
