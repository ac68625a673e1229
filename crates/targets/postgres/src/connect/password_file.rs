//! The password file (<https://www.postgresql.org/docs/current/libpq-pgpass.html>).

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Its lines.
#[derive(Default)]
pub(super) struct PasswordFile {
    text: String,
    /// Why it was not read although it is there.
    pub(super) refused: Option<String>,
}

impl PasswordFile {
    /// Reads it. One that isn't there holds no password; one that others may read is not trusted, as libpq does not trust it.
    pub(super) fn read(path: &Path) -> Self {
        let refused = |why: String| Self {
            refused: Some(format!("the password file {} was not read: {why}", path.display())),
            ..Self::default()
        };
        let Ok(facts) = std::fs::metadata(path) else { return Self::default() };
        if !facts.is_file() {
            return refused("it is no plain file".to_owned());
        }
        if facts.permissions().mode() & 0o077 != 0 {
            return refused("others may read it; chmod 600 keeps it private".to_owned());
        }
        match std::fs::read(path) {
            Ok(bytes) => Self { text: String::from_utf8_lossy(&bytes).into_owned(), refused: None },
            Err(error) => refused(error.to_string()),
        }
    }

    /// The password of the first line that fits.
    pub(super) fn find(&self, host: &str, port: u16, database: &str, user: &str) -> Option<String> {
        let port = port.to_string();
        let asked = [host, &port, database, user];
        self.text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let password = asked.iter().try_fold(line, |line, asked| behind_field(line, asked))?;
            Some(without_escapes(password))
        })
    }
}

/// What follows the first field of `line`, when that is `asked` or an asterisk.
fn behind_field<'a>(line: &'a str, asked: &str) -> Option<&'a str> {
    if let Some(rest) = line.strip_prefix("*:") {
        return Some(rest);
    }
    let mut asked = asked.chars();
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        let c = match c {
            ':' => return asked.next().is_none().then(|| &line[at + 1..]),
            '\\' => chars.next()?.1,
            c => c,
        };
        if asked.next() != Some(c) {
            return None;
        }
    }
    None
}

fn without_escapes(raw: &str) -> String {
    let mut out = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "#h:*:*:*:comment\nh:5433:*:*:port\nh:*:d:u:exact\nh:*:d:*:later\n\
                    \\:\\:1:*:*:u:six\n*:*:a\\:b:*:p\\:w\\\\x:y\\\r\nshort:5432:d\n";
        let file = PasswordFile { text: text.to_owned(), refused: None };
        let find = |host, port, database, user| file.find(host, port, database, user);
        assert_eq!(find("h", 5432, "d", "u").as_deref(), Some("exact"));
        assert_eq!(find("h", 5432, "d", "v").as_deref(), Some("later"));
        assert_eq!(find("h", 5433, "d", "u").as_deref(), Some("port"));
        assert_eq!(find("::1", 5432, "x", "u").as_deref(), Some("six"));
        assert_eq!(find("any", 1, "a:b", "u").as_deref(), Some("p:w\\x:y\\"));
        assert_eq!(find("hh", 5432, "d", "u"), None);
        assert_eq!(find("short", 5432, "d", "u"), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        assert!(PasswordFile::read(&path).refused.is_none());
        std::fs::write(&path, "*:*:*:*:secret").unwrap();
        for (mode, found) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let file = PasswordFile::read(&path);
            assert_eq!(file.find("h", 1, "d", "u").is_some(), found, "{mode:o}");
            assert_eq!(file.refused.is_none(), found, "{mode:o}");
        }
        assert!(PasswordFile::read(directory.path()).refused.is_some());
    }
}
