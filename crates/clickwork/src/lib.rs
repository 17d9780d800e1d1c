//! The `clickwork` program: one binary that is also `click` and Click's tools when called by their names.
//!
//! Start with [`programs`] (which name means what) and [`cli`] (the subcommands). Each subcommand has a file or folder
//! of its own; [`config`] reads configurations for all of them and [`report`] prints what is wrong with them.
//!
//! It is a library, so that a program with other element classes is one line: see `main.rs`.
#![forbid(unsafe_code)]

mod align;
mod build;
mod built;
mod check;
mod classes;
mod cli;
mod click;
mod combine;
mod completions;
mod config;
mod control;
mod ctl;
mod demo;
mod devirtualize;
mod doc;
mod fastclassifier;
mod flatten;
mod fmt;
mod graph;
mod input;
mod links;
mod list;
mod mkmindriver;
mod new;
mod output;
mod overview;
mod packages;
mod pretty;
mod programs;
mod report;
mod run;
mod tool;
mod uncombine;
mod undead;
mod written;
mod xform;
mod xml;

use clickwork_router::Registry;
use std::process::ExitCode;

/// Runs the program, whose routers may use the classes of `registry`.
pub fn main_with(registry: Registry) -> ExitCode {
    classes::set(registry);
    match built::find() {
        Ok(true) => return run::built_main(),
        Ok(false) => {}
        Err(e) => return output::fail(&e),
    }
    let mut args = std::env::args_os();
    let called = args.next().unwrap_or_default();
    match programs::called_as(&called) {
        Some(program) => (program.main)(std::env::args_os().collect()),
        None => cli::main(),
    }
}

/// Runs routers of the classes of `registry`, and does nothing else. Called NAMEclick, it takes the options of `click`.
pub fn driver_main(registry: Registry) -> ExitCode {
    classes::set(registry);
    let called = std::env::args_os().next().unwrap_or_default();
    match called.to_string_lossy().ends_with("click") {
        true => click::minimal_main(std::env::args_os().collect()),
        false => run::minimal_main(),
    }
}
