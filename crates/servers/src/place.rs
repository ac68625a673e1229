//! A private directory, as each server has one.

use std::fs::{self, DirBuilder};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::keeper::{Keeper, Will};
use inrush_core::{Error, Result};

/// A directory that only its owner may enter. It is removed with everything in it when this goes, or when we are killed.
#[derive(Debug)]
pub struct Place {
    directory: PathBuf,
    is_root: bool,
    /// `None` where there is no shell: then what a kill leaves, stays.
    keeper: Option<Keeper>,
}

impl Place {
    /// Makes one in `parent`.
    ///
    /// # Errors
    /// When `parent` can't be written.
    pub fn create(parent: &Path) -> Result<Self> {
        Self::create_in(parent).map_err(|error| {
            Error::target(format!("can't make a directory in {}: {error}", parent.display()))
                .advise("TMPDIR names another place for it")
        })
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let parent = parent.canonicalize()?;
        loop {
            let count = COUNT.fetch_add(1, Relaxed);
            let directory = parent.join(format!("inrush-place-{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&directory) {
                // Left by a process that was killed, and had our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    // We made it, so it is ours, and its owner is who we are.
                    let is_root = fs::metadata(&directory)?.uid() == 0;
                    let keeper = Keeper::of(&directory).ok();
                    return Ok(Self { directory, is_root, keeper });
                }
            }
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Who is told which process works in it.
    pub(super) fn will(&self) -> Will {
        self.keeper.as_ref().map(Keeper::will).unwrap_or_default()
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// What the server itself reads and writes for its clients.
    pub(super) fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// What the server and the programs that prepare it say on standard error.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Whether we are root, which most servers want to be told, and some refuse to be.
    pub(super) fn is_root(&self) -> bool {
        self.is_root
    }

    /// Makes it another user's, with what is in it so far; root may do so.
    ///
    /// # Errors
    /// When we are not root, or it can't be read.
    pub(super) fn give_to(&self, user: u32, group: u32) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            chown(entry?.path(), Some(user), Some(group))?;
        }
        chown(&self.directory, Some(user), Some(group))
    }

    /// The numbers of the user and the group that it belongs to.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn owner(&self) -> io::Result<(u32, u32)> {
        let metadata = fs::metadata(&self.directory)?;
        Ok((metadata.uid(), metadata.gid()))
    }

    /// The end of the log, at most 12 lines, indented for a message. Empty if there is none.
    pub(super) fn last_words(&self) -> String {
        const LINES_MAX: usize = 12;
        let tail = read_tail(&self.log()).unwrap_or_default();
        let text = String::from_utf8_lossy(&tail);
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
        last.iter().map(|line| format!("\n    {line}")).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nobody is left to tell; a directory too many in the temporary ones harms nobody.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Copies a folder with all that is in it; what a symbolic link means, not the link.
///
/// # Errors
/// When something can't be read, or `to` is there.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The last bytes of a file: a server's log has no bound.
fn read_tail(path: &Path) -> io::Result<Vec<u8>> {
    const BYTES_MAX: u64 = 16 << 10;
    let mut file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES_MAX)))?;
    let mut tail = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut tail)?;
    Ok(tail)
}
