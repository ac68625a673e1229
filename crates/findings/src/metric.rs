//! The figures of a sample by name, `PHASE.METRIC`. The phase `total` has `seconds` and `rows_per_s` of all timed phases together; its rows are
//! those of the phase that has most.
//!
//! | Metric | Unit | |
//! |---|---|---|
//! | `seconds`, `durable_seconds` | s | until the last acknowledgement; until what was written is as durable as promised |
//! | `rows_per_s`, `durable_rows_per_s` | rows/s | over those times |
//! | `ceiling_rows_per_s` | rows/s | what one worker could do if the database took no time; only of loads into servers |
//! | `requests_per_s` | 1/s | requests that were done, over `seconds` |
//! | `failed` | requests | that failed for good; only of phases with requests |
//! | `mb_per_s` | 10^6 bytes/s | of the rows as text, over `seconds` |
//! | `OPERATION_p50_ms`, `p90`, `p99`, `p999`, `max` | ms | of each operation that was timed one by one |
//! | `bytes` | bytes | what a size query said; the only one of a phase that isn't timed |
//! | `client_cpu_us_per_row`, `server_cpu_us_per_row` | µs/row | |
//! | `write_amplification` | | bytes that were written to storage for each byte of the rows as text |
//! | `client_peak_mb` | 10^6 bytes | the most that one worker had resident |

use std::collections::BTreeMap;

use crate::sample::{PhaseSample, Sample};

/// All metrics of a sample. One that can't be told (a rate of no rows) is absent; all are finite.
pub fn of_sample(sample: &Sample) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    for phase in &sample.phases {
        of_phase(phase, &mut |name, value| {
            if value.is_finite() {
                metrics.insert(format!("{}.{name}", phase.id), value);
            }
        });
    }
    let timed = || sample.phases.iter().filter(|phase| phase.timed);
    let seconds = timed().map(|phase| phase.durable_ns as f64 / 1e9).sum::<f64>();
    if seconds > 0.0 {
        metrics.insert(format!("{TOTAL}.seconds"), seconds);
        if let Some(rows) = timed().map(|phase| phase.rows).max().filter(|rows| *rows > 0) {
            metrics.insert(format!("{TOTAL}.rows_per_s"), rows as f64 / seconds);
        }
    }
    metrics
}

/// What stands for all timed phases in a metric's name.
pub const TOTAL: &str = "total";

/// Whether more of it is better; of all others less is.
pub fn is_better_when_higher(metric: &str) -> bool {
    let name = metric.rsplit_once('.').map_or(metric, |(_, name)| name);
    ["rows_per_s", "durable_rows_per_s", "ceiling_rows_per_s", "requests_per_s", "mb_per_s"]
        .contains(&name)
}

fn of_phase(phase: &PhaseSample, put: &mut dyn FnMut(&str, f64)) {
    if let Some(bytes) = phase.bytes {
        put("bytes", bytes as f64);
    }
    if !phase.timed {
        return;
    }
    let (seconds, durable_seconds) = (phase.ack_ns as f64 / 1e9, phase.durable_ns as f64 / 1e9);
    let (rows, user_bytes) = (phase.rows as f64, phase.user_bytes as f64);
    let resources = &phase.resources;
    put("seconds", seconds);
    put("durable_seconds", durable_seconds);
    if phase.rows > 0 {
        put("rows_per_s", rows / seconds);
        put("durable_rows_per_s", rows / durable_seconds);
        put("client_cpu_us_per_row", resources.client_cpu_us as f64 / rows);
        if let Some(server_cpu_us) = resources.server_cpu_us {
            put("server_cpu_us_per_row", server_cpu_us as f64 / rows);
        }
    }
    if let Some(ceiling) = phase.ceiling_rows_per_s {
        put("ceiling_rows_per_s", ceiling);
    }
    if phase.user_bytes > 0 {
        put("mb_per_s", user_bytes / 1e6 / seconds);
        put("write_amplification", resources.write_bytes as f64 / user_bytes);
    }
    if phase.requests > 0 || !phase.failed.is_empty() {
        put("requests_per_s", phase.requests as f64 / seconds);
        put("failed", phase.failed.values().sum::<u64>() as f64);
    }
    put("client_peak_mb", resources.client_peak_bytes as f64 / 1e6);
    for (operation, latency) in &phase.latency {
        put(&format!("{operation}_p50_ms"), latency.p50_us / 1e3);
        put(&format!("{operation}_p90_ms"), latency.p90_us / 1e3);
        put(&format!("{operation}_p99_ms"), latency.p99_us / 1e3);
        put(&format!("{operation}_p999_ms"), latency.p999_us / 1e3);
        put(&format!("{operation}_max_ms"), latency.max_us / 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Measured;

    #[test]
    fn a_phase_has_its_metrics_and_an_untimed_one_only_its_bytes() {
        let mut measured = Measured::new().rates("target=fast", &[10.0]);
        let sample = measured.last_sample();
        sample.phases[0].resources.server_cpu_us = Some(2_000);
        let metrics = of_sample(sample);
        let expected = [
            ("insert.client_cpu_us_per_row", 0.5),
            ("insert.client_peak_mb", 3.0),
            ("insert.durable_rows_per_s", 5_000.0),
            ("insert.durable_seconds", 0.2),
            ("insert.mb_per_s", 0.08),
            ("insert.rows_per_s", 10_000.0),
            ("insert.seconds", 0.1),
            ("insert.server_cpu_us_per_row", 2.0),
            ("insert.statement_max_ms", 0.4),
            ("insert.statement_p50_ms", 0.1),
            ("insert.statement_p90_ms", 0.1),
            ("insert.statement_p999_ms", 0.3),
            ("insert.statement_p99_ms", 0.2),
            ("insert.write_amplification", 2.0),
            ("size.bytes", 4096.0),
            ("total.rows_per_s", 5_000.0),
            ("total.seconds", 0.2),
        ];
        assert_eq!(metrics.len(), expected.len(), "{metrics:?}");
        for (name, value) in expected {
            assert!((metrics[name] - value).abs() < 1e-9, "{name}: {}", metrics[name]);
        }
    }

    #[test]
    fn what_fails_is_counted_where_there_are_requests() {
        let mut measured = Measured::new().rates("target=fast", &[10.0]);
        let phase = &mut measured.last_sample().phases[0];
        (phase.requests, phase.rows) = (90, 0);
        phase.failed = BTreeMap::from([("locked".to_owned(), 7), ("gone".to_owned(), 3)]);
        let metrics = of_sample(measured.last_sample());
        assert!((metrics["insert.failed"] - 10.0).abs() < 1e-9);
        assert!((metrics["insert.requests_per_s"] - 900.0).abs() < 1e-9);
        assert!(!metrics.contains_key("insert.rows_per_s"));
    }

    #[test]
    fn a_phase_that_took_no_time_has_no_rate() {
        let mut measured = Measured::new().rates("target=fast", &[10.0]);
        measured.last_sample().phases[0].ack_ns = 0;
        assert!(!of_sample(measured.last_sample()).contains_key("insert.rows_per_s"));
    }

    #[test]
    fn rates_are_better_when_higher() {
        for metric in ["a.rows_per_s", "a.b.durable_rows_per_s", "a.requests_per_s", "a.mb_per_s"] {
            assert!(is_better_when_higher(metric), "{metric}");
        }
        for metric in ["a.seconds", "rows_per_s.bytes", "a.failed", "a.client_cpu_us_per_row"] {
            assert!(!is_better_when_higher(metric), "{metric}");
        }
    }
}
