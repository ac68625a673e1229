//! What the server says of rows, in errors and in warnings.

use crate::ddl;
use crate::session::{BACK_TO_SAVEPOINT, Failure, Refusal, Session, Warning};
use inrush_core::error::Error;
use inrush_core::flow::Code;
use inrush_core::{OnConflict, Retry};
use inrush_net::statement::{Blame, Connection, Done, Named};

impl Connection for Session<'_> {
    type Failure = Failure;

    fn begin(&mut self) -> Result<(), Failure> {
        self.execute("START TRANSACTION").map(drop)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.execute("COMMIT").map(drop)
    }

    fn undo(&mut self) -> Result<(), Failure> {
        self.execute(BACK_TO_SAVEPOINT).map(drop)
    }

    fn judge(
        &mut self,
        done: Done,
        rows: usize,
        on_conflict: OnConflict,
    ) -> Result<Option<Blame>, Failure> {
        let counts = match on_conflict {
            OnConflict::Fail => done.affected == rows as u64,
            // Rows that were there are counted twice or not at all.
            OnConflict::Skip => done.affected <= rows as u64,
            OnConflict::Replace | OnConflict::Update => true,
        };
        if counts && done.warnings == 0 {
            return Ok(None);
        }
        Ok(match self.warning(done.warnings)? {
            Some(Warning { code, message }) if self.is_out_of_numbers(code, &message) => {
                let state = "22003".to_owned();
                return Err(Failure::Server(Box::new(Refusal { code, state, message })));
            }
            Some(warning) => {
                let code = fault_code(warning.code, "").unwrap_or(Code::Constraint);
                Some(blame(code, &warning.message))
            }
            None if counts => None,
            None if done.affected > rows as u64 => {
                // An update that sets nothing counts where it has changed a row all the same.
                let message = "the server changed the existing row: an UPDATE trigger's doing";
                Some(blame(Code::Constraint, message))
            }
            // Servers before MySQL 5.7 leave out a row with a duplicate key without a word.
            None => {
                let message = "the server skipped the row: duplicate key";
                Some(blame(Code::DuplicateKey, message))
            }
        })
    }

    fn blame(&self, failure: &Failure) -> Option<Blame> {
        let refused = failure.refusal()?;
        if ddl::is_of_another_key(refused) {
            let message = "a row of the table has its value of another unique key";
            return Some(blame(Code::DuplicateKey, message));
        }
        if self.is_out_of_numbers(refused.code, &refused.message) {
            return None;
        }
        fault_code(refused.code, &refused.state).map(|code| blame(code, &refused.message))
    }

    fn retry(&self, failure: &Failure, many: bool) -> Option<Retry> {
        match failure.refusal()?.code {
            // Lanes wait for each other only where they write the same key.
            1205 | 1213 if many => Some(Retry::InOrder(None)),
            code if IN_VAIN.contains(&code) => Some(Retry::GaveUp),
            _ => None,
        }
    }

    fn explain(&self, failure: Failure) -> Error {
        Session::explain(self, failure)
    }
}

/// The server, or what stands before it, does not take LOAD DATA from this client: no LOCAL, no FILE privilege, a path that it
/// may not read, not found.
const IN_VAIN: [u16; 8] = [1045, 1148, 1227, 1290, 3948, 4166, 13, 29];

/// The server's `at row 3` is of no use here: what it counts differs by statement and version.
fn blame(code: Code, message: &str) -> Blame {
    let named = match column_named(message) {
        Some(column) => Named::Column(column),
        None if code == Code::DuplicateKey && message.ends_with("PRIMARY'") => Named::PrimaryKey,
        None => Named::Nothing,
    };
    Blame { row: None, named, code, message: message.to_owned() }
}

/// What an error says of a row, by its number and SQLSTATE class
/// (<https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>, <https://mariadb.com/kb/en/mariadb-error-codes/>);
/// `None` when it says nothing of one.
fn fault_code(code: u16, state: &str) -> Option<Code> {
    Some(match code {
        1022 | 1062 | 1169 | 1586 | 1859 => Code::DuplicateKey,
        1048 | 1263 | 1364 | 4162 => Code::NotNull,
        1264 | 1690 => Code::Range,
        1406 | 1301 => Code::TooLong,
        // InnoDB: what of the row has to be in one page is more than half of it.
        1118 => Code::TooLong,
        1216 | 1452 => Code::ForeignKey,
        // CHECK of MySQL and of MariaDB, SIGNAL, WITH CHECK OPTION, no partition for the value.
        3819 | 4025 | 1644 | 1369 | 1526 | 1748 => Code::Constraint,
        1265 | 1292 | 1366 | 1367 | 1411 | 1416 | 3140 | 3141 | 3156 | 3988 | 1977 => Code::Type,
        _ => match state.get(..2)? {
            "22" => Code::Type,
            "23" | "44" | "45" => Code::Constraint,
            _ => return None,
        },
    })
}

/// The column that a message names: `Column 'x' cannot be null`, `Data too long for column 'x' at row 1`.
pub(super) fn column_named(message: &str) -> Option<String> {
    // MariaDB may spell the column with its table, behind the value: `'x' for column `db`.`t`.`n` at row 1`.
    if let Some((_, named)) = message.rsplit_once("for column `")
        && let Some((named, _)) = named.rsplit_once("` at row ")
    {
        return named.rsplit("`.`").next().map(str::to_owned);
    }
    let lower = message.to_ascii_lowercase();
    let at = lower.find("column '")? + "column '".len();
    message[at..].split('\'').next().map(str::to_owned)
}
