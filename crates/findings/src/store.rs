//! The folder of one run. Its text files are the truth; everything else can be made from them again.
//!
//! ```text
//! RUN/manifest.json              who ran what; written last when the folder is made, so a folder that has it is whole
//! RUN/suite.toml  plan.json      the suite as it was resolved, the cells
//! RUN/env.json  doctor.json      the machine, and a look at it before the first sample
//! RUN/targets.json               what every database said of itself
//! RUN/samples.jsonl              a line for each finished sample, synced; only ever appended to
//! RUN/series/SAMPLE.jsonl.zst    points over time
//! RUN/hist/SAMPLE.hlog           latency histograms
//! RUN/log.txt
//! ```
//!
//! A sample counts as finished when its whole line, newline included, is on the disk. What a kill leaves behind the last newline is
//! no sample: readers pass over it, and [`RunFolder::resume`] cuts it off.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::record::{Doctor, Environment, Manifest, RunPlan, TargetRecord};
use crate::sample::{Point, Sample};
use crate::suite::Suite;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::locks::{LOCK_LINGERS, lock_within};
use inrush_core::pending::{Pending, directory};

/// The version of the files' format.
const FORMAT: u32 = 1;
/// A run that begins in the same second as another of the same suite waits for the next one; so often, [`WAIT`] each, before it gives up.
const WAITS_MAX: u32 = 50;
const WAIT: Duration = Duration::from_millis(100);
/// Points are numbers that grow slowly: higher levels take longer and save little.
const ZSTD_LEVEL: i32 = 3;

/// The folder of a run that is being written: ours alone until this goes. A kill lets go of it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    manifest: Manifest,
    /// Locked.
    samples: File,
    log: File,
}

/// A run as it was read.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its folder.
    pub path: PathBuf,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `suite.toml`.
    pub suite: Suite,
    /// `plan.json`.
    pub plan: RunPlan,
    /// `env.json`.
    pub env: Environment,
    /// `doctor.json`.
    pub doctor: Doctor,
    /// `targets.json`; empty when the run hadn't come to it.
    pub targets: Vec<TargetRecord>,
    /// `samples.jsonl`, in the order in which they finished.
    pub samples: Vec<Sample>,
}

impl RunFolder {
    /// Makes the folder of a new run in `parent`, which is made too if need be. Of `manifest` the caller fills in `profile`, `seed`,
    /// `command` and `servers`; the rest is filled in here, and URLs lose what may be secret.
    ///
    /// # Errors
    /// When something can't be written.
    pub fn create(
        parent: &Path,
        mut manifest: Manifest,
        suite: &Suite,
        plan: &RunPlan,
        env: &Environment,
        doctor: &Doctor,
    ) -> Result<Self> {
        let text = suite_text(suite)?;
        manifest.format = FORMAT;
        manifest.suite.clone_from(&suite.id);
        manifest.suite_hash = hash(&text);
        env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
        (manifest.ended, manifest.exit, manifest.stopped_by) = (None, None, None);
        for word in manifest.command.iter_mut().chain(&mut manifest.servers) {
            *word = redacted(word);
        }
        fs::create_dir_all(parent).map_err(|error| unwritten(parent, &error))?;
        let mut waits = 0;
        let path = loop {
            let now = Timestamp::now();
            manifest.started = rfc3339(now);
            manifest.run = run_id(now, &manifest.suite_hash);
            let path = parent.join(&manifest.run);
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && waits < WAITS_MAX => {
                    waits += 1;
                    std::thread::sleep(WAIT);
                }
                Err(error) => return Err(unwritten(&path, &error)),
            }
        };
        let (samples, log) = open_for_writing(&path)?;
        write_new(&path.join("suite.toml"), text.as_bytes())?;
        write_new(&path.join("plan.json"), &json(plan))?;
        write_new(&path.join("env.json"), &json(env))?;
        write_new(&path.join("doctor.json"), &json(doctor))?;
        write_new(&path.join("manifest.json"), &json(&manifest))?;
        sync_directory(&path).and_then(|()| sync_directory(parent))?;
        Ok(Self { path, manifest, samples, log })
    }

    /// Reads a run, whether or not it is still being written.
    ///
    /// # Errors
    /// When a file is missing or damaged; which one, and in which line.
    pub fn open(path: &Path) -> Result<Run> {
        if !path.is_dir() {
            let what = format!("{}: there is no run (a run is a folder)", path.display());
            return Err(Error::new(Kind::Source, what));
        }
        // A later version's files need not be readable at all, so this comes first.
        let manifest: Manifest = read_json(&path.join("manifest.json"))?;
        if manifest.format != FORMAT {
            let what = format!(
                "{}: the format is {}, and this version reads {FORMAT}",
                path.join("manifest.json").display(),
                manifest.format
            );
            return Err(Error::new(Kind::Source, what));
        }
        let (suite, found) = read_suite(&path.join("suite.toml"))?;
        if found != manifest.suite_hash {
            let what = format!(
                "{}: it was changed since the run began: its hash is {found}, and the run's {}",
                path.join("suite.toml").display(),
                manifest.suite_hash
            );
            return Err(Error::new(Kind::Source, what));
        }
        let targets = path.join("targets.json");
        Ok(Run {
            suite,
            plan: read_json(&path.join("plan.json"))?,
            env: read_json(&path.join("env.json"))?,
            doctor: read_json(&path.join("doctor.json"))?,
            targets: if targets.exists() { read_json(&targets)? } else { Vec::new() },
            samples: read_samples(&path.join("samples.jsonl"))?.0,
            path: path.to_owned(),
            manifest,
        })
    }

    /// Goes on with a run that was interrupted or killed: locks it, cuts off the sample that was being written, and takes back in the
    /// manifest that it ended. Whether the samples of then and now belong together is for the caller to tell from [`RunFolder::open`].
    ///
    /// # Errors
    /// As [`RunFolder::open`]; when another process writes the run; when something can't be written.
    pub fn resume(path: &Path) -> Result<(Self, Run)> {
        if !path.join("samples.jsonl").is_file() {
            // Opening it for writing would make it.
            RunFolder::open(path)?;
        }
        let (samples, log) = open_for_writing(path)?;
        let mut run = RunFolder::open(path)?;
        let name = path.join("samples.jsonl");
        let (_, whole_bytes) = read_samples(&name)?;
        samples
            .set_len(whole_bytes)
            .and_then(|()| samples.sync_all())
            .map_err(|error| unwritten(&name, &error))?;
        (run.manifest.ended, run.manifest.exit, run.manifest.stopped_by) = (None, None, None);
        let folder = Self { path: path.to_owned(), manifest: run.manifest.clone(), samples, log };
        replace(&path.join("manifest.json"), &json(&folder.manifest))?;
        Ok((folder, run))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As it was written last.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// All samples that are finished.
    ///
    /// # Errors
    /// When a line other than a cut last one is damaged; which one.
    pub fn samples(&self) -> Result<Vec<Sample>> {
        Ok(read_samples(&self.path.join("samples.jsonl"))?.0)
    }

    /// Adds a sample. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it can't be written, or has a number that is not finite; then the file is as it was.
    pub fn append(&mut self, sample: &Sample) -> Result<()> {
        let mut line = line_of(sample);
        // JSON has no infinite numbers: they are written as `null`, and what reads them takes the line for damaged.
        if let Err(error) = serde_json::from_slice::<Sample>(&line) {
            let what = format!("sample {}: it can't be read again: {error}", sample.sample);
            return Err(Error::new(Kind::Target, what));
        }
        line.push(b'\n');
        let append = || {
            let before_bytes = self.samples.metadata()?.len();
            let written = (&self.samples).write_all(&line).and_then(|()| self.samples.sync_data());
            if written.is_err() {
                // Half a line in front of the next one would damage both.
                self.samples.set_len(before_bytes)?;
            }
            written
        };
        append().map_err(|error| unwritten(&self.path.join("samples.jsonl"), &error))
    }

    /// Keeps a sample's points over time, before the sample itself is appended.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn write_series(&self, sample: &str, points: &[Point]) -> Result<()> {
        let path = beside(&self.path, "series", sample, "jsonl.zst")?;
        let mut text = Vec::new();
        for point in points {
            text.extend(line_of(point));
            text.push(b'\n');
        }
        let packed =
            zstd::encode_all(&*text, ZSTD_LEVEL).map_err(|error| unwritten(&path, &error))?;
        write_beside(&path, &packed)
    }

    /// Keeps a sample's latency histograms, a log in `HdrHistogram`'s text form, before the sample itself is appended.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn write_histograms(&self, sample: &str, log: &str) -> Result<()> {
        write_beside(&beside(&self.path, "hist", sample, "hlog")?, log.as_bytes())
    }

    /// Says what the databases are; again when more of them have been started.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write_targets(&self, targets: &[TargetRecord]) -> Result<()> {
        replace(&self.path.join("targets.json"), &json(targets))
    }

    /// Adds a line to the log, with the time. URLs lose what may be secret.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn log(&self, text: &str) -> Result<()> {
        let words: Vec<String> = text.lines().map(redacted_words).collect();
        let line = format!("{} {}\n", rfc3339(Timestamp::now()), words.join("\n  "));
        (&self.log)
            .write_all(line.as_bytes())
            .map_err(|error| unwritten(&self.path.join("log.txt"), &error))
    }

    /// Says in the manifest that the run has ended: `complete` or `interrupted`, and why no further block was taken.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(&mut self, exit: &str, stopped_by: &str) -> Result<()> {
        self.manifest.ended = Some(rfc3339(Timestamp::now()));
        self.manifest.exit = Some(exit.to_owned());
        self.manifest.stopped_by = Some(stopped_by.to_owned());
        replace(&self.path.join("manifest.json"), &json(&self.manifest))
    }
}

impl Run {
    /// A sample's points over time; empty when none were kept.
    ///
    /// # Errors
    /// When the file is damaged; in which line.
    pub fn series(&self, sample: &str) -> Result<Vec<Point>> {
        let path = beside(&self.path, "series", sample, "jsonl.zst")?;
        if !path.exists() {
            return Ok(Vec::new());
        }
        let unread = |error: io::Error| unread(&path, &error);
        let file = File::open(&path).map_err(unread)?;
        let lines = BufReader::new(zstd::Decoder::new(file).map_err(unread)?);
        let mut points = Vec::new();
        for (line, number) in lines.lines().zip(1..) {
            points.push(parse_line(&path, number, line.map_err(unread)?.as_bytes())?);
        }
        Ok(points)
    }

    /// A sample's latency histograms, a log in `HdrHistogram`'s text form, if they were kept.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn histograms(&self, sample: &str) -> Result<Option<String>> {
        let path = beside(&self.path, "hist", sample, "hlog")?;
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            text => Ok(Some(text.map_err(|error| unread(&path, &error))?)),
        }
    }
}

/// The hash of a resolved suite: xxh3 of the text that is written as `suite.toml`, as 16 hexadecimal digits.
///
/// # Errors
/// When a number in the suite can't be written as TOML (above 2^63 - 1).
pub fn suite_hash(suite: &Suite) -> Result<String> {
    suite_text(suite).map(|text| hash(&text))
}

fn suite_text(suite: &Suite) -> Result<String> {
    toml::to_string(suite).map_err(|error| {
        Error::new(Kind::Usage, format!("suite {}: it can't be written as TOML: {error}", suite.id))
    })
}

fn hash(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

fn rfc3339(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn run_id(at: Timestamp, suite_hash: &str) -> String {
    format!("{}-{}", at.strftime("%Y%m%dT%H%M%SZ"), &suite_hash[..6])
}

/// [`inrush_core::without_secrets`] is for what a user typed as a place; here a URL may stand behind other words, as in `NAME=URL,NAME=URL`.
fn redacted(word: &str) -> String {
    let word = inrush_core::without_secrets(word);
    match word.split_once("://") {
        Some((scheme, _)) => format!("{scheme}:..."),
        None => word,
    }
}

fn redacted_words(line: &str) -> String {
    line.split(' ')
        .map(|word| if word.contains("://") { redacted(word) } else { word.to_owned() })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The files of a run that stay open, the first one locked.
fn open_for_writing(path: &Path) -> Result<(File, File)> {
    let name = path.join("samples.jsonl");
    let open = |name: &Path| File::options().append(true).create(true).open(name);
    let samples = open(&name).map_err(|error| unwritten(&name, &error))?;
    match lock_within(&samples, LOCK_LINGERS) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let what = format!("{}: another process is writing this run", path.display());
            return Err(Error::new(Kind::Target, what));
        }
        Err(TryLockError::Error(error)) => return Err(unwritten(&name, &error)),
    }
    let name = path.join("log.txt");
    let log = open(&name).map_err(|error| unwritten(&name, &error))?;
    Ok((samples, log))
}

/// The samples of whole lines, and how many bytes those have.
fn read_samples(path: &Path) -> Result<(Vec<Sample>, u64)> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| unread(path, &error))?;
    let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
    let mut samples = Vec::new();
    for (line, number) in bytes[..whole].split_inclusive(|b| *b == b'\n').zip(1..) {
        let sample: Sample = parse_line(path, number, line)?;
        if sample.v != FORMAT {
            let what = format!(
                "{}, line {number}: the format is {}, and this version reads {FORMAT}",
                path.display(),
                sample.v
            );
            return Err(Error::new(Kind::Source, what));
        }
        samples.push(sample);
    }
    Ok((samples, whole as u64))
}

fn read_suite(path: &Path) -> Result<(Suite, String)> {
    let text = fs::read_to_string(path).map_err(|error| unread(path, &error))?;
    let suite = toml::from_str(&text).map_err(|error| {
        Error::new(Kind::Source, format!("{}: {}", path.display(), error.to_string().trim_end()))
    })?;
    Ok((suite, hash(&text)))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(|error| unread(path, &error))?;
    // The message ends in the line and the column.
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::new(Kind::Source, format!("{}: {error}", path.display())))
}

fn parse_line<T: DeserializeOwned>(path: &Path, number: usize, line: &[u8]) -> Result<T> {
    serde_json::from_slice(line).map_err(|error| {
        // Its own `at line 1 column 7` would contradict the number.
        let error = error.to_string();
        let error = error.rsplit_once(" at line ").map_or(&*error, |(what, _)| what);
        let what = format!("{}, line {number}: it is damaged: {error}", path.display());
        Error::new(Kind::Source, what)
    })
}

fn json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec_pretty(value).expect("maps have text as keys, and memory is there");
    bytes.push(b'\n');
    bytes
}

fn line_of<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("maps have text as keys, and memory is there")
}

/// A file that is named after a sample.
fn beside(run: &Path, folder: &str, sample: &str, suffix: &str) -> Result<PathBuf> {
    // Ids come from files too, and no file may name a place outside of its run.
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if sample.is_empty() || sample.starts_with('.') || !sample.chars().all(fine) {
        return Err(Error::new(
            Kind::Source,
            format!("'{}' is no sample's id", sample.escape_debug()),
        ));
    }
    Ok(run.join(folder).join(format!("{sample}.{suffix}")))
}

/// Not synced: a sample is no worse for a series that a loss of power took.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::create_dir_all(directory(path))
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| unwritten(path, &error))
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    File::create_new(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(|error| unwritten(path, &error))
}

/// A kill leaves the old content or the new one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let replace = || {
        let pending = Pending::create(path, false)?;
        let mut file = File::options().write(true).open(&pending.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&pending.path, path)
    };
    replace().map_err(|error| unwritten(path, &error))?;
    sync_directory(directory(path))
}

/// Makes names in a directory as lasting as what they name.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| unwritten(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{} is missing: the folder holds no whole run", path.display())
        }
        _ => format!("{}: {error}", path.display()),
    };
    Error::new(Kind::Source, what)
}

pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Target, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Measured, suite};

    fn two() -> (Suite, Measured) {
        let measured = Measured::new().rates("target=fast", &[10.0, 20.0, 40.0]);
        (suite(&["fast"], "{}", ""), measured)
    }

    fn append_text(folder: &Path, text: &str) {
        let name = folder.join("samples.jsonl");
        File::options().append(true).open(name).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn what_is_written_is_read_again() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let mut folder = measured.store(&place.path().join("made/for/it"), &suite);
        let targets = [TargetRecord { target: "fast".to_owned(), ..TargetRecord::default() }];
        folder.write_targets(&targets).unwrap();
        let points =
            [1, 2].map(|at_ns| Point { phase: "insert".to_owned(), worker: 1, at_ns, done: 5 });
        folder.write_series("b00.c000", &points).unwrap();
        folder.write_histograms("b00.c000", "#[a log]\n").unwrap();
        folder.log("begun\nand more").unwrap();
        // It is readable while it is written.
        let run = RunFolder::open(folder.path()).unwrap();
        assert_eq!(run.manifest.exit, None);
        folder.finish("complete", "blocks").unwrap();
        let run = RunFolder::open(&run.path).unwrap();
        assert_eq!(run.manifest.exit.as_deref(), Some("complete"));
        assert_eq!(run.manifest.stopped_by.as_deref(), Some("blocks"));
        assert!(run.manifest.ended.unwrap() >= run.manifest.started);
        assert_eq!(run.manifest.suite_hash, suite_hash(&suite).unwrap());
        assert_eq!(suite_hash(&run.suite).unwrap(), run.manifest.suite_hash);
        assert_eq!(run.plan.cells, measured.plan.cells);
        assert_eq!(run.targets, targets);
        assert_eq!(
            serde_json::to_string(&run.samples).unwrap(),
            serde_json::to_string(&measured.samples).unwrap()
        );
        let run = RunFolder::open(&run.path).unwrap();
        assert_eq!(run.series("b00.c000").unwrap().len(), 2);
        assert!(run.series("b01.c000").unwrap().is_empty());
        assert_eq!(run.histograms("b00.c000").unwrap().as_deref(), Some("#[a log]\n"));
        assert_eq!(run.histograms("b01.c000").unwrap(), None);
        let log = fs::read_to_string(run.path.join("log.txt")).unwrap();
        assert!(log.ends_with("Z begun\n  and more\n"), "{log}");
        let left = fs::read_dir(&run.path).unwrap().flatten();
        let hidden = left.filter(|e| e.file_name().to_string_lossy().starts_with('.')).count();
        assert_eq!(hidden, 0, "temporary files stay");
    }

    #[test]
    fn the_id_of_a_run_is_its_start_and_its_suite() {
        let at: Timestamp = "2026-11-21T21:51:37.9Z".parse().unwrap();
        assert_eq!(run_id(at, "3fa9c1d2e3f40516"), "20261121T215137Z-3fa9c1");
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let first = measured.store(place.path(), &suite);
        let second = measured.store(place.path(), &suite);
        assert_ne!(first.path(), second.path(), "two runs in one second");
        assert!(second.path().ends_with(&second.manifest().run));
    }

    #[test]
    fn a_cut_last_line_is_no_sample_and_goes_when_the_run_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let mut folder = measured.store(place.path(), &suite);
        folder.finish("interrupted", "interrupted").unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        // Wherever a kill cuts it: after the first byte, in the middle, just before the newline.
        let line = String::from_utf8(line_of(&measured.samples[0])).unwrap();
        for cut in [1, line.len() / 2, line.len()] {
            append_text(&path, &line[..cut]);
            assert_eq!(RunFolder::open(&path).unwrap().samples.len(), 3);
            let (folder, run) = RunFolder::resume(&path).unwrap();
            assert_eq!(run.samples.len(), 3);
            assert_eq!(run.manifest.exit, None);
            assert_eq!(folder.samples().unwrap().len(), 3);
        }
        append_text(&path, &line[..9]);
        let (mut folder, _) = RunFolder::resume(&path).unwrap();
        folder.append(&measured.samples[1]).unwrap();
        assert_eq!(folder.samples().unwrap().len(), 4);
        assert_eq!(RunFolder::open(&path).unwrap().manifest.exit, None);
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_an_error_with_its_number() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let folder = measured.store(place.path(), &suite);
        append_text(folder.path(), "{\"v\":1,\n");
        let line = String::from_utf8(line_of(&measured.samples[0])).unwrap();
        append_text(folder.path(), &format!("{line}\n"));
        let error = folder.samples().unwrap_err().to_string();
        assert!(error.contains("samples.jsonl, line 4: it is damaged: EOF"), "{error}");
        let name = folder.path().join("samples.jsonl");
        fs::write(&name, format!("{}\n", line.replace("\"v\":1", "\"v\":2"))).unwrap();
        let error = folder.samples().unwrap_err().to_string();
        assert!(error.contains("line 1: the format is 2"), "{error}");
    }

    #[test]
    fn a_number_that_json_does_not_have_is_refused_and_damages_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (suite, mut measured) = two();
        let mut folder = measured.store(place.path(), &suite);
        measured.last_sample().seconds = f64::NAN;
        let error = folder.append(&measured.samples[2]).unwrap_err().to_string();
        assert!(error.contains("sample b02.c000"), "{error}");
        assert_eq!(folder.samples().unwrap().len(), 3);
    }

    #[test]
    fn a_run_has_one_writer() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let folder = measured.store(place.path(), &suite);
        let error = RunFolder::resume(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another process is writing this run"), "{error}");
        let path = folder.path().to_owned();
        drop(folder);
        RunFolder::resume(&path).unwrap();
    }

    /// What the next test kills.
    #[test]
    #[ignore = "it never ends"]
    fn a_writer_to_be_killed() {
        let Some(path) = std::env::var_os("INRUSH_TEST_RUN") else { return };
        let (mut folder, run) = RunFolder::resume(Path::new(&path)).unwrap();
        loop {
            folder.append(&run.samples[0]).unwrap();
            folder.write_targets(&[TargetRecord::default()]).unwrap();
            // Who reads along should keep up.
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    #[test]
    fn a_run_whose_writer_was_killed_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let path = measured.store(place.path(), &suite).path().to_owned();
        let mut before = 3;
        for round in 0..5_u64 {
            let mut writer = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "store::tests::a_writer_to_be_killed"])
                .env("INRUSH_TEST_RUN", &path)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            // What others can read is there for good.
            let seen = loop {
                let seen = RunFolder::open(&path).unwrap().samples.len();
                if seen > before + 2 {
                    break seen;
                }
                assert!(writer.try_wait().unwrap().is_none(), "the writer failed");
                std::thread::sleep(Duration::from_millis(1));
            };
            let error = RunFolder::resume(&path).unwrap_err().to_string();
            assert!(error.contains("another process is writing this run"), "{error}");
            std::thread::sleep(Duration::from_micros(700 * round));
            writer.kill().unwrap();
            writer.wait().unwrap();
            let (mut folder, run) = RunFolder::resume(&path).unwrap();
            assert!(run.samples.len() >= seen);
            folder.append(&measured.samples[1]).unwrap();
            before = folder.samples().unwrap().len();
            assert_eq!(before, run.samples.len() + 1);
        }
    }

    #[test]
    fn what_is_missing_or_damaged_is_told_by_name() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let path = measured.store(place.path(), &suite).path().to_owned();
        let fails = |file: &str, content: Option<&str>, expected: &str| {
            let name = path.join(file);
            let before = fs::read(&name).unwrap();
            match content {
                Some(content) => fs::write(&name, content).unwrap(),
                None => fs::remove_file(&name).unwrap(),
            }
            for error in [RunFolder::open(&path).err(), RunFolder::resume(&path).err()] {
                let error = error.unwrap().to_string();
                assert!(error.contains(file) && error.contains(expected), "{error}");
            }
            fs::write(&name, before).unwrap();
        };
        for file in
            ["manifest.json", "suite.toml", "plan.json", "env.json", "doctor.json", "samples.jsonl"]
        {
            fails(file, None, "is missing");
        }
        fails("plan.json", Some("{\n\"cells\": 5}"), "line 2 column 10");
        fails("suite.toml", Some("format = \"one\""), "line 1, column 10");
        let text = fs::read_to_string(path.join("suite.toml")).unwrap();
        fails("suite.toml", Some(&format!("{text}\n")), "it was changed since the run began");
        let text = fs::read_to_string(path.join("manifest.json")).unwrap();
        let later = text.replace("\"format\": 1", "\"format\": 2");
        fails("manifest.json", Some(&later), "the format is 2");
        let error = RunFolder::open(&path.join("nowhere")).unwrap_err().to_string();
        assert!(error.contains("there is no run"), "{error}");
        RunFolder::open(&path).unwrap();
    }

    #[test]
    fn no_password_gets_in() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let command = [
            "inrush",
            "bench",
            "run",
            "mass-inserts",
            "--server",
            "mysql://root:hunter2@db:3306/?password=hunter2",
            "--server=mine=postgres://u@db/?password=hunter2",
            "a:b=mysql://h/?password=hunter2",
            "--rows=pairs:100",
        ];
        let manifest = Manifest {
            command: command.map(str::to_owned).to_vec(),
            servers: vec!["mysql://root:hunter2@db".to_owned(), "mariadb-10.11".to_owned()],
            ..Manifest::default()
        };
        let folder = RunFolder::create(
            place.path(),
            manifest,
            &suite,
            &measured.plan,
            &Environment::default(),
            &Doctor::default(),
        )
        .unwrap();
        folder.log("asks mine=mysql://root:hunter2@db, then 10:30").unwrap();
        for entry in fs::read_dir(folder.path()).unwrap().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains("hunter2"), "{text}");
        }
        let kept = RunFolder::open(folder.path()).unwrap().manifest;
        assert_eq!(kept.command[8], "--rows=pairs:100");
        assert_eq!(kept.command[5], "mysql:...");
        assert_eq!(kept.servers, ["mysql:...", "mariadb-10.11"]);
        let log = fs::read_to_string(folder.path().join("log.txt")).unwrap();
        assert!(log.ends_with("asks mine=mysql:... then 10:30\n"), "{log}");
    }

    #[test]
    fn no_sample_writes_outside_of_its_run() {
        let place = tempfile::tempdir().unwrap();
        let (suite, measured) = two();
        let folder = measured.store(place.path(), &suite);
        for id in ["", "../b00", "/b00", "a/b", ".."] {
            folder.write_histograms(id, "").unwrap_err();
        }
    }
}
