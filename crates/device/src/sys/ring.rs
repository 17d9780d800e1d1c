//! The memory-mapped receive ring of a packet socket, version 2 (`TPACKET_V2`).
//!
//! The kernel writes each frame into the next slot and sets the slot's status word; we read it in place and
//! clear the word, which gives the slot back. No system call is made per frame. Version 3 packs frames more
//! densely but hands over whole blocks, when full or after a timeout of at least one millisecond: a lone packet
//! would wait that long. Read first: the kernel's `Documentation/networking/packet_mmap.rst`.

use super::socket;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes the kernel may put before the link-layer header: slot header, address, alignment, offload header.
const SLOT_OVERHEAD: usize = 80;
/// The kernel allocates a ring in contiguous blocks of this size.
const BLOCK: usize = 64 * 1024;
/// `virtio_net_hdr` without the field for merged buffers.
pub(crate) const VNET_HEADER: usize = 10;

/// A mapped ring. It is valid on its own: the mapping keeps the memory alive even when the socket is closed.
pub(crate) struct Ring {
    memory: NonNull<u8>,
    length: usize,
    slot_size: usize,
    slots_per_block: usize,
    slots: usize,
    next: usize,
}

// SAFETY: the mapping is owned by this value alone and is not tied to the thread that made it.
unsafe impl Send for Ring {}

/// One received frame, still in the ring. Dropping it gives the slot back to the kernel.
pub(crate) struct Slot<'r> {
    header: NonNull<libc::tpacket2_hdr>,
    size: usize,
    ring: &'r mut Ring,
}

/// What the kernel says about a frame.
#[derive(Clone, Copy)]
pub(crate) struct SlotFacts {
    pub(crate) status: u32,
    /// Length on the wire.
    pub(crate) length: usize,
    pub(crate) seconds: u32,
    pub(crate) nanoseconds: u32,
    pub(crate) vlan_tci: u16,
    pub(crate) vlan_tpid: u16,
    /// `PACKET_HOST` and so on.
    pub(crate) packet_type: u8,
}

impl Ring {
    /// Gives `fd` (with `PACKET_VERSION` 2 already set) a ring of about `bytes`, with room in each slot for
    /// frames of `frame` bytes, and maps it.
    pub(crate) fn map(fd: BorrowedFd<'_>, frame: usize, bytes: usize) -> io::Result<Ring> {
        let slot_size = slot_size(frame);
        let slots_per_block = BLOCK / slot_size;
        let blocks = (bytes / BLOCK).max(2);
        let slots = slots_per_block * blocks;
        let geometry = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_size as u32,
            tp_frame_nr: slots as u32,
        };
        socket::set_receive_ring(fd, geometry)?;
        let memory = map_shared(fd, blocks * BLOCK)?;
        Ok(Ring { memory, length: blocks * BLOCK, slot_size, slots_per_block, slots, next: 0 })
    }

    /// The oldest frame that was not taken yet.
    ///
    /// The next slots are not loaded ahead: most of the time the kernel is just writing them on another core,
    /// and to take their cache lines away from it halved the throughput.
    pub(crate) fn next(&mut self) -> Option<Slot<'_>> {
        let header = self.header(self.next);
        // SAFETY: the status word is inside the mapping, aligned, and shared with the kernel: an atomic.
        let status = unsafe { AtomicU32::from_ptr(header.cast::<u32>().as_ptr()) };
        let filled = status.load(Ordering::Acquire) & libc::TP_STATUS_USER != 0;
        // Built only if filled: a slot that is dropped goes back to the kernel.
        if filled { Some(Slot { header, size: self.slot_size, ring: self }) } else { None }
    }

    fn header(&self, slot: usize) -> NonNull<libc::tpacket2_hdr> {
        let offset = slot / self.slots_per_block * BLOCK + slot % self.slots_per_block * self.slot_size;
        debug_assert!(slot < self.slots && offset + self.slot_size <= self.length);
        // SAFETY: `slot < slots`, so the whole slot lies inside the mapping; slots are aligned to cache lines.
        unsafe { self.memory.byte_add(offset).cast() }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `map_shared` mapped; no slot can outlive the ring.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}

impl Slot<'_> {
    /// What the kernel says about this frame.
    pub(crate) fn facts(&self) -> SlotFacts {
        let header = self.read_header();
        SlotFacts {
            status: header.tp_status,
            length: header.tp_len as usize,
            seconds: header.tp_sec,
            nanoseconds: header.tp_nsec,
            vlan_tci: header.tp_vlan_tci,
            vlan_tpid: header.tp_vlan_tpid,
            packet_type: self.packet_type(),
        }
    }

    /// The offload header that precedes the frame (present if `PACKET_VNET_HDR` is set), and the frame's bytes.
    pub(crate) fn bytes(&mut self) -> ([u8; VNET_HEADER], &mut [u8]) {
        let header = self.read_header();
        let start = (header.tp_mac as usize).clamp(VNET_HEADER, self.size);
        let length = (header.tp_snaplen as usize).min(self.size - start);
        let slot: *mut u8 = self.header.cast().as_ptr();
        // SAFETY: `start + length <= size`, so both ranges lie inside this slot; while its status says "user"
        // the kernel does not touch it, and we borrow it exclusively through `self`.
        unsafe {
            let offload = slot.add(start - VNET_HEADER).cast::<[u8; VNET_HEADER]>().read();
            (offload, slice::from_raw_parts_mut(slot.add(start), length))
        }
    }

    fn read_header(&self) -> libc::tpacket2_hdr {
        // SAFETY: inside the mapping and aligned; the kernel does not write to a slot whose status says "user".
        unsafe { self.header.as_ptr().read() }
    }

    fn packet_type(&self) -> u8 {
        let address = size_of::<libc::tpacket2_hdr>();
        // SAFETY: a sockaddr_ll follows the header at its aligned size, inside the slot.
        let address = unsafe { self.header.byte_add(address).cast::<libc::sockaddr_ll>().read_unaligned() };
        address.sll_pkttype
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `Ring::next`.
        let status = unsafe { AtomicU32::from_ptr(self.header.cast::<u32>().as_ptr()) };
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        let following = self.ring.next + 1;
        self.ring.next = if following == self.ring.slots { 0 } else { following };
    }
}

/// Slots are an odd number of cache lines, so that the headers of successive slots fall into different sets of
/// the cache: with slots of a power of two, a few sets would hold them all.
fn slot_size(frame: usize) -> usize {
    let lines = (SLOT_OVERHEAD + frame).div_ceil(64) | 1;
    (lines * 64).min(BLOCK)
}

fn map_shared(fd: BorrowedFd<'_>, length: usize) -> io::Result<NonNull<u8>> {
    use rustix::mm::{MapFlags, ProtFlags};
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh mapping at an address of the kernel's choice cannot alias memory of ours.
    let memory = unsafe { rustix::mm::mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, fd, 0)? };
    NonNull::new(memory.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_the_frame_and_are_an_odd_number_of_lines() {
        for frame in [14, 60, 1414, 1518, 4096, 9018] {
            let size = slot_size(frame);
            assert!(size >= frame + SLOT_OVERHEAD, "{frame}");
            assert_eq!(size / 64 % 2, 1, "{frame}");
        }
    }
}
