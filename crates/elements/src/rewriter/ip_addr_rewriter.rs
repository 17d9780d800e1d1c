//! IPAddrRewriter: rewrites addresses of hosts.

use super::core::Rewriter;
use super::kind::Kind;
use super::{handlers, settings};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites addresses of hosts",
    manual: "Network address translation without ports: each source address becomes another, and packets to that one \
             go back to the first. Inputs are specified as for IPRewriter, but patterns are 'SADDR - FOUTPUT \
             ROUTPUT', where SADDR may be a range FIRST-LAST or a prefix, with # or ? behind it. All protocols and \
             fragments pass, and the checksums of TCP and UDP are updated.",
    example: "rw :: IPAddrRewriter(pattern 1.0.0.0/24 - 0 1, drop); InfiniteSource(LIMIT 1) -> \
              UDPIPEncap(10.0.0.1, 1000, 2.0.0.2, 80) -> [0] rw; Idle -> [1] rw => Discard, Discard; \
              Script(wait 10ms, print rw.table, stop)",
    ports: "1-/1-!",
    processing: "h/h!",
    flow: "x/x!",
    packets: "ip/ip",
    args: &[
        settings::INPUTS,
        settings::REPLY_ANNO,
        settings::CAPACITY,
        settings::MAPPING_CAPACITY,
        settings::TIMEOUT,
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
    ..Class::new("IPAddrRewriter", "rewriter", || Rewriter::new(Kind::Addr))
};
