//! Buffers: one allocation that holds a packet's header block and its bytes.
//!
//! A buffer is a 128-byte [`Block`] followed by storage. The first cache line of the block holds what
//! every element touches (where the data is, header positions, the first annotations); the second holds
//! the rest. This module and `pool` are the only places of the crate that use `unsafe`.
//!
//! A block is *live* while its reference count is above zero. The count covers the owning [`Packet`]
//! handle and every clone that borrows the block's storage, so a clone may outlive the original.
//!
//! [`Packet`]: crate::Packet

use crate::packet::PacketType;
use crate::pool::{self, SizeClass};
use crate::prefetch;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// An unset header position.
pub(crate) const UNSET: u32 = u32::MAX;
/// Bytes of annotations that a packet carries, as in Click.
pub const ANNO_SIZE: usize = 48;

/// What only the packet's own handle reads and writes. Positions count from the start of the storage in use.
#[repr(C)]
pub(crate) struct Meta {
    storage: NonNull<u8>,
    start: u32,
    len: u32,
    /// Position of the link-level header, or `UNSET`.
    pub mac: u32,
    /// Position of the network header, or `UNSET`.
    pub network: u32,
    /// Position of the transport header, or `UNSET`.
    pub transport: u32,
    /// Who the packet was addressed to at link level.
    pub packet_type: PacketType,
    borrowed: bool,
    size_class: SizeClass,
    /// The annotation bytes, with Click's layout; they begin in the first cache line.
    pub annotations: [u8; ANNO_SIZE],
    /// Nanoseconds since the epoch, 0 if unset.
    pub timestamp: i64,
    owner: *mut Block,
    capacity: u32,
    own_capacity: u32,
}

/// What precedes the storage of every buffer. The count stands apart from the rest because clones in other
/// threads change it.
#[repr(C, align(64))]
pub(crate) struct Block {
    refs: AtomicU32,
    meta: Meta,
}

const _: () = assert!(size_of::<Block>() == pool::BLOCK_SIZE);
const _: () = assert!(std::mem::offset_of!(Block, meta) + std::mem::offset_of!(Meta, annotations) <= 40);

/// An owning pointer to a live block.
#[repr(transparent)]
pub(crate) struct BlockPtr(NonNull<Block>);

// SAFETY: a block is reached only through its handles; the reference count is atomic, and storage that
// more than one handle can reach is never written (`Packet::make_unique` copies it first).
unsafe impl Send for BlockPtr {}
// SAFETY: as above; shared access through `&BlockPtr` only reads.
unsafe impl Sync for BlockPtr {}

impl BlockPtr {
    /// A fresh block with at least `capacity` bytes of its own storage, nothing set, `start` at `headroom`.
    #[inline]
    pub fn allocate(headroom: u32, len: u32, capacity: usize) -> Self {
        let (block, class, own) = pool::allocate(capacity);
        // SAFETY: the pool's blocks have storage behind them.
        let storage = unsafe { block.cast::<u8>().add(pool::BLOCK_SIZE) };
        assert!(headroom as usize + len as usize <= own as usize);
        let meta = Meta {
            storage,
            start: headroom,
            len,
            mac: UNSET,
            network: UNSET,
            transport: UNSET,
            packet_type: PacketType::Host,
            borrowed: false,
            size_class: class,
            annotations: [0; ANNO_SIZE],
            timestamp: 0,
            owner: std::ptr::null_mut(),
            capacity: own,
            own_capacity: own,
        };
        // SAFETY: the pool hands out memory for a block and `own` bytes after it, which nobody else holds.
        unsafe { block.as_ptr().write(Block { refs: AtomicU32::new(1), meta }) };
        BlockPtr(block)
    }

    /// A second block over the same storage, with the same positions and annotations.
    pub fn share(&self) -> Self {
        let mut copy = BlockPtr::allocate(0, 0, 0);
        let owner = if self.borrowed { self.owner } else { self.0.as_ptr() };
        // `.ci/sanitizers` leaves this out, and expects that the use of freed memory that follows is found.
        if cfg!(not(clickwork_seeded_fault)) {
            // SAFETY: `owner` is live: its storage is the one this handle uses.
            unsafe { (*owner).refs.fetch_add(1, Ordering::Relaxed) };
        }
        let (size_class, own_capacity) = (copy.size_class, copy.own_capacity);
        *copy = Meta { borrowed: true, owner, size_class, own_capacity, ..**self };
        copy
    }

    /// Whether another handle can reach the storage in use.
    #[inline]
    pub fn is_shared(&self) -> bool {
        let holder = if self.borrowed { self.owner } else { self.0.as_ptr() };
        // SAFETY: this block is live, and a borrowed block keeps its owner live.
        unsafe { (*holder).refs.load(Ordering::Acquire) > 1 }
    }

    /// Position of the first data byte.
    #[inline]
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Bytes of data.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Bytes of storage in use.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Moves the window of data within the storage in use.
    ///
    /// # Panics
    /// If the window would leave the storage: a bug of the caller, which must have checked the room.
    #[inline]
    pub fn set_window(&mut self, start: u32, len: u32) {
        assert!(u64::from(start) + u64::from(len) <= u64::from(self.capacity));
        self.start = start;
        self.len = len;
    }

    /// Moves the end of the window, and its start, inwards by so many bytes; by all there are, if there are fewer. Unlike
    /// `set_window` this needs no check.
    #[inline]
    pub fn narrow(&mut self, front: u32, back: u32) {
        let front = front.min(self.len);
        self.start += front;
        self.len -= front;
        self.len -= back.min(self.len);
    }

    /// Moves the end of the window inwards, so that no more than `len` bytes are left.
    #[inline]
    pub fn truncate(&mut self, len: u32) {
        self.len = self.len.min(len);
    }

    /// Moves the start of the window so many bytes outwards, or says that there is less room.
    #[inline]
    pub fn widen(&mut self, front: u32) -> bool {
        let Some(start) = self.start.checked_sub(front) else { return false };
        (self.start, self.len) = (start, self.len + front);
        true
    }

    /// Moves the start of the window `N` bytes outwards and gives those bytes for writing; or does nothing, if there is
    /// less room or another handle can see the bytes.
    #[inline]
    pub fn widen_front<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        let start = self.start.checked_sub(N as u32)?;
        if self.is_shared() {
            return None;
        }
        (self.start, self.len) = (start, self.len + N as u32);
        // SAFETY: the `N` bytes from `start` lie within the storage, which nobody else reaches (as in `data_mut`), and an
        // array of bytes may lie anywhere.
        Some(unsafe { &mut *self.storage.as_ptr().add(start as usize).cast::<[u8; N]>() })
    }

    /// Moves the end of the window so many bytes outwards and gives those bytes for writing; or does nothing, as above.
    #[inline]
    pub fn widen_back(&mut self, back: usize) -> Option<&mut [u8]> {
        let end = self.start + self.len;
        if back > (self.capacity - end) as usize || self.is_shared() {
            return None;
        }
        self.len += back as u32;
        // SAFETY: the bytes from `end` on lie within the storage, which nobody else reaches (as in `data_mut`).
        Some(unsafe { std::slice::from_raw_parts_mut(self.storage.as_ptr().add(end as usize), back) })
    }

    /// The data bytes.
    #[inline]
    pub fn data(&self) -> &[u8] {
        // SAFETY: the window lies within the storage (`set_window` and its relatives), which lives as long as a handle to it does, was
        // zeroed when the system gave it, and is never written while two handles can reach it.
        unsafe {
            std::slice::from_raw_parts(self.storage.as_ptr().add(self.start as usize), self.len as usize)
        }
    }

    /// The data bytes for writing, or nothing if another handle can see them.
    #[inline]
    pub fn data_mut(&mut self) -> Option<&mut [u8]> {
        if self.is_shared() {
            return None;
        }
        // SAFETY: as in `data`, and no other handle reaches the storage.
        Some(unsafe {
            std::slice::from_raw_parts_mut(self.storage.as_ptr().add(self.start as usize), self.len as usize)
        })
    }

    /// The data bytes for writing. If another handle can see them, `separate` must first give this one storage of its
    /// own. Sharing is looked up once: this is on the path of every element that writes.
    #[inline]
    pub fn data_mut_or(&mut self, separate: impl FnOnce(&mut Self)) -> &mut [u8] {
        if self.is_shared() {
            separate(self);
            assert!(!self.is_shared(), "the data were to be copied");
        }
        // SAFETY: as in `data_mut`: the storage is not shared, and nobody can come to share it while `self` is borrowed.
        unsafe {
            std::slice::from_raw_parts_mut(self.storage.as_ptr().add(self.start as usize), self.len as usize)
        }
    }

    /// The whole storage in use.
    pub fn storage(&self) -> &[u8] {
        // SAFETY: as in `data`.
        unsafe { std::slice::from_raw_parts(self.storage.as_ptr(), self.capacity as usize) }
    }

    /// The whole storage in use for writing, or nothing if another handle can see it.
    pub fn storage_mut(&mut self) -> Option<&mut [u8]> {
        if self.is_shared() {
            return None;
        }
        // SAFETY: as in `data_mut`.
        Some(unsafe { std::slice::from_raw_parts_mut(self.storage.as_ptr(), self.capacity as usize) })
    }

    /// Asks the processor to load both lines of the block and the first line behind it, where the data of a packet with
    /// little headroom begin. The block itself is not read, so this costs nothing if it is not in the cache.
    #[inline]
    pub fn prefetch(&self) {
        let block = self.0.as_ptr().cast::<u8>();
        prefetch::address(block);
        prefetch::address(block.wrapping_add(64));
        prefetch::address(block.wrapping_add(pool::BLOCK_SIZE));
    }

    #[inline]
    fn release(block: NonNull<Block>) {
        // SAFETY: the caller gives up one of the counted references to a live block.
        unsafe {
            let p = block.as_ptr();
            if (*p).refs.load(Ordering::Acquire) != 1 && (*p).refs.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            fence(Ordering::Acquire);
            pool::free(block, (*p).meta.size_class, (*p).meta.own_capacity);
        }
    }
}

impl std::ops::Deref for BlockPtr {
    type Target = Meta;
    #[inline]
    fn deref(&self) -> &Meta {
        // SAFETY: the block is live while a handle exists, and only this handle writes `meta`.
        unsafe { &(*self.0.as_ptr()).meta }
    }
}

impl std::ops::DerefMut for BlockPtr {
    #[inline]
    fn deref_mut(&mut self) -> &mut Meta {
        // SAFETY: as above; clones of this packet touch only `refs` and the storage.
        unsafe { &mut (*self.0.as_ptr()).meta }
    }
}

impl Drop for BlockPtr {
    #[inline]
    fn drop(&mut self) {
        if self.borrowed
            && let Some(owner) = NonNull::new(self.owner)
        {
            BlockPtr::release(owner);
        }
        BlockPtr::release(self.0);
    }
}
