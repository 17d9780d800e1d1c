//! Runs the preprocessor's command and turns what it complains about into messages.

use std::process::{Command, ExitStatus, Output};

use clickwork_source::{Diagnostic, Diagnostics, Severity, Sources, Span};

use super::Options;
use super::copies::Copies;
use crate::driver::input::reason;

/// What the preprocessor writes, or `None` after errors.
pub fn run(copies: &mut Copies<'_>, options: &Options, diagnostics: &mut Diagnostics) -> Option<String> {
    let (program, mut command) = command(copies, options);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let message = format!("cannot run the C preprocessor '{program}': {}", reason(&error));
            diagnostics.push(Diagnostic::error(Span::NONE, message).hint(
                "install a C compiler, or name a preprocessor in the environment variable CPP, as in CPP='clang -E'",
            ));
            return None;
        }
    };
    let found = complaints(copies, &program, &output);
    let failed = !output.status.success() || found.iter().any(|d| d.severity == Severity::Error);
    diagnostics.extend(found);
    (!failed).then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command, and what messages call it. `$CPP` is a command with arguments; only `-I`, `-D` and `-U` are added to it.
fn command(copies: &Copies<'_>, options: &Options) -> (String, Command) {
    let own = std::env::var("CPP").unwrap_or_default();
    let default = "cc -E -C -x c -std=c11 -ffreestanding -fmax-errors=20";
    let words = if own.trim().is_empty() { default } else { &own };
    let mut words = words.split_whitespace();
    let program = words.next().unwrap_or("cc").to_string();
    let mut command = Command::new(&program);
    command.env("LC_ALL", "C").args(words).stdin(std::process::Stdio::null());
    for directory in copies.directories() {
        command.arg("-iquote").arg(directory);
    }
    for directory in &options.include {
        command.arg("-I").arg(directory);
    }
    command.args(options.define.iter().map(|d| format!("-D{d}")));
    command.args(options.undefine.iter().map(|u| format!("-U{u}")));
    command.arg(&copies.start);
    (program, command)
}

/// The errors and warnings that the preprocessor printed.
fn complaints(copies: &Copies<'_>, program: &str, output: &Output) -> Vec<Diagnostic> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut list: Vec<Diagnostic> =
        text.lines().filter_map(parse).map(|complaint| complaint.diagnostic(copies)).collect();
    if list.iter().any(|d| d.message.contains("nested")) {
        list.retain(|d| !d.message.contains("nested"));
        list.extend(copies.cycle().map(|cycle| circle(copies, &cycle)));
    }
    list.dedup();
    let errors = list.iter().any(|d| d.severity == Severity::Error);
    if !output.status.success() && !errors {
        list.push(failure(program, output.status, text.trim()));
    }
    list
}

/// A preprocessor that failed, but not because of the program.
fn failure(program: &str, status: ExitStatus, said: &str) -> Diagnostic {
    let said = if said.is_empty() { "it said nothing" } else { said };
    let message = format!("the C preprocessor '{program}' failed ({status}): {said}");
    Diagnostic::error(Span::NONE, message).hint(
        "is it one? The environment variable CPP names another, as in CPP='clang -E'; it needs memory, and room in TMPDIR",
    )
}

/// A line `file:12:3: error: message`.
struct Complaint<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    severity: Severity,
    message: &'a str,
}

fn parse(text: &str) -> Option<Complaint<'_>> {
    let kinds = [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
    ];
    let split = |(mark, severity)| Some((text.split_once(mark)?, severity));
    let ((place, message), severity) = kinds.into_iter().find_map(split)?;
    let (rest, last) = split_number(place)?;
    // Some have no column.
    let (file, line, column) = match split_number(rest) {
        Some((file, line)) => (file, line, last),
        None => (rest, last, 1),
    };
    Some(Complaint { file, line, column, severity, message })
}

/// `file:12` as the two.
fn split_number(text: &str) -> Option<(&str, usize)> {
    let (rest, number) = text.rsplit_once(':')?;
    Some((rest, number.parse().ok()?))
}

impl Complaint<'_> {
    fn diagnostic(&self, copies: &Copies<'_>) -> Diagnostic {
        let id = copies.copies.iter().map(|c| c.id).find(|&id| copies.sources.name(id) == self.file);
        let span = id.map_or(Span::NONE, |id| self.span(copies.sources, id));
        let place = if span.is_none() { format!("{}:{}: ", self.file, self.line) } else { String::new() };
        Diagnostic::new(self.severity, span, format!("{place}{} (from the C preprocessor)", self.message))
    }

    /// From the column to the end of the line; the column is wrong where an `#include` was rewritten.
    fn span(&self, sources: &Sources, id: clickwork_source::FileId) -> Span {
        let text = sources.text(id);
        let mut lines = text.split_inclusive('\n');
        let start: usize = lines.by_ref().take(self.line.saturating_sub(1)).map(str::len).sum();
        let line = lines.next().unwrap_or("").trim_end();
        let is_directive = line.trim_start().starts_with('#');
        let skip = if is_directive { 0 } else { (self.column.saturating_sub(1)).min(line.len()) };
        Span::new(id, (start + skip) as u32, (start + line.len()) as u32)
    }
}

fn circle(copies: &Copies<'_>, cycle: &[(usize, Span)]) -> Diagnostic {
    let name = |n: usize| copies.sources.name(copies.copies[n].id);
    let names: Vec<&str> = cycle.iter().chain(cycle.first()).map(|&(n, _)| name(n)).collect();
    let span = cycle.last().map_or(Span::NONE, |&(_, span)| span);
    let message = format!("files include each other in a circle: {}", names.join(" -> "));
    let mut diagnostic = Diagnostic::error(span, message);
    for &(_, span) in &cycle[..cycle.len().saturating_sub(1)] {
        diagnostic = diagnostic.label(span, "included from here");
    }
    diagnostic
        .hint("put '#ifndef NAME', '#define NAME' and '#endif' around a file that may be included twice")
}
