//! What becomes of arrays, against Arrow's own conversions and its own formatter.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{ArrowNativeType as _, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_cast::cast::{CastOptions, cast_with_options};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields, UnionFields};
use proptest::prelude::*;
use proptest::strategy::Union;

use super::reading::{Way, way};
use super::text::texts;
use super::widen::widen;
use super::written_out_bytes;

const VALUES_MAX: usize = 8;

type Arrays = BoxedStrategy<ArrayRef>;
type F16 = <Float16Type as ArrowPrimitiveType>::Native;

fn shared(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn options<V: Debug>(value: impl Strategy<Value = V>) -> impl Strategy<Value = Vec<Option<V>>> {
    prop::collection::vec(prop::option::weighted(0.8, value), 0..=VALUES_MAX)
}

fn collected<V, A>(value: impl Strategy<Value = V> + 'static) -> Arrays
where
    V: Debug + 'static,
    A: Array + FromIterator<Option<V>> + 'static,
{
    options(value).prop_map(|values| shared(values.into_iter().collect::<A>())).boxed()
}

/// With arbitrary values where NULL is.
fn primitives<T: ArrowPrimitiveType>(
    value: impl Strategy<Value = T::Native> + 'static,
    ty: DataType,
) -> Arrays {
    let value = (value, prop::bool::weighted(0.8));
    let values = prop::collection::vec(value, 0..=VALUES_MAX);
    let array = move |values: Vec<(T::Native, bool)>| {
        let (values, valid): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        let array = PrimitiveArray::<T>::new(values.into(), Some(valid.into()));
        shared(array.with_data_type(ty.clone()))
    };
    values.prop_map(array).boxed()
}

fn plain<T: ArrowPrimitiveType>(value: impl Strategy<Value = T::Native> + 'static) -> Arrays {
    primitives::<T>(value, T::DATA_TYPE)
}

macro_rules! integers {
    ($($name:ident: $native:ident),*) => {
        $(
            /// Of any length, and the extremes.
            fn $name() -> impl Strategy<Value = $native> + Clone {
                prop_oneof![
                    4 => (any::<$native>(), 0..$native::BITS).prop_map(|(number, by)| number >> by),
                    1 => prop::sample::select(&[$native::MIN, $native::MAX, 0, 1]),
                ]
            }
        )*
    };
}

integers! {
    i8s: i8, i16s: i16, i32s: i32, i64s: i64, i128s: i128, u8s: u8, u16s: u16, u32s: u32, u64s: u64
}

fn i256s() -> impl Strategy<Value = i256> + Clone {
    prop_oneof![
        i128s().prop_map(i256::from_i128),
        (any::<u128>(), i128s()).prop_map(|(low, high)| i256::from_parts(low, high)),
    ]
}

fn f32s() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), i32s().prop_map(|number| number as f32)]
}

fn f64s() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), i64s().prop_map(|number| number as f64)]
}

fn decimals<T: DecimalType>(
    value: impl Strategy<Value = T::Native> + Clone + 'static,
    ty: fn(u8, i8) -> DataType,
) -> Arrays {
    // Values need not keep to the precision.
    let sizes = (1..=T::MAX_PRECISION).prop_flat_map(|p| (Just(p), -12..=p.cast_signed()));
    sizes.prop_flat_map(move |(p, s)| primitives::<T>(value.clone(), ty(p, s))).boxed()
}

/// Days that Arrow has texts for, see `values_have_texts` for others.
const DAYS: i64 = 95_000_000;

fn moments(per_second: i64) -> impl Strategy<Value = i64> + Clone {
    let most = (DAYS * 86_400).saturating_mul(per_second);
    i64s().prop_map(move |number| number % most)
}

fn timestamps<T: ArrowTimestampType>(per_second: i64) -> Arrays {
    let zones = [None, Some("+00:00"), Some("+02:00"), Some("-0930")];
    prop::sample::select(zones.to_vec())
        .prop_flat_map(move |zone| {
            let ty = DataType::Timestamp(T::UNIT, zone.map(Into::into));
            primitives::<T>(moments(per_second), ty)
        })
        .boxed()
}

fn fixed(values: Vec<Option<[u8; 3]>>) -> ArrayRef {
    let mut builder = FixedSizeBinaryBuilder::new(3);
    for value in values {
        match value {
            Some(value) => builder.append_value(value).unwrap(),
            None => builder.append_null(),
        }
    }
    shared(builder.finish())
}

/// Arrays of every type without another within it. Durations and intervals have texts of their own, see `values_have_texts`.
fn leaves() -> Arrays {
    // Long ones aren't within a view.
    let text = || "[a-zé\u{1F600}\"]{0,16}";
    let bytes = || prop::collection::vec(any::<u8>(), 0..=16);
    Union::new([
        (0..=VALUES_MAX).prop_map(|length| shared(NullArray::new(length))).boxed(),
        collected::<_, BooleanArray>(any::<bool>()),
        plain::<Int8Type>(i8s()),
        plain::<Int16Type>(i16s()),
        plain::<Int32Type>(i32s()),
        plain::<Int64Type>(i64s()),
        plain::<UInt8Type>(u8s()),
        plain::<UInt16Type>(u16s()),
        plain::<UInt32Type>(u32s()),
        plain::<UInt64Type>(u64s()),
        plain::<Float16Type>(any::<u16>().prop_map(F16::from_bits)),
        plain::<Float32Type>(f32s()),
        plain::<Float64Type>(f64s()),
        decimals::<Decimal32Type>(i32s(), DataType::Decimal32),
        decimals::<Decimal64Type>(i64s(), DataType::Decimal64),
        decimals::<Decimal128Type>(i128s(), DataType::Decimal128),
        decimals::<Decimal256Type>(i256s(), DataType::Decimal256),
        plain::<Date32Type>(i32s().prop_map(|day| day % DAYS as i32)),
        plain::<Date64Type>(moments(1_000)),
        plain::<Time32SecondType>(0..86_400_i32),
        plain::<Time32MillisecondType>(0..86_400_000_i32),
        plain::<Time64MicrosecondType>(0..86_400_000_000_i64),
        plain::<Time64NanosecondType>(0..86_400_000_000_000_i64),
        timestamps::<TimestampSecondType>(1),
        timestamps::<TimestampMillisecondType>(1_000),
        timestamps::<TimestampMicrosecondType>(1_000_000),
        timestamps::<TimestampNanosecondType>(1_000_000_000),
        collected::<_, StringArray>(text()),
        collected::<_, LargeStringArray>(text()),
        collected::<_, StringViewArray>(text()),
        collected::<_, BinaryArray>(bytes()),
        collected::<_, LargeBinaryArray>(bytes()),
        collected::<_, BinaryViewArray>(bytes()),
        options(any::<[u8; 3]>()).prop_map(fixed).boxed(),
    ])
    .boxed()
}

/// Sliced or not.
fn sliced(arrays: Arrays) -> Arrays {
    (arrays, any::<prop::sample::Index>(), any::<prop::sample::Index>())
        .prop_map(|(array, from, length)| {
            let from = from.index(array.len() + 1);
            array.slice(from, length.index(array.len() - from + 1))
        })
        .boxed()
}

/// Of values that may be fewer.
type Keys = [Option<u8>];

fn dictionary<K: ArrowDictionaryKeyType>(keys: &Keys, values: &ArrayRef) -> ArrayRef {
    let key = |key: &Option<u8>| {
        let key = usize::from((*key)?).checked_rem(values.len())?;
        K::Native::from_usize(key)
    };
    let keys = keys.iter().map(key).collect::<PrimitiveArray<K>>();
    shared(DictionaryArray::new(keys, Arc::clone(values)))
}

/// Of these values, by keys of every type, NULL among them.
fn dictionaries(values: Arrays) -> Arrays {
    let made: [fn(&Keys, &ArrayRef) -> ArrayRef; 8] = [
        dictionary::<Int8Type>,
        dictionary::<Int16Type>,
        dictionary::<Int32Type>,
        dictionary::<Int64Type>,
        dictionary::<UInt8Type>,
        dictionary::<UInt16Type>,
        dictionary::<UInt32Type>,
        dictionary::<UInt64Type>,
    ];
    (options(any::<u8>()), values, 0..made.len())
        .prop_map(move |(keys, values, key)| made[key](&keys, &values))
        .boxed()
}

/// Lengths and whether there is something, for values of another array, one after the other until there are no more.
type Cuts = Vec<(usize, bool)>;

fn cuts(cuts: &Cuts, values: usize) -> (Vec<usize>, Option<NullBuffer>) {
    let mut left = values;
    let lengths = cuts.iter().map(|(length, _)| {
        let length = *length.min(&left);
        left -= length;
        length
    });
    (lengths.collect(), Some(cuts.iter().map(|(_, valid)| *valid).collect()))
}

fn field(array: &ArrayRef, name: &str) -> Arc<Field> {
    Arc::new(Field::new(name, array.data_type().clone(), true))
}

fn lists<O: OffsetSizeTrait>(lengths: &Cuts, values: &ArrayRef) -> ArrayRef {
    let (lengths, nulls) = cuts(lengths, values.len());
    let (offsets, item) = (OffsetBuffer::from_lengths(lengths), field(values, "item"));
    shared(GenericListArray::<O>::new(item, offsets, Arc::clone(values), nulls))
}

fn views<O: OffsetSizeTrait>(lengths: &Cuts, values: &ArrayRef) -> ArrayRef {
    let (lengths, nulls) = cuts(lengths, values.len());
    let size = |length: usize| O::from_usize(length).unwrap();
    let sizes: Vec<O> = lengths.iter().map(|length| size(*length)).collect();
    let offsets: Vec<O> = lengths.iter().map(|length| size(values.len() - length)).collect();
    let (item, values) = (field(values, "item"), Arc::clone(values));
    shared(GenericListViewArray::<O>::new(item, offsets.into(), sizes.into(), values, nulls))
}

fn pairs(values: &ArrayRef) -> ArrayRef {
    let length = values.len() / 2;
    let nulls = (0..length).map(|at| at % 3 != 2).collect();
    let item = field(values, "item");
    shared(FixedSizeListArray::new(item, 2, values.slice(0, length * 2), Some(nulls)))
}

fn structs(a: &ArrayRef, b: &ArrayRef) -> ArrayRef {
    let length = a.len().min(b.len());
    let fields = Fields::from(vec![field(a, "a"), field(b, "b \"")]);
    let nulls = (0..length).map(|at| at % 3 != 2).collect();
    shared(StructArray::new(fields, vec![a.slice(0, length), b.slice(0, length)], Some(nulls)))
}

fn maps(lengths: &Cuts, values: &ArrayRef) -> ArrayRef {
    let (lengths, nulls) = cuts(lengths, values.len());
    let keys = shared((0..values.len()).map(|at| Some(format!("k{at}"))).collect::<StringArray>());
    let key = Arc::new(Field::new("keys", DataType::Utf8, false));
    let fields = Fields::from(vec![key, field(values, "values")]);
    let entries = StructArray::new(fields.clone(), vec![keys, Arc::clone(values)], None);
    let entry = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    shared(MapArray::new(entry, OffsetBuffer::from_lengths(lengths), entries, nulls, false))
}

fn unions(a: &ArrayRef, b: &ArrayRef, is_dense: bool) -> ArrayRef {
    let length = a.len().min(b.len());
    let (a, b) = (a.slice(0, length), b.slice(0, length));
    let fields = UnionFields::try_new([1, 5], [field(&a, "a"), field(&b, "b")]).unwrap();
    let ids: ScalarBuffer<i8> = (0..length).map(|at| if at % 2 == 0 { 5 } else { 1 }).collect();
    let offsets = is_dense.then(|| (0..length as i32).rev().collect());
    shared(UnionArray::try_new(fields, ids, offsets, vec![a, b]).unwrap())
}

fn runs<R: RunEndIndexType>(values: &ArrayRef) -> ArrayRef {
    let end = |at: usize| R::Native::from_usize(at * 2 + 1).unwrap();
    let ends = (0..values.len()).map(|at| Some(end(at))).collect::<PrimitiveArray<R>>();
    shared(RunArray::<R>::try_new(&ends, values).unwrap())
}

/// Arrays with those of another type within.
fn nested(inner: Arrays) -> Arrays {
    let lengths = || prop::collection::vec((0_usize..4, prop::bool::weighted(0.8)), 0..6);
    let of_one: [fn(&Cuts, &ArrayRef) -> ArrayRef; 9] = [
        lists::<i32>,
        lists::<i64>,
        views::<i32>,
        views::<i64>,
        maps,
        |_, values| pairs(values),
        |_, values| runs::<Int16Type>(values),
        |_, values| runs::<Int32Type>(values),
        |_, values| runs::<Int64Type>(values),
    ];
    let of_two: [fn(&ArrayRef, &ArrayRef) -> ArrayRef; 3] =
        [structs, |a, b| unions(a, b, false), |a, b| unions(a, b, true)];
    prop_oneof![
        dictionaries(inner.clone()),
        (0..of_one.len(), lengths(), inner.clone())
            .prop_map(move |(way, lengths, values)| of_one[way](&lengths, &values)),
        (0..of_two.len(), inner.clone(), inner).prop_map(move |(way, a, b)| of_two[way](&a, &b)),
    ]
    .boxed()
}

/// What our way makes of an array, and what Arrow's does.
fn both(array: &ArrayRef, to: &DataType) -> [Result<ArrayRef, String>; 2] {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    [widen(array, to), cast_with_options(array, to, &strict)]
        .map(|made| made.map_err(|error| error.to_string()))
}

fn check_widened(array: &ArrayRef) -> Result<(), TestCaseError> {
    if let (Way::Cast(to), _) = way(array.data_type()) {
        let [found, wanted] = both(array, &to).map(|made| made.map(|array| array.to_data()));
        if let Ok(found) = &found {
            found.validate_full().unwrap();
        }
        prop_assert_eq!(found, wanted, "{} to {}", array.data_type(), to);
    }
    Ok(())
}

fn check_texts(array: &ArrayRef) -> Result<(), TestCaseError> {
    let options = FormatOptions::default();
    let (found, wanted) = (texts(array), ArrayFormatter::try_new(array, &options));
    let (found, wanted) = match (found, wanted) {
        (Ok(found), Ok(wanted)) => (found, wanted),
        (found, wanted) => {
            let (found, wanted) = (found.err(), wanted.err());
            prop_assert_eq!(found.map(|e| e.to_string()), wanted.map(|e| e.to_string()));
            return Ok(());
        }
    };
    for at in 0..array.len() {
        let mut text = String::new();
        let found = found.write(at, &mut text).map(|()| text);
        let wanted = wanted.value(at).try_to_string();
        prop_assert_eq!(found.map_err(|e| e.to_string()), wanted.map_err(|e| e.to_string()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn arrays_are_widened_as_arrow_does_it(
        array in sliced(prop_oneof![
            3 => leaves(),
            2 => dictionaries(sliced(leaves())),
            1 => dictionaries(dictionaries(leaves())),
        ].boxed())
    ) {
        check_widened(&array)?;
    }

    #[test]
    fn texts_are_those_of_arrow(
        array in sliced(prop_oneof![
            leaves(),
            nested(sliced(leaves())),
            nested(sliced(nested(leaves()))),
        ].boxed())
    ) {
        check_texts(&array)?;
    }
}

#[test]
fn halves_are_what_arrow_makes_of_them() {
    let bits = 0..=u16::MAX;
    let all = shared(bits.map(|bits| Some(F16::from_bits(bits))).collect::<Float16Array>());
    check_widened(&all).unwrap();
    check_texts(&all).unwrap();
}

#[test]
fn values_have_texts() {
    let text = |array: &dyn Array| {
        let mut text = String::new();
        texts(array).and_then(|texts| texts.write(0, &mut text)).map(|()| text).ok()
    };
    let day = 86_400_000_000_000;
    let scaled = |value, scale| {
        Decimal128Array::from(vec![value]).with_precision_and_scale(20, scale).unwrap()
    };
    let zoned = |zone| TimestampMillisecondArray::from(vec![1]).with_timezone(zone);
    let arrays: [(&dyn Array, Option<&str>); 33] = [
        (&Time64NanosecondArray::from(vec![day - 1]), Some("23:59:59.999999999")),
        (&Time64NanosecondArray::from(vec![day]), Some("24:00:00")),
        (&Time64NanosecondArray::from(vec![day + 1]), Some("24:00:00.000000001")),
        (&Time32SecondArray::from(vec![-1]), Some("-00:00:01")),
        (&Time32MillisecondArray::from(vec![-1_500]), Some("-00:00:01.5")),
        (&Time64MicrosecondArray::from(vec![i64::MIN]), Some("-2562047788:00:54.775808")),
        (&Date32Array::from(vec![i32::MAX]), Some("5881580-07-11")),
        (&Date64Array::from(vec![i64::MIN]), Some("-292275055-05-16T16:47:04.192")),
        (
            &TimestampSecondArray::from(vec![i64::MIN]).with_timezone("UTC"),
            Some("-292277022657-01-27T08:29:52+00:00"),
        ),
        (&TimestampSecondArray::from(vec![i64::MAX]), Some("292277026596-12-04T15:30:07")),
        (&DurationMillisecondArray::from(vec![90_500]), Some("PT90.5S")),
        (&DurationMillisecondArray::from(vec![-500]), Some("PT-0.5S")),
        (&DurationMicrosecondArray::from(vec![0]), Some("PT0S")),
        (&DurationSecondArray::from(vec![i64::MAX]), Some("PT9223372036854775807S")),
        (&DurationNanosecondArray::from(vec![i64::MIN]), Some("PT-9223372036.854775808S")),
        (&IntervalYearMonthArray::from(vec![14]), Some("P1Y2M")),
        (&IntervalYearMonthArray::from(vec![-13]), Some("P-1Y-1M")),
        (&IntervalYearMonthArray::from(vec![i32::MIN]), Some("P-178956970Y-8M")),
        (&IntervalDayTimeArray::from(vec![IntervalDayTime::ZERO]), Some("PT0S")),
        (
            &IntervalDayTimeArray::from(vec![IntervalDayTime::new(-2, -3_600_001)]),
            Some("P-2DT-1H-0.001S"),
        ),
        (
            &IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(
                14,
                -3,
                14_706_500_000_000,
            )]),
            Some("P1Y2M-3DT4H5M6.5S"),
        ),
        (&IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(0, 1, 0)]), Some("P1D")),
        (
            &IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(0, 0, i64::MIN)]),
            Some("PT-2562047H-47M-16.854775808S"),
        ),
        (&zoned("+02:00"), Some("1970-01-01T02:00:00.001+02:00")),
        (&zoned("-00:00"), Some("1970-01-01T00:00:00.001Z")),
        (&zoned("UTC"), Some("1970-01-01T00:00:00.001Z")),
        (&zoned("Europe/Berlin"), Some("1970-01-01T00:00:00.001Z")),
        (&scaled(-5, 3), Some("-0.005")),
        (&scaled(-12_345, 3), Some("-12.345")),
        (&scaled(12, -3), Some("12000")),
        (&scaled(0, -3), Some("0")),
        (&Float64Array::from(vec![1e16]), Some("1e16")),
        (&Float32Array::from(vec![1e-7]), Some("1e-7")),
    ];
    for (array, wanted) in arrays {
        assert_eq!(text(array).as_deref(), wanted, "{array:?}");
    }
}

/// Each of these has 2 GiB of values, which take no memory as long as nobody looks at them, or the same ones again and again.
#[test]
fn more_than_an_array_holds_is_an_error() {
    let bytes = Buffer::from(vec![0_u8; 1 << 31]);
    let offsets = OffsetBuffer::new(vec![0, 1 << 31].into());
    let large = LargeBinaryArray::new(offsets, bytes.clone(), None);
    let fixed = FixedSizeBinaryArray::new(1 << 20, bytes, None);
    let texts: StringArray = [Some("0".repeat(1 << 20))].into_iter().collect();
    let mut views = arrow_array::builder::StringViewBuilder::new();
    let block = views.append_block(texts.values().clone());
    (0..1 << 11).for_each(|_| views.try_append_view(block, 0, 1 << 20).unwrap());
    for (array, to) in [
        (shared(large), DataType::Binary),
        (shared(fixed), DataType::Binary),
        (shared(views.finish()), DataType::Utf8),
    ] {
        assert!(widen(&array, &to).is_err(), "{}", array.data_type());
        let none = array.slice(0, 0);
        assert!(widen(&none, &to).unwrap().is_empty(), "{}", array.data_type());
    }
}

#[test]
fn what_may_lose_something_is_an_error() {
    for (from, to) in [
        (DataType::Int64, DataType::Int32),
        (DataType::Decimal32(9, 2), DataType::Decimal128(9, 1)),
        (DataType::Utf8, DataType::Int64),
        (DataType::Binary, DataType::Utf8),
    ] {
        assert!(widen(&new_null_array(&from, 1), &to).is_err(), "{from} to {to}");
    }
}

/// Else a slice of few bytes becomes a batch of many.
#[test]
fn values_that_rows_share_count_for_each_row() {
    let long = "x".repeat(1_000);
    let texts = |n: usize| (0..n).map(|at| if at == 0 { "a" } else { &long });
    let plain = written_out_bytes(&texts(500).map(Some).collect::<StringArray>());
    let dictionary: DictionaryArray<Int32Type> = texts(500).collect();
    let runs: RunArray<Int32Type> = texts(500).collect();
    let views: StringViewArray = texts(500).map(Some).collect();
    let parent = StructArray::from(vec![(
        Arc::new(Field::new("a", dictionary.data_type().clone(), true)),
        shared(dictionary.clone()),
    )]);
    for array in [shared(dictionary), shared(runs), shared(views), shared(parent)] {
        let bytes = written_out_bytes(&array);
        assert!(bytes.abs_diff(plain) < 20 * 500, "{}: {bytes}, {plain}", array.data_type());
        assert!(written_out_bytes(&array.slice(0, 1)) < 100, "{}", array.data_type());
    }
}
