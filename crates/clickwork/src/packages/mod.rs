//! Packages: element classes of other people, which a configuration asks for by `require(package NAME)`.
//!
//! A program cannot get classes while it runs. So a program that lacks a package has a driver built that has it, and
//! becomes that driver, with the same command line ([`driver`]). This file finds out which packages that are, and where
//! their crates are: where `--package` says, or `clickwork.toml`, or in the directories of CLICKPATH.

pub mod driver;

use crate::classes;
use crate::config::Input;
use crate::input::{InputOptions, READING};
use crate::report::Report;
use clap::Args;
use clickwork_driver_build::{MANIFEST, Package, Recipe, packages};
use clickwork_lang::{Options, Requirement, elaborate};
use clickwork_router::Registry;
use clickwork_source::text::to_path;
use clickwork_source::{Diagnostic, Diagnostics, Sources};
use std::path::{Path, PathBuf};

/// Packages that the command line names.
#[derive(Args, Debug, Clone, Default)]
pub struct PackageOptions {
    /// Use the element classes of the package (a Rust crate) in the folder PATH
    #[arg(long = "package", value_name = "PATH", help_heading = READING)]
    folders: Vec<PathBuf>,
}

/// Makes sure that the program has the packages that a configuration requires: otherwise becomes a driver that has them,
/// and does not return.
///
/// # Errors
/// If that is not possible.
pub fn ensure(options: &InputOptions, input: &Input, report: &Report) -> Result<(), String> {
    let (sources, complaints) = ensure_known(options, input, report)?;
    report.print(&sources, &complaints);
    match complaints.has_errors() {
        true => Err(format!("{}: it requires packages that are not there", input.name)),
        false => Ok(()),
    }
}

/// As [`ensure`], but a package that nobody knows the place of is only complained about, in what is returned: for tools
/// that need no class.
///
/// # Errors
/// If a package cannot be used.
pub fn ensure_known(
    options: &InputOptions,
    input: &Input,
    report: &Report,
) -> Result<(Sources, Diagnostics), String> {
    let registry = classes::registry();
    let Wanted { packages, sources, complaints } = wanted(options, input, &registry)?;
    match complaints.has_errors() || all_there(&packages, &registry) {
        true => Ok((sources, complaints)),
        false => Err(driver::become_one(packages, Some(input), report)),
    }
}

/// As [`ensure`], where there is no configuration.
///
/// # Errors
/// If that is not possible.
pub fn ensure_named(options: &PackageOptions, report: &Report) -> Result<(), String> {
    let named = options.read()?;
    match all_there(&named, &classes::registry()) {
        true => Ok(()),
        false => Err(driver::become_one(named, None, report)),
    }
}

/// Packages that a configuration and its command line ask for.
pub struct Wanted {
    /// Those that were found.
    pub packages: Vec<Package>,
    /// The texts that the complaints are about.
    pub sources: Sources,
    /// Those that were not.
    pub complaints: Diagnostics,
}

/// The packages that the command line names, and those that a configuration requires besides what there is.
///
/// # Errors
/// If one of them cannot be read.
pub fn wanted(options: &InputOptions, input: &Input, there: &Registry) -> Result<Wanted, String> {
    let named = options.packages.read()?;
    let (sources, missing) = missing(options, input, there);
    let mut packages = named.clone();
    let mut complaints = Diagnostics::new();
    for requirement in &missing {
        let folder = folder_of(sources.name(requirement.span.file));
        match find(&requirement.value, &named, &folder, options)? {
            Some(package) if packages.contains(&package) => {}
            Some(package) => packages.push(package),
            None => complaints.push(unavailable(requirement)),
        }
    }
    Ok(Wanted { packages, sources, complaints })
}

impl PackageOptions {
    fn read(&self) -> Result<Vec<Package>, String> {
        self.folders.iter().map(|folder| Package::in_folder(folder)).collect()
    }
}

/// Whether the program has these packages.
pub fn all_there(packages: &[Package], registry: &Registry) -> bool {
    packages.iter().all(|p| registry.provides(&p.name))
}

/// What a configuration requires that is not in the registry.
fn missing(options: &InputOptions, input: &Input, registry: &Registry) -> (Sources, Vec<Requirement>) {
    let mut sources = Sources::new();
    let file = sources.add(input.name.clone(), input.text.clone());
    if !input.text.contains("require") {
        return (sources, Vec::new());
    }
    let loader = options.path();
    let options = Options { defines: options.defines(), loader: &loader, ..Options::any_class() };
    let (graph, _) = elaborate(&mut sources, file, &options);
    (sources, unmet(graph.requirements, registry))
}

fn unmet(mut requirements: Vec<Requirement>, registry: &Registry) -> Vec<Requirement> {
    requirements.retain(|r| r.kind == "package" && !registry.provides(&r.value));
    requirements
}

/// Errors about what a configuration requires and this program does not have.
pub fn complaints(requirements: &[Requirement], registry: &Registry) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    unmet(requirements.to_vec(), registry).iter().for_each(|r| diagnostics.push(unavailable(r)));
    diagnostics
}

fn unavailable(requirement: &Requirement) -> Diagnostic {
    let name = &requirement.value;
    Diagnostic::error(requirement.span, format!("requirement '{name}' not available")).hint(format!(
        "say where its crate is: --package FOLDER, or a line '{name} = {{ path = \"FOLDER\" }}' under [packages] in {MANIFEST} \
         beside the configuration"
    ))
}

/// The folder of the file that a requirement is in.
fn folder_of(file: &str) -> PathBuf {
    let file = to_path(file);
    let folder = file.parent().filter(|_| file.is_file());
    folder.filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}

/// Where a package is: as the command line says, or the nearest `clickwork.toml`, or CLICKPATH.
fn find(
    name: &str,
    named: &[Package],
    folder: &Path,
    options: &InputOptions,
) -> Result<Option<Package>, String> {
    if let Some(package) = named.iter().find(|p| p.is_called(name)) {
        return Ok(Some(package.clone()));
    }
    if let Some(package) = packages(folder)?.into_iter().find(|p| p.is_called(name)) {
        return Ok(Some(package));
    }
    let folder = options.path().package(name);
    folder.map(|folder| Package::at(name, &folder)).transpose()
}

/// A recipe with all of the library.
fn recipe(packages: Vec<Package>) -> Recipe {
    Recipe { packages, selection: None }
}
