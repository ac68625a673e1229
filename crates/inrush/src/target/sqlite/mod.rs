//! SQLite, built in: the first load needs no server.

mod bind;
mod cells;
mod ddl;
mod facts;
mod load;
mod session;
mod statement;
mod types;
mod values;

use crate::error::Result;
use crate::plan::{TargetFacts, Type};
use crate::target::{Location, Strategy, Target};

/// SQLite database files.
pub(super) struct Sqlite;

/// Endings that name an SQLite database without a scheme.
const ENDINGS: [&str; 3] = [".db", ".sqlite", ".sqlite3"];

impl Target for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn spelling(&self) -> &'static str {
        "FILE.db, FILE.sqlite, FILE.sqlite3 or sqlite:PATH"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        let lower = text.to_ascii_lowercase();
        let path = match text.strip_prefix("sqlite:") {
            Some(path) => path.strip_prefix("//").unwrap_or(path),
            None if !text.contains("://")
                && ENDINGS.iter().any(|ending| lower.ends_with(ending)) =>
            {
                text
            }
            None => return None,
        };
        (!path.is_empty()).then(|| Location { secret: path.to_owned(), shown: path.to_owned() })
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        &[&bind::Bind, &values::Values, &values::RowSql]
    }

    fn facts(&self, location: &Location, table: &str) -> Result<TargetFacts> {
        facts::gather(location.secret.as_ref(), table)
    }

    fn spell(&self, ty: Type) -> String {
        types::spell(ty).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_claimed() {
        let path = |text| Sqlite.claim(text).map(|location| location.secret);
        assert_eq!(path("weather.db").as_deref(), Some("weather.db"));
        assert_eq!(path("/a/B.SQLITE3").as_deref(), Some("/a/B.SQLITE3"));
        assert_eq!(path("sqlite:weather").as_deref(), Some("weather"));
        assert_eq!(path("sqlite:///tmp/weather").as_deref(), Some("/tmp/weather"));
        assert_eq!(path("mysql://h/x.db"), None);
        assert_eq!(path("weather.csv"), None);
        assert_eq!(path("sqlite:"), None);
    }
}
