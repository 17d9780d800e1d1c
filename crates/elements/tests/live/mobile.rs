//! `examples/mobile-home.click` and `examples/mobile-node.click` between kernel hosts: a host leaves its network, keeps talking
//! to another that stays there, and comes back.
//!
//! ```text
//!    stays h0 ---.
//!                 lan (a kernel bridge) --- r0 home node r1 ------ f0 moves
//!    moves h0 ---'                                                (abroad)
//! ```

use crate::lab::{Host, example, read, route_until, route_until_done, router_with};
use crate::support::{in_namespace, ip, run};
use clickwork_router::{Driver, Router};
use std::net::UdpSocket;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const QUIET: &str = "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1";
/// The home node's Ethernet address at home, and the mobile host's.
const NODE: &str = "02:00:00:00:00:01";
const MOBILE: &str = "02:00:00:00:00:99";

/// The hosts that stay and that move, each with a server that answers datagrams.
fn hosts() -> [Host; 2] {
    run("sysctl", QUIET);
    let bridge = Command::new("ip").args("link add lan type bridge mcast_snooping 0".split(' ')).output();
    if !bridge.is_ok_and(|done| done.status.success()) {
        clickwork_oracles::lacking("this kernel has no bridges");
    }
    let hosts = [Host::new(), Host::new()];
    ip("link set lan up");
    ip(&format!("link add r0 address {NODE} type veth peer name l2"));
    for (host, (port, ether)) in hosts.iter().zip([("l0", "02:00:00:00:00:05"), ("l1", MOBILE)]) {
        ip(&format!("link add {port} type veth peer name h0 address {ether}"));
        host.take_interface("h0");
    }
    for port in ["l0", "l1", "l2"] {
        ip(&format!("link set {port} master lan"));
        ip(&format!("link set {port} up"));
    }
    ip("link add r1 address 02:00:00:00:00:02 type veth peer name f0");
    hosts[1].take_interface("f0");
    ["r0", "r1"].iter().for_each(|interface| ip(&format!("link set {interface} up")));
    for (host, address) in hosts.iter().zip(["10.0.0.5/24", "10.0.0.99/24"]) {
        host.run(move || {
            run("sysctl", QUIET);
            run("sysctl", "-qw net.ipv4.conf.h0.arp_notify=1");
            ip("link set lo up");
            ip(&format!("addr add {address} dev h0"));
            ip("link set h0 up");
            std::thread::spawn(answer);
        });
    }
    hosts
}

/// Answers datagrams, of whatever length, until the test ends.
fn answer() {
    let socket = UdpSocket::bind("0.0.0.0:7").unwrap();
    let mut buffer = vec![0; 65536];
    loop {
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            // Between two addresses there is none to answer from.
            let _ = socket.send_to(&buffer[..length], from);
        }
    }
}

/// Asks until there is an answer, for some minutes; gives how often it took. The datagram is cut on the way if need be.
fn ask(whom: &str, length: usize) -> Option<usize> {
    let data: Vec<u8> = (0..length).map(|n| n as u8).collect();
    let mut buffer = vec![0; 65536];
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.set_read_timeout(Some(Duration::from_millis(200))).ok()?;
    (1..=600).find(|_| {
        let sent = socket.send_to(&data, (whom, 7));
        if sent.is_err() {
            std::thread::sleep(Duration::from_millis(100));
        }
        sent.is_ok() && matches!(socket.recv(&mut buffer), Ok(n) if buffer[..n] == data)
    })
}

fn home_node() -> Router {
    let defines =
        [("HOME_DEV", "r0"), ("HOME_ETHER", NODE), ("OUT_DEV", "r1"), ("OUT_ETHER", "02:00:00:00:00:02")];
    router_with(&example("mobile-home.click"), &defines, false).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs the mobile host's side abroad until told to stop. Gives how many packets went out and came in, and what was said.
fn mobile_node(stop: &AtomicBool) -> (String, String, String) {
    let defines = [("DEV", "f0"), ("ETHER", "02:00:00:00:00:09")];
    let mut r = router_with(&example("mobile-node.click"), &defines, false).unwrap_or_else(|e| panic!("{e}"));
    let mut driver = Driver::default();
    while !stop.load(Ordering::Relaxed) {
        driver.run_for(&mut r, Duration::from_millis(5));
    }
    let counts = (read(&mut r, "sent.count"), read(&mut r, "received.count"), r.log().taken());
    r.cleanup();
    counts
}

/// The Ethernet address that the host which stays knows for the other.
fn known(hosts: &[Host; 2]) -> String {
    let shown = hosts[0].start(|| {
        let shown = Command::new("ip").args("neigh show 10.0.0.99".split(' ')).output().unwrap();
        String::from_utf8(shown.stdout).unwrap()
    });
    shown
        .recv()
        .unwrap()
        .split_whitespace()
        .skip_while(|word| *word != "lladdr")
        .nth(1)
        .unwrap_or("")
        .to_string()
}

fn asked(r: &mut Router, host: &Host, whom: &'static str, length: usize) -> usize {
    let asked = host.start(move || ask(whom, length));
    route_until_done(r, "an answer", &asked).unwrap_or_else(|| panic!("no answer from {whom}"))
}

pub fn a_host_that_moves_stays_reachable() {
    clickwork_oracles::program("ping");
    in_namespace(|| {
        let hosts = hosts();
        let mut r = home_node();
        asked(&mut r, &hosts[0], "10.0.0.99", 100);
        assert_eq!(known(&hosts), MOBILE);

        // It goes abroad.
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let abroad = hosts[1].start(move || {
            ip("link set h0 down");
            ip("addr del 10.0.0.99/24 dev h0");
            ip("link set f0 up");
            std::thread::spawn(move || mobile_node(&told))
        });
        let abroad = route_until_done(&mut r, "the way abroad", &abroad);
        r.write("moved.run", "10.7.0.9").unwrap();
        asked(&mut r, &hosts[0], "10.0.0.99", 100);
        assert_eq!(known(&hosts), NODE, "the home node answers for it");
        asked(&mut r, &hosts[1], "10.0.0.5", 100);
        // More than fits into a packet, in the tunnel or outside.
        asked(&mut r, &hosts[0], "10.0.0.99", 1472);
        asked(&mut r, &hosts[1], "10.0.0.5", 5000);
        // The home node itself, through the tunnel.
        let pinged = hosts[1].start(|| {
            let ping = "-c 1 -W 60 10.0.0.1";
            Command::new("ping").args(ping.split(' ')).output().unwrap().status.success()
        });
        assert!(route_until_done(&mut r, "a ping", &pinged));

        // It comes back.
        stop.store(true, Ordering::Relaxed);
        let (sent, received, said) = abroad.join().unwrap();
        let enough = |count: &str| count.parse::<u32>().unwrap() >= 4;
        assert!(enough(&sent) && enough(&received), "{sent} sent, {received} received: {said}");
        r.write("returned.run", "").unwrap();
        hosts[1].run(|| {
            ip("link set f0 down");
            ip("addr add 10.0.0.99/24 dev h0");
            ip("link set h0 up");
        });
        asked(&mut r, &hosts[0], "10.0.0.99", 1472);
        let mut checks = 0;
        route_until(&mut r, "the host to be known by its own address", |_| {
            checks += 1;
            checks % 50 == 0 && known(&hosts) == MOBILE
        });
    });
}
