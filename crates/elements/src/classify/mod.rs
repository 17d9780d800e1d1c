//! Classification: elements that choose an output by what a packet is.
//!
//! The languages and their compiler are the classifier crate; [`splitter`] is the element that all three classes are,
//! each with its language.

use clickwork_router::Class;

mod classifier;
mod ip_classifier;
mod ip_filter;
mod names;
mod splitter;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&classifier::CLASS, &ip_classifier::CLASS, &ip_filter::CLASS];
