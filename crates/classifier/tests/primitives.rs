//! Each primitive of the filter language on packets made for it, and the wording of errors.

use clickwork_classifier::{FilterError, Headers, Names, NoNames, Severity, ip_classifier, ip_filter};

const SYN: u8 = 2;
const ACK: u8 = 16;

/// A packet of 40 bytes: TCP from 10.0.0.1 port 1024 to 18.26.4.9 port 80 with SYN set, TTL 64, ID 0x1234.
fn tcp() -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 40, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 18, 26, 4, 9];
    packet.extend([4, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, SYN, 0x20, 0, 0, 0, 0, 0]);
    packet
}

fn changed(mut packet: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    packet
}

fn matches(pattern: &str, packet: &[u8]) -> bool {
    let program =
        ip_classifier(&[pattern], &NoNames).unwrap_or_else(|errors| panic!("{pattern}: {errors:?}")).program;
    program.classify(&Headers::ip(packet, 0, usize::from(packet[0] & 15) * 4)).is_some()
}

fn all_match(packet: &[u8], patterns: &[&str]) {
    for pattern in patterns {
        assert!(matches(pattern, packet), "{pattern} should match");
    }
}

fn none_match(packet: &[u8], patterns: &[&str]) {
    for pattern in patterns {
        assert!(!matches(pattern, packet), "{pattern} should not match");
    }
}

fn errors(pattern: &str) -> Vec<FilterError> {
    ip_classifier(&[pattern], &NoNames).expect_err(pattern)
}

#[test]
fn everything_and_nothing() {
    all_match(&tcp(), &["-", "any", "all", "true", "", "not false", "transp"]);
    none_match(&tcp(), &["false", "none", "not true", "!!false"]);
}

#[test]
fn addresses() {
    let yes = [
        "host 10.0.0.1",
        "src host 10.0.0.1",
        "dst 18.26.4.9",
        "src 10.0.0.0/8",
        "net 18.26/16",
        "10.0.0.0 mask 255.0.0.0",
        "src or dst host 18.26.4.9",
        "src net 10.9.9.1 mask 255.0.0.255",
        "src host != 18.26.4.9",
        "src 1.2.3.4 or 10.0.0.1",
        "ip host 10.0.0.1",
        "src host & 255.0.0.0 10.7.7.7",
    ];
    all_match(&tcp(), &yes);
    none_match(
        &tcp(),
        &["src 18.26.4.9", "src and dst 10.0.0.1", "host != 10.0.0.1", "net 11.0.0.0/8", "not 10.0.0.1"],
    );
}

#[test]
fn protocols_and_ports() {
    let yes = [
        "tcp",
        "ip proto 6",
        "ip proto tcp",
        "tcpudp",
        "ip proto != udp",
        "ip proto & 0xf = 6",
        "tcp or udp",
        "ip proto < 7",
    ];
    all_match(&tcp(), &yes);
    none_match(&tcp(), &["udp", "icmp", "ip proto 5", "not tcp", "igmp", "ipip"]);
    let yes = [
        "port 80",
        "dst port www",
        "dst tcp port 80",
        "www",
        "src port > 1023",
        "src port 1000-1024",
        "dst port 80:90",
    ];
    all_match(&tcp(), &yes);
    all_match(
        &tcp(),
        &[
            "src port 1 or 1024",
            "dst port != 81",
            "src port & 0xff00 = 0x400",
            "port http",
            "src or dst port >= 1024",
        ],
    );
    none_match(
        &tcp(),
        &[
            "src port 80",
            "udp port 80",
            "src and dst port 80",
            "port != 80",
            "dst port 81-90",
            "dst port != 1-90",
        ],
    );
    let udp = changed(tcp(), 9, &[17]);
    all_match(&udp, &["dst port 80", "udp and dst port 80"]);
    none_match(&udp, &["dst tcp port 80", "syn", "tcp opt syn", "tcp[13] = 2"]);
}

#[test]
fn header_fields() {
    let yes = [
        "ip vers 4",
        "ip hl 5",
        "ip id 0x1234",
        "ip len 40",
        "ip ttl 64",
        "ip ttl > 63",
        "ip tos 0",
        "ip dscp 0",
        "ip[9] = 6",
    ];
    all_match(&tcp(), &yes);
    all_match(
        &tcp(),
        &["ip[8:2] & 0xff00 = 0x4000", "ip[12:4] = 0x0a000001", "ip[12,13] 0x0a00", "ip ttl 1 or 64"],
    );
    none_match(&tcp(), &["ip vers 6", "ip ttl < 64", "ip[9] != 6", "ip id 1"]);
    let marked = changed(tcp(), 1, &[0xb8 | 3]);
    all_match(&marked, &["ip dscp 46", "ip ect", "ip ce", "ip ect 3", "ip tos 0xbb"]);
    none_match(&tcp(), &["ip ect", "ip ce"]);
    all_match(&changed(tcp(), 1, &[2]), &["ip ect", "ip ect 2", "not ip ce", "ip ect 1 or 2"]);
}

#[test]
fn transport_headers() {
    all_match(
        &tcp(),
        &[
            "syn",
            "tcp opt syn",
            "tcp syn",
            "tcp[13] & 2 != 0",
            "tcp win 8192",
            "transp[2:2] = 80",
            "tcp opt 2",
        ],
    );
    none_match(&tcp(), &["ack", "syn ack", "tcp[13] & 16 != 0", "icmp type 4", "udp[2:2] = 80"]);
    all_match(&changed(tcp(), 33, &[SYN | ACK]), &["syn ack", "syn && ack", "tcp opt 18", "syn and not fin"]);
    let echo = changed(changed(tcp(), 9, &[1]), 20, &[8]);
    all_match(
        &echo,
        &["icmp type 8", "icmp type echo", "icmp echo", "icmp type != 0", "type echo", "icmp type 0 or 8"],
    );
    none_match(&echo, &["icmp type echo-reply", "icmp type unreachable", "port 8"]);
    let options = [&[0x46][..], &tcp()[1..20], &[1, 1, 1, 0], &tcp()[20..]].concat();
    all_match(&options, &["dst port 80", "syn", "ip hl 6", "ip[20] = 1"]);
}

#[test]
fn fragments() {
    let first = changed(tcp(), 6, &[0x20, 0]);
    let later = changed(tcp(), 6, &[0x00, 1]);
    none_match(&tcp(), &["ip frag", "not unfrag"]);
    all_match(&first, &["ip frag", "dst port 80", "syn"]);
    all_match(&later, &["frag", "not ip unfrag", "tcp", "not dst port 80"]);
    none_match(&later, &["dst port 80", "dst port != 81", "syn", "tcp[13] = 2", "ip unfrag"]);
}

#[test]
fn short_packets_fail_what_they_lack() {
    let cut = &tcp()[..22];
    all_match(cut, &["src port 1024", "not dst port 80", "tcp"]);
    none_match(cut, &["dst port 80", "dst port != 80", "syn", "tcp win < 1"]);
    none_match(&tcp()[..9], &["tcp", "ip proto != 6", "src 10.0.0.1"]);
}

#[test]
fn combinations() {
    let yes = [
        "tcp and www",
        "tcp www",
        "udp or tcp",
        "!(udp or icmp)",
        "tcp ? www : dst port 53",
        "(udp || tcp) && !ack",
    ];
    all_match(&tcp(), &yes);
    all_match(
        &tcp(),
        &[
            "udp ? false : tcp ? true : false",
            "udp and icmp or tcp",
            "not udp and not icmp",
            "src not 1.2.3.4",
        ],
    );
    none_match(&tcp(), &["tcp ? udp : true", "tcp and (udp or icmp)", "not (tcp and www)"]);
}

#[test]
fn ethernet_addresses() {
    let frame: Vec<u8> = (1..=14).collect();
    let packet = tcp();
    let matches = |pattern: &str| {
        let program = ip_classifier(&[pattern], &NoNames).unwrap().program;
        program.classify(&Headers::ip(&packet, 0, 20).with_ether(&frame)).is_some()
    };
    for yes in [
        "ether dst 1:2:3:4:5:6",
        "ether src host 07-08-09-0a-0b-0c",
        "1:2:3:4:5:6",
        "ether host 9:9:9:9:9:9 or 1:2:3:4:5:6",
    ] {
        assert!(matches(yes), "{yes}");
    }
    assert!(matches("ether dst & ff:0:0:0:0:0 1:9:9:9:9:9"));
    for no in ["ether src 1:2:3:4:5:6", "ether host != 1:2:3:4:5:6", "src and dst 1:2:3:4:5:6"] {
        assert!(!matches(no), "{no}");
    }
}

#[test]
fn actions() {
    let rules = ["deny src 10.0.0.1 && dst port 81", "1 dst port 80", "allow tcp", "drop"];
    let program = ip_filter(&rules, 2, &NoNames).unwrap().program;
    let classify = |packet: &[u8]| program.classify(&Headers::ip(packet, 0, 20));
    assert_eq!(classify(&tcp()), Some(1));
    assert_eq!(classify(&changed(tcp(), 23, &[81])), None);
    assert_eq!(classify(&changed(tcp(), 23, &[82])), Some(0));
    assert_eq!(classify(&changed(tcp(), 9, &[17])), Some(1));
    assert_eq!(classify(&changed(tcp(), 9, &[1])), None);
}

#[test]
fn a_filter_may_be_quoted_and_have_no_rules() {
    assert!(ip_filter(&["\"allow tcp\"", "pass all", "permit -"], 1, &NoNames).is_ok());
    assert_eq!(
        ip_filter::<&str>(&[], 1, &NoNames).unwrap().program.to_string(),
        "all->[X]\nsafe length 0\nalignment offset 0\n"
    );
}

#[test]
fn wrong_actions() {
    let errors = ip_filter(&["forbid tcp", "2 all", "", "deny all", "-1 all"], 2, &NoNames).unwrap_err();
    let expected = [
        "pattern 0: unknown slot ID 'forbid'",
        "pattern 1: slot '2' out of range",
        "empty pattern 2",
        "warning: pattern 3: meaning of 'deny' has changed (now it means 'drop')",
        "pattern 4: slot '-1' out of range",
    ];
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    assert_eq!(
        ip_filter(&["allow all"], 0, &NoNames).unwrap_err()[0].message,
        "pattern 0: 'allow' is meaningless, element has zero outputs"
    );
}

#[test]
fn the_wording_and_place_of_errors() {
    let cases = [
        ("tcp udp", "transport protocol specified twice", 4..7),
        ("src dst port 80", "'src' or 'dst' specified twice", 4..7),
        ("port host 80", "type specified twice", 5..9),
        ("tcp and", "missing expression", 7..7),
        ("tcp or or udp", "missing expression", 7..9),
        ("not", "missing expression after 'not'", 3..3),
        ("()", "missing expression after '('", 0..1),
        ("(tcp or udp", "missing ')'", 0..1),
        ("tcp )", "garbage after expression at ')'", 4..5),
        ("tcp ? udp", "missing ':' in ternary expression", 9..9),
        ("tcp and foo", "empty term near 'foo'", 8..11),
        ("src port > foo", "dangling operator near 'foo'", 11..14),
        ("80", "specify header field or 'port'", 0..2),
        ("src", "partial directive", 0..3),
        ("port", "'port': value missing", 0..4),
        ("dst port 65536", "'dst port': out of range, bound 65535", 0..14),
        ("ip ttl -1", "'ip ttl': out of range, bound 255", 0..9),
        ("ip ttl & 256 = 0", "'ip ttl': mask out of range, bound 0xFF", 0..16),
        ("icmp port 80", "'port': bad protocol 1", 0..12),
        ("host 10.0.0.0/8", "'ip host': address missing", 0..15),
        ("net 10.0.0.1", "'ip net': address missing", 0..12),
        ("src host > 10.0.0.1", "'src ip host': operator not supported", 0..19),
        ("tcp opt != syn", "'tcp opt': operator or mask not supported", 0..14),
        ("tcp opt 256", "'tcp opt': value 256 out of range", 0..11),
        ("ip frag 3", "'ip frag': value not supported", 0..9),
        ("ether port 80", "'port': ip only", 0..13),
        ("ip[3:2] 5", "field [3:2] does not fit in a single word", 2..7),
        ("ip[0:5] 5", "LEN in '[POS:LEN]' out of range, should be between 1 and 4", 2..7),
        ("ip[x] 5", "syntax error after '[', expected '[POS]' or '[POS:LEN]'", 2..5),
        ("ip[4", "missing ']'", 2..3),
        ("echo", "'echo' is ambiguous; try 'port echo', 'icmp type echo'", 0..4),
        ("host syn", "'ip host syn' is meaningless; try 'tcp opt syn'", 5..8),
        ("port 9-3", "'port': empty range", 0..8),
        ("tcp[13] & 0 = 2", "zero mask ignored", 10..11),
    ];
    for (pattern, message, range) in cases {
        let found = &errors(pattern)[0];
        assert_eq!(found.message, format!("pattern 0: {message}"), "{pattern}");
        assert_eq!(found.range, range, "{pattern}");
        assert!(found.hint.is_some(), "{pattern}");
    }
}

#[test]
fn all_errors_of_all_arguments() {
    let errors = ip_classifier(&["foo and (bar or tcp", "tcp", "port 99999 or net"], &NoNames).unwrap_err();
    let places: Vec<_> = errors.iter().map(|error| (error.argument, error.range.start)).collect();
    assert_eq!(places, [(0, 0), (0, 9), (0, 8), (2, 0), (2, 14)]);
}

#[test]
fn warnings_do_not_stop() {
    let compiled = ip_classifier(&["src port > 70000", "src tcp", "tcp"], &NoNames).unwrap();
    let messages: Vec<_> = compiled.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = [
        "pattern 0: relation '> 70000' is always false (range 0-65535)",
        "pattern 1: 'src proto': 'src' or 'dst' ignored",
        "output 0 matches no packets",
        "output 2 matches no packets",
    ];
    assert_eq!(messages, expected);
    assert!(compiled.warnings.iter().all(|warning| warning.severity == Severity::Warning));
}

struct Site;

impl Names for Site {
    fn ip_address(&self, name: &str) -> Option<u32> {
        (name == "bastion").then_some(0x0a00_0001)
    }
    fn ip_prefix(&self, name: &str) -> Option<(u32, u32)> {
        (name == "inside").then_some((0x0a00_0000, 0xff00_0000))
    }
}

#[test]
fn names_of_the_caller() {
    let program = ip_classifier(&["src bastion", "src net inside", "inside"], &Site).unwrap().program;
    assert_eq!(program.classify(&Headers::ip(&tcp(), 0, 20)), Some(0));
    assert_eq!(program.classify(&Headers::ip(&changed(tcp(), 15, &[2]), 0, 20)), Some(1));
    assert_eq!(errors("src bastion")[0].message, "pattern 0: partial directive");
}

#[test]
fn deep_nesting_is_an_error_and_long_expressions_are_not() {
    let deep = format!("{}tcp{}", "(".repeat(100_000), ")".repeat(100_000));
    let found = errors(&deep);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "pattern 0: expression nested more than 200 levels deep");
    let nested = format!("{}tcp{}", "not (".repeat(200), ")".repeat(200));
    assert!(matches(&nested, &tcp()));
    assert!(matches(&format!("{}tcp", "not ".repeat(100_000)), &tcp()));
    let ternaries = format!("{}tcp", "udp ? true : ".repeat(20_000));
    assert!(matches(&ternaries, &tcp()));
    let ports: Vec<String> = (0..30_000).map(|port| format!("dst port {}", port * 2)).collect();
    assert!(matches(&ports.join(" or "), &tcp()));
}
