//! What some tests need beside Rust and a C compiler: programs to compare with, root, parts of the kernel.
//!
//! A test says at its beginning what it needs. Where that is not there the test ends and is reported as *ignored*, with the reason. What
//! a machine could be given (a program, root) must be there if `REQUIRE_ORACLES=1` is in the environment: then the test fails. What is the
//! machine's nature, such as a kernel without bridges, is never a failure.
//!
//! The harness of `#[test]` knows no test that turns out to be ignored. So tests with needs are in targets of their own, with
//! `harness = false` in `Cargo.toml`, whose functions are listed once:
//!
//! ```
//! fn tshark_reads_our_captures() {
//!     clickwork_oracles::program("tshark");
//! }
//!
//! clickwork_oracles::tests! { tshark_reads_our_captures }
//! ```
//!
//! Tests also get names and addresses here that nobody else has, see [`unique`].
//!
//! A function that is not listed is dead code, of which the compiler warns; a `#[test]` in such a target fails the tests of this crate.
#![forbid(unsafe_code)]

mod c;
mod unique;

use libtest_mimic::{Arguments, Completion, Failed};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

pub use c::{SANITIZERS, c_compiler};
pub use libtest_mimic::Trial;
pub use unique::{loopback, script, unique, unused};

/// The main function of a target: it runs these functions, by the paths that they have here.
#[macro_export]
macro_rules! tests {
    ($($test:path),* $(,)?) => {
        fn main() {
            $crate::run(vec![$($crate::test(stringify!($test), $test)),*]);
        }
    };
}

/// Runs tests as the arguments of the program say, and ends it. `ORACLE_TESTS=FILE` leaves out those whose names are not lines of
/// the file: `.ci/run` runs so what was ignored before.
pub fn run(mut tests: Vec<Trial>) -> ! {
    if let Some(file) = std::env::var_os("ORACLE_TESTS") {
        let names = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        tests.retain(|test| names.lines().any(|name| name == test.name()));
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit()
}

/// A test which may find that something is missing.
pub fn test(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    fallible(name, || {
        test();
        Ok(())
    })
}

/// The same for a test that says what is wrong.
pub fn fallible(name: &str, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, || match catch_unwind(AssertUnwindSafe(test)) {
        Ok(result) => result.map(|()| Completion::Completed),
        Err(panic) => match panic.downcast::<Absent>() {
            Ok(absent) => Ok(Completion::ignored_with(absent.0)),
            Err(panic) => resume_unwind(panic),
        },
    })
}

/// What an ignored test ends with: the reason.
struct Absent(String);

/// The test needs a program that may not be installed.
pub fn program(name: &str) {
    if !is_installed(name) {
        missing(&format!("{name} is not installed"));
    }
}

/// Whether a program is in the search path.
pub fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(name)))
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The test needs root.
pub fn root() {
    if !rustix::process::geteuid().is_root() {
        missing("it needs root");
    }
}

/// The test makes network namespaces: it needs root and `ip`.
pub fn namespaces() {
    root();
    program("ip");
}

/// Something that could be installed or granted is not there: the test is ignored, or fails if it must not be.
pub fn missing(reason: &str) -> ! {
    match std::env::var_os("REQUIRE_ORACLES").is_some_and(|value| value == "1") {
        true => panic!("{reason}, and REQUIRE_ORACLES is set"),
        false => lacking(reason),
    }
}

/// The machine cannot have what the test needs: it is ignored.
pub fn lacking(reason: &str) -> ! {
    resume_unwind(Box::new(Absent(reason.to_string())))
}
