//! How sockets come to be: `socket`, `bind`, `listen`, `accept`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::state;
use crate::stack::ConnectionId;

use super::linux::*;
use super::ports::{Claim, Holder};
use super::socket::{Domain, Socket, Stage};
use super::{Errno, Fd, Progress, RawAddress, Refusal, Sockets, Waiting, address};

impl Sockets {
    /// `socket(2)`: `inet_create` and `inet6_create`.
    pub fn socket(&mut self, domain: i32, kind: i32, protocol: i32) -> Result<Fd, Errno> {
        let flags = kind & !SOCK_TYPE_MASK;
        let kind = kind & SOCK_TYPE_MASK;
        if flags & !(SOCK_NONBLOCK | SOCK_CLOEXEC) != 0 {
            return Err(Errno::INVAL);
        }
        let domain = match domain {
            AF_INET | AF_INET6 if kind >= SOCK_MAX => return Err(Errno::INVAL),
            AF_INET => Domain::V4,
            AF_INET6 => Domain::V6,
            _ => return Err(Errno::AFNOSUPPORT),
        };
        match (kind, protocol) {
            (_, ..0 | IPPROTO_MAX..) => return Err(Errno::INVAL),
            (SOCK_STREAM, 0 | IPPROTO_TCP) => {}
            (SOCK_STREAM, _) => return Err(Errno::PROTONOSUPPORT),
            _ => return Err(Errno::SOCKTNOSUPPORT),
        }
        let mut socket = Socket::new(domain);
        socket.non_blocking = flags & SOCK_NONBLOCK != 0;
        socket.close_on_exec = flags & SOCK_CLOEXEC != 0;
        self.insert(socket)
    }

    /// `bind(2)`: `__inet_bind` and `__inet6_bind`.
    pub fn bind(&mut self, fd: Fd, raw: &[u8]) -> Result<(), Errno> {
        let socket = self.at(fd)?;
        let address = address::to_bind(socket.domain, raw)?;
        if address.ip().is_multicast() && socket.domain == Domain::V6 {
            return Err(Errno::INVAL);
        }
        let local = address::unmapped(address);
        if local != address && socket.settings.v6_only {
            return Err(Errno::INVAL);
        }
        if !socket.settings.free_bind && !self.may_bind(local.ip()) {
            return Err(Errno::ADDRNOTAVAIL);
        }
        // A connection that has ended keeps no port, unless the user chose it.
        let ended = socket.connection().is_some() && !socket.bound;
        if socket.state(&self.stack) != state::CLOSED || (socket.holds_port && !ended) {
            return Err(Errno::INVAL);
        }
        self.release_port(fd);
        self.take_port(fd, local)?;
        self.at_mut(fd)?.bound = local.port() != 0;
        Ok(())
    }

    /// Gives a port back; `getsockname` goes on showing it.
    pub(super) fn release_port(&mut self, fd: Fd) {
        let Some(socket) = self.table.get_mut(&fd) else { return };
        if let Some(local) = socket.bound_to() {
            socket.holds_port = false;
            self.ports.release(local.port(), Holder::Socket(fd));
        }
    }

    fn may_bind(&self, address: IpAddr) -> bool {
        let group = address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST);
        address.is_unspecified() || group || self.stack.is_local(address)
    }

    /// Claims a port for a socket, any if it is 0, and notes its address.
    fn take_port(&mut self, fd: Fd, local: SocketAddr) -> Result<(), Errno> {
        let claim = self.claim(fd, local.ip())?;
        let stack = &self.stack;
        let alive = |id: ConnectionId| stack.state(id).is_ok();
        let port = match local.port() {
            0 => self.ports.ephemeral(self.limits.ephemeral, &claim, alive),
            port => self.ports.is_free(port, &claim, alive).then_some(port),
        };
        let port = port.ok_or(Errno::ADDRINUSE)?;
        self.ports.claim(port, claim);
        let socket = self.at_mut(fd)?;
        socket.local = Some(SocketAddr::new(local.ip(), port));
        socket.holds_port = true;
        Ok(())
    }

    /// What a socket would claim at an address, as its options are now.
    pub(super) fn claim(&self, fd: Fd, address: IpAddr) -> Result<Claim, Errno> {
        let socket = self.at(fd)?;
        Ok(Claim {
            holder: Holder::Socket(fd),
            address,
            v6_only: socket.settings.v6_only,
            reuse_address: socket.settings.reuse_address,
            reuse_port: socket.settings.reuse_port,
            listening: matches!(socket.stage, Stage::Listening(_)),
        })
    }

    /// `listen(2)`: `inet_listen`. A second call changes the length of the queue.
    pub fn listen(&mut self, fd: Fd, backlog: i32) -> Result<(), Errno> {
        // As an unsigned number, a negative one is a very long queue.
        let backlog = (backlog as u32).min(self.limits.backlog);
        let socket = self.at(fd)?;
        match socket.stage {
            Stage::Listening(listener) => {
                self.stack.set_backlog(listener, backlog)?;
                return Ok(());
            }
            Stage::Idle => {}
            _ => return Err(Errno::INVAL),
        }
        if !socket.holds_port {
            self.take_port(fd, SocketAddr::new(unspecified(socket.domain), 0))?;
        }
        self.start_listening(fd, backlog)
    }

    fn start_listening(&mut self, fd: Fd, backlog: u32) -> Result<(), Errno> {
        let local = self.at(fd)?.local.expect("a port was taken");
        let claim = Claim { listening: true, ..self.claim(fd, local.ip())? };
        let stack = &self.stack;
        if !self.ports.is_free(local.port(), &claim, |id| stack.state(id).is_ok()) {
            return Err(Errno::ADDRINUSE);
        }
        let options = self.stack_options(fd, local.is_ipv4())?;
        let listener = self.stack.listen(local, backlog, &options)?;
        self.ports.claim(local.port(), claim);
        self.of_listener.insert(listener, fd);
        let socket = self.at_mut(fd)?;
        socket.stage = Stage::Listening(listener);
        socket.shutdown = 0;
        Ok(())
    }

    /// `accept4(2)`: `inet_csk_accept`. The new socket's descriptor, and the peer's address.
    pub fn accept(
        &mut self,
        now: u64,
        fd: Fd,
        flags: i32,
        progress: &mut Progress,
    ) -> Result<(Fd, RawAddress), Refusal> {
        if flags & !(SOCK_NONBLOCK | SOCK_CLOEXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let socket = self.at(fd)?;
        let Stage::Listening(listener) = socket.stage else { return Err(Errno::INVAL.into()) };
        let timeout = socket.settings.receive_timeout;
        let waiting = Waiting { fd, events: POLLIN, timeout, patient: !socket.non_blocking };
        if self.table.len() >= self.limits.files {
            return Err(Errno::MFILE.into());
        }
        match self.stack.accept(listener) {
            Ok(id) => Ok(self.accepted(fd, id, flags)?),
            Err(error) if Errno::from(error) == Errno::AGAIN => {
                Err(progress.wait(waiting, now, Errno::AGAIN))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A socket for a connection of a listener, with the listener's options.
    fn accepted(&mut self, fd: Fd, id: ConnectionId, flags: i32) -> Result<(Fd, RawAddress), Errno> {
        let listener = self.at(fd)?;
        let mut socket = Socket::new(listener.domain);
        socket.settings = listener.settings.clone();
        socket.non_blocking = flags & SOCK_NONBLOCK != 0;
        socket.close_on_exec = flags & SOCK_CLOEXEC != 0;
        socket.stage = Stage::Connected(id);
        let peer = RawAddress::of(socket.domain, self.stack.peer_addr(id)?);
        let local = self.stack.local_addr(id)?;
        socket.local = Some(local);
        socket.holds_port = true;
        let new = self.insert(socket)?;
        self.of_connection.insert(id, new);
        let claim = self.claim(new, local.ip())?;
        self.ports.claim(local.port(), claim);
        Ok((new, peer))
    }

    /// `getsockname(2)`.
    pub fn local_address(&self, fd: Fd) -> Result<RawAddress, Errno> {
        let socket = self.at(fd)?;
        let none = SocketAddr::new(unspecified(socket.domain), 0);
        let bound = socket.local.unwrap_or(none);
        let local = socket.connection().and_then(|id| self.stack.local_addr(id).ok()).unwrap_or(bound);
        Ok(match (socket.domain, local) {
            (Domain::V6, SocketAddr::V4(v4)) if v4.ip().is_unspecified() && socket.local.is_none() => {
                RawAddress::from(SocketAddr::new(unspecified(Domain::V6), v4.port()))
            }
            _ => RawAddress::of(socket.domain, local),
        })
    }

    /// `getpeername(2)`.
    pub fn peer_address(&self, fd: Fd) -> Result<RawAddress, Errno> {
        let socket = self.at(fd)?;
        let id = socket.connection().ok_or(Errno::NOTCONN)?;
        if matches!(socket.state(&self.stack), state::CLOSED | state::SYN_SENT) {
            return Err(Errno::NOTCONN);
        }
        Ok(RawAddress::of(socket.domain, self.stack.peer_addr(id)?))
    }
}

/// `INADDR_ANY` or `in6addr_any`.
pub(super) fn unspecified(domain: Domain) -> IpAddr {
    match domain {
        Domain::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Domain::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}
