//! Elements that print packets for people.
//!
//! [`dump`] turns bytes into rows of text, [`destination`] says where lines go; both are shared.

use clickwork_router::Class;

mod arp_print;
mod destination;
mod dump;
#[cfg(test)]
mod hostile;
mod ip6_print;
mod ip_print;
#[expect(clippy::module_inception, reason = "the class is named as its family")]
mod print;
mod tcpdump;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&arp_print::CLASS, &ip6_print::CLASS, &ip_print::CLASS, &print::CLASS];
