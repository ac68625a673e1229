//! How fast values become records, and records a tablespace, on one core.
//!
//! `Nodes` are rows like those of the OpenStreetMap nodes table: an id that is the key, two coordinates (`DECIMAL(10,7)`), a version, a
//! timestamp, two more numbers, a name; 75 bytes on a page. `Texts` have a key and a text of 1 kB, `Long` a key and a text of 20 kB,
//! which goes elsewhere. `Names` have no more than a key of 20 characters. Bytes are those of records.
//!
//! A chunk of records is gone through again and again, as its key is written anew each time; it is in the cache, as in a load.
//!
//! `copy` is how fast such a stream can be copied at all: the floor.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush_innodb_pages::{Column, Encoder, Layout, Sink, Tablespace, Template, records};

fn main() {
    divan::main();
}

/// What rows are like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Nodes,
    Texts,
    Long,
    Names,
}

const KINDS: [Kind; 4] = [Kind::Nodes, Kind::Texts, Kind::Long, Kind::Names];

impl Kind {
    fn layout(self) -> Layout {
        let (columns, key) = match self {
            Self::Nodes => {
                let mut columns = vec![Column::fixed(8)];
                columns.extend([5, 5, 4, 4, 4, 4].map(|bytes| Column::fixed(bytes).nullable()));
                columns.push(Column::variable(1020).nullable());
                (columns, 1)
            }
            Self::Texts | Self::Long => (vec![Column::fixed(8), Column::blob(65_535)], 1),
            Self::Names => (vec![Column::variable(80)], 1),
        };
        Layout::new(columns, key).expect("a table")
    }

    /// Rows that make a megabyte, about.
    fn rows(self) -> u64 {
        match self {
            Self::Nodes => 13_000,
            Self::Texts => 1000,
            Self::Long => 50,
            Self::Names => 25_000,
        }
    }

    /// Appends the record of row `i`.
    #[inline(always)]
    fn encode(self, encoder: &mut Encoder, text: &[u8], i: u64, wire: &mut Vec<u8>) {
        let mut row = encoder.row(wire);
        let key = (1 << 63 | i).to_be_bytes();
        match self {
            Self::Nodes => {
                row.field(&key);
                row.field(&text[..5]);
                row.field(&text[5..10]);
                row.field(&text[10..14]);
                row.field(&text[14..18]);
                row.field(&text[18..22]);
                row.field(&text[22..26]);
                row.field(&text[26..26 + 4 + i as usize % 13]);
            }
            Self::Texts => {
                row.field(&key);
                row.field(&text[..1000]);
            }
            Self::Long => {
                row.field(&key);
                row.field(&text[..20_000]);
            }
            Self::Names => {
                let mut name = *b"00000000000000000000";
                let mut rest = i;
                for digit in name.iter_mut().rev().take(12) {
                    *digit = b'0' + (rest % 10) as u8;
                    rest /= 10;
                }
                row.field(&name);
            }
        }
        row.finish().expect("a row fits");
    }
}

/// Takes pages and forgets them.
struct Nowhere;

impl Sink for Nowhere {
    type Error = std::convert::Infallible;

    fn pages(&mut self, _: u32, pages: &mut Vec<u8>) -> Result<(), Self::Error> {
        black_box(pages);
        Ok(())
    }
}

fn text() -> Vec<u8> {
    (0..20_000).map(|i| b'a' + (i % 26) as u8).collect()
}

fn template() -> Template {
    Template::read(include_bytes!("../tests/it/templates/mariadb-10.11")).expect("a template")
}

/// Chunks of records, whose keys go on from one to the next: more than a sample looks at.
struct Chunks {
    kind: Kind,
    encoder: Encoder,
    text: Vec<u8>,
    next: u64,
    wire: Vec<u8>,
}

impl Chunks {
    fn new(kind: Kind) -> Self {
        let encoder = Encoder::new(&kind.layout());
        Self { kind, encoder, text: text(), next: 0, wire: Vec::new() }
    }

    #[inline(always)]
    fn encode(&mut self) -> &[u8] {
        self.wire.clear();
        for _ in 0..self.kind.rows() {
            self.kind.encode(&mut self.encoder, &self.text, self.next, &mut self.wire);
            self.next += 1;
        }
        &self.wire
    }
}

/// What a chunk has of each.
fn rows(kind: Kind) -> ItemsCount {
    ItemsCount::new(kind.rows())
}

fn bytes(kind: Kind) -> BytesCount {
    BytesCount::new(Chunks::new(kind).encode().len())
}

/// Values to records.
#[divan::bench(args = KINDS)]
fn encode(bencher: Bencher, kind: Kind) {
    let mut chunks = Chunks::new(kind);
    bencher
        .counter(rows(kind))
        .counter(bytes(kind))
        .bench_local(|| black_box(chunks.encode()).len());
}

/// Records to pages.
#[divan::bench(args = KINDS)]
fn push(bencher: Bencher, kind: Kind) {
    let template = template();
    let layout = kind.layout();
    let mut chunks = Chunks::new(kind);
    let mut tablespace = Tablespace::new(&template, &layout, Nowhere);
    bencher
        .counter(rows(kind))
        .counter(bytes(kind))
        .with_inputs(|| chunks.encode().to_vec())
        .bench_local_refs(|wire| {
            records(wire).try_for_each(|record| tablespace.push(record)).expect("keys ascend");
        });
}

/// The same bytes copied.
#[divan::bench(args = KINDS)]
fn copy(bencher: Bencher, kind: Kind) {
    let wire = Chunks::new(kind).encode().to_vec();
    let mut to = vec![0; wire.len()];
    bencher.counter(rows(kind)).counter(bytes(kind)).bench_local(|| {
        to.copy_from_slice(black_box(&wire));
        black_box(&mut to);
    });
}
