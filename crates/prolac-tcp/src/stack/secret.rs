//! Numbers that others cannot guess: hashes with a secret, and random numbers, which are hashes of a count.
//!
//! SipHash-2-4 is a pseudo-random function of its input for whoever does not know the key (RFC 6528 §3 asks for one).
//! With a seed both are the same in each run.

use std::hash::{BuildHasher, Hasher, RandomState};

use siphasher::sip::SipHasher24;

use super::fast_open::FastOpenKeys;

/// A secret and how many random numbers it has given.
pub(crate) struct Secret {
    key: (u64, u64),
    random_key: (u64, u64),
    count: u64,
}

impl Secret {
    /// A secret that the system's random numbers make.
    pub fn random() -> Secret {
        let word = || RandomState::new().build_hasher().finish();
        Secret { key: (word(), word()), random_key: (word(), word()), count: 0 }
    }

    /// The secret that belongs to a seed.
    pub fn of_seed(seed: u64) -> Secret {
        let word = |which: u64| {
            let mut hasher = SipHasher24::new_with_keys(seed, which);
            hasher.write_u64(!which);
            hasher.finish()
        };
        Secret { key: (word(1), word(2)), random_key: (word(3), word(4)), count: 0 }
    }

    pub fn hash(&self, data: &[u8]) -> u64 {
        SipHasher24::new_with_keys(self.key.0, self.key.1).hash(data)
    }

    /// Keys that nobody has chosen.
    pub fn fast_open_keys(&self) -> FastOpenKeys {
        let halves = [self.hash(b"fast open"), self.hash(b"cookies")].map(u64::to_le_bytes);
        FastOpenKeys { primary: halves.concat().try_into().expect("sixteen bytes"), backup: None }
    }

    pub fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        SipHasher24::new_with_keys(self.random_key.0, self.random_key.1).hash(&self.count.to_ne_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything_and_no_seed_nothing() {
        let draw = |mut secret: Secret| (secret.hash(b"x"), secret.next(), secret.next());
        assert_eq!(draw(Secret::of_seed(1)), draw(Secret::of_seed(1)));
        assert_ne!(draw(Secret::of_seed(1)), draw(Secret::of_seed(2)));
        assert_ne!(draw(Secret::random()), draw(Secret::random()));
        let (_, first, second) = draw(Secret::of_seed(1));
        assert_ne!(first, second);
    }
}
