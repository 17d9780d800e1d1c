//! The facts of the three classes: arguments, handlers, manuals.

use super::super::address::{ADDRESS, Address};
use super::super::server::{BACKLOG_ARG, LOCAL, Place, STACK, stack_argument};
use super::host::{self, TYPES};
use super::{Back, Front, Plan, Relay};
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::{Class, Cx, Handler, read_handler, write_handler};
use std::net::SocketAddr;

const HANDLERS: &[Handler] = &[
    read_handler!("connections", "pairs of streams that are joined now", |e: &mut Relay, _| e.pairs.len()),
    read_handler!("accepted", "streams that came", |e: &mut Relay, _| e.totals.begun),
    read_handler!("done", "pairs that ended in good order", |e: &mut Relay, _| e.totals.done),
    read_handler!("errors", "pairs that ended because of an error", |e: &mut Relay, _| e.totals.failed),
    read_handler!("last_error", "the last error", |e: &mut Relay, _| {
        e.totals.last_error.map_or(String::new(), |error| error.to_string())
    }),
    read_handler!("bytes_to", "bytes carried to where it connects", |e: &mut Relay, _| e.totals.moved[0]),
    read_handler!("bytes_from", "bytes carried from there", |e: &mut Relay, _| e.totals.moved[1]),
    write_handler!("abort", "breaks all streams off", |e: &mut Relay, _, cx| e.abort_all(cx)),
];

const TO_PORT: ArgSpec = ArgSpec::required("TO_PORT", ArgType::TcpPort, "the port to which it connects");
const TYPE: ArgSpec = ArgSpec::required("TYPE", ArgType::Choice(TYPES), "the kind of the host's socket");

/// The class facts of TCPProxy.
pub static PROXY: Class = Class {
    help: "takes TCP connections and makes others for them",
    manual: "Takes the connections that come to PORT of the stack STACK, and for each makes one by the stack TO, which may be \
             the same, to ADDR and TO_PORT. What either sends the other gets. It reads no faster than the other end \
             takes it; the end of one direction is carried over, as well as connections that are broken off.",
    example: "a :: ProlacTCP(10.0.0.1) -> b :: ProlacTCP(10.0.0.2) -> a; c :: ProlacTCP(10.0.1.1) -> d :: ProlacTCP(10.0.1.2) \
              -> c; TCPProxy(b, 7, c, 10.0.1.2, 7); TCPEchoServer(d); TCPEchoClient(a, 10.0.0.2, LENGTH 3000)",
    args: &[
        STACK,
        ArgSpec::required("PORT", ArgType::TcpPort, "the port at which it waits"),
        ArgSpec::required("TO", ArgType::Element, "the ProlacTCP by which it connects"),
        ArgSpec::required("ADDR", ADDRESS, "the address to which it connects"),
        TO_PORT,
        LOCAL,
        BACKLOG_ARG,
    ],
    ..class("TCPProxy", || Box::new(Relay::new(proxy)))
};

/// The class facts of TCPToSocket.
pub static TCP_TO_SOCKET: Class = Class {
    help: "joins TCP connections that come with sockets of the host",
    manual: "Takes the connections that come to PORT of the stack STACK, a ProlacTCP element, and for each connects to a server \
             of the host: 'TCP, ADDR, TO_PORT' or 'UNIX, FILE'. So servers that know nothing of this router are \
             reached through it. What either end sends the other gets. It reads no faster than the other end takes \
             it; the end of one direction is carried over, as well as connections that are broken off.",
    args: &[
        STACK,
        ArgSpec::required("PORT", ArgType::TcpPort, "the port at which it waits"),
        TYPE,
        ArgSpec::required("ADDR", ArgType::Other("IP address, or file"), "where the host's server is"),
        ArgSpec::positional("TO_PORT", ArgType::TcpPort, "", "its port (TCP)"),
        LOCAL,
        BACKLOG_ARG,
    ],
    ..class("TCPToSocket", || Box::new(Relay::new(to_socket)))
};

/// The class facts of SocketToTCP.
pub static SOCKET_TO_TCP: Class = Class {
    help: "joins connections of the host's sockets with TCP connections",
    manual: "Waits for connections to a socket of the host, 'TCP, LOCAL_ADDR, LOCAL_PORT' or 'UNIX, FILE', and for each makes \
             one by the stack STACK, a ProlacTCP element, to ADDR and PORT. So clients that know nothing of this router \
             reach through it. What either end sends the other gets. It reads no faster than the other end takes \
             it; the end of one direction is carried over, as well as connections that are broken off.",
    args: &[
        STACK,
        ArgSpec::required("ADDR", ADDRESS, "the address to which it connects"),
        ArgSpec::required("PORT", ArgType::TcpPort, "the port to which it connects"),
        TYPE,
        ArgSpec::required("LOCAL_ADDR", ArgType::Other("IP address, or file"), "where it waits, on the host"),
        ArgSpec::positional("LOCAL_PORT", ArgType::TcpPort, "", "at which port (TCP)"),
    ],
    ..class("SocketToTCP", || Box::new(Relay::new(from_socket)))
};

const fn class(name: &'static str, make: fn() -> Box<dyn clickwork_router::Element>) -> Class {
    Class { ports: "0/0", handlers: HANDLERS, ..Class::new(name, "tcp", make) }
}

fn remote(args: &mut Args, port: &str) -> Option<SocketAddr> {
    let (address, port) = (args.get::<Address>("ADDR"), args.get::<TcpPort>(port));
    Some(SocketAddr::new(address?.0, port?.0))
}

fn proxy(args: &mut Args, cx: &Cx<'_>) -> Option<Plan> {
    let (place, to, remote) =
        (Place::configure(args, cx), stack_argument(args, "TO", cx), remote(args, "TO_PORT"));
    Some(Plan { front: Front::Stack(place?), back: Back::Stack(to?, remote?) })
}

fn to_socket(args: &mut Args, cx: &Cx<'_>) -> Option<Plan> {
    let (place, name) = (Place::configure(args, cx), host::name(args, "ADDR", "TO_PORT"));
    Some(Plan { front: Front::Stack(place?), back: Back::Host(name?) })
}

fn from_socket(args: &mut Args, cx: &Cx<'_>) -> Option<Plan> {
    let (stack, remote) = (stack_argument(args, "STACK", cx), remote(args, "PORT"));
    let name = host::name(args, "LOCAL_ADDR", "LOCAL_PORT");
    Some(Plan { front: Front::Host(name?), back: Back::Stack(stack?, remote?) })
}
