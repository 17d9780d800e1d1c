//! The packet pool: free buffers kept per thread, so that a packet costs neither a lock nor a `malloc`.
//!
//! Buffers come in three classes. *Standard* buffers have 2 KiB of storage, enough for an Ethernet frame
//! with room to spare, and are recycled through a free list of the thread that frees them. *Jumbo* buffers hold the
//! largest IP packet, and are recycled through one list for all threads: they are often freed by another thread than the
//! one that takes them, and a lock costs little beside what is done to so many bytes. *Large*
//! buffers (anything else) come from the allocator and return to it.
//!
//! With the feature `unpooled` all do, so that memory checkers see a packet that is used after it was freed.

use crate::buffer::Block;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Bytes before the storage of a buffer.
pub(crate) const BLOCK_SIZE: usize = 128;
/// Bytes of storage in a standard buffer.
pub const STANDARD_CAPACITY: usize = 2048;
/// Standard buffers that a thread keeps for itself; more are returned to the allocator.
const KEEP: usize = if cfg!(feature = "unpooled") { 0 } else { 1 << 16 };

/// Bytes of storage in a jumbo buffer: an IP packet of 64 KiB, with room before it.
pub const JUMBO_CAPACITY: usize = (64 << 10) + STANDARD_CAPACITY;
/// Asked for no more than this, jumbo buffers would be a waste.
const JUMBO_LEAST: usize = 32 << 10;
/// Jumbo buffers that are kept for the program; more are returned to the allocator.
const KEEP_JUMBO: usize = if cfg!(feature = "unpooled") { 0 } else { 128 };

/// Where a buffer came from, and so where it returns to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum SizeClass {
    Standard,
    Jumbo,
    Large,
}

struct FreeList(Vec<NonNull<Block>>);

impl Drop for FreeList {
    fn drop(&mut self) {
        for block in self.0.drain(..) {
            give_back(block, STANDARD_CAPACITY as u32);
        }
    }
}

thread_local! {
    static FREE: UnsafeCell<FreeList> = const { UnsafeCell::new(FreeList(Vec::new())) };
}

struct JumboList(Vec<NonNull<Block>>);

// SAFETY: the blocks in the list are free: nobody else refers to them, whichever thread had them.
unsafe impl Send for JumboList {}

static JUMBO: Mutex<JumboList> = Mutex::new(JumboList(Vec::new()));

#[cfg(debug_assertions)]
thread_local! {
    static IN_USE: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
}

/// How many buffers this thread has taken and not given back; negative if it gave back others' buffers. Only programs with debug
/// assertions count; in others it is always 0.
pub fn buffers_in_use() -> i64 {
    #[cfg(debug_assertions)]
    return IN_USE.get();
    #[cfg(not(debug_assertions))]
    0
}

#[inline]
fn count(_change: i64) {
    #[cfg(debug_assertions)]
    let _ = IN_USE.try_with(|n| n.set(n.get() + _change));
}

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(BLOCK_SIZE + capacity, 64).expect("packet sizes fit the address space")
}

fn from_system(capacity: usize) -> NonNull<Block> {
    let layout = layout(capacity);
    // SAFETY: the layout's size is at least BLOCK_SIZE, so not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

fn give_back(block: NonNull<Block>, capacity: u32) {
    // SAFETY: the block came from `from_system` with this capacity, and nobody refers to it any more.
    unsafe { dealloc(block.as_ptr().cast(), layout(capacity as usize)) }
}

/// Memory for a block and at least `capacity` bytes of storage. Its fields are not yet meaningful.
#[inline]
pub(crate) fn allocate(capacity: usize) -> (NonNull<Block>, SizeClass, u32) {
    count(1);
    if capacity <= STANDARD_CAPACITY {
        // SAFETY: the cell is this thread's own and the borrow ends within the closure, which calls
        // nothing that could come back here.
        let free = FREE.try_with(|f| unsafe { (*f.get()).0.pop() }).ok().flatten();
        let block = free.unwrap_or_else(|| from_system(STANDARD_CAPACITY));
        (block, SizeClass::Standard, STANDARD_CAPACITY as u32)
    } else if (JUMBO_LEAST + 1..=JUMBO_CAPACITY).contains(&capacity) {
        let free = JUMBO.lock().unwrap_or_else(PoisonError::into_inner).0.pop();
        let block = free.unwrap_or_else(|| from_system(JUMBO_CAPACITY));
        (block, SizeClass::Jumbo, JUMBO_CAPACITY as u32)
    } else {
        let capacity = u32::try_from(capacity.next_multiple_of(64)).expect("packets are below 4 GiB");
        (from_system(capacity as usize), SizeClass::Large, capacity)
    }
}

/// Takes back a block that nobody refers to any more.
#[inline]
pub(crate) fn free(block: NonNull<Block>, class: SizeClass, capacity: u32) {
    count(-1);
    if class == SizeClass::Standard {
        let kept = FREE.try_with(|f| {
            // SAFETY: as in `allocate`; `Vec::push` calls only the allocator.
            let list = unsafe { &mut (*f.get()).0 };
            let room = list.len() < KEEP;
            if room {
                list.push(block);
            }
            room
        });
        if kept == Ok(true) {
            return;
        }
    } else if class == SizeClass::Jumbo {
        let mut list = JUMBO.lock().unwrap_or_else(PoisonError::into_inner);
        if list.0.len() < KEEP_JUMBO {
            return list.0.push(block);
        }
    }
    give_back(block, capacity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    #[test]
    #[cfg(feature = "unpooled")]
    fn nothing_is_kept_without_pools() {
        let kept = || {
            FREE.with(|free| {
                // SAFETY: as in `allocate`.
                unsafe { (*free.get()).0.len() }
            })
        };
        drop([Packet::new(b"x"), Packet::recycled(0, JUMBO_CAPACITY, 0)]);
        assert_eq!(kept(), 0);
        assert!(JUMBO.lock().unwrap().0.is_empty());
    }

    #[test]
    #[cfg_attr(feature = "unpooled", ignore = "there are no pools")]
    fn a_jumbo_buffer_freed_by_one_thread_serves_another() {
        let packet = Packet::recycled(0, JUMBO_CAPACITY, 0);
        let address = packet.data().as_ptr() as usize;
        std::thread::spawn(move || drop(packet)).join().unwrap();
        // Other tests take and free such buffers at the same time.
        let all: Vec<Packet> = (0..KEEP_JUMBO).map(|_| Packet::recycled(100, JUMBO_LEAST, 0)).collect();
        assert!(all.iter().any(|packet| packet.data().as_ptr() as usize == address + 100));
        assert!(all.iter().all(|packet| packet.buffer_len() == JUMBO_CAPACITY));
        drop(all);
        assert_eq!(Packet::recycled(0, JUMBO_CAPACITY + 1, 0).buffer_len(), JUMBO_CAPACITY + 64);
        assert_eq!(Packet::recycled(0, JUMBO_LEAST, 0).buffer_len(), JUMBO_LEAST);
    }
}
