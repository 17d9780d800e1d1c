//! What `clickwork new ip-router` writes, at work.

use crate::common::Scratch;
use crate::namespaces::{Namespace, Running};
use std::process::Stdio;

/// Four kernel hosts around the router, each of which pings all others, with packets that must be cut on the way to one.
pub fn kernel_hosts_reach_each_other_through_the_router() {
    const HOSTS: u8 = 4;
    clickwork_oracles::program("ping");
    let hosts: Vec<_> = (0..HOSTS).map(|n| Namespace::new("new-router", &format!("host{n}"))).collect();
    let middle = Namespace::new("new-router", "router");
    for (n, host) in hosts.iter().enumerate() {
        middle.run("ip", &format!("link add e{n} type veth peer name eth0 netns {}", host.0));
        middle.run("ip", &format!("link set e{n} up"));
        host.run("ip", &format!("addr add 10.{n}.0.2/24 dev eth0"));
        host.run("ip", "link set eth0 up");
        host.run("ip", &format!("route add default via 10.{n}.0.1"));
    }
    hosts[3].run("ip", "link set eth0 mtu 600");
    let dir = Scratch::new("new-router-live");
    // The last interface takes less.
    let interfaces = (0..HOSTS).map(|n| format!("e{n}=10.{n}.0.1/24{}", if n == 3 { ",600" } else { "" }));
    dir.clickwork().args(["new", "ip-router", "-o", "router.click"]).args(interfaces).assert().success();
    let mut router = middle.command(env!("CARGO_BIN_EXE_clickwork"));
    router.args(["run", "--quiet", "router.click"]).current_dir(dir.path(""));
    let _router = Running(router.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let ends = (0..HOSTS).flat_map(|from| (0..HOSTS).map(move |to| (from, to))).filter(|(a, b)| a != b);
    for (from, to) in ends {
        // The first may be lost while the router starts. -M dont: the packet may be cut.
        let words = format!("-c 1 -W 1 -M dont -s 1000 10.{to}.0.2");
        let answered = (0..300).any(|_| {
            let ping = hosts[usize::from(from)]
                .command("ping")
                .args(words.split(' '))
                .stdout(Stdio::null())
                .status();
            ping.is_ok_and(|status| status.success())
        });
        assert!(answered, "{from} does not reach {to}");
    }
}
