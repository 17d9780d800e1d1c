//! What evaluating an expression reads, writes and can prevent: whether two expressions can change places.
//!
//! Local variables whose address is not taken are told apart; all other memory is one thing. Methods are summarised
//! over the whole program.

use std::collections::BTreeSet;

use super::reach::Reach;
use crate::program::tree::{BinaryOp, CPiece, Call, Dispatch, Expr, ExprKind, UpdateOp};
use crate::program::{ExceptionId, LocalId, MethodId, Program};

/// What an evaluation touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// Locals read, a bit for each; locals 128 apart share one.
    reads: u128,
    /// Locals written.
    writes: u128,
    /// Whether other memory is read.
    loads: bool,
    /// Whether other memory is written, or anything happens that the world can see.
    stores: bool,
    /// Whether it can end without a value: by an exception, or with the program.
    stops: bool,
}

impl Effects {
    /// Whether it changes anything or can prevent what comes after it.
    pub fn has_effect(self) -> bool {
        self.writes != 0 || self.stores || self.stops
    }

    /// Whether the order of the two can be told from the outside.
    pub fn conflicts(self, other: Effects) -> bool {
        let locals = self.writes & (other.reads | other.writes) | self.reads & other.writes;
        let memory = self.stores && (other.loads || other.stores) || self.loads && other.stores;
        let order = self.stops && other.has_effect() || other.stops && self.has_effect();
        locals != 0 || memory || order
    }

    /// Both.
    pub fn and(self, other: Effects) -> Effects {
        Effects {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
            loads: self.loads || other.loads,
            stores: self.stores || other.stores,
            stops: self.stops || other.stops,
        }
    }

    fn outside(self) -> Effects {
        Effects { reads: 0, writes: 0, ..self }
    }
}

fn bit(local: LocalId) -> u128 {
    1 << (local.0 % 128)
}

/// What a call of a method does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// To memory.
    pub effects: Effects,
    /// The exceptions that can leave the very definition.
    pub throws: BTreeSet<ExceptionId>,
    /// The locals whose address is taken.
    pub shared: Vec<bool>,
}

/// Summaries of all methods that are reachable.
pub(super) fn summaries(program: &Program, reach: &Reach) -> Vec<Summary> {
    let shared = |id: MethodId| Summary { shared: shared(program, id), ..Summary::default() };
    let methods = reach.callees_first(program);
    let mut all: Vec<Summary> = program.method_ids().map(shared).collect();
    loop {
        let mut changed = false;
        for &id in &methods {
            let scan = Scan { program, reach, summaries: &all, shared: &all[id.0 as usize].shared };
            let root = &program[id].body.root;
            let (effects, throws) = (scan.effects(root).outside(), scan.throws(root));
            let old = &mut all[id.0 as usize];
            changed |= old.effects != effects || old.throws != throws;
            (old.effects, old.throws) = (effects, throws);
        }
        if !changed {
            return all;
        }
    }
}

fn shared(program: &Program, id: MethodId) -> Vec<bool> {
    let body = &program[id].body;
    let mut shared = vec![false; body.locals.len()];
    body.root.walk(&mut |e| {
        let address = match &e.kind {
            ExprKind::AddressOf(place) => Some(place),
            ExprKind::ConstructAt { place, .. } => Some(place),
            ExprKind::Convert(place) if matches!(place.ty, crate::program::Type::Array(..)) => Some(place),
            _ => None,
        };
        if let Some(LocalId(local)) = address.and_then(|place| root_local(place)) {
            shared[local as usize] = true;
        }
    });
    shared
}

/// The local that a place is, or is a part of.
pub(super) fn root_local(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Field(object, _) => root_local(object),
        _ => None,
    }
}

/// Looks at the expressions of one method.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    /// The program.
    pub program: &'a Program,
    /// What it can reach.
    pub reach: &'a Reach,
    /// What calls do.
    pub summaries: &'a [Summary],
    /// Which locals have their address taken.
    pub shared: &'a [bool],
}

impl Scan<'_> {
    /// What an expression does.
    pub fn effects(&self, e: &Expr) -> Effects {
        let mut all = self.own(e);
        match &e.kind {
            ExprKind::AddressOf(place) => return all.and(self.address(place)),
            ExprKind::Assign(place, value) => {
                return all.and(self.address(place)).and(self.effects(value));
            }
            ExprKind::ConstructAt { place, args, .. } => {
                all = all.and(self.address(place));
                return args.iter().fold(all, |all, arg| all.and(self.effects(arg)));
            }
            _ => {}
        }
        e.for_each_child(|child| all = all.and(self.effects(child)));
        all
    }

    /// What finding a place does, without reading it.
    pub fn address(&self, place: &Expr) -> Effects {
        match &place.kind {
            ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => Effects::default(),
            ExprKind::Field(object, _) => self.address(object),
            ExprKind::Deref(pointer) => self.effects(pointer),
            _ => self.effects(place),
        }
    }

    /// What an expression itself does, apart from its parts.
    fn own(&self, e: &Expr) -> Effects {
        let loads = Effects { loads: true, ..Effects::default() };
        let stops = Effects { stops: true, ..Effects::default() };
        match &e.kind {
            ExprKind::Local(local) => self.local(*local),
            ExprKind::This | ExprKind::StaticField(_) | ExprKind::Deref(_) => loads,
            ExprKind::Assign(place, _) => self.write(place),
            ExprKind::Update { place, op, value, .. } => {
                let update = self.write(place).and(self.effects(place));
                if matches!(op, UpdateOp::Binary(op) if can_trap(*op, value)) {
                    update.and(stops)
                } else {
                    update
                }
            }
            ExprKind::Step { place, .. } => self.write(place).and(self.effects(place)),
            ExprKind::Binary(op, _, b) if can_trap(*op, b) => stops,
            ExprKind::Call(call) => self.call(call),
            ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => self
                .summary(self.program[*module].constructor)
                .and(Effects { loads: true, stores: true, ..Effects::default() }),
            ExprKind::Raise(_) => stops,
            ExprKind::Missing => Effects { stores: true, stops: true, ..Effects::default() },
            ExprKind::CBlock(block) => {
                let locals = block.pieces.iter().filter_map(|piece| match piece {
                    CPiece::Value(value) => root_local(value),
                    CPiece::Text(..) => None,
                });
                let touched = locals.fold(0, |all, local| all | bit(local));
                Effects { reads: touched, writes: touched, loads: true, stores: true, stops: true }
            }
            _ => Effects::default(),
        }
    }

    fn local(&self, local: LocalId) -> Effects {
        let loads = self.is_shared(local);
        let reads = if loads { 0 } else { bit(local) };
        Effects { reads, loads, ..Effects::default() }
    }

    /// What storing in a place does.
    pub fn write(&self, place: &Expr) -> Effects {
        match root_local(place) {
            Some(local) if !self.is_shared(local) => Effects { writes: bit(local), ..Effects::default() },
            _ => Effects { stores: true, ..Effects::default() },
        }
    }

    /// Whether pointers to the local can exist.
    pub fn is_shared(&self, local: LocalId) -> bool {
        self.shared.get(local.0 as usize).copied().unwrap_or(true)
    }

    fn call(&self, call: &Call) -> Effects {
        match call.dispatch {
            Dispatch::Exact => self.summary(call.method),
            Dispatch::Dynamic => {
                let targets = self.reach.targets(self.program, call);
                let loads = Effects { loads: true, ..Effects::default() };
                targets.iter().fold(loads, |all, &target| all.and(self.summary(target)))
            }
        }
    }

    fn summary(&self, method: MethodId) -> Effects {
        self.summaries[method.0 as usize].effects
    }

    /// The exceptions that can leave a call.
    pub fn call_throws(&self, call: &Call) -> BTreeSet<ExceptionId> {
        match call.dispatch {
            Dispatch::Exact => self.method_throws(call.method),
            Dispatch::Dynamic => {
                let targets = self.reach.targets(self.program, call);
                targets.iter().flat_map(|&target| self.method_throws(target)).collect()
            }
        }
    }

    /// The exceptions that can leave a definition.
    pub fn method_throws(&self, method: MethodId) -> BTreeSet<ExceptionId> {
        self.summaries[method.0 as usize].throws.clone()
    }

    /// The exceptions that can leave an expression.
    pub fn throws(&self, e: &Expr) -> BTreeSet<ExceptionId> {
        let mut all = match &e.kind {
            ExprKind::Raise(exception) => BTreeSet::from([*exception]),
            ExprKind::Call(call) => self.call_throws(call),
            ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
                self.method_throws(self.program[*module].constructor)
            }
            _ => BTreeSet::new(),
        };
        e.for_each_child(|child| all.append(&mut self.throws(child)));
        match &e.kind {
            ExprKind::Catch(_, None) => all.clear(),
            ExprKind::Catch(_, Some(caught)) => all.retain(|exception| !caught.contains(exception)),
            _ => {}
        }
        all
    }
}

/// Whether the operation can divide by zero.
pub(super) fn can_trap(op: BinaryOp, divisor: &Expr) -> bool {
    let (low, high) = super::ranges::of(divisor);
    matches!(op, BinaryOp::Divide | BinaryOp::Remainder) && low <= 0 && high >= 0
}
