//! One connection of PostgreSQL's protocol, version 3.0, in calls that block.
//!
//! ```text
//! link   messages on a channel
//! login  who we are
//! ```
//!
//! The messages' layout is `postgres-protocol`'s; what is ours is that the encoder's bytes go out as they are, behind COPY and as
//! parameters, and that nobody waits for an answer that can be read later
//! (<https://www.postgresql.org/docs/current/protocol-flow.html>).

mod link;
mod login;

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::BufMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, Message};
use postgres_protocol::message::frontend;

use link::{Link, failed, refusal};

use crate::connect::{Encrypts, Place, Server};
use crate::session::{self, Failure};
use crate::waits;
use inrush_core::target::Spare;
use inrush_net::{LostKind, Wired};

/// Bytes of rows in one message: few messages, and far below what a server takes.
const COPY_BYTES: usize = 1 << 20;

/// The name of a statement that is prepared for a transaction.
pub(super) const STATEMENT: &str = "inrush";

/// SQLSTATEs of servers that let nobody in for a while, and of one that doesn't let this user in
/// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
const TOO_MANY: &str = "53300";
const STARTING: &str = "57P03";
const NOT_AUTHORIZED: &str = "28000";

/// A connection.
pub(super) struct Client<'a> {
    link: Link<'a>,
    /// What the server called the last command that it was through with.
    done: String,
    /// Rows that the last statements have written.
    written: u64,
    /// A COPY has begun and wants rows.
    is_copying: bool,
    /// The command is a COPY for which there are rows.
    has_rows: bool,
    /// What the statement is called that was prepared last.
    statement: String,
    /// No transaction is open, and no command under way.
    is_idle: bool,
    /// Commands whose answers nobody has waited for yet.
    ahead: usize,
}

/// A connection that is left for whoever connects next.
struct Left {
    client: Option<Client<'static>>,
    server: Server,
}

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            client.quit();
        }
    }
}

/// A value of a row that a query gives, as text; `None` is NULL.
pub(super) type Text<'p> = Option<&'p [u8]>;

/// What COPY sends before the rows and after them.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) head: &'static [u8],
    pub(super) tail: &'static [u8],
}

/// What goes with one run of a prepared statement: the formats and the values of all parameters, each list behind its length.
pub(super) struct Parameters<'p> {
    pub(super) formats: &'p [u8],
    pub(super) values: &'p [u8],
}

impl<'a> Client<'a> {
    /// Takes the connection that was left, where the server still holds it, or else connects.
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub(super) fn take_over(
        place: &Arc<Place>,
        spare: &Spare,
        stop: Option<&'a AtomicBool>,
    ) -> Result<(Self, Server), Failure> {
        if let Some(mut left) = spare.take::<Left>()
            && let Some(client) = left.client.take_if(|client| client.link.is_quiet())
        {
            return Ok((client.watched_by(stop), left.server.clone()));
        }
        Self::connect(place, stop)
    }

    /// Leaves the connection for whoever connects next, where its session is as it began; otherwise ends it.
    pub(super) fn leave(self, spare: &Spare, server: Server) {
        if self.is_idle && self.statement.is_empty() {
            spare.keep(Left { client: Some(self.watched_by(None)), server });
        } else {
            self.quit();
        }
    }

    fn watched_by<'b>(self, stop: Option<&'b AtomicBool>) -> Client<'b> {
        Client {
            link: self.link.watched_by(stop),
            done: self.done,
            written: self.written,
            is_copying: self.is_copying,
            has_rows: self.has_rows,
            statement: self.statement,
            is_idle: self.is_idle,
            ahead: self.ahead,
        }
    }

    /// Connects to the first server that takes us, and logs in; which one it is.
    ///
    /// # Errors
    /// [`Failure::Server`] when the server says no, [`Failure::Lost`] when there is none, [`Failure::Stopped`] when the user
    /// does not want to wait.
    pub(super) fn connect(
        place: &Arc<Place>,
        stop: Option<&'a AtomicBool>,
    ) -> Result<(Self, Server), Failure> {
        let mut failure = Failure::garbled();
        for server in &place.servers {
            match Self::connect_to(place, server, stop) {
                Ok(client) => return Ok((client, server.clone())),
                // Another server would say the same, unless this one has enough connections or isn't ready.
                Err(refused @ Failure::Server(_))
                    if !matches!(session::state(&refused), TOO_MANY | STARTING) =>
                {
                    return Err(refused);
                }
                Err(Failure::Stopped) => return Err(Failure::Stopped),
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    fn connect_to(
        place: &Arc<Place>,
        server: &Server,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut outcome = Err(Failure::garbled());
        for encrypts in server.tls.tries().iter().copied() {
            let opened = open(place, server, encrypts, stop);
            outcome = opened.and_then(|mut link| {
                let greeted = login::login(&mut link, place, server)?;
                Ok((link, greeted, encrypts))
            });
            match &outcome {
                // The administrator may let in those alone who encrypt, or those alone who don't.
                Err(failure) if failure.lost_kind().is_some_and(is_of_tls) => {}
                Err(refused) if session::state(refused) == NOT_AUTHORIZED => {}
                _ => break,
            }
        }
        let (mut link, greeted, encrypts) = outcome?;
        let (from, to) = (Arc::clone(place), server.clone());
        link.logged_in(move || {
            // What can't be ended is waited for, for a while.
            let _ = cancel(&from, &to, encrypts, greeted.key);
        });
        if place.spare.is_followed() {
            let (place, server) = (Arc::clone(place), server.clone());
            link.channel.can_look(move || {
                if let Some(waits) = waits::ask(&place, &server, greeted.key.0) {
                    place.spare.note(waits);
                }
            });
        }
        let mut client = Self {
            link,
            done: String::new(),
            written: 0,
            is_copying: false,
            has_rows: false,
            statement: String::new(),
            is_idle: true,
            ahead: 0,
        };
        if place.must_write {
            let mut reads_only = false;
            client.rows("SELECT pg_catalog.pg_is_in_recovery()", |row| {
                reads_only = row == [Some(&b"t"[..])];
            })?;
            if reads_only {
                return Err(Failure::lost(LostKind::NotWritable, "the server takes no writes"));
            }
        }
        Ok(client)
    }

    /// From here on the call that waits is not given up when the user wants to stop.
    pub(super) fn unwatch(&mut self) {
        self.link.channel.unwatch();
    }

    /// Whether the server is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.link.channel.is_local()
    }

    /// Says goodbye, and waits for nothing.
    pub(super) fn quit(mut self) {
        self.link.channel.be_brief();
        frontend::terminate(&mut self.link.outgoing);
        let _ = self.link.flush();
    }

    /// Runs statements that give no rows, or whose rows nobody wants; how many rows the last one that counts has written.
    pub(super) fn query(&mut self, sql: &str) -> Result<u64, Failure> {
        self.rows(sql, |_| {})
    }

    /// Has the server run statements, and goes on without its answer: where they fail, the next call does.
    pub(super) fn send_ahead(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin();
        frontend::query(sql, &mut self.link.outgoing).map_err(failed)?;
        self.ahead += 1;
        self.send(Link::flush)
    }

    /// How many rows the last statements have written together.
    pub(super) fn written_by_all(&self) -> u64 {
        self.written
    }

    /// Ends the transaction, and its rows stay; what the server warns of then, such as a standby that has not confirmed them.
    pub(super) fn commit(&mut self) -> Result<Option<String>, Failure> {
        self.link.warning = None;
        self.query("SET LOCAL client_min_messages = warning; COMMIT")?;
        match self.done.as_str() {
            "COMMIT" => Ok(self.link.warning.take()),
            // So it ends a transaction in which something went wrong.
            "ROLLBACK" => Err(session::undone()),
            _ => Err(Failure::garbled()),
        }
    }

    /// Runs statements and hands every row to `each`.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        mut each: impl FnMut(&[Text<'_>]),
    ) -> Result<u64, Failure> {
        self.results(sql, |_, row| each(row))
    }

    /// The same with the number of the row's statement, counted from 0.
    pub(super) fn results(
        &mut self,
        sql: &str,
        each: impl FnMut(usize, &[Text<'_>]),
    ) -> Result<u64, Failure> {
        self.begin();
        frontend::query(sql, &mut self.link.outgoing).map_err(failed)?;
        self.send(Link::flush)?;
        self.answer(each, |_| {})
    }

    /// What the server called the last command that it was through with: `INSERT 0 5`, `ROLLBACK`.
    pub(super) fn done(&self) -> &str {
        &self.done
    }

    /// Runs statements of which the last is COPY FROM STDIN, and sends the rows.
    pub(super) fn copy_in(&mut self, sql: &str, frame: Frame, rows: &[u8]) -> Result<u64, Failure> {
        self.copy_begin(sql, frame)?;
        self.copy_more(rows)?;
        self.copy_end(frame)
    }

    /// Begins statements of which the last is COPY FROM STDIN. Nobody waits for the server to ask for rows: where it refuses, it
    /// passes over them, and says so at the end.
    pub(super) fn copy_begin(&mut self, sql: &str, frame: Frame) -> Result<(), Failure> {
        self.begin();
        frontend::query(sql, &mut self.link.outgoing).map_err(failed)?;
        copy_data(frame.head, &mut self.link.outgoing);
        self.is_copying = true;
        self.has_rows = true;
        Ok(())
    }

    /// Sends rows for the COPY that has begun.
    pub(super) fn copy_more(&mut self, rows: &[u8]) -> Result<(), Failure> {
        self.link.channel.begin();
        self.send(|link| {
            for piece in rows.chunks(COPY_BYTES) {
                copy_head(piece.len(), &mut link.outgoing);
                link.flush_with(piece)?;
            }
            Ok(())
        })
    }

    /// Ends the COPY, and hears how many rows it has written.
    pub(super) fn copy_end(&mut self, frame: Frame) -> Result<u64, Failure> {
        self.link.channel.begin();
        self.is_copying = false;
        self.send(|link| {
            copy_data(frame.tail, &mut link.outgoing);
            frontend::copy_done(&mut link.outgoing);
            link.flush()
        })?;
        self.answer(|_, _| {}, |_| {})
    }

    /// Runs COPY TO STDOUT and hands on what comes.
    pub(super) fn copy_out(&mut self, sql: &str, each: impl FnMut(&[u8])) -> Result<(), Failure> {
        self.begin();
        frontend::query(sql, &mut self.link.outgoing).map_err(failed)?;
        self.send(Link::flush)?;
        self.answer(|_, _| {}, each).map(drop)
    }

    /// Has the server prepare a statement under this name, in place of what it had prepared under it.
    pub(super) fn prepare(&mut self, name: &str, sql: &str) -> Result<(), Failure> {
        self.begin();
        let out = &mut self.link.outgoing;
        // Behind a pooler the connection to the server may be one that had it prepared before.
        frontend::close(b'S', name, out).map_err(failed)?;
        frontend::parse(name, sql, [], out).map_err(failed)?;
        name.clone_into(&mut self.statement);
        frontend::sync(out);
        self.send(Link::flush)?;
        self.answer(|_, _| {}, |_| {}).map(drop)
    }

    /// Runs the prepared statement once; how many rows it has written.
    pub(super) fn execute(&mut self, parameters: &Parameters<'_>) -> Result<u64, Failure> {
        /// No result columns of any format.
        const RESULTS: &[u8] = &[0, 0];
        self.begin();
        let Parameters { formats, values } = parameters;
        let out = &mut self.link.outgoing;
        out.put_u8(b'B');
        let names = 1 + self.statement.len() + 1;
        // No longer than a chunk, whose offsets have 32 bits; a message has 31.
        let length = 4 + names + formats.len() + values.len() + RESULTS.len();
        out.put_i32(i32::try_from(length).map_err(|_| session::too_long())?);
        out.put_u8(0);
        out.put_slice(self.statement.as_bytes());
        out.put_u8(0);
        out.put_slice(formats);
        out.put_slice(values);
        out.put_slice(RESULTS);
        frontend::execute("", 0, out).map_err(failed)?;
        frontend::sync(out);
        self.send(Link::flush)?;
        self.answer(|_, _| {}, |_| {})
    }

    /// Before each command. A COPY that was not ended is given up: what it has written goes.
    fn begin(&mut self) {
        self.link.channel.begin();
        if std::mem::take(&mut self.is_copying) {
            // The rows that it has may wait for a lock of others.
            self.link.channel.give_up();
            let given_up = frontend::copy_fail("given up", &mut self.link.outgoing);
            // A connection that is gone says so to the command.
            let _ = given_up
                .map_err(failed)
                .and_then(|()| self.send(Link::flush))
                .and_then(|()| self.answer(|_, _| {}, |_| {}));
            self.link.channel.begin();
        }
        self.has_rows = false;
        self.is_idle = false;
        self.link.outgoing.clear();
    }

    fn send(
        &mut self,
        work: impl FnOnce(&mut Link<'a>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let sent = work(&mut self.link);
        sent.map_err(|failure| self.link.reason(failure))
    }

    /// Reads all that the server says to what it was sent; the first no is the answer then.
    fn answer(
        &mut self,
        row: impl FnMut(usize, &[Text<'_>]),
        data: impl FnMut(&[u8]),
    ) -> Result<u64, Failure> {
        let mut refused = None;
        while self.ahead > 0 {
            self.ahead -= 1;
            match self.next_answer(|_, _| {}, |_| {}) {
                Err(Failure::Server(first)) => _ = refused.get_or_insert(first),
                answer => _ = answer?,
            }
        }
        let answer = self.next_answer(row, data);
        match (refused, answer) {
            (Some(first), Ok(_) | Err(Failure::Server(_))) => Err(Failure::Server(first)),
            (_, answer) => answer,
        }
    }

    /// Reads until the server is ready for more.
    fn next_answer(
        &mut self,
        mut row: impl FnMut(usize, &[Text<'_>]),
        mut data: impl FnMut(&[u8]),
    ) -> Result<u64, Failure> {
        let (mut written, mut statement) = (0, 0);
        let mut failure = None;
        let mut is_answered = false;
        self.written = 0;
        self.done.clear();
        loop {
            match self.link.read()? {
                Message::DataRow(body) => values(&body, &mut |values| row(statement, values))?,
                Message::CopyData(body) => data(body.data()),
                Message::CommandComplete(body) => {
                    let tag = body.tag().map_err(failed)?;
                    if let Some(count) = count(tag) {
                        written = count;
                        self.written += count;
                    }
                    tag.clone_into(&mut self.done);
                    is_answered = true;
                    statement += 1;
                }
                Message::ErrorResponse(body) => match refusal(&body) {
                    lost @ Failure::Lost(_) => return Err(lost),
                    // It hangs up, whatever the reason, and nobody knows what became of a commit.
                    Failure::Server(refused) if refused.is_fatal => {
                        return Err(Failure::lost(LostKind::Closed, refused.message));
                    }
                    refused => failure = failure.or(Some(refused)),
                },
                Message::ReadyForQuery(body) => {
                    self.is_idle = body.status() == b'I';
                    return match failure {
                        Some(failure) => Err(failure),
                        None if is_answered => Ok(written),
                        None => Err(Failure::garbled()),
                    };
                }
                Message::ParseComplete | Message::EmptyQueryResponse => is_answered = true,
                // It would wait for them for ever.
                Message::CopyInResponse(_) if !self.has_rows => {
                    frontend::copy_fail("there are no rows", &mut self.link.outgoing)
                        .map_err(failed)?;
                    self.send(Link::flush)?;
                }
                Message::RowDescription(_)
                | Message::ParameterStatus(_)
                | Message::BindComplete
                | Message::CloseComplete
                | Message::CopyInResponse(_)
                | Message::CopyOutResponse(_)
                | Message::CopyDone
                | Message::NoData => {}
                _ => return Err(Failure::garbled()),
            }
        }
    }
}

impl Wired for Client<'_> {
    fn was_stopped(&self) -> bool {
        self.link.channel.was_stopped()
    }
}

/// Whether the server answers, and only encryption has failed.
fn is_of_tls(kind: LostKind) -> bool {
    use LostKind::{BadCertificate, Expired, Tls, WrongName};
    matches!(kind, Tls | WrongName | BadCertificate | Expired)
}

/// The rows that a statement has written, from its tag: `INSERT 0 5`, `COPY 5`, `DELETE 5`.
fn count(tag: &str) -> Option<u64> {
    let (verb, rest) = tag.split_once(' ')?;
    let counts = matches!(verb, "INSERT" | "COPY" | "DELETE" | "UPDATE" | "MERGE");
    counts.then(|| rest.rsplit(' ').next()?.parse().ok())?
}

fn values(body: &DataRowBody, each: &mut impl FnMut(&[Text<'_>])) -> Result<(), Failure> {
    let buffer = body.buffer();
    let mut row = Vec::new();
    let mut ranges = body.ranges();
    while let Some(range) = ranges.next().map_err(failed)? {
        row.push(match range {
            Some(range) => Some(buffer.get(range).ok_or_else(Failure::garbled)?),
            None => None,
        });
    }
    each(&row);
    Ok(())
}

/// The head of a message of rows.
fn copy_head(bytes: usize, out: &mut bytes::BytesMut) {
    out.put_u8(b'd');
    // At most COPY_BYTES.
    out.put_u32(bytes as u32 + 4);
}

/// A whole message of rows, unless there are none.
fn copy_data(bytes: &[u8], out: &mut bytes::BytesMut) {
    if !bytes.is_empty() {
        copy_head(bytes.len(), out);
        out.put_slice(bytes);
    }
}

/// A socket to the server, encrypted or not.
fn open<'a>(
    place: &Place,
    server: &Server,
    encrypts: Encrypts,
    stop: Option<&'a AtomicBool>,
) -> Result<Link<'a>, Failure> {
    let link = Link::connect(&server.address, place.patience, stop)?;
    match server.tls.settings().filter(|_| encrypts != Encrypts::No) {
        Some(tls) => login::encrypted(link, tls, &server.name, encrypts == Encrypts::Yes),
        None => Ok(link),
    }
}

/// Tells the server to end what the connection does; it says nothing, but hangs up
/// (<https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS>).
fn cancel(
    place: &Place,
    server: &Server,
    encrypts: Encrypts,
    key: (i32, i32),
) -> Result<(), Failure> {
    let mut link = open(place, server, encrypts, None)?;
    frontend::cancel_request(key.0, key.1, &mut link.outgoing);
    link.flush()?;
    let _ = link.channel.read(&mut [0]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::connect;
    use crate::session::Session;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    /// That there is no TLS, that we may come in, and who the connection is.
    fn welcome() -> Vec<u8> {
        let key = message(b'K', &[0, 0, 0, 7, 0, 0, 0, 8]);
        [message(b'R', &[0; 4]), message(b'S', b"name\0value\0"), key, message(b'Z', b"I")].concat()
    }

    fn answer() -> Vec<u8> {
        let row = message(b'D', b"\0\x02\0\0\0\x01a\xff\xff\xff\xff");
        [message(b'T', b"\0\0"), row, message(b'C', b"COPY 1\0"), message(b'Z', b"I")].concat()
    }

    /// What becomes of these calls with a server that says this, whatever it is asked, and hangs up.
    fn said<T>(
        parts: &[&[u8]],
        call: impl FnOnce(&mut Client<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        served(parts, 1, |place| call(&mut Client::connect(place, None)?.0))
    }

    /// The same where the calls connect by themselves, and the server has so many seconds for each.
    fn served<T>(parts: &[&[u8]], seconds: u32, calls: impl FnOnce(&Arc<Place>) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let url = format!("postgres://u:p@/d?host={}", folder.path().display());
        let url = format!("{url}&sslmode=disable&read_timeout={seconds}&connect_timeout={seconds}");
        let place = Arc::new(connect::place(&url, &Spare::default()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
                for part in parts {
                    // The client may have heard enough.
                    let _ = stream.write_all(part);
                }
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            });
            calls(&place)
        })
    }

    #[test]
    fn an_answer_without_an_end_is_not_kept() {
        let value = vec![b'x'; 15 << 20];
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        let row = message(b'D', &[&b"\0\x01"[..], &length, &value].concat());
        let end = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
        let looked = |rows: usize| {
            let answer = [row.repeat(rows), end.clone()].concat();
            served(&[&welcome(), &answer], 60, |place| {
                let stop = AtomicBool::new(false);
                Session::open(place, &stop).unwrap().table("SELECT").map(|rows| rows.len())
            })
        };
        assert_eq!(looked(4).unwrap(), 4);
        assert_eq!(looked(5).unwrap_err().lost_kind(), Some(LostKind::Protocol));
    }

    #[test]
    fn a_server_that_hangs_up_is_told_by_its_code() {
        let fatal = |state: &str, words: &str| {
            let body = format!("VFATAL\0C{state}\0M{words}\0\0");
            let error = message(b'E', body.as_bytes());
            said(&[&welcome(), &error], |client| client.query("SELECT 1")).unwrap_err().lost_kind()
        };
        // The words are the server's, in its language.
        assert_eq!(fatal("25P04", "Zeit um"), Some(LostKind::TransactionTimeout));
        assert_eq!(fatal("57P01", "transaction timeout"), Some(LostKind::Closed));
        assert_eq!(fatal("42501", "no"), Some(LostKind::Closed));
    }

    #[test]
    fn a_server_that_starts_is_worth_another_try() {
        let fatal = message(b'E', b"VFATAL\0C57P03\0Mstarting up\0\0");
        served(&[&fatal], 1, |place| {
            let stop = AtomicBool::new(false);
            let error = Session::open(place, &stop).err().unwrap();
            assert!(
                error.what().contains("starting up") && error.advice()[0].contains("try again")
            );
        });
    }

    fn commit(client: &mut Client<'_>) -> Result<Option<String>, Failure> {
        client.commit()
    }

    #[test]
    fn rows_come_with_their_nulls_and_their_count() {
        let mut rows = Vec::new();
        let row = |row: &[Text<'_>]| {
            rows.push(row.iter().map(|text| text.map(<[u8]>::to_vec)).collect::<Vec<_>>())
        };
        let written = said(&[&welcome(), &answer()], |client| client.rows("SELECT", row)).unwrap();
        assert_eq!((written, rows), (1, vec![vec![Some(b"a".to_vec()), None]]));
    }

    #[test]
    fn a_commit_that_rolls_back_is_none() {
        let undone = [message(b'C', b"ROLLBACK\0"), message(b'Z', b"I")].concat();
        let outcome = said(&[&welcome(), &undone], commit);
        assert!(
            matches!(&outcome, Err(failure) if session::state(failure) == "25P02"),
            "{outcome:?}"
        );
        let done = [message(b'C', b"COMMIT\0"), message(b'Z', b"I")].concat();
        assert_eq!(said(&[&welcome(), &done], commit).unwrap(), None);
        let notice = |severity: &str| {
            message(b'N', format!("V{severity}\0MWait\0D{severity}.\0\0").as_bytes())
        };
        let warned = [notice("NOTICE"), notice("WARNING"), done].concat();
        let warned = said(&[&welcome(), &warned], commit).unwrap();
        assert_eq!(warned.as_deref(), Some("Wait: WARNING"));
        // Ready, without a word of what became of it.
        said(&[&welcome(), &message(b'Z', b"I")], commit).unwrap_err();
    }

    #[test]
    fn what_was_said_before_tls_is_not_taken_for_what_is_said_in_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("postgres://u:secret@{address}/d?sslmode=require&connect_timeout=5");
        let place = Arc::new(connect::place(&url, &Spare::default()).unwrap());
        let both = [b"S".to_vec(), welcome()].concat();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&both).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                let mut heard = Vec::new();
                let _ = stream.read_to_end(&mut heard);
                heard
            });
            let failed = Client::connect(&place, None).err().unwrap();
            assert!(matches!(&failed, Failure::Lost(_)), "{failed:?}");
            let heard = server.join().unwrap();
            // The wish to encrypt, and then only what belongs to TLS: a record of its handshake, perhaps an alert.
            assert_eq!(heard[..8], [0, 0, 0, 8, 4, 210, 22, 47]);
            assert!(heard.get(8).is_none_or(|kind| *kind == 22), "{heard:?}");
            assert!(!heard.windows(6).any(|window| window == b"secret"));
        });
    }

    proptest! {
        /// Servers are other people's: no answer makes us panic, wait for ever or take much memory.
        #[test]
        fn nothing_that_a_server_says_is_trusted(
            place in 0..3,
            kept in 0..60_usize,
            noise in proptest::collection::vec(any::<u8>(), 0..60),
            kind in prop_oneof![Just(b'D'), Just(b'E'), Just(b'N'), Just(b'R'), Just(b'S'), Just(b'C'), Just(b'T'), Just(b'G'), Just(b'H'), Just(b'd'), Just(b'K'), any::<u8>()],
            body in proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(0xff), any::<u8>()], 0..24),
            call in 0..4,
        ) {
            let spoilt = |good: &[u8]| {
                [&good[..kept.min(good.len())], &message(kind, &body), &noise].concat()
            };
            let (login, answer) = match place {
                0 => (spoilt(&welcome()), answer()),
                1 => (welcome(), spoilt(&answer())),
                _ => (welcome(), [spoilt(&[]), answer()].concat()),
            };
            let frame = Frame { head: b"head", tail: b"tail" };
            let _ = said(&[&login, &answer], |client| match call {
                0 => client.query("SELECT 1").map(drop),
                1 => client.copy_in("COPY t FROM STDIN", frame, b"rows").map(drop),
                2 => client.copy_out("COPY t TO STDOUT", |_| {}),
                _ => client.prepare("s", "SELECT 1"),
            });
        }
    }
}
