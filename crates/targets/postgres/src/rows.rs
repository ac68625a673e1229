//! Rows as COPY TO sends them in binary (<https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT>).

/// Takes rows apart that come in pieces of any length.
#[derive(Default)]
pub(super) struct RowReader {
    /// What came and isn't read yet.
    pending: Vec<u8>,
    /// Whether the bytes before the first row are read.
    is_open: bool,
}

/// Signature, flags, and the length of what else there is.
const HEAD: usize = 19;

impl RowReader {
    /// Reads what is whole of the bytes that came, and hands each value to `each`, with its column's number; NULL is `None`.
    pub(super) fn read(&mut self, bytes: &[u8], mut each: impl FnMut(usize, Option<&[u8]>)) {
        self.pending.extend_from_slice(bytes);
        let mut rest = self.pending.as_slice();
        if !self.is_open {
            let Some(behind) = rest.get(HEAD..) else { return };
            rest = behind;
            self.is_open = true;
        }
        while let Some(length) = row(rest, &mut |_, _| {}) {
            row(rest, &mut each);
            rest = &rest[length..];
        }
        let read = self.pending.len() - rest.len();
        self.pending.drain(..read);
    }
}

/// Bytes of the row that begins here, if it is whole; the end has no fields at all.
fn row(bytes: &[u8], each: &mut dyn FnMut(usize, Option<&[u8]>)) -> Option<usize> {
    let (fields, mut rest) = bytes.split_first_chunk::<2>()?;
    for column in 0..i16::from_be_bytes(*fields).max(0) {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        rest = behind;
        let value = match usize::try_from(i32::from_be_bytes(*length)) {
            Ok(length) => {
                let value = rest.get(..length)?;
                rest = &rest[length..];
                Some(value)
            }
            Err(_) => None,
        };
        each(usize::from(column.unsigned_abs()), value);
    }
    Some(bytes.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_come_in_any_pieces() {
        let mut bytes = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        bytes.extend_from_slice(
            b"\0\x02\0\0\0\x01a\xff\xff\xff\xff\0\x02\0\0\0\0\0\0\0\x02bc\xff\xff",
        );
        for size in 1..bytes.len() {
            let mut reader = RowReader::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                reader.read(piece, |column, value| seen.push((column, value.map(<[u8]>::to_vec))));
            }
            let some = |text: &[u8]| Some(text.to_vec());
            assert_eq!(
                seen,
                [(0, some(b"a")), (1, None), (0, some(b"")), (1, some(b"bc"))],
                "{size}"
            );
        }
    }
}
