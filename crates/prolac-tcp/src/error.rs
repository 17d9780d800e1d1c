//! Errors of the stack: the numbers that Linux uses, so that what is above needs no table.

use std::fmt;

/// Why a call failed: an `errno` of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(pub i32);

macro_rules! errors {
    ($($name:ident $symbol:ident $number:literal $text:literal;)*) => {
        impl Error {
            $(#[doc = concat!($text, ": `", stringify!($symbol), "`.")] pub const $name: Error = Error($number);)*

            /// The name of the number in C, if it is one that TCP gives.
            pub fn symbol(self) -> Option<&'static str> {
                match self.0 { $($number => Some(stringify!($symbol)),)* _ => None }
            }

            fn text(self) -> Option<&'static str> {
                match self.0 { $($number => Some($text),)* _ => None }
            }
        }
    };
}

errors! {
    WOULD_BLOCK EAGAIN 11 "the call would have to wait";
    NO_MEMORY ENOMEM 12 "out of memory";
    ACCESS EACCES 13 "the way to the peer is prohibited";
    INVALID EINVAL 22 "invalid argument";
    BROKEN_PIPE EPIPE 32 "the sending side is shut down";
    NO_NETWORK ENONET 64 "the peer is isolated";
    PROTOCOL EPROTO 71 "protocol error";
    MESSAGE_SIZE EMSGSIZE 90 "message too long";
    NO_OPTION ENOPROTOOPT 92 "protocol or option not available";
    NOT_SUPPORTED EOPNOTSUPP 95 "operation not supported";
    FAMILY EAFNOSUPPORT 97 "addresses of different families";
    ADDRESS_IN_USE EADDRINUSE 98 "address already in use";
    ADDRESS_NOT_AVAILABLE EADDRNOTAVAIL 99 "cannot assign requested address";
    NETWORK_UNREACHABLE ENETUNREACH 101 "network is unreachable";
    ABORTED ECONNABORTED 103 "connection aborted";
    RESET ECONNRESET 104 "connection reset by peer";
    NO_BUFFERS ENOBUFS 105 "no buffer space";
    NOT_CONNECTED ENOTCONN 107 "not connected";
    TIMED_OUT ETIMEDOUT 110 "connection timed out";
    REFUSED ECONNREFUSED 111 "connection refused";
    HOST_DOWN EHOSTDOWN 112 "host is down";
    HOST_UNREACHABLE EHOSTUNREACH 113 "no route to host";
}

impl Error {
    /// The number.
    pub const fn errno(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => f.write_str(text),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.symbol() {
            Some(symbol) => f.write_str(symbol),
            None => write!(f, "Error({})", self.0),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        std::io::Error::from_raw_os_error(error.0)
    }
}
