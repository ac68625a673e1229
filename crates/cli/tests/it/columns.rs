//! Parquet and Arrow IPC files as input.

use std::fs::File;
use std::sync::Arc;

use arrow_array::builder::{
    DurationSecondBuilder, FixedSizeBinaryBuilder, FixedSizeListBuilder, Float64Builder,
    Int32Builder, IntervalYearMonthBuilder, LargeListBuilder, ListBuilder, MapBuilder,
    StringBuilder,
};
use arrow_array::types::{Int8Type, IntervalDayTime};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    DictionaryArray, DurationMillisecondArray, DurationNanosecondArray, DurationSecondArray,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    IntervalDayTimeArray, IntervalYearMonthArray, LargeStringArray, NullArray, RecordBatch,
    RunArray, StringArray, StringViewArray, StructArray, Time32SecondArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
    make_array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    ByteArray, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int96, Int96Type,
};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::fixture::{Fixture, Random, quoted, rows, size};

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

pub(crate) fn column(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

pub(crate) fn parquet(fixture: &Fixture, name: &str, batch: &RecordBatch, group_rows: usize) {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let file = File::create(fixture.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn arrow(fixture: &Fixture, name: &str, batch: &RecordBatch) {
    let mut writer =
        FileWriter::try_new(File::create(fixture.path(name)).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

fn stream(fixture: &Fixture, name: &str, batch: &RecordBatch) {
    let mut writer =
        StreamWriter::try_new(File::create(fixture.path(name)).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

/// A batch of this many rows: numbers, some NULL, and names.
fn numbered(rows: i64) -> RecordBatch {
    let half = |n: i64| (n % 3 != 0).then_some(n as f64 / 2.0);
    batch(vec![
        ("id", column(Int64Array::from_iter_values(0..rows))),
        ("half", column(Float64Array::from_iter((0..rows).map(half)))),
        ("name", column(StringArray::from_iter_values((0..rows).map(|n| format!("name {n}"))))),
    ])
}

#[test]
fn durations_are_the_same_from_parquet_as_from_arrow() {
    let fixture = Fixture::new();
    let inner =
        StructArray::try_from(vec![("x", column(DurationSecondArray::from(vec![Some(61), None])))])
            .unwrap();
    let mut pairs = FixedSizeListBuilder::new(DurationSecondBuilder::new(), 2);
    pairs.values().append_slice(&[1, 2, 3, 4]);
    (0..2).for_each(|_| pairs.append(true));
    let mut large = LargeListBuilder::new(DurationSecondBuilder::new());
    large.append_value([Some(1)]);
    large.append_value([Some(2), Some(3), Some(4)]);
    let batch = batch(vec![
        ("ms", column(DurationMillisecondArray::from(vec![Some(93_600_500), None]))),
        ("ns", column(DurationNanosecondArray::from(vec![Some(-1), None]))),
        ("whole", column(Int64Array::from(vec![Some(5), None]))),
        ("st", column(inner)),
        ("pair", column(pairs.finish())),
        ("large", column(large.finish())),
    ]);
    parquet(&fixture, "t.parquet", &batch, 1);
    arrow(&fixture, "t.arrow", &batch);
    for source in ["t.parquet", "t.arrow"] {
        fixture.report(&[source, "t.db", "--if-exists", "replace"]);
        let [first, second] = [r#"["PT1S","PT2S"]"#, r#"["PT3S","PT4S"]"#];
        let [one, three] = [r#"["PT1S"]"#, r#"["PT2S","PT3S","PT4S"]"#];
        let wanted = rows![
            ["PT93600.5S", "PT-0.000000001S", 5, "{\"x\":\"PT61S\"}", first, one],
            [(), (), (), "{\"x\":null}", second, three]
        ];
        assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
    }
}

/// Also where all values have as many bytes.
#[test]
fn bytes_within_are_base64_that_is_loaded_back_as_the_same_bytes() {
    let fixture = Fixture::new();
    let bytes = [[0x2d, 0x71, 0x16], [0, 0xff, 0x41]];
    let fixed = || column(FixedSizeBinaryArray::try_from_iter(bytes.iter()).unwrap());
    let any = column(BinaryArray::from_iter_values(bytes));
    let inner = StructArray::try_from(vec![("f", fixed()), ("v", any)]).unwrap();
    let mut list = FixedSizeListBuilder::new(FixedSizeBinaryBuilder::new(3), 1);
    for value in bytes {
        list.values().append_value(value).unwrap();
        list.append(true);
    }
    let batch = batch(vec![("s", column(inner)), ("l", column(list.finish()))]);
    parquet(&fixture, "t.parquet", &batch, 1);
    arrow(&fixture, "t.arrow", &batch);
    for source in ["t.parquet", "t.arrow"] {
        fixture.report(&[source, "jsonl:t.jsonl", "--if-exists", "replace"]);
        let [one, two] = ["LXEW", "AP9B"]
            .map(|of| format!("{{\"s\":{{\"f\":\"{of}\",\"v\":\"{of}\"}},\"l\":[\"{of}\"]}}\n"));
        assert_eq!(fixture.read("t.jsonl"), (one + &two).as_bytes(), "{source}");
    }
    let typed = ["--flatten", "--columns", "s.f,s.v", "--type", "s.f=bytes", "--type", "s.v=bytes"];
    fixture.report(&[&["t.jsonl", "t.db"], &typed[..]].concat());
    let wanted =
        "SELECT count(*) FROM t WHERE \"s.f\" = \"s.v\" AND \"s.f\" IN (x'2d7116', x'00ff41')";
    assert_eq!(fixture.number("t.db", wanted), 2);
}

/// Whole numbers of 128 bits, which Polars has: where 64 is said here, it is 128.
#[test]
fn a_type_that_arrow_does_not_know_is_no_damage() {
    let fixture = Fixture::new();
    let batch = batch(vec![("id", column(Int64Array::from(vec![1, 2])))]);
    arrow(&fixture, "in.arrow", &batch);
    stream(&fixture, "in.arrows", &batch);
    for name in ["in.arrow", "in.arrows"] {
        let mut bytes = fixture.read(name);
        for at in 0..bytes.len() - 4 {
            if bytes[at..at + 4] == [64, 0, 0, 0] {
                bytes[at] = 128;
            }
        }
        fixture.write(name, bytes);
        let run = fixture.load(&[name, "t.db"]).exits(1);
        run.says(&["bit width of 128", "without the columns of the type that is not supported"]);
    }
}

#[test]
fn a_damaged_file_of_columns_is_an_error_at_worst() {
    let fixture = Fixture::new();
    let names = || StringArray::from_iter_values((0..40).map(|n| format!("name {}", n % 7)));
    let keys = Int32Array::from_iter((0..40).map(|n| (n % 9 != 0).then_some(n % 7)));
    let few = StringArray::from_iter_values((0..7).map(|n| format!("name {n}")));
    let mut list = ListBuilder::new(Int32Builder::new());
    (0..40).for_each(|n| list.append_value((0..n % 4).map(Some)));
    let inner = StructArray::try_from(vec![("x", column(names()))]).unwrap();
    let batch = batch(vec![
        ("id", column(Int64Array::from_iter_values(0..40))),
        ("name", column(names())),
        ("view", column(StringViewArray::from_iter_values((0..40).map(|n| format!("view {n}"))))),
        ("few", column(DictionaryArray::try_new(keys, Arc::new(few)).unwrap())),
        ("list", column(list.finish())),
        ("st", column(inner)),
        ("none", column(NullArray::new(40))),
    ]);
    parquet(&fixture, "whole.parquet", &batch, 15);
    let mut whole = vec![("in.parquet", fixture.read("whole.parquet"))];
    for packing in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        let options = IpcWriteOptions::default().try_with_compression(packing).unwrap();
        let (of, schema) = (options.clone(), batch.schema());
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, of).unwrap();
        writer.write(&batch).unwrap();
        whole.push(("in.arrow", writer.into_inner().unwrap()));
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        writer.write(&batch).unwrap();
        whole.push(("in.arrows", writer.into_inner().unwrap()));
    }
    let mut random = Random(7);
    let mut refused = 0;
    for at in 0..size(70, 7_000) {
        let (name, mut bytes) = whole[at % whole.len()].clone();
        for _ in 0..1 + random.next() % 4 {
            let place = 8 + (random.next() % (bytes.len() as u64 - 8)) as usize;
            match random.next() % 20 {
                0 => bytes.truncate(place),
                1 => drop(bytes.drain(place..bytes.len().min(place + 20))),
                2..8 => bytes[place] = random.next() as u8,
                _ => bytes[place] ^= 1 << (random.next() % 8),
            }
        }
        fixture.write(name, &bytes);
        let run = match at % 10 {
            9 => fixture.inrush(&["check", name]),
            _ => fixture.load(&[name, "csv:-", "--max-rejects", "all", "--rejects", "bad"]),
        };
        assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{at}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{at}: {run:?}");
        refused += u32::from(run.status.code() == Some(1));
    }
    assert!(refused > 50, "{refused}");
}

/// Bytes that are truth values (<https://arrow.apache.org/docs/format/CanonicalExtensions.html#bit-boolean>), alone and within a struct, and
/// such that are none.
pub(crate) fn truths() -> RecordBatch {
    let bytes = || column(Int8Array::from(vec![Some(0), Some(1), Some(-3), None]));
    let marked = |name: &str| {
        let mark = ("ARROW:extension:name".to_owned(), "arrow.bool8".to_owned());
        Arc::new(Field::new(name, DataType::Int8, true).with_metadata([mark]))
    };
    let inner = StructArray::from(vec![(marked("ok"), bytes())]);
    let within = Field::new("st", inner.data_type().clone(), true);
    let number = Field::new("n", DataType::Int8, true);
    let schema = Schema::new(vec![marked("ok"), Arc::new(within), Arc::new(number)]);
    let columns = vec![bytes(), column(inner), bytes()];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

#[test]
fn bytes_that_are_truth_values_are_booleans() {
    let fixture = Fixture::new();
    let batch = truths();
    parquet(&fixture, "t.parquet", &batch, 2);
    arrow(&fixture, "t.arrow", &batch);
    for source in ["t.parquet", "t.arrow"] {
        let report = fixture.report(&[source, "t.db", "--if-exists", "replace"]);
        let is_of = |at: usize| report["plan"]["columns"][at]["type"].to_string();
        assert_eq!([0, 1, 2].map(is_of), ["\"boolean\"", "\"json\"", "\"integer\""], "{source}");
        let within = |ok: &str| format!("{{\"ok\":{ok}}}");
        let wanted = rows![
            [0, within("false").as_str(), 0],
            [1, within("true").as_str(), 1],
            [1, within("true").as_str(), -3],
            [(), within("null").as_str(), ()]
        ];
        assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
    }
}

/// Dictionaries and runs are of the extension of their values, whether their own field says so or that of the values.
#[test]
fn values_behind_dictionaries_and_runs_are_of_their_extension() {
    let fixture = Fixture::new();
    let marked = |name: &str, ty: &DataType, mark: &str| {
        let mark = ("ARROW:extension:name".to_owned(), mark.to_owned());
        Arc::new(Field::new(name, ty.clone(), true).with_metadata([mark]))
    };
    let dictionary = |values: ArrayRef| {
        let keys = Int8Array::from(vec![Some(1), Some(0), None]);
        column(DictionaryArray::try_new(keys, values).unwrap())
    };
    let truths = || dictionary(column(Int8Array::from(vec![0, -3])));
    let uuids = FixedSizeBinaryArray::try_from_iter([[0x12_u8; 16], [0xab; 16]].iter()).unwrap();
    let ends = Int32Array::from(vec![1, 3]);
    let runs = column(RunArray::try_new(&ends, &Int8Array::from(vec![0, -3])).unwrap());
    let DataType::RunEndEncoded(of_ends, _) = runs.data_type().clone() else { unreachable!() };
    let own = DataType::RunEndEncoded(of_ends, marked("values", &DataType::Int8, "arrow.bool8"));
    let own_runs =
        make_array(runs.to_data().into_builder().data_type(own.clone()).build().unwrap());
    let inner = StructArray::from(vec![
        (marked("d", truths().data_type(), "arrow.bool8"), truths()),
        (Arc::new(Field::new("o", own, true)), Arc::clone(&own_runs)),
    ]);
    let columns = [
        ("d", truths(), "arrow.bool8"),
        ("r", runs, "arrow.bool8"),
        ("o", own_runs, ""),
        ("u", dictionary(column(uuids)), "arrow.uuid"),
        ("j", dictionary(column(StringArray::from(vec!["[1]", "{}"]))), "arrow.json"),
        ("st", column(inner), ""),
    ];
    let fields = columns.iter().map(|(name, array, mark)| match *mark {
        "" => Arc::new(Field::new(*name, array.data_type().clone(), true)),
        mark => marked(name, array.data_type(), mark),
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array, _)| Arc::clone(array)).collect();
    arrow(&fixture, "t.arrow", &RecordBatch::try_new(schema, arrays).unwrap());
    let report = fixture.report(&["t.arrow", "t.db"]);
    let is_of = |at: usize| report["plan"]["columns"][at]["type"].as_str().unwrap().to_owned();
    let types = (0..6).map(is_of).collect::<Vec<_>>();
    assert_eq!(types, ["boolean", "boolean", "boolean", "text", "json", "json"]);
    let [first, second] = ["abab", "1212"].map(|four| {
        let two = &four[..2];
        format!("{}-{four}-{four}-{four}-{}", two.repeat(4), two.repeat(6))
    });
    let wanted = rows![
        [1, 0, 0, first.as_str(), "{}", "{\"d\":true,\"o\":false}"],
        [0, 1, 1, second.as_str(), "[1]", "{\"d\":false,\"o\":true}"],
        [(), 1, 1, (), (), "{\"d\":null,\"o\":true}"]
    ];
    assert_eq!(fixture.table("t.db", "t"), wanted);
}

/// A name that comes twice is another one in the load, and in the files of its bad rows.
#[test]
fn bad_rows_of_columns_of_one_name_load_again() {
    let fixture = Fixture::new();
    let message = "message m { required double a; required double a; }";
    let file = File::create(fixture.path("t.parquet")).unwrap();
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for values in [[1.5, 2.5], [3.5, f64::NAN]] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    fixture.load(&["t.parquet", "t.db", "--max-rejects", "1"]).exits(3);
    let aside = String::from_utf8(fixture.read("t.rejects.jsonl")).unwrap();
    assert_eq!(aside, "{\"a\":2.5,\"a_2\":\"NaN\"}\n");
    fixture.write("fixed.jsonl", aside.replace("\"NaN\"", "4.5"));
    fixture.load(&["fixed.jsonl", "t.db", "--table", "t", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1.5, 3.5], [2.5, 4.5]]);
}

/// Other integers that only Arrow's schema tells from plain ones.
#[test]
fn days_and_seconds_are_the_same_from_parquet_as_from_arrow() {
    let fixture = Fixture::new();
    let seconds = || TimestampSecondArray::from(vec![Some(1_704_110_400), None]);
    let batch = batch(vec![
        ("day", column(Date64Array::from(vec![Some(86_400_000), None]))),
        ("moment", column(seconds())),
        ("zoned", column(seconds().with_timezone("UTC"))),
        ("clock", column(Time32SecondArray::from(vec![Some(3_661), None]))),
        ("list", column(StructArray::try_from(vec![("x", column(seconds()))]).unwrap())),
    ]);
    parquet(&fixture, "t.parquet", &batch, 1);
    arrow(&fixture, "t.arrow", &batch);
    for source in ["t.parquet", "t.arrow"] {
        fixture.report(&[source, "t.db", "--if-exists", "replace"]);
        let (day, moment, clock) = ("1970-01-02", "2024-01-01 12:00:00", "01:01:01");
        let (zoned, within) = (format!("{moment}+00:00"), "{\"x\":\"2024-01-01T12:00:00\"}");
        let none = "{\"x\":null}";
        let wanted = rows![[day, moment, zoned, clock, within], [(), (), (), (), none]];
        assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
    }
}

/// A Parquet file of a column of bytes, of which the message says more.
fn fixed(fixture: &Fixture, name: &str, message: &str, values: &[Option<[u8; 12]>]) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let file = File::create(fixture.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let bytes = |value: &[u8; 12]| FixedLenByteArray::from(ByteArray::from(value.to_vec()));
    let values: Vec<FixedLenByteArray> = values.iter().flatten().map(bytes).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<FixedLenByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn intervals_of_parquet_have_months_days_and_milliseconds() {
    let fixture = Fixture::new();
    let interval = |parts: [u32; 3]| {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
        Some(bytes.try_into().unwrap())
    };
    let message = "message m { optional fixed_len_byte_array(12) iv (INTERVAL); }";
    // The format has no sign: 960 hours need its last bit.
    let values =
        [interval([1, 2, 3_500]), None, interval([14, 0, 0]), interval([0, 0, 3_456_000_000])];
    fixed(&fixture, "t.parquet", message, &values);
    fixture.report(&["t.parquet", "t.db"]);
    assert_eq!(fixture.table("t.db", "t"), rows![["P1M2DT3.5S"], [()], ["P1Y2M"], ["PT960H"]]);
    fixed(&fixture, "far.parquet", message, &[interval([u32::MAX, 0, 0])]);
    fixture.refuses(&["far.parquet", "t.db"]).says(&["column iv", "4294967295 months"]);
    // Bytes that are called nothing else stay such.
    fixed(&fixture, "b.parquet", &message.replace(" (INTERVAL)", ""), &[interval([1, 0, 0])]);
    fixture.report(&["b.parquet", "t.db"]);
    assert_eq!(fixture.query("t.db", "SELECT hex(iv) FROM b"), rows![["010000000000000000000000"]]);
}

/// Arrow's own writer has numbers below zero, too.
#[test]
fn intervals_are_the_same_from_parquet_as_from_arrow_wherever_they_stand() {
    let fixture = Fixture::new();
    let times = || {
        let time = IntervalDayTime::new(-2, -3_600_001);
        column(IntervalDayTimeArray::from(vec![Some(time), None]))
    };
    let months = || IntervalYearMonthArray::from(vec![Some(-13), None]);
    let mut list = ListBuilder::new(IntervalYearMonthBuilder::new());
    list.append_value([Some(14), None]);
    list.append_null();
    let mut map = MapBuilder::new(None, StringBuilder::new(), IntervalYearMonthBuilder::new());
    map.keys().append_value("k");
    map.values().append_value(3);
    map.append(true).unwrap();
    map.append(false).unwrap();
    let batch = batch(vec![
        ("times", times()),
        ("months", column(months())),
        ("list", column(list.finish())),
        ("map", column(map.finish())),
        ("st", column(StructArray::try_from(vec![("x", times())]).unwrap())),
        ("id", column(Int64Array::from(vec![1, 2]))),
    ]);
    parquet(&fixture, "t.parquet", &batch, 1);
    arrow(&fixture, "t.arrow", &batch);
    for source in ["t.parquet", "t.arrow"] {
        fixture.report(&[source, "t.db", "--if-exists", "replace"]);
        let time = "P-2DT-1H-0.001S";
        let within = format!("{{\"x\":\"{time}\"}}");
        let wanted = rows![
            [time, "P-1Y-1M", "[\"P1Y2M\",null]", "{\"k\":\"P3M\"}", within, 1],
            [(), (), (), (), "{\"x\":null}", 2]
        ];
        assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
    }
}

/// An INT96 timestamp of so many days since 1970 and nanoseconds of the day.
fn int96_of((day, nanos): &(i64, u64)) -> Int96 {
    const JULIAN_DAY_OF_1970: i64 = 2_440_588;
    let day = u32::try_from(JULIAN_DAY_OF_1970 + day).unwrap();
    let mut value = Int96::new();
    value.set_data(*nanos as u32, (nanos >> 32) as u32, day);
    value
}

/// A file with columns of INT96 timestamps, all called `t`, given as days since 1970 and nanoseconds of the day.
pub(crate) fn int96(fixture: &Fixture, name: &str, columns: &[&[(i64, u64)]]) {
    let message = format!("message m {{ {} }}", "required int96 t; ".repeat(columns.len()));
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let file = File::create(fixture.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for moments in columns {
        let values: Vec<Int96> = moments.iter().map(int96_of).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int96Type>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn int96_timestamps_are_the_moments_that_they_are() {
    let fixture = Fixture::new();
    const NOON: u64 = 43_200_000_000_000;
    let (first, last) = ((-719_162, 0), (2_932_896, 86_399_999_999_000));
    let wide = [first, (-135_140, NOON), (0, 0), (106_752, NOON), last];
    int96(&fixture, "wide.parquet", &[&wide]);
    int96(&fixture, "fine.parquet", &[&[(0, 1), (19_723, NOON + 123_456_789), (-1, NOON)]]);
    int96(&fixture, "alike.parquet", &[&[first], &[(0, 1)]]);
    // Whatever the first values are, no value becomes another.
    let mut late = vec![last; 5_000];
    late.push((19_723, 1));
    int96(&fixture, "late.parquet", &[&late]);
    int96(&fixture, "both.parquet", &[&[(19_723, 1), last]]);
    fixture.report(&["wide.parquet", "t.db"]);
    let wanted = rows![
        ["0001-01-01 00:00:00"],
        ["1600-01-01 12:00:00"],
        ["1970-01-01 00:00:00"],
        ["2262-04-12 12:00:00"],
        ["9999-12-31 23:59:59.999999"]
    ];
    assert_eq!(fixture.table("t.db", "wide"), wanted);
    fixture.report(&["fine.parquet", "t.db"]);
    let wanted = rows![
        ["1970-01-01 00:00:00.000000001"],
        ["2024-01-01 12:00:00.123456789"],
        ["1969-12-31 12:00:00"]
    ];
    assert_eq!(fixture.table("t.db", "fine"), wanted);
    fixture.report(&["alike.parquet", "t.db"]);
    let wanted = rows![["0001-01-01 00:00:00", "1970-01-01 00:00:00.000000001"]];
    assert_eq!(fixture.table("t.db", "alike"), wanted);
    for name in ["late.parquet", "both.parquet"] {
        fixture.refuses(&[name, "t.db"]).says(&["column t", "INT96"]);
    }
}

#[test]
fn what_stands_in_the_place_of_a_null_is_no_timestamp_of_int96() {
    let fixture = Fixture::new();
    let schema = Arc::new(parse_message_type("message m { optional int96 t; }").unwrap());
    let file = File::create(fixture.path("t.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let values = [(19_675, 1_234_567), (19_675, 7)].map(|moment| int96_of(&moment));
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int96Type>().write_batch(&values, Some(&[1, 0, 1, 0]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    fixture.report(&["t.parquet", "t.db"]);
    assert_eq!(
        fixture.table("t.db", "t"),
        rows![["2023-11-14 00:00:00.001234567"], [()], ["2023-11-14 00:00:00.000000007"], [()]]
    );
}

fn every_type() -> RecordBatch {
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None]);
    list.append_null();
    let inner = StructArray::try_from(vec![
        ("x", column(Int64Array::from(vec![Some(1), None]))),
        ("y", column(StringArray::from(vec![Some("q"), None]))),
    ])
    .unwrap();
    let uuid = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some([0x12_u8; 16]), None].into_iter(),
        16,
    )
    .unwrap();
    batch(vec![
        ("i8", column(Int8Array::from(vec![Some(-128), None]))),
        ("u64", column(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("f32", column(Float32Array::from(vec![Some(0.5), None]))),
        ("b", column(BooleanArray::from(vec![Some(true), None]))),
        ("s", column(LargeStringArray::from(vec![Some("a\"\u{1f600}\n"), None]))),
        ("d", column(Date32Array::from(vec![Some(15_706), None]))),
        ("ts", column(TimestampMicrosecondArray::from(vec![Some(1_357_034_400_500_000), None]))),
        (
            "tz",
            column(
                TimestampMicrosecondArray::from(vec![Some(1_357_034_400_000_000), None])
                    .with_timezone("UTC"),
            ),
        ),
        ("ns", column(TimestampNanosecondArray::from(vec![Some(1), None]))),
        (
            "dec",
            column(
                Decimal128Array::from(vec![Some(-1_234_567_890_123_456_789_012), None])
                    .with_precision_and_scale(38, 2)
                    .unwrap(),
            ),
        ),
        ("bin", column(BinaryArray::from_opt_vec(vec![Some(&[0, 255][..]), None]))),
        ("t", column(Time64MicrosecondArray::from(vec![Some(3_723_000_001), None]))),
        ("list", column(list.finish())),
        ("st", column(inner)),
        ("dict", column(DictionaryArray::<Int8Type>::from_iter([Some("p"), None]))),
        ("fixed", column(uuid)),
    ])
}

#[test]
fn every_type_arrives_as_it_is_whatever_file_it_comes_in() {
    let fixture = Fixture::new();
    let batch = every_type();
    parquet(&fixture, "p.parquet", &batch, 100);
    arrow(&fixture, "a.arrow", &batch);
    stream(&fixture, "s.arrows", &batch);
    for file in ["p.parquet", "a.arrow", "s.arrows"] {
        let report = fixture.report(&[file, "t.db", "--table", file, "--verify", "checksum"]);
        let columns = report["plan"]["columns"].as_array().unwrap();
        let types: Vec<&str> = columns.iter().map(|c| c["type"].as_str().unwrap()).collect();
        assert_eq!(
            types,
            [
                "integer",
                "decimal(20,0)",
                "float",
                "boolean",
                "text",
                "date",
                "timestamp",
                "timestamptz",
                "timestamp",
                "decimal(38,2)",
                "bytes",
                "text",
                "json",
                "json",
                "text",
                "bytes",
            ],
            "{file}"
        );
        let blobs = "hex(bin), hex(fixed)";
        let sql = format!(
            "SELECT i8, u64, f32, b, s, d, ts, tz, ns, \"dec\", t, list, st, dict, {blobs} FROM {}",
            quoted(file)
        );
        let null = || ();
        assert_eq!(
            fixture.query("t.db", &sql),
            rows![
                [
                    -128,
                    "18446744073709551615",
                    0.5,
                    1,
                    "a\"\u{1f600}\n",
                    "2013-01-01",
                    "2013-01-01 10:00:00.5",
                    "2013-01-01 10:00:00+00:00",
                    "1970-01-01 00:00:00.000000001",
                    "-12345678901234567890.12",
                    "01:02:03.000001",
                    "[1,null]",
                    "{\"x\":1,\"y\":\"q\"}",
                    "p",
                    "00FF",
                    "12121212121212121212121212121212"
                ],
                [
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    null(),
                    "{\"x\":null,\"y\":null}",
                    null(),
                    "",
                    ""
                ],
            ],
            "{file}"
        );
    }
    fixture.load(&["p.parquet", "t.db", "--table", "flat", "--flatten"]).exits(0);
    assert_eq!(
        fixture.query("t.db", "SELECT \"st.x\", \"st.y\" FROM flat"),
        rows![[1, "q"], [(), ()]]
    );
}

#[test]
fn every_strategy_gives_the_same_table_whatever_the_groups_and_chunks() {
    let batch = numbered(30_000);
    for (strategy, group_rows, chunk) in [
        ("pages", 1_000, "1k"),
        ("pages", 100_000, "512k"),
        ("bind", 7_001, "4k"),
        ("values", 500, "64k"),
        ("row-sql", 30_000, "1m"),
    ] {
        let fixture = Fixture::new();
        parquet(&fixture, "t.parquet", &batch, group_rows);
        let report = fixture.report(&[
            "t.parquet",
            "t.db",
            "--strategy",
            strategy,
            "--chunk-size",
            chunk,
            "--verify",
            "checksum",
        ]);
        assert_eq!(report["rows_loaded"], 30_000, "{strategy}");
        let sums = "SELECT count(*), sum(id), sum(half), count(half), max(length(name)) FROM t";
        let half: f64 = (0..30_000).filter(|n| n % 3 != 0).map(|n| f64::from(n) / 2.0).sum();
        assert_eq!(fixture.query("t.db", sums), rows![[30_000, 449_985_000, half, 20_000, 10]]);
        // In the file's order.
        let steps =
            "SELECT count(*) FROM t a JOIN t b ON b.rowid = a.rowid + 1 WHERE b.id <> a.id + 1";
        assert_eq!(fixture.number("t.db", steps), 0, "{strategy}");
    }
}

#[test]
fn bad_rows_are_told_by_row_and_group_and_go_aside_as_objects() {
    let fixture = Fixture::new();
    let batch = batch(vec![
        ("id", column(Int64Array::from_iter_values([1, 2, 3, 1, 5]))),
        ("n", column(UInt64Array::from(vec![1, u64::MAX, 3, 4, 5]))),
        ("x", column(Float64Array::from(vec![0.5, 1.0, f64::NAN, 2.0, 3.0]))),
    ]);
    parquet(&fixture, "t.parquet", &batch, 2);
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, x REAL)");
    fixture.refuses(&["t.parquet", "t.db"]).says(&[
        "t.parquet: row 2 (row 2 of group 0), column n",
        "18446744073709551615",
        "out of range",
    ]);
    fixture.load(&["t.parquet", "t.db", "--max-rejects", "3"]).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, 1, 0.5], [5, 5, 3.0]]);
    let aside = String::from_utf8(fixture.read("t.rejects.jsonl")).unwrap();
    assert_eq!(
        aside,
        "{\"id\":2,\"n\":18446744073709551615,\"x\":1.0}\n{\"id\":3,\"n\":3,\"x\":\"NaN\"}\n{\"id\":1,\"n\":4,\"x\":2.0}\n"
    );
    let notes = String::from_utf8(fixture.read("t.rejects.jsonl.jsonl")).unwrap();
    let notes: Vec<serde_json::Value> =
        notes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |note: &serde_json::Value| {
        ["record", "row_group", "row"].map(|key| note[key].as_u64().unwrap())
    };
    assert_eq!(notes.iter().map(place).collect::<Vec<_>>(), [[2, 0, 2], [3, 1, 1], [4, 1, 2]]);
    assert!(notes[0]["line"].is_null());
    // What isn't a number may mean NULL.
    fixture.load(&["t.parquet", "u.db", "--null", "NaN"]).exits(0);
    assert_eq!(fixture.number("u.db", "SELECT count(*) FROM t WHERE x IS NULL"), 1);
}

/// What options make of texts no schema says: the first ones are looked at, and a later one may widen the column.
#[test]
fn texts_that_options_read_are_of_the_types_that_their_values_have() {
    let fixture = Fixture::new();
    let texts =
        |of: &dyn Fn(i64) -> String| column(StringArray::from_iter_values((0..100_000).map(of)));
    let batch = |late: &str| {
        batch(vec![
            ("m", texts(&|n| if n == 95_000 { late.to_owned() } else { format!("${n}.50") })),
            ("n", texts(&|n| format!("{n},25"))),
            ("i", column(Int64Array::from_iter_values(0..100_000))),
            ("none", column(StringArray::from_iter((0..100_000).map(|_| None::<&str>)))),
        ])
    };
    let options =
        ["--type", "m=money", "--decimal", "n=,", "--decimal", "i=,", "--type", "none=percent"];
    let load = |source: &str, target: &str| {
        let args = [source, target, "--table", "t", "--if-exists", "replace"];
        let report = fixture.report(&[&args[..], &options].concat());
        let columns = report["plan"]["columns"].as_array().unwrap();
        let types = columns.iter().map(|column| column["type"].as_str().unwrap().to_owned());
        (types.collect::<Vec<_>>(), report["warnings"].to_string())
    };
    for (late, wanted) in [("$1.50", "decimal(7,2)"), ("$123,456.125", "decimal(9,3)")] {
        let batch = batch(late);
        parquet(&fixture, "one.parquet", &batch, 200_000);
        parquet(&fixture, "some.parquet", &batch, 1_000);
        arrow(&fixture, "in.arrow", &batch);
        stream(&fixture, "in.arrows", &batch);
        for source in ["one.parquet", "some.parquet", "in.arrow", "in.arrows"] {
            let (types, notes) = load(source, "t.db");
            assert_eq!(types[..3], ["float", "float", "integer"], "{source}");
            assert!(!notes.contains("is text"), "{source}: {notes}");
            let found = fixture.query("t.db", "SELECT sum(m > 0), min(n), max(i) FROM t");
            assert_eq!(found, rows![[100_000, 0.25, 99_999]], "{source}");
            if cfg!(feature = "files") {
                let (types, _) = load(source, "out.parquet");
                assert_eq!(types[..3], [wanted, "float", "integer"], "{source}");
            }
        }
    }
    // Of a pipe there is the beginning.
    let small = self::batch(vec![("m", column(StringArray::from(vec!["$1,299.00", "$5"])))]);
    stream(&fixture, "small.arrows", &small);
    let args = ["-", "p.db", "--table", "t", "--type", "m=money"];
    fixture.load_reading(&fixture.read("small.arrows"), &args).exits(0);
    assert_eq!(fixture.typed_table("p.db", "t"), rows![["real", 1299.0], ["real", 5.0]]);
}

#[test]
fn numbers_that_stand_for_null_are_null_in_columns_of_numbers() {
    let fixture = Fixture::new();
    let batch = batch(vec![
        ("n", column(Int64Array::from_iter_values([-999, 0, 7]))),
        ("x", column(Float64Array::from(vec![0.5, -999.0, f64::INFINITY]))),
        ("s", column(StringArray::from(vec!["-999", "", "Infinity"]))),
    ]);
    parquet(&fixture, "t.parquet", &batch, 100);
    fixture.load(&["t.parquet", "t.db"]).exits(0);
    let all = rows![[-999, 0.5, "-999"], [0, -999.0, ""], [7, f64::INFINITY, "Infinity"]];
    assert_eq!(fixture.table("t.db", "t"), all);
    fixture.load(&["t.parquet", "u.db", "--null", "-999", "--null", "Infinity"]).exits(0);
    let nulls = rows![[(), 0.5, ()], [0, (), ""], [7, (), ()]];
    assert_eq!(fixture.table("u.db", "t"), nulls);
}

#[test]
fn numbers_within_lists_that_json_has_none_for_are_texts_and_said() {
    let fixture = Fixture::new();
    let list = |numbers: Vec<f64>| {
        let mut list = ListBuilder::new(Float64Builder::new());
        list.append_value(numbers.into_iter().map(Some));
        column(list.finish())
    };
    let named = StructArray::from(batch(vec![("name", column(StringArray::from(vec!["NaN"])))]));
    let columns = vec![("l", list(vec![0.5, f64::NAN, f64::NEG_INFINITY])), ("s", column(named))];
    let odd = batch(columns);
    parquet(&fixture, "t.parquet", &odd, 100);
    arrow(&fixture, "t.arrow", &odd);
    for (file, to) in [("t.parquet", "p.db"), ("t.arrow", "a.db"), ("t.parquet", "jsonl:t.jsonl")] {
        let report = fixture.report(&[file, to, "--table", "t"]);
        let warnings = report["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{to}: {warnings:?}");
        let note = warnings[0].as_str().unwrap();
        assert!(note.starts_with("column l: within its lists and structs"), "{note}");
    }
    let documents = rows![["[0.5,\"NaN\",\"-Infinity\"]", "{\"name\":\"NaN\"}"]];
    assert_eq!(fixture.table("p.db", "t"), documents);
    assert_eq!(fixture.table("a.db", "t"), documents);
    parquet(&fixture, "u.parquet", &batch(vec![("l", list(vec![0.5]))]), 100);
    assert_eq!(fixture.report(&["u.parquet", "u.db"])["warnings"].to_string(), "[]");
}

#[test]
fn several_files_columns_by_name_and_types_that_hold_both() {
    let fixture = Fixture::new();
    parquet(&fixture, "a.parquet", &numbered(3), 100);
    let other = batch(vec![
        ("NAME", column(StringArray::from(vec!["x"]))),
        ("id", column(Float64Array::from(vec![9.5]))),
        ("half", column(Int64Array::from(vec![7]))),
    ]);
    parquet(&fixture, "b.parquet", &other, 100);
    fixture.load(&["?.parquet", "t.db", "--table", "t"]).exits(0);
    assert_eq!(
        fixture.table("t.db", "t"),
        rows![[0.0, (), "name 0"], [1.0, 0.5, "name 1"], [2.0, 1.0, "name 2"], [9.5, 7.0, "x"]]
    );
    fixture.write("c.csv", "id,half,name\n1,2,3\n");
    fixture.refuses(&["a.parquet", "c.csv", "u.db"]).says(&["one by one"]);
}

#[test]
fn a_column_of_nothing_but_null_is_of_the_type_that_other_files_have() {
    let fixture = Fixture::new();
    let named = |x: ArrayRef| batch(vec![("x", x)]);
    for (name, x) in [
        ("null", column(NullArray::new(1))),
        ("int", column(Int64Array::from(vec![7]))),
        ("day", column(Date32Array::from(vec![0]))),
    ] {
        parquet(&fixture, &format!("{name}.parquet"), &named(Arc::clone(&x)), 10);
        arrow(&fixture, &format!("{name}.arrow"), &named(x));
    }
    for (files, ty, values) in [
        (["null.parquet", "int.parquet"], "INTEGER", rows![[()], [7]]),
        (["int.arrow", "null.arrow"], "INTEGER", rows![[7], [()]]),
        (["null.arrow", "day.parquet"], "DATE", rows![[()], ["1970-01-01"]]),
        (["null.parquet", "null.arrow"], "TEXT", rows![[()], [()]]),
    ] {
        let [a, b] = files;
        let report = fixture.report(&[a, b, "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(report["warnings"].to_string(), "[]", "{files:?}");
        assert_eq!(fixture.columns("t.db", "t")[0].1, ty, "{files:?}");
        assert_eq!(fixture.table("t.db", "t"), values, "{files:?}");
    }
}

#[test]
fn a_column_of_two_types_is_text_and_both_are_named() {
    let fixture = Fixture::new();
    for (name, x) in [
        ("int", column(Int64Array::from(vec![7]))),
        ("day", column(Date32Array::from(vec![0]))),
        ("moment", column(TimestampSecondArray::from(vec![1]))),
        ("utc", column(TimestampSecondArray::from(vec![1]).with_timezone("UTC"))),
        ("text", column(StringArray::from(vec!["a"]))),
    ] {
        arrow(&fixture, &format!("{name}.arrow"), &batch(vec![("x", x)]));
    }
    for (files, [is, and], values) in [
        (["day", "moment"], ["date", "timestamp"], ["1970-01-01", "1970-01-01 00:00:01"]),
        (
            ["moment", "utc"],
            ["timestamp", "timestamptz"],
            ["1970-01-01 00:00:01", "1970-01-01 00:00:01+00:00"],
        ),
        (["text", "int"], ["integer", "text"], ["a", "7"]),
    ] {
        let [a, b] = files.map(|name| format!("{name}.arrow"));
        let args = [a.as_str(), b.as_str(), "t.db", "--table", "t", "--if-exists", "replace"];
        let report = fixture.report(&args);
        let [is_in, and_in] = if files[0] == "text" { [&b, &a] } else { [&a, &b] };
        let note = format!(
            "column x is text: it is of type {is} in {is_in}, and of type {and} in {and_in}"
        );
        assert!(report["warnings"].to_string().contains(&note), "{}", report["warnings"]);
        assert_eq!(fixture.table("t.db", "t"), rows![[values[0]], [values[1]]]);
        // What was said, or was there before, is no news.
        let report = fixture.report(&[&args[..], &["--type", "x=text"]].concat());
        assert_eq!(report["warnings"].to_string(), "[]", "{files:?}");
    }
}

/// Days of 64 bits should be whole, and need not be.
#[test]
fn bytes_that_are_no_text_name_the_file_that_has_texts() {
    let fixture = Fixture::new();
    let bytes = BinaryArray::from(vec![&b"\xff\0"[..], b"ab"]);
    parquet(&fixture, "a.parquet", &batch(vec![("v", column(bytes))]), 10);
    parquet(&fixture, "b.parquet", &batch(vec![("v", column(StringArray::from(vec!["x"])))]), 10);
    let says = ["of type bytes in a.parquet", "of type text in b.parquet", "--type v=bytes"];
    fixture.refuses(&["a.parquet", "b.parquet", "t.db", "--table", "t"]).says(&says);
    let load = ["a.parquet", "b.parquet", "t.db", "--table", "t", "--type", "v=bytes"];
    fixture.load(&load).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t WHERE v IN (x'ff00', x'78')"), 2);
}

#[test]
fn days_in_milliseconds_are_dates_unless_one_has_a_time_of_day() {
    let fixture = Fixture::new();
    let named = |days: Vec<Option<i64>>| {
        let inner = StructArray::try_from(vec![("d", column(Date64Array::from(days.clone())))]);
        batch(vec![("d", column(Date64Array::from(days))), ("s", column(inner.unwrap()))])
    };
    let whole = named(vec![Some(-86_400_000), None, Some(0)]);
    let odd = named(vec![Some(0), Some(86_400_001)]);
    for (name, batch) in [("whole", &whole), ("odd", &odd)] {
        arrow(&fixture, &format!("{name}.arrow"), batch);
        stream(&fixture, &format!("{name}.arrows"), batch);
        parquet(&fixture, &format!("{name}.parquet"), batch, 1);
    }
    let load = |args: &[&str]| {
        fixture.report(&[args, &["t.db", "--table", "t", "--if-exists", "replace"]].concat())
    };
    let days = rows![["1969-12-31"], [()], ["1970-01-01"]];
    let moments = rows![["1970-01-01 00:00:00"], ["1970-01-02 00:00:00.001"]];
    for ending in ["arrow", "arrows", "parquet"] {
        let [whole, odd] = ["whole", "odd"].map(|name| format!("{name}.{ending}"));
        load(&[&whole, "--flatten"]);
        assert_eq!(fixture.columns("t.db", "t")[0].1, "DATE", "{whole}");
        assert_eq!(fixture.columns("t.db", "t")[1].1, "DATE", "{whole}");
        assert_eq!(fixture.query("t.db", "SELECT d FROM t"), days, "{whole}");
        assert_eq!(fixture.query("t.db", "SELECT \"s.d\" FROM t"), days, "{whole}");
        load(&[&odd]);
        assert_eq!(fixture.columns("t.db", "t")[0].1, "TIMESTAMP", "{odd}");
        assert_eq!(fixture.query("t.db", "SELECT d FROM t"), moments, "{odd}");
        // The column is the same in all files, whatever days are in each.
        load(&[&whole, &odd]);
        let both = rows![
            ["1969-12-31 00:00:00"],
            [()],
            ["1970-01-01 00:00:00"],
            ["1970-01-01 00:00:00"],
            ["1970-01-02 00:00:00.001"]
        ];
        assert_eq!(fixture.query("t.db", "SELECT d FROM t"), both, "{ending}");
        // Where it is known to be of moments, it is that whatever its values are.
        let at_midnight = rows![["1969-12-31 00:00:00"], [()], ["1970-01-01 00:00:00"]];
        load(&[&whole, "--type", "d=timestamp"]);
        assert_eq!(fixture.query("t.db", "SELECT d FROM t"), at_midnight, "{whole}");
        fixture.load(&[&whole, "t.db", "--table", "t", "--if-exists", "truncate"]).exits(0);
        assert_eq!(fixture.query("t.db", "SELECT d FROM t"), at_midnight, "{whole}");
    }
    // A pipe can't be looked through first.
    let bytes = fixture.read("whole.arrows");
    let args = ["-", "u.db", "--table", "t", "--json"];
    let report = fixture.load_reading(&bytes, &args).exits(0).json();
    assert!(report["warnings"].to_string().contains("column d counts days in milliseconds"));
    assert_eq!(fixture.columns("u.db", "t")[0].1, "TIMESTAMP");
}

/// The first and the last of 64 bits, which pandas has as the first and the last timestamp.
#[test]
fn moments_in_nanoseconds_are_kept_to_the_very_ends() {
    let fixture = Fixture::new();
    let ends = TimestampNanosecondArray::from(vec![i64::MIN, -i64::MAX, -1, i64::MAX]);
    arrow(&fixture, "t.arrow", &batch(vec![("m", column(ends))]));
    let texts = [
        "1677-09-21 00:12:43.145224192",
        "1677-09-21 00:12:43.145224193",
        "1969-12-31 23:59:59.999999999",
        "2262-04-11 23:47:16.854775807",
    ];
    fixture.write("t.csv", format!("m\n{}\n", texts.join("\n")));
    for source in ["t.arrow", "t.csv"] {
        fixture.load(&[source, "o.parquet", "--if-exists", "replace"]).exits(0);
        let plan = fixture.inrush(&["plan", "o.parquet", "u.parquet"]).exits(0);
        assert!(plan.stdout.contains("timestamp_ns"), "{}", plan.stdout);
        fixture.report(&["o.parquet", "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(
            fixture.table("t.db", "t"),
            texts.map(|text| rows![[text]].remove(0)),
            "{source}"
        );
    }
}

#[test]
fn an_encrypted_parquet_file_is_called_so() {
    let fixture = Fixture::new();
    parquet(&fixture, "t.parquet", &numbered(3), 100);
    let mut bytes = fixture.read("t.parquet");
    // With its footer.
    fixture.write("whole.parquet", [b"PARE\x40\0\0\0", &bytes[8..200], b"\x28\0\0\0PARE"].concat());
    fixture
        .refuses(&["whole.parquet", "t.db"])
        .says(&["whole.parquet is an encrypted Parquet file"]);
    // Some columns, by the way that field 8 of the footer names.
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    assert_eq!(bytes[end - 1], 0);
    bytes.truncate(end - 1);
    bytes.extend([0x0c, 0x10, 0x1c, 0, 0, 0]);
    bytes.extend((length + 5).to_le_bytes());
    bytes.extend(b"PAR1");
    fixture.write("some.parquet", bytes);
    fixture.refuses(&["some.parquet", "t.db"]).says(&["some.parquet is an encrypted Parquet file"]);
    // Nor are rows added, which would take the way from the columns: neither is that advice.
    fixture.write("more.csv", "id\n4\n");
    for name in ["whole.parquet", "some.parquet"] {
        let before = fixture.read(name);
        for mode in ["append", "truncate", "empty"] {
            let refused = fixture.refuses(&["more.csv", name, "--if-exists", mode]);
            assert!(!refused.stderr.contains("append"), "{}", refused.stderr);
            refused.says(&[&format!("{name} is an encrypted Parquet file"), "replace"]);
            fixture.inrush(&["plan", "more.csv", name, "--if-exists", mode]).exits(1);
        }
        assert_eq!(fixture.read(name), before);
        fixture.report(&["more.csv", name, "--if-exists", "replace"]);
    }
    // A word is no magic.
    fixture.write("words.csv", "PARENT,CHILD\n1,2\n");
    fixture.report(&["words.csv", "t.db"]);
}

#[test]
fn a_day_beyond_the_calendar_is_a_bad_row_and_the_way_to_keep_it_is_named() {
    let fixture = Fixture::new();
    let far = batch(vec![
        ("d", column(Date32Array::from(vec![0, 2_932_897]))),
        ("m s", column(TimestampMicrosecondArray::from(vec![253_402_300_800_000_000, 0]))),
    ]);
    parquet(&fixture, "t.parquet", &far, 10);
    fixture.refuses(&["t.parquet", "t.db"]).says(&["row 1", "column m s", "--type 'm s=text'"]);
    let args = ["t.parquet", "t.db", "--type", "m s=text"];
    fixture.refuses(&args).says(&["row 2", "column d", "'10000-01-01'", "--type d=text"]);
    fixture.report(&[&args[..], &["--type", "d=text"]].concat());
    let wanted =
        rows![["1970-01-01", "10000-01-01 00:00:00"], ["10000-01-01", "1970-01-01 00:00:00"]];
    assert_eq!(fixture.table("t.db", "t"), wanted);
    // For an existing table, its own type rules.
    fixture.sql("u.db", "CREATE TABLE t (d INTEGER, \"m s\" TEXT)");
    let told = fixture.refuses(&["t.parquet", "u.db"]).says(&["column d"]);
    assert!(!told.stderr.contains("--type"), "{}", told.stderr);
}

#[test]
fn a_table_that_is_there_rules() {
    let fixture = Fixture::new();
    parquet(&fixture, "t.parquet", &numbered(3), 100);
    fixture.sql("t.db", "CREATE TABLE t (name TEXT, half INTEGER, id TEXT)");
    fixture.refuses(&["t.parquet", "t.db"]).says(&[
        "row 2",
        "column half",
        "'0.5' is not an integer",
    ]);
    fixture.load(&["t.parquet", "t.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(
        fixture.typed_table("t.db", "t"),
        rows![
            ["text", "name 0", "null", (), "text", "0"],
            ["text", "name 2", "integer", 1, "text", "2"]
        ]
    );
}

#[test]
fn files_that_are_not_what_they_say() {
    let fixture = Fixture::new();
    parquet(&fixture, "t.parquet", &numbered(100), 100);
    let whole = fixture.read("t.parquet");
    fixture.write("cut.parquet", &whole[..whole.len() / 2]);
    fixture.refuses(&["cut.parquet", "t.db"]).says(&["cut.parquet", "a Parquet file", "whole"]);
    let mut broken = whole.clone();
    for byte in &mut broken[40..120] {
        *byte ^= 0x55;
    }
    fixture.write("broken.parquet", broken);
    fixture.refuses(&["broken.parquet", "t.db"]).says(&["broken.parquet"]);
    fixture.write("text.parquet", "id\n1\n");
    fixture
        .refuses(&["text.parquet", "t.db", "--format", "parquet"])
        .says(&["text.parquet is text, not parquet"]);
    fixture
        .misused(&["load", "t.parquet", "t.db", "--quote", "'"])
        .says(&["--quote is for text", "a Parquet file"]);
    fixture
        .load_reading(&whole, &["-", "t.db"])
        .exits(1)
        .says(&["can't be read from a pipe", "save it to a file"]);
    stream(&fixture, "s.arrows", &numbered(100));
    let bytes = fixture.read("s.arrows");
    let report = fixture.load_reading(&bytes, &["-", "s.db", "--table", "t", "--json"]).exits(0);
    assert_eq!(report.json()["rows_loaded"], 100);
}

/// What a stream lacks, or has behind its end, is no end of the rows.
#[test]
fn an_arrow_stream_is_read_to_the_mark_of_its_end() {
    let fixture = Fixture::new();
    stream(&fixture, "s.arrows", &numbered(30));
    let one = fixture.read("s.arrows");
    fixture.write("two.arrows", [&one[..], &one].concat());
    assert_eq!(fixture.report(&["two.arrows", "two.db"])["rows_loaded"], 60);
    assert_eq!(fixture.number("two.db", "SELECT sum(id) FROM two"), 870);
    stream(&fixture, "other.arrows", &batch(vec![("x", column(Int64Array::from(vec![1])))]));
    let other = fixture.read("other.arrows");
    let end = one.len() - 8;
    for (name, bytes, why) in [
        ("open", one[..end].to_vec(), "without the mark of its end"),
        ("cut", one[..end - 100].to_vec(), "ends in the middle"),
        ("length", one[..end + 2].to_vec(), "ends in the middle"),
        ("text", [&one[..], b"and more, which is no stream"].concat(), "ends in the middle"),
        ("other", [&one[..], &other].concat(), "has other columns"),
    ] {
        let file = format!("{name}.arrows");
        fixture.write(&file, &bytes);
        fixture.refuses(&[&file, "t.db"]).says(&[&file, why]);
        fixture.load_reading(&bytes, &["-", "t.db", "--table", "t"]).exits(1).says(&[why]);
    }
    // A writer that only closes its stream has said nothing; whoever knows that it is whole says so.
    fixture.refuses(&["open.arrows", "t.db"]).says(&["add the mark", "rows may be missing"]);
    let marked = [&one[..end], b"\xff\xff\xff\xff\0\0\0\0"].concat();
    let report = fixture.load_reading(&marked, &["-", "t.db", "--table", "t", "--json"]).exits(0);
    assert_eq!(report.json()["rows_loaded"], 30);
}

/// Before version 0.15 messages had no mark, and before 1.0 the fourth version; newer writers make both where they are told to.
#[test]
fn what_old_writers_of_arrow_make_is_read() {
    let fixture = Fixture::new();
    let batch = numbered(30);
    let options = IpcWriteOptions::try_new(64, true, MetadataVersion::V4).unwrap();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let old = writer.into_inner().unwrap();
    assert!(!old.starts_with(&[0xff; 4]));
    fixture.write("old.arrows", &old);
    assert_eq!(fixture.report(&["old.arrows", "t.db"])["rows_loaded"], 30);
    assert_eq!(fixture.number("t.db", "SELECT sum(id) FROM old"), 435);
    let report = fixture.load_reading(&old, &["-", "t.db", "--table", "piped", "--json"]).exits(0);
    assert_eq!(report.json()["rows_loaded"], 30);
    // Of pyarrow: messages of the fourth version below a footer of the fifth.
    fixture.write("v4.arrow", include_bytes!("v4.arrow"));
    assert_eq!(fixture.report(&["v4.arrow", "t.db"])["rows_loaded"], 2);
}

/// Whose bytes say nothing to anything but who wrote them.
#[test]
fn a_variant_of_parquet_is_refused_by_its_column() {
    let fixture = Fixture::new();
    fixture.write("in.parquet", include_bytes!("variant.parquet"));
    let says = ["in.parquet: column var is of the type VARIANT", "var::json", "--drop var"];
    fixture.refuses(&["in.parquet", "t.db"]).says(&says);
    fixture.refuses(&["in.parquet", "t.db", "--flatten"]).says(&says);
}

#[test]
fn a_type_that_only_an_extension_says_is_told() {
    let fixture = Fixture::new();

    let field = Field::new("month", DataType::Int64, true)
        .with_metadata([("ARROW:extension:name".to_owned(), "pandas.period".to_owned())]);
    let months = column(Int64Array::from(vec![648, 649]));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![months]).unwrap();
    parquet(&fixture, "in.parquet", &batch, 10);
    arrow(&fixture, "in.arrow", &batch);
    for file in ["in.parquet", "in.arrow"] {
        let report = fixture.report(&[file, "t.db", "--table", "t", "--if-exists", "replace"]);
        let note = "column month is of the extension type pandas.period";
        assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
        assert_eq!(fixture.table("t.db", "t"), rows![[648], [649]]);
    }
}

/// The same file without its rows, which it says to be in another one, as `_metadata` of a dataset has them.
fn summed_up(file: &File, rows_in: &str) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(file).unwrap();
    let groups = metadata.row_groups().iter().map(|group| {
        let columns = group.columns().iter().map(|column| {
            column.clone().into_builder().set_file_path(rows_in.to_owned()).build().unwrap()
        });
        group.clone().into_builder().set_column_metadata(columns.collect()).build().unwrap()
    });
    let groups = groups.collect();
    let metadata = metadata.clone().into_builder().set_row_groups(groups).build();
    let mut out = b"PAR1".to_vec();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// As Spark, Dask and pyarrow write them beside a dataset's files, and leave them out.
#[test]
fn what_sums_up_a_dataset_is_none_of_its_files() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.path("dset/y=1")).unwrap();
    let some = numbered(3);
    parquet(&fixture, "dset/y=1/part.parquet", &some, 10);
    parquet(&fixture, "dset/_common_metadata", &some.slice(0, 0), 10);
    let part = File::open(fixture.path("dset/y=1/part.parquet")).unwrap();
    let all = summed_up(&part, "y=1/part.parquet");
    fixture.write("dset/_metadata", all);
    fixture.refuses(&["dset", "t.db"]).says(&["'dset/**'"]);
    let report = fixture.report(&["dset/**", "t.db", "--table", "t"]);
    assert_eq!(report["rows_loaded"], 3);
    let note = "left out, for the names tell no format: dset/_common_metadata, dset/_metadata";
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
    fixture.refuses(&["dset/*", "t.db"]).says(&["what sums up a dataset", "dset/_metadata"]);
    // Who names one means it.
    let says = ["dset/_metadata", "its rows are in other files, as y=1/part.parquet"];
    fixture.refuses(&["dset/_metadata", "t.db"]).says(&says);
    assert_eq!(fixture.report(&["dset/_common_metadata", "t.db"])["rows_loaded"], 0);
    let members = [
        ("dset/_common_metadata", fixture.read("dset/_common_metadata")),
        ("dset/part.parquet", fixture.read("dset/y=1/part.parquet")),
    ];
    fixture.write("dset.zip", crate::archives::zip(&members));
    assert_eq!(fixture.report(&["dset.zip", "t.db", "--table", "z"])["rows_loaded"], 3);
}

#[test]
fn a_compressed_arrow_stream_is_decompressed() {
    let fixture = Fixture::new();
    stream(&fixture, "s.arrows", &numbered(5_000));
    fixture.report(&["s.arrows", "t.db", "--table", "wanted"]);
    let wanted = fixture.table("t.db", "wanted");
    let bytes = fixture.read("s.arrows");
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz")] {
        let packed = fixture.tool(program, &["-c"], &bytes);
        let (file, table) = (format!("s.arrows.{ending}"), format!("t_{ending}"));
        fixture.write(&file, &packed);
        fixture.report(&[&file, "t.db", "--table", &table]);
        assert_eq!(fixture.table("t.db", &table), wanted, "{file}");
        let table = format!("p_{ending}");
        fixture.load_reading(&packed, &["-", "t.db", "--table", &table]).exits(0);
        assert_eq!(fixture.table("t.db", &table), wanted, "{file} by a pipe");
        fixture.write("cut", &packed[..packed.len() - 20]);
        fixture.refuses(&["cut", "u.db"]).says(&["cut", "data ends in the middle"]);
    }
    // What is read from its end has to be a file of its own.
    parquet(&fixture, "t.parquet", &numbered(10), 10);
    let packed = fixture.tool("gzip", &["-c"], &fixture.read("t.parquet"));
    fixture.write("t.parquet.gz", packed);
    fixture.refuses(&["t.parquet.gz", "u.db"]).says(&["a compressed Parquet file"]);
}

/// Databases have it, and clocks have not.
#[test]
fn the_end_of_a_day_is_a_time_and_what_is_none_costs_its_row() {
    let fixture = Fixture::new();
    let hour = 3_600_000_000_i64;
    let times = vec![Some(12 * hour), Some(24 * hour), None, Some(-hour)];
    let days = vec![Some(0), Some(i32::MAX), Some(1), Some(i32::MIN)];
    let within = |array: ArrayRef| column(StructArray::try_from(vec![("v", array)]).unwrap());
    let rows = batch(vec![
        ("id", column(Int64Array::from(vec![1, 2, 3, 4]))),
        ("t", column(Time64MicrosecondArray::from(times.clone()))),
        ("s", within(column(Time64MicrosecondArray::from(times)))),
        ("d", within(column(Date32Array::from(days)))),
    ]);
    parquet(&fixture, "t.parquet", &rows, 10);
    arrow(&fixture, "t.arrow", &rows);
    for file in ["t.parquet", "t.arrow"] {
        fixture.report(&[file, "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(
            fixture.query("t.db", "SELECT t FROM t"),
            rows![["12:00:00"], ["24:00:00"], [()], ["-01:00:00"]],
            "{file}"
        );
        assert_eq!(
            fixture.query("t.db", "SELECT s, d FROM t WHERE id IN (2, 4)"),
            rows![
                ["{\"v\":\"24:00:00\"}", "{\"v\":\"5881580-07-11\"}"],
                ["{\"v\":\"-01:00:00\"}", "{\"v\":\"-5877641-06-23\"}"],
            ],
            "{file}"
        );
    }
}

#[test]
fn a_narrow_float_is_the_same_number_wherever_it_stands() {
    let fixture = Fixture::new();
    let floats = column(Float32Array::from(vec![0.1, 16_777_216.0, -2.5]));
    let within = StructArray::try_from(vec![("f", Arc::clone(&floats))]).unwrap();
    parquet(&fixture, "t.parquet", &batch(vec![("f", floats), ("s", column(within))]), 10);
    fixture.report(&["t.parquet", "t.db"]);
    assert_eq!(
        fixture.query("t.db", "SELECT count(*) FROM t WHERE f = json_extract(s, '$.f')"),
        rows![[3]]
    );
    assert_eq!(
        fixture.query("t.db", "SELECT s FROM t LIMIT 1"),
        rows![["{\"f\":0.10000000149011612}"]]
    );
}

/// What is said of another encoding is for text.
#[test]
fn bytes_among_texts_are_no_sign_of_an_encoding() {
    let fixture = Fixture::new();
    parquet(&fixture, "a.parquet", &batch(vec![("v", column(StringArray::from(vec!["a"])))]), 10);
    let bytes = BinaryArray::from(vec![&b"\xff"[..]]);
    parquet(&fixture, "b.parquet", &batch(vec![("v", column(bytes))]), 10);
    let told = fixture.refuses(&["a.parquet", "b.parquet", "t.db"]).says(&["b.parquet: row 1"]);
    assert!(!told.stderr.contains("--encoding"), "{}", told.stderr);
    let half: Vec<u8> = "id,n\n1,bb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("odd.csv", &half[..half.len() - 3]);
    let told = fixture.refuses(&["odd.csv", "t.db", "--encoding", "utf-16le"]).says(&["line 2"]);
    assert!(!told.stderr.contains("--encoding"), "{}", told.stderr);
}

/// The least second that there is, as some programs write NULL.
#[test]
fn a_moment_of_any_year_has_a_text() {
    let fixture = Fixture::new();
    let moments = TimestampSecondArray::from(vec![i64::MIN, 0, i64::MAX]);
    arrow(&fixture, "t.arrow", &batch(vec![("m", column(moments))]));
    fixture.load(&["t.arrow", "t.db", "--type", "m=text"]).exits(0);
    assert_eq!(
        fixture.table("t.db", "t"),
        rows![
            ["-292277022657-01-27 08:29:52"],
            ["1970-01-01 00:00:00"],
            ["292277026596-12-04 15:30:07"],
        ]
    );
    fixture.load(&["t.arrow", "u.db", "--max-rejects", "2"]).exits(3);
    assert_eq!(fixture.table("u.db", "t"), rows![["1970-01-01 00:00:00"]]);
}

#[test]
fn no_rows_make_an_empty_table() {
    let fixture = Fixture::new();
    parquet(&fixture, "t.parquet", &numbered(0), 100);
    arrow(&fixture, "a.arrow", &numbered(0));
    fixture.load(&["t.parquet", "t.db"]).exits(0);
    fixture.load(&["a.arrow", "t.db"]).exits(0);
    assert_eq!(fixture.columns("t.db", "t").len(), 3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM a"), 0);
}

/// Their names are no guess, so no row is at stake.
#[test]
fn files_with_schemas_that_share_no_column_are_united_where_the_user_says_so() {
    let fixture = Fixture::new();
    parquet(&fixture, "a.parquet", &batch(vec![("a", column(StringArray::from(vec!["x"])))]), 10);
    parquet(&fixture, "b.parquet", &batch(vec![("b", column(StringArray::from(vec!["y"])))]), 10);
    let load = ["a.parquet", "b.parquet", "t.db", "--table", "t", "--missing-columns", "null"];
    fixture.load(&[&load[..], &["--new-columns", "add"]].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["x", ()], [(), "y"]]);
    let refused = fixture.refuses(&[&load[..], &["--new-columns", "ignore"]].concat());
    refused.says(&["none of the first input's columns: its own are b"]);
}

/// What is left out, or has the same name in the end, keeps no files apart.
#[test]
fn files_that_the_options_make_alike_are_loaded_together() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "id,v\n1,a\n").write("2.csv", "ident,v\n2,b\n");
    fixture.write("3.csv", "x,id,v\n9,3,c\n").write("4.csv", "id\n4\n");
    for name in ["1", "2", "3", "4"] {
        let columns = [&format!("{name}.csv"), &format!("parquet:{name}.parquet")];
        fixture.load(&columns.map(String::as_str)).exits(0);
    }
    let (a, b, c) = (rows![[1, "a"]], rows![[2, "b"]], rows![[3, "c"]]);
    for ext in ["csv", "parquet"] {
        let loads = |files: &[&str], options: &[&str], wanted: Vec<_>| {
            let files: Vec<String> = files.iter().map(|name| format!("{name}.{ext}")).collect();
            let mut args: Vec<&str> = files.iter().map(String::as_str).collect();
            args.extend(["t.db", "--table", "t", "--if-exists", "replace"]);
            args.extend(options);
            fixture.load(&args).exits(0);
            assert_eq!(fixture.table("t.db", "t"), wanted, "{args:?}");
        };
        let [one_three, one_two] = [&c, &b]
            .map(|other| [a.clone(), other.clone()].concat().into_iter().collect::<Vec<_>>());
        loads(&["1", "3"], &["--drop", "x"], one_three.clone());
        loads(&["1", "3"], &["--columns", "id,v"], one_three);
        loads(&["1", "4"], &["--columns", "id"], rows![[1], [4]]);
        loads(&["1", "2"], &["--rename", "ident=id"], one_two);
        loads(&["2", "1"], &["--rename", "ident=id"], [b.clone(), a.clone()].concat());
        // A name that is in neither is still a mistake.
        let file = format!("1.{ext}");
        fixture.misused(&["load", &file, "t.db", "--rename", "idnt=key"]).says(&["no column idnt"]);
    }
}
