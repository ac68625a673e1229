//! Ids that say which row a document is: of a job whose partitions come in by themselves.
//!
//! A UUID of version 8, which leaves its bits to whoever makes it (<https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8>):
//!
//! ```text
//! 48 bits    4        12 bits    2         26 bits     36 bits
//! job   ...  version  ... job    variant   partition   row
//! ```
//!
//! The job is sixty bits of a hash of its name: writing the same rows under the same name again makes the same ids, on any machine, whatever
//! has become of the job in the meantime. Two names of a million in one collection have the same bits with a chance of one in two million.

use inrush_core::error::{Error, Result};
use sha2::{Digest as _, Sha256};

/// Bytes of an id.
pub(super) const BYTES: usize = 16;

/// The kind of binary value that a UUID is (<https://bsonspec.org/spec.html>).
const SUBTYPE: u8 = 4;

/// Bytes of an id's value in BSON.
pub(super) const VALUE_BYTES: usize = 5 + BYTES;

/// An id as BSON has it behind the name of its field: its length, its subtype, its bytes.
pub(super) const fn value(id: [u8; BYTES]) -> [u8; VALUE_BYTES] {
    let mut value = [0; VALUE_BYTES];
    value[0] = BYTES as u8;
    value[4] = SUBTYPE;
    let mut at = 0;
    while at < BYTES {
        value[5 + at] = id[at];
        at += 1;
    }
    value
}

/// Partitions of a job.
pub(super) const PARTITIONS_MAX: u32 = 1 << 26;

/// Rows of a partition.
const ROWS_MAX: u64 = 1 << 36;

/// The ids of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids(u128);

impl Ids {
    pub(super) fn of(job: &str, partition: u32) -> Self {
        let hash = Sha256::digest(job.as_bytes());
        let mut word = [0; 8];
        word.copy_from_slice(&hash[..8]);
        let word = u128::from(u64::from_be_bytes(word) >> 4);
        let partition = u128::from(partition % PARTITIONS_MAX);
        Self((word >> 12) << 80 | 8 << 76 | (word & 0xfff) << 64 | 2 << 62 | partition << 36)
    }

    /// The id of a row of the partition, from 0.
    ///
    /// # Errors
    /// When there are more rows than ids.
    pub(super) fn row(self, row: u64) -> Result<[u8; BYTES]> {
        match row < ROWS_MAX {
            true => Ok((self.0 | u128::from(row)).to_be_bytes()),
            false => Err(Error::target(format!("a partition has at most {ROWS_MAX} rows"))),
        }
    }

    /// The first and the last.
    pub(super) fn ends(self) -> [[u8; BYTES]; 2] {
        [0, ROWS_MAX - 1].map(|row| (self.0 | u128::from(row)).to_be_bytes())
    }
}

/// The first and the last id of a job's rows.
pub(super) fn of_job(job: &str) -> [[u8; BYTES]; 2] {
    let [first, _] = Ids::of(job, 0).ends();
    let [_, last] = Ids::of(job, PARTITIONS_MAX - 1).ends();
    [first, last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_that_ascend_with_the_rows() {
        let ids = Ids::of("orders-1", 3);
        let first = ids.row(0).unwrap();
        assert_eq!((first[6] >> 4, first[8] >> 6), (8, 2), "version and variant of RFC 9562");
        assert!(first < ids.row(1).unwrap() && ids.row(1).unwrap() < ids.row(1 << 35).unwrap());
        assert!(ids.row(ROWS_MAX - 1).unwrap() < Ids::of("orders-1", 4).row(0).unwrap());
        assert_eq!(ids.ends(), [first, ids.row(ROWS_MAX - 1).unwrap()]);
        assert!(ids.row(ROWS_MAX).is_err());
        let value = value(first);
        assert_eq!((&value[..5], &value[5..]), (&[16, 0, 0, 0, 4][..], &first[..]));
        assert_eq!(ids, Ids::of("orders-1", 3));
        assert_ne!(first[..8], Ids::of("orders-2", 3).row(0).unwrap()[..8]);
        let last = Ids::of("orders-1", PARTITIONS_MAX - 1).row(ROWS_MAX - 1).unwrap();
        assert_eq!(last[..8], first[..8], "neither partition nor row reaches into the job's bits");
    }
}
