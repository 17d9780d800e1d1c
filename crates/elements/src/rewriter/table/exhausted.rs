//! Ranges in which nothing is free. A search through all of a range takes long, so its failure is remembered, with what
//! becomes free later: a flood of flows for which there is no port costs no searches, and no free port is overlooked.

use super::super::flow_id::FlowId;
use super::super::kind::Kind;
use super::super::pattern::Pattern;
use std::sync::Arc;

/// Failures remembered.
const LINES: usize = 1024;
/// What has become free is remembered up to this number; then a search is worth while.
const MOST_FREED: usize = 256;

/// A range, for one destination and what else is not chosen.
struct Exhausted {
    table: u16,
    kind: Kind,
    pattern: Arc<Pattern>,
    /// What comes out, without the choice.
    rest: FlowId,
    freed: Vec<FlowId>,
}

/// The ranges.
#[derive(Default)]
pub struct Ranges(Vec<Option<Exhausted>>);

fn line(destination: u32) -> usize {
    destination.wrapping_mul(0x9E37_79B9) as usize >> 22 & (LINES - 1)
}

/// What comes out, without what is chosen or follows from it.
fn rest(kind: Kind, pattern: &Pattern, id: FlowId) -> FlowId {
    kind.without_key(pattern.without_choice(id))
}

impl Ranges {
    /// Whether the range that `plain` is to be chosen from is exhausted; then what has become free since, to be tried.
    pub fn freed(
        &mut self,
        table: u16,
        pattern: &Arc<Pattern>,
        kind: Kind,
        plain: FlowId,
    ) -> Option<&mut Vec<FlowId>> {
        let known = self.0.get_mut(line(plain.destination))?.as_mut()?;
        let same = known.table == table && Arc::ptr_eq(&known.pattern, pattern);
        (same && known.rest == rest(kind, pattern, plain)).then_some(&mut known.freed)
    }

    /// Notes that nothing is free.
    pub fn add(&mut self, table: u16, pattern: &Arc<Pattern>, kind: Kind, plain: FlowId) {
        self.0.resize_with(LINES, || None);
        let rest = rest(kind, pattern, plain);
        let (pattern, freed) = (Arc::clone(pattern), Vec::new());
        self.0[line(plain.destination)] = Some(Exhausted { table, kind, pattern, rest, freed });
    }

    /// Notes that something is free again.
    pub fn release(&mut self, table: u16, id: FlowId) {
        let Some(slot) = self.0.get_mut(line(id.destination)) else { return };
        let Some(known) = slot.as_mut().filter(|known| known.table == table) else { return };
        if known.pattern.offers(&id) && known.rest == rest(known.kind, &known.pattern, id) {
            known.freed.push(id);
            if known.freed.len() > MOST_FREED {
                *slot = None;
            }
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
