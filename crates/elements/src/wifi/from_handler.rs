//! FromHandler: makes packets of what a handler says.

use super::params::line;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HandlerRef, Names};
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets of what a handler says",
    manual: "When the handler active is written with true, reads HANDLER again and again, until it says nothing. Each time \
             it makes a packet of hexadecimal digits, with the timestamp that may stand in front of them and a vertical bar: \
             what PacketStore's handler pop says.",
    example: "InfiniteSource(LIMIT 3, STOP false) -> s :: PacketStore -> Discard; f :: FromHandler(s.pop) -> Discard; \
              DriverManager(wait 1s, write f.active true, wait 1s, print f.active, stop)",
    ports: "0/1-2",
    processing: "a/ah",
    packets: "/any unmarked",
    args: &[ArgSpec::required("HANDLER", ArgType::Other("handler"), "the handler that is read")],
    handlers: &[
        read_handler!("time", "how long it took last time, in seconds", |e: &mut FromHandler, _| line(
            e.end - e.start
        )),
        read_handler!("active", "whether it is reading", |e: &mut FromHandler, _| e.active).and_write(
            write_handler!("", "", |e: &mut FromHandler, text, cx| {
                let active = bool::from_arg(text.trim(), &cx.names());
                e.active = active.map_err(|_| "'active' should be Boolean".to_string())?;
                if e.active {
                    e.start = cx.steady();
                    e.end = e.start;
                    cx.schedule_task();
                }
                Ok::<(), String>(())
            }),
        ),
    ],
    ..Class::new("FromHandler", "wifi", || Box::<FromHandler>::default())
};

#[derive(Default)]
struct FromHandler {
    handler: Option<HandlerRef>,
    active: bool,
    start: Timestamp,
    end: Timestamp,
}

/// The packet in a text; the time if none is given, and whether the one that is given cannot be read.
fn packet(text: &str, now: Timestamp) -> (Packet, bool) {
    let (time, digits) = match text.split_once('|') {
        Some((time, digits)) if !time.is_empty() => (Some(time), digits.strip_prefix(' ').unwrap_or(digits)),
        _ => (None, text),
    };
    let read = time.map(|time| Timestamp::from_arg(time.trim(), &Names::default()));
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
    let bytes: Vec<u8> =
        digits.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    let mut p = Packet::new(&bytes);
    let is_wrong = matches!(read, Some(Err(_)));
    p.set_timestamp(read.and_then(Result::ok).unwrap_or(now));
    (p, is_wrong)
}

impl FromHandler {
    /// What the handler says now.
    fn read(&self, cx: &mut Cx<'_>) -> Option<String> {
        let (me, name) = (cx.id(), self.handler.clone()?);
        let said = cx.act(move |router| {
            let target = router.resolve_ref(&name, me)?;
            router.read_target(&target, "")
        });
        match said {
            Ok(value) => Some(value.text()).filter(|text| text.len() > 1),
            Err(e) => {
                cx.chatter(&e.to_string());
                None
            }
        }
    }
}

impl Element for FromHandler {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.handler = args.get("HANDLER");
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.active {
            return TaskStep::Sleep;
        }
        let Some(text) = self.read(cx) else {
            self.end = cx.steady();
            self.active = false;
            return TaskStep::Sleep;
        };
        let (p, time_is_wrong) = packet(&text, cx.now());
        if time_is_wrong {
            cx.report("parsing time failed", || "parsing time failed".to_string());
        }
        cx.emit(0, p);
        TaskStep::Again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn stored_packets_come_back() {
        let mut t =
            Harness::new("s :: Source -> p :: PacketStore -> Discard; f :: FromHandler(p.pop) -> k :: Sink");
        let mut first = Packet::new(b"\x01\xab");
        first.set_timestamp(Timestamp::new(5, 250_000_000));
        t.push("s", 0, [first, Packet::new(b"second")]);
        assert_eq!(t.take("k").len(), 0);
        t.write("f.active true").unwrap();
        t.run();
        let out = t.take("k");
        assert_eq!((out[0].data(), out[0].timestamp()), (&b"\x01\xab"[..], Timestamp::new(5, 250_000_000)));
        assert_eq!((out[1].data(), out.len()), (&b"second"[..], 2));
        assert_eq!((t.read("f.active").as_str(), t.read("f.time").starts_with("0.0")), ("false", true));
        assert_eq!(t.write("f.active x").unwrap_err(), "'active' should be Boolean");
    }

    #[test]
    fn any_text_makes_a_packet() {
        let now = Timestamp::new(9, 0);
        for (text, bytes, time, wrong) in [
            ("0aFf\n", &[0x0A, 0xFF][..], now, false),
            ("7.5 | 01\n", &[1], Timestamp::new(7, 500_000_000), false),
            ("x | 0102", &[1, 2], now, true),
            ("| zz0", &[0, 0], now, false),
        ] {
            let (p, is_wrong) = packet(text, now);
            assert_eq!((p.data(), p.timestamp(), is_wrong), (bytes, time, wrong), "{text}");
        }
    }

    #[test]
    fn a_handler_that_is_not_there_is_told_about() {
        let mut t = Harness::new("f :: FromHandler(no.such) -> k :: Sink");
        t.write("f.active true").unwrap();
        t.run();
        assert_eq!((t.printed().as_str(), t.read("f.active").as_str()), ("no element named 'no'\n", "false"));
    }
}
