//! What protects ESP packets: AES-GCM (RFC 4106), and AES-CBC (RFC 3602) with HMAC-SHA-256-128 (RFC 4868).
//!
//! Not here: headers, padding and sequence numbers. A [`Suite`] works in place on an ESP packet with room for everything:
//! SPI and sequence number (8 bytes), IV, text, integrity check value (ICV). AES keys are wiped when a suite is dropped.

use aes::cipher::{
    BlockCipher, BlockDecryptMut, BlockEncrypt, BlockEncryptMut, BlockSizeUser, InnerIvInit, KeyInit,
    block_padding::NoPadding, consts::U12,
};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// Bytes of the SPI and the sequence number.
pub const HEADER_LEN: usize = 8;
/// Bytes of the integrity check value, of both suites (RFC 4106 §6, RFC 4868 §2.3).
pub const ICV_LEN: usize = 16;
/// Bytes of AES-GCM's salt, which follows the key (RFC 4106 §8.1).
const SALT_LEN: usize = 4;
/// Bytes of the key of HMAC-SHA-256-128 (RFC 4868 §2.6).
const AUTH_KEY_LEN: usize = 32;

/// Runs the same code for AES of any key length.
macro_rules! with_aes {
    ($keyed:expr, $aes:ident => $body:expr) => {
        match $keyed {
            Keyed::Aes128($aes) => $body,
            Keyed::Aes192($aes) => $body,
            Keyed::Aes256($aes) => $body,
        }
    };
}

/// AES, or a mode of it, with a key of 128, 192 or 256 bits.
enum Keyed<A, B, C> {
    Aes128(A),
    Aes192(B),
    Aes256(C),
}

impl<A: KeyInit, B: KeyInit, C: KeyInit> Keyed<A, B, C> {
    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => A::new_from_slice(key).ok().map(Keyed::Aes128),
            24 => B::new_from_slice(key).ok().map(Keyed::Aes192),
            32 => C::new_from_slice(key).ok().map(Keyed::Aes256),
            _ => None,
        }
    }
}

type Gcm = Keyed<Aes128Gcm, AesGcm<Aes192, U12>, Aes256Gcm>;
type Aes = Keyed<Aes128, Aes192, Aes256>;

/// What makes the initialisation vectors of one sender differ. The counter must never have a value twice under one key.
#[derive(Clone, Copy, Debug)]
pub struct Nonce {
    /// A number chosen at random when the sender started.
    pub salt: u64,
    /// Counts packets.
    pub counter: u64,
}

/// A way to protect packets, with its keys.
pub struct Suite {
    mode: Mode,
    identity: [u8; 32],
}

enum Mode {
    Gcm { aes: Box<Gcm>, salt: [u8; SALT_LEN] },
    Cbc { aes: Box<Aes>, auth: Box<Hmac<Sha256>> },
}

impl Suite {
    /// AES-GCM with a 16-byte ICV. `key` ends with the four bytes of salt.
    ///
    /// # Errors
    /// If the key is not 20, 28 or 36 bytes long.
    pub fn gcm(key: &[u8]) -> Result<Suite, String> {
        let parts = key.split_last_chunk::<SALT_LEN>();
        let mode = parts.and_then(|(key, &salt)| Some(Mode::Gcm { aes: Box::new(Gcm::new(key)?), salt }));
        let identity = identity(&[b"gcm", key]);
        mode.map(|mode| Suite { mode, identity }).ok_or_else(|| {
            format!(
                "{} bytes, but AES-GCM needs 20, 28 or 36: a key of 16, 24 or 32 bytes and 4 bytes of salt",
                key.len()
            )
        })
    }

    /// AES-CBC with HMAC-SHA-256-128.
    ///
    /// # Errors
    /// If a key has a wrong length: the first text is about `key`, the second about `auth_key`.
    pub fn cbc(key: &[u8], auth_key: &[u8]) -> Result<Suite, [Option<String>; 2]> {
        let wrong_key = || Some(format!("{} bytes, but AES-CBC needs 16, 24 or 32", key.len()));
        let wrong_auth =
            || Some(format!("{} bytes, but HMAC-SHA-256-128 needs {AUTH_KEY_LEN}", auth_key.len()));
        let aes = Aes::new(key);
        let auth = Some(auth_key).filter(|k| k.len() == AUTH_KEY_LEN);
        let auth = auth.and_then(|k| <Hmac<Sha256> as Mac>::new_from_slice(k).ok());
        match (aes, auth) {
            (Some(aes), Some(auth)) => {
                let mode = Mode::Cbc { aes: Box::new(aes), auth: Box::new(auth) };
                Ok(Suite { mode, identity: identity(&[b"cbc", key, auth_key]) })
            }
            (aes, auth) => Err([
                if aes.is_none() { wrong_key() } else { None },
                if auth.is_none() { wrong_auth() } else { None },
            ]),
        }
    }

    /// A number that stands for mode and keys: suites with the same one read each other's packets.
    pub fn identity(&self) -> [u8; 32] {
        self.identity
    }

    /// Whether two packets with the same counter would betray their content (and, for AES-GCM, the key of the ICV).
    pub fn is_counter_mode(&self) -> bool {
        matches!(self.mode, Mode::Gcm { .. })
    }

    /// Bytes of the IV in each packet.
    pub fn iv_len(&self) -> usize {
        match self.mode {
            Mode::Gcm { .. } => 8,
            Mode::Cbc { .. } => 16,
        }
    }

    /// The length of text must be a multiple of this (RFC 4303 §2.4: at least 4).
    pub fn block_len(&self) -> usize {
        match self.mode {
            Mode::Gcm { .. } => 4,
            Mode::Cbc { .. } => Aes128::block_size(),
        }
    }

    /// Fills in the IV, encrypts the text, and fills in the ICV. `high` is the upper half of the sequence number, if it is
    /// extended. Nothing is done to a packet of impossible length, which the caller must not let come here.
    pub fn seal(&self, esp: &mut [u8], nonce: Nonce, high: Option<u32>) {
        let Some((head, body, icv)) = self.parts(esp) else { return };
        match &self.mode {
            Mode::Gcm { aes, salt } => {
                let (header, iv) = head.split_at_mut(HEADER_LEN);
                iv.copy_from_slice(&nonce.counter.to_be_bytes());
                let (nonce, aad) = (gcm_nonce(salt, iv), associated(header, high));
                let tag =
                    with_aes!(&**aes, a => a.encrypt_in_place_detached((&nonce).into(), aad.bytes(), body));
                icv.copy_from_slice(&tag.expect("a packet is shorter than GCM's limit"));
            }
            Mode::Cbc { aes, auth } => {
                let iv = cbc_iv(aes, nonce);
                head[HEADER_LEN..].copy_from_slice(&iv);
                with_aes!(&**aes, a => cbc_encrypt(a, &iv, body));
                icv.copy_from_slice(&digest(auth, head, body, high).finalize().into_bytes()[..ICV_LEN]);
            }
        }
    }

    /// Checks the ICV, in time that does not depend on what is wrong with it, and decrypts the text. If the packet is
    /// forged the result is false and the text is not to be used.
    pub fn open(&self, esp: &mut [u8], high: Option<u32>) -> bool {
        let Some((head, body, icv)) = self.parts(esp) else { return false };
        match &self.mode {
            Mode::Gcm { aes, salt } => {
                let (header, iv) = head.split_at(HEADER_LEN);
                let (nonce, aad) = (gcm_nonce(salt, iv), associated(header, high));
                let tag = aes_gcm::Tag::from_slice(icv);
                with_aes!(&**aes, a => a.decrypt_in_place_detached((&nonce).into(), aad.bytes(), body, tag))
                    .is_ok()
            }
            Mode::Cbc { aes, auth } => {
                if digest(auth, head, body, high).verify_truncated_left(icv).is_err() {
                    return false;
                }
                with_aes!(&**aes, a => cbc_decrypt(a, &head[HEADER_LEN..], body))
            }
        }
    }

    /// SPI to IV, text, ICV.
    fn parts<'a>(&self, esp: &'a mut [u8]) -> Option<(&'a mut [u8], &'a mut [u8], &'a mut [u8])> {
        let (head, rest) = esp.split_at_mut_checked(HEADER_LEN + self.iv_len())?;
        let (body, icv) = rest.split_at_mut_checked(rest.len().checked_sub(ICV_LEN)?)?;
        (body.len() % self.block_len() == 0).then_some((head, body, icv))
    }
}

/// A digest of the keys, each with its length.
fn identity(parts: &[&[u8]]) -> [u8; 32] {
    let digest = parts.iter().fold(Sha256::new(), |digest, part| {
        digest.chain_update((part.len() as u64).to_be_bytes()).chain_update(part)
    });
    digest.finalize().into()
}

/// GCM's nonce: the salt and the IV of the packet (RFC 4106 §4).
fn gcm_nonce(salt: &[u8; SALT_LEN], iv: &[u8]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..SALT_LEN].copy_from_slice(salt);
    nonce[SALT_LEN..].copy_from_slice(iv);
    nonce
}

/// GCM's additional data: SPI and sequence number, whose upper half comes first if it is extended (RFC 4106 §5).
struct Associated {
    buffer: [u8; 12],
    len: usize,
}

impl Associated {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

fn associated(header: &[u8], high: Option<u32>) -> Associated {
    let mut buffer = [0; 12];
    match high {
        None => buffer[..HEADER_LEN].copy_from_slice(header),
        Some(high) => {
            buffer[..4].copy_from_slice(&header[..4]);
            buffer[4..8].copy_from_slice(&high.to_be_bytes());
            buffer[8..].copy_from_slice(&header[4..]);
        }
    }
    Associated { buffer, len: if high.is_some() { 12 } else { HEADER_LEN } }
}

/// The HMAC of a packet. The upper half of an extended sequence number follows the text (RFC 4303 §2.2.1).
fn digest(auth: &Hmac<Sha256>, head: &[u8], body: &[u8], high: Option<u32>) -> Hmac<Sha256> {
    let digest = auth.clone().chain_update(head).chain_update(body);
    match high {
        Some(high) => digest.chain_update(high.to_be_bytes()),
        None => digest,
    }
}

/// An IV that nobody without the key can tell in advance: an encrypted nonce (RFC 3602 §3; NIST SP 800-38A, appendix C).
fn cbc_iv(aes: &Aes, nonce: Nonce) -> [u8; 16] {
    let mut iv = [0; 16];
    iv[..8].copy_from_slice(&nonce.salt.to_be_bytes());
    iv[8..].copy_from_slice(&nonce.counter.to_be_bytes());
    with_aes!(aes, a => a.encrypt_block((&mut iv).into()));
    iv
}

fn cbc_encrypt<A: BlockCipher + BlockEncryptMut + Clone>(aes: &A, iv: &[u8; 16], body: &mut [u8]) {
    if let Ok(mode) = cbc::Encryptor::<A>::inner_iv_slice_init(aes.clone(), iv) {
        let len = body.len();
        let done = mode.encrypt_padded_mut::<NoPadding>(body, len).is_ok();
        debug_assert!(done, "the text has whole blocks");
    }
}

fn cbc_decrypt<A: BlockCipher + BlockDecryptMut + Clone>(aes: &A, iv: &[u8], body: &mut [u8]) -> bool {
    let mode = cbc::Decryptor::<A>::inner_iv_slice_init(aes.clone(), iv);
    mode.is_ok_and(|mode| mode.decrypt_padded_mut::<NoPadding>(body).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::samples::*;
    use super::*;

    fn cbc(key: &str, auth: &str) -> Suite {
        Suite::cbc(&bytes(key), &bytes(auth)).unwrap_or_else(|e| panic!("{e:?}"))
    }

    fn gcm(key: &str) -> Suite {
        Suite::gcm(&bytes(key)).unwrap_or_else(|e| panic!("{e}"))
    }

    /// RFC 3602 §4, case 5: a ping; the RFC has no ICV, so it is added here.
    #[test]
    fn the_ping_of_rfc_3602_is_read() {
        let mut esp = bytes(
            "00004321 00000001 e96e8c08ab465763fd098d45dd3ff893 \
             f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4898dc856 \
             a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874a \
             a269add047ad2d5913ac19b7cfbad4a6",
        );
        let suite = cbc("90d382b410eeba7ad938c46cec1a82bf", AUTH_KEY);
        let auth = <Hmac<Sha256> as Mac>::new_from_slice(&bytes(AUTH_KEY)).unwrap();
        let icv = auth.chain_update(&esp).finalize().into_bytes();
        esp.extend(&icv[..ICV_LEN]);
        assert!(suite.open(&mut esp, None));
        let echo = "08000ebda70a00008e9c083db95b0700".to_string()
            + &(8..0x38).map(|n| format!("{n:02x}")).collect::<String>();
        assert_eq!(esp[24..24 + 64], bytes(&echo));
        assert_eq!(esp[24 + 64..24 + 80], bytes("0102030405060708090a0b0c0d0e0e01"));
    }

    /// RFC 4868 §2.7.2.1, case AUTH256-1: the ICV alone.
    #[test]
    fn the_icv_is_that_of_rfc_4868() {
        let auth = <Hmac<Sha256> as Mac>::new_from_slice(&[0x0b; 32]).unwrap();
        let icv = digest(&auth, b"Hi ", b"There", None).finalize().into_bytes();
        assert_eq!(icv[..], bytes("198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7"));
    }

    #[test]
    fn packets_of_another_implementation_are_made_and_read() {
        let cases = [
            (gcm(GCM_KEY), GCM_TUNNEL, None),
            (gcm(GCM_256_KEY), GCM_TRANSPORT, None),
            (gcm(GCM_KEY), GCM_EXTENDED, Some(1)),
            (cbc(CBC_KEY, AUTH_KEY), CBC_TUNNEL, None),
            (cbc(CBC_KEY, AUTH_KEY), CBC_TRANSPORT, None),
            (cbc(CBC_KEY, AUTH_KEY), CBC_EXTENDED, Some(1)),
        ];
        for (suite, packet, high) in cases {
            let esp = &bytes(packet)[20..];
            let mut opened = esp.to_vec();
            assert!(suite.open(&mut opened, high), "{packet}");
            let inner = &bytes(INNER)[if packet.contains("c6336401") { 0 } else { 20 }..];
            assert_eq!(opened[HEADER_LEN + suite.iv_len()..][..inner.len()], *inner, "{packet}");
            // Sealed again with the same IV it is the same packet. The IV of AES-CBC cannot be chosen.
            if suite.is_counter_mode() {
                let counter = u64::from_be_bytes(esp[8..16].try_into().unwrap());
                suite.seal(&mut opened, Nonce { salt: 9, counter }, high);
                assert_eq!(opened, esp);
            }
            for other in [None, Some(0), Some(2)] {
                assert!(other == high || !suite.open(&mut esp.to_vec(), other), "{packet}");
            }
        }
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_noticed() {
        for suite in [gcm(GCM_KEY), cbc(CBC_KEY, AUTH_KEY)] {
            let mut sealed = vec![7; HEADER_LEN + suite.iv_len() + 32 + ICV_LEN];
            suite.seal(&mut sealed, Nonce { salt: 1, counter: 2 }, None);
            for bit in 0..sealed.len() * 8 {
                let mut forged = sealed.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                assert!(!suite.open(&mut forged, None), "bit {bit}");
            }
            for len in 0..sealed.len() {
                assert!(!suite.open(&mut sealed[..len].to_vec(), None), "{len} bytes");
            }
            assert!(suite.open(&mut sealed, None));
        }
    }

    #[test]
    fn keys_of_wrong_length_are_refused() {
        for len in 0..40 {
            assert_eq!(Suite::gcm(&vec![0; len]).is_ok(), [20, 28, 36].contains(&len), "{len}");
            assert_eq!(Suite::cbc(&vec![0; len], &[0; 32]).is_ok(), [16, 24, 32].contains(&len), "{len}");
            assert_eq!(Suite::cbc(&[0; 16], &vec![0; len]).is_ok(), len == 32, "{len}");
        }
    }
}
