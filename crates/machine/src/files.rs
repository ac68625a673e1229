//! Files that are open.

/// Lets this process have as many files open as it may: the limit that it begins with is a low one, for programs whose calls know no
/// file beyond the thousandth. What can't be raised stays.
pub fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is one that getrlimit() may fill, and setrlimit() reads what that has filled.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
