//! TruncateIPPayload: cuts what IP packets carry.

use clickwork_packet::headers::icmp::icmp_type as icmp;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header, TcpHeader};
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "cuts the payload of IP packets",
    manual: "Cuts off what packets carry behind their IP header and, unless TRANSPORT is false, behind their TCP, UDP or \
             ICMP header, but for LENGTH bytes. Length fields and checksums stay as they are. Unless EXTRA_LENGTH is \
             false, the bytes cut off are added to the extra length annotation. Packets without a marked IP header are \
             cut to LENGTH.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> TruncateIPPayload(8) -> Discard",
    args: &[
        ArgSpec::positional("LENGTH", ArgType::U16, "0", "bytes of payload to keep"),
        ArgSpec::positional("TRANSPORT", ArgType::Bool, "true", "keep the transport header too"),
        ArgSpec::keyword("EXTRA_LENGTH", ArgType::Bool, "true", "note the bytes cut off in an annotation"),
    ],
    ..Class::new("TruncateIPPayload", "ip", || {
        Box::new(TruncateIPPayload { length: 0, transport: true, notes: true })
    })
};

/// Bytes of a TCP header that must be there to know its length.
const TCP_KNOWN: usize = 13;
const UDP_LEN: usize = 8;

struct TruncateIPPayload {
    length: u16,
    transport: bool,
    notes: bool,
}

/// Length of the header of an ICMP message: what its type says is no payload.
fn icmp_header_len(icmp_type: u8) -> usize {
    match icmp_type {
        icmp::TIMESTAMP | icmp::TIMESTAMP_REPLY => 20,
        _ => 8,
    }
}

/// Length of the transport header at the front of `data`; of TCP the least one if that is not known.
fn transport_len(protocol: u8, data: &[u8]) -> usize {
    match protocol {
        protocol::TCP => {
            let offset = data.get(TCP_KNOWN - 1).map_or(0, |b| usize::from(b >> 4) * 4);
            offset.max(size_of::<TcpHeader>())
        }
        protocol::UDP => UDP_LEN,
        protocol::ICMP if data.len() >= 8 => icmp_header_len(data[0]),
        _ => 0,
    }
}

impl TruncateIPPayload {
    /// How much of the packet's network data stays.
    fn kept(&self, data: &[u8]) -> usize {
        let Some(header) = Ipv4Header::peek(data).filter(|h| h.ihl() >= size_of::<Ipv4Header>()) else {
            return size_of::<Ipv4Header>();
        };
        let below = data.get(header.ihl()..).unwrap_or_default();
        header.ihl() + if self.transport { transport_len(header.protocol, below) } else { 0 }
    }
}

impl SimpleElement for TruncateIPPayload {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LENGTH", &mut self.length)
            .read("TRANSPORT", &mut self.transport)
            .read("EXTRA_LENGTH", &mut self.notes);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let network = p.has_network_header().then(|| p.network_bytes().unwrap_or_default());
        let (available, headers) = network.map_or((p.len(), 0), |data| (data.len(), self.kept(data)));
        let excess = available.saturating_sub(headers + usize::from(self.length));
        if excess > 0 && self.notes {
            let before = p.anno_u32(anno::EXTRA_LENGTH);
            p.set_anno_u32(anno::EXTRA_LENGTH, before.wrapping_add(excess as u32));
        }
        p.take(excess);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::{Sample, ip};
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    /// Length of the packet, and the extra length annotation, after truncation.
    fn lengths(args: &str, p: Packet) -> (usize, u32) {
        let mut t = Harness::new(&format!("s :: Source -> TruncateIPPayload({args}) -> k :: Sink"));
        t.push("s", 0, [p]);
        let p = t.take("k").remove(0);
        (p.len(), p.anno_u32(anno::EXTRA_LENGTH))
    }

    fn carrying(protocol: u8, payload: &[u8]) -> Sample {
        ip("1.0.0.1", "2.0.0.2").payload(protocol, payload)
    }

    #[test]
    fn headers_are_kept() {
        let mut tcp = [0; 100];
        tcp[12] = 0x80;
        let mut timestamp = [0; 100];
        timestamp[0] = 13;
        for (args, packet, kept) in [
            ("", carrying(17, &[0; 100]), 28),
            ("5", carrying(17, &[0; 100]), 33),
            ("LENGTH 5, TRANSPORT false", carrying(17, &[0; 100]), 25),
            ("1", carrying(17, &[0; 100]).options(&[1; 6]), 37),
            ("", carrying(6, &tcp), 52),
            ("2", carrying(6, &[0; 100]), 42),
            ("", carrying(1, &[8; 100]), 28),
            ("", carrying(1, &timestamp), 40),
            ("3", carrying(50, &[0; 100]), 23),
            ("200", carrying(17, &[0; 100]), 120 + 8),
        ] {
            let full = packet.bytes().len();
            let kept = kept.min(full);
            assert_eq!(lengths(args, packet.marked()), (kept, (full - kept) as u32), "{args}");
        }
    }

    #[test]
    fn odd_packets_are_cut_too() {
        assert_eq!(lengths("4", Packet::new(b"no header")), (4, 5));
        assert_eq!(lengths("4, EXTRA_LENGTH false", Packet::new(b"no header")), (4, 0));
        let mut broken = Packet::new(&[0; 60]);
        broken.set_network_header(10, 0);
        assert_eq!(lengths("4", broken), (34, 26));
    }
}
