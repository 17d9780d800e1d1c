//! TCPAck: acknowledges TCP packets.

use super::tcp::{Segment, bare, tcp, tcp_mut};
use super::tcp_buffer::Buffered;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element};
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "acknowledges TCP packets",
    manual: "Input and output 0 carry what arrives, input and output 1 what is sent; output 2 sends acknowledgements alone. \
             Packets have marked headers. What arrives in order is to be acknowledged, up to the first gap in the TCPBuffer \
             downstream of output 0. Each packet that is sent gets that acknowledgement number. If none is sent \
             for DELAY, a packet with nothing but the acknowledgement leaves by output 2, for a TCPConn behind it to give it \
             addresses and numbers. Numbers are known from the first SYN-ACK in either direction; packets before it \
             are dropped.",
    example: "Idle -> a :: TCPAck -> TCPBuffer -> Discard; Idle -> [1]a[1] -> Discard; a[2] -> Discard; Script(stop)",
    ports: "2/3",
    processing: "aa/aah",
    args: &[ArgSpec::keyword(
        "DELAY",
        ArgType::Seconds,
        "20ms",
        "how long to wait for a packet that takes the acknowledgement along",
    )],
    ..Class::new("TCPAck", "local", || Box::<TcpAck>::default())
};

const DELAY: Duration = Duration::from_millis(20);
const UNCONNECTED: &str = "before the connection";

#[derive(Default)]
struct TcpAck {
    delay: Duration,
    buffered: Arc<Buffered>,
    /// The number to acknowledge, from the first SYN-ACK on.
    next: Option<u32>,
    /// Something arrived that no packet has acknowledged.
    owes: bool,
    /// Packets to report.
    out_of_order: usize,
}

impl TcpAck {
    /// Deals with a packet of one direction; false if it must not go on.
    fn pass(&mut self, port: usize, p: &mut Packet) -> bool {
        let passed = if port == 0 { self.arrived(p) } else { self.sent(p) };
        passed.is_some()
    }

    fn arrived(&mut self, p: &Packet) -> Option<()> {
        let (segment, flags) = (Segment::of(p)?, tcp(p)?.flags);
        if self.next.is_none() && is_answer(flags) {
            self.next = Some(segment.sequence.wrapping_add(1));
        }
        let next = self.next?;
        if flags & (flag::SYN | flag::FIN | flag::RST) != 0 {
            return Some(());
        }
        if segment.sequence == next {
            // It is not yet in the buffer, but what follows it may be.
            let end = segment.end();
            self.next = Some(self.buffered.chain().next_missing(end).unwrap_or(end));
        } else {
            self.out_of_order += 1;
        }
        self.owes = true;
        Some(())
    }

    fn sent(&mut self, p: &mut Packet) -> Option<()> {
        let tcp = tcp_mut(p)?;
        if is_answer(tcp.flags) {
            self.next = Some(tcp.acknowledgment());
        }
        tcp.set_acknowledgment(self.next?);
        self.owes = false;
        Some(())
    }

    /// Deals with the packets of a batch.
    fn pass_all(&mut self, port: usize, batch: &mut Batch, output: u16, cx: &mut Cx<'_>) {
        split_batch(batch, cx, UNCONNECTED, |p| self.pass(port, p).then_some(output));
        for _ in 0..std::mem::take(&mut self.out_of_order) {
            cx.report("seqno < ack_nxt: out of order or retransmitted packet", || {
                "seqno < ack_nxt: out of order or retransmitted packet".to_string()
            });
        }
        if port == 0 && self.owes && cx.timer_expiry(0).is_none() {
            cx.schedule_timer_after(0, self.delay);
        }
    }
}

fn is_answer(flags: u8) -> bool {
    flags & (flag::SYN | flag::ACK) == flag::SYN | flag::ACK
}

impl Element for TcpAck {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let millis = args.get_with("DELAY", SecondsIn(3));
        self.delay = millis.map_or(DELAY, |n| Duration::from_millis(n.into()));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let found = cx.downstream::<Buffered>(Some(0)).into_iter().next();
        (_, self.buffered) = found.ok_or("need at least 1 downstream TCPBuffer")?;
        cx.schedule_timer_after(0, self.delay);
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.pass_all(port, batch, port as u16, cx);
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        self.pass_all(port, &mut batch, 0, cx);
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if let Some(next) = self.next.filter(|_| std::mem::take(&mut self.owes)) {
            cx.emit(2, bare(flag::ACK, b"", |tcp| tcp.set_acknowledgment(next)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::segment;
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str = "in :: Source -> a :: TCPAck(DELAY 50ms) -> b :: TCPBuffer -> u :: Unqueue -> k :: Sink; \
                          out :: Source -> [1]a[1] -> sent :: Sink; a[2] -> acks :: Sink";

    fn numbers(packets: &[Packet]) -> Vec<u32> {
        packets.iter().map(|p| tcp(p).unwrap().acknowledgment()).collect()
    }

    fn push(t: &mut Harness, to: &str, p: Packet) {
        let element = t.router.find(to).unwrap();
        t.router.push(clickwork_router::Endpoint { element, port: 0 }, Batch::one(p));
        t.run_for(Duration::from_millis(1));
    }

    #[test]
    fn what_arrived_in_order_is_acknowledged_after_a_while() {
        let mut t = Harness::new(CONFIG);
        push(&mut t, "in", segment(99, 0, b"early"));
        assert_eq!(t.read("a.drop_reasons"), "1\tbefore the connection\n");
        push(&mut t, "in", segment(99, flag::SYN | flag::ACK, b""));
        push(&mut t, "in", segment(100, flag::ACK, b"abc"));
        push(&mut t, "in", segment(105, flag::ACK, b"f"));
        assert_eq!(t.printed(), "seqno < ack_nxt: out of order or retransmitted packet\n");
        push(&mut t, "in", segment(103, flag::ACK, b"de"));
        assert_eq!(t.take("acks").len(), 0);
        t.run_for(Duration::from_millis(100));
        let acks = t.take("acks");
        assert_eq!(numbers(&acks), [106]);
        assert_eq!(tcp(&acks[0]).unwrap().flags, flag::ACK);
        t.run_for(Duration::from_millis(100));
        assert_eq!(t.take("acks").len(), 0);
        assert_eq!(t.take("k").len(), 4);
    }

    #[test]
    fn a_packet_that_is_sent_takes_the_acknowledgement_along() {
        let mut t = Harness::new(CONFIG);
        push(&mut t, "in", segment(99, flag::SYN | flag::ACK, b""));
        push(&mut t, "in", segment(100, flag::ACK, b"abc"));
        push(&mut t, "out", segment(7, flag::ACK, b"x"));
        t.run_for(Duration::from_millis(100));
        assert_eq!((numbers(&t.take("sent")), t.take("acks").len()), (vec![103], 0));
    }

    #[test]
    fn a_server_learns_the_number_from_its_own_answer() {
        let mut t = Harness::new(CONFIG);
        push(&mut t, "out", segment(7, 0, b"x"));
        let mut answer = segment(7, flag::SYN | flag::ACK, b"");
        tcp_mut(&mut answer).unwrap().set_acknowledgment(500);
        push(&mut t, "out", answer);
        push(&mut t, "in", segment(500, flag::ACK, b"abc"));
        push(&mut t, "out", segment(8, flag::ACK, b"x"));
        assert_eq!(numbers(&t.take("sent")), [500, 503]);
    }

    #[test]
    fn there_must_be_a_buffer() {
        let e =
            Harness::errors("Idle -> a :: TCPAck -> Discard; Idle -> [1]a[1] -> Discard; a[2] -> Discard");
        assert!(e.contains("need at least 1 downstream TCPBuffer"), "{e}");
    }
}
