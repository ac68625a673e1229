//! Values that are written otherwise than inrush writes them, and are read as the user says.

use super::values::{come_as, with_late_value};
use super::written::{Kind, plain, plain_rows, records};
use super::{Place, all_of, by_every_strategy, load, refuses};
use crate::fixture::some;
use crate::sheets::Cell::{Day, Empty, Moment, Number, Text};
use crate::sheets::book;

/// As programs of the continent write a table, and what it says.
const CONTINENTAL: &str = concat!(
    "id,price,day,at,truth,name\n",
    "1,\"1.234,56\",31.12.2024,31.12.2024 23:59,ja, Ann \n",
    "2,\"-7,5\",1.2.1999,01.02.1999 0:00,NEIN,\" Bob \"\n",
    "3,,,,,   \n",
    "4,\"1234567,25\",29.02.2024,29.02.2024 12:30,nein,\"1.234,56\"\n",
);
const CONTINENTAL_MEANT: &str = concat!(
    "id,price,day,at,truth,name\n",
    "1,1234.56,2024-12-31,2024-12-31 23:59:00,true,Ann\n",
    "2,-7.5,1999-02-01,1999-02-01 00:00:00,false,\" Bob \"\n",
    "3,,,,,\n",
    "4,1234567.25,2024-02-29,2024-02-29 12:30:00,false,\"1.234,56\"\n",
);
const CONTINENTAL_TYPES: [Kind; 6] = {
    use Kind::{Boolean, Date, Float, Text, Timestamp};
    [Text, Float, Date, Timestamp, Boolean, Text]
};
const CONTINENTAL_OPTIONS: &[&str] = &[
    "--decimal",
    ",",
    "--thousands",
    ".",
    "--date-format",
    "%d.%m.%Y",
    "--timestamp-format",
    "%d.%m.%Y %H:%M",
    "--true",
    "ja",
    "--false",
    "nein",
    "--trim",
];

pub(super) fn are_those_that_their_options_say<P: Place>() {
    come_as::<P>(CONTINENTAL, CONTINENTAL_MEANT, &CONTINENTAL_TYPES, CONTINENTAL_OPTIONS);
}

/// Each column by an option that names it.
const NAMED: &str = concat!(
    "id,cost,share,logged,day,truth,local\n",
    "1,\"$1,299.50\",12.5%,1700000000125,01/31/2024,1,2024-01-31 12:00:00\n",
    "2,($7.25),100 %,0,12/31/99,0,2024-07-31 12:00:00\n",
    "3,,,,,,\n",
    "4,$0.75,-3%,1700000000000,02/29/2024,1,2024-07-31 12:00:00+05:00\n",
);
const NAMED_MEANT: &str = concat!(
    "id,cost,share,logged,day,truth,local\n",
    "1,1299.50,0.125,2023-11-14 22:13:20.125Z,2024-01-31,true,2024-01-31 11:00:00Z\n",
    "2,-7.25,1.00,1970-01-01 00:00:00Z,1999-12-31,false,2024-07-31 10:00:00Z\n",
    "3,,,,,,\n",
    "4,0.75,-0.03,2023-11-14 22:13:20Z,2024-02-29,true,2024-07-31 07:00:00Z\n",
);
const NAMED_OPTIONS: &[&str] = &[
    "--type",
    "cost=money",
    "--type",
    "share=percent",
    "--type",
    "logged=timestamp[ms]",
    "--date-format",
    "day=%m/%d/%Y",
    "--date-format",
    "day=%m/%d/%y",
    "--true",
    "truth=1",
    "--false",
    "truth=0",
    "--time-zone",
    "local=Europe/Berlin",
];

pub(super) fn of_a_named_column_are_what_it_is_said_to_be<P: Place>() {
    use Kind::{Boolean, Date, Float, Moment, Text};
    let kinds = [Text, Float, Float, Moment, Date, Boolean, Moment];
    P::for_each(|place| {
        let (text, meant) = match place.keeps_fractions() {
            true => (NAMED.to_owned(), NAMED_MEANT.to_owned()),
            false => (
                NAMED.replace("1700000000125", "1700000000000"),
                NAMED_MEANT.replace("20.125Z", "20Z"),
            ),
        };
        let files = place.files();
        files.write("in.csv", &text);
        let mut sources = vec!["in.csv"];
        // Of strings no schema says what the options make of them.
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["in.csv", "in.parquet", "--types", "text"]).exits(0);
            sources.push("in.parquet");
        }
        let mut types = Vec::new();
        for source in sources {
            let more = ["--verify", "checksum", "--if-exists", "replace", "--json"];
            let report = load(place, &[&[source], &more[..], NAMED_OPTIONS].concat());
            let report = report.exits(0).json();
            let columns: Vec<&str> = NAMED.lines().next().unwrap().split(',').collect();
            let found = plain_rows(all_of(place, &columns), &kinds);
            assert_eq!(found, plain(&meant, &kinds), "{source}");
            let columns = report["plan"]["columns"].as_array().unwrap();
            let of_named = columns[1..].iter().map(|column| column["type"].clone());
            types.push(of_named.collect::<Vec<_>>());
        }
        let first = types[0].clone();
        assert!(types.iter().all(|types| *types == first), "{types:?}");
    });
}

pub(super) fn that_no_form_fits_are_bad_rows_of_a_named_column<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let rows = [
            ("31.12.2024,\"1,5\"", None),
            ("2024-12-31,\"1,5\"", Some("day")),
            ("31.02.2024,\"1,5\"", Some("day")),
            ("31.12.2024,1.5", Some("price")),
            ("1.1.2024,\"1.000,5\"", Some("price")),
            ("31/12/2024,\"-2,25\"", None),
        ];
        let lines = |is_wanted: &dyn Fn(Option<&str>) -> bool| {
            let wanted = (1..).zip(rows).filter(|(_, (_, bad))| is_wanted(*bad));
            wanted.fold("id,day,price\n".to_owned(), |text, (id, (row, _))| {
                text + &format!("{id},{row}\n")
            })
        };
        place.files().write("in.csv", lines(&|_| true));
        let said = ["in.csv", "--date-format", "day=%d.%m.%Y", "--date-format", "day=%d/%m/%Y"];
        let args = [&said[..], &["--decimal", "price=,"], way].concat();
        let run = refuses(place, &["id", "day", "price"], &args);
        run.says(&["line 3, column day", "'2024-12-31' is not a date", "%d.%m.%Y or %d/%m/%Y"]);
        load(place, &[&args[..], &["--max-rejects", "4"]].concat()).exits(3);
        let kinds = [Kind::Text, Kind::Date, Kind::Float];
        let kept = "id,day,price\n1,2024-12-31,1.5\n6,2024-12-31,-2.25\n";
        let found = plain_rows(all_of(place, &["id", "day", "price"]), &kinds);
        assert_eq!(found, plain(kept, &kinds), "{way:?}");
        let rejects = String::from_utf8(place.files().read("in.rejects.csv")).unwrap();
        assert_eq!(rejects, lines(&|bad| bad.is_some()), "{way:?}");
    });
}

/// 20240229 is no date as it stands, and no number of seconds.
pub(super) fn of_days_in_digits_are_never_numbers<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,day\n1,20240229\n2,20240301\n");
        let args = ["in.csv", "--type", "day=date"];
        let way = "--date-format day=%Y%m%d reads it as a day";
        refuses(place, &["id", "day"], &args).says(&["line 2, column day", "'20240229'", way]);
        let all = [&args[..], &["--max-rejects", "2"]].concat();
        load(place, &all).exits(3).prints(&["2 values seen", "--date-format day=%Y%m%d"]);
        let read = ["--date-format", "day=%Y%m%d", "--if-exists", "replace"];
        load(place, &[&args[..], &read].concat()).exits(0);
        let kinds = [Kind::Text, Kind::Date];
        let found = plain_rows(all_of(place, &["id", "day"]), &kinds);
        assert_eq!(found, plain("id,day\n1,2024-02-29\n2,2024-03-01\n", &kinds));
    });
}

/// The message says how a number is read as the moment that it counts to.
pub(super) fn of_moments_in_seconds_are_read_where_it_is_said<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,at\n1,1700000000\n2,1700000060\n");
        let typed = |ty| ["in.csv", "--type", ty];
        let way = "--type 'at=timestamp[s]' reads it as seconds since 1970";
        refuses(place, &["id", "at"], &typed("at=timestamp")).says(&[
            "line 2, column at",
            "'1700000000'",
            way,
        ]);
        load(place, &typed("at=timestamp[s]")).exits(0);
        let kinds = [Kind::Text, Kind::Moment];
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        let meant = "id,at\n1,2023-11-14 22:13:20Z\n2,2023-11-14 22:14:20Z\n";
        assert_eq!(found, plain(meant, &kinds));
    });
}

pub(super) fn of_days_are_midnights_in_a_column_of_timestamps<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("old.csv", "id,at\n1,2024-07-01 10:00:00\n");
        files.write("days.csv", "id,at\n2,31.12.2024\n3,\n");
        files.write("both.csv", "id,at\n4,1.2.2024\n5,29.02.2024 12:30\n");
        load(place, &["old.csv"]).exits(0);
        let (day, moment) = ("--date-format", "--timestamp-format");
        let of_day = [day, "at=%d.%m.%Y"];
        let of_both = [&of_day[..], &[moment, "at=%d.%m.%Y %H:%M"]].concat();
        let append = ["--if-exists", "append"];
        load(place, &[&["days.csv"], &of_day[..], &append].concat()).exits(0);
        load(place, &[&["both.csv"], &of_both[..], &append].concat()).exits(0);
        // What is said of all days leaves moments alone.
        for source in ["old.csv", "days.csv"] {
            load(place, &[&[source, day, "%d.%m.%Y"], &append[..]].concat()).exits(0);
        }
        // Of other targets the columns have whatever types their values have.
        let is_typed = P::TRAITS.has_keys && !P::TRAITS.takes_any;
        let of_all = [day, "%d.%m.%Y", moment, "%d.%m.%Y %H:%M"];
        let all = if is_typed { &of_all[..] } else { &of_both };
        load(place, &[&["both.csv"], all, &append].concat()).exits(0);
        let kinds = [Kind::Text, Kind::Timestamp];
        let midnights = "2,2024-12-31 00:00:00\n3,\n";
        let two = "4,2024-02-01 00:00:00\n5,2024-02-29 12:30:00\n";
        let rows = format!("1,2024-07-01 10:00:00\n{midnights}{two}").repeat(2);
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        assert_eq!(found, plain(&format!("id,at\n{rows}"), &kinds));
        if is_typed {
            files.write("bad.csv", "id,at\n6,31/12/2024\n");
            let words = "a date as %d.%m.%Y has it";
            refuses(place, &["id", "at"], &[&["bad.csv"], &of_day[..], &append].concat())
                .says(&["line 2, column at", words]);
            refuses(place, &["id", "at"], &[&["bad.csv"], &of_both[..], &append].concat())
                .says(&["a timestamp as %d.%m.%Y %H:%M has it, or a date as %d.%m.%Y has it"]);
        }
        // And of one that the load makes.
        let replace = ["--if-exists", "replace"];
        files.write("mixed.csv", "id,at\n6,2024-07-01 10:00:00\n7,31.12.2024\n");
        let typed = ["mixed.csv", "--type", "at=timestamp", day, "%d.%m.%Y"];
        load(place, &[&typed[..], &replace].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        let mixed = "id,at\n6,2024-07-01 10:00:00\n7,2024-12-31 00:00:00\n";
        assert_eq!(found, plain(mixed, &kinds));
        files.write("iso.csv", "id,at\n8,2024-07-01 10:00:00\n9,2024-12-31\n");
        let typed = ["iso.csv", "--type", "at=timestamp", "--if-exists", "replace"];
        refuses(place, &["id", "at"], &typed)
            .says(&["line 3, column at", "--date-format %Y-%m-%d reads days as their midnights"]);
        load(place, &[&typed[..], &[day, "%Y-%m-%d"]].concat()).exits(0);
        let typed = ["days.csv", "--type", "at=timestamp"];
        load(place, &[&typed[..], &of_day, &replace].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        assert_eq!(found, plain(&format!("id,at\n{midnights}"), &kinds));
        load(place, &[&["both.csv"], &of_both[..], &replace].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        assert_eq!(found, plain(&format!("id,at\n{two}"), &kinds));
    });
}

pub(super) fn that_come_late_and_fit_no_form_make_text_of_the_column<P: Place>() {
    let (text, line) = with_late_value("id,day", |id, is_late| {
        format!("{id},{}", if is_late { "2024-12-32" } else { "31.12.2024" })
    });
    P::for_each(|place| {
        place.files().write("in.csv", &text);
        let args = ["in.csv", "--date-format", "%d.%m.%Y", "--verify", "checksum", "--json"];
        let report = load(place, &args).exits(0).json();
        let kinds = [Kind::Text; 3];
        let found = plain_rows(all_of(place, &["id", "day", "filler"]), &kinds);
        assert!(found == plain(&text, &kinds), "rows have changed");
        let notes = report["warnings"].to_string();
        assert!(notes.contains("column day") && notes.contains(&format!("line {line}")), "{notes}");
    });
}

pub(super) fn of_json_are_read_where_they_are_strings<P: Place>() {
    P::for_each(|place| {
        let lines = concat!(
            r#"{"id":1,"price":"1.234,5","day":"31.12.2024","whole":5}"#,
            "\n",
            r#"{"id":2,"price":"-0,25","day":"01.01.2025","whole":-7}"#,
            "\n",
            r#"{"id":3,"price":null,"day":null,"whole":null}"#,
            "\n",
        );
        place.files().write("in.jsonl", lines);
        let args = ["in.jsonl", "--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y"];
        load(place, &args).exits(0);
        let meant = "id,price,day,whole\n1,1234.5,2024-12-31,5\n2,-0.25,2025-01-01,-7\n3,,,\n";
        let kinds = [Kind::Text, Kind::Float, Kind::Date, Kind::Text];
        let found = plain_rows(all_of(place, &["id", "price", "day", "whole"]), &kinds);
        assert_eq!(found, plain(meant, &kinds));
    });
}

/// Local times of a year, among them an hour that clocks skip and one that they show twice.
const LOCAL: &str = concat!(
    "id,at\n1,2024-07-01 00:00:00\n2,2024-03-31 02:30:00\n3,2024-01-01 00:00:00\n",
    "4,2024-10-27 02:30:00\n5,2024-10-27 03:00:00\n"
);

pub(super) fn hours_that_clocks_skip_or_repeat_are_bad_rows<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", LOCAL);
        let zone = ["in.csv", "--time-zone", "Europe/Berlin"];
        let words = ["line 3, column at", "'2024-03-31 02:30:00'", "clocks skip it"];
        refuses(place, &["id", "at"], &zone).says(&words);
        let kinds = [Kind::Text, Kind::Moment];
        let kept = "1,2024-06-30 22:00:00Z\n3,2023-12-31 23:00:00Z\n5,2024-10-27 02:00:00Z\n";
        let skipped = "id,at\n2,2024-03-31 02:30:00\n4,2024-10-27 02:30:00\n";
        // Into a new table, and then into that one, whose columns rule.
        for (more, times) in [(&[][..], 1), (&["--if-exists", "append"], 2)] {
            load(place, &[&zone[..], &["--max-rejects", "2"], more].concat()).exits(3);
            assert_eq!(place.files().read("in.rejects.csv"), skipped.as_bytes());
            let wanted = format!("id,at\n{}", kept.repeat(times));
            let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
            assert_eq!(found, plain(&wanted, &kinds));
            // Where a load that ends early can't take back what it has added, it is another one.
            if P::TRAITS.undoes_appends {
                let adding = [&zone[..], &["--if-exists", "append"]].concat();
                refuses(place, &["id", "at"], &adding).says(&words);
            }
        }
    });
}

pub(super) fn of_a_zone_go_into_a_column_without_one_as_those_of_utc<P: Place>() {
    P::for_each(|place| {
        let first = "id,at\n1,2024-07-01 00:00:00\n";
        place.files().write("in.csv", first);
        load(place, &["in.csv"]).exits(0);
        let zone = ["--time-zone", "Europe/Berlin", "--if-exists", "append"];
        load(place, &[&["in.csv"], &zone[..]].concat()).exits(0);
        let kinds = [Kind::Text, Kind::Timestamp];
        let wanted = format!("{first}1,2024-06-30 22:00:00\n");
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        assert_eq!(found, plain(&wanted, &kinds));
        // What a message shows is what the file says, and the option makes a moment of no such hour.
        place.files().write("in.csv", "id,at\n1,2024-03-31 02:30:00\n");
        refuses(place, &["id", "at"], &[&["in.csv"], &zone[..]].concat())
            .says(&["line 2, column at", "'2024-03-31 02:30:00'"]);
        // A type that the user names has none either.
        place.files().write("in.csv", first);
        let typed = ["in.csv", "--type", "at=timestamp", "--time-zone", "Europe/Berlin"];
        let report = load(place, &[&typed[..], &["--if-exists", "replace", "--json"]].concat());
        let notes = report.exits(0).json()["warnings"].to_string();
        assert!(notes.contains("column at keeps no offset from UTC"), "{notes}");
        let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
        assert_eq!(found, plain("id,at\n1,2024-06-30 22:00:00\n", &kinds));
    });
}

/// Numbers that are others with the options than without, and one that is none with them.
const THOUSANDS: &str = "id;amt\n1;1.000\n2;2.500\n3;0.75\n";

pub(super) fn are_never_taken_as_they_stand_in_silence<P: Place>() {
    let options = ["--decimal", ",", "--thousands", "."];
    P::for_each(|place| {
        let note = "column amt is text: 2 of 3 values seen are a number with ','";
        let said = "'0.75' (line 4) is not (--decimal amt=, --thousands amt=. makes such rows bad";
        place.files().write("in.csv", THOUSANDS);
        let plan = ["plan", "in.csv", &place.url(), "--table", place.table()];
        place.files().inrush(&[&plan[..], &options].concat()).exits(0).prints(&[note, said]);
        let report = load(place, &[&["in.csv", "--json"], &options[..]].concat()).exits(0).json();
        let notes = report["warnings"].to_string();
        assert!(notes.contains(note) && notes.contains(said), "{notes}");
        let written = THOUSANDS.replace(';', ",");
        let found = plain_rows(all_of(place, &["id", "amt"]), &[Kind::Text; 2]);
        assert_eq!(found, plain(&written, &[Kind::Text; 2]));
        // Or it is of numbers as the options have them, where bad rows are allowed.
        let allowed = ["--max-rejects", "1", "--if-exists", "replace"];
        load(place, &[&["in.csv"], &options[..], &allowed].concat()).exits(3);
        assert_eq!(place.files().read("in.rejects.csv"), b"id;amt\n3;0.75\n");
        let kinds = [Kind::Text, Kind::Float];
        let found = plain_rows(all_of(place, &["id", "amt"]), &kinds);
        assert_eq!(found, plain("id,amt\n1,1000\n2,2500\n", &kinds));
        // As the note has it.
        let named = ["--decimal", "amt=,", "--thousands", "amt=.", "--if-exists", "replace"];
        refuses(place, &["id", "amt"], &[&["in.csv"], &named[..]].concat())
            .says(&["line 4, column amt", "'0.75' is not a number with ','"]);
        // What the user or the table says that it is, the options are for.
        let typed = ["--type", "amt=float", "--if-exists", "replace"];
        let args = [&["in.csv"], &options[..], &typed].concat();
        refuses(place, &["id", "amt"], &args).says(&["line 4, column amt", "'0.75'"]);
        load(place, &[&args[..], &["--max-rejects", "1"]].concat()).exits(3);
        let found = plain_rows(all_of(place, &["id", "amt"]), &kinds);
        assert_eq!(found, plain("id,amt\n1,1000\n2,2500\n", &kinds));
        if P::TRAITS.takes_any || P::TRAITS.is_text {
            return;
        }
        place.files().write("first.csv", "id;amt\n1;1.000,5\n2;2.500\n");
        load(place, &[&["first.csv"], &args[1..]].concat()).exits(0);
        let again = [&["in.csv", "--if-exists", "append"], &options[..]].concat();
        refuses(place, &["id", "amt"], &again).says(&["line 4, column amt", "'0.75'"]);
        let url = place.url();
        let check = ["check", "in.csv", &url, "--table", place.table(), "--json"];
        let report = place.files().inrush(&[&check[..], &options].concat()).json();
        assert_eq!(report["rows_bad"], 1, "{report}");
        // One column may be written otherwise than all others.
        load(place, &[&again[..], &["--decimal", "amt=."]].concat()).exits(0);
        let found = plain_rows(all_of(place, &["id", "amt"]), &kinds);
        let wanted = "id,amt\n1,1000.5\n2,2500\n1,1\n2,2.5\n3,0.75\n";
        assert_eq!(found, plain(wanted, &kinds));
    });
}

pub(super) fn of_a_column_that_no_option_reads_stay<P: Place>() {
    P::for_each(|place| {
        let text = "id,born,left\n1,2024-01-31,31.12.2024\n2,1999-12-01,01.02.1999\n";
        place.files().write("in.csv", text);
        let args = ["in.csv", "--date-format", "%d.%m.%Y"];
        load(place, &args).exits(0);
        load(place, &[&args[..], &["--if-exists", "append"]].concat()).exits(0);
        let kinds = [Kind::Text, Kind::Date, Kind::Date];
        let rows = "1,2024-01-31,2024-12-31\n2,1999-12-01,1999-02-01\n".repeat(2);
        let found = plain_rows(all_of(place, &["id", "born", "left"]), &kinds);
        assert_eq!(found, plain(&format!("id,born,left\n{rows}"), &kinds));
    });
}

pub(super) fn are_looked_at_by_a_check_as_by_a_load<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", CONTINENTAL);
        let url = place.url();
        let args = ["check", "in.csv", &url, "--table", place.table(), "--json"];
        let run = place.files().inrush(&[&args[..], CONTINENTAL_OPTIONS].concat()).exits(0);
        let report = run.json();
        assert_eq!((&report["rows_good"], &report["rows_bad"]), (&4.into(), &0.into()), "{report}");
        assert_eq!(place.rows(&["id"]), None);
    });
}

/// Columns of a sheet in which texts stand beside cells of the type that they are read as.
pub(super) fn are_texts_and_no_cells_of_numbers_and_days<P: Place>() {
    const NAMES: [&str; 5] = ["id", "v", "share", "cost", "day"];
    let rows = [
        &NAMES.map(Text)[..],
        &[Number(1.0), Number(1.234), Number(0.125), Text("1.299,50 EUR"), Day(45_292.0)],
        &[Number(2.0), Text("1.000,25"), Text("12,5%"), Number(1.5), Text("31.12.2024")],
        &[Number(3.0), Number(10.125), Text("100%"), Number(1_000.0), Text("1.2.2024")],
        &[Number(4.0), Text("5,5"), Number(2.0), Empty, Empty],
    ];
    let of_types = ["--type", "share=percent", "--type", "cost=money"];
    let of_all = ["--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y"];
    let of_each = [
        "--decimal",
        "v=,",
        "--thousands",
        "v=.",
        "--decimal",
        "share=,",
        "--decimal",
        "cost=,",
        "--date-format",
        "day=%d.%m.%Y",
    ];
    let meant = concat!(
        "id,v,share,cost,day\n1,1.234,0.125,1299.50,2024-01-01\n2,1000.25,0.125,1.5,2024-12-31\n",
        "3,10.125,1.00,1000,2024-02-01\n4,5.5,2,,\n"
    );
    let kinds = [Kind::Text, Kind::Float, Kind::Float, Kind::Float, Kind::Date];
    P::for_each(|place| {
        place.files().write("in.xlsx", book(&rows));
        for options in [&of_all[..], &of_each] {
            let args = [&["in.xlsx", "--if-exists", "replace"], &of_types[..], options].concat();
            load(place, &args).exits(0);
            let found = plain_rows(all_of(place, &NAMES), &kinds);
            assert_eq!(found, plain(meant, &kinds), "{options:?}");
        }
    });
}

/// In a sheet, one at midnight is a day, and one may be a text; in files of columns all are of one type.
pub(super) fn of_a_zone_may_have_types_of_their_own<P: Place>() {
    let meant = "id,at\n1,2024-07-01 10:00:00Z\n2,2023-12-31 23:00:00Z\n3,\n";
    let kinds = [Kind::Text, Kind::Moment];
    let with = |second| {
        let rows = [
            &[Text("id"), Text("at")][..],
            &[Number(1.0), Moment(45_474.5)],
            &[Number(2.0), second],
            &[Number(3.0), Empty],
        ];
        book(&rows)
    };
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,at\n1,2024-07-01 12:00:00\n2,2024-01-01 00:00:00\n3,\n");
        files.write("days.xlsx", with(Day(45_292.0)));
        files.write("texts.xlsx", with(Text("2024-01-01 00:00:00")));
        let mut sources = vec!["in.csv", "days.xlsx", "texts.xlsx"];
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["in.csv", "in.parquet"]).exits(0);
            sources.push("in.parquet");
        }
        let zones = ["Europe/Berlin", "at=Europe/Berlin"];
        let said = sources.into_iter().flat_map(|source| zones.map(|zone| (source, zone)));
        for (source, zone) in some(said.collect()) {
            let args = [source, "--time-zone", zone, "--if-exists", "replace"];
            load(place, &args).exits(0);
            let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
            assert_eq!(found, plain(meant, &kinds), "{source} {zone}");
        }
    });
}

pub(super) fn that_count_seconds_may_have_fractions<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        let part = if place.keeps_fractions() { 0.25 } else { 0.0 };
        let meant = format!(
            "id,at\n1,2023-11-14 22:13:20{}Z\n2,1970-01-01 00:00:01Z\n",
            if part > 0.0 { ".25" } else { "" }
        );
        let kinds = [Kind::Text, Kind::Moment];
        let first = 1_700_000_000.0 + part;
        let rows = [
            &[Text("id"), Text("at")][..],
            &[Number(1.0), Number(first)],
            &[Number(2.0), Number(1.0)],
        ];
        files.write("in.xlsx", book(&rows));
        files.write("in.csv", format!("id,at\n1,{first:?}\n2,1.0\n"));
        let mut sources = vec!["in.csv", "in.xlsx"];
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["in.csv", "in.parquet"]).exits(0);
            sources.push("in.parquet");
        }
        for source in sources {
            let args = [source, "--type", "at=timestamp[s]", "--if-exists", "replace"];
            load(place, &args).exits(0);
            let found = plain_rows(all_of(place, &["id", "at"]), &kinds);
            assert_eq!(found, plain(&meant, &kinds), "{source}");
        }
    });
}

/// Strings into a column of documents: each is one, but for those in which a document is written.
pub(super) fn of_json_may_be_strings_of_documents<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.jsonl", "{\"id\":0,\"doc\":{\"x\":1}}\n");
        load(place, &["in.jsonl"]).exits(0);
        let strings = ["5", "true", "null", "s", "a \\\"b\\\"", "[draft]"];
        let mut lines: String = (1..)
            .zip(strings)
            .map(|(id, text)| format!("{{\"id\":{id},\"doc\":\"{text}\"}}\n"))
            .collect();
        lines += "{\"id\":7,\"doc\":\"[1, {\\\"y\\\": 2}]\"}\n{\"id\":8,\"doc\":6}\n";
        files.write("in.jsonl", &lines);
        let again = ["in.jsonl", "--if-exists", "append", "--verify", "checksum"];
        load(place, &again).exits(0);
        let found = all_of(place, &["id", "doc"]);
        let shown: Vec<&str> = found.iter().map(|row| row[1].as_deref().unwrap()).collect();
        // Where a column of documents is one of text, and where strings are read back without their quotes.
        let are_texts = shown[1] == "5";
        let texts = ["5", "true", "null", "s", "a \"b\"", "[draft]"];
        for (shown, text) in shown[1..].iter().zip(texts) {
            let string = serde_json::Value::from(text).to_string();
            assert_eq!(*shown, if are_texts { text } else { &string });
        }
        let plain = |text: &str| Kind::Json.plain(text);
        assert_eq!([shown[7], shown[8]].map(plain), ["[1, {\"y\": 2}]", "6"].map(plain));
        if P::TRAITS.is_text || P::TRAITS.takes_any || are_texts {
            return;
        }
        // Who says that the column is of JSON means what is written in the strings.
        files.write("in.jsonl", "{\"id\":9,\"doc\":\"5\"}\n");
        load(place, &[&again[..], &["--type", "doc=json"]].concat()).exits(0);
        let found = all_of(place, &["id", "doc"]);
        assert_eq!(found[9][1].as_deref(), Some("5"));
        files.write("in.jsonl", "{\"id\":10,\"doc\":\"s\"}\n");
        refuses(place, &["id", "doc"], &[&again[..], &["--type", "doc=json"]].concat());
    });
}

/// An option that changes nothing is a slip of whoever says it.
pub(super) fn that_can_not_be_applied_are_told<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("old.csv", "id,n\nx,1\n").write("new.csv", "id,n\ny,2\n");
        load(place, &["old.csv"]).exits(0);
        let adding = ["new.csv", "--if-exists", "append"];
        if !P::TRAITS.is_text && !P::TRAITS.takes_any {
            let days = load(place, &[&adding[..], &["--date-format", "n=%d.%m.%Y"]].concat());
            days.exits(0)
                .prints(&["column n is of type integer", "--date-format n=%d.%m.%Y makes"]);
        } else {
            load(place, &adding).exits(0);
        }
        let slip = load(place, &[&adding[..], &["--null", "nn=2"]].concat());
        slip.exits(0).prints(&["no column is called nn", "'nn=2'"]);
        assert_eq!(all_of(place, &["id", "n"]), records("x,1\ny,2\ny,2\n"));
        // That one is there, and not loaded.
        let left_out = ["new.csv", "--if-exists", "replace", "--drop", "n", "--null", "n=2"];
        let run = load(place, &left_out).exits(0);
        assert!(!run.stdout.contains("no column is called"), "{run:?}");
        let made = ["--add", "d=01.02.2024", "--date-format", "d=%d.%m.%Y"];
        let run = load(place, &[&["new.csv", "--if-exists", "replace"], &made[..]].concat());
        run.exits(2).says(&["column d comes from --add", "2024-12-31"]);
        assert_eq!(all_of(place, &["id"]), records("y\n"));
    });
}
