//! Any rows of any table: the reader of the tests finds the file in order, and the rows in it.

#![no_main]

#[allow(dead_code, reason = "tests look at more")]
#[path = "../../crates/innodb-pages/tests/it/reader.rs"]
mod reader;
#[allow(dead_code, reason = "servers are not asked here")]
#[path = "../../crates/innodb-pages/tests/it/rows.rs"]
mod rows;

use inrush_innodb_pages::Template;
use libfuzzer_sys::fuzz_target;

use rows::{Random, Table, Type, write};

const FILES: [&[u8]; 2] = [
    include_bytes!("../../crates/innodb-pages/tests/it/templates/mariadb-10.11"),
    include_bytes!("../../crates/innodb-pages/tests/it/templates/mysql-8.0"),
];

fuzz_target!(|input: &[u8]| {
    // What the table is like, how long its values are, how many rows there are of them, and a byte for each column.
    let [which, key, long, count, columns @ ..] = input else { return };
    let columns: Vec<_> = columns.iter().take(100).enumerate().collect();
    let key = usize::from(key % 4).min(columns.len());
    let of = |(i, byte): &(usize, &u8)| {
        let types = if *i < key { Type::KEYS } else { Type::ALL };
        (types[usize::from(**byte) % types.len()], *i >= key && **byte >= 128)
    };
    let table = Table { columns: columns.iter().map(of).collect(), key };
    if table.columns.is_empty() {
        return;
    }
    let long = [40, 300, 9000, 40_000][usize::from(long % 4)];
    let count = (usize::from(*count) * 8).min(1 + 400_000 / (long * table.columns.len()));
    let seed = input.iter().fold(0, |seed: u64, byte| seed.wrapping_mul(31) ^ u64::from(*byte));
    let layout = table.layout();
    let mut rows = table.rows(&mut Random(seed), count, long);
    // Of some tables no row fits.
    let mut encoder = inrush_innodb_pages::Encoder::new(&layout);
    rows.retain(|row| rows::encode(&mut encoder, row, &mut Vec::new()).is_ok());
    let template = Template::read(FILES[usize::from(which % 2)]).expect("a template");
    let (file, summary) = write(&template, &layout, &rows);
    assert_eq!(summary.rows, rows.len() as u64);
    assert!(reader::read(&file, &layout).rows == rows);
});
