//! One method as a C function.
//!
//! An expression becomes statements that bring its value to where it is wanted, a [`Dest`]: nowhere, a variable, or out
//! of the function. What C can say in an expression stays one (`value`, `arith`); what it cannot say becomes control
//! flow (`branch`, `catch`) instead of temporaries.

mod arith;
mod assign;
mod branch;
mod call;
mod catch;
mod code;
mod construct;
mod lower;
mod operands;
mod place;
mod tail;
mod value;

use std::collections::{BTreeSet, HashMap, HashSet};

use clickwork_source::Span;

use super::cold;
use super::effects::{Effects, Scan};
use super::helpers::Helper;
use super::names;
use super::stmt::{Stmt, StmtKind, ends, straighten, without_last_continue};
use super::text::{C, Kind};
use super::types;
use super::unit::Unit;
use super::unused;
use crate::program::tree::{CPiece, Expr, ExprKind};
use crate::program::{LocalId, MethodId, ModuleId, Type};
use catch::Handler;

/// What functions need besides themselves.
#[derive(Default)]
pub(super) struct Needs {
    /// Methods called.
    pub methods: BTreeSet<MethodId>,
    /// Dispatch tables used: whose objects, and which module's slots.
    pub tables: BTreeSet<(ModuleId, ModuleId)>,
    /// Small functions.
    pub helpers: BTreeSet<Helper>,
    /// Modules whose objects are assigned while they keep their own tables.
    pub assigned: BTreeSet<ModuleId>,
    /// Modules whose objects are copied from places of unknown run-time type.
    pub copied: BTreeSet<ModuleId>,
    /// Constructors that are called for parts, where they must not set tables.
    pub parts: BTreeSet<MethodId>,
}

/// Where a value is wanted.
#[derive(Clone, Debug)]
enum Dest {
    /// Nowhere: only effects count.
    Nowhere,
    /// Nowhere, and the function ends then.
    End,
    /// Out of the function.
    Return,
    /// In a variable.
    Store(Target),
}

impl Dest {
    fn wants_value(&self) -> bool {
        matches!(self, Dest::Return | Dest::Store(_))
    }

    fn leaves(&self) -> bool {
        matches!(self, Dest::End | Dest::Return)
    }
}

/// What a value can be stored in.
#[derive(Clone, Debug)]
struct Target {
    /// In C.
    text: String,
    /// What it holds.
    ty: Type,
    /// Whether it holds nothing yet.
    fresh: bool,
    /// What storing there does.
    write: Effects,
    /// The module whose derived objects may lie there.
    spared: Option<ModuleId>,
}

/// The C function of a method while it grows.
pub(super) struct Function<'a> {
    unit: &'a Unit<'a>,
    method: MethodId,
    scan: Scan<'a>,
    /// The statements of the innermost block so far.
    out: Vec<Stmt>,
    /// The place in the source that statements are made for.
    span: Span,
    /// Names in use in the blocks that are open, innermost block last.
    scopes: Vec<HashSet<String>>,
    /// Names that C code in the method uses and labels.
    avoided: HashSet<String>,
    /// The C names of the locals declared so far.
    locals: Vec<Option<String>>,
    /// Whether the variable `result` is there.
    uses_result: bool,
    /// How many operands of `&&`, `||` and `?:` are around, where nothing can become a statement.
    embedded: u32,
    /// The `catch`es around, innermost last.
    handlers: Vec<Handler>,
    /// The variable that holds what methods that can throw returned.
    result: String,
    /// Whether the body is in a loop, so that its end must be left by `return`.
    looping: bool,
    /// Whether statements end with `return` even at the end of the function.
    must_return: bool,
    /// Calls of the method itself that become jumps.
    tails: HashSet<*const Expr>,
    /// Answers of `simple` so far.
    simple: HashMap<*const Expr, bool>,
    /// What was found to be needed.
    pub needs: Needs,
}

/// A finished function.
pub(super) struct Finished {
    /// The statements of its body.
    pub body: Vec<Stmt>,
    /// The names of the parameters, `This` first.
    pub params: Vec<(String, Type)>,
    /// Parameters that are not used.
    pub unused: Vec<String>,
    /// What it needs.
    pub needs: Needs,
}

/// The receiver's name.
pub(super) const THIS: &str = "This";

impl<'a> Function<'a> {
    /// Makes the function of a method.
    pub fn lower(unit: &'a Unit<'a>, method: MethodId) -> Finished {
        let mut function = Function::new(unit, method);
        let params = function.parameters();
        function.scopes.push(HashSet::new());
        function.body();
        let names = params.iter().map(|(name, _)| name.clone());
        let used = unused::mark(&mut function.out);
        let unused = names.filter(|name| !unused::is_used(&used, name)).collect();
        let mut body = std::mem::take(&mut function.out);
        cold::move_to_end(&mut body, &mut |wish| function.fresh_label(wish));
        Finished { body, params, unused, needs: function.needs }
    }

    fn new(unit: &'a Unit<'a>, method: MethodId) -> Self {
        let body = &unit.program[method].body;
        let avoided = words_of_code(&body.root);
        let result = names::free("err", |name| unit.names.is_reserved(name) || avoided.contains(name));
        Function {
            unit,
            method,
            scan: unit.scan(method),
            out: Vec::new(),
            span: unit.program[method].span,
            scopes: vec![HashSet::new()],
            avoided,
            result,
            locals: vec![None; body.locals.len()],
            uses_result: false,
            embedded: 0,
            handlers: Vec::new(),
            looping: false,
            must_return: false,
            tails: HashSet::new(),
            simple: HashMap::new(),
            needs: Needs::default(),
        }
    }

    fn parameters(&mut self) -> Vec<(String, Type)> {
        let method = &self.unit.program[self.method];
        let mut params = Vec::new();
        if !method.is_static {
            params.push((THIS.to_string(), self.unit.pointer_to(method.module)));
        }
        for i in 0..method.params {
            let name = self.name_local(LocalId(i));
            params.push((name, method.body.locals[i as usize].ty.clone()));
        }
        params
    }

    fn body(&mut self) {
        let root = &self.unit.program[self.method].body.root;
        let dest = if self.returns_value() { Dest::Return } else { Dest::End };
        self.find_tails(root);
        self.looping = !self.tails.is_empty();
        self.must_return = self.looping;
        self.lower_to(root, &dest);
        self.scopes.pop();
        if self.looping {
            if !ends(&self.out) {
                self.finish(&dest);
            }
            let mut body = std::mem::take(&mut self.out);
            without_last_continue(&mut body);
            self.push(StmtKind::Loop(body));
        } else if !ends(&self.out) && !self.returns_value() && self.can_throw() {
            self.push(StmtKind::Jump("return 0".into()));
        }
        straighten(&mut self.out);
        if self.uses_result {
            self.declare_result();
        }
    }

    /// Declares the variable for results at the top, with its first value if it gets that there.
    fn declare_result(&mut self) {
        let (name, declarator) = (self.result.clone(), format!("int {}", self.result));
        let first = self.out.first().map(|s| (s.span, s.kind.clone()));
        let (span, value) = match first {
            Some((span, StmtKind::Store { place, value })) if place == name => {
                self.out.remove(0);
                (span, Some(value))
            }
            _ => (Span::NONE, None),
        };
        self.out.insert(0, Stmt { span, kind: StmtKind::Declare { name, declarator, value, unused: false } });
    }

    fn returns_value(&self) -> bool {
        !self.unit.program[self.method].returns.is_void()
    }

    /// Whether the function returns a negative number for an exception.
    fn can_throw(&self) -> bool {
        self.unit.can_throw(self.method)
    }

    fn push(&mut self, kind: StmtKind) {
        self.out.push(Stmt { span: self.span, kind });
    }

    fn jump(&mut self, text: impl Into<String>) {
        self.push(StmtKind::Jump(text.into()));
    }

    /// The statements that `make` makes, as a block of their own.
    fn block(&mut self, make: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.out);
        self.scopes.push(HashSet::new());
        make(self);
        self.scopes.pop();
        std::mem::replace(&mut self.out, outer)
    }

    /// A name like `wish` that nothing else has here.
    fn fresh_name(&mut self, wish: &str) -> String {
        let taken = |name: &str| {
            name == self.result
                || self.unit.names.is_reserved(name)
                || self.avoided.contains(name)
                || self.scopes.iter().any(|scope| scope.contains(name))
        };
        let name = names::free(wish, taken);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone());
        }
        name
    }

    /// A label like `wish`; labels are never reused.
    fn fresh_label(&mut self, wish: &str) -> String {
        let name = names::free(wish, |name| self.unit.names.is_reserved(name) || self.avoided.contains(name));
        self.avoided.insert(name.clone());
        name
    }

    fn name_local(&mut self, local: LocalId) -> String {
        let wish = self.unit.program[self.method].body.locals[local.0 as usize].name.to_c();
        let name = self.fresh_name(&wish);
        self.locals[local.0 as usize] = Some(name.clone());
        name
    }

    fn local_type(&self, local: LocalId) -> &'a Type {
        &self.unit.program[self.method].body.locals[local.0 as usize].ty
    }

    /// The C name of a local. One that is used outside of its `let` gets a declaration here.
    fn local_name(&mut self, local: LocalId) -> String {
        match &self.locals[local.0 as usize] {
            Some(name) => name.clone(),
            None => {
                let ty = self.local_type(local).clone();
                let name = self.name_local(local);
                self.declare(&name, &ty, None);
                name
            }
        }
    }

    fn declare(&mut self, name: &str, ty: &Type, value: Option<String>) {
        let declarator = types::declare(&self.unit.names, ty, name);
        let value = value.or_else(|| self.unit.is_empty(ty).then(|| "{}".to_string()));
        self.push(StmtKind::Declare { name: name.to_string(), declarator, value, unused: false });
    }

    /// A new variable with that value.
    fn temporary(&mut self, wish: &str, ty: &Type, value: &C) -> C {
        let text = self.assignable(value, ty);
        let name = self.fresh_name(wish);
        self.declare(&name, ty, Some(text));
        C::primary(name, ty)
    }

    fn effects(&self, e: &Expr) -> Effects {
        self.scan.effects(e)
    }

    /// Text that can be assigned to a variable of type `ty`, passed or returned as one.
    fn assignable(&self, c: &C, ty: &Type) -> String {
        match (&c.kind, ty) {
            (Kind::Pointer(from), Type::Pointer(_)) if !self.unit.converts(from, ty) => {
                c.cast(&self.unit.c_type(ty), Kind::of(ty)).text
            }
            // Compilers warn of a constant that assignment would change.
            (Kind::Int(..), Type::Int(int))
                if !c.exact && (c.constant || int.bits() < 32 && c.text.starts_with('~')) =>
            {
                c.cast(&self.unit.c_type(ty), Kind::of(ty)).text
            }
            _ => c.text.clone(),
        }
    }
}

/// All words in the C code of a body: variables must not be called so.
fn words_of_code(root: &Expr) -> HashSet<String> {
    let mut words = HashSet::new();
    root.walk(&mut |e| {
        if let ExprKind::CBlock(block) = &e.kind {
            for piece in &block.pieces {
                if let CPiece::Text(text, _) = piece {
                    words.extend(names::identifiers(text).map(str::to_string));
                }
            }
        }
    });
    words
}
