//! `examples/switch-stp.click` in a ring with two bridges of the Linux kernel, and a host at the switch:
//!
//! ```text
//!    host --- r2 switch r0 --- pa first pb --- pa second pb --- r1 (switch)
//! ```
//!
//! The times are the shortest that the standard or the kernel permits.

use crate::lab::{Host, PATIENCE, example, read, route_until, router_with};
use crate::support::{in_namespace, ip, run};
use clickwork_router::{Driver, Router};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// How many broadcasts the host sends at a time.
const BROADCASTS: usize = 10;
const PORT: u16 = 4000;

/// What the host and the bridges are in.
struct Ring {
    host: Host,
    bridges: [Host; 2],
}

/// Makes the namespaces; the calling thread's is the switch's. `settings` are those of the first bridge and the second.
fn ring(settings: [&'static str; 2]) -> Ring {
    let quiet = "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1";
    run("sysctl", quiet);
    let ring = Ring { host: Host::new(), bridges: [Host::new(), Host::new()] };
    let [first, second] = &ring.bridges;
    for (here, there, host) in [("r0", "pa", first), ("r1", "pb", second), ("r2", "h0", &ring.host)] {
        ip(&format!("link add {here} type veth peer name {there}"));
        ip(&format!("link set {here} up"));
        host.take_interface(there);
    }
    ip("link add pb type veth peer name pa");
    first.take_interface("pb");
    second.take_interface("pa");
    for ((bridge, settings), number) in ring.bridges.iter().zip(settings).zip(1..) {
        let made = bridge.start(move || {
            run("sysctl", quiet);
            let words = format!("link add br0 type bridge mcast_snooping 0 {settings}");
            let made = std::process::Command::new("ip").args(words.split_whitespace()).output();
            if !made.is_ok_and(|made| made.status.success()) {
                return false;
            }
            for port in ["pa", "pb"] {
                ip(&format!("link set {port} master br0"));
                ip(&format!("link set {port} up"));
            }
            ip(&format!("addr add 10.5.0.{number}/24 broadcast + dev br0"));
            ip("link set br0 up");
            true
        });
        if !made.recv().expect("the bridge is tried") {
            clickwork_oracles::lacking("this kernel has no bridges");
        }
    }
    ring.host.run(move || {
        run("sysctl", quiet);
        ip("addr add 10.5.0.9/24 broadcast + dev h0");
        ip("link set h0 up");
    });
    ring
}

fn switch(defines: &[(&str, &str)]) -> Router {
    let devices = [("DEV0", "r0"), ("DEV1", "r1"), ("DEV2", "r2"), ("BRIDGE", "02:00:00:00:05:05")];
    let all: Vec<_> = devices.iter().chain(defines).copied().collect();
    router_with(&example("switch-stp.click"), &all, false).unwrap_or_else(|e| panic!("{e}"))
}

fn route_until_all<T>(router: &mut Router, jobs: Vec<Receiver<T>>) -> Vec<T> {
    let mut driver = Driver::default();
    let deadline = Instant::now() + PATIENCE;
    let mut results: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
    while results.iter().any(Option::is_none) {
        assert!(Instant::now() < deadline, "the hosts do not end: {}", router.log().taken());
        driver.run_for(router, Duration::from_millis(1));
        for (job, result) in jobs.iter().zip(&mut results) {
            *result = result.take().or_else(|| job.try_recv().ok());
        }
    }
    results.into_iter().flatten().collect()
}

/// Counts the broadcasts of a round that a host hears within a while.
fn hear(round: u64) -> usize {
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let end = Instant::now() + Duration::from_millis(700);
    let mut heard = 0;
    while Instant::now() < end {
        let mut data = [0; 8];
        let received = socket.recv(&mut data).is_ok();
        // Frames of an earlier round may have waited in the router.
        heard += usize::from(received && u64::from_be_bytes(data) == round);
    }
    heard
}

fn shout(round: u64) -> usize {
    std::thread::sleep(Duration::from_millis(150));
    let socket = UdpSocket::bind("10.5.0.9:0").unwrap();
    socket.set_broadcast(true).unwrap();
    let to_everybody = ("10.5.0.255", PORT);
    (0..BROADCASTS).filter(|_| socket.send_to(&round.to_be_bytes(), to_everybody).is_ok()).count()
}

impl Ring {
    /// How many of the host's broadcasts each bridge hears.
    fn heard(&self, router: &mut Router, round: u64) -> [usize; 2] {
        let [first, second] = &self.bridges;
        let hear = move || hear(round);
        let jobs = vec![first.start(hear), second.start(hear), self.host.start(move || shout(round))];
        let heard = route_until_all(router, jobs);
        assert_eq!(heard[2], BROADCASTS);
        [heard[0], heard[1]]
    }

    /// Waits until broadcasts reach both bridges; at no time is one doubled. Gives the time that it took.
    fn settle(&self, router: &mut Router, within: Duration) -> Duration {
        let begin = Instant::now();
        for round in 0.. {
            let heard = self.heard(router, round);
            let dump = read(router, "tree.dump");
            assert!(heard.iter().all(|&n| n <= BROADCASTS), "frames go in circles: {heard:?}\n{dump}");
            if heard == [BROADCASTS; 2] {
                return begin.elapsed();
            }
            assert!(begin.elapsed() < within, "{heard:?} after {:?}\n{dump}", begin.elapsed());
        }
        unreachable!("rounds do not end")
    }

    /// The host reaches both bridges themselves, whatever was learnt before.
    fn unicast_works(&self, router: &mut Router) {
        let [first, second] = &self.bridges;
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        let echo = move || {
            let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            while !told.load(Ordering::Relaxed) {
                if let Ok((length, from)) = socket.recv_from(&mut [0; 100]) {
                    socket.send_to(&[0; 100][..length], from).unwrap();
                }
            }
            0
        };
        // What was learnt just before the change is forgotten only after a forward delay.
        let ask = move || {
            let socket = UdpSocket::bind("10.5.0.9:0").unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let answers = |to: &str| {
                (0..1000).any(|_| {
                    socket.send_to(b"you?", (to, PORT)).unwrap();
                    matches!(socket.recv_from(&mut [0; 100]), Ok((4, from)) if from.ip().to_string() == to)
                })
            };
            let answered = ["10.5.0.1", "10.5.0.2"].into_iter().filter(|to| answers(to)).count();
            done.store(true, Ordering::Relaxed);
            answered
        };
        let jobs = vec![first.start(echo.clone()), second.start(echo), self.host.start(ask)];
        assert_eq!(route_until_all(router, jobs)[2], 2);
    }
}

/// The margin for a slow machine, and for the round of broadcasts that comes to nothing.
const MARGIN: Duration = Duration::from_secs(120);

pub fn the_switch_is_the_root_of_kernel_bridges() {
    in_namespace(|| {
        let settings = "stp_state 1 priority 32768 max_age 600 hello_time 100 forward_delay 400";
        let ring = ring([settings; 2]);
        let mut r = switch(&[("PRIORITY", "4096"), ("HELLO", "1"), ("MAX_AGE", "6"), ("DELAY", "4")]);
        ring.settle(&mut r, Duration::from_secs(8) + MARGIN);
        assert_eq!(read(&mut r, "tree.root_port"), "-1");
        ring.unicast_works(&mut r);
        // The first bridge loses its way to the root, and takes that through the second.
        ring.bridges[0].run(|| ip("link set pa down"));
        ring.settle(&mut r, Duration::from_secs(6 + 8) + MARGIN);
        ring.unicast_works(&mut r);
    });
}

pub fn the_switch_follows_a_kernel_bridge_and_mends_the_ring() {
    in_namespace(|| {
        let first = "stp_state 1 priority 4096 max_age 600 hello_time 100 forward_delay 200";
        let second = "stp_state 1 priority 36864 max_age 600 hello_time 100 forward_delay 200";
        let ring = ring([first, second]);
        // Its own times would be ten times as long: those of the root hold. It is nearer to the root than the second bridge,
        // which so blocks its port.
        let mut r = switch(&[("PRIORITY", "8192"), ("COST", "1")]);
        ring.settle(&mut r, Duration::from_secs(4) + MARGIN);
        assert_eq!([read(&mut r, "tree.root_port"), read(&mut r, "tree.role1")], ["0", "designated"]);
        assert!(read(&mut r, "tree.root").starts_with("1000."), "{}", read(&mut r, "tree.root"));
        ring.unicast_works(&mut r);
        // The switch does not see that the link is gone: it waits until what it knows is too old.
        ring.bridges[0].run(|| ip("link set pa down"));
        let took = ring.settle(&mut r, Duration::from_secs(6 + 4) + MARGIN);
        assert_eq!([read(&mut r, "tree.root_port"), read(&mut r, "tree.state1")], ["1", "forwarding"]);
        assert!(took > Duration::from_secs(1), "it was mended at once, so nothing was cut: {took:?}");
        ring.unicast_works(&mut r);
        ring.bridges[0].run(|| ip("link set pa up"));
        route_until(&mut r, "the way back", |r| read(r, "tree.root_port") == "0");
        ring.settle(&mut r, Duration::from_secs(6 + 4) + MARGIN);
        ring.unicast_works(&mut r);
    });
}
