//! `vpn-gateway.click`: two gateways between namespaces.

use crate::common::Scratch;
use crate::example;
use crate::namespaces::{Namespace, Running};
use crate::pings;
use crate::vpn_arguments::arguments;
use std::process::Stdio;

pub fn hosts_behind_two_live_vpn_gateways_reach_each_other() {
    clickwork_oracles::program("ping");
    let names = ["host0", "gate0", "gate1", "host1"];
    let [host0, gate0, gate1, host1] = &names.map(|name| Namespace::new("vpn", name));
    gate0.run("ip", &format!("link add wan type veth peer name wan netns {}", gate1.0));
    for (gate, host, near, far) in [(gate0, host0, 1, 2), (gate1, host1, 2, 1)] {
        gate.run("ip", &format!("link add lan type veth peer name eth0 netns {}", host.0));
        gate.run("ip", "link set lan up");
        gate.run("ip", "link set wan up");
        host.run("ip", &format!("addr add 10.{near}.0.2/24 dev eth0"));
        host.run("ip", "link set eth0 up");
        host.run("ip", &format!("route add 10.{far}.0.0/24 via 10.{near}.0.1"));
    }
    let dir = Scratch::new("live-vpn");
    dir.write_keys();
    let start = |gate: &Namespace, number: usize| {
        let mut command = gate.command(env!("CARGO_BIN_EXE_clickwork"));
        command.current_dir(dir.path(""));
        command.args([
            "run",
            &example("vpn-gateway.click"),
            "LAN=lan",
            "WAN=wan",
            "LAN_ETHER=lan",
            "WAN_ETHER=wan",
        ]);
        Running(command.args(arguments(number)).stdin(Stdio::null()).spawn().unwrap())
    };
    let _gates = [start(gate0, 0), start(gate1, 1)];
    // The gateways need a moment to start: the first pings may be lost, then all are answered.
    for (host, target) in [(host0, "10.2.0.2"), (host1, "10.1.0.2"), (host0, "10.2.0.1")] {
        let ping = |options: &str| {
            let done = host.command("ping").args(options.split_whitespace()).arg(target).output().unwrap();
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        (0..300).find(|_| ping("-c 1 -W 1").contains(" 1 received")).expect("an answer in time");
        assert_eq!(pings::answered(host, 20, "-i 0.01 -s 1300", target), 20);
    }
}
