//! Errors as Linux numbers them, and the two ways in which a call may not give its result at once.

use std::fmt;

use super::{Fd, Wait};

/// An `errno` of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($name:ident $number:literal $text:literal)*) => {
        #[allow(missing_docs)]
        impl Errno {
            $(pub const $name: Errno = Errno($number);)*

            /// The name in `errno.h`, or "E?" for a number that no call here gives.
            pub fn name(self) -> &'static str {
                match self.0 { $($number => concat!("E", stringify!($name)),)* _ => "E?" }
            }

            fn text(self) -> &'static str {
                match self.0 { $($number => $text,)* _ => "unknown error" }
            }
        }
    };
}

errnos! {
    PERM 1 "operation not permitted"
    NOENT 2 "no such file or directory"
    INTR 4 "interrupted system call"
    BADF 9 "bad file descriptor"
    AGAIN 11 "resource temporarily unavailable"
    NOMEM 12 "cannot allocate memory"
    ACCES 13 "permission denied"
    FAULT 14 "bad address"
    EXIST 17 "file exists"
    INVAL 22 "invalid argument"
    MFILE 24 "too many open files"
    NOTTY 25 "inappropriate ioctl for device"
    PIPE 32 "broken pipe"
    DOM 33 "numerical argument out of domain"
    NOTSOCK 88 "socket operation on non-socket"
    DESTADDRREQ 89 "destination address required"
    MSGSIZE 90 "message too long"
    NOPROTOOPT 92 "protocol not available"
    PROTONOSUPPORT 93 "protocol not supported"
    SOCKTNOSUPPORT 94 "socket type not supported"
    OPNOTSUPP 95 "operation not supported"
    AFNOSUPPORT 97 "address family not supported by protocol"
    ADDRINUSE 98 "address already in use"
    ADDRNOTAVAIL 99 "cannot assign requested address"
    NETDOWN 100 "network is down"
    NETUNREACH 101 "network is unreachable"
    CONNABORTED 103 "software caused connection abort"
    CONNRESET 104 "connection reset by peer"
    NOBUFS 105 "no buffer space available"
    ISCONN 106 "transport endpoint is already connected"
    NOTCONN 107 "transport endpoint is not connected"
    TIMEDOUT 110 "connection timed out"
    CONNREFUSED 111 "connection refused"
    HOSTUNREACH 113 "no route to host"
    ALREADY 114 "operation already in progress"
    INPROGRESS 115 "operation now in progress"
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.text(), self.name(), self.0)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            "E?" => write!(f, "Errno({})", self.0),
            name => f.write_str(name),
        }
    }
}

impl std::error::Error for Errno {}

/// Why a call did not give its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It failed.
    Error(Errno),
    /// It is a call of a blocking socket that would sleep now. The caller waits as [`Wait`] says and then repeats the
    /// call with the same arguments and the same [`Progress`](super::Progress).
    Wait(Wait),
}

impl Refusal {
    /// What a caller that cannot wait is told.
    pub fn errno(self) -> Errno {
        match self {
            Refusal::Error(errno) => errno,
            Refusal::Wait(_) => Errno::AGAIN,
        }
    }

    /// To wait for `events` of `fd`.
    pub(super) fn wait(fd: Fd, events: i16, deadline: Option<u64>) -> Refusal {
        Refusal::Wait(Wait { fd, events, deadline })
    }
}

impl From<crate::Error> for Errno {
    fn from(error: crate::Error) -> Errno {
        Errno(error.0)
    }
}

impl From<crate::Error> for Refusal {
    fn from(error: crate::Error) -> Refusal {
        Refusal::Error(error.into())
    }
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal::Error(errno)
    }
}
