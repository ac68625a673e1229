//! `inrush tune`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use inrush::profile::{Key, Profiles};
use inrush::{Error, Kind};
use inrush_bench::tune::{Outcome, ReportFolder, Tuning, tune as measure};

use super::{Answered, eprint_text, print, stop_on_signals};
use crate::args::TuneArgs;
use crate::render::{self, ProgressMode, TuneProgress};
use crate::settings;

/// Measures, and keeps what is the fastest; or shows what was measured before.
pub(crate) fn tune(args: &TuneArgs) -> Result<u64> {
    let profiles = settings::profiles(args.load.profiles.as_deref());
    if args.load.dry_run {
        return Err(Error::usage("--dry-run: tune does nothing but measure")
            .advise("inrush plan SOURCE... TARGET says what load would do")
            .into());
    }
    if args.list || args.export || args.forget.is_some() {
        return kept(args, profiles.as_deref());
    }
    let request = settings::request(&args.load, "tune")?;
    let tuning = Tuning {
        budget: settings::time(&args.budget, "--budget")?,
        sample_bytes: settings::size(&args.sample, "--sample")?,
        is_beside: args.beside,
    };
    if tuning.budget < Duration::from_secs(1) {
        let error = Error::usage(format!("--budget {}: takes a second at least", args.budget));
        return Err(error.into());
    }
    // What can't be written or kept is said before the time is spent.
    let report = ReportFolder::find(args.report.as_deref())?;
    if args.load.profiles.is_some() {
        profiles.as_deref().map_or(Ok(()), Profiles::expect_place)?;
    }
    if let Some(Err(why)) = profiles.as_deref().map(Profiles::read) {
        eprint_text(&format!("warning: {}\n", not_kept(&why)));
    }
    let mode = ProgressMode::of(&args.load.shown.progress, args.load.shown.quiet);
    let progress = TuneProgress::new(mode, stop_on_signals()?);
    let outcome = measure(&request, tuning, &progress, &mut |standing| progress.standing(standing));
    progress.finish();
    let outcome = outcome?;
    // What was measured is kept and shown, whatever becomes of its files.
    let named = args.load.profiles.as_deref();
    let (keeping, unkept) = match keep(&outcome, &request, named, profiles.as_deref()) {
        Ok(keeping) => (keeping, None),
        Err(error) => (format!("not kept: {}", error.what()), Some(error)),
    };
    let (paths, unwritten) = match report.write(&outcome) {
        Ok(paths) => (paths, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let interrupted = outcome.was_interrupted().then(|| {
        let what = match &unwritten {
            Some(error) => format!("interrupted; {}", error.what()),
            None => "interrupted; what is known is in the report".to_owned(),
        };
        Error::new(Kind::Interrupted, what)
    });
    let failure = interrupted.or(unwritten).or(unkept).map(anyhow::Error::from);
    shown(&outcome, &paths, &keeping, failure.as_ref(), args)?;
    match failure {
        Some(failure) => Err(failure.context(Answered)),
        None => Ok(0),
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
    named: Option<&Path>,
    path: Option<&Path>,
) -> inrush::Result<String> {
    let is_open = request.strategy.is_none()
        && request.knobs.is_empty()
        && request.lanes.is_none()
        && request.encoders.is_none()
        && request.chunk_bytes.is_none();
    Ok(match (outcome.profile(), path) {
        (_, None) if named.is_some() => "not kept: --profiles none".to_owned(),
        (None, _) if outcome.was_interrupted() => "not kept: interrupted".to_owned(),
        (None, _) => "not kept: too little was measured".to_owned(),
        (Some(_), _) if !is_open => {
            "not kept: options of yours were not varied, and a load that leaves them open has others"
                .to_owned()
        }
        (Some(_), None) => "not kept: no folder of settings is known, and --profiles names no file".to_owned(),
        // What has come to the file or left it meanwhile is not to be undone.
        (Some(profile), Some(path)) => match Profiles::hold(path) {
            Err(why) => not_kept(&why),
            Ok(mut profiles) => {
                profiles.keep(profile);
                profiles.write()?;
                // Without it load refuses a table that holds rows.
                let option = match outcome.if_exists {
                    measured if measured == request.if_exists.word() => String::new(),
                    measured => format!(" --if-exists {measured}"),
                };
                format!("kept in {}: inrush load{option} goes by it", path.display())
            }
        },
    })
}

/// Says what was found, and where it is; and for programs what of it failed.
fn shown(
    outcome: &Outcome,
    paths: &[PathBuf],
    keeping: &str,
    failure: Option<&anyhow::Error>,
    args: &TuneArgs,
) -> Result<()> {
    if args.load.json {
        let mut object = serde_json::to_value(outcome)?;
        object["report"] = serde_json::json!(paths);
        object["profile"] = serde_json::json!(keeping);
        if let Some(failure) = failure {
            object["error"] = render::failure_object(failure, false);
        }
        print(&format!("{object}\n"))?;
        return Ok(());
    }
    if args.load.shown.quiet {
        return Ok(());
    }
    print(&render::tuned(outcome))?;
    let report = paths.last().map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    print(&format!("report: {report}\n{keeping}\n{}\n", outcome.sentence))
}

/// Shows, prints or forgets profiles.
fn kept(args: &TuneArgs, path: Option<&Path>) -> Result<u64> {
    let path = path.ok_or_else(|| {
        let why = match &args.load.profiles {
            Some(_) => "--profiles none: nothing is kept there",
            None => "no folder of settings is known",
        };
        Error::usage(why).advise("--profiles FILE names the file")
    })?;
    let unreadable = |what: &str, why: String| {
        Error::target(format!("{what}: {why}"))
            .advise(format!("remove {} to forget all that it holds", path.display()))
    };
    if let Some(target) = &args.forget {
        let mut profiles =
            Profiles::hold(path).map_err(|why| unreadable("nothing is forgotten", why))?;
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
        if gone > 0 {
            profiles.write()?;
        }
        print(&match args.load.json {
            true => format!("{}\n", serde_json::json!({ "forgotten": gone })),
            false if !path.exists() => {
                format!("forgot 0 profiles: there is no file {}\n", path.display())
            }
            false => format!("forgot {}\n", render::counted(gone as u64, "profile")),
        })?;
        return Ok(0);
    }
    let profiles =
        Profiles::read(path).map_err(|why| unreadable("what was measured can't be read", why))?;
    print(&match () {
        () if args.export => profiles.text()?,
        () if args.load.json => serde_json::to_string(&profiles)? + "\n",
        () => render::profiles(&profiles),
    })?;
    Ok(0)
}
