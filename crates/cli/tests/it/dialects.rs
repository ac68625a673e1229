//! How a file is written: separators, quotes, headers, NULL, encodings, line ends, compression. Found by looking, or as told.

use rusqlite::types::Value;

use crate::archives::zip;
use crate::fixture::{Fixture, Random, rows, size};

/// Loads a file of this content and returns the table.
#[track_caller]
fn loaded(text: impl AsRef<[u8]>, options: &[&str]) -> Vec<Vec<Value>> {
    let fixture = Fixture::new();
    fixture.write("in.csv", text);
    fixture.load(&[&["in.csv", "t.db", "--table", "t"], options].concat()).exits(0);
    fixture.table("t.db", "t")
}

/// The names of the table's columns.
#[track_caller]
fn header(text: &str, options: &[&str]) -> Vec<String> {
    let fixture = Fixture::new();
    fixture.write("in.csv", text);
    fixture.load(&[&["in.csv", "t.db", "--table", "t"], options].concat()).exits(0);
    fixture.columns("t.db", "t").into_iter().map(|(name, _)| name).collect()
}

#[test]
fn the_delimiter_is_found_by_looking() {
    for delimiter in [",", "\t", ";", "|"] {
        let text = "id,name,size\n1,a b,1.5\n2,c d,2.5\n".replace(',', delimiter);
        assert_eq!(loaded(text, &[]), rows![[1, "a b", 1.5], [2, "c d", 2.5]], "{delimiter:?}");
    }
    // Commas that are data: in quotes, and as decimal commas.
    assert_eq!(loaded("id;price\n1;2,5\n2;3,5\n", &[]), rows![[1, "2,5"], [2, "3,5"]]);
    let quoted = "id;text\n1;\"a,b,c\"\n2;\"d,e,f\"\n";
    assert_eq!(loaded(quoted, &[]), rows![[1, "a,b,c"], [2, "d,e,f"]]);
    assert_eq!(loaded("word\none\ntwo\n", &[]), rows![["one"], ["two"]]);
}

#[test]
fn the_delimiter_can_be_given() {
    for (name, character) in [
        ("tab", "\t"),
        ("\t", "\t"),
        (",", ","),
        ("comma", ","),
        ("semicolon", ";"),
        ("pipe", "|"),
        ("space", " "),
        ("^", "^"),
        ("\u{1f}", "\u{1f}"),
    ] {
        let text = "id,name\n1,a.b.c\n".replace(',', character);
        assert_eq!(loaded(text, &["--delimiter", name]), rows![[1, "a.b.c"]], "{name}");
    }
    // Even against the evidence.
    assert_eq!(loaded("a,b;c\n1,2;3\n", &["--delimiter", ";"]), rows![["1,2", 3]]);
    assert_eq!(loaded("a,b\tc\n1,2\t3\n", &["--format", "tsv"]), rows![["1,2", 3]]);
}

#[test]
fn quotes_can_be_single_or_none() {
    let single = "id,name\n1,'a, b'\n2,'it''s'\n";
    let rows = rows![[1, "a, b"], [2, "it's"]];
    assert_eq!(loaded(single, &[]), rows);
    assert_eq!(loaded(single, &["--quote", "'"]), rows);
    // Where most quotes would be broken they are plain characters.
    let names: String = (1..30).map(|id| format!("{id}\t\"Bob\" {id}\n")).collect();
    let none = format!("id\tname\n{names}30\t\"Al\n");
    for options in [&[][..], &["--quote", "none"]] {
        let rows = loaded(&none, options);
        assert_eq!(rows[0], rows![[1, "\"Bob\" 1"]][0]);
        assert_eq!(rows[29], rows![[30, "\"Al"]][0]);
    }
    // An apostrophe at the start of some words makes no quotes.
    let words = "id,name\n1,'tis\n2,O'Neil\n3,x\n";
    assert_eq!(loaded(words, &[]), rows![[1, "'tis"], [2, "O'Neil"], [3, "x"]]);
}

#[test]
fn a_quoted_field_may_hold_anything() {
    let text =
        "id,text\n1,\"a,b\"\n2,\"a\"\"b\"\n3,\"a\nb\"\n4,\"a\r\nb\"\n5,\"\"\"\"\n6,\"a\n\n\nb\"\n";
    let rows =
        rows![[1, "a,b"], [2, "a\"b"], [3, "a\nb"], [4, "a\r\nb"], [5, "\""], [6, "a\n\n\nb"]];
    assert_eq!(loaded(text, &[]), rows);
}

#[test]
fn a_backslash_can_escape() {
    let text = "id,text\n1,\"say \\\"hi\\\", you\"\n2,\"a\\\\b\"\n3,\"x\"\n";
    let rows = rows![[1, "say \"hi\", you"], [2, "a\\b"], [3, "x"]];
    assert_eq!(loaded(text, &[]), rows);
    assert_eq!(loaded(text, &["--escape", "\\"]), rows);
    let bare = "id,text\n1,a\\,b\n2,c\\\nd\n";
    let rows = rows![[1, "a,b"], [2, "c\nd"]];
    assert_eq!(loaded(bare, &["--escape", "\\", "--quote", "none"]), rows);
    // By itself a backslash is a character like others.
    let paths = "id,text\n1,C:\\new\n2,\\\n3,\"\\\"\n";
    let rows = rows![[1, "C:\\new"], [2, "\\"], [3, "\\"]];
    assert_eq!(loaded(paths, &["--escape", "none"]), rows);
}

/// A file whose second MiB disproves what its first one says, or another file, is not read as the first one is.
#[test]
fn a_guessed_escape_loses_no_backslash() {
    let fixture = Fixture::new();
    let escapes = "id,text\n1,\"say \\\"hi\\\"\"\n";
    let paths = "id,text\n2,C:\\new\\table\n3,x\n4,\\\\srv\\share\n";
    fixture.write("a.csv", escapes).write("b.csv", paths);
    let rows = "n,\"he said \\\"hi\\\" there\",and more of it\n".repeat(40_000);
    fixture.write("late.csv", format!("id,text,more\n{rows}5,x,C:\\new\n"));
    fixture.refuses(&["a.csv", "b.csv", "t.db", "--table", "t"]).says(&[
        "b.csv: line 2",
        "a backslash that escapes nothing: '\\new\\table'",
        "--escape none",
        "--escape '\\'",
    ]);
    fixture.refuses(&["late.csv", "t.db"]).says(&["late.csv: line 40002", "'\\new'"]);
    let options = ["t.db", "--table", "t", "--max-rejects", "2"];
    fixture.load(&[&["a.csv", "b.csv"], &options[..]].concat()).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "say \"hi\""], [3, "x"]]);
    assert_eq!(fixture.read("b.rejects.csv"), paths.replace("3,x\n", "").as_bytes());
    // What the user says is no guess, and what is lost is said.
    let told = ["a.csv", "b.csv", "u.db", "--table", "t", "--escape", "\\"];
    fixture.load(&told).exits(0).prints(&["\\n is read as n"]);
    // What many write for NULL is said as well, unless it is read so.
    fixture.write("n.csv", "id,text\n1,\\N\n");
    let null = ["n.csv", "n.db", "--escape", "\\", "--if-exists", "replace"];
    fixture.load(&null).exits(0).prints(&["\\N is read as N", "--null '\\N'"]);
    let run = fixture.load(&[&null[..], &["--null", "\\N"]].concat()).exits(0);
    assert!(!run.stdout.contains("is read as N"), "{run:?}");
    // Where the guess is not made, the way to make it is named.
    fixture.write("both.csv", "id,text\n1,\"say \\\"hi\\\"\"\n2,\"C:\\new\"\n");
    fixture.refuses(&["both.csv", "w.db"]).says(&["line 2", "--escape '\\'"]);
}

#[test]
fn a_header_is_told_from_data() {
    assert_eq!(header("id,name\n1,a\n", &[]), ["id", "name"]);
    assert_eq!(header("1,a\n2,b\n", &[]), ["column_1", "column_2"]);
    assert_eq!(header("name,town\na,b\n", &[]), ["name", "town"]);
    assert_eq!(header("2013-01-01,a\n2013-01-02,b\n", &[]), ["column_1", "column_2"]);
    let fixture = Fixture::new();
    for (text, said) in [
        (
            "14:35:00,14:40\n11:30:00,12:00\n",
            "there is no header: the first line has no word in it",
        ),
        (
            "id,100022,100025\nid1,TRUE,FALSE\nid2,FALSE,TRUE\n",
            "taken as the header: its numbers or dates stand above values of another kind",
        ),
        ("id,100022\nid1,x\nid2,y\n", "no header: the first line has numbers or dates itself"),
        (
            "retries,3\nverbose,true\ncolor,false\n",
            "no header: the first line has numbers or dates",
        ),
    ] {
        fixture.write("in.csv", text);
        fixture.load(&["in.csv", "t.db", "--if-exists", "replace"]).exits(0).prints(&[said]);
    }
}

/// Percentages, grouped numbers and decimal commas are text only because of how they are written.
#[test]
fn a_header_without_words_is_told_from_numbers_that_are_text() {
    for text in [
        ",0-4,5-9\nFrance,12%,13%\nSpain,5%,6%\n",
        ",2019/20,2020/21\nFrance,\"1,234\",\"2,345\"\nSpain,\"1,111\",\"2,222\"\n",
    ] {
        assert_eq!(loaded(text, &[]).len(), 2, "{text}");
    }
    assert_eq!(header("2019/20;2020/21\n1,5;2,5\n3,5;4,5\n", &[]), ["2019/20", "2020/21"]);
    for text in ["5%,6%\n7%,8%\n", "\"1,234\",5%\n\"2,345\",6%\n", "1,5;2,5\n3,5;4,5\n"] {
        assert_eq!(header(text, &[]), ["column_1", "column_2"], "{text}");
    }
}

#[test]
fn a_first_row_written_as_the_others_is_a_row() {
    for (first, second) in [
        ("12:30,Bob", "13:40,Ann"),
        ("1/2/2024 12:30,Bob", "13/2/2024 08:15,Ann"),
        ("2024-01-05 12:00 PM,Bob", "2024-01-06 01:30 AM,Ann"),
        ("$5,Bob", "$7,Ann"),
        ("5%,Bob", "6.5%,Ann"),
        ("7d444840-9dc0-11d1-b245-5ffdce74fad2,Bob", "7d444840-9dc0-11d1-b245-5ffdce74fad3,Ann"),
        ("fe80::1,Bob", "fe80::22,Ann"),
        ("bob@example.org,Bob", "ann@example.org,Ann"),
    ] {
        let fixture = Fixture::new();
        fixture.write("in.csv", format!("{first}\n{second}\n"));
        let says = ["there is no header", "written as the others are", "--header yes"];
        fixture.load(&["in.csv", "t.db"]).exits(0).prints(&says);
        assert_eq!(fixture.table("t.db", "in").len(), 2, "{first}");
    }
    // Above other values it may be a name.
    assert_eq!(header("train,12:30,13:30\nR1,5,6\nR2,7,8\n", &[]), ["train", "12:30", "13:30"]);
    assert_eq!(header("group,5%,95%\na,1.5,9\nb,2.5,9\n", &[]), ["group", "5%", "95%"]);
}

#[test]
fn a_spelling_of_null_is_no_name() {
    let text = "Ada,NULL\nBob,3\nCy,5\n";
    assert_eq!(loaded(text, &["--null", "NULL"]), rows![["Ada", ()], ["Bob", 3], ["Cy", 5]]);
    let of_one = loaded(text, &["--null", "column_2=NULL"]);
    assert_eq!(of_one[0], rows![["Ada", ()]][0]);
    // In quotes it is a text.
    assert_eq!(loaded(text.replace("NULL", "\"NULL\""), &["--null", "NULL"]).len(), 2);
    // A header may have one, as of countries.
    let countries = "country,NA,EU\nx,1,2\n";
    assert_eq!(header(countries, &["--null", "NA"]), ["country", "NA", "EU"]);
}

/// Where nothing but it says what the line is.
#[test]
fn a_first_row_with_a_placeholder_is_a_row() {
    for null in
        ["NULL", "(null)", "<null>", "#N/A", "NA", "n/a", "None", "nan", "\\N", "-", "--", ".", "?"]
    {
        let text = format!("Ann\t{null}\nBob\t5\nCid\t6\n");
        let said =
            ["there is no header: a field of the first line is a spelling of NULL", "--null"];
        let fixture = Fixture::new();
        fixture.write("in.tsv", &text).load(&["in.tsv", "t.db"]).exits(0).prints(&said);
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), 3, "{null}");
        let rows = loaded(&text, &["--null", null]);
        assert_eq!(rows, rows![["Ann", ()], ["Bob", 5], ["Cid", 6]], "{null}");
    }
    assert_eq!(loaded("Ann\t\\N\t\\N\nBob\tx\ty\n", &[]).len(), 2);
}

/// Words that may stand in a row where others have numbers make no header without a word.
#[test]
fn a_header_of_words_that_rows_have_is_said_to_be_assumed() {
    let said = ["the first line is taken as the header", "--header no if it is data"];
    let fixture = Fixture::new();
    fixture.sql("old.db", "CREATE TABLE q (name TEXT, n INT)");
    for word in ["5 EUR", "5kg", "0x1F", "31-DEC-24", "\u{bd}", "*", "unknown", "#REF!"] {
        fixture.write("in.csv", format!("Ann,{word}\nBob,5\nCid,6\n"));
        fixture.load(&["in.csv", "t.db", "--if-exists", "replace"]).exits(0).prints(&said);
        let old = ["in.csv", "old.db", "--table", "q", "--match", "position"];
        fixture.refuses(&old).says(&["is the first line a header?"]);
    }
}

/// Blanks around a number say nothing, whether they are cut off or not.
#[test]
fn a_first_row_whose_numbers_are_padded_is_a_row() {
    let fixture = Fixture::new();
    fixture.sql("old.db", "CREATE TABLE q (x, y)");
    for (text, count) in [
        (" 9|a\n10|b\n11|c\n", 3),
        ("99 |SMITH\n100|KING\n101|X\n", 3),
        ("a, 9\nb,10\nc,11\n", 3),
        (" 1, 5000\n 2, 6000\n", 2),
        ("\t9|a\n10|b\n", 2),
    ] {
        for options in [&[][..], &["--trim"]] {
            assert_eq!(loaded(text, options).len(), count, "{text} {options:?}");
            fixture.write("in.csv", text);
            let old = ["in.csv", "old.db", "--table", "q", "--match", "position"];
            fixture.load(&[&old[..], &["--if-exists", "append"], options].concat()).exits(0);
        }
    }
    assert_eq!(fixture.number("old.db", "SELECT count(*) FROM q"), 26);
    assert_eq!(header(" id, n\n10,5000\n11,6000\n", &["--trim"]), ["id", "n"]);
}

#[test]
fn a_first_row_of_numbers_and_words_is_a_row() {
    let zips = "1,00501,x\n2,10001,y\n3,90210,z\n";
    assert_eq!(loaded(zips, &[])[0], rows![[1, "00501", "x"]][0]);
    let fixture = Fixture::new();
    let people = "1,Ann,unknown,2024-01-01,10.5\n2,Bob,5,2024-01-02,11.5\n";
    fixture.write("in.csv", people);
    let says = ["there is no header", "words in other columns", "--header yes"];
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0).prints(&says);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
    // Where a table is there it may be the header of another one as well.
    fixture.sql("old.db", "CREATE TABLE q (id INT, name TEXT, n INT, d DATE, size REAL)");
    let old = ["in.csv", "old.db", "--table", "q", "--match", "position"];
    fixture.refuses(&old).says(&["is the first line a header?", "--header no"]);
    assert_eq!(header("id,2019,2020\n1,5,6\n", &[]), ["id", "2019", "2020"]);
}

/// Some of a table's names in the first line make no header of it.
#[test]
fn a_row_with_names_of_the_tables_columns_is_not_lost_unsaid() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "CREATE TABLE kv (name TEXT, value TEXT); CREATE TABLE orders (id, status, city)",
    );
    fixture
        .write("kv.csv", "name,Ann\nage,5\n")
        .write("orders.csv", "1,status,city\n2,open,Rome\n");
    let said = ["the first line is taken as the header", "--header no if it is data"];
    fixture.load(&["kv.csv", "t.db", "--match", "position"]).exits(0).prints(&said);
    for more in [["--match", "position"], ["--new-columns", "ignore"], ["--new-columns", "add"]] {
        let load = [&["orders.csv", "t.db"], &more[..]].concat();
        fixture.refuses(&load).says(&["is the first line a header?", "--header no"]);
    }
}

/// Names are looked at as the load takes them.
#[test]
fn a_header_is_known_by_what_options_make_of_its_names() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "Order ID,Who\nx,Ann\n").write("u.csv", "who,junk\nAnn,x\n");
    let snake = ["t.csv", "t.db", "--case", "snake"];
    let renamed = ["u.csv", "t.db", "--rename", "who=name", "--drop", "junk"];
    for load in [&snake[..], &renamed[..]] {
        fixture.load(load).exits(0);
        fixture.load(&[load, &["--if-exists", "append"]].concat()).exits(0);
    }
    assert_eq!(fixture.table("t.db", "t"), rows![["x", "Ann"], ["x", "Ann"]]);
}

/// `\N` is a spelling of NULL as it is written, and an N without its escape.
#[test]
fn a_null_behind_an_escape_makes_no_header_of_the_first_row() {
    let text = "1\tAnn\t\\N\t2024-01-01\n2\tBob\t5\t2024-01-02\n";
    let rows = loaded(text, &["--escape", "\\", "--null", "\\N"]);
    assert_eq!(rows, rows![[1, "Ann", (), "2024-01-01"], [2, "Bob", 5, "2024-01-02"]]);
}

/// Also where values are read or trimmed: the field is compared as it is written, without the blanks that are cut off.
#[test]
fn a_null_behind_an_escape_is_one_in_columns_that_are_read() {
    let escape = ["--delimiter", "tab", "--escape", "\\", "--null"];
    let numbers = "id\tv\n1\t1,5\n2\t\\N\n3\t2,5\n";
    for decimal in [",", "v=,"] {
        let rows = loaded(numbers, &[&escape[..], &["\\N", "--decimal", decimal]].concat());
        assert_eq!(rows, rows![[1, 1.5], [2, ()], [3, 2.5]], "{decimal}");
    }
    let days = "id\tv\n1\t31.12.2024\n2\t\\N\n";
    for format in ["%d.%m.%Y", "v=%d.%m.%Y"] {
        let rows = loaded(days, &[&escape[..], &["\\N", "--date-format", format]].concat());
        assert_eq!(rows, rows![[1, "2024-12-31"], [2, ()]], "{format}");
    }
    let texts = "id\tv\n1\ta\n2\t\\N\n3\t \\N\n4\t\\N \n5\t\"\\N\"\n";
    let rows = loaded(texts, &[&escape[..], &["\\N", "--trim"]].concat());
    assert_eq!(rows, rows![[1, "a"], [2, ()], [3, ()], [4, ()], [5, ()]]);
    // What escapes leave is no spelling that is written.
    let rows = loaded("id\tv\n1\ta\n2\t \\N\n3\t N\n", &[&escape[..], &["N", "--trim"]].concat());
    assert_eq!(rows, rows![[1, "a"], [2, "N"], [3, ()]]);
}

#[test]
fn whether_there_is_a_header_can_be_said() {
    assert_eq!(header("1,a\n2,b\n", &["--header", "yes"]), ["1", "a"]);
    assert_eq!(loaded("1,a\n2,b\n", &["--header", "yes"]), rows![[2, "b"]]);
    assert_eq!(loaded("1,a\n2,b\n", &["--header", "auto"]), rows![[1, "a"], [2, "b"]]);
    assert_eq!(header("id,name\n1,a\n", &["--header", "no"]), ["column_1", "column_2"]);
    let rows = rows![["id", "name"], ["1", "a"]];
    assert_eq!(loaded("id,name\n1,a\n", &["--header", "no"]), rows);
    assert_eq!(loaded("5\n", &["--header", "no"]), rows![[5]]);
}

#[test]
fn the_names_of_a_table_that_is_there_make_a_header() {
    let fixture = Fixture::new();
    // By its looks alone this could be data.
    fixture
        .write("in.csv", "name,town\na,b\n")
        .sql("t.db", "CREATE TABLE t (town TEXT, name TEXT)");
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["b", "a"]]);
}

#[test]
fn an_empty_unquoted_field_is_null_and_a_quoted_one_the_empty_string() {
    let text = "a,b,c\n,\"\",x\n1,,\n";
    assert_eq!(loaded(text, &["--types", "text"]), rows![[(), "", "x"], ["1", (), ()]]);
    // An empty spelling makes the quoted one NULL too.
    let options = ["--types", "text", "--null", ""];
    assert_eq!(loaded(text, &options), rows![[(), (), "x"], ["1", (), ()]]);
}

#[test]
fn an_empty_unquoted_field_may_be_an_empty_text() {
    let text = "a,b,c\n,\"\",x\n1,,\n";
    let told = |more: &[&str]| loaded(text, &[&["--types", "text", "--empty"], more].concat());
    assert_eq!(told(&["null"]), rows![[(), "", "x"], ["1", (), ()]]);
    assert_eq!(told(&["text"]), rows![["", "", "x"], ["1", "", ""]]);
    assert_eq!(told(&["text", "--null", "b="]), rows![["", (), "x"], ["1", (), ""]]);
    assert_eq!(loaded("a\nx\n\ny\n", &["--empty", "text"]), rows![["x"], [""], ["y"]]);
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,name\n1,\n2,b\n").write("n.csv", "id,name\n,c\n");
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT NOT NULL DEFAULT '') STRICT");
    let append = ["t.db", "--table", "t", "--if-exists", "append", "--empty", "text"];
    fixture.load(&[&["t.csv"], &append[..]].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, ""], [2, "b"]]);
    // Where a column is of something else it is what a quoted one is.
    fixture.refuses(&[&["n.csv"], &append[..]].concat()).says(&["line 2, column id", "--null id="]);
    fixture.load(&[&["n.csv"], &append[..], &["--null", "id="]].concat()).exits(0);
    fixture.write("t.jsonl", "{\"id\":1}\n");
    fixture.misused(&["load", "t.jsonl", "j.db", "--empty", "text"]).says(&["--empty is for"]);
}

/// `COPY`, `mysqldump --tab` and `INTO OUTFILE` write `\N` for NULL, nothing for an empty text, and quotes as they are.
#[test]
fn what_servers_write_as_text_is_read_so_where_it_is_said() {
    let fixture = Fixture::new();
    fixture.write("t.tsv", "1\t\"a\"\t\n2\t\\N\tx\n3\t\"null\"\t\\N\n");
    let load = ["t.tsv", "t.db", "--header", "no", "--if-exists", "replace"];
    let words = ["--null '\\N'", "--empty text", "--quote none"];
    fixture.load(&load).exits(0).prints(&words);
    let said = ["--null", "\\N", "--empty", "text", "--quote", "none"];
    let run = fixture.load(&[&load[..], &said].concat()).exits(0);
    assert!(words.iter().all(|word| !run.stdout.contains(word)), "{run:?}");
    let rows = rows![[1, "\"a\"", ""], [2, (), "x"], [3, "\"null\"", ()]];
    assert_eq!(fixture.table("t.db", "t"), rows);
    // One that says of one thing how it is read is told of the others.
    fixture.load(&[&load[..], &said[..2]].concat()).exits(0).prints(&words[1..]);
    // Of other files none of it is said, and of those with commas nothing of quotes.
    fixture.write("u.tsv", "1\t\"a\"\t\n2\t\"b\"\tx\n").write("c.csv", "1,\"a\",\\N\n2,\"b\",x\n");
    for (file, note) in [("u.tsv", "--empty"), ("c.csv", "--quote none")] {
        let run = fixture.load(&[file, "u.db", "--header", "no"]).exits(0);
        assert!(!run.stdout.contains(note), "{run:?}");
    }
}

#[test]
fn null_in_quotes_may_have_a_spelling_with_these() {
    let text = "a,b\n\"1\",\"x\"\n\"NULL\",\"NULL\"\nNULL,NULL\n";
    let quoted = ["--null", "\"NULL\""];
    assert_eq!(loaded(text, &["--null", "b=\"NULL\""]).remove(1), rows![["NULL", ()]].remove(0));
    let rows = rows![["1", "x"], [(), ()], ["NULL", "NULL"]];
    assert_eq!(loaded(text, &quoted), rows);
    let rows = rows![[1, "x"], [(), ()], [(), ()]];
    assert_eq!(loaded(text, &[&quoted[..], &["--null", "NULL"]].concat()), rows);
    let single = text.replace('"', "'");
    let options = ["--quote", "'", "--null", "'NULL'", "--null", "NULL"];
    assert_eq!(loaded(single, &options), rows);
    // The message of a column of another type names it, and so does the note where none is said.
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,n\n1,\"5\"\n2,\"NULL\"\n3,\"6\"\n");
    let said = "--null 'n=\"NULL\"'";
    fixture.load(&["t.csv", "t.db"]).exits(0).prints(&[said]);
    let typed = ["t.csv", "t.db", "--if-exists", "replace", "--type", "n=integer"];
    fixture.refuses(&typed).says(&["line 3, column n", said]);
    fixture.load(&[&typed[..], &["--null", "n=\"NULL\""]].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, 5], [2, ()], [3, 6]]);
}

/// `LOAD DATA` with `ENCLOSED BY '"'` reads it so as well. No program that escapes writes an N with an escape.
#[test]
fn an_escaped_n_in_quotes_is_null_where_that_is_its_spelling() {
    let fixture = Fixture::new();
    fixture.write("q.csv", "\"1\",\"\\N\",\"x\"\n\"2\",\"a\",\"\\N\"\n");
    let load = ["--header", "no", "--escape", "\\", "--null", "\\N"];
    let run = fixture.load(&[&["q.csv", "q.db"], &load[..]].concat()).exits(0);
    assert!(!run.stdout.contains("is read as N"), "{run:?}");
    assert_eq!(fixture.table("q.db", "q"), rows![[1, (), "x"], [2, "a", ()]]);
    let other = "\"1\",\"x\\N\"\n\"2\",\"\\Ny\"\n";
    fixture.write("x.csv", other);
    let run = fixture.load(&[&["x.csv", "x.db"], &load[..]].concat()).exits(0);
    let run = run.prints(&["\\N is read as N"]);
    assert!(!run.stdout.contains("--null"), "{run:?}");
    assert_eq!(fixture.table("x.db", "x"), rows![[1, "xN"], [2, "Ny"]]);
    // Without an escape the text is that of any other quoted field.
    assert_eq!(loaded("a\n\"\\N\"\n", &["--null", "\\N"]), rows![["\\N"]]);
}

/// A delimiter at the end of each line, as the generator of TPC-H writes one, makes a column that no table has.
#[test]
fn a_delimiter_at_the_end_of_each_line_is_named_where_the_table_lacks_a_column() {
    let fixture = Fixture::new();
    fixture.write("t.tbl", "1|a|\n2|b|\n").write("u.tbl", "1|a|x\n2|b|y\n");
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT)");
    let append = ["t.db", "--table", "t", "--header", "no", "--if-exists", "append"];
    let said = ["--drop", "column_3"];
    fixture.refuses(&[&["t.tbl"], &append[..]].concat()).says(&["--drop column_3"]);
    fixture.load(&[&["t.tbl"], &append[..], &said].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"]]);
    let run = fixture.refuses(&[&["u.tbl"], &append[..]].concat());
    assert!(!run.stderr.contains("--drop"), "{run:?}");
}

#[test]
fn null_can_be_spelled_otherwise_but_is_a_text_in_quotes() {
    let text = "a,b\nNA,1\n\"NA\",NA\nNAN,-\n,2\n";
    assert_eq!(
        loaded(text, &["--null", "NA", "--null", "-"]),
        rows![[(), 1], ["NA", ()], ["NAN", ()], [(), 2]]
    );
    assert_eq!(
        loaded(text, &["--null", "NA"]),
        rows![[(), "1"], ["NA", ()], ["NAN", "-"], [(), "2"]]
    );
    // Spellings are exact.
    assert_eq!(loaded("a\nna\nNA \n", &["--null", "NA"]), rows![["na"], ["NA "]]);
    assert_eq!(loaded("a,b\n1,\\N\n", &["--null", "\\N"]), rows![[1, ()]]);
}

#[test]
fn a_value_in_quotes_is_in_quotes_still_when_its_blanks_are_cut_off() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,x\n1,\" NULL \"\n2,1\n3,2\n");
    let said = "--null 'x=\"NULL\"'";
    for options in [&[][..], &["--null", "NULL"]] {
        let load = [&["t.csv", "t.db", "--trim=all", "--if-exists", "replace"][..], options];
        fixture.load(&load.concat()).exits(0).prints(&[said]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, "NULL"], [2, "1"], [3, "2"]]);
    }
    let load = ["t.csv", "n.db", "--trim=all", "--null", "x=\"NULL\""];
    fixture.load(&load).exits(0);
    assert_eq!(fixture.table("n.db", "t"), rows![[1, ()], [2, 1], [3, 2]]);
    // Other forms are proposed with it.
    fixture.write("d.csv", "id,x\n1,\" NULL \"\n2,13/01/2024\n3,14/01/2024\n");
    fixture.load(&["d.csv", "t.db", "--trim=all"]).exits(0).prints(&["--date-format", said]);
    // Quotes are what keeps a comma in a value, also in a file that is written.
    fixture.write("c.csv", "x\n\" a,b \"\n\" c\nd \"\n");
    fixture.load(&["c.csv", "csv:o.csv", "--trim=all"]).exits(0);
    assert_eq!(fixture.read("o.csv"), b"x\n\"a,b\"\n\"c\nd\"\n");
}

#[test]
fn comments_and_skipped_lines_are_no_records() {
    let text = "# made by hand\nid,name\n# one\n1,a\n2,#b\n\"#3\",c\n#\"open\n";
    assert_eq!(loaded(text, &["--comment", "#"]), rows![["1", "a"], ["2", "#b"], ["#3", "c"]]);
    let text = "report of 2013\n\"made, by\nid,name\n1,a\n";
    assert_eq!(loaded(text, &["--skip-lines", "2"]), rows![[1, "a"]]);
    let windows = "report\r\nid,name\r\n1,a\r\n";
    assert_eq!(loaded(windows, &["--skip-lines", "1"]), rows![[1, "a"]]);
}

const TEXT: &str = "id,n\u{e4}me\n1,Zo\u{eb}\n2,\u{20ac} \u{1f600}\n";

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn byte_order_marks_and_utf_16() {
    let rows = rows![[1, "Zo\u{eb}"], [2, "\u{20ac} \u{1f600}"]];
    let marked = format!("\u{feff}{TEXT}");
    assert_eq!(loaded(&marked, &[]), rows);
    assert_eq!(header(&marked, &[])[0], "id");
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        assert_eq!(loaded(utf16(&marked, unit), &[]), rows);
        assert_eq!(loaded(utf16(TEXT, unit), &[]), rows);
    }
    assert_eq!(loaded(utf16(TEXT, u16::to_le_bytes), &["--encoding", "utf-16le"]), rows);
    assert_eq!(loaded(utf16(TEXT, u16::to_be_bytes), &["--encoding", "UTF-16BE"]), rows);
    assert_eq!(loaded(&marked, &["--encoding", "utf-8"]), rows);
    // Before a quoted name as well.
    assert_eq!(header("\u{feff}\"id\",name\n1,a\n", &[]), ["id", "name"]);
}

/// As where files were put one behind another. The mark is a part of the value, and is said to be.
#[test]
fn a_byte_order_mark_within_a_file_is_named() {
    let fixture = Fixture::new();
    let part = "\u{feff}id,name\n1,a\n";
    for (name, bytes) in [
        ("utf8.csv", part.repeat(2).into_bytes()),
        ("utf16.csv", utf16(&part.repeat(2), u16::to_le_bytes)),
        ("quoted.csv", "\u{feff}id,name\n1,a\n\u{feff}\"1\",b\n".into()),
        ("strings.jsonl", "{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\"id\":\"\u{feff}1\"}\n".into()),
    ] {
        fixture.write(name, bytes);
        let notes = fixture.report(&[name, "t.db"])["warnings"].to_string();
        let said = "begins with a byte order mark, as where a file was put behind another one";
        assert!(notes.contains(said), "{name}: {notes}");
        assert!(notes.contains("column id: '") && notes.contains("(line 3)"), "{name}: {notes}");
    }
}

#[test]
fn a_long_file_in_utf_16() {
    let rows: String = (0..60_000).map(|n| format!("{n},na\u{ef}ve \u{1f600} {n}\n")).collect();
    let fixture = Fixture::new();
    fixture.write("in.csv", utf16(&format!("\u{feff}id,name\n{rows}"), u16::to_le_bytes));
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0);
    let right = "SELECT count(*) FROM t WHERE name = 'na\u{ef}ve \u{1f600} ' || id";
    assert_eq!(fixture.number("t.db", right), 60_000);
}

#[test]
fn damaged_utf_16_makes_a_bad_row() {
    let mut bytes = utf16("\u{feff}id,name\n1,a\n2,b\n3,c\n", u16::to_le_bytes);
    let b = bytes.iter().position(|byte| *byte == b'b').unwrap();
    // Half a surrogate pair.
    bytes[b..b + 2].copy_from_slice(&0xd83du16.to_le_bytes());
    let fixture = Fixture::new();
    fixture.write("in.csv", bytes);
    fixture.refuses(&["in.csv", "t.db"]).says(&["in.csv: line 3, column name"]);
}

#[test]
fn what_excel_writes_in_western_europe_is_recognised_and_not_converted_unasked() {
    let files = Fixture::new();
    files.write("in.csv", b"id;name\n1;Ann\n2;M\xfcller\n");
    let words = ["in.csv: line 3 is not UTF-8 (byte 0xfc)", "--encoding windows-1252"];
    files.inrush(&["plan", "in.csv", "t.db"]).exits(0).prints(&words);
    files.refuses(&["in.csv", "t.db"]).says(&["line 3", "--encoding windows-1252"]);
    files.write("in.csv", b"id;Ann\xe9e\n1;2020\n");
    files.refuses(&["in.csv", "t.db"]).says(&["column 2 in the header", "--encoding windows-1252"]);
    // Russian, which any encoding of single bytes makes letters of.
    let says = ["such as windows-1251", "look at the values"];
    files.write("in.csv", b"id;name\n1;\xcf\xf0\xe8\xe2\xe5\xf2\n");
    files.inrush(&["plan", "in.csv", "t.db"]).exits(0).prints(&says);
    files.refuses(&["in.csv", "t.db"]).says(&says);
    files.write("in.csv", b"id;\xe8\xec\xff\n1;2\n");
    files.refuses(&["in.csv", "t.db"]).says(&says);
    // What has UTF-8 elsewhere is damaged, and in no other encoding.
    files.write("in.csv", b"id;name\n1;Zo\xc3\xab\n2;M\xfcller\n");
    let planned = files.inrush(&["plan", "in.csv", "t.db"]).exits(0).stdout;
    assert!(!planned.contains("windows-1252"), "{planned}");
}

#[test]
fn an_encoding_that_is_said_of_utf_8_is_refused_or_doubted() {
    let files = Fixture::new();
    files.write("in.csv", "id,name\n1,Ann\n2,Bob\n");
    for encoding in ["utf-16", "utf-16le", "utf-16be"] {
        let load = ["in.csv", "t.db", "--encoding", encoding];
        files.refuses(&load).says(&["in.csv is text in UTF-8", encoding, "leave --encoding out"]);
    }
    files.write("in.csv", "id,name\n1,K\u{e4}se\n").write("in.jsonl", "{\"v\":\"K\u{e4}se\"}\n");
    for file in ["in.csv", "in.jsonl"] {
        let load = [file, "t.db", "--encoding", "latin1", "--if-exists", "replace"];
        let says = [file, "seems to be UTF-8", "'K\u{c3}\u{a4}se' of 'K\u{e4}se'"];
        files.load(&load).exits(0).prints(&says);
    }
}

/// `M\xc3\xbcller` would become something else.
#[test]
fn no_encoding_is_advised_where_the_file_has_utf_8() {
    let files = Fixture::new();
    for (file, text) in [
        ("in.csv", &b"n,x\n1,M\xc3\xbcller\n2,Caf\xc3\xa9\n3,M\xfcller\n"[..]),
        ("in.csv", b"n,M\xfcller\n1,M\xc3\xbcller\n"),
        ("in.jsonl", b"{\"n\":\"M\xc3\xbcller\"}\n{\"n\":\"M\xfcller\"}\n"),
    ] {
        files.write(file, text);
        let run = files.refuses(&[file, "t.db"]).says(&["UTF-8"]);
        assert!(!run.stderr.contains("--encoding"), "{}", run.stderr);
    }
}

/// Lines that are no rows, and columns that are not loaded, make no bad row.
#[test]
fn what_is_not_loaded_is_not_said_to_be_bad() {
    let files = Fixture::new();
    files.write("in.csv", b"M\xfcller\n# \xfc\nid,name,old\n1,a,\xe4\n2,b,x\n");
    let load = ["in.csv", "t.db", "--skip-lines", "1", "--comment", "#", "--drop", "old"];
    let run = files.load(&load).exits(0);
    assert!(!(run.stdout + &run.stderr).contains("UTF-8"));
    let words = ["line 4 is not UTF-8 (byte 0xe4)", "--encoding windows-1252"];
    files
        .inrush(&[&["plan"], &load[..6], &["--if-exists", "replace"]].concat())
        .exits(0)
        .prints(&words);
}

/// A column of bytes holds what it holds, and says nothing of the text beside it.
#[test]
fn bytes_that_are_no_text_spoil_neither_the_header_nor_other_columns() {
    let files = Fixture::new();
    files.write(
        "in.csv",
        b"id,day,blob\n1,2024-01-01,\xff\xfe\n2,2024-01-02,\xff\n3,2024-01-03,\xe9\n",
    );
    let args = ["in.csv", "t.db", "--type", "blob=bytes"];
    let report = files.report(&args);
    let types: Vec<&str> = report["plan"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["integer", "date", "bytes"]);
    assert_eq!(
        files.query("t.db", "SELECT id, day, hex(blob) FROM \"in\""),
        rows![[1, "2024-01-01", "FFFE"], [2, "2024-01-02", "FF"], [3, "2024-01-03", "E9"]]
    );
    let says_so = |args: &[&str]| {
        let plan = files.inrush(&[&["plan"], args].concat()).exits(0).stdout;
        (plan.contains("windows-1252"), plan.contains("could be names"))
    };
    let new = ["in.csv", "u.db"];
    assert_eq!(says_so(&[&new[..], &["--type", "blob=bytes"]].concat()), (false, false));
    // Under another name too, and where the table says it.
    let renamed = ["--rename", "blob=data", "--type", "data=bytes"];
    assert_eq!(says_so(&[&new[..], &renamed].concat()), (false, false));
    assert_eq!(says_so(&["in.csv", "t.db", "--if-exists", "append"]), (false, false));
    // What is no bytes is still text of some encoding; and a file without a word of it says how it could be.
    assert!(says_so(&[&new[..], &["--type", "id=bytes"]].concat()).0);
    files.refuses(&new).says(&["line 2, column blob", "--encoding", "--type blob=bytes"]);
    files.write("in.csv", b"id,day,blob\n1,M\xfcrz,\xff\n");
    assert!(says_so(&[&new[..], &["--type", "blob=bytes"]].concat()).0);
}

#[test]
fn latin1_has_to_be_named() {
    let latin1 = b"id,n\xe4me\n1,Zo\xeb \x80\n";
    let rows = rows![[1, "Zo\u{eb} \u{20ac}"]];
    assert_eq!(loaded(latin1, &["--encoding", "latin1"]), rows);
    assert_eq!(loaded(latin1, &["--encoding", "windows-1252"]), rows);
    // 'Shift_JIS' for "kana" in half-width katakana.
    let japanese = loaded(b"id,name\n1,\xb6\xc5\n", &["--encoding", "shift_jis"]);
    assert_eq!(japanese, rows![[1, "\u{ff76}\u{ff85}"]]);
}

/// What is loaded of another encoding than UTF-8 are characters, and of these only ASCII is what the file has.
#[test]
fn bytes_of_another_encoding_are_ascii_or_bad_rows() {
    let files = Fixture::new();
    files.write(
        "in.csv",
        b"id,n,b\n1,\x83e,\x81\xff\n2,\x83e,\xfd\xfe\n3,\x83e,ab\n4,\x83e,\x83e\n5,\x83e,\n",
    );
    let japanese = ["in.csv", "t.db", "--encoding", "shift_jis"];
    let bytes = ["--type", "b=bytes"];
    files.refuses(&[&japanese[..], &bytes].concat()).says(&[
        "line 2, column b",
        "malformed in the input's encoding",
        "without --encoding the bytes of column b",
    ]);
    // So with those of a table.
    let query = "SELECT id, n, quote(b) FROM \"in\"";
    let rows = rows![[3, "\u{30c6}", "X'6162'"], [5, "\u{30c6}", "NULL"]];
    files.load(&[&japanese[..], &bytes, &["--max-rejects", "3"]].concat()).exits(3);
    assert_eq!(files.query("t.db", query), rows);
    let tolerant = ["--if-exists", "append", "--max-rejects", "3"];
    files.load(&[&japanese[..], &tolerant].concat()).exits(3);
    assert_eq!(files.query("t.db", query), [&rows[..], &rows].concat());
    // In a chunk without a malformed byte as well.
    files.write("l.csv", b"id,b\n1,a\n2,\xe9\n");
    let latin1 = ["l.csv", "l.db", "--type", "b=bytes", "--encoding", "latin1"];
    files.refuses(&latin1).says(&["line 3, column b", "'\u{e9}' has other bytes in the input"]);
    files.load(&[&latin1[..], &["--null", "\u{e9}"]].concat()).exits(0);
    let values = "SELECT id, quote(b) FROM l";
    assert_eq!(files.query("l.db", values), rows![[1, "X'61'"], [2, "NULL"]]);
    files.load(&["l.csv", "own.db", "--type", "b=bytes"]).exits(0);
    assert_eq!(files.query("own.db", values), rows![[1, "X'61'"], [2, "X'E9'"]]);
    let text = "id,b\n1,a\n2,\u{e9}\n";
    files.write("u.csv", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let run = files.refuses(&["u.csv", "u.db", "--type", "b=bytes"]);
    assert!(!run.says(&["line 3, column b"]).stderr.contains("without --encoding"));
}

#[test]
fn lines_end_in_lf_crlf_both_or_cr() {
    let rows = rows![[1, "a"], [2, "b"], [3, "c d"]];
    for (first, second) in
        [("\n", "\n"), ("\r\n", "\r\n"), ("\n", "\r\n"), ("\r\n", "\n"), ("\r", "\r")]
    {
        for end in ["", second] {
            let text = format!("id,name{first}1,a{second}2,b{first}3,c d{end}");
            assert_eq!(loaded(&text, &[]), rows, "{text:?}");
        }
    }
    // A lone CR between LFs is data, and so is one in quotes.
    assert_eq!(loaded("id,name\n1,a\rb\n2,\"c\r\"\n", &[]), rows![[1, "a\rb"], [2, "c\r"]]);
}

/// As of a copy that stopped short by one byte.
#[test]
fn a_file_that_ends_in_the_middle_of_its_last_line_end_is_told() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,v\r\n1,5\r\n2,6\r");
    let note = "in the middle of its last line end";
    fixture.load(&["in.csv", "t.db"]).exits(0).prints(&[note]);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "5"], [2, "6\r"]]);
    for text in ["id,v\n1,5\n2,6\r", "id,v\r\n1,5\n2,6\r", "id,v\r\n1,5\r\n2,6"] {
        fixture.write("in.csv", text);
        let load = ["in.csv", "t.db", "--if-exists", "replace"];
        let warnings = fixture.report(&load)["warnings"].to_string();
        assert!(!warnings.contains(note), "{text:?}: {warnings}");
    }
}

/// As Python's csv writes them on Windows where the file is opened without `newline=''`: the first CR would be the last column's.
#[test]
fn lines_that_all_end_in_two_carriage_returns_are_refused() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,v\r\r\n1,2\r\r\n2,3\r\r\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["two carriage returns", "sed"]);
    assert_eq!(loaded("id,v\n1,2\n2,x\r\r\n", &[]), rows![[1, "2"], [2, "x\r"]]);
}

/// As `cat a.csv b.csv` makes them.
#[test]
fn a_header_among_the_rows_is_named() {
    let fixture = Fixture::new();
    let note = |text: &str, more: &[&str]| {
        fixture.write("in.csv", text);
        let load = [&["in.csv", "t.db", "--table", "t", "--if-exists", "replace"][..], more];
        let warnings = &fixture.report(&load.concat())["warnings"];
        let mut warnings = warnings.as_array().unwrap().iter().map(|one| one.as_str().unwrap());
        warnings.find(|one| one.contains("the header, and")).unwrap_or_default().to_owned()
    };
    let named = ["--header", "yes"];
    let one = note("id,name\na,b\nid,name\nid,names\nc,d\n", &named);
    assert!(
        one.starts_with("line 3 of in.csv repeats the header, and is read as a row: "),
        "{one}"
    );
    assert!(one.contains("one after the other"), "{one}");
    let rows = rows![["a", "b"], ["id", "name"], ["id", "names"], ["c", "d"]];
    assert_eq!(fixture.table("t.db", "t"), rows);
    // A byte order mark begins every file that has one.
    let two = note("\u{feff}id,name\r\n\"a\n\",b\r\n\u{feff}id,name\r\nid,name", &named);
    let wanted = "2 lines repeat the header, and are read as rows, the first is line 4 of in.csv";
    assert!(two.starts_with(wanted), "{two}");
    assert_eq!(note("id,name\na,b\nid,name\n", &["--header", "no"]), "");
    fixture.write("a.csv", "id,name\na,b\nid,name\n");
    fixture.write("b.csv", "id,name\nid,name\nid,name\n");
    let both = ["a.csv", "b.csv", "two.db", "--table", "t", "--header", "yes"];
    let wanted = "3 lines repeat the header, and are read as rows, of each file the first: line 3 of a.csv, line 2 of b.csv: name";
    fixture.load(&both).exits(0).prints(&[wanted]);
    // What makes a column text, or a row bad, is told for what it is.
    let typed = "id,name\n1,a\nid,name\n2,b\n";
    assert!(note(typed, &[]).starts_with("line 3 of in.csv"));
    fixture.refuses(&["in.csv", "u.db", "--type", "id=integer"]).says(&[
        "line 3",
        "'id' is not an integer",
        "the line repeats the header",
    ]);
}

#[test]
fn blanks_behind_delimiters_are_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id, name, v\n1, a, 2\n2, \"b\", 3\n");
    let says =
        ["a blank stands behind each delimiter", "--trim", "quotes behind a blank quote nothing"];
    fixture.load(&["in.csv", "t.db"]).exits(0).prints(&says);
    fixture.write("in.csv", "id, name, v\n1, a, 2\n2, \"b, x\", 3\n");
    fixture.refuses(&["in.csv", "u.db"]).says(&[
        "4 fields where 3 are expected (a quote behind a blank quotes nothing without --trim)",
    ]);
    // However many blanks there are.
    fixture.write("in.csv", "id,  name,v\n1,   \"b\",3\n2,   \"c\",4\n");
    let says = ["quotes behind a blank quote nothing", "--trim leaves out blanks around quotes"];
    fixture.load(&["in.csv", "w.db"]).exits(0).prints(&says);
}

#[test]
fn quotes_behind_blanks_in_the_first_row_are_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "1, \"x\"\n2, \"y\"\n");
    fixture.load(&["in.csv", "t.db"]).exits(0).prints(&["quotes behind a blank quote nothing"]);
}

#[test]
fn what_dumps_of_servers_mean_by_backslashes_is_said() {
    let fixture = Fixture::new();
    let load = ["in.tsv", "t.db", "--if-exists", "replace"];
    let (null, escapes) = ("--null '\\N' reads it so", "an export as CSV keeps");
    fixture.write("in.tsv", "id\tname\n1\tAnn\n2\t\\N\n3\ta\\tb\\\\c\n");
    fixture.load(&load).exits(0).prints(&[null, escapes]);
    let run = fixture.load(&[&load[..], &["--null", "\\N"]].concat()).exits(0);
    let said = run.prints(&[escapes]).stdout;
    assert!(!said.contains(null), "{said}");
    // Paths, and what another option reads.
    fixture.write("in.tsv", "id\tname\n1\tC:\\new\n2\tC:\\Users\n");
    let said = fixture.load(&load).exits(0).stdout;
    assert!(!said.contains("COPY"), "{said}");
}

#[test]
fn what_else_servers_write_is_said() {
    let fixture = Fixture::new();
    let said = |text: &str, notes: &[&str]| {
        fixture.write("in.tsv", text);
        let load = ["in.tsv", "t.db", "--header", "no", "--if-exists", "replace"];
        fixture.load(&load).exits(0).prints(notes).stdout
    };
    let (escapes, quotes) = ("an export as CSV keeps", "--quote none");
    // COPY with another delimiter, and a NUL byte of mysql -B.
    said("1;a\\nb\n2;x\\\\y\n", &[escapes]);
    said("1|a\\nb|\"s\"\n2|x\\\\y|null\n", &[escapes]);
    said("1\ta\\nb\n2\tx\\0y\n", &[escapes]);
    // Between others than tabs a single sign is none.
    assert!(!said("1;a\\nb\n2;x\n", &[]).contains(escapes));
    assert!(!said("1;\"a\\nb\"\n2;\"x\\\\y\"\n", &[]).contains(escapes));
    // mysql -B.
    said("1\t\"quoted\"\n2\tNULL\n3\t\n", &["--null NULL", quotes, "--empty text"]);
    assert!(!said("1\t\"say \"\"hi\"\"\"\n2\tNULL\n3\tx\n", &[]).contains(quotes));
    // INTO OUTFILE with one column.
    said("line1\\\nline2\nx\n", &["a backslash at the end of a line", "--escape '\\'"]);
    assert!(!said("C:\\Users\\\nC:\\x\n", &[]).contains("--escape"));
    // bcp -c, and .mode quote of sqlite3.
    fixture.write("bcp.tsv", "1\t\0\n2\tx\n");
    let load = ["bcp.tsv", "out.parquet", "--header", "no"];
    fixture.load(&load).exits(0).prints(&["an empty text in what bcp -c writes"]);
    fixture.refuses(&["bcp.tsv", "b.db", "--header", "no"]).says(&["a NUL byte", "bcp -c", "perl"]);
    said("1,'a,\"b\"\nc'\n2,'x'\n3,NULL\n", &["fields are quoted with", "--null NULL"]);
}

/// As `INTO OUTFILE` writes newlines and tabs within values.
#[test]
fn a_backslash_before_the_end_of_a_line_names_the_option() {
    let fixture = Fixture::new();
    fixture.write("in.tsv", "1\ta\\\nb\n2\tc\\\td\n3\t\\N\n4\t\n5\t\"e\"\n");
    let load = ["in.tsv", "t.db", "--header", "no", "--null", "\\N", "--empty", "text"];
    let load = [&load[..], &["--quote", "none"]].concat();
    let says = ["line 2: 1 field where 2 are expected", "--escape '\\' --null '\\N'"];
    fixture.refuses(&load).says(&says);
    fixture.load(&[&load[..], &["--escape", "\\"]].concat()).exits(0);
    let rows = rows![[1, "a\nb"], [2, "c\td"], [3, ()], [4, ""], [5, "\"e\""]];
    assert_eq!(fixture.table("t.db", "in"), rows);
    // The first part itself may be the short one.
    fixture.write("in.tsv", "1\ta\tb\n2\tc\td\n3\tx\\\ny\tz\n");
    let replace = [&load[..], &["--if-exists", "replace"]].concat();
    fixture.refuses(&replace).says(&["line 3", "--escape '\\'"]);
}

/// As `COPY ... (FORMAT csv, ESCAPE '\\')` writes it: an escape that holds outside of quotes as well would change values.
#[test]
fn an_escape_is_no_cure_where_fields_without_quotes_have_backslashes() {
    let fixture = Fixture::new();
    let more = "2,x,y\n".repeat(20);
    fixture.write("a.csv", format!("id,b,t\n1,\\xde,\"a \\\"b\\\"\"\n{more}"));
    fixture.refuses(&["a.csv", "t.db"]).says(&["without ESCAPE", "as well"]);
    fixture.write("b.csv", format!("id,b,t\n1,\\N,\"a \\\"b\\\"\"\n{more}3,C\\:d,\"x\n\"\n"));
    let says = ["write quotes within values doubled"];
    fixture.refuses(&["b.csv", "t.db"]).says(&says);
}

#[test]
fn apostrophes_that_quote_nothing_name_the_option() {
    let fixture = Fixture::new();
    let more = "2,\"x\"\n".repeat(20);
    fixture.write("in.csv", format!("id,t\n{more}1,'a,b'\n"));
    fixture.refuses(&["in.csv", "t.db"]).says(&["line 22", "--quote \"'\""]);
}

#[test]
fn lines_for_values_of_psql_are_no_title() {
    let fixture = Fixture::new();
    fixture.write("x.txt", "-[ RECORD 1 ]\nid | 1\ns  | a\n-[ RECORD 2 ]\nid | 2\ns  | b\n");
    let run = fixture.refuses(&["x.txt", "t.db"]).says(&["psql --csv"]);
    assert!(!run.stderr.contains("--skip-lines"), "{run:?}");
}

#[test]
fn control_characters_of_another_encoding_are_said() {
    let fixture = Fixture::new();
    fixture.write("in.csv", b"id,name\n1,M\x81ller\n");
    let load = ["in.csv", "t.db", "--encoding", "latin1"];
    fixture.load(&load).exits(0).prints(&["seems to be in another encoding", "U+0081"]);
}

#[test]
fn several_options_in_one_are_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "Order ID,name\n1,NA\n2,-\n3,Ann\n");
    let load = ["in.csv", "t.db", "--table", "t"];
    let misused =
        |option, value| fixture.misused(&[&["load"], &load[..], &[option, value]].concat());
    let says = ["renames one column only", "--rename 'Order ID=id' --rename name=x"];
    misused("--rename", "Order ID=id,name=x").says(&says);
    for (option, value) in
        [("--type", "Order ID=text,name=text"), ("--date-format", "%d.%m.%Y,%Y-%m-%d")]
    {
        let says = format!("say one {option} for each");
        misused(option, value).says(&[&says]);
    }
    fixture.load(&[&load[..], &["--rename", "name=a,b"]].concat()).exits(0);
    let null = [&load[..], &["--if-exists", "replace", "--null", "NA,-"]].concat();
    fixture.load(&null).exits(0).prints(&["which no value seen is: --null NA --null -"]);
    fixture.write("in.csv", "id;name\n1;NA,-\n");
    let said = fixture.load(&null).exits(0).stdout;
    assert!(!said.contains("no value seen"), "{said}");
}

/// Without quotes all values would be others.
#[test]
fn quotes_are_no_plain_characters_where_most_of_them_are_sound() {
    let fixture = Fixture::new();
    for broken in ["2,\"y\"z", "2,\"y"] {
        fixture.write("in.csv", format!("a,b\n1,\"x\"\n{broken}\n3,\"z\"\n4,\"z\"\n"));
        let run = fixture.refuses(&["in.csv", "t.db"]).says(&["line 3"]);
        assert!(!run.stderr.contains("--quote none"), "{run:?}");
    }
    fixture.write("in.csv", "a,b\n1,x\n2,\"y\"z\n3,z\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["line 3", "--quote none"]);
}

#[test]
fn characters_of_names_that_are_not_seen_are_named() {
    let fixture = Fixture::new();
    for (name, code) in [
        ("a\u{1}", "U+0001"),
        ("\"a\nb\"", "U+000A, a line break"),
        ("a\u{7f}b", "U+007F"),
        ("\"\u{a0}a\"", "U+00A0, a blank"),
        ("a\u{200b}", "U+200B"),
    ] {
        fixture.write("in.csv", format!("id,{name}\n1,2\n"));
        let load = ["in.csv", "t.db", "--if-exists", "replace"];
        fixture.load(&load).exits(0).prints(&["the name of column 2 in the header", code]);
    }
}

#[test]
fn trimmed_values_may_have_blanks_around_their_quotes() {
    let text =
        "id, \"the name\" , v\n1, \"b, x \"\t, \"\"\n2,c \"d\", e \n \"3\" ,  \"two\nlines\" ,\n";
    let rows = rows![[1, "b, x ", ""], [2, "c \"d\"", "e"], [3, "two\nlines", ()]];
    assert_eq!(loaded(text, &["--trim"]), rows);
    assert_eq!(loaded(text, &["--trim=all"])[0], rows![[1, "b, x", ""]][0]);
    let fixture = Fixture::new();
    fixture.write("in.csv", text);
    let outcome = fixture.load(&["in.csv", "t.db", "--trim"]).exits(0);
    assert!(!outcome.stdout.contains("quotes behind") && !outcome.stdout.contains("blank stands"));
    // Without it a blank behind a quote is told, and what helps.
    for text in ["id,v\n1,\"x\" \n", "id,v\n1,\"x\" \t\r\n", "\"id\" ,v\n1,2\n"] {
        fixture.write("in.csv", text);
        let what = "a blank stands after a closing quote (--trim leaves it out)";
        fixture.refuses(&["in.csv", "u.db"]).says(&[what]);
        fixture.load(&["in.csv", "v.db", "--trim", "--if-exists", "replace"]).exits(0);
    }
}

#[test]
fn a_header_with_broken_quotes_says_where_and_what_helps() {
    let fixture = Fixture::new();
    let where_it_is = "line 2: the quoting of the header is broken: ";
    for (text, advice) in [
        ("#\n\"id\",\"a\" \n\"1\",\"x\" \n", "a blank stands after a closing quote (--trim"),
        ("#\n\"id\" ,\"a\"\n\"1\",\"x\"\n", "a blank stands after a closing quote (--trim"),
        ("#\n\"id\"x,\"a\"\n\"1\",\"x\"\n\"2\",\"y\"\n", "fix the line"),
    ] {
        fixture.write("in.csv", text);
        let run = fixture.refuses(&["in.csv", "t.db", "--skip-lines", "1"]);
        let run = run.says(&[where_it_is, advice]);
        assert!(!run.stderr.contains("--quote none"), "{run:?}");
    }
    fixture.write("in.csv", "#\n\"id\"x,\"a\"\n\"1\"x,\"x\"\n");
    let broken = ["in.csv", "t.db", "--skip-lines", "1", "--quote", "\""];
    fixture.refuses(&broken).says(&[where_it_is, "--quote none"]);
}

#[test]
fn blank_lines_are_left_out_and_noted() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "\nid,name\n\n1,a\n\r\n2,b\n\n\n");
    let report = fixture.report(&["in.csv", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"], [2, "b"]]);
    assert_eq!(report["rows_read"], 2);
    assert!(report["warnings"].to_string().contains("4 blank lines"), "{}", report["warnings"]);
}

#[test]
fn in_a_file_of_one_column_a_blank_line_is_a_row() {
    assert_eq!(loaded("id\n1\n\n3\n", &[]), rows![[1], [()], [3]]);
    assert_eq!(loaded("id\n1\n\"\"\n3\n", &[]), rows![["1"], [""], ["3"]]);
    let fixture = Fixture::new();
    fixture.write("in.csv", "name\na\n\n").sql("t.db", "CREATE TABLE t (name TEXT NOT NULL)");
    fixture
        .refuses(&["in.csv", "t.db", "--table", "t"])
        .says(&["in.csv: line 3, column name", "NULL"]);
}

/// A way to write fields: what separates them, what is around those that need it, what makes a character literal.
struct Writer {
    delimiter: char,
    quote: Option<char>,
    escape: Option<char>,
}

impl Writer {
    /// Appends a field. In quotes when it has to be, or when asked for, as far as there are any.
    fn field(&self, value: &str, in_quotes: bool, out: &mut String) {
        let special =
            |c: char| [Some(self.delimiter), self.quote, Some('\n'), Some('\r')].contains(&Some(c));
        match self.quote {
            Some(quote) if in_quotes || value.contains(special) => {
                out.push(quote);
                for c in value.chars() {
                    match self.escape {
                        Some(escape) if c == quote || c == escape => out.extend([escape, c]),
                        None if c == quote => out.extend([c, c]),
                        _ => out.push(c),
                    }
                }
                out.push(quote);
            }
            _ => {
                for c in value.chars() {
                    if let Some(escape) = self.escape
                        && (c == escape || special(c))
                    {
                        out.push(escape);
                    }
                    out.push(c);
                }
            }
        }
    }
}

#[test]
fn whatever_was_written_in_any_dialect_is_what_is_loaded() {
    let mut random = Random(0x5eed);
    let mut pick = |n: usize| random.next() as usize % n;
    for round in 0..size(20, 60) {
        let quote = [Some('"'), Some('"'), Some('\''), None][pick(4)];
        // Without quotes only an escape makes all fields writable.
        let escape = if quote.is_none() || pick(3) == 0 { Some('\\') } else { None };
        let writer = Writer { delimiter: [',', '\t', ';', '|', 'x'][pick(5)], quote, escape };
        let characters = [
            'a',
            ' ',
            '"',
            '\'',
            '\\',
            ',',
            '\t',
            ';',
            'x',
            '\n',
            '\r',
            '\u{e9}',
            '\u{1f600}',
            '#',
        ];
        let newline = ["\n", "\r\n"][pick(2)];
        let width = 2 + pick(4);
        let mut text = String::new();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        let names: Vec<String> = (0..width).map(|n| format!("c{n}")).collect();
        text += &names.join(&writer.delimiter.to_string());
        text += newline;
        for _ in 0..100 {
            let mut row = Vec::new();
            for index in 0..width {
                if index > 0 {
                    text.push(writer.delimiter);
                }
                let value: String =
                    (0..pick(8)).map(|_| characters[pick(characters.len())]).collect();
                let in_quotes = pick(2) == 0;
                writer.field(&value, in_quotes, &mut text);
                let null = value.is_empty() && !(in_quotes && quote.is_some());
                row.push(if null { Value::Null } else { Value::Text(value) });
            }
            rows.push(row);
            text += newline;
        }
        let option = |c: Option<char>| c.map_or("none".to_owned(), String::from);
        let (delimiter, quote, escape) =
            (writer.delimiter.to_string(), option(writer.quote), option(writer.escape));
        let size = ["1k", "256k"][pick(2)];
        let options = [
            "--delimiter",
            &delimiter,
            "--quote",
            &quote,
            "--escape",
            &escape,
            "--header",
            "yes",
            "--types",
            "text",
            "--chunk-size",
            size,
            "--verify",
            "checksum",
        ];
        assert!(loaded(&text, &options) == rows, "round {round}: {options:?}\n{text:?}");
    }
}

/// The tools that compress, and how each is asked to write to standard output, fast.
const TOOLS: [(&str, &[&str]); 5] = [
    ("gzip", &["-c"]),
    ("zstd", &["-q", "-c"]),
    ("bzip2", &["-1", "-c"]),
    ("xz", &["-0", "-c"]),
    ("lz4", &["-q", "-c"]),
];

fn compressed(fixture: &Fixture, tool: usize, bytes: &[u8]) -> Vec<u8> {
    let (program, args) = TOOLS[tool];
    fixture.tool(program, args, bytes)
}

#[test]
fn compression_is_told_by_content_whatever_the_name() {
    let rows: String = (0..10_000).map(|n| format!("{n},name {n}\n")).collect();
    let text = format!("id,name\n{rows}");
    for (tool, (program, _)) in TOOLS.iter().enumerate() {
        let fixture = Fixture::new();
        for name in ["in.csv", "in.csv.gz", "in"] {
            fixture.write(name, compressed(&fixture, tool, text.as_bytes()));
            fixture.load(&[name, "t.db", "--if-exists", "replace"]).exits(0);
            let right = "SELECT count(*) FROM \"in\" WHERE name = 'name ' || id";
            assert_eq!(fixture.number("t.db", right), 10_000, "{program} as {name}");
        }
    }
    let fixture = Fixture::new();
    fixture.write("plain.csv.gz", "id,name\n1,a\n");
    fixture.load(&["plain.csv.gz", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "plain"), rows![[1, "a"]]);
}

#[test]
fn a_compressed_file_of_several_parts_is_read_to_its_end() {
    for (tool, (program, _)) in TOOLS.iter().enumerate() {
        let fixture = Fixture::new();
        let parts = ["id,name\n1,a\n", "2,b\n3,", "c\n"];
        let bytes: Vec<u8> =
            parts.iter().flat_map(|part| compressed(&fixture, tool, part.as_bytes())).collect();
        fixture.write("in.csv", bytes);
        fixture.load(&["in.csv", "t.db"]).exits(0);
        assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"], [2, "b"], [3, "c"]], "{program}");
    }
}

#[test]
fn zstd_that_needs_more_than_its_bytes_is_not_called_damaged() {
    let fixture = Fixture::new();
    // Frames of a window of 2 GiB, and of dictionary 7.
    let long = b"\x28\xb5\x2f\xfd\x00\xa8\x21\0\0id\n1".to_vec();
    let trained = b"\x28\xb5\x2f\xfd\x01\x00\x07\x21\0\0id\n1".to_vec();
    fixture.write("long.csv.zst", &long).write("trained.csv", &trained);
    fixture.write("in.zip", zip(&[("long.csv.zst", long), ("trained.csv.zst", trained)]));
    for (source, what, advice) in [
        ("long.csv.zst", "has a window of more than 128 MiB", "zstd -d --long=31 FILE"),
        ("in.zip!long.csv.zst", "has a window of more than 128 MiB", "zstd -d --long=31 FILE"),
        ("trained.csv", "needs the dictionary", "zstd -d -D DICTIONARY FILE"),
        ("in.zip!trained.csv.zst", "needs the dictionary", "zstd -d -D DICTIONARY FILE"),
    ] {
        let run = fixture.refuses(&[source, "t.db"]);
        let run = run.says(&[source, "its zstd data", what, advice]);
        assert!(!run.stderr.contains("damaged"), "{run:?}");
    }
}

#[test]
fn compressed_utf_16() {
    let fixture = Fixture::new();
    let bytes = utf16(&format!("\u{feff}{TEXT}"), u16::to_be_bytes);
    fixture.write("in.csv", compressed(&fixture, 1, &bytes));
    fixture.load(&["in.csv", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "Zo\u{eb}"], [2, "\u{20ac} \u{1f600}"]]);
}

/// 3 MB that don't compress well: what a cut-off file holds is rows, and a pipe's first MiB is not all of it.
fn noise() -> String {
    let mut random = Random(7);
    let mut text = String::from("id,code\n");
    for n in 0..1_875 {
        let code: String = (0..96).map(|_| format!("{:016x}", random.next())).collect();
        text.push_str(&format!("{n},{code}\n"));
    }
    text
}

#[test]
fn standard_input_of_every_compression() {
    let text = noise();
    for (tool, (program, _)) in TOOLS.iter().enumerate() {
        let fixture = Fixture::new();
        let bytes = compressed(&fixture, tool, text.as_bytes());
        fixture.load_reading(&bytes, &["-", "t.db"]).exits(0);
        let right = "SELECT count(*) FROM stdin WHERE length(code) = 1536";
        assert_eq!(fixture.number("t.db", right), 1_875, "{program}");
    }
}

#[test]
fn a_truncated_compressed_file_loads_nothing() {
    let text = noise();
    for (tool, (program, _)) in TOOLS.iter().enumerate() {
        let fixture = Fixture::new();
        fixture
            .sql("t.db", "CREATE TABLE t (id INTEGER, code TEXT); INSERT INTO t VALUES (1, 'old')");
        let whole = compressed(&fixture, tool, text.as_bytes());
        let message = format!("the {program} data ends in the middle");
        let append = ["in.csv", "t.db", "--table", "t", "--if-exists", "append"];
        // In the head, far behind it, and just before the end with its check sum.
        for len in [20, whole.len() / 2, whole.len() - 1] {
            fixture.write("in.csv", &whole[..len]);
            fixture.refuses(&append).says(&["in.csv", &message]);
        }
        fixture.refuses(&["in.csv", "new.db"]).says(&["in.csv", &message]);
        let pipe = fixture.leaves_all(|| {
            fixture.load_reading(&whole[..whole.len() / 2], &["-", "new.db"]).exits(1)
        });
        pipe.says(&[&message]).ends_with_nothing_changed();
    }
}

#[test]
fn a_damaged_compressed_file_loads_nothing() {
    let text = noise();
    for (tool, (program, _)) in TOOLS.iter().enumerate() {
        let fixture = Fixture::new();
        let mut bytes = compressed(&fixture, tool, text.as_bytes());
        let middle = bytes.len() / 2;
        for byte in &mut bytes[middle..middle + 64] {
            *byte ^= 0x5a;
        }
        fixture.write("in.csv", &bytes);
        // Bad rows may come out of a damaged block before its check sum is seen, so a limit on them must not hide it.
        fixture
            .refuses(&["in.csv", "new.db", "--types", "text", "--max-rejects", "100%"])
            .says(&["in.csv", program, "damaged"]);
    }
}

#[test]
fn what_follows_a_gzip_file_is_not_ignored() {
    let fixture = Fixture::new();
    let mut bytes = compressed(&fixture, 0, b"id,name\n1,a\n");
    bytes.extend_from_slice(b"2,b\n");
    fixture.write("in.csv.gz", bytes);
    fixture.refuses(&["in.csv.gz", "t.db"]).says(&["in.csv.gz", "gzip"]);
}

#[test]
fn a_first_file_of_comments_alone_is_an_empty_one() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "# nothing yet\n").write("b.csv", "id,v\n1,a\n");
    let load = ["a.csv", "b.csv", "t.db", "--table", "t", "--comment", "#"];
    fixture.load(&load).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"]]);
    fixture.refuses(&["a.csv", "u.db", "--comment", "#"]).says(&["--comment '#' leaves out"]);
    fixture.refuses(&["b.csv", "u.db", "--skip-lines", "50"]).says(&["--skip-lines 50 leaves out"]);
}

#[test]
fn a_text_may_have_a_duck_in_its_first_line() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "species,DUCK,n\n1,2,3\n");
    assert_eq!(fixture.report(&["t.csv", "t.db", "--header", "yes"])["rows_loaded"], 1);
}

#[test]
fn columns_may_have_signs_of_options_in_their_names() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "Rate %;Day %;a=b;Größe\n1,5;31.12.2024;NA;1\n2,5;30.12.2024;5;2\n");
    let more = ["--decimal", "Rate %=,", "--date-format", "Day %=%d.%m.%Y", "--null", "a=b=NA"];
    let types = ["--type", "a=b=integer", "--type", "GRÖßE=text", "--null", "GRÖßE=1"];
    fixture.load(&[&["t.csv", "t.db"], &more[..], &types].concat()).exits(0);
    let wanted = rows![[1.5, "2024-12-31", (), ()], [2.5, "2024-12-30", 5, "2"]];
    assert_eq!(fixture.table("t.db", "t"), wanted);
    let config = "columns.\"Rate %\".decimal = ','\ncolumns.\"Day %\".format = '%d.%m.%Y'\n\
        columns.\"a=b\" = {null = 'NA', rename = 'x=y'}\ncolumns.\"Größe\" = {type = 'text', null = '1'}\n";
    fixture.write("c.toml", config);
    fixture.load(&["t.csv", "t.db", "--config", "c.toml", "--if-exists", "replace"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), wanted);
    assert_eq!(fixture.columns("t.db", "t")[2].0, "x=y");
}

#[test]
fn a_columns_name_may_have_commas() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,\"Last, First\",x\n1,\"Bo, Al\",2\n");
    let load = ["t.csv", "t.db", "--columns", "Last, First,id", "--not-null", "Last, First"];
    fixture.load(&[&load[..], &["--primary-key", "Last, First"]].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["Bo, Al", 1]]);
    fixture.write("c.toml", "columns = [\"Last, First\"]\n");
    fixture.load(&["t.csv", "t.db", "--config", "c.toml", "--if-exists", "replace"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["Bo, Al"]]);
    let wrong = fixture.misused(&["load", "t.csv", "u.db", "--columns", "Last"]);
    wrong.says(&["use one of the columns: id, 'Last, First', x"]);
}

#[test]
fn one_column_gets_no_two_answers() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a,b\n1,2\n");
    for more in [
        ["--rename", "a=x", "--rename", "a=y"],
        ["--type", "a=integer", "--type", "a=text"],
        ["--type", "a=integer", "--type", "A=text"],
        ["--type", "a=money", "--type", "a=text"],
        ["--decimal", "a=,", "--decimal", "a=."],
    ] {
        fixture.misused(&[&["load", "t.csv", "t.db"], &more[..]].concat());
    }
    let twice = ["--rename", "a=x", "--rename", "a=x", "--type", "a=text", "--type", "a=text"];
    fixture.load(&[&["t.csv", "t.db"], &twice[..]].concat()).exits(0);
}

/// More digits than a type can count.
#[test]
fn numbers_of_any_length_are_looked_at() {
    let fixture = Fixture::new();
    let ones = "1".repeat(40_000);
    fixture.write("t.csv", format!("a\n{ones}\n0.{ones}\n"));
    fixture.load(&["t.csv", "t.db"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT max(length(a)) FROM t"), 40_002);
}

#[test]
fn columns_that_have_one_name_twice_in_another_order_are_refused_with_a_reason() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "a,a,b\n1,2,3\n").write("b.csv", "b,a,a\n1,2,3\n");
    fixture.refuses(&["a.csv", "b.csv", "t.db", "--table", "t"]).says(&["which is which"]);
}

#[test]
fn the_word_that_mysql_writes_for_null_is_said() {
    let note = "NULL is a text here, and NULL in what mysql -B writes (--null NULL reads it so)";
    let fixture = Fixture::new();
    for text in ["id\tname\n1\tNULL\n2\tAna\n", "id\tname\n1\tNULL\n2\tNULL\n"] {
        fixture.write("in.csv", text);
        let plan = |options: &[&str]| {
            fixture.inrush(&[&["plan", "in.csv", "t.db"], options].concat()).exits(0)
        };
        plan(&[]).prints(&[note]);
        for said in ["NULL", "name=NULL"] {
            let run = plan(&["--null", said]);
            assert!(!run.stdout.contains(note), "{run:?}");
        }
    }
    for text in ["id\tname\n1\t\"NULL\"\n2\tAna\n", "id,name\n1,NULL\n2,Ana\n"] {
        fixture.write("in.csv", text);
        let run = fixture.inrush(&["plan", "in.csv", "t.db"]).exits(0);
        assert!(!run.stdout.contains(note), "{run:?}");
    }
}

#[test]
fn two_lines_that_end_in_carriage_returns_and_a_newline_are_refused() {
    let fixture = Fixture::new();
    for text in ["name,city\rAna,Rome\r\n", "a,b\r1,2\r\n", "a,b\r1,2\n"] {
        fixture.write("in.csv", text);
        fixture.refuses(&["in.csv", "t.db"]).says(&["lines end in lone carriage returns"]);
    }
}

#[test]
fn files_that_end_their_lines_in_other_ways_are_told_apart_in_either_order() {
    let fixture = Fixture::new();
    fixture.write("lf.csv", "a,b\n1,2\n3,4\n").write("cr.csv", "a,b\r1,2\r3,4\r");
    for [one, other] in [["lf.csv", "cr.csv"], ["cr.csv", "lf.csv"]] {
        let said = format!("{other} ends its lines otherwise than {one}");
        fixture.refuses(&[one, other, "t.db"]).says(&[&said, "load them one by one"]);
    }
}

/// What `.mode ascii` of sqlite3 writes, of which every record would be part of a header without rows.
#[test]
fn records_that_end_in_a_character_of_ascii_are_refused() {
    let fixture = Fixture::new();
    for text in
        ["id\u{1f}name\u{1e}1\u{1f}a\u{1e}2\u{1f}c\u{1e}", "id\u{1f}v\u{1e}1\u{1f}a\nb\u{1e}"]
    {
        fixture.write("in.txt", text);
        for options in [&[][..], &["--delimiter", "\u{1f}"], &["--header", "no"]] {
            let run = fixture.refuses(&[&["in.txt", "t.db"], options].concat());
            run.says(&["U+001E stands between rows", "tr '\\036\\037' '\\n\\t'"]);
        }
    }
    assert_eq!(loaded("id,v\n1,\"a\u{1e}b\"\n", &[]), rows![[1, "a\u{1e}b"]]);
}
