//! What must hold for a TCP stack whatever its peer sends and its user does. The fuzz target runs it on made-up bytes, the
//! tests of `prolac-tcp` on the seeds and on random bytes.
//!
//! The bytes are a script: the first ones choose a state to bring a connection to, the rest are segments (good, slightly
//! wrong, and random ones), user calls, ICMP messages and time. Text is a function of the sequence number, so that whatever
//! overlaps says the same, and what the user reads can be checked.

use std::net::SocketAddr;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{
    ConnectionId, Event, Limits, ListenerId, Offload, Options, Program, Received, State, TcpStack,
};

#[path = "tcp/wire.rs"]
pub mod wire;

use wire::{Header, Seen};

/// Runs a script on the TCP that is linked in; panics if anything goes wrong.
pub fn check(data: &[u8]) {
    check_program(Program::linked(), data);
}

/// The same on any TCP. Returns the state that the script began with.
pub fn check_program(program: Program, data: &[u8]) -> Option<State> {
    let mut machine = Machine::new(program, data);
    let begun = machine.begin();
    while !machine.script.is_empty() {
        machine.step();
    }
    machine.end();
    begun
}

/// The bytes that are left.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    fn long(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }

    fn below(&mut self, n: u8) -> u8 {
        self.byte() % n
    }

    fn take(&mut self, n: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }
}

/// A stack, and its peer.
struct Machine<'a> {
    script: Script<'a>,
    stack: TcpStack,
    now: u64,
    listener: ListenerId,
    /// The connection that the script is about, once its user has it; others come from stray SYNs.
    ids: Vec<ConnectionId>,
    here: SocketAddr,
    there: SocketAddr,
    /// What the peer has seen of the stack.
    seen: Seen,
    last: Vec<u8>,
    /// Urgent data takes bytes out of the text: then it is not compared.
    any_urgent: bool,
    /// Merged and initial segments break the rule of text too, if their numbers lie.
    buffers: i64,
}

/// The peer's initial sequence number.
const INITIAL: u32 = 0xffff_ff00;

/// The byte with a sequence number.
fn byte_at(seq: u32) -> u8 {
    (seq.wrapping_mul(0x9e37_79b1) >> 24) as u8
}

impl<'a> Machine<'a> {
    fn new(program: Program, data: &'a [u8]) -> Machine<'a> {
        let buffers = clickwork_packet::buffers_in_use();
        let mut script = Script(data);
        let bits = script.byte();
        let ipv6 = bits & 1 != 0;
        let mut config = if bits & 2 != 0 { Config::bsd() } else { Config::default() };
        config.time_wait = 5_000_000;
        config.ecn = u32::from(bits >> 2 & 1);
        config.syn_cookies = u32::from(bits >> 3 & 1) * 2;
        config.mss = if bits & 16 != 0 { 100 } else { 0 };
        let more = script.byte();
        config.path_mtu = u32::from(more & 7);
        config.fast_open = u32::from(more >> 3 & 3);
        let few = more & 0xe0 == 0xe0;
        let mut stack = TcpStack::with_program(program, config);
        stack.seed(7);
        if few {
            stack.set_limits(Limits { connections: 4, segments: 12, time_wait: 1 });
        }
        if bits & 32 != 0 {
            stack.set_offload(Offload { checksum: true, segmentation: 20_000 });
        }
        let (here, there) = if ipv6 {
            (
                SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, 1], 80)),
                SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, 2], 5000)),
            )
        } else {
            (SocketAddr::from(([10, 0, 0, 1], 80)), SocketAddr::from(([10, 0, 0, 2], 5000)))
        };
        let receive_buffer = (bits & 64 != 0).then_some(2_000);
        let options = Options {
            receive_buffer,
            keep_alive: bits & 128 != 0,
            fast_open: config.fast_open & 2 != 0,
            ..Options::default()
        };
        let listener = stack.listen(here, 4, &options).expect("the port is free");
        Machine {
            script,
            stack,
            now: 1_000_000,
            listener,
            ids: Vec::new(),
            here,
            there,
            seen: Seen { next: INITIAL, ..Seen::default() },
            last: Vec::new(),
            any_urgent: false,
            buffers,
        }
    }

    /// Brings the connection to a state; which one, if it came there.
    fn begin(&mut self) -> Option<State> {
        let wanted = self.script.below(11);
        match wanted {
            0 => return Some(State::Listen),
            1 | 2 => self.connect(),
            3 => self.segment(wire::SYN, INITIAL, 0, &[]),
            _ if self.script.byte() & 1 == 0 => {
                self.connect();
                self.segment(wire::SYN | wire::ACK, INITIAL, self.seen.end, &[]);
            }
            _ => {
                self.segment(wire::SYN, INITIAL, 0, &[]);
                self.ack();
            }
        }
        if wanted == 2 {
            self.segment(wire::SYN, INITIAL, 0, &[]);
        }
        let id = self.ids.first().copied();
        match wanted {
            5 => self.fin(),
            6..=9 => self.shutdown(id),
            10 => {
                self.fin();
                self.shutdown(id);
            }
            _ => {}
        }
        match wanted {
            7 => self.ack(),
            8 => {
                // A FIN that does not acknowledge ours: CLOSING.
                let unacked = self.seen.end.wrapping_sub(1);
                self.segment(wire::FIN | wire::ACK, self.seen.next, unacked, &[]);
            }
            9 => {
                self.ack();
                self.fin();
            }
            _ => {}
        }
        match id {
            Some(id) => self.stack.state(id).ok(),
            None => self.stack.connections().next().and_then(|id| self.stack.state(id).ok()),
        }
    }

    fn connect(&mut self) {
        let options = Options { keep_alive: true, keep_idle: Some(1000), ..Options::default() };
        // Its own port must differ from the listener's.
        self.here.set_port(81);
        if let Ok(id) = self.stack.connect(self.now, Some(self.here), self.there, &options) {
            self.ids.push(id);
        }
        self.collect();
    }

    fn ack(&mut self) {
        self.segment(wire::ACK, self.seen.next, self.seen.end, &[]);
    }

    fn fin(&mut self) {
        self.segment(wire::FIN | wire::ACK, self.seen.next, self.seen.end, &[]);
    }

    fn shutdown(&mut self, id: Option<ConnectionId>) {
        if let Some(id) = id {
            let _ = self.stack.shutdown(self.now, id);
        }
        self.collect();
    }

    /// A plain segment of the peer.
    fn segment(&mut self, flags: u8, seq: u32, ack: u32, options: &[u8]) {
        let header =
            Header { flags, seq, ack, window: 20_000, urgent: 0, options: options.to_vec(), offset: None };
        self.send(&header, 0, 0);
    }

    /// A segment of the peer with so much text.
    fn send(&mut self, header: &Header, text: usize, merged: u16) {
        let first = header.seq.wrapping_add(u32::from(header.flags & wire::SYN != 0));
        let text: Vec<u8> = (0..text as u32).map(|at| byte_at(first.wrapping_add(at))).collect();
        let bytes = wire::packet(self.there, self.here, header, &text);
        self.give(bytes, merged);
    }

    fn give(&mut self, bytes: Vec<u8>, merged: u16) {
        let received = Received { checksum_verified: merged != 0, segment_size: merged };
        self.stack.receive(self.now, Packet::with_room(16, &bytes, 0), received);
        self.last = bytes;
        self.collect();
    }

    /// What the stack sends, and what it tells its user.
    fn collect(&mut self) {
        while let Some(transmit) = self.stack.next_transmit() {
            let (partial, size) = (transmit.checksum_partial, transmit.segment_size);
            let packet = transmit.into_packet();
            self.seen.look(packet.data(), partial, size, self.here, self.there);
        }
        while let Some(event) = self.stack.next_event() {
            if let Event::Accepted(listener) = event {
                while let Ok(id) = self.stack.accept(listener) {
                    self.ids.push(id);
                }
            }
        }
    }

    /// One thing of the script.
    fn step(&mut self) {
        match self.script.below(16) {
            0..=6 => self.random_segment(),
            7 => self.mutated(),
            8 => self.wait(),
            9 => self.write(),
            10 | 11 => self.read(),
            12 => self.leave(),
            13 => self.option(),
            14 => self.icmp(),
            _ => self.raw(),
        }
        self.collect();
    }

    fn random_segment(&mut self) {
        let flags = match self.script.below(8) {
            0..=3 => wire::ACK,
            4 => wire::ACK | wire::FIN,
            5 => wire::SYN,
            6 => wire::RST | self.script.byte() & wire::ACK,
            _ => self.script.byte(),
        };
        let seq = self.number(self.seen.next);
        let ack = match self.script.below(4) {
            0 | 1 => self.seen.end,
            2 => self.seen.unacked,
            _ => self.number(self.seen.end),
        };
        let window = match self.script.below(4) {
            0 => 0,
            1 => u16::from(self.script.byte()),
            2 => 65_535,
            _ => self.script.word(),
        };
        let urgent = if flags & wire::URG != 0 { self.script.word() >> 4 } else { 0 };
        self.any_urgent |= flags & wire::URG != 0;
        let options = self.options();
        let offset = (self.script.below(30) == 0).then(|| self.script.byte());
        let text = match self.script.below(6) {
            0 | 1 => 0,
            2 => usize::from(self.script.byte()),
            3 => 1_400,
            4 => usize::from(self.script.word() >> 4),
            _ => 1,
        };
        let merged = if text > 100 && self.script.below(8) == 0 { 100 } else { 0 };
        // A header that claims another length moves the text, and a SYN anywhere begins another numbering.
        self.any_urgent |= offset.is_some();
        self.send(&Header { flags, seq, ack, window, urgent, options, offset }, text, merged);
    }

    /// A sequence number near another one.
    fn number(&mut self, near: u32) -> u32 {
        match self.script.below(8) {
            0..=3 => near,
            4 => near.wrapping_add_signed(i32::from(self.script.byte() as i8)),
            5 => near.wrapping_add_signed(i32::from(self.script.word() as i16)),
            6 => near.wrapping_sub(1),
            _ => self.script.long(),
        }
    }

    fn options(&mut self) -> Vec<u8> {
        let mut options = Vec::new();
        let long = |value: u32, options: &mut Vec<u8>| options.extend(value.to_be_bytes());
        match self.script.below(8) {
            0..=2 => {}
            3 => {
                options.extend([1, 1, 8, 10]);
                let value = self.number(self.now as u32 / 1000);
                long(value, &mut options);
                let echo = self.number(self.seen.stamp);
                long(echo, &mut options);
            }
            4 => {
                let blocks = 1 + self.script.below(4);
                options.extend([1, 1, 5, 2 + 8 * blocks]);
                for _ in 0..2 * blocks {
                    let edge = self.number(self.seen.end);
                    long(edge, &mut options);
                }
            }
            5 => {
                options.extend([2, 4, self.script.byte(), self.script.byte(), 4, 2, 3, 3, self.script.byte()])
            }
            6 => {
                let length = 2 + self.script.below(18);
                options.extend([34, length]);
                let cookie = self.script.take(usize::from(length) - 2);
                options.extend(cookie);
            }
            _ => {
                let length = usize::from(self.script.below(41));
                options = self.script.take(length);
            }
        }
        options.truncate(40);
        options
    }

    /// The last packet again, with a byte changed; its checksums are made right half of the time.
    fn mutated(&mut self) {
        let mut bytes = self.last.clone();
        if bytes.is_empty() {
            return;
        }
        let at = usize::from(self.script.word()) % bytes.len().min(100);
        bytes[at] ^= self.script.byte();
        if self.script.byte() & 1 == 0 {
            wire::sum_up(&mut bytes);
            self.any_urgent = true;
        }
        self.give(bytes, 0);
    }

    fn wait(&mut self) {
        let until = match self.script.below(3) {
            0 => self.now + u64::from(self.script.word()),
            1 => self.now + u64::from(self.script.word()) * 1000,
            _ => self.stack.deadline().unwrap_or(self.now),
        };
        self.now = self.now.max(until.min(self.now + 1_000_000_000));
        self.stack.advance(self.now);
    }

    fn id(&mut self) -> Option<ConnectionId> {
        let index = usize::from(self.script.byte());
        (!self.ids.is_empty()).then(|| self.ids[index % self.ids.len()])
    }

    fn write(&mut self) {
        let Some(id) = self.id() else { return };
        let text = vec![b'x'; usize::from(self.script.word() >> 2)];
        if self.script.below(8) == 0 {
            let _ = self.stack.write_urgent(self.now, id, &text[..text.len().min(3)]);
        } else {
            let _ = self.stack.write(self.now, id, &text);
        }
    }

    fn read(&mut self) {
        let Some(id) = self.id() else { return };
        let Ok(status) = self.stack.status(self.now, id) else { return };
        let waiting = self.stack.readable(id).unwrap_or(0) as u32;
        let fin = matches!(
            self.stack.state(id),
            Ok(State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
        );
        let known = !self.any_urgent && self.stack.state(id) != Ok(State::Closed);
        let first = status.receive_next.wrapping_sub(u32::from(fin)).wrapping_sub(waiting);
        let mut buffer = vec![0; usize::from(self.script.word() >> 2) + 1];
        let Ok(n) = self.stack.read(self.now, id, &mut buffer) else { return };
        assert!(n as u32 <= waiting, "{n} bytes read, {waiting} were there");
        for (at, found) in buffer[..n].iter().enumerate().filter(|_| known) {
            let seq = first.wrapping_add(at as u32);
            assert_eq!(*found, byte_at(seq), "the byte {seq} is out of place");
        }
    }

    fn leave(&mut self) {
        let Some(id) = self.id() else { return };
        match self.script.below(6) {
            0 => self.stack.close(self.now, id),
            1 => self.stack.abort(self.now, id),
            2 | 3 => self.shutdown(Some(id)),
            _ => {
                let _ = self.stack.read_urgent(self.now, id);
            }
        }
    }

    fn option(&mut self) {
        let Some(id) = self.id() else { return };
        let (which, value) = (u32::from(self.script.below(20)), u32::from(self.script.word()));
        let _ = self.stack.set_option(self.now, id, which, value);
    }

    /// An ICMP message about one of the stack's segments.
    fn icmp(&mut self) {
        let (kind, code, mtu) = (self.script.byte(), self.script.byte() % 16, self.script.word());
        let kind =
            if self.script.byte() & 1 == 0 { if self.here.is_ipv6() { kind % 5 } else { 3 } } else { kind };
        let seq = self.number(self.seen.unacked);
        let cut = usize::from(self.script.below(3)) * 10;
        let bytes = wire::icmp(self.there, self.here, kind, code, mtu, seq, cut);
        self.give(bytes, 0);
    }

    fn raw(&mut self) {
        let length = usize::from(self.script.below(80));
        let bytes = self.script.take(length);
        self.stack.receive(self.now, Packet::new(&bytes), Received::default());
    }

    /// Everybody leaves; nothing may be left.
    fn end(mut self) {
        for id in std::mem::take(&mut self.ids) {
            self.stack.abort(self.now, id);
        }
        self.collect();
        self.stack.close_listener(self.now, self.listener);
        self.collect();
        let mut waits = 0;
        while let Some(deadline) = self.stack.deadline() {
            self.now = self.now.max(deadline);
            self.stack.advance(self.now);
            self.collect();
            waits += 1;
            assert!(waits < 10_000, "timers never end");
        }
        assert_eq!(self.stack.connections().count(), 0, "connections are left");
        assert_eq!(self.stack.segments_in_use(), 0, "segments are left");
        let Machine { stack, buffers, .. } = self;
        drop(stack);
        assert_eq!(clickwork_packet::buffers_in_use(), buffers, "packet buffers are left");
    }
}
