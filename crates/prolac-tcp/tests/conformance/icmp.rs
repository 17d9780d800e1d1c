//! RFC 9293 §3.9.2.2 and RFC 5461: what ICMP messages do; RFC 1191, RFC 8201, RFC 5927 for those about sizes.

use etherparse::{IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpNumber, Ipv4Header};

use crate::support::errno::*;
use crate::support::states::to;
use crate::support::wire::Segment;
use crate::support::*;

/// An ICMP message about a segment that the stack sent: type, code, the four bytes behind the checksum.
fn message(about: &Segment, kind: u8, code: u8, rest: u32) -> Vec<u8> {
    let quoted = &about.packet()[..28];
    let mut icmp = [&[kind, code, 0, 0][..], &rest.to_be_bytes(), quoted].concat();
    let checksum = clickwork_packet::checksum::checksum(&icmp);
    icmp[2..4].copy_from_slice(&checksum.to_be_bytes());
    let router = [198, 51, 100, 1];
    let std::net::IpAddr::V4(to) = about.from.ip() else { panic!("IPv4") };
    let mut ip =
        Ipv4Header::new(icmp.len() as u16, 64, IpNumber::ICMP, router, to.octets()).expect("its length");
    ip.header_checksum = ip.calc_header_checksum();
    [ip.to_bytes().to_vec(), icmp].concat()
}

impl Peer {
    fn icmp(&mut self, about: &Segment, kind: u8, code: u8, rest: u32) {
        self.inject_packet(&message(about, kind, code, rest));
    }
}

/// A segment on its way.
fn outstanding() -> (Peer, Segment) {
    let mut t = Peer::established_with(|_| (), "<mss 1460>");
    t.write(1460);
    let segment = t.next().expect("text");
    (t, segment)
}

/// MUST-54: to the connection that the message is about, and no other.
#[test]
fn reaches_its_connection() {
    let (mut t, segment) = outstanding();
    let mut other = segment.clone();
    other.from.set_port(81);
    t.icmp(&other, 3, 1, 0);
    assert_eq!(t.error(), 0);
    t.icmp(&segment, 3, 1, 0);
    assert!(t.reported(|e| matches!(e, Event::Error(_))));
}

/// MUST-56, SHLD-25: soft errors are told and end nothing.
#[test]
fn soft_errors() {
    for (kind, code, error) in
        [(3, 0, ENETUNREACH), (3, 1, EHOSTUNREACH), (3, 5, 0), (11, 0, EHOSTUNREACH), (11, 1, 0), (12, 0, 0)]
    {
        let (mut t, segment) = outstanding();
        t.icmp(&segment, kind, code, 0);
        t.is(state::ESTABLISHED);
        let told = t.error();
        assert!(error == 0 || told == error, "type {kind} code {code}: {told}");
        t.inject(". 1");
        t.write(10);
        t.next().expect("the connection goes on");
    }
}

/// MUST-55.
#[test]
fn source_quench() {
    let (mut t, segment) = outstanding();
    let window = t.status().congestion_window;
    t.icmp(&segment, 4, 0, 0);
    t.nothing();
    assert_eq!((t.error(), t.status().congestion_window), (0, window));
}

/// SHLD-26 in SYN-SENT.
#[test]
fn hard_error_ends_syn_sent() {
    for (code, error) in [(2, 92), (3, ECONNREFUSED)] {
        let mut t = Peer::new();
        t.connect();
        let syn = t.next().expect("a SYN");
        t.icmp(&syn, 3, code, 0);
        t.is(state::CLOSED);
        assert_eq!(t.error(), error);
    }
}

/// SHLD-26 elsewhere: as Linux and RFC 5461 §4.1, it is told and ends nothing.
#[test]
fn hard_error_in_established() {
    let (mut t, segment) = outstanding();
    t.icmp(&segment, 3, 3, 0);
    t.is(state::ESTABLISHED);
    assert_eq!(t.error(), ECONNREFUSED);
}

/// RFC 5927 §4.1: a quoted sequence number that is not outstanding is a forgery.
#[test]
fn forged_sequence_numbers() {
    let (mut t, segment) = outstanding();
    for sequence in [segment.sequence.wrapping_add(5000), segment.sequence.wrapping_sub(5000)] {
        let forged = Segment { sequence, ..segment.clone() };
        t.icmp(&forged, 3, 1, 0);
        t.icmp(&forged, 3, 4, 576);
    }
    assert_eq!(t.error(), 0);
    assert_eq!(t.status().send_mss, 1460);
    t.nothing();
}

/// Quotations that are too short, or not of TCP, do nothing.
#[test]
fn garbage() {
    let (mut t, segment) = outstanding();
    let whole = message(&segment, 3, 1, 0);
    for length in 20..whole.len() {
        let mut packet = whole[..length].to_vec();
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[10..12].fill(0);
        let checksum = clickwork_packet::checksum::checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        t.inject_packet(&packet);
    }
    let echo = Icmpv4Header::with_checksum(Icmpv4Type::EchoRequest(IcmpEchoHeader { id: 1, seq: 1 }), &[]);
    let mut ip = Ipv4Header::new(8, 64, IpNumber::ICMP, [192, 0, 2, 2], [192, 0, 2, 1]).expect("its length");
    ip.header_checksum = ip.calc_header_checksum();
    t.inject_packet(&[ip.to_bytes().to_vec(), echo.to_bytes().to_vec()].concat());
    assert_eq!(t.error(), 0);
}

/// RFC 1191 and RFC 8201: the size of the path.
mod path_mtu {
    use super::*;

    /// RFC 1191 §3: the Don't Fragment bit.
    #[test]
    fn do_not_fragment() {
        let (_, segment) = outstanding();
        assert!(segment.dont_fragment);
    }

    /// §3, §6.4: smaller segments, and what was too large is sent again at once.
    #[test]
    fn smaller() {
        let (mut t, segment) = outstanding();
        t.icmp(&segment, 3, 4, 1000);
        assert_eq!(t.status().send_mss, 960);
        t.expect_within(0..3 * SECOND, ". 1(960)");
        t.inject(". 1 ack 961");
        t.expect_within(0..SECOND, "P. 961(500)");
    }

    /// RFC 1191 §5: old routers give no size.
    #[test]
    fn without_size() {
        let (mut t, segment) = outstanding();
        t.icmp(&segment, 3, 4, 0);
        t.is(state::ESTABLISHED);
        assert!(t.status().send_mss <= 1460);
    }

    /// RFC 1191 §3: never larger, and never absurdly small.
    #[test]
    fn bounds() {
        let (mut t, segment) = outstanding();
        t.icmp(&segment, 3, 4, 9000);
        assert_eq!(t.status().send_mss, 1460);
        t.icmp(&segment, 3, 4, 30);
        assert!(t.status().send_mss >= 28, "{}", t.status().send_mss);
        t.is(state::ESTABLISHED);
    }

    /// RFC 1191 §6.3: it is not tried again for minutes.
    #[test]
    fn stays_small() {
        let (mut t, segment) = outstanding();
        t.icmp(&segment, 3, 4, 1000);
        t.pass(SECOND);
        t.inject(". 1");
        t.pass(300 * SECOND);
        assert_eq!(t.status().send_mss, 960);
    }

    /// RFC 1191 §6.5: the congestion window is not what was wrong.
    #[test]
    fn congestion_window_stays() {
        let (mut t, segment) = outstanding();
        let window = t.status().congestion_window;
        t.icmp(&segment, 3, 4, 1000);
        assert!(t.status().congestion_window >= window);
    }
}

/// SYN-SENT and soft errors: as Linux, which RFC 5461 §4.1 describes, the attempt fails at once.
#[test]
fn soft_error_ends_syn_sent() {
    let mut t = Peer::new();
    t.connect();
    let syn = t.next().expect("a SYN");
    t.icmp(&syn, 3, 1, 0);
    t.is(state::CLOSED);
    assert_eq!(t.error(), EHOSTUNREACH);
}

/// Listeners are not harmed.
#[test]
fn listener_is_not_harmed() {
    let mut t = to::syn_received();
    let about = Segment { from: t.local, to: t.remote, ..t.segment("S. 0") };
    t.icmp(&about, 3, 3, 0);
    t.remote.set_port(7000);
    t.inject("S 0");
    assert!(t.all().iter().any(|s| s.to == t.remote));
}
