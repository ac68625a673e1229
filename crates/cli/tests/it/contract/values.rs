use super::written::{Kind, plain, plain_rows, records};
use super::{Place, adding, all_of, by_every_strategy, load, sorted};
use crate::fixture::{size, thorough};

/// Of every type that is found in text: values at its ends, as far as every target has them, and NULL.
const TYPED: &str = concat!(
    "id,whole,real,exact,truth,day,at,zoned,document,text\n",
    "1,-9223372036854775808,1.7976931348623157e308,12.345,true,2024-02-29,2024-02-29 01:02:03.5,2024-02-29T01:02:03+02:00,\"{\"\"a\"\":[1,{\"\"b\"\":null}],\"\"c\"\":\"\"\u{e9}\"\"}\",plain\n",
    "2,9223372036854775807,2.2250738585072014e-308,0.5,false,1000-01-01,9999-12-31 23:59:59.25,2024-02-29T01:02:03Z,[],\"\"\n",
    "3,0,-0.1,-999.999,true,9999-12-31,1970-01-01 00:00:00,1999-12-31T23:30:00-01:00,\"[true,1.5,\"\"x\"\"]\",\u{1f600} \u{e9}\n",
    "4,,,,,,,,,\n",
    "5,1,0.1,1.5,false,1970-01-01,1999-12-31 23:59:59.999,2000-01-01 00:00:00.125Z,{},NULL\n",
);
const TYPES: [Kind; 10] = {
    use Kind::{Boolean, Date, Decimal, Float, Json, Moment, Text, Timestamp};
    [Text, Text, Float, Decimal, Boolean, Date, Timestamp, Moment, Json, Text]
};

/// Texts that are easily changed on their way: into a statement and back, at their ends, from nothing to NULL.
const NASTY: &str = concat!(
    "id,text,other\n",
    "1,plain,a\n",
    "2,\"quote \"\" comma , newline\nand 'single'\",\"\"\n",
    "3,\"\",\n",
    "4,,NULL\n",
    "5,'); DROP TABLE t; --,?1 $1 :a @b\n",
    "6,\u{1f600} \u{e9}\u{301} \u{202e},\u{feff}\u{2028}\n",
    "7, leading and trailing ,\\\n",
    "8,\"\r\n\",%s %n\n",
    "9,\"a\tb\",007\n",
    "10,\\N,\\.\n",
    "11,\\t\\\\,\"\"\"\"\n",
    "12,\"\n\",`[{]}\n",
    "13,NULL,\\.\n",
    "14,a\\tb\\,\\\\n\n",
    "15,\"\r\",\"two\nlines\"\n",
    "16,\"it's \"\"quoted\"\", isn't it\",\"\"\"\"\"\"\n",
    "17,? ?1 :a @b %s $$ ; `c` {c} E'x',a;b|c\n",
    "18,\u{1}\u{1a}\u{8}\u{7f},\u{fffd}\u{feff}\u{2028}\n",
    "19,007,1e5\n",
    "20,0x41,\\x41\n",
    "21,\u{4e2d}\u{6587},{}\n",
);

fn names(text: &str) -> Vec<&str> {
    text.lines().next().unwrap().split(',').collect()
}

/// Loads the file by every strategy into a new table, and compares what is there with what the file says.
fn are_kept<P: Place>(text: &str, kinds: &[Kind], options: &[&str]) {
    come_as::<P>(text, text, kinds, options);
}

/// The same of a file that says what another one says.
pub(super) fn come_as<P: Place>(text: &str, meant: &str, kinds: &[Kind], options: &[&str]) {
    let (columns, wanted) = (names(text), plain(meant, kinds));
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", text);
        let checked = ["in.csv", "--verify", "checksum"];
        load(place, &[&checked[..], options, way].concat()).exits(0);
        let found = plain_rows(place.rows(&columns).expect("a table"), kinds);
        assert_eq!(found, wanted, "{way:?}");
        // Into the same table once more: now its columns rule.
        let is_reading = options.contains(&"--null") || options.contains(&"--decimal");
        let again: &[&str] = if is_reading { options } else { &[] };
        load(place, &[&checked[..], again, &adding::<P>(way)].concat()).exits(0);
        let found = plain_rows(place.rows(&columns).expect("a table"), kinds);
        let twice = sorted([&wanted[..], &wanted].concat());
        assert_eq!(found, twice, "added by {way:?}");
    });
}

pub(super) fn come_back_in_their_types<P: Place>() {
    are_kept::<P>(TYPED, &TYPES, &["--type", "exact=decimal(6,3)"]);
}

pub(super) fn texts_come_back<P: Place>() {
    are_kept::<P>(NASTY, &[Kind::Text; 3], &[]);
}

pub(super) fn null_is_not_the_empty_string<P: Place>() {
    let text = "id,a,b\n1,,\"\"\n2,\"\",\n3,x,y\n4,,\n5,\"\",\"\"\n6,NULL,\\N\n7,NA,z\n8,none,NA\n";
    come_as::<P>(text, &text.replace("NA", ""), &[Kind::Text; 3], &["--null", "NA"]);
}

pub(super) fn numbers_that_look_like_text_stay_as_written<P: Place>() {
    let text = "id,zip,code,long,phone\n1,007,1e5,12345678901234567890123456789012345678901,+1\n\
                2,1234,x,1,+49 30\n3,0,,-1,0\n";
    are_kept::<P>(text, &[Kind::Text; 5], &[]);
}

pub(super) fn lines_may_end_in_two_bytes<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let text = "id,text\r\n1,a\r\n2,\"b\r\nc\"\r\n3,\"\"\r\n4,\r\n5,last";
        place.files().write("in.csv", text);
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        let wanted = records("1,a\n2,\"b\r\nc\"\n3,\"\"\n4,\n5,last\n");
        assert_eq!(all_of(place, &["id", "text"]), wanted);
    });
}

pub(super) fn wide_rows_and_long_values_come_back<P: Place>() {
    const WIDTH: usize = 300;
    let columns: Vec<String> = (1..=WIDTH).map(|n| format!("c{n}")).collect();
    let row = |seed: usize| {
        let value = |n: usize| match n % 3 {
            _ if (n + seed).is_multiple_of(7) => String::new(),
            0 => format!("v{n}"),
            _ => (n * seed).to_string(),
        };
        (0..WIDTH).map(value).collect::<Vec<_>>().join(",")
    };
    let mut text = columns.join(",");
    (1..=15).for_each(|seed| text.extend(["\n", &row(seed)]));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", format!("{text}\n"));
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        assert_eq!(all_of(place, &columns), sorted(records(&text).split_off(1)));
    });
    by_every_strategy::<P>(|place, way| {
        let value = "a long \u{1f600} value ";
        let longest = size(60_000, 600_000).min(place.row_bytes_max() / value.len());
        let long = value.repeat(longest);
        let text = format!("id,text\n1,{long}\n2,short\n3,{long}\n");
        place.files().write("in.csv", &text);
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        assert!(all_of(place, &["id", "text"]) == records(&text).split_off(1), "{way:?}");
    });
}

/// The row whose value is another than those that are looked at before a load begins: the first megabyte of a file, and 64 kB after
/// each eighth of it.
const LATE: usize = 1_200;

/// A file of 1,500 rows, a kilobyte each, with the columns of `header` and then a filler; whether a row is the late one is told.
pub(crate) fn with_late_value(
    header: &str,
    row: impl Fn(usize, bool) -> String,
) -> (String, usize) {
    let filler = "x".repeat(1_020);
    let rows = (1..=1_500).map(|id| format!("{},{filler}\n", row(id, id == LATE)));
    let text = format!("{header},filler\n{}", rows.collect::<String>());
    let at = text.lines().take(LATE).map(|line| line.len() + 1).sum::<usize>();
    let eighth = (text.len() - (64 << 10)) / 8;
    let seen = (1..=8).any(|place| (eighth * place..=eighth * place + (64 << 10)).contains(&at));
    assert!(at > 1 << 20 && !seen, "{at} of {}", text.len());
    (text, LATE + 1)
}

pub(super) fn a_late_mismatch_widens_the_column_and_loses_nothing<P: Place>() {
    let row = |id: usize, is_late: bool| match is_late {
        true => format!("{id},007"),
        false => format!("{id},{}", id % 100),
    };
    let (text, line) = with_late_value("id,n", row);
    let test = |place: &P, way: &[&str]| {
        place.files().write("in.csv", &text);
        let run = load(place, &[&["in.csv", "--verify", "checksum", "--json"], way].concat());
        let run = run.exits(0);
        let restarts = run.stderr.matches("started again").count();
        // What is text anyway has nothing to learn.
        assert!(restarts == 1 || restarts == 0 && P::TRAITS.is_text, "{run:?}");
        if restarts > 0 {
            let notes = run.json()["warnings"].to_string();
            let told = notes.contains(&format!("line {line}")) && notes.contains("column n");
            assert!(told, "{notes}");
        }
        let found = all_of(place, &["id", "n", "filler"]);
        assert!(found == sorted(records(&text).split_off(1)), "{way:?}");
    };
    if thorough() {
        by_every_strategy::<P>(test);
    } else {
        P::for_each(|place| test(place, &[]));
    }
}
