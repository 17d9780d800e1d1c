//! ProgressBar: shows on the terminal how far something has come. `bar.rs` draws it.

mod bar;

use crate::values::store;
use bar::View;
use clickwork_packet::Timestamp;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HandlerRef, SecondsIn, split_words, unquote};
use clickwork_router::{Class, Cx, Element, Target, read_handler, write_handler};
use rustix::stdio::{stderr, stdout};
use rustix::termios::{isatty, tcgetpgrp, tcgetwinsize};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "shows on the terminal how far something has come",
    manual: "Reads the handlers of POSHANDLER, several of which are added, every UPDATE, and once at first those of \
             SIZEHANDLER, and draws a bar of how much of the size the position has come to, with the time that is left. \
             FIXED_SIZE is the size if there are no handlers for it. Nothing is drawn unless standard error is a \
             terminal and this program is in its foreground; with CHECK_STDOUT, standard output must not be a terminal. \
             DELAY is how long to wait for the first bar.",
    example: "f :: InfiniteSource(LIMIT 5, STOP true) -> c :: Counter -> Discard; ProgressBar(c.count, FIXED_SIZE 5)",
    ports: "0/0",
    args: &[
        ArgSpec::required("POSHANDLER", ArgType::Other("read handlers"), "how far it has come"),
        ArgSpec::positional("SIZEHANDLER", ArgType::Other("read handlers"), "", "how far it is to go"),
        ArgSpec::keyword("UPDATE", ArgType::Seconds, "0.25", "time between bars"),
        ArgSpec::keyword("BANNER", ArgType::String, "", "text before the bar"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it is drawn"),
        ArgSpec::keyword("DELAY", ArgType::Seconds, "0", "time before the first bar"),
        ArgSpec::keyword(
            "CHECK_STDOUT",
            ArgType::Bool,
            "false",
            "whether it is not drawn if output is a terminal",
        ),
        ArgSpec::keyword("FIXED_SIZE", ArgType::Real, "", "the size"),
    ],
    handlers: &[
        write_handler!(
            "mark_stopped",
            "draws the last bar, as far as it has come",
            |e: &mut ProgressBar, _, cx| e.complete(false, cx)
        ),
        write_handler!("mark_done", "draws the last bar, at its end", |e: &mut ProgressBar, _, cx| e
            .complete(true, cx)),
        read_handler!("active", "whether it is drawn", |e: &mut ProgressBar, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut ProgressBar, text, cx| e.set_active(text, cx))),
        read_handler!("banner", "text before the bar", |e: &mut ProgressBar, _| e.banner.as_str())
            .raw()
            .and_write(write_handler!("", "", |e: &mut ProgressBar, text, _| e.banner = unquote(text))),
        read_handler!("poshandler", "handlers of the position", |e: &mut ProgressBar, cx| show(
            &e.positions,
            cx
        ))
        .and_write(write_handler!("", "", |e: &mut ProgressBar, text, cx| {
            e.positions = resolve(text, cx)?;
            Ok::<(), String>(())
        })),
        read_handler!("sizehandler", "handlers of the size", |e: &mut ProgressBar, cx| show(&e.sizes, cx))
            .and_write(write_handler!("", "", |e: &mut ProgressBar, text, cx| {
                e.sizes = resolve(text, cx)?;
                e.has_size = false;
                Ok::<(), String>(())
            })),
        read_handler!("pos", "how far it has come", |e: &mut ProgressBar, _| e.last_position),
        read_handler!("size", "how far it is to go", |e: &mut ProgressBar, _| e.size).and_write(
            write_handler!("", "", |e: &mut ProgressBar, text, _| store(&mut e.size, text, "real number")),
        ),
        write_handler!("reset", "begins anew", |e: &mut ProgressBar, _, cx| e.reset(cx)).flags("b"),
    ],
    ..Class::new("ProgressBar", "control", || Box::<ProgressBar>::default())
};

/// Time without progress after which the bar says so.
const STALL: Duration = Duration::from_secs(5);
const UPDATE: Duration = Duration::from_millis(250);
/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Status {
    /// Nothing was drawn yet.
    #[default]
    First,
    /// Bars are drawn.
    Middle,
    /// The next bar is the last.
    Done,
}

#[derive(Default)]
struct ProgressBar {
    status: Status,
    /// There is no terminal to draw on.
    dead: bool,
    active: bool,
    update: Duration,
    delay: Duration,
    banner: String,
    check_stdout: bool,
    positions: Vec<Target>,
    sizes: Vec<Target>,
    size: f64,
    has_size: bool,
    last_position: f64,
    start: Timestamp,
    /// When it last got further.
    progress: Timestamp,
    stalled: Duration,
    /// Handlers as the configuration named them.
    named: [String; 2],
}

/// The handlers that words name.
fn resolve(text: &str, cx: &mut Cx<'_>) -> Result<Vec<Target>, String> {
    let (me, names) = (cx.id(), cx.names());
    let find = |word: &String| {
        let name = HandlerRef::from_arg(word, &names).map_err(|_| format!("'{word}' is not a handler"))?;
        let target = cx.router().resolve_ref(&name, me).map_err(|e| e.to_string())?;
        match cx.router().access(&target).is_some_and(|access| access.read) {
            true => Ok(target),
            false => Err(format!("no '{}' read handler", full_name(&target, cx))),
        }
    };
    split_words(text).iter().map(find).collect()
}

fn full_name(target: &Target, cx: &Cx<'_>) -> String {
    let element = target.element.map_or(String::new(), |id| format!("{}.", cx.router().info(id).name));
    format!("{element}{}", target.handler)
}

fn show(targets: &[Target], cx: &Cx<'_>) -> String {
    targets.iter().map(|t| full_name(t, cx)).collect::<Vec<_>>().join(" ")
}

/// The sum of what handlers say; nothing if there are none, or one says no number.
fn total(targets: &[Target], cx: &mut Cx<'_>) -> Option<f64> {
    let mut read = |target: &Target| {
        let value = cx.act(|router| router.read_target(target, "")).ok()?;
        value.text().trim().parse::<f64>().ok()
    };
    let all: Option<Vec<f64>> = targets.iter().map(&mut read).collect();
    all.filter(|values| !values.is_empty()).map(|values| values.iter().sum())
}

impl ProgressBar {
    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "").map_err(|_| "type mismatch")?;
        if self.active && cx.timer_expiry(0).is_none() {
            cx.schedule_timer_after(0, Duration::ZERO);
        }
        Ok(())
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        (self.status, self.active, self.has_size) = (Status::First, true, false);
        cx.schedule_timer_after(0, Duration::ZERO);
    }

    /// Draws the last bar.
    fn complete(&mut self, is_full: bool, cx: &mut Cx<'_>) {
        if self.dead || !self.active || self.status == Status::Done {
            return;
        }
        if is_full {
            self.has_size = true;
            self.size = total(&self.positions, cx).unwrap_or_default();
        }
        if self.status == Status::First {
            self.begin(cx);
        }
        self.status = Status::Done;
        cx.unschedule_timer(0);
        self.draw(cx);
    }

    fn begin(&mut self, cx: &mut Cx<'_>) {
        if !self.has_size
            && let Some(size) = total(&self.sizes, cx)
        {
            (self.has_size, self.size) = (true, size);
        }
        let now = cx.steady();
        (self.start, self.progress) = (now, now);
        (self.last_position, self.stalled) = (0.0, Duration::ZERO);
        self.status = Status::Middle;
    }

    /// How things are now.
    fn view(&mut self, cx: &mut Cx<'_>) -> View {
        let now = cx.steady();
        let position = total(&self.positions, cx);
        let mut wait = now.since(self.progress);
        if let Some(position) = position.filter(|p| *p > self.last_position) {
            (self.progress, self.last_position) = (now, position);
            if wait >= STALL {
                self.stalled += wait;
            }
            wait = Duration::ZERO;
        }
        View {
            banner: self.banner.clone(),
            position,
            size: self.has_size.then_some(self.size),
            fixed: self.sizes.is_empty(),
            done: self.status == Status::Done,
            elapsed: now.since(self.start).saturating_sub(self.stalled).as_secs_f64(),
            stalled: wait >= STALL,
        }
    }

    fn draw(&mut self, cx: &mut Cx<'_>) {
        let columns = tcgetwinsize(stderr()).map_or(0, |size| usize::from(size.ws_col));
        let line = self.view(cx).line(if columns == 0 { COLUMNS } else { columns });
        // It is for the terminal alone, not for who else listens to messages.
        cx.log().apart().raw(&clickwork_source::text::encode(&line));
        if self.status == Status::Done {
            self.active = false;
        } else {
            cx.schedule_timer_after(0, self.update);
        }
    }
}

/// Whether the terminal is ours at the moment.
fn in_foreground() -> bool {
    tcgetpgrp(stderr()).is_ok_and(|group| group == rustix::process::getpgrp())
}

impl Element for ProgressBar {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        (self.active, self.size) = (true, -1.0);
        for (name, slot) in ["POSHANDLER", "SIZEHANDLER"].iter().zip(&mut self.named) {
            *slot = args.raw(name).unwrap_or_default().to_string();
        }
        let mut time = |name, default| {
            args.get_with(name, SecondsIn(3)).map_or(default, |millis| Duration::from_millis(millis.into()))
        };
        (self.update, self.delay) = (time("UPDATE", UPDATE), time("DELAY", Duration::ZERO));
        args.read("BANNER", &mut self.banner)
            .read("ACTIVE", &mut self.active)
            .read("CHECK_STDOUT", &mut self.check_stdout)
            .read("FIXED_SIZE", &mut self.size);
        self.has_size = args.has("FIXED_SIZE");
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let [positions, sizes] = self.named.clone();
        self.sizes = resolve(&sizes, cx)?;
        self.positions = resolve(&positions, cx)?;
        self.dead = !isatty(stderr()) || self.check_stdout && isatty(stdout());
        if self.active && !self.dead {
            cx.schedule_timer_after(0, Duration::ZERO);
        }
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if !self.active || self.dead || self.status == Status::Done {
            return;
        }
        if self.status == Status::First {
            self.begin(cx);
        }
        let first = self.start + self.delay;
        if !in_foreground() {
            cx.schedule_timer_after(0, self.update);
        } else if cx.steady() < first {
            cx.schedule_timer_at(0, first);
        } else {
            self.draw(cx);
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if self.status == Status::Middle && self.active && in_foreground() {
            self.status = Status::Done;
            self.draw(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::element::downcast;

    const CONFIG: &str = "s :: Source -> c :: Counter -> d :: Counter -> Discard; \
                          p :: ProgressBar(c.count d.count, FIXED_SIZE 10, BANNER \"so far\")";

    /// What would be drawn on a terminal.
    fn view(t: &mut Harness, first: bool) -> View {
        let id = t.router.find("p").unwrap();
        t.router
            .with_element(id, |element, cx| {
                let bar: &mut ProgressBar = downcast(element);
                if first {
                    bar.begin(cx);
                }
                bar.view(cx)
            })
            .unwrap()
    }

    #[test]
    fn positions_are_added_and_time_is_measured() {
        let mut t = Harness::new(CONFIG);
        view(&mut t, true);
        t.push("s", 0, [Packet::new(b"a"), Packet::new(b"b")]);
        let v = view(&mut t, false);
        assert_eq!((v.position, v.size, v.fixed, v.banner.as_str()), (Some(4.0), Some(10.0), true, "so far"));
        assert_eq!(
            (t.read("p.pos"), t.read("p.size"), t.read("p.active")),
            ("4".into(), "10".into(), "true".into())
        );
        let v = view(&mut t, false);
        assert!(!v.stalled && !v.done);
    }

    #[test]
    fn a_pause_is_a_stall_and_does_not_count() {
        let mut t = Harness::new(&format!("{CONFIG}; Script(TYPE ACTIVE, wait 1s, loop)"));
        view(&mut t, true);
        t.run_for(Duration::from_secs(7));
        assert!(view(&mut t, false).stalled);
        let id = t.router.find("s").unwrap();
        let to = clickwork_router::Endpoint { element: id, port: 0 };
        t.router.push(to, clickwork_packet::Batch::one(Packet::new(b"x")));
        let v = view(&mut t, false);
        assert!(!v.stalled && v.elapsed < 0.1, "{v:?}");
    }

    #[test]
    fn handlers_can_be_named_anew() {
        let mut t = Harness::new(CONFIG);
        assert_eq!(
            (t.read("p.poshandler"), t.read("p.sizehandler")),
            ("c.count d.count".into(), String::new())
        );
        t.write("p.sizehandler c.byte_count").unwrap();
        t.write("p.poshandler d.count").unwrap();
        assert_eq!(
            (t.read("p.poshandler"), t.read("p.sizehandler")),
            ("d.count".into(), "c.byte_count".into())
        );
        assert_eq!(t.write("p.poshandler x.y").unwrap_err(), "no element named 'x'");
        assert_eq!(t.write("p.active maybe").unwrap_err(), "type mismatch");
        t.write("p.banner 'to go'").unwrap();
        assert_eq!(t.read("p.banner"), "to go");
        t.write("p.mark_done").unwrap();
        let e = Harness::errors("c :: Idle -> Discard; ProgressBar(c.nothing)");
        assert!(e.contains("no 'c.nothing' read handler"), "{e}");
    }

    #[test]
    fn the_last_bar_is_full() {
        let mut t = Harness::new(&CONFIG.replace("FIXED_SIZE 10, ", ""));
        t.push("s", 0, [Packet::new(b"a")]);
        let id = t.router.find("p").unwrap();
        let v = t.router.with_element(id, |element, cx| {
            let bar: &mut ProgressBar = downcast(element);
            bar.dead = false;
            bar.complete(true, cx);
            bar.view(cx)
        });
        let v = v.unwrap();
        assert_eq!((v.position, v.size, v.done), (Some(2.0), Some(2.0), true));
        assert!(t.printed().starts_with("\rso far 100% |***"));
        assert_eq!(t.read("p.active"), "false");
    }
}
