//! Elements without ports that give facts to the others: names, tickets, alignment.

use clickwork_router::Class;

mod address_info;
mod alignment_info;
mod annotation_info;
pub mod devices;
mod error;
mod for_tools;
pub(crate) mod message;
mod port_info;
mod schedule_info;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &address_info::CLASS,
    &alignment_info::CLASS,
    &annotation_info::CLASS,
    &error::CLASS,
    &for_tools::CLICKY_INFO,
    &for_tools::DEVIRTUALIZE_INFO,
    &for_tools::FLOW_INFO,
    &for_tools::IP_FIELD_INFO,
    &for_tools::IP_NAME_INFO,
    &message::CLASS,
    &port_info::CLASS,
    &schedule_info::CLASS,
];
