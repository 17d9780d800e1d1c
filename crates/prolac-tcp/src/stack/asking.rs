//! What sockets want to know of a connection, without changing anything.

use std::net::IpAddr;

use super::TcpStack;
use super::flow::split;
use super::types::ConnectionId;
use crate::abi::state;
use crate::error::Error;

impl TcpStack {
    /// Whether packets to the address are for us. Without addresses of our own, all are.
    pub fn is_local(&self, address: IpAddr) -> bool {
        let (family, address) = split(address);
        self.inner().is_ours(family, &address)
    }

    /// The error that `take_error` would take.
    pub fn pending_error(&self, id: ConnectionId) -> Option<Error> {
        let tcb = self.tcb(self.slot_of(id).ok()?);
        // SAFETY: the slot is in use, and no entry runs.
        let error = unsafe { (*tcb).error };
        (error != 0).then_some(Error(error))
    }

    /// Whether the peer has sent its FIN, and everything before it is here.
    pub fn peer_closed(&self, id: ConnectionId) -> bool {
        let has_fin =
            |state| matches!(state, state::CLOSE_WAIT | state::LAST_ACK | state::CLOSING | state::TIME_WAIT);
        // SAFETY: the slot is in use, and no entry runs.
        self.slot_of(id).is_ok_and(|index| has_fin(unsafe { (*self.tcb(index)).state }))
    }

    /// Unread bytes before the urgent byte, as long as one was announced and not passed.
    pub fn urgent_mark(&self, id: ConnectionId) -> Option<usize> {
        self.mark(self.slot_in_use(id).ok()?)
    }

    /// Whether the urgent byte is here and was not read apart (POLLPRI).
    pub fn has_urgent_byte(&self, id: ConnectionId) -> bool {
        let Ok(index) = self.slot_in_use(id) else { return false };
        let waits = self.readable(id).unwrap_or(0);
        !self.inner().table.slots[index as usize].urgent_read
            && self.urgent_mark(id).is_some_and(|mark| mark < waits)
    }

    /// Whether there is as much room to write that Linux calls the socket writable: a third of the send buffer.
    pub fn is_writable(&self, id: ConnectionId) -> bool {
        self.slot_in_use(id).is_ok_and(|index| self.inner().has_room(index))
    }
}
