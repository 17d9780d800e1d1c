//! A rewriter's place in a set of flows, through which it and others get at its flows: packets are looked up here, and
//! mappings made. ICMPRewriter and FTPPortMapper have nothing else of a rewriter.

use super::flow_id::FlowId;
use super::input::{Outputs, Spec};
use super::kind::{Arrival, Kind};
use super::table::deadlines::{Moment, moment};
use super::table::flow::Place;
use super::table::{Entry, FlowSet, NewFlow};
use clickwork_router::{Cx, ElementId, Verdict};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What rewriters export: the way to their flows.
pub struct Shared {
    /// The set that it has unless it shares another's.
    own: Arc<Mutex<FlowSet>>,
    /// The element whose set it shares.
    capacity_of: Option<ElementId>,
    /// Its place, known when it is initialised.
    place: OnceLock<Membership>,
}

/// Where a rewriter's flows are.
#[derive(Clone)]
pub struct Membership {
    set: Arc<Mutex<FlowSet>>,
    kind: Kind,
    member: usize,
    /// The tables; both the same if there is one.
    tables: [u16; 2],
    outputs: usize,
}

/// A mapping that another element asks for.
pub struct Translation {
    /// What becomes of the flow. Fields that the rewriter does not look at are as they were.
    pub id: FlowId,
    /// The output.
    pub output: u16,
    /// 0 forward, 1 answer.
    pub direction: usize,
    /// The annotation that answers get.
    pub reply_anno: u8,
    /// Where the flow is.
    pub place: Place,
}

/// The flows, also if a thread panicked with them in hand.
pub fn lock(set: &Mutex<FlowSet>) -> MutexGuard<'_, FlowSet> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// A handle with a set of its own.
    pub fn new(capacity_of: Option<ElementId>, random: impl FnMut() -> u32) -> Shared {
        let own = Arc::new(Mutex::new(FlowSet::new(random)));
        Shared { own, capacity_of, place: OnceLock::new() }
    }

    /// Notes where its flows are.
    ///
    /// # Errors
    /// If that was known.
    pub fn set_membership(&self, place: Membership) -> Result<(), String> {
        self.place.set(place).map_err(|_| "initialized twice".to_string())
    }

    /// Where its flows are, once it is initialised.
    pub fn membership(&self) -> Option<&Membership> {
        self.place.get()
    }
}

/// The set of the rewriter at the end of a chain of rewriters that each share another's capacity.
pub fn shared_set(first: &Arc<Shared>, cx: &Cx<'_>) -> Option<Arc<Mutex<FlowSet>>> {
    let mut shared = Arc::clone(first);
    for _ in 0..cx.router().len() {
        let Some(next) = shared.capacity_of else { return Some(Arc::clone(&shared.own)) };
        shared = cx.exported::<Shared>(next)?;
    }
    None
}

impl Membership {
    /// The place of a rewriter with so many outputs.
    pub fn new(
        set: Arc<Mutex<FlowSet>>,
        kind: Kind,
        member: usize,
        tables: [u16; 2],
        outputs: usize,
    ) -> Self {
        Membership { set, kind, member, tables, outputs }
    }

    /// The flows.
    pub fn lock(&self) -> MutexGuard<'_, FlowSet> {
        lock(&self.set)
    }

    /// The rewriter's number in the set.
    pub fn member(&self) -> usize {
        self.member
    }

    /// How many outputs the rewriter has.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The first and the second table.
    pub fn tables(&self) -> [u16; 2] {
        self.tables
    }

    /// The entry of a packet.
    #[inline]
    pub fn find(&self, set: &FlowSet, arrival: &Arrival, hash: u64) -> Option<Entry> {
        let table = self.tables[usize::from(arrival.second)];
        let id = self.asked_first(&arrival.id);
        let found = set.find_hashed(hash, table, &id);
        if self.kind == Kind::Addr && found.is_none() {
            return set.find(table, &FlowId { source: 0, ..arrival.id });
        }
        found
    }

    /// What is looked up first: rewriters of one address know requests by their sources.
    #[inline]
    fn asked_first(&self, id: &FlowId) -> FlowId {
        if self.kind == Kind::Addr { FlowId { destination: 0, ..*id } } else { *id }
    }

    /// The hash under which the entry is looked for first.
    #[inline]
    pub fn hash(&self, set: &FlowSet, arrival: &Arrival) -> u64 {
        set.hash(self.tables[usize::from(arrival.second)], &self.asked_first(&arrival.id))
    }

    /// Makes a mapping for a flow that has none, as an input says.
    ///
    /// # Errors
    /// Where packets go if there will be none.
    pub fn begin(
        &self,
        set: &mut FlowSet,
        input: usize,
        arrival: &Arrival,
        now: Moment,
        cx: &mut Cx<'_>,
    ) -> Result<Place, Verdict> {
        let Some(spec) = set.inputs(self.member).get(input).map(|input| input.spec.clone()) else {
            return Err(Verdict::Drop("no mapping"));
        };
        let (table, id) = (self.tables[usize::from(arrival.second)], self.asked_first(&arrival.id));
        let chosen = match &spec {
            Spec::Drop => return Err(Verdict::Drop("no mapping")),
            Spec::Pass(output) => return Err(Verdict::Out(*output)),
            Spec::Keep(outputs) => Some((id, *outputs)),
            Spec::Pattern(pattern, outputs) => {
                set.choose(pattern, table, self.kind, id, || cx.random()).map(|new| (new, *outputs))
            }
            Spec::Mapper(mapper) => mapper.lock().map(id, self.outputs, cx, |pattern, cx| {
                set.choose(pattern, table, self.kind, id, || cx.random())
            }),
        };
        let Some((rewritten, outputs)) = chosen else {
            set.inputs(self.member)[input].failures += 1;
            return Err(Verdict::Drop("no free port or address"));
        };
        if !self.kind.allows(&rewritten) {
            return Err(Verdict::Drop("pattern does not fit"));
        }
        let new = self.new_flow(arrival, id, rewritten, outputs, input);
        set.add(new, now).ok_or(Verdict::Drop("table full"))
    }

    fn new_flow(
        &self,
        arrival: &Arrival,
        id: FlowId,
        rewritten: FlowId,
        outputs: Outputs,
        input: usize,
    ) -> NewFlow {
        NewFlow {
            table: self.tables[usize::from(arrival.second)],
            input: input as u16,
            id,
            rewritten,
            outputs,
            protocol: arrival.protocol,
            transport_delta: self.kind.transport_delta(&id, &rewritten),
        }
    }

    /// The mapping of a flow, for other elements.
    pub fn translate(&self, set: &FlowSet, protocol: u8, id: FlowId) -> Option<Translation> {
        let arrival = self.kind.asked(protocol, id)?;
        let (place, direction) = self.find(set, &arrival, self.hash(set, &arrival))?;
        let flow = set.flow(place);
        if flow.protocol != 0 && flow.protocol != protocol {
            return None;
        }
        let new = self.kind.completed(flow.rewritten(direction), direction, id);
        let (output, reply_anno) = (flow.outputs[direction], flow.reply_anno);
        Some(Translation { id: new, output, direction, reply_anno, place })
    }

    /// The mapping of a flow, made as input `input` says if there is none.
    pub fn establish(
        &self,
        set: &mut FlowSet,
        protocol: u8,
        id: FlowId,
        input: usize,
        cx: &mut Cx<'_>,
    ) -> Option<Translation> {
        if let Some(found) = self.translate(set, protocol, id) {
            return Some(found);
        }
        let arrival = self.kind.asked(protocol, id)?;
        let now = moment(cx.recent());
        // A flow of another protocol may be in its place.
        if self.find(set, &arrival, self.hash(set, &arrival)).is_none() {
            self.begin(set, input, &arrival, now, cx).ok()?;
        }
        self.translate(set, protocol, id)
    }

    /// A packet that has no flow and cannot begin one.
    pub fn refuse(&self, set: &mut FlowSet, input: usize, reason: &'static str) -> Verdict {
        match set.inputs(self.member).get(input).map(|input| &input.spec) {
            Some(Spec::Pass(output)) => Verdict::Out(*output),
            _ => Verdict::Drop(reason),
        }
    }
}
