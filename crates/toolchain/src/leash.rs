//! Programs that end when this one does, however it ends, with all that they started.
//!
//! Such a program has a guard: a shell that reads from a pipe whose other end is the *leash*. The leash is cut by
//! [`Leash::cut`], or by the system when this program ends; then the guard kills the program's process group.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Becomes the program, and leaves the guard behind. A line says that all is well.
const GROUP: &str = r#"exec 3<&0 </dev/null
{ read -r _ <&3 || kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&- "$0" "$@""#;
/// The same in the process group of this program, which must be spared.
const ALONE: &str = r#"exec 3<&0 </dev/null
{ read -r _ <&3 || kill -KILL $$; } >/dev/null 2>&1 &
exec 3<&- "$0" "$@""#;
const SHELL: &str = "/bin/sh";

/// What holds programs, of which there can be several.
#[derive(Clone, Debug, Default)]
pub struct Leash(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_cut: bool,
    held: Vec<(u32, ChildStdin)>,
}

/// How much is killed when a leash is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The program and all that it started. It cannot ask anything on the terminal.
    Group,
    /// The program alone. What is typed on the terminal (Ctrl-C) reaches all that it started.
    Alone,
}

/// A program to be held. Arguments and the like can be added; standard input is taken.
pub fn leashed(program: &Path, reach: Reach) -> Command {
    let mut command = Command::new(SHELL);
    let script = if reach == Reach::Group { GROUP } else { ALONE };
    command.args(["-c", script]).arg(program).stdin(Stdio::piped());
    if reach == Reach::Group {
        command.process_group(0);
    }
    command
}

impl Leash {
    /// Ends all that is held, and what will be.
    pub fn cut(&self) {
        let mut state = self.state();
        state.is_cut = true;
        state.held.clear();
    }

    /// Whether it was cut.
    pub fn is_cut(&self) -> bool {
        self.state().is_cut
    }

    /// Starts a program made by [`leashed`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self, command: &mut Command) -> io::Result<Child> {
        let mut child = command.spawn()?;
        let mut state = self.state();
        if let Some(end) = child.stdin.take()
            && !state.is_cut
        {
            state.held.push((child.id(), end));
        }
        Ok(child)
    }

    /// Takes note that a program has ended.
    pub fn release(&self, id: u32) {
        let mut state = self.state();
        if let Some(at) = state.held.iter().position(|(held, _)| *held == id) {
            let (_, mut end) = state.held.swap_remove(at);
            let _ = end.write_all(b"\n");
        }
    }

    /// Runs a program made by [`leashed`] to its end; what it said.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run(&self, command: &mut Command) -> io::Result<Output> {
        let child = self.start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let id = child.id();
        let output = child.wait_with_output();
        self.release(id);
        output
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn sh(reach: Reach, script: &str) -> Command {
        let mut command = leashed(Path::new(SHELL), reach);
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_held_program_says_what_it_would_and_its_status_is_its_own() {
        for reach in [Reach::Group, Reach::Alone] {
            let leash = Leash::default();
            let output = leash.run(&mut sh(reach, "cat; echo out; echo err >&2; exit 7")).unwrap();
            let said = (output.stdout.as_slice(), output.stderr.as_slice(), output.status.code());
            assert_eq!(said, (b"out\n".as_slice(), b"err\n".as_slice(), Some(7)));
            let killed = leash.run(&mut sh(reach, "kill -TERM $$")).unwrap();
            assert_eq!(killed.status.signal(), Some(15));
            assert!(leash.state().held.is_empty());
        }
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let leash = Leash::default();
        // The pipe stays open as long as any of them lives.
        let command = &mut sh(Reach::Group, "sleep 1000 & sleep 1000 & echo here; wait");
        let mut child = leash.start(command.stdout(Stdio::piped())).unwrap();
        let mut said = io::BufReader::new(child.stdout.take().unwrap());
        io::BufRead::read_line(&mut said, &mut String::new()).unwrap();
        leash.cut();
        assert_eq!(io::read_to_string(said).unwrap(), "");
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        let late = leash.run(&mut sh(Reach::Alone, "exec sleep 1000")).unwrap();
        assert_eq!(late.status.signal(), Some(9), "a leash that was cut holds nothing");
    }
}
