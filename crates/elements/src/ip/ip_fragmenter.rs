//! IPFragmenter: cuts IP packets that are too long into fragments. Read first: RFC 791 §2.3 and §3.1 (options).

use super::fast::ip_fragmenter::{Constants, fits};
use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, MORE_FRAGMENTS, option};
use clickwork_packet::headers::{Ipv4, Ipv4Header, Ipv4Mut};
use clickwork_packet::{Batch, DEFAULT_HEADROOM, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "fragments IP packets longer than the MTU",
    manual: "Cuts IP packets longer than MTU bytes into fragments, sent in order; shorter packets pass as they are. Options \
             go into the first fragment, and into the others if they are of a kind to be copied. A packet that must not be \
             fragmented goes to output 1 if it is connected, and is dropped otherwise; with HONOR_DF false it is \
             fragmented all the same, under a random identification. The first five of such packets (all with VERBOSE) \
             are reported. HEADROOM is the room left before each fragment for headers to come.",
    example: "InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 1, STOP true) -> CheckIPHeader \
              -> IPFragmenter(1500) -> Discard",
    ports: "1/1-2",
    processing: "h/h",
    packets: "ip/ip,same",
    args: &[
        ArgSpec::required("MTU", ArgType::U32, "the greatest length of an IP packet, at least 8"),
        ArgSpec::positional("HONOR_DF", ArgType::Bool, "true", "whether \"don't fragment\" counts"),
        ArgSpec::positional(
            "VERBOSE",
            ArgType::Bool,
            "false",
            "report all packets that cannot be fragmented",
        ),
        ArgSpec::keyword("HEADROOM", ArgType::U32, "28", "room before each fragment, in bytes"),
    ],
    handlers: &[
        read_handler!("drops", "packets that could not be fragmented", |e: &mut IPFragmenter, _| e.drops),
        read_handler!("fragments", "fragments made", |e: &mut IPFragmenter, _| e.fragments),
    ],
    fast: Some(FastPath::of::<IPFragmenter>().emitting_all()),
    ..Class::new("IPFragmenter", "ip", || Box::<IPFragmenter>::default())
};

struct IPFragmenter {
    constants: Constants,
    honor_df: bool,
    verbose: bool,
    headroom: u32,
    fragments: u64,
    drops: u64,
}

impl Default for IPFragmenter {
    fn default() -> IPFragmenter {
        let headroom = DEFAULT_HEADROOM as u32;
        IPFragmenter {
            constants: Constants { mtu: 0 },
            honor_df: true,
            verbose: false,
            headroom,
            fragments: 0,
            drops: 0,
        }
    }
}

fast_path!(IPFragmenter, ip_fragmenter);

impl IPFragmenter {
    /// Sends a packet that is too long: as fragments if that is possible.
    fn fragment(&mut self, mut p: Packet, cx: &mut Cx<'_>) {
        let Some(ip) = p.network_header().and_then(Ipv4::new) else {
            return cx.drop(p, "no IP header");
        };
        let (len, available) = (usize::from(ip.total_len()), p.network_header().map_or(0, <[u8]>::len));
        if len < ip.ihl() || len > available {
            return cx.drop(p, "bad IP length");
        }
        let first = self.room(ip.ihl());
        if (ip.dont_fragment() && self.honor_df) || first < 8 {
            return self.refuse(p, cx);
        }
        p.take(available - len);
        if fits(&self.constants, &p) {
            return cx.emit(0, p);
        }
        if ip_header(&mut p).dont_fragment() {
            // Who forbids fragments need not number packets: a random number must do.
            let number = cx.random() as u16;
            ip_header(&mut p).set_identification(number);
        }
        self.cut(p, first, cx);
    }

    /// Bytes of payload that fit behind a header, a multiple of 8.
    fn room(&self, header_len: usize) -> usize {
        (self.constants.mtu as usize).saturating_sub(header_len) & !7
    }

    fn refuse(&mut self, p: Packet, cx: &mut Cx<'_>) {
        if let Some(ip) = p.network_header().and_then(Ipv4::new) {
            let (mtu, source, destination) = (self.constants.mtu, ip.source(), ip.destination());
            let line = || format!("IPFragmenter({mtu}) DF {source} {destination} len={}", p.len());
            if self.verbose { cx.chatter(&line()) } else { cx.report("DF", line) }
        }
        self.drops += 1;
        cx.emit_or_drop(1, p, "must not be fragmented");
    }

    /// Sends the packet as a first fragment with `first` bytes of payload, then the rest.
    fn cut(&mut self, mut p: Packet, first: usize, cx: &mut Cx<'_>) {
        let header = ip_header(&mut p);
        let (header_len, field) = (header.ihl(), header.fragment_field() & !DONT_FRAGMENT);
        let whole = p.network_header().unwrap_or_default().to_vec();
        let (head, payload) = whole.split_at(header_len);
        p.take(payload.len() - first);
        complete(&mut p, field | MORE_FRAGMENTS);
        let rest_head = rest_header(head);
        let room = self.room(rest_head.len());
        let rest: Vec<Packet> = payload[first..]
            .chunks(room)
            .enumerate()
            .map(|(i, piece)| {
                let at = first + i * room;
                let more = if at + piece.len() < payload.len() { MORE_FRAGMENTS } else { 0 };
                self.rest_fragment(&p, &rest_head, piece, (field + (at / 8) as u16) | more)
            })
            .collect();
        self.fragments += 1 + rest.len() as u64;
        cx.emit(0, p);
        rest.into_iter().for_each(|q| cx.emit(0, q));
    }

    fn rest_fragment(&self, first: &Packet, head: &[u8], piece: &[u8], field: u16) -> Packet {
        let mut q = Packet::recycled(self.headroom as usize, head.len() + piece.len(), 0);
        let (q_head, q_piece) = q.data_mut().split_at_mut(head.len());
        q_head.copy_from_slice(head);
        q_piece.copy_from_slice(piece);
        q.set_network_header(0, head.len() as u32);
        q.copy_annotations(first);
        complete(&mut q, field);
        q
    }
}

/// The header of a packet known to have one.
fn ip_header(p: &mut Packet) -> Ipv4Mut<'_> {
    p.network_header_mut().and_then(Ipv4Mut::new).expect("its header was seen before")
}

/// Sets what tells a fragment: its length and its place, and then the checksum.
fn complete(p: &mut Packet, field: u16) {
    let len = p.network_header().map_or(0, <[u8]>::len) as u16;
    let mut ip = ip_header(p);
    ip.set_total_len(len);
    ip.set_fragment_field(field);
    ip.fill_checksum();
}

/// The header of fragments after the first: with those options only that go into every fragment.
fn rest_header(first: &[u8]) -> Vec<u8> {
    let mut header = first[..size_of::<Ipv4Header>()].to_vec();
    let options = Ipv4::new(first).into_iter().flat_map(|ip| ip.options()).map_while(Result::ok);
    for o in options.filter(|o| o.kind & option::COPIED != 0) {
        header.extend([o.kind, o.len() as u8]);
        header.extend(o.data);
    }
    header.resize(header.len().next_multiple_of(4), 0);
    header[0] = 0x40 | (header.len() / 4) as u8;
    header
}

impl Element for IPFragmenter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mtu = args.get("MTU");
        args.read("HONOR_DF", &mut self.honor_df).read("VERBOSE", &mut self.verbose);
        args.read_with("HEADROOM", Bounded(0..=u32::from(u16::MAX)), &mut self.headroom);
        let Some(mtu) = mtu else { return };
        self.constants.mtu = mtu;
        if mtu < 8 {
            args.error("MTU must be at least 8");
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if batch.iter().all(|p| fits(&self.constants, p)) {
            return;
        }
        for p in batch.take() {
            match fits(&self.constants, &p) {
                true => cx.emit(0, p),
                false => self.fragment(p, cx),
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IPFragmenter>(old) {
            (self.fragments, self.drops) = (old.fragments, old.drops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip};
    use super::*;
    use crate::testing::Harness;

    fn long(len: usize) -> Sample {
        ip("1.0.0.1", "2.0.0.2").payload(17, &(0..len).map(|i| i as u8).collect::<Vec<_>>())
    }

    /// Header length, fragment field and payload of each packet, which must be well formed.
    fn seen(packets: &[Packet]) -> Vec<(usize, u16, Vec<u8>)> {
        let look = |p: &Packet| {
            let ip = Ipv4::new(p.network_header().unwrap()).unwrap();
            assert!(ip.checksum_is_right() && usize::from(ip.total_len()) == p.len());
            (ip.ihl(), ip.fragment_field(), ip.payload().to_vec())
        };
        packets.iter().map(look).collect()
    }

    #[test]
    fn fragments_come_in_order_between_their_neighbours() {
        for batched in [false, true] {
            let config = "s :: Source -> f :: IPFragmenter(60) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let packets = [long(10).marked(), long(100).marked(), long(11).marked()];
            if batched {
                t.push_batch("s", 0, packets)
            } else {
                t.push("s", 0, packets)
            }
            let got = seen(&t.take("k"));
            let shape: Vec<_> = got.iter().map(|(h, f, d)| (*h, *f, d.len())).collect();
            let more = MORE_FRAGMENTS;
            assert_eq!(shape, [(20, 0, 10), (20, more, 40), (20, more | 5, 40), (20, 10, 20), (20, 0, 11)]);
            let joined: Vec<u8> = got[1..4].iter().flat_map(|(_, _, d)| d.clone()).collect();
            assert_eq!(joined, (0..100).collect::<Vec<u8>>());
            assert_eq!((t.read("f.fragments"), t.read("f.drops")), ("3".into(), "0".into()));
        }
    }

    #[test]
    fn only_options_of_the_copied_kind_go_into_later_fragments() {
        let mut t = Harness::new("s :: Source -> IPFragmenter(60) -> k :: Sink");
        let options = [7, 3, 4, 1, 148, 4, 0, 0, 68, 4, 5, 0, 131, 3, 4];
        t.push("s", 0, [long(60).options(&options).marked()]);
        let packets = t.take("k");
        let shape: Vec<_> = seen(&packets).into_iter().map(|(h, f, d)| (h, f, d.len())).collect();
        assert_eq!(shape, [(36, MORE_FRAGMENTS, 24), (28, MORE_FRAGMENTS | 3, 32), (28, 7, 4)]);
        assert_eq!(packets[1].data()[20..28], [148, 4, 0, 0, 131, 3, 4, 0]);
    }

    #[test]
    fn a_fragment_is_fragmented_further() {
        let mut t = Harness::new("s :: Source -> IPFragmenter(44) -> k :: Sink");
        t.push("s", 0, [long(40).fragment(MORE_FRAGMENTS | 100).marked()]);
        let fields: Vec<_> = seen(&t.take("k")).into_iter().map(|(_, f, _)| f).collect();
        assert_eq!(fields, [MORE_FRAGMENTS | 100, MORE_FRAGMENTS | 103]);
    }

    #[test]
    fn dont_fragment_is_honoured_unless_told_otherwise() {
        let mut t = Harness::new("s :: Source -> f :: IPFragmenter(60) -> k :: Sink; f[1] -> df :: Sink");
        t.push("s", 0, (0..7).map(|_| long(100).fragment(DONT_FRAGMENT).marked()));
        assert_eq!((t.bytes("k").len(), t.bytes("df").len(), t.read("f.drops")), (0, 7, "7".into()));
        assert_eq!(t.printed(), "IPFragmenter(60) DF 1.0.0.1 2.0.0.2 len=120\n".repeat(5));

        let mut t = Harness::new("s :: Source -> IPFragmenter(60, HONOR_DF false) -> k :: Sink");
        t.push("s", 0, [long(100).fragment(DONT_FRAGMENT).marked()]);
        let fields: Vec<_> = seen(&t.take("k")).into_iter().map(|(_, f, _)| f).collect();
        assert_eq!(fields, [MORE_FRAGMENTS, MORE_FRAGMENTS | 5, 10]);
    }

    #[test]
    fn fragments_carry_the_annotations() {
        let mut t = Harness::new("s :: Source -> Paint(9) -> IPFragmenter(60) -> k :: Sink");
        t.push("s", 0, [long(100).marked()]);
        assert!(t.take("k").iter().all(|p| p.paint() == 9 && p.headroom() >= 28));
    }

    #[test]
    fn padding_is_cut_off_and_damage_dropped() {
        let mut t = Harness::new("s :: Source -> f :: IPFragmenter(60) -> k :: Sink");
        let mut padded = Packet::new(&[long(30).bytes(), vec![0; 30]].concat());
        padded.set_network_header(0, 20);
        let mut damaged = long(100).marked();
        damaged.take(1);
        t.push("s", 0, [padded, damaged, Packet::new(&[0; 100])]);
        assert_eq!(t.bytes("k"), [long(30).bytes()]);
        assert_eq!(t.read("f.drop_reasons"), "1\tbad IP length\n1\tno IP header\n");
    }

    #[test]
    fn the_mtu_has_a_least_value() {
        assert!(Harness::errors("Idle -> IPFragmenter(7) -> Discard").contains("MTU must be at least 8"));
        assert!(!Harness::errors("Idle -> IPFragmenter(none) -> Discard").contains("at least"));
    }
}
