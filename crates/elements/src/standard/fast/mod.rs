//! The common cases of actions on packets of any kind, one element a file. The router compiler copies these files: see
//! [`clickwork_router::fast`] for what they may do.

pub mod drop_broadcasts;
pub mod null;
pub mod paint;
pub mod paint_tee;
pub mod strip;
