//! Which rows the engine would refuse, asked before it gets them: a statement that fails takes the whole transaction with it.
//!
//! A chunk's rows are shown to the engine as a view. One query finds those that break a CHECK, lack their parent, repeat a key, or
//! aren't of a type that only the engine knows; the others are then written.

use std::collections::{HashMap, HashSet};

use arrow_array::RecordBatch;

use crate::connection::{Cause, Connection, Refusal};
use crate::ddl::{self, literal, quote};
use crate::encode::batch_of;
use crate::facts::{column_of, here, indexes, plain, schema};
use crate::knobs;
use crate::load::Outcome;
use crate::nested::NestedType;
use crate::session::Session;
use crate::stream::{Replay, Stream};
use crate::sums::Sent;
use crate::types::{self, Carried};
use inrush_core::error::Result;
use inrush_core::flow::{Ack, Chunk, Code, RowFault, Wire};
use inrush_core::target::Lane;
use inrush_core::{Column, Job, OnConflict};

/// What numbers the rows of a chunk, from 0.
const NUMBER: &str = "\"inrush row\"";

/// The rows that were given, then with the values that the engine makes of them, then with the rule that they break. Tables of the user's
/// are called otherwise, and so are columns of a STRUCT, whose members would look the same.
pub(super) const GIVEN: &str = "\"inrush given\"";
const MADE: &str = "\"inrush made\"";
const JUDGED: &str = "\"inrush judged\"";
/// Other rows than the one in question: of the same chunk, of the table, of the one that it refers to.
const OTHER: &str = "\"inrush other\"";
const TARGET: &str = "\"inrush target\"";
const PARENT: &str = "\"inrush parent\"";
/// The row of the table that has the key of the one in question.
const KEPT: &str = "\"inrush kept\"";

/// What the engine asks of rows.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Each loaded column, and the value that the engine makes of what it is given.
    values: Vec<(String, String)>,
    /// The same where the engine itself has to see to what it makes of text.
    checked: Vec<String>,
    /// What it takes for columns that the source does not have.
    defaults: Vec<(String, String)>,
    /// What those of them that stay as they are have in the row with the same key; of a row without such, NULL.
    kept: Vec<String>,
    /// Generated columns, and what is made of the others' values for them.
    generated: Vec<(String, String)>,
    of_row: Vec<RowRule>,
    keys: Vec<Key>,
    /// Foreign keys to the table itself, whose parents may be rows of the same load.
    own_parents: Vec<OwnParent>,
    /// Whether the engine has TRY, which an older one has not.
    has_try: bool,
    table: String,
    /// The schema of the table and of those that it refers to, which the engine has in the same one.
    schema: String,
}

/// What no two rows may have the same of.
#[derive(Debug)]
struct Key {
    /// The columns, or what else it is on, in the words of SQL.
    names: Vec<String>,
    /// The values, made of a row's columns.
    values: Vec<String>,
}

impl Key {
    fn of_columns(names: &[String]) -> Self {
        Self { names: names.to_vec(), values: names.iter().map(|name| quote(name)).collect() }
    }

    /// What `of` makes of each value's name in the query, which has several keys.
    fn each(&self, index: usize, between: &str, of: impl Fn(&str) -> String) -> String {
        let part = |part: usize| of(&Self::name(index, part));
        (0..self.values.len()).map(part).collect::<Vec<_>>().join(between)
    }

    /// The values under these names.
    fn list(&self, index: usize) -> String {
        let values = self.values.iter().enumerate();
        let value = |(part, value)| format!("{value} AS {}", Self::name(index, part));
        values.map(value).collect::<Vec<_>>().join(", ")
    }

    fn name(index: usize, part: usize) -> String {
        format!("\"inrush key {index}.{part}\"")
    }

    /// The column, where it is one alone.
    fn column(&self) -> Option<String> {
        match (self.names.as_slice(), self.values.as_slice()) {
            ([name], [value]) if quote(name) == *value => Some(name.clone()),
            _ => None,
        }
    }
}

/// Columns of a row that have the values of others in another row of the table.
#[derive(Debug)]
struct OwnParent {
    ours: Vec<String>,
    theirs: Vec<String>,
}

impl OwnParent {
    fn each(&self, between: &str, of: impl Fn(&str, &str) -> String) -> String {
        let pairs = self.ours.iter().zip(&self.theirs);
        let pair = |(ours, theirs): (&String, &String)| of(&quote(ours), &quote(theirs));
        pairs.map(pair).collect::<Vec<_>>().join(between)
    }
}

/// What a row has to be by itself.
#[derive(Debug)]
struct RowRule {
    /// True for a row that breaks it.
    broken: String,
    /// It is about the text that was given, not about the value that the engine makes of it.
    of_given: bool,
    code: Code,
    column: Option<String>,
    message: String,
}

impl Rules {
    /// The rules of the table as this connection sees it.
    pub(super) fn read(
        connection: &Connection,
        job: &Job,
        carried: &[Carried],
    ) -> Result<Self, Refusal> {
        let schema = schema(connection)?;
        let mut rules = Self { table: ddl::table(job).to_owned(), schema, ..Self::default() };
        rules.has_try = connection.prepare("SELECT TRY(1)").is_ok();
        for (column, carried) in job.choice.columns.iter().zip(carried) {
            let (name, raw) = (quote(&column.name), format!("{GIVEN}.{}", quote(&column.name)));
            let declared = column.declared.as_deref().unwrap_or("JSON");
            let (value, checked) = match carried {
                Carried::Cast => rules.cast(column, &raw, declared),
                Carried::Nested => {
                    let Some(nested) = types::nested(column) else {
                        return Err(Refusal::new(&format!("{declared} is not a nested type")));
                    };
                    let is_document = format!("starts_with({raw}, ' ')");
                    let document = format!("CASE WHEN {is_document} THEN {raw} END");
                    let literal = format!("CASE WHEN NOT {is_document} THEN {raw} END");
                    let (document, document_checked) =
                        rules.document(column, &document, declared, &nested);
                    let (literal, literal_checked) = rules.cast(column, &literal, declared);
                    (
                        either(&is_document, &document, &literal),
                        either(&is_document, &document_checked, &literal_checked),
                    )
                }
                Carried::Json if ddl::has_json(job) || column.declared.is_some() => {
                    let value = format!("TRY_CAST({raw} AS JSON)");
                    rules.of_row.push(RowRule {
                        broken: format!("{raw} IS NOT NULL AND {value} IS NULL"),
                        of_given: true,
                        code: Code::Type,
                        column: Some(column.name.clone()),
                        message: "is not a JSON document to DuckDB".to_owned(),
                    });
                    (value, format!("CAST({raw} AS JSON)"))
                }
                Carried::Uuid => {
                    let value = format!("CAST({raw} AS UUID)");
                    (value.clone(), value)
                }
                _ => (raw.clone(), raw),
            };
            rules.values.push((name, value));
            rules.checked.push(checked);
        }
        let made = job.choice.action.makes_table();
        let there = job.facts.target.table.as_ref().filter(|_| !made);
        let Some(there) = there else {
            let key = &job.request.primary_key;
            if !key.is_empty() {
                let spelled = |name: &String| {
                    let columns = &job.choice.columns;
                    let column =
                        columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
                    column.map_or_else(|| name.clone(), |column| column.name.clone())
                };
                rules.keys.push(Key::of_columns(&key.iter().map(spelled).collect::<Vec<_>>()));
            }
            return Ok(rules);
        };
        rules.keep_columns(job);
        rules.read_defaults(connection, job, &there.computed)?;
        rules.read_constraints(connection)?;
        let keys = [&there.primary_key].into_iter().chain(&there.unique_keys);
        let mut keys: Vec<Key> =
            keys.filter(|key| !key.is_empty()).map(|key| Key::of_columns(key)).collect();
        let is_column = |part: &String| column_of(part, &there.columns).is_some();
        for index in indexes(connection, &rules.table)? {
            if index.is_unique && !index.parts.iter().all(is_column) {
                let names = index.parts.iter().map(|part| plain(part)).collect();
                keys.push(Key { names, values: index.parts });
            }
        }
        // A key of which the engine makes up a part is not repeated.
        keys.retain(|key| rules.are_known(connection, &key.values));
        rules.keys = keys;
        Ok(rules)
    }

    /// What the engine makes of a text of its own, or NULL.
    pub(super) fn tried(&self, raw: &str, declared: &str) -> String {
        let cast = format!("TRY_CAST({raw} AS {declared})");
        // Of some texts the cast throws all the same: for a MAP with a key twice, for a GEOMETRY.
        if self.has_try { format!("TRY({cast})") } else { cast }
    }

    /// The same, and that of one that is checked: the engine has to write it again.
    fn cast(&mut self, column: &Column, raw: &str, declared: &str) -> (String, String) {
        let value = self.tried(raw, declared);
        // NULL in a UNION is a value of it, with a text.
        // Some values it makes and can't write: the seconds of a moment that it has rounded beyond the last.
        let written = self.tried(&value, "VARCHAR");
        let as_written = format!("({raw} IS NULL OR {written} IS NOT DISTINCT FROM {raw})");
        let message = format!("is not written as DuckDB writes {}", shown(declared));
        let checked = self.check(column, raw, &as_written, message);
        // That of no text would be a value with NULL in it.
        let kept = format!("TRY_CAST({checked} AS {declared})");
        (value, either(&format!("{raw} IS NOT NULL"), &kept, "NULL"))
    }

    /// What it makes of a document, and the same checked.
    fn document(
        &mut self,
        column: &Column,
        raw: &str,
        declared: &str,
        NestedType { texts, compared, .. }: &NestedType,
    ) -> (String, String) {
        let given = |raw: &str| format!("TRY_CAST(TRY_CAST({raw} AS JSON) AS {texts})");
        let value = format!("TRY_CAST({} AS {declared})", given(raw));
        let is_kept = format!(
            "CAST({value} AS {compared}) IS NOT DISTINCT FROM CAST({} AS {compared})",
            given(raw)
        );
        let message = format!("is not kept as it is by {}", shown(declared));
        let checked = self.check(column, raw, &is_kept, message);
        (value, format!("TRY_CAST({} AS {declared})", given(&checked)))
    }

    /// A table of the schema, whatever else a statement calls so.
    fn qualified(&self, table: &str) -> String {
        format!("{}.{}", self.schema, quote(table))
    }

    /// Whether values can be made of the columns that are known of a row.
    fn are_known(&self, connection: &Connection, values: &[String]) -> bool {
        let columns = self.values.iter().chain(&self.defaults).chain(&self.generated);
        let columns = columns.map(|(name, _)| format!("{TARGET}.{name}"));
        let sql = format!(
            "SELECT {} FROM (SELECT {} FROM {} {TARGET})",
            values.join(", "),
            columns.collect::<Vec<_>>().join(", "),
            self.qualified(&self.table)
        );
        connection.prepare(&sql).is_ok()
    }

    /// True for a row that breaks a CHECK: the engine makes an INTEGER of it, of which NULL and all but 0 let the row in, and an error
    /// refuses it as well. TRY takes no call that varies; one in a rule may end the load.
    fn broken(&self, connection: &Connection, rule: &str) -> String {
        let tried = format!("coalesce(TRY(coalesce(CAST(({rule}) AS INTEGER), 1)), 0) = 0");
        match self.are_known(connection, std::slice::from_ref(&tried)) {
            true => tried,
            false => format!("NOT ({rule})"),
        }
    }

    /// Adds the rule that what is given for a column has to be `kept`. What is given where it is; the statement fails where it isn't.
    fn check(&mut self, column: &Column, raw: &str, kept: &str, message: String) -> String {
        let words = literal(&format!("a value of column {} {message}", column.name));
        self.of_row.push(RowRule {
            broken: format!("NOT ({kept})"),
            of_given: true,
            code: Code::Type,
            column: Some(column.name.clone()),
            message,
        });
        // Not of the value itself, see `either`.
        format!("CASE WHEN {kept} THEN {raw} ELSE error({words}) END")
    }

    /// Adds the columns that stay as they are, and the rule that there is such a row.
    fn keep_columns(&mut self, job: &Job) {
        let table = self.qualified(&self.table);
        let value = |name: &String| {
            self.values.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
        };
        let is_same = |name: &String| {
            let name = quote(name);
            Some(format!("{KEPT}.{name} = {}", value(&name)?))
        };
        let is_same: Vec<String> = job.choice.key.iter().filter_map(is_same).collect();
        let is_same = is_same.join(" AND ");
        for column in job.kept_columns() {
            let name = quote(column);
            let kept = format!("(SELECT {KEPT}.{name} FROM {table} {KEPT} WHERE {is_same})");
            self.of_row.push(RowRule {
                broken: format!("{MADE}.{name} IS NULL"),
                of_given: false,
                code: Code::NotNull,
                column: Some(column.to_owned()),
                message: "NULL where none is allowed".to_owned(),
            });
            self.defaults.push((name, kept.clone()));
            self.kept.push(kept);
        }
    }

    /// Reads what the engine takes for columns that the source does not have, and what it makes of the others for `computed` ones.
    fn read_defaults(
        &mut self,
        connection: &Connection,
        job: &Job,
        computed: &[String],
    ) -> Result<(), Refusal> {
        let sql = format!(
            "SELECT column_name, column_default, data_type FROM duckdb_columns() WHERE {}",
            here(&self.table)
        );
        let rows = connection.rows(&sql)?;
        let has_call = |row: &Vec<Option<String>>| {
            row.get(1)
                .and_then(Option::as_deref)
                .is_some_and(|default| calls(default).contains('('))
        };
        let varying = match rows.iter().any(has_call) {
            true => varying_calls(connection)?,
            false => Vec::new(),
        };
        let mut generated = Vec::new();
        for row in rows {
            let [Some(name), default, Some(declared)] = row.as_slice() else { continue };
            let is_loaded = job.choice.columns.iter().any(|column| column.name == *name)
                || job.kept_columns().contains(&name.as_str());
            let default = default.as_deref().unwrap_or("NULL");
            let calls = calls(default);
            if !is_loaded && !varying.iter().any(|call| calls.contains(call)) {
                let value = (quote(name), format!("CAST({default} AS {declared})"));
                match computed.contains(name) {
                    true => generated.push(value),
                    false => self.defaults.push(value),
                }
            }
        }
        // A key on one that is made of what is not known is the engine's to look at.
        for (name, value) in generated {
            // TRY takes no call that varies, as in rules.
            let tried = format!("TRY({value})");
            if self.are_known(connection, std::slice::from_ref(&tried)) {
                self.of_row.push(RowRule {
                    broken: format!("TRY(CAST(({value}) IS NULL AS INTEGER)) IS NULL"),
                    of_given: false,
                    code: Code::Constraint,
                    column: None,
                    message: format!(
                        "no value of the generated column {} can be made of it",
                        plain(&name)
                    ),
                });
                self.generated.push((name, tried));
            } else if self.are_known(connection, std::slice::from_ref(&value)) {
                self.generated.push((name, value));
            }
        }
        Ok(())
    }

    fn read_constraints(&mut self, connection: &Connection) -> Result<(), Refusal> {
        let sql = format!(
            "SELECT constraint_type, expression, constraint_text, array_to_string(constraint_column_names, chr(31)), \
             referenced_table, array_to_string(referenced_column_names, chr(31)) FROM duckdb_constraints() \
             WHERE {} AND constraint_type IN ('CHECK', 'FOREIGN KEY') ORDER BY constraint_index",
            here(&self.table)
        );
        for row in connection.rows(&sql)? {
            let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            let names = |at: usize| -> Vec<String> {
                text(at).split('\u{1f}').map(str::to_owned).collect()
            };
            match text(0).as_str() {
                // What takes a value that the engine makes up it looks at alone.
                "CHECK" if !self.are_known(connection, &[text(1)]) => {}
                "CHECK" => self.of_row.push(RowRule {
                    broken: self.broken(connection, &text(1)),
                    of_given: false,
                    code: Code::Constraint,
                    column: None,
                    message: format!("the table's {} refuses it", text(2)),
                }),
                _ if !self.are_known(
                    connection,
                    &names(3).iter().map(|name| quote(name)).collect::<Vec<_>>(),
                ) => {}
                _ if text(4).eq_ignore_ascii_case(&self.table) => {
                    let theirs: Vec<String> = names(5).iter().map(|name| quote(name)).collect();
                    if self.are_known(connection, &theirs) {
                        self.own_parents.push(OwnParent { ours: names(3), theirs: names(5) });
                    }
                }
                _ => {
                    let (ours, theirs) = (names(3), names(5));
                    let each = |between: &str, of: &dyn Fn(&str, &str) -> String| {
                        let pairs = ours.iter().zip(&theirs);
                        pairs
                            .map(|(a, b)| of(&quote(a), &quote(b)))
                            .collect::<Vec<_>>()
                            .join(between)
                    };
                    let is_whole = each(" AND ", &|ours, _| format!("{MADE}.{ours} IS NOT NULL"));
                    let is_same =
                        each(" AND ", &|ours, theirs| format!("{PARENT}.{theirs} = {MADE}.{ours}"));
                    let broken = format!(
                        "{is_whole} AND NOT EXISTS (SELECT 1 FROM {} {PARENT} WHERE {is_same})",
                        self.qualified(&text(4))
                    );
                    let column = (ours.len() == 1).then(|| ours[0].clone());
                    let message = format!("the row of {} that it refers to is not there", text(4));
                    let rule = RowRule {
                        broken,
                        of_given: false,
                        code: Code::ForeignKey,
                        column,
                        message,
                    };
                    self.of_row.push(rule);
                }
            }
        }
        Ok(())
    }

    /// Whether the engine may refuse rows.
    pub(super) fn refuse_rows(&self) -> bool {
        !self.of_row.is_empty() || !self.keys.is_empty() || !self.own_parents.is_empty()
    }

    /// The values of the loaded columns and of those that stay as they are, made of the rows of `given`; a statement with them fails at a
    /// value that would change.
    pub(super) fn checked_values(&self) -> String {
        self.checked.iter().chain(&self.kept).map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The query that finds the rows to look at: their number, which rule they break, for each key the first row with the same
    /// one, and whether the table has it, and for each reference to a row that the table does not have, which rows are that one. `rows` is
    /// the view of all.
    fn query(&self, rows: &str) -> String {
        let all = || self.values.iter().chain(&self.defaults);
        let values: Vec<String> = all().map(|(name, value)| format!("{value} AS {name}")).collect();
        // A scan of a stream asks it for the columns that a query needs, and the library's own streams have no ear for that: the first
        // ones would be taken for them. So every column is part of the answer.
        let seen = self.values.iter().map(|(name, _)| format!("CAST({name} IS NULL AS INTEGER)"));
        let seen: Vec<String> = seen.collect();
        let given = format!(
            "(SELECT {GIVEN}.{NUMBER}, {GIVEN}.\"inrush seen\", {}, {} AS \"inrush fault given\" FROM {GIVEN})",
            values.join(", "),
            self.cases(true)
        );
        // One may be made of those before it.
        let made = self.generated.iter().fold(given, |made, (name, value)| {
            format!("(SELECT *, {value} AS {name} FROM {made})")
        });
        let mut sql = format!(
            "WITH {GIVEN} AS MATERIALIZED (SELECT row_number() OVER () - 1 AS {NUMBER}, {} AS \"inrush seen\", * FROM {rows}), \
             {MADE} AS (SELECT * FROM {made})",
            seen.join(" + ")
        );
        let keys = self.keys.iter().enumerate();
        let key_values: Vec<String> = keys.clone().map(|(index, key)| key.list(index)).collect();
        sql.push_str(&format!(
            ", {JUDGED} AS MATERIALIZED (SELECT *, coalesce(\"inrush fault given\", {}) AS \"inrush fault\"{} FROM {MADE})",
            self.cases(false),
            key_values.iter().map(|values| format!(", {values}")).collect::<String>()
        ));
        let table = self.qualified(&self.table);
        let taken = |index: usize| format!("\"inrush taken {index}\"");
        for ((index, key), values) in keys.clone().zip(&key_values) {
            sql.push_str(&format!(
                ", {} AS MATERIALIZED (SELECT DISTINCT * FROM (SELECT {values} FROM {table}) {TARGET} SEMI JOIN {JUDGED} ON {})",
                taken(index),
                key.each(index, " AND ", |name| format!("{TARGET}.{name} = {JUDGED}.{name}"))
            ));
        }
        let mut columns = vec![
            format!("{NUMBER} AS number, \"inrush seen\" AS seen"),
            "\"inrush fault\" AS fault".to_owned(),
        ];
        let mut suspect = vec!["fault IS NOT NULL".to_owned()];
        for (index, key) in keys {
            let names = key.each(index, ", ", str::to_owned);
            let is_whole = key.each(index, " AND ", |name| format!("{name} IS NOT NULL"));
            let is_whole = format!("\"inrush fault\" IS NULL AND {is_whole}");
            let taken = taken(index);
            let same = key.each(index, " AND ", |name| format!("{taken}.{name} = {JUDGED}.{name}"));
            let group = format!("OVER (PARTITION BY {names}, \"inrush fault\" IS NULL)");
            columns.push(format!(
                "CASE WHEN {is_whole} THEN min({NUMBER}) {group} END AS first{index}"
            ));
            columns.push(format!(
                "CASE WHEN {is_whole} THEN count(*) {group} ELSE 0 END AS count{index}"
            ));
            columns.push(format!("EXISTS (SELECT 1 FROM {taken} WHERE {same}) AS taken{index}"));
            suspect.push(format!("count{index} > 1"));
            suspect.push(format!("taken{index}"));
        }
        for (index, parent) in self.own_parents.iter().enumerate() {
            let is_same = |table: &str| {
                parent.each(" AND ", |ours, theirs| format!("{table}.{theirs} = {JUDGED}.{ours}"))
            };
            columns.push(format!(
                "CASE WHEN {} AND NOT EXISTS (SELECT 1 FROM {table} {PARENT} WHERE {}) THEN \
                 coalesce((SELECT string_agg(CAST({OTHER}.{NUMBER} AS VARCHAR), ',') FROM {JUDGED} {OTHER} WHERE {}), '') END AS parents{index}",
                parent.each(" AND ", |ours, _| format!("{JUDGED}.{ours} IS NOT NULL")),
                is_same(PARENT),
                is_same(OTHER)
            ));
            suspect.push(format!("parents{index} IS NOT NULL"));
        }
        let mut shown =
            vec!["CAST(number AS VARCHAR)".to_owned(), "CAST(fault AS VARCHAR)".to_owned()];
        for index in 0..self.keys.len() {
            shown.push(format!("CAST(first{index} AS VARCHAR)"));
            shown.push(format!("CAST(taken{index} AS VARCHAR)"));
        }
        shown.extend((0..self.own_parents.len()).map(|index| format!("parents{index}")));
        shown.push("CAST(seen AS VARCHAR)".to_owned());
        sql.push_str(&format!(
            " SELECT {} FROM (SELECT {} FROM {JUDGED}) WHERE {} ORDER BY number",
            shown.join(", "),
            columns.join(", "),
            suspect.join(" OR ")
        ));
        sql
    }

    /// Which rule about what was given a row breaks, or which about what the engine has made of it.
    fn cases(&self, of_given: bool) -> String {
        let rules = self.of_row.iter().enumerate().filter(|(_, rule)| rule.of_given == of_given);
        let cases: Vec<String> =
            rules.map(|(index, rule)| format!("WHEN {} THEN {index}", rule.broken)).collect();
        match cases.is_empty() {
            true => "CAST(NULL AS INTEGER)".to_owned(),
            false => format!("CASE {} END", cases.join(" ")),
        }
    }

    /// The statements that write the rows of a view except for these. A row with a NULL in its key conflicts with none, whereas to
    /// DuckDB two of them in one statement with ON CONFLICT are one row.
    fn inserts(&self, job: &Job, batch: &RecordBatch, rows: &str, without: &[u32]) -> Vec<String> {
        let columns = job.choice.columns.iter().zip(&self.values).zip(batch.columns());
        let lacking: Vec<String> = columns
            .filter(|((column, _), values)| {
                ddl::is_key(job, &column.name) && values.null_count() > 0
            })
            .map(|((_, (_, value)), _)| format!("{value} IS NULL"))
            .collect();
        let end = ddl::on_conflict(job);
        let mut inserts = match lacking.is_empty() || end.is_empty() {
            true => vec![(Vec::new(), end.as_str())],
            false => {
                let lacking = format!("({})", lacking.join(" OR "));
                vec![(vec![format!("NOT {lacking}")], end.as_str()), (vec![lacking], "")]
            }
        };
        if !without.is_empty() {
            let numbers: Vec<String> = without.iter().map(u32::to_string).collect();
            let wanted = format!("{GIVEN}.{NUMBER} NOT IN ({})", numbers.join(", "));
            inserts.iter_mut().for_each(|(conditions, _)| conditions.push(wanted.clone()));
        }
        let into = ddl::insert_into(job);
        let values = self.values.iter().map(|(_, value)| value).chain(&self.kept);
        let values: Vec<&str> = values.map(String::as_str).collect();
        let statement = |(conditions, end): (Vec<String>, &str)| {
            // Of numbered rows the engine asks the stream for no selection, for which that has no ear.
            let (given, condition) = match conditions.is_empty() {
                true => (rows.to_owned(), String::new()),
                false => (
                    format!("(SELECT row_number() OVER () - 1 AS {NUMBER}, * FROM {rows})"),
                    format!(" WHERE {}", conditions.join(" AND ")),
                ),
            };
            format!("{into} SELECT {} FROM {given} {GIVEN}{condition}{end}", values.join(", "),)
        };
        inserts.into_iter().map(statement).collect()
    }
}

/// One of two values of any type: the engine has no CASE of arrays, but one of lists of them.
fn either(condition: &str, one: &str, other: &str) -> String {
    format!("list_extract(CASE WHEN {condition} THEN [{one}] ELSE [{other}] END, 1)")
}

/// An expression without its strings, quotes and the case of its letters: what it calls.
fn calls(expression: &str) -> String {
    expression.split('\'').step_by(2).collect::<String>().replace('"', "").to_lowercase()
}

/// The calls that may answer otherwise for each row: of functions that say so, and of macros, which may stand for such ones. Of others, the
/// time among them, the answer is one in the whole transaction.
fn varying_calls(connection: &Connection) -> Result<Vec<String>, Refusal> {
    let sql = "SELECT DISTINCT lower(function_name) || '(' FROM duckdb_functions() \
               WHERE stability = 'VOLATILE' OR function_type = 'macro'";
    Ok(connection.rows(sql)?.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
}

/// A type's name in a message: that of an ENUM holds all its values.
fn shown(declared: &str) -> &str {
    let end = declared.find('(').unwrap_or(declared.len());
    &declared[..end]
}

/// A row that the engine would not simply take.
struct Suspect {
    row: u32,
    rule: Option<usize>,
    /// For each key the first row of the chunk with the same one, and whether the table has it.
    keys: Vec<(Option<u32>, bool)>,
    /// For each reference to another row of the table, which the table does not have, the rows of the chunk that may be that one.
    parents: Vec<Option<Vec<u32>>>,
}

/// What is to become of a chunk's rows.
#[derive(Default)]
struct Sifted {
    /// Rows that are not to be written, in order.
    without: Vec<u32>,
    faults: Vec<RowFault>,
    skipped: u64,
    /// Rows whose key a later row of the chunk has, which changes the same row.
    superseded: u64,
}

impl Sifted {
    fn of(suspects: &[Suspect], rules: &Rules, job: &Job) -> Self {
        let mut sifted = Self::default();
        let conflict = job.request.on_conflict;
        let is_asked = |key: &[String]| {
            let choice = &job.choice.key;
            key.len() == choice.len()
                && key
                    .iter()
                    .all(|name| choice.iter().any(|other| other.eq_ignore_ascii_case(name)))
        };
        let asked = rules.keys.iter().position(|key| is_asked(&key.names));
        let changes = matches!(conflict, OnConflict::Update | OnConflict::Replace);
        let mut held: Vec<HashSet<u32>> = vec![HashSet::new(); rules.keys.len()];
        // Of rows that change the same one the last has the last word, and a statement takes no two of them. Where rows may lack a parent
        // among those before, which of them is the last one isn't known yet: they are written one by one, and all of them are.
        let mut last = HashMap::new();
        if let (true, Some(asked), []) = (changes, asked, rules.own_parents.as_slice()) {
            for suspect in suspects.iter().filter(|suspect| suspect.rule.is_none()) {
                if let Some(first) = suspect.keys[asked].0 {
                    last.insert(first, suspect.row);
                }
            }
        }
        for suspect in suspects {
            let row = suspect.row;
            if let Some(rule) = suspect.rule.and_then(|rule| rules.of_row.get(rule)) {
                sifted.without.push(row);
                sifted.faults.push(RowFault {
                    row,
                    column: rule.column.clone(),
                    code: rule.code,
                    message: rule.message.clone(),
                });
                continue;
            }
            // The engine looks at what came before.
            let is_there =
                |parent: &u32| *parent < row && sifted.without.binary_search(parent).is_err();
            let lacks = suspect.parents.iter().position(|parents| {
                parents.as_ref().is_some_and(|parents| !parents.iter().any(is_there))
            });
            if let Some(reference) = lacks {
                sifted.without.push(row);
                sifted.faults.push(RowFault {
                    row,
                    column: match rules.own_parents[reference].ours.as_slice() {
                        [column] => Some(column.clone()),
                        _ => None,
                    },
                    code: Code::ForeignKey,
                    message: format!(
                        "the row of {} that it refers to is not there, nor is it an earlier good row",
                        rules.table
                    ),
                });
                continue;
            }
            let has = |index: usize| {
                let (first, taken) = suspect.keys[index];
                taken || first.is_some_and(|first| held[index].contains(&first))
            };
            // Such a row sets no column of another key.
            let is_change = changes && asked.is_some_and(has);
            let is_met = |index: &usize| has(*index) && !is_change;
            // A row that is to be skipped is, whatever other keys it meets.
            let met = asked.into_iter().chain(0..suspect.keys.len()).find(is_met);
            if let Some(index) = met {
                sifted.without.push(row);
                if conflict == OnConflict::Skip && asked == Some(index) {
                    sifted.skipped += 1;
                    continue;
                }
                let key = &rules.keys[index];
                sifted.faults.push(RowFault {
                    row,
                    column: key.column(),
                    code: Code::DuplicateKey,
                    message: format!("duplicate key (key: {})", key.names.join(", ")),
                });
                continue;
            }
            for (index, (first, _)) in suspect.keys.iter().enumerate() {
                if !is_change || asked == Some(index) {
                    held[index].extend(first);
                }
            }
            if let (true, Some(asked)) = (changes, asked)
                && let Some(first) = suspect.keys[asked].0
                && last.get(&first).is_some_and(|last| *last != row)
            {
                sifted.without.push(row);
                sifted.superseded += 1;
            }
        }
        sifted
    }
}

/// Writes rows that the engine takes.
pub(super) trait Write {
    /// Writes the batch's rows except for these.
    fn write(
        &mut self,
        connection: &Connection,
        batch: &RecordBatch,
        without: &[u32],
    ) -> Result<(), Refusal>;

    /// Gives the engine what was held back.
    fn flush(&mut self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// What rows are sifted by, and how those that are left are written.
pub(super) struct Sifting<'l> {
    pub(super) rules: &'l Rules,
    /// `None` where the view itself is inserted.
    pub(super) writer: Option<Box<dyn Write + Send>>,
}

/// Where the rows' transaction ends on the way, if the user wants that.
struct Commits {
    /// Rows of a transaction; 0 for all.
    rows_max: u64,
    /// Rows of the one that is open.
    rows: u64,
}

/// What of a batch goes into one transaction.
struct Part {
    rows: RecordBatch,
    /// Those of its rows that are not to be written, in order.
    without: Vec<u32>,
    /// Whether the transaction is full with it.
    is_last: bool,
}

impl Commits {
    fn of(job: &Job) -> Self {
        let rows_max = job.choice.knobs.get_count(&knobs::ROWS_PER_TRANSACTION).unwrap_or(0);
        Self { rows_max, rows: 0 }
    }

    /// A batch's rows except for these, cut where transactions end.
    fn parts(&mut self, batch: &RecordBatch, mut without: &[u32]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut from = 0;
        while from < batch.num_rows() {
            let room = match self.rows_max {
                0 => usize::MAX,
                max => usize::try_from(max - self.rows).unwrap_or(usize::MAX),
            };
            // Before the row that is left out next there are so many that are not.
            let has_room =
                |(at, row): &(usize, &u32)| (**row as usize).saturating_sub(from + *at) < room;
            let left_out = without.iter().enumerate().take_while(has_room).count();
            let to = from.saturating_add(room).saturating_add(left_out).min(batch.num_rows());
            let (ours, others) = without.split_at(left_out);
            self.rows += (to - from - left_out) as u64;
            let is_last = self.rows_max > 0 && self.rows == self.rows_max;
            parts.push(Part {
                rows: batch.slice(from, to - from),
                without: ours.iter().map(|row| row - from as u32).collect(),
                is_last,
            });
            if is_last {
                self.rows = 0;
            }
            (from, without) = (to, others);
        }
        parts
    }

    /// Ends a transaction that is full, and begins the next.
    fn commit(&self, session: &Session<'_>, outcome: &mut Outcome) -> Result<(), Refusal> {
        session.expect_name()?;
        session.commit_part()?;
        outcome.committed = true;
        outcome.committed_rows += self.rows_max;
        session.connection().execute("BEGIN TRANSACTION").map(drop)
    }
}

/// Asks the engine of each chunk, then writes the rows that it takes.
pub(super) struct SiftLane<'l> {
    session: &'l Session<'l>,
    job: &'l Job,
    how: Sifting<'l>,
    sent: Sent<'l>,
    outcome: &'l mut Outcome,
    commits: Commits,
    query: String,
    replay: Replay,
    stream: Stream,
}

impl<'l> SiftLane<'l> {
    pub(super) fn start(
        session: &'l Session<'_>,
        job: &'l Job,
        carried: &'l [Carried],
        how: Sifting<'l>,
        outcome: &'l mut Outcome,
    ) -> Result<Self> {
        let replay = Replay::default();
        let mut stream = Stream::new(job, carried, Box::new(replay.clone()));
        stream.show(session.connection()).map_err(|refusal| session.explain(&refusal))?;
        let query = how.rules.query(&stream.view());
        let commits = Commits::of(job);
        let sent = Sent { session, job, carried, rules: how.rules };
        Ok(Self { session, job, how, sent, outcome, commits, query, replay, stream })
    }

    fn sift(&self) -> Result<Sifted, Refusal> {
        if !self.how.rules.refuse_rows() {
            return Ok(Sifted::default());
        }
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
        let suspects: Vec<Suspect> = self
            .session
            .connection()
            .rows(&self.query)?
            .iter()
            .filter_map(|row| {
                // What is last has done its work.
                let (keys, parents) = row[2..row.len() - 1].split_at(2 * self.how.rules.keys.len());
                let keys = keys.chunks_exact(2);
                let rows =
                    |text: &String| text.split(',').filter_map(|row| row.parse().ok()).collect();
                Some(Suspect {
                    row: number(&row[0])?,
                    rule: row[1].as_deref().and_then(|text| text.parse().ok()),
                    keys: keys
                        .map(|key| (number(&key[0]), key[1].as_deref() == Some("true")))
                        .collect(),
                    parents: parents.iter().map(|parents| parents.as_ref().map(rows)).collect(),
                })
            })
            .collect();
        Ok(Sifted::of(&suspects, self.how.rules, self.job))
    }

    fn write(&mut self, batch: &RecordBatch, without: &[u32]) -> Result<(), Refusal> {
        if without.len() == batch.num_rows() {
            return Ok(());
        }
        let connection = self.session.connection();
        match &mut self.how.writer {
            Some(writer) => {
                for part in self.commits.parts(batch, without) {
                    writer.write(connection, &part.rows, &part.without)?;
                    if part.is_last {
                        writer.flush()?;
                        // What is committed others see, and the stream is ours alone.
                        self.stream.hide(connection)?;
                        self.commits.commit(self.session, self.outcome)?;
                        self.stream.show(connection)?;
                    }
                }
                // The next chunk is compared with what is there.
                writer.flush()
            }
            None => {
                let view = self.stream.view();
                let mut written = 0;
                for statement in self.how.rules.inserts(self.job, batch, &view, without) {
                    written += connection.execute(&statement)?;
                }
                let sent = (batch.num_rows() - without.len()) as u64;
                // Rows that are skipped are among those left out; of a row that changes nothing the engine knows nothing.
                let is_counted =
                    matches!(self.job.request.on_conflict, OnConflict::Fail | OnConflict::Skip)
                        || !ddl::changed(self.job).is_empty();
                match written == sent || !is_counted {
                    true => Ok(()),
                    false => Err(Refusal {
                        cause: Cause::Other,
                        message: format!("{sent} rows were sent, and {written} were written"),
                    }),
                }
            }
        }
    }
}

impl Lane for SiftLane<'_> {
    fn send(&mut self, _chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let Some(batch) = batch_of(wire) else { return Ok(Ack::default()) };
        self.replay.set(Some(batch.clone()));
        let sifted =
            self.sift().and_then(|sifted| self.write(&batch, &sifted.without).map(|()| sifted));
        self.replay.set(None);
        let sifted = sifted.map_err(|refusal| self.session.explain(&refusal))?;
        let left_out = sifted.without.len() as u64 - sifted.superseded;
        let checksum = self.sent.without(wire, &sifted.without)?;
        let loaded = batch.num_rows() as u64 - left_out;
        Ok(Ack { loaded, skipped: sifted.skipped, faults: sifted.faults, checksum })
    }

    fn finish(&mut self) -> Result<()> {
        let hidden = self.stream.hide(self.session.connection());
        hidden.map_err(|refusal| self.session.explain(&refusal))
    }
}

/// Writes all rows of each chunk, and finds out at once or at the end whether the engine takes them.
pub(super) struct WriteLane<'l> {
    session: &'l Session<'l>,
    sent: Sent<'l>,
    writer: Box<dyn Write + Send>,
    outcome: &'l mut Outcome,
    commits: Commits,
}

impl<'l> WriteLane<'l> {
    pub(super) fn start(
        sent: Sent<'l>,
        writer: Box<dyn Write + Send>,
        outcome: &'l mut Outcome,
    ) -> Self {
        let (session, job) = (sent.session, sent.job);
        Self { session, sent, writer, outcome, commits: Commits::of(job) }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Refusal> {
        let connection = self.session.connection();
        for part in self.commits.parts(batch, &[]) {
            self.writer.write(connection, &part.rows, &part.without)?;
            if part.is_last {
                self.writer.flush()?;
                self.commits.commit(self.session, self.outcome)?;
            }
        }
        Ok(())
    }

    fn failure(&mut self, refusal: &Refusal) -> inrush_core::Error {
        self.outcome.refused |= refusal.is_of_rows() && !self.outcome.committed;
        self.session.explain(refusal)
    }
}

impl Lane for WriteLane<'_> {
    fn send(&mut self, _chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let Some(batch) = batch_of(wire) else { return Ok(Ack::default()) };
        let written = self.write(&batch);
        written.map_err(|refusal| self.failure(&refusal))?;
        let checksum = self.sent.without(wire, &[])?;
        Ok(Ack { loaded: batch.num_rows() as u64, checksum, ..Ack::default() })
    }

    fn finish(&mut self) -> Result<()> {
        let flushed = self.writer.flush();
        flushed.map_err(|refusal| self.failure(&refusal))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, Int32Array};

    /// Parts of batches of ten rows: the rows that are written, those of each transaction together.
    fn transactions(rows_max: u64, left_out: &[&[u32]]) -> Vec<Vec<i32>> {
        let mut commits = Commits { rows_max, rows: 0 };
        let mut all = vec![Vec::new()];
        for (batch, without) in (0..).zip(left_out) {
            let rows: ArrayRef =
                Arc::new(Int32Array::from_iter_values(10 * batch..10 * batch + 10));
            let batch = RecordBatch::try_from_iter([("n", rows)]).unwrap();
            for part in commits.parts(&batch, without) {
                let rows = part.rows.column(0).as_primitive::<Int32Type>().values().iter();
                let written = (0..).zip(rows).filter(|(at, _)| !part.without.contains(at));
                all.last_mut().unwrap().extend(written.map(|(_, row)| *row));
                if part.is_last {
                    all.push(Vec::new());
                }
            }
        }
        all
    }

    #[test]
    fn a_transaction_has_as_many_rows_as_it_is_to_have() {
        assert_eq!(transactions(0, &[&[1, 2], &[]]).len(), 1);
        assert_eq!(transactions(10, &[&[], &[]]), [(0..10).collect(), (10..20).collect(), vec![]]);
        assert_eq!(
            transactions(3, &[&[0, 3, 4, 9], &[1, 2, 3, 4, 5, 6, 7, 8, 9]]),
            [vec![1, 2, 5], vec![6, 7, 8], vec![10]]
        );
        assert_eq!(transactions(7, &[&[], &[0, 1]])[1], [7, 8, 9, 12, 13, 14, 15]);
    }
}
