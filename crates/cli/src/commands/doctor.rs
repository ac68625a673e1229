//! `inrush doctor`.

use anyhow::Result;
use inrush::Request;

use super::{print, stop_on_signals};
use crate::args::DoctorArgs;
use crate::render::{self, ProgressMode};

/// Says what puts data at risk or holds loads back; whether data is at risk.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<bool> {
    let request = Request {
        sources: args.sources.clone(),
        target: args.target.clone(),
        ..Request::default()
    };
    let observer = render::Progress::new(ProgressMode::None, stop_on_signals()?, true);
    let diagnosis = inrush::doctor(&request, &observer)?;
    if args.json {
        print(&(serde_json::to_string(&diagnosis)? + "\n"))?;
    } else {
        print(&render::diagnosis(&diagnosis, args.quiet))?;
    }
    Ok(diagnosis.has_risk())
}
