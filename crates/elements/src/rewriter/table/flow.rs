//! One flow and its answers, in one cache line; and the store of all flows, which never moves them.

use super::super::flow_id::FlowId;
use super::deadlines::Moment;
use clickwork_packet::checksum;

/// Where a flow is in the store.
pub type Place = u32;

/// Flags of a flow. Those of TCP are Click's, forward first; UDP counts packets by twos up to 6.
pub mod state {
    /// TCP: the forward direction has ended; shifted by one for the other.
    pub const FORWARD_DONE: u8 = 1;
    /// Both directions have ended.
    pub const BOTH_DONE: u8 = 3;
    /// Forward payload has been seen; shifted by one for the other direction.
    pub const FORWARD_DATA: u8 = 4;
    /// Payload has been seen in both directions.
    pub const BOTH_DATA: u8 = 12;
    /// UDP: an answer has been seen.
    pub const ANSWERED: u8 = 1;
    /// UDP: what three packets count for.
    pub const THREE_PACKETS: u8 = 6;
}

/// Which heap holds a flow's deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Held {
    /// None: there is no such flow.
    #[default]
    Free,
    /// The flow was guaranteed when last looked at.
    Guaranteed,
    /// The flow was kept as long as there is room.
    BestEffort,
}

/// A flow and its answers.
#[derive(Clone, Default)]
#[repr(C, align(64))]
pub struct Flow {
    /// Number of the flow, in the order in which flows came.
    pub born: u64,
    /// As packets arrive: forward, and answers to what was made of them.
    pub ends: [FlowId; 2],
    /// When the last packet came.
    pub last: Moment,
    /// The time under which the flow is held.
    pub placed: Moment,
    /// Outputs, forward and of answers.
    pub outputs: [u16; 2],
    /// The table it belongs to.
    pub table: u16,
    /// The input that it came by.
    pub input: u16,
    /// What the rewriting does to the IP header's checksum, in Click's form.
    pub ip_delta: u16,
    /// What it does to the checksum of the transport header.
    pub transport_delta: u16,
    /// IP protocol, 0 if the rewriter does not look at it.
    pub protocol: u8,
    /// See [`state`].
    pub state: u8,
    /// The annotation that answers get.
    pub reply_anno: u8,
    /// Where its deadline is.
    pub held: Held,
    /// Whether sequence numbers change.
    pub has_deltas: bool,
}

impl Flow {
    /// What packets of one direction become.
    #[inline]
    pub fn rewritten(&self, direction: usize) -> FlowId {
        self.ends[1 - direction].reverse()
    }

    /// Computes what the rewriting does to checksums.
    pub fn set_deltas(&mut self) {
        let (old, new) = (self.ends[0].words(), self.rewritten(0).words());
        let changed = |delta, i: usize| checksum::update(delta, old[i], new[i]);
        self.ip_delta = (0..4).fold(0, changed);
        self.transport_delta = (4..6).fold(self.ip_delta, changed);
    }
}

/// Flows in a chunk of the store.
const CHUNK: usize = 4096;

/// The store.
#[derive(Default)]
pub struct Flows {
    chunks: Vec<Vec<Flow>>,
    free: Vec<Place>,
}

impl Flows {
    /// Adds a flow.
    pub fn insert(&mut self, flow: Flow) -> Place {
        if let Some(place) = self.free.pop() {
            self[place] = flow;
            return place;
        }
        if self.chunks.last().is_none_or(|c| c.len() == CHUNK) {
            // The first chunk grows as need be: most tables are small.
            let room = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        let chunks = self.chunks.len() - 1;
        self.chunks[chunks].push(flow);
        (chunks * CHUNK + self.chunks[chunks].len() - 1) as Place
    }

    /// Removes a flow.
    pub fn remove(&mut self, place: Place) {
        self[place].held = Held::Free;
        self.free.push(place);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        *self = Flows::default();
    }

    /// The flow at a place, if there is such a place.
    #[inline]
    pub fn get(&self, place: Place) -> Option<&Flow> {
        self.chunks.get(place as usize / CHUNK)?.get(place as usize % CHUNK)
    }

    /// All flows.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &Flow)> {
        let all = self.chunks.iter().flatten().enumerate();
        all.filter(|(_, flow)| flow.held != Held::Free).map(|(place, flow)| (place as Place, flow))
    }
}

impl std::ops::Index<Place> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, place: Place) -> &Flow {
        &self.chunks[place as usize / CHUNK][place as usize % CHUNK]
    }
}

impl std::ops::IndexMut<Place> for Flows {
    #[inline]
    fn index_mut(&mut self, place: Place) -> &mut Flow {
        &mut self.chunks[place as usize / CHUNK][place as usize % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_a_cache_line_and_its_place_is_used_again() {
        assert_eq!(std::mem::size_of::<Flow>(), 64);
        let mut flows = Flows::default();
        let live = |born| Flow { born, held: Held::BestEffort, ..Flow::default() };
        let places: Vec<Place> = (0..10_000).map(|n| flows.insert(live(n))).collect();
        assert!(places.iter().enumerate().all(|(n, &place)| flows[place].born == n as u64));
        flows.remove(places[5000]);
        assert_eq!(flows.iter().count(), 9999);
        assert_eq!(flows.insert(live(7)), places[5000]);
        assert!(flows.get(50_000).is_none());
    }
}
