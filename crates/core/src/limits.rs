//! Limits that a process is started with. What the system and libraries say where one is reached may be anything: a disk that is full, a
//! file that can't be opened, a processor that is busy.

/// What a process may have no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Files that are open.
    OpenFiles,
    /// Bytes of a file.
    FileSize,
    /// Bytes of memory, also of what is only mapped.
    Memory,
}

impl Limit {
    /// What raises it, where this process has one that a load may reach.
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        self.is_near().then(|| self.cure())
    }

    /// What raises it.
    #[must_use]
    pub const fn cure(self) -> &'static str {
        match self {
            Self::OpenFiles => "raise the limit of open files (ulimit -n)",
            Self::FileSize => "raise the limit of a file's size (ulimit -f)",
            Self::Memory => "raise the limit of memory (ulimit -v)",
        }
    }

    #[cfg(unix)]
    fn is_near(self) -> bool {
        use rustix::process::{Resource, getrlimit};
        // A load has no more than some dozens open.
        const FILES: u64 = 64;
        let (resource, most) = match self {
            Self::OpenFiles => (Resource::Nofile, FILES),
            Self::FileSize => (Resource::Fsize, u64::MAX),
            Self::Memory => (Resource::As, u64::MAX),
        };
        getrlimit(resource).current.is_some_and(|limit| limit < most)
    }

    #[cfg(not(unix))]
    fn is_near(self) -> bool {
        false
    }
}
