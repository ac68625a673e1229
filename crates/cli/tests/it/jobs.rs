//! Jobs: one load that several processes write. What is to be seen of one is all of its rows, or nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use arrow_array::{Int64Array, RecordBatch};
use inrush::job::{self, Guarantee, Job, Options, Published, State, Token};
use inrush::plan::{IfExists, OnConflict};
use inrush::{LoadOptions, Parts, Request, Unobserved};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixture::{INRUSH, Outcome, size, wait_until, wait_until_it_waits};
use crate::proxy::{self, Fate, Proxy};
use crate::servers::{Database, Server};

fn batch(ids: Range<i64>) -> RecordBatch {
    let ids: Int64Array = ids.collect();
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap()
}

fn begin(url: &str, id: &str, if_exists: IfExists) -> inrush::Result<Job> {
    let load = LoadOptions { table: Some("t".to_owned()), if_exists, ..LoadOptions::default() };
    let options = Options { id: Some(id.to_owned()), ..Options::default() };
    job::begin(batch(0..0).schema(), url, &load, &options, &Unobserved)
}

/// The same with a guarantee, and with another name for each test.
fn begin_as(url: &str, id: &str, guarantee: Guarantee) -> inrush::Result<Job> {
    let if_exists = IfExists::Append;
    let load = LoadOptions { table: Some("t".to_owned()), if_exists, ..LoadOptions::default() };
    let options = Options { id: Some(id.to_owned()), guarantee, ..Options::default() };
    job::begin(batch(0..0).schema(), url, &load, &options, &Unobserved)
}

fn write(job: &Job, ids: Range<i64>) -> inrush::Result<Token> {
    job::write(job, vec![batch(ids)], None, &Unobserved)
}

fn write_part(job: &Job, ids: Range<i64>, partition: u32) -> inrush::Result<Token> {
    job::write(job, vec![batch(ids)], Some(partition), &Unobserved)
}

fn publish(job: &Job, tokens: &[Token]) -> inrush::Result<Published> {
    job::publish(job, tokens, &Unobserved)
}

fn ids<D: Database>(server: &Server<D>) -> Vec<i64> {
    if !server.tables().iter().any(|table| table == "t") {
        return Vec::new();
    }
    let rows = server.rows("t", &["id"]);
    let ids = rows.into_iter().flatten().flatten().map(|id| id.parse().unwrap());
    let mut ids: Vec<i64> = ids.collect();
    ids.sort_unstable();
    ids
}

/// Whether all rows of a job come into an existing table at once.
fn has_transactions<D: Database>() -> bool {
    D::TRAITS.undoes_appends
}

/// Runs a statement, or what is the same where the database has none.
fn run<D: Database>(server: &Server<D>, sql: &str, command: &str) {
    server.query(if has_transactions::<D>() { sql } else { command });
}

pub(crate) fn drop_table<D: Database>(server: &Server<D>, table: &str) {
    if server.tables().iter().any(|name| name == table) {
        run(server, &format!("DROP TABLE {table}"), &format!("{{\"drop\": \"{table}\"}}"));
    }
}

/// Nothing of any job is left but the ledger.
#[track_caller]
fn nothing_left<D: Database>(server: &Server<D>) {
    // Twice: what it ends the first time it forgets the second.
    for _ in 0..2 {
        job::gc(&server.url(), None, Duration::ZERO, &Unobserved).unwrap();
    }
    let tables = server.tables();
    assert!(tables.iter().all(|table| table == "t" || table == job::LEDGER), "{tables:?}");
}

/// Deletes what the ledger knows of jobs that are not committed.
fn forget_aborted<D: Database>(server: &Server<D>) {
    let ledger = job::LEDGER;
    run(
        server,
        &format!("DELETE FROM {ledger} WHERE state <> 'committed'"),
        &format!(
            "{{\"delete\": \"{ledger}\", \"deletes\": [{{\"q\": {{\"state\": {{\"$ne\": \"committed\"}}}}, \"limit\": 0}}]}}"
        ),
    );
}

/// A step of one of two jobs.
#[derive(Clone, Debug)]
enum Step {
    Begin {
        id: usize,
    },
    /// By any handle that there was, also one of a job that is over.
    Write {
        handle: usize,
        partition: u32,
    },
    /// With those of its tokens that the mask has.
    Publish {
        handle: usize,
        mask: u8,
    },
    Abort {
        handle: usize,
    },
    Recover {
        id: usize,
    },
    Gc,
}

fn step() -> impl Strategy<Value = Step> {
    let handle = 0..6_usize;
    prop_oneof![
        3 => (0..2_usize).prop_map(|id| Step::Begin { id }),
        6 => (handle.clone(), 0..3_u32).prop_map(|(handle, partition)| Step::Write { handle, partition }),
        4 => (handle.clone(), prop_oneof![2 => Just(0xff_u8), 1 => any::<u8>()])
            .prop_map(|(handle, mask)| Step::Publish { handle, mask }),
        1 => handle.prop_map(|handle| Step::Abort { handle }),
        1 => (0..2_usize).prop_map(|id| Step::Recover { id }),
        1 => Just(Step::Gc),
    ]
}

/// What is known of a job.
#[derive(Clone)]
struct Known {
    digits: String,
    /// Whether there was no table when it began.
    makes: bool,
    state: State,
    report: Option<Published>,
    /// Partitions that came in by themselves, in whatever job of the name: the attempt that has written each.
    partitions: BTreeMap<u32, String>,
}

/// All that should be.
struct Model {
    guarantee: Guarantee,
    has_table: bool,
    table: Vec<i64>,
    jobs: BTreeMap<String, Known>,
    handles: Vec<Job>,
    /// The handle that wrote it, and the rows.
    tokens: Vec<(usize, Token, Range<i64>)>,
    /// The attempts with which a job was published, by its digits.
    published: BTreeMap<String, Vec<String>>,
    next: i64,
}

const NAMES: [&str; 2] = ["nightly 1", "it's"];

impl Model {
    fn state_of(&self, job: &Job) -> Option<State> {
        self.jobs.get(&job.id).filter(|known| known.digits == job.digits).map(|known| known.state)
    }

    fn new(guarantee: Guarantee) -> Self {
        Self {
            guarantee,
            has_table: false,
            table: Vec::new(),
            jobs: BTreeMap::new(),
            handles: Vec::new(),
            tokens: Vec::new(),
            published: BTreeMap::new(),
            next: 0,
        }
    }

    fn set(&mut self, job: &Job, state: State, report: Option<Published>) {
        let known = self.jobs.get(&job.id);
        let partitions = known.map(|known| known.partitions.clone()).unwrap_or_default();
        let known = known.filter(|known| known.digits == job.digits);
        let makes = known.map_or(!self.has_table, |known| known.makes);
        let known = Known { digits: job.digits.clone(), makes, state, report, partitions };
        self.jobs.insert(job.id.clone(), known);
    }

    fn publish(&mut self, job: &Job, tokens: &[Token], report: Published) {
        let attempts = tokens.iter().map(|token| token.attempt.clone()).collect();
        self.published.insert(job.digits.clone(), attempts);
        self.set(job, State::Committed, Some(report));
    }

    /// What a job answers that is published already.
    fn answers(&self, job: &Job, tokens: &[Token], published: inrush::Result<Published>) {
        let attempts = &self.published[&job.digits];
        match tokens.iter().all(|token| attempts.contains(&token.attempt)) {
            true => assert_eq!(Some(published.unwrap()), self.jobs[&job.id].report),
            false => assert!(published.err().unwrap().what().contains("was published without")),
        }
    }

    fn add(&mut self, rows: impl IntoIterator<Item = i64>) {
        self.table.extend(rows);
        self.table.sort_unstable();
    }

    /// The rows of the next attempt: those of its partition, or ones that no other has.
    fn rows(&mut self, job: &Job, partition: u32) -> Range<i64> {
        let job = NAMES.iter().position(|name| *name == job.id).unwrap() as i64;
        let start = match self.guarantee {
            Guarantee::PerPartition => job * 1000 + i64::from(partition) * 10,
            _ => self.next,
        };
        self.next += 10;
        start..start + 10
    }

    /// Publishes a job whose attempts have brought in their rows themselves.
    fn publish_early<D: Database>(&mut self, server: &Server<D>, job: &Job, mask: u8) {
        let mut tokens: Vec<Token> = Vec::new();
        for (at, (_, token, _)) in self.tokens.iter().enumerate() {
            let is_new = tokens.iter().all(|known| known.attempt != token.attempt);
            if token.digits == job.digits && is_new && mask >> (at % 8) & 1 == 1 {
                tokens.push(token.clone());
            }
        }
        let published = publish(job, &tokens);
        match self.state_of(job) {
            Some(State::Open) if self.guarantee == Guarantee::PerPartition => {
                let partitions = &self.jobs[&job.id].partitions;
                let given: BTreeMap<u32, String> = tokens
                    .iter()
                    .map(|token| (token.partition.unwrap(), token.attempt.clone()))
                    .collect();
                let has_gap = (0..).zip(given.keys()).any(|(wanted, found)| wanted != *found);
                if given == *partitions && !has_gap {
                    let report = published.unwrap();
                    assert_eq!(report.guarantee, self.guarantee);
                    assert_eq!(report.rows_loaded, 10 * given.len() as u64);
                    self.publish(job, &tokens, report);
                } else {
                    let what = published.err().unwrap();
                    assert!(what.what().contains("token is of"), "{what}");
                }
            }
            Some(State::Open) => {
                let report = published.unwrap();
                assert_eq!(report.guarantee, self.guarantee);
                assert_eq!(report.rows_loaded, 10 * tokens.len() as u64);
                self.publish(job, &tokens, report);
            }
            Some(State::Committed) => self.answers(job, &tokens, published),
            _ => assert!(published.is_err()),
        }
        assert_eq!(ids(server), self.table);
    }

    fn take<D: Database>(&mut self, server: &Server<D>, step: &Step) {
        let url = server.url();
        let handle = |number: &usize| match self.handles.len() {
            0 => None,
            handles => Some(number % handles),
        };
        match step {
            Step::Begin { id } => {
                let begun = begin_as(&url, NAMES[*id], self.guarantee);
                let is_alone = self.guarantee == Guarantee::Atomic && !has_transactions::<D>();
                match self.jobs.get(NAMES[*id]).map(|known| known.state) {
                    None | Some(State::Aborted) if is_alone && self.has_table => {
                        assert!(begun.err().unwrap().what().contains("has no transaction"));
                        // The name of an aborted job is free before that is found out.
                        self.jobs.remove(NAMES[*id]);
                    }
                    None | Some(State::Aborted) => {
                        let job = begun.unwrap();
                        assert_eq!(job.state, State::Open);
                        let known = self.jobs.get(NAMES[*id]);
                        let partitions = known.map_or(0, |known| known.partitions.len());
                        assert_eq!(
                            job.visible.map_or(0, |seen| seen.partitions),
                            partitions as u64
                        );
                        self.set(&job, State::Open, None);
                        self.has_table |= self.guarantee != Guarantee::Atomic;
                        self.handles.push(job);
                    }
                    Some(State::Committed) => {
                        let job = begun.unwrap();
                        assert_eq!(job.state, State::Committed);
                        self.handles.push(job);
                    }
                    Some(_) => assert!(begun.err().unwrap().what().contains("open already")),
                }
            }
            Step::Write { handle: number, partition } => {
                let Some(at) = handle(number) else { return };
                let job = self.handles[at].clone();
                let ids = self.rows(&job, *partition);
                let written = match self.guarantee {
                    Guarantee::PerPartition => write_part(&job, ids.clone(), *partition),
                    _ => write(&job, ids.clone()),
                };
                match self.state_of(&job) {
                    Some(State::Open) => {
                        let token = written.unwrap();
                        assert_eq!((token.rows, token.digits.as_str()), (10, job.digits.as_str()));
                        let known = self.jobs.get_mut(&job.id).unwrap();
                        match self.guarantee {
                            Guarantee::Atomic => {}
                            Guarantee::PerPartition => {
                                let before = known.partitions.get(partition);
                                assert_eq!(token.already_written, before.is_some());
                                assert!(before.is_none_or(|attempt| *attempt == token.attempt));
                                known.partitions.insert(*partition, token.attempt.clone());
                                if !token.already_written {
                                    self.add(ids.clone());
                                }
                            }
                            Guarantee::None => self.add(ids.clone()),
                        }
                        self.tokens.push((at, token, ids));
                    }
                    _ => assert!(written.err().unwrap().what().contains("takes no more rows")),
                }
            }
            Step::Publish { handle: number, mask } => {
                let Some(at) = handle(number) else { return };
                let job = self.handles[at].clone();
                if self.guarantee != Guarantee::Atomic {
                    return self.publish_early(server, &job, *mask);
                }
                let own = |token: &Token| token.digits == job.digits;
                let all: Vec<_> = self.tokens.iter().filter(|(_, token, _)| own(token)).collect();
                let given: Vec<_> =
                    all.iter().enumerate().filter(|(at, _)| mask >> (at % 8) & 1 == 1).collect();
                let tokens: Vec<Token> =
                    given.iter().map(|(_, (_, token, _))| token.clone()).collect();
                let rows: Vec<i64> =
                    given.iter().flat_map(|(_, (_, _, ids))| ids.clone()).collect();
                let is_short = tokens.is_empty() && !all.is_empty();
                let published = publish(&job, &tokens);
                match self.state_of(&job) {
                    Some(State::Open) if is_short => {
                        assert!(published.err().unwrap().what().contains("no token came"));
                    }
                    // The other job has made it.
                    Some(State::Open) if self.jobs[&job.id].makes && self.has_table => {
                        assert!(published.err().unwrap().what().contains("has changed since"));
                    }
                    Some(State::Open) => {
                        let report = published.unwrap();
                        self.has_table = true;
                        assert_eq!(report.rows_loaded, rows.len() as u64);
                        self.add(rows);
                        self.publish(&job, &tokens, report);
                    }
                    Some(State::Committed) => self.answers(&job, &tokens, published),
                    _ => assert!(published.is_err()),
                }
            }
            Step::Abort { handle: number } => {
                let Some(at) = handle(number) else { return };
                let job = self.handles[at].clone();
                let ended = job::abort(&job, &Unobserved).unwrap().state;
                match self.state_of(&job) {
                    Some(State::Committed) => assert_eq!(ended, State::Committed),
                    Some(_) => {
                        assert_eq!(ended, State::Aborted);
                        self.set(&job, State::Aborted, None);
                    }
                    None => assert_eq!(ended, State::Aborted),
                }
            }
            Step::Recover { id } => {
                let recovered = job::recover(&url, None, NAMES[*id], &Unobserved);
                match self.jobs.get(NAMES[*id]).map(|known| known.state) {
                    None => assert!(recovered.is_err()),
                    Some(State::Open) => {
                        let job = recovered.unwrap();
                        assert_eq!(job.state, State::Aborted);
                        self.set(&job, State::Aborted, None);
                    }
                    Some(state) => assert_eq!(recovered.unwrap().state, state),
                }
            }
            Step::Gc => {
                job::gc(&url, None, Duration::ZERO, &Unobserved).unwrap();
                // What is in the table of an aborted job has to be known when that is begun again.
                self.jobs.retain(|_, known| {
                    known.state != State::Aborted || !known.partitions.is_empty()
                });
                for known in self.jobs.values_mut().filter(|known| known.state == State::Open) {
                    known.state = State::Aborted;
                }
            }
        }
        assert_eq!(ids(server), self.table, "after {step:?}");
    }
}

/// Whatever is done in whatever order, each step does what it says, or says why it doesn't; and the table has the rows of what was
/// published, each once.
pub(crate) fn in_any_order<D: Database>(server: &Server<D>) {
    let config = Config {
        cases: size(3, 150),
        failure_persistence: None,
        max_shrink_iters: 50,
        ..Config::default()
    };
    let guarantees = vec![Guarantee::Atomic, Guarantee::PerPartition, Guarantee::None];
    let steps = (prop::sample::select(guarantees), prop::collection::vec(step(), 5..30));
    let outcome = TestRunner::new(config).run(&steps, |(guarantee, steps)| {
        drop_table(server, "t");
        drop_table(server, job::LEDGER);
        let mut model = Model::new(guarantee);
        for step in &steps {
            model.take(server, step);
        }
        if server.tables().iter().any(|name| name == job::LEDGER) {
            // But what is known of aborted jobs, until their rows of the ledger are deleted.
            forget_aborted(server);
            nothing_left(server);
        }
        Ok(())
    });
    outcome.unwrap();
}

/// Several processes publish and abort a job at the same time: one of them decides, and all say the same.
pub(crate) fn ended_at_once<D: Database>(server: &Server<D>) {
    let url = server.url();
    for round in 0..size(2, 30) {
        let job = begin(&url, &format!("job {round}"), IfExists::Append).unwrap();
        let before = ids(server);
        let rows = round * 20..(round + 1) * 20;
        let tokens = [
            write(&job, rows.start..rows.start + 10).unwrap(),
            write(&job, rows.start + 10..rows.end).unwrap(),
        ];
        let (published, aborted) = thread::scope(|scope| {
            let publishes: Vec<_> =
                (0..2).map(|_| scope.spawn(|| publish(&job, &tokens))).collect();
            let aborts = scope.spawn(|| job::abort(&job, &Unobserved).unwrap().state);
            let published: Vec<_> =
                publishes.into_iter().map(|thread| thread.join().unwrap()).collect();
            (published, aborts.join().unwrap())
        });
        let wanted = match aborted {
            State::Committed => before.into_iter().chain(rows).collect(),
            _ => before,
        };
        assert_eq!(ids(server), wanted, "round {round}");
        match aborted {
            State::Committed => {
                let reports: Vec<_> = published.into_iter().map(Result::unwrap).collect();
                assert_eq!(reports[0], reports[1]);
            }
            _ => assert!(published.iter().all(Result::is_err)),
        }
    }
    nothing_left(server);
}

/// Each of so many pieces before the server hears it, and before the client hears the answer; a few moments from the last on, where the
/// tests do not take their time.
fn moments(pieces: u64) -> Vec<(u64, bool)> {
    let all: Vec<_> = (1..=pieces).flat_map(|piece| [(piece, false), (piece, true)]).collect();
    // An odd number of moments lies between two, so that of one piece the server has heard, and of the next it has not.
    let step = size((all.len() / 3) | 1, 1);
    all.into_iter().rev().step_by(step).collect()
}

/// Ends all connections when the client has sent so many pieces: before the server hears the last of them, or before the client hears
/// the answer.
struct CutAt {
    piece: u64,
    is_heard: bool,
    for_good: bool,
    pieces: AtomicU64,
    was_cut: AtomicBool,
}

impl CutAt {
    fn new(piece: u64, is_heard: bool, for_good: bool) -> Self {
        Self {
            piece,
            is_heard,
            for_good,
            pieces: AtomicU64::new(0),
            was_cut: AtomicBool::new(false),
        }
    }

    fn cut(&self) -> Fate {
        self.was_cut.store(true, Relaxed);
        if self.for_good { Fate::CutForGood } else { Fate::Cut }
    }
}

impl proxy::Tricks for CutAt {
    fn for_server(&self, said: Vec<u8>, _client: &mut TcpStream) -> io::Result<Fate> {
        let piece = self.pieces.fetch_add(1, Relaxed) + 1;
        Ok(if piece == self.piece && !self.is_heard { self.cut() } else { Fate::Passed(said) })
    }

    fn for_client(&self, said: Vec<u8>) -> Fate {
        let is_due = self.is_heard && self.pieces.load(Relaxed) >= self.piece;
        if is_due && !self.was_cut.load(Relaxed) { self.cut() } else { Fate::Passed(said) }
    }
}

/// A job with two tokens, in files: of a new table, or of one with a row.
fn written<D: Database>(server: &Server<D>, url: &str, if_exists: IfExists) -> (Job, Vec<i64>) {
    drop_table(server, "t");
    let mut rows: Vec<i64> = (0..20).collect();
    match if_exists {
        IfExists::Empty => {}
        _ => {
            server.query("CREATE TABLE t (id bigint)");
            server.query("INSERT INTO t VALUES (100)");
            rows.push(100);
        }
    }
    let job = begin(&server.url(), &own_name(), if_exists).unwrap();
    let tokens = [write(&job, 0..10).unwrap(), write(&job, 10..20).unwrap()];
    let mut elsewhere = job.clone();
    url.clone_into(&mut elsewhere.url);
    server.write("job.json", elsewhere.to_string());
    server.write("tokens.json", tokens.map(|token| token.to_string()).join("\n"));
    (job, rows)
}

/// A name that no other test has.
fn own_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("job {}", NEXT.fetch_add(1, Relaxed))
}

fn publishes<D: Database>(server: &Server<D>) -> Child {
    Command::new(INRUSH)
        .args(["job", "publish", "job.json", "tokens.json"])
        .current_dir(server.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Pieces that a client sends to publish such a job.
fn pieces<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: &impl Fn(&str) -> String,
    if_exists: IfExists,
) -> u64 {
    let proxy: Proxy<CutAt> = Proxy::start(address, CutAt::new(u64::MAX, false, true));
    let (_, rows) = written(server, &url_at(&proxy.address), if_exists);
    let done = publishes(server).wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(ids(server), rows);
    proxy.pieces.load(Relaxed)
}

/// Into a new table, and into an existing one.
fn cases<D: Database>() -> &'static [IfExists] {
    let all = &[IfExists::Empty, IfExists::Append];
    if has_transactions::<D>() { all } else { &all[..1] }
}

/// Where a killed process goes on having its locks until their time is over: has it be over.
pub(crate) fn end_locks<D: Database>(server: &Server<D>) {
    if !has_transactions::<D>() {
        server.query(&format!(
            "{{\"update\": \"{}\", \"updates\": [{{\"q\": {{}}, \"u\": {{\"$set\": {{\"locks\": {{}}}}}}, \"multi\": true}}]}}",
            job::LEDGER
        ));
    }
}

/// Who publishes is killed, before the server has heard a statement, or after: what recovers the job finds out what became of it.
pub(crate) fn killed_while_publishing<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: impl Fn(&str) -> String,
) {
    for if_exists in cases::<D>().iter().copied() {
        let all = pieces(server, address, &url_at, if_exists);
        for (piece, is_heard) in moments(all) {
            let proxy: Proxy<CutAt> = Proxy::start(address, CutAt::new(piece, is_heard, true));
            let (job, rows) = written(server, &url_at(&proxy.address), if_exists);
            let mut child = publishes(server);
            while !proxy.was_cut.load(Relaxed) && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            let _ = child.kill();
            child.wait().unwrap();
            drop(proxy);
            end_locks(server);
            let began = Instant::now();
            // The server ends what a lost connection has begun, but not at once.
            let recovered = loop {
                match job::recover(&server.url(), None, &job.id, &Unobserved) {
                    Ok(job) => break job,
                    Err(error) if began.elapsed() > Duration::from_secs(30) => panic!("{error}"),
                    Err(_) => thread::sleep(Duration::from_millis(20)),
                }
            };
            let before = if if_exists == IfExists::Append { vec![100] } else { Vec::new() };
            let wanted = if recovered.state == State::Committed { rows } else { before };
            assert_eq!(ids(server), wanted, "{if_exists}, piece {piece}, heard: {is_heard}");
            nothing_left(server);
        }
    }
}

/// Keeps what the client has sent as this piece from the server, until it is let go.
struct HoldAt {
    piece: u64,
    pieces: AtomicU64,
    is_held: AtomicBool,
    is_let_go: AtomicBool,
}

impl proxy::Tricks for HoldAt {
    fn for_server(&self, said: Vec<u8>, _client: &mut TcpStream) -> io::Result<Fate> {
        if self.pieces.fetch_add(1, Relaxed) + 1 == self.piece {
            self.is_held.store(true, Relaxed);
            wait_until("the piece is let go", || self.is_let_go.load(Relaxed));
        }
        Ok(Fate::Passed(said))
    }
}

/// Who ends a job is stopped at some piece and loses its lock, as one that is asleep for long; another one ends the job; and then the
/// first goes on. Neither spoils what the other does, and who says that the rows are in is right.
pub(crate) fn taken_for_dead<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: impl Fn(&str) -> String,
    end_lock: impl Fn(&Job),
) {
    let starts = |what: &str, job: &str| {
        let tokens: &[&str] = if what == "publish" { &["tokens.json"] } else { &[] };
        Command::new(INRUSH)
            .args([&["job", what, job], tokens].concat())
            .current_dir(server.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut next = 0;
    for if_exists in cases::<D>().iter().copied() {
        let all = pieces(server, address, &url_at, if_exists);
        for (first, second) in [("publish", "publish"), ("publish", "abort"), ("abort", "publish")]
        {
            // Pieces that others have left out: in some pair it is one of the first, in some one of the last.
            next += 5;
            for piece in (1 + next % size(13, 1)..=all).step_by(size(13, 1)) {
                let hold = HoldAt {
                    piece,
                    pieces: AtomicU64::new(0),
                    is_held: AtomicBool::new(false),
                    is_let_go: AtomicBool::new(false),
                };
                let proxy: Proxy<HoldAt> = Proxy::start(address, hold);
                let (job, rows) = written(server, &url_at(&proxy.address), if_exists);
                server.write("straight.json", job.to_string());
                let before = if if_exists == IfExists::Append { vec![100] } else { Vec::new() };
                let mut one = starts(first, "job.json");
                while !proxy.is_held.load(Relaxed) && one.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_millis(1));
                }
                if proxy.is_held.load(Relaxed) {
                    end_lock(&job);
                }
                let other = starts(second, "straight.json");
                // It comes to its end, or has to wait for a transaction of the first one.
                wait_until_it_waits(&other);
                proxy.is_let_go.store(true, Relaxed);
                let ended = [(first, one), (second, other)].map(|(what, child)| {
                    let done = child.wait_with_output().unwrap();
                    let said = String::from_utf8_lossy(&done.stdout).into_owned();
                    let error = String::from_utf8_lossy(&done.stderr).into_owned();
                    (what, done.status.success(), said, error)
                });
                let what = format!("{if_exists}, piece {piece} of {all}: {ended:?}");
                let found = ids(server);
                for (_, is_well, said, _) in &ended {
                    if said.contains("\"committed\"") {
                        assert_eq!(found, rows, "{what}");
                    } else if *is_well {
                        assert_eq!(found, before, "{what}");
                    }
                }
                let again = starts("publish", "straight.json").wait_with_output().unwrap();
                match again.status.success() {
                    true => assert_eq!(ids(server), rows, "{what}"),
                    false => {
                        assert_eq!(ids(server), before, "{what}");
                        let aborts = |what: &&str| *what == "abort";
                        assert!([first, second].iter().any(aborts), "{what}{again:?}");
                    }
                }
                drop(proxy);
                nothing_left(server);
            }
        }
    }
}

/// All connections end once, before the server has heard a statement, or after: what publishes either finds out that all is well, or says
/// that nothing has changed, or that it doesn't know; and does it the next time.
pub(crate) fn answers_lost<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: impl Fn(&str) -> String,
) {
    for if_exists in cases::<D>().iter().copied() {
        let all = pieces(server, address, &url_at, if_exists);
        for (piece, is_heard) in moments(all) {
            let proxy: Proxy<CutAt> = Proxy::start(address, CutAt::new(piece, is_heard, false));
            let (job, rows) = written(server, &url_at(&proxy.address), if_exists);
            let done = publishes(server).wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let found = ids(server);
            let what = format!("{if_exists}, piece {piece}, heard: {is_heard}: {said}");
            if done.status.success() {
                assert_eq!(found, rows, "{what}");
            } else {
                assert!(!said.contains("nothing changed") || found != rows, "{what}");
            }
            server.write("job.json", job.to_string());
            let again = publishes(server).wait_with_output().unwrap();
            assert!(
                again.status.success(),
                "{what}; again: {}",
                String::from_utf8_lossy(&again.stderr)
            );
            assert_eq!(ids(server), rows, "{what}");
            drop(proxy);
            nothing_left(server);
        }
    }
}

/// The steps of a job as a shell script has them.
pub(crate) fn by_command<D: Database>(server: &Server<D>) {
    let url = server.url();
    server.write("a.csv", "id,name\n1,a\n2,\"b\nc\"\n");
    server.write("b.csv", "id,name\n3,d\nx,e\n");
    let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
    let begin = [
        "begin",
        &url,
        "--table",
        "t",
        "--like",
        "a.csv",
        "--job-id",
        "shell",
        "--max-rejects",
        "1",
    ];
    let begun = job(&begin).exits(0);
    server.write("job.json", &begun.stdout);
    for (file, code) in [("a.csv", 0), ("b.csv", 3)] {
        let token = job(&["write", "job.json", file]).exits(code);
        server.write(&format!("{file}.token"), &token.stdout);
    }
    job(&["list", &url]).exits(0).prints(&["open", "shell"]);
    let published = job(&["publish", "job.json", "a.csv.token", "b.csv.token"]).exits(3);
    let report: serde_json::Value = serde_json::from_str(&published.stdout).unwrap();
    assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&3.into(), &1.into()));
    let bad = &report["rejected"][0];
    assert_eq!(
        (&bad["file"], &bad["line"], &bad["column"]),
        (&"b.csv".into(), &3.into(), &"id".into())
    );
    assert_eq!(ids(server), [1, 2, 3]);
    assert_eq!(job(&["publish", "job.json"]).exits(3).stdout, published.stdout);
    let late = fs::read_to_string(server.path("a.csv.token")).unwrap();
    let attempt = late.split("\"attempt\":\"").nth(1).unwrap().split('"').next().unwrap();
    server.write("late.token", late.replace(attempt, "0123456789abcdef"));
    job(&["publish", "job.json", "a.csv.token", "late.token"]).exits(2).says(&[
        "published without",
        "0123456789abcdef",
        "job of another name",
    ]);
    job(&["list", &url, "--json"]).exits(0).prints(&["\"committed\""]);
    let refused = job(&["abort", "-q", "job.json"]).exits(1).prints(&["\"committed\""]);
    refused.says(&["job shell is committed, and its rows stay", "inrush job publish JOB"]);
    job(&begin).exits(0).prints(&["\"committed\""]).says(&[
        "note: job shell is committed already, and its rows are in the table",
        "inrush job publish JOB",
    ]);
    // What can't be printed is done all the same; where rows are committed by it, it says so.
    for (args, is_publish) in [(["publish", "job.json"], true), (["abort", "job.json"], false)] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut unsaid = Command::new(INRUSH);
        unsaid.arg("job").args(args).current_dir(server.path("")).stdout(full);
        let run = unsaid.output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains("and the report is lost: cannot write"), "{said}");
        assert_eq!(said.contains("committed: only the report is lost"), is_publish, "{said}");
    }

    // What goes wrong is said, and nothing is seen of it.
    let missing = ["begin", &url, "--table", "t", "--schema", "a.csv"];
    job(&missing).exits(2).says(&["names no types", "--like a.csv"]);
    job(&["begin", &url, "--table", "t"]).exits(2).says(&["--schema <FILE>|--like <SOURCE>"]);
    job(&["write", "nowhere.json", "a.csv"]).exits(2).says(&["can't read nowhere.json"]);
    job(&["write", "a.csv", "a.csv"]).exits(2).says(&["no text of a job"]);
    job(&["write", "job.json", "a.csv"]).exits(1).says(&[
        "is committed: it takes no more rows",
        "what it was published with is in already: inrush job publish JOB",
    ]);
    server.write("empty", "");
    job(&["publish", "job.json", "empty"]).exits(2).says(&["holds no token"]);
    job(&["recover", &url, "nobody's"]).exits(2).says(&["there is no job"]);
    job(&["recover", "job.json"]).exits(2).says(&["say inrush job recover URL ID"]);
    job(&["gc", &url, "--older-than", "soon"]).exits(2).says(&["90s, 30m, 12h or 1d"]);
    job(&["gc", &url, "--older-than", "5"]).exits(2).says(&["the unit is missing", "5d for days"]);
    job(&["gc", &url, "--older-than", "0"]).exits(0).prints(&["\"tables\":0"]);
    // Also where the login ends elsewhere to whoever reads URLs by the book.
    for login in ["app:secret", "app:#secret", "app:?secret", "app:se/cret", "app:se@cret"] {
        let secret = url.replacen("://", &format!("://{login}@"), 1);
        for step in [&["list", &secret][..], &["gc", &secret], &["recover", &secret, "shell"]] {
            job(step).exits(2).says(&["no job takes a password in its URL", "--password env:NAME"]);
        }
    }
    job(&["begin", &url, "--table", "t", "--like", "a.csv", "--job-id", "shell "])
        .exits(2)
        .says(&["ends with blanks: 'shell '"]);
    job(&["begin", "own.db", "--table", "t", "--like", "a.csv"])
        .exits(2)
        .says(&["one writer", "Parquet"]);
    // That a job is to have no rows is said by the token of a file without any, not by none.
    let begun = job(&["begin", &url, "--table", "t", "--like", "a.csv", "--if-exists", "replace"]);
    server.write("none.json", &begun.exits(0).stdout).write("head.csv", "id,name\n");
    let none = ["publish", "none.json"];
    job(&none).exits(2).says(&["no token came", "inrush job abort JOB", "a file without any"]);
    assert_eq!(ids(server), [1, 2, 3]);
    server.write("none.token", &job(&["write", "none.json", "head.csv"]).exits(0).stdout);
    job(&[&none[..], &["none.token"]].concat()).exits(0).prints(&["\"rows_loaded\":0"]);
    assert_eq!(ids(server), Vec::<i64>::new());
    nothing_left(server);
}

/// A partition that several attempts write at the same time comes in once, and all of them have the token of the one that did.
pub(crate) fn one_partition_at_once<D: Database>(server: &Server<D>) {
    let url = server.url();
    let job = begin_as(&url, &own_name(), Guarantee::PerPartition).unwrap();
    let mut tokens = Vec::new();
    for partition in 0..size(2, 20) {
        let start = i64::from(partition) * 1000;
        let written = thread::scope(|scope| {
            let attempts: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| write_part(&job, start..start + 1000, partition).unwrap()))
                .collect();
            attempts.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(written.iter().filter(|token| !token.already_written).count(), 1);
        assert!(written.iter().all(|token| token.attempt == written[0].attempt));
        tokens.push(written[0].clone());
    }
    let rows = 1000 * tokens.len() as i64;
    assert_eq!(ids(server), (0..rows).collect::<Vec<_>>());
    let report = publish(&job, &tokens).unwrap();
    assert_eq!((report.rows_loaded, report.guarantee), (rows as u64, Guarantee::PerPartition));
    nothing_left(server);
}

/// Attempts that fill an empty table at the same time, without a guarantee: none takes the others' place.
pub(crate) fn straight_into_one_table<D: Database>(server: &Server<D>) {
    for _ in 0..size(1, 20) {
        drop_table(server, "t");
        let job = begin_as(&server.url(), &own_name(), Guarantee::None).unwrap();
        let tokens: Vec<Token> = thread::scope(|scope| {
            let job = &job;
            let attempt =
                move |number: i64| write(job, number * 1000..(number + 1) * 1000).unwrap();
            let attempts: Vec<_> =
                (0..4).map(|number| scope.spawn(move || attempt(number))).collect();
            attempts.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(ids(server), (0..4000).collect::<Vec<_>>());
        assert_eq!(publish(&job, &tokens).unwrap().rows_loaded, 4000);
    }
    nothing_left(server);
}

/// Partitions that set the same keys in another order are in each other's way, and all of them come in.
pub(crate) fn partitions_in_a_deadlock<D: Database>(server: &Server<D>) {
    server.query("CREATE TABLE t (id bigint PRIMARY KEY)");
    let load = LoadOptions {
        table: Some("t".to_owned()),
        if_exists: IfExists::Append,
        on_conflict: OnConflict::Update,
        key: vec!["id".to_owned()],
        ..LoadOptions::default()
    };
    let guarantee = Guarantee::PerPartition;
    let options = Options { id: Some(own_name()), guarantee, ..Options::default() };
    let schema = batch(0..0).schema();
    let job = job::begin(schema, &server.url(), &load, &options, &Unobserved).unwrap();
    let rows = size(2_000_i64, 10_000);
    let tokens: Vec<Token> = thread::scope(|scope| {
        let attempts: Vec<_> = (0..4_u32)
            .map(|partition| {
                scope.spawn({
                    let job = &job;
                    move || {
                        let rows: Int64Array = match partition % 2 {
                            0 => (0..rows).collect(),
                            _ => (0..rows).rev().collect(),
                        };
                        let rows =
                            RecordBatch::try_from_iter([("id", Arc::new(rows) as _)]).unwrap();
                        job::write(job, vec![rows], Some(partition), &Unobserved).unwrap()
                    }
                })
            })
            .collect();
        attempts.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    publish(&job, &tokens).unwrap();
    assert_eq!(ids(server), (0..rows).collect::<Vec<_>>());
    nothing_left(server);
}

/// Starts the command that writes partition 1 of the job in `job.json`.
fn writes<D: Database>(server: &Server<D>) -> Child {
    Command::new(INRUSH)
        .args(["job", "write", "job.json", "part.csv", "--partition", "1"])
        .current_dir(server.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A job of two partitions, the first of which is in the table, and which is elsewhere reached by `url`.
fn half_written<D: Database>(server: &Server<D>, url: &str) -> Job {
    drop_table(server, "t");
    let lines: Vec<String> = (10..20).map(|id| id.to_string()).collect();
    server.write("part.csv", format!("id\n{}\n", lines.join("\n")));
    let job = begin_as(&server.url(), &own_name(), Guarantee::PerPartition).unwrap();
    assert!(!write_part(&job, 0..10, 0).unwrap().already_written);
    let mut elsewhere = job.clone();
    url.clone_into(&mut elsewhere.url);
    server.write("job.json", elsewhere.to_string());
    job
}

/// Ends the job as after a crash, begins it again, and writes both partitions: each comes in once.
#[track_caller]
fn goes_on<D: Database>(server: &Server<D>, job: &Job, what: &str) {
    let began = Instant::now();
    let visible = loop {
        match job::recover(&server.url(), None, &job.id, &Unobserved) {
            Ok(job) => break job.visible.unwrap(),
            Err(error) if began.elapsed() > Duration::from_secs(30) => panic!("{what}: {error}"),
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    };
    let found = ids(server);
    assert!(found.len() == 10 || found.len() == 20, "{what}: {found:?}");
    assert_eq!((visible.partitions, visible.rows), (found.len() as u64 / 10, found.len() as u64));
    // A sweep keeps what is known of it.
    job::gc(&server.url(), None, Duration::ZERO, &Unobserved).unwrap();
    let again = begin_as(&server.url(), &job.id, Guarantee::PerPartition).unwrap();
    assert_eq!(again.visible, Some(visible), "{what}");
    let tokens: Vec<Token> = [0, 1]
        .map(|part| write_part(&again, part * 10..part * 10 + 10, part as u32).unwrap())
        .into();
    let written: Vec<bool> = tokens.iter().map(|token| token.already_written).collect();
    assert_eq!(written, [true, found.len() == 20], "{what}");
    let report = publish(&again, &tokens).unwrap();
    assert_eq!((report.rows_loaded, report.attempts), (20, 2), "{what}");
    assert_eq!(ids(server), (0..20).collect::<Vec<_>>(), "{what}");
    nothing_left(server);
}

/// Who writes a partition is killed, or loses its connections, before the server has heard a statement, or after; also at the commit.
pub(crate) fn killed_while_a_partition_comes_in<D: Database>(
    server: &Server<D>,
    address: &str,
    url_at: impl Fn(&str) -> String,
) {
    let proxy: Proxy<CutAt> = Proxy::start(address, CutAt::new(u64::MAX, false, true));
    let job = half_written(server, &url_at(&proxy.address));
    let done = writes(server).wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let all = proxy.pieces.load(Relaxed);
    drop(proxy);
    goes_on(server, &job, "whole");
    for (number, (piece, is_heard)) in moments(all).into_iter().enumerate() {
        let for_good = number % 2 == 0;
        let proxy: Proxy<CutAt> = Proxy::start(address, CutAt::new(piece, is_heard, for_good));
        let job = half_written(server, &url_at(&proxy.address));
        let mut child = writes(server);
        let what = format!("piece {piece} of {all}, heard: {is_heard}, for good: {for_good}");
        if for_good {
            while !proxy.was_cut.load(Relaxed) && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            let _ = child.kill();
            child.wait().unwrap();
        } else {
            let done = child.wait_with_output().unwrap();
            let rows = ids(server).len();
            assert!(!done.status.success() || rows == 20, "{what}: {rows} rows");
        }
        drop(proxy);
        goes_on(server, &job, &what);
    }
}

/// What a shell script sees of a job whose partitions come in by themselves.
pub(crate) fn partitions_by_command<D: Database>(server: &Server<D>) {
    let url = server.url();
    server.write("a.csv", "id,name\n1,a\n2,b\n");
    server.write("b.csv", "id,name\n3,c\n");
    let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
    let begins = |guarantee: &str, more: &[&str]| {
        let begin = ["begin", &url, "--table", "t", "--like", "a.csv", "--job-id", "parts"];
        job(&[&begin[..], &["--guarantee", guarantee, "--if-exists", "append"], more].concat())
    };
    let made = ["--primary-key", "id", "--index", "name"];
    // Also where the first one has come to nothing.
    server.write("job.json", &begins("per_partition", &made).exits(0).stdout);
    job(&["abort", "job.json"]).exits(0);
    server.write("job.json", &begins("per_partition", &made).exits(0).stdout);
    // The table is there, with its key, before a row is.
    assert!(server.tables().iter().any(|table| table == "t"));
    job(&["write", "job.json", "a.csv"])
        .exits(2)
        .says(&["these rows are of none", "--partition N"]);
    job(&["write", "job.json", "a.csv", "--partition", "0"]).exits(0);
    assert_eq!(ids(server), [1, 2]);
    let again = job(&["write", "job.json", "a.csv", "--partition", "0"]).exits(0);
    again.prints(&["\"already_written\":true"]).says(&["partition 0 is in the table already"]);
    let text = "1 partition with 2 rows stay in the table";
    let quiet = job(&["abort", "-q", "job.json"]).exits(0);
    assert_eq!(quiet.stderr, "");
    job(&["abort", "job.json"]).exits(0).says(&[text]);
    // It can't become a job that promises something else, of other rows, or with what it has written replaced.
    begins("atomic", &[]).exits(2).says(&["with --guarantee per_partition", "another name"]);
    begins("per_partition", &["--columns", "id"]).exits(2).says(&["its columns were id, name"]);
    let replaces = ["--guarantee", "none", "--if-exists", "replace"];
    job(&[&["begin", &url, "--table", "t", "--like", "a.csv"], &replaces[..]].concat())
        .exits(2)
        .says(&["can be seen before they are all there"]);
    begins("per_partition", &["--primary-key", "name"]).exits(2).says(&[
        "has made table t with --primary-key id --index name",
        "say what was said the first time",
    ]);
    let there = ["1 partition with 2 rows are in the table already"];
    server.write("job.json", begins("per_partition", &[]).exits(0).says(&there).stdout);
    job(&["abort", "job.json"]).exits(0);
    // What has begun it goes on with it.
    let begun = begins("per_partition", &made).exits(0).says(&there);
    server.write("job.json", &begun.stdout);
    for (file, partition) in [("a.csv", "0"), ("b.csv", "1")] {
        let token = job(&["write", "job.json", file, "--partition", partition]).exits(0);
        server.write(&format!("{file}.token"), &token.stdout);
    }
    job(&["publish", "job.json", "a.csv.token"])
        .exits(2)
        .says(&["partition 1 is in the table, and no token is of it", "--partition 1 answers"]);
    let published = job(&["publish", "job.json", "a.csv.token", "b.csv.token"]).exits(0);
    published.prints(&["\"guarantee\":\"per_partition\"", "\"rows_loaded\":3"]);
    begins("per_partition", &[]).exits(0).prints(&["\"committed\""]);
    assert_eq!(ids(server), [1, 2, 3]);

    // Without a guarantee rows are there as soon as they are written, as often as they are.
    server.write("key.csv", "id,name\n7,a\n");
    let begin = ["begin", &url, "--table", "u", "--like", "key.csv", "--guarantee", "none"];
    server.write("job.json", &job(&[&begin[..], &["--job-id", "none"]].concat()).exits(0).stdout);
    let token = job(&["write", "job.json", "key.csv"]).exits(0);
    server.write("token", &token.stdout);
    job(&["write", "job.json", "key.csv"]).exits(0);
    assert_eq!(server.query("SELECT id FROM u").len(), 2);
    let published = job(&["publish", "job.json", "token"]).exits(0);
    published.prints(&["\"guarantee\":\"none\"", "\"rows_loaded\":1"]);
    server.query("DROP TABLE u");
    nothing_left(server);
}

/// What is said when a job begins of how files are written and read holds for all that is written; a write may say otherwise.
pub(crate) fn options_of_files_travel<D: Database>(server: &Server<D>) {
    let url = server.url();
    server.write("a.csv", "id;v;w\n1;NA;x\n2;b;y\n").write("b.csv", "id,v,w\n3,c,z\n");
    let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
    let begin = ["begin", &url, "--table", "t", "--like", "a.csv", "--job-id", "reads"];
    let said = ["--delimiter", ";", "--null", "NA", "--drop", "w", "--rename", "v=name"];
    server.write("job.json", &job(&[&begin[..], &said].concat()).exits(0).stdout);
    let a = job(&["write", "job.json", "a.csv"]).exits(0);
    let b = job(&["write", "job.json", "b.csv", "--delimiter", ","]).exits(0);
    server.write("tokens", format!("{}\n{}\n", a.stdout.trim(), b.stdout.trim()));
    job(&["publish", "job.json", "tokens"]).exits(0);
    let mut rows = server.rows("t", &["id", "name"]);
    rows.sort();
    let row = |id: &str, name: Option<&str>| vec![Some(id.to_owned()), name.map(str::to_owned)];
    assert_eq!(rows, [row("1", None), row("2", Some("b")), row("3", Some("c"))]);
    nothing_left(server);
}

/// A job of `a.csv`, by the command; its text is in `job.json`.
#[track_caller]
fn begun<D: Database>(server: &Server<D>, like: &str, more: &[&str]) {
    let url = server.url();
    let begin = ["job", "begin", &url, "--table", "t", "--like", like, "--if-exists", "append"];
    server.write("job.json", &server.inrush(&[&begin[..], more].concat()).exits(0).stdout);
}

/// Publishes the job with the token that the command has printed for each of these.
#[track_caller]
fn published<D: Database>(server: &Server<D>, tokens: &[Outcome]) -> Outcome {
    let tokens: Vec<&str> = tokens.iter().map(|token| token.stdout.trim()).collect();
    server.write("tokens", tokens.join("\n"));
    server.inrush(&["job", "publish", "job.json", "tokens"])
}

/// The columns of the job are copied, all of them: an attempt that has others would lose values, or write what it does not have.
pub(crate) fn columns_are_those_of_the_job<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,a\n").write("more.csv", "id,name,z\n2,b,9\n");
    server.write("less.csv", "id\n3\n").write("other.csv", "id,z\n4,9\n");
    for guarantee in ["atomic", "per_partition", "none"] {
        drop_table(server, "t");
        server.query("CREATE TABLE t (id int PRIMARY KEY, name varchar(20) DEFAULT 'DEF', z int)");
        server.query("INSERT INTO t VALUES (3, 'kept', 5)");
        for answer in ["fail", "update"] {
            let more = ["--guarantee", guarantee, "--on-conflict", answer, "--key", "id"];
            begun(server, "a.csv", &more[..if answer == "fail" { 4 } else { 6 }]);
            let write = |file: &str, partition: &str, more: &[&str]| {
                let write = ["job", "write", "job.json", file, "--partition", partition];
                server.inrush(&[&write[..], more].concat())
            };
            // An attempt without a guarantee is a load into the table itself.
            if guarantee == "none" {
                write("more.csv", "0", &[]).exits(0);
                server.inrush(&["job", "abort", "job.json"]).exits(0);
                break;
            }
            if answer == "fail" {
                let (lax, null) = (["--new-columns", "ignore"], ["--missing-columns", "null"]);
                for (more, less) in [(&[][..], &[][..]), (&lax, &null)] {
                    write("more.csv", "0", more).exits(1).says(&["also have column z", "--drop z"]);
                    write("less.csv", "0", less)
                        .exits(1)
                        .says(&["lack column name", "--add name="]);
                }
                write("other.csv", "0", &[]).exits(1).says(&["also have column z"]);
            }
            let tokens = [
                write("more.csv", "0", &["--drop", "z"]).exits(0),
                write("less.csv", "1", &["--add", "name=x"])
                    .exits(if answer == "fail" && guarantee == "per_partition" { 1 } else { 0 }),
            ];
            if answer == "fail" {
                server.inrush(&["job", "abort", "job.json"]).exits(0);
                server.query("DELETE FROM t WHERE id = 2");
                continue;
            }
            published(server, &tokens).exits(0);
        }
        let mut rows = server.rows("t", &["id", "name", "z"]);
        rows.sort();
        let row = |id: &str, name: &str, z: Option<&str>| {
            vec![Some(id.to_owned()), Some(name.to_owned()), z.map(str::to_owned)]
        };
        let wanted = match guarantee {
            "none" => [row("2", "b", Some("9")), row("3", "kept", Some("5"))],
            _ => [row("2", "b", None), row("3", "x", Some("5"))],
        };
        assert_eq!(rows, wanted, "{guarantee}");
    }
    let url = server.url();
    server.write("new.csv", "id,fresh\n1,2\n");
    let begin =
        ["job", "begin", &url, "--table", "t", "--like", "new.csv", "--if-exists", "append"];
    let run = server.inrush(&[&begin[..], &["--new-columns", "add"]].concat());
    run.exits(2).says(&["no job adds columns", "fresh"]);
    forget_aborted(server);
    nothing_left(server);
}

/// A column that counts by itself, and which the job does not have, goes on counting by the table's own counter.
pub(crate) fn counters_are_the_tables<D: Database>(server: &Server<D>, id: &str) {
    server.write("a.csv", "name\na\nb\n").write("b.csv", "name\nc\nd\n");
    server.write("c.csv", "id,name\n9,e\n");
    for guarantee in ["atomic", "per_partition"] {
        drop_table(server, "t");
        server.query(&format!("CREATE TABLE t (id {id}, name varchar(20))"));
        server.query("INSERT INTO t (name) VALUES ('x'), ('y')");
        begun(server, "a.csv", &["--guarantee", guarantee]);
        let write = |file, partition| {
            server.inrush(&["job", "write", "job.json", file, "--partition", partition])
        };
        write("c.csv", "0").exits(1).says(&["also have column id"]);
        let tokens = [write("a.csv", "0").exits(0), write("b.csv", "1").exits(0)];
        published(server, &tokens).exits(0);
        let ids = ids(server);
        assert_eq!(ids.len(), 6);
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        server.query("INSERT INTO t (name) VALUES ('z')");
        assert_eq!(server.rows("t", &["id"]).len(), 7);
        begun(server, "c.csv", &["--guarantee", guarantee]);
        write("a.csv", "0").exits(1).says(&["lack column id"]);
        server.inrush(&["job", "abort", "job.json"]).exits(0);
    }
    nothing_left(server);
}

/// How others take rows out of a table: all of them, one, and the table itself; in SQL, and as MongoDB's command.
const LOSSES: [(&str, &str); 3] = [
    ("TRUNCATE TABLE t", "{\"delete\": \"t\", \"deletes\": [{\"q\": {}, \"limit\": 0}]}"),
    (
        "DELETE FROM t WHERE id = 1",
        "{\"delete\": \"t\", \"deletes\": [{\"q\": {\"id\": 1}, \"limit\": 0}]}",
    ),
    ("DROP TABLE t", "{\"drop\": \"t\"}"),
];

/// No job goes on behind partitions that are not in the table any more.
pub(crate) fn partitions_that_are_gone<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,a\n2,b\n").write("b.csv", "id,name\n3,c\n");
    for (number, (sql, command)) in LOSSES.into_iter().enumerate() {
        // Into a table that is empty, and into one that holds rows.
        for holds_rows in size(vec![number % 2 == 1], vec![false, true]) {
            drop_table(server, "t");
            server.load(&["b.csv", "--table", "t"]).exits(0);
            if !holds_rows {
                run(server, LOSSES[0].0, LOSSES[0].1);
            }
            let id = own_name();
            let more = ["--guarantee", "per_partition", "--job-id", &id];
            let write =
                || server.inrush(&["job", "write", "job.json", "a.csv", "--partition", "0"]);
            begun(server, "a.csv", &more);
            write().exits(0);
            server.inrush(&["job", "abort", "job.json"]).exits(0);
            run(server, sql, command);
            if sql.starts_with("DROP") {
                // Another table of the name.
                server.load(&["b.csv", "--table", "t"]).exits(0);
            }
            let url = server.url();
            let begin = ["job", "begin", &url, "--table", "t", "--like", "a.csv"];
            let begin = [&begin[..], &["--if-exists", "append"], &more[..]].concat();
            let refused = server.inrush(&begin).exits(1);
            refused.says(&["1 partition with 2 rows", "another name", "--verify none"]);
            let goes_on = server.inrush(&[&begin[..], &["--verify", "none"]].concat()).exits(0);
            server.write("job.json", &goes_on.stdout);
            write().exits(0).prints(&["\"already_written\":true"]);
            server.inrush(&["job", "abort", "job.json"]).exits(0);
            forget_aborted(server);
        }
    }
    nothing_left(server);
}

/// No job says that rows are in which are not in the table any more, and no partition is added to what has lost others.
pub(crate) fn rows_that_are_gone<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,a\n2,b\n").write("b.csv", "id,name\n3,c\n");
    let url = server.url();
    for guarantee in ["per_partition", "none"] {
        for (number, (sql, command)) in LOSSES.into_iter().enumerate() {
            let holds_rows = (number % 2 == 0) == (guarantee == "none");
            for holds_rows in size(vec![holds_rows], vec![false, true]) {
                let what = format!("{guarantee}, {sql}, holds rows: {holds_rows}");
                drop_table(server, "t");
                if holds_rows {
                    server.load(&["b.csv", "--table", "t"]).exits(0);
                }
                let id = own_name();
                let more = ["--guarantee", guarantee, "--job-id", &id];
                begun(server, "a.csv", &more);
                let write = |file, partition| {
                    server.inrush(&["job", "write", "job.json", file, "--partition", partition])
                };
                let token = write("a.csv", "0").exits(0);
                run(server, sql, command);
                // A table that is gone, or empty, is seen before anything is written.
                if sql.starts_with("DROP") {
                    write("b.csv", "1").exits(1).says(&["which", "is gone", "another name"]);
                } else if sql.starts_with("TRUNCATE") && guarantee == "per_partition" {
                    for (file, partition) in [("b.csv", "1"), ("a.csv", "0")] {
                        let refused = write(file, partition).exits(1);
                        refused.says(&["1 partition with 2 rows", "holds 0 rows now"]);
                    }
                }
                let refused = published(server, std::slice::from_ref(&token)).exits(1);
                let refused = refused.says(&["2 rows of job", "another name"]);
                assert!(refused.stdout.is_empty(), "{what}");
                if !sql.starts_with("DROP") {
                    refused.says(&["the table holds", "--verify none"]);
                }
                // It can be published as soon as they are there again.
                server.inrush(&["job", "list", &url]).exits(0).prints(&["open", &id]);
                if sql.starts_with("DELETE") {
                    run(
                        server,
                        "INSERT INTO t (id, name) VALUES (1, 'a')",
                        "{\"insert\": \"t\", \"documents\": [{\"id\": 1}]}",
                    );
                    published(server, std::slice::from_ref(&token)).exits(0);
                    continue;
                }
                server.inrush(&["job", "abort", "job.json"]).exits(0);
                if sql.starts_with("TRUNCATE") && guarantee == "per_partition" {
                    begun(server, "a.csv", &[&more[..], &["--verify", "none"]].concat());
                    let token = write("a.csv", "0").exits(0);
                    published(server, &[token]).exits(0).prints(&["\"rows_loaded\":2"]);
                }
                forget_aborted(server);
            }
        }
    }
    drop_table(server, "t");
    nothing_left(server);
}

/// What a load advises is said as the step can follow it.
pub(crate) fn advice_that_steps_can_follow<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,a\n").write("bad.csv", "id,name\nx,a\n");
    server.write("more.csv", "id,name,z\n2,b,9\n");
    let url = server.url();
    begun(server, "a.csv", &[]);
    let write =
        |file, more: &[&str]| server.inrush(&[&["job", "write", "job.json", file], more].concat());
    write("bad.csv", &["--header", "yes"])
        .exits(1)
        .says(&["--max-rejects N (or N%): an option of inrush job begin"]);
    let refused = write("more.csv", &[]).exits(1);
    let refused =
        refused.says(&["--drop NAME or --new-columns ignore", "begin a job for all columns"]);
    for other in ["--new-columns add", "--table"] {
        assert!(!refused.stderr.contains(other), "{}", refused.stderr);
    }
    // The table is beside the attempt's, under its own name.
    write("a.csv", &[]).exits(0);
    server.inrush(&["job", "abort", "job.json"]).exits(0);

    server.load(&["a.csv", "--table", "t"]).exits(0);
    let begin = ["job", "begin", &url, "--table", "t", "--like"];
    let begin = |like, more: &[&str]| server.inrush(&[&begin[..], &[like], more].concat());
    let early = ["--guarantee", "per_partition"];
    for (more, replaces) in [(&[][..], true), (&early[..], false)] {
        let refused = begin("a.csv", more).exits(1).says(&["holds rows", "--if-exists append"]);
        assert!(!refused.stderr.contains("--if-exists truncate"), "{}", refused.stderr);
        assert_eq!(refused.stderr.contains("--if-exists replace"), replaces, "{}", refused.stderr);
    }
    let refused = begin("more.csv", &["--if-exists", "append"]).exits(1);
    let refused = refused.says(&["--new-columns ignore", "another --table"]);
    assert!(!refused.stderr.contains("--new-columns add"), "{}", refused.stderr);

    // Attempts that write into the table itself don't change it either.
    begun(server, "a.csv", &["--guarantee", "none"]);
    write("more.csv", &["--new-columns", "add"]).exits(2).says(&["settled when the job begins"]);
    server.inrush(&["job", "abort", "job.json"]).exits(0);
    drop_table(server, "t");
    nothing_left(server);
}

/// Two attempts at rows of one key say what decides, by the name of the table.
pub(crate) fn attempts_with_one_key<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,a\n");
    begun(server, "a.csv", &["--primary-key", "id", "--attempts", "2"]);
    let write = || server.inrush(&["job", "write", "job.json", "a.csv"]).exits(0);
    let tokens = [write(), write()];
    published(server, &tokens[..1])
        .exits(2)
        .says(&["was begun for 2 attempts, and 1 token came", "the tokens of all parts"]);
    let refused = published(server, &tokens).exits(1);
    let refused = refused.says(&["uplicate", "--on-conflict skip or update decides"]);
    assert!(!refused.stderr.contains("inrush_job_"), "{}", refused.stderr);
    server.inrush(&["job", "abort", "job.json"]).exits(0);
    nothing_left(server);
}

/// A share of bad rows is one of all rows of the job, however they are spread.
pub(crate) fn shares_of_bad_rows<D: Database>(server: &Server<D>) {
    let good: Vec<String> = (1..=18).map(|id| id.to_string()).collect();
    server.write("a.csv", "id\nx\n0\n").write("b.csv", format!("id\n{}\n", good.join("\n")));
    let url = server.url();
    for share in ["5%", "4.9%"] {
        drop_table(server, "t");
        let begin =
            ["job", "begin", &url, "--table", "t", "--like", "b.csv", "--max-rejects", share];
        server.write("job.json", &server.inrush(&begin).exits(0).stdout);
        let tokens = [
            server.inrush(&["job", "write", "job.json", "a.csv", "--header", "yes"]).exits(3),
            server.inrush(&["job", "write", "job.json", "b.csv"]).exits(0),
        ];
        let run = published(server, &tokens);
        if share == "5%" {
            run.exits(3).prints(&["\"rows_loaded\":19", "\"rows_rejected\":1"]);
        } else {
            run.exits(1).says(&["1 row of 20", "is bad, and 4.9%"]);
            server.inrush(&["job", "abort", "job.json"]).exits(0);
        }
    }
    nothing_left(server);
}

/// Who still writes when the job is over hears that, and not that tables are gone.
pub(crate) fn late_writers<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id\n1\n");
    begun(server, "a.csv", &[]);
    let mut writes = Command::new(INRUSH)
        .args(["job", "write", "job.json", "-"])
        .current_dir(server.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let attempts = || server.tables().iter().filter(|name| name.starts_with("inrush_job_")).count();
    wait_until("an attempt has its table", || attempts() == 2);
    server.inrush(&["job", "abort", "job.json"]).exits(0);
    writes.stdin.take().unwrap().write_all(b"id\n2\n").unwrap();
    let done = writes.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("is aborted: it takes no more rows"), "{said}");
    nothing_left(server);
}

/// What keeps a job from being published says what to do about it.
pub(crate) fn refusals_that_say_what_to_do<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id\n1\n").write("b.csv", "id\n2\n");
    let url = server.url();
    let begin = |more: &[&str]| {
        let begin = ["job", "begin", &url, "--table", "t", "--like", "a.csv"];
        server.inrush(&[&begin[..], more].concat()).exits(0).stdout
    };
    let write = |job: &str, file: &str, more: &[&str]| {
        server.inrush(&[&["job", "write", job, file], more].concat())
    };
    // An attempt is killed between its commit and its token.
    server.write("job.json", begin(&[]));
    let first = write("job.json", "a.csv", &["--partition", "0"]).exits(0);
    write("job.json", "b.csv", &["--partition", "1"]).exits(0);
    published(server, std::slice::from_ref(&first)).exits(2).says(&[
        "rows of partition 1 were written",
        "--partition 1",
        "inrush job abort JOB",
    ]);
    let again = write("job.json", "b.csv", &["--partition", "1"]).exits(0);

    // Of two jobs that make one table the second hears that it is there.
    server.write("other.json", begin(&[]));
    server.write("token", write("other.json", "a.csv", &[]).exits(0).stdout);
    let publish = |job: &str| server.inrush(&["job", "publish", job, "token"]);
    publish("job.json").exits(2).says(&["was given to job", "printed for this job"]);
    published(server, &[first, again]).exits(0).prints(&["\"rows_loaded\":2"]);
    publish("other.json").exits(1).says(&["table t has changed since", "begin another one"]);
    server.inrush(&["job", "abort", "other.json"]).exits(0);
    drop_table(server, "t");

    // What is in the table by attempts that ended comes twice.
    for (guarantee, twice) in [("atomic", false), ("none", true)] {
        server.write("job.json", begin(&["--guarantee", guarantee]));
        write("job.json", "a.csv", &[]).exits(0);
        server.inrush(&["job", "abort", "job.json"]).exits(0);
        let refused = write("job.json", "a.csv", &[]).exits(1).says(&["begin it again"]);
        assert_eq!(refused.stderr.contains("would be there twice"), twice, "{}", refused.stderr);
        drop_table(server, "t");
    }

    // Nothing is known of jobs without their table.
    server.write("job.json", begin(&[]));
    drop_table(server, job::LEDGER);
    for step in [&["write", "job.json", "a.csv"][..], &["publish", "job.json", "token"]] {
        let refused = server.inrush(&[&["job"], step].concat()).exits(1);
        refused.says(&["again, and write its rows again"]);
    }
    begin(&[]);
    nothing_left(server);
}

/// Starts the command that writes rows of standard input for the job in `job.json`, which waits for more than these.
fn writes_more<D: Database>(server: &Server<D>, header: &str, rows: &str) -> Child {
    let mut writes = Command::new(INRUSH)
        .args(["job", "write", "job.json", "-"])
        .current_dir(server.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writes.stdin.as_mut().unwrap().write_all(format!("{header}\n{rows}").as_bytes()).unwrap();
    writes
}

/// An attempt whose rows go straight into the table commits none of them once the job is over, whatever its transaction sees; that others
/// at work note so is no reason not to.
pub(crate) fn late_rows<D: Database>(server: &Server<D>) {
    // Wide rows: a load looks at the first megabyte before it begins.
    let pad = "x".repeat(200);
    let rows: String = (2..7_000).map(|id| format!("{pad},{id}\n")).collect();
    server.write("a.csv", format!("pad,id\n{pad},1\n"));
    for end in ["", "abort", "publish"] {
        drop_table(server, "t");
        begun(server, "a.csv", &["--guarantee", "none"]);
        let token = server.inrush(&["job", "write", "job.json", "a.csv"]).exits(0);
        let mut writes = writes_more(server, "pad,id", &rows);
        wait_until_it_waits(&writes);
        let ledger = job::LEDGER;
        run(
            server,
            &format!("UPDATE {ledger} SET heartbeat = heartbeat + 1"),
            &format!(
                "{{\"update\": \"{ledger}\", \"updates\": [{{\"q\": {{}}, \"u\": {{\"$inc\": {{\"heartbeat\": 1}}}}, \"multi\": true}}]}}"
            ),
        );
        match end {
            "abort" => drop(server.inrush(&["job", "abort", "job.json"]).exits(0)),
            "publish" => drop(published(server, std::slice::from_ref(&token)).exits(0)),
            _ => {}
        }
        writes.stdin.take().unwrap().write_all(b",7000\n").unwrap();
        let done = writes.wait_with_output().unwrap();
        let done = Outcome::of(end.to_owned(), (done.status, done.stdout, done.stderr));
        if end.is_empty() {
            done.exits(0);
            assert_eq!(ids(server).len(), 7_000);
            server.inrush(&["job", "abort", "job.json"]).exits(0);
            continue;
        }
        let state = if end == "abort" { "aborted" } else { "committed" };
        let over = done.exits(1).says(&[&format!("is {state}: it takes no more rows")]);
        match has_transactions::<D>() {
            true => assert_eq!(ids(server), [1], "{end}"),
            false => drop(over.says(&["6,999 rows", "stay"])),
        }
    }
    drop_table(server, "t");
    nothing_left(server);
}

/// Who ends a job waits for an attempt that has found it open and is about to commit: `hold` does what such a one does.
pub(crate) fn ends_wait_for_commits<D: Database>(server: &Server<D>, hold: &str) {
    server.write("a.csv", "id\n1\n");
    for end in ["abort", "publish"] {
        drop_table(server, "t");
        begun(server, "a.csv", &["--guarantee", "none"]);
        let token = server.inrush(&["job", "write", "job.json", "a.csv"]).exits(0);
        server.write("tokens", &token.stdout);
        server.query("BEGIN");
        server.query(&format!("SELECT id FROM {} {hold}", job::LEDGER));
        let tokens: &[&str] = if end == "publish" { &["tokens"] } else { &[] };
        let mut ends = Command::new(INRUSH)
            .args([&["job", end, "job.json"], tokens].concat())
            .current_dir(server.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until_it_waits(&ends);
        assert!(ends.try_wait().unwrap().is_none(), "{end}");
        server.query("COMMIT");
        let done = ends.wait_with_output().unwrap();
        assert!(done.status.success(), "{end}: {}", String::from_utf8_lossy(&done.stderr));
    }
    drop_table(server, "t");
    nothing_left(server);
}

/// A process that ends well while recovering waits for it has written for a job that goes on.
pub(crate) fn recovered_while_written<D: Database>(server: &Server<D>) {
    let url = server.url();
    server.write("a.csv", "id\n1\n");
    begun(server, "a.csv", &["--job-id", "living"]);
    let mut writes = writes_more(server, "id", "2\n3\n");
    // An attempt has its table once it has its lock and has noted that it is at work.
    let attempts = || server.tables().iter().filter(|name| name.starts_with("inrush_job_")).count();
    wait_until("an attempt has its table", || attempts() == 2);
    let recovers = Command::new(INRUSH)
        .args(["job", "recover", &url, "living"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What is noted is noted by the second.
    thread::sleep(Duration::from_millis(1500));
    drop(writes.stdin.take());
    let written = writes.wait_with_output().unwrap();
    let written = Outcome::of("write".to_owned(), (written.status, written.stdout, written.stderr));
    let refused = recovers.wait_with_output().unwrap();
    Outcome::of("recover".to_owned(), (refused.status, refused.stdout, refused.stderr))
        .exits(1)
        .says(&["a process still writes for job living, or has until now", "inrush job abort"]);
    published(server, &[written.exits(0)]).exits(0).prints(&["\"rows_loaded\":2"]);
    nothing_left(server);
}

/// A sweep says of each job how it has ended, and what is in the table of it.
pub(crate) fn ends_of_a_sweep<D: Database>(server: &Server<D>) {
    let url = server.url();
    let guarantees =
        [Guarantee::Atomic, Guarantee::Atomic, Guarantee::PerPartition, Guarantee::None];
    let wanted = [
        (State::Committed, Some(10)),
        (State::Aborted, Some(0)),
        (State::Aborted, Some(10)),
        (State::Aborted, None),
    ];
    for (number, (guarantee, wanted)) in guarantees.into_iter().zip(wanted).enumerate() {
        drop_table(server, "t");
        let begun = begin_as(&url, &own_name(), guarantee).unwrap();
        let token = write_part(&begun, 0..10, 0).unwrap();
        if number == 0 {
            let kept = serde_json::to_string(&[token]).unwrap();
            begins_to_publish(server, &kept);
        }
        // The server takes a moment to notice that the attempt's lock is free.
        let began = Instant::now();
        let collected = loop {
            let collected = job::gc(&url, None, Duration::ZERO, &Unobserved).unwrap();
            if !collected.jobs.is_empty() || began.elapsed() > Duration::from_secs(30) {
                break collected;
            }
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(collected.jobs, std::slice::from_ref(&begun.id));
        let [ended] = collected.ended.as_slice() else { panic!("{collected:?}") };
        assert_eq!((&ended.id, ended.table.as_str()), (&begun.id, "t"));
        assert_eq!((ended.state, ended.rows), wanted, "{guarantee}");
    }
    drop_table(server, "t");
    forget_aborted(server);
    nothing_left(server);
}

/// The open job is being published with these tokens, by a process that is gone.
fn begins_to_publish<D: Database>(server: &Server<D>, tokens: &str) {
    let ledger = job::LEDGER;
    run(
        server,
        &format!(
            "UPDATE {ledger} SET state = 'publishing', tokens = '{tokens}' WHERE state = 'open'"
        ),
        &format!(
            "{{\"update\": \"{ledger}\", \"updates\": [{{\"q\": {{\"state\": \"open\"}}, \"u\": {{\"$set\": \
             {{\"state\": \"publishing\", \"tokens\": {}}}}}}}]}}",
            serde_json::Value::from(tokens)
        ),
    );
}

/// Of two jobs for one empty table, which are published while another client holds it, one has its rows in there.
pub(crate) fn two_into_one_empty_table<D: Database>(
    server: &Server<D>,
    hold: &[&str],
    release: &str,
) {
    server.query("CREATE TABLE t (id bigint)");
    for job in ["a", "b"] {
        let begun = begin(&server.url(), &own_name(), IfExists::Empty).unwrap();
        let start = if job == "a" { 0 } else { 1000 };
        let token = write(&begun, start..start + 1000).unwrap();
        server.write(&format!("{job}.json"), begun.to_string());
        server.write(&format!("{job}.token"), token.to_string());
    }
    hold.iter().for_each(|sql| drop(server.query(sql)));
    let publishing = ["a", "b"].map(|job| {
        let (job, token) = (format!("{job}.json"), format!("{job}.token"));
        let child = Command::new(INRUSH)
            .args(["job", "publish", &job, &token])
            .current_dir(server.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until_it_waits(&child);
        child
    });
    server.query(release);
    let ends = publishing.map(|child| child.wait_with_output().unwrap());
    let ends = ends.map(|output| {
        Outcome::of("one of two jobs".to_owned(), (output.status, output.stdout, output.stderr))
    });
    let (good, bad): (Vec<_>, Vec<_>) = ends.into_iter().partition(|run| run.status.success());
    assert_eq!((good.len(), bad.len()), (1, 1), "{good:?} {bad:?}");
    bad.into_iter().for_each(|run| drop(run.exits(1).says(&["now holds rows", "append"])));
    assert_eq!(ids(server).len(), 1000);
    nothing_left(server);
}

/// A table that was to be empty holds the job's own rows once a partition is in; rows of others stop the first one.
pub(crate) fn partitions_into_an_empty_table<D: Database>(server: &Server<D>) {
    let make = "{\"create\": \"t\"}";
    let add = "{\"insert\": \"t\", \"documents\": [{\"id\": -1}]}";
    let begin = |name: &str| {
        let load = LoadOptions { table: Some("t".to_owned()), ..LoadOptions::default() };
        let guarantee = Guarantee::PerPartition;
        let options = Options { id: Some(name.to_owned()), guarantee, ..Options::default() };
        job::begin(batch(0..0).schema(), &server.url(), &load, &options, &Unobserved).unwrap()
    };
    run(server, "CREATE TABLE t (id bigint)", make);
    let name = own_name();
    let begun = begin(&name);
    write_part(&begun, 0..10, 0).unwrap();
    job::abort(&begun, &Unobserved).unwrap();
    let begun = begin(&name);
    let tokens = [0, 1, 2].map(|part| {
        let start = 10 * i64::from(part);
        write_part(&begun, start..start + 10, part).unwrap()
    });
    assert_eq!(tokens.each_ref().map(|token| token.already_written), [true, false, false]);
    assert_eq!(publish(&begun, &tokens).unwrap().rows_loaded, 30);
    assert_eq!(ids(server), (0..30).collect::<Vec<_>>());
    // Where rows are no transaction, only a beginning sees whose they are.
    if has_transactions::<D>() {
        server.query("DELETE FROM t");
        let begun = begin(&own_name());
        run(server, "INSERT INTO t VALUES (-1)", add);
        let refused = write_part(&begun, 0..10, 0).unwrap_err();
        assert!(refused.what().contains("now holds rows"), "{refused}");
        assert_eq!(ids(server), [-1]);
        job::abort(&begun, &Unobserved).unwrap();
    }
    forget_aborted(server);
    nothing_left(server);
}

/// What the ledger has no room for is in the tokens: a job with many bad rows is published, and its report is the same each time.
pub(crate) fn many_bad_rows<D: Database>(server: &Server<D>) {
    let bad = |from: u32| (from..from + 20).map(|row| format!("{row:x<30000}")).collect();
    let write = |name: &str, rows: Vec<String>| {
        let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
        server.write(name, format!("id\n1\n{rows}"));
    };
    let is_short = |warning: &String| warning.contains("of 40 bad rows are listed");
    write("a.csv", Vec::new());
    write("b.csv", bad(0));
    write("c.csv", bad(20));
    for guarantee in ["atomic", "per_partition"] {
        drop_table(server, "t");
        let more = ["--max-rejects", "all", "--guarantee", guarantee, "--quote", "none"];
        begun(server, "a.csv", &more);
        let tokens = [("b.csv", "0"), ("c.csv", "1")].map(|(file, partition)| {
            server.inrush(&["job", "write", "job.json", file, "--partition", partition]).exits(3)
        });
        for _ in 0..2 {
            let run = published(server, &tokens).exits(3);
            let report: Published = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!((report.rows_rejected, report.rejected.len()), (40, 40), "{guarantee}");
            assert!(!report.warnings.iter().any(is_short), "{:?}", report.warnings);
        }
        let run = server.inrush(&["job", "publish", "job.json"]).exits(3);
        let report: Published = serde_json::from_str(&run.stdout).unwrap();
        assert!((1..40).contains(&report.rejected.len()) && report.rows_rejected == 40);
        assert!(report.warnings.iter().any(is_short), "{:?}", report.warnings);
    }
    nothing_left(server);
}

/// Of rows with one key the last partition's stays, in whatever order its token is given.
pub(crate) fn the_last_partition_decides<D: Database>(server: &Server<D>) {
    server.write("a.csv", "id,name\n1,first\n").write("b.csv", "id,name\n1,last\n");
    server.query("CREATE TABLE t (id bigint PRIMARY KEY, name varchar(20))");
    begun(server, "a.csv", &["--on-conflict", "update"]);
    let write = |file: &str, partition: &str| {
        server.inrush(&["job", "write", "job.json", file, "--partition", partition]).exits(0)
    };
    let (first, last) = (write("a.csv", "0"), write("b.csv", "1"));
    published(server, &[last, first]).exits(0);
    assert_eq!(server.rows("t", &["name"]), [[Some("last".to_owned())]]);
    nothing_left(server);
}

/// A job whose publishing was cut off has published nothing, and what is said of other tokens is no more than that.
pub(crate) fn other_tokens_than_were_published_with<D: Database>(server: &Server<D>) {
    let begun = begin(&server.url(), &own_name(), IfExists::Append).unwrap();
    let tokens = [write(&begun, 0..10).unwrap(), write(&begun, 10..20).unwrap()];
    begins_to_publish(server, &serde_json::to_string(&tokens[..1]).unwrap());
    let refused = publish(&begun, &tokens).unwrap_err();
    assert!(refused.what().contains("is being published, without the token"), "{refused}");
    assert!(!refused.to_string().contains("are not in"), "{refused}");
    assert_eq!(publish(&begun, &tokens[..1]).unwrap().rows_loaded, 10);
    assert_eq!(ids(server), (0..10).collect::<Vec<_>>());
    nothing_left(server);
}

/// The types that a job was begun with hold for each attempt: for files, and for their parts.
#[track_caller]
pub(crate) fn types_of_begin<D: Database>(
    server: &Server<D>,
    table: &str,
    types: &[&str],
    (good, bad): (&str, &str),
) {
    let names: Vec<&str> = types.iter().filter_map(|ty| Some(ty.split_once('=')?.0)).collect();
    let header = names.join(",");
    server.query(&format!("CREATE TABLE t ({table})"));
    server.write("good.csv", format!("{header}\n{good}\n"));
    server.write("bad.csv", format!("{header}\n{bad}\n"));
    let said: Vec<&str> = types.iter().flat_map(|ty| ["--type", ty]).collect();
    server.refuses(&[&["bad.csv", "--table", "t"][..], &said].concat());
    begun(server, "good.csv", &said);
    let write = |file| server.inrush(&["job", "write", "job.json", file]);
    write("bad.csv").exits(1);
    published(server, &[write("good.csv").exits(0)]).exits(0);
    let by_file = server.rows("t", &names);
    server.query("DELETE FROM t");

    let parts = |file: &str| {
        let types = types.iter().filter_map(|ty| ty.split_once('='));
        let types = types.map(|(name, ty)| (name.to_owned(), ty.parse().unwrap())).collect();
        let load = LoadOptions {
            table: Some("t".to_owned()),
            if_exists: IfExists::Append,
            types,
            ..LoadOptions::default()
        };
        let sources = vec![server.path(file).to_str().unwrap().to_owned()];
        let request =
            Request { sources, target: server.url(), options: load, ..Request::default() };
        let options = Options { id: Some(own_name()), ..Options::default() };
        job::begin_split(&request, Parts::Count(1), &options, &Unobserved).unwrap()
    };
    let (job, split) = parts("bad.csv");
    assert!(job::write_split(&job, &split[0], None, &Unobserved).is_err());
    job::abort(&job, &Unobserved).unwrap();
    let (job, split) = parts("good.csv");
    let token = job::write_split(&job, &split[0], None, &Unobserved).unwrap();
    publish(&job, &[token]).unwrap();
    assert_eq!(server.rows("t", &names), by_file);
    nothing_left(server);
}
