//! From what the ring holds to what is handed out: checksums completed, merged packets cut, lengths limited.

use crate::offload::{Offload, Segmenter, complete_by_parsing, complete_checksum};
use crate::receive::{Frame, PacketType, ReceiveCounts};

/// What is known of a frame besides its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// Length on the wire (of the merged packet, if it is one).
    pub(crate) length: usize,
    pub(crate) timestamp: (u32, u32),
    pub(crate) packet_type: PacketType,
    /// Tag protocol and control information of a VLAN tag that the kernel took out.
    pub(crate) vlan: Option<(u16, u16)>,
}

impl Origin {
    /// Hands out `data`, whose whole length on the wire is `length` (without a VLAN tag that was taken out).
    fn hand_out(
        &self,
        data: &[u8],
        length: usize,
        snap_length: usize,
        tagged: &mut Vec<u8>,
        each: &mut impl FnMut(Frame<'_>),
    ) {
        let (data, length) = match self.vlan {
            None => (data, length),
            Some(tag) => (put_back(tag, data, tagged), length + 4),
        };
        each(Frame {
            data: &data[..data.len().min(snap_length)],
            length,
            timestamp: self.timestamp,
            packet_type: self.packet_type,
            vlan_tci: self.vlan.map(|(_, control)| control),
        });
    }
}

/// Builds in `out` the frame with its VLAN tag, which stands after the addresses (IEEE 802.1Q §9.3).
fn put_back<'a>((protocol, control): (u16, u16), data: &[u8], out: &'a mut Vec<u8>) -> &'a [u8] {
    let (addresses, rest) = data.split_at(data.len().min(12));
    out.clear();
    out.extend_from_slice(addresses);
    out.extend_from_slice(&protocol.to_be_bytes());
    out.extend_from_slice(&control.to_be_bytes());
    out.extend_from_slice(rest);
    out
}

/// Finishes frames. Keeps the merged packet that is being cut, because a burst may end in the middle of it.
pub(crate) struct Finisher {
    snap_length: usize,
    segmenter: Segmenter,
    /// Holds a frame whose VLAN tag was put back.
    tagged: Vec<u8>,
    /// Of the merged packet being cut.
    merged_origin: Option<Origin>,
    counts: ReceiveCounts,
    merged_warned: bool,
}

impl Finisher {
    pub(crate) fn new(snap_length: usize) -> Finisher {
        Finisher {
            snap_length,
            segmenter: Segmenter::default(),
            tagged: Vec::new(),
            merged_origin: None,
            counts: ReceiveCounts::default(),
            merged_warned: false,
        }
    }

    pub(crate) fn counts(&self) -> ReceiveCounts {
        self.counts
    }

    pub(crate) fn drop_too_large(&mut self) {
        self.counts.too_large += 1;
    }

    /// True once, after the first merged packet.
    pub(crate) fn take_first_merged(&mut self) -> bool {
        let first = self.counts.merged > 0 && !self.merged_warned;
        self.merged_warned |= first;
        first
    }

    /// Hands out one frame. False if it was dropped, or is merged: then [`give_segment`](Self::give_segment)
    /// hands out its parts.
    pub(crate) fn give(
        &mut self,
        origin: Origin,
        offload: [u8; 10],
        data: &mut [u8],
        each: &mut impl FnMut(Frame<'_>),
    ) -> bool {
        let plain = offload[..2] == [0, 0];
        if data.len() < origin.length.min(self.snap_length) {
            self.drop_too_large();
            return false;
        }
        if !plain && !self.finish(origin, offload, data) {
            return false;
        }
        origin.hand_out(data, origin.length, self.snap_length, &mut self.tagged, each);
        true
    }

    /// Does what the offload header asks for. False if the frame is not to be handed out as it is.
    fn finish(&mut self, origin: Origin, offload: [u8; 10], data: &mut [u8]) -> bool {
        let Ok(offload) = Offload::from_virtio(offload) else { return self.drop_malformed() };
        if let Some(merged) = offload.merged {
            let buffer = self.segmenter.frame_mut();
            buffer.clear();
            buffer.extend_from_slice(data);
            self.merged_origin = Some(origin);
            self.counts.merged += 1;
            return self.segmenter.start(merged).is_err() && self.drop_malformed();
        }
        match offload.partial_checksum {
            None => true,
            Some((start, offset)) => self.complete(data, start, offset),
        }
    }

    fn complete(&mut self, data: &mut [u8], start: usize, offset: usize) -> bool {
        if complete_checksum(data, start, offset).or_else(|_| complete_by_parsing(data)).is_err() {
            return self.drop_malformed();
        }
        self.counts.checksums_completed += 1;
        true
    }

    fn drop_malformed(&mut self) -> bool {
        self.counts.malformed += 1;
        false
    }

    /// Hands out the next segment of a merged packet; false if none is left.
    pub(crate) fn give_segment(&mut self, each: &mut impl FnMut(Frame<'_>)) -> bool {
        let Some(origin) = self.merged_origin else { return false };
        let Some(segment) = self.segmenter.next_segment() else {
            self.merged_origin = None;
            return false;
        };
        origin.hand_out(segment, segment.len(), self.snap_length, &mut self.tagged, each);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn tcp(payload: usize) -> Vec<u8> {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(1, 2, 3, 4)
            .write(&mut frame, &vec![5; payload])
            .unwrap();
        frame
    }

    fn origin(length: usize) -> Origin {
        Origin { length, timestamp: (1, 2), packet_type: PacketType::Host, vlan: None }
    }

    fn offload(flags: u8, gso: u8, size: u16) -> [u8; 10] {
        let mut header = [flags, gso, 0, 0, 0, 0, 0, 0, 0, 0];
        header[4..6].copy_from_slice(&size.to_ne_bytes());
        header[6..8].copy_from_slice(&34u16.to_ne_bytes());
        header[8..10].copy_from_slice(&16u16.to_ne_bytes());
        header
    }

    /// Hands one frame in; gives the data lengths and wire lengths that come out.
    fn give(finisher: &mut Finisher, offload: [u8; 10], mut frame: Vec<u8>) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let mut each = |frame: Frame<'_>| out.push((frame.data.len(), frame.length));
        let length = frame.len();
        finisher.give(origin(length), offload, &mut frame, &mut each);
        while finisher.give_segment(&mut each) {}
        out
    }

    #[test]
    fn the_snap_length_limits_the_data_but_not_the_length() {
        let mut finisher = Finisher::new(60);
        assert_eq!(give(&mut finisher, [0; 10], tcp(1000)), [(60, 1054)]);
        assert_eq!(give(&mut finisher, offload(1, 1, 600), tcp(1000)), [(60, 654), (60, 454)]);
    }

    #[test]
    fn a_vlan_tag_that_the_kernel_took_out_is_put_back() {
        let mut finisher = Finisher::new(usize::MAX);
        let mut frame = tcp(10);
        let tagged = Origin { vlan: Some((0x8100, 42)), ..origin(frame.len()) };
        let mut expected = frame.clone();
        expected.splice(12..12, [0x81, 0, 0, 42]);
        let mut calls = 0;
        finisher.give(tagged, [0; 10], &mut frame, &mut |out| {
            assert_eq!((out.data, out.length, out.vlan_tci), (&expected[..], expected.len(), Some(42)));
            calls += 1;
        });
        assert_eq!(calls, 1);
    }

    #[test]
    fn merged_packets_are_counted_and_warned_about_once() {
        let mut finisher = Finisher::new(usize::MAX);
        assert!(!finisher.take_first_merged());
        give(&mut finisher, offload(1, 1, 100), tcp(250));
        give(&mut finisher, offload(1, 1, 100), tcp(250));
        assert_eq!(finisher.counts().merged, 2);
        assert!(finisher.take_first_merged());
        assert!(!finisher.take_first_merged());
    }

    #[test]
    fn what_cannot_be_finished_is_dropped_and_counted() {
        let mut finisher = Finisher::new(usize::MAX);
        assert_eq!(give(&mut finisher, offload(0, 3, 100), tcp(250)), []);
        assert_eq!(give(&mut finisher, offload(1, 5, 100), tcp(250)), []);
        assert_eq!(give(&mut finisher, offload(1, 0, 0), vec![0; 20]), []);
        assert_eq!(finisher.counts().malformed, 3);
        let mut cut = tcp(10);
        finisher.give(origin(2000), [0; 10], &mut cut, &mut |_| panic!("a cut frame was handed out"));
        assert_eq!(finisher.counts().too_large, 1);
    }
}
