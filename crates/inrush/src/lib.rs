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
//! The modules are the data's way: [`mod@plan`] decides, [`source`] opens, [`pipe`] carries, [`target`] writes, [`report`] tells; [`job`] is
//! a load that several processes write. What all
//! of them share is in [`inrush_core`]; every engine is a crate of its own, and one line of [`target::ALL`].

pub mod check;
pub mod doctor;
pub mod job;
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
pub use inrush_core::{error, wording};
pub use inrush_source as source;
pub use load::{rehearse, run};
pub use observer::{Observer, Unobserved};
pub use pipe::reject::{Position, Reject};
pub use plan::{LoadOptions, Plan, RejectsTo, Request, plan};
pub use report::Report;
pub use source::{BatchSource, Stream};
pub use split::{Parts, Split, split, split_plan};
pub use writer::{Steps, Writer, load, plan_batches};
