//! A readable dump of a syntax tree: nested lists, each on one line if it is short.

use clickwork_source::{Sources, Span};

use super::ast::*;

/// The longest line a list is put on.
const WIDTH: usize = 100;

/// The tree as text, without places, for `--emit=ast` and for tests.
pub fn dump(program: &Program, sources: &Sources) -> String {
    let dumper = Dumper { sources };
    let mut out = String::new();
    for item in &program.items {
        dumper.top_item(item).print(0, &mut out);
        out.push('\n');
    }
    out
}

enum List {
    Word(String),
    Of(Vec<List>),
}

impl List {
    fn new(head: &str, rest: impl IntoIterator<Item = List>) -> List {
        List::Of(std::iter::once(word(head)).chain(rest).collect())
    }

    /// Prints it from column `indent` on.
    fn print(&self, indent: usize, out: &mut String) {
        let mut flat = String::new();
        if self.print_flat(WIDTH.saturating_sub(indent).max(20), &mut flat) {
            out.push_str(&flat);
            return;
        }
        let List::Of(parts) = self else { return };
        let words = parts.iter().take_while(|p| matches!(p, List::Word(_))).count();
        out.push('(');
        for (i, part) in parts.iter().enumerate() {
            if i >= words {
                out.push('\n');
                out.push_str(&" ".repeat(indent + 2));
            } else if i > 0 {
                out.push(' ');
            }
            part.print(indent + 2, out);
        }
        out.push(')');
    }

    /// Prints it on one line, unless that gets longer than `width`. Words are never broken.
    fn print_flat(&self, width: usize, out: &mut String) -> bool {
        match self {
            List::Word(text) => out.push_str(text),
            List::Of(parts) => {
                out.push('(');
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    if !part.print_flat(width, out) || out.len() > width {
                        return false;
                    }
                }
                out.push(')');
            }
        }
        matches!(self, List::Word(_)) || out.len() <= width
    }
}

fn word(text: impl Into<String>) -> List {
    List::Word(text.into())
}

/// A list that is left out when it would be empty.
fn optional(head: &str, parts: Vec<List>) -> Option<List> {
    (!parts.is_empty()).then(|| List::new(head, parts))
}

struct Dumper<'a> {
    sources: &'a Sources,
}

impl Dumper<'_> {
    fn top_item(&self, item: &TopItem) -> List {
        match item {
            TopItem::Module(module) => self.module(module),
            TopItem::Equation(e) => List::new("equation", [path(&e.name), self.module_expr(&e.value)]),
            TopItem::Namespace(n) => self.namespace(n, Self::top_item),
            TopItem::Export(export) => List::new("export", export.names.iter().map(path)),
            TopItem::Support(support) => self.support(support),
        }
    }

    fn module(&self, module: &Module) -> List {
        let exprs = |list: &[ModuleExpr]| list.iter().map(|m| self.module_expr(m)).collect();
        let operators = module.operators.iter().map(|o| self.operator(o)).collect();
        let parts = [optional(":>", exprs(&module.parents)), optional("has", exprs(&module.imports))];
        let members = module.members.iter().map(|m| self.member(m));
        let rest = parts.into_iter().flatten().chain(members).chain(optional("operators", operators));
        List::new("module", std::iter::once(path(&module.name)).chain(rest))
    }

    fn namespace<Item>(&self, namespace: &Namespace<Item>, item: fn(&Self, &Item) -> List) -> List {
        let items = namespace.items.iter().map(|i| item(self, i));
        List::new("namespace", std::iter::once(path(&namespace.name)).chain(items))
    }

    fn support(&self, support: &Support) -> List {
        let place = support.first.then(|| word("first"));
        List::new("support", place.into_iter().chain([self.code(support.text)]))
    }

    fn code(&self, span: Span) -> List {
        word(format!("{:?}", self.sources.slice(span)))
    }

    fn member(&self, member: &Member) -> List {
        match member {
            Member::Method(method) => self.method(method),
            Member::Field(field) => self.field(field),
            Member::Exception(name) => List::new("exception", [ident(name)]),
            Member::Namespace(namespace) => self.namespace(namespace, Self::member),
            Member::Support(support) => self.support(support),
        }
    }

    fn method(&self, method: &Method) -> List {
        let mut parts: Vec<List> = method.is_static.then(|| word("static")).into_iter().collect();
        parts.push(path(&method.name));
        parts.extend(optional("params", method.params.iter().map(|p| self.param(p)).collect()));
        parts.extend(method.returns.iter().map(|ty| List::new(":>", [self.ty(ty)])));
        parts.extend(method.body.iter().map(|body| self.expr(body)));
        List::new("method", parts)
    }

    fn param(&self, param: &Param) -> List {
        match &param.name {
            Some(name) => List::Of(vec![ident(name), self.ty(&param.ty)]),
            None => self.ty(&param.ty),
        }
    }

    fn field(&self, field: &Field) -> List {
        let mut parts: Vec<List> = field.is_static.then(|| word("static")).into_iter().collect();
        parts.extend([path(&field.name), self.ty(&field.ty)]);
        parts.extend(field.offset.iter().map(|offset| List::new("@", [self.expr(offset)])));
        List::new("field", parts)
    }

    fn module_expr(&self, module: &ModuleExpr) -> List {
        let name = match module.previous {
            true => List::new("super", [path(&module.name)]),
            false => path(&module.name),
        };
        if module.operators.is_empty() {
            return name;
        }
        let operators = module.operators.iter().map(|o| self.operator(o));
        List::new("view", std::iter::once(name).chain(operators))
    }

    fn operator(&self, operator: &ModuleOperator) -> List {
        let head = match &operator.kind {
            ModuleOperatorKind::Hide => word("hide"),
            ModuleOperatorKind::Show => word("show"),
            ModuleOperatorKind::Rename => word("rename"),
            ModuleOperatorKind::Using => word("using"),
            ModuleOperatorKind::NotUsing => word("notusing"),
            ModuleOperatorKind::Inline(level) => self.inline_level(level),
        };
        List::Of(std::iter::once(head).chain(operator.operands.iter().map(operand)).collect())
    }

    fn inline_level(&self, level: &InlineLevel) -> List {
        match level {
            InlineLevel::Fixed(level) => word(format!("inline{level}")),
            InlineLevel::Computed(level) => List::new("inline", [self.expr(level)]),
        }
    }

    fn ty(&self, ty: &Type) -> List {
        match &ty.kind {
            TypeKind::Builtin(builtin) => word(builtin_text(*builtin)),
            TypeKind::Module(module) => self.module_expr(module),
            TypeKind::Pointer(target) => List::new("*", [self.ty(target)]),
            TypeKind::Array(element, size) => List::new("array", [self.ty(element), self.expr(size)]),
        }
    }

    fn expr(&self, expr: &Expr) -> List {
        let name = |dot, n: &Ident| word(format!("{dot}{}", n.name));
        match &expr.kind {
            ExprKind::Name { global, name: n } => name(if *global { "." } else { "" }, n),
            ExprKind::Int { value, ty } => word(integer(*value, *ty)),
            ExprKind::Str(bytes) => word(format!("\"{}\"", bytes.escape_ascii())),
            ExprKind::Bool(value) => word(value.to_string()),
            ExprKind::SelfRef => word("self"),
            ExprKind::Super => word("super"),
            ExprKind::Error => word("<error>"),
            ExprKind::CBlock(code) => List::new("c", [self.code(*code)]),
            ExprKind::Member(object, n) => List::Of(vec![word("."), self.expr(object), name("", n)]),
            ExprKind::Arrow(object, n) => List::Of(vec![word("->"), self.expr(object), name("", n)]),
            ExprKind::Call(function, args) => {
                List::new("call", std::iter::once(&**function).chain(args).map(|e| self.expr(e)))
            }
            ExprKind::Index(array, index) => self.list("index", [array, index]),
            ExprKind::Cast(ty, e) => List::new("cast", [self.ty(ty), self.expr(e)]),
            ExprKind::Assert(e, ty) => List::new(":>", [self.expr(e), self.ty(ty)]),
            ExprKind::Module(module) => self.module_expr(module),
            ExprKind::Inline(level, e) => List::Of(vec![self.inline_level(level), self.expr(e)]),
            ExprKind::Outline(level, e) => {
                List::new("outline", level.iter().chain([e]).map(|e| self.expr(e)))
            }
            ExprKind::If { arms, otherwise } => self.if_then(arms, otherwise.as_deref()),
            ExprKind::Let { bindings, body } => {
                let bindings = bindings.iter().map(|b| self.binding(b));
                List::new("let", bindings.chain([self.expr(body)]))
            }
            ExprKind::Catch { body, names } => {
                List::new("catch", std::iter::once(self.expr(body)).chain(names.iter().map(path)))
            }
            _ => self.operation(&expr.kind),
        }
    }

    /// The forms that consist of an operator and operands.
    fn operation(&self, kind: &ExprKind) -> List {
        match kind {
            ExprKind::Unary(op, e) => self.list(unary_text(*op), [e]),
            ExprKind::Postfix(PostfixOp::Increment, e) => self.list("post++", [e]),
            ExprKind::Postfix(PostfixOp::Decrement, e) => self.list("post--", [e]),
            ExprKind::Binary(op, a, b) => self.list(binary_text(*op), [a, b]),
            ExprKind::Conditional(c, a, b) => self.list("?", [c, a, b]),
            ExprKind::Assign(op, a, b) => self.list(&format!("{}=", op.map_or("", assign_text)), [a, b]),
            ExprKind::MinMax(which, a, b) => self.list(min_max_text(*which), [a, b]),
            ExprKind::Comma(members) => List::new(",", members.iter().map(|e| self.expr(e))),
            ExprKind::Implies(a, b) => self.list("==>", [a, b]),
            ExprKind::CaseBar(all) => List::new("|||", all.iter().map(|e| self.expr(e))),
            ExprKind::Chain(first, rest) => {
                let rest = rest.iter().map(|(op, e)| self.list(binary_text(*op), [e]));
                List::new("chain", std::iter::once(self.expr(first)).chain(rest))
            }
            _ => List::Of(Vec::new()),
        }
    }

    fn list<const N: usize>(&self, head: &str, operands: [&Expr; N]) -> List {
        List::new(head, operands.map(|e| self.expr(e)))
    }

    fn if_then(&self, arms: &[(Expr, Expr)], otherwise: Option<&Expr>) -> List {
        let arms = arms.iter().map(|(c, value)| List::Of(vec![self.expr(c), self.expr(value)]));
        List::new("if", arms.chain(otherwise.map(|e| List::new("else", [self.expr(e)]))))
    }

    fn binding(&self, binding: &Binding) -> List {
        let mut parts = vec![ident(&binding.name)];
        parts.extend(binding.ty.iter().map(|ty| List::new(":>", [self.ty(ty)])));
        let args = binding.args.as_ref();
        parts.extend(args.map(|args| List::new("args", args.iter().map(|e| self.expr(e)))));
        parts.extend(binding.value.iter().map(|e| List::new("=", [self.expr(e)])));
        List::Of(parts)
    }
}

fn ident(ident: &Ident) -> List {
    word(ident.name.as_str())
}

fn path(path: &Path) -> List {
    let parts: Vec<&str> = path.parts.iter().map(|p| p.name.as_str()).collect();
    word(format!("{}{}", if path.global { "." } else { "" }, parts.join(".")))
}

fn operand(operand: &Operand) -> List {
    match operand {
        Operand::Name(name) => path(name),
        Operand::Pair { new, old } => List::new("=", [path(new), path(old)]),
        Operand::Pattern { glob, .. } => word(format!("{glob:?}")),
    }
}

fn integer(value: u64, ty: Builtin) -> String {
    match ty {
        Builtin::Int => value.to_string(),
        _ => format!("{value}:{}", builtin_text(ty)),
    }
}

/// The keyword for a type.
fn builtin_text(ty: Builtin) -> &'static str {
    match ty {
        Builtin::Void => "void",
        Builtin::Bool => "bool",
        Builtin::Char => "char",
        Builtin::Short => "short",
        Builtin::Int => "int",
        Builtin::Long => "long",
        Builtin::Uchar => "uchar",
        Builtin::Ushort => "ushort",
        Builtin::Uint => "uint",
        Builtin::Ulong => "ulong",
        Builtin::Seqint => "seqint",
    }
}

fn unary_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Deref => "*",
        UnaryOp::AddressOf => "&",
        UnaryOp::Plus => "+",
        UnaryOp::Negate => "-",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
        UnaryOp::Increment => "++",
        UnaryOp::Decrement => "--",
    }
}

fn binary_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Less => "<",
        BinaryOp::Greater => ">",
        BinaryOp::LessEqual => "<=",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn assign_text(op: AssignOp) -> &'static str {
    match op {
        AssignOp::Binary(op) => binary_text(op),
        AssignOp::MinMax(which) => min_max_text(which),
    }
}

fn min_max_text(which: MinMax) -> &'static str {
    match which {
        MinMax::Min => "min",
        MinMax::Max => "max",
    }
}
