//! Queues: elements that hold packets between a push and a pull path. They share one core.

use clickwork_router::Class;

mod core;
mod cpu_queue;
mod fifo;
mod front_drop_queue;
mod full_note_queue;
mod mixed_queue;
mod ms_queue;
mod notifier_queue;
#[expect(clippy::module_inception, reason = "the class is named as its family")]
mod queue;
mod quick_note_queue;
mod simple_queue;
mod thread_safe_queue;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &queue::CLASS,
    &cpu_queue::CLASS,
    &front_drop_queue::CLASS,
    &full_note_queue::CLASS,
    &mixed_queue::CLASS,
    &ms_queue::CLASS,
    &notifier_queue::CLASS,
    &quick_note_queue::CLASS,
    &simple_queue::CLASS,
    &thread_safe_queue::CLASS,
];
