//! The paths of packets through a router, generated from its configuration.
//!
//! Each function takes a packet along a path, from element to element, and returns its *exit*: a number that says by which
//! output it left the path, or at which element its common case ended, so that the element itself must be asked.
//! Functions are named by what they do. Comments name the elements of the path, and at exits who is asked or gets the packet.

use clickwork_packet::Packet;

/// Packets ahead of the one at work that are fetched from memory.
const AHEAD: usize = 4;

/// Takes `count` packets along a path. Returns whether their exits differ.
///
/// # Safety
/// `packets` and `exits` are arrays of so many initialised elements that nobody else uses meanwhile.
#[inline(always)]
unsafe fn through(packets: *mut Packet, count: usize, exits: *mut u16, path: impl Fn(&mut Packet) -> u16) -> bool {
    for i in 0..count {
        if i + AHEAD < count {
            // SAFETY: there are `count` packets.
            unsafe { &*packets.add(i + AHEAD) }.prefetch();
        }
        // SAFETY: there are `count` packets and as many exits, which nobody else uses.
        unsafe { *exits.add(i) = path(&mut *packets.add(i)) };
    }
    // SAFETY: as above.
    let exits = unsafe { std::slice::from_raw_parts(exits, count) };
    exits.iter().any(|exit| *exit != exits[0])
}

/// A function that the router calls.
macro_rules! segment {
    ($name:ident, $path:ident) => {
        /// # Safety
        /// As [`through`].
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(packets: *mut Packet, count: usize, exits: *mut u16) -> bool {
            // SAFETY: the caller promises what `through` asks for.
            unsafe { through(packets, count, exits, $path) }
        }
    };
}
