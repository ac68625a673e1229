//! SQLite database files as bytes: values to records, records to pages, pages to a b-tree.
//!
//! The crate is pure. It does no I/O, depends on nothing, and allocates nothing per row: what grows
//! is reused. It writes tables with and without a rowid, and indexes whose columns ascend in the
//! collation BINARY, into a database that has no reserved bytes, no auto-vacuum and UTF-8 text.
//! Whether a table may be written so, which affinity a value has and whether a constraint holds are
//! the caller's questions. Sorting is the caller's too, as it takes memory or files; the order is
//! here.
//!
//! # Map
//!
//! ```text
//! values -> RecordWriter -> record -> LeafPacker -> LeafRun -> relocate -> the file
//!                             |                     |  leaves' numbers, last rowids
//!                             |                     +-> TableTree -> interior pages, the root
//!                             v                                      |  root page
//!                         Projection -> entry                        +-> schema, header -> page 1
//!                                         | sorted: prefix, compare  |
//!                                         +-> IndexTree -> all pages of the index, the root
//! ```
//!
//! - [`record`]: the values of a row as one record;
//! - [`leaf`]: records as leaf and overflow pages, packed into a run that doesn't know yet where in
//!   the file it will lie; any number of packers can work at a time;
//! - [`run`]: what a packer made, and how it is given its place;
//! - [`tree`]: the interior pages over all leaves, while the leaves go by;
//! - [`mod@schema`] and [`mod@header`]: page 1;
//! - [`projection`]: some columns of a record as another record: the entry of an index, or the row
//!   of a table `WITHOUT ROWID`;
//! - [`order`]: the order of entries, and which ones `UNIQUE` forbids;
//! - [`index`]: entries in order as leaf, interior and overflow pages;
//! - [`reader`]: the values of a record;
//! - [`sink`]: where the pages of a tree go, and who numbers them;
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
//! |    | 0          |        | 0 is 65,536   | bytes 0    | child         |
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
//! ## Cell of an index leaf, 0x0a (section 1.6)
//!
//! ```text
//! +------------------+---------------------------+- - - - - - - - - - -+
//! | payload length P | first L bytes of the      | number of the first |
//! | varint           | record                    | overflow page, u32  |
//! +------------------+---------------------------+- - - - - - - - - - -+
//! ```
//!
//! L is as in a table leaf, but with X = ((U-12)*64/255)-23, so that a page holds four cells at
//! least. The record has the indexed columns and then the rowid (section 2.4), or in the table
//! itself of a table `WITHOUT ROWID` the columns of the primary key and then the others (2.5.1). A
//! cell has 4 bytes at least; one byte of 0 makes up for a record of one value that takes no bytes.
//!
//! ## Cell of an index's interior page, 0x02 (section 1.6)
//!
//! ```text
//! +------------------+------------------+---------------------------+- - - - - - - - - - -+
//! | left child       | payload length P | first L bytes of the      | number of the first |
//! | page, u32        | varint           | record                    | overflow page, u32  |
//! +------------------+------------------+---------------------------+- - - - - - - - - - -+
//! ```
//!
//! It is an entry of its own, behind all of its left child's and before all of the next child's.
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
pub mod index;
pub mod leaf;
pub mod order;
pub mod page;
pub mod projection;
pub mod reader;
pub mod record;
pub mod run;
pub mod schema;
pub mod sink;
pub mod tree;
pub mod varint;

pub use header::{Header, header};
pub use index::{IndexRoot, IndexTree};
pub use leaf::LeafPacker;
pub use page::{PageNumbers, PageSize, empty_index_leaf, lock_byte_page};
pub use projection::{ProjectedColumn, Projection};
pub use reader::{Field, RecordReader};
pub use record::{RecordWriter, ShortRoom, ShortValues, Value};
pub use run::{Leaf, LeafRun, Placement, Span};
pub use schema::{Schema, SchemaRow, schema};
pub use sink::{PageBuffer, PageSink};
pub use tree::{Root, TableTree};
