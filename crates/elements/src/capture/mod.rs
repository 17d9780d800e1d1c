//! Capture files: reading and writing packets that tcpdump and Wireshark understand, and Click's packet summaries.
//!
//! [`reader`] and [`writer`] are the two ends that elements use; [`input`], [`pcap`], [`pcapng`] and [`linktype`] are
//! their parts. Nothing here knows the router or its packets.

pub mod error;
pub mod input;
pub mod linktype;
pub mod pcap;
pub mod pcapng;
pub mod reader;
pub mod summary;
pub mod writer;

#[cfg(test)]
mod tests;

/// The classes of this family.
pub static CLASSES: &[&clickwork_router::Class] = &[];
