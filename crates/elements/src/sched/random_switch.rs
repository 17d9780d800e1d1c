//! RandomSwitch: sends each packet to a random output.

use clickwork_packet::{BATCH_SIZE, Batch};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends each packet to a random output",
    manual: "Each output is as likely as any other.",
    example: "InfiniteSource(LIMIT 8, STOP true) -> s :: RandomSwitch; s[0] -> Discard; s[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    packets: "any/each",
    ..Class::new("RandomSwitch", "sched", || Box::new(RandomSwitch))
};

struct RandomSwitch;

impl Element for RandomSwitch {
    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let outputs = cx.outputs() as u64;
        let mut draws = [0; BATCH_SIZE];
        draws[..batch.len()].fill_with(|| ((u64::from(cx.random()) * outputs) >> 32) as u16);
        let mut draws = draws.into_iter();
        split_batch(batch, cx, "no output", |_| draws.next());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn outputs_are_equally_likely() {
        let mut t = Harness::new(
            "s :: Source -> r :: RandomSwitch; r[0] -> a :: Sink; r[1] -> b :: Sink; r[2] -> c :: Sink",
        );
        t.push("s", 0, (0..3000).map(|_| Packet::new(b"x")));
        let counts = ["a", "b", "c"].map(|k| t.take(k).len());
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 3000);
    }
}
