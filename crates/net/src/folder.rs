//! Files that a server on this machine reads by itself.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{Error, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A directory for files that the server reads: others can't list it, and the names in it are not to be guessed. It goes with
/// all that is in it.
pub struct Folder {
    directory: PathBuf,
    files: u64,
}

impl Folder {
    /// Makes a directory of its own in `parent`.
    ///
    /// # Errors
    /// When it can't be made, with its path.
    pub fn make(parent: &Path) -> Result<Self, (PathBuf, Error)> {
        let process = std::process::id();
        let random = std::hash::BuildHasher::hash_one(
            &std::collections::hash_map::RandomState::new(),
            process,
        );
        // The process is named, so that whoever finds the directory of a load that was killed can tell whether it may go.
        let directory = parent.join(format!("inrush_{process}_{random:016x}"));
        let made = DirBuilder::new().mode(0o700).create(&directory).and_then(|()| {
            // The server runs as another user, and opens a file that it is told the name of.
            std::fs::set_permissions(&directory, Permissions::from_mode(0o711))
        });
        match made {
            Ok(()) => Ok(Self { directory, files: 0 }),
            Err(error) => Err((directory, error)),
        }
    }

    /// Puts the parts into a new file, and gives its path. Whoever has no more use for the file may remove it.
    ///
    /// # Errors
    /// When it can't be written, with its path.
    pub fn put(&mut self, parts: &[&[u8]]) -> Result<PathBuf, (PathBuf, Error)> {
        self.files += 1;
        let path = self.directory.join(format!("{}", self.files));
        let written =
            OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path).and_then(
                |mut file| {
                    // Whatever the umask says, the server has to read it.
                    file.set_permissions(Permissions::from_mode(0o644))?;
                    parts.iter().try_for_each(|part| file.write_all(part))
                },
            );
        match written {
            Ok(()) => Ok(path),
            Err(error) => Err((path, error)),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
