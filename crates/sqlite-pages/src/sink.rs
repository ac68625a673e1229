//! Where finished pages go.
//!
//! A tree doesn't know the file. It asks for page numbers and hands out pages:
//!
//! ```text
//! tree                              sink
//!   | reserve() ------------------> | the next number: 1000
//!   | reserve() ------------------> | 1001
//!   | store(1001, last of chain) -> | written at (1001 - 1) * page size
//!   | store(1000, links to 1001) -> |
//! ```
//!
//! Two calls instead of one, because a page that names another one can come before it in the file:
//! the pages of an overflow chain lie in the order in which they are read, and each has to say
//! where the next one is.

use crate::page::{PageSize, page_index};
use crate::run::Placement;

/// Numbers pages and stores them.
pub trait PageSink {
    /// The number of the next page, which is nobody else's from now on.
    fn reserve(&mut self) -> u32;

    /// Stores the page of a reserved number. Each number gets its page once, in any order.
    fn store(&mut self, number: u32, page: &[u8]);

    /// Stores a page under the next number, which is returned.
    fn place(&mut self, page: &[u8]) -> u32 {
        let number = self.reserve();
        self.store(number, page);
        number
    }
}

/// Pages in memory, numbered one after the other, the lock-byte page left out.
///
/// For trees that are small; the writer of a file has a sink of its own.
#[derive(Clone, Debug)]
pub struct PageBuffer {
    size: PageSize,
    first_page: u32,
    /// The pages one after the other; zeros where one is reserved and not yet stored.
    pub pages: Vec<u8>,
}

impl PageBuffer {
    /// A buffer whose first page will be `first_page`, or the one behind the lock-byte page.
    #[must_use]
    pub fn new(size: PageSize, first_page: u32) -> Self {
        Self { size, first_page, pages: Vec::new() }
    }

    /// Where in the file the pages go.
    ///
    /// # Panics
    ///
    /// When they are more than a database can have.
    #[must_use]
    pub fn placement(&self) -> Placement {
        let count = (self.pages.len() / self.size.bytes()) as u32;
        Placement::new(self.size, self.first_page, count)
    }
}

impl PageSink for PageBuffer {
    fn reserve(&mut self) -> u32 {
        self.pages.resize(self.pages.len() + self.size.bytes(), 0);
        let placement = self.placement();
        placement.page(placement.count() - 1)
    }

    fn store(&mut self, number: u32, page: &[u8]) {
        let index = page_index(self.size, self.first_page, number) as usize;
        self.pages[index * self.size.bytes()..][..self.size.bytes()].copy_from_slice(page);
    }
}
