//! What a script knows: its program, its variables, and where it stands.
//!
//! The state is shared between the element and the commands that run the script, since while a script runs, it may call
//! handlers of its own element. It is never locked while something outside is called.

use super::program::Program;
use super::words::{parse, shift_word};
use clickwork_router::args::unparse_bool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A script, as its element exports it.
#[derive(Debug)]
pub struct Script {
    /// The instructions.
    pub program: Program,
    /// When it runs.
    pub kind: Kind,
    state: Mutex<State>,
}

/// When a script runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// From the start of the router on.
    Active,
    /// When its `run` handler is called.
    Passive,
    /// For each packet.
    Packet,
    /// When any handler is called.
    Proxy,
    /// From the start on, and it decides when the driver stops.
    Driver,
    /// When one of these signals comes.
    Signal(Vec<i32>),
}

/// Where a script stands.
#[derive(Debug, Default)]
pub struct State {
    /// The next instruction.
    pub position: usize,
    /// Steps taken: waits that have ended.
    pub steps: i64,
    /// For each instruction, how many steps it has waited for.
    pub waited: Vec<u32>,
    /// Whether the start of the script is still to be counted as a step.
    pub starting: bool,
    /// Status of the last call of a write handler.
    pub write_status: i32,
    /// While a handler runs the script: steps that nested calls asked for.
    pub more_steps: Option<i64>,
    /// Whether a signal has come.
    pub signalled: bool,
    /// How the last call of a handler that runs or moves the script ended.
    pub call_status: i32,
    /// The parameter of the `run` handler.
    pub arguments: String,
    /// The handler that runs the script.
    pub handler: String,
    /// Whether that handler was written.
    pub is_write: bool,
    variables: Vec<(String, String)>,
}

impl State {
    /// The value of a variable of the script's own.
    pub fn variable(&self, name: &str) -> Option<&String> {
        self.variables.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The place of a variable of the script's own.
    pub fn variable_mut(&mut self, name: &str) -> Option<&mut String> {
        self.variables.iter_mut().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: String) {
        match self.variable_mut(name) {
            Some(place) => *place = value,
            None => self.variables.push((name.to_string(), value)),
        }
    }

    /// Jumps, and lets waits between `to` and `before` begin anew.
    pub fn jump(&mut self, to: usize, before: usize) {
        self.position = to;
        self.waited.iter_mut().take(before).skip(to).for_each(|w| *w = 0);
    }

    /// `$name`, where it is not a variable of the script's own.
    fn special(&self, name: &str) -> Option<String> {
        match name {
            "?" => Some(self.write_status.to_string()),
            "args" => Some(self.arguments.clone()),
            "$" => Some(std::process::id().to_string()),
            "0" => Some(self.handler.clone()),
            "#" => Some(words(&self.arguments).count().to_string()),
            "write" => Some(unparse_bool(self.is_write).to_string()),
            _ if name.starts_with(|c: char| ('1'..='9').contains(&c)) => {
                let index = parse::<u32>(name)? - 1;
                Some(words(&self.arguments).nth(index as usize).unwrap_or_default().to_string())
            }
            _ => None,
        }
    }
}

fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (word, rest) = shift_word(text);
        text = rest;
        (!word.is_empty()).then_some(word)
    })
}

impl Script {
    /// A script at its start.
    pub fn new(program: Program, kind: Kind) -> Script {
        let state = State {
            waited: vec![0; program.code.len()],
            variables: program.variables.iter().map(|v| (v.clone(), String::new())).collect(),
            ..State::default()
        };
        Script { program, kind, state: Mutex::new(state) }
    }

    /// Where it stands. To be held for a moment only.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of `$name`.
    pub fn value(&self, name: &str) -> Option<String> {
        let state = self.state();
        state.variable(name).cloned().or_else(|| state.special(name))
    }
}
