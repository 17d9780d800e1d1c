//! A user of one connection: writes what it has to, reads, pauses, and leaves in the way that its plan says. It does
//! nothing but what a program could do: it acts when the stack reports an event and when its own time has come.

use clickwork_prolac_tcp::{ConnectionId, Error, TcpStack};

use crate::random::{Random, mix};

/// How a user leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Shuts down when all is written, reads to the end, closes.
    Shutdown,
    /// Reads to the end and closes when all is written too.
    AfterPeer,
    /// Closes as soon as all is written, whatever the peer still sends.
    AtOnce,
    /// Aborts when it has written and read so many bytes together.
    Abort(u64),
}

/// What a user is going to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Bytes to write, and the most in one call.
    pub total: u64,
    pub write_size: usize,
    /// The most to read in one call.
    pub read_size: usize,
    /// Of a thousand calls of write, so many are followed by a pause of this many microseconds.
    pub think: (u32, u64),
    /// Stops reading at these positions for so long: the window closes.
    pub stops: Vec<(u64, u64)>,
    /// Reads packets, without a copy.
    pub packets: bool,
    /// Positions of urgent bytes, and of the peer's.
    pub urgent: Vec<u64>,
    pub peer_urgent: Vec<u64>,
    pub leave: Leave,
}

/// How it ended for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It read the end of what the peer wrote.
    Complete,
    Failed(Error),
    /// It left before.
    Left,
}

pub struct User {
    /// 0 the one that opened it (or the first one), 1 the other.
    pub end: usize,
    pub id: ConnectionId,
    pub plan: Plan,
    /// Of the connection: part of what the bytes are made from.
    client_port: u16,
    pub conversation: usize,
    random: Random,
    pub written: u64,
    pub read: u64,
    /// Where it may be in what the peer wrote: one place, unless urgent bytes have confused it.
    places: Vec<u64>,
    shut: bool,
    pub saw_end: bool,
    pub ended: Option<End>,
    /// When it acts again without being told to.
    pub wake: Option<u64>,
    write_after: u64,
    read_after: u64,
    pub last_progress: u64,
    pub connected: bool,
    /// It writes before it is connected.
    pub is_early: bool,
}

/// The byte that `end` of the connection writes at `position`. It never equals its neighbours, so that one which is taken
/// out shows.
pub fn byte(end: usize, position: u64, client_port: u16) -> u8 {
    let block = mix((position / 8) ^ ((end as u64) << 60) ^ (u64::from(client_port) << 40));
    (block >> (position % 8 * 8)) as u8 & 0x7f | (position as u8 & 1) << 7
}

impl User {
    pub fn new(
        end: usize,
        id: ConnectionId,
        plan: Plan,
        client_port: u16,
        conversation: usize,
        random: Random,
        now: u64,
    ) -> User {
        User {
            end,
            id,
            plan,
            client_port,
            conversation,
            random,
            written: 0,
            read: 0,
            places: vec![0],
            shut: false,
            saw_end: false,
            ended: None,
            wake: None,
            write_after: 0,
            read_after: 0,
            last_progress: now,
            connected: false,
            is_early: false,
        }
    }

    /// Does all that can be done now. An error is a violation of what TCP promises.
    pub fn act(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), String> {
        self.wake = None;
        if self.is_early && !self.connected {
            return self.write_early(stack, now);
        }
        self.is_early = false;
        let (read, written) = (self.read, self.written);
        let result = self.write(stack, now).and_then(|()| self.read(stack, now));
        if (read, written) != (self.read, self.written) || self.connected {
            self.last_progress = now;
            self.connected = false;
        }
        match result {
            Ok(()) => self.leave(stack, now),
            Err(Fault::Wrong(message)) => return Err(message),
            Err(Fault::Failed(error)) => self.fail(stack, now, error),
        }
        Ok(())
    }

    fn write(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), Fault> {
        while self.ended.is_none() && !self.shut && self.written < self.plan.total {
            if now < self.write_after {
                self.wake_at(self.write_after);
                return Ok(());
            }
            match self.write_some(stack, now) {
                Ok(0) => return Err(Fault::Wrong("write took nothing".to_string())),
                Ok(n) => self.written += n as u64,
                Err(Error::WOULD_BLOCK) => return Ok(()),
                Err(error) => return Err(Fault::Failed(error)),
            }
            if self.random.chance(self.plan.think.0) {
                self.write_after = now + self.random.below(self.plan.think.1 + 1);
            }
            if self.is_to_abort() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn write_some(&mut self, stack: &mut TcpStack, now: u64) -> Result<usize, Error> {
        let most = (self.plan.total - self.written).min(self.random.between(1, self.plan.write_size as u64));
        let next_urgent = self.plan.urgent.iter().find(|at| **at >= self.written);
        if next_urgent == Some(&self.written) {
            return stack.write_urgent(now, self.id, &[self.byte(self.written)]);
        }
        let most = next_urgent.map_or(most, |at| most.min(at - self.written));
        let text: Vec<u8> = (self.written..self.written + most).map(|at| self.byte(at)).collect();
        stack.write(now, self.id, &text)
    }

    fn byte(&self, at: u64) -> u8 {
        byte(self.end, at, self.client_port)
    }

    fn read(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), Fault> {
        while self.ended.is_none() && !self.saw_end {
            if let Some(at) = self.plan.stops.iter().position(|(at, _)| *at <= self.read) {
                self.read_after = now + self.plan.stops.remove(at).1;
            }
            if now < self.read_after {
                self.wake_at(self.read_after);
                return Ok(());
            }
            match self.read_some(stack, now) {
                Ok(Some(text)) if text.is_empty() => self.end_of_text(),
                Ok(Some(text)) => self.check(&text).map_err(Fault::Wrong)?,
                Ok(None) | Err(Error::WOULD_BLOCK) => return Ok(()),
                Err(error) => return Err(Fault::Failed(error)),
            }
            if self.is_to_abort() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Text, the end (empty), or none if there is nothing yet.
    fn read_some(&mut self, stack: &mut TcpStack, now: u64) -> Result<Option<Vec<u8>>, Error> {
        if self.plan.packets {
            let packet = stack.read_packet(now, self.id)?;
            return Ok(Some(packet.map_or(Vec::new(), |packet| packet.data().to_vec())));
        }
        let mut buffer = vec![0; self.random.between(1, self.plan.read_size as u64) as usize];
        let n = stack.read(now, self.id, &mut buffer)?;
        buffer.truncate(n);
        Ok(Some(buffer))
    }

    fn end_of_text(&mut self) {
        self.saw_end = true;
        let last = self.places.iter().map(|place| self.behind_urgent(*place)).max();
        self.read = last.unwrap_or(self.read);
    }

    /// The first place from `at` on whose byte is not urgent.
    fn behind_urgent(&self, mut at: u64) -> u64 {
        while self.plan.peer_urgent.contains(&at) {
            at += 1;
        }
        at
    }

    /// What was read is what the peer wrote there.
    fn check(&mut self, text: &[u8]) -> Result<(), String> {
        for found in text {
            let next = self.next_places(*found);
            if next.is_empty() {
                let expected = byte(1 - self.end, self.read, self.client_port);
                return Err(format!(
                    "end {} read {found:02x} at {}, {expected:02x} was written",
                    self.end, self.read
                ));
            }
            self.read = next.iter().copied().max().unwrap_or(self.read);
            self.places = next;
        }
        Ok(())
    }

    /// Where the reader may be after this byte: urgent bytes may have been taken out of the text, and it may look as if.
    fn next_places(&self, found: u8) -> Vec<u64> {
        let mut next = Vec::new();
        for place in &self.places {
            for at in *place..=self.behind_urgent(*place) {
                if byte(1 - self.end, at, self.client_port) == found && !next.contains(&(at + 1)) {
                    next.push(at + 1);
                }
            }
        }
        next
    }

    /// Urgent data was announced: if the byte is there, it is one that the peer wrote as urgent.
    pub fn urgent(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), String> {
        let Ok(found) = stack.read_urgent(now, self.id) else { return Ok(()) };
        let mut written = self.plan.peer_urgent.iter().map(|at| byte(1 - self.end, *at, self.client_port));
        match written.any(|byte| byte == found) {
            true => Ok(()),
            false => Err(format!("end {} read {found:02x} as urgent data", self.end)),
        }
    }

    fn is_to_abort(&self) -> bool {
        matches!(self.plan.leave, Leave::Abort(at) if self.written + self.read >= at)
    }

    /// Leaves, if it is time.
    fn leave(&mut self, stack: &mut TcpStack, now: u64) {
        let all_written = self.written == self.plan.total;
        if self.ended.is_some() {
            return;
        }
        match self.plan.leave {
            _ if self.is_to_abort() => {
                stack.abort(now, self.id);
                self.ended = Some(End::Left);
            }
            Leave::AtOnce if all_written => {
                stack.close(now, self.id);
                self.ended = Some(if self.saw_end { End::Complete } else { End::Left });
            }
            _ if all_written && self.saw_end => {
                stack.close(now, self.id);
                self.ended = Some(End::Complete);
            }
            Leave::Shutdown if all_written && !self.shut => match stack.shutdown(now, self.id) {
                Ok(()) => self.shut = true,
                Err(error) => self.fail(stack, now, error),
            },
            _ => {}
        }
    }

    /// The connection is closed: reads what is left, in spite of pauses, to the end or to the error.
    pub fn read_after_all(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), String> {
        self.plan.stops.clear();
        self.is_early = false;
        self.read_after = 0;
        self.write_after = 0;
        self.act(stack, now)?;
        if self.ended.is_none() {
            return Err(format!("end {} was told that the connection is closed, but not how", self.end));
        }
        Ok(())
    }

    /// Before the connection is there: fast open sends some of the text with the SYN.
    fn write_early(&mut self, stack: &mut TcpStack, now: u64) -> Result<(), String> {
        match self.write(stack, now) {
            Ok(()) => Ok(()),
            Err(Fault::Wrong(message)) => Err(message),
            Err(Fault::Failed(error)) => {
                self.fail(stack, now, error);
                Ok(())
            }
        }
    }

    /// Gives up: the peer cannot answer any more.
    pub fn give_up(&mut self, stack: &mut TcpStack, now: u64) {
        stack.abort(now, self.id);
        self.ended = Some(End::Left);
    }

    /// An error has come: it closes what is left, as programs do.
    pub fn fail(&mut self, stack: &mut TcpStack, now: u64, error: Error) {
        stack.close(now, self.id);
        self.ended = Some(End::Failed(error));
    }

    fn wake_at(&mut self, at: u64) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}

enum Fault {
    Failed(Error),
    /// What TCP must not do.
    Wrong(String),
}
