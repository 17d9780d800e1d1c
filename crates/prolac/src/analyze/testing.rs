//! Small programs built by hand, for the tests of `analyze` and `optimize`.

use std::collections::BTreeSet;

use clickwork_source::Span;

use crate::Name;
use crate::program::tree::{Body, Call, Dispatch, Expr, ExprKind, Local};
use crate::program::{
    Exception, ExceptionId, Method, MethodId, MethodKind, Module, ModuleId, ModuleRef, Program, Type, ViewId,
};

/// A program in the making.
#[derive(Default)]
pub struct Builder {
    pub program: Program,
}

impl Builder {
    /// A module with an empty constructor.
    pub fn module(&mut self, name: &str, parent: Option<u32>) -> ModuleId {
        let id = ModuleId(self.program.modules.len() as u32);
        let parent = parent.map(ModuleId);
        let table = parent.map_or(crate::Map::default(), |p| self.program[p].table.clone());
        if let Some(parent) = parent {
            self.program[parent].children.push(id);
        }
        self.program.modules.push(Module {
            path: vec![Name::new(name)],
            parent,
            children: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            table,
            constructor: self.next_method(),
            span: Span::NONE,
        });
        let constructor = self.method(id, "constructor", Type::Void, Expr::nothing(Span::NONE));
        self.program[constructor].kind = MethodKind::GeneratedConstructor;
        self.program[id].table.remove(&constructor);
        id
    }

    /// The number that the next method will have.
    pub fn next_method(&self) -> MethodId {
        MethodId(self.program.methods.len() as u32)
    }

    /// A dynamic method without parameters; it overrides one of the same name in the parent. Define parents' methods first.
    pub fn method(&mut self, module: ModuleId, name: &str, returns: Type, root: Expr) -> MethodId {
        let id = self.next_method();
        let name = Name::new(name);
        let inherited =
            self.program[module].table.iter().find(|&(&slot, _)| self.program[slot].path[0] == name);
        let (slot, overrides) = match inherited {
            Some((&slot, &definition)) => (slot, Some(definition)),
            None => (id, None),
        };
        self.program.methods.push(Method {
            path: vec![name],
            module,
            kind: MethodKind::Plain,
            is_static: false,
            params: 0,
            returns,
            overrides,
            slot,
            throws: BTreeSet::new(),
            body: Body { locals: Vec::new(), root },
            span: Span::NONE,
        });
        self.program[module].methods.push(id);
        self.enter(module, slot, overrides, id);
        id
    }

    fn enter(&mut self, module: ModuleId, slot: MethodId, old: Option<MethodId>, new: MethodId) {
        if self.program[module].table.get(&slot).copied() == old {
            self.program[module].table.insert(slot, new);
            for child in self.program[module].children.clone() {
                self.enter(child, slot, old, new);
            }
        }
    }

    /// A static method; `params` are the types of the parameters.
    pub fn function(
        &mut self,
        module: ModuleId,
        name: &str,
        params: &[Type],
        returns: Type,
        root: Expr,
    ) -> MethodId {
        let id = self.method(module, name, returns, root);
        self.program[module].table.remove(&id);
        let method = &mut self.program[id];
        method.is_static = true;
        method.params = params.len() as u32;
        let local = |(i, ty): (usize, &Type)| Local {
            name: Name::new(&format!("p{i}")),
            ty: ty.clone(),
            span: Span::NONE,
        };
        method.body.locals = params.iter().enumerate().map(local).collect();
        id
    }

    /// An exception of a module.
    pub fn exception(&mut self, module: ModuleId, name: &str) -> ExceptionId {
        self.program.exceptions.push(Exception { path: vec![Name::new(name)], module, span: Span::NONE });
        ExceptionId(self.program.exceptions.len() as u32 - 1)
    }

    /// `return->method()`, dispatched.
    pub fn send(&self, receiver: Expr, method: MethodId) -> Expr {
        let ty = self.program[method].returns.clone();
        make(
            ty,
            ExprKind::Call(Box::new(Call {
                receiver: Some(receiver),
                ..plain_call(method, Dispatch::Dynamic)
            })),
        )
    }
}

fn plain_call(method: MethodId, dispatch: Dispatch) -> Call {
    Call { method, receiver: None, args: Vec::new(), dispatch, level: None }
}

/// An expression that stands nowhere.
pub fn make(ty: Type, kind: ExprKind) -> Expr {
    Expr::new(ty, Span::NONE, kind)
}

/// The type of a module's objects.
pub fn object(module: ModuleId) -> Type {
    Type::Module(ModuleRef { module, view: ViewId(0) })
}

/// `&self` in a method of `module`.
pub fn this_pointer(module: ModuleId) -> Expr {
    let this = make(object(module), ExprKind::This);
    make(Type::pointer(object(module)), ExprKind::AddressOf(Box::new(this)))
}

pub fn truth() -> Expr {
    Expr::bool(true, Span::NONE)
}

pub fn int(value: i64) -> Expr {
    make(Type::INT, ExprKind::Int(value))
}

pub fn raise(exception: ExceptionId) -> Expr {
    make(Type::Never, ExprKind::Raise(exception))
}

pub fn catch(body: Expr, these: Option<Vec<ExceptionId>>) -> Expr {
    make(Type::Bool, ExprKind::Catch(Box::new(body), these))
}

/// A void call of a method without receiver or arguments.
pub fn call(method: MethodId) -> Expr {
    make(Type::Void, ExprKind::Call(Box::new(plain_call(method, Dispatch::Exact))))
}

pub fn construct(module: ModuleId) -> Expr {
    make(object(module), ExprKind::Construct { module, args: Vec::new() })
}

/// The type is that of the last part.
pub fn sequence(parts: Vec<Expr>) -> Expr {
    let ty = parts.last().map_or(Type::Void, |last| last.ty.clone());
    make(ty, ExprKind::Sequence(parts))
}
