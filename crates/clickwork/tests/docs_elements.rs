//! The pages in `docs/elements` are what `clickwork doc --html` writes. `UPDATE_DOCS=1 cargo test -p clickwork --test
//! docs_elements` writes them anew.
#![allow(missing_docs)]

mod common;

use common::Scratch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const HINT: &str = "after a change: UPDATE_DOCS=1 cargo test -p clickwork --test docs_elements";

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/elements")
}

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|f| (f.file_name().into_string().unwrap(), fs::read_to_string(f.path()).unwrap())).collect()
}

/// What the program writes now.
fn written(scratch: &str) -> BTreeMap<String, String> {
    let dir = Scratch::new(scratch);
    dir.clickwork().args(["doc", "--html", "new"]).assert().success();
    pages(&dir.path("new"))
}

#[test]
fn the_reference_is_that_of_the_classes() {
    let new = written("docs-elements");
    if env::var_os("UPDATE_DOCS").is_some() {
        let _ = fs::remove_dir_all(committed());
        fs::create_dir_all(committed()).unwrap();
        new.iter().for_each(|(name, text)| fs::write(committed().join(name), text).unwrap());
    }
    let old = pages(&committed());
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&old), names(&new), "{HINT}");
    for (name, text) in &new {
        assert!(old[name] == *text, "docs/elements/{name} is not what the classes say ({HINT})");
    }
}

#[test]
fn links_lead_somewhere() {
    let pages = written("docs-elements-links");
    let mut count = 0;
    for (name, text) in &pages {
        for target in text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
            let page = pages.get(if page.is_empty() { name.as_str() } else { page });
            let page = page.unwrap_or_else(|| panic!("{name}: {target}"));
            assert!(anchor.is_empty() || page.contains(&format!("id=\"{anchor}\"")), "{name}: {target}");
            count += 1;
        }
    }
    assert!(count > 1000, "{count} links");
}

/// The rows of a Markdown page's tables whose first cell is a class, with the second cell.
fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split('|').map(str::trim);
        let (first, second) = (cells.next()?, cells.next()?);
        let name = first.strip_prefix('[').and_then(|link| link.split(']').next()).unwrap_or(first);
        let is_class =
            name.chars().all(|c| c.is_ascii_alphanumeric()) && name.starts_with(char::is_uppercase);
        is_class.then_some((name, second))
    })
}

#[test]
fn those_who_come_from_click_find_every_class() {
    let page = fs::read_to_string(committed().join("../coming-from-click.md")).unwrap();
    let registry = clickwork_elements::registry();
    for (name, state) in rows(&page) {
        assert_eq!(registry.get(name).is_some(), state != "no", "{name} is there, or the page says no");
    }
    for (name, _) in registry.iter() {
        assert!(rows(&page).any(|(row, _)| row == name), "{name} is not in docs/coming-from-click.md");
    }
    let absent = rows(&page).filter(|(_, state)| *state == "no").count();
    assert!(rows(&page).count() > 350 && absent < 20, "{absent} are not there");
}

#[test]
fn its_links_lead_to_manuals() {
    let page = fs::read_to_string(committed().join("../coming-from-click.md")).unwrap();
    let pages = written("docs-click-links");
    for link in page.split("](elements/").skip(1).filter_map(|rest| rest.split(')').next()) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let text = pages.get(file).unwrap_or_else(|| panic!("there is no {file}"));
        assert!(anchor.is_empty() || text.contains(&format!("id=\"{anchor}\"")), "{link}");
    }
}
