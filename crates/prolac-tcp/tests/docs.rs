//! `docs/tcp.md` says what the sources say: the files and methods that it names exist, and its lists of extensions and hooks
//! are those of the compiler. `UPDATE_DOCS=1 cargo test -p clickwork-prolac-tcp --test docs` writes the lists anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[path = "../src/compose.rs"]
#[allow(dead_code)]
mod compose;

use compose::Catalogue;

#[test]
fn the_tour_lists_what_there_is() {
    let catalogue = Catalogue::read(&tcp()).expect("the catalogue can be read");
    let page = std::fs::read_to_string(page()).expect("docs/tcp.md");
    let mut wanted = replace(&page, "extensions", &extensions(&catalogue));
    wanted = replace(&wanted, "hooks", &hooks(&catalogue));
    wanted = replace(&wanted, "vegas", &vegas());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(self::page(), &wanted).expect("docs/tcp.md can be written");
    } else {
        assert!(page == wanted, "docs/tcp.md is old: run this test with UPDATE_DOCS=1");
    }
}

#[test]
fn what_the_tour_names_exists() {
    let page = std::fs::read_to_string(page()).expect("docs/tcp.md");
    let rows = page.lines().filter(|line| line.starts_with("| §") || line.contains(".pc`: `"));
    let mut named = 0;
    for place in rows.flat_map(|line| line.split(';')) {
        let mut words = place.split('`').skip(1).step_by(2);
        let Some(file) = words.next().filter(|word| word.ends_with(".pc")) else { continue };
        let text = source(file).unwrap_or_else(|| panic!("there is no {file}: {place}"));
        for name in words.filter(|word| !word.ends_with(".pc")) {
            assert!(text.contains(name), "{file} has no `{name}`");
            named += 1;
        }
    }
    assert!(named > 40, "only {named} names were found: has the table another form now?");
}

fn tcp() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tcp")
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tcp.md")
}

fn source(file: &str) -> Option<String> {
    ["base", "extensions"]
        .iter()
        .find_map(|folder| std::fs::read_to_string(tcp().join(folder).join(file)).ok())
}

/// The page with other text between the marks of a section.
fn replace(page: &str, section: &str, text: &str) -> String {
    let mark = format!("<!-- {section} -->\n");
    let begin = page.find(&mark).expect("the mark is there") + mark.len();
    let end = begin + page[begin..].find("<!-- end -->").expect("each section has an end");
    format!("{}{text}{}", &page[..begin], &page[end..])
}

fn extensions(catalogue: &Catalogue) -> String {
    let mut table = String::from("| file | what | RFC | needs | lines |\n|---|---|---|---|---|\n");
    for extension in catalogue.extensions() {
        let file = format!("{}.pc", extension.name);
        let lines = proper_lines(&source(&file).unwrap_or_default());
        let needs: Vec<String> = extension.needs.iter().map(|name| format!("`{name}.pc`")).collect();
        let rfcs: Vec<String> = extension.rfcs.iter().map(u32::to_string).collect();
        let (rfcs, needs) = (rfcs.join(", "), needs.join(", "));
        let _ = writeln!(table, "| `{file}` | {} | {rfcs} | {needs} | {lines} |", extension.about);
    }
    table
}

/// Lines without comments and empty lines.
fn proper_lines(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

fn vegas() -> String {
    let text = std::fs::read_to_string(tcp().join("examples/vegas.pc")).unwrap_or_default();
    format!("```\n{text}```\n")
}

/// Each method that a chain overrides, where it comes from, and who overrides it.
fn hooks(catalogue: &Catalogue) -> String {
    let mut compilation = catalogue.compilation(&catalogue.names(), 0).expect("the program can be read");
    let chains = compilation.chains().expect("the program has no errors");
    let mut hooks: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut origins: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut module = String::new();
    for line in chains.lines() {
        let text = line.trim();
        if let Some(overridden) = text.strip_prefix("overrides ") {
            for (method, parent) in overridden.split(", ").filter_map(|word| word.split_once(" (")) {
                let parent = parent.trim_end_matches(')').to_string();
                let origin = origins.get(&(method.to_string(), parent.clone())).cloned().unwrap_or(parent);
                origins.insert((method.to_string(), module.clone()), origin.clone());
                hooks.entry((origin, method.to_string())).or_default().push(module.clone());
            }
        } else if text.starts_with(":> ") || (!line.starts_with(' ') && !text.is_empty()) {
            module = text.trim_start_matches(":> ").split_whitespace().next().unwrap_or_default().to_string();
        }
    }
    let mut table = String::from("| method of | is overridden in |\n|---|---|\n");
    for ((origin, method), overriders) in &hooks {
        let _ = writeln!(table, "| `{origin}.{method}` | {} |", overriders.join(", "));
    }
    table
}
