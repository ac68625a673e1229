use super::{COLUMNS, Place, all_of, load};
use crate::web::server::{Served, Web};

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

pub(super) fn over_the_network_have_the_rows_of_the_file<P: Place>() {
    P::for_each(|place| {
        let rows = P::few(60_000);
        let row = |id: usize| format!("{id},\"name, \"\"of\"\"\n{id}\"\n");
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
