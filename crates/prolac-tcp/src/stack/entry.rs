//! Entries into the TCP, and what follows each: timers are set, events told, connections that are gone are freed.

use super::TcpStack;
use super::table::NONE;
use crate::abi::{Entries, Tcb, event, state};

impl TcpStack {
    /// Calls the TCP for the connection or listener in a slot, then looks at it and at what it spawned. Returns the
    /// events that the TCP left.
    #[inline]
    pub(super) fn enter(&mut self, index: u32, call: impl FnOnce(&'static Entries, *mut Tcb)) -> u32 {
        let tcb = self.inner().table.slots[index as usize].tcb;
        call(self.program.entries(), tcb);
        while let Some(spawned) = self.inner_mut().spawned.pop() {
            self.settle(spawned);
        }
        self.settle(index)
    }

    /// After an entry: looks at what the TCP left in a TCB. Returns its events; the slot may be gone.
    fn settle(&mut self, index: u32) -> u32 {
        let tcb = self.tcb(index);
        let inner = self.inner_mut();
        // SAFETY: the slot is in use, and no entry runs.
        let (events, state, deadline) = unsafe {
            let events = std::mem::replace(&mut (*tcb).events, 0);
            (events, (*tcb).state, (*tcb).deadline)
        };
        // Deadlines move back with nearly every segment; the timer does not follow, and looks when it fires.
        if deadline < inner.wheel.get(index) {
            inner.wheel.set(index, deadline);
        }
        if events != 0 {
            inner.announce(index, events);
        }
        if state == state::CLOSED || state == state::TIME_WAIT {
            self.settle_end(index, state, events);
        }
        events
    }

    /// A connection in CLOSED or TIME-WAIT: it may be forgotten now or soon.
    #[cold]
    fn settle_end(&mut self, index: u32, state: u8, events: u32) {
        let inner = self.inner_mut();
        let slot = &inner.table.slots[index as usize];
        if state == state::TIME_WAIT {
            if slot.released {
                self.limit_time_wait(index);
            }
            return;
        }
        if events & event::CLOSED != 0 {
            inner.table.unbind(index);
            inner.counters.activity.closed += 1;
        }
        let slot = &inner.table.slots[index as usize];
        // A connection that its listener began and that nobody was told of has no user who would leave it.
        if slot.listener.is_none() && (slot.released || !slot.owned) && events & event::CLOSED != 0 {
            self.destroy(index);
        }
    }

    /// Keeps connections in TIME-WAIT below their limit.
    fn limit_time_wait(&mut self, index: u32) {
        let inner = self.inner_mut();
        let id = inner.table.slots[index as usize].id(index);
        if inner.waiting.back() != Some(&id) {
            inner.waiting.push_back(id);
        }
        while self.inner().waiting.len() > self.inner().limits.time_wait {
            let oldest = self.inner_mut().waiting.pop_front();
            let Some(index) = oldest.and_then(|id| self.inner().table.find(id)) else { continue };
            self.inner_mut().counters.activity.time_wait_overflow += 1;
            self.destroy(index);
        }
    }

    /// Frees a connection or listener. Ids of it are stale from now on.
    pub(super) fn destroy(&mut self, index: u32) {
        let tcb = self.inner().table.slots[index as usize].tcb;
        // SAFETY: the slot is in use; the TCB was constructed and is not entered again.
        unsafe { (self.program.entries().destroy)(tcb) };
        let inner = self.inner_mut();
        inner.wheel.set(index, u64::MAX);
        inner.empty_inbox(index);
        inner.forget_events(index);
        // SAFETY: its queues are empty, the hash table forgets it, and ids of it are stale.
        unsafe { inner.table.remove(index) };
    }

    /// Lets timers fire whose time has come.
    pub fn advance(&mut self, now: u64) {
        while let Some(index) = self.inner_mut().wheel.expired(now) {
            debug_assert_ne!(index, NONE);
            // SAFETY: only slots in use have timers, and no entry runs.
            let deadline = unsafe { (*self.tcb(index)).deadline };
            if deadline > now {
                self.inner_mut().wheel.set(index, deadline);
                continue;
            }
            // SAFETY: only slots in use have timers.
            self.enter(index, |entries, tcb| unsafe { (entries.timeout)(tcb, now) });
        }
    }
}
