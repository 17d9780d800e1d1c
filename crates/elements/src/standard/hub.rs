//! Hub: copies packets to every port but the one they came from.

use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies packets to all outputs but the one of their input",
    manual: "Sends a copy of each packet to every output except that with the number of the input it came in by, as an \
             Ethernet hub does. With a single port all packets are dropped.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> h :: Hub; Idle -> [1] h; h[0] -> Discard; h[1] -> Discard",
    ports: "-/=",
    processing: "h/h",
    flow: "#/[^#]",
    packets: "any/each",
    ..Class::new("Hub", "standard", || Box::new(Hub))
};

struct Hub;

impl Element for Hub {
    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let outputs = cx.outputs();
        let Some(last) = (0..outputs).rev().find(|&o| o != port) else {
            return cx.drop_batch(batch, "no other port");
        };
        for p in batch.drain() {
            (0..last).filter(|&o| o != port).for_each(|o| cx.emit(o, p.clone()));
            cx.emit(last, p);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn every_port_but_the_own_gets_a_copy() {
        let config = "a :: Source -> h :: Hub; b :: Source -> [1] h; c :: Source -> [2] h; \
                      h[0] -> x :: Sink; h[1] -> y :: Sink; h[2] -> z :: Sink";
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push("a", 0, [Packet::new(b"a")]);
            t.push("b", 0, [Packet::new(b"b")]);
            t.push("c", 0, [Packet::new(b"c")]);
            let got = ["x", "y", "z"].map(|k| t.bytes(k).concat());
            assert_eq!(got, [b"bc".to_vec(), b"ac".to_vec(), b"ab".to_vec()]);
        }
    }

    #[test]
    fn a_single_port_drops_everything() {
        let mut t = Harness::new("s :: Source -> h :: Hub -> k :: Sink");
        t.push("s", 0, [Packet::new(b"a")]);
        assert_eq!((t.take("k").len(), t.read("h.drop_reasons")), (0, "1\tno other port\n".into()));
        let e = Harness::errors("Idle -> h :: Hub; h[0] -> Discard; h[1] -> Discard");
        assert!(e.contains("output"), "{e}");
    }
}
