//! EtherEncap: puts packets into Ethernet frames with fixed addresses.

use super::fast::ether_encap::Constants;
use crate::values::reconfigure;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::ethernet::EthernetHeader;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

macro_rules! ethertype_handler {
    ($name:expr, $help:expr) => {
        read_handler!($name, $help, |e: &mut EtherEncap, _| e.ethertype).and_write(write_handler!(
            "",
            "",
            |e: &mut EtherEncap, text, cx| { reconfigure(&mut e.ethertype, 0, "ETHERTYPE", text, cx) }
        ))
    };
}

/// The class facts.
pub static CLASS: Class = Class {
    help: "puts packets into Ethernet frames",
    manual: "Adds an Ethernet header with the given type, source and destination to every packet.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Discard",
    packets: "should ethertype(ETHERTYPE)@0/push(ether) ethertype(ETHERTYPE)@14",
    args: &[
        ArgSpec::required("ETHERTYPE", ArgType::U16, "Ethernet type"),
        ArgSpec::required("SRC", ArgType::EtherAddr, "source address"),
        ArgSpec::required("DST", ArgType::EtherAddr, "destination address"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut EtherEncap, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut EtherEncap, text, cx| reconfigure(
                &mut e.source,
                1,
                "SRC",
                text,
                cx
            )),
        ),
        read_handler!("dst", "destination address", |e: &mut EtherEncap, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherEncap, text, cx| reconfigure(
                &mut e.destination,
                2,
                "DST",
                text,
                cx
            ))),
        ethertype_handler!("ethertype", "Ethernet type"),
        ethertype_handler!("etht", "the older name of 'ethertype'").flags("D"),
    ],
    fast: Some(FastPath::of::<EtherEncap>()),
    ..Class::new("EtherEncap", "ethernet", || Box::<EtherEncap>::default())
};

const ETHER: usize = 14;

#[derive(Default)]
struct EtherEncap {
    ethertype: u16,
    source: EtherAddress,
    destination: EtherAddress,
}

fast_path!(EtherEncap, ether_encap());

/// Puts an Ethernet header in front of a packet.
#[inline]
pub(crate) fn encapsulate(p: &mut Packet, header: &[u8; ETHER]) {
    match p.unshared_push() {
        Some(front) => *front = *header,
        None => p.push(ETHER)[..ETHER].copy_from_slice(header),
    }
}

/// The bytes of an Ethernet header.
#[inline]
pub(crate) fn ethernet_header(
    destination: EtherAddress,
    source: EtherAddress,
    ethertype: u16,
) -> [u8; ETHER] {
    zerocopy::transmute!(EthernetHeader::new(destination, source, ethertype))
}

impl EtherEncap {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { header: ethernet_header(self.destination, self.source, self.ethertype) }
    }
}

impl SimpleElement for EtherEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ETHERTYPE", &mut self.ethertype);
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        encapsulate(p, &self.constants().header);
        p.set_mac_header(0, ETHER as u32);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn adds_the_header_and_follows_its_handlers() {
        let mut t =
            Harness::new("s :: Source -> e :: EtherEncap(0x86DD, 1:2:3:4:5:6, 7:8:9:a:b:c) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!(t.bytes("k"), [[7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 0x86, 0xDD, b'x']]);
        t.write("e.src 9:9:9:9:9:9").unwrap();
        assert_eq!(t.read("e.src"), "09-09-09-09-09-09");
        assert_eq!(t.write("e.dst hello").unwrap_err(), "DST: parse error");
        t.write("e.etht 0x800").unwrap();
        assert_eq!([t.read("e.etht"), t.read("e.ethertype")], ["2048", "2048"]);
        assert_eq!(t.write("e.ethertype 99999").unwrap_err(), "ETHERTYPE: out of range, bound 65535");
    }
}
