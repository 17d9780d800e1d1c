//! The elements in a router.

use super::linktype::LinkType;
use super::reader::Reader;
use super::writer::{Options, Writer};
use crate::testing::Harness;
use clickwork_packet::{Packet, anno};
use clickwork_router::Outcome;
use std::path::PathBuf;

/// A folder for one test's files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = clickwork_oracles::unused(&format!("clickwork-{test}"));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// A capture with one packet a second from time 1000 on, each with its number as its bytes.
    fn capture(&self, name: &str, link_type: LinkType, packets: u8) -> String {
        let path = self.path(name);
        let options = Options { link_type, snaplen: u32::MAX, ..Options::default() };
        let mut writer = Writer::create(&path, options).unwrap();
        for n in 0..packets {
            writer.write_packet((1000 + u64::from(n)) * 1_000_000_000, 60, &[n; 20]).unwrap();
        }
        writer.finish().unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Timestamp in seconds, length on the wire, first byte.
fn contents(path: &str) -> Vec<(u64, u32, u8)> {
    let mut reader = Reader::open(path).unwrap();
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        found.push((record.timestamp / 1_000_000_000, record.original_length, record.data[0]));
    }
    found
}

#[test]
fn packets_pass_from_file_to_file() {
    let folder = Folder::new("pass");
    let from = folder.capture("in.pcap", LinkType::ETHER, 100);
    for (middle, to) in [("", "a.pcap"), ("-> Queue", "b.pcapng"), ("-> Queue -> Unqueue", "c.pcap.gz")] {
        for batched in [false, true] {
            let to = folder.path(to);
            let config = format!("FromDump({from}, STOP true) {middle} -> c :: Counter -> d :: ToDump({to})");
            if middle.contains("Unqueue") && crate::registry().get("Unqueue").is_none() {
                continue;
            }
            let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
            t.run();
            t.run();
            assert_eq!(t.printed(), "");
            let queued = if middle.is_empty() { 0 } else { 1 };
            assert!(t.read("c.count") == "100" || queued == 1);
            assert_eq!(t.read("d.filename"), to);
            t.router.cleanup();
            let written = contents(&to);
            assert!(written.iter().enumerate().all(|(n, packet)| *packet == (1000 + n as u64, 60, n as u8)));
            assert_eq!(written.len().to_string(), t.read("d.count"));
        }
    }
}

#[test]
fn a_window_of_time() {
    let folder = Folder::new("window");
    let from = folder.capture("in.pcap", LinkType::ETHER, 10);
    let cases = [
        ("START 1003, END 1008", 3..8),
        ("START_AFTER 3, END_AFTER 5", 3..5),
        ("START 1002, INTERVAL 2", 2..4),
        ("INTERVAL 4", 0..4),
        ("END 1", 0..0),
        ("START 1009", 9..10),
    ];
    for (window, expected) in cases {
        let mut t = Harness::new(&format!("f :: FromDump({from}, STOP true, {window}) -> k :: Sink"));
        t.run();
        let got: Vec<u8> = t.bytes("k").iter().map(|bytes| bytes[0]).collect();
        assert_eq!(got, expected.collect::<Vec<u8>>(), "{window}");
    }
}

#[test]
fn the_window_can_be_extended() {
    let folder = Folder::new("extend");
    let from = folder.capture("in.pcap", LinkType::ETHER, 10);
    let mut t = Harness::new(&format!("f :: FromDump({from}, END_AFTER 3) -> k :: Sink"));
    assert_eq!([t.read("f.filepos"), t.read("f.packet_filepos")], ["24", "0"]);
    t.run();
    assert_eq!((t.take("k").len(), t.read("f.active"), t.read("f.count")), (3, "false".into(), "3".into()));
    t.write("f.extend_interval 4").unwrap();
    t.run();
    // The packet at which it ceased is not emitted.
    let numbers: Vec<u8> = t.bytes("k").iter().map(|bytes| bytes[0]).collect();
    assert_eq!((numbers, t.read("f.count")), (vec![4, 5, 6], "6".into()));
    t.write("f.filepos 24").unwrap();
    t.write("f.reset_counts").unwrap();
    t.write("f.active true").unwrap();
    t.run();
    assert_eq!(t.bytes("k")[0][0], 0);
}

#[test]
fn packets_keep_their_distance_with_timing() {
    let folder = Folder::new("timing");
    let from = folder.capture("in.pcap", LinkType::ETHER, 4);
    for sink in ["k :: Sink", "Queue -> k :: Sink"] {
        let mut t =
            Harness::new(&format!("f :: FromDump({from}, true, STOP true) -> c :: Counter -> {sink}"));
        let before = t.router.clock().peek();
        t.run();
        let passed = t.router.clock().peek() - before;
        assert_eq!((t.read("c.count"), passed.seconds()), ("4".into(), 3));
    }
}

#[test]
fn times_count_from_the_first_packet_of_the_file_also_if_that_is_not_emitted() {
    let folder = Folder::new("timing-start");
    let from = folder.capture("in.pcap", LinkType::ETHER, 4);
    let mut t = Harness::new(&format!("FromDump({from}, true, START_AFTER 2, STOP true) -> k :: Sink"));
    let before = t.router.clock().peek();
    t.run();
    assert_eq!((t.take("k").len(), (t.router.clock().peek() - before).seconds()), (2, 3));
}

#[test]
fn the_end_of_the_window_counts_as_the_end_of_the_file_too() {
    let folder = Folder::new("two-ends");
    let from = folder.capture("in.pcap", LinkType::ETHER, 4);
    let mut t = Harness::new(&format!(
        "FromDump({from}, END_AFTER 2, STOP true) -> c :: Counter -> Discard; \
         DriverManager(pause, print c.count, pause, print c.count, write c.reset, pause, print c.count)"
    ));
    t.run();
    assert_eq!(t.output(), "2\n2\n");
}

#[test]
fn only_ip_leaves_by_output_0_if_forced() {
    let folder = Folder::new("force");
    let path = folder.path("in.pcap");
    let mut writer = Writer::create(&path, Options::default()).unwrap();
    let mut ip = [0u8; 34];
    ip[12] = 8;
    ip[14] = 0x45;
    ip[30..34].copy_from_slice(&[1, 2, 3, 4]);
    writer.write_packet(0, 34, &ip).unwrap();
    writer.write_packet(0, 34, &[0; 34]).unwrap();
    writer.finish().unwrap();
    let mut t =
        Harness::new(&format!("f :: FromDump({path}, FORCE_IP true); f[0] -> a :: Sink; f[1] -> b :: Sink"));
    t.run();
    let packets = t.take("a");
    assert_eq!((packets.len(), t.take("b").len()), (1, 1));
    assert_eq!((packets[0].network_offset(), packets[0].dst_ip().octets()), (Some(14), [1, 2, 3, 4]));
}

#[test]
fn damage_is_told_after_the_packets_before_it() {
    let folder = Folder::new("damage");
    let path = folder.capture("in.pcap", LinkType::ETHER, 3);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let mut t = Harness::new(&format!("f :: FromDump({path}, STOP true) -> k :: Sink"));
    t.run();
    assert_eq!(t.take("k").len(), 2);
    let printed = t.printed();
    assert!(
        printed.starts_with(&format!("{path}: byte 96: the file ends inside a packet record")),
        "{printed}"
    );
}

#[test]
fn wrong_files_and_arguments_are_errors() {
    let folder = Folder::new("wrong");
    let from = folder.capture("in.pcap", LinkType(147), 1);
    let cases = [
        (
            "FromDump(/proc/nonexistent/x) -> Discard".to_owned(),
            "/proc/nonexistent/x: No such file or directory",
        ),
        (
            format!("FromDump({from}, FORCE_IP true) -> Discard"),
            "unknown linktype 147; can't force IP packets",
        ),
        (
            format!("FromDump({from}, START 1, START_AFTER 1) -> Discard"),
            "START and START_AFTER are mutually exclusive",
        ),
        (
            format!("FromDump({from}, STOP true, END_CALL a.b) -> Discard"),
            "END_CALL and STOP are mutually exclusive",
        ),
        ("Idle -> ToDump(/proc/nonexistent/x)".to_owned(), "/proc/nonexistent/x: No such file or directory"),
        (format!("Idle -> ToDump({from}, ENCAP BOGUS)"), "bad encapsulation type"),
        (
            format!("Idle -> ToDump({from}, USE_ENCAP_FROM i); i :: Idle -> Discard"),
            "'i' has no 'encap' read handler",
        ),
    ];
    for (config, message) in cases {
        let errors = Harness::errors(&config);
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn the_link_type_can_be_that_of_a_source() {
    let folder = Folder::new("encap");
    let from = folder.capture("in.pcap", LinkType(147), 1);
    let to = folder.path("out.pcap");
    let config = format!("f :: FromDump({from}) -> ToDump({to}, USE_ENCAP_FROM f)");
    let mut t = Harness::new(&config);
    assert_eq!(t.read("f.encap"), "#147");
    t.router.cleanup();
    assert_eq!(Reader::open(&to).unwrap().link_type(), Some(LinkType(147)));
}

#[test]
fn a_full_disk_is_told_once_and_packets_pass() {
    let folder = Folder::new("full");
    let from = folder.capture("in.pcap", LinkType::ETHER, 5);
    let config = format!("FromDump({from}) -> d :: ToDump(/dev/full, UNBUFFERED true) -> k :: Sink");
    let mut t = Harness::new(&config);
    t.run();
    assert_eq!((t.take("k").len(), t.read("d.count")), (5, "0".into()));
    assert_eq!(t.printed(), "ToDump(/dev/full): No space left on device\n");
}

const LINES: &str = "!IPSummaryDump 1.3\n\
                     !data timestamp ip_src sport ip_dst dport ip_proto ip_len\n\
                     1000.000000 10.0.0.1 1111 10.0.0.2 2222 U 41\n\
                     1001.000000 10.0.0.1 1111 10.0.0.2 80 T 40\n\
                     1002.500000 10.0.0.1 - 10.0.0.2 - I 36\n";

#[test]
fn a_summary_read_and_written_is_the_same() {
    let folder = Folder::new("summary");
    let (from, to) = (folder.path("in.txt"), folder.path("out.txt"));
    std::fs::write(&from, LINES).unwrap();
    for middle in ["", "-> Queue"] {
        for binary in [false, true] {
            let fields = "timestamp src sport dst dport proto len";
            let config = format!(
                "f :: FromIPSummaryDump({from}) {middle} -> ToIPSummaryDump({to}, FIELDS {fields}, BINARY {binary})"
            );
            let mut t = if binary { Harness::batched(&config) } else { Harness::new(&config) };
            t.run();
            t.router.cleanup();
            assert_eq!(t.printed(), "");
            if binary {
                let again = folder.path("again.txt");
                let mut t = Harness::new(&format!(
                    "FromIPSummaryDump({to}) -> ToIPSummaryDump({again}, FIELDS {fields})"
                ));
                t.run();
                t.router.cleanup();
                assert_eq!(std::fs::read_to_string(&again).unwrap(), LINES);
            } else {
                assert_eq!(std::fs::read_to_string(&to).unwrap(), LINES);
            }
        }
    }
}

/// Addresses and protocols in a dump can be the names that its router defines; a name that it does not is no address.
#[test]
fn columns_can_have_names_of_the_router() {
    let folder = Folder::new("names");
    let to = folder.path("out.txt");
    let data = "\"!proto udp\\n!data eth_dst ip_src ip_dst sport\\ngate gate 10.0.0.1 7\\nnobody nobody nobody 8\\n\"";
    let mut t = Harness::new(&format!(
        "AddressInfo(gate 10.0.0.9 2:0:0:0:0:9); FromIPSummaryDump(DATA {data}) \
         -> ToIPSummaryDump({to}, HEADER false, FIELDS eth_dst ip_src ip_dst sport ip_proto)"
    ));
    t.run();
    t.router.cleanup();
    let written = std::fs::read_to_string(&to).unwrap();
    assert_eq!(written, "02-00-00-00-00-09 10.0.0.9 10.0.0.1 7 U\n- 0.0.0.0 0.0.0.0 8 U\n");
}

#[test]
fn one_line_can_make_several_packets_and_back() {
    let folder = Folder::new("multi");
    let to = folder.path("out.txt");
    let data = "\"!data first_timestamp timestamp ip_proto ip_len count\\n1.0 4.0 U 140 4\\n\"";
    let fields = "timestamp ip_len udp_len";
    for (from_many, to_many) in [("true", "false"), ("false", "true")] {
        let config = format!(
            "FromIPSummaryDump(DATA {data}, MULTIPACKET {from_many}) -> ToIPSummaryDump({to}, FIELDS {fields}, MULTIPACKET {to_many})"
        );
        let mut t = Harness::new(&config);
        t.run();
        t.router.cleanup();
        let written = std::fs::read_to_string(&to).unwrap();
        let times: Vec<&str> = written.lines().skip(2).filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(times, ["1.000000", "2.000000", "3.000000", "4.000000"]);
        if from_many == "true" {
            assert!(written.ends_with("4.000000 35 15\n"), "{written}");
        }
    }
}

#[test]
fn packets_that_stand_for_several_share_the_extra_length_if_it_counts() {
    let folder = Folder::new("share");
    let to = folder.path("out.txt");
    for (counts, lines, left) in [("true", "20\n21\n", 11), ("false", "10\n10\n", 0)] {
        let mut t = Harness::new(&format!(
            "s :: Source -> ToIPSummaryDump({to}, FIELDS payload_len, HEADER false, MULTIPACKET true, \
             EXTRA_LENGTH {counts}) -> k :: Sink"
        ));
        let mut p = Packet::new(&[0; 10]);
        p.set_anno_u32(anno::EXTRA_PACKETS, 1);
        p.set_anno_u32(anno::EXTRA_LENGTH, 31);
        t.push("s", 0, [p]);
        assert_eq!(t.take("k")[0].anno_u32(anno::EXTRA_LENGTH), left);
        t.router.cleanup();
        assert_eq!(std::fs::read_to_string(&to).unwrap(), lines);
    }
}

#[test]
fn bad_packets_and_header_lines() {
    let folder = Folder::new("bad");
    let to = folder.path("out.txt");
    let config = format!(
        "s :: Source -> MarkNetwork -> ToIPSummaryDump({to}, FIELDS src, BAD_PACKETS true, BANNER me, VERBOSE true)"
    )
    .replace("-> MarkNetwork ", "");
    let mut t = Harness::new(&config);
    let mut p = clickwork_packet::Packet::new(&[0x65; 30]);
    p.set_network_header(0, 20);
    t.push("s", 0, [p]);
    t.write("ToIPSummaryDump@2.flush").unwrap();
    let written = std::fs::read_to_string(&to).unwrap();
    assert!(written.starts_with("!IPSummaryDump 1.3\n!creator \"me\"\n!host "), "{written}");
    assert!(written.contains("\n!runtime 1000000000.000000 (Sun Sep  9 01:46:40 2001)\n"), "{written}");
    assert!(written.ends_with("!data ip_src\n!bad IP version 6\n-\n"), "{written}");
}

/// The end of the file stops the driver, but the element stays active; only its handlers make it inactive.
#[test]
fn a_summary_that_ends_leaves_its_element_active() {
    let folder = Folder::new("active");
    let flows = folder.path("flows");
    std::fs::write(&flows, "").unwrap();
    for (source, inactive) in [
        ("FromIPSummaryDump(DATA \"!data ip_src\\n1.0.0.1\\n\", STOP true)".to_string(), "f.stop"),
        (format!("FromNetFlowSummaryDump({flows}, STOP true)"), "f.active false"),
    ] {
        for path in ["", "Unqueue ->"] {
            let mut t = Harness::new(&format!("f :: {source} -> {path} Discard"));
            assert_eq!((t.run(), t.read("f.active")), (Outcome::Stopped, "true".to_string()), "{source}");
            t.write(inactive).unwrap();
            assert_eq!(t.read("f.active"), "false");
        }
    }
}

#[test]
fn wrong_summary_configurations() {
    let cases = [
        ("Idle -> ToIPSummaryDump(/tmp/x, FIELDS bogus)", "unknown content type 'bogus'"),
        ("Idle -> ToIPSummaryDump(/proc/nonexistent/x)", "/proc/nonexistent/x: No such file or directory"),
        ("FromIPSummaryDump(x, DATA y) -> Discard", "FILENAME and DATA conflict"),
        ("FromIPSummaryDump() -> Discard", "FILENAME: required argument missing"),
        (
            "FromIPSummaryDump(/proc/nonexistent/x) -> Discard",
            "/proc/nonexistent/x: No such file or directory",
        ),
    ];
    for (config, message) in cases {
        let errors = Harness::errors(config);
        assert!(errors.contains(message), "{errors}");
    }
    Harness::new("FromIPSummaryDump(/proc/nonexistent/x, ALLOW_NONEXISTENT true) -> Discard").run();
}

#[test]
fn a_replaced_router_goes_on_in_both_files() {
    let folder = Folder::new("swap");
    let (from, to) = (folder.capture("in.pcap", LinkType::ETHER, 10), folder.path("out.pcap"));
    let config = |window: &str| format!("f :: FromDump({from}{window}) -> d :: ToDump({to})");
    let mut old = Harness::new(&config(", END_AFTER 4"));
    old.run();
    let mut new = Harness::new(&config(""));
    new.router.take_over(old.router);
    assert_eq!(new.read("d.count"), "4");
    new.run();
    new.router.cleanup();
    let numbers: Vec<u8> = contents(&to).iter().map(|packet| packet.2).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<u8>>());
}

#[test]
fn a_configuration_that_fails_leaves_files_as_they_are() {
    let folder = Folder::new("fails");
    let (to, text) = (folder.capture("out.pcap", LinkType::ETHER, 2), folder.path("out.txt"));
    std::fs::write(&text, LINES).unwrap();
    let config = format!(
        "Idle -> ToDump({to}); Idle -> ToIPSummaryDump({text}); FromDump(/proc/nonexistent/x) -> Discard"
    );
    Harness::errors(&config);
    assert_eq!(contents(&to).len(), 2);
    assert_eq!(std::fs::read_to_string(&text).unwrap(), LINES);
}

#[test]
fn the_handler_called_at_the_end_must_be_there() {
    let e = Harness::errors("FromDump(any.pcap, END_CALL x.y) -> Discard");
    assert!(e.contains("no element named 'x'"), "{e}");
}

#[test]
fn times_that_a_file_cannot_tell_are_said_and_counted() {
    let folder = Folder::new("misdated");
    let config = |to: &str| format!("s :: Source -> Queue -> d :: ToDump({to})");
    for (name, misdated) in [("a.pcap", 3), ("b.pcapng", 1)] {
        let to = folder.path(name);
        let mut t = Harness::new(&config(&to));
        // The last second that fits into 32 bits, the next, one much later, and one before 1970.
        let times = [u32::MAX.into(), i64::from(u32::MAX) + 1, 9_000_000_000, -5];
        t.push(
            "s",
            0,
            times.map(|seconds| {
                let mut p = Packet::new(&[7; 20]);
                p.set_timestamp(clickwork_packet::Timestamp::new(seconds, 0));
                p
            }),
        );
        assert_eq!((t.read("d.count"), t.read("d.misdated")), ("4".into(), misdated.to_string()));
        assert_eq!(t.printed().lines().count(), 1);
        t.router.cleanup();
        let told: Vec<u64> = contents(&to).iter().map(|(seconds, ..)| *seconds).collect();
        let late = |seconds: u64| if name == "a.pcap" { seconds.min(u32::MAX.into()) } else { seconds };
        assert_eq!(told, [late(u32::MAX.into()), late(1 << 32), late(9_000_000_000), 0]);
    }
}
