//! What configurations for several threads say. A router runs on one thread here, so these elements check their arguments,
//! answer their handlers and change nothing about how packets move.

mod balanced_thread_sched;
mod spinlock;
mod static_thread_sched;

use clickwork_router::{Class, Registry};

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &balanced_thread_sched::CLASS,
    &spinlock::ACQUIRE,
    &spinlock::INFO,
    &spinlock::PUSH,
    &spinlock::RELEASE,
    &static_thread_sched::CLASS,
];

/// Adds the second name of a class.
pub fn add_aliases(registry: &mut Registry) {
    registry.alias("SortedTaskSched", &balanced_thread_sched::CLASS);
}
