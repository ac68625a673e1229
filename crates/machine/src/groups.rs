//! Control groups: what a container may use.

use std::path::{Path, PathBuf};

use crate::disk::{Mount, mounts};
use crate::text;

/// The tightest limits of the control groups that we are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many microseconds of CPU time in so many of wall time.
    pub cpu: Option<(u64, u64)>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
}

/// The limits of this process; none where there is no /proc.
pub fn cgroup_limits() -> Limits {
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

/// The share of the periods in which this process's group, or one above it, ran into its limit of CPU time; `None` where there is no such
/// limit, or it can't be told.
pub fn cgroup_throttled() -> Option<f64> {
    let (groups, mountinfo) = (text("/proc/self/cgroup")?, text("/proc/self/mountinfo")?);
    let folders = group_folders(&groups, &mounts(&mountinfo), "cpu");
    let shares = folders.iter().filter_map(|folder| throttled(&text(folder.join("cpu.stat"))?));
    shares.max_by(f64::total_cmp)
}

/// Of a group's cpu.stat, which both versions have.
fn throttled(stat: &str) -> Option<f64> {
    let count = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    let (periods, throttled) = (count("nr_periods")?, count("nr_throttled")?);
    (periods > 0).then(|| throttled as f64 / periods as f64)
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn periods_that_ran_into_the_limit_are_counted() {
        let stat = "usage_usec 73000\nnr_periods 200\nnr_throttled 50\nthrottled_usec 1000000\n";
        assert_eq!(throttled(stat), Some(0.25));
        // A group without a limit counts none.
        assert_eq!(throttled("usage_usec 73000\nnr_periods 0\nnr_throttled 0"), None);
        assert_eq!(throttled("usage_usec 73000"), None);
    }

    #[test]
    fn limits_that_are_none() {
        assert_eq!(cpu_max("200000 100000"), Some((200_000, 100_000)));
        assert_eq!((cpu_max("max 100000"), cpu_max("-1 100000"), cpu_max("")), (None, None, None));
        assert_eq!(memory_max("1073741824"), Some(1 << 30));
        assert_eq!((memory_max("max"), memory_max("9223372036854771712")), (None, None));
    }
}
