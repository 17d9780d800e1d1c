//! Cycles per packet in the echo test, all that a stack does: two of them in one process send each other 4 bytes, to and
//! fro. Counted is the time in `TcpStack::receive`, `write`, `read`, events and `next_transmit`.
//! `bench/tcp/cycles/run.sh` runs it beside its peers.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_rdtsc;
use std::net::SocketAddr;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{ConnectionId, Event, Offload, Options, Received, TcpStack};

const ROUND_TRIPS: u64 = 20_000;

struct Side {
    stack: TcpStack,
    wire: Vec<Packet>,
    connection: Option<ConnectionId>,
    received: Received,
}

impl Side {
    fn new(checksums: bool) -> Side {
        let mut stack = TcpStack::new(Config::default());
        if !checksums {
            stack.set_offload(Offload { checksum: true, segmentation: 65_535 });
        }
        let received = Received { checksum_verified: !checksums, ..Received::default() };
        Side { stack, wire: Vec::new(), connection: None, received }
    }

    fn collect(&mut self) {
        while let Some(transmit) = self.stack.next_transmit() {
            self.wire.push(transmit.into_packet());
        }
    }

    /// Everything that waits, and an echo of it or the end of a round trip.
    fn handle(&mut self, now: u64, incoming: &mut Vec<Packet>, echo: bool) -> bool {
        for packet in incoming.drain(..) {
            self.stack.receive(now, packet, self.received);
        }
        let mut done = false;
        while let Some(event) = self.stack.next_event() {
            match event {
                Event::Accepted(listener) => self.connection = self.stack.accept(listener).ok(),
                Event::Connected(id) => self.connection = Some(id),
                Event::Readable(id) => {
                    let mut buffer = [0; 16];
                    if let Ok(n) = self.stack.read(now, id, &mut buffer) {
                        done = true;
                        if echo {
                            self.stack.write(now, id, &buffer[..n]).expect("room");
                        }
                    }
                }
                _ => {}
            }
        }
        self.collect();
        done
    }
}

#[cfg(target_arch = "x86_64")]
fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn cycles() -> u64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}

/// Cycles inside, and packets.
fn round_trips(a: &mut Side, b: &mut Side, now: &mut u64) -> (u64, u64) {
    let (mut inside, mut packets) = (0, 0);
    let connection = a.connection.expect("connected");
    for _ in 0..ROUND_TRIPS {
        let began = cycles();
        a.stack.write(*now, connection, b"ping").expect("room");
        a.collect();
        inside += cycles() - began;
        let mut done = false;
        while !done {
            *now += 5;
            packets += a.wire.len() as u64;
            let began = cycles();
            b.handle(*now, &mut a.wire, true);
            inside += cycles() - began;
            packets += b.wire.len() as u64;
            let began = cycles();
            done = a.handle(*now, &mut b.wire, false);
            inside += cycles() - began;
        }
    }
    (inside, packets)
}

fn main() {
    let checksums = std::env::args().nth(1).as_deref() != Some("no-checksums");
    let (mut a, mut b) = (Side::new(checksums), Side::new(checksums));
    let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
    let mut now = 1_000_000;
    let options = Options::default();
    b.stack.listen(address("10.0.0.2:7"), 4, &options).expect("listens");
    a.stack.connect(now, Some(address("10.0.0.1:4000")), address("10.0.0.2:7"), &options).expect("connects");
    a.collect();
    while a.connection.is_none() || b.connection.is_none() {
        now += 1000;
        b.handle(now, &mut a.wire, false);
        a.handle(now, &mut b.wire, false);
    }
    round_trips(&mut a, &mut b, &mut now);
    let runs = (0..9).map(|_| round_trips(&mut a, &mut b, &mut now));
    let (inside, packets) = runs.min_by_key(|(inside, packets)| inside / packets).expect("nine runs");
    println!(
        "{} cycles a packet, {:.2} packets a round trip",
        inside / packets,
        packets as f64 / ROUND_TRIPS as f64
    );
}
