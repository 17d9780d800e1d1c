//! SetIPChecksum: computes the checksum of IP headers.

use super::fast::set_ip_checksum::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::Ipv4Mut;
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the IP header checksum",
    manual: "Computes the checksum of each packet's marked IP header and stores it. Rarely needed: elements that change a \
             header keep its checksum right. Packets without a whole header are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> StoreData(8, \\<09>) -> SetIPChecksum \
              -> CheckIPHeader -> Discard",
    packets: "ip/ip",
    fast: Some(FastPath::of::<SetIPChecksum>()),
    ..Class::new("SetIPChecksum", "ip", || Box::new(SetIPChecksum { constants: Constants }))
};

struct SetIPChecksum {
    constants: Constants,
}

fast_path!(SetIPChecksum, set_ip_checksum);

impl SimpleElement for SetIPChecksum {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match p.network_header_mut().and_then(Ipv4Mut::new) {
            Some(mut ip) => ip.fill_checksum(),
            None => return Verdict::Drop("no IP header"),
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;

    #[test]
    fn wrong_checksums_become_right() {
        let mut t = Harness::new("s :: Source -> StoreData(10, \\<1234>) -> c :: SetIPChecksum -> k :: Sink");
        let samples = [ip("1.0.0.1", "2.0.0.2"), ip("1.0.0.1", "2.0.0.2").options(&[1, 1, 1])];
        t.push("s", 0, samples.iter().map(|s| s.marked()).chain([samples[0].packet()]));
        assert_eq!(t.bytes("k"), samples.map(|s| s.bytes()));
        assert_eq!(t.read("c.drop_reasons"), "1\tno IP header\n");
    }
}
