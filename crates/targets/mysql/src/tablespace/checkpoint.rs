//! Has MariaDB write down that the old file is gone: else its recovery after a crash may take what was logged of that for the new one,
//! and lose changes (measured on 10.11 and 11.4, with the server's own files too). MySQL needs none.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::said;
use crate::session::{Failure, Session};

/// "Unknown system variable".
const UNKNOWN_VARIABLE: u16 = 1193;

/// Share of changed pages in percent above which the server writes them out whatever else it does. At 0 it does so at once, and its
/// checkpoint follows.
const DIRTY_PAGES: &str = "innodb_max_dirty_pages_pct";

/// The lock of the load that has changed it.
const LOCK: &str = "'inrush_checkpoint'";

/// How often it is looked whether the checkpoint is taken.
const LOOK: Duration = Duration::from_millis(10);

/// After so many the setting is made once more.
const LOOKS_PER_SETTING: u32 = 100;

/// A server that takes longer for it has a disk or a load that leaves no hope.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Has the server take a checkpoint. One that can't be told to is given a reason: a setting is another one for as long as that
/// takes, and until it is as before, `before` says what it was, for [`restore`].
///
/// # Errors
/// When the server refuses, or takes none for five minutes.
pub(super) fn take(session: &mut Session<'_>, before: &Path) -> Result<(), Failure> {
    let version = session.value("SELECT VERSION()")?.unwrap_or_default();
    if !version.contains("MariaDB") {
        return Ok(());
    }
    match session.execute("SET GLOBAL innodb_log_checkpoint_now = ON") {
        Err(Failure::Server(refused)) if refused.code == UNKNOWN_VARIABLE => {}
        done => return done.map(drop),
    }
    // Two at once would take each other's setting for the server's.
    if session.value(&format!("SELECT GET_LOCK({LOCK}, {})", TIMEOUT.as_secs()))?.as_deref()
        != Some("1")
    {
        return Err(said("another load's checkpoint takes too long".to_owned()));
    }
    let taken = take_by_setting(session, before);
    let _ = session.execute(format!("DO RELEASE_LOCK({LOCK})"));
    taken
}

fn take_by_setting(session: &mut Session<'_>, before: &Path) -> Result<(), Failure> {
    let percent = session.value(&format!("SELECT @@GLOBAL.{DIRTY_PAGES}"))?.unwrap_or_default();
    let noted = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(before);
    noted
        .and_then(|mut file| file.write_all(percent.as_bytes()))
        .map_err(|error| said(format!("{} can't be written: {error}", before.display())))?;
    let taken = wait(session);
    if taken.is_err() {
        // A load that is stopped puts the setting back, too.
        session.unwatch();
    }
    if restore(session, before) {
        let _ = fs::remove_file(before);
    }
    taken
}

/// Sets what `before` says as it was; whether there is nothing left to be done. A file that says nothing of the kind is passed over.
pub(super) fn restore(session: &mut Session<'_>, before: &Path) -> bool {
    let percent = fs::read_to_string(before).ok().and_then(|text| text.parse::<f64>().ok());
    percent.is_none_or(|percent| {
        session.execute(format!("SET GLOBAL {DIRTY_PAGES} = {percent}")).is_ok()
    })
}

/// Has all that is in the log by now written to the files.
fn wait(session: &mut Session<'_>) -> Result<(), Failure> {
    let wanted = log_position(session, "Innodb_lsn_current")?;
    let begun = Instant::now();
    for look in 0_u32.. {
        if look.is_multiple_of(LOOKS_PER_SETTING) {
            // Again and again: a load that finds what a killed one has left sets it as it was.
            session.execute(format!("SET GLOBAL {DIRTY_PAGES} = 0"))?;
        }
        if log_position(session, "Innodb_lsn_last_checkpoint")? >= wanted {
            break;
        }
        if session.stopped() {
            return Err(Failure::Stopped);
        }
        if begun.elapsed() > TIMEOUT {
            return Err(said("the server takes no checkpoint".to_owned()));
        }
        sleep(LOOK);
    }
    Ok(())
}

fn log_position(session: &mut Session<'_>, name: &str) -> Result<u64, Failure> {
    let rows = session.table(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
    let position = rows.into_iter().flatten().nth(1).flatten();
    position
        .and_then(|position| position.parse().ok())
        .ok_or_else(|| said(format!("the server does not say {name}")))
}
