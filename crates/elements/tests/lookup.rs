//! Every route table against `prefix-trie`, and against each other where masks have holes.

use clickwork_elements::ip::lookup::*;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use prefix_trie::PrefixMap;
use proptest::prelude::*;

/// One of each, with its name.
fn all_tables() -> Vec<(&'static str, Box<dyn RouteTable>)> {
    vec![
        ("static", Box::new(StaticTable::default())),
        ("linear", Box::new(LinearTable::default())),
        ("sorted", Box::new(SortedTable::default())),
        ("radix", Box::new(RadixTable::default())),
        ("direct", Box::new(DirectTable::default())),
        ("range", Box::new(RangeTable::default())),
    ]
}

fn route(address: u32, len: u8, hop: u32) -> Route {
    let gateway = Ipv4Address::from_bits(hop / 4 * 3);
    Route::new(Ipv4Prefix::with_len(Ipv4Address::from_bits(address), len), gateway, hop % 4)
}

/// What the tables should contain.
#[derive(Default)]
struct Oracle(PrefixMap<(u32, u8), Hop>);

impl Oracle {
    fn key(prefix: Ipv4Prefix) -> (u32, u8) {
        (prefix.address.to_bits(), prefix.prefix_len().unwrap())
    }

    fn insert(&mut self, route: Route) -> Option<Hop> {
        self.0.insert(Self::key(route.prefix()), route.hop)
    }

    fn remove(&mut self, prefix: Ipv4Prefix) -> Option<Hop> {
        self.0.remove(&Self::key(prefix))
    }

    fn lookup(&self, address: u32) -> Option<Hop> {
        self.0.get_lpm(&(address, 32)).map(|(_, hop)| *hop)
    }
}

/// The first and last addresses of a prefix and those just outside.
fn borders(prefix: Ipv4Prefix) -> [u32; 5] {
    let (first, last) = (prefix.address.to_bits(), prefix.broadcast().to_bits());
    [first, last, first.wrapping_sub(1), last.wrapping_add(1), first ^ ((last ^ first) / 2)]
}

fn check(name: &str, table: &dyn RouteTable, oracle: &Oracle, addresses: &[u32]) {
    for &address in addresses {
        let (address, expected) = (Ipv4Address::from_bits(address), oracle.lookup(address));
        table.prefetch(address);
        assert_eq!(table.lookup(address), expected, "{name}: {address} with {} routes", table.len());
    }
}

/// Prefixes close together, so that they nest, and at all lengths.
fn prefix() -> impl Strategy<Value = (u32, u8)> {
    let address = prop_oneof![
        Just(0x0A00_0000u32),
        any::<u32>(),
        (0u32..4, 0u32..4, 0u32..4).prop_map(|(a, b, c)| 0x0A00_0000 | a << 16 | b << 8 | c << 6),
    ];
    (address, 0u8..=32)
}

#[derive(Clone, Debug)]
enum Change {
    Add(u32, u8, u32),
    Set(u32, u8, u32),
    /// Removes the route at this place of the printed table.
    RemoveAt(usize),
    Remove(u32, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (prefix(), 0u32..20).prop_map(|((address, len), hop)| Change::Add(address, len, hop)),
        2 => (prefix(), 0u32..20).prop_map(|((address, len), hop)| Change::Set(address, len, hop)),
        3 => any::<usize>().prop_map(Change::RemoveAt),
        1 => prefix().prop_map(|(address, len)| Change::Remove(address, len)),
    ]
}

/// Does a change to table and oracle, which must agree on what it did, and returns the prefix concerned.
fn apply(change: &Change, table: &mut dyn RouteTable, oracle: &mut Oracle) -> Ipv4Prefix {
    match *change {
        Change::Add(address, len, hop) => {
            let route = route(address, len, hop);
            match table.insert(route, false) {
                Ok(old) => assert!(old.is_none() && oracle.insert(route).is_none()),
                Err(error) => {
                    let hop = *oracle.0.get(&Oracle::key(route.prefix())).unwrap();
                    assert_eq!(error, RouteError::Exists(Route::new(route.prefix(), hop.gateway, hop.port)));
                }
            }
            route.prefix()
        }
        Change::Set(address, len, hop) => {
            let route = route(address, len, hop);
            let old = table.insert(route, true).unwrap();
            assert_eq!(old.map(|old| old.hop), oracle.insert(route));
            route.prefix()
        }
        Change::RemoveAt(place) => {
            let count = table.len().max(1);
            let route = table.routes().nth(place % count);
            route.map_or(Ipv4Prefix::ALL, |route| {
                remove(&Removal::new(route.prefix(), Some(route.hop)), table, oracle)
            })
        }
        Change::Remove(address, len) => {
            remove(&Removal::new(route(address, len, 0).prefix(), None), table, oracle)
        }
    }
}

fn remove(removal: &Removal, table: &mut dyn RouteTable, oracle: &mut Oracle) -> Ipv4Prefix {
    let expected = oracle.remove(removal.prefix());
    match table.remove(removal) {
        Ok(route) => assert_eq!(Some(route.hop), expected),
        Err(error) => assert_eq!((error, expected), (RouteError::NotFound(*removal), None)),
    }
    removal.prefix()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 256 }))]

    #[test]
    fn all_tables_agree_with_the_oracle(changes in proptest::collection::vec(change(), 1..80), probes: [u32; 8]) {
        for (name, mut table) in all_tables() {
            let mut oracle = Oracle::default();
            let mut touched = probes.to_vec();
            for change in &changes {
                let prefix = apply(change, &mut *table, &mut oracle);
                let here = borders(prefix);
                check(name, &*table, &oracle, &here);
                touched.extend(here);
            }
            check(name, &*table, &oracle, &touched);
            let mut routes: Vec<_> = table.routes().map(|route| (Oracle::key(route.prefix()), route.hop)).collect();
            routes.sort_by_key(|route| route.0);
            let mut expected: Vec<_> = oracle.0.iter().map(|(prefix, hop)| (*prefix, *hop)).collect();
            expected.sort_by_key(|route| route.0);
            prop_assert_eq!((routes, table.len()), (expected, oracle.0.len()));
            table.clear();
            check(name, &*table, &Oracle::default(), &touched);
        }
    }

    #[test]
    fn masks_with_holes_are_searched_in_order(
        masks in proptest::collection::vec((0u32..0x100, 0u32..0x100), 1..24), probes: [u32; 16], gone: usize,
    ) {
        let routes: Vec<_> = masks.iter().enumerate().map(|(i, &(address, mask))| {
            let prefix = Ipv4Prefix::new(Ipv4Address::from_bits(address), Ipv4Address::from_bits(mask));
            Route::new(prefix, Ipv4Address::UNSPECIFIED, i as u32)
        }).collect();
        let (mut linear, mut quick) = (LinearTable::default(), StaticTable::default());
        for route in &routes {
            prop_assert_eq!(linear.insert(*route, true), quick.insert(*route, true));
        }
        let removal = Removal::new(routes[gone % routes.len()].prefix(), None);
        for _ in 0..2 {
            for probe in probes {
                let address = Ipv4Address::from_bits(probe % 0x100);
                let hop = linear.lookup(address);
                prop_assert_eq!(hop, quick.lookup(address));
                // No route that holds the address may have more mask bits on top of the winner's.
                let best = linear.routes().find(|route| Some(route.hop) == hop);
                for other in linear.routes().filter(|other| other.prefix().contains(address)) {
                    let best = best.expect("some route holds the address").prefix();
                    prop_assert!(other.prefix().mask == best.mask || !other.prefix().mask.mask_as_specific(best.mask));
                }
            }
            prop_assert_eq!(linear.remove(&removal).is_ok(), quick.remove(&removal).is_ok());
        }
    }
}

/// All orders in which `items` can be arranged.
fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for i in 0..items.len() {
        let mut rest = items.to_vec();
        let item = rest.remove(i);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.push(item.clone());
            order
        }));
    }
    all
}

#[test]
fn nested_routes_can_go_in_any_order() {
    let lens: &[u8] = &[0, 7, 16, 24, 30];
    let address = 0x0A01_0280;
    let probes: Vec<u32> = (0..32).map(|bit| address ^ 1 << bit).chain([address]).collect();
    for (name, mut table) in all_tables() {
        for order in orders(lens) {
            let mut oracle = Oracle::default();
            for &len in &order {
                apply(&Change::Add(address, len, u32::from(len)), &mut *table, &mut oracle);
            }
            for &len in order.iter().rev().skip(1).chain(order.last()) {
                apply(&Change::Remove(address, len), &mut *table, &mut oracle);
                check(name, &*table, &oracle, &probes);
            }
            assert!(table.is_empty());
        }
    }
}

#[test]
fn a_chain_of_all_lengths_is_built_and_taken_down() {
    let address = 0xAAAA_AAAA;
    let probes: Vec<u32> = (0..32).map(|bit| address ^ 1 << bit).chain([address]).collect();
    for (name, mut table) in all_tables() {
        let mut oracle = Oracle::default();
        for len in 0..=32 {
            apply(&Change::Add(address, len, u32::from(len)), &mut *table, &mut oracle);
            check(name, &*table, &oracle, &probes);
        }
        for len in (0..=32).map(|i| i * 7 % 33) {
            apply(&Change::Remove(address, len), &mut *table, &mut oracle);
            check(name, &*table, &oracle, &probes);
        }
    }
}

#[test]
fn tries_refuse_masks_with_holes_and_stay_as_they_were() {
    let prefix: Ipv4Prefix = "10.0.3.0/255.0.255.0".parse().unwrap();
    for (name, mut table) in all_tables() {
        let outcome = table.insert(Route::new(prefix, Ipv4Address::UNSPECIFIED, 1), false);
        let refuses = matches!(name, "radix" | "direct" | "range");
        assert_eq!(
            outcome,
            if refuses { Err(RouteError::MaskWithHoles(prefix)) } else { Ok(None) },
            "{name}"
        );
        assert_eq!(table.lookup(Ipv4Address::new(10, 9, 3, 9)).is_some(), !refuses, "{name}");
        assert_eq!(table.len(), usize::from(!refuses), "{name}");
    }
}

/// Numbers without a pattern, always the same (xorshift, Marsaglia 2003).
fn numbers() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(0x9E37_79B9u32), |&x| {
        let x = x ^ x << 13;
        let x = x ^ x >> 17;
        Some(x ^ x << 5)
    })
    .skip(1)
}

/// Lengths as in a backbone table: mostly 24, some shorter, few longer.
fn backbone_len(number: u32) -> u8 {
    match number % 100 {
        0..60 => 24,
        60..95 => (12 + number / 100 % 12) as u8,
        _ => (25 + number / 100 % 8) as u8,
    }
}

/// A million routes; without optimisation a sixteenth of that, which fills the structures no differently.
const MANY: usize = if cfg!(debug_assertions) { 65_536 } else { 1_048_576 };

#[test]
fn a_full_table_loads_answers_and_empties() {
    let big: Vec<(&str, Box<dyn RouteTable>)> =
        all_tables().into_iter().filter(|(name, _)| !matches!(*name, "linear" | "sorted")).collect();
    for (name, mut table) in big {
        let mut oracle = Oracle::default();
        let mut random = numbers();
        while table.len() < MANY {
            let (address, number) = (random.next().unwrap(), random.next().unwrap());
            let route = route(address, backbone_len(number), number % 1000);
            if table.insert(route, false).is_ok() {
                oracle.insert(route);
            }
        }
        let probes: Vec<u32> = random.take(MANY / 4).collect();
        let routes: Vec<Route> = table.routes().collect();
        let near: Vec<u32> = routes.iter().step_by(7).flat_map(|route| borders(route.prefix())).collect();
        check(name, &*table, &oracle, &probes);
        check(name, &*table, &oracle, &near);
        for route in routes.iter().step_by(2) {
            remove(&Removal::new(route.prefix(), None), &mut *table, &mut oracle);
        }
        check(name, &*table, &oracle, &probes);
        check(name, &*table, &oracle, &near);
        for route in routes.iter().skip(1).step_by(2) {
            remove(&Removal::new(route.prefix(), None), &mut *table, &mut oracle);
        }
        check(name, &*table, &Oracle::default(), &near);
    }
}
