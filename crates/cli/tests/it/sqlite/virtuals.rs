use crate::fixture::{Fixture, rows};

/// An R*Tree, and a file of boxes for it.
fn tree(rows: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture
        .write("r.csv", format!("id,x0,x1\n{rows}"))
        .sql("t.db", "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)");
    fixture
}

#[test]
fn what_a_module_makes_of_values_is_compared() {
    let fixture = tree("1,0.1,0.2\n");
    let says =
        ["r: the values in column x0 are not those that were sent", "rtree", "--verify none"];
    fixture.refuses(&["r.csv", "t.db"]).says(&says);
    fixture
        .inrush(&["plan", "r.csv", "t.db"])
        .exits(0)
        .prints(&["verified by checksum", "table r is virtual: what its module, rtree, stores"]);
    fixture.load(&["r.csv", "t.db", "--verify", "none"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM r WHERE x0 <> 0.1"), 1);
    // A 32-bit float keeps these.
    let fixture = tree("1,0.5,2\n");
    let report = fixture.report(&["r.csv", "t.db"]);
    assert_eq!(report["verify"]["method"], "checksum");
    assert_eq!(fixture.table("t.db", "r"), rows![[1, 0.5, 2.0]]);
}

#[test]
fn an_r_tree_makes_up_no_ids() {
    let fixture = tree("1,0,1\n,0.5,2\n");
    fixture.load(&["r.csv", "t.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.table("t.db", "r"), rows![[1, 0.0, 1.0]]);
}

#[test]
fn a_full_text_table_takes_texts_and_numbers_as_they_are() {
    let fixture = Fixture::new();
    fixture
        .write("f.csv", "title,year\nAda,1843\n,1950\n")
        .sql("t.db", "CREATE VIRTUAL TABLE f USING fts5(title, year)");
    fixture.load(&["f.csv", "t.db"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM f WHERE f MATCH 'ada'"), 1);
    fixture.load(&["f.csv", "t.db", "--if-exists", "truncate"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM f"), 2);
}

#[test]
fn a_virtual_table_that_is_replaced_is_told_as_lost() {
    let fixture = Fixture::new();
    fixture
        .write("f.csv", "title,body\nAda,x\n")
        .sql("t.db", "CREATE VIRTUAL TABLE f USING fts5(title,  body)");
    let args = ["f.csv", "t.db", "--if-exists", "replace"];
    let lost = "VIRTUAL TABLE f USING fts5(title, body)";
    fixture.inrush(&[&["plan"], &args[..]].concat()).exits(0).prints(&[lost]);
    fixture.load(&args).exits(0).prints(&[lost]);
    assert_eq!(fixture.columns("t.db", "f")[0].1, "TEXT");
}
