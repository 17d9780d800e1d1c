//! WifiEncap: turns Ethernet frames into 802.11 data frames (IEEE 802.11-2016 §9.3.2, RFC 1042).

use super::frame::{LLC, LLC_SNAP, WifiHeader, direction, kind};
use super::params::{DEBUG, Partner, complain, debug_handler, parameter};
use super::wireless_info::{self, SharedNetwork};
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "turns Ethernet frames into 802.11 data frames",
    manual: "Replaces the Ethernet header by LLC and SNAP headers and the header of an 802.11 data frame. MODE says which \
             way it goes: 0 from station to station, 1 to the access point, 2 from the access point, 3 between access \
             points: then BSSID is the one that receives the frame, and the Ethernet source also stands for the one that \
             sends it. BSSID is the address of the network, unless WIRELESS_INFO names a WirelessInfo.",
    example: "InfiniteSource(DATA \\<000000000001 000000000002 0800 45>, LIMIT 1, STOP true) \
              -> WifiEncap(2, 2:0:0:0:0:1) -> Discard",
    packets: "ether/forget unmarked",
    args: &[
        ArgSpec::required("MODE", ArgType::U32, "direction, 0 to 3"),
        ArgSpec::positional("BSSID", ArgType::EtherAddr, "00-00-00-00-00-00", "address of the network"),
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo that says the BSSID instead"),
        DEBUG,
    ],
    handlers: &[
        debug_handler!(WifiEncap),
        parameter!(WifiEncap, "mode", mode, "direction, 0 to 3", "mode parameter must be int"),
        parameter!(
            WifiEncap,
            "bssid",
            bssid,
            "address of the network",
            "bssid parameter must be ethernet address"
        ),
    ],
    ..Class::new("WifiEncap", "wifi", || Box::<WifiEncap>::default())
};

/// Bytes of an Ethernet header.
const ETHER: usize = size_of::<EthernetHeader>();

#[derive(Default)]
struct WifiEncap {
    mode: i32,
    bssid: EtherAddress,
    network: Partner<SharedNetwork>,
    debug: bool,
}

impl WifiEncap {
    fn header(&self, ether: &EthernetHeader, mode: u8) -> WifiHeader {
        let bssid = self.network.get().map_or(self.bssid, |network| network.lock().bssid);
        let (destination, source) = (ether.destination, ether.source);
        let (address1, address2, address3) = match mode {
            direction::TO_AP => (bssid, source, destination),
            direction::FROM_AP => (destination, bssid, source),
            direction::BETWEEN_APS => (bssid, source, destination),
            _ => (destination, source, bssid),
        };
        WifiHeader { control: [kind::DATA, mode], address1, address2, address3, ..WifiHeader::default() }
    }
}

impl SimpleElement for WifiEncap {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(mode) = args.get::<u32>("MODE") {
            self.mode = mode.cast_signed();
        }
        args.read("BSSID", &mut self.bssid).read("DEBUG", &mut self.debug);
        self.network.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.network.initialize(cx);
        Ok(())
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(&ether) = EthernetHeader::peek(p.data()) else {
            complain(cx, "packet too small", format_args!("packet too small: {} vs {ETHER}", p.len()));
            return Verdict::Drop("packet too small");
        };
        let Ok(mode @ 0..=direction::BETWEEN_APS) = u8::try_from(self.mode) else {
            complain(cx, "invalid mode", format_args!("invalid mode {}", self.mode));
            return Verdict::Drop("invalid mode");
        };
        let header = self.header(&ether, mode);
        p.pull(ETHER);
        let length = header.data_header_len();
        let data = p.push(length + LLC);
        let (front, llc) = data.split_at_mut(length);
        front[..size_of::<WifiHeader>()].copy_from_slice(header.as_bytes());
        if mode == direction::BETWEEN_APS {
            front[size_of::<WifiHeader>()..].copy_from_slice(ether.source.as_bytes());
        }
        llc[..LLC_SNAP.len()].copy_from_slice(&LLC_SNAP);
        llc[LLC_SNAP.len()..LLC].copy_from_slice(&ether.as_bytes()[12..]);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn encapsulated(args: &str, frame: &[u8]) -> (Vec<Vec<u8>>, String) {
        let mut t = Harness::new(&format!(
            "wi :: WirelessInfo(BSSID 2:0:0:0:0:9);
            s :: Source -> w :: WifiEncap({args}) -> k :: Sink"
        ));
        t.push("s", 0, [Packet::new(frame)]);
        (t.bytes("k"), t.printed())
    }

    const ETHER: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 1, 2];

    #[test]
    fn addresses_stand_by_direction() {
        for (mode, name) in [(0, "nods"), (1, "tods"), (2, "fromds")] {
            let expected = samples::frame(&format!("data {name}"));
            assert_eq!(encapsulated(&format!("{mode}, 2:0:0:0:0:3"), ETHER).0, [expected], "{mode}");
        }
        assert_eq!(encapsulated("3, 2:0:0:0:0:4", ETHER).0, [samples::frame("data wds")]);
    }

    #[test]
    fn a_wireless_info_says_the_network() {
        let (got, _) = encapsulated("1, 2:0:0:0:0:3, WIRELESS_INFO wi", ETHER);
        assert_eq!(got[0][4..10], [2, 0, 0, 0, 0, 9]);
        let e = Harness::errors("c :: Counter; Idle -> c -> WifiEncap(1, WIRELESS_INFO c) -> Discard");
        assert!(e.contains("WIRELESS_INFO: element type mismatch, expected WirelessInfo"), "{e}");
        let e = Harness::errors("Idle -> WifiEncap(1, WIRELESS_INFO no) -> Discard");
        assert!(e.contains("WIRELESS_INFO: does not name an element"), "{e}");
    }

    #[test]
    fn short_packets_and_wrong_modes_are_told_about() {
        let (got, told) = encapsulated("0", &ETHER[..13]);
        assert_eq!((got.len(), told.as_str()), (0, "w :: WifiEncap: packet too small: 13 vs 14\n"));
        let (got, told) = encapsulated("4", ETHER);
        assert_eq!((got.len(), told.as_str()), (0, "w :: WifiEncap: invalid mode 4\n"));
    }

    #[test]
    fn handlers_change_mode_and_network() {
        let mut t = Harness::new("s :: Source -> w :: WifiEncap(0) -> k :: Sink");
        t.write("w.mode 2").unwrap();
        t.write("w.bssid 2:0:0:0:0:3").unwrap();
        t.push("s", 0, [Packet::new(ETHER)]);
        assert_eq!(t.bytes("k"), [samples::frame("data fromds")]);
        assert_eq!((t.read("w.mode"), t.read("w.bssid")), ("2\n".into(), "02-00-00-00-00-03\n".into()));
        assert_eq!(t.write("w.mode x").unwrap_err(), "mode parameter must be int");
    }
}
