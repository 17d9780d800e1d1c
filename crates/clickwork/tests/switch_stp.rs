//! `examples/switch-stp.click` in simulated time: captures in the place of interfaces, and bridges that only these tests know.
//! What it does among real bridges is tested in `crates/elements/tests/live`.

#[path = "common/captures.rs"]
mod captures;
mod common;
#[allow(dead_code)]
#[path = "../src/demo/frame.rs"]
mod frame;

use captures::{read_capture, write_timed};
use common::Scratch;
use std::path::Path;

/// A frame, and the millisecond at which it comes.
type Timed = (u64, Vec<u8>);

/// A configuration message, made of bytes: `root` and `bridge` are the last bytes of addresses, of priority 0x1000.
fn message(root: u8, cost: u8, bridge: u8, port: u8) -> Vec<u8> {
    let id = |n: u8| [0x10, 0, 2, 0, 0, 0, 0, n];
    let ethernet =
        [&[0x01, 0x80, 0xC2, 0, 0, 0][..], &[2, 0, 0, 0, 1, bridge], &[0, 38, 0x42, 0x42, 3]].concat();
    let vector = [&[0, 0, 0, 0, 0][..], &id(root), &[0, 0, 0, cost], &id(bridge), &[0x80, port]].concat();
    [ethernet, vector, vec![0, 0, 20, 0, 2, 0, 15, 0], vec![0; 8]].concat()
}

fn is_message(frame: &[u8]) -> bool {
    frame[..6] == [0x01, 0x80, 0xC2, 0, 0, 0]
}

fn every(step: u64, until: u64, frame: &[u8]) -> Vec<Timed> {
    (0..until / step).map(|n| (n * step, frame.to_vec())).collect()
}

/// Two ways to the root, at ports 0 and 1; a host at port 2 broadcasts all the time. After a minute the first way breaks.
#[test]
fn the_second_way_to_the_root_comes_in_when_the_first_breaks() {
    let dir = Scratch::new("switch-stp");
    let broadcast = [&[0xFF; 6][..], &[2, 0, 0, 0, 9, 9], b"\x08\x00 to everybody"].concat();
    write_timed(&dir.path("in-p0.pcap"), &every(2000, 60_000, &message(1, 0, 1, 1)));
    write_timed(&dir.path("in-p1.pcap"), &every(2000, 130_000, &message(1, 4, 2, 1)));
    write_timed(&dir.path("in-p2.pcap"), &every(500, 130_000, &broadcast));
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/switch-stp.click");
    let mut config = std::fs::read_to_string(example).unwrap();
    for (part, by) in [
        (
            "FromDevice($device, PROMISC true, SNIFFER false)",
            "FromDump(in-${device}.pcap, TIMING true, STOP true)",
        ),
        ("ToDevice($device)", "SetTimestamp -> ToDump(out-${device}.pcap)"),
    ] {
        assert!(config.contains(part), "'{part}' is not in the example");
        config = config.replace(part, by);
    }
    dir.write("switch.click", &(config + "DriverManager(wait_stop 3, wait 10ms, stop);"));
    let devices = ["DEV0=p0", "DEV1=p1", "DEV2=p2"];
    let handlers = ["tree.root", "tree.root_port", "tree.root_cost"].map(|h| ["-h", h]).concat();
    let run = dir.clickwork().args(["run", "--simtime", "switch.click"]).args(devices).args(handlers);
    let printed = String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap();
    assert_eq!(printed, "tree.root:\n1000.020000000001\n\ntree.root_port:\n1\n\ntree.root_cost:\n8\n\n");

    let out = ["p0", "p1", "p2"].map(|port| read_capture(&dir.path(&format!("out-{port}.pcap"))));
    let begin = out.iter().flatten().map(|(time, _)| *time).min().unwrap();
    let seconds = |port: usize, wanted: fn(&[u8]) -> bool| {
        let times = out[port]
            .iter()
            .filter(|(_, frame)| wanted(frame))
            .map(|(time, _)| (time - begin) / 1_000_000_000);
        times.collect::<Vec<u64>>()
    };
    // After listening and learning.
    let first = seconds(0, |frame| !is_message(frame));
    assert!((29..=31).contains(&first[0]) && first.len() >= 190, "{first:?}");
    // When the root's word by port 0 is twenty seconds old, port 1 sets out, and forwards thirty seconds later.
    let second = seconds(1, |frame| !is_message(frame));
    assert!((106..=110).contains(&second[0]) && second.len() >= 38, "{second:?}");
    // To the host's network we speak for the root, with every word of its.
    let to_host = seconds(2, is_message);
    assert!((50..=62).contains(&to_host.len()), "{to_host:?}");
    let spoken = seconds(0, is_message);
    let told = seconds(0, |frame| is_message(frame) && frame[20] == 0x80);
    // Nobody acknowledges that the ports have come in, so it is told again and again.
    assert!(told.iter().filter(|second| (29..60).contains(*second)).count() >= 14, "{told:?}");
    assert_eq!(
        spoken.iter().filter(|second| (3..60).contains(*second)).count(),
        told.iter().filter(|s| **s < 60).count()
    );
}
