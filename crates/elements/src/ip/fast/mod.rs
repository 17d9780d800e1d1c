//! The common cases of actions on IP packets, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod dec_ip_ttl;
