use std::cell::Cell;
use std::io::Write as _;
use std::process::{Child, Output};
use std::thread::sleep;
use std::time::Instant;

use super::written::records;
use super::{COLUMNS, Place, adding, all_of, by_every_strategy, load, sorted};
use crate::crash::signal;
use crate::fixture::{Outcome, Random, finish, size, start, wait_until_it_waits};

/// A load that has read more than is looked at before one begins, and waits for more.
fn begin<P: Place>(place: &P, how: &str) -> Child {
    let url = place.url();
    let args =
        ["load", "-", "--table", place.table(), &url, "--if-exists", how, "--chunk-size", "16k"];
    let mut child = start(&mut place.files().command(&args));
    let name = "x".repeat(1_500);
    let rows: String = (1..=1_500).map(|n| format!("{n},{name}\n")).collect();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"id,name\n").unwrap();
    input.write_all(rows.as_bytes()).unwrap();
    // All but what a pipe holds has been taken, and most of it is on its way.
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
            place.settle();
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
    let asked = Cell::new(0);
    leave_the_table_as_it_was::<P>(|mut child, last_word| {
        wait_until_it_waits(&child);
        // By who sits at the terminal, and by who manages services.
        signal(&child, ["INT", "TERM"][asked.replace(asked.get() + 1) % 2]);
        // Who stops it at a terminal does not end its input.
        let input = child.stdin.take();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        drop(input);
        let run = Outcome::of("load, interrupted".to_owned(), (status, stdout, stderr));
        let run = run.exits(130).says(&["interrupted"]);
        assert!(run.stderr.lines().last().unwrap().contains(last_word), "{run:?}");
    });
}

/// Rows of a load that is ended: enough to be caught at one.
const ROWS: usize = 4_000;

pub(super) fn a_load_that_ends_at_any_moment_leaves_the_table_as_it_was<P: Place>() {
    // Here a slow target never has as many: each of them is loaded again and again.
    let rows = size(ROWS, 4 * ROWS) / if P::TRAITS.slow { 10 } else { 1 };
    let new: String = (1..=rows).map(|id| format!("{id},name of {id}\n")).collect();
    by_every_strategy::<P>(|place, way| {
        let (files, url) = (place.files(), place.url());
        files.write("old.csv", "id,name\n-1,old\n").write("new.csv", format!("id,name\n{new}"));
        let prepare = || load(place, &["old.csv", "--if-exists", "replace"]).exits(0);
        let old = records("-1,old\n");
        let replace = [&["--if-exists", "replace"], way].concat();
        let add = adding::<P>(way);
        prepare();
        let began = Instant::now();
        load(place, &[&["new.csv"], &replace[..]].concat()).exits(0);
        let mut whole = began.elapsed();
        prepare();
        let mut random = Random(0x31);
        let (mut ended, times) = (0, size(2, 8));
        while ended < times {
            let how = if ended % 2 == 0 && P::TRAITS.undoes_appends { &add } else { &replace };
            let is_killed = ended % 4 < 2;
            let args = ["load", "new.csv", "--table", place.table(), &url];
            let mut child = start(&mut files.command(&[&args[..], how].concat()));
            let moment = whole.mul_f64(random.share());
            sleep(moment);
            let what = format!("{how:?}, killed {is_killed} after {moment:?} of {whole:?}");
            println!("{what}");
            let is_done = if is_killed {
                child.kill().unwrap();
                child.wait().unwrap();
                // A target may hear of the commit after the load is gone.
                place.settle();
                all_of(place, &COLUMNS) != old
            } else {
                signal(&child, "INT");
                let run = Outcome::of("load, interrupted".to_owned(), finish(child, b""));
                let is_done = run.status.code() == Some(0);
                if !is_done {
                    run.exits(130).says(&["interrupted"]).ends_with_nothing_changed();
                }
                is_done
            };
            if is_done {
                // It was over before the signal came: other tests had left it more of the machine than the first.
                let kept = if how == &add { old.as_slice() } else { &[] };
                let wanted = sorted([kept, &records(&new)].concat());
                assert!(all_of(place, &COLUMNS) == wanted, "neither nothing nor all: {what}");
                whole = whole.mul_f64(0.8);
                prepare();
                continue;
            }
            assert_eq!(all_of(place, &COLUMNS), old, "{what}");
            ended += 1;
        }
        // Whatever the dead left stands in nobody's way.
        load(place, &[&["new.csv"], &replace[..]].concat()).exits(0);
        assert!(all_of(place, &COLUMNS) == sorted(records(&new)), "{way:?}");
    });
}
