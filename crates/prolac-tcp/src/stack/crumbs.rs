//! Small buffers for short text that was received.
//!
//! The window counts text, but a packet's buffer takes two kilobytes at least. So that a peer that sends its text byte by
//! byte cannot make us keep hundreds of times what the window says, short text is copied, with its TCP header, into a
//! *crumb*; the packet's buffer is free again at once. Crumbs come in two sizes and return to a free list.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::null_mut;

/// Bytes of the sizes.
const SIZES: [usize; 2] = [192, 576];
/// Bytes taken from the system at a time.
const CHUNK: usize = 36_864;

/// Free crumbs of each size, linked through their first words.
pub(crate) struct Crumbs {
    free: [*mut u8; SIZES.len()],
    chunks: Vec<*mut u8>,
}

/// Which size a crumb has: 1 or more, as it stands in `Segment::buffer`.
pub(crate) type Size = u8;

impl Crumbs {
    pub fn new() -> Self {
        Self { free: [null_mut(); SIZES.len()], chunks: Vec::new() }
    }

    /// Bytes taken from the system.
    pub fn memory(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// A crumb with a copy of `data`, and its size; `None` if the data are too long.
    #[inline]
    pub fn take(&mut self, data: &[u8]) -> Option<(*mut u8, Size)> {
        if cfg!(feature = "unpooled") {
            return None;
        }
        let size = SIZES.iter().position(|&size| data.len() <= size)?;
        if self.free[size].is_null() {
            self.grow(size);
        }
        let crumb = self.free[size];
        // SAFETY: a free crumb is ours alone; it begins with the next one's address and has room for the data.
        unsafe {
            self.free[size] = crumb.cast::<*mut u8>().read();
            crumb.copy_from_nonoverlapping(data.as_ptr(), data.len());
        }
        Some((crumb, size as Size + 1))
    }

    /// # Safety
    /// The crumb was taken from here with this size, and nothing refers to it any more.
    #[inline]
    pub unsafe fn give(&mut self, crumb: *mut u8, size: Size) {
        let size = usize::from(size) - 1;
        // SAFETY: the caller's; every size has room for a pointer and is a multiple of its alignment.
        unsafe { crumb.cast::<*mut u8>().write(self.free[size]) };
        self.free[size] = crumb;
    }

    fn layout() -> Layout {
        Layout::from_size_align(CHUNK, 64).expect("a chunk is small")
    }

    #[cold]
    fn grow(&mut self, size: usize) {
        // SAFETY: the layout's size is not zero.
        let chunk = unsafe { alloc(Self::layout()) };
        if chunk.is_null() {
            handle_alloc_error(Self::layout());
        }
        self.chunks.push(chunk);
        for at in (0..CHUNK / SIZES[size]).rev() {
            // SAFETY: the crumb lies within the chunk, which is ours alone.
            unsafe { self.give(chunk.add(at * SIZES[size]), size as Size + 1) };
        }
    }
}

impl Drop for Crumbs {
    fn drop(&mut self) {
        for chunk in self.chunks.drain(..) {
            // SAFETY: allocated with this layout; who has the crumbs drops them after everything that refers to one.
            unsafe { dealloc(chunk, Self::layout()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(feature = "unpooled", ignore = "there are no pools")]
    fn crumbs_hold_what_was_given_and_are_used_again() {
        let mut crumbs = Crumbs::new();
        let data: Vec<Vec<u8>> = (0..2000u32).map(|n| vec![n as u8; (n % 577) as usize]).collect();
        for _ in 0..3 {
            let taken: Vec<_> = data.iter().map(|data| crumbs.take(data).unwrap()).collect();
            for (data, &(crumb, size)) in data.iter().zip(&taken) {
                // SAFETY: the crumb is ours and has so many bytes.
                unsafe {
                    assert_eq!(std::slice::from_raw_parts(crumb, data.len()), data);
                    crumbs.give(crumb, size);
                }
            }
            let wanted: usize = data.iter().map(|data| if data.len() <= 192 { 192 } else { 576 }).sum();
            assert!(crumbs.memory() < wanted + 2 * CHUNK);
        }
        assert!(crumbs.take(&[0; 577]).is_none());
    }
}
