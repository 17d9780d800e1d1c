//! What a driver consists of, and the cargo project for it.

use crate::cache::{error, write};
use crate::package::{Package, quoted};
use clickwork_toolchain::Hash;
use std::fmt::Write as _;
use std::path::Path;

/// What a driver is to contain, besides what all have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Classes that are not in the library.
    pub packages: Vec<Package>,
    /// Which of the library's classes; all, if nothing is said.
    pub selection: Option<Selection>,
}

/// Some of the library's classes, for a minimal driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Their names.
    pub classes: Vec<String>,
    /// Other names for classes, and the names of those.
    pub aliases: Vec<(String, String)>,
    /// Names that the library has besides, for messages.
    pub left_out: Vec<String>,
}

/// Crates that packages can depend on, and their folders.
const CRATES: &[(&str, &str)] = &[
    ("clickwork-elements", "crates/elements"),
    ("clickwork-lang", "crates/click-lang"),
    ("clickwork-packet", "crates/packet"),
    ("clickwork-router", "crates/router"),
    ("clickwork-source", "crates/source"),
];

/// Crates of ours that handle packets while a router runs.
const FAST: &[&str] = &[
    "clickwork-classifier",
    "clickwork-device",
    "clickwork-elements",
    "clickwork-packet",
    "clickwork-prolac-tcp",
    "clickwork-router",
];

/// Lines for a `Cargo.toml` by which all crates take those of ours from `sources`: then their types are the same.
pub fn patches(sources: &Path) -> String {
    let line = |(name, folder): &(&str, &str)| dependency(name, &sources.join(folder));
    format!("[patch.crates-io]\n{}", CRATES.iter().map(line).collect::<String>())
}

fn dependency(name: &str, folder: &Path) -> String {
    format!("{name} = {{ path = {} }}\n", quoted(&folder.to_string_lossy()))
}

impl Recipe {
    /// A name for the driver: drivers of the same name are the same.
    pub(crate) fn key(&self, compiler: &str, sources: &Path) -> String {
        let hash = Hash::default().and(compiler.as_bytes());
        let hash = hash.and(self.manifest("", sources).as_bytes()).and(self.main().as_bytes());
        self.packages.iter().fold(hash, |hash, package| package.add_to(hash)).name()
    }

    /// Writes the cargo project of a driver called `name`.
    pub(crate) fn write(&self, name: &str, folder: &Path, sources: &Path) -> Result<(), String> {
        write(&folder.join("Cargo.toml"), self.manifest(name, sources).as_bytes())?;
        write(&folder.join("src/main.rs"), self.main().as_bytes())?;
        // The versions of other crates that the program itself was built with.
        let lock = folder.join(sources).join("Cargo.lock");
        let bytes = std::fs::read(&lock).map_err(|e| error(&lock, &e))?;
        write(&folder.join("Cargo.lock"), &bytes)
    }

    fn manifest(&self, name: &str, sources: &Path) -> String {
        let ours: String = [("clickwork", "crates/clickwork"), CRATES[0], CRATES[3]]
            .map(|(name, folder)| dependency(name, &sources.join(folder)))
            .concat();
        let packages: String = self.packages.iter().map(Package::dependency).collect();
        format!(
            "# A Clickwork driver, written by 'clickwork'.\n\
             [package]\nname = {}\nversion = {}\nedition = \"2024\"\n\n[workspace]\nexclude = [\"sources\"]\n\n\
             [dependencies]\n{ours}{packages}\n{}\n{}",
            quoted(name),
            quoted(env!("CARGO_PKG_VERSION")),
            patches(sources),
            self.profiles(),
        )
    }

    /// Packages are compiled again and again while they are written. So what handles packets is optimised, the rest less, and
    /// nothing as a whole. A minimal driver is made once, and should be small.
    fn profiles(&self) -> String {
        let dev = "[profile.dev]\ndebug = false\n";
        if self.selection.is_some() {
            let release = "[profile.release]\nstrip = \"symbols\"\nlto = \"thin\"\ncodegen-units = 4\n";
            return format!("{dev}\n{release}");
        }
        let fast = |name: &str| format!("\n[profile.release.package.{}]\nopt-level = 3\n", quoted(name));
        let handling_packets = FAST.iter().copied().chain(self.packages.iter().map(Package::crate_name));
        format!("{dev}\n[profile.release]\nopt-level = 1\n{}", handling_packets.map(fast).collect::<String>())
    }

    fn main(&self) -> String {
        let mut body = String::new();
        for package in &self.packages {
            let (name, identifier) = (&package.name, package.identifier());
            let _ = writeln!(body, "    registry.add_package({}, {identifier}::CLASSES);", quoted(name));
        }
        match &self.selection {
            None => format!(
                "//! A Clickwork driver with packages.\n\n\
                 fn main() -> std::process::ExitCode {{\n    \
                 let mut registry = clickwork_elements::registry();\n{body}    clickwork::main_with(registry)\n}}\n"
            ),
            Some(selection) => selection.main(&body),
        }
    }
}

impl Selection {
    fn main(&self, packages: &str) -> String {
        let classes: String = self.classes.iter().map(|c| format!("    class({}),\n", quoted(c))).collect();
        let left_out: String = self.left_out.iter().map(|c| format!("    {},\n", quoted(c))).collect();
        let alias = |(alias, class): &(String, String)| {
            format!("    registry.alias({}, const {{ class({}) }});\n", quoted(alias), quoted(class))
        };
        let aliases: String = self.aliases.iter().map(alias).collect();
        format!(
            "//! A minimal Clickwork driver.\n\n\
             use clickwork_elements::class;\n\
             use clickwork_router::{{Class, Registry}};\n\n\
             /// The classes that are in it.\n\
             static CLASSES: &[&Class] = &[\n{classes}];\n\n\
             /// Classes of the library that are not.\n\
             static LEFT_OUT: &[&str] = &[\n{left_out}];\n\n\
             fn main() -> std::process::ExitCode {{\n    \
             let mut registry = Registry::new();\n    \
             registry.add(CLASSES.iter().copied());\n    \
             registry.leave_out(LEFT_OUT);\n{aliases}{packages}    \
             clickwork::driver_main(registry)\n}}\n"
        )
    }
}
