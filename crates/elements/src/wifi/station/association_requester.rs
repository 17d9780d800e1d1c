//! AssociationRequester: joins a network (IEEE 802.11-2016 §11.3.5).

use super::super::available_rates::{self, Rates};
use super::super::extra::Extra;
use super::super::frame::{WifiHeader, subtype};
use super::super::management::{
    Builder, ESS, MOST_RATES, PRIVACY, SUCCESS, capabilities_in_brackets, element, management_frame, number,
    plain_rates, rates_in_braces,
};
use super::super::params::{DEBUG, Partner, complain, debug_handler, declaration, line, parameter, say};
use super::super::wireless_info::{self, Network, SharedNetwork};
use super::probe_requester::station_is_basic;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "joins a network",
    manual: "When the handler send_assoc_req is written, asks the access point of the WirelessInfo to associate station ETH. \
             Input takes the answers, which go into the handler associated, and whose rates go into the AvailableRates, and \
             disassociations.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1); rates :: AvailableRates(DEFAULT 2 4 11 22); \
              Idle -> a :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> Discard; \
              Script(write a.send_assoc_req)",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::keyword("ETH", ArgType::EtherAddr, "00-00-00-00-00-00", "own address"),
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
    ],
    handlers: &[
        debug_handler!(AssociationRequester),
        parameter!(
            AssociationRequester,
            "eth",
            ether,
            "own address",
            "eth parameter must be ethernet address"
        ),
        read_handler!(
            "associated",
            "whether it belongs to the network",
            |e: &mut AssociationRequester, _| line(e.associated)
        ),
        write_handler!("send_assoc_req", "asks to be associated", |e: &mut AssociationRequester, _, cx| e
            .send(cx)),
    ],
    ..Class::new("AssociationRequester", "wifi/station", || Box::<AssociationRequester>::default())
};

#[derive(Default)]
struct AssociationRequester {
    debug: bool,
    associated: bool,
    ether: EtherAddress,
    network: Partner<SharedNetwork>,
    rates: Partner<Rates>,
}

impl AssociationRequester {
    fn send(&mut self, cx: &mut Cx<'_>) {
        let without = || Network { interval: 1, ..Network::default() };
        let network = self.network.get().map_or_else(without, |network| network.lock().clone());
        let bssid = network.bssid;
        let rates = self.rates.get().map_or_else(Vec::new, |rates| rates.lookup(bssid, cx));
        if rates.is_empty() {
            complain(cx, "couldn't lookup rates", format_args!("couldn't lookup rates for {bssid}"));
        }
        let (capability, basic) = (if network.wep { ESS | PRIVACY } else { ESS }, station_is_basic(&network));
        let frame = Builder::new(subtype::ASSOCIATION_REQUEST, bssid, self.ether, bssid);
        let frame =
            frame.number(capability).number(network.interval as u16).element(element::SSID, &network.ssid);
        self.associated = false;
        cx.emit(0, frame.rates(&rates, basic).more_rates(&rates, basic).packet());
    }

    fn take(&mut self, p: &Packet, cx: &Cx<'_>) -> Result<(), &'static str> {
        let (header, body) = management_frame(p, cx)?;
        match header.subtype() {
            subtype::ASSOCIATION_RESPONSE => self.take_response(p, header, body, cx),
            subtype::DISASSOCIATION => self.take_disassociation(header, number(body, 0), cx),
            _ => {
                complain(cx, "other packets", "received non-assoc response packet");
                return Err("not an association response");
            }
        }
        Ok(())
    }

    fn take_response(&mut self, p: &Packet, header: &WifiHeader, body: &[u8], cx: &Cx<'_>) {
        let (capability, status, association) = (number(body, 0), number(body, 2), number(body, 4));
        // The rates come next, whatever the identifier says.
        let rates = match body.get(6..) {
            Some([_, length, content @ ..]) => {
                &content[..content.len().min(usize::from(*length)).min(MOST_RATES)]
            }
            _ => &[],
        };
        let bssid = header.address3;
        if self.debug {
            let (rssi, capability) = (Extra::of(p).rssi, capabilities_in_brackets(capability));
            let rates = rates_in_braces(rates);
            say(
                cx,
                format_args!(
                    "response {bssid} +{rssi} {capability}status {status} associd {association} {rates}"
                ),
            );
        }
        if let Some(table) = self.rates.get() {
            table.learn(bssid, &plain_rates(rates));
        }
        // A frame without a status is no success.
        self.associated |= status == SUCCESS && body.len() >= 4;
    }

    fn take_disassociation(&mut self, header: &WifiHeader, reason: u16, cx: &Cx<'_>) {
        let bssid = header.address3;
        let is_own = self.network.get().is_some_and(|network| network.lock().bssid == bssid);
        let bad = if is_own { "" } else { "BAD " };
        cx.report("disassociation", || {
            format!("{} {bad}disassociation from {bssid} reason {reason}", declaration(cx))
        });
        self.associated &= !is_own;
    }
}

impl Element for AssociationRequester {
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

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Err(reason) = self.take(&p, cx) {
                cx.count_drop(reason, 1);
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AssociationRequester>(old) {
            self.associated = old.associated;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const STATION: &str = "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3); rates :: AvailableRates(DEFAULT 2 4 11 22);
        s :: Source -> a :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates, DEBUG true) -> k :: Sink";

    #[test]
    fn a_station_joins_and_is_sent_away() {
        let mut t = Harness::new(STATION);
        t.write("a.send_assoc_req").unwrap();
        assert_eq!(t.bytes("k"), [samples::frame("association request")]);
        let states = ["association refused", "association response", "disassociation"].map(|name| {
            t.push("s", 0, [Packet::new(&samples::frame(name))]);
            t.read("a.associated")
        });
        assert_eq!(states, ["false\n", "true\n", "false\n"]);
        let said = "a :: AssociationRequester: response 02-00-00-00-00-03 +0 [ ESS ] status 12 associd 0 ( { 2 } 4 11 22 )\n\
            a :: AssociationRequester: response 02-00-00-00-00-03 +0 [ ESS ] status 0 associd 49152 ( { 2 } 4 11 22 )\n\
            a :: AssociationRequester disassociation from 02-00-00-00-00-03 reason 8\n";
        assert_eq!(t.printed(), said);
        assert!(t.read("rates.rates").ends_with("02-00-00-00-00-03  2 4 11 22\n"));
    }

    #[test]
    fn others_cannot_send_it_away_and_short_frames_do_not_admit_it() {
        let mut t = Harness::new(STATION);
        let answer = samples::frame("association response");
        t.push("s", 0, (0..28).map(|length| Packet::new(&answer[..length])));
        assert_eq!(t.read("a.associated"), "false\n");
        t.push("s", 0, [Packet::new(&answer)]);
        let mut other = samples::frame("disassociation");
        other[21] = 9;
        t.printed();
        t.push("s", 0, [Packet::new(&other)]);
        assert_eq!(t.read("a.associated"), "true\n");
        assert_eq!(
            t.printed(),
            "a :: AssociationRequester BAD disassociation from 02-00-00-00-00-09 reason 8\n"
        );
    }
}
