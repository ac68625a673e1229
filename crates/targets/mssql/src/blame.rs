//! What the server says of a statement and of its rows.

use crate::session::{Failure, Refusal, Session};
use inrush_core::error::Error;
use inrush_core::flow::Code;
use inrush_core::{OnConflict, Retry};
use inrush_net::statement::{Blame, Connection, Done, Named};

/// Goes before a statement that may have to be taken back, in the same batch or in one of its own.
pub(super) const SAVE: &str = "SAVE TRANSACTION inrush; ";

/// Takes it back. An error may have ended more than the statement, and then there is nothing to go back to.
const UNDO: &str = "IF XACT_STATE() <> 1 BEGIN; THROW 51000, N'the server has taken the whole transaction back', 1; END; \
    ROLLBACK TRANSACTION inrush";

/// Ends the transaction, if there still is one.
pub(super) const COMMIT: &str = "IF XACT_STATE() <> 1 BEGIN; THROW 51000, N'the server has taken the whole transaction back', 1; END; \
    COMMIT TRANSACTION";

/// The number of these.
const TAKEN_BACK: u32 = 51_000;

impl Connection for Session<'_> {
    type Failure = Failure;

    fn begin(&mut self) -> Result<(), Failure> {
        self.execute("BEGIN TRANSACTION")
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.execute(COMMIT)
    }

    fn undo(&mut self) -> Result<(), Failure> {
        self.execute(UNDO)
    }

    fn judge(
        &mut self,
        done: Done,
        rows: usize,
        _on_conflict: OnConflict,
    ) -> Result<Option<Blame>, Failure> {
        Ok((done.affected != rows as u64).then(|| Blame {
            row: None,
            named: Named::Nothing,
            code: Code::Constraint,
            message:
                "the server left the row out: a trigger's doing, or an index's with IGNORE_DUP_KEY"
                    .to_owned(),
        }))
    }

    fn blame(&self, failure: &Failure) -> Option<Blame> {
        let refused = failure.refusal()?;
        let code = fault_code(refused)?;
        let column = column_named(&refused.message);
        let message =
            format!("{} (error {})", refused.message.trim_end_matches('.'), refused.number);
        let named = column.map_or(Named::Nothing, Named::Column);
        Some(Blame { row: refused.row, named, code, message })
    }

    fn retry(&self, _failure: &Failure, _many: bool) -> Option<Retry> {
        None
    }

    fn explain(&self, failure: Failure) -> Error {
        Session::explain(self, failure)
    }
}

/// What an error says of a row, by its number
/// (<https://learn.microsoft.com/en-us/sql/relational-databases/errors-events/database-engine-events-and-errors>); `None` when it says
/// nothing of one.
fn fault_code(refused: &Refusal) -> Option<Code> {
    Some(match refused.number {
        2_601 | 2_627 => Code::DuplicateKey,
        515 => Code::NotNull,
        // The words are SQL's in every language.
        547 if refused.message.contains("FOREIGN KEY") => Code::ForeignKey,
        547 | 550 => Code::Constraint,
        // Of a value for its column, of a row for its page, of a key for its index, of a value of INSERT BULK.
        8_152 | 2_628 | 511 | 1_946 | 4_815 | 4_863 => Code::TooLong,
        // Of numbers, of moments.
        // The next number of an IDENTITY is no value of the row.
        8_115 if refused.message.contains("IDENTITY") => return None,
        220 | 232 | 242 | 244 | 248 | 296 | 517 | 8_115 => Code::Range,
        // Of texts to numbers, to moments, to uniqueidentifier, to types of .NET; XML; JSON.
        235
        | 236
        | 241
        | 245
        | 249
        | 293
        | 295
        | 4_864
        | 6_522
        | 8_114
        | 8_169
        | 9_400..=9_500
        | 13_608..=13_614 => Code::Type,
        // RAISERROR and THROW in triggers.
        number if number >= 50_000 && number != TAKEN_BACK => Code::Constraint,
        _ => return None,
    })
}

/// The column in `... column 'name'...`; `None` where a message of another language says it otherwise.
fn column_named(message: &str) -> Option<String> {
    let (_, rest) = message.rsplit_once("column '")?;
    let (name, _) = rest.split_once('\'')?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_by_their_number() {
        let code = |number, message: &str| {
            fault_code(&Refusal { row: None, number, message: message.to_owned() })
        };
        assert_eq!(code(2627, ""), Some(Code::DuplicateKey));
        assert_eq!(code(547, "conflicted with the FOREIGN KEY constraint"), Some(Code::ForeignKey));
        assert_eq!(code(547, "conflicted with the CHECK constraint"), Some(Code::Constraint));
        assert_eq!(code(2628, ""), Some(Code::TooLong));
        assert_eq!(code(50_000, "no"), Some(Code::Constraint));
        assert_eq!(code(TAKEN_BACK, ""), None);
        assert_eq!(code(1205, ""), None);
        assert_eq!(
            code(8115, "Arithmetic overflow error converting expression to data type int."),
            Some(Code::Range)
        );
        let spent = "Arithmetic overflow error converting IDENTITY to data type smallint.";
        assert_eq!(code(8115, spent), None);
    }

    #[test]
    fn a_message_names_a_column() {
        let named = |message| column_named(message);
        assert_eq!(
            named("Cannot insert the value NULL into column 'name', table 'd.dbo.t'; column does not allow nulls.").as_deref(),
            Some("name")
        );
        assert_eq!(
            named("The INSERT statement conflicted with the CHECK constraint \"c\". The conflict occurred in database \"d\", table \"dbo.t\", column 'id'.").as_deref(),
            Some("id")
        );
        assert_eq!(named("Violation of PRIMARY KEY constraint 'PK_t'."), None);
    }
}
