//! How fast items are sorted: pushed, finished and read back, on all cores there are.
//!
//! 5,000,000 items, as of an index: a key and the rowid. `Random`, `Sorted` and `Few` have a number as key, any, one greater
//! than the last, one of 1,000, and 20 bytes; `Text` are addresses of 32 bytes that differ after 20, more than a prefix tells.
//! Items are made while they are pushed, some nanoseconds each. Files are in the temporary directory.
//!
//! With 24 MB sorting takes 15 runs or more; 400 MB hold everything.

use std::cmp::Ordering;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use inrush_sort::{Order, Sorter, nameless_file};

const ITEMS: u64 = 5_000_000;

fn main() {
    divan::main();
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Random,
    Sorted,
    Few,
    Text,
}

const KINDS: [Kind; 4] = [Kind::Random, Kind::Sorted, Kind::Few, Kind::Text];

#[derive(Clone)]
struct Bytes;

impl Order for Bytes {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        a.cmp(b)
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

/// Sorts so many items and returns how many came back.
fn sort(kind: Kind, memory_bytes: usize) -> u64 {
    let mut random = Random(20_141_008);
    let mut sorter = Sorter::new(Bytes, memory_bytes, || nameless_file(&std::env::temp_dir()));
    let mut item = *b"https://example.org/............";
    for rowid in 0..ITEMS {
        let key = match kind {
            Kind::Random | Kind::Text => random.next(),
            Kind::Sorted => 3 * rowid,
            Kind::Few => random.next() % 1000,
        };
        let length = if let Kind::Text = kind {
            for (index, byte) in item[20..].iter_mut().enumerate() {
                *byte = b'a' + (key >> (5 * index) & 15) as u8;
            }
            32
        } else {
            item[..8].copy_from_slice(&key.to_be_bytes());
            item[8..16].copy_from_slice(&rowid.to_be_bytes());
            20
        };
        let prefix = item.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        sorter.push(prefix, &item[..length]).expect("room for the runs");
    }
    let mut sorted = sorter.finish().expect("room for the runs");
    let mut count = 0;
    while let Some(item) = sorted.next_item().expect("the runs") {
        black_box(item);
        count += 1;
    }
    assert_eq!(count, ITEMS);
    count
}

#[divan::bench(args = KINDS, sample_count = 9, sample_size = 1)]
fn memory_24_mb(bencher: Bencher, kind: Kind) {
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| sort(kind, 24_000_000));
}

#[divan::bench(args = KINDS, sample_count = 9, sample_size = 1)]
fn memory_400_mb(bencher: Bencher, kind: Kind) {
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| sort(kind, 400_000_000));
}
