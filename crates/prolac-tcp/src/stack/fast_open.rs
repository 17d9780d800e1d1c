//! The keys of fast open cookies, and the cookies as Linux makes them, so that machines which share keys know each other's.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

use super::flow::{Flow, V4};

/// One key, as `TCP_FASTOPEN_KEY` and `net.ipv4.tcp_fastopen_key` have it.
pub type FastOpenKey = [u8; 16];

/// The key that cookies are made with, and one that they were made with before, whose cookies are good still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenKeys {
    /// Of the cookies that are given.
    pub primary: FastOpenKey,
    /// Of those that are accepted, too.
    pub backup: Option<FastOpenKey>,
}

impl FastOpenKeys {
    /// 16 or 32 bytes; `None`: another number.
    pub fn from_bytes(bytes: &[u8]) -> Option<FastOpenKeys> {
        let (primary, rest) = bytes.split_first_chunk()?;
        let backup = match rest.len() {
            0 => None,
            16 => rest.first_chunk().copied(),
            _ => return None,
        };
        Some(FastOpenKeys { primary: *primary, backup })
    }

    /// The same bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        [&self.primary[..], self.backup.as_ref().map_or(&[], |key| &key[..])].concat()
    }

    /// The cookie of a flow's peer by the primary key (0), or by the backup key (1) if there is one.
    pub(crate) fn cookie(&self, flow: &Flow, which: u32) -> u64 {
        let key = if which == 0 { self.primary } else { self.backup.unwrap_or(self.primary) };
        let half = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().expect("eight bytes"));
        let mut hasher = SipHasher24::new_with_keys(half(0), half(8));
        let length = if flow.family == V4 { 4 } else { 16 };
        hasher.write(&flow.remote[..length]);
        hasher.write(&flow.local[..length]);
        hasher.finish().to_le()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_or_two() {
        let bytes: Vec<u8> = (0..32).collect();
        for length in [16, 32] {
            let keys = FastOpenKeys::from_bytes(&bytes[..length]).expect("keys");
            assert_eq!(keys.to_bytes(), bytes[..length]);
        }
        assert!([0, 15, 17, 31].iter().all(|&length| FastOpenKeys::from_bytes(&bytes[..length]).is_none()));
    }
}
