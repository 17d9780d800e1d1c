//! Events: bits in a slot, and a queue of slots that have some. A connection is in the queue at most once, so the queue
//! is as long as there are connections, whether the user takes events or not.

use super::TcpStack;
use super::inner::Inner;
use super::types::{ConnectionId, Event, ListenerId};
use crate::abi::event;

const ACCEPTED: u8 = 1;
const CONNECTED: u8 = 2;
const READABLE: u8 = 4;
const WRITABLE: u8 = 8;
const URGENT: u8 = 16;
const ERROR: u8 = 32;
const CLOSED: u8 = 64;

/// The TCP's bits that the user is told of, and ours for them, in the order in which they are told.
const TOLD: [(u32, u8); 7] = [
    (event::CONNECTED, CONNECTED),
    (event::READABLE, READABLE),
    (event::PEER_CLOSED, READABLE),
    (event::WRITABLE, WRITABLE),
    (event::URGENT, URGENT),
    (event::ERROR, ERROR),
    (event::CLOSED, CLOSED),
];

impl Inner {
    /// Notes what the TCP says of a connection.
    pub fn announce(&mut self, index: u32, mut events: u32) {
        if events & event::CONNECTED != 0 {
            self.established(index);
        }
        if events & event::URGENT != 0 {
            let slot = &mut self.table.slots[index as usize];
            (slot.has_urgent, slot.urgent_read) = (true, false);
        }
        let has_room = self.has_room(index);
        let slot = &mut self.table.slots[index as usize];
        if !slot.owned {
            return;
        }
        // Room is news to those only who found none.
        if events & event::WRITABLE != 0 && !(has_room && std::mem::take(&mut slot.wants_room)) {
            events &= !event::WRITABLE;
        }
        let bits =
            TOLD.iter().filter(|(theirs, _)| events & theirs != 0).fold(0, |bits, (_, ours)| bits | ours);
        let bits = if slot.released { bits & CLOSED } else { bits };
        self.tell(index, bits);
    }

    /// A connection is established: those that a listener began wait to be accepted from now on.
    fn established(&mut self, index: u32) {
        self.counters.activity.established += 1;
        let slot = &mut self.table.slots[index as usize];
        if slot.owned {
            return;
        }
        slot.owned = true;
        let (id, parent) = (slot.id(index), slot.parent);
        let Some(listener) = self.table.find(parent) else { return };
        if let Some(waiting) = &mut self.table.slots[listener as usize].listener {
            waiting.queue.push_back(id);
            self.tell(listener, ACCEPTED);
        }
    }

    fn tell(&mut self, index: u32, bits: u8) {
        let slot = &mut self.table.slots[index as usize];
        slot.pending |= bits;
        if slot.pending != 0 && !std::mem::replace(&mut slot.in_queue, true) {
            let id = slot.id(index);
            self.events.push_back(id);
        }
    }

    /// A slot is about to be freed. A stale id in the queue says that a connection was closed: the user is told so once.
    pub fn forget_events(&mut self, index: u32) {
        let slot = &mut self.table.slots[index as usize];
        let (id, tell) = (slot.id(index), slot.owned && !slot.told_closed);
        match (tell, slot.in_queue) {
            (true, false) => self.events.push_back(id),
            (false, true) => self.events.retain(|&queued| queued != id),
            _ => {}
        }
    }
}

impl TcpStack {
    /// What happened, oldest first.
    pub fn next_event(&mut self) -> Option<Event> {
        let inner = self.inner_mut();
        loop {
            let id = *inner.events.front()?;
            let Some(index) = inner.table.find(id) else {
                inner.events.pop_front();
                return Some(Event::Closed(ConnectionId(id)));
            };
            let slot = &mut inner.table.slots[index as usize];
            if slot.pending != 0 {
                let bit = slot.pending & slot.pending.wrapping_neg();
                slot.pending &= !bit;
                slot.told_closed |= bit == CLOSED;
                return Some(event_of(bit, id));
            }
            slot.in_queue = false;
            inner.events.pop_front();
        }
    }
}

fn event_of(bit: u8, id: u64) -> Event {
    let connection = ConnectionId(id);
    match bit {
        ACCEPTED => Event::Accepted(ListenerId(id)),
        CONNECTED => Event::Connected(connection),
        READABLE => Event::Readable(connection),
        WRITABLE => Event::Writable(connection),
        URGENT => Event::Urgent(connection),
        ERROR => Event::Error(connection),
        _ => Event::Closed(connection),
    }
}
