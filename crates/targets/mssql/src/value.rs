//! Values as the driver reads them.

use std::fmt::Write as _;

use tiberius::ColumnData;
use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime2, Time};

use crate::types::moment;
use inrush_core::value::hex;

/// The value as text; `None` for NULL. Moments and numbers are written as `CONVERT(nvarchar(max), value, 121)` does, bytes in hex.
pub(super) fn text(value: &ColumnData<'_>) -> Option<String> {
    Some(match value {
        ColumnData::U8(number) => number.as_ref()?.to_string(),
        ColumnData::I16(number) => number.as_ref()?.to_string(),
        ColumnData::I32(number) => number.as_ref()?.to_string(),
        ColumnData::I64(number) => number.as_ref()?.to_string(),
        ColumnData::F32(number) => number.as_ref()?.to_string(),
        ColumnData::F64(number) => number.as_ref()?.to_string(),
        ColumnData::Bit(bit) => u8::from(*bit.as_ref()?).to_string(),
        ColumnData::String(text) => text.as_ref()?.clone().into_owned(),
        ColumnData::Guid(guid) => guid.as_ref()?.to_string().to_uppercase(),
        ColumnData::Binary(bytes) => {
            let mut out = b"0x".to_vec();
            hex::put(bytes.as_ref()?, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        ColumnData::Numeric(number) => decimal(*number.as_ref()?),
        ColumnData::Xml(xml) => xml.as_ref()?.to_string(),
        ColumnData::DateTime(at) => {
            let at = at.as_ref()?;
            // Three hundredths of a second, shown as milliseconds.
            let millis = (i64::from(at.seconds_fragments()) * 10 + 1) / 3;
            let days = i64::from(at.days()) + moment::DAYS_TO_1900;
            format!("{} {}", day(days), clock(millis, 3))
        }
        ColumnData::SmallDateTime(at) => {
            let at = at.as_ref()?;
            let seconds = i64::from(at.seconds_fragments()) * 60;
            let days = i64::from(at.days()) + moment::DAYS_TO_1900;
            format!("{} {}", day(days), clock(seconds, 0))
        }
        ColumnData::Date(date) => day_of(*date.as_ref()?),
        ColumnData::Time(time) => clock_of(*time.as_ref()?),
        ColumnData::DateTime2(at) => moment_of(*at.as_ref()?),
        ColumnData::DateTimeOffset(at) => {
            let at = at.as_ref()?;
            let offset = i64::from(at.offset());
            let scale = at.datetime2().time().scale();
            let ticks = moment::ticks(at.datetime2()) + offset * moment::MINUTE;
            let (days, ticks) = (ticks.div_euclid(moment::DAY), ticks.rem_euclid(moment::DAY));
            let units = ticks / 10_i64.pow(u32::from(7 - scale.min(7)));
            let sign = if offset < 0 { '-' } else { '+' };
            let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
            format!("{} {} {sign}{hours:02}:{minutes:02}", day(days), clock(units, scale))
        }
    })
}

fn decimal(number: Numeric) -> String {
    let scale = usize::from(number.scale());
    let digits = format!("{:0width$}", number.value().unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let mut out = String::new();
    if number.value() < 0 {
        out.push('-');
    }
    out.push_str(whole);
    if scale > 0 {
        let _ = write!(out, ".{fraction}");
    }
    out
}

fn day_of(date: Date) -> String {
    day(i64::from(date.days()))
}

fn day(days: i64) -> String {
    let mut out = Vec::new();
    moment::put_date(days, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn clock_of(time: Time) -> String {
    clock(time.increments() as i64, time.scale())
}

fn moment_of(at: DateTime2) -> String {
    format!("{} {}", day_of(at.date()), clock_of(at.time()))
}

/// A time of day in units of 10^-`scale` seconds.
fn clock(units: i64, scale: u8) -> String {
    let mut out = Vec::new();
    moment::put_clock(units, scale, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use tiberius::time::{DateTime, DateTimeOffset, SmallDateTime};

    use super::*;

    #[test]
    fn values_are_shown_as_the_server_shows_them() {
        let shown = |value| text(&value).unwrap();
        assert_eq!(shown(ColumnData::Numeric(Some(Numeric::new_with_scale(-5, 2)))), "-0.05");
        assert_eq!(shown(ColumnData::Numeric(Some(Numeric::new_with_scale(500, 0)))), "500");
        assert_eq!(shown(ColumnData::Binary(Some(vec![1, 255].into()))), "0x01ff");
        assert_eq!(shown(ColumnData::Bit(Some(true))), "1");
        assert_eq!(
            shown(ColumnData::DateTime(Some(DateTime::new(0, 1)))),
            "1900-01-01 00:00:00.003"
        );
        assert_eq!(
            shown(ColumnData::DateTime(Some(DateTime::new(1, 25_919_999)))),
            "1900-01-02 23:59:59.997"
        );
        assert_eq!(
            shown(ColumnData::SmallDateTime(Some(SmallDateTime::new(59, 61)))),
            "1900-03-01 01:01:00"
        );
        let at = DateTime2::new(Date::new(0), Time::new(1, 7));
        assert_eq!(shown(ColumnData::DateTime2(Some(at))), "0001-01-01 00:00:00.0000001");
        let at = DateTime2::new(Date::new(1), Time::new(0, 0));
        assert_eq!(
            shown(ColumnData::DateTimeOffset(Some(DateTimeOffset::new(at, -90)))),
            "0001-01-01 22:30:00 -01:30"
        );
        assert_eq!(text(&ColumnData::I64(None)), None);
    }
}
