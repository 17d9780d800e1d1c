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
///
/// A batch that is dropped must be empty: see [`crate::custody`].
#[derive(Debug, Default)]
// The box is the point: one word instead of three, passed in a register.
#[allow(clippy::box_collection)]
pub struct Batch(Option<Box<Vec<Packet>>>);

#[cfg(debug_assertions)]
impl Drop for Batch {
    fn drop(&mut self) {
        crate::custody::lost(self.len());
    }
}

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

    /// Frees all packets: who calls this has counted them, or is where they were to go.
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

/// The packets of a batch, being removed. Dropped before the end it is like a batch.
#[derive(Debug)]
pub struct Drain<'a>(Option<std::vec::Drain<'a, Packet>>);

#[cfg(debug_assertions)]
impl Drop for Drain<'_> {
    fn drop(&mut self) {
        crate::custody::lost(self.len());
    }
}

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
    type IntoIter = IntoIter;
    // Where batches are watched they cannot be taken apart.
    #[allow(unused_mut)]
    fn into_iter(mut self) -> IntoIter {
        let array = self.0.take().map_or_else(Vec::new, |array| *array);
        #[cfg(debug_assertions)]
        let packets = IntoIter(array.into_iter());
        #[cfg(not(debug_assertions))]
        let packets = array.into_iter();
        packets
    }
}

/// The packets of a batch.
#[cfg(not(debug_assertions))]
pub type IntoIter = std::vec::IntoIter<Packet>;

/// The packets of a batch. Dropped before the end it is like a batch.
#[cfg(debug_assertions)]
#[derive(Debug)]
pub struct IntoIter(std::vec::IntoIter<Packet>);

#[cfg(debug_assertions)]
impl Drop for IntoIter {
    fn drop(&mut self) {
        crate::custody::lost(self.0.len());
    }
}

#[cfg(debug_assertions)]
impl Iterator for IntoIter {
    type Item = Packet;
    fn next(&mut self) -> Option<Packet> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

#[cfg(debug_assertions)]
impl ExactSizeIterator for IntoIter {}

#[cfg(debug_assertions)]
impl DoubleEndedIterator for IntoIter {
    fn next_back(&mut self) -> Option<Packet> {
        self.0.next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(sizes: impl IntoIterator<Item = usize>) -> Batch {
        sizes.into_iter().map(|n| Packet::zeroed(0, n, 0)).collect()
    }

    /// The lengths of all packets, which are freed.
    fn sizes(b: &mut Batch) -> Vec<usize> {
        b.drain().map(|p| p.len()).collect()
    }

    #[test]
    fn extract_takes_marked_packets_in_order_and_keeps_the_rest_in_place() {
        let mut b = sized(1..=6);
        let gone: Vec<_> = b.extract(&[0, 2, 0, 1, 2]).map(|(port, p)| (port, p.len())).collect();
        assert_eq!(gone, [(2, 2), (1, 4), (2, 5)]);
        assert_eq!(sizes(&mut b), [1, 3, 6]);
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
        b.drain_front(3).for_each(drop);
        assert_eq!(sizes(&mut b), [4]);
    }

    #[test]
    fn append_keeps_the_order_and_empties_the_other() {
        let (mut b, mut more) = (sized(1..=2), sized(3..=5));
        b.append(&mut more);
        b.append(&mut Batch::new());
        assert_eq!((sizes(&mut b), more.len(), more.has_array()), (vec![1, 2, 3, 4, 5], 0, true));
    }

    #[test]
    #[should_panic(expected = "full batch")]
    fn a_full_batch_refuses_more() {
        let mut b = sized(std::iter::repeat_n(1, BATCH_SIZE));
        b.push(Packet::new(b"x"));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn packets_that_would_vanish_are_a_panic_that_names_the_element() {
        use crate::custody::{Custody, released};
        let text_of = |lose: fn()| {
            let panic = std::panic::catch_unwind(|| {
                let _custody = Custody::of(&"q :: Queue".into());
                lose();
            });
            panic.err().and_then(|e| e.downcast::<String>().ok()).map(|text| *text)
        };
        let losing: [fn(); 4] = [
            || drop(sized(1..=2)),
            || _ = sized(1..=3).drain_front(2),
            || _ = sized(1..=4).into_iter().nth(1),
            || {
                let batch = &mut sized(1..=2);
                *batch = Batch::new();
            },
        ];
        for lose in losing {
            let text = text_of(lose).expect("it panics");
            assert!(text.contains("2 packets vanish") && text.contains("'q :: Queue'"), "{text}");
        }
        let fine: [fn(); 4] = [
            || sized(1..=2).clear(),
            || sized(1..=2).into_iter().for_each(drop),
            || released(|| drop(sized(1..=2))),
            || drop(Batch::with_array()),
        ];
        fine.into_iter().for_each(|end| assert_eq!(text_of(end), None));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_panic_for_another_reason_stays_the_only_one() {
        let panic = std::panic::catch_unwind(|| {
            let _batch = sized(1..=2);
            panic!("another");
        });
        assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"another"));
    }
}
