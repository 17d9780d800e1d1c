//! Random programs with typed trees of every form, for the tests of the optimiser.
//!
//! They keep the rules at the head of `program::tree` and never use what has no value. They may divide by zero, and they
//! may run for ever.

use clickwork_source::Span;

use crate::Name;
use crate::analyze::exceptions;
use crate::analyze::testing::{Builder, make, object, sequence};
use crate::program::tree::{
    BinaryOp, CBlock, CPiece, Call, Dispatch, Expr, ExprKind, Local, MinMax, UnaryOp, UpdateOp,
};
use crate::program::{
    ExceptionId, Field, FieldId, IntType, LocalId, MethodId, MethodKind, ModuleId, Program, Type,
};

const INTS: [IntType; 4] = [IntType::Int, IntType::Uchar, IntType::Seqint, IntType::Long];

/// The program of a seed. Its last method is `main`, exported, static, with two ints.
pub fn program(seed: u64) -> Program {
    let mut random = Random { state: seed | 1, b: Builder::default(), scope: Scope::default() };
    random.modules();
    for _ in 0..8 {
        random.method();
    }
    random.main();
    exceptions(&mut random.b.program);
    random.b.program
}

#[derive(Default)]
struct Scope {
    module: Option<ModuleId>,
    /// Whether there is a `self`.
    is_dynamic: bool,
    locals: Vec<Local>,
    /// The variables that can be named.
    visible: Vec<LocalId>,
}

struct Random {
    state: u64,
    b: Builder,
    scope: Scope,
}

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % n
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        match all.len() {
            0 => None,
            n => Some(all[self.below(n as u64) as usize].clone()),
        }
    }

    fn modules(&mut self) {
        for (name, parent) in [("Base", None), ("Middle", Some(0)), ("Last", Some(1))] {
            let module = self.b.module(name, parent);
            for int in INTS {
                self.field(module, Type::Int(int), false);
                self.field(module, Type::Int(int), true);
            }
        }
        self.field(ModuleId(0), Type::pointer(object(ModuleId(0))), true);
        self.b.exception(ModuleId(0), "one");
        self.b.exception(ModuleId(0), "two");
        for module in [0, 1, 2] {
            self.constructor(ModuleId(module));
        }
    }

    fn field(&mut self, module: ModuleId, ty: Type, is_static: bool) {
        let id = FieldId(self.b.program.fields.len() as u32);
        let path = vec![Name::new(&format!("f{}", id.0))];
        self.b.program.fields.push(Field { path, module, is_static, ty, offset: None, span: Span::NONE });
        self.b.program[module].fields.push(id);
    }

    /// Sets the module's own fields.
    fn constructor(&mut self, module: ModuleId) {
        let method = self.b.program[module].constructor;
        let mut parts = Vec::new();
        if let Some(parent) = self.b.program[module].parent {
            let this = pointer_to(make(object(module), ExprKind::This), parent);
            let constructor = self.b.program[parent].constructor;
            parts.push(call(Type::Void, constructor, Some(this), Vec::new(), Dispatch::Exact, None));
        }
        for field in self.b.program[module].fields.clone() {
            let ty = self.b.program[field].ty.clone();
            if !self.b.program[field].is_static {
                let place = place(make(object(module), ExprKind::This), field, ty.clone());
                let value = self.constant(&ty);
                parts.push(void(make(ty, ExprKind::Assign(Box::new(place), Box::new(value)))));
            }
        }
        self.b.program[method].body.root = sequence(parts);
        self.b.program[method].kind =
            self.pick(&[MethodKind::Constructor, MethodKind::GeneratedConstructor]).unwrap();
    }

    fn scalar(&mut self) -> Type {
        match self.below(5) {
            0 => Type::Bool,
            i => Type::Int(INTS[i as usize - 1]),
        }
    }

    fn method(&mut self) {
        let module = ModuleId(self.below(3) as u32);
        let name = format!("m{}", self.below(6));
        let is_static = self.below(4) == 0;
        let inherited = self.b.program[module]
            .table
            .iter()
            .map(|(_, definition)| definition)
            .copied()
            .find(|&m| self.b.program[m].path[0] == name.as_str());
        let name = if is_static { format!("s{}", self.b.next_method().0) } else { name };
        let (params, returns) = match inherited.filter(|_| !is_static) {
            Some(m) if self.b.program[m].module == module => return,
            Some(m) => {
                let method = &self.b.program[m];
                let params =
                    method.body.locals[..method.params as usize].iter().map(|l| l.ty.clone()).collect();
                (params, method.returns.clone())
            }
            None => {
                let params: Vec<Type> = (0..self.below(3)).map(|_| self.scalar()).collect();
                (params, if self.below(4) == 0 { Type::Void } else { self.scalar() })
            }
        };
        self.enter(module, !is_static, &params);
        let root = self.expr(&returns, 4);
        let id = match is_static {
            true => self.b.function(module, &name, &params, returns, root),
            false => self.b.method(module, &name, returns, root),
        };
        self.b.program[id].params = params.len() as u32;
        self.b.program[id].body.locals = std::mem::take(&mut self.scope.locals);
        if !is_static && params.is_empty() && self.below(6) == 0 {
            self.b.program[id].kind = MethodKind::Forwarder;
        }
    }

    fn enter(&mut self, module: ModuleId, is_dynamic: bool, params: &[Type]) {
        self.scope = Scope { module: Some(module), is_dynamic, ..Scope::default() };
        for ty in params {
            let local = self.local(ty.clone());
            self.scope.visible.push(local);
        }
    }

    /// Points the static pointer to an object of some module, then does things.
    fn main(&mut self) {
        self.enter(ModuleId(0), false, &[Type::INT, Type::INT]);
        let module = ModuleId(self.below(3) as u32);
        let target = self.local(object(module));
        let this = make(object(module), ExprKind::Local(target));
        let (field, ty) = self.static_pointer();
        let place = Box::new(make(ty.clone(), ExprKind::StaticField(field)));
        let set = void(make(ty, ExprKind::Assign(place, Box::new(pointer_to(this.clone(), ModuleId(0))))));
        let mut parts = vec![construct_at(this, module), set];
        self.scope.visible.push(target);
        parts.extend((0..3).map(|_| self.expr(&Type::Void, 5)).collect::<Vec<_>>());
        parts.push(self.expr(&Type::INT, 4));
        let body = Box::new(sequence(parts));
        let root = make(Type::INT, ExprKind::Let(vec![(target, None)], body));
        let id = self.b.function(ModuleId(0), "main", &[Type::INT, Type::INT], Type::INT, root);
        self.b.program[id].body.locals = std::mem::take(&mut self.scope.locals);
        self.b.program.exports.push(id);
    }

    fn static_pointer(&self) -> (FieldId, Type) {
        let fields = &self.b.program.fields;
        let at = fields.iter().position(|f| f.ty.pointee().is_some()).unwrap();
        (FieldId(at as u32), fields[at].ty.clone())
    }

    fn local(&mut self, ty: Type) -> LocalId {
        let id = LocalId(self.scope.locals.len() as u32);
        self.scope.locals.push(Local { name: Name::new("v"), ty, span: Span::NONE });
        id
    }

    fn expr(&mut self, ty: &Type, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        match self.below(12) {
            0 => self.conditional(ty, depth - 1),
            1 => sequence(vec![self.expr(&Type::Void, depth - 1), self.expr(ty, depth - 1)]),
            2 | 3 => self.let_in(ty, depth - 1),
            4 | 5 => self.a_call(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
            6 => {
                make(ty.clone(), ExprKind::Outline(self.below(11) as u8, Box::new(self.expr(ty, depth - 1))))
            }
            _ => match ty {
                Type::Void => self.effect(depth - 1),
                Type::Bool => self.truth(depth - 1),
                Type::Int(int) => self.number(*int, depth - 1),
                _ => self.leaf(ty),
            },
        }
    }

    fn leaf(&mut self, ty: &Type) -> Expr {
        if *ty == Type::Void {
            return Expr::nothing(Span::NONE);
        }
        match self.below(3) {
            0 => self.constant(ty),
            _ => self.place(ty).unwrap_or_else(|| self.constant(ty)),
        }
    }

    fn constant(&mut self, ty: &Type) -> Expr {
        let value = self.pick(&[0, 1, 2, 7, 255, -1, 0x7fff_ffff, 1 << 31]).unwrap();
        match ty {
            Type::Int(int) => make(ty.clone(), ExprKind::Int(int.wrap(value))),
            _ => make(ty.clone(), ExprKind::Int(value & 1)),
        }
    }

    /// Something that can be changed.
    fn place(&mut self, ty: &Type) -> Option<Expr> {
        let locals: Vec<LocalId> = self
            .scope
            .visible
            .iter()
            .copied()
            .filter(|l| self.scope.locals[l.0 as usize].ty == *ty)
            .collect();
        if self.below(2) == 0
            && let Some(local) = self.pick(&locals)
        {
            return Some(make(ty.clone(), ExprKind::Local(local)));
        }
        let fields = &self.b.program.fields;
        let fields: Vec<FieldId> =
            (0..fields.len() as u32).map(FieldId).filter(|f| fields[f.0 as usize].ty == *ty).collect();
        let field = self.pick(&fields)?;
        if self.b.program[field].is_static {
            return Some(make(ty.clone(), ExprKind::StaticField(field)));
        }
        let object = self.object()?;
        let has = |m: ModuleId| self.b.program.is_derived(m, self.b.program[field].module);
        let module = object.ty.module()?.module;
        has(module).then(|| place(object, field, ty.clone()))
    }

    /// An object that is there.
    fn object(&mut self) -> Option<Expr> {
        let locals: Vec<LocalId> = self
            .scope
            .visible
            .iter()
            .copied()
            .filter(|l| self.scope.locals[l.0 as usize].ty.module().is_some())
            .collect();
        match self.below(3) {
            0 if self.scope.is_dynamic => Some(make(object(self.scope.module?), ExprKind::This)),
            1 => {
                let local = self.pick(&locals)?;
                Some(make(self.scope.locals[local.0 as usize].ty.clone(), ExprKind::Local(local)))
            }
            _ => {
                let (field, ty) = self.static_pointer();
                let pointer = Box::new(make(ty, ExprKind::StaticField(field)));
                Some(make(object(ModuleId(0)), ExprKind::Deref(pointer)))
            }
        }
    }

    fn conditional(&mut self, ty: &Type, depth: u32) -> Expr {
        let [c, a, b] = [&Type::Bool, ty, ty].map(|ty| Box::new(self.expr(ty, depth)));
        make(ty.clone(), ExprKind::Conditional(c, a, b))
    }

    fn let_in(&mut self, ty: &Type, depth: u32) -> Expr {
        let before = self.scope.visible.len();
        let bindings: Vec<_> = (0..=self.below(2)).map(|_| self.binding(depth)).collect();
        self.scope.visible.extend(bindings.iter().map(|(local, _)| *local));
        let mut body = self.expr(ty, depth);
        for (local, value) in &bindings {
            let ty = &self.scope.locals[local.0 as usize].ty;
            if let (Some(module), None) = (ty.module(), value) {
                let this = make(ty.clone(), ExprKind::Local(*local));
                body = sequence(vec![construct_at(this, module.module), body]);
            }
        }
        self.scope.visible.truncate(before);
        make(ty.clone(), ExprKind::Let(bindings, Box::new(body)))
    }

    fn binding(&mut self, depth: u32) -> (LocalId, Option<Expr>) {
        let module = ModuleId(self.below(3) as u32);
        match self.below(4) {
            0 => {
                let kind = ExprKind::Construct { module, args: Vec::new() };
                (self.local(object(module)), Some(make(object(module), kind)))
            }
            1 => match self.object().filter(|_| self.below(2) == 0) {
                Some(copied) => (self.local(copied.ty.clone()), Some(copied)),
                None => (self.local(object(module)), None),
            },
            _ => {
                let ty = self.scalar();
                let value = self.expr(&ty, depth);
                (self.local(ty), Some(value))
            }
        }
    }

    /// A call of a method that is there already, or seldom of one that comes later.
    fn a_call(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let fits = |m: &MethodId| {
            let method = &self.b.program[*m];
            method.returns == *ty && !method.kind.is_constructor()
        };
        let methods: Vec<MethodId> = self.b.program.method_ids().filter(fits).collect();
        let method = self.pick(&methods)?;
        let module = self.b.program[method].module;
        let receiver = match self.b.program[method].is_static {
            true => None,
            false => {
                let object = self.object()?;
                let has = object.ty.module()?.module;
                self.b.program.is_derived(has, module).then(|| pointer_to(object, module))?.into()
            }
        };
        let params = self.b.program[method].body.locals[..self.b.program[method].params as usize].to_vec();
        let args = params.iter().map(|param| self.expr(&param.ty, depth)).collect();
        let dynamic = receiver.is_some() && self.below(5) > 0;
        let dispatch = if dynamic { Dispatch::Dynamic } else { Dispatch::Exact };
        let level = self.pick(&[None, None, None, Some(0), Some(1), Some(2), Some(3)])?;
        Some(call(ty.clone(), method, receiver, args, dispatch, level))
    }

    fn effect(&mut self, depth: u32) -> Expr {
        match self.below(9) {
            0 => make(Type::Never, ExprKind::Raise(ExceptionId(self.below(2) as u32))),
            1 => {
                let [a, b] = [&Type::Bool, &Type::Void].map(|ty| Box::new(self.expr(ty, depth)));
                void(make(Type::Bool, ExprKind::Implies(a, b)))
            }
            _ => {
                let ty = self.scalar();
                void(self.expr(&ty, depth))
            }
        }
    }

    fn truth(&mut self, depth: u32) -> Expr {
        make(Type::Bool, self.truth_kind(depth))
    }

    fn truth_kind(&mut self, depth: u32) -> ExprKind {
        let b = &Type::Bool;
        match self.below(8) {
            0 => ExprKind::And(Box::new(self.expr(b, depth)), Box::new(self.expr(b, depth))),
            1 => ExprKind::Or(Box::new(self.expr(b, depth)), Box::new(self.expr(b, depth))),
            2 => ExprKind::Implies(Box::new(self.expr(b, depth)), Box::new(self.expr(&Type::Void, depth))),
            3 => ExprKind::Unary(UnaryOp::Not, Box::new(self.expr(b, depth))),
            4 => {
                let caught =
                    self.pick(&[None, Some(vec![ExceptionId(0)]), Some(vec![ExceptionId(1)])]).unwrap();
                ExprKind::Catch(Box::new(self.expr(&Type::Void, depth)), caught)
            }
            5 => self.c_block(),
            6 => {
                let ty = self.scalar();
                ExprKind::Convert(Box::new(self.expr(&ty, depth)))
            }
            _ => {
                use BinaryOp::*;
                let op = self.pick(&[Less, Greater, LessEqual, GreaterEqual, Equal, NotEqual]).unwrap();
                let ty = Type::Int(self.pick(&INTS).unwrap());
                ExprKind::Binary(op, Box::new(self.expr(&ty, depth)), Box::new(self.expr(&ty, depth)))
            }
        }
    }

    /// Adds one to the first byte of a place, as the tests' machine does.
    fn c_block(&mut self) -> ExprKind {
        let ty = Type::Int(self.pick(&INTS).unwrap());
        let pieces = match self.place(&ty) {
            Some(place) => vec![
                CPiece::Text("{ unsigned char *byte = (unsigned char *)&".into(), Span::NONE),
                CPiece::Value(place),
                CPiece::Text("; ++*byte; }".into(), Span::NONE),
            ],
            None => Vec::new(),
        };
        ExprKind::CBlock(CBlock { pieces, pinned: self.below(8) == 0 })
    }

    fn number(&mut self, int: IntType, depth: u32) -> Expr {
        let ty = Type::Int(int);
        let place = self.place(&ty);
        let kind = match (self.below(8), place) {
            (0, Some(place)) => ExprKind::Assign(Box::new(place), Box::new(self.expr(&ty, depth))),
            (1, Some(place)) => self.update(place, depth),
            (2, Some(place)) => {
                ExprKind::Step { place: Box::new(place), up: self.below(2) == 0, postfix: self.below(2) == 0 }
            }
            (3, _) => {
                let from = self.scalar();
                ExprKind::Convert(Box::new(self.expr(&from, depth)))
            }
            (4, _) => {
                let op = self.pick(&[UnaryOp::Negate, UnaryOp::BitNot]).unwrap();
                ExprKind::Unary(op, Box::new(self.expr(&ty, depth)))
            }
            (5, _) => {
                let which = self.pick(&[MinMax::Min, MinMax::Max]).unwrap();
                ExprKind::MinMax(which, Box::new(self.expr(&ty, depth)), Box::new(self.expr(&ty, depth)))
            }
            _ => ExprKind::Binary(
                self.operator(),
                Box::new(self.expr(&ty, depth)),
                Box::new(self.expr(&ty, depth)),
            ),
        };
        make(ty, kind)
    }

    fn operator(&mut self) -> BinaryOp {
        use BinaryOp::*;
        let all =
            [Multiply, Divide, Remainder, Add, Add, Subtract, ShiftLeft, ShiftRight, BitAnd, BitXor, BitOr];
        self.pick(&all).unwrap()
    }

    fn update(&mut self, place: Expr, depth: u32) -> ExprKind {
        let compute = Type::Int(self.pick(&INTS).unwrap());
        let op = match self.below(4) {
            0 => UpdateOp::MinMax(MinMax::Min),
            _ => UpdateOp::Binary(self.operator()),
        };
        ExprKind::Update { op, place: Box::new(place), value: Box::new(self.expr(&compute, depth)), compute }
    }
}

fn void(e: Expr) -> Expr {
    make(Type::Void, ExprKind::Convert(Box::new(e)))
}

fn place(object: Expr, field: FieldId, ty: Type) -> Expr {
    make(ty, ExprKind::Field(Box::new(object), field))
}

fn construct_at(place: Expr, module: ModuleId) -> Expr {
    make(Type::Void, ExprKind::ConstructAt { place: Box::new(place), module, args: Vec::new() })
}

/// The address of an object as a pointer to an object of an ancestor.
fn pointer_to(place: Expr, module: ModuleId) -> Expr {
    let ty = Type::pointer(place.ty.clone());
    let exact = place.ty == object(module);
    let address = make(ty, ExprKind::AddressOf(Box::new(place)));
    match exact {
        true => address,
        false => make(Type::pointer(object(module)), ExprKind::Convert(Box::new(address))),
    }
}

fn call(
    ty: Type,
    method: MethodId,
    receiver: Option<Expr>,
    args: Vec<Expr>,
    dispatch: Dispatch,
    level: Option<u8>,
) -> Expr {
    make(ty, ExprKind::Call(Box::new(Call { method, receiver, args, dispatch, level })))
}
