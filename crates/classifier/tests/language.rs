//! The filter language against an independent model: random expressions are written as text, compiled, and
//! compared with what the model says of random packets, among them fragments, packets with options and
//! packets cut short.

use clickwork_classifier::{Headers, NoNames, ip_classifier, ip_filter};
use proptest::prelude::*;
use proptest::sample::select;

/// An expression that can print itself and judge a packet, without any code of the crate.
#[derive(Debug, Clone)]
enum Model {
    Constant(bool),
    Not(Box<Model>),
    And(Vec<Model>),
    Or(Vec<Model>),
    Ternary(Box<[Model; 3]>),
    Address { side: &'static str, negated: bool, address: [u8; 4], mask: [u8; 4] },
    Protocol(&'static str, &'static [u8]),
    Port { side: &'static str, protocol: &'static str, compare: Compare },
    Fragment(bool),
    Flags(&'static str, u8),
    Field(Field, Compare),
    IcmpType(Compare),
}

#[derive(Debug, Clone)]
struct Compare {
    mask: Option<u32>,
    sign: &'static str,
    number: u32,
    range: Option<u32>,
    /// Greatest value of the field.
    full: u32,
}

#[derive(Debug, Clone)]
struct Field {
    text: &'static str,
    protocol: Option<u8>,
    byte: usize,
    bytes: usize,
    shift: u32,
    bits: u32,
}

const FIELDS: &[Field] = &[
    Field { text: "ip vers", protocol: None, byte: 0, bytes: 1, shift: 4, bits: 4 },
    Field { text: "ip hl", protocol: None, byte: 0, bytes: 1, shift: 0, bits: 4 },
    Field { text: "ip tos", protocol: None, byte: 1, bytes: 1, shift: 0, bits: 8 },
    Field { text: "ip dscp", protocol: None, byte: 1, bytes: 1, shift: 2, bits: 6 },
    Field { text: "ip len", protocol: None, byte: 2, bytes: 2, shift: 0, bits: 16 },
    Field { text: "ip id", protocol: None, byte: 4, bytes: 2, shift: 0, bits: 16 },
    Field { text: "ip ttl", protocol: None, byte: 8, bytes: 1, shift: 0, bits: 8 },
    Field { text: "ip proto", protocol: None, byte: 9, bytes: 1, shift: 0, bits: 8 },
    Field { text: "ip[2:2]", protocol: None, byte: 2, bytes: 2, shift: 0, bits: 16 },
    Field { text: "ip[16,19]", protocol: None, byte: 16, bytes: 4, shift: 0, bits: 32 },
    Field { text: "tcp win", protocol: Some(6), byte: 14, bytes: 2, shift: 0, bits: 16 },
    Field { text: "tcp[13]", protocol: Some(6), byte: 13, bytes: 1, shift: 0, bits: 8 },
    Field { text: "udp[4:2]", protocol: Some(17), byte: 4, bytes: 2, shift: 0, bits: 16 },
];

/// A packet from its IP header on.
struct Packet<'a> {
    ip: &'a [u8],
    transport: &'a [u8],
}

fn number(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// `Some(None)` is a missing field. `None` is a field of which only a part is there: what an inequality then
/// says is not specified.
fn field(bytes: &[u8], at: usize, count: usize) -> Option<Option<u32>> {
    let whole = number(bytes, at, count);
    if whole.is_none() && at < bytes.len() { None } else { Some(whole) }
}

impl Compare {
    fn text(&self) -> String {
        let mask = self.mask.map_or(String::new(), |mask| format!(" & {mask:#x}"));
        let range = self.range.map_or(String::new(), |high| format!("-{high}"));
        format!("{mask} {} {}{range}", self.sign, self.number)
    }

    /// Without the negation in the sign. `<`, `<=` and `!=` count as negations (`<` of `>=`): of two sides,
    /// either may not.
    fn plain(&self, field: u32) -> bool {
        let masked = field & self.mask.unwrap_or(!0);
        match (self.range, self.sign) {
            (Some(high), _) => (self.number..=high).contains(&masked),
            (None, "<" | ">=") => masked >= self.number,
            (None, ">" | "<=") => masked > self.number,
            _ => masked == self.number & self.mask.unwrap_or(!0),
        }
    }

    fn negated(&self) -> bool {
        matches!(self.sign, "!=" | "<=" | "<")
    }

    /// The plain condition, if it is the same for all values. Then nothing is read and the field may be
    /// missing.
    fn settled(&self) -> Option<bool> {
        let greatest = self.mask.unwrap_or(self.full);
        let (always, never) = match (self.range, self.sign) {
            (Some(high), _) => (self.number == 0 && high >= greatest, self.number > greatest),
            (None, "<" | ">=") => (self.number == 0, self.number > greatest),
            (None, ">" | "<=") => (false, self.number >= greatest),
            _ => (false, false),
        };
        (always || never).then_some(always)
    }

    /// What the plain condition says of a field; `None` if it is missing.
    fn of(&self, field: Option<u32>) -> Option<bool> {
        self.settled().or_else(|| field.map(|field| self.plain(field)))
    }

    fn holds(&self, field: Option<u32>) -> bool {
        self.of(field).is_some_and(|truth| truth != self.negated())
    }
}

/// What a condition on source and destination says, each read when needed; a missing one makes it false.
fn both_sides(
    side: &str,
    negated: bool,
    mut holds: impl FnMut(bool) -> Option<Option<bool>>,
) -> Option<bool> {
    let mut judge = || -> Option<Option<bool>> {
        let first = if side == "dst" { holds(false)? } else { holds(true)? };
        let Some(first) = first else { return Some(None) };
        match side {
            "src or dst" | "" if !first => holds(false),
            "src and dst" if first => holds(false),
            _ => Some(Some(first)),
        }
    };
    Some(judge()?.is_some_and(|truth| truth != negated))
}

impl Packet<'_> {
    fn is(&self, protocols: &[u8]) -> bool {
        self.ip.get(9).is_some_and(|protocol| protocols.contains(protocol))
    }

    /// Of one of the protocols, and not a later fragment.
    fn first_of(&self, protocols: &[u8]) -> bool {
        self.is(protocols) && number(self.ip, 6, 2).is_some_and(|word| word & 0x1fff == 0)
    }
}

fn protocols(name: &str) -> &'static [u8] {
    match name {
        "tcp" => &[6],
        "udp" => &[17],
        _ => &[6, 17],
    }
}

impl Model {
    fn text(&self) -> String {
        let joined = |parts: &[Model], by: &str| {
            format!("({})", parts.iter().map(Model::text).collect::<Vec<_>>().join(by))
        };
        match self {
            Model::Constant(truth) => truth.to_string(),
            Model::Not(inner) => format!("not {}", inner.text()),
            Model::And(parts) => joined(parts, " and "),
            Model::Or(parts) => joined(parts, " || "),
            Model::Ternary(parts) => {
                format!("({} ? {} : {})", parts[0].text(), parts[1].text(), parts[2].text())
            }
            Model::Address { side, negated, address: [a, b, c, d], mask: [e, f, g, h] } => {
                let sign = if *negated { "!= " } else { "" };
                format!("{side} net {sign}{a}.{b}.{c}.{d} mask {e}.{f}.{g}.{h}")
            }
            Model::Protocol(name, _) => (*name).to_owned(),
            Model::Port { side, protocol, compare } => format!("{side} {protocol} port{}", compare.text()),
            Model::Fragment(wanted) => if *wanted { "ip frag" } else { "ip unfrag" }.to_owned(),
            Model::Flags(name, _) => format!("tcp opt {name}"),
            Model::Field(field, compare) => format!("{}{}", field.text, compare.text()),
            Model::IcmpType(compare) => format!("icmp type{}", compare.text()),
        }
    }

    /// `None` if unspecified.
    fn holds(&self, packet: &Packet<'_>) -> Option<bool> {
        Some(match self {
            Model::Constant(truth) => *truth,
            Model::Not(inner) => !inner.holds(packet)?,
            Model::And(parts) => {
                let all: Option<Vec<bool>> = parts.iter().map(|part| part.holds(packet)).collect();
                all?.iter().all(|truth| *truth)
            }
            Model::Or(parts) => {
                let all: Option<Vec<bool>> = parts.iter().map(|part| part.holds(packet)).collect();
                all?.iter().any(|truth| *truth)
            }
            Model::Ternary(parts) => parts[if parts[0].holds(packet)? { 1 } else { 2 }].holds(packet)?,
            Model::Address { side, negated, address, mask } => {
                let mask = u32::from_be_bytes(*mask);
                let wanted = u32::from_be_bytes(*address) & mask;
                return both_sides(side, *negated, |source| {
                    let address = field(packet.ip, if source { 12 } else { 16 }, 4)?;
                    Some(if mask == 0 { Some(true) } else { address.map(|address| address & mask == wanted) })
                });
            }
            Model::Protocol(_, protocols) => packet.is(protocols),
            Model::Port { side, protocol, compare } => {
                if !packet.first_of(protocols(protocol)) {
                    return Some(false);
                }
                return both_sides(side, compare.negated(), |source| {
                    let port = field(packet.transport, if source { 0 } else { 2 }, 2)?;
                    Some(compare.of(port))
                });
            }
            Model::Fragment(wanted) => {
                number(packet.ip, 6, 2).is_some_and(|word| (word & 0x3fff != 0) == *wanted)
            }
            Model::Flags(_, flags) => {
                packet.first_of(&[6]) && packet.transport.get(13).is_some_and(|byte| byte & flags == *flags)
            }
            Model::Field(Field { protocol, byte, bytes, shift, bits, .. }, compare) => {
                if protocol.is_some_and(|protocol| !packet.first_of(&[protocol])) {
                    return Some(false);
                }
                let header = if protocol.is_some() { packet.transport } else { packet.ip };
                let value = field(header, *byte, *bytes)?;
                compare.holds(value.map(|value| value >> shift & (u32::MAX >> (32 - bits))))
            }
            Model::IcmpType(compare) => {
                packet.first_of(&[1]) && compare.holds(number(packet.transport, 0, 1))
            }
        })
    }
}

/// Comparisons that make sense for a field of so many bits.
fn compare(bits: u32) -> impl Strategy<Value = Compare> {
    let full = u32::MAX >> (32 - bits);
    let numbers = prop_oneof![Just(0), Just(1), Just(80), Just(1023), Just(53), Just(full), any::<u32>()];
    let masks = prop_oneof![6 => Just(None), 1 => any::<u32>().prop_map(Some), 1 => Just(Some(0xf0))];
    let sign = select(vec!["", "=", "!=", "<", ">", "<=", ">="]);
    (masks, sign, numbers, prop::option::weighted(0.15, any::<u32>())).prop_map(
        move |(mask, sign, number, range)| {
            let number = number & full;
            let range =
                range.map(|high| (high & full).max(number)).filter(|_| matches!(sign, "" | "=" | "!="));
            let mask = mask.map(|mask| mask & full).filter(|mask| *mask != 0);
            Compare { mask, sign, number, range, full }
        },
    )
}

fn primitive() -> impl Strategy<Value = Model> {
    let side = || select(vec!["src", "dst", "src or dst", "src and dst"]);
    let octet = || select(vec![0u8, 10, 18, 192, 255]);
    let mask =
        select(vec![[255, 0, 0, 0], [255, 255, 0, 0], [255; 4], [255, 0, 0, 255], [0; 4], [128, 0, 0, 0]]);
    let flags = vec![("syn", 2), ("ack", 16), ("fin", 1), ("rst", 4), ("18", 18)];
    let names: Vec<(_, &[u8])> =
        vec![("tcp", &[6]), ("udp", &[17]), ("icmp", &[1]), ("ip proto 17", &[17]), ("tcpudp", &[6, 17])];
    prop_oneof![
        any::<bool>().prop_map(Model::Constant),
        (side(), any::<bool>(), [octet(), octet(), octet(), octet()], mask)
            .prop_map(|(side, negated, address, mask)| Model::Address { side, negated, address, mask }),
        select(names).prop_map(|(name, numbers)| Model::Protocol(name, numbers)),
        (side(), select(vec!["tcp", "udp", ""]), compare(16))
            .prop_map(|(side, protocol, compare)| Model::Port { side, protocol, compare }),
        any::<bool>().prop_map(Model::Fragment),
        select(flags).prop_map(|(name, bits)| Model::Flags(name, bits)),
        select(FIELDS)
            .prop_ind_flat_map(|field| compare(field.bits).prop_map(move |c| Model::Field(field.clone(), c))),
        compare(8).prop_map(Model::IcmpType),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    primitive().prop_recursive(4, 20, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|inner| Model::Not(Box::new(inner))),
            several().prop_map(Model::And),
            several().prop_map(Model::Or),
            [inner.clone(), inner.clone(), inner].prop_map(|parts| Model::Ternary(Box::new(parts))),
        ]
    })
}

/// A header-like packet: mostly version 4, known protocols, few addresses and ports, sometimes options or a
/// fragment.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let octet = || select(vec![0u8, 10, 18, 192, 255]);
    let header =
        (5..8usize, select(vec![1u8, 6, 17, 2]), select(vec![0u16, 0, 0, 0x2000, 0x4000, 0x0010, 0x2001]));
    let addresses = prop::collection::vec(octet(), 8);
    let ports = prop::collection::vec(select(vec![0u16, 1, 53, 80, 1023, 1024, 65535, 0x0450]), 2);
    let rest = prop::collection::vec(any::<u8>(), 20);
    (header, addresses, ports, rest, any::<[u8; 8]>(), 0..80usize).prop_map(
        |((words, protocol, fragment), addresses, ports, rest, noise, cut)| {
            let mut packet = vec![0x40 | words as u8, noise[0], noise[1], noise[2], noise[3], noise[4]];
            packet.extend(fragment.to_be_bytes());
            packet.extend([noise[5], protocol, noise[6], noise[7]]);
            packet.extend(addresses);
            packet.resize(words * 4, 1);
            packet.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
            packet.extend(rest);
            packet.truncate(cut.max(1));
            packet
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(800) })]

    #[test]
    fn filters_mean_what_the_model_says(
        rules in prop::collection::vec((0..3usize, model()), 1..6),
        packets in prop::collection::vec(packet(), 24),
    ) {
        let texts: Vec<String> = rules.iter().map(|(port, model)| format!("{port} {}", model.text())).collect();
        let program = ip_filter(&texts, 3, &NoNames).unwrap().program;
        for bytes in &packets {
            let transport = usize::from(bytes[0] & 15) * 4;
            let packet = Packet { ip: bytes, transport: bytes.get(transport..).unwrap_or_default() };
            let truths: Option<Vec<bool>> = rules.iter().map(|(_, model)| model.holds(&packet)).collect();
            let Some(truths) = truths else { continue };
            let expected = truths.iter().position(|truth| *truth).map(|index| rules[index].0);
            let found = program.classify(&Headers::ip(bytes, 0, transport));
            prop_assert_eq!(found, expected, "{:?}\n{:?}\n{}", texts, bytes, program);
        }
    }

    #[test]
    fn no_text_is_fatal(text in "[ a-z0-9.:/<>=!&|()\\[\\]?,-]{0,60}") {
        let _ = ip_classifier(&[&text], &NoNames);
        let _ = clickwork_classifier::classifier(&[&text]);
    }

    #[test]
    fn no_sequence_of_words_is_fatal(words in prop::collection::vec(select(WORDS), 0..24)) {
        let text = words.join(" ");
        if let Err(errors) = ip_classifier(&[&text], &NoNames) {
            for error in errors {
                prop_assert!(text.get(error.range.clone()).is_some(), "{:?} in {}", error, text);
                prop_assert!(error.hint.is_some());
            }
        }
    }
}

const WORDS: &[&str] = &[
    "src",
    "dst",
    "and",
    "or",
    "not",
    "(",
    ")",
    "?",
    ":",
    "tcp",
    "udp",
    "icmp",
    "port",
    "80",
    "www",
    "echo",
    "host",
    "net",
    "10.0.0.1",
    "10.0.0.0/8",
    "mask",
    "255.0.0.0",
    "ip",
    "ether",
    "1:2:3:4:5:6",
    "proto",
    "ttl",
    "ect",
    "ce",
    "frag",
    "[",
    "]",
    "9",
    "2:2",
    "&",
    "0xf0",
    "=",
    "!=",
    "<",
    ">=",
    "syn",
    "opt",
    "type",
    "true",
    "false",
    "transp",
    "1-5",
    "99999",
    "foo",
    "tcpudp",
    "dscp",
    "win",
    "-",
    "any",
];
