//! The IPv6 router of the examples between two kernels: they find each other by neighbour discovery, and believe its errors.

use crate::lab::{
    Host, PATIENCE, an_ipv6_and_an_ipv4_host, read, route_until, route_until_done, router, two_ipv6_hosts,
};
use crate::support::{in_namespace, run};
use clickwork_router::Router;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};

/// The IPv6 router on the laboratory's interfaces; the second link takes 1300 bytes.
fn example() -> String {
    in_lab(include_str!("../../../../examples/ip6-router.click"), &[("$MTU1 1500", "$MTU1 1300")])
}

/// An example on the laboratory's interfaces, with other parts replaced.
fn in_lab(example: &str, others: &[(&str, &str)]) -> String {
    let mut text = example.to_string();
    let devices = [
        ("$DEV0 eth0, $ETHER0 02:00:00:0c:00:01", "$DEV0 r0, $ETHER0 02:00:00:00:00:00"),
        ("$DEV1 eth1, $ETHER1 02:00:00:0c:00:02", "$DEV1 r1, $ETHER1 02:00:00:00:00:10"),
    ];
    for (part, by) in devices.iter().chain(others) {
        assert!(text.contains(part), "'{part}' is not in the example");
        text = text.replace(part, by);
    }
    text
}

/// What `ping` says on a host.
fn ping(r: &mut Router, host: &Host, words: &'static str) -> String {
    let pinged = host.start(move || {
        let mut command = Command::new("ping");
        command.args(["-6", "-W", "60"]).args(words.split(' ')).env("LC_ALL", "C");
        let output = command.output().expect("ping was there before");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    });
    route_until_done(r, words, &pinged)
}

pub fn kernels_reach_each_other_through_the_ipv6_router() {
    clickwork_oracles::program("ping");
    in_namespace(|| {
        let addresses = ["2001:db8::2/64", "2001:db8:1::2/64"];
        // One knows the router by its global address, the other by the one on its link.
        let hosts = two_ipv6_hosts(addresses, ["2001:db8::1", "fe80::1"]);
        let r = &mut router(&example(), false).unwrap_or_else(|e| panic!("{e}"));

        let through = ping(r, &hosts[0], "-c 2 -i 0.2 2001:db8:1::2");
        assert!(through.contains("2 received") && through.contains("ttl=63"), "{through}");
        for known in ["eth0/neighbours.table", "eth1/neighbours.table"] {
            assert!(read(r, known).contains(" 1 02-00-00-00-00-A"), "{}", read(r, known));
        }
        let router_itself = ping(r, &hosts[1], "-c 1 2001:db8::1");
        assert!(router_itself.contains("1 received"), "{router_itself}");
        let on_link = ping(r, &hosts[1], "-c 1 fe80::1%h1");
        assert!(on_link.contains("1 received") && on_link.contains("ttl=255"), "{on_link}");

        let expired = ping(r, &hosts[0], "-c 1 -t 1 2001:db8:1::2");
        assert!(expired.contains("From 2001:db8::1") && expired.contains("Hop limit"), "{expired}");
        let no_route = ping(r, &hosts[1], "-c 1 fd00::7");
        assert!(no_route.contains("From 2001:db8:1::1") && no_route.contains("No route"), "{no_route}");
        let too_big = ping(r, &hosts[0], "-c 1 -s 1400 -M do 2001:db8:1::2");
        assert!(too_big.contains("From 2001:db8::1") && too_big.contains("mtu=1300"), "{too_big}");
        // Now the host itself cuts what is too long.
        let in_pieces = ping(r, &hosts[0], "-c 1 -s 1400 2001:db8:1::2");
        assert!(in_pieces.contains("1 received"), "{in_pieces}");
    });
}

pub fn datagrams_that_nobody_expects_are_refused() {
    in_namespace(|| {
        let addresses = ["2001:db8::2/64", "2001:db8:1::2/64"];
        let hosts = two_ipv6_hosts(addresses, ["2001:db8::1", "2001:db8:1::1"]);
        let r = &mut router(&example(), true).unwrap_or_else(|e| panic!("{e}"));
        for to in ["[2001:db8::1]:9", "[2001:db8:1::1]:9", "[2001:db8:1::2]:9"] {
            let refused = hosts[0].start(move || {
                let socket = UdpSocket::bind("[::]:0").unwrap();
                socket.set_read_timeout(Some(PATIENCE)).unwrap();
                socket.connect(to).unwrap();
                socket.send(b"anybody?").unwrap();
                socket.recv(&mut [0; 10]).map_err(|e| e.kind())
            });
            assert_eq!(route_until_done(r, to, &refused), Err(ErrorKind::ConnectionRefused), "{to}");
        }
    });
}

pub fn the_host_pings_an_ipv6_address_behind_an_interface_of_ours() {
    clickwork_oracles::program("ping");
    in_namespace(|| {
        let config = "tap :: FromHost(ours0, DST6 2001:db8:7::1/64, ETHER 02:00:00:00:07:01)
            -> c :: Classifier(12/86dd 20/3a 54/87, 12/86dd 20/3a 54/80, -);
            c[0] -> IP6NDAdvertiser(2001:db8:7::2 02:00:00:00:07:02) -> out :: ToHost(ours0);
            c[1] -> Strip(14) -> CheckIP6Header(::) -> ICMP6PingResponder
            -> EtherEncap(0x86dd, 02:00:00:00:07:02, 02:00:00:00:07:01) -> out; c[2] -> Discard;";
        // The host may use its address at once.
        run("sysctl", "-qw net.ipv6.conf.default.accept_dad=0");
        let r = &mut router(config, true).unwrap_or_else(|e| panic!("{e}"));
        let words = ["-6", "-c", "2", "-i", "0.1", "-w", "120", "2001:db8:7::2"];
        let start = || Command::new("ping").args(words).stdout(Stdio::null()).spawn().unwrap();
        let mut ping = start();
        // The kernel takes a moment to have the address; until then ping ends at once.
        route_until(r, "two answers", |_| match ping.try_wait().unwrap() {
            Some(status) if !status.success() => {
                ping = start();
                false
            }
            status => status.is_some(),
        });
    });
}

pub fn an_ipv6_host_reaches_an_ipv4_host_through_the_translator() {
    in_namespace(|| {
        let route = "64:ff9b::/96 via 2001:db8::1";
        let hosts = an_ipv6_and_an_ipv4_host("2001:db8::2/64", route, "192.0.2.9/24");
        let config = in_lab(include_str!("../../../../examples/nat64.click"), &[]);
        let r = &mut router(&config, false).unwrap_or_else(|e| panic!("{e}"));
        let listener = hosts[1].start(|| TcpListener::bind("192.0.2.9:80").unwrap()).recv().unwrap();
        let data: Vec<u8> = (0..300_000u32).map(|i| (i * 7 / 5) as u8).collect();
        let sent = data.clone();
        let served = hosts[1].start(move || {
            let (mut stream, from) = listener.accept().unwrap();
            stream.write_all(&sent).unwrap();
            from.to_string()
        });
        let received = hosts[0].start(|| {
            let mut received = Vec::new();
            let mut stream = TcpStream::connect("[64:ff9b::192.0.2.9]:80").unwrap();
            stream.read_to_end(&mut received).unwrap();
            received
        });
        let received = route_until_done(r, "the stream", &received);
        assert!(received == data, "{} bytes of {} arrived right", received.len(), data.len());
        assert_eq!(served.recv().unwrap(), "192.0.2.1:1024");
        // The kernel's ICMP error becomes an ICMPv6 error that the other kernel takes for its socket's.
        let refused = hosts[0].start(|| {
            let socket = UdpSocket::bind("[::]:0").unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket.connect("[64:ff9b::192.0.2.9]:9").unwrap();
            socket.send(b"anybody?").unwrap();
            socket.recv(&mut [0; 10]).map_err(|e| e.kind())
        });
        assert_eq!(route_until_done(r, "an error", &refused), Err(ErrorKind::ConnectionRefused));
        assert_eq!(read(r, "nat.count"), "2");
    });
}
