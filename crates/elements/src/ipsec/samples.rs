//! ESP packets for tests, made by another implementation: scapy 2.8.0 with the cryptography library 50.0.2.

/// The key of AES-GCM with 128 bits, with its salt.
pub const GCM_KEY: &str = "000102030405060708090a0b0c0d0e0f10111213";
/// The key of AES-GCM with 256 bits, with its salt.
pub const GCM_256_KEY: &str = "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283";
/// The key of AES-CBC.
pub const CBC_KEY: &str = "202122232425262728292a2b2c2d2e2f";
/// The key of HMAC-SHA-256-128.
pub const AUTH_KEY: &str = "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f";

/// The packet inside.
pub const INNER: &str = "45280033000700003f1167850a0100020a02000200090009001fc729446f65732074686973206172726976652077686f \
    6c653f";
/// Tunnel mode, SPI 0x1001, sequence number 5, AES-GCM with 128 bits.
pub const GCM_TUNNEL: &str = "4500006c0001000040328e29c0000201c633640100001001000000050001020304050607131e6fc5b535db74e961ebf2 \
    b0fdd3c1afc60e4bf65a5621ec95d1eb85c67a37451333bc304b60c0b2b01bea33f38bc8f116fa33ef05182f371828d7 \
    d43eb9cba3af0a46933115ea";
/// Transport mode, SPI 0x1002, sequence number 0xfffffffe, AES-GCM with 256 bits.
pub const GCM_TRANSPORT: &str = "45280058000700003f32673f0a0100020a02000200001002fffffffe1011121314151617811465d4df62e137653da9e7 \
    c36f494c8d193ab453eec4577a587429afde09ff8675d6ee1bb2657f52ab5ff4f9d44202b13cf227";
/// Tunnel mode, SPI 0x2001, sequence number 1, AES-CBC with HMAC-SHA-256-128.
pub const CBC_TUNNEL: &str = "4500007c0001000040328e19c0000201c63364010000200100000001000102030405060708090a0b0c0d0e0f168cfa53 \
    2e5e9c3a3acd36fee7ab3c642a84e370c5fd551960e63672dff16b8eab922b6fea8ed8301e3f9837f95e47c5c935cc27 \
    90230a33a9c1017714e45f9f1a4541ec4cd9ce87897bb1ee7a2d19b5";
/// Transport mode, SPI 0x2002, sequence number 2, AES-CBC with HMAC-SHA-256-128.
pub const CBC_TRANSPORT: &str = "4528006c000700003f32672b0a0100020a0200020000200200000002000102030405060708090a0b0c0d0e0fa638de37 \
    880e052bfefd8dfdea8ab15db9ce52119c25d2597c6ef9df9ec47d1ba0282b84f62748ed99ca2e28619fd2ae8adfdff5 \
    c9dffb331bfeb1dad9f49333";
/// Transport mode, SPI 0x1003, extended sequence number 2^32 + 3, AES-GCM with 128 bits.
pub const GCM_EXTENDED: &str = "45280058000700003f32673f0a0100020a02000200001003000000030001020304050607563f6fffb52d1c5d921fe904 \
    9a88bbaad6e46f3b843a204dccfd7eadadcc2045676458c4dd2bf761d2dd8a44b190f56b9aa1a37a";
/// Transport mode, SPI 0x2003, extended sequence number 2^32 + 3, AES-CBC with HMAC-SHA-256-128.
pub const CBC_EXTENDED: &str = "4528006c000700003f32672b0a0100020a0200020000200300000003000102030405060708090a0b0c0d0e0fa638de37 \
    880e052bfefd8dfdea8ab15db9ce52119c25d2597c6ef9df9ec47d1ba0282b84f62748ed99ca2e28619fd2ae4c299acd \
    bc47a1e8874b79acd2e1f4e1";

/// Bytes from hexadecimal digits.
pub fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
