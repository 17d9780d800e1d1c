//! Identifiers, in which `-` and `_` are the same letter.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An identifier. `one-thing` and `one_thing` are equal; it prints as it was written.
#[derive(Clone)]
pub struct Name(Arc<str>);

impl Name {
    /// The identifier as written.
    pub fn new(text: &str) -> Self {
        Name(text.into())
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The spelling that C can read, with `_` for `-`.
    pub fn to_c(&self) -> String {
        self.0.replace('-', "_")
    }

    fn letters(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.bytes().map(|b| if b == b'-' { b'_' } else { b })
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.letters().eq(other.letters())
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.letters().eq(other.bytes().map(|b| if b == b'-' { b'_' } else { b }))
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.letters().cmp(other.letters())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.letters().for_each(|b| state.write_u8(b));
        state.write_u8(0xff);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
