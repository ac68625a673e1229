use super::written::records;
use super::{COLUMNS, Place, all_of, load, refuses};

/// Names that the table doesn't have.
const OTHERS: &str = "to_node,from_node\n3,c\n";

/// A table of `id` and `name`, both text, with one row.
fn with_table<P: Place>(test: impl Fn(&P)) {
    P::for_each(|place| {
        place.files().write("old.csv", "id,name\nx,a\n");
        load(place, &["old.csv"]).exits(0);
        test(place);
    });
}

pub(super) fn names_that_the_table_lacks_are_refused<P: Place>() {
    with_table::<P>(|place| {
        let files = place.files();
        files.write("new.csv", OTHERS).write("half.csv", "id,nom\n3,c\n");
        files.write("new.jsonl", "{\"to_node\":\"3\",\"from_node\":\"c\"}\n");
        let mut sources = vec!["new.csv", "new.jsonl", "half.csv"];
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["new.csv", "parquet:new.parquet", "--types", "text"]).exits(0);
            sources.push("new.parquet");
        }
        for source in sources {
            let adding = [source, "--if-exists", "append"];
            if P::TRAITS.takes_any {
                // Documents have whatever fields they have.
                load(place, &adding).exits(0);
                continue;
            }
            let wanted = if source == "half.csv" { "nom" } else { "to_node, from_node" };
            let says = [wanted, "the table has id, name", "--match position"];
            refuses(place, &COLUMNS, &adding).says(&says);
            // A source whose names are said to be some is no other case.
            if source.ends_with("csv") {
                refuses(place, &COLUMNS, &[&adding[..], &["--header", "yes"]].concat()).says(&says);
            }
            load(place, &[&adding[..], &["--match", "position"]].concat()).exits(0);
        }
        if !P::TRAITS.takes_any {
            let added = if cfg!(feature = "parquet") { 4 } else { 3 };
            assert_eq!(all_of(place, &COLUMNS), records(&("3,c\n".repeat(added) + "x,a\n")));
        }
    });
}

pub(super) fn a_source_without_names_goes_by_position_and_says_so<P: Place>() {
    if P::TRAITS.takes_any {
        return;
    }
    with_table::<P>(|place| {
        place.files().write("new.csv", "3,4\n5,6\n").write("arrays.jsonl", "[\"7\",\"8\"]\n");
        let adding = |source, more: &[&str]| {
            load(place, &[&[source, "--if-exists", "append", "--json"], more].concat()).exits(0)
        };
        let notes = |run: crate::fixture::Outcome| run.json()["warnings"].to_string();
        for (source, more) in
            [("new.csv", &[][..]), ("new.csv", &["--header", "no"]), ("arrays.jsonl", &[])]
        {
            let notes = notes(adding(source, more));
            assert!(notes.contains("by position, that is to id, name"), "{notes}");
        }
        let silent = notes(adding("new.csv", &["--match", "position", "--header", "no"]));
        assert!(!silent.contains("position"), "{silent}");
        let by_name = ["new.csv", "--if-exists", "append", "--match", "name", "--header", "no"];
        load(place, &by_name).exits(2).says(&["--match name", "no column names"]);
        place.files().write("new.csv", "3,4,5\n");
        let adding = ["new.csv", "--if-exists", "append"];
        refuses(place, &COLUMNS, &adding).says(&["has 3 columns", "has 2: id, name"]);
        place.files().write("new.csv", "3\n");
        refuses(place, &COLUMNS, &[&adding[..], &["--header", "no"]].concat());
        assert_eq!(all_of(place, &COLUMNS).len(), 8);
    });
}

/// Of a source without names.
pub(super) fn names_that_the_user_gives_are_those_of_the_table<P: Place>() {
    if P::TRAITS.takes_any {
        return;
    }
    with_table::<P>(|place| {
        let files = place.files();
        files.write("two.csv", "b,3\n").write("one.csv", "c\n").write("three.csv", "5,6,7\n");
        files.write("arrays.jsonl", "[\"d\",\"5\"]\n");
        let of = |source, more: &[&'static str]| {
            [&[source, "--if-exists", "append", "--header", "no"], more].concat()
        };
        let (first, second) = (["--rename", "column_1=name"], ["--rename", "column_2=id"]);
        let both = [first, second].concat();
        load(place, &of("two.csv", &both)).exits(0);
        load(place, &of("two.csv", &[&both[..], &["--match", "name"]].concat())).exits(0);
        load(place, &[&["arrays.jsonl", "--if-exists", "append"], &both[..]].concat()).exits(0);
        // What has no name goes to what the table has besides.
        let run = load(place, &of("two.csv", &first)).exits(0);
        run.prints(&["by position, that is to id"]);
        load(place, &of("one.csv", &["--add", "id=4"])).exits(0);
        // By position all do, in the order of the columns.
        load(place, &of("one.csv", &["--add", "name=4", "--match", "position"])).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records("3,b\n3,b\n3,b\n4,c\n5,d\nc,4\nx,a\n"));
        let unknown = of("two.csv", &["--rename", "column_1=nom"]);
        refuses(place, &COLUMNS, &unknown).says(&["no column nom"]);
        let says = ["has 2 columns without a name", "1 besides", "--rename column_2=NAME"];
        refuses(place, &COLUMNS, &of("three.csv", &first)).says(&says);
        refuses(place, &COLUMNS, &of("three.csv", &[])).says(&["--rename column_1=NAME"]);
        // Bad rows go back the same way.
        let bad = [&both[..], &["--not-null", "column_2", "--max-rejects", "1"]].concat();
        place.files().write("two.csv", "e,\ng,8\n");
        load(place, &of("two.csv", &bad)).exits(3);
        place.files().write("two.rejects.csv", "e,7\n");
        place.files().load(&["two.rejects.csv", &place.url(), "--if-exists", "append"]).exits(0);
        let rows = all_of(place, &COLUMNS);
        for row in records("7,e\n8,g\n") {
            assert!(rows.contains(&row), "{rows:?}");
        }
    });
}

pub(super) fn a_line_that_may_be_a_header_is_never_data<P: Place>() {
    if P::TRAITS.takes_any {
        return;
    }
    with_table::<P>(|place| {
        place.files().write("new.csv", "Town,Full Name\nRome,Ana\n");
        let adding = ["new.csv", "--if-exists", "append"];
        let says = ["'Town', 'Full Name'", "id, name", "--header yes", "--header no"];
        refuses(place, &COLUMNS, &adding).says(&says);
        let header = |word| [&adding[..], &["--header", word]].concat();
        refuses(place, &COLUMNS, &header("yes")).says(&["no columns Town, Full Name"]);
        load(place, &header("no")).exits(0);
        let rows = "Rome,Ana\nTown,Full Name\nx,a\n";
        assert_eq!(all_of(place, &COLUMNS), records(rows));
        // A word above numbers may be a name, and the number beside it speaks against that.
        place.files().write("new.csv", "1,unknown\n2,5\n");
        refuses(place, &COLUMNS, &adding).says(&["'1', 'unknown'", "--header no"]);
        // Numbers name nothing.
        place.files().write("new.csv", "1,2\n3,4\n");
        load(place, &adding).exits(0).prints(&["by position"]);
        assert_eq!(all_of(place, &COLUMNS), records(&format!("1,2\n3,4\n{rows}")));
    });
}

pub(super) fn adding_to_what_is_missing_is_refused<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1,a\n");
        for how in ["append", "truncate"] {
            refuses(place, &COLUMNS, &["in.csv", "--if-exists", how]).says(&["--if-exists"]);
            assert_eq!(place.rows(&COLUMNS), None);
        }
        load(place, &["in.csv", "--if-exists", "replace"]).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n"));
    });
}

/// The rejects file is loaded as the documentation shows it: its name and the target, and nothing about a table.
pub(super) fn bad_rows_go_back_to_their_table<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("orders.csv", "id,name\n1,a\nx,b\n");
        let whole = ["--type", "id=integer", "--max-rejects", "all"];
        load(place, &[&["orders.csv"], &whole[..]].concat()).exits(3);
        for name in ["orders.rejects.csv", "fixed.csv"] {
            files.write(name, "id,name\n2,b\n");
        }
        let notes = files.read("orders.rejects.csv.jsonl");
        files.write("fixed.csv.jsonl", &notes);
        let url = place.url();
        for name in ["orders.rejects.csv", "fixed.csv"] {
            files.load(&[name, &url, "--if-exists", "append"]).exits(0);
        }
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n2,b\n2,b\n"));
    });
}

pub(super) fn null_may_be_spelt_for_one_column<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,name\nNA,NA\n2,-\n3,a=b\n");
        files.write("in.jsonl", "{\"id\":\"NA\",\"name\":\"NA\"}\n{\"id\":2,\"name\":\"-\"}\n");
        load(place, &["in.csv", "--null", "ID=NA", "--null", "a=b"]).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records(",NA\n2,-\n3,\n"));
        let report = load(
            place,
            &["in.jsonl", "--null", "id=NA", "--null", "-", "--if-exists", "replace", "--json"],
        )
        .exits(0)
        .json();
        assert_eq!(report["plan"]["columns"][0]["type"], "integer");
        assert_eq!(all_of(place, &COLUMNS), records(",NA\n2,\n"));
    });
}
