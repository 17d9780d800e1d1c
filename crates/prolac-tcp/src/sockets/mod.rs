//! The BSD socket calls on a [`TcpStack`], with Linux's results: its `errno` values in every state, its options, its
//! readiness bits. No call here ever sleeps.
//!
//! A call of a *non-blocking* socket that cannot proceed fails with [`Errno::AGAIN`] (or `INPROGRESS`), as in Linux. A call
//! of a *blocking* socket gives [`Refusal::Wait`], which says what to wait for; whoever can sleep (the host's threads,
//! packetdrill's second thread, the C interface) does so and repeats the call with the same [`Progress`].
//!
//! Read first: [`Sockets`], then `socket.rs` for the states that a socket is in. Calls stand in the order of a
//! connection's life: `open.rs`, `connect.rs`, `send.rs`, `receive.rs`, `close.rs`; then `readiness.rs` (poll), `control.rs`
//! (fcntl, ioctl) and `options/`. Who may bind what is in `ports.rs`.

mod address;
mod close;
mod connect;
mod control;
mod errno;
pub mod linux;
mod open;
mod options;
mod ports;
mod readiness;
mod receive;
mod send;
mod settings;
mod socket;
mod zero_copy;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::stack::{ConnectionId, Event, ListenerId, TcpStack};

pub use address::RawAddress;
pub use errno::{Errno, Refusal};
pub use options::info::TCP_INFO_LENGTH;
pub use readiness::PollFd;
pub use receive::Received;
pub use socket::Domain;
pub use zero_copy::Completed;

use ports::Ports;
use socket::Socket;

/// A file descriptor of [`Sockets`]; no kernel knows it.
pub type Fd = i32;

/// What a call of a blocking socket waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The socket; -1 if several matter.
    pub fd: Fd,
    /// It is worth repeating the call when the socket has one of these [`linux`] `POLL` bits, or an error. Repeating it
    /// earlier does no harm.
    pub events: i16,
    /// At this time, in microseconds, the call is to be repeated in any case: it will fail then.
    pub deadline: Option<u64>,
}

/// How far a call of a blocking socket has come. A new one for every call; the same one when it is repeated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes moved so far; the next repetition goes on behind them.
    pub done: usize,
    /// When the call gives up. The outer `None` before it is known.
    deadline: Option<Option<u64>>,
    /// What has to be done once was done.
    begun: bool,
}

impl Progress {
    /// The time at which the call gives up, fixed when it first asks: `timeout` microseconds from then, 0 for never.
    fn deadline(&mut self, now: u64, timeout: u64) -> Option<u64> {
        let fixed = (timeout != 0).then(|| now.saturating_add(timeout));
        *self.deadline.get_or_insert(fixed)
    }

    /// Refuses with a wait, or, if it is too late or `patient` is false, with `errno`.
    fn wait(&mut self, call: Waiting, now: u64, errno: Errno) -> Refusal {
        let deadline = self.deadline(now, call.timeout);
        if !call.patient || deadline.is_some_and(|d| d <= now) {
            return Refusal::Error(errno);
        }
        Refusal::wait(call.fd, call.events, deadline)
    }
}

/// What a call would wait for, and whether it may.
#[derive(Clone, Copy)]
struct Waiting {
    fd: Fd,
    events: i16,
    timeout: u64,
    patient: bool,
}

type Numbering = Box<dyn FnMut() -> Option<Fd> + Send>;

/// A table of sockets on one stack.
pub struct Sockets {
    stack: TcpStack,
    table: BTreeMap<Fd, Socket>,
    /// Descriptors below `next` that are not in use.
    free: BTreeSet<Fd>,
    next: Fd,
    /// Who gives numbers, if not the two above.
    numbering: Option<Numbering>,
    ports: Ports,
    of_connection: HashMap<ConnectionId, Fd>,
    of_listener: HashMap<ListenerId, Fd>,
    limits: Limits,
}

/// System-wide limits, as sysctls of Linux.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `net.core.wmem_max`: what SO_SNDBUF may ask for.
    pub send_buffer_max: u32,
    /// `net.core.rmem_max`: what SO_RCVBUF may ask for.
    pub receive_buffer_max: u32,
    /// The middle value of `net.ipv4.tcp_wmem`: the send buffer that a socket starts with.
    pub send_buffer: u32,
    /// `net.core.somaxconn`: the longest queue that `listen` gives.
    pub backlog: u32,
    /// `net.ipv4.ip_local_port_range`.
    pub ephemeral: (u16, u16),
    /// File descriptors that may be open.
    pub files: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            send_buffer_max: 212_992,
            receive_buffer_max: 212_992,
            send_buffer: 16_384,
            backlog: linux::SOMAXCONN,
            ephemeral: (32_768, 60_999),
            files: 1 << 20,
        }
    }
}

impl Sockets {
    /// No sockets, on a stack. The lowest descriptor will be 3, as in a program with its three standard files.
    pub fn new(stack: TcpStack) -> Sockets {
        Sockets::with_first_fd(stack, 3)
    }

    /// As `new`, with another lowest descriptor: for those who must not mix them up with the kernel's.
    pub fn with_first_fd(stack: TcpStack, first: Fd) -> Sockets {
        Sockets {
            stack,
            table: BTreeMap::new(),
            free: BTreeSet::new(),
            next: first,
            numbering: None,
            ports: Ports::default(),
            of_connection: HashMap::new(),
            of_listener: HashMap::new(),
            limits: Limits::default(),
        }
    }

    /// Lets somebody else number descriptors: each new socket asks for a number that is not in use. Without one there are
    /// too many open files.
    pub fn number_by(&mut self, numbering: impl FnMut() -> Option<Fd> + Send + 'static) {
        self.numbering = Some(Box::new(numbering));
    }

    /// Replaces the limits; sockets that exist keep what they have.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The stack below, for packets, timers and counters.
    pub fn stack(&self) -> &TcpStack {
        &self.stack
    }

    /// The stack below. Its connections belong to the sockets: packets and timers are what to use it for.
    pub fn stack_mut(&mut self) -> &mut TcpStack {
        &mut self.stack
    }

    /// The next socket with which something happened, so that those who wait for it look again. A socket may be named
    /// more often than its readiness changes.
    pub fn next_change(&mut self) -> Option<Fd> {
        while let Some(event) = self.stack.next_event() {
            let Some(fd) = self.fd_of(event) else { continue };
            if let Some(socket) = self.table.get_mut(&fd) {
                socket.done |= socket.connection().is_some_and(|id| self.stack.peer_closed(id));
            }
            return Some(fd);
        }
        None
    }

    fn fd_of(&self, event: Event) -> Option<Fd> {
        match event {
            Event::Accepted(listener) => self.of_listener.get(&listener).copied(),
            Event::Connected(id)
            | Event::Readable(id)
            | Event::Writable(id)
            | Event::Closed(id)
            | Event::Error(id)
            | Event::Urgent(id) => self.of_connection.get(&id).copied(),
        }
    }

    /// Every open descriptor, lowest first.
    pub fn descriptors(&self) -> impl Iterator<Item = Fd> {
        self.table.keys().copied()
    }

    /// The connection behind a socket, if it has one.
    pub fn connection(&self, fd: Fd) -> Option<ConnectionId> {
        self.table.get(&fd)?.connection()
    }

    fn at(&self, fd: Fd) -> Result<&Socket, Errno> {
        self.table.get(&fd).ok_or(Errno::BADF)
    }

    fn at_mut(&mut self, fd: Fd) -> Result<&mut Socket, Errno> {
        self.table.get_mut(&fd).ok_or(Errno::BADF)
    }

    /// Puts a socket into the lowest free place.
    fn insert(&mut self, socket: Socket) -> Result<Fd, Errno> {
        if self.table.len() >= self.limits.files {
            return Err(Errno::MFILE);
        }
        let fd = match &mut self.numbering {
            Some(numbering) => numbering().filter(|fd| !self.table.contains_key(fd)).ok_or(Errno::MFILE)?,
            None => self.free.pop_first().unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            }),
        };
        self.table.insert(fd, socket);
        Ok(fd)
    }
}
