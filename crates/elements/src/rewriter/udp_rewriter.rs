//! UDPRewriter: rewrites addresses and ports of UDP.

use super::core::Rewriter;
use super::kind::Kind;
use super::{handlers, settings};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites addresses and ports of UDP",
    manual: "As IPRewriter, without regard to protocols: UDP, TCP and DCCP share one table and the timeouts of UDP. \
             A flow of three packets with an answer among them is a stream, and may have a timeout of its own.",
    example: "rw :: UDPRewriter(pattern - - 10.0.0.53 53 0 1, drop); InfiniteSource(LIMIT 1) -> \
              UDPIPEncap(10.0.0.1, 1000, 2.0.0.2, 80) -> [0] rw; Idle -> [1] rw => Discard, Discard; \
              Script(wait 10ms, print rw.table, stop)",
    ports: "1-/1-!",
    processing: "h/h!",
    flow: "x/x!",
    packets: "ip/ip",
    args: &[
        settings::INPUTS,
        settings::DST_ANNO,
        settings::REPLY_ANNO,
        settings::UDP_TIMEOUT,
        settings::TIMEOUT,
        settings::UDP_STREAMING_TIMEOUT,
        settings::STREAMING_TIMEOUT,
        settings::UDP_GUARANTEE,
        settings::CAPACITY,
        settings::MAPPING_CAPACITY,
        settings::GUARANTEE,
        settings::REAP_INTERVAL,
    ],
    handlers: &[
        handlers::TABLE,
        handlers::MAPPINGS,
        handlers::NMAPPINGS,
        handlers::FAILURES,
        handlers::PATTERNS,
        handlers::PATTERN,
        handlers::SIZE,
        handlers::CAPACITY,
        handlers::CLEAR,
    ],
    llrpcs: handlers::LLRPCS,
    ..Class::new("UDPRewriter", "rewriter", || Rewriter::new(Kind::Udp))
};
