//! The worker processes of one sample, from the bench's side.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::task::{Answer, Hello, Order, Outcome, Task};

/// How a worker is started: the program, and the arguments that make it one.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it finds in its environment besides ours, as do the programs that it runs.
    pub environment: Vec<(String, OsString)>,
}

/// How long a worker may take to undo what it is at, once nobody listens any more.
const TIDY_MAX: Duration = Duration::from_secs(10);

/// How often the user's wish to stop is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Worker processes that begin together. They end when this goes.
pub(super) struct Crew {
    members: Vec<Member>,
    heard: Receiver<(usize, Heard)>,
}

struct Member {
    child: Child,
    /// `None` once it was told that there is nothing more to do.
    orders: Option<ChildStdin>,
}

enum Heard {
    Answer(Box<Answer>),
    /// It has closed its output, so it is gone or about to be.
    Gone,
}

/// Why a crew gave no outcomes.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It took too long.
    Late,
    /// The user wants to stop.
    Stopped,
    /// A worker ended by itself.
    Died(Option<ExitStatus>),
    /// A worker could not be started or spoken to.
    Lost(io::Error),
}

impl Crew {
    /// Starts a worker for each of `hellos`.
    pub(super) fn start(program: &WorkerProgram, hellos: &[Hello]) -> Result<Self, Trouble> {
        let (sender, heard) = channel();
        let mut crew = Self { members: Vec::new(), heard };
        for hello in hellos {
            let index = crew.members.len();
            let mut member = Member::start(program, index, &sender).map_err(Trouble::Lost)?;
            let told = member.tell(&Order::Hello(hello.clone()));
            crew.members.push(member);
            told.map_err(Trouble::Lost)?;
        }
        Ok(crew)
    }

    /// Has each worker do its task, all at once. `begin` is called when everybody is ready, `progress` whenever one says how far it is.
    /// A task that fails before everybody is ready keeps the others from beginning: their outcome is absent.
    pub(super) fn run(
        &mut self,
        tasks: Vec<Option<Task>>,
        deadline: Instant,
        stop: &AtomicBool,
        begin: impl FnOnce(),
        mut progress: impl FnMut(usize, u64, u64),
    ) -> Result<Vec<Option<Outcome>>, Trouble> {
        let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(|_| None).collect();
        let mut waiting = Vec::new();
        for (index, task) in tasks.into_iter().enumerate() {
            if let Some(task) = task {
                self.members[index].tell(&Order::Task(Box::new(task))).map_err(Trouble::Lost)?;
                waiting.push(index);
            }
        }
        let mut ready = Vec::new();
        while ready.len() < waiting.len() {
            match self.hear(deadline, stop)? {
                (index, Answer::Ready) => ready.push(index),
                (index, Answer::Done(outcome)) => {
                    outcomes[index] = Some(*outcome);
                    return Ok(outcomes);
                }
                (_, Answer::Progress { .. }) => {}
            }
        }
        begin();
        for index in &waiting {
            self.members[*index].tell(&Order::Go).map_err(Trouble::Lost)?;
        }
        while waiting.iter().any(|index| outcomes[*index].is_none()) {
            match self.hear(deadline, stop)? {
                (index, Answer::Done(outcome)) => outcomes[index] = Some(*outcome),
                (index, Answer::Progress { at_ns, done }) => progress(index, at_ns, done),
                (_, Answer::Ready) => {}
            }
        }
        Ok(outcomes)
    }

    fn hear(&mut self, deadline: Instant, stop: &AtomicBool) -> Result<(usize, Answer), Trouble> {
        loop {
            if stop.load(Relaxed) {
                return Err(Trouble::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Late);
            }
            match self.heard.recv_timeout(left.min(TICK)) {
                Ok((index, Heard::Answer(answer))) => return Ok((index, *answer)),
                Ok((index, Heard::Gone)) => {
                    // It may be there and talk nonsense; if it is gone already, this does nothing.
                    std::thread::sleep(TICK);
                    let child = &mut self.members[index].child;
                    if matches!(child.try_wait(), Ok(None)) {
                        let _ = child.kill();
                    }
                    let status = child.wait().ok();
                    return Err(Trouble::Died(status));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Died(None)),
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &mut self.members {
            member.orders = None;
        }
        let deadline = Instant::now() + TIDY_MAX;
        for member in &mut self.members {
            while matches!(member.child.try_wait(), Ok(None)) {
                if Instant::now() >= deadline {
                    // It was asked, and is ours.
                    let _ = member.child.kill();
                    let _ = member.child.wait();
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Member {
    fn start(
        program: &WorkerProgram,
        index: usize,
        sender: &Sender<(usize, Heard)>,
    ) -> io::Result<Self> {
        let mut child = Command::new(&program.path)
            .args(&program.arguments)
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A Ctrl-C is for the bench, which ends its workers in good order.
            .process_group(0)
            .spawn()?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped")
        };
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(answers).lines().map_while(io::Result::ok) {
                let Ok(answer) = serde_json::from_str(&line) else { break };
                if sender.send((index, Heard::Answer(Box::new(answer)))).is_err() {
                    return;
                }
            }
            // Nobody listens once the sample is over.
            let _ = sender.send((index, Heard::Gone));
        });
        Ok(Self { child, orders: Some(orders) })
    }

    fn tell(&mut self, order: &Order) -> io::Result<()> {
        let Some(orders) = &mut self.orders else { return Ok(()) };
        let mut line = serde_json::to_string(order)?;
        line.push('\n');
        orders.write_all(line.as_bytes())?;
        orders.flush()
    }
}
