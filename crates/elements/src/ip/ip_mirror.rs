//! IPMirror: sends packets back where they came from.

use super::fast::ip_mirror::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Mut, UdpHeader};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "swaps source and destination of IP packets",
    manual: "Swaps the addresses of each packet's marked IP header, the ports of TCP and UDP, and TCP's sequence and \
             acknowledgement numbers. Checksums stay right. The destination annotation becomes the new destination unless \
             DST_ANNO is false.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> IPMirror -> CheckIPHeader -> Discard",
    packets: "ip/ip",
    args: &[ArgSpec::positional("DST_ANNO", ArgType::Bool, "true", "set the destination annotation")],
    fast: Some(FastPath::of::<IPMirror>()),
    ..Class::new("IPMirror", "ip", || Box::new(IPMirror { constants: Constants { sets_annotation: true } }))
};

struct IPMirror {
    constants: Constants,
}

fast_path!(IPMirror, ip_mirror);

/// Swaps the ports, and TCP's numbers as far as they are there. A header of which less is there than UDP's stays.
fn swap_transport(transport: &mut [u8], is_tcp: bool) {
    // TCP and UDP have their ports in the same place.
    let Some(ports) = UdpHeader::peek_mut(transport) else { return };
    let (source, destination) = (ports.source_port(), ports.destination_port());
    ports.set_source_port(destination);
    ports.set_destination_port(source);
    if is_tcp && let Some(numbers) = transport.get_mut(4..12) {
        numbers.rotate_left(4);
    }
}

impl SimpleElement for IPMirror {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DST_ANNO", &mut self.constants.sets_annotation);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(mut ip) = p.network_header_mut().and_then(Ipv4Mut::new) else {
            return Verdict::Drop("no IP header");
        };
        let (source, destination) = (ip.source(), ip.destination());
        ip.set_source(destination);
        ip.set_destination(source);
        if ip.is_first_fragment() && matches!(ip.protocol, protocol::TCP | protocol::UDP) {
            let is_tcp = ip.protocol == protocol::TCP;
            swap_transport(ip.payload_mut(), is_tcp);
        }
        if self.constants.sets_annotation {
            p.set_dst_ip(source);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;

    #[test]
    fn addresses_ports_and_numbers_change_places() {
        let mut t = Harness::new("s :: Source -> m :: IPMirror -> k :: Sink");
        let udp = |ports: [u8; 4]| [&ports[..], &[0, 8, 0, 0]].concat();
        let mut tcp = vec![0, 1, 0, 2, 1, 1, 1, 1, 2, 2, 2, 2, 0x50];
        tcp.resize(20, 0);
        let mut mirrored = tcp.clone();
        mirrored[..12].copy_from_slice(&[0, 2, 0, 1, 2, 2, 2, 2, 1, 1, 1, 1]);
        let there = ip("1.0.0.1", "2.0.0.2");
        let later = there.clone().fragment(9).payload(17, &udp([0, 1, 0, 2]));
        t.push(
            "s",
            0,
            [
                there.clone().payload(17, &udp([0, 1, 0, 2])).marked(),
                there.payload(6, &tcp).marked(),
                later.marked(),
            ],
        );
        let got = t.take("k");
        let back = ip("2.0.0.2", "1.0.0.1");
        assert_eq!(got[0].data(), back.clone().payload(17, &udp([0, 2, 0, 1])).bytes());
        assert_eq!(got[1].data(), back.clone().payload(6, &mirrored).bytes());
        assert_eq!(got[2].data(), back.fragment(9).payload(17, &udp([0, 1, 0, 2])).bytes());
        assert_eq!(got[0].dst_ip().to_string(), "1.0.0.1");
    }

    /// The numbers of TCP are swapped where they are, whatever the rest of the header is.
    #[test]
    fn headers_that_are_cut_off_or_wrong() {
        let tcp: Vec<u8> = (1..=20).collect();
        for (length, expected) in [
            (20, &[3, 4, 1, 2, 9, 10, 11, 12, 5, 6, 7, 8, 13][..]),
            (12, &[3, 4, 1, 2, 9, 10, 11, 12, 5, 6, 7, 8]),
            (9, &[3, 4, 1, 2, 5, 6, 7, 8, 9]),
            (7, &[1, 2, 3, 4, 5, 6, 7]),
        ] {
            let mut t = Harness::new("s :: Source -> IPMirror -> k :: Sink");
            t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").payload(6, &tcp[..length]).marked()]);
            assert_eq!(&t.bytes("k")[0][20..20 + expected.len()], expected, "{length}");
        }
    }
}
