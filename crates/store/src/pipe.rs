//! Standard input, other pipes and connections, read so that a load can be stopped while nothing comes.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use crate::stop::{Stop, TICK, ended};

/// Blocks read ahead of the pipeline.
const BLOCKS: usize = 4;

/// Bytes in each; a pipe holds 64 KiB.
const BLOCK_BYTES: usize = 64 << 10;

/// What a pipe holds.
#[cfg(feature = "cloud")]
pub(crate) const PIPE_BYTES: u64 = ((BLOCKS + 2) * BLOCK_BYTES) as u64;

/// A pipe that can be looked at before it is read. A thread of its own waits in `read`, which nothing can interrupt; it
/// ends with the process.
#[derive(Debug)]
pub struct Pipe {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Cursor<Vec<u8>>,
    /// The thread, until its end has been seen.
    reader: Option<JoinHandle<()>>,
    stop: Stop,
}

impl Pipe {
    /// What is read ahead by a thread of its own.
    ///
    /// # Errors
    /// When the system starts no more threads.
    pub fn of(mut input: Box<dyn Read + Send>, stop: Stop) -> io::Result<Self> {
        let (to, blocks) = bounded(BLOCKS);
        let reader = thread::Builder::new().spawn(move || {
            loop {
                let mut block = vec![0; BLOCK_BYTES];
                let got = match input.read(&mut block) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    got => got,
                };
                let more = matches!(got, Ok(1..));
                let sent = to.send(got.map(|got| {
                    block.truncate(got);
                    block
                }));
                if !more || sent.is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { blocks, block: Cursor::default(), reader: Some(reader), stop })
    }

    /// The same, waited for until another flag is set.
    #[must_use]
    pub fn until(self, stop: &Stop) -> Self {
        Self { stop: Arc::clone(stop), ..self }
    }

    /// The first `bytes_max` bytes, or all if there are fewer. They come again when the pipe is read.
    ///
    /// # Errors
    /// When it can't be read, or `stop` is set meanwhile.
    pub fn peek(&mut self, bytes_max: usize, stop: &AtomicBool) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        while head.len() < bytes_max && self.wait(stop)? {
            let missing = (bytes_max - head.len()) as u64;
            self.block.by_ref().take(missing).read_to_end(&mut head)?;
        }
        let mut block = head.clone();
        block.extend_from_slice(&self.block.get_ref()[self.block.position() as usize..]);
        self.block = Cursor::new(block);
        Ok(head)
    }
}

impl Pipe {
    /// Waits until there is something to read; false at the end, an error once `stop` is set.
    fn wait(&mut self, stop: &AtomicBool) -> io::Result<bool> {
        while self.block.position() == self.block.get_ref().len() as u64 {
            match self.blocks.recv_timeout(TICK) {
                Ok(block) => self.block = Cursor::new(block?),
                Err(RecvTimeoutError::Timeout) if stop.load(Relaxed) => {
                    return Err(io::ErrorKind::Other.into());
                }
                Err(RecvTimeoutError::Timeout) => continue,
                // The thread has passed on the end, or its error, and is gone; or it has panicked, and what it has read is not all.
                Err(RecvTimeoutError::Disconnected) => {
                    self.reader.take().into_iter().for_each(ended);
                    return Ok(false);
                }
            }
            if self.block.get_ref().is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let stop = Arc::clone(&self.stop);
        if self.wait(&stop)? { self.block.read(out) } else { Ok(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte, and then panics.
    struct Broken(bool);

    impl Read for Broken {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            assert!(!std::mem::replace(&mut self.0, true), "broken");
            out[0] = b'a';
            Ok(1)
        }
    }

    #[test]
    fn what_a_thread_that_panics_has_read_is_not_taken_for_all() {
        let read = |mut pipe: Pipe| {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        };
        let whole = Pipe::of(Box::new(io::Cursor::new(b"ab")), Stop::default()).unwrap();
        assert_eq!(read(whole).unwrap(), b"ab");
        let broken = Pipe::of(Box::new(Broken(false)), Stop::default()).unwrap();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(broken))).is_err());
    }

    #[test]
    fn a_pipe_is_waited_for_until_the_last_flag_that_it_was_given() {
        struct Silent;
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                loop {
                    thread::park();
                }
            }
        }
        let (first, second) = (Stop::default(), Stop::default());
        let mut pipe = Pipe::of(Box::new(Silent), first).unwrap().until(&second);
        second.store(true, Relaxed);
        assert!(pipe.read(&mut [0]).is_err());
    }
}
