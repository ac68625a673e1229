//! Arrow IPC: files with a footer, and streams (<https://arrow.apache.org/docs/format/Columnar.html#format-ipc>).
//!
//! Their batches are as large as their writer made them; one is in memory as a whole, and goes on in slices that share it.

use std::fmt;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, StreamReader, read_footer_length};
use arrow_ipc::{Block, Footer, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};

use crate::columns::reading::Reading;
use crate::columns::{Failure, Take, slices};
use inrush_core::error::Error;
use inrush_core::guard::guarded;

/// The schema of a file.
pub(super) fn file_schema(file: impl Read + Seek) -> Result<Schema, Failure> {
    let (footer, _) = footer(&mut BufReader::new(file))?;
    guarded(|| schema_of(&root_as_footer(&footer).map_err(broken)?))
}

/// The schema that a stream begins with, of which `head` are the first bytes.
pub(super) fn stream_schema(head: &[u8]) -> Result<Schema, Failure> {
    guarded(|| Ok::<_, ArrowError>(StreamReader::try_new(head, None)?.schema().as_ref().clone()))
}

/// Whether a stream begins so that has no marks before its messages, as those of old writers: with the length of a message, which is a
/// schema.
pub(crate) fn is_old_stream(head: &[u8]) -> bool {
    let message = || {
        let (length, rest) = head.split_first_chunk()?;
        rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)
    };
    let is_schema =
        |message| root_as_message(message).is_ok_and(|it| it.header_as_schema().is_some());
    message().is_some_and(is_schema)
}

/// Reads a file's batches.
pub(super) fn file_batches(
    file: impl Read + Seek,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let mut file = BufReader::new(file);
    let (footer, file_bytes) = footer(&mut file)?;
    let footer = root_as_footer(&footer).map_err(broken)?;
    let schema = guarded(|| schema_of(&footer))?;
    // Each message says its own version. One that is older than the footer's is no damage, as some writers have it, and of a first version
    // the decoder compares none.
    let mut decoder = FileDecoder::new(SchemaRef::new(schema), MetadataVersion::V1);
    for block in footer.dictionaries().into_iter().flatten() {
        let message = message_of(&mut file, block, file_bytes)?;
        guarded(|| decoder.read_dictionary(block, &message))?;
    }
    let blocks = footer.recordBatches().ok_or("its footer doesn't say where batches are")?;
    let each = file_bytes / (blocks.len() as u64).max(1);
    for (group, block) in (0..).zip(blocks) {
        let message = message_of(&mut file, block, file_bytes)?;
        let batch = guarded(|| decoder.read_record_batch(block, &message))?
            .ok_or("what its footer says is a batch is none")?;
        if !slices(&batch, group, each, readings, names, batch_bytes, take)? {
            break;
        }
    }
    Ok(())
}

/// What stands at the end of a file: the length of its footer, and what names the format.
const TAIL_BYTES: u64 = 10;

/// A file's footer, and how many bytes the file has.
fn footer(file: &mut (impl Read + Seek)) -> Result<(Vec<u8>, u64), Failure> {
    let file_bytes = file.seek(SeekFrom::End(0))?;
    let tail = file_bytes.checked_sub(TAIL_BYTES).ok_or("it is too short for one")?;
    file.seek(SeekFrom::Start(tail))?;
    let mut end = [0; TAIL_BYTES as usize];
    file.read_exact(&mut end)?;
    let length = read_footer_length(end)?;
    let begins = tail.checked_sub(length as u64).ok_or("its footer is longer than the file")?;
    file.seek(SeekFrom::Start(begins))?;
    let mut footer = vec![0; length];
    file.read_exact(&mut footer)?;
    Ok((footer, file_bytes))
}

fn schema_of(footer: &Footer<'_>) -> Result<Schema, Failure> {
    let schema = footer.schema().ok_or("its footer has no schema")?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err("its numbers are written in another order of bytes (big endian)".into());
    }
    Ok(try_fb_to_schema(schema)?)
}

fn broken(why: impl fmt::Debug) -> String {
    format!("what it says of itself is broken: {why:?}")
}

/// The message in a block of a file, with its body.
fn message_of(
    file: &mut (impl Read + Seek),
    block: &Block,
    file_bytes: u64,
) -> Result<Buffer, Failure> {
    const BEYOND: &str = "a part that its footer speaks of ends behind the file";
    let from = u64::try_from(block.offset()).map_err(|_| BEYOND)?;
    let head = usize::try_from(block.metaDataLength()).map_err(|_| BEYOND)?;
    let body = usize::try_from(block.bodyLength()).map_err(|_| BEYOND)?;
    let length = head.checked_add(body).ok_or(BEYOND)?;
    if from.checked_add(length as u64).is_none_or(|end| end > file_bytes) {
        return Err(BEYOND.into());
    }
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = MutableBuffer::from_len_zeroed(length);
    file.read_exact(&mut bytes)?;
    let (head, body) = bytes.split_at(head);
    let message = match head.strip_prefix(&CONTINUATION) {
        Some(behind) => behind,
        None => head,
    };
    let message = root_as_message(message.get(4..).ok_or(BEYOND)?).map_err(broken)?;
    expect_within(&message, body)?;
    Ok(bytes.into())
}

/// Refuses a message whose buffers are not within its body, or say that they are larger, once unpacked, than memory is: the decoder
/// asks for that much without a look, and ends the process where it gets none.
fn expect_within(message: &Message<'_>, body: &[u8]) -> Result<(), Failure> {
    let of_dictionary = || message.header_as_dictionary_batch()?.data();
    let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) else {
        return Ok(());
    };
    for buffer in batch.buffers().into_iter().flatten() {
        let within = || {
            let from = usize::try_from(buffer.offset()).ok()?;
            body.get(from..from.checked_add(usize::try_from(buffer.length()).ok()?)?)
        };
        let bytes = within().ok_or("a part of a message begins or ends beyond it")?;
        // What is -1 here is not packed.
        if batch.compression().is_some()
            && let Some(unpacked) = bytes.first_chunk()
            && let Ok(unpacked) = usize::try_from(i64::from_le_bytes(*unpacked))
            && unpacked > ROOM_BYTES_MAX
            && Vec::<u8>::new().try_reserve_exact(unpacked).is_err()
        {
            return Err(format!("a part of a message has {unpacked} bytes once unpacked, as it says: more than memory has").into());
        }
    }
    Ok(())
}

/// Reads a stream's batches, and those of the streams behind it, as `cat` makes one file of several; whoever gives `input` counts its
/// bytes, and `name` is what messages call it.
pub(super) fn stream_batches(
    input: impl Read,
    name: &str,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let mut messages = Messages { input: BufReader::new(input), at: 0, begins: 0 };
    let mut first: Option<SchemaRef> = None;
    let mut group = 0;
    while !messages.is_at_end()? {
        let (mut decoder, begins, mut goes_on) = (StreamDecoder::new(), messages.at, true);
        while goes_on {
            let message = messages.next(name)?;
            goes_on = message.is_some();
            // The decoder takes a message to be whole when the next one begins, or the mark of the end.
            let end = || [Buffer::from(&END[..]), Buffer::default(), Buffer::default()];
            let batches = guarded(|| decode(&mut decoder, message.unwrap_or_else(end)))?;
            if let Some(schema) = decoder.schema() {
                let first = first.get_or_insert_with(|| SchemaRef::clone(&schema));
                expect_columns(first, &schema, begins, name)?;
            }
            for batch in batches {
                if !slices(&batch, group, 0, readings, names, batch_bytes, take)? {
                    return Ok(());
                }
                group += 1;
            }
        }
    }
    Ok(())
}

/// What becomes of the parts of a message: the batch before it, if it was one.
fn decode(decoder: &mut StreamDecoder, parts: [Buffer; 3]) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut batches = Vec::new();
    for mut part in parts {
        while !part.is_empty() {
            batches.extend(decoder.decode(&mut part)?);
        }
    }
    Ok(batches)
}

/// Refuses a stream behind the first one that has other columns.
fn expect_columns(first: &Schema, schema: &Schema, begins: u64, name: &str) -> Result<(), Failure> {
    match columns(first).eq(columns(schema)) {
        true => Ok(()),
        false => Err(Error::source(format!(
            "{name}: the stream that begins at its byte {begins} has other columns than the first"
        ))
        .about(name)
        .advise("load them one by one")
        .into()),
    }
}

fn columns(schema: &Schema) -> impl Iterator<Item = (&str, &DataType)> {
    schema.fields().iter().map(|field| (field.name().as_str(), field.data_type()))
}

/// What stands before each message but those of old writers.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The end of a stream: a message of no length.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// What is made room for at once, whatever length a message says it has.
const ROOM_BYTES_MAX: usize = 64 << 20;

/// The messages of streams. The format lets a writer end a stream by closing it, too, but then one that has lost its writer looks the same:
/// so only the mark of the end ends it here.
struct Messages<R> {
    input: BufReader<R>,
    /// Bytes so far.
    at: u64,
    /// Where the last message begins.
    begins: u64,
}

impl<R: Read> Messages<R> {
    /// Whether nothing more comes.
    fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(io::BufRead::fill_buf(&mut self.input)?.is_empty())
    }

    /// The next message: what stands before it, itself, and its body. `None` at the end of a stream.
    fn next(&mut self, name: &str) -> Result<Option<[Buffer; 3]>, Failure> {
        if self.is_at_end()? {
            return Err(Error::source(format!(
                "{name}: the stream ends without the mark of its end, so rows may be missing"
            ))
            .about(name)
            .advise("close the writer that made it, or fetch it again")
            .advise(
                "if all of it is there, add the mark: printf '\\377\\377\\377\\377\\0\\0\\0\\0' >> FILE",
            )
            .into());
        }
        self.begins = self.at;
        let mut before = self.exactly(4, name)?;
        let mut length = before.as_slice();
        if length == CONTINUATION {
            let more = self.exactly(4, name)?;
            before = Buffer::from_vec([before.as_slice(), more.as_slice()].concat());
            length = &before[4..];
        }
        let length = u32::from_le_bytes(length.try_into()?);
        if length == 0 {
            return Ok(None);
        }
        let message = self.exactly(length.into(), name)?;
        let Ok(parsed) = root_as_message(&message) else {
            return Err(Error::source(format!(
                "{name}: what begins at its byte {} is no message of an Arrow stream",
                self.begins
            ))
            .about(name)
            .advise("check that it is whole, and that nothing else follows it")
            .into());
        };
        let body = u64::try_from(parsed.bodyLength())?;
        let body = self.exactly(body, name)?;
        expect_within(&root_as_message(&message).map_err(broken)?, &body)?;
        Ok(Some([before, message, body]))
    }

    /// So many bytes.
    fn exactly(&mut self, length: u64, name: &str) -> Result<Buffer, Failure> {
        let room = usize::try_from(length).map_or(ROOM_BYTES_MAX, |all| all.min(ROOM_BYTES_MAX));
        let mut bytes = Vec::with_capacity(room);
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        self.at += bytes.len() as u64;
        if (bytes.len() as u64) < length {
            return Err(Error::source(format!(
                "{name}: ends in the middle of the message at its byte {}, or something else than a stream begins there",
                self.begins
            ))
            .about(name)
            .advise("fetch or write it again: it is incomplete")
            .into());
        }
        Ok(Buffer::from_vec(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Batch;
    use crate::columns::reading::{names_of, readings};
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use arrow_ipc::writer::StreamWriter;
    use std::sync::Arc;

    /// A stream of so many batches of ten rows, and where each message of them ends.
    fn stream(batches: i64, column: &str) -> (Vec<u8>, Vec<usize>) {
        let batch = |n: i64| -> RecordBatch {
            let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(10 * n..10 * n + 10));
            RecordBatch::try_from_iter([(column, ids)]).unwrap()
        };
        let mut writer = StreamWriter::try_new(Vec::new(), &batch(0).schema()).unwrap();
        let mut ends = vec![writer.get_ref().len()];
        for n in 0..batches {
            writer.write(&batch(n)).unwrap();
            ends.push(writer.get_ref().len());
        }
        writer.finish().unwrap();
        (writer.into_inner().unwrap(), ends)
    }

    fn rows(bytes: &[u8]) -> Result<usize, String> {
        let schema = stream_schema(bytes).unwrap();
        let readings = readings(&schema, false);
        let names = names_of(&readings);
        let mut rows = 0;
        let mut take = |batch: Batch| {
            rows += batch.rows.num_rows();
            Ok(true)
        };
        let read = stream_batches(bytes, "s.arrows", &readings, &names, 1 << 20, &mut take);
        read.map(|()| rows).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_stream_ends_where_it_says_so_and_nowhere_else() {
        let (whole, ends) = stream(3, "id");
        assert_eq!(rows(&whole), Ok(30));
        let schema = ends[0];
        for end in schema..whole.len() {
            let error = rows(&whole[..end]).unwrap_err();
            let is_between = ends.contains(&end);
            let wanted =
                if is_between { "without the mark of its end" } else { "ends in the middle" };
            assert!(error.contains(wanted), "{end} of {}: {error}", whole.len());
        }
    }

    #[test]
    fn streams_one_behind_the_other_are_all_read() {
        let (whole, _) = stream(3, "id");
        assert_eq!(rows(&[&whole[..], &whole].concat()), Ok(60));
        assert_eq!(rows(&[&whole[..], &stream(0, "id").0, &whole].concat()), Ok(60));
        // Some writers fill a block with zeros.
        assert_eq!(rows(&[&whole[..], &[0; 16]].concat()), Ok(30));
        let refused = |more: &[u8]| rows(&[&whole[..], more].concat()).unwrap_err();
        assert!(refused(&stream(0, "other").0).contains("has other columns"));
        assert!(refused(&stream(3, "other").0).contains("has other columns"));
        for more in [&b"hello world"[..], b"x", b"\0\0", b"\xff\xff\xff\xff\x08\0\0\0........"] {
            let error = refused(more);
            assert!(
                error.contains("ends in the middle") || error.contains("no message"),
                "{error}"
            );
        }
    }

    #[test]
    fn batches_without_a_byte_of_their_own_are_read() {
        let nothing: ArrayRef = Arc::new(arrow_array::NullArray::new(7));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"; 0]));
        for (array, wanted) in [(nothing, 7), (texts, 0)] {
            let batch = RecordBatch::try_from_iter_with_nullable([("x", array, true)]).unwrap();
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            assert_eq!(rows(&writer.into_inner().unwrap()), Ok(wanted));
        }
    }
}
