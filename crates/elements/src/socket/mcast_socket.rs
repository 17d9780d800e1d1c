//! McastSocket: packets to and from a multicast group.

use super::name::{Name, inet};
use super::options::{Buffers, Form, HEADROOM, RCVBUF, SNAPLEN, SNDBUF, TIMESTAMP, failure, message};
use super::outbox::{Outbox, PAUSE_TIMER, Step};
use clickwork_packet::Batch;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{ArgSpec, ArgType, Args, UdpPort};
use clickwork_router::{Class, Cx, Element, Ready, TaskStep, read_handler};
use rustix::io::Errno;
use rustix::net::sockopt::{
    set_ip_add_membership, set_ip_multicast_if, set_ip_multicast_loop, set_socket_reuseaddr,
};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, getsockname, recvfrom, socket_with};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to a multicast group and receives from it",
    manual: "Each packet that enters is sent as a UDP datagram to group MCASTIP, port MCASTPORT; datagrams to them leave by the \
             output. With SOURCEIP, the group is joined and sent to on the interface that has this address, datagrams come \
             from there, from port SOURCEPORT if it is given, and those that this element sent are not received. \
             LOOP says whether other programs on this host receive what is sent. Packets are pulled as the socket takes \
             them. Pushed packets wait for it, 1024 of them at most; further ones are dropped. Nothing blocks.",
    example: "",
    ports: "0-1/0-1",
    processing: "a/h",
    flow: "x/y",
    args: &[
        ArgSpec::required("MCASTIP", ArgType::IpAddr, "the group"),
        ArgSpec::required("MCASTPORT", ArgType::UdpPort, "its port"),
        ArgSpec::positional("SOURCEIP", ArgType::IpAddr, "", "own address, which names the interface"),
        ArgSpec::positional("SOURCEPORT", ArgType::UdpPort, "", "own port; any if not given"),
        SNAPLEN,
        HEADROOM,
        TIMESTAMP,
        RCVBUF,
        SNDBUF,
        ArgSpec::keyword("LOOP", ArgType::Bool, "true", "whether this host receives what is sent"),
    ],
    handlers: &[read_handler!("count", "packets sent", |e: &mut McastSocket, _| e.outbox.count)],
    task_handlers: true,
    ..Class::new("McastSocket", "socket", || Box::<McastSocket>::default())
};

/// How many datagrams are received before others have their turn.
const READS: usize = 32;

#[derive(Default)]
struct McastSocket {
    group: Option<SocketAddrV4>,
    /// Own address, and the port once it is known.
    source: Option<SocketAddrV4>,
    looped: bool,
    form: Form,
    buffers: Buffers,
    receiver: Option<OwnedFd>,
    sender: Option<OwnedFd>,
    outbox: Outbox,
    buffer: Vec<u8>,
}

type Failure = (&'static str, Errno);

fn udp() -> Result<OwnedFd, Failure> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None).map_err(|e| ("socket", e))
}

impl McastSocket {
    fn open_receiver(&mut self, group: SocketAddrV4) -> Result<(), Failure> {
        let socket = udp()?;
        self.buffers.set(socket.as_fd())?;
        // Several programs of a host may listen to a group.
        set_socket_reuseaddr(&socket, true).map_err(|e| ("setsockopt(SO_REUSEADDR)", e))?;
        Name::Inet(group).bind(socket.as_fd()).map_err(|e| ("bind", e))?;
        let interface = self.source.map_or(Ipv4Addr::UNSPECIFIED, |s| *s.ip());
        set_ip_add_membership(&socket, group.ip(), &interface)
            .map_err(|e| ("setsockopt(IP_ADD_MEMBERSHIP)", e))?;
        self.receiver = Some(socket);
        Ok(())
    }

    fn open_sender(&mut self) -> Result<(), Failure> {
        let socket = udp()?;
        self.buffers.set(socket.as_fd())?;
        if let Some(source) = self.source {
            Name::Inet(source).bind(socket.as_fd()).map_err(|e| ("bind", e))?;
            let bound = getsockname(&socket).map_err(|e| ("getsockname", e))?;
            self.source = SocketAddrV4::try_from(bound).ok();
            set_ip_multicast_if(&socket, source.ip()).map_err(|e| ("setsockopt(IP_MULTICAST_IF)", e))?;
        }
        set_ip_multicast_loop(&socket, self.looped).map_err(|e| ("setsockopt(IP_MULTICAST_LOOP)", e))?;
        self.sender = Some(socket);
        Ok(())
    }

    fn watch(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let reads = Ready { read: cx.outputs() > 0, write: false };
        let writes = Ready { read: false, write: self.outbox.is_full() };
        for (socket, ready) in [(&self.receiver, reads), (&self.sender, writes)] {
            if let Some(socket) = socket {
                cx.watch(socket.as_fd(), ready).map_err(|e| format!("cannot watch it: {e}"))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, cx: &mut Cx<'_>) {
        let (Some(sender), Some(group)) = (&self.sender, self.group) else { return };
        let group = Name::Inet(group);
        let was_full = self.outbox.is_full();
        let _ = self.outbox.flush(cx, |p, _| match group.send(sender.as_fd(), p.data()) {
            Ok(_) => Step::Sent,
            Err(Errno::INTR) => Step::Part(0),
            Err(Errno::AGAIN) => Step::Full,
            Err(Errno::NOBUFS) => Step::NoMemory,
            Err(Errno::MSGSIZE) => Step::Refused("too long for a datagram"),
            Err(_) => Step::Refused("cannot be sent"),
        });
        if was_full != self.outbox.is_full()
            && let Err(e) = self.watch(cx)
        {
            cx.chatter(&format!("{}: {e}", cx.name()));
        }
    }

    fn receive(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..READS {
            let Some(socket) = &self.receiver else { return };
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let (length, from) = match recvfrom(socket, &mut self.buffer[..], flags) {
                Ok((_, length, from)) => (length, from),
                Err(Errno::AGAIN | Errno::INTR) => return,
                Err(e) => {
                    return cx.report("receiving failed", || {
                        format!("{} :: McastSocket: {}", cx.name(), message(e))
                    });
                }
            };
            let own = self.source.is_some()
                && from.and_then(|from| SocketAddrV4::try_from(from).ok()) == self.source;
            if !own && cx.outputs() > 0 {
                let kept = length.min(self.buffer.len());
                let p = self.form.packet(&self.buffer[..kept], length, cx);
                cx.emit(0, p);
            }
        }
    }
}

impl Element for McastSocket {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.looped = true;
        let (group, group_port) = (args.get::<Ipv4Address>("MCASTIP"), args.get::<UdpPort>("MCASTPORT"));
        self.group = group.zip(group_port).map(|(address, port)| inet(address, port.0));
        let port = args.get::<UdpPort>("SOURCEPORT").map_or(0, |p| p.0);
        let own = args.get::<Ipv4Address>("SOURCEIP").filter(|address| *address != Ipv4Address::UNSPECIFIED);
        self.source = own.map(|address| inet(address, port));
        self.form.configure(args, true);
        self.buffers.configure(args);
        args.read("LOOP", &mut self.looped);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(group) = self.group else { return Ok(()) };
        self.buffer = vec![0; self.form.snaplen];
        self.open_sender().and_then(|()| self.open_receiver(group)).map_err(failure)?;
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

    fn selected(&mut self, fd: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        if ready.write && self.sender.as_ref().is_some_and(|s| s.as_raw_fd() == fd) {
            self.outbox.resume(cx);
            self.flush(cx);
            // `flush` saw no change.
            if let Err(e) = self.watch(cx) {
                cx.chatter(&format!("{}: {e}", cx.name()));
            }
        } else {
            self.receive(cx);
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
        for socket in [self.receiver.take(), self.sender.take()].into_iter().flatten() {
            cx.unwatch(socket.as_raw_fd());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Batch, Packet};
    use std::time::{Duration, Instant};

    const TICK: &str = "Script(TYPE ACTIVE, wait 1ms, loop);";

    fn push(t: &mut Harness, text: &[u8]) {
        let element = t.router.find("s").unwrap();
        t.router.push(clickwork_router::Endpoint { element, port: 0 }, Batch::one(Packet::new(text)));
    }

    /// A group that no other test of this machine is in.
    fn group() -> String {
        let [_, high, middle, low] = clickwork_oracles::loopback().octets();
        format!("239.{high}.{middle}.{low}, 20177")
    }

    #[test]
    fn members_of_a_group_hear_each_other_but_not_themselves() {
        let group = group();
        for input in ["", "Queue ->"] {
            let config = format!(
                "{TICK} s :: Source -> {input} m :: McastSocket({group}, 127.0.0.1, SNAPLEN 3) -> k :: Sink"
            );
            let (mut a, mut b) = (Harness::new(&config), Harness::new(&config));
            push(&mut a, b"hello");
            let give_up = Instant::now() + Duration::from_secs(300);
            let heard = loop {
                a.run_for(Duration::from_millis(1));
                b.run_for(Duration::from_millis(1));
                if let Some(p) = b.take("k").pop() {
                    break p;
                }
                assert!(Instant::now() < give_up, "the group hears");
            };
            assert_eq!(heard.data(), b"hel");
            assert_eq!((a.read("m.count"), a.take("k").len()), ("1".into(), 0));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (args, message) in [
            ("239.1.1.1", "MCASTPORT: required argument missing"),
            ("239.1.1.1, 9, 127.0.0.1, HEADROOM 70000", "HEADROOM out of range"),
            ("239.1.1.1, 9, 192.0.2.1", "bind: Cannot assign requested address"),
            ("127.0.0.1, 0", "setsockopt(IP_ADD_MEMBERSHIP): Invalid argument"),
        ] {
            let e = Harness::errors(&format!("McastSocket({args}) -> Discard"));
            assert!(e.contains(message), "{args}: {e}");
        }
    }
}
