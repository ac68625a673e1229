//! Why a load can't write the table's file.

use inrush_core::target::Knobs;
use inrush_core::{Facts, Guarantee, OnConflict, Request};

use super::form::Form;
use super::space;
use crate::facts::{ServerFacts, numbers};
use crate::knobs::SQL_LOG_BIN;
use crate::types;

/// One sentence; `None` where nothing stands in the way that can be seen before.
pub(super) fn of(request: &Request, facts: &Facts, knobs: &Knobs) -> Option<String> {
    let server = ServerFacts::of(&facts.target);
    let is = |name: &str, value: &str| server.variable(name).eq_ignore_ascii_case(value);
    if facts.kept_table(request).is_some() {
        return Some(
            "it writes the files of tables that the load makes (--if-exists replace recreates an existing one)"
                .to_owned(),
        );
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
    if request.owns_table {
        return Some("the parts of a job are merged by the server, row by row".to_owned());
    }
    let engine = &facts.target.engine;
    let version = numbers(server.variable("version"));
    let is_known = match engine.starts_with("MariaDB") {
        true => (version.0, version.1) == (10, 11),
        false => matches!((version.0, version.1), (5, 7) | (8, 0)),
    };
    if !is_known {
        return Some(format!(
            "{engine} is not one of the servers whose files are known: MariaDB 10.11, MySQL 5.7 and 8.0"
        ));
    }
    if is("wsrep_on", "ON") {
        return Some("Galera's other nodes would not get the rows".to_owned());
    }
    if is("log_bin", "ON") && !knobs.is(&SQL_LOG_BIN, "off") {
        return Some(
            "the binary log would have the table without its rows, and replicas would stop (--set sql_log_bin=off leaves it out of the log, so that they lack the table)"
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
    let key =
        |name: &String| facts.source.loaded().find(|field| field.name.eq_ignore_ascii_case(name));
    for field in request.primary_key.iter().filter_map(key) {
        let ty = request.types.iter().find(|(name, _)| field.is_called(name));
        let ty = ty.map_or(field.ty, |(_, ty)| *ty);
        if !Form::of(&types::spell(ty, true, true)).is_some_and(Form::orders) {
            return Some(format!(
                "the key's column {} is a {ty}, whose bytes have another order",
                field.name
            ));
        }
    }
    space::obstacle(server)
}
