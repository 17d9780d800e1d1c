//! The commands in `docs/tools.md` and `docs/tools/` print what is written there, and the drawings are what they draw.
//!
//! A page is run from top to bottom in a directory of its own, which has the folder `examples`. Of its fenced blocks
//!
//! - `sh` is run by a shell and must succeed; with `fails`, it must not;
//! - `NAME,file=FILE` is written to a file;
//! - `NAME,output` is what the block before it prints, letter by letter; with `part`, some lines of it, in order.
//!
//! A drawing `![...](NAME.svg)` must be what the page's commands leave in NAME.svg. `UPDATE_DOCS=1 cargo test -p clickwork
//! --test docs_tools` writes what is really printed and drawn into the folder; a `part` is for people to correct.
#![allow(missing_docs)]

mod common;
#[path = "../../prolac/tests/docs/markdown.rs"]
mod markdown;

use common::Scratch;
use markdown::Block;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const HINT: &str = "after a change: UPDATE_DOCS=1 cargo test -p clickwork --test docs_tools";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

/// All pages: the index and the folder.
fn pages() -> Vec<PathBuf> {
    let folder = repository().join("docs/tools");
    let mut pages: Vec<PathBuf> = files(&folder, "md").collect();
    pages.sort();
    pages.push(repository().join("docs/tools.md"));
    pages
}

fn files(folder: &Path, ending: &'static str) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(folder).expect("the folder can be read").map(|f| f.unwrap().path());
    files.filter(move |f| f.extension().is_some_and(|e| e == ending))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// A page while it is run.
struct Run<'a> {
    page: &'a Path,
    dir: Scratch,
    printed: String,
    failures: Vec<String>,
    /// By number of a block that is wrong: what is really printed.
    outputs: BTreeMap<usize, String>,
}

impl<'a> Run<'a> {
    fn new(page: &'a Path) -> Self {
        let name = page.file_stem().unwrap().to_string_lossy();
        let dir = Scratch::new(&format!("docs-{name}"));
        let bin = dir.path("bin");
        dir.clickwork().args(["links", "bin"]).assert().success();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clickwork"), bin.join("clickwork")).unwrap();
        std::os::unix::fs::symlink(repository().join("examples"), dir.path("examples")).unwrap();
        Run { page, dir, printed: String::new(), failures: Vec::new(), outputs: BTreeMap::new() }
    }

    fn page(mut self) -> Vec<String> {
        let text = read(self.page);
        let blocks = markdown::blocks(&text);
        for (number, block) in blocks.iter().enumerate() {
            let result = match &*block.language {
                "sh" => self.command(block),
                _ if block.file().is_some() => self.write(block),
                _ if block.has("output") => self.output(number, block),
                _ => Ok(()),
            };
            if let Err(what) = result {
                self.fail(block.line, &what);
            }
        }
        self.drawings(&text);
        self.links(&text);
        if updates() && !self.outputs.is_empty() {
            fs::write(self.page, markdown::replace(&text, &blocks, &self.outputs)).unwrap();
        }
        self.failures
    }

    fn fail(&mut self, line: usize, what: &str) {
        let page = self.page.strip_prefix(repository()).unwrap().display();
        self.failures.push(format!("{page}:{line}: {what}\n"));
    }

    fn write(&mut self, block: &Block) -> Result<(), String> {
        self.dir.write(block.file().unwrap_or_default(), &block.text);
        Ok(())
    }

    fn command(&mut self, block: &Block) -> Result<(), String> {
        let path = env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-eu", "-c", &format!("exec 2>&1\n{}", block.text)])
            .current_dir(self.dir.path("."))
            .env("PATH", format!("{}:{path}", self.dir.path("bin").display()))
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C")
            .env("CLICKWORK_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .env_remove("CLICKPATH")
            .output()
            .map_err(|e| e.to_string())?;
        self.printed = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() != block.has("fails") {
            true => Ok(()),
            false => Err(format!("{}\n{}", output.status, self.printed)),
        }
    }

    fn output(&mut self, number: usize, block: &Block) -> Result<(), String> {
        let is_right = match block.has("part") {
            true => has_lines(&self.printed, &block.text),
            false => self.printed.trim_end() == block.text.trim_end(),
        };
        if is_right {
            return Ok(());
        }
        if !block.has("part") {
            self.outputs.insert(number, self.printed.clone());
        }
        Err(format!("this is printed:\n{}", self.printed))
    }

    fn drawings(&mut self, text: &str) {
        for (line, target) in targets(text).filter(|(_, t)| t.ends_with(".svg")) {
            let kept = self.page.with_file_name(target);
            let name = kept.file_name().unwrap().to_string_lossy().into_owned();
            match fs::read(self.dir.path(&name)) {
                Err(_) => self.fail(line, &format!("no command draws {name}")),
                Ok(drawn) if fs::read(&kept).is_ok_and(|kept| kept == drawn) => {}
                Ok(drawn) => {
                    self.fail(line, &format!("{name} is not what the commands draw"));
                    if updates() {
                        fs::write(kept, drawn).unwrap();
                    }
                }
            }
        }
    }

    fn links(&mut self, text: &str) {
        for (line, target) in targets(text).filter(|(_, t)| !t.contains("://") && !t.ends_with(".svg")) {
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let file =
                if file.is_empty() { self.page.into() } else { self.page.parent().unwrap().join(file) };
            if !file.exists() || !place.is_empty() && !headings(&read(&file)).any(|h| h == place) {
                self.fail(line, &format!("the link to {target} leads nowhere"));
            }
        }
    }
}

fn updates() -> bool {
    env::var_os("UPDATE_DOCS").is_some()
}

/// Whether the lines of `part` occur in `text`, in this order. A line `...` is for the reader.
fn has_lines(text: &str, part: &str) -> bool {
    let mut lines = text.lines();
    part.lines().filter(|l| l.trim() != "...").all(|wanted| lines.any(|l| l.trim_end() == wanted.trim_end()))
}

/// Where links and pictures lead, with their lines.
fn targets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(n, line)| {
        line.split("](").skip(1).filter_map(move |rest| Some((n + 1, rest.split_once(')')?.0)))
    })
}

/// The anchors of the headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let anchor = |heading: &str| {
        let plain = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -".contains(*c))
            .collect::<String>();
        plain.replace(' ', "-")
    };
    text.lines().filter(|l| l.starts_with('#')).map(move |l| anchor(l.trim_start_matches('#').trim()))
}

#[test]
fn the_pages_say_what_the_tools_do() {
    let pages = pages();
    let failures: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| Run::new(page).page())).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} failures ({HINT})\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_drawing_is_on_a_page() {
    let text: String = pages().iter().map(|p| read(p)).collect();
    for drawing in files(&repository().join("docs/tools"), "svg") {
        let name = drawing.file_name().unwrap().to_string_lossy().into_owned();
        assert!(text.contains(&format!("{name})")), "{name} is on no page");
    }
}

#[test]
fn every_tool_is_in_the_index() {
    let dir = Scratch::new("docs-index");
    dir.clickwork().args(["links", "bin"]).assert().success();
    let index = read(&repository().join("docs/tools.md"));
    for link in fs::read_dir(dir.path("bin")).unwrap() {
        let name = link.unwrap().file_name().into_string().unwrap();
        assert!(index.contains(&format!("`{name}`")), "{name} is not in docs/tools.md");
    }
}

/// The tools are those that `clickwork --help` lists as such.
#[test]
fn every_tool_has_a_page_and_every_page_is_in_the_index() {
    let dir = Scratch::new("docs-pages");
    let help = dir.clickwork().arg("--help").assert().success().get_output().stdout.clone();
    let help = String::from_utf8(help).expect("text");
    let group =
        help.split("Tools that read a configuration and write one:").nth(1).expect("the group of the tools");
    let tools = group.lines().skip(1).map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let folder = repository().join("docs/tools");
    let index = read(&repository().join("docs/tools.md"));
    let mut count = 0;
    for tool in tools {
        let row = index.lines().find(|line| line.starts_with("| [") && line.contains(&format!("`{tool}`")));
        let row = row.unwrap_or_else(|| panic!("{tool} has no row in docs/tools.md"));
        let (_, page) = targets(row).next().expect("a link to its page");
        assert!(
            read(&folder.join("..").join(page)).contains(&format!("clickwork {tool} ")),
            "{page} shows {tool}"
        );
        count += 1;
    }
    assert!(count > 6, "only {count} tools in\n{help}");
    for page in files(&folder, "md") {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(index.contains(&format!("](tools/{name})")), "docs/tools.md does not lead to {name}");
    }
}
