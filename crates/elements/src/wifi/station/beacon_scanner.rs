//! BeaconScanner: lists the networks whose beacons are heard.

use super::super::available_rates::{self, Rates};
use super::super::extra::Extra;
use super::super::frame::{HEADER, WifiHeader, kind, subtype};
use super::super::management::{
    Elements, capabilities_in_brackets, element, number, plain_rates, rates_in_braces, tell_ignored, text,
};
use super::super::params::{DEBUG, Partner, debug_handler};
use super::super::station_map::StationMap;
use super::super::wireless_info::{self, SharedNetwork};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lists the networks that are heard",
    manual: "Passes every packet on, and keeps what beacons and probe responses say: the handler scan lists the networks. \
             Their rates go into the AvailableRates. With a WirelessInfo, only networks on its channel count; on channel 0 \
             all, on negative channels none. The list holds 16384 networks; then the one heard first gives way.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1, CHANNEL 3); rates :: AvailableRates(DEFAULT 2 4 \
              11 22); Idle -> BeaconSource(WIRELESS_INFO wi, RT rates) -> s :: BeaconScanner(RT rates) -> \
              Discard; Script(wait 1s, print s.scan, stop)",
    args: &[
        DEBUG,
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
    ],
    handlers: &[
        debug_handler!(BeaconScanner),
        read_handler!("scan", "the networks heard", |e: &mut BeaconScanner, cx| e.scan(cx.steady())),
        write_handler!("reset", "forgets the networks", |e: &mut BeaconScanner, _, _| e.heard.clear())
            .flags("b"),
    ],
    ..Class::new("BeaconScanner", "wifi/station", || Box::<BeaconScanner>::default())
};

#[derive(Default)]
struct BeaconScanner {
    debug: bool,
    network: Partner<SharedNetwork>,
    rates: Partner<Rates>,
    heard: StationMap<EtherAddress, Heard>,
}

/// What is known of a network.
#[derive(Clone, Debug, Default)]
struct Heard {
    ssid: Vec<u8>,
    channel: i32,
    capability: u16,
    interval: u16,
    rssi: u8,
    rates: Vec<u8>,
    last: Timestamp,
}

impl Heard {
    fn line(&self, address: EtherAddress, now: Timestamp) -> String {
        let ssid = if self.ssid.is_empty() { "(none)".to_string() } else { text(&self.ssid) };
        let (age, rates) = (now - self.last, rates_in_braces(&self.rates));
        let (Heard { channel, rssi, interval, .. }, capability) =
            (self, capabilities_in_brackets(self.capability));
        format!(
            "{address} channel {channel} rssi {rssi} ssid {ssid} beacon_interval {interval} last_rx {age} {capability}{rates}\n"
        )
    }
}

impl BeaconScanner {
    fn scan(&self, now: Timestamp) -> String {
        self.heard.iter().map(|(address, heard)| heard.line(address, now)).collect()
    }

    fn listen(&mut self, p: &Packet, header: &WifiHeader, wanted: i32, cx: &Cx<'_>) {
        let body = &p.data()[HEADER..];
        let tell = |id, length| {
            if self.debug && !element::OF_BEACONS.contains(&id) {
                tell_ignored(id, length, cx);
            }
        };
        let elements = Elements::read(body, 12, tell);
        if wanted > 0 && elements.channel().is_some_and(|channel| i32::from(channel) != wanted) {
            return;
        }
        let heard = self.heard.entry(header.address3, Heard::default);
        if !elements.ssid().is_empty() {
            heard.ssid = elements.ssid().to_vec();
        }
        heard.channel = elements.channel().map_or(-1, i32::from);
        (heard.interval, heard.capability) = (number(body, 8), number(body, 10));
        (heard.rssi, heard.last, heard.rates) = (Extra::of(p).rssi, cx.steady(), elements.all_rates());
        if let Some(rates) = self.rates.get() {
            rates.learn(header.address3, &plain_rates(&heard.rates));
        }
    }
}

impl SimpleElement for BeaconScanner {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
        self.network.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.network.initialize(cx);
        self.rates.initialize(cx);
        Ok(())
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let channel = self.network.get().map_or(0, |network| network.lock().channel);
        let Some(&header) = WifiHeader::of(p) else { return Verdict::PASS };
        let announces = matches!(header.subtype(), subtype::BEACON | subtype::PROBE_RESPONSE);
        if channel >= 0 && header.kind() == kind::MANAGEMENT && announces {
            self.listen(p, &header, channel, cx);
        }
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<BeaconScanner>(old) {
            self.heard = std::mem::take(&mut old.heard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn scanner(channel: i32) -> Harness {
        Harness::new(&format!(
            "wi :: WirelessInfo(CHANNEL {channel}); rates :: AvailableRates;
            s :: Source -> b :: BeaconScanner(RT rates, WIRELESS_INFO wi) -> k :: Sink"
        ))
    }

    const HOME: &str = "02-00-00-00-00-03 channel 3 rssi 0 ssid home beacon_interval 100 last_rx ";
    const RATES: &str = " [ ESS ] ( { 2 } 4 11 12 18 22 24 36 48 72 96 108 )\n";

    #[test]
    fn networks_are_listed_and_their_rates_learned() {
        let mut t = scanner(0);
        t.push("s", 0, ["beacon", "data nods"].map(|name| Packet::new(&samples::frame(name))));
        let scan = t.read("b.scan");
        assert!(scan.starts_with(HOME) && scan.ends_with(RATES), "{scan}");
        assert_eq!(t.read("rates.rates"), "02-00-00-00-00-03  2 4 11 12 18 22 24 36 48 72 96 108\n");
        // A hidden name does not displace a known one.
        t.push("s", 0, [Packet::new(&samples::frame("beacon privacy"))]);
        let scan = t.read("b.scan");
        assert!(scan.contains("channel 11 rssi 0 ssid home beacon_interval 200"), "{scan}");
        assert!(scan.ends_with("[ ESS PRIVACY ] ( { 2 } 4 11 22 )\n"), "{scan}");
        assert_eq!(t.take("k").len(), 3);
        t.write("b.reset").unwrap();
        assert_eq!(t.read("b.scan"), "");
    }

    #[test]
    fn only_the_channel_counts() {
        for (channel, listed) in [(-1, 0), (3, 1), (4, 0)] {
            let mut t = scanner(channel);
            t.push("s", 0, [Packet::new(&samples::frame("beacon"))]);
            assert_eq!(t.read("b.scan").lines().count(), listed, "{channel}");
        }
    }

    #[test]
    fn beacons_cut_short_are_survived() {
        let mut t = scanner(0);
        let beacon = samples::frame("beacon");
        t.push("s", 0, (0..beacon.len()).map(|length| Packet::new(&beacon[..length])));
        assert_eq!(t.take("k").len(), beacon.len());
    }
}
