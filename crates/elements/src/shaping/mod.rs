//! Shapers, splitters and meters: elements that limit or measure rates.

use clickwork_router::Class;

mod bandwidth_meter;
mod bandwidth_rated_splitter;
mod bandwidth_rated_unqueue;
mod bandwidth_shaper;
mod bucket_args;
#[cfg(test)]
mod exact;
pub(crate) mod gap_rate;
mod meter;
mod rated_splitter;
mod rated_unqueue;
mod shaper;
pub(crate) mod token_bucket;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &bandwidth_meter::CLASS,
    &bandwidth_rated_splitter::CLASS,
    &bandwidth_rated_unqueue::CLASS,
    &bandwidth_shaper::CLASS,
    &meter::CLASS,
    &rated_splitter::CLASS,
    &rated_unqueue::CLASS,
    &shaper::CLASS,
];
