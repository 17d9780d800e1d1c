//! `nat-gateway.click` between namespaces.

use crate::example;
use crate::namespaces::{Namespace, Running};
use crate::pings;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

pub fn a_live_gateway_lets_kernels_talk_through_it_and_nobody_in() {
    ["ping", "python3"].iter().for_each(|name| clickwork_oracles::program(name));
    let names = ["home", "gate", "world"];
    let [home, gate, world] = &names.map(|name| Namespace::new("nat", name));
    for (inner, host, address) in [("lan", home, "192.168.1.9/24"), ("wan", world, "203.0.113.1/24")] {
        gate.run("ip", &format!("link add {inner} type veth peer name eth0 netns {}", host.0));
        gate.run("ip", &format!("link set {inner} up"));
        host.run("ip", &format!("addr add {address} dev eth0"));
        host.run("ip", "link set eth0 up");
        host.run("ip", "link set lo up");
    }
    home.run("ip", "route add default via 192.168.1.1");
    world.run("ip", "addr add 198.51.100.9/32 dev lo");
    // The web server of the home is the same host.
    let mut command = gate.command(env!("CARGO_BIN_EXE_clickwork"));
    let devices = ["LAN=lan", "WAN=wan", "LAN_ETHER=lan", "WAN_ETHER=wan", "WEB_SERVER=192.168.1.9"];
    let _gateway = Running(
        command
            .args(["run", &example("nat-gateway.click")])
            .args(devices)
            .stdin(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let ping = |from: &Namespace, options: &str| {
        let done = from.command("ping").args(options.split_whitespace()).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    // The gateway needs a moment to start.
    (0..300)
        .find(|_| ping(home, "-c 1 -W 1 198.51.100.9").contains(" 1 received"))
        .expect("an answer in time");
    assert_eq!(pings::answered(home, 20, "-i 0.01 -s 3000", "198.51.100.9"), 20, "in fragments");
    let said = ping(world, "-c 2 -i 0.1 -W 1 203.0.113.7");
    assert!(said.contains(" 0 received"), "from outside: {said}");
    let said = ping(home, "-c 1 -W 60 -t 1 198.51.100.9");
    assert!(said.contains("192.168.1.1") && said.contains("Time to live exceeded"), "{said}");

    // A TCP stream from outside to home, over a connection from home, and a visit to the web server of the home.
    for (client, server, port, name) in
        [(home, world, 7000, "198.51.100.9"), (world, home, 80, "203.0.113.7")]
    {
        let serve = format!(
            "import socket,hashlib; s=socket.create_server(('0.0.0.0',{port})); print('ready',flush=True); c,a=s.accept(); \
             d=bytes(range(256))*4000; c.sendall(d); c.shutdown(1); c.recv(1); print(a[0],hashlib.md5(d).hexdigest())"
        );
        let fetch = format!(
            "import socket,hashlib; s=socket.create_connection(('{name}',{port}),300); d=b''\n\
             while True:\n b=s.recv(65536)\n if not b: break\n d+=b\nprint(len(d),hashlib.md5(d).hexdigest())"
        );
        let spawned = server.command("python3").args(["-c", &serve]).stdout(Stdio::piped()).spawn().unwrap();
        let mut serving = Running(spawned);
        let mut lines = BufReader::new(serving.0.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let fetched = client.command("python3").args(["-c", &fetch]).output().unwrap();
        let fetched = String::from_utf8_lossy(&fetched.stdout).into_owned();
        let mut served = String::new();
        lines.read_to_string(&mut served).unwrap();
        let (peer, sum) = served.trim().split_once(' ').unwrap_or_default();
        assert_eq!(fetched.trim(), format!("1024000 {sum}"));
        // Servers outside see the gateway's address, the web server that of the visitor.
        assert_eq!(peer, if port == 80 { "203.0.113.1" } else { "203.0.113.7" });
    }
}
