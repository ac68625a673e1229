//! Statements over a connection of their own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Client, Text};
use crate::connect::{Place, Server};
use crate::facts;
use crate::session::{self, Failure};
use inrush_core::error::{Error, Result};
use inrush_core::target::may_be_secret;
use inrush_core::target::{Console, Row, Setting, Spare};
use inrush_net::{Allowance, Wired as _};

/// A connection; nothing goes over it but what it is told to send.
pub(super) struct PostgresConsole<'a> {
    /// `None` once it is lost.
    client: Option<Client<'a>>,
    spare: Spare,
    server: Server,
}

impl<'a> PostgresConsole<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        match Client::take_over(place, &place.spare, Some(stop)) {
            Ok((client, server)) => {
                Ok(Self { client: Some(client), spare: place.spare.clone(), server })
            }
            Err(Failure::Lost(lost)) => Err(Error::target(format!("no connection: {lost}"))
                .advise(format!("check that the server runs at {}", place.shown))
                .of_lost_connection()),
            Err(failure) => {
                let advice = session::at_start(&failure);
                Err(advice.into_iter().fold(in_words(failure), Error::advise))
            }
        }
    }

    /// Whether it goes to this machine.
    pub(super) fn is_local(&self) -> bool {
        self.client.as_ref().is_some_and(Client::is_local)
    }

    fn drive<T>(&mut self, work: impl FnOnce(&mut Client<'a>) -> Result<T, Failure>) -> Result<T> {
        let Some(client) = &mut self.client else {
            return Err(Error::target("the connection is closed").of_lost_connection());
        };
        let outcome = work(client);
        let was_stopped = client.was_stopped();
        if matches!(outcome, Err(Failure::Lost(_))) {
            self.client = None;
        }
        match outcome {
            // Whether it came to its end before it was told to, nobody knows.
            _ if was_stopped => Err(Error::interrupted()),
            outcome => outcome.map_err(in_words),
        }
    }
}

impl Console for PostgresConsole<'_> {
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        self.drive(|client| match client.rows(sql, row) {
            // So a transaction ends in which something went wrong, and that is no error to the server.
            Ok(_) if client.done() == "ROLLBACK" && is_to_keep(sql) => Err(session::undone()),
            outcome => outcome,
        })
    }

    fn commit(&mut self) -> Result<Option<String>> {
        let warning = self.drive(Client::commit)?;
        Ok(warning.map(|said| session::warned(&said)))
    }

    fn send_ahead(&mut self, sql: &str) -> Result<()> {
        let Some(client) = &mut self.client else { return self.execute(sql).map(drop) };
        let sent = client.send_ahead(sql);
        if matches!(sent, Err(Failure::Lost(_))) {
            self.client = None;
        }
        sent.map_err(in_words)
    }

    fn hand_on(mut self: Box<Self>) {
        if let Some(client) = self.client.take() {
            client.leave(&self.spare, self.server.clone());
        }
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        let text = |value: &Text<'_>| value.map(|text| String::from_utf8_lossy(text).into_owned());
        let (mut settings, mut allowance) = (Vec::new(), Allowance::default());
        let sql = "SELECT name, setting, boot_val FROM pg_catalog.pg_settings ORDER BY name";
        self.run(sql, &mut |row| {
            if allowance.admits_row(row)
                && let [name, value, default] = row
            {
                let (name, value) = (text(name).unwrap_or_default(), text(value));
                if !may_be_secret(&name) {
                    let (value, default) = (value.unwrap_or_default(), text(default));
                    settings.push(Setting { name, value, default });
                }
            }
        })?;
        allowance.kept().map_err(in_words)?;
        Ok(settings)
    }

    fn engine(&mut self) -> Result<String> {
        let version = self.value("SHOW server_version")?;
        Ok(facts::engine(&version.unwrap_or_default()))
    }
}

impl Drop for PostgresConsole<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            client.quit();
        }
    }
}

/// Whether the statement is to keep what the transaction has done.
fn is_to_keep(sql: &str) -> bool {
    let word = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    ["COMMIT", "END", "PREPARE"].iter().any(|end| word.eq_ignore_ascii_case(end))
}

/// Whether this SQLSTATE is of a row: a constraint, a check of a view, or RAISE in a trigger
/// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
fn breaks_rule(state: &str) -> bool {
    state.starts_with("23") || matches!(state, "44000" | "P0001")
}

fn in_words(failure: Failure) -> Error {
    match failure {
        Failure::Stopped => Error::interrupted(),
        Failure::Lost(lost) => lost.in_words(),
        // A snapshot that is too old, a deadlock, and a wait that was too long.
        Failure::Server(refused)
            if matches!(refused.state.as_str(), "40001" | "40P01" | "55P03") =>
        {
            Error::target(refused.message).of_giving_way()
        }
        Failure::Server(refused) => {
            // Which row, or which other object, the server says apart.
            let error = Error::target(match refused.detail {
                Some(detail) => format!("{} ({})", refused.message, detail.trim_end_matches('.')),
                None => refused.message,
            });
            match refused.state.as_str() {
                "42501" => error.of_lacking_right(),
                state if breaks_rule(state) => error.of_broken_rule(),
                _ => error,
            }
        }
    }
}
