use serde_json::json;

use super::written::{Kind, plain, plain_rows, records};
use super::{COLUMNS, Place, adding, all_of, by_every_strategy, load};
use crate::fixture::one;

pub(super) fn count_each_input<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files.write("a.csv", "id,name\n1,a\nx,b\n3,c\n").write("b.csv", "id,name\n4,d\n");
        files.write("none.csv", "id,name\n");
        let more = ["--type", "id=integer", "--max-rejects", "1", "--json"];
        let args = [&["a.csv", "none.csv", "b.csv"], &more[..], way].concat();
        let report = load(place, &args).exits(3).json();
        let input = |file: &str, bytes: u64, read: u64, loaded: u64| {
            json!({
                "file": file, "bytes": bytes, "rows_read": read, "rows_loaded": loaded,
                "rows_rejected": read - loaded, "rows_skipped": 0,
            })
        };
        let inputs =
            [input("a.csv", 20, 3, 2), input("none.csv", 8, 0, 0), input("b.csv", 12, 1, 1)];
        assert_eq!(report["inputs"], json!(inputs), "{way:?}");
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n3,c\n4,d\n"));
    });
}

pub(super) fn a_file_is_loaded_once_however_often_it_is_named<P: Place>() {
    P::for_each(|place| {
        place.files().write("a.csv", "id,name\n1,a\n").write("b.csv", "id,name\n2,b\n");
        let report = load(place, &["a.csv", "*.csv", "./b.csv", "--json"]).exits(0).json();
        assert_eq!(report["plan"]["source"], json!(["a.csv", "b.csv"]));
        assert_eq!(
            (&report["warnings"][0], &report["warnings"][1]),
            (
                &"a.csv is named more than once, and loaded once".into(),
                &"./b.csv is the same file as b.csv, and loaded once".into()
            )
        );
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n2,b\n"));
    });
}

pub(super) fn tell_new_rows_from_changed_ones<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files
            .write("old.csv", "id,name\n1,a\n2,b\n3,c\n")
            .write("new.csv", "id,name\n3,x\n4,d\n5,e\n")
            .write("more.csv", "id,more,name\n3,m,y\n6,n,f\n");
        let key: &[&str] = if P::TRAITS.has_keys { &["--primary-key", "id"] } else { &[] };
        let report = load(place, &[&["old.csv", "--json"], key, way].concat()).exits(0).json();
        // Whoever asks for no conflict changes no row.
        assert_eq!((&report["rows_inserted"], &report["rows_updated"]), (&3.into(), &0.into()));
        // A row with a duplicate key is left out.
        load(place, &[&["old.csv", "--if-exists", "replace"], key].concat()).exits(0);
        let skip = [&["new.csv", "--on-conflict", "skip", "--json"], P::TRAITS.with_key].concat();
        let run = load(place, &[&skip[..], &adding::<P>(way)].concat());
        if run.status.code() == Some(2) {
            assert_eq!(run.json()["error"]["kind"], "usage");
        } else {
            let report = run.exits(0).json();
            let counts =
                ["rows_read", "rows_loaded", "rows_skipped"].map(|key| report[key].clone());
            assert_eq!(counts, [3, 2, 1], "{way:?}");
            assert_eq!(all_of(place, &COLUMNS), records("1,a\n2,b\n3,c\n4,d\n5,e\n"), "{way:?}");
        }
        let both = vec![("update", "updated"), ("replace", "replaced")];
        for (how, names) in if way.is_empty() { both } else { one(both) } {
            load(place, &[&["old.csv", "--if-exists", "replace"], key].concat()).exits(0);
            let args =
                [&["new.csv", "--on-conflict", how], P::TRAITS.with_key, &adding::<P>(way)[..]]
                    .concat();
            let run = load(place, &[&args[..], &["--json"]].concat());
            // What can't do this says so, and has nothing to count.
            if run.status.code() == Some(2) {
                assert_eq!(run.json()["error"]["kind"], "usage");
                continue;
            }
            let report = run.exits(0).json();
            assert_eq!(report["rows_loaded"], 3, "{way:?}");
            let counts = (&report["rows_inserted"], &report["rows_updated"]);
            assert_eq!(counts, (&2.into(), &1.into()), "{how} {way:?}");
            assert_eq!(all_of(place, &COLUMNS), records("1,a\n2,b\n3,x\n4,d\n5,e\n"));
            // All of them are there now; for people.
            let run = load(place, &args).exits(0);
            run.prints(&["3 rows loaded", &format!("0 rows inserted, 3 {names}")]);
            let unverified = [&args[..], &["--json", "--verify", "none"]].concat();
            let report = load(place, &unverified).exits(0).json();
            assert!(report["rows_inserted"].is_null() && report["rows_updated"].is_null());
            // What a column is given that the table gets by the way changed rows have as well.
            if !P::TRAITS.takes_any {
                load(place, &[&["more.csv", "--new-columns", "add"], &args[1..]].concat()).exits(0);
                let (names, kinds) = (["id", "name", "more"], [Kind::Text; 3]);
                let wanted = "id,name,more\n1,a,\n2,b,\n3,y,m\n4,d,\n5,e,\n6,f,n\n";
                let found = plain_rows(all_of(place, &names), &kinds);
                assert_eq!(found, plain(wanted, &kinds), "{how} {way:?}");
            }
        }
    });
}

pub(super) fn a_failure_is_an_object_with_its_place<P: Place>() {
    P::for_each(|place| {
        place.files().write("a.csv", "id,name\n1,a\n").write("b.csv", "id,name\n2,b\nx,c\n");
        let args = ["a.csv", "b.csv", "--type", "id=integer"];
        let fails = |more: &[&str], code| {
            let run = place.files().leaves_all(|| load(place, &[&args, more].concat())).exits(code);
            assert_eq!(place.rows(&COLUMNS), None);
            run
        };
        assert_eq!(fails(&[], 1).stdout, "");
        let run = fails(&["--json"], 1).says(&["b.csv: line 3"]).ends_with_nothing_changed();
        let error = &run.json()["error"];
        let place = (&error["file"], &error["line"], &error["record"], &error["column"]);
        assert_eq!(place, (&"b.csv".into(), &3.into(), &2.into(), &"id".into()));
        assert_eq!(
            (&error["kind"], &error["aftermath"]),
            (&"rejects".into(), &"nothing-changed".into())
        );
        assert!(error["message"].as_str().unwrap().starts_with("b.csv: line 3, column id: "));
        assert!(error["advice"].as_array().is_some_and(|advice| !advice.is_empty()), "{error}");
        // What is wrong with the request has no place in a file.
        let error = &fails(&["--json", "--strategy", "warp"], 2).json()["error"];
        assert_eq!((&error["kind"], &error["file"]), (&"usage".into(), &json!(null)));
    });
}
