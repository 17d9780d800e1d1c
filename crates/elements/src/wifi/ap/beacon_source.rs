//! BeaconSource: tells stations of a network, regularly and when asked (IEEE 802.11-2016 §11.1.3, §11.1.4).

use super::super::available_rates::{self, Rates};
use super::super::frame::{WifiHeader, subtype};
use super::super::management::{
    BASIC_RATE, Builder, ESS, Elements, MOST_RATES, element, is_basic, management_frame, tell_ignored, text,
};
use super::super::params::{DEBUG, Partner, complain, debug_handler, say};
use super::super::wireless_info::Network;
use super::identity::{Identity, OVERRULING, is_meant};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends 802.11 beacons and probe responses",
    manual: "Every INTERVAL milliseconds sends a beacon for the network of the WirelessInfo, with the rates that the \
             AvailableRates has for its address. Input takes probe requests: one for this network, or for any, is answered \
             with a probe response.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1, CHANNEL 3); rates :: AvailableRates(DEFAULT 2 4 11 22); \
              Idle -> BeaconSource(WIRELESS_INFO wi, RT rates) -> Discard",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::required_keyword("WIRELESS_INFO", ArgType::Element, "a WirelessInfo"),
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
        OVERRULING[0],
        OVERRULING[1],
        OVERRULING[2],
        OVERRULING[3],
    ],
    handlers: &[debug_handler!(BeaconSource)],
    ..Class::new("BeaconSource", "wifi/ap", || Box::<BeaconSource>::default())
};

#[derive(Default)]
struct BeaconSource {
    debug: bool,
    identity: Identity,
    rates: Partner<Rates>,
}

/// A beacon or probe response (§9.3.3.3, §9.3.3.11). The hardware fills in the time.
pub fn announcement(kind: u8, to: EtherAddress, network: &Network) -> Builder {
    Builder::new(kind, to, network.bssid, network.bssid)
        .bytes(&[0; 8])
        .number(network.interval as u16)
        .number(ESS)
        .element(element::SSID, &network.ssid)
}

/// Channel and an empty traffic indication map, which stand behind the rates.
pub fn channel_and_map(frame: Builder, channel: i32) -> Builder {
    frame.element(element::CHANNEL, &[channel as u8]).element(element::TIM, &[0, 1, 0, 0])
}

/// The probe request in a packet: its sender and elements. Tells why there is none.
pub fn probe_request<'p>(
    p: &'p Packet,
    debug: bool,
    cx: &Cx<'_>,
) -> Result<(&'p WifiHeader, Elements<'p>), &'static str> {
    let (header, body) = management_frame(p, cx)?;
    if header.subtype() != subtype::PROBE_REQUEST {
        complain(cx, "other packets", "received non-probe-req packet");
        return Err("not a probe request");
    }
    let tell = |id, length| {
        if debug {
            tell_ignored(id, length, cx)
        }
    };
    Ok((header, Elements::read(body, 0, tell)))
}

/// Tells of a probe request that is answered.
pub fn tell_probe(header: &WifiHeader, elements: &Elements<'_>, cx: &Cx<'_>) {
    let rate = |rate: &u8| match rate & BASIC_RATE {
        0 => format!(" {rate}"),
        _ => format!(" * {}", rate ^ BASIC_RATE),
    };
    let rates: String = elements.rates(MOST_RATES).iter().map(rate).collect();
    let ssid = text(elements.ssid());
    say(cx, format_args!("ProbeReq: {} ssid {ssid} rates {{{rates} }}", header.address2));
}

impl BeaconSource {
    fn send(&self, kind: u8, to: EtherAddress, cx: &mut Cx<'_>) {
        let network = self.identity.network();
        let rates = self.rates.get().map_or_else(Vec::new, |rates| rates.lookup(network.bssid, cx));
        let frame = announcement(kind, to, &network).rates(&rates, is_basic);
        let frame = channel_and_map(frame, network.channel).more_rates(&rates, is_basic);
        cx.emit(0, frame.packet());
    }

    fn schedule(&self, cx: &mut Cx<'_>) {
        // A handler may have set it to nothing.
        let interval = self.identity.network().interval.max(1);
        cx.schedule_timer_after(0, Duration::from_millis(u64::from(interval.unsigned_abs())));
    }

    fn answer(&self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let (header, elements) = probe_request(p, self.debug, cx)?;
        if !is_meant(elements.ssid(), &self.identity.network().ssid, self.debug, cx) {
            return Err("for another network");
        }
        if self.debug {
            tell_probe(header, &elements, cx);
        }
        self.send(subtype::PROBE_RESPONSE, header.address2, cx);
        Ok(())
    }
}

impl Element for BeaconSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
        self.identity.configure(args, cx);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.identity.initialize(cx);
        self.rates.initialize(cx);
        if self.identity.network().interval <= 0 {
            return Err("INTERVAL must be >0".into());
        }
        self.schedule(cx);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Err(reason) = self.answer(&p, cx) {
                cx.count_drop(reason, 1);
            }
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.send(subtype::BEACON, EtherAddress::BROADCAST, cx);
        self.schedule(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    const NETWORK: &str = "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3);
        rates :: AvailableRates(DEFAULT 2 4 11 12 18 22 24 36 48 72 96 108);";

    fn source(args: &str) -> Harness {
        Harness::new(&format!(
            "{NETWORK} s :: Source -> b :: BeaconSource(WIRELESS_INFO wi, RT rates{args}) -> k :: Sink"
        ))
    }

    #[test]
    fn beacons_are_sent_at_the_interval() {
        let mut t = source("");
        t.run_for(Duration::from_millis(1050));
        assert_eq!(t.bytes("k"), vec![samples::frame("beacon"); 10]);
        t.write("wi.interval 500").unwrap();
        t.run_for(Duration::from_secs(1));
        let intervals: Vec<_> = t.bytes("k").iter().map(|beacon| beacon[32..34].to_vec()).collect();
        assert_eq!(intervals, [[0xF4, 1], [0xF4, 1]]);
    }

    #[test]
    fn probes_for_the_network_and_for_any_are_answered() {
        let mut t = source(", INTERVAL 20000, DEBUG true");
        let names = ["probe request", "probe request any", "probe request other"];
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        let mut expected = samples::frame("probe response");
        expected[32..34].copy_from_slice(&20000u16.to_le_bytes());
        assert_eq!(t.bytes("k"), [expected.clone(), expected]);
        let said = "b :: BeaconSource: ProbeReq: 02-00-00-00-00-02 ssid home rates { * 2 4 11 22 }\n\
                    b :: BeaconSource: ProbeReq: 02-00-00-00-00-02 ssid  rates { * 2 4 11 22 }\n\
                    b :: BeaconSource: other ssid other wanted home\n";
        assert_eq!(
            (t.printed().as_str(), t.read("b.drop_reasons").as_str()),
            (said, "1\tfor another network\n")
        );
    }

    #[test]
    fn other_frames_are_told_about() {
        let mut t = source(", INTERVAL 20000");
        t.push(
            "s",
            0,
            [
                Packet::new(b"x"),
                Packet::new(&samples::frame("data nods")),
                Packet::new(&samples::frame("beacon")),
            ],
        );
        let said = "b :: BeaconSource: packet too small: 1 vs 24\nb :: BeaconSource: received non-management packet\n\
                    b :: BeaconSource: received non-probe-req packet\n";
        assert_eq!((t.printed().as_str(), t.bytes("k").len()), (said, 0));
    }

    #[test]
    fn arguments_overrule_the_wireless_info() {
        let mut t = source(", SSID other, CHANNEL 7, BSSID 2:0:0:0:0:9, INTERVAL 10");
        t.run_for(Duration::from_millis(15));
        let beacon = t.bytes("k").remove(0);
        assert_eq!((&beacon[10..16], &beacon[38..43]), (&[2, 0, 0, 0, 0, 9][..], &b"other"[..]));
        assert!(beacon.windows(3).any(|w| w == [3, 1, 7]));
        let e = Harness::errors(&format!(
            "{NETWORK} Idle -> BeaconSource(WIRELESS_INFO wi, RT rates, INTERVAL 0) -> Discard"
        ));
        assert!(e.contains("INTERVAL must be >0"), "{e}");
        let e =
            Harness::errors(&format!("{NETWORK} Idle -> BeaconSource(WIRELESS_INFO wi, RT wi) -> Discard"));
        assert!(e.contains("RT: element type mismatch, expected AvailableRates"), "{e}");
    }
}
