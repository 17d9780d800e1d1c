//! The home node and the mobile host, each on captures. Between kernel hosts they are tested in
//! `crates/elements/tests/live`.

use super::*;
use clickwork_packet::checksum::Sum;
use std::path::PathBuf;

const HOME: [u8; 4] = [10, 0, 0, 99];
const CARE_OF: [u8; 4] = [10, 7, 0, 9];

/// An IP packet in another, in a frame.
fn tunnelled(link: (Station, Station), way: [[u8; 4]; 2], inner: &[u8]) -> Vec<u8> {
    let mut ip = [0u8; 20];
    (ip[0], ip[8], ip[9]) = (0x45, 64, 4);
    ip[2..4].copy_from_slice(&(20 + inner.len() as u16).to_be_bytes());
    ip[12..].copy_from_slice(&way.concat());
    let sum = Sum::new().bytes(&ip).finish();
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    [&link.1.ether.0[..], &link.0.ether.0, b"\x08\x00", &ip, inner].concat()
}

/// Sender, receiver, protocol and TTL of the IP packets among frames.
fn ways(frames: &[Vec<u8>]) -> Vec<(String, String, u8, u8)> {
    let ip = frames.iter().filter(|f| f[12..14] == [8, 0]).map(|f| Ipv4::new(&f[ETHER_HEADER..]).unwrap());
    ip.map(|ip| {
        assert!(ip.checksum_is_right());
        (ip.source().to_string(), ip.destination().to_string(), ip.protocol, ip.ttl)
    })
    .collect()
}

fn way(from: &str, to: &str, protocol: u8, ttl: u8) -> (String, String, u8, u8) {
    (from.to_string(), to.to_string(), protocol, ttl)
}

/// The home node, with what happens to the mobile host meanwhile: what goes to the home network and to the others.
fn run_home(dir: &Scratch, home: &[(u64, Vec<u8>)], out: &[(u64, Vec<u8>)], script: &str) -> [PathBuf; 2] {
    write_timed(&dir.path("home.pcap"), home);
    write_timed(&dir.path("out.pcap"), out);
    let device = "PROMISC true, SNIFFER false)";
    let text = replaced(
        example("mobile-home.click"),
        &[
            (&format!("FromDevice($HOME_DEV, {device}"), "FromDump(home.pcap, TIMING true)"),
            (&format!("FromDevice($OUT_DEV, {device}"), "FromDump(out.pcap, TIMING true)"),
            ("ToDevice($HOME_DEV)", "SetTimestamp -> ToDump(to-home.pcap)"),
            ("ToDevice($OUT_DEV)", "SetTimestamp -> ToDump(to-out.pcap)"),
        ],
    );
    dir.write("home.click", &format!("{text}\nDriverManager({script}wait 5s, stop);"));
    run(dir, &["home.click", "HOME_ETHER=00:00:0c:00:00:01", "OUT_ETHER=00:00:0c:00:00:02"]);
    ["to-home.pcap", "to-out.pcap"].map(|file| dir.path(file))
}

/// The home node's interfaces, a host at home, the mobile host, and the router of the foreign network.
fn stations() -> [Station; 5] {
    [
        station([10, 0, 0, 1], 1),
        station([10, 7, 0, 1], 2),
        station([10, 0, 0, 5], 5),
        station(HOME, 0x99),
        station([10, 7, 0, 254], 0xFE),
    ]
}

#[test]
fn the_home_node_is_a_router_while_the_mobile_host_is_at_home() {
    let dir = Scratch::new("examples-mobile-at-home");
    let [near, far, host, mobile, abroad] = stations();
    let correspondent = Station { ip: Ipv4Address::new(198, 51, 100, 7), ..abroad };
    let [to_home, to_out] = run_home(
        &dir,
        &[
            (0, arp(false, mobile, near)),
            (5, arp(true, host, mobile)),
            (10, IpFrame::through(mobile, near.ether, correspondent.ip, 1, Content::Udp(8)).build()),
        ],
        &[
            (0, arp(false, abroad, far)),
            (10, IpFrame::through(correspondent, far.ether, mobile.ip, 2, Content::Udp(8)).build()),
        ],
        "",
    );
    assert_eq!(ways(&frames(&to_home)), [way("198.51.100.7", "10.0.0.99", 17, 63)]);
    assert_eq!(ways(&frames(&to_out)), [way("10.0.0.99", "198.51.100.7", 17, 63)]);
    // The host's query is for the mobile host to answer.
    assert!(frames(&to_home).iter().all(|f| f[12..14] == [8, 0]));
}

#[test]
fn what_comes_for_a_host_that_has_moved_goes_through_the_tunnel_and_back() {
    let dir = Scratch::new("examples-mobile-away");
    let [near, far, host, mobile, abroad] = stations();
    let inside = |frame: Vec<u8>| unpadded(frame)[ETHER_HEADER..].to_vec();
    let answer = inside(IpFrame::through(mobile, near.ether, host.ip, 3, Content::Udp(8)).build());
    let forged = inside(IpFrame::through(host, near.ether, host.ip, 3, Content::Udp(8)).build());
    let link = (abroad, far);
    let large =
        IpFrame { fragment: 0x4000, ..IpFrame::through(host, near.ether, mobile.ip, 6, Content::Udp(1460)) };
    let [to_home, to_out] = run_home(
        &dir,
        &[
            (0, arp(false, host, near)),
            (100, arp(true, host, mobile)),
            (110, IpFrame::through(host, near.ether, mobile.ip, 1, Content::Udp(8)).build()),
            (120, large.build()),
            (3000, arp(true, host, mobile)),
        ],
        &[
            (0, arp(false, abroad, far)),
            (200, tunnelled(link, [CARE_OF, [10, 0, 0, 1]], &answer)),
            (210, tunnelled(link, [CARE_OF, [10, 0, 0, 1]], &forged)),
            (220, tunnelled(link, [CARE_OF, [10, 0, 0, 1]], b"\x45 not IP")),
        ],
        "wait 50ms, write moved.run 10.7.200.1, write moved.run nowhere, wait 2.5s, write returned.run, ",
    );
    let out = frames(&to_out);
    // Through the gateway: the care-of address is not on its own network.
    let outer: Vec<_> = out.iter().filter(|f| f[12..14] == [8, 0]).collect();
    assert_eq!(ways(&out), [way("10.0.0.1", "10.7.200.1", 4, 249)]);
    let inner = &outer[0][ETHER_HEADER + 20..];
    assert_eq!(ways(&[[&[0; 12][..], b"\x08\x00", inner].concat()]), [way("10.0.0.5", "10.0.0.99", 17, 63)]);
    assert_eq!(outer[0][..6], abroad.ether.0);

    let home = frames(&to_home);
    let arps: Vec<_> = home.iter().filter(|f| f[12..14] == [8, 6]).collect();
    let announced = [&[0xFF; 6][..], &near.ether.0, b"\x08\x06"].concat();
    let announcements = arps.iter().filter(|f| f[..14] == announced[..]);
    assert!(announcements.clone().all(|f| f[28..32] == HOME && f[38..42] == HOME), "{announcements:?}");
    assert!((6..=8).contains(&announcements.count()), "{announced:?}");
    let proxied: Vec<_> = arps.iter().filter(|f| f[..6] == host.ether.0).collect();
    assert_eq!(proxied.len(), 1, "only while the host is away");
    assert_eq!(
        unpadded(proxied[0].to_vec()),
        unpadded(arp(false, Station { ether: near.ether, ..mobile }, host))
    );
    // The large packet does not fit into the tunnel, and may not be cut.
    let refusal = ("10.0.0.1", "10.0.0.5", 1, 199);
    let expected = [way("10.0.0.99", "10.0.0.5", 17, 63), way(refusal.0, refusal.1, refusal.2, refusal.3)];
    let mut got = ways(&home);
    got.sort_by_key(|(_, _, protocol, _)| std::cmp::Reverse(*protocol));
    assert_eq!(got, expected);
    let icmp = home.iter().find(|f| f[12..14] == [8, 0] && f[ETHER_HEADER + 9] == 1).unwrap();
    assert_eq!(icmp[ETHER_HEADER + 20..][..8][..2], [3, 4]);
    assert_eq!(icmp[ETHER_HEADER + 26..][..2], 1480u16.to_be_bytes());
}

#[test]
fn the_mobile_host_speaks_through_the_tunnel_only() {
    let dir = Scratch::new("examples-mobile-node");
    let [near, _, host, mobile, _] = stations();
    let (own, gateway) = (station(CARE_OF, 9), station([10, 7, 0, 1], 2));
    let inner = |from: Station, to: Station| {
        unpadded(IpFrame::through(from, to.ether, to.ip, 4, Content::Udp(8)).build())[ETHER_HEADER..].to_vec()
    };
    let to_mobile = inner(host, mobile);
    let link = (gateway, own);
    write_timed(
        &dir.path("in.pcap"),
        &[
            (0, arp(false, gateway, own)),
            (1, arp(true, gateway, own)),
            (10, tunnelled(link, [[10, 0, 0, 1], CARE_OF], &to_mobile)),
            // Neither from the home node nor through the tunnel.
            (11, tunnelled(link, [[10, 0, 0, 77], CARE_OF], &to_mobile)),
            (12, IpFrame::through(near, own.ether, own.ip, 5, Content::Udp(8)).build()),
        ],
    );
    // Both captures begin at once.
    let from_host = unpadded(direct(mobile, host, Content::Udp(8)));
    let at_once = [(0, arp(true, mobile, host)), (20, from_host.clone())];
    write_timed(&dir.path("host.pcap"), &at_once);
    let text = replaced(
        example("mobile-node.click"),
        &[
            ("FromDevice($DEV, PROMISC true, SNIFFER false)", "FromDump(in.pcap, TIMING true, STOP true)"),
            ("ToDevice($DEV)", "ToDump(out.pcap)"),
            (
                "-> host :: KernelTun($HOME, $HOME_NODE, MTU $MTU, DEVNAME $TUN);",
                "-> ToDump(to-host.pcap, ENCAP IP);",
            ),
            (
                "host\n",
                "FromDump(host.pcap, TIMING true, STOP true) \
              -> Classifier(12/0800) -> Strip(14) -> MarkIPHeader\n",
            ),
        ],
    );
    dir.write("node.click", &(text + "DriverManager(wait_stop 2, wait 10ms, stop);"));
    run(&dir, &["node.click", "ETHER=00:00:0c:00:00:09"]);
    let to_host: Vec<_> =
        read_capture(&dir.path("to-host.pcap")).into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(to_host, [to_mobile]);
    let out = frames(&dir.path("out.pcap"));
    assert_eq!(unpadded(out[0].clone()), unpadded(arp(false, own, gateway)));
    assert_eq!(ways(&out), [way("10.7.0.9", "10.0.0.1", 4, 250)]);
    assert_eq!(out[1][..12], [gateway.ether.0, own.ether.0].concat());
    assert_eq!(out[1][ETHER_HEADER + 20..], from_host[ETHER_HEADER..]);
}
