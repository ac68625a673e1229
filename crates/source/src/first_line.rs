//! Whether the first line names the columns: what speaks for it, and what against.
//!
//! A row that is taken for a header is lost, so a name has to be a word where the others have numbers, and a line that holds
//! numbers or days as the others do is none, whatever its words: `1,Ann,unknown` may well be a row of a table of numbers. Nor is a
//! word that rows have where a number is missing, or an amount with its unit, any proof.

use crate::infer::{Observed, type_of};
use inrush_core::reading::{Family, is_alike};
use inrush_core::{ColumnRequest, Type};

/// Whether the first record names the columns.
pub(crate) struct HeaderVerdict {
    /// `None` when it may as well be a row of an existing table, which only the user can tell.
    pub header: Option<bool>,
    pub why: &'static str,
    /// Whether something in the input or the table proves it; else it is an assumption, and the user must hear of it, for a row
    /// is at stake.
    pub proven: bool,
}

/// What stands below the first record.
pub(crate) struct Below<'a> {
    /// What was seen of each column.
    pub seen: &'a [Observed],
    /// In which columns all values are written in one way that an option reads, and the field above them is not.
    pub are_other_forms: &'a [bool],
    /// In which columns all values are texts that are written as the field above them is: of one form, or of one kind that names no column.
    pub are_alike: &'a [bool],
}

/// Whether the first record names the columns. `first` is what was seen of its fields, nothing of those that are NULL or may be, and
/// `has_null` says that one is a spelling of NULL: of what the user has named, or of what programs write. `known` are the columns of the
/// table, if it is there, and `columns` what the user says of the source's.
///
/// Where a table is there, a line that could be names is never a row by assumption: words are what the table may hold, and what a
/// header of another table has. Nor do some of its columns' names make it a header: `name,Ann` may be a row of a table of names and
/// values.
pub(crate) fn header(
    names: &[String],
    first: &[Observed],
    has_null: bool,
    below: &Below<'_>,
    known: Option<&[String]>,
    columns: &ColumnRequest,
) -> HeaderVerdict {
    let Below { seen: rest, are_other_forms, are_alike } = *below;
    let verdict = |header, proven, why| HeaderVerdict { header: Some(header), why, proven };
    let fields: Vec<FirstField> = names
        .iter()
        .zip(first.iter().zip(rest))
        .zip(are_other_forms.iter().zip(are_alike))
        .map(|((name, (first, rest)), (is_of_form, is_written_alike))| {
            let is_known = known.is_some_and(|known| columns.knows(name.trim(), known));
            let field = FirstField::of(name, first, rest);
            FirstField {
                is_known,
                is_word: field.is_word && !is_written_alike,
                is_above_form: *is_of_form,
                is_written_alike: *is_written_alike,
                ..field
            }
        })
        .collect();
    let hits = fields.iter().filter(|field| field.is_known).count();
    let is_once = |name: &String| names.iter().filter(|other| is_alike(other, name)).count() == 1;
    if hits > 0 && hits == fields.len() && names.iter().all(is_once) {
        return verdict(true, true, "the first line has the names of the table's columns");
    }
    // Below a name there is another name in some tables; that a column of numbers has its own name in it is no accident.
    let is_proven = known.is_none()
        || fields.iter().any(|field| field.is_known && field.is_unlike())
        || fields.iter().all(|field| field.is_null || field.is_proof());
    if hits > 0 && hits * 2 >= fields.len() {
        let has_values = fields.iter().any(|field| field.is_value() && !field.is_known);
        return match has_values && !are_headings(&fields, rest) {
            false => verdict(
                true,
                is_proven && !has_values,
                "the first line has names of the table's columns",
            ),
            true => HeaderVerdict {
                header: None,
                why: "it has names of the table's columns, and numbers or dates of its own",
                proven: false,
            },
        };
    }
    let has_values = fields.iter().any(FirstField::is_value);
    if fields.iter().any(|field| field.is_proof() || has_values && field.is_unlike()) {
        // A name above numbers says more than a text that is written as those below it: `id,12:00` above `1,12:10`.
        let is_proven_name = fields.iter().any(FirstField::is_proof);
        let speaks_against =
            |field: &FirstField| field.is_alike() && !(is_proven_name && field.is_written_alike);
        let header = !fields.iter().any(speaks_against) || are_headings(&fields, rest);
        return match (has_values, known) {
            (false, _) => verdict(
                true,
                is_proven && !has_null,
                "the first line has words where the others have numbers or dates",
            ),
            (true, Some(_)) => HeaderVerdict {
                header: None,
                why: "it has words where the others have numbers or dates, and numbers or dates of its own",
                proven: false,
            },
            (true, None) => verdict(
                header,
                false,
                if header {
                    "the first line has words where the others have numbers or dates, and its numbers could be names"
                } else {
                    "the first line has numbers or dates like the others, though words in other columns of such"
                },
            ),
        };
    }
    // Names of another kind than what stands below: 100022 above TRUE and FALSE.
    let is_above_others =
        |field: &FirstField| (field.rest != Type::Text || field.is_above_form) && !field.is_alike();
    if has_values {
        // A line of numbers alone is data; one with words as well may be a header such as country,2019,2020.
        let is_typed = |field: &FirstField| field.ty != Type::Text;
        if known.is_some() && !fields.iter().any(is_typed) {
            return UNCLEAR;
        }
        let proven = fields.iter().all(|field| is_typed(field) || field.is_null);
        // A table of settings has values of many kinds: `retries,3` above `verbose,true`. Where there is one such column, or one row below,
        // the line is a row of it.
        let values = || fields.iter().filter(|field| field.is_value());
        let is_new =
            |(at, field): (usize, &FirstField)| values().take(at).all(|it| it.text != field.text);
        let are_names = values().count() > 1
            && rest.iter().any(|rest| rest.values() > 1)
            && values().all(is_above_others)
            && values().enumerate().all(is_new);
        if known.is_none() && are_names && fields.iter().any(|field| field.is_word) {
            return verdict(
                true,
                false,
                "its numbers or dates stand above values of another kind, and could be names",
            );
        }
        if known.is_none() && are_years(&fields, rest) {
            return verdict(
                true,
                false,
                "its numbers are years that follow each other, above what are none",
            );
        }
        let why = match fields.iter().any(FirstField::is_alike) {
            _ if !fields.iter().any(is_typed) => match fields.iter().any(|field| field.is_word) {
                true => "the first line has values that are written as the others are",
                false => NO_WORD,
            },
            true => "the first line has numbers or dates like the others",
            false => "the first line has numbers or dates itself",
        };
        return verdict(false, proven, why);
    }
    if names.iter().all(|name| name.trim().is_empty()) {
        return verdict(false, true, "the first line is empty");
    }
    // 14:35, 5% and 555-1234 are hardly names, unless they stand above what has a type: 0-4,5-9 above numbers.
    let mut values = fields.iter().filter(|field| !field.is_null).peekable();
    if known.is_none()
        && !fields.iter().any(|field| field.is_word)
        && (values.peek().is_none() || !values.all(is_above_others))
    {
        return verdict(false, false, NO_WORD);
    }
    if known.is_none() && has_null {
        return verdict(false, false, "a field of the first line is a spelling of NULL");
    }
    match known {
        Some(_) => UNCLEAR,
        None => {
            verdict(true, false, "the first line could be names, and nothing speaks against it")
        }
    }
}

/// Where a table is there, and texts could be either.
const UNCLEAR: HeaderVerdict =
    HeaderVerdict { header: None, why: "it may name columns, and it may be a row", proven: false };

const NO_WORD: &str = "the first line has no word in it";

/// A field of the first line, and the column below it.
struct FirstField<'a> {
    text: &'a str,
    is_null: bool,
    /// Whether the table, or the user, calls a column so.
    is_known: bool,
    /// Whether it is what columns are called.
    is_word: bool,
    /// What it is, or is a way to write; text if it is no value of any other type.
    ty: Type,
    /// What the others in its column are.
    rest: Type,
    /// Whether the others are texts that are written in one way that an option reads, and it is written otherwise.
    is_above_form: bool,
    /// Whether they are texts that are written as it is.
    is_written_alike: bool,
}

impl<'a> FirstField<'a> {
    fn of(name: &'a str, first: &Observed, rest: &Observed) -> Self {
        let is_null = first == &Observed::default();
        let text = name.trim();
        let ty = match first.ty() {
            Type::Text => written_otherwise(text),
            ty => ty,
        };
        let has = |is: fn(char) -> bool| text.chars().any(is);
        let is_word = !is_null
            && ty == Type::Text
            // A text that looks like a number is one only where a sheet says that it is text: its years above columns.
            && (has(char::is_alphabetic) || !has(char::is_numeric) || type_of(text) != Type::Text);
        let rest = rest.ty();
        let (is_known, is_above_form, is_written_alike) = (false, false, false);
        Self { text, is_null, is_known, is_word, ty, rest, is_above_form, is_written_alike }
    }

    /// Whether it is a word where the others are none.
    fn is_unlike(&self) -> bool {
        self.is_word && self.rest != Type::Text
    }

    /// Whether it is such a word, and one that rows hardly have there.
    fn is_proof(&self) -> bool {
        self.is_unlike() && !is_doubtful(self.text)
    }

    /// Whether it is a number, a day or another value that columns are hardly called.
    fn is_value(&self) -> bool {
        !self.is_null && (self.ty != Type::Text || self.is_written_alike)
    }

    /// The number that it is, or that the digits of one with signs are: `5%`, `12:30`.
    fn number(&self) -> Option<f64> {
        let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-');
        match self.is_written_alike {
            true => self.text.replace(is_sign, "").parse().ok(),
            false => self.text.parse().ok(),
        }
    }

    /// Whether it is such a value, as the others in its column are.
    fn is_alike(&self) -> bool {
        self.is_written_alike
            || self.is_value()
                && match (Family::of(self.ty), Family::of(self.rest)) {
                    // Truths may be 0 and 1 as well.
                    (Some(Family::Number), Some(Family::Truth)) => matches!(self.text, "0" | "1"),
                    // Documents may be numbers.
                    (Some(Family::Number | Family::Truth), None) if self.rest == Type::Json => true,
                    (Some(Family::Day | Family::Moment), Some(Family::Day | Family::Moment)) => {
                        true
                    }
                    (Some(own), Some(others)) => own == others,
                    _ => self.ty == self.rest,
                }
    }
}

/// Whether a row may have this word where others have numbers or days: an amount with its unit or a day with its month's name (`5 kg`,
/// `<5 mg`, `0x1F`, `31-DEC-24`), a mark (`*`), an error of a spreadsheet (`#REF!`), or what says that there is no value.
fn is_doubtful(text: &str) -> bool {
    const MARKS: &str = ".?-*_/!~+\u{2013}\u{2014}\u{2026}";
    const WORDS: [&str; 8] =
        ["unknown", "missing", "undefined", "invalid", "empty", "nil", "n.a.", "tbd"];
    let signs = |c: char| !c.is_alphanumeric();
    let begins_with_digit = || text.trim_start_matches(signs).starts_with(char::is_numeric);
    // A number that a sheet says is text stands there for a name.
    begins_with_digit() && type_of(text) == Type::Text
        || text.chars().all(|c| MARKS.contains(c))
        || text.starts_with('#') && text.ends_with(['!', '?'])
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether the numbers in the line could be names of columns behind the first one: years, of which a single one stands above what are
/// none, or numbers that count up or down, as in `id,2019,2020` and `id,0,1,2`; a 0 alone is what pandas calls a column without a name.
/// Where the first name is the only word, and the column below it has none, any that rise could be, as in `age,18,25,35`, and three or
/// more that fall.
fn are_headings(fields: &[FirstField], rest: &[Observed]) -> bool {
    let alike = || fields.iter().zip(rest).filter(|(field, _)| field.is_alike());
    let [first, behind @ ..] = fields else { return false };
    if first.is_alike() {
        return false;
    }
    let headings: Option<Vec<f64>> =
        behind.iter().filter(|field| !field.is_null).map(FirstField::number).collect();
    // Of two that fall one would be as good as any other.
    let rise_or_fall = |headings: Vec<f64>| {
        headings.len() > 1 && headings.windows(2).all(|two| two[0] < two[1])
            || headings.len() > 2 && headings.windows(2).all(|two| two[0] > two[1])
    };
    if first.is_word && first.rest != Type::Text && headings.is_some_and(rise_or_fall) {
        return true;
    }
    let numbers: Option<Vec<i64>> = alike().map(|(field, _)| field.text.parse().ok()).collect();
    let Some(numbers) = numbers else { return false };
    let follow = |is_next: fn(i64, i64) -> bool| {
        numbers.len() > 1 && numbers.windows(2).all(|two| is_next(two[0], two[1]))
    };
    let is_year = |number: &i64| (1900..=2100).contains(number);
    let stand_out = || alike().all(|(_, rest)| rest.digits_before() != 4);
    let counts = follow(|one, next| one.checked_add(1) == Some(next))
        || follow(|one, next| next.checked_add(1) == Some(one));
    let are_in_order = || follow(|one, next| one < next) || follow(|one, next| one > next);
    counts || numbers == [0] || numbers.iter().all(is_year) && (are_in_order() || stand_out())
}

/// Whether the line is words, and behind them years that count up or down by one, as in `Country,Code,1960,1961`, above what are none.
fn are_years(fields: &[FirstField], rest: &[Observed]) -> bool {
    let words = fields.iter().take_while(|field| field.is_word).count();
    let year = |field: &FirstField| field.text.parse().ok().filter(|it| (1900..=2100).contains(it));
    let Some(years) = fields[words..].iter().map(year).collect::<Option<Vec<i32>>>() else {
        return false;
    };
    let by = |step| years.windows(2).all(|two| two[1] - two[0] == step);
    words > 0
        && years.len() > 1
        && (by(1) || by(-1))
        && rest[words..].iter().all(|rest| rest.digits_before() != 4)
}

/// What a text of no other type is a way to write, as far as no column is called so: `007`, `+49 170 123`, `1e5`, `1,200`, `inf`,
/// `1.1.2024`.
fn written_otherwise(text: &str) -> Type {
    let parts = |separator: char| {
        let parts: Vec<&str> = text.split(separator).collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3
            && parts.iter().all(is_number)
            && [0, 2].iter().any(|n| parts[*n].len() == 4)
    };
    if ['.', '/', '-'].into_iter().any(parts) {
        return Type::Date;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let is_grouped = |c: char| c.is_ascii_digit() || ".,' \u{a0}".contains(c);
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_number = digits.chars().all(is_grouped)
        && digits.chars().any(|c| c.is_ascii_digit())
        && !exponent.is_empty()
        && exponent.bytes().all(|b| b.is_ascii_digit());
    let is_special =
        ["inf", "infinity", "nan"].iter().any(|special| special.eq_ignore_ascii_case(unsigned));
    // Plain numbers have a type of their own; what is text all the same is text in a sheet.
    match (is_number || is_special) && type_of(text) == Type::Text {
        true => Type::Float,
        false => Type::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::{Spot, is_null_like};
    use crate::proposal::Forms;

    /// The verdict about the first of these lines, where no table is there: whether it is a header, and whether that is proven.
    fn of(text: &str, known: Option<&[String]>) -> (Option<bool>, bool) {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names: Vec<String> = lines.next().unwrap().into_iter().map(str::to_owned).collect();
        let seen = |lines: &mut dyn Iterator<Item = Vec<&str>>| {
            let mut seen = vec![Observed::default(); names.len()];
            for line in lines {
                for (seen, value) in seen.iter_mut().zip(line).filter(|(_, it)| !it.is_empty()) {
                    seen.add(value.as_bytes(), Spot::default());
                }
            }
            seen
        };
        let is_null = |name: &&str| is_null_like(name.as_bytes());
        let trimmed: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        let has_null = trimmed.iter().filter(|it| !it.is_empty()).any(is_null);
        let values = trimmed.iter().map(|it| if is_null(it) { "" } else { *it });
        let first = seen(&mut std::iter::once(values.collect()));
        let values: Vec<Vec<&str>> = lines.collect();
        let seen = seen(&mut values.iter().cloned());
        let is_alike = |(at, name): (usize, &&str)| {
            let Some(mut forms) = Forms::like(name) else { return false };
            let below = values.iter().map(|line| line[at]).filter(|value| !value.is_empty());
            below.for_each(|value| forms.add(value.as_bytes(), None, &mut Vec::new()));
            forms.are_alike() && seen[at].ty() == Type::Text
        };
        let are_alike: Vec<bool> = trimmed.iter().enumerate().map(is_alike).collect();
        let forms = vec![false; names.len()];
        let below = Below { seen: &seen, are_other_forms: &forms, are_alike: &are_alike };
        let verdict = header(&names, &first, has_null, &below, known, &ColumnRequest::default());
        (verdict.header, verdict.proven)
    }

    #[test]
    fn a_line_with_values_like_the_others_is_no_header_whatever_its_words() {
        for (text, header, proven) in [
            ("id,name\n1,Ann", true, true),
            ("#,%\n1,2", true, true),
            ("id,1st,18-24\n1,2,3", true, true),
            ("id,2019,2020\n1,5,6", true, false),
            ("id,2019,2021\n1,5.5,6", true, false),
            ("id,1,2,3\n1,0.5,0.25,4", true, false),
            ("date,101,205,309\n2024-01-01,5,6,7", true, false),
            ("age,18,25,35\n1,5,6,7", true, false),
            ("step,0.1,0.5,0.9\n1,5.5,6.5,7.5", true, false),
            ("t,-10,0,,10\n1,5,6,7,8", true, false),
            ("rank,2015,2020\n1,1523,1600", true, false),
            ("rank,country,2015,2020\n1,France,1523,1600", true, false),
            ("rank,country,2023,2022,2021\n1,France,1523,1600,1700", true, false),
            ("month,12,11,10\n1,5,6,7", true, false),
            ("step,0.9,0.5,0.1\n1,5.5,6.5,7.5", true, false),
            ("year,0\n2019,12\n2020,15", true, false),
            ("date,close,0\n2024-01-01,1.5,3", true, false),
            ("rank,country,2015\n1,France,1523", false, false),
            ("rank,country,15,20\n1,France,23,16", false, false),
            ("age,18,35,25\n1,5,6,7", false, false),
            ("age,18,18\n1,5,6", false, false),
            ("age,18\n1,5", false, false),
            ("unknown,Ann,18,25\n1,Bob,5,6", false, false),
            ("Ann,18,25\nBob,5,6", false, false),
            ("id,-9223372036854775808,5,4\n1,2,3,4", false, false),
            ("id,9223372036854775807,-9223372036854775808\n1,2,3", false, false),
            ("id,2024-01-01\n1,5", true, false),
            ("name,town\na,b", true, false),
            ("1,00501,x\n2,10001,y", false, false),
            ("007,1\n8,2", false, true),
            ("1,Ann,unknown,2024-01-01,10.5\n2,Bob,5,2024-01-02,11.5", false, false),
            ("2019,unknown\n2020,5", false, false),
            ("Ann,2019,unknown\nBob,2020,5", false, false),
            ("country,2019,2020\nFrance,5,6", true, false),
            ("country,code,2019,2020,2021\nFrance,FRA,5.5,,7", true, false),
            ("country,2021,2020\nFrance,500,61234\nSpain,5,6", true, false),
            ("country,2019,2021\nFrance,5,6", false, false),
            ("country,2019\nFrance,5", false, false),
            ("country,2019,2020,5\nFrance,5,6,7", false, false),
            ("Ann,2019,2020\nBob,2020,2021", false, false),
            ("1.1.2024,Ann\n2.1.2024,Bob", false, false),
            ("1,1-2\n2,3", false, false),
            ("14:35:00,14:40\n11:30:00,12:00", false, false),
            ("5%,10:00\n6%,11:00", false, false),
            ("0-4,5-9\n1,2", true, false),
            ("0-4,5-9\n1,x", false, false),
            ("id,100022,100025\nid1,TRUE,FALSE\nid2,FALSE,TRUE", true, false),
            ("id,100022\nid1,x\nid2,y", false, false),
            ("retries,3\nverbose,true\ncolor,false", false, false),
            ("ann,0,1\nbob,true,false\ncid,true,true", false, false),
            ("ann,5,5\nbob,true,false\ncid,true,true", false, false),
            ("ann,1,2\nbob,[1],[2]\ncid,[3],{}", false, false),
            ("ann,5,7\nbob,true,false", false, false),
            ("item,5\nfoo,2024-01-01", false, false),
            ("100022,100025\nTRUE,FALSE", false, true),
            ("1,2\n3,4", false, true),
        ] {
            assert_eq!(of(text, None), (Some(header), proven), "{text}");
        }
        // A name above numbers says more than a value that others are written as.
        for text in [
            "id,name,http://a.org/b\n1,Anna,https://a.org/x\n2,Ben,https://a.org/y",
            "id,12:00,price\n1,12:10,5\n2,12:20,6",
            "day,9:00 AM,10:00 AM\n1,9:01 AM,10:01 AM\n2,9:02 AM,10:02 AM",
        ] {
            assert_eq!(of(text, None), (Some(true), false), "{text}");
        }
        // Of a table it could be either.
        let known = ["name", "mail"].map(str::to_owned);
        assert_eq!(of("who,url@x.org\nBob,b@x.org\nAnn,a@x.org", Some(&known)).0, None);
        // Values that are of no type, where the others are written alike.
        for (value, other, name) in [
            ("12:30", "13:40", "12:35"),
            ("9:30", "10:05:17", "9:30"),
            ("12:30:15.25", "9:05:00", "12:30:15"),
            ("12:30 PM", "1:05 am", "12:30 PM"),
            ("1/2/2024 12:30", "13/2/2024 00:00", "12:35"),
            ("1/2/2024 12:30:05 PM", "1/12/2024 01:00:00 AM", "12:30 PM"),
            ("2024-01-05 12:00 PM", "2024-01-06 01:30 AM", "2024-01-05 12:00 PM"),
            ("5 Jan 2024", "17 Mar 2024", "5 Jan"),
            ("$5", "$1299.50", "$100"),
            ("5 EUR", "7 EUR", "5 EUR"),
            ("5%", "12.5%", "95%"),
            (
                "7d444840-9dc0-11d1-b245-5ffdce74fad2",
                "00000000-0000-0000-0000-00000000000A",
                "uuid",
            ),
            (
                "d41d8cd98f00b204e9800998ecf8427e",
                "900150983cd24fb0d6963f7d28e17f72",
                "d41d8cd98f00b204",
            ),
            ("10.0.0.1", "192.168.1.255", "ip"),
            ("::1", "fe80::1", "a::b::c"),
            ("10.0.0.0/8", "172.16.0.0/12", "10/8"),
            ("ann@example.org", "b.c@d.example.org", "ann@home"),
            ("https://example.org/", "http://a/b?c", "a://"),
        ] {
            let data = (Some(false), false);
            assert_eq!(of(&format!("{value},Bob\n{other},Ann"), None), data, "{value}");
            assert_eq!(of(&format!(" {value} ,Bob\n {other},Ann"), None), data, "{value}");
            // The same above others is a name: a time in a timetable, a percentile.
            let header = (Some(true), false);
            assert_eq!(of(&format!("who,{name}\nAnn,x1\nBob,x2"), None), header, "{name}");
        }
        for (text, header, proven) in [
            ("train,12:30,13:30\nR1,x,-\nR2,-,x", true, false),
            ("train,12:30,13:30\n1,08:31,09:31\n2,08:32,09:32", true, false),
            ("year,5%,50%,95%\n2019,1.5%,7%,9%\n2020,1.4%,7%,9%", true, false),
            ("group,5%,95%\na,1.5,9\nb,2.5,9", true, false),
            ("item,$100\na,5\nb,6", true, false),
            ("ann,12:30\nbob,13:40", false, false),
            ("y,x\ny,ann\nn,bob", true, false),
            ("id,y\n1,y\n2,n", true, true),
        ] {
            assert_eq!(of(text, None), (Some(header), proven), "{text}");
        }
        for (text, header, proven) in [
            // What rows have where a number is missing is no proof of a header, and a spelling of NULL speaks against one.
            ("Ann,unknown\nBob,5\nCid,6", true, false),
            ("Ann,5 EUR\nBob,5\nCid,6", true, false),
            ("Ann,5kg\nBob,5\nCid,6", true, false),
            ("Ann,<5 mg\nBob,5\nCid,6", true, false),
            ("Ann,0x1F\nBob,5\nCid,6", true, false),
            ("Ann,31-DEC-24\nBob,2024-12-31\nCid,2025-01-01", true, false),
            ("Ann,\u{bd}\nBob,5\nCid,6", true, false),
            ("Ann,*\nBob,5\nCid,6", true, false),
            ("Ann,#REF!\nBob,5\nCid,6", true, false),
            ("1,5 EUR\n2,5\n3,6", false, false),
            ("country,2019 Q1\nFrance,5\nSpain,6", true, false),
            ("id,2019 Q1\n1,5\n2,6", true, true),
            ("id,unknown\n1,5\n2,6", true, true),
            ("country,NA,EU\nx,1,2", true, false),
            ("Ann,(null)\nBob,5\nCid,6", false, false),
            ("Ann,<NULL>,#N/A\nBob,5,6\nCid,6,7", false, false),
            ("Ann,?\nBob,5\nCid,6", false, false),
            ("Ann,.\nBob,5\nCid,6", false, false),
            ("Ann,\\N,\\N\nBob,5,x\nCid,6,y", false, false),
            ("Ann,nan\nBob,x\nCid,y", false, false),
            (",name\n0,Ann\n1,Bob", true, false),
            (",n\n0,5\n1,6", true, true),
            // Blanks that fill fields up say nothing.
            (" 9,a\n10,b\n11,c", false, false),
            ("99 ,SMITH\n100,KING", false, false),
            ("a, 9\nb,10\nc,11", false, false),
            (" 1, 5000\n 2, 6000", false, true),
            (" id, n\n 1, 5000\n 2, 6000", true, false),
            (" id, n\n10,5000\n11,6000", true, true),
            ("a, NULL\nb,10\nc,11", false, false),
        ] {
            assert_eq!(of(text, None), (Some(header), proven), "{text}");
        }
        for odd in ["007", "+4912", "1e5", "-0", "inf", "1 200", "1.1.2024", "1-2"] {
            let verdict = of(&format!("1,{odd},x\n2,5,y\n3,6,z"), None);
            assert_eq!(verdict, (Some(false), false), "{odd}");
        }
    }

    #[test]
    fn where_a_table_is_there_mixed_evidence_decides_nothing() {
        let known = ["id", "name", "n", "d"].map(str::to_owned);
        let of = |text| of(text, Some(&known)).0;
        assert_eq!(of("1,Ann,unknown,2024-01-01\n2,Bob,5,2024-01-02"), None);
        assert_eq!(of("key,2019\n1,5"), None);
        assert_eq!(of("key,who\n1,Ann"), Some(true));
        assert_eq!(of("1,Ann\n2,Bob"), Some(false));
        assert_eq!(of("id,2019\n1,5"), Some(true));
        // So do words that rows have where a number is missing.
        for text in ["Ann,5 EUR\nBob,5", "Ann,NULL\nBob,5", "Ann,unknown\nBob,5"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn some_names_of_a_tables_columns_make_no_row_of_it_a_header() {
        let known = ["id", "name", "value", "city"].map(str::to_owned);
        let of = |text| of(text, Some(&known));
        assert_eq!(of("name,Ann\nage,5"), (Some(true), false));
        assert_eq!(of("1,name,city\n2,open,Rome"), (None, false));
        assert_eq!(of("id,name,size\n1,Ann,x"), (Some(true), true));
        assert_eq!(of("NAME,City\nAnn,Rome"), (Some(true), true));
        assert_eq!(of("key,who\n1,Ann"), (Some(true), false));
        assert_eq!(of("key,size\n1,5"), (Some(true), true));
    }
}
