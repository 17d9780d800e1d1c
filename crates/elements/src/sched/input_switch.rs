//! InputSwitch: passes on what comes by one chosen input.

use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes on what comes by one chosen input",
    manual: "Packets from input OUTPUT go to the output; those from other inputs are dropped. The handler 'switch' \
             changes the input; -1 drops all packets.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> [0] sw :: InputSwitch(0) -> Discard; Idle -> [1] sw",
    ports: "-/1",
    processing: "h/h",
    args: &[ArgSpec::positional("OUTPUT", ArgType::I32, "0", "the chosen input")],
    handlers: &[
        read_handler!("switch", "the chosen input", |e: &mut InputSwitch, _| e.input)
            .and_write(write_handler!("", "", |e: &mut InputSwitch, text, cx| e.write_input(text, cx))),
        read_handler!("config", "the chosen input", |e: &mut InputSwitch, _| e.input),
    ],
    ..Class::new("InputSwitch", "sched", || Box::<InputSwitch>::default())
};

#[derive(Default)]
struct InputSwitch {
    input: i32,
}

impl InputSwitch {
    fn write_input(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let input: i32 = crate::values::parse(text, "").map_err(|_| "InputSwitch input must be integer")?;
        self.input = if input >= cx.inputs() as i32 { -1 } else { input };
        Ok(())
    }
}

impl Element for InputSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("OUTPUT", &mut self.input);
        let inputs = cx.inputs();
        if self.input >= inputs as i32 {
            args.error(format!("input must be < {inputs}"));
        }
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if port as i32 != self.input {
            cx.drop_batch(batch, "input not chosen");
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<InputSwitch>(old).filter(|o| o.input < cx.inputs() as i32) {
            self.input = old.input;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn one_input_passes() {
        let mut t =
            Harness::new("a :: Source -> [0] sw :: InputSwitch(1) -> k :: Sink; b :: Source -> [1] sw");
        t.push("sw", 0, [Packet::new(b"a")]);
        t.push("sw", 1, [Packet::new(b"b")]);
        assert_eq!(t.bytes("k").concat(), b"b");
        t.write("sw.switch 0").unwrap();
        t.push("sw", 0, [Packet::new(b"a")]);
        assert_eq!(t.bytes("k").concat(), b"a");
        t.write("sw.switch 2").unwrap();
        assert_eq!(t.read("sw.switch"), "-1");
        assert_eq!(t.write("sw.switch x").unwrap_err(), "InputSwitch input must be integer");
        assert!(Harness::errors("Idle -> InputSwitch(1) -> Discard").contains("input must be < 1"));
    }
}
