//! The elements that nearly every configuration uses.

use clickwork_router::Class;

mod counter;
mod discard;
mod idle;
mod null;
mod tee;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&counter::CLASS, &discard::CLASS, &idle::CLASS, &null::CLASS, &tee::CLASS];
