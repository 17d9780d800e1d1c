//! Measures the work of two stacks that talk to each other in one thread: bulk text one way, and echoes of 4 bytes.
//!
//! ```text
//! cargo run --release -p clickwork-prolac-tcp --example transfer -- [bulk|echo]
//! ```
//!
//! No device and no system call is in it, so the figures are upper bounds of what a program with this stack can do, and
//! each is the work of both ends.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use clickwork_prolac_tcp::{Config, ConnectionId, Error, Offload, Options, Received, TcpStack};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const TIME: Duration = Duration::from_secs(1);

struct Ends {
    stacks: [TcpStack; 2],
    ids: [ConnectionId; 2],
    now: u64,
    packets: u64,
}

impl Ends {
    fn new(offload: Offload) -> Ends {
        let stack = |address| {
            let mut stack = TcpStack::new(Config::default());
            stack.add_address(address);
            stack.set_offload(offload);
            stack
        };
        let mut stacks = [stack(CLIENT), stack(SERVER)];
        let remote = SocketAddr::new(SERVER, 80);
        let listener = stacks[1].listen(remote, 5, &Options::default()).expect("the port is free");
        let client = stacks[0].connect(1, None, remote, &Options::default()).expect("a port is free");
        let mut ends = Ends { stacks, ids: [client; 2], now: 1, packets: 0 };
        while ends.deliver(0) || ends.deliver(1) {}
        ends.ids[1] = ends.stacks[1].accept(listener).expect("it is connected");
        ends
    }

    /// Delivers what one end sends. False: nothing.
    fn deliver(&mut self, from: usize) -> bool {
        self.now += 10;
        let mut any = false;
        while let Some(packet) = self.stacks[from].next_transmit() {
            let received =
                Received { checksum_verified: packet.checksum_partial, segment_size: packet.segment_size };
            self.stacks[1 - from].receive(self.now, packet.into_packet(), received);
            self.packets += 1;
            any = true;
        }
        any
    }
}

fn bulk(name: &str, offload: Offload) {
    let mut ends = Ends::new(offload);
    let (text, mut buffer) = (vec![7; 65536], vec![0; 65536]);
    let (start, mut bytes) = (Instant::now(), 0usize);
    let [client, server] = ends.ids;
    while start.elapsed() < TIME {
        for _ in 0..4 {
            match ends.stacks[0].write(ends.now, client, &text) {
                Ok(_) | Err(Error::WOULD_BLOCK) => {}
                Err(error) => panic!("{error}"),
            }
        }
        ends.deliver(0);
        while let Ok(n) = ends.stacks[1].read(ends.now, server, &mut buffer) {
            bytes += n;
        }
        ends.deliver(1);
        ends.stacks[0].advance(ends.now);
        ends.stacks[1].advance(ends.now);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "bulk {name:<24} {:6.2} Gbit/s, {:.0} ns a packet",
        bytes as f64 * 8e-9 / seconds,
        seconds * 1e9 / ends.packets as f64
    );
}

fn echo(offload: Offload) {
    let mut ends = Ends::new(offload);
    let (start, mut count, before) = (Instant::now(), 0u64, ends.packets);
    let mut buffer = [0; 64];
    while start.elapsed() < TIME {
        for _ in 0..100 {
            for from in [0, 1] {
                ends.stacks[from].write(ends.now, ends.ids[from], b"echo").expect("there is room");
                ends.deliver(from);
                let n = ends.stacks[1 - from].read(ends.now, ends.ids[1 - from], &mut buffer);
                assert_eq!(n, Ok(4));
            }
            count += 1;
        }
        ends.stacks[0].advance(ends.now);
        ends.stacks[1].advance(ends.now);
    }
    let each = start.elapsed().as_nanos() as f64 / count as f64;
    let packets = (ends.packets - before) as f64 / count as f64;
    println!("echo of 4 bytes: {each:.0} ns a round trip of {packets:.2} packets, write to read, both ends");
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    if "bulk".starts_with(&only) {
        bulk("without offloads", Offload::default());
        bulk("checksums offloaded", Offload { checksum: true, segmentation: 0 });
        bulk("segmentation offloaded", Offload { checksum: true, segmentation: 65_535 });
    }
    if "echo".starts_with(&only) {
        echo(Offload::default());
    }
}
