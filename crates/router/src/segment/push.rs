//! Packets that are pushed into a segment.

use super::visit::Visit;
use crate::router::{Endpoint, Router};
use clickwork_packet::{BATCH_SIZE, Batch};
use std::sync::Arc;

/// What became of a batch that was to enter an input.
pub(crate) enum Through {
    /// No segment begins there.
    NoSegment,
    /// It goes on to this input, in place.
    Next(Endpoint),
    /// It is in the slots or on the stack, or gone.
    Away,
}

impl Router {
    /// Takes a batch through the segment that begins at input `to`, if there is one.
    #[inline]
    pub(crate) fn push_through(&mut self, to: Endpoint, batch: &mut Batch) -> Through {
        let Some(installed) = self.segments.entered(to) else { return Through::NoSegment };
        if !self.commands.is_empty() {
            // They are carried out behind the first element, and may change what the next one does.
            return Through::NoSegment;
        }
        let mut exits = [0; BATCH_SIZE];
        let exits = &mut exits[..batch.len()];
        let differ = installed.run(&self.elements, &self.infos, batch, exits);
        let route = exits.first().and_then(|&exit| installed.routes.get(usize::from(exit)));
        let Some(route) = route.filter(|_| !differ) else { return self.begin(to, batch, exits) };
        let Some(from) = route.end else { return self.begin(to, batch, exits) };
        self.visits += route.elements.len() as u64;
        for element in &route.elements {
            self.infos[element.index()].packets += batch.len() as u64;
        }
        self.leave(from, batch)
    }

    /// Begins a walk: packets went different ways, or elements must be asked.
    fn begin(&mut self, to: Endpoint, batch: &mut Batch, exits: &[u16]) -> Through {
        if let Some(installed) = self.segments.entered(to) {
            self.begin_visit(Visit::new(Arc::clone(installed), 0, batch.take(), exits.to_vec()));
        }
        Through::Away
    }

    /// Sends a batch out of an output as an element would that leaves it in place (output 0) or emits it.
    #[inline]
    fn leave(&mut self, from: Endpoint, batch: &mut Batch) -> Through {
        let output = self.output_number(from);
        let next = output.and_then(|output| self.targets[output as usize].first().copied());
        match (output, next) {
            (Some(_), Some(next)) if self.slots.is_empty() => return Through::Next(next),
            (Some(output), Some(_)) if from.port == 0 => self.park(output, from.element, batch.take()),
            (Some(output), Some(_)) => self.slots.emit_batch(output, batch.take()),
            _ => self.give_up(from.element, batch, "no such output"),
        }
        Through::Away
    }
}
