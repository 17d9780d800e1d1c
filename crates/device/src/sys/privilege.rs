//! The user and group that the process acts as.

use std::io;

/// Makes the effective user and group the real ones, for good: for programs whose file has the set-user-ID bit.
///
/// # Errors
/// If the system refuses.
pub fn drop_privilege() -> io::Result<()> {
    // SAFETY: the calls take and return plain numbers.
    let refused = unsafe { libc::setgid(libc::getgid()) != 0 || libc::setuid(libc::getuid()) != 0 };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}
