//! A worker: a process that does what a cell is about, and measures it. The bench starts as many as write at the same time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::batches::batches;
use crate::clock::clock_ns;
use crate::generate::Generator;
use crate::ground;
use crate::latency::Histogram;
use crate::meter::{self, Meter, Spent};
use crate::mix;
use crate::sums::RowSums;
use crate::task::{
    Answer, Cause, CommandTask, Failed, Generated, Hello, LoadTask, Order, Outcome, RowsTask,
    SqlTask, Task,
};
use inrush::plan::{DialectRequest, Format, IfExists};
use inrush::target::{Console, Location, Target};
use inrush::{LoadOptions, Observer, Plan, Report, Request, Writer, rehearse, run};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::wording::counted;

/// Nobody waits longer to know how far a server is.
const PING_MAX: Duration = Duration::from_secs(2);

/// Set when the bench is gone, or wants us to stop.
static STOP: AtomicBool = AtomicBool::new(false);

/// Does what comes on standard input until it ends. For the command line's hidden command of this name.
///
/// # Errors
/// When the bench does not speak our language.
pub fn work() -> Result<()> {
    let orders = orders();
    let first = orders.recv().ok().and_then(|line| serde_json::from_str(&line).ok());
    let hello = match first {
        Some(Order::Hello(hello)) => hello,
        Some(Order::Keep(folder)) => {
            ground::keep(&folder, || {
                tell(&Answer::Ready);
                let mut left = Vec::new();
                // At their end the bench is gone.
                while let Ok(line) = orders.recv() {
                    match serde_json::from_str(&line) {
                        Ok(Order::Drop(database)) => left.push(database),
                        Ok(Order::Dropped(database)) => left.retain(|known| *known != database),
                        _ => {}
                    }
                }
                left
            });
            return Ok(());
        }
        _ => return Err(no_bench()),
    };
    let mut worker = Worker::new(hello)?;
    while let Ok(line) = orders.recv() {
        match serde_json::from_str(&line) {
            Ok(Order::Task(task)) => {
                let outcome = worker.task(&task, &orders);
                tell(&Answer::Done(Box::new(outcome)));
            }
            // A task that failed before it was ready was told to go all the same.
            Ok(Order::Go) => {}
            _ => return Err(no_bench()),
        }
    }
    Ok(())
}

fn no_bench() -> Error {
    Error::usage("this command is for 'inrush bench', which starts it")
}

/// Lines of standard input. Its end is the end of whatever is going on: nobody would hear of it.
fn orders() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        STOP.store(true, Relaxed);
    });
    receiver
}

fn tell(answer: &Answer) {
    let mut line = serde_json::to_string(answer).unwrap_or_default();
    line.push('\n');
    // The end of our input tells us that nobody listens.
    let _ = io::stdout().lock().write_all(line.as_bytes());
}

/// Tells now and then how far a phase is.
#[derive(Default)]
pub(super) struct Pace {
    told_ns: AtomicU64,
}

impl Pace {
    const EVERY_NS: u64 = 200_000_000;

    pub(super) fn tell(&self, done: u64) {
        let now = clock_ns();
        if now.saturating_sub(self.told_ns.load(Relaxed)) >= Self::EVERY_NS {
            self.told_ns.store(now, Relaxed);
            tell(&Answer::Progress { at_ns: now, done });
        }
    }
}

/// The moment at which all workers begin.
struct Start<'a> {
    orders: &'a Receiver<String>,
    /// A program of the bench that runs before it.
    program: Option<u32>,
    /// What we had used until then; `None` before it.
    before: Option<Before>,
}

impl Start<'_> {
    /// Says that everything is prepared, waits for the word, and gives the moment of it.
    fn wait(&mut self) -> Result<u64> {
        self.before = Some(Before::now(self.program));
        tell(&Answer::Ready);
        match self.orders.recv().ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(Order::Go) => Ok(clock_ns()),
            _ => Err(Error::interrupted()),
        }
    }
}

/// What this process and the programs it ran had used at a moment.
struct Before {
    own: Option<Spent>,
    children: Option<Spent>,
    /// CPU time of a child that had not ended.
    waiting_us: u64,
    tree: Meter,
}

impl Before {
    fn now(program: Option<u32>) -> Self {
        // Looking at all processes takes some milliseconds of ours, which are nobody's business.
        let tree = Meter::of(&[std::process::id()]);
        let waiting_us = program.and_then(|program| Meter::of(&[program]).cpu_us()).unwrap_or(0);
        Self { tree, waiting_us, children: meter::ended_children().ok(), own: meter::own().ok() }
    }

    fn spent_until_now(&self, outcome: &mut Outcome) {
        let (own, children) = (meter::own().ok(), meter::ended_children().ok());
        let tree = Meter::of(&[std::process::id()]);
        let cpu = |then: &Option<Spent>, now: &Option<Spent>| match (then, now) {
            (Some(then), Some(now)) => now.cpu_us.saturating_sub(then.cpu_us),
            _ => 0,
        };
        let of_children = cpu(&self.children, &children).saturating_sub(self.waiting_us);
        outcome.cpu_us = cpu(&self.own, &own) + of_children;
        let peak = |spent: &Option<Spent>| spent.as_ref().map_or(0, |spent| spent.peak_bytes);
        outcome.peak_bytes = peak(&own).max(peak(&children));
        outcome.write_bytes = tree.since(&self.tree).write_bytes.unwrap_or(0);
    }
}

/// Where a worker's database is, and how to get there.
pub(super) struct Access {
    place: Option<(&'static dyn Target, Location)>,
    connect: Vec<String>,
}

impl Access {
    /// A connection as the suite wants it.
    pub(super) fn open(&self) -> Result<Box<dyn Console>> {
        let Some((target, location)) = &self.place else {
            return Err(Error::usage("this target has no database"));
        };
        let mut console = target.console(location, &STOP)?;
        for statement in &self.connect {
            console.execute(statement)?;
        }
        Ok(console)
    }
}

struct Worker {
    hello: Hello,
    access: Access,
    /// The connection that lives as long as the sample; a database in memory lives as long as that.
    console: Option<Box<dyn Console>>,
    tasks: u64,
}

impl Worker {
    fn new(hello: Hello) -> Result<Self> {
        let place = match hello.url.as_str() {
            "" => None,
            url => Some(inrush::target::find(url)?),
        };
        let access = Access { place, connect: hello.connect.clone() };
        Ok(Self { hello, access, console: None, tasks: 0 })
    }

    fn task(&mut self, task: &Task, orders: &Receiver<String>) -> Outcome {
        self.tasks += 1;
        let mut start = Start { orders, program: None, before: None };
        let mut outcome = Outcome::default();
        if matches!(task, Task::Load(_) | Task::Ceiling(_) | Task::Command(_)) {
            self.leave_file();
        }
        let done = match task {
            Task::Load(load) => self.load(load, &mut start, &mut outcome),
            Task::Ceiling(load) => self.ceiling(load, &mut start, &mut outcome),
            Task::Sql(sql) => self.sql(sql, &mut start, &mut outcome),
            Task::Mix(task) => self.mix(task, &mut start, &mut outcome),
            Task::Rows(rows) => self.rows(rows, &mut start, &mut outcome),
            Task::Command(command) => Self::command(command, &mut start, &mut outcome),
            Task::Settings => self.settings(&mut start, &mut outcome),
            Task::Ping(times) => self.ping(*times, &mut start, &mut outcome),
        };
        outcome.ack_ns = if outcome.ack_ns == 0 { clock_ns() } else { outcome.ack_ns };
        if let Some(before) = start.before {
            before.spent_until_now(&mut outcome);
        }
        if let Err(error) = done {
            outcome.failure = Some(failed(&error));
        }
        outcome
    }

    fn console(&mut self) -> Result<&mut dyn Console> {
        let console = match self.console.take() {
            Some(console) => console,
            None => {
                let mut console = self.access.open()?;
                check_settings(&mut *console, &self.hello.read_back)?;
                console
            }
        };
        Ok(&mut **self.console.insert(console))
    }

    /// Closes a connection to a file: a user's load or program has no other one beside it. DuckDB lets no second process in, gives loads
    /// the settings of the connection that is open, and writes its log into the file when the last one closes.
    fn leave_file(&mut self) {
        let is_file =
            self.access.place.as_ref().is_some_and(|(_, location)| !location.files.is_empty());
        if is_file {
            self.console = None;
        }
    }

    fn load(
        &mut self,
        task: &LoadTask,
        start: &mut Start<'_>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let report = match &task.rows {
            None => {
                let plan = self.plan(task)?;
                outcome.user_bytes = plan.facts.source.bytes.unwrap_or(0);
                outcome.start_ns = start.wait()?;
                let report = run(&plan, &Watch::default())?;
                outcome.ack_ns = outcome.start_ns + nanoseconds(report.seconds.total);
                report
            }
            Some(rows) => self.write(task, rows, start, outcome)?,
        };
        outcome.rows = report.rows_loaded;
        // What we compare with what was generated is outside of the time, so what a load compares is too. Nothing is acknowledged
        // before its commit is.
        let took = outcome.ack_ns.saturating_sub(nanoseconds(report.seconds.verify));
        outcome.ack_ns = took.max(outcome.start_ns);
        let choice = &report.plan.choice;
        let knobs: Vec<String> =
            choice.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (id, lanes) = (choice.strategy.id(), choice.lanes);
        outcome.strategy = Some(format!("{id} lanes={lanes} {}", knobs.join(" ")));
        outcome.read_back = report.durability_read_back.clone();
        match report.rows_rejected {
            0 => Ok(()),
            rows => {
                let rows = counted(rows, "generated row");
                Err(Error::new(Kind::Rejects, format!("{rows} can't be loaded")))
            }
        }
    }

    /// Does as a program that has rows: begins a writer, hands it batches, and finishes it. All of that is its time.
    fn write(
        &self,
        task: &LoadTask,
        rows: &Generated,
        start: &mut Start<'_>,
        outcome: &mut Outcome,
    ) -> Result<Report> {
        let batches = batches(&Generator::of(&rows.kind, rows.seed)?, rows.rows)?;
        outcome.user_bytes = fs::metadata(&task.file).map_or(0, |file| file.len());
        let Some(first) = batches.first() else {
            return Err(Error::usage("a writer wants columns"));
        };
        outcome.start_ns = start.wait()?;
        let mut writer = adding_or_making(options(task), |options| {
            let watch = Arc::new(Watch::default());
            Writer::observed(first.schema(), &self.hello.url, options, watch)
        })?;
        for batch in &batches {
            writer.write(batch)?;
        }
        let report = writer.finish()?;
        outcome.ack_ns = clock_ns();
        Ok(report)
    }

    fn ceiling(
        &mut self,
        task: &LoadTask,
        start: &mut Start<'_>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let plan = self.plan(task)?;
        outcome.start_ns = start.wait()?;
        let (rows, took) = rehearse(&plan, &Watch::default())?;
        outcome.rows = rows;
        outcome.ack_ns = outcome.start_ns + u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn plan(&self, task: &LoadTask) -> Result<Plan> {
        let (target, watch) = (&self.hello.url, Watch::default());
        if let Some(rows) = &task.rows {
            let batches = batches(&Generator::of(&rows.kind, rows.seed)?, rows.rows)?;
            return adding_or_making(options(task), |options| {
                inrush::plan_batches(batches.clone(), target, options, &watch)
            });
        }
        adding_or_making(options(task), |options| {
            let request = Request {
                sources: vec![task.file.clone()],
                target: target.clone(),
                dialect: DialectRequest {
                    format: Some(Format::Tsv),
                    delimiter: Some(b'\t'),
                    quote: Some(None),
                    escape: Some(None),
                    header: Some(false),
                    ..DialectRequest::default()
                },
                options: options.clone(),
                ..Request::default()
            };
            inrush::plan(&request, &watch)
        })
    }

    fn sql(&mut self, task: &SqlTask, start: &mut Start<'_>, outcome: &mut Outcome) -> Result<()> {
        let console = self.console()?;
        outcome.sql = task.statements.iter().take(3).map(|sql| shortened(sql)).collect();
        let pace = Pace::default();
        let mut histogram = Histogram::new();
        outcome.start_ns = start.wait()?;
        for n in 1..=task.repeat.unwrap_or(1) {
            let before = Instant::now();
            for (index, sql) in task.statements.iter().enumerate() {
                let sql = match task.repeat {
                    Some(_) => &sql.replace(NUMBER, &n.to_string()),
                    None => sql,
                };
                if task.value && index + 1 == task.statements.len() {
                    outcome.value = console.value(sql)?;
                } else {
                    outcome.rows += console.execute(sql)?;
                }
            }
            if task.repeat.is_some() {
                histogram.record(before.elapsed());
                outcome.requests += 1;
                pace.tell(n);
            }
            if STOP.load(Relaxed) {
                return Err(Error::interrupted());
            }
        }
        outcome.ack_ns = clock_ns();
        if task.repeat.is_some() {
            outcome.latency.insert("statement".to_owned(), histogram.encode());
        }
        Ok(())
    }

    fn mix(
        &mut self,
        task: &crate::task::MixTask,
        start: &mut Start<'_>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        // Proves that the database can be had, and that it promises what the suite says.
        self.console()?;
        outcome.sql = task.steps.iter().map(|step| shortened(&step.sql)).collect();
        let seed = self.hello.seed ^ (self.tasks << 32);
        let runner = mix::Runner::new(task, &self.access, seed, &STOP);
        outcome.start_ns = start.wait()?;
        runner.run(outcome)
    }

    fn rows(
        &mut self,
        task: &RowsTask,
        start: &mut Start<'_>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let generator = Generator::of(&task.rows.kind, task.rows.seed)?;
        let expected = generator.expected(task.rows.rows);
        let added: Vec<i128> = generator
            .columns()
            .iter()
            .map(|column| i128::from(task.added.get(column.name).copied().unwrap_or(0)))
            .collect();
        let mut found = RowSums::new(generator.columns(), &added);
        let console = self.console()?;
        outcome.start_ns = start.wait()?;
        console.query(&task.sql, &mut |row| found.add(row))?;
        outcome.rows = found.rows();
        outcome.hash = format!("{:016x}", found.row_hash());
        outcome.differences = found.differences(&expected);
        Ok(())
    }

    fn command(task: &CommandTask, start: &mut Start<'_>, outcome: &mut Outcome) -> Result<()> {
        let [program, arguments @ ..] = task.run.as_slice() else {
            return Err(Error::usage("a command without a program"));
        };
        match look(program, task) {
            Ok(version) => outcome.strategy = version,
            Err(what) => {
                outcome.failure = Some(Failed { what, cause: Cause::Missing });
                return Ok(());
            }
        }
        outcome.sql = vec![shortened(&task.shown)];
        let failed = |error: io::Error| Error::target(format!("{program}: {error}"));
        if !task.waits {
            outcome.start_ns = start.wait()?;
        }
        let mut child = Command::new(program)
            .args(arguments)
            .envs(&task.env)
            .stdin(Stdio::piped())
            .stdout(if task.waits { Stdio::piped() } else { Stdio::null() })
            .stderr(Stdio::piped())
            // So that whatever it starts can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let ended = AtomicBool::new(false);
        let (status, words) = std::thread::scope(|scope| {
            let id = child.id();
            let ended = &ended;
            scope.spawn(move || kill_when_stopped(id, ended));
            // A program that ends without reading says why by its exit code. One that talks before it reads is read meanwhile.
            let errors = child.stderr.take();
            let words = scope.spawn(move || {
                let mut words = Vec::new();
                // What can't be read is not said.
                let _ = errors.map(|mut errors| errors.read_to_end(&mut words));
                words
            });
            let attended = if task.waits {
                attend(&mut child, start, outcome)
            } else {
                if let Some(mut input) = child.stdin.take() {
                    scope.spawn(move || input.write_all(task.input.as_bytes()));
                }
                Ok(())
            };
            let status = child.wait();
            if !task.waits {
                outcome.ack_ns = clock_ns();
            }
            ended.store(true, Relaxed);
            attended?;
            Ok((status.map_err(failed)?, words.join().unwrap_or_default()))
        })?;
        if !status.code().is_some_and(|code| task.codes.contains(&code)) {
            let last = last_line(&words);
            return Err(Error::target(format!("{program} ended with {status}: {last}")));
        }
        if outcome.ack_ns == 0 {
            return Err(Error::target(format!("{program} ended without a word of being done")));
        }
        Ok(())
    }

    fn settings(&mut self, start: &mut Start<'_>, outcome: &mut Outcome) -> Result<()> {
        let console = self.console()?;
        outcome.start_ns = start.wait()?;
        outcome.engine = console.engine()?;
        outcome.settings = console.settings()?;
        Ok(())
    }

    fn ping(&mut self, times: u32, start: &mut Start<'_>, outcome: &mut Outcome) -> Result<()> {
        let console = self.console()?;
        let mut histogram = Histogram::new();
        outcome.start_ns = start.wait()?;
        let began = Instant::now();
        // Far servers answer seldom.
        for _ in 0..times {
            if began.elapsed() > PING_MAX {
                break;
            }
            let before = Instant::now();
            console.ping()?;
            histogram.record(before.elapsed());
        }
        outcome.latency.insert("ping".to_owned(), histogram.encode());
        Ok(())
    }
}

/// In statements: the number of the repetition, or the request's random number. No database takes it for anything.
pub(super) const NUMBER: char = '\u{1}';

/// # Errors
/// When a setting is not what the suite says.
fn check_settings(console: &mut dyn Console, wanted: &BTreeMap<String, String>) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let settings = console.settings()?;
    for (name, value) in wanted {
        let is = settings.iter().find(|setting| setting.name == *name);
        if is.is_none_or(|is| !is.value.eq_ignore_ascii_case(value)) {
            let is = is.map_or("unknown", |setting| setting.value.as_str());
            return Err(Error::new(
                Kind::Verify,
                format!("the suite says {name} = {value}, but it is {is}"),
            ));
        }
    }
    Ok(())
}

fn failed(error: &Error) -> Failed {
    let cause = match error.kind() {
        Kind::Usage => Cause::Usage,
        Kind::Verify => Cause::Promise,
        Kind::Interrupted => Cause::Interrupted,
        _ => Cause::Other,
    };
    Failed { what: error.what().to_owned(), cause }
}

/// Ends a program when the bench wants us to stop, or is gone.
fn kill_when_stopped(id: u32, ended: &AtomicBool) {
    while !ended.load(Relaxed) {
        if STOP.load(Relaxed)
            && let Ok(id) = libc::pid_t::try_from(id)
        {
            // SAFETY: kill() touches no memory. The group is the program's, which has not been waited for, or was a moment ago:
            // numbers are not given again so soon.
            unsafe { libc::kill(-id, libc::SIGKILL) };
            return;
        }
        std::thread::sleep(NAP);
    }
}

/// Has a program that waits do what it has prepared itself for.
fn attend(child: &mut Child, start: &mut Start<'_>, outcome: &mut Outcome) -> Result<()> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("both are piped")
    };
    let mut lines = BufReader::new(output).lines().map_while(io::Result::ok);
    // One that ends before says why by its exit code.
    if lines.any(|line| line == "ready") {
        start.program = Some(child.id());
        outcome.start_ns = start.wait()?;
        let _ = input.write_all(b"go\n");
        if lines.any(|line| line == "done") {
            outcome.ack_ns = clock_ns();
        }
        lines.for_each(drop);
    }
    Ok(())
}

/// The version of what a command is about, if that is said; or why it can't be run here.
fn look(program: &str, task: &CommandTask) -> Result<Option<String>, String> {
    if !is_installed(program) {
        return Err(format!("{program} is not installed"));
    }
    let Some((probe, arguments)) = task.needs.split_first() else { return Ok(None) };
    let found = Command::new(probe).args(arguments).envs(&task.env).stdin(Stdio::null()).output();
    let output = found.map_err(|error| format!("{probe}: {error}"))?;
    if output.status.success() {
        let words = String::from_utf8_lossy(&output.stdout);
        let mut lines = words.lines().map(str::trim);
        return Ok(lines.find(|line| !line.is_empty()).map(shortened));
    }
    Err(match last_line(&output.stderr) {
        last if last.is_empty() => format!("{} does not succeed", task.needs.join(" ")),
        last => format!("{probe}: {last}"),
    })
}

/// The last one of what a program has said.
fn last_line(words: &[u8]) -> String {
    let words = String::from_utf8_lossy(words);
    words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

/// Whether there is a program of this path, or of this name on the path.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match program.contains('/') {
        true => Path::new(program).is_file(),
        false => std::env::split_paths(&path).any(|folder| folder.join(program).is_file()),
    }
}

fn options(task: &LoadTask) -> LoadOptions {
    LoadOptions {
        table: Some(task.table.clone()),
        if_exists: IfExists::Append,
        primary_key: task.primary_key.clone(),
        strategy: task.strategy.clone(),
        knobs: task.knobs.clone(),
        lanes: task.lanes,
        durability: task.durability,
        ..LoadOptions::default()
    }
}

/// Rows are added to a table that the suite has made; what it hasn't, the load makes: a file, or a table of its own keys.
fn adding_or_making<T>(
    mut options: LoadOptions,
    plan: impl Fn(&LoadOptions) -> Result<T>,
) -> Result<T> {
    match plan(&options) {
        Err(error) if error.kind() == Kind::Target => {
            options.if_exists = IfExists::Empty;
            plan(&options)
        }
        planned => planned,
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}

/// A statement as results keep it.
fn shortened(sql: &str) -> String {
    const SHOWN_MAX: usize = 300;
    let mut shown: String = sql.replace(NUMBER, "<n>").chars().take(SHOWN_MAX).collect();
    if sql.chars().count() > SHOWN_MAX {
        shown.push_str("...");
    }
    shown
}

/// Tells the bench how far a load is.
#[derive(Default)]
struct Watch {
    pace: Pace,
}

impl Observer for Watch {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&STOP)
    }

    fn progress(&self, progress: &inrush::pipe::Progress) {
        self.pace.tell(progress.rows_loaded);
    }
}

/// So long a request may wait for its turn before the worker looks whether it should stop.
pub(super) const NAP: Duration = Duration::from_millis(20);
