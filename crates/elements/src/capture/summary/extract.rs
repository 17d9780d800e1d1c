//! From a packet to the value of a field.

use super::field::Field;
use super::headers::{Headers, protocol, u16_at, u32_at};
use super::icmp::icmp_has_sequence;

/// The value of a field, before it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number, an IPv4 address, or a character.
    Number(u64),
    /// A timestamp in nanoseconds.
    Time(i64),
    /// Header options, a MAC address, or payload.
    Bytes(&'a [u8]),
}

/// What a field needs but the packet has not.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Ethernet,
    Ip,
    /// A header of this protocol with at least this many bytes.
    Header(&'static str, &'static [u8], usize),
}

/// The value, or what is missing; `Err(None)` if the field just does not apply.
type Extracted<'a> = Result<Value<'a>, Option<Missing>>;

const TCP: &[u8] = &[protocol::TCP];
const ICMP: &[u8] = &[protocol::ICMP];
const UDP: &[u8] = &[protocol::UDP];
const PORTS: &[u8] = &[protocol::TCP, protocol::UDP];

/// Extracts a field. If something that should be there is missing, that becomes the packet's fault.
pub fn extract<'a>(headers: &mut Headers<'a>, field: Field) -> Option<Value<'a>> {
    match value(headers, field) {
        Ok(value) => Some(value),
        Err(missing) => {
            if let Some(missing) = missing {
                note_missing(headers, missing);
            }
            None
        }
    }
}

fn number<'a>(value: impl Into<u64>) -> Extracted<'a> {
    Ok(Value::Number(value.into()))
}

fn value<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    use Field as F;
    match field {
        F::None => Err(None),
        F::Timestamp | F::NanoTimestamp => Ok(Value::Time(h.view.timestamp)),
        F::FirstTimestamp | F::FirstNanoTimestamp => Ok(Value::Time(h.view.first_timestamp)),
        F::Seconds => number(h.view.timestamp.div_euclid(1_000_000_000) as u32),
        F::Microseconds => number((h.view.timestamp.rem_euclid(1_000_000_000) / 1000) as u32),
        F::TotalMicroseconds => number(h.view.timestamp.div_euclid(1000) as u64),
        F::Count => number(h.view.extra_packets.wrapping_add(1)),
        F::Paint | F::Direction => number(h.view.paint),
        F::Aggregate => number(h.view.aggregate),
        F::WireLength => number(h.view.data.len() as u64),
        F::EtherSource | F::EtherDestination | F::EtherType => link(h, field),
        F::SourcePort => port(h, 0),
        F::DestinationPort => port(h, 2),
        F::UdpLength => number(u16_at(header(h.udp, 6, "UDP", UDP)?, 4)),
        F::PayloadLength | F::Payload | F::PayloadMd5 | F::PayloadMd5Hex => payload(h, field),
        _ => ip(h, field).or_else(|other| other.map_or_else(|| tcp_or_icmp(h, field), |m| Err(Some(m)))),
    }
}

/// The first `length` bytes and more of a transport header.
fn header<'a>(
    bytes: Option<&'a [u8]>,
    length: usize,
    name: &'static str,
    protocols: &'static [u8],
) -> Result<&'a [u8], Option<Missing>> {
    bytes.filter(|bytes| bytes.len() >= length).ok_or(Some(Missing::Header(name, protocols, length)))
}

/// A link header counts only if it is right before the network header.
fn link<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    let network = h.view.network.map_or(0, <[u8]>::len);
    let mac = h.view.mac.unwrap_or(h.view.data);
    if mac.len() != network + 14 {
        return Err(Some(Missing::Ethernet));
    }
    match field {
        Field::EtherSource => Ok(Value::Bytes(&mac[6..12])),
        Field::EtherDestination => Ok(Value::Bytes(&mac[..6])),
        _ => number(u16_at(mac, 12)),
    }
}

/// Fields of the IP header; `Err(None)` if the field is not one.
fn ip<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    use Field as F;
    let at_least = |length: usize| h.ip.filter(|ip| ip.len() >= length).ok_or(Some(Missing::Ip));
    match field {
        F::IpSource => number(u32_at(at_least(16)?, 12)),
        F::IpDestination => number(u32_at(at_least(20)?, 16)),
        F::IpTos => number(at_least(2)?[1]),
        F::IpDscp => number(at_least(2)?[1] >> 2),
        F::IpEcn => number(at_least(2)?[1] & 3),
        F::IpTtl => number(at_least(9)?[8]),
        F::IpFragment => number(fragment_letter(u16_at(at_least(8)?, 6))),
        F::IpFragmentOffset => number(u16_at(at_least(8)?, 6)),
        F::IpId => number(u16_at(at_least(6)?, 4)),
        F::IpChecksum => number(u16_at(at_least(12)?, 10)),
        F::IpProtocol => number(at_least(10)?[9]),
        F::IpHeaderLength => at_least(1).and_then(|_| number(h.ip_header_length() as u64)),
        F::IpOptions => {
            let length = h.ip_header_length();
            match at_least(if length > 20 { length } else { 0 })? {
                ip if length > 20 => Ok(Value::Bytes(&ip[20..length])),
                _ => Ok(Value::Bytes(&[])),
            }
        }
        F::IpLength => {
            let length = if h.ip.is_some() { usize::from(h.ip_length()) } else { h.length() };
            number(length as u64 + extra(h))
        }
        F::IpCaptureLength => {
            let captured = if h.ip.is_some() { h.network_length() } else { h.length() };
            let length = if h.ip.is_some() { usize::from(h.ip_length()) } else { captured };
            number(length.min(captured) as u64)
        }
        _ => Err(None),
    }
}

fn extra(h: &Headers<'_>) -> u64 {
    if h.add_extra_length { h.extra_length.into() } else { 0 }
}

/// First fragment, later fragment, may not be fragmented, none of these.
fn fragment_letter(flags_and_offset: u16) -> u8 {
    match (flags_and_offset & 0x3fff, flags_and_offset & 0x1fff, flags_and_offset & 0x4000) {
        (0, _, 0) => b'.',
        (0, _, _) => b'!',
        (_, 0, _) => b'F',
        _ => b'f',
    }
}

fn port<'a>(h: &Headers<'a>, at: usize) -> Extracted<'a> {
    let has_ports =
        matches!(h.ip_protocol(), protocol::TCP | protocol::UDP | protocol::DCCP | protocol::UDPLITE)
            && h.is_first_fragment()
            && h.network_length() > h.ip_header_length();
    let transport = h.transport.filter(|_| has_ports);
    number(u16_at(header(transport, at + 2, "TCP/UDP", PORTS)?, at))
}

fn tcp_or_icmp<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    use Field as F;
    let tcp = |length| header(h.tcp, length, "TCP", TCP);
    let icmp = |length| header(h.icmp, length, "ICMP", ICMP);
    match field {
        F::TcpSequence => number(u32_at(tcp(8)?, 4)),
        F::TcpAcknowledgement => number(u32_at(tcp(12)?, 8)),
        F::TcpOffset => number((tcp(13)?[12] >> 4) * 4),
        F::TcpFlags => number(u16_at(tcp(14)?, 12) & 0x1ff),
        F::TcpWindow => number(u16_at(tcp(16)?, 14)),
        F::TcpUrgent => number(u16_at(tcp(20)?, 18)),
        F::TcpOptions | F::TcpNonTimestampOptions | F::TcpSack => tcp_options(h, field),
        F::IcmpType | F::IcmpTypeName => number(icmp(1)?[0]),
        F::IcmpCode | F::IcmpCodeName => number(icmp(2)?[1]),
        F::IcmpFlowId | F::IcmpSequence if !icmp_has_sequence(icmp(1)?[0]) => Err(None),
        F::IcmpFlowId => number(u16_at(icmp(6)?, 4)),
        F::IcmpSequence => number(u16_at(icmp(8)?, 6)),
        F::IcmpNextMtu if icmp(2)?[..2] != [3, 4] => Err(None),
        F::IcmpNextMtu => number(u16_at(icmp(8)?, 6)),
        _ => Err(None),
    }
}

fn tcp_options<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    /// The recommended layout of an option list with nothing but a timestamp (RFC 7323, appendix A).
    const ONLY_TIMESTAMP: [u8; 4] = [1, 1, 8, 10];
    let tcp = header(h.tcp, 13, "TCP", TCP)?;
    let length = usize::from(tcp[12] >> 4) * 4;
    if length <= 20 {
        return Ok(Value::Bytes(&[]));
    }
    let only_timestamp = length == 32 && tcp.get(20..24) == Some(&ONLY_TIMESTAMP[..]);
    if only_timestamp && field != Field::TcpOptions {
        return Ok(Value::Bytes(&[]));
    }
    Ok(Value::Bytes(&header(Some(tcp), length, "TCP", TCP)?[20..length]))
}

fn payload<'a>(h: &Headers<'a>, field: Field) -> Extracted<'a> {
    let (offset, length) = h.payload();
    if field == Field::PayloadLength {
        let extra = if h.ip.is_none() { h.extra_length.into() } else { extra(h) };
        return number(length as u64 + extra);
    }
    if length > 0 && offset >= h.view.data.len() {
        return Err(None);
    }
    let end = (offset + length).min(h.length());
    Ok(Value::Bytes(h.view.data.get(offset..end).unwrap_or(&[])))
}

/// Records what is missing as the packet's fault, unless the packet merely is of another protocol.
fn note_missing(h: &mut Headers<'_>, missing: Missing) {
    if h.bad.is_some() {
        return;
    }
    h.bad = match (missing, h.ip) {
        (Missing::Ethernet, _) => Some("Ethernet header".to_owned()),
        (_, None) => Some("no IP header".to_owned()),
        (Missing::Ip, _) => Some("truncated IP header capture".to_owned()),
        (Missing::Header(name, protocols, length), Some(ip)) => {
            missing_header(h, ip, name, protocols, length)
        }
    };
}

fn missing_header(h: &Headers<'_>, ip: &[u8], name: &str, protocols: &[u8], length: usize) -> Option<String> {
    if ip.len() > 9 && !protocols.contains(&ip[9]) {
        return None;
    }
    if !h.is_first_fragment() {
        return Some(format!("fragmented {name} header"));
    }
    let was_longer = h.transport_length() as u64 + u64::from(h.extra_length) >= length as u64;
    let capture = if was_longer { " capture" } else { "" };
    Some(format!("truncated {name} header{capture}"))
}
