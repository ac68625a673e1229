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
