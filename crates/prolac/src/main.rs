//! The program `prolacc`. See [`clickwork_prolac::driver::cli`].
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    clickwork_prolac::driver::cli::main()
}
