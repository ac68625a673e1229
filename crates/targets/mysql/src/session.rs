//! One connection, used from a plain thread, that notices when the user wants to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::blame::column_named;
use crate::client::{Client, Text};
use crate::connect::Place;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::target::Spare;
use inrush_net::channel::{END_TIMEOUT, TICK};
use inrush_net::statement::Done;
use inrush_net::{Advice, Answers, LostKind, RoundTrip, TextRows};

/// What gets users past what keeps them out.
const ADVICE: Advice = Advice {
    without_tls: Some("?ssl-mode=disabled goes without: anybody on the way can read along"),
    with_tls: None,
    any_name: "?ssl-mode=verify_ca takes any name, for a certificate of an authority that ?ssl-ca=FILE names",
    authority: "?ssl-ca=FILE names the authority that signed it",
    unchecked: "?ssl-mode=required encrypts without looking who answers",
    certificate_file: "?ssl-ca=FILE takes the authority's certificate, in PEM or DER",
    replica_set: None,
    writable: None,
    check_server: "check that the server runs, and host, port or ?socket=/path in the URL",
};

/// A connection.
pub(super) struct Session<'a> {
    client: Option<Client<'a>>,
    /// The server's number of the connection, or of the last one.
    id: u32,
    place: Arc<Place>,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
    round_trip: RoundTrip,
    counter: Option<Counter>,
    /// Where the connection came from, and where it goes that is handed on.
    spare: Spare,
    is_handed_on: bool,
}

/// A column of the table that counts by itself, of which the load's rows have no values, and no trigger's that is known.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) column: String,
    /// The last number of its type, if it is the primary key.
    pub(super) last: Option<u64>,
    /// Whether a number out of range for a column of this name can only be the server's own.
    pub(super) is_sole: bool,
}

/// Goes before a statement that may have to be taken back, in one message with it.
pub(super) const SAVEPOINT: &str = "SAVEPOINT inrush; ";

/// Takes it back.
pub(super) const BACK_TO_SAVEPOINT: &str = "ROLLBACK TO SAVEPOINT inrush";

/// What the server says no with.
#[derive(Debug)]
pub(super) struct Refusal {
    /// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>, <https://mariadb.com/kb/en/mariadb-error-codes/>;
    /// 0 where it is we who say no.
    pub(super) code: u16,
    /// SQLSTATE.
    pub(super) state: String,
    pub(super) message: String,
}

/// Why a statement failed.
pub(super) type Failure = inrush_net::Failure<Box<Refusal>>;

/// A line of SHOW WARNINGS.
#[derive(Debug)]
pub(super) struct Warning {
    pub(super) code: u16,
    pub(super) message: String,
}

impl<'a> Session<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        Self::to(Arc::clone(place), Spare::default(), Some(stop))
    }

    /// The same by the connection that the step before has left, if it has.
    pub(super) fn take_over(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        Self::to(Arc::clone(place), place.spare.clone(), Some(stop))
    }

    fn to(place: Arc<Place>, spare: Spare, stop: Option<&'a AtomicBool>) -> Result<Self> {
        let mut session = Self {
            client: None,
            id: 0,
            place,
            stop,
            round_trip: RoundTrip::default(),
            counter: None,
            spare,
            is_handed_on: false,
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<()> {
        let connected = match Client::left(&self.spare, self.stop) {
            Some(client) => Ok(client),
            None => self.round_trip.time(|| Client::connect(&self.place, self.stop)),
        };
        let error = match connected {
            Ok(client) => {
                self.id = client.id;
                self.client = Some(client);
                return Ok(());
            }
            Err(Failure::Stopped) => return Err(Error::interrupted()),
            Err(Failure::Lost(lost)) => lost.no_connection(&self.place.shown, &ADVICE),
            Err(failure) => self.explain(failure),
        };
        // Another server, user or password may stand there.
        Err(match &self.place.passed_over {
            Some(path) => error.advise(format!(
                "what {0} says is not taken, for everybody may write to it: chmod o-w {0}",
                path.display()
            )),
            None => error,
        })
    }

    /// Once this one is through, whoever connects next may have the connection: nothing was set that bears on a load.
    pub(super) fn hand_on(&mut self) {
        self.is_handed_on = true;
    }

    /// A second connection to the same place.
    pub(super) fn another(&self, stop: &'a AtomicBool) -> Result<Self> {
        Session::open(&self.place, stop)
    }

    /// Connects again where the connection was lost, and ends the lost one: its last statement may still be running, and
    /// whoever asks what it has done has to know that it does no more.
    ///
    /// # Errors
    /// When there is no connection, or the lost one does not end.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        self.close();
        let lost = self.id;
        self.connect()?;
        // Numbers grow: a smaller one is a server's that was started again, which has ended everything, and may have given
        // the old number to another client.
        if self.id <= lost {
            return Ok(());
        }
        let began = Instant::now();
        // An error means that it has ended already.
        let _ = self.execute(format!("KILL CONNECTION {lost}"));
        let look = format!("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {lost}");
        while !self.table(&look).map_err(|failure| self.explain(failure))?.is_empty() {
            if began.elapsed() > END_TIMEOUT {
                self.close();
                return Err(Error::target(format!("the server does not end connection {lost}")));
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    /// A second connection, which is stopped as this one is.
    pub(super) fn beside(&self) -> Result<Self> {
        Self::to(Arc::clone(&self.place), Spare::default(), self.stop)
    }

    /// From here on it is known which numbers the server makes itself.
    pub(super) fn set_counter(&mut self, counter: Option<Counter>) {
        self.counter = counter;
    }

    /// Whether an error, or a warning, says that a column which counts by itself has no number left: no row is to blame for that. What
    /// the server says of it differs by engine and version. Of a single row MySQL's InnoDB says that the last number comes twice, and its
    /// MyISAM that the next one is out of range: of other numbers, keys and columns the same errors are the row's.
    pub(super) fn is_out_of_numbers(&self, code: u16, message: &str) -> bool {
        let is_of_counter = |counter: &Counter| match code {
            1062 => {
                let repeated = message.split('\'').nth(1).and_then(|number| number.parse().ok());
                message.ends_with("PRIMARY'") && repeated.is_some() && repeated == counter.last
            }
            1264 => {
                counter.is_sole && column_named(message).is_some_and(|name| name == counter.column)
            }
            _ => false,
        };
        // HA_ERR_AUTOINC_ERANGE, ER_AUTOINC_READ_FAILED.
        matches!(code, 167 | 1467) || self.counter.as_ref().is_some_and(is_of_counter)
    }

    /// The server's number of the connection.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Whether the user wants to stop.
    pub(super) fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// From here on there is no stopping halfway.
    pub(super) fn unwatch(&mut self) {
        self.stop = None;
        if let Some(client) = &mut self.client {
            client.unwatch();
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.client.is_none()
    }

    /// Whether the server takes many rows of parameters at once.
    pub(super) fn has_bulk(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.has_bulk)
    }

    pub(super) fn database(&self) -> &str {
        &self.place.database
    }

    /// Lets `work` use the connection's protocol; the connection is gone when it fails in a way that leaves nothing to say.
    pub(super) fn drive<T>(
        &mut self,
        work: impl FnOnce(&mut Client<'a>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.round_trip.time(|| inrush_net::drive(&mut self.client, work))
    }

    /// How long the server takes to answer, at least.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.shortest()
    }

    /// Runs a statement that gives no rows.
    pub(super) fn execute(&mut self, sql: impl AsRef<[u8]>) -> Result<Done, Failure> {
        self.drive(|client| client.query(sql.as_ref()))
    }

    /// Hands every row of a query to `each`.
    pub(super) fn rows(&mut self, sql: &str, each: impl FnMut(&[Text<'_>])) -> Result<(), Failure> {
        self.drive(|client| client.rows(sql.as_bytes(), each).map(drop))
    }

    /// All rows of a query.
    pub(super) fn table(&mut self, sql: &str) -> Result<TextRows, Failure> {
        self.tables([sql]).map(|[rows]| rows)
    }

    /// The same of several statements, in one round trip. Those behind one that fails are not run.
    pub(super) fn tables<const N: usize>(
        &mut self,
        statements: [&str; N],
    ) -> Result<[TextRows; N], Failure> {
        let mut answers = Answers::default();
        let sql = statements.join("; ");
        self.drive(|client| client.results(sql.as_bytes(), |at, row| answers.add(at, row)))?;
        answers.kept()
    }

    /// The first value of a query.
    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        let first = self.table(sql)?.into_iter().next();
        Ok(first.and_then(|row| row.into_iter().next()).flatten())
    }

    /// The first thing that the last statement is warned of, notes left out that say nothing of a row. One of its `count` warnings that
    /// the server does not show may say something of one.
    pub(super) fn warning(&mut self, count: u16) -> Result<Option<Warning>, Failure> {
        /// Deprecated syntax (VALUES() in an update), a statement that replication calls unsafe, INSERT DELAYED taken for INSERT.
        const OF_THE_STATEMENT: [u16; 4] = [1287, 1592, 3005, 1681];
        let [rows, kept] = self.tables(["SHOW WARNINGS", "SELECT @@max_error_count"])?;
        let kept = kept.into_iter().flatten().flatten().next().and_then(|kept| kept.parse().ok());
        // Where it could have shown more, the others are those of statements in triggers: MariaDB counts them, and shows none.
        let hides_some =
            rows.len() < usize::from(count) && kept.is_none_or(|kept| rows.len() >= kept);
        let first = rows
            .into_iter()
            .filter_map(|row| {
                let mut row = row.into_iter().skip(1);
                let code = row.next()??.parse().ok()?;
                Some(Warning { code, message: row.next()?? })
            })
            .find(|warning| !OF_THE_STATEMENT.contains(&warning.code));
        let hidden = || {
            let message =
                "the server warns of the row, and does not show of what (max_error_count)";
            hides_some.then(|| Warning { code: 0, message: message.to_owned() })
        };
        Ok(first.or_else(hidden))
    }

    /// What the user reads of a failure that no row is to blame for.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        let Refusal { code, message, .. } = match failure {
            Failure::Stopped => return Error::interrupted(),
            Failure::Lost(lost) => {
                return lost
                    .lost_connection(&self.place.shown)
                    .advise("look into the server's error log, and run the load again");
            }
            Failure::Server(refused) => *refused,
        };
        let is_out_of_numbers = self.is_out_of_numbers(code, &message);
        let error = Error::new(Kind::Target, format!("{}: {message}", self.place.shown));
        if is_out_of_numbers {
            let column = self.counter.as_ref().map_or_else(
                || "a column that counts by itself (AUTO_INCREMENT)".to_owned(),
                |counter| format!("column {}", counter.column),
            );
            return error
                .advise(format!(
                    "{column} has no number left for a row: give it a type with more (ALTER TABLE ... MODIFY ... BIGINT AUTO_INCREMENT)"
                ))
                .advise("a statement that is taken back, for a bad row in it, uses numbers up: --set rows_per_statement=1 takes one for each row");
        }
        match code {
            1045 | 1698 => error.advise("check the user in the URL; the password comes from the URL, MYSQL_PWD, INRUSH_PASSWORD or ~/.my.cnf"),
            1040 | 1203 | 1226 => error.advise(
                "ask for a higher limit: a load takes one connection for each of its --lanes, and one besides where it fills a hidden table",
            ),
            1044 | 1142 | 1227 => error.advise("ask for that privilege, or use another user"),
            1049 => error.advise(format!(
                "make it first: CREATE DATABASE {}",
                crate::ddl::quote(&self.place.database)
            )),
            1205 | 1213 => error.advise("another connection holds the rows: try again when it is through"),
            3 | 1021 | 1026 | 1878 => error
                .advise("make room where the server writes, and run the load again")
                .advise("in its tmpdir it sorts the rows of an index, and gathers a transaction for the binary log"),
            1114 | 3675 => error.advise("the server's disk, its tmpdir or the table is full: make room and run the load again"),
            1030 => error.advise("error 28 means that the server's disk, or its tmpdir, is full: make room and run the load again"),
            1071 => error
                .advise("a key over fewer columns, or of numbers and dates (--type NAME=TYPE): in a key, a text of a new table counts for 764 bytes")
                .advise("or make the table yourself, with texts as short as they are, and load into it"),
            1217 | 1451 => error.advise("rows that stay refer to these: delete those first, or keep these with --if-exists append"),
            1118 => error
                .advise("engines other than InnoDB have room for more: --set engine=myisam --durability process, or engine=aria on MariaDB")
                .advise("numbers and dates take less room in the row than text does: --type NAME=TYPE"),
            1153 => error.advise("a row is longer than max_allowed_packet: raise that on the server"),
            1173 | 3750 => error.advise(NEEDS_KEY),
            1969 => error
                .advise("the server's or the user's max_statement_time is too short for a load: SET GLOBAL max_statement_time = 0 lifts it, ALTER USER ... WITH MAX_STATEMENT_TIME 0 for this user alone"),
            3024 => error
                .advise("the server's max_execution_time is too short for a look at the whole table: SET GLOBAL max_execution_time = 0 lifts it"),
            _ => error,
        }
    }

    fn close(&mut self) {
        if let Some(client) = self.client.take() {
            match self.is_handed_on {
                true => client.leave(&self.spare),
                false => client.quit(),
            }
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

/// What to do where a table without a key is refused.
pub(super) const NEEDS_KEY: &str = "--primary-key COLUMN: the server makes no table without one (sql_require_primary_key, innodb_force_primary_key)";

/// What the server says no with; when it hangs up with it, the connection is lost.
pub(super) fn refused(code: u16, state: String, message: String) -> Failure {
    match code {
        // It says goodbye: shutting down, killed.
        1053 | 1927 => Failure::lost(LostKind::Closed, message),
        1077 | 1080 | 1317 if state == "08S01" => Failure::lost(LostKind::Closed, message),
        _ => Failure::Server(Box::new(Refusal { code, state, message })),
    }
}
