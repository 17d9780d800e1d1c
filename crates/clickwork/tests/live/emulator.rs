//! `emulator.click` between two kernels.

use crate::common::{self, Scratch};
use crate::example;
use crate::namespaces::{Namespace, Running};
use crate::pings;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The shortest round trip in milliseconds, and how many of the pings were answered before `ping` lost its patience.
fn ping(from: &Namespace, count: u32) -> (f64, u32) {
    let count = count.to_string();
    let done = from
        .command("ping")
        .args(["-n", "-q", "-i", "0.02", "-W", "60", "-c", &count, "10.9.0.2"])
        .output()
        .unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    let came =
        printed.split(" received").next().and_then(|t| t.rsplit(' ').next()).and_then(|n| n.parse().ok());
    let shortest =
        printed.split_once("mdev = ").and_then(|(_, t)| t.split('/').next()).and_then(|n| n.parse().ok());
    (shortest.unwrap_or(0.0), came.unwrap_or_else(|| panic!("{printed}")))
}

pub fn the_emulator_stands_between_two_kernels() {
    clickwork_oracles::program("ping");
    let [left, middle, right] = &["left", "middle", "right"].map(|name| Namespace::new("emulator", name));
    for (host, end, address) in [(left, "one", "10.9.0.1/24"), (right, "two", "10.9.0.2/24")] {
        host.run("ip", &format!("link add eth0 type veth peer name {end} netns {}", middle.0));
        host.run("ip", &format!("addr add {address} dev eth0"));
        host.run("ip", "link set eth0 up");
        middle.run("ip", &format!("link set {end} up"));
    }
    // They know each other: questions and answers of ARP would be delayed and lost too.
    let ether = |host: &Namespace| {
        let shown = host.command("cat").arg("/sys/class/net/eth0/address").output().unwrap();
        String::from_utf8(shown.stdout).unwrap().trim().to_string()
    };
    left.run("ip", &format!("neigh replace 10.9.0.2 lladdr {} dev eth0", ether(right)));
    right.run("ip", &format!("neigh replace 10.9.0.1 lladdr {} dev eth0", ether(left)));
    let dir = Scratch::new("papers-emulator-live");
    let text = std::fs::read_to_string(example("emulator.click")).unwrap()
        + "\nRandomSeed(1); Script(print \"ready\");\n";
    let file = dir.write("emulator.click", &text);
    let emulator = |args: &[&str]| {
        let mut command = middle.command(env!("CARGO_BIN_EXE_clickwork"));
        command.args(["run", common::text(&file), "A=one", "B=two"]).args(args);
        command.stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Running(child)
    };
    let running = emulator(&["DELAY=40ms", "LOSS=0", "RATE=100Mbps"]);
    assert_eq!(pings::answered(left, 20, "-i 0.02", "10.9.0.2"), 20);
    // A busy machine adds to most round trips, but not to all.
    let shortest = (0..20).map(|_| ping(left, 20).0).filter(|time| *time > 0.0).find(|time| *time < 130.0);
    assert!(shortest.is_some_and(|time| time >= 80.0), "{shortest:?} ms");
    drop(running);
    // Lost on the way there or back: a quarter comes through.
    let running = emulator(&["DELAY=1ms", "LOSS=0.5", "RATE=100Mbps"]);
    let (_, came) = ping(left, 200);
    // Six and a half standard deviations, if the machine changes the order of the draws.
    assert!((10..=90).contains(&came), "{came} of 200");
    drop(running);
}
