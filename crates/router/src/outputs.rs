//! Output slots: packets that elements emitted and that wait to be handed on.
//!
//! A slot is a batch bound for one output. In batch mode the packets for one output gather in one slot (a new one when
//! it is full), in order. In ordered mode each emission is a slot of its own, so that slots keep Click's order.

use crate::router::Work;
use clickwork_packet::{Batch, Packet};

/// An output, numbered through the whole router.
pub(crate) type OutputIndex = u32;

/// A batch bound for an output.
pub(crate) struct Slot {
    pub output: OutputIndex,
    pub batch: Batch,
}

#[derive(Default)]
pub(crate) struct Outputs {
    slots: Vec<Slot>,
    /// For each output, 1 + its open slot, or 0.
    open: Vec<u32>,
    ordered: bool,
    spare: Vec<Batch>,
}

/// Batch arrays kept for reuse.
const KEEP: usize = 64;

impl Outputs {
    pub fn resize(&mut self, outputs: usize, ordered: bool) {
        self.open = vec![0; outputs];
        self.ordered = ordered;
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many packets wait.
    #[inline]
    pub fn packets(&self) -> usize {
        self.slots.iter().map(|slot| slot.batch.len()).sum()
    }

    /// An empty batch with an array, recycled if possible.
    #[inline]
    pub fn fresh_batch(&mut self) -> Batch {
        self.spare.pop().unwrap_or_else(Batch::with_array)
    }

    /// Takes back a batch that is no longer needed; packets still in it are freed.
    #[inline]
    pub fn recycle(&mut self, mut batch: Batch) {
        if batch.has_array() {
            batch.clear();
            if self.spare.len() < KEEP {
                self.spare.push(batch);
            }
        }
    }

    #[inline]
    pub fn emit(&mut self, output: OutputIndex, p: Packet) {
        if !self.ordered
            && let Some(slot) = (self.open[output as usize] as usize).checked_sub(1)
            && !self.slots[slot].batch.is_full()
        {
            self.slots[slot].batch.push(p);
            return;
        }
        let mut batch = self.fresh_batch();
        batch.push(p);
        self.add_slot(output, batch);
    }

    /// Adds a whole batch. In ordered mode its packets become slots of their own.
    pub fn emit_batch(&mut self, output: OutputIndex, mut batch: Batch) {
        if self.ordered && batch.len() > 1 {
            for p in batch.drain() {
                let mut one = self.fresh_batch();
                one.push(p);
                self.add_slot(output, one);
            }
            self.recycle(batch);
        } else if batch.is_empty() {
            self.recycle(batch);
        } else {
            self.add_slot(output, batch);
        }
    }

    fn add_slot(&mut self, output: OutputIndex, batch: Batch) {
        self.slots.push(Slot { output, batch });
        if !self.ordered {
            self.open[output as usize] = self.slots.len() as u32;
        }
    }

    /// Moves all slots behind the work on `stack`, so that popping yields them in the order of emission.
    #[inline]
    pub fn unload(&mut self, stack: &mut Vec<Work>) {
        for slot in self.slots.drain(..).rev() {
            if let Some(open) = self.open.get_mut(slot.output as usize) {
                *open = 0;
            }
            stack.push(Work::Slot(slot));
        }
    }

    /// Removes all slots, in the order of emission.
    pub fn take_all(&mut self) -> Vec<Slot> {
        let slots = std::mem::take(&mut self.slots);
        for slot in &slots {
            self.open[slot.output as usize] = 0;
        }
        slots
    }
}
