//! The common cases of actions on IP packets, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod check_ip_header;
pub mod dec_ip_ttl;
pub mod fix_ip_src;
pub mod get_ip_address;
pub mod ip_fragmenter;
pub mod ip_gw_options;
pub mod ip_input_combo;
pub mod ip_mirror;
pub mod ip_output_combo;
pub mod mark_ip_header;
pub mod replace_address;
pub mod set_ip_address;
pub mod set_ip_checksum;
pub mod set_tos;
pub mod store_ip_address;
pub mod strip_ip_header;
pub mod unstrip_ip_header;
