//! The files that AggregateCounter writes: header lines, then a record for each aggregate.

use super::tree::Tree;
use crate::analysis::number::general;
use clickwork_packet::addr::Ipv4Address;
use std::fmt::Write;

/// How records look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aggregate and count in decimal.
    Text,
    /// Two words of 32 bits in the order of bytes of the machine.
    Binary,
    /// The aggregate as an IP address.
    Address,
    /// The count as a part of all.
    Fraction,
}

/// A whole file; `total` is the sum of the counts.
pub fn file(tree: &Tree, format: Format, banner: &str, nonzero: u32, total: u64) -> Vec<u8> {
    let mut text = format!("!IPAggregate 1.0\n{banner}");
    if !banner.is_empty() && !banner.ends_with('\n') {
        text.push('\n');
    }
    let _ = writeln!(text, "!num_nonzero {nonzero}");
    match format {
        Format::Binary if cfg!(target_endian = "big") => text.push_str("!packed_be\n"),
        Format::Binary => text.push_str("!packed_le\n"),
        Format::Address => text.push_str("!ip\n"),
        Format::Text | Format::Fraction => {}
    }
    let mut file = clickwork_source::text::into_bytes(text);
    for (aggregate, count) in tree.iter() {
        let text = match format {
            Format::Binary => {
                file.extend([aggregate.to_ne_bytes(), count.to_ne_bytes()].concat());
                continue;
            }
            Format::Text => format!("{aggregate} {count}\n"),
            Format::Address => format!("{} {count}\n", Ipv4Address::from_octets(aggregate.to_be_bytes())),
            Format::Fraction => format!("{aggregate} {}\n", general(f64::from(count) / total as f64)),
        };
        file.extend(text.into_bytes());
    }
    file
}
