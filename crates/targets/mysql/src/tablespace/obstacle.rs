//! Why a load can't write the table's file.

use inrush_core::target::Knobs;
use inrush_core::{Facts, Guarantee, IfExists, OnConflict, Request, TableFacts};

use super::form::Form;
use super::{OWN_COLLATION, space};
use crate::encode::is_utc;
use crate::facts::{ServerFacts, numbers};
use crate::knobs::BINLOG;
use crate::types;

/// One sentence; `None` where nothing stands in the way that can be seen before.
pub(super) fn of(request: &Request, facts: &Facts, knobs: &Knobs) -> Option<String> {
    let server = ServerFacts::of(&facts.target);
    let is = |name: &str, value: &str| server.variable(name).eq_ignore_ascii_case(value);
    if let Some(table) = facts.kept_table(request)
        && let Some(reason) = of_table(table, request, facts)
    {
        return Some(reason);
    }
    if request.guarantee == Guarantee::Chunks {
        return Some(
            "a table's file is whole when its last page is written, and not step by step"
                .to_owned(),
        );
    }
    if request.on_conflict != OnConflict::Fail {
        return Some(format!("--on-conflict {} looks keys up row by row", request.on_conflict));
    }
    if request.shares_table {
        return Some("others load into the table at the same time".to_owned());
    }
    if request.owns_table {
        return Some("the parts of a job are merged by the server, row by row".to_owned());
    }
    let engine = &facts.target.engine;
    let version = numbers(server.variable("version"));
    let is_known = match engine.starts_with("MariaDB") {
        true => matches!((version.0, version.1), (10, 11) | (11, 4)),
        false => matches!((version.0, version.1), (5, 7) | (8, 0)),
    };
    if !is_known {
        return Some(format!(
            "{engine} is not one of the servers whose files are known: MariaDB 10.11 and 11.4, MySQL 5.7 and 8.0"
        ));
    }
    if is("wsrep_on", "ON") {
        return Some("Galera's other nodes would not get the rows".to_owned());
    }
    if is("log_bin", "ON") && !knobs.is(&BINLOG, "skip") {
        return Some(
            "the binary log would have the table without its rows, and replicas would stop (--set binlog=skip leaves it out of the log, so that they lack the table)"
                .to_owned(),
        );
    }
    for (name, wanted) in [
        ("innodb_page_size", "16384"),
        ("innodb_file_per_table", "ON"),
        ("innodb_default_row_format", "dynamic"),
    ] {
        if !is(name, wanted) {
            let found = server.variable(name);
            return Some(format!("the server has {name}={found}, and it takes {wanted}"));
        }
    }
    for name in ["innodb_encrypt_tables", "default_table_encryption"] {
        if !matches!(server.variable(name), "" | "OFF") {
            return Some(format!("the server encrypts tables ({name})"));
        }
    }
    if facts.kept_table(request).is_none() {
        let field = |name: &String| {
            facts.source.loaded().find(|field| field.name.eq_ignore_ascii_case(name))
        };
        for field in request.primary_key.iter().filter_map(field) {
            let asked = request.types.iter().find(|(name, _)| field.is_called(name));
            let declared = types::spell(asked.map_or(field.ty, |(_, ty)| *ty), true, true);
            if let Err(why) = Form::of_column(&field.name, &declared, Some(OWN_COLLATION)) {
                return Some(why);
            }
        }
    }
    space::obstacle(server)
}

/// Why an existing table's place can't be taken by one that is written so.
fn of_table(table: &TableFacts, request: &Request, facts: &Facts) -> Option<String> {
    if let Some(reason) = &table.engine_only {
        return Some(reason.clone());
    }
    if table.is_parent || ServerFacts::of(&facts.target).is_parent {
        return Some("foreign keys of other tables refer to the table".to_owned());
    }
    if table.holds_rows && request.if_exists != IfExists::Truncate {
        return Some(
            "the table holds rows (--if-exists truncate or replace drops them)".to_owned(),
        );
    }
    if table.storage.as_deref() != Some("innodb") {
        return Some("the table is not one of InnoDB".to_owned());
    }
    if !facts.new_fields(request).is_empty() {
        return Some("columns are added to the table, by the server".to_owned());
    }
    let server = ServerFacts::of(&facts.target);
    let Some(existing) = &server.existing else {
        return Some("the table was not looked at".to_owned());
    };
    if let Some(reason) = &existing.obstacle {
        return Some(reason.clone());
    }
    for column in &table.columns {
        let declared = column.declared.as_deref().unwrap_or_default();
        let in_key = table.primary_key.contains(&column.name);
        let collation = in_key.then(|| existing.collation(&column.name));
        let form = match Form::of_column(&column.name, declared, collation) {
            Ok(form) => form,
            Err(why) => return Some(why),
        };
        if matches!(form, Form::Epoch { .. }) && !is_utc(server) {
            return Some(format!(
                "column {} is a TIMESTAMP, and the server's time zone is not UTC",
                column.name
            ));
        }
    }
    None
}
