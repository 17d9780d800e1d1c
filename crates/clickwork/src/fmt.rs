//! `clickwork fmt`: lays configurations out in the one style.

use crate::config::Input;
use crate::output;
use crate::report::Report;
use clickwork_source::Sources;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Lay configurations out in the one style
///
/// Rewrites each FILE in place; comments are kept, and the router that a configuration describes stays the same. Without
/// a FILE, or for "-", formats standard input to standard output.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Fmt {
    /// Files to format
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing; name the files that are not in the style, and fail if there are any
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork fmt examples/*.click           format files in place
  clickwork fmt --check examples/*.click   for a build: fails if any file needs formatting
  clickwork fmt < a.click > b.click";

/// Runs the subcommand.
pub fn main(args: &Fmt) -> ExitCode {
    let report = Report::human();
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    if args.files.is_empty() && std::io::stdin().is_terminal() {
        return output::fail("no configuration: name files, or '-' to type one");
    }
    let mut status = ExitCode::SUCCESS;
    for file in files {
        match format_file(file, args.check, &report) {
            Ok(true) => {}
            Ok(false) => {
                output::print(&format!("{}\n", file.display()));
                status = ExitCode::FAILURE;
            }
            Err(e) => {
                report.error(&e);
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}

/// Formats one file; false if it would change but must not.
fn format_file(file: &Path, check: bool, report: &Report) -> Result<bool, String> {
    let input = Input::read(file)?;
    if input.files.is_some() {
        return Err(format!(
            "{}: this is an archive, which has no layout; take its configuration out with `clickwork flatten --config`",
            input.name
        ));
    }
    let text = formatted(&input, report)?;
    let is_stdin = file == Path::new("-");
    match (check, text == input.text) {
        (true, same) => return Ok(same),
        (false, true) if !is_stdin => {}
        (false, _) => output::write(file, &text)?,
    }
    Ok(true)
}

fn formatted(input: &Input, report: &Report) -> Result<String, String> {
    clickwork_lang::format(&input.text).map_err(|diagnostics| {
        // The formatter saw the same text as the first file of its own, so the places fit this one.
        let mut sources = Sources::new();
        sources.add(input.name.clone(), input.text.clone());
        report.print(&sources, &diagnostics);
        format!("{}: left as it is", input.name)
    })
}
