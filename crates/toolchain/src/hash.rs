//! The hash by which what is compiled is named and checked: SHA-256. Nobody can make code that another code's name fits.

use sha2::{Digest, Sha256};

/// A hash in the making.
#[derive(Clone, Debug, Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Adds bytes, and how many they are.
    pub fn and(mut self, bytes: &[u8]) -> Hash {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Of some texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Hash {
        texts.into_iter().fold(Hash::default(), |hash, text| hash.and(text.as_bytes()))
    }

    /// All 32 bytes.
    pub fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// The first 64 bits: they tell versions apart, and are too few for a name.
    pub fn number(self) -> u64 {
        u64::from_be_bytes(*self.bytes().first_chunk().expect("there are 32"))
    }

    /// A name of 32 characters: the first 128 bits.
    pub fn name(self) -> String {
        self.bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart() {
        assert_ne!(Hash::of(["ab", "c"]).number(), Hash::of(["a", "bc"]).number());
        assert_ne!(Hash::of([""]).number(), Hash::of([]).number());
    }

    #[test]
    fn it_is_sha_256() {
        // FIPS 180-4: the hash of no bytes.
        assert_eq!(Hash::default().name(), "e3b0c44298fc1c149afbf4c8996fb924");
    }
}
