//! FixIPSrc: puts the right source address into packets that this router made.

use super::fast::fix_ip_src::{Constants, is_marked};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::Ipv4Mut;
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the source of packets marked for it",
    manual: "Sets the source address of packets whose \"fix IP source\" annotation is set to IPADDR, and clears the \
             annotation. ICMPError sets it: only at the interface where an error leaves is its source known (RFC 1812 \
             §4.3.2.4).",
    example: "InfiniteSource(LIMIT 1, STOP true) -> FixIPSrc(10.0.0.254) -> Discard",
    packets: "should ip/ip",
    args: &[ArgSpec::required("IPADDR", ArgType::IpAddr, "the source address")],
    fast: Some(FastPath::of::<FixIPSrc>()),
    ..Class::new("FixIPSrc", "ip", || {
        Box::new(FixIPSrc { constants: Constants, source: Ipv4Address::UNSPECIFIED })
    })
};

struct FixIPSrc {
    constants: Constants,
    source: Ipv4Address,
}

fast_path!(FixIPSrc, fix_ip_src);

/// Gives the packet a source, a right checksum, and no mark.
#[cold]
pub(super) fn fix(p: &mut Packet, source: Ipv4Address) {
    if let Some(mut ip) = p.network_header_mut().and_then(Ipv4Mut::new) {
        ip.set_source(source);
        ip.fill_checksum();
        p.set_anno_u8(anno::FIX_IP_SRC.offset, 0);
    }
}

impl SimpleElement for FixIPSrc {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("IPADDR", &mut self.source);
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.common(p).is_none() && is_marked(p) {
            fix(p, self.source);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::anno;

    #[test]
    fn only_marked_packets_are_changed_and_only_once() {
        let mut t = Harness::new("s :: Source -> FixIPSrc(9.9.9.9) -> FixIPSrc(8.8.8.8) -> k :: Sink");
        let mut marked = ip("1.0.0.1", "2.0.0.2").options(&[1, 1]).marked();
        marked.set_anno_u8(anno::FIX_IP_SRC.offset, 1);
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked(), marked]);
        let expected = [ip("1.0.0.1", "2.0.0.2").bytes(), ip("9.9.9.9", "2.0.0.2").options(&[1, 1]).bytes()];
        assert_eq!(t.bytes("k"), expected);
    }
}
