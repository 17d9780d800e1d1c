//! IP6Fragmenter: keeps IPv6 packets longer than the MTU from a link. Read first: RFC 8200 §4.5 and §5.

use super::extension::{FIXED, FRAGMENT_LEN, Link, chain, next_header};
use super::fast::ip6_fragmenter::{Constants, fits};
use clickwork_packet::headers::{Header, Ipv6, Ipv6Header};
use clickwork_packet::{Batch, DEFAULT_HEADROOM, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "finds, or fragments, IPv6 packets longer than the MTU",
    manual: "Passes packets of up to MTU bytes. Longer ones go to output 1 if it is connected, for ICMP6Error to tell the \
             sender, and are dropped otherwise: routers do not fragment IPv6 packets (RFC 8200 §5). A host, or the entry of \
             a tunnel, may: with FRAGMENT true longer packets are cut into fragments, sent in order, under a random \
             identification. A packet that is a fragment already, or whose extension headers leave no room, goes to \
             output 1 all the same.",
    example: "InfiniteSource(DATA \\<6000000000003b40 20010db8000000000000000000000001 20010db8000000000000000000000002>, \
              LIMIT 1, STOP true) -> CheckIP6Header -> IP6Fragmenter(1500) -> Discard",
    ports: "1/1-2",
    processing: "h/h",
    packets: "ip6/ip6,same",
    args: &[
        ArgSpec::required("MTU", ArgType::U32, "the greatest length of an IPv6 packet"),
        ArgSpec::keyword("FRAGMENT", ArgType::Bool, "false", "fragment longer packets, as their source may"),
    ],
    handlers: &[
        read_handler!("drops", "packets that were too long", |e: &mut IP6Fragmenter, _| e.drops),
        read_handler!("fragments", "fragments made", |e: &mut IP6Fragmenter, _| e.fragments),
    ],
    fast: Some(FastPath::of::<IP6Fragmenter>().emitting_all()),
    ..Class::new("IP6Fragmenter", "ip6", || {
        let constants = Constants { mtu: 0 };
        Box::new(IP6Fragmenter { constants, fragment: false, fragments: 0, drops: 0 })
    })
};

struct IP6Fragmenter {
    constants: Constants,
    fragment: bool,
    fragments: u64,
    drops: u64,
}

fast_path!(IP6Fragmenter, ip6_fragmenter);

impl IP6Fragmenter {
    /// Sends a packet that is too long: as fragments if that is allowed and possible.
    fn too_long(&mut self, mut p: Packet, cx: &mut Cx<'_>) {
        if self.fragment && cut_padding(&mut p) && fits(&self.constants, &p) {
            return cx.emit(0, p);
        }
        let fragments = if self.fragment { self.cut(&p, cx.random()) } else { None };
        match fragments {
            Some(fragments) => {
                self.fragments += fragments.len() as u64;
                fragments.into_iter().for_each(|q| cx.emit(0, q));
            }
            None => {
                self.drops += 1;
                cx.emit_or_drop(1, p, "packet too big");
            }
        }
    }

    /// The fragments of a packet.
    fn cut(&self, p: &Packet, identification: u32) -> Option<Vec<Packet>> {
        let bytes = p.network_header()?;
        let ip = Ipv6::new(bytes)?;
        let whole = bytes.get(..FIXED + usize::from(ip.payload_len_field()))?;
        let place = fragment_place(&ip)?;
        let (head, payload) = whole.split_at_checked(place.offset)?;
        let room = (self.constants.mtu as usize).checked_sub(head.len() + FRAGMENT_LEN)? & !7;
        if room == 0 || payload.is_empty() {
            return None;
        }
        let pieces = payload.chunks(room).enumerate();
        let fragment = |(i, piece): (usize, &[u8])| {
            // The offset counts units of eight bytes, in the upper 13 bits.
            let at = i * room;
            let more = u16::from(at + piece.len() < payload.len());
            fragment(p, head, &place, piece, at as u16 | more, identification)
        };
        Some(pieces.map(fragment).collect())
    }
}

/// Cuts off what lies behind the IPv6 packet; false if that is not there as a whole.
fn cut_padding(p: &mut Packet) -> bool {
    let bytes = p.network_header().unwrap_or_default();
    let len = Ipv6Header::peek(bytes).map_or(usize::MAX, |ip| FIXED + usize::from(ip.payload_len_field()));
    let padding = bytes.len().checked_sub(len);
    p.take(padding.unwrap_or(0));
    padding.is_some()
}

/// Where the fragment header goes: behind the headers that every fragment needs on its way, hop-by-hop options and those up
/// to a routing header. Nothing if the packet is a fragment.
fn fragment_place(ip: &Ipv6<'_>) -> Option<Link> {
    let links: Vec<Link> = chain(ip).collect();
    let needed = |kind: u8| matches!(kind, next_header::HOP_BY_HOP | next_header::ROUTING);
    let place = links.iter().rposition(|link| needed(link.kind)).map_or(0, |i| i + 1);
    links.get(place).copied().filter(|_| links.iter().all(|link| link.kind != next_header::FRAGMENT))
}

fn fragment(p: &Packet, head: &[u8], place: &Link, piece: &[u8], field: u16, identification: u32) -> Packet {
    let payload_len = head.len() - FIXED + FRAGMENT_LEN + piece.len();
    let mut q = Packet::recycled(DEFAULT_HEADROOM, FIXED + payload_len, 0);
    let (q_head, rest) = q.data_mut().split_at_mut(head.len());
    q_head.copy_from_slice(head);
    q_head[place.named_at] = next_header::FRAGMENT;
    if let Some(header) = Ipv6Header::peek_mut(q_head) {
        header.set_payload_len(payload_len as u16);
    }
    let (fragment, data) = rest.split_at_mut(FRAGMENT_LEN);
    fragment[..2].copy_from_slice(&[place.kind, 0]);
    fragment[2..4].copy_from_slice(&field.to_be_bytes());
    fragment[4..].copy_from_slice(&identification.to_be_bytes());
    data.copy_from_slice(piece);
    q.set_network_header(0, FIXED as u32);
    q.copy_annotations(p);
    q
}

impl Element for IP6Fragmenter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("MTU", &mut self.constants.mtu).read("FRAGMENT", &mut self.fragment);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if batch.iter().all(|p| fits(&self.constants, p)) {
            return;
        }
        for p in batch.take() {
            match fits(&self.constants, &p) {
                true => cx.emit(0, p),
                false => self.too_long(p, cx),
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IP6Fragmenter>(old) {
            (self.drops, self.fragments) = (old.drops, old.fragments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, header, ip6};
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn long(payload: u8) -> Sample {
        ip6("2001:db8::1", "2001:db8::2").payload(17, &(0..payload).collect::<Vec<u8>>())
    }

    #[test]
    fn a_router_passes_what_fits_and_nothing_else() {
        for batched in [false, true] {
            let config = "s :: Source -> f :: IP6Fragmenter(60) -> k :: Sink; f[1] -> big :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let packets = [long(20), long(21), long(3)];
            match batched {
                true => t.push_batch("s", 0, packets.iter().map(Sample::marked)),
                false => t.push("s", 0, packets.iter().map(Sample::marked)),
            }
            assert_eq!(t.bytes("k"), [packets[0].bytes(), packets[2].bytes()]);
            assert_eq!((t.bytes("big"), t.read("f.drops")), (vec![packets[1].bytes()], "1".into()));
        }
        let mut t = Harness::new("s :: Source -> f :: IP6Fragmenter(60) -> k :: Sink");
        t.push("s", 0, [long(21).marked()]);
        assert_eq!(t.read("f.drop_reasons"), "1\tpacket too big\n");
    }

    /// Next header of the fragment header, offset, whether more follow, identification, payload.
    fn seen(bytes: &[u8], at: usize) -> (u8, u16, bool, u32, Vec<u8>) {
        assert_eq!(usize::from(header(bytes).payload_len_field()), bytes.len() - 40);
        let f = &bytes[at..];
        let field = u16::from_be_bytes([f[2], f[3]]);
        let id = u32::from_be_bytes([f[4], f[5], f[6], f[7]]);
        (f[0], field & !7, field & 1 == 1, id, f[8..].to_vec())
    }

    #[test]
    fn a_host_fragments_and_the_pieces_make_the_whole() {
        let mut t =
            Harness::new("s :: Source -> Paint(9) -> f :: IP6Fragmenter(80, FRAGMENT true) -> k :: Sink");
        t.push("s", 0, [long(100).marked()]);
        let packets = t.take("k");
        assert!(packets.iter().all(|p| p.paint() == 9 && p.len() <= 80 && p.network_offset() == Some(0)));
        let pieces: Vec<_> = packets.iter().map(|p| seen(p.data(), 40)).collect();
        let shape: Vec<_> = pieces.iter().map(|p| (p.0, p.1, p.2, p.4.len())).collect();
        assert_eq!(shape, [(17, 0, true, 32), (17, 32, true, 32), (17, 64, true, 32), (17, 96, false, 4)]);
        assert!(pieces.iter().all(|p| p.3 == pieces[0].3) && packets.iter().all(|p| p.data()[6] == 44));
        let joined: Vec<u8> = pieces.into_iter().flat_map(|p| p.4).collect();
        assert_eq!((joined, t.read("f.fragments")), ((0..100).collect(), "4".into()));
    }

    #[test]
    fn padding_is_no_part_of_a_packet_that_a_host_sends() {
        let mut t = Harness::new("s :: Source -> f :: IP6Fragmenter(60, FRAGMENT true) -> k :: Sink");
        for (payload, lengths) in [(0, vec![40]), (20, vec![60]), (21, vec![56, 56, 53])] {
            let mut padded = long(payload).marked();
            padded.put(70);
            t.push("s", 0, [padded]);
            assert_eq!(t.bytes("k").iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        }
    }

    #[test]
    fn headers_for_the_way_go_into_every_fragment() {
        let mut t = Harness::new("s :: Source -> f :: IP6Fragmenter(80, FRAGMENT true) -> k :: Sink");
        let options = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
        // Hop-by-hop options and a routing header, then options for the destination.
        let chain = [options(43), options(60), options(17)].concat();
        let payload = [&chain[..], &[7; 30]].concat();
        t.push("s", 0, [ip6("::1", "::2").payload(0, &payload).marked()]);
        let packets = t.bytes("k");
        assert_eq!(packets[0][40..56], [&options(43)[..], &[44, 0, 1, 4, 0, 0, 0, 0]].concat());
        let lengths: Vec<_> = packets.iter().map(|b| seen(b, 56)).map(|p| (p.0, p.4.len())).collect();
        assert_eq!(lengths, [(60, 16), (60, 16), (60, 6)]);
    }

    #[test]
    fn what_cannot_be_cut_goes_where_routers_send_it() {
        let mut t = Harness::new("s :: Source -> f :: IP6Fragmenter(60, FRAGMENT true) -> k :: Sink");
        let fragment = ip6("::1", "::2").payload(44, &[&[17, 0, 0, 1, 0, 0, 0, 9][..], &[0; 40]].concat());
        let no_room = ip6("::1", "::2").payload(0, &[&[17, 1][..], &[0; 60]].concat());
        let mut cut_short = long(100).marked();
        cut_short.take(1);
        // Something stands before the header, and nothing behind it.
        let mut empty = Packet::new(&[&[0; 30][..], &long(0).bytes()].concat());
        empty.set_network_header(30, 40);
        t.push("s", 0, [fragment.marked(), no_room.marked(), cut_short, empty, Packet::new(&[0; 100])]);
        assert_eq!((t.bytes("k").len(), t.read("f.drops")), (0, "5".into()));
    }
}
