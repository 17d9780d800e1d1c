//! The elements that nearly every configuration uses.

use clickwork_router::{Class, Registry};

mod align;
mod average_counter;
mod bypass;
mod check_length;
mod check_paint;
mod clipboard;
mod counter;
mod cpu_switch;
mod crc32;
mod discard;
mod discard_no_free;
mod drop_broadcasts;
pub(crate) mod fast;
mod hash_switch;
mod hub;
mod idle;
mod mark_mac_header;
mod null;
mod pad;
mod paint;
mod paint_switch;
mod paint_tee;
mod random_bit_errors;
mod random_sample;
mod resize;
mod round_robin_switch;
mod set_anno_byte;
mod set_packet_type;
mod set_timestamp;
mod simple_idle;
mod static_switch;
mod store_data;
mod strip;
mod strip_to_network_header;
mod switch;
mod tee;
mod truncate;
mod unstrip;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &simple_idle::CLASS,
    &average_counter::CLASS,
    &align::CLASS,
    &bypass::CLASS,
    &check_length::CLASS,
    &check_paint::CLASS,
    &clipboard::CLASS,
    &counter::CLASS,
    &cpu_switch::CLASS,
    &crc32::CHECK,
    &crc32::SET,
    &discard::CLASS,
    &discard_no_free::CLASS,
    &drop_broadcasts::CLASS,
    &hash_switch::CLASS,
    &hub::CLASS,
    &idle::CLASS,
    &mark_mac_header::CLASS,
    &null::CLASS,
    &null::NUMBERED[0],
    &null::NUMBERED[1],
    &null::NUMBERED[2],
    &null::NUMBERED[3],
    &null::NUMBERED[4],
    &null::NUMBERED[5],
    &null::NUMBERED[6],
    &null::NUMBERED[7],
    &pad::CLASS,
    &paint::CLASS,
    &paint_switch::CLASS,
    &paint_tee::CLASS,
    &random_bit_errors::CLASS,
    &random_sample::CLASS,
    &resize::CLASS,
    &round_robin_switch::CLASS,
    &set_anno_byte::CLASS,
    &set_packet_type::CLASS,
    &set_timestamp::CLASS,
    &static_switch::CLASS,
    &store_data::CLASS,
    &strip::CLASS,
    &strip_to_network_header::CLASS,
    &switch::CLASS,
    &tee::CLASS,
    &truncate::CLASS,
    &unstrip::CLASS,
];

/// Other names of classes of this family.
pub fn add_aliases(registry: &mut Registry) {
    registry.alias("HashDemux", &hash_switch::CLASS);
}
