//! Packets in: IP header, TCP header, checksum, then the connection, the listener, or nobody.
//!
//! RFC 9293 §3.10.7 begins where this ends. Text is not copied, the segment owns the packet; but short text is
//! (`crumbs.rs`).

use clickwork_packet::Packet;

use super::TcpStack;
use super::counters::Drops;
use super::flow::{Flow, is_unicast};
use super::inner::Inner;
use super::ip::{self, Datagram, Reason, TCP, pseudo_sum};
use super::sum;
use super::types::Received;
use crate::abi::{Segment, event, state};

/// Bytes of a TCP header without options.
const HEADER: usize = 20;
/// Text up to this length is copied, so that its packet need not be kept: a quarter of the smallest buffer.
const SHORT: usize = SMALL_BUFFER / 4;
/// The smallest buffer that a packet can have.
const SMALL_BUFFER: usize = clickwork_packet::STANDARD_CAPACITY;
/// In the flags.
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// What a segment's header says besides its ports, and where its text lies.
struct Header {
    seqno: u32,
    ackno: u32,
    flags: u8,
    window: u16,
    urgent: u16,
    /// Bytes, with options.
    length: u8,
}

impl TcpStack {
    /// An IP packet came in.
    pub fn receive(&mut self, now: u64, packet: Packet, received: Received) {
        self.inner_mut().counters.activity.packets_in += 1;
        if let Err(reason) = self.take_in(now, packet, received) {
            *reason(&mut self.inner_mut().counters.drops) += 1;
        }
    }

    #[inline]
    fn take_in(&mut self, now: u64, packet: Packet, received: Received) -> Result<(), Reason> {
        let datagram = ip::parse(packet.data())?;
        self.inner().check_addresses(&datagram)?;
        match (datagram.protocol, datagram.family) {
            (TCP, _) => self.take_segment(now, packet, &datagram, received),
            (ip::ICMP, super::flow::V4) | (ip::ICMP6, super::flow::V6) => {
                self.take_icmp(now, &packet, &datagram)
            }
            _ => Err(|drops| &mut drops.protocol),
        }
    }

    #[inline]
    fn take_segment(
        &mut self,
        now: u64,
        packet: Packet,
        datagram: &Datagram,
        received: Received,
    ) -> Result<(), Reason> {
        let bytes = &packet.data()[datagram.offset..datagram.end];
        let (flow, header) = parse_tcp(bytes, datagram)?;
        if !received.checksum_verified && !sums_up(bytes, datagram) {
            return Err(|drops| &mut drops.tcp_checksum);
        }
        let segment = self.inner_mut().make_segment(packet, datagram, &header, received.segment_size);
        if segment.is_null() {
            return Err(|drops| &mut drops.memory);
        }
        self.inner_mut().current = Some(flow);
        self.dispatch(now, &flow, &header, segment);
        self.inner_mut().current = None;
        Ok(())
    }

    /// Gives a segment to the connection between its ends, or to who listens there, or answers that there is nobody.
    #[inline]
    fn dispatch(&mut self, now: u64, flow: &Flow, header: &Header, segment: *mut Segment) {
        if let Some(index) = self.inner().table.lookup(flow) {
            self.inner_mut().counters.activity.resets_in += u64::from(header.flags & RST != 0);
            // SAFETY: the slot is in use, and no entry runs.
            let before = unsafe { (*self.tcb(index)).state };
            // SAFETY: the slot is in use, the segment in order, and the TCP takes it.
            let events =
                self.enter(index, |entries, tcb| unsafe { (entries.segment_arrives)(tcb, segment, now) });
            if events & event::REOPEN == 0 {
                self.inner_mut().count_dropped(events, header.flags, before);
                return;
            }
            // RFC 9293 §3.6.1, RFC 6191: TIME-WAIT has made room for a new connection, and the segment is ours again.
            self.inner_mut().counters.activity.time_wait_reused += 1;
        }
        if let Some(index) = self.inner().listeners.lookup(flow) {
            // SAFETY: as above.
            let events =
                self.enter(index, |entries, tcb| unsafe { (entries.listen_arrives)(tcb, segment, now) });
            self.inner_mut().count_dropped(events, header.flags, state::LISTEN);
            return;
        }
        self.inner_mut().counters.drops.stray_reset += u64::from(header.flags & RST != 0);
        let stack = self.handle();
        // SAFETY: the segment is in order and the TCP takes it.
        unsafe { (self.program.entries().refuse)(stack, segment) };
    }
}

impl Inner {
    /// RFC 9293 §3.9.2.3: what is not from one host to one of our addresses is dropped.
    fn check_addresses(&self, datagram: &Datagram) -> Result<(), Reason> {
        let Datagram { family, source, destination, .. } = datagram;
        // An ICMP message may come from any router, but a router too has an address.
        if !is_unicast(*family, source) || !is_unicast(*family, destination) {
            return Err(|drops| &mut drops.address);
        }
        if !self.is_ours(*family, destination) {
            return Err(|drops| &mut drops.not_ours);
        }
        Ok(())
    }

    /// Counts a segment that a connection or listener dropped which was in this state before. What ended the connection is
    /// no drop.
    #[inline]
    fn count_dropped(&mut self, events: u32, flags: u8, state: u8) {
        if events & (event::DROPPED | event::CLOSED) == event::DROPPED {
            *dropped(&mut self.counters.drops, flags, state) += 1;
        }
    }

    /// A segment made of the packet; null if there is none left.
    #[inline]
    fn make_segment(
        &mut self,
        packet: Packet,
        datagram: &Datagram,
        header: &Header,
        merged: u16,
    ) -> *mut Segment {
        let segment = self.pool.take();
        if segment.is_null() {
            return segment;
        }
        let text = datagram.offset + usize::from(header.length);
        let length = (datagram.end - text) as u32;
        let merged = if merged == 0 { 1 } else { length.div_ceil(u32::from(merged)).clamp(1, 0xFFFF) };
        self.counters.activity.segments_in += u64::from(merged);
        self.counters.activity.bytes_in += u64::from(length);
        // SAFETY: the segment is ours alone until it is given to the TCP.
        unsafe {
            self.put_text(segment, packet, datagram, text);
            (*segment).seqno = header.seqno;
            (*segment).ackno = header.ackno;
            (*segment).window = header.window;
            (*segment).urgent = header.urgent;
            (*segment).flags = header.flags;
            (*segment).header_length = header.length;
            (*segment).length = length;
            (*segment).ecn = datagram.ecn;
            (*segment).merged = merged as u16;
        }
        segment
    }

    /// Gives a segment the packet, or a crumb with what matters of it: a segment in a queue keeps its buffer, while the
    /// window counts its text. A segment without text goes into no queue.
    ///
    /// # Safety
    /// The segment is ours alone.
    #[inline]
    unsafe fn put_text(&mut self, segment: *mut Segment, packet: Packet, datagram: &Datagram, text: usize) {
        let length = datagram.end - text;
        let crumb = match length > 0 && length <= SHORT {
            true => self.pool.crumbs.take(&packet.data()[datagram.offset..datagram.end]),
            false => None,
        };
        // SAFETY: the caller's. Pointers into the buffer stay right while the segment has the packet, and nobody writes
        // the bytes; those into the crumb, until the segment is given back.
        unsafe {
            if let Some((crumb, size)) = crumb {
                (*segment).buffer = size;
                (*segment).header = crumb;
                (*segment).data = crumb.add(text - datagram.offset);
                return;
            }
            let packet = self.shrink(packet, datagram.end);
            let bytes = packet.data().as_ptr();
            (*segment).data = bytes.add(text);
            (*segment).header = bytes.add(datagram.offset);
            (*segment).packet = Some(packet);
        }
    }

    /// A packet with much more buffer than data gets a smaller one.
    #[inline]
    fn shrink(&mut self, packet: Packet, end: usize) -> Packet {
        if packet.buffer_len() <= SMALL_BUFFER || packet.buffer_len() / 4 <= end {
            return packet;
        }
        self.counters.activity.buffers_shrunk += 1;
        Packet::with_room(0, &packet.data()[..end], 0)
    }
}

/// Why a segment with these flags is dropped in this state.
#[cold]
fn dropped(drops: &mut Drops, flags: u8, state: u8) -> &mut u64 {
    match state {
        state::LISTEN if flags & RST == 0 && flags & (SYN | ACK) != 0 => &mut drops.backlog,
        state::LISTEN => &mut drops.listener,
        _ if flags & RST != 0 => &mut drops.reset,
        _ if flags & ACK == 0 && flags & SYN == 0 => &mut drops.no_ack,
        state::SYN_RECEIVED if flags & SYN == 0 => &mut drops.backlog,
        _ => &mut drops.unacceptable,
    }
}

/// Takes the TCP header apart (RFC 9293 §3.1), and says whose segment it is.
#[inline]
fn parse_tcp(bytes: &[u8], datagram: &Datagram) -> Result<(Flow, Header), Reason> {
    let Some(fixed) = bytes.first_chunk::<HEADER>() else { return Err(|drops| &mut drops.truncated) };
    let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let long = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let length = usize::from(fixed[12] >> 4) * 4;
    let (remote_port, local_port) = (word(0), word(2));
    if length < HEADER || length > bytes.len() || remote_port == 0 || local_port == 0 {
        return Err(|drops| &mut drops.tcp_header);
    }
    let flow = Flow {
        family: datagram.family,
        local: datagram.destination,
        remote: datagram.source,
        local_port,
        remote_port,
    };
    let header = Header {
        seqno: long(4),
        ackno: long(8),
        flags: fixed[13],
        window: word(14),
        urgent: word(18),
        length: length as u8,
    };
    Ok((flow, header))
}

/// Whether the checksum over pseudo-header, header and text is right.
#[inline]
fn sums_up(bytes: &[u8], datagram: &Datagram) -> bool {
    let pseudo = pseudo_sum(&datagram.source, &datagram.destination, TCP, bytes.len());
    sum::fold(pseudo + u64::from(sum::sum(bytes))) == 0xFFFF
}

/// States in which a connection has text that the user may still read, or the end of it.
pub(super) fn peer_is_done(state: u8) -> bool {
    matches!(state, state::CLOSE_WAIT | state::CLOSING | state::LAST_ACK | state::TIME_WAIT | state::CLOSED)
}
