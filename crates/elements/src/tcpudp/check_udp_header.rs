//! CheckUDPHeader: lets only well-formed UDP packets through.

use super::fast::check_udp_header::Constants;
use super::refusals::{ARGS, Fault, Refusals, pseudo_sum};
use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4, UdpHeader};
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Listed;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks UDP headers",
    manual: "Lets packets through whose marked IP header carries UDP, with a length that fits and a right checksum or none \
             (0). The others go to output 1 if it is connected, and are dropped otherwise; the first of them (all of them \
             with VERBOSE) is reported.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckUDPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only udp/udp,same",
    args: ARGS,
    handlers: &[
        read_handler!("drops", "bad packets", |e: &mut CheckUDPHeader, _| e.refusals.drops()),
        read_handler!("drop_details", "bad packets by reason", |e: &mut CheckUDPHeader, _| e
            .refusals
            .details(TEXTS))
        .listed(Listed::IfTrue("DETAILS")),
    ],
    fast: Some(FastPath::of::<CheckUDPHeader>()),
    ..Class::new("CheckUDPHeader", "tcpudp", || {
        Box::new(CheckUDPHeader { constants: Constants, refusals: Refusals::default() })
    })
};

const TEXTS: [&str; 3] = ["not UDP", "bad packet length", "bad UDP checksum"];

struct CheckUDPHeader {
    constants: Constants,
    refusals: Refusals,
}

fast_path!(CheckUDPHeader, check_udp_header);

fn check(p: &Packet) -> Result<(), Fault> {
    let packet = p.network_header().ok_or(Fault::Protocol)?;
    let ip = Ipv4::new(packet).filter(|ip| ip.protocol == protocol::UDP).ok_or(Fault::Protocol)?;
    let available = &packet[ip.ihl()..];
    let header = UdpHeader::peek(available).ok_or(Fault::Length)?;
    let len = usize::from(header.length());
    let datagram = available.get(..len).filter(|_| len >= size_of::<UdpHeader>()).ok_or(Fault::Length)?;
    match header.checksum() == 0 || pseudo_sum(&ip, len).bytes(datagram).finish() == 0 {
        true => Ok(()),
        false => Err(Fault::Checksum),
    }
}

impl SimpleElement for CheckUDPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.refusals.configure(args);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match check(p) {
            Ok(()) => Verdict::PASS,
            Err(fault) => self.refusals.refuse("UDP", fault, TEXTS, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckUDPHeader>(old) {
            self.refusals.take_counts(&old.refusals);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::{Sample, ip};
    use crate::testing::Harness;

    fn udp(len: u8, checksum: u8, payload: &[u8]) -> Sample {
        ip("1.0.0.1", "2.0.0.2").payload(17, &[&[0, 1, 0, 2, 0, len, 0, checksum], payload].concat())
    }

    #[test]
    fn faults_are_told_apart_and_no_checksum_is_none() {
        let mut t = Harness::new(
            "s :: Source -> c :: CheckUDPHeader(DETAILS true) -> k :: Sink; sum :: Source -> SetUDPChecksum -> c",
        );
        t.push("sum", 0, [udp(11, 7, b"abc").marked(), udp(10, 0, b"abc").marked()]);
        t.push("s", 0, [udp(11, 0, b"abc").marked()]);
        assert_eq!(t.bytes("k").len(), 3);
        t.push(
            "s",
            0,
            [udp(11, 7, b"abc"), udp(12, 0, b"abc"), udp(7, 0, b"abc"), udp(8, 0, b"").payload(6, &[])]
                .map(|s| s.marked()),
        );
        assert_eq!(t.read("c.drop_details"), "1\tnot UDP\n2\tbad packet length\n1\tbad UDP checksum\n");
        assert_eq!(t.bytes("k").len(), 0);
        assert_eq!(t.printed(), "UDP header check failed: bad UDP checksum\n");
    }
}
