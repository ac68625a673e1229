//! SQLite's types: what a declared type means, and how a value is stored so that it stays what it is.
//!
//! The rules of column affinity are those of <https://sqlite.org/datatype3.html>, section 3.1.

use inrush_scan::{self as scan, NumberFault};

use inrush_core::encode::{Day, Typed, has_whole_digits};
use inrush_core::flow::Code;
use inrush_core::value::digits::Digits;
use inrush_core::value::double::{self, Fault, Specials};
use inrush_core::value::rule::{self, Truths};
use inrush_core::{Column, Type};

/// The declared type of a column that a load makes.
///
/// Decimals are declared TEXT: SQLite has no decimal storage, and NUMERIC affinity would turn their digits into a double.
pub(super) fn spell(ty: Type) -> &'static str {
    match ty {
        Type::Integer => "INTEGER",
        Type::Float => "REAL",
        Type::Boolean => "BOOLEAN",
        Type::Date => "DATE",
        Type::Timestamp { .. } | Type::TimestampNs { .. } => "TIMESTAMP",
        Type::Decimal { .. }
        | Type::Text
        | Type::Time
        | Type::Uuid
        | Type::Interval
        | Type::Json => "TEXT",
        Type::Bytes => "BLOB",
    }
}

/// The same in a STRICT table, which has no other types (<https://sqlite.org/stricttables.html>).
pub(super) fn spell_strict(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "INTEGER",
        Type::Date | Type::Timestamp { .. } | Type::TimestampNs { .. } => "TEXT",
        other => spell(other),
    }
}

/// What a declared type says about its values.
pub(super) fn declared(declared: &str) -> Type {
    let upper = declared.trim().to_ascii_uppercase();
    let has = |word: &str| upper.contains(word);
    match affinity(declared) {
        // SQLite finds INT in these words.
        Affinity::Integer if has("POINT") => Type::Decimal { precision: 0, scale: 0 },
        Affinity::Integer if upper.starts_with("INTERVAL") => Type::Text,
        Affinity::Integer => Type::Integer,
        Affinity::Text => Type::Text,
        Affinity::None if upper.is_empty() => Type::Text,
        Affinity::None => Type::Bytes,
        Affinity::Real => Type::Float,
        Affinity::Numeric if upper.starts_with("BOOL") => Type::Boolean,
        Affinity::Numeric if upper == "DATE" => Type::Date,
        Affinity::Numeric if upper.starts_with("DATETIME") || upper.starts_with("TIMESTAMP") => {
            Type::Timestamp { zone: false }
        }
        Affinity::Numeric if upper.starts_with("JSON") => Type::Json,
        Affinity::Numeric if ["DEC", "NUM", "MONEY"].iter().any(|word| upper.starts_with(word)) => {
            Type::Decimal { precision: 0, scale: 0 }
        }
        Affinity::Numeric => Type::Text,
    }
}

/// What SQLite does to a value on its way into a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    Integer,
    Text,
    None,
    Real,
    Numeric,
}

pub(super) fn affinity(declared: &str) -> Affinity {
    let upper = declared.to_ascii_uppercase();
    let has = |word: &str| upper.contains(word);
    if has("INT") {
        Affinity::Integer
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        Affinity::Text
    } else if has("BLOB") || upper.trim().is_empty() {
        Affinity::None
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        Affinity::Real
    } else {
        Affinity::Numeric
    }
}

/// How a column's values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    kind: Kind,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    /// SQLite turns text that looks like a number into one here.
    numeric: bool,
    /// An existing table says that these are days or moments, and programs keep those as numbers, too.
    epochs: bool,
    /// SQLite turns numbers into text here: whatever the value is checked for, it is kept as it is written.
    text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Real,
    /// A number of whichever storage class keeps it exactly.
    Number,
    /// Digits kept as text.
    Digits {
        precision: u16,
        scale: u16,
    },
    Boolean,
    Date,
    Timestamp {
        zone: Option<bool>,
    },
    Text,
    Json {
        /// Whether the load makes it: of an existing one SQLite's own functions take whatever follows the grammar.
        is_own: bool,
    },
    Bytes,
}

/// A value as it will be stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kept {
    Integer(i64),
    Real(f64),
    Text,
    Bytes,
}

/// Values that SQLite may take for equal: those of different classes never are
/// (<https://sqlite.org/datatype3.html>, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Number,
    Text,
    Blob,
}

/// Why a value can't be stored as it is: what sort of fault, and what the column takes.
pub(super) type Misfit = rule::Misfit<'static>;

/// What a whole number has to be in a column of dates or timestamps.
const OTHER_NUMBERS: &str = "a moment of SQLite's (Unix seconds or a Julian day), and --type COLUMN=integer loads it as the number that it is";

/// What a number has to be there that is written as many programs write days.
const SECONDS_OR_DAY: &str = "a moment beyond doubt (as Unix seconds it is in 1970): --date-format COLUMN=%Y%m%d reads it as a day, \
                              and --type COLUMN=integer loads it as the number that it is";

impl Store {
    pub(super) fn of(column: &Column) -> Self {
        let existing = column.declared.as_deref();
        let affinity = affinity(existing.unwrap_or_else(|| spell(column.ty)));
        let kind = match column.ty {
            Type::Integer => Kind::Integer,
            Type::Float => Kind::Real,
            Type::Decimal { precision, scale } if matches!(affinity, Affinity::Text) => {
                Kind::Digits { precision, scale }
            }
            Type::Decimal { .. } => Kind::Number,
            Type::Boolean => Kind::Boolean,
            Type::Date => Kind::Date,
            // An existing table may hold moments with and without an offset: its type doesn't say.
            Type::Timestamp { zone } | Type::TimestampNs { zone } => {
                Kind::Timestamp { zone: column.is_own().then_some(zone) }
            }
            Type::Text | Type::Time | Type::Uuid | Type::Interval => Kind::Text,
            Type::Json => Kind::Json { is_own: column.is_own() },
            Type::Bytes => Kind::Bytes,
        };
        let numeric = matches!(affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric);
        let text = matches!(affinity, Affinity::Text);
        let epochs = existing.is_some() && numeric && !column.is_strict();
        Self { kind, strict: column.is_strict(), numeric, epochs, text }
    }

    /// What most values of the column are, to be asked once and looked for first.
    pub(super) fn common(self) -> Common {
        match self.kind {
            Kind::Text if !self.numeric => Common::Text,
            _ if self.text => Common::Unknown,
            Kind::Integer => Common::Integer,
            Kind::Real => Common::Real,
            Kind::Timestamp { zone: Some(false) } => Common::Moment,
            _ => Common::Unknown,
        }
    }

    /// What all values are stored as, where the column alone says so; SQLite compares integers and doubles as numbers.
    pub(super) fn class(self) -> Option<Class> {
        match self.kind {
            _ if self.text => Some(Class::Text),
            Kind::Integer | Kind::Real | Kind::Number | Kind::Boolean => Some(Class::Number),
            Kind::Date | Kind::Timestamp { .. } => (!self.epochs).then_some(Class::Text),
            Kind::Digits { .. } | Kind::Text | Kind::Json { .. } => {
                (!self.numeric).then_some(Class::Text)
            }
            Kind::Bytes => Some(Class::Blob),
        }
    }

    /// How `value` is stored.
    #[inline(never)]
    pub(super) fn keep(self, value: &[u8]) -> Result<Kept, Misfit> {
        let kept = match self.kind {
            Kind::Integer => self.integer(value),
            Kind::Real => self.real(value),
            Kind::Text if !self.numeric => return Ok(Kept::Text),
            _ => self.other(value),
        };
        if self.text { kept.map(|_| Kept::Text) } else { kept }
    }

    /// How a value is stored that has a type of its own, where its text would be stored as that very value; a text or bytes are
    /// still to be written out. `None` says nothing; ask [`Store::keep`] for the text.
    #[inline(always)]
    pub(super) fn keep_typed(self, typed: Typed) -> Option<Kept> {
        let kept = match (self.kind, typed) {
            (Kind::Integer | Kind::Number, Typed::Integer(number)) => Kept::Integer(number),
            (Kind::Integer | Kind::Number, Typed::Decimal { digits, scale: 0 }) => {
                Kept::Integer(i64::try_from(digits).ok()?)
            }
            (Kind::Real, typed) => Kept::Real(typed.double()?),
            (Kind::Number, Typed::Float(_) | Typed::Decimal { .. }) => match typed.double()? {
                number if self.numeric && becomes_integer(number) => return None,
                number => Kept::Real(number),
            },
            (Kind::Boolean, Typed::Boolean(truth)) => Kept::Integer(i64::from(truth)),
            (Kind::Boolean, Typed::Integer(number @ 0..=1)) if !self.strict => {
                Kept::Integer(number)
            }
            (Kind::Date | Kind::Timestamp { zone: None }, Typed::Date(days))
                if Day::COMMON.contains(&days.into()) =>
            {
                Kept::Text
            }
            (Kind::Timestamp { zone }, Typed::Moment(moment))
                if zone.is_none_or(|zone| zone == moment.zone) && moment.is_common() =>
            {
                Kept::Text
            }
            (Kind::Digits { precision, scale }, Typed::Decimal { digits, scale: written }) => {
                let (precision, scale) = (i64::from(precision), i64::from(scale));
                // A zero without a point counts as a digit.
                let fits = has_whole_digits(digits, written, precision - scale)
                    && i64::from(written) <= scale
                    && (written > 0 || precision > scale);
                if !(fits || precision == 0) {
                    return None;
                }
                Kept::Text
            }
            (Kind::Text, _) if !self.numeric => Kept::Text,
            (Kind::Bytes, _) => Kept::Bytes,
            _ => return None,
        };
        Some(if self.text { Kept::Text } else { kept })
    }

    fn integer(self, value: &[u8]) -> Result<Kept, Misfit> {
        rule::long(value, self.strict).map(Kept::Integer)
    }

    fn real(self, value: &[u8]) -> Result<Kept, Misfit> {
        double::kept(value, self.strict, Specials::Infinities).map(Kept::Real)
    }

    fn other(self, value: &[u8]) -> Result<Kept, Misfit> {
        match self.kind {
            Kind::Number => exact_number(value, self.numeric),
            Kind::Digits { precision, scale } => {
                rule::decimal_text(value, precision, scale).map(|()| Kept::Text)
            }
            Kind::Boolean => rule::boolean(value, self.strict, Truths::Digits)
                .map(|truth| Kept::Integer(truth.into())),
            Kind::Date if scan::is_date(value) => Ok(Kept::Text),
            Kind::Date => self.day_number(value, rule::DATE),
            Kind::Timestamp { zone } => match (scan::timestamp(value), zone) {
                (Some(_), None)
                | (Some(scan::Zone::None), Some(false))
                | (Some(scan::Zone::Offset), Some(true)) => Ok(Kept::Text),
                (None, None) if scan::is_date(value) => Ok(Kept::Text),
                (_, Some(true)) => self.day_number(value, rule::TIMESTAMP_ZONED),
                _ => self.day_number(value, rule::TIMESTAMP),
            },
            Kind::Json { is_own } => {
                if is_own { rule::json(value) } else { rule::json_grammar(value) }?;
                if self.numeric { unchanged_by_affinity(value) } else { Ok(Kept::Text) }
            }
            Kind::Text if self.numeric => unchanged_by_affinity(value),
            Kind::Bytes => Ok(Kept::Bytes),
            Kind::Text | Kind::Integer | Kind::Real => Ok(Kept::Text),
        }
    }

    /// SQLite's own convention for moments in an existing table: Unix seconds or Julian days. What `--type` calls a date is one. What none of
    /// its functions takes for either, such as 20240229101500 and milliseconds, is no moment there, and neither are the words for infinity.
    /// Nor is 20240229, which is seconds of 1970 to SQLite, and hardly ever meant so.
    fn day_number(self, value: &[u8], misfit: Misfit) -> Result<Kept, Misfit> {
        // Julian days are within them. https://sqlite.org/lang_datefunc.html
        const SECONDS: std::ops::Range<f64> = -210_866_760_000.0..253_402_300_800.0;
        if !self.epochs {
            return Err(misfit);
        }
        let kept = exact_number(value, self.numeric).map_err(|_| misfit)?;
        let is_moment = match kept {
            Kept::Integer(number) => SECONDS.contains(&(number as f64)),
            Kept::Real(number) => SECONDS.contains(&number),
            _ => false,
        };
        let is_day = match kept {
            Kept::Integer(number) => rule::is_compact_day(number),
            // 20240229.0 is what programs write of integers among which some are missing.
            Kept::Real(number) => number.fract() == 0.0 && rule::is_compact_day(number as i64),
            _ => false,
        };
        if is_day {
            return Err((misfit.0, SECONDS_OR_DAY));
        }
        match (is_moment, kept) {
            (true, kept) => Ok(kept),
            // Programs keep milliseconds in such columns, and read them as their own.
            (false, Kept::Integer(_)) => Err((misfit.0, OTHER_NUMBERS)),
            (false, _) => Err(misfit),
        }
    }
}

/// What nearly all values of a column are written like, so that one function can tell them at a glance. It is compiled into the
/// loops over columns; for any other value there is [`Store::keep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Common {
    /// [`scan::plain_integer`].
    Integer,
    /// [`scan::plain_decimal`].
    Real,
    /// A timestamp without a zone.
    Moment,
    /// Any text.
    Text,
    /// Nothing is known.
    Unknown,
}

impl Common {
    /// How `value` is stored if it is written as most are.
    #[inline(always)]
    pub(super) fn keep(self, value: &[u8]) -> Option<Kept> {
        match self {
            Self::Integer => scan::plain_integer(value).map(Kept::Integer),
            Self::Real => scan::plain_decimal(value).map(Kept::Real),
            Self::Moment => {
                (scan::timestamp(value) == Some(scan::Zone::None)).then_some(Kept::Text)
            }
            Self::Text => Some(Kept::Text),
            Self::Unknown => None,
        }
    }
}

/// Whether SQLite may make an integer of a double (<https://sqlite.org/datatype3.html#type_affinity>) whose digits are others than those of
/// the shortest text that means it: from 2^53 on doubles are whole, and integers end at 2^63.
fn becomes_integer(number: f64) -> bool {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    const LONG: f64 = 9_223_372_036_854_775_808.0;
    (WHOLE..LONG).contains(&number.abs())
}

/// A number in the storage class that keeps it: SQLite itself would make a double of any text with a point. `is_numeric` says that the
/// column has an affinity for numbers.
fn exact_number(value: &[u8], is_numeric: bool) -> Result<Kept, Misfit> {
    let is_whole = match scan::integer(value) {
        Ok(number) => return Ok(Kept::Integer(number)),
        Err(NumberFault::TooLarge) => true,
        Err(NumberFault::NotANumber) => false,
    };
    let number = match double::double(value, false, Specials::Infinities) {
        Ok(number) => number,
        Err(Fault::Rounded) => {
            return Err((
                Code::Range,
                "an integer of 64 bits, and as a double it would lose digits",
            ));
        }
        Err(fault) => return Err(fault.misfit("a double")),
    };
    if becomes_integer(number)
        && is_numeric
        && let Some(number) = whole(value)
    {
        return Ok(Kept::Integer(number));
    }
    match is_whole || number.is_infinite() || keeps_digits(value, number) {
        true => Ok(Kept::Real(number)),
        false => Err((Code::Range, "a decimal of 15 digits, and as a double it would lose some")),
    }
}

/// The whole number that is written, with a point or an exponent.
fn whole(value: &[u8]) -> Option<i64> {
    let number = Digits::parse(value)?;
    let (first, _) = number.significant()?;
    let (before, behind) = number.size();
    // As many digits as 64 bits have.
    if behind > 0 || before > 19 {
        return None;
    }
    let size = (first..number.point())
        .fold(0_i128, |size, place| size * 10 + i128::from(number.digit(place)));
    i64::try_from(if number.negative { -size } else { size }).ok()
}

/// Whether the double is the number that was written, however it was written. A double keeps any 15 digits, unless it is subnormal.
fn keeps_digits(value: &[u8], number: f64) -> bool {
    let plain = value.strip_prefix(b"+").unwrap_or(value);
    let digits =
        plain.iter().take_while(|b| !matches!(b, b'e' | b'E')).filter(|b| b.is_ascii_digit());
    let significant = digits.skip_while(|b| **b == b'0').count();
    significant <= 15 && !number.is_subnormal() || scan::float_round_trips(plain)
}

/// Text for a column that isn't for numbers by its name but has NUMERIC affinity, such as one declared STRING: there the text
/// itself must survive, not just the number it denotes.
fn unchanged_by_affinity(value: &[u8]) -> Result<Kept, Misfit> {
    // SQLite takes a vertical tab for a blank as well.
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0b;
    let start = value.iter().position(|b| !blank(b)).unwrap_or(value.len());
    let end = value.iter().rposition(|b| !blank(b)).map_or(start, |at| at + 1);
    if matches!(scan::float(&value[start..end]), Err(NumberFault::NotANumber)) {
        return Ok(Kept::Text);
    }
    match (scan::integer(value), scan::float(value)) {
        (Ok(number), _) if scan::is_canonical_integer(value) => Ok(Kept::Integer(number)),
        (_, Ok(number)) if number.to_string().as_bytes() == value && number.fract() != 0.0 => {
            Ok(Kept::Real(number))
        }
        _ => Err((
            Code::Type,
            "kept as it is written by a column of NUMERIC affinity (declare the column TEXT)",
        )),
    }
}

/// A column of each sort, for tests.
#[cfg(test)]
pub(super) fn samples() -> Vec<Column> {
    use inrush_core::Basis;

    let types = [
        Type::Integer,
        Type::Float,
        Type::Decimal { precision: 0, scale: 0 },
        Type::Decimal { precision: 10, scale: 2 },
        Type::Decimal { precision: 2, scale: 2 },
        Type::Decimal { precision: 38, scale: 20 },
        Type::Boolean,
        Type::Date,
        Type::Timestamp { zone: false },
        Type::Timestamp { zone: true },
        Type::Text,
        Type::Json,
        Type::Bytes,
    ];
    let names =
        ["INTEGER", "REAL", "TEXT", "DECIMAL(10,2)", "BOOLEAN", "DATETIME", "STRING", "BLOB"];
    let mut columns = Vec::new();
    for ty in types {
        for declared in std::iter::once(None).chain(names.map(Some)) {
            for pinned in [false, true] {
                let (name, declared) = ("c".to_owned(), declared.map(str::to_owned));
                columns.push(Column {
                    name,
                    ty,
                    declared,
                    basis: if pinned { Basis::Declared } else { Basis::Inferred },
                    required: false,
                });
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::Basis;

    fn column(ty: Type, declared: Option<&str>, pinned: bool) -> Store {
        Store::of(&Column {
            name: "c".to_owned(),
            ty,
            declared: declared.map(str::to_owned),
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        })
    }

    #[test]
    fn declared_types_say_what_they_are_for() {
        let decimal = Type::Decimal { precision: 0, scale: 0 };
        let cases = [
            ("INT", Type::Integer),
            ("unsigned big int", Type::Integer),
            ("VARCHAR(255)", Type::Text),
            ("", Type::Text),
            ("BLOB", Type::Bytes),
            ("double precision", Type::Float),
            ("FLOATING POINT", decimal),
            ("INTERVAL", Type::Text),
            ("DECIMAL(10,2)", decimal),
            ("BOOLEAN", Type::Boolean),
            ("date", Type::Date),
            ("DATETIME", Type::Timestamp { zone: false }),
            ("STRING", Type::Text),
        ];
        for (text, ty) in cases {
            assert_eq!(declared(text), ty, "{text}");
        }
    }

    #[test]
    fn a_guess_takes_only_what_stays_as_written_and_a_promise_takes_the_same_number() {
        let guess = column(Type::Integer, None, false);
        let promise = column(Type::Integer, Some("INTEGER"), true);
        for value in ["007", "+1", "1.0"] {
            assert!(guess.keep(value.as_bytes()).is_err(), "{value}");
            assert!(promise.keep(value.as_bytes()).is_ok(), "{value}");
        }
        for value in ["1.5", "abc", "", "1e5", "0x10", " 1"] {
            assert_eq!(promise.keep(value.as_bytes()).unwrap_err().0, Code::Type, "{value}");
        }
        assert_eq!(promise.keep(b"9223372036854775808").unwrap_err().0, Code::Range);
    }

    #[test]
    fn doubles_are_numbers_or_infinite() {
        let real = column(Type::Float, Some("REAL"), true);
        assert_eq!(real.keep(b"-inf"), Ok(Kept::Real(f64::NEG_INFINITY)));
        let numeric = column(Type::Decimal { precision: 0, scale: 0 }, Some("NUMERIC"), true);
        for (store, whole) in [(real, "9007199254740993"), (numeric, "12345678901234567890")] {
            assert_eq!(store.keep(b"10000000000000000000000"), Ok(Kept::Real(1e22)));
            assert_eq!(store.keep(whole.as_bytes()).unwrap_err().0, Code::Range);
        }
        assert_eq!(real.keep(b"1e5"), Ok(Kept::Real(1e5)));
        assert_eq!(real.keep(b"1e400").unwrap_err().0, Code::Range);
        for value in ["NaN", "1,5", "0x1p3"] {
            assert_eq!(real.keep(value.as_bytes()).unwrap_err().0, Code::Type, "{value}");
        }
    }

    #[test]
    fn decimals_lose_no_digit() {
        let numeric =
            column(Type::Decimal { precision: 0, scale: 0 }, Some("DECIMAL(30,10)"), true);
        assert_eq!(numeric.keep(b"12.50"), Ok(Kept::Real(12.5)));
        assert_eq!(numeric.keep(b"0012"), Ok(Kept::Integer(12)));
        assert_eq!(numeric.keep(b"0.12345678901234567890").unwrap_err().0, Code::Range);
        // Subnormal doubles have fewer digits the smaller they are.
        assert_eq!(numeric.keep(b"1.23456789e-320").unwrap_err().0, Code::Range);
        assert_eq!(numeric.keep(b"2.5e-308"), Ok(Kept::Real(2.5e-308)));
        assert_eq!(numeric.keep(b"5e-324"), Ok(Kept::Real(5e-324)));
        // Whole ones become integers, with all their digits.
        for (value, kept) in [
            ("91179891377001730.0", 91_179_891_377_001_730),
            ("9.117989137700173e+16", 91_179_891_377_001_730),
            ("-9007199254740993.00", -9_007_199_254_740_993),
            ("9223372036854774784.0", i64::MAX - 1023),
            ("00900719925474099300e-2", 9_007_199_254_740_993),
        ] {
            assert_eq!(numeric.keep(value.as_bytes()), Ok(Kept::Integer(kept)), "{value}");
        }
        assert_eq!(numeric.keep(b"9007199254740993.5").unwrap_err().0, Code::Range);
        assert_eq!(numeric.keep(b"9.223372036854776e+18"), Ok(Kept::Real(9.223372036854776e18)));
        let text = column(Type::Decimal { precision: 5, scale: 2 }, None, true);
        assert_eq!(text.keep(b"123.45"), Ok(Kept::Text));
        assert_eq!(text.keep(b"1234.5").unwrap_err().0, Code::Range);
        assert_eq!(text.keep(b"1.234").unwrap_err().0, Code::Range);
    }

    #[test]
    fn text_in_a_column_of_numeric_affinity_stays_or_is_refused() {
        let string = column(Type::Text, Some("STRING"), true);
        assert_eq!(string.keep(b"abc"), Ok(Kept::Text));
        assert_eq!(string.keep(b"7"), Ok(Kept::Integer(7)));
        assert_eq!(string.keep(b"1.5"), Ok(Kept::Real(1.5)));
        for value in
            ["007", " 7", "\x0b7", "1e5", "+7", "1.0", "1.50", ".5", "-0", "9223372036854775808"]
        {
            assert_eq!(string.keep(value.as_bytes()).unwrap_err().0, Code::Type, "{value}");
        }
    }

    #[test]
    fn values_of_a_column_are_of_one_class() {
        let class = |ty, declared, pinned| column(ty, declared, pinned).class();
        assert_eq!(class(Type::Integer, None, false), Some(Class::Number));
        assert_eq!(class(Type::Integer, Some("TEXT"), true), Some(Class::Text));
        assert_eq!(class(Type::Text, Some("BLOB"), true), Some(Class::Text));
        assert_eq!(class(Type::Bytes, Some("BLOB"), true), Some(Class::Blob));
        // By each value.
        assert_eq!(class(Type::Date, Some("DATE"), true), None);
        assert_eq!(class(Type::Text, Some("STRING"), true), None);
    }

    #[test]
    fn a_text_column_keeps_what_is_checked_as_a_number() {
        let text = column(Type::Integer, Some("TEXT"), true);
        assert_eq!(text.keep(b"007"), Ok(Kept::Text));
        assert!(text.keep(b"x").is_err());
    }

    #[test]
    fn whole_numbers_stay_themselves_in_doubles() {
        let real = column(Type::Float, Some("REAL"), true);
        assert_eq!(real.keep(b"9007199254740992"), Ok(Kept::Real(9_007_199_254_740_992.0)));
        assert_eq!(real.keep(b"9007199254740993").unwrap_err().0, Code::Range);
        assert!(real.keep(b"0.1234567890123456789").is_ok());
    }

    /// What is told at a glance is what would have been told after a closer look.
    #[test]
    fn common_values_are_kept_as_any_value_is() {
        let values = "0 -0 7 -7 +7 007 1.0 1.5 -1.50 .5 5. 1e5 12345678 123456789 1234567890123456 12345678901234567 \
                      9223372036854775807 9223372036854775808 40.2103345 -4.3471046 1234567.12345678 12345678.5 \
                      00.5 -0.0 x 1x 1.x 2012-02-29 2013-02-29 true";
        let moments = [
            "",
            "2012-02-29 23:59:59",
            "2012-02-29 23:59",
            "2012-02-29 23:59:59Z",
            "2013-02-29 00:00:00",
        ];
        let types = [
            (Type::Integer, "INTEGER"),
            (Type::Float, "REAL"),
            (Type::Timestamp { zone: false }, "TIMESTAMP"),
            (Type::Timestamp { zone: true }, "TIMESTAMP"),
            (Type::Date, "DATE"),
            (Type::Text, "STRING"),
            (Type::Text, "TEXT"),
        ];
        for (ty, name) in types {
            for declared in [None, Some(name), Some("TEXT"), Some("REAL"), Some("NUMERIC")] {
                for pinned in [false, true] {
                    let store = column(ty, declared, pinned);
                    for value in values.split_whitespace().chain(moments) {
                        let value = value.as_bytes();
                        let shown = value.escape_ascii();
                        if let Some(kept) = store.common().keep(value) {
                            assert_eq!(store.keep(value), Ok(kept), "{store:?} {shown}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn days_exist() {
        let date = column(Type::Date, Some("DATE"), true);
        assert_eq!(date.keep(b"2012-02-29"), Ok(Kept::Text));
        assert_eq!(date.keep(b"2012-02-30").unwrap_err().0, Code::Type);
        assert_eq!(date.keep(b"1352345678"), Ok(Kept::Integer(1_352_345_678)));
        for (ty, name) in [(Type::Date, "DATE"), (Type::Timestamp { zone: false }, "DATETIME")] {
            let moments = column(ty, Some(name), true);
            for beyond in [
                "infinity",
                "-inf",
                "9223372036854775808",
                "-1e300",
                "20240229101500",
                "1709202896000",
                "253402300800",
                "-210866760001",
            ] {
                assert_eq!(moments.keep(beyond.as_bytes()).unwrap_err().0, Code::Type, "{beyond}");
            }
            for day in ["20240229", "19000101", "21001231", "20240229.0"] {
                assert!(moments.keep(day.as_bytes()).unwrap_err().1.contains("%Y%m%d"), "{day}");
            }
            for none in ["20240230", "20241301", "18991231", "21010101", "2024022"] {
                assert!(matches!(moments.keep(none.as_bytes()), Ok(Kept::Integer(_))), "{none}");
            }
            assert_eq!(moments.keep(b"2460000.5"), Ok(Kept::Real(2_460_000.5)));
            assert_eq!(moments.keep(b"253402300799"), Ok(Kept::Integer(253_402_300_799)));
        }
        let string = column(Type::Text, Some("STRING"), true);
        assert_eq!(string.keep(b"infinity"), Ok(Kept::Text));
        let made = column(Type::Timestamp { zone: false }, None, false);
        assert!(made.keep(b"2012-02-29 00:00:00").is_ok());
        assert!(made.keep(b"2012-02-29 00:00:00Z").is_err());
    }
}
