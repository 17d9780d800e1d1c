//! The kinds of rewriters: what of a packet tells flows apart, and what packets are refused.

use super::apply::headers;
use super::flow_id::FlowId;
use super::table::flow::Flow;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::{Packet, checksum};

/// The kind of a rewriter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// IPRewriter: TCP and UDP, each in a table of its own.
    Ip,
    /// TCPRewriter.
    Tcp,
    /// UDPRewriter: UDP, TCP and DCCP in one table.
    Udp,
    /// IPAddrRewriter: sources of requests, destinations of answers.
    Addr,
    /// IPAddrPairRewriter: pairs of addresses.
    AddrPair,
    /// ICMPPingRewriter: addresses and identifiers.
    Ping,
}

/// A packet as a table sees it.
#[derive(Clone, Copy, Default)]
pub struct Arrival {
    /// Its flow.
    pub id: FlowId,
    /// Whether it belongs to the second table of the rewriter.
    pub second: bool,
    /// IP protocol.
    pub protocol: u8,
    /// Whether a flow can begin with it.
    pub can_begin: bool,
}

/// Why a packet has no flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It has no IP header, so nothing can be done with it at all.
    NoHeader,
    /// It is not of a protocol that the rewriter knows.
    Protocol,
    /// It is a fragment without transport header.
    Fragment,
    /// Its transport header is too short.
    Short,
}

impl Refusal {
    /// The reason for which it is dropped.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::NoHeader => "no IP header",
            Refusal::Protocol => "other protocol",
            Refusal::Fragment => "fragment without ports",
            Refusal::Short => "short transport header",
        }
    }
}

/// What stands beside the identifier of a ping in the table, so that answers differ from requests: Click adds 1 to the
/// number as a little-endian machine reads it, which shows in its list of mappings.
pub fn beside(identifier: u16) -> u16 {
    identifier.swap_bytes().wrapping_add(1).swap_bytes()
}

/// The flow of a ping: a request, or an answer.
pub fn ping_flow(addresses: FlowId, identifier: u16, is_request: bool) -> FlowId {
    let other = beside(identifier);
    let (source_port, destination_port) = if is_request { (identifier, other) } else { (other, identifier) };
    FlowId { source_port, destination_port, ..addresses }
}

impl Kind {
    /// What the table knows a packet by.
    #[inline]
    pub fn arrival(self, p: &Packet) -> Result<Arrival, Refusal> {
        let (ip, transport) = headers(p).ok_or(Refusal::NoHeader)?;
        let mut arrival = Arrival { protocol: ip.protocol, can_begin: true, ..Arrival::default() };
        arrival.id = FlowId::of_addresses(ip.source(), ip.destination());
        if matches!(self, Kind::Addr | Kind::AddrPair) {
            arrival.protocol = 0;
            return Ok(arrival);
        }
        let known = match self {
            Kind::Ip => matches!(ip.protocol, protocol::TCP | protocol::UDP),
            Kind::Tcp => ip.protocol == protocol::TCP,
            Kind::Ping => ip.protocol == protocol::ICMP,
            _ => matches!(ip.protocol, protocol::TCP | protocol::UDP | protocol::DCCP),
        };
        if !known {
            return Err(Refusal::Protocol);
        } else if !ip.is_first_fragment() {
            return Err(Refusal::Fragment);
        } else if self == Kind::Ping {
            return ping_arrival(arrival, transport);
        }
        let ports = transport.first_chunk::<8>().ok_or(Refusal::Short)?;
        arrival.id.source_port = u16::from_be_bytes([ports[0], ports[1]]);
        arrival.id.destination_port = u16::from_be_bytes([ports[2], ports[3]]);
        arrival.second = self == Kind::Ip && ip.protocol == protocol::UDP;
        Ok(arrival)
    }

    /// A flow as other elements ask for it: pings by the identifier as "source port" of what was sent, and only as answers
    /// to it, which go the other way. None if the rewriter does not know the protocol.
    pub fn asked(self, number: u8, id: FlowId) -> Option<Arrival> {
        let arrival = Arrival { id, second: false, protocol: number, can_begin: true };
        let addresses = FlowId { source_port: 0, destination_port: 0, ..id };
        match self {
            Kind::Ip if number == protocol::UDP => Some(Arrival { second: true, ..arrival }),
            Kind::Ip => (number == protocol::TCP).then_some(arrival),
            Kind::Tcp | Kind::Udp => Some(arrival),
            Kind::Addr | Kind::AddrPair => Some(Arrival { id: addresses, protocol: 0, ..arrival }),
            Kind::Ping => (number == protocol::ICMP).then(|| Arrival {
                id: ping_flow(addresses, id.source_port, false),
                can_begin: false,
                ..arrival
            }),
        }
    }

    /// What a flow becomes, with the fields as they were that the rewriter does not look at.
    pub fn completed(self, new: FlowId, direction: usize, old: FlowId) -> FlowId {
        match self {
            Kind::Addr if direction == 0 => FlowId { source: new.source, ..old },
            Kind::Addr => FlowId { destination: new.destination, ..old },
            Kind::AddrPair => FlowId { source: new.source, destination: new.destination, ..old },
            _ => new,
        }
    }

    /// How the table knows what a pattern made of a flow.
    pub fn key(self, id: FlowId) -> FlowId {
        if self == Kind::Ping { FlowId { destination_port: beside(id.source_port), ..id } } else { id }
    }

    /// What is left of a flow without what [`Kind::key`] adds.
    pub fn without_key(self, id: FlowId) -> FlowId {
        if self == Kind::Ping { FlowId { destination_port: 0, ..id } } else { id }
    }

    /// Whether a flow can become this.
    pub fn allows(self, rewritten: &FlowId) -> bool {
        match self {
            Kind::Addr => {
                rewritten.destination == 0 && rewritten.source_port == 0 && rewritten.destination_port == 0
            }
            Kind::AddrPair => rewritten.source_port == 0 && rewritten.destination_port == 0,
            _ => true,
        }
    }

    /// What the rewriting does to the transport checksum if it is not that of addresses and ports: ICMP's covers no
    /// addresses.
    pub fn transport_delta(self, id: &FlowId, rewritten: &FlowId) -> Option<u16> {
        (self == Kind::Ping).then(|| checksum::update(0, id.source_port, rewritten.source_port))
    }

    /// A mapping as Click prints it, without its outputs.
    pub fn unparse(self, flow: &Flow, direction: usize) -> String {
        let (id, new) = (flow.ends[direction], flow.rewritten(direction));
        match self {
            Kind::Addr => format!("{} => {}", id.source(), new.source()),
            Kind::AddrPair => {
                format!(
                    "({}, {}) => ({}, {})",
                    id.source(),
                    id.destination(),
                    new.source(),
                    new.destination()
                )
            }
            Kind::Ping => {
                let triple =
                    |id: FlowId| format!("({}, {}, {})", id.source(), id.destination(), id.source_port);
                format!("{} => {}", triple(id), triple(new))
            }
            _ => format!("{id} => {new}"),
        }
    }
}

fn ping_arrival(mut arrival: Arrival, icmp: &[u8]) -> Result<Arrival, Refusal> {
    let icmp = icmp.first_chunk::<6>().ok_or(Refusal::Short)?;
    let is_request = icmp[0] == icmp_type::ECHO;
    if !is_request && icmp[0] != icmp_type::ECHO_REPLY {
        return Err(Refusal::Protocol);
    }
    arrival.id = ping_flow(arrival.id, u16::from_be_bytes([icmp[4], icmp[5]]), is_request);
    arrival.can_begin = is_request;
    Ok(arrival)
}
