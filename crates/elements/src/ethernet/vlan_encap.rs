//! VLANEncap: puts a VLAN tag into Ethernet frames.

use super::fast::vlan_encap::Constants;
use super::vlan_tag::{ADDRESSES, Native, TAG, Tag, tag_handlers};
use clickwork_packet::Packet;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "puts a VLAN tag into Ethernet frames",
    manual: "Inserts an 802.1Q tag behind the addresses of every Ethernet frame: a fixed one, or that of the VLAN \
             annotation if VLAN_TCI is ANNO. Frames of NATIVE_VLAN stay as they are.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> VLANEncap(VLAN_ID 7, VLAN_PCP 3) -> Discard",
    packets: "ether/new ether",
    args: &[
        ArgSpec::positional("VLAN_TCI", ArgType::Other("tag or ANNO"), "", "the whole tag, or ANNO"),
        ArgSpec::positional("VLAN_PCP", ArgType::IntRange { min: 0, max: 7 }, "0", "the priority"),
        ArgSpec::keyword("VLAN_ID", ArgType::IntRange { min: 0, max: 0xFFF }, "0", "the VLAN's number"),
        ArgSpec::keyword(
            "NATIVE_VLAN",
            ArgType::IntRange { min: -1, max: 0xFFF },
            "0",
            "the VLAN whose frames have no tag; -1: none",
        ),
        ArgSpec::keyword("ETHERTYPE", ArgType::U16, "0x8100", "the tag's Ethernet type"),
    ],
    handlers: &[
        TAG_HANDLERS[0],
        TAG_HANDLERS[1],
        TAG_HANDLERS[2],
        read_handler!("config", "the present configuration", |e: &mut VlanEncap, _| {
            e.tag.arguments() + &e.native.argument()
        })
        .flags("."),
        read_handler!("native_vlan", "the VLAN without tags", |e: &mut VlanEncap, _| e.native.show())
            .and_write(write_handler!("", "", |e: &mut VlanEncap, text, _| e.native.set(text))),
        read_handler!("ethertype", "the tag's Ethernet type", |e: &mut VlanEncap, _| e.ethertype).and_write(
            write_handler!("", "", |e: &mut VlanEncap, text, _| crate::values::store(
                &mut e.ethertype,
                text,
                "uint16_t"
            )),
        ),
    ],
    fast: Some(FastPath::of::<VlanEncap>()),
    ..Class::new("VLANEncap", "ethernet", || Box::<VlanEncap>::default())
};

const TAG_HANDLERS: [clickwork_router::Handler; 3] = tag_handlers!(VlanEncap);

struct VlanEncap {
    tag: Tag,
    native: Native,
    ethertype: u16,
}

fast_path!(VlanEncap, vlan_encap());

impl Default for VlanEncap {
    fn default() -> VlanEncap {
        VlanEncap { tag: Tag::default(), native: Native::default(), ethertype: ethertype::VLAN }
    }
}

impl VlanEncap {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { tci: self.tag.fixed(), native: self.native.id(), ethertype: self.ethertype }
    }
}

impl SimpleElement for VlanEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.tag = Tag::read(args, true);
        self.native = Native::read(args);
        args.read("ETHERTYPE", &mut self.ethertype);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let tci = self.tag.of(p);
        let is_tagged = !self.native.has(tci);
        if is_tagged {
            if p.len() < ADDRESSES {
                return Verdict::Drop("frame too short");
            }
            let data = p.push(TAG);
            data.copy_within(TAG..TAG + ADDRESSES, 0);
            data[ADDRESSES..ADDRESSES + 2].copy_from_slice(&self.ethertype.to_be_bytes());
            data[ADDRESSES + 2..ADDRESSES + TAG].copy_from_slice(&tci.to_be_bytes());
        }
        p.set_mac_header(0, if is_tagged { 18 } else { 14 });
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const FRAME: &[u8] = b"abcdefABCDEF\x08\x00data";

    fn sent(config: &str, frame: &[u8]) -> Vec<Vec<u8>> {
        let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
        t.push("s", 0, [Packet::new(frame)]);
        t.bytes("k")
    }

    #[test]
    fn the_tag_goes_behind_the_addresses() {
        assert_eq!(sent("VLANEncap(5, VLAN_PCP 1)", FRAME), [b"abcdefABCDEF\x81\x00\x20\x05\x08\x00data"]);
        assert_eq!(
            sent("VLANEncap(VLAN_ID 5, ETHERTYPE 0x88A8)", FRAME),
            [b"abcdefABCDEF\x88\xa8\x00\x05\x08\x00data"]
        );
        assert!(sent("VLANEncap(5)", b"short").is_empty());
    }

    #[test]
    fn the_configuration_is_the_present_one() {
        let mut t = Harness::new("s :: Source -> v :: VLANEncap(VLAN_TCI 100, NATIVE_VLAN -1) -> k :: Sink");
        assert_eq!(t.read("v.config"), "VLAN_ID 100, VLAN_PCP 0, NATIVE_VLAN 65535");
        t.write("v.native_vlan 0").unwrap();
        t.write("v.vlan_id 7").unwrap();
        assert_eq!(t.read("v.config"), "VLAN_ID 7, VLAN_PCP 0");
        t.write("v.vlan_tci ANNO").unwrap();
        assert_eq!(t.read("v.config"), "ANNO");
        for (wrong, message) in
            [("4096", "out of range, bound 4095"), ("-2", "out of range, bound -1"), ("x", "parse error")]
        {
            let said = t.write(&format!("v.native_vlan {wrong}")).unwrap_err();
            assert_eq!(said, format!("NATIVE_VLAN: {message}"));
        }
    }

    #[test]
    fn frames_of_the_native_vlan_have_none() {
        assert_eq!(sent("SetVLANAnno(0) -> VLANEncap(ANNO)", FRAME), [FRAME]);
        assert_eq!(sent("SetVLANAnno(9) -> VLANEncap(ANNO, NATIVE_VLAN 9)", FRAME), [FRAME]);
        assert_eq!(sent("VLANEncap(0, NATIVE_VLAN -1)", FRAME)[0].len(), FRAME.len() + 4);
    }

    #[test]
    fn a_tag_and_its_removal_leave_the_frame_as_it_was() {
        let mut t = Harness::new(
            "s :: Source -> VLANEncap(0xA123) -> VLANDecap -> v :: VLANEncap(ANNO) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(FRAME)]);
        assert_eq!(t.bytes("k"), [b"abcdefABCDEF\x81\x00\xA1\x23\x08\x00data"]);
        assert_eq!([t.read("v.vlan_tci"), t.read("v.vlan_id"), t.read("v.native_vlan")], ["ANNO", "", ""]);
    }

    #[test]
    fn arguments_have_bounds() {
        let e = Harness::errors("Idle -> VLANEncap(70000, VLAN_PCP 8, VLAN_ID 4096) -> Discard");
        for name in ["VLAN_TCI", "VLAN_PCP", "VLAN_ID"] {
            assert!(e.contains(&format!("{name}: out of range")), "{e}");
        }
    }
}
