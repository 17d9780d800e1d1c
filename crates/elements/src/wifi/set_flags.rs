//! SetRTS and SetNoAck: say how a packet is to be sent.

use super::extra::{Extra, MAGIC, flag};
use super::params::{line, set};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts of SetRTS.
pub static RTS: Class = Class {
    help: "says whether packets are to be sent with RTS and CTS",
    manual: "Sets the flag in the annotation WIFI_EXTRA that asks the hardware to reserve the medium with RTS and CTS \
             before it sends the packet, or clears it.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetRTS(true) -> Discard",
    args: &[ArgSpec::required("RTS", ArgType::Bool, "whether they are")],
    handlers: &[read_handler!("rts", "whether they are", |e: &mut SetRTS, _| line(e.rts)).and_write(
        write_handler!("", "", |e: &mut SetRTS, text, cx| {
            // Click reads a number here, and complains of another parameter.
            let mut rts = 0u32;
            set(&mut rts, text, cx, "stepup parameter must be unsigned")?;
            e.rts = rts != 0;
            Ok::<(), String>(())
        }),
    )],
    ..Class::new("SetRTS", "wifi", || Box::<SetRTS>::default())
};

/// The class facts of SetNoAck.
pub static NO_ACK: Class = Class {
    help: "says that packets are sent without acknowledgement",
    manual: "Sets the flag in the annotation WIFI_EXTRA that tells the hardware not to wait for an acknowledgement of the \
             packet.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetNoAck -> RadiotapEncap -> Discard",
    ..Class::new("SetNoAck", "wifi", || Box::new(SetNoAck))
};

#[derive(Default)]
struct SetRTS {
    rts: bool,
}

struct SetNoAck;

impl SimpleElement for SetRTS {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("RTS", &mut self.rts);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Extra::change(p, |extra| {
            extra.magic = MAGIC.into();
            extra.set(flag::DO_RTS_CTS, self.rts);
        });
        Verdict::PASS
    }
}

impl SimpleElement for SetNoAck {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Extra::change(p, |extra| extra.set(flag::TX_NOACK, true));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn flags_are_set_and_cleared() {
        let mut t = Harness::new("s :: Source -> SetNoAck -> r :: SetRTS(true) -> k :: Sink");
        for (call, flags) in [(None, 1 << 7 | 1 << 9), (Some("r.rts 0"), 1 << 9)] {
            call.into_iter().for_each(|call| t.write(call).unwrap());
            t.push("s", 0, [Packet::new(b"x")]);
            assert_eq!(Extra::of(&t.take("k")[0]).flags, flags);
        }
        assert_eq!(t.read("r.rts"), "false\n");
        assert_eq!(t.write("r.rts x").unwrap_err(), "stepup parameter must be unsigned");
    }
}
