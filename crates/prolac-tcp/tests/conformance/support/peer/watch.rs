//! What the stack sends: compared with scripts, now or as time passes.

use std::ops::RangeBounds;

use super::{MS, Peer, Side};
use crate::support::notation::{self, Pattern, SYN};
use crate::support::options::Base;
use crate::support::wire::{Segment, text};

impl Peer {
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

    pub(super) fn collect(&mut self) {
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
}
