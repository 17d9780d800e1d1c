//! BandwidthRatedSplitter: what exceeds a bandwidth goes another way.

use super::bucket_args::{BYTE_ARGS, Unit};
use super::rated_splitter::{RatedSplitter, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "splits off packets beyond a bandwidth",
    manual: "As RatedSplitter, but RATE is a bandwidth, and the burst is given as BURST_BYTES or BURST_DURATION.",
    example: "InfiniteSource(LIMIT 100, STOP true) -> rs :: BandwidthRatedSplitter(100kbps); rs[0] -> Discard; \
              rs[1] -> Discard",
    ..class("BandwidthRatedSplitter", BYTE_ARGS, || Box::new(RatedSplitter::new(Unit::Bytes)))
};
