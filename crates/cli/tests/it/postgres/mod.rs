//! PostgreSQL: the real command against real servers, which `INRUSH_TEST_SERVERS` names.

/// A server, a database of the test's own in it, and a directory: the words that all tests here are written in.
pub(crate) mod server;

/// A proxy that knows PostgreSQL's messages.
mod proxy;

/// Values: what the server has afterwards is what the file says.
mod values;

/// Types: what each column keeps, and what it refuses; the oracle is `psql`.
mod types;

/// Tables that are there, and what belongs to their owner: defaults, triggers, views, policies, schemas.
mod tables;

/// Keys, and rows with a duplicate key.
mod keys;

/// Rows that repeat a key by the hundred.
mod repeats;

/// Indexes, before the rows or after them, and what they are called.
mod indexes;

/// Knobs: whatever they say, the same rows; and the promises that they cost.
mod knobs;

/// A file of 1,000 records, one bad row of each kind among them.
mod dirty;

/// Loads that are killed, stopped, or lose their connection.
mod failures;

/// Servers that crash or have no room left.
mod crashes;

/// Servers that talk nonsense.
mod hostile;

/// Several connections, and rights that are missing.
mod lanes;

/// Ways in, and passwords, which nobody else needs to see.
mod login;

/// Servers, databases and users whose settings stand in the way.
mod settings;

/// PgBouncer between the load and the server.
mod pooler;

/// Jobs, whose rows several processes write.
mod jobs;
