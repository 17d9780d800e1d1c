//! What a decision costs: an Ethernet classifier, a firewall of the size of a textbook's, and a thousand generated rules.
//!
//! Each iteration classifies [`PACKETS`] packets of mixed kinds; throughput is given in packets.

use std::hint::black_box;

use clickwork_classifier::{Headers, NoNames, Program, classifier, ip_filter};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const PACKETS: usize = 1024;

/// xorshift, so that every run sees the same packets.
struct Random(u32);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % bound
    }

    fn among<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

fn ether_frames(random: &mut Random, kinds: &[[u8; 10]]) -> Vec<[u8; 60]> {
    let frame = |random: &mut Random| {
        let mut frame = [0; 60];
        frame[12..22].copy_from_slice(&random.among(kinds));
        frame
    };
    (0..PACKETS).map(|_| frame(random)).collect()
}

fn ip_packet(protocol: u8, source: u32, destination: u32, ports: [u16; 2], flags: u8) -> [u8; 40] {
    let mut packet = [0; 40];
    packet[0] = 0x45;
    packet[8] = 64;
    packet[9] = protocol;
    packet[12..16].copy_from_slice(&source.to_be_bytes());
    packet[16..20].copy_from_slice(&destination.to_be_bytes());
    packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
    packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
    packet[33] = flags;
    packet
}

/// The screened-subnet router of a small site: 10.0.0.0/8 inside, a bastion host, mail, news and name servers.
const FIREWALL: [&str; 17] = [
    "deny src net 10.0.0.0/8",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port www && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port 23 && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port 22 && ack",
    "allow dst net 10.0.0.0/8 && tcp && dst port 22",
    "allow dst net 10.0.0.0/8 && tcp && src port 21 && dst port > 1023 && ack",
    "allow dst net 10.0.0.0/8 && tcp && src port > 1023 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port 21 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst net 10.0.0.0/8 && tcp && src port > 1023 && dst port > 1023",
    "allow src host 192.0.2.1 && dst host 10.0.0.25 && tcp && src port 25 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst host 10.0.0.25 && tcp && src port > 1023 && dst port 25",
    "allow src host 198.51.100.7 && dst host 10.0.0.119 && tcp && src port 119 && dst port > 1023 && ack",
    "allow src host 198.51.100.7 && dst host 10.0.0.119 && tcp && src port > 1023 && dst port 119",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && udp && src port 53 && dst port 53",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && tcp && src port 53 && dst port > 1023 && ack",
    "allow src host 192.0.2.1 && dst host 10.0.0.53 && tcp && src port > 1023 && dst port 53",
    "deny all",
];

fn firewall_traffic(random: &mut Random) -> Vec<[u8; 40]> {
    let (bastion, news, other) = (0xc000_0201, 0xc633_6407, 0x0808_0808);
    let inside = [0x0a00_0019, 0x0a00_0035, 0x0a00_0077, 0x0a01_0203];
    let ports = [20, 21, 22, 23, 25, 53, 80, 119, 1500, 30_000];
    (0..PACKETS)
        .map(|_| {
            let source = random.among(&[bastion, bastion, news, other, 0x0a00_0001]);
            let ports = [random.among(&ports), random.among(&ports)];
            let (protocol, flags) = (random.among(&[6, 6, 6, 17]), random.among(&[0x10, 0x02]));
            ip_packet(protocol, source, random.among(&inside), ports, flags)
        })
        .collect()
}

/// A last rule of the firewall for every packet: name service from the bastion host, what ASPLOS 2002 measures.
fn dns_traffic() -> Vec<[u8; 40]> {
    vec![ip_packet(6, 0xc000_0201, 0x0a00_0035, [4000, 53], 0x02); PACKETS]
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
