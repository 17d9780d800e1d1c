//! RFC 9293 §3.1, §3.2 and §3.7.1: options, the checksum, and segment sizes.

use crate::support::options::Base;
use crate::support::states::to;
use crate::support::*;

/// MUST-4, MUST-14, SHLD-5, MUST-67: 1500 bytes of link less two headers.
#[test]
fn mss_is_offered() {
    let mut t = Peer::new();
    t.connect();
    t.expect("S 0 <mss 1460,...>");
    let mut t = to::listen();
    t.inject("S 0");
    t.expect("S. 0 ack 1 <mss 1460>");
}

/// The same for IPv6.
#[test]
fn mss_is_offered_over_ipv6() {
    let mut t = Peer::v6();
    t.connect();
    t.expect("S 0 <mss 1440,...>");
}

/// MUST-15.
#[test]
fn mss_default_is_536() {
    let mut t = Peer::new().handshake("");
    t.write(600);
    t.expect(". 1(536)");
}

/// MUST-15.
#[test]
fn mss_default_is_1220_over_ipv6() {
    let mut t = Peer::v6().handshake("");
    t.write(1300);
    t.expect(". 1(1220)");
}

/// MUST-16: options count.
#[test]
fn mss_less_options() {
    let mut t = Peer::established_with(|_| (), "<mss 1000,ts 1 0>");
    t.default_options = vec!["ts 2 @".into()];
    t.write(2000);
    t.expect(". 1(988) <ts * 1>");
}

/// MUST-16: the smaller of what the peer takes and what the link carries.
#[test]
fn mss_of_the_link() {
    let mut t = Peer::established_with(|config| config.mtu = 576, "<mss 9000>");
    t.write(2000);
    t.expect(". 1(536)");
}

/// MUST-65: not in other segments.
#[test]
fn mss_only_in_syn() {
    let mut t = Peer::established();
    t.write(10);
    t.expect("P. 1(10) <>");
    t.inject(". 1 <mss 500>");
    t.write(1000);
    t.expect("P. 11(1000)");
}

/// MUST-5: in any segment.
#[test]
fn in_any_segment() {
    let mut t = Peer::established();
    t.inject("P. 1(10) <nop,nop,eol>");
    assert_eq!(t.read_all(), 10);
    t.inject("F. 11 <nop>");
    t.is(state::CLOSE_WAIT);
}

/// MUST-6: options that no one knows.
#[test]
fn unknown_are_ignored() {
    let mut t = Peer::new();
    t.listen(1);
    t.inject("S 0 <raw fd04beef,mss 1000,raw 4402>");
    t.expect("S. 0 ack 1 <mss 1460>");
    t.inject("P. 1(10) ack 1 <raw fe06aabbccdd>");
    t.accept();
    assert_eq!(t.read_all(), 10);
    t.pass(SECOND);
    t.all();
    t.write(1200);
    t.expect(". 1(1000)");
}

/// MUST-7, MUST-68: lengths that cannot be.
#[test]
fn illegal_lengths() {
    for garbage in [
        "raw 02",
        "raw 0200",
        "raw 0201",
        "raw 02ff",
        "raw fe00",
        "raw fe01aa",
        "raw 03",
        "raw 0800",
        "raw 0528",
    ] {
        let mut t = Peer::new();
        t.listen(1);
        t.inject(&format!("S 0 <{garbage}>"));
        t.expect("S. 0 ack 1");
        t.inject(&format!("P. 1(10) ack 1 <{garbage}>"));
        t.accept();
        assert_eq!(t.read_all(), 10, "{garbage}");
    }
}

/// Known options of lengths that are not theirs count as unknown.
#[test]
fn wrong_lengths() {
    let mut t = Peer::new();
    t.listen(1);
    t.inject("S 0 <raw 0203ff,raw 030407aa,raw 0405000000,raw 0804beef>");
    t.expect("S. 0 ack 1 <mss 1460>");
}

/// MUST-64: without alignment.
#[test]
fn unaligned() {
    let mut t = Peer::new();
    t.listen(1);
    t.inject("S 0 <nop,mss 1000,ws 7,sackOK,nop,nop,nop,ts 5 0>");
    t.expect("S. 0 ack 1 <mss 1460,sackOK,ts * 5,ws *>");
}

/// MUST-69, MUST-68: what we send is padded to whole words, and each option has its length.
#[test]
fn ours_are_padded() {
    let mut t = Peer::new();
    t.connect();
    let syn = t.next().expect("a SYN");
    assert_eq!(syn.options.len() % 4, 0);
    assert!(syn.option_words(Base::default()).len() >= 4);
}

/// Linux's order.
#[test]
fn order_of_linux() {
    let mut t = Peer::new();
    t.connect();
    t.expect("S 0 <mss 1460,sackOK,ts * 0,ws 7>");
}

/// MUST-3: a wrong checksum is dropped in silence.
#[test]
fn checksum_is_verified() {
    let mut t = Peer::established();
    for bit in 0..16 {
        let mut packet = t.segment("P. 1(100)").packet();
        packet[20 + 16 + bit / 8] ^= 1 << (bit % 8);
        t.inject_packet(&packet);
    }
    let mut packet = t.segment("P. 1(100)").packet();
    *packet.last_mut().expect("text") ^= 1;
    t.inject_packet(&packet);
    t.quiet(SECOND);
    assert_eq!(t.read_all(), 0);
    t.inject("P. 1(100)");
    assert_eq!(t.read_all(), 100);
}

/// MUST-2: all that is sent has the right checksum (`Segment::read` looks), whatever its length.
#[test]
fn checksum_is_computed() {
    for mut t in [Peer::established(), Peer::v6().handshake("<mss 1000>")] {
        t.set(option::NO_DELAY, 1);
        for length in 1..200 {
            t.write(length);
            t.next().expect("text");
            t.inject(". 1");
        }
        t.nothing();
    }
}

/// Bits of the header that have no meaning yet are ignored, and not sent.
#[test]
fn reserved_bits() {
    let mut t = Peer::established();
    let mut packet = t.segment("P. 1(100)").packet();
    packet[20 + 12] |= 0x0e;
    let sum = u16::from_be_bytes([packet[36], packet[37]]);
    let [high, low] = ones_complement_minus(sum, 0x0e00).to_be_bytes();
    (packet[36], packet[37]) = (high, low);
    t.inject_packet(&packet);
    assert_eq!(t.read_all(), 100);
}

fn ones_complement_minus(checksum: u16, added: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(added);
    !((sum & 0xffff) as u16 + (sum >> 16) as u16)
}
