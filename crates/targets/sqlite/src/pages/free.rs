//! The pages of a database that hold nothing: they are used before the file grows, as SQLite does.
//!
//! ```text
//! page 1, bytes 32 to 39   first trunk, count of all
//! trunk                    next trunk | n | n leaves ... (<https://sqlite.org/fileformat2.html>, section 1.5)
//! ```
//!
//! Pages are taken trunk by trunk: its leaves, then the trunk itself. So what is left is a freelist again once one trunk and page 1
//! are written.

use crate::session::Session;
use inrush_core::error::{Error, Result};

/// Where page 1 has the freelist: the first trunk, and behind it how many pages there are.
const FIRST_TRUNK: usize = 32;

/// The freelist as it was found.
#[derive(Default)]
pub(super) struct FreeList {
    trunks: Vec<Trunk>,
}

struct Trunk {
    number: u32,
    leaves: Vec<u32>,
}

impl FreeList {
    /// The freelist of the session's database.
    pub(super) fn read(session: &Session<'_>) -> Result<Self> {
        let total: usize = session.value("PRAGMA freelist_count")?.parse().unwrap_or(0);
        let mut list = Self::default();
        if total == 0 {
            return Ok(list);
        }
        let damaged = || Error::target("the list of free pages is damaged");
        let mut number = word(&session.page(1)?, FIRST_TRUNK).ok_or_else(damaged)?;
        let mut found = 0;
        while number != 0 {
            let data = session.page(number)?;
            let next = word(&data, 0).ok_or_else(damaged)?;
            let count = word(&data, 4).ok_or_else(damaged)? as usize;
            let leaves = (0..count).map(|index| word(&data, 8 + 4 * index));
            let mut leaves = leaves.collect::<Option<Vec<u32>>>().ok_or_else(damaged)?;
            leaves.sort_unstable();
            found += 1 + leaves.len();
            if found > total {
                return Err(damaged());
            }
            list.trunks.push(Trunk { number, leaves });
            number = next;
        }
        if found == total { Ok(list) } else { Err(damaged()) }
    }

    /// Its pages in the order in which they are taken.
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> + '_ {
        self.trunks.iter().flat_map(|trunk| trunk.leaves.iter().copied().chain([trunk.number]))
    }

    /// What the freelist is when only the last `left` pages of it are free: its part of page 1, and the trunk that has fewer
    /// leaves than before, if there is one.
    pub(super) fn rest(
        &self,
        left: usize,
        first: &mut [u8],
        page_bytes: usize,
    ) -> Option<(u32, Vec<u8>)> {
        let mut taken = self.pages().count() - left;
        let mut trunks = self.trunks.iter().peekable();
        while let Some(trunk) = trunks.next_if(|trunk| taken > trunk.leaves.len()) {
            taken -= trunk.leaves.len() + 1;
        }
        let trunk = trunks.next();
        let number = trunk.map_or(0, |trunk| trunk.number);
        first[FIRST_TRUNK..FIRST_TRUNK + 4].copy_from_slice(&number.to_be_bytes());
        first[FIRST_TRUNK + 4..FIRST_TRUNK + 8].copy_from_slice(&(left as u32).to_be_bytes());
        let trunk = trunk.filter(|_| taken > 0)?;
        let leaves = &trunk.leaves[taken..];
        let next = trunks.next().map_or(0, |next| next.number);
        let words = [next, leaves.len() as u32];
        let mut page: Vec<u8> =
            words.iter().chain(leaves).flat_map(|word| word.to_be_bytes()).collect();
        page.resize(page_bytes, 0);
        Some((trunk.number, page))
    }
}

fn word(page: &[u8], at: usize) -> Option<u32> {
    page.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}
