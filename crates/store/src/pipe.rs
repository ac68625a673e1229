//! Standard input, other pipes and connections, read so that a load can be stopped while nothing comes.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use crate::stop::{Stop, TICK};

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
    abandoned: Stop,
}

impl Pipe {
    /// What is read ahead by a thread of its own.
    pub fn of(mut input: Box<dyn Read + Send>, abandoned: Stop) -> Self {
        let (to, blocks) = bounded(BLOCKS);
        thread::spawn(move || {
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
        });
        Self { blocks, block: Cursor::default(), abandoned }
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
                // The thread has passed on the end, or its error, and is gone.
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
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
        let abandoned = Arc::clone(&self.abandoned);
        if self.wait(&abandoned)? { self.block.read(out) } else { Ok(0) }
    }
}
