//! What was found, as files: `report.json`, `report.md`, `report.html`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use inrush::{Error, Result};
use inrush_core::unique;
use inrush_core::wording::{bytes, counted};
use inrush_findings::report::ratios::{Page, Row};

use super::outcome::{Outcome, Ran};

/// The files of a report.
const JSON: &str = "report.json";
const MARKDOWN: &str = "report.md";
const HTML: &str = "report.html";

/// Where a report goes, known to take files before anything is measured.
pub struct ReportFolder {
    /// `None` for one of the day's, in the current folder.
    named: Option<PathBuf>,
}

impl ReportFolder {
    /// The folder that the user names, or one of the day's that is not there yet. Nothing is made.
    ///
    /// # Errors
    /// When no file can be made there, or files of these names are there that no report of this kind is made of.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        let here = Path::new(".");
        if let Some(folder) = named {
            refuse_others(folder)?;
        }
        let folder = named.unwrap_or(here);
        // Where it is to be made, the nearest one above it that there is has to take it.
        let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(here);
        let tried = existing.join(format!(".inrush-{}", unique::word()));
        fs::File::create_new(&tried)
            .and_then(|_| fs::remove_file(&tried))
            .map_err(|error| unwritten(folder, &error))?;
        Ok(Self { named: named.map(Path::to_owned) })
    }

    /// Writes the three files; their paths, the page last.
    ///
    /// # Errors
    /// When one can't be written.
    pub fn write(&self, outcome: &Outcome) -> Result<Vec<PathBuf>> {
        let folder = match &self.named {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
                folder.clone()
            }
            None => of_the_day(&outcome.date)?,
        };
        written(&folder, outcome)
    }
}

/// Makes the folder of a day, or the next one of it.
fn of_the_day(date: &str) -> Result<PathBuf> {
    let mut folder = PathBuf::from(format!("inrush-tune-{date}"));
    let mut number = 1;
    loop {
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                folder = PathBuf::from(format!("inrush-tune-{date}-{number}"));
            }
            Err(error) => return Err(unwritten(&folder, &error)),
        }
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Error {
    Error::target(format!("cannot write {}: {error}", path.display()))
        .advise("--report DIR names another folder")
}

/// Refuses a folder with files that a report would replace and no report of tune is made of.
fn refuse_others(folder: &Path) -> Result<()> {
    let is_there = |name: &&&str| folder.join(name).symlink_metadata().is_ok();
    let Some(name) = [JSON, MARKDOWN, HTML].iter().find(is_there) else { return Ok(()) };
    let json = fs::read(folder.join(JSON)).ok();
    let json = json.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    let is_ours = |report: serde_json::Value| {
        ["winner", "candidates", "stopped_by"].iter().all(|key| report.get(key).is_some())
    };
    match json.is_some_and(is_ours) {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "{} is there, and tune has not written it",
            folder.join(name).display()
        ))
        .advise("--report DIR names another folder")),
    }
}

fn written(folder: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>> {
    let json = serde_json::to_string_pretty(outcome)
        .map_err(|error| Error::target(format!("the report can't be written as JSON: {error}")))?;
    let page = page(outcome);
    let files = [(JSON, json + "\n"), (MARKDOWN, page.markdown()), (HTML, page.html()?)];
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| unwritten(&path, &error))?;
        paths.push(path);
    }
    Ok(paths)
}

fn page(outcome: &Outcome) -> Page {
    let row = |ran: &Ran| Row {
        label: ran.label.clone(),
        group: if ran.is_finalist { "finals" } else { "pairs before" }.to_owned(),
        ratio: ran.ratio,
        low: ran.low,
        high: ran.high,
        pairs: ran.pairs,
        rows_per_second: ran.rows_per_second,
    };
    let default =
        Row { label: format!("{} (the default)", outcome.default.label), ..row(&outcome.default) };
    let rows = std::iter::once(default).chain(outcome.candidates.iter().map(row)).collect();
    let key = &outcome.key;
    let settings: Vec<String> =
        key.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let facts = [
        ("target", outcome.target.clone()),
        ("engine", outcome.engine.clone()),
        ("table", format!("{}: {}", outcome.table, key.shape)),
        ("guarantee", key.guarantee.clone()),
        ("machine", key.machine.clone()),
        ("settings", settings.join(", ")),
        ("sample", format!("{} of {}", bytes(outcome.sample_bytes), bytes(outcome.source_bytes))),
        ("a load of the finals", bytes(outcome.load_bytes)),
        ("time", format!("{:.0} s of {:.0} s", outcome.seconds, outcome.budget_seconds)),
        ("loads", counted(outcome.loads as u64, "load")),
        ("ended by", outcome.stopped_by.to_owned()),
        ("options of load", outcome.winner.recipe.options()),
    ];
    Page {
        title: format!("tune {} into {}", outcome.table, outcome.target),
        version: outcome.version.to_owned(),
        date: outcome.date.clone(),
        verdict: vec![outcome.sentence.clone()],
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        noise: outcome.noise,
        rows,
        left_out: outcome
            .left_out
            .iter()
            .map(|left| (left.label.clone(), left.reason.clone()))
            .collect(),
    }
}
