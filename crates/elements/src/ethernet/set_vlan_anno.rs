//! SetVLANAnno: gives packets a VLAN tag as annotation.

use super::fast::set_vlan_anno::{Constants, fast};
use super::vlan_tag::{Tag, tag_handlers};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets packets' VLAN annotation",
    manual: "Sets the VLAN annotation of every packet to the given tag: as a whole (VLAN_TCI), or as VLAN number and \
             priority. VLANEncap(ANNO) puts it into the packet.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetVLANAnno(VLAN_ID 7) -> VLANEncap(ANNO) -> Discard",
    args: &[
        ArgSpec::positional("VLAN_TCI", ArgType::U16, "", "the whole tag"),
        ArgSpec::positional("VLAN_PCP", ArgType::IntRange { min: 0, max: 7 }, "0", "the priority"),
        ArgSpec::keyword("VLAN_ID", ArgType::IntRange { min: 0, max: 0xFFF }, "0", "the VLAN's number"),
    ],
    handlers: &[
        TAG_HANDLERS[0],
        TAG_HANDLERS[1],
        TAG_HANDLERS[2],
        read_handler!("config", "the present configuration", |e: &mut SetVlanAnno, _| e.tag.arguments())
            .flags("."),
    ],
    fast: Some(FastPath::of::<SetVlanAnno>()),
    ..Class::new("SetVLANAnno", "ethernet", || Box::<SetVlanAnno>::default())
};

/// The class under its older name.
pub static OLDER: Class = Class { name: "SetVlanAnno", ..CLASS };

const TAG_HANDLERS: [clickwork_router::Handler; 3] = tag_handlers!(SetVlanAnno);

#[derive(Default)]
struct SetVlanAnno {
    tag: Tag,
}

fast_path!(SetVlanAnno, set_vlan_anno());

impl SetVlanAnno {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { tci: self.tag.tci.to_be_bytes() }
    }
}

impl SimpleElement for SetVlanAnno {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.tag = Tag::read(args, false);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants(), p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_tag_is_set_and_can_be_changed() {
        let mut t = Harness::new("s :: Source -> v :: SetVLANAnno(VLAN_ID 77, VLAN_PCP 5) -> k :: Sink");
        let set = |t: &mut Harness| {
            t.push("s", 0, [Packet::new(b"")]);
            t.take("k")[0].anno_bytes(clickwork_packet::anno::VLAN_TCI).to_vec()
        };
        assert_eq!(set(&mut t), [0xA0, 77]);
        t.write("v.vlan_id 258").unwrap();
        assert_eq!((set(&mut t), t.read("v.vlan_tci")), (vec![0xA1, 2], (0xA102).to_string()));
        t.write("v.vlan_pcp 0").unwrap();
        assert_eq!((t.read("v.vlan_id"), t.read("v.vlan_pcp")), ("258".into(), "0".into()));
        assert_eq!(t.read("v.config"), "VLAN_ID 258, VLAN_PCP 0");
        for (write, message) in [
            ("vlan_id 4096", "VLAN_ID: out of range, bound 4095"),
            ("vlan_pcp 8", "VLAN_PCP: out of range, bound 7"),
            ("vlan_tci 70000", "VLAN_TCI: out of range, bound 65535"),
            ("vlan_tci x", "VLAN_TCI: parse error"),
        ] {
            assert_eq!(t.write(&format!("v.{write}")).unwrap_err(), message);
        }
        assert_eq!(t.read("v.vlan_tci"), "258");
    }
}
