//! StrideSwitch: sends packets to its outputs in proportion to their tickets.

use super::stride::{ARGS, Stride};
use clickwork_packet::Batch;
use clickwork_router::args::Args;
use clickwork_router::element::split_batch;
use clickwork_router::handler::Members;
use clickwork_router::{Class, Cx, Element, read_handler, read_param_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to its outputs in proportion to tickets",
    manual: "Stride scheduling: output N gets packets in proportion to the Nth number of tickets; an output with 0 \
             tickets gets none. If all have 0 tickets, packets are dropped.",
    example: "InfiniteSource(LIMIT 8, STOP true) -> ss :: StrideSwitch(1, 3); ss[0] -> Discard; ss[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    packets: "any/each",
    args: ARGS,
    handlers: &[
        read_param_handler!("tickets", "tickets of an output", |e: &mut StrideSwitch, text, _| e
            .stride
            .read(text))
        .numbered(Members::Outputs)
        .and_write(write_handler!("", "", |e: &mut StrideSwitch, text, _| e.stride.write(text))),
        read_handler!("config", "tickets of all outputs", |e: &mut StrideSwitch, _| e.stride.config()),
    ],
    ..Class::new("StrideSwitch", "sched", || Box::<StrideSwitch>::default())
};

#[derive(Default)]
struct StrideSwitch {
    stride: Stride,
}

impl Element for StrideSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.stride.configure(args, cx.outputs(), "output");
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        split_batch(batch, cx, "no output has tickets", |_| self.stride.turn(|port| Some(port as u16)));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn outputs_share_in_proportion_to_tickets() {
        let mut t =
            Harness::new("s :: Source -> ss :: StrideSwitch(1, 3); ss[0] -> a :: Sink; ss[1] -> b :: Sink");
        t.push("s", 0, (0..40).map(|_| Packet::new(b"x")));
        assert_eq!((t.take("a").len(), t.take("b").len()), (10, 30));
        t.write("ss.tickets0 0").unwrap();
        t.write("ss.tickets1 0").unwrap();
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!(t.read("ss.drop_reasons"), "1\tno output has tickets\n");
    }
}
