//! The program with the element classes that come with it. What it does is the library beside it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    clickwork::main_with(clickwork_elements::registry())
}
