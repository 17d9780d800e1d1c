//! Puts the value of a field into a packet being made.
//!
//! A field that does not fit what the packet already is (a TCP flag for a UDP packet) changes nothing.

use super::draft::Draft;
use super::field::Field;
use super::headers::protocol;
use super::icmp::icmp_has_sequence;
use super::options::END;
use super::parse::Parsed;

/// Applies one field. Fields are to be applied in the order of their ranks.
pub fn inject(draft: &mut Draft, field: Field, value: &Parsed) {
    match value {
        Parsed::Time(time) => inject_time(draft, field, *time),
        Parsed::Bytes(bytes) => inject_bytes(draft, field, bytes),
        Parsed::Number(number) => inject_number(draft, field, *number),
    }
}

fn inject_time(draft: &mut Draft, field: Field, time: i64) {
    match field {
        Field::FirstTimestamp | Field::FirstNanoTimestamp => draft.first_timestamp = time,
        _ => draft.timestamp = time,
    }
}

fn inject_bytes(draft: &mut Draft, field: Field, bytes: &[u8]) {
    match field {
        Field::EtherSource | Field::EtherDestination => {
            draft.make_ether();
            let at = if field == Field::EtherSource { 6 } else { 0 };
            draft.put(at, bytes);
        }
        Field::IpOptions => inject_ip_options(draft, bytes),
        Field::Payload => inject_payload(draft, bytes),
        _ => inject_tcp_options(draft, bytes),
    }
}

fn inject_number(draft: &mut Draft, field: Field, number: u64) {
    use Field as F;
    match field {
        F::Seconds => draft.timestamp = number as i64 * 1_000_000_000 + draft.timestamp % 1_000_000_000,
        F::Microseconds => {
            let seconds = draft.timestamp - draft.timestamp % 1_000_000_000;
            draft.timestamp = seconds.saturating_add(number as i64 * 1000);
        }
        F::TotalMicroseconds => {
            draft.timestamp = i64::try_from(number.saturating_mul(1000)).unwrap_or(i64::MAX)
        }
        F::Count => draft.extra_packets = (number as u32).saturating_sub(1),
        F::Paint | F::Direction => draft.paint = number as u8,
        F::Aggregate => draft.aggregate = Some(number as u32),
        F::WireLength => draft.wanted_length = number as usize,
        F::EtherType => inject_ether_type(draft, number as u16),
        F::SourcePort | F::DestinationPort => inject_port(draft, field, number as u16),
        F::TcpSequence | F::TcpAcknowledgement | F::TcpOffset | F::TcpFlags | F::TcpWindow | F::TcpUrgent => {
            inject_tcp(draft, field, number);
        }
        F::UdpLength => inject_udp_length(draft, number as u16),
        F::IcmpType | F::IcmpTypeName | F::IcmpCode | F::IcmpCodeName => {
            inject_icmp(draft, field, number as u8)
        }
        F::IcmpFlowId | F::IcmpSequence | F::IcmpNextMtu => inject_icmp_word(draft, field, number as u16),
        F::PayloadLength => inject_payload_length(draft, number as usize),
        _ if draft.make_ip(0) => inject_ip(draft, field, number),
        _ => {}
    }
}

fn inject_ether_type(draft: &mut Draft, ether_type: u16) {
    draft.make_ether();
    draft.put(12, &ether_type.to_be_bytes());
    if !matches!(ether_type, 0x0800 | 0x86dd) {
        draft.may_be_ip = false;
    }
}

fn inject_ip(draft: &mut Draft, field: Field, number: u64) {
    use Field as F;
    match field {
        F::IpLength => draft.wanted_length = draft.network + number as usize,
        F::IpHeaderLength => inject_ip_header_length(draft, number as usize),
        _ => put_ip_field(draft.ip(), field, number),
    }
}

fn put_ip_field(ip: &mut [u8], field: Field, number: u64) {
    use Field as F;
    let low = number as u8;
    let half = (number as u16).to_be_bytes();
    let word = (number as u32).to_be_bytes();
    match field {
        F::IpSource => ip[12..16].copy_from_slice(&word),
        F::IpDestination => ip[16..20].copy_from_slice(&word),
        F::IpTos => ip[1] = low,
        F::IpDscp => ip[1] = (ip[1] & 3) | low << 2,
        F::IpEcn => ip[1] = (ip[1] & !3) | (low & 3),
        F::IpTtl => ip[8] = low,
        F::IpProtocol => ip[9] = low,
        F::IpId => ip[4..6].copy_from_slice(&half),
        F::IpChecksum => ip[10..12].copy_from_slice(&half),
        F::IpFragment | F::IpFragmentOffset => ip[6..8].copy_from_slice(&half),
        _ => {}
    }
}

/// A longer header than there is gets options that end at once.
fn inject_ip_header_length(draft: &mut Draft, length: usize) {
    draft.has_ip_options = true;
    let length = length.next_multiple_of(4).min(60);
    if length > draft.ip_header_length() {
        set_ip_header_length(draft, length);
    }
    draft.ip()[0] = 0x40 | (length / 4) as u8;
}

fn set_ip_header_length(draft: &mut Draft, length: usize) {
    draft.extend_to(draft.network, length);
    draft.transport = draft.network + length;
    draft.ip()[0] = 0x40 | (length / 4) as u8;
}

fn inject_ip_options(draft: &mut Draft, options: &[u8]) {
    if !draft.make_ip(0) {
        return;
    }
    draft.has_ip_options = true;
    if options.is_empty() {
        return;
    }
    let length = (20 + options.len()).next_multiple_of(4).min(60);
    draft.extend_to(draft.network, length);
    if length > draft.ip_header_length() {
        set_ip_header_length(draft, length);
    }
    put_options(&mut draft.ip()[20..length], options);
}

fn put_options(room: &mut [u8], options: &[u8]) {
    room.fill(END);
    let length = options.len().min(room.len());
    room[..length].copy_from_slice(&options[..length]);
}

/// Protocol 0 is one that is not known.
fn has_ports(ip_protocol: u8) -> bool {
    matches!(ip_protocol, 0 | protocol::TCP | protocol::UDP | protocol::DCCP | protocol::UDPLITE)
}

fn inject_port(draft: &mut Draft, field: Field, port: u16) {
    if draft.make_ip(0) && draft.make_transport() && has_ports(draft.ip_protocol()) {
        let at = if field == Field::SourcePort { 0 } else { 2 };
        draft.put_transport(at, &port.to_be_bytes());
    }
}

fn inject_tcp(draft: &mut Draft, field: Field, number: u64) {
    use Field as F;
    if !draft.make_ip(protocol::TCP) || !draft.make_transport() {
        return;
    }
    let half = (number as u16).to_be_bytes();
    let word = (number as u32).to_be_bytes();
    match field {
        F::TcpSequence => draft.put_transport(4, &word),
        F::TcpAcknowledgement => draft.put_transport(8, &word),
        F::TcpWindow => draft.put_transport(14, &half),
        F::TcpUrgent => draft.put_transport(18, &half),
        F::TcpOffset => inject_tcp_offset(draft, number as usize),
        _ => {
            let offset = draft.transport_byte(12) & 0xf0;
            draft.put_transport(12, &[offset | (half[0] & 0x0f), half[1]]);
        }
    }
}

fn inject_tcp_offset(draft: &mut Draft, length: usize) {
    let length = length.next_multiple_of(4).min(60);
    if length > 20 {
        draft.extend_to(draft.transport, length);
    }
    set_tcp_offset(draft, length);
}

fn set_tcp_offset(draft: &mut Draft, length: usize) {
    let low = draft.transport_byte(12) & 0x0f;
    draft.put_transport(12, &[((length / 4) << 4) as u8 | low]);
}

/// The TCP header length in bytes.
fn tcp_offset(draft: &Draft) -> usize {
    usize::from(draft.transport_byte(12) >> 4) * 4
}

fn inject_tcp_options(draft: &mut Draft, options: &[u8]) {
    if !draft.make_ip(protocol::TCP) || !draft.make_transport() {
        return;
    }
    draft.has_tcp_options = true;
    if options.is_empty() {
        return;
    }
    let length = (20 + options.len()).next_multiple_of(4).min(60);
    draft.extend_to(draft.transport, length);
    if length > tcp_offset(draft) {
        set_tcp_offset(draft, length);
    }
    let start = draft.transport;
    put_options(&mut draft.data[start + 20..start + length], options);
}

fn inject_udp_length(draft: &mut Draft, length: u16) {
    let is_udp = |draft: &Draft| matches!(draft.ip_protocol(), 0 | protocol::UDP | protocol::UDPLITE);
    if draft.make_ip(0) && draft.make_transport() && is_udp(draft) {
        draft.extend_to(draft.transport, 8);
        draft.put_transport(4, &length.to_be_bytes());
    }
}

fn make_icmp(draft: &mut Draft) -> bool {
    let is_icmp = draft.make_ip(protocol::ICMP) && draft.make_transport();
    if is_icmp {
        draft.extend_to(draft.transport, 8);
    }
    is_icmp
}

fn inject_icmp(draft: &mut Draft, field: Field, number: u8) {
    if !make_icmp(draft) {
        return;
    }
    if matches!(field, Field::IcmpCode | Field::IcmpCodeName) {
        draft.icmp_code = Some(number);
        return draft.put_transport(1, &[number]);
    }
    draft.icmp_type = Some(number);
    draft.put_transport(0, &[number]);
    if matches!(number, 13 | 14) {
        // The three timestamps of a timestamp message (RFC 792).
        draft.extend_to(draft.transport, 20);
    }
}

fn inject_icmp_word(draft: &mut Draft, field: Field, number: u16) {
    if !make_icmp(draft) {
        return;
    }
    let applies = match field {
        Field::IcmpNextMtu => {
            draft.icmp_type.is_none_or(|t| t == 3) && draft.icmp_code.is_none_or(|code| code == 4)
        }
        _ => draft.icmp_type.is_none_or(icmp_has_sequence),
    };
    let at = if field == Field::IcmpFlowId { 4 } else { 6 };
    if applies {
        draft.put_transport(at, &number.to_be_bytes());
    }
}

fn inject_payload(draft: &mut Draft, payload: &[u8]) {
    make_headers(draft);
    if !payload.is_empty() {
        let offset = make_room_for_payload(draft, payload.len());
        draft.extend_to(offset, payload.len());
        draft.put(offset, payload);
    }
}

fn inject_payload_length(draft: &mut Draft, length: usize) {
    make_headers(draft);
    make_room_for_payload(draft, length);
}

fn make_headers(draft: &mut Draft) {
    if draft.make_ip(0) {
        draft.make_transport();
    }
}

/// Lets the wanted length be that of headers and payload. If the wanted length is known and more than that, the rest must
/// be header options that no field shows. Returns where the payload starts.
fn make_room_for_payload(draft: &mut Draft, length: usize) -> usize {
    let offset = payload_offset(draft);
    if !draft.has_ip || draft.wanted_length == 0 {
        draft.wanted_length = offset + length;
        return offset;
    }
    let unexplained = draft.wanted_length.saturating_sub(offset + length) / 4 * 4;
    let in_tcp = lengthen_tcp_header(draft, unexplained);
    lengthen_ip_header(draft, unexplained - in_tcp);
    payload_offset(draft)
}

/// The payload of what is not IP is the whole frame.
fn payload_offset(draft: &Draft) -> usize {
    if !draft.has_ip {
        return 0;
    }
    let transport = draft.transport;
    match draft.ip_protocol() {
        _ if !draft.is_first_fragment() => transport,
        protocol::TCP if draft.transport_length() >= 13 => transport + tcp_offset(draft).max(20),
        protocol::TCP => transport + 20,
        protocol::UDP | protocol::UDPLITE => transport + 8,
        _ => transport,
    }
}

/// Inserts up to `more` bytes of options into a TCP header that has none; returns how many.
fn lengthen_tcp_header(draft: &mut Draft, more: usize) -> usize {
    let is_plain = draft.ip_protocol() == protocol::TCP
        && draft.is_first_fragment()
        && !draft.has_tcp_options
        && tcp_offset(draft) == 20;
    let more = if is_plain { more.min(40) } else { 0 };
    if more > 0 {
        draft.insert(draft.transport + 20, more);
        set_tcp_offset(draft, 20 + more);
    }
    more
}

/// Inserts up to `more` bytes of options into an IP header that has none.
fn lengthen_ip_header(draft: &mut Draft, more: usize) {
    let is_plain = !draft.has_ip_options && draft.ip_header_length() == 20;
    let more = if is_plain { more.min(40) } else { 0 };
    if more > 0 {
        draft.insert(draft.network + 20, more);
        set_ip_header_length(draft, 20 + more);
    }
}
