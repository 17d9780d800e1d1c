//! Where a control socket listens.

use crate::capture::error::system_message;
use crate::socket::name::Name;
use clickwork_router::args::{FromArg, Names, TcpPort};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, listen, socket_with};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// How many further ports are tried after a port with a plus sign.
const FURTHER_PORTS: u16 = 11;
/// Connections of a Unix socket that may wait to be taken.
const BACKLOG: i32 = 128;

/// An address to listen at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A TCP port.
    Tcp {
        /// The address of this machine that can be connected to.
        host: IpAddr,
        /// The port.
        port: u16,
        /// Whether the next free port will do.
        or_next: bool,
    },
    /// A Unix socket.
    Unix(PathBuf),
    /// A connection that is there already, by the number of its descriptor.
    Connected(RawFd),
}

impl Address {
    /// `PORT`, which only this machine can connect to, or `ADDRESS:PORT`; an IPv6 address stands in brackets. With a plus
    /// sign behind it the next free port will do.
    pub fn tcp(text: &str, names: &Names) -> Option<Address> {
        let (text, or_next) = text.strip_suffix('+').map_or((text, false), |t| (t, true));
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host.trim_start_matches('[').trim_end_matches(']').parse().ok()?, port),
            None => (IpAddr::V4(Ipv4Addr::LOCALHOST), text),
        };
        let TcpPort(port) = TcpPort::from_arg(port, names).ok()?;
        (port > 0 || !or_next).then_some(Address::Tcp { host, port, or_next })
    }

    /// Whether a listener for `old` serves this address, too.
    pub fn is_served_by(&self, old: &Address) -> bool {
        match (self, old) {
            (Address::Tcp { host: a, or_next: true, .. }, Address::Tcp { host: b, .. }) => a == b,
            (Address::Tcp { host: a, port: p, .. }, Address::Tcp { host: b, port: q, .. }) => {
                (a, p) == (b, q)
            }
            _ => self == old,
        }
    }
}

/// A bound socket.
#[derive(Debug)]
pub enum Listener {
    /// On a TCP port.
    Tcp(TcpListener),
    /// On a Unix socket, whose file goes with it.
    Unix(UnixListener, PathBuf),
}

/// A new connection, and the address of a TCP peer as messages show it.
pub type Accepted = (OwnedFd, Option<SocketAddr>);

impl Listener {
    /// Listens; none if the address is a connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(address: &Address) -> Result<Option<Listener>, String> {
        match address {
            Address::Tcp { host, port, or_next } => match bind_tcp(*host, *port, *or_next) {
                Ok(listener) => Ok(Some(Listener::Tcp(listener))),
                Err(e) => Err(format!("bind: {}", system_message(&e))),
            },
            Address::Unix(path) => match bind_unix(path) {
                Ok(listener) => Ok(Some(Listener::Unix(listener, path.clone()))),
                Err(e) => Err(format!("bind: {}: {}", path.display(), system_message(&e.into()))),
            },
            Address::Connected(_) => Ok(None),
        }
    }

    /// Its descriptor.
    pub fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(l) => l.as_fd(),
            Listener::Unix(l, _) => l.as_fd(),
        }
    }

    /// The TCP port.
    pub fn port(&self) -> Option<u16> {
        self.address().map(|address| address.port())
    }

    fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(l) => l.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }

    /// The address, if other machines can connect to it.
    pub fn open_address(&self) -> Option<SocketAddr> {
        self.address().filter(|address| !address.ip().is_loopback())
    }

    /// Takes a connection, if there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn accept(&self) -> io::Result<Option<Accepted>> {
        let accepted = match self {
            Listener::Tcp(l) => l.accept().map(|(s, peer)| (OwnedFd::from(s), Some(peer))),
            Listener::Unix(l, _) => l.accept().map(|(s, _)| (OwnedFd::from(s), None)),
        };
        match accepted {
            Ok(connection) => Ok(Some(connection)),
            Err(e) if is_passing(e.kind()) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Ends listening.
    pub fn close(self) {
        if let Listener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_passing(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(kind, ConnectionAborted | Interrupted | WouldBlock)
}

fn bind_tcp(host: IpAddr, port: u16, or_next: bool) -> io::Result<TcpListener> {
    let last = if or_next { port.saturating_add(FURTHER_PORTS) } else { port };
    let mut outcome = TcpListener::bind((host, port));
    for next in (port..=last).skip(1) {
        if outcome.is_ok() {
            break;
        }
        outcome = TcpListener::bind((host, next));
    }
    let listener = outcome?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn bind_unix(path: &Path) -> Result<UnixListener, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    Name::Unix(path.to_path_buf()).bind_anew(socket.as_fd())?;
    listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_for_this_machine_only() {
        let tcp = |text| Address::tcp(text, &Names::default());
        let at =
            |host: &str, port, or_next| Some(Address::Tcp { host: host.parse().unwrap(), port, or_next });
        assert_eq!(tcp("7777"), at("127.0.0.1", 7777, false));
        assert_eq!(tcp("7777+"), at("127.0.0.1", 7777, true));
        assert_eq!(tcp("0.0.0.0:80"), at("0.0.0.0", 80, false));
        assert_eq!(tcp("[::1]:80+"), at("::1", 80, true));
        assert_eq!([tcp("0+"), tcp("host:80"), tcp("1.2.3.4"), tcp(":80")], [None, None, None, None]);
    }
}
