//! The dialect and the header, from an input's first bytes.

use inrush_scan::{Dialect, DialectError, Field, Newline, Record, Scanner, unescape};

use crate::delimiter::{self, DELIMITERS, Found};
use crate::infer::is_null_like;
use crate::quoting;
use inrush_core::encode;
use inrush_core::wording::shell_word;
use inrush_core::{DialectRequest, Format};

/// Records looked at; more would not change the verdict.
pub(super) const RECORDS_MAX: usize = 1_000;

/// What was found out about the dialect.
#[derive(Debug)]
pub(crate) struct Sniffed {
    pub dialect: Dialect,
    /// Why, in plain words.
    pub reasons: Vec<String>,
    /// What is unusual enough that a user must hear of it: it changes how values are read.
    pub warnings: Vec<String>,
    /// What to say of records with other numbers of fields: that another delimiter gives the same number to all, or that the first lines
    /// are a title, as they seem to be.
    pub widths: Option<String>,
    /// Of the warnings, that each line is one column for want of any delimiter: a table with this column has it settled.
    pub one_column: Option<String>,
    /// Whether a blank stands behind every delimiter.
    pub is_spaced: bool,
}

/// What makes newlines of all line ends; `tr` would leave a blank line behind each CRLF.
pub(crate) const TO_NEWLINES: &str = r"perl -pe 's/\r\n?/\n/g'";

/// The kind of line ends: a lone CR counts only where there is no LF at all.
pub(crate) fn newline(head: &[u8]) -> Newline {
    if memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some() {
        Newline::Cr
    } else {
        Newline::Lf
    }
}

/// Whether the end of a whole input is the middle of its last CRLF: the line before it ends in one.
pub(super) fn ends_in_half(text: &[u8], dialect: &Dialect) -> bool {
    let Some(line) = text.strip_suffix(b"\r").filter(|_| dialect.newline == Newline::Lf) else {
        return false;
    };
    memchr::memrchr(b'\n', line).is_some_and(|at| line[..at].ends_with(b"\r"))
}

/// Whether lone CRs are more than LFs: an old Mac file behind which somebody wrote a newline is one line.
fn has_more_cr(head: &[u8]) -> bool {
    let lone = memchr::memchr_iter(b'\r', head).filter(|at| head.get(at + 1) != Some(&b'\n'));
    lone.count() > memchr::memchr_iter(b'\n', head).count()
}

/// Whether lines end in lone CRs, and the last one in a newline: then the first record holds CRs outside quotes. A record that is the only
/// one needs no more of them than LFs: it is a header and one row, or two rows.
pub(crate) fn mixes_line_ends(head: &[u8], dialect: &Dialect) -> bool {
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    let holds_cr = |field: &Field| !field.form.is_quoted() && field.raw(head).contains(&b'\r');
    dialect.newline == Newline::Lf
        && scanner.next(&mut fields).is_some()
        && fields.iter().any(holds_cr)
        && (has_more_cr(head) || scanner.next(&mut fields).is_none())
}

/// What separates records in `.mode ascii` of sqlite3, and fields.
const ASCII_RECORD: u8 = 0x1e;

/// Whether records end in U+001E, so that all would be one: it stands within the first record, and that is the only one, or the text ends
/// in it.
pub(crate) fn ends_records_in_ascii(head: &[u8], whole: bool, dialect: &Dialect) -> bool {
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    let holds_end = |field: &Field| {
        let mut raw = field.raw(head).iter().skip(1);
        !field.form.is_quoted() && raw.any(|byte| *byte == ASCII_RECORD)
    };
    let has_end = whole && head.trim_ascii_end().last() == Some(&ASCII_RECORD);
    scanner.next(&mut fields).is_some()
        && fields.iter().any(holds_end)
        && (has_end || scanner.next(&mut fields).is_none())
}

/// Whether all lines end in two carriage returns and a newline, as where a program writes CRLF to a file that makes CRLF of each LF.
pub(crate) fn doubles_cr(head: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', head).peekable();
    ends.peek().is_some() && ends.all(|at| head[..at].ends_with(b"\r\r"))
}

/// The dialect that reads `head` best; `whole` when there is no more of the input. `said` is the delimiter that a line before
/// `head` names.
///
/// # Errors
/// When the user's own choices contradict each other.
pub(crate) fn dialect(
    head: &[u8],
    whole: bool,
    request: &DialectRequest,
    said: Option<u8>,
    extension: &str,
) -> Result<Sniffed, DialectError> {
    let mut reasons = Vec::new();
    let mut warnings = Vec::new();
    let newline = newline(head);
    if newline == Newline::Cr {
        reasons.push("lines end in a lone carriage return".to_owned());
    } else if has_more_cr(head) {
        warnings.push(format!(
            "carriage returns that no newline follows are data, and there are more of them than lines: if they end lines, convert the file first ({TO_NEWLINES})"
        ));
    }
    let told = request.told_delimiter().or(said);
    let (delimiters, default) = delimiters(told, request.format, extension);
    let mut dialects = Vec::new();
    let mut contradiction = None;
    for delimiter in delimiters {
        // First the quoting under each delimiter, then the delimiter: a comma inside quotes must not count as a field's end.
        match quoting::best(head, whole, request, delimiter, newline) {
            Ok(dialect) => dialects.push(dialect),
            Err(error) => drop(contradiction.get_or_insert(error)),
        }
    }
    let found = match (delimiter::choose(head, whole, dialects, default), contradiction) {
        (Some(found), _) => found,
        (None, Some(contradiction)) => return Err(contradiction),
        (None, None) => Found::plain(),
    };
    let dialect = found.dialect;
    if told.is_none() && !found.is_one_column {
        reasons.push(format!("fields are separated by {}", name(dialect.delimiter)));
    }
    if !found.rivals.is_empty() {
        warnings.push(rivals(dialect.delimiter, &found.rivals));
    }
    let mut lone = None;
    let other = match told {
        None => delimiter::pointed_out(head, whole, &dialect, found.is_ragged),
        Some(_) => None,
    };
    if found.is_one_column {
        let note = one_column(other, told);
        lone = (told.is_none() && other.is_none()).then(|| note.clone());
        warnings.push(note);
    }
    let with_other = other.map(|(other, width)| {
        let other = word(other);
        format!("with --delimiter {other} each line would have {width} fields")
    });
    if let (false, Some(with_other)) = (found.is_one_column, &with_other) {
        warnings.push(format!("fields are separated by {}; {with_other}", word(dialect.delimiter)));
    }
    let is_title = !found.title_is_filled_up || request.header.is_none();
    let title = (found.title_lines > 0 && is_title).then(|| {
        if head.starts_with(b"-[ RECORD ") {
            return "psql -x writes a line for each value, and no rows: psql --csv writes these".to_owned();
        }
        let lines = found.title_lines as u64;
        let fields = if found.title_is_filled_up { "values" } else { "fields" };
        let skip = request.skip_lines + lines + u64::from(said.is_some());
        let is_comment = request.comment.is_none() && head.starts_with(b"#");
        match lines {
            1 if is_comment => format!("the first line has fewer {fields} than the others, and begins with #: if it is a comment, --comment '#' leaves such lines out"),
            1 => format!("the first line has fewer {fields} than the others: if it is a title, --skip-lines {skip} leaves it out"),
            _ => format!("the first {lines} lines have fewer {fields} than the others: if they are a title, --skip-lines {skip} leaves them out"),
        }
    });
    warnings.extend(title.clone());
    if request.quote.is_none() && dialect.quote != Some(b'"') {
        warnings.push(match dialect.quote {
            None => "double quotes are read as plain characters, for as quotes most would be broken (--quote '\"' says otherwise)".to_owned(),
            Some(quote) => {
                format!("fields are quoted with {} (--quote '\"' says otherwise)", name(quote))
            }
        });
    }
    if request.escape.is_none() && dialect.escape.is_some() {
        warnings.push(
            "a backslash makes the next character literal, for without it quotes would be broken (--escape none says otherwise)"
                .to_owned(),
        );
    }
    let is_spaced = found.is_spaced && dialect.delimiter != b' ';
    let widths = with_other.or(title);
    Ok(Sniffed { dialect, reasons, warnings, widths, one_column: lone, is_spaced })
}

/// What to know of escapes that are lost before a letter or a digit: programs write `\n` for a newline, and paths are full of them.
/// `\N` is what many write for NULL, as the whole of a field, and `reads_null` where the user says that it is.
pub(crate) fn lost_escapes(head: &[u8], dialect: &Dialect, reads_null: bool) -> Option<String> {
    let escape = char::from(dialect.escape.filter(|_| !dialect.escape_is_guessed)?);
    let is_border = |byte: Option<&u8>| {
        byte.is_none_or(|byte| {
            let is_blank = dialect.blanks && matches!(byte, b' ' | b'\t');
            is_blank
                || matches!(byte, b'\n' | b'\r')
                || [Some(dialect.delimiter), dialect.quote].contains(&Some(*byte))
        })
    };
    let mut from = 0;
    loop {
        let at = from + dialect.disproof(&head[from..])?;
        let before = at.checked_sub(1).map(|before| &head[before]);
        from = at + 1;
        let Some(letter) = head.get(from).filter(|letter| letter.is_ascii_alphanumeric()) else {
            continue;
        };
        let is_null = *letter == b'N' && is_border(before) && is_border(head.get(from + 1));
        if is_null && reads_null {
            continue;
        }
        let letter = char::from(*letter);
        let null = match is_null {
            true => format!("; --null '{escape}N' reads it as NULL"),
            false => String::new(),
        };
        return Some(format!(
            "{escape}{letter} is read as {letter}: an escape makes what follows it literal, stands for no newline or tab, and is no \
             part of a path (--escape none says otherwise{null})"
        ));
    }
}

/// What was seen of the fields of a text that a server may have written, and not as CSV.
#[derive(Default)]
struct Dumped {
    /// `\N` without quotes is one, or between tabs the word `NULL`: then an empty field is an empty text.
    is_null: bool,
    is_word: bool,
    has_empty: bool,
    /// Fields in quotes, and such ones whose values need none.
    has_quotes: bool,
    has_needless_quotes: bool,
    /// Of fields in which values are text.
    text: DumpedText,
}

#[derive(Default)]
struct DumpedText {
    has_null: bool,
    has_word: bool,
    has_nul: bool,
    /// A backslash before a letter that stands for a character, before a backslash, before the end of a line, and before anything else.
    has_letter: bool,
    has_doubled: bool,
    has_end: bool,
    has_other: bool,
}

impl DumpedText {
    /// Looks at the backslashes of a field, the record's last one or another.
    fn add_backslashes(&mut self, raw: &[u8], is_last: bool) {
        let mut rest = raw;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            match rest.get(at + 1) {
                Some(b'\\') => self.has_doubled = true,
                Some(b'0' | b'b' | b'f' | b'n' | b'r' | b't' | b'v') => self.has_letter = true,
                None if is_last => self.has_end = true,
                // As in a path.
                _ => self.has_other = true,
            }
            rest = rest.get(at + 2..).unwrap_or_default();
        }
    }
}

/// What to know of a text that PostgreSQL's COPY or mysql may have written: a whole field `\N` is NULL there, and then an empty one is an
/// empty text, and quotes are characters like others; a backslash before a letter makes a tab or a newline, and one before a newline is no
/// part of it. Between tabs, `NULL` is what `mysql -B` writes for one. `is_meant` says in which fields values are text whatever is said of
/// NULL, and `reads_null` which spellings are read as NULL already.
pub(crate) fn dumped(
    head: &[u8],
    dialect: &Dialect,
    request: &DialectRequest,
    reads_null: impl Fn(&str) -> bool,
    is_meant: impl Fn(usize) -> bool,
) -> Option<String> {
    let has_backslash = memchr::memchr(b'\\', head).is_some();
    let has_nul = memchr::memchr(0, head).is_some();
    let is_tabbed = dialect.delimiter == b'\t';
    let may_be_word = !reads_null("NULL");
    // As a word that names read it stands everywhere; between commas it is a bare one among quoted ones, as sqlite3 writes it.
    if !has_backslash && !has_nul && memchr::memmem::find(head, b"NULL").is_none() {
        return None;
    }
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    let mut seen = Dumped::default();
    for _ in 0..RECORDS_MAX {
        let Some(record) = scanner.next(&mut fields) else { break };
        if record.fault.is_some() || record.is_blank() {
            continue;
        }
        for (at, field) in fields.iter().enumerate() {
            let (raw, is_quoted) = (field.raw(head), field.form.is_quoted());
            let is_null = raw == b"\\N" && !is_quoted;
            let is_word = raw == b"NULL" && !is_quoted;
            seen.is_null |= is_null;
            seen.is_word |= is_word && is_tabbed;
            seen.has_empty |= raw.is_empty() && !is_quoted;
            seen.has_quotes |= is_quoted;
            seen.has_needless_quotes |= is_quoted
                && !raw.is_empty()
                && !raw.iter().any(|byte| {
                    matches!(byte, b'\n' | b'\r')
                        || [Some(dialect.delimiter), dialect.quote].contains(&Some(*byte))
                });
            if !is_meant(at) {
                continue;
            }
            seen.text.has_null |= is_null;
            seen.text.has_word |= is_word;
            seen.text.has_nul |= raw == [0];
            // Quotes between others than tabs are those of CSV, which keeps such values.
            if raw != b"\\N" && has_backslash && (is_tabbed || !is_quoted) {
                seen.text.add_backslashes(raw, at + 1 == fields.len() && !is_quoted);
            }
        }
    }
    let Dumped { is_null, is_word, has_empty, has_quotes, has_needless_quotes, text } = seen;
    // Escapes that are read as such are told of by themselves.
    let is_plain = dialect.escape.is_none();
    let is_dump = is_null || is_word;
    // Between tabs only such dumps have tabs and newlines within values. With another delimiter several signs have to come together.
    let is_escaping = is_tabbed || is_null || text.has_doubled;
    let has_escape = is_plain
        && !text.has_other
        && is_escaping
        && (text.has_letter || text.has_doubled && is_tabbed);
    let has_end = is_plain && text.has_end && !text.has_letter && !text.has_other;
    let has_null = text.has_null && is_plain && !reads_null("\\N");
    let has_empty = is_dump && has_empty && request.empty.is_none();
    // With commas between fields, INTO OUTFILE is mostly asked for quotes.
    let has_quotes = (is_null && has_quotes || has_needless_quotes)
        && is_dump
        && is_tabbed
        && request.quote.is_none();
    let has_word = text.has_word && may_be_word;
    // sqlite3 has apostrophes around all other texts.
    let is_bare = has_word && !is_tabbed && dialect.quote == Some(b'\'');
    let null = r"\N is a text here, and NULL in what PostgreSQL's COPY and mysql write (--null '\N' reads it so)";
    let empty = "an empty field is NULL here, and an empty text in what PostgreSQL's COPY and mysql write (--empty text reads it so)";
    let quotes = "quotes around values are left out here, and part of the values in what PostgreSQL's COPY, mysqldump --tab and mysql -B write (--quote none reads them so)";
    let escapes = r"backslashes before n, t and \ are part of the values; in what PostgreSQL's COPY and mysql -B write they are newlines, tabs and backslashes, which an export as CSV keeps";
    let end = r"a backslash at the end of a line is part of the value here, and in what INTO OUTFILE and mysqldump --tab write the newline behind it is (--escape '\' reads it so)";
    let word = "NULL is a text here, and NULL in what mysql -B writes (--null NULL reads it so)";
    let bare = "NULL without quotes is a text here, and NULL in what sqlite3 writes (--null NULL reads it so)";
    let nul = "a field that is one NUL byte is a text of this character here, and an empty text in what bcp -c writes";
    let nul = format!("{nul} ({EMPTY_OF_NUL})");
    let notes = [
        (has_null, null),
        (has_empty, empty),
        (has_quotes, quotes),
        (has_word && is_tabbed, word),
        (is_bare, bare),
        (has_escape, escapes),
        (has_end, end),
        (text.has_nul, nul.as_str()),
    ];
    let notes: Vec<&str> = notes.iter().filter(|(has, _)| *has).map(|(_, note)| *note).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Of each field, whether its values are all `\x` and pairs of hexadecimal digits, as PostgreSQL writes bytes; empty where none is.
pub(crate) fn hex(head: &[u8], dialect: &Dialect, width: usize) -> Vec<bool> {
    if memchr::memmem::find(head, b"\\x").is_none() {
        return Vec::new();
    }
    let mut scanner = Scanner::new(dialect, head);
    let (mut fields, mut seen) = (Vec::new(), vec![(false, true); width]);
    for _ in 0..RECORDS_MAX {
        let Some(record) = scanner.next(&mut fields) else { break };
        // A record that is cut off is none.
        if record.fault.is_some() || fields.len() != width {
            continue;
        }
        for (field, (any, all)) in fields.iter().zip(&mut seen) {
            let raw = field.raw(head);
            let digits = raw.strip_prefix(b"\\x");
            let is_hex = digits.is_some_and(|digits| {
                digits.len() % 2 == 0 && digits.iter().all(u8::is_ascii_hexdigit)
            });
            // DuckDB writes one byte so as well.
            *any |= is_hex && raw.len() > 4;
            *all &= is_hex || raw.is_empty() || is_null_like(raw);
        }
    }
    seen.into_iter().map(|(any, all)| any && all).collect()
}

/// What makes empty texts of the NUL bytes that bcp writes for them; an empty field is NULL to it.
pub const EMPTY_OF_NUL: &str = r#"perl -pe 's/\0/""/g' writes it so that it is read as that"#;

/// What to know of a spelling of NULL with commas that no value is: it may be meant for several.
pub(crate) fn unmatched_null(null: &str, head: &[u8], dialect: &Dialect) -> Option<String> {
    if !null.contains(',') || null.contains('=') {
        return None;
    }
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    for _ in 0..RECORDS_MAX {
        if scanner.next(&mut fields).is_none() {
            break;
        }
        let is_it = |field: &Field| {
            let is_quoted = field.form.is_quoted();
            encode::is_null(dialect, null.as_bytes(), field.raw(head), is_quoted)
        };
        if fields.iter().any(is_it) {
            return None;
        }
    }
    let each: Vec<String> =
        null.split(',').map(|part| format!("--null {}", shell_word(part))).collect();
    Some(format!(
        "--null {} is one spelling, which no value seen is: {} if it is meant for several",
        shell_word(null),
        each.join(" ")
    ))
}

/// That quotes behind blanks quote nothing, where values have such; of a header that has them more is said.
pub(crate) fn stray_quotes(head: &[u8], dialect: &Dialect, has_header: bool) -> Option<String> {
    let quote = dialect.quote?;
    let is_stray = |field: &Field| {
        let raw = field.raw(head);
        let text = raw.trim_ascii_start();
        !field.form.is_quoted() && text.len() < raw.len() && text.first() == Some(&quote)
    };
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    let mut is_header = has_header;
    for _ in 0..RECORDS_MAX {
        let record = scanner.next(&mut fields)?;
        if fields.iter().any(is_stray) {
            return (!is_header).then(|| {
                format!("quotes behind a blank quote nothing, and are part of the values ({BLANK_THEN_QUOTE})")
            });
        }
        is_header &= record.is_blank();
    }
    None
}

/// What to do where blanks stand before quotes.
pub(crate) const BLANK_THEN_QUOTE: &str = "--trim leaves out blanks around quotes";

/// The delimiters to try, the likeliest first, and the one to take where none is found.
fn delimiters(told: Option<u8>, format: Option<Format>, extension: &str) -> (Vec<u8>, u8) {
    if let Some(told) = told {
        return (vec![told], told);
    }
    let likely = match extension {
        "tsv" | "tab" if format != Some(Format::Csv) => Some(b'\t'),
        "psv" => Some(b'|'),
        _ => None,
    };
    let others = DELIMITERS.iter().copied().filter(|delimiter| Some(*delimiter) != likely);
    let all = likely.into_iter().chain(others);
    (
        all.filter(|delimiter| format != Some(Format::Csv) || *delimiter != b'\t').collect(),
        likely.unwrap_or(b','),
    )
}

/// That others would do as well.
fn rivals(delimiter: u8, rivals: &[u8]) -> String {
    let words: Vec<String> = rivals.iter().map(|rival| word(*rival)).collect();
    format!(
        "fields are separated by {}; {} would read it as well: --delimiter {}",
        word(delimiter),
        words.join(" or "),
        words.join(" or ")
    )
}

/// That each line is one column.
fn one_column(other: Option<(u8, usize)>, told: Option<u8>) -> String {
    if let Some(told) = told {
        let told = word(told);
        return format!("the delimiter {told} was not found, so each line is loaded as one column");
    }
    let note = "no delimiter was found, so each line is loaded as one column";
    match other {
        Some((other, width)) => {
            let other = word(other);
            format!("{note}; with --delimiter {other} each would have {width} fields")
        }
        None => format!("{note} (--delimiter says otherwise)"),
    }
}

/// A delimiter as `--delimiter` takes it.
pub(crate) fn word(byte: u8) -> String {
    match byte {
        b',' => "comma".to_owned(),
        b'\t' => "tab".to_owned(),
        b';' => "semicolon".to_owned(),
        b'|' => "pipe".to_owned(),
        b' ' => "space".to_owned(),
        // As shells with $'' take it.
        byte if byte.is_ascii_control() => format!("$'\\x{byte:02x}'"),
        byte => format!("'{}'", char::from(byte)),
    }
}

/// A byte as messages name it.
pub(crate) fn name(byte: u8) -> String {
    match byte {
        b',' => "commas".to_owned(),
        b'\t' => "tabs".to_owned(),
        b';' => "semicolons".to_owned(),
        b'|' => "vertical bars".to_owned(),
        byte => format!("'{}'", char::from(byte).escape_default()),
    }
}

/// The usual number of fields of the records in `head`.
pub(crate) fn width(head: &[u8], whole: bool, dialect: &Dialect) -> usize {
    quoting::width(head, whole, dialect)
}

/// The first record of an input.
pub(crate) struct First<'a> {
    /// Its fields as text.
    pub values: Vec<Vec<u8>>,
    /// The same as they are written, without their quotes.
    pub raw: Vec<&'a [u8]>,
    /// Which of them are in quotes.
    pub quoted: Vec<bool>,
    pub record: Record,
    /// All that is written up to the next record.
    pub text: &'a [u8],
}

/// The first record in `bytes`; `None` when there is none.
pub(crate) fn first_record<'a>(bytes: &'a [u8], dialect: &Dialect) -> Option<First<'a>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut scanner = Scanner::new(dialect, bytes);
    loop {
        let record = scanner.next(&mut fields)?;
        if record.is_blank() {
            continue;
        }
        let value = |field: &Field| {
            let mut value = Vec::new();
            unescape(dialect, field.raw(bytes), field.form, &mut value);
            value
        };
        return Some(First {
            values: fields.iter().map(value).collect(),
            raw: fields.iter().map(|field| field.raw(bytes)).collect(),
            quoted: fields.iter().map(|field| field.form.is_quoted()).collect(),
            record,
            text: &bytes[..record.next as usize],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(head: &str) -> Dialect {
        dialect(head.as_bytes(), true, &DialectRequest::default(), None, "csv").unwrap().dialect
    }

    #[test]
    fn delimiters_are_found_by_regularity() {
        assert_eq!(sniffed("a,b,c\n1,2,3\n4,5,6\n").delimiter, b',');
        assert_eq!(sniffed("a\tb\n1,5\t2\n1,5\t3,7\n").delimiter, b'\t');
        assert_eq!(sniffed("a;b\n1,5;2,5\n3,5;4\n").delimiter, b';');
        assert_eq!(sniffed("a|b|c\n1|2|3\n").delimiter, b'|');
        assert_eq!(sniffed("word\nother\n").delimiter, b',');
        assert_eq!(sniffed("a,b,c\n1,2\n3,4,5\n").delimiter, b',');
        assert_eq!(sniffed("a,b,c\n1,2\n").delimiter, b',');
        assert_eq!(sniffed("name,text\n1,\"a;b;c\"\n2,\"d;e;f\"\n").delimiter, b',');
    }

    #[test]
    fn quoting_is_taken_as_it_reads_best() {
        assert_eq!(sniffed("a,b\n1,\"x, y\"\n").quote, Some(b'"'));
        assert_eq!(sniffed("a,b\n1,'x, y'\n2,'z, w'\n").quote, Some(b'\''));
        let backslash = sniffed("a,b\n1,\"say \\\"hi\\\", you\"\n2,\"x\"\n");
        assert_eq!((backslash.quote, backslash.escape), (Some(b'"'), Some(b'\\')));
        let paths = "id,v\n1,C:\\new\\dir\n2,\"say \\\"hi\\\" now\"\n";
        assert_eq!(sniffed(paths).escape, None);
        let apostrophes = format!("id,v\n{}5,'quoted'\n", "1,x\n".repeat(20));
        assert_eq!(sniffed(&apostrophes).quote, Some(b'"'));
        let plain = "a\tb\n\"Bob\" Smith\t1\n\"Al\" Jones\t2\n\"Cy\" Young\t3\n";
        assert_eq!(sniffed(plain).quote, None);
        let few = "id,name\n1,a\n2,\"b\" c\n3,\"d\n4,e\n";
        assert_eq!(sniffed(few).quote, Some(b'"'));
        let one_bad_in_many = format!("a,b\n{}\"x\" y,2\n", "\"q\",1\n".repeat(200));
        assert_eq!(sniffed(&one_bad_in_many).quote, Some(b'"'));
    }

    #[test]
    fn an_escaped_n_is_null_as_a_whole_field_only() {
        let escaping = Dialect { escape: Some(b'\\'), ..Dialect::csv() };
        let told = |head: &str, reads| lost_escapes(head.as_bytes(), &escaping, reads);
        for whole in ["\\N,1\n", "1,\\N\r\n", "1,\\N", "\"\\N\",1\n"] {
            assert_eq!(told(whole, true), None, "{whole}");
            assert!(told(whole, false).is_some_and(|note| note.contains("--null")), "{whole}");
        }
        for part in ["x\\N,1\n", "\"\\Ny\"\n", "\\N,\\n\n"] {
            assert!(told(part, true).is_some_and(|note| !note.contains("--null")), "{part}");
        }
        assert_eq!(told("\\\\N,a\\\"b\n", false), None);
    }

    #[test]
    fn dumps_are_known_by_their_null() {
        let told = |head: &str, dialect: &Dialect, request: &DialectRequest| {
            let note = dumped(head.as_bytes(), dialect, request, |_| false, |_| true);
            let note = note.unwrap_or_default();
            ["--null '\\N'", "--empty text", "--quote none"].map(|option| note.contains(option))
        };
        let (tsv, csv, open) = (Dialect::tsv(), Dialect::csv(), DialectRequest::default());
        assert_eq!(told("1\t\n\\N\t\"a\"\n", &tsv, &open), [true; 3]);
        assert_eq!(told("1\t\n2\t\"a\"\n", &tsv, &open), [false; 3]);
        assert_eq!(told("1\t\n2\t\"\\N\"\n", &tsv, &open), [false; 3]);
        assert_eq!(told("1,\n\\N,\"a\"\n", &csv, &open), [true, true, false]);
        let empty = Some(inrush_core::Empty::Null);
        let said = DialectRequest { empty, quote: Some(Some(b'"')), ..open };
        assert_eq!(told("1\t\n\\N\t\"a\"\n", &tsv, &said), [true, false, false]);
    }

    #[test]
    fn records_that_end_in_a_character_of_ascii_are_told_from_values_with_it() {
        let ends = |head: &str| ends_records_in_ascii(head.as_bytes(), true, &Dialect::csv());
        assert!(ends("id\u{1f}v\u{1e}1\u{1f}a\u{1e}"));
        assert!(ends("id\u{1f}v\u{1e}1\u{1f}a\nb\u{1e}\n"));
        assert!(!ends("1,a\u{1e}b\u{1e}c\n2,d\u{1e}e\u{1e}f\n"));
        assert!(!ends("\u{1e}[1,2]\n\u{1e}[3,4]\n"));
        assert!(!ends("id,v\n1,\"a\u{1e}b\"\n"));
        assert!(!ends(""));
    }

    #[test]
    fn bytes_as_postgres_writes_them_are_known_by_all_values() {
        let told = |head: &str| hex(head.as_bytes(), &Dialect::csv(), 2);
        assert_eq!(told("1,\\xdeadbeef\n2,\n3,\\x\n\\x1,\\x00"), [false, true]);
        assert_eq!(told("1,\\xdead\n2,\\xfoo\n"), [false, false]);
        assert_eq!(told("1,\\x\n"), [false, false]);
        assert!(told("1,2\n").is_empty());
    }

    #[test]
    fn old_mac_lines_are_told_by_the_absence_of_newlines() {
        assert_eq!(sniffed("a,b\r1,2\r").newline, Newline::Cr);
        assert_eq!(sniffed("a,b\r\n1,2\r\n").newline, Newline::Lf);
        let warns = |head: &[u8]| {
            let found = dialect(head, true, &DialectRequest::default(), None, "csv").unwrap();
            found.warnings.iter().any(|note| note.contains("carriage returns"))
        };
        assert!(warns(b"a,b\r1,2\r3,4\r\n"));
        assert!(!warns(b"a,b\r\n1,2\r\n3,\"4\r5\"\r\n"));
        assert!(!warns(b"a,b\r1,2\r"));
        let mixes = |head: &[u8]| mixes_line_ends(head, &Dialect::csv());
        assert!(mixes(b"a,b\r1,2\r3,4\r\n"));
        assert!(!mixes(b"a,b\n1,\"2\r3\r4\r5\"\n"));
        assert!(!mixes(b"a,\"b\rc\rd\"\n1,2\n"));
        // A header and one row, or two rows: the newline at the end is the only one.
        assert!(mixes(b"name,city\rAna,Rome\r\n"));
        assert!(mixes(b"a,b\r1,2\n"));
        assert!(!mixes(b"a\r,b\n1\r,2\n"));
        assert!(!mixes(b"a,\"b\rc\"\n"));
    }
}
