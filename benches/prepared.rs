//! The best loader that a user writes by hand: one prepared INSERT, one transaction, and everything that makes SQLite safe
//! switched off. prepared FILE.tsv DATABASE, for the nodes table of benches/nodes.py.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead as _, BufReader};

use rusqlite::{Connection, params};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(source), Some(database)) = (args.next(), args.next()) else {
        return Err("usage: prepared FILE.tsv DATABASE".into());
    };
    let connection = Connection::open(database)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY;
         CREATE TABLE t (column_1 INTEGER PRIMARY KEY, column_2 REAL, column_3 REAL, column_4 INTEGER,
                             column_5 TIMESTAMP, column_6 INTEGER, column_7 INTEGER, column_8 TEXT);
         BEGIN;",
    )?;
    let mut insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut input = BufReader::with_capacity(1 << 20, File::open(source)?);
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let mut fields = line.trim_end_matches('\n').split('\t');
        let mut next = || fields.next().ok_or("a row with too few fields");
        let id: i64 = next()?.parse()?;
        let (lat, lon): (f64, f64) = (next()?.parse()?, next()?.parse()?);
        let version: i64 = next()?.parse()?;
        let timestamp = next()?;
        let (changeset, uid): (i64, i64) = (next()?.parse()?, next()?.parse()?);
        insert.execute(params![id, lat, lon, version, timestamp, changeset, uid, next()?])?;
        line.clear();
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}
