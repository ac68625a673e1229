use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Date64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};
use inrush::plan::{
    ColumnRequest, DialectRequest, Durability, IfExists, Inference, LoadOptions, ReadRequest,
    ReadType, RejectLimit, Type,
};
use inrush::{Observer, Parts, Reject, RejectsTo, Request, Split, Unobserved, plan, run, split};
use inrush_scan::{Dialect, Scanner};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::database::{Rows, open, query};

/// How many cases, unless PROPTEST_CASES says otherwise.
const CASES: u32 = 60;

/// Remembers bad rows.
#[derive(Default)]
struct Bad(Mutex<Vec<Reject>>);

impl Observer for Bad {
    fn rejected(&self, row: &Reject) {
        self.0.lock().unwrap().push(Reject { file: 0, ..row.clone() });
    }
}

/// What a load has made: rows in their order, as SQL would write them, and the bad ones.
#[derive(Debug, PartialEq)]
struct Loaded {
    rows: Rows,
    bad: Vec<Reject>,
    read: u64,
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

fn request(sources: &[&Path]) -> Request {
    Request {
        sources: sources.iter().map(|path| path.display().to_string()).collect(),
        ..Request::default()
    }
}

/// Loads all of the requests into one table, one after the other.
fn loaded(folder: &Path, requests: &[Request]) -> Loaded {
    let database = folder.join("t.db");
    let _ = fs::remove_file(&database);
    let bad = Bad::default();
    let mut read = 0;
    for (at, request) in requests.iter().enumerate() {
        let options = LoadOptions {
            table: Some("t".to_owned()),
            if_exists: if at == 0 { IfExists::Empty } else { IfExists::Append },
            durability: Durability::None,
            max_rejects: RejectLimit::All,
            rejects: RejectsTo::Observer,
            // Many chunks, so that what is known of a part is not known of its first chunk only.
            chunk_bytes: Some(1 << 10),
            ..request.options.clone()
        };
        let target = format!("sqlite:{}", database.display());
        let request = Request { options, target, ..request.clone() };
        read += run(&plan(&request, &bad).unwrap(), &bad).unwrap().rows_read;
    }
    let rows = query(&open(&database), "SELECT * FROM t ORDER BY rowid");
    Loaded { rows, bad: bad.0.into_inner().unwrap(), read }
}

/// Splits what the request names, and expects the parts together to be the whole. Each goes through its text.
fn expect_parts(folder: &Path, request: &Request, parts: Parts) -> Vec<Split> {
    let splits = split(request, parts, &Unobserved).unwrap();
    let part = |split: &Split| Request {
        split: Some(split.to_string().parse().unwrap()),
        ..Request::default()
    };
    let parts: Vec<Request> = splits.iter().map(part).collect();
    let whole = loaded(folder, std::slice::from_ref(request));
    assert_eq!(loaded(folder, &parts), whole, "{splits:?}");
    splits
}

fn texts(request: Request) -> Request {
    let options = LoadOptions { inference: Inference::Text, ..request.options };
    Request { options, ..request }
}

#[test]
fn parts_of_any_text_are_the_rows_of_the_whole_bad_ones_included() {
    let config = match std::env::var("PROPTEST_CASES") {
        Ok(_) => Config { failure_persistence: None, ..Config::default() },
        Err(_) => Config { failure_persistence: None, ..Config::with_cases(CASES) },
    };
    let (_folder, folder) = folder();
    let line = "[a-c0-9]{0,3}(,\"?[a-c,\n]{0,6}\"?x?){0,2}\r?\n";
    let text = prop::collection::vec(prop_oneof![line, "[a-c,\"\\\\\r\n#]{0,12}"], 0..12);
    let strategy = (text, 1..9_usize, any::<bool>(), any::<bool>(), any::<bool>());
    TestRunner::new(config)
        .run(&strategy, |(text, parts, has_mark, has_escape, has_comment)| {
            let path = folder.join("in.csv");
            let mark = if has_mark { "\u{feff}" } else { "" };
            fs::write(&path, format!("{mark}skipped \"\na,b\n{}", text.concat())).unwrap();
            let dialect = DialectRequest {
                delimiter: Some(b','),
                quote: Some(Some(b'"')),
                escape: Some(has_escape.then_some(b'\\')),
                comment: has_comment.then_some(b'#'),
                header: Some(true),
                skip_lines: 1,
                ..DialectRequest::default()
            };
            let request = texts(Request { dialect, ..request(&[&path]) });
            expect_parts(&folder, &request, Parts::Count(parts));
            Ok(())
        })
        .unwrap();
}

#[test]
fn newlines_in_quotes_are_no_place_to_cut() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    let mut file = File::create(&path).unwrap();
    writeln!(file, "id,said,day").unwrap();
    for id in 0..3_000 {
        writeln!(file, "{id},\"one, \"\"two\"\"\n{id},x,2024-01-01\n\",2024-02-29\r").unwrap();
    }
    let request = request(&[&path]);
    let splits = expect_parts(&folder, &request, Parts::Count(7));
    assert_eq!(splits.len(), 7);
    let types: Vec<Type> = splits[0].fields.iter().map(|field| field.ty).collect();
    assert_eq!(types, [Type::Integer, Type::Text, Type::Date]);
    assert_eq!(expect_parts(&folder, &request, Parts::Bytes(1 << 14)).len(), 10);
    assert_eq!(expect_parts(&folder, &request, Parts::Count(1)).len(), 1);
}

#[test]
fn a_quote_that_is_never_closed_costs_one_line_however_the_file_is_cut() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    let mut text = "id,said\n".to_owned();
    for id in 0..4_000 {
        text += &match id {
            700 => "700,\"never closed\n".to_owned(),
            2_900 => "2900,\"closed\"twice\"\n".to_owned(),
            _ => format!("{id},plain\n"),
        };
    }
    fs::write(&path, text).unwrap();
    let splits = expect_parts(&folder, &texts(request(&[&path])), Parts::Count(9));
    assert_eq!(splits.len(), 9);
}

#[test]
fn files_are_cut_where_the_shares_of_all_bytes_end() {
    let (_folder, folder) = folder();
    let paths: Vec<PathBuf> = (0..5).map(|at| folder.join(format!("{at}.csv"))).collect();
    for (at, path) in paths.iter().enumerate() {
        // The second has its columns in another order, the third no rows.
        let mut text = if at == 1 { "b,a\n" } else { "a,b\n" }.to_owned();
        let rows = [10, 900, 0, 20, 300][at];
        (0..rows).for_each(|row| text += &format!("{row},\"{at}\n\"\n"));
        fs::write(path, text).unwrap();
    }
    let request = texts(request(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>()));
    for parts in 1..12 {
        let splits = expect_parts(&folder, &request, Parts::Count(parts));
        assert!(splits.len() <= parts);
        assert!(parts < 5 || splits.len() > parts / 2, "{} of {parts}", splits.len());
    }
}

#[test]
fn a_file_of_many_megabytes_is_looked_at_piece_by_piece() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    let mut text = b"id,said\n".to_vec();
    let mut rows = 0;
    // Some texts of more than a piece, and some quotes that are never closed.
    while text.len() < 40 << 20 {
        let long =
            "long, \"\"quoted\"\"\nline\n".repeat(if rows % 5_000 == 7 { 500_000 } else { 1 });
        text.extend(format!("{rows},\"{long}\"\n").as_bytes());
        rows += 1;
        if rows % 3_000 == 0 {
            text.extend(format!("{rows},\"open\n").as_bytes());
            rows += 1;
        }
    }
    fs::write(&path, &text).unwrap();
    let splits = split(&texts(request(&[&path])), Parts::Count(3), &Unobserved).unwrap();
    let starts: Vec<_> = splits.iter().map(|split| split.parts[0].start).collect();
    for (start, end) in starts.iter().zip(splits.iter().map(|split| split.parts[0].end)) {
        let bytes = &text[start.byte as usize..end.map_or(text.len(), |end| end as usize)];
        let scanner = |bytes| {
            let (mut scanner, mut fields) = (Scanner::new(&Dialect::csv(), bytes), Vec::new());
            std::iter::from_fn(move || scanner.next(&mut fields)).count() as u64
        };
        let lines = text[..start.byte as usize].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(start.lines, lines as u64);
        let before = &text[8..start.byte as usize];
        assert_eq!(start.records, scanner(before), "{start:?}");
        assert!(bytes.starts_with(start.records.to_string().as_bytes()), "{start:?}");
    }
    assert_eq!(starts.len(), 3);
}

#[test]
fn lines_of_json_are_cut_and_one_array_is_not() {
    let (_folder, folder) = folder();
    let lines = folder.join("in.jsonl");
    let mut file = File::create(&lines).unwrap();
    for id in 0..2_000 {
        // The last ones have what no sample shows.
        let more = if id > 1_990 { ",\"new\":{\"x\":[1,2]}" } else { "" };
        writeln!(file, "{{\"id\":{id},\"said\":\"a\\nb\"{more}}}\n \r").unwrap();
        if id == 800 {
            writeln!(file, "{{\"id\":{id}").unwrap();
        }
    }
    assert_eq!(expect_parts(&folder, &request(&[&lines]), Parts::Count(5)).len(), 5);
    let array = folder.join("array.json");
    let mut text = "[".to_owned();
    (0..500).for_each(|id| text += &format!("{{\"id\":{id}}},\n"));
    fs::write(&array, text + "{\"id\":500}]").unwrap();
    assert_eq!(expect_parts(&folder, &request(&[&array]), Parts::Count(5)).len(), 1);
    let both = request(&[&array, &lines]);
    assert!(expect_parts(&folder, &texts(both), Parts::Count(6)).len() > 3);
}

#[test]
fn days_in_milliseconds_are_in_a_part_what_they_are_in_the_whole() {
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    let (_folder, folder) = folder();
    let write = |name: &str, days: Vec<i64>| {
        let days: ArrayRef = Arc::new(Date64Array::from(days));
        let batch = RecordBatch::try_from_iter([("d", days)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1)).build();
        let path = folder.join(name);
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    };
    let [whole, odd] = [("whole", vec![0, 86_400_000]), ("odd", vec![0, 1])]
        .map(|(name, days)| write(&format!("{name}.parquet"), days));
    for sources in [vec![&whole], vec![&odd], vec![&whole, &odd]] {
        let sources: Vec<&Path> = sources.into_iter().map(PathBuf::as_path).collect();
        let request = request(&sources);
        for request in [texts(request.clone()), request] {
            let splits = expect_parts(&folder, &request, Parts::Count(1_000));
            assert_eq!(splits.len(), sources.len() * 2);
        }
    }
}

#[test]
fn parquet_is_cut_between_row_groups() {
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    let (_folder, folder) = folder();
    let path = folder.join("in.parquet");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
    // One row in a thousand is bad: SQLite's text has no NUL.
    let said =
        (0..10_000).map(|id| if id % 1_000 == 999 { "a\0b".into() } else { format!("r{id}") });
    let said: ArrayRef = Arc::new(StringArray::from_iter_values(said));
    let batch = RecordBatch::try_from_iter([("id", ids), ("said", said)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(700)).build();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let splits = expect_parts(&folder, &request(&[&path]), Parts::Count(4));
    assert_eq!(splits.len(), 4);
    assert_eq!(expect_parts(&folder, &request(&[&path]), Parts::Count(1_000)).len(), 15);
    let types = |schema: &Schema| -> Vec<DataType> {
        schema.fields().iter().map(|field| field.data_type().clone()).collect()
    };
    assert_eq!(types(&splits[1].schema()), types(&batch.schema()));
    let bad = loaded(&folder, &[request(&[&path])]).bad;
    assert_eq!(
        bad.iter().map(|row| row.record).collect::<Vec<_>>(),
        [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000]
    );
}

#[test]
fn what_cant_be_cut_is_one_part_as_a_whole() {
    let (_folder, folder) = folder();
    let text = "a,b\n1,\"x\ny\"\n".to_owned() + &"2,z\n".repeat(2_000);
    let packed = folder.join("in.csv.gz");
    let mut to =
        flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
    to.write_all(text.as_bytes()).unwrap();
    to.finish().unwrap();
    let wide = folder.join("wide.csv");
    let units: Vec<u8> =
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&wide, units).unwrap();
    let plain = folder.join("plain.csv");
    fs::write(&plain, &text).unwrap();
    for path in [&packed, &wide] {
        assert_eq!(expect_parts(&folder, &request(&[path]), Parts::Count(5)).len(), 1);
    }
    assert!(expect_parts(&folder, &request(&[&packed, &plain, &wide]), Parts::Count(8)).len() > 2);
}

#[test]
fn a_value_behind_all_samples_decides_the_type_before_the_file_is_split() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    // Quotes in the head, so that no places are looked at behind it.
    let mut text = "id,n\n\"1\",2\n".to_owned();
    text += &"1,2\n".repeat(600_000);
    text += "1,n/a\n";
    fs::write(&path, text).unwrap();
    let splits = split(&request(&[&path]), Parts::Count(3), &Unobserved).unwrap();
    let types: Vec<Type> = splits[0].fields.iter().map(|field| field.ty).collect();
    assert_eq!(types, [Type::Integer, Type::Text]);
    // Where the types are said, nothing is read but records.
    let mut said = request(&[&path]);
    said.types.insert("id".to_owned(), Type::Integer);
    said.types.insert("n".to_owned(), Type::Float);
    let splits = split(&said, Parts::Count(3), &Unobserved).unwrap();
    assert_eq!(splits[2].fields[1].ty, Type::Float);
}

#[test]
fn what_is_a_bad_row_of_the_whole_is_one_of_its_part() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    let odd = ["007,1.5,true", "7,+4.5,true", "7,1.5,1"];
    let row = |n: usize| match n {
        1_500..=1_502 => format!("{}\n", odd[n - 1_500]),
        _ => format!("{n},{n}.5,{}\n", n.is_multiple_of(2)),
    };
    let rows: String = (1..=2_000).map(row).collect();
    fs::write(&path, format!("n,f,b\n{rows}")).unwrap();
    let options = LoadOptions { max_rejects: RejectLimit::All, ..LoadOptions::default() };
    let request = Request { options, ..request(&[&path]) };
    let splits = expect_parts(&folder, &request, Parts::Count(3));
    assert!(splits.iter().all(|split| split.fields.iter().all(|field| field.is_settled)));
    let parts =
        splits.into_iter().map(|split| Request { split: Some(split), ..Request::default() });
    let loaded = loaded(&folder, &parts.collect::<Vec<_>>());
    assert_eq!((loaded.rows.len(), loaded.bad.len()), (1_997, 3));
}

#[test]
fn values_are_read_in_a_part_as_in_the_whole() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    let mut text = "day;amount;share;plain\n".to_owned();
    for id in 0..3_000 {
        let day = id % 28 + 1;
        text += &format!("{day:02}.01.2024;1.{:03},5;{id}%;{id}.5\n", id % 1000);
    }
    // One that is no day, and one that is not there.
    text += "2024-01-31;1,0;1%;1.5\n02.01.2024;none;2%;2.5\n";
    fs::write(&path, text).unwrap();
    let mut said = request(&[&path]);
    let texts = |text: &str| vec![text.to_owned()];
    said.read = ReadRequest {
        nulls: texts("amount=none"),
        decimals: texts(","),
        thousands: texts("."),
        date_formats: texts("%d.%m.%Y"),
        types: [("share".to_owned(), ReadType::Percent)].into(),
        columns: ColumnRequest {
            chosen: ["day", "amount", "share", "plain"].map(str::to_owned).into(),
            renamed: texts("plain=half"),
            added: ["row=%row", "file=%file"].map(str::to_owned).into(),
            ..ColumnRequest::default()
        },
        ..ReadRequest::default()
    };
    said.types.insert("day".to_owned(), Type::Date);
    // Which types there are for decimals is the target's matter.
    said.target = folder.join("other.db").display().to_string();
    let splits = expect_parts(&folder, &said, Parts::Count(4));
    assert_eq!(splits.len(), 4);
    let last = loaded(&folder, &[said]);
    assert_eq!(last.bad.len(), 1);
    let row = last.rows.last().unwrap();
    assert_eq!(row[..2], ["Text(2024-01-02)", "Null"]);
    assert_eq!(row[4..], ["Integer(3002)", "Text(in.csv)"]);
}

#[test]
fn a_part_of_a_file_that_has_changed_is_refused() {
    let (_folder, folder) = folder();
    let path = folder.join("in.csv");
    fs::write(&path, "a\n1\n2\n").unwrap();
    let splits = split(&request(&[&path]), Parts::Count(2), &Unobserved).unwrap();
    fs::write(&path, "a\n1\n2\n3\n").unwrap();
    let target = folder.join("t.db").display().to_string();
    let part = Request { split: Some(splits[0].clone()), target, ..Request::default() };
    let error = plan(&part, &Unobserved).err().unwrap();
    assert!(error.what().ends_with("in.csv has changed since it was split"), "{error}");
    let twice = Request { sources: vec!["in.csv".to_owned()], ..part.clone() };
    assert!(plan(&twice, &Unobserved).err().unwrap().what().starts_with("a split knows its files"));
    let again = split(&part, Parts::Count(2), &Unobserved).unwrap_err();
    assert_eq!(again.what(), "a split can't be split again");
    let pipe = split(&request(&[Path::new("-")]), Parts::Count(2), &Unobserved).unwrap_err();
    assert!(!pipe.what().is_empty(), "{pipe}");
}

#[test]
fn a_sheet_is_not_split_and_that_is_said() {
    let (_folder, folder) = folder();
    let path = folder.join("book.xls");
    fs::write(&path, include_bytes!("../../../cli/tests/it/old.xls")).unwrap();
    let error = inrush::split(&request(&[&path]), Parts::Count(2), &Unobserved).unwrap_err();
    assert!(
        error.what().ends_with("book.xls is a sheet, and only files are split into parts"),
        "{error}"
    );
}

#[test]
#[cfg(feature = "cloud")]
fn only_files_are_split() {
    use std::io::{BufRead as _, BufReader};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("http://{}/in.csv?tiger-7-teeth", server.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut client, _) = server.accept().unwrap();
        let asked = BufReader::new(&client).lines().map(Result::unwrap);
        asked.take_while(|line| !line.is_empty()).for_each(drop);
        let answer =
            b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nid\n1\n23\n";
        client.write_all(answer).unwrap();
    });
    let request = Request { sources: vec![source], ..Request::default() };
    let error = split(&request, Parts::Count(2), &Unobserved).unwrap_err();
    answering.join().unwrap();
    assert!(error.what().ends_with("is no file, and only files are split into parts"), "{error}");
    assert!(!format!("{error:?}").contains("tiger"), "{error:?}");
}
