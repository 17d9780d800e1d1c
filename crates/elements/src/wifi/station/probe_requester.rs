//! ProbeRequester: asks which networks there are (IEEE 802.11-2016 §11.1.4.3.2).

use super::super::available_rates::{self, Rates};
use super::super::frame::subtype;
use super::super::management::{Builder, element, is_basic};
use super::super::params::{DEBUG, Partner, debug_handler, parameter};
use super::super::wireless_info::{self, Network, SharedNetwork};
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "asks which networks there are",
    manual: "When the handler send_probe is written, sends a probe request in the name of station ETH: for the network of the \
             WirelessInfo, or for any if it has no name or there is no WirelessInfo. Without RT it names no rates.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22); p :: ProbeRequester(ETH 2:0:0:0:0:2, RT rates) -> Discard; \
              Script(write p.send_probe)",
    ports: "0/1",
    processing: "h/h",
    packets: "/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
        ArgSpec::keyword("ETH", ArgType::EtherAddr, "00-00-00-00-00-00", "own address"),
        ArgSpec::keyword("RT", ArgType::Element, "", "an AvailableRates"),
    ],
    handlers: &[
        debug_handler!(ProbeRequester),
        parameter!(ProbeRequester, "eth", ether, "own address", "bssid parameter must be ethernet address"),
        write_handler!("send_probe", "sends a probe request", |e: &mut ProbeRequester, _, cx| e.send(cx)),
    ],
    ..Class::new("ProbeRequester", "wifi/station", || Box::<ProbeRequester>::default())
};

#[derive(Default)]
struct ProbeRequester {
    debug: bool,
    ether: EtherAddress,
    network: Partner<SharedNetwork>,
    rates: Partner<Rates>,
}

/// Which rates a station marks: 1 Mbit/s, and 6 Mbit/s in the band of 5 GHz.
pub fn station_is_basic(network: &Network) -> impl Fn(i32) -> bool + Copy {
    let is_5_ghz = network.channel > 15;
    move |rate| is_basic(rate) || is_5_ghz && rate == 12
}

impl ProbeRequester {
    fn send(&self, cx: &mut Cx<'_>) {
        let network = self.network.get().map_or_else(Network::default, |network| network.lock().clone());
        let rates = self.rates.get().map_or_else(Vec::new, |rates| rates.lookup(self.ether, cx));
        let basic = station_is_basic(&network);
        let everybody = EtherAddress::BROADCAST;
        let frame = Builder::new(subtype::PROBE_REQUEST, everybody, self.ether, everybody);
        let frame =
            frame.element(element::SSID, &network.ssid).rates(&rates, basic).more_rates(&rates, basic);
        cx.emit(0, frame.packet());
    }
}

impl Element for ProbeRequester {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug).read("ETH", &mut self.ether);
        self.network.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.network.initialize(cx);
        self.rates.initialize(cx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;

    #[test]
    fn a_probe_is_sent_when_the_handler_is_written() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(SSID home); rates :: AvailableRates(DEFAULT 2 4 11 22);
            p :: ProbeRequester(WIRELESS_INFO wi, ETH 2:0:0:0:0:2, RT rates) -> k :: Sink",
        );
        t.write("p.send_probe").unwrap();
        t.write("wi.ssid").unwrap();
        t.write("p.send_probe").unwrap();
        assert_eq!(t.bytes("k"), [samples::frame("probe request"), samples::frame("probe request any")]);
        assert_eq!(t.read("p.eth"), "02-00-00-00-00-02\n");
        assert_eq!(t.write("p.eth x").unwrap_err(), "bssid parameter must be ethernet address");
    }

    #[test]
    fn at_5_ghz_another_rate_is_basic() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(CHANNEL 36); rates :: AvailableRates(DEFAULT 12 18);
            p :: ProbeRequester(WIRELESS_INFO wi, ETH 2:0:0:0:0:2, RT rates) -> k :: Sink",
        );
        t.write("p.send_probe").unwrap();
        assert!(t.bytes("k")[0].ends_with(&[0, 0, 1, 2, 12 | 0x80, 18]));
    }

    #[test]
    fn without_rates_a_probe_names_none() {
        let mut t = Harness::new("p :: ProbeRequester() -> k :: Sink");
        t.write("p.send_probe").unwrap();
        assert!(t.bytes("k")[0].ends_with(&[0xFF, 0xFF, 0, 0, 0, 0, 1, 0]));
        let e = Harness::errors("i :: Idle -> ProbeRequester(RT i) -> Discard");
        assert!(e.contains("RT"), "{e}");
    }
}
