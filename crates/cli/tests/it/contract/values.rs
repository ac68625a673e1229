use super::written::{Kind, plain, plain_rows, records};
use super::{Place, adding, all_of, by_every_strategy, load, sorted};

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
);

fn names(text: &str) -> Vec<&str> {
    text.lines().next().unwrap().split(',').collect()
}

/// Loads the file by every strategy into a new table, and compares what is there with what the file says.
fn are_kept<P: Place>(text: &str, kinds: &[Kind], options: &[&str]) {
    let (columns, wanted) = (names(text), plain(text, kinds));
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", text);
        let checked = ["in.csv", "--verify", "checksum"];
        load(place, &[&checked[..], options, way].concat()).exits(0);
        let found = plain_rows(place.rows(&columns).expect("a table"), kinds);
        assert_eq!(found, wanted, "{way:?}");
        // Into the same table once more: now its columns rule.
        load(place, &[&checked[..], &adding::<P>(way)].concat()).exits(0);
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
    are_kept::<P>("id,a,b\n1,,\"\"\n2,\"\",\n3,x,y\n4,,\n5,\"\",\"\"\n", &[Kind::Text; 3], &[]);
}

pub(super) fn numbers_that_look_like_text_stay_as_written<P: Place>() {
    let text = "id,zip,code,long,phone\n1,007,1e5,12345678901234567890123456789012345678901,+1\n\
                2,1234,x,1,+49 30\n3,0,,-1,0\n";
    are_kept::<P>(text, &[Kind::Text; 5], &[]);
}

pub(super) fn lines_may_end_in_two_bytes<P: Place>() {
    P::for_each(|place| {
        let text = "id,text\r\n1,a\r\n2,\"b\r\nc\"\r\n3,\"\"\r\n4,\r\n5,last";
        place.files().write("in.csv", text);
        load(place, &["in.csv", "--verify", "checksum"]).exits(0);
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
    (1..=30).for_each(|seed| text.extend(["\n", &row(seed)]));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", format!("{text}\n"));
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        assert_eq!(all_of(place, &columns), sorted(records(&text).split_off(1)));
    });
    by_every_strategy::<P>(|place, way| {
        let long = "a long \u{1f600} value ".repeat(60_000);
        let text = format!("id,text\n1,{long}\n2,short\n3,{long}\n");
        place.files().write("in.csv", &text);
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        assert!(all_of(place, &["id", "text"]) == records(&text).split_off(1), "{way:?}");
    });
}
