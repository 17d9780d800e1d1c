//! IPRewriterPatterns: names for patterns that several inputs use.

use super::pattern::Pattern;
use clickwork_router::args::{ArgSpec, ArgType, Args, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element, Router};
use std::sync::{Arc, Mutex, PoisonError};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives names to patterns of rewriters",
    manual: "Each argument is a name and a pattern, as inputs of IPRewriter and its relatives take it. Inputs that say \
             'pattern NAME FOUTPUT ROUTPUT' share the pattern, and take turns in its range of ports or addresses. A name is \
             known in the compound element where it is given, and in those within.",
    example: "IPRewriterPatterns(nat 1.0.0.1 1024-65535 - -); Idle -> rw :: IPRewriter(pattern nat 0 0) -> Discard",
    ports: "0/0",
    args: &[ArgSpec::rest("PATTERN", ArgType::Other("NAME PATTERN"), "a name and what it stands for")],
    phase: phase::INFO,
    ..Class::new("IPRewriterPatterns", "rewriter", || Box::<Patterns>::default())
};

/// The patterns that an element names.
#[derive(Default)]
struct Named(Mutex<Vec<(String, Arc<Pattern>)>>);

impl Named {
    fn get(&self, name: &str) -> Option<Arc<Pattern>> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().find(|(n, _)| n == name).map(|(_, pattern)| Arc::clone(pattern))
    }
}

#[derive(Default)]
struct Patterns {
    named: Arc<Named>,
}

/// The compound element that a full name is in, with a slash; empty at the top.
fn compound(name: &str) -> &str {
    name.rfind('/').map_or("", |slash| &name[..=slash])
}

/// The pattern that a name means to an element: the definition in the innermost compound element around it.
fn find(router: &Router, name: &str, user: &str) -> Option<Arc<Pattern>> {
    let definers = router.ids().filter(|&id| std::ptr::eq(router.info(id).class, &CLASS));
    let visible = definers.filter_map(|id| {
        let scope = compound(&router.info(id).name);
        let named = compound(user).starts_with(scope).then(|| router.exported::<Named>(id)).flatten()?;
        Some((scope.len(), named.get(name)?))
    });
    visible.max_by_key(|(depth, _)| *depth).map(|(_, pattern)| pattern)
}

/// A pattern, given by its words or by its name.
///
/// # Errors
/// What is wrong with it, in Click's words.
pub fn parse(words: &[String], cx: &Cx<'_>) -> Result<Arc<Pattern>, String> {
    match words {
        [name] => find(cx.router(), name, cx.name()).ok_or_else(|| format!("no such pattern '{name}'")),
        _ => Pattern::parse(words, &cx.names()).map(Arc::new),
    }
}

impl Element for Patterns {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        cx.export(Arc::clone(&self.named));
        for index in 0..args.rest().len() {
            let words = split_words(&args.rest()[index]);
            let [name, words @ ..] = &words[..] else { continue };
            if find(cx.router(), name, cx.name()).is_some() {
                args.error_in_rest(index, format!("pattern '{name}' already defined"));
                continue;
            }
            match parse(words, cx) {
                Ok(pattern) => {
                    let mut list = self.named.0.lock().unwrap_or_else(PoisonError::into_inner);
                    list.push((name.clone(), pattern));
                }
                Err(wrong) => args.error_in_rest(index, wrong),
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<Patterns>(old) else { return };
        let list = self.named.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, pattern) in list.iter() {
            if let Some(before) = old.named.get(name).filter(|before| pattern.is_like(before)) {
                pattern.continue_from(&before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn names_are_known_where_they_are_given_and_within() {
        let config = |inner: &str| {
            format!(
                "IPRewriterPatterns(p 1.0.0.1 - - -, , q p); \
                 elementclass C {{ {inner} input -> rw :: IPRewriter(pattern p 0 0) -> output }} \
                 Idle -> c :: C -> Discard; Idle -> d :: IPRewriter(pattern q 0 0) -> Discard"
            )
        };
        let mut t = Harness::new(&config(""));
        assert_eq!(
            (t.read("c/rw.patterns"), t.read("d.pattern0")),
            ("1.0.0.1 - - -\n".into(), "1.0.0.1 - - -\n".into())
        );
        let e = Harness::errors(&config("IPRewriterPatterns(p 2.0.0.2 - - -);"));
        assert!(e.contains("pattern 'p' already defined"), "{e}");
        let e = Harness::errors(
            "elementclass C { IPRewriterPatterns(r - - 1.0.0.1 -); input -> output } \
             Idle -> C -> IPRewriter(pattern r 0 0) -> Discard",
        );
        assert!(e.contains("input spec 0: no such pattern 'r'"), "{e}");
    }

    #[test]
    fn mistakes_are_all_reported() {
        let e =
            Harness::errors("IPRewriterPatterns(p 1.0.0.1 x - -, q, r s, p2 - -, p2 - -); Idle -> Discard");
        for wrong in
            ["bad source port", "syntax error", "no such pattern 's'", "pattern 'p2' already defined"]
        {
            assert!(e.contains(wrong), "{wrong}: {e}");
        }
    }
}
