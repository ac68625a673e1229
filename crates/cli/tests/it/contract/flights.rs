use super::written::{Kind, records};
use super::{Place, load};
use crate::fixture::size;
use crate::flights::{self, bring_parquet};
use crate::servers::Rows;

/// The hour has one spelling.
fn spelt(mut rows: Rows) -> Rows {
    let mut last = (String::new(), String::new());
    for row in &mut rows {
        let hour = row[18].as_mut().expect("an hour");
        // Rows of one hour lie together.
        if *hour != last.0 {
            last = (hour.clone(), Kind::Moment.plain(hour));
        }
        hour.clone_from(&last.1);
    }
    rows
}

pub(super) fn come_back_by_way_of_parquet<P: Place>() {
    P::for_each(|place| {
        let rows = P::few(size(5_000, flights::rows()));
        let text = bring_parquet(place.files(), rows);
        let mut wanted = records(&text);
        let header: Vec<String> = wanted.remove(0).into_iter().flatten().collect();
        for value in wanted.iter_mut().flatten() {
            value.take_if(|value| value == "NA");
        }
        let report = load(place, &["flights.parquet", "--json"]).exits(0).json();
        assert_eq!(report["rows_loaded"], rows);
        let columns: Vec<&str> = header.iter().map(String::as_str).collect();
        let (mut found, mut wanted) =
            (spelt(place.rows(&columns).expect("a table")), spelt(wanted));
        // Few targets need it: most keep the order.
        if found != wanted {
            found.sort_unstable();
            wanted.sort_unstable();
        }
        assert!(found == wanted, "other rows than the file has");
    });
}
