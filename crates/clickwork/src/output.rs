//! Writing to standard output and error: a reader that goes away ends the program's output, not the program.

use clickwork_source::text::{encode, shown};
pub use clickwork_toolchain::reason;
use clickwork_toolchain::replace;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

/// Prints text to standard output.
pub fn print(text: &str) {
    print_bytes(&encode(text));
}

/// Prints bytes to standard output.
pub fn print_bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Writes text to a file, or to standard output if it is called `-`.
///
/// # Errors
/// In Click's form, `FILE: reason`.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    write_bytes(file, &encode(text))
}

/// Writes bytes to a file, or to standard output if it is called `-`.
///
/// # Errors
/// In Click's form, `FILE: reason`.
pub fn write_bytes(file: &Path, bytes: &[u8]) -> Result<(), String> {
    if file == Path::new("-") {
        let mut out = io::stdout().lock();
        return match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("<stdout>: {}", reason(&e))),
            _ => Ok(()),
        };
    }
    replace(file, bytes, 0o666).map_err(|e| format!("{}: {}", shown(file), reason(&e)))
}

/// Writes an executable file; an old one goes on running undisturbed.
///
/// # Errors
/// In Click's form, `FILE: reason`.
pub fn write_program(file: &Path, program: &[u8]) -> Result<(), String> {
    let written = replace(file, program, 0o777);
    let executable = || {
        let about = std::fs::metadata(file)?;
        let mode = about.permissions().mode();
        // Who may read it may run it, also if an old file could only be read.
        match about.is_file() {
            true => std::fs::set_permissions(file, Permissions::from_mode(mode | (mode & 0o444) >> 2)),
            false => Ok(()),
        }
    };
    written.and_then(|()| executable()).map_err(|e| format!("{}: {}", shown(file), reason(&e)))
}

/// Prints an error to standard error and gives the exit status for it.
pub fn fail(message: &str) -> ExitCode {
    let _ = io::stderr().write_all(&encode(&format!("error: {message}\n")));
    ExitCode::FAILURE
}

/// Prints help, or what is wrong with the command line of a program of Click's, and gives the exit status for it: 1, as
/// Click, where `clap` would say 2.
pub fn usage(e: &clap::Error) -> ExitCode {
    let _ = e.print();
    ExitCode::from(u8::from(e.use_stderr()))
}
