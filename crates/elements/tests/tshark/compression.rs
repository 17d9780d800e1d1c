//! What tshark reads in packets compressed for PPP. It knows the kinds of packets, whole
//! headers with UDP, the contexts of packets without TCP, and requests.

use crate::compression_samples::{Talker, datagram};
use crate::dissect::dissected;
use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;

pub fn tshark_reads_whole_headers_and_requests() {
    let mut t = Harness::new(
        "s :: Source -> CompressIP(FRAMING PPP) -> wire :: Sink; \
         r :: Source -> d :: DecompressIP(FRAMING PPP) -> Discard; d [1] -> back :: Sink",
    );
    let mut talker = Talker::new(1);
    let first: Vec<_> = (0..3).map(|n| datagram(n, 64, 0x1234, 30)).collect();
    let changed = datagram(3, 63, 0x1234, 30);
    let tcp = [talker.say(3), talker.say(3)];
    t.push("s", 0, first.iter().chain([&changed]).chain(&tcp).map(|p| Packet::new(p)));
    let mut wire = t.bytes("wire");
    t.push("r", 0, [Packet::new(&wire[5])]);
    wire.extend(t.bytes("back"));
    let fields =
        ["ppp.protocol", "crtp.cid", "crtp.gen", "ip.len", "ip.ttl", "udp.dstport", "udp.length", "crtp.cnt"];
    let lines = dissected(LinkType::PPP, &wire, &fields, &[]);
    let cid = wire[0][5];
    let expected = [
        format!("0x0061|{cid}|0|58|64|5006|38|"),
        format!("0x0065|{cid}|0|||||"),
        format!("0x0061|{cid}|0|58|64|5006|38|"),
        format!("0x0061|{cid}|1|58|63|5006|38|"),
        // Of whole headers with TCP it reads the first octet only, as if it were a generation.
        "0x0061|".to_string(),
        "0x0063|||||||".to_string(),
        "0x2065|".to_string(),
    ];
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.iter().zip(&expected) {
        assert!(line.starts_with(expected), "{line} is not {expected}");
    }
    assert!(lines[6].ends_with("|1"), "a request for one context: {}", lines[6]);
}
