//! How long an answer may be that is kept in memory.

use crate::failure::Failure;

/// The most that is kept of one answer, in bytes: of what catalogues say, and of any other query for a few values. Those answers are
/// short; a server that goes on and on is none, and must not take all the memory. Rows that are looked at one by one may be as many as
/// they are.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// What a row, and each value of it, takes in memory besides the value's bytes, about.
const OVERHEAD_BYTES: usize = 64;

/// Counts what is kept of one answer.
#[derive(Debug, Default)]
pub struct Allowance {
    used: usize,
}

impl Allowance {
    /// Whether a row with values of these lengths can be kept. Once one can't be, none behind it can.
    pub fn admits(&mut self, lengths: impl IntoIterator<Item = usize>) -> bool {
        let values = lengths.into_iter().map(|length| length.saturating_add(OVERHEAD_BYTES));
        self.used = values.fold(self.used.saturating_add(OVERHEAD_BYTES), usize::saturating_add);
        self.used <= ANSWER_BYTES_MAX
    }

    /// The same for the row of a protocol that gives values as text.
    pub fn admits_row(&mut self, row: &[Option<&[u8]>]) -> bool {
        self.admits(row.iter().map(|value| value.map_or(0, <[u8]>::len)))
    }

    /// Whether all was kept, when the answer is through.
    ///
    /// # Errors
    /// [`Failure::Lost`] when it was too much: no server says that.
    pub fn kept<R>(&self) -> Result<(), Failure<R>> {
        if self.used <= ANSWER_BYTES_MAX { Ok(()) } else { Err(Failure::garbled()) }
    }
}

/// Rows of a query as text; NULL is `None`.
pub type TextRows = Vec<Vec<Option<String>>>;

/// The rows of several queries that went to the server as one message, which takes one round trip.
#[derive(Debug)]
pub struct Answers<const N: usize> {
    of: [TextRows; N],
    allowance: Allowance,
}

impl<const N: usize> Default for Answers<N> {
    fn default() -> Self {
        Self { of: std::array::from_fn(|_| Vec::new()), allowance: Allowance::default() }
    }
}

impl<const N: usize> Answers<N> {
    /// Takes a row of the statement with this number, counted from 0; of statements behind the last query the rows are taken for that one's.
    pub fn add(&mut self, statement: usize, row: &[Option<&[u8]>]) {
        if self.allowance.admits_row(row) {
            let text = |value: &Option<&[u8]>| {
                value.map(|text| String::from_utf8_lossy(text).into_owned())
            };
            self.of[statement.min(N - 1)].push(row.iter().map(text).collect());
        }
    }

    /// The rows of each query.
    ///
    /// # Errors
    /// As for [`Allowance::kept`].
    pub fn kept<R>(self) -> Result<[TextRows; N], Failure<R>> {
        self.allowance.kept().map(|()| self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::LostKind;

    #[test]
    fn an_answer_is_kept_whole_or_not_at_all() {
        let mut answer = Allowance::default();
        let row = [ANSWER_BYTES_MAX - 2 * OVERHEAD_BYTES];
        assert!(answer.admits(row) && answer.kept::<()>().is_ok());
        assert!(!answer.admits([]));
        let failure = answer.kept::<()>().unwrap_err();
        assert_eq!(failure.lost_kind(), Some(LostKind::Protocol));
        assert!(!answer.admits([usize::MAX, usize::MAX]) && answer.kept::<()>().is_err());
    }

    #[test]
    fn rows_without_a_byte_are_no_way_around() {
        let mut answer = Allowance::default();
        let row = [None, Some(&b""[..])];
        let rows = std::iter::repeat_with(|| answer.admits_row(&row));
        assert_eq!(
            rows.take_while(|is_kept| *is_kept).count(),
            ANSWER_BYTES_MAX / (3 * OVERHEAD_BYTES)
        );
    }
}
