//! The router that `clickwork new ip-router` writes, held against RFC 1812. `docs/rfc1812.md` says which test shows which
//! requirement; a test here makes sure that the tests it names are there.

#[path = "common/captures.rs"]
mod captures;
mod common;
#[allow(dead_code)]
#[path = "../src/demo/frame.rs"]
mod frame;

use captures::{frames, station, write_timed};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::{Icmp, Ipv4, Ipv4Mut};
use common::Scratch;
use frame::{Content, ETHER_HEADER, IpFrame, Station, arp, ping};

/// Networks 10.N.0.0/24 with the router at 10.N.0.1 and a host at 10.N.0.2; the last has an MTU of 600. The host of
/// network 1 is the way to 192.168.0.0/16.
const INTERFACES: [&str; 3] = ["e0=10.0.0.1/24", "e1=10.1.0.1/24", "e2=10.2.0.1/24,600"];

fn host(network: u8) -> Station {
    station([10, network, 0, 2], network)
}

fn router(network: u8) -> Station {
    let mut own = station([10, network, 0, 1], 0);
    own.ether.0 = [2, 0, 10, network, 0, 1];
    own
}

fn address(text: &str) -> Ipv4Address {
    text.parse().unwrap()
}

/// A datagram from the host of network 0.
fn datagram(to: &str, length: usize) -> IpFrame {
    IpFrame::through(host(0), router(0).ether, address(to), 7, Content::Udp(length))
}

/// The same to the host of network 1.
fn forwarded() -> IpFrame {
    datagram("10.1.0.2", 40)
}

/// A frame whose IP header is changed, with the right checksum.
fn changed(frame: &IpFrame, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = frame.build();
    change(&mut bytes[ETHER_HEADER..]);
    if let Some(mut ip) = Ipv4Mut::new(&mut bytes[ETHER_HEADER..]) {
        ip.fill_checksum();
    }
    bytes
}

/// What the router sends to the hosts: IP packets, without their Ethernet headers, in the order of the networks.
struct Sent([Vec<Vec<u8>>; 3]);

/// Runs the router on what host 0 sends.
fn route(test: &str, sent: &[Vec<u8>]) -> Sent {
    let on_network_0: Vec<_> = sent.iter().map(|frame| (0, frame.clone())).collect();
    route_all(test, &on_network_0)
}

/// Runs the router on frames from several networks, ten milliseconds apart.
fn route_all(test: &str, sent: &[(u8, Vec<u8>)]) -> Sent {
    let dir = Scratch::new(&format!("rfc1812-{test}"));
    let route = ["--route", "192.168.0.0/16,10.1.0.2", "--simulate", "-o", "router.click"];
    dir.clickwork().args(["new", "ip-router"]).args(INTERFACES).args(route).assert().success();
    for network in 0..3 {
        let known = (0, arp(false, host(network), router(network)));
        let frames = sent.iter().zip(1..).filter(|((n, _), _)| *n == network);
        let frames = frames.map(|((_, frame), turn)| (10 * turn, frame.clone()));
        write_timed(
            &dir.path(&format!("in-e{network}.pcap")),
            &std::iter::once(known).chain(frames).collect::<Vec<_>>(),
        );
    }
    dir.clickwork().args(["run", "--simtime", "router.click"]).assert().success();
    Sent([0, 1, 2].map(|network| {
        let out = frames(&dir.path(&format!("out-e{network}.pcap")));
        let ip = out.into_iter().filter(|frame| frame[12..14] == [8, 0]);
        let ip: Vec<Vec<u8>> = ip.map(|frame| frame[ETHER_HEADER..].to_vec()).collect();
        assert!(ip.iter().all(|packet| Ipv4::new(packet).unwrap().checksum_is_right()));
        ip
    }))
}

impl Sent {
    /// How many packets went to each network.
    fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|n| self.0[n].len())
    }

    /// The only packet, which went to this network.
    fn only(&self, network: usize) -> &[u8] {
        let mut expected = [0; 3];
        expected[network] = 1;
        assert_eq!(self.counts(), expected);
        &self.0[network][0]
    }

    /// The type and code of the only packet, an ICMP message to host 0 from the router.
    fn only_error(&self) -> (u8, u8) {
        error(self.only(0))
    }
}

fn error(packet: &[u8]) -> (u8, u8) {
    let ip = Ipv4::new(packet).unwrap();
    assert_eq!((ip.protocol, ip.source(), ip.destination()), (1, router(0).ip, host(0).ip));
    assert_eq!(Sum::new().bytes(ip.payload()).finish(), 0, "the ICMP checksum");
    let icmp = Icmp::new(ip.payload()).unwrap();
    (icmp.icmp_type, icmp.code)
}

/// What an ICMP error quotes.
fn quoted(packet: &[u8]) -> &[u8] {
    &packet[28..]
}

// ---- the internet header

#[test]
fn a_packet_is_forwarded_with_all_but_ttl_and_checksum_as_they_were() {
    let frame = changed(&forwarded(), |ip| (ip[1], ip[6]) = (0xFF, 0x80));
    let sent = route("forwarded", std::slice::from_ref(&frame));
    let mut expected = frame[ETHER_HEADER..].to_vec();
    expected[8] -= 1;
    Ipv4Mut::new(&mut expected).unwrap().fill_checksum();
    assert_eq!(sent.only(1), expected, "type of service and unused bits too");
}

#[test]
fn padding_and_what_follows_the_packet_are_cut_off() {
    let mut frame = datagram("10.1.0.2", 1).build();
    frame.extend([0xEE; 30]);
    assert_eq!(route("padding", &[frame]).only(1).len(), 29);
}

#[test]
fn invalid_headers_are_dropped_in_silence() {
    let whole = forwarded().build();
    let with = |at: usize, byte: u8| changed(&forwarded(), |ip| ip[at] = byte);
    let mut checksum = whole.clone();
    checksum[ETHER_HEADER + 10] ^= 1;
    let version = with(0, 0x65);
    let short_header = with(0, 0x44);
    let header_beyond_packet = changed(&forwarded(), |ip| (ip[0], ip[3]) = (0x4F, 40));
    let longer_than_frame = changed(&forwarded(), |ip| ip[2] = 5);
    let shorter_than_header = changed(&forwarded(), |ip| (ip[2], ip[3]) = (0, 19));
    let cut = whole[..ETHER_HEADER + 19].to_vec();
    let all =
        [checksum, version, short_header, header_beyond_packet, longer_than_frame, shorter_than_header, cut];
    assert_eq!(route("invalid", &all).counts(), [0; 3]);
}

#[test]
fn the_ttl_is_decremented_and_its_end_reported() {
    let with_ttl = |ttl: u8| IpFrame { ttl, ..forwarded() }.build();
    assert_eq!(route("ttl-2", &[with_ttl(2)]).only(1)[8], 1);
    assert_eq!(route("ttl-1", &[with_ttl(1)]).only_error(), (11, 0));
    assert_eq!(route("ttl-0", &[with_ttl(0)]).only_error(), (11, 0));
}

#[test]
fn the_router_takes_packets_for_itself_whatever_their_ttl() {
    for ttl in [0, 1] {
        let frame = IpFrame { ttl, ..IpFrame::through(host(0), router(0).ether, router(0).ip, 7, ping(8)) };
        assert_eq!(route(&format!("own-ttl-{ttl}"), &[frame.build()]).only_error(), (0, 0));
    }
}

// ---- fragments

#[test]
fn packets_are_cut_to_the_mtu_of_the_next_network() {
    let frame = datagram("10.2.0.2", 1400);
    let sent = route("fragments", &[frame.build()]);
    assert_eq!(sent.counts(), [0, 0, 3]);
    let mut data = Vec::new();
    for (n, packet) in sent.0[2].iter().enumerate() {
        let ip = Ipv4::new(packet).unwrap();
        assert!(packet.len() <= 600 && ip.identification() == 7 && ip.ttl == 63);
        let (more, offset) =
            (packet[6] & 0x20 != 0, usize::from(u16::from_be_bytes([packet[6] & 0x1F, packet[7]])) * 8);
        assert_eq!((more, offset), (n < 2, data.len()));
        data.extend_from_slice(ip.payload());
    }
    assert_eq!(data, frame.build()[ETHER_HEADER + 20..]);
}

#[test]
fn what_must_not_be_cut_is_reported_with_the_mtu() {
    let frame = IpFrame { fragment: 0x4000, ..datagram("10.2.0.2", 1400) };
    let sent = route("needfrag", &[frame.build()]);
    assert_eq!(sent.only_error(), (3, 4));
    assert_eq!(sent.only(0)[26..28], 600u16.to_be_bytes());
}

#[test]
fn pings_in_fragments_are_put_together_and_answered() {
    let whole = IpFrame::through(host(0), router(0).ether, router(2).ip, 7, ping(600)).build();
    let part = |from: usize, to: usize, more: u8| {
        let mut bytes =
            [&whole[..ETHER_HEADER + 20], &whole[ETHER_HEADER + 20 + from..ETHER_HEADER + 20 + to]].concat();
        let ip = &mut bytes[ETHER_HEADER..];
        ip[2..4].copy_from_slice(&(20 + (to - from) as u16).to_be_bytes());
        (ip[6], ip[7]) = (more, (from / 8) as u8);
        Ipv4Mut::new(ip).unwrap().fill_checksum();
        bytes
    };
    let sent = route("reassembly", &[part(304, 608, 0), part(0, 304, 0x20)]);
    let answer = Ipv4::new(sent.only(0)).unwrap();
    assert_eq!(answer.payload()[4..], whole[ETHER_HEADER + 24..]);
}

#[test]
fn a_packet_that_stays_incomplete_is_reported() {
    let first = changed(&datagram("10.0.0.1", 40), |ip| ip[6] = 0x20);
    let later = changed(&datagram("10.0.0.1", 40), |ip| (ip[6], ip[7], ip[4]) = (0x20, 3, 9));
    let quiet = datagram("10.0.0.255", 8).build();
    // The first is given up when a fragment comes after half a minute; that one waits for its own first.
    let mut sent = vec![(0, first)];
    sent.resize(4000, (0, quiet));
    sent.push((0, later));
    assert_eq!(route_all("incomplete", &sent).only_error(), (11, 1));
}

// ---- options

fn with_options(options: &[u8]) -> IpFrame {
    IpFrame { options: options.to_vec(), ..forwarded() }
}

#[test]
fn unknown_options_are_passed_on_unchanged() {
    let options = [0x9F, 6, 1, 2, 3, 4, 1, 0];
    assert_eq!(route("unknown-option", &[with_options(&options).build()]).only(1)[20..28], options);
}

#[test]
fn routes_and_times_are_recorded() {
    let route_option = [7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let sent = route("record-route", &[with_options(&route_option).build()]);
    assert_eq!(
        sent.only(1)[20..32],
        [7, 11, 8, 10, 1, 0, 1, 0, 0, 0, 0, 0],
        "the interface that it leaves by"
    );
    let time = [68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let sent = route("timestamp", &[with_options(&time).build()]);
    let option = &sent.only(1)[20..32];
    assert_eq!(option[..8], [68, 12, 13, 1, 10, 1, 0, 1]);
    assert_ne!(option[8..12], [0; 4], "milliseconds since midnight");
    // Full: the overflow is counted.
    let full = [68, 8, 9, 0, 1, 2, 3, 4];
    assert_eq!(
        route("timestamp-full", &[with_options(&full).build()]).only(1)[20..28],
        [68, 8, 9, 0x10, 1, 2, 3, 4]
    );
}

#[test]
fn malformed_options_are_reported_with_their_place() {
    let sent = route("bad-option", &[with_options(&[1, 7, 1, 0]).build()]);
    assert_eq!(sent.only_error(), (12, 0));
    assert!((20..24).contains(&sent.only(0)[24]), "the pointer is {}", sent.only(0)[24]);
}

// ---- addresses

#[test]
fn the_next_hop_is_by_the_longest_match() {
    let sent = route("gateway", &[datagram("192.168.3.4", 8).build(), datagram("10.2.0.2", 8).build()]);
    assert_eq!(sent.counts(), [0, 1, 1]);
}

#[test]
fn no_route_is_reported() {
    assert_eq!(route("no-route", &[datagram("172.16.0.1", 8).build()]).only_error(), (3, 0));
}

#[test]
fn nobodys_addresses_are_neither_source_nor_destination() {
    let from = |source: &str| IpFrame { source: address(source), ..forwarded() }.build();
    let sources = ["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.5", "240.0.0.1", "255.255.255.255"].map(from);
    let own_broadcasts = ["10.0.0.255", "10.1.0.0"].map(from);
    let destinations = ["0.1.2.3", "127.0.0.1", "240.0.0.1"].map(|to| datagram(to, 8).build());
    let all = [&sources[..], &own_broadcasts, &destinations].concat();
    assert_eq!(route("martians", &all).counts(), [0; 3]);
}

#[test]
fn broadcasts_and_groups_are_neither_forwarded_nor_answered() {
    let to = ["255.255.255.255", "10.0.0.255", "10.1.0.255", "10.1.0.0", "224.0.0.1", "239.1.2.3"];
    let ip = to.map(|to| datagram(to, 8).build());
    let pings = to.map(|to| IpFrame::through(host(0), router(0).ether, address(to), 7, ping(8)).build());
    let by_link = [[0xFF; 6], [1, 0, 0x5E, 0, 0, 1]].map(|ether| {
        let mut frame = IpFrame { ttl: 1, ..forwarded() }.build();
        frame[..6].copy_from_slice(&ether);
        frame
    });
    let mut not_expired = forwarded().build();
    not_expired[..6].copy_from_slice(&[0xFF; 6]);
    let all = [&ip[..], &pings, &by_link, &[not_expired]].concat();
    assert_eq!(route("broadcasts", &all).counts(), [0; 3]);
}

#[test]
fn frames_for_others_are_not_forwarded() {
    let mut frame = forwarded().build();
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 77]);
    assert_eq!(route("other-station", &[frame]).counts(), [0; 3]);
}

#[test]
fn every_address_of_the_router_is_reached_from_everywhere() {
    for network in 0..3u8 {
        let pings = (0..3).map(|to| {
            let frame = IpFrame::through(host(network), router(network).ether, router(to).ip, 7, ping(8));
            (network, frame.build())
        });
        let sent = route_all(&format!("own-{network}"), &pings.collect::<Vec<_>>());
        let from: Vec<_> =
            sent.0[usize::from(network)].iter().map(|p| Ipv4::new(p).unwrap().source()).collect();
        assert_eq!(from, [0, 1, 2].map(|to| router(to).ip), "each answers for itself");
    }
}

// ---- ICMP

#[test]
fn pings_are_answered_whole() {
    let request = IpFrame::through(host(0), router(0).ether, router(0).ip, 7, ping(100));
    let request = changed(&request, |ip| ip[1] = 0x48);
    let sent = route("ping", std::slice::from_ref(&request));
    let answer = sent.only(0);
    assert_eq!(answer[1], 0x48, "the type of service of the question");
    assert_eq!(answer[24..], request[ETHER_HEADER + 24..]);
}

#[test]
fn unknown_and_obsolete_icmp_messages_are_ignored() {
    let message = |icmp_type: u8| {
        let frame = IpFrame::through(host(0), router(0).ether, router(0).ip, 7, Content::Echo(icmp_type, 8));
        frame.build()
    };
    assert_eq!(route("icmp-types", &[15, 16, 42, 255, 0, 3, 4, 5].map(message)).counts(), [0; 3]);
}

#[test]
fn errors_quote_the_packet_as_it_came() {
    let frame = IpFrame { ttl: 1, ..datagram("10.1.0.2", 1200) }.build();
    let sent = route("quote", std::slice::from_ref(&frame));
    let message = sent.only(0);
    assert_eq!(message.len(), 576, "as much as fits");
    assert_eq!(quoted(message), &frame[ETHER_HEADER..][..548]);
    assert!(message[8] > 60, "a TTL of its own");
    assert_eq!(message[1], 0xC0, "the precedence of internetwork control");
}

#[test]
fn errors_come_from_the_address_of_the_interface_they_leave_by() {
    // From a host of network 1 whose packet ends on its way to network 2, and one that came by another way than it goes back.
    let expired =
        IpFrame { ttl: 1, ..IpFrame::through(host(1), router(1).ether, host(2).ip, 7, Content::Udp(8)) };
    let roundabout = IpFrame { ttl: 1, source: host(1).ip, ..datagram("10.2.0.2", 8) };
    let sent = route_all("error-source", &[(1, expired.build()), (0, roundabout.build())]);
    assert_eq!(sent.counts(), [0, 2, 0]);
    assert!(sent.0[1].iter().all(|packet| Ipv4::new(packet).unwrap().source() == router(1).ip));
}

#[test]
fn errors_are_not_answered_by_errors() {
    let expired_error =
        IpFrame { ttl: 1, ..IpFrame::through(host(0), router(0).ether, host(1).ip, 7, Content::Echo(3, 40)) };
    let later_fragment = IpFrame { ttl: 1, fragment: 5, ..forwarded() };
    let expired_ping =
        IpFrame { ttl: 1, ..IpFrame::through(host(0), router(0).ether, host(1).ip, 7, ping(8)) };
    let sent = route("no-error", &[expired_error.build(), later_fragment.build()]);
    assert_eq!(sent.counts(), [0; 3]);
    assert_eq!(
        route("ping-error", &[expired_ping.build()]).only_error(),
        (11, 0),
        "a question may be answered"
    );
}

#[test]
fn errors_are_limited() {
    let dir = Scratch::new("rfc1812-limit");
    dir.clickwork()
        .args(["new", "ip-router", "--simulate", "-o", "router.click"])
        .args(INTERFACES)
        .assert()
        .success();
    let expired = IpFrame { ttl: 1, ..forwarded() }.build();
    // A thousand packets in a second, of which a tenth may be answered.
    let flood: Vec<_> = (0..1000).map(|n| (10 + n, expired.clone())).collect();
    write_timed(&dir.path("in-e0.pcap"), &[&[(0, arp(false, host(0), router(0)))][..], &flood].concat());
    for network in [1, 2] {
        write_timed(
            &dir.path(&format!("in-e{network}.pcap")),
            &[(0, arp(false, host(network), router(network)))],
        );
    }
    dir.clickwork().args(["run", "--simtime", "router.click", "ERRORS=100"]).assert().success();
    let answered = frames(&dir.path("out-e0.pcap")).iter().filter(|frame| frame[12..14] == [8, 0]).count();
    assert!((90..=210).contains(&answered), "{answered}");
}

#[test]
fn a_better_way_is_told_and_the_packet_sent() {
    // To another router of the sender's own network.
    let back = IpFrame::through(host(1), router(1).ether, address("192.168.3.4"), 7, Content::Udp(8));
    let sent = route_all("redirect", &[(1, back.build())]);
    assert_eq!(sent.counts(), [0, 2, 0]);
    let (messages, packets): (Vec<_>, Vec<_>) = sent.0[1].iter().partition(|packet| packet[9] == 1);
    assert_eq!((messages.len(), packets.len()), (1, 1));
    assert_eq!(messages[0][20..22], [5, 1], "for the host");
    assert_eq!(messages[0][24..28], host(1).ip.octets(), "the better gateway");
}

#[test]
fn redirects_are_for_neighbours() {
    // From a host behind another router of network 1, which would not hear the redirect.
    let link = IpFrame::through(host(1), router(1).ether, address("192.168.3.4"), 7, Content::Udp(8));
    let from_afar = IpFrame { source: address("172.16.0.9"), ..link };
    let sent = route_all("redirect-afar", &[(1, from_afar.build())]);
    assert_eq!(Ipv4::new(sent.only(1)).unwrap().destination(), address("192.168.3.4"));
}

#[test]
fn closed_ports_and_unknown_protocols_are_reported() {
    assert_eq!(route("port", &[datagram("10.0.0.1", 8).build()]).only_error(), (3, 3));
    let protocol = changed(&datagram("10.0.0.1", 8), |ip| ip[9] = 200);
    assert_eq!(route("protocol", &[protocol]).only_error(), (3, 2));
}

// ---- the document

/// Every test that the document names exists.
#[test]
fn the_document_names_tests_that_are_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let document = text("docs/rfc1812.md");
    let files = [
        "crates/clickwork/tests/rfc1812.rs",
        "crates/clickwork/tests/new_ip_router.rs",
        "crates/clickwork/src/new/ip_router/plan.rs",
        "crates/elements/src/ip/gateway_options.rs",
        "crates/elements/src/ip/ip_fragmenter.rs",
        "crates/elements/src/icmp/icmp_error.rs",
        "crates/elements/src/ip/ip_reassembler.rs",
    ];
    let sources: String = files.iter().map(|file| text(file)).collect();
    let in_ticks: Vec<&str> = document.split('`').skip(1).step_by(2).collect();
    let tests: Vec<_> = in_ticks.iter().filter(|word| word.matches('_').count() > 2).collect();
    assert!(tests.len() > 30);
    for test in tests {
        assert!(sources.contains(&format!("fn {test}(")), "there is no test {test}");
    }
    let ours = text(files[0]);
    let all = ours.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next());
    for test in all.filter(|test| !test.starts_with("the_document")) {
        assert!(document.contains(test), "the document does not name {test}");
    }
}
