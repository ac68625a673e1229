//! MySQL and MariaDB.
//!
//! ```text
//! connect  URL, environment, option file   facts    what server, database and table are
//! session  one connection                  types    column types: what each keeps, and how
//! ddl      SQL that names things           encode   rows in the notations that the server reads
//! staging  the hidden table                load     the steps of a load; load_data, insert, csv_file: the strategies
//! statement  the lane: one statement after another, and what the server says of its rows
//! ```

mod connect;
mod csv_file;
mod ddl;
mod encode;
mod facts;
mod insert;
mod knobs;
mod load;
mod load_data;
mod session;
mod staging;
mod statement;
mod types;

use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::plan::{Column, IfExists, Plan, Request, TargetFacts};
use crate::target::{Location, Strategy, Target};

/// Servers that speak MySQL's protocol.
pub(super) struct Mysql;

impl Target for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn spelling(&self) -> &'static str {
        "mysql://USER@HOST:PORT/DATABASE (or mariadb://)"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        connect::claim(text)
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        &[
            &load_data::LoadData,
            &load_data::LoadDataServer,
            &insert::Values,
            &insert::Prepared,
            &load_data::Convert,
            &csv_file::CsvFile,
            &insert::InsertDelayed,
            &insert::RowSql,
        ]
    }

    fn facts(
        &self,
        location: &Location,
        table: &str,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        let place = connect::place(&location.secret)?;
        let mut session = session::Session::open(&place, stop)?;
        let facts = facts::gather(&mut session, place.is_local, table)?;
        match &facts.table {
            Some(found) if found.storage.is_none() && request.if_exists == IfExists::Replace => {
                Err(Error::target(format!(
                    "{} is a view, and no table can take its place",
                    found.name
                ))
                .advise("--if-exists append writes through a view, where the server lets it"))
            }
            _ => Ok(facts),
        }
    }

    fn nul_fault(&self) -> Option<&'static str> {
        None
    }

    fn spell(&self, column: &Column, plan: &Plan) -> String {
        ddl::declared(plan, column)
    }
}
