//! The rows of a run as files, made when they are needed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use crate::generate::Generator;
use crate::task::Generated;
use inrush_core::error::{Error, Result};
use inrush_findings::record::PlannedCell;
use inrush_findings::suite::{Profile, Suite};

/// A program in Python that has rows: what cells run that are about a library.
const SCRIPT: &str = include_str!("rows.py");

/// Datasets of a suite at one size.
pub(super) struct Material<'a> {
    suite: &'a Suite,
    folder: PathBuf,
    /// Rows of each dataset.
    rows: BTreeMap<String, u64>,
    /// What every cell may fill into statements.
    words: Vec<(String, String)>,
    /// Files that are there.
    made: BTreeMap<(String, u64), PathBuf>,
    /// Of the whole datasets.
    hashes: BTreeMap<String, String>,
}

impl<'a> Material<'a> {
    pub(super) fn new(suite: &'a Suite, profile: &Profile, folder: &Path) -> Self {
        let rows_of = |name: &String, own: u64| profile.rows.get(name).copied().unwrap_or(own);
        let rows: BTreeMap<_, _> = suite
            .dataset
            .iter()
            .map(|(name, dataset)| (name.clone(), rows_of(name, dataset.rows)))
            .collect();
        let words = rows.iter().map(|(name, rows)| (format!("rows.{name}"), rows.to_string()));
        let folder = folder.join("data");
        let script = folder.join("rows.py").display().to_string();
        let words = words.chain([("script".to_owned(), script)]).collect();
        Self { suite, folder, rows, words, made: BTreeMap::new(), hashes: BTreeMap::new() }
    }

    pub(super) fn rows(&self) -> &BTreeMap<String, u64> {
        &self.rows
    }

    pub(super) fn rows_of(&self, dataset: &str) -> Option<u64> {
        self.rows.get(dataset).copied()
    }

    pub(super) fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    pub(super) fn words(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.words.iter().cloned()
    }

    /// About how many bytes of text a dataset is, told by its first rows.
    ///
    /// # Errors
    /// When there is no such generator.
    pub(super) fn bytes_of(&self, name: &str) -> Result<u64> {
        const LOOKED_AT: u64 = 1000;
        let dataset = &self.suite.dataset[name];
        let (rows, mut sample) = (self.rows[name], Vec::new());
        let looked_at = rows.min(LOOKED_AT);
        Generator::of(&dataset.kind, dataset.seed)?
            .write(0..looked_at, &mut sample)
            .map_err(|error| Error::target(error.to_string()))?;
        Ok((sample.len() as u64).saturating_mul(rows) / looked_at.max(1))
    }

    /// The datasets that these cells are about.
    pub(super) fn wanted(&self, cells: &[PlannedCell]) -> Vec<String> {
        let is_here =
            |id: &str| cells.iter().any(|cell| cell.experiment == id && cell.unavailable.is_none());
        let experiments: Vec<String> = self
            .suite
            .experiment
            .iter()
            .filter(|experiment| is_here(&experiment.id))
            .map(|experiment| serde_json::to_string(experiment).unwrap_or_default())
            .collect();
        let mentions = |name: &String| {
            let as_dataset = format!("\"dataset\":\"{name}\"");
            let as_word = [format!("{{file.{name}}}"), format!("{{sum.{name}.")];
            experiments.iter().any(|text| {
                text.contains(&as_dataset) || as_word.iter().any(|word| text.contains(word))
            })
        };
        self.suite.dataset.keys().filter(|name| mentions(name)).cloned().collect()
    }

    /// Makes a dataset's file, and knows its sums from then on.
    ///
    /// # Errors
    /// When there is no such generator, or the file can't be written.
    pub(super) fn prepare(&mut self, name: &str) -> Result<()> {
        let (path, Generated { rows, .. }) = self.file(name, None)?;
        let script = self.folder.join("rows.py");
        fs::write(&script, SCRIPT)
            .map_err(|error| Error::target(format!("{}: {error}", script.display())))?;
        let dataset = &self.suite.dataset[name];
        let generator = Generator::of(&dataset.kind, dataset.seed)?;
        self.words.push((format!("file.{name}"), path));
        let asked = format!("{{sum.{name}.");
        if serde_json::to_string(self.suite).unwrap_or_default().contains(&asked) {
            let expected = generator.expected(rows);
            for (column, sum) in generator.columns().iter().zip(&expected.columns) {
                if column.integer {
                    self.words.push((format!("sum.{name}.{}", column.name), sum.sum.to_string()));
                }
            }
        }
        Ok(())
    }

    /// The path of a file with the first `rows` of a dataset, `None` for all that the profile has; and which they are.
    ///
    /// # Errors
    /// When there is no such dataset, or the file can't be made.
    pub(super) fn file(&mut self, name: &str, rows: Option<u64>) -> Result<(String, Generated)> {
        let Some(dataset) = self.suite.dataset.get(name) else {
            return Err(Error::usage(format!("there is no dataset '{name}'")));
        };
        let all = self.rows[name];
        let rows = rows.unwrap_or(all).min(all);
        let (kind, seed) = (dataset.kind.clone(), dataset.seed);
        let generated = Generated { kind, seed, rows };
        let key = (name.to_owned(), rows);
        if let Some(path) = self.made.get(&key) {
            return Ok((path.display().to_string(), generated));
        }
        let generator = Generator::of(&dataset.kind, dataset.seed)?;
        let path = self.folder.join(format!("{name}-{rows}.tsv"));
        let hash = write(&generator, rows, &self.folder, &path)
            .map_err(|error| Error::target(format!("{}: {error}", path.display())))?;
        if rows == all {
            self.hashes.insert(name.to_owned(), hash);
        }
        let shown = path.display().to_string();
        self.made.insert(key, path);
        Ok((shown, generated))
    }
}

/// The hash of what was written.
fn write(generator: &Generator, rows: u64, folder: &Path, path: &Path) -> io::Result<String> {
    fs::create_dir_all(folder)?;
    let file = File::create(path)?;
    let mut out =
        Hashed { inner: BufWriter::with_capacity(1 << 20, file), hash: Xxh3Default::new() };
    generator.write(0..rows, &mut out)?;
    let file = out.inner.into_inner()?;
    // Nothing of it is to be written back while something is measured.
    file.sync_all()?;
    Ok(format!("{:016x}", out.hash.digest()))
}

struct Hashed {
    inner: BufWriter<File>,
    hash: Xxh3Default,
}

impl io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
