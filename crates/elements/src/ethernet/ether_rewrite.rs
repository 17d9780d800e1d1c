//! EtherRewrite: gives Ethernet frames other addresses.

use super::fast::ether_rewrite::Constants;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::EthernetMut;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives Ethernet frames other addresses",
    manual: "Overwrites source and destination of every Ethernet frame. Packets too short for an Ethernet header are \
             dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> EtherRewrite(2:0:0:0:0:1, 2:0:0:0:0:2) -> Discard",
    packets: "ether/ether",
    args: &[
        ArgSpec::required("SRC", ArgType::EtherAddr, "source address"),
        ArgSpec::required("DST", ArgType::EtherAddr, "destination address"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut EtherRewrite, _| e.source.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherRewrite, text, cx| set(&mut e.source, text, cx))),
        read_handler!("dst", "destination address", |e: &mut EtherRewrite, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherRewrite, text, cx| set(
                &mut e.destination,
                text,
                cx
            ))),
    ],
    fast: Some(FastPath::of::<EtherRewrite>()),
    ..Class::new("EtherRewrite", "ethernet", || Box::<EtherRewrite>::default())
};

#[derive(Default)]
struct EtherRewrite {
    source: EtherAddress,
    destination: EtherAddress,
}

fast_path!(EtherRewrite, ether_rewrite());

fn set(slot: &mut EtherAddress, text: &str, cx: &Cx<'_>) -> Result<(), String> {
    *slot = crate::values::parse_with(text, &cx.names(), "Ethernet address")?;
    Ok(())
}

/// The first bytes of an Ethernet frame.
#[inline]
pub(super) fn addresses(destination: EtherAddress, source: EtherAddress) -> [u8; 12] {
    zerocopy::transmute!([destination, source])
}

impl EtherRewrite {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { addresses: addresses(self.destination, self.source) }
    }
}

impl SimpleElement for EtherRewrite {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(mut header) = EthernetMut::new(p.data_mut()) else {
            return Verdict::Drop("frame too short");
        };
        (header.source, header.destination) = (self.source, self.destination);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn both_addresses_are_overwritten() {
        let mut t = Harness::new("s :: Source -> e :: EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2) -> k :: Sink");
        t.write("e.src 3:3:3:3:3:3").unwrap();
        t.push("s", 0, [Packet::new(b"abcdefABCDEF\x08\x00x"), Packet::new(b"short")]);
        assert_eq!(t.bytes("k"), [[&[2; 6][..], &[3; 6], b"\x08\x00x"].concat()]);
    }
}
