//! The type check: a corpus of mistakes with their messages, and what must be accepted.

use std::path::Path;

use clickwork_elements::registry;
use clickwork_lang::{Options, elaborate};
use clickwork_passes::{Network, types};
use clickwork_source::{Sources, render_click};

/// The first lines of the messages about a configuration.
fn mistakes(name: &str, text: &str) -> String {
    let (mut sources, registry) = (Sources::new(), registry());
    let file = sources.add(name, text);
    let (graph, messages) = elaborate(&mut sources, file, &Options::new(&registry));
    assert!(!messages.has_errors(), "{name}: {messages:?}");
    let first = |text: String| text.lines().next().unwrap_or_default().to_string() + "\n";
    types::check(&Network::new(graph), &registry).iter().map(|d| first(render_click(&sources, d))).collect()
}

const CORPUS: &str = include_str!("types/mistakes.txt");

#[test]
fn every_mistake_is_explained() {
    let (head, cases) = CORPUS.split_once("\n== ").expect("cases begin with '=='");
    let mut now = head.to_string();
    for case in cases.split("\n== ") {
        let (name, rest) = case.split_once('\n').expect("a case has lines");
        let (text, _) = rest.split_once("\n--\n").unwrap_or((rest, ""));
        let found = mistakes("t", text.trim());
        assert!(!found.is_empty(), "{name}: accepted");
        now += &format!("\n== {name}\n{}\n--\n{found}", text.trim());
    }
    if std::env::var_os("BLESS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types/mistakes.txt");
        std::fs::write(file, &now).expect("the corpus can be written");
    } else {
        assert_eq!(now, CORPUS, "BLESS=1 writes the new messages");
    }
}

#[test]
fn examples_are_accepted() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(directory).expect("there are examples").map(|f| f.unwrap().path());
    let files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "click")).collect();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let name = file.display().to_string();
        assert_eq!(mistakes(&name, &std::fs::read_to_string(&file).unwrap()), "");
    }
}

#[test]
fn the_examples_of_all_classes_are_accepted() {
    let mut count = 0;
    let mut errors = String::new();
    for (name, class) in registry().iter().filter(|(_, c)| !c.example.is_empty()) {
        let found = mistakes(name, class.example);
        errors.extend(
            found.lines().filter(|l| !l.contains(": warning: ")).map(|l| format!("{l}\n{}\n", class.example)),
        );
        count += 1;
    }
    assert_eq!(errors, "");
    assert!(count > 100, "{count}");
}

#[test]
fn all_classes_say_something_that_can_be_read() {
    for (name, class) in registry().iter() {
        let types = clickwork_router::packet_types::PacketTypes::parse(class.packets);
        assert!(types.is_ok(), "{name}: {}", types.unwrap_err());
    }
}
