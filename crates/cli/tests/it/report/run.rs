//! A run that nobody made: two experiments with everything that a report has to show, and words that want to break out of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use inrush_bench::analysis::analyse;
use inrush_bench::finding::Findings;
use inrush_bench::record::{Doctor, Environment, Manifest, PlannedCell, RunPlan, TargetRecord};
use inrush_bench::report::Input;
use inrush_bench::sample::{Point, Sample, Status};
use inrush_bench::store::RunFolder;
use inrush_bench::suite::Suite;
use serde_json::{Value as Json, json};

/// What would run, if it was taken for markup or script.
pub(crate) const HOSTILE: &str = "</script><script>window.broken=1</script><img src=x onerror='window.broken=1'><!-- {{ broken }}";

/// Everything that [`Input`] borrows.
pub(crate) struct Run {
    pub(crate) suite: Suite,
    pub(crate) manifest: Manifest,
    pub(crate) plan: RunPlan,
    pub(crate) environment: Environment,
    pub(crate) doctor: Doctor,
    pub(crate) targets: Vec<TargetRecord>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) series: BTreeMap<String, Vec<Point>>,
    pub(crate) findings: Findings,
}

impl Run {
    /// Six blocks of everything, and one to warm up.
    pub(crate) fn new() -> Self {
        Self::as_fast(1.0)
    }

    /// The same, so many times as fast.
    pub(crate) fn as_fast(factor: f64) -> Self {
        let plan = plan();
        let samples = samples(&plan, factor);
        let suite = from(suite());
        Self {
            findings: analyse(&suite, &plan, &samples),
            manifest: from(manifest()),
            environment: from(environment()),
            doctor: from(doctor()),
            targets: targets(),
            series: series(&samples),
            suite,
            plan,
            samples,
        }
    }

    /// Stores it as a bench does.
    pub(crate) fn store(&self, results: &Path) -> PathBuf {
        let (manifest, plan) = (self.manifest.clone(), &self.plan);
        let mut folder = RunFolder::create(
            results,
            manifest,
            &self.suite,
            plan,
            &self.environment,
            &self.doctor,
        )
        .unwrap();
        folder.write_targets(&self.targets).unwrap();
        for sample in &self.samples {
            if let Some(points) = self.series.get(&sample.sample) {
                folder.write_series(&sample.sample, points).unwrap();
            }
            folder.append(sample).unwrap();
        }
        folder.finish("complete", "precise").unwrap();
        folder.path().to_owned()
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            suite: &self.suite,
            manifest: &self.manifest,
            plan: &self.plan,
            environment: &self.environment,
            doctor: &self.doctor,
            targets: &self.targets,
            samples: &self.samples,
            series: &self.series,
            findings: &self.findings,
        }
    }
}

fn from<T: serde::de::DeserializeOwned>(json: Json) -> T {
    serde_json::from_value(json).unwrap()
}

fn suite() -> Json {
    let values =
        |rows: u32| json!({"target": "innodb", "way": "values", "rows_per_statement": rows});
    let pick = |cell: Json| json!({"experiment": "statement", "cell": cell, "metric": "insert.rows_per_s"});
    let ratio = |of: Json, to: Json| json!({"of": pick(of), "to": pick(to)});
    json!({
        "format": 1, "id": "inserts", "title": "LOAD DATA against extended inserts",
        "about": "How many rows belong into one INSERT, and what is left of it over several connections. A made-up run: no database was asked.",
        "source": {
            "title": "High-speed inserts", "url": "https://example.org/high-speed-inserts", "date": "2017-01", "machine": "Xeon E3, 4 cores, 3.8 GHz, NVMe",
            "software": "MySQL 5.7", "deviations": ["Rows are generated; the study's are not public.", "The client is written in Rust, the study's in PHP."],
        },
        "profile": {"quick": {"rows": {"readings": 120_000}, "blocks_min": 6, "blocks_max": 12, "warmups": 1, "budget_s": 1800}},
        "dataset": {"readings": {"kind": "readings", "rows": 1_200_000, "seed": 1}},
        "target": {
            "innodb": {"family": "mysql", "about": "InnoDB as it comes", "server": {}},
            "innodb-fast": {"family": "mysql", "about": "InnoDB that may lose a second", "durability": "none", "server": {}},
            "delayed": {"family": "mysql", "about": "INSERT DELAYED", "durability": "none", "server": {}},
            "wal": {"family": "sqlite", "about": "write-ahead log"},
            "rollback": {"family": "sqlite", "about": "rollback journal"},
        },
        "experiment": [
            {
                "id": "statement", "title": "Rows per statement", "question": "From which number of rows on does a longer INSERT gain nothing?",
                "targets": ["innodb", "innodb-fast", "delayed"], "metric": "insert.rows_per_s", "sweep": "rows_per_statement",
                "axes": {"way": ["values", "load-data"], "rows_per_statement": [1, 10, 100, 1000, 10000]},
                "phase": [
                    {"id": "create", "timed": false, "sql": "CREATE TABLE ..."},
                    {"id": "insert", "load": {"dataset": "readings"}},
                    {"id": "sum", "sql": "SELECT sum(v) FROM t"},
                    {"id": "size", "timed": false, "size": "SELECT ..."},
                    {"id": "verify", "timed": false, "verify": {"dataset": "readings", "sql": "SELECT ..."}},
                ],
            },
            {
                "id": "requests", "title": "Requests of several processes", "question": "What do concurrent writers of one file cost each other?",
                "targets": ["wal", "rollback"], "metric": "mix.requests_per_s", "workers": "@workers",
                "phase": [
                    {"id": "create", "timed": false, "sql": "CREATE TABLE ..."},
                    {"id": "mix", "mix": {"requests": 10000, "step": [{"id": "insert", "sql": "INSERT ..."}]}},
                ],
            },
        ],
        "reference": [{
            "id": "unix", "title": "Extended inserts over a unix socket", "experiment": "statement", "metric": "insert.rows_per_s", "unit": "rows/s",
            "baseline": {"target": "innodb", "way": "load-data"},
            "values": [
                {"cell": values(1), "value": 40_000.0, "label": "1 row"}, {"cell": values(10), "value": 162_000.0, "label": "10 rows"},
                {"cell": values(100), "value": 226_000.0, "label": "100 rows"}, {"cell": values(1_000), "value": 247_000.0, "label": "1,000 rows"},
                {"cell": values(100_000), "value": 231_000.0, "label": "100,000 rows"},
                {"cell": {"target": "innodb", "way": "load-data"}, "value": 377_000.0, "label": "LOAD DATA"},
            ],
        }],
        "claim": [
            {"id": "six", "text": "Extended inserts are up to 6 times faster than single rows", "ratio": ratio(values(1_000), values(1)), "at_least": 4.5, "at_most": 7.5},
            {"id": "load", "text": "LOAD DATA is 3 times faster than any INSERT",
             "ratio": ratio(json!({"target": "innodb", "way": "load-data"}), values(1_000)), "at_least": 3.0},
            {"id": "past", "text": "Past the peak more rows per statement are slower", "ratio": ratio(values(10_000), values(1_000)), "at_most": 0.92},
            {"id": "network", "text": "Over the network the gain is 17 times", "at_least": 15.0, "untestable": "no network between client and server was measured"},
        ],
    })
}

fn manifest() -> Json {
    json!({
        "format": 1, "run": "20261121T215137Z-3fa9c1", "suite": "inserts", "profile": "quick", "suite_hash": "3fa9c1d2e4b5a697", "seed": 4711,
        "version": "0.1.0", "command": ["bench", "run", "inserts", "--profile", "quick", "--set", "title=it's one"],
        "servers": ["mariadb-10.11", "mysql-8.0"], "started": "2026-11-21T21:51:37Z", "ended": "2026-11-21T22:14:02Z", "exit": "complete",
        "stopped_by": "precise",
    })
}

fn environment() -> Json {
    json!({
        "id": "a1b2c3d4e5f60718", "cpu": "AMD EPYC 9B14", "processors": 2, "memory_bytes": 16_800_000_000u64,
        "facts": {
            "os": "Debian GNU/Linux 12", "kernel": "6.1.0-28-amd64", "filesystem": "ext4", "mount options": "rw,relatime", "virtualisation": "kvm",
            "disk scheduler": "none", "clock source": "kvm-clock", "swap": "none", "transparent huge pages": "madvise",
        },
    })
}

fn doctor() -> Json {
    json!({
        "fsync": {"n": 200, "p50_us": 412.0, "p90_us": 560.0, "p99_us": 1890.0, "p999_us": 2400.0, "max_us": 2400.0, "mean_us": 450.0},
        "free_bytes": 48_000_000_000u64, "foreign_cpu": 0.012, "load_average": 0.31,
        "warnings": ["The machine is virtual: its neighbours may take time that nobody here can see."],
    })
}

fn targets() -> Vec<TargetRecord> {
    let setting = |name: &str, value: &str, default: &str| json!({"name": name, "value": value, "default": default});
    let settings = |flush: &str| {
        let mut all = vec![
            setting("innodb_flush_log_at_trx_commit", flush, "1"),
            setting("innodb_buffer_pool_size", "1073741824", "134217728"),
            setting("init_connect", HOSTILE, ""),
        ];
        all.extend((0..40).map(|n| setting(&format!("setting_{n}"), "ON", "ON")));
        all
    };
    let trip = json!({"n": 1000, "p50_us": 31.0, "p90_us": 40.0, "p99_us": 88.0, "p999_us": 120.0, "max_us": 400.0, "mean_us": 33.0});
    let of = |target: &str, server: Option<&str>, engine: &str, durability: &str, flush: &str| {
        json!({
            "target": target, "server": server, "engine": engine, "transport": "socket", "durability": durability, "round_trip": server.map(|_| &trip),
            "set": if server.is_some() { json!({"innodb_flush_log_at_trx_commit": flush, "skip_name_resolve": "ON"}) } else { json!({}) },
            "settings": if server.is_some() { json!(settings(flush)) } else { json!([setting("journal_mode", "wal", "delete")]) },
            "unavailable": null,
        })
    };
    let mut gone = of("delayed", Some("mysql-8.0"), "MySQL 8.0.44", "none", "2");
    gone["unavailable"] = json!("MySQL 8.0 has no INSERT DELAYED");
    from(json!([
        of("innodb", Some("mariadb-10.11"), "MariaDB 10.11.14", "durable", "1"),
        of("innodb", Some("mysql-8.0"), "MySQL 8.0.44", "durable", "1"),
        of("innodb-fast", Some("mariadb-10.11"), "MariaDB 10.11.14", "none", "2"),
        gone,
        of("wal", None, "SQLite 3.54.1", "durable", ""),
    ]))
}

fn plan() -> RunPlan {
    let mut cells: Vec<PlannedCell> = Vec::new();
    let mut add = |experiment: &str, coordinates: &[(&str, &str)], twice: Option<&str>| {
        let id = format!("c{:03}", cells.len());
        cells.push(PlannedCell {
            id: id.clone(),
            experiment: experiment.to_owned(),
            coordinates: coordinates
                .iter()
                .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
                .collect(),
            twice: twice.map(str::to_owned),
            unavailable: None,
        });
        id
    };
    for target in ["innodb", "innodb-fast", "delayed"] {
        for server in ["mariadb-10.11", "mysql-8.0"] {
            for rows in ["1", "10", "100", "1000", "10000"] {
                add(
                    "statement",
                    &[
                        ("target", target),
                        ("server", server),
                        ("way", "values"),
                        ("rows_per_statement", rows),
                    ],
                    None,
                );
            }
            if target != "delayed" {
                add(
                    "statement",
                    &[
                        ("target", target),
                        ("server", server),
                        ("way", "load-data"),
                        ("rows_per_statement", "1000"),
                    ],
                    None,
                );
            }
        }
    }
    let first = [
        ("target", "innodb"),
        ("server", "mariadb-10.11"),
        ("way", "values"),
        ("rows_per_statement", "1"),
    ];
    add("statement", &first, Some("c000"));
    for target in ["wal", "rollback", "memory & <b>more</b>"] {
        for workers in ["1", "2", "4", "8"] {
            add("requests", &[("target", target), ("workers", workers)], None);
        }
    }
    for cell in &mut cells {
        if cell.get("target") == Some("memory & <b>more</b>") {
            cell.unavailable = Some(format!("not on this machine: {HOSTILE}"));
        }
    }
    RunPlan {
        cells,
        rows: [("readings".to_owned(), 120_000)].into(),
        hashes: [("readings".to_owned(), "9f86d081884c7d65".to_owned())].into(),
    }
}

/// Numbers that look random, 0 to 1.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn about(&mut self, value: f64) -> f64 {
        value * (1.0 + 0.09 * (self.roll() + self.roll() - 1.0))
    }
}

/// Rows or requests a second that a cell is to have, and how it ends.
fn made_up(cell: &PlannedCell, block: u32) -> (f64, Status, Option<&'static str>) {
    let number =
        |axis: &str| cell.get(axis).and_then(|value| value.parse::<f64>().ok()).unwrap_or(1.0);
    let target = cell.get("target").unwrap_or_default();
    if cell.experiment == "requests" {
        let workers = number("workers");
        return match target {
            "wal" => (1_900.0 * workers / (1.0 + 0.35 * (workers - 1.0)), Status::Ok, None),
            "rollback" if workers == 8.0 && block > 2 => {
                (0.0, Status::Timeout, Some("the sample took longer than 600 s"))
            }
            "rollback" => (360.0 / (1.0 + 0.06 * (workers - 1.0)), Status::Ok, None),
            _ => (0.0, Status::Unavailable, Some("not on this machine")),
        };
    }
    let server = if cell.get("server") == Some("mysql-8.0") { 0.82 } else { 1.0 };
    let rows = number("rows_per_statement");
    let tier = if target == "innodb" { 1.0 } else { 1.35 };
    match (target, cell.get("way")) {
        ("delayed", _) if server < 1.0 => (
            0.0,
            Status::Unsupported,
            Some(
                "ERROR 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'DELAYED INTO t VALUES (1, 2)' at line 1",
            ),
        ),
        ("delayed", _) if rows > 100.0 => {
            (0.0, Status::Incorrect, Some("<td>119,998 rows of 120,000</td>"))
        }
        (_, Some("load-data")) => (377_000.0 * server * tier, Status::Ok, None),
        _ => {
            let peak = 247_000.0 * rows / (rows + 5.2);
            (peak / (1.0 + (rows / 60_000.0)) * server * tier, Status::Ok, None)
        }
    }
}

fn samples(plan: &RunPlan, factor: f64) -> Vec<Sample> {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut samples = Vec::new();
    for block in 0..7u32 {
        let count = plan.cells.len();
        for place in 0..count {
            // Another order in every block.
            let cell = &plan.cells[(place * 17 + block as usize * 5) % count];
            let (rate, status, error) = made_up(cell, block);
            let rate = rate * factor;
            samples.push(sample(cell, block, samples.len() as u32, rate, status, error, &mut dice));
        }
    }
    samples
}

fn sample(
    cell: &PlannedCell,
    block: u32,
    order: u32,
    rate: f64,
    status: Status,
    error: Option<&str>,
    dice: &mut Dice,
) -> Sample {
    let mut rate = dice.about(rate);
    if cell.id == "c001" && block == 4 {
        rate /= 3.0;
    }
    let fast = matches!(cell.get("way"), Some("load-data"));
    let requests = cell.experiment == "requests";
    let rows = if requests { 10_000.0 } else { 120_000.0 };
    let ns = if rate > 0.0 { (rows / rate * 1e9) as u64 } else { 0 };
    let workers: usize = cell.get("workers").and_then(|value| value.parse().ok()).unwrap_or(1);
    let resources = json!({
        "client_cpu_us": (rows * dice.about(0.5 + 8.0 * rows / rate.max(1.0) / 4.0)) as u64, "client_peak_bytes": 24_000_000,
        "server_cpu_us": (!requests).then(|| (rows * dice.about(1.8 + 4.0 * rows / rate.max(1.0))) as u64), "write_bytes": (rows * dice.about(if fast { 61.0 } else { 92.0 })) as u64,
    });
    let us = 1e6 * workers as f64 / rate.max(1.0);
    let latency = json!({"request": {
        "n": 10_000, "p50_us": dice.about(us * 0.8), "p90_us": dice.about(us * 1.4), "p99_us": dice.about(us * 6.0), "p999_us": dice.about(us * 30.0),
        "max_us": dice.about(us * 90.0), "mean_us": us,
    }});
    let phases = if requests {
        let failed = if workers > 2 {
            json!({"database is locked": workers * 3, HOSTILE: 1})
        } else {
            json!({})
        };
        json!([
            {"id": "create", "timed": false, "ack_ns": 21_000_000, "durable_ns": 21_000_000, "rows": 0, "resources": {"client_cpu_us": 1, "client_peak_bytes": 1, "write_bytes": 4096}},
            {"id": "mix", "timed": true, "ack_ns": ns, "durable_ns": ns, "rows": 10_000, "requests": 10_000, "failed": failed, "retries": workers * 4,
             "worker_rates": (0..workers).map(|_| dice.about(rate / workers as f64)).collect::<Vec<_>>(), "resources": resources, "latency": latency},
        ])
    } else {
        json!([
            {"id": "create", "timed": false, "ack_ns": 180_000_000, "durable_ns": 180_000_000, "rows": 0, "resources": {"client_cpu_us": 1, "client_peak_bytes": 1, "write_bytes": 4096}},
            {"id": "insert", "timed": true, "ack_ns": ns, "durable_ns": ns + 30_000_000, "rows": 120_000, "user_bytes": 3_180_000, "resources": resources,
             "strategy": if fast { "mysql/load-data local=true" } else { "mysql/values rows_per_statement=100" }},
            {"id": "sum", "timed": true, "ack_ns": dice.about(4.1e7) as u64, "durable_ns": 41_000_000, "rows": 120_000, "resources": {"client_cpu_us": 1, "client_peak_bytes": 1, "write_bytes": 0}},
            {"id": "size", "timed": false, "ack_ns": 0, "durable_ns": 0, "rows": 0, "bytes": if fast { 9_437_184 } else { 10_485_760 }, "resources": {"client_cpu_us": 1, "client_peak_bytes": 1, "write_bytes": 0}},
            {"id": "verify", "timed": false, "ack_ns": 210_000_000, "durable_ns": 210_000_000, "rows": 120_000, "resources": {"client_cpu_us": 1, "client_peak_bytes": 1, "write_bytes": 0}},
        ])
    };
    let tier = if matches!(cell.get("target"), Some("innodb-fast" | "delayed")) {
        "none"
    } else {
        "durable"
    };
    let seconds = ns as f64 / 1e9 + 0.7;
    from(json!({
        "v": 1, "sample": format!("b{block:02}.{}", cell.id), "cell": cell.id, "block": block, "order": order, "warmup": block == 0, "status": status,
        "flags": if fast { json!(["client-bound"]) } else { json!([]) }, "error": error, "started": format!("2026-11-21T21:{:02}:{:02}Z", 51 + order / 60 % 9, order % 60),
        "seconds": seconds, "phases": if status == Status::Ok { phases } else { json!([]) },
        "verify": (status == Status::Ok && !requests).then(|| json!({"ok": true, "rows": 120_000, "hash": "b9f0b9f0b9f0b9f0", "seconds": 0.21})),
        "durability": {"asked": tier, "read_back": {"innodb_flush_log_at_trx_commit": "1"}}, "load_before": 0.3, "foreign_cpu": 0.01,
        "sql": if requests { json!([format!("INSERT INTO log VALUES ('{HOSTILE}')")]) } else { json!(["INSERT INTO t VALUES (1, 'a', 2), (2, 'b', 3), ..."]) },
    }))
}

fn series(samples: &[Sample]) -> BTreeMap<String, Vec<Point>> {
    let mut series = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.status == Status::Ok) {
        let mut dice = Dice(u64::from(sample.order) + 77);
        for phase in
            sample.phases.iter().filter(|phase| phase.timed && phase.ack_ns > 3_000_000_000)
        {
            let mut points = Vec::new();
            let seconds = phase.ack_ns / 1_000_000_000;
            let rate = phase.rows as f64 / (phase.ack_ns as f64 / 1e9);
            let mut done = 0.0;
            for second in 1..=seconds {
                // One second in which nothing moves.
                done += if second == 4 && sample.block % 2 == 0 {
                    0.0
                } else {
                    dice.about(dice.0 as f64 % 7.0 * 0.02 * rate + rate)
                };
                points.push(Point {
                    phase: phase.id.clone(),
                    worker: 1,
                    at_ns: second * 1_000_000_000,
                    done: done as u64,
                });
            }
            series.insert(sample.sample.clone(), points);
        }
    }
    series
}
