//! Where rows come from, when that is no file of text.

use super::{COLUMNS, Place, all_of, by_every_strategy, load, refuses};
use crate::archives::{gzip, tar, zip};
use crate::servers::Rows;
use crate::sheets::Cell::{Day, Empty, Error, Moment, Number, Text, Truth};
use crate::sheets::{Cell, book};
#[cfg(all(feature = "cloud", feature = "sqlite"))]
use crate::web::server::{Served, Web};

fn texts(rows: &[[&str; 2]]) -> Rows {
    rows.iter().map(|row| row.iter().map(|text| Some((*text).to_owned())).collect()).collect()
}

/// Several members, one of them compressed, with a bad row in it; in a zip, and in a tar that is compressed.
pub(super) fn members_of_an_archive_are_loaded_as_files_are<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        let members = [
            ("2024/jan.csv", b"id,name\n1,a\n2,b\n".to_vec()),
            ("2024/feb.csv.gz", gzip(b"name,id\nc,3\nd,x\ne,5\n")),
            ("notes.md", b"# no table\n".to_vec()),
        ];
        files.write("in.zip", zip(&members)).write("in.tar.gz", gzip(&tar(&members)));
        for (archive, rejects) in
            [("in.zip", "in.2024.feb.rejects.csv"), ("in.tar.gz!2024/*", "in.2024.feb.rejects.csv")]
        {
            let typed = [archive, "--type", "id=integer", "--if-exists", "replace"];
            let name = archive.split('!').next().unwrap();
            let place_of_it = format!("{name}!2024/feb.csv.gz: line 3, column id");
            refuses(place, &COLUMNS, &typed).says(&[&place_of_it, "'x'"]);
            load(place, &[&typed[..], &["--max-rejects", "1"]].concat()).exits(3);
            let found = all_of(place, &COLUMNS);
            assert_eq!(
                found,
                texts(&[["1", "a"], ["2", "b"], ["3", "c"], ["5", "e"]]),
                "{archive}"
            );
            assert_eq!(files.read(rejects), b"name,id\nd,x\n");
        }
    });
}

/// The same values in a sheet and in text, by every strategy; and a cell that holds none is a bad row, as is a text among numbers.
pub(super) fn a_sheet_is_loaded_as_the_same_table_in_csv_is<P: Place>() {
    const NAMES: [&str; 6] = ["id", "name", "price", "day", "at", "ok"];
    let csv = "id,name,price,day,at,ok\n\
               1,007,1.5,2024-01-31,2024-01-31 12:00:00,true\n\
               -2,\"x, \u{e9}\",2.25,1999-12-31,1999-12-31 00:00:01,false\n\
               3,,,,,\n";
    let rows: [&[Cell<'_>]; 4] = [
        &NAMES.map(Text),
        &[Number(1.0), Text("007"), Number(1.5), Day(45_322.0), Moment(45_322.5), Truth(true)],
        &[
            Number(-2.0),
            Text("x, \u{e9}"),
            Number(2.25),
            Day(36_525.0),
            Moment(36_525.0 + 1.0 / 86_400.0),
            Truth(false),
        ],
        &[Number(3.0), Empty, Empty, Empty, Empty, Empty],
    ];
    by_every_strategy::<P>(|place, way| {
        let files = place.files();
        files.write("in.csv", csv).write("in.xlsx", book(&rows));
        load(place, &[&["in.csv"], way].concat()).exits(0);
        let wanted = all_of(place, &NAMES);
        let sheet = ["in.xlsx", "--verify", "checksum", "--if-exists", "replace"];
        load(place, &[&sheet, way].concat()).exits(0);
        assert_eq!(all_of(place, &NAMES), wanted);
        let bad =
            [&rows[..], &[&[Number(4.0), Error("#REF!")], &[Number(5.0)], &[Text("six")]]].concat();
        files.write("in.xlsx", book(&bad));
        let typed = [&sheet[..], &["--type", "id=integer"], way].concat();
        refuses(place, &NAMES, &typed).says(&["in.xlsx: row 5, column name: B5 is #REF!"]);
        load(place, &[&typed[..], &["--max-rejects", "2"]].concat()).exits(3);
        let header = "id,name,price,day,at,ok\n";
        let rejects = String::from_utf8(files.read("in.rejects.csv")).unwrap();
        assert_eq!(rejects, format!("{header}4,#REF!,,,,\nsix,,,,,\n"));
        assert_eq!(all_of(place, &NAMES).len(), wanted.len() + 1);
    });
}

#[cfg(all(feature = "cloud", feature = "sqlite"))]
/// Loads a file from the disk and from a web server, and compares what is in the table; it has so many rows.
#[track_caller]
fn are_equal<P: Place>(place: &P, file: &str, rows: usize) {
    let replacing = ["--if-exists", "replace"];
    load(place, &[&[file], &replacing[..]].concat()).exits(0);
    let by_file = all_of(place, &COLUMNS);
    assert_eq!(by_file.len(), rows);
    let web = Web::file(Served::new(place.files().read(file)));
    load(place, &[&[web.url(file).as_str()], &replacing[..]].concat()).exits(0);
    assert!(all_of(place, &COLUMNS) == by_file, "{file} has other rows over the network");
}

#[cfg(all(feature = "cloud", feature = "sqlite"))]
pub(super) fn over_the_network_have_the_rows_of_the_file<P: Place>() {
    P::for_each(|place| {
        // Wide ones: of a file of some size it is the bytes that come over the network.
        let rows = P::few(4_000);
        let name = "name, \"\"of\"\"\n".repeat(30);
        let row = |id: usize| format!("{id},\"{name}{id}\"\n");
        let text: String =
            std::iter::once("id,name\n".to_owned()).chain((1..=rows).map(row)).collect();
        place.files().write("in.csv", text);
        are_equal(place, "in.csv", rows);
        #[cfg(all(feature = "files", feature = "parquet"))]
        {
            place.files().load(&["in.csv", "parquet:columns.parquet"]).exits(0);
            are_equal(place, "columns.parquet", rows);
        }
    });
}
