//! Rewriters of addresses and ports: NAT, load balancing, proxies.
//!
//! Start with `core.rs`, which is what all rewriters have in common, then `membership.rs`, through which they get at their
//! flows, and `table/mod.rs`, the table of flows. `kind.rs` says
//! in what the six rewriters differ, `apply.rs` what they do to packets. ICMPRewriter and FTPPortMapper ask rewriters for
//! mappings through the handle that these export; mappers are asked by rewriters in the same way.

mod apply;
mod core;
mod flow_id;
mod ftp_port_mapper;
mod handlers;
mod icmp_ping_rewriter;
mod icmp_rewriter;
mod input;
mod ip_addr_pair_rewriter;
mod ip_addr_rewriter;
mod ip_rewriter;
mod kind;
mod mapper;
mod membership;
mod pattern;
mod patterns;
mod round_robin_ip_mapper;
mod sequence;
mod server_hash;
mod settings;
mod source_ip_hash_mapper;
mod table;
mod tcp_rewriter;
#[cfg(test)]
mod tests;
mod udp_rewriter;

use clickwork_router::{Class, Cx, ElementId};

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &ftp_port_mapper::CLASS,
    &icmp_ping_rewriter::CLASS,
    &icmp_rewriter::CLASS,
    &ip_addr_pair_rewriter::CLASS,
    &ip_addr_rewriter::CLASS,
    &ip_rewriter::CLASS,
    &patterns::CLASS,
    &round_robin_ip_mapper::CLASS,
    &source_ip_hash_mapper::CLASS,
    &tcp_rewriter::CLASS,
    &udp_rewriter::CLASS,
];

/// The rewriters.
static REWRITERS: &[&Class] = &[
    &icmp_ping_rewriter::CLASS,
    &ip_addr_pair_rewriter::CLASS,
    &ip_addr_rewriter::CLASS,
    &ip_rewriter::CLASS,
    &tcp_rewriter::CLASS,
    &udp_rewriter::CLASS,
];

/// Whether an element is a rewriter. It may not be configured yet.
fn is_rewriter(cx: &Cx<'_>, id: ElementId) -> bool {
    REWRITERS.iter().any(|class| std::ptr::eq(*class, cx.router().info(id).class))
}

/// Whether an element is a rewriter that can shift sequence numbers of TCP.
fn is_tcp_rewriter(cx: &Cx<'_>, id: ElementId) -> bool {
    let class = cx.router().info(id).class;
    [&ip_rewriter::CLASS, &tcp_rewriter::CLASS].into_iter().any(|c| std::ptr::eq(c, class))
}
