//! `inrush tune`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use inrush::profile::{Key, Profiles};
use inrush::{Error, Kind};
use inrush_bench::tune::{Outcome, Tuning, tune as measure, write_report};

use super::{Answered, eprint_text, print, stop_on_signals};
use crate::args::TuneArgs;
use crate::render::{self, ProgressMode, TuneProgress};
use crate::settings;

/// Measures, and keeps what is the fastest; or shows what was measured before.
pub(crate) fn tune(args: &TuneArgs) -> Result<u64> {
    let profiles = settings::profiles(args.load.profiles.as_deref());
    if args.list || args.export || args.forget.is_some() {
        return kept(args, profiles.as_deref());
    }
    let request = settings::request(&args.load)?;
    let tuning = Tuning {
        budget: settings::time(&args.budget, "--budget")?,
        sample_bytes: settings::size(&args.sample, "--sample")?,
        is_beside: args.beside,
    };
    if tuning.budget < Duration::from_secs(1) {
        let error = Error::usage(format!("--budget {}: takes a second at least", args.budget));
        return Err(error.into());
    }
    // What can't be kept is said before the time is spent.
    let known = profiles.as_deref().map(|path| (path, Profiles::read(path)));
    if let Some((_, Err(why))) = &known {
        eprint_text(&format!("warning: {}\n", not_kept(why)));
    }
    let mode = ProgressMode::of(&args.load.shown.progress, args.load.shown.quiet);
    let progress = TuneProgress::new(mode, stop_on_signals()?);
    let outcome = measure(&request, tuning, &progress, &mut |standing| progress.standing(standing));
    progress.finish();
    let outcome = outcome?;
    let folder = match &args.report {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("inrush-tune-{}", outcome.date)),
    };
    let paths = write_report(&folder, &outcome)?;
    let keeping = keep(&outcome, &request, known)?;
    shown(&outcome, &paths, &keeping, args)?;
    match outcome.was_interrupted() {
        true => {
            let error =
                Error::new(Kind::Interrupted, "interrupted; what is known is in the report");
            Err(anyhow::Error::from(error).context(Answered))
        }
        false => Ok(0),
    }
}

/// A file that is none of ours is not written over.
fn not_kept(why: &str) -> String {
    format!(
        "what is found is not kept: {why}; move the file away, or name another one with --profiles FILE"
    )
}

/// Keeps what was found, in words where and why not.
fn keep(
    outcome: &Outcome,
    request: &inrush::Request,
    file: Option<(&Path, Result<Profiles, String>)>,
) -> Result<String> {
    let is_open = request.strategy.is_none()
        && request.knobs.is_empty()
        && request.lanes.is_none()
        && request.encoders.is_none()
        && request.chunk_bytes.is_none();
    Ok(match (outcome.profile(), file) {
        (None, _) if outcome.was_interrupted() => "not kept: interrupted".to_owned(),
        (None, _) => "not kept: too little was measured".to_owned(),
        (Some(_), _) if !is_open => {
            "not kept: options of yours were not varied, and a load that leaves them open has others"
                .to_owned()
        }
        (Some(_), None) => "not kept: no folder of settings is known, and --profiles names no file".to_owned(),
        (Some(_), Some((_, Err(why)))) => not_kept(&why),
        (Some(profile), Some((path, Ok(mut profiles)))) => {
            profiles.keep(profile);
            profiles.write(path)?;
            format!("kept in {}: inrush load goes by it", path.display())
        }
    })
}

fn shown(outcome: &Outcome, paths: &[PathBuf], keeping: &str, args: &TuneArgs) -> Result<()> {
    if args.load.json {
        let mut object = serde_json::to_value(outcome)?;
        object["report"] = serde_json::json!(paths);
        object["profile"] = serde_json::json!(keeping);
        if outcome.was_interrupted() {
            let error =
                Error::new(Kind::Interrupted, "interrupted; what is known is in the report");
            object["error"] = render::failure_object(&error.into(), false);
        }
        print(&format!("{object}\n"))?;
        return Ok(());
    }
    let report = paths.last().map(|path| path.display().to_string()).unwrap_or_default();
    if args.load.shown.quiet {
        return Ok(());
    }
    print(&render::tuned(outcome))?;
    print(&format!("report: {report}\n{keeping}\n{}\n", outcome.sentence))
}

/// Shows, prints or forgets profiles.
fn kept(args: &TuneArgs, path: Option<&Path>) -> Result<u64> {
    let path = path.ok_or_else(|| {
        Error::usage("no folder of settings is known").advise("--profiles FILE names the file")
    })?;
    let mut profiles = match Profiles::read(path) {
        Ok(profiles) => profiles,
        Err(why) if args.forget.is_some() => {
            return Err(Error::target(format!("nothing is forgotten: {why}"))
                .advise(format!("remove {} to forget all that it holds", path.display()))
                .into());
        }
        Err(why) => {
            eprint_text(&format!("warning: what was measured is passed over: {why}\n"));
            return Ok(0);
        }
    };
    if let Some(target) = &args.forget {
        let is_listed = |named: &String| {
            named == "all" || profiles.profiles.iter().any(|known| known.key.target == *named)
        };
        let named = match inrush::target::find(target) {
            Ok((target, location)) => Key::place(target, &location),
            Err(_) if is_listed(target) => target.clone(),
            Err(_) => {
                let error = Error::usage(format!("--forget {target}: nothing of it was measured"));
                return Err(error
                    .advise("name a target as inrush tune --list does, or as load takes it")
                    .advise("--forget all forgets everything")
                    .into());
            }
        };
        let gone = profiles.forget(&named);
        profiles.write(path)?;
        print(&format!("forgot {}\n", render::counted(gone as u64, "profile")))?;
    } else if args.export {
        print(&profiles.text()?)?;
    } else if args.load.json {
        print(&(serde_json::to_string(&profiles)? + "\n"))?;
    } else {
        print(&render::profiles(&profiles))?;
    }
    Ok(0)
}
