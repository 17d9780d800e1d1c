//! CheckIP6Header: lets only well-formed IPv6 packets through (RFC 8200 §3).

use super::fast::check_ip6_header::{Constants, fast};
use crate::ip::addresses::Several;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::headers::{Header, Ipv6Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Fast, FastCode, FastPath, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks IPv6 headers",
    manual: "Lets packets through whose IPv6 header, OFFSET bytes into the packet, is well formed: long enough, version 6, \
             a payload length that the packet has, and a source that is not in BADADDRS and not all ones. Packets that \
             pass have their header marked, and bytes behind the IPv6 packet cut off; the transport header is taken to \
             follow at once, for extension headers are not looked at. The others go to output 1 if it is connected, and \
             are dropped otherwise; the first of them is reported. A router lists '::' in BADADDRS.",
    example: "InfiniteSource(DATA \\<6000000000003b40 20010db8000000000000000000000001 20010db8000000000000000000000002>, \
              LIMIT 1, STOP true) -> CheckIP6Header(::) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only ip6@OFFSET/mark ip6@OFFSET,same",
    args: &[
        ArgSpec::positional("BADADDRS", ArgType::Other("IPv6 addresses"), "", "sources to refuse"),
        ArgSpec::positional("OFFSET", ArgType::U32, "0", "where the IPv6 header is in the packet"),
    ],
    handlers: &[read_handler!("drops", "bad packets", |e: &mut CheckIP6Header, _| e.drops)],
    fast: Some(FastPath::of::<CheckIP6Header>()),
    ..Class::new("CheckIP6Header", "ip6", || Box::<CheckIP6Header>::default())
};

#[derive(Default)]
struct CheckIP6Header {
    offset: u32,
    bad_sources: Vec<u128>,
    drops: u64,
}

impl CheckIP6Header {
    #[inline]
    fn constants(&self) -> Constants<'_> {
        Constants { offset: self.offset as usize, bad_sources: &self.bad_sources }
    }

    /// Checks a packet; a good one gets its header marked and its end cut.
    fn check(&self, p: &mut Packet) -> Result<(), &'static str> {
        let offset = self.offset as usize;
        let ip = p.data().get(offset..).unwrap_or_default();
        let header = Ipv6Header::peek(ip).ok_or("tiny packet")?;
        if header.version() != 6 {
            return Err("bad IP version");
        }
        let len = size_of::<Ipv6Header>() + usize::from(header.payload_len_field());
        let padding = ip.len().checked_sub(len).ok_or("bad IP length")?;
        let source = header.source().to_bits();
        if source == u128::MAX || self.bad_sources.contains(&source) {
            return Err("bad source address");
        }
        p.set_network_header(offset as i32, size_of::<Ipv6Header>() as u32);
        p.take(padding);
        Ok(())
    }

    #[cold]
    fn uncommon(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Err(fault) = self.check(p) else { return Verdict::PASS };
        if self.drops == 0 {
            cx.chatter("IP6 header check failed");
        }
        self.drops += 1;
        cx.out_or_drop(1, fault)
    }
}

impl Fast for CheckIP6Header {
    fn fast_code(&self) -> Option<FastCode> {
        let constants =
            format!("Constants {{ offset: {}, bad_sources: &{:?} }}", self.offset, self.bad_sources);
        let source = include_str!("fast/check_ip6_header.rs").into();
        Some(FastCode { module: "check_ip6_header", source, constants })
    }

    #[inline]
    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&self.constants(), p)
    }
}

impl SimpleElement for CheckIP6Header {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("OFFSET", &mut self.offset);
        if args.has("BADADDRS") {
            match args.get::<Several<Ipv6Address>>("BADADDRS") {
                Some(Several(addresses)) => {
                    self.bad_sources.extend(addresses.into_iter().map(Ipv6Address::to_bits));
                }
                None => args.error("expects IP6ADDRESS -a "),
            }
        }
        self.bad_sources.sort_unstable();
        self.bad_sources.dedup();
    }

    // Left alone, the compiler calls it for each packet of a batch.
    #[inline(always)]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.uncommon(p, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckIP6Header>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip6;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn a_good_packet_is_marked_and_cut() {
        let mut t = Harness::new("s :: Source -> CheckIP6Header(, 2) -> k :: Sink");
        let good = ip6("2001:db8::1", "2001:db8::2").bytes();
        t.push("s", 0, [Packet::new(&[&b"ab"[..], &good, b"padding"].concat())]);
        let p = t.take("k").remove(0);
        assert_eq!(
            (p.network_offset(), p.network_header_len(), p.len()),
            (Some(2), Some(40), 2 + good.len())
        );
    }

    #[test]
    fn bad_packets_are_counted_and_the_first_is_reported() {
        let good = ip6("2001:db8::1", "2001:db8::2").bytes();
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            Packet::new(&bytes)
        };
        let mut t = Harness::new("s :: Source -> c :: CheckIP6Header(:: 2001:db8::9) -> k :: Sink");
        let bad_sources = ["::", "2001:db8::9", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]
            .map(|source| ip6(source, "2001:db8::2").packet());
        t.push("s", 0, [Packet::new(&good[..39]), changed(0, 0x45), changed(5, 9), changed(4, 0xff)]);
        t.push("s", 0, bad_sources);
        let reasons = t.read("c.drop_reasons");
        assert_eq!(reasons, "1\ttiny packet\n1\tbad IP version\n2\tbad IP length\n3\tbad source address\n");
        assert_eq!((t.read("c.drops"), t.bytes("k").len()), ("7".into(), 0));
        assert_eq!(t.printed(), "IP6 header check failed\n");
    }

    #[test]
    fn without_arguments_any_address_but_all_ones_may_send() {
        let mut t = Harness::new("s :: Source -> c :: CheckIP6Header -> k :: Sink; c[1] -> bad :: Sink");
        t.push("s", 0, ["::", "ff02::1", "::1"].map(|source| ip6(source, "2001:db8::2").packet()));
        t.push("s", 0, [ip6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::1").packet()]);
        assert_eq!((t.bytes("k").len(), t.bytes("bad").len()), (3, 1));
    }

    #[test]
    fn addresses_must_be_addresses() {
        let e = Harness::errors("Idle -> CheckIP6Header(1.2.3.4) -> Discard");
        assert!(e.contains("expects IP6ADDRESS -a"), "{e}");
    }
}
