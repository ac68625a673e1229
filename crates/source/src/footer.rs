//! The line that clients write below the rows of a query, which says how many these are: `(3 rows affected)`, `(1 row)`,
//! `3 rows selected.` And the character by which DOS ended its files, U+001A.

/// What such a line says behind the number.
const WORDS: [&str; 8] = [
    "row",
    "rows",
    "row affected",
    "rows affected",
    "row(s) affected",
    "row selected",
    "rows selected",
    "record(s) selected",
];

/// The character by which DOS ended its files, and how it is named.
const DOS_END: (&str, &str) = ("\u{1a}", "U+001A");

/// The line without blanks around it, if it is such a one.
pub fn footer(line: &[u8]) -> Option<&str> {
    let line = str::from_utf8(line).ok()?.trim();
    if line == DOS_END.0 {
        return Some(DOS_END.1);
    }
    // Without parentheses or a full stop it may be a value: 3 rows.
    let inside = match line.strip_prefix('(') {
        Some(inside) => inside.strip_suffix(')')?,
        None => line.strip_suffix('.').unwrap_or(line),
    };
    let (count, words) = inside.split_once(' ')?;
    let is_count = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    let is_closed = inside.len() < line.len();
    let is_timed = || words.starts_with("row in set (") || words.starts_with("rows in set (");
    (is_count && (is_closed && WORDS.contains(&words) || is_timed())).then_some(line)
}

/// How to leave out such a line, and what stands below it, as the time of a query may.
pub fn footer_advice(footer: &str) -> String {
    if footer == DOS_END.1 {
        return "U+001A on a line of its own is how DOS ended its files: tr -d '\\032' leaves it out".to_owned();
    }
    format!(
        "'{footer}' is what clients of databases write below the rows: sed '/^ *{footer}/,$d' leaves it out; SET NOCOUNT ON (sqlcmd, \
         SSMS), SET FEEDBACK OFF (SQL*Plus) and psql -P footer=off write none"
    )
}

/// Such a line at the end of a text, below which few others stand.
pub(crate) fn at_end(text: &[u8]) -> Option<&str> {
    const LINES_MAX: usize = 5;
    let end = &text[text.len().saturating_sub(256)..];
    let lines = end.rsplit(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.take(LINES_MAX).find_map(footer)
}

/// Whether a whole text ends in that character of DOS behind the last value, and not on a line of its own, of which [`footer`] knows.
pub(crate) fn ends_as_dos(text: &[u8]) -> bool {
    let before = text.trim_ascii_end().strip_suffix(DOS_END.0.as_bytes());
    before.is_some_and(|before| !matches!(before.last(), None | Some(b'\n' | b'\r' | 0x1a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footers_are_known_and_values_are_not() {
        for line in [
            "(3 rows affected)\r",
            "(1 row affected)",
            "(0 row(s) affected)",
            "(8 rows)",
            "(1 row)",
            "3 rows selected.",
            "  3 record(s) selected.",
            "3 rows in set (0.00 sec)",
        ] {
            assert_eq!(footer(line.as_bytes()), Some(line.trim()), "{line}");
        }
        for line in
            ["", "3", "3 rows", "(three rows)", "(3 rows left)", "(3)", "(", "rows.", "3 rows.x"]
        {
            assert_eq!(footer(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn the_end_of_dos_is_told_behind_a_value_and_on_a_line_of_its_own() {
        for (text, is_behind) in [
            ("id,v\n1,a\u{1a}", true),
            ("id,v\r\n1,a\u{1a}\r\n", true),
            ("id,v\n1,\u{1a}", true),
            ("id,v\n1,a\n\u{1a}", false),
            ("\u{1a}", false),
            ("id,v\n1,\u{1a}\n2,b\n", false),
            ("", false),
        ] {
            assert_eq!(ends_as_dos(text.as_bytes()), is_behind, "{text:?}");
        }
    }

    #[test]
    fn a_footer_is_found_above_the_time_of_the_query() {
        let end = "a\r\n\r\n(2 rows affected)\r\n\r\nCompletion time: 2024-05-01T12:00:00\r\n";
        assert_eq!(at_end(end.as_bytes()), Some("(2 rows affected)"));
        assert_eq!(at_end(b"a\nb\n"), None);
        assert_eq!(at_end(b""), None);
    }
}
