//! What files of a format begin with.

/// A database of SQLite (<https://sqlite.org/fileformat2.html>, section 1.3).
pub const SQLITE: &[u8] = b"SQLite format 3\0";
/// A database of DuckDB, behind a checksum of 8 bytes (<https://duckdb.org/docs/stable/internals/storage>).
pub const DUCKDB: &[u8] = b"DUCK";
/// A Parquet file, which ends with it as well (<https://parquet.apache.org/docs/file-format/>).
pub const PARQUET: &[u8] = b"PAR1";
/// An Arrow file (<https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format>); a stream has none.
pub const ARROW: &[u8] = b"ARROW1";
/// A zip archive with a member, as a workbook is one (APPNOTE.TXT, section 4.3.7).
pub const ZIP: &[u8] = b"PK\x03\x04";
