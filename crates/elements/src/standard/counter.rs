//! Counter: counts packets and bytes, and measures their rates.

use crate::rate::Rate;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HandlerCall, Names};
use clickwork_router::element::try_downcast;
use clickwork_router::llrpc::{LlrpcError, Number, set_word, word};
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, llrpc, read_handler, write_handler};
use std::ops::RangeInclusive;

/// The class facts.
pub static CLASS: Class = Class {
    help: "counts packets and bytes",
    manual: "Passes every packet on and counts it. The handlers give the number of packets and bytes, and their rates \
             per second as exponentially weighted averages. When the packet count reaches the number in COUNT_CALL, or \
             the byte count that in BYTE_COUNT_CALL, the handler named behind the number is called, once.",
    example: "InfiniteSource(LIMIT 10, STOP true) -> c :: Counter -> Discard; DriverManager(wait_stop, print c.count)",
    args: &[
        ArgSpec::keyword(
            "COUNT_CALL",
            ArgType::Other("N HANDLER"),
            "",
            "handler called when the packet count is N",
        ),
        ArgSpec::keyword(
            "BYTE_COUNT_CALL",
            ArgType::Other("N HANDLER"),
            "",
            "handler called when the byte count is N",
        ),
    ],
    handlers: &[
        read_handler!("count", "packets seen", |e: &mut Counter, _| e.count),
        read_handler!("byte_count", "bytes seen", |e: &mut Counter, _| e.byte_count),
        read_handler!("rate", "packets per second", |e: &mut Counter, cx| {
            e.packet_rate.per_second(cx.steady())
        }),
        read_handler!("bit_rate", "bits per second", |e: &mut Counter, cx| {
            e.byte_rate.bits_per_second(cx.steady())
        }),
        read_handler!("byte_rate", "bytes per second", |e: &mut Counter, cx| {
            e.byte_rate.per_second(cx.steady())
        }),
        read_handler!("count_call", "when a handler is called", |e: &mut Counter, _| Call::show(
            &e.count_call
        ))
        .and_write(write_handler!("", "", |e: &mut Counter, text, cx| {
            e.count_call = Call::written("count_call", text, cx)?;
            Ok::<(), String>(())
        })),
        read_handler!("byte_count_call", "when a handler is called", |e: &mut Counter, _| Call::show(
            &e.byte_count_call
        ))
        .and_write(write_handler!("", "", |e: &mut Counter, text, cx| {
            e.byte_count_call = Call::written("byte_count_call", text, cx)?;
            Ok::<(), String>(())
        })),
        write_handler!(
            "reset_counts",
            "sets the counts to 0; handlers will be called again",
            |e: &mut Counter, _, _| e.reset()
        )
        .flags("Ub"),
        write_handler!(
            "reset",
            "sets the counts to 0; handlers will be called again",
            |e: &mut Counter, _, _| e.reset()
        )
        .flags("b"),
    ],
    llrpcs: &[
        llrpc!(Number::GET_RATE, |e: &mut Counter, data, cx| match word(data)? {
            0 => set_word(data, e.packet_rate.per_second(cx.steady()).parse().unwrap_or(0.0_f64) as u32),
            _ => Err(LlrpcError::Invalid),
        }),
        llrpc!(Number::GET_COUNT, |e: &mut Counter, data, _| match word(data)? {
            0 => set_word(data, e.count as u32),
            1 => set_word(data, e.byte_count as u32),
            _ => Err(LlrpcError::Invalid),
        }),
    ],
    ..Class::new("Counter", "standard", || Box::<Counter>::default())
};

/// Bits of fraction of the byte rate: as few as Click keeps.
const BYTE_RATE_SCALE: u32 = 4;

struct Counter {
    count: u64,
    byte_count: u64,
    packet_rate: Rate,
    byte_rate: Rate,
    count_call: Option<Call>,
    byte_count_call: Option<Call>,
}

impl Default for Counter {
    fn default() -> Counter {
        let (packet_rate, byte_rate) = (Rate::default(), Rate::with_scale(BYTE_RATE_SCALE));
        let (count_call, byte_count_call) = (None, None);
        Counter { count: 0, byte_count: 0, packet_rate, byte_rate, count_call, byte_count_call }
    }
}

/// A handler to call when a count reaches a number.
struct Call {
    /// Whether the handler has been called since the last reset.
    done: bool,
    at: u64,
    handler: HandlerCall,
}

impl Call {
    /// The call that argument `name` asks for.
    fn parse(name: &str, text: &str, names: &Names) -> Result<Option<Call>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let (at, call) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let at = u64::from_arg(at, names).map_err(|_| format!("{name} type mismatch"))?;
        if call.is_empty() {
            return Err(format!("{name}: expected a handler behind the number"));
        }
        let handler =
            HandlerCall::from_arg(call.trim(), names).map_err(|_| format!("'{call}' is not a handler"))?;
        Ok(Some(Call { done: false, at, handler }))
    }

    /// A call that a handler is written with.
    fn written(name: &str, text: &str, cx: &mut Cx<'_>) -> Result<Option<Call>, String> {
        let first = text.split_whitespace().next().unwrap_or_default();
        if u64::from_arg(first, &cx.names()).is_err() {
            return Err(format!("'{name}' first word should be unsigned (count)"));
        }
        let call = Call::parse(name, text, &cx.names())?;
        call.as_ref().map_or(Ok(()), |c| cx.check_call(&c.handler))?;
        Ok(call)
    }

    fn show(call: &Option<Call>) -> String {
        call.as_ref().map_or_else(String::new, |c| c.at.to_string())
    }

    /// Calls the handler if the number is among the `counts` that have just been reached.
    fn check(call: &mut Option<Call>, counts: RangeInclusive<u64>, cx: &mut Cx<'_>) {
        if let Some(c) = call.as_mut().filter(|c| !c.done && counts.contains(&c.at)) {
            c.done = true;
            cx.call_handler(&c.handler);
        }
    }
}

impl Counter {
    fn reset(&mut self) {
        (self.count, self.byte_count) = (0, 0);
        for call in [&mut self.count_call, &mut self.byte_count_call].into_iter().flatten() {
            call.done = false;
        }
    }
}

impl SimpleElement for Counter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (name, slot) in
            [("COUNT_CALL", &mut self.count_call), ("BYTE_COUNT_CALL", &mut self.byte_count_call)]
        {
            match Call::parse(name, args.raw(name).unwrap_or_default(), args.names()) {
                Ok(call) => *slot = call,
                Err(e) => args.error(e),
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let mut calls = [&self.count_call, &self.byte_count_call].into_iter().flatten();
        calls.try_for_each(|call| cx.check_call(&call.handler))
    }

    fn prepare(&mut self, batch: &[Packet], cx: &mut Cx<'_>) {
        let bytes: usize = batch.iter().map(Packet::len).sum();
        self.count += batch.len() as u64;
        self.byte_count += bytes as u64;
        self.packet_rate.add(batch.len() as u64, cx.recent());
        self.byte_rate.add(bytes as u64, cx.recent());
        // A number of packets that is written when it has been passed is never reached; one of bytes is.
        let reached = self.count - batch.len() as u64 + 1..=self.count;
        Call::check(&mut self.count_call, reached, cx);
        Call::check(&mut self.byte_count_call, 0..=self.byte_count, cx);
    }

    fn simple_action(&mut self, _: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Counter>(old) {
            self.count = old.count;
            self.byte_count = old.byte_count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn counts_packets_and_bytes_in_push_and_pull() {
        for config in
            ["s :: Source -> c :: Counter -> k :: Sink", "s :: Source -> Queue -> c :: Counter -> k :: Sink"]
        {
            let mut t = Harness::new(config);
            t.push("s", 0, [Packet::new(b"abc"), Packet::new(b"de")]);
            assert_eq!((t.read("c.count"), t.read("c.byte_count")), ("2".into(), "5".into()), "{config}");
            assert_eq!(t.bytes("k"), [b"abc".to_vec(), b"de".to_vec()]);
            t.write("c.reset").unwrap();
            assert_eq!(t.read("c.count"), "0");
        }
    }

    #[test]
    fn calls_a_handler_once_when_the_count_is_reached() {
        let mut t = Harness::new(
            "s :: Source -> c :: Counter(COUNT_CALL 0x2 d.reset_counts) -> d :: Counter -> Discard",
        );
        t.push("s", 0, (0..5).map(|_| Packet::new(b"x")));
        // Reset before the second packet reached it.
        assert_eq!(t.read("d.count"), "4");
        assert_eq!(t.read("c.count_call"), "2");
    }

    #[test]
    fn a_number_of_packets_that_was_passed_is_never_reached_but_one_of_bytes_is() {
        let mut t = Harness::new("s :: Source -> c :: Counter -> d :: Counter -> Discard");
        let push = |t: &mut Harness| t.push("s", 0, [Packet::new(b"x")]);
        (0..3).for_each(|_| push(&mut t));
        t.write("c.count_call 2 d.reset").unwrap();
        push(&mut t);
        assert_eq!(t.read("d.count"), "4");
        t.write("c.byte_count_call 2 d.reset").unwrap();
        push(&mut t);
        assert_eq!(t.read("d.count"), "1");
        t.write("c.count_call 6 d.reset").unwrap();
        push(&mut t);
        assert_eq!(t.read("d.count"), "1");
    }

    #[test]
    fn says_what_is_wrong_with_a_call() {
        let e = Harness::errors("Idle -> Counter(COUNT_CALL many c.reset) -> Discard");
        assert!(e.contains("COUNT_CALL type mismatch"), "{e}");
        let e = Harness::errors("Idle -> Counter(BYTE_COUNT_CALL 10) -> Discard");
        assert!(e.contains("BYTE_COUNT_CALL: expected a handler behind the number"), "{e}");
    }

    #[test]
    fn handlers_are_called_again_after_a_reset() {
        let mut t = Harness::new(
            "c :: Counter(COUNT_CALL 2 d.reset); Source -> d :: Counter -> c -> Sink; Idle -> c",
        );
        assert_eq!(t.read("c.count_call"), "2");
        t.push("d", 0, (0..2).map(|_| Packet::new(b"x")));
        assert_eq!(t.read("d.count"), "0");
        t.write("c.reset").unwrap();
        t.push("d", 0, (0..3).map(|_| Packet::new(b"x")));
        assert_eq!((t.read("c.count"), t.read("d.count")), ("3".into(), "1".into()));
    }

    #[test]
    fn the_handlers_must_be_there() {
        let e = Harness::errors("Idle -> c :: Counter(COUNT_CALL 1 c.nosuch) -> Discard");
        assert!(e.contains("While initializing 'c :: Counter':\n  no 'c.nosuch' write handler"), "{e}");
        let e = Harness::errors("InfiniteSource(LIMIT 1, END_CALL a.b) -> Discard");
        assert!(e.contains("no element named 'a'"), "{e}");
        let mut t = Harness::new("Idle -> c :: Counter -> Discard");
        assert_eq!(t.write("c.count_call 2 z.z").unwrap_err(), "no element named 'z'");
        let wrong = t.write("c.byte_count_call x").unwrap_err();
        assert_eq!(wrong, "'byte_count_call' first word should be unsigned (count)");
        t.write("c.count_call 2 stop").unwrap();
    }
}
