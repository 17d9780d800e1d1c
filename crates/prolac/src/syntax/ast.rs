//! The syntax tree: what was written, nothing resolved (language summary, section 11.3).
//!
//! The tree keeps no comments; the formatter goes back to the tokens for them. Parentheses around an expression leave
//! no node, because they do not stop the rewriting of `|||`. Types are parsed where only a type can stand, and in
//! `(T)e`, which the parser tells from `(e)` as the reference manual says under "Casts".

use clickwork_source::Span;

use crate::Name;

/// A name where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The identifier. The keywords `all`, `allstatic` and `constructor` are identifiers where a name may be one.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// `a`, `a.b.c` or `.a.b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Whether a dot stands in front: the search starts in the outermost namespace.
    pub global: bool,
    /// At least one.
    pub parts: Vec<Ident>,
    /// All of it.
    pub span: Span,
}

/// The definitions of a file or of a whole program, in the order written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// What stands outside of all modules.
    pub items: Vec<TopItem>,
}

/// What can stand outside of modules.
#[derive(Clone, Debug, PartialEq)]
pub enum TopItem {
    /// `module M ... { ... }`
    Module(Module),
    /// `module N ::= M ...;`
    Equation(Equation),
    /// `N { ... }` around modules.
    Namespace(Namespace<TopItem>),
    /// `export a, b;`
    Export(Export),
    /// `%{ ... %}`
    Support(Support),
}

/// A definition `module a.b.M :> Parent has Imports { members } operators;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The name; `a.b.M` stands for nested namespaces.
    pub name: Path,
    /// After `:>`.
    pub parents: Vec<ModuleExpr>,
    /// After `has`, all clauses together.
    pub imports: Vec<ModuleExpr>,
    /// Between the braces.
    pub members: Vec<Member>,
    /// After the closing brace.
    pub operators: Vec<ModuleOperator>,
    /// From `module` to the end.
    pub span: Span,
}

/// A view with a name of its own: `module N ::= M operators;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// The new name.
    pub name: Path,
    /// What it stands for.
    pub value: ModuleExpr,
    /// From `module` to the end.
    pub span: Span,
}

/// `a.b { ... }`, around modules or around members.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace<Item> {
    /// The name; `a.b` stands for nested namespaces.
    pub name: Path,
    /// Between the braces.
    pub items: Vec<Item>,
    /// All of it.
    pub span: Span,
}

/// `export M.f, M.all;`
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The names.
    pub names: Vec<Path>,
    /// All of it.
    pub span: Span,
}

/// `%{ C code %}`
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// The code, without `%{` and `%}`.
    pub text: Span,
    /// Whether nothing of Prolac stands before it: then it goes to the top of the C file.
    pub first: bool,
    /// All of it.
    pub span: Span,
}

/// What can stand inside a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// `f(x :> int) :> int ::= x;`
    Method(Method),
    /// `field f :> int;`
    Field(Field),
    /// `exception e;`
    Exception(Ident),
    /// `N { ... }` around members.
    Namespace(Namespace<Member>),
    /// `%{ ... %}`
    Support(Support),
}

/// `[static] name(params) :> T ::= body;`, also a constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Whether `static` stands before it.
    pub is_static: bool,
    /// The name; `a.b.f` stands for nested namespaces. A constructor's is the identifier `constructor`.
    pub name: Path,
    /// The parameters; empty also when there are no parentheses.
    pub params: Vec<Param>,
    /// After `:>`.
    pub returns: Option<Type>,
    /// After `::=`; `None` if nothing stands there.
    pub body: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// A parameter `p :> T`, or a type alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name, unless only a type was written.
    pub name: Option<Ident>,
    /// The type.
    pub ty: Type,
}

/// `[static] field a.f :> T @ offset;`
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Whether `static` stands before it.
    pub is_static: bool,
    /// The name; `a.f` stands for nested namespaces.
    pub name: Path,
    /// The type.
    pub ty: Type,
    /// After `@`.
    pub offset: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// A module with operators: `M hide x using all`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleExpr {
    /// Whether it is a parent written `super.name`: what the equation `name` stands for so far. The module that is
    /// being defined takes its place.
    pub previous: bool,
    /// The module, equation, parent or import.
    pub name: Path,
    /// In the order applied.
    pub operators: Vec<ModuleOperator>,
    /// All of it.
    pub span: Span,
}

/// One postfix operator of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleOperator {
    /// What it does.
    pub kind: ModuleOperatorKind,
    /// What it does it to.
    pub operands: Vec<Operand>,
    /// All of it.
    pub span: Span,
}

/// What a module operator does (section 4.2).
#[derive(Clone, Debug, PartialEq)]
pub enum ModuleOperatorKind {
    /// `hide`
    Hide,
    /// `show`
    Show,
    /// `rename`
    Rename,
    /// `using`
    Using,
    /// `notusing`
    NotUsing,
    /// `inline`, `noinline`, `defaultinline`, `pathinline`
    Inline(InlineLevel),
}

/// The level of `inline` and its relatives.
#[derive(Clone, Debug, PartialEq)]
pub enum InlineLevel {
    /// `noinline` 0, `defaultinline` 1, `inline` 2, `pathinline` 3
    Fixed(u8),
    /// `inline[k]`
    Computed(Box<Expr>),
}

/// An operand of a module operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `x`, `y.z`, `all`, `P.all`, `allstatic`, `constructor`
    Name(Path),
    /// `new = old`
    Pair {
        /// The name it gets.
        new: Path,
        /// The name it had.
        old: Path,
    },
    /// A glob, without its quotes.
    Pattern {
        /// With `*`, `?` and `[...]`.
        glob: String,
        /// With the quotes.
        span: Span,
    },
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Which.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `int` and the other keywords.
    Builtin(Builtin),
    /// A module with operators.
    Module(ModuleExpr),
    /// `*T`
    Pointer(Box<Type>),
    /// `T[k]`
    Array(Box<Type>, Box<Expr>),
}

/// The types that are keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    Void,
    Bool,
    Char,
    Short,
    Int,
    Long,
    Uchar,
    Ushort,
    Uint,
    Ulong,
    Seqint,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where, without parentheses around it.
    pub span: Span,
}

/// The forms of expressions (section 11).
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `n`, or `.n` with `global`.
    Name {
        /// Whether a dot stands in front.
        global: bool,
        /// The name.
        name: Ident,
    },
    /// An integer or a character. The type is `int` unless the number needs another, as in C; suffix `Q` is `seqint`.
    Int {
        /// The bits.
        value: u64,
        /// The type.
        ty: Builtin,
    },
    /// A string, escapes resolved, without the final NUL.
    Str(Vec<u8>),
    /// `true`, `false`
    Bool(bool),
    /// `self`
    SelfRef,
    /// `super`; only before `.`
    Super,
    /// `e.f`
    Member(Box<Expr>, Ident),
    /// `e->f`
    Arrow(Box<Expr>, Ident),
    /// `f(args)`, also `M(args)`
    Call(Box<Expr>, Vec<Expr>),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `(T)e`
    Cast(Type, Box<Expr>),
    /// `e :> T`
    Assert(Box<Expr>, Type),
    /// A module with at least one operator, where a value could stand: `(M hide x)(args)`
    Module(ModuleExpr),
    /// Prefix operators.
    Unary(UnaryOp, Box<Expr>),
    /// `e++`, `e--`
    Postfix(PostfixOp, Box<Expr>),
    /// `a + b` and its like, `&&` and `||` included.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a + b - c + d ...`: many operands with operators of one level between them, which group from the left.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a = b`, `a += b`, `a min= b`
    Assign(Option<AssignOp>, Box<Expr>, Box<Expr>),
    /// `min(a, b)`, `max(a, b)`
    MinMax(MinMax, Box<Expr>, Box<Expr>),
    /// `a, b, c`: two or more.
    Comma(Vec<Expr>),
    /// `a ==> b`
    Implies(Box<Expr>, Box<Expr>),
    /// `a ||| b ||| c`: two or more, which group from the left.
    CaseBar(Vec<Expr>),
    /// `if a then b elseif c then d else e end`
    If {
        /// Conditions with what follows their `then`; at least one.
        arms: Vec<(Expr, Expr)>,
        /// After `else`.
        otherwise: Option<Box<Expr>>,
    },
    /// `let a :> int = 1, b in ... end`
    Let {
        /// The variables; at least one.
        bindings: Vec<Binding>,
        /// After `in`.
        body: Box<Expr>,
    },
    /// `e catch (X, Y)`
    Catch {
        /// What is tried.
        body: Box<Expr>,
        /// What is caught; the identifier `all` for everything. At least one.
        names: Vec<Path>,
    },
    /// `inline[k] e` and its relatives.
    Inline(InlineLevel, Box<Expr>),
    /// `outline[k] e`; without `k`, 5.
    Outline(Option<Box<Expr>>, Box<Expr>),
    /// `{ C code }`; the span is that of the code without its braces.
    CBlock(Span),
    /// Something could not be parsed here; a message has been given.
    Error,
}

/// A variable of `let`: `v :> T(args) = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The variable.
    pub name: Ident,
    /// After `:>`.
    pub ty: Option<Type>,
    /// The arguments of the constructor, if parentheses follow the type.
    pub args: Option<Vec<Expr>>,
    /// After `=`.
    pub value: Option<Expr>,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Deref,
    AddressOf,
    Plus,
    Negate,
    BitNot,
    Not,
    Increment,
    Decrement,
}

/// Postfix operators with a side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PostfixOp {
    Increment,
    Decrement,
}

/// Infix operators of levels 17 to 8.
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
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// What stands before the `=` of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// An arithmetic or bit operator.
    Binary(BinaryOp),
    /// `min=`, `max=`
    MinMax(MinMax),
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MinMax {
    Min,
    Max,
}
