//! Whatever the bytes and wherever headers are marked: printing a packet does not panic, and the packet passes.

use crate::testing::Harness;
use clickwork_packet::Packet;
use proptest::prelude::*;

/// Any packet, often one that looks like IP, its headers marked anywhere or nowhere.
fn packet() -> impl Strategy<Value = Packet> {
    let mark = prop::option::of((-60i32..100, prop_oneof![Just(20u32), 0..80u32, any::<u32>()]));
    let protocol = prop::sample::select(vec![1u8, 6, 17, 99]);
    let bytes = prop::collection::vec(any::<u8>(), 0..90);
    (bytes, mark, prop::option::of(-40i32..40), any::<bool>(), protocol, 0..30usize).prop_map(
        |(mut bytes, mark, mac, plausible, protocol, strip)| {
            if plausible && bytes.len() >= 20 {
                (bytes[0], bytes[6], bytes[7], bytes[9]) = (0x45, 0, 0, protocol);
            }
            let mut p = Packet::new(&bytes);
            if let Some((offset, length)) = mark {
                p.set_network_header(if plausible { 0 } else { offset }, length);
            }
            if let Some(offset) = mac {
                p.set_mac_offset(offset);
            }
            p.pull(strip);
            p
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_packet_stops_a_printing_element(packets in prop::collection::vec(packet(), 1..8)) {
        let count = packets.len();
        let mut t = Harness::batched(
            "s :: Source -> Print(CONTENTS ASCII, MAXLENGTH -1, PRINTANNO true, HEADROOM true) \
             -> IPPrint(CONTENTS HEX, ID 1, TTL 1, TOS 1, LENGTH 1, PAINT 1, AGGREGATE 1) -> IPPrint(PAYLOAD ASCII) \
             -> ARPPrint(ETHER true) -> IP6Print(CONTENTS true) -> IPPrint(SWAP false) -> k :: Sink",
        );
        t.push_batch("s", 0, packets);
        prop_assert_eq!(t.take("k").len(), count);
    }
}
