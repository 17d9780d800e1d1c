//! Software segmentation: one merged TCP or UDP packet into the packets it stands for.
#![forbid(unsafe_code)]

use super::Unfinishable;
use super::checksum::{store_ipv4_checksum, store_transport_checksum};
use super::layout::{Layout, TCP, UDP};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// What kind of packets were merged, and how many payload bytes each but the last one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Segments of one TCP connection (TSO, GRO).
    Tcp {
        /// Bytes of each segment, without headers.
        payload: usize,
    },
    /// Datagrams of one UDP flow (UDP GSO).
    Udp {
        /// Bytes of each datagram, without headers.
        payload: usize,
    },
}

/// A merged Ethernet frame that is being cut. Kept by the caller between bursts, and reused.
#[derive(Debug, Default)]
pub struct Segmenter {
    frame: Vec<u8>,
    segment: Vec<u8>,
    plan: Option<Plan>,
}

/// How to cut the frame, and how far we are.
#[derive(Clone, Copy, Debug)]
struct Plan {
    layout: Layout,
    /// First byte of the payload.
    payload: usize,
    /// Payload bytes a segment.
    size: usize,
    /// Segments in all, and the next one.
    count: usize,
    next: usize,
}

impl Segmenter {
    /// The buffer to put a frame into before [`start`](Self::start).
    pub fn frame_mut(&mut self) -> &mut Vec<u8> {
        self.plan = None;
        &mut self.frame
    }

    /// Prepares to cut the frame in the buffer; gives the number of segments.
    pub fn start(&mut self, merged: Merged) -> Result<usize, Unfinishable> {
        let plan = Plan::new(&self.frame, merged)?;
        self.plan = Some(plan);
        Ok(plan.count)
    }

    /// The frames that [`next_segment`](Self::next_segment) still has to give.
    pub fn remaining(&self) -> usize {
        self.plan.map_or(0, |plan| plan.count - plan.next)
    }

    /// The next frame, complete with lengths, sequence number, flags, identification and checksums.
    pub fn next_segment(&mut self) -> Option<&mut [u8]> {
        let plan = self.plan.as_mut().filter(|plan| plan.next < plan.count)?;
        plan.write(&self.frame, &mut self.segment).ok()?;
        plan.next += 1;
        Some(&mut self.segment)
    }
}

impl Plan {
    fn new(frame: &[u8], merged: Merged) -> Result<Plan, Unfinishable> {
        let mut layout = Layout::of_ethernet(frame)?;
        layout.end = layout.end.min(frame.len());
        let (size, header) = match (merged, layout.protocol) {
            (Merged::Tcp { payload }, TCP) => (payload, usize::from(frame[layout.transport + 12] >> 4) * 4),
            (Merged::Udp { payload }, UDP) => (payload, 8),
            _ => return Err(Unfinishable::NotTransport),
        };
        if size == 0 || (layout.protocol == TCP && header < 20) {
            return Err(Unfinishable::NotTransport);
        }
        let payload = layout.transport + header;
        let data = layout.end.checked_sub(payload).ok_or(Unfinishable::Truncated)?;
        Ok(Plan { layout, payload, size, count: data.div_ceil(size).max(1), next: 0 })
    }

    /// Builds segment `next` of `frame` in `out`.
    fn write(&self, frame: &[u8], out: &mut Vec<u8>) -> Result<(), Unfinishable> {
        let start = self.payload + self.next * self.size;
        let end = (start + self.size).min(self.layout.end);
        out.clear();
        out.extend_from_slice(&frame[..self.payload]);
        out.extend_from_slice(&frame[start..end]);
        self.fix_network(out);
        self.fix_transport(out);
        let layout = Layout { end: out.len(), ..self.layout };
        store_transport_checksum(out, &layout)
    }

    /// Lengths, IPv4 identification (one more for each segment) and header checksum.
    fn fix_network(&self, out: &mut [u8]) {
        let Layout { network, transport, ipv6, .. } = self.layout;
        let length = out.len() - network;
        if ipv6 {
            put16(out, network + 4, length - 40);
            return;
        }
        put16(out, network + 2, length);
        let identification = u16::from_be_bytes([out[network + 4], out[network + 5]]);
        let identification = identification.wrapping_add(self.next as u16);
        put16(out, network + 4, usize::from(identification));
        store_ipv4_checksum(&mut out[network..transport]);
    }

    fn fix_transport(&self, out: &mut [u8]) {
        let transport = self.layout.transport;
        if self.layout.protocol == UDP {
            put16(out, transport + 4, out.len() - transport);
            return;
        }
        let header = &mut out[transport..];
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let sequence = sequence.wrapping_add((self.next * self.size) as u32);
        header[4..8].copy_from_slice(&sequence.to_be_bytes());
        if self.next > 0 {
            // RFC 3168 §6.1.2: "congestion window reduced" is said once.
            header[13] &= !CWR;
        }
        if self.next + 1 < self.count {
            header[13] &= !(FIN | PSH);
        }
    }
}

/// Stores the low 16 bits of `value`.
fn put16(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    fn payload(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    fn tcp4(data: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(1000, 2000, 0xffff_fff0, 100)
            .ack(5)
            .psh()
            .fin()
            .cwr()
            .options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2])
            .unwrap()
            .write(&mut frame, data)
            .unwrap();
        frame
    }

    fn udp6(data: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv6([1; 16], [2; 16], 64)
            .udp(1000, 2000)
            .write(&mut frame, data)
            .unwrap();
        frame
    }

    fn cut(frame: &[u8], merged: Merged) -> Vec<Vec<u8>> {
        let mut segmenter = Segmenter::default();
        segmenter.frame_mut().extend_from_slice(frame);
        let count = segmenter.start(merged).unwrap();
        let mut segments = Vec::new();
        while let Some(segment) = segmenter.next_segment() {
            segments.push(segment.to_vec());
        }
        assert_eq!(segments.len(), count);
        segments
    }

    /// Checks the lengths and checksums of a frame, gives its transport payload.
    fn verified(frame: &[u8]) -> (SlicedPacket<'_>, Vec<u8>) {
        let packet = SlicedPacket::from_ethernet(frame).unwrap();
        match (packet.net.as_ref().unwrap(), packet.transport.as_ref().unwrap()) {
            (NetSlice::Ipv4(ip), TransportSlice::Tcp(tcp)) => {
                let header = ip.header().to_header();
                assert_eq!(header.header_checksum, header.calc_header_checksum());
                assert_eq!(usize::from(header.total_len), frame.len() - 14);
                let sum = tcp.calc_checksum_ipv4(header.source, header.destination).unwrap();
                assert_eq!(tcp.checksum(), sum);
                let data = tcp.payload().to_vec();
                (packet, data)
            }
            (NetSlice::Ipv6(ip), TransportSlice::Udp(udp)) => {
                let header = ip.header().to_header();
                assert_eq!(usize::from(header.payload_length), frame.len() - 54);
                assert_eq!(usize::from(udp.length()), frame.len() - 54);
                let sum =
                    udp.to_header().calc_checksum_ipv6_raw(header.source, header.destination, udp.payload());
                assert_eq!(udp.checksum(), sum.unwrap());
                let data = udp.payload().to_vec();
                (packet, data)
            }
            other => panic!("unexpected headers: {other:?}"),
        }
    }

    #[test]
    fn tcp_segments_carry_the_stream_in_order() {
        let data = payload(4000);
        let segments = cut(&tcp4(&data), Merged::Tcp { payload: 1448 });
        assert_eq!(segments.len(), 3);
        let mut stream = Vec::new();
        for (i, segment) in segments.iter().enumerate() {
            let (packet, part) = verified(segment);
            let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { panic!() };
            assert_eq!(tcp.sequence_number(), 0xffff_fff0u32.wrapping_add(stream.len() as u32));
            assert_eq!((tcp.fin(), tcp.psh()), (i == 2, i == 2));
            assert_eq!(tcp.cwr(), i == 0);
            assert_eq!(tcp.options(), [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
            let Some(NetSlice::Ipv4(ip)) = &packet.net else { panic!() };
            assert_eq!(ip.header().identification(), i as u16);
            stream.extend(part);
        }
        assert_eq!(stream, data);
    }

    #[test]
    fn udp_datagrams_keep_their_boundaries() {
        let data = payload(2500);
        let segments = cut(&udp6(&data), Merged::Udp { payload: 1000 });
        let parts: Vec<_> = segments.iter().map(|s| verified(s).1).collect();
        assert_eq!(parts, [&data[..1000], &data[1000..2000], &data[2000..]]);
    }

    #[test]
    fn a_packet_that_was_not_merged_stays_as_it_is() {
        let frame = tcp4(&payload(100));
        assert_eq!(cut(&frame, Merged::Tcp { payload: 1448 }), [frame]);
    }

    #[test]
    fn an_inner_vlan_tag_is_kept_on_every_segment() {
        let mut frame = tcp4(&payload(2000));
        frame.splice(12..12, [0x81, 0x00, 0x00, 0x2a]);
        for segment in cut(&frame, Merged::Tcp { payload: 1000 }) {
            assert_eq!(segment[12..18], [0x81, 0x00, 0x00, 0x2a, 0x08, 0x00]);
        }
    }

    #[test]
    fn offload_information_that_contradicts_the_packet_is_refused() {
        let mut segmenter = Segmenter::default();
        segmenter.frame_mut().extend(udp6(b"data"));
        assert_eq!(segmenter.start(Merged::Tcp { payload: 10 }), Err(Unfinishable::NotTransport));
        assert_eq!(segmenter.start(Merged::Udp { payload: 0 }), Err(Unfinishable::NotTransport));
        segmenter.frame_mut().truncate(30);
        assert_eq!(segmenter.start(Merged::Udp { payload: 10 }), Err(Unfinishable::Truncated));
        assert!(segmenter.next_segment().is_none());
    }

    proptest! {
        #[test]
        fn hostile_frames_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400),
                                      at in 0usize..120, value: u8, size in 0usize..2000, tcp: bool, as_tcp: bool) {
            let mut frame = if tcp { tcp4(&bytes) } else { udp6(&bytes) };
            let at = at % frame.len();
            frame[at] = value;
            frame.truncate(frame.len() - usize::from(value) % 60);
            let merged = if as_tcp { Merged::Tcp { payload: size } } else { Merged::Udp { payload: size } };
            let mut segmenter = Segmenter::default();
            segmenter.frame_mut().extend(frame);
            if let Ok(count) = segmenter.start(merged) {
                for _ in 0..count {
                    prop_assert!(segmenter.next_segment().is_some());
                }
            }
            prop_assert!(segmenter.next_segment().is_none());
        }
    }
}
