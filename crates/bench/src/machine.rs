//! The machine that is measured: what it is, and whether it is fit to be measured now.
//!
//! All of it comes from /proc and /sys. A container or another system lacks some of these files: what can't be told is absent, and
//! nothing fails. Parsing is apart from reading, so that files of other machines can be tested.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_64;

use crate::latency::Histogram;
use inrush_findings::record::{Doctor, Environment};
use inrush_machine::{
    Device, ProcessorTime, cgroup_limits, chosen, cpu_name, cpuinfo_value, load_average,
    meminfo_bytes, mount_of, processors, space, swap, sync_times, text,
};

/// Writes of the probe, as many as pg_test_fsync does in some seconds on a disk that turns.
const PROBE_WRITES: usize = 200;

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
    let mut histogram = Histogram::new();
    for time in sync_times(&mut file, PROBE_WRITES, PROBE_MAX)? {
        histogram.record(time);
    }
    Ok(histogram)
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

#[cfg(test)]
mod tests {
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
}
