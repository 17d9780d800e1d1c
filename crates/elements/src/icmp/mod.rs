//! ICMP: errors and echoes.

use clickwork_router::Class;

mod icmp_error;
mod icmp_ping_responder;
mod names;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&icmp_error::CLASS, &icmp_ping_responder::CLASS];
