//! The typed tree of a method body.
//!
//! # Rules that every tree keeps
//! - Evaluation is from left to right everywhere: operands, arguments (receiver first), initialisers of `let`.
//! - Every conversion is a [`ExprKind::Convert`]: operands of arithmetic and comparisons have one common type, arguments
//!   have the types of the parameters, the root of a body has the method's return type (or is `Never`).
//! - `Never` stands only where the whole can do without a value: on the right of `&&` and `||`, in a branch, in a row, behind
//!   `==>`, as a body. Operands, arguments and initial values always have one: of `f(a, stop, b)` remains `a, stop`.
//! - A *place* is an expression that denotes memory: `Local`, `This`, `Field` of a place, `StaticField`, `Deref`. Where a
//!   place stands for its value nothing marks it. Values of array type occur only as places.
//! - Integers wrap at their width. A shift uses its count modulo the width of the left operand. Right shifts of signed
//!   values are arithmetic. Division by zero ends the program.
//! - An object's run-time type is set when it is constructed, before any constructor's code runs, and never changes;
//!   assignment copies fields and not the run-time type.

use clickwork_source::Span;

use super::{ExceptionId, FieldId, MethodId, ModuleId, Type};
use crate::Name;
pub use crate::syntax::ast::MinMax;

/// A method body: variables and what is done with them.
#[derive(Clone, Debug)]
pub struct Body {
    /// The parameters, then all variables of `let` and those that passes added.
    pub locals: Vec<Local>,
    /// What it does; its value is the method's.
    pub root: Expr,
}

/// A variable of a body, by its place in [`Body::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A parameter or variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// What the source calls it; what the compiler calls it if it made it. Not unique.
    pub name: Name,
    /// The type; never void.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The type of its value.
    pub ty: Type,
    /// Where it stands in the source.
    pub span: Span,
    /// What it does.
    pub kind: ExprKind,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// No effect and no value: void.
    Nothing,
    /// A constant of an integer type or of bool, in the form of [`super::IntType::wrap`].
    Int(i64),
    /// The pointer to nothing.
    Null,
    /// A pointer to constant characters; the final NUL is not listed.
    Str(Vec<u8>),
    /// A parameter or variable: a place.
    Local(LocalId),
    /// The object that a dynamic method was called on: a place of module type.
    This,
    /// A field of an object: a place if the object is one.
    Field(Box<Expr>, FieldId),
    /// A static field: a place.
    StaticField(FieldId),
    /// What a pointer points to: a place.
    Deref(Box<Expr>),
    /// The address of a place.
    AddressOf(Box<Expr>),
    /// The same value as another type: integer to integer (wraps), integer or pointer to bool (is it not zero), bool to
    /// integer, pointer to pointer, array place to pointer to its first element, anything to void.
    Convert(Box<Expr>),
    /// `-e`, `~e` of an integer, `!e` of a bool.
    Unary(UnaryOp, Box<Expr>),
    /// Arithmetic and comparison. Both operands have one type, except that a shift's right operand can be any integer
    /// and that a pointer takes an integer with `+` and `-`. Comparison gives bool; of two seqints it is circular. The
    /// difference of two pointers is a long.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The lesser or greater of two values of one integer type; circular for seqints.
    MinMax(MinMax, Box<Expr>, Box<Expr>),
    /// `a && b`: bool.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`: bool.
    Or(Box<Expr>, Box<Expr>),
    /// `a ==> b`: bool `a`; if it holds, void `b` is done. The value is `a`'s.
    Implies(Box<Expr>, Box<Expr>),
    /// A choice on a bool. Both branches have the type of the whole (or are `Never`).
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Several in a row; the value is the last one's, the others are void. At least one.
    Sequence(Vec<Expr>),
    /// Variables with their initial values, and the part of the body that uses them. Without an initial value a variable
    /// has any value at all. The initial values see none of the variables.
    Let(Vec<(LocalId, Option<Expr>)>, Box<Expr>),
    /// Stores a value in a place. The value is the new value of the place.
    Assign(Box<Expr>, Box<Expr>),
    /// `place op= value`: the place is read, converted to `compute`, combined with the value (which has type `compute`,
    /// except for shifts and pointers as in `Binary`), converted back and stored. The place is evaluated once.
    Update {
        /// The operation.
        op: UpdateOp,
        /// What is changed.
        place: Box<Expr>,
        /// The right operand.
        value: Box<Expr>,
        /// The type in which the operation happens.
        compute: Type,
    },
    /// `++` and `--` of an integer or pointer place.
    Step {
        /// What is changed.
        place: Box<Expr>,
        /// Up or down by one.
        up: bool,
        /// Whether the value is that before the change (`e++`).
        postfix: bool,
    },
    /// A method call.
    Call(Box<Call>),
    /// A new object of `module` as a value: its constructor is called with the arguments.
    Construct {
        /// Which type of object.
        module: ModuleId,
        /// For the constructor.
        args: Vec<Expr>,
    },
    /// Makes an object of exactly `module` in the memory of a place: void. If the place is an array, so does it for each
    /// element; then there are no arguments.
    ConstructAt {
        /// Where.
        place: Box<Expr>,
        /// Which type of object.
        module: ModuleId,
        /// For the constructor.
        args: Vec<Expr>,
    },
    /// Raises an exception: `Never`.
    Raise(ExceptionId),
    /// Does the void body; the value is whether one of the exceptions listed (all of them if `None`) was caught.
    Catch(Box<Expr>, Option<Vec<ExceptionId>>),
    /// C code: bool `true`.
    CBlock(CBlock),
    /// A branch that is seldom taken; the level is 0 (likely) to 10 (never).
    Outline(u8, Box<Expr>),
    /// The body of a method that has none: a failure at run time.
    Missing,
}

/// Arithmetic with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Negate,
    BitNot,
    Not,
}

/// Arithmetic and comparison with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl BinaryOp {
    /// Whether it gives a bool.
    pub fn is_comparison(self) -> bool {
        self >= BinaryOp::Less
    }

    /// Whether its right operand is a count.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::ShiftLeft | BinaryOp::ShiftRight)
    }

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::LessEqual => "<=",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
        }
    }
}

impl PartialOrd for BinaryOp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}

/// What an update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateOp {
    /// Arithmetic, never a comparison.
    Binary(BinaryOp),
    /// `min=`, `max=`
    MinMax(MinMax),
}

/// A method call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The definition that the static type of the receiver has.
    pub method: MethodId,
    /// The address of the object, of its own static type: a pointer to the method's module or to one derived from it;
    /// `None` for static methods.
    pub receiver: Option<Expr>,
    /// As many as the method has parameters.
    pub args: Vec<Expr>,
    /// Which definition is called.
    pub dispatch: Dispatch,
    /// The inline level that the source asks for, 0 to 3; `None` if it asks for nothing.
    pub level: Option<u8>,
}

/// How the definition is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// By the run-time type of the receiver. An object that was never constructed counts as one of its static type.
    Dynamic,
    /// `method` itself: static methods, `super`, constructors of parts, receivers whose type is known exactly.
    Exact,
}

/// C code with the places where Prolac names stood.
#[derive(Clone, Debug)]
pub struct CBlock {
    /// In the order written.
    pub pieces: Vec<CPiece>,
    /// Whether the code has `return`, `goto`, a label or `static`, so that its method must be neither copied nor inlined.
    pub pinned: bool,
}

/// A part of a C block.
#[derive(Clone, Debug)]
pub enum CPiece {
    /// Copied to the output; the place where it starts.
    Text(String, Span),
    /// Replaced by C for this expression: a place or a constant.
    Value(Expr),
}

/// Calls `$f` with the direct parts of an expression in the order of evaluation; `$iter` and `$inner` are the methods that
/// lead to them, to look at them or to change them.
macro_rules! each_part {
    ($kind:expr, $f:ident, $iter:ident, $inner:ident) => {{
        use ExprKind::*;
        match $kind {
            Nothing | Int(_) | Null | Str(_) | Local(_) | This | StaticField(_) | Raise(_) | Missing => {}
            Field(e, _)
            | Deref(e)
            | AddressOf(e)
            | Convert(e)
            | Unary(_, e)
            | Catch(e, _)
            | Outline(_, e) => $f(e),
            Step { place, .. } => $f(place),
            Binary(_, a, b)
            | MinMax(_, a, b)
            | And(a, b)
            | Or(a, b)
            | Implies(a, b)
            | Assign(a, b)
            | Update { place: a, value: b, .. } => {
                $f(a);
                $f(b);
            }
            Conditional(a, b, c) => {
                $f(a);
                $f(b);
                $f(c);
            }
            Sequence(all) | Construct { args: all, .. } => all.$iter().for_each($f),
            Let(bindings, body) => {
                bindings.$iter().filter_map(|(_, value)| value.$inner()).for_each(&mut $f);
                $f(body);
            }
            Call(call) => {
                call.receiver.$iter().for_each(&mut $f);
                call.args.$iter().for_each($f);
            }
            ConstructAt { place, args, .. } => {
                $f(place);
                args.$iter().for_each($f);
            }
            CBlock(block) => block.pieces.$iter().for_each(|piece| {
                if let CPiece::Value(e) = piece {
                    $f(e);
                }
            }),
        }
    }};
}

impl Expr {
    /// An expression.
    pub fn new(ty: Type, span: Span, kind: ExprKind) -> Self {
        Expr { ty, span, kind }
    }

    /// Void without effect.
    pub fn nothing(span: Span) -> Self {
        Expr::new(Type::Void, span, ExprKind::Nothing)
    }

    /// A constant of bool.
    pub fn bool(value: bool, span: Span) -> Self {
        Expr::new(Type::Bool, span, ExprKind::Int(value.into()))
    }

    /// Whether it denotes memory.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) | ExprKind::Deref(_) => true,
            ExprKind::Field(object, _) => object.is_place(),
            _ => false,
        }
    }

    /// Calls `f` with every direct part, in the order of evaluation.
    pub fn for_each_child<'a>(&'a self, mut f: impl FnMut(&'a Expr)) {
        each_part!(&self.kind, f, iter, as_ref);
    }

    /// Calls `f` with every direct part, in the order of evaluation, to change it.
    pub fn for_each_child_mut(&mut self, mut f: impl FnMut(&mut Expr)) {
        each_part!(&mut self.kind, f, iter_mut, as_mut);
    }

    /// Calls `f` with this expression and every part of it, outer ones first.
    pub fn walk<'a>(&'a self, f: &mut impl FnMut(&'a Expr)) {
        f(self);
        self.for_each_child(|child| child.walk(f));
    }
}
