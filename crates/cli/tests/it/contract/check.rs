use serde_json::Value as Json;

use super::{COLUMNS, Place, load};
use crate::fixture::{Outcome, json_lines};

const BAD: &str =
    "id,name\n1,a\n2\n4,\"a\nb\",c\n\"five\",e\n99999999999999999999,g\n8,\"h\"i\n9,i\n,\"\"\n";

/// `inrush check` of the place's table, which leaves everything as it is.
fn check<P: Place>(place: &P, args: &[&str]) -> Outcome {
    let target = ["--table", place.table(), &place.url()];
    let args = [&["check"], args, &target].concat();
    place.leaves_as_it_was(&COLUMNS, || place.files().inrush(&args))
}

/// Bad rows as the sidecar has them, without what a load of the file of bad rows goes by.
fn bad_rows(rows: &[Json]) -> Vec<Json> {
    let mut rows = rows.to_vec();
    rows.iter_mut().for_each(|row| {
        row.as_object_mut()
            .unwrap()
            .retain(|key, _| !["table", "dialect", "types", "line_hash"].contains(&key.as_str()));
    });
    rows
}

pub(super) fn finds_the_rows_that_a_load_would_reject<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", BAD).write("good.csv", "id,name\n1,a\n2,\n");
        let whole = ["--type", "id=integer"];
        for existing in [false, true] {
            check(place, &[&["good.csv"], &whole[..]].concat()).exits(0);
            let run = check(place, &[&["in.csv", "--json"], &whole[..]].concat()).exits(3);
            let found = run.json();
            assert_eq!((&found["rows_read"], &found["rows_good"]), (&8.into(), &3.into()));
            assert_eq!(found["rows_bad"], 5);
            check(place, &[&["in.csv"], &whole[..]].concat())
                .exits(3)
                .prints(&["line 3", "'five'"]);
            // A load says the same of them.
            let how = if existing { "append" } else { "empty" };
            let args = [&["in.csv", "--max-rejects", "5", "--if-exists", how], &whole[..]].concat();
            load(place, &args).exits(3);
            let told = json_lines(&files.read("in.rejects.csv.jsonl"));
            assert_eq!(found["bad_rows"].as_array().unwrap(), &bad_rows(&told));
            let is_created = found["makes_table"].as_bool().unwrap();
            assert_eq!(is_created, !existing, "{found}");
        }
        // A limit has no part in it, and the rows go to a file when one is named.
        let url = place.url();
        let args = ["check", "in.csv", &url, "--table", place.table(), "--rejects", "x.csv"];
        files.inrush(&[&args, &whole[..]].concat()).exits(3).prints(&["bad rows are in x.csv"]);
        assert_eq!(files.read("x.csv"), files.read("in.rejects.csv"));
    });
}
