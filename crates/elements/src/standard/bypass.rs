//! Bypass: a diversion that can be opened and closed.

use crate::values::store;
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "leads packets through a diversion or past it",
    manual: "Passes packets from input 0 to output 0. While ACTIVE, packets from input 0 leave by output 1 instead, and \
             what comes back to input 1 leaves by output 0: elements between output 1 and input 1 are a diversion that the \
             active handler opens and closes. In a pull path, output 0 pulls from input 1 while ACTIVE. INLINE \
             is accepted for the sake of older configurations.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> b :: Bypass(true) -> Discard; b[1] -> Null -> [1]b",
    ports: "1-2/1-2",
    flow: "xy/[xy]x",
    args: &[
        ArgSpec::positional("ACTIVE", ArgType::Bool, "false", "whether packets take the diversion"),
        ArgSpec::keyword("INLINE", ArgType::Bool, "false", "has no effect"),
    ],
    handlers: &[read_handler!("active", "whether packets take the diversion", |e: &mut Bypass, _| e.active)
        .and_write(write_handler!("", "", |e: &mut Bypass, text, _| store(&mut e.active, text, "boolean")
            .map_err(|_| "syntax error".to_string())))],
    ..Class::new("Bypass", "standard", || Box::<Bypass>::default())
};

#[derive(Default)]
struct Bypass {
    active: bool,
}

impl Element for Bypass {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ACTIVE", &mut self.active);
        let _: Option<bool> = args.get("INLINE");
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        // A pull through the diversion would have to enter this element while it waits for the outcome.
        if cx.input_is_pull(0) && cx.inputs() > 1 && cx.outputs() > 1 {
            return Err("a diversion cannot be in a pull path: put it before the Queue".to_string());
        }
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if self.active && port == 0 && cx.outputs() > 1 {
            cx.emit_batch(1, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let diverts = self.active && port == 0 && cx.inputs() > 1;
        cx.pull(diverts.into(), limit)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_diversion_opens_and_closes_in_push() {
        let mut t = Harness::new("s :: Source -> b :: Bypass -> k :: Sink; b[1] -> Strip(1) -> [1]b");
        for active in ["false", "true", "false"] {
            t.write(&format!("b.active {active}")).unwrap();
            t.push("s", 0, [Packet::new(b"ab")]);
        }
        assert_eq!(t.bytes("k"), [b"ab".to_vec(), b"b".to_vec(), b"ab".to_vec()]);
    }

    #[test]
    fn a_pull_path_cannot_have_a_diversion() {
        let e = Harness::errors("Idle -> Queue -> b :: Bypass -> Discard; b[1] -> Null -> [1]b");
        assert!(e.contains("put it before the Queue"), "{e}");
    }
}
