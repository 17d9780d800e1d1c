//! EtherVLANEncap: puts packets into Ethernet frames with a VLAN tag.

use super::ether_rewrite::addresses;
use super::fast::ether_vlan_encap::Constants;
use super::vlan_tag::{ADDRESSES, Native, Tag, tag_handlers};
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::ethernet::ethertype;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "puts packets into Ethernet frames with a VLAN tag",
    manual: "Adds an Ethernet header with the given type, source and destination and an 802.1Q tag to every packet. The tag \
             is fixed, or that of the VLAN annotation if VLAN_TCI is ANNO; packets of NATIVE_VLAN get none.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> EtherVLANEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2, VLAN_ID 7) -> Discard",
    packets: "any/new ether",
    args: &[
        ArgSpec::required("ETHERTYPE", ArgType::U16, "Ethernet type"),
        ArgSpec::required("SRC", ArgType::EtherAddr, "source address"),
        ArgSpec::required("DST", ArgType::EtherAddr, "destination address"),
        ArgSpec::positional("VLAN_TCI", ArgType::Other("tag or ANNO"), "", "the whole tag, or ANNO"),
        ArgSpec::positional("VLAN_PCP", ArgType::IntRange { min: 0, max: 7 }, "0", "the priority"),
        ArgSpec::keyword("VLAN_ID", ArgType::IntRange { min: 0, max: 0xFFF }, "0", "the VLAN's number"),
        ArgSpec::keyword(
            "NATIVE_VLAN",
            ArgType::IntRange { min: -1, max: 0xFFF },
            "0",
            "the VLAN whose frames have no tag; -1: none",
        ),
    ],
    handlers: &[
        TAG_HANDLERS[0],
        TAG_HANDLERS[1],
        TAG_HANDLERS[2],
        read_handler!("src", "source address", |e: &mut EtherVlanEncap, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut EtherVlanEncap, text, cx| set(&mut e.source, text, cx)),
        ),
        read_handler!("dst", "destination address", |e: &mut EtherVlanEncap, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherVlanEncap, text, cx| set(
                &mut e.destination,
                text,
                cx
            ))),
        read_handler!("ethertype", "Ethernet type", |e: &mut EtherVlanEncap, _| e.ethertype).and_write(
            write_handler!("", "", |e: &mut EtherVlanEncap, text, _| crate::values::store(
                &mut e.ethertype,
                text,
                "uint16_t"
            )),
        ),
        read_handler!("config", "the present addresses, type and tag", |e: &mut EtherVlanEncap, _| e
            .config())
        .flags("."),
        read_handler!("native_vlan", "the VLAN without tags", |e: &mut EtherVlanEncap, _| e.native.show())
            .and_write(write_handler!("", "", |e: &mut EtherVlanEncap, text, _| e.native.set(text))),
    ],
    fast: Some(FastPath::of::<EtherVlanEncap>()),
    ..Class::new("EtherVLANEncap", "ethernet", || Box::<EtherVlanEncap>::default())
};

/// The class under its older name.
pub static OLDER: Class = Class { name: "EtherVlanEncap", ..CLASS };

const TAG_HANDLERS: [clickwork_router::Handler; 3] = tag_handlers!(EtherVlanEncap);

#[derive(Default)]
struct EtherVlanEncap {
    ethertype: u16,
    source: EtherAddress,
    destination: EtherAddress,
    tag: Tag,
    native: Native,
}

fast_path!(EtherVlanEncap, ether_vlan_encap());

fn set(slot: &mut EtherAddress, text: &str, cx: &Cx<'_>) -> Result<(), String> {
    *slot = crate::values::parse_with(text, &cx.names(), "Ethernet address")?;
    Ok(())
}

impl EtherVlanEncap {
    /// What it does at present, in the order that Click shows it in: not that of the arguments.
    fn config(&self) -> String {
        let EtherVlanEncap { ethertype, source, destination, tag, native } = self;
        format!("{source}, {destination}, {ethertype}, {}{}", tag.arguments(), native.argument())
    }

    #[inline]
    fn constants(&self) -> Constants {
        Constants {
            addresses: addresses(self.destination, self.source),
            ethertype: self.ethertype.to_be_bytes(),
            tci: self.tag.fixed(),
            native: self.native.id(),
        }
    }
}

impl SimpleElement for EtherVlanEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ETHERTYPE", &mut self.ethertype);
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
        self.tag = Tag::read(args, true);
        self.native = Native::read(args);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let tci = self.tag.of(p);
        let mut header = [0; ADDRESSES + 6];
        header[..ADDRESSES].copy_from_slice(&addresses(self.destination, self.source));
        let length = if self.native.has(tci) { ADDRESSES + 2 } else { ADDRESSES + 6 };
        if length > ADDRESSES + 2 {
            header[ADDRESSES..ADDRESSES + 2].copy_from_slice(&ethertype::VLAN.to_be_bytes());
            header[ADDRESSES + 2..ADDRESSES + 4].copy_from_slice(&tci.to_be_bytes());
        }
        header[length - 2..length].copy_from_slice(&self.ethertype.to_be_bytes());
        p.push(length)[..length].copy_from_slice(&header[..length]);
        p.set_mac_header(0, length as u32);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_header_has_the_tag_unless_the_vlan_is_native() {
        let mut t = Harness::new(
            "s :: Source -> v :: EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, VLAN_ID 7, VLAN_PCP 1) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"x")]);
        t.write("v.native_vlan 7").unwrap();
        t.push("s", 0, [Packet::new(b"x")]);
        let addresses = [[2; 6], [1; 6]].concat();
        let tagged = [&addresses[..], b"\x81\x00\x20\x07\x08\x00x"].concat();
        assert_eq!(t.bytes("k"), [tagged, [&addresses[..], b"\x08\x00x"].concat()]);
        assert_eq!([t.read("v.src"), t.read("v.vlan_id")], ["01-01-01-01-01-01", "7"]);
        assert_eq!(
            t.read("v.config"),
            "01-01-01-01-01-01, 02-02-02-02-02-02, 2048, VLAN_ID 7, VLAN_PCP 1, NATIVE_VLAN 7"
        );
    }
}
