//! The common cases of actions on packets of any kind, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod align;
pub mod check_length;
pub mod check_paint;
pub mod drop_broadcasts;
pub mod hash_switch;
pub mod mark_mac_header;
pub mod null;
pub mod pad;
pub mod paint;
pub mod paint_switch;
pub mod paint_tee;
pub mod set_packet_type;
pub mod store_data;
pub mod strip;
pub mod strip_to_network_header;
pub mod switch;
pub mod truncate;
pub mod unstrip;
