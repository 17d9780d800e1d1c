//! Sessions: what elements do with their connections, one session a connection. They take turns, each for a number of
//! bytes at most. What a session does is its own: [`Session`]; `server.rs` and `client.rs` say where they come from.

use super::seat::{Seat, micros};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{ConnectionId, Error, Event};
use clickwork_router::{Cx, TaskStep};
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;

/// Bytes that a session reads or writes before others have their turn.
const BUDGET: usize = 65_536;
/// Turns before the element lets others run.
const TURNS: usize = 16;

/// What a session wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A turn when something happens.
    Wait,
    /// Another turn soon: its budget is used up.
    Again,
    /// The end: all is done. The connection is closed.
    Done,
}

/// One connection's work.
pub trait Session: Send + 'static {
    /// Does what can be done now.
    ///
    /// # Errors
    /// Why the connection is of no use any more.
    fn turn(&mut self, io: &mut Io<'_>) -> Result<Step, Error>;
}

/// What reading gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// Text: [`Io::text`] has it.
    Text,
    /// None, and there will be none.
    End,
    /// None now.
    Nothing,
}

/// A session's connection, for a turn.
pub struct Io<'a> {
    seat: &'a Seat,
    id: ConnectionId,
    now: u64,
    connected: bool,
    budget: usize,
    /// What was read last.
    read: Option<Packet>,
    totals: &'a mut Totals,
}

impl Io<'_> {
    /// The time, in microseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether the connection is there already. Before, nothing can be read.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Whether it is others' turn.
    pub fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// Reads some text.
    ///
    /// # Errors
    /// Why there will be none.
    pub fn read(&mut self) -> Result<Arrived, Error> {
        let Some(read) = self.seat.read_packet(self.now, self.id)? else { return Ok(Arrived::Nothing) };
        self.read = read;
        if self.read.is_none() {
            return Ok(Arrived::End);
        }
        let n = self.text().len();
        self.budget = self.budget.saturating_sub(n);
        self.totals.bytes_in += n as u64;
        Ok(Arrived::Text)
    }

    /// What was read last.
    pub fn text(&self) -> &[u8] {
        self.read.as_ref().map_or(&[], Packet::data)
    }

    /// Writes what was read last, as much as there is room for.
    ///
    /// # Errors
    /// Why none can be written any more.
    pub fn write_back(&mut self) -> Result<usize, Error> {
        let n = self.seat.write(self.now, self.id, self.text())?;
        self.totals.bytes_out += n as u64;
        Ok(n)
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// Why none can be written any more.
    pub fn write(&mut self, data: &[u8]) -> Result<usize, Error> {
        let n = self.seat.write(self.now, self.id, data)?;
        self.budget = self.budget.saturating_sub(n);
        self.totals.bytes_out += n as u64;
        Ok(n)
    }

    /// Ends what is sent.
    ///
    /// # Errors
    /// If the connection is no more.
    pub fn shutdown(&mut self) -> Result<(), Error> {
        self.seat.shutdown(self.now, self.id)
    }
}

/// What all sessions together have done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Sessions begun.
    pub begun: u64,
    /// Sessions that ended as they should.
    pub done: u64,
    /// Sessions that ended because of an error.
    pub failed: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// The last error.
    pub last_error: Option<Error>,
}

/// The sessions of an element.
pub struct Sessions<S> {
    sessions: HashMap<ConnectionId, Entry<S>>,
    turns: VecDeque<ConnectionId>,
    events: VecDeque<Event>,
    /// They are another element's, which this one replaces: the stack may not have all their connections.
    inherited: bool,
    /// What they have done.
    pub totals: Totals,
}

struct Entry<S> {
    session: S,
    /// It waits for its turn.
    queued: bool,
    /// The connection is there.
    connected: bool,
    /// The connection is no more.
    closed: bool,
}

impl<S> Default for Sessions<S> {
    fn default() -> Sessions<S> {
        Sessions {
            sessions: HashMap::new(),
            turns: VecDeque::new(),
            events: VecDeque::new(),
            inherited: false,
            totals: Totals::default(),
        }
    }
}

impl<S: Session> Sessions<S> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// The last error, for people.
    pub fn last_error(&self) -> String {
        self.totals.last_error.map_or(String::new(), |e| e.to_string())
    }

    /// Begins one on a connection that was accepted: it has a turn soon.
    fn begin(&mut self, id: ConnectionId, session: S) {
        self.expect(id, session);
        self.note(id, |entry| entry.connected = true);
    }

    /// Begins one on a connection that is being made.
    pub fn expect(&mut self, id: ConnectionId, session: S) {
        self.totals.begun += 1;
        self.sessions.insert(id, Entry { session, queued: false, connected: false, closed: false });
    }

    /// Counts one that could not begin.
    pub fn failed(&mut self, error: Error) {
        self.totals.failed += 1;
        self.totals.last_error = Some(error);
    }

    /// Listens to the stack, accepts connections with `open`, and gives turns to those that have something to do; `ended`
    /// is told of the sessions that end.
    pub fn run(
        &mut self,
        seat: &Seat,
        mut open: impl FnMut() -> S,
        mut ended: impl FnMut(S, Result<(), Error>),
        cx: &mut Cx<'_>,
    ) -> TaskStep {
        let now = micros(cx);
        if std::mem::take(&mut self.inherited) {
            self.check(seat);
        }
        self.hear(seat, &mut open);
        for _ in 0..TURNS {
            let Some(id) = self.turns.pop_front() else { break };
            if let Some((session, outcome)) = self.turn(seat, id, now) {
                ended(session, outcome);
            }
        }
        seat.call_stack(cx);
        if self.turns.is_empty() { TaskStep::Sleep } else { TaskStep::Again }
    }

    /// The sessions of the element that this one replaces.
    pub fn inherit(&mut self, old: &mut Sessions<S>) {
        *self = std::mem::take(old);
        self.inherited = true;
    }

    /// Gives all a turn, and ends those whose connections have not come along.
    fn check(&mut self, seat: &Seat) {
        let all = self.connections();
        let (kept, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(|id| seat.has(*id));
        kept.into_iter().for_each(|id| self.wake(id));
        for id in lost {
            self.sessions.remove(&id);
            self.failed(Error::ABORTED);
        }
    }

    /// In the order in which they began, so that the same happens in each run.
    fn connections(&self) -> Vec<ConnectionId> {
        let mut all: Vec<ConnectionId> = self.sessions.keys().copied().collect();
        all.sort_unstable();
        all
    }

    fn hear(&mut self, seat: &Seat, open: &mut impl FnMut() -> S) {
        let mut events = std::mem::take(&mut self.events);
        seat.take_events(&mut events);
        for event in events.drain(..) {
            match event {
                Event::Accepted(_) => {
                    while let Some(id) = seat.accept() {
                        self.begin(id, open());
                    }
                }
                Event::Connected(id) => self.note(id, |entry| entry.connected = true),
                Event::Closed(id) => self.note(id, |entry| entry.closed = true),
                Event::Readable(id) | Event::Writable(id) | Event::Error(id) | Event::Urgent(id) => {
                    self.wake(id)
                }
            }
        }
        self.events = events;
    }

    /// Gives a session a turn soon.
    pub fn wake(&mut self, id: ConnectionId) {
        self.note(id, |_| {});
    }

    /// Notes something about a session, which has a turn soon.
    fn note(&mut self, id: ConnectionId, note: impl FnOnce(&mut Entry<S>)) {
        let Some(entry) = self.sessions.get_mut(&id) else { return };
        note(entry);
        if !std::mem::replace(&mut entry.queued, true) {
            self.turns.push_back(id);
        }
    }

    /// One session's turn; the session itself and how it ended, if that was the last.
    fn turn(&mut self, seat: &Seat, id: ConnectionId, now: u64) -> Option<(S, Result<(), Error>)> {
        let entry = self.sessions.get_mut(&id)?;
        entry.queued = false;
        let (connected, totals) = (entry.connected, &mut self.totals);
        let mut io = Io { seat, id, now, connected, budget: BUDGET, read: None, totals };
        let outcome = match entry.session.turn(&mut io) {
            Ok(Step::Again) => {
                self.wake(id);
                return None;
            }
            Ok(Step::Wait) if !entry.closed => return None,
            // Nothing will happen any more.
            Ok(Step::Wait) => Err(seat.error(id).unwrap_or(Error::ABORTED)),
            Ok(Step::Done) => Ok(()),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => {
                self.totals.done += 1;
                seat.close(now, id);
            }
            Err(error) => {
                self.failed(error);
                seat.abort(now, id);
            }
        }
        self.sessions.remove(&id).map(|entry| (entry.session, outcome))
    }

    /// Breaks all off; nobody is told.
    pub fn abort_all(&mut self, seat: &Seat, cx: &mut Cx<'_>) {
        let now = micros(cx);
        self.connections().into_iter().for_each(|id| seat.abort(now, id));
        self.sessions.clear();
        self.turns.clear();
        seat.call_stack(cx);
    }
}
