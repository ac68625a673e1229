//! For the tests of encoders: a value in a type of its own becomes exactly what its text becomes.
//!
//! ```text
//! a random typed value -+-> the encoder, as it is      -+-> the same bytes, cells or misfit
//!                       +-> the encoder, as its text   -+
//! ```

use std::cell::RefCell;

use inrush_scan::Field;
use proptest::prelude::*;

use inrush_core::encode::{EncodeRow, Moment, Row, Typed};
use inrush_core::flow::{Cell, Home, Span, Wire};

/// A row whose values are all the same.
struct Same {
    typed: Typed,
    /// Whether the value shows its type; else there is its text.
    shows: bool,
}

impl Row for Same {
    fn typed(&self, _column: usize) -> Option<Typed> {
        self.shows.then_some(self.typed)
    }

    fn value(&self, _column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        let at = values.len();
        self.typed.write(values);
        Some((Home::Wire, Span { at: at as u32, len: (values.len() - at) as u32 }))
    }

    fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8] {
        assert_eq!(home, Home::Wire);
        &values[span.at as usize..(span.at + span.len) as usize]
    }

    fn fields(&self) -> &[Field] {
        &[]
    }

    fn text(&self) -> &[u8] {
        &[]
    }
}

/// What an encoder makes of the row: bytes and cells, or the misfit.
fn outcome(encoder: &mut impl EncodeRow, row: &Same) -> String {
    let mut wire = Wire::default();
    if let Err(bad) = encoder.row(row, &mut wire) {
        return format!("{bad:?}");
    }
    let mut outcome = wire.bytes.escape_ascii().to_string();
    for cell in &wire.cells {
        let shown = match *cell {
            Cell::Text(home, span) => {
                format!("Text({})", row.bytes(home, span, &wire.values).escape_ascii())
            }
            Cell::Bytes(home, span) => {
                format!("Bytes({})", row.bytes(home, span, &wire.values).escape_ascii())
            }
            cell => format!("{cell:?}"),
        };
        outcome += " ";
        outcome += &shown;
    }
    outcome
}

/// Compares what each encoder, which has a name for messages, makes of many values with what it makes of their texts.
pub fn check<E: EncodeRow>(encoders: impl IntoIterator<Item = (String, E)>) {
    check_where(|_| true, encoders);
}

/// [`check`] for some of the values.
pub fn check_where<E: EncodeRow>(
    has_text: impl Fn(Typed) -> bool,
    encoders: impl IntoIterator<Item = (String, E)>,
) {
    let encoders = RefCell::new(encoders.into_iter().collect::<Vec<_>>());
    // Findings go into the tests, not into files beside them.
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(typed in typed())| {
        prop_assume!(has_text(typed));
        for (name, encoder) in encoders.borrow_mut().iter_mut() {
            let straight = outcome(encoder, &Same { typed, shows: true });
            let by_text = outcome(encoder, &Same { typed, shows: false });
            prop_assert_eq!(straight, by_text, "{:?} into {}", typed, name);
        }
    });
}

/// Any value but bytes; many are those at which types end.
fn typed() -> impl Strategy<Value = Typed> {
    prop_oneof![
        any::<bool>().prop_map(Typed::Boolean),
        integer().prop_map(Typed::Integer),
        float().prop_map(Typed::Float),
        decimal(),
        day().prop_map(Typed::Date),
        moment().prop_map(Typed::Moment),
    ]
}

fn integer() -> impl Strategy<Value = i64> {
    // One beside each power of two and of ten.
    let beside = |number: i64| (-2..=2_i64).prop_map(move |by| number.wrapping_add(by));
    prop_oneof![
        -3..300_i64,
        1900..2200_i64,
        (any::<i64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift),
        (0..64_u32).prop_flat_map(move |power| beside(1 << power)),
        (0..64_u32).prop_flat_map(move |power| beside(-1 << power)),
        (0..19_u32, any::<bool>()).prop_flat_map(move |(power, negative)| {
            let number = 10_i64.pow(power);
            beside(if negative { -number } else { number })
        }),
    ]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any::<u32>().prop_map(|bits| f64::from(f32::from_bits(bits))),
        integer().prop_map(|number| number as f64),
        (integer(), 0..25_i32).prop_map(|(number, scale)| number as f64 / 10_f64.powi(scale)),
        // Right between two singles.
        any::<u64>().prop_map(|bits| f64::from_bits(bits >> 29 << 29 | 1 << 28)),
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            1e15,
            1e16,
            1e22,
        ]),
    ]
}

fn decimal() -> impl Strategy<Value = Typed> {
    let digits = prop_oneof![
        integer().prop_map(i128::from),
        (any::<i128>(), 0..128_u32).prop_map(|(bits, shift)| bits >> shift),
        (0..39_u32, -1..=1_i128).prop_map(|(power, by)| 10_i128.pow(power.min(38)) + by),
        (0..1000_i128, 0..30_u32).prop_map(|(number, zeros)| number * 10_i128.pow(zeros)),
    ];
    let scale = prop_oneof![Just(0_u8), 1..7_u8, 0..39_u8];
    (digits, scale).prop_map(|(digits, scale)| Typed::Decimal { digits, scale })
}

fn day() -> impl Strategy<Value = i32> {
    prop_oneof![
        0..20_000_i32,
        -800_000..3_000_000_i32,
        any::<i32>(),
        prop::sample::select(vec![-719_162, -719_163, 2_932_896, 2_932_897, -366, -365, 49_673]),
    ]
}

fn moment() -> impl Strategy<Value = Moment> {
    let seconds = prop_oneof![
        0..2_000_000_000_i64,
        (day(), 0..86_400_i64).prop_map(|(day, second)| i64::from(day) * 86_400 + second),
        day().prop_map(|day| i64::from(day) * 86_400),
        // As far as milliseconds of 64 bits reach.
        -9_223_372_036_854_775..9_223_372_036_854_776_i64,
    ];
    let nanos = prop_oneof![
        Just(0),
        (0..1000_u32).prop_map(|millis| millis * 1_000_000),
        (0..1_000_000_u32).prop_map(|micros| micros * 1000),
        0..1_000_000_000_u32,
    ];
    (seconds, nanos, any::<bool>()).prop_map(|(seconds, nanos, zone)| Moment {
        seconds,
        nanos,
        zone,
    })
}
