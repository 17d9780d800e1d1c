//! The compiler in the background. It compiles one text at a time, after it that which is wanted then, and nothing twice. It ends
//! with its owner.

use clickwork_compile::{CompileError, Leash, Library, Text, compile, library_name};
use std::collections::HashSet;
use std::thread::JoinHandle;

/// The compiler.
#[derive(Default)]
pub struct Compiler {
    leash: Leash,
    job: Option<Job>,
    /// What is to be compiled next.
    next: Option<Text>,
    /// The name of the code that is wanted now.
    wanted: Option<String>,
    /// The names of code that could not be compiled.
    failed: HashSet<String>,
}

/// A text that is being compiled.
struct Job {
    name: String,
    thread: JoinHandle<Result<Library, CompileError>>,
}

/// A text that has been compiled.
pub struct Done {
    pub made: Result<Library, CompileError>,
    /// Whether it is still what is wanted.
    pub is_wanted: bool,
}

impl Compiler {
    /// Says what code is wanted from now on, if any.
    pub fn want(&mut self, text: Option<Text>) {
        self.wanted = text.as_ref().map(library_name);
        self.next = text;
        self.begin();
    }

    /// Whether something is being compiled.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// What has been compiled since the last call, which begins with the next text.
    pub fn look(&mut self) -> Option<Done> {
        let Job { name, thread } = self.job.take_if(|job| job.thread.is_finished())?;
        let crashed = |_| Err(CompileError::new("the compiler's thread ended early".to_string()));
        let made = thread.join().unwrap_or_else(crashed);
        let is_wanted = self.wanted.as_ref() == Some(&name);
        if is_wanted {
            self.next = None;
        }
        if made.is_err() {
            self.failed.insert(name);
        }
        self.begin();
        Some(Done { made, is_wanted })
    }

    /// Begins to compile what is next, unless it is being compiled, or cannot be.
    fn begin(&mut self) {
        if self.job.is_some() {
            return;
        }
        let Some(text) = self.next.take() else { return };
        let name = library_name(&text);
        if !self.failed.contains(&name) {
            let leash = self.leash.clone();
            let thread = std::thread::spawn(move || compile(&text, &leash).map(|(library, _)| library));
            self.job = Some(Job { name, thread });
        }
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        self.leash.cut();
        if let Some(job) = self.job.take() {
            // It removes what it was at.
            let _ = job.thread.join();
        }
    }
}
