//! The worked example of docs/tcp.md, `tcp/examples/vegas.pc`: through a bottleneck it keeps a few segments in the queue, where
//! Reno fills it.

#[path = "../src/compose.rs"]
#[allow(dead_code)]
mod compose;
#[path = "simulation/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "simulation/subset.rs"]
#[allow(dead_code)]
mod subset;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{ConnectionId, Event, Options, Program, Received, TcpStack};

const SECOND: u64 = 1_000_000;
/// One way, in microseconds.
const DELAY: u64 = 10_000;
/// Of a packet of 1500 bytes at the bottleneck: 12 Mbit/s.
const SERVICE: u64 = 1_000;
/// Packets that find room before the bottleneck.
const ROOM: usize = 200;

/// The TCP with some extensions and examples.
fn program(names: &[&str]) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcp/examples");
    let catalogue = compose::Catalogue::read(&folder).expect("the examples");
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    subset::program(&catalogue, &names, &subset::Build::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A sender and a receiver, with a bottleneck in between.
struct Bottleneck {
    sender: TcpStack,
    receiver: TcpStack,
    id: ConnectionId,
    now: u64,
    /// When the bottleneck has served each packet in its queue.
    queue: VecDeque<u64>,
    /// Packets on their way, with the time of their arrival.
    there: VecDeque<(u64, Packet)>,
    back: VecDeque<(u64, Packet)>,
    read: u64,
}

impl Bottleneck {
    fn new(program: Program) -> Bottleneck {
        let config = Config { receive_buffer: 4 << 20, ..Config::default() };
        let [here, there]: [IpAddr; 2] =
            ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
        let mut sender = TcpStack::with_program(program, config);
        let mut receiver = TcpStack::new(config);
        sender.add_address(here);
        receiver.add_address(there);
        sender.seed(1);
        receiver.seed(2);
        receiver.listen(SocketAddr::new(there, 9), 1, &Options::default()).expect("a listener");
        let options = Options { send_buffer: 4 << 20, ..Options::default() };
        let id =
            sender.connect(SECOND, Some(SocketAddr::new(here, 5000)), SocketAddr::new(there, 9), &options);
        let (id, empty) = (id.expect("a connection"), VecDeque::new);
        Bottleneck {
            sender,
            receiver,
            id,
            now: SECOND,
            queue: VecDeque::new(),
            there: empty(),
            back: empty(),
            read: 0,
        }
    }

    /// Sends as much as goes, for so long; the mean queue, and the bytes that came through.
    fn run(&mut self, time: u64) -> (u64, u64) {
        let (end, before, mut queued) = (self.now + time, self.read, 0);
        while self.now < end {
            self.users();
            self.links();
            let arrivals = [&self.there, &self.back].into_iter().filter_map(|way| Some(way.front()?.0));
            let timers = [self.sender.deadline(), self.receiver.deadline()].into_iter().flatten();
            let next = arrivals.chain(timers).min().expect("something to come").max(self.now + 1);
            queued += self.queue.len() as u64 * (next - self.now);
            self.now = next;
            self.arrive();
        }
        (queued / time, self.read - before)
    }

    fn users(&mut self) {
        let text = [0; 16384];
        while self.sender.write(self.now, self.id, &text).is_ok_and(|count| count > 0) {}
        while self.sender.next_event().is_some() {}
        let mut buffer = [0; 65536];
        while let Some(event) = self.receiver.next_event() {
            match event {
                Event::Accepted(listener) => drop(self.receiver.accept(listener)),
                Event::Readable(id) => {
                    while let Ok(count @ 1..) = self.receiver.read(self.now, id, &mut buffer) {
                        self.read += count as u64;
                    }
                }
                _ => (),
            }
        }
    }

    /// What was sent goes on its way.
    fn links(&mut self) {
        while self.queue.front().is_some_and(|served| *served <= self.now) {
            self.queue.pop_front();
        }
        while let Some(transmit) = self.sender.next_transmit() {
            let packet = transmit.into_packet();
            let served =
                self.queue.back().map_or(self.now, |last| *last) + SERVICE * packet.len() as u64 / 1500;
            if self.queue.len() < ROOM {
                self.queue.push_back(served);
                self.there.push_back((served + DELAY, packet));
            }
        }
        while let Some(transmit) = self.receiver.next_transmit() {
            self.back.push_back((self.now + DELAY, transmit.into_packet()));
        }
    }

    fn arrive(&mut self) {
        for (way, stack) in [(&mut self.there, &mut self.receiver), (&mut self.back, &mut self.sender)] {
            while way.front().is_some_and(|(time, _)| *time <= self.now) {
                let (_, packet) = way.pop_front().expect("it is there");
                stack.receive(self.now, packet, Received::default());
            }
            stack.advance(self.now);
        }
    }
}

/// The mean queue and the share of the bottleneck that was used, once the connection has settled.
fn settled(names: &[&str]) -> (u64, u64) {
    let mut path = Bottleneck::new(program(names));
    path.run(5 * SECOND);
    let (queue, bytes) = path.run(20 * SECOND);
    (queue, bytes * SERVICE * 100 / 1448 / (20 * SECOND))
}

#[test]
fn vegas_keeps_the_queue_short_and_the_bottleneck_busy() {
    let (queue, percent) = settled(&["slow-start", "fast-retransmit", "vegas"]);
    assert!((1..=8).contains(&queue), "{queue} packets, {percent} %");
    assert!(percent >= 95, "{percent} %");
}

/// What it is compared with: Reno fills whatever there is.
#[test]
fn reno_fills_the_queue() {
    let (queue, percent) = settled(&["slow-start", "fast-retransmit"]);
    assert!(queue >= ROOM as u64 / 4, "{queue} packets, {percent} %");
}

/// With everything else there is, too.
#[test]
fn vegas_beside_all_extensions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcp/examples");
    let names = compose::Catalogue::read(&folder).expect("the examples").names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (queue, percent) = settled(&names);
    assert!((1..=8).contains(&queue), "{queue} packets, {percent} %");
    assert!(percent >= 95, "{percent} %");
}
