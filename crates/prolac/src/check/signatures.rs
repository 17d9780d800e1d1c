//! Types of fields, parameters and results, found when they are first asked for.

use std::rc::Rc;

use clickwork_source::{Diagnostic, Span};

use super::Checker;
use crate::Name;
use crate::names::Scope;
use crate::program::{FieldId, IntType, MethodId, MethodKind, ModuleRef, Type};
use crate::syntax::ast::{self, Builtin, TypeKind};

/// How far something found on demand is.
#[derive(Clone, Debug)]
pub enum Progress<T> {
    /// Nobody has asked.
    NotYet,
    /// It is being found: asking again goes round in a circle.
    Working,
    /// Here it is.
    Done(T),
}

/// What a caller has to know of a method.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Name, type and place of each parameter.
    pub params: Rc<[(Name, Type, Span)]>,
    /// The type of the result.
    pub returns: Type,
}

impl<'a> Checker<'a> {
    /// Finds the types of all fields and methods, so that all mistakes in them are reported.
    pub(super) fn resolve_all_signatures(&mut self) {
        for index in 0..self.program.fields.len() as u32 {
            let ty = self.field_type(FieldId(index));
            self.program[FieldId(index)].ty = ty;
            self.resolve_offset(FieldId(index));
        }
        for method in self.program.method_ids() {
            let signature = self.signature(method);
            self.program[method].returns = signature.returns;
            self.program[method].params = signature.params.len() as u32;
        }
    }

    /// The parameters and the result of a method.
    pub fn signature(&mut self, method: MethodId) -> Signature {
        match &self.signatures[method.0 as usize] {
            Progress::Done(signature) => return signature.clone(),
            Progress::Working => return Signature { params: Rc::from([]), returns: Type::Error },
            Progress::NotYet => {}
        }
        self.signatures[method.0 as usize] = Progress::Working;
        let signature = self.find_signature(method);
        self.signatures[method.0 as usize] = Progress::Done(signature.clone());
        signature
    }

    /// Changes what a method without a written type returns.
    pub(super) fn set_returns(&mut self, method: MethodId, returns: Type) {
        if let Progress::Done(signature) = &mut self.signatures[method.0 as usize] {
            signature.returns = returns.clone();
        }
        self.program[method].returns = returns;
    }

    fn find_signature(&mut self, method: MethodId) -> Signature {
        if let Some(ast) = self.names.method_ast(method) {
            return self.written_signature(method, ast);
        }
        if let Some(forward) = self.names.forward(method) {
            return self.signature(forward.method);
        }
        let parent = self.program[self.program[method].module].parent;
        match parent.map(|parent| self.program[parent].constructor) {
            Some(constructor) => self.signature(constructor),
            None => Signature { params: Rc::from([]), returns: Type::Void },
        }
    }

    fn written_signature(&mut self, method: MethodId, ast: &'a ast::Method) -> Signature {
        let scope = self.names.method_scope(&self.program, method);
        let params = ast.params.iter().enumerate().map(|(i, param)| {
            let ty = self.parameter_type(&scope, &param.ty);
            match &param.name {
                Some(name) => (name.name.clone(), ty, name.span),
                None => (Name::new(&format!("_{i}")), ty, param.ty.span),
            }
        });
        let params: Rc<[(Name, Type, Span)]> = params.collect();
        let constructor = self.program[method].kind == MethodKind::Constructor;
        let returns = match &ast.returns {
            Some(ty) if !constructor => self.result_type(&scope, ty),
            _ => Type::Void,
        };
        self.check_parameter_names(ast);
        Signature { params, returns }
    }

    fn check_parameter_names(&mut self, ast: &ast::Method) {
        let names: Vec<&ast::Ident> = ast.params.iter().filter_map(|p| p.name.as_ref()).collect();
        for (i, name) in names.iter().enumerate() {
            if let Some(first) = names[..i].iter().find(|other| other.name == name.name) {
                let message = format!("two parameters are called `{}`", name.name);
                self.report(Diagnostic::error(name.span, message).label(first.span, "the first one"));
            }
        }
    }

    /// Arrays are passed by the address of their first element, as in C.
    fn parameter_type(&mut self, scope: &Scope, ast: &'a ast::Type) -> Type {
        match self.resolve_type(scope, ast) {
            Type::Void => self.no_values_of(ast.span, "a parameter"),
            Type::Array(of, _) => Type::Pointer(of),
            ty => ty,
        }
    }

    fn result_type(&mut self, scope: &Scope, ast: &'a ast::Type) -> Type {
        match self.resolve_type(scope, ast) {
            Type::Array(..) => {
                let hint = "return a pointer to its first element";
                self.report(Diagnostic::error(ast.span, "a method cannot return an array").hint(hint));
                Type::Error
            }
            ty => ty,
        }
    }

    fn no_values_of(&mut self, span: Span, what: &str) -> Type {
        self.error(span, format!("{what} cannot be void: there is no value of that type"));
        Type::Error
    }

    /// The type of a field.
    pub fn field_type(&mut self, field: FieldId) -> Type {
        match &self.field_types[field.0 as usize] {
            Progress::Done(ty) => return ty.clone(),
            Progress::Working => return Type::Error,
            Progress::NotYet => {}
        }
        self.field_types[field.0 as usize] = Progress::Working;
        let ast = self.names.field_ast(field);
        let scope = self.names.field_scope(&self.program, field);
        let ty = match self.resolve_type(&scope, &ast.ty) {
            Type::Void => self.no_values_of(ast.ty.span, "a field"),
            ty => ty,
        };
        self.field_types[field.0 as usize] = Progress::Done(ty.clone());
        ty
    }

    fn resolve_offset(&mut self, field: FieldId) {
        let ast = self.names.field_ast(field);
        let Some(expr) = &ast.offset else { return };
        if ast.is_static {
            self.report(
                Diagnostic::error(expr.span, "a static field has no offset")
                    .hint("`@` says where in each object a dynamic field lies"),
            );
            return;
        }
        let scope = self.names.field_scope(&self.program, field);
        let Some(value) = self.constant_expr(&scope, expr, "the offset of a field") else { return };
        match u64::try_from(value) {
            Ok(offset) => self.program[field].offset = Some(offset),
            Err(_) => self
                .error(expr.span, format!("the offset of a field cannot be negative, and this is {value}")),
        }
    }

    /// What a type as written means. `Type::Error` after a message.
    pub fn resolve_type(&mut self, scope: &Scope, ast: &'a ast::Type) -> Type {
        match &ast.kind {
            TypeKind::Builtin(builtin) => builtin_type(*builtin),
            TypeKind::Module(expr) => {
                let Checker { names, program, diagnostics, .. } = self;
                match names.module_expr_view(program, scope, expr, diagnostics) {
                    Some((module, view)) => Type::Module(ModuleRef { module, view }),
                    None => Type::Error,
                }
            }
            TypeKind::Pointer(to) => match self.resolve_type(scope, to) {
                Type::Array(..) => {
                    let hint = "`*T[k]` means `*(T[k])`; for an array of pointers write `(*T)[k]`";
                    self.report(Diagnostic::error(ast.span, "there are no pointers to arrays").hint(hint));
                    Type::Error
                }
                Type::Error => Type::Error,
                to => Type::pointer(to),
            },
            TypeKind::Array(of, count) => self.array_type(scope, of, count),
        }
    }

    fn array_type(&mut self, scope: &Scope, of: &'a ast::Type, count: &'a ast::Expr) -> Type {
        let element = match self.resolve_type(scope, of) {
            Type::Void => self.no_values_of(of.span, "an element of an array"),
            ty => ty,
        };
        let Some(value) = self.constant_expr(scope, count, "the size of an array") else {
            return Type::Error;
        };
        match u64::try_from(value) {
            Ok(count) if element != Type::Error => Type::Array(Rc::new(element), count),
            Ok(_) => Type::Error,
            Err(_) => {
                self.error(
                    count.span,
                    format!("the size of an array cannot be negative, and this is {value}"),
                );
                Type::Error
            }
        }
    }
}

/// The type that a keyword names.
pub fn builtin_type(builtin: Builtin) -> Type {
    match builtin {
        Builtin::Void => Type::Void,
        Builtin::Bool => Type::Bool,
        Builtin::Char => Type::Int(IntType::Char),
        Builtin::Short => Type::Int(IntType::Short),
        Builtin::Int => Type::Int(IntType::Int),
        Builtin::Long => Type::Int(IntType::Long),
        Builtin::Uchar => Type::Int(IntType::Uchar),
        Builtin::Ushort => Type::Int(IntType::Ushort),
        Builtin::Uint => Type::Int(IntType::Uint),
        Builtin::Ulong => Type::Int(IntType::Ulong),
        Builtin::Seqint => Type::Int(IntType::Seqint),
    }
}
