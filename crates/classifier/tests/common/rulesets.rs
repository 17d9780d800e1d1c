//! Made-up rule sets of any size with the properties of real ones, as ClassBench describes them (Taylor and Turner,
//! "ClassBench: a packet classification benchmark", 2007, §4): addresses that crowd in few networks, prefixes that
//! lie in one another, few protocols, ports that are single, ranges or anything. The same seed gives the same rules.

/// xorshift (Marsaglia 2003), so that every run sees the same rules.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn number(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u32
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.number()) * u64::from(bound)) >> 32) as u32
    }

    fn within(&mut self, low: u16, high: u16) -> u16 {
        low + self.below(u32::from(high - low) + 1) as u16
    }

    /// One of the choices; each comes with its weight.
    fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for (weight, choice) in choices {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *choice,
            }
        }
        choices[0].1
    }
}

/// What kind of router the rules are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An access list: mostly pairs of long prefixes, ports of services.
    AccessList,
    /// A firewall: many wildcards and port ranges.
    Firewall,
}

/// A prefix of an address.
#[derive(Clone, Copy)]
struct Prefix {
    address: u32,
    length: u32,
}

impl Prefix {
    fn new(address: u32, length: u32) -> Prefix {
        Prefix { address: address & !u32::MAX.checked_shr(length).unwrap_or(0), length }
    }

    fn has(self, address: u32) -> bool {
        Prefix::new(address, self.length).address == self.address
    }

    fn random_address(self, random: &mut Random) -> u32 {
        self.address | random.number() & u32::MAX.checked_shr(self.length).unwrap_or(0)
    }
}

/// One rule: five fields and a decision.
#[derive(Clone)]
pub struct Rule {
    source: Prefix,
    destination: Prefix,
    protocol: Option<u8>,
    source_ports: (u16, u16),
    destination_ports: (u16, u16),
    flag: bool,
    output: u32,
}

const ANY: (u16, u16) = (0, 0xffff);
const TCP: u8 = 6;
const UDP: u8 = 17;

/// So many rules and a last one that drops everything, as arguments of an IPFilter with four outputs.
pub fn filter(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(Rule::text).chain(["drop all".to_owned()]).collect()
}

/// Packets that each satisfy one of the rules, which all come up equally often.
pub fn traffic(rules: &[Rule], count: usize) -> Vec<[u8; 40]> {
    let random = &mut Random::new(77);
    (0..count).map(|_| rules[random.below(rules.len() as u32) as usize].packet(random)).collect()
}

/// So many rules, without repetitions.
pub fn rules(kind: Kind, count: usize, seed: u64) -> Vec<Rule> {
    let random = &mut Random::new(seed);
    let networks = networks(count / 20 + 4, random);
    let mut seen = std::collections::HashSet::new();
    let mut rules = Vec::with_capacity(count);
    while rules.len() < count {
        let rule = rule(kind, &networks, random);
        if seen.insert(rule.condition()) {
            rules.push(rule);
        }
    }
    // As ClassBench does: what is more special comes first, or it would never be reached.
    rules.sort_by_key(Rule::scope);
    rules
}

/// Networks in which addresses crowd: half of them are parts of others.
fn networks(count: usize, random: &mut Random) -> Vec<Prefix> {
    let mut networks = vec![Prefix::new(random.number(), 16)];
    while networks.len() < count {
        let parent = networks[random.below(networks.len() as u32) as usize];
        let inside = random.below(2) == 0 && parent.length < 24;
        networks.push(match inside {
            true => Prefix::new(parent.random_address(random), parent.length + 4),
            false => Prefix::new(random.number(), random.weighted(&[(1, 8), (6, 16), (3, 20)])),
        });
    }
    networks
}

fn rule(kind: Kind, networks: &[Prefix], random: &mut Random) -> Rule {
    let firewall = kind == Kind::Firewall;
    let protocol = random.weighted(&[
        (70, Some(TCP)),
        (22, Some(UDP)),
        (4, Some(1)),
        (1, Some(47)),
        (if firewall { 20 } else { 5 }, None),
    ]);
    let has_ports = matches!(protocol, Some(TCP | UDP));
    let (any_source, any_destination) = if firewall { (50, 30) } else { (8, 2) };
    Rule {
        source: prefix(any_source, networks, random),
        destination: prefix(any_destination, networks, random),
        protocol,
        source_ports: if has_ports { ports(if firewall { 60 } else { 95 }, random) } else { ANY },
        destination_ports: if has_ports { ports(15, random) } else { ANY },
        flag: protocol == Some(TCP) && random.below(10) == 0,
        output: random.weighted(&[(5, 0), (2, 1), (1, 2), (2, 3)]),
    }
}

/// A prefix in one of the networks, or in `any` of 100 cases none.
fn prefix(any: u32, networks: &[Prefix], random: &mut Random) -> Prefix {
    if random.below(100) < any {
        return Prefix::new(0, 0);
    }
    let network = networks[random.below(networks.len() as u32) as usize];
    let length =
        random.weighted(&[(45, 32), (8, 30), (7, 28), (6, 27), (20, 24), (4, 22), (10, network.length)]);
    Prefix::new(network.random_address(random), length.max(network.length))
}

fn ports(any: u32, random: &mut Random) -> (u16, u16) {
    if random.below(100) < any {
        return ANY;
    }
    let services = [
        20, 21, 22, 23, 25, 53, 80, 110, 123, 135, 139, 143, 161, 443, 445, 993, 1433, 1521, 3306, 5060, 8080,
    ];
    let service = services[random.below(services.len() as u32) as usize];
    let single = random.within(1024, 0xffff);
    let low = random.within(0, 0xf000);
    let wide = random.within(2, 800);
    random.weighted(&[
        (55, (service, service)),
        (15, (single, single)),
        (14, (1024, 0xffff)),
        (3, (0, 1023)),
        (2, (6000, 6063)),
        (11, (low, low + wide)),
    ])
}

impl Rule {
    /// The rule as IPFilter has it.
    pub fn text(&self) -> String {
        let action = if self.output == 3 { "drop".to_owned() } else { self.output.to_string() };
        let condition = self.condition();
        format!("{action} {}", if condition.is_empty() { "all" } else { &condition })
    }

    fn condition(&self) -> String {
        let mut parts = Vec::new();
        for (side, prefix) in [("src", self.source), ("dst", self.destination)] {
            let address = std::net::Ipv4Addr::from_bits(prefix.address);
            match prefix.length {
                0 => {}
                32 => parts.push(format!("{side} host {address}")),
                length => parts.push(format!("{side} net {address}/{length}")),
            }
        }
        parts.extend(self.protocol.map(|protocol| match protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            other => format!("ip proto {other}"),
        }));
        for (side, ports) in [("src", self.source_ports), ("dst", self.destination_ports)] {
            match ports {
                ANY => {}
                (low, high) if low == high => parts.push(format!("{side} port {low}")),
                (low, high) => parts.push(format!("{side} port {low}-{high}")),
            }
        }
        parts.extend(self.flag.then(|| "ack".to_owned()));
        parts.join(" && ")
    }

    /// The output; none if packets are dropped.
    pub fn decision(&self) -> Option<usize> {
        (self.output != 3).then_some(self.output as usize)
    }

    /// Whether a packet with all its headers satisfies the rule.
    pub fn takes(&self, packet: &[u8; 40]) -> bool {
        let word =
            |at: usize| u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]);
        let port = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let within = |(low, high): (u16, u16), port: u16| low <= port && port <= high;
        self.source.has(word(12))
            && self.destination.has(word(16))
            && self.protocol.is_none_or(|protocol| packet[9] == protocol)
            && within(self.source_ports, port(20))
            && within(self.destination_ports, port(22))
            && (!self.flag || packet[33] & 0x10 != 0)
    }

    /// How much the rule takes, as a number of bits that do not matter.
    fn scope(&self) -> u32 {
        let range =
            |(low, high): (u16, u16)| u32::from(high - low).checked_ilog2().map_or(0, |bits| bits + 1);
        let addresses = 64 - self.source.length - self.destination.length;
        let ports = range(self.source_ports) + range(self.destination_ports);
        addresses + ports + if self.protocol.is_none() { 8 } else { 0 }
    }

    /// A packet that satisfies the rule; an earlier rule may take it.
    pub fn packet(&self, random: &mut Random) -> [u8; 40] {
        let mut packet = [0; 40];
        packet[0] = 0x45;
        packet[8] = 64;
        packet[9] = self.protocol.unwrap_or_else(|| random.weighted(&[(3, TCP), (1, UDP)]));
        packet[12..16].copy_from_slice(&self.source.random_address(random).to_be_bytes());
        packet[16..20].copy_from_slice(&self.destination.random_address(random).to_be_bytes());
        let port = |(low, high), random: &mut Random| random.within(low, high).to_be_bytes();
        packet[20..22].copy_from_slice(&port(self.source_ports, random));
        packet[22..24].copy_from_slice(&port(self.destination_ports, random));
        packet[33] = 0x10;
        packet
    }
}
