//! StoreUDPTimeSeqRecord: writes a sequence number and the time into UDP payload.

use clickwork_packet::checksum::Sum;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};
use std::ops::Range;

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes a sequence number and the time into UDP payload",
    manual: "Writes into the first 20 bytes of UDP payload, in network order: a sequence number from 1, the present in \
             seconds and nanoseconds, and two zeros. With DELTA true it leaves the first three words alone and writes \
             into the last two how much time has passed since; so two of these elements measure the delay between them. \
             The UDP checksum is adjusted. OFFSET is where the IP header is (14 behind an Ethernet header); IPv4 and \
             IPv6 will do. Packets that are too short, of another version, or IPv6 but not UDP are dropped.",
    example: "RatedSource(LENGTH 22, RATE 1000, LIMIT 2, STOP true) -> UDPIPEncap(1.0.0.1, 1, 1.0.0.2, 2) \
              -> StoreUDPTimeSeqRecord(OFFSET 0) -> StoreUDPTimeSeqRecord(OFFSET 0, DELTA true) -> Discard",
    packets: "any/same",
    args: &[
        ArgSpec::required("OFFSET", ArgType::U32, "where the IP header is"),
        ArgSpec::keyword("DELTA", ArgType::Bool, "false", "whether the time since is written"),
    ],
    handlers: &[
        read_handler!("count", "packets written into", |e: &mut StoreUdpTimeSeqRecord, _| e.count),
        write_handler!("reset", "starts again from 1", |e: &mut StoreUdpTimeSeqRecord, _, _| e.count = 0),
    ],
    ..Class::new("StoreUDPTimeSeqRecord", "analysis", || Box::<StoreUdpTimeSeqRecord>::default())
};

const UDP_HEADER: usize = 8;
/// Where the checksum is in a UDP header.
const CHECKSUM: usize = 6;
/// Bytes of the record: sequence number, seconds and nanoseconds, and the same of the difference.
const RECORD: usize = 20;
const UDP: u8 = 17;

#[derive(Default)]
struct StoreUdpTimeSeqRecord {
    offset: usize,
    delta: bool,
    count: u64,
}

impl StoreUdpTimeSeqRecord {
    /// Where the UDP header is.
    fn udp_offset(&self, data: &[u8]) -> Result<usize, &'static str> {
        let ip = data.get(self.offset..).filter(|ip| ip.len() >= 8).ok_or("too short for a record")?;
        let header = match ip[0] >> 4 {
            4 => usize::from(ip[0] & 0xf) * 4,
            6 if ip[6] == UDP => 40,
            6 => return Err("not UDP"),
            _ => return Err("unknown IP version"),
        };
        let udp = self.offset + header;
        if data.len() < udp + UDP_HEADER + RECORD { Err("too short for a record") } else { Ok(udp) }
    }

    /// Overwrites a part of the record and adjusts the checksum for what was there (RFC 1624).
    fn overwrite(data: &mut [u8], udp: usize, part: Range<usize>, words: &[u32]) {
        let start = udp + UDP_HEADER;
        let place = &mut data[start + part.start..start + part.end];
        let complement: Vec<u8> = place.iter().map(|byte| !byte).collect();
        for (word, bytes) in words.iter().zip(place.chunks_exact_mut(4)) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let place = data[start + part.start..start + part.end].to_vec();
        let old = u16::from_be_bytes([data[udp + CHECKSUM], data[udp + CHECKSUM + 1]]);
        if old == 0 {
            return; // The sender computed none.
        }
        let new = match Sum::default().word(!old).bytes(&complement).bytes(&place).finish() {
            0 => 0xffff,
            sum => sum,
        };
        data[udp + CHECKSUM..udp + CHECKSUM + 2].copy_from_slice(&new.to_be_bytes());
    }
}

/// Seconds and nanoseconds as the record has them.
fn words(time: Timestamp) -> [u32; 2] {
    [time.seconds() as u32, time.subsec_nanos()]
}

impl SimpleElement for StoreUdpTimeSeqRecord {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut offset = 0u32;
        args.read("OFFSET", &mut offset).read("DELTA", &mut self.delta);
        self.offset = offset as usize;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let udp = match self.udp_offset(p.data()) {
            Ok(udp) => udp,
            Err(reason) => return Verdict::Drop(reason),
        };
        self.count += 1;
        let now = cx.now();
        let data = p.data_mut();
        if self.delta {
            let word = |at: usize| {
                let at = udp + UDP_HEADER + at;
                u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
            };
            let then = Timestamp::new(i64::from(word(4)), word(8));
            Self::overwrite(data, udp, 12..20, &words(now - then));
        } else {
            let [seconds, nanos] = words(now);
            Self::overwrite(data, udp, 0..20, &[self.count as u32, seconds, nanos, 0, 0]);
        }
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<StoreUdpTimeSeqRecord>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const CHAIN: &str = "s :: Source -> UDPIPEncap(1.0.0.1, 1, 1.0.0.2, 2) -> r :: StoreUDPTimeSeqRecord(0) \
                         -> Queue -> DelayUnqueue(100ms) -> StoreUDPTimeSeqRecord(0, DELTA true) \
                         -> CheckIPHeader -> c :: CheckUDPHeader(VERBOSE true) -> k :: Sink";

    fn word(data: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(data[28 + at..32 + at].try_into().unwrap())
    }

    #[test]
    fn two_measure_the_delay_between_them_and_keep_the_checksum_right() {
        let mut t = Harness::new(CHAIN);
        for n in 0..3 {
            t.push("s", 0, [Packet::new(&[n; 23])]);
        }
        let got = t.bytes("k");
        assert_eq!(got.len(), 3, "{}", t.printed());
        for (n, data) in got.iter().enumerate() {
            assert_eq!((word(data, 0), word(data, 12)), (n as u32 + 1, 0));
            assert!((100_000_000..101_000_000).contains(&word(data, 16)), "{}", word(data, 16));
            assert_eq!(data[48..], [n as u8; 3]);
        }
        assert_eq!(t.read("r.count"), "3");
    }

    #[test]
    fn short_and_foreign_packets_are_dropped() {
        let mut t = Harness::new("s :: Source -> r :: StoreUDPTimeSeqRecord(0) -> k :: Sink");
        let mut v6 = vec![0x60; 90];
        v6[6] = 6;
        let packets = [vec![], vec![0x45; 20], vec![0x45; 47], vec![0x35; 90], v6.clone()];
        t.push("s", 0, packets.iter().map(|data| Packet::new(data)));
        assert!(t.bytes("k").is_empty());
        v6[6] = 17;
        t.push("s", 0, [Packet::new(&v6)]);
        assert_eq!(t.bytes("k").len(), 1);
    }
}
