//! What needs root or another program: device elements on real interfaces, in network namespaces; what tshark reads.

mod ip6;
mod ipsec;
mod lab;
mod mobile;
mod raw_socket;
mod spanning_tree;
#[path = "../../../device/tests/support/mod.rs"]
mod support;

use clickwork_router::Router;
use lab::{PATIENCE, read, route_until, route_until_done, router, two_hosts};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use support::{in_namespace, ip};

const BRIDGE: &str = "f0 :: FromDevice(r0, PROMISC true, SNIFFER false) -> q0 :: Queue -> t1 :: ToDevice(r1); \
                      f1 :: FromDevice(r1, PROMISC true, SNIFFER false) -> q1 :: Queue -> t0 :: ToDevice(r0);";

fn build(config: &str, ordered: bool) -> Router {
    router(config, ordered).unwrap_or_else(|e| panic!("{e}"))
}

/// Sends datagrams to the echo of the other host one after the other; gives how many came back right.
fn ask(echo: &str, count: u32) -> u32 {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 100];
    let answered = (0..count).filter(|n| {
        socket.send_to(&n.to_be_bytes(), echo).unwrap();
        matches!(socket.recv(&mut buffer), Ok(4)) && buffer[..4] == n.to_be_bytes()
    });
    answered.count() as u32
}

/// Answers this many datagrams with themselves.
fn echo(port: u16, count: u32) {
    let socket = UdpSocket::bind(("0.0.0.0", port)).unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 2000];
        for _ in 0..count {
            let (length, from) = socket.recv_from(&mut buffer).unwrap();
            socket.send_to(&buffer[..length], from).unwrap();
        }
    });
}

fn hosts_talk_through_a_bridge_in_both_modes() {
    for ordered in [false, true] {
        in_namespace(|| {
            let hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
            let mut r = build(BRIDGE, ordered);
            hosts[1].run(|| echo(7, 20));
            let asked = hosts[0].start(|| ask("10.9.0.2:7", 20));
            assert_eq!(route_until_done(&mut r, "answers", &asked), 20);
            // One ARP query and its answer, and the datagrams; both kernels left the checksums to us.
            for (from, to) in [("f0", "t1"), ("f1", "t0")] {
                let received: u32 = read(&mut r, &format!("{from}.count")).parse().unwrap();
                assert!(received >= 21, "{received}");
                assert_eq!(read(&mut r, &format!("{to}.count")), received.to_string());
                assert!(
                    read(&mut r, &format!("{from}.repairs"))
                        .starts_with("20\tchecksums completed\n0\tmerged")
                );
            }
            assert_eq!(read(&mut r, "f0.encap"), "ETHER");
            assert_eq!(read(&mut r, "f0.kernel_drops"), "0");
        });
    }
}

fn a_tcp_stream_of_merged_segments_arrives_whole() {
    in_namespace(|| {
        let hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let mut r = build(BRIDGE, false);
        let data: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 / 5) as u8).collect();
        let sent = data.clone();
        let listener = hosts[1].start(|| TcpListener::bind("10.9.0.2:80").unwrap()).recv().unwrap();
        let received = hosts[1].start(move || {
            let mut received = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
            received
        });
        let _sending =
            hosts[0].start(move || TcpStream::connect("10.9.0.2:80").unwrap().write_all(&sent).unwrap());
        let received = route_until_done(&mut r, "the stream", &received);
        assert!(received == data, "{} bytes of {} arrived right", received.len(), data.len());
        let repairs = read(&mut r, "f0.repairs");
        let merged: u32 = repairs.lines().nth(1).and_then(|l| l.split('\t').next()).unwrap().parse().unwrap();
        assert!(merged > 0, "nothing was merged, so nothing was tested: {repairs}");
        let printed = r.log().taken();
        assert_eq!(printed.matches("f0: warning: r0: packets arrive merged").count(), 1, "{printed}");
        assert!(printed.contains("`ethtool -K r0 "), "{printed}");
    });
}

fn packets_are_cut_and_told_apart_as_configured() {
    in_namespace(|| {
        let hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let mut r = build(
            "f :: FromDevice(r0, SNAPLEN 40, FORCE_IP true); f[0] -> ip :: Counter -> Discard; \
             f[1] -> other :: Counter -> Discard; arp :: FromDevice(r0, PROTOCOL 0x0806) -> Discard;",
            false,
        );
        hosts[0].run(|| {
            ip("neigh add 10.9.0.9 lladdr 02:00:00:00:00:00 dev h0");
            UdpSocket::bind("10.9.0.1:9").unwrap().send_to(&[1; 100], "10.9.0.9:9").unwrap();
            // Nobody has this address, so there is an ARP query.
            let _ = UdpSocket::bind("10.9.0.1:10").unwrap().send_to(b"x", "10.9.0.8:9");
        });
        route_until(&mut r, "both packets", |r| read(r, "other.count") != "0" && read(r, "ip.count") == "1");
        assert_eq!(read(&mut r, "ip.byte_count"), "40");
        assert_ne!(read(&mut r, "arp.count"), "0");
        let (all, arp): (u32, u32) =
            (read(&mut r, "f.count").parse().unwrap(), read(&mut r, "arp.count").parse().unwrap());
        assert!(arp < all, "{arp} of {all}");
    });
}

fn a_removed_interface_is_reported_once_and_the_rest_goes_on() {
    in_namespace(|| {
        let _hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let config = format!(
            "{BRIDGE} s :: RatedSource(RATE 1000) -> c :: Counter -> s2 :: Queue -> d :: ToDevice(lo)"
        );
        ip("link set lo up");
        let mut r = build(&config, false);
        ip("link set r0 down");
        let mut printed = String::new();
        route_until(&mut r, "a message", |r| {
            printed += &r.log().taken();
            printed
                .contains("f0: r0: cannot receive: the interface is down (`ip link set r0 up` brings it up)")
        });
        ip("link del r0");
        route_until(&mut r, "another message", |r| {
            printed += &r.log().taken();
            printed.contains("f0: r0: cannot receive: the interface is gone")
        });
        let before: u32 = read(&mut r, "c.count").parse().unwrap();
        route_until(&mut r, "more packets", |r| read(r, "c.count").parse::<u32>().unwrap() > before + 20);
        printed += &r.log().taken();
        assert_eq!(printed.matches("f0: ").count(), 2, "{printed}");
        assert_eq!(read(&mut r, "f0.kernel_drops"), "??");
    });
}

fn an_interface_that_is_created_again_is_picked_up() {
    in_namespace(|| {
        let make = || {
            support::veth_pair();
            ip("link set lo up");
        };
        make();
        let config =
            "RatedSource(LENGTH 60, RATE 1000) -> Queue -> t :: ToDevice(v0); f :: FromDevice(v1) -> Discard";
        let mut r = build(config, false);
        let count = |r: &mut Router, name| read(r, name).parse::<u64>().unwrap();
        for round in 0..2 {
            let before = count(&mut r, "f.count");
            route_until(&mut r, "packets", |r| count(r, "f.count") > before + 10);
            if round == 0 {
                ip("link del v0");
                let mut printed = String::new();
                route_until(&mut r, "both notice", |r| {
                    printed += &r.log().taken();
                    printed.contains("t: v0: ") && printed.contains("f: v1: ")
                });
                route_until(&mut r, "drops", |r| read(r, "t.drop_reasons").contains("interface is gone"));
                make();
            }
        }
        let printed = r.log().taken();
        for message in ["t: v0: the interface is there again", "f: v1: the interface is there again"] {
            assert_eq!(printed.matches(message).count(), 1, "{printed}");
        }
    });
}

fn what_cannot_be_sent_leaves_by_output_1() {
    in_namespace(|| {
        let _hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let mut r = build(
            "InfiniteSource(LENGTH 1600, LIMIT 8) -> q :: Queue; InfiniteSource(LENGTH 60, LIMIT 3) -> q; \
             q -> t :: ToDevice(r0); t[0] -> sent :: Counter -> Discard; t[1] -> failed :: Counter -> Discard",
            false,
        );
        route_until(&mut r, "all packets", |r| {
            read(r, "failed.count") == "8" && read(r, "sent.count") == "3"
        });
        let printed = r.log().taken();
        assert_eq!(
            printed.matches("t: r0: cannot send a packet: 1600 bytes are too long for MTU 1500").count(),
            5
        );
        ip("link set r1 down");
        let mut down = build("InfiniteSource(LENGTH 60, LIMIT 4) -> Queue -> t :: ToDevice(r1)", false);
        route_until(&mut down, "drops", |r| read(r, "t.drop_reasons") == "4\tinterface is down\n");
        assert_eq!(down.log().taken().matches("the interface is down").count(), 1);
    });
}

fn a_hot_swap_loses_and_doubles_no_packet() {
    in_namespace(|| {
        let hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let config = "f :: FromDevice(r0) -> c :: Counter -> Discard";
        let old = build(config, false);
        let send = || {
            let socket = UdpSocket::bind("10.9.0.1:9").unwrap();
            for _ in 0..50 {
                socket.send_to(b"x", "10.9.0.9:9").unwrap();
            }
        };
        hosts[0].run(move || {
            ip("neigh add 10.9.0.9 lladdr 02:00:00:00:00:00 dev h0");
            send();
        });
        let mut new = build(config, false);
        hosts[0].run(send);
        new.take_over(old);
        hosts[0].run(send);
        route_until(&mut new, "150 packets", |r| read(r, "c.count") == "150");
        clickwork_router::Driver::default().run_for(&mut new, Duration::from_millis(20));
        assert_eq!(read(&mut new, "f.count"), "150");
    });
}

fn the_host_pings_a_router_behind_a_tunnel() {
    clickwork_oracles::program("ping");
    in_namespace(|| {
        let config = "tun :: KernelTun(10.8.0.1/24, DEVNAME ours0) -> ICMPPingResponder -> tun; \
                      tap :: FromHost(ours1, 10.7.0.1/24, ETHER 02:00:00:00:07:01) -> c :: Classifier(12/0806 20/0001, 12/0800); \
                      c[0] -> ARPResponder(10.7.0.2 02:00:00:00:07:02) -> out :: ToHost(ours1); \
                      c[1] -> Strip(14) -> MarkIPHeader -> ICMPPingResponder \
                      -> EtherEncap(0x0800, 02:00:00:00:07:02, 02:00:00:00:07:01) -> out;";
        let mut r = build(config, false);
        for (address, counter) in [("10.8.0.9", "tun.packets"), ("10.7.0.2", "c.packets")] {
            let ping = Command::new("ping")
                .args(["-c", "3", "-i", "0.01", "-W", "60", address])
                .stdout(Stdio::null())
                .spawn();
            let mut ping = ping.unwrap();
            let mut status = None;
            route_until(&mut r, "three answers", |_| {
                status = ping.try_wait().unwrap();
                status.is_some()
            });
            assert!(status.unwrap().success(), "{address}: {}", r.log().taken());
            assert_ne!(read(&mut r, counter), "0");
        }
        assert_eq!(read(&mut r, "tun.dev_name"), "ours0");
    });
}

fn a_missing_permission_names_the_remedy() {
    in_namespace(|| {
        let nobody = 65534u32;
        // SAFETY: the bare system call changes the user of this thread only, and the thread ends with the test.
        let outcome = unsafe { libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody) };
        assert_eq!(outcome, 0);
        for config in ["FromDevice(lo) -> Discard", "Idle -> ToDevice(lo)"] {
            let e = router(config, false).err().expect("it is not permitted");
            assert!(
                e.contains("lo: cannot open a packet socket: Operation not permitted (run as root, or"),
                "{e}"
            );
        }
    });
}

/// An idle router sleeps: its thread uses next to no processor time.
fn an_idle_router_sleeps() {
    in_namespace(|| {
        let _hosts = two_hosts(["10.9.0.1/24", "10.9.0.2/24"]);
        let mut r = build(BRIDGE, false);
        let mut driver = clickwork_router::Driver::default();
        driver.run_for(&mut r, Duration::from_millis(50));
        let before = switches();
        driver.run_for(&mut r, Duration::from_millis(1200));
        // Two sleeps of half a second and what is left, or a few more if something stirred.
        let slept = switches() - before;
        assert!((1..200).contains(&slept), "the thread slept {slept} times in 1.2 s");
    });
}

/// How often this thread has gone to sleep of its own accord.
fn switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

clickwork_oracles::tests! {
    hosts_talk_through_a_bridge_in_both_modes,
    a_tcp_stream_of_merged_segments_arrives_whole,
    packets_are_cut_and_told_apart_as_configured,
    a_removed_interface_is_reported_once_and_the_rest_goes_on,
    an_interface_that_is_created_again_is_picked_up,
    what_cannot_be_sent_leaves_by_output_1,
    a_hot_swap_loses_and_doubles_no_packet,
    the_host_pings_a_router_behind_a_tunnel,
    a_missing_permission_names_the_remedy,
    an_idle_router_sleeps,
    ip6::kernels_reach_each_other_through_the_ipv6_router,
    ip6::datagrams_that_nobody_expects_are_refused,
    ip6::the_host_pings_an_ipv6_address_behind_an_interface_of_ours,
    ip6::an_ipv6_host_reaches_an_ipv4_host_through_the_translator,
    ipsec::we_and_the_kernel_protect_each_others_packets,
    mobile::a_host_that_moves_stays_reachable,
    raw_socket::raw_sockets_send_and_receive_what_udp_sockets_do,
    spanning_tree::the_switch_is_the_root_of_kernel_bridges,
    spanning_tree::the_switch_follows_a_kernel_bridge_and_mends_the_ring,
}
