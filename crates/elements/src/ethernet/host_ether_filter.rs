//! HostEtherFilter: keeps the frames that a host should receive, and says who they address.

use super::fast::host_ether_filter::Constants;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Packet, PacketType};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops Ethernet frames that are not for this host",
    manual: "Sets the packet type annotation from the destination address. With DROP_OTHER, frames to other hosts go to \
             output 1 (or are dropped); with DROP_OWN, so do frames that this host sent itself.",
    example: "InfiniteSource(DATA \\<020000000001020000000003 0800>, LIMIT 1, STOP true) -> \
              HostEtherFilter(2:0:0:0:0:1) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ether@OFFSET/ether@OFFSET,same",
    args: &[
        ArgSpec::required("ETHER", ArgType::EtherAddr, "this host's address"),
        ArgSpec::positional("DROP_OWN", ArgType::Bool, "false", "whether frames from this host are dropped"),
        ArgSpec::positional("DROP_OTHER", ArgType::Bool, "true", "whether frames to other hosts are dropped"),
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the Ethernet header begins"),
    ],
    handlers: &[read_handler!("ether", "this host's address", |e: &mut HostEtherFilter, _| e
        .own
        .to_string())
    .and_write(write_handler!("", "", |e: &mut HostEtherFilter, text, cx| crate::values::store_named(
        &mut e.own,
        text,
        cx,
        "Ethernet address"
    )))],
    fast: Some(FastPath::of::<HostEtherFilter>()),
    ..Class::new("HostEtherFilter", "ethernet", || Box::<HostEtherFilter>::default())
};

struct HostEtherFilter {
    own: EtherAddress,
    drop_own: bool,
    drop_other: bool,
    offset: u32,
}

fast_path!(HostEtherFilter, host_ether_filter());

impl Default for HostEtherFilter {
    fn default() -> HostEtherFilter {
        HostEtherFilter { own: EtherAddress::default(), drop_own: false, drop_other: true, offset: 0 }
    }
}

impl HostEtherFilter {
    #[inline]
    fn constants(&self) -> Constants {
        let HostEtherFilter { own, drop_own, drop_other, offset } = *self;
        Constants { own: own.0, drop_own, drop_other, offset: offset as usize }
    }
}

impl SimpleElement for HostEtherFilter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ETHER", &mut self.own).read("DROP_OWN", &mut self.drop_own);
        args.read("DROP_OTHER", &mut self.drop_other).read("OFFSET", &mut self.offset);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let at = self.offset as usize;
        let Some(addresses) = p.data().get(at..at + 12) else { return cx.out_or_drop(1, "frame too short") };
        let address = |i: usize| EtherAddress(std::array::from_fn(|n| addresses[i + n]));
        let (to, from) = (address(0), address(6));
        if self.drop_own && from == self.own {
            return cx.out_or_drop(1, "own frame");
        }
        let kind = match to {
            _ if to == self.own => PacketType::Host,
            _ if to.is_broadcast() => PacketType::Broadcast,
            _ if to.is_multicast() => PacketType::Multicast,
            _ => PacketType::OtherHost,
        };
        p.set_packet_type(kind);
        if kind == PacketType::OtherHost && self.drop_other {
            return cx.out_or_drop(1, "for another host");
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, PacketType};

    fn frame(to: u8, from: u8) -> Packet {
        Packet::new(&[[to; 6], [from; 6]].concat())
    }

    #[test]
    fn sorts_frames_by_whom_they_address() {
        let config = "s :: Source -> h :: HostEtherFilter(2:2:2:2:2:2, DROP_OWN true) -> k :: Sink; h[1] -> no :: Sink";
        let mut t = Harness::new(config);
        t.push(
            "s",
            0,
            [frame(2, 4), frame(255, 4), frame(3, 4), frame(6, 4), frame(255, 2), Packet::new(b"short")],
        );
        let types: Vec<_> = t.take("k").iter().map(Packet::packet_type).collect();
        assert_eq!(types, [PacketType::Host, PacketType::Broadcast, PacketType::Multicast]);
        assert_eq!(t.take("no").len(), 3);
        t.write("h.ether 4:4:4:4:4:4").unwrap();
        assert_eq!(t.read("h.ether"), "04-04-04-04-04-04");
        t.push("s", 0, [frame(4, 2), frame(2, 2)]);
        assert_eq!((t.take("k").len(), t.take("no").len()), (1, 1));
    }
}
