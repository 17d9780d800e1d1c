//! SetRandIPAddress: sets the destination annotation to random addresses.

use clickwork_packet::Packet;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_router::args::{ArgSpec, ArgType, Args, HostOrPrefix};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the destination annotation to random addresses",
    manual: "Sets each packet's destination annotation to a random address within PREFIX. With a LIMIT above 0, that many \
             addresses are chosen at the beginning, and only these are used.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetRandIPAddress(10.0.0.0/8) -> Discard",
    args: &[
        ArgSpec::required("PREFIX", ArgType::IpAddrOrPrefix, "where the addresses are from"),
        ArgSpec::positional(
            "LIMIT",
            ArgType::I32,
            "-1",
            "number of different addresses; no limit unless above 0",
        ),
    ],
    ..Class::new("SetRandIPAddress", "ip", || {
        Box::new(SetRandIPAddress { prefix: Ipv4Prefix::host(Ipv4Address::UNSPECIFIED), chosen: Vec::new() })
    })
};

/// The highest LIMIT.
const MAX_LIMIT: i32 = 1 << 24;

struct SetRandIPAddress {
    prefix: Ipv4Prefix,
    chosen: Vec<Ipv4Address>,
}

impl SetRandIPAddress {
    fn pick(&self, cx: &mut Cx<'_>) -> Ipv4Address {
        let Ipv4Prefix { address, mask, .. } = self.prefix;
        Ipv4Address::from_octets(cx.random().to_be_bytes()) & !mask | address & mask
    }
}

impl SimpleElement for SetRandIPAddress {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(HostOrPrefix(prefix)) = args.get("PREFIX") {
            self.prefix = prefix;
        }
        let limit = args.get::<i32>("LIMIT").unwrap_or(-1);
        if limit > MAX_LIMIT {
            return args.error_in("LIMIT", format!("must be at most {MAX_LIMIT}"));
        }
        self.chosen = (0..limit).map(|_| self.pick(cx)).collect();
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let address = match self.chosen.len() as u64 {
            0 => self.pick(cx),
            n => self.chosen[((u64::from(cx.random()) * n) >> 32) as usize],
        };
        p.set_dst_ip(address);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::collections::HashSet;

    fn addresses(args: &str, n: usize) -> Vec<[u8; 4]> {
        let mut t = Harness::new(&format!("s :: Source -> SetRandIPAddress({args}) -> k :: Sink"));
        t.push("s", 0, (0..n).map(|_| Packet::new(b"x")));
        t.take("k").iter().map(|p| p.dst_ip().octets()).collect()
    }

    #[test]
    fn addresses_are_spread_over_the_prefix() {
        let got = addresses("10.1.0.0/16", 2000);
        assert!(got.iter().all(|a| a[..2] == [10, 1]));
        for byte in [2, 3] {
            assert!(got.iter().map(|a| a[byte]).collect::<HashSet<_>>().len() > 240);
        }
        assert_eq!(addresses("1.2.3.4", 2), [[1, 2, 3, 4]; 2]);
        assert!(addresses("10.1.0.0/16, 0", 100).iter().collect::<HashSet<_>>().len() > 90);
    }

    #[test]
    fn a_limit_bounds_the_number_of_addresses() {
        let different: HashSet<_> = addresses("10.0.0.0/8, 20", 1000).into_iter().collect();
        assert_eq!(different.len(), 20);
        assert!(Harness::errors("Idle -> SetRandIPAddress(0/0, 100000000) -> Discard").contains("LIMIT"));
    }
}
