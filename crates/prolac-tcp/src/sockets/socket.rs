//! One socket: what it is attached to, and its state as Linux would name it.
//!
//! Linux has two states: that of the protocol (`sk_state`), which is the stack's, and that of the socket (`SS_*`), which
//! only `connect` looks at: a second `connect` of a connection that was established meanwhile succeeds once, and fails after.

use std::net::SocketAddr;

use crate::abi::state;
use crate::stack::{ConnectionId, ListenerId, State, TcpStack};

use super::Errno;
use super::settings::Settings;
use super::zero_copy::ZeroCopy;

/// The family that a socket was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// `AF_INET`.
    V4,
    /// `AF_INET6`, which carries IPv4 too unless `IPV6_V6ONLY` is set.
    V6,
}

/// What a socket is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing: new, or disconnected.
    Idle,
    /// A listener.
    Listening(ListenerId),
    /// A connection whose `connect` has not succeeded yet in the eyes of the user (`SS_CONNECTING`).
    Connecting(ConnectionId),
    /// A connection (`SS_CONNECTED`).
    Connected(ConnectionId),
}

/// `RCV_SHUTDOWN` and `SEND_SHUTDOWN`.
pub(super) const RECEIVE: u8 = 1;
/// See [`RECEIVE`].
pub(super) const SEND: u8 = 2;
/// Both.
pub(super) const BOTH: u8 = 3;

/// One socket.
#[derive(Debug)]
pub(super) struct Socket {
    pub domain: Domain,
    pub non_blocking: bool,
    pub close_on_exec: bool,
    pub stage: Stage,
    /// What `getsockname` shows: where it is bound, by `bind` or by a call that needed an address; or was bound last.
    pub local: Option<SocketAddr>,
    /// The port of `local` is taken.
    pub holds_port: bool,
    /// The port was chosen by the user, so it outlives a connection.
    pub bound: bool,
    /// What the user has shut down: [`RECEIVE`], [`SEND`].
    pub shutdown: u8,
    /// An error that the next call is told, besides the connection's own.
    pub error: Option<Errno>,
    /// Fast open: the SYN waits for the first text.
    pub awaits_text: bool,
    /// Writes with MSG_ZEROCOPY.
    pub zero_copy: ZeroCopy,
    /// SOCK_DONE: the peer's FIN came, which hides later errors from readers.
    pub done: bool,
    pub settings: Settings,
}

impl Socket {
    pub fn new(domain: Domain) -> Socket {
        Socket {
            domain,
            non_blocking: false,
            close_on_exec: false,
            stage: Stage::Idle,
            local: None,
            holds_port: false,
            bound: false,
            shutdown: 0,
            error: None,
            awaits_text: false,
            zero_copy: ZeroCopy::default(),
            done: false,
            settings: Settings::default(),
        }
    }

    pub fn connection(&self) -> Option<ConnectionId> {
        match self.stage {
            Stage::Connecting(id) | Stage::Connected(id) => Some(id),
            Stage::Idle | Stage::Listening(_) => None,
        }
    }

    /// Where it is bound now.
    pub fn bound_to(&self) -> Option<SocketAddr> {
        self.local.filter(|_| self.holds_port)
    }

    /// `sk_state`. A connection in TIME-WAIT is closed to its user.
    pub fn state(&self, stack: &TcpStack) -> u8 {
        match self.stage {
            Stage::Idle => state::CLOSED,
            Stage::Listening(_) => state::LISTEN,
            Stage::Connecting(id) | Stage::Connected(id) => match stack.state(id) {
                Ok(State::TimeWait) | Err(_) => state::CLOSED,
                Ok(state) => state as u8,
            },
        }
    }

    /// `sk_shutdown`: what the user has shut down, and what the peer or an end of the connection has.
    pub fn shutdown_mask(&self, stack: &TcpStack) -> u8 {
        let Some(id) = self.connection() else { return self.shutdown };
        let ended = match stack.state(id) {
            Ok(State::TimeWait | State::Closed) | Err(_) => BOTH,
            Ok(_) if stack.peer_closed(id) => RECEIVE,
            Ok(_) => 0,
        };
        self.shutdown | ended
    }
}
