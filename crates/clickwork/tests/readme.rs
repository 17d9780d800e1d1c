//! The first router of the README runs and does what the text says.
#![allow(missing_docs)]

use std::process::Command;

/// The configuration in the README: the code block that begins with a comment of the language.
fn first_router() -> String {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = std::fs::read_to_string(readme).expect("the README is there");
    let start = text.find("```\n//").expect("it has a configuration") + 4;
    let end = start + text[start..].find("```").expect("which ends");
    text[start..end].to_string()
}

#[test]
fn the_first_router_of_the_readme_sends_dns_first() {
    for mode in ["--ordered", "--quiet"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clickwork"));
        let out = command
            .args(["run", "--simtime", mode, "-e", &first_router()])
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{text}");
        let numbers: Vec<u32> =
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        let [sent, lost_dns, lost_web] = numbers[..] else { panic!("three numbers in: {text}") };
        assert!((1990..=2010).contains(&sent), "{text}");
        assert_eq!(lost_dns, 0, "{text}");
        assert!((300..=420).contains(&lost_web), "{text}");
    }
}
