//! The scripted peer: a [`TcpStack`] at one end, a test that writes and reads segments by hand at the other, in simulated time.
//!
//! A test first brings the stack somewhere (`states.rs`), then tells what arrives ([`Peer::inject`]) and what must be sent
//! in answer ([`Peer::expect`], [`Peer::nothing`]), as in `notation.rs`. When it fails it shows all that was exchanged.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::RangeBounds;

use clickwork_packet::Packet;
use clickwork_prolac_tcp::abi::{Config, Status, state};
use clickwork_prolac_tcp::{ConnectionId, Error, Event, ListenerId, Options, Received, TcpStack};

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

    // ---- What the user does

    /// Opens actively, from the local port to the peer.
    pub fn connect(&mut self) {
        self.connect_with(&Options::default());
    }

    /// The same with options.
    pub fn connect_with(&mut self, options: &Options) {
        self.note("connect");
        let id = self.stack.connect(self.now, Some(self.local), self.remote, options);
        self.id = Some(id.expect("an active open"));
        self.collect();
    }

    /// Opens passively.
    pub fn listen(&mut self, backlog: u32) {
        self.listen_with(backlog, &Options::default());
    }

    /// The same with options.
    pub fn listen_with(&mut self, backlog: u32, options: &Options) {
        self.note("listen");
        self.listener = Some(self.stack.listen(self.local, backlog, options).expect("a passive open"));
    }

    /// Takes the established connection.
    pub fn accept(&mut self) {
        self.id =
            Some(self.stack.accept(self.listener.expect("a listener")).expect("a connection to accept"));
    }

    /// The connection: that which was opened or accepted, or the only one there is.
    pub fn id(&mut self) -> ConnectionId {
        if self.id.is_none() {
            self.id = self.stack.connections().next();
        }
        self.id.expect("a connection")
    }

    /// Writes text; how much was taken.
    pub fn try_write(&mut self, length: usize) -> Result<usize, Error> {
        self.note(&format!("write {length}"));
        let id = self.id();
        let result = self.stack.write(self.now, id, &text(self.written, length));
        self.written += *result.as_ref().unwrap_or(&0) as u32;
        self.collect();
        result
    }

    /// Writes text, all of which must be taken.
    pub fn write(&mut self, length: usize) {
        assert_eq!(self.try_write(length).ok(), Some(length), "room for what is written");
    }

    /// Writes until there is no more room.
    pub fn fill(&mut self) {
        while self.try_write(65536).is_ok() {}
    }

    /// Writes text as urgent data.
    pub fn write_urgent(&mut self, length: usize) {
        self.note(&format!("write {length} urgent"));
        let id = self.id();
        let written = self.stack.write_urgent(self.now, id, &text(self.written, length));
        assert_eq!(written.ok(), Some(length));
        self.written += length as u32;
        self.collect();
    }

    /// Reads at most so much, and compares it with what the peer sends.
    pub fn try_read(&mut self, length: usize) -> Result<usize, Error> {
        let id = self.id();
        let mut buffer = vec![0; length];
        let count = self.stack.read(self.now, id, &mut buffer)?;
        assert_eq!(buffer[..count], text(self.read, count), "text at {}\n{}", self.read, self.story());
        self.read += count as u32;
        self.note(&format!("read {count}"));
        self.collect();
        Ok(count)
    }

    /// Reads all there is.
    pub fn read_all(&mut self) -> usize {
        let mut total = 0;
        while let Ok(count @ 1..) = self.try_read(65536) {
            total += count;
        }
        total
    }

    /// Half a close: the stack sends no more text.
    pub fn shutdown(&mut self) {
        self.note("shutdown");
        let id = self.id();
        self.stack.shutdown(self.now, id).expect("a connection to shut down");
        self.collect();
    }

    /// The same, where it is an error or has no effect.
    pub fn shutdown_again(&mut self) {
        self.note("shutdown");
        let id = self.id();
        self.stack.shutdown(self.now, id).ok();
        self.collect();
    }

    /// The user leaves.
    pub fn close(&mut self) {
        self.note("close");
        let id = self.id();
        self.stack.close(self.now, id);
        self.collect();
    }

    /// The user aborts.
    pub fn abort(&mut self) {
        self.note("abort");
        let id = self.id();
        self.stack.abort(self.now, id);
        self.collect();
    }

    /// Text is counted from the start again: for the next connection.
    pub fn forget_text(&mut self) {
        (self.written, self.read) = (0, 0);
    }

    /// Sets one of `abi::option`.
    pub fn set(&mut self, option: u32, value: u32) {
        let id = self.id();
        self.stack.set_option(self.now, id, option, value).expect("an option that is known");
        self.collect();
    }

    /// The state, CLOSED if there is no connection.
    pub fn state(&mut self) -> u8 {
        let id = self.id.or_else(|| self.stack.connections().next());
        id.and_then(|id| self.stack.state(id).ok()).map_or(state::CLOSED, |state| state as u8)
    }

    /// Asserts the state.
    pub fn is(&mut self, expected: u8) {
        let state = self.state();
        assert_eq!(name(state), name(expected), "the state\n{}", self.story());
    }

    /// What STATUS says.
    pub fn status(&mut self) -> Status {
        let id = self.id();
        self.stack.status(self.now, id).expect("a connection to ask")
    }

    /// The error that the user is told, once, as `errno`; 0 for none.
    pub fn error(&mut self) -> i32 {
        let id = self.id();
        self.stack.take_error(id).map_or_else(|error| error.0, |error| error.map_or(0, |error| error.0))
    }

    /// Whether an event was reported since this was asked last; those before it are forgotten.
    pub fn reported(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        let found = self.events.iter().any(wanted);
        self.events.clear();
        found
    }

    // ---- What the peer does

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

    // ---- What the stack sends

    /// The stack has sent this next, by now. Gives it back, for what scripts cannot say.
    #[track_caller]
    pub fn expect(&mut self, script: &str) -> Segment {
        let Some((segment, next)) = self.sent.pop_front() else {
            panic!("`{script}` was expected, nothing was sent\n{}", self.story());
        };
        self.compare(script, &segment, next);
        segment
    }

    /// The stack sends this next, within a time from now; no timer is needed for that if it starts at 0.
    #[track_caller]
    pub fn expect_within(&mut self, times: impl RangeBounds<u64>, script: &str) -> Segment {
        let start = self.now;
        self.run_until_sent();
        let Some((segment, next)) = self.sent.pop_front() else {
            panic!("`{script}` was expected, nothing was ever sent\n{}", self.story());
        };
        let after = segment.time - start;
        assert!(times.contains(&after), "`{script}` was sent after {after} µs\n{}", self.story());
        self.compare(script, &segment, next);
        segment
    }

    /// Text up to here is acknowledged, at once or soon.
    #[track_caller]
    pub fn expect_ack(&mut self, script: &str) -> Segment {
        self.expect_within(0..=500 * MS, script)
    }

    /// The next segment, whatever it is.
    pub fn next(&mut self) -> Option<Segment> {
        self.sent.pop_front().map(|(segment, _)| segment)
    }

    /// The window in the last segment that was sent.
    pub fn last_window(&self) -> u16 {
        self.last_window
    }

    /// All that was sent, whatever it is.
    pub fn all(&mut self) -> Vec<Segment> {
        self.sent.drain(..).map(|(segment, _)| segment).collect()
    }

    /// All text that was sent: where it stands, and its length.
    pub fn pieces(&mut self) -> Vec<(u32, usize)> {
        let first = self.stack_side.first;
        let place = |s: &Segment| (s.sequence.wrapping_sub(first), s.text.len());
        self.all().iter().filter(|s| !s.text.is_empty()).map(place).collect()
    }

    /// One acknowledgment for each piece of text; what is sent then.
    pub fn acknowledge_each(&mut self, pieces: &[(u32, usize)]) -> Vec<(u32, usize)> {
        for (place, length) in pieces {
            self.inject(&format!(". n ack {}", place + *length as u32));
        }
        self.pieces()
    }

    /// The stack has sent nothing more.
    #[track_caller]
    pub fn nothing(&mut self) {
        if let Some((segment, _)) = self.sent.front() {
            panic!("`{}` was sent, nothing was expected\n{}", self.shown(segment), self.story());
        }
    }

    /// Time passes, and the stack sends nothing.
    #[track_caller]
    pub fn quiet(&mut self, time: u64) {
        self.pass(time);
        self.nothing();
    }

    /// Time passes.
    pub fn pass(&mut self, time: u64) {
        let end = self.now + time;
        while self.stack.deadline().is_some_and(|deadline| deadline <= end) {
            self.next_timer();
        }
        self.now = end;
        self.stack.advance(self.now);
        self.collect();
    }

    /// Timers run until one of them sends something, or there is none.
    pub fn run_until_sent(&mut self) {
        while self.sent.is_empty() && self.stack.deadline().is_some() {
            self.next_timer();
        }
    }

    fn next_timer(&mut self) {
        assert!(self.transcript.len() < 100_000, "no end\n{}", self.story());
        self.now = self.now.max(self.stack.deadline().expect("a timer"));
        self.note("timer");
        self.stack.advance(self.now);
        self.collect();
    }

    fn collect(&mut self) {
        while let Some(transmit) = self.stack.next_transmit() {
            let segment = Segment::read(transmit.into_packet().data(), self.now);
            let next = self.stack_side.next;
            self.follow(&segment);
            let shown = self.shown(&segment);
            self.note(&format!(" > {shown}"));
            self.sent.push_back((segment, next));
        }
        while let Some(event) = self.stack.next_event() {
            self.events.push(event);
        }
    }

    /// Keeps the stack's numbers.
    fn follow(&mut self, segment: &Segment) {
        let fresh = self.stack_side.first == self.stack_side.next;
        if segment.has(SYN) && (fresh || segment.sequence != self.stack_side.first) {
            self.stack_side = Side { first: segment.sequence, next: segment.end() };
        } else if segment.end().wrapping_sub(self.stack_side.next) as i32 > 0 && !segment.has(notation::RST) {
            self.stack_side.next = segment.end();
        }
        self.last_window = segment.window;
        self.echo = segment.timestamp().unwrap_or(self.echo);
    }

    #[track_caller]
    fn compare(&self, script: &str, segment: &Segment, next: u32) {
        let pattern = Pattern::parse(script);
        let failed = |what: &str| -> ! {
            panic!("{what} of `{}` is not that of `{script}`\n{}", self.shown(segment), self.story())
        };
        // PSH is compared only where a script asks for it.
        let mask = if pattern.flags & notation::PSH != 0 { 0xff } else { !notation::PSH };
        if segment.flags & mask != pattern.flags {
            failed("the flags");
        }
        if segment.text.len() != pattern.length {
            failed("the length");
        }
        let side = Side { next, ..self.stack_side };
        if segment.sequence != side.place(pattern.sequence) {
            failed("the sequence number");
        }
        if pattern.acknowledgment.is_some_and(|ack| segment.acknowledgment != self.peer_side.place(ack)) {
            failed("the acknowledgment");
        }
        if pattern.window.is_some_and(|window| segment.window != window) {
            failed("the window");
        }
        if pattern.urgent.is_some_and(|urgent| segment.urgent != urgent) {
            failed("the urgent pointer");
        }
        if pattern.ecn.is_some_and(|ecn| segment.ecn != ecn) {
            failed("the ECN field");
        }
        let words = segment.option_words(Base { sack: self.peer_side.first, echo: 0 });
        if pattern.options.is_some_and(|options| !notation::fits(&options, &words)) {
            failed("the options");
        }
        let syn = u32::from(segment.has(SYN));
        let place = segment.sequence.wrapping_add(syn).wrapping_sub(self.stack_side.first).wrapping_sub(1);
        if segment.text != text(place, segment.text.len()) {
            failed("the text");
        }
    }

    // ---- For failures

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
