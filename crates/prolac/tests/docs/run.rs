//! Runs the examples of a document, several at a time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::markdown::Block;

/// An example that does not do what the document says.
pub struct Failure {
    pub line: usize,
    pub what: String,
}

/// What came of a document.
#[derive(Default)]
pub struct Results {
    pub examples: usize,
    pub failures: Vec<Failure>,
    /// By number of a `text` block that is wrong: what is really printed.
    pub outputs: BTreeMap<usize, String>,
}

/// Runs all examples of a document. Each has a directory of its own.
pub fn all(document: &str, blocks: &[Block]) -> Results {
    let examples = examples(blocks);
    let results = Mutex::new(Results { examples: examples.len(), ..Results::default() });
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(range) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let directory = directory(document, blocks[range.start].line);
                    let mut example = Example::new(directory);
                    example.run(blocks, range.clone());
                    let mut results = results.lock().unwrap();
                    results.failures.extend(example.failures);
                    results.outputs.extend(example.outputs);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.failures.sort_by_key(|f| f.line);
    results
}

fn directory(document: &str, line: usize) -> PathBuf {
    let document = document.replace('/', "-");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{document}-{line}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// The blocks of each example.
fn examples(blocks: &[Block]) -> Vec<std::ops::Range<usize>> {
    let begins = |b: &Block| b.language == "prolac" && !b.has("more") && b.file().is_none();
    let mut starts: Vec<usize> = (0..blocks.len()).filter(|&i| i == 0 || begins(&blocks[i])).collect();
    starts.push(blocks.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

struct Example {
    directory: PathBuf,
    /// The files of the program.
    files: Vec<String>,
    /// What the last block printed, and whether it is a message of `prolacc`.
    printed: Option<(String, bool)>,
    failures: Vec<Failure>,
    outputs: BTreeMap<usize, String>,
}

impl Example {
    fn new(directory: PathBuf) -> Self {
        Example {
            directory,
            files: Vec::new(),
            printed: None,
            failures: Vec::new(),
            outputs: BTreeMap::new(),
        }
    }

    fn run(&mut self, blocks: &[Block], range: std::ops::Range<usize>) {
        for index in range {
            let block = &blocks[index];
            let result = match &*block.language {
                "prolac" | "c" if block.file().is_some() => self.write(block),
                "prolac" => self.prolac(block, blocks.get(index + 1)),
                "c" => self.c(block),
                "sh" => self.sh(block),
                "text" => self.text(index, block),
                _ => Ok(()),
            };
            if let Err(what) = result {
                self.failures.push(Failure { line: block.line, what });
            }
        }
    }

    fn write(&mut self, block: &Block) -> Result<(), String> {
        let path = self.directory.join(block.file().unwrap_or_default());
        let before =
            if block.has("append") { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        fs::write(path, before + &block.text).map_err(|e| e.to_string())
    }

    fn prolac(&mut self, block: &Block, next: Option<&Block>) -> Result<(), String> {
        let name = match self.files.len() {
            0 => "example.pc".to_string(),
            n => format!("example-{}.pc", n + 1),
        };
        fs::write(self.directory.join(&name), &block.text).map_err(|e| e.to_string())?;
        self.files.push(name);
        if next.is_some_and(|next| next.has("more")) {
            return Ok(());
        }
        let output = self.command(prolacc()).args(&self.files).args(["-o", "example.c"]).output();
        let output = output.map_err(|e| e.to_string())?;
        let messages = lossy(&output.stderr);
        let expected = if block.has("error") { Some(1) } else { Some(0) };
        if output.status.code() != expected {
            return Err(format!("prolacc: {}\n{messages}", output.status));
        }
        if messages.is_empty() == block.has("warning") && !block.has("error") {
            return Err(format!("prolacc: warnings are not as expected\n{messages}"));
        }
        self.printed = Some((messages, true));
        Ok(())
    }

    fn c(&mut self, block: &Block) -> Result<(), String> {
        let code = match block.text.contains("main(") {
            true => block.text.clone(),
            false => main_of(&block.text),
        };
        fs::write(self.directory.join("main.c"), code).map_err(|e| e.to_string())?;
        let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", "example", "example.c", "main.c"];
        let compiled = self.command("cc").args(flags).output().map_err(|e| e.to_string())?;
        succeeded("cc", &compiled)?;
        let program = self.directory.join("example");
        let output = self.command(program).output().map_err(|e| e.to_string())?;
        succeeded("the program", &output)?;
        self.printed = Some((lossy(&output.stdout), false));
        Ok(())
    }

    fn sh(&mut self, block: &Block) -> Result<(), String> {
        let bin = Path::new(prolacc()).parent().map_or(String::new(), |p| p.display().to_string());
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let script = format!("exec 2>&1\n{}", block.text);
        let output = self.command("sh").env("PATH", path).args(["-ec", &script]).output();
        let output = output.map_err(|e| e.to_string())?;
        if !block.has("fails") {
            succeeded("the command", &output)?;
        }
        self.printed = Some((lossy(&output.stdout), false));
        Ok(())
    }

    fn text(&mut self, index: usize, block: &Block) -> Result<(), String> {
        let Some((printed, messages)) = self.printed.clone() else { return Ok(()) };
        let agrees = match messages || block.has("part") {
            true => !block.text.trim().is_empty() && contains_lines(&printed, &block.text),
            false => printed.trim_end() == block.text.trim_end(),
        };
        if agrees {
            return Ok(());
        }
        self.outputs.insert(index, if messages { without_summary(&printed) } else { printed.clone() });
        Err(format!("it prints\n{printed}"))
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory);
        command
    }
}

fn prolacc() -> &'static str {
    env!("CARGO_BIN_EXE_prolacc")
}

/// The statements of a `main`.
fn main_of(statements: &str) -> String {
    format!("#include <stdio.h>\n#include \"example.h\"\nint main(void)\n{{\n{statements}return 0;\n}}\n")
}

fn succeeded(what: &str, output: &Output) -> Result<(), String> {
    match output.status.success() {
        true => Ok(()),
        false => {
            let printed = [lossy(&output.stdout), lossy(&output.stderr)].concat();
            Err(format!("{what}: {}\n{printed}", output.status))
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Messages without the last line, which counts them.
fn without_summary(messages: &str) -> String {
    let messages = messages.trim_end();
    messages.rfind('\n').map_or(messages, |at| &messages[..at]).trim_end().to_string()
}

/// Whether the lines of `part` are lines of `whole`, in order.
fn contains_lines(whole: &str, part: &str) -> bool {
    let mut lines = whole.lines().map(str::trim_end);
    part.lines().map(str::trim_end).filter(|line| !line.is_empty()).all(|line| lines.any(|l| l == line))
}
