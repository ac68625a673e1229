use super::written::{Kind, plain_rows, records};
use super::{Place, all_of, by_every_strategy, load, refuses};
#[cfg(feature = "parquet")]
use crate::columns::{batch, column, parquet};

const COLUMNS: [&str; 2] = ["id", "v"];

/// The column is promised to be of doubles.
const FLOAT: [&str; 2] = ["--type", "v=float"];

/// Whole numbers that a double is, and measurements, which become the nearest.
const KEPT: [&str; 9] = [
    "9007199254740992",
    "-1152921504606846976",
    "10000000000000000000000",
    "9007199254740996.0",
    "1e23",
    "12345678901234567890e0",
    "-0.1",
    "1e-300",
    "0e-400",
];

/// Whole numbers that a double is not, and what would become zero or infinite.
const REFUSED: [&str; 8] = [
    "9007199254740993",
    "-9223372036854775807",
    "12345678901234567890",
    "100000000000000000000000",
    "10000000000000000000000001",
    "1e-400",
    "-1e400",
    "1.5x",
];

/// Rows of these values, numbered.
fn file<'v>(values: impl IntoIterator<Item = &'v str>) -> String {
    let row = |(at, value): (usize, &str)| format!("{},{value}\n", at + 1);
    "id,v\n".to_owned() + &values.into_iter().enumerate().map(row).collect::<String>()
}

pub(super) fn go_into_doubles_as_they_are_or_not_at_all<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", file(KEPT.into_iter().chain(REFUSED)));
        let allowed = REFUSED.len().to_string();
        let args = [&["in.csv", "--max-rejects", &allowed], &FLOAT[..], way].concat();
        load(place, &args).exits(3);
        let kinds = [Kind::Text, Kind::Float];
        let wanted = plain_rows(records(&file(KEPT)).split_off(1), &kinds);
        assert_eq!(plain_rows(all_of(place, &COLUMNS), &kinds), wanted, "{way:?}");
        let aside = String::from_utf8(place.files().read("in.rejects.csv")).unwrap();
        let values: Vec<&str> =
            aside.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
        assert_eq!(values, REFUSED, "{way:?}");
    });
}

pub(super) fn are_not_rounded_by_a_guess<P: Place>() {
    for value in ["12345678901234567890", "9007199254740993", "1e-400"] {
        P::for_each(|place| {
            let text = file(["1.5", value, "0.25"]);
            place.files().write("in.csv", &text);
            load(place, &["in.csv", "--verify", "checksum"]).exits(0);
            // A column of decimals may show all its places.
            let kinds = [Kind::Text, Kind::Decimal];
            let wanted = plain_rows(records(&text).split_off(1), &kinds);
            assert_eq!(plain_rows(all_of(place, &COLUMNS), &kinds), wanted, "{value}");
        });
    }
}

pub(super) fn of_a_column_that_is_text_are_told_with_their_line<P: Place>() {
    P::for_each(|place| {
        let text = "id,amount,seen,name,version\n\
                    1,9.5,2024-01-01,Ann,1\n\
                    2,free,soon,5,1e5\n\
                    3,3,2024-01-03,Bob,2\n";
        place.files().write("in.csv", text);
        let columns = ["id", "amount", "seen", "name", "version"];
        let report = load(place, &["in.csv", "--json"]).exits(0).json();
        let warnings: Vec<&str> =
            report["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        for parts in [
            ["column amount is text", "'free' (line 3)", "--type amount=float"],
            ["column seen is text", "'soon' (line 3)", "--type seen=date"],
            ["column version is text", "'1e5' (line 3)", "--type version=float"],
        ] {
            let says = |warning: &&&str| parts.iter().all(|part| warning.contains(part));
            assert_eq!(warnings.iter().filter(says).count(), 1, "{parts:?} in {warnings:?}");
        }
        assert!(!warnings.iter().any(|warning| warning.contains("column name")), "{warnings:?}");
        assert_eq!(all_of(place, &columns), records(text).split_off(1));
    });
}

pub(super) fn may_be_a_negative_zero<P: Place>() {
    // No program counts to -0, so it is no number there.
    P::for_each(|place| {
        let text = file(["1", "-0", "2"]);
        place.files().write("in.csv", &text);
        load(place, &["in.csv"]).exits(0).prints(&["column v is text", "'-0' (line 3)"]);
        assert_eq!(all_of(place, &COLUMNS), records(&text).split_off(1));
    });
    // Where numbers are measured, it is one; its sign stays where the target has one.
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", file(["1.5", "-0", "-0.0", "2.5"]));
        load(place, &[&["in.csv", "--verify", "checksum"], way].concat()).exits(0);
        let found: Vec<f64> = all_of(place, &COLUMNS)
            .into_iter()
            .map(|row| row[1].as_deref().unwrap().parse().unwrap())
            .collect();
        assert_eq!(found, [1.5, 0.0, 0.0, 2.5], "{way:?}");
        assert_eq!(found[1].is_sign_negative(), found[2].is_sign_negative(), "{way:?}");
    });
}

/// Doubles that are no numbers: a target has them, or says how they can be loaded.
#[cfg(feature = "parquet")]
pub(super) fn may_be_none<P: Place>() {
    use arrow_array::{Float64Array, Int64Array};
    const NONE: [(f64, [&str; 2]); 3] = [
        (f64::NAN, ["NaN", "nan"]),
        (f64::INFINITY, ["Infinity", "inf"]),
        (f64::NEG_INFINITY, ["-Infinity", "-inf"]),
    ];
    // As text one makes its column text, and what the note says of numbers is so.
    P::for_each(|place| {
        place.files().write("in.csv", file(["1.5", "inf", "2.5"]));
        let said = load(place, &["in.csv"]).exits(0).prints(&["column v is text"]).stdout;
        let takes = said.contains("--type v=float takes it");
        assert!(takes || said.contains("--type v=float makes such rows bad rows"), "{said}");
        let again = ["in.csv", "--if-exists", "replace"];
        load(place, &[&again[..], &FLOAT].concat()).exits(if takes { 0 } else { 1 });
    });
    by_every_strategy::<P>(|place, way| {
        let file = |name: &str, values: Vec<f64>| {
            let ids = Int64Array::from_iter_values(1..=values.len() as i64);
            let values = column(Float64Array::from(values));
            parquet(place.files(), name, &batch(vec![("id", column(ids)), ("v", values)]), 100);
        };
        let all = NONE.map(|(value, _)| value);
        file("all.parquet", [&[0.5][..], &all[..]].concat());
        let args = [&["all.parquet"], way].concat();
        let run = load(place, &args);
        let shown = || all_of(place, &COLUMNS).into_iter().skip(1).map(|mut row| row.remove(1));
        let is_one = |shown: Option<String>, words: [&str; 2]| {
            let shown = shown.expect("a value").to_lowercase();
            assert!(words.iter().any(|word| shown.contains(&word.to_lowercase())), "{shown}");
        };
        if run.status.code() == Some(0) {
            shown().zip(NONE).for_each(|(shown, (_, words))| is_one(shown, words));
            return;
        }
        let replace = ["--if-exists", "replace"];
        for (value, words) in NONE {
            file("one.parquet", vec![0.5, value]);
            let args = [&["one.parquet"], way, &replace].concat();
            if load(place, &args).status.code() == Some(0) {
                is_one(shown().next().unwrap(), words);
                continue;
            }
            let advice = format!("--null v={}", words[0]);
            refuses(place, &COLUMNS, &args).says(&["row 2", "column v", &advice]);
        }
        let nulls = NONE.map(|(_, [word, _])| ["--null", word]).concat();
        load(place, &[&args[..], &nulls, &replace].concat()).exits(0);
        assert!(shown().eq([None, None, None]), "{way:?}");
    });
}

/// Bytes of a number there are several: which of them, the source does not say.
#[cfg(feature = "parquet")]
pub(super) fn are_no_bytes<P: Place>() {
    use arrow_array::{BinaryArray, BooleanArray, Date32Array, Float64Array, Int64Array};
    // Files have the types that they were written with.
    if P::TRAITS.takes_any || P::TRAITS.target == "files" {
        return;
    }
    let ids = || ("id", column(Int64Array::from_iter_values([1, 2])));
    P::for_each(|place| {
        let files = place.files();
        let bytes = BinaryArray::from_iter_values([b"ab", b"42"]);
        parquet(files, "bytes.parquet", &batch(vec![ids(), ("v", column(bytes))]), 100);
        load(place, &["bytes.parquet"]).exits(0);
        for (values, shown) in [
            (column(Int64Array::from(vec![None, Some(42)])), "'42' is not "),
            (column(Float64Array::from(vec![None, Some(0.5)])), "'0.5' is not "),
            (column(BooleanArray::from(vec![None, Some(true)])), "'true' is not "),
            (column(Date32Array::from(vec![None, Some(0)])), "'1970-01-01' is not "),
        ] {
            parquet(files, "in.parquet", &batch(vec![ids(), ("v", values)]), 100);
            let args = ["in.parquet", "--if-exists", "append"];
            refuses(place, &COLUMNS, &args).says(&["row 2", "column v", shown]);
        }
    });
}
