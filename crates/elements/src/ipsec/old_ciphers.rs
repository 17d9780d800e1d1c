//! IPsecAES and IPsecDES: encryption as Click's old elements do it.

use super::esp_encap::ESP_LEN;
use super::sa::{self, Association};
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict};

const ARGS: &[ArgSpec] = &[ArgSpec::required("ENCRYPT", ArgType::I32, "1 encrypts, 0 decrypts")];

const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { args: ARGS, example: super::OLD_EXAMPLE, ..Class::new(name, "ipsec", make) }
}

/// The class facts of IPsecAES.
pub static AES: Class = Class {
    help: "encrypts or decrypts ESP packets with AES, as Click did",
    manual: "INSECURE; for old configurations. Use IPsecESPEncrypt and IPsecESPDecrypt.\n\n\
             Encrypts what follows the 16-byte ESP header of IPsecESPEncap with AES and the 16-byte ENCRYPT_KEY of the \
             association that RadixIPsecLookup noted; or decrypts it, with ENCRYPT 0. The last 12 bytes are left out, for the \
             digest of IPsecAuthHMACSHA1, unless the rest is not a multiple of 16: then their first 8 bytes are included. \
             Blocks are chained by their first 8 bytes only, so the second half of each block is encrypted alone: equal \
             texts can be told. This is what Click did, and no other system understands it.",
    ..class("IPsecAES", || Box::new(Old { cipher: Cipher::Aes, encrypt: false }))
};

/// The class facts of IPsecDES.
pub static DES: Class = Class {
    help: "encrypts or decrypts ESP packets with DES-CBC, as Click did",
    manual: "INSECURE: DES keys are found by trial in hours. For old configurations; use IPsecESPEncrypt and \
             IPsecESPDecrypt.\n\n\
             Encrypts what follows the 16-byte ESP header of IPsecESPEncap with DES-CBC (RFC 2405) and the first 8 bytes of \
             the ENCRYPT_KEY of the association that RadixIPsecLookup noted; or decrypts it, with ENCRYPT 0. The last 12 \
             bytes are left out, for the digest of IPsecAuthHMACSHA1.",
    example: super::DES_EXAMPLE,
    ..class("IPsecDES", || Box::new(Old { cipher: Cipher::Des, encrypt: false }))
};

/// Bytes at the end that are left for the digest.
const DIGEST: usize = 12;
/// How much of each block is chained to the next, also with AES.
const CHAINED: usize = 8;

#[derive(Clone, Copy)]
enum Cipher {
    Aes,
    Des,
}

struct Old {
    cipher: Cipher,
    encrypt: bool,
}

impl Cipher {
    fn name(self) -> &'static str {
        match self {
            Cipher::Aes => "AES",
            Cipher::Des => "DES",
        }
    }

    /// How many of the bytes behind the header are encrypted; nothing if the packet cannot be one of ours.
    fn covered(self, behind_header: usize) -> Option<usize> {
        let len = behind_header.checked_sub(DIGEST)?;
        let covered = match self {
            Cipher::Aes if len % 16 != 0 => len + CHAINED,
            _ => len,
        };
        (covered % self.block_len() == 0).then_some(covered)
    }

    fn block_len(self) -> usize {
        match self {
            Cipher::Aes => 16,
            Cipher::Des => 8,
        }
    }

    /// Works on the text in place, block by block.
    fn run(self, encrypt: bool, association: &Association, iv: &[u8; CHAINED], text: &mut [u8]) {
        let key = &association.encryption_key;
        match self {
            Cipher::Aes => {
                let aes = aes::Aes128::new(key.into());
                chain(encrypt, iv, text.chunks_exact_mut(16), |b| match encrypt {
                    true => aes.encrypt_block(GenericArray::from_mut_slice(b)),
                    false => aes.decrypt_block(GenericArray::from_mut_slice(b)),
                });
            }
            Cipher::Des => {
                let des = des::Des::new(GenericArray::from_slice(&key[..8]));
                chain(encrypt, iv, text.chunks_exact_mut(8), |b| match encrypt {
                    true => des.encrypt_block(GenericArray::from_mut_slice(b)),
                    false => des.decrypt_block(GenericArray::from_mut_slice(b)),
                });
            }
        }
    }
}

/// Chains blocks by their first eight bytes.
fn chain<'a>(
    encrypt: bool,
    iv: &[u8; CHAINED],
    blocks: impl Iterator<Item = &'a mut [u8]>,
    cipher: impl Fn(&mut [u8]),
) {
    let mut before = *iv;
    let xor = |block: &mut [u8], with: &[u8; CHAINED]| block.iter_mut().zip(with).for_each(|(b, w)| *b ^= w);
    for block in blocks {
        if encrypt {
            xor(block, &before);
            cipher(block);
            before.copy_from_slice(&block[..CHAINED]);
        } else {
            let mut this = [0; CHAINED];
            this.copy_from_slice(&block[..CHAINED]);
            cipher(block);
            xor(block, &before);
            before = this;
        }
    }
}

impl SimpleElement for Old {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        // Click takes every number but 0 for 1.
        self.encrypt = args.get("ENCRYPT").unwrap_or(0i32) != 0;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(association) = sa::of_packet(p, cx) else {
            let name = self.cipher.name();
            cx.report(super::NO_ASSOCIATION, || format!("{name}: No SADataTuple annotation. Check man page"));
            return Verdict::Drop(super::NO_ASSOCIATION);
        };
        let covered = p.len().checked_sub(ESP_LEN).and_then(|len| self.cipher.covered(len));
        let Some(covered) = covered else { return Verdict::Drop("wrong length") };
        let (header, text) = p.data_mut().split_at_mut(ESP_LEN);
        let mut iv = [0; CHAINED];
        iv.copy_from_slice(&header[8..]);
        self.cipher.run(self.encrypt, &association, &iv, &mut text[..covered]);
        Verdict::PASS
    }
}
