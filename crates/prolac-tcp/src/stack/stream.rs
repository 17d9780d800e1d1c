//! Writing: text is copied once, into buffers that will hold a segment each, and summed on the way.
//!
//! The last segment that waits to be sent may grow: small writes that have to wait anyway, for Nagle's algorithm or for
//! window, share a segment.

use std::io::IoSlice;

use clickwork_packet::Packet;

use super::TcpStack;
use super::inner::Inner;
use super::output::HEADROOM;
use super::sum;
use super::types::ConnectionId;
use crate::abi::{RECORD_END, Segment, state};
use crate::error::Error;

/// PSH in a segment given to the TCP: the last of a write.
const PSH: u8 = 8;
/// URG in a segment given to the TCP: its last byte is urgent.
const URG: u8 = 32;

/// What a write says besides its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// The last byte is urgent (MSG_OOB).
    pub urgent: bool,
    /// More follows soon, so what does not fill a segment waits for it (MSG_MORE).
    pub more: bool,
    /// A record ends here: what is written next does not share a segment with it (MSG_EOR).
    pub record_end: bool,
}

impl Writing {
    /// Flags and marks of the last segment.
    fn last(self) -> Last {
        let flag = |is: bool, bit: u8| if is { bit } else { 0 };
        Last {
            flags: flag(!self.more, PSH) | flag(self.urgent, URG),
            marks: if self.record_end { RECORD_END } else { 0 },
        }
    }
}

/// What the last segment of a write is given.
#[derive(Clone, Copy)]
struct Last {
    flags: u8,
    marks: u16,
}

impl Last {
    fn give(self, segment: &mut Segment) {
        segment.flags |= self.flags;
        segment.marks |= self.marks;
    }
}
/// Text of a segment as long as nothing is known of the peer: RFC 9293 §3.7.1.
const SMALLEST_BUFFER: u32 = 536;
/// To which the send buffer may grow by itself, as Linux's `tcp_wmem`.
const MAX_SEND_BUFFER: u32 = 4 << 20;

impl TcpStack {
    /// Writes as much as there is room for. EAGAIN if there is none, EPIPE if the sending side is shut down.
    pub fn write(&mut self, now: u64, id: ConnectionId, data: &[u8]) -> Result<usize, Error> {
        self.write_with(now, id, &[IoSlice::new(data)], Writing::default())
    }

    /// The same from several pieces.
    pub fn write_vectored(
        &mut self,
        now: u64,
        id: ConnectionId,
        data: &[IoSlice<'_>],
    ) -> Result<usize, Error> {
        self.write_with(now, id, data, Writing::default())
    }

    /// Writes text whose last byte is urgent (MSG_OOB).
    pub fn write_urgent(&mut self, now: u64, id: ConnectionId, data: &[u8]) -> Result<usize, Error> {
        self.write_with(now, id, &[IoSlice::new(data)], Writing { urgent: true, ..Writing::default() })
    }

    /// Writes several pieces, and says more about them. If not all finds room, it is as if there were no more.
    pub fn write_with(
        &mut self,
        now: u64,
        id: ConnectionId,
        data: &[IoSlice<'_>],
        writing: Writing,
    ) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        self.may_write(index)?;
        let wanted = data.iter().map(|piece| piece.len()).sum::<usize>();
        let room = self.room(now, index, wanted);
        if room == 0 && wanted > 0 {
            return Err(Error::WOULD_BLOCK);
        }
        let (mut source, total) = (Source { pieces: data, offset: 0, taken: 0 }, wanted.min(room));
        let last = if total == wanted { writing } else { Writing::default() }.last();
        let mut done = 0;
        while done < total {
            match self.send_some(now, index, &mut source, total - done, last) {
                0 => break,
                n => done += n,
            }
        }
        if done == 0 && total > 0 { Err(Error::NO_BUFFERS) } else { Ok(done) }
    }

    /// Whether the sending side is open.
    #[inline]
    fn may_write(&mut self, index: u32) -> Result<(), Error> {
        let slot = &self.inner().table.slots[index as usize];
        // SAFETY: the slot is in use, and no entry runs.
        let state = unsafe { (*slot.tcb).state };
        match state {
            _ if slot.shut => Err(Error::BROKEN_PIPE),
            state::ESTABLISHED | state::CLOSE_WAIT | state::SYN_SENT | state::SYN_RECEIVED => Ok(()),
            state::CLOSED => Err(self.why_closed(index)),
            _ => Err(Error::BROKEN_PIPE),
        }
    }

    /// The reason, once; after that EPIPE.
    #[cold]
    fn why_closed(&mut self, index: u32) -> Error {
        let tcb = self.tcb(index);
        // SAFETY: the slot is in use, and no entry runs.
        let error = unsafe { std::mem::replace(&mut (*tcb).error, 0) };
        if error == 0 { Error::BROKEN_PIPE } else { Error(error) }
    }

    /// Bytes that may be written now, if `wanted` are to be. Remembers that the user is to be told of more.
    #[inline]
    fn room(&mut self, now: u64, index: u32, wanted: usize) -> usize {
        let room = self.inner().room(index);
        if room >= wanted {
            return room;
        }
        self.grow_send_buffer(now, index);
        let inner = self.inner_mut();
        let room = inner.room(index);
        inner.table.slots[index as usize].wants_room |= room < wanted;
        room
    }

    /// Lets the send buffer have twice the congestion window, as Linux does, if it may grow by itself.
    #[cold]
    fn grow_send_buffer(&mut self, now: u64, index: u32) {
        if !self.inner().table.slots[index as usize].grows {
            return;
        }
        let status = self.status_of(now, index);
        let window = status.congestion_window.saturating_mul(status.send_mss);
        let slot = &mut self.inner_mut().table.slots[index as usize];
        slot.send_limit = slot.send_limit.max(window.saturating_mul(2).min(MAX_SEND_BUFFER));
    }

    /// Hands the next piece of at most `left` bytes to the TCP. Returns its length; 0 if there is no memory for it.
    fn send_some(&mut self, now: u64, index: u32, source: &mut Source<'_>, left: usize, last: Last) -> usize {
        // SAFETY: the TCB is a constructed one, and the call reads it only.
        let tail = unsafe { (self.program.entries().unsent_tail)(self.tcb(index)) };
        // SAFETY: no entry runs, so nobody has a reference to the segment.
        let grown = unsafe { self.inner_mut().grow_tail(index, tail, source, left, last) };
        if grown > 0 {
            // SAFETY: the TCB is a constructed one, and its last segment became so much longer.
            self.enter(index, |entries, tcb| unsafe { (entries.grown)(tcb, grown as u32, now) });
            return grown;
        }
        // The last piece of a long write, and what cannot be sent yet, will probably be joined by what is written next.
        let waits = !tail.is_null() || source.taken > 0;
        let (segment, n) = self.inner_mut().new_text(index, source, left, last, waits);
        if n > 0 {
            // SAFETY: the TCB is a constructed one, and takes the segment.
            self.enter(index, |entries, tcb| unsafe { (entries.send)(tcb, segment, now) });
        }
        n
    }

    /// Bytes of text in a full segment.
    pub fn segment_size(&self, id: ConnectionId) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        Ok(unsafe { (*self.tcb(index)).segment_size } as usize)
    }

    /// Bytes that may be written now.
    pub fn writable(&self, id: ConnectionId) -> Result<usize, Error> {
        Ok(self.inner().room(self.slot_in_use(id)?))
    }

    /// Bytes written and not acknowledged yet (SIOCOUTQ).
    pub fn queued(&self, id: ConnectionId) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        Ok(unsafe { (*self.tcb(index)).queued } as usize)
    }
}

impl Inner {
    #[inline]
    pub(super) fn room(&self, index: u32) -> usize {
        let slot = &self.table.slots[index as usize];
        // SAFETY: the slot is in use, and no entry runs.
        slot.send_limit.saturating_sub(unsafe { (*slot.tcb).queued }) as usize
    }

    /// Whether there is so much room again that the user should be told: a third, as in Linux.
    pub(super) fn has_room(&self, index: u32) -> bool {
        self.room(index) >= self.table.slots[index as usize].send_limit as usize / 3
    }

    /// Most text of a segment that is given to the TCP: whole segments of the wire, as many as the layer below can cut.
    #[inline]
    fn most_text(&self, index: u32) -> usize {
        // SAFETY: the slot is in use, and no entry runs.
        let (segment_size, buffer_size) = unsafe {
            let tcb = self.table.slots[index as usize].tcb;
            ((*tcb).segment_size, (*tcb).buffer_size)
        };
        let size = segment_size.max(buffer_size).max(SMALLEST_BUFFER);
        ((self.offload_size() / size).max(1) * size) as usize
    }

    /// Appends to the last segment that waits to be sent, if its buffer has room. Returns how many bytes.
    ///
    /// # Safety
    /// `tail` is null or that segment, and nobody has a reference to it.
    unsafe fn grow_tail(
        &mut self,
        index: u32,
        tail: *mut Segment,
        source: &mut Source<'_>,
        left: usize,
        last: Last,
    ) -> usize {
        // SAFETY: the caller's.
        let Some(segment) = (unsafe { tail.as_mut() }) else { return 0 };
        if segment.marks & RECORD_END != 0 {
            return 0;
        }
        let (length, most) = (segment.length as usize, self.most_text(index));
        // SAFETY: the slot is in use, and no entry runs.
        let segment_size = unsafe { (*self.table.slots[index as usize].tcb).segment_size }.max(1);
        let Some(packet) = segment.packet.as_mut() else { return 0 };
        let mut n = left.min(most.saturating_sub(length));
        if n > packet.tailroom() {
            // No more than fills segments: what follows begins another one.
            let size = segment_size as usize;
            n = ((length + packet.tailroom()) / size * size).saturating_sub(length);
        }
        let start = segment.data as usize - packet.data().as_ptr() as usize;
        // The other piece of a segment that was cut may own what lies behind the text.
        if n == 0 || start + length != packet.len() {
            return 0;
        }
        let Some(room) = packet.unshared_put(n) else { return 0 };
        let sum = source.take(room, self.offload.checksum);
        let known = segment.sum != 0 && !self.offload.checksum;
        segment.sum = if known { sum::join(segment.sum, length, sum) } else { 0 };
        segment.data = packet.data()[start..].as_ptr();
        segment.length += n as u32;
        segment.flags &= !PSH;
        if n == left {
            last.give(segment);
        }
        n
    }

    /// A segment with the next piece of at most `left` bytes, and how many; 0 if there is no segment. If it will wait, there
    /// is room for what is written next.
    fn new_text(
        &mut self,
        index: u32,
        source: &mut Source<'_>,
        left: usize,
        last: Last,
        waits: bool,
    ) -> (*mut Segment, usize) {
        let most = self.most_text(index);
        let n = left.min(most);
        let segment = self.pool.take();
        // SAFETY: a segment that was just taken is ours alone.
        let Some(new) = (unsafe { segment.as_mut() }) else { return (segment, 0) };
        let mut packet = Packet::recycled(HEADROOM, n, if waits { most - n } else { 0 });
        new.sum = source.take(packet.data_mut(), self.offload.checksum);
        new.data = packet.data().as_ptr();
        new.packet = Some(packet);
        new.length = n as u32;
        if n == left {
            last.give(new);
        }
        (segment, n)
    }
}

/// Text to be written, in pieces.
struct Source<'a> {
    pieces: &'a [IoSlice<'a>],
    /// Bytes of the first piece that were taken.
    offset: usize,
    /// Bytes of all pieces that were taken.
    taken: usize,
}

impl Source<'_> {
    /// Fills `to`, and sums it unless the layer below does.
    fn take(&mut self, to: &mut [u8], offloaded: bool) -> u32 {
        let (mut sum, mut done) = (0, 0);
        while done < to.len() {
            let rest = &self.pieces[0][self.offset..];
            let n = rest.len().min(to.len() - done);
            let (from, to) = (&rest[..n], &mut to[done..done + n]);
            if offloaded {
                to.copy_from_slice(from);
            } else {
                let part = sum::copy(from, to);
                sum = if done == 0 { part } else { sum::join(sum, done, part) };
            }
            done += n;
            self.offset += n;
            if self.offset == self.pieces[0].len() {
                (self.pieces, self.offset) = (&self.pieces[1..], 0);
            }
        }
        self.taken += done;
        sum
    }
}
