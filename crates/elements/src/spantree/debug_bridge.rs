//! DebugBridge: prints the messages of spanning tree bridges.

use super::bpdu::{self, CHANGE_TYPE};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints spanning tree messages",
    manual: "Takes the frames that EtherSpanTree takes, and passes them on. For each it prints LABEL and what the message \
             says: TCM for a topology change; for a configuration message CFG, the sender's bridge and port identifiers, \
             whether it acknowledges (TCA) or announces (TC) a change, the cost of the way to the root, the root's \
             identifier, and in units of 1/256 second the message's age, the maximum age, the hello time and the \
             forward delay. All numbers are hexadecimal.",
    example: "st :: EtherSpanTree(2:0:0:0:0:1, in, out, sw); in, out :: Suppressor; \
              Idle -> in -> sw :: EtherSwitch -> out -> Discard; Idle -> [1] in [1] -> [1] sw [1] -> [1] out [1] -> Discard; \
              Idle -> st -> DebugBridge(port0) -> Discard; Idle -> [1] st [1] -> Discard",
    args: &[ArgSpec::required("LABEL", ArgType::String, "text before each message")],
    ..Class::new("DebugBridge", "spantree", || Box::<DebugBridge>::default())
};

#[derive(Default)]
struct DebugBridge {
    label: String,
}

impl DebugBridge {
    fn describe(&self, frame: &[u8]) -> String {
        let label = &self.label;
        let Some((start, body)) = bpdu::peek(frame) else { return format!("{label} too short") };
        if start.kind == CHANGE_TYPE {
            return format!("{label} TCM");
        }
        let Some(b) = body else { return format!("{label} too short") };
        let acknowledged = if b.change_acknowledged() { "TCA" } else { "tca" };
        let change = if b.change() { "TC" } else { "tc" };
        format!(
            "{label} {} {:>16}:{:04x}: {acknowledged} {change}  {:08x} -> {:>16}  a/m/h/d: {:x}/{:x}/{:x}/{:x}",
            if start.kind == 0 { "CFG" } else { "???" },
            format!("{:x}", b.bridge.get()),
            b.port.get(),
            b.cost.get(),
            format!("{:x}", b.root.get()),
            b.message_age.get(),
            b.max_age.get(),
            b.hello_time.get(),
            b.forward_delay.get(),
        )
    }
}

impl SimpleElement for DebugBridge {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        cx.chatter(&self.describe(p.data()));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::bpdu::{Bpdu, BridgeId, Config, PortId, Times, Vector, frame};
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::addr::EtherAddress;
    use std::time::Duration;

    #[test]
    fn each_message_is_a_line() {
        let from = EtherAddress([2, 0, 0, 0, 0, 1]);
        let config = Config {
            vector: Vector {
                root: BridgeId::new(0x0001, from),
                cost: 0x1234,
                bridge: BridgeId::new(0x8000, from),
                port: PortId::new(0x80, 2),
            },
            change: false,
            change_acknowledged: true,
            message_age: Duration::from_secs(1),
            times: Times::RECOMMENDED,
        };
        let whole = frame(from, &Bpdu::Config(config));
        let mut unknown = whole.clone();
        unknown[20] = 2;
        let frames = [whole.clone(), frame(from, &Bpdu::Change), unknown, whole[..30].to_vec(), vec![1]];
        let mut t = Harness::new("d :: DebugBridge(\"port 7\") -> k :: Sink; Source -> d");
        t.push("d", 0, frames.iter().map(|f| Packet::new(f)));
        let fields = "8000020000000001:8003: TCA tc  00001234 ->    1020000000001  a/m/h/d: 100/1400/200/f00";
        assert_eq!(
            t.printed(),
            format!(
                "port 7 CFG {fields}\nport 7 TCM\nport 7 ??? {fields}\nport 7 too short\nport 7 too short\n"
            )
        );
        assert_eq!(t.take("k").len(), 5);
    }
}
