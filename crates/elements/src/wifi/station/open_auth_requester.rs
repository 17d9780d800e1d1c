//! OpenAuthRequester: authenticates a station without a key (IEEE 802.11-2016 §12.3.3.2, open system).

use super::super::frame::subtype;
use super::super::management::{Builder, OPEN_SYSTEM, management_frame, number};
use super::super::params::{DEBUG, Partner, complain, debug_handler, parameter, say};
use super::super::wireless_info::{self, SharedNetwork};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "authenticates a station without a key",
    manual: "When the handler send_auth_req is written, asks the access point of the WirelessInfo to authenticate station ETH. \
             Input takes the answers, which are told about if DEBUG is true.",
    example: "wi :: WirelessInfo(BSSID 2:0:0:0:0:1); Idle -> a :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi) \
              -> Discard; Script(write a.send_auth_req)",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::keyword("ETH", ArgType::EtherAddr, "00-00-00-00-00-00", "own address"),
        ArgSpec::keyword("WIRELESS_INFO", ArgType::Element, "", "a WirelessInfo"),
    ],
    handlers: &[
        debug_handler!(OpenAuthRequester),
        parameter!(OpenAuthRequester, "eth", ether, "own address", "eth parameter must be ethernet address"),
        write_handler!("send_auth_req", "asks to be authenticated", |e: &mut OpenAuthRequester, _, cx| e
            .send(cx)),
    ],
    ..Class::new("OpenAuthRequester", "wifi/station", || Box::<OpenAuthRequester>::default())
};

#[derive(Default)]
struct OpenAuthRequester {
    debug: bool,
    ether: EtherAddress,
    network: Partner<SharedNetwork>,
}

impl OpenAuthRequester {
    fn send(&self, cx: &mut Cx<'_>) {
        let bssid = self.network.get().map_or_else(EtherAddress::default, |network| network.lock().bssid);
        let frame = Builder::new(subtype::AUTHENTICATION, bssid, self.ether, bssid);
        cx.emit(0, frame.number(OPEN_SYSTEM).number(1).number(0).packet());
    }

    fn take(&self, p: &Packet, cx: &Cx<'_>) -> Result<(), &'static str> {
        let (header, body) = management_frame(p, cx)?;
        if header.subtype() != subtype::AUTHENTICATION {
            complain(cx, "other packets", "received non-probe-req packet");
            return Err("not an authentication");
        }
        let (algorithm, step, status) = (number(body, 0), number(body, 2), number(body, 4));
        if algorithm != OPEN_SYSTEM {
            complain(
                cx,
                "unknown algorithms",
                format_args!("auth {algorithm} from {} not supported", header.address2),
            );
            return Err("unknown algorithm");
        }
        if self.debug {
            say(cx, format_args!("auth {algorithm} seq {step} status {status}"));
        }
        Ok(())
    }
}

impl Element for OpenAuthRequester {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug).read("ETH", &mut self.ether);
        self.network.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.network.initialize(cx);
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Err(reason) = self.take(&p, cx) {
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
    fn requests_are_sent_and_answers_told_about() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(BSSID 2:0:0:0:0:3); s :: Source
            -> a :: OpenAuthRequester(ETH 2:0:0:0:0:2, WIRELESS_INFO wi, DEBUG true) -> k :: Sink",
        );
        t.write("a.send_auth_req").unwrap();
        assert_eq!(t.bytes("k"), [samples::frame("authentication request")]);
        let names = ["authentication response", "authentication shared", "beacon", "data nods"];
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        let said = [
            "auth 0 seq 2 status 0",
            "auth 1 from 02-00-00-00-00-02 not supported",
            "received non-probe-req packet",
            "received non-management packet",
        ];
        assert_eq!(t.printed(), said.map(|text| format!("a :: OpenAuthRequester: {text}\n")).concat());
        assert_eq!(t.bytes("k").len(), 0);
    }
}
