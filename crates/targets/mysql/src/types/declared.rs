//! Types as the server spells them, and back.

use inrush_core::Type;

/// A declared type, taken apart: `decimal(10,2) unsigned zerofill`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declared<'a> {
    /// `decimal`, in lower case.
    pub(crate) name: String,
    /// `10,2`; empty when there are none.
    arguments: &'a str,
    pub(crate) unsigned: bool,
    pub(super) zerofill: bool,
    /// In lower case; `None` for the load's own, utf8mb4.
    pub(crate) charset: Option<String>,
    /// In lower case, where it is named.
    pub(super) collation: Option<String>,
    /// The column's comment says that its moments are those of UTC.
    pub(super) utc: bool,
    /// The only one of a column of geometries, and what its numbers are.
    pub(super) srid: Option<u32>,
    pub(super) latitude_first: bool,
    pub(super) degrees: bool,
}

impl<'a> Declared<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let text = text.trim();
        let end = text.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let (arguments, tail) = match rest.strip_prefix('(') {
            Some(rest) => rest.split_at(closing(rest)),
            None => ("", rest),
        };
        let tail = tail.strip_prefix(')').unwrap_or(tail).to_ascii_lowercase();
        let words: Vec<&str> = tail.split_whitespace().collect();
        let after = |names: &[&str]| {
            let at = words.windows(names.len()).position(|window| window == names)?;
            words.get(at + names.len()).map(|word| (*word).to_owned())
        };
        Self {
            name: name.to_ascii_lowercase(),
            arguments,
            unsigned: words.contains(&"unsigned") || words.contains(&"zerofill"),
            zerofill: words.contains(&"zerofill"),
            charset: after(&["character", "set"]).or_else(|| after(&["charset"])),
            collation: after(&["collate"]),
            utc: after(&["comment"]).is_some_and(|comment| comment == "'utc'"),
            srid: after(&["srid"]).and_then(|srid| srid.parse().ok()),
            latitude_first: tail.contains(LATITUDE_FIRST),
            degrees: tail.contains(DEGREES),
        }
    }

    /// The numbers in parentheses.
    pub(crate) fn numbers(&self) -> (Option<u32>, Option<u32>) {
        let mut numbers = self.arguments.split(',').map(|number| number.trim().parse().ok());
        (numbers.next().flatten(), numbers.next().flatten())
    }

    /// The members of an enum or a set.
    ///
    /// The server doubles quotes in them, and writes a backslash before what a terminal or a script would stumble over.
    pub(crate) fn members(&self) -> Vec<Box<[u8]>> {
        let mut members = Vec::new();
        let mut member: Option<Vec<u8>> = None;
        let mut bytes = self.arguments.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match (&mut member, byte) {
                (None, b'\'') => member = Some(Vec::new()),
                (None, _) => {}
                (Some(text), b'\'') if bytes.next_if_eq(&b'\'').is_some() => text.push(b'\''),
                (Some(_), b'\'') => members.extend(member.take().map(Vec::into_boxed_slice)),
                (Some(text), b'\\') => text.push(match bytes.next() {
                    Some(b'0') => 0,
                    Some(b'n') => b'\n',
                    Some(b'r') => b'\r',
                    Some(byte) => byte,
                    None => b'\\',
                }),
                (Some(text), byte) => text.push(byte),
            }
        }
        members
    }
}

/// Where the parenthesis closes that was opened before `text`.
fn closing(text: &str) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'\'' => quoted = !quoted,
            b')' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// What a declared type says about its values.
pub(crate) fn declared(text: &str) -> Type {
    let declared = Declared::parse(text);
    let numbers = declared.numbers();
    let text_or_bytes = match declared.charset.as_deref() {
        Some("binary") => Type::Bytes,
        _ => Type::Text,
    };
    match declared.name.as_str() {
        "bool" | "boolean" => Type::Boolean,
        "tinyint" | "bit" if numbers.0 == Some(1) && !declared.zerofill => Type::Boolean,
        "tinyint" | "smallint" | "mediumint" | "int" | "integer" | "bigint" | "year" | "bit" => {
            Type::Integer
        }
        "float" | "double" | "real" => Type::Float,
        "decimal" | "numeric" | "dec" | "fixed" => {
            let precision = numbers.0.unwrap_or(10) as u16;
            Type::Decimal { precision, scale: numbers.1.unwrap_or(0) as u16 }
        }
        "date" => Type::Date,
        "datetime" => Type::Timestamp { zone: declared.utc },
        "timestamp" => Type::Timestamp { zone: false },
        "json" => Type::Json,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => text_or_bytes,
        "time" | "enum" | "set" | "uuid" | "inet4" | "inet6" => Type::Text,
        // Binary strings, geometries, and what no text can be loaded into.
        _ => Type::Bytes,
    }
}

/// Behind the SRID of a column of geometries: the server's texts have latitude first, and its numbers are degrees.
pub(crate) const LATITUDE_FIRST: &str = " /* latitude first */";
pub(crate) const DEGREES: &str = " /* degrees */";

/// Behind the type of a column whose moments are those of UTC.
pub(crate) const UTC: &str = " comment 'UTC'";

/// The type of a column in a table that the load makes. `fractions`: the server keeps fractions of seconds. `key`: the column is
/// part of a key, which takes 767 bytes at the worst, 191 characters of four.
pub(crate) fn spell(ty: Type, fractions: bool, key: bool) -> String {
    match ty {
        Type::Integer => "bigint".to_owned(),
        Type::Float => "double".to_owned(),
        Type::Decimal { precision: 0, .. } => "decimal(65,30)".to_owned(),
        Type::Decimal { precision, scale } if precision <= 65 && scale <= 30 => {
            format!("decimal({precision},{scale})")
        }
        Type::Boolean => "tinyint(1)".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Timestamp { zone } => {
            // The type keeps no zone; the comment tells the next load, and people, which one it is.
            let (digits, zone) = (if fractions { "(6)" } else { "" }, if zone { UTC } else { "" });
            format!("datetime{digits}{zone}")
        }
        Type::Bytes if key => "varbinary(255)".to_owned(),
        Type::Bytes => "longblob".to_owned(),
        Type::Time => "time(6)".to_owned(),
        Type::Uuid => "uuid".to_owned(),
        Type::Text
        | Type::Interval
        | Type::Json
        | Type::Decimal { .. }
        | Type::TimestampNs { .. } => if key { "varchar(191)" } else { "longtext" }.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_say_what_they_are_for() {
        let decimal = |precision, scale| Type::Decimal { precision, scale };
        for (text, ty) in [
            ("int(11) unsigned", Type::Integer),
            ("INT", Type::Integer),
            ("tinyint(1)", Type::Boolean),
            ("tinyint(4)", Type::Integer),
            ("bit(1)", Type::Boolean),
            ("bit(8)", Type::Integer),
            ("decimal(10,2)", decimal(10, 2)),
            ("decimal", decimal(10, 0)),
            ("float(7,3)", Type::Float),
            ("double unsigned", Type::Float),
            ("date", Type::Date),
            ("datetime(6)", Type::Timestamp { zone: false }),
            ("datetime(6) comment 'UTC'", Type::Timestamp { zone: true }),
            ("timestamp /* mariadb-5.3 */", Type::Timestamp { zone: false }),
            ("varchar(20) character set latin1", Type::Text),
            ("varchar(20) character set binary", Type::Bytes),
            ("enum('char(','x')", Type::Text),
            ("varbinary(16)", Type::Bytes),
            ("json", Type::Json),
            ("time", Type::Text),
            ("year(4)", Type::Integer),
            ("point", Type::Bytes),
        ] {
            assert_eq!(declared(text), ty, "{text}");
        }
    }

    #[test]
    fn members_are_read_as_the_server_writes_them() {
        let parsed = Declared::parse(
            r"enum('a,b','it''s','x)y','back\\slash','\n','') character set latin1 collate latin1_bin",
        );
        let members: Vec<Vec<u8>> = parsed.members().into_iter().map(Vec::from).collect();
        assert_eq!(members, [&b"a,b"[..], b"it's", b"x)y", b"back\\slash", b"\n", b""]);
        assert_eq!(parsed.charset.as_deref(), Some("latin1"));
        assert_eq!(parsed.collation.as_deref(), Some("latin1_bin"));
    }

    #[test]
    fn what_is_spelled_is_declared_to_be_the_same() {
        for ty in [
            Type::Integer,
            Type::Float,
            Type::Decimal { precision: 65, scale: 30 },
            Type::Boolean,
            Type::Date,
            Type::Timestamp { zone: false },
            Type::Text,
            Type::Bytes,
        ] {
            for (fractions, key) in [(false, false), (true, false), (true, true)] {
                assert_eq!(declared(&spell(ty, fractions, key)), ty);
            }
        }
        assert_eq!(spell(Type::Decimal { precision: 66, scale: 2 }, true, false), "longtext");
        assert_eq!(spell(Type::Decimal { precision: 40, scale: 31 }, true, true), "varchar(191)");
        assert_eq!(spell(Type::Timestamp { zone: true }, false, false), "datetime comment 'UTC'");
    }
}
