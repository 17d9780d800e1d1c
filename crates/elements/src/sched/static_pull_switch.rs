//! StaticPullSwitch: packets are pulled from one input, chosen for good.

use super::pull_switch::class;
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from one input, chosen for good",
    manual: "As PullSwitch, but the input cannot be changed.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] sw :: StaticPullSwitch(0) -> Unqueue -> Discard; \
              Idle -> Queue -> [1] sw",
    packets: "any/from(INPUT)",
    ..class("StaticPullSwitch", &[ArgSpec::required("INPUT", ArgType::I32, "the input to pull from")])
};
