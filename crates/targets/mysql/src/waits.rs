//! What a statement waits for, asked over a connection of its own: a lock, and who holds it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::client::Client;
use crate::connect::Place;
use inrush_core::wording::waiting_for_lock;

/// Who holds what the connection `id` waits for, as each kind of server and lock has it; an answer is the holder's number, user, host and
/// command, and the table. What the server does not have, or the login may not see, gives nothing. A row's lock is that of a transaction:
/// the thread that it was made by may be the one that waits for it, on behalf of who has inserted the row.
///
/// - <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-metadata-locks-table.html>
/// - <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-data-lock-waits-table.html>
/// - <https://dev.mysql.com/doc/refman/5.7/en/information-schema-innodb-lock-waits-table.html>, which MariaDB has as well
const HOLDERS: [&str; 3] = [
    "SELECT h.PROCESSLIST_ID, h.PROCESSLIST_USER, h.PROCESSLIST_HOST, h.PROCESSLIST_COMMAND, \
     CONCAT_WS('.', w.OBJECT_SCHEMA, w.OBJECT_NAME) \
     FROM performance_schema.metadata_locks w JOIN performance_schema.threads t ON t.THREAD_ID = w.OWNER_THREAD_ID \
     JOIN performance_schema.metadata_locks g ON g.OBJECT_TYPE = w.OBJECT_TYPE AND g.OBJECT_SCHEMA <=> w.OBJECT_SCHEMA \
     AND g.OBJECT_NAME <=> w.OBJECT_NAME AND g.LOCK_STATUS = 'GRANTED' AND g.OWNER_THREAD_ID <> w.OWNER_THREAD_ID \
     JOIN performance_schema.threads h ON h.THREAD_ID = g.OWNER_THREAD_ID \
     WHERE t.PROCESSLIST_ID = {id} AND w.LOCK_STATUS = 'PENDING' ORDER BY h.PROCESSLIST_TIME DESC LIMIT 1",
    "SELECT b.trx_mysql_thread_id, p.USER, p.HOST, p.COMMAND, CONCAT_WS('.', l.OBJECT_SCHEMA, l.OBJECT_NAME) \
     FROM performance_schema.data_lock_waits w \
     JOIN information_schema.INNODB_TRX t ON t.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
     JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID \
     LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID AND l.ENGINE = w.ENGINE \
     LEFT JOIN information_schema.PROCESSLIST p ON p.ID = b.trx_mysql_thread_id \
     WHERE t.trx_mysql_thread_id = {id} ORDER BY b.trx_started LIMIT 1",
    "SELECT b.trx_mysql_thread_id, p.USER, p.HOST, p.COMMAND, REPLACE(l.lock_table, '`', '') \
     FROM information_schema.INNODB_LOCK_WAITS w JOIN information_schema.INNODB_TRX t ON t.trx_id = w.requesting_trx_id \
     JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id \
     LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id \
     LEFT JOIN information_schema.PROCESSLIST p ON p.ID = b.trx_mysql_thread_id \
     WHERE t.trx_mysql_thread_id = {id} ORDER BY b.trx_started LIMIT 1",
];

/// Asks what the connection waits for that the server knows by the number `id`; `None` where it is for no lock, or the server does not
/// say. `place` has its patience.
pub(super) fn ask(place: &Arc<Place>, id: u32) -> Option<String> {
    let mut client = Client::connect(place, None).ok()?;
    let waits = waits(&mut client, id);
    client.quit();
    waits
}

fn waits(client: &mut Client<'_>, id: u32) -> Option<String> {
    // Numbers of a proxy's own are none of the server's.
    let state = format!(
        "SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id} AND CONNECTION_ID() = {}",
        client.id
    );
    let state = row(client, &state)?.into_iter().next().flatten();
    for holder in HOLDERS {
        if let Some(row) = row(client, &holder.replace("{id}", &id.to_string())) {
            return sentence(&row);
        }
    }
    let state = state.filter(|state| state.starts_with("Waiting for "))?;
    Some(format!(
        "the server says '{state}': SHOW FULL PROCESSLIST has the connection that holds the lock, perhaps asleep in a transaction"
    ))
}

/// The last row that a statement gives; `None` where there is none, or the server refuses.
fn row(client: &mut Client<'_>, sql: &str) -> Option<Vec<Option<String>>> {
    let mut found = None;
    let asked = client.rows(sql.as_bytes(), |row| {
        let text = |value: &Option<&[u8]>| value.map(String::from_utf8_lossy).map(Cow::into_owned);
        found = Some(row.iter().map(text).collect());
    });
    asked.ok().and(found)
}

fn sentence(row: &[Option<String>]) -> Option<String> {
    let said = |at: usize| row.get(at)?.as_deref().filter(|text| !text.is_empty());
    let holder = said(0)?;
    let known = [("user ", said(1)), ("from ", said(2)), ("", said(3))];
    let known: Vec<String> =
        known.iter().filter_map(|(word, text)| Some(format!("{word}{}", (*text)?))).collect();
    let waiting = waiting_for_lock(said(4), &format!("connection {holder}"), &known);
    Some(format!("{waiting}: KILL {holder} ends it"))
}
