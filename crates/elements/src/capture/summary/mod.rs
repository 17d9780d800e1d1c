//! Packet summaries: one line of text, or one binary record, for each packet, with the fields that the user chose.
//!
//! [`output`] writes dumps and [`input`] reads them; [`field`] is the table of fields. A dump that is written and read
//! again gives packets that agree in the fields written. The format is Click's `!IPSummaryDump 1.3`; the manual of
//! Click's ToIPSummaryDump describes it.

pub mod draft;
pub mod extract;
pub mod field;
pub mod headers;
pub mod icmp;
pub mod inject;
pub mod input;
pub mod ip_options;
pub mod options;
pub mod output;
pub mod parse;
pub mod print;
pub mod tcp_options;

#[cfg(test)]
mod tests;
