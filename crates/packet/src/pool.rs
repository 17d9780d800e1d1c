//! The packet pool: free buffers kept per thread, so that a packet costs neither a lock nor a `malloc`.
//!
//! Buffers come in two classes. *Standard* buffers have 2 KiB of storage, enough for an Ethernet frame
//! with room to spare, and are recycled through a free list of the thread that frees them. *Large*
//! buffers (up to 64 KiB and beyond) come from the allocator and return to it.

use crate::buffer::Block;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr::NonNull;

/// Bytes before the storage of a buffer.
pub(crate) const BLOCK_SIZE: usize = 128;
/// Bytes of storage in a standard buffer.
pub const STANDARD_CAPACITY: usize = 2048;
/// Standard buffers that a thread keeps for itself; more are returned to the allocator.
const KEEP: usize = 1 << 16;

/// Where a buffer came from, and so where it returns to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum SizeClass {
    Standard,
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

#[cfg(debug_assertions)]
thread_local! {
    static IN_USE: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
}

/// How many buffers this thread has taken and not given back; negative if it gave back others' buffers. Only programs with debug
/// assertions count.
#[cfg(debug_assertions)]
pub fn buffers_in_use() -> i64 {
    IN_USE.get()
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
    }
    give_back(block, capacity);
}
