use super::written::{Kind, plain, plain_rows, records};
use super::{COLUMNS, Place, TWO_LANES, adding, all_of, by_every_strategy, load, refuses, sorted};

pub(super) fn are_added_to_emptied_or_replaced_as_was_asked<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files.write("old.csv", "id,name\n1,old\n").write("new.csv", "name,id\nnew,2\n,3\n");
        let run = |how: &str| load(place, &[&["new.csv", "--if-exists", how], way].concat());
        let is = |rows: &str| assert_eq!(all_of(place, &COLUMNS), records(rows), "{way:?}");
        load(place, &["old.csv"]).exits(0);
        for how in ["empty", "fail"] {
            let args = [&["new.csv", "--if-exists", how], way].concat();
            refuses(place, &COLUMNS, &args).says(&[place.table()]);
        }
        is("1,old\n");
        // Columns are found by their names.
        load(place, &[&["new.csv"], &adding::<P>(way)[..]].concat()).exits(0);
        is("1,old\n2,new\n3,\n");
        run("truncate").exits(0);
        is("2,new\n3,\n");
        files.write("new.csv", "id,name\n4,four\n");
        run("replace").exits(0);
        is("4,four\n");
        // Of the old table nothing is left, not even its columns.
        files.write("new.csv", "id,other\n5,x\n");
        run("replace").exits(0);
        assert_eq!(all_of(place, &["id", "other"]), records("5,x\n"), "{way:?}");
    });
}

pub(super) fn a_plan_touches_nothing<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,name\n1,a\n");
        let plan = |more: &[&str]| {
            let args = ["plan", "in.csv", "--table", place.table(), &place.url()];
            files.leaves_all(|| files.inrush(&[&args, more].concat())).exits(0);
        };
        plan(&[]);
        assert_eq!(place.rows(&COLUMNS), None);
        load(place, &["in.csv"]).exits(0);
        let before = all_of(place, &COLUMNS);
        plan(&["--if-exists", "replace"]);
        plan(&["--if-exists", "append", "--json"]);
        assert_eq!(all_of(place, &COLUMNS), before);
    });
}

pub(super) fn a_header_alone_is_a_table_without_rows<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", "id,name\n").write("one.csv", "id,name\n1,a\n");
        let report = load(place, &[&["in.csv", "--json"], way].concat()).exits(0).json();
        assert_eq!((&report["rows_read"], &report["rows_loaded"]), (&0.into(), &0.into()));
        assert_eq!(report["verify"]["ok"], true);
        assert_eq!(all_of(place, &COLUMNS), records(""));
        load(place, &[&["one.csv"], way].concat()).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n"));
        load(place, &[&["in.csv"], &adding::<P>(way)[..]].concat()).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n"), "nothing added by {way:?}");
    });
}

pub(super) fn an_empty_file_is_an_error<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "");
        refuses(place, &COLUMNS, &["in.csv"]).says(&["in.csv is empty"]);
        refuses(place, &COLUMNS, &["none.csv"]).says(&["none.csv"]);
        assert_eq!(place.rows(&COLUMNS), None);
    });
}

/// An error message, as a program that failed may have left in the place of its rows.
pub(super) fn a_line_that_is_no_header_replaces_no_table<P: Place>() {
    // The columns of a file that is replaced are not looked at: it may be damaged.
    if P::TRAITS.takes_any || P::TRAITS.target == "files" {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,name\n1,a\n").write("hello.csv", "hello\n");
        load(place, &["in.csv"]).exits(0);
        let replace = ["hello.csv", "--if-exists", "replace"];
        let said = ["the line names no column of table", "--header yes if the line has the names"];
        refuses(place, &COLUMNS, &replace).says(&said);
        files.write("hello.csv", "id,name\n");
        load(place, &replace).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records(""));
        files.write("hello.csv", "what,ever\n");
        load(place, &[&replace[..], &["--header", "yes"]].concat()).exits(0);
        assert_eq!(all_of(place, &["what", "ever"]), records(""));
    });
}

pub(super) fn an_empty_array_has_no_rows<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("none.json", " []\n").write("in.json", "[{\"id\":1,\"name\":\"a\"}]\n");
        let run = load(place, &["none.json", "in.json", "--json"]).exits(0);
        let notes = run.json()["warnings"].to_string();
        assert!(notes.contains("none.json is an empty array: no rows"), "{notes}");
        // Collections have no columns that rows of none would go into.
        if !P::TRAITS.takes_any {
            let adding = ["none.json", "--if-exists", "append", "--json"];
            assert_eq!(load(place, &adding).exits(0).json()["rows_read"], 0);
        }
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n"));
    });
}

pub(super) fn a_report_adds_up<P: Place>() {
    const KEYS: [&str; 14] = [
        "version",
        "plan",
        "rows_read",
        "rows_loaded",
        "rows_rejected",
        "rows_skipped",
        "bytes_read",
        "seconds",
        "rows_per_second",
        "mb_per_second",
        "stages",
        "verify",
        "durability_read_back",
        "warnings",
    ];
    const PLANNED: [&str; 13] = [
        "source",
        "target",
        "table",
        "strategy",
        "knobs",
        "columns",
        "dialect",
        "durability",
        "lanes",
        "encoders",
        "chunk_bytes",
        "memory_ceiling_bytes",
        "reasons",
    ];
    by_every_strategy::<P>(|place, way| {
        let text = "id,name\n1,a\nx,b\n3,c\n";
        place.files().write("in.csv", text);
        for how in ["count", "checksum"] {
            let more = ["--type", "id=integer", "--max-rejects", "1", "--if-exists", "replace"];
            let args = [&["in.csv", "--json", "--verify", how], &more[..], way].concat();
            let report = load(place, &args).exits(3).json();
            let count = |name: &str| report[name].as_u64().unwrap();
            assert_eq!(count("rows_read"), 3);
            assert_eq!((count("rows_loaded"), count("rows_rejected")), (2, 1));
            // Without the header.
            assert_eq!(count("bytes_read"), text.len() as u64 - 8);
            assert_eq!(
                (&report["verify"]["method"], &report["verify"]["ok"]),
                (&how.into(), &true.into())
            );
            KEYS.iter().for_each(|key| assert!(report.get(key).is_some(), "no {key}"));
            PLANNED.iter().for_each(|key| assert!(report["plan"].get(key).is_some(), "no {key}"));
            for key in ["total", "load", "index", "durable", "verify"] {
                assert!(report["seconds"][key].as_f64().is_some_and(|s| s >= 0.0), "{key}");
            }
            assert_eq!(report["plan"]["table"], place.table());
            let chosen = report["plan"]["strategy"].as_str().unwrap();
            assert_eq!(chosen.split_once('/').unwrap().0, P::TRAITS.target);
            if let ["--strategy", asked, ..] = way {
                assert_eq!(chosen, *asked);
            }
        }
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n3,c\n"));
    });
}

/// Whatever an existing table's text for bytes would be: bad rows that were fixed are loaded with the options of the first load.
pub(super) fn bytes_that_are_asked_for_are_the_files_own<P: Place>() {
    const BYTES: [&str; 2] = ["id", "data"];
    const TYPES: [&str; 4] = ["--type", "id=integer", "--type", "data=bytes"];
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files
            .write("all.csv", "id,data\n1,\\101\n2,\\101\\102\n3,0x41\n")
            .write("one.csv", "id,data\n1,\\101\n")
            .write("others.csv", "id,data\n2,\\101\\102\n3,0x41\n");
        load(place, &[&["all.csv"], &TYPES[..], way].concat()).exits(0);
        let wanted = all_of(place, &BYTES);
        load(place, &[&["one.csv", "--if-exists", "replace"], &TYPES[..], way].concat()).exits(0);
        load(place, &[&["others.csv"], &TYPES[..], &adding::<P>(way)].concat()).exits(0);
        assert_eq!(all_of(place, &BYTES), wanted, "{way:?}");
    });
}

/// By a key that counts by itself no row would be found, and each run would add them all.
pub(super) fn rows_are_compared_by_a_key_that_they_have<P: Place>() {
    if !P::TRAITS.has_keys || P::TRAITS.takes_any {
        return;
    }
    P::for_each(|place| {
        place.files().write("old.csv", "id,name\n1,old\n").write("new.csv", "name\nnew\n");
        load(place, &["old.csv", "--primary-key", "id"]).exits(0);
        for how in ["skip", "update", "replace"] {
            let args = ["new.csv", "--if-exists", "append", "--on-conflict", how];
            refuses(place, &COLUMNS, &args).says(&[
                "compared by the key",
                "column id",
                "--add id=",
            ]);
        }
    });
}

/// All rows of a source may be in the table, and only some of their columns are to change: what the table has to have besides is there.
pub(super) fn columns_that_the_source_lacks_stay_as_they_are<P: Place>() {
    const NAMES: [&str; 5] = ["N\"Ame", "Id", "Price", "day", "note"];
    const KINDS: [Kind; 5] = [Kind::Text, Kind::Text, Kind::Decimal, Kind::Date, Kind::Text];
    if !P::TRAITS.has_keys || P::TRAITS.takes_any {
        return;
    }
    let header = "\"N\"\"Ame\",Id,Price,day,note\n";
    let (two, three) = ("b,2,20,2024-01-02,\n", "c,3,30,2024-01-03,z\n");
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files.write("old.csv", format!("{header}a,1,10.5,2024-01-01,x\n{two}{three}"));
        let made = ["--primary-key", "Id", "--not-null", "N\"Ame", "--not-null", "day"];
        load(place, &[&["old.csv"], &made[..]].concat()).exits(0);
        let update = [&["in.csv", "--on-conflict", "update"][..], &adding::<P>(way)].concat();
        let write = |text: &str| {
            files.write("in.csv", text);
        };
        let found = || plain_rows(all_of(place, &NAMES), &KINDS);
        let is =
            |rows: &str| assert_eq!(found(), plain(&[header, rows].concat(), &KINDS), "{way:?}");
        write("Id,Price\n3,33.5\n1,11\n");
        let run = load(place, &[&update[..], &["--json"]].concat());
        // What can't do this says so.
        if run.status.code() == Some(2) {
            assert_eq!(run.json()["error"]["kind"], "usage");
            return;
        }
        let report = run.exits(0).json();
        let counts =
            ["rows_loaded", "rows_inserted", "rows_updated"].map(|key| report[key].clone());
        assert_eq!(counts, [2, 0, 2], "{way:?}");
        let reasons = report["plan"]["reasons"].to_string();
        assert!(reasons.contains("they stay as they are"), "{reasons}");
        let three = "c,3,33.5,2024-01-03,z\n";
        is(&format!("a,1,11,2024-01-01,x\n{two}{three}"));
        // A new row has nothing that could stay.
        write("Id,Price\n1,12\n9,99\n2,20\n");
        let says = ["in.csv: line 3", "the row is new", "has no default"];
        refuses(place, &NAMES, &update).says(&says);
        let run =
            |bad: &str| load(place, &[&update[..], &["--max-rejects", bad, "--json"]].concat());
        let report = run("1").exits(3).json();
        assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&2.into(), &1.into()));
        assert_eq!(files.read("in.rejects.csv"), b"Id,Price\n9,99\n", "{way:?}");
        is(&format!("a,1,12,2024-01-01,x\n{two}{three}"));
        // The last row of a key has the last word, however many there are, and none of a new key adds a row for the next.
        let many: String = (0..40).map(|price| format!("1,{price}\n9,1\n")).collect();
        write(&format!("Id,Price\n1,5\n{many}2,20\n"));
        assert_eq!(run("40").exits(3).json()["rows_loaded"], 42, "{way:?}");
        is(&format!("a,1,39,2024-01-01,x\n{two}{three}"));
        // A key of NULL is nobody's.
        write("Id,Price\n,5\n1,6\n");
        assert_eq!(run("1").exits(3).json()["rows_loaded"], 1, "{way:?}");
        is(&format!("a,1,6,2024-01-01,x\n{two}{three}"));
        if P::TRAITS.has_steps {
            write("Id,Price\n1,7\n3,33.5\n");
            let steps = ["--guarantee", "chunks", "--commit-rows", "1"];
            let run = load(place, &[&update[..], &steps].concat());
            if run.status.code() != Some(2) {
                run.exits(0);
                is(&format!("a,1,7,2024-01-01,x\n{two}{three}"));
            }
        }
        // Any other answer to a duplicate key has rows that are new.
        for how in ["skip", "replace"] {
            let args = [&["in.csv", "--on-conflict", how][..], &adding::<P>(&[])].concat();
            refuses(place, &NAMES, &args).says(&["the source has no such column"]);
        }
    });
}

/// The same where the rows are found by several columns.
pub(super) fn columns_stay_as_they_are_in_rows_with_a_key_of_several<P: Place>() {
    const NAMES: [&str; 4] = ["b", "name", "A", "price"];
    if !P::TRAITS.has_keys || P::TRAITS.takes_any {
        return;
    }
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files.write("old.csv", "b,name,A,price\nx,one,1,5\ny,two,1,6\nx,three,2,7\n");
        load(place, &["old.csv", "--primary-key", "A,b", "--not-null", "name"]).exits(0);
        files.write("in.csv", "price,A,b\n8,2,x\n9,1,y\n1,2,y\n");
        let args = ["in.csv", "--on-conflict", "update", "--max-rejects", "1", "--json"];
        let run = load(place, &[&args[..], &adding::<P>(way)].concat());
        if run.status.code() == Some(2) {
            assert_eq!(run.json()["error"]["kind"], "usage");
            return;
        }
        assert_eq!(run.exits(3).json()["rows_loaded"], 2, "{way:?}");
        assert_eq!(files.read("in.rejects.csv"), b"price,A,b\n1,2,y\n", "{way:?}");
        let wanted = records("x,one,1,5\nx,three,2,8\ny,two,1,9\n");
        assert_eq!(all_of(place, &NAMES), wanted, "{way:?}");
    });
}

/// Several connections would decide by their speed which row is the last.
pub(super) fn rows_with_one_key_go_into_a_new_table_in_order<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    let file = |from: usize, to: usize| -> String {
        (from..to).map(|row| format!("{},{row}\n", row % 40)).collect()
    };
    for (how, stays) in [("skip", 0), ("update", 360), ("replace", 360)] {
        P::for_each(|place| {
            place.files().write("t.csv", format!("id,name\n{}", file(0, 400)));
            let args = ["t.csv", "--primary-key", "id", "--on-conflict", how, "--json"];
            let run = load(place, &[&args[..], TWO_LANES].concat());
            // What can't do this says so.
            if run.status.code() == Some(2) {
                assert_eq!(run.json()["error"]["kind"], "usage");
                return;
            }
            let report = run.exits(0).json();
            assert_eq!(report["plan"]["lanes"], 1, "{how}");
            let wanted = records(&file(stays, stays + 40));
            assert_eq!(all_of(place, &COLUMNS), sorted(wanted), "{how}");
        });
    }
}

pub(super) fn names_that_are_hardly_meant_are_told<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,name\n1,a\n");
        let url = place.url();
        for (table, says) in [
            ("'t9'", "--table t9 has"),
            (" t9", "--table t9 has"),
            ("t9(id,name)", "--table t9 --columns id,name"),
        ] {
            let run = files.load(&["in.csv", &url, "--table", table, "--dry-run"]);
            match P::TRAITS.target {
                // There a table is a file.
                "files" => run.exits(0),
                _ => run.exits(0).prints(&[says]),
            };
        }
    });
}
