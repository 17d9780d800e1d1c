//! Measurement: aggregates of packets, flows, timestamps.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];
