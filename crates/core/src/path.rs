//! Paths as text: a system may have names that are not UTF-8, and messages, reports, ledgers and lists are.
//!
//! A path in UTF-8 is that text. Any other is its `file:` URL, in which the bytes that are no characters are written in percent: no two
//! paths have one text, and a source is named by it again.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

use crate::error::{Error, Result};

const URL: &str = "file://";

/// The path as text.
pub fn text(path: &Path) -> Cow<'_, str> {
    match path.to_str() {
        Some(text) => Cow::Borrowed(text),
        None => {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            Cow::Owned(format!("{URL}{}", name(absolute.as_os_str())))
        }
    }
}

/// The path that a text is of.
///
/// # Errors
/// When it is the URL of another machine's file, or of a name that this system can't have.
pub fn of(text: &str) -> Result<PathBuf> {
    let Some(rest) = text.strip_prefix(URL) else { return Ok(PathBuf::from(text)) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(Error::usage(format!("'{text}' names a file of another machine"))
            .advise("write file:///PATH, or the path alone"));
    }
    of_bytes(percent_decode_str(path).collect())
        .ok_or_else(|| Error::usage(format!("'{text}' is no name of a file in UTF-8")))
}

/// The path whose name has these bytes; `None` where the system has none such.
#[cfg(unix)]
pub fn of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// The path whose name has these bytes; `None` where the system has none such.
#[cfg(not(unix))]
pub fn of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// What a file system calls a file: its device, and its number there. Elsewhere than on Unix it takes an open file to tell.
#[cfg(unix)]
pub fn number(found: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

/// The same where it is not told.
#[cfg(not(unix))]
pub fn number(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// A part of a path as text: `caf%E9.csv`.
pub fn name(part: &OsStr) -> Cow<'_, str> {
    name_of_bytes(part.as_encoded_bytes())
}

/// The same of a name that an archive has.
pub fn name_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out += &chunk.valid().replace('%', "%25");
        out.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    Cow::Owned(out)
}

/// The path as a part of a URL, whatever bytes are in it; one word of a shell, too.
pub fn in_url(path: &Path) -> String {
    let mut out = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02x}"),
        }
    }
    out
}

/// Refuses a path that begins with `~/`, with a scheme before it or not (`csv:~/out.csv`, `@~/list`), unless there is a folder of that
/// name: shells write the home directory for it, and only where a word begins with it.
///
/// # Errors
/// When it does.
pub fn expect_expanded(text: &str) -> Result<()> {
    let scheme = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
    let (before, path) = text.split_at(match text.as_bytes().get(scheme) {
        Some(b'@') if scheme == 0 => 1,
        Some(b':') => scheme + 1,
        _ => 0,
    });
    let inside = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let Some(inside) = inside.filter(|_| !Path::new("~").exists()) else { return Ok(()) };
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let home = home.as_deref().map_or("/home/USER", |home| home.trim_end_matches('/'));
    Err(Error::usage(format!(
        "{text}: there is no folder ~ here, and only a shell takes ~ for the home directory, where a word begins with it"
    ))
    .advise(format!("write it out: {before}{home}{inside}")))
}

/// For a field of a structure: `#[serde(with = "inrush_core::path")]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(
    path: &Path,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    text(path).serialize(serializer)
}

/// The same of several.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_all<S: Serializer>(
    paths: &[PathBuf],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| text(path)))
}

/// The other way round.
///
/// # Errors
/// Those of the deserializer, and of [`of`].
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    of(&text).map_err(|error| serde::de::Error::custom(error.what()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_stays_one_word_of_a_url() {
        assert_eq!(in_url(Path::new("/tmp/a b&c/s.sock")), "/tmp/a%20b%26c/s.sock");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_becomes_text_and_the_same_path_again() {
        let of_bytes = |bytes: &[u8]| of_bytes(bytes.to_vec()).unwrap();
        for (bytes, wanted) in [
            (&b"/a/b.csv"[..], "/a/b.csv"),
            (b"b%E9.csv", "b%E9.csv"),
            ("/a/ä.csv".as_bytes(), "/a/ä.csv"),
            (b"/a/caf\xe9.csv", "file:///a/caf%E9.csv"),
            (b"/a%E9/\xe9 %41\xff", "file:///a%25E9/%E9 %2541%FF"),
        ] {
            let path = of_bytes(bytes);
            assert_eq!(text(&path), wanted);
            assert_eq!(of(wanted).unwrap(), path, "{wanted}");
        }
        assert_eq!(of("file://localhost/a%20b%").unwrap(), Path::new("/a b%"));
        assert!(of("file://other/a").is_err());
        assert!(text(&of_bytes(b"caf\xe9.csv")).ends_with("/caf%E9.csv"));
    }

    #[test]
    fn a_tilde_that_no_shell_took_is_refused() {
        let home = std::env::var("HOME").unwrap_or("/home/USER".to_owned());
        for (text, before) in [
            ("~/a.csv", ""),
            ("sqlite:~/a.csv", "sqlite:"),
            ("csv:~/a.csv", "csv:"),
            ("@~/a.csv", "@"),
        ] {
            let error = expect_expanded(text).unwrap_err();
            assert!(error.what().starts_with(&format!("{text}: ")), "{error}");
            assert_eq!(error.advice(), [format!("write it out: {before}{home}/a.csv")]);
        }
        for text in ["", "a~/b", "~a", "a.csv", "mysql://u@h/~", "./~/a", "sqlite:./~/a", "a/b:~/c"]
        {
            assert!(expect_expanded(text).is_ok(), "{text}");
        }
    }
}
