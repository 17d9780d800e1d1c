//! The table of functions through which packetdrill drives a stack: our declaration of `struct packetdrill_interface`.
//!
//! Each function gets `userdata` first and otherwise has the signature of the C library's function of its name. Those with
//! "..." in C take here the one argument that packetdrill ever passes there; on the platforms that Linux's TCP is tested on
//! an integer or pointer travels the same way as a variable argument.

use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

use libc::{epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, sockaddr, socklen_t, timeval};

/// `void *userdata`.
pub type Userdata = *mut c_void;

macro_rules! table {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// `struct packetdrill_interface`.
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct PacketdrillInterface {
            pub userdata: Userdata,
            pub free: Option<unsafe extern "C" fn(Userdata)>,
            $(pub $name: Option<unsafe extern "C" fn(Userdata $(, $argument)*) -> $result>,)*
        }

        impl PacketdrillInterface {
            /// A table without functions.
            pub const fn empty() -> PacketdrillInterface {
                PacketdrillInterface { userdata: std::ptr::null_mut(), free: None, $($name: None,)* }
            }
        }
    };
}

table! {
    socket: fn(c_int, c_int, c_int) -> c_int;
    bind: fn(c_int, *const sockaddr, socklen_t) -> c_int;
    listen: fn(c_int, c_int) -> c_int;
    accept: fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
    connect: fn(c_int, *const sockaddr, socklen_t) -> c_int;
    read: fn(c_int, *mut c_void, usize) -> isize;
    readv: fn(c_int, *const iovec, c_int) -> isize;
    recv: fn(c_int, *mut c_void, usize, c_int) -> isize;
    recvfrom: fn(c_int, *mut c_void, usize, c_int, *mut sockaddr, *mut socklen_t) -> isize;
    recvmsg: fn(c_int, *mut msghdr, c_int) -> isize;
    write: fn(c_int, *const c_void, usize) -> isize;
    writev: fn(c_int, *const iovec, c_int) -> isize;
    send: fn(c_int, *const c_void, usize, c_int) -> isize;
    sendto: fn(c_int, *const c_void, usize, c_int, *const sockaddr, socklen_t) -> isize;
    sendmsg: fn(c_int, *const msghdr, c_int) -> isize;
    fcntl: fn(c_int, c_int, c_long) -> c_int;
    ioctl: fn(c_int, c_ulong, *mut c_void) -> c_int;
    close: fn(c_int) -> c_int;
    shutdown: fn(c_int, c_int) -> c_int;
    getsockopt: fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
    setsockopt: fn(c_int, c_int, c_int, *const c_void, socklen_t) -> c_int;
    poll: fn(*mut pollfd, nfds_t, c_int) -> c_int;
    // A packet to the stack.
    netdev_send: fn(*const c_void, usize) -> c_int;
    // The next packet from the stack, with the time at which it left.
    netdev_receive: fn(*mut c_void, *mut usize, *mut c_longlong) -> c_int;
    usleep: fn(c_uint) -> c_int;
    gettimeofday: fn(*mut timeval, *mut c_void) -> c_int;
    epoll_create: fn(c_int) -> c_int;
    epoll_ctl: fn(c_int, c_int, c_int, *mut epoll_event) -> c_int;
    epoll_wait: fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
    pipe: fn(*mut c_int) -> c_int;
    splice: fn(c_int, *mut loff_t, c_int, *mut loff_t, usize, c_uint) -> isize;
}

/// The type of `packetdrill_interface_init`, the one symbol that packetdrill looks up.
pub type Init = unsafe extern "C" fn(*const std::ffi::c_char, *mut PacketdrillInterface);

#[cfg(test)]
mod tests {
    use super::PacketdrillInterface as Table;
    use std::mem::{offset_of, size_of};

    /// Packetdrill's structure has 33 pointers; some of them by their place.
    #[test]
    fn functions_stand_where_packetdrill_has_them() {
        const WORD: usize = size_of::<usize>();
        assert_eq!(size_of::<Table>(), 33 * WORD);
        let places = [
            (offset_of!(Table, free), 1),
            (offset_of!(Table, socket), 2),
            (offset_of!(Table, recvmsg), 11),
            (offset_of!(Table, sendmsg), 16),
            (offset_of!(Table, close), 19),
            (offset_of!(Table, poll), 23),
            (offset_of!(Table, netdev_send), 24),
            (offset_of!(Table, gettimeofday), 27),
            (offset_of!(Table, splice), 32),
        ];
        assert!(places.iter().all(|(offset, place)| *offset == place * WORD), "{places:?}");
    }
}
