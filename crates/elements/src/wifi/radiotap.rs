//! RadiotapEncap and RadiotapDecap: the header that drivers put in front of frames to tell how they were received, and take
//! to know how to send (radiotap.org; `DLT_IEEE802_11_RADIO` of captures). All numbers are little-endian.

use super::extra::{Extra, MAGIC, MAX_RETRIES, flag};
use super::params::{DEBUG, debug_handler};
use clickwork_packet::Packet;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts of RadiotapEncap.
pub static ENCAP: Class = Class {
    help: "puts radiotap headers in front of frames",
    manual: "Adds a radiotap header of 14 bytes that tells the driver rate, power, whether to wait for an acknowledgement, \
             and the number of retries, from the annotation WIFI_EXTRA.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> RadiotapEncap -> RadiotapDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Radiotap)],
    ..Class::new("RadiotapEncap", "wifi", || Box::new(Radiotap { encap: true, debug: false }))
};

/// The class facts of RadiotapDecap.
pub static DECAP: Class = Class {
    help: "takes radiotap headers off frames",
    manual: "Removes a radiotap header, and the frame's checksum if the header says that there is one. Rate, signal, noise, \
             retries, and whether the frame was received wrong or was sent and with what success go into the annotation \
             WIFI_EXTRA. Packets without a valid header pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> RadiotapEncap -> RadiotapDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Radiotap)],
    ..Class::new("RadiotapDecap", "wifi", || Box::new(Radiotap { encap: false, debug: false }))
};

/// Fields, by the bit that says they are there.
mod field {
    pub const FLAGS: usize = 1;
    pub const RATE: usize = 2;
    pub const SIGNAL_DBM: usize = 5;
    pub const NOISE_DBM: usize = 6;
    pub const POWER: usize = 10;
    pub const SIGNAL: usize = 12;
    pub const NOISE: usize = 13;
    pub const RX_FLAGS: usize = 14;
    pub const TX_FLAGS: usize = 15;
    pub const RETRIES: usize = 17;
    /// Another word of such bits follows.
    pub const EXTENDED: usize = 31;
}

/// Size and alignment of each field that is known. Behind an unknown one nothing can be found.
const FIELDS: [(usize, usize); 18] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (4, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
];

/// Bits of the field FLAGS.
const HAS_CHECKSUM: u8 = 0x10;
const IS_PADDED: u8 = 0x20;
const BAD_CHECKSUM: u8 = 0x40;
/// Bits of RX_FLAGS and TX_FLAGS.
const RX_BAD_CHECKSUM: u8 = 1;
const TX_FAIL: u8 = 1;
const TX_NO_ACK: u8 = 8;

/// Bytes of a frame's checksum.
const CHECKSUM: usize = 4;

struct Radiotap {
    encap: bool,
    debug: bool,
}

/// A header that was found valid.
struct Header<'a> {
    bytes: &'a [u8],
    places: [Option<usize>; FIELDS.len()],
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> Header<'a> {
    fn find(data: &'a [u8]) -> Option<Header<'a>> {
        let [0, _, low, high, ..] = *data else { return None };
        let bytes = data.get(..usize::from(u16::from_le_bytes([low, high])))?;
        let present = word(bytes, 4)?;
        let mut at = 4;
        while word(bytes, at)? >> field::EXTENDED != 0 {
            at += 4;
        }
        at += 4;
        let mut places = [None; FIELDS.len()];
        for (bit, (size, alignment)) in FIELDS.into_iter().enumerate() {
            if present >> bit & 1 != 0 {
                at = at.next_multiple_of(alignment);
                places[bit] = Some(at);
                at += size;
            }
        }
        (at <= bytes.len()).then_some(Header { bytes, places })
    }

    /// The first byte of a field.
    fn get(&self, field: usize) -> Option<u8> {
        self.places[field].map(|at| self.bytes[at])
    }

    fn extra(&self) -> Extra {
        let value = |field| self.get(field).unwrap_or(0);
        let strongest = |db, dbm| self.get(db).or(self.get(dbm)).unwrap_or(0);
        let mut extra = Extra { magic: MAGIC.into(), ..Extra::ZERO };
        extra.pad = u8::from(value(field::FLAGS) & IS_PADDED != 0);
        extra.rate[0] = value(field::RATE);
        extra.rssi = strongest(field::SIGNAL, field::SIGNAL_DBM);
        extra.silence = strongest(field::NOISE, field::NOISE_DBM);
        extra.retries = value(field::RETRIES);
        let wrong = value(field::RX_FLAGS) & RX_BAD_CHECKSUM != 0 || value(field::FLAGS) & BAD_CHECKSUM != 0;
        extra.set(flag::RX_ERR, wrong);
        extra.set(flag::TX, self.get(field::TX_FLAGS).is_some());
        extra.set(flag::TX_FAIL, value(field::TX_FLAGS) & TX_FAIL != 0);
        extra
    }
}

fn decapsulate(p: &mut Packet) {
    let Some(header) = Header::find(p.data()) else { return };
    let (extra, length) = (header.extra(), header.bytes.len());
    let has_checksum = header.get(field::FLAGS).is_some_and(|flags| flags & HAS_CHECKSUM != 0);
    p.pull(length);
    if has_checksum {
        p.take(CHECKSUM);
    }
    extra.annotate(p);
    p.set_mac_offset(0);
}

fn encapsulate(p: &mut Packet) {
    const FIELDS: u32 = 1 << field::RATE | 1 << field::POWER | 1 << field::TX_FLAGS | 1 << field::RETRIES;
    const LENGTH: u8 = 14;
    let extra = Extra::of(p);
    let tx_flags = if extra.has(flag::TX_NOACK) { TX_NO_ACK } else { 0 };
    let retries = match extra.tries[0] {
        0 => MAX_RETRIES + 1,
        tries => tries - 1,
    };
    let [a, b, c, d] = FIELDS.to_le_bytes();
    // The last byte makes the length even, as in Click, which has the retries there and a byte of zeros before them.
    let header = [0, 0, LENGTH, 0, a, b, c, d, extra.rate[0], extra.power, tx_flags, 0, retries, 0];
    p.push(header.len())[..header.len()].copy_from_slice(&header);
}

impl SimpleElement for Radiotap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.encap {
            encapsulate(p)
        } else {
            decapsulate(p)
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    fn decapsulated(frame: &[u8]) -> Packet {
        let mut t = Harness::new("s :: Source -> RadiotapDecap -> k :: Sink");
        t.push("s", 0, [Packet::new(frame)]);
        t.take("k").remove(0)
    }

    #[test]
    fn headers_become_annotations() {
        let p = decapsulated(&samples::frame("radiotap"));
        let extra = Extra::of(&p);
        assert_eq!(p.data(), samples::frame("data tods"));
        assert_eq!((extra.rate[0], extra.rssi as i8, extra.silence as i8), (11, -40, -90));
        assert_eq!((extra.is_valid(), extra.flags.get()), (true, 0));
        let p = decapsulated(&samples::frame("radiotap fcs"));
        assert_eq!(p.data(), samples::frame("data tods"));
        assert_eq!((Extra::of(&p).rate[0], Extra::of(&p).flags.get()), (2, flag::TX));
    }

    #[test]
    fn wrong_headers_stay() {
        let frame = samples::frame("radiotap");
        for length in 0..25 {
            assert_eq!(decapsulated(&frame[..length]).len(), length);
        }
        for (at, value) in [(0, 1), (2, 7), (2, 24), (3, 1)] {
            let mut wrong = frame.clone();
            wrong[at] = value;
            assert_eq!(decapsulated(&wrong).data(), wrong, "{at} {value}");
        }
        for byte in 0..=255u8 {
            decapsulated(&[0, 0, 8, 0, byte, byte, byte, byte]);
            decapsulated(&[&[0, 0, 40, 0, byte, byte, byte, byte][..], &[0xFF; 40]].concat());
        }
    }

    #[test]
    fn errors_and_failures_are_seen() {
        let header = |present: u32, values: &[u8]| {
            let length = (8 + values.len()) as u8;
            [&[0, 0, length, 0][..], &present.to_le_bytes(), values, b"frame"].concat()
        };
        for (present, values, flags) in [
            (1 << 14, &[1, 0][..], flag::RX_ERR),
            (1 << 1, &[0x40], flag::RX_ERR),
            (1 << 15, &[1, 0], flag::TX | flag::TX_FAIL),
            (1 << 15 | 1 << 17, &[0, 0, 7], flag::TX),
        ] {
            let p = decapsulated(&header(present, values));
            assert_eq!((p.data(), Extra::of(&p).flags.get()), (&b"frame"[..], flags));
        }
        // Two words of bits, the second of a vendor, then the rate.
        let extended = [&[0, 0, 13, 0, 4, 0, 0, 0x80, 0, 0, 0, 0, 22][..], b"frame"].concat();
        let p = decapsulated(&extended);
        assert_eq!((p.data(), Extra::of(&p).rate[0]), (&b"frame"[..], 22));
        let p = decapsulated(&header(1 << 1, &[0x30]));
        assert_eq!((p.data(), Extra::of(&p).pad), (&b"f"[..], 1));
    }

    #[test]
    fn annotations_become_headers() {
        let mut t = Harness::new("s :: Source -> SetTXRate(22, TRIES 5) -> SetTXPower(40) -> SetNoAck -> RadiotapEncap -> k :: Sink;
                                  n :: Source -> RadiotapEncap -> j :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        let present = 0x0002_8404u32.to_le_bytes();
        let expected = [&[0, 0, 14, 0][..], &present, &[22, 40, 8, 0, 4, 0], b"x"].concat();
        assert_eq!(t.bytes("k"), std::slice::from_ref(&expected));
        t.push("n", 0, [Packet::new(b"x")]);
        assert_eq!(t.bytes("j")[0][8..14], [0, 0, 0, 0, 12, 0]);
        let back = decapsulated(&expected);
        assert_eq!((back.data(), Extra::of(&back).rate[0], Extra::of(&back).retries), (&b"x"[..], 22, 4));
    }
}
