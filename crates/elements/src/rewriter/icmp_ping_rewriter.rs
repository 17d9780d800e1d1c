//! ICMPPingRewriter: rewrites addresses and identifiers of pings.

use super::core::Rewriter;
use super::kind::Kind;
use super::{handlers, settings};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites addresses and identifiers of pings",
    manual: "As IPRewriter, for ICMP echo requests and replies: what is a port there is the identifier here. \
             Requests begin flows; replies that answer no request are dropped unless the input says 'pass', as is \
             everything else.",
    example: "rw :: ICMPPingRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop); ICMPPingSource(10.0.0.1, \
              2.0.0.2, LIMIT 1) -> [0] rw; Idle -> [1] rw => Discard, Discard; Script(wait 2s, print rw.table, \
              stop)",
    ports: "1-/1-!",
    processing: "h/h!",
    flow: "x/x!",
    packets: "ip/ip",
    args: &[
        settings::INPUTS,
        settings::DST_ANNO,
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
    ..Class::new("ICMPPingRewriter", "rewriter", || Rewriter::new(Kind::Ping))
};
