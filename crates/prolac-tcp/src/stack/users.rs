//! The calls of users besides reading and writing: RFC 9293 §3.10.1 and §3.10.4 to §3.10.6.

use std::net::SocketAddr;

use super::TcpStack;
use super::fast_open::FastOpenKeys;
use super::flow::{Flow, join};
use super::ip::HOP_LIMIT;
use super::listener::{Listener, Place};
use super::table::{NO_PARENT, Slot};
use super::types::{ConnectionId, ListenerId, Options, State};
use crate::abi::{Config, Status, Tcb, option, state};
use crate::error::Error;

impl TcpStack {
    /// The slot of a connection that the user has not left.
    #[inline]
    pub(super) fn slot_in_use(&self, id: ConnectionId) -> Result<u32, Error> {
        let index = self.slot_of(id)?;
        let slot = &self.inner().table.slots[index as usize];
        if slot.released { Err(Error::NOT_CONNECTED) } else { Ok(index) }
    }

    #[inline]
    pub(super) fn slot_of(&self, id: ConnectionId) -> Result<u32, Error> {
        let index = self.inner().table.find(id.0).ok_or(Error::NOT_CONNECTED)?;
        let slot = &self.inner().table.slots[index as usize];
        if slot.listener.is_some() { Err(Error::NOT_CONNECTED) } else { Ok(index) }
    }

    #[inline]
    pub(super) fn tcb(&self, index: u32) -> *mut Tcb {
        self.inner().table.slots[index as usize].tcb
    }

    /// A slot with a constructed TCB that has these options. `prepare` sets addresses.
    fn construct(
        &mut self,
        now: u64,
        options: &Options,
        prepare: impl FnOnce(*mut Tcb),
    ) -> Result<u32, Error> {
        if self.inner().table.live() >= self.inner().limits.connections {
            return Err(Error::NO_BUFFERS);
        }
        let stack = self.handle();
        let index = self.inner_mut().new_slot(stack);
        let slot = &mut self.inner_mut().table.slots[index as usize];
        slot.set_send_buffer(options.send_buffer);
        (slot.reuse, slot.is_inline) = (options.reuse_address, options.out_of_band_inline);
        slot.dscp = options.traffic_class & !3;
        slot.hop_limit = options.hop_limit.unwrap_or(HOP_LIMIT);
        let tcb = slot.tcb;
        prepare(tcb);
        // SAFETY: the TCB is as `construct` wants it, and constructed from then on.
        unsafe {
            (self.program.entries().construct)(tcb, now);
            for (which, value) in options.each() {
                (self.program.entries().set)(tcb, which, value, now);
            }
        }
        Ok(index)
    }

    /// Begins a connection. `local` may leave the address, the port (0), or both to the stack. `Event::Connected` or
    /// `Event::Closed` follows.
    pub fn connect(
        &mut self,
        now: u64,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<ConnectionId, Error> {
        let flow = self.inner_mut().choose_flow(local, remote, options.reuse_address)?;
        // SAFETY: the TCB is new.
        let index = self.construct(now, options, |tcb| unsafe { flow.write(tcb) })?;
        let inner = self.inner_mut();
        inner.table.bind(index);
        inner.counters.activity.active_opens += 1;
        let slot = &mut inner.table.slots[index as usize];
        slot.owned = true;
        let id = ConnectionId(slot.id(index));
        // SAFETY: the TCB is constructed and has its addresses.
        self.enter(index, |entries, tcb| unsafe { (entries.connect)(tcb, now) });
        Ok(id)
    }

    /// Where a socket would be bound that asks for `local`, with a free port if its port is 0; EADDRINUSE or
    /// EADDRNOTAVAIL if it cannot be. Reserves nothing.
    pub fn check_bind(&mut self, local: SocketAddr, options: &Options) -> Result<SocketAddr, Error> {
        let place = self.inner_mut().choose_place(local, options.v6only, options.reuse_address)?;
        Ok(SocketAddr::new(join(place.family, &place.address), place.port))
    }

    /// Listens at `local`: at any of our addresses if that is unspecified, at IPv4 ones too if it is `[::]` and
    /// `v6only` is not set; at a free port if its port is 0. `backlog` connections may wait to be accepted.
    pub fn listen(
        &mut self,
        local: SocketAddr,
        backlog: u32,
        options: &Options,
    ) -> Result<ListenerId, Error> {
        let place = self.inner_mut().choose_place(local, options.v6only, options.reuse_address)?;
        let Place { address, port, family, .. } = place;
        let flow = Flow { family, local: address, remote: [0; 16], local_port: port, remote_port: 0 };
        let index = self.construct(0, options, |tcb| {
            // SAFETY: the TCB is new.
            unsafe {
                flow.write(tcb);
                (*tcb).backlog = backlog;
            }
        })?;
        let listener = Listener { place, options: options.clone(), queue: Default::default() };
        let inner = self.inner_mut();
        inner.listeners.insert(index, place);
        let slot = &mut inner.table.slots[index as usize];
        slot.listener = Some(Box::new(listener));
        let id = ListenerId(slot.id(index));
        // SAFETY: the TCB is constructed and has its local end.
        self.enter(index, |entries, tcb| unsafe { (entries.listen)(tcb) });
        Ok(id)
    }

    fn listener_slot(&self, id: ListenerId) -> Result<u32, Error> {
        let index = self.inner().table.find(id.0).ok_or(Error::INVALID)?;
        self.inner().table.slots[index as usize].listener.as_ref().ok_or(Error::INVALID)?;
        Ok(index)
    }

    /// The connection that has waited longest; EAGAIN if none waits. It may have ended since.
    pub fn accept(&mut self, id: ListenerId) -> Result<ConnectionId, Error> {
        let index = self.listener_slot(id)?;
        let slot = &mut self.inner_mut().table.slots[index as usize];
        let (tcb, listener) = (slot.tcb, slot.listener.as_mut().expect("it is a listener"));
        let accepted = listener.queue.pop_front().ok_or(Error::WOULD_BLOCK)?;
        let connection = self.inner().table.find(accepted).expect("who waits is not freed");
        self.inner_mut().table.slots[connection as usize].parent = NO_PARENT;
        // SAFETY: the slot is in use, and no entry runs.
        unsafe { (*tcb).waiting = (*tcb).waiting.saturating_sub(1) };
        Ok(ConnectionId(accepted))
    }

    /// Connections that wait to be accepted.
    pub fn acceptable(&self, id: ListenerId) -> Result<usize, Error> {
        let index = self.listener_slot(id)?;
        let listener = &self.inner().table.slots[index as usize].listener;
        Ok(listener.as_ref().map_or(0, |listener| listener.queue.len()))
    }

    /// Where a listener listens.
    pub fn listener_addr(&self, id: ListenerId) -> Result<SocketAddr, Error> {
        let index = self.listener_slot(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        Ok(unsafe { Flow::of(self.tcb(index)) }.local())
    }

    /// Changes how many connections may wait to be accepted.
    pub fn set_backlog(&mut self, id: ListenerId, backlog: u32) -> Result<(), Error> {
        let index = self.listener_slot(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        unsafe { (*self.tcb(index)).backlog = backlog };
        Ok(())
    }

    /// Listens no more. Connections that wait to be accepted are reset, half-open ones forgotten, as in Linux.
    pub fn close_listener(&mut self, now: u64, id: ListenerId) {
        let Ok(index) = self.listener_slot(id) else { return };
        let left_behind = |(_, slot): &(u32, &Slot)| slot.parent == id.0;
        let children: Vec<u32> =
            self.inner().table.iter().filter(left_behind).map(|(child, _)| child).collect();
        for child in children {
            self.drop_child(now, child);
        }
        let inner = self.inner_mut();
        let port = inner.table.slots[index as usize].listener.as_ref().map_or(0, |l| l.place.port);
        inner.listeners.remove(index, port);
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.close)(tcb, now) });
        self.destroy(index);
    }

    /// Ends a connection whose listener goes.
    fn drop_child(&mut self, now: u64, index: u32) {
        let slot = &mut self.inner_mut().table.slots[index as usize];
        let (established, id) = (std::mem::replace(&mut slot.owned, false), slot.id(index));
        if established {
            // SAFETY: the TCB is a constructed one.
            self.enter(index, |entries, tcb| unsafe { (entries.abort)(tcb, now) });
        }
        if self.inner().table.find(id).is_some() {
            self.destroy(index);
        }
    }

    /// Sends no more: a FIN follows what was written.
    pub fn shutdown(&mut self, now: u64, id: ConnectionId) -> Result<(), Error> {
        let index = self.slot_in_use(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        if unsafe { (*self.tcb(index)).state } == state::CLOSED {
            return Err(Error::NOT_CONNECTED);
        }
        self.inner_mut().table.slots[index as usize].shut = true;
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.shutdown)(tcb, now) });
        Ok(())
    }

    /// Leaves the connection, which ends in its own time: `Event::Closed` follows. What was received and not read makes it
    /// end with a reset.
    pub fn close(&mut self, now: u64, id: ConnectionId) {
        let Ok(index) = self.slot_in_use(id) else { return };
        self.leave(index);
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.close)(tcb, now) });
        self.free_if_closed(id);
    }

    /// Leaves the connection, and resets it.
    pub fn abort(&mut self, now: u64, id: ConnectionId) {
        let Ok(index) = self.slot_of(id) else { return };
        self.leave(index);
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.abort)(tcb, now) });
        self.free_if_closed(id);
    }

    fn leave(&mut self, index: u32) {
        self.inner_mut().table.slots[index as usize].released = true;
    }

    /// A connection that was in CLOSED before its user left it tells so no second time.
    fn free_if_closed(&mut self, id: ConnectionId) {
        let Some(index) = self.inner().table.find(id.0) else { return };
        // SAFETY: the slot is in use, and no entry runs.
        if unsafe { (*self.tcb(index)).state } == state::CLOSED {
            self.destroy(index);
        }
    }

    /// Sets one of [`crate::abi::option`].
    pub fn set_option(&mut self, now: u64, id: ConnectionId, which: u32, value: u32) -> Result<(), Error> {
        let index = self.slot_in_use(id)?;
        self.note_option(index, which, value);
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.set)(tcb, which, value, now) });
        Ok(())
    }

    /// Sets one of [`crate::abi::option`] for connections that the listener will accept.
    pub fn set_listener_option(
        &mut self,
        now: u64,
        id: ListenerId,
        which: u32,
        value: u32,
    ) -> Result<(), Error> {
        let index = self.listener_slot(id)?;
        self.note_option(index, which, value);
        // SAFETY: the TCB is a constructed one.
        self.enter(index, |entries, tcb| unsafe { (entries.set)(tcb, which, value, now) });
        Ok(())
    }

    /// Options that are ours.
    fn note_option(&mut self, index: u32, which: u32, value: u32) {
        if which == option::OUT_OF_BAND_INLINE {
            self.inner_mut().table.slots[index as usize].is_inline = value != 0;
        }
    }

    /// Sets how much may wait to be acknowledged; 0 lets it grow with the congestion window.
    pub fn set_send_buffer(&mut self, id: ConnectionId, bytes: u32) -> Result<(), Error> {
        let index = self.slot_in_use(id)?;
        self.inner_mut().table.slots[index as usize].set_send_buffer(bytes);
        Ok(())
    }

    /// Sets the DSCP of what is sent from now on (IP_TOS, IPV6_TCLASS).
    pub fn set_traffic_class(&mut self, id: ConnectionId, class: u8) -> Result<(), Error> {
        let index = self.slot_in_use(id)?;
        self.inner_mut().table.slots[index as usize].dscp = class & !3;
        Ok(())
    }

    /// The same for connections that a listener will accept.
    pub fn set_listener_traffic_class(&mut self, id: ListenerId, class: u8) -> Result<(), Error> {
        let index = self.listener_slot(id)?;
        self.inner_mut().table.slots[index as usize].dscp = class & !3;
        Ok(())
    }

    /// Sets the time to live of what is sent from now on (IP_TTL, IPV6_UNICAST_HOPS). RFC 9293 §3.9.2, MUST-49.
    pub fn set_hop_limit(&mut self, id: ConnectionId, limit: u8) -> Result<(), Error> {
        let index = self.slot_in_use(id)?;
        self.inner_mut().table.slots[index as usize].hop_limit = limit;
        Ok(())
    }

    /// The same for connections that a listener will accept.
    pub fn set_listener_hop_limit(&mut self, id: ListenerId, limit: u8) -> Result<(), Error> {
        let index = self.listener_slot(id)?;
        self.inner_mut().table.slots[index as usize].hop_limit = limit;
        Ok(())
    }

    /// Keys of the cookies of fast open, for listeners that have none of their own. Without, they are random.
    pub fn set_fast_open_keys(&mut self, keys: FastOpenKeys) {
        self.inner_mut().fast_open_keys = keys;
    }

    /// Those that it has now.
    pub fn fast_open_keys(&self) -> FastOpenKeys {
        self.inner().fast_open_keys
    }

    /// Keys of a listener's own.
    pub fn set_listener_fast_open_keys(&mut self, id: ListenerId, keys: FastOpenKeys) -> Result<(), Error> {
        let index = self.listener_slot(id)?;
        let slot = &mut self.inner_mut().table.slots[index as usize];
        slot.listener.as_mut().expect("it is a listener").options.fast_open_keys = Some(keys);
        Ok(())
    }

    /// Most text that the SYN has room for which a connection holds back for it.
    pub fn text_in_syn(&self, id: ConnectionId) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        Ok(unsafe { (*self.tcb(index)).buffer_size } as usize)
    }

    /// Bytes that may wait to be acknowledged.
    pub fn send_buffer(&self, id: ConnectionId) -> Result<u32, Error> {
        Ok(self.inner().table.slots[self.slot_of(id)? as usize].send_limit)
    }

    /// What is known about the connection: TCP_INFO. Also when the user has left it, as all that follow.
    pub fn status(&self, now: u64, id: ConnectionId) -> Result<Status, Error> {
        Ok(self.status_of(now, self.slot_of(id)?))
    }

    pub(super) fn status_of(&self, now: u64, index: u32) -> Status {
        let mut status = Status::default();
        // SAFETY: the TCB is a constructed one; `status` calls nothing back.
        unsafe { (self.program.entries().status)(self.tcb(index), &raw mut status, now) };
        status
    }

    fn flow(&self, id: ConnectionId) -> Result<Flow, Error> {
        // SAFETY: the slot is in use, and no entry runs.
        Ok(unsafe { Flow::of(self.tcb(self.slot_of(id)?)) })
    }

    /// Our end.
    pub fn local_addr(&self, id: ConnectionId) -> Result<SocketAddr, Error> {
        Ok(self.flow(id)?.local())
    }

    /// The peer's end.
    pub fn peer_addr(&self, id: ConnectionId) -> Result<SocketAddr, Error> {
        Ok(self.flow(id)?.remote())
    }

    /// The state.
    pub fn state(&self, id: ConnectionId) -> Result<State, Error> {
        // SAFETY: the slot is in use, and no entry runs.
        Ok(State::from_number(unsafe { (*self.tcb(self.slot_of(id)?)).state }))
    }

    /// Why the connection ended, or a soft error that it survived; told once (SO_ERROR).
    pub fn take_error(&mut self, id: ConnectionId) -> Result<Option<Error>, Error> {
        let tcb = self.tcb(self.slot_of(id)?);
        // SAFETY: the slot is in use, and no entry runs.
        let error = unsafe { std::mem::replace(&mut (*tcb).error, 0) };
        Ok((error != 0).then_some(Error(error)))
    }

    /// The parameters of the stack, changed for connections old and new.
    pub fn set_config(&mut self, config: Config) {
        // SAFETY: made by `Inner::new`, and nobody has a reference to it: `config()` borrows the stack.
        unsafe { self.inner_mut().config.write(config) };
    }
}
