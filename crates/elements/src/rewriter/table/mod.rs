//! The flow table: which flows there are, what becomes of their packets, and how long they last.
//!
//! Rewriters that share a capacity share one [`FlowSet`], in which each has one table, or two (TCP and UDP). All flows lie
//! in one store and one index, and their deadlines in two heaps, as in Click: guaranteed flows, which nothing can push
//! out, and those that last only while there is room. A flow's last packet and state tell both its deadlines, so a packet
//! only notes the time.
//!
//! A mapping takes 64 bytes of store, about 16 of index, and 8 to 16 of heap. When the set is full, a new flow takes the
//! place of the best-effort flow with the next deadline; if all are guaranteed, it is the new flow that is refused.

pub mod deadlines;
mod exhausted;
mod expiry;
pub mod flow;
mod index;
mod order;
mod takeover;
#[cfg(test)]
mod tests;

use super::flow_id::FlowId;
use super::input::{Input, Outputs};
use super::kind::Kind;
use super::pattern::Pattern;
use super::sequence::Sequences;
use clickwork_packet::prefetch;
use deadlines::{Deadlines, Moment};
use exhausted::Ranges;
use flow::{Flow, Flows, Place, state};
use index::Index;
use order::Order;
use std::collections::HashMap;
use std::sync::Arc;

/// Room for entries of the index that is made in advance, at most.
const MOST_RESERVED: usize = 1 << 23;

/// How long flows last, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timeouts {
    /// No packet for so long: the flow may be pushed out.
    pub guarantee: u32,
    /// No packet for so long: the flow ends.
    pub usual: u32,
    /// The same for TCP with data in both directions, and for streams of UDP.
    pub busy: u32,
    /// The same for TCP connections that have ended.
    pub done: u32,
}

/// What decides how long a flow lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tracking {
    /// Nothing.
    Plain,
    /// TCP's flags.
    Tcp,
    /// The number of packets and whether there were answers.
    Udp,
}

/// One table of a rewriter.
struct Table {
    member: u16,
    tracking: Tracking,
    timeouts: Timeouts,
    order: Order,
}

impl Table {
    fn timeout(&self, flow_state: u8) -> u32 {
        match self.tracking {
            Tracking::Tcp if flow_state & state::BOTH_DONE == state::BOTH_DONE => self.timeouts.done,
            Tracking::Tcp if flow_state & state::BOTH_DATA == state::BOTH_DATA => self.timeouts.busy,
            Tracking::Udp if flow_state > state::THREE_PACKETS => self.timeouts.busy,
            _ => self.timeouts.usual,
        }
    }
}

/// A flow and the direction of a packet: 0 forward, 1 answer.
pub type Entry = (Place, usize);

/// An entry as the index holds it.
fn pack((place, direction): Entry) -> u32 {
    place << 1 | direction as u32
}

fn unpack(packed: u32) -> Entry {
    (packed >> 1, (packed & 1) as usize)
}

/// A flow to be added.
pub struct NewFlow {
    /// The table.
    pub table: u16,
    /// The input of the rewriter that it came by.
    pub input: u16,
    /// As it arrives.
    pub id: FlowId,
    /// What becomes of it.
    pub rewritten: FlowId,
    /// Where packets go.
    pub outputs: Outputs,
    /// IP protocol, 0 if the rewriter does not look at it.
    pub protocol: u8,
    /// What the rewriting does to transport checksums, if that does not follow from addresses and ports.
    pub transport_delta: Option<u16>,
}

/// The flows of one or more rewriters.
pub struct FlowSet {
    flows: Flows,
    index: Index,
    guaranteed: Deadlines,
    best_effort: Deadlines,
    tables: Vec<Table>,
    /// The inputs of each rewriter.
    members: Vec<Vec<Input>>,
    size: usize,
    /// The most flows there may be.
    pub capacity: i32,
    births: u64,
    seed: [u64; 2],
    /// Changes of sequence numbers.
    pub sequences: HashMap<Place, Sequences>,
    exhausted: Ranges,
}

impl FlowSet {
    /// A set without rewriters. `random` makes the places in the index unpredictable.
    pub fn new(mut random: impl FnMut() -> u32) -> FlowSet {
        let mut word = || u64::from(random()) << 32 | u64::from(random());
        FlowSet {
            flows: Flows::default(),
            index: Index::default(),
            guaranteed: Deadlines::default(),
            best_effort: Deadlines::default(),
            tables: Vec::new(),
            members: Vec::new(),
            size: 0,
            capacity: i32::MAX,
            births: 0,
            seed: [word(), word()],
            sequences: HashMap::new(),
            exhausted: Ranges::default(),
        }
    }

    /// Adds a rewriter with its inputs; gives its number.
    pub fn add_member(&mut self, inputs: Vec<Input>) -> usize {
        self.members.push(inputs);
        self.members.len() - 1
    }

    /// Adds a table of a rewriter; gives its number.
    pub fn add_table(&mut self, member: usize, tracking: Tracking, timeouts: Timeouts) -> u16 {
        self.tables.push(Table { member: member as u16, tracking, timeouts, order: Order::default() });
        (self.tables.len() - 1) as u16
    }

    /// Makes room in the index for as many flows as there may be, if that is a reasonable number.
    pub fn reserve(&mut self) {
        let entries = 2 * usize::try_from(self.capacity).unwrap_or(0);
        if entries <= MOST_RESERVED {
            self.index.reserve(entries);
        }
    }

    /// The inputs of a rewriter.
    pub fn inputs(&mut self, member: usize) -> &mut Vec<Input> {
        &mut self.members[member]
    }

    /// Flows in the set.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A flow.
    #[inline]
    pub fn flow(&self, place: Place) -> &Flow {
        &self.flows[place]
    }

    /// A flow, to be changed; its deadline is not the caller's business.
    #[inline]
    pub fn flow_mut(&mut self, place: Place) -> &mut Flow {
        &mut self.flows[place]
    }

    // ---- finding

    /// Where a flow is looked for.
    #[inline]
    pub fn hash(&self, table: u16, id: &FlowId) -> u64 {
        hash(self.seed, table, id)
    }

    /// The entry of packets with these addresses and ports.
    #[inline]
    pub fn find(&self, table: u16, id: &FlowId) -> Option<Entry> {
        self.find_hashed(self.hash(table, id), table, id)
    }

    /// The same, for who knows the hash.
    #[inline]
    pub fn find_hashed(&self, hash: u64, table: u16, id: &FlowId) -> Option<Entry> {
        let flows = &self.flows;
        let is = |packed| {
            let (place, direction) = unpack(packed);
            let flow = &flows[place];
            flow.ends[direction] == *id && flow.table == table
        };
        self.index.find(hash, is).map(unpack)
    }

    /// Asks for the memory of the index that a lookup will read.
    #[inline]
    pub fn prefetch_index(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    /// Asks for the memory of the flow that a lookup will probably find.
    #[inline]
    pub fn prefetch_flow(&self, hash: u64) {
        if let Some(flow) = self.index.likely(hash).and_then(|packed| self.flows.get(unpack(packed).0)) {
            prefetch::read(flow);
        }
    }

    // ---- adding and removing

    /// Applies a pattern to a flow. `None` if nothing is free.
    pub fn choose(
        &mut self,
        pattern: &Arc<Pattern>,
        table: u16,
        kind: Kind,
        id: FlowId,
        random: impl FnOnce() -> u32,
    ) -> Option<FlowId> {
        if !pattern.has_range() {
            return pattern.choose(id, random, |_| false).map(|new| kind.key(new));
        }
        let plain = pattern.applied(id);
        if let Some(freed) = self.exhausted.freed(table, pattern, kind, plain) {
            let mut all = std::mem::take(freed);
            let found =
                std::iter::from_fn(|| all.pop()).find(|new| self.find(table, &new.reverse()).is_none());
            if let Some(freed) = self.exhausted.freed(table, pattern, kind, plain) {
                *freed = all;
            }
            return found;
        }
        let taken = |new| self.find(table, &kind.key(new).reverse()).is_some();
        let chosen = pattern.choose(id, random, taken).map(|new| kind.key(new));
        if chosen.is_none() {
            self.exhausted.add(table, pattern, kind, plain);
        }
        chosen
    }

    /// Adds a flow. `None` if the set is full of guaranteed flows: that counts as a failure of its input.
    pub fn add(&mut self, new: NewFlow, now: Moment) -> Option<Place> {
        let place = self.flows.insert(self.made(&new, now));
        self.births += 1;
        self.index_end((place, 0));
        let reply = new.rewritten.reverse();
        if let Some(old) = self.find(new.table, &reply) {
            self.unindex_end(old);
            if old.0 != place {
                self.destroy(old.0);
            }
        }
        self.index_end((place, 1));
        let (born, table) = (self.flows[place].born, usize::from(new.table));
        self.tables[table].order.add(born);
        let member = usize::from(self.tables[table].member);
        let input = usize::from(new.input);
        self.members[member][input].count += 1;
        self.size += 1;
        self.hold(place, now);
        if self.size as i64 > i64::from(self.capacity) && self.make_room(place, now) {
            self.members[member][input].failures += 1;
            return None;
        }
        Some(place)
    }

    fn made(&self, new: &NewFlow, now: Moment) -> Flow {
        let mut flow = Flow {
            born: self.births,
            ends: [new.id, new.rewritten.reverse()],
            last: now,
            table: new.table,
            input: new.input,
            outputs: [new.outputs.forward, new.outputs.reply],
            protocol: new.protocol,
            ..Flow::default()
        };
        flow.set_deltas();
        flow.transport_delta = new.transport_delta.unwrap_or(flow.transport_delta);
        flow
    }

    fn index_end(&mut self, entry: Entry) {
        let FlowSet { flows, index, seed, .. } = self;
        let hash_of = |packed: u32| {
            let (place, direction) = unpack(packed);
            hash(*seed, flows[place].table, &flows[place].ends[direction])
        };
        index.insert(hash_of(pack(entry)), pack(entry), hash_of);
    }

    fn unindex_end(&mut self, entry: Entry) {
        let flow = &self.flows[entry.0];
        let hash = self.hash(flow.table, &flow.ends[entry.1]);
        self.index.remove(hash, pack(entry));
    }

    /// Removes a flow.
    pub fn destroy(&mut self, place: Place) {
        let flow = &self.flows[place];
        let (table, input, has_deltas) = (usize::from(flow.table), usize::from(flow.input), flow.has_deltas);
        let ends = flow.ends;
        self.unindex_end((place, 0));
        self.unindex_end((place, 1));
        if has_deltas {
            self.sequences.remove(&place);
        }
        for end in ends {
            self.exhausted.release(table as u16, end.reverse());
        }
        self.tables[table].order.remove();
        let member = usize::from(self.tables[table].member);
        if let Some(input) = self.members[member].get_mut(input) {
            input.count -= 1;
        }
        self.flows.remove(place);
        self.size -= 1;
    }

    /// Removes the flows that came by an input.
    pub fn destroy_of_input(&mut self, member: usize, input: usize) {
        let of_input = |flow: &Flow| {
            usize::from(self.tables[usize::from(flow.table)].member) == member
                && usize::from(flow.input) == input
        };
        let places: Vec<Place> =
            self.flows.iter().filter(|(_, flow)| of_input(flow)).map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.destroy(place));
    }

    /// Removes all flows.
    pub fn clear(&mut self) {
        let places: Vec<Place> = self.flows.iter().map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.destroy(place));
        self.exhausted.clear();
        self.flows.clear();
        self.guaranteed.clear();
        self.best_effort.clear();
    }

    // ---- looking at all

    /// The entries of a table, in Click's order.
    pub fn list(&self, table: u16) -> Vec<Entry> {
        let mut flows: Vec<(Place, &Flow)> = self.flows.iter().filter(|(_, f)| f.table == table).collect();
        flows.sort_unstable_by_key(|(_, flow)| flow.born);
        let entries = flows.into_iter().flat_map(|(place, flow)| {
            // A flow that is its own answer has one entry.
            let first = usize::from(flow.ends[0] == flow.ends[1]);
            (first..2).map(move |direction| (flow.born, &flow.ends[direction], (place, direction)))
        });
        self.tables[usize::from(table)].order.list(entries)
    }

    /// In how many seconds a flow ends, as Click computes it: modulo 2^32 milliseconds.
    pub fn seconds_left(&self, place: Place, now: Moment) -> u32 {
        self.end(&self.flows[place]).wrapping_add(500).wrapping_sub(now) / 1000
    }
}

/// The hash of a flow in a table: two folded products, so that strangers cannot foresee it without the seed.
#[inline]
fn hash(seed: [u64; 2], table: u16, id: &FlowId) -> u64 {
    let folded = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let addresses = u64::from(id.source) << 32 | u64::from(id.destination);
    let ports = u64::from(table) << 32 | u64::from(id.source_port) << 16 | u64::from(id.destination_port);
    folded(folded(addresses ^ seed[0], seed[1] | 1) ^ ports, 0x9E37_79B9_7F4A_7C15)
}
