//! RawSocket: IP packets to and from the host's own IP.

use super::options::{Form, HEADROOM, SNAPLEN, failure};
use super::outbox::{Outbox, PAUSE_TIMER, Step};
use crate::capture::linktype::LinkType;
use crate::capture::mark_ip;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, IpProto, TcpPort, UdpPort};
use clickwork_router::{Class, Cx, Element, Handler, Ready, TaskStep, read_handler};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_broadcast;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, ipproto, recv, sendto,
    socket_with,
};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

const ARGS: &[ArgSpec] = &[
    ArgSpec::required("TYPE", ArgType::IpProto, "the IP protocol of packets that are received"),
    ArgSpec::positional("PORT", ArgType::U16, "", "port that the host keeps for this element (TCP, UDP)"),
    SNAPLEN,
    HEADROOM,
];

const HANDLERS: &[Handler] = &[read_handler!("count", "packets sent", |e: &mut RawSocket, _| e.outbox.count)];

const fn class(name: &'static str) -> Class {
    Class {
        ports: "0-1/0-1",
        flow: "x/y",
        packets: "ip/ip",
        args: ARGS,
        handlers: HANDLERS,
        task_handlers: true,
        ..Class::new(name, "socket", || Box::<RawSocket>::default())
    }
}

/// The class facts of RawSocket.
pub static RAW: Class = Class {
    help: "sends and receives IP packets through the host's IP",
    manual: "IP packets that enter are sent by the host, which routes them to their destination and fills in the header \
             checksum, and the source and identification if they are 0. Packets of IP protocol TYPE that arrive for the host \
             leave by the output, with their IP header marked; the host handles them too. For TCP and UDP, PORT keeps other \
             programs from using that port. Packets that the host refuses are dropped. This needs root, or the \
             capability CAP_NET_RAW.",
    processing: "l/h",
    ..class("RawSocket")
};

/// The class facts of FromRawSocket.
pub static FROM: Class = Class {
    help: "receives IP packets through the host's IP",
    manual: "A RawSocket under an older name, with a warning. RawSocket has all the details.",
    processing: "h/h",
    ..class("FromRawSocket")
};

/// The class facts of ToRawSocket.
pub static TO: Class = Class {
    help: "sends IP packets through the host's IP",
    manual: "A RawSocket under an older name, with a warning. RawSocket has all the details.",
    processing: "l/l",
    ..class("ToRawSocket")
};

/// How many packets are received before others have their turn.
const READS: usize = 32;

#[derive(Default)]
struct RawSocket {
    protocol: u8,
    port: u16,
    form: Form,
    receiver: Option<OwnedFd>,
    sender: Option<OwnedFd>,
    /// Keeps the port.
    keeper: Option<OwnedFd>,
    outbox: Outbox,
    buffer: Vec<u8>,
}

type Failure = (&'static str, Errno);

/// A raw socket for packets of a protocol.
fn raw(protocol: Protocol) -> Result<OwnedFd, Failure> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::INET, SocketType::RAW, flags, Some(protocol)).map_err(|e| ("socket", e))
}

impl RawSocket {
    fn open(&mut self, cx: &Cx<'_>) -> Result<(), Failure> {
        if cx.outputs() > 0 {
            let number = NonZeroU32::new(self.protocol.into()).ok_or(("socket", Errno::PROTONOSUPPORT))?;
            self.receiver = Some(raw(Protocol::from_raw(number))?);
        }
        if cx.inputs() > 0 {
            // What is sent here has its IP header (raw(7)).
            let sender = raw(ipproto::RAW)?;
            set_socket_broadcast(&sender, true).map_err(|e| ("SO_BROADCAST", e))?;
            self.sender = Some(sender);
        }
        self.keeper = self.keep_port()?;
        Ok(())
    }

    fn keep_port(&self) -> Result<Option<OwnedFd>, Failure> {
        let kind = match self.protocol {
            protocol::TCP => SocketType::STREAM,
            protocol::UDP => SocketType::DGRAM,
            _ => return Ok(None),
        };
        if self.port == 0 {
            return Ok(None);
        }
        let keeper = socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None);
        let keeper = keeper.map_err(|e| ("socket", e))?;
        let address = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, self.port);
        bind(&keeper, &address).map_err(|e| ("cannot keep the port: bind", e))?;
        Ok(Some(keeper))
    }

    fn watch(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let reads = Ready { read: true, write: false };
        let writes = Ready { read: false, write: self.outbox.is_full() };
        for (socket, ready) in [(&self.receiver, reads), (&self.sender, writes)] {
            if let Some(socket) = socket {
                cx.watch(socket.as_fd(), ready).map_err(|e| format!("cannot watch it: {e}"))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, cx: &mut Cx<'_>) {
        let Some(sender) = &self.sender else { return };
        let _ = self.outbox.flush(cx, |p, cx| send_packet(sender, p, cx));
        if let Err(e) = self.watch(cx) {
            cx.chatter(&format!("{}: {e}", cx.name()));
        }
    }

    fn receive(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..READS {
            let Some(socket) = &self.receiver else { return };
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let length = match recv(socket, &mut self.buffer[..], flags) {
                Ok((_, length)) => length,
                Err(Errno::AGAIN | Errno::INTR) => return,
                Err(e) => {
                    return cx.report("recv", || format!("{}: {}", cx.name(), failure(("recv", e))));
                }
            };
            let kept = length.min(self.buffer.len());
            let mut p = self.form.packet(&self.buffer[..kept], length, cx);
            match LinkType::IP.ip_offset(p.data()) {
                Some(offset) => {
                    mark_ip(&mut p, offset);
                    cx.emit(0, p);
                }
                None => cx.drop(p, "not IP"),
            }
        }
    }
}

fn send_packet(sender: &OwnedFd, p: &Packet, cx: &mut Cx<'_>) -> Step {
    let Some(ip) = Ipv4Header::peek(p.data()) else {
        cx.report("runt IP packet", || format!("{}: runt IP packet ({} bytes)", cx.name(), p.len()));
        return Step::Refused("too short for IP");
    };
    let to = SocketAddrV4::new(Ipv4Addr::from_bits(ip.destination().to_bits()), 0);
    match sendto(sender, p.data(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL, &to) {
        Ok(_) => Step::Sent,
        Err(Errno::INTR) => Step::Part(0),
        Err(Errno::AGAIN) => Step::Full,
        Err(Errno::NOBUFS) => Step::NoMemory,
        Err(e) => {
            cx.report("sendto", || format!("{}: {}", cx.name(), failure(("sendto", e))));
            Step::Refused("refused by the host")
        }
    }
}

impl Element for RawSocket {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        // Protocols may be written in capitals.
        if let Some(name) = args.raw("TYPE").map(str::to_lowercase) {
            match IpProto::from_arg(&name, args.names()) {
                Ok(IpProto(number)) => self.protocol = number,
                Err(_) => args.error_in("TYPE", "parse error"),
            }
        }
        self.port = match self.protocol {
            protocol::TCP => args.get::<TcpPort>("PORT").map(|p| p.0),
            protocol::UDP => args.get::<UdpPort>("PORT").map(|p| p.0),
            _ => args.get::<u16>("PORT"),
        }
        .unwrap_or_default();
        self.form.configure(args, false);
        let class = &cx.info().class_name;
        if class != RAW.name {
            cx.chatter(&format!("warning: {class} is deprecated, use RawSocket instead"));
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.buffer = vec![0; self.form.snaplen];
        self.open(cx).map_err(|(call, e)| match e {
            Errno::PERM | Errno::ACCESS => {
                format!("{} (run as root, or give the program CAP_NET_RAW)", failure((call, e)))
            }
            e => failure((call, e)),
        })?;
        self.outbox.initialize(cx);
        self.watch(cx)
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if self.sender.is_none() {
            return cx.drop_batch(batch, "router stopped");
        }
        self.outbox.take(batch, cx);
        self.flush(cx);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let pulled = self.outbox.pull(cx);
        self.flush(cx);
        self.outbox.next_step(pulled, cx)
    }

    fn selected(&mut self, _: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        if ready.read {
            self.receive(cx);
        }
        if ready.write {
            self.outbox.resume(cx);
            self.flush(cx);
        }
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        if slot == PAUSE_TIMER {
            self.outbox.resume(cx);
            self.flush(cx);
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.outbox.clear("router stopped", cx);
        self.keeper = None;
        for socket in [self.receiver.take(), self.sender.take()].into_iter().flatten() {
            cx.unwatch(socket.as_raw_fd());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn mistakes_are_named() {
        for (args, message) in [
            ("", "TYPE: required argument missing"),
            ("nonsense", "TYPE: "),
            ("UDP, many", "PORT: "),
            ("UDP, SNAPLEN 0", "SNAPLEN out of range"),
            ("0", "socket: Protocol not supported"),
        ] {
            let e = Harness::errors(&format!("RawSocket({args}) -> Discard"));
            assert!(e.contains(message), "{args}: {e}");
        }
    }
}
