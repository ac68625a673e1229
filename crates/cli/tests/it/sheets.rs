//! Sheets of workbooks: what their cells are, and what of them is no value.

use std::fmt::Write as _;

use crate::archives::zip;
use crate::fixture::{Fixture, Random, json_lines, rows, size};

/// A cell as a test writes it.
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
    Empty,
    Text(&'a str),
    Number(f64),
    Truth(bool),
    /// A number that is shown as a day, as a moment, as a duration.
    Day(f64),
    Moment(f64),
    Duration(f64),
    Error(&'a str),
    /// A formula, with what is stored for it.
    Formula(&'a str),
}

use Cell::{Day, Duration, Empty, Error, Formula, Moment, Number, Text, Truth};

/// A sheet: its name, its rows, and what else stands in it.
pub(crate) struct Sheet<'a> {
    pub(crate) name: &'a str,
    pub(crate) rows: Vec<Vec<Cell<'a>>>,
    pub(crate) merged: &'a [&'a str],
}

/// A workbook of one sheet.
pub(crate) fn book(rows: &[&[Cell<'_>]]) -> Vec<u8> {
    let rows = rows.iter().map(|row| row.to_vec()).collect();
    xlsx(&[Sheet { name: "Data", rows, merged: &[] }], false)
}

/// A workbook as Excel writes it, as far as anybody reads it.
pub(crate) fn xlsx(sheets: &[Sheet<'_>], since_1904: bool) -> Vec<u8> {
    xlsx_with(sheets, since_1904, &[])
}

/// The same with other parts.
fn xlsx_with(sheets: &[Sheet<'_>], since_1904: bool, others: &[(&str, String)]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const RELS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let (mut list, mut rels, mut files) = (String::new(), String::new(), Vec::new());
    for (at, sheet) in (1..).zip(sheets) {
        write!(list, r#"<sheet name="{}" sheetId="{at}" r:id="rId{at}"/>"#, sheet.name).unwrap();
        write!(
            rels,
            r#"<Relationship Id="rId{at}" Type="{RELS}/worksheet" Target="worksheets/sheet{at}.xml"/>"#
        )
        .unwrap();
        files.push((format!("xl/worksheets/sheet{at}.xml"), sheet_xml(sheet, MAIN)));
    }
    let styles = format!(
        r#"<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs></styleSheet>"#
    );
    write!(rels, r#"<Relationship Id="rIdS" Type="{RELS}/styles" Target="styles.xml"/>"#).unwrap();
    let epoch = if since_1904 { r#"<workbookPr date1904="1"/>"# } else { "" };
    let workbook = format!(
        r#"<workbook xmlns="{MAIN}" xmlns:r="{RELS}">{epoch}<sheets>{list}</sheets></workbook>"#
    );
    let rels_of = |rels: &str| {
        format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{rels}</Relationships>"#)
    };
    let first = rels_of(&format!(
        r#"<Relationship Id="rId1" Type="{RELS}/officeDocument" Target="xl/workbook.xml"/>"#
    ));
    files.push((
        "[Content_Types].xml".into(),
        format!(r#"<Types xmlns="{PACKAGE}/content-types"/>"#),
    ));
    files.push(("_rels/.rels".into(), first));
    files.push(("xl/workbook.xml".into(), workbook));
    files.push(("xl/_rels/workbook.xml.rels".into(), rels_of(&rels)));
    files.push(("xl/styles.xml".into(), styles));
    files.extend(others.iter().map(|(name, text)| ((*name).into(), text.clone())));
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes().to_vec())).collect();
    zip(&files)
}

fn sheet_xml(sheet: &Sheet<'_>, main: &str) -> String {
    let mut text = format!(r#"<worksheet xmlns="{main}"><sheetData>"#);
    for (row, cells) in (1..).zip(&sheet.rows) {
        write!(text, r#"<row r="{row}">"#).unwrap();
        for (column, cell) in (b'A'..).zip(cells) {
            let at = format!("{}{row}", char::from(column));
            let inner = match cell {
                Empty => continue,
                Text(of) => format!(
                    r#"<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{of}</t></is></c>"#
                ),
                Number(of) => format!(r#"<c r="{at}"><v>{of}</v></c>"#),
                Truth(of) => format!(r#"<c r="{at}" t="b"><v>{}</v></c>"#, u8::from(*of)),
                Day(of) => format!(r#"<c r="{at}" s="1"><v>{of}</v></c>"#),
                Moment(of) => format!(r#"<c r="{at}" s="2"><v>{of}</v></c>"#),
                Duration(of) => format!(r#"<c r="{at}" s="3"><v>{of}</v></c>"#),
                Error(of) => format!(r#"<c r="{at}" t="e"><v>{of}</v></c>"#),
                Formula(of) => format!(r#"<c r="{at}"><f>A1+1</f><v>{of}</v></c>"#),
            };
            text.push_str(&inner);
        }
        text.push_str("</row>");
    }
    text.push_str("</sheetData>");
    if !sheet.merged.is_empty() {
        let ranges = sheet.merged.iter().map(|range| format!(r#"<mergeCell ref="{range}"/>"#));
        write!(text, "<mergeCells>{}</mergeCells>", ranges.collect::<String>()).unwrap();
    }
    text + "</worksheet>"
}

/// The names, and a row of values; 45322 is 2024-01-31.
const NAMES: &[Cell<'static>] = &[Text("id"), Text("day"), Text("price"), Text("name")];
const ONE: &[Cell<'static>] = &[Number(1.0), Day(45_322.0), Number(1.5), Text("a")];

/// As an empty cell it is of no type.
#[test]
fn a_text_that_is_null_changes_no_type() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &[Text("id"), Text("at"), Text("n")],
        &[Number(1.0), Moment(45292.0), Number(5.0)],
        &[Number(2.0), Text("n/a"), Text(" n/a ")],
        &[Number(3.0), Moment(45292.5), Number(7.0)],
    ];
    fixture.write("in.xlsx", book(rows));
    let load = ["in.xlsx", "t.db", "--null", "n/a", "--trim", "--verify", "checksum"];
    fixture.load(&load).exits(0);
    let wanted = rows![[1, "2024-01-01 00:00:00", 5], [2, (), ()], [3, "2024-01-01 12:00:00", 7]];
    assert_eq!(fixture.table("t.db", "in"), wanted);
}

/// A midnight is a moment where it is shown with its time of day, whatever stands beside it; a column of nothing but midnights is one of days.
#[test]
fn a_midnight_is_what_it_is_shown_as() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &[Text("id"), Text("at"), Text("day")],
        &[Number(1.0), Moment(45292.0), Moment(45292.0)],
        &[Number(2.0), Moment(45292.5), Moment(45293.0)],
        &[Number(3.0), Day(45293.0), Moment(45294.0)],
        &[Number(4.0), Text("n/a"), Day(45295.0)],
    ];
    fixture.write("in.xlsx", book(rows)).write("old.xls", include_bytes!("moments.xls"));
    let day = |date: &str, style: &str| {
        format!(r#"<table:table-cell office:value-type="date" office:date-value="{date}"{style}/>"#)
    };
    let own = r#" table:style-name="ce2""#;
    let cells = [
        day("2024-01-01", ""),
        day("2024-01-01T12:00:00", ""),
        day("2024-01-02T00:00:00", own),
        day("2024-01-03", own),
        ods_text("n/a"),
    ];
    let cells = cells.iter().map(|cell| format!("<table:table-row>{cell}</table:table-row>"));
    let names = format!("<table:table-row>{}</table:table-row>", ods_text("at"));
    let styles = r#"<number:date-style style:name="N1"><number:day/><number:hours/></number:date-style><number:date-style style:name="N2"><number:day/></number:date-style><style:style style:name="ce1" style:data-style-name="N1"/><style:style style:name="ce2" style:data-style-name="N2"/>"#;
    let table = format!(
        r#"<table:table table:name="S"><table:table-column table:default-cell-style-name="ce1"/>{names}{}</table:table>"#,
        cells.collect::<String>()
    );
    fixture.write("open.ods", ods_with(styles, &table));
    let styled = |at: f64, style: u8| {
        record(0x05, &[&0_u32.to_le_bytes(), &[style, 0, 0, 0], &at.to_le_bytes()])
    };
    let cells = [
        binary_cell(0x06, 0, &wide("at")),
        styled(45292.0, 2),
        styled(45292.5, 2),
        styled(45293.0, 2),
        styled(45294.0, 1),
        binary_cell(0x06, 0, &wide("n/a")),
    ];
    let cells: Vec<Vec<u8>> =
        (0..).zip(cells).map(|(at, cell)| [binary_row(at), cell].concat()).collect();
    fixture.write("in.xlsb", xlsb_of(&[("Data", [cells.concat(), Vec::new()])]));
    fixture.report(&["in.xlsx", "t.db"]);
    let moments = rows![["2024-01-01 00:00:00"], ["2024-01-01 12:00:00"], ["2024-01-02"], ["n/a"]];
    assert_eq!(fixture.query("t.db", "SELECT at FROM \"in\""), moments);
    assert_eq!(fixture.columns("t.db", "in")[2].1, "DATE");
    let days = rows![["2024-01-01"], ["2024-01-02"], ["2024-01-03"], ["2024-01-04"]];
    assert_eq!(fixture.query("t.db", "SELECT day FROM \"in\""), days);
    let moments = rows![
        ["2024-01-01 00:00:00"],
        ["2024-01-01 12:00:00"],
        ["2024-01-02 00:00:00"],
        ["2024-01-03"],
        ["n/a"]
    ];
    for file in ["old.xls", "open.ods", "in.xlsb"] {
        let table = format!("t_{}", file.replace('.', "_"));
        fixture.report(&[file, "t.db", "--table", &table]);
        assert_eq!(fixture.query("t.db", &format!("SELECT at FROM {table}")), moments, "{file}");
    }
}

/// What a column of midnights is, other workbooks may tell.
#[test]
fn midnights_beside_moments_of_another_workbook_are_moments() {
    let fixture = Fixture::new();
    let of = |at: f64| book(&[&[Text("id"), Text("at")], &[Number(at), Moment(at)]]);
    fixture.write("a.xlsx", of(45292.0)).write("b.xlsx", of(45292.5));
    let load = ["a.xlsx", "b.xlsx", "t.db", "--table", "t"];
    fixture.report(&load);
    assert_eq!(fixture.columns("t.db", "t")[1].1, "TIMESTAMP");
    let wanted = rows![["2024-01-01 00:00:00"], ["2024-01-01 12:00:00"]];
    assert_eq!(fixture.query("t.db", "SELECT at FROM t"), wanted);
}

/// Parts are read up to what is needed of them, and damage stands behind that as well.
#[test]
fn a_damaged_part_of_a_workbook_is_told_before_its_cells_are_read() {
    let fixture = Fixture::new();
    // The checksum of a part, which stands in the directory 16 bytes behind the record's beginning.
    let with_other_sum = |bytes: &[u8], part: &str| {
        let mut bytes = bytes.to_vec();
        let is_record = |at: &usize| {
            bytes[*at..].starts_with(b"PK\x01\x02") && bytes[at + 46..].starts_with(part.as_bytes())
        };
        let at = (0..bytes.len() - 46).find(is_record).unwrap();
        bytes[at + 16] ^= 1;
        bytes
    };
    let (excel, open) = (book(&[NAMES, ONE]), ods(&[]));
    for (file, bytes, part) in [
        ("a.xlsx", &excel, "xl/styles.xml"),
        ("b.xlsx", &excel, "xl/workbook.xml"),
        ("c.xlsx", &excel, "xl/_rels/workbook.xml.rels"),
        ("d.xlsx", &excel, "xl/worksheets/sheet1.xml"),
        ("e.ods", &open, "content.xml"),
    ] {
        fixture.write(file, with_other_sum(bytes, part));
        fixture.refuses(&[file, "t.db"]).says(&[file, part, "is damaged"]);
    }
}

#[test]
fn cells_are_what_the_sheet_says() {
    let fixture = Fixture::new();
    let header = ["n", "f", "day", "at", "time", "took", "ok", "code", "both"].map(Text);
    let rows = [
        header.to_vec(),
        vec![
            Number(1.0),
            Number(0.1),
            Day(45_322.0),
            Moment(45_322.5),
            Moment(0.75),
            Duration(1.25),
            Truth(true),
            Text("007"),
            Number(5.0),
        ],
        vec![
            Number(-2.0),
            Number(3.0),
            Day(1.0),
            Moment(45_322.0),
            Moment(0.5),
            Duration(0.5),
            Truth(false),
            Text("12"),
            Text("x"),
        ],
        vec![Formula("3"), Empty, Empty, Empty, Empty, Empty, Empty, Text("a,\"b\""), Empty],
    ];
    fixture
        .write("in.xlsx", xlsx(&[Sheet { name: "Data", rows: rows.to_vec(), merged: &[] }], false));
    let report = fixture.report(&["in.xlsx", "t.db"]);
    assert_eq!(report["plan"]["dialect"]["format"], "columns");
    let types: Vec<String> = fixture.columns("t.db", "in").into_iter().map(|(_, ty)| ty).collect();
    let wanted =
        ["INTEGER", "REAL", "DATE", "TIMESTAMP", "TEXT", "TEXT", "BOOLEAN", "TEXT", "TEXT"];
    assert_eq!(types, wanted);
    assert_eq!(
        fixture.table("t.db", "in"),
        rows![
            [1, 0.1, "2024-01-31", "2024-01-31 12:00:00", "18:00:00", "PT108000S", 1, "007", "5"],
            [-2, 3.0, "1900-01-01", "2024-01-31 00:00:00", "12:00:00", "PT43200S", 0, "12", "x"],
            [3, (), (), (), (), (), (), "a,\"b\"", ()],
        ]
    );
    // Of what one column can't be, the report says why.
    assert!(report["warnings"].to_string().contains("column both is text"), "{report}");
    // Workbooks of old Macintoshes begin to count in 1904.
    let since =
        [Sheet { name: "Data", rows: vec![vec![Text("day")], vec![Day(43_860.0)]], merged: &[] }];
    fixture.write("mac.xlsx", xlsx(&since, true));
    fixture.load(&["mac.xlsx", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "mac"), rows![["2024-01-31"]]);
}

#[test]
fn texts_of_one_form_are_proposed_in_sheets_and_in_json() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &[Text("id"), Text("price"), Text("day"), Text("mixed")],
        &[Number(1.0), Text("1.234,50"), Text("31.12.2024"), Text("1,5")],
        &[Number(2.0), Text("7,25"), Empty, Number(7.0)],
    ];
    let lines = concat!(
        r#"{"id":1,"price":"1.234,50","day":"31.12.2024","mixed":"1,5"}"#,
        "\n",
        r#"{"id":2,"price":"7,25","day":null,"mixed":true}"#,
        "\n",
    );
    fixture.write("in.xlsx", book(rows)).write("in.jsonl", lines);
    for (source, db) in [("in.xlsx", "sheet.db"), ("in.jsonl", "json.db")] {
        let planned = fixture.inrush(&["plan", source, db]).exits(0).stdout;
        let options =
            ["--decimal", "price=,", "--thousands", "price=.", "--date-format", "day=%d.%m.%Y"];
        let command = format!("inrush load {source} {db} {}", options.join(" "));
        assert_eq!(planned.lines().last(), Some(&*command), "{source}");
        let of_all = ["--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y"];
        for options in [options, of_all] {
            fixture
                .load(&[&[source, db, "--if-exists", "replace"], &options[..]].concat())
                .exits(0);
            let loaded = fixture.query(db, "SELECT id, price, day FROM \"in\"");
            assert_eq!(loaded, rows![[1, 1234.5, "2024-12-31"], [2, 7.25, ()]], "{options:?}");
        }
    }
}

#[test]
fn cells_without_a_value_are_bad_rows_and_go_to_a_file_of_csv() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        NAMES,
        ONE,
        &[],
        &[Number(2.0), Day(45_323.0), Error("#DIV/0!"), Text("b, \"c\"")],
        &[Number(3.0), Day(45_324.0), Formula(""), Text("d")],
        &[Number(4.0), Day(60.0), Number(2.0), Text("e")],
        &[Number(5.0), Day(45_325.0), Number(3.0), Error("#N/A")],
        &[Number(6.0), Day(45_326.0), Number(4.0)],
    ];
    fixture.write("in.xlsx", book(rows));
    let run = fixture.refuses(&["in.xlsx", "t.db"]);
    run.says(&["in.xlsx: row 4, column price: C4 is #DIV/0!, an error and no value"]);
    fixture.load(&["in.xlsx", "t.db", "--max-rejects", "4"]).exits(3);
    assert_eq!(
        fixture.table("t.db", "in"),
        rows![[1, "2024-01-31", 1.5, "a"], [6, "2024-02-04", 4.0, ()]]
    );
    assert_eq!(
        String::from_utf8(fixture.read("in.rejects.csv")).unwrap(),
        "id,day,price,name\n2,2024-02-01,#DIV/0!,\"b, \"\"c\"\"\"\n3,2024-02-02,,d\n\
         4,1900-02-29,2.0,e\n5,2024-02-03,3.0,#N/A\n"
    );
    let notes = json_lines(&fixture.read("in.rejects.csv.jsonl"));
    let lines: Vec<_> = notes.iter().map(|note| note["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [4, 5, 6, 7]);
    let records: Vec<_> = notes.iter().map(|note| note["record"].as_u64().unwrap()).collect();
    assert_eq!(records, [2, 3, 4, 5]);
    assert!(
        notes[1]["message"].as_str().unwrap().starts_with("C5: the formula has no stored value")
    );
    // A check finds the same.
    let check = fixture.inrush(&["check", "in.xlsx", "--max-rejects", "9", "--json"]);
    assert_eq!(check.json()["rows_bad"], 4, "{check:?}");
}

/// What programs call errors grows with each version of them.
#[test]
fn errors_of_any_name_are_bad_rows_and_no_texts() {
    let fixture = Fixture::new();
    let errors = ["#SPILL!", "#CALC!", "#N/A", "#OF_TOMORROW!"];
    let mut rows = vec![NAMES.to_vec(), ONE.to_vec()];
    rows.extend(errors.map(|error| vec![Number(2.0), Error(error), Error(error), Text("b")]));
    rows.push(ONE.to_vec());
    fixture.write("in.xlsx", xlsx(&[Sheet { name: "Data", rows, merged: &[] }], false));
    fixture.refuses(&["in.xlsx", "t.db"]).says(&["row 3, column day: B3 is #SPILL!, an error"]);
    fixture.load(&["in.xlsx", "t.db", "--max-rejects", "4"]).exits(3);
    let one = rows![[1, "2024-01-31", 1.5, "a"], [1, "2024-01-31", 1.5, "a"]];
    assert_eq!(fixture.table("t.db", "in"), one);
    let notes = json_lines(&fixture.read("in.rejects.csv.jsonl"));
    for (at, (note, error)) in (3..).zip(notes.iter().zip(errors)) {
        let said = note["message"].as_str().unwrap();
        assert!(said.starts_with(&format!("B{at} is {error}, an error and no value")), "{said}");
        assert_eq!(note["line"], at);
    }
    // A formula's text may be one, as LibreOffice has it; a text that was typed is what it is.
    let rows: &[&[Cell<'_>]] =
        &[&[Text("a"), Text("b")], &[Text("#N/A"), Text("Err:502")], &[Text("x"), Text("y")]];
    fixture.write("typed.xlsx", book(rows));
    fixture.load(&["typed.xlsx", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "typed"), rows![["#N/A", "Err:502"], ["x", "y"]]);
    let error = |shown: &str| {
        format!(
            r#"<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>{shown}</text:p></table:table-cell>"#
        )
    };
    let cells = ["#DIV/0!", "Err:502"].map(error);
    fixture.write("open.ods", ods(&[&ods_row(1, &cells[0]), &ods_row(2, &cells[1])]));
    fixture.load(&["open.ods", "t.db", "--max-rejects", "9"]).exits(3);
    let notes = json_lines(&fixture.read("open.rejects.csv.jsonl"));
    let said: Vec<_> = notes.iter().map(|note| note["message"].as_str().unwrap()).collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].starts_with("D4 is #DIV/0!, an error and no value"), "{said:?}");
    assert!(said[1].starts_with("D5 is Err:502, an error and no value"), "{said:?}");
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM open"), 2);
}

#[test]
fn the_first_sheet_is_meant_unless_one_is_named() {
    let fixture = Fixture::new();
    let sheet = |name, value| {
        let rows = vec![vec![Text("id"), Text("what")], vec![Number(value), Text("x")]];
        Sheet { name, rows, merged: &[] }
    };
    let bytes = xlsx(&[sheet("One", 1.0), sheet("Two!", 2.0), sheet("Three", 3.0)], false);
    fixture
        .write("book.xlsx", &bytes)
        .write("a!b.xlsx", &bytes)
        .write("in.zip", zip(&[("d/book.xlsx", bytes)]));
    let ids = |source: &str, table: &str| {
        let report = fixture.report(&[source, "t.db", "--if-exists", "replace"]);
        assert_eq!(report["plan"]["table"], table, "{source}");
        let ids = fixture.query("t.db", &format!("SELECT id FROM \"{table}\""));
        (ids, report["warnings"].to_string())
    };
    let (first, warnings) = ids("book.xlsx", "book");
    assert_eq!(first, rows![[1]]);
    assert!(warnings.contains("book.xlsx has other sheets, which are not loaded: Two!, Three"));
    assert_eq!(ids("book.xlsx!Two!", "Two!").0, rows![[2]]);
    assert_eq!(ids("book.xlsx!three", "three").0, rows![[3]]);
    assert_eq!(ids("a!b.xlsx!Three", "Three").0, rows![[3]]);
    assert_eq!(ids("in.zip", "book").0, rows![[1]]);
    assert_eq!(ids("in.zip!d/book.xlsx!Three", "Three").0, rows![[3]]);
    fixture
        .refuses(&["book.xlsx!Four", "t.db"])
        .says(&["book.xlsx has no sheet 'Four': it has One, Two!, Three"]);
    // Several sheets go into one table.
    fixture.report(&["book.xlsx!One", "book.xlsx!Three", "t.db", "--table", "all"]);
    assert_eq!(fixture.query("t.db", "SELECT id FROM \"all\""), rows![[1], [3]]);
}

#[test]
fn hidden_sheets_are_named_and_not_loaded_unless_asked_for() {
    let fixture = Fixture::new();
    let sheet = |name, value| {
        let rows = vec![vec![Text("id"), Text("what")], vec![Number(value), Text("x")]];
        Sheet { name, rows, merged: &[] }
    };
    // The name is an attribute, and what follows it is another one.
    let sheets = [
        sheet("Rates\" state=\"hidden", 1.0),
        sheet("Shown", 2.0),
        sheet("Old\" state=\"veryHidden", 3.0),
    ];
    fixture.write("book.xlsx", xlsx(&sheets, false));
    let warnings = fixture.report(&["book.xlsx", "t.db"])["warnings"].to_string();
    assert!(warnings.contains("not loaded: Rates (hidden), Old (hidden)"), "{warnings}");
    assert!(warnings.contains("'book.xlsx!Rates'"), "{warnings}");
    assert_eq!(fixture.query("t.db", "SELECT id FROM book"), rows![[2]]);
    fixture.report(&["book.xlsx!Rates", "t.db"]);
    assert_eq!(fixture.query("t.db", "SELECT id FROM Rates"), rows![[1]]);
    fixture
        .refuses(&["book.xlsx!None", "t.db"])
        .says(&["book.xlsx has no sheet 'None': it has Shown, Rates (hidden), Old (hidden)"]);
}

#[test]
fn merged_cells_have_their_value_once_and_that_is_said() {
    let fixture = Fixture::new();
    let rows = vec![
        vec![Text("group"), Text("n")],
        vec![Text("x"), Number(1.0)],
        vec![Empty, Number(2.0)],
    ];
    fixture.write("in.xlsx", xlsx(&[Sheet { name: "Data", rows, merged: &["A2:A3"] }], false));
    let report = fixture.report(&["in.xlsx", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![["x", 1], [(), 2]]);
    assert!(report["warnings"].to_string().contains("in.xlsx has merged cells (A2:A3)"));
    // What is under them is not shown, and no value either.
    let rows = vec![
        vec![Text("group"), Text("n"), Text("m")],
        vec![Text("x"), Number(1.0), Number(7.0)],
        vec![Text("under"), Number(2.0), Text("under")],
        vec![Text("under"), Number(3.0), Number(8.0)],
        vec![Text("y"), Number(4.0), Number(9.0)],
    ];
    let merged = &["A2:A4", "B3:C3"];
    fixture.write("in.xlsx", xlsx(&[Sheet { name: "Data", rows, merged }], false));
    fixture.report(&["in.xlsx", "t.db", "--if-exists", "replace"]);
    assert_eq!(
        fixture.table("t.db", "in"),
        rows![["x", 1, 7], [(), 2, ()], [(), 3, 8], ["y", 4, 9]]
    );
}

#[test]
fn two_cells_in_one_place_are_refused_and_none_is_lost() {
    let fixture = Fixture::new();
    // What is between two cells of a sheet that is written with this text.
    let sheet = |between: &str| {
        let text = format!("x</t></is></c>{between}<t>y");
        book(&[&[Text("a"), Text("b")], &[Text(&text)]])
    };
    let cell = |at: &str| format!(r#"<c r="{at}" t="inlineStr"><is>"#);
    let row = |row: u32, at: &str| format!(r#"</row><row r="{row}">{}"#, cell(at));
    for (between, says) in [
        (cell("A2"), "cell A2 comes twice"),
        (row(2, "A2"), "cell A2 comes twice"),
        (cell("B2") + "<t>y</t></is></c>" + &cell("A2"), "cell A2 comes twice"),
        (row(1, "A1"), "row 1 comes behind row 2"),
    ] {
        fixture.write("in.xlsx", sheet(&between));
        fixture.refuses(&["in.xlsx", "t.db"]).says(&["in.xlsx: the sheet can't be read", says]);
    }
    // A row in two pieces has its cells once.
    for between in [cell("B2"), row(2, "B2")] {
        fixture.write("in.xlsx", sheet(&between));
        fixture.load(&["in.xlsx", "t.db", "--if-exists", "replace"]).exits(0);
        assert_eq!(fixture.table("t.db", "in"), rows![["x", "y"]]);
    }
    let number = |column| binary_cell(0x05, column, &1.0_f64.to_le_bytes());
    let rich = [&[1][..], &wide("two fonts"), &1_u32.to_le_bytes(), &[0; 4]].concat();
    for other in [number(0), binary_cell(0x3e, 0, &rich), [binary_row(1), number(0)].concat()] {
        let header = [binary_row(0), binary_cell(0x06, 0, &wide("id"))].concat();
        let cells = [header, binary_row(1), number(0), other].concat();
        fixture.write("in.xlsb", xlsb_of(&[("Data", [cells, Vec::new()])]));
        let says = ["in.xlsb: the sheet can't be read", "cell A2 comes twice"];
        fixture.refuses(&["in.xlsb", "t.db"]).says(&says);
    }
}

#[test]
fn the_first_row_is_the_header_by_the_rules_of_text() {
    let fixture = Fixture::new();
    let title: &[&[Cell<'_>]] = &[&[Text("Sales of 2024")], &[], NAMES, ONE];
    fixture.write("title.xlsx", book(title)).write("data.xlsx", book(&[ONE, ONE]));
    fixture.report(&["title.xlsx", "t.db", "--skip-lines", "2"]);
    assert_eq!(fixture.table("t.db", "title"), rows![[1, "2024-01-31", 1.5, "a"]]);
    fixture.report(&["data.xlsx", "t.db"]);
    let names: Vec<String> =
        fixture.columns("t.db", "data").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["column_1", "column_2", "column_3", "column_4"]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM data"), 2);
    fixture.report(&["data.xlsx", "t.db", "--header", "yes", "--table", "named"]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM named"), 1);
    // Columns without name and values are none, and those without a name get one.
    let gaps: &[&[Cell<'_>]] = &[
        &[Empty, Text("a"), Empty, Empty, Text("b")],
        &[Empty, Number(1.0), Empty, Number(2.0), Number(3.0)],
    ];
    fixture.write("gaps.xlsx", book(gaps));
    let report = fixture.report(&["gaps.xlsx", "t.db"]);
    assert_eq!(fixture.table("t.db", "gaps"), rows![[1, 2, 3]]);
    assert!(report["warnings"].to_string().contains("has no name: it is called column_2"));
    fixture
        .misused(&["load", "gaps.xlsx", "t.db", "--delimiter", ";"])
        .says(&["--delimiter is for text, and gaps.xlsx is a sheet"]);
    fixture
        .misused(&["load", "gaps.xlsx", "t.db", "--flatten"])
        .says(&["--flatten is for nested values, and gaps.xlsx is a sheet"]);
}

#[test]
fn spellings_of_null_go_by_whatever_a_column_is_called() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &[Empty, Text("n"), Text("n"), Text("keep")],
        &[Empty, Number(1.0), Text("NA"), Text("NA")],
        &[Empty, Text("NA"), Number(2.0), Text("x")],
    ];
    fixture.write("t.xlsx", book(rows)).write("u.xlsx", book(&rows[1..]));
    let load = |file: &str, more: &[&str]| {
        fixture.report(&[&[file, "t.db", "--table", "t", "--if-exists", "replace"], more].concat());
        fixture.table("t.db", "t")
    };
    let known = rows![[1, (), "NA"], [(), 2, "x"]];
    assert_eq!(load("t.xlsx", &["--null", "n=NA", "--null", "n_2=NA"]), known);
    let renamed = ["--rename", "n=m", "--null", "m=NA", "--null", "n_2=NA"];
    assert_eq!(load("t.xlsx", &renamed), known);
    let numbered = ["--header", "no", "--null", "column_1=NA", "--null", "column_2=NA"];
    assert_eq!(load("u.xlsx", &numbered), known);
}

/// A workbook of Excel 97, as xlwt writes it, and one of LibreOffice.
#[test]
fn a_column_is_of_the_type_that_the_sheets_with_values_have() {
    let fixture = Fixture::new();
    let header: &[Cell<'_>] = &[Text("id"), Text("x")];
    let with = |x| book(&[header, &[Number(1.0), x]]);
    for (name, x) in [("none", Empty), ("number", Number(7.0)), ("day", Day(45_292.0))] {
        fixture.write(&format!("{name}.xlsx"), with(x));
    }
    let load = |a: &str, b: &str| {
        fixture.report(&[a, b, "t.db", "--table", "t", "--if-exists", "replace"])
    };
    for (a, b, ty) in [("none.xlsx", "number.xlsx", "INTEGER"), ("day.xlsx", "none.xlsx", "DATE")] {
        let report = load(a, b);
        assert_eq!(fixture.columns("t.db", "t")[1].1, ty, "{a} {b}");
        assert_eq!(report["warnings"].to_string(), "[]", "{a} {b}");
    }
    let report = load("number.xlsx", "day.xlsx");
    let note =
        "column x is text: it is of type integer in number.xlsx, and of type date in day.xlsx";
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
}

#[test]
fn old_and_open_workbooks_are_read_alike() {
    let fixture = Fixture::new();
    fixture.write("old.xls", include_bytes!("old.xls"));
    let report = fixture.report(&["old.xls", "t.db"]);
    assert_eq!(
        fixture.table("t.db", "old"),
        rows![
            [1, "n1", "2024-01-01"],
            [2, "n2", "2024-01-02"],
            [3, "n3", "2024-01-03"],
            [4, "m", ()],
        ]
    );
    assert!(report["warnings"].to_string().contains("merged cells (B5:B6)"));
    fixture.write("open.ods", ods(&[]));
    fixture.report(&["open.ods", "t.db"]);
    assert_eq!(
        fixture.table("t.db", "open"),
        rows![[1, "2024-01-31", 1, "a"], [2, "2024-02-01", 0, "b"]]
    );
}

/// A cell of OpenDocument with a text.
fn ods_text(text: &str) -> String {
    format!(
        r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
    )
}

/// A row of [`ods`], of which the last cell is said.
fn ods_row(id: u32, name: &str) -> String {
    let (day, is_odd) = (["2024-01-31", "2024-02-01"][id as usize - 1], id == 1);
    format!(
        r#"<table:table-row><table:table-cell office:value-type="float" office:value="{id}"/><table:table-cell office:value-type="date" office:date-value="{day}"/><table:table-cell office:value-type="boolean" office:boolean-value="{is_odd}"/>{name}</table:table-row>"#
    )
}

/// A workbook of LibreOffice, with two rows and more.
fn ods(more: &[&str]) -> Vec<u8> {
    let header = ["id", "day", "ok", "name"].map(ods_text).concat();
    let rows = [ods_row(1, &ods_text("a")), ods_row(2, &ods_text("b"))].concat() + &more.concat();
    ods_of(&format!(
        r#"<table:table table:name="Open"><table:table-row>{header}</table:table-row>{rows}</table:table>"#
    ))
}

/// A workbook of LibreOffice with these tables.
fn ods_of(tables: &str) -> Vec<u8> {
    ods_with("", tables)
}

/// The same with these styles.
fn ods_with(styles: &str, tables: &str) -> Vec<u8> {
    const NS: &str = "urn:oasis:names:tc:opendocument:xmlns";
    let content = format!(
        r#"<?xml version="1.0"?><office:document-content xmlns:office="{NS}:office:1.0" xmlns:table="{NS}:table:1.0" xmlns:text="{NS}:text:1.0" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" xmlns:number="{NS}:datastyle:1.0" xmlns:style="{NS}:style:1.0"><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"#
    );
    let manifest = format!(r#"<manifest:manifest xmlns:manifest="{NS}:manifest:1.0"/>"#);
    zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet".to_vec()),
        ("META-INF/manifest.xml", manifest.into_bytes()),
        ("content.xml", content.into_bytes()),
    ])
}

/// A sheet of a binary workbook: its name, its texts and numbers, and its merged ranges by first row, last row, first column, last column.
type BinarySheet<'a> = (&'a str, &'a [&'a [Cell<'a>]], &'a [[u32; 4]]);

/// A binary workbook ([MS-XLSB]).
fn xlsb(sheets: &[BinarySheet<'_>]) -> Vec<u8> {
    let part = |rows: &[&[Cell<'_>]], merged: &[[u32; 4]]| {
        let mut cells = Vec::new();
        for (row, found) in (0_u32..).zip(rows) {
            cells.extend(binary_row(row));
            for (column, cell) in (0_u32..).zip(*found) {
                cells.extend(match cell {
                    Text(text) => binary_cell(0x06, column, &wide(text)),
                    Number(number) => binary_cell(0x05, column, &number.to_le_bytes()),
                    _ => binary_cell(0x01, column, &[]),
                });
            }
        }
        let ranges =
            merged.iter().map(|range| record(0xb0, &[&range.map(u32::to_le_bytes).concat()]));
        let ranges = ranges.collect::<Vec<_>>().concat();
        let count = (merged.len() as u32).to_le_bytes();
        [cells, [record(0xb1, &[&count]), ranges, record(0xb2, &[])].concat()]
    };
    let parts = sheets.iter().map(|(name, rows, merged)| (*name, part(rows, merged)));
    xlsb_of(&parts.collect::<Vec<_>>())
}

/// A format with a condition, as in many a sheet of a bookkeeper.
const HIDES_ZEROS: &str = "[=0]\"\";dd/mm/yyyy";

/// A record of a binary workbook.
fn record(kind: u16, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let kind = match kind {
        0..0x80 => vec![kind as u8],
        _ => vec![0x80 | kind as u8 & 0x7f, (kind >> 7) as u8],
    };
    // A length has seven bits a byte, too, and need not be the shortest.
    let length = [0x80 | body.len() as u8 & 0x7f, (body.len() >> 7) as u8];
    [&kind, &length[..], &body].concat()
}

/// A text behind its length.
fn wide(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let count = text.encode_utf16().count() as u32;
    count.to_le_bytes().into_iter().chain(units).collect()
}

fn binary_row(row: u32) -> Vec<u8> {
    record(0x00, &[&row.to_le_bytes(), &[0; 12]])
}

fn binary_cell(kind: u16, column: u32, value: &[u8]) -> Vec<u8> {
    record(kind, &[&column.to_le_bytes(), &[0; 4], value])
}

/// A binary workbook of sheets, each with the records of its cells and those behind them.
fn xlsb_of(sheets: &[(&str, [Vec<u8>; 2])]) -> Vec<u8> {
    const RELS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let (mut book, mut rels, mut files) = (record(0x83, &[]), String::new(), Vec::new());
    book.extend(record(0x8f, &[]));
    for (at, (name, [cells, behind])) in (1_u32..).zip(sheets) {
        let id = format!("rId{at}");
        book.extend(record(0x9c, &[&[0; 4], &at.to_le_bytes(), &wide(&id), &wide(name)]));
        write!(rels, r#"<Relationship Id="{id}" Target="worksheets/sheet{at}.bin"/>"#).unwrap();
        let begins = [record(0x81, &[]), record(0x94, &[&[0; 16]]), record(0x91, &[])].concat();
        let sheet = [&begins, cells, &record(0x92, &[]), behind, &record(0x82, &[])];
        files.push((format!("xl/worksheets/sheet{at}.bin"), sheet.map(Vec::as_slice).concat()));
    }
    book.extend([record(0x90, &[]), record(0x9d, &[&[0; 26]]), record(0x84, &[])].concat());
    // Of three styles the second hides zeros, and shows days; the third shows moments.
    let format = [&164_u16.to_le_bytes()[..], &wide(HIDES_ZEROS)].concat();
    let style = |format: u16| record(0x2f, &[&[0; 2], &format.to_le_bytes(), &[0; 12]]);
    let styles = [
        record(0x267, &[&1_u32.to_le_bytes()]),
        record(0x2c, &[&format]),
        record(0x269, &[&3_u32.to_le_bytes()]),
        style(0),
        style(164),
        style(22),
        record(0x26a, &[]),
    ];
    files.push(("xl/styles.bin".to_owned(), styles.concat()));
    files.push(("[Content_Types].xml".to_owned(), b"<Types/>".to_vec()));
    files.push(("xl/workbook.bin".to_owned(), book));
    let rels = format!(r#"<Relationships xmlns="{RELS}">{rels}</Relationships>"#);
    files.push(("xl/_rels/workbook.bin.rels".to_owned(), rels.into_bytes()));
    zip(&files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>())
}

#[test]
fn merged_cells_of_open_and_binary_workbooks_have_their_value_once() {
    const NAME: &str = "M\u{fc}ller & Co";
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &[Text("group"), Text("n"), Text("m")],
        &[Text("x"), Number(1.0), Number(7.0)],
        &[Text("under"), Number(2.0), Text("under")],
        &[Text("under"), Number(3.0), Number(8.0)],
        &[Text("y"), Number(4.0), Number(9.0)],
    ];
    // Another sheet's are none of this one's.
    let other = ("Other", rows, &[[0, 4, 0, 2]][..]);
    fixture.write("b.xlsb", xlsb(&[other, (NAME, rows, &[[1, 3, 0, 0], [2, 2, 1, 2]])]));
    let wanted = rows![["x", 1, 7], [(), 2, ()], [(), 3, 8], ["y", 4, 9]];
    let report = fixture.report(&[&format!("b.xlsb!{NAME}"), "t.db", "--table", "b"]);
    assert_eq!(fixture.table("t.db", "b"), wanted);
    let warning = "merged cells (A2:A4, B3:C3): the first has the value, the others are NULL";
    assert!(report["warnings"].to_string().contains(warning), "{}", report["warnings"]);
    let number = |number: u32, more: &str| {
        format!(r#"<table:table-cell {more} office:value-type="float" office:value="{number}"/>"#)
    };
    let span = |columns: u32, rows: u32| {
        format!(r#"table:number-columns-spanned="{columns}" table:number-rows-spanned="{rows}""#)
    };
    let text = |text: &str, more: &str| ods_text(text).replacen(' ', &format!(" {more} "), 1);
    let under = ods_text("under").replace("table-cell", "covered-table-cell");
    let row = |more: &str, cells: &[String]| {
        format!("<table:table-row {more}>{}</table:table-row>", cells.concat())
    };
    let whole = row("", &[text("x", &span(9, 9)), ods_text("under")]);
    let header = ["group", "n", "m"].map(ods_text);
    let rows = [
        format!("<table:table-header-rows>{}</table:table-header-rows>", row("", &header)),
        row("", &[text("x", &span(1, 3)), number(1, &span(1, 1)), number(7, "")]),
        row("", &[under.clone(), number(2, &span(2, 1)), under.clone()]),
        row("", &[under.clone(), number(3, ""), number(8, "")]),
        row("", &[text("y", ""), number(4, ""), number(9, "")]),
        // Rows that are alike are written once, and so are cells.
        row(
            r#"table:number-rows-repeated="2""#,
            &[number(5, r#"table:number-columns-repeated="2""#), text("z", &span(2, 1)), under],
        ),
    ];
    let rows = rows.concat();
    fixture.write(
        "o.ods",
        ods_of(&format!(
            r#"<table:table table:name="Other">{whole}</table:table><table:table table:name="{}">{rows}</table:table>"#,
            NAME.replace('&', "&amp;")
        )),
    );
    let report = fixture.report(&[&format!("o.ods!{NAME}"), "t.db", "--table", "o"]);
    let more = rows![["5", 5, "z"], ["5", 5, "z"]];
    let wanted = rows![["x", 1, "7"], [(), 2, ()], [(), 3, "8"], ["y", 4, "9"]];
    assert_eq!(fixture.table("t.db", "o"), [wanted, more].concat());
    let warning = "merged cells (A2:A4, B3:C3, C6:D6, ...)";
    assert!(report["warnings"].to_string().contains(warning), "{}", report["warnings"]);
}

#[test]
fn what_is_no_workbook_is_refused_by_name() {
    let word = zip(&[
        ("[Content_Types].xml", b"<Types/>".to_vec()),
        ("word/document.xml", b"<w/>".to_vec()),
    ]);
    let refused = |name: &str, bytes: &[u8], says: &[&str]| {
        let fixture = Fixture::new();
        fixture.write(name, bytes);
        fixture.refuses(&[name, "t.db"]).says(says);
    };
    refused("a.docx", &word, &["a.docx: it is a Word document, not a table"]);
    let compound = |stream: &str| {
        let name = stream.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            .iter()
            .copied()
            .chain([0; 504])
            .chain(name)
            .collect::<Vec<u8>>()
    };
    refused(
        "a.xlsx",
        &compound("EncryptedPackage"),
        &["a.xlsx: the workbook is encrypted", "without a password"],
    );
    refused(
        "a.doc",
        &compound("WordDocument"),
        &["a.doc: it is an old Office document, not a workbook"],
    );
    refused("a.xls", &compound("Nothing"), &["a.xls: cannot be read as a workbook"]);
    let whole = book(&[NAMES, ONE]);
    let says = ["a.xlsx: it unpacks to more than the 1.07 GB", "--max-expand SIZE"];
    refused("a.xlsx", &crate::archives::saying(&whole, 500_000_000), &says);
    let says = ["a.xlsx", "larger than its declared"];
    refused("a.xlsx", &crate::archives::saying(&whole, 10), &says);
    refused("a.xlsx", &whole[..whole.len() - 40], &["a.xlsx"]);
}

/// Whatever bytes change or are missing, the answer is a load or an error.
#[test]
fn a_damaged_workbook_is_an_error_at_worst() {
    let fixture = Fixture::new();
    let mut random = Random(5);
    let binary = xlsb(&[("Data", &[&[Text("a")], &[Number(1.0)]], &[[1, 2, 0, 0]])]);
    let whole = [book(&[NAMES, ONE]), include_bytes!("old.xls").to_vec(), ods(&[]), binary];
    for at in 0..size(60, 3_000) {
        let mut bytes = whole[at % whole.len()].clone();
        for _ in 0..1 + random.next() % 8 {
            let place = (random.next() % bytes.len() as u64) as usize;
            match random.next() % 20 {
                0 => bytes.truncate(place.max(8)),
                _ => bytes[place] = random.next() as u8,
            }
        }
        fixture.write("in.xls", &bytes);
        let run =
            fixture.load(&["in.xls", "csv:-", "--max-rejects", "all", "--rejects", "bad.csv"]);
        assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{at}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{at}: {run:?}");
    }
}

#[test]
fn what_a_workbook_says_of_its_size_takes_no_memory_out_of_proportion() {
    let fixture = Fixture::new();
    let shared = |texts: &str| {
        let parts = [Sheet { name: "Data", rows: vec![NAMES.to_vec(), ONE.to_vec()], merged: &[] }];
        xlsx_with(&parts, false, &[("xl/sharedStrings.xml", format!("<sst {texts}><si/></sst>"))])
    };
    fixture.write("in.xlsx", shared("uniqueCount=\"1000\""));
    fixture.load(&["in.xlsx", "t.db"]).exits(0);
    fixture.write("texts.xlsx", shared("uniqueCount=\"4000000000\""));
    // A formula's error without a name makes the formulas be read.
    let formula = |number: &str| {
        let failed = format!(
            "1</v></c><c r=\"B2\" t=\"e\"><f t=\"shared\" ref=\"B2:B3\" si=\"{number}\">1</f><v>#MINE!"
        );
        book(&[&[Text("id"), Text("v")], &[Formula(&failed)]])
    };
    fixture.write("one.xlsx", formula("1"));
    fixture.refuses(&["one.xlsx", "u.db"]).says(&["B2 is #MINE!"]);
    fixture.write("formulas.xlsx", formula("4000000000"));

    let far = book(&[&[Text("id"), Text("v")], &[Formula("1</v></c><c r=\"AAAAAA2\"><v>1")]]);
    fixture.write("far.xlsx", far);

    let blanks =
        |blanks: u32| ods(&[&ods_row(1, &ods_text(&format!("a<text:s text:c=\"{blanks}\"/>b")))]);
    fixture.write("in.ods", blanks(40_000));
    fixture.load(&["in.ods", "t.db", "--if-exists", "replace"]).exits(0);
    let longest = fixture.number("t.db", "SELECT max(length(name)) FROM \"in\"");
    assert_eq!(longest, 40_002);
    fixture.write("blanks.ods", blanks(2_147_483_647));
    let text = "x".repeat(70_000);
    let copies = format!(
        "<table:table-row><table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell></table:table-row>"
    );
    fixture.write("copies.ods", ods(&[&copies]));
    let wide = "<table:table-row><table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"float\" office:value=\"1\"/></table:table-row>";
    fixture.write("wide.ods", ods(&[&wide.repeat(6_200)]));

    let old = |at: usize, bytes: &[u8]| {
        let mut book = include_bytes!("old.xls").to_vec();
        book[at..at + bytes.len()].copy_from_slice(bytes);
        book
    };
    // The rows and columns that a sheet has, the column of a cell, and what follows the folder's sector.
    fixture.write("rows.xls", old(1_651, b"\xff\xff\xff\xff\0\0\xff\xff"));
    fixture.write("column.xls", old(2_063, b"\xff\xff"));
    fixture.write("circle.xls", old(4_644, b"\x09\0\0\0"));
    for (source, wanted) in [
        ("texts.xlsx", "it says that it has 4000000000 texts, and has no room for them"),
        ("formulas.xlsx", "it has a shared formula with the number 4000000000"),
        ("far.xlsx", "column 12356631 is beyond a sheet's last"),
        ("blanks.ods", "it unpacks to more than the 1.07 GB that is allowed unasked"),
        ("copies.ods", "it unpacks to more than the 1.07 GB that is allowed unasked"),
        ("wide.ods", "its sheets have more than 100000000 cells"),
        ("rows.xls", "a sheet says that it has 4294967295 rows of 65535 columns"),
        ("column.xls", "column 65536 is beyond a sheet's last"),
        ("circle.xls", "its parts follow one another in a circle"),
    ] {
        fixture.refuses(&[source, "new.db"]).says(&[source, wanted]);
    }
}

/// A formula's value, and the formula: how it shows an error, another formula's part, one that says nothing to any reader.
fn binary_formula(value: &[u8], formula: &[u8]) -> Vec<u8> {
    [value, &[0; 2], &(formula.len() as u32).to_le_bytes(), formula, &[0; 4]].concat()
}

#[test]
fn errors_of_binary_workbooks_are_bad_rows_whatever_their_formulas_are() {
    const SHARED: &[u8] = b"\x01\x01\0\0\0";
    const DIVIDED: &[u8] = b"\x1e\x01\0\x1e\0\0\x06";
    const UNKNOWN: &[u8] = b"\x2e\0";
    let fixture = Fixture::new();
    let number = |number: f64| number.to_le_bytes();
    let cells = [
        (0x06, wide("v")),
        (0x09, binary_formula(&number(5.0), UNKNOWN)),
        (0x0b, binary_formula(&[0x07], DIVIDED)),
        (0x0b, binary_formula(&[0x2a], SHARED)),
        (0x05, number(7.0).to_vec()),
        (0x03, vec![0x17]),
        // One that has no name yet.
        (0x03, vec![0x77]),
        (0x0b, binary_formula(&[0x78], DIVIDED)),
        (0x08, binary_formula(&wide("#SPILL!"), DIVIDED)),
    ];
    let rows = (0_u32..).zip(&cells).map(|(row, (kind, value))| {
        let id = match row {
            0 => binary_cell(0x06, 0, &wide("id")),
            row => binary_cell(0x05, 0, &f64::from(row).to_le_bytes()),
        };
        [binary_row(row), id, binary_cell(*kind, 1, value)].concat()
    });
    let rows = rows.collect::<Vec<_>>().concat();
    fixture.write("in.xlsb", xlsb_of(&[("Data", [rows, Vec::new()])]));
    fixture
        .refuses(&["in.xlsb", "t.db"])
        .says(&["in.xlsb: row 3, column v: B3 is #DIV/0!, an error and no value"]);
    fixture.load(&["in.xlsb", "t.db", "--max-rejects", "9"]).exits(3);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, 5], [4, 7]]);
    let notes = json_lines(&fixture.read("in.rejects.csv.jsonl"));
    let said: Vec<_> = notes.iter().map(|note| note["message"].as_str().unwrap()).collect();
    let wanted = [
        "B3 is #DIV/0!",
        "B4 is #N/A",
        "B6 is #REF!",
        "B7 is #ERROR 119",
        "B8 is #ERROR 120",
        "B9 is #SPILL!",
    ];
    assert_eq!(said.len(), wanted.len(), "{said:?}");
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.starts_with(&format!("{wanted}, an error and no value")), "{said}");
    }
}

#[test]
fn texts_of_several_fonts_and_far_cells_of_binary_workbooks_are_values() {
    let fixture = Fixture::new();
    let rich = |text: &str| [&[1][..], &wide(text), &1_u32.to_le_bytes(), &[0; 4]].concat();
    let header = |far| {
        [
            binary_row(0),
            binary_cell(0x06, 0, &wide("id")),
            binary_cell(0x3e, 1, &rich("name")),
            binary_cell(0x06, far, &wide("far")),
        ]
    };
    let one = [
        binary_row(1),
        binary_cell(0x05, 0, &1.0_f64.to_le_bytes()),
        binary_cell(0x3e, 1, &rich("two fonts")),
    ];
    let last = |row, far| {
        [
            binary_row(row),
            binary_cell(0x05, 0, &2.0_f64.to_le_bytes()),
            binary_cell(0x06, far, &wide("x")),
        ]
    };
    let book = |row, far| {
        let cells = [&header(far)[..], &one, &last(row, far)].concat().concat();
        xlsb_of(&[("Data", [cells, Vec::new()])])
    };
    // A table of all cells between would be of half a terabyte.
    fixture.write("in.xlsb", book((1 << 20) - 1, (1 << 14) - 1));
    fixture.report(&["in.xlsb", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "two fonts", ()], [2, (), "x"]]);
    for (row, far, says) in [
        (1 << 20, 2, "row 1048577 is beyond a sheet's last"),
        (2, 1 << 14, "column 16385 is beyond a sheet's last"),
        (0, 2, "row 1 comes behind row 2"),
    ] {
        fixture.write("out.xlsb", book(row, far));
        fixture.refuses(&["out.xlsb", "t.db"]).says(&["out.xlsb: the sheet can't be read", says]);
    }
    let short = [binary_row(0), binary_cell(0x06, 0, &wide("id")), record(0x11, &[&wide("name")])];
    fixture.write("short.xlsb", xlsb_of(&[("Data", [short.concat(), Vec::new()])]));
    fixture.refuses(&["short.xlsb", "t.db"]).says(&["its cells are in a short form"]);
}

#[test]
fn a_sheet_is_loaded_once_by_whatever_name() {
    let fixture = Fixture::new();
    let sheet = |name, value| {
        let rows = vec![vec![Text("id")], vec![Number(value)]];
        Sheet { name, rows, merged: &[] }
    };
    let bytes = xlsx(&[sheet("S", 1.0), sheet("T", 2.0)], false);
    fixture.write("b.xlsx", &bytes).write("in.zip", zip(&[("b.xlsx", bytes)]));
    fixture.write("list", "b.xlsx!S\nb.xlsx\nb.xlsx!T\n");
    for (sources, ids) in [
        (&["b.xlsx", "b.xlsx!S"][..], &[1][..]),
        (&["b.xlsx!s", "./b.xlsx!S", "b.xlsx"], &[1]),
        (&["@list", "b.xlsx!t"], &[1, 2]),
        (&["in.zip", "in.zip!b.xlsx!S", "in.zip!b.xlsx!T"], &[1, 2]),
        (&["b.xlsx!T", "b.xlsx"], &[2, 1]),
    ] {
        let load = ["t.db", "--table", "t", "--if-exists", "replace"];
        let report = fixture.report(&[sources, &load].concat());
        let wanted: Vec<_> = ids.iter().map(|id| rows![[*id]].remove(0)).collect();
        assert_eq!(fixture.table("t.db", "t"), wanted, "{sources:?}");
        let told = report["warnings"].to_string();
        let is_twice = sources != ["b.xlsx!T", "b.xlsx"];
        assert_eq!(told.contains("is the same sheet as "), is_twice, "{sources:?}: {told}");
    }
}

#[test]
fn a_first_row_with_a_placeholder_is_a_row() {
    let fixture = Fixture::new();
    for null in ["(null)", "NULL", "?"] {
        fixture.write(
            "in.xlsx",
            book(&[
                &[Text("Ann"), Text(null)],
                &[Text("Bob"), Number(5.0)],
                &[Text("Cid"), Number(6.0)],
            ]),
        );
        let said = ["there is no header: a field of the first row is a spelling of NULL"];
        let load = ["in.xlsx", "t.db", "--table", "t", "--if-exists", "replace"];
        fixture.load(&load).exits(0).prints(&said);
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 3);
    }
    // A number that the sheet says is text is a name.
    let years: &[&[Cell<'_>]] = &[&[Text("2019"), Text("2020")], &[Number(5.0), Number(6.0)]];
    fixture.write("years.xlsx", book(years));
    let report = fixture.report(&["years.xlsx", "t.db"]);
    assert_eq!(report["warnings"], serde_json::json!([]));
    assert_eq!(fixture.table("t.db", "years"), rows![[5, 6]]);
}

#[test]
fn a_title_above_the_header_is_pointed_out() {
    let fixture = Fixture::new();
    let title: &[&[Cell<'_>]] = &[&[Text("Sales of 2024")], &[], NAMES, ONE];
    fixture.write("title.xlsx", book(title)).write("plain.xlsx", book(&[NAMES, ONE]));
    let told = |args: &[&str]| fixture.report(args)["warnings"].to_string();
    let note = "if it is a title, --skip-lines 2 leaves it out";
    assert!(told(&["title.xlsx", "t.db"]).contains(note));
    for args in [
        &["title.xlsx", "t.db", "--table", "u", "--skip-lines", "2"][..],
        &["plain.xlsx", "t.db"],
        &["title.xlsx", "t.db", "--table", "v", "--header", "yes"],
    ] {
        assert!(!told(args).contains("title, --skip-lines"), "{args:?}");
    }
}

#[test]
fn the_name_of_another_sheet_is_a_word_of_the_shell() {
    let fixture = Fixture::new();
    let sheet = |name| Sheet { name, rows: vec![NAMES.to_vec(), ONE.to_vec()], merged: &[] };
    fixture.write("b.xlsx", xlsx(&[sheet("Data"), sheet("Q1's")], false));
    let report = fixture.report(&["b.xlsx", "t.db"]);
    let warnings = report["warnings"].as_array().unwrap();
    let note = r"(inrush load 'b.xlsx!Q1'\''s' ...)";
    assert!(warnings.iter().any(|one| one.as_str().unwrap().ends_with(note)), "{warnings:?}");
}

#[test]
fn a_sheet_without_names_does_not_add_columns_to_one_that_has_them() {
    let fixture = Fixture::new();
    fixture.write("a.xlsx", book(&[NAMES, ONE])).write("b.xlsx", book(&[ONE, ONE]));
    let anyhow = ["--table", "t", "--missing-columns", "null", "--new-columns", "add"];
    for load in [["a.xlsx", "b.xlsx", "t.db"], ["b.xlsx", "a.xlsx", "t.db"]] {
        let refused = fixture.refuses(&[&load[..], &anyhow].concat());
        refused.says(&[load[1], "none of the first input's columns"]);
    }
}

#[test]
fn a_day_that_a_format_with_conditions_shows_is_a_date() {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let fixture = Fixture::new();
    let rows = vec![vec![Text("id"), Text("day")], vec![Number(1.0), Day(45_292.0)]];
    let bytes = xlsx(&[Sheet { name: "Data", rows, merged: &[] }], false);
    let mut book = ::zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let names: Vec<String> =
        (0..book.len()).map(|at| book.by_index(at).unwrap().name().unwrap().to_string()).collect();
    let code = HIDES_ZEROS.replace('"', "&quot;");
    let styles = format!(
        r#"<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>"#
    );
    let files: Vec<(&str, Vec<u8>)> = names
        .iter()
        .map(|name| {
            let mut bytes = Vec::new();
            std::io::copy(&mut book.by_name(name).unwrap(), &mut bytes).unwrap();
            (
                name.as_str(),
                if name == "xl/styles.xml" { styles.clone().into_bytes() } else { bytes },
            )
        })
        .collect();
    fixture.write("in.xlsx", zip(&files));
    fixture.report(&["in.xlsx", "t.db"]);
    assert_eq!(fixture.columns("t.db", "in")[1].1, "DATE");
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "2024-01-01"]]);
    let styled = |kind, value: &[u8]| record(kind, &[&1_u32.to_le_bytes(), &[1, 0, 0, 0], value]);
    let row =
        |row, day| [binary_row(row), binary_cell(0x05, 0, &f64::from(row).to_le_bytes()), day];
    let day = 45_292_f64.to_le_bytes();
    let rows = [
        [binary_row(0), binary_cell(0x06, 0, &wide("id")), binary_cell(0x06, 1, &wide("day"))],
        row(1, styled(0x05, &day)),
        // Packed: whole, in hundredths, as the first half of a double.
        row(2, styled(0x02, &(45_292_u32 << 2 | 2).to_le_bytes())),
        row(3, styled(0x02, &(4_529_200_u32 << 2 | 3).to_le_bytes())),
        row(4, styled(0x02, &day[4..])),
        row(5, styled(0x09, &binary_formula(&day, b""))),
    ];
    fixture.write("in.xlsb", xlsb_of(&[("Data", [rows.concat().concat(), Vec::new()])]));
    fixture.report(&["in.xlsb", "t.db", "--table", "binary"]);
    assert_eq!(fixture.columns("t.db", "binary")[1].1, "DATE");
    let days = fixture.query("t.db", "SELECT DISTINCT day FROM binary");
    assert_eq!(days, rows![["2024-01-01"]]);
}

/// Bad rows of a sheet go back as what their cells were, whatever the options say of texts.
#[test]
fn bad_rows_of_a_sheet_go_back_with_the_same_options() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &["id", "v", "amt", "w", "flag", "day", "born", "q"].map(Text),
        &[
            Number(1.0),
            Number(2.5),
            Text("5,5"),
            Number(2.5),
            Truth(true),
            Empty,
            Day(45_292.0),
            Number(1.0),
        ],
        &[
            Number(2.0),
            Number(1.234),
            Text("1.000,25"),
            Number(1.234),
            Text("nein"),
            Day(45_292.0),
            Day(45_293.0),
            Error("#DIV/0!"),
        ],
        &[
            Number(3.0),
            Text("7,25"),
            Number(3.125),
            Empty,
            Truth(false),
            Text("31.12.2024"),
            Empty,
            Error("#DIV/0!"),
        ],
        &[Number(4.0), Text("1.000"), Empty, Empty, Empty, Empty, Empty, Empty],
    ];
    fixture.write("in.xlsx", book(rows));
    let numbers = ["--decimal", ",", "--thousands", ".", "--true", "ja", "--false", "nein"];
    let options = [&numbers[..], &["--date-format", "%d.%m.%Y"]].concat();
    fixture.load(&[&["in.xlsx", "t.db", "--max-rejects", "all"], &options[..]].concat()).exits(3);
    let rejects = String::from_utf8(fixture.read("in.rejects.csv")).unwrap();
    assert_eq!(
        rejects,
        concat!(
            "id,v,amt,w,flag,day,born,q\n",
            "2,\"1,234\",\"1.000,25\",\"1,234\",nein,01.01.2024,02.01.2024,#DIV/0!\n",
            "3,\"7,25\",\"3,125\",,false,31.12.2024,,#DIV/0!\n",
        )
    );
    fixture.write("in.rejects.csv", rejects.replace("#DIV/0!", "2"));
    let again = ["in.rejects.csv", "t.db", "--if-exists", "append"];
    fixture.load(&[&again[..], &options].concat()).exits(0);
    assert_eq!(
        fixture.table("t.db", "in"),
        rows![
            [1, 2.5, 5.5, 2.5, 1, (), "2024-01-01", 1],
            [4, 1000.0, (), (), (), (), (), ()],
            [2, 1.234, 1000.25, 1.234, 0, "2024-01-01", "2024-01-02", 2],
            [3, 7.25, 3.125, (), 0, "2024-12-31", (), 2],
        ]
    );
}

/// What a stream is of has to be known before it begins.
#[cfg(feature = "files")]
#[test]
fn texts_of_a_sheet_that_is_looked_at_twice_stay_texts() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &["id", "day", "code"].map(Text),
        &[Number(1.0), Text("31.12.2024"), Text("12")],
        &[Number(2.0), Text("01.01.2025"), Text("13")],
    ];
    fixture.write("in.xlsx", book(rows));
    let run = fixture.load(&["in.xlsx", "jsonl:-", "--date-format", "%d.%m.%Y"]).exits(0);
    assert_eq!(
        run.stdout,
        "{\"id\":1,\"day\":\"2024-12-31\",\"code\":\"12\"}\n\
         {\"id\":2,\"day\":\"2025-01-01\",\"code\":\"13\"}\n"
    );
}

/// Numbers of a column that options name are read as their texts would be, or are bad rows.
#[test]
fn an_option_for_one_column_says_what_its_numbers_are() {
    let fixture = Fixture::new();
    let rows: &[&[Cell<'_>]] = &[
        &["id", "day", "ok"].map(Text),
        &[Number(1.0), Number(20_240_131.0), Number(1.0)],
        &[Number(2.0), Number(20_240_229.0), Number(0.0)],
        &[Number(3.0), Number(20_240_231.0), Number(1.0)],
        &[Number(4.0), Number(20_240_301.0), Number(2.0)],
    ];
    let lines: String = [(20_240_131, 1), (20_240_229, 0), (20_240_231, 1), (20_240_301, 2)]
        .iter()
        .zip(1..)
        .map(|((day, ok), id)| format!("{{\"id\":{id},\"day\":{day},\"ok\":{ok}}}\n"))
        .collect();
    fixture.write("in.xlsx", book(rows)).write("in.jsonl", &lines);
    let options =
        ["--date-format", "day=%Y%m%d", "--true", "ok=1", "--false", "ok=0", "--max-rejects", "2"];
    for source in ["in.xlsx", "in.jsonl"] {
        let run =
            fixture.load(&[&[source, "t.db", "--if-exists", "replace"], &options[..]].concat());
        run.exits(3);
        let wanted = rows![[1, "2024-01-31", 1], [2, "2024-02-29", 0]];
        assert_eq!(fixture.table("t.db", "in"), wanted, "{source}");
    }
    assert_eq!(json_lines(&fixture.read("in.rejects.jsonl")), json_lines(lines.as_bytes())[2..]);
}

#[test]
fn cells_beyond_the_last_of_an_open_workbook_are_refused_and_not_left_out() {
    let fixture = Fixture::new();
    let cell = |cell: &str, many: u32| {
        let many = format!(r#" table:number-columns-repeated="{many}" "#);
        cell.replacen(' ', &many, 1).replacen(
            "<table:table-cell/>",
            &format!("<table:table-cell{many}/>"),
            1,
        )
    };
    let row = |cells: &str, many: u32| {
        format!(r#"<table:table-row table:number-rows-repeated="{many}">{cells}</table:table-row>"#)
    };
    let table = |rows: &[String]| {
        ods_of(&format!(r#"<table:table table:name="Data">{}</table:table>"#, rows.concat()))
    };
    let (id, one, empty) = (ods_text("id"), ods_text("x"), "<table:table-cell/>");
    let filled =
        [row(&id, 1), row(&(one.clone() + &cell(empty, 20_000)), 1), row(empty, 2_000_000)];
    fixture.write("in.ods", table(&filled));
    fixture.report(&["in.ods", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![["x"]]);
    for rows in [
        [row(&id, 1), row(&cell(&one, 16_385), 1)],
        [row(&id, 1), row(&(cell(empty, 16_384) + &one), 1)],
        [row(&id, 1), row(&one, 1 << 20)],
    ] {
        fixture.write("out.ods", table(&rows));
        let says = ["out.ods: the sheet can't be read", "beyond row 1048576 or column 16384"];
        fixture.refuses(&["out.ods", "new.db"]).says(&says);
    }
}

/// As in text and JSON, whether any amount among the cells is a text or not.
#[cfg(all(feature = "files", feature = "parquet"))]
#[test]
fn amounts_of_a_sheet_are_decimals() {
    let fixture = Fixture::new();
    let header: &[Cell<'_>] = &[Text("id"), Text("cost")];
    let first: &[Cell<'_>] = &[Number(1.0), Number(1.25)];
    for second in [Number(12.5), Text("$12.50")] {
        fixture.write("in.xlsx", book(&[header, first, &[Number(2.0), second]]));
        let args = ["plan", "in.xlsx", "parquet:out", "--type", "cost=money", "--json"];
        let plan = fixture.inrush(&args).exits(0).json();
        assert_eq!(plan["columns"][1]["type"], "decimal(4,2)", "{plan}");
    }
}

#[test]
fn a_first_row_written_as_the_others_is_a_row() {
    let fixture = Fixture::new();
    let rows: [&[Cell<'_>]; 2] = [&[Text("12:30"), Text("Bob")], &[Text("13:40"), Text("Ann")]];
    fixture.write("in.xlsx", book(&rows));
    fixture.load(&["in.xlsx", "t.db"]).exits(0).prints(&["there is no header", "--header yes"]);
    assert_eq!(fixture.table("t.db", "in"), rows![["12:30", "Bob"], ["13:40", "Ann"]]);
}
