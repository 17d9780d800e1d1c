//! The descriptors of a Socket: one that listens or takes datagrams, and the connection of a stream. No packets here.

use super::super::name::Name;
use super::settings::Settings;
use clickwork_router::Ready;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay, socket_error};
use rustix::net::{
    AddressFamily, RecvFlags, Shutdown, SocketFlags, SocketType, acceptfrom_with, getsockname, listen, recv,
    recvfrom, shutdown, socket_with,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// Connections that may wait until the present one has ended.
const BACKLOG: i32 = 2;

/// A system call that failed, by name.
pub type Failure = (&'static str, Errno);

/// A connection, or the attempt of one.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    /// It is not yet there.
    pub pending: bool,
}

impl Connection {
    /// Its descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Waits a little for the outcome of the attempt: peers nearby decide at once.
    pub fn wait(&mut self, limit: Duration) -> Result<(), Errno> {
        let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
        let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
        match poll(&mut fds, Some(&limit)) {
            Ok(n) if n > 0 => self.finish(),
            _ => Ok(()),
        }
    }

    /// Whether the attempt was a success; it is over either way.
    pub fn finish(&mut self) -> Result<(), Errno> {
        self.pending = false;
        socket_error(&self.socket).and_then(|outcome| outcome)
    }
}

/// The descriptors.
#[derive(Debug, Default)]
pub struct Link {
    /// Listens, or takes datagrams.
    base: Option<OwnedFd>,
    /// The connection of a stream.
    pub connection: Option<Connection>,
    /// What is sent to whom: where datagrams go.
    pub peer: Option<Name>,
    /// The file that goes with the socket.
    file: Option<std::path::PathBuf>,
}

/// What arrived.
#[derive(Debug)]
pub enum Arrival {
    /// So many bytes; of a datagram perhaps more than were kept. And who sent it.
    Data(usize, Option<Name>),
    /// Nothing, for now.
    Nothing,
    /// The peer has closed.
    End,
}

fn make(settings: &Settings) -> Result<OwnedFd, Failure> {
    let family = match settings.remote {
        Name::Inet(_) => AddressFamily::INET,
        Name::Unix(_) => AddressFamily::UNIX,
    };
    let kind = if settings.stream { SocketType::STREAM } else { SocketType::DGRAM };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, kind, flags, None).map_err(|e| ("socket", e))?;
    settings.buffers.set(socket.as_fd())?;
    if settings.stream && family == AddressFamily::INET {
        set_tcp_nodelay(&socket, settings.no_delay).map_err(|e| ("setsockopt(TCP_NODELAY)", e))?;
        // A server can begin anew while connections of its predecessor die out.
        set_socket_reuseaddr(&socket, true).map_err(|e| ("setsockopt(SO_REUSEADDR)", e))?;
    }
    Ok(socket)
}

impl Link {
    /// Opens a server, or a client of datagrams.
    pub fn open(&mut self, settings: &Settings) -> Result<(), Failure> {
        let socket = make(settings)?;
        if let Some(name) = settings.own_name() {
            name.bind_anew(socket.as_fd()).map_err(|e| ("bind", e))?;
            self.file = name.file().map(Into::into);
        }
        if settings.stream {
            listen(&socket, BACKLOG).map_err(|e| ("listen", e))?;
        }
        self.peer = settings.client.then(|| settings.remote.clone());
        self.base = Some(socket);
        Ok(())
    }

    /// Begins to connect a client of a stream.
    pub fn connect(&mut self, settings: &Settings) -> Result<(), Failure> {
        let socket = make(settings)?;
        if let Some(local) = &settings.local {
            self.remove_file();
            local.bind_anew(socket.as_fd()).map_err(|e| ("bind", e))?;
            self.file = local.file().map(Into::into);
        }
        let pending = match settings.remote.connect(socket.as_fd()) {
            Ok(()) => false,
            Err(Errno::INPROGRESS) => true,
            Err(e) => return Err(("connect", e)),
        };
        self.connection = Some(Connection { socket, pending });
        Ok(())
    }

    /// Takes a connection, if one waits.
    pub fn accept(&mut self) -> Result<Option<Name>, Errno> {
        let Some(base) = &self.base else { return Err(Errno::AGAIN) };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let (socket, from) = acceptfrom_with(base, flags)?;
        self.connection = Some(Connection { socket, pending: false });
        Ok(from.and_then(Name::of))
    }

    /// Receives into `buffer`.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Arrival, Errno> {
        let received = match (&self.connection, &self.base) {
            (Some(connection), _) => match recv(&connection.socket, buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Ok(Arrival::End),
                received => received.map(|(n, _)| Arrival::Data(n, None)),
            },
            (None, Some(base)) => recvfrom(base, buffer, RecvFlags::DONTWAIT | RecvFlags::TRUNC)
                .map(|(_, length, from)| Arrival::Data(length, from.and_then(Name::of))),
            (None, None) => return Ok(Arrival::Nothing),
        };
        match received {
            Err(Errno::AGAIN | Errno::INTR) => Ok(Arrival::Nothing),
            received => received,
        }
    }

    /// The descriptor that listens or takes datagrams.
    pub fn base(&self) -> Option<BorrowedFd<'_>> {
        self.base.as_ref().map(AsFd::as_fd)
    }

    /// The port that the system has given.
    pub fn port(&self) -> Option<u16> {
        let fd = self.base().or(self.connection.as_ref().map(Connection::fd))?;
        match Name::of(getsockname(fd).ok()?)? {
            Name::Inet(address) => Some(address.port()),
            Name::Unix(_) => None,
        }
    }

    /// All descriptors, and what each is to be watched for. `reads` says whether anybody wants what arrives, `full`
    /// whether something waits to be sent.
    pub fn interests(&self, settings: &Settings, reads: bool, full: bool) -> Vec<(BorrowedFd<'_>, Ready)> {
        let mut all = Vec::with_capacity(2);
        if let Some(base) = self.base() {
            let read = if settings.stream { self.connection.is_none() } else { reads };
            all.push((base, Ready { read, write: full && !settings.stream }));
        }
        if let Some(connection) = &self.connection {
            let pending = connection.pending;
            all.push((connection.fd(), Ready { read: !pending, write: full || pending }));
        }
        all
    }

    /// Closes all. Returns what must no longer be watched.
    pub fn close(&mut self) -> Vec<RawFd> {
        if let Some(base) = &self.base {
            // Should the process have a copy in a child, the address is free all the same.
            let _ = shutdown(base, Shutdown::Both);
        }
        self.remove_file();
        let connection = self.connection.take().map(|c| c.fd().as_raw_fd());
        connection.into_iter().chain(self.base.take().map(|b| b.as_raw_fd())).collect()
    }

    fn remove_file(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = std::fs::remove_file(file);
        }
    }
}
