//! The packets of `clickwork demo`, as another program reads them.

use crate::common::Scratch;
use std::path::Path;
use std::process::Command;

/// What tshark selects, and how many of the packets those are, in both captures together.
const EXPECTED: [(&str, usize); 5] = [
    ("arp.opcode == 1", 3),
    ("ip.checksum.status == 0", 2),
    ("tcp && tcp.checksum.status == 1", 10),
    ("icmp.type == 8", 5),
    ("ip.opt.type.number == 4", 3),
];

pub fn tshark_reads_the_packets_as_intended() {
    clickwork_oracles::program("tshark");
    let dir = Scratch::new("demo-tshark");
    dir.clickwork().args(["demo", "-o", "."]).assert().success();
    for (filter, expected) in EXPECTED {
        let found: usize =
            ["in0.pcap", "in1.pcap"].map(|file| selected(&dir.path(file), filter)).iter().sum();
        assert_eq!(found, expected, "{filter}");
    }
}

fn selected(file: &Path, filter: &str) -> usize {
    let checks = [
        "ip.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
        "tcp.check_checksum:TRUE",
        "ip.defragment:FALSE",
    ];
    let mut command = Command::new("tshark");
    command.args(checks.iter().flat_map(|check| ["-o", check]));
    let output = command.arg("-r").arg(file).args(["-Y", filter]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().count()
}
