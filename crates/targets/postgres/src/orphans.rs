//! Foreign keys that refer to their own table: whether a row's parent is there is known only when all rows are in.
//!
//! The server checks such a key when the statement ends, or later where it is DEFERRABLE. So the load's rows go into the table first, by
//! one statement or with the key deferred; or, where that has failed, into a table without keys. Then the server tells which values of
//! the foreign key find no row, also for that row's being bad itself, and the load starts again without the rows that have them.

use std::collections::HashMap;

use crate::ddl::{Table, quote};
use crate::facts::ServerFacts;
use crate::repeats::{BYTES_MAX, Spelt, VALUES_MAX, WORK_MEMORY_MB};
use crate::rows::RowReader;
use crate::session::{Failure, Session};
use inrush_core::{Job, Parentless};
use inrush_net::TextRows;

/// A foreign key of a table that refers to itself, or to the partitioned table that it is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnKey {
    pub(super) name: String,
    schema: String,
    columns: Vec<String>,
    /// The table that it refers to.
    parent: Table,
    /// The columns of that which it refers to.
    parents: Vec<String>,
    /// Whether the server may check it when all rows are in.
    pub(super) is_deferrable: bool,
}

/// Whether the constraint `k` can wait. SET CONSTRAINTS goes by the name, and takes none that another table has for what can't.
const CAN_WAIT: &str = "k.condeferrable AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint o \
    WHERE o.conname = k.conname AND o.connamespace = k.connamespace AND NOT o.condeferrable)";

/// A query for the constraint triggers of the table and its partitions that can wait: they may look at rows that come later. Names as in
/// a statement.
pub(super) fn late_triggers(oid: &str) -> String {
    format!(
        "SELECT DISTINCT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(k.conname) \
         FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace \
         WHERE k.contype = 't' AND {CAN_WAIT} \
           AND (k.conrelid = {oid} OR k.conrelid IN (SELECT relid FROM pg_catalog.pg_partition_tree({oid}) AS t(relid))) ORDER BY 1"
    )
}

/// A query for the foreign keys that refer to their own table, a column each. One that is not enforced refuses nothing; one that takes no
/// NULL beside other values (MATCH FULL) refuses more than orphans, and is left to be checked at once.
pub(super) fn own_keys(oid: &str) -> String {
    // Of INSERT (https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_trigger.h). Periods came with version 18.
    format!(
        "SELECT k.oid, k.conname, n.nspname, s.nspname, c.relname, c.relkind = 'p', {CAN_WAIT}, \
             a.attname, b.attname \
         FROM pg_catalog.pg_constraint k \
         CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) WITH ORDINALITY AS u(own, parent, place) \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.own \
         JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = u.parent \
         JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace \
         JOIN pg_catalog.pg_class c ON c.oid = k.confrelid JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace \
         WHERE k.contype = 'f' AND k.conrelid = {oid} \
           AND (k.confrelid = {oid} OR k.confrelid IN (SELECT relid FROM pg_catalog.pg_partition_ancestors({oid}) AS t(relid))) \
           AND (k.confmatchtype <> 'f' OR pg_catalog.cardinality(k.conkey) = 1) \
           AND pg_catalog.to_jsonb(k) ->> 'conperiod' IS DISTINCT FROM 'true' \
           AND EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgrelid = k.conrelid \
             AND t.tgtype & 4 = 4 AND t.tgenabled IN ('O', 'A')) \
         ORDER BY k.oid, u.place"
    )
}

impl OwnKey {
    /// What [`own_keys`] has found.
    pub(super) fn all(rows: TextRows) -> Vec<Self> {
        let mut all: Vec<(String, Self)> = Vec::new();
        for row in rows {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (oid, name, schema, place, table) = (next(), next(), next(), next(), next());
            let (is_whole, is_deferrable) = (next() == "t", next() == "t");
            let (column, parent) = (next(), next());
            if let Some((last, key)) = all.last_mut()
                && *last == oid
            {
                key.columns.push(column);
                key.parents.push(parent);
                continue;
            }
            let key = Self {
                name,
                schema,
                columns: vec![column],
                parent: Table::found(&place, &table, is_whole),
                parents: vec![parent],
                is_deferrable,
            };
            all.push((oid, key));
        }
        all.into_iter().map(|(_, key)| key).collect()
    }

    /// Whether the load brings both ends of it.
    pub(super) fn is_loaded(&self, job: &Job) -> bool {
        let is_loaded =
            |name: &String| job.choice.columns.iter().any(|column| column.name == *name);
        self.columns.iter().chain(&self.parents).all(is_loaded)
    }

    fn each(&self, between: &str, of: impl Fn(&str, &str) -> String) -> String {
        let pairs = self.columns.iter().zip(&self.parents);
        let all: Vec<String> =
            pairs.map(|(column, parent)| of(&quote(column), &quote(parent))).collect();
        all.join(between)
    }

    /// A condition: whether the row `other` is the parent of `child`.
    fn same(&self, other: &str) -> String {
        self.each(" AND ", |column, parent| format!("{other}.{parent} = child.{column}"))
    }
}

/// Has those of the keys that can wait, and the triggers, be checked when all rows are in.
pub(super) fn defer(keys: &[OwnKey], triggers: &[String]) -> Option<String> {
    let keys = keys.iter().filter(|key| key.is_deferrable);
    let names: Vec<String> = keys
        .map(|key| format!("{}.{}", quote(&key.schema), quote(&key.name)))
        .chain(triggers.iter().cloned())
        .collect();
    (!names.is_empty()).then(|| format!("SET CONSTRAINTS {} DEFERRED", names.join(", ")))
}

/// Whether the rows have to come in one statement, at whose end the server checks a key that can't wait longer.
pub(super) fn come_in_one(job: &Job) -> bool {
    let own_keys = &ServerFacts::of(&job.facts.target).own_keys;
    job.kept_table().is_some() && own_keys.iter().any(|key| !key.is_deferrable)
}

/// Each row that has a foreign key, with its parent; and the rows that have none, or one that has none in turn.
const LINKS: &str = "inrush_links";
const BAD: &str = "inrush_orphans";

/// Looks for values of the keys that refer to no row, or only to bad ones, among `rows`: those of the table itself, or such as are still
/// to come into it, `beside` those that it has or not. `None` when there are too many. The transaction is none to go on with.
pub(super) fn find(
    session: &mut Session<'_>,
    rows: &Table,
    beside: Option<bool>,
    keys: &[&OwnKey],
    table: &str,
) -> Result<Option<Vec<Parentless>>, Failure> {
    session.execute(format!(
        "SET LOCAL work_mem = '{WORK_MEMORY_MB}MB'; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; {}; \
         CREATE INDEX ON pg_temp.{LINKS} (pt, pc)",
        links(rows, beside, keys)
    ))?;
    // From parent to child by the index: a chain may be as long as the table, and every link of it is a step.
    session.execute(format!(
        "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; \
         CREATE TEMPORARY TABLE {BAD} ON COMMIT DROP AS WITH RECURSIVE bad(t, c) AS ( \
             SELECT t, c FROM pg_temp.{LINKS} WHERE pc IS NULL \
             UNION SELECT link.t, link.c FROM bad JOIN pg_temp.{LINKS} link ON link.pt = bad.t AND link.pc = bad.c WHERE link.parents = 1 \
         ) SELECT t, c FROM bad; \
         SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL enable_seqscan = on; ANALYZE pg_temp.{BAD}"
    ))?;
    let mut found = Vec::new();
    let (mut values_left, mut bytes_left, mut are_too_many) = (VALUES_MAX, BYTES_MAX, false);
    for (number, key) in keys.iter().enumerate() {
        let mut forms: HashMap<Box<[u8]>, Box<str>> = HashMap::new();
        let mut reader = RowReader::default();
        let mut spelt = Spelt::default();
        let count = key.columns.len();
        session.drive(|client| {
            client.copy_out(&values(rows, key, number), |bytes| {
                reader.read(bytes, |field, value| {
                    spelt.take(field, value.unwrap_or_default(), count);
                    if field + 1 < 2 * count {
                        return;
                    }
                    let left = bytes_left.checked_sub(spelt.bytes());
                    let Spelt { form, shown } = std::mem::take(&mut spelt);
                    match (left, values_left.checked_sub(1)) {
                        (Some(bytes), Some(values)) => {
                            (bytes_left, values_left) = (bytes, values);
                            forms.insert(form.into(), shown.into());
                        }
                        _ => are_too_many = true,
                    }
                });
            })
        })?;
        if !forms.is_empty() {
            found.push(Parentless {
                key: key.columns.clone(),
                parent: key.parent.name.clone(),
                forms,
                words: format!(
                    "insert or update on table \"{table}\" violates foreign key constraint \"{}\"",
                    key.name
                ),
            });
        }
    }
    Ok((!are_too_many).then_some(found))
}

/// Gathers which row refers to which, by their places; a row without a parent has a NULL for its place. A row that is still to come may
/// have several parents, of which not more than one will come.
fn links(rows: &Table, beside: Option<bool>, keys: &[&OwnKey]) -> String {
    let all: Vec<String> = keys
        .iter()
        .enumerate()
        .map(|(number, key)| {
            let is_whole = key.each(" AND ", |column, _| format!("child.{column} IS NOT NULL"));
            let (among, parents) = match beside {
                None => (&key.parent, "1"),
                Some(_) => (rows, "pg_catalog.count(*) OVER (PARTITION BY child.tableoid, child.ctid)"),
            };
            let is_there = match beside {
                Some(true) => format!(
                    " AND NOT EXISTS (SELECT FROM {} stored WHERE {})",
                    key.parent.only(),
                    key.same("stored")
                ),
                _ => String::new(),
            };
            format!(
                "SELECT {number} AS key, child.tableoid AS t, child.ctid AS c, parent.tableoid AS pt, parent.ctid AS pc, {parents} AS parents \
                 FROM {} child LEFT JOIN {} parent ON {} WHERE {is_whole}{is_there}",
                rows.only(),
                among.only(),
                key.same("parent")
            )
        })
        .collect();
    format!("CREATE TEMPORARY TABLE {LINKS} ON COMMIT DROP AS {}", all.join(" UNION ALL "))
}

/// Every form of every value of the key that refers to no good row, and how it is shown.
fn values(rows: &Table, key: &OwnKey, number: usize) -> String {
    let text = |column: &str, _: &str| format!("child.{column}::text");
    format!(
        "COPY (SELECT DISTINCT ON ({texts}) {columns}, {texts} FROM {} child JOIN pg_temp.{LINKS} link \
             ON link.t = child.tableoid AND link.c = child.ctid AND link.key = {number} \
         WHERE link.pc IS NULL OR link.parents = 1 AND EXISTS (SELECT FROM pg_temp.{BAD} bad WHERE bad.t = link.pt AND bad.c = link.pc)) \
         TO STDOUT (FORMAT binary)",
        rows.only(),
        texts = key.each(", ", text),
        columns = key.each(", ", |column, _| format!("child.{column}")),
    )
}
