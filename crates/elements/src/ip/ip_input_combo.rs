//! IPInputCombo: what an IP router does to packets that come in, in one element.

use super::addresses::Several;
use super::check_ip_header::read_addresses;
use super::fast::ip_input_combo::{Constants, fast};
use super::header_check::HeaderCheck;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg};
use clickwork_router::element::try_downcast;
use clickwork_router::fast::with_parts;
use clickwork_router::{Class, Cx, Element, Fast, FastCode, FastPath, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "Paint, Strip, CheckIPHeader and GetIPAddress in one",
    manual: "Does in one step what Paint(COLOR) -> Strip(14) -> CheckIPHeader(...) -> GetIPAddress(16) does in four. \
             INTERFACES, BADSRC and GOODDST are as for CheckIPHeader. Bad packets are dropped; the first is reported.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> Unstrip(14) -> IPInputCombo(1) \
              -> Discard",
    packets: "ether-ip/strip(14) mark ip@0 paint(COLOR, PAINT)",
    args: &[
        ArgSpec::required("COLOR", ArgType::U8, "the colour to paint packets").or("0"),
        ArgSpec::keyword(
            "INTERFACES",
            ArgType::Other("IP prefixes"),
            "",
            "the router's addresses and networks",
        ),
        ArgSpec::keyword("BADSRC", ArgType::Other("IP addresses"), "", "sources to refuse"),
        ArgSpec::keyword(
            "GOODDST",
            ArgType::Other("IP addresses"),
            "",
            "destinations that excuse a bad source",
        ),
        ArgSpec::rest("BADSRC by position", ArgType::Other("IP addresses"), "the old form of BADSRC"),
    ],
    handlers: &[read_handler!("drops", "bad packets", |e: &mut IPInputCombo, _| e.drops)],
    flags: "A",
    fast: Some(FastPath::of::<IPInputCombo>()),
    ..Class::new("IPInputCombo", "ip", || {
        Box::new(IPInputCombo { color: 0, check: HeaderCheck::new(true), drops: 0 })
    })
};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

struct IPInputCombo {
    color: u8,
    check: HeaderCheck,
    drops: u64,
}

impl IPInputCombo {
    #[inline]
    fn constants(&self) -> Constants<'_> {
        Constants { color: self.color, check: self.check.constants(ETHERNET) }
    }
}

impl Fast for IPInputCombo {
    fn fast_code(&self) -> Option<FastCode> {
        let source = with_parts(
            include_str!("fast/ip_input_combo.rs"),
            &[("check_ip_header", include_str!("fast/check_ip_header.rs"))],
        );
        let check = self.check.constants_text(ETHERNET, "check_ip_header::");
        let constants = format!("Constants {{ color: {}, check: {check} }}", self.color);
        Some(FastCode { module: "ip_input_combo", source: source.into(), constants })
    }

    #[inline]
    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&self.constants(), p)
    }
}

impl SimpleElement for IPInputCombo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("COLOR", &mut self.color);
        read_addresses(args, &mut self.check);
        let rest = args.rest().to_vec();
        match rest.first().map(|text| Several::from_arg(text, args.names())) {
            Some(Ok(Several(addresses))) => {
                self.check.bad_sources.extend(addresses);
                self.check.refuse_universal_sources();
            }
            Some(Err(_)) => args.error_in_rest(0, "BADSRC: parse error"),
            None => {}
        }
        if rest.len() > 1 {
            args.error_in_rest(1, "too many arguments");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        p.set_paint(self.color);
        p.pull(ETHERNET);
        let Err(fault) = self.check.check(p) else { return Verdict::PASS };
        if self.drops == 0 {
            cx.chatter("IP checksum failed");
        }
        self.drops += 1;
        Verdict::Drop(fault.text())
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IPInputCombo>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn framed(bytes: &[u8]) -> Packet {
        Packet::new(&[&[0; 14], bytes].concat())
    }

    #[test]
    fn does_what_the_four_elements_do() {
        let mut t = Harness::new("s :: Source -> t :: Tee; t -> i :: IPInputCombo(3, BADSRC 10.0.0.255) -> a :: Sink;
            t[1] -> Paint(3) -> Strip(14) -> CheckIPHeader(BADSRC 10.0.0.255) -> GetIPAddress(16) -> b :: Sink");
        let good = ip("1.0.0.1", "2.0.0.2").options(&[1]).bytes();
        let bad_source = ip("10.0.0.255", "2.0.0.2").bytes();
        let damaged = [&good[..8], &[0], &good[9..]].concat();
        t.push("s", 0, [&good[..], &bad_source, &damaged, &good[..10]].map(framed));
        let look = |p: &Packet| (p.data().to_vec(), p.paint(), p.dst_ip(), p.network_header_len());
        let (a, b): (Vec<_>, Vec<_>) =
            (t.take("a").iter().map(look).collect(), t.take("b").iter().map(look).collect());
        assert_eq!((a.len(), a), (1, b));
        assert_eq!(t.read("i.drops"), "3");
        assert!(t.printed().contains("IP checksum failed\n"));
    }
}
