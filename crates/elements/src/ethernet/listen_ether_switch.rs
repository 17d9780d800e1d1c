//! ListenEtherSwitch: an Ethernet switch with a port that hears everything.

use super::ether_switch::{ARGS, EtherSwitch, HANDLERS, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "forwards Ethernet frames as a learning switch does, and copies them to a listener",
    manual: "As EtherSwitch, with one output more than inputs. This last output gets a copy of every frame, also of those \
             that stay in their network.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> s :: ListenEtherSwitch -> Discard; \
              Idle -> [1] s [1] -> Discard; s [2] -> Print(heard) -> Discard",
    ports: "-/=+",
    args: ARGS,
    handlers: HANDLERS,
    ..class("ListenEtherSwitch", || Box::new(EtherSwitch::new(true)))
};

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn frame(to: u8, from: u8) -> Packet {
        Packet::new(&[&[to; 6][..], &[from; 6], b"\x08\x00"].concat())
    }

    #[test]
    fn the_listener_hears_every_frame_once() {
        let mut t = Harness::new(
            "s :: ListenEtherSwitch; Idle -> [0] s [0] -> a :: Sink; Idle -> [1] s [1] -> b :: Sink; s [2] -> ear :: Sink",
        );
        let got = |t: &mut Harness| ["a", "b", "ear"].map(|sink| t.take(sink).len());
        t.push("s", 0, [frame(4, 2)]);
        assert_eq!(got(&mut t), [0, 1, 1], "unknown");
        t.push("s", 1, [frame(2, 4)]);
        assert_eq!(got(&mut t), [1, 0, 1], "known");
        t.push("s", 1, [frame(4, 6)]);
        assert_eq!(got(&mut t), [0, 0, 1], "in its own network");
        t.push("s", 1, [frame(255, 6)]);
        assert_eq!(got(&mut t), [1, 0, 1], "to all");
    }

    /// Without another network there is only the listener.
    #[test]
    fn one_network_is_enough() {
        let mut t =
            Harness::new("s :: ListenEtherSwitch; Idle -> [0] s [0] -> a :: Sink; s [1] -> ear :: Sink");
        t.push("s", 0, [frame(4, 2), frame(2, 2)]);
        assert_eq!((t.take("a").len(), t.take("ear").len()), (0, 2));
    }
}
