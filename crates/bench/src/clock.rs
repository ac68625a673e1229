//! What time it is: for people, and for processes that measure together.

/// Now, in UTC, as RFC 3339 has it, to the second.
pub(super) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The system's monotonic clock in nanoseconds: the same for all processes until the machine starts anew.
pub(super) fn clock_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_as_other_clocks_do() {
        let (before, ours) = (std::time::Instant::now(), clock_ns());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (took, ours) = (before.elapsed().as_nanos(), u128::from(clock_ns() - ours));
        assert!(ours >= 20_000_000 && ours <= took + 20_000_000, "{ours} {took}");
    }
}
