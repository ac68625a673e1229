//! How fast a chunk of 1 MiB of JSON is cut and scanned.
//!
//! `nodes` are the rows of `speed.rs` as objects on lines of 140 bytes: 8 members, 6 of them
//! numbers. `numbers` are 8 numbers, `texts` 4 strings of 40 bytes, `escaped` the same with an
//! escape in each, `nested` has an object and an array inside, `shuffled` has each second record's
//! members in another order, `pretty` are the nodes over 8 lines each, in an array. `serde_value`
//! makes `serde_json` values of lines, `serde_ignored` only checks them. (`sonic-rs` was measured once,
//! 0.5.10: its iterator over the members, values left as they are, has 470 MB/s where `scan` has
//! 1.6 GB/s, for nodes. It isn't here because it takes 40 crates.)

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use inrush_scan::{JsonCutter, JsonLayout, JsonPart, JsonScanner, Tail};

use rows::{Random, node};

#[allow(dead_code, reason = "the bench of delimited text uses all of it")]
mod rows;

const CHUNK: usize = 1 << 20;

fn main() {
    divan::main();
}

/// What the records are like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Nodes,
    Numbers,
    Texts,
    Escaped,
    Nested,
    Shuffled,
    Pretty,
}

const KINDS: [Kind; 7] = [
    Kind::Nodes,
    Kind::Numbers,
    Kind::Texts,
    Kind::Escaped,
    Kind::Nested,
    Kind::Shuffled,
    Kind::Pretty,
];

const KEYS: [&str; 8] =
    ["id", "latitude", "longitude", "version", "timestamp", "changeset", "uid", "user"];

impl Kind {
    fn layout(self) -> JsonLayout {
        if matches!(self, Self::Pretty) { JsonLayout::Array } else { JsonLayout::Lines }
    }

    /// One chunk of whole records.
    fn text(self) -> Vec<u8> {
        let mut random = Random(20_141_008);
        let mut text = String::from(if matches!(self, Self::Pretty) { "[\n" } else { "" });
        let mut count = 0;
        while text.len() < CHUNK {
            count += 1;
            match self {
                Self::Nodes => text += &object(&mut random, &KEYS, ",", "\n"),
                Self::Shuffled => {
                    let mut keys = KEYS;
                    keys.rotate_left(count % 2 * 3);
                    text += &object(&mut random, &keys, ",", "\n");
                }
                Self::Pretty => text += &object(&mut random, &KEYS, ",\n    ", ",\n  "),
                Self::Numbers => {
                    let members: Vec<String> = (0..8)
                        .map(|i| format!("\"column{i}\":{}", random.below(10_u64.pow(1 + i))))
                        .collect();
                    text += &format!("{{{}}}\n", members.join(","));
                }
                Self::Texts | Self::Escaped => {
                    let escape = if matches!(self, Self::Escaped) { "\\n" } else { "" };
                    let members: Vec<String> = (0..4)
                        .map(|i| {
                            format!("\"column{i}\":\"{escape}{:040x}\"", random.below(1 << 60))
                        })
                        .collect();
                    text += &format!("{{{}}}\n", members.join(","));
                }
                Self::Nested => {
                    let (a, b) = (random.below(1000), random.below(1000));
                    text += &format!(
                        "{{\"id\":{a},\"name\":\"some name\",\"tags\":[\"x\",\"yy\",{b}],\
                         \"place\":{{\"city\":\"Lisboa\",\"latitude\":38.7,\"rest\":{{}}}}}}\n"
                    );
                }
            }
        }
        if matches!(self, Self::Pretty) {
            text.truncate(text.len() - ",\n  ".len());
            text += "\n]\n";
        }
        text.into_bytes()
    }
}

/// A node as an object, what comes between its members, and what comes behind it.
fn object(random: &mut Random, keys: &[&str; 8], between: &str, behind: &str) -> String {
    let mut row = String::new();
    node(&mut row, random, "Bob");
    let values: Vec<&str> = row.trim_end().split('\t').collect();
    let members = keys.iter().map(|key| {
        let index = KEYS.iter().position(|other| other == key).expect("a key");
        let value = values[index].replace('"', "'");
        if matches!(*key, "timestamp" | "user") {
            format!("\"{key}\":\"{value}\"")
        } else {
            format!("\"{key}\":{value}")
        }
    });
    format!("{{{}}}{behind}", members.collect::<Vec<_>>().join(between))
}

#[divan::bench(args = KINDS)]
fn scan(bencher: Bencher, kind: Kind) {
    let text = kind.text();
    let mut members = Vec::new();
    bencher.counter(BytesCount::of_slice(&text)).bench_local(|| {
        let mut scanner = JsonScanner::new(kind.layout(), JsonPart::WHOLE, black_box(&text));
        let mut bytes = 0;
        while let Some(record) = scanner.next(&mut members) {
            assert!(record.fault.is_none());
            bytes += members.last().map_or(0, |member| member.value.end - member.value.start);
        }
        bytes
    });
}

/// Lines as values one after the other: the ends of lines needn't be looked for.
#[divan::bench(args = KINDS)]
fn cut(bencher: Bencher, kind: Kind) {
    let text = kind.text();
    let layout = match kind.layout() {
        JsonLayout::Lines => JsonLayout::Values,
        other => other,
    };
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench(|| JsonCutter::new(layout).cut(black_box(&text), text.len() - 1, Tail::End));
}

#[divan::bench(args = [Kind::Nodes, Kind::Numbers, Kind::Texts, Kind::Nested])]
fn serde_value(bencher: Bencher, kind: Kind) {
    let text = kind.text();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| {
        let lines = black_box(&text).split(|&byte| byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok()).count()
    });
}

#[divan::bench(args = [Kind::Nodes, Kind::Numbers, Kind::Texts, Kind::Nested])]
fn serde_ignored(bencher: Bencher, kind: Kind) {
    let text = kind.text();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| {
        let lines = black_box(&text).split(|&byte| byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice::<serde::de::IgnoredAny>(line).ok()).count()
    });
}
