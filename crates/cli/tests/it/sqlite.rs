/// Foreign keys: what they forbid, and when that is known.
mod foreign_keys;
/// Existing tables: columns without types, STRICT, triggers, names that are taken.
mod tables;
/// Virtual tables, whose modules decide what they store.
mod virtuals;

use rusqlite::types::Value;

use crate::contract::{Place, Traits, select};
use crate::fixture::{Fixture, Outcome, finish, quoted, start, wait_until_it_waits};
use crate::servers::Rows;

/// A database in a directory of the test's own.
pub(crate) struct File(Fixture);

const NAME: &str = "t.db";

impl Place for File {
    const TRAITS: Traits =
        Traits { fresh: &["sqlite/pages"], has_steps: true, ..Traits::of("sqlite") };

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new()));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        NAME.to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let is_there = self.0.path(NAME).exists() && !self.0.columns(NAME, self.table()).is_empty();
        is_there.then(|| {
            let rows = self.0.query(NAME, &select(self.table(), columns, quoted));
            rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
        })
    }

    fn leaves_as_it_was<T: std::fmt::Debug>(&self, _: &[&str], work: impl FnOnce() -> T) -> T {
        self.0.leaves_all(work)
    }
}

#[test]
fn what_follows_the_last_step_is_done_by_the_run_that_gets_there() {
    let fixture = Fixture::new();
    let rows: String = (1..=3_000)
        .map(|id| if id == 2_000 { "x,bad\n".to_owned() } else { format!("{id},n {id}\n") })
        .collect();
    fixture.write("t.csv", format!("id,name\n{rows}"));
    let load = ["t.csv", NAME, "--type", "id=integer", "--primary-key", "id", "--index", "name"];
    let load = [&load[..], &["--guarantee", "chunks", "--commit-rows", "500"]].concat();
    let run = fixture.load(&load).exits(1);
    assert!(run.stderr.lines().last().unwrap().contains("resumable"), "{run:?}");
    let indexes = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 't'";
    assert_eq!(fixture.number(NAME, indexes), 0);
    let on = [&load[..], &["--resume", "--max-rejects", "1", "--verify", "none"]].concat();
    fixture.load(&on).exits(3);
    assert_eq!(fixture.number(NAME, indexes), 1);
    assert_eq!(fixture.number(NAME, "SELECT count(*) FROM t"), 2_999);
    assert_eq!(fixture.number(NAME, "SELECT count(*) FROM inrush_steps WHERE state = 'done'"), 1);
    fixture.assert_sound(NAME);
    // Nothing else is left.
    assert_eq!(fixture.names(), ["t.csv", NAME, "t.rejects.csv", "t.rejects.csv.jsonl"]);
}

/// Whoever adds to a table does not mind the rows of others, whatever the strategy that an empty one would have had.
#[test]
fn rows_of_others_come_into_an_empty_table_while_a_load_waits_to_add_to_it() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,name\n1,a\n2,b\n").sql(NAME, "CREATE TABLE t (id, name)");
    for how in ["append", "empty"] {
        let other = fixture.db(NAME);
        other
            .execute_batch("DELETE FROM t; BEGIN IMMEDIATE; INSERT INTO t VALUES (9, 'other')")
            .unwrap();
        let args = ["load", "t.csv", NAME, "--if-exists", how, "--json"];
        let child = start(&mut fixture.command(&args));
        wait_until_it_waits(&child);
        other.execute_batch("COMMIT").unwrap();
        let run = Outcome::of(args.join(" "), finish(child, b""));
        match how {
            "append" => {
                let report = run.exits(0).json();
                assert_eq!(report["plan"]["strategy"], "sqlite/bind");
                assert_eq!(fixture.number(NAME, "SELECT count(*) FROM t"), 3);
            }
            // Who wants it empty does mind.
            _ => drop(run.exits(1).says(&["has changed since the plan was made"])),
        }
        fixture.assert_sound(NAME);
    }
}

fn text(value: Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    })
}
