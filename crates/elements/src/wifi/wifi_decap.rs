//! WifiDecap: turns 802.11 data frames into Ethernet frames (IEEE 802.11-2016 §9.3.2, RFC 1042).

use super::extra::Extra;
use super::frame::{LLC, LLC_SNAP, WifiHeader, flag};
use super::params::{DEBUG, debug_handler, say};
use clickwork_packet::Packet;
use clickwork_packet::headers::EthernetHeader;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "turns 802.11 data frames into Ethernet frames",
    manual: "Replaces the 802.11 header and the LLC and SNAP headers by an Ethernet header, or, with ETHER false, removes \
             them. Frames that are too short or encrypted are dropped. The kind of frame is not looked at: put a Classifier \
             in front that lets data frames pass. With STRICT, frames without LLC and SNAP headers (RFC 1042) are dropped; \
             otherwise eight bytes are taken as if they were these headers. If the annotation WIFI_EXTRA says that the header \
             is padded, it ends at a multiple of four bytes.",
    example: "InfiniteSource(DATA \\<000000000001 000000000002 0800 45>, LIMIT 1, STOP true) \
              -> WifiEncap(2, 2:0:0:0:0:1) -> WifiDecap -> Discard",
    packets: "any/new ether",
    args: &[
        DEBUG,
        ArgSpec::keyword("STRICT", ArgType::Bool, "false", "whether frames without SNAP headers are dropped"),
        ArgSpec::keyword("ETHER", ArgType::Bool, "true", "whether packets get an Ethernet header"),
    ],
    handlers: &[debug_handler!(WifiDecap)],
    ..Class::new("WifiDecap", "wifi", || Box::<WifiDecap>::default())
};

struct WifiDecap {
    debug: bool,
    strict: bool,
    ether: bool,
}

impl Default for WifiDecap {
    fn default() -> WifiDecap {
        WifiDecap { debug: false, strict: false, ether: true }
    }
}

/// Bytes of the 802.11 header, with the padding that the hardware put behind it.
fn header_len(header: &WifiHeader, p: &Packet) -> usize {
    let (length, extra) = (header.data_header_len(), Extra::of(p));
    if extra.is_valid() && extra.pad != 0 { length.next_multiple_of(4) } else { length }
}

impl SimpleElement for WifiDecap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug).read("STRICT", &mut self.strict).read("ETHER", &mut self.ether);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(&header) = WifiHeader::of(p) else { return Verdict::Drop("packet too small") };
        let length = header_len(&header, p);
        let Some(llc) = p.data().get(length..length + LLC) else { return Verdict::Drop("packet too small") };
        if header.has(flag::PROTECTED) {
            return Verdict::Drop("encrypted");
        }
        if self.strict && !llc.starts_with(&LLC_SNAP) {
            return Verdict::Drop("no SNAP header");
        }
        let ethertype = [llc[LLC - 2], llc[LLC - 1]];
        if !self.ether {
            p.pull(length + LLC);
            return Verdict::PASS;
        }
        let ends = header.ends(p.data());
        let ether = EthernetHeader::new(ends.destination, ends.source, u16::from_be_bytes(ethertype));
        p.pull(length + LLC);
        p.push(size_of::<EthernetHeader>())[..size_of::<EthernetHeader>()].copy_from_slice(ether.as_bytes());
        p.set_mac_offset(0);
        if self.debug {
            let (direction, bssid) = (header.direction(), ends.bssid);
            let ethertype = u16::from_ne_bytes(ethertype);
            say(
                cx,
                format_args!(
                    "dir {direction} src {} dst {} bssid {bssid} eth 0x{ethertype:02x}",
                    ends.source, ends.destination
                ),
            );
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn decapsulated(args: &str, frame: &[u8]) -> (Vec<Vec<u8>>, String) {
        let mut t = Harness::new(&format!("s :: Source -> w :: WifiDecap({args}) -> k :: Sink"));
        t.push("s", 0, [Packet::new(frame)]);
        (t.bytes("k"), t.printed() + &t.read("w.drop_reasons"))
    }

    const ETHER: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 1, 2];

    #[test]
    fn frames_of_every_direction_are_understood() {
        for name in ["nods", "tods", "fromds", "wds", "qos"] {
            assert_eq!(decapsulated("", &samples::frame(&format!("data {name}"))).0, [ETHER], "{name}");
        }
    }

    #[test]
    fn what_was_encapsulated_comes_out_again() {
        for mode in 0..4 {
            let config =
                format!("s :: Source -> WifiEncap({mode}, 2:0:0:0:0:3) -> w :: WifiDecap -> k :: Sink");
            let mut t = Harness::new(&config);
            t.push("s", 0, [Packet::new(ETHER)]);
            let got = t.take("k");
            assert_eq!((got[0].data(), got[0].mac_offset()), (ETHER, Some(0)), "{mode}");
        }
    }

    #[test]
    fn short_and_encrypted_frames_are_dropped() {
        let whole = samples::frame("data tods");
        for length in 0..32 {
            assert_eq!(
                decapsulated("", &whole[..length]),
                (vec![], "1\tpacket too small\n".into()),
                "{length}"
            );
        }
        let mut encrypted = whole;
        encrypted[1] |= 0x40;
        assert_eq!(decapsulated("", &encrypted), (vec![], "1\tencrypted\n".into()));
    }

    #[test]
    fn strict_wants_snap_headers() {
        let (frame, plain) = (samples::frame("data tods"), samples::frame("data llc"));
        assert_eq!(decapsulated("STRICT true", &frame).0, [ETHER]);
        assert_eq!(decapsulated("STRICT true", &plain), (vec![], "1\tno SNAP header\n".into()));
        // Else the last two of eight bytes are the Ethernet type.
        assert_eq!(decapsulated("", &plain).0[0][..16], [&ETHER[..12], &[3, 4, 5, 6]].concat());
    }

    #[test]
    fn an_ethernet_header_can_be_left_out() {
        for name in ["nods", "wds", "qos"] {
            let frame = samples::frame(&format!("data {name}"));
            assert_eq!(decapsulated("ETHER false", &frame).0, [&ETHER[14..]], "{name}");
        }
        assert_eq!(decapsulated("ETHER false", &samples::frame("data tods")[..31]).0, [[0; 0]; 0]);
    }

    /// RadiotapDecap sees that the hardware has padded the header.
    #[test]
    fn padding_behind_the_header_is_left_out() {
        for name in ["data qos padded", "data tods padded"] {
            let mut t = Harness::new("s :: Source -> RadiotapDecap -> WifiDecap(STRICT true) -> k :: Sink");
            t.push("s", 0, [Packet::new(&samples::frame(name))]);
            assert_eq!(t.bytes("k"), [ETHER], "{name}");
        }
    }

    #[test]
    fn debug_tells_of_each_frame() {
        let frame = samples::frame("data tods");
        let said = "w :: WifiDecap: dir 1 src 02-00-00-00-00-02 dst 02-00-00-00-00-01 bssid 02-00-00-00-00-03 eth 0x08\n";
        assert_eq!(decapsulated("DEBUG true", &frame).1, said);
    }
}
