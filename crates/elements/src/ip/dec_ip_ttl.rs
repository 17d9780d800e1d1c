//! DecIPTTL: counts down the time to live.

use super::fast::dec_ip_ttl::Constants;
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{
    Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lowers the time to live of IP packets",
    manual: "Lowers each packet's time to live by one and updates the checksum (RFC 1812 §5.3.1). A packet whose time to \
             live is 0 or 1 goes unchanged to output 1 if it is connected, and is dropped otherwise. With MULTICAST false, \
             packets to multicast groups pass as they are; with ACTIVE false, all packets do.",
    example: "InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 1, STOP true) -> CheckIPHeader \
              -> DecIPTTL -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,ip-expired",
    args: &[
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is done"),
        ArgSpec::keyword("MULTICAST", ArgType::Bool, "true", "whether multicast packets are treated too"),
    ],
    handlers: &[
        read_handler!("drops", "expired packets", |e: &mut DecIPTTL, _| e.drops),
        read_handler!("active", "whether anything is done", |e: &mut DecIPTTL, _| e.constants.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut DecIPTTL, text, _| store(
                &mut e.constants.active,
                text,
                "boolean"
            ))),
    ],
    fast: Some(FastPath::of::<DecIPTTL>()),
    ..Class::new("DecIPTTL", "ip", || Box::<DecIPTTL>::default())
};

#[derive(Default)]
struct DecIPTTL {
    constants: Constants,
    drops: u64,
}

impl DecIPTTL {
    #[cold]
    fn uncommon(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if !self.constants.active {
            return Verdict::PASS;
        }
        let Some(header) = p.network_header_mut().and_then(Ipv4Header::peek_mut) else {
            return Verdict::Drop("no IP header");
        };
        if !self.constants.multicast && header.destination().is_multicast() {
            return Verdict::PASS;
        }
        if header.ttl <= 1 {
            self.drops += 1;
            return cx.out_or_drop(1, "time to live expired");
        }
        header.decrement_ttl();
        Verdict::PASS
    }
}

fast_path!(DecIPTTL, dec_ip_ttl);

impl SimpleElement for DecIPTTL {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ACTIVE", &mut self.constants.active).read("MULTICAST", &mut self.constants.multicast);
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None => self.uncommon(p, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<DecIPTTL>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fast;
    use super::super::samples::ip;
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn counts_down_with_a_right_checksum_until_it_expires() {
        let mut t = Harness::new("s :: Source -> d :: DecIPTTL -> k :: Sink; d[1] -> x :: Sink");
        t.push("s", 0, (0..=255).map(|ttl| ip("1.0.0.1", "2.0.0.2").ttl(ttl).marked()));
        let expected: Vec<_> = (1..255).map(|ttl| ip("1.0.0.1", "2.0.0.2").ttl(ttl).bytes()).collect();
        assert_eq!(t.bytes("k"), expected);
        let expired: Vec<_> = (0..2).map(|ttl| ip("1.0.0.1", "2.0.0.2").ttl(ttl).bytes()).collect();
        assert_eq!((t.bytes("x"), t.read("d.drops")), (expired, "2".into()));
    }

    #[test]
    fn every_checksum_is_updated_as_headers_do_it() {
        let mut p = ip("1.0.0.1", "2.0.0.2").marked();
        for checksum in 0..=u16::MAX {
            for ttl in [2, 255] {
                let header = p.network_header_mut().and_then(Ipv4Header::peek_mut).unwrap();
                header.ttl = ttl;
                header.set_checksum(checksum);
                let mut expected = *header;
                expected.decrement_ttl();
                assert_eq!(fast::dec_ip_ttl::fast(&Constants::default(), &mut p), Some(0));
                let header = p.network_header().and_then(Ipv4Header::peek).unwrap();
                assert_eq!(
                    (header.ttl, header.checksum()),
                    (expected.ttl, expected.checksum()),
                    "{checksum}"
                );
            }
        }
    }

    #[test]
    fn multicast_and_inactive_packets_can_be_spared() {
        let mut t = Harness::new("s :: Source -> d :: DecIPTTL(MULTICAST false) -> k :: Sink");
        let (multicast, other) = (ip("1.0.0.1", "224.0.0.5").ttl(1), ip("1.0.0.1", "2.0.0.2").ttl(1));
        t.push("s", 0, [multicast.marked(), other.marked(), Packet::new(b"no header")]);
        assert_eq!(t.bytes("k"), [multicast.bytes()]);
        assert_eq!(t.read("d.drop_reasons"), "1\ttime to live expired\n1\tno IP header\n");
        t.write("d.active false").unwrap();
        t.push("s", 0, [other.marked()]);
        assert_eq!(t.bytes("k"), [other.bytes()]);
    }

    #[test]
    fn a_shared_packet_is_copied_first() {
        let mut t = Harness::new("s :: Source -> t :: Tee; t[0] -> DecIPTTL -> a :: Sink; t[1] -> b :: Sink");
        let packet = ip("1.0.0.1", "2.0.0.2");
        t.push("s", 0, [packet.marked()]);
        assert_eq!(
            (t.bytes("a"), t.bytes("b")),
            (vec![packet.clone().ttl(63).bytes()], vec![packet.bytes()])
        );
    }
}
