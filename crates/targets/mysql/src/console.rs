//! Statements over a connection of their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::client::{Client, Text};
use crate::connect::Place;
use crate::facts;
use crate::session::{Failure, NEEDS_KEY, Refusal};
use inrush_core::error::{Error, Result};
use inrush_core::target::may_be_secret;
use inrush_core::target::{Console, Row, Setting};
use inrush_net::{Allowance, Wired as _};

/// What SHOW VARIABLES lists although nobody sets it: what the connection has just done, and what its time is.
const STATE: [&str; 15] = [
    "error_count",
    "external_user",
    "gtid_executed",
    "gtid_owned",
    "identity",
    "in_transaction",
    "insert_id",
    "last_gtid",
    "last_insert_id",
    "proxy_user",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "timestamp",
    "warning_count",
];

/// A connection; nothing goes over it but what it is told to send.
pub(super) struct MysqlConsole<'a> {
    /// `None` once it is lost.
    client: Option<Client<'a>>,
}

impl<'a> MysqlConsole<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        let connected = match Client::left(&place.spare, Some(stop)) {
            Some(client) => Ok(client),
            None => Client::connect(place, Some(stop)),
        };
        match connected {
            Ok(client) => Ok(Self { client: Some(client) }),
            Err(Failure::Lost(lost)) => Err(Error::target(format!("no connection: {lost}"))
                .advise(format!("check that the server runs at {}", place.shown))
                .of_lost_connection()),
            Err(failure) => Err(in_words(failure)),
        }
    }

    /// Names and values, the first two columns of a query; NULL is empty.
    fn pairs(&mut self, sql: &str) -> Result<Vec<(String, String)>> {
        let text = |value: Option<&Text<'_>>| {
            String::from_utf8_lossy(value.copied().flatten().unwrap_or_default()).into_owned()
        };
        let (mut pairs, mut allowance) = (Vec::new(), Allowance::default());
        self.run(sql, &mut |row| {
            if allowance.admits_row(row) {
                pairs.push((text(row.first()).to_ascii_lowercase(), text(row.get(1))));
            }
        })?;
        allowance.kept().map_err(in_words)?;
        Ok(pairs)
    }
}

impl Console for MysqlConsole<'_> {
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let Some(client) = &mut self.client else {
            return Err(Error::target("the connection is closed").of_lost_connection());
        };
        let outcome = client.rows(sql.as_bytes(), row);
        let was_stopped = client.was_stopped();
        if matches!(outcome, Err(Failure::Lost(_))) {
            self.client = None;
        }
        match outcome {
            // Some of the server's functions answer as if they had come to their end.
            _ if was_stopped => Err(Error::interrupted()),
            outcome => Ok(outcome.map_err(in_words)?.affected),
        }
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        // A connection may have set some for itself, and those are the ones that it sees.
        let values = self.pairs("SHOW VARIABLES")?;
        // MariaDB's; to MySQL it is a view that does not exist.
        let defaults = "SELECT VARIABLE_NAME, DEFAULT_VALUE FROM information_schema.SYSTEM_VARIABLES \
             WHERE DEFAULT_VALUE IS NOT NULL";
        let mut defaults: HashMap<String, String> = match self.pairs(defaults) {
            Ok(pairs) => pairs.into_iter().collect(),
            Err(error) if self.client.is_none() => return Err(error),
            Err(_) => HashMap::new(),
        };
        let is_setting = |name: &String| !STATE.contains(&name.as_str()) && !may_be_secret(name);
        Ok(values
            .into_iter()
            .filter(|(name, _)| is_setting(name))
            .map(|(name, value)| {
                let default = defaults.remove(&name);
                Setting { name, value, default }
            })
            .collect())
    }

    fn engine(&mut self) -> Result<String> {
        let variables =
            self.pairs("SHOW VARIABLES WHERE Variable_name IN ('version', 'version_comment')")?;
        let get = |wanted| {
            let found = variables.iter().find(|(name, _)| name == wanted);
            found.map_or("", |(_, value)| value.as_str())
        };
        Ok(facts::engine(get("version"), get("version_comment")))
    }
}

impl Drop for MysqlConsole<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            client.quit();
        }
    }
}

/// Whether it is of a row: a constraint, SIGNAL in a trigger, a partition, a check of a view or of the table.
fn breaks_rule(refused: &Refusal) -> bool {
    let is_of_row = ["23", "45"].iter().any(|class| refused.state.starts_with(class));
    is_of_row || matches!(refused.code, 1369 | 1526 | 1748 | 3819 | 4025)
}

fn in_words(failure: Failure) -> Error {
    match failure {
        Failure::Stopped => Error::interrupted(),
        Failure::Lost(lost) => lost.in_words(),
        // A wait that was too long, and a deadlock.
        Failure::Server(refused) if matches!(refused.code, 1205 | 1213) => {
            Error::target(refused.message).of_giving_way()
        }
        // A packet that is too large.
        Failure::Server(refused) if refused.code == 1153 => Error::target(refused.message)
            .advise("have the server take larger ones: SET GLOBAL max_allowed_packet"),
        Failure::Server(refused) if matches!(refused.code, 1173 | 3750) => {
            Error::target(refused.message).advise(NEEDS_KEY)
        }
        Failure::Server(refused) if breaks_rule(&refused) => {
            Error::target(refused.message).of_broken_rule()
        }
        // Of a command, a table, a column and a database.
        Failure::Server(refused) if matches!(refused.code, 1142 | 1143 | 1044) => {
            Error::target(refused.message).of_lacking_right()
        }
        Failure::Server(refused) => Error::target(refused.message),
    }
}
