//! What tshark reads in the ICMP messages that the elements write.

use crate::dissect::dissected;
use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;

/// What all messages have. A good checksum is 1.
const COMMON: [&str; 7] =
    ["ip.id", "ip.ttl", "ip.checksum.status", "icmp.type", "icmp.code", "icmp.checksum.status", "icmp.ident"];
const CHECKS: [&str; 1] = ["ip.check_checksum:TRUE"];

pub fn encapsulated_messages_are_understood() {
    let names =
        ["echo", "echo-reply", "timestamp", "timestamp-reply", "inforeq", "inforeq-reply", "maskreq", "4"];
    let mut frames = Vec::new();
    for name in names {
        let mut t = Harness::new(&format!(
            "s :: Source -> ICMPIPEncap(1.0.0.1, 2.0.0.2, {name}, IDENTIFIER 7) -> k :: Sink"
        ));
        t.push("s", 0, [Packet::new(b"")]);
        frames.extend(t.bytes("k"));
    }
    let mut t = Harness::new("s :: Source -> ICMPPingEncap(1.0.0.1, 2.0.0.2, IDENTIFIER 7) -> k :: Sink");
    t.push("s", 0, [Packet::new(b"abc")]);
    frames.extend(t.bytes("k"));
    let fields = [&COMMON[..], &["icmp.seq", "ip.len"]].concat();
    let lines = dissected(LinkType::IP, &frames, &fields, &CHECKS);
    let expected = [
        "8|0|1|7|1|28",
        "0|0|1|7|1|28",
        "13|0|1|7|1|40",
        "14|0|1|7|1|40",
        "15|0|1|7|1|28",
        "16|0|1|7|1|28",
        // Click gives address mask messages no identifier.
        "17|0|1|0|0|28",
        "4|0|1|||28",
        "8|0|1|7|1|31",
    ];
    assert_eq!(lines, expected.map(|rest| format!("0x0001|255|1|{rest}")));
}
