//! The Storage interface: what others may know about an element that holds packets.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Length and capacity of a queue, exported by queues and found by flow-based router context.
#[derive(Debug, Default)]
pub struct Storage {
    length: AtomicUsize,
    capacity: AtomicUsize,
}

impl Storage {
    /// Packets held now.
    pub fn length(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Packets that can be held.
    pub fn capacity(&self) -> usize {
        self.capacity.load(Ordering::Relaxed)
    }

    /// Tells how many packets are held.
    pub fn set_length(&self, n: usize) {
        self.length.store(n, Ordering::Relaxed);
    }

    /// Tells how many packets can be held.
    pub fn set_capacity(&self, n: usize) {
        self.capacity.store(n, Ordering::Relaxed);
    }
}
