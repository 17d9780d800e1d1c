//! `prolacc run`: calls a method in the interpreter.

use std::path::Path;
use std::process::ExitCode;

use super::Input;

/// Call a method of a program without compiling it
///
/// The program is interpreted by the rules of the language, without any optimisation. What the method returns is printed.
/// C code cannot be run so.
#[derive(clap::Args, Debug)]
#[command(override_usage = "prolacc run [OPTIONS] <FILE>... <MODULE.METHOD> [ARGUMENT]...")]
pub struct Run {
    #[command(flatten)]
    input: Input,
}

/// Runs the command.
pub fn run(mut args: Run) -> ExitCode {
    // The first word that is no file is the method.
    let is_file = |word: &String| word == "-" || word.starts_with('@') || Path::new(word).is_file();
    let words = &mut args.input.files;
    let method = words.iter().skip(1).position(|word| !is_file(word)).map(|at| at + 1);
    let Some(method) = method else {
        args.input.messages().error("name a method after the files: MODULE.METHOD");
        return ExitCode::from(2);
    };
    let call = words.split_off(method);
    args.input.compile(args.input.options(), |compilation| {
        Some((compilation.run(&call[0], &call[1..])?, Vec::new()))
    })
}
