use std::fs::File;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use super::written::records;
use super::{COLUMNS, Place, all_of, by_every_strategy, load, refuses, sorted};
use crate::archives::{gzip, tar, zip};
use crate::crash::signal;
use crate::fixture::{Outcome, Random, finish, json_lines, one, size, some, start};
use crate::servers::Rows;
use crate::sheets::{Cell, Sheet, xlsx};

const IN_STEPS: [&str; 4] = ["--guarantee", "chunks", "--commit-rows", "500"];

/// Small enough for several chunks in a step.
const SMALL: [&str; 2] = ["--chunk-size", "4k"];

/// Whether the load can be committed in steps by this strategy.
fn can<P: Place>(place: &P, way: &[&str]) -> bool {
    let url = place.url();
    let args = ["plan", "in.csv", "--table", place.table(), &url];
    place.files().inrush(&[&args, &IN_STEPS[..], way].concat()).status.success()
}

/// Records of two columns, of which every 97th is bad; quotes and line ends within values stand in them.
fn record(id: usize) -> String {
    match id {
        id if id % 97 == 0 => format!("{id}x,\"bad\n{id}\"\n"),
        id if id % 5 == 0 => format!("{id},\"name, \"\"of\"\"\n{id}\"\n"),
        id => format!("{id},name of {id}\n"),
    }
}

fn is_bad(id: &usize) -> bool {
    id.is_multiple_of(97)
}

/// The good rows of the records from the first to the `last`.
fn good(last: usize) -> Rows {
    let text: String = (1..=last).filter(|id| !is_bad(id)).map(record).collect();
    records(&text)
}

/// Bad rows are where an uninterrupted load would have them, each once, with the places that they have in the whole file.
#[track_caller]
fn assert_rejects_complete<P: Place>(place: &P, rows: usize) {
    let bad: Vec<usize> = (1..=rows).filter(is_bad).collect();
    let aside: String = bad.iter().map(|id| record(*id)).collect();
    let found = place.files().read("in.rejects.csv");
    assert!(found == format!("id,name\n{aside}").as_bytes(), "other bad rows than the file has");
    let line = |id: usize| {
        let before: String = (1..id).map(record).collect();
        2 + before.matches('\n').count()
    };
    let notes = json_lines(&place.files().read("in.rejects.csv.jsonl"));
    assert_eq!(notes.len(), bad.len());
    for (note, id) in notes.iter().zip(bad) {
        assert_eq!(note["record"].as_u64(), Some(id as u64));
        // Each is looked for from the start of the file, so not all of them.
        if id % 485 == 0 {
            assert_eq!(note["line"].as_u64(), Some(line(id) as u64), "record {id}");
        }
    }
}

/// Ends a load by force, or asks it to end, or takes its connection away; what it said, where it could.
fn end<P: Place>(place: &P, mut child: Child, way: usize) -> Option<Outcome> {
    match way % 3 {
        0 => {
            child.kill().unwrap();
            child.wait().unwrap();
            // A target may hear of the commit after the load is gone.
            place.settle();
            return None;
        }
        1 => signal(&child, "INT"),
        _ => place.end_connections(),
    }
    let run = Outcome::of("load, ended".to_owned(), finish(child, b""));
    place.settle();
    Some(run)
}

pub(super) fn a_load_goes_on_behind_its_last_step_wherever_it_ended<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    let rows = size(4_000, 20_000);
    let text: String = (1..=rows).map(record).collect();
    by_every_strategy::<P>(|place, way| {
        let (files, url) = (place.files(), place.url());
        files.write("in.csv", format!("id,name\n{text}"));
        if !can(place, way) {
            println!("not by {way:?}");
            return;
        }
        let key: &[&str] = &["--primary-key", "id", "--index", "name"];
        let key = if way.is_empty() { key } else { &key[..2] };
        let options = ["--type", "id=integer", "--max-rejects", "all", "--table", place.table()];
        // What spreads the work over several connections has its own.
        let small: &[&str] = if way.contains(&"--chunk-size") { &[] } else { &SMALL };
        let args = [&["load", "in.csv", &url][..], &options, &IN_STEPS, small, key, way].concat();
        let again = [&args[..], &["--resume"]].concat();
        let mut random = Random(0x20);
        let (mut ended, mut rows_before, mut moment) = (0, 0, Duration::from_millis(60));
        while ended < size(3, 15) {
            let child = start(&mut files.command(if ended == 0 { &args } else { &again }));
            sleep(moment.mul_f64(0.3 + 0.7 * random.share()));
            let run = end(place, child, ended);
            let now = place.rows(&COLUMNS).map_or(0, |rows| rows.len());
            println!("ended in way {} with {now} rows of {rows_before}", ended % 3);
            assert!(now >= rows_before, "committed rows are gone");
            if let Some(run) = run {
                match run.status.code() {
                    // It was over before.
                    Some(0 | 3) => break,
                    Some(code) => {
                        assert!([1, 130].contains(&code), "{run:?}");
                        let last = run.stderr.lines().last().unwrap();
                        // It may have come to nothing before it knew of any step.
                        let is_told = match now == rows_before {
                            true => last.contains("resumable") || last.contains("nothing changed"),
                            false => last.contains("resumable") && last.contains("--resume"),
                        };
                        assert!(is_told, "{run:?}");
                    }
                    None => panic!("{run:?}"),
                }
            }
            let committed = good(now * 98 / 97 + 2);
            let found = sorted(place.rows(&COLUMNS).unwrap_or_default());
            assert!(
                found == sorted(committed[..now].to_vec()),
                "rows that are no prefix of the file"
            );
            if now == rows_before {
                moment = moment.mul_f64(1.5);
            }
            (ended, rows_before) = (ended + 1, now);
        }
        let run = files.inrush(&again);
        assert!(matches!(run.status.code(), Some(0 | 3)), "{run:?}");
        assert!(all_of(place, &COLUMNS) == sorted(good(rows)), "other rows than the file has");
        assert_rejects_complete(place, rows);
        let run = files.leaves_all(|| files.inrush(&again).exits(0).prints(&["nothing to do"]));
        assert_eq!(all_of(place, &COLUMNS).len(), good(rows).len(), "{run:?}");
    });
}

/// Rows of a load that a bad one ends, and the record that is bad.
const ROWS: usize = 3_000;
const BAD: usize = 2_100;

/// A load that its bad row ends behind some steps.
fn stopped<P: Place>(place: &P) -> Outcome {
    stopped_by(place, &[])
}

fn stopped_by<P: Place>(place: &P, options: &[&str]) -> Outcome {
    let row = |id: usize| if id == BAD { format!("{id}x,bad\n") } else { format!("{id},n {id}\n") };
    let text: String = (1..=ROWS).map(row).collect();
    place.files().write("in.csv", format!("id,name\n{text}"));
    load(place, &[&PLAIN[..], &IN_STEPS, options].concat())
}

const PLAIN: [&str; 5] = ["in.csv", "--type", "id=integer", "--chunk-size", "4k"];

fn wanted() -> Rows {
    let ids = (1..=ROWS).filter(|id| *id != BAD);
    records(&ids.map(|id| format!("{id},n {id}\n")).collect::<String>())
}

pub(super) fn a_load_that_ends_behind_a_step_is_resumable<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let run = stopped(place).exits(1).says(&["in.csv: line 2101", "--max-rejects"]);
        let last = run.stderr.lines().last().unwrap();
        assert!(last.contains("resumable") && last.ends_with("--resume"), "{run:?}");
        let committed = all_of(place, &COLUMNS).len();
        assert!((500..BAD).contains(&committed), "{committed} rows");
        // Not by accident a second time.
        let again = [&PLAIN[..], &IN_STEPS, &["--if-exists", "append"]].concat();
        load(place, &again).exits(1).says(&["is unfinished", "--resume"]);
        // And not all at once.
        let plain = [&PLAIN[..], &["--if-exists", "append", "--max-rejects", "1"]].concat();
        load(place, &plain).exits(1).says(&["is unfinished", "--resume"]);
        assert_eq!(all_of(place, &COLUMNS).len(), committed);
        // The bad row is still there.
        let on = [&PLAIN[..], &IN_STEPS, &["--resume"]].concat();
        load(place, &on).exits(1).says(&["line 2101"]);
        let report = load(place, &[&on[..], &["--max-rejects", "1", "--json"]].concat());
        let report = report.exits(3).json();
        assert_eq!(report["plan"]["guarantee"], "chunks");
        assert_eq!(report["rows_read"], ROWS);
        assert_eq!(report["rows_loaded"], ROWS - 1);
        assert_eq!(report["verify"]["ok"], true);
        assert!(report["steps"]["rows_read_before"].as_u64() > Some(500), "{report}");
        assert_eq!(all_of(place, &COLUMNS), sorted(wanted()));
        assert_eq!(place.files().read("in.rejects.csv"), b"id,name\n2100x,bad\n");
        // Of a load that is through nothing is done, whatever the options that don't change its rows.
        let report = load(place, &[&on[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(report["steps"]["was_finished"], true);
        assert_eq!(all_of(place, &COLUMNS), sorted(wanted()));
        // Unless its rows are gone.
        place.files().write("none.csv", "id,name\n");
        load(place, &["none.csv", "--if-exists", "truncate"]).exits(0);
        load(place, &on).exits(1).says(&["is finished", "holds no row any more"]);
    });
}

/// What is to be known of rows holds for those of earlier runs as well.
pub(super) fn headers_among_the_rows_of_earlier_steps_are_counted<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    let row = |id: usize| match id {
        10 | 2_500 => "id,name\n".to_owned(),
        BAD => format!("{id},bad,row\n"),
        _ => format!("{id},n {id}\n"),
    };
    let text: String = (1..=ROWS).map(row).collect();
    P::for_each(|place| {
        place.files().write("in.csv", format!("id,name\n{text}"));
        let plain = ["in.csv", "--types", "text", "--chunk-size", "4k"];
        load(place, &[&plain[..], &IN_STEPS].concat()).exits(1).says(&["line 2101"]);
        let on = [&plain[..], &IN_STEPS, &["--resume", "--max-rejects", "1"]].concat();
        let wanted =
            "2 lines repeat the header, and are read as rows, the first is line 11 of in.csv";
        load(place, &on).exits(3).prints(&[wanted]);
    });
}

/// A load that ended behind a step does not stand in the way of others: a table that holds none of its rows takes them all, and a file
/// that has changed since is another load's.
pub(super) fn what_a_load_in_steps_has_left_refuses_no_other_load<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        files.write("none.csv", "id,name\n");
        let count = || all_of(place, &COLUMNS).len();
        let truncated = ["--max-rejects", "1", "--if-exists", "truncate"];
        let append = [&PLAIN[..], &["--max-rejects", "1", "--if-exists", "append"]].concat();
        stopped(place).exits(1);
        // Without its rows.
        load(place, &["none.csv", "--if-exists", "truncate"]).exits(0);
        let run = load(place, &append).exits(3);
        assert!(!run.stderr.contains("unfinished"), "{run:?}");
        assert_eq!(count(), ROWS - 1);
        // The file has other rows the next day.
        load(place, &[&PLAIN[..], &truncated].concat()).exits(3);
        files.write("in.csv", "id,name\n1,another day\n");
        load(place, &append).exits(0).prints(&["have changed since", "inrush_steps"]);
        assert_eq!(count(), ROWS);
        // Who always says --resume hears that the load was finished, and how to go on.
        load(place, &[&PLAIN[..], &IN_STEPS, &truncated].concat()).exits(0);
        files.write("in.csv", "id,name\n2,the day after\n");
        let resumed = [&append[..], &IN_STEPS, &["--resume"]].concat();
        let run = load(place, &resumed).exits(1);
        let run = run
            .says(&["was finished", "leave --resume out: --guarantee chunks --if-exists append"]);
        assert!(!run.stderr.contains("truncate"), "{run:?}");
        // In the words that were said.
        let resumed = [&PLAIN[..], &IN_STEPS, &truncated, &["--resume"]].concat();
        let run = load(place, &resumed).exits(1);
        let run = run.says(&["was finished", "--if-exists truncate deletes the rows"]);
        assert!(!run.stderr.contains("append"), "{run:?}");
        load(place, &[&append[..], &IN_STEPS].concat()).exits(0);
        assert_eq!(count(), 2);
        // What the refusal advises ends it.
        stopped_by(place, &["--if-exists", "truncate"]).exits(1);
        let run = load(place, &append).exits(1);
        run.says(&["is unfinished", "--guarantee chunks --if-exists truncate", "DELETE FROM"]);
        let first = [&PLAIN[..], &IN_STEPS, &truncated].concat();
        load(place, &first).exits(3);
        let run = load(place, &append).exits(3);
        assert!(!run.stderr.contains("unfinished"), "{run:?}");
        assert_eq!(count(), 2 * (ROWS - 1));
    });
}

/// A file is what it was, wherever it has been moved to.
pub(super) fn a_file_that_has_moved_is_the_one_that_was_begun<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        let count = || all_of(place, &COLUMNS).len();
        let moved = |more: &[&str]| {
            load(place, &[&["done.csv"], &PLAIN[1..], &["--max-rejects", "1"], more].concat())
        };
        stopped(place).exits(1);
        let committed = count();
        std::fs::rename(files.path("in.csv"), files.path("done.csv")).unwrap();
        moved(&["--if-exists", "append"]).exits(1).says(&["done.csv", "is unfinished"]);
        let steps = [&IN_STEPS[..], &["--if-exists", "append"]].concat();
        moved(&steps).exits(1).says(&["done.csv", "is unfinished"]);
        assert_eq!(count(), committed);
        moved(&[&steps[..], &["--resume"]].concat()).exits(3);
        assert_eq!(all_of(place, &COLUMNS), sorted(wanted()));
        std::fs::rename(files.path("done.csv"), files.path("in.csv")).unwrap();
        let again = [&PLAIN[..], &steps, &["--resume"]].concat();
        load(place, &again).exits(0).prints(&["nothing to do"]);
        // One that was written again is not known any more.
        stopped_by(place, &["--if-exists", "truncate"]).exits(1);
        let rows = files.read("in.csv");
        std::fs::remove_file(files.path("in.csv")).unwrap();
        files.write("done.csv", rows);
        let note = ["in.csv in steps committed", "not there any more", "DELETE FROM"];
        moved(&["--if-exists", "append"]).exits(3).prints(&note);
        moved(&steps).exits(3).prints(&note);
    });
}

/// Whichever of the two enters the ledger first is the only one that begins; the other ends, or goes on where that one was.
pub(super) fn two_first_runs_at_once_load_each_row_once<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let rows: String = (1..=ROWS).map(|id| format!("{id},n {id}\n")).collect();
        let files = place.files();
        files.write("in.csv", format!("id,name\n{rows}")).write("none.csv", "id,name\n");
        load(place, &["none.csv", "--type", "id=integer", "--type", "name=text"]).exits(0);
        let url = place.url();
        let to = ["--if-exists", "append", "--resume", "--table", place.table(), &url];
        let args = [&["load"], &PLAIN[..], &IN_STEPS, &to].concat();
        for _ in 0..size(2, 20) {
            let runs = [0, 1].map(|_| start(&mut files.command(&args)));
            let runs = runs.map(|child| Outcome::of("load".to_owned(), finish(child, b"")));
            assert!(runs.iter().any(|run| run.status.success()), "{runs:?}");
            assert_eq!(all_of(place, &COLUMNS), sorted(records(&rows)), "{runs:?}");
            // With it go the rows, and what the ledger knows of them.
            let empty = ["none.csv", "--if-exists", "truncate", "--guarantee", "chunks"];
            load(place, &empty).exits(0);
        }
    });
}

/// Types that a load has settled on stay strict when it goes on, though the table stands then with types of its own.
pub(super) fn what_is_no_value_of_a_settled_type_stays_a_bad_row<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    const MOMENT: &str = "2024-01-01 00:00:00";
    const JSON: &str = r#""{""a"":1}""#;
    let odd = [
        format!("2501,007,1.5,true,{MOMENT}+02:00,{JSON}"),
        format!("2502,7,+4.5,true,{MOMENT}+02:00,{JSON}"),
        format!("2503,7,1.5,1,{MOMENT}+02:00,{JSON}"),
        format!("2504,7,1.5,true,{MOMENT},{JSON}"),
        format!("2505,7,1.5,true,{MOMENT}+02:00,none"),
    ];
    let bad = format!("{BAD}x,7,1.5,true,{MOMENT}+02:00,{JSON}");
    let row = |id: usize| match id {
        BAD => format!("{bad}\n"),
        2_501..=2_505 => format!("{}\n", odd[id - 2_501]),
        _ => format!("{id},{id},{id}.5,{},{MOMENT}+02:00,{JSON}\n", id.is_multiple_of(2)),
    };
    let rows: String = (1..=ROWS).map(row).collect();
    P::for_each(|place| {
        place.files().write("in.csv", format!("id,n,f,b,at,j\n{rows}"));
        let args = [&PLAIN[..], &IN_STEPS, &["--max-rejects", "5"]].concat();
        // Six bad rows end a load that is allowed five, behind some steps.
        load(place, &args).exits(1).says(&["in.csv: line 2506"]);
        let on = [&PLAIN[..], &IN_STEPS, &["--max-rejects", "6", "--resume"]].concat();
        load(place, &on).exits(3);
        assert_eq!(all_of(place, &["id"]).len(), ROWS - 6);
        let aside = format!("id,n,f,b,at,j\n{bad}\n{}\n", odd.join("\n"));
        assert_eq!(place.files().read("in.rejects.csv"), aside.as_bytes());
    });
}

/// The table that the first run has made says less of its columns than `--type` did.
pub(super) fn a_type_that_was_asked_for_means_the_same_in_every_run<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    const ASKED: [&str; 3] = ["id", "data", "at"];
    let data = ["plain", r"\101\102", r"\x41", r"C:\\dir"];
    let row = |id: usize| {
        let bad = if id == BAD { "x" } else { "" };
        let offset = if id > BAD && id.is_multiple_of(10) { "" } else { "+02:00" };
        format!("{id}{bad},{},2024-01-01 00:00:00{offset}\n", data[id % 4])
    };
    let rows: String = (1..=ROWS).map(row).collect();
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", format!("id,data,at\n{rows}"));
        let types = ["--type", "data=bytes", "--type", "at=timestamptz", "--max-rejects"];
        let args = [&PLAIN[..], &types].concat();
        load(place, &[&args[..], &["all"]].concat()).exits(3);
        let (wanted, aside) = (all_of(place, &ASKED), files.read("in.rejects.csv"));
        assert_eq!(wanted.len(), ROWS - 1 - (BAD + 10..=ROWS).step_by(10).count());
        let again = if P::TRAITS.replaces_in_steps { "replace" } else { "truncate" };
        let steps = [&args[..], &["0", "--if-exists", again], &IN_STEPS].concat();
        load(place, &steps).exits(1).says(&["in.csv: line 2101"]);
        load(place, &[&args[..], &["all", "--resume"], &IN_STEPS].concat()).exits(3);
        assert!(all_of(place, &ASKED) == wanted, "other rows than without steps");
        assert!(files.read("in.rejects.csv") == aside, "other bad rows than without steps");
    });
}

pub(super) fn existing_rows_have_a_say_in_every_step<P: Place>() {
    if !P::TRAITS.has_steps || !P::TRAITS.has_keys {
        return;
    }
    by_every_strategy::<P>(|place, way| {
        let rows: String = (1..=ROWS).map(|id| format!("{id},n {id}\n")).collect();
        place
            .files()
            .write("in.csv", format!("id,name\n{rows}"))
            .write("old.csv", format!("id,name\n7,old\n{},old\n", ROWS - 7));
        let all = vec!["skip", "update", "replace"];
        for how in if way.is_empty() { all } else { one(all) } {
            load(place, &["old.csv", "--if-exists", "replace", "--primary-key", "id"]).exits(0);
            let add = ["in.csv", "--if-exists", "append", "--on-conflict", how];
            let args = [&add[..], &IN_STEPS, P::TRAITS.with_key, way].concat();
            let url = place.url();
            let plan = [&["plan", "--table", place.table(), &url][..], &args].concat();
            if !place.files().inrush(&plan).status.success() {
                println!("not {how} by {way:?}");
                continue;
            }
            load(place, &args).exits(0);
            let found = all_of(place, &COLUMNS);
            let old = if how == "skip" { 2 } else { 0 };
            assert_eq!(found.len(), ROWS, "{how} by {way:?}");
            let is_old = |row: &&Vec<Option<String>>| row[1].as_deref() == Some("old");
            assert_eq!(found.iter().filter(is_old).count(), old, "{how} by {way:?}");
        }
    });
}

pub(super) fn what_has_changed_since_the_last_step_is_refused<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        stopped(place).exits(1);
        let path = place.files().path("in.csv");
        let (bytes, time) = (place.files().read("in.csv"), path.metadata().unwrap().modified());
        let on = [&PLAIN[..], &IN_STEPS, &["--resume", "--max-rejects", "1"]].concat();
        let restore = |bytes: &[u8]| {
            place.files().write("in.csv", bytes);
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .set_modified(*time.as_ref().unwrap())
                .unwrap();
        };
        let before = all_of(place, &COLUMNS);
        let refused = |words: &[&str]| {
            load(place, &on).exits(1).says(words).ends_with_nothing_changed();
            assert_eq!(all_of(place, &COLUMNS), before);
        };
        restore(&[&bytes[..], b"9999,more\n"].concat());
        refused(&["in.csv has changed"]);
        // As long as before, and as old.
        restore(&[b"id,name\n9,n 1\n", &bytes[14..]].concat());
        refused(&["in.csv has changed"]);
        place.files().write("in.csv", &bytes);
        refused(&["in.csv has changed"]);
        restore(&bytes);
        let other = |more: &[&str]| load(place, &[&on[..], more].concat());
        other(&["--null", "NA"]).exits(2).says(&["changed", "--null"]);
        other(&["--decimal", "n=,"]).exits(2).says(&["changed", "--decimal"]);
        other(&["--type", "name=text"]).exits(2).says(&["changed", "--type"]);
        other(&["--header", "no"]).exits(2).says(&["changed"]);
        other(&["--index", "name"]).exits(2).says(&["changed", "--index was not said"]);
        place.files().write("more.csv", "id,name\n1,a\n");
        let with_more = [&["more.csv"], &on[..]].concat();
        load(place, &with_more).exits(1).says(&["files have changed"]);
        // Rows of others, which are not in the ledger.
        load(place, &["more.csv", "--if-exists", "append"]).exits(0);
        load(place, &on).exits(1).says(&["rows of table", "have changed", "--verify none"]);
        place.files().write("wide.csv", "id,name,n\n1,a,2\n");
        load(place, &["wide.csv", "--if-exists", "replace"]).exits(0);
        load(place, &on).exits(1).says(&["definition of table", "changed"]);
        // And from the first row on.
        load(place, &["more.csv", "--if-exists", "replace"]).exits(0);
        let first = [&PLAIN[..], &IN_STEPS, &["--max-rejects", "1", "--if-exists", "truncate"]];
        load(place, &first.concat()).exits(3);
        assert_eq!(all_of(place, &COLUMNS), sorted(wanted()));
    });
}

/// Also where rows change others, so that the loaded ones do not say how many the table has to hold.
pub(super) fn rows_of_steps_that_are_gone_are_noticed<P: Place>() {
    if !P::TRAITS.has_steps || !P::TRAITS.has_keys {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        let count = || all_of(place, &COLUMNS).len();
        files
            .write("none.csv", "id,name\n")
            .write("old.csv", "id,name\n1,old\n2,old\n3,old\n")
            .write("other.csv", "id,name\n-1,another program's\n");
        // Of those that leave old rows as they are one, and one of the others.
        for how in size(&["skip", "update"][..], &["fail", "skip", "update", "replace"]) {
            let how = *how;
            let key = ["--type", "id=integer", "--type", "name=text", "--primary-key", "id"];
            load(place, &[&["none.csv", "--if-exists", "replace"][..], &key].concat()).exits(0);
            // With the rows goes what the ledger knows of them.
            let empties =
                || load(place, &["none.csv", "--if-exists", "truncate", "--guarantee", "chunks"]);
            empties().exits(0);
            let how_to = ["--if-exists", "append", "--on-conflict", how];
            let on = [&PLAIN[..], &IN_STEPS, &how_to, &["--max-rejects", "1", "--resume"]].concat();
            let gone = |rows: usize| {
                let run = load(place, &on).exits(1).ends_with_nothing_changed();
                let run = run.says(&["have changed", "--if-exists truncate", "DELETE FROM"]);
                assert!(!run.stderr.contains("resumable"), "{run:?}");
                assert_eq!(count(), rows, "{how}");
            };
            stopped_by(place, &how_to).exits(1).says(&["resumable"]);
            load(place, &["none.csv", "--if-exists", "truncate"]).exits(0);
            gone(0);
            // Who knows better goes on all the same.
            load(place, &[&on[..], &["--verify", "none"]].concat()).exits(3);
            assert!((1..ROWS - 500).contains(&count()), "{how}: {} rows", count());
            // What is left need not be less than the table held before the first row.
            let again = ["--if-exists", "truncate", "--on-conflict", how];
            stopped_by(place, &again).exits(1).says(&["resumable"]);
            load(place, &["old.csv", "--if-exists", "truncate"]).exits(0);
            gone(3);
            // Rows of others are as good as in a load that is all or nothing, where rows change others.
            let is_open = matches!(how, "update" | "replace");
            if !is_open {
                continue;
            }
            empties().exits(0);
            load(place, &["old.csv", "--if-exists", "append"]).exits(0);
            stopped_by(place, &how_to).exits(1).says(&["resumable"]);
            load(place, &["other.csv", "--if-exists", "append"]).exits(0);
            load(place, &on).exits(3).prints(&["row count within bounds"]);
            assert_eq!(count(), ROWS, "{how}");
        }
    });
}

/// The table in which a load is entered is none for rows of users, under whatever letters it is the same one.
pub(super) fn the_ledger_takes_no_rows_of_users<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let (files, url) = (place.files(), place.url());
        files.write("in.csv", "id,name\n1,a\n").write("inrush_steps.csv", "id,name\n1,a\n");
        let refused = |args: &[&str]| {
            for more in [&IN_STEPS[..], &[]] {
                let load = || files.load(&[args, &[&url], more].concat());
                let run = files.leaves_all(load).exits(2);
                run.says(&["loads in steps", "--table NAME"]);
            }
        };
        for name in ["inrush_steps", "INRUSH_Steps"] {
            refused(&["in.csv", "--table", name]);
        }
        refused(&["inrush_steps.csv"]);
        // None was made.
        load(place, &[&["in.csv"], &IN_STEPS[..]].concat()).exits(0);
    });
}

pub(super) fn the_first_step_leaves_nothing_when_it_fails<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    P::for_each(|place| {
        let rows: String = (1..=100).map(|id| format!("{id},n {id}\n")).collect();
        place.files().write("in.csv", format!("id,name\n{rows}x,bad\n"));
        let args = [&PLAIN[..], &IN_STEPS].concat();
        refuses(place, &COLUMNS, &args).says(&["line 102"]);
        assert_eq!(place.rows(&COLUMNS), None);
        place.files().write("old.csv", "id,name\n-1,old\n");
        load(place, &["old.csv"]).exits(0);
        for how in ["append", "truncate"] {
            refuses(place, &COLUMNS, &[&args[..], &["--if-exists", how]].concat());
        }
        // Without a load that could go on there is an ordinary one.
        let on = [&args[..], &["--resume", "--if-exists", "append", "--max-rejects", "1"]].concat();
        load(place, &on).exits(3).prints(&["no load of these files", "begins at the first row"]);
        assert_eq!(all_of(place, &COLUMNS), sorted(records(&format!("-1,old\n{rows}"))));
    });
}

/// Files of every form, of which a repeated key ends the load behind some steps.
pub(super) fn every_form_of_file_goes_on_where_it_ended<P: Place>() {
    if !P::TRAITS.has_steps {
        return;
    }
    let row = |id: usize| if id == BAD { 7 } else { id };
    let csv = |ids: std::ops::RangeInclusive<usize>| -> String {
        let rows = ids.map(|id| format!("{},n {id}\n", row(id)));
        format!("id,name\n{}", rows.collect::<String>())
    };
    let json = |before: &str, between: &str, after: &str| {
        let rows = (1..=ROWS).map(|id| format!("{{\"id\": {}, \"name\": \"n {id}\"}}", row(id)));
        format!("{before}{}{after}\n", rows.collect::<Vec<_>>().join(between))
    };
    P::for_each(|place| {
        let files = place.files();
        files
            .write("a.csv", csv(1..=1_000))
            .write("b.csv", csv(1_001..=2_000))
            .write("c.csv", csv(2_001..=ROWS))
            .write("zipped.csv", csv(1..=ROWS))
            .write("lines.jsonl", json("", "\n", ""))
            .write("array.json", json("[", ",", "]"))
            .write("wide.csv", encoded(&csv(1..=ROWS)));
        files.tool("gzip", &["zipped.csv"], b"");
        let mut forms: Vec<Vec<&str>> = vec![
            vec!["a.csv", "b.csv", "c.csv"],
            vec!["zipped.csv.gz"],
            vec!["lines.jsonl"],
            vec!["array.json"],
            vec!["wide.csv", "--encoding", "utf-16le"],
        ];
        let members = ["a.csv", "b.csv", "c.csv"].map(|name| (name, files.read(name)));
        files.write("in.zip", zip(&members)).write("in.tgz", gzip(&tar(&members)));
        let names: Vec<String> = (0..=ROWS).map(|id| format!("n {id}")).collect();
        let mut rows = vec![vec![Cell::Text("id"), Cell::Text("name")]];
        // Rows without cells are none.
        rows.extend([vec![], vec![]]);
        rows.extend(
            (1..=ROWS).map(|id| vec![Cell::Number(row(id) as f64), Cell::Text(&names[id])]),
        );
        files.write("in.xlsx", xlsx(&[Sheet { name: "Data", rows, merged: &[] }], false));
        forms.extend([vec!["in.zip"], vec!["in.tgz"], vec!["in.xlsx"]]);
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.write("in.csv", csv(1..=ROWS));
            files.load(&["in.csv", "parquet:in.parquet"]).exits(0);
            forms.push(vec!["in.parquet"]);
        }
        for form in some(forms) {
            println!("{form:?}");
            // A table of its own each time: the rows of the last are no matter of this one.
            let begin = [&form[..], &IN_STEPS, &SMALL, &["--if-exists", "replace"]].concat();
            let begin = match P::TRAITS.replaces_in_steps {
                true => begin,
                false => {
                    files.write("none.csv", "id,name\n");
                    let types = ["--type", "id=integer", "--type", "name=text"];
                    let key = ["--primary-key", "id", "--if-exists", "replace"];
                    load(place, &[&["none.csv"], &types[..], &key].concat()).exits(0);
                    [&form[..], &IN_STEPS, &SMALL, &["--if-exists", "truncate"]].concat()
                }
            };
            let key: &[&str] =
                if P::TRAITS.replaces_in_steps { &["--primary-key", "id"] } else { &[] };
            let run = load(place, &[&begin[..], key].concat()).exits(1);
            assert!(run.stderr.lines().last().unwrap().contains("resumable"), "{run:?}");
            let committed = all_of(place, &COLUMNS).len();
            assert!((500..BAD).contains(&committed), "{committed} rows");
            let on = [&begin[..], key, &["--resume", "--max-rejects", "1", "--json"]].concat();
            let report = load(place, &on).exits(3).json();
            assert_eq!(report["rows_read"], ROWS, "{report}");
            assert_eq!(report["steps"]["rows_loaded_before"], committed);
            let inputs = report["inputs"].as_array().unwrap();
            let read: u64 = inputs.iter().map(|input| input["rows_read"].as_u64().unwrap()).sum();
            assert_eq!(read, ROWS as u64);
            assert_eq!(all_of(place, &COLUMNS), sorted(wanted()));
        }
    });
}

fn encoded(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

pub(super) fn what_can_not_be_committed_in_steps_is_refused<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1,a\n");
        let refused = |args: &[&str], words: &[&str]| {
            let url = place.url();
            let args = [args, &["--table", place.table(), &url]].concat();
            place.files().leaves_all(|| {
                place.files().load_reading(b"id,name\n1,a\n", &args).exits(2).says(words);
            });
            assert_eq!(place.rows(&COLUMNS), None);
        };
        refused(&["in.csv", "--commit-rows", "5"], &["--guarantee chunks"]);
        if !P::TRAITS.has_steps {
            refused(&["in.csv", "--guarantee", "chunks"], &["--guarantee chunks", "try: "]);
            refused(&["in.csv", "--resume"], &["--guarantee chunks"]);
            return;
        }
        refused(&["-", "--guarantee", "chunks"], &["second time", "save it to a file"]);
        refused(&["-", "--resume"], &["second time"]);
        refused(&["in.csv", "--guarantee", "chunks", "--commit-rows", "0"], &["at least 1"]);
        // As loads are without a word about it.
        let atomic = load(place, &["in.csv", "--guarantee", "atomic", "--json"]).exits(0).json();
        assert_eq!(atomic["plan"]["guarantee"], "atomic");
        assert!(atomic["steps"].is_null());
    });
}
