//! The flows that are known, and the fragments that wait for their ports.

use super::super::host_pair::{HostPair, PairOrder};
use clickwork_packet::{Packet, Timestamp};
use std::collections::{HashMap, VecDeque};

/// Both directions of a flow: protocol, hosts, and the ports, that of host `a` in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// Whether it is TCP; else UDP.
    pub is_tcp: bool,
    /// The hosts.
    pub hosts: HostPair,
    /// The ports.
    pub ports: u32,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its number.
    pub aggregate: u32,
    /// Whether its first packet came from host `b`.
    pub reverse: bool,
    /// A bit for each direction that is closed.
    pub over: u8,
    /// When its last packet passed.
    pub last: Timestamp,
    /// When its first packet came.
    pub first: Timestamp,
    /// Where that is in the file that packets come from; 0 if unknown.
    pub file_position: u32,
    /// How many packets passed, by direction.
    pub packets: [u32; 2],
    /// When it was last looked up, as a count of lookups.
    pub used: u64,
}

/// A packet that waits until a fragment before it, or of the same packet, has told its ports.
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// Its flow, if it has ports.
    pub flow: Option<FlowKey>,
    /// Its IP identification.
    pub id: u16,
    /// Whether it is a fragment.
    pub is_fragment: bool,
    /// Whether it closes its direction, and so on: the TCP flags, if it counts for the state of the flow.
    pub flags: Option<u8>,
}

/// What is known of the flows of two hosts by one protocol.
#[derive(Default)]
pub struct Pair {
    /// The ports of their flows.
    pub flows: Vec<u32>,
    /// Packets that wait.
    pub waiting: VecDeque<Waiting>,
}

/// The table.
#[derive(Default)]
pub struct Table {
    /// The flows.
    pub flows: HashMap<FlowKey, Flow>,
    /// The pairs of hosts, TCP and UDP apart.
    pub pairs: HashMap<(bool, HostPair), Pair>,
    /// Packets that wait, over all pairs.
    pub waiting: usize,
    orders: [PairOrder; 2],
    lookups: u64,
}

impl Table {
    /// Notes that two hosts talk.
    pub fn note(&mut self, is_tcp: bool, hosts: HostPair) {
        self.orders[usize::from(is_tcp)].note(hosts);
    }

    /// The flow, which counts as looked up.
    pub fn find(&mut self, key: &FlowKey) -> Option<&mut Flow> {
        let flow = self.flows.get_mut(key)?;
        self.lookups += 1;
        flow.used = self.lookups;
        Some(flow)
    }

    /// Adds a flow.
    pub fn add(&mut self, key: FlowKey, mut flow: Flow) {
        self.note(key.is_tcp, key.hosts);
        self.lookups += 1;
        flow.used = self.lookups;
        self.pairs.entry((key.is_tcp, key.hosts)).or_default().flows.push(key.ports);
        self.flows.insert(key, flow);
    }

    /// All pairs in the order in which they are walked: TCP first.
    pub fn pairs_in_order(&self) -> Vec<(bool, HostPair)> {
        let of =
            |is_tcp: bool| self.orders[usize::from(is_tcp)].pairs().into_iter().map(move |p| (is_tcp, p));
        of(true).chain(of(false)).collect()
    }

    /// The flows of a pair, the last looked up first.
    pub fn flows_of(&self, is_tcp: bool, hosts: HostPair) -> Vec<FlowKey> {
        let Some(pair) = self.pairs.get(&(is_tcp, hosts)) else { return Vec::new() };
        let mut keys: Vec<FlowKey> =
            pair.flows.iter().map(|&ports| FlowKey { is_tcp, hosts, ports }).collect();
        keys.sort_by_key(|key| std::cmp::Reverse(self.flows.get(key).map_or(0, |flow| flow.used)));
        keys
    }

    /// Removes flows of one pair, and the pair if nothing is left of it.
    pub fn remove(&mut self, is_tcp: bool, hosts: HostPair, keys: &[FlowKey]) {
        for key in keys {
            self.flows.remove(key);
        }
        let left = self.pairs.get_mut(&(is_tcp, hosts)).is_some_and(|pair| {
            if !keys.is_empty() {
                let flows = &self.flows;
                pair.flows.retain(|&ports| flows.contains_key(&FlowKey { is_tcp, hosts, ports }));
            }
            !pair.flows.is_empty() || !pair.waiting.is_empty()
        });
        if !left {
            self.pairs.remove(&(is_tcp, hosts));
            self.orders[usize::from(is_tcp)].forget(&hosts);
        }
    }
}
