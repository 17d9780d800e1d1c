//! IP6Mirror: sends IPv6 packets back where they came from.

use super::fast::ip6_mirror::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv6Header, UdpHeader};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "swaps source and destination of IPv6 packets",
    manual: "Swaps the addresses of each packet's marked IPv6 header, and the ports of TCP and UDP where they follow at \
             once. Checksums stay right. The destination annotation stays as it is.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IP6Encap(59, ::1, ::2) -> IP6Mirror -> Discard",
    packets: "ip6/ip6",
    fast: Some(FastPath::of::<IP6Mirror>()),
    ..Class::new("IP6Mirror", "ip6", || Box::new(IP6Mirror { constants: Constants }))
};

struct IP6Mirror {
    constants: Constants,
}

fast_path!(IP6Mirror, ip6_mirror);

impl SimpleElement for IP6Mirror {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let bytes = p.network_header_mut().unwrap_or_default();
        let Some((header, rest)) = bytes.split_at_mut_checked(size_of::<Ipv6Header>()) else {
            return Verdict::Drop("no IPv6 header");
        };
        let Some(header) = Ipv6Header::peek_mut(header) else { return Verdict::Drop("no IPv6 header") };
        let (source, destination) = (header.source(), header.destination());
        header.set_source(destination);
        header.set_destination(source);
        if matches!(header.next_header, protocol::TCP | protocol::UDP)
            // Both have their ports in the same place.
            && let Some(ports) = UdpHeader::peek_mut(rest)
        {
            let (source, destination) = (ports.source_port(), ports.destination_port());
            ports.set_source_port(destination);
            ports.set_destination_port(source);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip6;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn addresses_and_ports_change_places() {
        let mut t = Harness::new("s :: Source -> m :: IP6Mirror -> k :: Sink");
        let (there, back) = (ip6("2001:db8::1", "::2"), ip6("::2", "2001:db8::1"));
        let cases: [(u8, &[u8], &[u8]); 4] = [
            (17, &[0, 1, 0, 2, 0, 8, 0, 0], &[0, 2, 0, 1, 0, 8, 0, 0]),
            (6, &[0, 1, 0, 2, 9, 9, 9, 9], &[0, 2, 0, 1, 9, 9, 9, 9]),
            (17, &[0, 1, 0, 2, 0, 8, 0], &[0, 1, 0, 2, 0, 8, 0]),
            (58, &[128, 0, 1, 2, 0, 1, 0, 2], &[128, 0, 1, 2, 0, 1, 0, 2]),
        ];
        for (next_header, payload, mirrored) in cases {
            let p = there.clone().payload(next_header, payload).marked();
            // The second is shared, so that it takes the way around the fast path.
            t.push("s", 0, [p.clone(), p.clone()]);
            let expected = back.clone().payload(next_header, mirrored).bytes();
            assert_eq!(t.bytes("k"), [expected.clone(), expected]);
        }
        t.push("s", 0, [Packet::new(&[0x60; 60])]);
        assert_eq!(t.read("m.drop_reasons"), "1\tno IPv6 header\n");
    }
}
