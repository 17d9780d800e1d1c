//! `prolacc doc`: an HTML reference of a program.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Input;

/// Make an HTML reference of a program
///
/// One page that needs no other file and no network: what each module is derived from, its methods with the comments that
/// stand directly above them, what they override, who calls them, and the source with links.
#[derive(clap::Args, Debug)]
pub struct Doc {
    #[command(flatten)]
    input: Input,
    /// Write to OUT.html, or to index.html in the directory OUT
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The title of the page [default: the name of the last file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// Runs the command.
pub fn run(args: &Doc) -> ExitCode {
    let output = match args.output.is_dir() {
        true => args.output.join("index.html"),
        false => args.output.clone(),
    };
    args.input.compile(args.input.options(), |compilation| {
        let last = args.input.files.last().map_or("", String::as_str).trim_start_matches('@');
        let name = PathBuf::from(last).file_stem().map(|s| s.to_string_lossy().into_owned());
        let title = args.title.clone().or(name).unwrap_or_default();
        let page = compilation.reference(&title)?;
        Some((String::new(), vec![(output, page)]))
    })
}
