//! What was found before a choice is made: of the source, of the target, of the machine.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrow_schema::{DataType, Field};

use crate::ledger::Entry;
use crate::mentions::Mention;
use crate::moments::{MomentFacts, MomentLimits};
use crate::reading::{Added, ReadFacts, is_alike};
use crate::request::{Case, Format, IfExists, MatchBy, NewColumns, OnConflict, Request};
use crate::schema::{Column, Type};
use crate::target::Knob;
use crate::value::double::Specials;
use crate::value::rule::Truths;

/// Everything that the planner may know. Gathered without changing anything.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The input.
    pub source: SourceFacts,
    /// The database.
    pub target: TargetFacts,
    /// Processors this process may use.
    pub processors: usize,
    /// Memory this process may use, in bytes: the machine's, or what its group is allowed. `None` where the system doesn't say.
    pub memory_bytes: Option<u64>,
}

/// What the samples showed.
#[derive(Clone, Debug, Default)]
pub struct SourceFacts {
    /// The columns, in the first input's order; then what is added to them.
    pub fields: Vec<FieldFacts>,
    /// Which of them are loaded, in the order of a table that the load makes; `None` takes all as they come.
    pub taken: Option<Vec<usize>>,
    /// How their names are compared with a table's.
    pub case: Case,
    /// Whether the names come from a header.
    pub header: bool,
    /// Whether it is the first line's look that says so, and neither the format nor the user.
    pub header_is_detected: bool,
    /// How the dialect and the header were decided, in plain words.
    pub reasons: Vec<String>,
    /// Things a user should know, such as a renamed column.
    pub warnings: Vec<String>,
    /// What to say of bad rows where the first lines seem to be a title, so that records have other numbers of fields than expected, or
    /// where commas stand behind records of JSON.
    pub title: Option<String>,
    /// The input's size on disk, when every input is a file.
    pub bytes: Option<u64>,
    /// Bytes of a row in the samples of text, the mean; of JSON without the names of members. `None` where it is not known.
    pub row_bytes: Option<u64>,
    /// Rows whose values were looked at; 0 where that is not known.
    pub rows_seen: u64,
    /// Of these, rows that are bad whatever the types of the columns: of other numbers of fields, or no text.
    pub rows_bad: u64,
    /// Whether the input can be read a second time.
    pub seekable: bool,
    /// Whether it is text with delimiters.
    pub is_delimited: bool,
    /// Whether values have types of their own, and are not read from text.
    pub is_typed: bool,
    /// Whether all of the values were looked at, and no sample only.
    pub is_surveyed: bool,
    /// Whether a try has shown that no column can keep a type at the price of bad rows: with the others there are too many.
    pub is_intolerant: bool,
    /// Rows whose key is an earlier row's, where a try at the load has found them.
    pub repeats: Arc<Repeats>,
    /// Rows that refer to none, where a try at the load has found them.
    pub orphans: Arc<Orphans>,
    /// What reading it takes in memory besides chunks.
    pub memory_bytes: u64,
    /// Chunks that reading it keeps before they are on their way.
    pub chunks_ahead: usize,
    /// The inputs as an engine may read them by itself. `None` where rows have to go through inrush: of text, whose values are what
    /// its rules make of them; of what is no file; of files that differ in their columns or the order of these; and where
    /// structs are taken apart.
    pub plain_files: Option<PlainFiles>,
}

/// Files that hold the source's rows as they are: the same columns in the same order, with types of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFiles {
    /// What all of them are.
    pub format: Format,
    /// Where they are, in the source's order.
    pub paths: Vec<PathBuf>,
    /// What the columns are there, in the order of the fields.
    pub types: Vec<DataType>,
}

impl Facts {
    /// The table that is there and stays as it is defined; none where the load makes one.
    pub fn kept_table(&self, request: &Request) -> Option<&TableFacts> {
        self.target.kept_table(request)
    }

    /// Whether the type of a column is the table's or the user's word, and no guess.
    pub fn is_typed(&self, request: &Request, column: &Column) -> bool {
        column.is_asked() || self.target.typed(request, &column.name).is_some()
    }

    /// The places of the loaded fields that an existing table has no column for, where such columns are to be added to it.
    pub fn new_fields(&self, request: &Request) -> Vec<usize> {
        let adds = request.read.columns.new == NewColumns::Add
            && request.match_by != Some(MatchBy::Position)
            && self.source.header;
        match self.kept_table(request) {
            Some(table) if adds && !table.takes_any && !table.is_nameless => {
                let is_new = |field: &usize| !self.source.is_one_of(*field, &table.columns);
                self.source.taken().into_iter().filter(is_new).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The columns that the source lacks and a row has to say something of, where rows change those that have their keys: there they stay
    /// as they are, and a row with a new key is a bad row. Of a job's own table, which has none of the rows to change, there are none.
    pub fn kept_columns(&self, request: &Request) -> Vec<&str> {
        let changes = request.on_conflict == OnConflict::Update
            && request.if_exists == IfExists::Append
            && !request.owns_table;
        let by_name = request.match_by != Some(MatchBy::Position) && self.source.has_names();
        let Some(table) = self.kept_table(request).filter(|table| {
            changes && by_name && !table.takes_any && !table.is_nameless && !table.needs.is_empty()
        }) else {
            return Vec::new();
        };
        let is_lacking = |column: &&Column| self.source.field_for(column, &table.columns).is_none();
        let is_needed = |column: &&Column| table.needs.contains(&column.name);
        let kept = table.columns.iter().filter(is_needed).filter(is_lacking);
        kept.map(|column| column.name.as_str()).collect()
    }
}

impl FieldFacts {
    /// Whether a column of a source without names has one from the user.
    pub fn is_named(&self) -> bool {
        self.written.is_some() || self.added.is_some()
    }

    /// The name in the source.
    pub fn source_name(&self) -> &str {
        self.written.as_ref().unwrap_or(&self.name)
    }

    /// Whether the user may mean it by this name: the source's, or the one under which it is loaded.
    pub fn is_called(&self, name: &str) -> bool {
        is_alike(&self.name, name) || is_alike(self.source_name(), name)
    }
}

impl SourceFacts {
    /// The places of the fields that are loaded.
    pub fn taken(&self) -> Vec<usize> {
        self.taken.clone().unwrap_or_else(|| (0..self.fields.len()).collect())
    }

    /// The fields that are loaded.
    pub fn loaded(&self) -> impl Iterator<Item = &FieldFacts> {
        self.taken().into_iter().map(|at| &self.fields[at])
    }

    /// Whether all fields that are loaded have names.
    pub fn has_names(&self) -> bool {
        self.header || self.loaded().all(FieldFacts::is_named)
    }

    /// Whether the field at this place has the name of one of a table's columns.
    pub fn is_one_of(&self, field: usize, columns: &[Column]) -> bool {
        let name = &self.fields[field].name;
        columns.iter().any(|column| self.case.is_same(&column.name, name))
    }

    /// The place of the field that goes to `column`, one of a table's `columns`, by its name. Of names that are compared as
    /// one, each is itself where both are there.
    pub fn field_for(&self, column: &Column, columns: &[Column]) -> Option<usize> {
        let is_others = |field: &FieldFacts| {
            columns.iter().any(|other| other.name == field.name && other.name != column.name)
        };
        let taken = self.taken();
        let find = |is: &dyn Fn(&FieldFacts) -> bool| {
            taken.iter().copied().find(|at| is(&self.fields[*at]))
        };
        find(&|field| field.name == column.name).or_else(|| {
            find(&|field| self.case.is_same(&field.name, &column.name) && !is_others(field))
        })
    }
}

/// What is known of rows whose key is that of an earlier row, or of one that the table holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Repeats {
    /// Nothing.
    #[default]
    Unknown,
    /// They have to be looked for before the rows are loaded.
    Sought {
        /// The only key that they repeat, by its columns.
        key: Vec<String>,
        /// What the target says of a row that repeats it, without naming the row.
        words: String,
    },
    /// Which rows these are.
    Rows(RepeatedRows),
    /// What the only key is in them.
    Values {
        /// The key, by its columns.
        key: Vec<String>,
        /// Its values in such rows.
        values: KeyValues,
    },
}

impl Repeats {
    /// Whether it is known which rows these are.
    pub fn are_known(&self) -> bool {
        matches!(self, Self::Rows(_) | Self::Values { .. })
    }
}

/// Rows that repeat keys, by their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedRows {
    /// The keys, each by its columns.
    pub keys: Vec<Vec<String>>,
    /// The rows, ascending: how many rows come before it that the encoders found good, and which key it repeats.
    pub rows: Vec<(u64, u32)>,
}

/// Values of a key that more rows have than may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValues {
    /// Which of [`KeyValues::shown`] each is, in the form that the target takes; several forms may be one value to it.
    pub forms: HashMap<Box<[u8]>, u32>,
    /// The values, as messages show them.
    pub shown: Vec<String>,
    /// Whether the table holds a row with it, so that each row of the source is one too many.
    pub taken: Vec<bool>,
    /// What the target says of a row that repeats the key, without naming the row.
    pub words: String,
}

/// What is known of rows whose foreign key refers to their own table, and finds no row there, nor among the source's good ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Orphans {
    /// Nothing.
    #[default]
    Unknown,
    /// They have to be looked for before the rows are loaded.
    Sought,
    /// What the foreign keys are in them.
    Known(Vec<Parentless>),
}

impl Orphans {
    /// Whether it is known which rows these are.
    pub fn are_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// What is known with what another try has found; `None` where that is nothing new.
    #[must_use]
    pub fn with(&self, found: &Self) -> Option<Self> {
        match (self, found) {
            (Self::Unknown, Self::Sought) => Some(Self::Sought),
            (_, Self::Unknown | Self::Sought) => None,
            (Self::Unknown | Self::Sought, Self::Known(found)) => Some(Self::Known(found.clone())),
            (Self::Known(known), Self::Known(found)) => {
                let mut all = known.clone();
                let mut is_new = false;
                for new in found {
                    match all.iter_mut().find(|known| known.words == new.words) {
                        Some(known) => {
                            let before = known.forms.len();
                            known.forms.extend(new.forms.clone());
                            is_new |= known.forms.len() > before;
                        }
                        None => {
                            all.push(new.clone());
                            is_new = true;
                        }
                    }
                }
                is_new.then_some(Self::Known(all))
            }
        }
    }
}

/// Values of a foreign key that refer to no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parentless {
    /// The foreign key, by its columns.
    pub key: Vec<String>,
    /// The table that it refers to.
    pub parent: String,
    /// Each value in the form that the target takes, and as messages show it.
    pub forms: HashMap<Box<[u8]>, Box<str>>,
    /// What the target says of such a row, without naming it.
    pub words: String,
}

/// What a failed try at a load has found out: with it another one fares better.
#[derive(Clone, Debug)]
pub enum Retry {
    /// A knob wants another value.
    Knob(&'static Knob, &'static str),
    /// One connection, which takes the rows in the source's order, and a knob's value where that takes one more: only then is it
    /// plain which of two rows repeats the other's key.
    InOrder(Option<(&'static Knob, &'static str)>),
    /// The strategy can't do it after all, for a reason that only a try could tell.
    GaveUp,
    /// Rows repeat keys.
    Repeats(Repeats),
    /// Rows refer to none.
    Orphans(Orphans),
}

/// What the samples showed of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldFacts {
    /// The name under which it is loaded: that in the header, made unique, or `column_N` without one, unless the user says another.
    pub name: String,
    /// The name in the source, where that is another.
    pub written: Option<String>,
    /// What it is, where it is none of the source's.
    pub added: Option<Added>,
    /// The narrowest type that every sampled value fits without changing.
    pub ty: Type,
    /// Why a narrower type that nearly all values fit was not taken.
    pub spoiler: Option<Spoiler>,
    /// Whether the type is the input's own word, and no guess.
    pub is_declared: bool,
    /// Whether whoever began the load has decided on the type by most of its values, so that others are bad rows
    /// ([`Basis::Settled`](crate::Basis::Settled)).
    pub is_settled: bool,
    /// How fine its moments are, where it has any.
    pub moments: MomentFacts,
    /// What its values are as the options of reading have it.
    pub reads: ReadFacts,
}

/// What keeps a column from a narrower type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoiler {
    /// Somebody's way to write NULL.
    Null {
        /// As it is written, and other ways to; one that stands in quotes with these.
        spellings: Vec<String>,
        /// The narrower type.
        narrower: Type,
        /// Values that are of the narrower type.
        fitting: u64,
        /// Values seen.
        seen: u64,
    },
    /// Values of another kind.
    Values {
        /// The narrower type.
        narrower: Type,
        /// Values that are of the narrower type.
        fitting: u64,
        /// Values seen.
        seen: u64,
        /// The first that isn't.
        misfit: Misfit,
    },
    /// All values are of the narrower type, but one of them is written in a way that it would not keep.
    Form {
        /// The narrower type.
        narrower: Type,
        /// In which way.
        form: Form,
        /// The first that is.
        misfit: Misfit,
    },
    /// Inputs that say so themselves have it in two types of which none holds both.
    Inputs {
        /// One that is not text.
        narrower: Type,
        /// The first input that has it.
        narrower_in: String,
        /// The other one.
        other: Type,
        /// The first input that has that.
        other_in: String,
    },
}

/// The key of [`Spoiler::marked`] in a field's metadata.
const SPOILER_KEY: &str = "inrush.spoiler";

impl Spoiler {
    /// The field of a program's texts that were values of several kinds, with this in its metadata: a schema has no other place for
    /// it. Only values of another kind are told so.
    pub fn marked(&self, mut field: Field) -> Field {
        if let Self::Values { narrower, fitting, seen, misfit } = self {
            let row = misfit.row.unwrap_or(0);
            let said = format!("{narrower} {fitting} {seen} {row} {}", misfit.value);
            field.metadata_mut().insert(SPOILER_KEY.to_owned(), said);
        }
        field
    }

    /// What a field's metadata says: the way back from [`Spoiler::marked`].
    pub fn of_marked(field: &Field) -> Option<Self> {
        let mut parts = field.metadata().get(SPOILER_KEY)?.splitn(5, ' ');
        let narrower = parts.next()?.parse().ok()?;
        let mut number = || parts.next()?.parse().ok();
        let (fitting, seen, row) = (number()?, number()?, number()?);
        let value = parts.next()?.to_owned();
        let misfit = Misfit { value, file: None, line: None, row: Some(row), byte: 0 };
        Some(Self::Values { narrower, fitting, seen, misfit })
    }
}

/// How a number is written that may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As no whole number is, among whole numbers: `1e5`, `-0`.
    Odd,
    /// With a zero at its end where others have another number of places: `3.10` beside `3.9`.
    Padded,
}

/// The value that decided against a type, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The value, as messages show it.
    pub value: String,
    /// The input, where there are several.
    pub file: Option<String>,
    /// The physical line on which its record begins, from 1, where that is known: of places in the middle of a file it isn't.
    pub line: Option<u64>,
    /// Of rows in columns, which have no lines: the row's number, from 1.
    pub row: Option<u64>,
    /// The record's offset in the decoded input, from 0.
    pub byte: u64,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.value)?;
        if let Some(file) = &self.file {
            write!(f, "{file}, ")?;
        }
        match (self.line, self.row) {
            (Some(line), _) => write!(f, "line {line})"),
            (None, Some(row)) => write!(f, "row {row})"),
            (None, None) => write!(f, "near byte {})", self.byte),
        }
    }
}

/// What the target says of itself.
#[derive(Clone, Debug, Default)]
pub struct TargetFacts {
    /// The engine and its version, for people.
    pub engine: String,
    /// Whether the database is there.
    pub exists: bool,
    /// The table, if it is there.
    pub table: Option<TableFacts>,
    /// The most columns a table can have.
    pub columns_max: usize,
    /// Why no column that a load makes can have a name; `None` where each can.
    pub name_fault: Option<fn(&str) -> Option<String>>,
    /// The moments that columns of a new table keep.
    pub moments: MomentLimits,
    /// Types of its own, in a new table, for what are texts elsewhere, see [`Type::is_kind_of_text`].
    pub text_types: &'static [Type],
    /// Whether decimals of a new table are kept as texts, for want of a type.
    pub decimals_are_texts: bool,
    /// Which words columns of truths read, where their type is declared.
    pub truths: Truths,
    /// What columns of floats have besides numbers.
    pub specials: Specials,
    /// Whether columns of bytes of an existing table read `\x` and hexadecimal digits as what these stand for.
    pub reads_hex: bool,
    /// What the table has besides columns and rows, in the words of its catalogue; read only where the load drops it.
    pub lost_with: Vec<String>,
    /// Views and the like that name the table, and that the database leaves as they are when it is dropped; read only where the load
    /// drops it.
    pub mentioned_by: Vec<Mention>,
    /// What depends on the table, so that the database won't drop it; read only where the load drops it.
    pub held_by: Vec<String>,
    /// What only this target knows of itself, such as settings that bear on loads.
    pub own: Own,
    /// Settings on which it depends which strategy is the fastest, by name: what was measured under others says nothing.
    pub settings: BTreeMap<String, String>,
    /// Why the database takes no rows of anybody, such as a standby's.
    pub read_only: Option<String>,
    /// Whether rows are out as they are sent, to whoever reads them: nothing takes them back, and nothing reads them again.
    pub is_stream: bool,
    /// Why only the engine itself can write rows into this database; `None` where they can be stored past its SQL.
    pub engine_only: Option<String>,
    /// Strategies that a try has shown to be of no use here, and why.
    pub gave_up: BTreeMap<&'static str, String>,
    /// Loads of the table in steps, as far as this one has to know of them: see [`ledger::known`](crate::ledger::known).
    pub ledger: Vec<Entry>,
    /// How long the server takes to answer, at least, where each chunk waits for that; `None` where none does.
    pub round_trip: Option<Duration>,
}

/// A value of a target's own type: what its facts hand to its strategies and loads, and the planner passes on unseen.
#[derive(Clone, Default)]
pub struct Own(OnceLock<Arc<dyn Value>>);

/// What [`Own`] holds. It can be shown, for a plan without it would show but half of what was found.
trait Value: Any + fmt::Debug + Send + Sync {}

impl<T: Any + fmt::Debug + Send + Sync> Value for T {}

impl Own {
    /// Holds a value.
    pub fn new<T: fmt::Debug + Send + Sync + 'static>(value: T) -> Self {
        Self(OnceLock::from(Arc::new(value) as Arc<dyn Value>))
    }

    /// The value; the type's default where there is none, as in facts that no target has gathered.
    ///
    /// # Panics
    /// When it is of another type. A target has one, and meets no other target's facts.
    pub fn get<T: fmt::Debug + Default + Send + Sync + 'static>(&self) -> &T {
        let value: &dyn Any = &**self.0.get_or_init(|| Arc::new(T::default()));
        value.downcast_ref().expect("facts of the target that asks for them")
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get() {
            Some(value) => value.fmt(f),
            None => f.write_str("None"),
        }
    }
}

/// An existing table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableFacts {
    /// Its name as the catalogue spells it.
    pub name: String,
    /// The storage engine that keeps it, in lower case, where the database has several.
    pub storage: Option<String>,
    /// The columns that can be written, in order.
    pub columns: Vec<Column>,
    /// Columns whose values the database computes, so that none can be written.
    pub computed: Vec<String>,
    /// Those of the columns that have to be named, for a row without names has no value for them.
    pub invisible: Vec<String>,
    /// Whether rows may have any columns: those are the source's then, and none of them is pinned by the table.
    pub takes_any: bool,
    /// Whether its columns have no names, but places in arrays.
    pub is_nameless: bool,
    /// Columns that a row has to say something of: they take no NULL and have no default. Empty where the target tells so row by
    /// row.
    pub needs: Vec<String>,
    /// For each of the columns, about how many bytes a row takes that says nothing of it.
    pub default_bytes: Vec<u32>,
    /// Whether it holds at least one row.
    pub holds_rows: bool,
    /// The primary key's columns, empty without one.
    pub primary_key: Vec<String>,
    /// Unique keys besides the primary one.
    pub unique_keys: Vec<Vec<String>>,
    /// Those of its keys that take one NULL for the same as another.
    pub null_keys: Vec<Vec<String>>,
    /// Indexes that refuse no row, so that they may as well be built after the rows, as the engine spells them.
    pub indexes: Vec<String>,
    /// Tables whose rows the engine would delete or change if this one's were deleted.
    pub dependents: Vec<String>,
    /// Whether the engine checks foreign keys of other tables against this one's rows.
    pub is_parent: bool,
    /// Why only the engine itself can write rows into this table: a trigger, a CHECK.
    pub engine_only: Option<String>,
    /// What to do where the source's columns are not the table's, for it looks as if it were written in another form.
    pub way_out: Option<String>,
    /// The module that keeps the rows of a virtual table. Only that knows what it stores of a value, so what is counted elsewhere is
    /// compared by value there.
    pub module: Option<String>,
}

impl TargetFacts {
    /// What a column of a new table is whose values are of this type.
    pub fn own_type(&self, ty: Type) -> Type {
        match ty.is_kind_of_text() && !self.text_types.contains(&ty) {
            true => Type::Text,
            false => ty,
        }
    }

    /// As [`Facts::kept_table`].
    pub fn kept_table(&self, request: &Request) -> Option<&TableFacts> {
        self.table.as_ref().filter(|_| request.if_exists != IfExists::Replace)
    }

    /// The column of this name whose type is the word of the table that stays as it is defined.
    pub fn typed(&self, request: &Request, name: &str) -> Option<&Column> {
        let table = self.kept_table(request).filter(|table| !table.takes_any)?;
        table.columns.iter().find(|own| own.name == name && own.is_pinned())
    }
}

impl TableFacts {
    /// The columns that a row without names has values for.
    pub fn visible(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !self.invisible.contains(&column.name))
    }

    /// The primary key that loads say which add to a table that a load has made with this one: where each row brings its own key, which
    /// column that is; else none.
    pub fn key_said_again(&self, made: &[String]) -> Vec<String> {
        match made {
            [_] if self.takes_any => made.to_vec(),
            _ => Vec::new(),
        }
    }

    /// What has to stay as it is while rows go in: columns and keys, in words.
    pub fn definition(&self) -> String {
        let column = |column: &Column| {
            let null = if column.required { " NOT NULL" } else { "" };
            let declared = column.declared.as_deref().unwrap_or_default();
            format!("{} {declared}{null}", column.name)
        };
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        let mut keys: Vec<String> = self.unique_keys.iter().map(|key| key.join(", ")).collect();
        keys.sort();
        let key = self.primary_key.join(", ");
        format!("{}; primary key ({key}); unique ({})", columns.join(", "), keys.join("), ("))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Server {
        is_local: bool,
    }

    #[test]
    fn a_target_gets_its_own_value_back() {
        let own = Own::new(Server { is_local: true }).clone();
        assert_eq!(own.get::<Server>(), &Server { is_local: true });
        assert_eq!(format!("{own:?}"), "Server { is_local: true }");
        assert_eq!(format!("{:?}", Own::default()), "None");
        assert_eq!(Own::default().get::<Server>(), &Server::default());
    }

    #[test]
    fn a_field_says_what_keeps_it_from_a_narrower_type() {
        let misfit = |value: &str| Misfit {
            value: value.to_owned(),
            file: None,
            line: None,
            row: Some(7),
            byte: 0,
        };
        let narrower = Type::Decimal { precision: 38, scale: 2 };
        for value in ["'x'", "'a b '", "b'\\xff'"] {
            let spoiler = Spoiler::Values { narrower, fitting: 2, seen: 3, misfit: misfit(value) };
            let field = spoiler.marked(Field::new("a", arrow_schema::DataType::Utf8, true));
            assert_eq!(Spoiler::of_marked(&field), Some(spoiler));
        }
        assert_eq!(misfit("'x'").to_string(), "'x' (row 7)");
        let plain = Field::new("a", arrow_schema::DataType::Utf8, true);
        assert_eq!(Spoiler::of_marked(&plain), None);
    }

    #[test]
    #[should_panic(expected = "facts of the target that asks for them")]
    fn no_target_reads_the_value_of_another() {
        Own::new("another's").get::<Server>();
    }
}
