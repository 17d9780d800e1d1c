//! Pipes whose other end stands still: packets go on, and nothing is lost without being counted.
#![allow(missing_docs)]

mod common;

use common::Scratch;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A named pipe in a folder.
fn pipe(dir: &Scratch, name: &str) -> PathBuf {
    let path = dir.path(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    path
}

/// Opens a named pipe at both ends, so that neither open waits and no end is closed.
fn hold(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

fn start(config: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
    command.args(["run", "--quiet", "-e", config]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a program that ends by itself writes to standard output and error.
fn end(mut child: Child) -> (String, String) {
    let give_up = Instant::now() + Duration::from_secs(600);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > give_up {
            let _ = child.kill();
            panic!("the router stands still");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut texts = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut texts.0).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut texts.1).unwrap();
    texts
}

/// Other packets of a router, which goes on until they have passed and `counter` has counted `count`.
fn others(interval: &str, limit: u32, counter: &str, count: u32) -> String {
    format!(
        "TimedSource({interval}, LIMIT {limit}) -> others :: Counter -> Discard;
         Script(wait 10ms, goto begin $(lt $(others.count) {limit}), goto begin $(lt $({counter}.count) {count}), stop)"
    )
}

/// The beginning of a pcap file, and a record with some bytes.
const PCAP: [u8; 24] = {
    let mut header = [0; 24];
    (header[0], header[1], header[2], header[3]) = (0xd4, 0xc3, 0xb2, 0xa1);
    (header[4], header[6], header[18], header[20]) = (2, 4, 4, 1);
    header
};

fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_le_bytes();
    [&[1, 0, 0, 0, 0, 0, 0, 0][..], &length, &length, data].concat()
}

#[test]
fn packets_go_on_while_a_file_to_read_stands_still() {
    let dir = Scratch::new("stalls-read");
    let netflow = "10.0.0.1|10.0.0.2|0.0.0.0|7|300|4|400|100|106|80|4000|0|18|6|16|0|0\n";
    let half_a_record = &record(b"what is cut in two")[..20];
    let begun = [&PCAP[..], &record(b"whole"), half_a_record].concat();
    let cases: [(&str, &str, Vec<u8>, &str); 3] = [
        ("capture", "FromDump", begun, "1"),
        ("summary", "FromIPSummaryDump", b"!IPSummaryDump 1.3\n!data ip_src\n1.2.3.4\n5.6.7".to_vec(), "1"),
        ("netflow", "FromNetFlowSummaryDump", format!("{netflow}{netflow}10.0.0.1|10").into_bytes(), "2"),
    ];
    for (name, class, begun, count) in cases {
        let path = pipe(&dir, name);
        let mut held = hold(&path);
        held.write_all(&begun).unwrap();
        let passed = others("0.001", 300, "c", count.parse().unwrap());
        let config = format!("{class}({}) -> c :: Counter -> Discard; {passed}", path.display());
        let (said, complaints) = end(start(&config, &["-h", "c.count", "-h", "others.count"]));
        assert_eq!(said, format!("c.count:\n{count}\n\nothers.count:\n300\n\n"), "{class}: {complaints}");
        // Pulled, too.
        let passed = others("0.001", 300, "others", 300);
        let config = format!("{class}({}) -> Unqueue -> Discard; {passed}", path.display());
        held.write_all(&begun).unwrap();
        let (said, complaints) = end(start(&config, &["-h", "others.count"]));
        assert_eq!(said, "300\n", "{class}: {complaints}");
    }
}

/// Starts a router that prints a line and is swapped for another configuration, which prints "swapped" after 100 packets of
/// its own; waits for that.
fn swapped(other: &str) -> Child {
    let say = "TimedSource(0.001) -> Counter(COUNT_CALL 100 say.run) -> Discard; \
               say :: Script(TYPE PASSIVE, print \"swapped\")";
    let config = format!(
        "TimedSource(0.001) -> Counter(COUNT_CALL 20 swap.run) -> Discard; \
         swap :: Script(TYPE PASSIVE, writeq hotconfig {})",
        quoted(&format!("{say}; {other}"))
    );
    let mut router = start(&config, &["-R"]);
    let mut output = router.stdout.take().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = [0; 8];
        let _ = tell.send(output.read_exact(&mut line).map(|()| (line, output)));
    });
    let Ok(Ok((line, output))) = told.recv_timeout(Duration::from_secs(600)) else {
        let _ = router.kill();
        let mut complaints = String::new();
        router.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        panic!("the router stands still: {other}: {complaints}");
    };
    assert_eq!(&line, b"swapped\n");
    router.stdout = Some(output);
    router
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$"))
}

#[test]
fn packets_go_on_before_a_file_to_read_has_a_writer() {
    let dir = Scratch::new("stalls-open-read");
    let netflow = "10.0.0.1|10.0.0.2|0.0.0.0|7|300|4|400|100|106|80|4000|0|18|6|16|0|0\n";
    let cases: [(&str, &str, Vec<u8>); 3] = [
        ("FromDump", "FORCE_IP false", [&PCAP[..], &record(b"one"), &record(b"two")].concat()),
        (
            "FromIPSummaryDump",
            "CHECKSUM true",
            b"!IPSummaryDump 1.3\n!data ip_src\n1.2.3.4\n5.6.7.8\n".to_vec(),
        ),
        ("FromNetFlowSummaryDump", "LINK both", netflow.repeat(2).into_bytes()),
    ];
    for (class, argument, file) in cases {
        let path = pipe(&dir, class);
        let other =
            format!("FromDump({}, {argument}) -> c :: Counter(COUNT_CALL 2 stop) -> Discard", path.display());
        let router = swapped(&other.replace("FromDump", class));
        let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
        // Piece by piece, the header too.
        for piece in file.chunks(7) {
            writer.write_all(piece).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        let (_, complaints) = end(router);
        assert!(
            complaints.starts_with("note: new configuration") && complaints.lines().count() == 1,
            "{complaints}"
        );
    }
}

#[test]
fn a_bad_header_that_comes_late_ends_its_source() {
    let dir = Scratch::new("stalls-bad-header");
    let radio = [&PCAP[..20], &[127, 0, 0, 0][..]].concat();
    let cases = [
        (b"this is no capture file".to_vec(), "not a tcpdump file (too short)"),
        (b"BZh91AY&SY....".to_vec(), "bzip2-compressed"),
        (radio[..10].to_vec(), "not a tcpdump file (too short)"),
        (radio.iter().map(|b| if *b == 127 { 201 } else { *b }).collect(), "unknown linktype 201"),
    ];
    for (n, (header, message)) in cases.into_iter().enumerate() {
        let path = pipe(&dir, &n.to_string());
        let router =
            swapped(&format!("f :: FromDump({}, STOP true, FORCE_IP true) -> Discard", path.display()));
        std::fs::write(&path, &header).unwrap();
        let (_, complaints) = end(router);
        let place = format!("f: {}: {message}", path.display());
        assert!(complaints.contains(&place), "{complaints}");
    }
}

/// What a new router reads of a pipe would be lost to the one that it does not replace in the end.
#[test]
fn a_pipe_is_read_on_by_the_router_that_comes() {
    let dir = Scratch::new("stalls-read-on");
    let path = pipe(&dir, "pipe");
    let mut held = hold(&path);
    held.write_all(&[&PCAP[..], &record(b"one")].concat()).unwrap();
    let new = format!("f :: FromDump({}) -> c :: Counter(COUNT_CALL 3 stop) -> Discard", path.display());
    let wrong = format!("{new}; Queue(x) -> Discard");
    let config = format!(
        "f :: FromDump({}) -> c :: Counter(COUNT_CALL 1 swap.run) -> Discard; \
         swap :: Script(TYPE PASSIVE, print \"one\", writeq hotconfig {}, writeq hotconfig {})",
        path.display(),
        quoted(&wrong),
        quoted(&new)
    );
    let mut router = start(&config, &["-R", "-h", "c.count"]);
    let mut said = [0; 4];
    router.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    held.write_all(&[record(b"two"), record(b"three")].concat()).unwrap();
    let (said, complaints) = end(router);
    assert_eq!(said, "3\n", "{complaints}");
}

#[test]
fn a_record_that_comes_in_pieces_is_read_whole() {
    let dir = Scratch::new("stalls-pieces");
    let path = pipe(&dir, "pieces");
    let mut held = hold(&path);
    let file = [&PCAP[..], &record(b"one"), &record(&[b'x'; 9000]), &record(b"three")].concat();
    held.write_all(&file[..30]).unwrap();
    let config = format!(
        "FromDump({}) -> c :: Counter(COUNT_CALL 3 stop) -> Discard; TimedSource(0.001) -> Discard",
        path.display()
    );
    let router = start(&config, &["-h", "c.count", "-h", "c.byte_count"]);
    for piece in file[30..].chunks(1000) {
        std::thread::sleep(Duration::from_millis(3));
        held.write_all(piece).unwrap();
    }
    let (said, complaints) = end(router);
    assert_eq!(said, "c.count:\n3\n\nc.byte_count:\n9008\n\n", "{complaints}");
}

/// A source that makes more than any pipe and buffer take.
const FLOOD: &str = "RatedSource(LENGTH 1000, RATE 20000, LIMIT 4000)";

#[test]
fn packets_go_on_while_nobody_reads_what_is_written() {
    let dir = Scratch::new("stalls-write");
    let others = others("0.01", 400, "f", 4000);
    for class in ["ToDump({}, SNAPLEN 0)", "ToIPSummaryDump({}, CONTENTS payload, HEADER false)"] {
        let path = pipe(&dir, &class[..6]);
        let _held = hold(&path);
        let written = class.replace("{}", path.to_str().unwrap());
        // Pushed: what there is no room for is dropped and counted.
        let config = format!("{FLOOD} -> f :: Counter -> d :: {written}; {others}");
        let handlers = ["-h", "others.count", "-h", "f.count", "-h", "d.lost"];
        let (said, complaints) = end(start(&config, &handlers));
        let numbers: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
        assert!(numbers[..2] == [400, 4000] && numbers[2] > 1000, "{class}: {said}{complaints}");
        assert!(complaints.contains("nobody reads the pipe; packets are not written"), "{complaints}");
        // Pulled: they stay where they are.
        let config = format!("{FLOOD} -> f :: Counter -> q :: Queue(5000) -> {written}; {others}");
        let (said, complaints) = end(start(&config, &["-h", "others.count", "-h", "q.length"]));
        let numbers: Vec<u64> = said.lines().filter_map(|line| line.parse().ok()).collect();
        assert!(numbers[0] == 400 && numbers[1] > 1000, "{class}: {said}{complaints}");
    }
}

#[test]
fn packets_go_on_before_a_file_to_write_has_a_reader() {
    let dir = Scratch::new("stalls-open-write");
    let cases = [
        ("ToDump({})", "abcd"),
        ("ToIPSummaryDump({}, CONTENTS payload, HEADER false)", "abcd"),
        ("MarkIPHeader -> IPPrint(x, OUTFILE {})", "truncated-ip"),
    ];
    for (class, packet) in cases {
        let path = pipe(&dir, &class[..5]);
        let may_end = dir.write("may_end", "no");
        let other = format!(
            "TimedSource(0.001, abcd, LIMIT 3) -> p :: {} -> c :: Counter -> Discard; Idle -> d :: Discard; \
             Script(wait 10ms, goto begin $(ne $(catq {}) yes), goto begin $(lt $(c.count) 3), stop)",
            class.replace("{}", path.to_str().unwrap()),
            may_end.display()
        );
        let router = swapped(&other);
        // This waits until the router has opened the other end.
        let mut reader = File::open(&path).unwrap();
        std::fs::rename(dir.write("yes", "yes"), &may_end).unwrap();
        let mut written = Vec::new();
        reader.read_to_end(&mut written).unwrap();
        let (_, complaints) = end(router);
        let written = String::from_utf8_lossy(&written);
        assert_eq!(written.matches(packet).count(), 3, "{class}: {complaints}{written}");
    }
}

#[test]
fn packets_go_on_while_nobody_reads_what_is_printed() {
    let others = others("0.01", 400, "f", 4000);
    let config = format!("{FLOOD} -> Print(x, -1) -> f :: Counter -> Discard; {others}");
    let mut router = start(&config, &["-h", "others.count", "-h", "f.count"]);
    // Standard error is read only in the end, when both counts have been printed.
    let mut said = String::new();
    router.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "others.count:\n400\n\nf.count:\n4000\n\n");
    let mut complaints = String::new();
    router.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert!(complaints.starts_with("x: 1000 | "), "{}", &complaints[..100]);
    assert!(router.wait().unwrap().success());
}

/// A reader that falls behind, or stops for a while, gets everything that came from a file.
#[test]
fn a_pipeline_loses_nothing() {
    let dir = Scratch::new("stalls-pipeline");
    let all: Vec<u8> = (0..4000u32).flat_map(|n| record(&n.to_be_bytes().repeat(200))).collect();
    let capture = dir.path("all.pcap");
    std::fs::write(&capture, [&PCAP[..], &all].concat()).unwrap();
    let config = format!("FromDump({}, STOP true) -> ToDump(-, SNAPLEN 0, NANO false)", capture.display());
    let mut router = start(&config, &[]);
    let mut read = vec![0; 100_000];
    let mut output = router.stdout.take().unwrap();
    output.read_exact(&mut read).unwrap();
    // Longer than the router waits for a reader that does nothing.
    std::thread::sleep(Duration::from_millis(1500));
    output.read_to_end(&mut read).unwrap();
    assert!(read[24..] == all[..], "{} of {} bytes", read.len() - 24, all.len());
    assert!(router.wait().unwrap().success());
}
