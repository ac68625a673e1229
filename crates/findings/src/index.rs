//! A database of all runs in a folder, for questions in SQL (`index.sql` has its tables). It is recreated from the runs' text files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, named_params, params};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::analysis::analyse;
use crate::record::{PlannedCell, TargetRecord};
use crate::sample::{PhaseSample, Sample};
use crate::store::{Run, RunFolder, sync_directory, unwritten};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::path;
use inrush_core::pending::Pending;

/// What became of a rebuild.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    /// The database.
    pub path: PathBuf,
    /// Runs in it.
    pub runs: usize,
    /// Folders that could not be read, and why.
    pub warnings: Vec<String>,
}

/// What marks a database as an index: `inrI`.
const APPLICATION_ID: i32 = 0x696e_7249;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

const TABLES: &str = include_str!("index.sql");

/// Makes `results.db` in the folder `results` from the runs that lie in it. Until it is whole, the one that was there stays.
///
/// # Errors
/// When the folder can't be read or the database can't be written, or another file has its name. A run that can't be read is a warning.
pub fn rebuild(results: &Path) -> Result<Rebuilt> {
    let path = results.join("results.db");
    expect_own(results)?;
    let mut folders: Vec<PathBuf> = fs::read_dir(results)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| Error::new(Kind::Source, format!("{}: {error}", results.display())))?;
    folders.retain(|path| path.is_dir() && !is_hidden(path));
    folders.sort();
    let pending = Pending::create(&path, false).map_err(|error| unwritten(&path, &error))?;
    let made = fill(&pending.path, &folders).and_then(|(runs, warnings)| {
        // A journal that belongs to the old database would be taken for the new one's.
        expect_own(results)?;
        for suffix in BESIDE {
            let _ = fs::remove_file(results.join(format!("results.db{suffix}")));
        }
        fs::File::open(&pending.path)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&pending.path, &path))
            .map_err(|error| unwritten(&path, &error))?;
        sync_directory(results)?;
        Ok(Rebuilt { path: path.clone(), runs, warnings })
    });
    if made.is_err() {
        // If it can't be removed, the next rebuild does.
        let _ = fs::remove_file(&pending.path);
    }
    made
}

/// Refuses a folder in which the index's name is another file's, or what lies beside a database of that name is.
///
/// # Errors
/// When that is so.
pub fn expect_own(results: &Path) -> Result<()> {
    let path = results.join("results.db");
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let beside = || {
        let beside = BESIDE.map(|suffix| results.join(format!("results.db{suffix}")));
        beside.into_iter().find(|path| is_there(path))
    };
    let foreign = match is_there(&path) {
        true => (!is_index(&path)).then_some(path),
        false => beside(),
    };
    let Some(path) = foreign else { return Ok(()) };
    Err(Error::usage(format!(
        "{} is not the index of a bench's results, which would take its name",
        path.display()
    ))
    .advise("give that file another name, or put it elsewhere"))
}

/// Whether an index is all that the file is: by its mark; or, where an earlier version has made it, by its tables, of which all are an
/// index's.
fn is_index(path: &Path) -> bool {
    let tables = |database: &Connection| -> rusqlite::Result<BTreeSet<String>> {
        // ANALYZE adds tables of SQLite's own.
        let mut names = database.prepare(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') AND substr(name, 1, 7) <> 'sqlite_'",
        )?;
        names.query_map([], |row| row.get(0))?.collect()
    };
    let look = || -> rusqlite::Result<bool> {
        // As it lies there: a look leaves another's database, and what is beside it, as they are.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let url = format!("file:{}?immutable=1", path::in_url(path));
        let database = Connection::open_with_flags(url, flags)?;
        let mark: i32 = database.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if mark != 0 {
            return Ok(mark == APPLICATION_ID);
        }
        let own = Connection::open_in_memory()?;
        own.execute_batch(TABLES)?;
        Ok(tables(&database)? == tables(&own)?)
    };
    path.is_file() && look().unwrap_or(false)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn fill(path: &Path, folders: &[PathBuf]) -> Result<(usize, Vec<String>)> {
    let fail =
        |error: rusqlite::Error| Error::new(Kind::Target, format!("{}: {error}", path.display()));
    let mut database = Connection::open(path).map_err(fail)?;
    // Nobody sees it before it is whole: if this fails, it is thrown away.
    database
        .execute_batch("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON")
        .and_then(|()| database.pragma_update(None, "application_id", APPLICATION_ID))
        .and_then(|()| database.execute_batch(TABLES))
        .map_err(fail)?;
    let (mut runs, mut warnings) = (0, Vec::new());
    for folder in folders {
        let added = RunFolder::open(folder).map_err(|error| error.to_string()).and_then(|run| {
            check(&run)?;
            Ok(run)
        });
        let run = match added {
            Ok(run) => run,
            Err(error) => {
                warnings.push(format!("skipped: {error}"));
                continue;
            }
        };
        let transaction = database.transaction().map_err(fail)?;
        match add_run(&transaction, &run).and_then(|()| transaction.commit()) {
            Ok(()) => runs += 1,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                warnings
                    .push(format!("skipped: {}: it contradicts itself: {error}", folder.display()));
            }
            Err(error) => return Err(fail(error)),
        }
    }
    database.close().map_err(|(_, error)| fail(error))?;
    Ok((runs, warnings))
}

/// What the tables' keys ask of a run, in better words than theirs.
fn check(run: &Run) -> std::result::Result<(), String> {
    let name = run.path.display();
    if run.path.file_name().is_none_or(|folder| *folder != *run.manifest.run) {
        return Err(format!("{name}: it is a copy of the run {}", run.manifest.run));
    }
    let mut cells: BTreeMap<&str, &PlannedCell> = BTreeMap::new();
    for cell in &run.plan.cells {
        if cells.insert(&cell.id, cell).is_some() {
            return Err(format!("{name}: plan.json has the cell {} twice", cell.id));
        }
    }
    for sample in &run.samples {
        if !cells.contains_key(&*sample.cell) {
            return Err(format!("{name}: sample {} is of no cell of plan.json", sample.sample));
        }
        let mut phases: Vec<&str> = sample.phases.iter().map(|phase| &*phase.id).collect();
        phases.sort_unstable();
        if phases.windows(2).any(|two| two[0] == two[1]) {
            return Err(format!("{name}: sample {} has a phase twice", sample.sample));
        }
    }
    Ok(())
}

fn add_run(database: &Transaction<'_>, run: &Run) -> rusqlite::Result<()> {
    add_env(database, run)?;
    let manifest = &run.manifest;
    database.execute(
        "INSERT INTO run(run_id, suite_id, suite_hash, format, tool_version, argv, seed, env_id, started_utc, ended_utc, exit,
           doctor_json, profile, stopped_by, path) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            manifest.run,
            manifest.suite,
            manifest.suite_hash,
            manifest.format,
            manifest.version,
            json(&manifest.command),
            manifest.seed.cast_signed(),
            run.env.id,
            manifest.started,
            manifest.ended,
            manifest.exit,
            json(&run.doctor),
            manifest.profile,
            manifest.stopped_by,
            run.path.to_string_lossy(),
        ],
    )?;
    for target in &run.targets {
        add_target(database, run, target)?;
    }
    for (name, dataset) in &run.suite.dataset {
        let rows = run.plan.rows.get(name).copied().unwrap_or(dataset.rows);
        let hash = run.plan.hashes.get(name).map_or("", String::as_str);
        database.execute(
            "INSERT INTO dataset(run_id, dataset, kind, rows, seed, content_hash, synthetic) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                manifest.run,
                name,
                dataset.kind,
                integer(rows),
                dataset.seed.cast_signed(),
                hash,
                dataset.kind != "file",
            ],
        )?;
    }
    for cell in &run.plan.cells {
        database.execute(
            "INSERT INTO cell(run_id, cell_id, experiment, target, server, strategy, params_json, is_aa, unavailable)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                manifest.run,
                cell.id,
                cell.experiment,
                cell.get("target").unwrap_or(""),
                cell.get("server").unwrap_or(""),
                cell.get("strategy"),
                json(&cell.coordinates),
                cell.twice.is_some(),
                cell.unavailable,
            ],
        )?;
    }
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for sample in &run.samples {
        let times = seen.entry(&sample.sample).and_modify(|times| *times += 1).or_insert(1);
        let id = match times {
            1 => sample.sample.clone(),
            times => format!("{}#{times}", sample.sample),
        };
        add_sample(database, &manifest.run, &id, sample)?;
    }
    add_references(database, run)?;
    add_claims(database, run)
}

fn add_env(database: &Transaction<'_>, run: &Run) -> rusqlite::Result<()> {
    let env = &run.env;
    let fact = |name: &str| env.facts.get(name);
    let cgroup: BTreeMap<_, _> =
        env.facts.iter().filter(|(name, _)| name.starts_with("cgroup ")).collect();
    // Runs on one machine share a row; facts that change from day to day are those of the first.
    database.execute(
        "INSERT OR IGNORE INTO env(env_id, cpu, threads, governor, ram_bytes, kernel, os, virt, cgroup_json, fs, mount_opts,
           disk_model, disk_write_cache, io_scheduler, json)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            env.id,
            env.cpu,
            integer(env.processors as u64),
            fact("governor"),
            integer(env.memory_bytes),
            fact("kernel"),
            fact("os"),
            fact("virtualisation"),
            json(&cgroup),
            fact("filesystem"),
            fact("mount options"),
            fact("disk model"),
            fact("disk write cache"),
            fact("disk scheduler"),
            json(env),
        ],
    )?;
    Ok(())
}

fn add_target(
    database: &Transaction<'_>,
    run: &Run,
    target: &TargetRecord,
) -> rusqlite::Result<()> {
    let server = target.server.as_deref().unwrap_or("");
    let family = run.suite.target.get(&target.target).map_or("", |target| &*target.family);
    let settings_hash = format!("{:016x}", xxh3_64(json(&target.settings).as_bytes()));
    // A target that was recorded twice was started twice: the later record counts.
    database.execute(
        "INSERT OR REPLACE INTO target(run_id, target, server, adapter, engine, transport, rtt_us_p50, rtt_us_p99, durability,
           settings_hash, unavailable) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            run.manifest.run,
            target.target,
            server,
            family,
            target.engine,
            target.transport,
            target.round_trip.map(|round_trip| round_trip.p50_us),
            target.round_trip.map(|round_trip| round_trip.p99_us),
            target.durability,
            settings_hash,
            target.unavailable,
        ],
    )?;
    let mut insert = database.prepare(
        "INSERT OR REPLACE INTO setting(run_id, target, server, name, value, default_value, set_by_us)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for setting in &target.settings {
        insert.execute(params![
            run.manifest.run,
            target.target,
            server,
            setting.name,
            setting.value,
            setting.default,
            target.set.contains_key(&setting.name),
        ])?;
    }
    // What was asked for and the database doesn't tell.
    for (name, value) in &target.set {
        if !target.settings.iter().any(|setting| setting.name == *name) {
            let none = None::<String>;
            insert.execute(params![
                run.manifest.run,
                target.target,
                server,
                name,
                value,
                none,
                true
            ])?;
        }
    }
    Ok(())
}

fn add_sample(
    database: &Transaction<'_>,
    run: &str,
    id: &str,
    sample: &Sample,
) -> rusqlite::Result<()> {
    let verify = sample.verify.as_ref();
    let mut insert = database.prepare(
        "INSERT INTO sample(run_id, sample_id, cell_id, block, ord, warmup, status, flags, error, started_utc, seconds, load_before,
           foreign_cpu, size_after_load, verify_ok, verify_rows, verify_hash, verify_secs, durability, durability_json)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?;
    insert.execute(params![
        run,
        id,
        sample.cell,
        sample.block,
        sample.order,
        sample.warmup,
        sample.status.word(),
        json(&sample.flags),
        sample.error,
        sample.started,
        sample.seconds,
        sample.load_before,
        sample.foreign_cpu,
        sample.phases.iter().find_map(|phase| phase.bytes).map(integer),
        verify.map(|verify| verify.ok),
        verify.map(|verify| integer(verify.rows)),
        verify.map(|verify| &verify.hash),
        verify.map(|verify| verify.seconds),
        sample.durability.asked,
        json(&sample.durability.read_back),
    ])?;
    for (phase, ord) in sample.phases.iter().zip(0..) {
        add_phase(database, run, id, phase, ord)?;
    }
    Ok(())
}

fn add_phase(
    database: &Transaction<'_>,
    run: &str,
    sample: &str,
    phase: &PhaseSample,
    ord: u32,
) -> rusqlite::Result<()> {
    let resources = &phase.resources;
    let steadiness = phase.steadiness.as_ref();
    let fastest = phase.worker_rates.iter().copied().reduce(f64::max);
    let slowest = phase.worker_rates.iter().copied().reduce(f64::min);
    let skew = fastest.zip(slowest).filter(|(_, slowest)| *slowest > 0.0).map(|(f, s)| f / s);
    let mut insert = database.prepare(
        "INSERT INTO phase(run_id, sample_id, phase, ord, timed, ack_ns, durable_ns, rows, requests, user_bytes, retries, errors,
           partial, cli_cpu_us, srv_cpu_us, cli_peak_mem, srv_peak_mem, write_bytes, dev_write_bytes, rate_p50, rate_p99, rate_min,
           stall_s, worker_skew, bytes, strategy)
           VALUES (:run, :sample, :phase, :ord, :timed, :ack, :durable, :rows, :requests, :user_bytes, :retries, :errors,
           :partial, :cli_cpu, :srv_cpu, :cli_mem, :srv_mem, :write_bytes, :dev_bytes, :p50, :p99, :min,
           :stall, :skew, :bytes, :strategy)",
    )?;
    insert.execute(named_params! {
        ":run": run,
        ":sample": sample,
        ":phase": phase.id,
        ":ord": ord,
        ":timed": phase.timed,
        ":ack": integer(phase.ack_ns),
        ":durable": integer(phase.durable_ns),
        ":rows": integer(phase.rows),
        ":requests": integer(phase.requests),
        ":user_bytes": integer(phase.user_bytes),
        ":retries": integer(phase.retries),
        ":errors": integer(phase.failed.values().sum()),
        ":partial": phase.partial,
        ":cli_cpu": integer(resources.client_cpu_us),
        ":srv_cpu": resources.server_cpu_us.map(integer),
        ":cli_mem": integer(resources.client_peak_bytes),
        ":srv_mem": resources.server_memory_bytes.map(integer),
        ":write_bytes": integer(resources.write_bytes),
        ":dev_bytes": resources.device_write_bytes.map(integer),
        ":p50": steadiness.map(|steadiness| steadiness.rate_p50),
        ":p99": steadiness.map(|steadiness| steadiness.rate_p01),
        ":min": steadiness.map(|steadiness| steadiness.rate_min),
        ":stall": steadiness.map(|steadiness| steadiness.stall_s),
        ":skew": skew,
        ":bytes": phase.bytes.map(integer),
        ":strategy": phase.strategy,
    })?;
    let mut insert = database.prepare(
        "INSERT INTO latency(run_id, sample_id, phase, op, kind, n, p50_us, p90_us, p99_us, p999_us, max_us, mean_us)
           VALUES (?1, ?2, ?3, ?4, 'service', ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (op, latency) in &phase.latency {
        insert.execute(params![
            run,
            sample,
            phase.id,
            op,
            integer(latency.n),
            latency.p50_us,
            latency.p90_us,
            latency.p99_us,
            latency.p999_us,
            latency.max_us,
            latency.mean_us,
        ])?;
    }
    Ok(())
}

/// Of suites that changed between runs, the last run's references stay: folders come in the order of time.
fn add_references(database: &Transaction<'_>, run: &Run) -> rusqlite::Result<()> {
    let suite = &run.suite;
    database.execute("DELETE FROM reference WHERE suite_id = ?1", [&suite.id])?;
    let source = suite.source.as_ref();
    for reference in &suite.reference {
        for (published, ord) in reference.values.iter().zip(0_u32..) {
            database.execute(
                "INSERT INTO reference(suite_id, ref_id, ord, match_json, metric, value, unit, source_url, source_date, source_machine,
                   note) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    suite.id,
                    reference.id,
                    ord,
                    json(&published.cell),
                    reference.metric,
                    published.value,
                    reference.unit,
                    source.map_or("", |source| &source.url),
                    source.map(|source| &source.date),
                    source.map(|source| &source.machine),
                    published.label,
                ],
            )?;
        }
    }
    Ok(())
}

fn add_claims(database: &Transaction<'_>, run: &Run) -> rusqlite::Result<()> {
    for claim in analyse(&run.suite, &run.plan, &run.samples).claims {
        let measured = claim.measured;
        database.execute(
            "INSERT INTO claim_result(run_id, claim_id, server, verdict, value, low, high, n, claimed, detail)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                run.manifest.run,
                claim.id,
                claim.server.as_deref().unwrap_or(""),
                claim.verdict.words(),
                measured.map(|measured| measured.value),
                measured.map(|measured| measured.low),
                measured.map(|measured| measured.high),
                measured.map(|measured| integer(measured.n as u64)),
                claim.claimed,
                claim.detail,
            ],
        )?;
    }
    Ok(())
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("maps have text as keys, and memory is there")
}

/// `SQLite`'s integers have a sign; nothing here comes near 2^63.
fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Measured, suite};
    use crate::sample::Status;
    use inrush_core::target::Setting;

    const REFERENCE: &str = r#"
[source]
title = "A study"
url = "https://example.com/study"
date = "2014"
machine = "a machine"
software = "a database"
[[reference]]
id = "rates"
title = "Rates"
experiment = "load"
metric = "insert.rows_per_s"
unit = "rows/s"
baseline = { target = "slow" }
values = [{ cell = { target = "fast" }, value = 9.5 }, { cell = { target = "slow" }, value = 1.0 }]
[[claim]]
id = "ten"
text = "Fast is ten times as fast"
ratio = { of = { experiment = "load", cell = { target = "fast" }, metric = "insert.rows_per_s" }, to = { experiment = "load", cell = { target = "slow" }, metric = "insert.rows_per_s" } }
at_least = 8
"#;

    #[test]
    fn what_runs_hold_is_found_by_sql() {
        let place = tempfile::tempdir().unwrap();
        let suite = suite(&["fast", "slow"], "{}", REFERENCE);
        let measured = Measured::new()
            .rates("target=fast strategy=sqlite/pages", &[10.0])
            .status(Status::Contended, "")
            .sample(0, 20.0)
            .rates("target=slow", &[1.0])
            .status(Status::Error, "it is full")
            .cell("target=fast strategy=sqlite/pages")
            .twice("c000");
        let folder = measured.store(place.path(), &suite);
        let setting = |name: &str| Setting {
            name: name.to_owned(),
            value: "2".to_owned(),
            default: Some("1".to_owned()),
        };
        folder
            .write_targets(&[TargetRecord {
                target: "fast".to_owned(),
                durability: "durable".to_owned(),
                set: BTreeMap::from([("synchronous".to_owned(), "FULL".to_owned())]),
                settings: vec![setting("cache"), setting("synchronous")],
                ..TargetRecord::default()
            }])
            .unwrap();
        measured.store(place.path(), &suite);
        // None of these is a run that can be read.
        fs::create_dir(place.path().join("20200101T000000Z-000000")).unwrap();
        fs::create_dir(place.path().join(".hidden")).unwrap();
        fs::write(place.path().join("notes.txt"), "").unwrap();
        // Nor may an index stay that was there before, with its log: here one of an earlier version, which has no mark.
        let old = Connection::open(place.path().join("results.db")).unwrap();
        old.execute_batch(TABLES).and_then(|()| old.execute_batch("ANALYZE")).unwrap();
        old.close().unwrap();
        fs::write(place.path().join("results.db-wal"), "old").unwrap();

        let rebuilt = rebuild(place.path()).unwrap();
        assert_eq!(rebuilt.runs, 2);
        assert_eq!(rebuilt.warnings.len(), 1, "{:?}", rebuilt.warnings);
        assert!(rebuilt.warnings[0].contains("manifest.json is missing"), "{:?}", rebuilt.warnings);
        assert!(!place.path().join("results.db-wal").exists());
        let names = fs::read_dir(place.path()).unwrap().flatten();
        assert_eq!(names.filter(|e| e.path().is_file()).count(), 2, "notes.txt and results.db");

        let database = Connection::open(&rebuilt.path).unwrap();
        let run = &folder.manifest().run;
        let ask = |sql: &str| -> String {
            let sql = sql.replace("RUN", &format!("run_id = '{run}'"));
            let mut statement = database.prepare(&sql).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            let mut lines = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                let value = |column| match row.get::<_, rusqlite::types::Value>(column).unwrap() {
                    rusqlite::types::Value::Null => "NULL".to_owned(),
                    rusqlite::types::Value::Integer(value) => value.to_string(),
                    rusqlite::types::Value::Real(value) => value.to_string(),
                    rusqlite::types::Value::Text(value) => value,
                    rusqlite::types::Value::Blob(_) => "BLOB".to_owned(),
                };
                lines.push((0..columns).map(value).collect::<Vec<_>>().join(" "));
            }
            lines.join("\n")
        };
        assert_eq!(ask("SELECT count(*), count(DISTINCT env_id) FROM run"), "2 1");
        assert_eq!(
            ask("SELECT sample_id, status, error FROM sample WHERE RUN ORDER BY ord"),
            "b00.c000 contended NULL\nb00.c000#2 ok NULL\nb00.c001 error it is full"
        );
        assert_eq!(
            ask("SELECT cell_id, target, server, strategy, is_aa FROM cell WHERE RUN ORDER BY 1"),
            "c000 fast  sqlite/pages 0\nc001 slow  NULL 0\nc002 fast  sqlite/pages 1"
        );
        assert_eq!(
            ask("SELECT name, value, default_value, set_by_us FROM setting WHERE RUN ORDER BY 1"),
            "cache 2 1 0\nsynchronous 2 1 1"
        );
        assert_eq!(ask("SELECT adapter, durability FROM target WHERE RUN"), "sqlite durable");
        assert_eq!(
            ask("SELECT kind, rows, content_hash, synthetic FROM dataset WHERE RUN"),
            "pairs 1000 00000000000000aa 1"
        );
        assert_eq!(
            ask("SELECT phase, rows_s_ack, rows_s_durable, cli_us_row, write_amp, space_amp FROM derived
                  WHERE RUN AND sample_id = 'b00.c000#2'"),
            "insert 20000 10000 0.5 2 0.512"
        );
        assert_eq!(
            ask("SELECT op, kind, n, p50_us FROM latency WHERE RUN AND sample_id = 'b00.c000#2'"),
            "statement service 1000 50"
        );
        assert_eq!(
            ask("SELECT ord, match_json, value, source_date FROM reference ORDER BY 1"),
            "0 {\"target\":\"fast\"} 9.5 2014\n1 {\"target\":\"slow\"} 1 2014"
        );
        assert_eq!(
            ask(
                "SELECT claim_id, server, verdict, value, claimed, detail FROM claim_result WHERE RUN"
            ),
            "ten  not testable here NULL at least 8 slow has no sample that is ok, but error: it is full"
        );
        assert_eq!(ask("PRAGMA foreign_key_check"), "");
    }

    #[test]
    fn a_file_that_is_no_index_stays_with_what_is_beside_it() {
        let place = tempfile::tempdir().unwrap();
        // What a URL would take for its own.
        let results = place.path().join("a b?c#d%41");
        fs::create_dir(&results).unwrap();
        let path = results.join("results.db");
        let files = || {
            let files = fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().path());
            files.map(|path| (path.clone(), fs::read(path).unwrap())).collect::<BTreeMap<_, _>>()
        };
        let stays = || {
            let before = files();
            expect_own(&results).unwrap_err();
            rebuild(&results).unwrap_err();
            assert_eq!(files(), before);
        };
        // Rows that are in the log alone.
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "PRAGMA journal_mode=WAL; CREATE TABLE run(run_id); INSERT INTO run VALUES (1)",
            )
            .unwrap();
        stays();
        drop(theirs);
        // An index to which a table was added, by whoever keeps the file's mark at nought.
        fs::remove_file(&path).unwrap();
        let theirs = Connection::open(&path).unwrap();
        theirs.execute_batch(TABLES).unwrap();
        theirs.execute_batch("CREATE TABLE mine(x)").unwrap();
        stays();
        theirs.execute_batch("DROP TABLE mine").unwrap();
        drop(theirs);
        assert_eq!(rebuild(&results).unwrap().runs, 0);
        // Its own one is known by its mark, whatever its tables.
        let own = Connection::open(&path).unwrap();
        own.execute_batch("DROP TABLE claim_result").unwrap();
        drop(own);
        rebuild(&results).unwrap();
        for text in ["", "notes"] {
            fs::write(&path, text).unwrap();
            stays();
        }
        fs::remove_file(&path).unwrap();
        fs::write(results.join("results.db-wal"), "rows").unwrap();
        stays();
    }

    #[test]
    fn a_run_that_contradicts_itself_is_skipped() {
        let place = tempfile::tempdir().unwrap();
        let suite = suite(&["fast"], "{}", "");
        let mut measured = Measured::new().rates("target=fast", &[10.0, 20.0]);
        measured.last_sample().cell = "c099".to_owned();
        measured.store(place.path(), &suite);
        let rebuilt = rebuild(place.path()).unwrap();
        assert_eq!(rebuilt.runs, 0);
        assert!(rebuilt.warnings[0].contains("b01.c000 is of no cell"), "{:?}", rebuilt.warnings);
    }
}
