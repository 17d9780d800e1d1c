//! Dumps written, read, and written again; and Click's examples.

use std::io::Cursor;

use proptest::prelude::*;

use super::draft::Draft;
use super::field::{FIELDS, Width};
use super::headers::{Checks, PacketView};
use super::input::DumpInput;
use super::output::{Output, Preamble};

const CHECKS: Checks = Checks { careful_truncation: true, extra_length: true };

fn read(dump: &[u8]) -> (Vec<(Draft, u32)>, Vec<String>) {
    let mut input = DumpInput::from_stream("t", Cursor::new(dump.to_vec()), 6).unwrap();
    input.begin().unwrap();
    let mut drafts = Vec::new();
    while let Some(mut draft) = input.next_draft() {
        let extra = draft.finish(true);
        drafts.push((draft, extra));
    }
    let notices = input.take_notices().into_iter().map(|n| format!("{}: {}", n.place, n.message)).collect();
    (drafts, notices)
}

fn view(draft: &Draft, extra_length: u32) -> PacketView<'_> {
    let network = Some(&draft.data[draft.network..]).filter(|_| draft.has_ip);
    PacketView {
        data: &draft.data,
        mac: Some(&draft.data[..]).filter(|_| draft.network > 0),
        network,
        transport: network.and_then(|_| draft.data.get(draft.transport..)),
        timestamp: draft.timestamp,
        first_timestamp: draft.first_timestamp,
        extra_length,
        extra_packets: draft.extra_packets,
        paint: draft.paint,
        aggregate: draft.aggregate.unwrap_or(0),
    }
}

fn write(fields: &str, binary: bool, drafts: &[(Draft, u32)]) -> Vec<u8> {
    let mut output = Output::new(fields, binary, CHECKS, false).unwrap();
    let mut dump = output.header(&Preamble::default()).into_bytes();
    for (draft, extra) in drafts {
        output.record(&mut dump, view(draft, *extra));
    }
    dump
}

/// A dump read and written with the same fields.
fn again(dump: &str, fields: &str) -> String {
    let (drafts, notices) = read(dump.as_bytes());
    assert_eq!(notices, Vec::<String>::new());
    String::from_utf8(write(fields, false, &drafts)).unwrap()
}

#[test]
fn every_field_survives_a_round_trip() {
    let lines: [(&str, &[&str]); 6] = [
        (
            "timestamp ip_src ip_dst ip_proto sport dport ip_len",
            &[
                "1.000001 1.2.3.4 5.6.7.8 T 1 2 60",
                "1.000000001 1.2.3.4 5.6.7.8 T 1 2 60",
                "2.5 1.2.3.4 5.6.7.8 U 53 5353 28",
            ],
        ),
        (
            "ip_proto ip_tos ip_ttl ip_id ip_hl ip_opt ip_frag ip_fragoff",
            &["U 28 64 7 20 . ! 0!", "U 0 1 9 32 rr{1.2.3.4}+1 F 0+", "17 0 1 9 20 . f 800"],
        ),
        (
            "ip_dscp ip_ecn tcp_seq tcp_ack tcp_off tcp_flags tcp_window tcp_urp",
            &["10 ce 4294967295 1 20 FSRPAUECN 65535 9", "0 no 0 0 40 . 0 0", "0 ect1 0 0 20 PA 0 0"],
        ),
        (
            "ip_proto icmp_type_name icmp_code_name icmp_type icmp_code icmp_flowid icmp_seq",
            &["I echo 0 8 0 7 1", "I unreachable port 3 3 - -"],
        ),
        (
            "eth_src eth_dst eth_type ip_proto udp_len payload",
            &["00-0A-95-A6-D9-BC FF-FF-FF-FF-FF-FF 0800 U 10 \"a\\\"\""],
        ),
        (
            "count direction link paint aggregate first_timestamp ts_sec ts_usec ts_usec1 wire_len",
            &["3 < 1 1 77 5.000000 9 8 9000008 0"],
        ),
    ];
    for (fields, lines) in lines {
        let dump = format!("!IPSummaryDump 1.3\n!data {fields}\n{}\n", lines.join("\n"));
        let expected = dump.replace("2.5 ", "2.500000 ").replace("17 0 1 9", "U 0 1 9");
        assert_eq!(again(&dump, fields), expected);
    }
}

#[test]
fn lines_of_click_give_clicks_columns() {
    let dump = "!data src dst tcp_flags tcp_opt tcp_window tcp_urp tcp_seq tcp_ack\n\
                1.0.0.1 2.0.0.2 S mss1460;sackok;ts5:0;wscale7 100 0 1 0\n\
                1.0.0.1 2.0.0.2 PA sack10-20;nop 5 0 2 3\n\
                1.0.0.1 2.0.0.2 . - 5 0 2 3\n";
    let fields = "src dst tcp_flags tcp_opt tcp_ntopt tcp_sack tcp_off ip_hl ip_opt tcp_window tcp_urp";
    assert_eq!(
        again(dump, fields),
        "!IPSummaryDump 1.3\n\
         !data ip_src ip_dst tcp_flags tcp_opt tcp_ntopt tcp_sack tcp_off ip_hl ip_opt tcp_window tcp_urp\n\
         1.0.0.1 2.0.0.2 S mss1460;sackok;ts5:0;wscale7 mss1460;sackok;wscale7 sackok 40 20 . 100 0\n\
         1.0.0.1 2.0.0.2 PA sack10-20 sack10-20 sack10-20 32 20 . 5 0\n\
         1.0.0.1 2.0.0.2 . . . . 20 20 . 5 0\n"
    );
}

/// The bytes that Click makes of a line, checksums included.
#[test]
fn bytes_of_a_udp_line() {
    let dump =
        "!data ip_src sport ip_dst dport ip_proto ip_len ip_ttl ip_id\n10.0.0.3 53 10.0.0.4 5353 U 32 1 4\n";
    let (drafts, _) = read(dump.as_bytes());
    let expected = [
        0x45, 0, 0, 32, 0, 4, 0, 0, 1, 17, 0xa5, 0xc0, 10, 0, 0, 3, 10, 0, 0, 4, //
        0, 53, 0x14, 0xe9, 0, 12, 0xd6, 0x9f, 0, 0, 0, 0,
    ];
    let packet = &drafts[0].0.data;
    assert_eq!(packet[..10], expected[..10]);
    assert_eq!(packet[12..26], expected[12..26]);
    assert_eq!(packet.len(), 32);
    assert_eq!(clickwork_packet::checksum::checksum(&packet[..20]), 0);
    assert_eq!(drafts[0].1, 0);
}

#[test]
fn headers_only_leave_the_rest_as_extra_length() {
    let mut input = DumpInput::from_stream("t", &b"!data ip_proto ip_len\nT 1500\n"[..], 6).unwrap();
    input.begin().unwrap();
    let mut draft = input.next_draft().unwrap();
    assert_eq!(draft.finish(false), 1460);
    assert_eq!(draft.data.len(), 40);
}

/// A line's fields and columns, and the packet that Click makes of it: IP header length and total length, and all behind
/// the IP header.
#[test]
fn packets_of_lines() {
    // A TCP header without options, with a sequence number, flags and window if given.
    let tcp = |seq: u8, flags: u8| {
        let mut header = vec![0; 20];
        (header[7], header[12], header[13]) = (seq, 0x50, flags);
        header
    };
    let with = |header: Vec<u8>, rest: &[u8]| [header, rest.to_vec()].concat();
    let cut = |header: Vec<u8>, length: usize| header[..length].to_vec();
    let cases: Vec<(&str, &str, usize, u16, Vec<u8>)> = vec![
        // Any field of the IP header makes one, also one that says nothing.
        ("ip_opt", ".", 20, 40, tcp(0, 0)),
        ("ip_capture_len", "30", 20, 40, tcp(0, 0)),
        ("tcp_opt", ".", 20, 40, tcp(0, 0)),
        ("ip_capture_len ip_len", "30 60", 20, 60, tcp(0, 0)),
        ("ip_tos ip_len", "0b11 0x3c", 20, 60, tcp(0, 0)),
        ("ip_tos ip_ttl", "256 4", 20, 40, tcp(0, 0)),
        // Lengths that leave no room for a whole header cut it; a payload brings it to light.
        ("ip_len tcp_seq", "30 7", 20, 30, cut(tcp(7, 0), 10).to_vec()),
        ("ip_len tcp_seq tcp_flags", "30 7 S", 20, 30, cut(tcp(7, 2), 10)),
        ("wire_len tcp_seq tcp_flags payload", "30 7 S \"ab\"", 20, 30, {
            let mut header = with(tcp(7, 2), b"ab");
            header[12] = 0;
            header
        }),
        ("wire_len tcp_seq payload", "41 7 \"abcd\"", 20, 41, with(tcp(7, 0), b"abcd")),
        (
            "ip_proto wire_len payload",
            "U 29 \"abcd\"",
            20,
            29,
            vec![0, 0, 0, 0, 0, 9, 0, 0, b'a', b'b', b'c', b'd'],
        ),
        // What a payload does not explain is options, unless a field has said what there is.
        ("ip_len payload_len", "48 4", 20, 48, {
            let mut header = with(tcp(0, 0), &[0; 4]);
            header[12] = 0x60;
            header
        }),
        ("ip_len tcp_opt payload_len", "48 . 4", 24, 48, tcp(0, 0)),
        ("ip_len tcp_opt ip_opt payload_len", "48 . . 4", 20, 48, tcp(0, 0)),
        ("ip_len tcp_opt ip_hl payload_len", "48 . 20 4", 20, 48, tcp(0, 0)),
        ("ip_len payload", "60 \"\"", 20, 60, tcp(0, 0)),
        // A header that calls itself too short is as long as one has to be.
        ("ip_hl tcp_seq", "8 7", 8, 40, tcp(7, 0)),
        ("ip_hl tcp_seq", "24 7", 24, 44, tcp(7, 0)),
        ("ip_proto udp_len", "0 9", 20, 28, vec![0, 0, 0, 0, 0, 9, 0, 0]),
        // Offsets may have their flags in any order, and need no number.
        ("ip_fragoff", "+!", 20, 40, tcp(0, 0)),
        ("ip_fragoff", "8+", 20, 20, vec![]),
    ];
    for (fields, columns, header_length, length, behind) in cases {
        let dump = format!("!IPSummaryDump 1.3\n!data {fields}\n{columns}\n");
        let mut input = DumpInput::from_stream("t", Cursor::new(dump.into_bytes()), 6).unwrap();
        input.begin().unwrap();
        let mut draft = input.next_draft().unwrap_or_else(|| panic!("{fields}: {columns}"));
        let extra = draft.finish(false);
        assert_eq!(input.take_notices(), [], "{fields}: {columns}");
        let data = &draft.data;
        let start = header_length.max(20);
        let found = (usize::from(data[0] & 0xf) * 4, u16::from_be_bytes([data[2], data[3]]), &data[start..]);
        assert_eq!(found, (header_length, length, &behind[..]), "{fields}: {columns}");
        assert_eq!(extra as usize, usize::from(length).saturating_sub(data.len()), "{fields}: {columns}");
    }
}

/// The payload of a frame that is not IP is the whole frame.
#[test]
fn frames_that_are_not_ip() {
    let (drafts, _) = read(b"!data eth_type ip_src payload\n0x806 1.2.3.4 \"a frame of twenty by\"\n");
    assert_eq!(drafts[0].0.data, b"a frame of twenty by");
    assert!(!drafts[0].0.has_ip);
}

/// As CheckTCPHeader has it, the checksum is for the end of a source route.
#[test]
fn checksums_go_by_the_end_of_a_source_route() {
    let sum_of = |line: &str| {
        let (drafts, _) = read(format!("!data ip_dst ip_opt tcp_seq\n{line}\n").as_bytes());
        let draft = &drafts[0].0;
        (draft.transport, draft.data[draft.transport + 16..][..2].to_vec())
    };
    let direct = sum_of("3.0.0.3 . 7").1;
    assert_eq!(sum_of("2.0.0.2 lsrr{^3.0.0.3} 7"), (28, direct.clone()));
    assert_ne!(sum_of("2.0.0.2 lsrr{3.0.0.3^} 7").1, direct);
}

/// Where a binary record ends too early, the fields behind have no values, also if they would fit.
#[test]
fn binary_records_cut_short() {
    let read_back = |body: &[u8]| {
        let length = (body.len() as u32 + 4).to_be_bytes();
        let head = b"!data ip_ttl ip_src ip_tos ip_opt\n!binary\n";
        let (drafts, notices) = read(&[&head[..], &length, body].concat());
        (drafts.into_iter().map(|(draft, _)| draft.data[..20].to_vec()).collect::<Vec<_>>(), notices)
    };
    let (packets, _) = read_back(&[9, 1, 2, 3]);
    assert_eq!((packets[0][1], packets[0][8], &packets[0][12..16]), (0, 9, &[0; 4][..]));
    let (packets, _) = read_back(&[9, 1, 2, 3, 4, 5, 8, 7]);
    assert_eq!((packets[0][0], packets[0][1], &packets[0][12..16]), (0x45, 5, &[1, 2, 3, 4][..]));
    let (packets, notices) = read_back(&[]);
    // An option list that is not there is an empty one.
    assert_eq!((packets.len(), notices), (1, vec![]));
}

#[test]
fn a_flow_gives_addresses_and_ports() {
    let dump = "!data timestamp\n!flowid 1.2.3.4 5 6.7.8.9 10 U\n1.0\n";
    assert!(again(dump, "src sport dst dport proto").ends_with("\n1.2.3.4 5 6.7.8.9 10 U\n"));
}

#[test]
fn payload_digests() {
    // The digests of the empty string and of "abc" (RFC 1321, appendix A.5).
    let dump = "!data ip_proto payload\nU \"\"\nU \"abc\"\n";
    let got = again(dump, "payload_len payload_md5_hex");
    assert!(
        got.ends_with("\n0 d41d8cd98f00b204e9800998ecf8427e\n3 900150983cd24fb0d6963f7d28e17f72\n"),
        "{got}"
    );
    let short = again(dump, "payload_md5");
    assert!(short.lines().skip(2).all(|line| line.len() == 22), "{short}");
}

#[test]
fn bad_packets_are_told() {
    let cases: [(&[u8], &str); 6] = [
        (&[0x45, 0], "truncated IP header"),
        (&[0x65, 0, 0, 40], "IP version 6"),
        (&[0x42, 0, 0, 40], "IP header length 2"),
        (&[0x45, 0, 0, 9], "IP length 9"),
        (&[0x45, 0, 0, 40, 0, 0, 0, 0, 9, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1], "truncated IP missing 18"),
        (&[0x45, 0, 0, 22, 0, 0, 0, 0, 9, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1], "truncated TCP/UDP header"),
    ];
    let mut output = Output::new("sport dport", false, CHECKS, true).unwrap();
    for (packet, fault) in cases {
        let mut out = Vec::new();
        let transport = packet.get(20..);
        output.record(
            &mut out,
            PacketView { data: packet, network: Some(packet), transport, ..PacketView::default() },
        );
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(&format!("!bad {fault}\n")), "{text}");
    }
}

#[test]
fn wrong_lines_cost_themselves_only() {
    let dump = "!IPSummaryDump 1.9\n!data ip_src bogus payload_md5\nnonsense\n1.2.3.4 x y z\n\n# comment\n!flowid 1\n";
    let (drafts, notices) = read(dump.as_bytes());
    assert_eq!(drafts.len(), 1);
    assert_eq!(
        notices,
        [
            "t:1: unexpected IPSummaryDump version 1.9",
            "t:2: unknown content type 'bogus'",
            "t:2: content type 'payload_md5' ignored on input",
            "t:3: packet parse error",
            "t:7: bad !flowid specification",
        ]
    );
    assert_eq!(read(b"1 2 3\n").1[0], "t:1: missing banner line; is this an IP summary dump?");
}

/// What a column must look like to count. A line none of whose columns counts makes no packet; of several such lines
/// the first is told.
#[test]
fn columns_that_are_not_of_their_form() {
    let told = |field: &str, column: &str| {
        let (drafts, notices) = read(format!("!data {field}\n{column}\n{column}\n").as_bytes());
        let wrong = ["t:2: packet parse error"];
        match drafts.len() {
            0 => assert_eq!(notices, wrong, "{field} {column}"),
            number => assert_eq!((number, notices.len()), (2, 0), "{field} {column}: {notices:?}"),
        }
        !drafts.is_empty()
    };
    let good = [
        ("ip_tos", "0 255 0xff 0377 0b101"),
        ("ip_dscp", "63 255"),
        ("ip_ecn", "no ect1 ect2 ce ECT(0) CE 3"),
        ("ip_ttl ip_src", "x,1.2.3.4"),
        ("ip_proto", "T U I 0 255 0x11"),
        ("ip_fragoff", "+ +! 8+! 0x10 16!+"),
        ("ip_frag", "f F . 800+"),
        ("ip_len", "4294967295 0"),
        ("sport", "65535"),
        ("tcp_flags", ". SA W XY 0xfff NEC"),
        ("timestamp", "1 1.5 0.1234567891 1ms"),
        ("direction", "> < 7"),
        ("icmp_type", "echo 8 255"),
        ("eth_src", "1:2:3:4:5:6 01-02-03-04-05-06"),
        ("eth_type", "800 0x800 ffff"),
        ("payload", "abc \"a\\x\""),
        ("count", "0"),
    ];
    let bad = [
        ("ip_tos", "256 -1 - x 1.5 . low"),
        ("ip_dscp", "256"),
        ("ip_ecn", "4 ECT0 ect"),
        ("ip_proto", "256 X TT -"),
        ("ip_fragoff", "8* 8+x x"),
        ("ip_len", "4294967296 -1"),
        ("sport", "65536 http"),
        ("tcp_flags", "Q 0x1000 S.A"),
        ("timestamp", "-1 x 1.2.3"),
        ("direction", "<> ?"),
        ("icmp_type", "256 nothing"),
        ("eth_src", "1:2:3:4:5 1:2:3:4:5:678"),
        ("eth_type", "10000 g"),
        ("none", "1"),
        ("ip_opt", "x rr{1.2.3 ts{x}"),
    ];
    for (field, columns) in good {
        for column in columns.split(' ') {
            assert!(told(field, &column.replace(',', " ")), "{field} {column}");
        }
    }
    for (field, columns) in bad {
        for column in columns.split(' ') {
            assert!(!told(field, column), "{field} {column}");
        }
    }
}

/// The first column of a line that begins with space is empty, and says nothing.
#[test]
fn a_column_that_is_empty() {
    let (drafts, notices) = read(b"!data ip_opt ip_ttl\n 7\n");
    assert_eq!((drafts[0].0.data[8], drafts[0].0.has_ip_options), (7, false));
    assert!(notices.is_empty());
}

/// The overflow counter of a timestamp option (RFC 791 §3.1), room that is too much, and times that are not standard.
#[test]
fn timestamp_options_in_a_dump() {
    for (column, again) in [
        ("ts{!3}", "ts{!3^}"),
        ("ts{!3,4}+1++15", "ts{!3,4}+1++15"),
        ("ts{1}++16", "ts{1^}"),
        ("ts.ip{1.0.0.1=!3}++2", "ts.ip{1.0.0.1=!3^}++2"),
        ("ts.preip{1.0.0.1=!3^1.0.0.2}", "ts.preip{1.0.0.1=!3^1.0.0.2}"),
        ("rr{}+1,ts{}+1", "rr{}+1;ts{}+1"),
        (".", "."),
    ] {
        let dump = format!("!IPSummaryDump 1.3\n!data ip_opt\n{column}\n");
        let printed = self::again(&dump, "ip_opt");
        assert_eq!(printed.lines().last(), Some(again), "{column}");
    }
}

#[test]
fn unknown_fields_are_refused_for_output() {
    let errors = Output::new("src bogus payload", true, CHECKS, false).unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["unknown content type 'bogus'", "cannot use field payload with BINARY"]);
}

#[test]
fn binary_dumps_read_as_they_were_written() {
    let fields = "timestamp ntimestamp ip_src ip_dst sport dport ip_proto ip_len tcp_seq tcp_flags tcp_opt ip_opt count eth_src";
    let text = "!data timestamp ip_src ip_dst sport dport ip_proto ip_len tcp_seq tcp_flags tcp_opt ip_opt count eth_src\n\
                1.5 1.2.3.4 5.6.7.8 1 2 T 80 9 SA mss5 rr{1.1.1.1}+1 3 00-01-02-03-04-05\n";
    let (drafts, _) = read(text.as_bytes());
    let (again, notices) = read(&write(fields, true, &drafts));
    assert!(notices.is_empty());
    assert_eq!(write(fields, false, &again), write(fields, false, &drafts));
    assert_eq!(again.len(), 1);
}

proptest! {
    /// Whatever a packet holds, every field prints in both forms, and the text can be read.
    #[test]
    fn any_packet_prints(mut data in prop::collection::vec(any::<u8>(), 0..120), protocol in prop::sample::select(vec![1u8, 6, 17, 47]), sane: bool) {
        if sane && data.len() >= 20 {
            data[0] = 0x45;
            data[9] = protocol;
            data[6] &= 0x60;
            data[7] = 0;
        }
        let header = data.first().map_or(0, |byte| usize::from(byte & 0xf) * 4);
        let view = PacketView {
            data: &data,
            network: Some(&data),
            transport: data.get(header..),
            ..PacketView::default()
        };
        for binary in [false, true] {
            let names: Vec<&str> = FIELDS.iter().filter(|f| !binary || f.width != Width::NotBinary).map(|f| f.name).collect();
            let mut output = Output::new(&names.join(" "), binary, CHECKS, true).unwrap();
            let mut dump = output.header(&Preamble::default()).into_bytes();
            output.record(&mut dump, view);
            read(&dump);
        }
    }

    #[test]
    fn any_text_reads(body in "[ -~\n]{0,300}", fields in prop::collection::vec(prop::sample::select(FIELDS.iter().map(|f| f.name).collect::<Vec<_>>()), 1..8)) {
        read(format!("!data {}\n{body}\n", fields.join(" ")).as_bytes());
    }

    #[test]
    fn any_columns_read(
        fields in prop::collection::vec(prop::sample::select(FIELDS.iter().map(|f| f.name).collect::<Vec<_>>()), 1..10),
        columns in prop::collection::vec(prop::sample::select(vec!["0", "1", "6", "17", "60", "255", "T", "U", "I", "f", "F", "\"abcdefghijkl\"", "1.2.3.4", "rr{1.2.3.4}", "mss5", "65535", "1400", "0800", "-", "4294967295", "9223372036.854775807"]), 10),
    ) {
        read(format!("!data {}\n{}\n", fields.join(" "), columns.join(" ")).as_bytes());
    }

    #[test]
    fn any_binary_reads(body in prop::collection::vec(any::<u8>(), 0..200), fields in prop::collection::vec(prop::sample::select(FIELDS.iter().map(|f| f.name).collect::<Vec<_>>()), 1..10)) {
        let length = (body.len() as u32 + 4).to_be_bytes();
        read(&[format!("!data {}\n!binary\n", fields.join(" ")).as_bytes(), &length, &body].concat());
    }
}
