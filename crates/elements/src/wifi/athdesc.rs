//! AthdescEncap and AthdescDecap: the descriptor of 32 bytes that MadWifi, a driver for Atheros AR5212 cards, puts in
//! front of frames: two pointers, then words of bit fields in the machine's order.

use super::extra::{Extra, MAGIC, flag};
use super::params::{DEBUG, debug_handler};
use clickwork_packet::Packet;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts of AthdescEncap.
pub static ENCAP: Class = Class {
    help: "puts Atheros descriptors in front of frames",
    manual: "Adds a descriptor with power, the four rates and how often to try each from the annotation WIFI_EXTRA, for a \
             driver to send the frame.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> AthdescEncap -> AthdescDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Athdesc)],
    ..Class::new("AthdescEncap", "wifi", || Box::new(Athdesc { encap: true, debug: false }))
};

/// The class facts of AthdescDecap.
pub static DECAP: Class = Class {
    help: "takes Atheros descriptors off frames",
    manual: "Removes the 32 bytes of a descriptor in front of each packet; what it says about a frame that was received, or \
             was sent, goes into the annotation WIFI_EXTRA. Packets that are shorter are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> AthdescEncap -> AthdescDecap -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(Athdesc)],
    ..Class::new("AthdescDecap", "wifi", || Box::new(Athdesc { encap: false, debug: false }))
};

/// Bytes of a descriptor.
const SIZE: usize = 32;

/// A field: the place of its word, its first bit, its bits.
struct Field(usize, u32, u32);

const FRAME_LENGTH: Field = Field(8, 0, 12);
const POWER: Field = Field(8, 16, 6);
/// How often to try each of four rates, and the rates.
const TRIES: [Field; 4] = [Field(16, 16, 4), Field(16, 20, 4), Field(16, 24, 4), Field(16, 28, 4)];
const RATES: [Field; 4] = [Field(20, 0, 5), Field(20, 5, 5), Field(20, 10, 5), Field(20, 15, 5)];
const GAVE_UP: Field = Field(24, 1, 1);
const FAILURES: Field = Field(24, 8, 4);
const ACK_STRENGTH: Field = Field(28, 13, 8);
const RX_RATE: Field = Field(16, 15, 5);
const RX_STRENGTH: Field = Field(16, 20, 8);
/// In the second word of the status: the first is full.
const RX_OK: Field = Field(20, 1, 1);

/// Rates in units of 500 kbit/s, and the codes of the hardware for them; of several codes the last is the one to send
/// with.
const CODES: [(u8, u8); 15] = [
    (12, 0x0B),
    (18, 0x0F),
    (24, 0x0A),
    (36, 0x0E),
    (48, 0x09),
    (72, 0x0D),
    (96, 0x08),
    (108, 0x0C),
    (2, 0x1B),
    (4, 0x1A),
    (4, 0x1E),
    (11, 0x19),
    (11, 0x1D),
    (22, 0x18),
    (22, 0x1C),
];

fn rate_of(code: u8) -> u8 {
    CODES.iter().find(|(_, known)| *known == code).map_or(0, |(rate, _)| *rate)
}

fn code_of(rate: u8) -> u8 {
    CODES.iter().rfind(|(known, _)| *known == rate).map_or(0, |(_, code)| *code)
}

fn word(data: &[u8], at: usize) -> u32 {
    data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

impl Field {
    fn mask(&self) -> u32 {
        (1 << self.2) - 1
    }

    fn get(&self, data: &[u8]) -> u8 {
        (word(data, self.0) >> self.1 & self.mask()) as u8
    }

    fn put(&self, data: &mut [u8], value: u8) {
        let value = word(data, self.0) | (u32::from(value) & self.mask()) << self.1;
        data[self.0..self.0 + 4].copy_from_slice(&value.to_ne_bytes());
    }
}

fn extra(data: &[u8]) -> Extra {
    let mut extra = Extra { magic: MAGIC.into(), ..Extra::ZERO };
    if word(data, FRAME_LENGTH.0) & FRAME_LENGTH.mask() == 0 {
        (extra.rate[0], extra.rssi) = (rate_of(RX_RATE.get(data)), RX_STRENGTH.get(data));
        extra.set(flag::RX_ERR, RX_OK.get(data) == 0);
    } else {
        extra.set(flag::TX, true);
        (extra.power, extra.rssi) = (POWER.get(data), ACK_STRENGTH.get(data));
        (extra.rate[0], extra.retries) = (rate_of(RATES[0].get(data)), FAILURES.get(data));
        extra.set(flag::TX_FAIL, GAVE_UP.get(data) != 0);
    }
    extra
}

struct Athdesc {
    encap: bool,
    debug: bool,
}

impl SimpleElement for Athdesc {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.encap {
            let extra = Extra::of(p);
            let data = p.push(SIZE);
            data[..SIZE].fill(0);
            POWER.put(data, extra.power);
            for step in 0..4 {
                RATES[step].put(data, code_of(extra.rate[step]));
                TRIES[step].put(data, extra.tries[step]);
            }
        } else if p.len() >= SIZE {
            extra(p.data()).annotate(p);
            p.pull(SIZE);
        } else {
            return Verdict::Drop("packet too small");
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    fn decapsulated(words: [u32; 6]) -> Extra {
        let mut t = Harness::new("s :: Source -> AthdescDecap -> k :: Sink");
        let bytes: Vec<u8> = [0; 8].into_iter().chain(words.into_iter().flat_map(u32::to_ne_bytes)).collect();
        t.push("s", 0, [Packet::new(&[&bytes[..], b"frame"].concat())]);
        let out = t.take("k").remove(0);
        assert_eq!(out.data(), b"frame");
        Extra::of(&out)
    }

    #[test]
    fn frames_received_and_sent_are_told_apart() {
        let received = decapsulated([0, 0, 0x1C << 15 | 55 << 20, 1 << 1, 0, 0]);
        assert_eq!((received.rate[0], received.rssi, received.flags.get()), (22, 55, 0));
        assert_eq!(decapsulated([0; 6]).flags, flag::RX_ERR);
        let sent = decapsulated([100 | 33 << 16, 0, 0, 0x0C, 1 << 1 | 5 << 8, 44 << 13]);
        assert_eq!((sent.rate[0], sent.rssi, sent.power, sent.retries), (108, 44, 33, 5));
        assert_eq!(sent.tries, [0; 4]);
        assert_eq!(sent.flags, flag::TX | flag::TX_FAIL);
    }

    #[test]
    fn rates_power_and_tries_are_given_to_the_driver() {
        for rate in [12u8, 18, 24, 36, 48, 72, 96, 108, 2, 4, 11, 22] {
            let mut t = Harness::new(&format!(
                "s :: Source -> SetTXRate({rate}, TRIES 4) -> SetTXPower(20) -> AthdescEncap -> k :: Sink"
            ));
            t.push("s", 0, [Packet::new(b"x")]);
            let out = t.bytes("k").remove(0);
            assert_eq!(
                (out.len(), rate_of(RATES[0].get(&out)), POWER.get(&out), TRIES[0].get(&out)),
                (33, rate, 20, 4)
            );
        }
    }

    /// Control words 2 and 3 of the AR5212: four numbers of tries of four bits from bit 16 on, four rates of five bits.
    #[test]
    fn all_four_rates_are_given_to_the_driver() {
        let mut t = Harness::new("s :: Source -> AthdescEncap -> k :: Sink");
        let mut p = Packet::new(b"x");
        Extra { rate: [108, 72, 22, 2], tries: [4, 3, 2, 1], ..Extra::ZERO }.annotate(&mut p);
        t.push("s", 0, [p]);
        let out = t.bytes("k").remove(0);
        let words = [16, 20].map(|at| word(&out, at));
        assert_eq!(words, [0x1234_0000, 0x0C | 0x0D << 5 | 0x1C << 10 | 0x1B << 15]);
    }

    #[test]
    fn short_packets_are_dropped() {
        let mut t = Harness::new("s :: Source -> d :: AthdescDecap -> k :: Sink");
        t.push("s", 0, [Packet::new(&[0; 31]), Packet::new(&[0; 32])]);
        assert_eq!((t.take("k").len(), t.read("d.drop_reasons").as_str()), (1, "1\tpacket too small\n"));
    }
}
