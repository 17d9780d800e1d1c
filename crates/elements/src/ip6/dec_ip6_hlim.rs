//! DecIP6HLIM: counts down the hop limit.

use super::fast::dec_ip6_hlim::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv6Header};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lowers the hop limit of IPv6 packets",
    manual: "Lowers each packet's hop limit by one (RFC 8200 §3). A packet whose hop limit is 0 or 1 goes unchanged to \
             output 1 if it is connected, and is dropped otherwise.",
    example: "InfiniteSource(DATA \\<6000000000003b40 20010db8000000000000000000000001 20010db8000000000000000000000002>, \
              LIMIT 1, STOP true) -> CheckIP6Header -> DecIP6HLIM -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip6/ip6",
    handlers: &[read_handler!("drops", "expired packets", |e: &mut DecIP6HLIM, _| e.drops)],
    fast: Some(FastPath::of::<DecIP6HLIM>()),
    ..Class::new("DecIP6HLIM", "ip6", || Box::<DecIP6HLIM>::default())
};

#[derive(Default)]
struct DecIP6HLIM {
    constants: Constants,
    drops: u64,
}

impl DecIP6HLIM {
    #[cold]
    fn uncommon(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(header) = p.network_header().and_then(Ipv6Header::peek) else {
            return Verdict::Drop("no IPv6 header");
        };
        if header.hop_limit <= 1 {
            self.drops += 1;
            return cx.out_or_drop(1, "hop limit exceeded");
        }
        if let Some(header) = p.network_header_mut().and_then(Ipv6Header::peek_mut) {
            header.hop_limit -= 1;
        }
        Verdict::PASS
    }
}

fast_path!(DecIP6HLIM, dec_ip6_hlim);

impl SimpleElement for DecIP6HLIM {
    #[inline]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.uncommon(p, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<DecIP6HLIM>(old) {
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
    fn counts_down_until_the_packet_expires() {
        let mut t = Harness::new("s :: Source -> d :: DecIP6HLIM -> k :: Sink; d[1] -> x :: Sink");
        let sample = ip6("2001:db8::1", "2001:db8::2");
        t.push("s", 0, (0..=255).map(|limit| sample.clone().hop_limit(limit).marked()));
        let left: Vec<_> = (1..255).map(|limit| sample.clone().hop_limit(limit).bytes()).collect();
        assert_eq!(t.bytes("k"), left);
        let expired: Vec<_> = (0..2).map(|limit| sample.clone().hop_limit(limit).bytes()).collect();
        assert_eq!((t.bytes("x"), t.read("d.drops")), (expired, "2".into()));
    }

    #[test]
    fn a_shared_packet_is_copied_and_one_without_header_dropped() {
        let mut t =
            Harness::new("s :: Source -> t :: Tee; t[0] -> d :: DecIP6HLIM -> a :: Sink; t[1] -> b :: Sink");
        let sample = ip6("2001:db8::1", "2001:db8::2");
        t.push("s", 0, [sample.marked(), Packet::new(&[0x60; 60])]);
        assert_eq!(t.bytes("a"), [sample.clone().hop_limit(63).bytes()]);
        assert_eq!(t.bytes("b")[0], sample.bytes());
        assert_eq!(t.read("d.drop_reasons"), "1\tno IPv6 header\n");
    }
}
