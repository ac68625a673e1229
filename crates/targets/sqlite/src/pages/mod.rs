//! `sqlite/pages`: the table's b-tree built here, page by page, past SQLite's SQL engine.
//!
//! ```text
//! chunk -> [record encoder x E] -> records -> [lane: rowids, leaves, interior pages] -> the file, or SQLite's pager
//! ```
//!
//! A new database is made by SQLite, table and all, and then written as a file, under its temporary name. A database that is
//! there is written through `sqlite_dbpage`, inside one transaction of SQLite's own, so locks, journals and readers behave as with
//! any writer. In both, new pages go behind the existing ones, and the table's empty root page is replaced last.

mod free;
mod keys;
mod lane;
pub(super) mod layout;
mod record;
mod rows;
mod sink;
mod write;

use std::sync::atomic::AtomicBool;

use crate::load::{self, CACHE, JOURNAL_MODE, SqliteLoad};
use inrush_core::error::Result;
use inrush_core::target::{Fit, Knob, KnobKind, Knobs, Load, Memory, Strategy};
use inrush_core::{Facts, Guarantee, IfExists, Job, OnConflict, Request, TableFacts};

use self::write::PageWriting;

/// The strategy.
pub(super) struct Pages;

pub(super) const ROW_ORDER: Knob = Knob {
    name: "row_order",
    kind: KnobKind::Choice(&["ascending", "any"]),
    default: "ascending",
    about: "how rows come whose INTEGER PRIMARY KEY is loaded; 'any' sorts them, and a file that turns out to need it is read again",
    tries: &[],
};
pub(super) const SORT_MEMORY: Knob = Knob {
    name: "sort_memory",
    kind: KnobKind::Count { min: 1 << 20, max: 64 << 30 },
    default: "25165824",
    about: "bytes in which keys are sorted; what is more goes to nameless files beside the database",
    tries: &["134217728"],
};

/// A chunk can have as many rows as it has bytes by two, and each gets the defaults of all columns that the source lacks: more
/// than this would be many times the memory that the plan tells.
const DEFAULT_BYTES_MAX: u32 = 64;

impl Strategy for Pages {
    fn id(&self) -> &'static str {
        "sqlite/pages"
    }

    fn about(&self) -> &'static str {
        "pages of the table's b-trees, built outside SQL: straight into a new file, or through SQLite's pager into an existing database"
    }

    fn fills_at_once(&self) -> bool {
        true
    }

    fn knobs(&self) -> &'static [Knob] {
        load::page_knobs()
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        if !facts.target.exists {
            // Its pages don't pass through SQLite, which only looks at each of them once afterwards: in memory that stays in a
            // core's own cache that takes 0.85 of the time that it takes with 8 MiB.
            knobs.suggest(&CACHE, "1048576");
        }
        match obstacle(request, facts, knobs) {
            Some(reason) => Fit::Unusable { reason },
            None => {
                let mut fit = load::fit(request, facts, knobs);
                if let Fit::Usable { encoders, .. } = &mut fit {
                    // The lane waits for the kernel and the disk.
                    *encoders = facts.processors + 1;
                }
                fit
            }
        }
    }

    fn memory(&self, _request: &Request, knobs: &Knobs) -> Memory {
        Memory {
            // The narrowest row is two bytes, and takes a mark, a rowid, and a record of three.
            wire_bytes_per_byte: 10,
            // There is no statement to run for each row, so handing chunks on is what costs.
            chunk_bytes: 512 << 10,
            fixed_bytes: load::memory(knobs).fixed_bytes + knobs.count(&SORT_MEMORY),
        }
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        SqliteLoad::start(PageWriting::default(), job, stop)
    }
}

/// Why this load needs SQLite's own INSERT.
fn obstacle(request: &Request, facts: &Facts, knobs: &Knobs) -> Option<String> {
    if request.guarantee == Guarantee::Chunks {
        return Some(
            "a b-tree is whole when its last page is written, and not step by step".to_owned(),
        );
    }
    if request.on_conflict != OnConflict::Fail {
        let conflict = request.on_conflict;
        return Some(format!("--on-conflict {conflict} looks keys up row by row"));
    }
    if !facts.new_fields(request).is_empty() {
        return Some("columns are added to the table, by SQLite itself".to_owned());
    }
    if facts.target.exists
        && let Some(reason) = &facts.target.engine_only
    {
        return Some(reason.clone());
    }
    if facts.target.exists && knobs.is(&JOURNAL_MODE, "off") {
        // A root page is put in place by rolling a savepoint back.
        return Some("with journal_mode=off SQLite can't roll back".to_owned());
    }
    let deletes_rows = matches!(request.if_exists, IfExists::Truncate | IfExists::Replace);
    if let Some(table) = &facts.target.table
        && table.is_parent
        && table.holds_rows
        && deletes_rows
    {
        // A deferred foreign key counts rows that lose their parent, and rows that get it back.
        return Some("foreign keys of other tables refer to the rows that are deleted".to_owned());
    }
    let there = facts.target.table.as_ref().filter(|_| request.if_exists != IfExists::Replace);
    let keyed = match there {
        Some(table) => !table.primary_key.is_empty() || !table.unique_keys.is_empty(),
        None => !request.primary_key.is_empty(),
    };
    if keyed && !facts.source.seekable {
        return Some(
            "a row that repeats a key is told by reading the source again, and a pipe can be read once"
                .to_owned(),
        );
    }
    match there {
        Some(table) => {
            if let Some(reason) = &table.engine_only {
                return Some(reason.clone());
            }
            if default_bytes(table, facts) > DEFAULT_BYTES_MAX {
                return Some(
                    "the columns that the source lacks would make its rows many times longer"
                        .to_owned(),
                );
            }
            (table.holds_rows && request.if_exists != IfExists::Truncate)
                .then(|| "the table holds rows".to_owned())
        }
        None => None,
    }
}

/// About how many bytes of a record say what every row has.
fn default_bytes(table: &TableFacts, facts: &Facts) -> u32 {
    let is_loaded =
        |name: &str| facts.source.loaded().any(|field| field.name.eq_ignore_ascii_case(name));
    // As many fields as columns go by position when their names are others.
    if facts.source.loaded().count() >= table.columns.len() {
        return 0;
    }
    let columns = table.columns.iter().zip(&table.default_bytes);
    columns.filter(|(column, _)| !is_loaded(&column.name)).map(|(_, bytes)| bytes).sum()
}
