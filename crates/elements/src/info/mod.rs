//! Elements without ports that give facts to the others: names, tickets, alignment.

use clickwork_router::Class;

mod address_info;
pub mod devices;
mod port_info;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&address_info::CLASS, &port_info::CLASS];
