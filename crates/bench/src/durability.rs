//! What a database's settings really promise, whatever a suite says.

use inrush::plan::Durability;
use inrush::target::Setting;

/// The strongest promise that a transaction of an ordinary table can make under these settings; `None` where a database's settings say
/// nothing of it.
///
/// SQLite: <https://sqlite.org/pragma.html#pragma_synchronous>; InnoDB: the manual's page of `innodb_flush_log_at_trx_commit` and
/// `sync_binlog`; PostgreSQL: <https://www.postgresql.org/docs/current/wal-configuration.html> and `synchronous_commit`; DuckDB has no
/// such setting, and syncs its log at each commit: <https://duckdb.org/docs/stable/internals/storage>; SQL Server:
/// <https://learn.microsoft.com/en-us/sql/relational-databases/logs/control-transaction-durability>.
pub(super) fn promised(family: &str, settings: &[Setting]) -> Option<Durability> {
    let get = |name: &str| {
        let found = settings.iter().find(|setting| setting.name == name)?;
        Some(found.value.to_ascii_lowercase())
    };
    let is =
        |name: &str, values: &[&str]| get(name).is_some_and(|is| values.contains(&is.as_str()));
    const ON: &[&str] = &["1", "on", "yes", "true"];
    match family {
        "sqlite" => Some(match (get("journal_mode")?.as_str(), get("synchronous")?.as_str()) {
            // After a crash in the middle of a transaction the file may be damaged.
            ("off" | "memory", _) => Durability::None,
            (_, "2" | "3" | "full" | "extra") => Durability::Durable,
            _ => Durability::Process,
        }),
        "mysql" => Some(match get("innodb_flush_log_at_trx_commit")?.as_str() {
            "1" if is("log_bin", ON) && !is("sync_binlog", &["1"]) => Durability::Process,
            "1" | "3" => Durability::Durable,
            "2" => Durability::Process,
            _ => Durability::None,
        }),
        "postgres" => Some(match (get("fsync")?.as_str(), get("synchronous_commit")?.as_str()) {
            (_, "off") => Durability::None,
            ("off", _) => Durability::Process,
            _ => Durability::Durable,
        }),
        "duckdb" => Some(match get("database")?.as_str() {
            "file" => Durability::Durable,
            _ => Durability::None,
        }),
        "mssql" => Some(match get("delayed_durability")?.as_str() {
            "forced" => Durability::None,
            _ => Durability::Durable,
        }),
        _ => None,
    }
}

/// Whether `is` keeps at least what `promise` promises.
pub(super) fn keeps(is: Durability, promise: Durability) -> bool {
    let strength = |durability| match durability {
        Durability::None => 0,
        Durability::Process => 1,
        Durability::Durable => 2,
    };
    strength(is) >= strength(promise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
        let setting = |(name, value): &(&str, &str)| Setting {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            default: None,
        };
        pairs.iter().map(setting).collect()
    }

    #[test]
    fn settings_say_what_is_promised() {
        use Durability::{Durable, None as Nothing, Process};
        type Pairs<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(&str, Pairs<'_>, Durability)] = &[
            ("sqlite", &[("journal_mode", "wal"), ("synchronous", "2")], Durable),
            ("sqlite", &[("journal_mode", "wal"), ("synchronous", "1")], Process),
            ("sqlite", &[("journal_mode", "delete"), ("synchronous", "0")], Process),
            ("sqlite", &[("journal_mode", "off"), ("synchronous", "2")], Nothing),
            ("mysql", &[("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "OFF")], Durable),
            (
                "mysql",
                &[("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "ON"), ("sync_binlog", "0")],
                Process,
            ),
            ("mysql", &[("innodb_flush_log_at_trx_commit", "0")], Nothing),
            ("postgres", &[("fsync", "on"), ("synchronous_commit", "on")], Durable),
            ("postgres", &[("fsync", "off"), ("synchronous_commit", "on")], Process),
            ("postgres", &[("fsync", "on"), ("synchronous_commit", "off")], Nothing),
            ("duckdb", &[("database", "file"), ("wal_autocheckpoint", "1.0 GiB")], Durable),
            ("duckdb", &[("database", "memory")], Nothing),
            ("mssql", &[("delayed_durability", "ALLOWED")], Durable),
            ("mssql", &[("delayed_durability", "FORCED")], Nothing),
        ];
        for (family, pairs, promise) in cases {
            assert_eq!(promised(family, &settings(pairs)), Some(*promise), "{family} {pairs:?}");
        }
        assert_eq!(promised("csv", &[]), None);
        assert!(keeps(Durable, Process) && !keeps(Nothing, Process));
    }
}
