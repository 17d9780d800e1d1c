//! What the evaluation of an expression can change, see or end, and which variables a body ever changes.
//!
//! The optimiser asks two questions. May an expression vanish if its value is not used? Only if it is [`Effects::pure`].
//! May two expressions change places? Only if neither disturbs the other ([`Effects::disturbs`]). Memory is one thing
//! here, and variables that the body changes after their initialisation belong to it; all other variables never matter.

use std::ops::BitOr;

use crate::program::tree::{BinaryOp, Body, CPiece, Expr, ExprKind, UpdateOp};
use crate::program::{LocalId, Type};

/// What an evaluation can do besides giving a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Reads memory.
    pub reads: bool,
    /// Changes memory.
    pub writes: bool,
    /// Ends early: raises an exception, or ends the program.
    pub ends: bool,
}

impl Effects {
    /// Anything can happen.
    pub const ALL: Effects = Effects { reads: true, writes: true, ends: true };
    const READS: Effects = Effects { reads: true, writes: false, ends: false };
    const WRITES: Effects = Effects { reads: false, writes: true, ends: false };
    const ENDS: Effects = Effects { reads: false, writes: false, ends: true };
    const NONE: Effects = Effects { reads: false, writes: false, ends: false };

    /// Whether nobody can tell if it happened.
    pub fn pure(self) -> bool {
        !self.writes && !self.ends
    }

    /// Whether the order of the two can be told.
    pub fn disturbs(self, other: Effects) -> bool {
        let one_way = |a: Effects, b: Effects| a.writes && (b.reads || b.writes || b.ends);
        one_way(self, other) || one_way(other, self) || (self.ends && other.ends)
    }
}

impl BitOr for Effects {
    type Output = Effects;
    fn bitor(self, other: Effects) -> Effects {
        Effects {
            reads: self.reads || other.reads,
            writes: self.writes || other.writes,
            ends: self.ends || other.ends,
        }
    }
}

/// How a body uses its variables.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// How often each variable is named.
    pub uses: Vec<u32>,
    /// Whether it can change after its initialisation: something is stored in it or in a part of it, its address is taken, or C code names it.
    pub changes: Vec<bool>,
}

impl Usage {
    /// Reads a body.
    pub fn new(body: &Body) -> Usage {
        let count = body.locals.len();
        let mut usage = Usage { uses: vec![0; count], changes: vec![false; count] };
        body.root.walk(&mut |expr| usage.note(expr));
        usage
    }

    /// Whether a variable keeps its first value.
    pub fn is_stable(&self, local: LocalId) -> bool {
        !self.changes[local.0 as usize]
    }

    fn note(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local) => self.uses[local.0 as usize] += 1,
            ExprKind::Assign(place, _)
            | ExprKind::Update { place, .. }
            | ExprKind::Step { place, .. }
            | ExprKind::AddressOf(place)
            | ExprKind::ConstructAt { place, .. } => self.change(place),
            // An array's value is the address of its first element.
            ExprKind::Convert(from) if matches!(from.ty, Type::Array(..)) => self.change(from),
            ExprKind::CBlock(block) => block.pieces.iter().for_each(|piece| {
                if let CPiece::Value(value) = piece {
                    self.change(value);
                }
            }),
            _ => {}
        }
    }

    fn change(&mut self, place: &Expr) {
        if let Some(local) = root_local(place) {
            self.changes[local.0 as usize] = true;
        }
    }
}

/// The variable that a place is or is part of.
pub fn root_local(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Field(object, _) => root_local(object),
        _ => None,
    }
}

/// All that the evaluation of an expression and its parts can do.
pub fn effects(expr: &Expr, usage: &Usage) -> Effects {
    let mut all = own(expr, usage);
    match &expr.kind {
        // The address of a place is known without reading the place.
        ExprKind::AddressOf(place) => return address(place, usage),
        ExprKind::Convert(from) if matches!(from.ty, Type::Array(..)) => return address(from, usage),
        _ => {}
    }
    expr.for_each_child(|part| all = all | effects(part, usage));
    all
}

/// What finding a place can do, without reading or changing it.
pub fn address(place: &Expr, usage: &Usage) -> Effects {
    match &place.kind {
        ExprKind::Field(object, _) => address(object, usage),
        ExprKind::Deref(pointer) => effects(pointer, usage),
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => Effects::NONE,
        _ => effects(place, usage),
    }
}

/// What the expression itself does after its parts were evaluated.
pub fn own(expr: &Expr, usage: &Usage) -> Effects {
    match &expr.kind {
        ExprKind::Local(local) if usage.is_stable(*local) => Effects::NONE,
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) | ExprKind::Deref(_) => Effects::READS,
        ExprKind::Field(object, _) if object.is_place() => match root_local(object) {
            Some(local) if usage.is_stable(local) => Effects::NONE,
            _ => Effects::READS,
        },
        ExprKind::Binary(op, _, divisor) => division(*op, divisor),
        ExprKind::Assign(..) => Effects::WRITES,
        ExprKind::Update { op, value, .. } => {
            let failure = match op {
                UpdateOp::Binary(op) => division(*op, value),
                UpdateOp::MinMax(_) => Effects::NONE,
            };
            Effects::READS | Effects::WRITES | failure
        }
        ExprKind::Step { .. } => Effects::READS | Effects::WRITES,
        ExprKind::Call(_)
        | ExprKind::Construct { .. }
        | ExprKind::ConstructAt { .. }
        | ExprKind::CBlock(_) => Effects::ALL,
        ExprKind::Raise(_) | ExprKind::Missing => Effects::ENDS,
        // To initialise a variable is no effect: nobody sees the variable before.
        _ => Effects::NONE,
    }
}

fn division(op: BinaryOp, divisor: &Expr) -> Effects {
    let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
    let harmless = matches!(divisor.kind, ExprKind::Int(value) if value != 0);
    if divides && !harmless { Effects::ENDS } else { Effects::NONE }
}
