use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int8Type;
use arrow_array::{Array as _, DictionaryArray, DurationMillisecondArray, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, LogicalType, Repetition};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::metadata::{ParquetMetaDataWriter, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

use super::failures;
use crate::columns::{batch, column, parquet as write};
use crate::fixture::{Fixture, quoted, repository};

fn open(fixture: &Fixture, name: &str) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(fixture.path(name)).unwrap()).unwrap()
}

/// The rows as the crate's own row reader has them, which shares nothing with the way by which inrush reads files back.
pub(super) fn rows(fixture: &Fixture, name: &str) -> Vec<Vec<Field>> {
    let values = |row: parquet::record::Row| {
        row.into_columns().into_iter().map(|(_, value)| value).collect()
    };
    open(fixture, name).get_row_iter(None).unwrap().map(|row| values(row.unwrap())).collect()
}

/// Which columns hold moments of nanoseconds.
pub(super) fn nanosecond_columns(fixture: &Fixture, name: &str) -> Vec<bool> {
    use parquet::basic::{LogicalType, TimeUnit};
    let file = open(fixture, name);
    let columns = file.metadata().file_metadata().schema_descr().columns().to_vec();
    let is_fine = |ty: Option<&LogicalType>| matches!(ty, Some(LogicalType::Timestamp(moments)) if moments.unit == TimeUnit::NANOS);
    columns.iter().map(|column| is_fine(column.logical_type_ref())).collect()
}

fn shown(fixture: &Fixture, name: &str) -> Vec<String> {
    let line = |row: &Vec<Field>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    rows(fixture, name).iter().map(line).collect()
}

fn load(fixture: &Fixture, args: &[&str]) {
    fixture.load(&[args, &["--verify", "checksum"]].concat()).exits(0);
}

#[test]
fn columns_have_the_types_that_their_values_have() {
    let fixture = Fixture::new();
    fixture.write(
        "in.csv",
        "i,f,d9,d18,d38,b,day,t,z,doc,s\n\
         -9223372036854775808,1e-05,1234567.89,123456789012345.678,12345678901234567890123456789.012345678,true,0001-01-01,1969-12-31 23:59:59.999999,2024-02-29T01:02:03+02:00,\"{\"\"a\"\": [1]}\",x\n\
         9223372036854775807,-2.5,-0.01,-0.001,-0.000000001,false,9999-12-31,9999-12-31 23:59:59,0001-01-01 00:00Z,[],\"\"\n\
         ,,,,,,,,,,\n",
    );
    let types =
        ["--type", "d9=decimal(9,2)", "--type", "d18=decimal(18,3)", "--type", "d38=decimal(38,9)"];
    load(&fixture, &[&["in.csv", "out.parquet"], &types[..]].concat());
    let file = open(&fixture, "out.parquet");
    let schema = file.metadata().file_metadata().schema_descr();
    let logical: Vec<_> =
        schema.columns().iter().map(|column| column.logical_type_ref().cloned()).collect();
    assert_eq!(logical[2], Some(LogicalType::decimal(2, 9)));
    assert_eq!(logical[9], Some(LogicalType::Json));
    assert_eq!(logical[10], Some(LogicalType::String));
    assert!(schema.columns().iter().all(|column| column.max_def_level() == 1));
    let physical: Vec<String> =
        schema.columns().iter().map(|column| column.physical_type().to_string()).collect();
    assert_eq!(physical[..5], ["INT64", "DOUBLE", "INT32", "INT64", "FIXED_LEN_BYTE_ARRAY"]);
    let rows = shown(&fixture, "out.parquet");
    assert_eq!(
        rows[0],
        "-9223372036854775808|0.00001|1234567.89|123456789012345.678|12345678901234567890123456789.012345678|true|0001-01-01|1969-12-31 23:59:59.999999 +00:00|2024-02-28 23:02:03.000000 +00:00|\"{\"a\": [1]}\"|\"x\""
    );
    assert_eq!(
        rows[1],
        "9223372036854775807|-2.5E0|-0.01|-0.001|-0.000000001|false|9999-12-31|9999-12-31 23:59:59.000000 +00:00|0001-01-01 00:00:00.000000 +00:00|\"[]\"|\"\""
    );
    assert_eq!(rows[2], ["null"; 11].join("|"));
}

#[test]
fn texts_and_bytes_stay_what_they_are() {
    let fixture = Fixture::new();
    let wide = "long ".repeat(30_000);
    fixture.write(
        "in.csv",
        [
            &b"text,bytes\n\"quote \"\" comma , newline\n\",\"\"\n\"\",\n,\xff\xfe\0\n\xf0\x9f\x98\x80 \0,NULL\n"[..],
            wide.as_bytes(),
            b",x\n",
        ]
        .concat(),
    );
    load(&fixture, &["in.csv", "parquet:out", "--type", "bytes=bytes"]);
    let text = |text: &str| Field::Str(text.to_owned());
    let bytes = |bytes: &[u8]| Field::Bytes(ByteArray::from(bytes.to_vec()));
    assert_eq!(
        rows(&fixture, "out"),
        [
            [text("quote \" comma , newline\n"), bytes(b"")],
            [text(""), Field::Null],
            [Field::Null, bytes(b"\xff\xfe\0")],
            [text("\u{1f600} \0"), bytes(b"NULL")],
            [text(&wide), bytes(b"x")],
        ]
    );
}

#[test]
fn what_a_column_would_change_is_a_bad_row_or_another_type() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,n\n1,1\n2,007\n3,x\n");
    // A guess is disproved before a row is lost.
    fixture.write("late.csv", format!("id,n\n{}100001,007\n", many(100_000)));
    load(&fixture, &["late.csv", "late.parquet"]);
    assert_eq!(rows(&fixture, "late.parquet")[100_000][1], Field::Str("007".to_owned()));
    for (ty, wrong) in [
        ("integer", "'x' is not an integer"),
        ("float", "'x' is not a number"),
        ("decimal(4,2)", "'x' is not a decimal"),
        ("boolean", "'007' is not a boolean"),
        ("date", "'1' is not a date"),
        ("timestamp", "'1' is not a timestamp"),
        ("timestamptz", "'1' is not a timestamp with an offset"),
        ("json", "'007' is not a JSON"),
    ] {
        let ty = format!("n={ty}");
        fixture.refuses(&["in.csv", "out.parquet", "--type", &ty]).says(&["column n", wrong]);
    }
    fixture.write("fine.csv", "t\n2024-01-01 00:00:00.0000001\n");
    let pinned = ["fine.csv", "out.parquet", "--type", "t=timestamp"];
    fixture.refuses(&pinned).says(&["out of range", "to the microsecond"]);
    fixture.write("wide.csv", "d\n12345678901234567890123456789012345678.9\n");
    load(&fixture, &["wide.csv", "wide.parquet"]);
    let digits = "\"12345678901234567890123456789012345678.9\"";
    assert_eq!(shown(&fixture, "wide.parquet"), [digits]);
}

fn many(rows: u32) -> String {
    (1..=rows).map(|n| format!("{n},{}\n", n % 1000)).collect()
}

#[test]
fn one_bad_row_in_many_is_the_only_one_that_stays_out() {
    let fixture = Fixture::new();
    let rows = many(100_000).replace("\n77777,777\n", "\n77777,bad\n");
    fixture.write("in.csv", format!("id,n\n{rows}"));
    let args = ["in.csv", "out.parquet", "--type", "n=integer"];
    fixture.refuses(&args).says(&["line 77778, column n: 'bad' is not an integer"]);
    let some = [&args[..], &["--max-rejects", "1", "--verify", "checksum", "--json"]].concat();
    let report = fixture.load(&some).exits(3).json();
    assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&99_999.into(), &1.into()));
    let found = self::rows(&fixture, "out.parquet");
    assert_eq!(found.len(), 99_999);
    assert_eq!(found[77_776], [Field::Long(77_778), Field::Long(778)]);
}

#[test]
fn the_same_rows_are_the_same_file_however_many_threads_make_it() {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,n\n{}", many(50_000)));
    let args = |name, encoders| ["in.csv", name, "--encoders", encoders, "--chunk-size", "64k"];
    load(&fixture, &args("one.parquet", "1"));
    load(&fixture, &args("four.parquet", "4"));
    assert!(fixture.read("one.parquet") == fixture.read("four.parquet"));
    let file = open(&fixture, "one.parquet");
    assert!(file.num_row_groups() > 5);
    let ids: Vec<Field> =
        rows(&fixture, "one.parquet").into_iter().map(|row| row[0].clone()).collect();
    assert!(ids.iter().zip(1..).all(|(id, n)| *id == Field::Long(n)));
    // Statistics tell which row groups a query can leave out; a dictionary is for values that come again.
    let first = file.metadata().row_group(0);
    let statistics = first.column(0).statistics().unwrap();
    assert_eq!(statistics.min_bytes_opt(), Some(&1_i64.to_le_bytes()[..]));
    assert_eq!(statistics.null_count_opt(), Some(0));
    assert!(first.column(0).dictionary_page_offset().is_none());
    assert!(first.column(1).dictionary_page_offset().is_some());
}

#[test]
fn rows_of_small_files_are_row_groups_together() {
    let fixture = Fixture::new();
    let ids = |from: usize, rows: usize| {
        (from..from + rows).map(|id| format!("{id},{}\n", id % 7)).collect::<String>()
    };
    std::fs::create_dir(fixture.path("in")).unwrap();
    for file in 0..100 {
        fixture.write(&format!("in/{file:03}.csv"), format!("id,n\n{}", ids(file * 20, 20)));
    }
    // One that is no small one, and bad rows.
    fixture.write("in/100.csv", format!("id,n\n{}", ids(2000, 9000)));
    fixture.write("in/101.csv", format!("id,n\n{}bad,1\n", ids(11_000, 10)));
    fixture.write("in/102.csv", "id,n\n").write("in/103.csv", "id,n\n11010,\n");
    let args = |name| ["in", name, "--type", "id=integer", "--max-rejects", "1"];
    let load = |name, more: &[&str]| {
        let args = [&args(name)[..], &["--verify", "checksum", "--json"], more].concat();
        let report = fixture.load(&args).exits(3).json();
        assert_eq!(report["rows_loaded"], 11_011);
        let file = open(&fixture, name);
        let groups = file.metadata().row_groups();
        let found: Vec<Field> =
            rows(&fixture, name).into_iter().map(|row| row[0].clone()).collect();
        assert!(
            found.iter().zip(0..).all(|(id, n)| *id == Field::Long(n)) && found.len() == 11_011
        );
        groups.iter().map(RowGroupMetaData::num_rows).collect::<Vec<i64>>()
    };
    assert_eq!(load("one.parquet", &["--encoders", "1"]), [2000, 9000, 11]);
    assert_eq!(load("two.parquet", &["--encoders", "2"]), [2000, 9000, 11]);
    assert!(fixture.read("one.parquet") == fixture.read("two.parquet"));
    let first = open(&fixture, "one.parquet");
    let first = first.metadata().row_group(0);
    assert!(first.column(1).dictionary_page_offset().is_some());
    // Row groups have no more rows than is asked for, and no more of the source than a chunk has.
    let asked = load("some.parquet", &["--set", "row_group_rows=900"]);
    assert_eq!(asked[..3], [900, 900, 200]);
    assert!(asked[3..].iter().all(|rows| *rows <= 900));
    let chunked = load("chunks.parquet", &["--chunk-size", "16k"]);
    assert!(chunked.iter().all(|rows| *rows < 3000) && chunked.len() < 20, "{chunked:?}");
}

#[test]
fn row_groups_and_compression_as_they_were_asked_for() {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,n\n{}", many(20_000)));
    for (word, compression) in [
        ("none", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("lz4", Compression::LZ4_RAW),
        ("gzip", Compression::GZIP(Default::default())),
        ("brotli", Compression::BROTLI(Default::default())),
    ] {
        let knob = format!("compression={word}");
        let args = ["in.csv", "out.parquet", "--if-exists", "replace", "--set", &knob];
        load(&fixture, &[&args[..], &["--set", "row_group_rows=7000"]].concat());
        let file = open(&fixture, "out.parquet");
        let groups = file.metadata().row_groups();
        let counts: Vec<i64> = groups.iter().map(RowGroupMetaData::num_rows).collect();
        assert_eq!(counts, [7000, 7000, 6000]);
        let codec = groups[0].column(0).compression();
        assert_eq!(std::mem::discriminant(&codec), std::mem::discriminant(&compression), "{word}");
        assert_eq!(rows(&fixture, "out.parquet").len(), 20_000);
    }
    fixture
        .misused(&["load", "in.csv", "x.parquet", "--set", "compression=zip"])
        .says(&["compression"]);
    fixture.misused(&["load", "in.csv", "x.parquet.gz"]).says(&["is not a supported target"]);
    fixture.misused(&["load", "in.csv", "parquet:x.gz"]).says(&["compressed inside"]);
    fixture.misused(&["load", "in.csv", "x.parquet", "--index", "id"]).says(&["no indexes"]);
}

#[test]
fn rows_are_added_behind_row_groups_that_stay_as_they_are() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n2,\n").write("more.csv", "name,id\nc,3\n");
    load(&fixture, &["in.csv", "out.parquet", "--set", "compression=snappy"]);
    let refused = fixture.refuses(&["more.csv", "out.parquet"]);
    refused.says(&["out.parquet holds rows already", "--if-exists append"]);
    load(&fixture, &["more.csv", "out.parquet", "--if-exists", "append"]);
    assert_eq!(shown(&fixture, "out.parquet"), ["1|\"a\"", "2|null", "3|\"c\""]);
    let file = open(&fixture, "out.parquet");
    let codecs: Vec<_> =
        file.metadata().row_groups().iter().map(|group| group.column(0).compression()).collect();
    assert_eq!(codecs[0], Compression::SNAPPY);
    assert_ne!(codecs[1], Compression::SNAPPY);
    // The type that is there rules.
    fixture.write("more.csv", "id,name\nx,y\n");
    let append = ["more.csv", "out.parquet", "--if-exists", "append"];
    fixture.refuses(&append).says(&["line 2, column id: 'x' is not an integer"]);
    fixture.write("more.csv", "id,other\n1,y\n");
    fixture.refuses(&append).says(&["other"]);
    // A column that the source lacks is NULL.
    fixture.write("more.csv", "name\nz\n");
    load(&fixture, &append);
    assert_eq!(shown(&fixture, "out.parquet")[3], "null|\"z\"");
    load(&fixture, &["more.csv", "out.parquet", "--if-exists", "truncate"]);
    assert_eq!(shown(&fixture, "out.parquet"), ["null|\"z\""]);
    load(&fixture, &["more.csv", "out.parquet", "--if-exists", "replace"]);
    assert_eq!(shown(&fixture, "out.parquet"), ["\"z\""]);
    fixture.refuses(&["more.csv", "out.parquet", "--if-exists", "fail"]).says(&["already exists"]);
}

/// A file of another program's: narrow integers, a column that takes no NULL, and what it says of itself.
fn theirs(fixture: &Fixture, schema: &str) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![
        parquet::file::metadata::KeyValue::new("whose".to_owned(), "theirs".to_owned()),
    ]));
    let file = File::create(fixture.path("theirs.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[7], None, None).unwrap();
    column.close().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let values = [ByteArray::from("seven")];
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[1]), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn rows_are_added_to_files_of_other_programs() {
    let fixture = Fixture::new();
    theirs(
        &fixture,
        "message m { required int32 id (INTEGER(8,true)); optional binary s (STRING); }",
    );
    fixture.write("in.csv", "s,id\neight,8\n,-128\n");
    let append = ["in.csv", "theirs.parquet", "--if-exists", "append"];
    load(&fixture, &append);
    assert_eq!(shown(&fixture, "theirs.parquet"), ["7|\"seven\"", "8|\"eight\"", "-128|null"]);
    let file = open(&fixture, "theirs.parquet");
    let about = file.metadata().file_metadata().key_value_metadata().unwrap();
    assert_eq!(about[0].value.as_deref(), Some("theirs"));
    for (value, wrong) in
        [("128", "out of range for an integer of 8 bits"), ("", "NULL where none")]
    {
        fixture.write("in.csv", format!("s,id\nx,{value}\n"));
        fixture.refuses(&append).says(&["column id", wrong]);
    }
    fixture.write("in.csv", "s\nx\n");
    fixture.refuses(&append).says(&["id"]);
    theirs(&fixture, "message m { required int32 id; optional binary s (ENUM); }");
    fixture.write("in.csv", "s,id\nx,1\n");
    load(&fixture, &append);
    // Types that aren't written are refused, and no obstacle to a new file.
    theirs(&fixture, "message m { required int32 id (TIME(MILLIS,true)); }");
    fixture
        .refuses(&append)
        .says(&["column id of theirs.parquet is of type", "--if-exists replace"]);
    load(&fixture, &["in.csv", "theirs.parquet", "--if-exists", "replace"]);
}

/// A file of another program's with these columns, and a row of NULLs.
fn with_columns(fixture: &Fixture, columns: &str) {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {columns} }}")).unwrap());
    let file = File::create(fixture.path("theirs.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let null = Some(&[0_i16][..]);
        let written = match column.untyped() {
            ColumnWriter::Int32ColumnWriter(column) => column.write_batch(&[], null, None),
            ColumnWriter::Int64ColumnWriter(column) => column.write_batch(&[], null, None),
            ColumnWriter::Int96ColumnWriter(column) => column.write_batch(&[], null, None),
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&[], null, None),
            ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                column.write_batch(&[], null, None)
            }
            _ => panic!("no writer for these"),
        };
        written.unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Parquet has four ways to store a decimal, and DuckDB takes 16 bytes where Arrow takes what the digits need.
#[test]
fn decimals_are_added_in_the_bytes_that_the_column_has() {
    let fixture = Fixture::new();
    fixture.write(
        "in.csv",
        "a,b,c,d\n123456789012345678.99,12345678901234567890123456789012.345,-999.99,999.99\n\
         -0.01,-1.000,,-999.99\n,,0.00,\n",
    );
    for verify in ["count", "checksum"] {
        with_columns(
            &fixture,
            "optional fixed_len_byte_array(16) a (DECIMAL(20,2)); \
             optional fixed_len_byte_array(16) b (DECIMAL(35,3)); \
             optional int64 c (DECIMAL(5,2)); \
             optional fixed_len_byte_array(4) d (DECIMAL(5,2));",
        );
        let append = ["in.csv", "theirs.parquet", "--if-exists", "append", "--verify", verify];
        fixture.load(&append).exits(0);
        assert_eq!(
            shown(&fixture, "theirs.parquet"),
            [
                "null|null|null|null",
                "123456789012345678.99|12345678901234567890123456789012.345|-999.99|999.99",
                "-0.01|-1.000|null|-999.99",
                "null|null|0.00|null",
            ]
        );
        let group = open(&fixture, "theirs.parquet").metadata().row_group(1).clone();
        let least = |column: usize| group.column(column).statistics().unwrap().min_bytes_opt();
        assert_eq!(least(3).map(<[u8]>::to_vec), Some((-99_999_i32).to_be_bytes().to_vec()));
        // As many rows of the same columns, and none of the old ones.
        let truncate = ["in.csv", "theirs.parquet", "--if-exists", "truncate", "--verify", verify];
        fixture.load(&truncate).exits(0);
        assert_eq!(shown(&fixture, "theirs.parquet").len(), 3);
    }
}

#[test]
fn what_is_stored_otherwise_than_it_is_written_is_refused() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "c\n2024-01-01 00:00:00\n").write("n.csv", "c\n1.5\n");
    for (source, column, stored) in [
        ("in.csv", "optional int96 c;", "timestamp(ns) stored as INT96"),
        ("n.csv", "optional binary c (DECIMAL(20,2));", "decimal(20,2) stored as BYTE_ARRAY"),
        ("n.csv", "optional binary c (BSON);", "bson stored as BYTE_ARRAY"),
        ("n.csv", "optional binary c (GEOMETRY);", "geometry stored as BYTE_ARRAY"),
        (
            "n.csv",
            "optional fixed_len_byte_array(20) c (DECIMAL(20,2));",
            "decimal(20,2) stored as FIXED_LEN_BYTE_ARRAY",
        ),
    ] {
        with_columns(&fixture, column);
        for if_exists in ["append", "truncate"] {
            let load = [source, "theirs.parquet", "--if-exists", if_exists];
            let run = fixture.leaves_all(|| fixture.load(&load).exits(1));
            run.says(&["column c of theirs.parquet is of type", stored, "--if-exists replace"]);
            let plan = [&["plan"], &load[..]].concat();
            fixture.inrush(&plan).exits(1).says(&[stored]);
        }
        fixture.load(&[source, "theirs.parquet", "--if-exists", "replace"]).exits(0);
    }
}

/// Durations are bare integers to the format, and only Arrow's schema in the file says of what unit.
#[test]
fn numbers_are_not_added_to_durations() {
    let fixture = Fixture::new();
    let durations = column(DurationMillisecondArray::from(vec![90_000]));
    write(&fixture, "theirs.parquet", &batch(vec![("d", durations)]), 1);
    fixture.write("in.csv", "d\n5\n");
    for source in ["in.csv", "theirs.parquet"] {
        fs::copy(fixture.path(source), fixture.path("copy")).unwrap();
        let load = ["copy", "theirs.parquet", "--if-exists", "append"];
        fixture.refuses(&load).says(&["column d of theirs.parquet is of type duration(ms) stored"]);
    }
}

/// Some readers take a value that is not in the list for NULL, and some have no numbers left for it.
#[test]
fn values_are_added_to_those_of_a_list() {
    let fixture = Fixture::new();
    let list: DictionaryArray<Int8Type> = ["x", "y"].into_iter().collect();
    let plain = batch(vec![("e", column(list))]);
    let said = ("unit".to_owned(), "m".to_owned());
    let mut field = plain.schema().field(0).clone();
    field.metadata_mut().insert(said.0.clone(), said.1.clone());
    let mut schema = (*plain.schema()).clone();
    schema.fields = vec![field].into();
    let theirs = RecordBatch::try_new(Arc::new(schema), plain.columns().to_vec());
    write(&fixture, "theirs.parquet", &theirs.unwrap(), 2);
    let names: String = (0..200).map(|n| format!("z{n}\n")).collect();
    fixture.write("in.csv", format!("e\n{names}"));
    load(&fixture, &["in.csv", "theirs.parquet", "--if-exists", "append"]);
    let file = File::open(fixture.path("theirs.parquet")).unwrap();
    let read = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    // What is said of the column stays.
    assert_eq!(read.schema().field(0).metadata().get(&said.0), Some(&said.1));
    let read = read.build().unwrap();
    let texts = read.map(|batch| batch.unwrap().column(0).as_string::<i32>().null_count());
    assert_eq!(texts.collect::<Vec<_>>(), [0]);
    assert_eq!(rows(&fixture, "theirs.parquet").len(), 202);
}

/// Has a file's footer say that its only column begins elsewhere.
fn place(fixture: &Fixture, name: &str, dictionary: Option<i64>, moved: i64) {
    let metadata = open(fixture, name).metadata().clone();
    let group = metadata.row_group(0);
    let (start, length) = group.column(0).byte_range();
    let mut file = fixture.read(name);
    file.truncate((start + length) as usize);
    let column = group.column(0).clone().into_builder();
    let column = column.set_dictionary_page_offset(dictionary);
    let column = column.set_data_page_offset(start as i64 + moved).build().unwrap();
    let group = group.clone().into_builder().set_column_metadata(vec![column]).build().unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut file, &metadata).finish().unwrap();
    fixture.write(name, file);
}

#[test]
fn row_groups_are_copied_from_where_they_are() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n2\n").write("more.csv", "id\n3\n");
    load(&fixture, &["in.csv", "theirs.parquet"]);
    // Some writers say that a column has no dictionary by one at the file's first byte.
    place(&fixture, "theirs.parquet", Some(0), 0);
    let append = ["more.csv", "theirs.parquet", "--if-exists", "append"];
    fixture.load(&append).exits(0);
    assert_eq!(shown(&fixture, "theirs.parquet"), ["1", "2", "3"]);
    load(&fixture, &["in.csv", "theirs.parquet", "--if-exists", "replace"]);
    place(&fixture, "theirs.parquet", None, 1);
    fixture.refuses(&append).says(&["theirs.parquet can't be read as a Parquet file"]);
    // One without rows has a dictionary, and no values behind it.
    let schema = Arc::new(parse_message_type("message m { required int64 id; }").unwrap());
    let file = File::create(fixture.path("theirs.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    group.next_column().unwrap().unwrap().close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    place(&fixture, "theirs.parquet", Some(4), -4);
    fixture.load(&["more.csv", "theirs.parquet"]).exits(0);
    assert_eq!(shown(&fixture, "theirs.parquet"), ["3"]);
}

/// What takes no NULL is written, of whatever type it is.
#[test]
fn columns_that_take_no_null_are_written() {
    let fixture = Fixture::new();
    fixture.write("in.jsonl", "{\"id\":1,\"doc\":{\"a\":1}}\n{\"id\":2,\"doc\":[1]}\n");
    load(&fixture, &["in.jsonl", "out.parquet", "--not-null", "doc", "--not-null", "id"]);
    let file = open(&fixture, "out.parquet");
    for field in file.metadata().file_metadata().schema().get_fields() {
        assert_eq!(field.get_basic_info().repetition(), Repetition::REQUIRED, "{field:?}");
    }
    assert_eq!(shown(&fixture, "out.parquet").len(), 2);
}

#[test]
fn what_is_no_parquet_file_is_only_replaced() {
    for content in [&b"id,name\n1,a\n"[..], b"PAR1 but no more PAR1", b"PAR1"] {
        let fixture = Fixture::new();
        fixture.write("in.csv", "id\n1\n").write("out.parquet", content);
        for how in ["append", "truncate", "empty"] {
            let run = fixture.refuses(&["in.csv", "out.parquet", "--if-exists", how]);
            run.says(&["can't be read as a Parquet file", "--if-exists replace"]);
        }
        load(&fixture, &["in.csv", "out.parquet", "--if-exists", "replace"]);
        assert_eq!(shown(&fixture, "out.parquet"), ["1"]);
    }
}

#[test]
fn a_header_alone_is_a_file_without_rows() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n").write("out.parquet", "");
    load(&fixture, &["in.csv", "out.parquet", "--header", "yes"]);
    let file = open(&fixture, "out.parquet");
    assert_eq!((file.num_row_groups(), file.metadata().file_metadata().num_rows()), (0, 0));
    fixture.write("in.csv", "id,name\n1,a\n");
    // It has its columns, and rows may come.
    load(&fixture, &["in.csv", "out.parquet"]);
    assert_eq!(shown(&fixture, "out.parquet"), ["\"1\"|\"a\""]);
}

#[test]
fn by_way_of_a_parquet_file_into_a_database_is_the_same_as_straight() {
    let fixture = Fixture::new();
    let weather = repository("examples/weather.csv.gz");
    let weather = weather.to_str().unwrap();
    let text = ["--null", "NA", "--table", "t"];
    fixture.load(&[&[weather, "straight.db"], &text[..]].concat()).exits(0);
    load(&fixture, &[&[weather, "between.parquet"], &text[..]].concat());
    fixture.load(&["between.parquet", "around.db", "--table", "t"]).exits(0);
    load(&fixture, &["between.parquet", "again.parquet"]);
    // A moment comes back in another notation.
    let table = |db: &str| {
        let column = |(name, ty): (String, String)| match ty.as_str() {
            "TIMESTAMP" => format!("datetime({})", quoted(&name)),
            _ => format!("typeof({0}), {0}", quoted(&name)),
        };
        let columns: Vec<String> = fixture.columns(db, "t").into_iter().map(column).collect();
        fixture.query(db, &format!("SELECT {} FROM t ORDER BY rowid", columns.join(", ")))
    };
    let straight = table("straight.db");
    assert!(straight == table("around.db"));
    assert_eq!(rows(&fixture, "between.parquet"), rows(&fixture, "again.parquet"));
    assert_eq!(straight.len(), rows(&fixture, "between.parquet").len());
}

#[test]
fn a_load_that_fails_or_is_killed_leaves_the_old_file() {
    let fixture = Fixture::new();
    fixture.write("old.csv", "id,name\n7,old\n");
    fixture.load(&["old.csv", "old.parquet"]).exits(0);
    let old = fixture.read("old.parquet");
    failures::kill_loads(0x4, "parquet:out", "append", &old, &["--chunk-size", "16k"]);
    failures::kill_loads(0x5, "parquet:out", "replace", b"no table", &["--chunk-size", "16k"]);
    failures::stop_loads("parquet:out", &old);
}
