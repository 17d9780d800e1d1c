//! TCPFragmenter: cuts long TCP segments into shorter ones.

use clickwork_packet::anno::Anno;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::tcp::flag::FIN;
use clickwork_packet::headers::{Ipv4, Ipv4Mut, Tcp, TcpMut};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "cuts long TCP segments into shorter ones",
    manual: "Sends each TCP segment whose packet would be longer than the MTU as several packets, with lengths, sequence \
             numbers and checksums made right; other header fields are the same in all, but a FIN stays with the last. The \
             MTU is the smaller of MTU and of the value of the annotation MTU_ANNO, as far as they are given and not \
             0. Packets that are not TCP, that are IP fragments or have damaged headers pass unchanged.",
    example: "InfiniteSource(DATA \\<4500002c00010000 400666c90a0000010a000002 0001000200000000 00000000501000000000 \
              0000 41424344>, LIMIT 1, STOP true) -> MarkIPHeader -> TCPFragmenter(MTU 42) -> Discard",
    ports: "1/1",
    processing: "h/h",
    packets: "any/each",
    args: &[
        ArgSpec::keyword("MTU", ArgType::U16, "0", "greatest length of IP packets"),
        ArgSpec::keyword(
            "MTU_ANNO",
            ArgType::Anno(2),
            "",
            "annotation with the greatest length of IP packets",
        ),
    ],
    ..Class::new("TCPFragmenter", "tcpudp", || Box::<TcpFragmenter>::default())
};

#[derive(Default)]
struct TcpFragmenter {
    mtu: u16,
    anno: Option<Anno>,
}

/// How a segment is cut.
#[derive(Clone, Copy)]
struct Cut {
    /// Where the network header is, and how long headers and payload are.
    start: usize,
    headers: usize,
    payload: usize,
    /// The greatest payload of a part.
    most: usize,
}

impl TcpFragmenter {
    /// The length to keep to; 0 for any.
    fn mtu(&self, p: &Packet) -> usize {
        let limits = [self.mtu, self.anno.map_or(0, |a| p.anno_u16(a))];
        usize::from(limits.into_iter().filter(|&n| n > 0).min().unwrap_or(0))
    }

    /// How to cut a packet; none if it is to stay whole.
    fn cut(&self, p: &Packet) -> Option<Cut> {
        let (mtu, start) = (self.mtu(p), usize::try_from(p.network_offset()?).ok()?);
        let ip = Ipv4::new(p.network_bytes()?)?;
        if mtu == 0 || ip.protocol != protocol::TCP || ip.is_fragment() {
            return None;
        }
        let tcp = Tcp::new(ip.payload())?;
        let whole = ip.ihl() + ip.payload().len() == usize::from(ip.total_len());
        let (headers, payload) = (ip.ihl() + tcp.data_offset(), tcp.payload().len());
        let most = mtu.checked_sub(headers).filter(|&most| most > 0)?;
        (whole && payload >= most).then_some(Cut { start, headers, payload, most })
    }
}

/// Makes a copy of a segment the part of it that begins at `offset`.
fn make_part(p: &mut Packet, cut: Cut, offset: usize) -> Option<()> {
    let length = cut.most.min(cut.payload - offset);
    let payload = cut.start + cut.headers;
    p.data_mut().copy_within(payload + offset..payload + offset + length, payload);
    p.truncate(payload + length);
    let mut ip = Ipv4Mut::new(&mut p.data_mut()[cut.start..])?;
    ip.set_total_len((cut.headers + length) as u16);
    ip.fill_checksum();
    let pseudo = ip.pseudo_sum((cut.headers + length - ip.ihl()) as u16);
    // The view ends where the length field said before, or where the data end now.
    let mut tcp = TcpMut::new(ip.payload_mut())?;
    let sequence = tcp.sequence().wrapping_add(offset as u32);
    tcp.set_sequence(sequence);
    if offset + length < cut.payload {
        tcp.flags &= !FIN;
    }
    tcp.fill_checksum(pseudo);
    Some(())
}

impl Element for TcpFragmenter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("MTU", &mut self.mtu);
        self.anno = args.get_with("MTU_ANNO", AnnoOfSize(2));
        if self.mtu == 0 && self.anno.is_none() {
            args.error("At least one of MTU and MTU_ANNO must be set");
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            let Some(cut) = self.cut(&p) else {
                cx.emit(0, p);
                continue;
            };
            for offset in (0..cut.payload).step_by(cut.most) {
                let mut part = p.clone();
                match make_part(&mut part, cut, offset) {
                    Some(()) => cx.emit(0, part),
                    None => cx.drop(part, "bad TCP header"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::{Sample, ip};
    use crate::testing::Harness;
    use clickwork_packet::headers::{Header, Ipv4, Tcp, TcpHeader};
    use clickwork_packet::{Packet, anno};

    /// A segment with `n` bytes of payload, numbers from 0.
    fn segment(n: usize, flags: u8) -> Sample {
        let mut bytes: Vec<u8> = (0..20 + n).map(|i| (i.wrapping_sub(20)) as u8).collect();
        bytes[..20].fill(0);
        let tcp = TcpHeader::peek_mut(&mut bytes).unwrap();
        tcp.set_data_offset(20);
        tcp.flags = flags;
        tcp.set_sequence(u32::MAX - 9);
        ip("1.0.0.1", "2.0.0.2").payload(6, &bytes)
    }

    fn parts(args: &str, p: Packet) -> Vec<Vec<u8>> {
        let mut t = Harness::new(&format!("s :: Source -> TCPFragmenter({args}) -> k :: Sink"));
        t.push("s", 0, [p]);
        t.bytes("k")
    }

    #[test]
    fn parts_are_segments_that_make_up_the_whole() {
        for (n, mtu) in [(100, 50), (100, 139), (101, 41), (1460, 576)] {
            let got = parts(&format!("MTU {mtu}"), segment(n, 0x19).marked());
            assert_eq!(got.len(), n.div_ceil(mtu - 40));
            let mut payload = Vec::<u8>::new();
            for (i, part) in got.iter().enumerate() {
                let ip = Ipv4::new(part).unwrap();
                let tcp = Tcp::new(ip.payload()).unwrap();
                assert!(part.len() <= mtu && usize::from(ip.total_len()) == part.len());
                assert!(ip.checksum_is_right());
                assert!(tcp.checksum_is_right(ip.pseudo_sum((part.len() - 20) as u16)));
                assert_eq!(tcp.sequence(), (u32::MAX - 9).wrapping_add(payload.len() as u32));
                assert_eq!(tcp.flags, if i + 1 == got.len() { 0x19 } else { 0x18 });
                payload.extend(tcp.payload());
            }
            assert!(payload.iter().copied().eq((0..n).map(|i| i as u8)));
        }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        for (args, n) in [("MTU 100", 59), ("MTU 40", 10), ("MTU_ANNO VLAN_TCI", 1000)] {
            let p = segment(n, 0x10);
            assert_eq!(parts(args, p.marked()), [p.bytes()], "{args}");
        }
        for odd in [ip("1.0.0.1", "2.0.0.2"), segment(200, 0).fragment(0x2000), segment(200, 0).fragment(5)] {
            assert_eq!(parts("MTU 60", odd.marked()), [odd.bytes()]);
        }
        assert_eq!(parts("MTU 60", segment(200, 0).packet()).len(), 1);
    }

    #[test]
    fn the_smaller_limit_counts_and_padding_goes() {
        let with = |n| {
            let mut p = segment(100, 0x10).marked();
            p.put(6);
            p.set_anno_u16(anno::VLAN_TCI, n);
            p
        };
        let lengths = |args, n| parts(args, with(n)).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths("MTU 90, MTU_ANNO VLAN_TCI", 80), [80, 80, 60]);
        assert_eq!(lengths("MTU 90, MTU_ANNO VLAN_TCI", 100), [90, 90]);
        assert_eq!(lengths("MTU 90, MTU_ANNO VLAN_TCI", 0), [90, 90]);
        assert!(
            Harness::errors("Idle -> TCPFragmenter -> Discard")
                .contains("At least one of MTU and MTU_ANNO must be set")
        );
    }
}
