//! A harness for tests of elements: a configuration runs in simulated time on given packets, and the test looks at
//! what comes out and what handlers say.
//!
//! Beside the library there are two classes for tests: `Source` (sends what the test gives it) and `Sink` (keeps what it
//! gets, pushed or pulled). Packages add their own with [`Harness::with`]; [`check_classes`] is a test that all should have.

use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::notify::Signal;
use clickwork_router::{
    Class, Clock, Cx, Driver, Element, Endpoint, Log, Options, Outcome, Registry, Router, TaskStep, build,
};
use clickwork_source::{Diagnostics, Sources, render_click};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A router under test.
pub struct Harness {
    /// The router.
    pub router: Router,
    driver: Driver,
    log: Log,
    output: Log,
    warnings: String,
}

impl Harness {
    /// Builds a configuration in ordered mode.
    ///
    /// # Panics
    /// With the diagnostics, if the configuration has errors.
    pub fn new(config: &str) -> Harness {
        Harness::build(&[], config, true).unwrap_or_else(|e| panic!("{e}"))
    }

    /// As [`Harness::new`], with classes that are not in the library.
    ///
    /// # Panics
    /// With the diagnostics, if the configuration has errors.
    pub fn with(classes: &[&'static Class], config: &str) -> Harness {
        Harness::build(classes, config, true).unwrap_or_else(|e| panic!("{e}"))
    }

    /// As [`Harness::with`], in batch mode.
    ///
    /// # Panics
    /// With the diagnostics, if the configuration has errors.
    pub fn batched_with(classes: &[&'static Class], config: &str) -> Harness {
        Harness::build(classes, config, false).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Builds a configuration in batch mode.
    ///
    /// # Panics
    /// With the diagnostics, if the configuration has errors.
    pub fn batched(config: &str) -> Harness {
        Harness::build(&[], config, false).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Builds a configuration in batch mode whose time is the real one: for talks with clients that have a time of their own.
    ///
    /// # Panics
    /// With the diagnostics, if the configuration has errors.
    #[cfg(test)]
    pub(crate) fn real_time(config: &str) -> Harness {
        Harness::build_with(&[], config, false, Clock::real()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// What building the configuration complains about.
    ///
    /// # Panics
    /// If it has no mistake.
    pub fn errors(config: &str) -> String {
        Harness::errors_with(&[], config)
    }

    /// As [`Harness::errors`], with classes that are not in the library.
    ///
    /// # Panics
    /// If it has no mistake.
    pub fn errors_with(classes: &[&'static Class], config: &str) -> String {
        Harness::build(classes, config, true).err().expect("the configuration has a mistake")
    }

    fn build(classes: &[&'static Class], config: &str, ordered: bool) -> Result<Harness, String> {
        Harness::build_with(classes, config, ordered, Clock::simulated(Timestamp::new(1_000_000_000, 0)))
    }

    fn build_with(
        classes: &[&'static Class],
        config: &str,
        ordered: bool,
        clock: Clock,
    ) -> Result<Harness, String> {
        let mut registry = crate::registry();
        registry.add(classes.iter().copied());
        registry.add([&SOURCE, &SINK]);
        let registry: Arc<Registry> = Arc::new(registry);
        let mut sources = Sources::default();
        let file = sources.add("config", config);
        let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
        if diagnostics.has_errors() {
            return Err(render(&sources, &diagnostics));
        }
        let (log, output) = (Log::buffer(), Log::buffer());
        let options = Options {
            ordered,
            clock,
            log: log.clone(),
            output: output.clone(),
            seed: Some(1),
            source_text: config.to_string(),
            ..Options::default()
        };
        let built = build(&graph, &sources, &registry, options).map_err(|d| render(&sources, &d))?;
        let (router, warnings) = (built.0, render(&sources, &built.1));
        #[cfg(test)]
        let router = in_segments(router);
        Ok(Harness { router, driver: Driver::default(), log, output, warnings })
    }

    /// What building the configuration warned of, in Click's form.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Runs until nothing is left to do, the driver is stopped, or ten simulated seconds have passed.
    pub fn run(&mut self) -> Outcome {
        self.run_for(Duration::from_secs(10))
    }

    /// Runs for a length of simulated time.
    pub fn run_for(&mut self, time: Duration) -> Outcome {
        self.driver.run_for(&mut self.router, time)
    }

    /// Hands packets to an input of an element, one batch each in ordered mode, then runs.
    pub fn push(&mut self, element: &str, port: u16, packets: impl IntoIterator<Item = Packet>) {
        let element = self.router.find(element).expect("the element exists");
        let to = Endpoint { element, port };
        for p in packets {
            self.router.push(to, Batch::one(p));
        }
        self.run();
    }

    /// Hands all packets, at most 64, to an input as one batch, then runs.
    pub fn push_batch(&mut self, element: &str, port: u16, packets: impl IntoIterator<Item = Packet>) {
        let element = self.router.find(element).expect("the element exists");
        self.router.push(Endpoint { element, port }, packets.into_iter().collect());
        self.run();
    }

    /// Takes what a `Sink` has got.
    pub fn take(&mut self, sink: &str) -> Vec<Packet> {
        let id = self.router.find(sink).expect("the sink exists");
        let kept = self.router.with_element(id, |_, cx| cx.exported::<Kept>(id)).flatten().expect("a Sink");
        std::mem::take(&mut *kept.0.lock().expect("no panic"))
    }

    /// The bytes of what a `Sink` has got.
    pub fn bytes(&mut self, sink: &str) -> Vec<Vec<u8>> {
        self.take(sink).iter().map(|p| p.data().to_vec()).collect()
    }

    /// Reads a handler; an error comes back as its text.
    pub fn read(&mut self, name: &str) -> String {
        let (name, parameter) = name.split_once(' ').unwrap_or((name, ""));
        self.router.read(name, parameter).map_or_else(|e| e.to_string(), |v| v.text())
    }

    /// Writes a handler, `element.handler value`.
    pub fn write(&mut self, call: &str) -> Result<(), String> {
        let (name, value) = call.split_once(' ').unwrap_or((call, ""));
        self.router.write(name, value).map(drop).map_err(|e| e.to_string())
    }

    /// What elements printed since the last call.
    pub fn printed(&mut self) -> String {
        self.log.taken()
    }

    /// What elements printed on standard output since the last call.
    pub fn output(&mut self) -> String {
        self.output.taken()
    }
}

/// Checks the classes of a package: they have a line of help and a manual, and their examples use them and run.
///
/// # Panics
/// If something is missing or wrong.
pub fn check_classes(classes: &[&'static Class]) {
    for class in classes {
        let Class { name, help, manual, example, .. } = class;
        assert!(!help.is_empty() && !manual.is_empty(), "{name} has a line of help and a manual");
        for ordered in [true, false] {
            let built = Harness::build(classes, example, ordered);
            let mut harness = built.unwrap_or_else(|e| panic!("the example of {name}:\n{e}"));
            let used = harness.router.to_graph().elements.iter().any(|e| e.class == *name);
            assert!(used || example.is_empty(), "the example of {name} uses it");
            harness.run();
        }
    }
}

/// The router as if it were compiled, if CLICKWORK_SEGMENTS is 1: the tests of this crate must not notice.
#[cfg(test)]
fn in_segments(mut router: Router) -> Router {
    use clickwork_compile::{Scope, plan};
    if std::env::var_os("CLICKWORK_SEGMENTS").is_some_and(|value| value == "1") {
        router.install(plan(&router, Scope::All));
    }
    router
}

fn render(sources: &Sources, diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|d| render_click(sources, d)).collect()
}

/// What a `Sink` keeps.
#[derive(Default)]
struct Kept(Mutex<Vec<Packet>>);

static SINK: Class = Class {
    ports: "1/0",
    ..Class::new("Sink", "testing", || Box::new(Sink { kept: Arc::default(), signal: Signal::idle() }))
};

struct Sink {
    kept: Arc<Kept>,
    signal: Signal,
}

impl Element for Sink {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.export(Arc::clone(&self.kept));
        if cx.input_is_pull(0) {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        self.kept.0.lock().expect("no panic").extend(batch.drain());
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let batch = cx.pull(0, 64);
        let idle = batch.is_empty() && (!cx.is_active(&self.signal) || self.signal.is_always_active());
        self.kept.0.lock().expect("no panic").extend(batch);
        if idle { TaskStep::Sleep } else { TaskStep::Again }
    }
}

/// Sends what is pushed into it; where a test's packets begin.
static SOURCE: Class =
    Class { ports: "-/1", processing: "h/h", ..Class::new("Source", "testing", || Box::new(Source)) };

struct Source;

impl Element for Source {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}
}
