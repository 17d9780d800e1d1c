//! Typed trees as text, for golden tests and for people who work on the compiler.
//!
//! The notation is Prolac's with everything explicit: conversions are casts, calls say `dynamic` or name the definition.

use super::tree::{CPiece, Call, Dispatch, Expr, ExprKind, MinMax, UnaryOp, UpdateOp};
use super::{LocalId, MethodId, Program, Type};

/// A method with its signature and body.
pub fn print_method(program: &Program, method: MethodId) -> String {
    let m = &program[method];
    let params: Vec<String> = m.body.locals[..m.params as usize]
        .iter()
        .enumerate()
        .map(|(i, local)| format!("{}.{i} :> {}", local.name, program.type_name(&local.ty)))
        .collect();
    let is_static = if m.is_static { "static " } else { "" };
    let body = Printer { program, method }.expr(&m.body.root);
    format!(
        "{is_static}{}({}) :> {} ::= {body};\n",
        program.method_name(method),
        params.join(", "),
        program.type_name(&m.returns)
    )
}

/// One expression of the body of `method`, on one line.
pub fn print_expr(program: &Program, method: MethodId, expr: &Expr) -> String {
    Printer { program, method }.expr(expr)
}

struct Printer<'a> {
    program: &'a Program,
    method: MethodId,
}

impl Printer<'_> {
    fn expr(&self, e: &Expr) -> String {
        use ExprKind::*;
        match &e.kind {
            Nothing => "nothing".into(),
            Int(value) if e.ty == Type::Bool => (*value != 0).to_string(),
            Int(value) => match e.ty.int() {
                Some(super::IntType::Int) => value.to_string(),
                Some(super::IntType::Ulong) => format!("{}ulong", *value as u64),
                _ => format!("{value}{}", self.program.type_name(&e.ty)),
            },
            Null => "null".into(),
            Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            Local(local) => self.local(*local),
            This => "self".into(),
            Field(object, field) => format!("{}.{}", self.expr(object), self.field(*field)),
            StaticField(field) => self.program.field_name(*field),
            Deref(pointer) => format!("(*{})", self.expr(pointer)),
            AddressOf(place) => format!("&{}", self.expr(place)),
            Convert(from) => format!("({}){}", self.program.type_name(&e.ty), self.expr(from)),
            Unary(op, a) => format!("{}{}", unary(*op), self.expr(a)),
            Binary(op, a, b) => format!("({} {} {})", self.expr(a), op.symbol(), self.expr(b)),
            MinMax(which, a, b) => format!("{}({}, {})", min_max(*which), self.expr(a), self.expr(b)),
            And(a, b) => format!("({} && {})", self.expr(a), self.expr(b)),
            Or(a, b) => format!("({} || {})", self.expr(a), self.expr(b)),
            Implies(a, b) => format!("({} ==> {})", self.expr(a), self.expr(b)),
            Conditional(c, a, b) => format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b)),
            _ => self.action(e),
        }
    }

    /// What is done rather than computed.
    fn action(&self, e: &Expr) -> String {
        use ExprKind::*;
        match &e.kind {
            Sequence(all) => format!("({})", self.list(all)),
            Let(bindings, body) => {
                let bindings: Vec<String> =
                    bindings.iter().map(|(l, v)| self.binding(*l, v.as_ref())).collect();
                format!("let {} in {} end", bindings.join(", "), self.expr(body))
            }
            Assign(place, value) => format!("({} = {})", self.expr(place), self.expr(value)),
            Update { op, place, value, compute } => format!(
                "({} {}=[{}] {})",
                self.expr(place),
                update(*op),
                self.program.type_name(compute),
                self.expr(value)
            ),
            Step { place, up, postfix } => {
                let op = if *up { "++" } else { "--" };
                let place = self.expr(place);
                if *postfix { format!("({place}{op})") } else { format!("({op}{place})") }
            }
            Call(call) => self.call(call),
            Construct { module, args } => {
                format!("{}({})", self.program.module_name(*module), self.list(args))
            }
            ConstructAt { place, module, args } => format!(
                "{}.constructor[{}]({})",
                self.expr(place),
                self.program.module_name(*module),
                self.list(args)
            ),
            Raise(exception) => format!("raise {}", self.program.exception_name(*exception)),
            Catch(body, None) => format!("({} catch all)", self.expr(body)),
            Catch(body, Some(caught)) => {
                let names: Vec<String> = caught.iter().map(|&e| self.program.exception_name(e)).collect();
                format!("({} catch ({}))", self.expr(body), names.join(", "))
            }
            CBlock(block) => {
                let pieces = block.pieces.iter().map(|piece| match piece {
                    CPiece::Text(text, _) => text.clone(),
                    CPiece::Value(value) => format!("`{}`", self.expr(value)),
                });
                format!("{{{}}}", pieces.collect::<String>())
            }
            Outline(level, a) => format!("outline[{level}] {}", self.expr(a)),
            _ => "missing".into(),
        }
    }

    fn call(&self, call: &Call) -> String {
        let level = call.level.map_or(String::new(), |level| format!("inline[{level}] "));
        let dynamic = if call.dispatch == Dispatch::Dynamic { "dynamic " } else { "" };
        let receiver = call.receiver.as_ref().map_or(String::new(), |r| format!("{}->", self.expr(r)));
        format!(
            "{level}{dynamic}{receiver}{}({})",
            self.program.method_name(call.method),
            self.list(&call.args)
        )
    }

    fn binding(&self, local: LocalId, value: Option<&Expr>) -> String {
        match value {
            Some(value) => format!("{} = {}", self.local(local), self.expr(value)),
            None => self.local(local),
        }
    }

    fn list(&self, all: &[Expr]) -> String {
        all.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    /// Locals have their number after the name, because names are not unique.
    fn local(&self, local: LocalId) -> String {
        match self.program[self.method].body.locals.get(local.0 as usize) {
            Some(l) => format!("{}.{}", l.name, local.0),
            None => format!("?.{}", local.0),
        }
    }

    fn field(&self, field: super::FieldId) -> String {
        super::dotted(&self.program[field].path)
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "-",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
    }
}

fn min_max(which: MinMax) -> &'static str {
    match which {
        MinMax::Min => "min",
        MinMax::Max => "max",
    }
}

fn update(op: UpdateOp) -> &'static str {
    match op {
        UpdateOp::Binary(op) => op.symbol(),
        UpdateOp::MinMax(which) => min_max(which),
    }
}
