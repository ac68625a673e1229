//! What settings of the server make of values.

use super::money::Money;
use super::zone::Zone;

/// Those of a load's sessions.
#[derive(Clone, Debug)]
pub(crate) struct Locale {
    /// The setting `TimeZone`.
    pub(super) zone: Zone,
    /// The setting `lc_monetary`; `None` where it isn't understood.
    pub(super) money: Option<Money>,
}

impl Locale {
    /// The locale of sessions in this time zone, which write [`super::AMOUNT`] so.
    pub(crate) fn of(zone: &str, amount: &str) -> Self {
        Self { zone: Zone::of(zone), money: Money::of(amount) }
    }
}
