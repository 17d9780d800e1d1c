//! BandwidthShaper: packets can be pulled at a limited bandwidth.

use super::bucket_args::Unit;
use super::shaper::{Shaper, class};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets packets be pulled at a limited bandwidth",
    manual: "As Shaper, but RATE is a bandwidth: a pull is passed on as long as no more than RATE bytes per second were \
             had before it.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> BandwidthShaper(1Mbps) -> Unqueue -> Discard",
    args: &[ArgSpec::required("RATE", ArgType::Bandwidth, "bytes per second, or with a unit such as Mbps")],
    ..class("BandwidthShaper", || Box::new(Shaper::new(Unit::Bytes)))
};
