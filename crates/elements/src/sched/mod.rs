//! Packet schedulers and unqueues: elements that pull from queues, by turns, by priority, by rate.

use clickwork_router::Class;

mod unqueue;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&unqueue::CLASS];
