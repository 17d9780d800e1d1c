//! One run of a router: made, driven until something ends it, asked for its handlers, closed.

use super::compiled::Compiled;
use super::handlers;
use super::reload;
use super::status::{ERASE, PERIOD, Status};
use super::table::table;
use super::usage::Usage;
use super::{Presentation, RouterOptions};
use crate::built;
use crate::config::{Input, Maker};
use crate::output;
use crate::report::Report;
use clickwork_router::outlet::Outlet;
use clickwork_router::{Clock, Driver, Log, Outcome, Reload, Router};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a router runs before it is looked whether its code has been compiled.
const PATIENCE: Duration = Duration::from_millis(20);

/// A router and how it is to be run.
pub struct Session<'a> {
    options: &'a RouterOptions,
    presentation: Presentation,
    report: Report,
    input: Input,
    router: Router,
    compiled: Compiled,
}

impl<'a> Session<'a> {
    /// Reads the configuration and makes the router. Reports why if that is impossible.
    pub fn start(options: &'a RouterOptions, presentation: &Presentation) -> Option<Session<'a>> {
        let report = presentation.report;
        if options.threads > 1 {
            report.warning(&format!("running on 1 thread, not {}", options.threads));
        }
        let input = options.input.read(&report).map_err(|e| report.error(&e)).ok()?;
        let packages = (presentation.packages)(&options.input, &input, &report);
        packages.map_err(|e| report.error(&e)).ok()?;
        for name in options.input.repeated() {
            report.error(&format!("parameter '{name}' multiply defined"));
        }
        // What goes elsewhere does not disturb the status line.
        let on_the_line = presentation.status && io::stdout().is_terminal();
        let maker = Maker {
            defines: options.input.defines(),
            path: options.input.path(),
            ordered: presentation.ordered,
            click_errors: report.click,
            log: Log::stream(Outlet::stderr(), if presentation.status { ERASE } else { b"" }),
            output: Log::stream(Outlet::stdout(), if on_the_line { ERASE } else { b"" }),
            sockets: options.sockets(),
            ..Maker::new()
        };
        let clock = options.simulated().map_or_else(Clock::real, Clock::simulated);
        let running = Report { over_status: presentation.status, ..report };
        let reload = options.allow_reconfigure().then(|| reload::reload(&maker, running));
        let mut router = make(&maker, &input, clock, reload, &report)?;
        let library = built::program().and_then(|built| built.library.clone());
        let mut compiled = Compiled::new(presentation.compiled, library, running);
        // In simulated time there is no meanwhile.
        let wait = router.clock().is_simulated();
        compiled.begin(&mut router, wait);
        Some(Session { options, presentation: *presentation, report, input, router, compiled })
    }

    /// Runs the router to its end. Returns the exit status.
    pub fn run(mut self) -> u8 {
        let mut status = self.write_configuration();
        let before = self.options.time.then(Usage::now);
        if !self.options.quit {
            self.router.begin_speaking();
            self.drive();
            self.router.finish_speaking();
        }
        self.compiled.stop();
        if let Some(before) = before {
            output::print(&Usage::now().since(&before));
        }
        if handlers::print(&mut self.router, &self.options.handlers, &self.report).is_err() {
            status = 1;
        }
        if let Some(name) = &self.options.exit_handler {
            status = handlers::exit_status(&mut self.router, name, &self.report);
        }
        self.router.cleanup();
        self.show_table();
        status
    }

    /// Writes the flat configuration where `--output` says.
    fn write_configuration(&mut self) -> u8 {
        let Some(file) = &self.options.output else { return 0 };
        let text = clickwork_lang::print(&self.router.to_present_graph());
        match output::write(file, &text) {
            Ok(()) => 0,
            Err(e) => {
                self.report.error(&e);
                1
            }
        }
    }

    fn drive(&mut self) {
        if self.router.is_empty() {
            self.report.warning(&format!("{}: configuration has no elements, exiting", self.input.name));
            return;
        }
        let mut driver = Driver::new(interrupt(&self.router));
        let mut status = self.presentation.status.then(|| Status::new(&self.router));
        loop {
            self.compiled.look(&mut self.router);
            if let Some(status) = &mut status {
                status.show(&self.router);
            }
            let outcome = match (self.compiled.is_pending(), &status) {
                (true, _) => driver.run_for(&mut self.router, PATIENCE),
                (false, Some(_)) => driver.run_for(&mut self.router, PERIOD),
                (false, None) => driver.run(&mut self.router),
            };
            match outcome {
                Outcome::TimeLimit => {}
                Outcome::HotSwap => {
                    let report = Report { over_status: status.is_some(), ..self.report };
                    reload::swap(&mut self.router, &report);
                    self.compiled.go_on(&mut self.router);
                }
                Outcome::Stopped | Outcome::Interrupted | Outcome::Exhausted => break,
            }
        }
        if let Some(status) = status {
            status.hide();
        }
    }

    fn show_table(&self) {
        if self.presentation.table && !self.router.is_empty() && !self.options.quit {
            let _ = std::io::stderr().lock().write_all(table(&self.router).as_bytes());
        }
    }
}

/// A flag that the first INT, TERM or HUP signal sets, unless an element handles it; the second one ends the program at
/// once. A program that was told to ignore HUP (`nohup`) goes on ignoring it.
fn interrupt(router: &Router) -> Arc<AtomicBool> {
    use signal_hook::{consts, flag};
    let stop = Arc::new(AtomicBool::new(false));
    let signals = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
    let unwanted = |s: &i32| router.claims_signal(*s) || *s == consts::SIGHUP && is_ignored(*s);
    for signal in signals.into_iter().filter(|s| !unwanted(s)) {
        // The order matters: the default action is taken if the flag was set before this signal.
        let _ = flag::register_conditional_default(signal, Arc::clone(&stop));
        let _ = flag::register(signal, Arc::clone(&stop));
    }
    stop
}

/// Whether this process ignores a signal, by the mask `SigIgn` in `/proc`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & 1 << (signal - 1) != 0
}

fn make(
    maker: &Maker,
    input: &Input,
    clock: Clock,
    reload: Option<Reload>,
    report: &Report,
) -> Option<Router> {
    let made = maker.make(input, clock, reload);
    report.print(&made.sources, &made.diagnostics);
    if report.click && made.router.is_none() && made.understood {
        report.error("Router could not be initialized!");
    }
    made.router
}
