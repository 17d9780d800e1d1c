//! The part of the command line that says which configuration is meant; the same for all subcommands that read one.

use crate::built;
use crate::config::{ClickPath, Input};
use crate::packages::PackageOptions;
use crate::report::Report;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clickwork_source::suggest;
use clickwork_source::text::{from_os, to_path};
use std::io::IsTerminal;

/// The heading of these options in the help.
pub const READING: &str = "Reading";

/// Reads a word of the command line that is text or a file's name, whatever its bytes, as
/// [text](clickwork_source::text).
pub fn text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(from_os)
}

/// Where a configuration comes from.
#[derive(Args, Debug, Clone)]
pub struct InputOptions {
    /// Configuration file ("-" for standard input), and values of its variables
    #[arg(value_name = "FILE|VAR=VALUE", value_parser = text())]
    words: Vec<String>,
    /// Read the configuration from FILE
    #[arg(short, long, value_name = "FILE", value_parser = text(), help_heading = READING)]
    file: Vec<String>,
    /// Use TEXT as the configuration
    #[arg(short, long, value_name = "TEXT", value_parser = text(), allow_hyphen_values = true, help_heading = READING)]
    expression: Vec<String>,
    /// Look for libraries in the directories of PATH, separated by colons, instead of $CLICKPATH
    #[arg(short = 'C', long, value_name = "PATH", value_parser = text(), help_heading = READING)]
    clickpath: Option<String>,
    #[command(flatten)]
    pub packages: PackageOptions,
}

impl InputOptions {
    /// Takes away the files named after the first, for tools that read others besides the configuration. With a
    /// configuration from elsewhere, there is none to take.
    pub fn take_files_after_first(&mut self) -> Vec<String> {
        if !self.file.is_empty() || !self.expression.is_empty() {
            return Vec::new();
        }
        let mut files = 0;
        let mut is_more = |word: &mut String| {
            files += usize::from(definition(word).is_none());
            files > 1 && definition(word).is_none()
        };
        self.words.extract_if(.., &mut is_more).collect()
    }

    /// For tools that read any number of configurations: as if each of them were the only one.
    pub fn one_each(&self) -> Vec<InputOptions> {
        let (defines, files): (Vec<_>, Vec<_>) =
            self.words.iter().cloned().partition(|w| definition(w).is_some());
        let none = InputOptions { words: defines, file: Vec::new(), expression: Vec::new(), ..self.clone() };
        let files = self.file.iter().cloned().chain(files);
        let files = files.map(|file| InputOptions { file: vec![file], ..none.clone() });
        let texts = self.expression.iter().cloned();
        let texts = texts.map(|text| InputOptions { expression: vec![text], ..none.clone() });
        files.chain(texts).collect()
    }

    /// The definitions among the words of the command line, `VAR=value`; the first of a name counts.
    pub fn defines(&self) -> Vec<(String, String)> {
        let mut defines: Vec<(String, String)> = Vec::new();
        let built = built::program().filter(|_| !self.is_given());
        let built = built.into_iter().flat_map(|built| built.defines.iter().filter_map(|w| definition(w)));
        for (name, value) in self.definitions().chain(built) {
            if !defines.iter().any(|(known, _)| known == name) {
                defines.push((name.to_string(), value.to_string()));
            }
        }
        defines
    }

    /// Names that are defined more than once.
    pub fn repeated(&self) -> Vec<&str> {
        let names: Vec<&str> = self.definitions().map(|(name, _)| name).collect();
        names
            .iter()
            .enumerate()
            .filter(|(n, name)| names[..*n].contains(name))
            .map(|(_, name)| *name)
            .collect()
    }

    fn definitions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.words.iter().filter_map(|w| definition(w))
    }

    /// The words of the command line that are definitions.
    pub fn definition_words(&self) -> Vec<String> {
        self.words.iter().filter(|w| definition(w).is_some()).cloned().collect()
    }

    /// Where libraries are sought.
    pub fn path(&self) -> ClickPath {
        ClickPath::new(self.clickpath.as_deref())
    }

    /// Whether the command line names a configuration at all; otherwise it is read from standard input.
    pub fn is_given(&self) -> bool {
        let named = self.words.iter().any(|w| definition(w).is_none());
        named || !self.file.is_empty() || !self.expression.is_empty()
    }

    /// The configuration; people are warned of definitions that change nothing in it.
    ///
    /// # Errors
    /// If there are two configurations, or it cannot be read.
    pub fn read(&self, report: &Report) -> Result<Input, String> {
        let input = self.input()?;
        if !report.click {
            self.unused(&input.text).iter().for_each(|warning| report.warning(warning));
        }
        Ok(input)
    }

    /// What to say about definitions of variables that the text does not have. Libraries may have them.
    fn unused(&self, text: &str) -> Vec<String> {
        let names = variables(text);
        let defined = self.definitions().map(|(name, _)| name);
        let unused = defined.filter(|name| !names.contains(name) && !text.contains("require"));
        let warning = |name: &str| match suggest(name, &names) {
            Some(near) => format!("the configuration has no variable ${name}; did you mean ${near}?"),
            None => format!("the configuration has no variable ${name}"),
        };
        unused.map(warning).collect()
    }

    /// The configuration.
    ///
    /// # Errors
    /// If there are two, or it cannot be read.
    fn input(&self) -> Result<Input, String> {
        let words = self.words.iter().filter(|w| definition(w).is_none());
        let files: Vec<&String> = self.file.iter().chain(words).collect();
        if let (Some(built), false) = (built::program(), self.is_given()) {
            return built.input();
        }
        match (files.as_slice(), self.expression.as_slice()) {
            ([], []) => unnamed(),
            ([], [text]) => Input::expression(text),
            ([file], []) => Input::read(&to_path(file)),
            _ => Err("router configuration specified twice".to_string()),
        }
    }
}

/// The configuration on standard input, where nobody named one.
///
/// # Errors
/// If it would have to be typed, which nobody expects, or cannot be read.
pub fn unnamed() -> Result<Input, String> {
    match std::io::stdin().is_terminal() {
        true => Err("no configuration: name a file, or '-' to type one".to_string()),
        false => Input::read("-".as_ref()),
    }
}

/// The names behind `$` and `${` in a text.
fn variables(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rests = text.split('$').skip(1).map(|rest| rest.strip_prefix('{').unwrap_or(rest));
    rests.map(|rest| &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]).collect()
}

/// `VAR=value` split, if the word is that.
fn definition(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_behind_dollars() {
        assert_eq!(variables("define($A 1, $B_2 x) ${A}$A/24 $"), ["A", "B_2", "A", "A", ""]);
    }

    #[test]
    fn definitions_begin_with_a_name() {
        assert_eq!(definition("A_1=x=y"), Some(("A_1", "x=y")));
        assert_eq!(definition("A="), Some(("A", "")));
        assert_eq!(definition("dir/a=b.click"), None);
        assert_eq!(definition("=b"), None);
    }
}
