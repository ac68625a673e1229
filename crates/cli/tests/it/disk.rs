//! A disk of a test's own, under a directory of a server's.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::Fixture;

/// Set where a test runs the second time, among mounts of its own.
const VARIABLE: &str = "INRUSH_TEST_MOUNTS";

/// Whether this process may mount what it likes: nobody else sees it, and it is gone when the last process here is. If not, the
/// test of that name is run once more, where that is so; it has to go well there, and there is nothing more to do here.
#[track_caller]
pub(crate) fn has_mounts_of_its_own(test: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let probe = Fixture::new();
    fs::create_dir(probe.path("disk")).unwrap();
    let unshare = |options: &str| {
        let mut command = Command::new("unshare");
        command.arg(options).current_dir(probe.dir());
        command
    };
    // As root, or as a user who is root in a namespace of users.
    let can_mount = |options: &&str| {
        let mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "disk"];
        unshare(options).args(mount).output().is_ok_and(|run| run.status.success())
    };
    let Some(options) = ["-m", "-rm"].into_iter().find(can_mount) else {
        eprintln!(
            "SKIPPED: no full disk to test with, because `unshare -m` and `unshare -rm` can't mount here"
        );
        return false;
    };
    let run = unshare(options)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .current_dir(std::env::current_dir().unwrap())
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    // As it looks when the test does not pass here.
    println!("{}", said[0]);
    eprintln!("{}", said[1]);
    assert!(run.status.success() && said[0].contains("1 passed"), "see above");
    false
}

/// A disk that hides what was in the directory.
pub(crate) struct Disk {
    place: PathBuf,
}

impl Disk {
    pub(crate) fn over(place: impl AsRef<Path>, size: &str) -> Self {
        let disk = Self { place: place.as_ref().to_owned() };
        disk.mount(&format!("size={size}"));
        disk
    }

    pub(crate) fn resize(&self, size: &str) {
        self.mount(&format!("remount,size={size}"));
    }

    fn mount(&self, options: &str) {
        // With its source told, a mount is also mounted anew by who is root in a namespace only.
        let args = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let run = Command::new("mount").args(args).arg(&self.place).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    /// Leaves no room at all while `work` is on.
    pub(crate) fn full<T>(&self, work: impl FnOnce() -> T) -> T {
        let path = self.place.join("full");
        let mut file = fs::File::create(&path).unwrap();
        let end = std::iter::repeat_with(|| file.write_all(&[0; 4096])).find_map(Result::err);
        assert_eq!(end.unwrap().kind(), ErrorKind::StorageFull);
        let answer = work();
        fs::remove_file(path).unwrap();
        answer
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: the server may have files open. The directory can be removed then.
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}
