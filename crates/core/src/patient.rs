//! Standard input and output as they are, without buffers of this process, and also where they don't block: other programs leave pipes
//! so, and the mark is the pipe's, not ours to take away.

use std::fs::File;
use std::io::{self, Read, Write};

/// A handle of its own to a standard stream, without its buffer.
///
/// # Errors
/// When the system has no handle left.
#[cfg(unix)]
pub fn unbuffered(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

/// The same of Windows.
///
/// # Errors
/// When the system has no handle left.
#[cfg(windows)]
pub fn unbuffered(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(File::from(stream.as_handle().try_clone_to_owned()?))
}

/// Whether the process was started with standard output closed. Rust opens `/dev/null` in its place, which takes everything.
#[must_use]
pub fn stdout_was_closed() -> bool {
    started::CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

mod started {
    use std::sync::atomic::AtomicBool;

    pub(super) static CLOSED: AtomicBool = AtomicBool::new(false);

    /// Run by the loader, before Rust's own start. A Python that runs us has kept the stream as it was.
    #[cfg(target_os = "linux")]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = {
        extern "C" fn look() {
            // SAFETY: the call takes any number, and says whether it is an open file's.
            let closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0;
            CLOSED.store(closed, std::sync::atomic::Ordering::Relaxed);
        }
        look
    };
}

/// Waits where what is within would say that there is nothing to read yet, or no room to write.
#[derive(Debug)]
pub struct Patient<F>(pub F);

#[cfg(unix)]
mod poll {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io;
    use std::os::fd::AsFd;

    pub(super) trait Wait: AsFd + Sized {
        /// Waits until there is something to read, or room to write.
        fn wait(&self, is_write: bool) -> io::Result<()> {
            let flags = if is_write { PollFlags::OUT } else { PollFlags::IN };
            match poll(&mut [PollFd::new(self, flags)], None) {
                Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
                _ => Ok(()),
            }
        }
    }

    impl<F: AsFd> Wait for F {}
}

#[cfg(not(unix))]
mod poll {
    use std::io;

    pub(super) trait Wait {
        fn wait(&self, _is_write: bool) -> io::Result<()> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    impl<F> Wait for F {}
}

impl<F: Read + poll::Wait> Read for Patient<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.0.wait(false)?,
                done => return done,
            }
        }
    }
}

impl<F: Write + poll::Wait> Write for Patient<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.0.wait(true)?,
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
