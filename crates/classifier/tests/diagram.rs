//! The optimised program against plain evaluation of the expressions, on random rules and packets of every
//! length.

use clickwork_classifier::{Base, Expr, Headers, Program, Target, Test};
use proptest::prelude::*;

/// Few places, bits and values, so that tests imply, exclude and repeat each other.
fn test() -> impl Strategy<Value = Test> {
    let masks = prop_oneof![
        Just(0),
        Just(!0),
        Just(0xffff_0000),
        Just(0xffff),
        Just(0xff00_0000),
        Just(0x0300_0000),
        Just(0x0003_0000),
        (0..32u32).prop_map(|bit| 1 << bit),
        any::<u32>(),
    ];
    let values = prop_oneof![Just(0), Just(0x0100_0001), Just(!0), any::<u32>()];
    let base = prop_oneof![Just(Base::Network), Just(Base::Transport)];
    (base, 0..2u16, masks, values, prop::bool::weighted(0.2))
        .prop_map(|(base, word, mask, value, short)| Test { short, ..Test::new(base, word * 4, mask, value) })
}

/// Values of two bits in the first bytes: dense, so that runs on one word arise.
fn narrow_test() -> impl Strategy<Value = Test> {
    (0..3u16, 0..8u32, prop_oneof![Just(0x0700_0000), Just(0x0300_0000)])
        .prop_map(|(word, value, mask)| Test::new(Base::Network, word * 4, mask, value << 24))
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Expr::Always),
        6 => test().prop_map(Expr::Test),
        6 => narrow_test().prop_map(Expr::Test),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            inner.clone().prop_map(|inner| Expr::Not(Box::new(inner))),
            several().prop_map(Expr::And),
            several().prop_map(Expr::Or),
            (prop::collection::vec((inner.clone(), inner.clone()), 1..3), inner)
                .prop_map(|(cases, otherwise)| Expr::Choice(cases, Box::new(otherwise))),
        ]
    })
}

fn rules(condition: impl Strategy<Value = Expr>, count: usize) -> impl Strategy<Value = Vec<(Expr, Target)>> {
    let decision = prop_oneof![3 => (0..4u32).prop_map(Target::Output), 1 => Just(Target::Drop)];
    prop::collection::vec((condition, decision), 0..count)
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => 0..8u8, 1 => Just(0xff), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..20)
}

fn expected(rules: &[(Expr, Target)], headers: &Headers<'_>) -> Option<usize> {
    let decision =
        rules.iter().find(|(condition, _)| condition.holds(headers)).map(|(_, decision)| *decision);
    match decision {
        Some(Target::Output(port)) => Some(port as usize),
        _ => None,
    }
}

/// Follows the public steps, as a compiler of them would.
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

fn agrees(rules: &[(Expr, Target)], packets: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let program = Program::from_rules(rules);
    for packet in packets {
        for length in 0..=packet.len() {
            let headers = Headers::ip(&packet[..length], 0, 8);
            let wanted = expected(rules, &headers);
            prop_assert_eq!(
                program.classify(&headers),
                wanted,
                "length {} of {:?}\n{}",
                length,
                packet,
                program
            );
            prop_assert_eq!(stepwise(&program, &headers), wanted);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn optimised_rules_decide_as_written(rules in rules(expr(), 8), packets in prop::collection::vec(packet(), 12)) {
        agrees(&rules, &packets)?;
    }

    #[test]
    fn long_lists_of_narrow_rules_decide_as_written(
        rules in rules(prop::collection::vec(narrow_test().prop_map(Expr::Test), 1..3).prop_map(Expr::And), 40),
        packets in prop::collection::vec(packet(), 12),
    ) {
        agrees(&rules, &packets)?;
    }

    #[test]
    fn steps_are_reachable_forward_and_useful(rules in rules(expr(), 8)) {
        let program = Program::from_rules(&rules);
        let mut reached = vec![false; program.steps().len()];
        let start = if let Target::Step(number) = program.start() { number == 0 } else { program.steps().is_empty() };
        prop_assert!(start);
        for (number, step) in program.steps().iter().enumerate() {
            prop_assert!(number == 0 || reached[number]);
            prop_assert_ne!(step.yes, step.no);
            for target in [step.yes, step.no] {
                if let Target::Step(next) = target {
                    prop_assert!(next as usize > number);
                    reached[next as usize] = true;
                }
            }
        }
    }
}
