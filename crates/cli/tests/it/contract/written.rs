use crate::servers::Rows;

/// The records of a CSV file: values, `None` where there is nothing, not even quotes. It has to be one that RFC 4180 allows.
pub(crate) fn records(text: &str) -> Rows {
    let (mut rows, mut row) = (Rows::new(), Vec::new());
    let mut rest = text;
    while !(rest.is_empty() && row.is_empty()) {
        let value;
        (value, rest) = if let Some(inner) = rest.strip_prefix('"') {
            let (value, rest) = quoted(inner);
            (Some(value), rest)
        } else {
            // Looked for one by one, which is quicker than for either.
            let value = rest.split_once(',').map_or(rest, |(value, _)| value);
            let value = value.split_once('\n').map_or(value, |(value, _)| value);
            let rest = &rest[value.len()..];
            let value = value.strip_suffix('\r').unwrap_or(value);
            ((!value.is_empty()).then(|| value.to_owned()), rest)
        };
        row.push(value);
        if let Some(behind) = rest.strip_prefix(',') {
            rest = behind;
            continue;
        }
        rest = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest);
        rows.push(std::mem::take(&mut row));
    }
    rows
}

/// A value up to its last quote, and what is behind.
fn quoted(mut rest: &str) -> (String, &str) {
    let mut value = String::new();
    loop {
        let (part, behind) = rest.split_once('"').expect("a quote at the end");
        value.push_str(part);
        let Some(more) = behind.strip_prefix('"') else { return (value, behind) };
        value.push('"');
        rest = more;
    }
}

/// How values of a column are to be compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// As they are.
    Text,
    Float,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    /// With a zone.
    Moment,
    Json,
}

impl Kind {
    /// One spelling of a value, which all of its spellings have.
    pub(super) fn plain(self, text: &str) -> String {
        match self {
            Self::Text => text.to_owned(),
            Self::Float => {
                format!("{:e}", text.parse::<f64>().unwrap_or_else(|_| panic!("{text}")))
            }
            Self::Decimal if text.contains('.') => {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Self::Decimal => text.to_owned(),
            Self::Boolean => match text {
                "1" | "t" | "true" => "true".to_owned(),
                "0" | "f" | "false" => "false".to_owned(),
                other => panic!("no boolean: {other}"),
            },
            Self::Date => moment(text).strip_suffix(" 00:00:00").expect("midnight").to_owned(),
            Self::Timestamp | Self::Moment => moment(text),
            Self::Json => serde_json::from_str::<serde_json::Value>(text).unwrap().to_string(),
        }
    }
}

/// A moment of ISO 8601, in UTC if it has a zone.
fn moment(text: &str) -> String {
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let time = time.trim_end_matches(" UTC").replace(' ', "");
    let (clock, zone) = match time.find(['Z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => (time.as_str(), ""),
    };
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{text}"));
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next().unwrap()), number(parts.next().unwrap()));
    let (second, fraction) =
        parts.next().map_or(("00", ""), |seconds| seconds.split_once('.').unwrap_or((seconds, "")));
    let mut offset =
        zone.trim_start_matches(['Z', '+', '-']).split(':').filter(|it| !it.is_empty());
    let minutes = offset.next().map_or(0, number) * 60 + offset.next().map_or(0, number);
    let minutes = if zone.starts_with('-') { -minutes } else { minutes };
    let all = (hour * 60 + minute) - minutes;
    let day = date(days(day) + all.div_euclid(24 * 60));
    let all = all.rem_euclid(24 * 60);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{day} {:02}:{:02}:{second}{point}{fraction}", all / 60, all % 60)
}

/// Days since 0001-01-01, counted year by year.
pub(crate) fn days(text: &str) -> i64 {
    const MONTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let number = |part: &str| part.parse::<i64>().unwrap();
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..10]));
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let years: i64 = (1..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months: i64 = MONTHS[..month as usize - 1].iter().sum();
    years + months + i64::from(month > 2 && is_leap(year)) + day - 1
}

/// A day, from those since 0001-01-01. Years are counted from March, so that the day which some have is their last.
pub(crate) fn date(days: i64) -> String {
    let from_march = days + 306;
    let (era, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (more, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + more)
}

/// What a file says, spelt as [`Kind::plain`] has it; without its header.
pub(super) fn plain(text: &str, kinds: &[Kind]) -> Rows {
    plain_rows(records(text).split_off(1), kinds)
}

/// The same of rows that were read back.
pub(super) fn plain_rows(rows: Rows, kinds: &[Kind]) -> Rows {
    let row = |row: Vec<Option<String>>| {
        assert_eq!(row.len(), kinds.len(), "{row:?}");
        row.into_iter().zip(kinds).map(|(value, kind)| Some(kind.plain(&value?))).collect()
    };
    super::sorted(rows.into_iter().map(row).collect())
}

#[test]
fn a_file_is_read_as_it_is_meant() {
    let some = |text: &str| Some(text.to_owned());
    let rows = records("a,\"b\"\"\n,\",\r\n,,\"\"\n\u{1f600},,x");
    let wanted = [
        [some("a"), some("b\"\n,"), None],
        [None, None, some("")],
        [some("\u{1f600}"), None, some("x")],
    ];
    assert_eq!(rows, wanted);
}

#[test]
fn a_moment_has_one_spelling() {
    for text in [
        "2024-02-29T01:02:03+02:00",
        "2024-02-28 23:02:03Z",
        "2024-02-28 23:02:03.000+00",
        "2024-02-28T18:02:03.0-05:00",
        "2024-02-28 23:02:03 UTC",
    ] {
        assert_eq!(moment(text), "2024-02-28 23:02:03");
    }
    assert_eq!(moment("2023-12-31 23:30:00.250-01:00"), "2024-01-01 00:30:00.25");
    assert_eq!(moment("2024-03-01 00:00+14:00"), "2024-02-29 10:00:00");
    assert_eq!(Kind::Date.plain("2024-02-29T00:00:00.000Z"), "2024-02-29");
    assert_eq!(Kind::Decimal.plain("-12.340"), "-12.34");
}

#[test]
fn a_day_is_shown_as_it_is_counted() {
    for day in ["0001-01-01", "1900-02-28", "1900-03-01", "2000-02-29", "2024-12-31", "9999-12-31"]
    {
        assert_eq!(date(days(day)), day);
    }
}
