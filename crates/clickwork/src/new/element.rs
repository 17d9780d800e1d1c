//! `clickwork new element`: a package with one element class, which works as it is.

use crate::output::reason;
use crate::report::Report;
use crate::{classes, output, tool};
use clickwork_driver_build::{Cache, is_name, patches};
use clickwork_lang::ClassNames;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a package with one element class
///
/// A package is a Rust crate of your own, and needs no sources of Clickwork besides those in this program. The new one has a
/// documented, tested element class to begin with, and a configuration that uses it: 'clickwork run example.click' works at
/// once. docs/writing-elements.md goes on from there.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  clickwork new element CountVowels              makes the folder count-vowels
  clickwork new element count-vowels --path ~/vowels")]
pub struct NewElement {
    /// The name of the class, as CountVowels, or of the package, as count-vowels
    #[arg(value_name = "NAME")]
    name: String,
    /// Make the folder DIR instead of one named after the package
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

/// The files of the package: their names, and what they are made of.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("template/manifest.toml")),
    ("src/lib.rs", include_str!("template/lib.rs")),
    ("example.click", include_str!("template/example.click")),
    ("clickwork.toml", include_str!("template/clickwork.toml")),
];

/// Names that mean something else in Rust, or in `src/lib.rs`.
const TAKEN: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "ArgSpec",
    "ArgType",
    "Args",
    "Box",
    "Class",
    "Cx",
    "Packet",
    "Self",
    "SimpleElement",
    "String",
    "Verdict",
];

/// Runs the subcommand.
pub fn main(args: &NewElement) -> ExitCode {
    tool::finish(&Report::human(), || make(args))
}

fn make(args: &NewElement) -> Result<(), String> {
    let names = Names::new(&args.name)?;
    let folder = args.path.clone().unwrap_or_else(|| PathBuf::from(&names.package));
    if folder.exists() {
        return Err(format!("{}: it exists already; say --path for another folder", folder.display()));
    }
    let cache = Cache::of_user()?;
    cache.sources()?;
    let patches = patches(&cache.latest());
    for (file, template) in FILES {
        write(&folder.join(file), &names.fill(template).replace("@PATCHES@\n", &patches))?;
    }
    let Names { class, package } = names;
    output::print(&format!(
        "{}: the package '{package}' with the element class {class}. In this folder,\n  \
         clickwork run example.click           runs a router with it\n  \
         cargo test                            tests it\n  \
         clickwork doc --package . {class}     prints its manual\n",
        folder.display()
    ));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, text));
    written.map_err(|e| format!("{}: {}", file.display(), reason(&e)))
}

/// What the class and the package are called.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    class: String,
    package: String,
}

impl Names {
    fn new(name: &str) -> Result<Names, String> {
        if !is_name(name) {
            return Err(format!("'{name}' is no name: write it as CountVowels or count-vowels"));
        }
        let is_class = name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains(['-', '_']);
        let class =
            if is_class { name.to_string() } else { name.split(['-', '_']).map(capitalised).collect() };
        let package = with_hyphens(name);
        if [&class, &package].iter().any(|n| TAKEN.contains(&n.as_str())) {
            return Err(format!("'{name}' has a meaning in Rust, or in the crate: choose another name"));
        }
        if classes::registry().contains(&class) {
            return Err(format!("there is an element class {class} already: choose another name"));
        }
        Ok(Names { class, package })
    }

    fn fill(&self, template: &str) -> String {
        let text = template.replace("@CLASS@", &self.class).replace("@PACKAGE@", &self.package);
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// `CountIPVowels` as `count-ip-vowels`.
fn with_hyphens(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    let mut text = String::new();
    for (at, &byte) in bytes.iter().enumerate() {
        let before_is_word = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        if is_upper(at) && before_is_word && (!is_upper(at - 1) || is_lower(at + 1)) {
            text.push('-');
        }
        text.push(if byte == b'_' { '-' } else { byte.to_ascii_lowercase().into() });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> (String, String) {
        let Names { class, package } = Names::new(name).unwrap();
        (class, package)
    }

    #[test]
    fn a_class_and_its_package_have_names_in_their_own_style() {
        let both = |class: &str, package: &str| (class.to_string(), package.to_string());
        assert_eq!(names("CountVowels"), both("CountVowels", "count-vowels"));
        assert_eq!(names("count-vowels"), both("CountVowels", "count-vowels"));
        assert_eq!(names("count_vowels2"), both("CountVowels2", "count-vowels2"));
        assert_eq!(names("CheckIPHeader3"), both("CheckIPHeader3", "check-ip-header3"));
        assert_eq!(names("MyIP"), both("MyIP", "my-ip"));
    }

    #[test]
    fn names_that_cannot_be_used_are_refused() {
        for name in ["", "2vowels", "a b", "a/b", "Zäh", "-a", "match", "Packet", "std", "Counter", "counter"]
        {
            assert!(Names::new(name).is_err(), "{name}");
        }
    }
}
