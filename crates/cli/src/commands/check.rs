//! `inrush check`.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::Result;

use super::{print, stop_on_signals};
use crate::args::LoadArgs;
use crate::render::{self, ProgressMode};
use crate::settings;

/// Bad rows that a terminal shows: more would push the rest off the screen.
const ON_A_TERMINAL: usize = 100;

/// Bad rows that are told to a file or a program: what is beyond is counted, and goes to the rejects file.
const ELSEWHERE: usize = 1_000_000;

/// What to know of a file that is the target because it stands last, and might be meant as one more source.
fn unchecked(places: &[String]) -> Option<String> {
    let last = places.last().filter(|_| settings::is_target_of_check(places))?;
    let (target, _) = inrush::target::find(last).ok()?;
    let is_rows = !target.has_tables() && Path::new(last).is_file();
    is_rows.then(|| {
        format!("{last} stands last, so it is the target, and its rows are not checked: check it by itself, or name a target behind it")
    })
}

/// Reads all and writes nothing, and answers with the number of bad rows.
pub(crate) fn check(args: &LoadArgs) -> Result<u64> {
    let request = settings::check_request(args)?;
    let mode = ProgressMode::of(&args.shown.progress, args.shown.quiet);
    let observer = render::Progress::new(mode, stop_on_signals()?, args.shown.quiet);
    let is_shown = !args.json && io::stdout().is_terminal();
    let shown_max = if is_shown { ON_A_TERMINAL } else { ELSEWHERE };
    let outcome = inrush::check(&request, &observer, shown_max);
    observer.finish();
    let mut check = outcome?;
    check.warnings.extend(unchecked(&args.places));
    if args.json {
        print(&(serde_json::to_string(&check)? + "\n"))?;
    } else if !args.shown.quiet {
        print(&render::check(&check))?;
    }
    Ok(check.rows_bad)
}
