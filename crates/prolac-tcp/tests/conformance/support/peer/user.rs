//! What the stack's user does, and what it is told.

use clickwork_prolac_tcp::abi::{Status, state};
use clickwork_prolac_tcp::{ConnectionId, Error, Event, Options};

use super::{Peer, name};
use crate::support::wire::text;

impl Peer {
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
}
