//! OpenAuthResponder: lets every station authenticate (IEEE 802.11-2016 §12.3.3.2, open system).

use super::super::frame::subtype;
use super::super::management::{Builder, OPEN_SYSTEM, SUCCESS, management_frame, number};
use super::super::params::{DEBUG, complain, debug_handler, say};
use super::identity::{Identity, OVERRULING};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets every station authenticate",
    manual: "Takes authentication requests and answers those without a key (open system) with success, in the name of the \
             network of the WirelessInfo. INSECURE as open networks are: nobody is refused, nothing is encrypted.",
    example: "wi :: WirelessInfo(BSSID 2:0:0:0:0:1); Idle -> a :: OpenAuthRequester(ETH 2:0:0:0:0:2, \
              WIRELESS_INFO wi) -> OpenAuthResponder(WIRELESS_INFO wi) -> Discard; Script(write \
              a.send_auth_req)",
    processing: "h/h",
    packets: "any/any unmarked",
    args: &[
        DEBUG,
        ArgSpec::required_keyword("WIRELESS_INFO", ArgType::Element, "a WirelessInfo"),
        OVERRULING[0],
        OVERRULING[1],
        OVERRULING[2],
        OVERRULING[3],
    ],
    handlers: &[debug_handler!(OpenAuthResponder)],
    ..Class::new("OpenAuthResponder", "wifi/ap", || Box::<OpenAuthResponder>::default())
};

#[derive(Default)]
struct OpenAuthResponder {
    debug: bool,
    identity: Identity,
}

/// Which step of an authentication a request and its answer are.
const REQUEST: u16 = 1;
const ANSWER: u16 = 2;

impl OpenAuthResponder {
    fn answer(&self, p: &Packet, cx: &mut Cx<'_>) -> Result<(), &'static str> {
        let (header, body) = management_frame(p, cx)?;
        if header.subtype() != subtype::AUTHENTICATION {
            complain(cx, "other packets", "received non-probe-req packet");
            return Err("not an authentication");
        }
        let (algorithm, step, status) = (number(body, 0), number(body, 2), number(body, 4));
        let station = header.address2;
        if algorithm != OPEN_SYSTEM {
            complain(cx, "unknown algorithms", format_args!("auth {algorithm} from {station} not supported"));
            return Err("unknown algorithm");
        }
        if step != REQUEST {
            complain(
                cx,
                "weird sequence numbers",
                format_args!("auth {algorithm} weird sequence number {step}"),
            );
            return Err("not a request");
        }
        if self.debug {
            say(cx, format_args!("auth {algorithm} seq {step} status {status}"));
        }
        let bssid = self.identity.network().bssid;
        let frame = Builder::new(subtype::AUTHENTICATION, station, bssid, bssid);
        cx.emit(0, frame.number(OPEN_SYSTEM).number(ANSWER).number(SUCCESS).packet());
        Ok(())
    }
}

impl Element for OpenAuthResponder {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
        self.identity.configure(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.identity.initialize(cx);
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
    fn open_requests_are_granted_and_others_told_about() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(BSSID 2:0:0:0:0:3); s :: Source
            -> r :: OpenAuthResponder(WIRELESS_INFO wi, DEBUG true) -> k :: Sink",
        );
        let names = [
            "authentication request",
            "authentication shared",
            "authentication response",
            "probe request",
            "ack",
        ];
        t.push("s", 0, names.map(|name| Packet::new(&samples::frame(name))));
        assert_eq!(t.bytes("k"), [samples::frame("authentication response")]);
        let said = [
            "auth 0 seq 1 status 0",
            "auth 1 from 02-00-00-00-00-02 not supported",
            "auth 0 weird sequence number 2",
            "received non-probe-req packet",
            "packet too small: 10 vs 24",
        ];
        let said: String = said.iter().map(|text| format!("r :: OpenAuthResponder: {text}\n")).collect();
        assert_eq!(t.printed(), said);
    }

    #[test]
    fn requests_cut_short_are_survived() {
        let mut t = Harness::new(
            "wi :: WirelessInfo(BSSID 2:0:0:0:0:3); s :: Source
            -> r :: OpenAuthResponder(WIRELESS_INFO wi) -> k :: Sink",
        );
        let frame = samples::frame("authentication request");
        t.push("s", 0, (0..frame.len()).map(|length| Packet::new(&frame[..length])));
        // Algorithm and step are there from byte 27 on.
        assert_eq!(t.bytes("k").len(), 3);
    }
}
