//! Making a router from a flat graph, in stages as in the papers: create, connect, configure, resolve push and pull,
//! initialise. All errors of a stage are reported together; a stage begins only if those before it succeeded, except
//! that configuration is checked even when the connections are wrong. Click stops at the first stage that fails, and
//! at the first element that cannot be initialised; so do we if asked to.

use crate::args::{ArgErrors, Args, Names};
use crate::circle::{LOOK_EVERY, OnCircle};
use crate::clock::Clock;
use crate::cx::Cx;
use crate::facts::{Class, PortCheck};
use crate::hotswap::Reload;
use crate::log::Log;
use crate::notify::Notifiers;
use crate::outputs::Outputs;
use crate::poll::PollSet;
use crate::ports::{self, Node, Resolved};
use crate::random::Random;
use crate::registry::Registry;
use crate::reports::Reports;
use crate::router::{ElementId, Endpoint, Exports, Info, Link, Router, StopState};
use crate::segment::Segments;
use crate::shown::Shown;
use crate::tasks::Tasks;
use crate::timers::Timers;
use clickwork_lang::{ElementDecl, Graph};
use clickwork_packet::BATCH_SIZE;
use clickwork_source::{Diagnostic, Diagnostics, Severity, Sources, Span, suggest};
use std::collections::VecDeque;
use std::sync::Arc;

/// How a router runs.
#[derive(Debug)]
pub struct Options {
    /// Batches have one packet and outputs are delivered exactly in Click's order.
    pub ordered: bool,
    /// Errors are those that Click reports, at Click's places: only those of the first stage that fails. Otherwise all
    /// that can be found are reported.
    pub click_errors: bool,
    /// Real or simulated time.
    pub clock: Clock,
    /// Where messages go.
    pub log: Log,
    /// Where the text goes that elements print on standard output.
    pub output: Log,
    /// Seed of the random numbers; from the system if `None`.
    pub seed: Option<u64>,
    /// The configuration as the user wrote it, for the `config` handler.
    pub source_text: String,
    /// Names that arguments may use from the beginning, such as those of network devices.
    pub names: Names,
    /// Makes the router of a new configuration, if this one may be replaced while it runs.
    pub reload: Option<Reload>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ordered: false,
            click_errors: false,
            clock: Clock::real(),
            log: Log::stderr(),
            output: Log::stdout(),
            seed: None,
            source_text: String::new(),
            names: Names::default(),
            reload: None,
        }
    }
}

/// Makes a router that is ready to run.
///
/// # Errors
/// Everything that is wrong with the graph: unknown classes, wrong ports, mixed push and pull, wrong arguments, failed
/// initialisation. Warnings are returned with the router.
pub fn build(
    graph: &Graph,
    sources: &Sources,
    registry: &Arc<Registry>,
    options: Options,
) -> Result<(Router, Diagnostics), Diagnostics> {
    let first_error_only = options.click_errors;
    let (router, mut errors) = check(graph, sources, registry, options);
    let Some(mut router) = router.filter(|_| !errors.has_errors()) else { return Err(errors) };
    initialize(&mut router, first_error_only, &mut errors);
    if errors.has_errors() {
        router.cleanup();
        return Err(errors);
    }
    router.running = true;
    Ok((router, errors))
}

/// All of [`build`] but the last stage: elements read their arguments and push and pull are resolved, but no element is
/// initialised, so no device or file is opened. For tools; the router cannot run. There is none if a class is unknown;
/// otherwise there is one whatever else is wrong.
pub fn check(
    graph: &Graph,
    sources: &Sources,
    registry: &Arc<Registry>,
    options: Options,
) -> (Option<Router>, Diagnostics) {
    let mut errors = Diagnostics::default();
    let classes = find_classes(graph, registry, &mut errors);
    if errors.has_errors() {
        return (None, errors);
    }
    let as_click = options.click_errors;
    let mut router = connect(graph, sources, &classes, registry, options);
    check_extra_ports(&router, &mut errors);
    for stage in [resolve_ports, check_port_use, configure] {
        if !(as_click && errors.has_errors()) {
            stage(&mut router, as_click, &mut errors);
        }
    }
    (Some(router), errors)
}

fn find_classes(graph: &Graph, registry: &Registry, errors: &mut Diagnostics) -> Vec<&'static Class> {
    let mut found = Vec::with_capacity(graph.elements.len());
    for e in &graph.elements {
        match registry.get(&e.class) {
            Some(class) => found.push(class),
            None => {
                let d = Diagnostic::error(e.span, format!("unknown element class '{}'", e.class));
                let near = || suggest(&e.class, registry.iter().map(|(name, _)| name));
                let near = || near().map(|near| format!("did you mean '{near}'?"));
                errors.push(match registry.absence(&e.class).or_else(near) {
                    Some(hint) => d.hint(hint),
                    None => d,
                });
            }
        }
    }
    found
}

fn info(e: &ElementDecl, class: &'static Class, sources: &Sources) -> Info {
    Info {
        name: e.name.clone(),
        class,
        class_name: e.class.clone(),
        config: e.config.clone(),
        span: e.span,
        landmark: sources.landmark(e.span),
        compounds: e.compounds.clone(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        packets: 0,
        drops: Vec::new(),
    }
}

fn connect(
    graph: &Graph,
    sources: &Sources,
    classes: &[&'static Class],
    registry: &Arc<Registry>,
    options: Options,
) -> Router {
    let count = graph.elements.len();
    let infos: Vec<Info> = graph.elements.iter().zip(classes).map(|(e, c)| info(e, c, sources)).collect();
    let end =
        |p: clickwork_lang::Port| Endpoint { element: ElementId(p.element as u32), port: p.port as u16 };
    let links: Vec<Link> =
        graph.connections.iter().map(|c| Link { from: end(c.from), to: end(c.to), span: c.span }).collect();
    let (output_base, targets) = index(count, links.iter().map(|l| (l.from, l.to)));
    let (input_base, into) = index(count, links.iter().map(|l| (l.to, l.from)));
    let mut slots = Outputs::default();
    slots.resize(targets.len(), options.ordered);
    let elements: Vec<_> = classes.iter().map(|c| (c.make)()).collect();
    let mut router = Router {
        labels: crate::custody::labels(&infos),
        passes_on: elements.iter().map(|element| element.passes_on()).collect(),
        elements: elements.into_iter().map(Some).collect(),
        names: infos.iter().zip(0..).map(|(i, n)| (i.name.clone(), ElementId(n))).collect(),
        infos,
        links,
        requirements: graph.requirements.clone(),
        source_text: options.source_text.into(),
        shown: Shown::default(),
        hops: hops(&output_base, &targets),
        output_base,
        targets,
        input_base,
        sources: into,
        slots,
        stack: Vec::new(),
        segments: Segments::default(),
        delivering: false,
        visits: 0,
        next_look: LOOK_EVERY,
        on_circle: OnCircle::default(),
        commands: VecDeque::new(),
        tasks: Tasks::new(count),
        timers: Timers::new(count),
        notifiers: Notifiers::default(),
        exports: (0..count).map(|_| Exports::default()).collect(),
        poll: PollSet::default(),
        recent: options.clock.peek(),
        worked: false,
        clock: options.clock,
        reports: Reports::default(),
        hides_keys: false,
        random: options.seed.map_or_else(Random::from_system, Random::from_seed),
        arg_names: options.names,
        log: options.log,
        output: options.output,
        registry: Arc::clone(registry),
        stop: StopState::default(),
        stop_handler: None,
        reload: options.reload,
        hot_swap: None,
        batch_limit: if options.ordered { 1 } else { BATCH_SIZE },
        running: false,
        claimed_signals: Vec::new(),
    };
    router.shown = Shown::new(&router);
    router
}

/// Numbers the ports on one side of all connections through the router: the first number of each element, and for each
/// port what it is connected to.
fn index(
    elements: usize,
    pairs: impl Iterator<Item = (Endpoint, Endpoint)>,
) -> (Vec<u32>, Vec<Vec<Endpoint>>) {
    let pairs: Vec<_> = pairs.collect();
    let mut ports = vec![0u32; elements];
    for (here, _) in &pairs {
        let n = &mut ports[here.element.index()];
        *n = (*n).max(u32::from(here.port) + 1);
    }
    let mut base = vec![0u32; elements + 1];
    for e in 0..elements {
        base[e + 1] = base[e] + ports[e];
    }
    let mut far = vec![Vec::new(); base[elements] as usize];
    for (here, there) in pairs {
        far[(base[here.element.index()] + u32::from(here.port)) as usize].push(there);
    }
    (base, far)
}

/// Where each element's output 0 leads.
fn hops(output_base: &[u32], targets: &[Vec<Endpoint>]) -> Vec<Option<Endpoint>> {
    let first = |w: &[u32]| if w[0] < w[1] { targets[w[0] as usize].first().copied() } else { None };
    output_base.windows(2).map(first).collect()
}

fn port_counts(router: &Router, id: ElementId) -> (usize, usize) {
    let e = id.index();
    let count = |base: &[u32]| (base[e + 1] - base[e]) as usize;
    (count(&router.input_base), count(&router.output_base))
}

/// Every use of a port that does not exist is an error of its own.
fn check_extra_ports(router: &Router, errors: &mut Diagnostics) {
    for id in router.ids() {
        let (inputs, outputs) = port_counts(router, id);
        match router.info(id).class.allows_ports(inputs, outputs) {
            PortCheck::TooManyInputs(most) => report_extra(router, id, false, most, errors),
            PortCheck::TooManyOutputs(most) => report_extra(router, id, true, most, errors),
            PortCheck::Ok | PortCheck::TooFewInputs(_) | PortCheck::TooFewOutputs(_) => {}
        }
    }
}

fn check_port_use(router: &mut Router, _as_click: bool, errors: &mut Diagnostics) {
    check_missing_ports(router, errors);
    let kinds = Resolved {
        inputs: router.infos.iter().map(|i| i.inputs.clone()).collect(),
        outputs: router.infos.iter().map(|i| i.outputs.clone()).collect(),
    };
    ports::check_use(&nodes(router), &router.links, &kinds, errors);
}

fn check_missing_ports(router: &Router, errors: &mut Diagnostics) {
    for id in router.ids() {
        let info = router.info(id);
        let (inputs, outputs) = port_counts(router, id);
        let name = declaration(info);
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (fix, message) = match info.class.allows_ports(inputs, outputs) {
            PortCheck::Ok | PortCheck::TooManyInputs(_) | PortCheck::TooManyOutputs(_) => continue,
            PortCheck::TooFewInputs(least) => (
                "connect Idle to it if no packets should come",
                format!("too few inputs for '{name}', {}", needs(inputs, &plural(least, "input"))),
            ),
            PortCheck::TooFewOutputs(least) => (
                "connect it to Discard if packets are not wanted",
                format!("too few outputs for '{name}', {}", needs(outputs, &plural(least, "output"))),
            ),
        };
        errors.push(Diagnostic::error(info.span, message).hint(fix));
    }
}

fn needs(have: usize, least: &str) -> String {
    format!("{least} required, {have} connected")
}

fn report_extra(router: &Router, id: ElementId, is_output: bool, most: usize, errors: &mut Diagnostics) {
    let side = if is_output { "output" } else { "input" };
    let info = router.info(id);
    let name = declaration(info);
    for l in &router.links {
        let here = if is_output { l.from } else { l.to };
        if here.element == id && here.port as usize >= most {
            let message = format!("'{name}' has no {side} {}", here.port);
            errors.push(Diagnostic::error(info.span, message).aside(l.span, "used here"));
        }
    }
}

/// `name :: Class`, as Click writes it in messages.
pub(crate) fn declaration(info: &Info) -> String {
    format!("{} :: {}", info.name, info.class_name)
}

fn configure(router: &mut Router, as_click: bool, errors: &mut Diagnostics) {
    let mut order: Vec<ElementId> = router.ids().collect();
    order.sort_by_key(|&id| router.info(id).class.phase);
    for id in order {
        let info = router.info(id);
        let mut args = Args::new(info.class.args, &info.config, &router.arg_names.for_element(&info.name));
        router.call(id, |e, cx| e.configure(&mut args, cx));
        for warning in args.take_warnings() {
            let severity = if warning.remark { Severity::Note } else { Severity::Warning };
            let d = about(router.info(id), severity, "While configuring", &warning.to_string());
            errors.push(d.subject(warning.subject()));
        }
        if let Err(ArgErrors(list)) = args.finish() {
            if as_click {
                let all: Vec<_> = list.iter().map(ToString::to_string).collect();
                errors.push(about(router.info(id), Severity::Error, "While configuring", &all.join("\n")));
                continue;
            }
            for e in list {
                let d = about(router.info(id), Severity::Error, "While configuring", &e.to_string());
                errors.push(match e.hint {
                    Some(h) => d.hint(h),
                    None => d,
                });
            }
        }
    }
}

/// A diagnostic about an element, in Click's form: what was being done, then what is wrong.
fn about(info: &Info, severity: Severity, doing: &str, what: &str) -> Diagnostic {
    let what = what.replace('\n', "\n  ");
    let message = format!("{doing} '{}':\n  {what}", declaration(info));
    Diagnostic::new(severity, info.span, message)
}

fn nodes(router: &Router) -> Vec<Node> {
    let node = |id| {
        let (inputs, outputs) = port_counts(router, id);
        let i = router.info(id);
        Node { name: i.name.clone(), class: i.class, config: i.config.clone(), span: i.span, inputs, outputs }
    };
    router.ids().map(node).collect()
}

fn resolve_ports(router: &mut Router, as_click: bool, errors: &mut Diagnostics) {
    let resolved = ports::resolve(&nodes(router), &router.links, as_click, errors);
    for ((info, inputs), outputs) in router.infos.iter_mut().zip(resolved.inputs).zip(resolved.outputs) {
        (info.inputs, info.outputs) = (inputs, outputs);
    }
}

fn initialize(router: &mut Router, first_error_only: bool, errors: &mut Diagnostics) {
    let mut order: Vec<ElementId> = router.ids().collect();
    order.sort_by_key(|&id| router.info(id).class.phase);
    for id in order {
        let result = router.call(id, |e, cx: &mut Cx<'_>| e.initialize(cx)).unwrap_or(Ok(()));
        if let Err(what) = result {
            let info = router.info(id);
            if first_error_only {
                // Click lets an Error element fail without a word.
                let silent = info.class.name == "Error";
                errors.push(match silent {
                    true => Diagnostic::error(Span::NONE, ""),
                    false => about(info, Severity::Error, "While initializing", &what),
                });
                return;
            }
            errors.push(about(info, Severity::Error, "While initializing", &what));
        }
    }
}
