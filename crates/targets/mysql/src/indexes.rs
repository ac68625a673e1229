//! Secondary indexes of an existing table: a hidden table made like it goes without them while its rows come, and gets them
//! in one go afterwards, each in the server's own words.
//!
//! Only those are left out that take any row: one that is unique may refuse it, and so may an expression or a generated column
//! whose value the index wants. What isn't recognised stays.

use crate::ddl::quote;
use crate::session::{Failure, Session};
use inrush_net::TextRows;

/// What stands between the parentheses of CREATE TABLE, as SHOW CREATE TABLE spells it: columns, keys, constraints.
struct Parts<'s>(Vec<&'s str>);

impl<'s> Parts<'s> {
    /// `None` where the statement is not understood.
    fn of(create: &'s str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut depth = 0;
        let mut from = 0;
        for (at, byte) in syntax(create) {
            match byte {
                b'(' => {
                    depth += 1;
                    if depth == 1 {
                        from = at + 1;
                    }
                }
                b',' if depth == 1 => {
                    parts.push(create[from..at].trim());
                    from = at + 1;
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        parts.push(create[from..at].trim());
                        return Some(Self(parts));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Names of columns, in backticks, of whose definition `is_meant` holds, texts in it left out.
    fn columns(&self, is_meant: impl Fn(&str) -> bool) -> Vec<&'s str> {
        let columns = self.0.iter().filter(|part| part.starts_with('`'));
        let columns = columns.filter_map(|column| {
            let words: String = syntax(column).map(|(_, byte)| char::from(byte)).collect();
            is_meant(&words).then(|| name(column))?
        });
        columns.collect()
    }
}

/// What a table has besides its columns and their types: keys, constraints, and what columns promise.
pub(super) fn beside_columns(create: &str) -> Vec<String> {
    let Some(Parts(parts)) = Parts::of(create) else { return Vec::new() };
    let (columns, others): (Vec<&str>, Vec<&str>) =
        parts.into_iter().partition(|part| part.starts_with('`'));
    let shown = |part: &str| match part.strip_prefix("KEY ") {
        Some(key) => format!("INDEX {}", plain(key)),
        None => plain(part),
    };
    let (keys, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|part| part.starts_with("PRIMARY KEY"));
    let key: Vec<String> = keys.iter().flat_map(|key| names(key)).collect();
    let mut lost: Vec<String> = keys.into_iter().map(shown).collect();
    for column in columns {
        let Some(quoted) = name(column) else { continue };
        let name = plain(quoted);
        let words: String = syntax(column).map(|(_, byte)| char::from(byte)).collect();
        let has = |word: &str| words.contains(word);
        if has(" NOT NULL") && !key.contains(&name) {
            lost.push(format!("NOT NULL on {name}"));
        }
        if has(" GENERATED ALWAYS AS ") || has(" AS (") {
            lost.push(format!("the generated column {name}"));
        }
        if has(" DEFAULT ") && !has(" DEFAULT NULL") {
            lost.push(format!("DEFAULT of {name}"));
        }
        for word in ["AUTO_INCREMENT", "ON UPDATE", "COMMENT", "CHECK"] {
            if has(&format!(" {word}")) {
                lost.push(format!("{word} of {name}"));
            }
        }
    }
    lost.extend(others.into_iter().map(shown));
    if syntax(create).map(|(_, byte)| char::from(byte)).collect::<String>().contains("PARTITION BY")
    {
        lost.push("its partitions".to_owned());
    }
    lost
}

/// Columns that take documents of JSON alone, for a CHECK says so: MariaDB's type of that name is a text with one
/// (<https://mariadb.com/kb/en/json-data-type/>).
pub(super) fn documents(create: &str) -> Vec<String> {
    let Some(Parts(parts)) = Parts::of(create) else { return Vec::new() };
    let checked = parts.iter().filter_map(|part| {
        let (_, checked) = part.strip_suffix("))")?.rsplit_once("CHECK (json_valid(")?;
        (name(checked) == Some(checked)).then(|| unquoted(checked))
    });
    checked.collect()
}

/// What follows the columns and keys: the table's options, without texts and names in quotes, except that those in backticks are
/// words of options too.
pub(super) fn options(create: &str) -> String {
    let options = create[behind_parts(create)..].replace('`', "");
    syntax(&options).map(|(_, byte)| char::from(byte)).collect()
}

/// Where the options begin.
fn behind_parts(create: &str) -> usize {
    let mut depth = 0;
    let end = syntax(create).find(|(_, byte)| {
        depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
        *byte == b')' && depth == 0
    });
    end.map_or(create.len(), |(at, _)| at + 1)
}

/// The statement without the next number of a column that counts by itself: any row uses one up, also one that was never stored.
pub(super) fn without_counter(create: &str) -> String {
    let (parts, options) = create.split_at(behind_parts(create));
    match next_number(create) {
        Some(next) => {
            parts.to_owned() + &options.replacen(&format!(" AUTO_INCREMENT={next}"), "", 1)
        }
        None => create.to_owned(),
    }
}

/// Options that a table which a load makes would not have, and collations of columns: by another one, texts compare otherwise.
pub(super) fn own_options(create: &str) -> Vec<String> {
    let options = options(create);
    let options = options.split("PARTITION BY").next().unwrap_or_default();
    let has_collation = options.contains("COLLATE=");
    let is_own = |option: &&str| match *option {
        "ENGINE=InnoDB" | "COLLATE=utf8mb4_bin" => false,
        // The collation says it as well.
        "CHARSET=utf8mb4" => !has_collation,
        option => option.contains('=') && !option.starts_with("AUTO_INCREMENT="),
    };
    let shown = |option: &str| match option.strip_suffix('=') {
        // A text, which went with its quotes.
        Some(name) => format!("its {name}"),
        None => option.to_owned(),
    };
    let mut own: Vec<String> = options.split_whitespace().filter(is_own).map(shown).collect();
    // https://mariadb.com/kb/en/system-versioned-tables/
    let words: String = syntax(create).map(|(_, byte)| char::from(byte)).collect();
    if words.contains(" WITH SYSTEM VERSIONING") {
        own.push("SYSTEM VERSIONING and its history of rows".to_owned());
    }
    let Some(Parts(parts)) = Parts::of(create) else { return own };
    for column in parts {
        let words: String = syntax(column).map(|(_, byte)| char::from(byte)).collect();
        let rest = words.split_once(" COLLATE ").map_or("", |(_, rest)| rest);
        let collation = rest.split(' ').next().unwrap_or_default();
        if let Some(name) = name(column)
            && !matches!(collation, "" | "utf8mb4_bin")
        {
            own.push(format!("COLLATE {collation} of {}", plain(name)));
        }
    }
    own
}

/// Bytes outside of quotes, and where they are. A doubled quote ends a text and begins another, which is as good.
fn syntax(sql: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut within = None;
    let mut escaped = false;
    sql.bytes().enumerate().filter(move |(_, byte)| match within {
        _ if std::mem::take(&mut escaped) => false,
        Some(quote) => {
            escaped = *byte == b'\\' && quote != b'`';
            if *byte == quote {
                within = None;
            }
            false
        }
        None => {
            if matches!(byte, b'`' | b'\'' | b'"') {
                within = Some(*byte);
            }
            within.is_none()
        }
    })
}

/// The name in backticks that the text begins with.
fn name(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while bytes.first() == Some(&b'`') && at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'`', Some(b'`')) => at += 2,
            (b'`', _) => return Some(&text[..=at]),
            _ => at += 1,
        }
    }
    None
}

/// The text, cut at its names in backticks, which are parts of their own.
fn at_names(sql: &str) -> Vec<&str> {
    let (mut parts, mut from, mut behind) = (Vec::new(), 0, 0);
    let mut within = None;
    let mut escaped = false;
    for (at, byte) in sql.bytes().enumerate() {
        match within {
            _ if at < behind || std::mem::take(&mut escaped) => {}
            Some(_) if byte == b'\\' => escaped = true,
            Some(quote) if byte == quote => within = None,
            None if matches!(byte, b'\'' | b'"') => within = Some(byte),
            None if byte == b'`' => {
                let Some(name) = name(&sql[at..]) else { break };
                parts.extend([&sql[from..at], name]);
                behind = at + name.len();
                from = behind;
            }
            _ => {}
        }
    }
    parts.push(&sql[from..]);
    parts
}

/// The name that is meant by one in backticks.
fn unquoted(name: &str) -> String {
    name[1..name.len() - 1].replace("``", "`")
}

/// The names in backticks of a text, as they are meant.
fn names(sql: &str) -> Vec<String> {
    at_names(sql).into_iter().filter(|part| part.starts_with('`')).map(unquoted).collect()
}

/// A text with its names as they are meant.
fn plain(sql: &str) -> String {
    let shown = |part: &str| match part {
        "," => ", ".to_owned(),
        part if part.starts_with('`') => unquoted(part),
        part => part.to_owned(),
    };
    at_names(sql).into_iter().map(shown).collect()
}

/// The names of the columns that a plain index is over; `None` for every other part of a table.
fn plain_index(part: &str) -> Option<Vec<&str>> {
    // What the server says in another character set than UTF-8 comes here with replacement characters.
    if part.contains('\u{fffd}') {
        return None;
    }
    let rest = part.strip_prefix("KEY ")?;
    let mut rest = rest[name(rest)?.len()..].strip_prefix(" (")?;
    let mut columns = Vec::new();
    loop {
        // An expression has no name.
        let column = name(rest)?;
        columns.push(column);
        rest = &rest[column.len()..];
        if let Some(length) = rest.strip_prefix('(') {
            rest = length.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(')')?;
        }
        rest = rest.strip_prefix(" DESC").unwrap_or(rest);
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return rest.starts_with(')').then_some(columns),
        }
    }
}

/// Definitions of the indexes that can be built after the rows, in the table's order.
pub(super) fn deferrable(create: &str) -> Vec<String> {
    let Some(parts) = Parts::of(create) else { return Vec::new() };
    let generated = parts.columns(|words| words.contains(" AS ("));
    let counting = parts.columns(|words| words.contains(" AUTO_INCREMENT"));
    // A column that counts by itself has to be the first of some key: of another one, or else of the first index.
    let begins = |column: &str, key: &str| key.contains(&format!(" ({column}"));
    let is_unique =
        |part: &&&str| part.starts_with("PRIMARY KEY") || part.starts_with("UNIQUE KEY");
    let mut uncounted: Vec<&str> = counting
        .into_iter()
        .filter(|column| !parts.0.iter().filter(is_unique).any(|key| begins(column, key)))
        .collect();
    let mut found = Vec::new();
    for part in &parts.0 {
        let Some(columns) = plain_index(part) else { continue };
        let counts = uncounted.iter().position(|column| columns[0] == *column);
        if let Some(at) = counts {
            uncounted.remove(at);
        } else if !columns.iter().any(|column| generated.contains(column)) {
            found.push((*part).to_owned());
        }
    }
    found
}

/// The server's next number for a column that counts by itself.
pub(super) fn next_number(create: &str) -> Option<u64> {
    let options = options(create);
    let number = options.split(' ').find_map(|option| option.strip_prefix("AUTO_INCREMENT="))?;
    number.parse().ok()
}

/// Whether a table made like this one would have other names for its CHECK constraints: MySQL numbers them anew, under the new table's
/// name, and names those alone after a table that is renamed which it has named so
/// (<https://dev.mysql.com/doc/refman/8.0/en/create-table-check-constraints.html>). MariaDB keeps the names.
pub(super) fn renames_checks(create: &str, table: &str) -> bool {
    let Some(Parts(parts)) = Parts::of(create) else { return true };
    let checks = parts.iter().filter_map(|part| part.strip_prefix("CONSTRAINT "));
    let checks = checks.filter_map(name_before_check);
    (1..).zip(checks).any(|(number, name)| name != quote(&format!("{table}_chk_{number}")))
}

/// The name of a constraint that is a CHECK.
fn name_before_check(constraint: &str) -> Option<&str> {
    name(constraint).filter(|name| constraint[name.len()..].starts_with(" CHECK "))
}

/// Has the server write names in backticks, whatever its settings.
pub(super) const PLAIN: &str = "SET @inrush_sql_mode = @@SESSION.sql_mode, SESSION sql_mode = '', SESSION sql_quote_show_create = 1";

/// Ends that.
pub(super) const RESTORE: &str = "SET SESSION sql_mode = @inrush_sql_mode";

/// SHOW CREATE TABLE, spelt in one way whatever the settings.
pub(super) fn show(session: &mut Session<'_>, table: &str) -> Result<String, Failure> {
    let [_, rows, _] = plainly(session, [PLAIN, &show_create(table), RESTORE])?;
    Ok(created(rows))
}

/// The statement for it.
pub(super) fn show_create(table: &str) -> String {
    format!("SHOW CREATE TABLE {}", quote(table))
}

/// Its answer.
pub(super) fn created(rows: TextRows) -> String {
    rows.into_iter().flatten().nth(1).flatten().unwrap_or_default()
}

/// The answers to statements between [`PLAIN`] and [`RESTORE`], in one round trip.
pub(super) fn plainly<const N: usize>(
    session: &mut Session<'_>,
    statements: [&str; N],
) -> Result<[TextRows; N], Failure> {
    let answers = session.tables(statements);
    if answers.is_err() {
        // The first failure is the one that tells why.
        let _ = session.execute(RESTORE);
    }
    answers
}

/// A default that the session's mode does not take (`ER_INVALID_DEFAULT`).
const INVALID_DEFAULT: u16 = 1067;

/// Runs a statement that makes a table like an existing one, or alters it. Whoever made that one may have had another mode: a default of
/// `0000-00-00` is refused since NO_ZERO_DATE is one of the server's own (<https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html>), and
/// of rows it says nothing.
pub(super) fn define(session: &mut Session<'_>, sql: &str) -> Result<(), Failure> {
    match session.execute(sql) {
        Err(Failure::Server(refused)) if refused.code == INVALID_DEFAULT => {
            plainly(session, [PLAIN, sql, RESTORE]).map(drop)
        }
        done => done.map(drop),
    }
}

/// Whether two tables have the same columns and the same keys. The server names constraints after their table. And it sorts keys
/// (primary, unique, plain, fulltext), so that added ones are where they were except for two sorts which stay: a spatial index and
/// that of a column which counts by itself come before the others then.
fn alike(session: &mut Session<'_>, one: &str, another: &str) -> Result<bool, Failure> {
    Ok(same_parts(&show(session, one)?, &show(session, another)?))
}

fn same_parts(one: &str, another: &str) -> bool {
    let sorted = |create| {
        let Parts(mut parts) = Parts::of(create)?;
        parts.retain(|part| !part.starts_with("CONSTRAINT"));
        parts.sort_unstable();
        Some(parts)
    };
    sorted(one).is_some_and(|parts| Some(parts) == sorted(another))
}

/// One ALTER TABLE for all of them: the rows are read once.
fn add(table: &str, indexes: &[String]) -> String {
    let adds: Vec<String> = indexes.iter().map(|index| format!("ADD {index}")).collect();
    format!("ALTER TABLE {} {}", quote(table), adds.join(", "))
}

/// The same that takes them out again.
pub(super) fn leave(table: &str, indexes: &[String]) -> String {
    let name = |index: &String| name(index.strip_prefix("KEY ")?).map(str::to_owned);
    let drops: Vec<String> =
        indexes.iter().filter_map(name).map(|name| format!("DROP INDEX {name}")).collect();
    format!("ALTER TABLE {} {}", quote(table), drops.join(", "))
}

/// Takes the indexes out of the empty table `hidden`, which was made like `target`, and says whether it could be done. Before,
/// while there are no rows that it could be too late for, they are taken out and added once: whatever the server should not take
/// back in the same words, stays.
pub(super) fn take_out(
    session: &mut Session<'_>,
    hidden: &str,
    target: &str,
    indexes: &[String],
) -> Result<bool, Failure> {
    if !alike(session, hidden, target)? {
        return Ok(false);
    }
    for sql in [leave(hidden, indexes), add(hidden, indexes)] {
        match define(session, &sql) {
            Ok(()) => {}
            Err(Failure::Server(_)) => return Ok(false),
            Err(failure) => return Err(failure),
        }
    }
    if !alike(session, hidden, target)? {
        return Ok(false);
    }
    define(session, &leave(hidden, indexes)).map(|()| true)
}

/// Builds the indexes, and says whether the table `hidden` is now like `target`.
pub(super) fn build(
    session: &mut Session<'_>,
    hidden: &str,
    target: &str,
    indexes: &[String],
) -> Result<bool, Failure> {
    define(session, &add(hidden, indexes))?;
    alike(session, hidden, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(parts: &[&str]) -> String {
        let parts = parts.join(",\n  ");
        format!("CREATE TABLE `t (` (\n  {parts}\n) ENGINE=InnoDB COMMENT='KEY `x` (`y`)'")
    }

    fn found(keys: &[&str]) -> Vec<String> {
        let columns = [
            "`id` int(11) NOT NULL",
            r"`a,b` text DEFAULT NULL COMMENT 'it''s \\ (, AS (1) AUTO_INCREMENT'",
            r"`c``)` varchar(9) DEFAULT '\')'",
            "`v` int(11) GENERATED ALWAYS AS (`id` + 1) VIRTUAL",
        ];
        deferrable(&table(&[&columns, keys].concat()))
    }

    #[test]
    fn plain_indexes_can_wait_in_their_own_words() {
        let plain = [
            "KEY `a` (`id`)",
            "KEY `KEY ``b`` (` (`a,b`(20),`id`) USING BTREE COMMENT 'it''s, (really)'",
            "KEY `d` (`id` DESC,`c``)`(3) DESC) /*!80000 INVISIBLE */",
            "KEY `e` (`c``)`) KEY_BLOCK_SIZE=8 IGNORED",
        ];
        assert_eq!(found(&plain), plain);
        assert_eq!(
            leave("h", &found(&plain)),
            "ALTER TABLE `h` DROP INDEX `a`, DROP INDEX `KEY ``b`` (`, DROP INDEX `d`, DROP INDEX `e`"
        );
    }

    #[test]
    fn names_of_checks_that_a_copy_would_not_keep_are_known() {
        let with = |checks: &[&str]| {
            let parts =
                [&["`a` int", "CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `b` (`c`)"], checks];
            renames_checks(&table(&parts.concat()), "t")
        };
        assert!(!with(&[]));
        assert!(!with(&["CONSTRAINT `t_chk_1` CHECK (1)", "CONSTRAINT `t_chk_2` CHECK (1)"]));
        assert!(with(&["CONSTRAINT `t_chk_2` CHECK (1)"]));
        assert!(with(&["CONSTRAINT `positive` CHECK (1)"]));
        assert!(renames_checks("what is not understood", "t"));
    }

    #[test]
    fn the_next_number_is_an_option_and_no_comment() {
        let create = |options: &str| {
            format!(
                "CREATE TABLE `t` (\n `a` int AUTO_INCREMENT COMMENT 'AUTO_INCREMENT=7'\n) {options}"
            )
        };
        let next = |options: &str| next_number(&create(options));
        assert_eq!(next("ENGINE=InnoDB AUTO_INCREMENT=1000 DEFAULT CHARSET=utf8mb4"), Some(1000));
        assert_eq!(next("ENGINE=InnoDB COMMENT=' AUTO_INCREMENT=8 '"), None);
    }

    #[test]
    fn a_definition_is_the_same_wherever_a_column_goes_on_counting() {
        let create = |counter: &str| {
            format!(
                "CREATE TABLE `t` (\n `a` int COMMENT ' AUTO_INCREMENT=7'\n) ENGINE=InnoDB{counter} COMMENT=' AUTO_INCREMENT=7'"
            )
        };
        assert_eq!(without_counter(&create(" AUTO_INCREMENT=7")), create(""));
        assert_eq!(without_counter(&create("")), create(""));
    }

    #[test]
    fn columns_of_documents_are_those_that_a_check_makes_such() {
        let create = table(&[
            "`a``b` longtext COMMENT 'x' CHECK (json_valid(`a``b`))",
            "`c` longtext COMMENT 'CHECK (json_valid(`c`))'",
            "`d` text",
            "`e` text CHECK (json_valid(`e`) or `e` = 'x')",
            "`f` text CHECK (json_valid(concat(`f`)))",
            "CONSTRAINT `CONSTRAINT_1` CHECK (json_valid(`d`))",
        ]);
        assert_eq!(documents(&create), ["a`b", "d"]);
    }

    #[test]
    fn names_are_shown_as_they_are_meant() {
        let create = table(&[
            "`a``b` int NOT NULL DEFAULT 5",
            "`c` int NOT NULL COMMENT 'it''s `'",
            "PRIMARY KEY (`c`,`x y`)",
            "KEY `k``` (`a``b`,`c`)",
            "CONSTRAINT `n` CHECK (`a``b` <> '`' and `c` > 0)",
        ]);
        assert_eq!(
            beside_columns(&create),
            [
                "PRIMARY KEY (c, x y)",
                "NOT NULL on a`b",
                "DEFAULT of a`b",
                "COMMENT of c",
                "INDEX k` (a`b, c)",
                "CONSTRAINT n CHECK (a`b <> '`' and c > 0)"
            ]
        );
    }

    #[test]
    fn options_that_a_new_table_would_not_have_are_known() {
        let own = |options: &str| {
            own_options(&format!(
                "CREATE TABLE `t` (\n `a` text COLLATE utf8mb4_bin,\n `b` text COLLATE latin1_bin COMMENT ' COLLATE x',\n KEY `k` (`a`)\n) {options}"
            ))
        };
        let of_b = "COLLATE latin1_bin of b";
        assert_eq!(own("ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"), [of_b]);
        assert_eq!(
            own(
                "ENGINE=MyISAM AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='a=b'\n PARTITION BY KEY (`a`)"
            ),
            ["ENGINE=MyISAM", "COLLATE=utf8mb4_general_ci", "its COMMENT", of_b]
        );
        assert_eq!(
            own("ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin WITH SYSTEM VERSIONING"),
            ["SYSTEM VERSIONING and its history of rows", of_b]
        );
    }

    #[test]
    fn keys_that_may_refuse_a_row_stay() {
        let others = [
            "PRIMARY KEY (`id`)",
            "UNIQUE KEY `u` (`id`)",
            "FULLTEXT KEY `f` (`a,b`) /*!50100 WITH PARSER `ngram` */ ",
            "SPATIAL KEY `g` (`a,b`)",
            "KEY `x` ((lower(`c``)`)),`id`)",
            "KEY `y` (`id`,(`id` + 1))",
            "KEY `w` (`id`,`v`)",
            "CONSTRAINT `t_chk_1` CHECK (`id` > 1)",
            "KEY \"q\" (\"id\")",
            "KEY plain (id)",
            "KEY `bad` (`\u{fffd}`)",
        ];
        assert_eq!(found(&others), Vec::<String>::new());
    }

    #[test]
    fn a_column_that_counts_keeps_a_key() {
        let keys = ["KEY `a` (`n`,`id`)", "KEY `b` (`id`)", "KEY `c` (`id`,`n`)"];
        let counts = "`id` int NOT NULL AUTO_INCREMENT";
        let with = |first: &[&str]| deferrable(&table(&[first, &["`n` int"], &keys].concat()));
        assert_eq!(with(&[counts]), [keys[0], keys[2]]);
        assert_eq!(with(&[counts, "UNIQUE KEY `u` (`id`,`n`)"]), keys);
        assert_eq!(with(&[counts, "UNIQUE KEY `u` (`n`,`id`)"]), [keys[0], keys[2]]);
    }

    #[test]
    fn what_is_not_understood_has_no_index_that_can_wait() {
        for create in ["", "CREATE VIEW `v`", "CREATE TABLE `t` (`a` int, KEY `k` (`a`)", "(`", ")"]
        {
            assert_eq!(deferrable(create), Vec::<String>::new(), "{create}");
            assert!(!same_parts(create, create), "{create}");
        }
    }

    #[test]
    fn tables_are_alike_when_columns_and_keys_are() {
        let one = table(&["`a` int", "KEY `k` (`a`)", "KEY `l` (`a`)", "CONSTRAINT `x` CHECK (1)"]);
        let two = table(&["`a` int", "KEY `l` (`a`)", "KEY `k` (`a`)", "CONSTRAINT `y` CHECK (1)"]);
        assert!(same_parts(&one, &two));
        for other in ["KEY `l` (`b`)", "KEY `l` (`a`) IGNORED", "CONSTRAINT `x` CHECK (2)"] {
            assert!(!same_parts(&one, &table(&["`a` int", "KEY `k` (`a`)", other])), "{other}");
        }
    }
}
