//! A hash by which things in the cache are named: FNV-1a of 128 bits. It tells versions apart; it is no protection against
//! who wants two things to look alike, and need not be one in the user's own cache.

/// A hash in the making.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u128);

impl Default for Hash {
    /// Of nothing.
    fn default() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hash {
    /// Adds bytes, and how many they are.
    pub fn and(mut self, bytes: &[u8]) -> Hash {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
        self
    }

    /// Of some texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Hash {
        texts.into_iter().fold(Hash::default(), |hash, text| hash.and(text.as_bytes()))
    }

    /// As a number.
    pub fn number(self) -> u64 {
        (self.0 >> 64) as u64 ^ self.0 as u64
    }

    /// As a name of 16 characters.
    pub fn name(self) -> String {
        format!("{:016x}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart() {
        assert_ne!(Hash::of(["ab", "c"]).number(), Hash::of(["a", "bc"]).number());
        assert_ne!(Hash::of([""]).number(), Hash::of([]).number());
        assert_eq!(Hash::default().name().len(), 16);
    }
}
