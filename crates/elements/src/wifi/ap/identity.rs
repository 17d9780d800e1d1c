//! What an access point says about its network: a WirelessInfo, and arguments that overrule it.

use super::super::management::text;
use super::super::params::{Partner, say};
use super::super::wireless_info::{self, Network, SharedNetwork};
use clickwork_packet::addr::EtherAddress;
use clickwork_router::Cx;
use clickwork_router::args::{ArgSpec, ArgType, Args};

/// Arguments that overrule the WirelessInfo.
pub const OVERRULING: [ArgSpec; 4] = [
    ArgSpec::keyword("CHANNEL", ArgType::I32, "", "channel, instead of the WirelessInfo's"),
    ArgSpec::keyword("SSID", ArgType::String, "", "name of the network, instead of the WirelessInfo's"),
    ArgSpec::keyword("BSSID", ArgType::EtherAddr, "", "own address, instead of the WirelessInfo's"),
    ArgSpec::keyword(
        "INTERVAL",
        ArgType::I32,
        "",
        "milliseconds between beacons, instead of the WirelessInfo's",
    ),
];

/// The network of an access point.
#[derive(Default)]
pub struct Identity {
    info: Partner<SharedNetwork>,
    channel: Option<i32>,
    ssid: Option<Vec<u8>>,
    bssid: Option<EtherAddress>,
    interval: Option<i32>,
}

impl Identity {
    /// Reads the arguments.
    pub fn configure(&mut self, args: &mut Args, cx: &Cx<'_>) {
        self.info.configure(args, "WIRELESS_INFO", &wireless_info::CLASS, cx);
        (self.channel, self.ssid) = (args.get("CHANNEL"), args.get("SSID"));
        (self.bssid, self.interval) = (args.get("BSSID"), args.get("INTERVAL"));
    }

    /// Finds the WirelessInfo.
    pub fn initialize(&mut self, cx: &Cx<'_>) {
        self.info.initialize(cx);
    }

    /// The network as of now.
    pub fn network(&self) -> Network {
        let mut network = self.info.get().map_or_else(Network::default, |info| info.lock().clone());
        network.channel = self.channel.unwrap_or(network.channel);
        network.bssid = self.bssid.unwrap_or(network.bssid);
        network.interval = self.interval.unwrap_or(network.interval);
        if let Some(ssid) = &self.ssid {
            network.ssid.clone_from(ssid);
        }
        network
    }
}

/// Whether a request is for the network of that name: it names it, or none. Tells if not.
pub fn is_meant(asked: &[u8], own: &[u8], debug: bool, cx: &Cx<'_>) -> bool {
    let is_meant = asked.is_empty() || asked == own;
    if !is_meant && debug {
        say(cx, format_args!("other ssid {} wanted {}", text(asked), text(own)));
    }
    is_meant
}
