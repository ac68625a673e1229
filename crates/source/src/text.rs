//! Inputs of text, as chunks of whole records.

use inrush_core::error::{Error, Result};

use crate::Source;
use inrush_core::cut::{ChunkReader, Next, RECORD_BYTES_MAX};
use inrush_core::flow::Feeder;
use inrush_core::flow::{Meter, Origin, Part, Point};

/// Feeds every input of `source` into the pipeline, in order, as chunks of about `chunk_bytes`: what comes behind `from`.
pub(crate) fn feed(
    source: &Source,
    chunk_bytes: usize,
    from: &Point,
    meter: &Meter,
    feeder: &mut dyn Feeder,
) -> Result<()> {
    for file in from.file as usize..source.inputs.len() {
        let byte = if file == from.file as usize { from.byte } else { 0 };
        if !feed_input(source, file, byte, chunk_bytes, meter, feeder)? {
            break;
        }
    }
    Ok(())
}

/// False when the pass is over before the input is.
fn feed_input(
    source: &Source,
    file: usize,
    from: u64,
    chunk_bytes: usize,
    meter: &Meter,
    feeder: &mut dyn Feeder,
) -> Result<bool> {
    let input = &source.inputs[file];
    let mut byte = from.max(input.body_at);
    let mut first = byte == input.body_at;
    let cutter = source.grammar.cutter(file, !first);
    let mut reader = ChunkReader::cutting(source.open_at(file, byte, meter)?, cutter);
    loop {
        let Some(mut slot) = feeder.take() else { return Ok(false) };
        let bytes = &mut slot.chunk.bytes;
        match reader.next(bytes, chunk_bytes).map_err(|error| input.read_error(&error))? {
            Next::Chunk => {}
            Next::End => return Ok(true),
            Next::TooLong => return Err(input.too_long(byte)),
        }
        let end = bytes.len() as u64;
        meter.add_read(end);
        slot.chunk.origin = Origin { file: file as u32, byte, ..Origin::default() };
        slot.chunk.part = Part { first, last: reader.is_over };
        first = false;
        byte += end;
        if !feeder.give(slot) {
            return Ok(false);
        }
    }
}

impl crate::Input {
    pub(super) fn too_long(&self, byte: u64) -> Error {
        Error::source(format!(
            "{}: the record at byte {byte} is longer than {} MiB, the most a record may have",
            self.name,
            RECORD_BYTES_MAX >> 20
        ))
        .advise("check --delimiter, --quote and --encoding")
    }
}
