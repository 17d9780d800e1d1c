//! A table takes over the flows of the table that it replaces.

use super::deadlines::Moment;
use super::flow::{Flow, Place};
use super::{FlowSet, NewFlow, Outputs};
use std::mem::swap;

impl FlowSet {
    /// Takes over another set as it is, at once whatever its size, if this one is empty and could have come to hold the same:
    /// each is of one rewriter, with the same timeouts, and there is room. `goes_on` tells which inputs may have flows.
    pub fn adopt(&mut self, old: &mut FlowSet, goes_on: &[bool]) -> bool {
        let timeouts =
            |set: &FlowSet| set.tables.iter().map(|t| (t.tracking, t.timeouts)).collect::<Vec<_>>();
        if self.size > 0 || timeouts(self) != timeouts(old) {
            return false;
        }
        let ([new_inputs], [old_inputs]) = (&mut self.members[..], &mut old.members[..]) else {
            return false;
        };
        let stays = |(i, input): (usize, &super::Input)| input.count == 0 || goes_on.get(i) == Some(&true);
        let fits = old.size as i64 <= i64::from(self.capacity) && old_inputs.iter().enumerate().all(stays);
        if !fits {
            return false;
        }
        for (new, old) in new_inputs.iter_mut().zip(old_inputs) {
            swap(&mut new.count, &mut old.count);
        }
        swap(&mut self.flows, &mut old.flows);
        swap(&mut self.index, &mut old.index);
        swap(&mut self.guaranteed, &mut old.guaranteed);
        swap(&mut self.best_effort, &mut old.best_effort);
        swap(&mut self.sequences, &mut old.sequences);
        (self.size, self.births, self.seed) = (old.size, old.births, old.seed);
        for (new, old) in self.tables.iter_mut().zip(&mut old.tables) {
            swap(&mut new.order, &mut old.order);
        }
        old.size = 0;
        true
    }

    /// Takes over the flows of tables of another set, each into one of this set, whose flows then have the inputs that
    /// `accept` allows. Those that are refused or for which there is no room are gone.
    pub fn take(
        &mut self,
        old: &mut FlowSet,
        tables: &[(u16, u16)],
        accept: impl Fn(&Flow) -> bool,
        now: Moment,
    ) {
        let mut flows: Vec<(Place, Flow)> =
            old.flows.iter().map(|(place, flow)| (place, flow.clone())).collect();
        flows.retain(|(_, flow)| tables.iter().any(|(from, _)| *from == flow.table) && accept(flow));
        flows.sort_unstable_by_key(|(_, flow)| flow.born);
        for (before_place, flow) in flows {
            let Some((_, table)) = tables.iter().find(|(from, _)| *from == flow.table) else { continue };
            let outputs = Outputs { forward: flow.outputs[0], reply: flow.outputs[1] };
            let new = NewFlow {
                table: *table,
                input: flow.input,
                id: flow.ends[0],
                rewritten: flow.rewritten(0),
                outputs,
                protocol: flow.protocol,
                transport_delta: Some(flow.transport_delta),
            };
            let Some(place) = self.add(new, now) else { continue };
            let taken = &mut self.flows[place];
            (taken.state, taken.reply_anno, taken.last) = (flow.state, flow.reply_anno, flow.last);
            if let Some(sequences) = old.sequences.remove(&before_place) {
                taken.has_deltas = true;
                self.sequences.insert(place, sequences);
            }
            self.hold(place, now);
        }
    }
}
