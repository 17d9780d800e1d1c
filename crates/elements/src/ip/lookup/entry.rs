//! The word that lookup structures keep for a piece of the address space.

use std::fmt;

/// What a lookup structure says about some addresses: no route, a route's hop and prefix length, or "look in this node".
///
/// The prefix length is kept so that a change knows which route an entry came from without asking the record. Layout:
/// bit 31 set, a node index in the other 31; or bits 25 to 30 the prefix length plus one, below it the index of the hop;
/// all zero, no route.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(u32);

const NODE: u32 = 1 << 31;
const LENGTH_SHIFT: u32 = 25;
/// The number of different hops an entry can name.
pub const MAX_HOPS: usize = 1 << LENGTH_SHIFT;

impl Entry {
    /// No route.
    pub const NONE: Self = Self(0);

    /// The entry of a route with this prefix length, 0 to 32.
    pub const fn route(prefix_len: u8, hop: u32) -> Self {
        debug_assert!(prefix_len <= 32 && (hop as usize) < MAX_HOPS);
        Self((prefix_len as u32 + 1) << LENGTH_SHIFT | hop)
    }

    /// The entry that refers to a node.
    pub const fn node(index: u32) -> Self {
        debug_assert!(index < NODE);
        Self(NODE | index)
    }

    /// The entry of a stored word.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The word to store.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The node to look in, if this refers to one.
    #[inline]
    pub const fn as_node(self) -> Option<usize> {
        if self.0 & NODE != 0 { Some((self.0 & !NODE) as usize) } else { None }
    }

    /// The index of the hop, if this is a route.
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
        match (self.as_node(), self.hop()) {
            (Some(node), _) => write!(f, "node {node}"),
            (None, Some(hop)) => write!(f, "hop {hop} of a /{}", self.specificity() - 1),
            (None, None) => write!(f, "no route"),
        }
    }
}
