//! Values of Python as a column of Arrow.
//!
//! A column holds one kind of values, in the type that this kind has. Where another kind comes, the batch so far is closed, and from
//! then on the column holds texts: what a text is worth decides the encoder of the load's own column, as it does for files.

use std::sync::Arc;

use arrow_array::builder::{BooleanBufferBuilder, NullBufferBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, Int64Array, NullArray,
    StringArray, TimestampMicrosecondArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, TimeUnit};
use inrush::plan::{Misfit, MissingColumns, ReadRequest, Readers, Spoiler, Trim, Type};
use inrush::source::{duration_text, interval_text};
use inrush_scan::Zone;
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Bool,
    Int,
    /// Of 64 bits, and no double is that number.
    Long,
    /// Beyond 64 bits.
    BigInt,
    Float,
    Text,
    Bytes,
    Decimal,
    Date,
    Moment,
    /// With a time zone.
    Instant,
    Time,
    Duration,
    Uuid,
    /// What its own text says: addresses, paths.
    Named,
    Json,
}

const KINDS: usize = Kind::Json as usize + 1;

/// The kinds that a column has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds(u16);

impl Kinds {
    fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    fn is_within(self, kinds: &[Kind]) -> bool {
        let mut all = Self::default();
        kinds.iter().for_each(|kind| all.add(*kind));
        self.0 & !all.0 == 0
    }

    /// What its texts are, where that is more than texts.
    fn text_type(self) -> Option<Type> {
        let forms = [
            (Kind::Json, Type::Json),
            (Kind::Time, Type::Time),
            (Kind::Uuid, Type::Uuid),
            (Kind::Duration, Type::Interval),
        ];
        let is_of = |(kind, _): &(Kind, Type)| self != Self::default() && self.is_within(&[*kind]);
        forms.into_iter().find(is_of).map(|(_, ty)| ty)
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// Classes that are told by identity, for the limited API has no other way.
pub(crate) struct Classes {
    date: Py<PyType>,
    datetime: Py<PyType>,
    time: Py<PyType>,
    timedelta: Py<PyType>,
    decimal: Py<PyType>,
    uuid: Py<PyType>,
    enumeration: Py<PyType>,
    path: Py<PyType>,
    dumps: Py<PyAny>,
    iso_duration: Py<PyAny>,
    of_numpy: Py<PyAny>,
    pub(crate) fields_of: Py<PyAny>,
    pub(crate) is_frame: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

impl Classes {
    pub(crate) fn get(py: Python<'_>) -> PyResult<&'static Self> {
        CLASSES.get_or_try_init(py, || {
            let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
                Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            Ok(Self {
                date: class("datetime", "date")?,
                datetime: class("datetime", "datetime")?,
                time: class("datetime", "time")?,
                timedelta: class("datetime", "timedelta")?,
                decimal: class("decimal", "Decimal")?,
                uuid: class("uuid", "UUID")?,
                enumeration: class("enum", "Enum")?,
                path: class("pathlib", "PurePath")?,
                dumps: py.import("inrush._values")?.getattr("dumps")?.unbind(),
                iso_duration: py.import("inrush._values")?.getattr("iso_duration")?.unbind(),
                of_numpy: py.import("inrush._values")?.getattr("of_numpy")?.unbind(),
                fields_of: py.import("inrush._values")?.getattr("fields_of")?.unbind(),
                is_frame: py.import("inrush._values")?.getattr("is_frame")?.unbind(),
            })
        })
    }
}

enum Data {
    /// Nothing but NULL so far.
    Nothing,
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Date(Vec<i32>),
    /// Microseconds since 1970; whether of UTC.
    Moment(Vec<i64>, bool),
    /// Texts, or values of other kinds written out.
    Text(Spans, Texts),
    Bytes(Spans),
}

/// What the texts of a batch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texts {
    /// The program's own, and floats that are no number; of a column that doesn't tell them apart, values of other kinds among them.
    Own,
    /// Values of other kinds, of which nothing is read otherwise than it is written.
    WrittenOut,
}

/// How values are taken.
#[derive(Clone, Debug)]
pub(crate) struct Taking {
    nan_is_null: bool,
    /// Whether blanks are cut off texts.
    trims: bool,
    /// Whether a key that a row lacks is a mistake, and not NULL.
    pub(crate) is_strict: bool,
    readers: Arc<Readers>,
}

impl Taking {
    /// Whether a float that is no number is NULL, and what is said of how texts are read.
    pub(crate) fn new(nan_is_null: bool, read: &ReadRequest) -> Self {
        // What can't be said is the load's to refuse.
        let trims = read.trim != Trim::No;
        let is_strict = read.columns.missing == Some(MissingColumns::Fail);
        let readers = Arc::new(Readers::of(read).unwrap_or_default());
        Self { nan_is_null, trims, is_strict, readers }
    }
}

struct Spans {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Spans {
    fn of_nulls(rows: usize) -> Self {
        Self { offsets: vec![0; rows + 1], bytes: Vec::new() }
    }

    fn push(&mut self, value: &[u8]) -> Result<(), Full> {
        let Ok(end) = i32::try_from(self.bytes.len() + value.len()) else {
            return Err(match i32::try_from(value.len()) {
                // A batch of its own has room for it.
                Ok(_) => Full::OtherKind,
                Err(_) => {
                    Full::Value(PyValueError::new_err("a value of 2 GiB or more is too long"))
                }
            });
        };
        self.bytes.extend_from_slice(value);
        self.offsets.push(end);
        Ok(())
    }

    fn push_null(&mut self) {
        self.offsets.push(self.bytes.len() as i32);
    }

    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.bytes.truncate(self.offsets[rows] as usize);
    }
}

/// A column.
pub(crate) struct Column {
    pub(crate) name: String,
    kinds: Kinds,
    /// How many values of each kind there were.
    counts: [u64; KINDS],
    /// Of each kind the first value, as messages show it, and its row, from 1.
    firsts: [Option<(u64, String)>; KINDS],
    /// What the last value is that was added; `None` of NULL.
    last: Option<Kind>,
    /// Rows that were taken, or came before the column did.
    before: u64,
    /// Those that it had when its type was said, and that type.
    said: Option<(Kinds, DataType)>,
    /// Of decimals and of integers beyond 64 bits: the most digits before the point, and behind it.
    whole: usize,
    scale: usize,
    /// Whether a float that is no number is NULL.
    nan_is_null: bool,
    /// Whether the program's texts are in batches of their own, apart from values of other kinds that are written out: where options say
    /// how the column's texts are read.
    texts_apart: bool,
    /// Texts that are NULL, and numbers as such texts: values of other kinds that are written so are apart from texts.
    spellings: Vec<String>,
    /// Whether values had no common type: from then on they are texts.
    is_text: bool,
    /// Whether a text had half of a surrogate pair: such a row is a bad one, and bytes bring it to where bad rows are told.
    is_broken: bool,
    /// The first row whose float is no number.
    first_nan: Option<u64>,
    /// What it was before the last row that may have changed it.
    saved: Saved,
    data: Data,
    nulls: NullBufferBuilder,
    rows: usize,
}

/// What a row makes of a column, and is taken back where the row is refused.
#[derive(Clone, Copy, Default)]
struct Saved {
    /// From 1; 0 is none.
    row: u64,
    kinds: Kinds,
    whole: usize,
    scale: usize,
    is_text: bool,
    is_broken: bool,
    /// Whether the batch had no value yet.
    is_nothing: bool,
}

/// Why a value was not added.
pub(crate) enum Full {
    /// It is of another kind than the batch's: close the batch, and try again.
    OtherKind,
    /// The value is none that a column takes.
    Value(PyErr),
    /// What the program raises itself.
    Failed(PyErr),
}

impl Full {
    /// The failure to read a field of a row: one that is not there is the row's fault.
    pub(crate) fn of_attribute(error: PyErr) -> Self {
        Python::attach(|py| match error.is_instance_of::<PyAttributeError>(py) {
            true => Self::Value(error),
            false => Self::Failed(error),
        })
    }
}

impl From<PyErr> for Full {
    fn from(error: PyErr) -> Self {
        Python::attach(|py| {
            let is_value = error.is_instance_of::<PyTypeError>(py)
                || error.is_instance_of::<PyValueError>(py)
                || error.is_instance_of::<PyOverflowError>(py);
            if is_value { Self::Value(error) } else { Self::Failed(error) }
        })
    }
}

impl Column {
    /// A column of which so many rows have come without it.
    pub(crate) fn new(name: String, taking: &Taking, before: u64) -> Self {
        // Blanks are cut off texts alone, for values that are written out have none.
        let reads = taking.readers.column(&name);
        let makes_values = reads.is_some_and(|reads| reads.makes_values());
        let nulls = taking.readers.nulls_of([name.as_str()]);
        let nulls = nulls.of_column(0).map(|null| String::from_utf8_lossy(null).into_owned());
        let spellings: Vec<String> = nulls.collect();
        // Of texts without the blanks around them only the load knows whether they are NULL.
        let texts_apart = makes_values || (taking.trims && !spellings.is_empty());
        Self {
            name,
            kinds: Kinds::default(),
            counts: [0; KINDS],
            firsts: [const { None }; KINDS],
            last: None,
            before,
            said: None,
            whole: 0,
            scale: 0,
            nan_is_null: taking.nan_is_null,
            texts_apart,
            spellings,
            is_text: false,
            is_broken: false,
            first_nan: None,
            saved: Saved::default(),
            data: Data::Nothing,
            nulls: NullBufferBuilder::new(0),
            rows: 0,
        }
    }

    /// Adds NULL.
    #[inline]
    pub(crate) fn push_null(&mut self) {
        match &mut self.data {
            Data::Nothing => {}
            Data::Bool(values) => values.append(false),
            Data::Int(values) => values.push(0),
            Data::Float(values) => values.push(0.0),
            Data::Date(values) => values.push(0),
            Data::Moment(values, _) => values.push(0),
            Data::Text(spans, _) | Data::Bytes(spans) => spans.push_null(),
        }
        self.nulls.append_null();
        self.last = None;
        self.rows += 1;
    }

    /// Adds a value; about so many bytes.
    #[inline]
    pub(crate) fn push(&mut self, value: &Bound<'_, PyAny>) -> Result<usize, Full> {
        // What most columns hold, without further ado.
        match &mut self.data {
            Data::Int(values) if value.is_exact_instance_of::<PyInt>() => {
                if let Ok(number) = value.extract::<i64>()
                    && let kind = kind_of_integer(number)
                    && self.kinds.has(kind)
                {
                    values.push(number);
                    return Ok(self.pushed(kind, 8));
                }
            }
            Data::Float(values) if value.is_exact_instance_of::<PyFloat>() => {
                let number = value.extract::<f64>()?;
                if !number.is_nan() {
                    values.push(number);
                    return Ok(self.pushed(Kind::Float, 8));
                }
            }
            Data::Moment(values, zone) => {
                let py = value.py();
                let is_plain = value.get_type().is(Classes::get(py)?.datetime.bind(py));
                if is_plain && let Some(micros) = micros_of(value, *zone)? {
                    values.push(micros);
                    let kind = if *zone { Kind::Instant } else { Kind::Moment };
                    return Ok(self.pushed(kind, 8));
                }
            }
            Data::Text(spans, Texts::Own) => {
                if let Ok(text) = value.cast_exact::<PyString>()
                    && let Ok(text) = text.to_str()
                    && self.kinds.has(Kind::Text)
                {
                    spans.push(text.as_bytes())?;
                    return Ok(self.pushed(Kind::Text, text.len() + 4));
                }
            }
            _ => {}
        }
        if value.is_none() {
            self.push_null();
            return Ok(1);
        }
        self.push_any(value)
    }

    #[inline]
    fn pushed(&mut self, kind: Kind, bytes: usize) -> usize {
        self.nulls.append_non_null();
        self.counts[kind as usize] += 1;
        self.last = Some(kind);
        self.rows += 1;
        bytes
    }

    fn push_any(&mut self, value: &Bound<'_, PyAny>) -> Result<usize, Full> {
        let py = value.py();
        let Some((kind, value)) = kind_of(py, value, self.nan_is_null)? else {
            self.push_null();
            return Ok(1);
        };
        self.put(kind, &value)
    }

    fn put(&mut self, kind: Kind, value: &Bound<'_, PyAny>) -> Result<usize, Full> {
        let row = self.before + self.rows as u64 + 1;
        self.save(row);
        self.see(kind, value, row);
        let mut own = texts_of(kind);
        if kind == Kind::Float && value.extract::<f64>()?.is_nan() {
            self.first_nan.get_or_insert(row);
            // Among texts it stands for one that is missing, and no option reads it as something else.
            own = Texts::Own;
        } else if kind == Kind::Decimal && self.is_apart() && !is_finite(value)? {
            own = Texts::Own;
        } else if own == Texts::WrittenOut && !self.texts_apart && !self.spellings.is_empty() {
            let is_among_texts = match self.data {
                Data::Text(_, texts) => texts == Texts::Own,
                _ => self.is_text && kind != Kind::Bytes,
            };
            if is_among_texts && !self.is_spelled(kind, value)? {
                own = Texts::Own;
            }
        }
        let keeps_type = self.keeps_type(kind, value)?;
        if let Data::Nothing = self.data {
            self.data = self.begin(kind, own, keeps_type);
        }
        let is_apart = self.is_apart();
        let bytes = match (&mut self.data, kind) {
            (Data::Text(..) | Data::Bytes(_), _) if keeps_type && kind != Kind::Bytes => {
                return self.close_as_text(kind);
            }
            (Data::Bool(values), Kind::Bool) => {
                values.append(value.extract::<bool>()?);
                1
            }
            (Data::Int(values), Kind::Int | Kind::Long) => {
                values.push(value.extract()?);
                8
            }
            (Data::Float(values), Kind::Float) => {
                values.push(value.extract()?);
                8
            }
            (Data::Date(values), Kind::Date) => {
                // Ordinal 1 is 0001-01-01.
                let ordinal: i32 =
                    value.call_method0(intern!(value.py(), "toordinal"))?.extract()?;
                values.push(ordinal - 719_163);
                4
            }
            (Data::Moment(values, false), Kind::Moment)
            | (Data::Moment(values, true), Kind::Instant) => {
                let text = value.call_method0(intern!(value.py(), "isoformat"))?;
                let text = text.cast::<PyString>().map_err(PyErr::from)?.to_str()?;
                match inrush_scan::timestamp_micros(text.as_bytes()) {
                    Some(micros) => values.push(micros),
                    // Nanoseconds, or an offset with seconds: as text.
                    None => return self.close_as_text(kind),
                }
                8
            }
            (
                Data::Text(..) | Data::Bytes(_),
                Kind::Text | Kind::Int | Kind::Long | Kind::Float,
            ) if is_null(&self.spellings, kind, value)? => {
                self.kinds.add(kind);
                self.push_null();
                return Ok(1);
            }
            (Data::Text(_, texts), _) if is_apart && *texts != own && kind != Kind::Bytes => {
                return self.close_as_text(kind);
            }
            (Data::Text(spans, _), _) if kind != Kind::Bytes => {
                let text = text_of(kind, value)?;
                let Ok(text) = text.to_str() else {
                    self.is_broken = true;
                    return self.close_as_text(kind);
                };
                spans.push(text.as_bytes())?;
                let bytes = text.len() + 4;
                if matches!(kind, Kind::Decimal | Kind::BigInt | Kind::Long | Kind::Int) {
                    self.count_digits(text);
                }
                bytes
            }
            (Data::Bytes(spans), Kind::Bytes) => {
                let value: &[u8] = &value.extract::<std::borrow::Cow<'_, [u8]>>()?;
                spans.push(value)?;
                value.len() + 4
            }
            (Data::Bytes(spans), _) => {
                let text = text_of(kind, value)?;
                if (self.texts_apart || !is_text(kind)) && text.to_str().is_ok() {
                    self.is_broken = false;
                    return self.close_as_text(kind);
                }
                let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
                spans.push(bytes)?;
                bytes.len() + 4
            }
            // As texts a moment without a zone would be one of the session's zone to some targets.
            (Data::Moment(..), Kind::Moment | Kind::Instant) => {
                self.kinds.add(kind);
                return Err(Full::OtherKind);
            }
            _ => return self.close_as_text(kind),
        };
        self.kinds.add(kind);
        Ok(self.pushed(kind, bytes))
    }

    /// Whether a value is one of its own type also among values of other kinds, in a batch of its own: as a text a moment without a zone,
    /// or a day, would be a moment of the session's zone to some targets, and a number would be bytes where there are such.
    fn keeps_type(&self, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(match kind {
            Kind::Date => true,
            Kind::Moment | Kind::Instant => {
                let text = value.call_method0(intern!(value.py(), "isoformat"))?;
                let text = text.cast::<PyString>()?.to_str()?;
                inrush_scan::timestamp_micros(text.as_bytes()).is_some()
            }
            Kind::Bool | Kind::Int | Kind::Long | Kind::Float => self.kinds.has(Kind::Bytes),
            _ => false,
        })
    }

    /// Whether some values of other kinds are apart from texts.
    fn is_apart(&self) -> bool {
        self.texts_apart || !self.spellings.is_empty() || self.kinds.has(Kind::Bytes)
    }

    /// Whether a value that is no text is written as a text that is NULL.
    fn is_spelled(&self, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        if kind == Kind::Bytes {
            return Ok(false);
        }
        let text = text_of(kind, value)?;
        let text = text.to_str().unwrap_or_default();
        Ok(self.spellings.iter().any(|null| null == text))
    }

    /// Keeps what it is, for a row that may be refused. One that is tried again has the same number.
    #[inline]
    fn save(&mut self, row: u64) {
        if self.saved.row != row {
            self.saved = Saved {
                row,
                kinds: self.kinds,
                whole: self.whole,
                scale: self.scale,
                is_text: self.is_text,
                is_broken: self.is_broken,
                is_nothing: matches!(self.data, Data::Nothing),
            };
        }
    }

    /// Is what it was before the row behind its own, which is refused.
    pub(crate) fn refuse(&mut self) {
        let row = self.before + self.rows as u64 + 1;
        let saved = std::mem::take(&mut self.saved);
        if saved.row != row {
            return;
        }
        self.kinds = saved.kinds;
        (self.whole, self.scale) = (saved.whole, saved.scale);
        (self.is_text, self.is_broken) = (saved.is_text, saved.is_broken);
        let is_of_row = |first: &mut Option<(u64, String)>| {
            first.take_if(|(of, _)| *of == row);
        };
        self.firsts.iter_mut().for_each(is_of_row);
        self.first_nan.take_if(|of| *of == row);
        // What was begun for it is of its kind.
        if self.rows == 0 {
            self.clear();
        } else if saved.is_nothing {
            self.data = Data::Nothing;
        }
    }

    /// Keeps the first value of each kind.
    #[inline]
    fn see(&mut self, kind: Kind, value: &Bound<'_, PyAny>, row: u64) {
        let first = &mut self.firsts[kind as usize];
        if first.is_none() {
            *first = Some((row, shown(kind, value)));
        }
    }

    /// So many rows come another way before the next one.
    pub(crate) fn pass(&mut self, rows: u64) {
        self.before += rows;
    }

    /// Its type is what its values so far say, if there are some.
    pub(crate) fn settle(&mut self) {
        if self.said.as_ref().is_none_or(|(kinds, _)| *kinds == Kinds::default()) {
            self.said = Some((self.kinds, self.field().data_type().clone()));
        }
    }

    /// Whether its type would be another by now.
    pub(crate) fn was_misleading(&self) -> bool {
        let Some((kinds, ty)) = &self.said else { return false };
        (*kinds == Kinds::default() && self.has_values())
            || kinds.text_type() != self.kinds.text_type()
            || ty != self.field().data_type()
    }

    /// What is to be said of a column that the load took for one of text.
    pub(crate) fn said_of_text(&self, is_guess: bool, has_null: bool) -> Vec<String> {
        let name = &self.name;
        let nan = self.first_nan.filter(|_| !has_null).map(|row| {
            format!(
                "column {name} is text, so a float that is no number (row {row}) is the text 'NaN' in it: nulls=[\"{name}=NaN\"] loads NULL \
                 for it"
            )
        });
        let late = self.late().filter(|_| is_guess);
        late.into_iter().chain(nan).collect()
    }

    /// That values of other kinds have come once the type was settled, where those before were texts, or none.
    fn late(&self) -> Option<String> {
        const TEXTS: [Kind; 2] = [Kind::Text, Kind::Named];
        let (said, _) = *self.said.as_ref()?;
        // Times of day and the like, where the target has no type for them.
        let form = said.text_type().filter(|ty| ty.is_kind_of_text());
        let known: &[Kind] = if form.is_some() { &[] } else { &TEXTS };
        if form.is_none() && !said.is_within(&TEXTS) || self.kinds.is_within(known) {
            return None;
        }
        let is_other =
            |at: &usize| !known.iter().any(|kind| *kind as usize == *at) && (said.0 >> at) & 1 == 0;
        let others = (0..KINDS).filter(is_other).filter_map(|at| self.firsts[at].as_ref());
        let (row, value) = others.min_by_key(|(row, _)| *row)?;
        let why = match form {
            Some(ty) => format!("the first rows are of type {ty}, which are texts there"),
            None if said == Kinds::default() => {
                "the first rows have no value that says what it is".to_owned()
            }
            None => "the first rows have texts in it".to_owned(),
        };
        let name = &self.name;
        let types = match self.common_type() {
            Some(ty) => format!("types={{\"{name}\": \"{ty}\"}} says that it is more"),
            None => "types={...} says what it is".to_owned(),
        };
        Some(format!("column {name} is text: {why}, and {value} (row {row}) became text ({types})"))
    }

    /// The type of all values so far, in the words of options, where they have one that is more than text.
    fn common_type(&self) -> Option<Type> {
        Some(match self.field().data_type() {
            DataType::Boolean => Type::Boolean,
            DataType::Int64 => Type::Integer,
            DataType::Float64 => Type::Float,
            DataType::Date32 => Type::Date,
            DataType::Timestamp(_, zone) => Type::Timestamp { zone: zone.is_some() },
            DataType::Binary => Type::Bytes,
            _ => return self.kinds.text_type(),
        })
    }

    /// Learns what a value is that will be pushed later, as part of this row, from 1. What is wrong with it is told then.
    #[inline]
    pub(crate) fn look_at(&mut self, value: &Bound<'_, PyAny>, row: u64) {
        if value.is_none() {
            return;
        }
        let kind = if value.is_exact_instance_of::<PyString>() {
            Kind::Text
        } else if value.is_exact_instance_of::<PyInt>()
            && let Ok(number) = value.extract::<i64>()
        {
            kind_of_integer(number)
        } else if value.is_exact_instance_of::<PyFloat>() && !self.nan_is_null {
            Kind::Float
        } else {
            return self.look_closely(value, row);
        };
        self.look(kind, value, row);
    }

    #[inline]
    fn look(&mut self, kind: Kind, value: &Bound<'_, PyAny>, row: u64) {
        self.see(kind, value, row);
        self.counts[kind as usize] += 1;
        self.kinds.add(kind);
    }

    #[inline(never)]
    fn look_closely(&mut self, value: &Bound<'_, PyAny>, row: u64) {
        let Ok(Some((kind, value))) = kind_of(value.py(), value, self.nan_is_null) else { return };
        self.look(kind, &value, row);
        if matches!(kind, Kind::Decimal | Kind::BigInt)
            && let Ok(text) = text_of(kind, &value)
            && let Ok(text) = text.to_str()
        {
            self.count_digits(text);
        }
    }

    /// Counts the digits of a number before its point, and behind it.
    fn count_digits(&mut self, text: &str) {
        let digits = text.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        self.whole = self.whole.max(whole.len());
        self.scale = self.scale.max(fraction.len());
    }

    /// From the next batch on the column holds texts, or bytes.
    fn close_as_text(&mut self, kind: Kind) -> Result<usize, Full> {
        self.kinds.add(kind);
        self.is_text = true;
        Err(Full::OtherKind)
    }

    /// Where values of this kind go, behind the NULLs so far.
    fn begin(&self, kind: Kind, own: Texts, keeps_type: bool) -> Data {
        let rows = self.rows;
        let alike: &[Kind] = match kind {
            Kind::Int | Kind::Long => &[Kind::Int, Kind::Long],
            Kind::Moment | Kind::Instant => &[Kind::Moment, Kind::Instant],
            _ => &[kind],
        };
        if !keeps_type && (self.is_text || !self.kinds.is_within(alike)) {
            let has_bytes = self.kinds.has(Kind::Bytes);
            let texts = if self.is_apart() { own } else { Texts::Own };
            let are_bytes = is_text(kind) && has_bytes && !self.texts_apart || self.is_broken;
            return match kind == Kind::Bytes || are_bytes {
                true => Data::Bytes(Spans::of_nulls(rows)),
                false => Data::Text(Spans::of_nulls(rows), texts),
            };
        }
        match kind {
            Kind::Bool => {
                let mut values = BooleanBufferBuilder::new(rows);
                values.append_n(rows, false);
                Data::Bool(values)
            }
            Kind::Int | Kind::Long => Data::Int(vec![0; rows]),
            Kind::Float => Data::Float(vec![0.0; rows]),
            Kind::Date => Data::Date(vec![0; rows]),
            Kind::Moment => Data::Moment(vec![0; rows], false),
            Kind::Instant => Data::Moment(vec![0; rows], true),
            Kind::Bytes => Data::Bytes(Spans::of_nulls(rows)),
            Kind::BigInt
            | Kind::Text
            | Kind::Decimal
            | Kind::Time
            | Kind::Duration
            | Kind::Uuid
            | Kind::Named
            | Kind::Json => Data::Text(Spans::of_nulls(rows), own),
        }
    }

    /// Whether there was one that is not NULL.
    pub(crate) fn has_values(&self) -> bool {
        self.kinds != Kinds::default()
    }

    /// How many values it has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.data = Data::Nothing;
        self.nulls = NullBufferBuilder::new(0);
        self.rows = 0;
    }

    /// Forgets what is behind the first `rows` values.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if self.rows <= rows {
            return;
        }
        match &mut self.data {
            Data::Nothing => {}
            Data::Bool(values) => values.truncate(rows),
            Data::Int(values) => values.truncate(rows),
            Data::Float(values) => values.truncate(rows),
            Data::Date(values) => values.truncate(rows),
            Data::Moment(values, _) => values.truncate(rows),
            Data::Text(spans, _) | Data::Bytes(spans) => spans.truncate(rows),
        }
        // Never more than the last row, which did not fit.
        if let Some(kind) = self.last.take() {
            self.counts[kind as usize] -= 1;
        }
        self.nulls.truncate(rows);
        self.rows = rows;
    }

    /// The values so far and their field; none are left.
    pub(crate) fn take(&mut self) -> (Field, ArrayRef) {
        let is_written_out = matches!(self.data, Data::Text(_, Texts::WrittenOut));
        let array = self.take_values();
        let field = self.field().with_data_type(array.data_type().clone());
        (if is_written_out { Type::written_out(field) } else { field }, array)
    }

    fn take_values(&mut self) -> ArrayRef {
        let rows = std::mem::take(&mut self.rows);
        self.before += rows as u64;
        let nulls = self.nulls.finish();
        let text = |spans: Spans| {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(spans.offsets));
            (offsets, Buffer::from_vec(spans.bytes))
        };
        match std::mem::replace(&mut self.data, Data::Nothing) {
            Data::Nothing => Arc::new(NullArray::new(rows)),
            Data::Bool(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Data::Int(values) => Arc::new(Int64Array::new(values.into(), nulls)),
            Data::Float(values) => Arc::new(Float64Array::new(values.into(), nulls)),
            Data::Date(values) => Arc::new(Date32Array::new(values.into(), nulls)),
            Data::Moment(values, zone) => {
                let values = TimestampMicrosecondArray::new(values.into(), nulls);
                Arc::new(if zone { values.with_timezone("UTC") } else { values })
            }
            Data::Text(spans, _) => {
                let (offsets, bytes) = text(spans);
                Arc::new(StringArray::new(offsets, bytes, nulls))
            }
            Data::Bytes(spans) => {
                let (offsets, bytes) = text(spans);
                Arc::new(BinaryArray::new(offsets, bytes, nulls))
            }
        }
    }

    /// What the column is, after what it has had so far.
    pub(crate) fn field(&self) -> Field {
        use Kind as K;
        let kinds = self.kinds;
        let within = |kinds_of: &[Kind]| kinds.is_within(kinds_of);
        let moment = |zone| DataType::Timestamp(TimeUnit::Microsecond, zone);
        let ty = match () {
            () if kinds == Kinds::default() => DataType::Utf8,
            () if within(&[K::Bool]) => DataType::Boolean,
            () if within(&[K::Int, K::Long]) => DataType::Int64,
            () if within(&[K::Int, K::Float]) => DataType::Float64,
            () if within(&[K::Int, K::Long, K::BigInt, K::Decimal]) => self.decimal(),
            () if within(&[K::Date]) => DataType::Date32,
            () if within(&[K::Moment]) => moment(None),
            () if within(&[K::Instant]) => moment(Some("UTC".into())),
            () if within(&[K::Bytes]) => DataType::Binary,
            () => DataType::Utf8,
        };
        let field = Field::new(&self.name, ty, true);
        match kinds.text_type() {
            Some(ty) => ty.marked(field),
            None => field,
        }
    }

    /// What keeps values of several kinds from being of the type that most of them have: as texts they are not what they were.
    pub(crate) fn spoiler(&self) -> Option<Spoiler> {
        use Kind as K;
        let has_reason = !self.kinds.is_within(&[K::Text, K::Named]);
        if *self.field().data_type() != DataType::Utf8 || !has_reason {
            return None;
        }
        let decimal = match self.decimal() {
            DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                Type::Decimal { precision: precision.into(), scale: scale.unsigned_abs().into() }
            }
            _ => Type::Text,
        };
        // A type, the kinds that make a column one of it, and those that it takes besides.
        type Candidate<'a> = (Type, &'a [Kind], &'a [Kind]);
        let candidates: [Candidate<'_>; 12] = [
            (Type::Boolean, &[K::Bool], &[]),
            (Type::Integer, &[K::Int, K::Long], &[]),
            (Type::Float, &[K::Float], &[K::Int]),
            (decimal, &[K::BigInt, K::Decimal], &[K::Int, K::Long]),
            (Type::Date, &[K::Date], &[]),
            (Type::Timestamp { zone: false }, &[K::Moment], &[]),
            (Type::Timestamp { zone: true }, &[K::Instant], &[]),
            (Type::Bytes, &[K::Bytes], &[]),
            (Type::Time, &[K::Time], &[]),
            (Type::Uuid, &[K::Uuid], &[]),
            (Type::Interval, &[K::Duration], &[]),
            (Type::Json, &[K::Json], &[]),
        ];
        let is_open = |(ty, own, _): &Candidate<'_>| {
            *ty != Type::Text && own.iter().any(|kind| self.kinds.has(*kind))
        };
        // Of several the one that held out longest.
        let nearest = candidates.into_iter().filter(is_open).filter_map(|(narrower, own, also)| {
            let kinds = || own.iter().chain(also);
            let fitting: u64 = kinds().map(|kind| self.counts[*kind as usize]).sum();
            let is_other = |at: &usize| !kinds().any(|kind| *kind as usize == *at);
            let others = (0..KINDS).filter(is_other).filter_map(|at| self.firsts[at].as_ref());
            let (row, value) = others.min_by_key(|(row, _)| *row)?;
            Some((fitting, row, narrower, value))
        });
        let (fitting, row, narrower, value) =
            nearest.max_by_key(|(fits, row, ..)| (*fits, *row))?;
        let misfit =
            Misfit { value: value.clone(), file: None, line: None, row: Some(*row), byte: 0 };
        Some(Spoiler::Values { narrower, fitting, seen: self.counts.iter().sum(), misfit })
    }

    /// A decimal with as many digits behind the point as were seen, and as many before it as are left.
    fn decimal(&self) -> DataType {
        // Digits of those that came as integers of 64 bits are not counted.
        const INTEGER_DIGITS: usize = 19;
        let has_integers = self.kinds.has(Kind::Int) || self.kinds.has(Kind::Long);
        let whole = self.whole.max(if has_integers { INTEGER_DIGITS } else { 0 });
        match (u8::try_from(whole), i8::try_from(self.scale)) {
            (Ok(whole), Ok(scale)) if usize::from(whole) + self.scale <= 38 => {
                DataType::Decimal128(38, scale)
            }
            (Ok(whole), Ok(scale)) if usize::from(whole) + self.scale <= 76 => {
                DataType::Decimal256(76, scale)
            }
            _ => DataType::Utf8,
        }
    }
}

/// Whether a decimal is a number.
fn is_finite(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.call_method0(intern!(value.py(), "is_finite"))?.extract()
}

/// Whether values of a kind are nothing but texts.
fn is_text(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Named)
}

/// What the texts of values of a kind are.
fn texts_of(kind: Kind) -> Texts {
    if kind == Kind::Text { Texts::Own } else { Texts::WrittenOut }
}

/// Whether a text, or a number as a text, is one of those that are NULL.
fn is_null(nulls: &[String], kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if nulls.is_empty() {
        return Ok(false);
    }
    Ok(match kind {
        Kind::Text => {
            let text = value.cast::<PyString>()?;
            text.to_str().is_ok_and(|text| nulls.iter().any(|null| null == text))
        }
        Kind::Int | Kind::Long => {
            let number: i64 = value.extract()?;
            nulls.iter().any(|null| inrush_scan::integer(null.as_bytes()) == Ok(number))
        }
        Kind::Float => {
            let number: f64 = value.extract()?;
            let is_infinite = |null: &String| number.is_infinite() && *null == float_text(number);
            let is_it = |null: &String| inrush_scan::float(null.as_bytes()) == Ok(number);
            nulls.iter().any(|null| is_it(null) || is_infinite(null))
        }
        _ => false,
    })
}

/// The microseconds of a `datetime` that has a zone, or has none, as is asked for.
fn micros_of(value: &Bound<'_, PyAny>, zone: bool) -> PyResult<Option<i64>> {
    let text = value.call_method0(intern!(value.py(), "isoformat"))?;
    let text = text.cast::<PyString>()?.to_str()?;
    let found = inrush_scan::read_timestamp(text.as_bytes());
    let found = found.filter(|moment| (moment.zone == Zone::Offset) == zone);
    // Anything else is looked at again, with more patience.
    Ok(found
        .filter(|moment| moment.nanoseconds % 1_000 == 0)
        .map(|moment| moment.seconds * 1_000_000 + i64::from(moment.nanoseconds / 1_000)))
}

/// The kind of a value, and the value itself, which for enumerations and NumPy's numbers is another one. `None` is NULL.
fn kind_of<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    nan_is_null: bool,
) -> PyResult<Option<(Kind, Bound<'py, PyAny>)>> {
    let classes = Classes::get(py)?;
    let mut value = value.clone();
    // An enumeration's value may be one again; nothing sensible is deeper.
    for _ in 0..4 {
        let is = |class: &Py<PyType>| is_of(&value, class);
        let class = value.get_type();
        let kind = if value.is_none() {
            return Ok(None);
        } else if is(&classes.enumeration)? {
            value = value.getattr("value")?;
            continue;
        } else if value.is_instance_of::<PyBool>() {
            Kind::Bool
        } else if value.is_instance_of::<PyInt>() {
            value.extract().map_or(Kind::BigInt, kind_of_integer)
        } else if value.is_instance_of::<PyFloat>() {
            if nan_is_null && value.extract::<f64>()?.is_nan() {
                return Ok(None);
            }
            Kind::Float
        } else if value.is_instance_of::<PyString>() {
            Kind::Text
        } else if value.is_instance_of::<PyBytes>()
            || matches!(&*class.name()?.to_string_lossy(), "bytearray" | "memoryview")
        {
            if !value.is_instance_of::<PyBytes>() {
                value = py.get_type::<PyBytes>().call1((value,))?;
            }
            Kind::Bytes
        } else if is(&classes.datetime)? {
            if &*class.name()?.to_string_lossy() == "NaTType" {
                return Ok(None);
            }
            match value.call_method0("utcoffset")?.is_none() {
                true => Kind::Moment,
                false => Kind::Instant,
            }
        } else if is(&classes.date)? {
            Kind::Date
        } else if is(&classes.decimal)? {
            Kind::Decimal
        } else if is(&classes.time)? {
            Kind::Time
        } else if is(&classes.timedelta)? {
            Kind::Duration
        } else if is(&classes.uuid)? {
            Kind::Uuid
        } else if is(&classes.path)? {
            Kind::Named
        } else if &*class.name()?.to_string_lossy() == "MonthDayNano" {
            // A tuple, as PyArrow has Arrow's intervals.
            Kind::Duration
        } else if value.is_instance_of::<PyDict>()
            || value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyTuple>()
            || (class.hasattr("__dataclass_fields__")? && !value.is_instance_of::<PyType>())
        {
            Kind::Json
        } else {
            let module = class.module()?;
            match (&*module.to_string_lossy(), &*class.name()?.to_string_lossy()) {
                (_, "NAType" | "NaTType") => return Ok(None),
                // What stands for a value that a masked array hides.
                ("numpy.ma" | "numpy.ma.core", "MaskedConstant") => return Ok(None),
                ("ipaddress", _) | ("pandas" | "pandas._libs.interval", "Interval") => {
                    return Ok(Some((Kind::Named, value)));
                }
                ("numpy", "timedelta64") => {
                    // What it makes of itself is a plain number where it has nanoseconds.
                    if value.str()?.to_str()? == "NaT" {
                        return Ok(None);
                    }
                    return Ok(Some((Kind::Duration, value)));
                }
                ("numpy", "datetime64") => {
                    // Its own text is exact to the nanosecond, and what it makes of itself is not, days aside.
                    let text = value.str()?;
                    let (has_clock, text) = match text.to_str()?.split_once('T') {
                        Some(("Na", "")) => return Ok(None),
                        // Of hours alone.
                        Some((_, clock)) if clock.len() == 2 => (true, text.add(":00")?),
                        other => (other.is_some(), text.into_any()),
                    };
                    let own = value.call_method0("item")?;
                    if !has_clock && is_of(&own, &classes.date)? {
                        return Ok(Some((Kind::Date, own)));
                    }
                    return Ok(Some((Kind::Moment, Text::wrap(py, &text)?)));
                }
                // Arrays and records, and no scalars.
                ("numpy" | "numpy.ma" | "numpy.ma.core" | "numpy.rec", _)
                    if value.hasattr("__len__")? =>
                {
                    value = classes.of_numpy.bind(py).call1((value,))?;
                    continue;
                }
                ("numpy", _) if value.hasattr("item")? => {
                    let own = value.call_method0("item")?;
                    if own.get_type().is(&class) {
                        return Err(PyTypeError::new_err(
                            "no database has a type for values of numpy.longdouble",
                        ));
                    }
                    value = own;
                    continue;
                }
                ("builtins", "range") | ("collections", "deque") => Kind::Json,
                (module, name) => {
                    // What has an order only once it is a list, or can be had only once.
                    let is_iterable = value.hasattr("__iter__")?;
                    let advice = if value.hasattr("model_dump")? {
                        ": its model_dump() is a dict"
                    } else if is_iterable {
                        ": make a list of it"
                    } else if name == "Period" {
                        ": of a column astype(str) makes texts, and dt.to_timestamp() moments"
                    } else {
                        ""
                    };
                    return Err(PyTypeError::new_err(format!(
                        "no database has a type for values of {module}.{name}{advice}"
                    )));
                }
            }
        };
        return Ok(Some((kind, value)));
    }
    Err(PyTypeError::new_err("an enumeration whose values are enumerations has no end"))
}

/// What an integer of 64 bits is: of the bits from its first one to its last a double has 53.
#[inline]
fn kind_of_integer(number: i64) -> Kind {
    let size = number.unsigned_abs();
    let is_double = size >> 53 == 0 || size.leading_zeros() + size.trailing_zeros() >= 11;
    if is_double { Kind::Int } else { Kind::Long }
}

fn is_of(value: &Bound<'_, PyAny>, class: &Py<PyType>) -> PyResult<bool> {
    value.is_instance(class.bind(value.py()))
}

/// A moment that is a text already.
#[pyclass]
struct Text(Py<PyAny>);

impl Text {
    fn wrap<'py>(py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, Self(text.clone().unbind()))?.into_any())
    }
}

#[pymethods]
impl Text {
    fn isoformat(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.clone_ref(py)
    }
}

/// The text that a value has in a column of texts, and in a word the type that it has in rows, where its text does not say that: of a
/// text `7` it would say that it is a number. `None` is NULL.
///
/// # Errors
/// When no database has a type for it, or it has no text.
#[pyfunction]
pub(crate) fn constant<'py>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Option<(Bound<'py, PyString>, Option<String>)>> {
    let Some((kind, value)) = kind_of(value.py(), value, false)? else { return Ok(None) };
    let text = text_of(kind, &value)?;
    let ty = match kind {
        Kind::Text | Kind::Named => Some(Type::Text),
        Kind::Decimal => decimal_type(text.to_str()?),
        Kind::Json => Some(Type::Json),
        Kind::Time => Some(Type::Time),
        Kind::Uuid => Some(Type::Uuid),
        Kind::Duration => Some(Type::Interval),
        _ => None,
    };
    Ok(Some((text, ty.map(|ty| ty.to_string()))))
}

/// The type of a decimal with these digits; `None` where there is none, such as for NaN.
fn decimal_type(text: &str) -> Option<Type> {
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    let whole = whole.trim_start_matches('0').len();
    let precision = (whole + fraction.len()).max(1);
    let word = format!("decimal({precision},{})", fraction.len());
    word.parse().ok().filter(|_| is_number)
}

/// A value in quotes for messages, and not all of a long one.
fn shown(kind: Kind, value: &Bound<'_, PyAny>) -> String {
    const LENGTH_MAX: usize = 40;
    let text = match kind {
        Kind::Bytes => value.repr(),
        _ => text_of(kind, value),
    };
    // What has no text is refused elsewhere.
    let text = text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let quote = if kind == Kind::Bytes { "" } else { "'" };
    match text.char_indices().nth(LENGTH_MAX) {
        None => format!("{quote}{text}{quote}"),
        Some((end, _)) => format!("{quote}{}...{quote}", &text[..end]),
    }
}

/// A float as a column of floats has it as text.
fn float_text(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => serde_json::Value::from(number).to_string(),
    }
}

/// A moment as a column of moments has it as text: `YYYY-MM-DD HH:MM:SS`, a fraction without zeros at its end, and `+00:00` where it
/// has a zone. One that no such column holds stays as it is.
fn moment_text<'py>(iso: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let found = inrush_scan::read_timestamp(iso.cast::<PyString>()?.to_str()?.as_bytes());
    let second = found
        .as_ref()
        .and_then(|moment| inrush_scan::timestamp_text(moment.seconds.checked_mul(1_000_000)?));
    let (Some(moment), Some(second)) = (found, second) else { return Ok(iso.clone()) };
    let mut text = String::from_utf8_lossy(&second[..19]).into_owned();
    if moment.nanoseconds > 0 {
        let fraction = format!(".{:09}", moment.nanoseconds);
        text.push_str(fraction.trim_end_matches('0'));
    }
    if moment.zone == Zone::Offset {
        text.push_str("+00:00");
    }
    Ok(PyString::new(iso.py(), &text).into_any())
}

/// PostgreSQL's `numeric` has 131,072 digits before the point (manual, 8.1.2), and no other has more.
const DECIMAL_EXPONENT_MAX: u64 = 131_072;

/// A value as text: exactly what it is.
fn text_of<'py>(kind: Kind, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let py = value.py();
    let text = match kind {
        Kind::Text => value.clone(),
        Kind::Bool => {
            let word = if value.extract::<bool>()? { "true" } else { "false" };
            PyString::new(py, word).into_any()
        }
        // `repr` of a subclass may be anything.
        Kind::Int | Kind::Long | Kind::BigInt => {
            py.get_type::<PyInt>().call_method1("__repr__", (value,))?
        }
        Kind::Float => PyString::new(py, &float_text(value.extract()?)).into_any(),
        // Without an exponent, but for one of which no database has the digits.
        Kind::Decimal => {
            let exponent: i64 = value.call_method0(intern!(py, "adjusted"))?.extract()?;
            match exponent.unsigned_abs() <= DECIMAL_EXPONENT_MAX {
                true => value.call_method1("__format__", ("f",))?,
                false => value.str()?.into_any(),
            }
        }
        Kind::Date | Kind::Time => value.call_method0("isoformat")?,
        Kind::Moment | Kind::Instant => moment_text(&value.call_method0("isoformat")?)?,
        Kind::Uuid | Kind::Named => value.str()?.into_any(),
        Kind::Duration => PyString::new(py, &duration(value)?).into_any(),
        Kind::Json => Classes::get(py)?.dumps.bind(py).call1((value,))?,
        Kind::Bytes => {
            return Err(PyTypeError::new_err("bytes are no text"));
        }
    };
    Ok(text.cast_into::<PyString>()?)
}

/// A `timedelta`, or an interval of PyArrow, as ISO 8601 has durations, and as Arrow's are written: `PT93600.5S`, `PT-1S`.
fn duration(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let classes = Classes::get(py)?;
    if value.is_instance_of::<PyTuple>() {
        let (months, days, nanos) = value.extract()?;
        return Ok(interval_text(months, days, nanos));
    }
    if !value.get_type().is(classes.timedelta.bind(py)) {
        // NumPy's and pandas' may have more digits.
        return classes.iso_duration.bind(py).call1((value,))?.extract();
    }
    let part = |name: &str| value.getattr(name)?.extract::<i128>();
    let micros = (part("days")? * 86_400 + part("seconds")?) * 1_000_000 + part("microseconds")?;
    Ok(duration_text(micros, 6))
}
