//! What all rewriters are: a table of flows, and inputs that say what begins a flow. The kinds differ in what tells flows
//! apart ([`Kind`]), in their timeouts ([`settings`](super::settings)) and in the names of some handlers.
//!
//! The packet's way is in [`Rewriter::push`]: looked up, rewritten, out. Everything else is about flows that begin or end.

use super::apply::apply;
use super::input::{Input, Spec};
use super::kind::{Arrival, Kind, Refusal};
use super::membership::{Membership, Shared, lock, shared_set};
use super::settings::{Capacity, Settings};
use super::table::deadlines::{Moment, moment};
use super::table::{FlowSet, Timeouts, Tracking};
use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use clickwork_router::args::Args;
use clickwork_router::element::{sort_batch, try_downcast};
use clickwork_router::{Cx, Element, Verdict};
use std::sync::Arc;
use std::time::Duration;

/// Flows that a timer looks at before it lets packets through again.
const REAPED_AT_ONCE: usize = 1024;
/// How long it then waits.
const BREATH: Duration = Duration::from_millis(1);

/// A rewriter.
pub struct Rewriter {
    kind: Kind,
    settings: Settings,
    specs: Vec<Spec>,
    shared: Arc<Shared>,
}

impl Rewriter {
    /// A rewriter of a kind.
    pub fn new(kind: Kind) -> Box<Rewriter> {
        let shared = Shared::new(None, || 0);
        Box::new(Rewriter {
            kind,
            settings: Settings::new(kind),
            specs: Vec::new(),
            shared: Arc::new(shared),
        })
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its flows.
    ///
    /// # Errors
    /// If it has not been initialised.
    pub fn membership(&self) -> Result<&Membership, String> {
        self.shared.membership().ok_or_else(|| "not initialized".to_string())
    }
}

/// A packet with what has been found out about it.
type Seen = (Result<Arrival, Refusal>, u64);

impl Rewriter {
    /// Looks ahead: what each packet's flow is, and into the memory where it will be looked for.
    fn look_ahead(&self, place: &Membership, set: &FlowSet, batch: &Batch, seen: &mut [Seen; BATCH_SIZE]) {
        for (p, seen) in batch.iter().zip(&mut *seen) {
            *seen = self.see(place, set, p);
            set.prefetch_index(seen.1);
        }
        for (_, hash) in &seen[..batch.len()] {
            set.prefetch_flow(*hash);
        }
    }

    #[inline]
    fn see(&self, place: &Membership, set: &FlowSet, p: &Packet) -> Seen {
        let arrival = self.kind.arrival(p);
        let hash = arrival.as_ref().map_or(0, |arrival| place.hash(set, arrival));
        (arrival, hash)
    }

    /// Rewrites a packet, and says where it goes.
    #[inline]
    fn rewrite(
        &self,
        (place, set): (&Membership, &mut FlowSet),
        input: usize,
        (seen, hash): Seen,
        p: &mut Packet,
        now: Moment,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let arrival = match seen {
            Ok(arrival) => arrival,
            Err(Refusal::NoHeader) => return Verdict::Drop(Refusal::NoHeader.reason()),
            Err(refusal) => return place.refuse(set, input, refusal.reason()),
        };
        let entry = match place.find(set, &arrival, hash) {
            Some(entry) => entry,
            None if !arrival.can_begin => return place.refuse(set, input, "no mapping"),
            None => match place.begin(set, input, &arrival, now, cx) {
                Ok(flow) => {
                    let annotation = self.settings.annotations.reply.map_or(0, |offset| p.anno_u8(offset));
                    set.flow_mut(flow).reply_anno = annotation;
                    (flow, 0)
                }
                Err(verdict) => return verdict,
            },
        };
        let before = set.flow(entry.0).state;
        apply(self.kind, set, entry, p, self.settings.annotations);
        set.touch(entry.0, before, now);
        Verdict::Out(set.flow(entry.0).outputs[entry.1])
    }

    /// Joins the set of flows, with the inputs and tables.
    fn join(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        let set = shared_set(&self.shared, cx).ok_or("bad MAPPING_CAPACITY")?;
        let mut flows = lock(&set);
        let inputs = self.specs.iter().cloned().map(Input::new).collect();
        let member = flows.add_member(inputs);
        let mut table =
            |(tracking, timeouts): (Tracking, Timeouts)| flows.add_table(member, tracking, timeouts);
        let [first, second] = self.settings.tables(self.kind);
        let first = table(first.unwrap_or((Tracking::Plain, Timeouts::default())));
        let tables = [first, second.map_or(first, table)];
        if let Some(Capacity::Flows(capacity)) = self.settings.capacity {
            flows.capacity = capacity;
            flows.reserve();
        }
        drop(flows);
        let membership = Membership::new(set, self.kind, member, tables, cx.outputs());
        self.shared.set_membership(membership)
    }

    /// Sees to it that mappers have the right outputs for this rewriter.
    fn check_mappers(&self, cx: &Cx<'_>) -> Result<(), String> {
        let wrong: Vec<String> = (self.specs.iter().enumerate())
            .filter_map(|(i, spec)| match spec {
                Spec::Mapper(mapper) => mapper.lock().check(cx.outputs()).err().map(|e| (i, e)),
                _ => None,
            })
            .flat_map(|(i, errors)| errors.into_iter().map(move |e| format!("input spec {i}: {e}")))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    fn read_inputs(&mut self, args: &mut Args, cx: &Cx<'_>) {
        if args.rest().len() != cx.inputs() {
            return args.error(format!("need {} arguments, one per input port", cx.inputs()));
        }
        for index in 0..args.rest().len() {
            match Spec::parse(&args.rest()[index], cx) {
                Ok(spec) => self.specs.push(spec),
                Err(wrong) => args.error_in_rest(index, format!("input spec {index}: {wrong}")),
            }
        }
    }
}

impl Element for Rewriter {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.settings.read(self.kind, args, cx);
        let capacity_of = match self.settings.capacity {
            Some(Capacity::Of(id)) => Some(id),
            _ => None,
        };
        self.shared = Arc::new(Shared::new(capacity_of, || cx.random()));
        cx.export(Arc::clone(&self.shared));
        self.read_inputs(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.check_mappers(cx)?;
        self.join(cx)?;
        if !self.settings.reap_interval.is_zero() {
            cx.schedule_timer_after(0, self.settings.reap_interval);
        }
        Ok(())
    }

    fn push(&mut self, input: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let Some(place) = self.shared.membership() else { return cx.drop_batch(batch, "not initialized") };
        let (mut set, now) = (place.lock(), moment(cx.recent()));
        let mut seen: [Seen; BATCH_SIZE];
        if batch.len() > 1 {
            seen = [(Err(Refusal::NoHeader), 0); BATCH_SIZE];
            self.look_ahead(place, &set, batch, &mut seen);
            let mut seen = seen.iter();
            sort_batch(batch, cx, |p, cx| {
                let seen = seen.next().copied().unwrap_or((Err(Refusal::NoHeader), 0));
                self.rewrite((place, &mut set), input, seen, p, now, cx)
            });
        } else {
            sort_batch(batch, cx, |p, cx| {
                let seen = self.see(place, &set, p);
                self.rewrite((place, &mut set), input, seen, p, now, cx)
            });
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let Some(place) = self.shared.membership() else { return };
        let done = place.lock().reap(moment(cx.recent()), REAPED_AT_ONCE);
        cx.schedule_timer_after(0, if done { self.settings.reap_interval } else { BREATH });
    }

    /// Flows go on if their input says the same as before, as they do when a `pattern` handler is written.
    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<Rewriter>(old) else { return };
        let (Some(ours), Some(theirs)) = (self.shared.membership(), old.shared.membership()) else { return };
        let (mut set, mut old_set) = (ours.lock(), theirs.lock());
        let pairs = set.inputs(ours.member()).iter().zip(old_set.inputs(theirs.member()).iter());
        let same: Vec<bool> = pairs.map(|(new, old)| new.spec.goes_on_from(&old.spec)).collect();
        if cx.outputs() >= theirs.outputs() && set.adopt(&mut old_set, &same) {
            return;
        }
        let tables = [(theirs.tables()[0], ours.tables()[0]), (theirs.tables()[1], ours.tables()[1])];
        let count = cx.outputs();
        let accept = |input: u16, outputs: [u16; 2]| {
            same.get(usize::from(input)).copied().unwrap_or(false)
                && outputs.iter().all(|&o| usize::from(o) < count)
        };
        let now = moment(cx.recent());
        set.take(&mut old_set, &tables, |flow| accept(flow.input, flow.outputs), now);
    }
}
