//! What a host runs: a stack, or something around one. The stack itself for streams in the manner of std, the table of
//! sockets for the interface in C.

use std::fmt::Debug;
use std::hash::Hash;

use clickwork_prolac_tcp::sockets::{Fd, Sockets};
use clickwork_prolac_tcp::{ConnectionId, Event, ListenerId, TcpStack};

/// Something with a stack in it, and with events that concern somebody.
pub trait Engine: Send + 'static {
    /// What happens.
    type Event;
    /// Whom it concerns.
    type Key: Copy + Eq + Hash + Debug + Send + 'static;
    /// Whom everything concerns.
    const EVERYTHING: Option<Self::Key>;

    /// The stack, for packets and timers.
    fn stack(&self) -> &TcpStack;
    /// The stack, for packets and timers.
    fn stack_mut(&mut self) -> &mut TcpStack;
    /// What has happened.
    fn next_event(&mut self) -> Option<Self::Event>;
    /// Whom an event concerns, if they wait in one of these directions.
    fn concerns(event: &Self::Event) -> (Self::Key, &'static [Direction]);
}

/// Which way somebody waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// For something to read, or to accept.
    In,
    /// For room to write, or for the connection.
    Out,
}

const BOTH: &[Direction] = &[Direction::In, Direction::Out];

/// A connection or listener of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A connection.
    Connection(ConnectionId),
    /// A listener.
    Listener(ListenerId),
}

impl Engine for TcpStack {
    type Event = Event;
    type Key = Key;
    const EVERYTHING: Option<Key> = None;

    fn stack(&self) -> &TcpStack {
        self
    }

    fn stack_mut(&mut self) -> &mut TcpStack {
        self
    }

    fn next_event(&mut self) -> Option<Event> {
        TcpStack::next_event(self)
    }

    fn concerns(event: &Event) -> (Key, &'static [Direction]) {
        match *event {
            Event::Accepted(listener) => (Key::Listener(listener), &[Direction::In]),
            Event::Readable(id) | Event::Urgent(id) => (Key::Connection(id), &[Direction::In]),
            Event::Writable(id) => (Key::Connection(id), &[Direction::Out]),
            Event::Connected(id) | Event::Closed(id) | Event::Error(id) => (Key::Connection(id), BOTH),
        }
    }
}

impl Engine for Sockets {
    /// The socket with which something happened.
    type Event = Fd;
    type Key = Fd;
    /// Who waits for several sockets looks at each of them himself.
    const EVERYTHING: Option<Fd> = Some(-1);

    fn stack(&self) -> &TcpStack {
        Sockets::stack(self)
    }

    fn stack_mut(&mut self) -> &mut TcpStack {
        Sockets::stack_mut(self)
    }

    fn next_event(&mut self) -> Option<Fd> {
        self.next_change()
    }

    fn concerns(event: &Fd) -> (Fd, &'static [Direction]) {
        (*event, BOTH)
    }
}
