//! How fast one thread encodes a chunk: records found, values checked and converted, the wire written.
//!
//! The rows are like those of the OpenStreetMap nodes table: 8 fields, 78 bytes, tabs; as text, and as columns in types of their own, which
//! is how Parquet and Arrow files come. The encoder is the one that a load of the same file would use: `sqlite/pages` writes SQLite's
//! records, `sqlite/bind` the cells of a prepared statement.
//!
//! Other programs on the machine don't change how many instructions that takes (a chunk is `ROWS` rows, and is encoded twice):
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*TextEncoder*encode*' BENCH --bench --sample-count 1 --sample-size 1 text::sqlite/pages
//! valgrind --tool=callgrind --toggle-collect='*ColumnsEncoder*encode*' BENCH --bench --sample-count 1 --sample-size 1 columns
//! ```

use std::path::Path;
use std::sync::atomic::AtomicBool;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush::pipe::{Chunk, Encoded};
use inrush::plan::DialectRequest;
use inrush::{LoadOptions, Request, Unobserved};
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
fn text(bencher: Bencher, strategy: &str) {
    let text = nodes();
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("nodes.tsv");
    std::fs::write(&source, &text).expect("a file");
    let chunk = Chunk { bytes: text.into_bytes(), ..Chunk::default() };
    encode(bencher.counter(BytesCount::of_slice(&chunk.bytes)), &source, strategy, &chunk);
}

#[cfg(feature = "parquet")]
#[divan::bench(args = ["sqlite/pages", "sqlite/bind"])]
fn columns(bencher: Bencher, strategy: &str) {
    let batch = batch(&nodes());
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("nodes.arrow");
    let file = std::fs::File::create(&source).expect("a file");
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(file, batch.schema_ref()).expect("a file");
    writer.write(&batch).and_then(|()| writer.finish()).expect("a file");
    let chunk = Chunk { batch: Some(batch), ..Chunk::default() };
    encode(bencher, &source, strategy, &chunk);
}

/// The same rows as columns.
#[cfg(feature = "parquet")]
fn batch(text: &str) -> arrow_array::RecordBatch {
    use arrow_array::{
        ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    };
    use std::sync::Arc;

    let column = |at: usize| text.lines().map(move |line| line.split('\t').nth(at).expect("8"));
    let integers = |at| -> ArrayRef {
        let values = column(at).map(|text| text.parse::<i64>().expect("an integer"));
        Arc::new(Int64Array::from_iter_values(values))
    };
    let floats = |at| -> ArrayRef {
        let values = column(at).map(|text| text.parse::<f64>().expect("a number"));
        Arc::new(Float64Array::from_iter_values(values))
    };
    let micros =
        column(4).map(|text| inrush_scan::timestamp_micros(text.as_bytes()).expect("a moment"));
    RecordBatch::try_from_iter([
        ("id", integers(0)),
        ("latitude", floats(1)),
        ("longitude", floats(2)),
        ("version", integers(3)),
        ("made", Arc::new(TimestampMicrosecondArray::from_iter_values(micros)) as ArrayRef),
        ("changeset", integers(5)),
        ("uid", integers(6)),
        ("user", Arc::new(StringArray::from_iter_values(column(7))) as ArrayRef),
    ])
    .expect("columns of the same length")
}

/// Measures the encoder of a load of this file into a new table.
fn encode(bencher: Bencher, source: &Path, strategy: &str, chunk: &Chunk) {
    // Columns have names.
    let header = (!chunk.bytes.is_empty()).then_some(false);
    let request = Request {
        sources: vec![source.display().to_string()],
        target: source.with_extension("db").display().to_string(),
        dialect: DialectRequest { header, ..DialectRequest::default() },
        options: LoadOptions { strategy: Some(strategy.to_owned()), ..LoadOptions::default() },
        split: None,
        spare: Default::default(),
    };
    let plan = inrush::plan(&request, &Unobserved).expect("a plan");
    let stop = AtomicBool::new(false);
    let mut load = plan.choice.strategy.begin(&plan, &stop).expect("a load");
    let mut encoder = load.encoder();
    let mut encoded = Encoded::default();
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        encoded.wire.clear();
        encoder.encode(black_box(chunk), &mut encoded);
        assert_eq!(encoded.wire.rows.len(), ROWS);
    });
    drop(encoder);
    load.abort();
}
