//! RFC 9293 §3.4.1, §3.5 and §3.9.1: initial sequence numbers (RFC 6528), opening, addresses.

use std::collections::HashSet;

use crate::support::states::to;
use crate::support::*;

/// The initial sequence number of an active open.
fn isn(t: &mut Peer) -> u32 {
    t.connect();
    let number = t.next().expect("a SYN").sequence;
    t.abort();
    t.id = None;
    number
}

/// MUST-8: it moves with the clock, 4 µs a step.
#[test]
fn isn_moves_with_the_clock() {
    let mut t = Peer::new();
    let first = isn(&mut t);
    t.pass(SECOND);
    let second = isn(&mut t);
    let moved = second.wrapping_sub(first);
    assert!((200_000..20_000_000).contains(&moved), "{moved}");
}

/// SHLD-1: RFC 6528 §3, each pair of sockets has its own.
#[test]
fn isn_differs_between_connections() {
    let mut t = Peer::new();
    let numbers: HashSet<u32> = (1..200)
        .map(|port| {
            t.remote.set_port(port);
            isn(&mut t)
        })
        .collect();
    assert_eq!(numbers.len(), 199);
    let spread = numbers.iter().max().zip(numbers.iter().min()).map(|(a, b)| a - b);
    assert!(spread > Some(1 << 30), "{spread:?}");
}

/// MUST-9: without the secret it cannot be computed.
#[test]
fn isn_depends_on_the_secret() {
    let mut with = |seed| {
        let mut t = Peer::new();
        t.stack.seed(seed);
        isn(&mut t)
    };
    let numbers: HashSet<u32> = (1..50).map(&mut with).collect();
    assert_eq!(numbers.len(), 49);
}

/// The same for those who are connected to.
#[test]
fn isn_of_a_listener() {
    let mut t = Peer::new();
    t.listen(200);
    let numbers: HashSet<u32> = (1000..1100)
        .map(|port| {
            t.remote.set_port(port);
            t.inject("S 0");
            t.next().expect("a SYN-ACK").sequence
        })
        .collect();
    assert_eq!(numbers.len(), 100);
}

/// Numbers that go round the end of their space, ours this time.
#[test]
fn our_numbers_wrap() {
    let mut t = Peer::new();
    let ticks = 0xffff_fe00u32.wrapping_sub(isn(&mut t));
    t.pass(4 * u64::from(ticks));
    t.connect();
    assert!(t.expect("S 0").sequence >= 0xffff_fd00);
    t.inject("S. 0 ack 1 <mss 1000,sackOK>");
    t.expect(". 1 ack 1");
    t.write(4000);
    assert_eq!(t.pieces().len(), 4);
    t.inject(". 1 ack 1001 <sack 2001-4001>");
    t.pass(SECOND);
    assert!(t.pieces().iter().any(|p| p.0 == 1001), "{}", t.story());
    t.inject(". 1 ack 4001");
    assert_eq!(t.status().unacked, 0);
    t.shutdown();
    t.expect("F. 4001");
}

/// MUST-10.
#[test]
fn simultaneous() {
    let mut t = to::syn_received_actively();
    t.inject("S. 0 ack 1 <mss 1000>");
    t.is(state::ESTABLISHED);
    t.write(100);
    let text: usize = t.all().iter().map(|s| s.text.len()).sum();
    assert_eq!(text, 100);
}

/// MUST-11: a reset in SYN-RECEIVED leads back to where it came from.
#[test]
fn syn_received_remembers() {
    let mut t = to::syn_received();
    t.inject("R 1");
    assert_eq!(t.stack.connections().count(), 0);
    let mut t = to::syn_received_actively();
    t.inject("R 1");
    assert_eq!(t.error(), errno::ECONNREFUSED);
}

/// MUST-41: a passive open does not disturb connections.
#[test]
fn listening_disturbs_no_one() {
    let reuse = Options { reuse_address: true, ..Options::default() };
    let mut t = Peer::new();
    t.connect_with(&reuse);
    t.expect("S 0");
    t.inject("S. 0 ack 1");
    t.expect(". 1 ack 1");
    t.listen_with(1, &reuse);
    t.inject("P. 1(10)");
    assert_eq!(t.read_all(), 10);
    t.is(state::ESTABLISHED);
}

/// MUST-42: connections and a listener on one port.
#[test]
fn many_on_one_port() {
    let mut t = to::listen();
    for port in 6000..6010 {
        t.remote.set_port(port);
        t.stack_side = Default::default();
        t.peer_side.next = t.peer_side.first;
        t.inject("S 0");
        t.expect("S. 0 ack 1");
        t.inject(". 1 ack 1");
        t.accept();
        t.write(10);
        t.expect("P. 1(10)");
        t.inject(". 1 ack 11");
        t.forget_text();
    }
    assert_eq!(t.stack.connections().count(), 10);
}

/// MUST-44, MUST-45, MUST-43: the source address is that which the user names, or that which the SYN was sent to.
#[test]
fn source_address() {
    let mut t = Peer::new();
    t.stack.add_address("192.0.2.9".parse().expect("an address"));
    let from = "192.0.2.9:99".parse().expect("an address");
    t.stack.connect(t.now, Some(from), t.remote, &Options::default()).expect("an active open");
    t.pass(0);
    assert_eq!(t.next().expect("a SYN").from, from);
    let mut t = to::listen();
    t.inject("S 0");
    assert_eq!(t.next().expect("a SYN-ACK").from, t.local);
}

/// MUST-44: without a name it is one of the stack's.
#[test]
fn source_address_is_found() {
    let mut t = Peer::new();
    t.stack.connect(t.now, None, t.remote, &Options::default()).expect("an active open");
    t.pass(0);
    assert_eq!(t.next().expect("a SYN").from.ip(), t.local.ip());
}

/// MUST-46.
#[test]
fn refuses_to_open_to_many() {
    let mut t = Peer::new();
    for remote in ["224.0.0.1:80", "255.255.255.255:80", "[ff02::1]:80"] {
        let remote = remote.parse().expect("an address");
        assert!(t.stack.connect(t.now, None, remote, &Options::default()).is_err(), "{remote}");
    }
    t.pass(0);
    t.nothing();
}

/// MUST-63.
#[test]
fn ignores_syn_from_many() {
    for remote in ["224.0.0.1:5000", "255.255.255.255:5000"] {
        let mut t = Peer::between("192.0.2.1:80", remote, |_| ());
        t.listen(1);
        t.inject("S 0");
        t.quiet(SECOND);
    }
    let mut t = Peer::between("[2001:db8::1]:80", "[ff02::1]:5000", |_| ());
    t.listen(1);
    t.inject("S 0");
    t.quiet(SECOND);
}

/// MUST-57.
#[test]
fn ignores_syn_to_many() {
    for local in ["224.0.0.1:80", "255.255.255.255:80"] {
        let mut t = Peer::new();
        t.listen(1);
        t.local = local.parse().expect("an address");
        t.inject("S 0");
        t.quiet(SECOND);
    }
}

/// MUST-50: options of the IP header that mean nothing to us.
#[test]
fn ip_options_are_ignored() {
    let mut t = Peer::established();
    let mut packet = t.segment("P. 1(10)").packet();
    packet.splice(20..20, [0x44, 4, 5, 0, 1, 1, 1, 0]);
    packet[0] = 0x47;
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[10..12].fill(0);
    let checksum = clickwork_packet::checksum::checksum(&packet[..28]);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    t.inject_packet(&packet);
    assert_eq!(t.read_all(), 10);
}

/// Not for us: no answer.
#[test]
fn ignores_other_hosts() {
    let mut t = to::listen();
    t.local = "192.0.2.77:80".parse().expect("an address");
    t.inject("S 0");
    t.quiet(SECOND);
}

/// The whole handshake over IPv6.
#[test]
fn over_ipv6() {
    let mut t = Peer::v6().handshake("<mss 1000>");
    t.inject("P. 1(100)");
    assert_eq!(t.read_all(), 100);
}
