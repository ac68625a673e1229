//! A program that writes in steps and never ends outlives its connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::thread;

use arrow_array::{Int64Array, RecordBatch};
use inrush::{Aftermath, LoadOptions, Steps, Unobserved, Writer};

use crate::fixture::size;
use crate::servers::{Database, Server};

const ROWS: i64 = 100;

/// So many tries of one step lose their connections.
const KILLED_IN_STEP_MAX: u32 = 4;

/// Steps are written while all their connections are killed again and again. A step is written once more where its connection is
/// lost, so that all rows are there once; only where the answer to a commit is lost, and the server can't be asked what became of
/// it, the writer ends and says that it doesn't know.
pub(crate) fn outlive_connections<D: Database>(
    server: &Server<D>,
    kill: impl Fn(&Server<D>, &str),
) {
    let steps = size(5, 30);
    let options = LoadOptions { table: Some("t".to_owned()), ..LoadOptions::default() };
    let batch = |step: i64| {
        let ids: Int64Array = (step * ROWS..(step + 1) * ROWS).collect();
        RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap()
    };
    let every = Steps { rows: Some(ROWS as u64), time: None };
    let (schema, observer) = (batch(0).schema(), Arc::new(Unobserved));
    let mut writer = Writer::in_steps(schema, &server.url(), &options, every, observer).unwrap();
    let (done, killed) = (AtomicI64::new(0), AtomicI64::new(0));
    let outcome = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            // A busy machine may look at the connections for the first time when so many steps are over.
            while done.load(Relaxed) < steps || killed.load(Relaxed) == 0 {
                writer.write(&batch(done.load(Relaxed)))?;
                writer.commit()?;
                done.fetch_add(1, Relaxed);
            }
            writer.finish()
        });
        // Before each try of a step there is a pause, and steps have to come to their end before a writer gives up.
        let (mut step, mut killed_in_step) = (0, 0);
        while !writing.is_finished() && killed.load(Relaxed) < steps {
            let now = done.load(Relaxed);
            if now != step {
                (step, killed_in_step) = (now, 0);
            }
            for id in server.connections() {
                if killed_in_step < KILLED_IN_STEP_MAX {
                    kill(server, &id);
                    killed.fetch_add(1, Relaxed);
                    killed_in_step += 1;
                }
            }
        }
        writing.join().unwrap()
    });
    let (steps, killed) = (done.into_inner(), killed.into_inner());
    let found = match server.tables().iter().any(|table| table == "t") {
        true => server.query("SELECT id FROM t ORDER BY id"),
        false => Vec::new(),
    };
    let found: Vec<i64> =
        found.into_iter().flatten().flatten().map(|id| id.parse().unwrap()).collect();
    println!("{killed} connections killed, {} rows on {}", found.len(), server.name());
    match outcome {
        Ok(report) => {
            assert_eq!(report.rows_loaded as i64, steps * ROWS);
            assert_eq!(found, (0..steps * ROWS).collect::<Vec<_>>());
        }
        Err(error) => {
            assert_eq!(error.aftermath(), Some(Aftermath::Unknown), "{error}");
            let committed = steps * ROWS;
            let whole = [committed, committed + ROWS].map(|rows| (0..rows).collect::<Vec<_>>());
            assert!(whole.contains(&found), "{error}: {found:?}");
        }
    }
}
