//! How fast a chunk of 1 MiB is cut, scanned and read as numbers.
//!
//! `nodes` are rows like those of the OpenStreetMap nodes table: 8 fields, 78 bytes, tabs, here and
//! there a quote inside a field. `short` are 8 fields of 8 bytes with commas, `quoted` the same in
//! quotes, `broken` rows that open a quote and never close it. `memchr` counts newlines, to say how
//! fast the machine can read at all.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use inrush_scan::{Cutter, Dialect, Scanner, Tail};
use std::fmt::Write as _;

use rows::{Random, node};

mod rows;

const CHUNK: usize = 1 << 20;

fn main() {
    divan::main();
}

/// A text and how it is to be read.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Nodes,
    NodesWithoutQuotes,
    NodesWithEscapes,
    Short,
    Quoted,
    QuotedWithEscapes,
    Broken,
}

const KINDS: [Kind; 7] = [
    Kind::Nodes,
    Kind::NodesWithoutQuotes,
    Kind::NodesWithEscapes,
    Kind::Short,
    Kind::Quoted,
    Kind::QuotedWithEscapes,
    Kind::Broken,
];

impl Kind {
    fn dialect(self) -> Dialect {
        match self {
            Self::Nodes => Dialect::tsv(),
            Self::NodesWithoutQuotes => Dialect { quote: None, ..Dialect::tsv() },
            Self::NodesWithEscapes => {
                Dialect { quote: None, escape: Some(b'\\'), ..Dialect::tsv() }
            }
            Self::Short | Self::Quoted | Self::Broken => Dialect::csv(),
            Self::QuotedWithEscapes => Dialect { escape: Some(b'\\'), ..Dialect::csv() },
        }
    }

    /// One chunk of whole rows.
    fn text(self) -> Vec<u8> {
        let mut random = Random(20_141_008);
        let mut text = String::new();
        while text.len() < CHUNK {
            match self {
                Self::Nodes | Self::NodesWithoutQuotes => node(&mut text, &mut random, "Bob"),
                Self::NodesWithEscapes => node(&mut text, &mut random, "\\N"),
                Self::Short => eight(&mut text, &mut random, ""),
                Self::Quoted | Self::QuotedWithEscapes => eight(&mut text, &mut random, "\""),
                // Opens a quote, whether or not one is open.
                Self::Broken => text.push_str("\",x\",\"12345678\n"),
            }
        }
        text.into_bytes()
    }
}

fn eight(text: &mut String, random: &mut Random, quote: &str) {
    for i in 0..8 {
        let end = if i == 7 { '\n' } else { ',' };
        write!(text, "{quote}{:08x}{quote}{end}", random.below(1 << 32))
            .expect("a String takes everything");
    }
}

#[divan::bench]
fn memchr(bencher: Bencher) {
    let text = Kind::Nodes.text();
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench(|| memchr::memchr_iter(b'\n', black_box(&text)).count());
}

#[divan::bench(args = KINDS)]
fn scan(bencher: Bencher, kind: Kind) {
    let (dialect, text) = (kind.dialect(), kind.text());
    let mut fields = Vec::new();
    bencher.counter(BytesCount::of_slice(&text)).bench_local(|| {
        let mut scanner = Scanner::new(&dialect, black_box(&text));
        let mut bytes = 0;
        while scanner.next(&mut fields).is_some() {
            bytes += fields.last().map_or(0, |field| field.end - field.start);
        }
        bytes
    });
}

#[divan::bench(args = KINDS)]
fn cut(bencher: Bencher, kind: Kind) {
    let (cutter, text) = (Cutter::new(&kind.dialect()), kind.text());
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench(|| cutter.cut(black_box(&text), text.len() - 1, Tail::End));
}

fn numbers(digits: u32) -> Vec<String> {
    let mut random = Random(7);
    let low = 10_u64.pow(digits - 1);
    (0..1000).map(|_| (low + random.below(8 * low)).to_string()).collect()
}

fn floats(whole: u64, fraction: usize) -> Vec<String> {
    let mut random = Random(8);
    let digits = 10_u64.pow(fraction as u32);
    let mut float = || format!("{}.{:0fraction$}", random.below(whole), random.below(digits));
    (0..1000).map(|_| float()).collect()
}

#[divan::bench(args = [1, 4, 8, 12, 18, 19])]
fn integer(bencher: Bencher, digits: u32) {
    let texts = numbers(digits);
    bencher.counter(ItemsCount::of_iter(&texts)).bench(|| {
        let texts = black_box(&texts).iter();
        texts
            .map(|text| inrush_scan::integer(text.as_bytes()).expect("a number"))
            .fold(0, i64::wrapping_add)
    });
}

#[divan::bench(args = [2, 7, 14])]
fn float(bencher: Bencher, fraction: usize) {
    let texts = floats(180, fraction);
    bencher.counter(ItemsCount::of_iter(&texts)).bench(|| {
        let texts = black_box(&texts).iter();
        texts.map(|text| inrush_scan::float(text.as_bytes()).expect("a number")).sum::<f64>()
    });
}

#[divan::bench(args = [2, 7, 14])]
fn float_round_trips(bencher: Bencher, fraction: usize) {
    let texts = floats(180, fraction);
    bencher.counter(ItemsCount::of_iter(&texts)).bench(|| {
        let texts = black_box(&texts).iter();
        texts.filter(|text| inrush_scan::float_round_trips(text.as_bytes())).count()
    });
}

#[divan::bench]
fn timestamp_micros(bencher: Bencher) {
    let texts: Vec<String> = (0..1000)
        .map(|i| format!("20{:02}-{:02}-{:02} 12:00:{:02}", i % 30, i % 12 + 1, i % 28 + 1, i % 60))
        .collect();
    bencher.counter(ItemsCount::of_iter(&texts)).bench(|| {
        let texts = black_box(&texts).iter();
        texts.filter_map(|text| inrush_scan::timestamp_micros(text.as_bytes())).sum::<i64>()
    });
}
