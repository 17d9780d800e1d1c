//! What a decision costs: an Ethernet classifier, a firewall of the size of a textbook's, and a thousand generated rules.
//!
//! Each iteration classifies [`PACKETS`] packets of mixed kinds; throughput is given in packets.

mod traffic;

use std::hint::black_box;

use clickwork_classifier::{Headers, NoNames, Program, classifier, ip_filter};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use traffic::{FIREWALL, PACKETS, Random, dns_traffic, firewall_traffic, ip_packet};

fn ether_frames(random: &mut Random, kinds: &[[u8; 10]]) -> Vec<[u8; 60]> {
    let frame = |random: &mut Random| {
        let mut frame = [0; 60];
        frame[12..22].copy_from_slice(&random.among(kinds));
        frame
    };
    (0..PACKETS).map(|_| frame(random)).collect()
}

fn generated_rules(of: impl Fn(u32) -> String) -> Vec<String> {
    (0..1000).map(of).chain(["deny all".to_owned()]).collect()
}

fn generated_traffic(random: &mut Random) -> Vec<[u8; 40]> {
    (0..PACKETS)
        .map(|_| {
            let rule = random.below(1000);
            ip_packet(6, 0x0a00_0000 + (rule << 8) + 5, 0x0b00_0001, [4000, (1000 + rule) as u16], 0x10)
        })
        .collect()
}

fn measure<const N: usize>(c: &mut Criterion, name: &str, program: &Program, packets: &[[u8; N]], ip: bool) {
    let mut group = c.benchmark_group("classify");
    group.throughput(Throughput::Elements(packets.len() as u64));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            let decide = |packet: &[u8; N]| {
                let headers = if ip { Headers::ip(packet, 0, 20) } else { Headers::raw(packet) };
                program.classify(&headers).unwrap_or(7)
            };
            black_box(packets).iter().map(decide).sum::<usize>()
        });
    });
    group.finish();
}

fn ethernet(c: &mut Criterion) {
    let program = classifier(&["12/0806 20/0001", "12/0806 20/0002", "12/0800", "-"]).expect("valid").program;
    let ip = [8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0];
    let request = [8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
    let response = [8, 6, 0, 1, 8, 0, 6, 4, 0, 2];
    let six = [0x86, 0xdd, 0, 0, 0, 0, 0, 0, 0, 0];
    let random = &mut Random(7);
    measure(c, "ethernet, IP only", &program, &ether_frames(random, &[ip]), false);
    measure(c, "ethernet, mixed", &program, &ether_frames(random, &[ip, ip, request, response, six]), false);
}

fn firewall(c: &mut Criterion) {
    let program = ip_filter(&FIREWALL, 1, &NoNames).expect("valid").program;
    measure(c, "firewall, DNS only", &program, &dns_traffic(), true);
    measure(c, "firewall, mixed", &program, &firewall_traffic(&mut Random(7)), true);
    c.bench_function("compile firewall", |bencher| {
        bencher.iter(|| ip_filter(black_box(&FIREWALL), 1, &NoNames))
    });
}

fn generated(c: &mut Criterion) {
    let traffic = generated_traffic(&mut Random(7));
    let ports = generated_rules(|rule| format!("allow tcp && dst port {}", 1000 + rule));
    let nets = generated_rules(|rule| {
        format!("allow src net 10.{}.{}.0/24 && tcp && dst port {}", rule >> 8, rule & 255, 1000 + rule)
    });
    let lengths = generated_rules(|rule| {
        let (high, low, length) = (rule >> 8, rule & 255, [24, 25, 28][rule as usize % 3]);
        format!("{} src net 10.{high}.{low}.0/{length}", if rule % 2 == 0 { "allow" } else { "deny" })
    });
    let mixed = generated_rules(|rule| match rule % 3 {
        0 => format!("allow src net 10.{}.{}.0/24 && tcp", rule >> 8, rule & 255),
        1 => format!("allow src net 10.{}.{}.0/28 && dst port {}", rule >> 8, rule & 255, 1000 + rule),
        _ => format!("deny dst host 11.0.{}.{} && udp", rule >> 8, rule & 255),
    });
    let kinds = [
        ("1000 ports", ports),
        ("1000 networks and ports", nets),
        ("1000 networks of three lengths", lengths),
        ("1000 assorted", mixed),
    ];
    for (name, rules) in kinds {
        let program = ip_filter(&rules, 1, &NoNames).expect("valid").program;
        measure(c, name, &program, &traffic, true);
        c.bench_function(&format!("compile {name}"), |bencher| {
            bencher.iter(|| ip_filter(black_box(&rules), 1, &NoNames));
        });
    }
}

/// Kept apart because the function that the macro makes has no documentation.
#[allow(missing_docs)]
mod group {
    use super::*;
    criterion_group! {
        name = benches;
        config = Criterion::default().sample_size(20);
        targets = ethernet, firewall, generated
    }
}
use group::benches;

criterion_main!(benches);
