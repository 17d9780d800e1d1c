//! Running cargo: first with what is on the machine, then with the network.

use clickwork_toolchain::{Leash, Reach, Tool, installed, leashed, of_words, reason, rustc};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};

/// What there is to tell while cargo runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A crate is being compiled.
    Compiling(&'a str),
    /// A crate is being downloaded.
    Downloading(&'a str),
    /// Lines of a compiler, about what it did not like.
    Message(&'a str),
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something is not there or cannot be written, perhaps cargo; the text says what.
    System(String),
    /// This crate does not compile. The compiler's messages have been told.
    Compile(String),
    /// Cargo's own words.
    Cargo(String),
}

/// How drivers are compiled: optimised, unless `$CLICKWORK_DRIVER_PROFILE` names another of cargo's profiles, such as `dev`, which
/// compiles faster.
pub fn profile() -> String {
    let named = std::env::var("CLICKWORK_DRIVER_PROFILE").ok().filter(|p| !p.is_empty());
    named.unwrap_or_else(|| "release".to_string())
}

/// Builds the project in a folder and returns the program.
///
/// # Errors
/// If that is not possible.
pub fn build(
    project: &Path,
    target: &Path,
    color: bool,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<PathBuf, Failure> {
    let tool = installed("CARGO", "cargo").map_err(|e| Failure::System(missing(&e)))?;
    let cargo = Cargo { tool, project, target, color };
    match cargo.run(true, tell) {
        Err(Failure::Cargo(text)) if text.contains("offline") => cargo.run(false, tell),
        done => done,
    }
}

/// What cargo is to build, and how.
struct Cargo<'a> {
    tool: Tool,
    project: &'a Path,
    target: &'a Path,
    color: bool,
}

impl Cargo<'_> {
    fn run(&self, offline: bool, tell: &mut dyn FnMut(Event<'_>)) -> Result<PathBuf, Failure> {
        let leash = Leash::default();
        let mut child = leash.start(&mut self.command(offline)).map_err(|e| Failure::System(missing(&e)))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.map(|mut out| out.read_to_string(&mut text));
            text
        });
        let errors = stderr.map(|stderr| listen(stderr, tell)).unwrap_or_default();
        let output = output.join().unwrap_or_default();
        let status = child.wait();
        leash.release(child.id());
        match status {
            Ok(status) if status.success() => executable(&output).ok_or_else(|| self.silent(&status)),
            Ok(status) if errors.trim().is_empty() => Err(self.silent(&status)),
            Ok(_) => Err(failure(errors)),
            Err(e) => Err(Failure::System(missing(&e))),
        }
    }

    /// Nothing around this process should change what is built: cargo and rustup would look for their files in its folder and
    /// those above. With the network, cargo may have to ask something on the terminal.
    fn command(&self, offline: bool) -> Command {
        let mut command = leashed(&self.tool.path, if offline { Reach::Group } else { Reach::Alone });
        command
            .args([
                "build",
                "--profile",
                &profile(),
                "--message-format=json-render-diagnostics",
                "--manifest-path",
            ])
            .arg(self.project.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target);
        command.args(["--color", if self.color { "always" } else { "never" }]);
        if offline {
            command.arg("--offline");
        }
        for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(variable);
        }
        if let Ok(Tool { path, named_by: Some(variable) }) = rustc() {
            command.env(variable, path);
        }
        command.current_dir("/").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A program that ended without a word.
    fn silent(&self, status: &ExitStatus) -> Failure {
        let tool = self.tool.path.display();
        Failure::System(match status.signal() {
            Some(9) => format!(
                "{tool} was killed (signal 9); if nobody did that, there was too little memory for it"
            ),
            Some(signal) => format!("{tool} was ended by signal {signal}"),
            None => format!(
                "{tool} built nothing and did not say why ({status}): install Rust from https://rustup.rs, or set CARGO to the \
                 program"
            ),
        })
    }
}

fn missing(e: &std::io::Error) -> String {
    format!(
        "cargo cannot be run ({}), which builds drivers with packages: install Rust from https://rustup.rs, or set CARGO to \
         the program",
        reason(e)
    )
}

/// Tells what cargo does, and returns the rest of what it says.
fn listen(stderr: ChildStderr, tell: &mut dyn FnMut(Event<'_>)) -> String {
    let mut rest = String::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let plain = without_colors(&line);
        match plain.trim_start().split_once(' ') {
            Some(("Compiling", name)) => tell(Event::Compiling(name)),
            Some(("Downloading" | "Downloaded" | "Updating", name)) => tell(Event::Downloading(name)),
            Some(("Finished" | "Locking" | "Adding" | "Removing" | "Blocking" | "Fresh", _)) => {}
            _ => {
                rest += &plain;
                rest.push('\n');
                tell(Event::Message(&line));
            }
        }
    }
    rest
}

/// A line without the sequences that colour it.
fn without_colors(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, after)| after))
}

/// The program, from cargo's last message about one.
fn executable(messages: &str) -> Option<PathBuf> {
    let line = messages.lines().rev().find(|line| line.contains("\"executable\":\""))?;
    let (_, path) = line.split_once("\"executable\":\"")?;
    Some(path.split_once('"')?.0.into())
}

fn failure(text: String) -> Failure {
    if let Some(cause) = of_words(&text) {
        return Failure::System(format!("the driver could not be built: {cause}"));
    }
    let compiled = text.lines().find_map(|line| line.strip_prefix("error: could not compile `"));
    match compiled.and_then(|rest| rest.split('`').next()) {
        Some(name) => Failure::Compile(name.to_string()),
        None => Failure::Cargo(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_is_understood_in_colours_too() {
        assert_eq!(without_colors("\x1b[1m\x1b[32m   Compiling\x1b[0m a v1"), "   Compiling a v1");
        let text = "error: x\nerror: could not compile `vowels` (lib) due to 1 previous error\n";
        assert_eq!(failure(text.to_string()), Failure::Compile("vowels".into()));
        let killed = "error: could not compile `vowels` (lib)\n\nCaused by:\n  process didn't exit successfully: `rustc` \
                      (signal: 9, SIGKILL: kill)\n";
        assert!(
            matches!(failure(killed.to_string()), Failure::System(why) if why.contains("too little memory"))
        );
        let messages = "{\"a\":1}\n{\"executable\":\"/t/driver\",\"fresh\":true}\n{\"executable\":null}\n";
        assert_eq!(executable(messages), Some("/t/driver".into()));
    }
}
