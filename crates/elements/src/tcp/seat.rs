//! An element's seat in a stack: all that it can do with the connections that are its own.

use super::stack::{Stack, UserId};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{ConnectionId, Error, Event};
use clickwork_router::Cx;
use clickwork_router::router::ElementId;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// The time as stacks count it.
pub fn micros(cx: &Cx<'_>) -> u64 {
    cx.steady().micros().max(0) as u64
}

/// An element's place in a stack.
#[derive(Clone)]
pub struct Seat {
    stack: Arc<Stack>,
    user: UserId,
}

impl Seat {
    /// A place for me in the stack that an element exports. If I have several, `role` tells them apart.
    ///
    /// # Errors
    /// If the element exports none.
    pub fn new(stack: ElementId, role: &str, cx: &Cx<'_>) -> Result<Seat, String> {
        let name = &cx.router().info(stack).name;
        let stack = cx.exported::<Stack>(stack).ok_or_else(|| format!("'{name}' could not be configured"))?;
        let user = stack.lock().enter(format!("{}{role}", cx.name()), cx.id());
        Ok(Seat { stack, user })
    }

    /// Waits for connections.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn listen(&self, local: SocketAddr, backlog: u32) -> Result<(), String> {
        let outcome = self.stack.lock().listen(self.user, local, backlog);
        outcome.map_err(|e| format!("cannot listen at {local}: {e}"))
    }

    /// Begins a connection. One who `speaks_first` should write at once: with fast open, the text travels in the SYN.
    ///
    /// # Errors
    /// What the stack says.
    pub fn connect(
        &self,
        remote: SocketAddr,
        speaks_first: bool,
        cx: &mut Cx<'_>,
    ) -> Result<ConnectionId, Error> {
        let now = micros(cx);
        self.call_stack(cx);
        self.stack.lock().connect(self.user, now, remote, speaks_first)
    }

    /// Whether text may travel in the SYN.
    pub fn opens_fast(&self) -> bool {
        self.stack.lock().options.fast_open
    }

    /// The next connection that waits for me.
    pub fn accept(&self) -> Option<ConnectionId> {
        self.stack.lock().accept(self.user)
    }

    /// What has happened since the last time, into `events`, which is empty.
    pub fn take_events(&self, events: &mut VecDeque<Event>) {
        self.stack.lock().take_events(self.user, events);
    }

    /// Reads text: the number of bytes, 0 at its end, none if there is no more for now.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn read(&self, now: u64, id: ConnectionId, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        would_wait(self.stack.lock().tcp.read(now, id, buffer))
    }

    /// The next piece of text as it came, without a copy: a packet whose data it is, none at the end; nothing at all if
    /// there is no more for now.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn read_packet(&self, now: u64, id: ConnectionId) -> Result<Option<Option<Packet>>, Error> {
        would_wait(self.stack.lock().tcp.read_packet(now, id))
    }

    /// Writes text, as much as there is room for.
    ///
    /// # Errors
    /// Why none can be written any more.
    pub fn write(&self, now: u64, id: ConnectionId, data: &[u8]) -> Result<usize, Error> {
        would_wait(self.stack.lock().tcp.write(now, id, data)).map(Option::unwrap_or_default)
    }

    /// Ends what is sent.
    ///
    /// # Errors
    /// If the connection is no more.
    pub fn shutdown(&self, now: u64, id: ConnectionId) -> Result<(), Error> {
        self.stack.lock().tcp.shutdown(now, id)
    }

    /// Leaves a connection in good order.
    pub fn close(&self, now: u64, id: ConnectionId) {
        self.stack.lock().close(now, id);
    }

    /// Breaks a connection off.
    pub fn abort(&self, now: u64, id: ConnectionId) {
        self.stack.lock().abort(now, id);
    }

    /// Whether a connection is mine.
    pub fn has(&self, id: ConnectionId) -> bool {
        self.stack.lock().owner(id) == Some(self.user)
    }

    /// Why a connection came to its end, if there was a reason.
    pub fn error(&self, id: ConnectionId) -> Option<Error> {
        self.stack.lock().tcp.take_error(id).ok().flatten()
    }

    /// Has the stack send what there is to send.
    pub fn call_stack(&self, cx: &mut Cx<'_>) {
        cx.schedule_task_of(self.stack.element);
    }
}

/// Nothing instead of the error that says that a call would have to wait.
fn would_wait<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Error::WOULD_BLOCK) => Ok(None),
        Err(error) => Err(error),
    }
}
