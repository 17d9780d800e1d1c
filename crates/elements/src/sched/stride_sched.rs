//! StrideSched: pulls from its inputs in proportion to their tickets.

use super::stride::{ARGS, Stride};
use super::turns::gather;
use clickwork_packet::Batch;
use clickwork_router::args::Args;
use clickwork_router::handler::Members;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, read_handler, read_param_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from its inputs in proportion to tickets",
    manual: "Stride scheduling: input N gets pulls in proportion to the Nth number of tickets. An input that has no \
             packet loses its turn to the next; an input with 0 tickets gets none, \
             and packets there wake nobody.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] ss :: StrideSched(1, 3) -> Unqueue -> Discard; \
              Idle -> Queue -> [1] ss",
    ports: "1-/1",
    processing: "l/l",
    args: ARGS,
    handlers: &[
        read_param_handler!("tickets", "tickets of an input", |e: &mut StrideSched, text, _| e
            .stride
            .read(text))
        .numbered(Members::Inputs)
        .and_write(write_handler!("", "", |e: &mut StrideSched, text, cx| e.write_tickets(text, cx))),
        read_handler!("config", "tickets of all inputs", |e: &mut StrideSched, _| e.stride.config()),
    ],
    ..Class::new("StrideSched", "sched", || Box::<StrideSched>::default())
};

#[derive(Default)]
struct StrideSched {
    stride: Stride,
    signals: Vec<Signal>,
    /// Active while an input with tickets may have packets.
    empty: Option<NotifierId>,
}

impl StrideSched {
    fn write_tickets(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.stride.write(text)?;
        self.tell(cx);
        Ok(())
    }

    /// Tells those who pull whether there may be packets.
    fn tell(&self, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            let alive = self.stride.any(|&port| cx.is_active(&self.signals[port]));
            if alive { cx.wake(empty) } else { cx.sleep(empty) }
        }
    }

    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let signals = &self.signals;
        self.stride.turn(|port| {
            let packet = if cx.is_active(&signals[port]) { cx.pull(port, 1) } else { Batch::new() };
            (!packet.is_empty()).then_some(packet)
        })
    }
}

impl Element for StrideSched {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.stride.configure(args, cx.inputs(), "input");
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::ContinueWake));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(empty) = self.empty {
            self.signals = (0..cx.inputs()).map(|port| cx.upstream_empty_signal_for(port, empty)).collect();
        }
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = gather(limit, cx, |cx| self.pull_one(cx));
        if batch.is_empty() {
            self.tell(cx);
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    fn letters(letter: u8, n: usize) -> impl Iterator<Item = Packet> {
        (0..n).map(move |_| Packet::new(&[letter]))
    }

    #[test]
    fn shares_are_in_proportion_to_tickets() {
        for batched in [false, true] {
            let config = "a :: Source -> Queue -> [0] ss :: StrideSched(1, 3); b :: Source -> Queue -> [1] ss; \
                          ss -> u :: Unqueue(ACTIVE false, LIMIT 40, BURST 10) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push("a", 0, letters(b'a', 100));
            t.push("b", 0, letters(b'b', 100));
            t.write("u.active true").unwrap();
            t.run();
            let out: Vec<u8> = t.bytes("k").concat();
            assert_eq!(out.iter().filter(|&&b| b == b'a').count(), 10);
            assert_eq!(&out[..8], b"bbbabbba");
        }
    }

    #[test]
    fn an_empty_input_loses_its_turn_and_nobody_spins() {
        let mut t = Harness::new(
            "a :: Source -> Queue -> [0] ss :: StrideSched(1, 3); b :: Source -> Queue -> [1] ss; \
             ss -> Unqueue -> k :: Sink",
        );
        t.push("a", 0, letters(b'a', 5));
        assert_eq!(t.run(), Outcome::Exhausted);
        t.push("b", 0, letters(b'b', 2));
        assert_eq!(t.bytes("k").concat(), b"aaaaabb");
    }

    #[test]
    fn tickets_can_be_changed() {
        let mut t = Harness::new(
            "a :: Source -> Queue -> [0] ss :: StrideSched(1, 1); b :: Source -> Queue -> [1] ss; \
             ss -> u :: Unqueue(ACTIVE false, LIMIT 8) -> k :: Sink",
        );
        t.write("ss.tickets1 0").unwrap();
        assert_eq!([t.read("ss.tickets1"), t.read("ss.config")], ["0", "1, 0"]);
        t.push("a", 0, letters(b'a', 10));
        t.push("b", 0, letters(b'b', 10));
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(t.bytes("k").concat(), b"aaaaaaaa");
        t.write("u.limit -1").unwrap();
        assert_eq!((t.run(), t.bytes("k").concat()), (Outcome::Exhausted, b"aa".to_vec()));
        t.write("ss.tickets1 1").unwrap();
        assert_eq!((t.run(), t.bytes("k").len()), (Outcome::Exhausted, 10));
        assert_eq!(t.write("ss.tickets0 -1").unwrap_err(), "number of tickets must be >= 0");
        assert!(t.write("ss.tickets7 1").is_err());
    }

    #[test]
    fn there_must_be_one_number_for_each_input() {
        let e = Harness::errors("Idle -> StrideSched(1, 2) -> Discard");
        assert!(e.contains("need 1 arguments, one per input port"), "{e}");
        let e = Harness::errors("Idle -> StrideSched(x) -> Discard");
        assert!(e.contains("argument 0 should be number of tickets (integer)"), "{e}");
    }
}
