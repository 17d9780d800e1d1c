//! `tunnel.click` between namespaces.

use crate::example;
use crate::namespaces::{Namespace, Running};
use crate::pings;
use std::process::Stdio;

/// Two hosts in one Ethernet that is made of two: `host0 -- end0 -- end1 -- host1`.
pub fn hosts_on_both_sides_of_a_live_tunnel_are_neighbours() {
    clickwork_oracles::program("ping");
    let names = ["host0", "end0", "end1", "host1"];
    let [host0, end0, end1, host1] = &names.map(|name| Namespace::new("tunnel", name));
    end0.run("ip", &format!("link add wan type veth peer name wan netns {}", end1.0));
    for (end, host, number) in [(end0, host0, 1), (end1, host1, 2)] {
        end.run("ip", &format!("link add lan type veth peer name eth0 netns {}", host.0));
        end.run("ip", &format!("addr add 192.0.2.{number}/24 dev wan"));
        end.run("ip", "link set lan up");
        end.run("ip", "link set wan up");
        host.run("ip", &format!("addr add 10.0.0.{number}/24 dev eth0"));
        host.run("ip", "link set eth0 up");
    }
    let start = |end: &Namespace, peer: u8| {
        let mut command = end.command(env!("CARGO_BIN_EXE_clickwork"));
        command.args(["run", &example("tunnel.click"), "DEVICE=lan", &format!("PEER=192.0.2.{peer}")]);
        Running(command.stdin(Stdio::null()).spawn().unwrap())
    };
    let _ends = [start(end0, 2), start(end1, 1)];
    let ping = |options: &str| {
        let done = host0.command("ping").args(options.split_whitespace()).arg("10.0.0.2").output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    // The ends need a moment to start.
    (0..300).find(|_| ping("-c 1 -W 1").contains(" 1 received")).expect("an answer in time");
    // Full frames go in two fragments.
    for size in [56, 1472] {
        assert_eq!(pings::answered(host0, 20, &format!("-i 0.01 -s {size}"), "10.0.0.2"), 20);
    }
}
