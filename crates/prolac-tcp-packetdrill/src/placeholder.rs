//! Descriptors of the kernel that stand for ours.
//!
//! When a script ends, packetdrill closes what the script has left open with the C library's `close`, not with ours, and
//! fails if that fails. So each of our descriptors has the number of an open file of the kernel, which is nothing else.

use clickwork_prolac_tcp::sockets::Fd;

/// A number that is ours until it is closed.
pub fn open() -> Option<Fd> {
    // SAFETY: a string with its end.
    let fd = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    (fd >= 0).then_some(fd)
}

/// Gives a number back.
pub fn close(fd: Fd) {
    // SAFETY: `open` has given it, and who closes a socket of ours by the C library does not come here for it again.
    unsafe { libc::close(fd) };
}
