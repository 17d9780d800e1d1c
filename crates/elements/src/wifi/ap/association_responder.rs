//! AssociationResponder: lets every station join the network (IEEE 802.11-2016 §11.3.5).

use super::super::available_rates::{self, Rates};
use super::super::frame::subtype;
use super::super::management::{
    Builder, ESS, Elements, MOST_RATES, SUCCESS, capabilities_in_brackets, is_basic, management_frame,
    number, rates_in_braces, tell_ignored,
};
use super::super::params::{DEBUG, Partner, complain, debug_handler, say};
use super::identity::{Identity, OVERRULING, is_meant};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets every station join the network",
    manual: "Takes association requests and answers those for this network, or for any, with success, the next association \
             number, and the rates that the AvailableRates has for this network's address. Whether the station has \
             authenticated is not asked.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1); rates :: AvailableRates(DEFAULT 2 4 11 22); \
              Idle -> a :: AssociationRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, RT rates) -> \
              AssociationResponder(WIRELESS_INFO wi, RT rates) -> Discard; Script(write a.send_assoc_req)",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
        ArgSpec::required_keyword("RT", ArgType::Element, "an AvailableRates"),
        OVERRULING[0],
        OVERRULING[1],
        OVERRULING[2],
        OVERRULING[3],
    ],
    handlers: &[debug_handler!(AssociationResponder)],
    ..Class::new("AssociationResponder", "wifi/ap", || Box::<AssociationResponder>::default())
};

/// Bits that are set in all association numbers (§9.4.1.8).
const NUMBER_BITS: u16 = 0xC000;

#[derive(Default)]
struct AssociationResponder {
    debug: bool,
    identity: Identity,
    rates: Partner<Rates>,
    associations: u16,
}

impl AssociationResponder {
    fn answer(&mut self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let (header, body) = management_frame(p, cx)?;
        if header.subtype() != subtype::ASSOCIATION_REQUEST {
            complain(cx, "other packets", "received non-association-req packet");
            return Err("not an association request");
        }
        let tell = |id, length| {
            if self.debug {
                tell_ignored(id, length, cx)
            }
        };
        let elements = Elements::read(body, 4, tell);
        let network = self.identity.network();
        if !is_meant(elements.ssid(), &network.ssid, self.debug, cx) {
            return Err("for another network");
        }
        let (capability, interval) = (capabilities_in_brackets(number(body, 0)), number(body, 2));
        let rates = rates_in_braces(elements.rates(MOST_RATES));
        let (station, to, bssid) = (header.address2, header.address1, header.address3);
        complain(
            cx,
            "association requests",
            format_args!(
                "request src {station} dst {to} bssid {bssid}{capability} listen_int {interval} {rates}"
            ),
        );
        let association = NUMBER_BITS | self.associations;
        self.associations = self.associations.wrapping_add(1);
        if self.debug {
            say(cx, format_args!("association {station} associd {association}"));
        }
        let rates = self.rates.get().map_or_else(Vec::new, |rates| rates.lookup(network.bssid, cx));
        let frame = Builder::new(subtype::ASSOCIATION_RESPONSE, station, network.bssid, network.bssid);
        let frame = frame.number(ESS).number(SUCCESS).number(association);
        cx.emit(0, frame.rates(&rates, is_basic).more_rates(&rates, is_basic).packet());
        Ok(())
    }
}

impl Element for AssociationResponder {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
        self.identity.configure(args, cx);
        self.rates.configure(args, "RT", &available_rates::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.identity.initialize(cx);
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

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AssociationResponder>(old) {
            self.associations = old.associations;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn requests_are_granted_with_a_number_each() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:3); rates :: AvailableRates(DEFAULT 2 4 11 22);
            s :: Source -> r :: AssociationResponder(WIRELESS_INFO wi, RT rates) -> k :: Sink",
        );
        let names = ["association request", "association request", "beacon"];
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        let mut second = samples::frame("association response");
        second[28] = 1;
        assert_eq!(t.bytes("k"), [samples::frame("association response"), second]);
        let request = "r :: AssociationResponder: request src 02-00-00-00-00-02 dst 02-00-00-00-00-03 bssid \
                       02-00-00-00-00-03[ ESS ]  listen_int 100 ( { 2 } 4 11 22 )\n";
        assert_eq!(
            t.printed(),
            format!("{request}{request}r :: AssociationResponder: received non-association-req packet\n")
        );
    }

    #[test]
    fn requests_for_other_networks_are_not() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(SSID other, BSSID 2:0:0:0:0:3); rates :: AvailableRates;
            s :: Source -> r :: AssociationResponder(WIRELESS_INFO wi, RT rates, DEBUG true) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(&samples::frame("association request"))]);
        assert_eq!(t.bytes("k").len(), 0);
        assert_eq!(t.printed(), "r :: AssociationResponder: other ssid home wanted other\n");
    }

    #[test]
    fn requests_cut_short_are_survived() {
        let mut t = Harness::new(
            "rates :: AvailableRates; s :: Source -> AssociationResponder(RT rates) -> k :: Sink",
        );
        let frame = samples::frame("association request");
        t.push("s", 0, (0..frame.len()).map(|length| Packet::new(&frame[..length])));
        // Up to the first byte of the name, it is for any network.
        assert_eq!(t.bytes("k").len(), 31 - 24);
    }
}
