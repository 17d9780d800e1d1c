//! IPsec: ESP in tunnel and transport mode.
//!
//! [`esp_encrypt`] and [`esp_decrypt`] are the two ends of a security association as it is used today (RFC 4303); [`cipher`]
//! and [`replay`] are their tools.

mod association;
mod cipher;
mod esp_decrypt;
mod esp_encrypt;
#[cfg(test)]
mod esp_tests;
mod replay;
#[cfg(test)]
mod samples;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[&esp_decrypt::CLASS, &esp_encrypt::CLASS];
