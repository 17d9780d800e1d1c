//! Elements that join streams: TCPProxy two connections of stacks, TCPToSocket and SocketToTCP a connection of a stack and
//! a socket of the host. They differ in where they wait for streams, and where they connect to for each.
//!
//! Read first: `pair.rs`, which moves the data, then `ends.rs`. Here is who has a turn.

mod ends;
mod facts;
mod host;
mod pair;
#[cfg(test)]
mod tests;

use super::seat::{Seat, micros};
use super::server::Place;
use crate::socket::name::Name;
use clickwork_prolac_tcp::{ConnectionId, Error, Event};
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::router::ElementId;
use clickwork_router::{Cx, Element, Ready, TaskStep};
use ends::{End, host_error};
pub use facts::{PROXY, SOCKET_TO_TCP, TCP_TO_SOCKET};
use foldhash::{HashMap, HashMapExt};
use host::Listener;
use pair::{Next, Pair, Seats};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

/// Turns before the element lets others run.
const TURNS: usize = 16;
/// Connections of the host taken at a time.
const ACCEPTS: usize = 64;
/// The timer that goes on accepting after accepting failed.
const ACCEPT_TIMER: usize = 0;
const ONE_SECOND: Duration = Duration::from_secs(1);

/// Where streams come from and where they go.
#[derive(Debug)]
struct Plan {
    front: Front,
    back: Back,
}

/// Where it waits for streams.
#[derive(Debug)]
enum Front {
    Stack(Place),
    Host(Name),
}

/// Where it connects to for each.
#[derive(Debug)]
enum Back {
    Stack(ElementId, SocketAddr),
    Host(Name),
}

/// What has happened.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    begun: u64,
    done: u64,
    failed: u64,
    last_error: Option<Error>,
    /// Bytes moved to the second end, and back.
    moved: [u64; 2],
}

/// A pair's number.
type Key = u64;

/// The element.
struct Relay {
    read_plan: fn(&mut Args, &Cx<'_>) -> Option<Plan>,
    plan: Option<Plan>,
    seats: Seats,
    listener: Option<Listener>,
    pairs: HashMap<Key, Pair>,
    by_connection: [HashMap<ConnectionId, Key>; 2],
    by_socket: HashMap<RawFd, Key>,
    next: Key,
    turns: VecDeque<Key>,
    events: VecDeque<Event>,
    buffer: Vec<u8>,
    totals: Totals,
    /// It has listened.
    begun: bool,
    /// The pairs are another element's, which this one replaces.
    inherited: bool,
}

impl Relay {
    fn new(read_plan: fn(&mut Args, &Cx<'_>) -> Option<Plan>) -> Relay {
        Relay {
            read_plan,
            plan: None,
            seats: [None, None],
            listener: None,
            pairs: HashMap::new(),
            by_connection: [HashMap::new(), HashMap::new()],
            by_socket: HashMap::new(),
            next: 0,
            turns: VecDeque::new(),
            events: VecDeque::new(),
            buffer: Vec::new(),
            totals: Totals::default(),
            begun: false,
            inherited: false,
        }
    }

    /// Listens on the host, and has that watched; says so and tries again later if it is not possible.
    fn listen(&mut self, cx: &mut Cx<'_>) {
        let Some(listener) = &mut self.listener else { return };
        let ready = Ready { read: true, write: false };
        let outcome = match listener.listen() {
            Ok(()) => cx.watch(listener.fd(), ready).map_err(|e| e.to_string()),
            Err(e) => Err(host_error(e).to_string()),
        };
        if let Err(e) = outcome {
            cx.chatter(&format!("{}: cannot listen at '{}': {e}", cx.name(), listener.name()));
            cx.schedule_timer_after(ACCEPT_TIMER, ONE_SECOND);
        }
    }

    // ---- beginning and end of pairs

    /// Joins a stream that has come with one that is begun for it.
    fn begin(&mut self, first: End, now: u64, cx: &mut Cx<'_>) {
        self.totals.begun += 1;
        match self.connect(cx) {
            Ok(second) => {
                let key = self.next;
                self.next += 1;
                self.enter(key, Pair::new(first, second));
            }
            Err(error) => {
                first.abort(self.seats[0].as_ref(), now);
                self.fail(error);
            }
        }
    }

    fn connect(&mut self, cx: &mut Cx<'_>) -> Result<End, Error> {
        match (&self.plan, &self.seats[1]) {
            (Some(Plan { back: Back::Stack(_, remote), .. }), Some(seat)) => {
                seat.connect(*remote, false, cx).map(End::Tcp)
            }
            (Some(Plan { back: Back::Host(name), .. }), _) => {
                host::connect(name).map(|socket| End::Host(socket, Ready::default()))
            }
            _ => Err(Error::NOT_CONNECTED),
        }
    }

    fn enter(&mut self, key: Key, pair: Pair) {
        for (side, end) in pair.ends.iter().enumerate() {
            match end {
                End::Tcp(id) => drop(self.by_connection[side].insert(*id, key)),
                End::Host(socket, _) => drop(self.by_socket.insert(socket.as_raw_fd(), key)),
            }
        }
        self.pairs.insert(key, pair);
        self.wake(key);
    }

    /// Takes a pair out of all tables.
    fn leave(&mut self, key: Key, cx: &mut Cx<'_>) -> Option<Pair> {
        let pair = self.pairs.remove(&key)?;
        for (side, end) in pair.ends.iter().enumerate() {
            match end {
                End::Tcp(id) => drop(self.by_connection[side].remove(id)),
                End::Host(socket, _) => {
                    cx.unwatch(socket.as_raw_fd());
                    self.by_socket.remove(&socket.as_raw_fd());
                }
            }
        }
        Some(pair)
    }

    fn fail(&mut self, error: Error) {
        self.totals.failed += 1;
        self.totals.last_error = Some(error);
    }

    fn close(&mut self, key: Key, now: u64, cx: &mut Cx<'_>) {
        let Some(pair) = self.leave(key, cx) else { return };
        self.totals.done += 1;
        pair.ends.into_iter().zip(&self.seats).for_each(|(end, seat)| end.close(seat.as_ref(), now));
    }

    fn abort(&mut self, key: Key, error: Error, now: u64, cx: &mut Cx<'_>) {
        let Some(pair) = self.leave(key, cx) else { return };
        self.fail(error);
        pair.ends.into_iter().zip(&self.seats).for_each(|(end, seat)| end.abort(seat.as_ref(), now));
    }

    /// All pairs, in the order in which they began.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.pairs.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    fn abort_all(&mut self, cx: &mut Cx<'_>) {
        let now = micros(cx);
        self.keys().into_iter().for_each(|key| self.abort(key, Error::ABORTED, now, cx));
        self.call_stacks(cx);
    }

    // ---- turns

    fn wake(&mut self, key: Key) {
        let Some(pair) = self.pairs.get_mut(&key) else { return };
        if !std::mem::replace(&mut pair.queued, true) {
            self.turns.push_back(key);
        }
    }

    /// Hears what a stack has to say about the connections on one side.
    fn hear(&mut self, side: usize, now: u64, cx: &mut Cx<'_>) {
        let Some(seat) = self.seats[side].clone() else { return };
        let mut events = std::mem::take(&mut self.events);
        seat.take_events(&mut events);
        for event in events.drain(..) {
            match event {
                Event::Accepted(_) => {
                    while let Some(id) = seat.accept() {
                        self.begin(End::Tcp(id), now, cx);
                    }
                }
                Event::Connected(id) => self.tell(side, id, |pair| pair.connected = true),
                Event::Closed(id) => self.tell(side, id, move |pair| pair.closed[side] = true),
                Event::Readable(id) | Event::Writable(id) | Event::Error(id) | Event::Urgent(id) => {
                    self.tell(side, id, |_| {});
                }
            }
        }
        self.events = events;
    }

    fn tell(&mut self, side: usize, id: ConnectionId, note: impl FnOnce(&mut Pair)) {
        let Some(&key) = self.by_connection[side].get(&id) else { return };
        if let Some(pair) = self.pairs.get_mut(&key) {
            note(pair);
            self.wake(key);
        }
    }

    fn turn(&mut self, key: Key, now: u64, cx: &mut Cx<'_>) {
        let Some(pair) = self.pairs.get_mut(&key) else { return };
        pair.queued = false;
        match pair.turn(&self.seats, now, &mut self.buffer, &mut self.totals.moved) {
            Ok(Next::Done) => return self.close(key, now, cx),
            Ok(Next::Again) => self.wake(key),
            Ok(Next::Wait) => {}
            Err(error) => return self.abort(key, error, now, cx),
        }
        if let Err(error) = self.watch(key, cx) {
            self.abort(key, error, now, cx);
        }
    }

    /// Has the sockets of a pair watched for what it waits for.
    fn watch(&mut self, key: Key, cx: &mut Cx<'_>) -> Result<(), Error> {
        let Some(pair) = self.pairs.get_mut(&key) else { return Ok(()) };
        for side in 0..2 {
            let wanted = pair.interest(side);
            let End::Host(socket, watched) = &mut pair.ends[side] else { continue };
            if *watched != wanted {
                cx.watch(socket.as_fd(), wanted).map_err(|e| Error(e.raw_os_error().unwrap_or_default()))?;
                *watched = wanted;
            }
        }
        Ok(())
    }

    fn call_stacks(&self, cx: &mut Cx<'_>) {
        self.seats.iter().flatten().for_each(|seat| seat.call_stack(cx));
    }

    /// Takes the connections that have come to the host's socket.
    fn accept(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..ACCEPTS {
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok(socket) => self.begin(End::Host(socket, Ready::default()), micros(cx), cx),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(error) => {
                    // Most likely there are no descriptors left. To ask again at once would be an endless loop.
                    cx.unwatch(listener.fd().as_raw_fd());
                    self.fail(host_error(error));
                    return cx.schedule_timer_after(ACCEPT_TIMER, ONE_SECOND);
                }
            }
        }
    }

    /// After the pairs were taken over: all have a turn, except those whose connections have not come along.
    fn check(&mut self, now: u64, cx: &mut Cx<'_>) {
        for key in self.keys() {
            let Some(pair) = self.pairs.get_mut(&key) else { continue };
            let lost = pair.ends.iter().zip(&self.seats).any(|(end, seat)| match end {
                End::Tcp(id) => !seat.as_ref().is_some_and(|seat| seat.has(*id)),
                End::Host(..) => false,
            });
            if lost {
                self.abort(key, Error::ABORTED, now, cx);
            } else {
                pair.queued = false;
                self.wake(key);
            }
        }
    }
}

impl Element for Relay {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.plan = (self.read_plan)(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(plan) = &self.plan else { return Ok(()) };
        self.buffer = vec![0; 65_536];
        if let Back::Stack(stack, _) = plan.back {
            self.seats[1] = Some(Seat::new(stack, " (connecting)", cx)?);
        }
        match &plan.front {
            Front::Stack(place) => self.seats[0] = Some(place.listen("", cx)?),
            Front::Host(name) => {
                let failure = |e| format!("cannot listen at '{name}': {}", host_error(e));
                self.listener = Some(Listener::new(name).map_err(failure)?);
            }
        }
        // The first task listens: until then, an element that this one replaces may do so.
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let now = micros(cx);
        if !std::mem::replace(&mut self.begun, true) {
            self.listen(cx);
        }
        if std::mem::take(&mut self.inherited) {
            self.check(now, cx);
        }
        self.hear(0, now, cx);
        self.hear(1, now, cx);
        for _ in 0..TURNS {
            let Some(key) = self.turns.pop_front() else { break };
            self.turn(key, now, cx);
        }
        self.call_stacks(cx);
        if self.turns.is_empty() { TaskStep::Sleep } else { TaskStep::Again }
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        if self.listener.as_ref().is_some_and(|listener| listener.fd().as_raw_fd() == fd) {
            self.accept(cx);
        } else if let Some(&key) = self.by_socket.get(&fd) {
            self.wake(key);
        }
        cx.schedule_task();
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.listen(cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<Relay>(old) else { return };
        self.totals = old.totals;
        self.next = old.next;
        for key in old.keys() {
            let Some(mut pair) = old.pairs.remove(&key) else { continue };
            // This router watches nothing yet.
            for end in &mut pair.ends {
                if let End::Host(_, watched) = end {
                    *watched = Ready::default();
                }
            }
            self.enter(key, pair);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.listener, &mut old.listener)
            && mine.name() == theirs.name()
        {
            // Some wait there.
            std::mem::swap(mine, theirs);
        }
        self.inherited = true;
        cx.schedule_task();
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if let Some(listener) = self.listener.take() {
            cx.unwatch(listener.fd().as_raw_fd());
            listener.close();
        }
    }
}
