//! File descriptors that the process was started with.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// A descriptor of its own for the open file that number `fd` stands for, such as one inherited from a parent process.
///
/// # Errors
/// If there is no such open file.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes any number; one that is not open is an error.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(own) })
}

#[cfg(test)]
mod tests {
    use super::inherited;

    #[test]
    fn only_open_files_have_descriptors() {
        assert!(inherited(1).is_ok());
        assert!(inherited(-1).is_err() && inherited(i32::MAX).is_err());
    }
}
