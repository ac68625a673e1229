use super::server::{STRATEGIES, for_each_server, rows};

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
            let said = ["_id holds values of kind string", "number in the rows", "--type id=text"];
            server.misused(&load).says(&said);
            server.plan(&load).exits(2).says(&said);
        }
        assert_eq!(server.documents("t"), rows![["1", "a"], ["2", "b"]]);
        let update = ["--primary-key", "id", "--if-exists", "append", "--on-conflict", "update"];
        server.load(&[&["t.csv", "--type", "id=text"], &update[..]].concat()).exits(0);
        assert_eq!(server.documents("t"), rows![["1", "new"], ["2", "b"], ["3", "new"]]);
        // Of both kinds, some are none of the rows'.
        server.load(&["t.csv", "--primary-key", "id", "--if-exists", "append"]).exits(0);
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
