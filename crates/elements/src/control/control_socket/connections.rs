//! All connections of a router's control sockets, and what they may take together: places, memory, turns.
//!
//! The sockets share one table, which each of them exports: however many there are, the limits are those of the router.
//! When there is no place or no memory left, the connection that was idle longest goes. So clients who only hold on to
//! something cannot keep an administrator out.

use super::connection::{Connection, MAX_UNSENT};
use clickwork_packet::Timestamp;
use clickwork_router::{Cx, ElementId};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Connections at a time.
pub const MAX_CONNECTIONS: usize = 256;
/// Bytes of memory for what all connections have sent and have not yet read.
pub const MAX_MEMORY: usize = 16 << 20;
/// The longest value that can be read: beside it there is room for what the client was slow to read.
pub const MAX_VALUE: usize = MAX_MEMORY - 2 * MAX_UNSENT;

/// The table that the control sockets of a router share.
#[derive(Debug, Default)]
pub struct Table(Mutex<Connections>);

impl Table {
    /// The table of the router that an element belongs to; this element is known to have it from now on.
    pub fn of(cx: &mut Cx<'_>) -> Arc<Table> {
        let known = cx.router().ids().find_map(|id| cx.exported::<Table>(id));
        let table = known.unwrap_or_default();
        cx.export(Arc::clone(&table));
        table
    }

    /// The connections, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connections, by descriptor.
#[derive(Debug, Default)]
pub struct Connections {
    all: BTreeMap<RawFd, Connection>,
    turns: Turns,
}

impl Connections {
    fn of(&self, owner: ElementId) -> impl Iterator<Item = &Connection> {
        self.all.values().filter(move |c| c.owner() == owner)
    }

    /// How many an element has.
    pub fn count(&self, owner: ElementId) -> usize {
        self.of(owner).count()
    }

    /// The bytes of memory that they take.
    pub fn memory(&self) -> usize {
        self.all.values().map(Connection::memory).sum()
    }

    /// Whether a connection is served in the look at time `look`.
    pub fn take_turn(&mut self, fd: RawFd, look: Timestamp) -> bool {
        self.turns.take(fd, look)
    }

    /// Adds one. Returns those that must go for it.
    pub fn add(&mut self, connection: Connection) -> Vec<Connection> {
        let fd = connection.socket().as_raw_fd();
        self.all.insert(fd, connection);
        self.dismiss_while(fd, |all| all.len() > MAX_CONNECTIONS, |_| true)
    }

    /// One of them.
    pub fn get_mut(&mut self, fd: RawFd) -> Option<&mut Connection> {
        self.all.get_mut(&fd)
    }

    /// Takes one out.
    pub fn remove(&mut self, fd: RawFd) -> Option<Connection> {
        self.all.remove(&fd)
    }

    /// Takes those of an element out.
    pub fn take(&mut self, owner: ElementId) -> Vec<Connection> {
        self.descriptors(owner).into_iter().filter_map(|fd| self.all.remove(&fd)).collect()
    }

    /// The descriptors of those of an element.
    pub fn descriptors(&self, owner: ElementId) -> Vec<RawFd> {
        self.of(owner).map(|c| c.socket().as_raw_fd()).collect()
    }

    /// If all take too much memory, those that must go. `fd` is not one of them: it was given something just now.
    pub fn relieve(&mut self, fd: RawFd) -> Vec<Connection> {
        let is_too_much =
            |all: &BTreeMap<_, Connection>| all.values().map(Connection::memory).sum::<usize>() > MAX_MEMORY;
        self.dismiss_while(fd, is_too_much, |c| c.memory() > 0)
    }

    /// The one that was idle longest, for its descriptor.
    pub fn spare(&mut self) -> Option<Connection> {
        let mut spared = false;
        self.dismiss_while(-1, |_| !std::mem::replace(&mut spared, true), |_| true).pop()
    }

    fn dismiss_while(
        &mut self,
        spared: RawFd,
        mut is_too_much: impl FnMut(&BTreeMap<RawFd, Connection>) -> bool,
        helps: impl Fn(&Connection) -> bool,
    ) -> Vec<Connection> {
        let mut gone = Vec::new();
        while is_too_much(&self.all) {
            let others = self.all.iter().filter(|(fd, c)| **fd != spared && helps(c));
            let idle = others.filter_map(|(fd, c)| Some((c.idle_since()?, *fd))).min();
            let Some(mut connection) = idle.and_then(|(_, fd)| self.all.remove(&fd)) else { break };
            connection.dismiss("Connection closed to make room for others");
            gone.push(connection);
        }
        gone
    }

    /// Those of an element whose commands take longer to arrive than `patience`.
    pub fn late(&mut self, owner: ElementId, now: Timestamp, patience: Duration) -> Vec<Connection> {
        let is_late = |c: &Connection| {
            c.owner() == owner && c.deadline(patience).is_some_and(|deadline| deadline <= now)
        };
        let late: Vec<RawFd> = self.all.iter().filter(|(_, c)| is_late(c)).map(|(fd, _)| *fd).collect();
        let mut gone: Vec<Connection> = late.into_iter().filter_map(|fd| self.all.remove(&fd)).collect();
        gone.iter_mut().for_each(|c| c.dismiss("Command did not arrive in time"));
        gone
    }

    /// When the next command to an element will be late.
    pub fn next_deadline(&self, owner: ElementId, patience: Duration) -> Option<Timestamp> {
        self.of(owner).filter_map(|c| c.deadline(patience)).min()
    }
}

/// Whose turn it is: when all connections have something to say, a few are served each time that the driver looks at
/// descriptors, so that packets are not kept waiting.
#[derive(Debug)]
pub struct Turns {
    look: Timestamp,
    served: usize,
    /// The last one that was served while others waited; those behind it come first.
    last: RawFd,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { look: Timestamp::ZERO, served: 0, last: -1 }
    }
}

impl Turns {
    /// Connections served in one look.
    const IN_A_LOOK: usize = 4;

    /// Whether a connection is served in the look at time `look`. Looks ask in the order of descriptors.
    pub fn take(&mut self, fd: RawFd, look: Timestamp) -> bool {
        if look != self.look {
            if self.served < Turns::IN_A_LOOK {
                self.last = -1;
            }
            (self.look, self.served) = (look, 0);
        }
        if fd <= self.last || self.served == Turns::IN_A_LOOK {
            return false;
        }
        self.served += 1;
        if self.served == Turns::IN_A_LOOK {
            self.last = fd;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    const ME: ElementId = ElementId(0);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0)
    }

    /// Connections that came at times 0, 1 and so on, and their clients.
    fn connected(n: usize) -> (Connections, Vec<(RawFd, UnixStream)>) {
        let mut connections = Connections::default();
        let clients = (0..n).map(|i| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            theirs.set_nonblocking(true).unwrap();
            let fd = ours.as_raw_fd();
            assert!(connections.add(Connection::new(ours.into(), ME, at(i as i64))).is_empty());
            (fd, theirs)
        });
        let clients = clients.collect();
        (connections, clients)
    }

    fn number(gone: &[Connection]) -> Vec<RawFd> {
        gone.iter().map(|c| c.socket().as_raw_fd()).collect()
    }

    #[test]
    fn a_new_one_takes_the_place_of_the_one_that_was_idle_longest() {
        let (mut all, mut clients) = connected(MAX_CONNECTIONS);
        clients[0].1.write_all(b"help\n").unwrap();
        assert!(all.get_mut(clients[0].0).unwrap().next_command(at(1000)).is_some());
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let gone = all.add(Connection::new(ours.into(), ME, at(1001)));
        assert_eq!((number(&gone), all.descriptors(ME).len()), (vec![clients[1].0], MAX_CONNECTIONS));
        drop(gone);
        let mut said = String::new();
        clients[1].1.read_to_string(&mut said).unwrap();
        assert!(said.ends_with("590 Connection closed to make room for others\r\n"), "{said}");
    }

    #[test]
    fn all_together_take_no_more_memory_than_there_is() {
        let (mut all, mut clients) = connected(40);
        let mut most = 0;
        for (_, client) in &mut clients {
            let _ = client.write_all(b"writedata c.reset 8000000\n");
        }
        let piece = [0; 16_000];
        for round in 0..400 {
            for (fd, client) in &mut clients {
                let _ = client.write(&piece);
                if let Some(connection) = all.get_mut(*fd) {
                    assert!(connection.next_command(at(1000 + round)).is_none());
                    all.relieve(*fd);
                    most = most.max(all.all.values().map(Connection::memory).sum());
                }
            }
        }
        assert!(most <= MAX_MEMORY && most > MAX_MEMORY / 2, "{most}");
        // Those that came last are left, and the others were told.
        let left = all.descriptors(ME);
        assert!(left.contains(&clients[39].0) && !left.contains(&clients[0].0), "{}", left.len());
    }

    #[test]
    fn all_have_their_turns() {
        let mut turns = Turns::default();
        let mut look = |n, fds: std::ops::Range<RawFd>| -> Vec<RawFd> {
            fds.filter(|fd| turns.take(*fd, at(n))).collect()
        };
        assert_eq!(look(1, 1..10), [1, 2, 3, 4]);
        assert_eq!(look(2, 1..10), [5, 6, 7, 8]);
        assert_eq!(look(3, 1..10), [9]);
        assert_eq!(look(4, 1..10), [1, 2, 3, 4]);
        assert_eq!(look(5, 1..3), []);
        assert_eq!(look(6, 1..3), [1, 2]);
    }

    #[test]
    fn a_command_that_takes_too_long_ends_its_connection() {
        let (mut all, mut clients) = connected(3);
        let patience = Duration::from_secs(10);
        for (i, (fd, client)) in clients.iter_mut().enumerate().skip(1) {
            client.write_all(b"writedata x 3\n1").unwrap();
            assert!(all.get_mut(*fd).unwrap().next_command(at(i as i64 * 5)).is_none());
        }
        assert_eq!(all.next_deadline(ME, patience), Some(at(15)));
        // A byte now and then does not help.
        clients[1].1.write_all(b"2").unwrap();
        assert!(all.get_mut(clients[1].0).unwrap().next_command(at(14)).is_none());
        assert!(all.late(ME, at(14), patience).is_empty());
        assert_eq!(number(&all.late(ME, at(15), patience)), [clients[1].0]);
        clients[2].1.write_all(b"23").unwrap();
        assert!(all.get_mut(clients[2].0).unwrap().next_command(at(19)).is_some());
        assert_eq!((all.next_deadline(ME, patience), all.late(ME, at(99), patience).len()), (None, 0));
    }
}
