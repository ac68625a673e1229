use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, TimeUnit};
use inrush_scan::Dialect;

use super::*;
use inrush_core::Type;
use inrush_core::encode::{Grammar, Shape, ShapeColumn, Typed, encoder};

fn column(from: usize, ty: DataType, strict: bool) -> ArrowColumn {
    let name = format!("c{from}");
    let from = Some(from);
    ArrowColumn {
        name,
        from,
        ty,
        content: Type::Text,
        nested: None,
        takes_literals: false,
        strict,
        required: false,
        infinite_ends: false,
        takes_days: false,
        takes_day_end: false,
        takes_far: false,
        escapes: false,
    }
}

fn encode(columns: &[ArrowColumn], text: &str) -> Encoded {
    let shape = Shape {
        grammar: Grammar::Delimited(Dialect::csv()),
        nulls: Default::default(),
        widths: vec![columns.len()],
        fields: vec![(0..columns.len()).map(Some).collect()],
        decoded: vec![None],
        headers: vec![],
        columns: columns
            .iter()
            .map(|column| ShapeColumn {
                name: column.name.clone(),
                pinned: !column.strict,
                strict: column.strict,
                bytes: column.ty == DataType::Binary,
                typed: column.ty != DataType::Binary,
                is_textual: true,
                is_document: false,
                is_list: false,
                reading: None,
                added: None,
                refuses_null: false,
                foreseen: Default::default(),
            })
            .collect(),
        nul_fault: None,
        found_max: u64::MAX,
    };
    let row = ArrowEncoder::new(columns, Some(columns.len()));
    let mut encoder = encoder(Arc::new(shape), row);
    let chunk = Chunk { bytes: text.as_bytes().to_vec(), ..Chunk::default() };
    let mut out = Encoded::default();
    // Twice: what the first chunk leaves behind must not show in the second.
    encoder.encode(&chunk, &mut out);
    out.clear();
    encoder.encode(&chunk, &mut out);
    out
}

fn shown(encoded: &Encoded) -> Vec<Vec<String>> {
    let batch = encoded.wire.batch.as_ref().unwrap();
    assert_eq!(batch.num_rows(), encoded.wire.rows.len());
    let options = FormatOptions::new().with_null("NULL");
    let columns: Vec<_> =
        batch.columns().iter().map(|a| ArrayFormatter::try_new(a, &options).unwrap()).collect();
    let row = |row| columns.iter().map(|column| column.value(row).to_string()).collect();
    (0..batch.num_rows()).map(row).collect()
}

#[test]
fn values_of_every_type_are_what_they_were() {
    // The formatter knows no names of zones.
    let utc = || Some("+00:00".into());
    let types = [
        (DataType::Int8, "-128"),
        (DataType::Int16, "32767"),
        (DataType::Int32, "-2147483648"),
        (DataType::Int64, "9223372036854775807"),
        (DataType::UInt8, "255"),
        (DataType::UInt16, "65535"),
        (DataType::UInt32, "4294967295"),
        (DataType::UInt64, "18446744073709551615"),
        (DataType::Float32, "0.1"),
        (DataType::Float64, "-1.7976931348623157e308"),
        (DataType::Decimal128(38, 2), "999999999999999999999999999999999999.99"),
        (DataType::Boolean, "true"),
        (DataType::Date32, "0001-01-01"),
        (DataType::Timestamp(TimeUnit::Second, None), "9999-12-31T23:59:59"),
        (DataType::Timestamp(TimeUnit::Millisecond, None), "1969-12-31T23:59:59.999"),
        (DataType::Timestamp(TimeUnit::Microsecond, utc()), "2024-02-29T01:02:03.000004Z"),
        (DataType::Timestamp(TimeUnit::Nanosecond, None), "2024-02-29T01:02:03.000000004"),
        (DataType::Utf8, "\u{1f600} caf\u{e9}"),
    ];
    let columns: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(at, (ty, _))| {
            assert!(ArrowColumn::takes(ty));
            column(at, ty.clone(), false)
        })
        .collect();
    let values: Vec<&str> = types.iter().map(|(_, value)| *value).collect();
    let nulls = ",".repeat(types.len() - 1);
    let quoted: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
    let (values_row, quoted_row) = (values.join(","), quoted.join(","));
    let encoded = encode(&columns, &format!("{values_row}\n{nulls}\n{quoted_row}\n"));
    assert_eq!(encoded.found, []);
    let rows = shown(&encoded);
    assert_eq!(rows[0], values);
    assert_eq!(rows[2], values);
    assert!(rows[1].iter().all(|value| value == "NULL"), "{:?}", rows[1]);
}

#[test]
fn text_and_bytes_come_unescaped_and_the_empty_string_is_not_null() {
    let columns = [column(0, DataType::Utf8, true), column(1, DataType::Binary, true)];
    let encoded = encode(&columns, "\"a\"\"b\",\"a\"\"b\"\n\"\",\"\"\n,\nx,y\n");
    let batch = encoded.wire.batch.as_ref().unwrap();
    let text: Vec<_> = batch.column(0).as_string::<i32>().iter().collect();
    assert_eq!(text, [Some("a\"b"), Some(""), None, Some("x")]);
    let bytes: Vec<_> = batch.column(1).as_binary::<i32>().iter().collect();
    assert_eq!(bytes, [Some(&b"a\"b"[..]), Some(b""), None, Some(b"y")]);
}

#[test]
fn a_bad_row_leaves_nothing_behind() {
    let columns = [
        column(0, DataType::Utf8, false),
        column(1, DataType::Int64, false),
        column(2, DataType::Decimal128(3, 1), false),
        column(3, DataType::Boolean, false),
    ];
    let text =
        "a,1,1.5,true\nlong text that goes,,99.9,x\n,x,1,true\nb,,,\nc,3,100,true\nd,4,-.5,0\n";
    let encoded = encode(&columns, text);
    let codes: Vec<_> =
        encoded.found.iter().map(|found| (found.record, found.column, found.code)).collect();
    use inrush_core::flow::Code;
    assert_eq!(
        codes,
        [(1, Some(3), Code::Type), (2, Some(1), Code::Type), (4, Some(2), Code::Range)]
    );
    assert_eq!(
        shown(&encoded),
        [["a", "1", "1.5", "true"], ["b", "NULL", "NULL", "NULL"], ["d", "4", "-0.5", "false"]]
    );
    let batch = encoded.wire.batch.as_ref().unwrap();
    assert_eq!(batch.column(0).null_count(), 0);
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().null_count(), 1);
    assert_eq!(batch.column(2).as_primitive::<Decimal128Type>().values()[..], [15, 0, -5]);
    let mut sums = Checksum::new(4);
    add_batch(&mut sums, batch, &[Some(0), Some(1), Some(2), Some(3)]);
    assert_eq!(encoded.wire.checksum, Some(sums));
}

#[test]
fn a_guess_is_disproved_by_what_would_change() {
    let columns = [column(0, DataType::Int64, true)];
    let encoded = encode(&columns, "1\n007\n2\n");
    assert_eq!(encoded.found, []);
    assert_eq!(encoded.mismatch.as_ref().unwrap().record, 1);
    // The try ends there, and no row behind it is sent.
    assert!(encoded.wire.is_last);
    assert_eq!(shown(&encoded), [["1"]]);
}

#[test]
fn absent_columns_are_null_and_required_ones_are_not() {
    let absent =
        ArrowColumn { from: None, ..column(7, DataType::Timestamp(TimeUnit::Second, None), false) };
    let required = ArrowColumn { required: true, ..column(0, DataType::Utf8, false) };
    let columns = [required, absent];
    let shape_columns = &columns[..1];
    let shape = Shape {
        grammar: Grammar::Delimited(Dialect::csv()),
        nulls: inrush_core::Nulls::of(&["NA".to_owned()], &[]),
        widths: vec![1],
        fields: vec![vec![Some(0)]],
        decoded: vec![None],
        headers: vec![],
        columns: shape_columns
            .iter()
            .map(|c| ShapeColumn {
                name: c.name.clone(),
                pinned: true,
                strict: false,
                bytes: false,
                typed: true,
                is_textual: true,
                is_document: false,
                is_list: false,
                reading: None,
                added: None,
                refuses_null: false,
                foreseen: Default::default(),
            })
            .collect(),
        nul_fault: None,
        found_max: 9,
    };
    let mut encoder = encoder(Arc::new(shape), ArrowEncoder::new(&columns, None));
    let mut out = Encoded::default();
    let chunk = Chunk { bytes: b"a\nNA\nb\n".to_vec(), ..Chunk::default() };
    encoder.encode(&chunk, &mut out);
    assert_eq!(out.found.len(), 1);
    assert_eq!(shown(&out), [["a", "NULL"], ["b", "NULL"]]);
    assert_eq!(out.wire.checksum, None);
}

/// Puts a row's values into the wire as the array shows them, so that they can be compared.
struct Shown(ArrowEncoder);

impl EncodeRow for Shown {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        self.0.push(row, wire)?;
        let batch = self.0.take(&mut None);
        wire.bytes.extend_from_slice(format!("{:?}", batch.column(0)).as_bytes());
        Ok(())
    }
}

#[test]
fn values_become_what_their_texts_become() {
    let mut types = vec![
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal128(38, 0),
        DataType::Decimal128(38, 38),
        DataType::Decimal128(12, 3),
        DataType::Boolean,
        DataType::Date32,
        DataType::Utf8,
        DataType::Binary,
    ];
    for unit in
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
    {
        types.push(DataType::Timestamp(unit, None));
        types.push(DataType::Timestamp(unit, Some("+00:00".into())));
    }
    let mut encoders = Vec::new();
    for ty in types {
        for strict in [false, true] {
            let column = column(0, ty.clone(), strict);
            encoders.push((format!("{ty}, {strict}"), Shown(ArrowEncoder::new(&[column], None))));
        }
    }
    // Days and moments beyond the years that have a text are kept all the same.
    let has_text = |typed| match typed {
        Typed::Date(days) => (-719_162..=2_932_896).contains(&days),
        Typed::Moment(moment) => moment.day().is_some(),
        _ => true,
    };
    inrush_proof::check_where(has_text, encoders);
}
