//! Golden files: `tests/golden/PASS/*.txt` hold what a pass makes of configurations, and what it says.
//!
//! A file is made of sections, each a line `== TITLE` and what follows. What stands before the first is a comment. A section
//! `== case NAME` begins a case; a file without is one case. The sections `result` and `messages` are what comes out, the
//! others are for the pass to read, most of all `config`. `SNAPSHOTS=overwrite` writes results and messages anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What goes into a pass.
pub struct Case {
    sections: Vec<(String, String)>,
}

/// What comes out of a pass.
#[derive(Default)]
pub struct Outcome {
    pub result: String,
    pub messages: String,
}

impl Case {
    /// The text of a section; empty if there is none.
    pub fn get(&self, title: &str) -> &str {
        self.sections.iter().find(|(t, _)| t == title).map_or("", |(_, body)| body)
    }

    pub fn has(&self, title: &str) -> bool {
        self.sections.iter().any(|(t, _)| t == title)
    }

    /// All sections, in order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections.iter().map(|(title, body)| (title.as_str(), body.as_str()))
    }

    /// The sections whose titles begin with a word; and what stands behind it in the title.
    pub fn all<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let named = move |title: &'a str| title.strip_prefix(word)?.strip_prefix(' ');
        self.sections().filter_map(move |(title, body)| Some((named(title)?, body)))
    }

    fn outcome(&self) -> Outcome {
        let [result, messages] = ["result", "messages"].map(|title| self.get(title).to_string());
        Outcome { result, messages }
    }
}

/// Compares all files of a pass with what it does now. There must be `least` cases.
pub fn check(pass: &str, least: usize, run: impl Fn(&Case) -> Outcome) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(pass);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let (mut count, mut wrong) = (0, String::new());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let (comment, cases) = read(&text);
        count += cases.len();
        let now = written(&comment, &cases, &run, &mut wrong, &path);
        if overwrites() && now != text {
            std::fs::write(&path, now).unwrap();
        }
    }
    assert!(count >= least, "only {count} cases");
    assert!(wrong.is_empty() || overwrites(), "{wrong}\nSNAPSHOTS=overwrite accepts this");
}

fn overwrites() -> bool {
    std::env::var("SNAPSHOTS").is_ok_and(|v| v == "overwrite")
}

/// The comment of a file, and its cases.
fn read(text: &str) -> (String, Vec<Case>) {
    let mut sections = vec![(String::new(), String::new())];
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("== ") {
            Some(title) => sections.push((title.trim().to_string(), String::new())),
            None => sections.last_mut().unwrap().1.push_str(line),
        }
    }
    let comment = sections.remove(0).1;
    let mut cases: Vec<Case> = Vec::new();
    for (title, body) in sections {
        if cases.is_empty() || title.starts_with("case ") {
            cases.push(Case { sections: Vec::new() });
        }
        let body = body.trim_end().trim_start_matches('\n').to_string();
        cases.last_mut().unwrap().sections.push((title, body));
    }
    (comment, cases)
}

/// The file as it should be. What differs is noted.
fn written(
    comment: &str,
    cases: &[Case],
    run: impl Fn(&Case) -> Outcome,
    wrong: &mut String,
    path: &Path,
) -> String {
    let mut text = comment.to_string();
    for case in cases {
        let (now, was) = (run(case), case.outcome());
        let input = case.sections().filter(|(title, _)| !matches!(*title, "result" | "messages"));
        let output = [("result", now.result.trim_end()), ("messages", now.messages.trim_end())];
        for (title, body) in input.chain(output.into_iter().filter(|(_, body)| !body.is_empty())) {
            let gap = if body.is_empty() { "" } else { "\n" };
            writeln!(text, "== {title}\n{body}{gap}").unwrap();
        }
        if (now.result.trim_end(), now.messages.trim_end()) != (&*was.result, &*was.messages) {
            let name = case.sections().find_map(|(title, _)| title.strip_prefix("case ")).unwrap_or_default();
            writeln!(wrong, "{}: {name}\n{}\n{}", path.display(), now.result, now.messages).unwrap();
        }
    }
    text.trim_end().to_string() + "\n"
}
