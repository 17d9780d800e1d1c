//! What documents say of the repository as a whole is true: where `unsafe` is, and that figures come from measurements.

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: impl AsRef<Path>) -> String {
    let file = repository().join(file);
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut all: Vec<_> = files.into_iter().filter(|f| f.extension().is_some_and(|e| e == "rs")).collect();
    all.extend(folders.iter().flat_map(|folder| rust_files(folder)));
    all
}

/// The places where ARCHITECTURE.md has `unsafe`: beginnings of paths in `crates`.
fn permitted() -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let rule = text.split("\n- **`unsafe` only in**").nth(1).expect("the invariant");
    let rule = rule.split("\n- ").next().unwrap_or("").split("each block with").next().unwrap_or("");
    let places = rule.split('`').skip(1).step_by(2).filter(|word| word.contains("/src/"));
    places.flat_map(expanded).collect()
}

/// `a/{b,c}.rs` is two.
fn expanded(place: &str) -> Vec<String> {
    let Some((before, rest)) = place.split_once('{') else { return vec![place.to_string()] };
    let (names, after) = rest.split_once('}').expect("a closing brace");
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("]
        .iter()
        .any(|word| code.contains(word))
}

#[test]
fn unsafe_code_is_only_where_the_architecture_says() {
    let (permitted, crates) = (permitted(), repository().join("crates"));
    assert!(permitted.len() > 5, "{permitted:?}");
    let mut used = vec![false; permitted.len()];
    for folder in std::fs::read_dir(&crates).expect("the crates").map(|entry| entry.expect("a crate").path())
    {
        for file in rust_files(&folder.join("src")) {
            if !std::fs::read_to_string(&file).expect("a source").lines().any(is_unsafe) {
                continue;
            }
            let name = file.strip_prefix(&crates).expect("it is in there").display().to_string();
            let place = permitted.iter().position(|place| name.starts_with(place));
            used[place.unwrap_or_else(|| panic!("ARCHITECTURE.md does not say that {name} is unsafe"))] =
                true;
        }
    }
    let unused: Vec<_> = permitted.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "there is nothing unsafe in {unused:?}");
}

/// The numbers in a text, as they stand there.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.map(|word| word.trim_matches('.')).filter(|word| word.parse::<f64>().is_ok())
}

/// Each figure of README's section on speed stands in bench/RESULTS.md, there perhaps with more digits.
#[test]
fn the_figures_of_the_readme_were_measured() {
    let readme = read("README.md");
    let section = readme.split("\n## How fast it is\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap_or("");
    let results = read("bench/RESULTS.md");
    let measured: Vec<f64> = numbers(&results).filter_map(|number| number.parse().ok()).collect();
    let mut count = 0;
    for figure in numbers(section) {
        let digits = figure.split_once('.').map_or(0, |(_, behind)| behind.len()) as i32;
        let (value, half) = (figure.parse::<f64>().expect("a number"), 0.5 * 0.1f64.powi(digits));
        let known = measured.iter().any(|measured| (measured - value).abs() <= half + 1e-9);
        assert!(known, "README's {figure} is not in bench/RESULTS.md");
        count += 1;
    }
    assert!(count > 8, "only {count} figures");
}
