//! What process trees cost: CPU time, memory, bytes written.
//!
//! A database's work is done by its processes: by one for MySQL, by one for each connection for PostgreSQL, and those end. When a
//! process has waited for an ended child, the kernel adds what the child used to what the process's children used (`cutime` and `cstime` of
//! /proc/PID/stat) and wrote (/proc/PID/io). So the sum over all processes of a tree holds everything once, whoever has ended meanwhile; except for
//! children that nobody waits for, because their parent ignores SIGCHLD or has ended before them. What a disk has written, whoever told it to, is
//! [`Device::written_bytes`](inrush_machine::Device::written_bytes).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::mem::MaybeUninit;
use std::{fs, iter};

use inrush_machine::ProcessorTime;

/// So often processes are read again because others came or went meanwhile. A server that opens a connection does so once.
const READS_MAX: usize = 5;

/// A process's flag that says it is a thread of the kernel (PF_KTHREAD of the kernel's sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// A process tree at one moment.
///
/// All numbers are counters, of which only differences mean something ([`Meter::since`]), except for the memory.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Microseconds; `None` if a root is gone, or there is no /proc.
    cpu_us: Option<u64>,
    /// Below 0 where a process removes what others have written.
    write_bytes: Option<i64>,
    memory: Option<Memory>,
    /// Of the threads of the kernel.
    kernel_us: u64,
    processors: Option<ProcessorTime>,
}

/// Memory of a process tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// How much of it is resident.
    pub bytes: u64,
    /// Whether shared pages are divided among those that share them (PSS). Where the system doesn't tell that, they count once for each
    /// process: too much for a PostgreSQL, whose processes share their buffers.
    pub is_proportional: bool,
}

/// What a process tree has used between two moments. What can't be told is `None`: never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time, in microseconds; the kernel counts in hundredths of a second for each process.
    pub cpu_us: Option<u64>,
    /// Bytes that it caused to be written to storage, less those that were cancelled because the file went before (proc_pid_io(5)). They count when
    /// pages become dirty, so what is written twice before it reaches the disk counts once.
    pub write_bytes: Option<u64>,
    /// Memory at the later moment.
    pub memory: Option<Memory>,
    /// What others took meanwhile, as a share of all processors, 0 to 1: other processes and, in a virtual machine, other machines
    /// (steal). The kernel's own threads and interrupts count for nobody, as most of it is work that we give to it. It is
    /// right if the trees are all that is ours.
    pub foreign_cpu: Option<f64>,
}

impl Meter {
    /// The trees of these processes, with themselves. It reads a file or two of every process of the machine: some milliseconds.
    ///
    /// A process that may not be looked at (another user's) leaves `None` for what it would add to, and so does a root that is gone.
    pub fn of(roots: &[u32]) -> Self {
        // A child that ends while processes are read counts twice, or not at all, depending on which of the two was read first. It is
        // missing then from this reading or the next.
        let mut before = tree(&processes(), roots);
        let mut reads = 0;
        let (processes, tree, costs) = loop {
            let processes = self::processes();
            let tree = self::tree(&processes, roots);
            let costs = Costs::of(&tree);
            let after = self::tree(&self::processes(), roots);
            reads += 1;
            let is_still = before.keys().eq(tree.keys()) && after.keys().eq(tree.keys());
            if is_still || reads == READS_MAX {
                break (processes, tree, costs);
            }
            before = after;
        };
        let is_whole = !roots.is_empty() && roots.iter().all(|root| processes.contains_key(root));
        let ticks = |processes: &mut dyn Iterator<Item = &Process>| -> Option<u64> {
            let ticks: u64 = processes.map(|process| process.ticks).sum();
            Some((u128::from(ticks) * 1_000_000 / u128::from(ticks_per_second()?)) as u64)
        };
        let mut kernel = processes.values().filter(|process| process.is_kernel);
        Self {
            cpu_us: is_whole.then(|| ticks(&mut tree.values())).flatten(),
            write_bytes: costs.write_bytes.filter(|_| is_whole),
            memory: costs.memory.filter(|_| is_whole),
            kernel_us: ticks(&mut kernel).unwrap_or_default(),
            processors: ProcessorTime::now(),
        }
    }

    /// What was used since an earlier meter of the same roots.
    ///
    /// A number that went down is `None`: a process has ended and nobody has waited for it, or more was cancelled than written.
    pub fn since(&self, earlier: &Meter) -> Usage {
        let cpu_us = self.cpu_us.zip(earlier.cpu_us).and_then(|(now, then)| now.checked_sub(then));
        let write_bytes = self.write_bytes.zip(earlier.write_bytes);
        Usage {
            cpu_us,
            write_bytes: write_bytes.and_then(|(now, then)| u64::try_from(now - then).ok()),
            memory: self.memory,
            foreign_cpu: cpu_us.and_then(|ours_us| self.foreign_cpu(earlier, ours_us)),
        }
    }

    fn foreign_cpu(&self, earlier: &Meter, ours_us: u64) -> Option<f64> {
        let (now, then) = (self.processors?, earlier.processors?);
        let kernel_us = self.kernel_us.saturating_sub(earlier.kernel_us);
        let ours = (ours_us + kernel_us) as f64 * ticks_per_second()? as f64 / 1e6;
        let all = now.all.checked_sub(then.all).filter(|&all| all > 0)? as f64;
        let busy = now.busy.checked_sub(then.busy)? as f64;
        Some(((busy - ours) / all).clamp(0.0, 1.0))
    }

    /// What it has used so far; see [`Usage::cpu_us`].
    pub fn cpu_us(&self) -> Option<u64> {
        self.cpu_us
    }

    /// Its memory; see [`Usage::memory`].
    pub fn memory(&self) -> Option<Memory> {
        self.memory
    }
}

/// Memory and written bytes of all processes of a tree.
#[derive(Default)]
struct Costs {
    write_bytes: Option<i64>,
    memory: Option<Memory>,
}

impl Costs {
    /// Processes that end meanwhile are left out; they change the tree, which is then looked at again.
    fn of(tree: &BTreeMap<(u32, u64), Process>) -> Self {
        let mut write_bytes = Some(0_i64);
        let mut memory = Some(Memory { bytes: 0, is_proportional: true });
        for &(id, _) in tree.keys() {
            let file = |name: &str| match fs::read_to_string(format!("/proc/{id}/{name}")) {
                Ok(text) => Some(Some(text)),
                Err(error) => is_gone(&error).then_some(None),
            };
            let written = match file("io") {
                Some(Some(io)) => written(&io),
                // Of the dead there is nothing to be read, and what they wrote is their parent's soon.
                Some(None) => Some(0),
                None => None,
            };
            write_bytes = write_bytes.and_then(|sum| sum.checked_add(written?));
            let resident =
                match file("smaps_rollup").map(|text| text.map(|text| bytes_of(&text, "Pss"))) {
                    Some(Some(Some(bytes))) => Some((bytes, true)),
                    // A kernel before 4.14 has no such file, and others' may not be read; "status" is for all.
                    _ => match file("status") {
                        Some(Some(status)) => Some(
                            bytes_of(&status, "VmRSS").map_or((0, true), |bytes| (bytes, false)),
                        ),
                        Some(None) => Some((0, true)),
                        None => None,
                    },
                };
            memory = memory.and_then(|sum| {
                let (bytes, is_proportional) = resident?;
                Some(Memory {
                    bytes: sum.bytes + bytes,
                    is_proportional: sum.is_proportional && is_proportional,
                })
            });
        }
        Self { write_bytes, memory }
    }
}

/// A process as /proc/PID/stat has it; see proc_pid_stat(5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    /// User and system time, its own and that of children that it has waited for.
    ticks: u64,
    /// When it started. A number may be given again, with another start.
    start: u64,
    is_kernel: bool,
}

impl Process {
    fn parse(stat: &str) -> Option<Self> {
        // The name, in parentheses, may hold blanks and parentheses.
        let (_, rest) = stat.rsplit_once(')')?;
        // From the third field (the state) on.
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(number(4)?).ok()?,
            // The times of children are signed in the kernel's format, and never below 0.
            ticks: number(14)? + number(15)? + number(16)? + number(17)?,
            start: number(22)?,
            is_kernel: number(9)? & KERNEL_THREAD != 0,
        })
    }
}

/// All processes; none where there is no /proc.
fn processes() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let process = |id| {
        let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
        Some((id, Process::parse(&String::from_utf8_lossy(&stat))?))
    };
    ids.filter_map(process).collect()
}

/// The roots and all below them, by number and start.
fn tree(processes: &BTreeMap<u32, Process>, roots: &[u32]) -> BTreeMap<(u32, u64), Process> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&id, process) in processes {
        children.entry(process.parent).or_default().push(id);
    }
    let mut left: Vec<u32> = roots.to_vec();
    let mut seen = BTreeSet::new();
    iter::from_fn(|| {
        while let Some(id) = left.pop() {
            let Some(process) = processes.get(&id).filter(|_| seen.insert(id)) else { continue };
            left.extend(children.get(&id).into_iter().flatten());
            return Some(((id, process.start), *process));
        }
        None
    })
    .collect()
}

/// The process has ended since: its folder is gone, or its files say so.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// What /proc/PID/io says of written bytes, less those that were cancelled: by whoever removes a file, so it may be below 0.
fn written(io: &str) -> Option<i64> {
    let value = |key: &str| -> Option<i64> {
        let value = io.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        value.trim().parse().ok()
    };
    value("write_bytes")?.checked_sub(value("cancelled_write_bytes")?)
}

/// Of a line `KEY:   123 kB`.
fn bytes_of(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What this process has used since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// CPU time, in microseconds.
    pub cpu_us: u64,
    /// The most that was resident, in bytes.
    pub peak_bytes: u64,
}

/// Of this process, all threads. It is cheap: workers call it at both ends of a phase.
///
/// # Errors
/// When the system can't say.
pub fn own() -> io::Result<Spent> {
    let mut spent = usage(libc::RUSAGE_SELF)?;
    // A process starts with the peak of the one that it was forked from, which counts for getrusage() even after exec(); VmHWM is of its
    // own memory.
    let status = fs::read_to_string("/proc/self/status").ok();
    if let Some(peak_bytes) = status.and_then(|status| bytes_of(&status, "VmHWM")) {
        spent.peak_bytes = peak_bytes;
    }
    Ok(spent)
}

/// Of all children that have ended and that this process has waited for, and of theirs: their CPU time together, and the peak of the largest.
///
/// # Errors
/// When the system can't say.
pub fn ended_children() -> io::Result<Spent> {
    usage(libc::RUSAGE_CHILDREN)
}

fn usage(who: libc::c_int) -> io::Result<Spent> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is one that getrusage() may fill.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: getrusage() has succeeded and filled it; before that it was all zeros, which is valid for its integers.
    let usage = unsafe { usage.assume_init() };
    // Their widths differ between systems; the kernel's times are never below 0.
    #[allow(clippy::unnecessary_cast)]
    let microseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    // macOS counts bytes, all others KiB.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Ok(Spent {
        cpu_us: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
        #[allow(clippy::unnecessary_cast)]
        peak_bytes: usage.ru_maxrss as u64 * unit,
    })
}

/// The unit of CPU time in /proc; 100 on nearly all systems.
fn ticks_per_second() -> Option<u64> {
    // SAFETY: sysconf() touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).ok().filter(|&ticks| ticks > 0)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

    use super::*;
    use crate::machine::environment;
    use inrush_machine::Device;

    /// A shell that waits for a line before each step, and says a word after each.
    struct Shell {
        child: Child,
        say: Option<ChildStdin>,
        hear: BufReader<ChildStdout>,
    }

    impl Shell {
        fn start(script: &str) -> Self {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let hear = BufReader::new(child.stdout.take().unwrap());
            Self { say: child.stdin.take(), child, hear }
        }

        fn step(&mut self, word: &str) {
            self.say.as_mut().unwrap().write_all(b"go\n").unwrap();
            let mut line = String::new();
            self.hear.read_line(&mut line).unwrap();
            assert_eq!(line.trim(), word);
        }

        fn end(mut self) {
            drop(self.say.take());
            assert!(self.child.wait().unwrap().success());
        }
    }

    /// The child burns until its own counters have reached 300 ms, however busy the machine is.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_children_burn_is_seen_before_and_after_they_end() {
        let mut shell = Shell::start(
            r#"read go; echo ready
            sh -c 'read go
                set -- $(cat /proc/$$/stat)
                while [ $((${14} + ${15})) -lt 30 ]; do
                    i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done
                    read line </proc/$$/stat; set -- $line
                done
                echo burnt; read go'
            echo ended; read go; exit 0"#,
        );
        shell.step("ready");
        let roots = [shell.child.id()];
        let before = Meter::of(&roots);
        shell.step("burnt");
        let burnt = Meter::of(&roots).since(&before);
        shell.step("ended");
        let after = Meter::of(&roots);
        let ended = after.since(&before);
        for usage in [burnt, ended] {
            let cpu_us = usage.cpu_us.unwrap();
            assert!((290_000..=360_000).contains(&cpu_us), "{usage:?}");
            assert!(usage.memory.unwrap().bytes > 100_000, "{usage:?}");
            assert!((0.0..=1.0).contains(&usage.foreign_cpu.unwrap()));
        }
        shell.end();
        assert_eq!(Meter::of(&roots).since(&after), Usage::default());
        assert!(ended_children().unwrap().cpu_us >= 300_000);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_children_write_is_seen_when_they_have_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file_system = environment(folder.path()).facts.remove("filesystem");
        if matches!(file_system.as_deref(), None | Some("tmpfs" | "ramfs" | "overlay")) {
            return;
        }
        let mut shell = Shell::start(&format!(
            "read go; echo ready; read go; dd if=/dev/zero of='{}' bs=1M count=8 conv=fsync 2>&-; echo written; read go; exit 0",
            folder.path().join("eight").display()
        ));
        shell.step("ready");
        let disk = Device::of(folder.path());
        let disk_bytes = || disk.as_ref().and_then(Device::written_bytes);
        let roots = [shell.child.id()];
        let (before, disk_before) = (Meter::of(&roots), disk_bytes());
        shell.step("written");
        let usage = Meter::of(&roots).since(&before);
        let written = usage.write_bytes.unwrap();
        assert!((8 << 20..9 << 20).contains(&written), "{written}");
        if let (Some(before), Some(after)) = (disk_before, disk_bytes()) {
            assert!(after - before >= 8 << 20, "{disk:?}: {before} to {after}");
        }
        shell.end();
    }

    #[test]
    fn who_is_not_there_costs_nothing_that_could_be_told() {
        let gone = Meter::of(&[u32::MAX]);
        assert_eq!(gone.since(&gone), Usage::default());
        let nobody = Meter::of(&[]);
        assert_eq!((nobody.since(&nobody), nobody.memory()), (Usage::default(), None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_usage_is_told_by_two_ways_alike() {
        let roots = [std::process::id()];
        let (meter, own) = (Meter::of(&roots), own().unwrap());
        let memory = meter.memory().unwrap();
        assert!(memory.bytes > 0 && own.peak_bytes > 0);
        // Other tests of this process go on meanwhile, and have children.
        assert!(meter.cpu_us.unwrap() + 1_000_000 > own.cpu_us);
    }

    #[test]
    fn what_is_neither_ours_nor_the_kernels_is_foreign() {
        let meter = |cpu_us, kernel_us, busy, all| Meter {
            cpu_us: Some(cpu_us),
            write_bytes: None,
            memory: None,
            kernel_us,
            processors: Some(ProcessorTime { busy, stolen: 0, all }),
        };
        let earlier = meter(5_000_000, 1_000_000, 1000, 5000);
        let tick_us = 1_000_000 / ticks_per_second().unwrap();
        let later = |ours: u64, busy: u64| {
            let now =
                meter(5_000_000 + ours * tick_us, 1_000_000 + 10 * tick_us, 1000 + busy, 5100);
            now.since(&earlier).foreign_cpu.unwrap()
        };
        assert!((later(20, 50) - 0.2).abs() < 1e-9);
        assert_eq!(later(90, 50), 0.0);
        assert!((later(0, 110) - 1.0).abs() < 1e-9);
        assert_eq!(earlier.since(&earlier).foreign_cpu, None);
    }

    #[test]
    fn processes_with_odd_names_and_of_the_kernel() {
        let server = "831 (a) b (c)) S 1 831 831 0 -1 4194560 98 0 0 0 11 22 33 44 20 0 1 0 4618854 3133440 380 18446744073709551615 0 0";
        let expected = Process { parent: 1, ticks: 110, start: 4_618_854, is_kernel: false };
        assert_eq!(Process::parse(server), Some(expected));
        let worker = "9 (kworker/0:0H-events_highpri) I 2 0 0 0 -1 69238880 0 0 0 0 0 7 0 0 0 -20 1 0 24 0 0 18446744073709551615 0 0";
        assert!(Process::parse(worker).unwrap().is_kernel);
        assert_eq!(Process::parse("1 (x) S 1"), None);
        assert_eq!(Process::parse(""), None);
    }

    #[test]
    fn trees_are_cut_out_of_all_processes() {
        let process = |parent| Process { parent, ticks: 1, start: 7, is_kernel: false };
        let processes: BTreeMap<u32, Process> =
            [(1, 0), (2, 0), (10, 1), (11, 10), (12, 11), (20, 1)]
                .map(|(id, parent)| (id, process(parent)))
                .into();
        let ids = |roots: &[u32]| {
            tree(&processes, roots).into_keys().map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&[10]), [10, 11, 12]);
        // A root below another counts once.
        assert_eq!(ids(&[12, 10, 20, 10]), [10, 11, 12, 20]);
        assert_eq!(ids(&[99]), [] as [u32; 0]);
    }

    #[test]
    fn cancelled_writes_are_taken_off() {
        let io = "rchar: 6976\nwchar: 12\nwrite_bytes: 8192\ncancelled_write_bytes: 12288\n";
        assert_eq!(written(io), Some(-4096));
        assert_eq!(written("rchar: 1\n"), None);
        assert_eq!(bytes_of("Rss: 8 kB\nPss_Dirty: 1 kB\nPss:   253 kB\n", "Pss"), Some(253 << 10));
    }
}
