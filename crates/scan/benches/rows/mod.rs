//! Rows that look random and are the same in every run, for all benches that read text.

use std::fmt::Write as _;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

/// Appends a row like those of the OpenStreetMap nodes table: 8 fields, 78 bytes, tabs. One user in 16 is `rare`.
pub(crate) fn node(text: &mut String, random: &mut Random, rare: &str) {
    let id = 171_772 + text.len() as u64 / 4;
    let latitude = 36 + random.below(8);
    let longitude = random.below(13) as i64 - 9;
    let user = match random.below(16) {
        0 => rare,
        1 => "O'Brien \"Bob\"",
        2..=6 => "sergionaranja",
        _ => "rubensd",
    };
    let mut below = |end| random.below(end);
    writeln!(
        text,
        "{id}\t{latitude}.{:07}\t{longitude}.{:07}\t{}\t\
         {}-{:02}-{:02} {:02}:{:02}:{:02}\t{}\t{}\t{user}",
        below(10_000_000),
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
    )
    .expect("a String takes everything");
}
