//! Queues: elements that hold packets between a push and a pull path.

use clickwork_router::Class;

mod queue;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&queue::CLASS];
