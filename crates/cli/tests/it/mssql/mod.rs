//! SQL Server: the real command against a double that speaks its protocol, and against a server where `INRUSH_TEST_MSSQL` names one.

/// The server's side of the protocol.
mod tds;

/// A server as far as a load sees it.
mod double;

/// Values: what arrives is what the file says.
mod values;

/// Tables that are there, that are made, that are in the way.
mod tables;

/// Bad rows, and servers that refuse, cut, hang or lie.
mod failures;

/// What the contract asks of it.
mod place;

/// The same against a server.
mod server;

use crate::fixture::Fixture;
use double::Double;
pub(crate) use place::Server;
use tds::Value;

/// Every strategy of the target.
const STRATEGIES: [&str; 3] = ["bulk", "values", "row-sql"];

/// Loads a file `t.csv` with this text into the double.
fn load(
    fixture: &Fixture,
    double: &Double,
    file: &str,
    options: &[&str],
) -> crate::fixture::Outcome {
    fixture.write("t.csv", file);
    let url = double.url();
    fixture.load(&[&["t.csv", url.as_str()], options].concat())
}

/// Values as tests write them.
fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn int(number: i64) -> Value {
    Value::Integer(number)
}

#[test]
fn every_strategy_is_tested() {
    let ids = crate::servers::strategies("mssql");
    let wanted: Vec<String> = STRATEGIES.iter().map(|name| format!("mssql/{name}")).collect();
    assert_eq!(ids, wanted);
}
