//! Inputs of text, as chunks of whole records.

use inrush_core::encode::{BadValue, Encode, EncodeRow, Grammar, Row};
use inrush_core::error::{Error, Result};

use crate::Source;
use inrush_core::cut::{ChunkReader, Next, RECORD_BYTES_MAX};
use inrush_core::flow::{Chunk, Encoded, Meter, Origin, Part, Point, Wire};
use inrush_core::flow::{Feeder, Slot};

/// Feeds every input of `source` into the pipeline, in order, as chunks of about `chunk_bytes`: what comes behind `from`.
pub(crate) fn feed(
    source: &Source,
    chunk_bytes: usize,
    from: &Point,
    meter: &Meter,
    feeder: &mut dyn Feeder,
) -> Result<()> {
    // The end of an input is found with a slot in hand, which is the next one's: there are but a few.
    let mut spare = None;
    for file in from.file as usize..source.inputs.len() {
        let from = if file == from.file as usize { *from } else { Point::default() };
        if !feed_input(source, file, from, chunk_bytes, meter, feeder, &mut spare)? {
            break;
        }
    }
    Ok(())
}

/// False when the pass is over before the input is.
fn feed_input(
    source: &Source,
    file: usize,
    from: Point,
    chunk_bytes: usize,
    meter: &Meter,
    feeder: &mut dyn Feeder,
    spare: &mut Option<Slot>,
) -> Result<bool> {
    let input = &source.inputs[file];
    let mut byte = from.byte.max(input.body_at);
    let mut first = byte == input.body_at;
    let cutter = source.grammar.cutter(file, !first);
    let mut counter = source.counter();
    let mut records = input.records_before + from.records;
    let mut reader =
        ChunkReader::cutting(source.open_at(file, byte, meter, feeder.halt())?, cutter);
    loop {
        let Some(mut slot) = spare.take().or_else(|| feeder.take()) else { return Ok(false) };
        let bytes = &mut slot.chunk.bytes;
        match reader.next(bytes, chunk_bytes).map_err(|error| input.read_error(&error))? {
            Next::Chunk => {}
            Next::End => {
                *spare = Some(slot);
                return Ok(true);
            }
            Next::TooLong => return Err(input.too_long(byte, &source.grammar)),
        }
        let end = bytes.len() as u64;
        meter.add_read(end);
        slot.chunk.origin = Origin { file: file as u32, byte, records, ..Origin::default() };
        slot.chunk.part = Part { first, last: reader.is_over };
        if let Some(counter) = &mut counter {
            records += counter.count(&slot.chunk);
        }
        first = false;
        byte += end;
        if !feeder.give(slot) {
            return Ok(false);
        }
    }
}

/// Counts the records of chunks, before anybody has looked at them.
struct Counter {
    encoder: Box<dyn Encode>,
    encoded: Encoded,
}

impl Counter {
    fn count(&mut self, chunk: &Chunk) -> u64 {
        self.encoded.clear();
        self.encoder.encode(chunk, &mut self.encoded);
        u64::from(self.encoded.records)
    }
}

/// Takes rows, and does nothing with them.
struct Nothing;

impl EncodeRow for Nothing {
    fn row<R: Row>(&mut self, _row: &R, _wire: &mut Wire) -> std::result::Result<(), BadValue<'_>> {
        Ok(())
    }
}

impl Source {
    /// Where values depend on their row's number, what tells it.
    fn counter(&self) -> Option<Counter> {
        let encoder = || self.looker(0, Nothing);
        let counts = self.read.columns.counts_rows();
        counts.then(|| Counter { encoder: encoder(), encoded: Encoded::default() })
    }
}

impl crate::Input {
    pub(super) fn too_long(&self, byte: u64, grammar: &Grammar) -> Error {
        let error = Error::source(format!(
            "{}: the record at byte {byte} is longer than {} MiB, the most a record may have",
            self.name,
            RECORD_BYTES_MAX >> 20
        ));
        match grammar.dialect() {
            None => error.advise("check that it ends, and --encoding"),
            Some(dialect) => {
                let error = error.advise("check --delimiter, --quote and --encoding");
                match dialect.quote {
                    Some(_) if self.is_quoted => {
                        error.advise("or its quote is never closed: fix the line")
                    }
                    Some(_) => error.advise("or its quote is never closed: --quote none"),
                    None => error,
                }
            }
        }
    }
}
