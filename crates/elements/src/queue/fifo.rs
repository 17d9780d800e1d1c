//! Packets in order, kept in the batches they came in: a full batch goes in and out by its three words, without
//! touching its packets. Small batches are joined, so that a queue of single packets needs no array for each.

use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use std::collections::VecDeque;

/// A sequence of packets. No batch in it is empty.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    batches: VecDeque<Batch>,
    len: usize,
}

impl Fifo {
    /// Packets held.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the packets of a batch behind the others. The batch is left empty, with its array if that was not needed.
    #[inline]
    pub fn append(&mut self, batch: &mut Batch) {
        self.len += batch.len();
        match self.batches.back_mut() {
            Some(last) if last.len() + batch.len() <= BATCH_SIZE => last.append(batch),
            _ if batch.is_empty() => {}
            _ => self.batches.push_back(batch.take()),
        }
    }

    /// Takes up to `limit` packets from the front: those of one batch. `empty` gives an array if it is needed.
    #[inline]
    pub fn take(&mut self, limit: usize, empty: impl FnOnce() -> Batch) -> Batch {
        let Some(first) = self.batches.front_mut() else { return Batch::new() };
        let batch = if first.len() <= limit {
            self.batches.pop_front().unwrap_or_default()
        } else {
            let mut batch = empty();
            batch.extend(first.drain_front(limit));
            batch
        };
        self.len -= batch.len();
        batch
    }

    /// Adds a packet behind the others.
    pub fn push_back(&mut self, p: Packet) {
        self.append(&mut Batch::one(p));
    }

    /// Adds a packet before the others.
    pub fn push_front(&mut self, p: Packet) {
        self.batches.push_front(Batch::one(p));
        self.len += 1;
    }

    /// Takes the first packet.
    pub fn pop_front(&mut self) -> Option<Packet> {
        self.take(1, Batch::new).pop()
    }

    /// Takes the last packet.
    pub fn pop_back(&mut self) -> Option<Packet> {
        let last = self.batches.back_mut()?;
        let packet = last.pop();
        if last.is_empty() {
            self.batches.pop_back();
        }
        self.len -= 1;
        packet
    }

    /// Frees all packets, which the caller has counted.
    pub fn clear(&mut self) {
        self.batches.drain(..).for_each(|mut batch| batch.clear());
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(n: u8) -> Packet {
        Packet::new(&[n])
    }

    proptest! {
        /// It behaves as a plain sequence does, whatever is done to it.
        #[test]
        fn is_a_sequence(operations in prop::collection::vec((0u8..6, 0usize..=BATCH_SIZE), 1..60)) {
            let (mut fifo, mut model) = (Fifo::default(), VecDeque::new());
            let mut next = 0u8;
            for (operation, n) in operations {
                next = next.wrapping_add(1);
                match operation {
                    0 | 1 => {
                        fifo.append(&mut (0..n).map(|_| packet(next)).collect());
                        model.extend((0..n).map(|_| next));
                    }
                    2 => {
                        let taken = fifo.take(n, Batch::new);
                        prop_assert!(taken.len() <= n && (n == 0 || !taken.is_empty() || model.is_empty()));
                        for p in taken {
                            prop_assert_eq!(Some(p.data()[0]), model.pop_front());
                        }
                    }
                    3 => {
                        fifo.push_front(packet(next));
                        model.push_front(next);
                    }
                    4 => prop_assert_eq!(fifo.pop_back().map(|p| p.data()[0]), model.pop_back()),
                    _ => prop_assert_eq!(fifo.pop_front().map(|p| p.data()[0]), model.pop_front()),
                }
                prop_assert_eq!(fifo.len(), model.len());
                prop_assert!(fifo.batches.iter().all(|b| !b.is_empty()));
            }
            fifo.clear();
        }
    }
}
