//! The handlers of scripts that run them, move them, and see their variables.

use super::call::Run;
use super::interpreter::{Answer, By, Stepped};
use super::program::{Ending, Jump};
use super::report::Report;
use super::state::{Kind, Script};
use super::words::{parse, shift_word};
use super::{arithmetic, text};
use clickwork_router::handler::{Action, RouterFn};
use clickwork_router::router::StopDecision;
use clickwork_router::{ElementId, Handler, Router, Value};
use std::sync::Arc;

type Reply = Result<Value, String>;

/// The status of a call that was refused: Click's -EINVAL.
pub const EINVAL: i32 = -22;

const fn reads(name: &'static str, help: &'static str, f: RouterFn) -> Handler {
    Handler { read: Some(Action::Router(f)), parameter: true, ..Handler::none(name, help) }
}

const fn writes(name: &'static str, help: &'static str, f: RouterFn) -> Handler {
    Handler { write: Some(Action::Router(f)), ..Handler::none(name, help) }
}

const fn computes(name: &'static str, help: &'static str, f: RouterFn) -> Handler {
    reads(name, help, f)
}

/// The handlers of Script and DriverManager.
pub const HANDLERS: &[Handler] = &[
    writes(
        "step",
        "ends the present wait, or so many waits; 'router': as a stop request does",
        |r, id, text| {
            if clickwork_lang::config::uncomment(text).trim() == "router" {
                return command(r, id, "step", Start::Driver);
            }
            // A number below zero steps not at all.
            let steps = if text.trim().is_empty() { Some(1) } else { parse::<i32>(text.trim()) };
            match steps {
                Some(steps) => command(r, id, "step", Start::Step(steps.into())),
                None => {
                    script(r, id)?.call_ended(EINVAL);
                    Err("syntax error".to_string())
                }
            }
        },
    ),
    writes("goto", "goes on at a label", |r, id, text| {
        let label = clickwork_lang::config::uncomment(text);
        command(r, id, "goto", Start::Goto(label))
    }),
    reads("run", "runs the script from its beginning; reads what it returns", |r, id, text| {
        ask(r, id, "run", text)
    })
    .and_write(writes("", "", |r, id, text| command(r, id, "run", Start::Run(text.to_string())))),
    computes("add", "the sum of numbers", |_, _, t| arithmetic::fold(arithmetic::Fold::Add, t)),
    computes("sub", "the first number less the others", |_, _, t| arithmetic::fold(arithmetic::Fold::Sub, t)),
    computes("mul", "the product of numbers", |_, _, t| arithmetic::fold(arithmetic::Fold::Mul, t)),
    computes("div", "the first number divided by the others", |_, _, t| {
        arithmetic::fold(arithmetic::Fold::Div, t)
    }),
    computes("idiv", "the same, without fraction", |_, _, t| arithmetic::fold(arithmetic::Fold::Idiv, t)),
    computes("min", "the least of numbers", |_, _, t| arithmetic::fold(arithmetic::Fold::Min, t)),
    computes("max", "the greatest of numbers", |_, _, t| arithmetic::fold(arithmetic::Fold::Max, t)),
    computes("mod", "the remainder of two integers", |_, _, t| arithmetic::remainder(t, false)),
    computes("rem", "the remainder of two numbers", |_, _, t| arithmetic::remainder(t, true)),
    computes("neg", "a number's negative", |_, _, t| arithmetic::negative(t)),
    computes("abs", "a number's absolute value", |_, _, t| arithmetic::absolute(t)),
    computes("eq", "whether two values are equal", |_, _, t| arithmetic::compare(t, |o| o.is_eq())),
    computes("ne", "whether two values differ", |_, _, t| arithmetic::compare(t, |o| o.is_ne())),
    computes("gt", "whether the first value is greater", |_, _, t| arithmetic::compare(t, |o| o.is_gt())),
    computes("ge", "whether the first value is not less", |_, _, t| arithmetic::compare(t, |o| o.is_ge())),
    computes("lt", "whether the first value is less", |_, _, t| arithmetic::compare(t, |o| o.is_lt())),
    computes("le", "whether the first value is not greater", |_, _, t| arithmetic::compare(t, |o| o.is_le())),
    computes("htons", "a 16-bit number in network order", |_, _, t| arithmetic::swap16(t)),
    computes("ntohs", "a 16-bit number in host order", |_, _, t| arithmetic::swap16(t)),
    computes("htonl", "a 32-bit number in network order", |_, _, t| arithmetic::swap32(t)),
    computes("ntohl", "a 32-bit number in host order", |_, _, t| arithmetic::swap32(t)),
    computes("random", "a number below N, or from N1 to N2", |r, _, t| arithmetic::random(r, t)),
    computes("not", "whether a truth value is false", |_, _, t| text::not(t)),
    computes("and", "whether all truth values are true", |_, _, t| text::all(t, true, false)),
    computes("or", "whether a truth value is true", |_, _, t| text::all(t, false, false)),
    computes("nand", "false, as in Click", |_, _, t| text::nand(t)),
    computes("nor", "whether no truth value is true", |_, _, t| text::all(t, false, true)),
    computes("if", "the second word if the first is true, else the third", |_, _, t| text::choose(t)),
    computes("in", "whether the first word is among the others", |_, _, t| text::is_in(t)),
    computes("first", "the first word", |_, _, t| Ok(shift_word(t).0.into())),
    computes("length", "the number of bytes", |_, _, t| Ok(clickwork_source::text::encode(t).len().into())),
    computes("unquote", "without a layer of quotes", |_, _, t| Ok(clickwork_lang::config::unquote(t).into())),
    computes("sprintf", "words formatted as the first says", |_, _, t| super::sprintf::sprintf(t)),
    Handler { parameter: false, ..reads("now", "the time", |r, _, _| Ok(r.clock().now().into())) },
    computes("readable", "whether handlers can be read", |r, id, t| text::accessible(r, id, t, false)),
    computes("writable", "whether handlers can be written", |r, id, t| text::accessible(r, id, t, true)),
    computes("cat", "what is in a file", |_, _, t| text::file(t)).private(),
    computes("catq", "what is in a file, quoted", |_, _, t| {
        Ok(clickwork_lang::config::quote_bytes(&text::file(t)?.0).into())
    })
    .private(),
    computes("kill", "sends a signal to processes", |_, _, t| super::signal::kill(t)).private(),
    reads("get", "the value of a variable", get),
    writes("set", "sets a variable: its name, then the value", |r, id, text| {
        let (name, value) = shift_word(text);
        match name {
            "" => return Err("no variable".to_string()),
            "args" => script(r, id)?.state().arguments = value.to_string(),
            _ => script(r, id)?.state().set(name, value.to_string()),
        }
        Ok(Value::default())
    }),
    reads("shift", "takes the first word off a variable, or off the arguments", shift),
];

/// A handler named after an exported variable; the name comes first in the text.
pub const EXPORTED: Handler = Handler {
    parameter: false,
    ..reads("", "the value of a variable of the script", |r, id, text| {
        Ok(script(r, id)?.state().variable(shift_word(text).0).cloned().unwrap_or_default().into())
    })
};

/// Any handler of a proxy script; its name comes first in the text.
pub const PROXIED: Handler = reads("", "runs the script", |r, id, text| {
    let (name, text) = text.split_once(' ').unwrap_or((text, ""));
    ask(r, id, name, text)
})
.and_write(writes("", "", |r, id, text| {
    let (name, text) = text.split_once(' ').unwrap_or((text, ""));
    command(r, id, name, Start::Run(text.to_string()))
}));

/// The script of an element.
pub fn script(router: &Router, id: ElementId) -> Result<Arc<Script>, String> {
    router.exported(id).ok_or_else(|| "the script has mistakes".to_string())
}

/// How a handler sets a script going.
enum Start {
    Run(String),
    Goto(String),
    Step(i64),
    /// A step as the driver makes it when it is asked to stop: then 'stop' asks nobody.
    Driver,
}

/// Whether a handler of a script runs or moves it, rather than computing something.
pub fn runs(script: &Script, handler: &str) -> bool {
    let computes = HANDLERS.iter().any(|h| h.name == handler);
    matches!(handler, "run" | "step" | "goto") || script.kind == Kind::Proxy && !computes
}

/// Reads a handler that runs the script.
fn ask(router: &mut Router, id: ElementId, handler: &str, text: &str) -> Reply {
    control(router, id, handler, Start::Run(text.to_string()), false).map(|answer| answer.value.into())
}

/// Writes a handler that runs the script. The value is the status of the call.
fn command(router: &mut Router, id: ElementId, handler: &str, start: Start) -> Reply {
    control(router, id, handler, start, true).map(|answer| answer.status.into())
}

fn control(
    router: &mut Router,
    me: ElementId,
    handler: &str,
    start: Start,
    is_write: bool,
) -> Result<Answer, String> {
    let script = script(router, me)?;
    script.call_begins(handler, is_write);
    let mut run = Run { router, me, report: Report::kept() };
    let started = script.start_from(start, &mut run);
    let answer = script.answer();
    if let Err(e) = started {
        script.state().call_status = EINVAL;
        return Err(e);
    }
    script.call_ended(answer.status);
    if answer.status < 0 || run.report.errors() > 0 { Err(run.report.into_text()) } else { Ok(answer) }
}

/// Runs a script from its beginning since a signal came. While it waits, it hears no signals; if it ended otherwise than
/// by `end`, it never will again.
pub fn signal_came(signal: i32, script: &Script, run: &mut Run<'_>) {
    let is_first = !std::mem::replace(&mut script.state().signalled, true);
    match script.ending() {
        Some(Ending::End) => {}
        _ if is_first => {}
        None if script.is_waiting() => return,
        _ => return super::signal::default_action(signal, run.router),
    }
    if let Err(e) = script.start_from(Start::Run(String::new()), run) {
        run.report.error(&e);
    }
}

/// Decides about a stop request in the name of a driver script.
pub fn decide(router: &mut Router, me: ElementId) -> StopDecision {
    let Ok(script) = script(router, me) else { return StopDecision::Stop };
    if script.is_over() {
        return StopDecision::Stop;
    }
    let mut run = Run::printing(router, me);
    let stepped = script.advance_by(1, By::Driver, &mut run);
    if stepped.waits { StopDecision::Continue } else { StopDecision::Stop }
}

impl Script {
    fn start_from(&self, start: Start, run: &mut Run<'_>) -> Result<(), String> {
        let is_step = matches!(start, Start::Step(_) | Start::Driver);
        let by = if matches!(start, Start::Driver) { By::Driver } else { By::Anyone };
        let steps = match start {
            Start::Step(steps) => steps,
            Start::Driver => 1,
            Start::Goto(label) => match self.program.label(label.trim()) {
                Some(Jump::To(to)) => {
                    self.state().jump(to, usize::MAX);
                    0
                }
                _ => return Err("jump to nonexistent label".to_string()),
            },
            Start::Run(arguments) => {
                let mut state = self.state();
                (state.position, state.arguments) = (0, arguments);
                0
            }
        };
        let nested = self.state().more_steps;
        match nested {
            None => drop(self.advance_by(steps, by, run)),
            // The script runs already, further up: it goes on from where it now stands.
            Some(more) if is_step => self.state().more_steps = Some(more + steps),
            Some(_) => {}
        }
        Ok(())
    }

    /// Steps the script, and again if meanwhile it was asked for more steps. Returns how far the first step came.
    fn advance_by(&self, steps: i64, by: By, run: &mut Run<'_>) -> Stepped {
        self.state().more_steps = Some(-1);
        let first = self.step(steps, by, 0, run);
        let mut jumps = first.jumps;
        while let Some(more) = self.asked_for() {
            jumps = self.step(more, By::Anyone, jumps, run).jumps;
        }
        self.state().more_steps = None;
        first
    }

    /// The steps that were asked for while the script ran.
    fn asked_for(&self) -> Option<i64> {
        self.state().more_steps.replace(-1).filter(|&more| more >= 0)
    }

    fn call_begins(&self, handler: &str, is_write: bool) {
        let mut state = self.state();
        (state.handler, state.is_write) = (handler.to_string(), is_write);
    }

    fn call_ended(&self, status: i32) {
        let mut state = self.state();
        state.handler.clear();
        (state.is_write, state.call_status) = (false, status);
        if status != 0 {
            state.arguments.clear();
        }
    }
}

/// Acts on the value of the variable that `name` means.
fn with_variable(
    router: &Router,
    id: ElementId,
    name: &str,
    act: impl FnOnce(&mut String) -> String,
) -> Reply {
    let script = script(router, id)?;
    let mut state = script.state();
    let place = if name == "args" { Some(&mut state.arguments) } else { state.variable_mut(name) };
    match place {
        Some(value) => Ok(act(value).into()),
        None => Err(format!("undefined variable '{name}'")),
    }
}

fn get(router: &mut Router, id: ElementId, text: &str) -> Reply {
    match shift_word(text) {
        ("", _) => Err("no variable".to_string()),
        (name, "") => with_variable(router, id, name, |value| value.clone()),
        _ => Err("too many arguments".to_string()),
    }
}

fn shift(router: &mut Router, id: ElementId, text: &str) -> Reply {
    let (name, rest) = shift_word(text);
    if !rest.is_empty() {
        return Err("too many arguments".to_string());
    }
    with_variable(router, id, if name.is_empty() { "args" } else { name }, |value| {
        let (first, rest) = shift_word(value);
        let (first, rest) = (first.to_string(), rest.to_string());
        *value = rest;
        first
    })
}
