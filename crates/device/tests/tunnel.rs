//! TUN and TAP interfaces, with the kernel as the host at the other end.

mod support;

use clickwork_device::{
    Fault, Interface, InterfaceAddresses, Tunnel, TunnelKind, TunnelOptions, default_gateway,
};
use etherparse::{NetSlice, PacketBuilder, SlicedPacket};
use std::net::{Ipv4Addr, UdpSocket};
use support::{in_namespace, ip, run, until};

const HOST: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 1);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 2);

fn options(kind: TunnelKind) -> TunnelOptions {
    run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    TunnelOptions {
        name: "ours%d".into(),
        address: Some((HOST, 24)),
        gateway: Some(GATEWAY),
        mtu: Some(1280),
        ..TunnelOptions::new(kind)
    }
}

fn a_tun_interface_carries_ip_packets_both_ways() {
    in_namespace(|| {
        let tunnel = Tunnel::open(&options(TunnelKind::Tun)).unwrap();
        assert_eq!(tunnel.name(), "ours0");
        let interface = Interface::find("ours0").unwrap();
        assert!(interface.up && interface.mtu == 1280);
        assert_eq!(InterfaceAddresses::of("ours0").unwrap().ipv4, [(HOST, 24)]);
        assert_eq!(default_gateway("ours0"), Some(GATEWAY));

        let socket = UdpSocket::bind((HOST, 1000)).unwrap();
        socket.send_to(b"out", "192.0.2.1:9").unwrap();
        let mut buffer = [0; 2000];
        let mut length = None;
        until("the packet arrives", || {
            length = tunnel.read(&mut buffer).unwrap();
            length.is_some()
        });
        let packet = SlicedPacket::from_ip(&buffer[..length.unwrap()]).unwrap();
        let Some(NetSlice::Ipv4(ip)) = &packet.net else { panic!() };
        assert_eq!(ip.header().destination(), [192, 0, 2, 1]);

        let mut reply = Vec::new();
        let builder = PacketBuilder::ipv4([192, 0, 2, 1], HOST.octets(), 64).udp(9, 1000);
        builder.write(&mut reply, b"back").unwrap();
        assert!(tunnel.write(&reply).unwrap());
        let mut answer = [0; 100];
        assert_eq!(socket.recv(&mut answer).unwrap(), 4);
        assert_eq!(&answer[..4], b"back");
    });
}

fn a_tap_interface_carries_ethernet_frames() {
    in_namespace(|| {
        let mac = [2, 0, 0, 0, 8, 1];
        let tunnel =
            Tunnel::open(&TunnelOptions { ethernet: Some(mac), gateway: None, ..options(TunnelKind::Tap) })
                .unwrap();
        assert_eq!(Interface::find(tunnel.name()).unwrap().ethernet, Some(mac));
        ip(&format!("neigh add 10.8.0.2 lladdr 02:00:00:00:08:02 dev {}", tunnel.name()));
        UdpSocket::bind((HOST, 0)).unwrap().send_to(b"x", (GATEWAY, 9)).unwrap();
        let mut buffer = [0; 2000];
        until("the frame arrives", || tunnel.read(&mut buffer).unwrap().is_some());
        assert_eq!(buffer[..12], [2, 0, 0, 0, 8, 2, 2, 0, 0, 0, 8, 1]);
    });
}

fn a_tunnel_has_an_ipv6_address_too() {
    in_namespace(|| {
        let address = ("2001:db8::1".parse().unwrap(), 64);
        let with_address = |name: &str| TunnelOptions {
            name: name.into(),
            address6: Some(address),
            ..TunnelOptions::new(TunnelKind::Tap)
        };
        let tunnel = Tunnel::open(&with_address("ours%d")).unwrap();
        assert!(InterfaceAddresses::of(tunnel.name()).unwrap().ipv6.contains(&address));
        // An interface that stays keeps its address.
        ip("tuntap add stays mode tap");
        drop(Tunnel::open(&with_address("stays")).unwrap());
        drop(Tunnel::open(&with_address("stays")).unwrap());
        run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
        let error = Tunnel::open(&with_address("no6")).err().unwrap().to_string();
        assert!(error.starts_with("no6: cannot add the IPv6 address: "), "{error}");
    });
}

fn failures_name_the_interface_and_the_reason() {
    in_namespace(|| {
        let first = Tunnel::open(&options(TunnelKind::Tun)).unwrap();
        let taken = TunnelOptions { name: first.name().into(), ..TunnelOptions::new(TunnelKind::Tun) };
        let error = Tunnel::open(&taken).err().unwrap();
        assert_eq!(error.to_string(), "ours0: cannot make the interface: another program has it open");
        let error = first.write(&[0; 40]).unwrap_err();
        assert_eq!(error.fault(), Fault::Other);
        ip("link set ours0 down");
        assert_eq!(first.write(&[0x45; 40]).unwrap_err().fault(), Fault::Down);
        ip("link del ours0");
        assert_eq!(first.read(&mut [0; 100]).unwrap_err().fault(), Fault::Vanished);
    });
}

clickwork_oracles::tests! {
    a_tun_interface_carries_ip_packets_both_ways,
    a_tap_interface_carries_ethernet_frames,
    a_tunnel_has_an_ipv6_address_too,
    failures_name_the_interface_and_the_reason,
}
