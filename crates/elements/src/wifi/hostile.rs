//! Hostile frames through every element of the family: whatever the bytes and annotations, nothing panics, and where each
//! packet that goes in should come out, it does or is counted as dropped.

use super::samples;
use crate::testing::Harness;
use clickwork_packet::Packet;
use proptest::prelude::*;

/// What the elements name.
const AROUND: &str = "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3);
    rates :: AvailableRates(DEFAULT 2 4 11 12 18 22 24 36 48 72 96 108);";

/// Elements from which each packet comes once, or is dropped.
const ONE_FOR_ONE: &[&str] = &[
    "WifiEncap(1, WIRELESS_INFO wi, DEBUG true)",
    "WifiDecap(DEBUG true)",
    "ExtraDecap",
    "ExtraEncap",
    "FilterPhyErr",
    "FilterTX",
    "FilterFailures",
    "PrintWifi(x, TIMESTAMP true)",
    "PrintTXFeedback(OFFSET 3)",
    "Prism2Decap",
    "Prism2Encap",
    "SetTXPower(3)",
    "SetTXRate(2, ETHTYPE 0x0800, OFFSET 7)",
    "SetRTS(true)",
    "SetNoAck",
    "WifiDupeFilter(DEBUG true)",
    "AthdescDecap",
    "AthdescEncap",
    "RadiotapDecap",
    "RadiotapEncap",
    "WepDecap(abcde)",
    "WepEncap(abcde, ACTIVE true)",
    "EtherCount",
    "RXStats",
    "WifiSeq",
    "PushAnno",
    "ReadAnno",
    "PacketStore",
    "BeaconScanner(RT rates, WIRELESS_INFO wi, DEBUG true)",
    "BeaconTracker(WIRELESS_INFO wi)",
];

/// Elements that answer, keep or divide.
const OTHERS: &[&str] = &[
    "WifiDefrag(DEBUG true)",
    "WifiFragment(7)",
    "BeaconSource(WIRELESS_INFO wi, RT rates, DEBUG true)",
    "ProbeResponder(SSID home, BSSID 2:0:0:0:0:3, INTERVAL 100, RT rates, DEBUG true)",
    "OpenAuthResponder(WIRELESS_INFO wi, DEBUG true)",
    "AssociationResponder(WIRELESS_INFO wi, RT rates, DEBUG true)",
    "AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates, DEBUG true)",
    "OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, DEBUG true)",
    "RadiotapDecap -> PrintWifi -> WifiDefrag -> WepDecap(abcde) -> WifiDecap",
];

/// Elements that choose rates.
const RATE_CONTROLS: &[&str] = &[
    "AutoRateFallback(RT rates, OFFSET 4)",
    "MadwifiRate(RT rates, OFFSET 4, PERIOD 1)",
    "ProbeTXRate(RT rates, OFFSET 4, WINDOW 5)",
];

/// A frame that was well formed before some of its bytes were changed and it was cut, and annotations.
fn hostile() -> impl Strategy<Value = (Vec<u8>, [u8; 24])> {
    let names: Vec<&str> =
        include_str!("samples/frames.txt").lines().filter_map(|l| l.split(": ").next()).collect();
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    let annotations = prop_oneof![Just([0; 24]), any::<[u8; 24]>()];
    (prop::sample::select(names), damage, any::<prop::sample::Index>(), any::<bool>(), annotations).prop_map(
        |(name, damage, cut, whole, annotations)| {
            let mut bytes = samples::frame(name);
            for (at, to) in damage {
                let at = at.index(bytes.len());
                bytes[at] = to;
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            (bytes, annotations)
        },
    )
}

fn packets(frames: &[(Vec<u8>, [u8; 24])]) -> Vec<Packet> {
    let packet = |(bytes, annotations): &(Vec<u8>, [u8; 24])| {
        let mut p = Packet::new(bytes);
        p.annotations_mut()[16..40].copy_from_slice(annotations);
        p
    };
    frames.iter().map(packet).collect()
}

fn dropped(t: &mut Harness, element: &str) -> usize {
    let reasons = t.read(&format!("{element}.drop_reasons"));
    reasons.lines().filter_map(|line| line.split('\t').next()?.parse::<usize>().ok()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn each_packet_comes_out_or_is_counted(frames in proptest::collection::vec(hostile(), 1..24)) {
        for element in ONE_FOR_ONE {
            let mut t = Harness::new(&format!("{AROUND} s :: Source -> e :: {element} -> k :: Sink"));
            t.push("s", 0, packets(&frames));
            let out = t.take("k").len();
            prop_assert_eq!(out + dropped(&mut t, "e"), frames.len(), "{}", element);
        }
    }

    #[test]
    fn nothing_panics(frames in proptest::collection::vec(hostile(), 1..24)) {
        for element in OTHERS {
            let mut t = Harness::new(&format!("{AROUND} s :: Source -> {element} -> k :: Sink"));
            t.push("s", 0, packets(&frames));
        }
        for control in RATE_CONTROLS {
            let mut t = Harness::new(&format!(
                "{AROUND} s :: Source -> r :: {control} -> k :: Sink; f :: Source -> [1] r [1] -> j :: Sink"
            ));
            t.push("s", 0, packets(&frames));
            t.push("f", 0, packets(&frames));
            t.push("s", 0, packets(&frames));
            t.read("r.rates");
            prop_assert_eq!((t.take("k").len(), t.take("j").len()), (2 * frames.len(), frames.len()));
        }
    }
}
