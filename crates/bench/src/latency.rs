//! How long operations took: histograms that workers send, that are merged, and that percentiles come from.
//!
//! A percentile of several workers can't be had from the workers' percentiles; histograms can be added. [HdrHistogram] keeps three
//! significant digits of every time from a microsecond to an hour, in memory that does not grow.
//!
//! [HdrHistogram]: https://hdrhistogram.github.io/HdrHistogram/

use std::fmt;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::interval_log::{
    self, IntervalLogIterator, IntervalLogWriterBuilder, Tag,
};
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};

use inrush_findings::sample::Latency;

/// Longer times count as this: an hour, in nanoseconds.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// Of every time from a microsecond on; shorter ones are exact to the nanosecond.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The unit of a log's column for people: milliseconds, as in other tools' logs of nanoseconds.
const LOG_MAX_DIVISOR: f64 = 1e6;

/// How long operations of one kind took, in nanoseconds.
#[derive(Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// A text that is no histogram of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoHistogram(String);

impl Histogram {
    /// Without a value. It takes some 260 KB.
    pub fn new() -> Self {
        let bounds = hdrhistogram::Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS);
        // The bounds are constants that it takes: every test here makes one.
        #[allow(clippy::expect_used)]
        Self(bounds.expect("constant bounds"))
    }

    /// Adds one. What took longer than [`LONGEST_NS`] is counted as that.
    pub fn record(&mut self, took: Duration) {
        self.record_ns(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The same in nanoseconds.
    pub fn record_ns(&mut self, took_ns: u64) {
        self.0.saturating_record(took_ns.min(LONGEST_NS));
    }

    /// Adds all of another's.
    ///
    /// # Panics
    /// Never: all have the same bounds.
    pub fn merge(&mut self, other: &Histogram) {
        #[allow(clippy::expect_used)]
        self.0.add(&other.0).expect("the same bounds");
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Its percentiles; all 0 when nothing was recorded.
    ///
    /// Each is the upper end of the range that the histogram can't tell apart: at most a thousandth more than the time that
    /// was measured, the longest included.
    pub fn latency(&self) -> Latency {
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile: f64| us(self.0.value_at_quantile(quantile));
        Latency {
            n: self.0.len(),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: us(self.0.max()),
            mean_us: if self.0.is_empty() { 0.0 } else { self.0.mean() / 1e3 },
        }
    }

    /// As one line of text without blanks: base64 of the format V2-DEFLATE, which HdrHistogram's libraries for all languages read.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        // It fails when a writer does, and on more than 2^63 values.
        #[allow(clippy::expect_used)]
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).expect("a Vec takes all");
        STANDARD.encode(&bytes)
    }

    /// What [`Histogram::encode`] made.
    ///
    /// # Errors
    /// When the text isn't one, or one with other bounds: it could not be merged.
    pub fn decode(text: &str) -> Result<Self, NoHistogram> {
        let bytes =
            STANDARD.decode(text.trim_end()).map_err(|error| NoHistogram(error.to_string()))?;
        let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| NoHistogram(error.to_string()))?;
        let bounds = (decoded.low(), decoded.high(), decoded.sigfig());
        if bounds != (1, LONGEST_NS, SIGNIFICANT_DIGITS) {
            return Err(NoHistogram(format!("other bounds: {bounds:?}")));
        }
        Ok(Self(decoded))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Histogram").field(&self.latency()).finish()
    }
}

impl fmt::Display for NoHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a histogram of latencies: {}", self.0)
    }
}

impl std::error::Error for NoHistogram {}

/// One line of an interval log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// What was measured: `worker=1;phase=insert;op=request`. Characters that a tag can't have (comma, blank, line end) become `_`.
    pub tag: String,
    /// From the log's beginning to the first operation; kept to the millisecond.
    pub start: Duration,
    /// From the first operation's start to the last one's end; kept to the millisecond.
    pub length: Duration,
    /// How long they took.
    pub histogram: Histogram,
}

/// An interval log (`.hlog`) of nanoseconds that began at `started`: what HdrHistogram's own programs read and draw.
pub fn write_log(started: SystemTime, entries: &[LogEntry]) -> String {
    let mut text = Vec::new();
    // A writer and a serialiser into memory fail on nothing but more than 2^63 values.
    #[allow(clippy::expect_used)]
    write_entries(&mut text, started, entries).expect("a Vec takes all");
    String::from_utf8_lossy(&text).into_owned()
}

fn write_entries(
    text: &mut Vec<u8>,
    started: SystemTime,
    entries: &[LogEntry],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .with_base_time(started)
        .with_max_value_divisor(LOG_MAX_DIVISOR)
        .begin_log_with(text, &mut serializer)?;
    for LogEntry { tag, start, length, histogram } in entries {
        let tag = tag.replace([',', ' ', '\r', '\n'], "_");
        log.write_histogram(&histogram.0, *start, *length, Tag::new(&tag))?;
    }
    Ok(())
}

/// The entries of an interval log.
///
/// # Errors
/// When it isn't one, or has histograms with other bounds.
pub fn read_log(text: &str) -> Result<Vec<LogEntry>, NoHistogram> {
    let mut entries = Vec::new();
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let entry = entry.map_err(|error| NoHistogram(format!("{error:?}")))?;
        if let interval_log::LogEntry::Interval(entry) = entry {
            entries.push(LogEntry {
                tag: entry.tag().map_or_else(String::new, |tag| tag.as_str().to_owned()),
                start: entry.start_timestamp(),
                length: entry.duration(),
                histogram: Histogram::decode(entry.encoded_histogram())?,
            });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(times_ns: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        for &time_ns in times_ns {
            histogram.record_ns(time_ns);
        }
        histogram
    }

    fn assert_near(us: f64, expected_us: f64) {
        assert!((expected_us..=expected_us * 1.001).contains(&us), "{us} is not {expected_us}");
    }

    #[test]
    fn percentiles_of_a_thousand_microseconds() {
        let mut histogram = Histogram::new();
        for us in 1..=1000 {
            histogram.record(Duration::from_micros(us));
        }
        let latency = histogram.latency();
        assert_eq!(latency.n, 1000);
        assert_near(latency.p50_us, 500.0);
        assert_near(latency.p90_us, 900.0);
        assert_near(latency.p99_us, 990.0);
        assert_near(latency.p999_us, 999.0);
        assert_near(latency.max_us, 1000.0);
        assert!((latency.mean_us - 500.5).abs() < 0.5);
    }

    #[test]
    fn nothing_recorded_is_all_zeros() {
        assert_eq!(Histogram::new().latency(), Latency::default());
        assert_eq!(Histogram::decode(&Histogram::new().encode()), Ok(Histogram::new()));
    }

    #[test]
    fn ends_of_the_range_are_kept() {
        let mut histogram = of(&[1_000]);
        assert!((histogram.latency().p50_us - 1.0).abs() < 0.001);
        histogram.record(Duration::from_secs(7200));
        histogram.record_ns(0);
        assert_eq!(histogram.count(), 3);
        assert_near(histogram.latency().max_us, 3.6e9);
    }

    /// Made by this code; what matters is that it can still be read when the crate has changed.
    #[test]
    fn stored_histograms_stay_readable() {
        let stored = "HISTFAAAAC14nJNpmSzMwMDAxQABzFCakYGB2c1gxwIG+w8QgfP8TO/rWJ5fZ2QCAJM4CGc=";
        let expected = of(&[1_000, 250_000, 250_000, 3_000_000_000]);
        assert_eq!(Histogram::decode(stored), Ok(expected));
    }

    #[test]
    fn other_texts_and_bounds_are_refused() {
        assert!(Histogram::decode("").is_err());
        assert!(Histogram::decode("no base64").is_err());
        assert!(Histogram::decode("AAAA").is_err());
        let foreign = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&foreign, &mut bytes).unwrap();
        let error = Histogram::decode(&STANDARD.encode(&bytes)).unwrap_err();
        assert!(error.to_string().contains("other bounds"), "{error}");
    }

    #[test]
    fn logs_are_read_back() {
        let entry = |tag: &str, times_ns: &[u64]| LogEntry {
            tag: tag.to_owned(),
            start: Duration::from_millis(1_500),
            length: Duration::from_millis(250),
            histogram: of(times_ns),
        };
        let entries = [entry("worker=1;op=request", &[2_000_000]), entry("a b,c", &[1, 2, 3])];
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let text = write_log(started, &entries);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "#[Histogram log format version 1.3]");
        assert_eq!(lines[1], "#[BaseTime: 1700000000.000 (seconds since epoch)]");
        let histogram = entries[0].histogram.encode();
        let first = format!("Tag=worker=1;op=request,1.500,0.250,2.001,{histogram}");
        assert_eq!(lines[3], first);
        let read = read_log(&text).unwrap();
        assert_eq!(read[0], entries[0]);
        assert_eq!((read[1].tag.as_str(), &read[1].histogram), ("a_b_c", &entries[1].histogram));
        assert!(read_log("Tag=a,0.1,0.2,0.3,AAAA\n").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn merged_and_sent_is_as_if_recorded_in_one(
            one in prop::collection::vec(0..LONGEST_NS, 0..50),
            other in prop::collection::vec(0..LONGEST_NS, 0..50),
        ) {
            let mut merged = Histogram::decode(&of(&one).encode()).unwrap();
            merged.merge(&Histogram::decode(&of(&other).encode()).unwrap());
            let together = of(&[one, other].concat());
            prop_assert_eq!(&merged, &together);
            let (merged, together) = (merged.latency(), together.latency());
            prop_assert_eq!((merged.n, merged.p50_us), (together.n, together.p50_us));
            prop_assert!((merged.max_us - together.max_us).abs() <= together.max_us / 1000.0);
        }
    }
}
