//! Capture files: reading and writing packets that tcpdump and Wireshark understand, and Click's packet summaries.
//!
//! [`reader`] and [`writer`] are the two ends that elements use; [`input`], [`pcap`], [`pcapng`] and [`linktype`] are
//! their parts. Those know neither the router nor its packets; the elements built on them do: FromDump, ToDump,
//! FromIPSummaryDump and ToIPSummaryDump.

mod backpressure;
pub mod destination;
pub mod error;
mod flow;
mod from_dump;
mod from_netflow;
mod from_summary;
pub mod input;
pub mod linktype;
pub mod pcap;
pub mod pcapng;
pub mod reader;
mod series;
pub mod summary;
mod time;
mod to_dump;
mod to_summary;
mod window;
pub mod writer;

#[cfg(test)]
mod element_tests;
#[cfg(test)]
mod tests;

/// The classes of this family.
pub static CLASSES: &[&clickwork_router::Class] =
    &[&from_dump::CLASS, &from_netflow::CLASS, &from_summary::CLASS, &to_dump::CLASS, &to_summary::CLASS];

pub use flow::Encapsulation;
pub(crate) use flow::{first_timestamp, set_first_timestamp};
pub(crate) use from_dump::mark_ip;
