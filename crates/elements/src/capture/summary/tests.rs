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
    input.read_banner().unwrap();
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
        transport: network.and_then(|_| draft.data.get(draft.transport_offset()..)),
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
    input.read_banner().unwrap();
    let mut draft = input.next_draft().unwrap();
    assert_eq!(draft.finish(false), 1460);
    assert_eq!(draft.data.len(), 40);
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
    let dump = "!IPSummaryDump 1.9\n!data ip_src bogus ip_capture_len\nnonsense\n1.2.3.4 x y z\n\n# comment\n!flowid 1\n";
    let (drafts, notices) = read(dump.as_bytes());
    assert_eq!(drafts.len(), 1);
    assert_eq!(
        notices,
        [
            "t:1: unexpected IPSummaryDump version 1.9",
            "t:2: unknown content type 'bogus'",
            "t:2: content type 'ip_capture_len' ignored on input",
            "t:3: packet parse error",
            "t:7: bad !flowid specification",
        ]
    );
    assert_eq!(read(b"1 2 3\n").1[0], "t:1: missing banner line; is this an IP summary dump?");
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
