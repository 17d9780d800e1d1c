//! CPUSwitch: chooses the output by the processor that handles the packet.

use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "chooses the output by the thread that runs it",
    manual: "Sends packets to the output with the number of the thread that handles them, modulo the number of outputs. A \
             router is run by one thread, number 0, so all packets go to output 0.",
    example: "InfiniteSource(LIMIT 4, STOP true) -> s :: CPUSwitch; s[0] -> Discard; s[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    ..Class::new("CPUSwitch", "standard", || Box::new(CpuSwitch))
};

struct CpuSwitch;

impl Element for CpuSwitch {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn one_thread_takes_one_output() {
        let mut t = Harness::new("s :: Source -> c :: CPUSwitch => a :: Sink, b :: Sink");
        t.push("s", 0, (0..3).map(|i| Packet::new(&[i])));
        assert_eq!((t.take("a").len(), t.take("b").len()), (3, 0));
    }
}
