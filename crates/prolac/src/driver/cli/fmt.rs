//! `prolacc fmt`: the canonical layout of files.

use std::path::PathBuf;
use std::process::ExitCode;

use clickwork_source::{Diagnostics, Sources};

use super::{Files, MessageOptions};
use crate::driver::input::{Reader, SourceFile};
use crate::driver::output;
use crate::syntax;

/// Lay out files in the canonical way
///
/// Only white space changes: comments, C code and preprocessor directives stay. Without '--write' and '--check' the result
/// goes to standard output.
#[derive(clap::Args, Debug)]
pub struct Fmt {
    /// Files; '@LIST' names a file that lists more, '-' is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Change the files
    #[arg(short, long, conflicts_with = "check")]
    write: bool,
    /// Change nothing, name the files that would change; the exit status is 1 if there are any
    #[arg(short, long)]
    check: bool,
    #[command(flatten)]
    messages: MessageOptions,
}

/// Runs the command.
pub fn run(args: &Fmt) -> ExitCode {
    let messages = args.messages.messages();
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let mut reader = Reader::new(&mut sources, &mut diagnostics);
    args.files.iter().for_each(|word| reader.word(word));
    let files = reader.files;
    let mut results = Vec::new();
    for file in files {
        match syntax::format(&mut sources, file.id) {
            Ok(text) => results.push((file, text)),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if !messages.print(&sources, &diagnostics) {
        return ExitCode::FAILURE;
    }
    let (changed, others): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|(file, text)| sources.text(file.id) != text);
    if args.check {
        let names = changed.iter().map(|(file, _)| format!("{}\n", sources.name(file.id)));
        output::print(&names.collect::<String>());
        return if changed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let (text, files) = args.outputs(changed, others);
    output::print(&text);
    match output::write_all(&files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            messages.error(&error);
            ExitCode::FAILURE
        }
    }
}

impl Fmt {
    /// What is printed, and the files to write: those that change. Standard input always goes to standard output.
    fn outputs(
        &self,
        changed: Vec<(SourceFile, String)>,
        others: Vec<(SourceFile, String)>,
    ) -> (String, Files) {
        let mut files = Files::new();
        let mut printed: Vec<(SourceFile, String)> = Vec::new();
        for (is_new, (file, text)) in
            changed.into_iter().map(|c| (true, c)).chain(others.into_iter().map(|o| (false, o)))
        {
            match &file.path {
                Some(path) if self.write && is_new => files.push((PathBuf::from(path), text)),
                Some(_) if self.write => {}
                _ => printed.push((file, text)),
            }
        }
        printed.sort_by_key(|(file, _)| file.id);
        (printed.into_iter().map(|(_, text)| text).collect(), files)
    }
}
