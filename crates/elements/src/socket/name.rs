//! The addresses of sockets.

use clickwork_packet::addr::Ipv4Address;
use rustix::io::Errno;
use rustix::net::sockopt::socket_type;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, bind, connect, sendto, socket_with,
};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Longest name of a Unix socket in the file system; one byte more if it is not there.
const MAX_PATH: usize = 107;

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// IPv4 address and port.
    Inet(SocketAddrV4),
    /// A file, or if it begins with a zero byte a name that is in no file system.
    Unix(PathBuf),
}

/// An address as sockets take it.
pub fn inet(address: Ipv4Address, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::from_bits(address.to_bits()), port)
}

impl Name {
    /// Whether the system could not take it.
    pub fn is_too_long(&self) -> bool {
        let Name::Unix(path) = self else { return false };
        let bytes = path.as_os_str().as_bytes();
        bytes.len() > if bytes.first() == Some(&0) { MAX_PATH + 1 } else { MAX_PATH }
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Name::Unix(path) if !path.as_os_str().as_bytes().starts_with(&[0]) => Some(path),
            _ => None,
        }
    }

    /// The IP address, if there is one.
    pub fn address(&self) -> Option<Ipv4Address> {
        match self {
            Name::Inet(address) => Some(Ipv4Address::from_bits(address.ip().to_bits())),
            Name::Unix(_) => None,
        }
    }

    /// The address that the system has told.
    pub fn of(any: SocketAddrAny) -> Option<Name> {
        if let Ok(address) = SocketAddrV4::try_from(any.clone()) {
            return Some(Name::Inet(address));
        }
        let unix = SocketAddrUnix::try_from(any).ok()?;
        let bytes = match (unix.path_bytes(), unix.abstract_name()) {
            (Some(path), _) => path.to_vec(),
            (None, Some(name)) => [&[0], name].concat(),
            (None, None) => return None,
        };
        Some(Name::Unix(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))))
    }

    fn unix(path: &Path) -> Result<SocketAddrUnix, Errno> {
        match path.as_os_str().as_bytes() {
            [0, name @ ..] => SocketAddrUnix::new_abstract_name(name),
            _ => SocketAddrUnix::new(path),
        }
    }

    /// Gives a socket this address.
    pub fn bind(&self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        match self {
            Name::Inet(address) => bind(socket, address),
            Name::Unix(path) => bind(socket, &Name::unix(path)?),
        }
    }

    /// The same; the file of a Unix socket that nobody answers on any more is replaced.
    pub fn bind_anew(&self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        match self.bind(socket) {
            Err(Errno::ADDRINUSE) if self.is_abandoned(socket) => {
                if let Some(file) = self.file() {
                    let _ = std::fs::remove_file(file);
                }
                self.bind(socket)
            }
            bound => bound,
        }
    }

    /// Whether this is the file of a socket like `socket`, and refuses connections.
    fn is_abandoned(&self, socket: BorrowedFd<'_>) -> bool {
        let Some(file) = self.file() else { return false };
        // The system refuses to connect to other files, too.
        if !std::fs::symlink_metadata(file).is_ok_and(|m| m.file_type().is_socket()) {
            return false;
        }
        // If the queue of a socket is full the answer is another one; to wait for room there would be to hang.
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let probe = socket_type(socket).and_then(|kind| socket_with(AddressFamily::UNIX, kind, flags, None));
        probe.is_ok_and(|probe| self.connect(probe.as_fd()) == Err(Errno::CONNREFUSED))
    }

    /// Connects a socket to this address.
    pub fn connect(&self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        match self {
            Name::Inet(address) => connect(socket, address),
            Name::Unix(path) => connect(socket, &Name::unix(path)?),
        }
    }

    /// Sends a datagram to this address.
    pub fn send(&self, socket: BorrowedFd<'_>, data: &[u8]) -> Result<usize, Errno> {
        let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
        match self {
            Name::Inet(address) => sendto(socket, data, flags, address),
            Name::Unix(path) => sendto(socket, data, flags, &Name::unix(path)?),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Inet(address) => write!(f, "{address}"),
            Name::Unix(path) => write!(f, "{}", path.display().to_string().replace('\0', "@")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::SocketType;

    #[test]
    fn names_have_a_largest_length() {
        let path = |start: &str, length| Name::Unix(format!("{start}{}", "x".repeat(length)).into());
        assert!(!path("/", 106).is_too_long() && path("/", 107).is_too_long());
        assert!(!path("\0", 107).is_too_long() && path("\0", 108).is_too_long());
        assert!(!Name::Inet(inet(Ipv4Address::default(), 0)).is_too_long());
    }

    #[test]
    fn only_a_socket_that_nobody_answers_on_is_replaced() {
        let path = clickwork_oracles::unused("clickwork-abandoned");
        let name = Name::Unix(path.clone());
        for (kind, other) in
            [(SocketType::STREAM, SocketType::DGRAM), (SocketType::DGRAM, SocketType::STREAM)]
        {
            let bound = |kind| {
                let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap();
                name.bind_anew(socket.as_fd()).map(|()| socket)
            };
            let first = bound(kind).unwrap();
            if kind == SocketType::STREAM {
                rustix::net::listen(&first, 0).unwrap();
            }
            assert_eq!(bound(kind).err(), Some(Errno::ADDRINUSE));
            assert_eq!(bound(other).err(), Some(Errno::ADDRINUSE));
            drop(first);
            assert!(bound(kind).is_ok());
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, "precious").unwrap();
            assert_eq!(bound(kind).err(), Some(Errno::ADDRINUSE));
            assert_eq!(std::fs::read(&path).unwrap(), b"precious");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn names_come_back_from_the_system() {
        for name in ["/tmp/x", "\0abstract"] {
            let unix = SocketAddrAny::from(Name::unix(Path::new(name)).unwrap());
            assert_eq!(Name::of(unix), Some(Name::Unix(name.into())));
        }
        let address = inet(Ipv4Address::new(1, 2, 3, 4), 5);
        assert_eq!(Name::of(address.into()), Some(Name::Inet(address)));
        assert_eq!(Name::Inet(address).to_string(), "1.2.3.4:5");
    }
}
