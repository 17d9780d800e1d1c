//! Script: a small language that calls handlers, waits, and acts when packets, signals or stop requests come.
//!
//! A script runs as a command of the router, so that it can call the handlers of any element, its own included. Read
//! first `program.rs` (instructions), then `interpreter.rs` (running them), `call.rs` (handler calls and variables) and
//! `handlers.rs` (what others can do to a script). DriverManager is the same with another default type.

mod arithmetic;
mod call;
mod handlers;
mod interpreter;
#[cfg(test)]
mod model;
mod program;
mod report;
mod signal;
mod sprintf;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod words;

use call::Run;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, ElementId, Ready, Router};
pub use handlers::HANDLERS;
use interpreter::{By, WAIT_TIMER};
use program::{Instruction, Program};
use signal::SignalWatch;
pub use state::Kind;
use state::Script;
use std::os::fd::RawFd;
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "calls handlers in a programmed order, at times, for packets or signals",
    manual: "Each argument is an instruction; they are carried out in order.\n\n\
             'write HANDLER [VALUE]' calls a write handler; '$?' then is its status, 0 if all went well. 'read HANDLER \
             [ARGS]' prints a handler's name and what it says as a message. 'print [>FILE | >>FILE] [HANDLER | TEXT]' \
             prints what a handler says, or text in quotes, to standard output or a file; 'printn' without a line end. \
             'save HANDLER FILE' and 'append HANDLER FILE' write it to a file. 'set VAR TEXT' sets a variable, 'init \
             VAR TEXT' does so once at the start, and 'export VAR TEXT' also gives it a read handler. With a 'q' behind \
             the instruction's name, a layer of quotes is removed.\n\n\
             'wait TIME' waits, or until the 'step' handler is called; 'pause [N]' waits for N steps. 'label L' marks a \
             place, 'goto L [CONDITION]' goes there if the condition is true, 'loop' goes to the beginning. 'return \
             [VALUE]' and 'end' end the script, 'exit' for good, 'stop' also stops the driver, and 'error [MSG]' \
             reports an error. 1000 jumps without a wait are taken for an endless loop.\n\n\
             In all texts $VAR stands for a variable and $(HANDLER ARGS) for what a handler says; the script's own \
             handlers compute: $(add 1 2), $(lt $x 5), $(sprintf '%05x' $n).\n\n\
             TYPE says when the script runs: ACTIVE, from the start (the default); PASSIVE, when its 'run' handler is \
             called, whose parameters are $args, $1, $2 and so on, $# of them; PACKET, for each packet ($input is its \
             port), whose output the script returns (the default if there are ports); PROXY, when any handler is \
             called ($0 is its name, $write whether it is written); DRIVER, from the start and at each stop request, \
             see DriverManager; SIGNAL S..., when a signal comes.",
    example: "c :: Counter; InfiniteSource(LIMIT 5, STOP false) -> c -> Discard;\n\
              Script(wait 1s, print \"$(c.count) packets\", goto begin $(lt $(c.count) 5), stop)",
    ports: "-/-",
    processing: "ah/ah",
    args: &[TYPE, INSTRUCTIONS],
    handlers: HANDLERS,
    ..Class::new("Script", "control", || Box::new(ScriptElement::new(None)))
};

/// The argument TYPE.
pub const TYPE: ArgSpec = ArgSpec::keyword(
    "TYPE",
    ArgType::Other("ACTIVE, PASSIVE, PACKET, PROXY, DRIVER or SIGNAL S..."),
    "",
    "when the script runs",
);
/// All other arguments.
pub const INSTRUCTIONS: ArgSpec =
    ArgSpec::rest("INSTRUCTIONS", ArgType::Other("instruction"), "the program, an instruction an argument");

/// Script or DriverManager.
pub struct ScriptElement {
    default: Option<Kind>,
    script: Arc<Script>,
    signals: Option<SignalWatch>,
}

impl ScriptElement {
    /// A script whose type, if TYPE does not say it, is `default`, or depends on its ports.
    pub fn new(default: Option<Kind>) -> ScriptElement {
        let script = Arc::new(Script::new(Program::default(), Kind::Passive));
        ScriptElement { default, script, signals: None }
    }

    fn kind(&self, args: &mut Args, cx: &mut Cx<'_>) -> Option<Kind> {
        let has_ports = cx.inputs() > 0 || cx.outputs() > 0;
        let by_ports = if has_ports { Kind::Packet } else { Kind::Active };
        let kind = match args.raw("TYPE").map(Kind::parse) {
            None => self.default.clone().unwrap_or(by_ports),
            Some(Ok(kind)) => kind,
            Some(Err(e)) => {
                args.error(e);
                return None;
            }
        };
        if kind == Kind::Driver && !cx.manage_driver(handlers::decide) {
            args.error("router has more than one driver script");
        }
        if kind == Kind::Packet && cx.inputs() == 0 {
            args.error("PACKET script must have inputs");
        } else if kind != Kind::Packet && has_ports {
            args.error("ports allowed only on PACKET scripts");
        }
        Some(kind)
    }

    fn start(&self, cx: &mut Cx<'_>) {
        let starts = matches!(self.script.kind, Kind::Active | Kind::Driver);
        match &self.script.program.code[0] {
            _ if !starts => {}
            Instruction::Wait(time) => self.at_start(cx, |script, run| {
                script.set_timer(time, run);
            }),
            Instruction::Start => {
                self.script.state().starting = true;
                // A driver script begins with a stop request, which it consumes as it comes to its first wait.
                match self.script.kind {
                    Kind::Driver => cx.stop_driver(),
                    _ => cx.schedule_timer_after(WAIT_TIMER.into(), std::time::Duration::ZERO),
                }
            }
            _ => {}
        }
    }

    /// Does what has to be done before the router runs.
    fn at_start(&self, cx: &mut Cx<'_>, act: impl FnOnce(&Script, &mut Run<'_>)) {
        let me = cx.id();
        cx.act(|router| {
            let mut run = Run::printing(router, me);
            run.report.enter(format!("While initializing '{}':", run.declaration()));
            act(&self.script, &mut run);
        });
    }

    /// Runs the script in the course of the router's run, with no element borrowed.
    fn run_soon(&self, cx: &mut Cx<'_>, run: impl FnOnce(&Script, &mut Run<'_>) + Send + 'static) {
        let (script, me) = (Arc::clone(&self.script), cx.id());
        cx.defer(move |router| run(&script, &mut executing(router, me)));
    }
}

/// A run whose errors are printed with the script's name.
fn executing(router: &mut Router, me: ElementId) -> Run<'_> {
    let mut run = Run::printing(router, me);
    run.report.enter(format!("While executing '{}':", run.declaration()));
    run
}

impl Script {
    /// The output for a packet that came in at `input`, if it says one.
    fn output_for_packet(&self, input: usize, router: &mut Router, me: ElementId) -> Option<u16> {
        {
            let mut state = self.state();
            state.set("input", input.to_string());
            state.position = 0;
        }
        self.step(0, By::Anyone, 0, &mut executing(router, me));
        words::parse(self.answer().value.trim())
    }
}

impl Element for ScriptElement {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let Some(kind) = self.kind(args, cx) else { return };
        match Program::parse(args.rest(), kind == Kind::Driver) {
            Ok(program) => self.script = Arc::new(Script::new(program, kind)),
            Err(mistakes) => mistakes.into_iter().for_each(|(at, text)| args.error_in_rest(at, text)),
        }
        for name in &self.script.program.exported {
            cx.add_handler(name, handlers::EXPORTED);
        }
        if self.script.kind == Kind::Proxy {
            cx.add_other_handlers(handlers::PROXIED);
        }
        cx.export(Arc::clone(&self.script));
        cx.calls_handlers();
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.at_start(cx, Script::set_initial_values);
        self.start(cx);
        if let Kind::Signal(signals) = &self.script.kind {
            self.signals = Some(SignalWatch::new(signals, cx)?);
        }
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.run_soon(cx, |script, run| {
            script.step(1, By::Anyone, 0, run);
        });
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let (script, me, batch) = (Arc::clone(&self.script), cx.id(), batch.take());
        cx.defer(move |router| {
            for p in batch {
                let output = script.output_for_packet(port, router, me);
                router.in_name_of(me, |cx| send(output, p, cx));
            }
        });
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let me = cx.id();
        let mut passed = Batch::new();
        for p in cx.pull(0, limit) {
            match cx.act(|router| self.script.output_for_packet(0, router, me)) {
                Some(0) => passed.push(p),
                output => send(output, p, cx),
            }
        }
        passed
    }

    fn selected(&mut self, fd: RawFd, _: Ready, cx: &mut Cx<'_>) {
        if let Some(signal) = self.signals.as_mut().and_then(|s| s.take(fd)) {
            self.run_soon(cx, move |script, run| handlers::signal_came(signal, script, run));
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if let Some(signals) = self.signals.take() {
            signals.end(cx);
        }
    }
}

/// Sends a packet out of the output that a script chose.
fn send(output: Option<u16>, p: Packet, cx: &mut Cx<'_>) {
    match output {
        Some(port) => cx.emit_or_drop(port.into(), p, "script"),
        None => cx.drop(p, "script"),
    }
}
