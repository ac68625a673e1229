use std::io::Write as _;
use std::process::{Child, Output};

use super::written::records;
use super::{COLUMNS, Place, all_of, load};
use crate::crash::signal;
use crate::fixture::{Outcome, start, wait_until_it_waits};

/// A load that has read some thousand rows, and waits for more.
fn begin<P: Place>(place: &P, how: &str) -> Child {
    let url = place.url();
    let args =
        ["load", "-", "--table", place.table(), &url, "--if-exists", how, "--chunk-size", "16k"];
    let mut child = start(&mut place.files().command(&args));
    let name = "x".repeat(500);
    let rows: String = (1..=8_000).map(|n| format!("{n},{name}\n")).collect();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"id,name\n").unwrap();
    input.write_all(rows.as_bytes()).unwrap();
    // What it has in its hands is then on its way.
    wait_until_it_waits(&child);
    child
}

/// Ends loads into no table and into one that holds rows, and sees that nothing is changed and that the next one is none the worse.
fn leave_the_table_as_it_was<P: Place>(end: impl Fn(Child, &str)) {
    P::for_each(|place| {
        place.files().write("old.csv", "id,name\n-1,old\n").write("new.csv", "id,name\n7,new\n");
        for (how, after) in [
            ("empty", "7,new\n"),
            ("append", "-1,old\n7,new\n"),
            ("truncate", "7,new\n"),
            ("replace", "7,new\n"),
        ] {
            if how != "empty" {
                load(place, &["old.csv", "--if-exists", "replace"]).exits(0);
            }
            let before = place.rows(&COLUMNS);
            if how == "append" && !P::TRAITS.undoes_appends {
                end(begin(place, how), "stay in the table");
                let found = all_of(place, &COLUMNS);
                assert!(
                    before.iter().flatten().all(|row| found.contains(row)),
                    "old rows are gone"
                );
                continue;
            }
            end(begin(place, how), "nothing changed");
            assert_eq!(place.rows(&COLUMNS), before, "{how}");
            load(place, &["new.csv", "--if-exists", how]).exits(0);
            assert_eq!(all_of(place, &COLUMNS), records(after), "{how}");
        }
    });
}

pub(super) fn a_killed_load_leaves_the_table_as_it_was<P: Place>() {
    leave_the_table_as_it_was::<P>(|mut child, _| {
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

pub(super) fn a_load_that_is_stopped_leaves_the_table_as_it_was<P: Place>() {
    leave_the_table_as_it_was::<P>(|mut child, last_word| {
        signal(&child, "INT");
        // Who stops it at a terminal does not end its input.
        let input = child.stdin.take();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        drop(input);
        let run = Outcome::of("load, interrupted".to_owned(), (status, stdout, stderr));
        let run = run.exits(130).says(&["interrupted"]);
        assert!(run.stderr.lines().last().unwrap().contains(last_word), "{run:?}");
    });
}
