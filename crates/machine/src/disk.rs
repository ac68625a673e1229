//! Disks and file systems.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::text;

/// Devices that may lie on each other: a partition, its volume, its encryption, and some to spare.
const LAYERS_MAX: usize = 8;

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
    pub fn model(&self) -> Option<String> {
        let model = self.read("device/model").or_else(|| self.read("device/name"))?;
        // NVMe and ATA have the maker in the model, SCSI has it apart; for ATA it is the word "ATA".
        let vendor = self.read("device/vendor").filter(|vendor| {
            !vendor.starts_with("0x") && vendor != "ATA" && !model.starts_with(vendor.as_str())
        });
        Some(vendor.map_or(model.clone(), |vendor| format!("{vendor} {model}")))
    }

    /// Whether it turns; `None` if the kernel does not know.
    pub fn is_rotational(&self) -> Option<bool> {
        Some(self.read("queue/rotational")? == "1")
    }

    /// What orders its requests.
    pub fn scheduler(&self) -> Option<String> {
        chosen(&self.read("queue/scheduler")?)
    }

    /// A file of its folder in /sys.
    pub fn read(&self, name: &str) -> Option<String> {
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
pub struct Mount {
    /// The part of it that is mounted: `/`, or a subvolume.
    pub root: PathBuf,
    /// Where.
    pub point: PathBuf,
    /// `ext4`.
    pub kind: String,
    /// `/dev/sda1`, or a word.
    pub source: String,
    /// Those of the mount and those of the file system.
    pub options: String,
}

/// The file system that holds `path`, or would. `None` where there is no /proc.
pub fn mount_of(path: &Path) -> Option<Mount> {
    let path = existing(path).ok()?;
    mounts(&text("/proc/self/mountinfo")?)
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point))
        // Of equal ones the last is the one that is seen.
        .max_by_key(|mount| mount.point.components().count())
}

/// /proc/self/mountinfo; see proc_pid_mountinfo(5).
pub(crate) fn mounts(mountinfo: &str) -> Vec<Mount> {
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

/// Of `always [madvise] never` the one in brackets; the whole where there are none.
pub fn chosen(text: &str) -> Option<String> {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Some(bracketed.map_or(text, |(word, _)| word).to_owned()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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
    fn the_seventh_number_of_a_disk_is_what_it_wrote() {
        assert_eq!(
            written_bytes("6858612 264130 397046490 10581564 21854786 2043524 1774 65 0"),
            Some(1774 * 512)
        );
        assert_eq!(written_bytes("1 2 3 4"), None);
    }

    #[test]
    fn room_is_that_of_df() {
        let space = space(Path::new("/")).unwrap();
        assert!(0 < space.free_bytes && space.free_bytes <= space.total_bytes);
    }
}
