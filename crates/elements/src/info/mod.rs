//! Elements without ports that give facts to the others: names, tickets, alignment.

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[];
