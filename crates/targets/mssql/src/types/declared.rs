//! Types as the catalogue has them, and as tables are made with.

use inrush_core::Type;

/// Characters without end.
pub(crate) const TEXT: &str = "nvarchar(max)";

/// Digits of a decimal at most.
pub(super) const PRECISION_MAX: u16 = 38;

/// The type of a column in a table that the load makes.
pub(crate) fn spell(ty: Type) -> String {
    match ty {
        Type::Integer => "bigint".to_owned(),
        Type::Float => "float(53)".to_owned(),
        Type::Decimal { precision: precision @ 1..=PRECISION_MAX, scale } => {
            format!("decimal({precision},{scale})")
        }
        // One that no decimal type holds is kept as text.
        Type::Decimal { .. } => TEXT.to_owned(),
        Type::Boolean => "bit".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Timestamp { zone: false } => "datetime2(7)".to_owned(),
        Type::Timestamp { zone: true } => "datetimeoffset(7)".to_owned(),
        Type::Time => "time(7)".to_owned(),
        Type::Uuid => "uniqueidentifier".to_owned(),
        Type::Text | Type::Interval | Type::Json | Type::TimestampNs { .. } => TEXT.to_owned(),
        Type::Bytes => "varbinary(max)".to_owned(),
    }
}

/// A type taken apart: `varchar(20) code page 1252`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    /// What stands in parentheses; `None` for `max`, and where nothing does.
    pub(super) numbers: (Option<u32>, Option<u32>),
    pub(super) is_max: bool,
    /// The code page of its collation.
    pub(super) code_page: Option<u32>,
}

impl<'a> Declared<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let (text, code_page) = match text.split_once(" code page ") {
            Some((text, page)) => (text, page.parse().ok()),
            None => (text, None),
        };
        let (name, inner) = text.split_once('(').unwrap_or((text, ""));
        let inner = inner.trim_end_matches(')');
        let mut parts = inner.split(',').map(|part| part.trim().parse().ok());
        let numbers = (parts.next().flatten(), parts.next().flatten());
        Self { name: name.trim(), numbers, is_max: inner == "max", code_page }
    }

    /// The type without the code page, as SQL has it.
    pub(super) fn sql(text: &str) -> &str {
        text.split_once(" code page ").map_or(text, |(sql, _)| sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_taken_apart() {
        let parsed = Declared::parse("varchar(20) code page 1252");
        assert_eq!(
            (parsed.name, parsed.numbers.0, parsed.code_page),
            ("varchar", Some(20), Some(1252))
        );
        let parsed = Declared::parse("nvarchar(max)");
        assert!(parsed.is_max && parsed.numbers == (None, None));
        assert_eq!(Declared::parse("decimal(10,2)").numbers, (Some(10), Some(2)));
        assert_eq!(Declared::sql("char(2) code page 65001"), "char(2)");
    }
}
