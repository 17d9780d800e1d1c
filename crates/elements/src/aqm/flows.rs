//! Which flow a packet belongs to, for fair queueing: addresses, protocol and ports, hashed with a key (RFC 8290 §4.1.1).

use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header, Ipv6Header};
use std::hash::{DefaultHasher, Hasher};

/// Hashes of flows. Who does not know the key cannot make flows that share a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowHash {
    pub key: u64,
}

impl FlowHash {
    /// The number, below `n`, of the packet's flow. Packets without a marked IP header are one flow.
    pub fn of(self, p: &Packet, n: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        if let Some(data) = p.network_bytes() {
            hash_ip(data, &mut hasher);
        }
        (hasher.finish() % n.max(1) as u64) as usize
    }
}

/// Adds what distinguishes flows. A fragment has no ports, so that all fragments of a packet go together.
fn hash_ip(data: &[u8], hasher: &mut DefaultHasher) {
    let (next, below) = match data.first().map(|b| b >> 4) {
        Some(4) => {
            let Some(ip) = Ipv4Header::peek(data) else { return };
            hasher.write(&ip.source().octets());
            hasher.write(&ip.destination().octets());
            (ip.protocol, if ip.is_fragment() { &[] } else { data.get(ip.ihl()..).unwrap_or_default() })
        }
        Some(6) => {
            let Some(ip) = Ipv6Header::peek(data) else { return };
            hasher.write(&ip.source().octets());
            hasher.write(&ip.destination().octets());
            (ip.next_header, &data[size_of::<Ipv6Header>()..])
        }
        _ => return,
    };
    hasher.write_u8(next);
    let has_ports = matches!(next, protocol::TCP | protocol::UDP | protocol::DCCP | protocol::SCTP);
    if let Some(ports) = below.get(..4).filter(|_| has_ports) {
        hasher.write(ports);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::samples::ip;

    const MANY: usize = 1 << 30;

    fn flow(p: &Packet) -> usize {
        FlowHash { key: 7 }.of(p, MANY)
    }

    #[test]
    fn packets_of_a_flow_go_together_and_others_do_not() {
        let udp = |ports: &[u8]| ip("1.0.0.1", "2.0.0.2").payload(17, &[ports, b"payload"].concat());
        let base = flow(&udp(&[0, 1, 0, 2]).marked());
        let same = udp(&[0, 1, 0, 2]).ttl(3).marked();
        assert_eq!(flow(&same), base);
        let others = [
            udp(&[0, 1, 0, 3]).marked(),
            ip("1.0.0.2", "2.0.0.2").payload(17, &[0, 1, 0, 2]).marked(),
            ip("1.0.0.1", "2.0.0.2").payload(6, &[0, 1, 0, 2]).marked(),
            udp(&[0, 1, 0, 2]).fragment(0x2000).marked(),
            udp(&[0, 1, 0, 2]).packet(),
        ];
        assert!(others.iter().all(|p| flow(p) != base));
        assert_ne!(FlowHash { key: 8 }.of(&same, MANY), base);
        // Fragments go together, whatever is at their front.
        let (first, second) = (udp(&[1; 4]).fragment(0x2000), udp(&[9; 4]).fragment(5));
        assert_eq!(flow(&first.marked()), flow(&second.marked()));
    }

    #[test]
    fn version_6_is_known() {
        let packet = |last: u8, port: u8| {
            let mut bytes = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
            bytes.extend([0; 31]);
            bytes.extend([last, 0, port, 0, 2, 0, 8, 0, 0]);
            let mut p = Packet::new(&bytes);
            p.set_network_header(0, 40);
            flow(&p)
        };
        assert_eq!(packet(1, 1), packet(1, 1));
        assert!(packet(1, 1) != packet(2, 1) && packet(1, 1) != packet(1, 2));
    }
}
