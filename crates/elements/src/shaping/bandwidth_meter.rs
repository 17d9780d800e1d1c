//! BandwidthMeter: the way a packet takes depends on the recent bandwidth.

use super::bucket_args::Unit;
use super::meter::{Meter, class};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to an output that depends on the recent bandwidth",
    manual: "As Meter, but it counts bytes, and the rates are bandwidths.",
    example: "InfiniteSource(LIMIT 100, STOP true) -> m :: BandwidthMeter(1Mbps); m[0] -> Discard; m[1] -> Discard",
    args: &[ArgSpec::rest("RATE", ArgType::Bandwidth, "bandwidth from which on the next output is used")],
    ..class("BandwidthMeter", || Box::new(Meter::new(Unit::Bytes)))
};
