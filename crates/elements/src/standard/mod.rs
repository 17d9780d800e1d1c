//! The elements that nearly every configuration uses.

use clickwork_router::Class;

mod align;
mod average_counter;
mod check_paint;
mod counter;
mod discard;
pub(crate) mod drop_broadcasts;
mod idle;
mod null;
mod paint;
mod paint_switch;
mod paint_tee;
mod set_timestamp;
mod simple_idle;
mod static_switch;
mod strip;
mod switch;
mod tee;
mod truncate;
mod unstrip;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &simple_idle::CLASS,
    &average_counter::CLASS,
    &align::CLASS,
    &check_paint::CLASS,
    &counter::CLASS,
    &discard::CLASS,
    &drop_broadcasts::CLASS,
    &idle::CLASS,
    &null::CLASS,
    &paint::CLASS,
    &paint_switch::CLASS,
    &paint_tee::CLASS,
    &set_timestamp::CLASS,
    &static_switch::CLASS,
    &strip::CLASS,
    &switch::CLASS,
    &tee::CLASS,
    &truncate::CLASS,
    &unstrip::CLASS,
];
