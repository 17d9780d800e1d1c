//! IP6NDAdvertiser: answers neighbour solicitations (RFC 4861 §7.2.4).

use super::nd::message::{Draft, Message, Way, flag, option};
use clickwork_packet::Packet;
use clickwork_packet::addr::{EtherAddress, Ipv6Address, Ipv6Prefix};
use clickwork_packet::headers::icmp6::icmp6_type;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HostOrPrefix, Names, split_words};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers neighbour solicitations for given addresses",
    manual: "Each argument is a list of IPv6 addresses or prefixes and the Ethernet address that solicitations for them are \
             answered with; of several prefixes the longest wins, of equal ones the last. Takes solicitations with their \
             Ethernet headers and sends advertisements. Packets that are not valid solicitations (RFC 4861 §7.1.1) or ask \
             for other addresses are dropped. A host that asks whether an address is free (RFC 4862 §5.4) hears, with all \
             others, that it is not.",
    example: "InfiniteSource(DATA \\<3333ff000001020000000003 86dd 6000000000203aff \
              20010db8000000000000000000000002 ff0200000000000000000001ff000001 87001c2600000000 \
              20010db8000000000000000000000001 0101020000000003>, LIMIT 1, STOP true) -> \
              IP6NDAdvertiser(2001:db8::1 2:0:0:0:0:1, 2001:db8:1::/48 2:0:0:0:0:2) -> Discard",
    packets: "only ether-ip6/new ether-ip6",
    args: &[ArgSpec::rest(
        "ENTRY",
        ArgType::Other("IP6[/MASK]... ETHER"),
        "addresses and the answer for them",
    )],
    ..Class::new("IP6NDAdvertiser", "ip6", || Box::<IP6NDAdvertiser>::default())
};

/// All hosts on the link (RFC 4291 §2.7.1).
const ALL_NODES: Ipv6Address = Ipv6Address::from_bits(0xff02 << 112 | 1);

#[derive(Default)]
struct IP6NDAdvertiser {
    entries: Vec<(Ipv6Prefix, EtherAddress)>,
}

impl IP6NDAdvertiser {
    /// Adds the entries of an argument, whose number is for messages.
    fn add(&mut self, number: usize, text: &str, names: &Names) -> Result<(), String> {
        let words = split_words(text);
        let (mut prefixes, mut ether) = (Vec::new(), None);
        for word in &words {
            if let Ok(HostOrPrefix(prefix)) = HostOrPrefix::<Ipv6Prefix>::from_arg(word, names) {
                prefixes.push(prefix);
            } else if let Ok(address) = EtherAddress::from_arg(word, names) {
                if ether.replace(address).is_some() {
                    return Err(format!("argument {number} has more than one Ethernet address"));
                }
            } else {
                return Err(format!("argument {number} should be `IP6/MASK ETHADDR'"));
            }
        }
        if prefixes.is_empty() {
            return Err(format!("argument {number} had no IP6 address and masks"));
        }
        // A name may stand for both.
        let named = || words.iter().find_map(|word| EtherAddress::from_arg(word, names).ok());
        let ether = ether.or_else(named).unwrap_or_default();
        self.entries.extend(prefixes.into_iter().map(|prefix| (prefix, ether)));
        Ok(())
    }

    /// The answer for an address: the last of those with the longest prefix.
    fn lookup(&self, address: Ipv6Address) -> Option<EtherAddress> {
        let matching = self.entries.iter().filter(|(prefix, _)| prefix.contains(address));
        matching.max_by_key(|(prefix, _)| prefix.prefix_len()).map(|&(_, ether)| ether)
    }

    fn answer(&self, p: &Packet) -> Result<Packet, &'static str> {
        let question = Message::parse(p.data(), icmp6_type::NEIGHBOR_SOLICITATION)?;
        let target = question.target;
        let ether = self.lookup(target).ok_or("solicitation for another")?;
        let (asker, is_detection) = (question.ip.source(), question.ip.source().is_unspecified());
        let is_to_group = question.ip.destination() == target.solicited_node();
        if asker.is_multicast()
            || (is_detection && (!is_to_group || question.has_option(option::SOURCE_ADDRESS)))
        {
            return Err("malformed neighbour discovery");
        }
        let (flags, to) = match is_detection {
            // Who has no address yet is told by way of all.
            true => (flag::ROUTER | flag::OVERRIDE, (EtherAddress::ipv6_multicast(ALL_NODES), ALL_NODES)),
            false => (flag::ROUTER | flag::SOLICITED, (question.ether.source, asker)),
        };
        let icmp_type = icmp6_type::NEIGHBOR_ADVERTISEMENT;
        let advertisement = Draft { icmp_type, flags, target, option: (option::TARGET_ADDRESS, ether) };
        Ok(advertisement.frame(&Way { from: (ether, target), to }))
    }
}

impl SimpleElement for IP6NDAdvertiser {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let names = args.names().clone();
        for (index, text) in args.rest().to_vec().iter().enumerate() {
            if let Err(error) = self.add(index, text, &names) {
                args.error_in_rest(index, error);
            }
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        match self.answer(p) {
            Ok(answer) => {
                *p = answer;
                Verdict::PASS
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nd::message::solicitation;
    use super::super::nd::message::tests::{advertisement, forgeries, host, repaired};
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str =
        "s :: Source -> r :: IP6NDAdvertiser(2001:db8::2 2:0:0:0:0:2, 2001:db8::/64 2:0:0:0:0:64)
                          -> k :: Sink";

    #[test]
    fn the_longest_prefix_answers() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [2, 3].map(|n| solicitation(host(9), host(n).1)));
        t.push("s", 0, [solicitation(host(9), "2001:db8:0:1::".parse().unwrap())]);
        let flags = flag::ROUTER | flag::SOLICITED;
        let proxy = (EtherAddress([2, 0, 0, 0, 0, 0x64]), host(3).1);
        let expected = [advertisement(host(2), host(9), flags), advertisement(proxy, host(9), flags)];
        assert_eq!(t.bytes("k"), expected.map(|p| p.data().to_vec()));
        assert_eq!(t.read("r.drop_reasons"), "1\tsolicitation for another\n");
    }

    #[test]
    fn forged_solicitations_are_not_answered() {
        let mut t = Harness::new(CONFIG);
        for (p, why) in forgeries(&solicitation(host(9), host(2).1)) {
            t.push("s", 0, [p]);
            assert!(t.bytes("k").is_empty(), "{why}");
        }
        let from = |source: &str| {
            let source = source.parse().unwrap();
            solicitation((host(9).0, source), host(2).1)
        };
        // A source of many; and one without address must not say a link-layer address.
        t.push("s", 0, [from("ff02::1"), from("::")]);
        assert!(t.bytes("k").is_empty());
    }

    #[test]
    fn duplicate_address_detection_is_answered_to_all() {
        let mut t = Harness::new(CONFIG);
        let mut bytes = solicitation((host(9).0, Ipv6Address::UNSPECIFIED), host(2).1).data().to_vec();
        bytes.truncate(14 + 64);
        bytes[14 + 5] = 24;
        let mut elsewhere = bytes.clone();
        elsewhere[14 + 24..14 + 40].copy_from_slice(&host(2).1.octets());
        t.push("s", 0, [repaired(bytes), repaired(elsewhere)]);
        let all = (EtherAddress([0x33, 0x33, 0, 0, 0, 1]), ALL_NODES);
        let expected = advertisement(host(2), all, flag::ROUTER | flag::OVERRIDE);
        assert_eq!(t.bytes("k"), [expected.data().to_vec()]);
    }

    #[test]
    fn wrong_entries_are_refused() {
        for (config, why) in [
            ("2001:db8::1 nonsense", "argument 0 should be `IP6/MASK ETHADDR'"),
            ("2001:db8::1 2:0:0:0:0:1 2:0:0:0:0:2", "argument 0 has more than one Ethernet address"),
            ("2001:db8::1 2:0:0:0:0:1, 2:0:0:0:0:2", "argument 1 had no IP6 address and masks"),
        ] {
            let e = Harness::errors(&format!("Idle -> IP6NDAdvertiser({config}) -> Discard"));
            assert!(e.contains(why), "{e}");
        }
    }
}
