//! Loads and jobs that are stopped while the commit is without an answer. What is said of the rows is true, and nothing is in twice.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::crash::signal;
use crate::fixture::{Outcome, finish, size, start, wait_until};
use crate::proxy::{self, Fate, Proxy};
use crate::servers::{Database, Server};

/// A moment at which the server has heard a statement, and its client waits for the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// These words come before, unless there are none.
    pub(crate) after: &'static str,
    /// The statement has these.
    pub(crate) words: &'static str,
}

/// Keeps all that the server says from then on from the clients, until it is let go.
struct HoldAnswer {
    moment: Moment,
    is_armed: AtomicBool,
    is_met: AtomicBool,
    is_let_go: AtomicBool,
}

impl proxy::Tricks for HoldAnswer {
    fn for_server(&self, said: Vec<u8>, _client: &mut TcpStream) -> io::Result<Fate> {
        let Moment { after, words } = self.moment;
        let said_text = String::from_utf8_lossy(&said);
        // Both may come in one piece.
        let from = match after {
            "" => Some(0),
            _ if self.is_armed.load(Relaxed) => Some(0),
            _ => said_text.find(after),
        };
        if let Some(from) = from {
            self.is_armed.store(true, Relaxed);
            if said_text[from..].contains(words) {
                self.is_met.store(true, Relaxed);
            }
        }
        Ok(Fate::Passed(said))
    }

    fn for_client(&self, said: Vec<u8>) -> Fate {
        while self.is_met.load(Relaxed) && !self.is_let_go.load(Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        Fate::Passed(said)
    }
}

/// What is stopped, and when.
pub(crate) struct Case {
    /// Options of the load; none of a job.
    pub(crate) load: Option<&'static [&'static str]>,
    pub(crate) moment: Moment,
}

/// Rows of the file.
const ROWS: i64 = 2_000;

/// Each case, by other ways for each where the tests do not take their time: stopped once from the terminal and by who manages services, a second time where the first does not end it, and by a
/// connection that is lost.
pub(crate) fn while_the_commit_has_no_answer<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: impl Fn(&str) -> String,
    cases: &[Case],
) {
    let rows: String = (1..=ROWS).map(|id| format!("{id},name {id}\n")).collect();
    server.write("t.csv", format!("id,name\n{rows}")).write("old.csv", "id,name\n-1,old\n");
    for (number, Case { load, moment }) in cases.iter().enumerate() {
        let ways = [&["INT"][..], &[], &["INT", "INT"], &["TERM"]];
        let first = number % 2 * 2;
        for signals in size(&ways[first..first + 2], &ways[..]).iter().copied() {
            let what = format!("{load:?}, {moment:?}, {signals:?} on {}", server.name());
            println!("{what}");
            for table in ["t", "inrush_steps"] {
                if server.tables().iter().any(|found| found == table) {
                    server.query(&format!("DROP TABLE {table}"));
                }
            }
            let is_new = load.is_some_and(<[_]>::is_empty);
            let before = if is_new { 0 } else { 1 };
            if !is_new {
                server.load(&["old.csv", "--table", "t"]).exits(0);
            }
            let hold = HoldAnswer {
                moment: *moment,
                is_armed: AtomicBool::new(false),
                is_met: AtomicBool::new(false),
                is_let_go: AtomicBool::new(false),
            };
            let proxy: Proxy<HoldAnswer> = Proxy::start(address, hold);
            let url = url_at(&proxy.address);
            let args: Vec<&str> = match load {
                Some(options) => {
                    [&["load", "t.csv", &url, "--chunk-size", "4k"], *options].concat()
                }
                None => {
                    let begin = ["job", "begin", &url, "--table", "t", "--if-exists", "append"];
                    let begin = [&begin[..], &["--like", "t.csv"]].concat();
                    server.write("job.json", server.inrush(&begin).exits(0).stdout);
                    let written = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
                    server.write("token.json", written.stdout);
                    assert!(!proxy.is_met.load(Relaxed), "{what}: it is met too early");
                    vec!["job", "publish", "job.json", "token.json"]
                }
            };
            let mut child = start(&mut server.command(&args));
            while !proxy.is_met.load(Relaxed) && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            for name in signals {
                signal(&child, name);
            }
            if signals.is_empty() {
                proxy.cut();
            }
            thread::sleep(Duration::from_millis(200));
            proxy.is_let_go.store(true, Relaxed);
            let run = Outcome::of(what.clone(), finish(child, b""));
            assert!(proxy.is_met.load(Relaxed), "{run:?}");
            server.wait_until_alone();
            let count = || match server.tables().iter().any(|table| table == "t") {
                true => server.number("SELECT count(*) FROM t"),
                false => 0,
            };
            let (last, now) = (run.stderr.lines().last().unwrap_or_default(), count());
            let stay = last.split_once(" were committed before").map(|(rows, _)| rows);
            let told = format!("{what}: {now} rows, {run:?}");
            match run.status.code() {
                Some(0) => assert_eq!(now, before + ROWS, "{told}"),
                code => {
                    let wanted = if signals.is_empty() { 1 } else { 130 };
                    assert_eq!(code, Some(wanted), "{told}");
                    if last.contains("nothing changed") {
                        assert_eq!(now, before, "{told}");
                    }
                    if let Some(rows) = stay.filter(|_| !last.contains("resumable")) {
                        let rows = rows.replace(" rows", "").replace(',', "");
                        assert_eq!(now, before + rows.parse::<i64>().unwrap(), "{told}");
                    }
                }
            }
            if args.contains(&"chunks") || load.is_none() {
                let again = match load {
                    Some(_) if run.status.success() => continue,
                    Some(_) => [&args[..], &["--resume"]].concat(),
                    None => args,
                };
                wait_until("what was stopped has ended", || {
                    server.inrush(&again).status.success() || count() == before + ROWS
                });
                assert_eq!(count(), before + ROWS, "{what}, again");
            }
            assert!(server.hidden().is_empty() || signals.len() > 1, "{told}");
        }
    }
}
