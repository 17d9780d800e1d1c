//! Programs as Rust: compiled, they decide as the interpreter does, on packets of every length.
//!
//! All programs of a test are modules of one program, which rustc makes. It reads packets and decisions from a file.

use clickwork_classifier::rust::{Sections, module};
use clickwork_classifier::{
    Base, Expr, Headers, NoNames, Program, Target, Test, classifier, ip_classifier, ip_filter,
};

#[path = "common/rulesets.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod rulesets;
#[path = "common/rustc.rs"]
mod rustc;

const ROUNDS: usize = 300;
const PACKETS: usize = 60;

/// xorshift: the same programs and packets in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn among<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// A packet and where its headers are marked; positions count from the start of `bytes`, of which the first `stripped`
/// were taken off after the marking.
#[derive(Clone, Debug)]
struct Sample {
    bytes: Vec<u8>,
    stripped: usize,
    ether: Option<usize>,
    network: Option<(usize, u32)>,
}

impl Sample {
    fn decide(&self, program: &Program, sections: Sections) -> Option<usize> {
        let from = |start: usize| self.bytes.get(start..).unwrap_or_default();
        if sections == Sections::Data {
            return program.classify(&Headers::raw(from(self.stripped)));
        }
        let (network, transport) = match self.network {
            Some((network, length)) => (from(network), length as usize),
            None => (&[][..], usize::MAX),
        };
        let ether = self.ether.map_or(&[][..], from);
        program.classify(&Headers::ip(network, 0, transport).with_ether(ether))
    }

    /// A line for the compiled program. With `perhaps`, it may also leave the packet to the element.
    fn line(&self, module: usize, decision: Option<usize>, perhaps: bool) -> String {
        let place = |place: Option<usize>| place.map_or(-1, |place| place as i64);
        let hex: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (ether, network) = (place(self.ether), place(self.network.map(|(network, _)| network)));
        let length = self.network.map_or(0, |(_, length)| length);
        let perhaps = u8::from(perhaps);
        format!(
            "{module} {} {} {ether} {network} {length} x{hex} {perhaps}\n",
            place(decision),
            self.stripped
        )
    }
}

/// What becomes the `main` of the compiled program.
const MAIN: &str = r#"
use clickwork_packet::Packet;

fn sample(fields: &[&str]) -> Packet {
    let bytes: Vec<u8> =
        (1..fields[6].len()).step_by(2).map(|at| u8::from_str_radix(&fields[6][at..at + 2], 16).unwrap()).collect();
    let mut p = Packet::new(&bytes);
    let (ether, network): (i32, i32) = (fields[3].parse().unwrap(), fields[4].parse().unwrap());
    if ether >= 0 {
        p.set_mac_offset(ether);
    }
    if network >= 0 {
        p.set_network_header(network, fields[5].parse().unwrap());
    }
    p.pull(fields[2].parse().unwrap());
    p
}

fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let mut p = sample(&fields);
        let expected: i64 = fields[1].parse().unwrap();
        let found = FAST[fields[0].parse::<usize>().unwrap()](&mut p).map_or(-1, i64::from);
        assert!(found == expected || found == -1 && fields[7] == "1", "{found} instead of {expected}: {line}");
    }
    println!("{}", text.lines().count());
}
"#;

// ---- programs

fn test(random: &mut Random, raw: bool) -> Test {
    let bases = if raw { &[Base::Ether][..] } else { &Base::ALL };
    let masks =
        [!0, 0xffff_0000, 0xffff, 0xff00_0000, 0x00ff_0000, 0x0300_0000, 0x0007_0000, 1 << random.below(32)];
    let values = [0, 0x0100_0001, 0x0102_0304, !0, random.below(8) as u32 * 0x0101_0101];
    let (mask, value) = (random.among(&masks), random.among(&values));
    let test = Test::new(random.among(bases), random.below(4) as u16 * 4, mask, value);
    Test { short: random.below(5) == 0, ..test }
}

fn expr(random: &mut Random, raw: bool, depth: usize) -> Expr {
    let several = |random: &mut Random| (0..random.below(4)).map(|_| expr(random, raw, depth - 1)).collect();
    match random.below(if depth == 0 { 4 } else { 10 }) {
        0..=3 => test(random, raw).into(),
        4 => Expr::Not(Box::new(expr(random, raw, depth - 1))),
        5 | 6 => Expr::Or(several(random)),
        7 => Expr::Choice(
            vec![(expr(random, raw, depth - 1), expr(random, raw, depth - 1))],
            Box::new(expr(random, raw, depth - 1)),
        ),
        _ => Expr::And(several(random)),
    }
}

fn random_program(random: &mut Random, raw: bool) -> Program {
    let count = random.among(&[0, 1, 2, 4, 8]);
    let rules: Vec<(Expr, Target)> = (0..count)
        .map(|_| {
            let decision =
                random.among(&[Target::Drop, Target::Output(0), Target::Output(1), Target::Output(65535)]);
            (expr(random, raw, 3), decision)
        })
        .collect();
    Program::from_rules(&rules)
}

/// Values of one word, so that there is something to match on.
fn values_program(random: &mut Random, raw: bool) -> Program {
    let base = if raw { Base::Ether } else { Base::Transport };
    let rules: Vec<(Expr, Target)> = (0..12)
        .map(|rule| {
            let value = Test::new(base, 0, 0xffff_0000, (random.below(30) as u32) << 16);
            (Expr::And(vec![value.into(), expr(random, raw, 1)]), Target::Output(rule))
        })
        .collect();
    Program::from_rules(&rules)
}

/// What users write.
fn written() -> Vec<(Program, Sections)> {
    let data = |patterns: &[&str]| (classifier(patterns).expect("valid").program, Sections::Data);
    let port =
        |patterns: &[&str]| (ip_classifier(patterns, &NoNames).expect("valid").program, Sections::Headers);
    let rules = |rules: &[&str]| (ip_filter(rules, 2, &NoNames).expect("valid").program, Sections::Headers);
    vec![
        data(&["12/0806 20/0001", "12/0806 20/0002", "12/0800", "-"]),
        data(&["12/08??", "!0/01", "3/0102030405%ff00ff00ff", "80/01"]),
        data(&["-"]),
        data(&[]),
        port(&["tcp or udp", "icmp type echo", "-"]),
        port(&["src port 1-1024", "dst tcp port > 1023 and syn", "ip frag", "ip ttl < 5", "-"]),
        port(&[
            "ether src 1:2:3:4:5:6",
            "ether dst host ff:ff:ff:ff:ff:ff and udp",
            "src net 10.0.0.0/8 ? tcp : udp",
        ]),
        rules(&[
            "deny src net 10.0.0.0/8",
            "1 tcp && src port www && dst port > 1023 && ack",
            "allow udp port 53",
            "deny all",
        ]),
        rules(&[
            "allow 10.0.0.1 or 10.0.0.2 or 10.0.0.3 or 10.0.0.4 or 10.0.0.5",
            "1 not port 5",
            "deny all",
        ]),
    ]
}

// ---- packets

fn sample(random: &mut Random) -> Sample {
    let headers = [
        &[0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 3, 0, 80, 4, 5, 0, 0, 0, 0][..],
        &[0x46, 0, 0, 40, 0, 0, 0x20, 1, 4, 17, 0, 0, 1, 2, 3, 4, 9, 9, 9, 9, 0, 0, 0, 0, 0, 53, 0, 5],
        &[1, 2, 3, 4, 5, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
        &[],
    ];
    let mut bytes = random.among(&headers).to_vec();
    let small = random.below(2) == 0;
    bytes.extend((0..random.below(70)).map(|_| random.below(if small { 8 } else { 256 }) as u8));
    for _ in 0..random.below(4) {
        let place = random.below(bytes.len() + 1);
        if let Some(byte) = bytes.get_mut(place) {
            *byte = random.among(&[0, 1, 2, 6, 17, 0xff]);
        }
    }
    bytes.truncate(random.among(&[0, 1, 3, 8, 14, 16, 20, 21, 24, 34, 40, 80, 81, 99]));
    let end = bytes.len();
    Sample {
        stripped: random.among(&[0, 0, 0, 4, 14, 200]).min(end),
        ether: random.among(&[None, Some(0), Some(1), Some(end)]),
        network: random.among(&[
            None,
            Some((0, 20)),
            Some((0, 8)),
            Some((0, 4)),
            Some((4, 24)),
            Some((end, 0)),
            Some((300, 9)),
        ]),
        bytes,
    }
}

#[test]
fn compiled_programs_decide_as_interpreted_ones() {
    let random = &mut Random(0x2545_f491_4f6c_dd1d);
    let mut programs = written();
    for round in 0..ROUNDS {
        let raw = round % 3 == 0;
        let sections = if raw { Sections::Data } else { Sections::Headers };
        let program = if round % 5 == 0 { values_program(random, raw) } else { random_program(random, raw) };
        programs.push((program, sections));
    }
    let mut modules = Vec::new();
    let mut lines = String::new();
    for (number, (program, sections)) in programs.iter().enumerate() {
        modules.push(module(program, *sections).expect("short enough"));
        for _ in 0..PACKETS {
            let sample = sample(random);
            lines.push_str(&sample.line(number, sample.decide(program, *sections), false));
        }
    }
    let compiled = rustc::compile("classifier-rust", &modules, MAIN, "1");
    assert_eq!(compiled.run(&lines).trim(), (programs.len() * PACKETS).to_string());
}

/// A packet of a rule, often with its end cut off.
fn rule_sample(rule: &rulesets::Rule, numbers: &mut rulesets::Random, random: &mut Random) -> Sample {
    let mut bytes = rule.packet(numbers).to_vec();
    let place = random.among(&[9, 15, 19, 20, 21, 22, 23, 33]);
    bytes[place] ^= random.among(&[0, 0, 0, 1, 16, 128]);
    bytes.truncate(random.among(&[40, 40, 40, 40, 34, 33, 28, 24, 23, 22, 21, 20, 19, 14, 0]));
    let network = random.among(&[Some((0, 20)), Some((0, 20)), Some((0, 20)), None]);
    Sample { bytes, stripped: 0, ether: None, network }
}

#[test]
fn compiled_tables_decide_as_interpreted_rules() {
    let random = &mut Random(0x1234_5678_9abc_def1);
    let (mut modules, mut lines, mut count) = (Vec::new(), String::new(), 0);
    for (kind, size) in
        [(rulesets::Kind::AccessList, 1000), (rulesets::Kind::Firewall, 700), (rulesets::Kind::Firewall, 300)]
    {
        let rules = rulesets::rules(kind, size, 3);
        // The last ones are no boxes, and one has an output of its own.
        let mut texts: Vec<String> = rules.iter().map(rulesets::Rule::text).collect();
        texts.extend(
            ["1 dst port & 1 = 1 && src port != 7", "2 not udp && ip ttl > 3", "drop tcp"].map(str::to_owned),
        );
        let program = ip_filter(&texts, 4, &NoNames).expect("valid").program;
        let text = module(&program, Sections::Headers).expect("small enough");
        assert!(text.contains("static TREES"), "{size} rules are searched");
        let numbers = &mut rulesets::Random::new(8);
        for _ in 0..3000 {
            let sample = rule_sample(&rules[random.below(size)], numbers, random);
            let partly = sample.bytes.len() < 24 || sample.network.is_none();
            lines.push_str(&sample.line(modules.len(), sample.decide(&program, Sections::Headers), partly));
            count += 1;
        }
        modules.push(text);
    }
    // Host addresses of frames, of which the steps would be a long chain because every second is a longer one.
    let host = |number: usize| [2, 0, number as u8, (number * 7 % 256) as u8, 5, (number * 13 % 256) as u8];
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let patterns: Vec<String> = (0..900)
        .map(|number| format!("{}/{} 12/080{}", 6 * (number % 2), hexadecimal(&host(number)), number % 3))
        .collect();
    let program = classifier(&patterns).expect("valid").program;
    let text = module(&program, Sections::Data).expect("small enough");
    assert!(text.contains("static TREES"), "hosts are searched");
    for _ in 0..3000 {
        let mut bytes = [host(random.below(900)), host(random.below(900))].concat();
        bytes.extend([8, random.among(&[0, 1, 2, 6])]);
        bytes.truncate(random.among(&[14, 14, 14, 13, 12, 8, 7, 3, 0]));
        let partly = bytes.len() < 14;
        let sample = Sample { bytes, stripped: 0, ether: None, network: None };
        lines.push_str(&sample.line(modules.len(), sample.decide(&program, Sections::Data), partly));
        count += 1;
    }
    modules.push(text);
    let compiled = rustc::compile("classifier-tables", &modules, MAIN, "1");
    assert_eq!(compiled.run(&lines).trim(), count.to_string());
}
