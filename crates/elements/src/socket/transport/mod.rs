//! Socket: packets as datagrams, or as pieces of a stream, to and from other programs. `settings.rs` has the arguments,
//! `link.rs` the descriptors.

mod link;
mod settings;
#[cfg(test)]
mod tests;
pub mod uml_switch;

use super::name::Name;
use super::options::{failure, message};
use super::outbox::{Outbox, PAUSE_TIMER, Step};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, Element, Handler, Ready, TaskStep, read_handler};
use link::{Arrival, Link};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use settings::Settings;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

const HANDLERS: &[Handler] = &[
    read_handler!("count", "packets sent", |e: &mut Socket, _| e.outbox.count),
    read_handler!("connected", "whether there is anybody to send to", |e: &mut Socket, _| e.can_send()),
];

const fn class(name: &'static str) -> Class {
    Class {
        ports: "0-1/0-1",
        flow: "x/y",
        flags: "S3",
        args: settings::ARGS,
        handlers: HANDLERS,
        task_handlers: true,
        ..Class::new(name, "socket", || Box::<Socket>::default())
    }
}

/// The class facts of Socket.
pub static SOCKET: Class = Class {
    help: "sends and receives packets through a socket of the host",
    manual: "What enters is sent through a socket; what the socket receives leaves by the output. 'UDP, ADDR, PORT' and \
             'UNIX_DGRAM, FILENAME' send each packet as a datagram; 'TCP, ADDR, PORT' and 'UNIX, FILENAME' as bytes of a \
             stream, which may come out in other pieces.\n\n\
             A server has the address and serves others; of streams one at a time, while up to two wait. It sends datagrams to \
             who sent the last one. A client connects to the address, or sends there; to the destination annotation of \
             each packet if a UDP client's ADDR is 0.0.0.0. It is a client if CLIENT says so, without CLIENT if it has no \
             output or an address of its own (LOCAL_ADDR, LOCAL_PORT, LOCAL_FILENAME). A stream that is refused when \
             the router starts, within a tenth of a second, is an error; one that fails later is connected again, once a second.\n\n\
             With ALLOW or DENY, route tables, a server takes no connection, and no socket a datagram, from addresses that \
             have no route in ALLOW but one in DENY. Packets are pulled as the socket takes them. Pushed packets wait for \
             it, 1024 of them at most; further ones are dropped, and so is all that cannot be sent. Nothing blocks.",
    example: "r :: Socket(UDP, 127.0.0.1, 0) -> Discard; InfiniteSource(LIMIT 3, STOP true) -> Socket(UDP, 127.0.0.1, 9)",
    processing: "a/h",
    ..class("Socket")
};

/// The class facts of FromSocket.
pub static FROM: Class = Class {
    help: "receives packets from a socket of the host",
    manual: "A Socket whose input is push, usually without one: then it is a server. Socket has all the details.",
    example: "FromSocket(UDP, 127.0.0.1, 0) -> Discard; Script(stop)",
    processing: "h/h",
    ..class("FromSocket")
};

/// The class facts of ToSocket.
pub static TO: Class = Class {
    help: "sends packets to a socket of the host",
    manual: "A Socket whose input is pull and that usually has no output: then it is a client. Socket has all the details.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> Queue -> ToSocket(UDP, 127.0.0.1, 9)",
    processing: "l/l",
    ..class("ToSocket")
};

/// The timer that connects again.
const CONNECT_TIMER: usize = 0;
/// The timer that goes on accepting after accepting failed.
const ACCEPT_TIMER: usize = 1;
const ONE_SECOND: Duration = Duration::from_secs(1);
/// How long a starting router waits for a peer's answer before it goes on without.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How many times a socket is read before others have their turn.
const READS: usize = 32;

#[derive(Default)]
struct Socket {
    settings: Option<Settings>,
    link: Link,
    outbox: Outbox,
    buffer: Vec<u8>,
    /// The client has lost its connection and said so.
    complained: bool,
}

impl Socket {
    /// Whether there is anybody to send to.
    fn can_send(&self) -> bool {
        match (&self.settings, &self.link.connection) {
            (Some(settings), None) => !settings.stream && self.link.peer.is_some(),
            (_, connection) => connection.as_ref().is_some_and(|c| !c.pending),
        }
    }

    fn say(&self, text: &str, cx: &Cx<'_>) {
        if self.settings.as_ref().is_some_and(|s| s.verbose) {
            cx.chatter(&format!("{} :: {}: {text}", cx.name(), cx.info().class_name));
        }
    }

    /// Has the descriptors watched for what they are needed for.
    fn watch(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(settings) = &self.settings else { return Ok(()) };
        for (fd, ready) in self.link.interests(settings, cx.outputs() > 0, self.outbox.is_full()) {
            cx.watch(fd, ready).map_err(|e| format!("cannot watch it: {e}"))?;
        }
        Ok(())
    }

    fn rewatch(&self, cx: &mut Cx<'_>) {
        if let Err(e) = self.watch(cx) {
            cx.chatter(&format!("{}: {e}", cx.name()));
        }
    }

    fn connect(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(settings) = &self.settings else { return Ok(()) };
        self.link.connect(settings).map_err(|e| failure_of(settings, e))?;
        if !self.link.connection.as_ref().is_some_and(|c| c.pending) {
            self.connected(cx);
        }
        Ok(())
    }

    /// Connects for the first time: if that fails soon, it is an error.
    fn connect_first(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.connect(cx)?;
        let Some(connection) = self.link.connection.as_mut().filter(|c| c.pending) else { return Ok(()) };
        connection.wait(FIRST_WAIT).map_err(|e| failure(("connect", e)))?;
        if !connection.pending {
            self.connected(cx);
        }
        Ok(())
    }

    fn connected(&mut self, cx: &mut Cx<'_>) {
        let (Some(settings), Some(connection)) = (&self.settings, &self.link.connection) else { return };
        let text = format!("opened connection {} to {}", connection.fd().as_raw_fd(), settings.remote);
        self.say(&text, cx);
        self.complained = false;
        self.outbox.resume(cx);
    }

    /// The attempt to connect is over.
    fn finish_connecting(&mut self, cx: &mut Cx<'_>) {
        let Some(connection) = &mut self.link.connection else { return };
        match connection.finish() {
            Ok(()) => self.connected(cx),
            Err(e) => {
                self.complain(&failure(("connect", e)), cx);
                self.disconnect(cx);
            }
        }
    }

    /// Says, once for each time that the connection is lost, that it cannot be made again.
    fn complain(&mut self, text: &str, cx: &Cx<'_>) {
        if !std::mem::replace(&mut self.complained, true) {
            cx.chatter(&format!("{}: {text}; tried again each second", cx.name()));
        }
    }

    /// The stream has ended. A client tries again, a server takes the next.
    fn disconnect(&mut self, cx: &mut Cx<'_>) {
        let Some(connection) = self.link.connection.take() else { return };
        let fd = connection.fd().as_raw_fd();
        cx.unwatch(fd);
        if !connection.pending {
            self.say(&format!("closed connection {fd}"), cx);
        }
        self.outbox.clear("connection closed", cx);
        if self.settings.as_ref().is_some_and(|s| s.client) {
            cx.schedule_timer_after(CONNECT_TIMER, ONE_SECOND);
        }
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let peer = match self.link.accept() {
            Ok(peer) => peer,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return,
            Err(e) => {
                // Most likely there are no descriptors left. To ask again at once would be an endless loop.
                cx.chatter(&format!("{}: {}", cx.name(), failure(("accept", e))));
                self.link.base().map(|fd| fd.as_raw_fd()).into_iter().for_each(|fd| cx.unwatch(fd));
                return cx.schedule_timer_after(ACCEPT_TIMER, ONE_SECOND);
            }
        };
        let fd = self.link.connection.as_ref().map_or(-1, |c| c.fd().as_raw_fd());
        let from = peer.as_ref().map(|p| format!(" from {p}")).unwrap_or_default();
        if self.is_allowed(peer.as_ref(), cx) {
            self.say(&format!("opened connection {fd}{from}"), cx);
            self.outbox.resume(cx);
        } else {
            self.say(&format!("denied connection {fd}{from}"), cx);
            self.link.connection = None;
        }
    }

    /// Whether the tables let a peer be served.
    fn is_allowed(&self, peer: Option<&Name>, cx: &mut Cx<'_>) -> bool {
        let Some(settings) = &self.settings else { return false };
        let Some(address) = peer.and_then(Name::address) else { return true };
        let mut has_route = |table: Option<_>| {
            table.is_some_and(|id| {
                let hop = cx.act(|router| router.read_handler(id, "lookup", &address.to_string()));
                hop.is_ok_and(|hop| !hop.text().starts_with('-'))
            })
        };
        has_route(settings.allow) || !has_route(settings.deny)
    }

    /// Receives what there is, but not for ever.
    fn receive(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..READS {
            match self.link.receive(&mut self.buffer) {
                Ok(Arrival::Data(length, from)) => self.arrived(length, from, cx),
                Ok(Arrival::Nothing) => return,
                Ok(Arrival::End) => return self.disconnect(cx),
                Err(e) => {
                    self.say(&message(e), cx);
                    return self.disconnect(cx);
                }
            }
        }
    }

    fn arrived(&mut self, length: usize, from: Option<Name>, cx: &mut Cx<'_>) {
        let Some(settings) = &self.settings else { return };
        if !settings.stream && !self.is_allowed(from.as_ref(), cx) {
            let from = from.map(|p| p.to_string()).unwrap_or_default();
            self.say(&format!("dropped datagram from {from}"), cx);
            return cx.count_drop("denied", 1);
        }
        if !settings.stream && !settings.client && from.is_some() {
            let is_first = std::mem::replace(&mut self.link.peer, from).is_none();
            if is_first {
                self.outbox.resume(cx);
            }
        }
        if cx.outputs() == 0 {
            return;
        }
        let form = &self.settings.as_ref().map(|s| &s.form);
        if let Some(form) = form {
            let kept = length.min(self.buffer.len());
            let p = form.packet(&self.buffer[..kept], length, cx);
            cx.emit(0, p);
        }
    }

    /// Sends what waits, as far as the socket takes it.
    fn flush(&mut self, cx: &mut Cx<'_>) {
        let (Some(settings), link) = (&self.settings, &self.link) else { return };
        let outcome = self.outbox.flush(cx, |p, _| match &link.connection {
            Some(connection) => send_piece(connection.fd(), p),
            None => send_datagram(settings, link, p),
        });
        if let Err(e) = outcome {
            self.say(&message(e), cx);
            self.disconnect(cx);
        }
        self.rewatch(cx);
    }
}

/// What is said of a system call that failed; if the name cannot be taken, which file it is.
fn failure_of(settings: &Settings, (call, error): (&'static str, Errno)) -> String {
    match settings.own_name().and_then(Name::file) {
        Some(file) if call == "bind" => format!("{call}: {}: {}", file.display(), message(error)),
        _ => failure((call, error)),
    }
}

/// Sends some bytes of a packet.
fn send_piece(socket: std::os::fd::BorrowedFd<'_>, p: &Packet) -> Step {
    if p.is_empty() {
        return Step::Sent;
    }
    match send(socket, p.data(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(n) if n == p.len() => Step::Sent,
        Ok(n) => Step::Part(n),
        Err(Errno::INTR) => Step::Part(0),
        Err(Errno::AGAIN) => Step::Full,
        Err(Errno::NOBUFS) => Step::NoMemory,
        Err(e) => Step::Broken(e),
    }
}

/// Sends a packet as a datagram.
fn send_datagram(settings: &Settings, link: &Link, p: &Packet) -> Step {
    let (Some(socket), Some(peer)) = (link.base(), &link.peer) else { return Step::Refused("no peer yet") };
    let sent = match peer {
        Name::Inet(any) if settings.client && any.ip().is_unspecified() => {
            let to = SocketAddrV4::new(std::net::Ipv4Addr::from_bits(p.dst_ip().to_bits()), any.port());
            Name::Inet(to).send(socket, p.data())
        }
        peer => peer.send(socket, p.data()),
    };
    match sent {
        Ok(_) => Step::Sent,
        Err(Errno::INTR) => Step::Part(0),
        Err(Errno::AGAIN) => Step::Full,
        Err(Errno::NOBUFS) => Step::NoMemory,
        Err(Errno::MSGSIZE) => Step::Refused("too long for a datagram"),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Step::Refused("nobody listens"),
        Err(_) => Step::Refused("cannot be sent"),
    }
}

impl Element for Socket {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.settings = Settings::read(args, cx);
        if let Some(Settings { remote: Name::Inet(_), .. }) = self.settings {
            cx.add_handler(
                "port",
                read_handler!("", "its own port", |e: &mut Socket, _| e.link.port().unwrap_or_default()),
            );
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(settings) = &self.settings else { return Ok(()) };
        self.buffer = vec![0; settings.form.snaplen];
        if settings.stream && settings.client {
            self.connect_first(cx)?;
        } else {
            self.link.open(settings).map_err(|e| failure_of(settings, e))?;
            if let (true, Some(fd)) = (settings.stream, self.link.base()) {
                let text = format!("listening for connections on {} ({})", settings.remote, fd.as_raw_fd());
                self.say(&text, cx);
            }
        }
        self.outbox.initialize(cx);
        self.watch(cx)
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let pending = self.link.connection.as_ref().is_some_and(|c| c.pending);
        if !self.can_send() && !pending {
            return cx.drop_batch(batch, "not connected");
        }
        self.outbox.take(batch, cx);
        if !pending {
            self.flush(cx);
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.can_send() {
            return TaskStep::Sleep;
        }
        let pulled = self.outbox.pull(cx);
        self.flush(cx);
        self.outbox.next_step(pulled, cx)
    }

    fn selected(&mut self, fd: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        let is_base = self.link.base().is_some_and(|base| base.as_raw_fd() == fd);
        let listens = is_base && self.settings.as_ref().is_some_and(|s| s.stream);
        let pending = self.link.connection.as_ref().is_some_and(|c| c.pending);
        if listens {
            self.accept(cx);
        } else if pending {
            self.finish_connecting(cx);
        } else {
            if ready.read {
                self.receive(cx);
            }
            if ready.write {
                self.outbox.resume(cx);
            }
        }
        self.flush(cx);
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        match slot {
            CONNECT_TIMER => {
                if let Err(e) = self.connect(cx) {
                    self.complain(&e, cx);
                    cx.schedule_timer_after(CONNECT_TIMER, ONE_SECOND);
                }
            }
            PAUSE_TIMER => self.outbox.resume(cx),
            ACCEPT_TIMER => {}
            _ => return,
        }
        self.flush(cx);
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.outbox.clear("router stopped", cx);
        self.link.close().into_iter().for_each(|fd| cx.unwatch(fd));
    }
}
