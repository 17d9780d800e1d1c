//! ToyTCP: connects to a port and sends bytes that it never resends.

use clickwork_packet::Packet;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::headers::{Header, TcpHeader};
use clickwork_packet::{Batch, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "a toy TCP: connects and keeps sending single bytes",
    manual: "For experiments with receivers. Takes and makes packets that begin with a TCP header; IP headers and checksums \
             are the job of others. It sends a SYN to port DPORT, from a port that the time gives. When it is answered, each \
             packet that arrives is answered with one byte of data, every sixth with two packets; \
             one more is sent, and the counts printed, each second. After a RST it begins anew at the next second. Nothing \
             is ever resent.",
    example: "Idle -> ToyTCP(80) -> Discard; Script(wait 2s, stop)",
    processing: "h/h",
    args: &[ArgSpec::required("DPORT", ArgType::TcpPort, "port to connect to")],
    handlers: &[read_handler!("connected", "whether the peer has answered", |e: &mut ToyTcp, _| e
        .connection
        .peer_next
        .is_some())],
    ..Class::new("ToyTCP", "local", || Box::<ToyTcp>::default())
};

const ONE_SECOND: Duration = Duration::from_secs(1);
/// Room for an Ethernet and an IP header.
const HEADROOM: usize = 34;
/// The sequence numbers that data are sent with repeat after so many.
const NUMBERS: u32 = 0x1000;
/// After so many packets that arrived one more is sent than arrived.
const GROWTH: u32 = 5;

#[derive(Default)]
struct ToyTcp {
    port: u16,
    connection: Connection,
    good: u32,
    bad: u32,
    sent: u32,
}

/// What is forgotten when it begins anew.
#[derive(Default)]
struct Connection {
    port: u16,
    start: u32,
    /// The sequence number expected from the peer, once it has answered.
    peer_next: Option<u32>,
    arrived: u32,
    /// Packets sent since one announced the small window.
    since_small: u32,
    /// The peer has reset it.
    reset: bool,
}

impl Connection {
    fn new(now: Timestamp) -> Connection {
        let micros = now.subsec_nanos() / 1000;
        Connection {
            port: (1024 + micros % 60000) as u16,
            start: now.seconds() as u32 & 0x0fff_ffff,
            ..Connection::default()
        }
    }

    /// The window of the next packet: every fourth is the small one.
    fn window(&mut self) -> u16 {
        let small = self.since_small > 2;
        self.since_small = if small { 0 } else { self.since_small + 1 };
        if small { 30 * 1024 } else { 60 * 1024 }
    }
}

impl ToyTcp {
    fn receive(&mut self, p: &Packet, cx: &Cx<'_>) {
        let Some(tcp) = TcpHeader::peek(p.data()) else { return };
        if tcp.source_port() != self.port || tcp.destination_port() != self.connection.port {
            return;
        }
        let c = &mut self.connection;
        let answers = tcp.flags & (flag::ACK | flag::RST) == flag::ACK;
        if answers && tcp.acknowledgment() == c.start.wrapping_add(1) && c.peer_next.is_none() {
            c.peer_next = Some(tcp.sequence().wrapping_add(1));
            cx.report("connected", || "ToyTCP connected".to_string());
        }
        if tcp.flags & flag::RST != 0 {
            c.reset = true;
            let (port, good, sent) = (self.port, self.good, self.sent);
            cx.report("RST", || format!("ToyTCP: RST from port {port}, in {good}, out {sent}"));
            self.bad += 1;
        } else {
            self.good += 1;
        }
    }

    fn send(&mut self, cx: &mut Cx<'_>) {
        let c = &mut self.connection;
        let mut header = TcpHeader::default();
        header.set_source_port(c.port);
        header.set_destination_port(self.port);
        header.set_window(c.window());
        match c.peer_next {
            None => {
                header.flags = flag::SYN;
                header.set_sequence(c.start);
            }
            Some(next) => {
                header.flags = flag::ACK;
                header.set_acknowledgment(next);
                header.set_sequence(c.start.wrapping_add(2).wrapping_add(self.sent % NUMBERS));
            }
        }
        let payload = usize::from(c.peer_next.is_some());
        let mut p = Packet::zeroed(HEADROOM, size_of::<TcpHeader>() + payload, 0);
        if let Some(tcp) = TcpHeader::peek_mut(p.data_mut()) {
            *tcp = header;
        }
        self.sent = self.sent.wrapping_add(1);
        cx.emit(0, p);
    }

    fn packet(&mut self, p: Packet, cx: &mut Cx<'_>) {
        if self.connection.reset {
            return cx.drop(p, "connection was reset");
        }
        self.receive(&p, cx);
        self.send(cx);
        self.connection.arrived += 1;
        if self.connection.arrived > GROWTH {
            self.connection.arrived = 0;
            self.send(cx);
        }
    }
}

impl Element for ToyTcp {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.port = args.get("DPORT").map_or(0, |TcpPort(port)| port);
        self.connection = Connection::new(cx.now());
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, ONE_SECOND);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            self.packet(p, cx);
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if self.connection.reset {
            self.connection = Connection::new(cx.now());
        }
        self.send(cx);
        cx.schedule_timer_after(0, ONE_SECOND);
        let (good, bad, sent) = (self.good, self.bad, self.sent);
        cx.chatter(&format!("ToyTCP: {good} good in, {bad} bad in, {sent} out"));
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<ToyTcp>(old) else { return };
        if old.port == self.port {
            *self = std::mem::take(old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    /// What the peer sends to the port that `syn` came from.
    fn answer(syn: &Packet, flags: u8) -> Packet {
        let asked = *TcpHeader::peek(syn.data()).unwrap();
        let mut header = TcpHeader::default();
        header.flags = flags;
        header.set_source_port(80);
        header.set_destination_port(asked.source_port());
        header.set_sequence(7000);
        header.set_acknowledgment(asked.sequence() + 1);
        let mut p = Packet::zeroed(0, size_of::<TcpHeader>(), 0);
        *TcpHeader::peek_mut(p.data_mut()).unwrap() = header;
        p
    }

    fn push(t: &mut Harness, p: Packet) {
        let element = t.router.find("tcp").unwrap();
        t.router.push(clickwork_router::Endpoint { element, port: 0 }, Batch::one(p));
    }

    const CONFIG: &str = "Idle -> tcp :: ToyTCP(80) -> k :: Sink";

    #[test]
    fn it_connects_and_answers_every_packet_with_a_byte() {
        let mut t = Harness::new(CONFIG);
        t.run_for(Duration::from_millis(1500));
        let sent = t.take("k");
        let syn = TcpHeader::peek(sent[0].data()).unwrap();
        assert_eq!(
            (sent.len(), syn.flags, syn.sequence(), syn.window()),
            (1, flag::SYN, 1_000_000_000 & 0xfff_ffff, 61440)
        );
        assert_eq!(t.printed(), "ToyTCP: 0 good in, 0 bad in, 1 out\n");
        for _ in 0..7 {
            push(&mut t, answer(&sent[0], flag::SYN | flag::ACK));
        }
        assert_eq!((t.printed(), t.read("tcp.connected")), ("ToyTCP connected\n".into(), "true".into()));
        let data = t.take("k");
        let headers: Vec<_> = data.iter().map(|p| *TcpHeader::peek(p.data()).unwrap()).collect();
        assert!(data.iter().all(|p| p.len() == 21 && p.headroom() >= 34));
        assert!(headers.iter().all(|h| h.flags == flag::ACK && h.acknowledgment() == 7001));
        assert_eq!(
            headers.iter().map(|h| h.sequence() - syn.sequence()).collect::<Vec<_>>(),
            [3, 4, 5, 6, 7, 8, 9, 10]
        );
        assert_eq!(
            headers.iter().map(|h| h.window() / 1024).collect::<Vec<_>>(),
            [60, 60, 30, 60, 60, 60, 30, 60]
        );
    }

    #[test]
    fn a_reset_is_waited_out() {
        let mut t = Harness::new(CONFIG);
        t.run_for(Duration::from_millis(1500));
        let syn = t.take("k").remove(0);
        push(&mut t, answer(&syn, flag::RST | flag::ACK));
        let port = TcpHeader::peek(syn.data()).unwrap().source_port();
        assert!(t.printed().ends_with("ToyTCP: RST from port 80, in 0, out 1\n"));
        assert_ne!(port, 80);
        push(&mut t, answer(&syn, flag::ACK));
        assert_eq!((t.take("k").len(), t.read("tcp.drop_reasons")), (1, "1\tconnection was reset\n".into()));
        t.run_for(Duration::from_secs(1));
        assert_eq!(TcpHeader::peek(t.take("k")[0].data()).unwrap().flags, flag::SYN);
        assert_eq!(t.printed(), "ToyTCP: 0 good in, 1 bad in, 3 out\n");
    }

    #[test]
    fn packets_of_others_are_answered_too() {
        let mut t = Harness::new(CONFIG);
        push(&mut t, Packet::new(b"short"));
        assert_eq!((t.take("k").len(), t.read("tcp.connected")), (1, "false".into()));
    }
}
