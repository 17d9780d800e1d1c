//! RoundRobinIPMapper: makes mappings by several patterns in turn.

use super::mapper::{Manner, Mapper, MapperHandle, Target};
use clickwork_router::args::{ArgSpec, ArgType, Args, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes mappings for rewriters by patterns in turn",
    manual: "A rewriter that names this element in an input specification has its mappings made here: each new flow is \
             mapped by the next pattern that has something free. The patterns are those of IPRewriter, with outputs. For \
             sharing load among servers.",
    example: "m :: RoundRobinIPMapper(- - 10.0.0.1 - 0 1, - - 10.0.0.2 - 0 1); \
              Idle => [0-1] rw :: IPRewriter(m, drop) => Discard, Discard",
    ports: "0/0",
    args: &[ARG],
    phase: phase::DEFAULT - 1,
    ..Class::new("RoundRobinIPMapper", "rewriter", || Box::<RoundRobinIPMapper>::default())
};

const ARG: ArgSpec =
    ArgSpec::rest("PATTERN", ArgType::Other("PATTERN FOUTPUT ROUTPUT"), "a pattern with its outputs");

#[derive(Default)]
struct RoundRobinIPMapper {
    handle: Option<Arc<MapperHandle>>,
}

impl Element for RoundRobinIPMapper {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        match args.rest().len() {
            0 => args.error("no patterns given"),
            1 => args.warn("only one pattern given"),
            _ => {}
        }
        let mut targets = Vec::new();
        for index in 0..args.rest().len() {
            match Target::parse(&split_words(&args.rest()[index]), cx) {
                Ok(target) => targets.push(target),
                Err(wrong) => args.error_in_rest(index, wrong),
            }
        }
        let declaration = format!("{} :: {}", cx.name(), CLASS.name);
        let mapper = Mapper { targets, manner: Manner::RoundRobin(0), declaration };
        let handle = Arc::new(MapperHandle::new(mapper));
        cx.export(Arc::clone(&handle));
        self.handle = Some(handle);
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<RoundRobinIPMapper>(old) else { return };
        let (Some(new), Some(old)) = (&self.handle, &old.handle) else { return };
        let (mut new, old) = (new.lock(), old.lock());
        for (new, old) in new.targets.iter().zip(&old.targets).filter(|(n, o)| n.pattern.is_like(&o.pattern))
        {
            new.pattern.continue_from(&old.pattern);
        }
        if let Manner::RoundRobin(next) = old.manner {
            new.manner = Manner::RoundRobin(if next < new.targets.len() { next } else { 0 });
        }
    }
}
