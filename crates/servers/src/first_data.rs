//! First data directories: made for each server, or once and then copied, where `INRUSH_FIRST_DATA` names a folder to keep them in.
//!
//! MySQL 8.0 takes four seconds of a processor for one, PostgreSQL one, and tests start some sixty servers.

use std::fs::{self, DirBuilder, File, Permissions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};

use super::place::{Place, copy_folder};
use super::running::failed_to_initialise;
use super::software::{Setting, Software};
use inrush_core::Result;

/// Gives `place` its first data directory.
///
/// # Errors
/// When it can't be made; with the end of the log.
pub(super) fn give(
    name: &'static str,
    software: &dyn Software,
    place: &Place,
    settings: &[Setting],
) -> Result<()> {
    let folder = std::env::var_os("INRUSH_FIRST_DATA").filter(|folder| !folder.is_empty());
    match (folder, software.shaped_by(settings)) {
        (Some(folder), Some(shape)) => {
            let kept = Path::new(&folder).join(format!("{name}-{:016x}", hash(&shape)));
            give_kept(name, software, place, settings, &kept)
        }
        _ => software.make_data(place, settings),
    }
}

/// A copy of the one that is kept; the first makes it. Others, of this process or another, wait for it meanwhile.
fn give_kept(
    name: &'static str,
    software: &dyn Software,
    place: &Place,
    settings: &[Setting],
    kept: &Path,
) -> Result<()> {
    let failed = |error: io::Error| failed_to_initialise(name, &error, place);
    let lock = lock(kept).map_err(failed)?;
    if !kept.is_dir() {
        software.make_data(place, settings)?;
        return keep(&place.data(), kept).map_err(failed);
    }
    drop(lock);
    copy_folder(kept, &place.data()).and_then(|()| own(place)).map_err(failed)
}

fn lock(kept: &Path) -> io::Result<File> {
    if let Some(folder) = kept.parent().filter(|folder| !folder.is_dir()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let lock = File::options().create(true).append(true).open(kept.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// It gets the name when it is whole.
fn keep(data: &Path, kept: &Path) -> io::Result<()> {
    let part: PathBuf = kept.with_extension("part");
    if part.is_dir() {
        fs::remove_dir_all(&part)?;
    }
    copy_folder(data, &part)?;
    fs::rename(&part, kept)
}

/// The copy belongs to whom the place belongs to, and only they may enter it, which PostgreSQL insists on.
fn own(place: &Place) -> io::Result<()> {
    fn give(path: &Path, owner: (u32, u32)) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path)?;
        if (metadata.uid(), metadata.gid()) != owner {
            lchown(path, Some(owner.0), Some(owner.1))?;
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(path)? {
                give(&entry?.path(), owner)?;
            }
        }
        Ok(())
    }
    fs::set_permissions(place.data(), Permissions::from_mode(0o700))?;
    give(&place.data(), place.owner()?)
}

fn hash(shape: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    shape.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    /// Counts the data directories that it makes.
    #[derive(Debug, Default)]
    struct Counting(AtomicU32);

    impl Software for Counting {
        fn prepare(&self, _place: &Place) -> Result<()> {
            Ok(())
        }

        fn make_data(&self, place: &Place, _settings: &[Setting]) -> Result<()> {
            self.0.fetch_add(1, Relaxed);
            fs::create_dir(place.data()).unwrap();
            fs::create_dir(place.data().join("inner")).unwrap();
            fs::write(place.data().join("inner/table"), "rows").unwrap();
            Ok(())
        }

        fn shaped_by(&self, _settings: &[Setting]) -> Option<String> {
            Some(String::new())
        }

        fn command(&self, _place: &Place, _port: u16, _settings: &[Setting]) -> Command {
            unreachable!("nothing is started")
        }

        fn answers(&self, _place: &Place, _port: u16, _pid: u32) -> bool {
            false
        }

        fn socket(&self, place: &Place, _port: u16) -> PathBuf {
            place.directory().join("socket")
        }

        fn url(&self, _place: &Place, _port: u16) -> String {
            String::new()
        }

        fn tcp_url(&self, _port: u16) -> String {
            String::new()
        }

        fn bench_settings(&self) -> Vec<Setting> {
            Vec::new()
        }

        fn test_settings(&self) -> Vec<Setting> {
            Vec::new()
        }
    }

    #[test]
    fn the_first_is_made_and_the_others_are_copies() {
        let parent = tempfile::tempdir().unwrap();
        let kept = parent.path().join("folder/name-0");
        let software = Counting::default();
        // What one that was killed has left half.
        fs::create_dir_all(kept.with_extension("part")).unwrap();
        let places: Vec<Place> = std::thread::scope(|scope| {
            let give = || {
                let place = Place::create(parent.path()).unwrap();
                give_kept("counting", &software, &place, &[], &kept).unwrap();
                place
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(give)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(software.0.load(Relaxed), 1);
        for place in &places {
            let rows = fs::read_to_string(place.data().join("inner/table")).unwrap();
            assert_eq!(rows, "rows");
        }
        // A copy is nobody else's.
        fs::write(places[0].data().join("inner/table"), "changed").unwrap();
        assert_eq!(fs::read_to_string(kept.join("inner/table")).unwrap(), "rows");
    }
}
