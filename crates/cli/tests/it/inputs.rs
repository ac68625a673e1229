//! Several files, patterns, pipes: whatever is named goes into one table.

use std::fs::{self, File};
use std::io::Write as _;

use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::fixture::{Fixture, Outcome, finish, json_lines, rows, some, start};

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
fn a_link_to_nothing_is_an_error_where_it_is_meant_and_none_elsewhere() {
    let fixture = tree();
    let link = |name: &str| std::os::unix::fs::symlink("nothing", fixture.path(name)).unwrap();
    // As Emacs locks a file; neither name fits, nor tells a format.
    link("in/.#b.csv");
    link("in/deep/notes");
    let sources = ["in/*.csv", "in/**/*.csv", "in", "in/**"];
    for source in sources {
        fixture.load(&[source, "t.db", "--table", "t", "--if-exists", "replace"]).exits(0);
    }
    link("in/lost.csv");
    for source in sources.into_iter().chain(["in/lost.csv"]) {
        let run = fixture.refuses(&[source, "new.db", "--table", "t"]);
        run.says(&["lost.csv: it is a link to nothing"]);
    }
    fixture.load(&["in/b*.csv", "t.db", "--table", "t", "--if-exists", "replace"]).exits(0);
    fixture.load(&["in/**/[b-e].csv", "t.db", "--table", "t", "--if-exists", "replace"]).exits(0);
}

#[test]
fn a_pattern_takes_what_is_hidden_where_it_names_the_dot() {
    let fixture = tree();
    // As the Finder of macOS leaves it on other file systems.
    fixture.write("in/._b.csv", b"\0\x05\x16\x07\0\x02\0\0");
    let names = |pattern: &str| {
        let plan = fixture.inrush(&["plan", pattern, "t.db", "--json"]).exits(0).json();
        let names = plan["source"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (pattern, wanted) in [
        ("in/*.csv", &["in/b.csv"][..]),
        ("in/?b.csv", &[]),
        ("in/[.]hidden.csv", &[]),
        ("in/*/*.csv", &["in/deep/d.csv"]),
        ("./in/*.csv", &["./in/b.csv"]),
        ("in/./deep/../*.csv", &["in/deep/../b.csv"]),
        ("in/.h*.csv", &["in/.hidden.csv"]),
        ("in/.*/*.csv", &["in/.git/c.csv"]),
        ("in/.git/*.csv", &["in/.git/c.csv"]),
        ("in/**/*.csv", &["in/b.csv", "in/deep/d.csv", "in/deep/er/e.csv"]),
        ("in/**/.h*.csv", &["in/.hidden.csv"]),
        ("**/.git/*.csv", &["in/.git/c.csv"]),
        ("i*/**/d.csv", &["in/deep/d.csv"]),
        ("in/*/er/*.csv", &["in/deep/er/e.csv"]),
        ("*/*.tsv", &["in/a.tsv"]),
    ] {
        match wanted {
            [] => drop(fixture.refuses(&[pattern, "t.db"]).says(&["matches no file"])),
            wanted => assert_eq!(names(pattern), wanted, "{pattern}"),
        }
    }
}

/// The command with a word of bytes that are no characters, in front of the others.
fn with_bytes(fixture: &Fixture, word: &[u8], args: &[&str]) -> Outcome {
    let mut command = fixture.command(&["load"]);
    command.arg(std::ffi::OsStr::from_bytes(word)).args(args);
    Outcome::of(format!("inrush load ... {}", args.join(" ")), finish(start(&mut command), b""))
}

/// `nu/c\xe8.csv` and `nu/c\xe9.csv`, each with a bad row.
fn not_utf8() -> Fixture {
    let fixture = Fixture::new();
    let folder = fixture.path("nu");
    fs::create_dir(&folder).unwrap();
    for (name, id) in [(&b"c\xe8.csv"[..], 1), (b"c\xe9.csv", 2)] {
        let path = folder.join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, format!("id,name\n{id},a\nx{id},b\n")).unwrap();
    }
    fixture
}

const BAD: [&str; 4] = ["--max-rejects", "all", "--type", "id=integer"];

#[test]
fn files_whose_names_are_not_utf8_are_told_apart() {
    let fixture = not_utf8();
    let url = |name: &str| format!("file://{}", fixture.path("nu").join(name).display());
    let report = fixture.load(&[&["nu", "t.db", "--json"], &BAD[..]].concat()).exits(3).json();
    assert_eq!(report["plan"]["source"], json!([url("c%E8.csv"), url("c%E9.csv")]));
    assert_eq!(report["rejects"], json!(["nu/c%E8.rejects.csv", "nu/c%E9.rejects.csv"]));
    for (name, id) in [("c%E8", 1), ("c%E9", 2)] {
        let rejects = format!("nu/{name}.rejects.csv");
        assert_eq!(fixture.read(&rejects), format!("id,name\nx{id},b\n").as_bytes());
        let notes = json_lines(&fixture.read(&format!("{rejects}.jsonl")));
        assert_eq!(notes[0]["file"], url(&format!("{name}.csv")));
    }
    assert_eq!(fixture.table("t.db", "nu"), rows![[1, "a"], [2, "a"]]);
    // The name that is shown names the file again, on the command line and in a list.
    let named = fixture.load(&[&[&url("c%E9.csv"), "t.db"], &BAD[..]].concat()).exits(3);
    named.prints(&["1 row loaded into new table c%E9", "nu/c%E9.rejects.csv"]);
    fixture.write("list", b"nu/c\xe9.csv\n");
    fixture
        .load(&[&["@list", "t.db", "--table", "l", "--add", "f=%file"], &BAD[..]].concat())
        .exits(3);
    assert_eq!(fixture.table("t.db", "l"), rows![[2, "a", "c%E9.csv"]]);
    // A pattern leaves none of them out.
    fixture.load(&[&["nu/c?.csv", "t.db", "--table", "p"], &BAD[..]].concat()).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM p"), 2);
}

#[test]
fn a_source_may_have_any_bytes_for_a_name_and_a_text_may_not() {
    let fixture = not_utf8();
    let args = [&["t.db", "--table", "t"], &BAD[..]].concat();
    with_bytes(&fixture, b"nu/c\xe9.csv", &args).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[2, "a"]]);
    fixture.write("list", b"nu/c\xe8.csv\n");
    let run = with_bytes(&fixture, b"--table=caf\xe9", &["list", "t.db"]).exits(2);
    run.says(&["not UTF-8: '--table=caf%E9'", "try: write it in UTF-8"]);
    let run = with_bytes(&fixture, b"--table=caf\xe9", &["list", "t.db", "--json"]).exits(2);
    assert_eq!(run.json()["error"]["kind"], "usage");
    // A target has a name in UTF-8.
    let mut command = fixture.command(&["load", "list"]);
    command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9.db"));
    let run = Outcome::of("inrush load".to_owned(), finish(start(&mut command), b"")).exits(2);
    run.says(&["which has to be UTF-8"]);
}

#[test]
fn a_load_in_steps_takes_files_whose_names_are_not_utf8() {
    let fixture = not_utf8();
    let args = [&["nu", "t.db", "--guarantee", "chunks"], &BAD[..]].concat();
    fixture.load(&args).exits(3);
    let again = fixture.report(&[&args[..], &["--resume"]].concat());
    assert_eq!(again["steps"]["was_finished"], true);
    assert_eq!(again["rejects"], json!(["nu/c%E8.rejects.csv", "nu/c%E9.rejects.csv"]));
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM nu"), 2);
    // The bytes may be those of the folder.
    let folder = fixture.path("nu").join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("in.csv"), "id,name\n1,a\nx,b\n").unwrap();
    let args = [&["t.db", "--guarantee", "chunks"], &BAD[..]].concat();
    with_bytes(&fixture, b"nu/\xff/in.csv", &args).exits(3);
    assert!(folder.join("in.rejects.csv").exists());
    with_bytes(&fixture, b"nu/\xff/in.csv", &[&args[..], &["--resume"]].concat())
        .exits(0)
        .prints(&["nothing to do"]);
}

#[test]
fn bad_rows_and_their_sidecar_are_known_in_a_folder_whose_name_is_not_utf8() {
    let fixture = Fixture::new();
    let folder = fixture.path("in").join(std::ffi::OsStr::from_bytes(b"d\xeb"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.jsonl"), "{\"id\":1}\n{\"id\":2}\n{\"id\":3,\n").unwrap();
    let load = ["t.db", "--table", "t", "--max-rejects", "1", "--json"];
    let report = with_bytes(&fixture, b"in/d\xeb/a.jsonl", &load).exits(3).json();
    assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&json!(2), &json!(1)));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    fs::write(folder.join("a.jsonl"), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n").unwrap();
    with_bytes(&fixture, b"in/d\xeb", &["all.db", "--table", "t"])
        .exits(0)
        .prints(&["left out, for they are bad rows"]);
    assert_eq!(fixture.table("all.db", "t"), rows![[1], [2], [3]]);
}

#[test]
fn a_tilde_that_no_shell_has_taken_is_said() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("list", "~/in.csv\n");
    fixture.write("c.toml", "rejects = \"~/r.csv\"\n");
    let misused = |args: &[&str], written: &str| {
        let mut command = fixture.command(&[&["load"], args].concat());
        command.env("HOME", "/home/me");
        let run = fixture.leaves_all(|| {
            Outcome::of(format!("inrush load {args:?}"), finish(start(&mut command), b"")).exits(2)
        });
        let run =
            run.says(&["only a shell takes ~ for the home directory", "write it out: ", written]);
        // A file of options that is not read says nothing of a target.
        if !args.contains(&"--config=~/c.toml") {
            run.ends_with_nothing_changed();
        }
    };
    misused(&["in.csv", "sqlite:~/t.db"], "sqlite:/home/me/t.db");
    misused(&["in.csv", "csv:~/o.csv"], "csv:/home/me/o.csv");
    misused(&["~/in.csv", "t.db"], "/home/me/in.csv");
    misused(&["@~/list", "t.db"], "@/home/me/list");
    misused(&["@list", "t.db"], "/home/me/in.csv");
    misused(&["in.csv", "t.db", "--rejects=~/r.csv"], "/home/me/r.csv");
    misused(&["in.csv", "t.db", "--config=c.toml"], "/home/me/r.csv");
    misused(&["in.csv", "t.db", "--config=~/c.toml"], "/home/me/c.toml");
    misused(&["in.csv", "t.db", "--profiles=~/p"], "/home/me/p");
    fixture.misused(&["man", "--out=~/man"]).says(&["write it out"]);
    // Where there is a folder of this name, it is that.
    fs::create_dir(fixture.path("~")).unwrap();
    fixture.load(&["in.csv", "sqlite:~/t.db"]).exits(0);
    assert_eq!(fixture.table("~/t.db", "in"), rows![[1]]);
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
    for new in ["ignore", "add", "fail"] {
        let anyhow = ["--missing-columns", "null", "--new-columns", new];
        let load = ["1.csv", "2.csv", "t.db", "--table", "t"];
        fixture.refuses(&[&load[..], &anyhow].concat()).says(&["2.csv", "2, y", "sed ''"]);
    }
    // Whatever a file between them adds.
    fixture.write("more.csv", "more,id\nq,4\n");
    let anyhow = ["--missing-columns", "null", "--new-columns", "add"];
    let load = ["1.csv", "more.csv", "2.csv", "t.db", "--table", "t"];
    fixture.refuses(&[&load[..], &anyhow].concat()).says(&["2.csv", "2, y", "sed ''"]);
    fixture.write("2.csv.gz", fixture.tool("gzip", &["-c", "2.csv"], b""));
    let run = fixture.refuses(&["1.csv", "2.csv.gz", "t.db", "--table", "t"]);
    assert!(!run.says(&["put the header in front"]).stderr.contains("sed"));
}

#[test]
fn pieces_of_a_split_file_are_joined_as_the_advice_has_it() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "id,n\n1,x").write("part=2.csv", "2,y\n3,z");
    let run = fixture.refuses(&["1.csv", "part=2.csv", "t.db", "--table", "t"]);
    run.says(&["sed '' FIRST SECOND... | inrush load - TARGET --table NAME"]);
    let joined = fixture.tool("sed", &["", "1.csv", "part=2.csv"], b"");
    fixture.load_reading(&joined, &["-", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "x"], [2, "y"], [3, "z"]]);
}

/// What is called text beside data is rather about it.
#[test]
fn a_text_about_the_data_is_named_and_what_leaves_it_out() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("rd")).unwrap();
    fixture.write("rd/README", "Read me: hello, world\n").write("rd/a.csv", "id,v\n1,a\n");
    let says = [
        "rd/README has Read me: hello, world",
        "leave out rd/README",
        "'rd/*.csv' leaves the other out",
    ];
    let run = fixture.refuses(&["rd", "t.db"]).says(&says);
    assert!(!run.stderr.contains("sed"), "{}", run.stderr);
    fixture.load(&["rd/*.csv", "t.db", "--table", "t"]).exits(0);
    std::fs::rename(fixture.path("rd/README"), fixture.path("rd/z.txt")).unwrap();
    fixture.refuses(&["rd", "u.db"]).says(&["rd/z.txt has none", "leave out rd/z.txt", says[2]]);
    // Of several each is named.
    fixture.write("rd/LICENSE", "Do what you like\n");
    fixture.refuses(&["rd", "u.db"]).says(&["'rd/*.csv' leaves out rd/LICENSE, rd/z.txt"]);
    // The pattern would take one more.
    fixture.write("rd/b.csv", "id,v\n2,b\n");
    let named = ["rd/a.csv", "rd/z.txt", "u.db", "--table", "t"];
    let run = fixture.refuses(&named).says(&["leave out rd/z.txt"]);
    assert!(!run.stderr.contains("*.csv"), "{}", run.stderr);
}

#[test]
fn an_empty_file_beside_others_is_named() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "id\n1\n").write("4.csv", "");
    let sources = ["1.csv", "4.csv", "t.db", "--table", "t"];
    fixture.load(&sources).exits(0).prints(&["4.csv is empty"]);
    fixture.inrush(&[&["check"], &sources[..2]].concat()).exits(0).prints(&["4.csv is empty"]);
}

#[test]
fn a_later_file_with_a_header_is_refused_where_the_first_has_none() {
    let fixture = Fixture::new();
    fixture
        .write("0.csv", "1,x\n2,y\n")
        .write("1.csv", "id,name\n3,z\n")
        .write("2.csv", "name,id\nw,4\n")
        .write("alone.csv", "id,name\n")
        .write("blank.csv", "order id,first name\n")
        .write("digit.csv", "id2,name2\n")
        .write("code.csv", "A17,z\n")
        .write("words.csv", "a,b\nc,d\n");
    for later in ["1.csv", "2.csv", "alone.csv", "blank.csv", "digit.csv"] {
        fixture.refuses(&["0.csv", later, "t.db", "--table", "t"]).says(&[
            later,
            "seems to have a header",
            "--header no",
            "--match position",
        ]);
    }
    // What the user says holds, and a line of words may be a row.
    fixture.load(&["0.csv", "1.csv", "s.db", "--table", "t", "--header", "no"]).exits(0);
    assert_eq!(fixture.table("s.db", "t").len(), 4);
    fixture.load(&["0.csv", "words.csv", "w.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("w.db", "t").len(), 4);
    fixture.load(&["0.csv", "code.csv", "c.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("c.db", "t").len(), 3);
    // As it is advised.
    fixture.load(&["0.csv", "t.db", "--table", "t"]).exits(0);
    let by_position = ["--if-exists", "append", "--match", "position"];
    let load = ["1.csv", "2.csv", "t.db", "--table", "t"];
    fixture.load(&[&load[..], &by_position].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "x"], [2, "y"], [3, "z"], [4, "w"]]);
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
    // However many columns the files before it have together.
    fixture
        .write("1.csv", "id,a\n1,x\n")
        .write("2.csv", "id,b\n2,y\n")
        .write("3.csv", "ID;a\n3;z\n");
    let load = ["1.csv", "2.csv", "3.csv", "t.db", "--table", "t"];
    fixture.refuses(&[&load[..], &anyhow].concat()).says(&["3.csv", "[;]", "one by one"]);
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
fn standard_input_by_another_name_is_loaded_once() {
    let fixture = Fixture::new();
    fixture.write("s.csv", "id\n1\n2\n");
    let read = |args: &[&str]| {
        let mut command = fixture.command(args);
        let run = command.stdin(File::open(fixture.path("s.csv")).unwrap()).output().unwrap();
        Outcome::of(args.join(" "), (run.status, run.stdout, run.stderr)).exits(0)
    };
    let load = ["--table", "t", "--if-exists", "replace"];
    for [one, other] in [
        ["-", "/dev/stdin"],
        ["/dev/stdin", "-"],
        ["-", "s.csv"],
        ["s.csv", "-"],
        ["s.csv", "/dev/fd/0"],
    ] {
        let said = format!("{other} is the same file as {one}, and loaded once");
        read(&[&["load", one, other, "t.db"], &load[..]].concat()).prints(&[&said]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1], [2]], "{one} {other}");
    }
    let checked = read(&["check", "-", "s.csv", "--json"]).json();
    assert_eq!(checked["rows_read"], 2);
    // A pipe has no file's name.
    let piped = [&["-", "/dev/stdin", "t.db"], &load[..]].concat();
    fixture.load_reading(b"id\n7\n", &piped).exits(0).prints(&["the same file as -"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[7]]);
    let others = [&["-", "s.csv", "t.db"], &load[..]].concat();
    fixture.load_reading(b"id\n7\n", &others).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[7], [1], [2]]);
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

#[test]
fn what_is_no_file_is_left_out_of_folders_and_patterns_and_that_is_said() {
    let fixture = Fixture::new();
    for folder in ["in/d.csv", "in/deep"] {
        fs::create_dir_all(fixture.path(folder)).unwrap();
    }
    fixture.write("in/a.csv", "id\n1\n").write("in/deep/e.csv", "id\n2\n");
    fixture.tool("mkfifo", &["in/b.csv", "in/deep/c.csv"], b"");
    for (source, wanted) in [
        ("in", "in/b.csv, in/d.csv"),
        ("in/*", "in/b.csv, in/d.csv"),
        ("in/*.csv", "in/b.csv, in/d.csv"),
        ("in/**", "in/b.csv, in/deep/c.csv"),
        ("**/*.csv", "in/b.csv, in/deep/c.csv"),
        ("*/deep/*", "in/deep/c.csv"),
    ] {
        let report = fixture.report(&[source, "t.db", "--table", "t", "--if-exists", "replace"]);
        let note = format!("left out, for they are no files: {wanted}");
        assert_eq!(report["warnings"].to_string().matches(&note).count(), 1, "{source}: {report}");
    }
    fixture
        .refuses(&["in/b*", "new.db"])
        .says(&["'in/b*' matches no file", "name what is no file itself: in/b.csv"]);
}

#[test]
fn a_pipe_without_a_name_is_standard_input_to_table_and_bad_rows() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id\n1\nx\n").write(
        "load.sh",
        concat!(
            "\"$1\" load <(cat a.csv) t.db --type id=integer --max-rejects 1 || test $? = 3\n",
            "\"$1\" load /dev/fd/3 t.db --table u 3<a.csv\n",
        ),
    );
    fixture.tool("bash", &["-e", "load.sh", crate::fixture::INRUSH], b"");
    assert_eq!(fixture.table("t.db", "stdin"), rows![[1]]);
    assert_eq!(fixture.read("stdin.rejects.csv"), b"id\nx\n");
}

/// A text in UTF-16, behind its byte order mark.
fn marked(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
}

#[test]
fn a_byte_order_mark_decides_what_utf16_is_and_contradicts_other_encodings() {
    let fixture = Fixture::new();
    let text = "id,name\n1,Zo\u{eb}\n2,Ana\n";
    fixture.write("le.csv", marked(text, u16::to_le_bytes));
    fixture.write("be.csv", marked(text, u16::to_be_bytes));
    fixture.write("utf8.csv", format!("\u{feff}{text}"));
    let rows = rows![[1, "Zo\u{eb}"], [2, "Ana"]];
    for (source, label) in [
        ("le.csv", "utf-16"),
        ("be.csv", "utf-16"),
        ("le.csv", "utf-16le"),
        ("be.csv", "UTF-16BE"),
        ("utf8.csv", "utf-8-sig"),
        // Bad rows of such an input come back with a mark.
        ("utf8.csv", "latin1"),
    ] {
        let load = [source, "t.db", "--table", "t", "--if-exists", "replace"];
        fixture.load(&[&load[..], &["--encoding", label]].concat()).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows, "{source} as {label}");
        assert_eq!(
            fixture.inrush(&["check", source, "--encoding", label, "--json"]).json()["rows_read"],
            2
        );
    }
    for (source, mark, labels) in [
        ("le.csv", "UTF-16LE", ["utf-16be", "utf-8", "latin1"]),
        ("be.csv", "UTF-16BE", ["utf-16le", "ascii", "shift_jis"]),
    ] {
        for label in labels {
            let says = format!("{source} begins with the byte order mark of {mark}");
            let says = [says.as_str(), &format!("--encoding says {label}"), "leave --encoding out"];
            fixture.refuses(&[source, "new.db", "--encoding", label]).says(&says);
            fixture.inrush(&["check", source, "--encoding", label]).exits(1).says(&says);
        }
    }
    // What no encoding makes text of.
    let utf32: Vec<u8> =
        format!("\u{feff}{text}").chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    fixture.write("utf32.csv", utf32);
    for label in ["utf-8", "utf-16", "utf-16le", "latin1"] {
        let run = fixture.refuses(&["utf32.csv", "new.db", "--encoding", label]);
        run.says(&["utf32.csv is text in UTF-32", "iconv -f UTF-32"]);
    }
}

#[test]
fn ascii_is_a_part_of_utf8_and_of_no_other_encoding() {
    let fixture = Fixture::new();
    fixture.write("utf8.csv", "id,name\n1,Zo\u{eb}\n").write("other.csv", b"id,name\n1,Zo\xeb\n");
    for label in ["ascii", "US-ASCII", "ANSI_X3.4-1968"] {
        fixture.load(&["utf8.csv", "t.db", "--if-exists", "replace", "--encoding", label]).exits(0);
        assert_eq!(fixture.table("t.db", "utf8"), rows![[1, "Zo\u{eb}"]], "{label}");
        fixture.refuses(&["other.csv", "new.db", "--encoding", label]).says(&["line 2", "0xeb"]);
    }
    fixture
        .misused(&["load", "utf8.csv", "new.db", "--encoding", "cp850"])
        .says(&["'cp850' is no encoding", "iconv -f cp850 -t UTF-8"]);
}

#[test]
fn what_office_keeps_beside_an_open_document_is_left_out_and_named() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("in")).unwrap();
    fixture.write("in/a.csv", "id\n1\n").write("in/~$a.csv", b"\x05user \0\0\0\0\0\0\0\0\0");
    for source in ["in", "in/**", "in/*", "in/*.csv"] {
        let load = [source, "t.db", "--table", "t", "--if-exists", "replace"];
        let report = fixture.report(&load);
        assert_eq!(report["rows_loaded"], 1, "{source}");
        let note = "left out, for Office keeps them while a document is open: in/~$a.csv";
        assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
    }
    fs::remove_file(fixture.path("in/a.csv")).unwrap();
    fixture.refuses(&["in/*.csv", "u.db"]).says(&["in/~$a.csv", "while a document is open"]);
}

#[test]
fn zeros_that_fill_up_a_record_of_a_tape_are_no_part_of_gzip() {
    let fixture = Fixture::new();
    let packed = crate::archives::gzip(b"id\n1\n");
    fixture.write("in.csv.gz", [packed.as_slice(), &[0; 10_000]].concat());
    fixture.report(&["in.csv.gz", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![[1]]);
    fixture.write("odd.csv.gz", [packed.as_slice(), &[0; 9], b"odd"].concat());
    fixture.refuses(&["odd.csv.gz", "t.db", "--if-exists", "append"]).says(&["odd.csv.gz"]);
}

/// What is looked at first may end inside a quoted field, whose lines are no records.
#[test]
fn long_texts_in_quotes_decide_neither_quote_nor_delimiter() {
    let fixture = Fixture::new();
    let said = "Chapter\n\"Yes\", said he.\n\"No\", said she.\n".repeat(700);
    let listed = "foo;bar\n".repeat(12_000);
    for (name, text, rows) in [
        ("said", said, 60),
        ("listed", format!("x\n{listed}"), 20),
        ("tabs", format!("x\n{}", listed.replace(';', "\t")), 20),
        ("longest", "x;y\n".repeat(400_000), 2),
    ] {
        for header in ["id,text\n", ""] {
            let quoted = format!("\"{}\"", text.replace('"', "\"\""));
            let lines: String = (1..=rows).map(|id| format!("{id},{quoted}\n")).collect();
            fixture.write("t.csv", format!("{header}{lines}"));
            let is_there = if header.is_empty() { "no" } else { "yes" };
            let load = ["t.csv", "t.db", "--if-exists", "replace", "--header", is_there];
            fixture.load(&load).exits(0);
            let column = if header.is_empty() { "column_2" } else { "text" };
            let same = format!("SELECT count(*), min({column}), max({column}) FROM t");
            let found = fixture.query("t.db", &same);
            assert_eq!(found, rows![[rows, text.as_str(), text.as_str()]], "{name}");
        }
    }
}

/// A quote that was not closed makes no file one without quotes, and of its lines no records.
#[test]
fn a_quote_that_is_never_closed_is_an_error_and_makes_no_rows_of_lines() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,x\n2,\"a\n\"\"b\"\", c\n\"\"d\"\", e\n\"\"f\"\", g\n");
    fixture.refuses(&["t.csv", "t.db"]).says(&["line 3", "is never closed"]);
}

/// Where the lines that follow are rows it costs its line, in whichever column and record it stands.
#[test]
fn a_stray_quote_costs_its_line_and_no_column() {
    let fixture = Fixture::new();
    let load = ["t.csv", "t.db", "--if-exists", "replace", "--max-rejects", "1"];
    let long = "word".repeat(100);
    for delimiter in some(vec![",", ";", "\t", "|"]) {
        // The last is longer than what is looked at.
        for (column, header, rows, word) in [
            (0, true, 40, "word"),
            (1, true, 40, "word"),
            (2, false, 40, "word"),
            (0, false, 1_500, long.as_str()),
        ] {
            for stray in [1, 2, 30] {
                let field = |row: usize, at: usize| match (row, at) {
                    at if at == (stray, column) => format!("\"{row}"),
                    (_, 0) => row.to_string(),
                    _ => word.to_owned(),
                };
                let row = |row| [0, 1, 2].map(|at| field(row, at)).join(delimiter) + "\n";
                let names = ["id", "a", "b"].join(delimiter) + "\n";
                let names = if header { names } else { String::new() };
                fixture.write("t.csv", names + &(1..=rows).map(row).collect::<String>());
                let is_there = if header { "yes" } else { "no" };
                let run = fixture.load(&[&load[..], &["--header", is_there, "--json"]].concat());
                let report = run.exits(3).json();
                let wanted = (rows as u64 - 1, 1, 3);
                let columns = report["plan"]["columns"].as_array().unwrap().len();
                let number = |key: &str| report[key].as_u64().unwrap();
                let found = (number("rows_loaded"), number("rows_rejected"), columns);
                assert_eq!(found, wanted, "{delimiter:?} {column} {header} {rows} {stray}");
            }
        }
    }
    // To another delimiter the lines behind it are none of its records, and those before are.
    let rows: String = (5..300).map(|id| format!("{id};d\n")).collect();
    for (header, is_there) in [("", "no"), ("id;v\n", "yes")] {
        let text = format!("{header}1,5;a\n2,5;b\n3,5;c\n\"4;d\n{rows}");
        fixture.write("t.csv", text);
        let load = ["t.csv", "t.db", "--if-exists", "replace", "--max-rejects", "9"];
        let run = fixture.load(&[&load[..], &["--header", is_there]].concat()).exits(3);
        run.prints(&["295 rows loaded", "4 bad rows"]);
    }
}
