//! How fast one thread encodes a chunk: records found, values checked and converted, the wire written.
//!
//! The rows are like those of the OpenStreetMap nodes table: 8 fields, 77 bytes, tabs. The encoder is the one that a load of the
//! same file would use: `sqlite/pages` writes SQLite's records, `sqlite/bind` the cells of a prepared statement.
//!
//! Other programs on the machine don't change how many instructions that takes (a chunk is `ROWS` rows, and is encoded twice):
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*TextEncoder*encode*' BENCH --bench --sample-count 1 --sample-size 1 pages
//! ```

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush::pipe::{Chunk, Encoded};
use inrush::plan::DialectRequest;
use inrush::{Request, Unobserved};

const ROWS: usize = 10_000;

fn main() {
    divan::main();
}

/// Rows from SplitMix64.
fn nodes() -> String {
    let mut state = 20_141_008_u64;
    let mut below = |end: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    };
    let mut text = String::new();
    let mut id = 171_772;
    for _ in 0..ROWS {
        id += 1 + below(40);
        let user = ["sergionaranja", "rubensd", "Ivan Garcia", "j3m", "O'Brien \"Bob\""];
        writeln!(
            text,
            "{id}\t{}.{:07}\t{}.{:07}\t{}\t{}-{:02}-{:02} {:02}:{:02}:{:02}\t{}\t{}\t{}",
            36 + below(8),
            below(10_000_000),
            below(13) as i64 - 9,
            below(10_000_000),
            1 + below(9),
            2006 + below(8),
            1 + below(12),
            1 + below(28),
            below(24),
            below(60),
            below(60),
            600_000 + below(12_000_000),
            1000 + below(500_000),
            user[below(5) as usize],
        )
        .expect("a String takes everything");
    }
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
