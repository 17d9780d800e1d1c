//! What enemies try: resets and data from those who do not see the connection, floods of SYNs, acknowledgments of what was
//! never sent, text that overlaps, garbage in options.

use std::net::SocketAddr;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{
    ConnectionId, Error, Event, ListenerId, Options, Program, Received, State, TcpStack,
};

use crate::fuzz::check::wire::{ACK, Header, RST, SYN, packet};
use crate::random::{Random, mix};
use crate::wire::Segment;

/// A stack with a listener, and one who writes packets by hand.
struct Bench {
    stack: TcpStack,
    listener: ListenerId,
    now: u64,
    here: SocketAddr,
    there: SocketAddr,
    /// What the stack has sent since it was last looked at.
    sent: Vec<Segment>,
}

const FIRST: u32 = 0xffff_f000;

impl Bench {
    fn new(config: Config, backlog: u32) -> Bench {
        let mut stack = TcpStack::with_program(Program::linked(), config);
        stack.seed(1);
        let here = SocketAddr::from(([10, 0, 0, 1], 80));
        let listener = stack.listen(here, backlog, &Options::default()).expect("the port is free");
        let there = SocketAddr::from(([10, 0, 0, 2], 4000));
        Bench { stack, listener, now: 1_000_000, here, there, sent: Vec::new() }
    }

    fn send(&mut self, flags: u8, seq: u32, ack: u32, options: &[u8], text: &[u8]) {
        let options = options.to_vec();
        let header = Header { flags, seq, ack, window: 60_000, urgent: 0, options, offset: None };
        self.send_header(&header, text);
    }

    fn send_header(&mut self, header: &Header, text: &[u8]) {
        let bytes = packet(self.there, self.here, header, text);
        self.stack.receive(self.now, Packet::new(&bytes), Received::default());
        while let Some(transmit) = self.stack.next_transmit() {
            self.sent.push(Segment::parse(transmit.into_packet().data()).expect("a good packet"));
        }
    }

    /// The last segment that was sent; forgets all.
    fn answer(&mut self) -> Option<Segment> {
        self.sent.drain(..).next_back()
    }

    /// Opens a connection: its name, and what the peer must acknowledge.
    fn open(&mut self) -> (ConnectionId, u32) {
        self.send(SYN, FIRST, 0, &[2, 4, 5, 180], &[]);
        let answer = self.answer().expect("a SYN-ACK");
        let ack = answer.seq.wrapping_add(1);
        self.send(ACK, FIRST.wrapping_add(1), ack, &[], &[]);
        (self.stack.accept(self.listener).expect("an established connection"), ack)
    }

    fn read_all(&mut self, id: ConnectionId) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = [0; 5000];
        loop {
            match self.stack.read(self.now, id, &mut buffer) {
                Ok(0) | Err(_) => return all,
                Ok(n) => all.extend(&buffer[..n]),
            }
        }
    }
}

/// RFC 5961 §3.2: a reset that is in the window but not at its edge is answered with a challenge.
#[test]
fn a_blind_reset_does_not_end_a_connection() {
    let mut bench = Bench::new(Config::default(), 8);
    let (id, ack) = bench.open();
    let next = FIRST.wrapping_add(1);
    for seq in
        [next.wrapping_add(1), next.wrapping_add(1000), next.wrapping_sub(1), next.wrapping_add(1 << 30)]
    {
        bench.send(RST, seq, ack, &[], &[]);
        assert_eq!(bench.stack.state(id), Ok(State::Established), "RST at {seq}");
    }
    bench.send(SYN, next.wrapping_add(5), 0, &[], &[]);
    assert_eq!(bench.stack.state(id), Ok(State::Established), "SYN in the window");
    let answer = bench.answer().expect("a challenge");
    assert!(answer.has_ack && !answer.rst && answer.ack == next, "{answer}");
    bench.send(RST, next, 0, &[], &[]);
    assert_eq!(bench.stack.state(id), Ok(State::Closed), "RST at the edge");
}

/// RFC 9293 §3.10.7.4, fifth step: the segment is dropped, an acknowledgment says where we are.
#[test]
fn an_acknowledgment_of_what_was_never_sent_changes_nothing() {
    let mut bench = Bench::new(Config::default(), 8);
    let (id, ack) = bench.open();
    let next = FIRST.wrapping_add(1);
    for far in [1, 1000, 1 << 29] {
        bench.sent.clear();
        // Challenges may be limited to two a second.
        bench.now += 1_000_000;
        bench.send(ACK, next, ack.wrapping_add(far), &[], b"never");
        let answer = bench.answer().expect("an acknowledgment");
        assert!(answer.has_ack && !answer.rst, "{answer}");
        assert_eq!((answer.ack, answer.seq), (next, ack), "{answer}");
        assert_eq!(bench.read_all(id), b"");
    }
    bench.send(ACK, next, ack, &[], b"now");
    assert_eq!(bench.read_all(id), b"now");
}

/// A stream in pieces that overlap, come in any order and more than once.
#[test]
fn overlapping_text_is_read_once_and_in_order() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut bench = Bench::new(Config::default(), 8);
        let (id, ack) = bench.open();
        let length = random.between(1, 20_000) as usize;
        let text: Vec<u8> = (0..length as u64).map(|at| mix(at ^ seed) as u8).collect();
        let mut read = Vec::new();
        let mut rounds = 0;
        while read.len() < length {
            let from = read.len() + random.below(random.clone().scale(1, 9_000)) as usize;
            let from = from.saturating_sub(random.below(2_000) as usize).min(length);
            let to = length.min(from + random.between(0, 1_400) as usize);
            let seq = FIRST.wrapping_add(1 + from as u32);
            bench.send(ACK, seq, ack, &[], &text[from..to]);
            rounds += 1;
            // Now and then what is missing.
            if rounds % 10 == 0 {
                let from = bench.sent.last().map_or(0, |s| s.ack.wrapping_sub(FIRST + 1) as usize);
                let to = length.min(from + 700);
                bench.send(ACK, FIRST.wrapping_add(1 + from as u32), ack, &[], &text[from..to]);
            }
            if random.chance(300) {
                read.extend(bench.read_all(id));
            }
            assert!(rounds < 100_000, "seed {seed}: {} of {length} bytes", read.len());
        }
        assert!(read == text, "seed {seed}: a byte is out of place");
    }
}

/// RFC 9293 §3.2, MUST-6 and MUST-7: whatever stands in the options, the text arrives.
#[test]
fn garbage_in_options_does_not_stop_text() {
    let mut random = Random::new(42);
    let config = Config { timestamps: 0, ..Config::default() };
    for round in 0..2_000 {
        let mut bench = Bench::new(config, 8);
        let (id, ack) = bench.open();
        let length = random.below(41) as usize;
        let options: Vec<u8> =
            (0..length).map(|_| random.next() as u8 & random.pick(&[255, 15, 3])).collect();
        bench.send(ACK, FIRST.wrapping_add(1), ack, &options, b"text");
        assert_eq!(bench.read_all(id), b"text", "round {round}: {options:?}");
    }
}

/// 100,000 half-open attempts: no memory for each, and a client that comes in the midst of them is served.
#[test]
fn a_flood_of_syns_takes_no_memory_and_no_service() {
    let mut bench = Bench::new(Config::default(), 128);
    let client = bench.there;
    let (mut memory, mut served) = (0, None);
    for attempt in 0..100_000u32 {
        bench.there =
            SocketAddr::from(([172, 16, (attempt >> 8) as u8, attempt as u8], (attempt >> 16) as u16 + 1));
        bench.send(SYN, mix(u64::from(attempt)) as u32, 0, &[2, 4, 5, 180], &[]);
        bench.sent.clear();
        if attempt == 1_000 {
            memory = bench.stack.memory();
        }
        if attempt == 50_000 {
            bench.there = client;
            served = Some(serve(&mut bench));
        }
    }
    let connections = bench.stack.connections().count();
    assert!(connections <= 2 * 129, "{connections} connections");
    assert!(bench.stack.memory() <= 2 * memory, "{} bytes, {memory} at the begin", bench.stack.memory());
    // They are forgotten.
    while let Some(deadline) = bench.stack.deadline().filter(|deadline| *deadline < 1_000_000_000) {
        bench.stack.advance(deadline);
        while bench.stack.next_transmit().is_some() {}
    }
    while let Some(event) = bench.stack.next_event() {
        assert!(!matches!(event, Event::Closed(id) if served != Some(id)), "nobody knew of it");
    }
}

/// A client that is served in spite of all: text both ways.
fn serve(bench: &mut Bench) -> ConnectionId {
    let (id, ack) = bench.open();
    bench.send(ACK, FIRST.wrapping_add(1), ack, &[], b"question");
    assert_eq!(bench.read_all(id), b"question");
    assert_eq!(bench.stack.write(bench.now, id, b"answer"), Ok(6));
    let transmit = bench.stack.next_transmit().expect("a segment");
    assert_eq!(Segment::parse(transmit.into_packet().data()).expect("a good packet").text, b"answer");
    bench.stack.abort(bench.now, id);
    while bench.stack.next_transmit().is_some() {}
    assert_eq!(bench.stack.state(id), Err(Error::NOT_CONNECTED));
    id
}
