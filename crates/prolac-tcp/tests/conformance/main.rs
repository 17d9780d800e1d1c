//! The TCP held against the RFCs, one row of `docs/tcp-conformance.md` after the other: a scripted peer (`support/peer.rs`,
//! read it first) sends segments written by hand to one stack and looks at what comes back, in simulated time. A file a group
//! of rows; `document.rs` makes sure that the document names every test, and only tests that exist.

#[path = "../../src/compose.rs"]
#[allow(dead_code)]
mod compose;
#[path = "../simulation/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../simulation/subset.rs"]
#[allow(dead_code)]
mod subset;

mod base;
mod document;
mod support;

// RFC 9293 §3.10: states and events.
mod arrives_ack;
mod arrives_closed;
mod arrives_disorder;
mod arrives_fin;
mod arrives_reset;
mod arrives_sequence;
mod arrives_syn;
mod arrives_syn_sent;
mod arrives_text;
mod calls;
mod timeouts;

// RFC 9293, appendix B: its requirements.
mod acknowledgments;
mod closing;
mod failures;
mod icmp;
mod linux;
mod opening;
mod options;
mod retransmission;
mod sending;
mod urgent;
mod window;

// Extensions.
mod blind_attacks;
mod congestion;
mod cookies;
mod cubic;
mod ecn;
mod fast_open;
mod path_mtu;
mod rack;
mod sack;
mod timestamps;
mod undo;
