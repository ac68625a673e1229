//! What a login's rights let it see.

use crate::ddl::quote;
use crate::facts::Unseen;
use crate::indexes::{PLAIN, RESTORE, plainly};
use crate::session::{Failure, Session};
use inrush_net::TextRows;

/// What the server answers; `None` where it refuses, as it does to who lacks a right.
pub(super) fn unless_refused<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Failure::Server(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The login's rights, of which those of roles are the active ones' (<https://dev.mysql.com/doc/refman/8.0/en/show-grants.html>).
pub(super) const SHOW_GRANTS: &str = "SHOW GRANTS";

/// Whether the server surely shows the table's triggers, if it has any.
///
/// # Errors
/// When the connection is lost.
pub(super) fn sees_triggers(session: &mut Session<'_>, table: &str) -> Result<bool, Failure> {
    let database = session.value("SELECT DATABASE()")?.unwrap_or_default();
    let answers = unless_refused(plainly(session, [PLAIN, SHOW_GRANTS, RESTORE]))?;
    Ok(answers.is_some_and(|[_, grants, _]| may_make_triggers(grants, &database, table)))
}

/// Whether the answer to [`SHOW_GRANTS`] says that the login may make triggers on the table: none are shown to who may not
/// (<https://dev.mysql.com/doc/refman/8.0/en/information-schema-triggers-table.html>, <https://mariadb.com/kb/en/show-triggers/>; MariaDB
/// 10.11 shows them all the same, 11.4 does not).
pub(super) fn may_make_triggers(grants: TextRows, database: &str, table: &str) -> bool {
    let grants: Vec<String> = grants.into_iter().flatten().flatten().collect();
    has_right(&grants, "TRIGGER", database, table)
}

/// Whether a login with these grants has a right to the table. A pattern of databases is not looked at: which of several counts, only the
/// server knows (<https://dev.mysql.com/doc/refman/8.0/en/request-access.html>).
fn has_right(grants: &[String], right: &str, database: &str, table: &str) -> bool {
    let database = quote(database);
    let places =
        ["*.*".to_owned(), format!("{database}.*"), format!("{database}.{}", quote(table))];
    let says = |grant: &String, verb: &str, end: &str| {
        let Some((rights, on)) = grant.strip_prefix(verb).and_then(|said| said.split_once(" ON "))
        else {
            return false;
        };
        // A database's name is a pattern, in which backslashes stand before what else would be a wildcard.
        let on = on.replace('\\', "");
        let is_here = |place: &String| {
            on.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with(end))
        };
        rights.split(", ").any(|one| one == right || one == "ALL PRIVILEGES")
            && places.iter().any(is_here)
    };
    grants.iter().any(|grant| says(grant, "GRANT ", " TO "))
        && !grants.iter().any(|grant| says(grant, "REVOKE ", " FROM "))
}

/// Rights to a database by which a login sees all of its tables in the catalogue. By EXECUTE, LOCK TABLES and the like it sees none.
const SEEING: [&str; 13] = [
    "ALL PRIVILEGES",
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "CREATE VIEW",
    "SHOW VIEW",
    "TRIGGER",
];

/// Rights by which it sees the columns of their keys as well.
const SEEING_KEYS: [&str; 5] = ["ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "REFERENCES"];

/// Which foreign keys to tables of the database the login may not see, by its rights.
///
/// # Errors
/// When the connection is lost.
pub(super) fn unseen_keys(session: &mut Session<'_>, database: &str) -> Result<Unseen, Failure> {
    let answers = unless_refused(plainly(session, [PLAIN, SHOW_GRANTS, RESTORE]))?;
    let grants = answers.map_or_else(Vec::new, |[_, grants, _]| {
        grants.into_iter().flatten().flatten().collect::<Vec<String>>()
    });
    Ok(unseen(&grants, database))
}

fn unseen(grants: &[String], database: &str) -> Unseen {
    let is_global = |grant: &&String| {
        let said = grant.strip_prefix("GRANT ").and_then(|said| said.split_once(" ON "));
        said.is_some_and(|(rights, on)| {
            on.starts_with("*.* TO ") && rights.split(", ").any(|one| SEEING_KEYS.contains(&one))
        })
    };
    let is_less = grants.iter().any(|grant| grant.starts_with("REVOKE "));
    match () {
        () if !is_less && grants.iter().any(|grant| is_global(&grant)) => Unseen::None,
        () if has_any(grants, database, &SEEING_KEYS) => Unseen::Elsewhere {
            makes_tables: ["CREATE", "DROP"]
                .iter()
                .all(|right| has_any(grants, database, &[*right, "ALL PRIVILEGES"])),
        },
        () => Unseen::Anywhere,
    }
}

/// Whether a login with these grants sees all tables of the database, and not those alone that it has a right to.
pub(super) fn sees_all_tables(grants: &[String], database: &str) -> bool {
    has_any(grants, database, &SEEING)
}

/// Whether one of these rights is to the whole database.
fn has_any(grants: &[String], database: &str, seeing: &[&str]) -> bool {
    let of = |verb: &str, end: &str| {
        let rights = grants.iter().filter_map(|grant| {
            let (rights, on) = grant.strip_prefix(verb)?.split_once(" ON ")?;
            let (place, _) = on.rsplit_once(end)?;
            let named = place.strip_suffix(".*")?;
            let pattern = named.trim_matches('`').replace("``", "`");
            (named == "*" || is_like(database, &pattern)).then(|| rights.split(", "))
        });
        rights.flatten().collect::<Vec<&str>>()
    };
    let revoked = of("REVOKE ", " FROM ");
    of("GRANT ", " TO ").iter().any(|right| seeing.contains(right) && !revoked.contains(right))
}

/// Whether the name is as the pattern of a grant, in which % and _ stand for others where no backslash is before them.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    let (first, others) = (rest.next(), rest.as_str());
    let escaped = others.chars().next().filter(|_| first == Some('\\'));
    match (first, escaped) {
        (None, _) => name.is_empty(),
        (Some('%'), _) => {
            name.char_indices().any(|(at, _)| is_like(&name[at..], others)) || is_like("", others)
        }
        (_, Some(own)) => {
            name.strip_prefix(own).is_some_and(|name| is_like(name, &others[own.len_utf8()..]))
        }
        (Some('_'), _) => {
            name.chars().next().is_some_and(|one| is_like(&name[one.len_utf8()..], others))
        }
        (Some(own), _) => name.strip_prefix(own).is_some_and(|name| is_like(name, others)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_are_seen_by_a_right_to_the_database() {
        for (grants, wanted) in [
            (&["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"][..], true),
            (&["GRANT USAGE ON *.* TO `u`@`%`", "GRANT SELECT ON `d_b`.* TO `u`@`%`"], true),
            (
                &[
                    "GRANT USAGE ON *.* TO `u`@`%`",
                    "GRANT INSERT, SHOW VIEW ON `d\\_b`.* TO `u`@`%`",
                ],
                true,
            ),
            (&["GRANT SELECT ON `d%`.* TO `u`@`%`"], true),
            (&["GRANT SELECT ON `%`.* TO `u`@`%`"], true),
            (&["GRANT SELECT ON `d_b`.* TO `r`"], true),
            (&["GRANT SELECT, INSERT ON `d_b`.`t` TO `u`@`%`"], false),
            (&["GRANT SELECT ON `d\\%`.* TO `u`@`%`"], false),
            (&["GRANT SELECT ON `d_bc`.* TO `u`@`%`"], false),
            (
                &[
                    "GRANT SELECT (`a`) ON `d_b`.`t` TO `u`@`%`",
                    "GRANT SELECT ON `other`.* TO `u`@`%`",
                ],
                false,
            ),
            (
                &[
                    "GRANT PROCESS, LOCK TABLES ON *.* TO `u`@`%`",
                    "GRANT EXECUTE, EVENT ON `d_b`.* TO `u`@`%`",
                ],
                false,
            ),
            (&["GRANT `r`@`%` TO `u`@`%`"], false),
            (&["GRANT SELECT ON *.* TO `u`@`%`", "REVOKE SELECT ON `d_b`.* FROM `u`@`%`"], false),
            (&["GRANT SELECT ON *.* TO `u`@`%`", "REVOKE SELECT ON `other`.* FROM `u`@`%`"], true),
        ] {
            let grants: Vec<String> = grants.iter().map(|grant| (*grant).to_owned()).collect();
            assert_eq!(sees_all_tables(&grants, "d_b"), wanted, "{grants:?}");
        }
    }

    #[test]
    fn foreign_keys_are_seen_by_rights_to_the_tables_that_have_them() {
        for (grants, wanted) in [
            (&["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"][..], Unseen::None),
            (&["GRANT PROCESS, SELECT ON *.* TO 'u'@'%'"], Unseen::None),
            (
                &["GRANT SELECT ON *.* TO `u`@`%`", "REVOKE SELECT ON `other`.* FROM `u`@`%`"],
                Unseen::Elsewhere { makes_tables: false },
            ),
            (
                &["GRANT USAGE ON *.* TO `u`@`%`", "GRANT INSERT, CREATE ON `d_b`.* TO `u`@`%`"],
                Unseen::Elsewhere { makes_tables: false },
            ),
            (
                &["GRANT ALL PRIVILEGES ON `d\\_b`.* TO `u`@`%`"],
                Unseen::Elsewhere { makes_tables: true },
            ),
            (
                &["GRANT USAGE ON *.* TO `u`@`%`", "GRANT CREATE, DROP ON `d_b`.* TO `u`@`%`"],
                Unseen::Anywhere,
            ),
            (&["GRANT SELECT, INSERT, DELETE ON `d_b`.`t` TO `u`@`%`"], Unseen::Anywhere),
            (&[], Unseen::Anywhere),
        ] {
            let grants: Vec<String> = grants.iter().map(|grant| (*grant).to_owned()).collect();
            assert_eq!(unseen(&grants, "d_b"), wanted, "{grants:?}");
        }
    }

    #[test]
    fn a_right_is_had_where_a_grant_surely_says_so() {
        for (grants, wanted) in [
            (&["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"][..], true),
            (&["GRANT SELECT, TRIGGER, INSERT ON *.* TO 'u'@'%'"], true),
            (&["GRANT USAGE ON *.* TO `u`@`%`", "GRANT TRIGGER ON `d_b`.* TO `u`@`%`"], true),
            (&["GRANT ALL PRIVILEGES ON `d\\_b`.* TO `u`@`%`"], true),
            (&["GRANT SELECT (`id`), TRIGGER ON `d_b`.`t` TO `u`@`%`"], true),
            (&["GRANT SELECT, INSERT, CREATE, DROP, ALTER ON `d_b`.* TO `u`@`%`"], false),
            (&["GRANT ALL PRIVILEGES ON `d%`.* TO `u`@`%`"], false),
            (&["GRANT TRIGGER ON `d_b`.`other` TO `u`@`%`"], false),
            (&["GRANT TRIGGER ON `d_b2`.* TO `u`@`%`"], false),
            (&["GRANT `TRIGGER`@`%` TO `u`@`%`"], false),
            (&["GRANT TRIGGER ON *.* TO `u`@`%`", "REVOKE TRIGGER ON `d_b`.* FROM `u`@`%`"], false),
            (&["GRANT TRIGGER ON *.* TO `u`@`%`", "REVOKE SELECT ON `d_b`.* FROM `u`@`%`"], true),
            (&[], false),
        ] {
            let grants: Vec<String> = grants.iter().map(|grant| (*grant).to_owned()).collect();
            assert_eq!(has_right(&grants, "TRIGGER", "d_b", "t"), wanted, "{grants:?}");
        }
    }
}
