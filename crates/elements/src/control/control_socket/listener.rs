//! Where a control socket listens.

use crate::capture::error::system_message;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// How many further ports are tried after a port with a plus sign.
const FURTHER_PORTS: u16 = 11;

/// An address to listen at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A TCP port.
    Tcp {
        /// The port.
        port: u16,
        /// Whether the next free port will do.
        or_next: bool,
        /// Whether only this machine can connect.
        localhost: bool,
    },
    /// A Unix socket.
    Unix(PathBuf),
    /// A connection that is there already, by the number of its descriptor.
    Connected(RawFd),
}

impl Address {
    /// Whether a listener for `old` serves this address, too.
    pub fn is_served_by(&self, old: &Address) -> bool {
        match (self, old) {
            (Address::Tcp { or_next: true, .. }, Address::Tcp { .. }) => true,
            (Address::Tcp { port: a, .. }, Address::Tcp { port: b, .. }) => a == b,
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
        let bound = match address {
            Address::Tcp { port, or_next, localhost } => {
                bind_tcp(*port, *or_next, *localhost).map(Listener::Tcp)
            }
            Address::Unix(path) => {
                let nonblocking = |l: UnixListener| l.set_nonblocking(true).map(|()| l);
                let bound = UnixListener::bind(path).and_then(nonblocking);
                bound.map(|l| Listener::Unix(l, path.clone()))
            }
            Address::Connected(_) => return Ok(None),
        };
        bound.map(Some).map_err(|e| format!("bind: {}", system_message(&e)))
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
        match self {
            Listener::Tcp(l) => l.local_addr().ok().map(|a| a.port()),
            Listener::Unix(..) => None,
        }
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

fn bind_tcp(port: u16, or_next: bool, localhost: bool) -> io::Result<TcpListener> {
    let host = if localhost { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
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
