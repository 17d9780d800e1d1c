//! `vpn-gateway.click`: two gateways, in simulated time on captures.

use super::*;
use clickwork_packet::headers::Ipv4Mut;
use vpn_arguments::arguments;

/// The stations: a gateway's near and outer side, and a host of its network.
fn stations(gateway: usize) -> [Station; 3] {
    let near = gateway as u8 + 1;
    [
        station([10, near, 0, 1], 10 * near),
        station([192, 0, 2, near], 10 * near + 1),
        station([10, near, 0, 2], 10 * near + 2),
    ]
}

/// Runs a gateway with its own arguments: see [`run_with`].
fn run_gateway(
    gateway: usize,
    lan: &[Vec<u8>],
    wan: &[Vec<u8>],
    handler: &str,
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, String) {
    run_with(gateway, &arguments(gateway), lan, wan, handler)
}

/// Runs a gateway on what comes from both sides; gives what it sends to both, and what a handler says afterwards.
fn run_with(
    gateway: usize,
    arguments: &[String],
    lan: &[Vec<u8>],
    wan: &[Vec<u8>],
    handler: &str,
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, String) {
    let dir = Scratch::new(&format!("examples-vpn-{handler}-{gateway}"));
    dir.write_keys();
    write_capture(&dir.path("lan.pcap"), lan);
    write_capture(&dir.path("wan.pcap"), wan);
    let dump = |name: &str| format!("FromDump({name}.pcap, TIMING true, STOP true)");
    let text = replaced(
        example("vpn-gateway.click"),
        &[
            ("FromDevice($LAN, PROMISC true, SNIFFER false)", &dump("lan")),
            ("FromDevice($WAN, PROMISC true, SNIFFER false)", &dump("wan")),
            ("ToDevice($LAN)", "ToDump(to-lan.pcap)"),
            ("ToDevice($WAN)", "ToDump(to-wan.pcap)"),
        ],
    );
    dir.write("vpn.click", &(text + "DriverManager(wait_stop 2, wait 10ms, stop);"));
    let [near, outer, _] = stations(gateway);
    let mut args = arguments.to_vec();
    args.extend([format!("LAN_ETHER={}", near.ether), format!("WAN_ETHER={}", outer.ether)]);
    args.extend(["-h".to_string(), handler.to_string()]);
    args.insert(0, "vpn.click".to_string());
    let said = run(&dir, &args.iter().map(String::as_str).collect::<Vec<_>>());
    (frames(&dir.path("to-lan.pcap")), frames(&dir.path("to-wan.pcap")), said)
}

/// Those frames that are ESP.
fn esp(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    frames.iter().filter(|f| f[12..14] == [8, 0] && f[ETHER_HEADER + 9] == 50).cloned().collect()
}

#[test]
fn two_vpn_gateways_carry_packets_and_nothing_else() {
    let ([near0, outer0, host0], [near1, outer1, host1]) = (stations(0), stations(1));
    let ask = IpFrame::through(host0, near0.ether, host1.ip, 5, ping(40));
    let mut long = IpFrame::through(host0, near0.ether, host1.ip, 6, Content::Udp(1440));
    long.fragment = 0x4000;
    let elsewhere = IpFrame::through(host0, near0.ether, Ipv4Address::new(9, 9, 9, 9), 7, ping(8));
    let lan = [arp(false, host0, near0), ask.build(), long.build(), elsewhere.build()];
    let (to_lan, to_wan, said) = run_gateway(0, &lan, &[arp(false, outer1, outer0)], "unprotected.count");
    let protected = esp(&to_wan);
    assert_eq!((protected.len(), said.trim()), (1, "1"));
    assert!(
        to_wan.iter().all(|f| f[12..14] == [8, 6] || f[ETHER_HEADER + 9] == 50),
        "nothing leaves in the clear"
    );
    let payload = &ask.build()[ETHER_HEADER + 20..][..48];
    assert!(!protected[0].windows(16).any(|w| w == &payload[16..32]), "the ping cannot be read");
    // The long one was refused, by the book (RFC 1191), with the room that the tunnel has.
    let error = to_lan.iter().find(|f| f[12..14] == [8, 0]).expect("an ICMP error");
    assert_eq!(error[ETHER_HEADER + 20..][..2], [3, 4]);
    assert_eq!(u16::from_be_bytes([error[ETHER_HEADER + 26], error[ETHER_HEADER + 27]]), 1446);

    // To the other gateway, with a replay, a forgery, and what was never protected.
    let mut forged = protected[0].clone();
    forged[ETHER_HEADER + 27] ^= 2;
    let spoofed = IpFrame::through(outer0, outer1.ether, host1.ip, 9, ping(8));
    let wan =
        [arp(false, outer0, outer1), forged, protected[0].clone(), protected[0].clone(), spoofed.build()];
    let (to_lan, _, said) = run_gateway(1, &[arp(false, host1, near1)], &wan, "decrypt.drop_reasons");
    let delivered: Vec<_> = to_lan.iter().filter(|f| f[12..14] == [8, 0]).collect();
    let mut expected = ask.build()[ETHER_HEADER..].to_vec();
    let mut ip = Ipv4Mut::new(&mut expected).unwrap();
    ip.decrement_ttl();
    ip.decrement_ttl();
    assert_eq!(delivered.iter().map(|f| &f[ETHER_HEADER..]).collect::<Vec<_>>(), [&expected[..]]);
    assert!(said.contains("1\tnot authentic\n1\treplayed\n"), "{said}");
}

#[test]
fn an_authentic_packet_with_a_strange_source_is_refused() {
    let ([near0, outer0, host0], [near1, outer1, host1]) = (stations(0), stations(1));
    let stranger = Station { ip: Ipv4Address::new(10, 9, 0, 2), ..host1 };
    let lan = [IpFrame::through(stranger, near1.ether, host0.ip, 8, ping(8)).build()];
    let wan = [arp(false, outer0, outer1)];
    // Gateway 1 does not send it, unless it is told that this is its network.
    let (_, to_wan, said) = run_gateway(1, &lan, &wan, "unprotected.count");
    assert_eq!((esp(&to_wan).len(), said.trim()), (0, "1"));
    let mut arguments = arguments(1);
    arguments[1] = "LAN_NET=10.9.0.0/24".to_string();
    let (_, to_wan, _) = run_with(1, &arguments, &lan, &wan, "unprotected.count");
    let authentic = esp(&to_wan);
    assert_eq!(authentic.len(), 1);
    let (to_lan, _, said) = run_gateway(0, &[arp(false, host0, near0)], &authentic, "spoofed.count");
    assert!(to_lan.iter().all(|f| f[12..14] == [8, 6]) && said.trim() == "1", "{said}");
}
