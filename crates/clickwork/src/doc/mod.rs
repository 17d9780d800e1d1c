//! `clickwork doc`: the manual of an element class, made from its facts, or those of all classes as web pages.
//!
//! [`manual`] says what is in a manual, [`terminal`] lays it out for reading there, [`reference`] makes the pages.

pub mod manual;
mod reference;
mod terminal;

use crate::output;
use crate::packages::{self, PackageOptions};
use crate::report::Report;
use clickwork_router::Registry;
use clickwork_source::suggest;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::{Page, width};

/// Print the manual of an element class
///
/// What it does, its ports, arguments and handlers, the packets that it expects, and an example.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Doc {
    /// The class, such as Queue
    #[arg(value_name = "ELEMENT", required_unless_present = "html")]
    class: Option<String>,
    /// Write the manuals of all classes to DIR, as web pages
    #[arg(long, value_name = "DIR", conflicts_with = "class")]
    html: Option<PathBuf>,
    #[command(flatten)]
    packages: PackageOptions,
}

const EXAMPLES: &str = "Examples:
  clickwork doc Queue | less        'clickwork list' names them all
  clickwork doc --html manuals      and look at manuals/index.html";

/// Runs the subcommand.
pub fn main(args: &Doc) -> ExitCode {
    if let Err(e) = packages::ensure_named(&args.packages, &Report::human()) {
        return output::fail(&e);
    }
    let registry = crate::classes::registry();
    let done = match (&args.html, &args.class) {
        (Some(folder), _) => reference::write(folder, &registry),
        (None, class) => print(class.as_deref().unwrap_or_default(), &registry),
    };
    done.map_or_else(|e| output::fail(&e), |()| ExitCode::SUCCESS)
}

fn print(name: &str, registry: &Registry) -> Result<(), String> {
    let class = registry.get(name).ok_or_else(|| unknown(name, registry))?;
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    output::print(&terminal::manual(name, class, &Page { width: width(), color }));
    Ok(())
}

fn unknown(name: &str, registry: &Registry) -> String {
    let names = || registry.iter().map(|(name, _)| name);
    if let Some(near) = suggest(name, names()) {
        return format!("no element class '{name}': did you mean '{near}'?");
    }
    let lower = name.to_lowercase();
    let like: Vec<&str> = names().filter(|n| n.to_lowercase().contains(&lower)).collect();
    match like.is_empty() {
        true => format!("no element class '{name}': 'clickwork list' names them all"),
        false => format!("no element class '{name}': there are {}", like.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_gets_a_suggestion() {
        let registry = crate::classes::registry();
        assert!(unknown("Quene", &registry).contains("did you mean 'Queue'?"));
        assert!(unknown("Zzzzzzzz", &registry).contains("clickwork list"));
    }
}
