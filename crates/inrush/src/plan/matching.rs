//! Which of the source's columns goes to which of an existing table's.
//!
//! Names are compared where both sides have them: each of the source's has to be one of the table's, which may have more. What is
//! matched by position might as well be another table's rows, so that takes a user's word, or a source that has no names; and then
//! the user hears of it. Of such a source the columns that the user names (`--rename`, `--add`) go by these names.

use std::collections::BTreeMap;

use crate::plan::{
    Basis, Column, Facts, FieldFacts, MatchBy, MissingColumns, NewColumns, OnConflict, Request,
    TableFacts, Type,
};
use crate::target::Target;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::reading::is_alike;
use inrush_core::wording::{counted, noun, said_of, shell_word};

/// Names of a side that a message lists.
const NAMES_SHOWN: usize = 20;

/// The columns of an existing table that get values, in the table's order, and the field that each takes them from.
pub(super) fn existing_columns(
    found: &TableFacts,
    request: &Request,
    facts: &Facts,
    table: &str,
    target: &dyn Target,
    reasons: &mut Vec<String>,
    hints: &mut Vec<String>,
) -> Result<(Vec<Column>, Vec<usize>)> {
    let sides = Sides { found, facts, table, target };
    let nameless = match found.is_nameless {
        false if facts.source.has_names() => None,
        true if facts.source.header => Some("the rows of the table have no column names"),
        _ => Some("the source has no column names"),
    };
    match (request.match_by, nameless) {
        (Some(MatchBy::Name), Some(why)) => Err(Error::usage(format!("--match name: {why}"))
            .advise("--match position takes the source's columns in the table's order")
            .advise(format!("or name the source's: {}", sides.to_name(&facts.source.taken())))),
        (Some(MatchBy::Position), _) => {
            reasons.push(format!(
                "the source's columns go to the columns of table {table} by position, as --match says"
            ));
            sides.by_position(request)
        }
        (None, Some(_))
            if !found.is_nameless && facts.source.loaded().any(FieldFacts::is_named) =>
        {
            sides.by_name_and_position(request, hints)
        }
        (None, Some(why)) => {
            let columns = sides.by_position(request)?;
            hints.push(format!(
                "{why}: its columns go to those of table {table} by position, that is to {} (--match position confirms it)",
                list(columns.0.iter().map(|column| column.name.as_str()))
            ));
            Ok(columns)
        }
        (_, None) => sides.by_name(request, reasons),
    }
}

/// What is to be brought together.
struct Sides<'a> {
    found: &'a TableFacts,
    facts: &'a Facts,
    table: &'a str,
    target: &'a dyn Target,
}

impl Sides<'_> {
    fn by_name(
        &self,
        request: &Request,
        reasons: &mut Vec<String>,
    ) -> Result<(Vec<Column>, Vec<usize>)> {
        let Self { found, facts, table, .. } = self;
        let table_columns = &found.columns;
        let is_known = |field: &usize| facts.source.is_one_of(*field, table_columns);
        let taken = facts.source.taken().into_iter();
        let unknown: Vec<&str> = taken
            .filter(|field| !is_known(field))
            .map(|field| facts.source.fields[field].name.as_str())
            .collect();
        let is_computed =
            |name: &&str| found.computed.iter().any(|it| it.eq_ignore_ascii_case(name));
        let computed: Vec<&str> = unknown.iter().copied().filter(is_computed).collect();
        if !computed.is_empty() && request.read.columns.new != NewColumns::Ignore {
            let (noun, names) =
                (noun(computed.len() as u64, "column"), list(computed.iter().copied()));
            return Err(Error::new(
                Kind::Target,
                format!("{noun} {names} of table {table}: the database computes the values, and takes none"),
            )
            .advise(format!(
                "--drop {} leaves them out of what is loaded",
                shell_word(&computed.join(","))
            )));
        }
        if !unknown.is_empty() {
            let names = || list(unknown.iter().copied());
            match request.read.columns.new {
                NewColumns::Fail => return Err(self.without_column(&unknown, request)),
                NewColumns::Ignore => reasons.push(format!(
                    "not in table {table}, so they are left out, as --new-columns says: {}",
                    names()
                )),
                NewColumns::Add => reasons.push(format!(
                    "not in table {table}, so they are added to it, as --new-columns says: {}; rows that it holds have NULL there",
                    names()
                )),
            }
        }
        self.are_told_apart()?;
        let find = |column: &Column| facts.source.field_for(column, table_columns);
        let matched: Vec<(Column, usize)> = table_columns
            .iter()
            .filter_map(|column| {
                let field = find(column)?;
                Some((self.taking(column, field), field))
            })
            .collect();
        let given = |name: &String| matched.iter().any(|(column, _)| column.name == *name);
        // What is said of a column that rows are compared by says more.
        let compared = match (request.on_conflict, request.key.as_slice()) {
            (OnConflict::Fail, _) => &[],
            (_, []) => found.primary_key.as_slice(),
            (_, key) => key,
        };
        let is_compared = |name: &String| compared.iter().any(|key| is_alike(key, name));
        let kept = facts.kept_columns(request);
        let is_lacking =
            |name: &&String| !given(name) && !is_compared(name) && !kept.contains(&name.as_str());
        if let Some(name) = found.needs.iter().find(is_lacking) {
            return Err(Error::new(
                Kind::Target,
                format!("column {name} of table {table} has no default, and the source has no such column"),
            )
            .advise(format!(
                "add the column to the source, or say what it is in all rows: {}",
                said_of("--add", name, "VALUE")
            ))
            .advise("or give the table's column a default"));
        }
        reasons.push(format!("the source's columns go to the columns of table {table} by name"));
        if matched.is_empty() {
            return Err(Error::source(format!(
                "none of the source's columns is one of table {table}: it has {}",
                list(table_columns.iter().map(|column| column.name.as_str()))
            )));
        }
        if matched.len() < table_columns.len() {
            let left = || table_columns.iter().filter(|column| find(column).is_none());
            if request.read.columns.missing == Some(MissingColumns::Fail) {
                let names = list(left().map(|column| column.name.as_str()));
                return Err(Error::new(
                    Kind::Target,
                    format!("the source lacks columns of table {table}: {names}"),
                )
                .advise("--missing-columns null gives their rows the default, or NULL")
                .advise("--add NAME=VALUE gives them a value"));
            }
            let names = left().map(|column| column.name.as_str());
            let others: Vec<&str> = names.filter(|name| !kept.contains(name)).collect();
            if !kept.is_empty() {
                reasons.push(format!(
                    "not in the source, so they stay as they are in the rows that are changed, and a row with a new key, for which they have no \
                     default, is a bad row: {}",
                    list(kept.iter().copied())
                ));
            }
            if !others.is_empty() {
                reasons.push(format!(
                    "not in the source, so they get their default: {}",
                    list(others.into_iter())
                ));
            }
        }
        Ok(matched.into_iter().unzip())
    }

    /// Refuses a column of the source that might go to several of the table's: their names differ in case alone, and none is spelled as
    /// the source's is.
    fn are_told_apart(&self) -> Result<()> {
        let Self { found, facts, table, .. } = self;
        let mut filled: BTreeMap<usize, &str> = BTreeMap::new();
        for column in &found.columns {
            let Some(at) = facts.source.field_for(column, &found.columns) else { continue };
            let Some(other) = filled.insert(at, &column.name) else { continue };
            let field = &facts.source.fields[at];
            let error = Error::new(
                Kind::Target,
                format!(
                    "which column of table {table} is {}? It has {other} and {}, and case matters where a table has both",
                    field.name, column.name
                ),
            );
            return Err(match field.added {
                Some(_) => {
                    error.advise(format!("spell it in --add as {other}, or as {}", column.name))
                }
                None => {
                    let spelled = |name| shell_word(&format!("{}={name}", field.source_name()));
                    let (one, two) = (spelled(other), spelled(&column.name));
                    error.advise(format!("--rename {one} or --rename {two} says which is meant"))
                }
            });
        }
        Ok(())
    }

    /// The column as it takes the values of a field. A file of text has no types of its own: that it holds texts there says nothing of
    /// how bytes and moments are spelled, so those of a source that has types are spelled as in a new file.
    fn taking(&self, column: &Column, field: usize) -> Column {
        let source = &self.facts.source;
        let is_spelled = matches!(source.fields[field].ty, Type::Bytes | Type::Timestamp { .. });
        let is_of_text = column.ty == Type::Text && column.is_pinned() && column.declared.is_none();
        let is_open = source.is_typed && is_spelled && is_of_text;
        let basis = if is_open { Basis::Inferred } else { column.basis };
        Column { basis, ..column.clone() }
    }

    /// The source names columns that the table doesn't have.
    fn without_column(&self, unknown: &[&str], request: &Request) -> Error {
        let Self { found, facts, table, .. } = self;
        let fields: Vec<_> = facts.source.loaded().collect();
        let mut error = Error::new(
            Kind::Target,
            format!(
                "table {table} has no {} {} that the source names: the source has {}; the table has {}",
                noun(unknown.len() as u64, "column"),
                list(unknown.iter().copied()),
                list(fields.iter().map(|field| field.name.as_str())),
                list(found.columns.iter().map(|column| column.name.as_str())),
            ),
        );
        if let Some(way_out) = &found.way_out {
            return error.advise(way_out);
        }
        if let Some(renames) = self.told_apart_by_case(unknown, &fields) {
            error = error.advise(format!(
                "{renames} --case exact if columns of the source have names that differ in case alone, as the table's do"
            ));
        }
        if facts.source.header_is_detected && request.dialect.header.is_none() {
            error = error.advise("--header no if the first line is data");
        }
        if fields.len() == found.visible().count() {
            error = error.advise(
                "--match position if these are the same columns, in this order, under other names",
            );
        }
        let error = error.advise(
            "--rename OLD=NEW where a name differs, --drop NAME or --new-columns ignore to leave columns out",
        );
        if request.is_attempt() {
            return error.advise("or begin a job for all columns");
        }
        error
            .advise(match self.target.adds_columns() {
                true => "--new-columns add adds them to the table",
                false => "or add them to the table first",
            })
            .advise(match self.target.has_tables() {
                true => "or load into another --table",
                false => "or load into another file",
            })
    }

    /// Where names that the table doesn't have are of second columns whose own names it has, and that differ from another column's in case
    /// alone: the options that give them these.
    fn told_apart_by_case(&self, unknown: &[&str], fields: &[&FieldFacts]) -> Option<String> {
        let own = |name: &&str| {
            let (own, number) = name.rsplit_once('_')?;
            let is_of_table = self.found.columns.iter().any(|column| column.name == own);
            let is_other = |field: &&&FieldFacts| field.name != own && is_alike(&field.name, own);
            let is_taken = fields.iter().any(|field| field.name == own);
            let is_it = number.parse::<usize>().is_ok() && is_of_table && !is_taken;
            fields.iter().find(is_other).filter(|_| is_it)?;
            Some(format!("--rename {}", shell_word(&format!("{name}={own}"))))
        };
        Some(unknown.iter().map(own).collect::<Option<Vec<_>>>()?.join(" "))
    }

    fn by_position(&self, request: &Request) -> Result<(Vec<Column>, Vec<usize>)> {
        let Self { found, facts, table, .. } = self;
        let taken = facts.source.taken();
        let fields = taken.len();
        let columns: Vec<&Column> = found.visible().collect();
        if fields == columns.len() {
            let pairs = columns.into_iter().zip(&taken);
            let columns = pairs.map(|(column, field)| self.taking(column, *field)).collect();
            return Ok((columns, taken));
        }
        let mut error = Error::new(
            Kind::Target,
            format!(
                "the source has {}, table {table} has {}: {}",
                counted(fields as u64, "column"),
                columns.len(),
                list(columns.iter().map(|column| column.name.as_str()))
            ),
        );
        let last = taken.last().map(|field| &facts.source.fields[*field]);
        let is_empty = |field: &&FieldFacts| field.reads.is_null && field.added.is_none();
        if let Some(last) = last.filter(|last| is_empty(last) && fields == columns.len() + 1) {
            error = error.advise(format!(
                "--drop {} if a delimiter ends each line: the last column is empty in all rows seen",
                shell_word(&last.name)
            ));
        }
        Err(match (&found.way_out, request.match_by) {
            (Some(way_out), _) => error.advise(way_out),
            (None, Some(_)) => {
                error.advise("--match position takes as many columns as the table has")
            }
            (None, None) => error
                .advise("give the source a header with the table's column names")
                .advise(format!("or name its columns: {}", self.to_name(&taken))),
        })
    }

    /// Columns that the user has named go by these names, and the others, in their order, to what the table has besides.
    fn by_name_and_position(
        &self,
        request: &Request,
        hints: &mut Vec<String>,
    ) -> Result<(Vec<Column>, Vec<usize>)> {
        let Self { found, facts, table, .. } = self;
        let fields = &facts.source.fields;
        let (named, open): (Vec<usize>, Vec<usize>) =
            facts.source.taken().into_iter().partition(|field| fields[*field].is_named());
        let unknown: Vec<&str> = named
            .iter()
            .filter(|field| !facts.source.is_one_of(**field, &found.columns))
            .map(|field| fields[*field].name.as_str())
            .collect();
        if !unknown.is_empty() {
            return Err(self.without_column(&unknown, request));
        }
        self.are_told_apart()?;
        let find = |column: &Column| {
            facts.source.field_for(column, &found.columns).filter(|field| named.contains(field))
        };
        let rest = found.visible().filter(|column| find(column).is_none());
        let rest: Vec<&str> = rest.map(|column| column.name.as_str()).collect();
        if rest.len() != open.len() {
            return Err(Error::new(
                Kind::Target,
                format!(
                    "the source has {} without a name, table {table} has {} besides those that are named: {}",
                    counted(open.len() as u64, "column"),
                    rest.len(),
                    list(rest.iter().copied())
                ),
            )
            .advise(format!("name the source's other columns too: {}", self.to_name(&open))));
        }
        hints.push(format!(
            "the source has no column names: those without one from --rename or --add go to the other columns of table {table} by \
             position, that is to {} (--match position takes all by position)",
            list(rest.iter().copied())
        ));
        let mut open = open.into_iter();
        let taken = found.columns.iter().filter_map(|column| {
            let is_visible = !found.invisible.contains(&column.name);
            let field = find(column).or_else(|| is_visible.then(|| open.next())?)?;
            Some((self.taking(column, field), field))
        });
        Ok(taken.unzip())
    }

    /// The options that name such columns.
    fn to_name(&self, fields: &[usize]) -> String {
        let fields = fields.iter().map(|field| &self.facts.source.fields[*field]);
        let first = fields.filter(|field| field.added.is_none()).take(3);
        let options = first.map(|field| format!("--rename {}=NAME", shell_word(&field.name)));
        options.collect::<Vec<_>>().join(" ")
    }
}

/// Names, as messages list them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.len().checked_sub(NAMES_SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMES_SHOWN].join(", ")),
    }
}
