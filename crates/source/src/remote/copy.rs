//! A copy of a file that can only be read from its start, for formats that are read from their end.

use std::fs::File;
use std::io::{self, Read};

use crate::stored::Fault;

/// A private file that is gone with the process.
#[derive(Debug)]
pub(super) struct Copied {
    file: File,
    bytes: u64,
}

impl Copied {
    pub(super) fn of(mut whole: impl Read, name: &str) -> io::Result<Self> {
        let no_room = |error: &io::Error| {
            let folder = std::env::temp_dir();
            Fault::new(format!(
                "{name} can only be read from its start, and no copy can be made in {}: {error}",
                folder.display()
            ))
            .advise("TMPDIR=FOLDER names another folder")
        };
        let mut file = tempfile::tempfile().map_err(|error| no_room(&error))?;
        let bytes =
            io::copy(&mut whole, &mut file).map_err(|error| match error.raw_os_error() {
                Some(_) => no_room(&error).into(),
                None => error,
            })?;
        Ok(Self { file, bytes })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// So many bytes from `at` on; fewer only at the end.
    pub(super) fn read_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut got = 0;
        while got < length {
            match self.some(at + got as u64, &mut bytes[got..])? {
                0 => break,
                more => got += more,
            }
        }
        bytes.truncate(got);
        Ok(bytes)
    }

    #[cfg(unix)]
    fn some(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, out, at)
    }

    #[cfg(windows)]
    fn some(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, out, at)
    }
}
