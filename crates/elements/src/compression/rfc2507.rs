//! RFC2507Comp and RFC2507Decomp: the header compression that Click had, which is a part of RFC 2507 with its own packet
//! types. Headers here are 40 bytes: IPv4 and TCP without options; options travel as data.

use super::compress_ip::replace_front;
use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::headers::{Header, Ipv4Header, Ipv4Mut, TcpHeader};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};
use std::collections::HashMap;

const EXAMPLE: &str = "InfiniteSource(LIMIT 3, STOP true) -> UDPIPEncap(10.0.0.1, 9, 10.0.0.2, 9) -> RFC2507Comp \
                       -> RFC2507Decomp -> CheckIPHeader -> Discard";

/// The class facts.
pub static COMP: Class = Class {
    help: "compresses TCP headers, as Click did",
    manual: "For old configurations; CompressIP does more, and recovers from losses.\n\n\
             Compresses the headers of IPv4 packets with TCP. The data must begin with the marked IP header. A byte in front \
             tells the kind of packet: 0 for packets as they are, 1 for a whole header with the number of its context, 2 for \
             TCP with differences from the packet before. There are 14 contexts; a new connection takes one by chance. Each \
             packet that is not compressed is told of, as in Click. Headers from which Click's decompressor would make \
             something else (an unchanged identification, other flags) are sent whole.",
    example: EXAMPLE,
    packets: "ip@0/any",
    ..Class::new("RFC2507Comp", "compression", || Box::<Comp>::default())
};

/// The class facts.
pub static DECOMP: Class = Class {
    help: "restores TCP headers that RFC2507Comp compressed, as Click did",
    manual: "For old configurations; DecompressIP recovers from losses.\n\n\
             Restores the packets that RFC2507Comp compressed. Packets with differences are restored with whatever context \
             there is: after a loss they come out wrong, with a wrong TCP checksum, until the next whole header. Each packet is \
             told of, and wrong checksums, as in Click.",
    example: EXAMPLE,
    packets: "any/any",
    ..Class::new("RFC2507Decomp", "compression", || Box::<Decomp>::default())
};

/// Contexts are numbered 1 to 14.
const TCP_SPACE: u8 = 15;
/// Bytes of the headers of a context.
const HEADERS: usize = 40;
/// A packet as it is.
const OTHER: u8 = 0;
/// A packet with its whole header.
const FULL: u8 = 1;
/// A packet with differences.
const COMPRESSED: u8 = 2;

/// Bits of the third byte.
const U: u8 = 1;
const W: u8 = 1 << 1;
const A: u8 = 1 << 2;
const S: u8 = 1 << 3;
const P: u8 = 1 << 4;
const I: u8 = 1 << 5;

type Headers = [u8; HEADERS];

/// Both headers of a context.
fn split(headers: &Headers) -> Option<(&Ipv4Header, &TcpHeader)> {
    let (ip, tcp) = headers.split_at(20);
    Ipv4Header::peek(ip).zip(TcpHeader::peek(tcp))
}

/// Addresses, and ports.
type Flow = [u8; 12];

fn flow(headers: &Headers) -> Flow {
    let mut flow = [0; 12];
    flow.copy_from_slice(&headers[12..24]);
    flow
}

#[derive(Default)]
struct Comp {
    by_flow: HashMap<Flow, u8>,
    contexts: [Option<Headers>; TCP_SPACE as usize],
}

impl Comp {
    fn compress(&mut self, headers: &Headers, cx: &mut Cx<'_>) -> Vec<u8> {
        let flow = flow(headers);
        let cid = match self.by_flow.get(&flow) {
            Some(&cid) => cid,
            None => self.assign(flow, cx),
        };
        let old = self.contexts[usize::from(cid)].replace(*headers).filter(|old| self::flow(old) == flow);
        let differences = old.map(|old| differences(&old, headers));
        match differences {
            Some(Ok(differences)) => [&[COMPRESSED, cid][..], &differences].concat(),
            why => {
                if let Some(Err(why)) = why {
                    cx.report(why, || why.to_string());
                }
                [&[FULL, cid][..], headers].concat()
            }
        }
    }

    /// Gives a connection a context by chance.
    fn assign(&mut self, flow: Flow, cx: &mut Cx<'_>) -> u8 {
        let cid = (cx.random() % u32::from(TCP_SPACE - 1)) as u8 + 1;
        if let Some(old) = &self.contexts[usize::from(cid)] {
            self.by_flow.remove(&self::flow(old));
        }
        self.by_flow.insert(flow, cid);
        let port = |at: usize| u16::from_be_bytes([flow[at], flow[at + 1]]);
        cx.report("new connections", || format!("sport {} dport {} added cid {cid}", port(8), port(10)));
        cid
    }
}

/// What stands between the context's number and the data; or Click's words about why not.
fn differences(old: &Headers, new: &Headers) -> Result<Vec<u8>, &'static str> {
    const OTHERWISE: &str = "full1";
    let ((old_ip, old_tcp), (ip, tcp)) = split(old).zip(split(new)).ok_or(OTHERWISE)?;
    let same_ip = (old_ip.tos, old_ip.ttl, old_ip.fragment_field()) == (ip.tos, ip.ttl, ip.fragment_field());
    let kept = |tcp: &TcpHeader| tcp.flags & !(flag::PSH | flag::URG);
    let urgent = tcp.flags & flag::URG != 0;
    if !same_ip
        || old[32] != new[32]
        || kept(old_tcp) != kept(tcp)
        || urgent != (old_tcp.urgent() != tcp.urgent())
    {
        return Err(OTHERWISE);
    }
    let (mut flags, mut out) = (if tcp.flags & flag::PSH != 0 { P } else { 0 }, Vec::new());
    let mut put = |bit: u8, old: u32, new: u32, why: &'static str| {
        // Click compares with a sign.
        let growth =
            (new as i32).checked_sub(old as i32).filter(|growth| (0..65536).contains(growth)).ok_or(why)?;
        match growth {
            0 => {}
            1..256 => out.push(growth as u8),
            _ => out.extend([0, (growth >> 8) as u8, growth as u8]),
        }
        flags |= if growth == 0 { 0 } else { bit };
        Ok::<(), &'static str>(())
    };
    put(U, old_tcp.urgent().into(), tcp.urgent().into(), "full urp")?;
    put(W, old_tcp.window().into(), tcp.window().into(), "full win")?;
    put(A, old_tcp.acknowledgment(), tcp.acknowledgment(), "full ack")?;
    put(S, old_tcp.sequence(), tcp.sequence(), "full seq")?;
    let (old_id, id) = (u32::from(old_ip.identification()), u32::from(ip.identification()));
    if id == old_id {
        return Err("full id");
    } else if id != old_id + 1 {
        put(I, old_id, id, "full id")?;
    }
    Ok([&[flags][..], &new[36..38], &out].concat())
}

/// The headers of a packet that can be compressed.
fn compressible(data: &[u8]) -> Option<Headers> {
    const KINDS: u8 = flag::FIN | flag::SYN | flag::RST | flag::ACK;
    let headers: &Headers = data.first_chunk()?;
    let (ip, tcp) = split(headers)?;
    let plain = headers[0] == 0x45 && ip.protocol == 6 && !ip.is_fragment();
    // The length is restored from the packet, so it must be the packet's.
    let whole = usize::from(ip.total_len()) == data.len();
    (plain && whole && tcp.flags & KINDS == flag::ACK).then_some(*headers)
}

impl SimpleElement for Comp {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if p.network_offset() != Some(0) {
            return Verdict::Drop("no IP header");
        }
        match compressible(p.data()) {
            Some(headers) => {
                let head = self.compress(&headers, cx);
                p.pull(HEADERS);
                replace_front(p, &head, &[]);
            }
            None => {
                cx.report("cannot compress packet", || "cannot compress packet".to_string());
                replace_front(p, &[OTHER], &[]);
            }
        }
        p.clear_annotations();
        Verdict::PASS
    }
}

#[derive(Default)]
struct Decomp {
    contexts: [Option<Headers>; TCP_SPACE as usize],
}

impl Decomp {
    fn decompress(&mut self, p: &mut Packet, cx: &Cx<'_>) -> Option<()> {
        let &[kind, cid, ref rest @ ..] = p.data() else { return None };
        if kind == OTHER {
            p.pull(1);
            return Some(());
        }
        if kind == FULL {
            cx.report("2507d: got full header", || "2507d: got full header".to_string());
        }
        let context = self.contexts.get_mut(usize::from(cid)).filter(|_| cid != 0)?;
        match kind {
            FULL => {
                *context = Some(*rest.first_chunk()?);
                p.pull(2);
            }
            COMPRESSED => {
                let mut headers = (*context)?;
                let used = restore(&mut headers, rest)?;
                let len = u16::try_from(rest.len() - used + HEADERS).ok()?;
                let mut ip = Ipv4Mut::new(&mut headers)?;
                ip.set_total_len(len);
                ip.fill_checksum();
                *context = Some(headers);
                p.pull(2 + used);
                replace_front(p, &headers, &[]);
            }
            _ => return None,
        }
        Some(())
    }
}

/// Applies differences to headers, and gives how many bytes they took.
fn restore(headers: &mut Headers, data: &[u8]) -> Option<usize> {
    let (&[flags, high, low], mut rest) = data.split_first_chunk()?;
    let mut growth = |bit: u8| {
        if flags & bit == 0 {
            return Some(0);
        }
        let (growth, taken) = match *rest {
            [0, high, low, ..] => (u16::from_be_bytes([high, low]), 3),
            [0, ..] | [] => return None,
            [small, ..] => (u16::from(small), 1),
        };
        rest = &rest[taken..];
        Some(growth)
    };
    let (ip, tcp) = headers.split_at_mut(20);
    let (ip, tcp) = Ipv4Header::peek_mut(ip).zip(TcpHeader::peek_mut(tcp))?;
    tcp.set_checksum(u16::from_be_bytes([high, low]));
    let set = |condition: bool, flag: u8| if condition { flag } else { 0 };
    tcp.flags = tcp.flags & !(flag::PSH | flag::URG)
        | set(flags & P != 0, flag::PSH)
        | set(flags & U != 0, flag::URG);
    tcp.set_urgent(tcp.urgent().wrapping_add(growth(U)?));
    tcp.set_window(tcp.window().wrapping_add(growth(W)?));
    tcp.set_acknowledgment(tcp.acknowledgment().wrapping_add(growth(A)?.into()));
    tcp.set_sequence(tcp.sequence().wrapping_add(growth(S)?.into()));
    let id_growth = if flags & I != 0 { growth(I)? } else { 1 };
    ip.set_identification(ip.identification().wrapping_add(id_growth));
    Some(data.len() - rest.len())
}

/// Click's words about a packet that comes out.
fn report(data: &[u8], cx: &Cx<'_>) {
    let Some((ip, tcp)) = data.first_chunk::<HEADERS>().and_then(split) else { return };
    let length = data.len() - HEADERS;
    cx.report("packets", || format!("seq {} len {length}", tcp.sequence() as i32));
    if data.get(..ip.ihl()).is_none_or(|header| checksum(header) != 0) {
        cx.report("ip cksum failed", || " ip cksum failed".to_string());
    }
    let segment = usize::from(ip.total_len()).checked_sub(20);
    let segment = segment.and_then(|len| data.get(20..20 + len));
    let right = |s: &[u8]| ip.pseudo_sum(s.len() as u16).bytes(s).finish() == 0;
    if !segment.is_some_and(right) {
        cx.report("tcp cksum failed", || " tcp cksum failed".to_string());
    }
}

impl SimpleElement for Decomp {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.decompress(p, cx).is_none() {
            cx.report("RFC2507d: no q", || "RFC2507d: no q".to_string());
            return Verdict::Drop("malformed");
        }
        p.clear_annotations();
        report(p.data(), cx);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Talker;
    use super::*;
    use crate::ip::samples::ip;
    use crate::testing::Harness;

    const PSH: u8 = flag::PSH;

    fn link() -> Harness {
        Harness::new(
            "s :: Source -> MarkIPHeader -> c :: RFC2507Comp -> wire :: Sink; r :: Source -> d :: RFC2507Decomp -> k :: Sink",
        )
    }

    fn compressed(t: &mut Harness, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        t.push("s", 0, packets.iter().map(|p| Packet::new(p)));
        t.bytes("wire")
    }

    #[test]
    fn packets_are_as_click_has_them_and_come_back() {
        let mut t = link();
        let mut talker = Talker::new(7);
        let mut packets = vec![talker.say(10), talker.say(300)];
        talker.flags |= PSH;
        talker.window += 2;
        packets.push(talker.say(1));
        talker.flags &= !PSH;
        talker.id += 4;
        talker.acknowledgment += 1;
        packets.push(talker.say(0));
        packets.push(ip("1.0.0.1", "2.0.0.2").bytes());
        let wire = compressed(&mut t, &packets);
        let cid = wire[0][1];
        assert!((1..15).contains(&cid));
        assert_eq!(wire[0], [&[1, cid][..], &packets[0]].concat());
        let sum = |n: usize| &packets[n][36..38];
        assert_eq!(wire[1], [&[2, cid, S][..], sum(1), &[10], &packets[1][40..]].concat());
        assert_eq!(wire[2], [&[2, cid, S | W | P][..], sum(2), &[2, 0, 1, 44], &packets[2][40..]].concat());
        assert_eq!(wire[3], [&[2, cid, S | A | I][..], sum(3), &[1, 1, 5]].concat());
        assert_eq!(wire[4], [&[0][..], &packets[4]].concat());
        assert_eq!(t.printed(), format!("sport 7 dport 80 added cid {cid}\ncannot compress packet\n"));
        t.push("r", 0, wire.iter().map(|p| Packet::new(p)));
        assert_eq!(t.bytes("k"), packets);
        let printed = t.printed();
        assert!(
            printed.starts_with("2507d: got full header\nseq -4096 len 10\nseq -4086 len 300\n"),
            "{printed}"
        );
    }

    #[test]
    fn what_differences_cannot_say_is_sent_whole() {
        let mut t = link();
        let changes: [fn(&mut Talker); 7] = [
            |t| t.ttl -= 1,
            |t| t.window -= 1,
            |t| t.acknowledgment -= 1,
            |t| t.sequence = t.sequence.wrapping_add(70_000),
            |t| t.id -= 1,
            |t| t.flags |= flag::ECE,
            |t| t.flags |= flag::URG,
        ];
        let mut talker = Talker::new(7);
        compressed(&mut t, &[talker.say(1)]);
        t.printed();
        for (change, why) in changes.iter().zip(["1", " win", " ack", " seq", " id", "1", "1"]) {
            change(&mut talker);
            let packet = talker.say(1);
            let wire = compressed(&mut t, std::slice::from_ref(&packet));
            assert_eq!((wire[0][0], t.printed()), (1, format!("full{why}\n")));
            t.push("r", 0, [Packet::new(&wire[0])]);
            assert_eq!(t.bytes("k"), [packet]);
            t.printed();
        }
    }

    #[test]
    fn many_connections_share_the_contexts() {
        let mut t = link();
        let mut talkers: Vec<_> = (0..40).map(Talker::new).collect();
        let packets: Vec<_> = (0..400).map(|n| talkers[n * 7 % 40].say(n % 5)).collect();
        let wire = compressed(&mut t, &packets);
        assert!(wire.iter().any(|p| p[0] == 2));
        t.push("r", 0, wire.iter().map(|p| Packet::new(p)));
        assert_eq!(t.bytes("k"), packets);
        assert!(!t.printed().contains("failed"));
    }

    #[test]
    fn malformed_packets_are_dropped_and_damage_is_told() {
        let mut t = link();
        let mut talker = Talker::new(7);
        let wire = compressed(&mut t, &[talker.say(1), talker.say(1)]);
        t.printed();
        let bad: [&[u8]; 7] = [&[], &[0], &[1, 0, 9], &[1, 15, 9], &[2, 3, 0, 0, 0], &[7, 1, 2], &[1, 3, 4]];
        t.push("r", 0, bad.map(Packet::new));
        assert_eq!((t.bytes("k").len(), t.read("d.drop_reasons")), (0, "7\tmalformed\n".into()));
        t.printed();
        let cut = &wire[1][..5];
        let mut damaged = wire[1].clone();
        damaged[3] ^= 1;
        t.push("r", 0, [&wire[0], cut, &damaged].map(|p: &[u8]| Packet::new(p)));
        assert_eq!(t.bytes("k").len(), 2);
        assert!(t.printed().ends_with(" tcp cksum failed\n"));
    }
}
