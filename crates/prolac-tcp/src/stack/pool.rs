//! Segments: 128 bytes each, taken from and given back to a free list, a chunk at a time from the system.

use std::ptr::{NonNull, null_mut};

use super::crumbs::Crumbs;
use crate::abi::Segment;

/// Segments of a chunk.
const CHUNK: usize = if cfg!(feature = "unpooled") { 1 } else { 64 };

/// What a free place of the pool, and a segment that is handed out, looks like.
fn empty() -> Segment {
    Segment {
        next: null_mut(),
        previous: null_mut(),
        packet: None,
        data: std::ptr::null(),
        header: std::ptr::null(),
        time: 0,
        seqno: 0,
        length: 0,
        ackno: 0,
        window: 0,
        urgent: 0,
        flags: 0,
        ecn: 0,
        header_length: 0,
        buffer: 0,
        merged: 1,
        marks: 0,
        sum: 0,
        private_word: 0,
        private: [0; 6],
    }
}

/// A pool of segments. Those that are out are reached by raw pointers only.
pub(crate) struct SegmentPool {
    /// Linked through `next`.
    free: *mut Segment,
    chunks: Vec<NonNull<[Segment; CHUNK]>>,
    in_use: usize,
    limit: usize,
    /// Where the text of some of them stands: those in which `buffer` is not 0, from `header` on.
    pub crumbs: Crumbs,
}

impl SegmentPool {
    pub fn new() -> Self {
        Self { free: null_mut(), chunks: Vec::new(), in_use: 0, limit: usize::MAX, crumbs: Crumbs::new() }
    }

    /// No more segments than these are handed out.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Segments that are out.
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// Bytes taken from the system.
    pub fn memory(&self) -> usize {
        self.chunks.len() * size_of::<[Segment; CHUNK]>() + self.crumbs.memory()
    }

    /// An empty segment, or null if the limit is reached.
    #[inline]
    pub fn take(&mut self) -> *mut Segment {
        if self.in_use >= self.limit {
            return null_mut();
        }
        if self.free.is_null() {
            self.grow();
        }
        let segment = self.free;
        // SAFETY: a segment of the free list belongs to the pool alone.
        unsafe {
            self.free = (*segment).next;
            (*segment).next = null_mut();
        }
        self.in_use += 1;
        segment
    }

    /// Takes a segment back, with its buffer.
    ///
    /// # Safety
    /// `segment` is out of this pool, and nothing refers to it any more.
    #[inline]
    pub unsafe fn give(&mut self, segment: *mut Segment) {
        // SAFETY: the caller gives up the segment. The assignment drops its buffer.
        unsafe {
            if (*segment).buffer != 0 {
                self.crumbs.give((*segment).header.cast_mut(), (*segment).buffer);
            }
            *segment = Segment { next: self.free, ..empty() };
        }
        self.in_use -= 1;
        if cfg!(feature = "unpooled") {
            return self.return_to_system(segment);
        }
        self.free = segment;
    }

    /// For memory checkers: a chunk is one segment.
    fn return_to_system(&mut self, segment: *mut Segment) {
        self.chunks.retain(|chunk| chunk.cast::<Segment>().as_ptr() != segment);
        // SAFETY: the segment is a whole chunk, which was a box, and nobody refers to it any more.
        drop(unsafe { Box::from_raw(segment.cast::<[Segment; CHUNK]>()) });
    }

    /// Takes back a list that is linked through `next`.
    ///
    /// # Safety
    /// As for [`SegmentPool::give`], for each segment of the list.
    pub unsafe fn give_all(&mut self, mut first: *mut Segment) {
        while !first.is_null() {
            // SAFETY: the caller's.
            unsafe {
                let next = (*first).next;
                self.give(first);
                first = next;
            }
        }
    }

    fn grow(&mut self) {
        let chunk = NonNull::from(Box::leak(Box::new(std::array::from_fn::<Segment, CHUNK, _>(|_| empty()))));
        self.chunks.push(chunk);
        for place in (0..CHUNK).rev() {
            // SAFETY: the place lies within the chunk, which is the pool's alone.
            unsafe {
                let segment = chunk.cast::<Segment>().as_ptr().add(place);
                (*segment).next = self.free;
                self.free = segment;
            }
        }
    }
}

impl Drop for SegmentPool {
    fn drop(&mut self) {
        for chunk in self.chunks.drain(..) {
            // SAFETY: the chunk was a box, and who has the pool drops it after everything that had segments of it.
            // Segments that are still out drop their buffers here.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::Packet;

    #[test]
    fn segments_come_back_empty() {
        let mut pool = SegmentPool::new();
        let taken: Vec<_> = (0..CHUNK * 2 + 1).map(|_| pool.take()).collect();
        assert_eq!(pool.in_use(), CHUNK * 2 + 1);
        for &segment in &taken {
            // SAFETY: the segments are out of this pool and nobody else has them.
            unsafe {
                (*segment).packet = Some(Packet::new(b"text"));
                (*segment).private[5] = 7;
                pool.give(segment);
            }
        }
        let before = pool.memory();
        for _ in 0..CHUNK * 3 {
            // SAFETY: as above.
            unsafe {
                let segment = pool.take();
                assert!(
                    (*segment).packet.is_none() && (*segment).private == [0; 6] && (*segment).merged == 1
                );
            }
        }
        assert_eq!(pool.in_use(), CHUNK * 3);
        assert!(pool.memory() <= before.max(CHUNK * 3 * size_of::<Segment>()));
    }

    #[test]
    fn a_limit_is_kept() {
        let mut pool = SegmentPool::new();
        pool.set_limit(2);
        let (first, second, third) = (pool.take(), pool.take(), pool.take());
        assert!(!first.is_null() && !second.is_null() && third.is_null());
        // SAFETY: the segment is out of this pool and nobody else has it.
        unsafe { pool.give(first) };
        assert!(!pool.take().is_null());
    }
}
