//! One connection, used from a plain thread, that notices when the user wants to stop.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, LocalInfileError, Params, Row, Value};
use tokio::runtime::Runtime;

use crate::error::{Error, Kind, Result};
use crate::pipe::Code;
use crate::target::mysql::connect::Place;

/// How often a wait for the server looks whether the user wants to stop.
const TICK: Duration = Duration::from_millis(50);

/// How long a statement may go on once the server was told to end it.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a LOCAL file in one packet: small enough for any max_allowed_packet, large enough to be few.
const PACKET_BYTES: usize = 64 << 10;

/// Why there is no connection to a server without certificates.
const NO_TLS: &str = "the server speaks no TLS";

/// A connection.
pub(super) struct Session<'a> {
    conn: Option<Conn>,
    /// The server's number of the connection, or of the last one.
    id: u32,
    runtime: Runtime,
    place: Place,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
}

/// What a statement did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) affected: u64,
    pub(super) warnings: u16,
}

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server says no, and is there.
    Server { code: u16, state: String, message: String },
    /// The connection is gone.
    Lost(String),
    /// The user wants to stop.
    Stopped,
}

/// A line of SHOW WARNINGS.
#[derive(Debug)]
pub(super) struct Warning {
    pub(super) code: u16,
    pub(super) message: String,
}

impl<'a> Session<'a> {
    /// Connects.
    pub(super) fn open(place: &Place, stop: &'a AtomicBool) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::target(format!("no connection can be made: {error}")))?;
        let mut session =
            Self { conn: None, id: 0, runtime, place: place.clone(), stop: Some(stop) };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<()> {
        let (place, stop) = (&self.place, self.stop);
        let connected = self.runtime.block_on(async {
            let began = Instant::now();
            let connecting = Conn::new(place.opts.clone());
            tokio::pin!(connecting);
            loop {
                match tokio::time::timeout(TICK, &mut connecting).await {
                    Ok(connected) => return connected.map_err(Failure::from),
                    Err(_) if stop.is_some_and(|stop| stop.load(Relaxed)) => {
                        return Err(Failure::Stopped);
                    }
                    Err(_) if began.elapsed() > place.connect_timeout => {
                        let seconds = place.connect_timeout.as_secs();
                        return Err(Failure::Lost(format!("no answer within {seconds} s")));
                    }
                    Err(_) => {}
                }
            }
        });
        match connected {
            Ok(conn) => {
                self.id = conn.id();
                self.conn = Some(conn);
                Ok(())
            }
            Err(Failure::Lost(why)) => {
                let error = Error::target(format!("no connection to {}: {why}", self.place.shown));
                Err(if why == NO_TLS {
                    error.advise(
                        "?ssl-mode=disabled goes without: anybody on the way can read along",
                    )
                } else if why.contains("certificate") {
                    error
                        .advise("?ssl-ca=FILE names the authority that signed it")
                        .advise("?ssl-mode=required encrypts without looking who answers")
                } else {
                    error.advise(
                        "check that the server runs, and host, port or ?socket=/path in the URL",
                    )
                })
            }
            Err(failure) => Err(self.explain(failure)),
        }
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

    /// From here on there is no stopping halfway.
    pub(super) fn unwatch(&mut self) {
        self.stop = None;
    }

    pub(super) fn is_lost(&self) -> bool {
        self.conn.is_none()
    }

    pub(super) fn database(&self) -> &str {
        &self.place.database
    }

    /// Lets `work` use the connection, and ends it when the user wants to stop.
    fn drive<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Conn) -> mysql_async::Result<T>,
    ) -> Result<T, Failure> {
        let Some(mut conn) = self.conn.take() else {
            return Err(Failure::Lost("the connection is closed".to_owned()));
        };
        let (place, stop) = (&self.place, self.stop);
        let id = conn.id();
        let mut stopped = None;
        let outcome = self.runtime.block_on(async {
            let began = Instant::now();
            let working = work(&mut conn);
            tokio::pin!(working);
            loop {
                match tokio::time::timeout(TICK, &mut working).await {
                    Ok(done) => return done.map_err(Failure::from),
                    Err(_) if place.read_timeout.is_some_and(|most| began.elapsed() > most) => {
                        let seconds = began.elapsed().as_secs();
                        return Err(Failure::Lost(format!("no answer within {seconds} s")));
                    }
                    Err(_) => {}
                }
                match stopped {
                    None if stop.is_some_and(|stop| stop.load(Relaxed)) => {
                        stopped = Some(Instant::now());
                        end_statement(place, id).await;
                    }
                    Some(since) if since.elapsed() > END_TIMEOUT => {
                        return Err(Failure::Lost("the server does not end it".to_owned()));
                    }
                    _ => {}
                }
            }
        });
        match &outcome {
            Err(Failure::Lost(_)) => self.runtime.block_on(async { drop(conn) }),
            _ => self.conn = Some(conn),
        }
        match (outcome, stopped) {
            (Err(_), Some(_)) => Err(Failure::Stopped),
            (outcome, _) => outcome,
        }
    }

    /// Runs a statement that gives no rows.
    pub(super) fn execute(&mut self, sql: impl AsRef<[u8]>) -> Result<Done, Failure> {
        self.drive(async |conn| {
            conn.query_drop(sql.as_ref()).await?;
            Ok(Done::of(conn))
        })
    }

    /// Runs LOAD DATA LOCAL; when the server asks for the file it gets `bytes`, whatever name it asks for.
    pub(super) fn load_local(&mut self, sql: &str, bytes: Bytes) -> Result<Done, Failure> {
        self.drive(async |conn| {
            // The handler is gone after one use, and there is none at any other time: a server that asks for a file then gets
            // an error.
            conn.set_infile_handler(async move {
                let packets = (0..bytes.len())
                    .step_by(PACKET_BYTES)
                    .map(move |at| Ok(bytes.slice(at..bytes.len().min(at + PACKET_BYTES))));
                Ok(futures_util::stream::iter(packets).boxed())
            });
            let loaded = conn.query_drop(sql).await;
            conn.set_infile_handler(async { Err(LocalInfileError::NoHandler.into()) });
            loaded?;
            Ok(Done::of(conn))
        })
    }

    /// Runs a prepared statement once for each row of parameters.
    pub(super) fn execute_prepared(&mut self, sql: &str, row: Vec<Value>) -> Result<Done, Failure> {
        self.drive(async |conn| {
            conn.exec_drop(sql, Params::Positional(row)).await?;
            Ok(Done::of(conn))
        })
    }

    /// Hands every row of a query to `each`.
    pub(super) fn rows(&mut self, sql: &str, mut each: impl FnMut(Row)) -> Result<(), Failure> {
        self.drive(async |conn| {
            let mut result = conn.query_iter(sql).await?;
            while let Some(row) = result.next().await? {
                each(row);
            }
            result.drop_result().await
        })
    }

    /// All rows of a query as text; NULL is None.
    pub(super) fn table(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let mut rows = Vec::new();
        self.rows(sql, |row| rows.push(row.unwrap().into_iter().map(text).collect()))?;
        Ok(rows)
    }

    /// The first value of a query.
    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        let first = self.table(sql)?.into_iter().next();
        Ok(first.and_then(|row| row.into_iter().next()).flatten())
    }

    /// What the last statement is warned of, notes left out that say nothing of a row.
    pub(super) fn warnings(&mut self) -> Result<Vec<Warning>, Failure> {
        /// Deprecated syntax (VALUES() in an update), a statement that replication calls unsafe, INSERT DELAYED taken for INSERT.
        const OF_THE_STATEMENT: [u16; 4] = [1287, 1592, 3005, 1681];
        let rows = self.table("SHOW WARNINGS")?;
        Ok(rows
            .into_iter()
            .filter_map(|row| {
                let mut row = row.into_iter().skip(1);
                let code = row.next()??.parse().ok()?;
                Some(Warning { code, message: row.next()?? })
            })
            .filter(|warning| !OF_THE_STATEMENT.contains(&warning.code))
            .collect())
    }

    /// What the user reads of a failure that no row is to blame for.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        let (code, message) = match failure {
            Failure::Stopped => return Error::interrupted(),
            Failure::Lost(why) => {
                return Error::target(format!(
                    "the connection to {} was lost: {why}",
                    self.place.shown
                ))
                .advise("look into the server's error log, and run the load again");
            }
            Failure::Server { code, message, .. } => (code, message),
        };
        let error = Error::new(Kind::Target, format!("{}: {message}", self.place.shown));
        match code {
            1045 | 1698 => error
                .advise("check the user in the URL; the password comes from the URL, MYSQL_PWD, INRUSH_PASSWORD or ~/.my.cnf"),
            1044 | 1142 | 1227 => error.advise("ask for that privilege, or use another user"),
            1049 => error.advise(format!(
                "make it first: CREATE DATABASE {}",
                crate::target::mysql::ddl::quote(&self.place.database)
            )),
            1205 | 1213 => error.advise("another connection holds the rows: try again when it is through"),
            3 | 1021 | 1026 | 1878 => error
                .advise("make room where the server writes, and run the load again")
                .advise("in its tmpdir it sorts the rows of an index, and gathers a transaction for the binary log"),
            1114 | 3675 => error.advise("the server's disk, its tmpdir or the table is full: make room and run the load again"),
            1030 => error.advise("error 28 means that the server's disk, or its tmpdir, is full: make room and run the load again"),
            1118 => error
                .advise("engines other than InnoDB have room for more: --set engine=myisam --durability process, or engine=aria on MariaDB")
                .advise("numbers and dates take less room in the row than text does: --type NAME=TYPE"),
            1153 => error.advise("a row is longer than max_allowed_packet: raise that on the server"),
            _ => error,
        }
    }

    fn close(&mut self) {
        if let Some(conn) = self.conn.take() {
            // A server that is gone does not say goodbye.
            let goodbye = async { tokio::time::timeout(TICK * 10, conn.disconnect()).await };
            let _ = self.runtime.block_on(goodbye);
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

impl Done {
    fn of(conn: &Conn) -> Self {
        Self { affected: conn.affected_rows(), warnings: conn.get_warnings() }
    }
}

/// Tells the server, over a connection of its own, to end the statement that connection `id` runs.
async fn end_statement(place: &Place, id: u32) {
    let ended = async {
        let mut conn = Conn::new(place.opts.clone()).await?;
        conn.query_drop(format!("KILL QUERY {id}")).await?;
        conn.disconnect().await
    };
    // What can't be ended is waited for, for a while.
    let _ = tokio::time::timeout(place.connect_timeout, ended).await;
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

impl From<mysql_async::Error> for Failure {
    fn from(error: mysql_async::Error) -> Self {
        use mysql_async::{DriverError, Error, IoError};
        match error {
            Error::Server(error) => match error.code {
                // The server says goodbye: shutting down, killed.
                1053 | 1077 | 1080 | 1317 if error.state == "08S01" => Self::Lost(error.message),
                1053 | 1927 => Self::Lost(error.message),
                _ => Self::Server { code: error.code, state: error.state, message: error.message },
            },
            Error::Io(IoError::Io(error)) => Self::Lost(error.to_string()),
            Error::Io(IoError::Tls(error)) => Self::Lost(format!("TLS: {error}")),
            Error::Driver(DriverError::NoClientSslFlagFromServer) => Self::Lost(NO_TLS.to_owned()),
            // Before it says no to a user that it doesn't know, MySQL 8 asks for any of its plugins, so that nobody can tell.
            Error::Driver(DriverError::UnknownAuthPlugin { name }) => Self::Server {
                code: 1045,
                state: "28000".to_owned(),
                message: format!(
                    "Access denied: the server asks for authentication by {name}, which inrush does not speak; \
                     MySQL may ask so for a user that it does not know"
                ),
            },
            Error::Driver(DriverError::ConnectionClosed) => {
                Self::Lost("the server closed it".to_owned())
            }
            // Only one that was not offered comes here.
            Error::Driver(DriverError::LocalInfile(_)) => Self::Lost(
                "the server asks for a file that it was not offered, and gets none".to_owned(),
            ),
            // Shows no values: those that would (FromRow, FromValue) are not asked for.
            Error::Driver(error) => Self::Lost(error.to_string()),
            Error::Other(_) => Self::Lost("the client library failed".to_owned()),
            Error::Url(_) => Self::Lost("the URL is not understood".to_owned()),
        }
    }
}

impl Failure {
    /// Where the row is to blame: what sort of fault, and the column that the message names.
    pub(super) fn of_row(&self) -> Option<(Code, &str)> {
        let Failure::Server { code, state, message } = self else { return None };
        fault_code(*code, state).map(|code| (code, message.as_str()))
    }
}

/// What an error says of a row, by its number and SQLSTATE class
/// (https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-codes/);
/// `None` when it says nothing of one.
pub(super) fn fault_code(code: u16, state: &str) -> Option<Code> {
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
