//! The machine that a database is on, as far as it is this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use inrush_core::doctor::{Check, Finding, Found, Rule, Severity, Surroundings, apply};
use inrush_core::wording::bytes;
use inrush_machine::{
    Mount, ProcessorTime, Space, cgroup_limits, cgroup_throttled, mount_of, nameless, space,
    sync_times,
};

/// Syncs that are timed, and for how long at most.
const SYNCS: usize = 20;
const SYNCS_MAX: Duration = Duration::from_millis(150);

/// Free space below which a disk is full: this, and so much of it.
const FREE_BYTES: u64 = 1 << 30;
const FREE_SHARE: f64 = 0.05;

/// A load takes so many times its input: rows, indexes, and the log of both.
const ROOM: u64 = 2;

/// A disk that turns 5,400 times a minute takes 11 ms for one turn.
const SYNC_MAX: Duration = Duration::from_millis(25);

/// What other machines may take of the processors' time.
const STEAL_SHARE: f64 = 0.10;

/// Periods in which a control group may run into its limit.
const THROTTLED_SHARE: f64 = 0.10;

/// What is seen of it.
#[derive(Default)]
struct Seen {
    disks: Vec<Disk>,
    load_bytes: Option<u64>,
    /// The share of the processors' time that other virtual machines have taken since this one started.
    stolen: Option<f64>,
    /// The share of the periods in which this process's control group ran into its limit of CPU time.
    throttled: Option<f64>,
}

/// A file system that holds something of the database's.
struct Disk {
    folder: PathBuf,
    mount: Option<Mount>,
    space: Space,
    /// The median.
    sync: Option<Duration>,
}

static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "disk-space",
            severity: Severity::Slow,
            reads: "statvfs() of the folders of data and logs",
            finds: "less than twice the source, or less than 1 GiB and 5 % of the file system",
            why: "rows, indexes and their log need room together, and a load that fills the disk ends without a row",
            source: "https://man7.org/linux/man-pages/man3/statvfs.3.html",
            change: "remove files, or move the data to another disk",
            risk: "what is removed is gone",
        },
        look: |seen| {
            let found = |disk: &Disk| {
                let space = disk.space;
                let is_little = space.free_bytes < FREE_BYTES
                    && (space.free_bytes as f64) < space.total_bytes as f64 * FREE_SHARE;
                let room = seen.load_bytes.map(|load| load.saturating_mul(ROOM));
                let should = match room.filter(|&room| space.free_bytes < room) {
                    Some(room) => format!("{}: twice the source", bytes(room)),
                    None if is_little => "1 GiB, or 5 % of the file system".to_owned(),
                    None => return None,
                };
                let is = format!("{} are free", bytes(space.free_bytes));
                Some(Found::new(disk.folder.display().to_string(), is, should))
            };
            let is_known = |disk: &&Disk| disk.space.total_bytes > 0;
            seen.disks.iter().filter(is_known).filter_map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "sync-time",
            severity: Severity::Note,
            reads: "20 writes of 4 KiB, each with fdatasync(), to a file without a name, or in the folder for temporary files of the same disk",
            finds: "a median over 25 ms",
            why: "every commit waits for at least one sync",
            source: "https://www.postgresql.org/docs/current/pgtestfsync.html",
            change: "another disk, or more rows in a transaction: a load of inrush is one",
            risk: "none",
        },
        look: |seen| {
            let found = |disk: &Disk| {
                let sync = disk.sync.filter(|&sync| sync > SYNC_MAX)?;
                let is = format!("a sync takes {}", shown(sync));
                Some(Found::new(disk.folder.display().to_string(), is, "some milliseconds at most"))
            };
            seen.disks.iter().filter_map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "steal",
            severity: Severity::Note,
            reads: "/proc/stat",
            finds: "other virtual machines have taken more than 10 % of the processors' time since the start",
            why: "loads take longer by what the neighbours take, and measurements differ from hour to hour",
            source: "https://man7.org/linux/man-pages/man5/proc_stat.5.html",
            change: "another host, or one with processors of its own",
            risk: "none",
        },
        look: |seen| {
            let stolen = seen.stolen.filter(|&stolen| stolen > STEAL_SHARE);
            let found = |stolen: f64| {
                Found::new(
                    "the machine",
                    format!("{:.0} % are taken by others", stolen * 100.0),
                    "none",
                )
            };
            stolen.map(found).into_iter().collect()
        },
    },
    Check {
        rule: Rule {
            id: "throttled",
            severity: Severity::Note,
            reads: "cpu.stat of the control group that inrush runs in, and of those above it",
            finds: "the group ran into its limit of CPU time in more than 10 % of the periods in which it ran",
            why: "its threads wait for the next period then, which is a tenth of a second, whatever the machine has free",
            source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu",
            change: "a larger limit: cpu.max, --cpus of docker run, limits.cpu of Kubernetes",
            risk: "the machine's other groups get less",
        },
        look: |seen| {
            let throttled = seen.throttled.filter(|&throttled| throttled > THROTTLED_SHARE);
            let found = |throttled: f64| {
                let is = format!("it waited in {:.0} % of its periods", throttled * 100.0);
                Found::new("the control group", is, "at most 10 %")
            };
            throttled.map(found).into_iter().collect()
        },
    },
];

/// The machine's rules, for the documentation.
pub fn machine_rules() -> Vec<&'static Rule> {
    CHECKS.iter().map(|check| &check.rule).collect()
}

/// What the rules find, and what is to be known besides. Of a machine without folders of the database nothing is said.
pub(super) fn look(
    folders: &[PathBuf],
    around: &Surroundings,
) -> (Vec<Finding>, Vec<(&'static str, String)>) {
    if folders.is_empty() {
        return Default::default();
    }
    let mut disks: Vec<Disk> = Vec::new();
    for folder in folders {
        let mount = mount_of(folder);
        let is_known = |disk: &Disk| disk.mount.is_some() && disk.mount == mount;
        if !disks.iter().any(is_known) {
            disks.push(Disk::of(folder, mount));
        }
    }
    let stolen = ProcessorTime::now()
        .filter(|time| time.all > 0)
        .map(|time| time.stolen as f64 / time.all as f64);
    let throttled = cgroup_throttled();
    let seen = Seen { disks, load_bytes: around.load_bytes, stolen, throttled };
    (apply(CHECKS, &seen), facts(&seen, around))
}

impl Disk {
    fn of(folder: &Path, mount: Option<Mount>) -> Self {
        Self {
            folder: folder.to_owned(),
            space: space(folder).unwrap_or_default(),
            sync: if is_memory(mount.as_ref()) { None } else { sync(folder, mount.as_ref()) },
            mount,
        }
    }
}

fn is_memory(mount: Option<&Mount>) -> bool {
    mount.is_some_and(|mount| matches!(mount.kind.as_str(), "tmpfs" | "ramfs"))
}

/// How long a sync takes on that disk: beside the data, or, where we may not write there, in the folder for temporary files, if that is
/// of the same file system.
fn sync(folder: &Path, mount: Option<&Mount>) -> Option<Duration> {
    let temporary = std::env::temp_dir();
    let is_same = mount.is_some() && mount_of(&temporary).as_ref() == mount;
    let mut file =
        nameless(folder).or_else(|| if is_same { nameless(&temporary) } else { None })?;
    let mut times = sync_times(&mut file, SYNCS, SYNCS_MAX).ok()?;
    times.sort();
    times.get(times.len() / 2).copied()
}

/// Milliseconds in the digits that tell something.
fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        0.0..1.0 => format!("{milliseconds:.2} ms"),
        1.0..10.0 => format!("{milliseconds:.1} ms"),
        _ => format!("{milliseconds:.0} ms"),
    }
}

fn facts(seen: &Seen, around: &Surroundings) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let limits = cgroup_limits();
    let processors = inrush_machine::processors();
    let quota = limits.cpu.map(|(quota, period)| {
        format!(", of which the control group lets {:.1} be used", quota as f64 / period as f64)
    });
    facts.push(("processors", format!("{processors}{}", quota.unwrap_or_default())));
    if let Some(memory) = around.memory_bytes {
        let limited =
            if limits.memory_bytes == Some(memory) { ", the control group's limit" } else { "" };
        facts.push(("memory", format!("{}{limited}", bytes(memory))));
    }
    for disk in &seen.disks {
        let mut parts = Vec::new();
        parts.extend(disk.mount.as_ref().map(|mount| mount.kind.clone()));
        parts.push(format!(
            "{} of {} free",
            bytes(disk.space.free_bytes),
            bytes(disk.space.total_bytes)
        ));
        match disk.sync {
            Some(sync) => parts.push(format!("a sync takes {}", shown(sync))),
            None if is_memory(disk.mount.as_ref()) => {
                parts.push("in memory: nothing here outlives the machine".to_owned());
            }
            None => {}
        }
        facts.push(("disk", format!("{}: {}", disk.folder.display(), parts.join(", "))));
    }
    if let Some(stolen) = seen.stolen.filter(|&stolen| stolen >= 0.005) {
        facts.push(("steal", format!("{:.1} % of the processors' time", stolen * 100.0)));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(free_bytes: u64, sync: Option<Duration>) -> Disk {
        let space = Space { free_bytes, total_bytes: 100 << 30 };
        Disk { folder: "/data".into(), mount: None, space, sync }
    }

    fn found(seen: &Seen) -> Vec<(&'static str, String)> {
        apply(CHECKS, seen).into_iter().map(|finding| (finding.id, finding.is)).collect()
    }

    #[test]
    fn what_the_machine_holds_back_is_named() {
        let fine = |seen: Seen| assert_eq!(found(&seen), []);
        let milliseconds = |ms| Some(Duration::from_millis(ms));
        fine(Seen::default());
        fine(Seen { stolen: Some(0.1), throttled: Some(0.1), ..Seen::default() });
        fine(Seen { disks: vec![disk(6 << 30, milliseconds(25))], ..Seen::default() });
        // A small file system may be as full as it likes, as long as a twentieth is free.
        fine(Seen {
            load_bytes: Some(3 << 30),
            disks: vec![disk(6 << 30, None)],
            ..Seen::default()
        });

        let is = |seen: Seen, id: &str, words: &str| {
            assert_eq!(found(&seen), [(id, words.to_owned())]);
        };
        is(Seen { stolen: Some(0.25), ..Seen::default() }, "steal", "25 % are taken by others");
        let words = "it waited in 40 % of its periods";
        is(Seen { throttled: Some(0.4), ..Seen::default() }, "throttled", words);
        let slow = vec![disk(6 << 30, milliseconds(26))];
        is(Seen { disks: slow, ..Seen::default() }, "sync-time", "a sync takes 26 ms");
        let full = vec![disk(500 << 20, None)];
        is(Seen { disks: full, ..Seen::default() }, "disk-space", "524 MB are free");
        let small = vec![disk(6 << 30, None)];
        let seen = Seen { load_bytes: Some(4 << 30), disks: small, ..Seen::default() };
        is(seen, "disk-space", "6.44 GB are free");
    }
}
