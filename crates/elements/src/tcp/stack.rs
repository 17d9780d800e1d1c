//! The shared handle of a stack: what a ProlacTCP exports, and the elements that use connections hold.
//!
//! Each call takes the lock for as long as it lasts. Users are told of what happens by [`Event`]s that wait for them here;
//! they are known by the names of their elements, so that connections outlive a new configuration.
//! Not the protocol, which is [`TcpStack`]; not packets, which go through the element that exports the handle.

use clickwork_prolac_tcp::{ConnectionId, Error, Event, ListenerId, Options, TcpStack};
use clickwork_router::router::ElementId;
use foldhash::{HashMap, HashMapExt};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stack, shared by the element that holds it and those that use it.
pub struct Stack {
    /// The element that sends its packets.
    pub element: ElementId,
    shared: Mutex<Shared>,
}

/// A user's number in its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserId(usize);

/// What the lock keeps.
pub struct Shared {
    /// The stack itself.
    pub tcp: TcpStack,
    /// What connections have if their users say nothing else.
    pub options: Options,
    users: Vec<User>,
    owners: HashMap<ConnectionId, UserId>,
    listening: BTreeMap<ListenerId, Listening>,
}

/// An element that uses the stack.
struct User {
    name: String,
    element: ElementId,
    events: VecDeque<Event>,
}

/// Where a user waits for connections.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Listening {
    user: UserId,
    local: SocketAddr,
    backlog: u32,
}

impl Stack {
    /// The handle of a stack whose packets `element` sends.
    pub fn new(element: ElementId, tcp: TcpStack, options: Options) -> Stack {
        let shared =
            Shared { tcp, options, users: Vec::new(), owners: HashMap::new(), listening: BTreeMap::new() };
        Stack { element, shared: Mutex::new(shared) }
    }

    /// What there is, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Takes in a user.
    pub fn enter(&mut self, name: String, element: ElementId) -> UserId {
        self.users.push(User { name, element, events: VecDeque::new() });
        UserId(self.users.len() - 1)
    }

    /// Lets a user wait for connections.
    ///
    /// # Errors
    /// What the stack says.
    pub fn listen(&mut self, user: UserId, local: SocketAddr, backlog: u32) -> Result<(), Error> {
        let id = self.tcp.listen(local, backlog, &self.options)?;
        self.listening.insert(id, Listening { user, local, backlog });
        Ok(())
    }

    /// The next connection that waits for a user, which is the user's from now on.
    pub fn accept(&mut self, user: UserId) -> Option<ConnectionId> {
        let mut listeners = self.listening.iter().filter(|(_, l)| l.user == user).map(|(id, _)| *id);
        let id = listeners.find_map(|listener| self.tcp.accept(listener).ok())?;
        self.owners.insert(id, user);
        Some(id)
    }

    /// Begins a connection for a user. With fast open, that of one who `speaks_first` may wait for the first text.
    ///
    /// # Errors
    /// What the stack says.
    pub fn connect(
        &mut self,
        user: UserId,
        now: u64,
        remote: SocketAddr,
        speaks_first: bool,
    ) -> Result<ConnectionId, Error> {
        let options = Options { fast_open: self.options.fast_open && speaks_first, ..self.options.clone() };
        let id = self.tcp.connect(now, None, remote, &options)?;
        self.owners.insert(id, user);
        Ok(id)
    }

    /// A user leaves a connection in good order.
    pub fn close(&mut self, now: u64, id: ConnectionId) {
        self.owners.remove(&id);
        self.tcp.close(now, id);
    }

    /// A user breaks a connection off.
    pub fn abort(&mut self, now: u64, id: ConnectionId) {
        self.owners.remove(&id);
        self.tcp.abort(now, id);
    }

    /// Breaks a connection off without its user, who is told.
    pub fn break_off(&mut self, now: u64, id: ConnectionId) {
        self.tcp.abort(now, id);
        self.tell(Event::Closed(id));
    }

    /// Moves what the stack reports to those whom it concerns.
    pub fn tell_all(&mut self) {
        while let Some(event) = self.tcp.next_event() {
            self.tell(event);
        }
    }

    fn tell(&mut self, event: Event) {
        let user = match &event {
            Event::Accepted(listener) => self.listening.get(listener).map(|l| l.user),
            Event::Connected(id)
            | Event::Readable(id)
            | Event::Writable(id)
            | Event::Closed(id)
            | Event::Error(id)
            | Event::Urgent(id) => self.owners.get(id).copied(),
        };
        if let Some(UserId(user)) = user {
            self.users[user].events.push_back(event);
        }
    }

    /// The elements for which there are events.
    pub fn told(&self) -> impl Iterator<Item = ElementId> {
        self.users.iter().filter(|user| !user.events.is_empty()).map(|user| user.element)
    }

    /// What a user has not been told yet goes to `events`, which is empty.
    pub fn take_events(&mut self, user: UserId, events: &mut VecDeque<Event>) {
        std::mem::swap(&mut self.users[user.0].events, events);
    }

    /// Where users wait for connections, in order.
    pub fn listeners(&self) -> Vec<(SocketAddr, u32, &str)> {
        let mut all: Vec<_> =
            self.listening.values().map(|l| (l.local, l.backlog, &*self.users[l.user.0].name)).collect();
        all.sort();
        all
    }

    /// Whose a connection is.
    pub fn owner(&self, id: ConnectionId) -> Option<UserId> {
        self.owners.get(&id).copied()
    }

    /// The name of a connection's user.
    pub fn owner_name(&self, id: ConnectionId) -> Option<&str> {
        self.owner(id).map(|user| &*self.users[user.0].name)
    }

    /// Takes over connections and listeners from the stack that this one replaces, which has had nobody but listeners
    /// until now. What has no user any more ends.
    pub fn take_over(&mut self, old: &mut Shared, now: u64) {
        let users: Vec<Option<UserId>> = old.users.iter().map(|user| self.user(&user.name)).collect();
        std::mem::swap(&mut self.tcp, &mut old.tcp);
        let mut owners: Vec<_> = old.owners.drain().collect();
        owners.sort_unstable_by_key(|(id, _)| *id);
        for (id, user) in owners {
            match users[user.0] {
                Some(user) => drop(self.owners.insert(id, user)),
                None => self.tcp.abort(now, id),
            }
        }
        for (user, old) in users.iter().zip(&mut old.users) {
            if let Some(user) = user {
                self.users[user.0].events.append(&mut old.events);
            }
        }
        self.take_listeners(old, &users, now);
    }

    /// Keeps those of the old listeners that are wanted still, ends the others, and begins those that are new.
    fn take_listeners(&mut self, old: &mut Shared, users: &[Option<UserId>], now: u64) {
        let mut wanted: Vec<Listening> = std::mem::take(&mut self.listening).into_values().collect();
        let same_options = self.options == old.options;
        for (id, listening) in std::mem::take(&mut old.listening) {
            let now_of = users[listening.user.0].map(|user| Listening { user, ..listening });
            match wanted.iter().position(|w| Some(*w) == now_of && same_options) {
                Some(at) => drop(self.listening.insert(id, wanted.swap_remove(at))),
                None => self.tcp.close_listener(now, id),
            }
        }
        for Listening { user, local, backlog } in wanted {
            // It was free in the new stack; in the old one only those are that nobody listens at.
            let _ = self.listen(user, local, backlog);
        }
    }

    fn user(&self, name: &str) -> Option<UserId> {
        self.users.iter().position(|user| user.name == name).map(UserId)
    }
}
