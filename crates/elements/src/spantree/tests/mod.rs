//! Tests of the protocol against 802.1D's procedures and tables, of whole networks of bridges, and of networks of elements.

mod elements;
mod network;
mod procedures;
mod topologies;

use super::bpdu::{Bpdu, BridgeId, Config, Times, Vector};
use super::bridge::{Bridge, PortSetup};
use clickwork_packet::Timestamp;
use clickwork_packet::addr::EtherAddress;
use std::time::Duration;

const START: Timestamp = Timestamp::new(1000, 0);

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn address(number: usize) -> EtherAddress {
    EtherAddress([2, 0, 0, 0, 0, number as u8])
}

fn id(priority: u16, number: usize) -> BridgeId {
    BridgeId::new(priority, address(number))
}

/// A bridge with ports of cost 10, begun at `START`; its first messages are taken.
fn bridge(number: usize, ports: usize) -> Bridge {
    let setup = PortSetup { path_cost: 10, priority: 0x80 };
    let mut bridge = Bridge::new(id(0x8000, number), Times::RECOMMENDED, &vec![setup; ports]);
    bridge.initialise(START);
    bridge.take_messages();
    bridge
}

/// A message just made by the root itself.
fn says(root: BridgeId, cost: u32, bridge: BridgeId, port: u16) -> Config {
    Config {
        vector: Vector { root, cost, bridge, port: super::bpdu::PortId(port) },
        change: false,
        change_acknowledged: false,
        message_age: Duration::ZERO,
        times: Times::RECOMMENDED,
    }
}

/// The configuration messages among those to send, with their ports.
fn configs(bridge: &mut Bridge) -> Vec<(usize, Config)> {
    let only = |(port, message)| match message {
        Bpdu::Config(config) => Some((port, config)),
        Bpdu::Change => None,
    };
    bridge.take_messages().into_iter().filter_map(only).collect()
}
