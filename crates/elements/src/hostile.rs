//! Hostile packets through every element that looks at packets one by one: whatever the bytes, nothing panics, and each
//! packet that goes in comes out or is counted as dropped.

use crate::ip::samples::ip;
use crate::testing::Harness;
use clickwork_packet::{Packet, PacketType};
use proptest::prelude::*;

/// Elements, the outputs that they have, and whether each packet leaves once. PaintTee and IPOutputCombo copy,
/// IPFragmenter divides: of these it is asked only that nothing gets lost.
const ELEMENTS: &[(&str, usize, bool)] = &[
    ("Strip(14)", 1, true),
    ("Unstrip(40)", 1, true),
    ("CheckIPHeader(INTERFACES 10.0.0.1/24, OFFSET 3)", 2, true),
    ("CheckIPHeader2", 2, true),
    ("MarkIPHeader(5)", 1, true),
    ("GetIPAddress(16)", 1, true),
    ("GetIPAddress(IP src)", 1, true),
    ("SetIPAddress(1.2.3.4)", 1, true),
    ("Paint(1)", 1, true),
    ("PaintTee(0)", 2, false),
    ("CheckPaint(0)", 2, true),
    ("DropBroadcasts", 2, true),
    ("IPGWOptions(1.2.3.4, 5.6.7.8)", 2, true),
    ("FixIPSrc(1.2.3.4)", 1, true),
    ("DecIPTTL", 2, true),
    ("IPFragmenter(30, HONOR_DF false)", 2, false),
    ("IPFragmenter(68)", 2, false),
    ("ICMPError(1.2.3.4, parameterproblem, MTU 60)", 1, true),
    ("ICMPError(1.2.3.4, redirect)", 1, true),
    ("ICMPPingResponder", 2, true),
    ("PaintSwitch", 3, false),
    ("Switch(1)", 2, true),
    ("Align(8, 3)", 1, true),
    ("Truncate(22)", 1, true),
    ("SetTimestamp", 1, true),
    ("StripIPHeader", 1, true),
    ("UnstripIPHeader", 1, true),
    ("StripToNetworkHeader", 1, true),
    ("SetIPChecksum", 1, true),
    ("StoreIPAddress(src)", 2, true),
    ("StoreIPAddress(1.2.3.4, 20)", 2, true),
    ("IPEncap(4, 1.0.0.1, DST_ANNO)", 1, true),
    ("IPInputCombo(1)", 1, true),
    ("IPOutputCombo(1, 1.2.3.4, 60)", 5, false),
    ("CheckTCPHeader", 2, true),
    ("CheckUDPHeader", 2, true),
    ("CheckICMPHeader", 2, true),
    ("SetTCPChecksum(true)", 1, true),
    ("SetUDPChecksum", 2, true),
    ("UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2)", 1, true),
    ("ICMPPingEncap(1.0.0.1, 2.0.0.2)", 1, true),
    ("Bypass(true)", 2, true),
    ("RoundRobinSwitch", 3, true),
    ("HashSwitch(2, 9)", 3, true),
    ("RandomSample(0.5)", 2, true),
    ("SetPacketType(HOST)", 1, true),
    ("Pad(60)", 1, true),
    ("Pad", 1, true),
    ("Resize(-3, 5)", 1, true),
    ("StoreData(18, abcd)", 1, true),
    ("CheckLength(30)", 2, true),
    ("MarkMACHeader(3, 9)", 1, true),
    ("SetAnnoByte(PAINT, 1)", 1, true),
    ("SetIPDSCP(3)", 1, true),
    ("SetIPECN(1)", 1, true),
    ("MarkIPCE(true)", 1, true),
    ("IPMirror", 1, true),
    ("EraseIPPayload", 1, true),
    ("DebugBridge(x)", 1, true),
    ("IPRewriter(keep 0 1)", 2, true),
    ("TCPRewriter(pattern 3.0.0.1 1-9 - - 0 1)", 2, true),
    ("UDPRewriter(pattern - - 3.0.0.1 - 0 1, CAPACITY 7)", 2, true),
    ("IPAddrRewriter(pattern 3.0.0.0/28 - 0 1)", 2, true),
    ("IPAddrPairRewriter(pattern 3.0.0.1 4.0.0.1 0 1)", 2, true),
    ("ICMPPingRewriter(pattern 3.0.0.1 1-9 - - 0 1)", 2, true),
    ("ProtocolTranslator46", 1, true),
    ("IPsecESPEncrypt(300, 000102030405060708090a0b0c0d0e0f10111213, SRC 1.0.0.1, DST 1.0.0.2)", 1, true),
    ("IPsecESPEncrypt(300, 000102030405060708090a0b0c0d0e0f10111213, MODE transport)", 1, true),
    ("IPsecESPDecrypt(0x01020304, 000102030405060708090a0b0c0d0e0f10111213)", 2, true),
    ("IPsecESPEncap", 1, true),
    ("IPsecESPUnencap", 1, true),
    ("IPsecAES(0)", 1, true),
    ("IPsecDES(1)", 1, true),
    ("IPsecAuthHMACSHA1(1)", 2, true),
    ("IPsecAuthSHA1(1)", 2, true),
    ("IPsecEncap(50)", 1, true),
    ("CompressIP", 1, true),
    ("DecompressIP(NON_TCP_SPACE 65535)", 1, true),
    ("DecompressIP(FRAMING PPP)", 1, true),
    ("RFC2507Comp", 1, true),
    ("RFC2507Decomp", 1, true),
    ("ForceIP", 1, true),
    ("ForceTCP(1)", 1, true),
    ("ForceUDP", 1, true),
    ("ForceICMP(echo, 0)", 1, true),
    ("TCPReflector", 1, true),
    ("TCPBuffer(true) -> Unqueue", 1, true),
    ("TCPAck; Idle -> [1] e; e [1] -> Discard; e [2] -> Discard; e -> TCPBuffer(true) -> Unqueue", 1, false),
    ("Null -> [1] a :: TCPAck; Idle -> a -> TCPBuffer -> Discard; a [2] -> Discard; a [1]", 1, true),
    (
        "TCPDemux -> c :: TCPConn; Idle -> [1] c; c [1] -> TimedUnqueue(1) -> Discard; c [2] -> Discard; \
         Script(write c.ctrl connect 2.0.0.2 1 1.0.0.1 1); c",
        1,
        true,
    ),
    ("CopyFlowID; Idle -> [1] e; e [1] -> Discard; e", 1, true),
    ("Null -> [1] c :: CopyFlowID; Idle -> c -> Discard; c [1]", 1, true),
    ("CopyTCPSeq; Idle -> [1] e; e [1] -> Discard; e", 1, true),
    ("Null -> [1] c :: CopyTCPSeq; Idle -> c -> Discard; c [1]", 1, true),
    ("ToyTCP(80)", 1, false),
    ("WebGen(1.0.0.0/8, 2.0.0.2, 1)", 1, false),
];

/// A packet that was well formed before some of its bytes were changed, it was cut, and marked somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Hostile {
    bytes: Vec<u8>,
    mark: Option<(i32, u32)>,
    strip: usize,
    annotations: [u8; 48],
    packet_type: bool,
}

impl Hostile {
    pub(crate) fn packet(&self) -> Packet {
        let mut p = Packet::new(&self.bytes);
        if let Some((offset, len)) = self.mark {
            p.set_network_header(offset, len);
        }
        p.pull(self.strip);
        *p.annotations_mut() = self.annotations;
        p.set_packet_type(if self.packet_type { PacketType::Broadcast } else { PacketType::Host });
        p
    }
}

fn well_formed() -> impl Strategy<Value = Vec<u8>> {
    let options = prop_oneof![
        Just(vec![]),
        Just(vec![7, 7, 4, 0, 0, 0, 0]),
        Just(vec![68, 12, 5, 3, 1, 2, 3, 4, 0, 0, 0, 0]),
        Just(vec![131, 11, 8, 1, 1, 1, 1, 2, 2, 2, 2]),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    let protocol = prop_oneof![Just(1u8), Just(6), Just(17), any::<u8>()];
    let payload = proptest::collection::vec(any::<u8>(), 0..120);
    (options, protocol, payload, any::<u8>()).prop_map(|(options, protocol, payload, ttl)| {
        ip("1.0.0.1", "2.0.0.2").options(&options).payload(protocol, &payload).ttl(ttl).bytes()
    })
}

/// Packets made of well-formed ones, whose network header has this length.
pub(crate) fn hostile(
    well_formed: impl Strategy<Value = Vec<u8>>,
    header_len: u32,
) -> impl Strategy<Value = Hostile> {
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let mark = prop_oneof![
        3 => Just(Some((0, header_len))),
        1 => Just(None),
        1 => (-30i32..60, 0u32..80).prop_map(Some),
    ];
    let annotations = prop_oneof![3 => Just([0; 48]), 1 => any::<[u8; 24]>().prop_map(|a| [a, a].concat().try_into().expect("48 bytes"))];
    let cut = any::<prop::sample::Index>();
    let strip = prop_oneof![3 => Just(0), 1 => 0usize..30];
    (well_formed, damage, cut, any::<bool>(), (mark, strip, annotations, any::<bool>())).prop_map(
        |(mut bytes, damage, cut, whole, (mark, strip, annotations, packet_type))| {
            for (at, to) in damage {
                let at = at.index(bytes.len());
                bytes[at] = to;
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            Hostile { bytes, mark, strip, annotations, packet_type }
        },
    )
}

fn config(element: &str, outputs: usize) -> String {
    let sinks: String = (1..outputs).map(|n| format!("e[{n}] -> k{n} :: Sink; ")).collect();
    format!("s :: Source -> e :: {element} -> k0 :: Sink; {sinks}")
}

/// Sends the packets through each element and counts what becomes of them.
pub(crate) fn account(elements: &[(&str, usize, bool)], packets: &[Hostile]) -> Result<(), TestCaseError> {
    for &(element, outputs, once) in elements {
        let mut t = Harness::batched(&config(element, outputs));
        t.push_batch("s", 0, packets.iter().map(Hostile::packet));
        let out: usize = (0..outputs).map(|n| t.take(&format!("k{n}")).len()).sum();
        let accounted = out + t.router.total_drops() as usize;
        prop_assert!(
            if once { accounted == packets.len() } else { accounted >= packets.len() },
            "{element}: {accounted} of {}",
            packets.len()
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_packet_is_accounted_for(packets in proptest::collection::vec(hostile(well_formed(), 20), 1..64)) {
        account(ELEMENTS, &packets)?;
    }
}
