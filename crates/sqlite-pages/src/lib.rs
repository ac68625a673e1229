//! SQLite database files as bytes: values to records, records to pages, pages to a b-tree.
//!
//! The crate is pure. It does no I/O, depends on nothing, and allocates nothing per row: what grows
//! is reused. It writes tables with a rowid into a database that has no reserved bytes, no
//! auto-vacuum and UTF-8 text. Whether a table may be written so, which affinity a value has and
//! whether a constraint holds are the caller's questions.
//!
//! # Map
//!
//! ```text
//! values -> RecordWriter -> record -> LeafPacker -> LeafRun -> relocate -> the file
//!                                                   |  leaves' numbers, last rowids
//!                                                   +-> TableTree -> interior pages, the root
//!                                                                    |  root page
//!                                                                    +-> schema, header -> page 1
//! ```
//!
//! - [`record`]: the values of a row as one record;
//! - [`leaf`]: records as leaf and overflow pages, packed into a run that doesn't know yet where in
//!   the file it will lie; any number of packers can work at a time;
//! - [`run`]: what a packer made, and how it is given its place;
//! - [`tree`]: the interior pages over all leaves, while the leaves go by;
//! - [`mod@schema`] and [`mod@header`]: page 1;
//! - [`page`]: page sizes and page numbers; [`varint`]: integers of 1 to 9 bytes.
//!
//! # The format
//!
//! The diagrams follow SQLite's own description, <https://sqlite.org/fileformat2.html>; section
//! numbers are its. All integers are big-endian.
//!
//! A file is pages of one size, a power of two from 512 to 65,536 bytes, numbered from 1 (section
//! 1.2, Pages). Page 1 begins with the database header. The page that holds byte 2^30 is the
//! lock-byte page (section 1.4): nothing is ever stored there.
//!
//! ## B-tree page (section 1.6)
//!
//! ```text
//! 0    1            3        5               7            8                12 (interior)
//! +----+------------+--------+---------------+------------+- - - - - - - -+
//! |kind| freeblock  | cells  | content start | fragmented | right-most    |
//! |0x0d| 0          |        | 0 is 65,536   | bytes 0    | child (0x05)  |
//! +----+------------+--------+---------------+------------+- - - - - - - -+
//! | cell pointers, 2 bytes each, in the order of the keys | free ...      |
//! +-------------------------------------------------------+---------------+
//! |               ... free | cell n-1 | cell n-2 | ... | cell 1 | cell 0  |
//! +------------------------+----------+----------+-----+--------+---------+
//!                          ^ content start                                ^ usable size U
//! ```
//!
//! On page 1 the header stands at offset 100; pointers count from the page's first byte all the
//! same.
//!
//! ## Cell of a table leaf, 0x0d (section 1.6)
//!
//! ```text
//! +------------------+----------------+---------------------------+- - - - - - - - - - -+
//! | payload length P | rowid          | first L bytes of the      | number of the first |
//! | varint           | varint         | record                    | overflow page, u32  |
//! +------------------+----------------+---------------------------+- - - - - - - - - - -+
//! ```
//!
//! A payload of up to X = U-35 bytes is in the cell as a whole. Of a longer one, with M =
//! ((U-12)*32/255)-23 and K = M+((P-M)%(U-4)), the cell holds L = K bytes if K <= X, else L = M.
//!
//! ## Overflow page (section 1.7)
//!
//! ```text
//! 0               4                                                          U
//! +---------------+----------------------------------------------------------+
//! | next page, u32|  up to U-4 bytes of the record                           |
//! | 0 in the last |                                                          |
//! +---------------+----------------------------------------------------------+
//! ```
//!
//! ## Cell of a table's interior page, 0x05 (section 1.6)
//!
//! ```text
//! +----------------+------------------------------------------+
//! | left child     | largest rowid in the left child's subtree|
//! | page, u32      | varint                                   |
//! +----------------+------------------------------------------+
//! ```
//!
//! ## Record (section 2.1)
//!
//! ```text
//! +---------------+---------------+-----+-----------------+---------+-----+-----------+
//! | header length | serial type 0 | ... | serial type n-1 | value 0 | ... | value n-1 |
//! | varint, itself| varint        |     | varint          |         |     |           |
//! | included      |               |     |                 |         |     |           |
//! +---------------+---------------+-----+-----------------+---------+-----+-----------+
//!
//! serial type  0     1 2 3 4 5 6        7       8  9  10 11     N >= 12, even   N >= 13, odd
//! value        NULL  integer of 1 2 3   double  0  1  never in  blob of         text of
//!                    4 6 8 bytes                      a file    (N-12)/2 bytes  (N-13)/2 bytes
//! ```
//!
//! # Advice for hackers
//!
//! SQLite does not verify what it reads. A page that is wrong shows up as a wrong row, perhaps
//! weeks later, so every change here has to go through the tests, whose oracle is SQLite itself:
//! `PRAGMA integrity_check`, every value and type read back, and then inserts, deletes and `VACUUM`
//! on top. Where SQLite's own bytes are deterministic the tests compare with them byte for byte.

pub mod header;
pub mod leaf;
pub mod page;
pub mod record;
pub mod run;
pub mod schema;
pub mod tree;
pub mod varint;

pub use header::{Header, header};
pub use leaf::LeafPacker;
pub use page::{PageNumbers, PageSize, lock_byte_page};
pub use record::{RecordWriter, Value};
pub use run::{Leaf, LeafRun, Placement, Span};
pub use schema::{Schema, SchemaRow, schema};
pub use tree::{Root, TableTree};
