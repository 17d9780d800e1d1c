//! DropBroadcasts: drops what came to everybody or to a group.

use super::fast::drop_broadcasts::{Constants, is_for_many};
use clickwork_packet::Packet;
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops packets that arrived as link-level broadcasts or multicasts",
    manual: "A router must not forward packets that came to it as link-level broadcasts or multicasts (RFC 1812 §5.3.4). \
             Such packets go to output 1 if it is connected, and are dropped otherwise. What a packet came as is noted in \
             its packet type by devices and HostEtherFilter.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> DropBroadcasts -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    handlers: &[read_handler!("drops", "packets dropped", |e: &mut DropBroadcasts, _| e.drops)],
    fast: Some(FastPath::of::<DropBroadcasts>()),
    ..Class::new("DropBroadcasts", "standard", || Box::<DropBroadcasts>::default())
};

#[derive(Default)]
struct DropBroadcasts {
    constants: Constants,
    drops: u64,
}

fast_path!(DropBroadcasts, drop_broadcasts);

impl SimpleElement for DropBroadcasts {
    #[inline]
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.common(p).is_some() || !is_for_many(p) {
            return Verdict::PASS;
        }
        if self.drops == 0 {
            cx.chatter("DropBroadcasts: dropped a packet");
        }
        self.drops += 1;
        cx.out_or_drop(1, "link-level broadcast")
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<DropBroadcasts>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, PacketType};

    #[test]
    fn drops_broadcasts_and_multicasts_only() {
        use PacketType::*;
        let mut t = Harness::new("s :: Source -> d :: DropBroadcasts -> k :: Sink");
        t.push(
            "s",
            0,
            [Host, Broadcast, Multicast, OtherHost, Outgoing].map(|ty| {
                let mut p = Packet::new(b"x");
                p.set_packet_type(ty);
                p
            }),
        );
        let passed: Vec<_> = t.take("k").iter().map(Packet::packet_type).collect();
        assert_eq!(passed, [Host, OtherHost, Outgoing]);
        assert_eq!(t.read("d.drops"), "2");
        assert_eq!(t.printed(), "DropBroadcasts: dropped a packet\n");
    }
}
