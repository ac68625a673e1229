//! What a load can do and promise, before it begins.

use crate::facts::{DatabaseFacts, IN_MEMORY, VIEW};
use crate::knobs::ROWS_PER_TRANSACTION;
use inrush_core::target::{Fit, Knobs, Memory, Weakness};
use inrush_core::{Column, Durability, Facts, IfExists, OnConflict, Request, Verify};

/// The columns of the existing table which the source names, or all by their place; none of a table that the load makes.
pub(super) fn columns(request: &Request, facts: &Facts) -> Vec<Column> {
    let Some(table) = facts.kept_table(request) else { return Vec::new() };
    let is_named = |column: &&Column| facts.source.field_for(column, &table.columns).is_some();
    let named: Vec<Column> = table.columns.iter().filter(is_named).cloned().collect();
    if named.is_empty() || !facts.source.header { table.columns.clone() } else { named }
}

/// Whether rows are committed on the way.
pub(super) fn is_piecemeal(knobs: &Knobs) -> bool {
    knobs.get_count(&ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0)
}

/// What all strategies answer to `fit`.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let kept = facts.kept_table(request);
    let unusable = |reason: String| Fit::Unusable { reason };
    let database = DatabaseFacts::of(&facts.target);
    if database.only_reads {
        return unusable("the database only reads".to_owned());
    }
    if request.on_conflict != OnConflict::Fail {
        return unusable(format!(
            "SQL Server's INSERT has no answer to a duplicate key (--on-conflict {}): load into a table beside it, and MERGE",
            request.on_conflict
        ));
    }
    let storage = kept.and_then(|table| table.storage.as_deref()).unwrap_or_default();
    if storage == IN_MEMORY {
        return unusable(
            "the table is memory-optimized, and has no savepoints to take a refused row back to"
                .to_owned(),
        );
    }
    let piecemeal = is_piecemeal(knobs);
    if piecemeal && request.if_exists == IfExists::Replace && facts.target.table.is_some() {
        return unusable(
            "rows_per_transaction commits on the way, and the old table would be gone by then"
                .to_owned(),
        );
    }
    let (durability, weakness) = durability(&database.name, &database.delayed_durability);
    Fit::Usable {
        atomic: !piecemeal,
        durability,
        weakness,
        lanes: 1,
        lanes_max: 1,
        // The server does most of the work, and may be on this machine.
        encoders: (facts.processors / 2).max(1),
        notes: notes(request, facts, piecemeal),
    }
}

/// What a crash of server or machine leaves of what was committed
/// (<https://learn.microsoft.com/en-us/sql/relational-databases/logs/control-transaction-durability>).
fn durability(database: &str, delayed: &str) -> (Durability, Option<Weakness>) {
    match (database, delayed) {
        ("tempdb", _) => (Durability::None, Some(Weakness::thing("the database tempdb"))),
        (_, "FORCED") => {
            let weakness = Weakness {
                what: "DELAYED_DURABILITY=FORCED, a setting of the database,".to_owned(),
                remedy: Some(
                    "or have it changed: ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED"
                        .to_owned(),
                ),
            };
            (Durability::None, Some(weakness))
        }
        _ => (Durability::Durable, None),
    }
}

fn notes(request: &Request, facts: &Facts, piecemeal: bool) -> Vec<String> {
    let kept = facts.kept_table(request);
    let mut notes = vec![match (piecemeal, kept) {
        (true, _) => "one connection, straight into the table".to_owned(),
        (false, None) => "one connection and one transaction, which makes the table".to_owned(),
        (false, Some(_)) if request.verify == Verify::None => {
            "one connection and one transaction".to_owned()
        }
        (false, Some(_)) => "one connection and one transaction: the table is locked for others until it ends, so that the rows can be counted".to_owned(),
    }];
    if DatabaseFacts::of(&facts.target).recovery_model.as_deref() == Some("FULL") {
        notes.push("the database's recovery model is FULL: every row goes into the transaction log (BULK_LOGGED logs INSERT BULK into a heap by the page)".to_owned());
    }
    notes
}

/// Whether INSERT BULK may go into it; why not.
pub(super) fn not_for_bulk(request: &Request, facts: &Facts) -> Option<String> {
    let table = facts.kept_table(request)?;
    (table.storage.as_deref() == Some(VIEW))
        .then(|| format!("{} is a view: INSERT is for those", table.name))
}

pub(super) fn memory(request: &Request) -> Memory {
    // The connection, a chunk as UTF-16 on its way, and the program itself.
    let fixed_bytes = 32 << 20;
    let chunk_bytes = 256 << 10;
    match request.verify {
        // A digit and a comma become a cell of 16 bytes, a decimal 16 more and a literal of 40 digits; and a row has a mark.
        Verify::Checksum => Memory { wire_bytes_per_byte: 44, fixed_bytes, chunk_bytes },
        Verify::Count | Verify::None => {
            Memory { wire_bytes_per_byte: 36, fixed_bytes, chunk_bytes }
        }
    }
}
