//! Words that nobody else has: process ids lie where processes live in containers.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Sixteen hexadecimal digits at random.
pub fn word() -> String {
    // Its keys are.
    format!("{:016x}", RandomState::new().build_hasher().finish())
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
