//! What the server says of a statement and of its rows.

use crate::client::Client;
use crate::session::{self, FIRST, Failure, Refusal, Session, UNDO, state};
use inrush_core::error::Error;
use inrush_core::flow::Code;
use inrush_core::{OnConflict, Retry};
use inrush_net::statement::{Blame, Connection, Done, Named};

impl Connection for Session<'_> {
    type Failure = Failure;

    fn begin(&mut self) -> Result<(), Failure> {
        self.transactions += 1;
        let settings = &self.settings;
        let sql = format!("BEGIN ISOLATION LEVEL READ COMMITTED; {settings}{FIRST}");
        self.execute(sql).map(drop)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        let warning = self.drive(Client::commit)?;
        self.warning = self.warning.take().or(warning);
        Ok(())
    }

    fn undo(&mut self) -> Result<(), Failure> {
        self.execute(UNDO).map(drop)
    }

    fn judge(
        &mut self,
        done: Done,
        rows: usize,
        on_conflict: OnConflict,
    ) -> Result<Option<Blame>, Failure> {
        let rows = rows as u64;
        let counts = match on_conflict {
            // A row that changes another counts as one that is new.
            OnConflict::Fail | OnConflict::Replace | OnConflict::Update => done.affected == rows,
            OnConflict::Skip => done.affected <= rows,
        };
        Ok((!counts).then(|| Blame {
            row: None,
            named: Named::Nothing,
            code: Code::Constraint,
            message: "the server left the row out: a trigger's or a rule's doing (if it puts the row into another table, load into that one, \
                      or disable the trigger)"
                .to_owned(),
        }))
    }

    fn blame(&self, failure: &Failure) -> Option<Blame> {
        let refused = failure.refusal()?;
        let code = fault_code(refused)?;
        if code == Code::DuplicateKey {
            self.repeated.set(self.repeated.get() + 1);
        }
        if self.seeks(refused).is_some() {
            return None;
        }
        let mut message = refused.message.clone();
        if let Some(detail) = &refused.detail {
            message.push_str(": ");
            message.push_str(detail.trim_end_matches('.'));
        }
        let key = || match key_named(refused.detail.as_deref()?)?.as_slice() {
            [column] => Some(column.clone()),
            _ => None,
        };
        let column = refused.column.clone().or_else(key);
        message.push_str(&format!(" (SQLSTATE {})", refused.state));
        if self.own_key(refused).is_some_and(|key| !key.is_deferrable) {
            message.push_str(
                "; rows that come later in the source count only where the key is DEFERRABLE",
            );
        }
        let named = column.map_or(Named::Nothing, Named::Column);
        Some(Blame { row: refused.row, named, code, message })
    }

    fn retry(&self, failure: &Failure, many: bool) -> Option<Retry> {
        if let Failure::Server(refused) = failure
            && let Some(retry) = self.seeks(refused)
        {
            return Some(retry);
        }
        match state(failure) {
            // Lanes wait for each other only where they write the same key.
            "40P01" | "55P03" if many => Some(Retry::InOrder(None)),
            // The server finds no such file; COPY isn't to be had for this table.
            // Where a function says so, another statement would hear the same.
            "58P01" | "42809" | "0A000"
                if failure.refusal().and_then(|refused| session::function(refused)).is_none() =>
            {
                Some(Retry::GaveUp)
            }
            _ => None,
        }
    }

    fn explain(&self, failure: Failure) -> Error {
        let is_out_of_numbers = failure.refusal().is_some_and(|refused| is_out_of_numbers(refused));
        let error = Session::explain(self, failure);
        match is_out_of_numbers {
            true => error
                .advise("the sequence has no number left for a row: give the column a type with more, and the sequence too (ALTER SEQUENCE ... AS bigint)")
                .advise("a statement that is taken back, for a bad row in it, uses numbers up for good, as this load has: set the sequence back (setval), and --set rows_per_statement=1 takes one for each row"),
            false => error,
        }
    }
}

/// Whether a sequence has given its last number, which is no fault of the row that asked for one. RAISE may take that code as well.
fn is_out_of_numbers(refused: &Refusal) -> bool {
    refused.state == "2200H" && refused.routine == "nextval_internal"
}

/// Classes of troubles that are the server's, and of no value.
const TROUBLES: [&str; 5] = ["08", "40", "53", "57", "58"];

/// The classes of the server's own SQLSTATEs. With any other a function refuses a row that is not written in PL/pgSQL.
const CLASSES: [&str; 44] = [
    "00", "01", "02", "03", "08", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "10", "20", "21", "22",
    "23", "24", "25", "26", "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D", "3F", "40",
    "42", "44", "53", "54", "55", "57", "58", "72", "F0", "HV", "P0", "XX",
];

/// What an error says of a row, by its SQLSTATE (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); `None` when it
/// says nothing of one.
pub(super) fn fault_code(refused: &Refusal) -> Option<Code> {
    let state = refused.state.as_str();
    Some(match state {
        _ if is_out_of_numbers(refused) => return None,
        "23505" => Code::DuplicateKey,
        "23502" => Code::NotNull,
        "23503" | "23001" => Code::ForeignKey,
        "22003" | "22008" | "22015" => Code::Range,
        // Too long for the column, for an index, for a page; too deep for the server's stack, as documents in documents may be.
        "22001" | "22026" | "54000" | "54001" => Code::TooLong,
        "22021" | "22P05" => Code::Utf8,
        // Two rows of one statement want to change the same row; WITH CHECK OPTION; a policy of row-level security.
        "21000" | "44000" => Code::Constraint,
        "42501" if refused.routine == "ExecWithCheckOptions" => Code::Constraint,
        // What types with a language of their own say of a value: tsquery, jsonpath, ltree.
        "42601" => Code::Type,
        // RAISE of a trigger, which takes any code that its author likes.
        _ if refused.routine == "exec_stmt_raise" => Code::Constraint,
        // A message that isn't what COPY wants: ours.
        "22P04" => return None,
        _ => match state.get(..2)? {
            "22" => Code::Type,
            "23" | "27" | "38" | "39" | "P0" => Code::Constraint,
            class if !CLASSES.contains(&class) => Code::Constraint,
            // COPY was at a value: one that names something which isn't there, of regclass and its like, or that its type refuses
            // without a code of its own.
            class if is_at_value(refused) && !TROUBLES.contains(&class) => Code::Type,
            _ => return None,
        },
    })
}

/// Whether COPY says that it was at a value.
fn is_at_value(refused: &Refusal) -> bool {
    refused.row.is_some() && refused.column.is_some()
}

/// The columns of `Key (a, "b c")=(5, x) already exists`, in whatever language the server speaks; `None` where the message names no
/// columns, such as of an expression.
pub(super) fn key_named(message: &str) -> Option<Vec<String>> {
    // A quoted name may hold what else would end it.
    let (end, _) = message.match_indices(")=(").next()?;
    let (start, _) = message[..end].match_indices('(').next_back()?;
    let columns = message[start + 1..end].split(", ").map(|name| {
        match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            Some(quoted) => Some(quoted.replace("\"\"", "\"")),
            None => (!name.contains([' ', ')', ':'])).then(|| name.to_owned()),
        }
    });
    columns.collect()
}

/// The same for a key that we know.
pub(super) fn repeated(words: &str, key: &[String], values: &str) -> String {
    let key = key.join(", ");
    format!("{words}: Key ({key})=({values}) already exists (SQLSTATE 23505)")
}

/// The same for a foreign key that refers to no row.
pub(super) fn not_present(words: &str, key: &[String], values: &str, parent: &str) -> String {
    let key = key.join(", ");
    format!("{words}: Key ({key})=({values}) is not present in table \"{parent}\" (SQLSTATE 23503)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_key_is_told_by_its_columns() {
        let named = |text: &str| key_named(text).map(|names| names.join("|"));
        assert_eq!(named("Key (id)=(5) already exists.").as_deref(), Some("id"));
        assert_eq!(
            named("Schlüssel »(\"Order Id\")=(5)« existiert bereits.").as_deref(),
            Some("Order Id")
        );
        assert_eq!(
            named("Key (a, \"b\"\"c\")=(1, )=(2) already exists.").as_deref(),
            Some("a|b\"c")
        );
        assert_eq!(named("Key (lower(a))=(x) already exists."), None);
        assert_eq!(named("nothing"), None);
        let key = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            repeated("no", &key, "1, x"),
            "no: Key (a, b)=(1, x) already exists (SQLSTATE 23505)"
        );
    }
}
