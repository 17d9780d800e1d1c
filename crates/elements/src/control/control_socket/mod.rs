//! ControlSocket: lets programs outside read and write handlers, over TCP or Unix sockets.
//!
//! `protocol.rs` has the language and `input.rs` how it arrives, `execute.rs` what commands do, `connection.rs` and
//! `listener.rs` the sockets, `connections.rs` the limits. A command runs when the element has returned, so that it can
//! call any handler; its reply comes back to the element.

mod connection;
mod connections;
pub mod execute;
pub mod input;
pub(super) mod listener;
mod llrpc;
pub mod protocol;
#[cfg(test)]
mod tests;

use crate::capture::error::system_message;
use crate::named::element;
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, FromArg, unquote};
use clickwork_router::element::{downcast, try_downcast};
use clickwork_router::{Class, Cx, Element, ElementId, Ready, read_handler};
use clickwork_source::text;
use connection::Connection;
use connections::Table;
use execute::{Rights, execute};
use listener::{Accepted, Address, Listener};
use protocol::Command;
use rustix::io::Errno;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets programs outside read and write handlers",
    manual: "Listens at a TCP port ('TCP, 7777'; with 'PORT+' at the next free one), a Unix socket ('UNIX, /tmp/ctl') or takes \
             an open socket by number ('SOCKET, 3'). Clients read and write handlers with a protocol of lines that \
             'telnet' or 'clickwork ctl' can speak: READ handler, WRITE handler value, HELP.\n\n\
             A port alone is for programs on this machine. With an address ('TCP, 192.0.2.1:7777', or '0.0.0.0:7777' \
             for all; LOCALHOST false is the same) other machines can connect, and a message says so: who can connect \
             can do all that the router can. The file of a Unix socket on which nobody answers is replaced.\n\n\
             READONLY allows no writing, and hides keys in what is read. All handlers are those of the element PROXY, \
             if it is given, such as a Script of type PROXY. VERBOSE prints a message for each connection. If the \
             address is taken, RETRIES says how often to try again, once a second; RETRY_WARNINGS whether that is said. \
             A router that replaces this one takes over its connections.\n\n\
             There can be 256 connections to all ControlSockets of a router. They take 16 megabytes of memory together, a command 8; the connection that \
             was idle longest is closed when there is no more room. A command must be complete TIMEOUT seconds after \
             its first byte, unless time is simulated.",
    ports: "0/0",
    args: &[
        ArgSpec::required("TYPE", ArgType::Choice(&["TCP", "UNIX", "SOCKET"]), "the kind of socket"),
        ArgSpec::positional("PORT", ArgType::Other("[ADDRESS:]PORT[+]"), "", "where to listen (TCP)"),
        ArgSpec::keyword("FILENAME", ArgType::Filename, "", "where to listen (UNIX)"),
        ArgSpec::keyword("FD", ArgType::U32, "", "the descriptor of a connection (SOCKET)"),
        ArgSpec::keyword("READONLY", ArgType::Bool, "false", "whether handlers can only be read"),
        ArgSpec::keyword("PROXY", ArgType::Element, "", "the element whose handlers are meant"),
        ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "whether connections are reported"),
        ArgSpec::keyword("RETRIES", ArgType::I32, "0", "how often to try again to listen"),
        ArgSpec::keyword("RETRY_WARNINGS", ArgType::Bool, "true", "whether that is reported"),
        ArgSpec::keyword("LOCALHOST", ArgType::Bool, "", "whether TCP serves this machine only"),
        ArgSpec::keyword("TIMEOUT", ArgType::Seconds, "10", "how long a command may take to arrive"),
    ],
    handlers: &[
        read_handler!("connections", "connections there are", |e: &mut ControlSocket, _| e
            .connections
            .lock()
            .count(e.me)),
        read_handler!(
            "memory",
            "bytes that wait to be understood or sent, at all ControlSockets",
            |e: &mut ControlSocket, _| e.connections.lock().memory()
        ),
    ],
    ..Class::new("ControlSocket", "control", || Box::<ControlSocket>::default())
};

/// The timer that tries again to listen.
const RETRY_TIMER: usize = 0;
/// The timer that goes on accepting after accepting failed.
const ACCEPT_TIMER: usize = 1;
/// The timer that takes the connection which is there already.
const CONNECT_TIMER: usize = 2;
/// The timer that ends connections whose command does not arrive.
const LATE_TIMER: usize = 3;
const ONE_SECOND: Duration = Duration::from_secs(1);
/// How long a command may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct ControlSocket {
    address: Option<Address>,
    read_only: bool,
    verbose: bool,
    rights: Rights,
    retries: i32,
    retry_warnings: bool,
    listener: Option<Listener>,
    me: ElementId,
    /// Those of all sockets of the router.
    connections: Arc<Table>,
    /// How long a command may take to arrive; none in simulated time, which has nothing to do with that of clients.
    patience: Option<Duration>,
}

impl ControlSocket {
    fn read_address(args: &mut Args, localhost: Option<bool>) -> Option<Address> {
        let kind = unquote(args.raw("TYPE")?).to_uppercase();
        let name = match kind.as_str() {
            "TCP" => "PORT",
            "UNIX" => "FILENAME",
            "SOCKET" => "FD",
            _ => {
                args.error(format!("unknown socket type '{kind}'"));
                return None;
            }
        };
        // The second argument is the address, whatever the kind.
        let Some(text) = args.raw(name).or_else(|| args.raw("PORT")).map(str::to_string) else {
            args.error(format!("{name}: required argument missing"));
            return None;
        };
        let address = match name {
            "PORT" => Address::tcp(&text, args.names()).map(|a| for_machines(a, &text, localhost, args)),
            "FILENAME" => Filename::from_arg(&text, args.names()).ok().map(|f| Address::Unix(f.0)),
            _ => RawFd::from_arg(&text, args.names()).ok().filter(|fd| *fd >= 0).map(Address::Connected),
        };
        if address.is_none() {
            let wanted = if name == "PORT" { "requires TCP port" } else { "parse error" };
            args.error_in(name, wanted);
        }
        address
    }

    /// Tries to listen. On failure there may be another try.
    fn listen(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(address) = self.address.clone() else { return Ok(()) };
        self.retries -= 1;
        match Listener::bind(&address) {
            Ok(Some(listener)) => {
                if let Some(address) = listener.open_address() {
                    let can =
                        if self.read_only { "read the router's handlers" } else { "control the router" };
                    let name = declaration(cx);
                    cx.chatter(&format!("{name}: listening on {address}: other machines can {can}"));
                }
                self.listener = Some(listener);
                self.watch_listener(cx)
            }
            Ok(None) => {
                // Not yet: the router that this one replaces may have the connection.
                cx.schedule_timer_after(CONNECT_TIMER, Duration::ZERO);
                Ok(())
            }
            Err(e) if self.retries < 0 => Err(e),
            Err(e) => {
                if self.retry_warnings {
                    let left = self.retries + 1;
                    let tries = if left == 1 { "try" } else { "tries" };
                    cx.chatter(&format!("{}: warning: {e} ({left} {tries} left)", cx.name()));
                }
                cx.schedule_timer_after(RETRY_TIMER, ONE_SECOND);
                Ok(())
            }
        }
    }

    fn watch_listener(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let ready = Ready { read: true, write: false };
        cx.watch(listener.socket(), ready).map_err(|e| system_message(&e))
    }

    fn take_connection(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(Address::Connected(fd)) = self.address else { return Ok(()) };
        let socket = clickwork_device::inherited(fd).map_err(|e| system_message(&e))?;
        self.add(socket, cx);
        Ok(())
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let Some(listener) = &self.listener else { return };
        let fd = listener.socket().as_raw_fd();
        match listener.accept() {
            Ok(Some(accepted)) => self.accepted(accepted, cx),
            Ok(None) => {}
            Err(e) if self.make_room(&e, cx) => {}
            Err(e) => {
                // To ask again at once would be an endless loop.
                cx.chatter(&format!("{}: accept: {}", declaration(cx), system_message(&e)));
                cx.unwatch(fd);
                cx.schedule_timer_after(ACCEPT_TIMER, ONE_SECOND);
            }
        }
    }

    /// If there are no descriptors left, the connection that was idle longest makes room for the next.
    fn make_room(&mut self, error: &std::io::Error, cx: &mut Cx<'_>) -> bool {
        let is_full = matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE));
        let gone = if is_full { self.connections.lock().spare() } else { None };
        gone.map(|connection| self.ended(&connection, cx)).is_some()
    }

    fn accepted(&mut self, (socket, peer): Accepted, cx: &mut Cx<'_>) {
        if self.verbose {
            let from = peer.map(|p| format!(" from {}.{}", p.ip(), p.port())).unwrap_or_default();
            let number = socket.as_raw_fd();
            cx.chatter(&format!("{}: opened connection {number}{from}", declaration(cx)));
        }
        self.add(socket, cx);
    }

    fn add(&mut self, socket: OwnedFd, cx: &mut Cx<'_>) {
        let fd = socket.as_raw_fd();
        let connection = Connection::new(socket, cx.id(), cx.steady());
        let gone = self.connections.lock().add(connection);
        gone.iter().for_each(|connection| self.ended(connection, cx));
        self.serve(fd, cx);
    }

    /// Moves a connection on: receives, begins at most one command, sends.
    fn serve(&mut self, fd: RawFd, cx: &mut Cx<'_>) {
        let Some(command) = self.connections.lock().get_mut(fd).map(|c| c.next_command(cx.steady())) else {
            return;
        };
        match command {
            Some(command) => self.begin(fd, command, cx),
            None => self.settle(fd, false, cx),
        }
    }

    /// Has a command carried out as soon as this element returns.
    fn begin(&self, fd: RawFd, command: Command, cx: &mut Cx<'_>) {
        let (me, rights) = (cx.id(), self.rights);
        cx.defer(move |router| {
            let reply = execute(router, rights, &command);
            router.with_element(me, |element, cx| {
                let socket: &mut ControlSocket = downcast(element);
                if let Some(connection) = socket.connections.lock().get_mut(fd) {
                    connection.answer(&command, reply);
                }
                socket.settle(fd, true, cx);
            });
        });
    }

    /// Sends what there is to send, and waits for what may come; or ends the connection. Others may have to go if all
    /// take too much memory.
    fn settle(&mut self, fd: RawFd, had_command: bool, cx: &mut Cx<'_>) {
        let table = Arc::clone(&self.connections);
        let mut connections = table.lock();
        let Some(connection) = connections.get_mut(fd) else { return };
        connection.flush(cx.steady());
        let interest = connection.interest(connection.may_have_command(had_command));
        if connection.is_over() || cx.watch(connection.socket(), interest).is_err() {
            let connection = connections.remove(fd);
            connection.iter().for_each(|connection| self.ended(connection, cx));
            return;
        }
        let gone = connections.relieve(fd);
        drop(connections);
        gone.iter().for_each(|connection| self.ended(connection, cx));
        self.watch_time(cx);
    }

    /// A connection is no longer there. It may have been another socket's, which had to make room.
    fn ended(&self, connection: &Connection, cx: &mut Cx<'_>) {
        let fd = connection.socket().as_raw_fd();
        cx.unwatch(fd);
        if self.verbose {
            cx.chatter(&format!("{}: closed connection {fd}", declaration(cx)));
        }
    }

    /// Has the timer expire when the next command will be late.
    fn watch_time(&self, cx: &mut Cx<'_>) {
        let deadline =
            self.patience.and_then(|patience| self.connections.lock().next_deadline(self.me, patience));
        match deadline {
            Some(deadline) if cx.timer_expiry(LATE_TIMER) == Some(deadline) => {}
            Some(deadline) => cx.schedule_timer_at(LATE_TIMER, deadline),
            None => cx.unschedule_timer(LATE_TIMER),
        }
    }

    fn end_late(&mut self, cx: &mut Cx<'_>) {
        let Some(patience) = self.patience else { return };
        let gone = self.connections.lock().late(self.me, cx.steady(), patience);
        gone.iter().for_each(|connection| self.ended(connection, cx));
        self.watch_time(cx);
    }
}

fn declaration(cx: &Cx<'_>) -> String {
    format!("{} :: {}", cx.name(), cx.info().class_name)
}

/// The address, for this machine only or for others too, if that was said by LOCALHOST.
fn for_machines(address: Address, text: &str, localhost: Option<bool>, args: &mut Args) -> Address {
    let Address::Tcp { host, port, or_next } = address else { return address };
    let host = match localhost {
        Some(true) if !host.is_loopback() => {
            args.error_in(
                "LOCALHOST",
                format!("contradicts the address {host} of PORT: leave one of them out"),
            );
            host
        }
        Some(false) if !text.contains(':') => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        _ => host,
    };
    Address::Tcp { host, port, or_next }
}

impl Element for ControlSocket {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        (self.me, self.connections) = (cx.id(), Table::of(cx));
        self.retry_warnings = true;
        let mut patience = PATIENCE;
        args.read("READONLY", &mut self.read_only)
            .read("VERBOSE", &mut self.verbose)
            .read("RETRIES", &mut self.retries)
            .read("RETRY_WARNINGS", &mut self.retry_warnings)
            .read("TIMEOUT", &mut patience);
        self.patience = (!cx.router().clock().is_simulated()).then_some(patience);
        let localhost = args.get("LOCALHOST");
        let proxy = element(args, "PROXY", cx);
        self.rights = Rights { read_only: self.read_only, proxy };
        self.address = ControlSocket::read_address(args, localhost);
        match &self.address {
            Some(Address::Tcp { .. }) => cx.add_handler(
                "port",
                read_handler!("", "the TCP port", |e: &mut ControlSocket, _| {
                    e.listener.as_ref().and_then(Listener::port).unwrap_or_default()
                }),
            ),
            Some(Address::Unix(_)) => cx.add_handler(
                "filename",
                read_handler!("", "the Unix socket", |e: &mut ControlSocket, _| match &e.address {
                    Some(Address::Unix(path)) => text::from_os(path),
                    _ => String::new(),
                }),
            ),
            _ => {}
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.listen(cx)
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        match &self.listener {
            Some(listener) if listener.socket().as_raw_fd() == fd => self.accept(cx),
            _ if self.connections.lock().take_turn(fd, cx.recent()) => self.serve(fd, cx),
            // It is still ready at the next look.
            _ => {}
        }
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        let outcome = match slot {
            LATE_TIMER => {
                self.end_late(cx);
                Ok(())
            }
            RETRY_TIMER if self.listener.is_none() => self.listen(cx),
            CONNECT_TIMER => self.take_connection(cx),
            _ => self.watch_listener(cx),
        };
        if let Err(e) = outcome {
            cx.chatter(&format!("{}: {e}", declaration(cx)));
            cx.stop_driver();
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<ControlSocket>(old) else { return };
        let (Some(mine), Some(theirs)) = (&self.address, &old.address) else { return };
        if !mine.is_served_by(theirs) {
            return cx.chatter(&format!("{}: incompatible ControlSockets", declaration(cx)));
        }
        for mut connection in old.connections.lock().take(old.me) {
            connection.set_owner(self.me);
            // There were no more of them with the old router.
            self.connections.lock().add(connection);
        }
        cx.unschedule_timer(CONNECT_TIMER);
        if let Some(listener) = old.listener.take() {
            if let Some(mine) = self.listener.replace(listener) {
                cx.unwatch(mine.socket().as_raw_fd());
            }
            cx.unschedule_timer(RETRY_TIMER);
        }
        if let Err(e) = self.watch_listener(cx) {
            cx.chatter(&format!("{}: {e}", declaration(cx)));
        }
        let descriptors = self.connections.lock().descriptors(self.me);
        descriptors.into_iter().for_each(|fd| self.settle(fd, true, cx));
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        let connections = self.connections.lock().take(self.me);
        for mut connection in connections {
            cx.unwatch(connection.socket().as_raw_fd());
            connection.flush(cx.steady());
        }
        if let Some(listener) = self.listener.take() {
            cx.unwatch(listener.socket().as_raw_fd());
            listener.close();
        }
    }
}
