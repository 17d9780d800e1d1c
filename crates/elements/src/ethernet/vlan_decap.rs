//! VLANDecap: takes the VLAN tag out of Ethernet frames.

use super::fast::vlan_decap::Constants;
use super::vlan_tag::{self, ADDRESSES, TAG, u16_at};
use clickwork_packet::Packet;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "takes the VLAN tag out of Ethernet frames",
    manual: "Removes the outermost 802.1Q tag of every Ethernet frame that has one, and notes it in the VLAN annotation; \
             the annotation of a frame without tag becomes 0.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> VLANEncap(7) -> VLANDecap -> Discard",
    packets: "ether/new ether",
    args: &[
        ArgSpec::positional("ANNO", ArgType::Bool, "true", "whether the annotation is set"),
        ArgSpec::keyword("ETHERTYPE", ArgType::U16, "0x8100", "the tag's Ethernet type"),
    ],
    fast: Some(FastPath::of::<VlanDecap>()),
    ..Class::new("VLANDecap", "ethernet", || {
        Box::new(VlanDecap { constants: Constants { annotate: true, ethertype: ethertype::VLAN } })
    })
};

struct VlanDecap {
    constants: Constants,
}

fast_path!(VlanDecap, vlan_decap);

impl SimpleElement for VlanDecap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ANNO", &mut self.constants.annotate).read("ETHERTYPE", &mut self.constants.ethertype);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let is_tagged = u16_at(p.data(), ADDRESSES) == Some(self.constants.ethertype);
        let tag = u16_at(p.data(), ADDRESSES + 2).filter(|_| is_tagged);
        if tag.is_some() {
            p.data_mut().copy_within(..ADDRESSES, TAG);
            p.pull(TAG);
        }
        p.set_mac_header(0, 14);
        if self.constants.annotate {
            vlan_tag::set_annotation(p, tag.unwrap_or(0));
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::vlan_tag::annotation;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn decap(args: &str, frame: &[u8]) -> (Vec<u8>, u16) {
        let mut t = Harness::new(&format!("s :: Source -> VLANDecap({args}) -> k :: Sink"));
        let mut p = Packet::new(frame);
        super::vlan_tag::set_annotation(&mut p, 99);
        // A second handle: the frame is shared.
        let other = p.clone();
        t.push("s", 0, [p]);
        assert_eq!(other.data(), frame);
        let p = t.take("k").remove(0);
        (p.data().to_vec(), annotation(&p))
    }

    #[test]
    fn the_outermost_tag_is_removed_and_noted() {
        let tagged = b"abcdefABCDEF\x81\x00\x61\x02\x81\x00\x00\x03";
        assert_eq!(decap("", tagged), (b"abcdefABCDEF\x81\x00\x00\x03".to_vec(), 0x6102));
        assert_eq!(decap("false", tagged).1, 99);
        assert_eq!(decap("ETHERTYPE 0x88A8", tagged), (tagged.to_vec(), 0));
    }

    #[test]
    fn frames_without_a_whole_tag_stay() {
        for frame in [&b"abcdefABCDEF\x08\x00xx"[..], b"abcdefABCDEF\x81\x00\x61", b"x", b""] {
            assert_eq!(decap("", frame), (frame.to_vec(), 0));
        }
    }
}
