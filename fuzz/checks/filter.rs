//! What must hold for any bytes taken as rules of `IPFilter`, `IPClassifier` and `Classifier`, one a line. The fuzz target runs
//! it on made-up bytes, the tests of `classifier` on the seeds.

use clickwork_classifier::rust::{Sections, module};
use clickwork_classifier::{Compiled, FilterError, Headers, NoNames, Program, Target};
use clickwork_classifier::{classifier, ip_classifier, ip_filter};

/// Compiles the rules, runs them on the bytes themselves cut at every length; panics if anything goes wrong.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let rules: Vec<&str> = text.lines().collect();
    for result in [ip_filter(&rules, 3, &NoNames), ip_classifier(&rules, &NoNames), classifier(&rules)] {
        match result {
            Ok(Compiled { program, warnings }) => {
                check_messages(&rules, &warnings);
                check_program(&program, data);
            }
            Err(errors) => {
                assert!(errors.iter().any(FilterError::is_error));
                check_messages(&rules, &errors);
            }
        }
    }
}

/// Every message points into its rule and gives a remedy.
fn check_messages(rules: &[&str], messages: &[FilterError]) {
    for message in messages {
        assert!(rules[message.argument].get(message.range.clone()).is_some(), "{message:?}");
        assert!(message.hint.is_some(), "{message:?}");
    }
}

/// What runs decides as the printed steps do, and all can be written as Rust.
fn check_program(program: &Program, data: &[u8]) {
    let _ = program.to_string();
    let _ = module(program, Sections::Headers);
    for length in 0..data.len().min(64) {
        let packet = &data[..length];
        let transport = usize::from(packet.first().map_or(0, |byte| byte & 15)) * 4;
        for headers in [Headers::raw(packet), Headers::ip(packet, 0, transport).with_ether(packet)] {
            assert_eq!(program.classify(&headers), stepwise(program, &headers));
        }
    }
}

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
