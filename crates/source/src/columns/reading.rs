//! What becomes of a column on its way from a file to an encoder.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, Date32Array, RecordBatch, StringArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

use crate::columns::nested;
use crate::columns::widen::widen;
use crate::header::unique;
use inrush_core::encode::is_viewed;
use inrush_core::value::rule;
use inrush_core::{Spoiler, Type};

/// One of the load's columns.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Names from the schema down; more than one where a struct is flattened.
    pub(super) name: String,
    /// The column of the file, and inside of it the field of a struct, and so on.
    pub(super) path: Vec<usize>,
    /// What it is in the file.
    from: DataType,
    pub(super) way: Way,
    pub(super) ty: Type,
    /// Whether its values are no texts, but may be written out as such.
    is_typed: bool,
    /// What a user should know of its values.
    pub(super) note: Option<String>,
    /// Whether they are in a form that says nothing to anything but who wrote them.
    pub(super) is_variant: bool,
    /// What keeps texts of a program from being of a narrower type.
    pub(super) spoiler: Option<Spoiler>,
}

/// How an array becomes one that encoders know.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    AsIs,
    /// To a type that holds every value.
    Cast(DataType),
    /// Milliseconds, to the days that they are.
    Days,
    /// 16 bytes, as text.
    Uuid,
    /// Lists, structs and maps, as JSON.
    Json,
}

/// The readings of a schema, its structs taken apart if `flatten` says so.
pub(super) fn readings(schema: &Schema, flatten: bool) -> Vec<Reading> {
    let mut readings = Vec::new();
    add(schema.fields(), &mut Vec::new(), "", flatten, &mut readings);
    readings
}

fn add(
    fields: &Fields,
    path: &mut Vec<usize>,
    before: &str,
    flatten: bool,
    readings: &mut Vec<Reading>,
) {
    for (at, field) in fields.iter().enumerate() {
        let name = format!("{before}{}", field.name());
        let is_variant = field.extension_type_name() == Some(VARIANT);
        path.push(at);
        match field.data_type() {
            DataType::Struct(inner) if flatten && !inner.is_empty() && !is_variant => {
                add(inner, path, &format!("{name}."), flatten, readings);
            }
            ty => {
                let from = ty.clone();
                let (way, ty) = match stored(ty, field.extension_type_name()) {
                    (DataType::FixedSizeBinary(UUID_BYTES), Some(UUID)) => (Way::Uuid, Type::Uuid),
                    (DataType::Int8, Some(BOOL8)) => (Way::Cast(DataType::Boolean), Type::Boolean),
                    (values, Some(name)) if is_text(values) => (way(ty).0, Type::of_marked(name)),
                    _ => way(ty),
                };
                let note = foreign(field, &name).or_else(|| unknown(field, &name, ty));
                let path = path.clone();
                let spoiler = Spoiler::of_marked(field);
                let is_typed = Type::is_written_out(field) || !is_of_texts(&from);
                readings.push(Reading {
                    name,
                    path,
                    from,
                    way,
                    ty,
                    is_typed,
                    note,
                    is_variant,
                    spoiler,
                });
            }
        }
        path.pop();
    }
}

/// What to say of bytes that another database calls values of a type that Arrow has not: they are that database's own form of them
/// (<https://arrow.apache.org/docs/format/CanonicalExtensions.html#opaque>).
fn foreign(field: &Field, name: &str) -> Option<String> {
    use DataType as D;
    let are_bytes = matches!(
        field.data_type(),
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_)
    );
    if field.extension_type_name() != Some("arrow.opaque") || !are_bytes {
        return None;
    }
    let said: serde_json::Value = serde_json::from_str(field.extension_type_metadata()?).ok()?;
    let (ty, vendor) = (said["type_name"].as_str()?, said["vendor_name"].as_str()?);
    Some(format!(
        "column {name} has values of {vendor}'s type {ty} as {vendor}'s own bytes, and they are loaded as bytes: a query that casts it to text \
         has them readable"
    ))
}

/// What to say of values of a type that only Arrow's extension says, and that is none of those that are known here.
fn unknown(field: &Field, name: &str, stored_as: Type) -> Option<String> {
    let extension = field.extension_type_name()?;
    let is_known = [UUID, BOOL8, VARIANT, "arrow.json", "arrow.opaque"].contains(&extension)
        || Type::of_marked(extension) != Type::Text;
    (!is_known).then(|| {
        format!(
            "column {name} is of the extension type {extension}, which is not known here: its values are loaded as they are stored ({stored_as})"
        )
    })
}

/// What values are, and the extension that they are of: behind dictionaries and runs, which are of theirs, and may say so themselves or of
/// their values. `mark` is what the field says.
pub(super) fn stored<'a>(
    ty: &'a DataType,
    mark: Option<&'a str>,
) -> (&'a DataType, Option<&'a str>) {
    match ty {
        DataType::Dictionary(_, values) => stored(values, mark),
        DataType::RunEndEncoded(_, values) => {
            stored(values.data_type(), values.extension_type_name().or(mark))
        }
        ty => (ty, mark),
    }
}

/// What days in milliseconds are read as where some have a time of day.
const MILLIS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

/// How a type is read, and what its values are.
pub(super) fn way(ty: &DataType) -> (Way, Type) {
    use DataType as D;
    let cast = |to: D, ty| (if is_viewed(&to) { Way::Cast(to) } else { Way::Json }, ty);
    match ty {
        D::Null => (Way::AsIs, Type::Text),
        D::Boolean => (Way::AsIs, Type::Boolean),
        D::Int32 | D::Int64 => (Way::AsIs, Type::Integer),
        D::Int8 | D::Int16 | D::UInt8 | D::UInt16 => cast(D::Int32, Type::Integer),
        D::UInt32 => cast(D::Int64, Type::Integer),
        D::UInt64 => (Way::AsIs, Type::Decimal { precision: 20, scale: 0 }),
        D::Float64 => (Way::AsIs, Type::Float),
        D::Float16 | D::Float32 => cast(D::Float64, Type::Float),
        D::Decimal128(precision, 0..) => (Way::AsIs, decimal(*precision, ty)),
        D::Decimal32(precision, scale @ 0..) | D::Decimal64(precision, scale @ 0..) => {
            cast(D::Decimal128(*precision, *scale), decimal(*precision, ty))
        }
        D::Decimal32(precision, _)
        | D::Decimal64(precision, _)
        | D::Decimal128(precision, _)
        | D::Decimal256(precision, _) => cast(D::Utf8, decimal(*precision, ty)),
        D::Date32 => (Way::AsIs, Type::Date),
        // Milliseconds, which should be whole days, and need not: where all are, see `Reading::take_days`.
        D::Date64 => cast(MILLIS, Type::Timestamp { zone: false }),
        D::Timestamp(_, zone) => (Way::AsIs, Type::Timestamp { zone: zone.is_some() }),
        D::Utf8 => (Way::AsIs, Type::Text),
        D::LargeUtf8 | D::Utf8View => cast(D::Utf8, Type::Text),
        D::Binary => (Way::AsIs, Type::Bytes),
        D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => cast(D::Binary, Type::Bytes),
        D::Dictionary(_, values) => match way(values) {
            (Way::AsIs, ty) => cast(values.as_ref().clone(), ty),
            (Way::Cast(to), ty) => cast(to, ty),
            (way, ty) => (way, ty),
        },
        D::RunEndEncoded(_, values) => match way(values.data_type()) {
            (Way::AsIs, ty) => cast(values.data_type().clone(), ty),
            (Way::Cast(to), ty) => cast(to, ty),
            (way, ty) => (way, ty),
        },
        D::Time32(_) | D::Time64(_) => cast(D::Utf8, Type::Time),
        D::Duration(_) | D::Interval(_) => cast(D::Utf8, Type::Interval),
        _ => (Way::Json, Type::Json),
    }
}

/// The columns' names, each another one as in the load, so that bad rows can be loaded again; and the types that readings make of them.
pub(super) fn names_of(readings: &[Reading]) -> SchemaRef {
    let names = readings.iter().map(|reading| reading.name.clone()).collect();
    // What is said of them was said when the source was opened.
    let names = unique(names, &mut Vec::new());
    let field = |(name, reading): (String, &Reading)| {
        let field = Field::new(name, reading.becomes(), true);
        if reading.is_typed { Type::written_out(field) } else { field }
    };
    Arc::new(Schema::new(names.into_iter().zip(readings).map(field).collect::<Vec<_>>()))
}

fn decimal(precision: u8, ty: &DataType) -> Type {
    let scale = match ty {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    };
    // A negative scale stands for zeros before the point.
    let zeros = scale.min(0).unsigned_abs();
    let scale = scale.max(0).unsigned_abs().into();
    // A schema alone may say of more digits behind the point than there are in all.
    Type::Decimal { precision: (u16::from(precision) + u16::from(zeros)).max(scale), scale }
}

impl Reading {
    /// The column of a batch, of which `root` is the one that the path begins with, and whether floats within its lists or structs are
    /// texts, for JSON has no such numbers.
    pub(super) fn apply(
        &self,
        batch: &RecordBatch,
        root: usize,
    ) -> Result<(ArrayRef, bool), ArrowError> {
        let mut array = Arc::clone(batch.column(root));
        let mut nulls = None;
        for at in self.path.iter().skip(1) {
            let parent = array.as_struct();
            nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
            array = Arc::clone(parent.column(*at));
        }
        let array = also_null(array, nulls.as_ref())?;
        let mut has_spelled = false;
        let read: ArrayRef = match &self.way {
            Way::AsIs => array,
            Way::Cast(to) => widen(&array, to)?,
            Way::Days => Arc::new(days(&widen(&array, &MILLIS)?)?),
            Way::Uuid => Arc::new(uuids(&widen(&array, &DataType::FixedSizeBinary(UUID_BYTES))?)),
            Way::Json => {
                let documents = nested::documents(&array)?;
                has_spelled = documents.has_spelled;
                Arc::new(documents.texts)
            }
        };
        Ok((also_null(read, nulls.as_ref())?, has_spelled))
    }

    /// The type of the arrays that [`Reading::apply`] makes.
    pub(super) fn becomes(&self) -> DataType {
        match &self.way {
            Way::AsIs => self.from.clone(),
            Way::Cast(to) => to.clone(),
            Way::Days => DataType::Date32,
            Way::Uuid | Way::Json => DataType::Utf8,
        }
    }

    /// What it is in the file.
    pub(super) fn from(&self) -> &DataType {
        &self.from
    }

    /// Whether bytes are truth values that only an extension calls so, within lists and structs too.
    pub(super) fn has_bool8(&self) -> bool {
        let is_one = *stored(self.from(), None).0 == DataType::Int8 && self.ty == Type::Boolean;
        is_one || has_bool8(self.from())
    }

    /// Whether both are of one type in their files.
    pub(super) fn has_type_of(&self, other: &Self) -> bool {
        self.from == other.from
    }

    /// Whether it has no values but NULL.
    pub(super) fn is_nothing(&self) -> bool {
        self.becomes() == DataType::Null
    }

    /// Whether its values count milliseconds, and are days if all of them are whole ones.
    pub(super) fn may_be_days(&self) -> bool {
        self.way == Way::Cast(MILLIS)
    }

    /// Whether an array that [`Reading::apply`] has made has no time of day, where [`Reading::may_be_days`].
    pub(super) fn are_days(array: &ArrayRef) -> bool {
        *array.data_type() == MILLIS && days(array).is_ok()
    }

    /// From now on its values are days.
    pub(super) fn take_days(&mut self) {
        (self.way, self.ty) = (Way::Days, Type::Date);
    }

    /// The same, where another reading of the column takes its values for days.
    pub(super) fn take_days_as(&mut self, said: &Self) {
        if said.way == Way::Days && self.may_be_days() {
            self.take_days();
        }
    }

    /// The decimal digits of a second that a moment has room for; 0 where values are none.
    pub(super) fn moment_digits(&self) -> u8 {
        match self.becomes() {
            DataType::Timestamp(TimeUnit::Millisecond, _) => 3,
            DataType::Timestamp(TimeUnit::Microsecond, _) => 6,
            DataType::Timestamp(TimeUnit::Nanosecond, _) => 9,
            _ => 0,
        }
    }

    /// Bytes that a value takes in memory, about.
    #[cfg(feature = "parquet")]
    pub(super) fn width(&self) -> u64 {
        match self.ty {
            Type::Boolean => 1,
            Type::Date => 4,
            Type::Integer | Type::Float | Type::Timestamp { .. } | Type::TimestampNs { .. } => 8,
            Type::Decimal { .. }
            | Type::Text
            | Type::Time
            | Type::Uuid
            | Type::Interval
            | Type::Bytes => 16,
            Type::Json => 64,
        }
    }
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are texts, in whatever way they are kept.
fn is_of_texts(ty: &DataType) -> bool {
    is_text(stored(ty, None).0)
}

/// The array, NULL also where the structs are that it is a field of. Arrays of some types can't be: they are when they have been read.
fn also_null(array: ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    use DataType as D;
    let has_none = nulls.is_none_or(|nulls| nulls.null_count() == 0);
    if has_none || matches!(array.data_type(), D::Null | D::Union(..) | D::RunEndEncoded(..)) {
        return Ok(array);
    }
    let nulls = NullBuffer::union(nulls, array.nulls());
    Ok(make_array(array.to_data().into_builder().nulls(nulls).build()?))
}

/// The days that milliseconds are.
fn days(millis: &ArrayRef) -> Result<Date32Array, ArrowError> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    millis.as_primitive::<TimestampMillisecondType>().try_unary::<_, Date32Type, _>(|ms| {
        let day = i32::try_from(ms / DAY_MS).ok().filter(|_| ms % DAY_MS == 0);
        day.ok_or_else(|| {
            ArrowError::CastError(format!("{ms} ms is no whole day, or out of range"))
        })
    })
}

/// The extension of fields that hold UUIDs (<https://arrow.apache.org/docs/format/CanonicalExtensions.html#uuid>).
pub(super) const UUID: &str = "arrow.uuid";
/// How long they are.
pub(super) const UUID_BYTES: i32 = 16;

/// The extension of bytes that are truth values (<https://arrow.apache.org/docs/format/CanonicalExtensions.html#bit-boolean>).
pub(super) const BOOL8: &str = "arrow.bool8";

/// Parquet's VARIANT (<https://github.com/apache/arrow/blob/main/docs/source/format/CanonicalExtensions.rst#parquet-variant>).
pub(super) const VARIANT: &str = "arrow.parquet.variant";

/// Whether a type has such bytes within.
fn has_bool8(ty: &DataType) -> bool {
    let is_one = |field: &Field| {
        let (ty, mark) = stored(field.data_type(), field.extension_type_name());
        mark == Some(BOOL8) && *ty == DataType::Int8 || has_bool8(ty)
    };
    match ty {
        DataType::Struct(fields) => fields.iter().any(|field| is_one(field)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_one(field),
        _ => false,
    }
}

/// As texts. What is read so is of [`UUID_BYTES`] each, see [`add`].
fn uuids(array: &ArrayRef) -> StringArray {
    array.as_fixed_size_binary().iter().map(|value| value.map(uuid)).collect()
}

/// As text.
pub(super) fn uuid(bytes: &[u8]) -> String {
    let text = rule::uuid_text(bytes.try_into().expect("16 bytes"));
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_ends_as_one_that_encoders_know() {
        use DataType as D;
        let decimal = |precision, scale| Type::Decimal { precision, scale };
        let dictionary = D::Dictionary(Box::new(D::Int8), Box::new(D::LargeUtf8));
        for (ty, to, wanted) in [
            (D::Int8, D::Int32, Type::Integer),
            (D::UInt64, D::UInt64, decimal(20, 0)),
            (D::Float32, D::Float64, Type::Float),
            (D::Decimal256(76, 40), D::Utf8, decimal(76, 40)),
            (D::Decimal128(5, -2), D::Utf8, decimal(7, 0)),
            (D::Decimal128(38, 10), D::Decimal128(38, 10), decimal(38, 10)),
            (D::Time64(TimeUnit::Microsecond), D::Utf8, Type::Time),
            (dictionary, D::Utf8, Type::Text),
            (D::new_list(D::Int32, true), D::Utf8, Type::Json),
        ] {
            let (way, found) = way(&ty);
            assert_eq!(found, wanted, "{ty}");
            let becomes = match way {
                Way::AsIs => ty.clone(),
                Way::Cast(to) => to,
                Way::Days => D::Date32,
                Way::Uuid | Way::Json => D::Utf8,
            };
            assert_eq!(becomes, to, "{ty}");
            assert!(is_viewed(&becomes));
        }
    }

    #[test]
    fn fields_are_null_where_their_struct_is_whatever_their_arrays_are() {
        use arrow_array::{Int32Array, NullArray, RunArray, StructArray, UnionArray};
        use arrow_schema::UnionFields;
        let texts = || Arc::new(StringArray::from(vec!["a", "b", "c"]));
        let of_union = [(0, Arc::new(Field::new("t", DataType::Utf8, true)))];
        let union = UnionArray::try_new(
            UnionFields::from_iter(of_union),
            vec![0_i8; 3].into(),
            Some(vec![0, 1, 2].into()),
            vec![texts()],
        );
        let runs = RunArray::try_new(&Int32Array::from(vec![1, 2, 3]), texts().as_ref());
        let arrays: [ArrayRef; 4] = [
            Arc::new(NullArray::new(3)),
            Arc::new(union.unwrap()),
            Arc::new(runs.unwrap()),
            texts(),
        ];
        let fields: Fields =
            arrays.iter().map(|array| Field::new("f", array.data_type().clone(), true)).collect();
        let nulls = NullBuffer::from(vec![true, false, true]);
        let of = StructArray::new(fields, arrays.to_vec(), Some(nulls));
        let batch = RecordBatch::try_from_iter([("s", Arc::new(of) as ArrayRef)]).unwrap();
        let found = readings(&batch.schema(), true);
        let read: Vec<ArrayRef> =
            found.iter().map(|reading| reading.apply(&batch, 0).unwrap().0).collect();
        assert!(found[0].is_nothing());
        for (array, wanted) in read[1..].iter().zip([["\"a\"", "\"c\""], ["a", "c"], ["a", "c"]]) {
            let [first, last] = wanted;
            let found: Vec<_> = array.as_string::<i32>().iter().collect();
            assert_eq!(found, [Some(first), None, Some(last)]);
        }
        let names = names_of(&found);
        let names: Vec<_> = names.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["s.f", "s.f_2", "s.f_3", "s.f_4"]);
    }

    #[test]
    fn structs_are_taken_apart_on_demand() {
        let inner = Fields::from(vec![
            Field::new("x", DataType::Int32, true),
            Field::new("y", DataType::Utf8, true),
        ]);
        let schema = Schema::new(vec![Field::new("a", DataType::Struct(inner), true)]);
        let names = |flatten| -> Vec<String> {
            readings(&schema, flatten).into_iter().map(|reading| reading.name).collect()
        };
        assert_eq!(names(false), ["a"]);
        assert_eq!(names(true), ["a.x", "a.y"]);
    }
}
