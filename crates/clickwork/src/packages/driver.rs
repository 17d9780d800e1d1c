//! Having a driver built, and becoming it.

use super::recipe;
use crate::config::Input;
use crate::output::reason;
use crate::report::Report;
use crate::run::ERASE;
use clickwork_driver_build::{Driver, Event, Failure, Package, Recipe};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Becomes a driver with these packages, which then does what this program was called for. Returns only if that is not
/// possible: why.
pub fn become_one(packages: Vec<Package>, input: Option<&Input>, report: &Report) -> String {
    match build(recipe(packages), report).and_then(|driver| Ok((other(driver)?, input))) {
        Ok((driver, input)) => exec(driver, input),
        Err(e) => e,
    }
}

/// The driver for a recipe: one that is there, or a new one. People are told how that goes on.
///
/// # Errors
/// If it cannot be built.
pub fn build(recipe: Recipe, report: &Report) -> Result<PathBuf, String> {
    let packages = recipe.packages.clone();
    let driver = Driver::new(recipe)?;
    if let Some(program) = driver.built() {
        return Ok(program);
    }
    let progress = Progress { status: io::stderr().is_terminal() };
    let long = if driver.is_first() { "; the first time this takes a minute or two" } else { "" };
    report.note(&format!("building a driver{}{long}", names(&packages)));
    let built = driver.build(report.color, &mut |event| progress.tell(event));
    progress.end();
    built.map_err(|failure| explain(&failure, &packages))
}

/// ` with the package 'a'`.
fn names(packages: &[Package]) -> String {
    let names: Vec<String> = packages.iter().map(|p| format!("'{}'", p.name)).collect();
    match names.len() {
        0 => String::new(),
        1 => format!(" with the package {}", names[0]),
        _ => format!(" with the packages {}", names.join(", ")),
    }
}

/// The driver, unless it is this program: then going on would lead here again.
fn other(driver: PathBuf) -> Result<PathBuf, String> {
    match std::env::current_exe() {
        Ok(this) if this == driver => {
            Err(format!("{}: this driver lacks the package that it was built with", driver.display()))
        }
        _ => Ok(driver),
    }
}

/// Replaces this process. What was read from standard input is there to be read again.
fn exec(driver: PathBuf, input: Option<&Input>) -> String {
    if let Some(input) = input.filter(|input| input.is_stdin())
        && let Err(e) = give_back(&input.to_bytes())
    {
        return format!("<stdin>: {}", reason(&e));
    }
    let mut args = std::env::args_os();
    let called = args.next().unwrap_or_else(|| driver.clone().into());
    let e = Command::new(&driver).arg0(called).args(args).exec();
    format!("{}: {}", driver.display(), reason(&e))
}

/// Makes standard input a file with these bytes.
fn give_back(bytes: &[u8]) -> io::Result<()> {
    let mut file = File::from(memfd_create("configuration", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(rustix::stdio::dup2_stdin(&file)?)
}

/// What a person sees while cargo works.
struct Progress {
    /// Whether there is a line that says what is being done.
    status: bool,
}

impl Progress {
    fn tell(&self, event: Event<'_>) {
        let mut out = io::stderr().lock();
        let _ = match event {
            Event::Compiling(name) if self.status => self.show(&mut out, "compiling", name),
            Event::Downloading(name) if self.status => self.show(&mut out, "downloading", name),
            Event::Compiling(_) | Event::Downloading(_) => Ok(()),
            Event::Message(line) => {
                self.end();
                writeln!(out, "{line}")
            }
        };
    }

    fn show(&self, out: &mut impl Write, what: &str, name: &str) -> io::Result<()> {
        // The folder of a crate would not fit in a line.
        let name = name.split(" (").next().unwrap_or(name);
        out.write_all(ERASE)?;
        write!(out, "{what} {name}")?;
        out.flush()
    }

    fn end(&self) {
        if self.status {
            let _ = io::stderr().lock().write_all(ERASE);
        }
    }
}

fn explain(failure: &Failure, packages: &[Package]) -> String {
    match failure {
        Failure::System(reason) => reason.clone(),
        Failure::Cargo(_) => "the driver could not be built; cargo says why".to_string(),
        Failure::Compile(name) => match packages.iter().find(|p| p.crate_name() == name) {
            Some(package) => format!("the package '{}' does not compile", package.name),
            None if name.starts_with("driver-") => {
                "the driver does not compile; a package should have a line 'pub static CLASSES: \
                 &[&clickwork_router::Class] = &[...];' and depend on clickwork-router by its version"
                    .to_string()
            }
            None => format!("the driver could not be built: the crate '{name}' does not compile"),
        },
    }
}
