use crate::fixture::{json_lines, size};

use super::server::{Server, for_each_server};

/// Rows `id,code,n`; of every hundred the last repeats an id, one that comes before it or one that the table has.
fn file(rows: u64) -> String {
    let row = |number: u64| {
        let id = match number % 100 {
            99 if number % 300 == 99 => 1_000_000,
            99 => number - 50,
            _ => number,
        };
        format!("{id},code {id}.0,{number}\n")
    };
    "id,code,n\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// Loads the file, and gives what was rejected and the table's contents.
fn loaded(server: &Server, args: &[&str]) -> (Vec<u8>, Vec<(u64, String)>, String) {
    let how = if server.tables().is_empty() { "empty" } else { "append" };
    let load = ["t.csv", "--max-rejects", "5%", "--verify", "checksum", "--if-exists", how];
    server.load(&[&load[..], args].concat()).exits(3);
    let reasons = json_lines(&server.read("t.rejects.csv.jsonl")).into_iter().map(|reason| {
        let words = reason["message"].as_str().unwrap().to_owned();
        assert_eq!(reason["code"], "duplicate-key");
        (reason["line"].as_u64().unwrap(), words)
    });
    let sum = "SELECT count(*)::text || ' ' || sum(hashtextextended(t::text, 0)) FROM t";
    let contents = server.query(sum).remove(0).remove(0).unwrap();
    (server.read("t.rejects.csv"), reasons.collect(), contents)
}

#[test]
fn many_repeated_keys_are_told_as_one_by_one() {
    for_each_server(|server| {
        let rows = size(3_000, 30_000);
        server.write("t.csv", file(rows));
        let ids = "id int PRIMARY KEY, code text, n int";
        let codes = "id int, code varchar(40) NOT NULL, n int UNIQUE, UNIQUE (code, id)";
        for columns in [ids, codes] {
            let make = || {
                server.drop_table("t").sql(&format!(
                    "CREATE TABLE t ({columns}); INSERT INTO t VALUES (1000000, 'code 1000000.0', -1)"
                ));
            };
            make();
            let (rejects, reasons, contents) = loaded(server, &["--strategy", "copy-binary"]);
            assert_eq!(reasons.len() as u64, rows / 100);
            assert_eq!(reasons[0].0, 101);
            make();
            // It takes them one by one.
            let one_by_one = loaded(server, &["--strategy", "copy-text"]);
            assert_eq!((rejects, reasons, contents), one_by_one, "{columns}");
        }
    });
}

#[test]
fn a_new_table_has_the_first_row_of_each_key() {
    for_each_server(|server| {
        let rows = size(3_000, 30_000);
        server.write("t.csv", file(rows));
        let numbers = ["--type", "code=text", "--primary-key"];
        for (key, lanes) in [("id", "3"), ("id", "1"), ("code,id", "2")] {
            let args = [&numbers[..], &[key, "--lanes", lanes]].concat();
            server.drop_table("t");
            let (rejects, reasons, contents) = loaded(server, &args);
            // Of those that the used table had, the first is new here.
            assert_eq!(reasons.len() as u64, rows / 100 - 1, "{key} {lanes}");
            server.drop_table("t");
            let before = [&args[..], &["--strategy", "copy-text"]].concat();
            assert_eq!((rejects, reasons, contents), loaded(server, &before), "{key} {lanes}");
        }
        server.refuses(&["t.csv", "--table", "u", "--primary-key", "id"]).says(&[
            "t.csv: line 201, column id: '149'",
            "duplicate key value violates unique constraint \"u_pkey\": Key (id)=(149) already exists",
        ]);
    });
}

#[test]
fn equal_keys_may_be_written_in_several_ways() {
    for_each_server(|server| {
        let row = |number: u32| match number {
            7 => "0007,x\n".to_owned(),
            number if number % 20 == 19 => format!("{}.50,again\n", number - 19),
            number => format!("{number}.5,x\n"),
        };
        let rows: String = (0..4_000).map(row).collect();
        server.write("t.csv", "price,n\n".to_owned() + &rows);
        server.sql("CREATE TABLE t (price numeric PRIMARY KEY, n text)");
        let load = ["t.csv", "--max-rejects", "10%"];
        let report = server.load(&[&load[..], &["--json"]].concat()).exits(3).json();
        assert_eq!(
            (report["rows_loaded"].as_u64(), report["rows_rejected"].as_u64()),
            (Some(3800), Some(200))
        );
        assert_eq!(server.number("SELECT count(*) FROM t WHERE n = 'again'"), 0);
    });
}

#[test]
fn a_row_that_is_refused_for_another_reason_repeats_nothing() {
    for_each_server(|server| {
        // Every tenth key comes twice; of every second of these the first row is bad, so the later one is not.
        let row = |number: u32| {
            let n = if number % 20 == 3 { -1 } else { 1 };
            match number % 10 {
                9 => format!("{},1\n", number - 6),
                _ => format!("{number},{n}\n"),
            }
        };
        let rows: String = (0..2_000).map(row).collect();
        server.write("t.csv", "id,n\n".to_owned() + &rows);
        server.sql("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n > 0))");
        let load = ["t.csv", "--max-rejects", "400", "--json"];
        let report = server.load(&load).exits(3).json();
        assert_eq!(
            (report["rows_loaded"].as_u64(), report["rows_rejected"].as_u64()),
            (Some(1800), Some(200))
        );
    });
}

#[test]
fn keys_that_a_trigger_makes_are_the_servers() {
    for_each_server(|server| {
        let rows: String = (0..5000).map(|number| format!("{},{number}\n", number % 50)).collect();
        server.write("t.csv", "id,n\n".to_owned() + &rows);
        server.sql(
            "CREATE TABLE t (id int PRIMARY KEY, n int);
             CREATE FUNCTION own_id() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                 IF NEW.n % 10 > 0 THEN NEW.id := 1000 + NEW.n; END IF; RETURN NEW; END$$;
             CREATE TRIGGER own_id BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION own_id()",
        );
        let load = ["t.csv", "--max-rejects", "1000", "--json"];
        let report = server.load(&load).exits(3).json();
        // 500 rows keep their id, and these are five.
        assert_eq!(
            (report["rows_loaded"].as_u64(), report["rows_rejected"].as_u64()),
            (Some(4505), Some(495))
        );
    });
}
