//! What a stack answers to a script that expects nothing: the results of its calls and its packets, line by line, so that two stacks can
//! be compared, and one with what was written down before.
//!
//! After each event a SYN is sent to a port where nobody listens. What comes before the reset that answers it belongs to the event, so
//! no time has to pass to know that nothing comes.

use std::collections::HashMap;

use clickwork_prolac_tcp::sockets::TCP_INFO_LENGTH;
use clickwork_prolac_tcp::sockets::linux::{AF_INET, AF_INET6, IPPROTO_TCP, TCP_INFO};

use crate::driver::calls::{Surroundings, invoke};
use crate::driver::library::Stack;
use crate::driver::parse;
use crate::driver::run::Mode;
use crate::driver::script::{Action, Argument, CallSpec, PacketSpec, TcpOption};
use crate::driver::symbols;
use crate::driver::wire::{self, Ends};

/// As an acknowledgment number: all that the stack has sent.
pub const ALL: u32 = u32::MAX;
/// Nobody listens there.
const NOBODY: u16 = 9;

/// One connection whose packets are noted.
pub struct Trace<'a> {
    stack: &'a Stack,
    around: Surroundings,
    /// As seen by the stack.
    ends: Ends,
    /// True sequence numbers minus those that are shown.
    shift: u32,
    /// Behind all that the stack has sent, as shown.
    sent: u32,
    /// The right edge of the window that it has offered.
    edge: u32,
    markers: u16,
    /// What was seen.
    pub lines: Vec<String>,
}

impl<'a> Trace<'a> {
    /// A connection with these ports; several can follow each other on one stack.
    pub fn new(stack: &'a Stack, mode: Mode, local_port: u16, remote_port: u16) -> Trace<'a> {
        let mut bind = mode.user(mode.local());
        let mut connect = mode.user(mode.remote());
        bind.set_port(local_port);
        connect.set_port(remote_port);
        let around = Surroundings {
            domain: if mode == Mode::Ipv4 { AF_INET } else { AF_INET6 },
            bind,
            connect,
            descriptors: HashMap::new(),
        };
        let ends = Ends {
            source: mode.local(),
            destination: mode.remote(),
            source_port: local_port,
            destination_port: remote_port,
        };
        Trace { stack, around, ends, shift: 0, sent: 0, edge: 0, markers: 0, lines: Vec::new() }
    }

    /// Plays the lines of a script; times are only waited for.
    pub fn play(&mut self, script: &str) -> Result<(), String> {
        for event in parse::parse(script)?.events {
            if event.time.from > 0 {
                self.stack.usleep(event.time.from);
                self.note_packets()?;
            }
            match &event.action {
                Action::In(spec) => self.inject(spec),
                Action::Call(call) => self.call(call)?,
                other => return Err(format!("a trace has no {other:?}")),
            }
            self.note_packets()?;
        }
        Ok(())
    }

    /// The state of a socket, as TCP_INFO has it.
    pub fn state(&self, fd: i64) -> String {
        const NAMES: [&str; 12] = [
            "",
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
        let Some(&fd) = self.around.descriptors.get(&fd) else { return "no socket".into() };
        let (table, mut state, mut length) = (self.stack.table(), 0u8, 1);
        // SAFETY: a byte, of which one may be written.
        let result = unsafe {
            let value = (&raw mut state).cast();
            table.getsockopt.unwrap()(table.userdata, fd, IPPROTO_TCP, TCP_INFO, value, &mut length)
        };
        if result < 0 { "no TCP_INFO".into() } else { NAMES[usize::from(state)].into() }
    }

    /// TCP_INFO of a socket.
    pub fn info(&self, fd: i64) -> [u8; TCP_INFO_LENGTH] {
        let fd = self.around.descriptors.get(&fd).copied().unwrap_or(-1);
        let (table, mut info, mut length) =
            (self.stack.table(), [0; TCP_INFO_LENGTH], TCP_INFO_LENGTH as u32);
        // SAFETY: the structure is as long as it says.
        unsafe {
            let value = info.as_mut_ptr().cast();
            table.getsockopt.unwrap()(table.userdata, fd, IPPROTO_TCP, TCP_INFO, value, &mut length)
        };
        info
    }

    /// What was noted since the last time.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    fn call(&mut self, call: &CallSpec) -> Result<(), String> {
        let outcome = invoke(self.stack, call, &self.around)?;
        for &(name, fd) in &outcome.made {
            self.around.descriptors.insert(name, fd);
        }
        let told =
            if outcome.result < 0 { format!(" {}", symbols::errno(outcome.errno)) } else { String::new() };
        let result = if outcome.made.is_empty() { outcome.result } else { call.result };
        self.lines.push(format!("{} = {result}{told}", call.name));
        if call.name == "close"
            && let Some(Argument::Number(fd)) = call.arguments.first()
        {
            self.around.descriptors.remove(fd);
        }
        Ok(())
    }

    /// The right edge of the window that the stack has offered, as the peer counts.
    pub fn edge(&self) -> u32 {
        self.edge
    }

    /// A packet arrives, and is answered.
    pub fn arrive(&mut self, spec: &PacketSpec) -> Result<(), String> {
        self.inject(spec);
        self.note_packets()
    }

    /// Time passes, in microseconds.
    pub fn pass(&mut self, time: i64) -> Result<(), String> {
        self.stack.usleep(time);
        self.note_packets()
    }

    fn inject(&mut self, spec: &PacketSpec) {
        let mut live = spec.clone();
        if live.ack == ALL {
            live.ack = self.sent;
        }
        if live.flags & 16 != 0 {
            live.ack = live.ack.wrapping_add(self.shift);
        }
        for option in live.options.iter_mut().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (left, right) in blocks {
                    *left = left.wrapping_add(self.shift);
                    *right = right.wrapping_add(self.shift);
                }
            }
        }
        self.stack.send(&wire::build(&self.ends.reversed(), &live));
    }

    /// Notes what the stack has sent until now.
    fn note_packets(&mut self) -> Result<(), String> {
        self.markers += 1;
        let marker = Ends { source_port: NOBODY, destination_port: 1000 + self.markers, ..self.ends };
        let syn = PacketSpec { flags: 2, options: Some(Vec::new()), ..PacketSpec::default() };
        self.stack.send(&wire::build(&marker.reversed(), &syn));
        loop {
            let (_, packet) = self.stack.receive().ok_or("the stack is silent")?;
            let parsed = wire::parse(&packet)?;
            if parsed.ends == marker {
                return Ok(());
            }
            self.note(&parsed.spec, parsed.ends);
        }
    }

    fn note(&mut self, spec: &PacketSpec, ends: Ends) {
        let begins = spec.flags & 18 == 2 && ends.destination_port == self.ends.destination_port;
        if begins && self.around.connect.port() == ends.destination_port {
            self.ends = ends;
        }
        if ends != self.ends {
            return;
        }
        if spec.flags & 2 != 0 && (begins || self.shift == 0) {
            self.shift = spec.seq;
        }
        let mut shown = spec.clone();
        // A refusal's number is that of the segment which it answers.
        shown.seq = if shown.seq == 0 { 0 } else { shown.seq.wrapping_sub(self.shift) };
        if shown.flags & 4 == 0 {
            let length = shown.length + u32::from(shown.flags & 1 != 0) + u32::from(shown.flags & 2 != 0);
            self.sent = self.sent.max(shown.seq.wrapping_add(length));
        }
        if shown.flags & 16 != 0 && shown.flags & 4 == 0 {
            self.edge = self.edge.max(shown.ack.wrapping_add(shown.window.unwrap_or(0).into()));
        }
        (shown.window, shown.options, shown.ecn) = (None, Some(Vec::new()), None);
        self.lines.push(format!("> {shown}"));
    }
}

impl Drop for Trace<'_> {
    /// The connection is reset, so that it disturbs nobody.
    fn drop(&mut self) {
        // SAFETY: they are descriptors that nobody else has.
        self.around.descriptors.drain().for_each(|(_, fd)| unsafe {
            self.stack.table().close.unwrap()(self.stack.table().userdata, fd);
        });
    }
}
