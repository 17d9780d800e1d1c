//! IPRewriter: rewrites addresses and ports of TCP and UDP.

use super::core::Rewriter;
use super::kind::Kind;
use super::{handlers, settings};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites addresses and ports of TCP and UDP",
    manual: "Network address and port translation. A mapping says what the addresses and ports of a flow become, and \
             by which output its packets leave; another undoes it for the answers. Packets of known flows are \
             rewritten, on whatever input they come, and their checksums updated. For others, the input's \
             specification is followed: 'drop'; 'pass OUTPUT' (also 'nochange'), which makes no mapping; 'keep \
             FOUTPUT ROUTPUT', a mapping that changes nothing; 'pattern SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT', \
             where - leaves a field as it is and SPORT may be a range FIRST-LAST, from which a port is taken that is \
             free for that destination: the packet's own, else a random one (with ? behind the range always a random \
             one, with # one after the other); 'pattern NAME FOUTPUT ROUTPUT' with a name that IPRewriterPatterns \
             defines; or the name of a mapper such as RoundRobinIPMapper. Packets of other protocols and fragments \
             without ports are dropped unless the input says 'pass'.\n\nMappings end when no packet has come for a \
             time that depends on the protocol and on whether a TCP connection has ended; they are looked for every \
             REAP_INTERVAL. When there are CAPACITY mappings, a new flow takes the place of the one that would end \
             next, but not of one that had a packet within its guarantee; if there is no other, the new flow's \
             packet is dropped. A mapping takes about 100 bytes of memory: give a capacity where strangers can begin \
             flows. No timeout is longer than 24 days. With REPLY_ANNO, the first packet's annotation is put on the \
             answers.",
    example: "rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop, CAPACITY 100000); \
              InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.1, 1000, 2.0.0.2, 80) -> [0] rw; Idle -> [1] rw => \
              Discard, Discard; Script(wait 10ms, print rw.table, stop)",
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
        settings::UDP_TIMEOUT,
        settings::UDP_STREAMING_TIMEOUT,
        settings::UDP_GUARANTEE,
        settings::DST_ANNO,
        settings::REPLY_ANNO,
        settings::CAPACITY,
        settings::MAPPING_CAPACITY,
        settings::GUARANTEE,
        settings::REAP_INTERVAL,
    ],
    handlers: &[
        handlers::TCP_TABLE,
        handlers::UDP_TABLE,
        handlers::TCP_MAPPINGS,
        handlers::UDP_MAPPINGS,
        handlers::TCP_LOOKUP,
        handlers::NMAPPINGS,
        handlers::FAILURES,
        handlers::PATTERNS,
        handlers::PATTERN,
        handlers::SIZE,
        handlers::CAPACITY,
        handlers::CLEAR,
    ],
    llrpcs: handlers::LLRPCS,
    ..Class::new("IPRewriter", "rewriter", || Rewriter::new(Kind::Ip))
};
