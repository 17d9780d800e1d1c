//! Sources: elements that make packets of their own accord.

use clickwork_router::Class;

mod infinite_source;

/// What sources put into packets unless told otherwise: Click's bytes, since outputs are compared with it.
pub(crate) const DEFAULT_DATA: &[u8] =
    b"Random bullshit in a packet, at least 64 bytes long. Well, now it is.";

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&infinite_source::CLASS];
