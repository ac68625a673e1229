use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use serde_json::{Value as Json, json};

use super::script::{Fate, Script, VERB, hello, refusal};
use crate::fixture::Fixture;

/// A file of rows with ids from 0.
fn fixture(rows: usize) -> Fixture {
    let fixture = Fixture::new();
    let rows: String = (0..rows).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("t.csv", format!("id,name\n{rows}"));
    fixture
}

fn is(command: &Json, verb: &str) -> bool {
    command[VERB] == verb
}

#[test]
fn a_load_as_a_server_sees_it() {
    let fixture = fixture(2500);
    let server = Script::start(|_, _| Fate::Done);
    let load = ["t.csv", &server.url(), "--primary-key", "id", "--set", "documents_per_batch=1000"];
    fixture.load(&load).exits(0);
    assert_eq!(server.collections(), ["t"]);
    let documents = server.documents("t");
    assert_eq!((documents.len(), &documents[7]), (2500, &json!({"_id": 7, "name": "name 7"})));
    let inserts = server.heard("insert");
    assert_eq!(inserts.len(), 3);
    assert_eq!(
        (&inserts[0]["ordered"], &inserts[0]["writeConcern"]),
        (&json!(false), &json!({"w": 1}))
    );
    assert!(inserts[0]["lsid"].is_object() && inserts[0]["$db"] == "d");
    // The promise is kept behind the rows, and behind the name.
    let settled = server.heard("update");
    assert_eq!(settled.len(), 2);
    assert_eq!(settled[1]["writeConcern"], json!({"w": "majority", "j": true}));
    let rename = &server.heard("renameCollection")[0];
    assert_eq!((&rename["$db"], &rename["to"]), (&json!("admin"), &json!("d.t")));
}

#[test]
fn decimals_are_decimals_where_the_server_has_them() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "price\n12345678901234567890.10\n");
    let server = Script::start(|_, _| Fate::Done);
    fixture.load(&["t.csv", &server.url()]).exits(0);
    assert_eq!(server.documents("t")[0]["price"], "a decimal");
    fixture
        .load(&["t.csv", &server.url(), "--table", "u", "--type", "price=decimal(38,2)"])
        .exits(0);
}

#[test]
fn names_with_points_are_taken_by_servers_that_take_them() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a.b,$c\n1,2\n");
    let server = Script::start(|_, _| Fate::Done);
    fixture.load(&["t.csv", &server.url()]).exits(0);
    fixture
        .inrush(&["plan", "t.csv", &server.url(), "--table", "u"])
        .exits(0)
        .prints(&["$getField"]);
    server.put("t", &[json!({"_id": 1})]);
    for how in ["replace", "update"] {
        let load = ["load", "t.csv", &server.url(), "--if-exists", "append", "--on-conflict", how];
        fixture.misused(&load).says(&["take $c for an operator"]);
    }
    let old = Script::start(|command, _| match is(command, "hello") {
        true => Fate::Answered(hello(&json!({"maxWireVersion": 9}))),
        false => Fate::Done,
    });
    fixture.misused(&["load", "t.csv", &old.url()]).says(&["before MongoDB 5.0", "a.b"]);
}

#[test]
fn write_errors_of_every_kind_are_bad_rows_with_their_lines() {
    let fixture = fixture(1000);
    let judge = |command: &Json, documents: &[Json]| {
        if !is(command, "insert") {
            return Fate::Done;
        }
        let kinds = [
            (7, 11_000, "E11000 duplicate key", json!({"name": 1})),
            (70, 121, "Document failed validation", json!({})),
            (700, 16_755, "Can't extract geo keys", json!({})),
        ];
        let errors: Vec<Json> = documents
            .iter()
            .enumerate()
            .filter_map(|(index, document)| {
                let (_, code, message, key) =
                    kinds.iter().find(|kind| document["_id"] == kind.0)?;
                Some(json!({"index": index, "code": code, "errmsg": message, "keyPattern": key}))
            })
            .collect();
        let mut answer = json!({"n": documents.len() - errors.len(), "ok": 1.0});
        if !errors.is_empty() {
            answer["writeErrors"] = json!(errors);
        }
        Fate::Answered(answer)
    };
    let server = Script::start(judge);
    let load = ["t.csv", &server.url(), "--primary-key", "id", "--verify", "none"];
    fixture
        .load(&load)
        .exits(1)
        .says(&["line 9, column name: 'name 7': E11000 duplicate key (code 11000)"]);
    for more in [&[][..], &["--chunk-size", "1k"], &["--strategy", "insert-one"]] {
        let load = [&load[..], &["--max-rejects", "5", "--table", "u"], more].concat();
        fixture.load(&load).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id,name\n7,name 7\n70,name 70\n700,name 700\n");
        let notes = String::from_utf8(fixture.read("t.rejects.csv.jsonl")).unwrap();
        assert!(
            notes.contains("\"line\":72")
                && notes.contains("Document failed validation (code 121)"),
            "{notes}"
        );
        assert_eq!(notes.matches("\"constraint\"").count(), 2, "{notes}");
    }
}

#[test]
fn an_ordered_batch_goes_on_behind_its_bad_document() {
    let fixture = fixture(100);
    let judge = |command: &Json, documents: &[Json]| {
        if !is(command, "insert") || command["ordered"] != json!(true) {
            return Fate::Done;
        }
        match documents.iter().position(|document| document["_id"] == 40 || document["_id"] == 41) {
            None => Fate::Done,
            Some(index) => Fate::Answered(json!({
                "n": index,
                "writeErrors": [{"index": index, "code": 11_000, "errmsg": "E11000"}],
                "ok": 1.0,
            })),
        }
    };
    let server = Script::start(judge);
    let load = [
        "t.csv",
        &server.url(),
        "--primary-key",
        "id",
        "--set",
        "ordered=yes",
        "--max-rejects",
        "5",
        "--verify",
        "none",
    ];
    fixture.load(&load).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,name\n40,name 40\n41,name 41\n");
    let batches: Vec<usize> = server.heard("insert").iter().map(|_| 1).collect();
    assert_eq!(batches.len(), 3);
}

#[test]
fn a_command_that_makes_no_sense_is_halved_down_to_its_document() {
    let fixture = fixture(100);
    let judge = |command: &Json, documents: &[Json]| match is(command, "insert")
        && documents.iter().any(|document| document["_id"] == 60)
    {
        true => Fate::Answered(refusal(15, "BSONObj exceeds maximum nested object depth")),
        false => Fate::Done,
    };
    let server = Script::start(judge);
    fixture.load(&["t.csv", &server.url(), "--primary-key", "id", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,name\n60,name 60\n");
    assert_eq!(server.documents("t").len(), 99);
}

#[test]
fn troubles_of_the_server_are_nobodys_bad_row() {
    for (answer, says) in [
        (refusal(13, "not authorized on d"), "INRUSH_PASSWORD"),
        (refusal(10_107, "not primary"), "elected another primary"),
        (
            json!({"n": 0, "writeErrors": [{"index": 0, "code": 14_031, "errmsg": "out of disk space"}], "ok": 1.0}),
            "make room",
        ),
        (
            json!({"n": 3, "writeConcernError": {"code": 64, "errmsg": "waiting for replication timed out"}, "ok": 1.0}),
            "wtimeoutMS",
        ),
        (json!({"n": 1, "ok": 1.0}), "took 1 of 3 documents"),
    ] {
        let fixture = fixture(3);
        let server = Script::start(move |command, _| match is(command, "insert") {
            true => Fate::Answered(answer.clone()),
            false => Fate::Done,
        });
        let says = if says == "INRUSH_PASSWORD" { "names no user" } else { says };
        fixture.refuses(&["t.csv", &server.url()]).says(&[says]);
        assert_eq!(server.collections(), [""; 0], "{says}");
    }
}

#[test]
fn a_lost_answer_to_the_rename_is_found_out_by_looking() {
    let fixture = fixture(10);
    let swallowed = Arc::new(AtomicBool::new(false));
    let once = Arc::clone(&swallowed);
    let server = Script::start(move |command, _| {
        match is(command, "renameCollection") && !once.swap(true, SeqCst) {
            true => Fate::Swallowed,
            false => Fate::Done,
        }
    });
    fixture.load(&["t.csv", &server.url()]).exits(0);
    assert_eq!((server.collections(), server.documents("t").len()), (vec!["t".to_owned()], 10));
    // A server that never did it: nothing has changed.
    let server = Script::start(|command, _| match is(command, "renameCollection") {
        true => Fate::Answered(refusal(48, "target namespace exists")),
        false => Fate::Done,
    });
    fixture.refuses(&["t.csv", &server.url()]).says(&["target namespace exists", "another client"]);
    assert_eq!(server.collections(), [""; 0]);
}

/// A server as FerretDB is, which takes a name only when it is free, and on which another client makes the collection again.
fn takes_free_names(taken: usize) -> impl Fn(&Json, &[Json]) -> Fate {
    let tries = AtomicUsize::new(0);
    move |command, _| match is(command, "renameCollection") && command["to"] == "d.t" {
        true if command["dropTarget"] == json!(true) => {
            Fate::Answered(refusal(238, "not implemented"))
        }
        true if tries.fetch_add(1, SeqCst) < taken => {
            Fate::Answered(refusal(48, "target namespace exists"))
        }
        _ => Fate::Done,
    }
}

#[test]
fn rows_whose_old_collection_is_dropped_are_not_dropped_too() {
    let fixture = fixture(10);
    let old = [json!({"_id": 1, "name": "old"})];
    let load = |server: &Script, more: &[&str]| {
        fixture.load(&[&["t.csv", &server.url(), "--if-exists", "replace"], more].concat())
    };
    let server = Script::start(takes_free_names(3));
    server.put("t", &old);
    load(&server, &[]).exits(0);
    assert_eq!((server.collections(), server.documents("t").len()), (vec!["t".to_owned()], 10));

    let server = Script::start(takes_free_names(usize::MAX));
    server.put("t", &old);
    let run = load(&server, &[]).exits(1).says(&[
        "the old collection t is dropped",
        "renameCollection(\"t\")",
        "may have been emptied",
    ]);
    // Nor does the next load sweep them.
    load(&server, &["--table", "u"]).exits(0);
    let [hidden, _] = server.collections().try_into().unwrap();
    assert!(run.stderr.contains(&hidden), "{}", run.stderr);
    assert_eq!(server.documents(&hidden).len(), 10);

    // A rename that came through is not taken for another client's collection.
    let (swallowed, refuses) = (AtomicBool::new(false), takes_free_names(0));
    let server = Script::start(move |command, documents| match refuses(command, documents) {
        Fate::Done if is(command, "renameCollection") && !swallowed.swap(true, SeqCst) => {
            Fate::Swallowed
        }
        fate => fate,
    });
    server.put("t", &old);
    load(&server, &[]).exits(0);
    assert_eq!((server.collections(), server.documents("t").len()), (vec!["t".to_owned()], 10));
}

#[test]
fn what_fails_behind_the_rename_leaves_the_rows_in() {
    for is_lost in [false, true] {
        let (fixture, renamed) = (fixture(10), AtomicBool::new(false));
        let server = Script::start(move |command, _| {
            renamed.fetch_or(is(command, "renameCollection"), SeqCst);
            match is(command, "update") && renamed.load(SeqCst) {
                true if is_lost => Fate::Swallowed,
                true => Fate::Answered(
                    json!({"n": 0, "ok": 1.0, "writeConcernError": {"code": 64, "errmsg": "timed out"}}),
                ),
                false => Fate::Done,
            }
        });
        let run = fixture.load(&["t.csv", &server.url()]).exits(1);
        run.says(&["10 rows were committed before, and stay"]);
        assert_eq!(server.documents("t").len(), 10);
    }
}

#[test]
fn rows_that_were_deleted_before_a_failure_are_not_said_to_be_there() {
    let fixture = fixture(3);
    for (is_lost, says) in [(false, "may have been emptied"), (true, "look at it before")] {
        let server = Script::start(move |command, _| match command[VERB].as_str().unwrap() {
            "delete" if is_lost => Fate::Swallowed,
            "delete" => Fate::Answered(json!({"n": 1, "ok": 1.0})),
            "aggregate" => Fate::Answered(refusal(13, "not authorized")),
            _ => Fate::Done,
        });
        server.put("t", &[json!({"_id": 1, "name": "old"})]);
        let load = ["t.csv", &server.url(), "--if-exists", "truncate", "--on-conflict", "replace"];
        fixture.load(&[&load[..], &["--primary-key", "id"]].concat()).exits(1).says(&[says]);
    }
}

#[test]
fn an_index_of_the_ids_that_a_user_has_made_is_kept_or_named() {
    let fixture = fixture(3);
    let server = Script::start(|command, _| match is(command, "listIndexes") {
        true => Fate::Answered(json!({"cursor": {"id": 0, "ns": "d.t", "firstBatch": [
            {"v": 2, "key": {"_id": 1}, "name": "_id_"},
            {"v": 2, "key": {"_id": "hashed"}, "name": "_id_hashed"},
        ]}, "ok": 1.0})),
        false => Fate::Done,
    });
    server.put("t", &[json!({"_id": 1, "name": "old"})]);
    let load =
        |if_exists| fixture.load(&["t.csv", &server.url(), "--if-exists", if_exists]).exits(0);
    load("truncate");
    let made = server.heard("createIndexes");
    assert_eq!(made[0]["indexes"], json!([{"key": {"_id": "hashed"}, "name": "_id_hashed"}]));
    load("replace").prints(&["INDEX _id_hashed (_id)"]);
}

#[test]
fn a_lost_answer_to_an_insert_is_not_guessed_at() {
    let fixture = fixture(10);
    let server = Script::start(|command, _| match is(command, "insert") {
        true => Fate::Swallowed,
        false => Fate::Done,
    });
    // What is hidden goes.
    fixture.refuses(&["t.csv", &server.url()]).says(&["connection", "was lost"]);
    assert_eq!(server.collections(), [""; 0]);
    server.put("t", &[json!({"_id": 1})]);
    let run = fixture.load(&["t.csv", &server.url(), "--if-exists", "append"]).exits(1);
    let last = run.stderr.lines().last().unwrap();
    assert!(!last.contains("nothing changed"), "{last}");
}

#[test]
fn the_primary_is_found_from_any_member() {
    let fixture = fixture(10);
    let primary = Script::start(|command, _| match is(command, "hello") {
        true => Fate::Answered(hello(&json!({"setName": "rs0"}))),
        false => Fate::Done,
    });
    let named = primary.address.clone();
    let secondary = Script::start(move |command, _| match is(command, "hello") {
        true => Fate::Answered(hello(&json!({
            "isWritablePrimary": false, "secondary": true, "setName": "rs0", "primary": named, "hosts": ["127.0.0.1:1", named],
        }))),
        false => Fate::Answered(refusal(10_107, "not primary")),
    });
    let url = |more: &str| format!("{}{more}", secondary.url());
    let report = fixture.report(&["t.csv", &url("?replicaSet=rs0")]);
    assert_eq!(report["durability_read_back"]["replica_set"], "rs0");
    assert_eq!(primary.documents("t").len(), 10);
    fixture
        .refuses(&["t.csv", &url("?directConnection=true")])
        .says(&["no primary", "directConnection"]);
    fixture.refuses(&["t.csv", &url("?replicaSet=rs1")]).says(&["not of replica set rs1"]);
    // A dead member before it changes nothing.
    let both = format!("mongodb://127.0.0.1:1,{}/d", secondary.address);
    fixture.load(&["t.csv", &both, "--if-exists", "replace"]).exits(0);
}

#[test]
fn nobody_waits_for_an_answer_that_was_not_asked_for() {
    let fixture = fixture(100);
    let lost = Arc::new(AtomicUsize::new(0));
    let server = Script::start(|_, _| Fate::Done);
    let load =
        ["t.csv", &server.url(), "--set", "write_concern=0", "--set", "documents_per_batch=10"];
    fixture.load(&load).exits(0);
    assert_eq!(server.heard("insert")[0]["writeConcern"], json!({"w": 0}));
    assert!(server.heard("insert")[0].get("lsid").is_none());
    assert_eq!(server.heard("ping").len(), 1);
    fixture
        .misused(&[&["load"], &load[..], &["--verify", "none", "--table", "u"]].concat())
        .says(&["write_concern=0"]);
    // What is missing in the end is noticed.
    let count = Arc::clone(&lost);
    let server = Script::start(move |command, _| {
        match is(command, "insert") && count.fetch_add(1, SeqCst) == 3 {
            true => Fate::Answered(json!({"ok": 1.0})),
            false => Fate::Done,
        }
    });
    let load =
        ["t.csv", &server.url(), "--set", "write_concern=0", "--set", "documents_per_batch=10"];
    fixture.refuses(&load).says(&["went from 0 to 90 rows, 100 were sent"]);
    // Nor is it said to be there.
    server.put("t", &[json!({"_id": -1})]);
    lost.store(0, SeqCst);
    let run = fixture.load(&[&load[..], &["--if-exists", "append"]].concat()).exits(1);
    run.says(&["went from 1 to 91 rows", "look at it before you go on"]);
}

#[test]
fn the_url_says_what_writes_wait_for() {
    let fixture = fixture(3);
    let server = Script::start(|_, _| Fate::Done);
    let url = format!("{}?w=majority&journal=true&wtimeoutMS=500&appName=x", server.url());
    fixture.load(&["t.csv", &url]).exits(0);
    assert_eq!(
        server.heard("insert")[0]["writeConcern"],
        json!({"w": "majority", "j": true, "wtimeout": 500})
    );
    assert_eq!(server.heard("hello")[0]["client"]["application"]["name"], "x");
    fixture
        .load(&["t.csv", &url, "--table", "u", "--set", "write_concern=1", "--set", "journal=no"])
        .exits(0);
    assert_eq!(server.heard("insert")[1]["writeConcern"], json!({"w": 1, "wtimeout": 500}));
}

/// What a server doesn't account for may be in the collection.
#[test]
fn rows_of_which_a_server_says_nothing_are_not_said_to_be_out() {
    for answer in [
        json!({"ok": 1.0, "writeErrors": [{"index": 0, "code": 11_000, "errmsg": "E11000"}]}),
        json!({"ok": 1.0, "n": 2, "writeErrors": [{"index": 2, "code": 91, "errmsg": "shutdown"}]}),
    ] {
        let fixture = fixture(3);
        let server = Script::start(move |command, _| match is(command, "insert") {
            true => Fate::Answered(answer.clone()),
            false => Fate::Done,
        });
        server.put("t", &[json!({"_id": 9, "name": "old"})]);
        let load = ["t.csv", &server.url(), "--primary-key", "id", "--if-exists", "append"];
        let run = fixture.load(&[&load[..], &["--max-rejects", "all"]].concat()).exits(1);
        assert!(!run.stderr.contains("nothing changed"), "{}", run.stderr);
    }
}
