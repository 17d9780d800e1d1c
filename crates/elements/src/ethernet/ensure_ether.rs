//! EnsureEther: makes sure that IP packets have an Ethernet header.

use super::ether_encap::{encapsulate, ethernet_header};
use super::fast::ensure_ether::{Constants, has_header};
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes sure that IP packets have an Ethernet header",
    manual: "Looks at packets whose network header is marked. If an Ethernet header for IP stands before it, in the data or \
             stripped from it, that header is used; otherwise all before the network header is replaced by an Ethernet \
             header of the given type and addresses. Other packets pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader -> EnsureEther -> Discard",
    packets: "any/any",
    args: &[
        ArgSpec::positional("ETHERTYPE", ArgType::U16, "0x0800", "Ethernet type"),
        ArgSpec::positional("SRC", ArgType::EtherAddr, "1:1:1:1:1:1", "source address"),
        ArgSpec::positional("DST", ArgType::EtherAddr, "2:2:2:2:2:2", "destination address"),
    ],
    fast: Some(FastPath::of::<EnsureEther>()),
    ..Class::new("EnsureEther", "ethernet", || Box::<EnsureEther>::default())
};

struct EnsureEther {
    ethertype: u16,
    source: EtherAddress,
    destination: EtherAddress,
}

fast_path!(EnsureEther, ensure_ether());

impl Default for EnsureEther {
    fn default() -> EnsureEther {
        let (source, destination) = (EtherAddress([1; 6]), EtherAddress([2; 6]));
        EnsureEther { ethertype: ethertype::IPV4, source, destination }
    }
}

const ETHER: usize = 14;

impl EnsureEther {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { header: ethernet_header(self.destination, self.source, self.ethertype) }
    }
}

impl SimpleElement for EnsureEther {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ETHERTYPE", &mut self.ethertype);
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(before) = p.network_offset().and_then(|offset| usize::try_from(offset).ok()) else {
            return Verdict::PASS;
        };
        if before == ETHER && has_header(p) {
            return Verdict::PASS;
        }
        if before == 0 && p.headroom() >= ETHER {
            p.unpull(ETHER);
            if has_header(p) {
                return Verdict::PASS;
            }
            p.pull(ETHER);
        }
        p.pull(before);
        encapsulate(p, &self.constants().header);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn ensured(mut p: Packet, network: i32) -> Vec<u8> {
        let mut t = Harness::new("s :: Source -> EnsureEther -> k :: Sink");
        if network >= 0 {
            p.set_network_header(network, 20);
        }
        t.push("s", 0, [p]);
        t.bytes("k").remove(0)
    }

    const FRAME: &[u8] = b"abcdefABCDEF\x08\x00ip";
    const FRESH: &[u8] = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x08\x00ip";

    #[test]
    fn a_header_that_is_there_or_was_is_kept() {
        assert_eq!(ensured(Packet::new(FRAME), 14), FRAME);
        let mut stripped = Packet::new(FRAME);
        stripped.pull(14);
        assert_eq!(ensured(stripped, 0), FRAME);
    }

    #[test]
    fn otherwise_there_is_a_fresh_one() {
        assert_eq!(ensured(Packet::with_room(20, b"ip", 0), 0), FRESH);
        assert_eq!(ensured(Packet::new(b"xyzip"), 3), FRESH);
        assert_eq!(ensured(Packet::new(b"abcdefABCDEF\x08\x06ip"), 14), FRESH);
    }

    #[test]
    fn packets_without_a_network_header_pass() {
        assert_eq!(ensured(Packet::new(b"any"), -1), b"any");
    }
}
