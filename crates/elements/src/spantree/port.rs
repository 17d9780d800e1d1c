//! One port of a bridge, as the spanning tree protocol sees it (IEEE 802.1D-1998 §8.5.5).

use super::bpdu::{PortId, Vector};
use clickwork_packet::Timestamp;
use std::fmt;

/// What a port does (§8.4). A blocking port and those on the way from it to forwarding are closed to traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Takes no part in the protocol.
    Disabled,
    /// Hears messages of other bridges, nothing else.
    #[default]
    Blocking,
    /// Waits for word that it must not forward.
    Listening,
    /// Learns addresses, forwards nothing yet.
    Learning,
    /// Part of the tree.
    Forwarding,
}

impl State {
    /// The number that Click gives it in its messages.
    pub fn number(self) -> i32 {
        match self {
            State::Disabled => -1,
            State::Blocking => 0,
            State::Listening => 1,
            State::Learning => 2,
            State::Forwarding => 3,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Disabled => "disabled",
            State::Blocking => "blocking",
            State::Listening => "listening",
            State::Learning => "learning",
            State::Forwarding => "forwarding",
        })
    }
}

/// What a port is in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It takes no part.
    Disabled,
    /// The way to the root.
    Root,
    /// Its LAN's way to the root.
    Designated,
    /// Not needed: there is another way.
    Blocked,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Disabled => "disabled",
            Role::Root => "root",
            Role::Designated => "designated",
            Role::Blocked => "blocked",
        })
    }
}

/// The parameters of a port; timers but `since` are the times at which they expire.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// Its identifier.
    pub id: PortId,
    /// What it does.
    pub state: State,
    /// What it adds to the way to the root.
    pub path_cost: u32,
    /// The best message known on its LAN, which may be our own.
    pub designated: Vector,
    /// The next message acknowledges a change.
    pub acknowledge: bool,
    /// A message waits for the hold timer.
    pub config_pending: bool,
    /// When `designated` is forgotten.
    pub message_age: Option<Timestamp>,
    /// Since when the port listens, or learns.
    pub since: Option<Timestamp>,
    /// Until when no further message may be sent.
    pub hold: Option<Timestamp>,
}

impl Port {
    /// Whether the port takes part.
    pub fn is_enabled(&self) -> bool {
        self.state != State::Disabled
    }
}
