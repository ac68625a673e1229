//! One load that several processes write, on as many machines as there are: all rows or none, each once.
//!
//! ```text
//! begin -> Job (text) --> write, write, ... -> Token (text) each --> publish -> Published
//!   |                        |                                          |
//!   ledger's row: open       a hidden table an attempt,                 one transaction (or one rename): the rows of these
//!   and the template         by an ordinary load                        tokens, and open -> committed in the ledger
//!                                                                       abort, gc: what will not be published goes
//! ```
//!
//! What schedules the attempts is a scheduler's business: Spark's, Ray's, a shell script's. An attempt is named at random, and not after
//! its part of the rows, so it doesn't matter how often a part is tried, or whether two try it at once: what is published is what the
//! tokens name. Two other guarantees let others see rows before: each partition comes in by itself, in one transaction with a note that it
//! is there (`enter`), or attempts are loads into the table, and nothing is promised. A process at work holds a lock of the database, and
//! notes so in the ledger ([`BEAT`]); a job with neither has no living process.

mod alone;
mod begin;
mod brought;
mod copy;
mod enter;
mod keep;
mod ledger;
mod partitions;
mod password;
mod publish;
mod text;
mod write;

use std::time::Duration;

pub use begin::{begin, begin_like, begin_split};
pub use keep::{Collected, Ended, Listed, abort, gc, list, recover};
pub use publish::{publish, publish_again};
pub use text::{Guarantee, Job, Options, Published, Rejected, State, Token, Visible};
pub use write::{write, write_sources, write_split};

/// How often a process notes that it is at work.
pub const BEAT: Duration = Duration::from_secs(10);

/// The ledger's name. It stays in the database, for it knows which jobs are done.
pub const LEDGER: &str = "inrush_jobs";
