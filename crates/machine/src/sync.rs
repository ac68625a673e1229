//! How long a disk takes to keep what is written.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::disk::mount_of;

/// Bytes of each write: a page of a redo log, and the least that most file systems write.
const BLOCK_BYTES: usize = 4096;

/// Writes blocks of an empty file once, so that their space exists as a redo log's does, and then again, each with a sync; how long
/// each of these took, up to `writes` of them, and none that would begin after `longest`.
///
/// # Errors
/// When the file can't be written or synced.
pub fn sync_times(file: &mut File, writes: usize, longest: Duration) -> io::Result<Vec<Duration>> {
    let block = [0x5a; BLOCK_BYTES];
    for _ in 0..writes {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let (mut times, begin) = (Vec::with_capacity(writes), Instant::now());
    while times.len() < writes && begin.elapsed() <= longest {
        let start = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// A file in this folder that has no name and goes when it is closed: the folder stays as it is, to its times. `None` where the file system
/// has no such files, and on btrfs, which doesn't sync them.
pub fn nameless(folder: &Path) -> Option<File> {
    if mount_of(folder).is_some_and(|mount| mount.kind == "btrfs") {
        return None;
    }
    open_nameless(folder)
}

#[cfg(target_os = "linux")]
fn open_nameless(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(folder).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_nameless(_folder: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_probed_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let before = folder.path().metadata().unwrap().modified().unwrap();
        if let Some(mut file) = nameless(folder.path()) {
            assert_eq!(sync_times(&mut file, 3, Duration::from_secs(60)).unwrap().len(), 3);
        }
        assert_eq!(folder.path().metadata().unwrap().modified().unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
