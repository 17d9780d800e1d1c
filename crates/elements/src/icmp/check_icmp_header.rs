//! CheckICMPHeader: lets only well-formed ICMP messages through.

use super::fast::check_icmp_header::Constants;
use crate::tcpudp::refusals::{ARGS, Fault, Refusals};
use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, IcmpHeader, Ipv4};
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Listed;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "checks ICMP headers",
    manual: "Lets packets through whose marked IP header carries ICMP, with a length that the message's type allows and a \
             right checksum. The others go to output 1 if it is connected, and are dropped otherwise; the first of them \
             (all of them with VERBOSE) is reported.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> ICMPPingEncap(1.0.0.1, 2.0.0.2) -> CheckICMPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only icmp/icmp,same",
    args: ARGS,
    handlers: &[
        read_handler!("drops", "bad packets", |e: &mut CheckICMPHeader, _| e.refusals.drops()),
        read_handler!("drop_details", "bad packets by reason", |e: &mut CheckICMPHeader, _| e
            .refusals
            .details(TEXTS))
        .listed(Listed::IfTrue("DETAILS")),
    ],
    fast: Some(FastPath::of::<CheckICMPHeader>()),
    ..Class::new("CheckICMPHeader", "icmp", || {
        Box::new(CheckICMPHeader { constants: Constants, refusals: Refusals::default() })
    })
};

const TEXTS: [&str; 3] = ["not ICMP", "bad packet length", "bad ICMP checksum"];

struct CheckICMPHeader {
    constants: Constants,
    refusals: Refusals,
}

fast_path!(CheckICMPHeader, check_icmp_header);

/// Whether a message of this type may have this length.
fn is_length_right(header: &IcmpHeader, len: usize) -> bool {
    use icmp_type::*;
    match header.icmp_type {
        // The quoted IP header and 8 bytes behind it (RFC 792).
        _ if header.is_error() => len >= 8 + 28,
        TIMESTAMP | TIMESTAMP_REPLY => len == 8 + 12,
        INFORMATION | INFORMATION_REPLY => len == 8,
        _ => true,
    }
}

fn check(p: &Packet) -> Result<(), Fault> {
    let ip = p.network_header().and_then(Ipv4::new).filter(|ip| ip.protocol == protocol::ICMP);
    ip.ok_or(Fault::Protocol)?;
    let message = p.transport_header().ok_or(Fault::Length)?;
    let header = IcmpHeader::peek(message).ok_or(Fault::Length)?;
    if !is_length_right(header, message.len()) {
        return Err(Fault::Length);
    }
    if checksum(message) == 0 { Ok(()) } else { Err(Fault::Checksum) }
}

impl SimpleElement for CheckICMPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.refusals.configure(args);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match check(p) {
            Ok(()) => Verdict::PASS,
            Err(fault) => self.refusals.refuse("ICMP", fault, TEXTS, cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CheckICMPHeader>(old) {
            self.refusals.take_counts(&old.refusals);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::IcmpMut;

    fn message(icmp_type: u8, len: usize) -> Packet {
        let mut bytes = vec![1; len];
        bytes[0] = icmp_type;
        if let Some(mut icmp) = IcmpMut::new(&mut bytes) {
            icmp.fill_checksum();
        }
        ip("1.0.0.1", "2.0.0.2").payload(1, &bytes).marked()
    }

    #[test]
    fn lengths_depend_on_the_type() {
        let mut t = Harness::new("s :: Source -> c :: CheckICMPHeader(DETAILS true) -> k :: Sink");
        t.push("s", 0, [(8, 8), (0, 99), (3, 36), (13, 20), (15, 8)].map(|(ty, len)| message(ty, len)));
        assert_eq!(t.bytes("k").len(), 5);
        t.push("s", 0, [(8, 7), (3, 35), (13, 21), (15, 9)].map(|(ty, len)| message(ty, len)));
        assert_eq!(t.read("c.drop_details"), "0\tnot ICMP\n4\tbad packet length\n0\tbad ICMP checksum\n");
    }

    #[test]
    fn checksum_and_protocol_are_looked_at() {
        let mut t = Harness::new("s :: Source -> c :: CheckICMPHeader(DETAILS true) -> k :: Sink");
        let wrong = ip("1.0.0.1", "2.0.0.2").payload(1, &[8, 0, 1, 2, 3, 4, 5, 6]);
        t.push("s", 0, [wrong.marked(), ip("1.0.0.1", "2.0.0.2").marked(), wrong.packet()]);
        assert_eq!(t.read("c.drop_details"), "2\tnot ICMP\n0\tbad packet length\n1\tbad ICMP checksum\n");
        assert_eq!(t.printed(), "c :: CheckICMPHeader: ICMP header check failed: bad ICMP checksum\n");
    }
}
