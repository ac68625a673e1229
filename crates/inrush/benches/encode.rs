//! How fast one thread encodes a chunk: records found, values checked and converted, the wire written.
//!
//! The rows are like those of the OpenStreetMap nodes table: 8 fields, 78 bytes, tabs. The encoder is the one that a load of the
//! same file would use: `sqlite/pages` writes SQLite's records, `sqlite/bind` the cells of a prepared statement.
//!
//! Other programs on the machine don't change how many instructions that takes (a chunk is `ROWS` rows, and is encoded twice):
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*TextEncoder*encode*' BENCH --bench --sample-count 1 --sample-size 1 pages
//! ```

use std::sync::atomic::AtomicBool;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush::pipe::{Chunk, Encoded};
use inrush::plan::DialectRequest;
use inrush::{Request, Unobserved};
use rows::{Random, node};

#[path = "../../scan/benches/rows/mod.rs"]
mod rows;

const ROWS: usize = 10_000;

fn main() {
    divan::main();
}

fn nodes() -> String {
    let mut random = Random(20_141_008);
    let mut text = String::new();
    (0..ROWS).for_each(|_| node(&mut text, &mut random, "O'Brien"));
    text
}

#[divan::bench(args = ["sqlite/pages", "sqlite/bind"])]
fn encode(bencher: Bencher, strategy: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("nodes.tsv");
    let text = nodes();
    std::fs::write(&source, &text).expect("a file");
    let request = Request {
        sources: vec![source.display().to_string()],
        target: folder.path().join("nodes.db").display().to_string(),
        dialect: DialectRequest { header: Some(false), ..DialectRequest::default() },
        strategy: Some(strategy.to_owned()),
        ..Request::default()
    };
    let plan = inrush::plan(&request, &Unobserved).expect("a plan");
    let stop = AtomicBool::new(false);
    let mut load = plan.choice.strategy.begin(&plan, &stop).expect("a load");
    let mut encoder = load.encoder();
    let chunk = Chunk { bytes: text.into_bytes(), ..Chunk::default() };
    let mut encoded = Encoded::default();
    bencher.counter(BytesCount::of_slice(&chunk.bytes)).counter(ItemsCount::new(ROWS)).bench_local(
        || {
            encoded.wire.clear();
            encoder.encode(black_box(&chunk), &mut encoded);
            assert_eq!(encoded.wire.rows.len(), ROWS);
        },
    );
    drop(encoder);
    load.abort();
}
