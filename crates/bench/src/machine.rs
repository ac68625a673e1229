//! The machine that is measured: what it is, and whether it is fit to be measured now.
//!
//! All of it comes from /proc and /sys. A container or another system lacks some of these files: what can't be told is absent, and
//! nothing fails. Parsing is apart from reading, so that files of other machines can be tested.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use xxhash_rust::xxh3::xxh3_64;

use crate::latency::Histogram;
use inrush_findings::record::{Doctor, Environment};

/// Writes of the probe, as many as pg_test_fsync does in some seconds on a disk that turns.
const PROBE_WRITES: usize = 200;

/// Bytes of each: a page of a redo log, and the least that most file systems write.
const PROBE_BYTES: usize = 4096;

/// After this no further write is probed.
const PROBE_MAX: Duration = Duration::from_secs(10);

/// A device that keeps its promise takes longer: even SSDs with capacitors need 20 to 50 microseconds for a write and a flush.
const FSYNC_CREDIBLE_US: f64 = 20.0;

/// For how long the processors are watched: 30 ticks of the clock that the kernel counts CPU time with.
const WATCH: Duration = Duration::from_millis(300);

/// The share of all processors that others may take unnoticed.
const FOREIGN_CPU_MAX: f64 = 0.05;

/// Less free space than this, or than a tenth of the file system, is little.
const FREE_BYTES_MIN: u64 = 10 << 30;

/// Memory is told apart in these steps: what the kernel keeps for itself differs from boot to boot.
const MEMORY_STEP: u64 = 256 << 20;

/// Devices that may lie on each other: a partition, its volume, its encryption, and some to spare.
const LAYERS_MAX: usize = 8;

/// What the machine is, with the disk that holds `disk` (or would, if it doesn't exist yet).
pub fn environment(disk: &Path) -> Environment {
    let mut facts = BTreeMap::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
    let meminfo = text("/proc/meminfo").unwrap_or_default();
    fact("architecture", Some(std::env::consts::ARCH.to_owned()));
    fact("topology", topology(&cpuinfo));
    fact("governor", text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    fact(
        "turbo",
        turbo(
            text("/sys/devices/system/cpu/intel_pstate/no_turbo").as_deref(),
            text("/sys/devices/system/cpu/cpufreq/boost").as_deref(),
        ),
    );
    fact("kernel", text("/proc/sys/kernel/osrelease"));
    fact(
        "os",
        text("/etc/os-release")
            .or_else(|| text("/usr/lib/os-release"))
            .and_then(|text| os_name(&text)),
    );
    fact("virtualisation", virtualisation(&Clues::here(&cpuinfo)));
    let limits = cgroup_limits();
    fact("cgroup cpu.max", limits.cpu.map(|(quota, period)| format!("{quota} {period}")));
    fact("cgroup memory.max", limits.memory_bytes.map(|bytes| bytes.to_string()));
    fact(
        "transparent huge pages",
        text("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
    );
    fact("swap", swap(&meminfo).map(|(total, _)| format!("{} MiB", total >> 20)));
    fact("clock source", text("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    let mount = mount_of(disk);
    fact("filesystem", mount.as_ref().map(|mount| mount.kind.clone()));
    fact("mount options", mount.as_ref().map(|mount| mount.options.clone()));
    if let Some(device) = Device::of(disk) {
        fact("disk", Some(device.name.clone()));
        fact("disk model", device.model());
        fact("disk rotational", device.is_rotational().map(|is| is.to_string()));
        fact("disk scheduler", device.scheduler());
        fact("disk write cache", device.read("queue/write_cache"));
    }
    let mut environment = Environment {
        id: String::new(),
        cpu: cpu_name(&cpuinfo).unwrap_or_default(),
        processors: processors(),
        memory_bytes: meminfo_bytes(&meminfo, "MemTotal").unwrap_or_default(),
        facts,
    };
    environment.id = identity(&environment);
    environment
}

/// A look at the machine before anything is measured: it takes between a third of a second and ten. `disk` is a folder.
///
/// The probe writes a file of 800 KiB there, and removes it. Where that fails, `fsync` is all 0 and a warning says so.
pub fn doctor(disk: &Path) -> Doctor {
    let mut warnings = Vec::new();
    let fsync = match probe_fsync(disk) {
        Ok(histogram) => histogram.latency(),
        Err(error) => {
            warnings.push(format!("{} could not be written to: {error}.", disk.display()));
            Histogram::new().latency()
        }
    };
    let mount = mount_of(disk);
    if let Some(mount) = mount.as_ref().filter(|mount| matches!(&*mount.kind, "tmpfs" | "ramfs")) {
        warnings.push(format!(
            "{} lies in memory ({}): nothing there is durable.",
            disk.display(),
            mount.kind
        ));
    } else if fsync.n > 0 && fsync.p50_us < FSYNC_CREDIBLE_US {
        warnings.push(format!(
            "A synced write takes {:.0} µs: something between here and the disk acknowledges what it has only in memory.",
            fsync.p50_us
        ));
    }
    let governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if let Some(governor) = governor.filter(|governor| governor != "performance") {
        warnings.push(format!("The processor's governor is {governor}, not performance."));
    }
    let foreign_cpu = watch_foreign_cpu().unwrap_or_default();
    if foreign_cpu > FOREIGN_CPU_MAX {
        let percent = foreign_cpu * 100.0;
        warnings.push(format!("Others keep {percent:.0} % of the processors busy."));
    }
    let space = space(disk).unwrap_or_default();
    if space.free_bytes < FREE_BYTES_MIN.min(space.total_bytes / 10) {
        warnings.push(format!("Only {} MiB are free on the disk.", space.free_bytes >> 20));
    }
    let meminfo = text("/proc/meminfo").unwrap_or_default();
    if let Some((_, used)) = swap(&meminfo).filter(|&(_, used)| used > 0) {
        warnings.push(format!("{} MiB of memory are swapped out.", used.div_ceil(1 << 20)));
    }
    let load_average = load_average().unwrap_or_default();
    Doctor { fsync, free_bytes: space.free_bytes, foreign_cpu, load_average, warnings }
}

/// Processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's load average of one minute; `None` where there is no /proc.
pub fn load_average() -> Option<f64> {
    text("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// What the processors have done since the machine started, in ticks of a kernel clock that is the same for both numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessorTime {
    /// For processes, and for other virtual machines (steal). Interrupts belong to nobody.
    pub(super) busy: u64,
    /// All of it.
    pub(super) all: u64,
}

impl ProcessorTime {
    /// `None` where there is no /proc.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&text("/proc/stat")?)
    }

    /// The first line of /proc/stat; see proc_stat(5).
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let &[user, nice, system, idle, ref rest @ ..] = ticks.as_slice() else { return None };
        // iowait, irq, softirq and steal came with later kernels. What follows them (guests) is in user already.
        let later = |index: usize| rest.get(index).copied().unwrap_or_default();
        let [waiting, interrupts, soft_interrupts, stolen] = [0, 1, 2, 3].map(later);
        let busy = user + nice + system + stolen;
        Some(Self { busy, all: busy + idle + waiting + interrupts + soft_interrupts })
    }
}

/// What others do while we sleep, as a share of all processors; `None` where there is no /proc.
fn watch_foreign_cpu() -> Option<f64> {
    let before = ProcessorTime::now()?;
    std::thread::sleep(WATCH);
    let after = ProcessorTime::now()?;
    let all = after.all.saturating_sub(before.all);
    (all > 0).then(|| after.busy.saturating_sub(before.busy) as f64 / all as f64)
}

/// Writes and syncs [`PROBE_WRITES`] blocks of a file whose space already exists, as a redo log's is.
fn probe_fsync(folder: &Path) -> io::Result<Histogram> {
    /// It goes when this does. It keeps its name until then: btrfs doesn't sync files that have none.
    struct Probe(PathBuf);
    impl Drop for Probe {
        fn drop(&mut self) {
            // Nobody is left to tell.
            let _ = fs::remove_file(&self.0);
        }
    }
    // The process's number alone is 1 in every container, and one that was killed leaves its file.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let name = format!(".inrush-fsync-{}-{}", std::process::id(), now.as_nanos());
    let path = folder.join(name);
    let mut file = File::options().write(true).create_new(true).open(&path)?;
    let _probe = Probe(path);
    let block = [0x5a; PROBE_BYTES];
    for _ in 0..PROBE_WRITES {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    let mut histogram = Histogram::new();
    let begin = Instant::now();
    for _ in 0..PROBE_WRITES {
        let start = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        histogram.record(start.elapsed());
        if begin.elapsed() > PROBE_MAX {
            break;
        }
    }
    Ok(histogram)
}

/// Room of a file system, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// What we may still write.
    pub free_bytes: u64,
    /// Its size.
    pub total_bytes: u64,
}

/// The room where `path` is, or would be.
///
/// # Errors
/// When the system can't say.
pub fn space(path: &Path) -> io::Result<Space> {
    let path = std::ffi::CString::new(existing(path)?.as_os_str().as_bytes())?;
    let mut answer = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with a NUL byte, and the structure is one that statvfs() may fill.
    if unsafe { libc::statvfs(path.as_ptr(), answer.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: statvfs() has succeeded and filled it; before that it was all zeros, which is valid for its integers.
    let answer = unsafe { answer.assume_init() };
    // Their widths differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    let bytes = |blocks| (blocks as u64).saturating_mul(answer.f_frsize as u64);
    Ok(Space { free_bytes: bytes(answer.f_bavail), total_bytes: bytes(answer.f_blocks) })
}

/// A whole disk, as /sys has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `sda`, `nvme0n1`.
    pub name: String,
    /// Its folder in /sys.
    folder: PathBuf,
}

impl Device {
    /// The disk that holds `path`, or would: below partitions, encryption and volumes, as long as there is one under each. `None`
    /// for memory, networks, and file systems over several disks whose volume has no number of its own.
    pub fn of(path: &Path) -> Option<Self> {
        let device = existing(path).ok()?.metadata().ok()?.dev();
        let by_number =
            |device| Self::at(Path::new("/sys"), libc::major(device), libc::minor(device));
        // btrfs and overlays have numbers that are no device's; the mount may still name one.
        by_number(device).or_else(|| {
            let source = PathBuf::from(mount_of(path)?.source);
            let is_device = source.starts_with("/dev");
            by_number(is_device.then(|| source.metadata().ok())??.rdev())
        })
    }

    /// The whole disk of the device with that number.
    fn at(sys: &Path, major: u32, minor: u32) -> Option<Self> {
        let mut folder = fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))).ok()?;
        for _ in 0..LAYERS_MAX {
            let below = if folder.join("partition").exists() {
                folder.parent().map(Path::to_owned)
            } else {
                only_entry(&folder.join("slaves")).and_then(|below| fs::canonicalize(below).ok())
            };
            let Some(below) = below else { break };
            folder = below;
        }
        Some(Self { name: folder.file_name()?.to_string_lossy().into_owned(), folder })
    }

    /// Bytes that it has been told to write since the machine started, whoever sent them; `None` if the kernel doesn't count.
    pub fn written_bytes(&self) -> Option<u64> {
        written_bytes(&self.read("stat")?)
    }

    /// Its maker's name for it. A virtual disk has none.
    fn model(&self) -> Option<String> {
        let model = self.read("device/model").or_else(|| self.read("device/name"))?;
        // NVMe and ATA have the maker in the model, SCSI has it apart; for ATA it is the word "ATA".
        let vendor = self.read("device/vendor").filter(|vendor| {
            !vendor.starts_with("0x") && vendor != "ATA" && !model.starts_with(vendor.as_str())
        });
        Some(vendor.map_or(model.clone(), |vendor| format!("{vendor} {model}")))
    }

    fn is_rotational(&self) -> Option<bool> {
        Some(self.read("queue/rotational")? == "1")
    }

    fn scheduler(&self) -> Option<String> {
        chosen(&self.read("queue/scheduler")?)
    }

    fn read(&self, name: &str) -> Option<String> {
        text(self.folder.join(name)).filter(|text| !text.is_empty())
    }
}

/// The seventh field of a block device's `stat` counts sectors of 512 bytes, whatever the device's own sectors are
/// (Documentation/block/stat.rst of the kernel).
fn written_bytes(stat: &str) -> Option<u64> {
    stat.split_whitespace().nth(6)?.parse::<u64>().ok()?.checked_mul(512)
}

fn only_entry(folder: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?;
    let first = entries.next()?.ok()?;
    entries.next().is_none().then(|| first.path())
}

/// The path itself, or the folder above it that is there, without links.
fn existing(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let found = path.ancestors().find_map(|path| fs::canonicalize(path).ok());
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    /// The part of it that is mounted: `/`, or a subvolume.
    root: PathBuf,
    /// Where.
    point: PathBuf,
    /// `ext4`.
    kind: String,
    /// `/dev/sda1`, or a word.
    source: String,
    /// Those of the mount and those of the file system.
    options: String,
}

fn mount_of(path: &Path) -> Option<Mount> {
    let path = existing(path).ok()?;
    mounts(&text("/proc/self/mountinfo")?)
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point))
        // Of equal ones the last is the one that is seen.
        .max_by_key(|mount| mount.point.components().count())
}

/// /proc/self/mountinfo; see proc_pid_mountinfo(5).
fn mounts(mountinfo: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point, mut options) = (left.next()?, left.next()?, left.next()?.to_owned());
        let mut right = right.split(' ');
        let (kind, source) = (right.next()?, right.next()?);
        for option in right.next().unwrap_or_default().split(',') {
            let is_new = !option.is_empty() && options.split(',').all(|known| known != option);
            // Whether the file system can be written to is said of the mount.
            if is_new && !matches!(option, "rw" | "ro") {
                options.push(',');
                options.push_str(option);
            }
        }
        Some(Mount {
            root: unescaped(root).into(),
            point: unescaped(point).into(),
            kind: kind.to_owned(),
            source: unescaped(source),
            options,
        })
    };
    mountinfo.lines().filter_map(mount).collect()
}

/// Blanks, tabs, line feeds and backslashes of a path are octal there.
fn unescaped(word: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes
        .iter()
        .fold(word.to_owned(), |word, (escape, character)| word.replace(escape, character))
}

/// The tightest limits of the control groups that we are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limits {
    /// So many microseconds of CPU time in so many of wall time.
    cpu: Option<(u64, u64)>,
    memory_bytes: Option<u64>,
}

fn cgroup_limits() -> Limits {
    let (Some(groups), Some(mountinfo)) = (text("/proc/self/cgroup"), text("/proc/self/mountinfo"))
    else {
        return Limits::default();
    };
    let mounts = mounts(&mountinfo);
    let cpu = group_folders(&groups, &mounts, "cpu").into_iter().filter_map(|folder| {
        let first = text(folder.join("cpu.max")).or_else(|| {
            let quota = text(folder.join("cpu.cfs_quota_us"))?;
            Some(format!("{quota} {}", text(folder.join("cpu.cfs_period_us"))?))
        });
        cpu_max(&first?)
    });
    let memory = group_folders(&groups, &mounts, "memory").into_iter().filter_map(|folder| {
        let limit = text(folder.join("memory.max"));
        memory_max(&limit.or_else(|| text(folder.join("memory.limit_in_bytes")))?)
    });
    let share = |&(quota, period): &(u64, u64)| quota as f64 / period as f64;
    Limits { cpu: cpu.min_by(|a, b| share(a).total_cmp(&share(b))), memory_bytes: memory.min() }
}

/// The folders of our group and of those above it, of the controller's own hierarchy (version 1) and of the common one (version 2).
fn group_folders(groups: &str, mounts: &[Mount], controller: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let is_common = controllers.is_empty();
        if !is_common && controllers.split(',').all(|name| name != controller) {
            continue;
        }
        let mount = mounts.iter().find(|mount| match &*mount.kind {
            "cgroup2" => is_common,
            "cgroup" => !is_common && mount.options.split(',').any(|option| option == controller),
            _ => false,
        });
        let Some(mount) = mount else { continue };
        // A container sees its own group as the mount's root, and in its path, unless it has a namespace of its own.
        let path = Path::new(path);
        let inside = path.strip_prefix(&mount.root).or_else(|_| path.strip_prefix("/"));
        let folder = mount.point.join(inside.unwrap_or(path));
        let ours = folder.ancestors().take_while(|folder| folder.starts_with(&mount.point));
        folders.extend(ours.map(Path::to_owned));
    }
    folders
}

/// `200000 100000`; `max 100000` and `-1 100000` are no limit.
fn cpu_max(text: &str) -> Option<(u64, u64)> {
    let (quota, period) = text.split_once(' ')?;
    Some((quota.parse().ok()?, period.trim().parse().ok().filter(|&period| period > 0)?))
}

/// Bytes; `max`, and the largest number of pages that version 1 can say, are no limit.
fn memory_max(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&bytes: &u64| bytes < 1 << 60)
}

/// xxh3 of what stays the same from day to day.
fn identity(environment: &Environment) -> String {
    let memory = environment.memory_bytes.div_ceil(MEMORY_STEP);
    let mut lines = format!("{}\n{}\n{memory}\n", environment.cpu, environment.processors);
    let stable = [
        "architecture",
        "topology",
        "kernel",
        "cgroup cpu.max",
        "cgroup memory.max",
        "filesystem",
        "mount options",
        "disk model",
        "disk rotational",
        "disk write cache",
    ];
    for name in stable {
        let value = environment.facts.get(name).map_or("", String::as_str);
        lines.push_str(&format!("{name}={value}\n"));
    }
    format!("{:016x}", xxh3_64(lines.as_bytes()))
}

/// The value of the first `KEY : VALUE` of /proc/cpuinfo.
fn cpuinfo_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// x86 and some others have a name. ARM has numbers of the maker and the part, and perhaps the board's name.
fn cpu_name(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    if let Some(name) = named.iter().find_map(|key| cpuinfo_value(cpuinfo, key)) {
        return Some(name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let maker = cpuinfo_value(cpuinfo, "CPU implementer")?;
    let part = cpuinfo_value(cpuinfo, "CPU part")?;
    let board =
        cpuinfo_value(cpuinfo, "Model").map_or(String::new(), |board| format!(" ({board})"));
    Some(format!("implementer {maker} part {part}{board}"))
}

/// `1 socket, 4 cores, 8 threads`; threads only where the others aren't told.
fn topology(cpuinfo: &str) -> Option<String> {
    let (mut sockets, mut cores, mut threads) = (BTreeMap::new(), BTreeMap::new(), 0);
    for processor in cpuinfo.split("\n\n") {
        if cpuinfo_value(processor, "processor").is_none() {
            continue;
        }
        threads += 1;
        if let Some(socket) = cpuinfo_value(processor, "physical id") {
            sockets.insert(socket, ());
            cores.insert((socket, cpuinfo_value(processor, "core id")?), ());
        }
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (sockets.len(), threads) {
        (_, 0) => None,
        (0, _) => Some(count(threads, "thread")),
        (sockets, _) => Some(format!(
            "{}, {}, {}",
            count(sockets, "socket"),
            count(cores.len(), "core"),
            count(threads, "thread")
        )),
    }
}

fn turbo(no_turbo: Option<&str>, boost: Option<&str>) -> Option<String> {
    let is_on = match (no_turbo, boost) {
        (Some(no_turbo), _) => no_turbo == "0",
        (None, Some(boost)) => boost == "1",
        (None, None) => return None,
    };
    Some(if is_on { "on" } else { "off" }.to_owned())
}

/// See os-release(5).
fn os_name(release: &str) -> Option<String> {
    let value = |key: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// Bytes of a line of /proc/meminfo.
fn meminfo_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of swap space, and how many of them are used.
fn swap(meminfo: &str) -> Option<(u64, u64)> {
    let total = meminfo_bytes(meminfo, "SwapTotal")?;
    Some((total, total.saturating_sub(meminfo_bytes(meminfo, "SwapFree")?)))
}

/// Of `always [madvise] never` the one in brackets; the whole where there are none.
fn chosen(text: &str) -> Option<String> {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Some(bracketed.map_or(text, |(word, _)| word).to_owned()).filter(|word| !word.is_empty())
}

/// Where containers and virtual machines show.
#[derive(Default)]
struct Clues {
    cpuinfo: String,
    kernel: String,
    /// Of the first process: the groups name the container's manager, with version 1 at least.
    groups: String,
    /// What the firmware says of maker and product.
    firmware: String,
    /// /sys/hypervisor/type, or ARM's device tree.
    hypervisor: String,
    is_docker: bool,
    is_podman: bool,
}

impl Clues {
    fn here(cpuinfo: &str) -> Self {
        let read = |path: &str| text(path).unwrap_or_default();
        Self {
            cpuinfo: cpuinfo.to_owned(),
            kernel: read("/proc/sys/kernel/osrelease"),
            groups: read("/proc/1/cgroup"),
            firmware: [
                read("/sys/class/dmi/id/sys_vendor"),
                read("/sys/class/dmi/id/product_name"),
            ]
            .join(" "),
            hypervisor: text("/sys/hypervisor/type")
                .or_else(|| text("/sys/firmware/devicetree/base/hypervisor/compatible"))
                .unwrap_or_default(),
            is_docker: Path::new("/.dockerenv").exists(),
            is_podman: Path::new("/run/.containerenv").exists(),
        }
    }
}

/// `docker container, KVM virtual machine`, as far as it shows; `None` when nothing does.
fn virtualisation(clues: &Clues) -> Option<String> {
    let is_in_groups = |name: &str| clues.groups.contains(name);
    let container = if clues.is_podman || is_in_groups("libpod") {
        Some("podman")
    } else if is_in_groups("kubepods") {
        Some("kubernetes")
    } else if clues.is_docker || is_in_groups("/docker") {
        Some("docker")
    } else if is_in_groups("/lxc") {
        Some("lxc")
    } else {
        None
    };
    let makers = [
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google", "Google Compute Engine"),
        ("Microsoft Corporation Virtual Machine", "Hyper-V"),
        ("Xen", "Xen"),
        ("Parallels", "Parallels"),
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("OpenStack", "OpenStack"),
    ];
    let by_maker = makers.iter().find(|(sign, _)| clues.firmware.contains(sign));
    // "hypervisor" is a bit that processors leave to hypervisors (CPUID 1, ECX 31).
    let is_guest = cpuinfo_value(&clues.cpuinfo, "flags")
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let machine = if clues.kernel.to_lowercase().contains("microsoft") {
        Some("WSL".to_owned())
    } else if let Some((_, name)) =
        by_maker.filter(|_| is_guest || clues.cpuinfo.contains("CPU part"))
    {
        Some(format!("{name} virtual machine"))
    } else if clues.hypervisor.contains("xen") {
        Some("Xen virtual machine".to_owned())
    } else if is_guest || !clues.hypervisor.is_empty() {
        Some("virtual machine".to_owned())
    } else {
        None
    };
    let container = container.map(|name| format!("{name} container"));
    let all: Vec<String> = container.into_iter().chain(machine).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// A small file without blanks around it; `None` if it isn't there or may not be read.
fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    // Device trees end their words with NUL.
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const EPYC: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9B14\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: AMD EPYC 9B14\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n";
    const XEON: &str = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)  CPU E5-2680 v4 @ 2.40GHz\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu vme\n\nprocessor\t: 1\nphysical id\t: 1\ncore id\t\t: 0\nflags\t\t: fpu vme\n";
    const RASPBERRY: &str = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd08\nCPU revision\t: 3\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nRevision\t: c03111\nModel\t\t: Raspberry Pi 4 Model B Rev 1.1\n";

    #[test]
    fn processors_of_several_makers() {
        assert_eq!(cpu_name(EPYC).as_deref(), Some("AMD EPYC 9B14"));
        assert_eq!(topology(EPYC).as_deref(), Some("1 socket, 1 core, 2 threads"));
        assert_eq!(cpu_name(XEON).as_deref(), Some("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"));
        assert_eq!(topology(XEON).as_deref(), Some("2 sockets, 2 cores, 2 threads"));
        let raspberry = "implementer 0x41 part 0xd08 (Raspberry Pi 4 Model B Rev 1.1)";
        assert_eq!(cpu_name(RASPBERRY).as_deref(), Some(raspberry));
        assert_eq!(topology(RASPBERRY).as_deref(), Some("2 threads"));
        assert_eq!((cpu_name(""), topology("")), (None, None));
    }

    #[test]
    fn turbo_is_told_by_two_drivers() {
        assert_eq!(turbo(Some("1"), None).as_deref(), Some("off"));
        assert_eq!(turbo(Some("0"), Some("0")).as_deref(), Some("on"));
        assert_eq!(turbo(None, Some("1")).as_deref(), Some("on"));
        assert_eq!(turbo(None, None), None);
    }

    #[test]
    fn system_files_are_read_as_written() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n";
        assert_eq!(os_name(debian).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(os_name("NAME=Alpine\nID=alpine").as_deref(), Some("Alpine"));
        let meminfo =
            "MemTotal:       24684084 kB\nSwapTotal:       2048 kB\nSwapFree:        1024 kB\n";
        assert_eq!(meminfo_bytes(meminfo, "MemTotal"), Some(24_684_084 << 10));
        assert_eq!(meminfo_bytes(meminfo, "Mem"), None);
        assert_eq!(swap(meminfo), Some((2 << 20, 1 << 20)));
        assert_eq!(chosen("none [mq-deadline] kyber bfq").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(
            written_bytes("6858612 264130 397046490 10581564 21854786 2043524 1774 65 0"),
            Some(1774 * 512)
        );
        assert_eq!(written_bytes("1 2 3 4"), None);
    }

    #[test]
    fn interrupts_and_guests_are_no_processes() {
        let modern = "cpu  100 20 30 400 50 6 7 8 90 9\ncpu0 1 2 3 4\n";
        assert_eq!(ProcessorTime::parse(modern), Some(ProcessorTime { busy: 158, all: 621 }));
        let ancient = "cpu 100 20 30 400\n";
        assert_eq!(ProcessorTime::parse(ancient), Some(ProcessorTime { busy: 150, all: 550 }));
        assert_eq!(ProcessorTime::parse("cpu0 1 2 3 4\n"), None);
    }

    #[test]
    fn mounts_with_blanks_tags_and_options() {
        let mountinfo = "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard,data=ordered\n\
            40 27 0:35 /@home /my\\040home rw,noatime - btrfs /dev/mapper/luks ro,compress=zstd:1,subvol=/@home\n\
            25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=24684084k\nrubbish\n";
        let mounts = mounts(mountinfo);
        assert_eq!(mounts.len(), 3);
        assert_eq!((&*mounts[0].kind, &*mounts[0].source), ("ext4", "/dev/vda"));
        assert_eq!(mounts[0].options, "rw,relatime,discard,data=ordered");
        assert_eq!(
            (mounts[1].root.to_str(), mounts[1].point.to_str()),
            (Some("/@home"), Some("/my home"))
        );
        assert_eq!(mounts[1].options, "rw,noatime,compress=zstd:1,subvol=/@home");
    }

    #[test]
    fn groups_of_both_versions_are_found() {
        let unified = mounts("31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        let folders = group_folders("0::/user.slice/a.scope\n", &unified, "memory");
        let expected =
            ["/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"];
        assert_eq!(folders, expected.map(PathBuf::from));

        // A container of version 1 without a namespace of its own.
        let mountinfo = "36 31 0:33 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
            37 31 0:34 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n";
        let groups = "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n1:name=systemd:/\n";
        let version_1 = mounts(mountinfo);
        let folder = |controller| group_folders(groups, &version_1, controller);
        assert_eq!(folder("memory"), [PathBuf::from("/sys/fs/cgroup/memory")]);
        assert_eq!(folder("cpu"), [PathBuf::from("/sys/fs/cgroup/cpu,cpuacct")]);
    }

    #[test]
    fn limits_that_are_none() {
        assert_eq!(cpu_max("200000 100000"), Some((200_000, 100_000)));
        assert_eq!((cpu_max("max 100000"), cpu_max("-1 100000"), cpu_max("")), (None, None, None));
        assert_eq!(memory_max("1073741824"), Some(1 << 30));
        assert_eq!((memory_max("max"), memory_max("9223372036854771712")), (None, None));
    }

    #[test]
    fn containers_and_virtual_machines_show() {
        let clues = |change: fn(&mut Clues)| {
            let mut clues = Clues { cpuinfo: EPYC.to_owned(), ..Clues::default() };
            change(&mut clues);
            virtualisation(&clues)
        };
        assert_eq!(clues(|_| ()).as_deref(), Some("virtual machine"));
        let docker = clues(|clues| {
            clues.is_docker = true;
            clues.firmware = "QEMU Standard PC".to_owned();
        });
        assert_eq!(docker.as_deref(), Some("docker container, QEMU virtual machine"));
        let wsl = clues(|clues| clues.kernel = "5.15.90.1-microsoft-standard-WSL2".to_owned());
        assert_eq!(wsl.as_deref(), Some("WSL"));
        // A machine of a maker who also makes hypervisors.
        let metal = clues(|clues| {
            clues.cpuinfo = XEON.to_owned();
            clues.firmware = "Google Chromebox".to_owned();
        });
        assert_eq!(metal, None);
        let pod = clues(|clues| {
            clues.cpuinfo = XEON.to_owned();
            clues.groups = "1:memory:/kubepods/burstable/pod1".to_owned();
        });
        assert_eq!(pod.as_deref(), Some("kubernetes container"));
    }

    /// A partition of a SCSI disk under encryption under a volume, and a mirror of two disks.
    #[test]
    fn layers_are_followed_to_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let sys = fs::canonicalize(folder.path()).unwrap();
        let write = |path: &str, text: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("devices/block/sda/queue/rotational", "1\n");
        write("devices/block/sda/queue/scheduler", "none [mq-deadline]\n");
        write("devices/block/sda/device/model", "ST4000DM004-2CV1\n");
        write("devices/block/sda/device/vendor", "ATA     \n");
        write("devices/block/sda/stat", " 1 2 3 4 5 6 8 7\n");
        write("devices/block/sda/sda2/partition", "2\n");
        write("devices/block/sdb/device/vendor", "SEAGATE \n");
        write("devices/block/sdb/device/model", "ST600MM0006\n");
        let link = |path: &str, to: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(sys.join("devices/block").join(to), path).unwrap();
        };
        link("devices/block/dm-0/slaves/sda2", "sda/sda2");
        link("devices/block/dm-1/slaves/dm-0", "dm-0");
        link("devices/block/md0/slaves/sda2", "sda/sda2");
        link("devices/block/md0/slaves/sdb", "sdb");
        link("dev/block/253:1", "dm-1");
        link("dev/block/8:16", "sdb");
        link("dev/block/9:0", "md0");

        let disk = Device::at(&sys, 253, 1).unwrap();
        assert_eq!(disk.name, "sda");
        assert_eq!(disk.model().as_deref(), Some("ST4000DM004-2CV1"));
        assert_eq!((disk.is_rotational(), disk.written_bytes()), (Some(true), Some(8 * 512)));
        assert_eq!(disk.scheduler().as_deref(), Some("mq-deadline"));
        let other = Device::at(&sys, 8, 16).unwrap();
        assert_eq!(other.model().as_deref(), Some("SEAGATE ST600MM0006"));
        assert_eq!((other.scheduler(), other.written_bytes()), (None, None));
        assert_eq!(Device::at(&sys, 9, 0).unwrap().name, "md0");
        assert_eq!(Device::at(&sys, 7, 7), None);
    }

    #[test]
    fn what_changes_daily_does_not_change_the_identity() {
        let mut environment =
            Environment { cpu: "x".to_owned(), memory_bytes: 16 << 30, ..Environment::default() };
        environment.facts.insert("kernel".to_owned(), "6.1".to_owned());
        let before = identity(&environment);
        environment.memory_bytes -= 1 << 20;
        environment.facts.insert("governor".to_owned(), "powersave".to_owned());
        assert_eq!(identity(&environment), before);
        environment.facts.insert("kernel".to_owned(), "6.2".to_owned());
        assert_ne!(identity(&environment), before);
    }

    #[test]
    fn this_machine_is_described_twice_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let environment = environment(folder.path());
        assert_eq!(environment.id.len(), 16);
        assert!(environment.processors > 0);
        // A run's folder need not be there yet.
        assert_eq!(super::environment(&folder.path().join("not/yet")), environment);
    }

    #[test]
    fn the_probe_syncs_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let doctor = doctor(folder.path());
        assert!(doctor.fsync.n > 0 && doctor.fsync.p50_us > 0.0);
        assert!(doctor.free_bytes > 0);
        assert!((0.0..=1.0).contains(&doctor.foreign_cpu));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let missing = super::doctor(&folder.path().join("missing"));
        assert_eq!(missing.fsync.n, 0);
        assert!(missing.warnings[0].contains("could not be written"), "{:?}", missing.warnings);
    }

    #[test]
    fn room_is_that_of_df() {
        let space = space(Path::new("/")).unwrap();
        assert!(0 < space.free_bytes && space.free_bytes <= space.total_bytes);
    }
}
