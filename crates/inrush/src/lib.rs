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
//! The modules are the data's way: [`mod@plan`] decides, [`source`] opens, [`pipe`] carries, [`target`] writes, [`report`] tells.

#[cfg(all(unix, feature = "bench"))]
pub mod bench;
pub mod check;
mod error;
mod load;
mod pending;
pub mod pipe;
pub mod plan;
pub mod report;
#[cfg(all(unix, feature = "server"))]
pub mod server;
pub mod source;
pub mod target;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod unique;
pub mod wording;

pub use check::check;
pub use error::{Aftermath, Error, ErrorPlace, Kind, Result, without_secrets};
pub use load::{Observer, Unobserved, rehearse, run};
pub use plan::{Plan, Request, plan};
pub use report::Report;
