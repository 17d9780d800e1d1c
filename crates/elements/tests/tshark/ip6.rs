//! What tshark reads in the IPv6 packets that the elements write.

use crate::dissect::dissected;
use clickwork_elements::capture::linktype::LinkType;
use clickwork_elements::testing::Harness;
use clickwork_packet::Packet;

const CHECKS: [&str; 2] = ["ip.check_checksum:TRUE", "udp.check_checksum:TRUE"];
const UDP: &str = "UDPIP6Encap(2001:db8::1, 1000, 2001:db8::2, 2000)";

/// What leaves each of `configs` for a packet of so many bytes.
fn made(configs: &[&str], bytes: usize) -> Vec<Vec<u8>> {
    let leaving = |config: &&str| {
        let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
        t.push("s", 0, [Packet::new(&vec![0x2A; bytes])]);
        t.bytes("k")
    };
    configs.iter().flat_map(leaving).collect()
}

pub fn neighbours_are_asked_and_answered_so_that_others_understand() {
    let mut t = Harness::new(
        "s :: Source -> q :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1); Idle -> [1] q; q[0] -> Discard;
         q[1] -> both :: Tee -> k :: Sink; both[1] -> IP6NDAdvertiser(2001:db8::2 2:0:0:0:0:2) -> a :: Sink",
    );
    let mut p = Packet::new(b"x");
    p.set_dst_ip6("2001:db8::2".parse().unwrap());
    t.push("s", 0, [p]);
    let frames = [t.bytes("k"), t.bytes("a")].concat();
    let fields = [
        "eth.dst",
        "eth.src",
        "ipv6.dst",
        "ipv6.src",
        "ipv6.hlim",
        "icmpv6.type",
        "icmpv6.checksum.status",
        "icmpv6.nd.ns.target_address",
        "icmpv6.nd.na.target_address",
        "icmpv6.nd.na.flag",
        "icmpv6.opt.type",
        "icmpv6.opt.linkaddr",
    ];
    let lines = dissected(LinkType::ETHER, &frames, &fields, &[]);
    let [one, two] = [1, 2].map(|n| format!("02:00:00:00:00:0{n}"));
    let asked = format!("33:33:ff:00:00:02|{one}|ff02::1:ff00:2|2001:db8::1|255|135|1|2001:db8::2|||1|{one}");
    let answered = format!("{one}|{two}|2001:db8::1|2001:db8::2|255|136|1||2001:db8::2|0xc0000000|2|{two}");
    assert_eq!(lines, [asked, answered]);
}

pub fn headers_are_understood() {
    let configs = [
        UDP,
        &format!("{UDP} -> SetIP6DSCP(46)"),
        &format!("{UDP} -> CheckIP6Header -> DecIP6HLIM -> IP6Mirror"),
        "IP6Encap(59, 2001:db8::1, 2001:db8::2, HLIM 9, CLASS 185)",
    ];
    let fields = [
        "ipv6.src",
        "ipv6.dst",
        "ipv6.tclass.dscp",
        "ipv6.tclass.ecn",
        "ipv6.plen",
        "ipv6.hlim",
        "ipv6.nxt",
        "udp.srcport",
        "udp.dstport",
        "udp.checksum.status",
    ];
    let lines = dissected(LinkType::IP, &made(&configs, 5), &fields, &CHECKS);
    assert_eq!(
        lines,
        [
            "2001:db8::1|2001:db8::2|0|0|13|255|17|1000|2000|1",
            "2001:db8::1|2001:db8::2|46|0|13|255|17|1000|2000|1",
            "2001:db8::2|2001:db8::1|0|0|13|254|17|2000|1000|1",
            "2001:db8::1|2001:db8::2|46|1|5|9|59|||",
        ]
    );
}

pub fn errors_are_understood() {
    let about = |error: &str| format!("{UDP} -> ICMP6Error(2001:db8::9, {error})");
    let configs = ["1, 4", "2, 0, PMTU 1280", "3, 0", "4, 1", "137, 0"].map(about);
    let fields = ["ipv6.dst", "icmpv6.type", "icmpv6.code", "icmpv6.checksum.status", "icmpv6.mtu"];
    let frames = made(&configs.each_ref().map(String::as_str), 5);
    let lines = dissected(LinkType::IP, &frames, &fields, &CHECKS);
    let both = "2001:db8::1,2001:db8::2";
    // Whatever a redirect quotes without an option is not looked into.
    let expected = ["1|4|1|", "2|0|1|1280", "3|0|1|", "4|1|1|"].map(|rest| format!("{both}|{rest}"));
    assert_eq!(lines[..4], expected);
    assert!(lines[4].contains("|137|0|1|"), "{}", lines[4]);
}

pub fn fragments_are_put_together() {
    let frames = made(&[&format!("{UDP} -> IP6Fragmenter(1280, FRAGMENT true)")], 3000);
    let fields = [
        "ipv6.fraghdr.nxt",
        "ipv6.fraghdr.offset",
        "ipv6.plen",
        "ipv6.reassembled.length",
        "udp.checksum.status",
    ];
    let lines = dissected(LinkType::IP, &frames, &fields, &CHECKS);
    assert_eq!(lines, ["17|0|1240||", "17|154|1240||", "17|308|552|3008|1"]);
}

pub fn translated_packets_are_understood() {
    let mapped = "UDPIP6Encap(::ffff:1.2.3.4, 1000, ::ffff:5.6.7.8, 2000) -> ProtocolTranslator64";
    let configs = [mapped, &format!("{mapped} -> CheckIPHeader -> ProtocolTranslator46")];
    let fields = ["ip.src", "ip.dst", "ip.checksum.status", "ipv6.src", "ipv6.dst", "udp.checksum.status"];
    let lines = dissected(LinkType::IP, &made(&configs, 5), &fields, &CHECKS);
    assert_eq!(lines, ["1.2.3.4|5.6.7.8|1|||1", "|||::ffff:1.2.3.4|::ffff:5.6.7.8|1"]);
}
