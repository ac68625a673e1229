//! Private database servers, for tests and benches: each with a data directory, a port and a socket of its own, started with
//! exactly the settings given, and gone without a trace when the value goes, or the process that has it is killed.
//!
//! ```no_run
//! use inrush_servers::{Installed, Server};
//!
//! let installed = Installed::find("mariadb-10.11")?;
//! let mut server = Server::start(&installed, &installed.test_settings())?;
//! println!("{}", server.url());
//! server.kill()?; // a crash
//! server.restart()?; // and what is left after it
//! # Ok::<(), inrush_core::Error>(())
//! ```
//!
//! ```text
//! Installed (what is on this machine) -> place (a directory of its own, with a keeper) -> first_data -> process -> running: Server
//!                                          mysql, postgres, ferretdb: what differs (Software)
//! ```
//!
//! What is the same for every server is in this folder: the private directory ([`Server::directory`]), the care for the process,
//! the wait until it answers. What differs is behind the trait `Software`, one file for each family: `mysql`, `postgres`, and `ferretdb`, which
//! stands for MongoDB.

mod address;
mod ferretdb;
mod first_data;
mod installed;
mod keeper;
mod mysql;
mod place;
mod postgres;
mod process;
mod running;
mod software;

pub use installed::Installed;
pub use place::Place;
pub use running::Server;
