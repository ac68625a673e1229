//! A copy of a file, for what is read from anywhere and can not be had by parts: archives and workbooks over the network, Parquet of
//! servers without ranges, Parquet and Arrow files within archives.

use std::fs::File;
use std::io::{self, Read};

use inrush_core::wording;

use crate::stored::Fault;

/// A private file that is gone with the process.
#[derive(Debug)]
pub struct Copied {
    file: File,
    bytes: u64,
}

impl Copied {
    /// Copies all of it, of which `said` bytes are to come, into `TMPDIR`. Where those have no room nothing is fetched.
    ///
    /// # Errors
    /// When it can't be read, or there is no room for it.
    pub fn of(mut whole: impl Read, said: Option<u64>, name: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir();
        let no_room = |why: &str| {
            Fault::new(format!(
                "{name} has to be copied to be read, and that fails in {}: {why}",
                folder.display()
            ))
            .advise("TMPDIR=FOLDER names another folder")
        };
        let mut file = tempfile::tempfile().map_err(|error| no_room(&error.to_string()))?;
        if let (Some(said), Some(free)) = (said, free_bytes(&file))
            && said > free
        {
            let (said, free) = (wording::bytes(said), wording::bytes(free));
            return Err(no_room(&format!("it takes {said}, and {free} are free")).into());
        }
        let bytes =
            io::copy(&mut whole, &mut file).map_err(|error| match error.raw_os_error() {
                Some(_) => no_room(&error.to_string()).into(),
                None => error,
            })?;
        Ok(Self { file, bytes })
    }

    /// How many there are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// So many bytes from `at` on; fewer only at the end.
    ///
    /// # Errors
    /// As the file system says.
    pub fn read_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
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

/// What the file system of a file has room for; `None` where it doesn't say.
#[cfg(unix)]
fn free_bytes(file: &File) -> Option<u64> {
    let room = rustix::fs::fstatvfs(file).ok()?;
    Some(room.f_bavail.saturating_mul(room.f_frsize))
}

#[cfg(windows)]
fn free_bytes(_: &File) -> Option<u64> {
    None
}
