//! EtherRewrite: gives Ethernet frames other addresses.

use super::fast::ether_rewrite::Constants;
use crate::values::reconfigure;
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
    manual: "Overwrites source and destination of every Ethernet frame: in its marked link-level header, also if that was \
             stripped, or in front if none is marked. Packets too short for an Ethernet header are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> EtherRewrite(2:0:0:0:0:1, 2:0:0:0:0:2) -> Discard",
    packets: "ether/ether",
    args: &[
        ArgSpec::required("SRC", ArgType::EtherAddr, "source address"),
        ArgSpec::required("DST", ArgType::EtherAddr, "destination address"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut EtherRewrite, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut EtherRewrite, text, cx| reconfigure(
                &mut e.source,
                0,
                "SRC",
                text,
                cx
            )),
        ),
        read_handler!("dst", "destination address", |e: &mut EtherRewrite, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut EtherRewrite, text, cx| reconfigure(
                &mut e.destination,
                1,
                "DST",
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

    /// Writes the addresses where the header is, or was.
    fn rewrite(&self, p: &mut Packet) -> Option<()> {
        let offset = p.mac_offset().unwrap_or(0);
        let stripped = offset.min(0).unsigned_abs() as usize;
        if stripped > p.headroom() {
            return None;
        }
        p.unpull(stripped);
        let frame = p.data_mut().get_mut(offset.max(0) as usize..);
        let written = frame.and_then(EthernetMut::new).map(|mut header| {
            (header.source, header.destination) = (self.source, self.destination);
        });
        p.pull(stripped);
        written
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
        match self.rewrite(p) {
            Some(()) => Verdict::PASS,
            None => Verdict::Drop("frame too short"),
        }
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

    #[test]
    fn the_header_is_where_it_is_marked_also_behind_other_bytes_or_stripped() {
        let rewritten = |around: [&str; 2], frame: &[u8]| {
            let [before, behind] = around;
            let mut t = Harness::new(&format!(
                "s :: Source -> {before} -> EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2) -> {behind} -> k :: Sink"
            ));
            let p = Packet::new(frame);
            // A second handle: the frame is shared.
            let other = p.clone();
            t.push("s", 0, [p]);
            assert_eq!(other.data(), frame);
            t.bytes("k")
        };
        let frame = b"abcdefABCDEF\x08\x00x";
        let new = [&[2; 6][..], &[1; 6], b"\x08\x00x"].concat();
        assert_eq!(rewritten(["MarkMACHeader -> Strip(14)", "Unstrip(14)"], frame), [&new[..]]);
        let tagged = [b"tag!", &frame[..]].concat();
        assert_eq!(rewritten(["MarkMACHeader(4)", "Null"], &tagged), [[b"tag!", &new[..]].concat()]);
        assert!(rewritten(["MarkMACHeader(4)", "Null"], frame).is_empty());
    }
}
