//! The common cases of actions on TCP and UDP packets, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod check_tcp_header;
pub mod check_udp_header;
pub mod set_tcp_checksum;
pub mod set_udp_checksum;
