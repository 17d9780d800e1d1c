//! Tests of Click's old elements, together as old configurations have them.

use super::samples::bytes;
use crate::ip::samples::ip;
use crate::testing::Harness;
use clickwork_packet::{Packet, anno::Anno};

const KEY: &str = "\\<000102030405060708090a0b0c0d0e0f>";
const AUTH: &str = "\\<101112131415161718191a1b1c1d1e1f>";

/// A gateway with a tunnel, whose packets are taken off the wire.
fn gateway(cipher: &str, replay: u32, window: u32) -> Harness {
    Harness::new(&format!(
        "s :: Source -> routes :: RadixIPsecLookup(192.0.2.1 0, \
            10.2.0.0/16 192.0.2.7 1 234 {KEY} {AUTH} {replay} {window}, 0/0 2); \
         routes [1] -> e :: IPsecESPEncap -> plain :: Tee; plain [1] -> clear :: Sink; \
         plain [0] -> IPsecAuthHMACSHA1(0) -> {cipher}(1) -> IPsecEncap(50) -> wire :: Sink; \
         routes [0] -> StripIPHeader -> {cipher}(0) -> a :: IPsecAuthHMACSHA1(1) -> u :: IPsecESPUnencap -> k :: Sink; \
         a [1] -> wrong :: Sink; routes [2] -> host :: Sink"
    ))
}

fn inner(payload: usize) -> Packet {
    let mut p = ip("10.1.0.2", "10.2.0.2").payload(17, &vec![5; payload]).marked();
    p.set_dst_ip("10.2.0.2".parse().unwrap());
    p
}

/// The packet as the other gateway receives it.
fn arrived(bytes: &[u8]) -> Packet {
    let mut p = Packet::new(bytes);
    p.set_network_header(0, 20);
    p.set_dst_ip("192.0.2.1".parse().unwrap());
    p
}

#[test]
fn packets_of_every_length_go_through_a_tunnel() {
    for cipher in ["IPsecAES", "IPsecDES"] {
        let mut t = gateway(cipher, 1, 32);
        for payload in 0..64 {
            t.push("s", 0, [inner(payload)]);
            let (wire, clear) = (t.bytes("wire").remove(0), t.bytes("clear").remove(0));
            assert_eq!(wire[9], 50);
            assert_eq!(wire[12..20], [0, 0, 0, 0, 192, 0, 2, 7]);
            assert_eq!(clear[..8], [0, 0, 0, 234, 0, 0, 0, payload as u8 + 1]);
            assert_eq!((clear.len() % 8, clear[clear.len() - 1]), (0, 17));
            assert_eq!(wire.len(), 20 + clear.len() + 12);
            assert_ne!(wire[36..60], clear[16..40]);
            t.push("s", 0, [arrived(&wire)]);
            assert_eq!(t.bytes("k"), [inner(payload).data().to_vec()], "{cipher} {payload}");
        }
    }
}

/// DES-CBC and HMAC-SHA-1-96 are standard; computed with OpenSSL 3.0.
#[test]
fn des_is_standard_cbc_and_the_digest_is_that_of_rfc_2202() {
    let mut t = Harness::new(&format!(
        "s :: Source -> r :: RadixIPsecLookup(0/0 1 234 {KEY} \\<0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b> 1 32) \
         -> Sink; r [1] -> des :: IPsecDES(1) -> k :: Sink; d :: Source -> Sink"
    ));
    let mut packet = bytes("000000ea00000001 0001020304050607");
    packet.extend(b"Sixteen bytes ok");
    packet.extend([0xee; 12]);
    t.push("s", 0, [Packet::new(&packet)]);
    let expected = [&packet[..16], &bytes(DES_OF_SIXTEEN), &[0xee; 12]].concat();
    assert_eq!(t.bytes("k"), [expected]);
    // RFC 2202 §3, case 1 has a key of 20 bytes 0x0b; with 16 bytes as here OpenSSL gives this.
    let mut t = Harness::new(
        "s :: Source -> r :: RadixIPsecLookup(0/0 1 234 \\<000102030405060708090a0b0c0d0e0f> \
         \\<0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b> 1 32) -> Sink; r [1] -> IPsecAuthHMACSHA1(0) -> k :: Sink",
    );
    t.push("s", 0, [Packet::new(b"Hi There")]);
    assert_eq!(t.bytes("k")[0][8..], bytes(HMAC_OF_HI_THERE)[..12]);
}

const DES_OF_SIXTEEN: &str = "56a31e230b05e2337ee15f8743e1731a";
const HMAC_OF_HI_THERE: &str = "675b0b3a1b4ddf4e124872da6c2f632bfed957e9";

/// What Click does: AES whose blocks are chained by their first halves. Composed here of AES's standard vector
/// (FIPS 197, appendix C.1) so that the chaining is the only unknown.
#[test]
fn aes_chains_the_first_half_of_blocks() {
    let mut t = Harness::new(&format!(
        "s :: Source -> r :: RadixIPsecLookup(0/0 1 234 {KEY} {AUTH} 1 32) -> Sink; r [1] -> IPsecAES(1) -> k :: Sink"
    ));
    // With IV 0 the first block is the vector's; the second is chosen so that after chaining it is the same again.
    let (text, cipher) =
        (bytes("00112233445566778899aabbccddeeff"), bytes("69c4e0d86a7b0430d8cdb78070b4c55a"));
    let second: Vec<u8> =
        text.iter().enumerate().map(|(n, byte)| if n < 8 { byte ^ cipher[n] } else { *byte }).collect();
    let packet = [&[0; 16][..], &text, &second, &[1; 12]].concat();
    t.push("s", 0, [Packet::new(&packet)]);
    assert_eq!(t.bytes("k"), [[&[0; 16][..], &cipher, &cipher, &[1; 12]].concat()]);
}

#[test]
fn replays_late_packets_and_damage_are_dropped() {
    let mut t = gateway("IPsecAES", 5, 4);
    t.push("s", 0, (0..10).map(|_| inner(8)));
    let wire = t.bytes("wire");
    assert_eq!(wire.iter().map(|p| p[27]).collect::<Vec<_>>(), (5..15).collect::<Vec<_>>());
    for n in [0, 4, 3, 4, 1, 9, 5] {
        t.push("s", 0, [arrived(&wire[n])]);
    }
    assert_eq!(t.bytes("k").len(), 5);
    let (old, seen) = ("This packet is too old to be accepted\n", "This packet is already seen...\n");
    assert_eq!(t.printed(), format!("Replay protection: {seen}Replay protection: {old}"));
    let mut damaged = wire[8].clone();
    damaged[50] ^= 1;
    t.push("s", 0, [arrived(&damaged), arrived(&damaged)]);
    assert_eq!((t.bytes("wrong").len(), t.read("a.drops")), (2, "2".into()));
    assert_eq!(t.printed(), "Invalid SHA1 authentication digest\n");
    // The first sequence number again empties the window, as in Click.
    t.push("s", 0, [arrived(&wire[0]), arrived(&wire[1])]);
    assert_eq!(t.bytes("k").len(), 2);
}

#[test]
fn packets_for_the_router_need_a_known_spi() {
    let mut t = gateway("IPsecDES", 1, 32);
    let plain = ip("10.9.9.9", "192.0.2.1").payload(6, &[0, 0, 0, 5]).bytes();
    t.push("s", 0, [arrived(&plain), arrived(b"short")]);
    // -1 for the SPI: Click prints it with a sign.
    let negative = ip("10.9.9.9", "192.0.2.1").payload(50, &[0xff; 4]).bytes();
    t.push("s", 0, [arrived(&negative)]);
    let printed = "Invalid SPI 5, Dropping packet\n<unknown>: lookup called with NULL spi!\n\
                   Invalid SPI 0, Dropping packet\nInvalid SPI -1, Dropping packet\n";
    assert_eq!(t.printed(), printed);
    assert_eq!(t.read("routes.drop_reasons"), "3\tunknown SPI\n");
    let mut other = inner(4);
    other.set_dst_ip("8.8.8.8".parse().unwrap());
    t.push("s", 0, [other]);
    assert_eq!(t.bytes("host").len(), 1);
}

#[test]
fn the_table_is_printed_as_click_prints_it() {
    let mut t = gateway("IPsecAES", 1, 32);
    let expected = "192.0.2.1/32\t\t-\t\t0\n10.2.0.0/16\t\t192.0.2.7\t1  |TUNNELED CONNECTION| \n\
                    |SPI| |ENC KEY| |AUTH KEY| ||\n |234| |000102030405060708090a0b0c0d0e0f| \
                    |101112131415161718191a1b1c1d1e1f|\n\n0.0.0.0/0\t\t-\t\t2\n";
    assert_eq!(t.read("routes.table"), expected);
    assert_eq!(
        (t.read("routes.lookup 10.2.9.9"), t.read("routes.lookup 1.1.1.1")),
        ("1 192.0.2.7".into(), "2".into())
    );
    assert_eq!(t.read("routes.lookup x"), "expected IP address, not 'x'");
    for (call, error) in [
        ("add 10.2.0.0/16 2", "conflict with existing route '10.2.0.0/16 192.0.2.7 1  |TUNNELED"),
        ("add 10.3.0.0/16 9", "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
        ("add 10.3.0.0/16 1 234 short short 1 1", "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
        ("add 10.3.0.0/16 1 234", "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
        ("remove 10.2.0.0/16 2", "route '10.2.0.0/16 - 2' not found"),
        ("remove 10.7.0.0/16", "route '10.7.0.0/16 - -1' not found"),
        (
            "ctrl remove 10.2.0.0/16\nadd 10.4.0.0/16 2\nadd 0/0 1",
            "conflict with existing route '0.0.0.0/0 - 2'",
        ),
    ] {
        let e = t.write(&format!("routes.{call}")).unwrap_err();
        assert!(e.contains(error), "{call}: {e}");
        assert_eq!(t.read("routes.table").lines().count(), expected.lines().count(), "{call}");
    }
    assert_eq!(t.read("routes.lookup 10.2.9.9"), "1 192.0.2.7");
    t.write(&format!("routes.set 10.2.0.0/16 192.0.2.8 1 77 {AUTH} {KEY} 1 9")).unwrap();
    assert!(t.read("routes.table").contains(" |77| |101112131415161718191a1b1c1d1e1f| |000102"));
    t.write("routes.remove 10.2.0.0/16 192.0.2.8 1").unwrap();
    assert_eq!(t.read("routes.lookup 10.2.9.9"), "2");
    t.write("routes.ctrl remove 0/0\nadd 10.4.0.0/16 2").unwrap();
    assert_eq!(t.read("routes.table"), "192.0.2.1/32\t\t-\t\t0\n10.4.0.0/16\t\t-\t\t2\n");
}

#[test]
fn bad_routes_are_named_by_their_place() {
    let e = Harness::errors(&format!(
        "Idle -> RadixIPsecLookup(10/8 0, 11/8 7, 12/8 0 5 {KEY} abc 1 1) -> Discard"
    ));
    for n in [2, 3] {
        assert!(e.contains(&format!("argument {n} should be 'ADDR/MASK [GATEWAY] OUTPUT'")), "{e}");
    }
    assert!(!e.contains("argument 1"), "{e}");
}

#[test]
fn a_table_of_associations_helps_the_routes() {
    let mut sender = gateway("IPsecAES", 1, 32);
    sender.push("s", 0, [inner(8)]);
    let wire = sender.bytes("wire").remove(0);
    let mut t = Harness::new(
        "s :: Source -> routes :: RadixIPsecLookup(0/0 0); sas :: SATable; \
         routes [0] -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> k :: Sink",
    );
    t.push("s", 0, [arrived(&wire)]);
    t.write(&format!("sas.add 234 {KEY} {AUTH} 1 32")).unwrap();
    assert!(t.write(&format!("sas.add 234 {KEY} {AUTH} 1 32")).is_err());
    assert!(t.write("sas.add 0 a b 1 32").is_err());
    t.push("s", 0, [arrived(&wire)]);
    assert_eq!(t.bytes("k"), [inner(8).data().to_vec()]);
    let line = " |234| |000102030405060708090a0b0c0d0e0f| |101112131415161718191a1b1c1d1e1f|\n";
    assert_eq!(t.read("sas.table"), line);
    t.write("sas.remove 234").unwrap();
    assert_eq!(t.write("sas.remove 234").unwrap_err(), "No such entry");
    assert_eq!(t.read("sas.table"), "");
}

#[test]
fn a_hot_swap_continues_numbers_and_window() {
    let mut old = gateway("IPsecAES", 1, 32);
    old.push("s", 0, [inner(1), inner(2)]);
    let wire = old.bytes("wire");
    old.push("s", 0, [arrived(&wire[1])]);
    // With the same routes, and with others.
    for (cipher, window) in [("IPsecAES", 32), ("IPsecAES", 8)] {
        let mut new = gateway(cipher, 1, window);
        new.router.take_over(old.router);
        new.push("s", 0, [inner(3)]);
        let sent = new.bytes("wire").remove(0);
        assert_eq!(sent[27], if window == 32 { 3 } else { 4 });
        new.push("s", 0, [arrived(&wire[1]), arrived(&sent)]);
        assert_eq!(new.bytes("k").len(), 1);
        old = new;
    }
}

#[test]
fn without_an_association_nothing_goes_through() {
    for class in ["IPsecESPEncap", "IPsecESPUnencap", "IPsecAES(1)", "IPsecDES(0)", "IPsecAuthHMACSHA1(0)"] {
        let mut t = Harness::new(&format!("s :: Source -> e :: {class} -> k :: Sink"));
        // References that lead nowhere, to an element that holds none, and beyond all elements.
        for holder in [0u32, 1, 2, 99, u32::MAX] {
            let mut p = inner(8);
            p.set_anno_bytes(Anno::new(40, 8), &[holder.to_ne_bytes(), 7u32.to_ne_bytes()].concat());
            t.push("s", 0, [p]);
        }
        assert_eq!(t.read("e.drop_reasons"), "5\tno security association\n", "{class}");
    }
}

#[test]
fn a_plain_digest_tells_damage() {
    let mut t = Harness::new(
        "s :: Source -> IPsecAuthSHA1(0) -> k :: Sink; r :: Source -> v :: IPsecAuthSHA1(VERIFY 1) -> ok :: Sink",
    );
    t.push("s", 0, [Packet::new(b"abc")]);
    let sent = t.bytes("k").remove(0);
    // FIPS 180-4: the digest of "abc".
    assert_eq!(sent, [b"abc".to_vec(), bytes("a9993e364706816aba3e25717850c26c")[..12].to_vec()].concat());
    t.push("r", 0, [Packet::new(&sent), Packet::new(&sent[1..]), Packet::new(b"short")]);
    assert_eq!((t.bytes("ok"), t.read("v.drops")), (vec![b"abc".to_vec()], "2".into()));
    assert_eq!(t.printed(), "Invalid SHA1 authentication digest\n");
}

#[test]
fn wrong_padding_is_dropped() {
    let config = format!(
        "s :: Source -> r :: RadixIPsecLookup(0/0 1 234 {KEY} {AUTH} 1 32) -> Sink; r [1] -> u :: IPsecESPUnencap -> k :: Sink"
    );
    let mut t = Harness::new(&config);
    let packet = |number: u8, rest: &str| {
        let mut header = vec![0; 16];
        header[7] = number;
        Packet::new(&[header, bytes(rest)].concat())
    };
    t.push("s", 0, [packet(1, "aa 010202 04"), packet(2, "aa 0102 0304"), packet(3, "aa"), packet(4, "")]);
    t.push("s", 0, [packet(5, "aa bb 0004"), packet(6, "cc 01 02 02 04"), packet(7, "cc 03 02 02 04")]);
    assert_eq!(t.bytes("k"), [bytes("aa"), bytes("aabb"), bytes("cc")]);
    assert_eq!(t.read("u.drop_reasons"), "4\tpadding\n");
    assert_eq!(t.printed(), format!("{}Corrupt padding\n", "Invalid padding length\n".repeat(3)));
}
