//! Rewriting: what a flow does to a packet of its own. Checksums are updated in place (RFC 1624, RFC 3022 §4.2).

use super::flow_id::FlowId;
use super::kind::Kind;
use super::table::Entry;
use super::table::FlowSet;
use super::table::flow::{Flow, state};
use clickwork_packet::headers::{Header, Ipv4Header, ipv4::protocol, tcp::flag};
use clickwork_packet::{Packet, checksum};

/// The annotations that a rewriter sets.
#[derive(Clone, Copy, Default)]
pub struct Annotations {
    /// Whether the destination annotation is set.
    pub destination: bool,
    /// Where answers get the annotation that the flow's first packet had.
    pub reply: Option<u8>,
}

/// A checksum after the change that `delta` stands for, forward or back.
fn updated(sum: u16, direction: usize, delta: u16) -> u16 {
    match (delta, direction) {
        (0, _) => sum,
        (_, 0) => checksum::update(sum, 0, !delta),
        _ => checksum::update(sum, 0, delta),
    }
}

/// Updates a checksum in the data.
fn update(bytes: &mut [u8], at: usize, direction: usize, delta: u16) {
    if let Some(field) = bytes[at..].first_chunk_mut::<2>() {
        *field = updated(u16::from_be_bytes(*field), direction, delta).to_be_bytes();
    }
}

/// The IP header and what there is of the transport header. None if there is no IP header.
#[inline]
pub fn headers(p: &Packet) -> Option<(&Ipv4Header, &[u8])> {
    let bytes = p.network_header()?;
    let header = Ipv4Header::peek(bytes)?;
    let at = p.network_header_len().filter(|&at| at >= 20).unwrap_or(u32::MAX);
    Some((header, bytes.get(at as usize..).unwrap_or_default()))
}

/// The same, for writing.
#[inline]
pub fn headers_mut(p: &mut Packet) -> Option<(&mut Ipv4Header, &mut [u8])> {
    let at = p.network_header_len().filter(|&at| at >= 20).unwrap_or(u32::MAX) as usize;
    let bytes = p.network_header_mut()?;
    let (header, transport) = bytes.split_at_mut(at.min(bytes.len()));
    Some((Ipv4Header::peek_mut(header)?, transport))
}

/// Rewrites a packet of a flow.
#[inline]
pub fn apply(
    kind: Kind,
    set: &mut FlowSet,
    (place, direction): Entry,
    p: &mut Packet,
    annotations: Annotations,
) {
    let flow = set.flow_mut(place);
    let new = flow.rewritten(direction);
    let one_address = kind == Kind::Addr;
    if annotations.destination && !(one_address && direction == 0) {
        p.set_dst_ip(new.destination());
    }
    if let (1, Some(offset)) = (direction, annotations.reply) {
        p.set_anno_u8(offset, flow.reply_anno);
    }
    let Some((ip, transport)) = headers_mut(p) else { return };
    if !(one_address && direction == 1) {
        ip.set_source(new.source());
    }
    if !(one_address && direction == 0) {
        ip.set_destination(new.destination());
    }
    ip.set_checksum(updated(ip.checksum(), direction, flow.ip_delta));
    if !ip.is_first_fragment() {
        return;
    }
    match kind {
        Kind::Ping => apply_ping(flow, direction, new, transport),
        Kind::Addr | Kind::AddrPair => apply_sum(flow, direction, ip.protocol, transport),
        Kind::Udp => apply_udp(flow, direction, new, ip.protocol, transport),
        Kind::Ip if ip.protocol != protocol::TCP => {
            apply_udp(flow, direction, new, ip.protocol, transport);
        }
        Kind::Ip | Kind::Tcp => {
            let payload_at = |tcp: &[u8]| ip.ihl() + usize::from(tcp[12] >> 4) * 4;
            let Some(tcp) = transport.first_chunk::<18>() else { return };
            let has_payload = payload_at(tcp) < usize::from(ip.total_len());
            apply_tcp(flow, direction, new, has_payload, transport);
            if flow.has_deltas {
                apply_sequences(set, (place, direction), transport);
            }
        }
    }
}

fn set_ports(id: FlowId, transport: &mut [u8]) {
    transport[..2].copy_from_slice(&id.source_port.to_be_bytes());
    transport[2..4].copy_from_slice(&id.destination_port.to_be_bytes());
}

/// The transport checksum of a packet whose ports stay.
fn apply_sum(flow: &Flow, direction: usize, ip_protocol: u8, transport: &mut [u8]) {
    match ip_protocol {
        protocol::TCP if transport.len() >= 18 => update(transport, 16, direction, flow.transport_delta),
        protocol::UDP if transport.len() >= 8 => update_udp(flow, direction, transport),
        _ => {}
    }
}

/// UDP's checksum: 0 means that there is none, so a sum of 0 is written as 0xFFFF (RFC 768).
fn update_udp(flow: &Flow, direction: usize, transport: &mut [u8]) {
    if transport[6..8] == [0, 0] {
        return;
    }
    update(transport, 6, direction, flow.transport_delta);
    if transport[6..8] == [0, 0] {
        transport[6..8].copy_from_slice(&[0xFF, 0xFF]);
    }
}

fn apply_udp(flow: &mut Flow, direction: usize, new: FlowId, ip_protocol: u8, transport: &mut [u8]) {
    if transport.len() < 8 {
        return;
    }
    set_ports(new, transport);
    match ip_protocol {
        // DCCP's checksum is where UDP's is (RFC 4340 §5.1), and covers the addresses too.
        protocol::DCCP => update(transport, 6, direction, flow.transport_delta),
        _ => apply_sum(flow, direction, ip_protocol, transport),
    }
    if direction == 1 {
        flow.state |= state::ANSWERED;
    }
    if flow.state < state::THREE_PACKETS {
        flow.state += 2;
    }
}

fn apply_tcp(flow: &mut Flow, direction: usize, new: FlowId, has_payload: bool, transport: &mut [u8]) {
    set_ports(new, transport);
    update(transport, 16, direction, flow.transport_delta);
    let (flags, done) = (transport[13], state::FORWARD_DONE << direction);
    if flags & flag::RST != 0 {
        flow.state |= state::BOTH_DONE;
    } else if flags & flag::FIN != 0 {
        flow.state |= done;
    } else if flags & flag::SYN != 0 || has_payload {
        flow.state &= !done;
    }
    if has_payload {
        flow.state |= state::FORWARD_DATA << direction;
    }
}

#[cold]
fn apply_sequences(set: &mut FlowSet, (place, direction): Entry, transport: &mut [u8]) {
    let whole = transport.len() >= usize::from(transport[12] >> 4) * 4;
    if let Some(sequences) = set.sequences.get_mut(&place).filter(|_| whole) {
        sequences.apply(direction, transport);
    }
}

fn apply_ping(flow: &Flow, direction: usize, new: FlowId, transport: &mut [u8]) {
    if transport.len() < 6 {
        return;
    }
    // An answer has the identifier of the request as its "destination port".
    let identifier = if direction == 0 { new.source_port } else { new.destination_port };
    transport[4..6].copy_from_slice(&identifier.to_be_bytes());
    update(transport, 2, direction, flow.transport_delta);
    if transport.iter().all(|&b| b == 0) {
        transport[2..4].copy_from_slice(&[0xFF, 0xFF]);
    }
}
