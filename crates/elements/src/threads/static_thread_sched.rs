//! StaticThreadSched: says which thread an element's task runs on.

use clickwork_router::args::{ArgError, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "assigns elements to threads, of which there is one",
    manual: "Each argument is the name of an element or compound and the number of a thread. A router runs on one thread here, \
             number 0, as Click does unless it is given more: names and numbers are checked, other numbers \
             give a warning as they do there, and everything runs on thread 0. Also an element assigned to thread -1 runs, \
             which Click would not let run.",
    example: "StaticThreadSched(s 0); s :: InfiniteSource(LIMIT 5, STOP true) -> Discard",
    ports: "0/0",
    args: &[ArgSpec::rest(
        "ELEMENT",
        ArgType::Other("ELEMENT THREAD"),
        "an element or compound, and its thread",
    )],
    ..Class::new("StaticThreadSched", "threads", || Box::new(StaticThreadSched))
};

/// What one argument says.
const ENTRY: &[ArgSpec] = &[
    ArgSpec::required("ELEMENT", ArgType::Element, "an element or compound"),
    ArgSpec::required("THREAD", ArgType::I32, "its thread"),
];

struct StaticThreadSched;

impl Element for StaticThreadSched {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            match check(entry, args, cx) {
                Ok(0) => {}
                Ok(-1) => args.warn_in_rest(index, ArgError::new("thread preference -1 has no effect")),
                Ok(thread) => {
                    let message = format!("thread preference {thread} out of range");
                    args.warn_in_rest(index, ArgError::new(message).hint("there is one thread, number 0"));
                }
                Err(errors) => errors.into_iter().for_each(|e| args.report_in_rest(index, e)),
            }
        }
    }
}

/// The thread that an argument names, if all is well with it.
fn check(entry: &str, args: &Args, cx: &Cx<'_>) -> Result<i32, Vec<ArgError>> {
    let mut words = Args::from_words(ENTRY, entry, args.names());
    let name: String = words.get("ELEMENT").unwrap_or_default();
    let thread = words.get("THREAD").unwrap_or_default();
    words.finish().map_err(|e| e.0.into_iter().map(|e| e.at(None)).collect::<Vec<_>>())?;
    match is_known(&name, cx) {
        true => Ok(thread),
        false => Err(vec![ArgError::new(format!("'{name}' does not name an element"))]),
    }
}

/// Whether an element or compound has the name, as seen from here.
fn is_known(name: &str, cx: &Cx<'_>) -> bool {
    let context = cx.name().rfind('/').map_or("", |slash| &cx.name()[..=slash]);
    let compound = format!("{context}{name}/");
    let mut ids = cx.router().ids();
    cx.find(name).is_some()
        || !name.is_empty() && ids.any(|id| cx.router().info(id).name.starts_with(&compound))
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn elements_and_compounds_are_known_and_everything_runs_on_thread_0() {
        let mut t = Harness::new(
            "elementclass Pair { a :: Idle -> b :: Discard; StaticThreadSched(a 0) } p :: Pair; \
             StaticThreadSched(p 0, p/b 0, q 0); q :: Queue; Idle -> q -> d :: Discard",
        );
        t.run();
        assert_eq!(t.read("d.home_thread"), "0");
    }

    #[test]
    fn mistakes_are_named() {
        for (argument, message) in [
            ("nobody 0", "'nobody' does not name an element"),
            ("d", "THREAD: required argument missing"),
            ("d x", "THREAD: "),
            ("d 0 1", "too many arguments"),
        ] {
            let e = Harness::errors(&format!("d :: Idle -> Discard; StaticThreadSched({argument})"));
            assert!(e.contains(message), "{argument}: {e}");
        }
    }

    #[test]
    fn threads_that_are_not_there_are_accepted() {
        Harness::new("d :: Idle -> Discard; StaticThreadSched(d 3, d -1, d -5)").run();
    }
}
