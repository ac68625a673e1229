use std::fs;

use serde_json::{Value as Json, json};

use super::script::{Fate, Script, VERB};
use super::server::{STRATEGIES, for_each_server, rows};
use crate::fixture::Fixture;

#[test]
fn ids_come_from_a_column_or_are_made() {
    for_each_server(|server| {
        server.write("t.csv", "_id,name\nb,two\na,one\n").write("u.csv", "k,name\n2,two\n1,one\n");
        server.load(&["t.csv", "--verify", "checksum"]).exits(0);
        assert_eq!(server.documents("t"), rows![["a", "one"], ["b", "two"]]);
        server
            .plan(&["u.csv", "--primary-key", "k"])
            .exits(0)
            .prints(&["column k become the field _id"]);
        server.load(&["u.csv", "--primary-key", "k", "--verify", "checksum"]).exits(0);
        assert_eq!(server.documents("u"), rows![[1, "one"], [2, "two"]]);
        server.plan(&["u.csv", "--table", "v"]).exits(0).prints(&["an _id made here"]);
        server.load(&["u.csv", "--table", "v"]).exits(0);
        let made: Vec<String> =
            server.documents("v").into_iter().map(|row| row[0].clone().unwrap()).collect();
        assert!(made[0] < made[1] && made[0].len() == 24, "{made:?}");
        // In the order of the file.
        assert_eq!(server.fields("v"), rows![[2, "two"], [1, "one"]]);
        server.write("w.csv", "_id,k\n1,1\n");
        server.misused(&["w.csv", "--primary-key", "k"]).says(&["would become _id"]);
    });
}

#[test]
fn a_key_that_is_there_is_a_bad_row() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n1,again\n3,c\n2,too\n,none\n");
        for strategy in STRATEGIES {
            let load =
                ["t.csv", "--primary-key", "id", "--strategy", strategy, "--if-exists", "replace"];
            server.refuses(&load).says(&["t.csv: line 4, column id: '1': E11000"]);
            let load = [&load[..], &["--max-rejects", "9", "--verify", "checksum"]].concat();
            let report = server.load(&[&load[..], &["--json"]].concat()).exits(3).json();
            assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&3.into(), &3.into()));
            assert_eq!(server.documents("t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
            let rejects = String::from_utf8(server.read("t.rejects.csv")).unwrap();
            assert_eq!(rejects, "id,name\n1,again\n2,too\n,none\n");
            let notes = String::from_utf8(server.read("t.rejects.csv.jsonl")).unwrap();
            assert!(!notes.contains("inrush_staging"), "{notes}");
            let codes: Vec<_> =
                ["duplicate-key", "not-null"].map(|code| notes.matches(code).count()).into();
            assert_eq!(codes, [2, 1], "{notes}");
            server.query("{\"drop\": \"t\"}");
        }
    });
}

#[test]
fn several_connections_leave_it_to_one_to_say_which_row_came_first() {
    for_each_server(|server| {
        let rows: String = (0..4000).map(|n| format!("{n},name {n}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}7,again\n"));
        let load = ["t.csv", "--primary-key", "id", "--lanes", "3", "--chunk-size", "4k"];
        server.refuses(&load).says(&["t.csv: line 4002, column id"]);
        server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(server.count("t"), 4000);
        assert_eq!(server.read("t.rejects.csv"), b"id,name\n7,again\n");
    });
}

/// To the server `1` and `'1'` are two keys: rows with the one would be added beside documents with the other.
#[test]
fn rows_whose_keys_are_of_another_kind_than_the_documents_are_refused() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,new\n3,new\n");
        server.write("old.csv", "id,name\n1,a\n2,b\n");
        server
            .load(&["old.csv", "--table", "t", "--primary-key", "id", "--type", "id=text"])
            .exits(0);
        for how in ["skip", "update", "replace"] {
            let load =
                ["t.csv", "--primary-key", "id", "--if-exists", "append", "--on-conflict", how];
            let said =
                ["_id holds values of kind string", "number in the rows", "try: --type id=text"];
            server.misused(&load).says(&said);
            server.plan(&load).exits(2).says(&said);
        }
        assert_eq!(server.documents("t"), rows![["1", "a"], ["2", "b"]]);
        let update = ["--primary-key", "id", "--if-exists", "append", "--on-conflict", "update"];
        server.load(&[&["t.csv", "--type", "id=text"], &update[..]].concat()).exits(0);
        assert_eq!(server.documents("t"), rows![["1", "new"], ["2", "b"], ["3", "new"]]);
        // Of both kinds, some are none of the rows'.
        let append = ["t.csv", "--primary-key", "id", "--if-exists", "append"];
        server.load(&append).exits(0).prints(&["of kind string are none of the rows'"]);
        let load = [&["t.csv"], &update[..]].concat();
        server.plan(&load).exits(0).prints(&["of kind string are none of the rows'"]);
        server.load(&load).exits(0);
    });
}

#[test]
fn advice_is_in_the_words_of_the_server() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        server.load(&["t.csv", "--primary-key", "id"]).exits(0);
        let run = server.load(&["t.csv", "--primary-key", "id"]).exits(1);
        let run = run.says(&["--if-exists truncate puts the new ones in their place"]);
        assert!(!run.stderr.contains("transaction"), "{}", run.stderr);
        let load =
            ["t.csv", "--primary-key", "id", "--if-exists", "append", "--on-conflict", "skip"];
        let run = server.load(&[&load[..], &["--key", "name"]].concat()).exits(1);
        let run = run.says(&["createIndex({\"name\": 1}, {unique: true})"]);
        assert!(!run.stderr.contains("CREATE UNIQUE"), "{}", run.stderr);
    });
}

#[test]
fn several_columns_are_kept_unique_by_an_index() {
    for_each_server(|server| {
        server.write("t.csv", "a,b,n\n1,1,x\n1,2,y\n1,1,z\n");
        server.refuses(&["t.csv", "--primary-key", "a,b"]).says(&["line 4", "E11000"]);
        let load = ["t.csv", "--primary-key", "a,b", "--index", "n", "--max-rejects", "1"];
        server.load(&load).exits(3);
        assert_eq!(server.fields("t"), rows![[1, 1, "x"], [1, 2, "y"]]);
        let indexes = server.query("{\"listIndexes\": \"t\"}");
        assert_eq!(indexes.len(), 3, "{indexes:?}");
    });
}

#[test]
fn rows_whose_key_is_there_are_left_out_replace_or_change_it() {
    for_each_server(|server| {
        for strategy in STRATEGIES {
            server
                .write("old.csv", "_id,name,size\n1,a,1\n2,b,2\n")
                .write("new.csv", "_id,name\n2,B\n3,C\n2,BB\n");
            let load = |more: &[&str]| {
                let table = ["--table", "t", "--strategy", strategy];
                server.load(&[more, &table].concat())
            };
            let again = |answer: &str| {
                load(&["old.csv", "--if-exists", "replace"]).exits(0);
                load(&["new.csv", "--if-exists", "append", "--on-conflict", answer, "--json"])
                    .exits(0)
                    .json()
            };
            let report = again("skip");
            assert_eq!((&report["rows_loaded"], &report["rows_skipped"]), (&1.into(), &2.into()));
            assert_eq!(server.documents("t"), rows![[1, "a", 1], [2, "b", 2], [3, "C"]]);
            again("replace");
            assert_eq!(server.documents("t"), rows![[1, "a", 1], [2, "BB"], [3, "C"]]);
            again("update");
            assert_eq!(server.documents("t"), rows![[1, "a", 1], [2, "BB", 2], [3, "C"]]);
        }
        server.write("t.csv", "k,name\n1,a\n");
        server
            .misused(&["t.csv", "--if-exists", "append", "--on-conflict", "skip"])
            .says(&["--on-conflict compares _id", "--primary-key"]);
    });
}

/// What finds the document of a row must find no other: a query that leaves NULL out would find any.
#[test]
fn a_row_with_null_in_its_key_changes_no_other_document() {
    for_each_server(|server| {
        server.write("old.csv", "code,part,stock\n10,1,5\n20,1,7\n");
        server
            .write("new.csv", "code,part,stock\n20,1,8\n,1,0\n")
            .write("new.jsonl", "{\"code\":20,\"part\":1,\"stock\":8}\n{\"part\":1,\"stock\":0}\n");
        for (key, fields) in [("code", "\"code\": 1"), ("code,part", "\"code\": 1, \"part\": 1")] {
            for (file, how) in
                [("new.csv", "update"), ("new.csv", "replace"), ("new.jsonl", "update")]
            {
                for nulls in ["nulls=store", "nulls=omit"] {
                    server.load(&["old.csv", "--table", "t", "--if-exists", "replace"]).exits(0);
                    server.query(&format!("{{\"createIndexes\": \"t\", \"indexes\": [{{\"key\": {{{fields}}}, \"name\": \"k\", \"unique\": true}}]}}"));
                    let load = [
                        file,
                        "--table",
                        "t",
                        "--if-exists",
                        "append",
                        "--on-conflict",
                        how,
                        "--key",
                        key,
                        "--set",
                        nulls,
                        "--json",
                    ];
                    let report = server.load(&load).exits(0).json();
                    let counts = (&report["rows_inserted"], &report["rows_updated"]);
                    assert_eq!(counts, (&1.into(), &1.into()), "{load:?}");
                    let stocks = |filter: &str| -> Vec<_> {
                        let find = format!(
                            "{{\"find\": \"t\", \"filter\": {{{filter}}}, \"projection\": {{\"_id\": 0, \"stock\": 1}}}}"
                        );
                        server.query(&find)
                    };
                    assert_eq!(stocks("\"code\": 10"), rows![[5]], "{load:?}");
                    assert_eq!(stocks("\"code\": 20"), rows![[8]], "{load:?}");
                    assert_eq!(stocks("\"code\": null"), rows![[0]], "{load:?}");
                    if nulls == "nulls=omit" {
                        continue;
                    }
                    // Now there is one, and it is the row's.
                    let report = server.load(&load).exits(0).json();
                    assert_eq!(report["rows_updated"], 2, "{load:?}");
                    assert_eq!(server.count("t"), 3, "{load:?}");
                }
            }
        }
    });
}

/// A server that holds the collection `t`, with indexes and one document, and takes everything.
fn holding(indexes: Json, document: Json) -> Script {
    let server = Script::start(move |command, documents| {
        let verb = command[VERB].as_str().unwrap();
        let listed = |batch: &Json| {
            let cursor = json!({"id": 0, "ns": "d.t", "firstBatch": batch});
            Fate::Answered(json!({"cursor": cursor, "ok": 1.0}))
        };
        match verb {
            "listIndexes" => listed(&indexes),
            "update" => Fate::Answered(json!({"n": documents.len().max(1), "ok": 1.0})),
            _ => Fate::Done,
        }
    });
    server.put("t", &[document]);
    server
}

const UPDATE: [&str; 6] = ["--if-exists", "append", "--on-conflict", "update", "--verify", "none"];

#[test]
fn null_is_looked_for_as_the_index_compares_it() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a,b,n\n,1,x\n");
    let index = |more: Json| {
        let mut index = json!({"v": 2, "key": {"a": 1, "b": 1}, "name": "k", "unique": true});
        index.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        index
    };
    let document = || json!({"_id": "x", "a": 1, "b": 1});
    let whole = json!({"a": null, "b": 1});
    let stored = json!({"a": {"$type": 10}, "b": 1});
    for (indexes, wanted) in [
        (vec![index(json!({}))], &whole),
        // Those without the fields are in no sparse index, so there may be many.
        (vec![index(json!({"sparse": true}))], &stored),
        (vec![index(json!({"sparse": true})), index(json!({"name": "l"}))], &whole),
    ] {
        let server = holding(json!(indexes), document());
        let load = ["t.csv", &server.url(), "--key", "b,a"];
        fixture.load(&[&load[..], &UPDATE].concat()).exits(0);
        let sent = server.sent("update");
        assert_eq!((&sent[0]["q"], &sent[0]["upsert"]), (wanted, &json!(true)), "{sent:?}");
    }
    // What some documents have to keep says nothing of others.
    let partial = index(json!({"partialFilterExpression": {"n": "x"}}));
    let server = holding(json!([partial]), document());
    let load = ["t.csv", &server.url(), "--key", "a,b"];
    fixture
        .refuses(&[&load[..], &UPDATE].concat())
        .says(&["no UNIQUE or PRIMARY KEY", "createIndex({\"a\": 1, \"b\": 1}, {unique: true})"]);
    assert_eq!(server.sent("update"), [json!(null); 0]);
}

#[test]
fn values_of_a_key_are_no_operators() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "{\"a\":{\"$gt\":1},\"n\":1}\n{\"a\":[1],\"n\":1}\n");
    let index = json!({"v": 2, "key": {"a": 1}, "name": "k", "unique": true});
    let server = holding(json!([index]), json!({"_id": "x", "a": {}}));
    let load = ["t.jsonl", &server.url(), "--key", "a"];
    fixture.load(&[&load[..], &UPDATE].concat()).exits(0);
    let queries: Vec<Json> = server.sent("update").iter().map(|sent| sent["q"].clone()).collect();
    assert_eq!(queries, [json!({"a": {"$eq": {"$gt": 1}}}), json!({"a": [1]})]);
}

#[test]
fn a_duplicate_of_the_key_is_skipped_in_whatever_order_that_is_named() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a,b\n1,2\n3,4\n");
    let server = Script::start(|command, documents| match command[VERB].as_str() {
        Some("listIndexes") => {
            let index = json!({"v": 2, "key": {"a": 1, "b": 1}, "name": "k", "unique": true});
            let cursor = json!({"id": 0, "ns": "d.t", "firstBatch": [index]});
            Fate::Answered(json!({"cursor": cursor, "ok": 1.0}))
        }
        Some("insert") => Fate::Answered(json!({
            "n": documents.len() - 1,
            "writeErrors": [{"index": 0, "code": 11_000, "errmsg": "E11000", "keyPattern": {"a": 1, "b": 1}}],
            "ok": 1.0,
        })),
        _ => Fate::Done,
    });
    server.put("t", &[json!({"_id": "x", "a": 1, "b": 2})]);
    let load = ["t.csv", &server.url(), "--if-exists", "append", "--on-conflict", "skip"];
    let load = [&load[..], &["--key", "b,a", "--verify", "none", "--json"]].concat();
    let report = fixture.load(&load).exits(0).json();
    assert_eq!((&report["rows_loaded"], &report["rows_skipped"]), (&1.into(), &1.into()));
}

/// Names that differ in case are two fields to the server.
#[test]
fn a_key_is_a_field_as_it_is_spelt() {
    for_each_server(|server| {
        server.write("old.csv", "sku,qty\nA,1\n").write("new.csv", "SKU,Qty\nA,9\n");
        server.load(&["old.csv", "--table", "t"]).exits(0);
        server.query("{\"createIndexes\": \"t\", \"indexes\": [{\"key\": {\"sku\": 1}, \"name\": \"own\", \"unique\": true}]}");
        let update =
            ["new.csv", "--table", "t", "--if-exists", "append", "--on-conflict", "update"];
        for key in ["sku", "SKU"] {
            let load = [&update[..], &["--key", key]].concat();
            server.misused(&load).says(&[
                "the collection's key is sku, and the source's column SKU",
                "try: --rename SKU=sku",
            ]);
        }
        assert_eq!(server.fields("t"), rows![["A", 1]]);
        let load = [&update[..], &["--key", "SKU", "--rename", "SKU=sku"]].concat();
        // Of other fields it is said.
        server.load(&load).exits(0).prints(&["--rename Qty=qty makes it the same"]);
        server.load(&[&load[..], &["--rename", "Qty=qty"]].concat()).exits(0);
        assert_eq!(server.column("t", "qty"), rows![[9]].concat());
        assert_eq!(server.count("t"), 1);
    });
}

#[test]
fn a_column_that_may_be_the_id_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n");
        server.load(&["t.csv", "--primary-key", "id"]).exits(0);
        let update = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        let run = server.load(&[&update[..], &["--key", "id"]].concat()).exits(1);
        let run = run.says(&["try: say --primary-key id in the place of --key id"]);
        assert!(!run.stderr.contains("createIndex"), "{}", run.stderr);
        server.load(&[&update[..], &["--primary-key", "id"]].concat()).exits(0);
        assert_eq!(server.documents("t"), rows![[1, "a"], [2, "b"]]);
        // Added as others they are two of each, and that is said.
        let append = ["t.csv", "--if-exists", "append"];
        let named = "--primary-key id if that column is what _id holds";
        server.plan(&append).exits(0).prints(&[named]);
        server.load(&append).exits(0).prints(&[named]);
        // Where ids were made no column was one.
        server.load(&["t.csv", "--table", "made"]).exits(0);
        server.write("u.csv", "key,name\n1,a\n");
        let append = ["u.csv", "--table", "made", "--if-exists", "append"];
        assert!(!server.load(&append).exits(0).stdout.contains("--primary-key"));
        let run = server.load(&[&append[..], &["--on-conflict", "skip", "--key", "key"]].concat());
        run.exits(1).says(&["try: name fields that documents have"]);
    });
}

#[test]
fn a_column_without_values_is_of_no_kind() {
    for_each_server(|server| {
        server.write("old.csv", "id,email\n1,a@x\n").write("new.csv", "id,email\n,b@x\n");
        server.load(&["old.csv", "--table", "t"]).exits(0);
        server.query("{\"createIndexes\": \"t\", \"indexes\": [{\"key\": {\"id\": 1, \"email\": 1}, \"name\": \"own\", \"unique\": true}]}");
        let load = ["new.csv", "--table", "t", "--if-exists", "append", "--on-conflict", "update"];
        let run = server.load(&[&load[..], &["--key", "id,email"]].concat()).exits(0);
        run.prints(&["no value of id was seen", "--type id=integer"]);
        assert_eq!(server.fields("t").len(), 2);
    });
}

/// However the user spells them, the key's columns are fields as the source spells them.
#[test]
fn a_primary_key_is_made_of_the_columns_as_they_are_spelt() {
    for_each_server(|server| {
        server.write("t.csv", "Order,Item\n1,1\n1,2\n1,1\n");
        let load = ["t.csv", "--primary-key", "order,item", "--index", "ITEM"];
        let run = server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        run.prints(&["1 bad row rejected"]);
        assert_eq!(server.count("t"), 2);
    });
}

const INDEX: &str = "{\"createIndexes\": \"t\", \"indexes\": [{\"key\": {\"email\": 1}, \"name\": \"own\", \"unique\": true}]}";

/// FerretDB ends a batch of updates at the first that it refuses, and doesn't say which that was.
#[test]
fn an_update_that_repeats_another_key_is_the_only_bad_row() {
    for_each_server(|server| {
        server.write("old.csv", "id,email\n1,a\n").write("new.csv", "id,email\n4,q\n3,a\n5,r\n");
        for ordered in ["no", "yes"] {
            let old = ["old.csv", "--table", "t", "--primary-key", "id"];
            server.load(&[&old[..], &["--if-exists", "replace"]].concat()).exits(0);
            server.query(INDEX);
            let load = ["new.csv", "--table", "t", "--primary-key", "id", "--if-exists", "append"];
            let ordered = format!("ordered={ordered}");
            let update = ["--on-conflict", "update", "--set", &ordered, "--max-rejects", "1"];
            server.load(&[&load[..], &update].concat()).exits(3);
            assert_eq!(server.documents("t"), rows![[1, "a"], [4, "q"], [5, "r"]]);
            assert_eq!(server.read("new.rejects.csv"), b"id,email\n3,a\n");
            for name in ["new.rejects.csv", "new.rejects.csv.jsonl"] {
                fs::remove_file(server.path(name)).unwrap();
            }
        }
    });
}

/// Old servers and FerretDB say of a duplicate that it is one, and not of which key.
#[test]
fn a_row_is_skipped_for_the_key_that_was_asked_for() {
    for_each_server(|server| {
        server
            .write("old.csv", "id,email\n1,a\n")
            .write("new.csv", "id,email\n1,z\n2,a\n2,b\n3,\n,c\n");
        let load = ["new.csv", "--table", "t", "--primary-key", "id", "--if-exists", "append"];
        for (key, kept, bad) in [
            (&[][..], rows![[1, "a"], [2, "b"], [3, ()]], "2,a\n,c\n"),
            (&["--key", "email"][..], rows![[1, "a"], [2, "b"], [3, ()]], "1,z\n,c\n"),
        ] {
            let old = ["old.csv", "--table", "t", "--primary-key", "id"];
            server.load(&[&old[..], &["--if-exists", "replace"]].concat()).exits(0);
            server.query(INDEX);
            let skip = ["--on-conflict", "skip", "--max-rejects", "2", "--json"];
            let report = server.load(&[&load[..], &skip, key].concat()).exits(3).json();
            assert_eq!(report["rows_skipped"], 1, "{key:?}");
            assert_eq!(server.documents("t"), kept, "{key:?}");
            let rejects = String::from_utf8(server.read("new.rejects.csv")).unwrap();
            assert_eq!(rejects, format!("id,email\n{bad}"), "{key:?}");
            for name in ["new.rejects.csv", "new.rejects.csv.jsonl"] {
                fs::remove_file(server.path(name)).unwrap();
            }
        }
    });
}
