//! Memory.

use crate::{cgroup_limits, text};

/// Bytes of a line of /proc/meminfo.
pub fn meminfo_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of swap space, and how many of them are used.
pub fn swap(meminfo: &str) -> Option<(u64, u64)> {
    let total = meminfo_bytes(meminfo, "SwapTotal")?;
    Some((total, total.saturating_sub(meminfo_bytes(meminfo, "SwapFree")?)))
}

/// Bytes of memory that this process and its neighbours may use: the machine's, or the control group's where that is less. `None` where
/// there is no /proc.
pub fn memory_bytes() -> Option<u64> {
    let machine = meminfo_bytes(&text("/proc/meminfo")?, "MemTotal")?;
    Some(cgroup_limits().memory_bytes.map_or(machine, |limit| limit.min(machine)))
}
