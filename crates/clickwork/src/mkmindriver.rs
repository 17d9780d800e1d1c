//! `clickwork mkmindriver` and `click-mkmindriver`: a driver with only the element classes that some configurations need.

use crate::config::{Input, Maker};
use crate::input::InputOptions;
use crate::output::reason;
use crate::packages::driver::{become_one, build};
use crate::packages::{Wanted, all_there, wanted};
use crate::report::Report;
use crate::{classes, output, tool};
use clap::{Arg, ArgAction, Command};
use clickwork_driver_build::{Package, Recipe, Selection, write_project};
use clickwork_lang::{ClassNames, ClassRef, Options, elaborate_structure};
use clickwork_router::{Class, Registry};
use clickwork_source::{Sources, suggest};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a driver that has only the element classes which configurations need
///
/// The driver is a program that takes the options of 'clickwork run', or if its name ends in 'click', those of 'click'. Code of
/// other element classes is not in it; a configuration that needs one of them gets an error that says so. Packages that the
/// configurations require are in it as a whole.
#[derive(clap::Args, Debug)]
#[command(mut_arg("folders", |a| a.long("with")), after_help = EXAMPLES)]
pub struct MkMinDriver {
    #[command(flatten)]
    input: InputOptions,
    /// Write the driver to FILE
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the driver to NAMEclick
    #[arg(short = 'p', long = "package", value_name = "NAME")]
    name: Option<String>,
    /// Where NAMEclick is written [default: .]
    #[arg(short, long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    directory: PathBuf,
    /// Include the element classes NAMES too, separated by spaces
    #[arg(short = 'E', long, value_name = "NAMES")]
    elements: Vec<String>,
    /// Include the classes that compound elements use even if those are not used
    #[arg(short, long, overrides_with = "no_all")]
    all: bool,
    #[arg(long, hide = true, overrides_with = "all")]
    no_all: bool,
    /// Leave out Align and IPNameInfo, which are included because other tools may put them into configurations
    #[arg(long, overrides_with = "extras")]
    no_extras: bool,
    #[arg(long, hide = true, overrides_with = "no_extras")]
    extras: bool,
    /// Print the names of the classes instead of building anything
    #[arg(long)]
    list: bool,
    /// Instead of building the driver, write all that cargo needs for it to the new folder DIR
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    project: Option<PathBuf>,
    /// Say which classes are included, and how large the driver is
    #[arg(short, long)]
    verbose: bool,
}

const EXAMPLES: &str = "Examples:
  clickwork mkmindriver router.click -o router-driver     then: ./router-driver router.click
  clickwork mkmindriver *.click -E 'Print ToDump' -o driver
  clickwork mkmindriver --list router.click               which classes that would be
  click-mkmindriver -p small router.click                 then: ./smallclick router.click";

/// Classes that the driver itself makes elements of: its options `-p`, `-u` and `--socket`.
const NEEDED: &[&str] = &["ControlSocket"];
/// Classes that tools put into configurations.
const EXTRAS: &[&str] = &["Align", "IPNameInfo"];

/// Runs as `click-mkmindriver`.
pub fn click_main(args: Vec<OsString>) -> ExitCode {
    tool::click_main("click-mkmindriver", args, click_options, run)
}

/// What Click's program can be told besides, and what has no meaning here.
fn click_options(command: Command) -> Command {
    let flag = |name| Arg::new(name).long(name).action(ArgAction::SetTrue).hide(true);
    let command = command.arg(flag("align").short('A')).arg(flag("check")).arg(flag("no-check"));
    tool::named_drivers(command).mut_arg("userlevel", |a| a.short('u'))
}

/// Runs the subcommand.
pub fn main(args: &MkMinDriver) -> ExitCode {
    run(args, &Report::human())
}

fn run(args: &MkMinDriver, report: &Report) -> ExitCode {
    tool::finish(report, || {
        let output = args.output_file()?;
        let configurations = args.configurations(report)?;
        let packages = packages(&configurations, report)?;
        let mut classes = Classes::new();
        classes.add_all(NEEDED);
        if !args.no_extras {
            classes.add_all(EXTRAS);
        }
        for name in args.elements.iter().flat_map(|names| names.split_whitespace()) {
            classes.add_named(name)?;
        }
        for configuration in &configurations {
            classes.add_used(configuration, args.all, report)?;
        }
        args.make(classes, packages, output, report)
    })
}

/// A configuration, and what the command line says about it.
struct Configuration {
    options: InputOptions,
    input: Input,
}

impl MkMinDriver {
    /// Where the driver goes; nowhere if none is built.
    fn output_file(&self) -> Result<Option<PathBuf>, String> {
        let named = self.name.as_ref().map(|name| self.directory.join(format!("{name}click")));
        match self.output.clone().or(named) {
            _ if self.list || self.project.is_some() => Ok(None),
            Some(file) => Ok(Some(file)),
            None => {
                Err("what is the driver to be called? Say '-o FILE', or '-p NAME' for NAMEclick".to_string())
            }
        }
    }

    fn configurations(&self, report: &Report) -> Result<Vec<Configuration>, String> {
        let mut all = self.input.one_each();
        if all.is_empty() && self.elements.is_empty() {
            all.push(self.input.clone());
        }
        let read = |options: InputOptions| Ok(Configuration { input: options.read(report)?, options });
        all.into_iter().map(read).collect()
    }

    fn make(
        &self,
        classes: Classes,
        packages: Vec<Package>,
        output: Option<PathBuf>,
        report: &Report,
    ) -> Result<(), String> {
        if self.list {
            let names = classes.names.iter().chain(classes.aliases.iter().map(|(alias, _)| alias));
            output::print(&names.map(|name| format!("{name}\n")).collect::<String>());
            return Ok(());
        }
        let selection = classes.selection();
        if self.verbose {
            let (included, all) = (&selection.classes, selection.classes.len() + selection.left_out.len());
            report.note(&format!("{} of {all} element classes: {}", included.len(), included.join(", ")));
        }
        let recipe = Recipe { packages, selection: Some(selection) };
        match (&self.project, output) {
            (Some(folder), _) => project(&recipe, folder),
            (None, Some(file)) => self.build(recipe, &file, report),
            (None, None) => Ok(()),
        }
    }

    fn build(&self, recipe: Recipe, file: &Path, report: &Report) -> Result<(), String> {
        let driver = build(recipe, report)?;
        let program = std::fs::read(&driver).map_err(|e| format!("{}: {}", driver.display(), reason(&e)))?;
        output::write_program(file, &program)?;
        if self.verbose {
            let whole = std::env::current_exe().and_then(std::fs::metadata).map_or(0, |m| m.len());
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            let (size, whole) = (megabytes(program.len() as u64), megabytes(whole));
            report.note(&format!("{}: {size:.1} MB; this program has {whole:.1} MB", file.display()));
        }
        Ok(())
    }
}

fn project(recipe: &Recipe, folder: &Path) -> Result<(), String> {
    if folder.exists() {
        return Err(format!("{}: it exists already", folder.display()));
    }
    write_project(recipe, folder)
}

/// The packages that the configurations require. Becomes a driver that knows their classes, if this program does not.
fn packages(configurations: &[Configuration], report: &Report) -> Result<Vec<Package>, String> {
    let mut all: Vec<Package> = Vec::new();
    for Configuration { options, input } in configurations {
        let Wanted { packages, sources, complaints } = wanted(options, input, &Registry::new())?;
        report.print(&sources, &complaints);
        if complaints.has_errors() {
            return Err(format!("{}: it requires packages that are not there", input.name));
        }
        all.extend(packages);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup();
    let stdin = configurations.iter().map(|c| &c.input).find(|input| input.is_stdin());
    match all_there(&all, &classes::registry()) {
        true => Ok(all),
        false => Err(become_one(all, stdin, report)),
    }
}

/// The classes to be included.
struct Classes {
    /// Those of the library alone: packages are included as they are.
    library: Registry,
    names: BTreeSet<String>,
    /// Other names, and the names of their classes.
    aliases: BTreeSet<(String, String)>,
}

impl Classes {
    fn new() -> Classes {
        let library = clickwork_elements::registry();
        Classes { library, names: BTreeSet::new(), aliases: BTreeSet::new() }
    }

    fn add_all(&mut self, names: &[&str]) {
        names.iter().for_each(|name| self.add(name));
    }

    /// Adds a class of the library; others come with their packages.
    fn add(&mut self, name: &str) {
        if let Some(class) = self.library.get(name) {
            self.names.insert(class.name.to_string());
            if class.name != name {
                self.aliases.insert((name.to_string(), class.name.to_string()));
            }
        }
    }

    fn add_named(&mut self, name: &str) -> Result<(), String> {
        let registry = classes::registry();
        if registry.contains(name) {
            self.add(name);
            return Ok(());
        }
        let near = suggest(name, registry.iter().map(|(name, _)| name));
        let hint = near.map_or(String::new(), |near| format!(": did you mean '{near}'?"));
        Err(format!("unknown element class '{name}'{hint}"))
    }

    /// Adds the classes of a configuration's elements, and those that it mentions if `all`.
    fn add_used(&mut self, configuration: &Configuration, all: bool, report: &Report) -> Result<(), String> {
        let Configuration { options, input } = configuration;
        let maker = Maker { defines: options.defines(), path: options.path(), ..Maker::new() };
        let registry = maker.registry_for(input);
        let (sources, graph, messages) = maker.elaborate(input, &registry);
        report.print(&sources, &messages);
        if messages.has_errors() {
            return Err(format!("{}: not a correct configuration", input.name));
        }
        let used = graph.elements.into_iter().map(|e| e.class);
        let mentioned = if all { mentioned(&maker, input) } else { Vec::new() };
        used.chain(mentioned).for_each(|name| self.add(base(&registry, &name, &self.library)));
        Ok(())
    }

    fn selection(self) -> Selection {
        let is_left_out =
            |name: &&str| !self.names.contains(*name) && !self.aliases.iter().any(|(a, _)| a == name);
        let left_out =
            self.library.iter().map(|(name, _)| name).filter(is_left_out).map(str::to_string).collect();
        Selection {
            classes: self.names.into_iter().collect(),
            aliases: self.aliases.into_iter().collect(),
            left_out,
        }
    }
}

/// The class of the library that a specialised one stands for.
fn base<'a>(registry: &Registry, name: &'a str, library: &Registry) -> &'a str {
    match registry.get(name) {
        Some(&Class { name: base, .. }) if library.get(name).is_none() => base,
        _ => name,
    }
}

/// The classes that compound classes of a configuration mention, used or not.
fn mentioned(maker: &Maker, input: &Input) -> Vec<String> {
    let mut sources = Sources::new();
    let file = sources.add(input.name.clone(), input.text.clone());
    let options = Options { loader: &maker.path, ..Options::any_class() };
    let (structure, _) = elaborate_structure(&mut sources, file, &options);
    let classes = structure.classes.into_iter().flat_map(|class| class.part.classes);
    let primitive = |class| match class {
        ClassRef::Primitive(name) => Some(name),
        ClassRef::Declared(_) => None,
    };
    classes.filter_map(primitive).collect()
}
