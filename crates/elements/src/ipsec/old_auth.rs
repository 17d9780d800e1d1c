//! IPsecAuthHMACSHA1 and IPsecAuthSHA1: digests as Click's old elements add and verify them.

use super::sa;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Handler, SimpleElement, Verdict, read_handler};
use hmac::{Hmac, Mac};
use sha1::{Digest, Sha1};

const ARGS: &[ArgSpec] =
    &[ArgSpec::required("VERIFY", ArgType::I32, "0 adds the digest, 1 verifies and removes it")];

const HANDLERS: &[Handler] =
    &[read_handler!("drops", "packets with a wrong digest", |e: &mut Auth, _| e.drops)];

const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "1/-", args: ARGS, handlers: HANDLERS, ..Class::new(name, "ipsec", make) }
}

/// The class facts of IPsecAuthHMACSHA1.
pub static HMAC_SHA1: Class = Class {
    help: "adds or verifies an HMAC-SHA-1-96 digest, as Click did",
    manual: "INSECURE as Click combined it, a digest of what is not yet encrypted; for old configurations. Use \
             IPsecESPEncrypt and IPsecESPDecrypt.\n\n\
             With VERIFY 0, adds the first 12 bytes of the packet's HMAC-SHA-1 (RFC 2404) to its end; the key is the 16-byte \
             AUTH_KEY of the association that RadixIPsecLookup noted. With VERIFY 1, removes the digest; packets with a \
             wrong one leave by output 1 if it is connected, and are dropped otherwise.",
    example: super::OLD_EXAMPLE,
    ..class("IPsecAuthHMACSHA1", || Box::new(Auth { keyed: true, verify: false, drops: 0 }))
};

/// The class facts of IPsecAuthSHA1.
pub static SHA1: Class = Class {
    help: "adds or verifies a SHA-1 digest, as Click did",
    manual: "INSECURE: there is no key, so everyone can make the digest. It tells damage, not forgery. For old \
             configurations; use IPsecESPEncrypt and IPsecESPDecrypt.\n\n\
             With VERIFY 0, adds the first 12 bytes of the packet's SHA-1 digest to its end. With VERIFY 1, removes the \
             digest; packets with a wrong one leave by output 1 if it is connected, and are dropped otherwise.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> IPsecAuthSHA1(0) -> IPsecAuthSHA1(1) -> Discard",
    ..class("IPsecAuthSHA1", || Box::new(Auth { keyed: false, verify: false, drops: 0 }))
};

/// How much of the digest is in the packet (RFC 2404 §2).
const LEN: usize = 12;

struct Auth {
    keyed: bool,
    verify: bool,
    drops: u64,
}

/// A digest in the making.
enum Sum {
    Plain(Sha1),
    Keyed(Box<Hmac<Sha1>>),
}

impl Sum {
    fn of(self, data: &[u8]) -> [u8; 20] {
        match self {
            Sum::Plain(sum) => sum.chain_update(data).finalize().into(),
            Sum::Keyed(sum) => sum.chain_update(data).finalize().into_bytes().into(),
        }
    }

    /// Whether `digest` is that of `data`. With a key the time does not depend on where they differ.
    fn verifies(self, data: &[u8], digest: &[u8]) -> bool {
        match self {
            Sum::Keyed(sum) => sum.chain_update(data).verify_truncated_left(digest).is_ok(),
            plain @ Sum::Plain(_) => plain.of(data)[..LEN] == *digest,
        }
    }
}

impl Auth {
    fn sum(&self, p: &Packet, cx: &Cx<'_>) -> Option<Sum> {
        if !self.keyed {
            return Some(Sum::Plain(Sha1::new()));
        }
        let association = sa::of_packet(p, cx)?;
        let keyed = <Hmac<Sha1> as Mac>::new_from_slice(&association.authentication_key).ok()?;
        Some(Sum::Keyed(Box::new(keyed)))
    }

    fn wrong(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if self.drops == 0 {
            cx.chatter("Invalid SHA1 authentication digest");
        }
        self.drops += 1;
        cx.out_or_drop(1, "wrong digest")
    }
}

impl SimpleElement for Auth {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.verify = args.get("VERIFY").unwrap_or(0i32) != 0;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(sum) = self.sum(p, cx) else { return Verdict::Drop(super::NO_ASSOCIATION) };
        if !self.verify {
            let digest = sum.of(p.data());
            let len = p.len();
            p.put(LEN)[len..].copy_from_slice(&digest[..LEN]);
            return Verdict::PASS;
        }
        match p.data().split_last_chunk::<LEN>() {
            Some((data, digest)) if sum.verifies(data, digest) => {
                p.take(LEN);
                Verdict::PASS
            }
            _ => self.wrong(cx),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Auth>(old) {
            self.drops = old.drops;
        }
    }
}
