//! Writing to standard output and error: a reader that goes away ends the program's output, not the program.

use std::io::{self, Write};
use std::process::ExitCode;

/// Prints text to standard output.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// Prints bytes to standard output.
pub fn print_bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Prints an error to standard error and gives the exit status for it.
pub fn fail(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::FAILURE
}

/// An error of the system without the number that Rust adds: `No such file or directory`.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}
