//! `click-xform`: every case in `tests/xform` is a file with the sections `== config`, `== patterns` or `== shipped
//! NAME` (any number of times), `== reverse` (perhaps), `== result` and `== messages`. `UPDATE=1` writes the last two.
#![allow(missing_docs)]

use clickwork_lang::Options;
use clickwork_passes::Unit;
use clickwork_passes::xform::{Patterns, shipped, xform};
use clickwork_source::{Diagnostics, render_click};
use std::fmt::Write;
use std::path::Path;

struct Case {
    sections: Vec<(String, String)>,
}

impl Case {
    fn read(text: &str) -> Case {
        let sections = text.split("== ").skip(1).map(|section| {
            let (title, body) = section.split_once('\n').unwrap_or((section, ""));
            (title.trim().to_string(), body.to_string())
        });
        Case { sections: sections.collect() }
    }

    fn get(&self, title: &str) -> &str {
        self.sections.iter().find(|(t, _)| t == title).map_or("", |(_, body)| body)
    }

    fn pattern_files(&self) -> Vec<(String, &str)> {
        let mut files = Vec::new();
        for (title, text) in &self.sections {
            if title == "patterns" {
                files.push((format!("p{}.clickpat", files.len()), text.trim_start()));
            } else if let Some(name) = title.strip_prefix("shipped ") {
                let shipped = shipped::find(name).unwrap();
                files.push((shipped.name.to_string(), shipped.text));
            }
        }
        files
    }

    /// The result, with marks, and the messages.
    fn run(&self) -> (String, String) {
        let options = Options::any_class();
        let (mut unit, mut messages) =
            Unit::read("config.click", self.get("config").trim_start().into(), &options);
        let mut patterns = Patterns::default();
        for (name, text) in self.pattern_files() {
            let file = unit.sources.add(name, text);
            messages.extend(patterns.read(&mut unit.sources, file, &options));
        }
        if self.sections.iter().any(|(title, _)| title == "reverse") {
            patterns.reverse();
        }
        let (patterns, doubts) = patterns.prepare(&unit.sources);
        messages.extend(doubts);
        let result = xform(&mut unit.network, &mut unit.sources, &patterns);
        let mut said: String = render(&unit, &messages);
        match result {
            Ok(replaced) => {
                for r in replaced {
                    writeln!(said, "{} ({}) for {}", r.compound, r.pattern, r.elements.join(", ")).unwrap();
                }
                (String::from_utf8(unit.to_bytes()).unwrap(), said)
            }
            Err(error) => (String::new(), said + &render(&unit, &error.into())),
        }
    }
}

fn render(unit: &Unit, messages: &Diagnostics) -> String {
    messages.iter().map(|d| render_click(&unit.sources, d)).collect()
}

fn updated(case: &Case, result: &str, messages: &str) -> String {
    let kept = case.sections.iter().filter(|(t, _)| t != "result" && t != "messages");
    let written =
        [("result".to_string(), result.to_string()), ("messages".to_string(), messages.to_string())];
    kept.chain(&written).map(|(title, body)| format!("== {title}\n{}\n\n", body.trim())).collect::<String>()
}

#[test]
fn golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xform");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8);
    let mut wrong = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = Case::read(&text);
        let (result, messages) = case.run();
        let expected = (case.get("result").trim(), case.get("messages").trim());
        if (result.trim(), messages.trim()) == expected {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, updated(&case, &result, &messages)).unwrap();
        } else {
            writeln!(wrong, "{}:\n{result}\n{messages}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
