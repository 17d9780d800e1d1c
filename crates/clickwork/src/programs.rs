//! The names under which the program can be called, besides its own.
//!
//! A tool with a name of its own adds a line to [`PROGRAMS`]; `clickwork links` then makes its link.

use crate::{
    align, check, click, combine, devirtualize, fastclassifier, flatten, mkmindriver, pretty, uncombine,
    undead, xform, xml,
};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A program that a link to this one stands for.
pub struct Program {
    /// The name of the link.
    pub name: &'static str,
    /// What it does, for the list that `clickwork links` prints.
    pub help: &'static str,
    /// Runs it with the whole command line, its own name first.
    pub main: fn(Vec<OsString>) -> ExitCode,
}

/// All of them.
pub const PROGRAMS: &[Program] = &[
    Program { name: "click", help: "runs a configuration", main: click::main },
    Program { name: "click-align", help: "puts in the Aligns that elements need", main: align::click_main },
    Program { name: "click-check", help: "checks a configuration", main: check::click_main },
    Program { name: "click-flatten", help: "removes compound elements", main: flatten::click_main },
    Program { name: "click-combine", help: "combines routers", main: combine::click_main },
    Program {
        name: "click-uncombine",
        help: "takes one of combined routers out",
        main: uncombine::click_main,
    },
    Program {
        name: "click-fastclassifier",
        help: "merges Classifiers, and has classifiers compiled",
        main: fastclassifier::click_main,
    },
    Program {
        name: "click-mkmindriver",
        help: "makes a driver with few element classes",
        main: mkmindriver::click_main,
    },
    Program { name: "click-undead", help: "removes dead code", main: undead::click_main },
    Program {
        name: "click-devirtualize",
        help: "specialises elements to their neighbours",
        main: devirtualize::click_main,
    },
    Program { name: "click-xform", help: "replaces patterns of elements", main: xform::click_main },
    Program { name: "click-pretty", help: "makes a web page of a configuration", main: pretty::click_main },
    Program { name: "click2xml", help: "writes a configuration as XML", main: xml::click_main },
];

/// The program that `called`, the first word of a command line, stands for.
pub fn called_as(called: &OsStr) -> Option<&'static Program> {
    let name = Path::new(called).file_name()?;
    PROGRAMS.iter().find(|p| name == p.name)
}
