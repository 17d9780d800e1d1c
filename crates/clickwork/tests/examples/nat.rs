//! `nat-gateway.click` and `dns-proxy.click`: in simulated time on captures.

use super::*;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::{Ipv4Mut, Tcp, TcpMut, UdpMut};

const OUR_ADDRESS: [u8; 4] = [203, 0, 113, 7];
const SERVER: [u8; 4] = [9, 9, 9, 9];

/// A frame with other ports, and checksums made right.
fn with_ports(mut frame: Vec<u8>, from: u16, to: u16) -> Vec<u8> {
    let mut ip = Ipv4Mut::new(&mut frame[ETHER_HEADER..]).unwrap();
    let pseudo = ip.pseudo_sum(ip.total_len() - 20);
    if ip.protocol == 6 {
        let mut tcp = TcpMut::new(ip.payload_mut()).unwrap();
        tcp.set_source_port(from);
        tcp.set_destination_port(to);
        tcp.fill_checksum(pseudo);
    } else {
        let mut udp = UdpMut::new(ip.payload_mut()).unwrap();
        udp.set_source_port(from);
        udp.set_destination_port(to);
        udp.fill_checksum(pseudo);
    }
    frame
}

/// Addresses, ports and kind of a packet in a frame. Its checksums must be right.
fn told(frame: &[u8]) -> String {
    let ip = Ipv4::new(&frame[ETHER_HEADER..]).expect("an IP packet");
    assert!(ip.checksum_is_right());
    let pseudo = ip.pseudo_sum(ip.payload().len() as u16);
    let (from, to, what) = match ip.protocol {
        6 => {
            let tcp = Tcp::new(ip.payload()).unwrap();
            assert!(tcp.checksum_is_right(pseudo));
            (tcp.source_port(), tcp.destination_port(), "tcp".to_string())
        }
        17 => {
            let udp = Udp::new(ip.payload()).unwrap();
            assert!(udp.checksum_is_right(pseudo));
            (udp.source_port(), udp.destination_port(), "udp".to_string())
        }
        _ => {
            let icmp = Icmp::new(ip.payload()).unwrap();
            assert!(icmp.checksum_is_right());
            (0, 0, format!("icmp {}", icmp.icmp_type))
        }
    };
    format!("{what} {}:{from} > {}:{to}", ip.source(), ip.destination())
}

/// The IP packets among frames.
fn packets(frames: &[Vec<u8>]) -> Vec<String> {
    frames.iter().filter(|f| f[12..14] == [8, 0]).map(|f| told(f)).collect()
}

/// The gateway's two sides, a host of the home, the web server, and the next hop.
fn stations() -> [Station; 5] {
    let gateway = |ip, last| Station {
        ether: EtherAddress([2, 0, 0, 0x0d, 0, last]),
        ip: Ipv4Address::from_octets(ip),
    };
    [
        gateway([192, 168, 1, 1], 1),
        gateway(OUR_ADDRESS, 2),
        station([192, 168, 1, 9], 9),
        station([192, 168, 1, 80], 80),
        station([203, 0, 113, 1], 99),
    ]
}

/// Runs the gateway on what comes from both sides, the home first; gives what it sends to both, and what is printed.
fn run_gateway(
    name: &str,
    home: &[Vec<u8>],
    world: &[Vec<u8>],
    handlers: &[&str],
) -> (Vec<String>, Vec<String>, String) {
    let dir = Scratch::new(&format!("examples-nat-{name}"));
    let [near, outer, host, web, hop] = stations();
    let known = |stations: &[Station], to| stations.iter().map(|s| arp(false, *s, to)).collect::<Vec<_>>();
    write_capture(&dir.path("lan.pcap"), &[&known(&[host, web], near)[..], home].concat());
    // Frames are a millisecond apart: first everything from home, then everything from outside.
    let wait = vec![vec![0; 60]; home.len() + 4];
    write_capture(&dir.path("wan.pcap"), &[&known(&[hop], outer)[..], &wait, world].concat());
    let dump = |name: &str| format!("FromDump({name}.pcap, TIMING true, STOP true)");
    let text = replaced(
        example("nat-gateway.click"),
        &[
            ("FromDevice($LAN, PROMISC true, SNIFFER false)", &dump("lan")),
            ("FromDevice($WAN, PROMISC true, SNIFFER false)", &dump("wan")),
            ("ToDevice($LAN)", "ToDump(to-lan.pcap)"),
            ("ToDevice($WAN)", "ToDump(to-wan.pcap)"),
            // Ports that the test can know.
            ("pattern $WAN_IP 1024-65535 -", "pattern $WAN_IP 2000-2999# -"),
        ],
    );
    dir.write("nat.click", &(text + "DriverManager(wait_stop 2, wait 10ms, stop);"));
    let handlers: Vec<&str> = handlers.iter().flat_map(|h| ["-h", h]).collect();
    let said = run(&dir, &[&["nat.click"], &handlers[..]].concat());
    (packets(&frames(&dir.path("to-lan.pcap"))), packets(&frames(&dir.path("to-wan.pcap"))), said)
}

#[test]
fn the_gateway_hides_the_home_behind_one_address_and_lets_answers_in() {
    let [near, outer, host, web, hop] = stations();
    let server = Ipv4Address::from_octets(SERVER);
    let out = |content, id| IpFrame::through(host, near.ether, server, id, content).build();
    let from_server = Station { ip: server, ..hop };
    let back = |content, id| IpFrame::through(from_server, outer.ether, outer.ip, id, content).build();
    let home = [
        with_ports(out(Content::Udp(10), 1), 5000, 53),
        with_ports(out(Content::Tcp(flag::SYN, 1, 0), 2), 5000, 443),
        out(ping(8), 3),
        // Answers of the web server to a visitor come after the visit: see below.
        IpFrame::through(host, near.ether, near.ip, 4, ping(8)).build(),
    ];
    let world = [
        with_ports(back(Content::Udp(20), 1), 53, 2000),
        with_ports(back(Content::Tcp(flag::SYN | flag::ACK, 1, 0), 2), 443, 2001),
        back(Content::Echo(icmp_type::ECHO_REPLY, 8), 2000),
        with_ports(back(Content::Tcp(flag::SYN, 1, 0), 5), 7777, 80),
    ];
    let (to_home, to_world, said) =
        run_gateway("answers", &home, &world, &["nat.size", "nat.mapping_failures"]);
    let host_end = format!("{}", host.ip);
    assert_eq!(
        to_world,
        [
            "udp 203.0.113.7:2000 > 9.9.9.9:53",
            "tcp 203.0.113.7:2001 > 9.9.9.9:443",
            "icmp 8 203.0.113.7:0 > 9.9.9.9:0"
        ]
    );
    assert_eq!(
        to_home,
        [
            format!("icmp 0 192.168.1.1:0 > {host_end}:0"),
            format!("udp 9.9.9.9:53 > {host_end}:5000"),
            format!("tcp 9.9.9.9:443 > {host_end}:5000"),
            format!("icmp 0 9.9.9.9:0 > {host_end}:0"),
            format!("tcp 9.9.9.9:7777 > {}:80", web.ip),
        ]
    );
    assert_eq!(said, "nat.size:\n4\n\nnat.mapping_failures:\n0\n\n");
}

#[test]
fn the_gateway_refuses_what_was_not_asked_for_and_what_cannot_be() {
    let [near, outer, host, _, hop] = stations();
    let server = Ipv4Address::from_octets(SERVER);
    let from = |ip: [u8; 4], content, id| {
        IpFrame::through(
            Station { ip: Ipv4Address::from_octets(ip), ..hop },
            outer.ether,
            outer.ip,
            id,
            content,
        )
        .build()
    };
    let mut to_host =
        IpFrame::through(Station { ip: server, ..hop }, outer.ether, host.ip, 1, Content::Udp(9));
    to_host.ttl = 9;
    let home = [
        with_ports(IpFrame::through(host, near.ether, server, 1, Content::Udp(10)).build(), 5000, 53),
        // A forged source, shared folders, and the gateway itself.
        IpFrame::through(Station { ip: server, ..host }, near.ether, server, 2, Content::Udp(10)).build(),
        with_ports(
            IpFrame::through(host, near.ether, server, 3, Content::Tcp(flag::SYN, 1, 0)).build(),
            5000,
            445,
        ),
        IpFrame::through(host, near.ether, outer.ip, 4, Content::Udp(10)).build(),
    ];
    let world = [
        // Another server, another port, a connection, a ping, a reply and an error that nobody waits for.
        with_ports(from([9, 9, 9, 8], Content::Udp(9), 1), 53, 2000),
        with_ports(from(SERVER, Content::Udp(9), 2), 54, 2000),
        with_ports(from(SERVER, Content::Tcp(flag::SYN, 1, 0), 3), 53, 2000),
        from(SERVER, ping(8), 4),
        from(SERVER, Content::Echo(icmp_type::ECHO_REPLY, 8), 5),
        // Private and forged sources, and a packet for an address that is not ours.
        with_ports(from([192, 168, 1, 77], Content::Udp(9), 7), 53, 2000),
        with_ports(from([127, 0, 0, 1], Content::Udp(9), 8), 53, 2000),
        with_ports(from(OUR_ADDRESS, Content::Udp(9), 9), 53, 2000),
        to_host.build(),
    ];
    let counts = [
        "forged.count",
        "private.count",
        "for_us.count",
        "spoofed.count",
        "for_others.count",
        "not_asked.count",
        "nat.drop_reasons",
    ];
    let (to_home, to_world, said) = run_gateway("refused", &home, &world, &counts);
    assert_eq!((to_home, to_world.len()), (vec![], 1));
    let numbers: Vec<&str> = said.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
    assert_eq!(numbers, ["1", "1", "1", "3", "1", "1"], "{said}");
    assert!(said.contains("3\tno mapping"), "{said}");
}

#[test]
fn the_gateway_brings_errors_home_and_reassembles_what_it_must() {
    let [near, outer, host, _, hop] = stations();
    let server = Ipv4Address::from_octets(SERVER);
    let sent = with_ports(IpFrame::through(host, near.ether, server, 1, Content::Udp(10)).build(), 5000, 53);
    // What the server's router quotes: the packet as it was on its way.
    let mut quoted = unpadded(sent.clone())[ETHER_HEADER..].to_vec();
    {
        let mut ip = Ipv4Mut::new(&mut quoted).unwrap();
        ip.set_source(outer.ip);
        ip.decrement_ttl();
        ip.fill_checksum();
    }
    quoted[20..22].copy_from_slice(&2000u16.to_be_bytes());
    let router = Station { ip: Ipv4Address::new(9, 0, 0, 1), ..hop };
    let mut error =
        IpFrame::through(router, outer.ether, outer.ip, 9, Content::Echo(3, quoted.len())).build();
    {
        let mut ip = Ipv4Mut::new(&mut error[ETHER_HEADER..]).unwrap();
        let icmp = ip.payload_mut();
        icmp[..8].copy_from_slice(&[3, 1, 0, 0, 0, 0, 0, 0]);
        icmp[8..8 + quoted.len()].copy_from_slice(&quoted);
        let sum = clickwork_packet::checksum::checksum(icmp);
        icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    // A datagram in two fragments, the second of which has no ports.
    let whole = with_ports(IpFrame::through(host, near.ether, server, 7, Content::Udp(64)).build(), 5001, 53);
    let fragment = |range: std::ops::Range<usize>, field: u16| {
        let mut frame = whole[..ETHER_HEADER + 20].to_vec();
        frame.extend(&whole[ETHER_HEADER + 20..][range]);
        let length = (frame.len() - ETHER_HEADER) as u16;
        frame[ETHER_HEADER + 2..][..2].copy_from_slice(&length.to_be_bytes());
        let mut ip = Ipv4Mut::new(&mut frame[ETHER_HEADER..]).unwrap();
        ip.set_fragment_field(field);
        ip.fill_checksum();
        frame
    };
    let expired = IpFrame { ttl: 1, ..IpFrame::through(host, near.ether, server, 8, Content::Udp(9)) };
    let home = [sent, fragment(0..40, 0x2000), fragment(40..72, 5), expired.build()];
    let (to_home, to_world, _) = run_gateway("errors", &home, &[error], &[]);
    assert_eq!(to_world, ["udp 203.0.113.7:2000 > 9.9.9.9:53", "udp 203.0.113.7:2001 > 9.9.9.9:53"]);
    assert_eq!(to_home, ["icmp 11 192.168.1.1:0 > 192.168.1.9:0", "icmp 3 9.0.0.1:0 > 192.168.1.9:0"]);
}

#[test]
fn the_proxy_asks_two_name_servers_in_turn_and_serves_nobody_else() {
    let dir = Scratch::new("examples-dns");
    let proxy =
        Station { ether: EtherAddress([2, 0, 0, 0x0d, 0, 0x53]), ip: Ipv4Address::new(192, 168, 1, 53) };
    let [client, other, router] = [(9, 1), (10, 2), (1, 3)].map(|(n, last)| station([192, 168, 1, n], last));
    let from = |from: Station, id, ports: (u16, u16)| {
        with_ports(
            IpFrame::through(from, proxy.ether, proxy.ip, id, Content::Udp(30)).build(),
            ports.0,
            ports.1,
        )
    };
    let server = |ip| Station { ip: Ipv4Address::from_octets(ip), ..router };
    let (first, second) = (server([9, 9, 9, 9]), server([149, 112, 112, 112]));
    write_capture(
        &dir.path("in.pcap"),
        &[
            arp(false, client, proxy),
            arp(false, other, proxy),
            arp(false, router, proxy),
            from(client, 1, (4000, 53)),
            from(other, 2, (4000, 53)),
            from(client, 3, (4001, 53)),
            // Not of the network, and not a query.
            from(server([8, 8, 8, 8]), 4, (4000, 53)),
            from(client, 5, (4000, 80)),
            // Answers, the first from the wrong server.
            from(second, 6, (53, 2000)),
            from(second, 7, (53, 2001)),
            from(first, 8, (53, 2000)),
        ],
    );
    let text = replaced(
        example("dns-proxy.click"),
        &[
            ("FromDevice($DEVICE, PROMISC true, SNIFFER false)", "FromDump(in.pcap, TIMING true, STOP true)"),
            ("ToDevice($DEVICE)", "ToDump(out.pcap)"),
            // Ports that the test can know.
            ("$IP 1024-65535 $SERVER1", "$IP 2000-2999# $SERVER1"),
            ("$IP 1024-65535 $SERVER2", "$IP 2001-2999# $SERVER2"),
        ],
    );
    dir.write("dns.click", &(text + "DriverManager(wait_stop, wait 10ms, stop);"));
    let said =
        run(&dir, &["dns.click", "-h", "queries.count", "-h", "answers.count", "-h", "not_served.count"]);
    let sent = packets(&frames(&dir.path("out.pcap")));
    assert_eq!(
        sent,
        [
            "udp 192.168.1.53:2000 > 9.9.9.9:53",
            "udp 192.168.1.53:2001 > 149.112.112.112:53",
            "udp 192.168.1.53:2001 > 9.9.9.9:53",
            "udp 192.168.1.53:53 > 192.168.1.10:4000",
            "udp 192.168.1.53:53 > 192.168.1.9:4000",
        ]
    );
    assert_eq!(said, "queries.count:\n3\n\nanswers.count:\n2\n\nnot_served.count:\n2\n\n");
}
