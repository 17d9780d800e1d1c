//! ARPResponder: answers ARP queries (RFC 826).

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix};
use clickwork_packet::headers::arp::{Arp, ArpHeader, operation};
use clickwork_packet::headers::ethernet::{EthernetHeader, ethertype};
use clickwork_packet::{DEFAULT_HEADROOM, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HostOrPrefix, Names, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::{
    Class, Cx, Element, SimpleElement, Verdict, read_handler, read_param_handler, write_handler,
};
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers ARP queries for given addresses",
    manual: "Each argument is a list of IP addresses or prefixes and the Ethernet address that queries for them are \
             answered with; of several prefixes the longest wins. Other packets go to output 1 if it is connected.",
    example: "InfiniteSource(DATA \\<ffffffffffff020000000003 0806 0001080006040001 0200000000030a000002 \
              0000000000000a000001>, LIMIT 1, STOP true) -> ARPResponder(10.0.0.1 2:0:0:0:0:1, 10.1.0.0/16 \
              2:0:0:0:0:2) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only arp-query/new arp-reply,same",
    args: &[ArgSpec::rest(
        "ENTRY",
        ArgType::Other("IP[/MASK]... ETHER"),
        "addresses and the answer for them",
    )],
    handlers: &[
        read_handler!("table", "addresses and answers", |e: &mut ArpResponder, _| e.print()),
        read_param_handler!("lookup", "the answer for an address", |e: &mut ArpResponder, text, cx| {
            let ip = Ipv4Address::from_arg(text.trim(), &cx.names()).map_err(|_| "expected IP address")?;
            Ok::<String, String>(e.lookup(ip).map_or_else(String::new, |ether| ether.to_string()))
        }),
        write_handler!("add", "adds an entry", |e: &mut ArpResponder, text, cx| {
            e.add(text, &cx.names()).map(|()| drop(e.normalize()))
        }),
        write_handler!("remove", "removes an address or prefix", |e: &mut ArpResponder, text, cx| {
            e.remove(text, &cx.names())
        }),
    ],
    ..Class::new("ARPResponder", "ethernet", || Box::<ArpResponder>::default())
};

const ETHER: usize = 14;

#[derive(Default)]
struct ArpResponder {
    /// In the order they were given.
    entries: Vec<(Ipv4Prefix, EtherAddress)>,
    /// Those of the configuration, to tell at a hot swap whether they changed.
    configured: Vec<String>,
}

/// A prefix without host bits.
fn prefix(word: &str, names: &Names) -> Option<Ipv4Prefix> {
    HostOrPrefix::<Ipv4Prefix>::from_arg(word, names).ok().map(|p| p.0.network())
}

/// Whether a new entry goes before an older one: it is for the same addresses, or for some of them.
fn belongs_before(new: &Ipv4Prefix, old: &Ipv4Prefix) -> bool {
    old.contains(new.address) && old.mask.to_bits() & !new.mask.to_bits() == 0
}

impl ArpResponder {
    /// Adds entries; several for one prefix are all kept until [`normalize`](Self::normalize).
    fn add(&mut self, text: &str, names: &Names) -> Result<(), String> {
        let words = split_words(text);
        let mut prefixes = Vec::new();
        let mut ether = None;
        for word in &words {
            if let Some(p) = prefix(word, names) {
                prefixes.push(p);
            } else if let Ok(e) = EtherAddress::from_arg(word, names) {
                if ether.replace(e).is_some() {
                    return Err("more than one ETH".to_string());
                }
            } else {
                return Err("expected IP/MASK ETH".to_string());
            }
        }
        // A name may stand for both.
        let ether = ether.or_else(|| words.iter().find_map(|w| EtherAddress::from_arg(w, names).ok()));
        if prefixes.is_empty() {
            return Err("missing IP/MASK".to_string());
        }
        let ether = ether.ok_or("missing ETH")?;
        self.entries.extend(prefixes.into_iter().map(|p| (p, ether)));
        Ok(())
    }

    /// Puts prefixes before those that contain them, and keeps the last entry of several for one prefix; returns the
    /// prefixes of the others.
    fn normalize(&mut self) -> Vec<Ipv4Prefix> {
        let mut sorted: Vec<(Ipv4Prefix, EtherAddress)> = Vec::with_capacity(self.entries.len());
        for entry in self.entries.drain(..) {
            let later = sorted.iter().rev().take_while(|(q, _)| belongs_before(&entry.0, q)).count();
            sorted.insert(sorted.len() - later, entry);
        }
        let mut repeated = Vec::new();
        sorted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                repeated.push(next.0);
            }
            same
        });
        self.entries = sorted;
        repeated
    }

    fn remove(&mut self, text: &str, names: &Names) -> Result<(), String> {
        let p = prefix(text.trim(), names).ok_or("expected IP/MASK")?;
        let before = self.entries.len();
        self.entries.retain(|(q, _)| *q != p);
        if self.entries.len() < before { Ok(()) } else { Err(format!("{p} not found")) }
    }

    /// The answer for an address: that of the longest prefix.
    fn lookup(&self, ip: Ipv4Address) -> Option<EtherAddress> {
        let matching = self.entries.iter().filter(|(p, _)| p.contains(ip));
        matching.max_by_key(|(p, _)| p.mask.to_bits().count_ones()).map(|&(_, ether)| ether)
    }

    fn print(&self) -> String {
        self.entries.iter().map(|(p, ether)| format!("{p} {ether}\n")).collect()
    }

    fn answer(&self, p: &Packet) -> Option<Packet> {
        if p.len() < ETHER || p.data()[12..ETHER] != ethertype::ARP.to_be_bytes() {
            return None;
        }
        let query = Arp::new(&p.data()[ETHER..]).filter(|a| a.operation() == operation::REQUEST)?;
        let ether = self.lookup(query.target_ip())?;
        let asker = (query.sender_ether, query.sender_ip());
        let arp = ArpHeader::new(operation::REPLY, (ether, query.target_ip()), asker);
        let mut reply = Packet::with_room(DEFAULT_HEADROOM, arp.as_bytes(), 0);
        let header = EthernetHeader::new(query.sender_ether, ether, ethertype::ARP);
        reply.push(ETHER)[..ETHER].copy_from_slice(header.as_bytes());
        reply.set_mac_header(0, ETHER as u32);
        reply.set_anno_u16(anno::VLAN_TCI, p.anno_u16(anno::VLAN_TCI));
        Some(reply)
    }
}

impl SimpleElement for ArpResponder {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.configured = args.rest().to_vec();
        for (i, entry) in self.configured.clone().iter().enumerate() {
            if let Err(e) = self.add(entry, &args.names().clone()) {
                args.error_in_rest(i, format!("argument {i}: {e}"));
            }
        }
        for repeated in self.normalize() {
            args.warn(format!("multiple entries for {repeated}"));
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<ArpResponder>(old)
            && old.configured == self.configured
        {
            self.entries = std::mem::take(&mut old.entries);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.answer(p) {
            Some(reply) => {
                *p = reply;
                Verdict::PASS
            }
            None => cx.out_or_drop(1, "not an ARP query for us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str = "s :: Source -> r :: ARPResponder(10.0.0.2 2:0:0:0:0:2, 10.0.0.0/24 2:0:0:0:0:24);
                          r[0] -> out :: Sink; r[1] -> no :: Sink";

    fn query(target: Ipv4Address) -> Packet {
        let asker = (EtherAddress([4; 6]), Ipv4Address::new(10, 0, 0, 9));
        let mut bytes =
            EthernetHeader::new(EtherAddress::BROADCAST, asker.0, ethertype::ARP).as_bytes().to_vec();
        bytes.extend_from_slice(
            ArpHeader::new(operation::REQUEST, asker, (EtherAddress::default(), target)).as_bytes(),
        );
        Packet::new(&bytes)
    }

    #[test]
    fn the_longest_prefix_answers() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [query(Ipv4Address::new(10, 0, 0, 2)), query(Ipv4Address::new(10, 0, 0, 3))]);
        let replies = t.bytes("out");
        assert_eq!(replies[0][..12], [4, 4, 4, 4, 4, 4, 2, 0, 0, 0, 0, 2]);
        let arp = Arp::new(&replies[1][14..]).unwrap();
        assert_eq!((arp.operation(), arp.sender_ether.0[5]), (operation::REPLY, 0x24));
        assert_eq!(arp.target_ip(), Ipv4Address::new(10, 0, 0, 9));
    }

    #[test]
    fn other_packets_go_to_output_1() {
        let mut t = Harness::new(CONFIG);
        let whole = query(Ipv4Address::new(10, 0, 0, 2));
        let cut = (0..whole.len()).map(|n| Packet::new(&whole.data()[..n]));
        t.push("s", 0, cut.chain([query(Ipv4Address::new(11, 0, 0, 2))]));
        assert_eq!((t.take("no").len(), t.take("out").len()), (43, 0));
    }

    #[test]
    fn the_table_can_be_read_and_changed() {
        let mut t = Harness::new(CONFIG);
        assert_eq!(t.read("r.table"), "10.0.0.2/32 02-00-00-00-00-02\n10.0.0.0/24 02-00-00-00-00-24\n");
        t.write("r.remove 10.0.0.2").unwrap();
        assert_eq!(t.read("r.lookup 10.0.0.2"), "02-00-00-00-00-24");
        assert!(t.write("r.add 10.0.0.7").unwrap_err().contains("missing ETH"));
    }

    #[test]
    fn wrong_entries_are_refused() {
        assert!(
            Harness::errors("Idle -> ARPResponder(10.0.0.1 nonsense) -> Discard")
                .contains("argument 0: expected IP/MASK ETH")
        );
        let two = Harness::errors("Idle -> ARPResponder(10.0.0.1 2:0:0:0:0:1 2:0:0:0:0:2) -> Discard");
        assert!(two.contains("argument 0: more than one ETH"), "{two}");
        let none = Harness::errors("Idle -> ARPResponder(10.0.0.1 2:0:0:0:0:1, 2:0:0:0:0:2) -> Discard");
        assert!(none.contains("argument 1: missing IP/MASK"), "{none}");
    }

    #[test]
    fn prefixes_come_before_those_that_contain_them_and_the_last_of_equals_counts() {
        let t = "s :: Source -> r :: ARPResponder(10.0.0.0/8 2:0:0:0:0:8, 10.1.0.0/16 2:0:0:0:0:9) -> Sink; \
                 Idle -> d :: ARPResponder(11.0.0.1 2:0:0:0:0:1, 11.0.0.1 2:0:0:0:0:2) -> Sink";
        let mut t = Harness::new(t);
        assert_eq!(t.read("r.table"), "10.1.0.0/16 02-00-00-00-00-09\n10.0.0.0/8 02-00-00-00-00-08\n");
        assert_eq!(t.read("d.table"), "11.0.0.1/32 02-00-00-00-00-02\n");
    }
}
