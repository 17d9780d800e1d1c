//! The common cases of actions on IPv6 packets, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod check_ip6_header;
pub mod dec_ip6_hlim;
pub mod get_ip6_address;
pub mod ip6_fragmenter;
pub mod ip6_mirror;
pub mod mark_ip6_header;
pub mod set_ip6_address;
pub mod set_ip6_dscp;
