//! Where finished pages go.

/// Stores pages at their places: a file, at `first * PAGE_BYTES`.
///
/// Leaves come in runs of an extent (1 MiB), in the order of the file. In between come single pages of the levels above, runs of
/// pages of long values, and pages that describe extents. The first extent comes last, so that a file which was not finished doesn't
/// begin as a tablespace. Each page comes once; those that never do are zeros, which a file has by itself when its length is set.
pub trait Sink {
    /// Why pages can't be stored.
    type Error;

    /// Stores pages one after the other; `first` is the first one's number.
    ///
    /// The memory may be exchanged for other memory, whatever it holds, so that the pages can be stored while others are made.
    ///
    /// # Errors
    /// When they can't be stored. The tablespace is of no use then.
    fn pages(&mut self, first: u32, pages: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// Pages in memory; for tables that are small.
impl Sink for Vec<u8> {
    type Error = std::convert::Infallible;

    fn pages(&mut self, first: u32, pages: &mut Vec<u8>) -> Result<(), Self::Error> {
        let begin = first as usize * crate::PAGE_BYTES;
        let end = begin + pages.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[begin..end].copy_from_slice(pages);
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    type Error = S::Error;

    fn pages(&mut self, first: u32, pages: &mut Vec<u8>) -> Result<(), Self::Error> {
        (**self).pages(first, pages)
    }
}
