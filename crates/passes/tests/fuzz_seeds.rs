//! The fuzz target's check on the seeds kept with it, and on configurations, archives and pattern files that are damaged at
//! random: no tool may panic or go on forever.

#[path = "../../../fuzz/checks/tools.rs"]
mod tools;

use clickwork_lang::archive::{Archive, Member};
use proptest::prelude::*;
use std::path::Path;

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/tools");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10);
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn every_seed_passes() {
    seeds().iter().for_each(|seed| tools::check(seed));
}

#[test]
fn archives_may_end_anywhere() {
    let seed = seeds().into_iter().find(|seed| Archive::is_archive(seed)).unwrap();
    (0..seed.len()).step_by(7).for_each(|end| tools::check(&seed[..end]));
}

/// A long chain, a wide element, deep nesting, and all of it in compounds.
#[test]
fn large_configurations_are_no_trouble() {
    let chain = "Null -> Counter -> Strip(1) -> ".repeat(700);
    let wide: String = (0..700).map(|n| format!("t [{n}] -> Queue -> [{n}] r;")).collect();
    let deep: String =
        (0..90).map(|n| format!("elementclass E{} {{ input -> E{n} -> Null -> output }}", n + 1)).collect();
    tools::check(format!("Idle -> {chain} Discard;").as_bytes());
    tools::check(format!("t :: Tee; Idle -> t; r :: RoundRobinSched -> Discard; {wide}").as_bytes());
    tools::check(format!("elementclass E0 {{ input -> output }} {deep} Idle -> E90 -> Discard;").as_bytes());
}

/// What happens to a text: pieces are cut out, doubled or moved, and there is junk in between.
fn damaged() -> impl Strategy<Value = Damaged> {
    let junk = [
        "{",
        "}",
        "(",
        ")",
        "\"",
        "'",
        "->",
        "=>",
        "::",
        "[",
        "]",
        ",",
        "|",
        "||",
        "$",
        "...",
        "#",
        "\n",
        "\\<",
        "é",
        "\0",
        "elementclass ",
        "input",
        "output",
        "require(package x)",
        "define($X ",
        "a :: Tee",
        "/",
        "@",
        "99999999999",
        "-1",
        "\n== patterns\n",
        "_Replacement",
        "!<arch>\n",
        "`\n",
    ];
    let cut = (0..1000usize, 0..1000usize, 0..4usize, 0..1000usize, prop::sample::select(junk.to_vec()));
    (0..seeds().len(), prop::collection::vec(cut, 1..7)).prop_map(|(seed, cuts)| {
        let mut bytes = seeds()[seed].clone();
        for (from, len, way, to, junk) in cuts {
            let start = from * bytes.len() / 1000;
            let end = (start + len * bytes.len() / 4000).min(bytes.len());
            let to = to * bytes.len() / 1000;
            let piece = bytes[start..end].to_vec();
            match way {
                0 => drop(bytes.drain(start..end)),
                1 => drop(bytes.splice(to..to, piece)),
                2 => drop(bytes.splice(to..to, junk.bytes())),
                _ => bytes[start..end].reverse(),
            }
        }
        Damaged(bytes)
    })
}

/// Bytes that are shown as text.
#[derive(Clone)]
struct Damaged(Vec<u8>);

impl std::fmt::Debug for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn damaged_input_does_no_harm(bytes in damaged()) {
        tools::check(&bytes.0);
    }

    #[test]
    fn damaged_members_do_no_harm(
        config in damaged(),
        map in damaged(),
        components in "[ab/\n ]{0,12}",
    ) {
        let member = |name: &str, data: Vec<u8>| Member { name: name.into(), modified: 0, mode: 0o600, data };
        let members = vec![
            member("elementmap.xml", map.0),
            member("componentmap", components.into_bytes()),
            member("config", config.0),
        ];
        tools::check(&Archive { members }.to_bytes());
    }
}

/// How many of each; RANDOM_ROUTERS makes it more.
fn cases() -> u32 {
    std::env::var("RANDOM_ROUTERS").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}
