//! The table in between, where existing rows have a say: a temporary one, which only its connection sees. It takes the rows of a batch, and
//! one INSERT moves them on.

use crate::ddl::{self, Insert, quote};
use crate::session::{Failure, Refusal, Session};
use inrush_core::Job;
use inrush_core::error::Result;
use inrush_net::statement::{Batch, Done};

/// Its name.
pub(super) const CHUNK: &str = "inrush_chunk";

/// The row of the table that has the key of one in between.
const KEPT: &str = "inrush_kept";

/// Moves rows on.
pub(super) struct Chunk {
    merge: String,
}

impl Chunk {
    /// Makes the table.
    pub(super) fn make(session: &mut Session<'_>, table: &str, job: &Job) -> Result<Self> {
        let (columns, number) = (ddl::columns(job), quote(&number_column(job)));
        // Keys stay behind; types, character sets and NOT NULL come along. A key of its own numbers the rows, for some servers make no
        // table without one. The steps of a load have one connection, and one such table.
        let sql = format!(
            "CREATE TEMPORARY TABLE IF NOT EXISTS {CHUNK} ({number} BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB SELECT {columns} FROM {} WHERE FALSE",
            quote(table)
        );
        let keeps = !job.kept_columns().is_empty();
        session.execute(sql).map_err(|failure| {
            // Says no more than that the database may not be used so.
            let lacks_right = failure.refusal().is_some_and(|refused| refused.code == 1044);
            let error = session.explain(failure);
            match (lacks_right, keeps) {
                (true, false) => error
                    .advise("--on-conflict with LOAD DATA takes the right CREATE TEMPORARY TABLES")
                    .advise("--strategy values does without"),
                (true, true) => error.advise(
                    "--on-conflict update of a source without columns that the table needs takes the right CREATE TEMPORARY TABLES",
                ),
                _ => error,
            }
        })?;
        let Insert { head, tail } = Insert::into(table, job, "");
        Ok(Self { merge: format!("{head}{}{tail}", selected(table, job, &number)) })
    }

    /// Empties it of the batch before. Behind the rows are moved on nothing follows: the server tells of the last statement what it warns
    /// of.
    pub(super) fn empty(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        session.execute(format!("DELETE FROM {CHUNK}")).map(drop)
    }

    /// Moves the rows of a batch on, once they are all in it.
    pub(super) fn move_on(
        &self,
        session: &mut Session<'_>,
        batch: &Batch<'_>,
        filled: Done,
    ) -> Result<Done, Failure> {
        let is_whole = filled.affected == (batch.to - batch.from) as u64;
        if filled.warnings > 0 || !is_whole {
            let (code, message) = match session.warning(filled.warnings)? {
                Some(warning) => (warning.code, warning.message),
                None if is_whole => return session.execute(self.merge.as_str()),
                None => (0, "the server left the row out".to_owned()),
            };
            // SQLSTATE class 22 is for values that aren't what they should be.
            let state = "22000".to_owned();
            return Err(Failure::Server(Box::new(Refusal { code, state, message })));
        }
        session.execute(self.merge.as_str())
    }
}

/// A query of its rows. What a kept column has in the row with the key of a new one stands behind them; of a row without such, NULL. The
/// server reads no table in a subquery that it inserts into.
fn selected(table: &str, job: &Job, number: &str) -> String {
    let kept = job.kept_columns();
    if kept.is_empty() {
        return format!("SELECT {} FROM {CHUNK}", ddl::columns(job));
    }
    let loaded = job.choice.columns.iter();
    let given = loaded.map(|column| format!("{CHUNK}.{}", quote(&column.name)));
    let values = given.chain(kept.iter().map(|name| format!("{KEPT}.{}", quote(name))));
    let is_same = |name: &String| format!("{KEPT}.{0} = {CHUNK}.{0}", quote(name));
    let is_same: Vec<String> = job.choice.key.iter().map(is_same).collect();
    format!(
        "SELECT {} FROM {CHUNK} LEFT JOIN {} {KEPT} ON {} ORDER BY {CHUNK}.{number}",
        values.collect::<Vec<_>>().join(", "),
        quote(table),
        is_same.join(" AND ")
    )
}

/// A name that no column of the load has.
fn number_column(job: &Job) -> String {
    let mut name = "inrush_number".to_owned();
    while job.choice.columns.iter().any(|column| column.name.eq_ignore_ascii_case(&name)) {
        name.push('_');
    }
    name
}
