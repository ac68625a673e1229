//! What the machine is: disks, memory, processors, and what a container may use of them.
//!
//! All of it comes from /proc and /sys. A container or another system lacks some of these files: what can't be told is absent, and
//! nothing fails. Parsing is apart from reading, so that files of other machines can be tested.

mod disk;
mod files;
mod groups;
mod memory;
mod processors;
mod sync;

use std::fs;
use std::path::Path;

pub use disk::{Device, Mount, Space, chosen, mount_of, space};
pub use files::raise_open_files;
pub use groups::{Limits, cgroup_limits, cgroup_throttled};
pub use memory::{meminfo_bytes, memory_bytes, swap};
pub use processors::{ProcessorTime, cpu_name, cpuinfo_value, load_average, processors};
pub use sync::{nameless, sync_times};

/// A small file without blanks around it; `None` if it isn't there or may not be read.
pub fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    // Device trees end their words with NUL.
    let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
    Some(text.trim().to_owned())
}
