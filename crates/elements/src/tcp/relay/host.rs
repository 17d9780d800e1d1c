//! Sockets of the host that streams are joined with: one that listens, and new ones that connect.

use super::ends::host_error;
use crate::socket::name::{Name, inet};
use clickwork_packet::addr::Ipv4Address;
use clickwork_prolac_tcp::Error;
use clickwork_router::args::{Args, Filename, TcpPort};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_socket_reuseport, set_tcp_nodelay};
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, listen, socket_with};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Connections of the host that may wait to be taken.
const BACKLOG: i32 = 128;

/// The kinds of sockets.
pub const TYPES: &[&str] = &["TCP", "UNIX"];

/// Reads the type, the address or file, and the port of a socket; nothing if one is wrong or missing.
pub fn name(args: &mut Args, address: &str, port: &str) -> Option<Name> {
    let kind = args.get::<String>("TYPE")?;
    let name = match kind.as_str() {
        "TCP" if !args.has(port) => {
            args.error(format!("{port}: required argument missing"));
            return None;
        }
        "TCP" => Name::Inet(inet(args.get::<Ipv4Address>(address)?, args.get::<TcpPort>(port)?.0)),
        "UNIX" if args.has(port) => {
            args.error_in(port, "not an argument of this type of socket");
            return None;
        }
        "UNIX" => Name::Unix(args.get::<Filename>(address)?.0),
        _ => {
            args.error_in("TYPE", format!("expected one of {}", TYPES.join(", ")));
            return None;
        }
    };
    if name.is_too_long() {
        args.error_in(address, format!("filename '{name}' is too long for a socket"));
        return None;
    }
    Some(name)
}

fn make(name: &Name) -> Result<OwnedFd, Errno> {
    let family = match name {
        Name::Inet(_) => AddressFamily::INET,
        Name::Unix(_) => AddressFamily::UNIX,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    prepare(name, socket.as_fd())?;
    Ok(socket)
}

/// What is sent was put together by the other side: it need not be held back once more.
fn prepare(name: &Name, socket: BorrowedFd<'_>) -> Result<(), Errno> {
    if matches!(name, Name::Inet(_)) { set_tcp_nodelay(socket, true) } else { Ok(()) }
}

/// Begins to connect.
///
/// # Errors
/// What the system says.
pub fn connect(name: &Name) -> Result<OwnedFd, Error> {
    let socket = make(name).map_err(host_error)?;
    match name.connect(socket.as_fd()) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        // A Unix socket whose queue is full.
        Err(error) => Err(host_error(error)),
    }
}

/// A socket that waits for connections, and the file that goes with it.
#[derive(Debug)]
pub struct Listener {
    name: Name,
    socket: OwnedFd,
    listens: bool,
}

impl Listener {
    /// Takes the name, without listening yet. The file of a socket at which nobody listens any more is replaced.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(name: &Name) -> Result<Listener, Errno> {
        let socket = make(name)?;
        if matches!(name, Name::Inet(_)) {
            set_socket_reuseaddr(&socket, true)?;
            // So that the element of a new configuration can begin while this one is still there.
            set_socket_reuseport(&socket, true)?;
        }
        name.bind_anew(socket.as_fd())?;
        Ok(Listener { name: name.clone(), socket, listens: false })
    }

    /// Begins to listen, unless it has.
    ///
    /// # Errors
    /// What the system says.
    pub fn listen(&mut self) -> Result<(), Errno> {
        if !self.listens {
            listen(&self.socket, BACKLOG)?;
            self.listens = true;
        }
        Ok(())
    }

    /// Its descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Where it waits.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The next connection that waits.
    ///
    /// # Errors
    /// What the system says; EAGAIN if none does.
    pub fn accept(&self) -> Result<OwnedFd, Errno> {
        let socket = accept_with(&self.socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
        prepare(&self.name, socket.as_fd())?;
        Ok(socket)
    }

    /// The file goes too.
    pub fn close(self) {
        if let Some(file) = self.name.file() {
            let _ = std::fs::remove_file(file);
        }
    }
}
