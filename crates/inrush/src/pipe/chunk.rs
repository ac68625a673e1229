//! Chunks: bytes cut on a record boundary, with their origin.

/// Where a chunk comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The input's index in the source.
    pub file: u32,
    /// The offset of the chunk's first byte in the decoded (decompressed, UTF-8) input.
    pub byte: u64,
}

/// Whole records of one input. Offsets inside are `u32`, so a chunk stays below 4 GiB.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Position in the source as a whole, from 0.
    pub seq: u64,
    /// Where it comes from.
    pub origin: Origin,
    /// The records, with their terminators.
    pub bytes: Vec<u8>,
}
