//! The files that inputs are, or are in: rows of a file that was changed while it was read are neither those that it had nor those that
//! it has.

use std::fs::{self, Metadata};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use crate::Place;
use crate::place::cannot_open;
use inrush_core::error::Result;
use inrush_core::path::number;
use inrush_core::patient::unbuffered;
use inrush_core::split::Stamp;
use inrush_store::Fault;

/// The plain files of a load, as they were before their first byte was read. What comes over the network is compared where it is fetched.
#[derive(Debug)]
pub struct InputFiles(Vec<InputFile>);

#[derive(Debug)]
struct InputFile {
    /// The inputs that it is, or that are in it, by their numbers.
    inputs: Range<usize>,
    name: String,
    /// `None` for standard input.
    path: Option<PathBuf>,
    was: Version,
}

impl InputFiles {
    /// The files of these inputs, as they are now. One that can't be looked at is for those who open it.
    pub fn of(places: &[Place]) -> Self {
        let mut files: Vec<InputFile> = Vec::new();
        for (input, place) in places.iter().enumerate() {
            let (name, path) = match (place, place.on_disk()) {
                (Place::Stdin, _) => ("standard input".to_owned(), None),
                (_, Some(path)) => (inrush_core::path::text(path).into_owned(), Some(path)),
                (_, None) => continue,
            };
            // Members of an archive come one after the other.
            if let Some(last) = files.last_mut().filter(|last| last.path.as_deref() == path) {
                last.inputs.end = input + 1;
                continue;
            }
            if let Ok(meta) = look(path)
                && meta.is_file()
            {
                let (path, was) = (path.map(Path::to_owned), Version::of(&meta));
                files.push(InputFile { inputs: input..input + 1, name, path, was });
            }
        }
        Self(files)
    }

    /// Says so where a file is not what it was. Lines that were added to its end are a change as well: by size and time they can't be told
    /// from a file that is being written again.
    ///
    /// # Errors
    /// When one has changed, or can't be looked at any more.
    pub fn expect_unchanged(&self) -> Result<()> {
        Self::expect(&self.0)
    }

    /// The same of the files of some inputs alone, by their numbers: of very many it takes a while to look at all.
    ///
    /// # Errors
    /// As [`InputFiles::expect_unchanged`].
    pub fn expect_inputs_unchanged(&self, inputs: RangeInclusive<usize>) -> Result<()> {
        let from = self.0.partition_point(|file| file.inputs.end <= *inputs.start());
        let to = self.0.partition_point(|file| file.inputs.start <= *inputs.end());
        Self::expect(&self.0[from.min(to)..to])
    }

    fn expect(files: &[InputFile]) -> Result<()> {
        for InputFile { name, path, was, .. } in files {
            let how = match look(path.as_deref()) {
                Ok(meta) => was.change(&Version::of(&meta)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Some("it is there no more".to_owned())
                }
                Err(error) => return Err(cannot_open(name, &error)),
            };
            if how.is_some() {
                let changed = Fault::changed(name, how);
                return Err(changed
                    .advise("of a file that is always written to, load a copy")
                    .about(name));
            }
        }
        Ok(())
    }
}

/// What tells a file from another one of its name, and from what it becomes when it is written to.
#[derive(Clone, Copy, Debug)]
struct Version {
    stamp: Stamp,
    /// What the file system calls it, where it tells. File systems over a network may call the same file otherwise each time, so it tells
    /// no more than how a file has changed that has.
    number: Option<(u64, u64)>,
}

impl Version {
    fn of(meta: &Metadata) -> Self {
        Self { stamp: Stamp::from(meta), number: number(meta) }
    }

    /// How a later one differs, in words.
    fn change(&self, now: &Self) -> Option<String> {
        let (was, is) = (self.stamp.bytes, now.stamp.bytes);
        match () {
            () if self.stamp == now.stamp => None,
            () if self.number != now.number => Some("another file has its name now".to_owned()),
            () if was != is => Some(format!("it had {was} bytes, and has {is}")),
            () => Some("it was written again".to_owned()),
        }
    }
}

/// Which file standard input is, as [`number`] tells, where it is one.
pub fn stdin_number() -> Option<(u64, u64)> {
    look(None).ok().filter(Metadata::is_file).and_then(|found| number(&found))
}

/// Whether what was found is what standard input is.
pub(crate) fn is_stdin(found: &Metadata) -> bool {
    number(found).is_some_and(|found| look(None).is_ok_and(|own| number(&own) == Some(found)))
}

/// The file at the path, or standard input.
fn look(path: Option<&Path>) -> io::Result<Metadata> {
    match path {
        Some(path) => fs::metadata(path),
        None => unbuffered(&io::stdin())?.metadata(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_to_or_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let look = |change: &dyn Fn()| {
            fs::write(&path, "id\n1\n2\n").unwrap();
            let files = InputFiles::of(&[Place::File(path.clone()), Place::Rows]);
            files.expect_unchanged().unwrap();
            change();
            files.expect_unchanged().unwrap_err().what().to_owned()
        };
        let shorter = look(&|| fs::write(&path, "id\n1\n").unwrap());
        assert!(shorter.ends_with("changed while it was read: it had 7 bytes, and has 5"));
        let longer = look(&|| fs::write(&path, "id\n1\n2\n3\n").unwrap());
        assert!(longer.ends_with("it had 7 bytes, and has 9"), "{longer}");
        let touched = look(&|| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        });
        assert!(touched.ends_with("it was written again"), "{touched}");
        let gone = look(&|| fs::remove_file(&path).unwrap());
        assert!(gone.ends_with("it is there no more"), "{gone}");
        if cfg!(unix) {
            let replaced = look(&|| {
                let other = folder.path().join("b.csv");
                fs::write(&other, "id\n1\n2\n3\n").unwrap();
                fs::rename(other, &path).unwrap();
            });
            assert!(replaced.ends_with("another file has its name now"), "{replaced}");
        }
    }

    #[test]
    fn another_number_alone_makes_no_other_file() {
        let stamp = Stamp { bytes: 7, modified_ns: 1 };
        let was = Version { stamp, number: Some((1, 2)) };
        assert_eq!(was.change(&Version { stamp, number: Some((1, 3)) }), None);
        let stamp = Stamp { modified_ns: 2, ..stamp };
        let now = Version { stamp, number: Some((1, 3)) };
        assert_eq!(was.change(&now).unwrap(), "another file has its name now");
    }

    #[test]
    fn files_are_looked_at_by_the_numbers_of_their_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.csv", "b.csv", "c.csv"] {
            fs::write(path(name), "id\n").unwrap();
        }
        let names = ["a.csv", "a.csv", "b.csv", "c.csv"];
        let mut places: Vec<Place> = names.iter().map(|name| Place::File(path(name))).collect();
        places.insert(2, Place::Rows);
        let files = InputFiles::of(&places);
        fs::write(path("a.csv"), "id\n1\n").unwrap();
        fs::remove_file(path("c.csv")).unwrap();
        for (inputs, is_fine) in
            [(0..=0, false), (1..=1, false), (2..=2, true), (2..=3, true), (3..=4, false)]
        {
            let shown = format!("{inputs:?}");
            assert_eq!(files.expect_inputs_unchanged(inputs).is_ok(), is_fine, "{shown}");
        }
    }
}
