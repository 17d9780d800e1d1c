//! Active queue management: elements that drop packets before queues are full, so that delays stay short.
//!
//! RED and its relative watch queues by their length; CoDel, PIE and FQ-CoDel by the time that packets spend in them.

use clickwork_router::Class;

mod adaptive_red;
mod codel;
mod control;
mod delay_controller;
mod flows;
mod fq_codel;
mod nearby;
mod pie;
mod red;
#[cfg(test)]
mod responsive;
mod store;
mod thresholds;

/// The classes of this family.
pub static CLASSES: &[&Class] =
    &[&adaptive_red::CLASS, &codel::CLASS, &fq_codel::CLASS, &pie::CLASS, &red::CLASS];
