//! What of a packet's headers tells its flow.

use super::super::host_pair::HostPair;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Ipv4, ipv4::protocol};

/// What is known of a packet.
pub struct Headers {
    /// Whether it is TCP; else UDP.
    pub is_tcp: bool,
    /// Its hosts.
    pub hosts: HostPair,
    /// Its ports, that of host `a` in the upper half; none for a later fragment.
    pub ports: Option<u32>,
    /// 1 if it goes from host `b` to host `a`; 2 more if it is an ICMP error about such a packet.
    pub paint: u8,
    /// Whether it is a fragment.
    pub is_fragment: bool,
    /// Its IP identification.
    pub id: u16,
    /// Its TCP flags, unless it is too short for them.
    pub flags: Option<u8>,
}

const ICMP_HEADER: usize = 8;
const IP_HEADER: usize = 20;
/// Where the flags are in a TCP header.
const FLAGS: usize = 13;

/// The IP header that an ICMP error is about (RFC 792: types 3, 4, 5, 11, 12).
fn embedded(icmp: &[u8]) -> Option<&[u8]> {
    let is_error = matches!(icmp.first()?, 3 | 4 | 5 | 11 | 12);
    let ip = icmp.get(ICMP_HEADER..).filter(|ip| is_error && ip.len() >= IP_HEADER)?;
    let length = usize::from(ip[0] & 0xf) * 4;
    (length >= IP_HEADER && ip.len() >= length).then_some(ip)
}

impl Headers {
    /// Looks at a packet.
    ///
    /// # Errors
    /// If it belongs to no flow, with the reason.
    pub fn of(p: &Packet, with_icmp: bool) -> Result<Headers, &'static str> {
        let network = p.network_bytes().ok_or("no IP header")?;
        let ip = Ipv4::new(network).ok_or("no IP header")?;
        if ip.protocol == protocol::ICMP && ip.is_first_fragment() && with_icmp {
            let icmp = network.get(ip.ihl()..).unwrap_or_default();
            let inner = embedded(icmp).ok_or("not about a flow")?;
            return Headers::of_ip(inner, 2);
        }
        Headers::of_ip(network, 0)
    }

    fn of_ip(data: &[u8], paint: u8) -> Result<Headers, &'static str> {
        let ip = Ipv4::new(data).ok_or("no IP header")?;
        let is_tcp = match ip.protocol {
            protocol::TCP => true,
            protocol::UDP => false,
            _ => return Err("not TCP or UDP"),
        };
        let (source, destination) = (ip.source(), ip.destination());
        if source.octets() == [0; 4] && destination.octets() == [0; 4] {
            return Err("no addresses");
        }
        let hosts = HostPair::new(source, destination);
        let mut reversed = hosts.a != source;
        let mut headers = Headers {
            is_tcp,
            hosts,
            ports: None,
            paint,
            is_fragment: ip.is_fragment(),
            id: ip.identification(),
            flags: None,
        };
        if ip.is_first_fragment() {
            let transport = data.get(ip.ihl()..).unwrap_or_default();
            let &[a, b, c, d] = transport.first_chunk().ok_or("too short for ports")?;
            let ports = u32::from_be_bytes([a, b, c, d]);
            reversed ^= hosts.a == hosts.b && ports >> 16 > ports & 0xffff;
            headers.ports = Some(if reversed { ports.rotate_left(16) } else { ports });
            headers.flags = transport.get(FLAGS).copied().filter(|_| is_tcp && paint < 2);
        }
        headers.paint ^= u8::from(reversed);
        Ok(headers)
    }
}
