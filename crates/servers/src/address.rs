//! How a server is reached.

use std::path::Path;

use inrush_core::{Error, Result};

/// A unix socket's path has 108 bytes in the kernel, the last of them NUL.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// # Errors
/// When no server can listen at such a long path.
pub(super) fn check_socket(path: &Path) -> Result<()> {
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok(());
    }
    Err(Error::target(format!(
        "the path of a socket is too long for this system: {}",
        path.display()
    ))
    .advise("TMPDIR names another place for it"))
}

/// The path as a value in a URL, and one word of a shell.
pub(super) fn percent_encoded(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_stays_one_word_of_a_url() {
        assert_eq!(percent_encoded(Path::new("/tmp/a b&c/s.sock")), "/tmp/a%20b%26c/s.sock");
    }
}
