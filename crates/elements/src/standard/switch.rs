//! Switch: sends all packets to one output, which handlers change.

use super::fast::switch::Constants;
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names};
use clickwork_router::llrpc::{LlrpcError, Number, set_word, word};
use clickwork_router::{Class, Cx, Element, FastPath, fast_path, llrpc, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends all packets to one output, which can be changed",
    manual: "Sends all packets to output OUTPUT; if that is negative, drops them. The switch handler changes the output; a \
             number beyond the last one drops all packets from then on.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> s :: Switch(1); s[0] -> Discard; s[1] -> Discard",
    ports: "1/-",
    processing: "h/h",
    args: &[ArgSpec::positional("OUTPUT", ArgType::I32, "0", "the output; negative: drop")],
    handlers: &[
        read_handler!("switch", "the output, -1 if packets are dropped", |e: &mut Switch, _| e
            .constants
            .output)
        .and_write(write_handler!("", "", |e: &mut Switch, text, cx| e.turn(text, cx.outputs()))),
        read_handler!("config", "the output", |e: &mut Switch, _| e.constants.output),
    ],
    llrpcs: &[
        llrpc!(Number::GET_SWITCH, |e: &mut Switch, data, _| set_word(data, e.constants.output as u32)),
        llrpc!(Number::SET_SWITCH, |e: &mut Switch, data, cx| {
            let output = word(data)? as i32;
            if output >= cx.outputs() as i32 {
                return Err(LlrpcError::Invalid);
            }
            e.turn_to(output, cx.outputs());
            Ok(())
        }),
    ],
    fast: Some(FastPath::of::<Switch>().changing()),
    ..Class::new("Switch", "standard", || Box::<Switch>::default())
};

#[derive(Default)]
struct Switch {
    constants: Constants,
}

fast_path!(Switch, switch);

impl Switch {
    fn turn(&mut self, text: &str, outputs: usize) -> Result<(), String> {
        let output = i32::from_arg(text.trim(), &Names::default());
        let output = output.map_err(|_| "Switch output must be integer".to_string())?;
        self.turn_to(output, outputs);
        Ok(())
    }

    fn turn_to(&mut self, output: i32, outputs: usize) {
        self.constants.output = if output < outputs as i32 { output } else { -1 };
    }
}

/// Reads the argument OUTPUT, which must not lie beyond the last output.
fn read_output(args: &mut Args, output: &mut i32, cx: &Cx<'_>) {
    args.read("OUTPUT", output);
    let outputs = cx.outputs();
    if *output >= outputs as i32 {
        args.error(format!("output must be < {outputs}"));
    }
}

/// Sends a whole batch to one output, or nowhere if that is negative.
pub(super) fn send_to(output: i32, batch: &mut Batch, cx: &mut Cx<'_>) {
    match usize::try_from(output) {
        Ok(0) => {}
        Ok(port) => cx.emit_batch(port, batch.take()),
        Err(_) => cx.drop_batch(batch, "switched off"),
    }
}

impl Element for Switch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        read_output(args, &mut self.constants.output, cx);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        send_to(self.constants.output, batch, cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::llrpc::{LlrpcError, Number};

    #[test]
    fn turns_by_handler() {
        let mut t = Harness::new("s :: Source -> w :: Switch(1); w[0] -> a :: Sink; w[1] -> b :: Sink");
        for (output, shown) in [("0", "0"), ("-3", "-3"), ("1", "1"), ("7", "-1")] {
            t.write(&format!("w.switch {output}")).unwrap();
            t.push("s", 0, [Packet::new(output.as_bytes())]);
            assert_eq!((t.read("w.switch"), t.read("w.config")), (shown.into(), shown.into()));
        }
        assert_eq!((t.bytes("a"), t.bytes("b")), (vec![b"0".to_vec()], vec![b"1".to_vec()]));
        assert_eq!(t.read("w.drop_reasons"), "2\tswitched off\n");
        assert_eq!(t.write("w.switch x").unwrap_err(), "Switch output must be integer");
        let switch = t.router.find("w").unwrap();
        assert_eq!(
            (t.router.llrpc(switch, Number::SET_SWITCH, &mut 2u32.to_ne_bytes()), t.read("w.switch")),
            (Err(LlrpcError::Invalid), "-1".into())
        );
        assert_eq!(
            (t.router.llrpc(switch, Number::SET_SWITCH, &mut 1u32.to_ne_bytes()), t.read("w.switch")),
            (Ok(()), "1".into())
        );
    }

    #[test]
    fn the_output_must_exist() {
        let e = Harness::errors("Idle -> Switch(1) -> Discard");
        assert!(e.contains("output must be < 1"), "{e}");
    }
}
