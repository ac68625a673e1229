//! Sorts more items than memory holds, for b-trees that are built from their left end.
//!
//! ```text
//! push -> buffer --full--> thread: sort, write a run --> file: run | run | run ..
//!            ^                        |                          |
//!            +---------empty----------+        finish: merge <---+-- and the buffer that was not full
//! ```
//!
//! Two buffers take turns: one is filled while the other is sorted and written. A run is a stretch of the file whose items are
//! in order; one that begins where the last one ended goes on with it, so that input that is in order already is one run. Until
//! the second buffer is full the first is only sorted: what fits into both never meets a file.
//!
//! Stability rests on one rule: runs, and sources of a merge, are kept in the order in which their items were pushed, and only
//! neighbours are merged.
//!
//! Items are looked at only when prefixes are equal. A radix sort was no better than the standard library's: it took 20 ns an
//! entry instead of 26 for 330,000 of them, but 63 instead of 27 for 2,500,000.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::vec;

/// A buffer's items are found by 32 bits, and one may be larger than the buffer.
const BUFFER_BYTES_MAX: usize = 1 << 30;
/// Below that a read costs more than what it reads.
const READ_BYTES_MIN: usize = 32 << 10;
/// More than that gains nothing.
const READ_BYTES_MAX: usize = 1 << 20;
/// As for reading.
const WRITE_BYTES_MAX: usize = 256 << 10;
/// What precedes an item in a file: its prefix, and its length seven bits a byte.
const HEADER_BYTES_MAX: usize = 8 + 5;
/// A larger item isn't kept to see whether the next run goes on after it.
const LAST_BYTES_MAX: usize = 64 << 10;
/// So many items of a buffer are brought into the cache at once.
const WARM_ITEMS: usize = 64;

/// How two items with equal prefixes compare.
pub trait Order: Clone + Send + Sync + 'static {
    /// The order of two items.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;
}

#[inline]
fn compare(a: (u64, &[u8]), b: (u64, &[u8]), order: &impl Order) -> Ordering {
    a.0.cmp(&b.0).then_with(|| order.compare(a.1, b.1))
}

type Spill = Box<dyn FnMut() -> io::Result<File> + Send>;

/// Takes items in any order.
pub struct Sorter<O: Order> {
    order: O,
    memory_bytes: usize,
    buffer_bytes: usize,
    buffer: Buffer,
    /// Until a buffer is full; then it is the thread's.
    spiller: Option<Spiller<O>>,
    thread: Option<Background<O>>,
}

impl<O: Order> Sorter<O> {
    /// Keeps at most about `memory_bytes` in memory; what is more goes to files that `spill` makes: empty, open for reading and
    /// writing, private. It is called once for all runs, and once for every time they have to be merged to fewer.
    ///
    /// Below 128 KiB, and with items larger than half of it, the limit can't be kept.
    pub fn new(
        order: O,
        memory_bytes: usize,
        spill: impl FnMut() -> io::Result<File> + Send + 'static,
    ) -> Self {
        let write_bytes = write_bytes(memory_bytes);
        let buffer_bytes = (memory_bytes.saturating_sub(write_bytes) / 2).min(BUFFER_BYTES_MAX);
        let spiller = Spiller::new(order.clone(), write_bytes, Box::new(spill));
        Self {
            order,
            memory_bytes,
            buffer_bytes,
            buffer: Buffer::default(),
            spiller: Some(spiller),
            thread: None,
        }
    }

    /// Adds an item: its bytes, and an abbreviation of them that decides first: when `prefix` of one is less than that of
    /// another, so is the one than the other.
    ///
    /// # Errors
    /// When a file can't be made or written, perhaps for items that were pushed before; then `finish` fails too.
    #[inline]
    pub fn push(&mut self, prefix: u64, item: &[u8]) -> io::Result<()> {
        if self.buffer.touched_bytes(1, item.len()) > self.buffer_bytes
            && !self.buffer.entries.is_empty()
        {
            self.hand_over()?;
        }
        let Ok(length) = u32::try_from(item.len()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an item of 4 GiB or more"));
        };
        let entry = Entry { prefix, offset: self.buffer.bytes.len() as u32, length };
        self.buffer.push(entry, item, &self.order);
        Ok(())
    }

    /// Gives the full buffer to the thread, and takes an empty one.
    #[cold]
    fn hand_over(&mut self) -> io::Result<()> {
        if let Some(spiller) = self.spiller.take() {
            self.thread = Some(Background::start(spiller)?);
        }
        let Some(thread) = &self.thread else {
            return Err(io::Error::other("sorting has failed before"));
        };
        match thread.exchange(mem::take(&mut self.buffer)) {
            Some(empty) => {
                self.buffer = empty;
                Ok(())
            }
            None => Err(self.thread.take().map(Background::join).and_then(Result::err).unwrap_or(
                // It ends before its channel does only when it has failed.
                io::Error::other("the sorting thread has ended"),
            )),
        }
    }

    /// All items in order; items that compare equal come in the order in which they were pushed.
    ///
    /// # Errors
    /// When a file can't be made, written or read.
    pub fn finish(mut self) -> io::Result<Sorted<O>> {
        // The thread may be busy still with the buffer before.
        self.buffer.sort(&self.order);
        let spiller = match (self.thread, self.spiller) {
            (Some(thread), _) => thread.join()?,
            (None, Some(spiller)) => spiller,
            (None, None) => return Err(io::Error::other("sorting has failed before")),
        };
        let Spiller { mut spill, runs, held, .. } = spiller;
        let runs = reduce(&self.order, runs, self.memory_bytes, &mut spill)?;
        let mut sources = open(runs, read_bytes(self.memory_bytes));
        sources.extend(held.map(Source::memory));
        sources.push(Source::memory(self.buffer));
        Sorted::new(self.order, sources)
    }
}

/// An item of a buffer. Sorts by prefix, then as items were pushed: of two at the same offset the first is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    prefix: u64,
    offset: u32,
    length: u32,
}

impl Entry {
    #[inline]
    fn item(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.offset as usize..][..self.length as usize]
    }
}

/// Items in memory.
struct Buffer {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    sorted: bool,
    /// How much of either vector was in use before: it is memory still.
    bytes_touched: usize,
    entries_touched: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            entries: Vec::new(),
            sorted: true,
            bytes_touched: 0,
            entries_touched: 0,
        }
    }
}

impl Buffer {
    /// The memory it takes once it has `items` more, of so many bytes. Vectors grow by doubling, but what was never touched
    /// costs nothing.
    #[inline]
    fn touched_bytes(&self, items: usize, item_bytes: usize) -> usize {
        (self.bytes.len() + item_bytes).max(self.bytes_touched)
            + (self.entries.len() + items).max(self.entries_touched) * size_of::<Entry>()
    }

    #[inline]
    fn push(&mut self, entry: Entry, item: &[u8], order: &impl Order) {
        if self.sorted
            && let Some(last) = self.entries.last()
        {
            let last = (last.prefix, last.item(&self.bytes));
            self.sorted = compare(last, (entry.prefix, item), order).is_le();
        }
        self.entries.push(entry);
        self.bytes.extend_from_slice(item);
    }

    fn sort(&mut self, order: &impl Order) {
        if mem::replace(&mut self.sorted, true) {
            return;
        }
        let bytes = &self.bytes;
        self.entries.sort_unstable();
        for equal in self.entries.chunk_by_mut(|a, b| a.prefix == b.prefix) {
            if equal.len() > 1 {
                equal.sort_unstable_by(|a, b| {
                    order.compare(a.item(bytes), b.item(bytes)).then_with(|| a.cmp(b))
                });
            }
        }
    }

    fn clear(&mut self) {
        let used_bytes = self.bytes.len() + self.entries.len() * size_of::<Entry>();
        // Items of other sizes than before would find one vector too large and no room for the other; and a large item alone
        // in its buffer may be the only one.
        if self.touched_bytes(0, 0) > used_bytes + used_bytes / 4 || self.entries.len() == 1 {
            *self = Self::default();
        }
        self.bytes_touched = self.bytes_touched.max(self.bytes.len());
        self.entries_touched = self.entries_touched.max(self.entries.len());
        self.bytes.clear();
        self.entries.clear();
        self.sorted = true;
    }
}

/// A stretch of a file whose items are in order.
struct Run {
    file: Arc<File>,
    start: u64,
    end: u64,
    item_bytes_max: usize,
}

impl Run {
    /// The memory that reading it needs.
    fn read_bytes_min(&self) -> usize {
        READ_BYTES_MIN.max(self.item_bytes_max + HEADER_BYTES_MAX)
    }
}

fn write_bytes(memory_bytes: usize) -> usize {
    (memory_bytes / 16).min(WRITE_BYTES_MAX)
}

/// Appends runs to a file.
struct Writer {
    file: Arc<File>,
    at: u64,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    runs: Vec<Run>,
}

impl Writer {
    fn new(file: File, buffer_bytes: usize) -> Self {
        let buffer = Vec::with_capacity(buffer_bytes);
        Self { file: Arc::new(file), at: 0, buffer, buffer_bytes, runs: Vec::new() }
    }

    /// What is put from now on is a run of its own.
    fn begin(&mut self) {
        let file = Arc::clone(&self.file);
        self.runs.push(Run { file, start: self.at, end: self.at, item_bytes_max: 0 });
    }

    #[inline]
    fn put(&mut self, prefix: u64, item: &[u8]) -> io::Result<()> {
        let mut header = [0; HEADER_BYTES_MAX];
        header[..8].copy_from_slice(&prefix.to_le_bytes());
        let (mut length, mut header_bytes) = (item.len(), 8);
        while length >= 0x80 {
            header[header_bytes] = length as u8 | 0x80;
            length >>= 7;
            header_bytes += 1;
        }
        header[header_bytes] = length as u8;
        header_bytes += 1;
        if self.buffer.len() + header_bytes + item.len() > self.buffer_bytes {
            self.flush()?;
        }
        self.buffer.extend_from_slice(&header[..header_bytes]);
        if header_bytes + item.len() > self.buffer_bytes {
            self.flush()?;
            (&*self.file).write_all(item)?;
        } else {
            self.buffer.extend_from_slice(item);
        }
        self.at += (header_bytes + item.len()) as u64;
        if let Some(run) = self.runs.last_mut() {
            run.end = self.at;
            run.item_bytes_max = run.item_bytes_max.max(item.len());
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.file).write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<Run>> {
        self.flush()?;
        Ok(self.runs)
    }
}

/// What the thread does, and what it leaves.
struct Spiller<O> {
    order: O,
    write_bytes: usize,
    spill: Spill,
    /// The first buffer, until there is another.
    held: Option<Buffer>,
    writer: Option<Writer>,
    /// The last item of the last run.
    last: Option<(u64, Vec<u8>)>,
    runs: Vec<Run>,
}

impl<O: Order> Spiller<O> {
    fn new(order: O, write_bytes: usize, spill: Spill) -> Self {
        Self { order, write_bytes, spill, held: None, writer: None, last: None, runs: Vec::new() }
    }

    fn run(mut self, full: &Receiver<Buffer>, empty: &Sender<Buffer>) -> io::Result<Self> {
        // That nobody waits for an empty one means that the sorter is gone, and so is the other channel.
        let give_back = |mut buffer: Buffer| {
            buffer.clear();
            let _ = empty.send(buffer);
        };
        while let Ok(mut buffer) = full.recv() {
            if let Some(mut first) = self.held.take() {
                self.write(&mut first)?;
                give_back(first);
            }
            buffer.sort(&self.order);
            if self.writer.is_none() {
                self.held = Some(buffer);
            } else {
                self.write(&mut buffer)?;
                give_back(buffer);
            }
        }
        if let Some(writer) = self.writer.take() {
            self.runs = writer.finish()?;
        }
        Ok(self)
    }

    fn write(&mut self, buffer: &mut Buffer) -> io::Result<()> {
        let (Some(first), Some(last)) = (buffer.entries.first(), buffer.entries.last()) else {
            return Ok(());
        };
        let goes_on = self.last.as_ref().is_some_and(|(prefix, item)| {
            let first = (first.prefix, first.item(&buffer.bytes));
            compare((*prefix, item), first, &self.order).is_le()
        });
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::new((self.spill)()?, self.write_bytes)),
        };
        if !goes_on {
            writer.begin();
        }
        for entry in &buffer.entries {
            writer.put(entry.prefix, entry.item(&buffer.bytes))?;
        }
        let last_item = last.item(&buffer.bytes);
        self.last = (last_item.len() <= LAST_BYTES_MAX).then(|| (last.prefix, last_item.to_vec()));
        Ok(())
    }
}

/// The thread. Going away it waits for it, for one buffer at most.
struct Background<O> {
    /// `None` once there is no more to come.
    full: Option<Sender<Buffer>>,
    empty: Receiver<Buffer>,
    /// `None` once it was joined.
    thread: Option<JoinHandle<io::Result<Spiller<O>>>>,
}

impl<O: Order> Background<O> {
    fn start(spiller: Spiller<O>) -> io::Result<Self> {
        let (full, full_receiver) = channel();
        let (empty_sender, empty) = channel();
        // The second of the two; the first is being filled. There are never more, whatever the channels would hold.
        let _ = empty_sender.send(Buffer::default());
        let thread = thread::Builder::new()
            .name("sort".to_owned())
            .spawn(move || spiller.run(&full_receiver, &empty_sender))?;
        Ok(Self { full: Some(full), empty, thread: Some(thread) })
    }

    /// `None` when the thread has failed.
    fn exchange(&self, buffer: Buffer) -> Option<Buffer> {
        self.full.as_ref()?.send(buffer).ok()?;
        self.empty.recv().ok()
    }

    fn join(mut self) -> io::Result<Spiller<O>> {
        self.full = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(io::Error::other("the sorting thread was joined before")),
        }
    }
}

impl<O> Drop for Background<O> {
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            // Whoever drops a sorter wants to know no more of it.
            let _ = thread.join();
        }
    }
}

/// What the last buffer leaves.
fn read_bytes(memory_bytes: usize) -> usize {
    memory_bytes / 2
}

/// Merges runs until the rest can be read at once, and no more of them than that takes.
fn reduce<O: Order>(
    order: &O,
    mut runs: Vec<Run>,
    memory_bytes: usize,
    spill: &mut Spill,
) -> io::Result<Vec<Run>> {
    let read_bytes = read_bytes(memory_bytes);
    loop {
        let needed_bytes: usize = runs.iter().map(Run::read_bytes_min).sum();
        let mut excess_bytes = needed_bytes.saturating_sub(read_bytes);
        // Two have to be read at once whatever they need.
        if excess_bytes == 0 || runs.len() <= 2 {
            return Ok(runs);
        }
        let mut writer = Writer::new(spill()?, write_bytes(memory_bytes));
        let mut reduced = Vec::new();
        let mut rest = runs.into_iter().peekable();
        while let Some(run) = rest.next() {
            let mut group_bytes = run.read_bytes_min();
            let mut largest_bytes = group_bytes;
            let mut group = vec![run];
            while let Some(next) = rest.next_if(|next| {
                excess_bytes > group_bytes - largest_bytes
                    && (group.len() < 2 || group_bytes + next.read_bytes_min() <= read_bytes)
            }) {
                group_bytes += next.read_bytes_min();
                largest_bytes = largest_bytes.max(next.read_bytes_min());
                group.push(next);
            }
            if group.len() == 1 {
                reduced.append(&mut group);
                continue;
            }
            excess_bytes = excess_bytes.saturating_sub(group_bytes - largest_bytes);
            writer.begin();
            let mut merged = Sorted::new(order.clone(), open(group, read_bytes))?;
            while let Some((prefix, item)) = merged.next_item()? {
                writer.put(prefix, item)?;
            }
            // Taken back once it is written; its place is here.
            reduced.append(&mut writer.runs);
        }
        writer.finish()?;
        runs = reduced;
    }
}

fn open(runs: Vec<Run>, read_bytes: usize) -> Vec<Source> {
    let each_bytes = (read_bytes / runs.len().max(1)).clamp(READ_BYTES_MIN, READ_BYTES_MAX);
    runs.into_iter().map(|run| Source::file(run, each_bytes)).collect()
}
/// One of the sequences that are merged, and where in it we are.
struct Source {
    /// All items of a buffer, or a part of a run.
    bytes: Vec<u8>,
    /// The item whose turn it is, in `bytes`.
    start: usize,
    end: usize,
    /// There is no item any more.
    done: bool,
    rest: Rest,
}

/// What follows the item whose turn it is.
enum Rest {
    Memory(vec::IntoIter<Entry>),
    File(Unread),
}

/// What wasn't read of a run.
struct Unread {
    run: Run,
    /// How much of the source's bytes is filled.
    filled: usize,
    /// How many bytes to read at once.
    read_bytes: usize,
}

impl Source {
    fn memory(buffer: Buffer) -> Self {
        let Buffer { bytes, entries, sorted, .. } = buffer;
        debug_assert!(sorted);
        Self { bytes, start: 0, end: 0, done: false, rest: Rest::Memory(entries.into_iter()) }
    }

    fn file(run: Run, read_bytes: usize) -> Self {
        let read_bytes =
            usize::try_from(run.end - run.start).map_or(read_bytes, |all| all.min(read_bytes));
        let rest = Rest::File(Unread { run, filled: 0, read_bytes });
        Self { bytes: vec![0; read_bytes], start: 0, end: 0, done: false, rest }
    }

    #[inline]
    fn item(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Goes to the next item, and returns its prefix; the greatest there is when there is no item.
    #[inline]
    fn advance(&mut self) -> io::Result<u64> {
        match &mut self.rest {
            Rest::Memory(entries) => {
                let Some(entry) = entries.next() else {
                    self.done = true;
                    return Ok(u64::MAX);
                };
                if entries.len().is_multiple_of(WARM_ITEMS) {
                    warm(&self.bytes, entries.as_slice());
                }
                self.start = entry.offset as usize;
                self.end = self.start + entry.length as usize;
                Ok(entry.prefix)
            }
            Rest::File(unread) => {
                if self.end + HEADER_BYTES_MAX > unread.filled {
                    self.end = unread.fill(&mut self.bytes, self.end, HEADER_BYTES_MAX)?;
                    if self.end == unread.filled {
                        self.done = true;
                        return Ok(u64::MAX);
                    }
                }
                let (prefix, length, mut start) =
                    read_header(&self.bytes[..unread.filled], self.end).ok_or_else(damaged)?;
                if unread.filled - start < length {
                    start = unread.fill(&mut self.bytes, start, length)?;
                    if unread.filled - start < length {
                        return Err(damaged());
                    }
                }
                (self.start, self.end) = (start, start + length);
                Ok(prefix)
            }
        }
    }
}

/// Brings the items that are next into the cache. A merge waits for memory item by item, because what it does next depends on
/// the item; here the waits overlap. Sorting 5,000,000 items in memory takes 0.4 s instead of 0.7 s.
#[inline]
fn warm(bytes: &[u8], next: &[Entry]) {
    let mut sum = 0;
    for entry in next.iter().take(WARM_ITEMS) {
        let item = entry.item(bytes);
        if let (Some(first), Some(last)) = (item.first(), item.last()) {
            sum ^= first ^ last;
        }
    }
    std::hint::black_box(sum);
}

impl Unread {
    /// Has at least `wanted` bytes behind `from`, or all there are, and returns where they begin now.
    #[cold]
    fn fill(&mut self, bytes: &mut Vec<u8>, from: usize, wanted: usize) -> io::Result<usize> {
        if self.run.start == self.run.end {
            return Ok(from);
        }
        bytes.copy_within(from..self.filled, 0);
        self.filled -= from;
        let size = self.read_bytes.max(wanted).max(self.filled);
        if size != bytes.len() {
            // A larger item than usual comes, or was.
            bytes.truncate(size);
            bytes.shrink_to_fit();
            bytes.resize(size, 0);
        }
        let mut file = &*self.run.file;
        file.seek(SeekFrom::Start(self.run.start))?;
        let room = &mut bytes[self.filled..];
        let left = usize::try_from(self.run.end - self.run.start).unwrap_or(usize::MAX);
        let count = room.len().min(left);
        file.read_exact(&mut room[..count])?;
        self.filled += count;
        self.run.start += count as u64;
        Ok(0)
    }
}

/// Prefix and length of an item, and where its bytes begin.
#[inline]
fn read_header(bytes: &[u8], at: usize) -> Option<(u64, usize, usize)> {
    let (prefix, rest) = bytes.get(at..)?.split_first_chunk()?;
    let (mut length, mut shift) = (0, 0);
    for (index, &byte) in rest.iter().take(HEADER_BYTES_MAX - 8).enumerate() {
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return Some((u64::from_le_bytes(*prefix), length, at + 8 + index + 1));
        }
    }
    None
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a file of sorted items is damaged")
}

/// The items in order: a loser tree over the sources.
pub struct Sorted<O: Order> {
    order: O,
    sources: Vec<Source>,
    /// The winner, then the loser of each match; the parent of node n is n / 2, and source s plays first at
    /// (`sources.len()` + s) / 2.
    tree: Vec<Player>,
    /// The winner's item was given out.
    given: bool,
}

/// A source in the tree, with the prefix of its item.
#[derive(Clone, Copy)]
struct Player {
    prefix: u64,
    source: usize,
}

impl<O: Order> Sorted<O> {
    fn new(order: O, mut sources: Vec<Source>) -> io::Result<Self> {
        let count = sources.len();
        let mut players = vec![Player { prefix: 0, source: 0 }; count];
        for (index, source) in sources.iter_mut().enumerate() {
            players.push(Player { prefix: source.advance()?, source: index });
        }
        let mut tree = vec![Player { prefix: 0, source: 0 }; count];
        for node in (1..count).rev() {
            let (winner, loser) = play(players[2 * node], players[2 * node + 1], &sources, &order);
            players[node] = winner;
            tree[node] = loser;
        }
        // With one source, that one; it is in place 1.
        if let Some(winner) = tree.first_mut() {
            *winner = players[1];
        }
        Ok(Self { order, sources, tree, given: false })
    }

    /// The next item, with its prefix. Its bytes are valid until the next call.
    ///
    /// # Errors
    /// When a file can't be read; then there is no next item any more.
    #[inline]
    pub fn next_item(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        if mem::replace(&mut self.given, true) {
            self.advance()?;
        }
        let Some(winner) = self.tree.first() else {
            return Ok(None);
        };
        let source = &self.sources[winner.source];
        Ok((!source.done).then(|| (winner.prefix, source.item())))
    }

    /// Goes to the next item, and plays the matches of the source that had the last one again.
    #[inline]
    fn advance(&mut self) -> io::Result<()> {
        let Some(&Player { source, .. }) = self.tree.first() else {
            return Ok(());
        };
        let prefix = match self.sources[source].advance() {
            Ok(prefix) => prefix,
            Err(error) => {
                self.tree.clear();
                return Err(error);
            }
        };
        let mut winner = Player { prefix, source };
        let mut node = (self.sources.len() + source) / 2;
        while node > 0 {
            (winner, self.tree[node]) = play(winner, self.tree[node], &self.sources, &self.order);
            node /= 2;
        }
        self.tree[0] = winner;
        Ok(())
    }
}

/// Winner and loser.
#[inline]
fn play(a: Player, b: Player, sources: &[Source], order: &impl Order) -> (Player, Player) {
    let a_first = match a.prefix == b.prefix {
        true => is_first(a, b, sources, order),
        false => a.prefix < b.prefix,
    };
    if a_first { (a, b) } else { (b, a) }
}

/// Whether `a` comes before `b`, which has the same prefix.
fn is_first(a: Player, b: Player, sources: &[Source], order: &impl Order) -> bool {
    let (source, other) = (&sources[a.source], &sources[b.source]);
    if source.done || other.done {
        return other.done;
    }
    order.compare(source.item(), other.item()).then(a.source.cmp(&b.source)).is_lt()
}

/// A file that only we can read, without a name in `directory`, so that nothing is left of it however we end.
///
/// It has a name until it is unlinked, some microseconds after; killed in between we leave an empty file. To never have one
/// takes `O_TMPFILE`, whose value depends on the machine, and file systems that know it.
///
/// # Errors
/// When the directory can't be written.
pub fn nameless_file(directory: &Path) -> io::Result<File> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Relaxed);
        let path = directory.join(format!(".inrush-sort-{}-{count}", std::process::id()));
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            // In another container there may be the same process id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => {
                let file = file?;
                fs::remove_file(&path)?;
                return Ok(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares all but the last four bytes, which tell equal items apart.
    #[derive(Clone)]
    struct Keys;

    fn key(item: &[u8]) -> &[u8] {
        &item[..item.len().saturating_sub(4)]
    }

    impl Order for Keys {
        fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
            key(a).cmp(key(b))
        }
    }

    /// The first `bytes` of a key, so that more or fewer items have equal ones.
    fn prefix(item: &[u8], bytes: usize) -> u64 {
        let mut prefix = [0; 8];
        let key = &key(item)[..key(item).len().min(bytes)];
        prefix[..key.len()].copy_from_slice(key);
        u64::from_be_bytes(prefix)
    }

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) % end as u64) as usize
        }
    }

    fn item(key: &[u8], index: usize) -> Vec<u8> {
        [key, &(index as u32).to_be_bytes()].concat()
    }

    /// What items may look like, by name.
    fn shapes(count: usize) -> Vec<(&'static str, Vec<Vec<u8>>)> {
        let mut random = Random(20_260_101);
        let mut shape = |key: &mut dyn FnMut(&mut Random, usize) -> Vec<u8>| -> Vec<Vec<u8>> {
            (0..count).map(|index| item(&key(&mut random, index), index)).collect()
        };
        let number = |number: usize| (number as u64).to_be_bytes().to_vec();
        let mut shapes = vec![
            ("random", shape(&mut |random, _| number(random.below(usize::MAX)))),
            ("few", shape(&mut |random, _| number(random.below(10)))),
            ("equal", shape(&mut |_, _| b"the same".to_vec())),
            ("sorted", shape(&mut |_, index| number(index))),
            ("sorted, each thrice", shape(&mut |_, index| number(index / 3))),
            ("reverse", shape(&mut |_, index| number(count - index))),
            ("sorted pieces", shape(&mut |_, index| number(index % 100))),
            ("almost sorted", shape(&mut |random, index| number(index + random.below(5)))),
            ("great prefixes", shape(&mut |random, _| vec![0xff; 6 + random.below(4)])),
            (
                "text",
                shape(&mut |random, _| {
                    format!("https://example.org/{}", random.below(1000)).into_bytes()
                }),
            ),
            ("any length", shape(&mut |random, _| vec![random.below(3) as u8; random.below(300)])),
            (
                "some are large",
                shape(&mut |random, index| {
                    let length = if index % 100 == 7 { 70_000 } else { 10 };
                    vec![random.below(5) as u8; length]
                }),
            ),
        ];
        let empty = (0..count)
            .map(|index| if random.below(2) == 0 { Vec::new() } else { item(b"a", index) })
            .collect();
        shapes.push(("empty", empty));
        shapes
    }

    /// A sorter that spills to files without a name, and how many it has made.
    fn sorter(memory_bytes: usize) -> (Sorter<Keys>, Arc<AtomicU32>) {
        let files = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&files);
        let spill = move || {
            count.fetch_add(1, Relaxed);
            nameless_file(&std::env::temp_dir())
        };
        (Sorter::new(Keys, memory_bytes, spill), files)
    }

    fn all(mut sorted: Sorted<Keys>) -> Vec<(u64, Vec<u8>)> {
        let mut items = Vec::new();
        while let Some((prefix, item)) = sorted.next_item().unwrap() {
            items.push((prefix, item.to_vec()));
        }
        assert!(sorted.next_item().unwrap().is_none(), "the end is the end");
        items
    }

    #[test]
    fn items_come_as_from_a_stable_sort_in_memory() {
        for (shape, items) in shapes(1500) {
            for prefix_bytes in [0, 7, 8] {
                let mut wanted: Vec<_> =
                    items.iter().map(|item| (prefix(item, prefix_bytes), item.clone())).collect();
                wanted.sort_by(|a, b| key(&a.1).cmp(key(&b.1)));
                // Hundreds of runs and many passes; some runs; all in memory.
                for memory_bytes in [0, 1000, 20_000, 10_000_000] {
                    // A run for each item is slow and no different for other shapes.
                    if memory_bytes == 0 && (shape != "few" || prefix_bytes != 7) {
                        continue;
                    }
                    let (mut sorter, files) = sorter(memory_bytes);
                    for item in &items {
                        sorter.push(prefix(item, prefix_bytes), item).unwrap();
                    }
                    let found = all(sorter.finish().unwrap());
                    assert!(
                        found == wanted,
                        "{shape}, prefix {prefix_bytes}, {memory_bytes} bytes"
                    );
                    let in_memory = memory_bytes == 10_000_000;
                    assert_eq!(files.load(Relaxed) == 0, in_memory, "{shape}, {memory_bytes}");
                }
            }
        }
    }

    #[test]
    fn none_and_one() {
        for memory_bytes in [0, 1000] {
            let (sorter, _) = sorter(memory_bytes);
            assert_eq!(all(sorter.finish().unwrap()), []);
            for one in [&b""[..], b"a", &[7; 5000]] {
                let (mut sorter, files) = self::sorter(memory_bytes);
                sorter.push(3, one).unwrap();
                assert_eq!(all(sorter.finish().unwrap()), [(3, one.to_vec())]);
                assert_eq!(files.load(Relaxed), 0);
            }
        }
    }

    #[test]
    fn what_fits_into_both_buffers_makes_no_file() {
        // 36 bytes an item with its entry, and a sixteenth is for writing.
        for (count, wanted_files) in [(2500, 0), (2800, 1)] {
            let (mut sorter, files) = sorter(100_000);
            for index in 0..count {
                sorter.push(index * 7919 % 1000, &[0; 20]).unwrap();
            }
            assert_eq!(all(sorter.finish().unwrap()).len() as u64, count);
            assert_eq!(files.load(Relaxed), wanted_files);
        }
    }

    #[test]
    fn input_in_order_is_one_run() {
        let (mut sorter, files) = sorter(1000);
        for index in 0..5000_u64 {
            sorter.push(index / 2, &index.to_be_bytes()).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        // The run and the last buffer.
        assert_eq!(sorted.sources.len(), 2);
        assert_eq!(files.load(Relaxed), 1, "nothing had to be merged before");
        let items = all(sorted);
        assert!((0..5000_u64).all(|index| items[index as usize].1 == index.to_be_bytes()));
    }

    #[test]
    fn items_larger_than_the_buffer() {
        let mut random = Random(1);
        let items: Vec<_> = (0..40)
            .map(|index| item(&vec![random.below(9) as u8; index % 4 * 400_000], index))
            .collect();
        let mut wanted = items.clone();
        wanted.sort_by(|a, b| key(a).cmp(key(b)));
        let (mut sorter, _) = sorter(100_000);
        for item in &items {
            sorter.push(prefix(item, 8), item).unwrap();
        }
        let found: Vec<_> = all(sorter.finish().unwrap()).into_iter().map(|item| item.1).collect();
        assert!(found == wanted);
    }

    #[test]
    fn runs_are_merged_first_when_their_items_would_not_fit() {
        // Each run has an item of 50 kB: of the runs only as many are read at once as fit.
        let (mut sorter, files) = sorter(400_000);
        for index in 0..20_u64 {
            sorter.push(20 - index, &[0; 50_000]).unwrap();
            for _ in 0..6000 {
                sorter.push(20 - index, b"").unwrap();
            }
        }
        let sorted = sorter.finish().unwrap();
        assert!(files.load(Relaxed) > 1);
        let read_bytes: usize = sorted.sources.iter().map(|source| source.bytes.len()).sum();
        assert!(read_bytes < 400_000, "{read_bytes}");
        assert_eq!(all(sorted).len(), 20 * 6001);
    }

    /// The error of pushing many items and finishing.
    fn failure(spill: impl FnMut() -> io::Result<File> + Send + 'static) -> io::Error {
        let mut sorter = Sorter::new(Keys, 1000, spill);
        let pushed = (0..5000_u64).try_for_each(|index| sorter.push(5000 - index, &[0; 20]));
        let Err(error) = pushed else {
            return sorter.finish().err().expect("an error");
        };
        assert!(sorter.finish().is_err(), "it has failed once and for all");
        error
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let none = || Err(io::Error::new(io::ErrorKind::PermissionDenied, "no"));
        assert_eq!(failure(none).kind(), io::ErrorKind::PermissionDenied);
        // The first can be made, for the runs; the second, to merge them, can't.
        let mut files = 0;
        let one = move || {
            files += 1;
            if files == 1 { nameless_file(&std::env::temp_dir()) } else { none() }
        };
        assert_eq!(failure(one).kind(), io::ErrorKind::PermissionDenied);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let full = || File::options().read(true).write(true).open("/dev/full");
        assert_eq!(failure(full).kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("write-only");
        failure(move || File::create(&path));
        // Nor is one that was cut short a reason to panic, or to leave items out.
        let file = nameless_file(place.path()).unwrap();
        let cut = file.try_clone().unwrap();
        let mut file = Some(file);
        let mut sorter = Sorter::new(Keys, 1 << 20, move || Ok(file.take().unwrap()));
        for index in 0..100_000_u64 {
            sorter.push(index * 7919 % 1000, &[0; 20]).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        cut.set_len(100_000).unwrap();
        let error = loop {
            match sorted.next_item() {
                Ok(item) => assert!(item.is_some()),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(sorted.next_item().unwrap().is_none());
    }

    #[test]
    fn dropped_early_nothing_stays() {
        let place = tempfile::tempdir().unwrap();
        for count in [0, 10, 100, 5000] {
            for finish in [false, true] {
                let directory = place.path().to_owned();
                let mut sorter = Sorter::new(Keys, 1000, move || nameless_file(&directory));
                for index in 0..count {
                    sorter.push(index * 7919 % 1000, &[0; 20]).unwrap();
                }
                if finish {
                    sorter.finish().unwrap().next_item().unwrap();
                } else {
                    drop(sorter);
                }
                assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
            }
        }
    }

    #[test]
    fn a_nameless_file_is_private_and_empty() {
        let place = tempfile::tempdir().unwrap();
        let mut file = nameless_file(place.path()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let metadata = file.metadata().unwrap();
            assert_eq!((metadata.mode() & 0o777, metadata.len()), (0o600, 0));
        }
        file.write_all(b"what").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "what");
        assert!(nameless_file(&place.path().join("missing")).is_err());
    }
}
