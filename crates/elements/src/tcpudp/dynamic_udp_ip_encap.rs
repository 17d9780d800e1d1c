//! DynamicUDPIPEncap: encapsulates packets in UDP, and changes the ports from time to time.

use super::udp_ip_encap::{Flow, encapsulate};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, UdpPort};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in UDP and IP, with ports that count up",
    manual: "Puts a UDP and an IP header in front of each packet: from SRC and SPORT to DST and DPORT. After every INTERVAL \
             packets both ports are counted up by one; with an INTERVAL of 0 they stay. The identification counts up; \
             the UDP checksum is computed unless CHECKSUM is false. The headers are marked and the destination \
             annotation set.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> DynamicUDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2, INTERVAL 2) \
              -> CheckUDPHeader -> Discard",
    packets: "any/push(ip udp)",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("SPORT", ArgType::UdpPort, "first source port"),
        ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
        ArgSpec::required("DPORT", ArgType::UdpPort, "first destination port"),
        ArgSpec::positional("CHECKSUM", ArgType::Bool, "true", "compute the UDP checksum"),
        ArgSpec::positional(
            "INTERVAL",
            ArgType::U32,
            "0",
            "packets between changes of the ports; 0 for none",
        ),
    ],
    ..Class::new("DynamicUDPIPEncap", "tcpudp", || Box::<DynamicUdpIpEncap>::default())
};

#[derive(Default)]
struct DynamicUdpIpEncap {
    flow: Flow,
    checksum: bool,
    interval: u32,
    id: u16,
    /// Packets since the ports changed.
    count: u32,
}

impl SimpleElement for DynamicUdpIpEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let port = |port: Option<UdpPort>| port.map_or(0, |UdpPort(port)| port);
        args.read("SRC", &mut self.flow.source).read("DST", &mut self.flow.destination);
        self.flow.source_port = port(args.get("SPORT"));
        self.flow.destination_port = port(args.get("DPORT"));
        self.checksum = args.get("CHECKSUM").unwrap_or(true);
        args.read("INTERVAL", &mut self.interval);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if encapsulate(p, &self.flow, self.id, self.checksum).is_none() {
            return Verdict::Drop("too long for IP");
        }
        self.id = self.id.wrapping_add(1);
        self.count = self.count.wrapping_add(1);
        if self.count == self.interval {
            self.flow.source_port = self.flow.source_port.wrapping_add(1);
            self.flow.destination_port = self.flow.destination_port.wrapping_add(1);
            self.count = 0;
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::{Ipv4, Udp};

    fn ports(args: &str, n: usize) -> Vec<(u16, u16)> {
        let config = format!(
            "s :: Source -> DynamicUDPIPEncap({args}) -> CheckIPHeader -> CheckUDPHeader -> k :: Sink"
        );
        let mut t = Harness::new(&config);
        t.push("s", 0, (0..n).map(|_| Packet::new(b"abc")));
        let got = t.bytes("k");
        got.iter()
            .enumerate()
            .for_each(|(i, p)| assert_eq!(Ipv4::new(p).unwrap().identification(), i as u16));
        let udp =
            |p: &Vec<u8>| Udp::new(&p[20..]).map(|udp| (udp.source_port(), udp.destination_port())).unwrap();
        got.iter().map(udp).collect()
    }

    #[test]
    fn ports_count_up() {
        let got = ports("1.0.0.1, 65535, 2.0.0.2, 7, true, 2", 5);
        assert_eq!(got, [(65535, 7), (65535, 7), (0, 8), (0, 8), (1, 9)]);
        assert_eq!(ports("1.0.0.1, 1, 2.0.0.2, 2", 3), [(1, 2); 3]);
    }

    #[test]
    fn the_checksum_can_be_left_out() {
        for (checksum, filled) in [("", true), (", CHECKSUM false", false)] {
            let config =
                format!("s :: Source -> DynamicUDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2{checksum}) -> k :: Sink");
            let mut t = Harness::new(&config);
            t.push("s", 0, [Packet::new(b"abc")]);
            assert_eq!(t.bytes("k")[0][26..28] != [0, 0], filled);
        }
    }
}
