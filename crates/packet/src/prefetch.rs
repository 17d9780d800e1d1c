//! Hints to the processor that memory will be read soon.

/// Asks the processor to load the cache line that `value` begins in. Has no other effect.
#[inline(always)]
pub fn read<T: ?Sized>(value: &T) {
    address(std::ptr::from_ref(value).cast());
}

/// Asks the processor to load the cache line of an address, which need not be valid.
#[inline(always)]
pub fn address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults and changes nothing the program can see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
