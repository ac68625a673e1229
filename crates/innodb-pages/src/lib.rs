//! InnoDB tablespaces as bytes: values to records, records to pages, pages to a clustered index.
//!
//! The crate is pure. It does no I/O, and its memory does not grow with the rows. It writes what `ALTER TABLE ... IMPORT
//! TABLESPACE` takes for a table in the row format DYNAMIC, without secondary indexes, in pages of 16 KiB: MariaDB 10.11 and 11.4,
//! MySQL 5.7 and 8.0. Whether a table may be written so, what a value is in InnoDB's own form, and in which order rows come, are
//! the caller's questions.
//!
//! # Map
//!
//! ```text
//! values -> Encoder -> record in transit -> Tablespace -> runs of pages -> Sink, the file
//!           any number of                       ^  index_page: leaves, and the levels above them
//!           threads, each with                  |  overflow: long values
//!           one of its own                      |  space: extents, segments
//!                                               |
//! the empty table's file -> Template -----------+
//! ```
//!
//! - [`template`]: the empty table's own file, in which everything is found that differs between servers;
//! - [`layout`]: the columns, and the order of keys;
//! - [`record`]: the values of a row as one record;
//! - [`tablespace`]: records in order as the clustered index;
//! - [`sink`]: where pages go;
//! - [`page`]: what is the same in all pages, and checksums.
//!
//! # The format
//!
//! All integers are big-endian. Facts are from files that the servers wrote, and from the published documentation of MySQL and
//! MariaDB. Where a server has a convention that it does not rely on, such as how full pages are, that of a load in the order of the key
//! is kept. The modules have the pictures.
//!
//! # Advice for hackers
//!
//! `IMPORT TABLESPACE` looks at checksums and little else. A page that is wrong shows up as a wrong row or a crash, perhaps weeks
//! later, so every change here has to go through the tests: a reader that believes nothing, and the servers themselves with `CHECK TABLE
//! EXTENDED`, every value compared, and changes on top.

mod index_page;
pub mod layout;
mod overflow;
pub mod page;
pub mod record;
pub mod sink;
mod space;
pub mod tablespace;
pub mod template;

pub use layout::{Column, Layout, LayoutError, Order, Storage};
pub use page::{Checksum, EXTENT_PAGES, PAGE_BYTES};
pub use record::{Encoder, RecordError, Row, records};
pub use sink::Sink;
pub use tablespace::{PushError, Summary, Tablespace};
pub use template::{Template, TemplateError};
