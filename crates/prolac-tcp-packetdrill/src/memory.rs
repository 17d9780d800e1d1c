//! What C hands over, as slices: the only place that follows the caller's pointers.

use std::io::{IoSlice, IoSliceMut};
use std::net::IpAddr;
use std::slice;

use libc::{c_void, iovec, sockaddr, socklen_t};

use clickwork_prolac_tcp::sockets::{Errno, RawAddress};

/// Bytes at a pointer; none at a null one.
///
/// # Safety
/// `pointer` is null, or `length` bytes can be read there as long as the slice lives.
pub unsafe fn bytes<'a>(pointer: *const c_void, length: usize) -> &'a [u8] {
    if pointer.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts(pointer.cast(), length) }
}

/// Room at a pointer; none at a null one.
///
/// # Safety
/// `pointer` is null, or `length` bytes can be written there, by nobody else, as long as the slice lives.
pub unsafe fn room<'a>(pointer: *mut c_void, length: usize) -> &'a mut [u8] {
    if pointer.is_null() || length == 0 {
        return &mut [];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts_mut(pointer.cast(), length) }
}

/// An array of `struct iovec`, to be read from.
///
/// # Safety
/// `vector` is null or points to `count` of them, each of which keeps the contract of [`bytes`].
pub unsafe fn gather<'a>(vector: *const iovec, count: usize) -> Vec<IoSlice<'a>> {
    if vector.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller promises that there are so many.
    let parts = unsafe { slice::from_raw_parts(vector, count) };
    // SAFETY: the caller promises that each can be read.
    parts.iter().map(|part| IoSlice::new(unsafe { bytes(part.iov_base, part.iov_len) })).collect()
}

/// An array of `struct iovec`, to be written to.
///
/// # Safety
/// `vector` is null or points to `count` of them, each of which keeps the contract of [`room`]; they do not overlap.
pub unsafe fn scatter<'a>(vector: *const iovec, count: usize) -> Vec<IoSliceMut<'a>> {
    if vector.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller promises that there are so many.
    let parts = unsafe { slice::from_raw_parts(vector, count) };
    // SAFETY: the caller promises that each can be written.
    parts.iter().map(|part| IoSliceMut::new(unsafe { room(part.iov_base, part.iov_len) })).collect()
}

/// The IP address in a `struct sockaddr_in` or `sockaddr_in6`; a mapped one is the IPv4 address that it is.
pub fn ip_address(raw: &[u8]) -> Option<IpAddr> {
    match raw.len() {
        ..16 => None,
        16..24 => Some(IpAddr::from(<[u8; 4]>::try_from(&raw[4..8]).ok()?)),
        _ => Some(IpAddr::from(<[u8; 16]>::try_from(&raw[8..24]).ok()?).to_canonical()),
    }
}

/// Copies an address to where the user wants it, as much as there is room for, and tells its whole length.
///
/// # Safety
/// `length` is null or can be read and written; `address` is null or can be written for as many bytes as `*length` says.
pub unsafe fn give_address(
    raw: Option<RawAddress>,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> Result<(), Errno> {
    if address.is_null() || length.is_null() {
        return Ok(());
    }
    let whole = raw.as_ref().map_or(&[][..], RawAddress::as_bytes);
    // SAFETY: the caller promises that it can be read.
    let space = unsafe { length.read() };
    let space = i32::try_from(space).map_err(|_| Errno::INVAL)? as usize;
    let count = whole.len().min(space);
    // SAFETY: the caller promises that there is so much room.
    unsafe { room(address.cast(), count) }.copy_from_slice(&whole[..count]);
    // SAFETY: the caller promises that it can be written.
    unsafe { length.write(whole.len() as socklen_t) };
    Ok(())
}
