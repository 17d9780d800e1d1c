//! Inlining: bodies take the place of calls (sections 11 and 12).
//!
//! In: bodies with direct calls, folded. Out: bodies in which calls are replaced where [`Inliner::decide`] says so, and
//! which are folded again. Methods are done callees first, so that what is copied is finished; work is in proportion to the
//! size of the result, which is bounded for each body and for the program.
//!
//! - A level of 2 or 3 asks for inlining, 0 forbids it, 1 or none leaves it to us: forwarders, generated constructors and
//!   bodies of at most [`SMALL`] nodes; with heuristics also what is called once and short bodies in code that is not cold.
//! - Level 3 goes along the path: all calls in the copy are inlined too, but not in cold code (`outline` of level 5 and more).
//! - A method is never inlined into itself or into its own copy, so that recursion is inlined one level deep.
//! - The level of a call of a forwarder is meant for what it forwards to.

use std::collections::HashMap;

use clickwork_source::Span;

use super::devirtualise::devirtualise_exact;
use super::fold::{fold, rewrite_with};
use super::instantiate::{Callee, Caller, instantiate};
use super::propagate::propagate;
use super::report::{Fate, Reason};
use crate::analyze::callgraph::CallGraph;
use crate::analyze::effects::Usage;
use crate::analyze::reach::Reach;
use crate::program::tree::{Body, Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, MethodKind, ModuleId, Program, Type};

/// Bodies of so many nodes are inlined without being asked.
const SMALL: u32 = 5;
/// With heuristics, so many.
const SHORT: u32 = 24;
/// With heuristics, so many if there is one call only.
const CALLED_ONCE: u32 = 400;
/// The most nodes that a body may grow to by inlining that nobody asked for.
const LIMIT: u32 = 3_000;
/// The most nodes that a body may grow to by inlining that was asked for.
const LIMIT_ASKED: u32 = 30_000;
/// The program may grow to so many times its size, and a little more.
const GROWTH: u32 = 8;
const GROWTH_FREE: u32 = 60_000;
/// How deep trees may become.
const DEPTH: u32 = 2_000;
/// Outline levels from here on are cold code.
pub(crate) const COLD: u8 = 5;

/// What became of the call at a place of a method, if it was looked at.
pub type Fates = HashMap<(MethodId, Span, MethodId), Fate>;

/// Inlines in all methods of the graph. With `direct`, dispatches on what turns out to be a variable become direct.
pub fn inline(
    program: &mut Program,
    graph: &CallGraph,
    reach: &Reach,
    heuristics: bool,
    direct: bool,
) -> Fates {
    let facts = program.methods.iter().map(|m| Facts::new(&m.body)).collect::<Vec<_>>();
    let size: u32 = graph.order().iter().map(|m| facts[m.0 as usize].size).fold(0, u32::saturating_add);
    let mut inliner = Inliner {
        once: called_once(program, graph, reach),
        typed: typed_modules(program, reach),
        originals: originals(program, graph),
        program,
        graph,
        heuristics,
        direct,
        facts,
        free: size.saturating_mul(GROWTH).saturating_add(GROWTH_FREE),
        fates: Fates::new(),
    };
    for &method in graph.order() {
        inliner.method(method);
    }
    inliner.fates
}

/// The bodies of recursive methods as they are before inlining.
fn originals(program: &Program, graph: &CallGraph) -> HashMap<MethodId, Body> {
    let recursive = graph.order().iter().filter(|&&m| graph.is_recursive(m));
    recursive.map(|&m| (m, program[m].body.clone())).collect()
}

/// The methods with one call in the program, not counting that a forwarder passes it on, and that nobody else can call.
fn called_once(program: &Program, graph: &CallGraph, reach: &Reach) -> Vec<bool> {
    let mut counts = vec![0u32; program.methods.len()];
    for &export in &program.exports {
        counts[export.0 as usize] = 2;
    }
    for (site, _) in reach.sites() {
        reach.targets(program, site).into_iter().for_each(|target| counts[target.0 as usize] = 2);
    }
    for &caller in graph.order().iter().rev() {
        let forwarder = program[caller].kind == MethodKind::Forwarder;
        let each = if forwarder { counts[caller.0 as usize] } else { 1 };
        for callee in graph.calls(caller) {
            let count = &mut counts[callee.0 as usize];
            *count = count.saturating_add(each);
        }
    }
    counts.into_iter().map(|count| count == 1).collect()
}

/// For each module, whether a dispatch can ask for the run-time type of its objects.
fn typed_modules(program: &Program, reach: &Reach) -> Vec<bool> {
    let mut typed = vec![false; program.modules.len()];
    for ((module, _), _) in reach.sites() {
        for constructed in reach.constructed(module) {
            typed[constructed.0 as usize] = true;
        }
    }
    typed
}

/// What the decision needs to know about a body.
#[derive(Clone, Debug, Default)]
struct Facts {
    size: u32,
    depth: u32,
    /// Has C code that must not be copied.
    pinned: bool,
    /// Has no body.
    missing: bool,
    /// Has a dispatch.
    dispatches: bool,
}

impl Facts {
    fn new(body: &Body) -> Facts {
        let mut facts = Facts::default();
        facts.add(&body.root, 1);
        facts
    }

    fn add(&mut self, expr: &Expr, depth: u32) {
        match &expr.kind {
            ExprKind::Convert(_) | ExprKind::Nothing => {}
            ExprKind::Missing => self.missing = true,
            ExprKind::CBlock(block) => {
                self.pinned |= block.pinned;
                self.size += 3;
            }
            ExprKind::Call(call) => {
                self.dispatches |= call.dispatch == Dispatch::Dynamic;
                self.size += 1;
            }
            _ => self.size += 1,
        }
        self.depth = self.depth.max(depth);
        expr.for_each_child(|part| self.add(part, depth + 1));
    }
}

struct Inliner<'a> {
    program: &'a mut Program,
    graph: &'a CallGraph,
    /// The modules whose objects need a run-time type.
    typed: Vec<bool>,
    heuristics: bool,
    /// Whether dispatches may become direct.
    direct: bool,
    facts: Vec<Facts>,
    once: Vec<bool>,
    originals: HashMap<MethodId, Body>,
    /// How many nodes the program may still grow by.
    free: u32,
    fates: Fates,
}

/// Where in the result a call stands.
#[derive(Clone, Copy)]
struct Place {
    /// In a copy made for `pathinline`.
    path: bool,
    /// In code that is seldom run.
    cold: bool,
    /// How deep.
    depth: u32,
}

/// The body that is being inlined into.
struct Work {
    body: Body,
    usage: Usage,
    size: u32,
    /// The method and those whose copies are around the place in hand.
    stack: Vec<MethodId>,
}

impl Inliner<'_> {
    fn method(&mut self, method: MethodId) {
        let mut body = self.take_body(method);
        unfold_constructions(&mut body.root);
        let usage = Usage::new(&body);
        let size = self.facts[method.0 as usize].size;
        let root = std::mem::replace(&mut body.root, Expr::nothing(Span::NONE));
        let mut work = Work { body, usage, size, stack: vec![method] };
        let mut root = root;
        self.expr(&mut work, &mut root, Place { path: false, cold: false, depth: 1 });
        work.body.root = root;
        clean(self.program, &mut work.body);
        self.facts[method.0 as usize] = Facts::new(&work.body);
        self.program[method].body = work.body;
    }

    /// Takes a body out; its variables stay, because calls of the method look at its parameters.
    fn take_body(&mut self, method: MethodId) -> Body {
        let body = &mut self.program[method].body;
        let root = std::mem::replace(&mut body.root, Expr::nothing(Span::NONE));
        Body { locals: body.locals.clone(), root }
    }

    fn expr(&mut self, work: &mut Work, expr: &mut Expr, place: Place) {
        let inner = Place { depth: place.depth + 1, ..place };
        match &mut expr.kind {
            ExprKind::Outline(level, part) => {
                let cold = place.cold || *level >= COLD;
                self.expr(work, part, Place { cold, ..inner });
            }
            _ => expr.for_each_child_mut(|part| self.expr(work, part, inner)),
        }
        if self.direct {
            devirtualise_exact(self.program, expr);
        }
        if let Some(call) = asked(self.program, expr) {
            let fate = match self.decide(work, &call, place) {
                Ok(()) => {
                    rewrite_with(expr, |e| self.replace(work, e, &call, place));
                    Fate::Inlined
                }
                Err(reason) => Fate::Kept(reason),
            };
            self.keep_recursion_out(expr, fate);
            if let [caller] = work.stack[..] {
                self.fates.insert((caller, call.span, call.method), fate);
            }
        }
    }

    /// A call that stays because its method is being inlined stays for good.
    fn keep_recursion_out(&self, expr: &mut Expr, fate: Fate) {
        if let (ExprKind::Call(call), Fate::Kept(Reason::Recursive)) = (&mut expr.kind, fate) {
            call.level = Some(0);
        }
    }

    fn decide(&self, work: &Work, call: &Asked, place: Place) -> Result<(), Reason> {
        let facts = &self.facts[call.method.0 as usize];
        let kind = self.program[call.method].kind;
        if call.dynamic {
            return Err(Reason::Dynamic);
        }
        if call.constructs.is_some_and(|m| self.typed[m.0 as usize]) {
            return Err(Reason::Construction);
        }
        if facts.missing || facts.pinned {
            return Err(if facts.missing { Reason::Missing } else { Reason::Pinned });
        }
        if work.stack.contains(&call.method) {
            return Err(Reason::Recursive);
        }
        let path = place.path && !place.cold;
        let asked = match call.level {
            _ if kind == MethodKind::Forwarder => true,
            Some(0) => return Err(Reason::Forbidden),
            level => path || level.is_some_and(|level| level >= 2),
        };
        if !asked && !self.worth_it(work, call.method, place) {
            return Err(Reason::NotAsked(facts.size));
        }
        let limit = if asked { LIMIT_ASKED } else { LIMIT };
        let size = work.size.saturating_add(facts.size);
        if facts.size > SMALL && (size > limit || facts.size > self.free) {
            return Err(Reason::TooLarge);
        }
        if place.depth.saturating_add(facts.depth) > DEPTH {
            return Err(Reason::TooDeep);
        }
        Ok(())
    }

    /// Whether to inline what nobody asked for.
    fn worth_it(&self, work: &Work, method: MethodId, place: Place) -> bool {
        let size = self.facts[method.0 as usize].size;
        let generated = self.program[method].kind == MethodKind::GeneratedConstructor;
        let in_forwarder = work.stack.last().is_some_and(|&m| self.program[m].kind == MethodKind::Forwarder);
        if size <= SMALL || (generated && size <= SHORT) {
            return true;
        }
        let eligible = self.heuristics && !in_forwarder && !self.graph.is_recursive(method);
        eligible && (self.once[method.0 as usize] && size <= CALLED_ONCE || !place.cold && size <= SHORT)
    }

    fn replace(&mut self, work: &mut Work, expr: Expr, call: &Asked, place: Place) -> Expr {
        let Facts { size, dispatches, .. } = self.facts[call.method.0 as usize];
        work.size = work.size.saturating_add(size);
        self.free = self.free.saturating_sub(size);
        let (ty, span) = (expr.ty.clone(), expr.span);
        let (receiver, args) = parts(expr);
        let again = self.graph.same_component(work.stack[0], call.method);
        let original = self.originals.get(&call.method).filter(|_| again);
        let method = &self.program[call.method];
        let body = original.unwrap_or(&method.body);
        let callee =
            Callee { body, usage: &Usage::new(body), module: method.module, params: method.params as usize };
        let mut caller = Caller { locals: &mut work.body.locals, usage: &mut work.usage };
        let mut copy = instantiate(&mut caller, &callee, receiver, args);
        let forwards = method.kind == MethodKind::Forwarder;
        let path = call.level == Some(3) || (place.path && !place.cold);
        if forwards {
            pass_level(&mut copy.body, call.level);
        }
        if path || again || forwards || (self.direct && dispatches) {
            work.stack.push(call.method);
            let depth = place.depth + 1;
            self.expr(work, &mut copy.body, Place { path, depth, ..place });
            work.stack.pop();
        }
        fit(copy.close(span), &ty)
    }
}

/// Folds and propagates until little is left to do.
fn clean(program: &Program, body: &mut Body) {
    fold(program, &mut body.root);
    for _ in 0..2 {
        if !propagate(body) {
            break;
        }
        fold(program, &mut body.root);
    }
}

/// A call that could be inlined.
struct Asked {
    method: MethodId,
    level: Option<u8>,
    dynamic: bool,
    /// The module of which it constructs an object.
    constructs: Option<ModuleId>,
    span: Span,
}

fn asked(program: &Program, expr: &Expr) -> Option<Asked> {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Call(call) => {
            let dynamic = call.dispatch == Dispatch::Dynamic;
            Some(Asked { method: call.method, level: call.level, dynamic, constructs: None, span })
        }
        ExprKind::ConstructAt { place, module, .. } if !matches!(place.ty, Type::Array(..)) => {
            let method = program[*module].constructor;
            Some(Asked { method, level: None, dynamic: false, constructs: Some(*module), span })
        }
        _ => None,
    }
}

/// The receiver and the arguments of what [`asked`] describes.
fn parts(expr: Expr) -> (Option<Expr>, Vec<Expr>) {
    match expr.kind {
        ExprKind::Call(call) => {
            let Call { receiver, args, .. } = *call;
            (receiver, args)
        }
        ExprKind::ConstructAt { place, args, .. } => {
            let ty = Type::pointer(place.ty.clone());
            (Some(Expr::new(ty, place.span, ExprKind::AddressOf(place))), args)
        }
        _ => (None, Vec::new()),
    }
}

/// Gives the level of a call of a forwarder to the call in its copy.
fn pass_level(copy: &mut Expr, level: Option<u8>) {
    match &mut copy.kind {
        ExprKind::Convert(part) => pass_level(part, level),
        ExprKind::Let(_, body) => pass_level(body, level),
        ExprKind::Call(call) => call.level = level.or(call.level),
        _ => {}
    }
}

/// A body's value where the call's was expected.
fn fit(expr: Expr, ty: &Type) -> Expr {
    if expr.ty == *ty || expr.ty == Type::Never {
        return expr;
    }
    let span = expr.span;
    Expr::new(ty.clone(), span, ExprKind::Convert(Box::new(expr)))
}

/// `let v = M(args) in e` becomes `let v in v.constructor(args), e`, whose constructor can be inlined.
fn unfold_constructions(expr: &mut Expr) {
    expr.for_each_child_mut(unfold_constructions);
    let ExprKind::Let(bindings, _) = &expr.kind else { return };
    let constructs = |value: &Option<Expr>| {
        value.as_ref().is_some_and(|value| matches!(value.kind, ExprKind::Construct { .. }))
    };
    if bindings.iter().any(|(_, value)| constructs(value)) {
        rewrite_with(expr, unfold);
    }
}

fn unfold(expr: Expr) -> Expr {
    let ExprKind::Let(bindings, body) = expr.kind else { return expr };
    let mut result = *body;
    for (local, value) in bindings.into_iter().rev() {
        let (value, construction) = match value {
            Some(Expr { ty, span, kind: ExprKind::Construct { module, args } }) => {
                let place = Box::new(Expr::new(ty, span, ExprKind::Local(local)));
                let kind = ExprKind::ConstructAt { place, module, args };
                (None, Some(Expr::new(Type::Void, span, kind)))
            }
            value => (value, None),
        };
        if let Some(construction) = construction {
            let (ty, span) = (result.ty.clone(), result.span);
            result = Expr::new(ty, span, ExprKind::Sequence(vec![construction, result]));
        }
        let ty = result.ty.clone();
        result = Expr::new(ty, expr.span, ExprKind::Let(vec![(local, value)], Box::new(result)));
    }
    result
}
