//! What a lookup costs: 8 routes, and 256 K routes with random destinations, one by one and prefetched a batch ahead;
//! and what a million single inserts cost.

use clickwork_elements::ip::lookup::*;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use criterion::{BatchSize, Criterion, Throughput, criterion_main};
use std::hint::black_box;

const BATCH: usize = 64;

/// Numbers without a pattern, always the same (xorshift, Marsaglia 2003).
fn numbers() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(0x9E37_79B9u32), |&x| {
        let x = x ^ x << 13;
        let x = x ^ x >> 17;
        Some(x ^ x << 5)
    })
}

/// The first destinations of random /24 networks, all different.
fn networks(count: usize) -> Vec<Route> {
    let mut seen = std::collections::HashSet::new();
    let addresses = numbers().map(|number| number & 0xFFFF_FF00).filter(|&network| seen.insert(network));
    let route = |network: u32| {
        let prefix = Ipv4Prefix::with_len(Ipv4Address::from_bits(network), 24);
        Route::new(prefix, Ipv4Address::new(10, 0, 0, (network >> 8) as u8), network >> 8 & 3)
    };
    addresses.take(count).map(route).collect()
}

fn loaded<T: RouteTable + Default>(routes: &[Route]) -> T {
    let mut table = T::default();
    for route in routes {
        table.insert(*route, true).expect("the routes have masks without holes");
    }
    table
}

fn lookups<T: RouteTable>(table: &T, addresses: &[Ipv4Address], prefetch: bool) -> u32 {
    let mut sum = 0;
    for batch in addresses.chunks(BATCH) {
        if prefetch {
            batch.iter().for_each(|&address| table.prefetch(address));
        }
        for &address in batch {
            sum += table.lookup(address).map_or(0, |hop| hop.port + hop.gateway.to_bits());
        }
    }
    sum
}

fn bench_table<T: RouteTable + Default>(c: &mut Criterion, name: &str) {
    let few: Vec<Route> =
        networks(7).into_iter().chain(["0/0".parse().map(default_route).unwrap()]).collect();
    let many = networks(1 << 18);
    for (size, routes) in [("8 routes", few), ("256K routes", many)] {
        let table: T = loaded(&routes);
        // Every second packet goes to a route, in an order that no cache foresees.
        let addresses: Vec<Ipv4Address> = numbers()
            .skip(1 << 20)
            .take(1 << 20)
            .map(|number| {
                let host = number >> 24;
                match number & 1 {
                    0 => Ipv4Address::from_bits(number),
                    _ => Ipv4Address::from_bits(
                        routes[number as usize / 2 % routes.len()].prefix().address.to_bits() | host,
                    ),
                }
            })
            .collect();
        let mut group = c.benchmark_group(format!("{name}, {size}"));
        group.throughput(Throughput::Elements(addresses.len() as u64)).sample_size(10);
        group.bench_function("plain", |b| b.iter(|| lookups(&table, black_box(&addresses), false)));
        group.bench_function("prefetched", |b| b.iter(|| lookups(&table, black_box(&addresses), true)));
    }
}

fn default_route(prefix: Ipv4Prefix) -> Route {
    Route::new(prefix, Ipv4Address::new(10, 0, 0, 1), 0)
}

fn bench_loading(c: &mut Criterion) {
    let routes = networks(1_000_000);
    let mut group = c.benchmark_group("1M inserts");
    group.throughput(Throughput::Elements(routes.len() as u64)).sample_size(10);
    group.bench_function("static", |b| {
        b.iter_batched(|| (), |()| loaded::<StaticTable>(&routes), BatchSize::PerIteration);
    });
}

fn bench_all(c: &mut Criterion) {
    bench_table::<StaticTable>(c, "static");
    bench_table::<DirectTable>(c, "direct");
    bench_table::<RangeTable>(c, "range");
    bench_loading(c);
}

/// The benchmarks, as criterion's macro would group them, but documented.
fn benches() {
    bench_all(&mut Criterion::default().configure_from_args());
}

criterion_main!(benches);
