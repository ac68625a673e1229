//! How fast rows become records, and records pages, on one core.
//!
//! `Nodes` are rows like those of the OpenStreetMap nodes table: an id that is the rowid, two
//! coordinates, a version, a timestamp as text, two more integers, a name; about 70 bytes. `Short`
//! are 8 small integers, `Null` 8 NULLs, `Wide` one text of 1 kB, `Overflow` one text of 10 kB.
//! Bytes are those of finished pages, except in `record`, where they are those of the records.
//!
//! Input goes by once, as in a load: a million different rows and 64 MiB of text are gone through
//! chunk by chunk, so that no branch is learnt and no text is in the cache already. The output is
//! one chunk's memory, used again and again, which is in the cache; that too is as in a load.
//!
//! `index_sort`, `index_compare`, `index_pages` and `projection` are the way of a million rows to an
//! index, step by step.
//!
//! `copy` is how fast such a stream can be copied at all: the floor.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush_sqlite_pages::order::{compare, prefix};
use inrush_sqlite_pages::{
    IndexTree, LeafPacker, LeafRun, PageSink, PageSize, ProjectedColumn, Projection, RecordWriter,
    TableTree,
};

/// Rows there are.
const ROWS: usize = 1_000_000;
/// Text there is.
const TEXT: usize = 64 << 20;
/// Bytes that a chunk has, about.
const CHUNK: usize = 1 << 20;

fn main() {
    divan::main();
}

/// What rows are like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Nodes,
    Short,
    Null,
    Wide,
    Overflow,
}

const KINDS: [Kind; 5] = [Kind::Nodes, Kind::Short, Kind::Null, Kind::Wide, Kind::Overflow];

/// Everything a row is made of, so that the bench measures no generator.
struct Row {
    latitude: f64,
    longitude: f64,
    version: i64,
    timestamp: [u8; 19],
    changeset: i64,
    uid: i64,
    user: &'static str,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % end) as i64
    }
}

/// What is gone through chunk by chunk.
struct Input {
    rows: Vec<Row>,
    text: Vec<u8>,
    row: usize,
    at: usize,
}

impl Input {
    fn new(kind: Kind) -> Self {
        let mut random = Random(20_141_008);
        let users = ["rubensd", "sergionaranja", "O'Brien \"Bob\"", "Bob"];
        let is_text = matches!(kind, Kind::Wide | Kind::Overflow);
        let row = |_| Row {
            latitude: 36.0 + random.below(80_000_000) as f64 / 1e7,
            longitude: -9.0 + random.below(130_000_000) as f64 / 1e7,
            version: 1 + random.below(9),
            timestamp: *b"2011-09-21 20:47:05",
            changeset: 600_000 + random.below(12_000_000),
            uid: 1000 + random.below(500_000),
            user: users[random.below(4) as usize],
        };
        let rows = if is_text { Vec::new() } else { (0..ROWS).map(row).collect() };
        let text =
            if is_text { (0..TEXT).map(|i| b'a' + i as u8 % 26).collect() } else { Vec::new() };
        Self { rows, text, row: 0, at: 0 }
    }

    /// The next rows, those at the start after the last ones.
    fn rows(&mut self, count: usize) -> &[Row] {
        if self.row + count > self.rows.len() {
            self.row = 0;
        }
        self.row += count;
        &self.rows[self.row - count..self.row]
    }

    /// The next texts of `length` bytes.
    fn texts(&mut self, length: usize) -> impl Iterator<Item = &[u8]> {
        if self.at + CHUNK > self.text.len() {
            self.at = 0;
        }
        self.at += CHUNK;
        self.text[self.at - CHUNK..self.at].chunks_exact(length)
    }
}

/// Appends the values of a row, one after the other as an encoder does.
#[inline(always)]
fn write_node(record: &mut RecordWriter, row: &Row) {
    record.null();
    record.compact_real(row.latitude);
    record.compact_real(row.longitude);
    record.integer(row.version);
    record.text(&row.timestamp);
    record.integer(row.changeset);
    record.integer(row.uid);
    record.text(row.user.as_bytes());
}

/// Gives the records of a chunk to `take` and returns how many there were.
#[inline(always)]
fn records(
    kind: Kind,
    input: &mut Input,
    record: &mut RecordWriter,
    mut take: impl FnMut(&[u8]),
) -> usize {
    // About as many as make a chunk's bytes.
    let rows = match kind {
        Kind::Nodes => input.rows(13_000),
        Kind::Short | Kind::Null => input.rows(50_000),
        Kind::Wide | Kind::Overflow => {
            let length = if matches!(kind, Kind::Wide) { 1000 } else { 10_000 };
            for text in input.texts(length) {
                record.text(text);
                take(record.finish());
            }
            return CHUNK / length;
        }
    };
    for row in rows {
        match kind {
            Kind::Nodes => write_node(record, row),
            Kind::Short => (0..8).for_each(|i| record.integer(row.version * i)),
            _ => (0..8).for_each(|_| record.null()),
        }
        take(record.finish());
    }
    rows.len()
}

#[divan::bench(args = KINDS)]
fn record(bencher: Bencher, kind: Kind) {
    let mut input = Input::new(kind);
    let mut record = RecordWriter::new(8);
    let mut run = || {
        let mut bytes = 0;
        let rows =
            records(kind, &mut input, &mut record, |record| bytes += black_box(record).len());
        (rows, bytes)
    };
    // Chunks differ in length by less than one in a hundred.
    let (rows, bytes) = run();
    bencher.counter(BytesCount::new(bytes)).counter(ItemsCount::new(rows)).bench_local(run);
}

/// Records and pages, as an encoder makes them of a chunk, placed in the file.
fn bench_pages(bencher: Bencher, kind: Kind, size: PageSize) {
    let mut input = Input::new(kind);
    let mut record = RecordWriter::new(8);
    let (mut packer, mut run) = (LeafPacker::new(size), LeafRun::new(size));
    let mut rowid = 171_772;
    let mut pack = || {
        let rows = records(kind, &mut input, &mut record, |record| {
            packer.push(rowid, record);
            rowid += 1;
        });
        packer.finish(&mut run);
        run.relocate(1000);
        (rows, black_box(&run.pages()).len())
    };
    let (rows, bytes) = pack();
    bencher.counter(BytesCount::new(bytes)).counter(ItemsCount::new(rows)).bench_local(pack);
}

#[divan::bench(args = KINDS)]
fn pages(bencher: Bencher, kind: Kind) {
    bench_pages(bencher, kind, PageSize::ALL[3]);
}

/// Nodes rows in pages of every size.
#[divan::bench(args = PageSize::ALL.map(PageSize::bytes))]
fn page_sizes(bencher: Bencher, bytes: usize) {
    bench_pages(bencher, Kind::Nodes, PageSize::new(bytes as u32).expect("a page size"));
}

/// Gives numbers and stores nothing.
struct Numbers(u32);

impl PageSink for Numbers {
    fn reserve(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }

    fn store(&mut self, _number: u32, page: &[u8]) {
        black_box(page);
    }
}

/// Interior pages over 100,000 leaves, about 400 MB of rows.
#[divan::bench]
fn tree(bencher: Bencher) {
    let size = PageSize::ALL[3];
    bencher.counter(ItemsCount::new(100_000_u32)).bench_local(|| {
        let mut sink = Numbers(200_000);
        let mut tree = TableTree::new(size);
        for leaf in 0..100_000 {
            tree.push(2 + leaf, i64::from(leaf) * 50, &mut sink);
        }
        tree.finish(&mut sink)
    });
}

/// Entries of an index, in memory one behind the other.
struct Entries {
    bytes: Vec<u8>,
    /// Where the entries end.
    ends: Vec<usize>,
}

impl Entries {
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }
}

/// What is indexed.
#[derive(Clone, Copy, Debug)]
enum Key {
    /// An integer of 4 bytes, of which there are about half a million.
    Uid,
    /// A double of 8 bytes.
    Latitude,
    /// A text of 15 bytes or so that begins differently.
    Name,
    /// A text of 19 bytes whose first 13 are the same.
    Timestamp,
    /// One of 4 texts, then an integer.
    UserUid,
}

const KEYS: [Key; 5] = [Key::Uid, Key::Latitude, Key::Name, Key::Timestamp, Key::UserUid];

/// A million entries, in the order of the rows.
fn entries(key: Key) -> Entries {
    let mut input = Input::new(Kind::Nodes);
    let mut record = RecordWriter::new(3);
    let mut random = Random(1);
    let mut entries = Entries { bytes: Vec::new(), ends: Vec::new() };
    for (rowid, row) in (171_772..).zip(input.rows(ROWS)) {
        let bits = random.below(1 << 60) as u64;
        match key {
            Key::Uid => record.integer(row.uid),
            Key::Latitude => record.compact_real(row.latitude),
            Key::Name => record.text(format!("{bits:x}").as_bytes()),
            Key::Timestamp => {
                record.text(
                    format!("2011-09-21 20:{:02}:{:02}", bits % 60, bits / 60 % 60).as_bytes(),
                );
            }
            Key::UserUid => {
                record.text(row.user.as_bytes());
                record.integer(row.uid);
            }
        }
        record.integer(rowid);
        entries.bytes.extend_from_slice(record.finish());
        entries.ends.push(entries.bytes.len());
    }
    entries
}

/// The order of the entries, by prefix and then by record.
fn sorted(entries: &Entries) -> Vec<(u64, u32)> {
    let mut order: Vec<(u64, u32)> =
        (0..entries.ends.len()).map(|i| (prefix(entries.get(i)), i as u32)).collect();
    order.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| compare(entries.get(a.1 as usize), entries.get(b.1 as usize)))
    });
    order
}

/// A million entries into order.
#[divan::bench(args = KEYS, sample_count = 10)]
fn index_sort(bencher: Bencher, key: Key) {
    let entries = entries(key);
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| sorted(&entries));
}

/// Comparisons of neighbours, which is what merging sorted runs and `UNIQUE` do.
#[divan::bench(args = KEYS)]
fn index_compare(bencher: Bencher, key: Key) {
    let entries = entries(key);
    let order = sorted(&entries);
    let sorted: Vec<&[u8]> = order.iter().map(|(_, i)| entries.get(*i as usize)).collect();
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| sorted.windows(2).filter(|pair| compare(pair[0], pair[1]).is_lt()).count());
}

/// Sorted entries into pages.
#[divan::bench(args = KEYS)]
fn index_pages(bencher: Bencher, key: Key) {
    let entries = entries(key);
    let mut packed = Entries { bytes: Vec::new(), ends: Vec::new() };
    for (_, i) in sorted(&entries) {
        packed.bytes.extend_from_slice(entries.get(i as usize));
        packed.ends.push(packed.bytes.len());
    }
    bencher
        .counter(ItemsCount::new(ROWS))
        .counter(BytesCount::new(packed.bytes.len()))
        .bench_local(|| {
            let mut sink = Numbers(1);
            let mut tree = IndexTree::new(PageSize::ALL[3]);
            for i in 0..packed.ends.len() {
                tree.push(packed.get(i), &mut sink);
            }
            tree.finish(&mut sink)
        });
}

/// Columns of a nodes record as another record: one and the rowid, two and the rowid, all.
#[divan::bench(args = [1, 2, 8])]
fn projection(bencher: Bencher, columns: usize) {
    let mut input = Input::new(Kind::Nodes);
    let mut record = RecordWriter::new(8);
    let mut rows = Entries { bytes: Vec::new(), ends: Vec::new() };
    records(Kind::Nodes, &mut input, &mut record, |record| {
        rows.bytes.extend_from_slice(record);
        rows.ends.push(rows.bytes.len());
    });
    let columns: Vec<ProjectedColumn> = match columns {
        8 => [0, 7, 6, 5, 4, 3, 2, 1].map(ProjectedColumn::Column).to_vec(),
        1 => vec![ProjectedColumn::Column(6), ProjectedColumn::Rowid],
        _ => vec![ProjectedColumn::Column(7), ProjectedColumn::Column(6), ProjectedColumn::Rowid],
    };
    let mut projection = Projection::new(&columns);
    let mut out = Vec::new();
    bencher.counter(ItemsCount::new(rows.ends.len())).bench_local(|| {
        out.clear();
        for i in 0..rows.ends.len() {
            projection.write(rows.get(i), 171_772 + i as i64, &mut out);
        }
        black_box(&out).len()
    });
}

#[divan::bench]
fn copy(bencher: Bencher) {
    let mut input = Input::new(Kind::Wide);
    let mut to = vec![0_u8; CHUNK];
    bencher.counter(BytesCount::new(CHUNK)).bench_local(|| {
        for from in input.texts(CHUNK) {
            to.copy_from_slice(from);
        }
        black_box(&to).len()
    });
}
