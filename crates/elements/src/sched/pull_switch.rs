//! PullSwitch and its relatives: packets are pulled from one chosen input.

use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::llrpc::{Llrpc, Number, set_word, word};
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, Handler, llrpc, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from one chosen input",
    manual: "Passes pulls on to input INPUT and to no other; a negative number, or one that is not an input, stops \
             packets altogether. The handler 'switch' changes the input. Its empty notifier tells about the chosen \
             input only, so that packets at others wake nobody for long.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] sw :: PullSwitch(0) -> Unqueue -> Discard; \
              Idle -> Queue -> [1] sw",
    handlers: HANDLERS,
    llrpcs: LLRPCS,
    ..class("PullSwitch", &[ArgSpec::positional("INPUT", ArgType::I32, "0", "the input to pull from")])
};

/// The facts that all classes of pull switches have in common.
pub(super) const fn class(name: &'static str, args: &'static [ArgSpec]) -> Class {
    Class {
        ports: "-/1",
        processing: "l/l",
        args,
        ..Class::new(name, "sched", || Box::<PullSwitch>::default())
    }
}

/// The handlers of those that can be switched while running.
pub(super) const HANDLERS: &[Handler] = &[
    read_handler!("switch", "the chosen input; -1 if none", |e: &mut PullSwitch, _| e.number())
        .and_write(write_handler!("", "", |e: &mut PullSwitch, text, cx| e.write_input(text, cx))),
    read_handler!("config", "the chosen input; -1 if none", |e: &mut PullSwitch, _| e.number()),
];

/// The same for those who know them by number.
const LLRPCS: &[Llrpc] = &[
    llrpc!(Number::GET_SWITCH, |e: &mut PullSwitch, data, _| set_word(data, e.number() as u32)),
    llrpc!(Number::SET_SWITCH, |e: &mut PullSwitch, data, cx| {
        e.choose(word(data)? as i32, cx);
        e.tell(cx);
        Ok(())
    }),
];

#[derive(Default)]
struct PullSwitch {
    input: Option<usize>,
    empty: Option<NotifierId>,
    signals: Vec<Signal>,
}

impl PullSwitch {
    fn number(&self) -> i32 {
        self.input.map_or(-1, |i| i as i32)
    }

    fn choose(&mut self, input: i32, cx: &Cx<'_>) {
        self.input = usize::try_from(input).ok().filter(|&i| i < cx.inputs());
    }

    fn write_input(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let input = crate::values::parse(text, "").map_err(|_| "syntax error")?;
        self.choose(input, cx);
        self.tell(cx);
        Ok(())
    }

    /// Whether the chosen input may have packets.
    fn may_have(&self, cx: &Cx<'_>) -> bool {
        self.input.and_then(|i| self.signals.get(i)).is_some_and(|s| cx.is_active(s))
    }

    /// Tells those who pull whether there may be packets.
    fn tell(&self, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            if self.may_have(cx) { cx.wake(empty) } else { cx.sleep(empty) }
        }
    }
}

impl Element for PullSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let input = args.get("INPUT").unwrap_or(0);
        self.choose(input, cx);
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::ContinueWake));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(empty) = self.empty {
            self.signals = (0..cx.inputs()).map(|port| cx.upstream_empty_signal_for(port, empty)).collect();
        }
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = self.input.map_or_else(Batch::new, |input| cx.pull(input, limit));
        if batch.is_empty() {
            self.tell(cx);
        }
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<PullSwitch>(old) {
            self.choose(old.number(), cx);
            self.tell(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    fn two_inputs(class: &str) -> Harness {
        Harness::new(&format!(
            "a :: Source -> qa :: Queue -> [0] sw :: {class}(1); b :: Source -> qb :: Queue -> [1] sw; \
             sw -> u :: Unqueue -> k :: Sink"
        ))
    }

    #[test]
    fn only_the_chosen_input_is_pulled_and_the_other_wakes_nobody() {
        for class in ["PullSwitch", "StaticPullSwitch", "SimplePullSwitch"] {
            let mut t = two_inputs(class);
            t.push("a", 0, [Packet::new(b"a")]);
            t.push("b", 0, [Packet::new(b"b")]);
            assert_eq!((t.run(), t.read("u.scheduled")), (Outcome::Exhausted, "false".into()), "{class}");
            assert_eq!((t.bytes("k").concat(), t.read("qa.length")), (b"b".to_vec(), "1".into()));
        }
    }

    #[test]
    fn can_be_switched() {
        for class in ["PullSwitch", "SimplePullSwitch"] {
            let mut t = two_inputs(class);
            t.push("a", 0, [Packet::new(b"a")]);
            t.write("sw.switch 0").unwrap();
            t.run();
            assert_eq!(t.bytes("k").concat(), b"a");
            t.write("sw.switch 7").unwrap();
            assert_eq!([t.read("sw.switch"), t.read("sw.config")], ["-1", "-1"]);
            t.push("a", 0, [Packet::new(b"a")]);
            assert_eq!((t.run(), t.take("k").len()), (Outcome::Exhausted, 0));
            assert_eq!(t.write("sw.switch x").unwrap_err(), "syntax error");
        }
        assert!(two_inputs("StaticPullSwitch").write("sw.switch 0").is_err());
    }
}
