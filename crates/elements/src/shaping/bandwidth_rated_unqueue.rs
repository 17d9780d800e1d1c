//! BandwidthRatedUnqueue: pulls at a limited bandwidth and pushes on.

use super::bucket_args::{BYTE_ARGS, Unit};
use super::rated_unqueue::{RatedUnqueue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets at a limited bandwidth and pushes them on",
    manual: "As RatedUnqueue, but RATE is a bandwidth, and the burst is given as BURST_BYTES or BURST_DURATION.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> BandwidthRatedUnqueue(1Mbps) -> Discard",
    ..class("BandwidthRatedUnqueue", BYTE_ARGS, || Box::new(RatedUnqueue::new(Unit::Bytes)))
};
