//! The common cases of actions on ICMP packets, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod check_icmp_header;
