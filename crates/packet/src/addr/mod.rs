//! Network addresses and prefixes, read and printed in Click's forms.
//!
//! Not name resolution: `AddressInfo` names and host names are looked up by the router's argument parser, which
//! falls back on the `FromStr` implementations here. Read first: the `cp_ip_prefix` and `EtherAddress` manual
//! pages of Click for the text forms; RFC 4291 §2.2 for IPv6.
#![forbid(unsafe_code)]

#[cfg(feature = "headers")]
mod ether;
mod ipv4;
mod ipv6;

#[cfg(feature = "headers")]
pub use ether::EtherAddress;
pub use ipv4::{Ipv4Address, Ipv4Prefix};
pub use ipv6::{Ipv6Address, Ipv6Prefix};

use std::fmt;

/// A text that is not an address of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    text: String,
    expected: &'static str,
}

impl AddressError {
    fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, not '{}'", self.expected, self.text)
    }
}

impl std::error::Error for AddressError {}

/// A decimal number of at most `max`, digits only (no sign, no space).
fn decimal(text: &str, max: u32) -> Option<u32> {
    let digits_only = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|&n| digits_only && n <= max)
}
