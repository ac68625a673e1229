//! What the doctor's changes are worth: the same rows into two private databases, one as it is and one as it should be, in pairs.
//!
//! ```text
//! finding -> twin as it is, twin with the change -> rows (the user's, or like a table's) -> load, load, load ... -> paired ratio
//! ```

mod rows;
pub(crate) mod twin;

use std::time::{Duration, Instant};

use inrush::doctor::{Copy, Diagnosis, Finding, Severity, Trial, Worth};
use inrush::{Error, Kind, Observer, Request, Result};
use inrush_findings::stats;
use inrush_servers::Place;

use rows::Sample;
use twin::{Ground, Twin};

/// How long one change is measured at most, and all of them.
const CHANGE_MAX: Duration = Duration::from_secs(60);
const ALL_MAX: Duration = Duration::from_secs(300);

/// With less time than this a change is not begun.
const CHANGE_MIN: Duration = Duration::from_secs(15);

/// Pairs: the interval of fewer says nothing, and that of more is hardly narrower.
const PAIRS_MIN: usize = 3;
const PAIRS_MAX: usize = 11;

/// Measures what each change is worth that would make loads faster and can be tried out, and writes it into the findings; what could not
/// be measured is not known, with the reason. `told` hears of each when it begins.
///
/// # Errors
/// When the user stops it.
pub fn measure(
    request: &Request,
    diagnosis: &mut Diagnosis,
    observer: &dyn Observer,
    told: &mut dyn FnMut(&str),
) -> Result<()> {
    let began = Instant::now();
    let before = diagnosis.seconds;
    let is_meant =
        |finding: &&mut Finding| finding.severity == Severity::Slow && finding.trial.is_some();
    let ground = Ground::of(request, &diagnosis.version, &diagnosis.settings);
    let mut as_it_is = None;
    for finding in diagnosis.findings.iter_mut().filter(is_meant) {
        let left = ALL_MAX.saturating_sub(began.elapsed());
        if left < CHANGE_MIN {
            diagnosis.not_known.push(format!("what {} is worth: 5 minutes were over", finding.id));
            continue;
        }
        told(&format!("measuring {}, {}", finding.id, finding.object));
        let deadline = Instant::now() + left.min(CHANGE_MAX);
        match try_out(request, finding, &ground, &mut as_it_is, deadline, observer) {
            Ok(worth) => finding.worth = worth,
            Err(error) if error.kind() == Kind::Interrupted => return Err(error),
            Err(error) => {
                let advice: Vec<&str> = error.advice().iter().map(String::as_str).collect();
                let why = [&[error.what()], &advice[..]].concat().join("; ");
                let unknown = format!("what {} is worth: {why}", finding.id);
                if !diagnosis.not_known.contains(&unknown) {
                    diagnosis.not_known.push(unknown);
                }
            }
        }
    }
    diagnosis.seconds = before + began.elapsed().as_secs_f64();
    Ok(())
}

/// Pairs of loads until the time is over, or there are enough of them.
fn try_out(
    request: &Request,
    finding: &Finding,
    ground: &Result<Ground>,
    as_it_is: &mut Option<Twin>,
    deadline: Instant,
    observer: &dyn Observer,
) -> Result<Worth> {
    let ground = match ground {
        Ok(ground) => ground,
        Err(error) => {
            let same = Error::target(error.what());
            return Err(error.advice().iter().fold(same, Error::advise));
        }
    };
    let trial = finding.trial.as_ref().ok_or_else(|| Error::target("it can't be tried out"))?;
    let folder = Place::create(&std::env::temp_dir())?;
    let copy = match trial {
        Trial::Statements(table) => ground.copy(request, table.as_deref(), observer)?,
        Trial::Settings(_) | Trial::Sizes(_) => Copy::default(),
    };
    let table = copy.table.clone();
    let sample = match &table {
        Some(table) => Sample::like(request, table, &copy, ground, folder.directory(), observer)?,
        None => Sample::of(request, folder.directory())?,
    };
    if matches!(trial, Trial::Sizes(_)) && !sample.is_whole {
        return Err(Error::target("it shows with a whole load only")
            .advise("name a source of at most 64 MB, or measure the load itself"));
    }
    let mut changed = match trial {
        Trial::Settings(settings) | Trial::Sizes(settings) => {
            ground.twin(settings, &copy, &[], observer)?
        }
        Trial::Statements(_) => ground.twin(&[], &copy, &finding.statements, observer)?,
    };
    let plain = match (trial, as_it_is) {
        (Trial::Statements(_), _) => &mut ground.twin(&[], &copy, &[], observer)?,
        (_, Some(twin)) => twin,
        (_, none) => none.insert(ground.twin(&[], &copy, &[], observer)?),
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut longest = Duration::ZERO;
    while before.len() < PAIRS_MAX && Instant::now() + longest < deadline {
        let began = Instant::now();
        // The first of a pair may find another machine than the second.
        let is_turned = before.len() % 2 == 1;
        let one = |twin: &mut Twin, rates: &mut Vec<f64>| -> Result<()> {
            rates.push(twin.rate(&sample, table.as_deref(), observer)?);
            Ok(())
        };
        if is_turned {
            one(&mut changed, &mut after)?;
            one(plain, &mut before)?;
        } else {
            one(plain, &mut before)?;
            one(&mut changed, &mut after)?;
        }
        longest = longest.max(began.elapsed());
    }
    // The first pair makes files and fills caches.
    let counted = 1.min(before.len().saturating_sub(PAIRS_MIN));
    let (before, after) = (&before[counted..], &after[counted..]);
    if before.len() < PAIRS_MIN {
        return Err(Error::target(format!(
            "{} pairs of loads fit into the time, and {PAIRS_MIN} are needed",
            before.len()
        ))
        .advise("name a smaller source"));
    }
    let blocks: Vec<u32> = (0..).take(before.len()).collect();
    let (before, after) = (stats::summary(before, &blocks), stats::summary(after, &blocks));
    let ratio = stats::paired(&after, &before)
        .ok_or_else(|| Error::target("the loads took no time that could be compared"))?;
    Ok(Worth {
        ratio: Some(ratio.value),
        low: Some(ratio.low),
        high: Some(ratio.high),
        measured: true,
    })
}
