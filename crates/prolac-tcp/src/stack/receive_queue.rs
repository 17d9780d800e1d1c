//! Text received: from the TCP's queue to the user, without a copy if the user takes packets.
//!
//! Segments that were taken from the TCP wait in the slot's *inbox* while the user has read only a part of them. They are
//! counted in the receive window until they are read, since only then the TCP is told.

use std::ptr::null_mut;

use clickwork_packet::Packet;

use super::TcpStack;
use super::inner::Inner;
use super::input::peer_is_done;
use super::types::ConnectionId;
use crate::abi::{Segment, state};
use crate::error::Error;

impl Inner {
    /// Gives back what waits in a slot's inbox.
    pub fn empty_inbox(&mut self, index: u32) {
        let slot = &mut self.table.slots[index as usize];
        slot.in_inbox = 0;
        let inbox = &mut slot.inbox;
        inbox.last = null_mut();
        let first = std::mem::replace(&mut inbox.first, null_mut());
        // SAFETY: the inbox's segments are the slot's alone.
        unsafe { self.pool.give_all(first) };
    }

    fn append_to_inbox(&mut self, index: u32, segment: *mut Segment) {
        let slot = &mut self.table.slots[index as usize];
        let inbox = &mut slot.inbox;
        // SAFETY: the segment is the slot's alone, and so are those of the inbox.
        unsafe {
            slot.in_inbox += (*segment).length;
            (*segment).next = null_mut();
            match inbox.last.is_null() {
                true => inbox.first = segment,
                false => (*inbox.last).next = segment,
            }
        }
        inbox.last = segment;
    }

    /// Takes `n` bytes off the first segment of the inbox; frees it if it has no more.
    fn consume(&mut self, index: u32, n: u32) {
        let slot = &mut self.table.slots[index as usize];
        slot.in_inbox -= n;
        let inbox = &mut slot.inbox;
        let segment = inbox.first;
        // SAFETY: as above; the segment has at least `n` bytes of text.
        unsafe {
            (*segment).data = (*segment).data.add(n as usize);
            (*segment).length -= n;
            if (*segment).length > 0 {
                return;
            }
            inbox.first = (*segment).next;
            if inbox.first.is_null() {
                inbox.last = null_mut();
            }
            self.pool.give(segment);
        }
    }
}

/// The text of a segment.
///
/// # Safety
/// The segment is in order, stays so as long as the text is in use, and nobody writes its bytes.
unsafe fn text<'a>(segment: *const Segment) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts((*segment).data, (*segment).length as usize) }
}

impl TcpStack {
    /// The first segment with text that was not read, or null.
    #[inline]
    fn first_segment(&mut self, index: u32) -> *mut Segment {
        let first = self.inner().table.slots[index as usize].inbox.first;
        if first.is_null() { self.fetch(index) } else { first }
    }

    /// Takes the next segment from the TCP into the inbox; null if there is none.
    fn fetch(&mut self, index: u32) -> *mut Segment {
        let (tcb, receive) = (self.tcb(index), self.program.entries().receive);
        loop {
            // SAFETY: the TCB is a constructed one, and no reference to the inner part is left.
            let segment = unsafe { receive(tcb) };
            if segment.is_null() {
                return segment;
            }
            // SAFETY: the TCP gave up the segment.
            if unsafe { (*segment).length } > 0 {
                self.inner_mut().append_to_inbox(index, segment);
                return segment;
            }
            // SAFETY: as above. A FIN without text, say.
            unsafe { self.inner_mut().pool.give(segment) };
        }
    }

    /// Tells the TCP that `n` bytes were read.
    fn read_was(&mut self, now: u64, index: u32, n: usize) {
        if n > 0 {
            // SAFETY: the TCB is a constructed one.
            self.enter(index, |entries, tcb| unsafe { (entries.received)(tcb, n as u32, now) });
        }
    }

    /// What a read gives that finds no text: the end (0 bytes), an error, or EAGAIN.
    fn nothing_to_read(&mut self, index: u32) -> Result<usize, Error> {
        let tcb = self.tcb(index);
        // SAFETY: the slot is in use, and no entry runs.
        let (state, error) = unsafe { ((*tcb).state, (*tcb).error) };
        if state == state::CLOSED && error != 0 {
            // SAFETY: as above. It is told once, as by Linux.
            unsafe { (*tcb).error = 0 };
            return Err(Error(error));
        }
        if peer_is_done(state) { Ok(0) } else { Err(Error::WOULD_BLOCK) }
    }

    /// Bytes to read before the urgent byte; `None` if there is none ahead.
    pub(super) fn mark(&self, index: u32) -> Option<usize> {
        // SAFETY: the TCB is a constructed one; `urgent_mark` calls nothing back.
        let mark = unsafe { (self.program.entries().urgent_mark)(self.tcb(index)) };
        let taken = i64::from(self.inner().table.slots[index as usize].in_inbox);
        usize::try_from(i64::from(mark) + taken).ok().filter(|_| mark != i32::MIN)
    }

    /// How much a read may take at once: it ends before the urgent byte, and when it begins there, passes over it. Not if
    /// urgent data are part of the stream.
    #[cold]
    fn stop_at_mark(&mut self, now: u64, index: u32) -> usize {
        let slot = &self.inner().table.slots[index as usize];
        match self.mark(index).filter(|_| !slot.is_inline) {
            Some(0) if !self.first_segment(index).is_null() => {
                self.inner_mut().consume(index, 1);
                self.read_was(now, index, 1);
                usize::MAX
            }
            Some(mark) if mark > 0 => mark,
            _ => usize::MAX,
        }
    }

    /// Reads text into `buffer`. 0 at the end, EAGAIN if there is none now, the reason if the connection was reset. Stops
    /// before an urgent byte, and passes over it if it begins there.
    pub fn read(&mut self, now: u64, id: ConnectionId, buffer: &mut [u8]) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        if buffer.is_empty() {
            return Ok(0);
        }
        let has_urgent = self.inner().table.slots[index as usize].has_urgent;
        let limit = if has_urgent { self.stop_at_mark(now, index) } else { usize::MAX };
        let wanted = buffer.len().min(limit);
        let mut done = 0;
        while done < wanted {
            let segment = self.first_segment(index);
            if segment.is_null() {
                break;
            }
            // SAFETY: a segment of the inbox, which nobody changes before `consume`.
            let text = unsafe { text(segment) };
            let n = text.len().min(wanted - done);
            buffer[done..done + n].copy_from_slice(&text[..n]);
            done += n;
            self.inner_mut().consume(index, n as u32);
        }
        if done == 0 {
            return self.nothing_to_read(index);
        }
        self.read_was(now, index, done);
        Ok(done)
    }

    /// Takes the next piece of text as it came, without a copy if it is not short: the packet's data are the text. `None` at
    /// the end. Urgent bytes are part of it.
    pub fn read_packet(&mut self, now: u64, id: ConnectionId) -> Result<Option<Packet>, Error> {
        let index = self.slot_in_use(id)?;
        let segment = self.first_segment(index);
        if segment.is_null() {
            return self.nothing_to_read(index).map(|_| None);
        }
        // SAFETY: a segment of the inbox is the slot's alone, and its text is there until `consume`.
        let (packet, text) = unsafe { ((*segment).packet.take(), text(segment)) };
        let length = text.len();
        let packet = match packet {
            Some(mut packet) => {
                packet.pull(text.as_ptr() as usize - packet.data().as_ptr() as usize);
                packet.truncate(length);
                packet
            }
            None => Packet::new(text),
        };
        self.inner_mut().consume(index, length as u32);
        self.read_was(now, index, length);
        Ok(Some(packet))
    }

    /// Copies text into `buffer` as `read` does, and leaves it there to be read.
    pub fn peek(&mut self, id: ConnectionId, buffer: &mut [u8]) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        let (mut done, mut segment) = (0, self.first_segment(index));
        while done < buffer.len() && !segment.is_null() {
            // SAFETY: a segment of the inbox, which nobody changes here.
            let text = unsafe { text(segment) };
            let n = text.len().min(buffer.len() - done);
            buffer[done..done + n].copy_from_slice(&text[..n]);
            done += n;
            // SAFETY: as above.
            let next = unsafe { (*segment).next };
            segment = if next.is_null() && done < buffer.len() { self.fetch(index) } else { next };
        }
        if done == 0 && !buffer.is_empty() { self.nothing_to_read(index) } else { Ok(done) }
    }

    /// Reads the urgent byte, which stays where it is. EINVAL if none is ahead, if it was read, or if urgent data are part
    /// of the stream; EAGAIN if it is still on its way.
    pub fn read_urgent(&mut self, _now: u64, id: ConnectionId) -> Result<u8, Error> {
        let index = self.slot_in_use(id)?;
        let byte = self.peek_urgent(id)?;
        self.inner_mut().table.slots[index as usize].urgent_read = true;
        Ok(byte)
    }

    /// The urgent byte, as `read_urgent` gives it, to be read again.
    pub fn peek_urgent(&mut self, id: ConnectionId) -> Result<u8, Error> {
        let index = self.slot_in_use(id)?;
        let slot = &self.inner().table.slots[index as usize];
        let is_there = slot.has_urgent && !slot.is_inline && !slot.urgent_read;
        let mark = self.mark(index).filter(|_| is_there).ok_or(Error::INVALID)?;
        if mark >= self.unread(index) {
            return Err(Error::WOULD_BLOCK);
        }
        let mut buffer = vec![0; mark + 1];
        self.peek(id, &mut buffer)?;
        Ok(buffer[mark])
    }

    /// Whether the next byte to read is the urgent one, or would be if it were not passed over (SIOCATMARK).
    pub fn at_mark(&self, id: ConnectionId) -> Result<bool, Error> {
        Ok(self.mark(self.slot_in_use(id)?) == Some(0))
    }

    /// Bytes that can be read now.
    pub fn readable(&self, id: ConnectionId) -> Result<usize, Error> {
        let index = self.slot_in_use(id)?;
        Ok(self.unread(index))
    }

    /// Whether the peer will send no more: reads give the end, or why there is nothing, once the text is read.
    pub fn at_end(&self, id: ConnectionId) -> Result<bool, Error> {
        let index = self.slot_in_use(id)?;
        // SAFETY: the slot is in use, and no entry runs.
        Ok(self.unread(index) == 0 && peer_is_done(unsafe { (*self.tcb(index)).state }))
    }

    fn unread(&self, index: u32) -> usize {
        let slot = &self.inner().table.slots[index as usize];
        // SAFETY: the slot is in use, and no entry runs.
        (unsafe { (*slot.tcb).readable } + slot.in_inbox) as usize
    }
}
