//! A hash by which things in the cache are named: FNV-1a of 128 bits. It tells versions apart; it is no protection against
//! who wants two things to look alike, and need not be one in the user's own cache. The build script uses this file too.

/// A hash in the making.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u128);

impl Hash {
    /// Of nothing.
    pub fn new() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds bytes, and how many they are.
    pub fn add(mut self, bytes: &[u8]) -> Hash {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
        self
    }

    /// As a name of 16 characters.
    pub fn name(self) -> String {
        format!("{:016x}", (self.0 >> 64) as u64 ^ self.0 as u64)
    }
}
