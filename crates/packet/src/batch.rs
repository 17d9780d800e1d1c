//! The batch: the only unit that moves between elements. A single packet is a batch of one.
#![forbid(unsafe_code)]

use crate::Packet;
use std::ops::{Deref, DerefMut};

/// Packets in a full batch.
pub const BATCH_SIZE: usize = 64;

/// Up to [`BATCH_SIZE`] packets, in order.
///
/// A batch is one word that points to its array of handles, so it moves cheaply; the array is recycled by the router. It
/// derefs to a slice of packets.
#[derive(Debug, Default)]
// The box is the point: one word instead of three, passed in a register.
#[allow(clippy::box_collection)]
pub struct Batch(Option<Box<Vec<Packet>>>);

#[allow(clippy::box_collection)]
fn new_array() -> Box<Vec<Packet>> {
    Box::new(Vec::with_capacity(BATCH_SIZE))
}

impl Batch {
    /// An empty batch without an array; the first `push` makes one.
    pub const fn new() -> Batch {
        Batch(None)
    }

    /// A batch of one.
    pub fn one(p: Packet) -> Batch {
        let mut b = Batch::with_array();
        b.push(p);
        b
    }

    /// An empty batch with its array allocated.
    pub fn with_array() -> Batch {
        Batch(Some(new_array()))
    }

    /// Whether [`BATCH_SIZE`] packets are in it.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() >= BATCH_SIZE
    }

    /// Whether an array is attached (an empty batch without one is free to make and drop).
    #[inline]
    pub fn has_array(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a packet behind the others.
    ///
    /// # Panics
    /// If the batch is full: a bug of the caller, which checks [`Batch::is_full`] first.
    #[inline]
    pub fn push(&mut self, p: Packet) {
        let array = self.0.get_or_insert_with(new_array);
        assert!(array.len() < BATCH_SIZE, "a full batch takes no more packets");
        array.push(p);
    }

    /// Moves all packets of `other` behind the others, in order; `other` keeps its array.
    ///
    /// # Panics
    /// If they do not fit, as [`Batch::push`].
    #[inline]
    pub fn append(&mut self, other: &mut Batch) {
        if let Some(more) = &mut other.0 {
            let array = self.0.get_or_insert_with(new_array);
            assert!(array.len() + more.len() <= BATCH_SIZE, "a full batch takes no more packets");
            array.append(more);
        }
    }

    /// Removes and returns the last packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.0.as_mut()?.pop()
    }

    /// Removes all packets, in order, keeping the array.
    #[inline]
    pub fn drain(&mut self) -> Drain<'_> {
        Drain(self.0.as_mut().map(|array| array.drain(..)))
    }

    /// Removes the first `n` packets, in order.
    pub fn drain_front(&mut self, n: usize) -> Drain<'_> {
        Drain(self.0.as_mut().map(|array| array.drain(..n.min(array.len()))))
    }

    /// The packets as a batch of their own; this one is left empty, without an array.
    #[inline]
    pub fn take(&mut self) -> Batch {
        std::mem::take(self)
    }

    /// Frees all packets.
    #[inline]
    pub fn clear(&mut self) {
        if let Some(array) = &mut self.0 {
            array.clear();
        }
    }

    /// Removes, in order, the packets whose entry in `ports` is not 0, together with that entry; the others stay in
    /// place. Packets beyond the end of `ports` stay.
    #[inline]
    pub fn extract<'a>(&'a mut self, ports: &'a [u16]) -> impl Iterator<Item = (u16, Packet)> + 'a {
        let mut leaving = ports.iter().filter(|&&port| port != 0);
        let taken = self.0.as_mut().map(|array| {
            let mut seen = ports.iter();
            array.extract_if(.., move |_| seen.next().is_some_and(|&port| port != 0))
        });
        taken.into_iter().flatten().filter_map(move |p| leaving.next().map(|&port| (port, p)))
    }
}

/// The packets of a batch, being removed.
#[derive(Debug)]
pub struct Drain<'a>(Option<std::vec::Drain<'a, Packet>>);

impl Iterator for Drain<'_> {
    type Item = Packet;

    #[inline]
    fn next(&mut self) -> Option<Packet> {
        self.0.as_mut()?.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.as_ref().map_or((0, Some(0)), Iterator::size_hint)
    }
}

impl ExactSizeIterator for Drain<'_> {}

impl Deref for Batch {
    type Target = [Packet];
    #[inline]
    fn deref(&self) -> &[Packet] {
        self.0.as_ref().map_or(&[], |array| array)
    }
}

impl DerefMut for Batch {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Packet] {
        self.0.as_mut().map_or(&mut [], |array| array)
    }
}

/// Adds packets behind the others. It panics as [`Batch::push`] does if they do not fit.
impl Extend<Packet> for Batch {
    #[inline]
    fn extend<I: IntoIterator<Item = Packet>>(&mut self, packets: I) {
        let array = self.0.get_or_insert_with(new_array);
        array.extend(packets);
        assert!(array.len() <= BATCH_SIZE, "a full batch takes no more packets");
    }
}

impl FromIterator<Packet> for Batch {
    fn from_iter<I: IntoIterator<Item = Packet>>(packets: I) -> Batch {
        let mut b = Batch::new();
        b.extend(packets);
        b
    }
}

impl IntoIterator for Batch {
    type Item = Packet;
    type IntoIter = std::vec::IntoIter<Packet>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.map_or_else(Vec::new, |array| *array).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(sizes: impl IntoIterator<Item = usize>) -> Batch {
        sizes.into_iter().map(|n| Packet::zeroed(0, n, 0)).collect()
    }

    fn sizes(b: &Batch) -> Vec<usize> {
        b.iter().map(Packet::len).collect()
    }

    #[test]
    fn extract_takes_marked_packets_in_order_and_keeps_the_rest_in_place() {
        let mut b = sized(1..=6);
        let gone: Vec<_> = b.extract(&[0, 2, 0, 1, 2]).map(|(port, p)| (port, p.len())).collect();
        assert_eq!(gone, [(2, 2), (1, 4), (2, 5)]);
        assert_eq!(sizes(&b), [1, 3, 6]);
    }

    #[test]
    fn a_handle_is_one_word() {
        assert_eq!(size_of::<Batch>(), 8);
    }

    #[test]
    fn drain_front_leaves_the_later_packets() {
        let mut b = sized(1..=4);
        assert_eq!(b.drain_front(9).count(), 4);
        let mut b = sized(1..=4);
        b.drain_front(3);
        assert_eq!(sizes(&b), [4]);
    }

    #[test]
    fn append_keeps_the_order_and_empties_the_other() {
        let (mut b, mut more) = (sized(1..=2), sized(3..=5));
        b.append(&mut more);
        b.append(&mut Batch::new());
        assert_eq!((sizes(&b), more.len(), more.has_array()), (vec![1, 2, 3, 4, 5], 0, true));
    }

    #[test]
    #[should_panic(expected = "full batch")]
    fn a_full_batch_refuses_more() {
        let mut b = sized(std::iter::repeat_n(1, BATCH_SIZE));
        b.push(Packet::new(b"x"));
    }
}
