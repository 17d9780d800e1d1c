//! The code of all specialised classes as one file, to read. What makes routers of code makes it again by itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use clickwork_lang::ElementDecl;
use clickwork_lang::archive::{Archive, Member};

use super::{Diagrams, SOURCE, is_ours};
use crate::Network;
use crate::element_map::ElementMap;

const HEAD: &str = "\
// The classifiers of this configuration as code, written by click-fastclassifier for people to read. 'clickwork build' and
// 'clickwork run --compiled' make the same code again, together with that of the elements around them.
#![allow(non_snake_case)]
";

/// Puts the code of all classes that elements have into the archive.
pub fn attach(network: &Network, files: &mut Archive, map: &ElementMap, diagrams: &Diagrams) {
    let mut classes: BTreeMap<&str, Vec<&ElementDecl>> = BTreeMap::new();
    for (_, e) in network.elements() {
        if let Some(class) = map.bases(&e.class).find(|class| map.get(class).is_some_and(is_ours)) {
            classes.entry(class).or_default().push(e);
        }
    }
    if classes.is_empty() {
        files.remove(SOURCE);
        return;
    }
    let mut text = HEAD.to_string();
    for (class, elements) in classes {
        module(&mut text, class, map.base(class), &elements, diagrams);
    }
    files.set(Member {
        name: SOURCE.into(),
        modified: 0,
        mode: 0o600,
        data: clickwork_source::text::into_bytes(text),
    });
}

/// The code of a class, with what it is the code of.
fn module(text: &mut String, class: &str, base: &str, elements: &[&ElementDecl], diagrams: &Diagrams) {
    let Some(first) = elements.first() else { return };
    let names: Vec<&str> = elements.iter().map(|e| e.name.as_str()).collect();
    let Some(Ok(diagram)) = diagrams.get(&first.name) else { return };
    let _ = write!(text, "\n/// {class}: {}.\n///\n", names.join(", "));
    let config = format!("{base}({})", first.config);
    config.lines().for_each(|line| {
        let _ = writeln!(text, "{}", format!("///     {line}").trim_end());
    });
    let _ = writeln!(text, "pub mod {} {{", identifier(class));
    let code = diagram.code.as_deref().unwrap_or("// None: it would be too long, or does nothing.\n");
    code.lines().for_each(|line| {
        let _ = writeln!(text, "{}", format!("    {line}").trim_end());
    });
    text.push_str("}\n");
}

/// A class name as a name in Rust; different ones stay different.
fn identifier(class: &str) -> String {
    let letter = |c: char| match c {
        '_' => "_u".to_string(),
        '@' => "_a".to_string(),
        '/' => "_s".to_string(),
        c => c.to_string(),
    };
    class.chars().map(letter).collect()
}
