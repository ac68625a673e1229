//! Moments that are finer, or further away, than what a target's type keeps.

use std::cmp::Ordering;

use crate::encode::{Moment, Typed};
use crate::facts::{FieldFacts, Misfit};
use crate::reading::ReadType;
use crate::schema::Type;
use crate::wording::said_of;

/// What is known of a column's moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MomentFacts {
    /// The most decimal digits of a second that one needs; zeros at its end are none.
    pub digits: u8,
    /// The first value that needs so many. `None` where no value was looked at: then the digits are those that the input's own type
    /// has room for.
    pub finest: Option<Misfit>,
    /// The first and the last, in nanoseconds since 1970-01-01 00:00:00.
    pub span: Option<(i128, i128)>,
}

impl MomentFacts {
    /// Adds a value, and says whether it is finer than all before.
    pub fn see(&mut self, moment: &inrush_scan::Timestamp) -> bool {
        let digits = digits(moment.nanoseconds);
        let is_finest = self.span.is_none() || digits > self.digits;
        if is_finest {
            self.digits = digits;
        }
        let at = i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds);
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        is_finest
    }

    /// Adds what was seen elsewhere, and says how fine this was beside it.
    pub fn merge(&mut self, other: &Self) -> Ordering {
        let fineness = |facts: &Self| facts.span.map(|_| facts.digits);
        let order = fineness(self).cmp(&fineness(other));
        self.digits = self.digits.max(other.digits);
        self.span = match (self.span, other.span) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (a, b) => a.or(b),
        };
        order
    }

    /// The first of them or the last, where 64 bits of nanoseconds don't hold it; where their ends are infinities, without those.
    fn beyond_nanos(&self, infinite_ends: bool) -> Option<i128> {
        const ALL: (i64, i64) = (i64::MIN, i64::MAX);
        let (from, to) = if infinite_ends { finite_moments(1_000_000_000) } else { ALL };
        let is_within = |moment: &i128| (from.into()..=to.into()).contains(moment);
        let (first, last) = self.span?;
        [first, last].into_iter().find(|moment| !is_within(moment))
    }
}

/// The first and the last moment of an engine whose type ends in infinities, in parts of a second of which one has `per_second`. It writes
/// a moment as the day and the time since its midnight, so that the first one is a midnight; and it counts seconds and milliseconds in
/// microseconds, whatever the type has room for. A moment beyond could be stored, and not be read again.
pub const fn finite_moments(per_second: i64) -> (i64, i64) {
    const MICROS: i64 = 1_000_000;
    const DAY_SECONDS: i64 = 24 * 60 * 60;
    let counted = if per_second < MICROS { MICROS } else { per_second };
    let day = DAY_SECONDS * counted;
    let within = counted / per_second;
    (i64::MIN / day * day / within, (i64::MAX - 1) / within)
}

/// A moment so many nanoseconds after 1970-01-01 00:00:00, as text.
fn moment(nanos: i128, zone: bool) -> String {
    const SECOND: i128 = 1_000_000_000;
    let (seconds, nanos) = (nanos.div_euclid(SECOND) as i64, nanos.rem_euclid(SECOND) as u32);
    let mut text = Vec::new();
    Typed::Moment(Moment { seconds, nanos, zone }).write(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The digits behind the point, without zeros at the end.
fn digits(nanos: u32) -> u8 {
    let (mut digits, mut rest) = (9, nanos);
    while digits > 0 && rest.is_multiple_of(10) {
        digits -= 1;
        rest /= 10;
    }
    digits
}

/// The moments that the types of a new table's columns keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentLimits {
    /// Decimal digits of a second in a timestamp; 9 where it is kept as it is written.
    pub digits: u8,
    /// Whether there is a type of nanoseconds besides, which reaches from 1677 to 2262, for moments of no zone...
    pub nanos: bool,
    /// ... and for those of UTC.
    pub nanos_zoned: bool,
    /// Whether the first and the last moments of that type are the engine's infinities, so that it has only [`finite_moments`].
    pub infinite_ends: bool,
}

impl Default for MomentLimits {
    /// Any moment, as it is written.
    fn default() -> Self {
        Self::of(9)
    }
}

impl MomentLimits {
    /// Timestamps of so many digits, and nothing finer.
    pub const fn of(digits: u8) -> Self {
        Self { digits, nanos: false, nanos_zoned: false, infinite_ends: false }
    }

    /// Whether there is a type of nanoseconds.
    pub fn has_nanos(&self, zone: bool) -> bool {
        if zone { self.nanos_zoned } else { self.nanos }
    }

    /// What becomes of a source's column, as far as is known of it.
    pub fn settle(&self, field: &FieldFacts) -> Settled {
        let (Type::Timestamp { zone }, moments) = (field.ty, &field.moments) else {
            return Settled::As(field.ty);
        };
        if moments.digits <= self.digits {
            Settled::As(field.ty)
        // What the source's own type holds is of nanoseconds, and a value at its ends a bad row, whether it was seen or not.
        } else if self.has_nanos(zone)
            && moments.beyond_nanos(self.infinite_ends && !field.is_declared).is_none()
        {
            Settled::As(Type::TimestampNs { zone })
        } else if moments.finest.is_none() {
            Settled::Hoped
        } else {
            Settled::Text
        }
    }

    /// Why such a column is text, and what to say to have it otherwise; `said` is how the user has it read.
    pub fn why_text(&self, field: &FieldFacts, engine: &str, said: Option<ReadType>) -> String {
        let FieldFacts { name, ty, moments, .. } = field;
        let zone = matches!(ty, Type::Timestamp { zone: true });
        let value = moments.finest.as_ref().map(ToString::to_string).unwrap_or_default();
        let digits = moments.digits;
        let far = moments.beyond_nanos(self.infinite_ends).filter(|_| self.has_nanos(zone));
        let why = match (far, self.digits) {
            (Some(far), _) => format!(
                "keeps nanoseconds from 1677 to 2262 only, {} is out of that range, and {value} has {digits} digits of a second's fraction",
                moment(far, zone)
            ),
            (None, 0) => format!("keeps no fractions of seconds, and {value} has {digits}"),
            (None, 1) => {
                format!("keeps 1 digit of a second's fraction, and {value} has {digits}")
            }
            (None, most) => {
                format!("keeps {most} digits of a second's fraction, and {value} has {digits}")
            }
        };
        let instead = match said {
            Some(said) => as_counts(name, said),
            None => format!("{} makes such rows bad rows", said_of("--type", name, ty)),
        };
        format!("column {name} is text: {engine} {why} ({instead})")
    }
}

/// What to say to have a column of counts otherwise than as text: another `--type` beside the one that calls them so would be refused.
fn as_counts(name: &str, said: ReadType) -> String {
    format!("without {} it has the numbers as they are", said_of("--type", name, said))
}

/// What becomes of a column of moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Of this type, which keeps all that was seen.
    As(Type),
    /// Of its own type, although the input's has room for finer ones: most programs write that type whatever their clock. A value
    /// that is finer disproves it.
    Hoped,
    /// Text.
    Text,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Unit;

    fn field(zone: bool, values: &[&str]) -> FieldFacts {
        let mut moments = MomentFacts::default();
        for value in values {
            let moment = inrush_scan::read_timestamp(value.as_bytes()).unwrap();
            if moments.see(&moment) {
                moments.finest = Some(misfit(value));
            }
        }
        let ty = Type::Timestamp { zone };
        FieldFacts {
            written: None,
            added: None,
            name: "t".to_owned(),
            ty,
            spoiler: None,
            is_declared: false,
            is_settled: false,
            moments,
            reads: Default::default(),
        }
    }

    fn misfit(value: &str) -> Misfit {
        Misfit { value: format!("'{value}'"), file: None, line: Some(7), row: None, byte: 0 }
    }

    const MICROS: &str = "2024-01-01 00:00:00.123456000";
    const NANOS: &str = "2024-01-01 00:00:00.123456789";
    const FIRST_NANO: &str = "1677-09-21 00:12:43.145224192";
    const LAST_NANO: &str = "2262-04-11 23:47:16.854775807";

    #[test]
    fn a_column_gets_the_type_that_keeps_its_fractions() {
        let plain = Settled::As(Type::Timestamp { zone: false });
        let nanos = Settled::As(Type::TimestampNs { zone: false });
        let micros = MomentLimits::of(6);
        let both = MomentLimits { nanos: true, ..micros };
        let infinite = MomentLimits { infinite_ends: true, ..both };
        for (limits, values, wanted) in [
            (micros, &[MICROS][..], plain),
            (micros, &[MICROS, NANOS], Settled::Text),
            (MomentLimits::of(7), &["2024-01-01 00:00:00.1234567"], plain),
            (MomentLimits::of(0), &["2024-01-01 00:00:00"], plain),
            (MomentLimits::of(0), &["2024-01-01 00:00:00.5"], Settled::Text),
            (MomentLimits::default(), &[NANOS], plain),
            (both, &[MICROS], plain),
            (both, &[NANOS], nanos),
            (both, &[NANOS, "1600-01-01 00:00:00"], Settled::Text),
            (both, &[NANOS, FIRST_NANO, LAST_NANO], nanos),
            (both, &[NANOS, "2262-04-11 23:47:16.854775808"], Settled::Text),
            (both, &["1677-09-21 00:12:43.145224191"], Settled::Text),
            (infinite, &["1677-09-22 00:00:00.000000001", "2262-04-11 23:47:16.854775806"], nanos),
            (infinite, &["1677-09-21 23:59:59.999999999"], Settled::Text),
            (infinite, &[LAST_NANO], Settled::Text),
            (both, &["1600-01-01 00:00:00"], plain),
        ] {
            assert_eq!(limits.settle(&field(false, values)), wanted, "{limits:?} {values:?}");
        }
        assert_eq!(both.settle(&field(true, &["2024-01-01 00:00:00.1234567Z"])), Settled::Text);
        let mut room = field(false, &[]);
        room.moments.digits = 9;
        assert_eq!(micros.settle(&room), Settled::Hoped);
        assert_eq!(both.settle(&room), nanos);
    }

    #[test]
    fn moments_that_are_no_infinities_are_those_that_the_engine_writes() {
        let text = |per_second: i64| {
            let (first, last) = finite_moments(per_second);
            let nanos = |count: i64| i128::from(count) * i128::from(1_000_000_000 / per_second);
            [moment(nanos(first), false), moment(nanos(last), false)]
        };
        let first = "-290308-12-22 00:00:00";
        assert_eq!(text(1), [first, "294247-01-10 04:00:54"]);
        assert_eq!(text(1_000), [first, "294247-01-10 04:00:54.775"]);
        assert_eq!(text(1_000_000), [first, "294247-01-10 04:00:54.775806"]);
        let nanos = ["1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806"];
        assert_eq!(text(1_000_000_000), nanos);
    }

    /// The load that starts again because of another column has looked at all of them, the first load at none.
    #[test]
    fn what_a_source_says_is_of_nanoseconds_stays_so_whatever_was_seen() {
        let limits = MomentLimits { nanos: true, infinite_ends: true, ..MomentLimits::of(6) };
        let mut said = field(false, &[]);
        (said.is_declared, said.moments.digits) = (true, 9);
        let seen = FieldFacts { is_declared: true, ..field(false, &[NANOS, LAST_NANO]) };
        let nanos = Settled::As(Type::TimestampNs { zone: false });
        assert_eq!([limits.settle(&said), limits.settle(&seen)], [nanos; 2]);
    }

    #[test]
    fn what_is_out_of_the_range_of_nanoseconds_is_named() {
        let limits = MomentLimits { nanos: true, infinite_ends: true, ..MomentLimits::of(6) };
        for far in ["1600-01-01 00:00:00", LAST_NANO] {
            let why = limits.why_text(&field(false, &[NANOS, far]), "DuckDB", None);
            assert!(why.contains(&format!("only, {far} is out of that range")), "{why}");
            assert!(why.contains(&format!("'{NANOS}' (line 7) has 9 digits")), "{why}");
        }
    }

    #[test]
    fn what_is_seen_in_parts_is_what_is_seen_at_once() {
        let values = [MICROS, NANOS, "1600-01-01 00:00:00", "2024-01-01 00:00:00.1"];
        let all = field(false, &values).moments;
        for at in 0..=values.len() {
            let (head, tail) = values.split_at(at);
            let mut sum = field(false, head).moments;
            sum.merge(&field(false, tail).moments);
            assert_eq!((sum.digits, sum.span), (all.digits, all.span));
        }
        assert_eq!((all.digits, all.finest), (9, Some(misfit(NANOS))));
    }

    #[test]
    fn why_names_the_column_the_value_and_the_way_out() {
        let column = field(true, &["2024-01-01 00:00:00.1234567Z"]);
        let why = MomentLimits::of(6).why_text(&column, "X 1", None);
        assert_eq!(
            why,
            "column t is text: X 1 keeps 6 digits of a second's fraction, and '2024-01-01 00:00:00.1234567Z' (line 7) has 7 \
             (--type t=timestamptz makes such rows bad rows)"
        );
        let said = Some(ReadType::Epoch(Unit::Milliseconds));
        let why = MomentLimits::of(6).why_text(&column, "X 1", said);
        assert!(why.ends_with("(without --type 't=timestamp[ms]' it has the numbers as they are)"));
    }
}
