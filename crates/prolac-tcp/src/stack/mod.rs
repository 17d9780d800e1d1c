//! The stack: many connections, IP packets in and out, timers, and the calls of users.
//!
//! It has no socket and no clock: whoever owns it gives it packets ([`TcpStack::receive`]) and the time, in microseconds,
//! and takes from it packets ([`TcpStack::next_transmit`]), events ([`TcpStack::next_event`]) and the time when it wants
//! to be called again ([`TcpStack::deadline`]). The protocol itself is in Prolac and reached through [`Program`].
//!
//! Read first: `input.rs` (the way of a packet in), `output.rs` (out), `entry.rs` (what follows each call into the
//! TCP), then `stream.rs` (reading and writing) and `users.rs` (connecting, listening, closing).

mod asking;
mod callbacks;
mod counters;
mod crumbs;
mod entry;
mod events;
mod fast_open;
mod flow;
mod icmp;
mod inner;
mod input;
mod ip;
mod listener;
mod output;
mod pool;
mod ports;
mod receive_queue;
mod secret;
mod stream;
mod sum;
mod table;
mod types;
mod users;

use std::ffi::c_void;
use std::net::IpAddr;
use std::ptr::NonNull;

use crate::abi::Config;
use crate::program::Program;
pub(crate) use callbacks::ENVIRONMENT;
pub use counters::{Activity, Counters, Drops};
pub use fast_open::{FastOpenKey, FastOpenKeys};
use inner::Inner;
pub use stream::Writing;
pub use types::{ConnectionId, Event, Limits, ListenerId, Offload, Options, Received, State, Transmit};

/// A TCP with its connections.
///
/// # Aliasing
///
/// While an entry of the TCP runs, C calls back and reaches the stack through a pointer that it was given earlier. So
/// that no two references to the same memory meet:
///
/// - The memory that callbacks use, [`Inner`], is behind a raw pointer, `inner`. A `&mut TcpStack` covers only the
///   pointer, not what it points to. C's pointer is a copy of it, with the same provenance.
/// - References to `Inner` are made by `inner()` and `inner_mut()` only and borrow the `TcpStack`. Entries are made by
///   methods that take `&mut TcpStack`, so the borrow checker sees to it that no reference is left when C runs.
///   (`status` and `urgent_mark` read only and call nothing back; they need `&TcpStack` only.)
/// - A callback makes a `&mut Inner` of C's pointer, which is the only one then, and calls no C while it has it.
/// - TCBs, segments and the `Config` are other allocations, reached by raw pointers field by field; `Inner` holds
///   their addresses, and a reference to `Inner` covers no byte of them. References to a segment's fields
///   live only in callbacks, and while C does not run. Bytes of packets are given to C as raw pointers made of shared
///   references and are written only in `output.rs`, which then makes the pointer anew.
pub struct TcpStack {
    inner: NonNull<Inner>,
    program: Program,
}

// SAFETY: everything that the pointers lead to belongs to this stack alone: TCBs, segments and packets (`Packet` is Send)
// are reached through it only, and programs have no state of their own. Nothing is bound to a thread.
unsafe impl Send for TcpStack {}

impl TcpStack {
    /// A stack that runs the TCP that is linked in.
    pub fn new(config: Config) -> TcpStack {
        TcpStack::with_program(Program::linked(), config)
    }

    /// A stack that runs some TCP.
    pub fn with_program(program: Program, config: Config) -> TcpStack {
        let inner = Box::new(Inner::new(config, program));
        let mut stack = TcpStack { inner: NonNull::from(Box::leak(inner)), program };
        stack.set_limits(Limits::default());
        stack
    }

    #[inline]
    fn inner(&self) -> &Inner {
        // SAFETY: see the type: as long as this reference lives no entry is made that calls back.
        unsafe { self.inner.as_ref() }
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut Inner {
        // SAFETY: as above.
        unsafe { self.inner.as_mut() }
    }

    /// What C gets back in callbacks.
    fn handle(&self) -> *mut c_void {
        self.inner.as_ptr().cast()
    }

    /// Makes `address` one of ours. As long as none was added, packets to any address are for us.
    pub fn add_address(&mut self, address: IpAddr) {
        self.inner_mut().add_address(address);
    }

    /// Addresses that were added.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.inner().addresses.iter().map(|(family, address)| flow::join(*family, address))
    }

    /// Makes all random numbers and secrets follow from `seed`, so that runs can be repeated. For tests and simulations:
    /// call it before anything else, and never where there are enemies.
    pub fn seed(&mut self, seed: u64) {
        let secret = secret::Secret::of_seed(seed);
        self.inner_mut().fast_open_keys = secret.fast_open_keys();
        self.inner_mut().secret = secret;
    }

    /// Says what the layer below does for us, from now on.
    pub fn set_offload(&mut self, offload: Offload) {
        let inner = self.inner_mut();
        inner.offload = offload;
        let size = inner.offload_size();
        for (_, slot) in inner.table.iter() {
            // SAFETY: a slot in use has a TCB, and no entry runs.
            unsafe { (*slot.tcb).offload_size = size };
        }
    }

    /// Says what the stack may take at most.
    pub fn set_limits(&mut self, limits: Limits) {
        let inner = self.inner_mut();
        inner.limits = limits;
        inner.pool.set_limit(limits.segments);
    }

    /// The parameters that all connections share.
    pub fn config(&self) -> &Config {
        self.inner().config()
    }

    /// What was done and dropped.
    pub fn counters(&self) -> &Counters {
        &self.inner().counters
    }

    /// The next packet to send, in order.
    pub fn next_transmit(&mut self) -> Option<Transmit> {
        self.inner_mut().output.pop_front()
    }

    /// When `advance` is to be called: at or before the earliest timer.
    pub fn deadline(&self) -> Option<u64> {
        self.inner().wheel.next()
    }

    /// Connections, in no particular order; those too that wait to be accepted, that are not established yet, and that
    /// their users have left.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        let slots = self.inner().table.iter().filter(|(_, slot)| slot.listener.is_none());
        slots.map(|(index, slot)| ConnectionId(slot.id(index)))
    }

    /// Listeners, in no particular order.
    pub fn listeners(&self) -> impl Iterator<Item = ListenerId> {
        let slots = self.inner().table.iter().filter(|(_, slot)| slot.listener.is_some());
        slots.map(|(index, slot)| ListenerId(slot.id(index)))
    }

    /// Segments in the queues of all connections. 0 when nothing is left.
    pub fn segments_in_use(&self) -> usize {
        self.inner().pool.in_use()
    }

    /// Bytes taken from the system for connections and segments, buffers of packets not included.
    pub fn memory(&self) -> usize {
        let inner = self.inner();
        inner.table.memory() + inner.pool.memory() + inner.wheel.memory()
    }
}

impl Drop for TcpStack {
    fn drop(&mut self) {
        let slots: Vec<u32> = self.inner().table.iter().map(|(index, _)| index).collect();
        for index in slots {
            self.destroy(index);
        }
        // SAFETY: it was a box, and no TCB is left that has its address.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
}

impl std::fmt::Debug for TcpStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TcpStack({} connections and listeners)", self.inner().table.live())
    }
}
