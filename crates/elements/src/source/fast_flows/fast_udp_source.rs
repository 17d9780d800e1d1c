//! FastUDPSource: makes frames of one UDP flow, whose ports may count up.

use super::{ACTIVE, CHECKSUM, DSTETH, DSTIP, Frame, LENGTH, LIMIT, Maker, RATE, SRCETH, SRCIP, class};
use clickwork_packet::Packet;
use clickwork_packet::headers::UdpHeader;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_router::args::{ArgSpec, ArgType, Args, UdpPort};
use clickwork_router::{Class, Cx};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes UDP packets for load tests",
    manual: "Gives whoever pulls RATE Ethernet frames of LENGTH bytes per second, spread evenly, that carry UDP from SRCIP \
             and SPORT to DSTIP and DPORT with a payload of zeros, until it has made LIMIT of them. After every INTERVAL \
             packets both ports count up by one, if INTERVAL is not 0. The IP header is marked.",
    example: "FastUDPSource(1000, 10, 60, 2:0:0:0:0:1, 1.0.0.1, 1234, 2:0:0:0:0:2, 2.0.0.2, 1234) -> Unqueue \
              -> Strip(14) -> CheckIPHeader -> CheckUDPHeader -> Discard",
    args: &[
        RATE,
        LIMIT,
        LENGTH,
        SRCETH,
        SRCIP,
        ArgSpec::required("SPORT", ArgType::UdpPort, "source port"),
        DSTETH,
        DSTIP,
        ArgSpec::required("DPORT", ArgType::UdpPort, "destination port"),
        CHECKSUM,
        ArgSpec::positional(
            "INTERVAL",
            ArgType::U32,
            "0",
            "packets between changes of the ports; 0 for none",
        ),
        ACTIVE,
    ],
    ..class::<UdpSource<Frame>>("FastUDPSource")
};

/// The frames of a source, but for the ports.
pub(super) trait UdpFrame: Default + Send + 'static {
    /// Reads addresses and length.
    fn read(args: &mut Args, cx: &Cx<'_>) -> Self;

    /// A UDP packet in a frame.
    fn udp(&self, source: u16, destination: u16, checksum: bool) -> Packet;
}

#[derive(Default)]
pub(super) struct UdpSource<F> {
    frame: F,
    ports: (u16, u16),
    checksum: bool,
    interval: u64,
    /// How often the ports counted up.
    step: u16,
    /// The packet that the next ones are copies of.
    packet: Option<Packet>,
}

impl UdpFrame for Frame {
    fn read(args: &mut Args, cx: &Cx<'_>) -> Frame {
        Frame::read(args, cx)
    }

    fn udp(&self, source: u16, destination: u16, checksum: bool) -> Packet {
        udp(self, source, destination, checksum)
    }
}

/// A UDP packet in a frame.
pub(super) fn udp(frame: &Frame, source: u16, destination: u16, checksum: bool) -> Packet {
    let header = UdpHeader::new(source, destination, frame.transport_len());
    frame.packet(protocol::UDP, header, |header, sum| {
        if checksum {
            // RFC 768: 0 says that there is no checksum.
            header.set_checksum(if sum == 0 { 0xFFFF } else { sum });
        }
    })
}

impl<F: UdpFrame> UdpSource<F> {
    fn packet(&mut self) -> Packet {
        let (frame, checksum) = (&self.frame, self.checksum);
        let (source, destination) =
            (self.ports.0.wrapping_add(self.step), self.ports.1.wrapping_add(self.step));
        self.packet.get_or_insert_with(|| frame.udp(source, destination, checksum)).clone()
    }
}

impl<F: UdpFrame> Maker for UdpSource<F> {
    fn configure(&mut self, args: &mut Args, cx: &Cx<'_>) {
        let port = |port: Option<UdpPort>| port.map_or(0, |UdpPort(port)| port);
        self.frame = F::read(args, cx);
        self.ports = (port(args.get("SPORT")), port(args.get("DPORT")));
        self.checksum = args.get("CHECKSUM").unwrap_or(true);
        self.interval = args.get::<u32>("INTERVAL").unwrap_or(0).into();
    }

    fn make(&mut self, count: u64, at_end: bool, _: &mut Cx<'_>) -> Option<Packet> {
        if at_end {
            return None;
        }
        let p = self.packet();
        if self.interval > 0 && (count + 1).is_multiple_of(self.interval) {
            (self.step, self.packet) = (self.step.wrapping_add(1), None);
        }
        Some(p)
    }

    fn reset(&mut self) {
        (self.step, self.packet) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::headers::{Ipv4, Udp};
    use clickwork_router::Outcome;
    use std::time::Duration;

    const ENDS: &str = "2:0:0:0:0:1, 1.0.0.1, 1000, 2:0:0:0:0:2, 2.0.0.2, 2000";

    #[test]
    fn frames_are_whole_and_ports_count_up() {
        let config = format!("FastUDPSource(0, 5, 100, {ENDS}, INTERVAL 2) -> u :: Unqueue -> k :: Sink");
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            let got = t.take("k");
            let ports = |p: &clickwork_packet::Packet| {
                assert_eq!((p.len(), &p.data()[..14]), (100, &b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0"[..]));
                let ip = Ipv4::new(p.network_header().unwrap()).unwrap();
                let udp = Udp::new(ip.payload()).unwrap();
                assert!(ip.checksum_is_right() && ip.ttl == 250 && ip.total_len() == 86);
                assert_eq!(udp.add_to(ip.pseudo_sum(66)).finish(), 0);
                assert_eq!(p.dst_ip().to_string(), "2.0.0.2");
                (udp.source_port(), udp.destination_port())
            };
            let got: Vec<_> = got.iter().map(ports).collect();
            assert_eq!(got, [(1000, 2000), (1000, 2000), (1001, 2001), (1001, 2001), (1002, 2002)]);
        }
    }

    #[test]
    fn the_rate_is_kept_without_spinning() {
        for rate in [100, 7777] {
            let config = format!(
                "f :: FastUDPSource({rate}, -1, 60, {ENDS}, false) -> Unqueue -> c :: Counter -> Discard"
            );
            let mut t = Harness::new(&config);
            t.run_for(Duration::from_secs(3));
            let count: i64 = t.read("c.count").parse().unwrap();
            assert!((count - 3 * rate).abs() <= 1, "{count}");
            assert_eq!(t.read("f.rate"), "0");
        }
    }

    #[test]
    fn handlers_measure_and_restart_it() {
        let mut t = Harness::new(&format!(
            "f :: FastUDPSource(1000, 500, 60, {ENDS}, ACTIVE false) -> Unqueue -> k :: Sink"
        ));
        t.run();
        assert_eq!(t.read("f.count"), "0");
        t.write("f.active true").unwrap();
        assert_eq!(t.run(), Outcome::Exhausted);
        assert_eq!([t.read("f.count"), t.read("f.rate")], ["500", "1002"]);
        t.write("f.limit 10").unwrap();
        t.write("f.reset").unwrap();
        t.write("f.rate 10").unwrap();
        t.run();
        assert_eq!(t.take("k").len(), 510);
        assert_eq!(t.write("f.rate x").unwrap_err(), "rate parameter must be integer >= 0");
        assert_eq!(t.write("f.limit x").unwrap_err(), "limit parameter must be integer >= 0");
        assert_eq!(t.write("f.active x").unwrap_err(), "active parameter must be boolean");
    }

    #[test]
    fn lengths_are_checked() {
        let mut t = Harness::new(&format!("FastUDPSource(0, 1, 10, {ENDS}) -> Unqueue -> k :: Sink"));
        t.run();
        assert_eq!(
            (t.printed(), t.bytes("k")[0].len()),
            ("warning: packet length < 60, defaulting to 60\n".into(), 60)
        );
        let e = Harness::errors(&format!("FastUDPSource(0, 1, 70000, {ENDS}) -> Unqueue -> Discard"));
        assert!(e.contains("LENGTH: must be at most"), "{e}");
    }
}
