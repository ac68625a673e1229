//! What text a double keeps.

use inrush_scan::{self as scan, NumberFault};

use crate::pipe::Code;
use crate::source::infer::is_whole_with_exponent;

/// Up to here every whole number is a double: 2^53.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The double that `value` is, where nothing is lost that its reader may want. With `strict` its text has to come back as it is: the type
/// is a guess.
///
/// # Errors
/// What sort of fault it is, and what a column of doubles takes.
pub(super) fn kept(value: &[u8], strict: bool) -> Result<f64, (Code, &'static str)> {
    if strict && !scan::float_round_trips(value) && !is_whole_with_exponent(value) {
        return Err((Code::Type, "a number that a double keeps exactly"));
    }
    match scan::float(value) {
        // Measurements are rounded to the nearest double, as the column's type says. A whole number is an identifier or a
        // count, and must be that number still.
        Ok(number)
            if number.abs() >= EXACT_MAX
                && scan::integer(value).is_ok_and(|exact| exact != number as i64) =>
        {
            Err((Code::Range, "a whole number that a double keeps exactly"))
        }
        Ok(number) => Ok(number),
        Err(NumberFault::TooLarge) => Err((Code::Range, "a double")),
        Err(NumberFault::NotANumber) => Err((Code::Type, "a number")),
    }
}
