//! The functions that C calls. Each turns the pointers it gets into references for as long as it runs, and calls no C.
//!
//! How aliasing is kept in order stands at [`super::TcpStack`].

use std::ffi::c_void;
use std::ptr::null_mut;

use clickwork_packet::Packet;

use super::flow::Flow;
use super::inner::Inner;
use super::output::HEADROOM;
use super::sum;
use crate::abi::{Environment, Segment, Tcb, Transmit};

/// What programs are initialised with: the stack comes with each call.
pub(crate) static ENVIRONMENT: Environment = Environment {
    segment_new,
    segment_free,
    segment_split,
    segment_fill,
    transmit,
    spawn,
    hash,
    cookie,
    random,
    shared,
};

/// The stack behind C's pointer.
///
/// # Safety
/// `stack` is what a TCB of the stack was constructed with, an entry of the stack is running, and the result is gone
/// when the callback returns.
unsafe fn inner<'a>(stack: *mut c_void) -> &'a mut Inner {
    // SAFETY: while C runs there is no reference to the inner part but this (see `TcpStack`).
    unsafe { &mut *stack.cast::<Inner>() }
}

unsafe extern "C" fn segment_new(stack: *mut c_void) -> *mut Segment {
    // SAFETY: called by C within an entry.
    unsafe { inner(stack) }.pool.take()
}

unsafe extern "C" fn segment_free(stack: *mut c_void, segment: *mut Segment) {
    if !segment.is_null() {
        // SAFETY: called by C within an entry, with a segment that it gives up.
        unsafe { inner(stack).pool.give(segment) }
    }
}

unsafe extern "C" fn segment_split(stack: *mut c_void, segment: *mut Segment, at: u32) -> *mut Segment {
    // SAFETY: called by C within an entry, with a segment that it has.
    unsafe { inner(stack).split(segment, at) }
}

unsafe extern "C" fn segment_fill(
    stack: *mut c_void,
    segment: *mut Segment,
    next: *mut Segment,
    amount: u32,
) -> u32 {
    // SAFETY: called by C within an entry, with two segments that it has.
    unsafe { inner(stack).fill(&mut *segment, &mut *next, amount) }
}

unsafe extern "C" fn transmit(stack: *mut c_void, t: *const Transmit) {
    // SAFETY: called by C within an entry; the structure is there while it waits.
    unsafe { inner(stack).transmit(&*t) }
}

unsafe extern "C" fn spawn(stack: *mut c_void, listener: *mut Tcb, _segment: *const Segment) -> *mut Tcb {
    // SAFETY: called by C within `listen_arrives` of the listener.
    unsafe { inner(stack).spawn(stack, listener) }
}

unsafe extern "C" fn hash(stack: *mut c_void, data: *const u8, length: usize) -> u64 {
    // SAFETY: called by C within an entry, with so many bytes.
    unsafe { inner(stack).secret.hash(std::slice::from_raw_parts(data, length)) }
}

unsafe extern "C" fn cookie(stack: *mut c_void, tcb: *const Tcb, which: u32) -> u64 {
    // SAFETY: called by C within an entry, with a TCB of the stack.
    unsafe { inner(stack).cookie(tcb, which) }
}

unsafe extern "C" fn random(stack: *mut c_void) -> u32 {
    // SAFETY: called by C within an entry.
    unsafe { inner(stack) }.secret.next() as u32
}

unsafe extern "C" fn shared(stack: *mut c_void) -> *mut c_void {
    // SAFETY: called by C within an entry. The memory stays where it is as long as the stack.
    unsafe { inner(stack) }.shared.as_mut_ptr().cast()
}

impl Inner {
    /// Cuts a segment in two, of which the first keeps `at` bytes. Flags stay with the first: which of them belong to the
    /// end is the TCP's affair.
    ///
    /// # Safety
    /// The segment is one of this stack, and nobody else has a reference to it.
    unsafe fn split(&mut self, segment: *mut Segment, at: u32) -> *mut Segment {
        // SAFETY: the caller's.
        unsafe {
            // What was received is never cut.
            if at > (*segment).length || (*segment).buffer != 0 {
                return null_mut();
            }
            let second = self.pool.take();
            if second.is_null() {
                return second;
            }
            let (sum, first_sum) = ((*segment).sum, self.first_sum(segment, at));
            (*second).packet = (*segment).packet.clone();
            (*second).data = (*segment).data.add(at as usize);
            (*second).length = (*segment).length - at;
            (*second).seqno = (*segment).seqno.wrapping_add(at);
            (*second).time = (*segment).time;
            (*second).ecn = (*segment).ecn;
            (*second).sum = if sum == 0 { 0 } else { sum::rest(sum, first_sum, at as usize) };
            (*segment).sum = if sum == 0 { 0 } else { first_sum };
            (*segment).length = at;
            second
        }
    }

    /// Moves up to `amount` bytes of text of the next segment to the end of this one, which gets a buffer of its own for that: those that
    /// there are may be in packets that were sent. What is left of the next one is the TCP's affair.
    ///
    /// # Safety
    /// The segments are of this stack, have what their fields say, and both wait to be sent.
    unsafe fn fill(&mut self, segment: &mut Segment, next: &mut Segment, amount: u32) -> u32 {
        let moved = amount.min(next.length);
        if moved == 0 {
            return 0;
        }
        // SAFETY: the caller's.
        let (front, back) = unsafe {
            let text = |data, length| std::slice::from_raw_parts(data, length as usize);
            (
                if segment.length == 0 { &[] } else { text(segment.data, segment.length) },
                text(next.data, moved),
            )
        };
        let (own, added) = (front.len(), back.len());
        let mut packet = Packet::recycled(HEADROOM, own + added, (amount - moved) as usize);
        packet.data_mut()[..own].copy_from_slice(front);
        packet.data_mut()[own..].copy_from_slice(back);
        // SAFETY: as above.
        let (sum, first_sum) = (next.sum, unsafe { self.first_sum(next, moved) });
        let known = next.sum != 0 && (segment.sum != 0 || own == 0);
        segment.sum = if known { sum::join(segment.sum, own, first_sum) } else { 0 };
        next.sum = if sum == 0 { 0 } else { sum::rest(sum, first_sum, added) };
        segment.data = packet.data().as_ptr();
        segment.packet = Some(packet);
        moved
    }

    /// # Safety
    /// The segment has at least `at` bytes of text.
    unsafe fn first_sum(&self, segment: *const Segment, at: u32) -> u32 {
        // SAFETY: the caller's.
        unsafe {
            if (*segment).sum == 0 {
                return 0;
            }
            sum::sum(std::slice::from_raw_parts((*segment).data, at as usize))
        }
    }

    /// The fast open cookie of a connection's peer, by the keys of its listener or of the stack.
    ///
    /// # Safety
    /// The TCB is one of this stack, and has its addresses.
    unsafe fn cookie(&mut self, tcb: *const Tcb, which: u32) -> u64 {
        // SAFETY: the caller's; a listener outlives the connections that refer to it.
        let (flow, listener) = unsafe { (Flow::of(tcb), (*tcb).listener) };
        let of_listener = (!listener.is_null())
            // SAFETY: as above.
            .then(|| unsafe { self.table.slot_of(listener) })
            .and_then(|slot| slot.listener.as_ref()?.options.fast_open_keys);
        of_listener.unwrap_or(self.fast_open_keys).cookie(&flow, which)
    }

    /// Memory for the connection that the segment in hand opens, with its addresses.
    ///
    /// # Safety
    /// `listener` is a listener of this stack, and `stack` the stack.
    unsafe fn spawn(&mut self, stack: *mut c_void, listener: *mut Tcb) -> *mut Tcb {
        let Some(flow) = self.current else { return null_mut() };
        if self.table.live() >= self.limits.connections || self.table.lookup(&flow).is_some() {
            self.counters.drops.memory += 1;
            return null_mut();
        }
        let index = self.new_slot(stack);
        // SAFETY: the caller's: the listener's slot has what its connections start with.
        let (parent, above) = unsafe { ((*listener).user, self.table.slot_of(listener)) };
        let send_buffer = above.listener.as_ref().map_or(0, |listener| listener.options.send_buffer);
        let (reuse, is_inline, dscp, hop_limit) = (above.reuse, above.is_inline, above.dscp, above.hop_limit);
        let slot = &mut self.table.slots[index as usize];
        slot.set_send_buffer(send_buffer);
        (slot.reuse, slot.is_inline, slot.parent) = (reuse, is_inline, parent);
        (slot.dscp, slot.hop_limit) = (dscp, hop_limit);
        let tcb = slot.tcb;
        // SAFETY: the TCB is new.
        unsafe { flow.write(tcb) };
        self.table.bind(index);
        self.spawned.push(index);
        self.counters.activity.passive_opens += 1;
        tcb
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::SegmentPool;
    use super::*;
    use crate::abi::Config;
    use crate::program::Program;
    use proptest::prelude::*;

    /// A segment with text, as a user's.
    fn segment(pool: &mut SegmentPool, text: &[u8]) -> *mut Segment {
        let segment = pool.take();
        let packet = Packet::new(text);
        // SAFETY: the segment is ours alone.
        unsafe {
            (*segment).data = packet.data().as_ptr();
            (*segment).packet = Some(packet);
            (*segment).length = text.len() as u32;
            (*segment).seqno = u32::MAX - 1;
            (*segment).sum = sum::sum(text);
        }
        segment
    }

    proptest! {
        #[test]
        fn both_pieces_of_a_segment_have_their_text_and_its_sum(
            text in proptest::collection::vec(1u8.., 2..400),
            first in 1usize..400, second in 0usize..400,
        ) {
            let mut inner = Inner::new(Config::default(), Program::linked());
            let head = segment(&mut inner.pool, &text);
            let first = first % (text.len() + 1);
            // SAFETY: the segments are ours alone.
            unsafe {
                prop_assert!(inner.split(head, text.len() as u32 + 1).is_null());
                let middle = inner.split(head, first as u32);
                let second = first + second % (text.len() - first + 1);
                let tail = inner.split(middle, (second - first) as u32);
                for (segment, from, to) in [(head, 0, first), (middle, first, second), (tail, second, text.len())] {
                    let length = (*segment).length as usize;
                    prop_assert_eq!(std::slice::from_raw_parts((*segment).data, length), &text[from..to]);
                    prop_assert_eq!((*segment).seqno, (u32::MAX - 1).wrapping_add(from as u32));
                    let (known, plain) = ((*segment).sum, sum::sum(&text[from..to]));
                    prop_assert!(known == plain || (from == to && known % 0xFFFF == 0) || known == 0, "{known} {plain}");
                }
                for segment in [head, middle, tail] {
                    inner.pool.give(segment);
                }
            }
            prop_assert_eq!(inner.pool.in_use(), 0);
        }

        #[test]
        fn a_segment_that_takes_text_of_the_next_has_it_with_its_sum(
            text in proptest::collection::vec(1u8.., 2..400), first in 0usize..400, amount in 1u32..400, summed: bool,
        ) {
            let mut inner = Inner::new(Config::default(), Program::linked());
            let head = segment(&mut inner.pool, &text);
            let first = first % text.len();
            // SAFETY: the segments are ours alone.
            unsafe {
                let next = inner.split(head, first as u32);
                if !summed {
                    (*next).sum = 0;
                }
                let moved = inner.fill(&mut *head, &mut *next, amount);
                prop_assert_eq!(moved as usize, (text.len() - first).min(amount as usize));
                let (end, rest) = (first + moved as usize, text.len() - first - moved as usize);
                prop_assert_eq!(std::slice::from_raw_parts((*head).data, end), &text[..end]);
                let left = std::slice::from_raw_parts((*next).data.add(moved as usize), rest);
                prop_assert_eq!(left, &text[end..]);
                let is_right = |sum: u32, text: &[u8]| sum == 0 || sum == sum::sum(text) || text.is_empty();
                prop_assert!(is_right((*head).sum, &text[..end]) && is_right((*next).sum, left));
                prop_assert!(summed == ((*next).sum != 0) || rest == 0);
                inner.pool.give(head);
                inner.pool.give(next);
            }
            prop_assert_eq!(inner.pool.in_use(), 0);
        }
    }
}
