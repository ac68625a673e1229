//! What is particular to one family of servers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::installed::Places;
use super::place::Place;
use inrush_core::Result;

/// A setting of a server, as its documentation spells it without the dashes, and its value. See
/// [`Server::start`](super::Server::start) for one without a value.
pub(super) type Setting = (String, String);

/// The longest that a data directory may take to make. MySQL 8.0 needs 5 s, MariaDB 10.11 0.6 s or, for its 800 syncs on a busy disk, 3 s.
pub(super) const INITIALISE_MAX: Duration = Duration::from_secs(180);

/// A program as a package that is installed anew would not have it: path, size and time.
pub(super) fn identity(program: &Path) -> String {
    let metadata = program.metadata().map(|metadata| (metadata.len(), metadata.modified().ok()));
    format!("{} {:?}", program.display(), metadata.ok())
}

/// A server that can be asked for, whether or not it is here.
pub(super) trait Offer: Sync {
    /// The name to ask by.
    fn name(&self) -> &'static str;

    /// The name of the target that loads into it.
    fn family(&self) -> &'static str;

    /// # Errors
    /// When it is not here; the message says where it was looked for.
    fn find(&'static self, places: &Places) -> Result<Arc<dyn Software>>;
}

/// One installed server program. A server's life:
///
/// 1. `prepare` makes the folders, `make_data` the data directory, once.
/// 2. `command` runs in the foreground, its log on standard error, until `stop_signal` ends it in good order.
/// 3. `answers` is asked again and again, until a client would be served.
/// 4. After a stop or a crash, 2 and 3 again.
pub(super) trait Software: fmt::Debug + Send + Sync {
    /// Makes what `place` has besides the data directory, and gives it to whom the server runs as.
    ///
    /// # Errors
    /// When it can't be made, or the path is too long for a socket.
    fn prepare(&self, place: &Place) -> Result<()>;

    /// Makes the data directory in `place`. Of the settings those matter that shape it.
    ///
    /// # Errors
    /// With the program's own last words when it fails.
    fn make_data(&self, place: &Place, settings: &[Setting]) -> Result<()>;

    /// All that a data directory depends on, so that two with the same are as good as one; `None` where making one costs no more than
    /// a copy.
    fn shaped_by(&self, settings: &[Setting]) -> Option<String>;

    /// The server on the data directory of `place`, listening on `port` of 127.0.0.1 and on its socket.
    fn command(&self, place: &Place, port: u16, settings: &[Setting]) -> Command;

    /// Whether a client would be served now, by process `pid`.
    fn answers(&self, place: &Place, port: u16, pid: u32) -> bool;

    /// What ends it soon, and in good order, whoever is connected.
    fn stop_signal(&self) -> i32 {
        libc::SIGTERM
    }

    /// Where clients on the same machine connect.
    fn socket(&self, place: &Place, port: u16) -> PathBuf;

    /// The server as a target: without a database, or with the one that every server has.
    fn url(&self, place: &Place, port: u16) -> String;

    /// The same by TCP alone, at `port` of 127.0.0.1, and without TLS.
    fn tcp_url(&self, port: u16) -> String;

    /// What loads need that is not its default, and nothing that makes it faster or slower.
    fn bench_settings(&self) -> Vec<Setting>;

    /// What tests start it with.
    fn test_settings(&self) -> Vec<Setting>;
}
