//! AnonymizeIPAddr: replaces addresses by random ones that keep common prefixes.

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::update;
use clickwork_packet::headers::{Ipv4, ipv4::protocol};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::llrpc::{LlrpcError, Number};
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, llrpc, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "replaces IP addresses by random ones that keep common prefixes",
    manual: "Replaces source and destination of IPv4 packets, and of the packets that ICMP errors are about, by random \
             addresses, always the same for the same address: two addresses whose first n bits are the same become two whose \
             first n bits are the same. Checksums of the IP and ICMP headers are adjusted, those of TCP and UDP are not. \
             0.0.0.0 and 255.255.255.255 stay what they are. CLASS keeps the position of the first zero bit if it is within \
             the first CLASS bits, so that 4 keeps the class of addresses; PRESERVE_8 names first bytes that are kept. \
             Packets that are not IPv4 leave by output 1 or are dropped.\n\n\
             What addresses became is remembered for at most four million; packets with further ones are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(18.26.4.44, 1, 18.26.4.9, 2) -> AnonymizeIPAddr(CLASS 4) \
              -> Discard",
    ports: "1/1-2",
    packets: "ip/ip,any",
    args: &[
        ArgSpec::keyword("CLASS", ArgType::I32, "0", "how many leading ones are kept, 0 to 32; 99 means 32"),
        ArgSpec::keyword("PRESERVE_8", ArgType::Other("BYTE..."), "", "first bytes that are kept"),
        ArgSpec::keyword("SEED", ArgType::Bool, "false", "without effect: every run is random"),
    ],
    handlers: &[read_handler!("addresses", "addresses that are remembered", |e: &mut Anonymizer, _| e
        .tree
        .addresses)],
    llrpcs: &[llrpc!(Number::MAP_IPADDRESS, |e: &mut Anonymizer, data, cx| {
        let address = data.first_chunk_mut().ok_or(LlrpcError::Invalid)?;
        *address = e.anonymous(Ipv4Address::from_octets(*address), cx).ok_or(LlrpcError::TryAgain)?.octets();
        Ok(())
    })],
    ..Class::new("AnonymizeIPAddr", "analysis", || Box::<Anonymizer>::default())
};

/// How many addresses are remembered at most.
const CAPACITY: usize = 1 << 22;

/// A node of the tree: an address, or the last of those below it. Children are 0 for none.
#[derive(Clone, Copy, Default)]
struct Node {
    input: u32,
    output: u32,
    children: [u32; 2],
}

/// What addresses have become: a Patricia tree, as in tcpdpriv.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    addresses: usize,
}

/// The number of the first bit that differs, counted from 1.
fn first_difference(a: u32, b: u32) -> u32 {
    (a ^ b).leading_zeros() + 1
}

impl Tree {
    fn new(root: Node) -> Tree {
        Tree { nodes: vec![root], addresses: 1 }
    }

    /// The node of an address; none if there is no room for another.
    fn find(&mut self, address: u32, random: &mut dyn FnMut() -> u32) -> Option<&mut Node> {
        let mut at = 0;
        loop {
            let node = self.nodes[at];
            if node.children[0] == 0 && node.input == address {
                return Some(&mut self.nodes[at]);
            }
            let differs = first_difference(address, node.input);
            let [left, right] = node.children.map(|child| child as usize);
            let splits = first_difference(self.nodes[left].input, self.nodes[right].input);
            if left != 0 && differs >= splits {
                at = if address >> (32 - splits) & 1 == 1 { right } else { left };
                continue;
            }
            if self.addresses >= CAPACITY {
                return None;
            }
            let made = self.split(at, address, differs, random);
            return Some(&mut self.nodes[made]);
        }
    }

    /// Puts what was at `at` and a new address below it.
    fn split(&mut self, at: usize, address: u32, differs: u32, random: &mut dyn FnMut() -> u32) -> usize {
        let side = (address >> (32 - differs) & 1) as usize;
        let old = self.nodes[at];
        // What comes before the bit that differs stays, the bit turns, the rest is random.
        let turned = (old.output >> (32 - differs) ^ 1) << (32 - differs);
        let rest = u32::MAX.checked_shr(differs).unwrap_or(0);
        let output = turned | random() & rest;
        let mut children = [old; 2];
        children[side] = Node { input: address, output, children: [0; 2] };
        let first = self.nodes.len();
        self.nodes.extend(children);
        let Node { input, output, .. } = children[1];
        self.nodes[at] = Node { input, output, children: [first as u32, first as u32 + 1] };
        self.addresses += 1;
        first + side
    }
}

#[derive(Default)]
struct Anonymizer {
    class_bits: u32,
    kept_bytes: Vec<u8>,
    tree: Tree,
}

impl Anonymizer {
    fn read_kept_bytes(&mut self, args: &mut Args) {
        let text = args.raw("PRESERVE_8").unwrap_or_default().to_owned();
        for word in split_words(&text) {
            match u8::from_arg(&word, args.names()) {
                Ok(byte) => self.kept_bytes.push(byte),
                Err(_) => return args.error("PRESERVE_8 expects integer between 0 and 255"),
            }
        }
    }

    fn anonymous(&mut self, address: Ipv4Address, cx: &mut Cx<'_>) -> Option<Ipv4Address> {
        let number = u32::from_be_bytes(address.octets());
        if number == 0 || number == u32::MAX {
            return Some(address);
        }
        let node = self.tree.find(number, &mut || cx.random())?;
        Some(Ipv4Address::from_octets(node.output.to_be_bytes()))
    }

    /// Replaces both addresses in the IP header `header`, and adjusts a checksum that covers them.
    fn replace(&mut self, header: &mut [u8], mut checksum: u16, cx: &mut Cx<'_>) -> Option<u16> {
        for at in [12, 16] {
            let old = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            let new = self.anonymous(Ipv4Address::from_octets(old), cx)?.octets();
            for half in [0, 2] {
                let word = |octets: [u8; 4]| u16::from_be_bytes([octets[half], octets[half + 1]]);
                checksum = update(checksum, word(old), word(new));
            }
            header[at..at + 4].copy_from_slice(&new);
        }
        Some(checksum)
    }

    /// The same for the packet that an ICMP error is about; its own checksum stays wrong, as in Click.
    fn replace_embedded(&mut self, icmp: &mut [u8], cx: &mut Cx<'_>) -> Option<()> {
        let is_error = matches!(icmp.first(), Some(3 | 4 | 5 | 11 | 12));
        let length = icmp.get(8).map_or(0, |byte| usize::from(byte & 0xf) * 4);
        if !is_error || length < 20 || icmp.len() < 8 + length + 8 {
            return Some(());
        }
        let (header, ip) = icmp.split_at_mut(8);
        let checksum = self.replace(ip, u16::from_be_bytes([header[2], header[3]]), cx)?;
        header[2..4].copy_from_slice(&checksum.to_be_bytes());
        Some(())
    }
}

impl SimpleElement for Anonymizer {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut class_bits = 0i32;
        args.read("CLASS", &mut class_bits);
        let _: Option<bool> = args.get("SEED");
        match class_bits {
            99 => self.class_bits = 32,
            0..=32 => self.class_bits = class_bits as u32,
            _ => args.error("CLASS must be between 0 and 32"),
        }
        self.read_kept_bytes(args);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        // A root of leading ones keeps leading ones; else 1, as 0.0.0.0 never comes.
        let ones = !u32::MAX.checked_shr(self.class_bits).unwrap_or(0);
        let mut input = if self.class_bits > 0 { ones } else { 1 };
        let mut output = cx.random() | ones;
        let mut kept = self.kept_bytes.iter().map(|&byte| u32::from(byte) << 24);
        if self.class_bits == 0
            && let Some(address) = kept.next()
        {
            input = address;
            output = output & 0x00ff_ffff | address;
        }
        self.tree = Tree::new(Node { input, output, children: [0; 2] });
        for address in kept {
            if let Some(node) = self.tree.find(address, &mut || cx.random()) {
                node.output = node.output & 0x00ff_ffff | address;
            }
        }
        Ok(())
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(ip) = p.network_header().and_then(Ipv4::new).filter(|ip| ip.version() == 4) else {
            return cx.out_or_drop(1, "not IPv4");
        };
        let (checksum, is_icmp, length) = (ip.checksum(), ip.protocol == protocol::ICMP, ip.ihl());
        let Some(data) = p.network_header_mut() else { return cx.out_or_drop(1, "not IPv4") };
        let Some(checksum) = self.replace(data, checksum, cx) else {
            return Verdict::Drop("too many addresses");
        };
        data[10..12].copy_from_slice(&checksum.to_be_bytes());
        if is_icmp
            && let Some(icmp) = data.get_mut(length..)
            && self.replace_embedded(icmp, cx).is_none()
        {
            return Verdict::Drop("too many addresses");
        }
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Anonymizer>(old)
            && (old.class_bits, &old.kept_bytes) == (self.class_bits, &self.kept_bytes)
        {
            self.tree = std::mem::take(&mut old.tree);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::checksum::checksum;
    use clickwork_packet::headers::Ipv4;
    use proptest::prelude::*;

    fn anonymous(args: &str, addresses: &[u32]) -> Vec<u32> {
        let mut t = Harness::new(&format!("s :: Source -> AnonymizeIPAddr({args}) -> k :: Sink"));
        let dotted = |n: u32| std::net::Ipv4Addr::from(n).to_string();
        t.push("s", 0, addresses.iter().map(|&n| ip(&dotted(n), "255.255.255.255").marked()));
        let source = |data: Vec<u8>| {
            assert_eq!(checksum(&data[..20]), 0);
            assert_eq!(data[16..20], [255; 4]);
            u32::from_be_bytes(data[12..16].try_into().unwrap())
        };
        t.bytes("k").into_iter().map(source).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        /// As many leading bits are the same after as before.
        #[test]
        fn common_prefixes_stay(addresses in prop::collection::vec(1u32..u32::MAX, 1..30), class in 0u32..33) {
            let got = anonymous(&format!("CLASS {class}"), &addresses);
            for (i, a) in addresses.iter().enumerate() {
                for (j, b) in addresses.iter().enumerate() {
                    prop_assert_eq!((a ^ b).leading_zeros(), (got[i] ^ got[j]).leading_zeros());
                }
                prop_assert_eq!(a.leading_ones().min(class), got[i].leading_ones().min(class));
            }
        }
    }

    #[test]
    fn first_bytes_can_be_kept_and_special_addresses_are() {
        for args in ["PRESERVE_8 18 10", "CLASS 4, PRESERVE_8 0x12 012"] {
            let got = anonymous(args, &[0x1200_0001, 0x0a01_0203, 0, 0x1212_1212]);
            assert_eq!([got[0] >> 24, got[1] >> 24, got[2], got[3] >> 24], [0x12, 10, 0, 0x12], "{args}");
        }
    }

    #[test]
    fn icmp_errors_stay_right() {
        let inner = ip("1.2.3.4", "5.6.7.8").bytes();
        let mut icmp = vec![3, 1, 0, 0, 0, 0, 0, 0];
        icmp.extend(&inner);
        let sum = checksum(&icmp);
        icmp[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut t = Harness::new("s :: Source -> AnonymizeIPAddr -> k :: Sink");
        t.push("s", 0, [ip("9.9.9.9", "1.2.3.4").payload(1, &icmp).marked()]);
        let got = t.bytes("k").remove(0);
        assert_eq!((checksum(&got[..20]), checksum(&got[20..])), (0, 0));
        let inner = Ipv4::new(&got[28..]).unwrap();
        assert_eq!(inner.source(), Ipv4::new(&got).unwrap().destination());
        assert_ne!(inner.source().to_string(), "1.2.3.4");
    }

    #[test]
    fn says_what_is_wrong() {
        for (args, error) in [
            ("CLASS 33", "CLASS must be between 0 and 32"),
            ("PRESERVE_8 1 256", "PRESERVE_8 expects integer between 0 and 255"),
        ] {
            let e = Harness::errors(&format!("Idle -> AnonymizeIPAddr({args}) -> Idle"));
            assert!(e.contains(error), "{e}");
        }
    }
}
