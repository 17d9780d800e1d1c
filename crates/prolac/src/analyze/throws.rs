//! Which exceptions can leave each method (section 10).
//!
//! Every body is read once. It leaves *sources*: a raise or a call, with what is caught around it. From then on one
//! exception at a time moves from a method to its callers, and from an override to what it overrides, until nothing
//! changes; each (method, exception) pair moves once. A dynamic call needs no list of targets, because the exceptions of
//! overrides count for the overridden method.

use std::collections::BTreeSet;
use std::rc::Rc;

use clickwork_source::Span;

use super::callee;
use crate::program::tree::{Expr, ExprKind};
use crate::program::{ExceptionId, MethodId, Program, Type};

/// The method, an exception that it lets escape, and the raise or call in its body through which it does.
pub type Escape = (MethodId, ExceptionId, Span);

/// Fills `throws` of every method.
pub fn exceptions(program: &mut Program) {
    let flow = Flow::new(program);
    let throws = flow.solve(program);
    for (method, throws) in program.methods.iter_mut().zip(throws) {
        method.throws = throws;
    }
}

/// The exceptions that escape from methods that must not let any escape: those whose value is neither void nor bool.
/// Each pair is listed once, with the first place in the body. [`exceptions`] must have run.
pub fn escapes(program: &Program) -> Vec<Escape> {
    let mut found = Vec::new();
    for method in program.method_ids().filter(|&m| !may_throw(program, m)) {
        let mut seen = BTreeSet::new();
        for source in sources(program, method) {
            let leaving: Vec<ExceptionId> = match source.what {
                What::Raise(exception) => vec![exception],
                What::Call(callee) => program[callee].throws.iter().copied().collect(),
            };
            for exception in leaving {
                if !source.caught.has(exception) && seen.insert(exception) {
                    found.push((method, exception, source.span));
                }
            }
        }
    }
    found
}

fn may_throw(program: &Program, method: MethodId) -> bool {
    let method = &program[method];
    method.kind.is_constructor()
        || matches!(method.returns, Type::Void | Type::Bool | Type::Never | Type::Error)
}

/// A place in a body where an exception can begin.
struct Source {
    what: What,
    span: Span,
    caught: Caught,
}

enum What {
    Raise(ExceptionId),
    Call(MethodId),
}

/// The exceptions that are caught around a place.
#[derive(Clone)]
enum Caught {
    All,
    These(Rc<BTreeSet<ExceptionId>>),
}

impl Caught {
    fn has(&self, exception: ExceptionId) -> bool {
        match self {
            Caught::All => true,
            Caught::These(these) => these.contains(&exception),
        }
    }

    fn and(&self, more: &Option<Vec<ExceptionId>>) -> Caught {
        match (self, more) {
            (Caught::These(these), Some(more)) => {
                Caught::These(Rc::new(these.iter().chain(more).copied().collect()))
            }
            _ => Caught::All,
        }
    }
}

/// All sources of a body that are not within `catch all`.
fn sources(program: &Program, method: MethodId) -> Vec<Source> {
    let mut found = Vec::new();
    collect(program, &program[method].body.root, &Caught::These(Rc::default()), &mut found);
    found
}

fn collect(program: &Program, expr: &Expr, caught: &Caught, found: &mut Vec<Source>) {
    if let ExprKind::Catch(body, these) = &expr.kind {
        return match caught.and(these) {
            Caught::All => {}
            caught => collect(program, body, &caught, found),
        };
    }
    expr.for_each_child(|part| collect(program, part, caught, found));
    let what = match expr.kind {
        ExprKind::Raise(exception) => Some(What::Raise(exception)),
        _ => callee(program, expr).map(What::Call),
    };
    found.extend(what.map(|what| Source { what, span: expr.span, caught: caught.clone() }));
}

/// How exceptions move between methods.
struct Flow {
    /// For each method, who gets its exceptions, except those caught there.
    callers: Vec<Vec<(MethodId, Caught)>>,
    /// What bodies raise themselves.
    raised: Vec<(MethodId, ExceptionId)>,
}

impl Flow {
    fn new(program: &Program) -> Flow {
        let mut flow = Flow { callers: vec![Vec::new(); program.methods.len()], raised: Vec::new() };
        let nothing = Caught::These(Rc::default());
        for method in program.method_ids() {
            if let Some(overridden) = program[method].overrides {
                flow.callers[method.0 as usize].push((overridden, nothing.clone()));
            }
            for source in sources(program, method) {
                match source.what {
                    What::Raise(e) if source.caught.has(e) => {}
                    What::Raise(e) => flow.raised.push((method, e)),
                    What::Call(callee) => flow.callers[callee.0 as usize].push((method, source.caught)),
                }
            }
        }
        flow
    }

    fn solve(&self, program: &Program) -> Vec<BTreeSet<ExceptionId>> {
        let mut throws = vec![BTreeSet::new(); program.methods.len()];
        let mut moving = self.raised.clone();
        while let Some((method, exception)) = moving.pop() {
            if throws[method.0 as usize].insert(exception) {
                let callers = self.callers[method.0 as usize].iter();
                moving.extend(callers.filter(|(_, c)| !c.has(exception)).map(|&(m, _)| (m, exception)));
            }
        }
        throws
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::testing::{self, Builder};

    fn names(b: &Builder, method: MethodId) -> Vec<String> {
        b.program[method].throws.iter().map(|&e| b.program.exception_name(e)).collect()
    }

    #[test]
    fn exceptions_move_to_callers_and_to_overridden_methods() {
        let mut b = Builder::default();
        let (base, derived) = (b.module("Base", None), b.module("Derived", Some(0)));
        let bad = b.exception(base, "bad");
        let hook = b.method(base, "hook", Type::Bool, testing::truth());
        let over = b.method(derived, "hook", Type::Bool, testing::raise(bad));
        let user = b.method(base, "use", Type::Bool, testing::call(hook));
        let safe = b.method(base, "safe", Type::Bool, testing::catch(testing::call(user), None));
        exceptions(&mut b.program);
        for method in [hook, over, user] {
            assert_eq!(names(&b, method), ["Base.bad"]);
        }
        assert!(names(&b, safe).is_empty());
        assert_eq!(escapes(&b.program), []);
    }

    #[test]
    fn recursion_ends_and_catch_removes_only_what_it_lists() {
        let mut b = Builder::default();
        let m = b.module("M", None);
        let (one, two) = (b.exception(m, "one"), b.exception(m, "two"));
        let again = b.next_method();
        let body = testing::sequence(vec![testing::call(again), testing::raise(one), testing::raise(two)]);
        let again = b.method(m, "again", Type::Void, body);
        let caught = testing::catch(testing::call(again), Some(vec![one]));
        let user = b.method(m, "use", Type::Void, caught);
        exceptions(&mut b.program);
        assert_eq!(names(&b, again), ["M.one", "M.two"]);
        assert_eq!(names(&b, user), ["M.two"]);
    }

    #[test]
    fn a_method_with_an_integer_value_lets_nothing_escape() {
        let mut b = Builder::default();
        let m = b.module("M", None);
        let bad = b.exception(m, "bad");
        let thrower = b.method(m, "thrower", Type::Void, testing::raise(bad));
        let body = testing::sequence(vec![testing::call(thrower), testing::int(1)]);
        let value = b.method(m, "value", Type::INT, body);
        exceptions(&mut b.program);
        assert_eq!(escapes(&b.program), [(value, bad, Span::NONE)]);
    }

    #[test]
    fn making_an_object_calls_its_constructor() {
        let mut b = Builder::default();
        let m = b.module("M", None);
        let bad = b.exception(m, "bad");
        let constructor = b.program[m].constructor;
        b.program[constructor].body.root = testing::raise(bad);
        let user = b.method(m, "make", Type::Void, testing::construct(m));
        exceptions(&mut b.program);
        assert_eq!(names(&b, user), ["M.bad"]);
    }
}
