//! inrush moves files into databases as fast as each database allows, loses no row silently, and says what it did.
//!
//! ```no_run
//! let request = inrush::Request {
//!     sources: vec!["weather.csv.gz".to_owned()],
//!     target: "weather.db".to_owned(),
//!     ..inrush::Request::default()
//! };
//! let plan = inrush::plan(&request, &inrush::Unobserved)?;
//! println!("{}", plan.explain());
//! let report = inrush::run(&plan, &inrush::Unobserved)?;
//! assert_eq!(report.rows_read, report.rows_loaded + report.rows_rejected);
//! # Ok::<(), inrush::Error>(())
//! ```
//!
//! Rows that a program has go the same way, by [`load()`] or a [`Writer`]. Errors and warnings name options as the command does:
//! `--max-rejects` is the field [`max_rejects`](LoadOptions::max_rejects), `--type` is [`types`](LoadOptions::types), and so on.
//!
//! # Features
//!
//! Targets: `sqlite`, `mysql` (and MariaDB), `postgres`, `mongodb`, `duckdb`, `mssql`, `files` (CSV, JSON Lines, Parquet, and a stream of
//! Arrow); `targets` is all of them. Sources: `parquet` reads Parquet files, `cloud` reads over the network (`https://`, `s3://`, `gs://`,
//! `az://`). By default a build has all. `default-features = false` with those that are named makes a smaller one, which says of
//! what it lacks which feature that is.
//!
//! # Modules
//!
//! The modules are the data's way: [`mod@plan`] decides, [`source`] opens, [`pipe`] carries, [`target`] writes, [`report`] tells; [`job`] is
//! a load that several processes write. What all
//! of them share is in [`inrush_core`]; every engine is a crate of its own, and one line of [`target::ALL`].

pub mod check;
pub mod doctor;
pub mod job;
mod limits;
mod load;
mod observer;
pub mod pipe;
pub mod plan;
pub mod profile;
pub mod report;
mod split;
pub mod target;
mod unnamed;
mod writer;

pub use check::check;
pub use doctor::doctor;
pub use inrush_core::error::{Aftermath, Error, ErrorPlace, Kind, Result, without_secrets};
pub use inrush_core::{error, path, patient, wording};
pub use inrush_source as source;
pub use load::{rehearse, run};
pub use observer::{Observer, Unobserved};
pub use pipe::reject::{Position, Reject};
pub use plan::{LoadOptions, Plan, RejectsTo, Request, plan};
pub use report::Report;
pub use source::{BatchSource, Stream};
pub use split::{Parts, Split, split, split_plan};
pub use writer::{Steps, Writer, load, plan_batches};
