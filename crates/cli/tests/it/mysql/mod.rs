//! MySQL and MariaDB: the real command against real servers, which `INRUSH_TEST_SERVERS` names.

/// A server, a database of the test's own in it, and a directory: the words that all tests here are written in.
pub(crate) mod server;

/// A proxy that knows MySQL's packets.
mod proxy;

/// Values: what the server has afterwards is what the file says.
mod values;

/// Tables that are there: columns of every type at their ends, and what belongs to the server.
mod tables;

/// Keys, and rows with a duplicate key.
mod keys;

/// Indexes, before the rows or after them.
mod indexes;

/// The engines that a table can have.
mod engines;

/// A file of 1,000 records, one bad row of each kind among them.
mod dirty;

/// Several connections: whichever is faster, the order of the file decides.
mod lanes;

/// Loads that are killed, stopped, or lose their connection.
mod failures;

/// Servers that crash or have no room left.
mod crashes;

/// Servers that ask for files.
mod hostile;

/// Logins that may not see all that a table has.
mod rights;

/// Ways in, and passwords, which nobody else needs to see.
mod login;

/// Servers whose settings stand in the way.
mod settings;

/// Tables whose files are written without the server.
mod tablespace;
mod tablespace_crashes;

/// Jobs, whose rows several processes write.
mod jobs;
