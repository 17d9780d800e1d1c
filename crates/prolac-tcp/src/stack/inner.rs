//! What a stack consists of, and what the functions that C calls can reach.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::counters::Counters;
use super::fast_open::FastOpenKeys;
use super::flow::{Address, Flow, split};
use super::listener::Listeners;
use super::pool::SegmentPool;
use super::secret::Secret;
use super::table::Table;
use super::types::{Limits, Offload, Transmit};
use crate::abi::{Config, Tcb};
use crate::program::Program;
use crate::wheel::Wheel;

/// All of a stack but the code that it runs. C gets its address as `stack`.
pub(crate) struct Inner {
    pub table: Table,
    pub listeners: Listeners,
    pub pool: SegmentPool,
    pub wheel: Wheel,
    /// TCBs have its address too, so it is nobody's field, and is read only.
    pub config: NonNull<Config>,
    pub offload: Offload,
    pub limits: Limits,
    /// Ours; with none, all are.
    pub addresses: Vec<(u8, Address)>,
    pub secret: Secret,
    pub fast_open_keys: FastOpenKeys,
    /// What the TCP keeps for all connections together. Only C looks at it.
    pub shared: Vec<u64>,
    pub counters: Counters,
    /// Packets to send, in order.
    pub output: VecDeque<Transmit>,
    /// Ids of slots that have something to tell, or are gone and had.
    pub events: VecDeque<u64>,
    /// Slots of connections that a listener began during this entry.
    pub spawned: Vec<u32>,
    /// The ends of the segment that is being processed: who gets an answer that no connection gives.
    pub current: Option<Flow>,
    /// RFC 6056's counter of ephemeral ports.
    pub next_port: u32,
    /// Connections in TIME-WAIT that their users have left, oldest first; some may be gone.
    pub waiting: VecDeque<u64>,
}

impl Inner {
    pub fn new(config: Config, program: Program) -> Inner {
        let secret = Secret::random();
        Inner {
            fast_open_keys: secret.fast_open_keys(),
            table: Table::new(program.tcb_size()),
            shared: vec![0; program.shared_size().div_ceil(8)],
            listeners: Listeners::default(),
            pool: SegmentPool::new(),
            wheel: Wheel::new(),
            config: NonNull::from(Box::leak(Box::new(config))),
            offload: Offload::default(),
            limits: Limits::default(),
            addresses: Vec::new(),
            secret,
            counters: Counters::default(),
            output: VecDeque::new(),
            events: VecDeque::new(),
            spawned: Vec::new(),
            current: None,
            next_port: 0,
            waiting: VecDeque::new(),
        }
    }

    pub fn config(&self) -> &Config {
        // SAFETY: made in `new`, freed in `drop`, written by nobody.
        unsafe { self.config.as_ref() }
    }

    pub fn add_address(&mut self, address: std::net::IpAddr) {
        let address = split(address.to_canonical());
        if !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
    }

    #[inline]
    pub fn is_ours(&self, family: u8, address: &Address) -> bool {
        self.addresses.is_empty() || self.addresses.iter().any(|(f, a)| *f == family && a == address)
    }

    /// Most text that a packet to the layer below may have; 0 if that is a segment's.
    pub fn offload_size(&self) -> u32 {
        // Room for the longest headers.
        if self.offload.checksum { self.offload.segmentation.saturating_sub(120).min(65_400) } else { 0 }
    }

    /// A slot with a TCB that can be constructed: `stack` is what C is to get back.
    pub fn new_slot(&mut self, stack: *mut std::ffi::c_void) -> u32 {
        let index = self.table.insert();
        let (random, offload_size) = (self.secret.next(), self.offload_size());
        let config = self.config.as_ptr();
        let slot = &mut self.table.slots[index as usize];
        slot.flow_label = random as u32;
        slot.identification = (random >> 32) as u16;
        let tcb: *mut Tcb = slot.tcb;
        // SAFETY: the TCB is new, so nobody else reaches it.
        unsafe {
            (*tcb).stack = stack;
            (*tcb).config = config;
            (*tcb).offload_size = offload_size;
            (*tcb).deadline = u64::MAX;
        }
        index
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: it was a box. TCBs that have its address were destroyed by the stack before.
        drop(unsafe { Box::from_raw(self.config.as_ptr()) });
    }
}
