//! TCPConn: opens TCP connections and gives their packets addresses, ports and sequence numbers.

use super::tcp::{Flow, NOT_TCP, Segment, bare, tcp, tcp_mut};
use super::tcp_demux::Flows;
use crate::values::parse_with;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, write_handler};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "opens TCP connections and numbers their packets",
    manual: "Input and output 0 carry what arrives, input and output 1 what is to be sent; output 2 sends SYN packets. The \
             handler ctrl is written with 'connect SRC SPORT DST DPORT' to open a connection, which sends a SYN, or with \
             'listen SRC SPORT'. The flow is made known to the TCPDemux upstream of input 0. While a connection is \
             open and its SYN-ACK has arrived, packets are pulled through: they get the flow's addresses and ports and the \
             next sequence numbers. While it listens, what arrives is dropped: as in Click, connections cannot be \
             taken. The handler reset closes it. Packets have marked headers; checksums are left to SetIPChecksum \
             and SetTCPChecksum.",
    example: "d :: TCPDemux; Idle -> d -> c :: TCPConn -> Discard; Idle -> [1]c[1] -> Discard; c[2] -> Discard; \
              Script(write c.ctrl connect 1.0.0.1 1000 2.0.0.2 80, stop)",
    ports: "2/3",
    processing: "hl/hlh",
    handlers: &[
        write_handler!("ctrl", "opens a connection, or listens", |e: &mut TcpConn, text, cx| e
            .control(text, cx)),
        write_handler!("reset", "closes the connection", |e: &mut TcpConn, _, _| e.reset()).flags("b"),
    ],
    ..Class::new("TCPConn", "local", || Box::<TcpConn>::default())
};

/// What ctrl is written with.
const CONTROL: &[ArgSpec] = &[
    ArgSpec::required("ACTION", ArgType::String, "connect or listen"),
    ArgSpec::required("SRC", ArgType::String, "own address"),
    ArgSpec::required("SPORT", ArgType::TcpPort, "own port"),
    ArgSpec::positional("DST", ArgType::String, "", "the peer's address"),
    ArgSpec::positional("DPORT", ArgType::TcpPort, "", "the peer's port"),
];

#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum State {
    #[default]
    Closed,
    Listening,
    Connecting,
    Established,
}

#[derive(Default)]
struct TcpConn {
    known: Option<Arc<Flows>>,
    state: State,
    flow: Flow,
    /// The next sequence number to send.
    next: u32,
}

impl TcpConn {
    fn control(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        if self.state != State::Closed {
            return Err("TCPConn already active".to_string());
        }
        let names = cx.names();
        let mut args = Args::from_words(CONTROL, text, &names);
        let action: String = args.get("ACTION").unwrap_or_default();
        // What is not an address counts as none.
        let address = |text: Option<String>| {
            parse_with::<Ipv4Address>(&text.unwrap_or_default(), &names, "").unwrap_or_default()
        };
        let (source, destination) = (address(args.get("SRC")), address(args.get("DST")));
        let mut port = |name| args.get::<TcpPort>(name).map_or(0, |p| p.0);
        let (source_port, destination_port) = (port("SPORT"), port("DPORT"));
        args.finish().map_err(|e| e.to_string())?;
        match action.as_str() {
            "connect" => self.connect(Flow { source, source_port, destination, destination_port }, cx),
            "listen" => {
                self.open(Flow { source, source_port, ..Flow::default() }, State::Listening, "listen")
            }
            _ => Err("action must be connect or listen".to_string()),
        }
    }

    fn open(&mut self, flow: Flow, state: State, doing: &str) -> Result<(), String> {
        if !self.known.as_ref().is_some_and(|known| known.add(flow)) {
            return Err(format!("cannot {doing}"));
        }
        (self.flow, self.state) = (flow, state);
        Ok(())
    }

    fn connect(&mut self, flow: Flow, cx: &mut Cx<'_>) -> Result<(), String> {
        self.open(flow, State::Connecting, "connect")?;
        self.next = cx.random();
        let mut syn = bare(flag::SYN, b"", |tcp| tcp.set_sequence(self.next));
        flow.write(&mut syn);
        cx.emit(2, syn);
        Ok(())
    }

    fn reset(&mut self) {
        if std::mem::take(&mut self.state) != State::Closed
            && let Some(known) = &self.known
        {
            known.remove(self.flow);
        }
    }

    /// Notes the answer to a SYN.
    fn arrived(&mut self, p: &Packet) {
        let answer = flag::SYN | flag::ACK;
        if tcp(p).is_some_and(|tcp| tcp.flags & answer == answer) {
            self.next = self.next.wrapping_add(1);
            if self.state == State::Connecting {
                self.state = State::Established;
            }
        }
    }

    /// Makes a packet the next of the connection.
    fn number(&mut self, p: &mut Packet) -> Option<()> {
        let segment = Segment::of(p)?;
        self.flow.write(p)?;
        tcp_mut(p)?.set_sequence(self.next);
        self.next = self.next.wrapping_add(segment.length);
        Some(())
    }
}

impl Element for TcpConn {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let (_, known) =
            cx.upstream::<Flows>(Some(0)).into_iter().next().ok_or("need at least 1 upstream TCPDemux")?;
        self.known = Some(known);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if self.state == State::Listening {
            return cx.drop_batch(batch, "listening");
        }
        batch.iter().for_each(|p| self.arrived(p));
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if self.state != State::Established {
            return Batch::new();
        }
        let mut batch = cx.pull(1, limit);
        split_batch(&mut batch, cx, NOT_TCP, |p| self.number(p).map(|()| 0));
        batch
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::{flow, segment, sequences};
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str = "in :: Source -> d :: TCPDemux -> c :: TCPConn -> k :: Sink; c[2] -> syn :: Sink; \
                          out :: Source -> Queue -> [1]c[1] -> TimedUnqueue(0.01, 10) -> sent :: Sink";

    fn synack() -> Packet {
        let mut p = segment(1, flag::SYN | flag::ACK, b"");
        flow().reversed().write(&mut p);
        p
    }

    #[test]
    fn a_connection_numbers_what_is_sent_once_it_is_answered() {
        let mut t = Harness::new(CONFIG);
        t.push("out", 0, [bare(0, b"abc", |_| {}), Packet::new(b"?"), bare(0, b"de", |_| {})]);
        t.write("c.ctrl connect 1.0.0.1 1000 2.0.0.2 80").unwrap();
        assert_eq!(t.write("c.ctrl listen 1.0.0.1 1").unwrap_err(), "TCPConn already active");
        t.run();
        let syn = t.take("syn");
        let start = sequences(&syn)[0];
        assert_eq!(Flow::of(&syn[0]), Some(flow()));
        assert_eq!(tcp(&syn[0]).unwrap().flags, flag::SYN);
        assert_eq!(t.take("sent").len(), 0);
        t.push("in", 0, [synack()]);
        assert_eq!(t.take("k").len(), 1);
        t.push("out", 0, [bare(0, b"f", |_| {})]);
        t.run();
        let sent = t.take("sent");
        assert_eq!(sequences(&sent), [1, 4, 6].map(|n| start.wrapping_add(n)));
        assert!(sent.iter().all(|p| Flow::of(p) == Some(flow())));
        assert_eq!(t.read("c.drop_reasons"), "1\tno TCP header\n");
    }

    #[test]
    fn a_listener_takes_nothing() {
        let mut t = Harness::new(CONFIG);
        t.write("c.ctrl listen 0.0.0.0 80").unwrap();
        t.push("in", 0, [segment(1, flag::SYN, b"")]);
        assert_eq!((t.take("k").len(), t.read("c.drop_reasons")), (0, "1\tlistening\n".into()));
    }

    #[test]
    fn wrong_words_are_refused() {
        let mut t = Harness::new(CONFIG);
        assert_eq!(t.write("c.ctrl wait 1.0.0.1 1").unwrap_err(), "action must be connect or listen");
        let e = t.write("c.ctrl connect").unwrap_err();
        assert!(e.contains("SRC: required argument missing"), "{e}");
        let e =
            Harness::errors("Idle -> c :: TCPConn -> Discard; Idle -> [1]c[1] -> Discard; c[2] -> Discard");
        assert!(e.contains("need at least 1 upstream TCPDemux"), "{e}");
    }
}
