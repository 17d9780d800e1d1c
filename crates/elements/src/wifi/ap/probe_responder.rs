//! ProbeResponder: answers stations that look for a network (IEEE 802.11-2016 §11.1.4.3).

use super::super::available_rates::{self, Rates};
use super::super::frame::subtype;
use super::super::management::{MOST_RATES, element, is_basic, marked};
use super::super::params::{DEBUG, Partner, debug_handler, line, parameter};
use super::super::wireless_info::Network;
use super::beacon_source::{announcement, channel_and_map, probe_request, tell_probe};
use super::identity::is_meant;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers probe requests",
    manual: "Takes probe requests; one for the network SSID, or for any, is answered with a probe response. BeaconSource \
             does so too, and takes its facts from a WirelessInfo.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22); p :: ProbeRequester(ETH 2:0:0:0:0:2, RT rates) -> \
              ProbeResponder(SSID home, BSSID 2:0:0:0:0:1, CHANNEL 3, INTERVAL 100, RT rates) -> Discard; \
              Script(write p.send_probe)",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::keyword("CHANNEL", ArgType::I32, "0", "channel"),
        ArgSpec::keyword("SSID", ArgType::String, "", "name of the network"),
        ArgSpec::keyword("BSSID", ArgType::EtherAddr, "00-00-00-00-00-00", "own address"),
        ArgSpec::keyword("INTERVAL", ArgType::I32, "0", "milliseconds between beacons; must be positive"),
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
    ],
    handlers: &[
        debug_handler!(ProbeResponder),
        parameter!(
            ProbeResponder,
            "bssid",
            network.bssid,
            "own address",
            "bssid parameter must be ethernet address"
        ),
        read_handler!("ssid", "name of the network", |e: &mut ProbeResponder, _| line(
            clickwork_source::text::decode(&*e.network.ssid)
        ))
        .and_write(write_handler!("", "", |e: &mut ProbeResponder, text, _| {
            e.network.ssid = clickwork_source::text::encode(text.trim()).into_owned();
        })),
        parameter!(ProbeResponder, "channel", network.channel, "channel", "channel parameter must be int"),
        parameter!(
            ProbeResponder,
            "interval",
            network.interval,
            "milliseconds between beacons",
            "interval parameter must be int"
        ),
    ],
    ..Class::new("ProbeResponder", "wifi/ap", || Box::<ProbeResponder>::default())
};

#[derive(Default)]
struct ProbeResponder {
    debug: bool,
    network: Network,
    rates: Partner<Rates>,
}

impl ProbeResponder {
    fn answer(&self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let (header, elements) = probe_request(p, self.debug, cx)?;
        if !is_meant(elements.ssid(), &self.network.ssid, self.debug, cx) {
            return Err("for another network");
        }
        if self.debug {
            tell_probe(header, &elements, cx);
        }
        let rates = self.rates.get().map_or_else(Vec::new, |rates| rates.lookup(self.network.bssid, cx));
        // Up to 15 rates in one element, beyond the eight of the standard.
        let rates = marked(&rates[..rates.len().min(MOST_RATES)], is_basic);
        let frame = announcement(subtype::PROBE_RESPONSE, header.address2, &self.network);
        let frame = channel_and_map(frame.element(element::RATES, &rates), self.network.channel);
        cx.emit(0, frame.packet());
        Ok(())
    }
}

impl Element for ProbeResponder {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.network = Network { channel: 0, interval: 0, ..Network::default() };
        args.read("DEBUG", &mut self.debug).read("CHANNEL", &mut self.network.channel);
        args.read("SSID", &mut self.network.ssid).read("BSSID", &mut self.network.bssid);
        args.read("INTERVAL", &mut self.network.interval);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
        if self.network.interval <= 0 {
            args.error("INTERVAL must be >0");
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.rates.initialize(cx);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Err(reason) = self.answer(&p, cx) {
                cx.count_drop(reason, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn probes_are_answered_with_all_rates_in_one_element() {
        let mut t = Harness::new("rates :: AvailableRates(DEFAULT 2 4 11 12 18 22 24 36 48 72 96 108); s :: Source
            -> r :: ProbeResponder(SSID home, BSSID 2:0:0:0:0:3, CHANNEL 3, INTERVAL 100, RT rates) -> k :: Sink");
        let names = ["probe request", "probe request other", "beacon"];
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        let mut expected = samples::frame("probe response");
        expected.truncate(expected.len() - 6);
        expected[43] = 12;
        expected.splice(52..52, [48, 72, 96, 108]);
        assert_eq!(t.bytes("k"), [expected]);
        t.write("r.ssid other").unwrap();
        t.write("r.channel 11").unwrap();
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        assert_eq!(t.bytes("k").len(), 1);
        assert_eq!(
            (t.read("r.ssid"), t.read("r.channel"), t.read("r.interval")),
            ("other\n".into(), "11\n".into(), "100\n".into())
        );
        assert_eq!(t.write("r.interval x").unwrap_err(), "interval parameter must be int");
    }

    #[test]
    fn the_interval_must_be_given() {
        let e = Harness::errors("r :: AvailableRates; Idle -> ProbeResponder(RT r) -> Discard");
        assert!(e.contains("INTERVAL must be >0"), "{e}");
    }
}
