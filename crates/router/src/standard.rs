//! The standard handlers: those that every element has, and those of the router itself.

use crate::args::{Args, FromArg, Names};
use crate::calls::Access;
use crate::facts::Processing;
use crate::handler::{Action, Handler, HandlerError, Listed, Value};
use crate::pieces::Pieces;
use crate::router::{ElementId, Endpoint, Router};
use crate::tasks::MAX_TICKETS;
use crate::warp::Pace;
use std::fmt::Write;

type Reply = Result<Value, String>;
type Shown = Result<Pieces, String>;

const fn reads(name: &'static str, help: &'static str, f: crate::handler::RouterFn) -> Handler {
    Handler { read: Some(Action::Router(f)), ..Handler::none(name, help) }
}

const fn writes(name: &'static str, help: &'static str, f: crate::handler::RouterFn) -> Handler {
    Handler { write: Some(Action::Router(f)), ..Handler::none(name, help) }
}

const ALWAYS: &[Handler] = &[
    reads("class", "the element's class", |r, id, _| Ok(Value::from(r.info(id).class_name.as_str())))
        .flags("."),
    reads("name", "the element's name", |r, id, _| Ok(Value::from(r.info(id).name.as_str()))).flags("."),
    reads("config", "the element's configuration", |r, id, _| Ok(Value::from(r.info(id).config.as_str())))
        .flags("."),
    reads("ports", "its ports, their kinds and what they are connected to", |r, id, _| {
        Ok(ports(r, id).into())
    })
    .flags("."),
    reads("handlers", "its handlers", |r, id, _| Ok(handler_list(r, id).into())).flags("."),
    reads("packets", "packets that entered it, or that it made if it has no inputs", |r, id, _| {
        Ok(r.info(id).packets.into())
    }),
    reads("drop_reasons", "packets it dropped, by reason", |r, id, _| Ok(drop_reasons(r, id).into())),
];

const OF_TASKS: &[Handler] = &[
    reads("scheduled", "whether its task is scheduled", |r, id, _| {
        Ok(r.tasks.is_scheduled(id.index()).into())
    }),
    reads("tickets", "its scheduling tickets", |r, id, _| Ok(r.tasks.tickets(id.index()).into()))
        .and_write(writes("tickets", "", write_tickets)),
    reads("home_thread", "the thread it runs on", |_, _, _| Ok(0u32.into())).and_write(writes(
        "home_thread",
        "",
        write_home_thread,
    )),
];

/// The handlers that every element has, whatever its class.
pub fn standard_handlers() -> &'static [Handler] {
    ALWAYS
}

/// The standard handlers of an element. Those of tasks are there for elements that move packets of their own accord, if their class
/// says that they do it in a task.
pub(crate) fn handlers(router: &Router, id: ElementId) -> Vec<Handler> {
    let info = router.info(id);
    let pushes = info.inputs.is_empty() && info.outputs.contains(&Processing::Push);
    let pulls = info.inputs.contains(&Processing::Pull) && !info.outputs.contains(&Processing::Pull);
    let of_tasks = if info.class.task_handlers && (pushes || pulls) { OF_TASKS } else { &[] };
    let all = ALWAYS.iter().chain(of_tasks).copied();
    let can_reconfigure = router.can_reconfigure(id);
    all.map(|h| if h.name == "config" && can_reconfigure { h.and_write(RECONFIGURE) } else { h }).collect()
}

const RECONFIGURE: Handler = writes("config", "new arguments", |r, id, text| {
    r.reconfigure(id, text)?;
    Ok(Value::default())
});

/// A number of tickets out of range is replaced by the nearest in it.
fn write_tickets(r: &mut Router, id: ElementId, text: &str) -> Reply {
    let wanted: i64 = text.trim().parse().map_err(|_| "syntax error")?;
    let tickets = wanted.clamp(1, MAX_TICKETS.into()) as u32;
    if wanted != i64::from(tickets) {
        r.log.line(&format!("warning: tickets pinned at {tickets}"));
    }
    r.tasks.set_tickets(id.index(), tickets);
    Ok(Value::default())
}

/// There is one thread.
fn write_home_thread(_: &mut Router, _: ElementId, text: &str) -> Reply {
    match text.trim() {
        "0" => Ok(Value::default()),
        _ => Err("bad thread".to_string()),
    }
}

fn ports(r: &Router, id: ElementId) -> String {
    let info = r.info(id);
    let mut text = String::new();
    for (side, kinds, is_output) in [("input", &info.inputs, false), ("output", &info.outputs, true)] {
        let s = if kinds.len() == 1 { "" } else { "s" };
        let _ = writeln!(text, "{} {side}{s}", kinds.len());
        for (port, kind) in kinds.iter().enumerate() {
            let mark = if crate::facts::processing_of(info.class.processing, is_output, port)
                == Processing::Agnostic
            {
                "~"
            } else {
                ""
            };
            let _ = writeln!(text, "{}{mark}\t-\t{}", kind.name(), connected(r, id, port, is_output));
        }
    }
    text
}

/// The far ends of a port's connections, as `name [port], [port] name`.
fn connected(r: &Router, id: ElementId, port: usize, is_output: bool) -> String {
    let near = Endpoint { element: id, port: port as u16 };
    let name = |far: &Endpoint| &r.info(far.element).name;
    let far = if is_output { r.targets(near) } else { r.sources(near) };
    let said = far.iter().map(|far| match is_output {
        true => format!("[{}] {}", far.port, name(far)),
        false => format!("{} [{}]", name(far), far.port),
    });
    said.collect::<Vec<_>>().join(", ")
}

fn handler_list(r: &Router, id: ElementId) -> String {
    let visible = r.handlers(id).into_iter().filter(|(_, h)| !h.private && is_listed(r, id, h));
    visible.map(|(name, h)| format!("{name}\t{}\n", h.letters())).collect()
}

fn is_listed(r: &Router, id: ElementId, handler: &Handler) -> bool {
    let info = r.info(id);
    match handler.listed {
        Listed::Always => true,
        Listed::IfPulling => info.inputs.first() == Some(&Processing::Pull),
        Listed::IfInputs => !info.inputs.is_empty(),
        Listed::IfTrue(argument) => {
            let names = r.arg_names.for_element(&info.name);
            Args::new(info.class.args, &info.config, &names).get(argument) == Some(true)
        }
    }
}

fn drop_reasons(r: &Router, id: ElementId) -> String {
    r.info(id).drops.iter().map(|(reason, n)| format!("{n}\t{reason}\n")).collect()
}

// ---- the router's own handlers

struct Global {
    name: &'static str,
    read: Option<fn(&mut Router, &str) -> Shown>,
    write: Option<fn(&mut Router, &str) -> Reply>,
}

impl Global {
    /// Simulated time cannot be made faster.
    fn can_write(&self, r: &Router) -> bool {
        self.write.is_some() && (self.name != "timewarp" || !r.clock.is_simulated())
    }
}

const fn global(name: &'static str, read: fn(&mut Router, &str) -> Shown) -> Global {
    Global { name, read: Some(read), write: None }
}

const fn global_write(name: &'static str, write: fn(&mut Router, &str) -> Reply) -> Global {
    Global { name, read: None, write: Some(write) }
}

const GLOBALS: &[Global] = &[
    global("version", |_, _| Ok(crate::VERSION.into())),
    global("driver", |_, _| Ok("userlevel".into())),
    global("list", |r, _| Ok(r.shown.list())),
    global("classes", |r, _| Ok(lines(r.registry.iter().map(|(name, _)| name.to_string())).into())),
    global("config", |r, _| Ok(if is_compact(r) { r.flat_shown() } else { r.source_shown() })),
    global("flatconfig", |r, _| Ok(r.flat_shown())),
    global("requirements", |r, _| Ok(lines(r.requirements.iter().map(|q| q.value.clone())).into())),
    global("packages", |r, _| Ok(lines(r.registry.packages().map(String::from)).into())),
    global("handlers", |r, _| Ok(global_list(r).into())),
    Global { write: Some(write_timewarp), ..global("timewarp", |r, _| Ok(timewarp(r).into())) },
    global("threads", |_, _| Ok("0\n".into())),
    global("active_ports", |r, _| Ok(totals(r).into())),
    global_write("stop", |r, _| {
        r.request_stop();
        Ok(Value::default())
    }),
    global_write("hotconfig", |r, text| {
        r.request_hot_swap(text)?;
        Ok(Value::default())
    }),
];

/// Whether the configuration says that its text need not be kept.
fn is_compact(r: &Router) -> bool {
    r.requirements.iter().any(|q| q.kind == "compact_config")
}

fn timewarp(r: &Router) -> String {
    match r.clock.pace() {
        None => "simulation".to_string(),
        Some(Pace::NoWait) => "nowait".to_string(),
        Some(Pace::Speed(factor)) => factor.to_string(),
    }
}

fn write_timewarp(r: &mut Router, text: &str) -> Reply {
    let factor = || f64::from_arg(text.trim(), &Names::default()).ok().filter(|f| f.is_finite());
    let pace = match text.trim() {
        "nowait" => Pace::NoWait,
        _ => Pace::Speed(factor().ok_or("expected double")?),
    };
    if matches!(pace, Pace::Speed(factor) if factor <= 0.0) {
        return Err("timefactor must be > 0".to_string());
    }
    r.clock.set_pace(pace);
    Ok(Value::default())
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.map(|s| s + "\n").collect()
}

fn totals(r: &Router) -> String {
    let mut text = String::new();
    for info in &r.infos {
        let drops: u64 = info.drops.iter().map(|d| d.1).sum();
        let _ = writeln!(text, "{}\t{}\t{drops}", info.name, info.packets);
    }
    text
}

/// The router's handlers that it has at present.
fn globals(r: &Router) -> impl Iterator<Item = &'static Global> {
    let can_reload = r.can_reload();
    GLOBALS.iter().filter(move |g| can_reload || g.name != "hotconfig")
}

fn global_list(r: &Router) -> String {
    lines(globals(r).map(|g| {
        format!(
            "{}\t{}{}",
            g.name,
            if g.read.is_some() { "r" } else { "" },
            if g.can_write(r) { "w" } else { "" }
        )
    }))
}

fn find_global(r: &Router, name: &str) -> Result<&'static Global, HandlerError> {
    globals(r).find(|g| g.name == name).ok_or_else(|| HandlerError::NoHandler(format!("no '{name}' handler")))
}

/// What can be done with a handler of the router.
pub(crate) fn global_access(r: &Router, name: &str) -> Option<Access> {
    let g = find_global(r, name).ok()?;
    Some(Access { read: g.read.is_some(), write: g.can_write(r), parameter: false, private: false })
}

/// Reads a handler of the router.
pub(crate) fn read_global(r: &mut Router, name: &str, text: &str) -> Result<Pieces, HandlerError> {
    let wrong = || HandlerError::WrongKind(format!("'{name}' is not a read handler"));
    find_global(r, name)?.read.ok_or_else(wrong)?(r, text).map_err(HandlerError::Failed)
}

/// Writes a handler of the router.
pub(crate) fn write_global(r: &mut Router, name: &str, text: &str) -> Result<Value, HandlerError> {
    let wrong = || HandlerError::WrongKind(format!("'{name}' is not a write handler"));
    let global = find_global(r, name)?;
    global.write.filter(|_| global.can_write(r)).ok_or_else(wrong)?(r, text).map_err(HandlerError::Failed)
}
