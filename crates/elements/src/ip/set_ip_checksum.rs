//! SetIPChecksum: computes the checksum of IP headers.

use super::fast::set_ip_checksum::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::Ipv4Mut;
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the IP header checksum",
    manual: "Computes the checksum of each packet's marked IP header, or of the one it begins with if none is marked, and \
             stores it. Rarely needed: elements that change a header keep its checksum right. Packets without a whole \
             header are dropped; the first is reported.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> StoreData(8, \\<09>) -> SetIPChecksum \
              -> CheckIPHeader -> Discard",
    packets: "ip/ip",
    handlers: &[read_handler!("drops", "packets without a whole header", |e: &mut SetIPChecksum, _| e.drops)],
    fast: Some(FastPath::of::<SetIPChecksum>()),
    ..Class::new("SetIPChecksum", "ip", || Box::new(SetIPChecksum { constants: Constants, drops: 0 }))
};

struct SetIPChecksum {
    constants: Constants,
    drops: u64,
}

fast_path!(SetIPChecksum, set_ip_checksum);

impl SimpleElement for SetIPChecksum {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let header = match p.network_header().is_some() {
            true => p.network_header_mut(),
            false => Some(p.data_mut()),
        };
        if let Some(mut ip) = header.and_then(Ipv4Mut::new) {
            ip.fill_checksum();
            return Verdict::PASS;
        }
        self.drops += 1;
        if self.drops == 1 {
            cx.chatter("SetIPChecksum: bad input packet");
        }
        Verdict::Drop("no IP header")
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn wrong_checksums_become_right() {
        let mut t = Harness::new("s :: Source -> StoreData(10, \\<1234>) -> c :: SetIPChecksum -> k :: Sink");
        let samples = [ip("1.0.0.1", "2.0.0.2"), ip("1.0.0.1", "2.0.0.2").options(&[1, 1, 1])];
        t.push("s", 0, samples.iter().map(|s| s.marked()).chain([samples[0].packet()]));
        assert_eq!(t.bytes("k"), [samples[0].bytes(), samples[1].bytes(), samples[0].bytes()]);
    }

    #[test]
    fn packets_without_a_whole_header_are_dropped_and_the_first_is_reported() {
        let mut t = Harness::new("s :: Source -> c :: SetIPChecksum -> k :: Sink");
        let mut options_cut_off = ip("1.0.0.1", "2.0.0.2").bytes();
        options_cut_off[0] = 0x4F;
        t.push("s", 0, [Packet::new(&options_cut_off), Packet::new(b"short")]);
        assert!(t.take("k").is_empty());
        assert_eq!(t.read("c.drops"), "2");
        assert_eq!(t.printed(), "SetIPChecksum: bad input packet\n");
    }
}
