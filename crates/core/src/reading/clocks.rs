//! What clocks of a time zone show.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// Clocks of a time zone.
#[derive(Clone, Debug)]
pub struct Clocks(TimeZone);

/// After so many years the calendar repeats itself, days of the week too: 146,097 days, in microseconds.
const CYCLE: i64 = 146_097 * 86_400 * 1_000_000;

impl Clocks {
    /// Those of a zone that goes by a name (`America/New_York`) or by its rules in POSIX's form (`<+03>-03`); `None` where it is not
    /// known here.
    pub fn of(zone: &str) -> Option<Self> {
        TimeZone::get(zone).or_else(|_| TimeZone::posix(zone)).ok().map(Self)
    }

    /// Whether they never show this day and time, because they are put forward then; microseconds from 1970-01-01 00:00:00 on, as
    /// clocks count them.
    pub fn skip(&self, micros: i64) -> bool {
        // What is in force in a few hundred years is in force for ever.
        let within = if micros < 2 * CYCLE { micros } else { CYCLE + micros.rem_euclid(CYCLE) };
        let Ok(shown) = Timestamp::from_microsecond(within) else { return false };
        let clock = TimeZone::UTC.to_datetime(shown);
        matches!(self.0.to_ambiguous_timestamp(clock).offset(), AmbiguousOffset::Gap { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-03-10 02:30:00, as clocks count microseconds.
    const SPRING: i64 = 1_710_037_800 * 1_000_000;
    const HOUR: i64 = 3_600_000_000;

    #[test]
    fn an_hour_is_skipped_where_clocks_are_put_forward() {
        for zone in ["America/New_York", "US/Eastern", "EST5EDT,M3.2.0,M11.1.0"] {
            let clocks = Clocks::of(zone).unwrap();
            for (micros, skips) in [
                (SPRING, true),
                (SPRING - HOUR, false),
                (SPRING + HOUR, false),
                // In the year 40024, whose calendar is that of 2024.
                (SPRING + 95 * CYCLE, true),
                (SPRING + 95 * CYCLE + HOUR, false),
                // In the hour that comes twice.
                (SPRING + 238 * 24 * HOUR - HOUR, false),
                (i64::MIN, false),
                (i64::MAX, false),
            ] {
                assert_eq!(clocks.skip(micros), skips, "{zone} {micros}");
            }
        }
        assert!(!Clocks::of("<+05>-05").unwrap().skip(SPRING));
        assert!(Clocks::of("Nowhere/Atall").is_none());
    }
}
