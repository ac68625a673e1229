//! What a statement waits for, asked over a connection of its own: a lock, and who holds it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Client;
use crate::connect::{Place, Server};
use inrush_core::target::Spare;
use inrush_core::wording::waiting_for_lock;
use inrush_net::channel::Patience;

/// How long the answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks what the connection waits for that the server knows by the number `id`; `None` where it is for no lock, or the server does not
/// say.
pub(super) fn ask(place: &Place, server: &Server, id: i32) -> Option<String> {
    let patience =
        Patience { connect: PATIENCE.min(place.patience.connect), answer: Some(PATIENCE) };
    let place = Place {
        servers: vec![server.clone()],
        patience,
        // A connection that asks has none that asks for it.
        spare: Spare::default(),
        ..place.clone()
    };
    let (mut client, _) = Client::connect(&Arc::new(place), None).ok()?;
    let mut waits = None;
    let asked = client.rows(&question(id), |row| {
        let said = |at: usize| {
            let text = row.get(at).copied().flatten().map(String::from_utf8_lossy);
            text.filter(|text| !text.is_empty()).map(Cow::into_owned)
        };
        waits = Some(sentence(said));
    });
    client.quit();
    asked.ok().and(waits)
}

/// A pooler's number is no process's, or another one's: so the one that waits has to be of our user. Who waits for the longest is who
/// has begun first; 0 stands for a transaction that is prepared
/// (<https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SESSION>).
fn question(id: i32) -> String {
    format!(
        "SELECT b.pid, a.application_name, a.usename, a.state, \
         pg_catalog.to_char(a.xact_start, 'YYYY-MM-DD HH24:MI:SSOF'), \
         (SELECT min(l.relation::pg_catalog.regclass::pg_catalog.text) FROM pg_catalog.pg_locks l \
         WHERE l.pid = w.pid AND NOT l.granted AND l.locktype = 'relation') \
         FROM pg_catalog.pg_stat_activity w CROSS JOIN LATERAL pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) b(pid) \
         LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid \
         WHERE w.pid = {id} AND w.usename = CURRENT_USER AND w.wait_event_type = 'Lock' \
         ORDER BY a.xact_start, b.pid LIMIT 1"
    )
}

/// `said` gives the columns of the answer.
fn sentence(said: impl Fn(usize) -> Option<String>) -> String {
    let table = said(5);
    let Some(holder) = said(0).filter(|holder| holder != "0") else {
        let waiting = waiting_for_lock(table.as_deref(), "a prepared transaction", &[]);
        return format!("{waiting}: see pg_prepared_xacts");
    };
    let mut known: Vec<String> = said(1).into_iter().collect();
    known.extend(said(2).map(|user| format!("user {user}")));
    known.extend(said(3).map(|state| match said(4) {
        Some(since) => format!("{state}, in a transaction since {since}"),
        None => state,
    }));
    let waiting = waiting_for_lock(table.as_deref(), &format!("process {holder}"), &known);
    format!("{waiting}: SELECT pg_terminate_backend({holder}) ends it")
}
