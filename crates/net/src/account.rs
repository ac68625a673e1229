//! Who runs this process, as database clients want to know it.

/// The name of the account, which libpq and MySQL's clients take where nobody names a user; `None` where the system has no name for it,
/// as in many containers.
#[cfg(unix)]
pub fn account() -> Option<String> {
    // SAFETY: it only returns a number.
    let user = unsafe { libc::geteuid() };
    // Entries are short; a directory service may have longer ones.
    let mut buffer = vec![0; 1 << 10];
    loop {
        let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: all pointers are to what lives until after the call, and the length is the buffer's.
        let error = unsafe {
            libc::getpwuid_r(
                user,
                entry.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            )
        };
        if error == libc::ERANGE && buffer.len() < 1 << 20 {
            buffer.resize(buffer.len() * 2, 0);
            continue;
        }
        if error != 0 || found.is_null() {
            return None;
        }
        // SAFETY: the call succeeded, so `found` is the entry, and its name a text in the buffer that ends in a zero.
        let name = unsafe { std::ffi::CStr::from_ptr((*found).pw_name) };
        return name.to_str().ok().filter(|name| !name.is_empty()).map(str::to_owned);
    }
}

/// No account that a server would know.
#[cfg(not(unix))]
pub fn account() -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_the_one_that_the_system_names() {
        let told = std::process::Command::new("id").arg("-un").output().unwrap();
        let told = told.status.success().then(|| String::from_utf8(told.stdout).unwrap());
        assert_eq!(account(), told.map(|name| name.trim_end().to_owned()));
    }
}
