//! The word that the trie keeps for a piece of the address space.

use std::fmt;

/// No route, or a route's hop and prefix length: the length is kept so that a change knows which route an entry came from.
/// Layout: the upper 8 bits the prefix length plus one, below it the number of the hop; all zero, no route.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry(u32);

const LENGTH_SHIFT: u32 = 24;
/// The number of different hops an entry can name.
pub const MAX_HOPS: usize = 1 << LENGTH_SHIFT;

impl Entry {
    /// No route.
    pub const NONE: Self = Self(0);

    /// The entry of a route with this prefix length, 0 to 128.
    pub const fn route(prefix_len: u8, hop: u32) -> Self {
        debug_assert!(prefix_len <= 128 && (hop as usize) < MAX_HOPS);
        Self((prefix_len as u32 + 1) << LENGTH_SHIFT | hop)
    }

    /// The entry of a stored word.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The word to store.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The number of the hop, if this is a route.
    #[inline]
    pub const fn hop(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0 as usize & (MAX_HOPS - 1)) }
    }

    /// How specific the route is: its prefix length plus one, or 0 for no route.
    pub const fn specificity(self) -> u32 {
        self.0 >> LENGTH_SHIFT
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hop() {
            Some(hop) => write!(f, "hop {hop} of a /{}", self.specificity() - 1),
            None => write!(f, "no route"),
        }
    }
}
