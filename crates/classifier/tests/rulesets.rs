//! Large generated rule sets: the first rule that takes a packet decides, also for packets that end early.

#[allow(dead_code, reason = "benchmarks use more of it")]
#[path = "common/rulesets.rs"]
mod rulesets;

use clickwork_classifier::{Headers, NoNames, Program, Target, classifier, ip_filter};
use rulesets::{Kind, Random, Rule};

/// What the rules say, without the classifier.
fn expected(rules: &[Rule], packet: &[u8; 40]) -> Option<usize> {
    rules.iter().find(|rule| rule.takes(packet)).and_then(Rule::decision)
}

/// Follows the public steps.
fn stepwise(program: &Program, headers: &Headers<'_>) -> Option<usize> {
    let mut at = program.start();
    loop {
        match at {
            Target::Output(port) => return Some(port as usize),
            Target::Drop => return None,
            Target::Step(number) => {
                let step = &program.steps()[number as usize];
                at = if step.test.holds(headers) { step.yes } else { step.no };
            }
        }
    }
}

/// A packet in or near one of the rules.
fn packet(rules: &[Rule], random: &mut Random) -> [u8; 40] {
    let mut packet = rules[random.below(rules.len() as u32) as usize].packet(random);
    for _ in 0..random.below(4) {
        let place = [9, 12, 15, 16, 19, 20, 21, 22, 23, 33][random.below(10) as usize];
        packet[place] = packet[place].wrapping_add([1, 255, 16, 128][random.below(4) as usize]);
    }
    packet
}

fn compare(kind: Kind, count: usize, packets: usize) {
    let rules = rulesets::rules(kind, count, 5);
    let program = ip_filter(&rulesets::filter(&rules), 4, &NoNames).expect("valid").program;
    let random = &mut Random::new(9);
    let mut decided = [0; 5];
    for number in 0..packets {
        let packet = packet(&rules, random);
        let found = program.classify(&Headers::ip(&packet, 0, 20));
        assert_eq!(found, expected(&rules, &packet), "{kind:?} {count}: {packet:?}");
        decided[found.unwrap_or(4)] += 1;
        let length = number % 41;
        let short = Headers::ip(&packet[..length], 0, 20);
        assert_eq!(program.classify(&short), stepwise(&program, &short), "{length} bytes of {packet:?}");
    }
    assert!(decided.iter().filter(|count| **count > 0).count() >= 4, "all ways are taken: {decided:?}");
}

#[test]
fn the_first_rule_of_a_hundred_decides() {
    compare(Kind::AccessList, 100, 4000);
    compare(Kind::Firewall, 100, 4000);
}

#[test]
fn the_first_rule_of_thousands_decides() {
    compare(Kind::AccessList, 2500, 4000);
    compare(Kind::Firewall, 1500, 4000);
}

#[test]
fn the_first_pattern_of_hundreds_decides() {
    // Few values in many bytes, so that patterns overlap.
    let random = &mut Random::new(4);
    let mut digits = |count: usize| (0..count).map(|_| random.below(2) as u8).collect::<Vec<u8>>();
    let wanted: Vec<Vec<u8>> = (0..300).map(|number| digits(if number % 3 == 0 { 6 } else { 9 })).collect();
    let pattern =
        |bytes: &Vec<u8>| format!("5/{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let program = classifier(&wanted.iter().map(pattern).collect::<Vec<_>>()).expect("valid").program;
    for _ in 0..4000 {
        let frame = digits(14);
        for length in [14, 13, 11, 9, 5] {
            let first = wanted.iter().position(|bytes| frame[..length][5..].starts_with(bytes));
            assert_eq!(program.classify_raw(&frame[..length]), first, "{:?}", &frame[..length]);
        }
    }
}
