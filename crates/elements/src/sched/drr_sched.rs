//! DRRSched: pulls from its inputs in equal shares of bytes.
//!
//! Read first: Shreedhar and Varghese, "Efficient fair queueing using deficit round robin" (SIGCOMM '95).

use super::turns::gather;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from its inputs by deficit round robin",
    manual: "Inputs take turns; each turn is worth QUANTUM bytes, and what an input does not use it keeps for its next \
             turn, so that all get the same share of bytes whatever the length of their packets.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] d :: DRRSched -> Unqueue -> Discard; \
              Idle -> Queue -> [1] d",
    ports: "-/1",
    processing: "l/l",
    args: &[ArgSpec::positional("QUANTUM", ArgType::U32, "500", "bytes a turn is worth")],
    ..Class::new("DRRSched", "sched", || Box::<DrrSched>::default())
};

struct DrrSched {
    quantum: u32,
    inputs: Vec<Input>,
    next: usize,
    /// Active while a packet may be had, held ones included.
    empty: Option<NotifierId>,
}

struct Input {
    /// A packet that was pulled but is too long for this turn.
    head: Option<Batch>,
    deficit: u64,
    signal: Signal,
}

impl Default for DrrSched {
    fn default() -> DrrSched {
        DrrSched { quantum: 500, inputs: Vec::new(), next: 0, empty: None }
    }
}

impl DrrSched {
    /// Looks at each input once, beginning with the one that gave the last packet.
    fn look_around(&mut self, cx: &mut Cx<'_>) -> (Option<Batch>, bool) {
        let mut alive = false;
        for _ in 0..self.inputs.len() {
            let port = self.next;
            let input = &mut self.inputs[port];
            let head = input.head.take();
            let may_have = head.is_some() || cx.is_active(&input.signal);
            alive |= may_have;
            let packet = head.or_else(|| may_have.then(|| cx.pull(port, 1)).filter(|b| !b.is_empty()));
            match packet {
                None => input.deficit = 0,
                Some(packet) => {
                    let length = packet.first().map_or(0, Packet::len) as u64;
                    if length <= input.deficit {
                        input.deficit -= length;
                        return (Some(packet), true);
                    }
                    input.head = Some(packet);
                }
            }
            self.next = (port + 1) % self.inputs.len();
            self.inputs[self.next].deficit += u64::from(self.quantum);
        }
        (None, alive)
    }

    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let (packet, alive) = self.look_around(cx);
        if let Some(empty) = self.empty {
            if alive { cx.wake(empty) } else { cx.sleep(empty) }
        }
        packet
    }
}

impl Element for DrrSched {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("QUANTUM", &mut self.quantum);
        if self.quantum == 0 {
            args.error_in("QUANTUM", "must be at least 1");
        }
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::ContinueWake));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(empty) = self.empty else { return Ok(()) };
        self.inputs = (0..cx.inputs())
            .map(|port| Input { head: None, deficit: 0, signal: cx.upstream_empty_signal_for(port, empty) })
            .collect();
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        gather(limit, cx, |cx| self.pull_one(cx))
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<DrrSched>(old) else { return };
        for (port, before) in old.inputs.iter_mut().enumerate() {
            let head = before.head.take();
            match self.inputs.get_mut(port) {
                Some(input) => (input.head, input.deficit) = (head, before.deficit),
                None => head.into_iter().for_each(|mut head| cx.drop_batch(&mut head, "input gone")),
            }
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.inputs.iter_mut().filter_map(|input| input.head.as_mut()).for_each(Batch::clear);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn inputs_get_the_same_share_of_bytes() {
        for batched in [false, true] {
            let config = "a :: Source -> Queue -> [0] d :: DRRSched(QUANTUM 100); b :: Source -> Queue -> [1] d; \
                          d -> u :: Unqueue(ACTIVE false, BURST 9) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push("a", 0, (0..20).map(|_| Packet::new(&[b'a'; 300])));
            t.push("b", 0, (0..60).map(|_| Packet::new(&[b'b'; 100])));
            t.write("u.active true").unwrap();
            assert_eq!(t.run(), Outcome::Exhausted);
            let out = t.bytes("k");
            assert_eq!(out.len(), 80);
            let bytes_of = |letter| out[..40].iter().filter(|p| p[0] == letter).map(Vec::len).sum::<usize>();
            assert!(bytes_of(b'a').abs_diff(bytes_of(b'b')) <= 400, "{} {}", bytes_of(b'a'), bytes_of(b'b'));
        }
    }

    #[test]
    fn a_packet_that_waits_for_its_turn_outlives_a_hot_swap_or_is_counted() {
        let config = |inputs: &str| {
            format!(
                "a :: Source -> Queue -> [0] d :: DRRSched(QUANTUM 1); b :: Source -> {inputs}; d -> TimedSink(1)"
            )
        };
        let mut old = Harness::new(&config("Queue -> [1] d"));
        old.push("a", 0, [Packet::new(&[0; 300])]);
        old.push("b", 0, [Packet::new(&[0; 300])]);
        let mut new = Harness::new(&config("Discard"));
        new.router.take_over(old.router);
        assert_eq!(new.read("d.drop_reasons"), "1\tinput gone\n");
        drop(new);
    }

    #[test]
    fn wakes_up_again() {
        let mut t = Harness::new("a :: Source -> Queue -> d :: DRRSched -> Unqueue -> k :: Sink");
        assert_eq!(t.run(), Outcome::Exhausted);
        t.push("a", 0, [Packet::new(&[0; 1500])]);
        t.push("a", 0, [Packet::new(&[0; 60])]);
        assert_eq!(t.take("k").len(), 2);
    }
}
