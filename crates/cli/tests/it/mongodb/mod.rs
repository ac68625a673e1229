//! MongoDB: the real command against what speaks its protocol, which `INRUSH_TEST_SERVERS` names, and against a server made of a
//! script, for what the former can't show.

/// A server, a database of the test's own in it, and a directory: the words that all tests here are written in.
pub(crate) mod server;

/// A server that answers as it is told to.
mod script;

/// Values: what the server has afterwards is what the file says.
mod values;

/// Keys, and rows with a duplicate key.
mod keys;

/// Collections that are there, and what a load does to them.
mod collections;

/// Loads that are killed, stopped, or lose their connection; and bad rows.
mod failures;

/// Jobs, whose rows several processes write.
mod jobs;

/// Ways in, and passwords, which nobody else needs to see.
mod login;

/// What a server says of documents, of itself, and of other servers.
mod answers;
