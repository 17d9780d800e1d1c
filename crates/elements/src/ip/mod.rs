//! IPv4: route tables.

pub mod lookup;
