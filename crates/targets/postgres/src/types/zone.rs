//! Moments of the session's time zone.

use inrush_core::flow::Code;
use inrush_core::reading::Clocks;

use super::moment::{EPOCH_MICROS, Moments};
use super::store::Misfit;

/// What a time without an offset from UTC means to the server.
#[derive(Clone, Debug)]
pub(super) enum Zone {
    /// One of UTC.
    Utc,
    /// One of the zone of this name.
    Named(Box<str>),
}

impl Zone {
    /// The zone that the server's setting names.
    pub(super) fn of(setting: &str) -> Self {
        // Those that are UTC whatever the day.
        let names = ["UTC", "UCT", "GMT", "Zulu", "Universal"];
        match names.contains(&setting.strip_prefix("Etc/").unwrap_or(setting)) {
            true => Self::Utc,
            false => Self::Named(setting.into()),
        }
    }
}

/// Moments in a zone that isn't UTC: the server reads them itself, and what its clocks never show it would move by an hour.
#[derive(Clone, Debug)]
pub(super) struct Zoned {
    pub(super) moments: Moments,
    clocks: Option<Clocks>,
    /// What a value without an offset is out of range for, where it can't be taken.
    wanted: Box<str>,
}

impl Zoned {
    pub(super) fn of(moments: Moments, zone: &str) -> Self {
        let clocks = Clocks::of(zone);
        let wanted = match clocks {
            Some(_) => format!("clocks in {zone}, which skip it on that day"),
            None => format!(
                "times without an offset from UTC: the server's time zone, {zone}, is not known here"
            ),
        };
        Self { moments, clocks, wanted: wanted.into() }
    }

    /// Appends the value's text, if it is a moment with no more digits than the column keeps.
    pub(super) fn encode<'a>(
        &'a self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let start = out.len();
        let told = Moments { wants_offset: true, ..self.moments };
        if told.encode(value, strict, wanted, out).is_err() {
            self.moments.encode(value, strict, wanted, out)?;
            let shown = out[start..].first_chunk().map_or(0, |micros| i64::from_be_bytes(*micros));
            let shown = shown.saturating_add(EPOCH_MICROS);
            if self.clocks.as_ref().is_none_or(|clocks| clocks.skip(shown)) {
                return Err((Code::Range, &self.wanted));
            }
        }
        out.truncate(start);
        out.extend_from_slice(value);
        Ok(())
    }
}
