//! TCPRewriter: rewrites addresses, ports and sequence numbers of TCP.

use super::core::Rewriter;
use super::kind::Kind;
use super::{handlers, settings};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites addresses, ports and sequence numbers of TCP",
    manual: "As IPRewriter, for TCP only. Other elements, such as FTPPortMapper, can have sequence numbers of a \
             connection shifted, and acknowledgements with them, SACK options included.",
    example: "rw :: TCPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop); InfiniteSource(DATA \
              \\<4500002800000000 40066ece0a000001 0200000203e80050 0000000100000000 500220007fa70000>, LIMIT \
              1) -> CheckIPHeader -> [0] rw; Idle -> [1] rw => Discard, Discard; Script(wait 10ms, print \
              rw.table, stop)",
    ports: "1-/1-!",
    processing: "h/h!",
    flow: "x/x!",
    packets: "ip/ip",
    args: &[
        settings::INPUTS,
        settings::TCP_NODATA_TIMEOUT,
        settings::TCP_GUARANTEE,
        settings::TCP_PLAIN_TIMEOUT,
        settings::TCP_TIMEOUT,
        settings::TCP_DONE_TIMEOUT,
        settings::DST_ANNO,
        settings::REPLY_ANNO,
        settings::CAPACITY,
        settings::MAPPING_CAPACITY,
        settings::GUARANTEE,
        settings::REAP_INTERVAL,
    ],
    handlers: &[
        handlers::TABLE,
        handlers::MAPPINGS,
        handlers::LOOKUP,
        handlers::NMAPPINGS,
        handlers::FAILURES,
        handlers::PATTERNS,
        handlers::PATTERN,
        handlers::SIZE,
        handlers::CAPACITY,
        handlers::CLEAR,
    ],
    llrpcs: handlers::LLRPCS,
    ..Class::new("TCPRewriter", "rewriter", || Rewriter::new(Kind::Tcp))
};
