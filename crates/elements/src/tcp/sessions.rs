//! What elements that have connections of a stack share: their seat in the stack, and the sessions, one a connection, that
//! take turns. What a session does is its own: [`Session`].

use super::stack::{Stack, UserId};
use clickwork_prolac_tcp::{ConnectionId, Error, Event};
use clickwork_router::router::ElementId;
use clickwork_router::{Cx, TaskStep};
use foldhash::{HashMap, HashMapExt};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// Bytes that a session reads or writes before others have their turn.
const BUDGET: usize = 65_536;
/// Turns before the element lets others run.
const TURNS: usize = 16;

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

    /// Begins a connection.
    ///
    /// # Errors
    /// What the stack says.
    pub fn connect(&self, remote: SocketAddr, cx: &mut Cx<'_>) -> Result<ConnectionId, Error> {
        let now = micros(cx);
        self.call_stack(cx);
        self.stack.lock().connect(self.user, now, None, remote)
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
    budget: usize,
    buffer: &'a mut [u8],
    /// Bytes of the buffer that were read last.
    length: usize,
    totals: &'a mut Totals,
}

impl Io<'_> {
    /// The time, in microseconds.
    pub fn now(&self) -> u64 {
        self.now
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
        self.length = 0;
        Ok(match self.seat.read(self.now, self.id, self.buffer)? {
            None => Arrived::Nothing,
            Some(0) => Arrived::End,
            Some(n) => {
                self.length = n;
                self.budget = self.budget.saturating_sub(n);
                self.totals.bytes_in += n as u64;
                Arrived::Text
            }
        })
    }

    /// What was read last.
    pub fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Writes what was read last, as much as there is room for.
    ///
    /// # Errors
    /// Why none can be written any more.
    pub fn write_back(&mut self) -> Result<usize, Error> {
        let n = self.seat.write(self.now, self.id, &self.buffer[..self.length])?;
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
    buffer: Vec<u8>,
    /// They are another element's, which this one replaces: the stack may not have all their connections.
    inherited: bool,
    /// What they have done.
    pub totals: Totals,
}

struct Entry<S> {
    session: S,
    /// It waits for its turn.
    queued: bool,
    /// The connection is no more.
    closed: bool,
}

impl<S> Default for Sessions<S> {
    fn default() -> Sessions<S> {
        Sessions {
            sessions: HashMap::new(),
            turns: VecDeque::new(),
            events: VecDeque::new(),
            buffer: Vec::new(),
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
        self.wake(id, false);
    }

    /// Begins one on a connection that is being made: it has its first turn when that is done.
    pub fn expect(&mut self, id: ConnectionId, session: S) {
        self.totals.begun += 1;
        self.sessions.insert(id, Entry { session, queued: false, closed: false });
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
        mut ended: impl FnMut(S),
        cx: &mut Cx<'_>,
    ) -> TaskStep {
        let now = micros(cx);
        if std::mem::take(&mut self.inherited) {
            self.check(seat);
        }
        self.hear(seat, &mut open);
        self.buffer.resize(BUDGET, 0);
        for _ in 0..TURNS {
            let Some(id) = self.turns.pop_front() else { break };
            if let Some(session) = self.turn(seat, id, now) {
                ended(session);
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
        let all: Vec<ConnectionId> = self.sessions.keys().copied().collect();
        let (kept, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(|id| seat.has(*id));
        kept.into_iter().for_each(|id| self.wake(id, false));
        for id in lost {
            self.sessions.remove(&id);
            self.failed(Error::ABORTED);
        }
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
                Event::Closed(id) => self.wake(id, true),
                Event::Connected(id)
                | Event::Readable(id)
                | Event::Writable(id)
                | Event::Error(id)
                | Event::Urgent(id) => self.wake(id, false),
            }
        }
        self.events = events;
    }

    fn wake(&mut self, id: ConnectionId, closed: bool) {
        let Some(entry) = self.sessions.get_mut(&id) else { return };
        entry.closed |= closed;
        if !std::mem::replace(&mut entry.queued, true) {
            self.turns.push_back(id);
        }
    }

    /// One session's turn; the session itself, if it was the last.
    fn turn(&mut self, seat: &Seat, id: ConnectionId, now: u64) -> Option<S> {
        let entry = self.sessions.get_mut(&id)?;
        entry.queued = false;
        let (buffer, totals) = (&mut self.buffer, &mut self.totals);
        let mut io = Io { seat, id, now, budget: BUDGET, buffer, length: 0, totals };
        match entry.session.turn(&mut io) {
            Ok(Step::Again) => {
                self.wake(id, false);
                return None;
            }
            Ok(Step::Wait) if !entry.closed => return None,
            Ok(Step::Done) => {
                self.totals.done += 1;
                seat.close(now, id);
            }
            // Nothing will happen any more.
            Ok(Step::Wait) => self.fail(seat, id, seat.error(id).unwrap_or(Error::ABORTED), now),
            Err(error) => self.fail(seat, id, error, now),
        }
        self.sessions.remove(&id).map(|entry| entry.session)
    }

    fn fail(&mut self, seat: &Seat, id: ConnectionId, error: Error, now: u64) {
        seat.abort(now, id);
        self.failed(error);
    }

    /// Breaks all off; nobody is told.
    pub fn abort_all(&mut self, seat: &Seat, cx: &mut Cx<'_>) {
        let now = micros(cx);
        self.sessions.drain().for_each(|(id, _)| seat.abort(now, id));
        self.turns.clear();
        seat.call_stack(cx);
    }
}
