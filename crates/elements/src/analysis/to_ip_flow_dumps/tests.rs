//! ToIPFlowDumps through configurations.

use super::super::samples::{at, tcp, udp};
use crate::ip::samples::ip;
use crate::testing::Harness;
use std::path::PathBuf;

const A: (&str, u16) = ("10.0.0.1", 1000);
const B: (&str, u16) = ("10.0.0.2", 80);

/// A folder of the test's own.
fn folder(test: &str) -> PathBuf {
    let path = clickwork_oracles::unused(&format!("clickwork-flow-dumps-{test}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn dumps(args: &str) -> Harness {
    Harness::new(&format!(
        "s :: Source -> f :: AggregateIPFlows(ICMP true, UDP_TIMEOUT 1) -> d :: ToIPFlowDumps({args}) -> k :: Sink"
    ))
}

#[test]
fn each_flow_has_a_file() {
    let folder = folder("files");
    let mut t = dumps(&format!("{}/sub/%03n-%p", folder.display()));
    t.push("s", 0, [tcp(A, B, 2, 1000), udp(A, B, 1001), tcp(B, A, 0x12, 1500), tcp(A, B, 0x18, 1600)]);
    assert_eq!(t.take("k").len(), 4);
    t.router.cleanup();
    let read = |name: &str| std::fs::read_to_string(folder.join("sub").join(name)).unwrap();
    assert_eq!(
        read("001-T"),
        "!IPSummaryDump 1.3\n!flowid 10.0.0.1 1000 10.0.0.2 80 T\n!aggregate 1\n\
         !data ntimestamp direction tcp_flags tcp_seq payload_len tcp_ack tcp_ntopt\n\
         !firstseq > 100\n!firstseq < 100\n!firsttime 0.999999999\n\
         0.000000001 > S 0 4 0\n0.500000001 < SA 0 4 100\n0.600000001 > PA 0 4 100\n"
    );
    assert_eq!(
        read("002-U"),
        "!IPSummaryDump 1.3\n!flowid 10.0.0.1 1000 10.0.0.2 80 U\n!aggregate 2\n!data ntimestamp direction payload_len\n\
         !firsttime 1.000999999\n0.000000001 > 4\n"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn styles() {
    let mut t = dumps(
        "%n, ABSOLUTE_TIME true, ABSOLUTE_SEQ true, ALL_TCP_OPT true, TCP_WINDOW true, IP_ID true, OUTPUT_PATTERN -",
    );
    let options = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1, 5, 10, 0, 0, 0, 7, 0, 0, 0, 9];
    let mut payload = tcp(A, B, 0x10, 0).data()[20..40].to_vec();
    payload[12] = 0xb0;
    payload.extend(options);
    t.push("s", 0, [at(&ip(A.0, B.0).payload(6, &payload), 1500)]);
    t.router.cleanup();
    assert_eq!(
        t.output(),
        "!IPSummaryDump 1.3\n!flowid 10.0.0.1 1000 10.0.0.2 80 T\n!aggregate 1\n\
         !data ntimestamp direction ip_id tcp_flags tcp_seq payload_len tcp_ack tcp_window tcp_opt\n\
         1.500000 > 0 A 100 0 200 256 ts5:6;sack7-9\n"
    );
}

#[test]
fn binary_dumps_read_back() {
    let folder = folder("binary");
    let name = folder.join("1");
    let mut t = dumps(&format!("{}/%n, BINARY true, TCP_OPT true, IP_ID true", folder.display()));
    t.push("s", 0, (0..300).map(|n| tcp(A, B, 0x10, 1000 + n)));
    t.router.cleanup();
    let mut back = Harness::new(&format!(
        "FromIPSummaryDump({}) -> ToIPSummaryDump({}/back, FIELDS timestamp src sport dst dport proto tcp_seq payload_len \
         aggregate, HEADER false) -> k :: Sink",
        name.display(),
        folder.display()
    ));
    back.run();
    back.router.cleanup();
    assert_eq!(back.printed(), "");
    let lines = std::fs::read_to_string(folder.join("back")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let expected = |n| format!("0.{n:03}000001 10.0.0.1 1000 10.0.0.2 80 T 0 4 1");
    assert_eq!(lines.lines().collect::<Vec<_>>(), (0..300).map(expected).collect::<Vec<_>>());
}

#[test]
fn icmp_errors_are_noted_and_small_flows_left_out() {
    let mut t = dumps("-, MINCOUNT 2");
    let mut error = vec![3, 1, 0, 0, 0, 0, 0, 0];
    error.extend(&udp(A, B, 0).data()[..28]);
    t.push(
        "s",
        0,
        [udp(A, B, 1000), at(&ip("9.9.9.9", A.0).payload(1, &error), 1100), udp(B, ("1.1.1.1", 1), 1200)],
    );
    t.write("d.clear").unwrap();
    let text = t.output();
    assert!(text.ends_with("0.000000001 > 4\n#1.100000 < ICMP_error\n"), "{text}");
    assert_eq!(text.matches("!flowid").count(), 1);
}

#[test]
fn flows_that_are_over_are_written_soon_and_compressed() {
    let folder = folder("gzip");
    let mut t = dumps(&format!("{}/%n, NOTIFIER f, GZIP true", folder.display()));
    t.push("s", 0, [udp(A, B, 1000), udp(A, B, 9000)]);
    t.run();
    assert!(folder.join("1.gz").exists() && !folder.join("1").exists() && !folder.join("2").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn floods_of_flows_are_refused() {
    let mut t = dumps("-, CAPACITY 10");
    t.push("s", 0, (0..50).map(|n| udp(("1.1.1.1", n), B, 1000)));
    assert_eq!(t.read("d.refused"), "40");
    t.router.cleanup();
    assert_eq!(t.output().matches("!flowid").count(), 10);
}
