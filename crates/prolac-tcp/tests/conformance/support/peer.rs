//! The scripted peer: a [`TcpStack`] at one end, a test that writes and reads segments by hand at the other, in simulated time.
//!
//! A test first brings the stack somewhere (`states.rs`), then tells what arrives ([`Peer::inject`]) and what must be sent
//! in answer ([`Peer::expect`], [`Peer::nothing`]), as in `notation.rs`. When it fails it shows all that was exchanged.
//!
//! Here is what the peer does; `peer/user.rs` is what the stack's user does, `peer/watch.rs` what is compared.

mod user;
mod watch;

use std::collections::VecDeque;
use std::net::SocketAddr;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::Config;
use clickwork_prolac_tcp::{ConnectionId, Event, ListenerId, Received, TcpStack};

use super::notation::{self, ACK, Number, Pattern, SYN};
use super::options::{self, Base};
use super::wire::{Segment, Shown, text};

/// One millisecond and one second of the stack's time.
pub const MS: u64 = 1_000;
pub const SECOND: u64 = 1_000_000;

/// Sequence numbers of one side, on the wire.
#[derive(Clone, Copy, Default)]
pub struct Side {
    pub first: u32,
    pub next: u32,
}

impl Side {
    fn place(&self, number: Number) -> u32 {
        match number {
            Number::FromFirst(n) => self.first.wrapping_add(n as u32),
            Number::FromNext(n) => self.next.wrapping_add(n as u32),
        }
    }
}

/// A stack and the peer that a test plays.
pub struct Peer {
    pub stack: TcpStack,
    pub now: u64,
    /// The stack's address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    pub id: Option<ConnectionId>,
    pub listener: Option<ListenerId>,
    /// Numbers of the stack.
    pub stack_side: Side,
    /// Numbers of the peer. Its text crosses the end of the sequence space.
    pub peer_side: Side,
    /// What segments get that do not say it.
    pub default_window: u16,
    /// Options that all segments get which do not say theirs.
    pub default_options: Vec<String>,
    /// What the stack sent, each with SND.NXT before it.
    sent: VecDeque<(Segment, u32)>,
    events: Vec<Event>,
    written: u32,
    read: u32,
    echo: u32,
    last_window: u16,
    transcript: Vec<String>,
}

impl Peer {
    /// Linux's parameters, IPv4.
    pub fn new() -> Peer {
        Peer::with(|_| ())
    }

    /// The same with other parameters.
    pub fn with(change: impl FnOnce(&mut Config)) -> Peer {
        Peer::between("192.0.2.1:80", "192.0.2.2:5000", change)
    }

    /// The same over IPv6.
    pub fn v6() -> Peer {
        Peer::between("[2001:db8::1]:80", "[2001:db8::2]:5000", |_| ())
    }

    /// A stack at one address and a peer at another.
    pub fn between(local: &str, remote: &str, change: impl FnOnce(&mut Config)) -> Peer {
        let mut config = Config::default();
        change(&mut config);
        let (local, remote): (SocketAddr, SocketAddr) =
            (local.parse().expect("an address"), remote.parse().expect("an address"));
        let mut stack = super::stack(config);
        stack.add_address(local.ip());
        stack.seed(1);
        let first = 0xffff_fc00;
        Peer {
            stack,
            now: 1_000 * SECOND,
            local,
            remote,
            id: None,
            listener: None,
            stack_side: Side::default(),
            peer_side: Side { first, next: first },
            default_window: 65535,
            default_options: vec![],
            sent: VecDeque::new(),
            events: Vec::new(),
            written: 0,
            read: 0,
            echo: 0,
            last_window: 0,
            transcript: Vec::new(),
        }
    }

    /// A segment from the peer arrives.
    pub fn inject(&mut self, script: &str) {
        let segment = self.segment(script);
        self.inject_segment(&segment);
    }

    /// Several at once, before any answer is looked at.
    pub fn inject_all(&mut self, scripts: &[&str]) {
        scripts.iter().for_each(|script| self.inject(script));
    }

    /// A segment made of a script and perhaps changed.
    pub fn inject_segment(&mut self, segment: &Segment) {
        let shown = self.shown(segment);
        self.note(&format!("<  {shown}"));
        self.inject_packet(&segment.packet());
        if segment.has(SYN) && segment.sequence == self.peer_side.first || self.is_next(segment) {
            self.peer_side.next = segment.end();
        }
    }

    fn is_next(&self, segment: &Segment) -> bool {
        let next = self.peer_side.next;
        segment.has(ACK)
            && !segment.has(SYN)
            && !segment.has(notation::RST)
            && segment.sequence.wrapping_sub(next) as i32 <= 0
            && segment.end().wrapping_sub(next) as i32 > 0
    }

    /// Bytes arrive.
    pub fn inject_packet(&mut self, packet: &[u8]) {
        self.stack.receive(self.now, Packet::new(packet), Received::default());
        self.collect();
    }

    /// A segment from the peer as a script says it, not sent.
    pub fn segment(&self, script: &str) -> Segment {
        let pattern = Pattern::parse(script);
        let sequence = self.peer_side.place(pattern.sequence);
        let acknowledgment = match pattern.acknowledgment {
            Some(number) => self.stack_side.place(number),
            None if pattern.flags & ACK != 0 => self.stack_side.next,
            None => 0,
        };
        let base = Base { sack: self.stack_side.first, echo: self.echo };
        let mut options = options::encode(pattern.options.as_ref().unwrap_or(&self.default_options), base);
        options.resize(options.len().next_multiple_of(4), 1);
        let syn = u32::from(pattern.flags & SYN != 0);
        let place = sequence.wrapping_add(syn).wrapping_sub(self.peer_side.first).wrapping_sub(1);
        Segment {
            from: self.remote,
            to: self.local,
            flags: pattern.flags,
            sequence,
            acknowledgment,
            window: pattern.window.unwrap_or(self.default_window),
            urgent: pattern.urgent.unwrap_or(0),
            ecn: pattern.ecn.unwrap_or(0),
            dont_fragment: true,
            options,
            text: text(place, pattern.length),
            time: self.now,
        }
    }

    fn shown(&self, segment: &Segment) -> String {
        let (peer, stack) = (self.peer_side.first, self.stack_side.first);
        let from_stack = segment.from == self.local;
        let (sequence_base, acknowledgment_base) = if from_stack { (stack, peer) } else { (peer, stack) };
        Shown { segment, sequence_base, acknowledgment_base }.to_string()
    }

    fn note(&mut self, what: &str) {
        let time = (self.now - 1_000 * SECOND) as f64 / 1e6;
        self.transcript.push(format!("{time:12.6} {what}"));
    }

    /// All that happened.
    pub fn story(&self) -> String {
        let skipped = self.transcript.len().saturating_sub(60);
        self.transcript[skipped..].join("\n")
    }
}

/// A state's name.
pub fn name(state: u8) -> &'static str {
    let names = [
        "ESTABLISHED",
        "SYN-SENT",
        "SYN-RECEIVED",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "CLOSED",
        "CLOSE-WAIT",
        "LAST-ACK",
        "LISTEN",
        "CLOSING",
    ];
    names[usize::from(state) - 1]
}
