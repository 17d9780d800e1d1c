//! The programs that show what a network does: `ping`, `traceroute`, `ip`, run on a host of the demonstration.

use super::lab::{Lab, Side};
use std::process::Command;

/// What a program said.
pub enum Answer {
    /// Its output.
    Said(String),
    /// It is not installed.
    Missing(&'static str),
}

/// Runs a program on a host. That it fails is for its output to show.
///
/// # Errors
/// If it cannot be run although it is installed.
pub fn run(lab: &Lab, side: Side, program: &'static str, args: &[&str]) -> Result<Answer, String> {
    if !is_installed(program) {
        return Ok(Answer::Missing(program));
    }
    let outcome = lab.command(side, program).args(args).output().map_err(|e| format!("{program}: {e}"))?;
    let text = [outcome.stdout, outcome.stderr].concat();
    Ok(Answer::Said(format!("$ {program} {}\n{}", args.join(" "), String::from_utf8_lossy(&text))))
}

fn is_installed(program: &str) -> bool {
    // Any exit status will do: the question is whether it can be started.
    Command::new(program).arg("-V").output().is_ok()
}
