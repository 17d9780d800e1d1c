//! Random numbers for elements: fast, seedable, not for secrets.

/// The xoshiro256++ generator (Blackman and Vigna 2019).
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    /// The generator for a seed.
    pub fn from_seed(seed: u64) -> Random {
        // Spread the seed with splitmix64, as its authors recommend.
        let mut x = seed;
        Random(std::array::from_fn(|_| {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    /// A generator whose numbers differ from run to run.
    pub fn from_system() -> Random {
        use std::hash::{BuildHasher, Hasher};
        Random::from_seed(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let mut s = [a, b, c ^ a, d ^ b];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= b << 17;
        s[3] = s[3].rotate_left(45);
        self.0 = s;
        result
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
}
