//! Measures what connections cost: memory of idle ones, and how many a second can be opened and closed.
//!
//! ```text
//! cargo run --release -p clickwork-prolac-tcp --example connections -- [CONNECTIONS]
//! ```
//!
//! Two stacks in one thread hand each other packets, so each figure is the work of both ends.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use clickwork_prolac_tcp::{
    Config, ConnectionId, Limits, ListenerId, Options, Program, Received, State, TcpStack,
};

struct Ends {
    client: TcpStack,
    server: TcpStack,
    listeners: Vec<ListenerId>,
    now: u64,
}

const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));
/// Each port takes as many connections as there are ephemeral ports, 28232.
const PORTS: u16 = 8;

impl Ends {
    fn new(config: Config) -> Ends {
        let stack = |address| {
            let mut stack = TcpStack::new(config);
            stack.add_address(address);
            stack
        };
        let (client, mut server) = (stack(CLIENT), stack(SERVER));
        let listeners = (0..PORTS)
            .map(|port| server.listen(SocketAddr::new(SERVER, 80 + port), 1000, &Options::default()))
            .collect::<Result<_, _>>()
            .expect("the ports are free");
        Ends { client, server, listeners, now: 1_000_000 }
    }

    /// Delivers what there is to deliver, with 10 µs for each round.
    fn exchange(&mut self) {
        loop {
            self.now += 10;
            let mut quiet = true;
            while let Some(packet) = self.client.next_transmit() {
                self.server.receive(self.now, packet.into_packet(), Received::default());
                quiet = false;
            }
            while let Some(packet) = self.server.next_transmit() {
                self.client.receive(self.now, packet.into_packet(), Received::default());
                quiet = false;
            }
            while self.client.next_event().is_some() {}
            while self.server.next_event().is_some() {}
            if quiet {
                return;
            }
        }
    }

    fn connect(&mut self, n: usize) -> ConnectionId {
        let remote = SocketAddr::new(SERVER, 80 + (n % usize::from(PORTS)) as u16);
        self.client.connect(self.now, None, remote, &Options::default()).expect("ports are left")
    }

    /// Opens connections, some at a time.
    fn open(&mut self, count: usize) -> Vec<(ConnectionId, ConnectionId)> {
        let mut pairs = Vec::with_capacity(count);
        for first in (0..count).step_by(500) {
            let clients: Vec<_> = (first..(first + 500).min(count)).map(|n| self.connect(n)).collect();
            self.exchange();
            let mut servers = HashMap::new();
            for &listener in &self.listeners {
                let accepted = std::iter::from_fn(|| self.server.accept(listener).ok());
                for id in accepted.collect::<Vec<_>>() {
                    servers.insert((self.server.peer_addr(id), self.server.local_addr(id)), id);
                }
            }
            pairs.extend(clients.into_iter().map(|id| {
                let ends = (self.client.local_addr(id), self.client.peer_addr(id));
                (id, servers.remove(&ends).expect("each is accepted"))
            }));
        }
        pairs
    }
}

/// Bytes of memory that the process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

fn memory(count: usize) {
    let mut ends = Ends::new(Config::default());
    let before = resident();
    let start = Instant::now();
    let pairs = ends.open(count);
    let time = start.elapsed();
    let process = resident() - before;
    for &(client, server) in pairs.iter().step_by(997) {
        assert_eq!(ends.client.state(client), Ok(State::Established));
        assert_eq!(ends.server.state(server), Ok(State::Established));
    }
    let each = |bytes: usize| bytes as f64 / count as f64;
    println!("{count} idle connections, opened in {time:.2?}");
    println!("  client: {:.0} bytes a connection", each(ends.client.memory()));
    println!("  server: {:.0} bytes a connection", each(ends.server.memory()));
    println!("  process: {:.0} bytes a connection, both ends and all buffers", each(process) / 2.0);
    let start = Instant::now();
    ends.now += 1_000_000;
    ends.client.advance(ends.now);
    ends.server.advance(ends.now);
    ends.exchange();
    println!("  a second in which nothing happens costs {:.1?}", start.elapsed());
}

/// Opens and closes connections one after the other for a while; a question and an answer in between if `text`.
fn turnover(limit: Duration, text: bool) {
    let mut ends = Ends::new(Config::default());
    ends.client.set_limits(Limits { time_wait: 20_000, ..Limits::default() });
    let (start, mut count) = (Instant::now(), 0usize);
    let mut buffer = [0; 64];
    while start.elapsed() < limit {
        for (client, server) in ends.open(64) {
            if text {
                ends.client.write(ends.now, client, b"question").expect("it is connected");
                ends.exchange();
                ends.server.read(ends.now, server, &mut buffer).expect("it has arrived");
                ends.server.write(ends.now, server, b"answer").expect("it is connected");
                ends.exchange();
                ends.client.read(ends.now, client, &mut buffer).expect("it has arrived");
            }
            ends.client.close(ends.now, client);
            ends.exchange();
            ends.server.close(ends.now, server);
            ends.exchange();
            count += 1;
        }
        ends.client.advance(ends.now);
        ends.server.advance(ends.now);
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    let what = if text { " with a question and an answer each" } else { "" };
    println!("{rate:.0} connections a second opened and closed{what}, both ends in one thread");
}

fn main() {
    let count =
        std::env::args().nth(1).map_or(100_000, |count| count.parse().expect("a number of connections"));
    println!("{:?}", Program::linked());
    memory(count);
    turnover(Duration::from_secs(2), false);
    turnover(Duration::from_secs(2), true);
}
