//! StripEtherVLANHeader: takes off the Ethernet header and its VLAN tag.

use super::fast::strip_ether_vlan_header::Constants;
use super::vlan_tag::{self, ADDRESSES, Native, TAG, u16_at};
use clickwork_packet::Packet;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "takes off Ethernet headers with VLAN tags",
    manual: "Removes the Ethernet header and its 802.1Q tag from every frame and notes the tag in the VLAN annotation. A \
             frame without tag belongs to NATIVE_VLAN; if that is -1, it goes to output 1, or is dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> StripEtherVLANHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ether/any,same",
    args: &[ArgSpec::positional(
        "NATIVE_VLAN",
        ArgType::IntRange { min: -1, max: 0xFFF },
        "0",
        "the VLAN whose frames have no tag; -1: none",
    )],
    fast: Some(FastPath::of::<StripEtherVlanHeader>()),
    ..Class::new("StripEtherVLANHeader", "ethernet", || Box::<StripEtherVlanHeader>::default())
};

/// The class under its older name.
pub static OLDER: Class = Class { name: "StripEtherVlanHeader", ..CLASS };

#[derive(Default)]
struct StripEtherVlanHeader {
    native: Native,
}

fast_path!(StripEtherVlanHeader, strip_ether_vlan_header());

impl StripEtherVlanHeader {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { native: self.native.id() }
    }
}

impl SimpleElement for StripEtherVlanHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        match args.get::<i32>("NATIVE_VLAN") {
            Some(id) if id > i32::from(vlan_tag::ID) => args.error("bad NATIVE_VLAN"),
            id => self.native = id.map_or(self.native, Native::of),
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(kind) = u16_at(p.data(), ADDRESSES) else { return cx.out_or_drop(1, "frame too short") };
        let (tag, length) = match kind {
            ethertype::VLAN => (u16_at(p.data(), ADDRESSES + 2), ADDRESSES + 2 + TAG),
            _ => (self.native.id(), ADDRESSES + 2),
        };
        let Some(tag) = tag.filter(|_| p.len() >= length) else {
            return cx.out_or_drop(1, "frame without VLAN");
        };
        vlan_tag::set_annotation(p, tag);
        p.pull(length);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::vlan_tag::annotation;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const TAGGED: &[u8] = b"abcdefABCDEF\x81\x00\x61\x02\x08\x00tagged";
    const PLAIN: &[u8] = b"abcdefABCDEF\x08\x00plain";

    #[test]
    fn tags_are_noted_and_frames_without_belong_to_the_native_vlan() {
        let mut t = Harness::new("s :: Source -> StripEtherVLANHeader(9) -> k :: Sink");
        t.push("s", 0, [TAGGED, PLAIN, b"short"].map(Packet::new));
        let got: Vec<_> = t.take("k").iter().map(|p| (p.data().to_vec(), annotation(p))).collect();
        assert_eq!(got, [(b"tagged".to_vec(), 0x6102), (b"plain".to_vec(), 9)]);
    }

    #[test]
    fn without_a_native_vlan_every_frame_needs_a_tag() {
        let mut t = Harness::new(
            "s :: Source -> h :: StripEtherVLANHeader(NATIVE_VLAN -1) -> k :: Sink; h[1] -> no :: Sink",
        );
        t.push("s", 0, [TAGGED, PLAIN, &TAGGED[..17]].map(Packet::new));
        assert_eq!((t.bytes("k").len(), t.bytes("no")), (1, vec![PLAIN.to_vec(), TAGGED[..17].to_vec()]));
    }

    #[test]
    fn every_negative_number_stands_for_no_native_vlan() {
        let mut t = Harness::new("s :: Source -> StripEtherVLANHeader(-7) -> k :: Sink");
        t.push("s", 0, [TAGGED, PLAIN].map(Packet::new));
        assert_eq!(t.bytes("k").len(), 1);
        let e = Harness::errors("Idle -> StripEtherVLANHeader(4096) -> Discard");
        assert!(e.contains("bad NATIVE_VLAN"), "{e}");
    }
}
