//! StaticSwitch: sends all packets to one output for good.

use super::fast::switch::Constants;
use super::switch::send_to;
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, FastPath, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends all packets to one output",
    manual: "Sends all packets to output OUTPUT, always; if there is no such output, drops them. Unlike Switch it cannot be \
             changed, so tools may remove what hangs on its other outputs.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> s :: StaticSwitch(1); s[0] -> Discard; s[1] -> Discard",
    ports: "1/-",
    processing: "h/h",
    packets: "any/only(OUTPUT)",
    args: &[ArgSpec::required("OUTPUT", ArgType::I32, "the output; negative or beyond the last one: drop")],
    fast: Some(FastPath::of::<StaticSwitch>()),
    ..Class::new("StaticSwitch", "standard", || Box::<StaticSwitch>::default())
};

#[derive(Default)]
struct StaticSwitch {
    constants: Constants,
}

fast_path!(StaticSwitch, switch);

impl Element for StaticSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let output = args.get("OUTPUT").unwrap_or(-1);
        let exists = usize::try_from(output).is_ok_and(|output: usize| output < cx.outputs());
        self.constants.output = if exists { output } else { -1 };
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        send_to(self.constants.output, batch, cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn one_output_gets_all() {
        let mut t =
            Harness::batched("s :: Source -> w :: StaticSwitch(1); w[0] -> a :: Sink; w[1] -> b :: Sink");
        t.push_batch("s", 0, [Packet::new(b"x"), Packet::new(b"y")]);
        assert_eq!((t.bytes("a").len(), t.bytes("b").len()), (0, 2));
    }
}
