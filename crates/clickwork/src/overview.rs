//! The list of commands in `clickwork --help`, in groups.

use clap::Command;
use clap::builder::styling::Styles;
use std::fmt::Write;

/// Which commands stand together. What is in no group is listed last.
const GROUPS: &[(&str, &[&str])] = &[
    ("Routers", &["run", "build", "check", "graph", "ctl", "demo"]),
    ("Writing configurations and elements", &["list", "doc", "fmt", "pretty", "new"]),
    (
        "Tools that read a configuration and write one",
        &[
            "flatten",
            "undead",
            "xform",
            "combine",
            "uncombine",
            "align",
            "fastclassifier",
            "devirtualize",
            "mkmindriver",
        ],
    ),
    ("For other programs", &["xml", "json", "links", "completions"]),
];

/// The command line with its commands in groups.
pub fn grouped(command: Command) -> Command {
    let list = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{heading}Options:{heading:#}\n{{options}}{{after-help}}",
        heading = Styles::styled().get_header(),
    ))
}

fn list(command: &Command) -> String {
    let mut rest: Vec<&Command> = command.get_subcommands().collect();
    let width = rest.iter().map(|c| c.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, names) in GROUPS {
        let group: Vec<&Command> = names.iter().filter_map(|name| take(&mut rest, name)).collect();
        section(&mut text, title, &group, width);
    }
    section(&mut text, "Others", &rest, width);
    text
}

fn take<'a>(commands: &mut Vec<&'a Command>, name: &str) -> Option<&'a Command> {
    let at = commands.iter().position(|c| c.get_name() == name)?;
    Some(commands.remove(at))
}

fn section(text: &mut String, title: &str, commands: &[&Command], width: usize) {
    let (heading, literal) = (*Styles::styled().get_header(), *Styles::styled().get_literal());
    if commands.is_empty() {
        return;
    }
    let _ = writeln!(text, "{heading}{title}:{heading:#}");
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "  {literal}{:<width$}{literal:#}  {about}", command.get_name());
    }
    text.push('\n');
}
