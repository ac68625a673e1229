use proptest::prelude::*;

use crate::reading_model::{WAYS, check};

/// Texts that are nearly values of one of the ways, or are.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[+-]?[0-9]{0,4}([., '\u{a0}\u{202f}][0-9]{2,4}){0,3}([.,][0-9]{0,3})?([eE][+-]?[0-9]{0,2})?",
        "[(]?-?(USD|US|[$€]|EUR)? ?-?[0-9]{1,3}([.,][0-9]{3}){0,2}([.,][0-9]{1,2})?[\u{a0} ]?(€|EUR|CHF)?[)]?",
        "[+-]?[0-9]{1,4}([.,][0-9]{1,4})? ?%",
        "[0-3]?[0-9][./ ][0-3]?[0-9][./ ]([0-9]{2}|[0-2][0-9]{3})",
        "([Mm]on|Tue|wednesday|Thu|FRI), [0-3]?[0-9] (Jan|feb|March|Sept?|DEC) (19|20)[0-9]{2}",
        "(19|20)[0-9]{2}[0-3]?[0-9]{2}",
        "[0-3][0-9][.][01][0-9][.](19|20|00)[0-9]{2}  ?[0-2]?[0-9]:[0-6][0-9]:[0-5][0-9]",
        "[01][0-9]/[0-3][0-9]/(19|20)[0-9]{2} [01]?[0-9]:[0-5][0-9] [AaPp][Mm]",
        "(0001|2024|9999)-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9][.][0-9]{0,10}(Z|[+-][01][0-9]:?([0-5][0-9])?)",
        "-?0{0,9}[0-9]{1,22}([.][0-9]{0,12})?",
        "(?i)yes|no|true|false|1|0",
        "\\PC{0,12}",
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_as_a_slow_model_reads_it(text in texts()) {
        for way in WAYS {
            check(way, &text);
        }
    }
}

/// What was found once.
#[test]
fn texts_that_were_read_otherwise_once() {
    for text in [
        "-0e5",
        "-0",
        "-0.00",
        "0e0",
        "+0,5",
        "(0)",
        "-0%",
        "1e+03",
        "0001-01-01T00:00:00.0+14:00",
        "-0000000000000000000002",
        "253402300799999999999",
    ] {
        for way in WAYS {
            check(way, text);
        }
    }
}
