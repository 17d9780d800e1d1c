//! Running a script, instruction by instruction, as far as it goes without waiting.

use super::call::Run;
use super::program::{Ending, Instruction, Jump, RETURN_VALUE, Redirection, Text};
use super::state::{Kind, Script};
use super::words::{parse, unquote};
use crate::capture::destination::Stream;
use clickwork_source::text;
use std::fs::OpenOptions;
use std::time::Duration;

/// A script that jumps so often without waiting is taken to be in an endless loop.
const MAX_JUMPS: u32 = 1000;
/// The element's timer that ends waits.
pub const WAIT_TIMER: u16 = 0;

/// Who advances a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A handler, a timer or a packet.
    Anyone,
    /// The driver, which was asked to stop.
    Driver,
}

/// How far a script came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stepped {
    /// Jumps so far.
    pub jumps: u32,
    /// It waits, or has returned: the driver goes on. False if it ended.
    pub waits: bool,
}

/// What follows an instruction.
enum Next {
    /// The next one.
    Go,
    /// Nothing for now; the instruction runs again.
    Wait,
    /// Nothing.
    Finish,
}

/// How a script, as it stands, would answer a call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// 0; 1 if it has stopped the driver; -1 if it ended with an error.
    pub status: i32,
    /// What it returned.
    pub value: String,
}

impl Script {
    /// Sets the variables of `init` and `export` instructions.
    pub fn set_initial_values(&self, run: &mut Run<'_>) {
        for instruction in &self.program.code {
            if let Instruction::Init(name, what) = instruction {
                let value = self.evaluate(what, run);
                self.state().set(name, value);
            }
        }
    }

    /// Runs past `steps` waits, and on to the next one.
    pub fn step(&self, steps: i64, by: By, jumps: u32, run: &mut Run<'_>) -> Stepped {
        let goal = self.state().steps + steps;
        let mut jumps = jumps;
        while jumps < MAX_JUMPS {
            let Some(at) = self.advance(goal) else { break };
            match self.execute(at, goal, by, run) {
                Next::Go if self.state().position != at + 1 => jumps += 1,
                Next::Go => {}
                Next::Wait => break,
                Next::Finish => return Stepped { jumps: jumps + 1, waits: false },
            }
        }
        if jumps >= MAX_JUMPS {
            self.give_up(run);
        }
        Stepped { jumps: jumps + 1, waits: true }
    }

    /// Takes the next instruction. The position moves on first, since the instruction may set it.
    fn advance(&self, goal: i64) -> Option<usize> {
        let mut state = self.state();
        let at = state.position;
        if state.steps > goal || at >= self.program.code.len() {
            return None;
        }
        state.position += 1;
        Some(at)
    }

    /// Whether the script has nothing left to run.
    pub fn is_over(&self) -> bool {
        self.state().position >= self.program.code.len()
    }

    fn give_up(&self, run: &mut Run<'_>) {
        let name = run.declaration();
        run.router.log().line(&format!("{name}: too many jumps, giving up"));
        self.state().position = self.program.code.len();
        run.router.unschedule_timer(run.me, WAIT_TIMER);
    }

    fn execute(&self, at: usize, goal: i64, by: By, run: &mut Run<'_>) -> Next {
        match &self.program.code[at] {
            Instruction::Start => self.start(),
            Instruction::Pause(count) => return self.pause(at, *count, goal),
            Instruction::Wait(time) => return self.wait(at, time, goal, run),
            Instruction::Print { to, what, newline } => self.print(to, what, *newline, run),
            Instruction::Read(what) => self.read(what, run),
            Instruction::Write(what) => {
                let call = run.expand(self, &what.text, false);
                if let Some(status) = run.write(&call, what.unquote) {
                    self.state().write_status = status;
                }
            }
            Instruction::Set(name, what) => {
                let value = self.evaluate(what, run);
                self.state().set(name, value);
            }
            Instruction::Init(..) | Instruction::Label(_) => {}
            Instruction::Goto(jump, condition) => return self.goto(at, *jump, condition, by, run),
            Instruction::Return(what) => {
                let value = self.evaluate(what, run);
                let mut state = self.state();
                state.set(RETURN_VALUE, value);
                // A call in the value may have sent the script elsewhere.
                if state.position == at + 1 {
                    state.position = at;
                    return Next::Wait;
                }
            }
            Instruction::End(ending) => return self.end(at, *ending, by, run),
            Instruction::Error(what) => {
                let message = self.evaluate(what, run);
                if !message.is_empty() {
                    run.report.error(&message);
                }
                return self.end(at, Ending::Error, by, run);
            }
        }
        Next::Go
    }

    fn start(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.starting) {
            state.steps += 1;
        }
    }

    fn pause(&self, at: usize, count: u32, goal: i64) -> Next {
        let mut state = self.state();
        let taken = (goal - state.steps).clamp(0, i64::from(count - state.waited[at].min(count)));
        state.waited[at] += taken as u32;
        state.steps += taken;
        if state.steps == goal && state.waited[at] < count {
            state.position = at;
            return Next::Wait;
        }
        Next::Go
    }

    fn wait(&self, at: usize, time: &str, goal: i64, run: &mut Run<'_>) -> Next {
        if self.state().steps == goal {
            if self.set_timer(time, run) {
                self.state().position = at;
            }
            return Next::Wait;
        }
        self.state().steps += 1;
        run.router.unschedule_timer(run.me, WAIT_TIMER);
        Next::Go
    }

    /// Sets the timer to what a `wait` instruction says. False if that is no time, which is reported.
    pub fn set_timer(&self, time: &str, run: &mut Run<'_>) -> bool {
        let time = run.expand(self, time, false);
        match parse::<Duration>(time.trim()) {
            Some(time) => run.router.schedule_timer_after(run.me, WAIT_TIMER, time),
            None => run.report.error("syntax error at 'wait'"),
        }
        parse::<Duration>(time.trim()).is_some()
    }

    fn goto(&self, at: usize, jump: Jump, condition: &str, by: By, run: &mut Run<'_>) -> Next {
        let condition = run.expand(self, condition, false);
        match (parse::<bool>(condition.trim()), jump) {
            (None, _) if !condition.is_empty() => {
                run.report.error(&format!("bad condition '{condition}'"));
            }
            (Some(false), _) => {}
            (_, Jump::To(to)) => self.state().jump(to, at),
            (_, Jump::End(ending)) => return self.end(at, ending, by, run),
        }
        Next::Go
    }

    fn end(&self, at: usize, ending: Ending, by: By, run: &mut Run<'_>) -> Next {
        let mut state = self.state();
        state.position = at;
        if ending == Ending::Stop {
            state.steps += 1;
            if by != By::Driver {
                run.router.request_stop();
            }
        }
        Next::Finish
    }

    fn evaluate(&self, what: &Text, run: &mut Run<'_>) -> String {
        let value = run.expand(self, &what.text, false);
        if what.unquote { unquote(&value) } else { value }
    }

    fn read(&self, what: &Text, run: &mut Run<'_>) {
        let call = run.expand(self, &what.text, false);
        if let Some((name, value)) = run.read(&call, what.unquote) {
            let value = text::decode(value);
            run.router.log().line(&format!("{name}:\n{value}"));
        }
    }

    fn print(&self, to: &Redirection, what: &Text, newline: bool, run: &mut Run<'_>) {
        let file = unquote(&run.expand(self, &to.file, true));
        if file.is_empty() || file == "-" {
            let text = self.printed(what, newline, run);
            return run.router.output().raw(&text);
        }
        // The file is there, and empty, before handlers are called.
        let (append, mut options) = (to.append, OpenOptions::new());
        let options = options.create(true).write(true).append(append).truncate(!append);
        let opened = Stream::open_once(options, &text::to_path(&file));
        let written = opened.and_then(|stream| stream.write_once(&self.printed(what, newline, run)));
        if let Err(e) = written {
            run.report.error(&format!("{file}: {}", crate::capture::error::system_message(&e)));
        }
    }

    /// What `print` prints: what a handler says if the text looks like one, otherwise the text.
    fn printed(&self, what: &Text, newline: bool, run: &mut Run<'_>) -> Vec<u8> {
        let before = run.report.errors();
        let is_handler = what.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@' || c == '_');
        let mut text = if is_handler {
            let call = run.expand(self, &what.text, false);
            run.read(&call, what.unquote).map(|(_, value)| value).unwrap_or_default()
        } else {
            clickwork_lang::config::unquote(&run.expand(self, &what.text, true))
        };
        if newline && run.report.errors() == before && text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        text
    }

    /// How the script has ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        match self.program.code.get(self.state().position)? {
            Instruction::End(ending) | Instruction::Goto(Jump::End(ending), _) => Some(*ending),
            Instruction::Error(_) => Some(Ending::Error),
            _ => None,
        }
    }

    /// Whether the script waits for time to pass or to be stepped.
    pub fn is_waiting(&self) -> bool {
        let at = self.state().position;
        matches!(self.program.code.get(at), Some(Instruction::Pause(_) | Instruction::Wait(_)))
    }

    /// How the script would answer a call.
    pub fn answer(&self) -> Answer {
        let ending = self.ending();
        let status = match ending {
            None | Some(Ending::End | Ending::Exit) => 0,
            Some(Ending::Stop) => 1,
            Some(Ending::Error) => -1,
        };
        let state = self.state();
        let value = match self.program.code.get(state.position) {
            Some(Instruction::Return(_)) => state.variable(RETURN_VALUE).cloned().unwrap_or_default(),
            _ if ending == Some(Ending::End) && self.kind == Kind::Packet => "0".to_string(),
            _ => String::new(),
        };
        Answer { status, value }
    }
}
