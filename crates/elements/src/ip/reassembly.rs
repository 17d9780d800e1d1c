//! Putting fragments together again: the payload of one IP packet while pieces of it arrive (RFC 791 §3.2, RFC 815).

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::{MORE_FRAGMENTS, OFFSET_MASK};
use clickwork_packet::headers::{Ipv4, Ipv4Mut};
use clickwork_packet::{Packet, Timestamp};
use std::collections::BTreeMap;
use std::ops::Range;

/// What tells the fragments of one packet from those of others (RFC 791 §3.2): source, destination, protocol,
/// identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    source: Ipv4Address,
    destination: Ipv4Address,
    protocol: u8,
    identification: u16,
}

impl Key {
    /// Which of Click's 256 buckets it is in: packets are listed and given up bucket by bucket.
    pub fn bucket(&self) -> u8 {
        self.identification.to_be_bytes()[0]
    }
}

/// A fragment with its place in the packet.
pub struct Fragment {
    /// Which packet it belongs to.
    pub key: Key,
    /// The bytes of payload it holds.
    pub range: Range<usize>,
    /// Whether there is more behind it.
    pub more: bool,
}

impl Fragment {
    /// Whether the packet is a fragment at all.
    #[inline]
    pub fn is_one(p: &Packet) -> bool {
        p.network_header().and_then(Ipv4::new).is_some_and(|ip| ip.is_fragment())
    }

    /// The fragment in a packet. Nothing if it is cut short, empty, beyond the longest packet, or if it is in the middle
    /// and does not end at a multiple of 8.
    pub fn of(p: &Packet) -> Option<Fragment> {
        let ip = p.network_header().and_then(Ipv4::new)?;
        let len = usize::from(ip.total_len()).checked_sub(ip.ihl())?;
        let (start, more) = (ip.fragment_offset(), ip.more_fragments());
        let range = start..start + len;
        let is_good =
            len > 0 && range.end <= 0xFFFF && ip.payload().len() == len && (len.is_multiple_of(8) || !more);
        let key = Key {
            source: ip.source(),
            destination: ip.destination(),
            protocol: ip.protocol,
            identification: ip.identification(),
        };
        is_good.then_some(Fragment { key, range, more })
    }
}

/// Bytes of a part of the payload that are kept together.
const BLOCK: usize = 256;

/// The payload as far as it has arrived. It takes time and memory for what has arrived, wherever in the packet that is.
#[derive(Default)]
struct Payload {
    /// By number: bytes that lie in the same part of the payload.
    blocks: BTreeMap<usize, Box<[u8; BLOCK]>>,
    /// Where the last byte is that has arrived, and one more.
    end: usize,
}

impl Payload {
    fn write(&mut self, mut start: usize, mut bytes: &[u8]) {
        self.end = self.end.max(start + bytes.len());
        while !bytes.is_empty() {
            let (number, at) = (start / BLOCK, start % BLOCK);
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - at));
            let block = self.blocks.entry(number).or_insert_with(|| Box::new([0; BLOCK]));
            block[at..at + now.len()].copy_from_slice(now);
            (start, bytes) = (start + now.len(), rest);
        }
    }

    /// Puts all of it into as many bytes; what has not arrived is zero.
    fn read(&self, to: &mut [u8]) {
        to.fill(0);
        for (number, block) in &self.blocks {
            let to = &mut to[number * BLOCK..];
            let len = to.len().min(BLOCK);
            to[..len].copy_from_slice(&block[..len]);
        }
    }

    /// A word of the beginning.
    fn word(&self, at: usize) -> u16 {
        self.blocks.get(&0).map_or(0, |block| u16::from_be_bytes([block[at], block[at + 1]]))
    }
}

/// A packet of which pieces have arrived.
pub struct Assembly {
    /// The first fragment if it has come, else the first to come: gives the header and the annotations.
    head: Packet,
    has_head: bool,
    payload: Payload,
    /// The ranges that have arrived, in order, not touching one another.
    arrived: Vec<Range<usize>>,
    /// Length of the payload, once the last fragment has come.
    len: Option<usize>,
    /// The longest fragment, header included.
    longest: u16,
    /// When the first fragment arrived; until then, when the first to come did.
    pub since: Timestamp,
    /// Which of all assemblies it is, counted from the first.
    pub number: u64,
}

impl Assembly {
    /// Assembly `number`, without pieces, with header and annotations of a fragment.
    pub fn new(head: Packet, number: u64) -> Assembly {
        let (payload, arrived, since) = (Payload::default(), Vec::new(), head.timestamp());
        Assembly { head, has_head: false, payload, arrived, len: None, longest: 0, since, number }
    }

    /// Bytes of payload that there will be, as far as is known.
    pub fn held(&self) -> u32 {
        self.payload.end as u32
    }

    /// Adds a fragment. False if it lies beyond the end of the packet: then it was not added.
    pub fn add(&mut self, p: Packet, fragment: &Fragment) -> bool {
        let Range { start, end } = fragment.range.clone();
        let end_so_far = self.arrived.last().map_or(0, |r| r.end);
        if self.len.is_some_and(|len| end > len) || (!fragment.more && end_so_far > end) {
            return false;
        }
        let Some(ip) = p.network_header().and_then(Ipv4::new) else { return false };
        self.longest = self.longest.max(ip.total_len());
        self.payload.write(start, ip.payload());
        if !fragment.more {
            self.len = Some(end);
        }
        self.note_arrival(start..end);
        if start == 0 {
            self.since = p.timestamp();
            (self.head, self.has_head) = (p, true);
        }
        true
    }

    fn note_arrival(&mut self, new: Range<usize>) {
        let first = self.arrived.partition_point(|r| r.end < new.start);
        let last = self.arrived.partition_point(|r| r.start <= new.end);
        let joined = match &self.arrived[first..last] {
            [] => new,
            touched => {
                let ends = touched[touched.len() - 1].end;
                touched[0].start.min(new.start)..ends.max(new.end)
            }
        };
        self.arrived.splice(first..last, [joined]);
    }

    /// Whether all of the packet is there.
    pub fn is_complete(&self) -> bool {
        self.has_head && self.len.is_some_and(|len| self.arrived.first() == Some(&(0..len)))
    }

    /// The ranges that have arrived.
    pub fn arrived(&self) -> &[Range<usize>] {
        &self.arrived
    }

    /// The length of the longest fragment.
    pub fn longest(&self) -> u16 {
        self.longest
    }

    /// Who sends to whom, with ports as far as they are known, and the identification.
    pub fn describe(&self, key: &Key) -> String {
        let port = |at| if self.has_head { self.payload.word(at) } else { 0 };
        let Key { source, destination, identification, .. } = key;
        format!("({source}, {}, {destination}, {}) {identification}", port(0), port(2))
    }

    /// The packet as far as it has arrived: the whole packet if it is complete, else all there is behind the header that
    /// its fragment came with. Nothing if it would be too long for IP.
    pub fn into_packet(self) -> Option<Packet> {
        let is_complete = self.is_complete();
        let mut p = self.head;
        let header_len = p.network_header().and_then(Ipv4::new)?.ihl();
        let len = self.payload.end;
        let total = u16::try_from(header_len + len).ok()?;
        let held = p.network_header()?.len() - header_len;
        if held < len {
            p.put(len - held);
        } else {
            p.take(held - len);
        }
        self.payload.read(p.network_header_mut()?.get_mut(header_len..)?);
        if is_complete {
            let mut ip = p.network_header_mut().and_then(Ipv4Mut::new)?;
            ip.set_total_len(total);
            let flags = ip.fragment_field() & !(OFFSET_MASK | MORE_FRAGMENTS);
            ip.set_fragment_field(flags);
            ip.fill_checksum();
        }
        Some(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_takes_memory_for_its_bytes_wherever_it_is() {
        let mut payload = Payload::default();
        payload.write(65_000, &[7; 8]);
        assert_eq!((payload.end, payload.blocks.len()), (65_008, 1));
        payload.write(250, &[8; 300]);
        assert_eq!(payload.blocks.len(), 4);
        let mut all = vec![1; payload.end];
        payload.read(&mut all);
        let expected = [vec![0; 250], vec![8; 300], vec![0; 64_450], vec![7; 8]].concat();
        assert!(all == expected);
    }
}
