//! WepEncap and WepDecap: the encryption of early wireless networks, WEP (IEEE 802.11-1999 §8.2): RC4 with a key of which
//! three bytes are sent along, and a CRC as integrity check.

use super::frame::{WifiHeader, flag, kind, subtype};
use super::params::{DEBUG, debug_handler, line, parameter, set};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, DataKey};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};
use rc4::consts::U256;
use rc4::{Key, KeyInit, Rc4, StreamCipher};

const KEY: ArgSpec =
    ArgSpec::positional("KEY", ArgType::Data, "", "the key, 5 or 13 bytes, at most 16, or file:NAME")
        .secret();
const KEY_NUMBER: ArgSpec = ArgSpec::keyword("KEYID", ArgType::U32, "0", "number of the key, 0 to 3");
const STRICT: ArgSpec = ArgSpec::keyword("STRICT", ArgType::Bool, "false", "of no effect, as in Click");

/// The class facts of WepEncap.
pub static ENCAP: Class = Class {
    help: "encrypts 802.11 frames with WEP",
    manual: "INSECURE: whoever listens for a few minutes knows the key, and frames can be forged without it; for old networks \
             only. If ACTIVE is true, encrypts data and authentication frames with KEY and a random initialisation vector, and \
             marks them as protected. Others pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> WifiEncap(0) -> WepEncap(\\<0102030405>, ACTIVE true) \
              -> WepDecap(\\<0102030405>) -> Discard",
    packets: "any/forget",
    args: &[
        KEY,
        KEY_NUMBER,
        DEBUG,
        STRICT,
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "false", "whether anything is done"),
    ],
    handlers: &[
        debug_handler!(WepEncap),
        parameter!(
            WepEncap,
            "active",
            active,
            "whether anything is done",
            "active parameter must be boolean"
        ),
        read_handler!("key", "the key", |e: &mut WepEncap, _| e.wep.unparse())
            .and_write(write_handler!("", "", |e: &mut WepEncap, text, cx| e.wep.set_key(text, cx)))
            .secret(),
        parameter!(WepEncap, "keyid", wep.number, "number of the key", "keyid parameter must be unsigned"),
    ],
    ..Class::new("WepEncap", "wifi", || Box::<WepEncap>::default())
};

/// The class facts of WepDecap.
pub static DECAP: Class = Class {
    help: "decrypts 802.11 frames with WEP",
    manual: "INSECURE: see WepEncap. Decrypts frames that are marked as protected and name key number KEYID. A frame whose \
             integrity check fails is told about and passes as it was, as do frames with other keys and frames that are not \
             protected.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> WifiEncap(0) -> WepEncap(\\<0102030405>, ACTIVE true) \
              -> WepDecap(\\<0102030405>) -> Discard",
    packets: "any/forget",
    args: &[KEY, ArgSpec::positional("KEYID", ArgType::U32, "0", "number of the key, 0 to 3"), DEBUG, STRICT],
    handlers: &[
        debug_handler!(WepDecap),
        read_handler!("key", "the key", |e: &mut WepDecap, _| e.wep.unparse())
            .and_write(write_handler!("", "", |e: &mut WepDecap, text, cx| e.wep.set_key(text, cx)))
            .secret(),
        parameter!(WepDecap, "keyid", wep.number, "number of the key", "keyid parameter must be unsigned"),
    ],
    ..Class::new("WepDecap", "wifi", || Box::<WepDecap>::default())
};

/// Bytes of the initialisation vector, of it with the number of the key, and of the integrity check.
const VECTOR: usize = 3;
const WEP: usize = VECTOR + 1;
const CHECK: usize = 4;
/// Bytes of the longest key.
const LONGEST_KEY: usize = 16;
/// Where the number of the key stands in the byte behind the vector: the two high bits.
const NUMBER_SHIFT: u32 = 6;

/// A key and its number.
#[derive(Default)]
struct Wep {
    key: Vec<u8>,
    number: u32,
}

impl Wep {
    fn configure(&mut self, args: &mut Args) {
        args.read("KEYID", &mut self.number);
        self.key = args.get::<DataKey>("KEY").map_or_else(Vec::new, |key| key.0);
        args.get::<bool>("STRICT");
        if self.key.len() > LONGEST_KEY {
            args.error_in("KEY", "the key has more than 16 bytes");
        }
    }

    fn unparse(&self) -> String {
        let digits: String = self.key.iter().map(|byte| format!("{byte:02X}")).collect();
        line(format_args!("\\<{digits}>"))
    }

    fn set_key(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let mut read = DataKey(Vec::new());
        set(&mut read, text, cx, "key parameter must be unsigned")?;
        let DataKey(key) = read;
        if key.len() > LONGEST_KEY {
            return Err("the key has more than 16 bytes".into());
        }
        self.key = key;
        Ok(())
    }

    /// The byte behind the vector. A number above 3 is taken as that byte, as it has to be written for Click.
    fn number_byte(&self) -> u8 {
        if self.number > 3 { self.number as u8 } else { (self.number << NUMBER_SHIFT) as u8 }
    }

    /// The cipher. RC4 reads its key over and over until it has 256 bytes, so a key can be written out to that length.
    fn cipher(&self, vector: [u8; VECTOR]) -> Rc4<U256> {
        let seed: Vec<u8> = vector.iter().chain(&self.key).copied().collect();
        let mut key = Key::<U256>::default();
        key.iter_mut().zip(seed.iter().cycle()).for_each(|(to, byte)| *to = *byte);
        Rc4::new(&key)
    }
}

#[derive(Default)]
struct WepEncap {
    wep: Wep,
    debug: bool,
    active: bool,
}

#[derive(Default)]
struct WepDecap {
    wep: Wep,
    debug: bool,
}

/// A vector that is not one of those from which the key can be learned at once (Fluhrer, Mantin and Shamir 2001).
fn vector(random: u32) -> [u8; VECTOR] {
    let [a, b, c, _] = random.to_le_bytes();
    if b == 0xFF && (3..16).contains(&c) { [a, 0, c + 1] } else { [a, b, c] }
}

impl WepEncap {
    fn encrypt(&self, header: usize, p: &mut Packet, cx: &mut Cx<'_>) {
        let vector = vector(cx.random());
        let data = p.push(WEP);
        data.copy_within(WEP..WEP + header, 0);
        data[1] |= flag::PROTECTED;
        let (front, body) = data.split_at_mut(header + WEP);
        front[header..header + VECTOR].copy_from_slice(&vector);
        front[header + VECTOR] = self.wep.number_byte();
        let check = crc32fast::hash(body);
        let data = p.put(CHECK);
        let end = data.len();
        data[end - CHECK..].copy_from_slice(&check.to_le_bytes());
        self.wep.cipher(vector).apply_keystream(&mut data[header + WEP..]);
    }
}

impl WepDecap {
    fn decrypt(&self, header: usize, p: &mut Packet, cx: &Cx<'_>) {
        let body = p.data().get(header..).unwrap_or_default();
        let [a, b, c, number, sealed @ ..] = body else { return };
        let (vector, number) = ([*a, *b, *c], *number);
        if number >> NUMBER_SHIFT != self.wep.number_byte() >> NUMBER_SHIFT || sealed.len() < CHECK {
            return;
        }
        let mut plain = sealed.to_vec();
        self.wep.cipher(vector).apply_keystream(&mut plain);
        let check = plain.split_off(plain.len() - CHECK);
        let (computed, sent) = (crc32fast::hash(&plain).to_le_bytes(), check);
        if computed[..] != sent {
            return self.tell_failure(vector, number, computed, &sent, cx);
        }
        p.data_mut()[1] &= !flag::PROTECTED;
        p.data_mut().copy_within(..header, WEP);
        p.pull(WEP);
        p.take(CHECK);
        p.data_mut()[header..].copy_from_slice(&plain);
    }

    /// Click prints what it computes with: the complements.
    fn tell_failure(
        &self,
        vector: [u8; VECTOR],
        number: u8,
        computed: [u8; CHECK],
        sent: &[u8],
        cx: &Cx<'_>,
    ) {
        let vector = i32::from_le_bytes([vector[0], vector[1], vector[2], number]);
        let number = number >> NUMBER_SHIFT;
        let sent = sent.iter().rev().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        let computed = !u32::from_le_bytes(computed);
        cx.report("crc failed", || {
            format!("crc failed keyid {number} iv {vector} {computed:x} wanted {:x} {sent:x}", !sent)
        });
    }
}

impl SimpleElement for WepEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.wep.configure(args);
        args.read("DEBUG", &mut self.debug).read("ACTIVE", &mut self.active);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(&header) = WifiHeader::of(p) else { return Verdict::PASS };
        let is_meant = match header.kind() {
            kind::DATA => true,
            kind::MANAGEMENT => header.subtype() == subtype::AUTHENTICATION,
            _ => false,
        };
        let length = header.data_header_len();
        if self.active && is_meant && p.len() >= length {
            self.encrypt(length, p, cx);
        }
        Verdict::PASS
    }
}

impl SimpleElement for WepDecap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.wep.configure(args);
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(&header) = WifiHeader::of(p).filter(|header| header.has(flag::PROTECTED)) {
            self.decrypt(header.data_header_len(), p, cx);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    fn through(config: &str, frame: &[u8]) -> (Vec<u8>, String) {
        let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
        t.push("s", 0, [Packet::new(frame)]);
        (t.bytes("k").remove(0), t.printed())
    }

    #[test]
    fn frames_that_others_encrypted_are_read() {
        for (name, key) in [("40", "abcde"), ("104", "abcdefghijklm")] {
            let encrypted = samples::frame(&format!("wep {name}"));
            let (plain, told) = through(&format!("WepDecap({key})"), &encrypted);
            assert_eq!((plain, told.as_str()), (samples::frame("data tods"), ""));
        }
    }

    /// The vector stands behind the whole header, also if it has a fourth address or a quality-of-service field.
    #[test]
    fn longer_headers_stay_readable() {
        for (name, header) in [("data qos", 26), ("data wds", 30)] {
            let frame = samples::frame(name);
            let (sealed, _) = through("WepEncap(abcde, ACTIVE true, KEYID 3)", &frame);
            assert_eq!((&sealed[2..header], sealed[header + 3]), (&frame[2..header], 3 << 6), "{name}");
            assert_eq!(through("WepDecap(abcde, 3)", &sealed).0, frame, "{name}");
        }
        let (plain, _) = through("WepDecap(abcde, 1)", &samples::frame("wep qos"));
        assert_eq!(plain, samples::frame("data qos"));
    }

    #[test]
    fn what_is_encrypted_is_read_with_the_key_alone() {
        let frame = samples::frame("data tods");
        for key in ["a", "abcde", "abcdefghijklmnop", "\"\""] {
            let (sealed, _) = through(&format!("WepEncap({key}, ACTIVE true, KEYID 2)"), &frame);
            assert_eq!((sealed.len(), sealed[1], sealed[27]), (frame.len() + 8, 0x41, 2 << 6));
            assert_ne!(sealed[28..], frame[24..]);
            assert_eq!(through(&format!("WepDecap({key}, KEYID 2)"), &sealed).0, frame);
            assert_eq!(through(&format!("WepDecap({key}, 128)"), &sealed).0, frame);
            assert_eq!(through(&format!("WepDecap({key}, 1)"), &sealed), (sealed.clone(), String::new()));
            let (same, told) = through("WepDecap(other, KEYID 2)", &sealed);
            assert!(same == sealed && told.starts_with("crc failed keyid 2 iv "), "{told}");
        }
    }

    #[test]
    fn only_data_and_authentication_are_encrypted() {
        for (name, grows) in [("beacon", 0), ("authentication request", 8), ("ack", 0), ("data qos", 8)] {
            let frame = samples::frame(name);
            assert_eq!(
                through("WepEncap(abcde, ACTIVE true)", &frame).0.len(),
                frame.len() + grows,
                "{name}"
            );
            assert_eq!(through("WepEncap(abcde)", &frame).0, frame);
        }
    }

    #[test]
    fn frames_cut_short_or_changed_pass_as_they_are() {
        let sealed = samples::frame("wep 40");
        for length in 0..sealed.len() {
            assert_eq!(through("WepDecap(abcde)", &sealed[..length]).0, sealed[..length], "{length}");
        }
        for at in 28..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(through("WepDecap(abcde)", &changed).0, changed);
        }
    }

    #[test]
    fn weak_vectors_are_avoided() {
        assert_eq!(vector(0x0003_FF07), [7, 0, 4]);
        assert_eq!(vector(0xFF10_FF07), [7, 0xFF, 0x10]);
        assert_eq!(vector(0xFF03_FE07), [7, 0xFE, 3]);
    }

    #[test]
    fn keys_are_shown_and_set() {
        let mut t = Harness::new("Idle -> e :: WepEncap(abc) -> d :: WepDecap -> Discard");
        t.write("d.key \\<0a0b>").unwrap();
        t.write("e.keyid 3").unwrap();
        t.write("e.active yes").unwrap();
        let handlers = ["e.key", "d.key", "e.keyid", "e.active"].map(|handler| t.read(handler));
        assert_eq!(handlers, ["\\<616263>\n", "\\<0A0B>\n", "3\n", "true\n"]);
        assert!(t.write("d.key abcdefghijklmnopq").is_err());
        assert!(
            Harness::errors("Idle -> WepEncap(abcdefghijklmnopq) -> Discard")
                .contains("KEY: the key has more than")
        );
    }
}
