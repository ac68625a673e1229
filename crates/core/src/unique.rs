//! Words that nobody else has: process ids lie where processes live in containers.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Sixteen hexadecimal digits at random.
pub fn word() -> String {
    // Its keys are; those of a process that is forked are its parent's.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        assert_ne!(word(), word());
        assert_eq!(word().len(), 16);
    }
}
