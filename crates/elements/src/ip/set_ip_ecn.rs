//! SetIPECN and MarkIPCE: explicit congestion notification. Read first: RFC 3168 §5.

use super::fast::set_tos::Constants;
use super::rewrite::change_tos;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::element::try_downcast;
use clickwork_router::{
    Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the ECN field of IP headers",
    manual: "Sets the explicit congestion notification bits of each packet's marked IP header to ECN and updates the \
             checksum: 0 or no (not capable), 1 or ect1, 2 or ect2 (capable transport), 3 or ce (congestion experienced); \
             also -, ECT(1), ECT(0) and CE, as RFC 3168 writes them.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> SetIPECN(ect1) -> CheckIPHeader \
              -> Discard",
    packets: "ip/ip",
    args: &[ArgSpec::required(
        "ECN",
        ArgType::Choice(&["no", "ect1", "ect2", "ce"]),
        "the bits, by name or number",
    )],
    handlers: &[read_handler!("ecn", "the bits, as they were given", |e: &mut SetIPECN, _| e.given.clone())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut SetIPECN, text, cx| {
            e.set(text)?;
            cx.set_argument(0, "ECN", text.trim());
            Ok::<(), String>(())
        }))],
    fast: Some(FastPath::of::<SetIPECN>()),
    ..Class::new("SetIPECN", "ip", || Box::<SetIPECN>::default())
};

/// The class facts.
pub static MARK_CE: Class = Class {
    help: "marks IP packets as having met congestion",
    manual: "Sets \"congestion experienced\" in packets whose transport is ECN-capable. Packets of others are dropped, unless \
             FORCE is true: then they are marked too.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2, ECT 1) -> MarkIPCE -> CheckIPHeader \
              -> Discard",
    packets: "ip/ip",
    args: &[ArgSpec::positional(
        "FORCE",
        ArgType::Bool,
        "false",
        "mark packets of transports without ECN too",
    )],
    handlers: &[read_handler!("drops", "packets that could not be marked", |e: &mut MarkIPCE, _| e.drops)],
    fast: Some(FastPath::of::<MarkIPCE>()),
    ..Class::new("MarkIPCE", "ip", || Box::<MarkIPCE>::default())
};

/// The bits that a name or number stands for.
fn bits(text: &str) -> Option<u8> {
    Some(match text {
        "0" | "no" | "-" => 0,
        "1" | "ect1" | "ECT(1)" => 1,
        "2" | "ect2" | "ECT(0)" => 2,
        "3" | "ce" | "CE" => 3,
        _ => return None,
    })
}

/// The two bits of ECN in the type of service.
const MASK: u8 = 3;

#[derive(Default)]
struct SetIPECN {
    ecn: u8,
    given: String,
}

fast_path!(SetIPECN, set_tos());

impl SetIPECN {
    fn set(&mut self, text: &str) -> Result<(), String> {
        self.ecn = bits(text.trim()).ok_or("bad ECN argument")?;
        self.given = text.trim().to_string();
        Ok(())
    }

    #[inline]
    fn constants(&self) -> Constants {
        Constants { keep: !MASK, set: self.ecn, capable_only: false }
    }
}

impl SimpleElement for SetIPECN {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let Some(text) = args.get::<Word>("ECN") else { return };
        if let Err(error) = self.set(&text.0) {
            args.error(error);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let changed = change_tos(p, |tos| tos & !MASK | self.ecn);
        changed.map_or(Verdict::Drop("no IP header"), |()| Verdict::PASS)
    }
}

#[derive(Default)]
struct MarkIPCE {
    force: bool,
    drops: u64,
}

fast_path!(MarkIPCE, set_tos());

impl MarkIPCE {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { keep: !MASK, set: MASK, capable_only: !self.force }
    }
}

impl SimpleElement for MarkIPCE {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("FORCE", &mut self.force);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let tos = p.network_header().and_then(Ipv4Header::peek).map(|header| header.tos);
        let may_mark = tos.is_some_and(|tos| tos & MASK != 0 || self.force);
        match may_mark.then(|| change_tos(p, |tos| tos | MASK)).flatten() {
            Some(()) => Verdict::PASS,
            None => {
                self.drops += 1;
                Verdict::Drop("not ECN-capable")
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<MarkIPCE>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;

    /// The type of service after `elements`.
    fn tos(elements: &str) -> Option<u8> {
        let mut t = Harness::new(&format!("s :: Source -> {elements} -> CheckIPHeader -> k :: Sink"));
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked()]);
        t.bytes("k").first().map(|b| b[1])
    }

    #[test]
    fn the_bits_can_be_read_and_changed() {
        let mut t = Harness::new("s :: Source -> e :: SetIPECN(ECT(0)) -> k :: Sink");
        assert_eq!(t.read("e.ecn"), "ECT(0)");
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked()]);
        t.write("e.ecn CE").unwrap();
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked()]);
        assert_eq!(t.bytes("k").iter().map(|b| b[1]).collect::<Vec<_>>(), [2, 3]);
        assert!(t.write("e.ecn 4").unwrap_err().contains("bad ECN argument"));
        assert!(Harness::errors("Idle -> SetIPECN(4) -> Discard").contains("bad ECN argument"));
    }

    #[test]
    fn names_and_numbers_set_the_bits() {
        for (ecn, bits) in [("no", 0), ("ect1", 1), ("ect2", 2), ("ce", 3), ("3", 3), ("0", 0)] {
            assert_eq!(tos(&format!("SetIPDSCP(1) -> SetIPECN({ecn})")), Some(4 | bits), "{ecn}");
        }
    }

    #[test]
    fn only_capable_packets_are_marked_unless_forced() {
        assert_eq!([tos("MarkIPCE"), tos("MarkIPCE(true)")], [None, Some(3)]);
        for ecn in 1..=3 {
            assert_eq!(tos(&format!("SetIPECN({ecn}) -> MarkIPCE")), Some(3));
        }
    }
}
