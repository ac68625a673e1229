//! One error type: what happened, what to try, and what became of the target.

use std::fmt;

use percent_encoding::percent_decode_str;

use crate::limits::Limit;

/// The result of anything that can fail in this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of failure it was. The command line derives its exit code from this and from nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The request itself is wrong: an unknown knob, an option that contradicts another.
    Usage,
    /// An input can't be read or isn't what it was taken for.
    Source,
    /// More bad rows than the request allows.
    Rejects,
    /// The target refused, is locked, is full, isn't there.
    Target,
    /// The rows that arrived aren't the rows that were sent.
    Verify,
    /// The user asked to stop.
    Interrupted,
    /// Whoever reads the rows wants no more of them.
    Closed,
    /// What was done can't be told: the output takes no more.
    Output,
}

impl Kind {
    /// One word, as reports of failures have it. Never renamed.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Source => "source",
            Kind::Rejects => "rejects",
            Kind::Target => "target",
            Kind::Verify => "verify",
            Kind::Interrupted => "interrupted",
            Kind::Closed => "closed",
            Kind::Output => "output",
        }
    }
}

/// What a failed load left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aftermath {
    /// The target is as it was before the load.
    NothingChanged,
    /// `rows` were committed in earlier transactions, because the plan said so, and are still there.
    Committed {
        /// Rows that stay.
        rows: u64,
    },
    /// Whole steps are committed, and the ledger in the target knows which: the same load goes on behind them (`--resume`).
    Resumable {
        /// Rows of these steps.
        rows: u64,
        /// Whether it is not known what became of the last commit: another step may be committed, of which `rows` has none.
        or_more: bool,
    },
    /// `rows` were written to standard output, which nothing takes back.
    Written {
        /// Rows that are out.
        rows: u64,
    },
    /// The target did not answer when asked to undo, and its own recovery decides; or its file has lost its name during the commit.
    Unknown,
}

impl Aftermath {
    /// One word, as reports of failures have it. Never renamed.
    pub fn word(self) -> &'static str {
        match self {
            Aftermath::NothingChanged => "nothing-changed",
            Aftermath::Committed { .. } => "committed",
            Aftermath::Resumable { .. } => "resumable",
            Aftermath::Written { .. } => "written",
            Aftermath::Unknown => "unknown",
        }
    }
}

/// A failure. One pointer wide, because it travels through every hot function's return value.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    what: String,
    advice: Vec<String>,
    aftermath: Option<Aftermath>,
    place: Option<ErrorPlace>,
    is_lost_connection: bool,
    gave_way: bool,
    breaks_rule: bool,
    lacks_right: bool,
}

/// Where in the input a failure is. The same is in the words of [`Error::what`]; programs need not read those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorPlace {
    /// The input, as the request names it.
    pub file: String,
    /// The physical line on which the record begins, from 1; `None` where the whole input is meant, or has no lines.
    pub line: Option<u64>,
    /// The data record's number in the input, from 1; the header isn't counted.
    pub record: Option<u64>,
    /// The column, where one is to blame.
    pub column: Option<String>,
}

impl Error {
    /// A failure of `kind`; `what` says what happened and where, without a final period.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            what: what.into(),
            advice: Vec::new(),
            aftermath: None,
            place: None,
            is_lost_connection: false,
            gave_way: false,
            breaks_rule: false,
            lacks_right: false,
        }))
    }

    /// A failure of [`Kind::Usage`].
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// A failure of [`Kind::Source`].
    pub fn source(what: impl Into<String>) -> Self {
        Self::new(Kind::Source, what)
    }

    /// A failure of [`Kind::Target`].
    pub fn target(what: impl Into<String>) -> Self {
        Self::new(Kind::Target, what)
    }

    /// What a user gets whose system starts no more threads.
    pub fn no_thread(error: &std::io::Error) -> Self {
        Self::target(format!("cannot start a thread: {}", reason(error)))
            .perhaps_of(Limit::Memory)
            .advise("raise the limit of processes (ulimit -u, or pids.max of a container)")
    }

    /// What a user gets who stops something.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted")
    }

    /// Adds what raises a limit that may have been reached, where there is one.
    #[must_use]
    pub fn perhaps_of(self, limit: Limit) -> Self {
        match limit.advice() {
            Some(advice) => self.advise(advice),
            None => self,
        }
    }

    /// Adds something the user can try.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.0.advice.push(advice.into());
        self.first_stands_alone()
    }

    /// What comes first is no alternative, whatever it is elsewhere.
    fn first_stands_alone(mut self) -> Self {
        if let Some(first) = self.0.advice.first_mut()
            && let Some(rest) = first.strip_prefix("or ")
        {
            *first = rest.to_owned();
        }
        self
    }

    /// The same in other words: what happened, and each advice.
    #[must_use]
    pub fn reworded(mut self, words: impl Fn(&str) -> String) -> Self {
        self.0.what = words(&self.0.what);
        self.0.advice.iter_mut().for_each(|advice| *advice = words(advice));
        self
    }

    /// The same with what `words` makes of each advice; `None` leaves that out.
    #[must_use]
    pub fn readvised(mut self, words: impl Fn(&str) -> Option<String>) -> Self {
        self.0.advice = self.0.advice.iter().filter_map(|advice| words(advice)).collect();
        self.first_stands_alone()
    }

    /// Adds what became of the target.
    #[must_use]
    pub fn leaving(mut self, aftermath: Aftermath) -> Self {
        self.0.aftermath = Some(aftermath);
        self
    }

    /// Says that there is no connection, or none any more: what failed may go well on another one.
    #[must_use]
    pub fn of_lost_connection(mut self) -> Self {
        self.0.is_lost_connection = true;
        self
    }

    /// Says that the database has undone it for another transaction's sake: a deadlock, or a wait that was too long. The same may go
    /// well a second time.
    #[must_use]
    pub fn of_giving_way(mut self) -> Self {
        self.0.gave_way = true;
        self
    }

    /// Says that a row breaks a rule of its table: a key, a reference, a condition, or what a trigger refuses.
    #[must_use]
    pub fn of_broken_rule(mut self) -> Self {
        self.0.breaks_rule = true;
        self
    }

    /// Says that the user lacks a right to what a statement is about.
    #[must_use]
    pub fn of_lacking_right(mut self) -> Self {
        self.0.lacks_right = true;
        self
    }

    /// The error of taking a URL apart. Where a name or a password in it has a character that means something else in URLs, what stands
    /// before an `@` was taken for a host, a database or an option, and none of it is said.
    #[must_use]
    pub fn of_url(self, url: &str) -> Self {
        match escape_advice(url) {
            None => self,
            Some(advice) => {
                Self::usage(format!("{} can't be taken apart", without_secrets(url))).advise(advice)
            }
        }
    }

    /// Adds where in the input it is.
    #[must_use]
    pub fn at(mut self, place: ErrorPlace) -> Self {
        self.0.place = Some(place);
        self
    }

    /// Adds which input it is about.
    #[must_use]
    pub fn about(self, file: &str) -> Self {
        self.at(ErrorPlace { file: file.to_owned(), ..ErrorPlace::default() })
    }

    /// Adds the input that was being read, where the failure is one of reading and names none yet.
    #[must_use]
    pub fn in_input(self, file: &str) -> Self {
        let is_known = self.0.kind != Kind::Source || self.0.place.is_some();
        if is_known { self } else { self.about(file) }
    }

    /// What sort of failure it was.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Whether what failed may go well on another connection.
    pub fn is_lost_connection(&self) -> bool {
        self.0.is_lost_connection
    }

    /// Whether another transaction was in the way, and the same may go well a second time.
    pub fn gave_way(&self) -> bool {
        self.0.gave_way
    }

    /// Whether a row breaks a rule of its table.
    pub fn breaks_rule(&self) -> bool {
        self.0.breaks_rule
    }

    /// Whether the user lacks a right to what a statement was about.
    pub fn lacks_right(&self) -> bool {
        self.0.lacks_right
    }

    /// Whether the target has refused for a reason that lasts.
    pub fn is_refusal(&self) -> bool {
        self.0.kind == Kind::Target && !self.0.is_lost_connection && !self.0.gave_way
    }

    /// What happened, and where.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// What to try, most promising first; may be empty.
    pub fn advice(&self) -> &[String] {
        &self.0.advice
    }

    /// What the load left behind; `None` when no load had begun, so nothing can have changed.
    pub fn aftermath(&self) -> Option<Aftermath> {
        self.0.aftermath
    }

    /// Where in the input it is; `None` where no input is to blame.
    pub fn place(&self) -> Option<&ErrorPlace> {
        self.0.place.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)?;
        for advice in &self.0.advice {
            write!(f, "; {advice}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

/// What a user typed as a place, as messages show it: of what may be a URL only the scheme, for a password can stand anywhere
/// in one, and of what looks like settings all but a password and what follows it.
pub fn without_secrets(place: &str) -> String {
    let lower = place.to_ascii_lowercase();
    let named = ["password=", "passwd=", "pwd="];
    let ends = named.iter().filter_map(|name| Some(lower.find(name)? + name.len()));
    let end = ends.min();
    if let Some((scheme, rest)) = place.split_once(':')
        && (rest.starts_with("//") || rest.contains('@'))
        // The colon may be one of a password.
        && end.is_none_or(|end| scheme.len() < end)
    {
        return format!("{scheme}:...");
    }
    // As Oracle's tools have it: USER/PASSWORD@HOST.
    if let Some((user, rest)) = place.split_once('/')
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && rest.split('/').next().and_then(|login| login.find('@')).is_some_and(|at| at > 0)
        && !user.is_empty()
        && !std::path::Path::new(user).is_dir()
    {
        return format!("{user}/...");
    }
    end.map_or_else(|| place.to_owned(), |end| format!("{}...", &place[..end]))
}

/// Whether a character has no width and no look of its own, so that a text with it looks like another one: byte order marks, blanks
/// without width, marks of direction. Joiners are none of them, for they change the looks of their neighbours.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// What to try with a URL that can't be read and has a character in its name or password that means something else in URLs.
pub fn escape_advice(url: &str) -> Option<&'static str> {
    login(url)?.contains(['#', '/', '?', '@']).then_some(
        "in a name or a password write %23 for a #, %2F for a /, %3F for a ? and %40 for an @",
    )
}

/// Whether a URL may hold a password, however it is written: that of a login, of which the characters may mean something else in URLs, or
/// of an option.
pub fn may_hold_password(url: &str) -> bool {
    let (_, options) = url.split_once('?').unwrap_or((url, ""));
    let is_one = |option: &str| {
        let name = option.split('=').next().unwrap_or_default();
        let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
        ["password", "passwd", "pwd"].iter().any(|word| name.contains(word))
    };
    login(url).is_some_and(|login| login.contains(':')) || options.split(['&', ';']).any(is_one)
}

/// What stands before the `@` of a URL; where it isn't clear which one ends the login, before the last.
fn login(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (place, options) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    // A login has its end, and what is behind it may have the character in the value of an option.
    let is_value = |option: &str| option.split('=').next().is_none_or(|name| !name.contains('@'));
    let is_clear = authority.matches('@').count() == 1
        && !path.contains('@')
        && options.split('&').all(is_value);
    let (login, _) = if is_clear { authority } else { rest }.rsplit_once('@')?;
    Some(login)
}

/// What the system says of a failure, without Rust's "(os error N)", and what raises the limit that is reached.
pub fn reason(error: &std::io::Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.find(" (os error") {
        text.truncate(at);
    }
    match reached(error) {
        Some(limit) => format!("{text}: {}", limit.cure()),
        None => text,
    }
}

/// The limit of this process that a failure is of.
#[cfg(unix)]
fn reached(error: &std::io::Error) -> Option<Limit> {
    match error.raw_os_error()? {
        libc::EMFILE => Some(Limit::OpenFiles),
        libc::EFBIG => Some(Limit::FileSize),
        _ => None,
    }
}

#[cfg(not(unix))]
fn reached(_error: &std::io::Error) -> Option<Limit> {
    None
}

/// A value as messages show it: quoted, what can't be seen escaped, cut to 60 characters.
pub fn shorten(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 60;
    let head = &bytes[..bytes.len().min(SHOWN_MAX * 4)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::from("'");
    for c in text.chars().take(SHOWN_MAX) {
        match c {
            '\'' => out.push('\''),
            c if c.is_control() || is_invisible(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    if text.chars().count() > SHOWN_MAX || head.len() < bytes.len() {
        out.push_str("...");
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_without_its_password() {
        for (place, shown) in [
            ("t.csv", "t.csv"),
            ("postgres://u:SECRET@h/d", "postgres:..."),
            ("u:SECRET@h", "u:..."),
            ("host=h password=SECRET user=u", "host=h password=..."),
            ("Server=h;PWD=SECRET", "Server=h;PWD=..."),
            ("Server=h;PWD=SEC:RET@x", "Server=h;PWD=..."),
            ("postgres://h/d?password=SECRET", "postgres:..."),
        ] {
            assert_eq!(without_secrets(place), shown);
        }
    }

    #[test]
    fn characters_that_mean_something_in_urls_are_to_be_escaped() {
        for url in ["mysql://u:pa#ss@h/d", "mysql://u:a/b@h/d", "mysql://u:a@b@h/d", "x://a?b@h"] {
            assert!(escape_advice(url).is_some(), "{url}");
            let error = Error::usage("option ss@h").advise("leave ss@h out").of_url(url);
            assert!(!error.to_string().contains("ss@h"), "{error}");
        }
        for url in [
            "mysql://u:p%23@h/d",
            "mysql://h/d#x",
            "mysql://h:x/d",
            "a#b@c",
            "mysql://u@h/d?socket=/run/a@b.sock",
        ] {
            assert_eq!(escape_advice(url), None, "{url}");
        }
    }

    #[test]
    fn shown_values_stay_short_and_printable() {
        assert_eq!(shorten(b"abc"), "'abc'");
        assert_eq!(shorten(b"a\x1b[31m\0\n"), "'a\\u{1b}[31m\\u{0}\\n'");
        let long = shorten("\u{e9}".repeat(500).as_bytes());
        assert_eq!(long.chars().filter(|c| *c == '\u{e9}').count(), 60);
        assert!(long.ends_with("...'"));
    }
}
