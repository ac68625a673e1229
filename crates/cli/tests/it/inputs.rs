//! Several files, patterns, pipes: whatever is named goes into one table.

use std::fs;
use std::io::Write as _;

use serde_json::json;

use crate::fixture::{Fixture, finish, rows, start};

#[test]
fn several_files_go_into_one_table() {
    let fixture = Fixture::new();
    fixture
        .write("b.csv", "id,name\n3,c\n4,d\n")
        .write("a.csv", "name,id\na,1\nb,2\n")
        .write("c.tsv", "Id,Name\n9,z\n");
    // In the order they are named; each has its own header.
    let report = fixture.report(&["b.csv", "a.csv", "t.db"]);
    assert_eq!(report["plan"]["source"], json!(["b.csv", "a.csv"]));
    assert_eq!(fixture.table("t.db", "b"), rows![[3, "c"], [4, "d"], [1, "a"], [2, "b"]]);
    // A pattern's files in the order of their names.
    fixture.load(&["*.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["a", 1], ["b", 2], ["c", 3], ["d", 4]]);
}

#[test]
fn more_files_than_there_are_slots_are_loaded_to_the_last() {
    let fixture = Fixture::new();
    for file in 0..50 {
        fixture.write(&format!("f{file:02}.csv"), format!("id\n{file}\n"));
    }
    let report = fixture.report(&["f*.csv", "t.db", "--table", "t"]);
    assert_eq!(report["rows_loaded"], 50);
}

/// Files below `in`, with a link that leads back.
fn tree() -> Fixture {
    let fixture = Fixture::new();
    for folder in ["in/deep/er", "in/.git"] {
        fs::create_dir_all(fixture.path(folder)).unwrap();
    }
    fixture
        .write("in/b.csv", "id\n2\n")
        .write("in/a.tsv", "id\n1\n")
        .write("in/plain", "id\n3\n")
        .write("in/README.md", "no table\n")
        .write("in/.hidden.csv", "id\n100\n")
        .write("in/.git/c.csv", "id\n100\n")
        .write("in/deep/d.csv", "id\n4\n")
        .write("in/deep/er/e.csv", "id\n5\n");
    std::os::unix::fs::symlink("../..", fixture.path("in/deep/up")).unwrap();
    fixture
}

#[test]
fn a_folder_is_its_files_and_names_the_table() {
    let fixture = tree();
    let ids = |report: serde_json::Value| {
        let table = report["plan"]["table"].as_str().unwrap().to_owned();
        let ids = fixture.query("t.db", &format!("SELECT id FROM \"{table}\" ORDER BY rowid"));
        fs::remove_file(fixture.path("t.db")).unwrap();
        (table, ids)
    };
    let report = fixture.report(&["in", "t.db"]);
    assert!(
        report["warnings"]
            .to_string()
            .contains("left out, for the names tell no format: in/README.md")
    );
    assert_eq!(ids(report), ("in".to_owned(), rows![[1], [2], [3]]));
    let report = fixture.report(&["in/**", "t.db"]);
    assert_eq!(ids(report), ("in".to_owned(), rows![[1], [2], [4], [5], [3]]));
    // A link that leads back is no reason to go on for ever.
    let report = fixture.report(&["in/**/*.csv", "t.db", "--table", "t"]);
    assert_eq!(ids(report).1, rows![[2], [4], [5]]);
    let report = fixture.report(&["**/e.csv", "t.db"]);
    assert_eq!(ids(report), ("e".to_owned(), rows![[5]]));
}

#[test]
fn a_list_and_a_url_name_files() {
    let fixture = tree();
    fixture.write("in/list.txt", "\u{feff}# a comment\n\nb.csv\ndeep/*.csv\n  a.tsv  \n");
    fixture.report(&["@in/list.txt", "t.db", "--table", "t"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[2], [4], [1]]);
    fixture.write("in/a b.csv", "id\n7\n");
    let url = format!("file://{}", fixture.path("in/a%20b.csv").display());
    fixture.report(&[&url, "t.db", "--table", "u"]);
    assert_eq!(fixture.table("t.db", "u"), rows![[7]]);
    // A file of such a name is that file.
    fixture.write("@x.csv", "id\n8\n");
    fixture.report(&["@x.csv", "t.db", "--table", "x"]);
    assert_eq!(fixture.table("t.db", "x"), rows![[8]]);
}

#[test]
fn several_files_without_headers_and_one_that_is_empty() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "1,a\n2,b").write("2.csv", "").write("3.csv", "3,c\n");
    fixture.load(&["?.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
}

#[test]
fn values_in_the_names_of_folders_are_told() {
    let fixture = Fixture::new();
    for year in [2023, 2024] {
        std::fs::create_dir_all(fixture.path(&format!("in/year={year}"))).unwrap();
        fixture.write(&format!("in/year={year}/a.csv"), format!("id\n{year}\n"));
    }
    let warnings = |args: &[&str]| fixture.report(args)["warnings"].to_string();
    let told = warnings(&["in/**", "t.db"]);
    assert!(told.contains("column year") && told.contains("--add path=%path"), "{told}");
    let said = ["in/**", "t.db", "--table", "u", "--add", "path=%path"];
    assert!(!warnings(&said).contains("folders"));
}

#[test]
fn an_empty_file_may_be_the_first() {
    let fixture = Fixture::new();
    fixture.write("0.csv", "").write("1.csv", "\n").write("2.csv", "id;name\n1;a\n");
    fixture.load(&["?.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"]]);
    fixture.refuses(&["0.csv", "1.csv", "t.db", "--table", "u"]).says(&["0.csv is empty"]);
}

#[test]
fn a_file_that_has_no_column_of_the_first_is_refused_whatever_is_allowed() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "id,n\n1,x\n").write("2.csv", "2,y\n3,z\n");
    let anyhow = ["--missing-columns", "null", "--new-columns", "ignore"];
    let load = ["1.csv", "2.csv", "t.db", "--table", "t"];
    fixture.refuses(&[&load[..], &anyhow].concat()).says(&["2.csv", "2, y", "cat"]);
}

#[test]
fn files_of_different_columns_are_refused() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("b.csv", "id,size\n2,b\n");
    fixture.refuses(&["a.csv", "b.csv", "t.db"]).says(&[
        "b.csv has other columns",
        "missing: name",
        "more: size",
    ]);
}

#[test]
fn files_of_another_delimiter_are_told_apart_from_those_of_other_columns() {
    let fixture = Fixture::new();
    fixture
        .write("a.csv", "a;b\n1;2\n")
        .write("b.csv", "a,b\n3,4\n")
        .write("c.tsv", "a\tb\n5\t6\n");
    let anyhow = ["--missing-columns", "null", "--new-columns", "add"];
    for (other, shown) in [("b.csv", "[,]"), ("c.tsv", "[\\t]")] {
        let load = ["a.csv", other, "t.db", "--table", "t"];
        for load in [&load[..], &[&load[..], &anyhow].concat()] {
            fixture.refuses(load).says(&[other, shown, "[;]", "one by one"]);
        }
    }
}

#[test]
fn a_bad_row_in_the_second_file_undoes_the_first() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("b.csv", "name,id\nb,2\nc\nd,4\n");
    fixture.refuses(&["a.csv", "b.csv", "t.db"]).says(&["b.csv: line 3"]);
}

#[test]
fn files_may_be_compressed_and_encoded_each_in_its_own_way() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        "\u{feff}id,name\n2,Zo\u{eb}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture
        .write("a.csv", "id,name\n1,Zo\u{eb}\n")
        .write("b.csv", utf16)
        .write("c.csv", "id,name\n3,Zo\u{eb}\n");
    fixture.tool("gzip", &["c.csv"], b"");
    fixture.load(&["a.csv", "b.csv", "c.csv.gz", "t.db", "--table", "t"]).exits(0);
    let rows = rows![[1, "Zo\u{eb}"], [2, "Zo\u{eb}"], [3, "Zo\u{eb}"]];
    assert_eq!(fixture.table("t.db", "t"), rows);
}

#[test]
fn standard_input_plain_and_compressed() {
    let fixture = Fixture::new();
    let text: String = (0..100_000).map(|n| format!("{n},name {n}\n")).collect();
    let text = format!("id,name\n{text}");
    let packed = fixture.tool("gzip", &["-c"], text.as_bytes());
    for (bytes, table) in [(text.as_bytes(), "plain"), (&packed, "packed")] {
        fixture.load_reading(bytes, &["-", "t.db", "--table", table]).exits(0);
        let sum = format!("SELECT sum(id) FROM {table} WHERE name = 'name ' || id");
        assert_eq!(fixture.number("t.db", &sum), 99_999 * 100_000 / 2);
    }
    fixture.load_reading(b"id\n1\n", &["-", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "stdin"), rows![[1]]);
    fixture.misused(&["load", "-", "-", "t.db"]).says(&["only once"]);
}

#[test]
fn standard_input_together_with_files() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("c.csv", "id,name\n3,c\n");
    fixture
        .load_reading(b"name,id\nb,2\n", &["a.csv", "-", "c.csv", "t.db", "--table", "t"])
        .exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
}

#[test]
fn a_slow_pipe_is_waited_for() {
    let fixture = Fixture::new();
    let mut child = start(&mut fixture.command(&["load", "-", "t.db"]));
    let mut input = child.stdin.take().unwrap();
    for part in ["id,na", "me\n1", ",a\n2,b", "\n"] {
        input.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(fixture.table("t.db", "stdin"), rows![[1, "a"], [2, "b"]]);
}

#[test]
fn a_named_pipe_is_read_like_a_file() {
    let fixture = Fixture::new();
    fixture.tool("mkfifo", &["in.csv"], b"");
    let child = start(&mut fixture.command(&["load", "in.csv", "t.db"]));
    std::fs::write(fixture.path("in.csv"), "id,name\n1,a\n").unwrap();
    assert!(finish(child, b"").0.success());
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"]]);
}
