//! Segments out: the IP header goes in front, the checksum is completed, and long text is never copied.
//!
//! Short text is copied behind its headers. Else, if nobody else has the segment's buffer, the headers go into the room in front of its text: the packet is one piece,
//! and the queue keeps a clone that shows the text only. Otherwise (the layer below still has the packet that was sent
//! before, or another segment shares the buffer) headers and text are two pieces, which `Transmit::into_packet` joins.

use clickwork_packet::Packet;

use super::flow::{Flow, V4};
use super::inner::Inner;
use super::ip::{HOP_LIMIT, Outgoing, TCP, V4_HEADER, V6_HEADER, pseudo_sum};
use super::sum;
use super::types::Transmit;
use crate::abi::{self, Segment, state};

/// Room that buffers for text have in front: for IP and TCP headers with all options, and the link's.
pub(crate) const HEADROOM: usize = 16 + 60 + 60;
/// Text up to this length is copied behind its headers: that costs less than to share a buffer.
const COPY_BELOW: usize = 256;
/// Where the checksum stands in the TCP header.
const CHECKSUM: usize = 16;
/// RST in the TCP header's flags, which stand at byte 13.
const RST: u8 = 4;

/// What is sent besides text.
struct Headers<'a> {
    flow: Flow,
    ip: Outgoing<'a>,
    /// TCP header, checksum field 0.
    tcp: &'a [u8],
    /// What goes into the checksum field.
    checksum: u16,
}

/// What a connection has put into its IP headers.
struct Marks {
    identification: u16,
    flow_label: u32,
    dscp: u8,
    hop_limit: u8,
}

impl Marks {
    /// Of what belongs to no connection.
    const NONE: Marks = Marks { identification: 0, flow_label: 0, dscp: 0, hop_limit: HOP_LIMIT };
}

impl Headers<'_> {
    fn len(&self) -> usize {
        usize::from(self.flow.ip_header_length()) + self.tcp.len()
    }

    /// Writes both headers at the front of `to`.
    #[inline]
    fn write(&self, to: &mut [u8]) {
        let tcp = if self.flow.family == V4 {
            let (ip, rest) = to.split_first_chunk_mut::<V4_HEADER>().expect("room was made for it");
            self.ip.write_v4(ip);
            rest
        } else {
            let (ip, rest) = to.split_first_chunk_mut::<V6_HEADER>().expect("room was made for it");
            self.ip.write_v6(ip);
            rest
        };
        tcp[..self.tcp.len()].copy_from_slice(self.tcp);
        tcp[CHECKSUM..CHECKSUM + 2].copy_from_slice(&self.checksum.to_ne_bytes());
    }
}

impl Inner {
    /// Queues a packet with what the TCP says.
    ///
    /// # Safety
    /// As `environment.h` says of `tcp_transmit`: the header and the segment are there, and the TCB is one of this stack.
    pub unsafe fn transmit(&mut self, t: &abi::Transmit) {
        // SAFETY: the caller's: so many bytes of header are there.
        let tcp = unsafe { std::slice::from_raw_parts(t.header, t.header_length as usize) };
        if tcp.len() < 20 {
            return;
        }
        // SAFETY: the caller's: the segment is there.
        let length = if t.segment.is_null() { 0 } else { t.length.min(unsafe { (*t.segment).length }) };
        let pieces = pieces(length, t.segment_size);
        // SAFETY: the caller's.
        let Some((flow, marks)) = (unsafe { self.ends(t, pieces) }) else { return };
        let partial = self.offload.checksum;
        // SAFETY: the caller's.
        let text_sum = if partial { 0 } else { unsafe { sum_of(t.segment, length) } };
        let transport_length = tcp.len() + length as usize;
        let headers = Headers {
            flow,
            ip: Outgoing {
                source: &flow.local,
                destination: &flow.remote,
                class: marks.dscp | (t.ecn & 3),
                hop_limit: marks.hop_limit,
                dont_fragment: t.dont_fragment != 0,
                identification: marks.identification,
                flow_label: marks.flow_label,
                length: transport_length,
            },
            tcp,
            checksum: checksum(&flow, tcp, transport_length, (!partial).then_some(text_sum)),
        };
        // SAFETY: the caller's.
        let (packet, text) = unsafe { self.assemble(&headers, t.segment, length as usize) };
        self.count_out(tcp[13], pieces, length);
        self.output.push_back(Transmit {
            packet,
            text,
            segment_size: if pieces > 1 { t.segment_size as u16 } else { 0 },
            checksum_partial: partial,
            tcp_offset: flow.ip_header_length(),
        });
    }

    /// The ends of what is sent, and what goes into its IP header for it: those of the connection, or if there is none,
    /// of the segment that is answered.
    ///
    /// # Safety
    /// The TCB, if there is one, is one of this stack.
    unsafe fn ends(&mut self, t: &abi::Transmit, pieces: u32) -> Option<(Flow, Marks)> {
        // SAFETY: the caller's.
        if t.tcb.is_null() || unsafe { (*t.tcb).state } == state::LISTEN {
            return self.current.map(|flow| (flow, Marks::NONE));
        }
        // SAFETY: the caller's.
        let (flow, slot) = unsafe { (Flow::of(t.tcb), self.table.slot_of(t.tcb)) };
        let identification = slot.identification;
        slot.identification = identification.wrapping_add(pieces as u16);
        let (flow_label, dscp, hop_limit) = (slot.flow_label, slot.dscp, slot.hop_limit);
        Some((flow, Marks { identification, flow_label, dscp, hop_limit }))
    }

    /// Puts headers and text together.
    ///
    /// # Safety
    /// `segment` is null, or a segment with at least `length` bytes of text.
    #[inline]
    unsafe fn assemble(
        &mut self,
        headers: &Headers<'_>,
        segment: *mut Segment,
        length: usize,
    ) -> (Packet, Option<Packet>) {
        if segment.is_null() || length == 0 {
            return (alone(headers, &[]), None);
        }
        // SAFETY: the caller's; nobody else has a reference to the segment's fields.
        let (packet, data) = unsafe { (&mut (*segment).packet, &mut (*segment).data) };
        let Some(packet) = packet else { return (alone(headers, &[]), None) };
        let offset = *data as usize - packet.data().as_ptr() as usize;
        if length <= COPY_BELOW {
            return (alone(headers, &packet.data()[offset..offset + length]), None);
        }
        if !packet.is_shared() && packet.headroom() + offset >= headers.len() {
            return (in_place(headers, packet, data, offset, length), None);
        }
        let mut text = packet.clone();
        text.pull(offset);
        text.truncate(length);
        (alone(headers, &[]), Some(text))
    }

    fn count_out(&mut self, flags: u8, pieces: u32, length: u32) {
        let activity = &mut self.counters.activity;
        activity.packets_out += 1;
        activity.segments_out += u64::from(pieces);
        activity.bytes_out += u64::from(length);
        activity.resets_out += u64::from(flags & RST != 0);
    }
}

/// Segments that text of this length makes.
fn pieces(length: u32, segment_size: u32) -> u32 {
    if segment_size == 0 { 1 } else { length.div_ceil(segment_size).max(1) }
}

/// A packet of headers, with short text behind them.
fn alone(headers: &Headers<'_>, text: &[u8]) -> Packet {
    let mut packet = Packet::recycled(16, headers.len() + text.len(), 0);
    let bytes = packet.data_mut();
    headers.write(bytes);
    bytes[headers.len()..].copy_from_slice(text);
    mark(&mut packet, headers);
    packet
}

/// The headers in front of the text, which begins `offset` bytes into the packet, where only acknowledged text stood.
/// Leaves a clone with the text alone for the queue.
#[inline]
fn in_place(
    headers: &Headers<'_>,
    packet: &mut Packet,
    data: &mut *const u8,
    offset: usize,
    length: usize,
) -> Packet {
    packet.pull(offset);
    headers.write(packet.push(headers.len()));
    let mut text = packet.clone();
    text.pull(headers.len());
    // The bytes were lent for writing since `data` was taken, so it is taken anew.
    *data = text.data().as_ptr();
    let mut sent = std::mem::replace(packet, text);
    sent.truncate(headers.len() + length);
    mark(&mut sent, headers);
    sent
}

fn mark(packet: &mut Packet, headers: &Headers<'_>) {
    packet.set_network_header(0, u32::from(headers.flow.ip_header_length()));
}

/// The sum of the first `length` bytes of text: known if that is all of it, and it was taken when the text was copied.
///
/// # Safety
/// `segment` is null, or a segment with at least `length` bytes of text.
#[inline]
unsafe fn sum_of(segment: *const Segment, length: u32) -> u32 {
    if segment.is_null() || length == 0 {
        return 0;
    }
    // SAFETY: the caller's.
    unsafe {
        if length == (*segment).length && (*segment).sum != 0 {
            return (*segment).sum;
        }
        sum::sum(std::slice::from_raw_parts((*segment).data, length as usize))
    }
}

/// The checksum field in memory order: the checksum of everything if the text's sum is given, else the sum of the
/// pseudo-header, to which the layer below adds the rest.
#[inline]
fn checksum(flow: &Flow, tcp: &[u8], length: usize, text_sum: Option<u32>) -> u16 {
    let pseudo = pseudo_sum(&flow.local, &flow.remote, TCP, length);
    match text_sum {
        // The header's length is even, so the text's words are words of the whole.
        Some(text) => !sum::fold(pseudo + u64::from(sum::sum(tcp)) + u64::from(text)),
        None => sum::fold(pseudo),
    }
}
