//! The packet: an owning handle to a buffer, with Click's vocabulary for room, headers and annotations.
//!
//! A packet's data is a window in its buffer: *headroom* before it, *tailroom* behind it. Elements strip
//! headers by moving the window and add them by moving it back. Data is copy on write: [`Packet::clone`]
//! shares it, and the first write to shared data copies.
#![forbid(unsafe_code)]

use crate::addr::{Ipv4Address, Ipv6Address};
use crate::anno::{self, Anno};
use crate::buffer::{ANNO_SIZE, BlockPtr, UNSET};
use crate::time::Timestamp;

/// Bytes kept free before the data of a packet made here, so that headers can be added without a copy.
pub const DEFAULT_HEADROOM: usize = 28;

/// Who the link-level header addresses, as the device saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum PacketType {
    /// To this host.
    #[default]
    Host = 0,
    /// To everybody.
    Broadcast = 1,
    /// To a group.
    Multicast = 2,
    /// To another host, seen in promiscuous mode.
    OtherHost = 3,
    /// Sent by this host.
    Outgoing = 4,
    /// Looped back.
    Loopback = 5,
    /// Fast route.
    FastRoute = 6,
}

/// A packet. Eight bytes; dropping it returns its buffer to the pool.
#[repr(transparent)]
pub struct Packet(BlockPtr);

impl Packet {
    /// A packet with a copy of `data`, the default headroom and whatever tailroom the buffer has.
    #[inline]
    pub fn new(data: &[u8]) -> Packet {
        Packet::with_room(DEFAULT_HEADROOM, data, 0)
    }

    /// A packet with a copy of `data` and at least the given room before and behind it.
    #[inline]
    pub fn with_room(headroom: usize, data: &[u8], tailroom: usize) -> Packet {
        let mut p = Packet::allocate(headroom, data.len(), tailroom);
        if let Some(bytes) = p.0.data_mut() {
            bytes.copy_from_slice(data);
        }
        p
    }

    /// A packet of `len` zero bytes.
    pub fn zeroed(headroom: usize, len: usize, tailroom: usize) -> Packet {
        let mut p = Packet::allocate(headroom, len, tailroom);
        p.data_mut().fill(0);
        p
    }

    /// A packet whose data is whatever the buffer held last. For devices, which overwrite it at once.
    pub fn recycled(headroom: usize, len: usize, tailroom: usize) -> Packet {
        Packet::allocate(headroom, len, tailroom)
    }

    #[inline]
    fn allocate(headroom: usize, len: usize, tailroom: usize) -> Packet {
        Packet(BlockPtr::allocate(headroom as u32, len as u32, headroom + len + tailroom))
    }

    // ---- data

    /// The data.
    #[inline]
    pub fn data(&self) -> &[u8] {
        self.0.data()
    }

    /// The data for writing; copied first if another packet shares it.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [u8] {
        self.0.data_mut_or(|block| {
            let (headroom, tailroom) = (block.start(), block.capacity() - block.start() - block.len());
            rebuild(block, headroom as usize, tailroom as usize, 0);
        })
    }

    /// The data for writing, unless another packet shares it: never copies.
    #[inline]
    pub fn unshared_data_mut(&mut self) -> Option<&mut [u8]> {
        self.0.data_mut()
    }

    /// Bytes of data.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len() as usize
    }

    /// Whether there is no data.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Bytes free before the data.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.0.start() as usize
    }

    /// Bytes free behind the data.
    #[inline]
    pub fn tailroom(&self) -> usize {
        (self.0.capacity() - self.0.start() - self.0.len()) as usize
    }

    /// Bytes of the whole buffer.
    pub fn buffer_len(&self) -> usize {
        self.0.capacity() as usize
    }

    /// Whether another packet shares the data.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// Removes `n` bytes from the front (all of them if there are fewer).
    #[inline]
    pub fn pull(&mut self, n: usize) {
        self.0.narrow(n.min(self.len()) as u32, 0);
    }

    /// Removes `n` bytes from the end (all of them if there are fewer).
    #[inline]
    pub fn take(&mut self, n: usize) {
        self.0.narrow(0, n.min(self.len()) as u32);
    }

    /// Keeps the first `n` bytes (all if there are fewer).
    #[inline]
    pub fn truncate(&mut self, n: usize) {
        self.0.truncate(n.min(self.len()) as u32);
    }

    /// Adds `n` bytes to the front and returns the data for writing. The new bytes hold what was there.
    #[inline]
    pub fn push(&mut self, n: usize) -> &mut [u8] {
        if n > self.headroom() || self.0.is_shared() {
            self.unshare(n.saturating_sub(self.headroom()), 0);
        }
        self.reveal(n);
        self.data_mut()
    }

    /// Adds `N` bytes to the front and returns those for writing; does nothing if that would take a copy.
    #[inline]
    pub fn unshared_push<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.0.widen_front()
    }

    /// Adds `n` bytes to the front without claiming the data for writing: undoes `pull`.
    #[inline]
    pub fn unpull(&mut self, n: usize) {
        if n > self.headroom() {
            self.unshare(n - self.headroom(), 0);
        }
        self.reveal(n);
    }

    #[inline]
    fn reveal(&mut self, n: usize) {
        let is_there = self.0.widen(n as u32);
        debug_assert!(is_there, "room was to be made");
    }

    /// Adds `n` bytes to the end and returns those for writing; does nothing if that would take a copy.
    #[inline]
    pub fn unshared_put(&mut self, n: usize) -> Option<&mut [u8]> {
        self.0.widen_back(n)
    }

    /// Adds `n` bytes to the end and returns the data for writing. The new bytes hold what was there.
    #[inline]
    pub fn put(&mut self, n: usize) -> &mut [u8] {
        if n > self.tailroom() || self.0.is_shared() {
            self.unshare(0, n.saturating_sub(self.tailroom()));
        }
        let (start, len) = (self.0.start(), self.0.len() + n as u32);
        self.0.set_window(start, len);
        self.data_mut()
    }

    /// Moves the data into a buffer of its own with at least `front` and `back` more bytes of room than now. The data lie
    /// as before with respect to multiples of 8, so that what `click-align` says about packets holds for copies too.
    fn unshare(&mut self, front: usize, back: usize) {
        let front = front.next_multiple_of(8);
        let (headroom, tailroom) = (self.headroom() + front, self.tailroom() + back);
        rebuild(&mut self.0, headroom, tailroom, front as i64);
    }

    /// Copies the packet into a new buffer with exactly this headroom and at least this tailroom; header positions
    /// move with the data.
    pub fn reallocate(&mut self, headroom: usize, tailroom: usize) {
        let shift = headroom as i64 - self.headroom() as i64;
        rebuild(&mut self.0, headroom, tailroom, shift);
    }

    /// Moves the data `offset` bytes within the buffer (negative: towards the front), making room as needed. Header
    /// positions move along.
    pub fn shift_data(&mut self, offset: isize) {
        let headroom = self.headroom() as isize + offset;
        let extra = (-headroom).max(0) as usize;
        self.reallocate(headroom.max(0) as usize, self.tailroom() + extra);
    }

    // ---- headers

    #[inline]
    fn position(&self, offset: i32) -> u32 {
        self.0.start().checked_add_signed(offset).unwrap_or(UNSET)
    }

    #[inline]
    fn offset_of(&self, position: u32) -> Option<i32> {
        (position != UNSET).then(|| (i64::from(position) - i64::from(self.0.start())) as i32)
    }

    /// The data from a position on. An unset position lies behind all data.
    #[inline]
    fn bytes_from(&self, position: u32) -> Option<&[u8]> {
        let offset = position.checked_sub(self.0.start())?;
        self.data().get(offset as usize..)
    }

    #[inline]
    fn bytes_from_mut(&mut self, position: u32) -> Option<&mut [u8]> {
        let offset = position.checked_sub(self.0.start())?;
        self.data_mut().get_mut(offset as usize..)
    }

    /// Offset of the link-level header from the start of the data; negative if it was stripped.
    #[inline]
    pub fn mac_offset(&self) -> Option<i32> {
        self.offset_of(self.0.mac)
    }

    /// Marks the link-level header at `offset` from the start of the data.
    #[inline]
    pub fn set_mac_offset(&mut self, offset: i32) {
        self.0.mac = self.position(offset);
    }

    /// Marks a link-level header of `length` bytes at `offset` from the start of the data, and the network header behind
    /// it. The transport header stays where it is.
    #[inline]
    pub fn set_mac_header(&mut self, offset: i32, length: u32) {
        self.0.mac = self.position(offset);
        self.0.network = self.position(offset.saturating_add_unsigned(length));
    }

    /// The bytes from the link-level header to the end of the data, also if the header was stripped since.
    #[inline]
    pub fn mac_header(&self) -> Option<&[u8]> {
        let mac = self.0.mac;
        let end = self.0.start() + self.0.len();
        (mac != UNSET).then(|| self.0.storage().get(mac as usize..end as usize)).flatten()
    }

    /// Offset of the network header from the start of the data; negative if it was stripped.
    #[inline]
    pub fn network_offset(&self) -> Option<i32> {
        self.offset_of(self.0.network)
    }

    /// Marks the network header at `offset` and the transport header `length` bytes behind it.
    #[inline]
    pub fn set_network_header(&mut self, offset: i32, length: u32) {
        self.0.network = self.position(offset);
        self.0.transport = self.position(offset.saturating_add_unsigned(length));
    }

    /// Whether a network header is marked.
    #[inline]
    pub fn has_network_header(&self) -> bool {
        self.0.network != UNSET
    }

    /// The data from the network header on.
    #[inline]
    pub fn network_header(&self) -> Option<&[u8]> {
        self.bytes_from(self.0.network)
    }

    /// The data from the network header on, for writing.
    #[inline]
    pub fn network_header_mut(&mut self) -> Option<&mut [u8]> {
        self.bytes_from_mut(self.0.network)
    }

    /// The same, unless another packet shares the data: never copies.
    #[inline]
    pub fn unshared_network_header_mut(&mut self) -> Option<&mut [u8]> {
        let offset = self.0.network.checked_sub(self.0.start())?;
        self.unshared_data_mut()?.get_mut(offset as usize..)
    }

    /// The first `N` bytes from the network header on, for writing, unless another packet shares the data.
    #[inline]
    pub fn unshared_network_chunk_mut<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        let offset = self.0.network.checked_sub(self.0.start())? as usize;
        // One comparison, as offsets are far below the largest `usize`.
        self.unshared_data_mut()?.get_mut(offset..offset + N)?.first_chunk_mut()
    }

    /// The bytes from the network header to the end of the data, also if the header was stripped since.
    #[inline]
    pub fn network_bytes(&self) -> Option<&[u8]> {
        let end = self.0.start() + self.0.len();
        self.0.storage().get(self.0.network as usize..end as usize)
    }

    /// Bytes between the network and the transport header.
    #[inline]
    pub fn network_header_len(&self) -> Option<u32> {
        (self.has_network_header() && self.0.transport != UNSET)
            .then(|| self.0.transport.wrapping_sub(self.0.network))
    }

    /// Offset of the transport header from the start of the data.
    #[inline]
    pub fn transport_offset(&self) -> Option<i32> {
        self.offset_of(self.0.transport)
    }

    /// Marks the transport header at `offset` from the start of the data.
    #[inline]
    pub fn set_transport_offset(&mut self, offset: i32) {
        self.0.transport = self.position(offset);
    }

    /// The data from the transport header on.
    #[inline]
    pub fn transport_header(&self) -> Option<&[u8]> {
        self.bytes_from(self.0.transport)
    }

    /// The data from the transport header on, for writing.
    #[inline]
    pub fn transport_header_mut(&mut self) -> Option<&mut [u8]> {
        self.bytes_from_mut(self.0.transport)
    }

    /// Forgets the link-level header.
    pub fn clear_mac_header(&mut self) {
        self.0.mac = UNSET;
    }

    /// Forgets the network and transport headers.
    pub fn clear_network_header(&mut self) {
        self.0.network = UNSET;
        self.0.transport = UNSET;
    }

    // ---- annotations

    /// All annotation bytes.
    #[inline]
    pub fn annotations(&self) -> &[u8; ANNO_SIZE] {
        &self.0.annotations
    }

    /// All annotation bytes, for writing.
    #[inline]
    pub fn annotations_mut(&mut self) -> &mut [u8; ANNO_SIZE] {
        &mut self.0.annotations
    }

    /// The annotation byte at `offset`; 0 beyond the end.
    #[inline]
    pub fn anno_u8(&self, offset: u8) -> u8 {
        self.0.annotations.get(offset as usize).copied().unwrap_or(0)
    }

    /// Sets the annotation byte at `offset`, if there is one.
    #[inline]
    pub fn set_anno_u8(&mut self, offset: u8, value: u8) {
        if let Some(b) = self.0.annotations.get_mut(offset as usize) {
            *b = value;
        }
    }

    /// The annotation's bytes; empty if it does not lie within the 48 bytes.
    #[inline]
    pub fn anno_bytes(&self, a: Anno) -> &[u8] {
        self.0.annotations.get(a.offset as usize..a.offset as usize + a.size as usize).unwrap_or(&[])
    }

    /// The first four bytes of the annotation as a number in the machine's byte order.
    #[inline]
    pub fn anno_u32(&self, a: Anno) -> u32 {
        let o = a.offset as usize;
        self.0.annotations.get(o..o + 4).map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Sets four bytes of annotation in the machine's byte order.
    #[inline]
    pub fn set_anno_u32(&mut self, a: Anno, value: u32) {
        self.set_anno_bytes(a, &value.to_ne_bytes());
    }

    /// The first two bytes of the annotation as a number in the machine's byte order.
    #[inline]
    pub fn anno_u16(&self, a: Anno) -> u16 {
        let o = a.offset as usize;
        self.0.annotations.get(o..o + 2).map_or(0, |b| u16::from_ne_bytes([b[0], b[1]]))
    }

    /// Sets two bytes of annotation in the machine's byte order.
    #[inline]
    pub fn set_anno_u16(&mut self, a: Anno, value: u16) {
        self.set_anno_bytes(a, &value.to_ne_bytes());
    }

    /// Writes annotation bytes at the annotation's offset; what would lie beyond the 48 bytes is left out.
    #[inline]
    pub fn set_anno_bytes(&mut self, a: Anno, bytes: &[u8]) {
        let (from, room) = (a.offset as usize, ANNO_SIZE.saturating_sub(a.offset as usize));
        match self.0.annotations.get_mut(from..from + bytes.len()) {
            Some(to) => to.copy_from_slice(bytes),
            None => self.0.annotations[ANNO_SIZE - room..].copy_from_slice(&bytes[..room]),
        }
    }

    /// The Paint annotation.
    #[inline]
    pub fn paint(&self) -> u8 {
        self.0.annotations[anno::PAINT.offset as usize]
    }

    /// Sets the Paint annotation.
    #[inline]
    pub fn set_paint(&mut self, colour: u8) {
        self.0.annotations[anno::PAINT.offset as usize] = colour;
    }

    /// The destination IPv4 address annotation.
    #[inline]
    pub fn dst_ip(&self) -> Ipv4Address {
        let a = &self.0.annotations;
        Ipv4Address::from_octets([a[0], a[1], a[2], a[3]])
    }

    /// Sets the destination IPv4 address annotation.
    #[inline]
    pub fn set_dst_ip(&mut self, address: Ipv4Address) {
        self.0.annotations[..4].copy_from_slice(&address.octets());
    }

    /// The destination IPv6 address annotation, which shares its place with the IPv4 one.
    #[inline]
    pub fn dst_ip6(&self) -> Ipv6Address {
        let mut octets = [0; 16];
        octets.copy_from_slice(&self.0.annotations[..16]);
        Ipv6Address::from_octets(octets)
    }

    /// Sets the destination IPv6 address annotation.
    #[inline]
    pub fn set_dst_ip6(&mut self, address: Ipv6Address) {
        self.0.annotations[..16].copy_from_slice(&address.octets());
    }

    /// When the packet arrived, or zero.
    #[inline]
    pub fn timestamp(&self) -> Timestamp {
        Timestamp::from_nanos(self.0.timestamp)
    }

    /// Sets when the packet arrived.
    #[inline]
    pub fn set_timestamp(&mut self, t: Timestamp) {
        self.0.timestamp = t.nanos();
    }

    /// Who the link-level header addresses.
    #[inline]
    pub fn packet_type(&self) -> PacketType {
        self.0.packet_type
    }

    /// Sets who the link-level header addresses.
    #[inline]
    pub fn set_packet_type(&mut self, t: PacketType) {
        self.0.packet_type = t;
    }

    /// Forgets annotations, timestamp, packet type and header positions.
    pub fn clear_annotations(&mut self) {
        self.0.annotations = [0; ANNO_SIZE];
        self.0.timestamp = 0;
        self.0.packet_type = PacketType::Host;
        self.0.mac = UNSET;
        self.clear_network_header();
    }

    /// Takes over annotations, timestamp and packet type of another packet (not its header positions).
    pub fn copy_annotations(&mut self, other: &Packet) {
        self.0.annotations = other.0.annotations;
        self.0.timestamp = other.0.timestamp;
        self.0.packet_type = other.0.packet_type;
    }

    /// Asks the processor to load the packet's header block and the first bytes of its data, for work on it soon.
    #[inline]
    pub fn prefetch_all(&self) {
        self.0.prefetch();
    }

    /// Asks the processor to load the first bytes of the data, for a look at them soon.
    #[inline]
    pub fn prefetch(&self) {
        crate::prefetch::read(self.0.data());
    }
}

/// Moves the packet's data into a buffer of its own with this headroom and at least this tailroom; header positions
/// move by `shift`.
fn rebuild(block: &mut BlockPtr, headroom: usize, tailroom: usize, shift: i64) {
    let len = block.len();
    let mut new = BlockPtr::allocate(headroom as u32, len, headroom + len as usize + tailroom);
    // The bytes around the data come along: a header that was stripped can be put back.
    let (old_start, old) = (block.start() as usize, block.storage());
    let storage = new.storage_mut().expect("just allocated");
    let before = headroom.min(old_start);
    let behind = (old.len() - old_start).min(storage.len() - headroom);
    storage[headroom - before..headroom + behind]
        .copy_from_slice(&old[old_start - before..old_start + behind]);
    let moved = |position: u32| match position {
        UNSET => UNSET,
        p => u32::try_from(i64::from(p) + shift).unwrap_or(UNSET),
    };
    new.mac = moved(block.mac);
    new.network = moved(block.network);
    new.transport = moved(block.transport);
    new.packet_type = block.packet_type;
    new.annotations = block.annotations;
    new.timestamp = block.timestamp;
    *block = new;
}

impl Clone for Packet {
    /// A second packet with the same data, which both share until one of them writes.
    fn clone(&self) -> Packet {
        Packet(self.0.share())
    }
}

impl std::fmt::Debug for Packet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Packet({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_one_word() {
        assert_eq!(size_of::<Packet>(), 8);
        assert_eq!(size_of::<Option<Packet>>(), 8);
    }

    #[test]
    fn stripped_bytes_come_back() {
        let mut p = Packet::new(b"headdata");
        p.pull(4);
        assert_eq!(p.data(), b"data");
        p.unpull(4);
        assert_eq!(p.data(), b"headdata");
    }

    #[test]
    fn room_in_front_is_given_only_if_that_costs_no_copy() {
        let mut p = Packet::with_room(6, b"data", 0);
        p.set_network_header(0, 4);
        *p.unshared_push().unwrap() = *b"head";
        assert_eq!((p.data(), p.network_offset(), p.headroom()), (&b"headdata"[..], Some(4), 2));
        assert_eq!(p.unshared_push::<3>(), None);
        let _other = p.clone();
        assert_eq!(p.unshared_push::<2>(), None);
        assert_eq!(p.unshared_put(1), None);
        assert_eq!((p.data(), p.headroom()), (&b"headdata"[..], 2));
    }

    #[test]
    fn room_behind_is_given_only_if_there_is() {
        let mut p = Packet::new(b"data");
        let tailroom = p.tailroom();
        p.unshared_put(4).unwrap().copy_from_slice(b"tail");
        assert_eq!((p.data(), p.tailroom()), (&b"datatail"[..], tailroom - 4));
        assert_eq!(p.unshared_put(tailroom - 3), None);
        assert_eq!(p.unshared_put(tailroom - 4).map(|new| new.len()), Some(tailroom - 4));
    }

    #[test]
    fn more_than_there_is_cannot_be_removed() {
        let mut p = Packet::new(b"data");
        p.truncate(5);
        assert_eq!(p.len(), 4);
        p.truncate(3);
        assert_eq!(p.data(), b"dat");
        p.take(5);
        assert_eq!((p.len(), p.headroom()), (0, DEFAULT_HEADROOM));
        let mut p = Packet::new(b"data");
        p.pull(usize::MAX);
        assert_eq!((p.len(), p.headroom()), (0, DEFAULT_HEADROOM + 4));
    }

    #[test]
    fn a_header_that_there_was_no_room_for_leaves_packets_as_aligned_as_one_that_there_was() {
        for headroom in 0..20 {
            for n in 0..40 {
                let mut p = Packet::with_room(headroom, b"data", 0);
                let before = p.data().as_ptr().addr();
                p.push(n);
                assert_eq!(p.data().as_ptr().addr() % 8, before.wrapping_sub(n) % 8, "{headroom} {n}");
                assert_eq!(&p.data()[n..], b"data");
            }
        }
    }

    #[test]
    fn writing_a_clone_leaves_the_original_alone() {
        let a = Packet::new(b"abc");
        let mut b = a.clone();
        assert!(a.is_shared() && b.is_shared());
        b.data_mut()[0] = b'x';
        assert_eq!((a.data(), b.data()), (&b"abc"[..], &b"xbc"[..]));
        assert!(!a.is_shared());
    }

    #[test]
    fn a_clone_outlives_the_original() {
        let a = Packet::new(b"abc");
        let b = a.clone();
        let c = b.clone();
        drop(a);
        drop(b);
        assert_eq!(c.data(), b"abc");
        assert!(!c.is_shared());
    }

    #[test]
    fn push_beyond_the_headroom_moves_data_and_headers() {
        let mut p = Packet::with_room(2, b"iphdr", 0);
        p.set_network_header(0, 3);
        p.push(40)[..40].fill(7);
        assert_eq!(p.len(), 45);
        assert_eq!(p.network_header(), Some(&b"iphdr"[..]));
        assert_eq!(p.transport_header(), Some(&b"dr"[..]));
    }

    #[test]
    fn put_beyond_the_tailroom_keeps_data() {
        let mut p = Packet::new(b"abc");
        let room = p.tailroom();
        p.put(room + 100);
        assert_eq!(p.len(), room + 103);
        assert_eq!(&p.data()[..3], b"abc");
    }

    #[test]
    fn large_packets_work() {
        let p = Packet::zeroed(28, 65535, 0);
        assert_eq!(p.clone().len(), 65535);
    }

    #[test]
    fn pull_and_take_stop_at_the_ends() {
        let mut p = Packet::new(b"abc");
        p.take(9);
        p.pull(9);
        assert!(p.is_empty());
    }

    #[test]
    fn a_header_position_before_the_data_is_remembered_but_not_readable() {
        let mut p = Packet::new(b"ethernetip");
        p.set_mac_offset(0);
        p.pull(8);
        assert_eq!(p.mac_offset(), Some(-8));
        assert_eq!(p.mac_header(), Some(&b"ethernetip"[..]));
        assert_eq!(p.network_header(), None);
    }

    #[test]
    fn annotations_have_clicks_places() {
        let mut p = Packet::new(b"");
        p.set_paint(5);
        p.set_dst_ip(Ipv4Address::new(10, 0, 0, 1));
        p.set_anno_u32(anno::AGGREGATE, 77);
        assert_eq!(p.annotations()[16], 5);
        assert_eq!(p.annotations()[..4], [10, 0, 0, 1]);
        assert_eq!(p.clone().anno_u32(anno::AGGREGATE), 77);
        assert_eq!(p.anno_u32(Anno::new(46, 4)), 0);
    }

    #[test]
    fn packets_may_be_freed_by_another_thread() {
        let p = Packet::new(b"abc");
        let q = p.clone();
        std::thread::spawn(move || drop(p)).join().expect("no panic");
        assert_eq!(q.data(), b"abc");
    }
}
