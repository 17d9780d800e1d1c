//! Memory that a C program lends for the time of a call. A null pointer is EFAULT, as it is to the kernel; another pointer
//! that does not lead to so many bytes is the program's fault, which the kernel would notice and we cannot.

use std::ffi::{c_int, c_void};
use std::io::{IoSlice, IoSliceMut};
use std::slice;

use clickwork_prolac_tcp::sockets::Errno;
use libc::{iovec, sockaddr, socklen_t};

/// The most pieces that `readv` and `writev` take: `UIO_MAXIOV`.
const MOST_PIECES: c_int = 1024;

/// Bytes to read.
///
/// # Safety
/// `data` is null or leads to `length` bytes that nobody writes during the call.
pub unsafe fn bytes<'a>(data: *const c_void, length: usize) -> Result<&'a [u8], Errno> {
    match (data.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno::FAULT),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { slice::from_raw_parts(data.cast(), length.min(isize::MAX as usize)) }),
    }
}

/// Bytes to write.
///
/// # Safety
/// `data` is null or leads to `length` bytes that are the call's alone.
pub unsafe fn bytes_mut<'a>(data: *mut c_void, length: usize) -> Result<&'a mut [u8], Errno> {
    match (data.is_null(), length) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Errno::FAULT),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(data.cast(), length.min(isize::MAX as usize)) }),
    }
}

/// The pieces of `writev`.
///
/// # Safety
/// `pieces` is null or leads to `count` of them, each as for [`bytes`].
pub unsafe fn pieces<'a>(pieces: *const iovec, count: c_int) -> Result<Vec<IoSlice<'a>>, Errno> {
    // SAFETY: the caller's promise.
    let pieces = unsafe { vectors(pieces, count) }?;
    // SAFETY: the caller's promise.
    pieces.iter().map(|piece| Ok(IoSlice::new(unsafe { bytes(piece.iov_base, piece.iov_len) }?))).collect()
}

/// The pieces of `readv`.
///
/// # Safety
/// `pieces` is null or leads to `count` of them, each as for [`bytes_mut`].
pub unsafe fn pieces_mut<'a>(pieces: *const iovec, count: c_int) -> Result<Vec<IoSliceMut<'a>>, Errno> {
    // SAFETY: the caller's promise.
    let pieces = unsafe { vectors(pieces, count) }?;
    let piece = |piece: &iovec| {
        // SAFETY: the caller's promise.
        Ok(IoSliceMut::new(unsafe { bytes_mut(piece.iov_base, piece.iov_len) }?))
    };
    pieces.iter().map(piece).collect()
}

/// # Safety
/// `pieces` is null or leads to `count` of them.
unsafe fn vectors<'a>(pieces: *const iovec, count: c_int) -> Result<&'a [iovec], Errno> {
    match count {
        0 => Ok(&[]),
        1..=MOST_PIECES if pieces.is_null() => Err(Errno::FAULT),
        // SAFETY: the caller's promise.
        1..=MOST_PIECES => Ok(unsafe { slice::from_raw_parts(pieces, count as usize) }),
        _ => Err(Errno::INVAL),
    }
}

/// Where an address is to be written: a place and its length, which becomes the address's. Nowhere if either is null.
pub struct AddressPlace {
    address: *mut sockaddr,
    length: *mut socklen_t,
}

impl AddressPlace {
    /// # Safety
    /// The pointers are null or lead to a length, and to so many bytes, until the last use of the place.
    pub unsafe fn new(address: *mut sockaddr, length: *mut socklen_t) -> AddressPlace {
        AddressPlace { address, length }
    }

    /// Writes the address, as much of it as there is room for (`move_addr_to_user` in Linux).
    pub fn fill(&self, bytes: &[u8]) -> Result<(), Errno> {
        if self.address.is_null() {
            return Ok(());
        }
        if self.length.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: the promise of `new`.
        let room = unsafe { *self.length } as usize;
        if room > i32::MAX as usize {
            return Err(Errno::INVAL);
        }
        // SAFETY: the promise of `new`.
        unsafe { bytes_mut(self.address.cast(), room.min(bytes.len())) }?
            .copy_from_slice(&bytes[..room.min(bytes.len())]);
        // SAFETY: the promise of `new`.
        unsafe { *self.length = bytes.len() as socklen_t };
        Ok(())
    }
}
