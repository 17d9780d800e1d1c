//! The program of a script: its configuration arguments, read as instructions.

use super::words::shift_word;
use clickwork_router::args::{FromArg, Names};

/// How a script ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Done; a signal script waits for the next signal, a packet script passes the packet on.
    End,
    /// Done for good; a packet script drops the packet.
    Exit,
    /// Done, and the driver is asked to stop.
    Stop,
    /// With an error.
    Error,
}

/// Where a jump leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    /// To the instruction of this number.
    To(usize),
    /// To the end of the script.
    End(Ending),
}

/// Text that is expanded when the instruction runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// As written.
    pub text: String,
    /// Whether a layer of quotes is removed (the `q` forms of instructions).
    pub unquote: bool,
}

/// A file that `print` writes to; standard output if the name is empty or `-`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Redirection {
    /// Its name, as written.
    pub file: String,
    /// Whether what is there stays.
    pub append: bool,
}

/// One step of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Stands before a first instruction that does not wait.
    Start,
    /// Waits for so many steps.
    Pause(u32),
    /// Waits for a length of time, or a step.
    Wait(String),
    /// Prints text or what a read handler says.
    Print {
        /// Where to.
        to: Redirection,
        /// What.
        what: Text,
        /// Whether the line is ended.
        newline: bool,
    },
    /// Prints a handler's name and what it says as a message.
    Read(Text),
    /// Calls a write handler.
    Write(Text),
    /// Sets a variable.
    Set(String, Text),
    /// Sets a variable once, when the script is initialised.
    Init(String, Text),
    /// The target of jumps.
    Label(String),
    /// Jumps, if the condition is empty or true.
    Goto(Jump, String),
    /// Ends with a value.
    Return(Text),
    /// Ends.
    End(Ending),
    /// Ends with an error message.
    Error(Text),
}

/// The variable that `return` sets.
pub const RETURN_VALUE: &str = "_";

/// The instructions of a script.
#[derive(Debug, Default)]
pub struct Program {
    /// The instructions, in order.
    pub code: Vec<Instruction>,
    /// The variables that instructions set, in the order of their first mention.
    pub variables: Vec<String>,
    /// The variables that have a read handler.
    pub exported: Vec<String>,
    /// Instructions with labels that are yet to be found: number, label, place in the configuration.
    jumps: Vec<(usize, String, usize)>,
}

/// What is wrong with an argument: its number and the complaint.
pub type Mistake = (usize, String);

impl Program {
    /// Reads the instructions of a script, which at its end asks the driver to stop if it `manages_driver`.
    ///
    /// # Errors
    /// All mistakes.
    pub fn parse(arguments: &[String], manages_driver: bool) -> Result<Program, Vec<Mistake>> {
        let mut program = Program::default();
        let mut mistakes = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            let (name, text) = shift_word(argument);
            if !name.is_empty() && program.read(name, text, place).is_none() {
                mistakes.push((place, format!("syntax error at '{name}'")));
            }
        }
        if program.code.is_empty() && manages_driver {
            program.code.push(Instruction::Pause(1));
        }
        program.find_labels(&mut mistakes);
        program.add(Instruction::End(if manages_driver { Ending::Stop } else { Ending::End }));
        if mistakes.is_empty() { Ok(program) } else { Err(mistakes) }
    }

    fn read(&mut self, name: &str, text: &str, place: usize) -> Option<()> {
        let (base, unquote) = match name {
            "setq" | "initq" | "exportq" | "printq" | "printnq" | "readq" | "writeq" | "returnq"
            | "errorq" => (&name[..name.len() - 1], true),
            _ => (name, false),
        };
        let what = Text { text: text.to_string(), unquote };
        match base {
            "pause" | "wait_step" | "wait_stop" => self.add(Instruction::Pause(count(text)?)),
            "wait" if text.is_empty() => self.add(Instruction::Pause(1)),
            "wait" | "wait_time" | "wait_for" => self.add(Instruction::Wait(what.text)),
            "print" | "printn" => self.add(print(what, base == "print")),
            "save" | "append" => self.add(save(text, base == "append")),
            "read" => self.add(Instruction::Read(what)),
            "write" => self.add(Instruction::Write(what)),
            "set" | "init" | "export" => self.assign(base, what)?,
            "return" => {
                self.variable(RETURN_VALUE);
                self.add(Instruction::Return(what));
            }
            "goto" => self.jump(text, place),
            "error" => self.add(Instruction::Error(what)),
            "label" => self.add(Instruction::Label(only_word(text)?)),
            "loop" | "end" | "exit" | "stop" if !text.is_empty() => return None,
            "loop" => self.jump("", place),
            _ => self.add(Instruction::End(ending(base).filter(|&e| e != Ending::Error)?)),
        }
        Some(())
    }

    /// Appends an instruction. The first one waits, or is preceded by one that can be waited for.
    fn add(&mut self, instruction: Instruction) {
        if self.code.is_empty() && !matches!(instruction, Instruction::Pause(_) | Instruction::Wait(_)) {
            self.code.push(Instruction::Start);
        }
        self.code.push(instruction);
    }

    fn variable(&mut self, name: &str) {
        if !self.variables.iter().any(|v| v == name) {
            self.variables.push(name.to_string());
        }
    }

    fn assign(&mut self, instruction: &str, what: Text) -> Option<()> {
        let (name, value) = shift_word(&what.text);
        if name.is_empty() || (instruction == "set" && value.is_empty()) {
            return None;
        }
        self.variable(name);
        let (name, what) = (name.to_string(), Text { text: value.to_string(), ..what });
        if instruction == "export" {
            self.exported.push(name.clone());
        }
        self.add(if instruction == "set" {
            Instruction::Set(name, what)
        } else {
            Instruction::Init(name, what)
        });
        Some(())
    }

    fn jump(&mut self, text: &str, place: usize) {
        let (label, condition) = shift_word(text);
        self.add(Instruction::Goto(Jump::To(0), condition.to_string()));
        if !label.is_empty() {
            self.jumps.push((self.code.len() - 1, label.to_string(), place));
        }
    }

    fn find_labels(&mut self, mistakes: &mut Vec<Mistake>) {
        for (at, label, place) in std::mem::take(&mut self.jumps) {
            match (self.label(&label), &mut self.code[at]) {
                (Some(found), Instruction::Goto(jump, _)) => *jump = found,
                _ => mistakes.push((place, format!("no such label '{label}'"))),
            }
        }
    }

    /// Where a label is; some names mean the beginning and the ends.
    pub fn label(&self, name: &str) -> Option<Jump> {
        let declared = |i: &Instruction| matches!(i, Instruction::Label(label) if label.as_str() == name);
        match self.code.iter().position(declared) {
            Some(at) => Some(Jump::To(at)),
            None if name == "begin" || name == "loop" => Some(Jump::To(0)),
            None => ending(name).map(Jump::End),
        }
    }
}

fn ending(name: &str) -> Option<Ending> {
    match name {
        "end" => Some(Ending::End),
        "exit" => Some(Ending::Exit),
        "stop" => Some(Ending::Stop),
        "error" | "errorq" => Some(Ending::Error),
        _ => None,
    }
}

fn count(text: &str) -> Option<u32> {
    if text.is_empty() { Some(1) } else { u32::from_arg(text, &Names::default()).ok() }
}

fn only_word(text: &str) -> Option<String> {
    let (word, rest) = shift_word(text);
    (!word.is_empty() && rest.is_empty()).then(|| word.to_string())
}

/// `[>FILE | >>FILE] WHAT`.
fn print(what: Text, newline: bool) -> Instruction {
    let Some(rest) = what.text.strip_prefix('>') else {
        return Instruction::Print { to: Redirection::default(), what, newline };
    };
    let (append, rest) = rest.strip_prefix('>').map_or((false, rest), |r| (true, r));
    let (file, text) = shift_word(rest);
    let to = Redirection { file: file.to_string(), append };
    Instruction::Print { to, what: Text { text: text.to_string(), ..what }, newline }
}

/// `HANDLER [FILE]`.
fn save(text: &str, append: bool) -> Instruction {
    let (handler, file) = shift_word(text);
    let what = Text { text: handler.to_string(), unquote: false };
    Instruction::Print { to: Redirection { file: file.to_string(), append }, what, newline: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Program, Vec<Mistake>> {
        Program::parse(&clickwork_router::args::split_args(text), false)
    }

    #[test]
    fn a_script_begins_with_something_to_wait_for_and_ends() {
        let code = |text| parse(text).unwrap().code;
        assert_eq!(code("pause 3"), [Instruction::Pause(3), Instruction::End(Ending::End)]);
        assert_eq!(code("stop")[..2], [Instruction::Start, Instruction::End(Ending::Stop)]);
        let driver = Program::parse(&[], true).unwrap();
        assert_eq!(driver.code, [Instruction::Pause(1), Instruction::End(Ending::Stop)]);
    }

    #[test]
    fn jumps_find_their_labels() {
        let program = parse("label a, goto b $x, goto exit, label b, goto a, loop, goto begin").unwrap();
        let jumps = program.code.iter().filter_map(|i| match i {
            Instruction::Goto(jump, condition) => Some((*jump, condition.as_str())),
            _ => None,
        });
        let start = (Jump::To(0), "");
        let expected = [(Jump::To(4), "$x"), (Jump::End(Ending::Exit), ""), (Jump::To(1), ""), start, start];
        assert_eq!(jumps.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn output_may_go_to_files() {
        let print = |text: &str| match parse(text).unwrap().code.remove(1) {
            Instruction::Print { to, what, .. } => (to.file, to.append, what.text),
            other => panic!("{other:?}"),
        };
        assert_eq!(print("print >a b c"), ("a".into(), false, "b c".into()));
        assert_eq!(print("printn >> a.b c"), ("a.b".into(), true, "c".into()));
        assert_eq!(print("save c.count f"), ("f".into(), false, "c.count".into()));
    }

    #[test]
    fn every_mistake_is_reported_at_its_place() {
        let mistakes =
            parse("pritn x, stop now, set x, label, goto nowhere, pause -1, label a b").unwrap_err();
        let expected =
            ["pritn", "stop", "set", "label", "pause", "label"].map(|i| format!("syntax error at '{i}'"));
        assert_eq!(mistakes.iter().map(|m| m.0).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6, 4]);
        assert_eq!(mistakes[..6].iter().map(|m| m.1.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(mistakes[6].1, "no such label 'nowhere'");
    }
}
