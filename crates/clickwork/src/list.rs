//! `clickwork list`: the element classes there are.

use crate::output;
use crate::packages::{self, PackageOptions};
use crate::report::Report;
use clickwork_router::Class;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// List the element classes
///
/// One line a class, by family. With WORDs, only those that have every WORD in their name, family or description.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct List {
    /// What to look for
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Print the names alone
    #[arg(short, long)]
    names: bool,
    #[command(flatten)]
    packages: PackageOptions,
}

const EXAMPLES: &str = "Examples:
  clickwork list             all of them
  clickwork list queue       those that have to do with queues
  clickwork list -n icmp     their names, a line each";

/// Runs the subcommand.
pub fn main(args: &List) -> ExitCode {
    if let Err(e) = packages::ensure_named(&args.packages, &Report::human()) {
        return output::fail(&e);
    }
    let registry = crate::classes::registry();
    let found: Vec<_> = registry.iter().filter(|(name, class)| matches(name, class, &args.words)).collect();
    if found.is_empty() {
        return output::fail(&format!("no element class for '{}'", args.words.join(" ")));
    }
    let text = match args.names {
        true => found.iter().map(|(name, _)| format!("{name}\n")).collect(),
        false => by_family(&found),
    };
    output::print(&text);
    ExitCode::SUCCESS
}

fn matches(name: &str, class: &Class, words: &[String]) -> bool {
    let text = format!("{name} {} {}", class.family, class.help).to_lowercase();
    words.iter().all(|w| text.contains(&w.to_lowercase()))
}

fn by_family(found: &[(&str, &'static Class)]) -> String {
    let mut families: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let width = found.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, class) in found {
        let help =
            if *name == class.name { class.help.to_string() } else { format!("the same as {}", class.name) };
        families.entry(class.family).or_default().push(format!("  {name:width$}  {help}"));
    }
    let section = |(family, lines): (&str, Vec<String>)| format!("{family}\n{}\n", lines.join("\n"));
    families.into_iter().map(section).collect::<Vec<_>>().join("\n")
}
