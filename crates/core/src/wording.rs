//! What messages have in common: numbers with their nouns, names, words of a command line.

/// The noun, in the plural unless there is exactly one. `one` is the singular, and its plural ends in `s`.
///
/// ```
/// use inrush_core::wording::noun;
/// assert_eq!((noun(1, "bad row"), noun(0, "bad row")), ("bad row".into(), "bad rows".into()));
/// ```
pub fn noun(number: u64, one: &str) -> String {
    format!("{one}{}", if number == 1 { "" } else { "s" })
}

/// The number and its noun.
///
/// ```
/// assert_eq!(inrush_core::wording::counted(1, "row"), "1 row");
/// ```
pub fn counted(number: u64, one: &str) -> String {
    format!("{number} {}", noun(number, one))
}

/// The same for what this process holds.
pub fn counted_in<T>(all: &[T], one: &str) -> String {
    counted(all.len() as u64, one)
}

/// A word of a command line, as a shell takes it: in quotes where it has more than letters, digits and a few marks.
///
/// ```
/// assert_eq!(inrush_core::wording::shell_word("id=NA"), "id=NA");
/// assert_eq!(inrush_core::wording::shell_word("it's a b"), r"'it'\''s a b'");
/// ```
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Names in a row; one that a comma would make two of is in quotes.
///
/// ```
/// assert_eq!(inrush_core::wording::listed(["id", "Last, First"]), "id, 'Last, First'");
/// ```
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let name = |name: &str| match name.contains(',') {
        true => format!("'{name}'"),
        false => name.to_owned(),
    };
    names.into_iter().map(name).collect::<Vec<_>>().join(", ")
}

/// What a statement waits for: a lock, on `what` as far as that is known; who holds it, and what else is known of them.
///
/// ```
/// use inrush_core::wording::waiting_for_lock;
/// let known = ["psql".to_owned(), "user ann".to_owned()];
/// let said = waiting_for_lock(Some("trips"), "process 7", &known);
/// assert_eq!(said, "waiting for a lock on trips that process 7 holds (psql, user ann)");
/// assert_eq!(waiting_for_lock(None, "process 7", &[]), "waiting for a lock that process 7 holds");
/// ```
pub fn waiting_for_lock(what: Option<&str>, holder: &str, known: &[String]) -> String {
    let on = what.map_or_else(String::new, |what| format!(" on {what}"));
    let known = match known.is_empty() {
        true => String::new(),
        false => format!(" ({})", known.join(", ")),
    };
    format!("waiting for a lock{on} that {holder} holds{known}")
}

/// An option that is said of one column, as a shell takes it.
///
/// ```
/// assert_eq!(inrush_core::wording::said_of("--type", "Unit Price", "float"), "--type 'Unit Price=float'");
/// ```
pub fn said_of(option: &str, column: &str, value: impl std::fmt::Display) -> String {
    format!("{option} {}", shell_word(&format!("{column}={value}")))
}

/// Words with options for a column, which they call `COLUMN`, with its name.
///
/// ```
/// let words = "a day: --type COLUMN=date, or --type COLUMN=integer loads it";
/// let named = "a day: --type 'The day=date', or --type 'The day=integer' loads it";
/// assert_eq!(inrush_core::wording::of_column(words, "The day"), named);
/// ```
pub fn of_column(words: &str, column: &str) -> String {
    let mut parts = words.split("COLUMN=");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (value, rest) = part.split_at(part.find([' ', ',']).unwrap_or(part.len()));
        named += &shell_word(&format!("{column}={value}"));
        named += rest;
    }
    named
}

/// The verb for so many.
pub fn were(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// What the user reads at once where a connection is lost at the commit, and the target is asked, for so long at most, what became of it.
///
/// ```
/// let asks = inrush_core::wording::asks_about_commit(std::time::Duration::from_secs(60));
/// let words = "the answer to the commit was lost with the connection: asking the server for up to 60 s whether the rows are in";
/// assert_eq!(asks, words);
/// ```
pub fn asks_about_commit(limit: std::time::Duration) -> String {
    format!(
        "the answer to the commit was lost with the connection: asking the server for up to {} s whether the rows are in",
        limit.as_secs()
    )
}

/// Bytes in the unit that fits, which is a power of 1,000, and in three digits: `1.50 GB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let number_f = number as f64;
    // What would be rounded to 1000 is one of the next unit.
    match UNITS.iter().find(|(size, _)| number_f >= size * 0.9995) {
        None => counted(number, "byte"),
        Some((size, unit)) => {
            let share = number_f / size;
            let places = if share < 9.995 { 2 } else { usize::from(share < 99.95) };
            format!("{share:.places$} {unit}")
        }
    }
}

/// How much of a second's fraction a column keeps.
pub fn fraction(digits: u8) -> String {
    match digits {
        0 => "without a fraction of a second".to_owned(),
        digits => format!("with {} of a second's fraction", counted(digits.into(), "digit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1000_in_three_digits() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.00 kB"),
            (9_996, "10.0 kB"),
            (99_960, "100 kB"),
            (999_600, "1.00 MB"),
            (389_000_000, "389 MB"),
            (16_800_000_000, "16.8 GB"),
            (2_000_000_000_000_000, "2000 TB"),
        ];
        for (number, shown) in cases {
            assert_eq!(bytes(number), shown);
        }
    }
}
