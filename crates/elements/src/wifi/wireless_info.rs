//! WirelessInfo: the facts of a wireless network, which other elements look up here.

use super::params::{line, set};
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::sync::{Arc, Mutex, MutexGuard};

/// The class facts.
pub static CLASS: Class = Class {
    help: "holds name, address and channel of a wireless network",
    manual: "Other elements name it in WIRELESS_INFO: what they say about the network, and to which network they belong, \
             is what this element's handlers say at that moment.",
    example: "wi :: WirelessInfo(SSID home, BSSID 2:0:0:0:0:1, CHANNEL 3); DriverManager(print wi.ssid, stop)",
    ports: "0/0",
    args: &[
        ArgSpec::keyword("SSID", ArgType::String, "", "name of the network"),
        ArgSpec::keyword("BSSID", ArgType::EtherAddr, "00-00-00-00-00-00", "address of the access point"),
        ArgSpec::keyword("CHANNEL", ArgType::I32, "-1", "channel; -1: not known"),
        ArgSpec::keyword("INTERVAL", ArgType::I32, "100", "milliseconds between beacons"),
        ArgSpec::keyword("WEP", ArgType::Bool, "false", "whether frames are encrypted"),
        ArgSpec::keyword("IFID", ArgType::I32, "-1", "interface number in a simulator; of no effect here"),
    ],
    handlers: &[
        read_handler!("ssid", "name of the network", |e: &mut WirelessInfo, _| {
            [&e.network().ssid[..], b"\n"].concat()
        })
        .and_write(write_handler!("", "", |e: &mut WirelessInfo, text, _| {
            e.network().ssid = clickwork_source::text::encode(text.trim()).into_owned();
        })),
        read_handler!("bssid", "address of the access point", |e: &mut WirelessInfo, _| {
            line(e.network().bssid)
        })
        .and_write(write_handler!("", "", |e: &mut WirelessInfo, text, cx| {
            set(&mut e.network().bssid, text, cx, "bssid parameter must be ethernet address")
        })),
        read_handler!("channel", "channel; -1: not known", |e: &mut WirelessInfo, _| {
            line(e.network().channel)
        })
        .and_write(write_handler!("", "", |e: &mut WirelessInfo, text, cx| {
            set(&mut e.network().channel, text, cx, "channel parameter must be int")
        })),
        read_handler!("interval", "milliseconds between beacons", |e: &mut WirelessInfo, _| {
            line(e.network().interval)
        })
        .and_write(write_handler!("", "", |e: &mut WirelessInfo, text, cx| {
            set(&mut e.network().interval, text, cx, "interval parameter must be int")
        })),
        read_handler!("wep", "whether frames are encrypted", |e: &mut WirelessInfo, _| line(e.network().wep))
            .and_write(write_handler!("", "", |e: &mut WirelessInfo, text, cx| {
                set(&mut e.network().wep, text, cx, "wep parameter must be boolean")
            })),
        write_handler!("reset", "forgets everything", |e: &mut WirelessInfo, _, _| {
            *e.network() = Network::default();
        })
        .flags("b"),
    ],
    ..Class::new("WirelessInfo", "wifi", || Box::<WirelessInfo>::default())
};

/// The facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Name, at most 32 bytes by the standard, which is not checked here.
    pub ssid: Vec<u8>,
    /// Address of the access point.
    pub bssid: EtherAddress,
    /// Channel; negative if not known.
    pub channel: i32,
    /// Milliseconds between beacons.
    pub interval: i32,
    /// Whether frames are encrypted.
    pub wep: bool,
}

impl Default for Network {
    fn default() -> Network {
        Network { ssid: Vec::new(), bssid: EtherAddress::default(), channel: -1, interval: 100, wep: false }
    }
}

/// The facts, shared.
#[derive(Debug, Default)]
pub struct SharedNetwork(Mutex<Network>);

impl SharedNetwork {
    /// The facts of this moment. Nothing that holds them can panic half-way, so a poisoned lock is as good as a clean one.
    pub fn lock(&self) -> MutexGuard<'_, Network> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[derive(Default)]
struct WirelessInfo {
    shared: Arc<SharedNetwork>,
}

impl WirelessInfo {
    fn network(&self) -> MutexGuard<'_, Network> {
        self.shared.lock()
    }
}

impl Element for WirelessInfo {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut network = Network::default();
        args.read("SSID", &mut network.ssid).read("BSSID", &mut network.bssid);
        args.read("CHANNEL", &mut network.channel).read("INTERVAL", &mut network.interval);
        args.read("WEP", &mut network.wep);
        args.get::<i32>("IFID");
        *self.network() = network;
        cx.export(Arc::clone(&self.shared));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn its_handlers_tell_and_change_the_facts() {
        let mut t = Harness::new("w :: WirelessInfo(SSID \"a b\", BSSID 2:0:0:0:0:a, CHANNEL 6, WEP yes)");
        let read = |t: &mut Harness| {
            ["ssid", "bssid", "channel", "interval", "wep"].map(|h| t.read(&format!("w.{h}")))
        };
        assert_eq!(read(&mut t), ["a b\n", "02-00-00-00-00-0A\n", "6\n", "100\n", "true\n"]);
        for call in ["ssid other", "bssid 2:0:0:0:0:b", "channel 11", "interval 50", "wep false"] {
            t.write(&format!("w.{call}")).unwrap();
        }
        assert_eq!(read(&mut t), ["other\n", "02-00-00-00-00-0B\n", "11\n", "50\n", "false\n"]);
        t.write("w.reset").unwrap();
        assert_eq!(read(&mut t), ["\n", "00-00-00-00-00-00\n", "-1\n", "100\n", "false\n"]);
    }

    #[test]
    fn wrong_values_are_refused() {
        let mut t = Harness::new("w :: WirelessInfo");
        for (call, message) in [
            ("bssid 1:2", "bssid parameter must be ethernet address"),
            ("channel x", "channel parameter must be int"),
            ("interval x", "interval parameter must be int"),
            ("wep maybe", "wep parameter must be boolean"),
        ] {
            assert_eq!(t.write(&format!("w.{call}")).unwrap_err(), message);
        }
        assert!(Harness::errors("WirelessInfo(CHANNEL six)").contains("CHANNEL"));
    }
}
