//! ScheduleInfo: tells how often elements' tasks run.

use clickwork_router::args::{ArgError, ArgParser, ArgSpec, ArgType, Args, Real2, format_real2, split_words};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets how often elements' tasks run",
    manual: "Each argument is the name of an element or compound and a number: how often its task runs, 1 being the \
             default. Numbers of an element and of the compounds around it are multiplied. Where ScheduleInfos of \
             several compounds speak of the same element, the outer one holds.",
    example: "ScheduleInfo(fast 2.5); fast :: InfiniteSource(LIMIT 5, STOP true) -> Discard; \
              InfiniteSource(LIMIT 5) -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest(
        "ELEMENT",
        ArgType::Other("ELEMENT PARAM"),
        "an element or compound, and its share",
    )],
    ..Class::new("ScheduleInfo", "info", || Box::new(ScheduleInfo))
};

/// Bits of fraction of a share; a share of 1 is the default number of tickets.
const FRACTION: u32 = 10;
const DEFAULT: u32 = 1 << FRACTION;
/// The most tickets that a task may have.
const MOST: u64 = 1 << 15;

struct ScheduleInfo;

/// What one ScheduleInfo says.
struct Shares {
    /// The compound it stands in, with a slash behind, or nothing.
    context: String,
    /// Names as seen from there, and shares.
    entries: Vec<(String, u32)>,
}

impl Shares {
    fn of(&self, name: &str) -> Option<u32> {
        let name = name.strip_prefix(&self.context)?;
        self.entries.iter().rev().find(|(entry, _)| entry == name).map(|(_, share)| *share)
    }
}

impl Element for ScheduleInfo {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let context = cx.name().rfind('/').map_or("", |slash| &cx.name()[..=slash]).to_string();
        let mut entries = Vec::new();
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            match parse(entry, args) {
                Ok(Some(share)) => {
                    if !exists(&format!("{context}{}", share.0), cx) {
                        args.warn_in_rest(
                            index,
                            ArgError::new(format!("no element '{}'", share.0)).as_remark(),
                        );
                    }
                    entries.push(share);
                }
                Ok(None) => {}
                Err(error) => args.report_in_rest(index, error),
            }
        }
        cx.export(Arc::new(Shares { context, entries }));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let others = cx.router().ids().filter_map(|id| Some((id, cx.exported::<Shares>(id)?)));
        let (ids, mut all): (Vec<_>, Vec<_>) = others.unzip();
        // The first one speaks for all.
        if ids.first() != Some(&cx.id()) {
            return Ok(());
        }
        // Inner ones first, so that what outer ones say comes later and holds.
        all.sort_by_key(|shares| std::cmp::Reverse(shares.context.len()));
        for id in cx.router().ids() {
            let name = cx.router().info(id).name.clone();
            let wanted = tickets(&name, &all);
            if wanted > MOST {
                let most = format_real2(MOST as i64, FRACTION);
                cx.chatter(&format!("{name}: ScheduleInfo too high; reduced to {most}"));
            }
            if wanted != u64::from(DEFAULT) {
                cx.set_tickets(id, wanted.clamp(1, MOST) as u32);
            }
        }
        Ok(())
    }
}

/// Reads one argument; an empty one says nothing.
fn parse(entry: &str, args: &Args) -> Result<Option<(String, u32)>, ArgError> {
    let wrong = || {
        ArgError::new(format!("expected 'ELEMENTNAME PARAM', got '{entry}'"))
            .hint("PARAM is a number above 0, such as 0.5")
    };
    match split_words(entry).as_slice() {
        [] => Ok(None),
        [name, share] => match Real2(FRACTION).parse(share, args.names()) {
            Ok(share) if share > 0 => Ok(Some((name.trim_end_matches('/').to_string(), share))),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Whether there is an element or compound of that name.
fn exists(name: &str, cx: &Cx<'_>) -> bool {
    cx.router().ids().any(|id| {
        let rest = cx.router().info(id).name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The tickets of the element called `name`: the product of its share and those of the compounds around it.
fn tickets(name: &str, all: &[Arc<Shares>]) -> u64 {
    let ends = name.match_indices('/').map(|(slash, _)| slash).chain([name.len()]);
    let prefixes: Vec<&str> = ends.map(|end| &name[..end]).collect();
    let mut shares = vec![None; prefixes.len()];
    for one in all {
        let said: Vec<Option<u32>> = prefixes.iter().map(|prefix| one.of(prefix)).collect();
        let Some(last) = said.iter().rposition(Option::is_some) else { continue };
        // What an inner one said of compounds on the way to this one no longer holds.
        let first = one.context.matches('/').count();
        shares[first..=last].copy_from_slice(&said[first..=last]);
    }
    let product = |tickets: u64, share: u32| (tickets * u64::from(share)) >> FRACTION;
    shares.into_iter().flatten().fold(u64::from(DEFAULT), product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    fn shares(context: &str, entries: &[(&str, u32)]) -> Arc<Shares> {
        let entries = entries.iter().map(|(name, share)| ((*name).to_string(), *share)).collect();
        Arc::new(Shares { context: context.to_string(), entries })
    }

    #[test]
    fn shares_of_compounds_multiply() {
        let all = [shares("", &[("a", 512), ("a/b/q", 3072), ("x", 100)])];
        assert_eq!(tickets("a/b/q", &all), 1536);
        assert_eq!([tickets("a/r", &all), tickets("x", &all), tickets("xa", &all)], [512, 100, 1024]);
    }

    #[test]
    fn the_outer_one_holds() {
        let all = [shares("a/", &[("q", 2048), ("r", 2048)]), shares("", &[("a/q", 512)])];
        assert_eq!([tickets("a/q", &all), tickets("a/r", &all), tickets("q", &all)], [512, 2048, 1024]);
    }

    #[test]
    fn tasks_get_their_tickets() {
        let mut t = Harness::new(
            "ScheduleInfo(a 0.5, a/d 3, big 100); Idle -> Queue -> big :: Discard; \
             elementclass E { input -> Queue -> d :: Discard; ScheduleInfo(d 9) } Idle -> a :: E",
        );
        assert_eq!([t.read("a/d.tickets"), t.read("big.tickets")], ["1536", "32768"]);
        assert_eq!(t.printed(), "big: ScheduleInfo too high; reduced to 32\n");
    }

    #[test]
    fn entries_are_a_name_and_a_number() {
        let e = Harness::errors("ScheduleInfo(q, q x, q 0, q 1 2)");
        for entry in ["'q'", "'q x'", "'q 0'", "'q 1 2'"] {
            assert!(e.contains(&format!("expected 'ELEMENTNAME PARAM', got {entry}")), "{e}");
        }
    }
}
