//! Which rows the engine would refuse, asked before it gets them: a statement that fails takes the whole transaction with it.
//!
//! A chunk's rows are shown to the engine as a view. One query finds those that break a CHECK, lack their parent, repeat a key, or
//! aren't of a type that only the engine knows; the others are then written.

use std::collections::HashSet;

use arrow_array::RecordBatch;

use crate::connection::{Connection, Refusal};
use crate::ddl::{self, literal, quote};
use crate::encode::batch_of;
use crate::facts::here;
use crate::knobs;
use crate::load::Outcome;
use crate::session::Session;
use crate::stream::{ROWS, Replay, Stream};
use crate::sums;
use crate::types::Carried;
use inrush_core::error::Result;
use inrush_core::flow::{Ack, Chunk, Code, RowFault, Wire};
use inrush_core::target::Lane;
use inrush_core::{Job, OnConflict};

/// What numbers the rows of a chunk, from 0.
const NUMBER: &str = "\"inrush row\"";

/// What the engine asks of rows.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Each loaded column, and the value that the engine makes of what it is given.
    values: Vec<(String, String)>,
    /// The same where the engine itself has to see to what it makes of text.
    checked: Vec<String>,
    /// What it takes for columns that the source does not have.
    defaults: Vec<(String, String)>,
    of_row: Vec<RowRule>,
    keys: Vec<Vec<String>>,
    table: String,
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
        let mut rules = Self { table: ddl::table(job).to_owned(), ..Self::default() };
        for (column, carried) in job.choice.columns.iter().zip(carried) {
            let (name, raw) = (quote(&column.name), format!("given.{}", quote(&column.name)));
            let declared = column.declared.as_deref().unwrap_or("JSON");
            let (value, checked) = match carried {
                Carried::Cast => {
                    let value = format!("TRY_CAST({raw} AS {declared})");
                    let as_written = format!("CAST({value} AS VARCHAR) IS NOT DISTINCT FROM {raw}");
                    let message = format!("is not written as DuckDB writes {}", shown(declared));
                    let words = literal(&format!("a value of column {} {message}", column.name));
                    rules.of_row.push(RowRule {
                        broken: format!("NOT ({as_written})"),
                        of_given: true,
                        code: Code::Type,
                        column: Some(column.name.clone()),
                        message,
                    });
                    let checked =
                        format!("CASE WHEN {as_written} THEN {value} ELSE error({words}) END");
                    (value, checked)
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
                rules.keys.push(key.iter().map(spelled).collect());
            }
            return Ok(rules);
        };
        rules.read_defaults(connection, job)?;
        rules.read_constraints(connection)?;
        let keys = [&there.primary_key].into_iter().chain(&there.unique_keys);
        // A key of which the engine makes up a part is not repeated.
        let is_known = |name: &String| {
            let name = quote(name);
            rules.values.iter().chain(&rules.defaults).any(|(known, _)| *known == name)
        };
        rules.keys =
            keys.filter(|key| !key.is_empty() && key.iter().all(is_known)).cloned().collect();
        Ok(rules)
    }

    fn read_defaults(&mut self, connection: &Connection, job: &Job) -> Result<(), Refusal> {
        let sql = format!(
            "SELECT column_name, column_default, data_type FROM duckdb_columns() WHERE {}",
            here(&self.table)
        );
        for row in connection.rows(&sql)? {
            let [Some(name), default, Some(declared)] = row.as_slice() else { continue };
            let is_loaded = job.choice.columns.iter().any(|column| column.name == *name);
            let default = default.as_deref().unwrap_or("NULL");
            // A call may answer otherwise each time.
            if !is_loaded && !default.contains('(') {
                self.defaults.push((quote(name), format!("CAST({default} AS {declared})")));
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
                "CHECK" => self.of_row.push(RowRule {
                    broken: format!("NOT ({})", text(1)),
                    of_given: false,
                    code: Code::Constraint,
                    column: None,
                    message: format!("the table's {} refuses it", text(2)),
                }),
                // Rows may refer to others of the same load.
                _ if text(4).eq_ignore_ascii_case(&self.table) => {}
                _ => {
                    let (ours, theirs) = (names(3), names(5));
                    let each = |between: &str, of: &dyn Fn(&str, &str) -> String| {
                        let pairs = ours.iter().zip(&theirs);
                        pairs
                            .map(|(a, b)| of(&quote(a), &quote(b)))
                            .collect::<Vec<_>>()
                            .join(between)
                    };
                    let is_whole = each(" AND ", &|ours, _| format!("made.{ours} IS NOT NULL"));
                    let is_same =
                        each(" AND ", &|ours, theirs| format!("parent.{theirs} = made.{ours}"));
                    let broken = format!(
                        "{is_whole} AND NOT EXISTS (SELECT 1 FROM {} parent WHERE {is_same})",
                        quote(&text(4))
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
        !self.of_row.is_empty() || !self.keys.is_empty()
    }

    /// The loaded columns' values, made of the rows of `given`; a statement with them fails at a value that would change.
    pub(super) fn checked_values(&self) -> String {
        self.checked.join(", ")
    }

    /// The query that finds the rows to look at: their number, which rule they break, and for each key the first row with the same
    /// one, and whether the table has it.
    fn query(&self) -> String {
        let all = || self.values.iter().chain(&self.defaults);
        let values: Vec<String> = all().map(|(name, value)| format!("{value} AS {name}")).collect();
        // A scan of a stream asks it for the columns that a query needs, and the library's own streams have no ear for that: the first
        // ones would be taken for them. So every column is part of the answer.
        let seen = self.values.iter().map(|(name, _)| format!("CAST({name} IS NULL AS INTEGER)"));
        let seen: Vec<String> = seen.collect();
        let mut sql = format!(
            "WITH given AS MATERIALIZED (SELECT row_number() OVER () - 1 AS {NUMBER}, {} AS \"inrush seen\", * FROM {ROWS}), \
             made AS (SELECT given.{NUMBER}, given.\"inrush seen\", {}, {} AS \"inrush given\" FROM given)",
            seen.join(" + "),
            values.join(", "),
            self.cases(true)
        );
        sql.push_str(&format!(
            ", judged AS MATERIALIZED (SELECT *, coalesce(\"inrush given\", {}) AS \"inrush fault\" FROM made)",
            self.cases(false)
        ));
        let table = quote(&self.table);
        for (index, key) in self.keys.iter().enumerate() {
            let names = ddl::list(key);
            let same: Vec<String> =
                key.iter().map(|name| format!("target.{0} = judged.{0}", quote(name))).collect();
            sql.push_str(&format!(
                ", taken{index} AS MATERIALIZED (SELECT DISTINCT {names} FROM {table} target SEMI JOIN judged ON {})",
                same.join(" AND ")
            ));
        }
        let mut columns = vec![
            format!("{NUMBER} AS number, \"inrush seen\" AS seen"),
            "\"inrush fault\" AS fault".to_owned(),
        ];
        let mut suspect = vec!["fault IS NOT NULL".to_owned()];
        for (index, key) in self.keys.iter().enumerate() {
            let names = ddl::list(key);
            let is_whole: Vec<String> =
                key.iter().map(|name| format!("{} IS NOT NULL", quote(name))).collect();
            let is_whole = format!("\"inrush fault\" IS NULL AND {}", is_whole.join(" AND "));
            let same: Vec<String> = key
                .iter()
                .map(|name| format!("taken{index}.{0} = judged.{0}", quote(name)))
                .collect();
            let group = format!("OVER (PARTITION BY {names}, \"inrush fault\" IS NULL)");
            columns.push(format!(
                "CASE WHEN {is_whole} THEN min({NUMBER}) {group} END AS first{index}"
            ));
            columns.push(format!(
                "CASE WHEN {is_whole} THEN count(*) {group} ELSE 0 END AS count{index}"
            ));
            columns.push(format!(
                "EXISTS (SELECT 1 FROM taken{index} WHERE {}) AS taken{index}",
                same.join(" AND ")
            ));
            suspect.push(format!("count{index} > 1"));
            suspect.push(format!("taken{index}"));
        }
        let mut shown =
            vec!["CAST(number AS VARCHAR)".to_owned(), "CAST(fault AS VARCHAR)".to_owned()];
        for index in 0..self.keys.len() {
            shown.push(format!("CAST(first{index} AS VARCHAR)"));
            shown.push(format!("CAST(taken{index} AS VARCHAR)"));
        }
        shown.push("CAST(seen AS VARCHAR)".to_owned());
        sql.push_str(&format!(
            " SELECT {} FROM (SELECT {} FROM judged) WHERE {} ORDER BY number",
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

    /// The statement that writes the rows except for these.
    fn insert(&self, job: &Job, without: &[u32]) -> String {
        let names: Vec<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<&str> = self.values.iter().map(|(_, value)| value.as_str()).collect();
        let condition = match without {
            [] => String::new(),
            rows => {
                let numbers: Vec<String> = rows.iter().map(u32::to_string).collect();
                format!(" WHERE given.{NUMBER} NOT IN ({})", numbers.join(", "))
            }
        };
        let given = match without {
            [] => ROWS.to_owned(),
            _ => format!("(SELECT row_number() OVER () - 1 AS {NUMBER}, * FROM {ROWS})"),
        };
        format!(
            "INSERT INTO {} ({}) SELECT {} FROM {given} given{condition}{}",
            quote(&self.table),
            names.join(", "),
            values.join(", "),
            ddl::on_conflict(job)
        )
    }
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
        let asked = rules.keys.iter().position(|key| is_asked(key));
        let changes = matches!(conflict, OnConflict::Update | OnConflict::Replace);
        let mut held: Vec<HashSet<u32>> = vec![HashSet::new(); rules.keys.len()];
        // Of rows that change the same one the last has the last word.
        let mut last = std::collections::HashMap::new();
        if let (true, Some(asked)) = (changes, asked) {
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
            let met = suspect.keys.iter().enumerate().find(|(index, (first, taken))| {
                let is_held = first.is_some_and(|first| held[*index].contains(&first));
                let is_changed = changes && asked == Some(*index);
                (*taken || is_held) && !is_changed
            });
            if let Some((index, _)) = met {
                sifted.without.push(row);
                if conflict == OnConflict::Skip && asked == Some(index) {
                    sifted.skipped += 1;
                    continue;
                }
                let key = &rules.keys[index];
                sifted.faults.push(RowFault {
                    row,
                    column: match key.as_slice() {
                        [column] => Some(column.clone()),
                        _ => None,
                    },
                    code: Code::DuplicateKey,
                    message: format!("duplicate key (key: {})", key.join(", ")),
                });
                continue;
            }
            if let (true, Some(asked)) = (changes, asked)
                && let Some(first) = suspect.keys[asked].0
                && last.get(&first) != Some(&row)
            {
                sifted.without.push(row);
                sifted.superseded += 1;
                continue;
            }
            for (index, (first, _)) in suspect.keys.iter().enumerate() {
                held[index].extend(first);
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

/// Asks the engine of each chunk, then writes the rows that it takes.
pub(super) struct SiftLane<'l> {
    session: &'l Session<'l>,
    job: &'l Job,
    how: Sifting<'l>,
    outcome: &'l mut Outcome,
    query: String,
    replay: Replay,
    _stream: Stream,
}

impl<'l> SiftLane<'l> {
    pub(super) fn start(
        session: &'l Session<'_>,
        job: &'l Job,
        carried: &[Carried],
        how: Sifting<'l>,
        outcome: &'l mut Outcome,
    ) -> Result<Self> {
        let replay = Replay::default();
        let mut stream = Stream::new(job, carried, Box::new(replay.clone()));
        stream.show(session.connection()).map_err(|refusal| session.explain(&refusal))?;
        let query = how.rules.query();
        Ok(Self { session, job, how, outcome, query, replay, _stream: stream })
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
                // What is behind the keys has done its work.
                let keys = row[2..row.len() - 1].chunks_exact(2);
                Some(Suspect {
                    row: number(&row[0])?,
                    rule: row[1].as_deref().and_then(|text| text.parse().ok()),
                    keys: keys
                        .map(|key| (number(&key[0]), key[1].as_deref() == Some("true")))
                        .collect(),
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
                writer.write(connection, batch, without)?;
                // The next chunk is compared with what is there.
                writer.flush()
            }
            None => connection.execute(&self.how.rules.insert(self.job, without)).map(drop),
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
        let checksum = sums::without(wire, &batch, &sifted.without);
        let loaded = batch.num_rows() as u64 - left_out;
        if self.outcome.committed {
            self.outcome.committed_rows += loaded;
        }
        Ok(Ack { loaded, skipped: sifted.skipped, faults: sifted.faults, checksum })
    }

    fn finish(&mut self) -> Result<()> {
        self.session.execute(&format!("DROP VIEW {ROWS}")).map(drop)
    }
}

/// Writes all rows of each chunk, and finds out at once or at the end whether the engine takes them.
pub(super) struct WriteLane<'l> {
    session: &'l Session<'l>,
    writer: Box<dyn Write + Send>,
    outcome: &'l mut Outcome,
    /// Rows in a transaction; 0 for all.
    rows_max: u64,
    rows: u64,
}

impl<'l> WriteLane<'l> {
    pub(super) fn start(
        session: &'l Session<'_>,
        job: &Job,
        writer: Box<dyn Write + Send>,
        outcome: &'l mut Outcome,
    ) -> Self {
        let rows_max = job.choice.knobs.get_count(&knobs::ROWS_PER_TRANSACTION).unwrap_or(0);
        Self { session, writer, outcome, rows_max, rows: 0 }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Refusal> {
        let connection = self.session.connection();
        let mut from = 0;
        while from < batch.num_rows() {
            let room = match self.rows_max {
                0 => batch.num_rows() as u64,
                max => max - self.rows,
            };
            let rows = (batch.num_rows() - from).min(usize::try_from(room).unwrap_or(usize::MAX));
            self.writer.write(connection, &batch.slice(from, rows), &[])?;
            from += rows;
            self.rows += rows as u64;
            if self.rows == self.rows_max {
                self.writer.flush()?;
                connection.execute("COMMIT")?;
                self.outcome.committed = true;
                self.outcome.committed_rows += self.rows;
                self.rows = 0;
                connection.execute("BEGIN TRANSACTION")?;
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
        let checksum = wire.checksum.clone();
        Ok(Ack { loaded: batch.num_rows() as u64, checksum, ..Ack::default() })
    }

    fn finish(&mut self) -> Result<()> {
        let flushed = self.writer.flush();
        flushed.map_err(|refusal| self.failure(&refusal))
    }
}
