//! QuitWatcher: stops the driver when one of the elements it watches has nothing more to do.

use clickwork_router::args::{ArgSpec, ArgType, Args, ElementRef, FromArg};
use clickwork_router::{Class, Cx, Element, ElementId, Router};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stops the driver when an element's task is no longer scheduled",
    manual: "Looks at the elements it is given every 10 milliseconds. As soon as the task of one of them is not scheduled \
             (its handler 'scheduled' says false), it asks the driver to stop.",
    example: "r :: RatedSource(RATE 100, LIMIT 3) -> Discard; QuitWatcher(r)",
    ports: "0/0",
    args: &[ArgSpec::rest("ELEMENTS", ArgType::Element, "the elements to watch")],
    ..Class::new("QuitWatcher", "control", || Box::<QuitWatcher>::default())
};

const PERIOD: Duration = Duration::from_millis(10);

#[derive(Default)]
struct QuitWatcher {
    names: Vec<ElementRef>,
    watched: Vec<ElementId>,
}

impl Element for QuitWatcher {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (at, text) in args.rest().to_vec().iter().enumerate() {
            match ElementRef::from_arg(text, args.names()) {
                Ok(name) => self.names.push(name),
                Err(_) => args.error_in_rest(at, format!("'{text}' is not an element name")),
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        for ElementRef(name) in &self.names {
            let id = cx.find(name).ok_or_else(|| format!("no element named '{name}'"))?;
            if !cx.router().has_read_handler(id, "scheduled") {
                return Err(format!("no '{name}.scheduled' read handler"));
            }
            self.watched.push(id);
        }
        cx.schedule_timer_after(0, PERIOD);
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let watched = self.watched.clone();
        let me = cx.id();
        cx.defer(move |router| {
            if watched.iter().any(|&id| is_idle(router, id)) {
                router.request_stop();
            } else {
                router.schedule_timer_after(me, 0, PERIOD);
            }
        });
    }
}

fn is_idle(router: &mut Router, id: ElementId) -> bool {
    router.read_handler(id, "scheduled", "").is_ok_and(|value| value.text().trim() == "false")
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;

    #[test]
    fn the_driver_stops_when_a_task_sleeps() {
        let mut t = Harness::new(
            "i :: InfiniteSource(LIMIT 50, STOP false) -> c :: Counter -> Discard;
             j :: InfiniteSource(LIMIT 5, STOP false, ACTIVE true) -> Discard; QuitWatcher(i, j)",
        );
        assert_eq!(t.run(), Outcome::Stopped);
        assert_eq!(t.read("c.count"), "50");
    }

    #[test]
    fn what_has_no_task_cannot_be_watched() {
        assert!(
            Harness::errors("c :: Counter; Idle -> c -> Discard; QuitWatcher(c)")
                .contains("no 'c.scheduled'")
        );
        assert!(Harness::errors("QuitWatcher(nobody)").contains("no element named 'nobody'"));
    }
}
