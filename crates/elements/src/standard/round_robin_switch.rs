//! RoundRobinSwitch: deals packets out to its outputs in turn.

use clickwork_packet::Batch;
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to its outputs in turn",
    manual: "Sends the first packet to output 0, the next to output 1, and so on, then begins anew.",
    example: "InfiniteSource(LIMIT 4, STOP true) -> s :: RoundRobinSwitch; s[0] -> Discard; s[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    packets: "any/each",
    ..Class::new("RoundRobinSwitch", "standard", || Box::<RoundRobinSwitch>::default())
};

#[derive(Default)]
struct RoundRobinSwitch {
    next: u16,
}

impl Element for RoundRobinSwitch {
    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let (outputs, mut next) = (cx.outputs() as u16, self.next);
        split_batch(batch, cx, "no output", |_| {
            let output = next;
            next = if next + 1 < outputs { next + 1 } else { 0 };
            Some(output)
        });
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn outputs_take_turns() {
        let config = "s :: Source -> r :: RoundRobinSwitch => a :: Sink, b :: Sink, c :: Sink";
        let mut t = Harness::batched(config);
        t.push_batch("s", 0, (0..4).map(|i| Packet::new(&[i])));
        t.push_batch("s", 0, (4..8).map(|i| Packet::new(&[i])));
        let got = ["a", "b", "c"].map(|k| t.bytes(k).concat());
        assert_eq!(got, [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5]]);
    }
}
