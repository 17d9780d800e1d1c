//! What another implementation reads in packets compressed for PPP: tshark's dissector. It knows the kinds of packets, whole
//! headers with UDP, the contexts of packets without TCP, and requests.

use super::samples::{Talker, datagram};
use crate::capture::linktype::LinkType;
use crate::capture::writer::{Options, Writer};
use crate::testing::Harness;
use clickwork_packet::Packet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A capture file that goes away.
struct Capture(PathBuf);

impl Capture {
    fn of(frames: &[Vec<u8>]) -> Capture {
        let file = std::env::temp_dir().join(format!("clickwork-compression-{}.pcap", std::process::id()));
        let options = Options { link_type: LinkType::PPP, ..Options::default() };
        let mut writer = Writer::create(file.to_str().expect("a plain name"), options).unwrap();
        for (frame, number) in frames.iter().zip(1u64..) {
            writer.write_packet(number * 1_000_000_000, frame.len() as u32, frame).unwrap();
        }
        writer.finish().unwrap();
        Capture(file)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One line for each frame: the fields, separated by '|'.
fn dissected(file: &Path, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-T", "fields", "-E", "separator=|", "-r"]).arg(file);
    let output = command.args(fields.iter().flat_map(|f| ["-e", f])).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().map(str::to_string).collect())
}

#[test]
fn another_implementation_reads_whole_headers_and_requests() {
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
    let capture = Capture::of(&wire);
    let fields =
        ["ppp.protocol", "crtp.cid", "crtp.gen", "ip.len", "ip.ttl", "udp.dstport", "udp.length", "crtp.cnt"];
    let Some(lines) = dissected(&capture.0, &fields) else {
        eprintln!("skipped: `tshark` is not installed");
        return;
    };
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
