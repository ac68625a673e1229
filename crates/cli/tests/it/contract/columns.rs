//! Which columns are loaded, under which names, and what is added to them.

use super::written::{Kind, plain, plain_rows};
use super::{Place, adding, all_of, by_every_strategy, load, refuses};

/// Columns that are not all wanted, under names that are not the table's.
const ORDERS: &str = concat!(
    "Order ID,note,City,price\n",
    "1,a,Bonn,1.5\n",
    "2,\"b,\n\",\"Bad Ems\",\n",
    "3,c,,2.25\n",
    "4,d,Ulm,x\n",
);
const OPTIONS: &[&str] = &[
    "--columns",
    "City,Order ID,price",
    "--rename",
    "Order ID=id",
    "--case",
    "snake",
    "--add",
    "file=%file",
    "--add",
    "row=%row",
    "--add",
    "batch=42",
    "--not-null",
    "City",
    "--type",
    "price=float",
    "--max-rejects",
    "all",
];
/// What becomes of it. Two rows are bad, and are counted.
const MEANT: &str = concat!(
    "city,id,price,file,row,batch\n",
    "Bonn,1,1.5,orders.csv,1,42\n",
    "Bad Ems,2,,orders.csv,2,42\n",
);
const KINDS: [Kind; 6] = {
    use Kind::{Float, Text};
    [Text, Text, Float, Text, Text, Text]
};
const COLUMNS: [&str; 6] = ["city", "id", "price", "file", "row", "batch"];

pub(super) fn are_chosen_renamed_and_added<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        place.files().write("orders.csv", ORDERS);
        let args = [&["orders.csv", "--verify", "checksum"], OPTIONS, way].concat();
        load(place, &args).exits(3);
        let wanted = plain(MEANT, &KINDS);
        assert_eq!(plain_rows(all_of(place, &COLUMNS), &KINDS), wanted, "{way:?}");
        // Bad rows are the source's own lines, and are loaded as these were.
        let rejects = String::from_utf8(place.files().read("orders.rejects.csv")).unwrap();
        assert_eq!(rejects, "Order ID,note,City,price\n3,c,,2.25\n4,d,Ulm,x\n", "{way:?}");
        // Into the same table once more, whose columns they now have to find.
        load(place, &[&args[..3], OPTIONS, &adding::<P>(way)].concat()).exits(3);
        let found = plain_rows(all_of(place, &COLUMNS), &KINDS);
        assert_eq!(found, super::sorted([&wanted[..], &wanted].concat()), "added by {way:?}");
    });
}

pub(super) fn that_are_added_as_one_are_told<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id\n1\n");
        for value in ["a=1,2", "a=x=1,", "a=1, b c=2"] {
            let run = load(place, &["in.csv", "--add", value, "--dry-run"]).exits(0);
            assert!(!run.stdout.contains("is not added"), "{value}");
        }
        let note = "column a has the value '1,b=2' in all rows, and column b is not added: that takes an --add of its own";
        load(place, &["in.csv", "--add", "a=1,b=2"]).exits(0).prints(&[note]);
        let kinds = [Kind::Text; 2];
        assert_eq!(
            plain_rows(all_of(place, &["id", "a"]), &kinds),
            plain("id,a\n1,\"1,b=2\"\n", &kinds)
        );
    });
}

pub(super) fn whose_names_are_too_long_are_refused<P: Place>() {
    P::for_each(|place| {
        let (long, wanted) = ("n".repeat(200), plain("id,n\n1,a\n", &[Kind::Text; 2]));
        place.files().write("in.csv", format!("id,{long}\n1,a\n"));
        let loaded = |name: &str| plain_rows(all_of(place, &["id", name]), &[Kind::Text; 2]);
        if load(place, &["in.csv"]).status.code() == Some(0) {
            assert_eq!(loaded(&long), wanted);
            return;
        }
        let rename = format!("--rename {long}=NEW");
        let run = place.files().leaves_all(|| load(place, &["in.csv"])).exits(2);
        run.says(&["column nnn", "the name has 200", &rename]).ends_with_nothing_changed();
        load(place, &["in.csv", "--rename", &format!("{long}=short")]).exits(0);
        assert_eq!(loaded("short"), wanted);
    });
}

pub(super) fn of_json_and_parquet_are_chosen_and_added_as_well<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        let lines: String = (1..=9)
            .map(|id| format!("{{\"id\":{id},\"b\":{{\"x\":1}},\"name\":\"n{id}\",\"late\":2}}\n"))
            .collect();
        files.write("in.jsonl", lines + "\n{\"id\":10,\"name\":null,\"new\":1}\n");
        let options = ["--columns", "name,id", "--rename", "id=number", "--add", "row=%row"];
        let rows = (1..=10).map(|id| {
            let name = if id < 10 { format!("n{id}") } else { String::new() };
            format!("{name},{id},{id}\n")
        });
        let meant = "name,number,row\n".to_owned() + &rows.collect::<String>();
        let kinds = [Kind::Text; 3];
        let mut sources = vec!["in.jsonl"];
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["in.jsonl", "parquet:in.parquet"]).exits(0);
            sources.push("in.parquet");
        }
        for source in sources {
            load(place, &[&[source, "--if-exists", "replace"], &options[..]].concat()).exits(0);
            let found = plain_rows(all_of(place, &["name", "number", "row"]), &kinds);
            assert_eq!(found, plain(&meant, &kinds), "{source}");
        }
    });
}

pub(super) fn of_files_that_differ_are_united_where_the_user_says_so<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("a.csv", "id,name,old\n1,a,x\n2,b,y\n");
        files.write("b.csv", "new,ID,name\n7,3,c\n");
        let both = ["a.csv", "b.csv"];
        let says = ["missing: old; more: new", "--missing-columns null", "--new-columns add"];
        refuses(place, &["id"], &both).says(&says);
        refuses(place, &["id"], &[&both[..], &["--new-columns", "add"]].concat()).says(&says[..1]);
        let kinds = [Kind::Text; 5];
        let one = ["--missing-columns", "null", "--add", "row=%row", "--if-exists", "replace"];
        load(place, &[&both[..], &one, &["--new-columns", "add"]].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "name", "old", "new", "row"]), &kinds);
        let meant = "id,name,old,new,row\n1,a,x,,1\n2,b,y,,2\n3,c,,7,1\n";
        assert_eq!(found, plain(meant, &kinds));
        load(place, &[&both[..], &one, &["--new-columns", "ignore"]].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "name", "old", "row"]), &kinds[..4]);
        assert_eq!(found, plain("id,name,old,row\n1,a,x,1\n2,b,y,2\n3,c,,1\n", &kinds[..4]));
    });
}

pub(super) fn that_the_table_lacks_may_be_left_out<P: Place>() {
    if P::TRAITS.takes_any {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        files.write("old.csv", "id,name\nx,a\n").write("more.csv", "name,more,id\nb,1,y\n");
        files.write("less.csv", "id\nz\n");
        load(place, &["old.csv"]).exits(0);
        let add = ["--if-exists", "append"];
        let columns = ["id", "name"];
        refuses(place, &columns, &[&["more.csv"], &add[..]].concat())
            .says(&["no column more", "--new-columns ignore"]);
        load(place, &[&["more.csv", "--new-columns", "ignore"], &add[..]].concat()).exits(0);
        refuses(place, &columns, &[&["less.csv", "--missing-columns", "fail"], &add[..]].concat())
            .says(&["lacks", "name"]);
        load(place, &[&["less.csv", "--add", "name=%%5"], &add[..]].concat()).exits(0);
        let kinds = [Kind::Text; 2];
        let found = plain_rows(all_of(place, &columns), &kinds);
        assert_eq!(found, plain("id,name\nx,a\ny,b\nz,%5\n", &kinds));
    });
}

pub(super) fn that_the_table_lacks_are_added<P: Place>() {
    if P::TRAITS.takes_any {
        return;
    }
    P::for_each(|place| {
        let files = place.files();
        files.write("old.csv", "id,name\n1,a\n2,b\n");
        files.write("more.csv", "more,id,name,day\n7.5,3,c,2024-02-29\n,4,d,\n");
        files.write("bad.csv", "id,name,other\n5,e,1\n6,f\n");
        files.write("wide.csv", "id,name,more,late\n5,e,1.5,1\n6,f,2.5,x\n");
        load(place, &["old.csv"]).exits(0);
        let add = ["--if-exists", "append", "--new-columns", "add"];
        let with = |source: &'static str| [&[source][..], &add].concat();
        let text = |columns: usize| vec![Kind::Text; columns];
        let before = "id,name\n1,a\n2,b\n";
        if P::TRAITS.target == "files" {
            refuses(place, &["id", "name"], &with("more.csv"))
                .says(&["--new-columns add", "--new-columns ignore"]);
            return;
        }
        // A row that is bad leaves neither rows nor columns.
        refuses(place, &["id", "name"], &with("bad.csv")).says(&["line 3"]);
        assert_eq!(plain_rows(all_of(place, &["id", "name"]), &text(2)), plain(before, &text(2)));
        let piecemeal = [&with("more.csv")[..], &["--set", "rows_per_transaction=1"]].concat();
        load(place, &piecemeal).exits(2).says(&["all or nothing"]).ends_with_nothing_changed();
        if P::TRAITS.has_steps {
            let steps = [&with("more.csv")[..], &["--guarantee", "chunks"]].concat();
            load(place, &steps).exits(2).says(&["in steps"]).ends_with_nothing_changed();
        }
        let table = ["--table", place.table(), &place.url()];
        let plan = files.inrush(&[&["plan"][..], &with("more.csv"), &table].concat());
        plan.exits(0).prints(&["they are added to it", "more, day"]);
        load(place, &with("more.csv")).exits(0);
        let names = ["id", "name", "more", "day"];
        let after = "id,name,more,day\n1,a,,\n2,b,,\n3,c,7.5,2024-02-29\n4,d,,\n";
        assert_eq!(plain_rows(all_of(place, &names), &text(4)), plain(after, &text(4)));
        // They are the table's own from now on; the next is text because of its last value.
        load(place, &with("wide.csv")).exits(0);
        let names = ["id", "name", "more", "day", "late"];
        let after = concat!(
            "id,name,more,day,late\n1,a,,,\n2,b,,,\n3,c,7.5,2024-02-29,\n4,d,,,\n",
            "5,e,1.5,,1\n6,f,2.5,,x\n"
        );
        assert_eq!(plain_rows(all_of(place, &names), &text(5)), plain(after, &text(5)));
    });
}

pub(super) fn that_are_not_there_are_refused<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1,a\n");
        for (options, words) in [
            (&["--columns", "id,nmae"][..], "--columns nmae: there is no column nmae"),
            (&["--drop", "x"], "--drop x"),
            (&["--rename", "x=y"], "--rename x"),
            (&["--rename", "id=name"], "two columns would be called name"),
            (&["--add", "id=1"], "two columns would be called id"),
            (&["--add", "x=%when"], "'%when' is none of"),
            (&["--not-null", "x"], "--not-null x"),
            // Of a column that is left out nothing can be promised.
            (&["--not-null", "name", "--drop", "name"], "--not-null name: there is no column name"),
            (&["--not-null", "name", "--columns", "id"], "--not-null name: there is no column"),
            (&["--type", "name=text", "--drop", "name"], "--type name=text: there is no column"),
            (&["--drop", "id,name"], "no column is left"),
        ] {
            let run = load(place, &[&["in.csv"], options].concat()).exits(2).says(&[words]);
            run.ends_with_nothing_changed();
            assert_eq!(place.rows(&["id"]), None);
        }
    });
}

pub(super) fn that_have_to_have_a_value_are_so_in_the_table<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("a.csv", "id,name\n1,a\n").write("b.csv", "id,name\n2,\n");
        load(place, &["a.csv", "--not-null", "name"]).exits(0);
        if P::TRAITS.takes_any || !P::TRAITS.has_keys {
            return;
        }
        // The table remembers what the option said.
        load(place, &[&["b.csv"][..], &adding::<P>(&[])].concat()).exits(1).says(&["column name"]);
        // Without the column every row would be bad.
        let lacks = [
            "column name of table",
            "has no default, and the source has no such column",
            "--add name=VALUE",
        ];
        files.write("c.csv", "id\n3\n");
        let lacking = [&["c.csv"][..], &adding::<P>(&[])].concat();
        refuses(place, &["id", "name"], &lacking).says(&lacks);
        let url = place.url();
        let plan = [&["plan"], &lacking[..], &[&url, "--table", place.table()]].concat();
        files.inrush(&plan).exits(1).says(&lacks);
    });
}

pub(super) fn differ_in_case_alone_whatever_their_letters<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("a.csv", "id,Größe\n1,x\n").write("b.csv", "id,GRÖßE\n2,y\n");
        load(place, &["a.csv", "b.csv"]).exits(0);
        let wanted = plain("id,Größe\n1,x\n2,y\n", &[Kind::Text; 2]);
        assert_eq!(plain_rows(all_of(place, &["id", "Größe"]), &[Kind::Text; 2]), wanted);
        load(place, &[&["b.csv"][..], &adding::<P>(&[])].concat()).exits(0);
        if !P::TRAITS.takes_any {
            assert_eq!(all_of(place, &["id", "Größe"]).len(), 3);
        }
    });
}

pub(super) fn that_may_be_either_of_two_are_refused<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("a.csv", "id,Val,x\n1,a,b\n").write("b.csv", "id,VAL\n2,c\n");
        let two = load(place, &["a.csv", "--rename", "x=val", "--case", "exact"]);
        // Few engines have such tables.
        if !two.status.success() || P::TRAITS.takes_any {
            return;
        }
        let names = ["id", "Val", "val"];
        let more = [&["b.csv"][..], &adding::<P>(&[])].concat();
        for options in [&[][..], &["--new-columns", "ignore"]] {
            refuses(place, &names, &[&more[..], options].concat()).says(&[
                "which column of table",
                "is VAL? It has",
                "--rename VAL=val",
            ]);
        }
        load(place, &[&more[..], &["--rename", "VAL=val"]].concat()).exits(0);
        let wanted = plain("id,Val,val\n1,a,b\n2,,c\n", &[Kind::Text; 3]);
        assert_eq!(plain_rows(all_of(place, &names), &[Kind::Text; 3]), wanted);
    });
}

pub(super) fn that_case_alone_tells_apart_are_named_as_they_are_called<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "Name,name\na,b\n").write("in.jsonl", r#"{"Name":"a","name":"b"}"#);
        for (file, options) in [
            ("in.csv", ["--columns", "name"]),
            ("in.csv", ["--drop", "name"]),
            ("in.csv", ["--rename", "name=x"]),
            ("in.csv", ["--null", "name=b"]),
            ("in.csv", ["--type", "name=text"]),
            ("in.csv", ["--not-null", "name"]),
            ("in.csv", ["--columns", "NAME"]),
            ("in.jsonl", ["--drop", "name"]),
        ] {
            load(place, &[&[file], &options[..]].concat()).exits(2).says(&[
                "which column is that? The source has Name, and a second one whose name, name, differs in case alone",
                "say Name, or for the second one name_2",
            ]);
        }
        assert_eq!(place.rows(&["Name"]), None);
        load(place, &["in.csv", "--columns", "name_2", "--rename", "name_2=name"]).exits(0);
        let wanted = plain("name\nb\n", &[Kind::Text]);
        assert_eq!(plain_rows(all_of(place, &["name"]), &[Kind::Text]), wanted);
    });
}
