//! Where a file is, and what goes wrong there.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use inrush_scan::Dialect;

use crate::packing::Packing;
use inrush_core::error::{Error, Result};
use inrush_core::pending::{behind_links, directory, no_directory};
use inrush_core::target::Location;

/// How a table is written as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A header and records, RFC 4180.
    Csv,
    /// A JSON value a line.
    Jsonl,
    /// Columns in row groups.
    Parquet,
    /// Record batches, one after the other; only on standard output.
    Arrow,
}

impl Format {
    pub(super) fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "csv" => Some(Self::Csv),
            "jsonl" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            "arrow" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// What [`Format::of_scheme`] reads.
    pub(super) fn scheme(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// For people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Csv => "CSV file",
            Self::Jsonl => "JSON Lines file",
            Self::Parquet => "Parquet file",
            Self::Arrow => "Arrow stream",
        }
    }

    /// The same with its article.
    pub(super) fn a(self) -> String {
        let article = if self == Self::Arrow { "an" } else { "a" };
        format!("{article} {}", self.words())
    }

    /// How records of text are told apart. Of JSON only that there is no line end inside.
    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::Jsonl => Dialect { quote: None, ..Dialect::csv() },
            _ => Dialect::csv(),
        }
    }
}

/// The path that stands for standard output.
pub(super) const STDOUT: &str = "-";

/// A file, there or to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) format: Format,
    pub(super) path: PathBuf,
}

impl Place {
    pub(super) fn of(location: &Location) -> Self {
        let (scheme, path) = location.secret.split_once(':').unwrap_or(("csv", &location.secret));
        Self { format: Format::of_scheme(scheme).unwrap_or(Format::Csv), path: PathBuf::from(path) }
    }

    /// Whether rows go to standard output.
    pub(super) fn is_stdout(&self) -> bool {
        self.path == Path::new(STDOUT)
    }

    /// How its text is compressed, as its name says; `None` where it isn't, and of what is no text.
    pub(super) fn packing(&self) -> Option<Packing> {
        let is_text = matches!(self.format, Format::Csv | Format::Jsonl);
        is_text.then(|| Packing::promised(&self.path)).flatten()
    }

    /// The text of what such a file holds.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(super) fn text<'a>(&self, input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        match self.packing() {
            Some(packing) => packing.unpack(input),
            None => Ok(Box::new(input)),
        }
    }

    /// The file behind links, so that it is the file that is replaced and not the link.
    pub(super) fn real_path(&self) -> PathBuf {
        behind_links(&self.path)
    }

    /// What is there; `None` when nothing is.
    ///
    /// # Errors
    /// When it is no plain file, or there is no directory for it.
    pub(super) fn found(&self) -> Result<Option<Metadata>> {
        let shown = self.path.display();
        if self.is_stdout() {
            return Err(Error::usage("standard output is no file, so nothing can be read from it")
                .advise("name a file; one that is called '-' is ./-"));
        }
        match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => Ok(Some(found)),
            Ok(found) if found.is_dir() => {
                Err(Error::target(format!("{shown} is a directory, not a {}", self.format.words()))
                    .advise("name a file in it"))
            }
            Ok(_) => {
                let error = Error::target(format!("{shown} is there and no plain file"))
                    .advise("name a file: inrush puts a whole file in its place");
                Err(match self.format {
                    Format::Parquet => error,
                    _ => error.advise(format!(
                        "rows go to standard output as {}:-",
                        self.format.scheme()
                    )),
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let real = self.real_path();
                if real.file_name().is_none() || shown.to_string().ends_with('/') {
                    return Err(Error::target(format!("{shown} names a directory")));
                }
                match directory(&real).is_dir() {
                    true => Ok(None),
                    false => Err(no_directory(&real)),
                }
            }
            Err(error) => Err(self.read_error(&error)),
        }
    }

    pub(super) fn read_error(&self, error: &io::Error) -> Error {
        Error::target(format!("cannot read {}: {error}", self.path.display()))
    }

    pub(super) fn write_error(&self, error: &io::Error) -> Error {
        let shown = self.path.display();
        let path = self.real_path();
        let place = directory(&path).display();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::target(format!("cannot write {shown}: the disk is full, or a quota reached"))
                    .advise(format!("make room on its file system: df -h {place}"))
            }
            io::ErrorKind::FileTooLarge => {
                Error::target(format!("cannot write {shown}: a file size limit is reached"))
                    .advise("raise the limit: ulimit -f")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                Error::target(format!("cannot write {shown}: {error}"))
                    .advise(format!("name a file in a directory that can be written to: {place} is on a file system that can't"))
            }
            io::ErrorKind::PermissionDenied => {
                Error::target(format!("cannot write {shown}: {error}"))
                    .advise(format!("check the permissions of the directory {place}, where the file is written under another name first"))
            }
            _ => Error::target(format!("cannot write {shown}: {error}")),
        }
    }

    /// Another client has written to the file since we looked.
    pub(super) fn changed(&self) -> Error {
        Error::target(format!(
            "{} was changed by another process during the load",
            self.path.display()
        ))
        .advise("run the load again: it will look at what is there now")
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl Version {
    pub(super) fn of(found: &Metadata) -> Self {
        Self {
            len: found.len(),
            modified: found.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(found),
        }
    }
}
