//! `connect(2)`, as `__inet_stream_connect` goes through its states, and disconnecting with `AF_UNSPEC`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::state;
use crate::stack::Options;

use super::linux::*;
use super::socket::{Domain, Socket, Stage};
use super::{Errno, Fd, Progress, Refusal, Sockets, Waiting, address};

impl Sockets {
    /// `connect(2)`. On a non-blocking socket [`Errno::INPROGRESS`] means that it has begun.
    pub fn connect(&mut self, now: u64, fd: Fd, raw: &[u8], progress: &mut Progress) -> Result<(), Refusal> {
        let patient = !self.at(fd)?.non_blocking;
        let family = address::family(raw).ok_or(Errno::INVAL)?;
        if family == AF_UNSPEC {
            self.disconnect(now, fd)?;
            return Ok(());
        }
        let verdict = self.begin_connect(now, fd, raw, progress)?;
        if self.at(fd)?.awaits_text {
            // TCP_FASTOPEN_CONNECT: the first write connects.
            return Ok(());
        }
        self.await_connect(now, fd, verdict, patient, progress)
    }

    /// Sends the SYN if the socket is idle. What a caller that does not wait is told while the handshake goes on.
    pub(super) fn begin_connect(
        &mut self,
        now: u64,
        fd: Fd,
        raw: &[u8],
        progress: &mut Progress,
    ) -> Result<Errno, Errno> {
        let socket = self.at(fd)?;
        match socket.stage {
            Stage::Connected(_) | Stage::Listening(_) => return Err(Errno::ISCONN),
            Stage::Connecting(_) if socket.awaits_text => return Err(Errno::ISCONN),
            Stage::Connecting(_) if progress.begun => return Ok(Errno::INPROGRESS),
            Stage::Connecting(_) => return Ok(Errno::ALREADY),
            Stage::Idle => {}
        }
        let remote = self.destination(fd, raw)?;
        let fast = self.at(fd)?.settings.fast_open_connect;
        self.send_syn(now, fd, remote, fast)?;
        progress.begun = true;
        Ok(Errno::INPROGRESS)
    }

    /// Where to, as `tcp_v4_connect` and `tcp_v6_connect` understand it.
    pub(super) fn destination(&self, fd: Fd, raw: &[u8]) -> Result<SocketAddr, Errno> {
        let socket = self.at(fd)?;
        let given = address::to_connect(socket.domain, raw)?;
        let mut remote = address::unmapped(given);
        if remote != given && socket.settings.v6_only {
            return Err(Errno::NETUNREACH);
        }
        // The unspecified address is this host.
        if remote.ip().is_unspecified() {
            remote.set_ip(loopback(remote.ip()));
        }
        let ip = remote.ip();
        if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
            return Err(Errno::NETUNREACH);
        }
        match socket.bound_to() {
            // An IPv6 address that was bound cannot talk to IPv4, nor the other way round.
            Some(local) if !local.ip().is_unspecified() && local.is_ipv4() != remote.is_ipv4() => {
                Err(if remote.is_ipv4() { Errno::NETUNREACH } else { Errno::INVAL })
            }
            _ => Ok(remote),
        }
    }

    /// Begins a connection. If it is to be `fast` and the peer has given a cookie before, the SYN waits for text.
    pub(super) fn send_syn(&mut self, now: u64, fd: Fd, remote: SocketAddr, fast: bool) -> Result<(), Errno> {
        let options = Options { fast_open: fast, ..self.stack_options(fd, remote.is_ipv4())? };
        let bound = self.at(fd)?.bound_to();
        let local = bound.map(|b| match b.ip().is_unspecified() {
            true => SocketAddr::new(unspecified_like(remote.ip()), b.port()),
            false => b,
        });
        let id = self.stack.connect(now, local, remote, &options)?;
        let chosen = self.stack.local_addr(id)?;
        let is_silent = self.stack.status(now, id)?.segments_out == 0;
        self.of_connection.insert(id, fd);
        let socket = self.at_mut(fd)?;
        socket.stage = Stage::Connecting(id);
        socket.awaits_text = fast && is_silent;
        socket.shutdown = 0;
        socket.error = None;
        if bound.is_none() {
            socket.local = Some(chosen);
            socket.holds_port = true;
            let claim = self.claim(fd, chosen.ip())?;
            self.ports.claim(chosen.port(), claim);
        }
        Ok(())
    }

    /// What has become of the handshake: `sock_error` there, or still `verdict`.
    pub(super) fn await_connect(
        &mut self,
        now: u64,
        fd: Fd,
        verdict: Errno,
        patient: bool,
        progress: &mut Progress,
    ) -> Result<(), Refusal> {
        let socket = self.at(fd)?;
        let timeout = socket.settings.send_timeout;
        let Some(id) = socket.connection() else { return Ok(()) };
        match socket.state(&self.stack) {
            state::SYN_SENT | state::SYN_RECEIVED => {
                Err(progress.wait(Waiting { fd, events: POLLOUT, timeout, patient }, now, verdict))
            }
            state::CLOSED => {
                let error = self.take_error(fd).unwrap_or(Errno::CONNABORTED);
                self.detach(now, fd)?;
                Err(error.into())
            }
            _ => {
                self.at_mut(fd)?.stage = Stage::Connected(id);
                Ok(())
            }
        }
    }

    /// `tcp_disconnect`: back to an idle socket, with a reset for a peer that thinks it is connected.
    pub(super) fn disconnect(&mut self, now: u64, fd: Fd) -> Result<(), Errno> {
        let socket = self.at(fd)?;
        let told = match socket.state(&self.stack) {
            state::CLOSED | state::LISTEN => self.take_error(fd),
            _ => Some(Errno::CONNRESET),
        };
        self.detach(now, fd)?;
        self.at_mut(fd)?.error = told;
        Ok(())
    }

    /// Lets go of whatever the socket is attached to. A port that the user has chosen stays its own.
    pub(super) fn detach(&mut self, now: u64, fd: Fd) -> Result<(), Errno> {
        match self.at(fd)?.stage {
            Stage::Idle => {}
            Stage::Listening(listener) => {
                self.of_listener.remove(&listener);
                self.stack.close_listener(now, listener);
            }
            Stage::Connecting(id) | Stage::Connected(id) => {
                self.of_connection.remove(&id);
                self.stack.abort(now, id);
            }
        }
        let socket = self.at_mut(fd)?;
        reset(socket);
        if !socket.bound {
            let any = super::open::unspecified(socket.domain);
            socket.local = socket.local.map(|local| SocketAddr::new(any, local.port()));
            self.release_port(fd);
        } else if let Some(local) = socket.bound_to() {
            // It may have listened, and does no more.
            let claim = self.claim(fd, local.ip())?;
            self.ports.claim(local.port(), claim);
        }
        Ok(())
    }

    /// What a call is told went wrong, once.
    pub(super) fn take_error(&mut self, fd: Fd) -> Option<Errno> {
        if !self.has_error(fd) {
            return None;
        }
        self.take_any_error(fd)
    }

    /// SO_ERROR: the same, or a soft error.
    pub(super) fn take_any_error(&mut self, fd: Fd) -> Option<Errno> {
        let socket = self.table.get_mut(&fd)?;
        let own = socket.error.take();
        let id = socket.connection();
        own.or_else(|| self.stack.take_error(id?).ok().flatten().map(Errno::from))
    }
}

fn reset(socket: &mut Socket) {
    socket.stage = Stage::Idle;
    socket.shutdown = 0;
    socket.error = None;
    socket.done = false;
    socket.awaits_text = false;
}

fn loopback(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) }
}

fn unspecified_like(ip: IpAddr) -> IpAddr {
    super::open::unspecified(if ip.is_ipv4() { Domain::V4 } else { Domain::V6 })
}
