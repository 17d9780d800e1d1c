//! Connections and listeners by number and by address.
//!
//! A *slot* is what the environment knows of a TCB besides what stands in it. Slots are numbered; a number and the
//! slot's generation make an id, so that an id that outlived its connection is recognised. TCBs lie in chunks, where
//! they stay until they are freed. Two ends of a connection lead to its slot through a hash table of numbers.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::hash::BuildHasher;
use std::ptr::null_mut;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use super::flow::Flow;
use super::ip::HOP_LIMIT;
use super::listener::Listener;
use crate::abi::{Segment, Tcb};

/// TCBs of a chunk.
const CHUNK: usize = if cfg!(feature = "unpooled") { 1 } else { 32 };

/// Text that was taken from the TCP and not by the user yet: segments linked through `next`.
pub(crate) struct Inbox {
    pub first: *mut Segment,
    pub last: *mut Segment,
}

/// What there is to know of a TCB besides what stands in it.
pub(crate) struct Slot {
    /// Null: the slot is free.
    pub tcb: *mut Tcb,
    pub inbox: Inbox,
    pub listener: Option<Box<Listener>>,
    /// The id of the listener that began the connection, until it is accepted.
    pub parent: u64,
    pub generation: u32,
    /// Next free slot.
    next_free: u32,
    /// Most bytes that may wait to be acknowledged.
    pub send_limit: u32,
    /// Bytes in the inbox.
    pub in_inbox: u32,
    /// The flow label of its packets (RFC 6437).
    pub flow_label: u32,
    /// The identification of its next IPv4 packet.
    pub identification: u16,
    /// Bits of what there is to tell the user ([`super::events`]).
    pub pending: u8,
    /// The user has left the connection.
    pub released: bool,
    /// The user has the connection, or began it: it is to be told of events.
    pub owned: bool,
    /// The send limit grows with the congestion window.
    pub grows: bool,
    /// The user has shut down the sending side.
    pub shut: bool,
    /// A write found less room than it wanted: the user is to be told of more.
    pub wants_room: bool,
    /// The user was told that it is closed.
    pub told_closed: bool,
    /// In the queue of events.
    pub in_queue: bool,
    /// Found through the hash table.
    pub bound: bool,
    /// Urgent data was announced.
    pub has_urgent: bool,
    /// The urgent byte was read.
    pub urgent_read: bool,
    /// Urgent data are part of the stream.
    pub is_inline: bool,
    /// Other sockets may have the same port.
    pub reuse: bool,
    /// The DSCP, where it stands in the traffic class: RFC 2474 §3. The two bits below it are TCP's, for ECN.
    pub dscp: u8,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
}

/// Slots, their TCBs, and the way from addresses to them.
pub(crate) struct Table {
    pub slots: Vec<Slot>,
    first_free: u32,
    live: usize,
    memory: TcbMemory,
    by_flow: HashTable<u32>,
    /// How many connections have a local port.
    ports: HashMap<u16, u32, RandomState>,
    hasher: RandomState,
}

/// What may wait to be acknowledged before the congestion window says that it needs more.
const INITIAL_SEND_BUFFER: u32 = 128 << 10;

/// Of connections that no listener began, or that were accepted. No slot has this id.
pub(crate) const NO_PARENT: u64 = u64::MAX;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

impl Table {
    pub fn new(tcb_size: usize) -> Self {
        Self {
            slots: Vec::new(),
            first_free: NONE,
            live: 0,
            memory: TcbMemory::new(tcb_size),
            by_flow: HashTable::new(),
            ports: HashMap::default(),
            hasher: RandomState::default(),
        }
    }

    /// Slots in use.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Bytes that connections take, used or not.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.memory.bytes() + self.by_flow.allocation_size()
    }

    /// A slot with a zeroed TCB whose `user` is the slot's id.
    pub fn insert(&mut self) -> u32 {
        let index = if self.first_free == NONE { self.push() } else { self.first_free };
        let tcb = self.memory.take();
        let slot = &mut self.slots[index as usize];
        self.first_free = slot.next_free;
        *slot = Slot { tcb, generation: slot.generation, ..Slot::free(NONE) };
        let id = slot.id(index);
        self.live += 1;
        // SAFETY: the TCB is new and nobody else's.
        unsafe { (*tcb).user = id };
        index
    }

    fn push(&mut self) -> u32 {
        let index = u32::try_from(self.slots.len()).expect("fewer slots than 2^32");
        self.slots.push(Slot::free(self.first_free));
        index
    }

    /// Frees a slot and its TCB. Ids of it are stale from now on.
    ///
    /// # Safety
    /// Nothing refers to the TCB any more.
    pub unsafe fn remove(&mut self, index: u32) {
        self.unbind(index);
        let slot = &mut self.slots[index as usize];
        // SAFETY: the caller's; the TCB came from this memory.
        unsafe { self.memory.give_back(slot.tcb) };
        *slot = Slot { generation: slot.generation.wrapping_add(1), ..Slot::free(self.first_free) };
        self.first_free = index;
        self.live -= 1;
    }

    /// The slot of an id, if it is not stale.
    #[inline]
    pub fn find(&self, id: u64) -> Option<u32> {
        let index = id as u32;
        let slot = self.slots.get(index as usize)?;
        (!slot.tcb.is_null() && slot.id(index) == id).then_some(index)
    }

    /// The slot of a TCB.
    ///
    /// # Safety
    /// `tcb` is a TCB of this table.
    #[inline]
    pub unsafe fn slot_of(&mut self, tcb: *const Tcb) -> &mut Slot {
        // SAFETY: the caller's.
        let user = unsafe { (*tcb).user };
        &mut self.slots[user as u32 as usize]
    }

    /// Slots in use, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| !slot.tcb.is_null())
            .map(|(i, slot)| (i as u32, slot))
    }

    #[inline]
    fn hash(hasher: &RandomState, flow: &Flow) -> u64 {
        hasher.hash_one(flow.words())
    }

    /// The slot of the connection between two ends.
    #[inline]
    pub fn lookup(&self, flow: &Flow) -> Option<u32> {
        let slots = &self.slots;
        let hash = Self::hash(&self.hasher, flow);
        // SAFETY: bound slots have TCBs.
        self.by_flow.find(hash, |&i| unsafe { Flow::of(slots[i as usize].tcb) } == *flow).copied()
    }

    /// Makes the slot's connection findable by the ends that stand in its TCB. There must be no other between these.
    pub fn bind(&mut self, index: u32) {
        let (slots, hasher) = (&mut self.slots, &self.hasher);
        slots[index as usize].bound = true;
        // SAFETY: bound slots have TCBs.
        let hash = |slots: &[Slot], i: u32| Self::hash(hasher, &unsafe { Flow::of(slots[i as usize].tcb) });
        self.by_flow.insert_unique(hash(slots, index), index, |&i| hash(slots, i));
        // SAFETY: as above.
        *self.ports.entry(unsafe { (*slots[index as usize].tcb).local_port }).or_insert(0) += 1;
    }

    /// The opposite of `bind`.
    pub fn unbind(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if !std::mem::take(&mut slot.bound) {
            return;
        }
        // SAFETY: bound slots have TCBs.
        let hash = Self::hash(&self.hasher, &unsafe { Flow::of(slot.tcb) });
        if let Ok(entry) = self.by_flow.find_entry(hash, |&i| i == index) {
            entry.remove();
        }
        // SAFETY: as above.
        let port = unsafe { (*slot.tcb).local_port };
        if let Some(uses) = self.ports.get_mut(&port) {
            *uses -= 1;
            if *uses == 0 {
                self.ports.remove(&port);
            }
        }
    }

    /// Connections that have the local port.
    pub fn uses_of_port(&self, port: u16) -> u32 {
        self.ports.get(&port).copied().unwrap_or(0)
    }
}

impl Slot {
    fn free(next_free: u32) -> Slot {
        Slot {
            tcb: null_mut(),
            inbox: Inbox { first: null_mut(), last: null_mut() },
            listener: None,
            generation: 0,
            next_free,
            send_limit: 0,
            in_inbox: 0,
            parent: NO_PARENT,
            flow_label: 0,
            identification: 0,
            pending: 0,
            released: false,
            owned: false,
            grows: false,
            shut: false,
            wants_room: false,
            told_closed: false,
            in_queue: false,
            bound: false,
            has_urgent: false,
            urgent_read: false,
            is_inline: false,
            reuse: false,
            dscp: 0,
            hop_limit: HOP_LIMIT,
        }
    }

    /// Sets how much may wait to be acknowledged: 0 lets it grow with the congestion window.
    pub fn set_send_buffer(&mut self, bytes: u32) {
        self.grows = bytes == 0;
        self.send_limit = if self.grows { INITIAL_SEND_BUFFER } else { bytes };
    }

    /// The id of the slot that is number `index`.
    #[inline]
    pub fn id(&self, index: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(index)
    }
}

/// Memory for TCBs of one size: chunks, and a free list through the first word of free ones.
struct TcbMemory {
    size: usize,
    free: *mut Tcb,
    chunks: Vec<*mut u8>,
}

impl TcbMemory {
    fn new(size: usize) -> Self {
        Self { size: size.next_multiple_of(64), free: null_mut(), chunks: Vec::new() }
    }

    fn layout(&self) -> Layout {
        Layout::from_size_align(self.size * CHUNK, 64).expect("TCBs are small")
    }

    fn bytes(&self) -> usize {
        self.chunks.len() * self.layout().size()
    }

    /// A zeroed TCB.
    fn take(&mut self) -> *mut Tcb {
        if self.free.is_null() {
            self.grow();
        }
        let tcb = self.free;
        // SAFETY: a free TCB is this memory's alone; `size` bytes belong to it.
        unsafe {
            self.free = tcb.cast::<*mut Tcb>().read();
            tcb.cast::<u8>().write_bytes(0, self.size);
        }
        tcb
    }

    /// # Safety
    /// The TCB came from here and nothing refers to it.
    unsafe fn give_back(&mut self, tcb: *mut Tcb) {
        if cfg!(feature = "unpooled") {
            self.chunks.retain(|&chunk| chunk != tcb.cast());
            // SAFETY: the caller's; the TCB is a whole chunk.
            unsafe { dealloc(tcb.cast(), self.layout()) };
        } else {
            // SAFETY: the caller's.
            unsafe { self.give(tcb) };
        }
    }

    /// # Safety
    /// The TCB came from here and nothing refers to it.
    unsafe fn give(&mut self, tcb: *mut Tcb) {
        // SAFETY: the caller's; a TCB begins with room for a pointer.
        unsafe { tcb.cast::<*mut Tcb>().write(self.free) };
        self.free = tcb;
    }

    fn grow(&mut self) {
        let layout = self.layout();
        // SAFETY: the layout's size is not zero.
        let chunk = unsafe { alloc_zeroed(layout) };
        if chunk.is_null() {
            handle_alloc_error(layout);
        }
        self.chunks.push(chunk);
        for place in (0..CHUNK).rev() {
            // SAFETY: the place lies within the chunk, and chunks and sizes are multiples of 64.
            unsafe { self.give(chunk.add(place * self.size).cast()) };
        }
    }
}

impl Drop for TcbMemory {
    fn drop(&mut self) {
        let layout = self.layout();
        for chunk in self.chunks.drain(..) {
            // SAFETY: the chunk was allocated with this layout; who has the memory drops it after all users of TCBs.
            unsafe { dealloc(chunk, layout) };
        }
    }
}
