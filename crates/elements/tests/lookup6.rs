//! The IPv6 route table against `prefix-trie`.

use clickwork_elements::ip6::lookup::{Hop, Route, Table};
use clickwork_packet::addr::{Ipv6Address, Ipv6Prefix};
use prefix_trie::PrefixMap;
use proptest::prelude::*;

fn route(address: u128, len: u8, hop: u32) -> Route {
    let gateway = Ipv6Address::from_bits(u128::from(hop / 4 * 3));
    Route::new(Ipv6Prefix::new(Ipv6Address::from_bits(address), len), gateway, hop % 4)
}

/// What the table should contain.
#[derive(Default)]
struct Oracle(PrefixMap<(u128, u8), Hop>);

impl Oracle {
    fn key(prefix: Ipv6Prefix) -> (u128, u8) {
        (prefix.address().to_bits(), prefix.prefix_len())
    }

    fn lookup(&self, address: u128) -> Option<Hop> {
        self.0.get_lpm(&(address, 128)).map(|(_, hop)| *hop)
    }
}

/// The first and last addresses of a prefix, those just outside, and one in the middle.
fn borders(prefix: Ipv6Prefix) -> [u128; 5] {
    let first = prefix.address().to_bits();
    let last = first | !prefix.mask().to_bits();
    [first, last, first.wrapping_sub(1), last.wrapping_add(1), first ^ ((last ^ first) / 2)]
}

fn check(table: &Table, oracle: &Oracle, addresses: &[u128]) {
    for addresses in addresses.chunks(64) {
        let mut together = vec![None; addresses.len()];
        table.lookup_batch(addresses, |i, hop| together[i] = hop);
        for (&address, together) in addresses.iter().zip(together) {
            let (alone, expected) = (table.lookup(Ipv6Address::from_bits(address)), oracle.lookup(address));
            assert_eq!((alone, together), (expected, expected), "{address:x} with {} routes", table.len());
        }
    }
}

/// Prefixes close together, so that they nest, and at all lengths.
fn prefix() -> impl Strategy<Value = (u128, u8)> {
    let near = (0u128..4, 0u128..4, 0u128..4, 0u128..4)
        .prop_map(|(a, b, c, d)| 0x2001 << 112 | a << 100 | b << 83 | c << 62 | d << 1);
    let address = prop_oneof![Just(0x2001_0db8u128 << 96), any::<u128>(), near];
    (address, prop_oneof![0u8..=128, 8u8..=18, 60u8..=66, 122u8..=128])
}

#[derive(Clone, Debug)]
enum Change {
    Add(u128, u8, u32),
    /// Removes the route at this place of the printed table.
    RemoveAt(usize),
    Remove(u128, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (prefix(), 0u32..20).prop_map(|((a, l), h)| Change::Add(a, l, h)),
        2 => any::<usize>().prop_map(Change::RemoveAt),
        1 => prefix().prop_map(|(a, l)| Change::Remove(a, l)),
    ]
}

fn apply(change: &Change, table: &mut Table, oracle: &mut Oracle) -> Ipv6Prefix {
    match *change {
        Change::Add(address, len, hop) => {
            let route = route(address, len, hop);
            let replaced = table.insert(route).unwrap().map(|old| old.hop);
            assert_eq!(replaced, oracle.0.insert(Oracle::key(route.prefix()), route.hop));
            route.prefix()
        }
        Change::RemoveAt(place) => {
            let count = table.len().max(1);
            let Some(prefix) = table.routes().nth(place % count).map(Route::prefix) else {
                return Ipv6Prefix::default();
            };
            remove(prefix, table, oracle)
        }
        Change::Remove(address, len) => {
            remove(Ipv6Prefix::new(Ipv6Address::from_bits(address), len), table, oracle)
        }
    }
}

fn remove(prefix: Ipv6Prefix, table: &mut Table, oracle: &mut Oracle) -> Ipv6Prefix {
    let prefix = prefix.network();
    assert_eq!(table.remove(prefix).map(|old| old.hop), oracle.0.remove(&Oracle::key(prefix)));
    prefix
}

proptest! {
    #[test]
    fn any_changes_leave_the_right_routes(
        changes in proptest::collection::vec(change(), 1..120),
        addresses in proptest::collection::vec(any::<u128>(), 10),
    ) {
        let (mut table, mut oracle) = (Table::default(), Oracle::default());
        let mut probes = addresses;
        for change in &changes {
            probes.extend(borders(apply(change, &mut table, &mut oracle)));
            check(&table, &oracle, &probes[probes.len().saturating_sub(100)..]);
        }
        check(&table, &oracle, &probes);
        prop_assert_eq!(table.len(), oracle.0.len());
        // What is gone leaves nothing behind.
        let left: Vec<_> = table.routes().map(Route::prefix).collect();
        for prefix in left {
            remove(prefix, &mut table, &mut oracle);
        }
        prop_assert!(table.is_empty());
        check(&table, &oracle, &probes);
    }
}

/// Numbers that look random.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_table_of_a_hundred_thousand_routes_is_right_and_changes() {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let (mut table, mut oracle) = (Table::default(), Oracle::default());
    let mut probes = Vec::new();
    for i in 0..100_000u32 {
        // Lengths as in the Internet: most are 48, then 32 to 47.
        let r = random(&mut state);
        let len = if r.is_multiple_of(2) { 48 } else { 29 + (r >> 8) as u8 % 20 };
        let address = 0x2 << 124 | u128::from(random(&mut state)) << 60;
        let route = route(address, len, i % 997);
        table.insert(route).unwrap();
        oracle.0.insert(Oracle::key(route.prefix()), route.hop);
        if i % 100 == 0 {
            probes.extend(borders(route.prefix()));
        }
    }
    assert_eq!(table.len(), oracle.0.len());
    check(&table, &oracle, &probes);
    let gone: Vec<Ipv6Prefix> = table.routes().step_by(3).map(Route::prefix).collect();
    for prefix in gone {
        remove(prefix, &mut table, &mut oracle);
    }
    check(&table, &oracle, &probes);
}
