//! IPsec: ESP in tunnel and transport mode.
//!
//! [`esp_encrypt`] and [`esp_decrypt`] are the two ends of a security association as it is used today (RFC 4303); [`cipher`],
//! [`association`] and [`replay`] are their tools. The other files are Click's old elements, each of which does a part of the
//! work, with ciphers and digests that are no longer safe; [`sa`] has their associations.

/// A tunnel with a cipher of the old elements.
macro_rules! old_example {
    ($cipher:literal) => {
        concat!(
            "InfiniteSource(LIMIT 3, STOP true) -> UDPIPEncap(10.1.0.2, 9, 10.2.0.2, 9) -> SetIPAddress(10.2.0.2) \
             -> routes :: RadixIPsecLookup(192.0.2.1/32 0, 10.2.0.0/16 192.0.2.1 1 \
                    234 \\<000102030405060708090a0b0c0d0e0f> \\<101112131415161718191a1b1c1d1e1f> 1 32, 0/0 2); \
             routes [1] -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> ",
            $cipher,
            "(1) -> IPsecEncap(50) -> FixIPSrc(192.0.2.9) -> GetIPAddress(16) -> routes; \
             routes [0] -> StripIPHeader -> ",
            $cipher,
            "(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> Discard; \
             routes [2] -> Discard"
        )
    };
}

mod association;
mod cipher;
mod esp_decrypt;
mod esp_encap;
mod esp_encrypt;
#[cfg(test)]
mod esp_tests;
mod ipsec_encap;
mod old_auth;
mod old_ciphers;
#[cfg(test)]
mod old_tests;
mod radix_ipsec_lookup;
mod replay;
mod sa;
mod sa_table;
#[cfg(test)]
mod samples;

use clickwork_router::Class;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &esp_decrypt::CLASS,
    &esp_encap::CLASS,
    &esp_encap::UNENCAP,
    &esp_encrypt::CLASS,
    &ipsec_encap::CLASS,
    &old_auth::HMAC_SHA1,
    &old_auth::SHA1,
    &old_ciphers::AES,
    &old_ciphers::DES,
    &radix_ipsec_lookup::CLASS,
    &sa_table::CLASS,
];

/// Why a packet without association is dropped.
const NO_ASSOCIATION: &str = "no security association";

/// A tunnel of Click's old elements, from its beginning to its end.
const OLD_EXAMPLE: &str = old_example!("IPsecAES");
/// The same with DES.
const DES_EXAMPLE: &str = old_example!("IPsecDES");
