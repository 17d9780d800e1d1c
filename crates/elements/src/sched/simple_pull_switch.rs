//! SimplePullSwitch: packets are pulled from one chosen input.

use super::pull_switch::{HANDLERS, class};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from one chosen input",
    manual: "As PullSwitch. In Click it has no notifier; here it has.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] sw :: SimplePullSwitch(0) -> Unqueue -> Discard; \
              Idle -> Queue -> [1] sw",
    handlers: HANDLERS,
    ..class("SimplePullSwitch", &[ArgSpec::positional("INPUT", ArgType::I32, "0", "the input to pull from")])
};
