//! One connection of MySQL's protocol, in calls that block.
//!
//! ```text
//! link   packets on a channel
//! login  who we are, and what both sides can do
//! ```
//!
//! The packets' layout is `mysql_common`'s; what is ours is that the encoder's bytes go out as they are, in LOAD DATA LOCAL and in
//! MariaDB's bulk execute (<https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>,
//! <https://mariadb.com/kb/en/clientserver-protocol/>).

mod link;
mod login;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Buf;
use mysql_common::constants::StatusFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::StmtPacket;

use link::Link;

use crate::connect::Place;
use crate::session::Failure;
use inrush_core::target::Spare;
use inrush_net::statement::Done;
use inrush_net::{LostKind, Wired};

/// Bytes of a LOCAL file in one packet: small enough for any max_allowed_packet, large enough to be few.
const PACKET_BYTES: usize = 64 << 10;

/// Commands, by their first byte
/// (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html>, <https://mariadb.com/kb/en/com_stmt_bulk_execute/>).
mod command {
    pub(super) const QUIT: u8 = 0x01;
    pub(super) const QUERY: u8 = 0x03;
    pub(super) const PREPARE: u8 = 0x16;
    pub(super) const EXECUTE: u8 = 0x17;
    pub(super) const BULK_EXECUTE: u8 = 0xfa;
}

/// A connection.
pub(super) struct Client<'a> {
    link: Link<'a>,
    /// The server's number of it.
    pub(super) id: u32,
    /// Whether the server takes many rows of parameters at once.
    pub(super) has_bulk: bool,
    /// The packet read last.
    packet: Vec<u8>,
    /// Each statement commits by itself, and no transaction is open: the connection holds no table.
    is_idle: bool,
}

/// A connection that is left for whoever connects next.
struct Left(Option<Client<'static>>);

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            client.quit();
        }
    }
}

/// A statement that the server has prepared, for as long as the connection lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    id: u32,
}

/// A value of a row that a query gives, as text; `None` is NULL.
pub(super) type Text<'p> = Option<&'p [u8]>;

impl<'a> Client<'a> {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`Failure::Server`] when the server says no, [`Failure::Lost`] when there is none, [`Failure::Stopped`] when the user
    /// does not want to wait.
    pub(super) fn connect(
        place: &Arc<Place>,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        let (mut link, greeted) = login::login(Link::connect(place, stop)?, place)?;
        link.logged_in(place, greeted.id);
        Ok(Self {
            link,
            id: greeted.id,
            has_bulk: greeted.has_bulk,
            packet: Vec::new(),
            is_idle: true,
        })
    }

    /// The connection that was left, where the server still holds it.
    pub(super) fn left(spare: &Spare, stop: Option<&'a AtomicBool>) -> Option<Self> {
        let mut left = spare.take::<Left>()?;
        let client = left.0.take_if(|client| client.link.channel.is_quiet())?;
        Some(client.watched_by(stop))
    }

    /// Leaves the connection for whoever connects next, where it holds nothing; otherwise ends it.
    pub(super) fn leave(self, spare: &Spare) {
        match self.is_idle {
            true => spare.keep(Left(Some(self.watched_by(None)))),
            false => self.quit(),
        }
    }

    fn watched_by<'b>(self, stop: Option<&'b AtomicBool>) -> Client<'b> {
        Client {
            link: self.link.watched_by(stop),
            id: self.id,
            has_bulk: self.has_bulk,
            packet: self.packet,
            is_idle: self.is_idle,
        }
    }

    /// From here on the call that waits is not given up when the user wants to stop.
    pub(super) fn unwatch(&mut self) {
        self.link.channel.unwatch();
    }

    /// Says goodbye, and waits for nothing.
    pub(super) fn quit(mut self) {
        self.link.channel.be_brief();
        let _ = self.link.command(command::QUIT, &[][..]);
    }

    /// Runs statements that give no rows, or whose rows nobody wants.
    pub(super) fn query(&mut self, sql: &[u8]) -> Result<Done, Failure> {
        self.rows(sql, |_| {})
    }

    /// Runs a statement and hands every row to `each`.
    pub(super) fn rows(
        &mut self,
        sql: &[u8],
        mut each: impl FnMut(&[Text<'_>]),
    ) -> Result<Done, Failure> {
        self.results(sql, |_, row| each(row))
    }

    /// The same with the number of the row's statement, counted from 0.
    pub(super) fn results(
        &mut self,
        sql: &[u8],
        mut each: impl FnMut(usize, &[Text<'_>]),
    ) -> Result<Done, Failure> {
        self.command(command::QUERY, sql)?;
        self.answer(None, &mut each)
    }

    /// Runs LOAD DATA LOCAL; when the server asks for the file it gets `file`, whatever name it asks for, and once.
    pub(super) fn load_local(&mut self, sql: &[u8], file: &[u8]) -> Result<Done, Failure> {
        self.command(command::QUERY, sql)?;
        self.answer(Some(file), &mut |_, _| {})
    }

    /// Has the server prepare a statement that gives no rows.
    pub(super) fn prepare(&mut self, sql: &[u8]) -> Result<Prepared, Failure> {
        self.command(command::PREPARE, sql)?;
        self.read()?;
        let prepared: StmtPacket =
            ParseBuf(&self.packet).parse(()).map_err(|_| Failure::garbled())?;
        for definitions in [prepared.num_params(), prepared.num_columns()] {
            // Each with an end of its own, which isn't there where there are none.
            for _ in 0..u32::from(definitions) + u32::from(definitions > 0) {
                self.read()?;
            }
        }
        Ok(Prepared { id: prepared.statement_id() })
    }

    /// Runs a prepared statement; `parameters` is what follows the statement's number in COM_STMT_EXECUTE after its flags: which
    /// parameters are NULL, their types, their values.
    pub(super) fn execute(
        &mut self,
        statement: Prepared,
        parameters: &[u8],
    ) -> Result<Done, Failure> {
        // No cursor, run once.
        let id = statement.id.to_le_bytes();
        self.command(command::EXECUTE, id[..].chain(&[0, 1, 0, 0, 0][..]).chain(parameters))?;
        self.answer(None, &mut |_, _| {})
    }

    /// Runs a prepared statement once for each of the rows in `rows`, as one statement. `types` are those of all parameters.
    pub(super) fn execute_bulk(
        &mut self,
        statement: Prepared,
        types: &[u8],
        rows: &[u8],
    ) -> Result<Done, Failure> {
        /// The types come along.
        const SEND_TYPES: u16 = 128;
        let (id, flags) = (statement.id.to_le_bytes(), SEND_TYPES.to_le_bytes());
        self.command(command::BULK_EXECUTE, id[..].chain(&flags[..]).chain(types).chain(rows))?;
        self.answer(None, &mut |_, _| {})
    }

    fn command(&mut self, code: u8, rest: impl Buf) -> Result<(), Failure> {
        self.is_idle = false;
        let sent = self.link.command(code, rest);
        sent.map_err(|failure| self.link.reason(failure))
    }

    /// Reads a packet that isn't the server's no.
    fn read(&mut self) -> Result<(), Failure> {
        self.link.read(&mut self.packet)
    }

    /// Reads all that the server says to one command: of several statements it is several results.
    fn answer(
        &mut self,
        mut file: Option<&[u8]>,
        each: &mut dyn FnMut(usize, &[Text<'_>]),
    ) -> Result<Done, Failure> {
        let mut statement = 0;
        loop {
            self.read()?;
            let (done, status) = match self.packet[0] {
                0x00 => done(&self.packet[1..])?,
                // LOCAL INFILE request: whatever file it names.
                0xfb => match file.take() {
                    Some(bytes) => {
                        self.send_file(bytes)?;
                        continue;
                    }
                    None => {
                        return Err(Failure::lost(
                            LostKind::Protocol,
                            "the server asks for a file that it was not offered, and gets none",
                        ));
                    }
                },
                _ => self.result_set(&mut |row| each(statement, row))?,
            };
            if !status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                self.is_idle = status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT)
                    && !status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
                return Ok(done);
            }
            self.link.next_result();
            statement += 1;
        }
    }

    fn send_file(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut send = || {
            bytes.chunks(PACKET_BYTES).try_for_each(|packet| self.link.write(packet))?;
            // The end of the file.
            self.link.write(&[][..])?;
            self.link.flush()
        };
        let sent = send();
        sent.map_err(|failure| self.link.reason(failure))
    }

    /// Reads columns and rows; how many columns there are was read.
    fn result_set(
        &mut self,
        each: &mut dyn FnMut(&[Text<'_>]),
    ) -> Result<(Done, StatusFlags), Failure> {
        let columns =
            ParseBuf(&self.packet).checked_eat_lenenc_int().ok_or_else(Failure::garbled)?;
        for _ in 0..=columns {
            self.read()?;
        }
        loop {
            self.read()?;
            // EOF packet: warnings, status. A row may begin with the same byte, and is longer.
            if let [0xfe, w0, w1, s0, s1, ..] = *self.packet
                && self.packet.len() < 9
            {
                let done = Done { affected: 0, warnings: u16::from_le_bytes([w0, w1]) };
                let status = StatusFlags::from_bits_truncate(u16::from_le_bytes([s0, s1]));
                return Ok((done, status));
            }
            let mut buffer = ParseBuf(&self.packet);
            let row = (0..columns).map(|_| match buffer.0.first() {
                Some(0xfb) => {
                    buffer.skip(1);
                    Ok(None)
                }
                _ => buffer.checked_eat_lenenc_str().map(Some).ok_or_else(Failure::garbled),
            });
            each(&row.collect::<Result<Vec<_>, _>>()?);
        }
    }
}

impl Wired for Client<'_> {
    fn was_stopped(&self) -> bool {
        self.link.channel.was_stopped()
    }
}

/// What an OK packet says, without its first byte: rows, last number given, status, warnings.
fn done(packet: &[u8]) -> Result<(Done, StatusFlags), Failure> {
    let mut buffer = ParseBuf(packet);
    let mut read = || {
        let affected = buffer.checked_eat_lenenc_int()?;
        buffer.checked_eat_lenenc_int()?;
        let status = StatusFlags::from_bits_truncate(buffer.checked_eat_u16_le()?);
        Some((Done { affected, warnings: buffer.checked_eat_u16_le()? }, status))
    };
    read().ok_or_else(Failure::garbled)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::connect;
    use crate::session::Session;

    /// What MariaDB says first, and that it lets us in.
    const GREETING: &[u8] = b"\x0a5.5.5-10.11.0-MariaDB\0\x07\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\x07\0\0\0abcdefghijkl\0mysql_native_password\0";
    const OK: &[u8] = b"\0\0\0\x02\0\0\0";

    /// What becomes of a query with a server that says these packets, whatever it is asked, and hangs up. `answers` are those after
    /// the login.
    fn said(greeting: &[u8], login: &[u8], answers: &[Vec<u8>]) -> Result<Done, Failure> {
        served(greeting, login, answers, 1, |place| {
            Client::connect(place, None)?.query(b"SELECT 1")
        })
    }

    /// The same of any calls, for which the server has so many seconds.
    fn served<T>(
        greeting: &[u8],
        login: &[u8],
        answers: &[Vec<u8>],
        seconds: u32,
        calls: impl FnOnce(&Arc<Place>) -> T,
    ) -> T {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let url = format!("mysql://u@h/d?socket={}&read-timeout={seconds}", path.display());
        let place = Arc::new(connect::place(&url, &Spare::default()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
                let mut say = |number: u8, packet: &[u8]| {
                    let head = u32::try_from(packet.len()).unwrap() | (u32::from(number) << 24);
                    // The client may have heard enough.
                    let _ = stream.write_all(&[&head.to_le_bytes()[..], packet].concat());
                };
                say(0, greeting);
                say(2, login);
                for (number, packet) in (1..).zip(answers) {
                    say(number, packet);
                }
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            });
            calls(&place)
        })
    }

    /// As servers do that are told to kill a query between two statements of one message: they are through, and say nothing of the second.
    #[test]
    fn an_answer_that_never_comes_is_not_waited_for() {
        let end = b"\xfe\0\0\x02\0".to_vec();
        let first_of_two = [b"\0\0\0\x0a\0\0\0".to_vec()];
        let is_idle = [b"\x01".to_vec(), b"column".to_vec(), end.clone(), b"\x011".to_vec(), end];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let url = format!("mysql://u@h/d?socket={}", path.display());
        let place = Arc::new(connect::place(&url, &Spare::default()).unwrap());
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let mut open = Vec::new();
                for answers in [&first_of_two[..], &is_idle, &is_idle] {
                    let (mut stream, _) = listener.accept().unwrap();
                    let packets = [(0, GREETING), (2, OK)];
                    let answers = (1..).zip(answers.iter().map(Vec::as_slice));
                    for (number, packet) in packets.into_iter().chain(answers) {
                        let head = packet.len() as u32 | (number << 24);
                        stream.write_all(&[&head.to_le_bytes()[..], packet].concat()).unwrap();
                    }
                    open.push(stream);
                }
                open
            });
            let mut client = Client::connect(&place, None).unwrap();
            let failed = client.query(b"DO 0; DO 0").unwrap_err();
            drop(server.join());
            assert!(format!("{failed:?}").contains("interrupted"), "{failed:?}");
        });
    }

    #[test]
    fn an_answer_without_an_end_is_not_kept() {
        let end = b"\xfe\0\0\x02\0".to_vec();
        let value = vec![b'x'; 15 << 20];
        let row = [&b"\xfd"[..], &value.len().to_le_bytes()[..3], &value].concat();
        let looked = |rows: usize| {
            let mut answers = vec![b"\x01".to_vec(), b"column".to_vec(), end.clone()];
            answers.extend(std::iter::repeat_n(row.clone(), rows));
            answers.push(end.clone());
            served(GREETING, OK, &answers, 60, |place| {
                let stop = AtomicBool::new(false);
                Session::open(place, &stop).unwrap().table("SELECT 1").map(|rows| rows.len())
            })
        };
        assert_eq!(looked(4).unwrap(), 4);
        assert_eq!(looked(5).unwrap_err().lost_kind(), Some(LostKind::Protocol));
    }

    #[test]
    fn rows_of_an_ok_and_of_a_result_set() {
        let done = said(GREETING, OK, &[b"\0\xfc\x10\x27\0\x02\0\x03\0".to_vec()]).unwrap();
        assert_eq!((done.affected, done.warnings), (10_000, 3));
        let end = b"\xfe\x01\0\x02\0".to_vec();
        let rows = [b"\x01".to_vec(), b"column".to_vec(), end.clone(), b"\xfb".to_vec(), end];
        assert_eq!(said(GREETING, OK, &rows).unwrap().warnings, 1);
    }

    #[test]
    fn a_nonce_that_is_far_too_long_makes_no_sense() {
        let mut greeting = GREETING.to_vec();
        let length = greeting.windows(2).position(|bytes| bytes == b"\x15\0").unwrap();
        greeting[length] = 0x80;
        assert!(matches!(said(&greeting, OK, &[]), Err(Failure::Lost(_))));
    }

    #[test]
    fn what_was_said_before_tls_is_not_taken_for_what_is_said_in_it() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "mysql://u:secret@{}/d?ssl-mode=required&connect-timeout=5",
            listener.local_addr().unwrap()
        );
        let place = Arc::new(connect::place(&url, &Spare::default()).unwrap());
        let mut greeting = GREETING.to_vec();
        let capabilities = greeting.windows(2).position(|bytes| bytes == b"\xfe\xf7").unwrap();
        greeting[capabilities + 1] = 0xff;
        let mut both = (greeting.len() as u32).to_le_bytes().to_vec();
        both.extend_from_slice(&greeting);
        both.extend_from_slice(b"\x07\0\0\x03");
        both.extend_from_slice(OK);
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&both).unwrap();
                let mut heard = Vec::new();
                let _ = stream.read_to_end(&mut heard);
                heard
            });
            let failed = Client::connect(&place, None).err().unwrap();
            assert_eq!(failed.lost_kind(), Some(LostKind::Protocol), "{failed:?}");
            // The wish to encrypt, and not a word more.
            assert_eq!(server.join().unwrap().len(), 36);
        });
    }

    proptest! {
        /// Servers are other people's: no answer makes us panic, wait for ever or take much memory.
        #[test]
        fn nothing_that_a_server_says_is_trusted(
            place in 0..3,
            noise in proptest::collection::vec(any::<u8>(), 0..90),
            kept in 0..90_usize,
            answers in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(0xfb), Just(0xfe), Just(0xff), any::<u8>()], 0..12),
                0..6,
            ),
        ) {
            let spoilt = |packet: &[u8]| [&packet[..kept.min(packet.len())], &noise[..]].concat();
            let _ = match place {
                0 => said(&spoilt(GREETING), OK, &answers),
                1 => said(GREETING, &spoilt(OK), &answers),
                _ => said(GREETING, OK, &answers),
            };
        }
    }
}
