//! The file that profiles are kept in.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Key, Profile};
use inrush_core::error::{Error, Result};
use inrush_core::locks::lock_within;
use inrush_core::pending::{behind_links, directory};
use inrush_core::unique;

/// How long whoever changes the file waits for another one who does, which takes a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// The form of the file. Another one is passed over: what its words mean is not known.
const VERSION: u32 = 1;

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    version: u32,
    /// One for each key.
    #[serde(default, rename = "profile")]
    pub profiles: Vec<Profile>,
}

impl Default for Profiles {
    fn default() -> Self {
        Self { version: VERSION, profiles: Vec::new() }
    }
}

/// `profiles.toml` in the user's folder of settings: `$XDG_CONFIG_HOME/inrush`, or else `~/.config/inrush`. `None` where neither is known.
pub fn default_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // A relative one is to be passed over: https://specifications.freedesktop.org/basedir-spec/latest/
    let xdg = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = xdg.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")))?;
    Some(folder.join("inrush").join("profiles.toml"))
}

impl Profiles {
    /// What a file has; nothing where it isn't there.
    ///
    /// # Errors
    /// In words, when it can't be read, is no such file, or is of a newer version.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("cannot read {shown}: {error}")),
        };
        Self::parse(&text).map_err(|why| format!("{shown}{why}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let line = |error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
            format!(", line {line}: {}", error.message())
        };
        let Versioned { version } = toml::from_str(text).map_err(line)?;
        if version != VERSION {
            return Err(format!(" is of version {version}, and this inrush reads {VERSION}"));
        }
        let profiles: Self = toml::from_str(text).map_err(line)?;
        for profile in &profiles.profiles {
            if let Some(why) = profile.nonsense() {
                return Err(format!(": the profile of {} makes no sense: {why}", profile.date));
            }
        }
        Ok(profiles)
    }

    /// What was measured for this.
    pub fn find(&self, key: &Key) -> Option<&Profile> {
        self.profiles.iter().rev().find(|profile| profile.key == *key)
    }

    /// Why what was measured for the same table in the same target is for something else now; at most one sentence.
    pub(super) fn nearly(&self, key: &Key) -> Option<String> {
        let is_near =
            |profile: &&Profile| profile.key.target == key.target && profile.key.shape == key.shape;
        let near = self.profiles.iter().filter(is_near);
        let (profile, differences) = near
            .map(|profile| (profile, profile.key.differences(key)))
            .min_by_key(|(_, differences)| differences.len())?;
        let first = differences.first()?;
        Some(format!("what was measured here on {} is passed over: {first}", profile.date))
    }

    /// Takes what was measured, in the place of what was measured for the same before.
    pub fn keep(&mut self, profile: Profile) {
        self.profiles.retain(|known| known.key != profile.key);
        self.profiles.push(profile);
    }

    /// Forgets what was measured of a target, by its part of the key; `all` is everything. How many profiles went.
    pub fn forget(&mut self, target: &str) -> usize {
        let before = self.profiles.len();
        self.profiles.retain(|known| target != "all" && known.key.target != target);
        before - self.profiles.len()
    }

    /// The file's text.
    ///
    /// # Errors
    /// When a value has no spelling, which is a mistake of this program.
    pub fn text(&self) -> Result<String> {
        let text = toml::to_string_pretty(self);
        text.map_err(|error| Error::usage(format!("the profiles can't be written: {error}")))
    }

    /// What a file has, to be changed: another process that wants to change it waits until this is dropped.
    ///
    /// # Errors
    /// As for [`Profiles::read`].
    pub fn hold(path: &Path) -> Result<Held, String> {
        let lock = locked(directory(&behind_links(path)));
        Ok(Held { profiles: Self::read(path)?, path: path.to_owned(), _lock: lock })
    }

    /// Tries whether the file can be written, and leaves nothing.
    ///
    /// # Errors
    /// When the disk or the permissions forbid it.
    pub fn expect_place(path: &Path) -> Result<()> {
        let path = &behind_links(path);
        // Where its folder is to be made, the nearest one above it has to take that.
        let above = directory(path).ancestors().find(|folder| folder.exists());
        let tried = above.unwrap_or(Path::new(".")).join(format!(".profiles.{}", unique::word()));
        File::create_new(&tried)
            .and_then(|_| fs::remove_file(&tried))
            .map_err(|error| not_written(path, &error))
    }

    /// Writes the file, whole or not at all; only its owner may read it. Of a link the file that it leads to is written.
    ///
    /// # Errors
    /// When the disk or the permissions forbid it.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = self.text()?;
        let path = &behind_links(path);
        let folder = directory(path);
        let hidden = folder.join(format!(".profiles.{}", unique::word()));
        let write = || {
            fs::create_dir_all(folder)?;
            let mut options = File::options();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&hidden)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&hidden, path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&hidden);
            not_written(path, &error)
        })
    }
}

fn not_written(path: &Path, error: &io::Error) -> Error {
    Error::target(format!("cannot write {}: {error}", path.display()))
        .advise("--profiles FILE names another place")
}

/// A file's profiles while no other process changes them.
#[derive(Debug)]
pub struct Held {
    profiles: Profiles,
    path: PathBuf,
    _lock: Option<File>,
}

impl Held {
    /// Writes them to the file that they are from.
    ///
    /// # Errors
    /// As for [`Profiles::write`].
    pub fn write(&self) -> Result<()> {
        self.profiles.write(&self.path)
    }
}

impl Deref for Held {
    type Target = Profiles;

    fn deref(&self) -> &Profiles {
        &self.profiles
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Profiles {
        &mut self.profiles
    }
}

/// A lock on the folder: the file itself is another one after each change. `None` where a folder can't be locked, as on some file systems of
/// a network, or stays locked: then the last one to write wins.
fn locked(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    lock_within(&file, PATIENCE).is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(target: &str, version: &str) -> Profile {
        let key = Key {
            machine: "m".to_owned(),
            engine: format!("MariaDB {version}"),
            target: target.to_owned(),
            shape: "csv".to_owned(),
            guarantee: "durable".to_owned(),
            settings: [("log_bin".to_owned(), "OFF".to_owned())].into(),
        };
        let recipe = super::super::Recipe {
            strategy: "mysql/bulk".to_owned(),
            lanes: 2,
            encoders: 1,
            chunk_bytes: 1 << 20,
            knobs: [("indexes".to_owned(), "before".to_owned())].into(),
        };
        Profile {
            date: "2026-11-23".to_owned(),
            inrush: "1".to_owned(),
            is_default: false,
            ratio: 1.62,
            low: 1.55,
            high: 1.7,
            pairs: 9,
            sample_bytes: 1,
            recipe,
            key,
        }
    }

    #[test]
    fn what_is_written_is_read_and_only_its_owner_may() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inrush/profiles.toml");
        assert_eq!(Profiles::read(&path), Ok(Profiles::default()));
        let mut profiles = Profiles::default();
        profiles.keep(profile("a", "11.4"));
        profiles.keep(profile("b", "11.4"));
        profiles.keep(profile("a", "11.4"));
        profiles.write(&path).unwrap();
        assert_eq!(Profiles::read(&path), Ok(profiles.clone()));
        assert_eq!(profiles.profiles.len(), 2);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!((profiles.forget("a"), profiles.forget("all")), (1, 1));
    }

    #[test]
    fn of_two_who_change_the_file_none_undoes_what_the_other_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        std::thread::scope(|scope| {
            for target in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || {
                    let mut held = Profiles::hold(path).unwrap();
                    held.keep(profile(target, "11.4"));
                    held.write().unwrap();
                });
            }
        });
        assert_eq!(Profiles::read(&path).unwrap().profiles.len(), 4);
    }

    #[test]
    fn a_link_stays_one_and_the_file_that_it_leads_to_is_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dotfiles")).unwrap();
        let (link, file) = (folder.path().join("p.toml"), folder.path().join("dotfiles/p.toml"));
        std::os::unix::fs::symlink("dotfiles/p.toml", &link).unwrap();
        // The second time it is there.
        for target in ["a", "b"] {
            let mut held = Profiles::hold(&link).unwrap();
            held.keep(profile(target, "11.4"));
            held.write().unwrap();
            assert!(link.is_symlink());
        }
        assert_eq!(Profiles::read(&file).unwrap().profiles.len(), 2);
    }

    #[test]
    fn a_part_of_the_key_that_differs_is_named() {
        let mut profiles = Profiles::default();
        profiles.keep(profile("a", "11.4"));
        let mut now = profile("a", "11.4").key;
        assert!(profiles.find(&now).is_some());
        now.settings.insert("log_bin".to_owned(), "ON".to_owned());
        assert!(profiles.find(&now).is_none());
        let said = profiles.nearly(&now).unwrap();
        assert!(said.ends_with("log_bin was 'OFF', and is 'ON'"), "{said}");
    }

    #[test]
    fn files_that_are_no_profiles_say_where() {
        for (text, wanted) in [
            ("version = 2\nnews = 1", "is of version 2, and this inrush reads 1"),
            ("version = 1\nprofile = 3", "line 2"),
            ("hello", "line 1"),
            ("", "missing field"),
            ("version = 1\nnews = 1", "unknown field"),
        ] {
            let why = Profiles::parse(text).unwrap_err();
            assert!(why.contains(wanted), "{text}: {why}");
        }
        let date = |date: &str| Profile { date: date.to_owned(), ..profile("a", "1") };
        let mut zero = profile("a", "1");
        zero.recipe.encoders = 0;
        for (odd, wanted) in [
            (Profile { ratio: -1.0, ..profile("a", "1") }, "ratio"),
            (Profile { low: f64::NAN, ..profile("a", "1") }, "ratio"),
            (date("gestern"), "date"),
            (date("2026-02-30"), "date"),
            (date("2026-11-23T01:02:03Z"), "date"),
            (zero, "0"),
        ] {
            let mut profiles = Profiles::default();
            profiles.keep(odd);
            let why = Profiles::parse(&profiles.text().unwrap()).unwrap_err();
            assert!(why.contains("makes no sense") && why.contains(wanted), "{why}");
        }
    }
}
