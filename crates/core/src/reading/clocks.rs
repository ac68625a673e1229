//! What clocks of a time zone show.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// Clocks of a time zone.
#[derive(Clone, Debug)]
pub struct Clocks {
    zone: TimeZone,
    quiet: Arc<[Quiet]>,
}

/// When clocks show a day and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Once, so many seconds ahead of UTC.
    Once(i32),
    /// Never, because they are put forward then.
    Never,
    /// Twice, because they are put back.
    Twice,
}

/// A time without changes, in seconds from 1970-01-01 00:00:00 on, as clocks count them: each second from `from` to before `to` is shown
/// once.
#[derive(Clone, Copy, Debug)]
struct Quiet {
    from: i64,
    to: i64,
    /// Seconds ahead of UTC.
    offset: i32,
}

const DAY: i64 = 86_400;
/// After so many seconds the calendar repeats itself, days of the week too.
const CYCLE: i64 = 146_097 * DAY;
/// Between these days, 1900-01-01 and 2100-01-01, nearly all moments are.
const USUAL: [i64; 2] = [-25_567 * DAY, 47_482 * DAY];

impl Clocks {
    /// Those of a zone that goes by a name (`America/New_York`) or by its rules in POSIX's form (`<+03>-03`); `None` where it is not
    /// known here.
    pub fn of(zone: &str) -> Option<Self> {
        TimeZone::get(zone).or_else(|_| TimeZone::posix(zone)).ok().map(Self::of_zone)
    }

    /// Those of the zone with this name; `None` where there is none.
    pub fn named(name: &str) -> Option<Self> {
        // Etc/Unknown is a name of no zone.
        TimeZone::get(name).ok().filter(|zone| !zone.is_unknown()).map(Self::of_zone)
    }

    fn of_zone(zone: TimeZone) -> Self {
        Self { quiet: quiet(&zone).into(), zone }
    }

    /// The zone's name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.zone.iana_name()
    }

    /// When they show this day and time: seconds from 1970-01-01 00:00:00 on, as clocks count them. `None` before the year -9999.
    pub fn shown(&self, seconds: i64) -> Option<Shown> {
        let begun = self.quiet.partition_point(|quiet| quiet.from <= seconds);
        match self.quiet[..begun].last() {
            Some(quiet) if seconds < quiet.to => Some(Shown::Once(quiet.offset)),
            _ => self.look_up(seconds),
        }
    }

    fn look_up(&self, seconds: i64) -> Option<Shown> {
        // What is in force in a few hundred years is in force for ever.
        let within = if seconds < 2 * CYCLE { seconds } else { CYCLE + seconds.rem_euclid(CYCLE) };
        let clock = TimeZone::UTC.to_datetime(Timestamp::from_second(within).ok()?);
        Some(match self.zone.to_ambiguous_timestamp(clock).offset() {
            AmbiguousOffset::Unambiguous { offset } => Shown::Once(offset.seconds()),
            AmbiguousOffset::Gap { .. } => Shown::Never,
            AmbiguousOffset::Fold { .. } => Shown::Twice,
        })
    }

    /// Whether they never show this day and time; microseconds from 1970-01-01 00:00:00 on, as clocks count them.
    pub fn skip(&self, micros: i64) -> bool {
        self.shown(micros.div_euclid(1_000_000)) == Some(Shown::Never)
    }
}

/// The times without changes among usual ones. They are known before the first row, as a row takes less time than to look its moment up.
fn quiet(zone: &TimeZone) -> Vec<Quiet> {
    let [Ok(begin), Ok(end)] = USUAL.map(Timestamp::from_second) else { return Vec::new() };
    let changes = zone.following(begin).take_while(|change| change.timestamp() < end);
    let changes = changes.map(|change| (change.timestamp().as_second(), change.offset().seconds()));
    let begun = (begin.as_second(), zone.to_offset(begin).seconds());
    let periods: Vec<(i64, i32)> = std::iter::once(begun).chain(changes).collect();
    let ends = periods.iter().skip(1).map(|(start, _)| *start).chain([end.as_second()]);
    let mut found = Vec::new();
    // Clocks are less than two days away from UTC: what periods before and after the usual times show is beyond these.
    let [mut shown_before, last] = [begin.as_second() + 2 * DAY, end.as_second() - 2 * DAY];
    for ((start, offset), end) in periods.iter().zip(ends) {
        let offset_seconds = i64::from(*offset);
        let (from, to) = (shown_before.max(start + offset_seconds), end + offset_seconds);
        found.push(Quiet { from, to, offset: *offset });
        shown_before = shown_before.max(to);
    }
    let starts = periods.iter().map(|(start, offset)| start + i64::from(*offset));
    let mut shown_behind = last;
    for (quiet, start) in found.iter_mut().zip(starts).rev() {
        quiet.to = quiet.to.min(shown_behind);
        shown_behind = shown_behind.min(start);
    }
    found.retain(|quiet| quiet.from < quiet.to);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-03-10 02:30:00, as clocks count microseconds.
    const SPRING: i64 = 1_710_037_800 * 1_000_000;
    const HOUR: i64 = 3_600_000_000;
    /// 400 years.
    const CYCLE: i64 = super::CYCLE * 1_000_000;

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

    /// Zones with changes of all kinds: of hours, of half an hour, of a day, in both directions, several in a month, none.
    const ZONES: [&str; 10] = [
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Casablanca",
        "Antarctica/Troll",
        "America/Juneau",
        "Asia/Kathmandu",
        "Europe/Dublin",
        "UTC",
        "<-12>12",
    ];

    #[test]
    fn around_each_change_clocks_show_what_the_zone_says() {
        for zone in ZONES {
            let clocks = Clocks::of(zone).unwrap();
            let begin = Timestamp::from_second(USUAL[0] - 40 * DAY).unwrap();
            let changes = clocks.zone.following(begin).map(|change| change.timestamp().as_second());
            let ends = [USUAL[0], USUAL[1], USUAL[0] + 2 * DAY, USUAL[1] - 2 * DAY];
            for change in changes.take_while(|change| *change < USUAL[1] + 400 * DAY).chain(ends) {
                for quarter in -120..=120 {
                    for second in [-1, 0] {
                        let at = change + quarter * 900 + second;
                        assert_eq!(clocks.shown(at), clocks.look_up(at), "{zone} {at}");
                    }
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn at_any_time_clocks_show_what_the_zone_says(
            zone in proptest::sample::select(&ZONES[..]),
            seconds in -6_000_000_000_i64..8_000_000_000,
        ) {
            let clocks = Clocks::of(zone).unwrap();
            proptest::prop_assert_eq!(clocks.shown(seconds), clocks.look_up(seconds));
        }
    }
}
