//! Expressions that decide what is evaluated: choices, sequences, variables, exceptions; and those without a value.

use super::Generator;
use super::expressions::Want;
use super::model::{INTS, Ty};
use super::node::Node;
use super::scope::{Path, Scope, Var};

impl Generator {
    /// A choice, a sequence, a `let` or an operator around an expression of any kind.
    pub fn control(&mut self, s: &mut Scope, want: Want, d: u32) -> Node {
        match self.random.weighted(&[20, 14, 18, 22, 14, 8, 6]) {
            0 => {
                let (c, a, b) =
                    (self.condition(s, d), self.expression(s, want, d), self.expression(s, want, d));
                Node::new(want.simple(), "($ ? $ : $)", vec![c, a, b])
            }
            1 => self.if_chain(s, want, d),
            2 => self.case_bars(s, want, d),
            3 => self.variables(s, want, d),
            4 => {
                let (a, b) = (self.void(s, d), self.expression(s, want, d));
                Node::new(want.simple(), "($, $)", vec![a, b])
            }
            5 => {
                let level = *self.random.pick(&[
                    "inline",
                    "inline[1]",
                    "noinline",
                    "defaultinline",
                    "pathinline",
                    "inline[3]",
                ]);
                let a = self.expression(s, want, d);
                Node::new(want.simple(), format!("({level} $)"), vec![a])
            }
            _ => {
                let (c, a, b) =
                    (self.condition(s, d), self.expression(s, want, d), self.expression(s, want, d));
                let level = *self.random.pick(&["outline", "outline[0]", "outline[10]"]);
                let form = *self.random.pick(&["($ ? $ : L $)", "($ ? L $ : $)"]);
                Node::new(want.simple(), form.replace('L', level), vec![c, a, b])
            }
        }
    }

    fn if_chain(&mut self, s: &mut Scope, want: Want, d: u32) -> Node {
        let mut parts = vec![self.condition(s, d), self.expression(s, want, d)];
        let mut text = "if $ then $".to_string();
        while self.random.percent(30) {
            parts.extend([self.condition(s, d), self.expression(s, want, d)]);
            text += " elseif $ then $";
        }
        if want != Want::Void || self.random.percent(50) {
            parts.push(self.expression(s, want, d));
            text += " else $";
        }
        Node::new(want.simple(), text + " end", parts)
    }

    fn case_bars(&mut self, s: &mut Scope, want: Want, d: u32) -> Node {
        let (mut parts, mut text) = (Vec::new(), String::new());
        for _ in 0..self.random.range(1, 3) {
            if self.random.percent(20) {
                parts.push(self.void(s, d));
                text += "$, ";
            }
            parts.extend([self.condition(s, d), self.expression(s, want, d)]);
            text += "$ ==> $ ||| ";
        }
        parts.push(self.expression(s, want, d));
        Node::new(want.simple(), format!("({text}$)"), parts)
    }

    fn variables(&mut self, s: &mut Scope, want: Want, d: u32) -> Node {
        let outer = s.vars.len();
        let (mut texts, mut parts, mut vars, mut setup) =
            (Vec::new(), Vec::new(), Vec::<Var>::new(), Vec::new());
        for _ in 0..self.random.range(1, 3) {
            let name = self.var_name();
            if vars.iter().any(|v| v.name == name) {
                continue;
            }
            if let Some((text, nodes, ty)) = self.binding(s, &name, d) {
                texts.push(text);
                parts.extend(nodes);
                vars.push(Var::new(name, ty));
            }
        }
        if texts.is_empty() {
            return self.expression(s, want, d);
        }
        for var in &vars {
            if let Ty::Array(_, count) = var.ty {
                setup.extend((0..count).map(|i| format!("{}[{i}] = {}", var.name, i * 100 + 7)));
            }
        }
        s.vars.extend(vars);
        let body = self.expression(s, want, d);
        s.vars.truncate(outer);
        let setup: String = setup.into_iter().map(|s| s + ", ").collect();
        parts.push(body);
        Node::new(want.simple(), format!("let {} in {setup}$ end", texts.join(", ")), parts)
    }

    /// An expression with some objects to work on.
    pub fn with_objects(&mut self, s: &mut Scope, want: Want, count: usize) -> Node {
        let name = format!("o{count}");
        let binding = if count == 0 { None } else { self.object_binding(s, &name, 2) };
        let Some((text, mut parts, ty)) = binding else { return self.expression(s, want, 6) };
        let pointer = self.pointer_to_ancestor(s, &name, &ty);
        s.vars.push(Var::new(name, ty));
        let (before, after) = pointer.map_or((String::new(), ""), |(text, var)| {
            s.vars.push(var);
            (format!("let {text} in "), " end")
        });
        parts.push(self.with_objects(s, want, count - 1));
        Node::new(want.simple(), format!("let {text} in {before}${after} end"), parts)
    }

    /// A pointer to an object as one of an ancestor of it.
    fn pointer_to_ancestor(&mut self, s: &Scope, name: &str, ty: &Ty) -> Option<(String, Var)> {
        let Ty::Object(module) = *ty else { return None };
        let above = |view: &usize| {
            let ancestor = self.model.views[*view].module;
            ancestor != module && self.model.is_derived(module, ancestor)
        };
        let views: Vec<usize> = self.model.modules[s.module].imports.iter().copied().filter(above).collect();
        let ty = Ty::Pointer(*self.random.pick_some(&views)?);
        let pointer = format!("to-{name}");
        Some((format!("{pointer} :> {} = &{name}", self.model.type_name(&ty)), Var::new(pointer, ty)))
    }

    /// A variable with its initial value.
    fn binding(&mut self, s: &mut Scope, name: &str, d: u32) -> Option<(String, Vec<Node>, Ty)> {
        match self.random.weighted(&[40, 10, 22, 14, 8, 6]) {
            0 => {
                let int = self.any_int();
                let value = self.int(s, d);
                Some((format!("{name} :> {} = $", INTS[int]), vec![value], Ty::Int(int)))
            }
            1 => {
                let value = self.bool(s, d);
                Some((format!("{name} = $"), vec![value], Ty::Bool))
            }
            2 => self.object_binding(s, name, d),
            3 => {
                let views = self.model.modules[s.module].imports.clone();
                let view = *self.random.pick_some(&views)?;
                let value = self.pointer(s, view)?;
                let ty = Ty::Pointer(view);
                Some((format!("{name} :> {} = $", self.model.type_name(&ty)), vec![value], ty))
            }
            4 => {
                let (int, count) = (self.any_int(), *self.random.pick(&[1, 2, 4]));
                Some((format!("{name} :> {}[{count}]", INTS[int]), vec![], Ty::Array(int, count)))
            }
            _ => {
                let int = self.any_int();
                let pointer = self.int_pointer(s, int)?;
                Some((format!("{name} :> *{} = $", INTS[int]), vec![pointer], Ty::IntPointer(int)))
            }
        }
    }

    fn object_binding(&mut self, s: &mut Scope, name: &str, d: u32) -> Option<(String, Vec<Node>, Ty)> {
        let module = self.constructible(s)?;
        let constructor = self.model.modules[module].constructor.clone();
        let type_name = self.model.type_name(&Ty::Object(module));
        let ty = Ty::Object(module);
        if constructor.params.is_empty() && self.random.percent(50) {
            s.budget -= constructor.cost;
            return Some((format!("{name} :> {type_name}"), vec![], ty));
        }
        if self.random.percent(40) {
            s.budget -= constructor.cost;
            let args = self.arguments(s, &constructor.params, d)?;
            let places = super::expressions::places(args.len());
            return Some((format!("{name} :> {type_name}({places})"), args, ty));
        }
        if self.model.modules[module].is_linked {
            return Some((format!("{name} = $"), vec![self.new_object(s, module, d)?], ty));
        }
        Some((format!("{name} :> {type_name} = $"), vec![self.object(s, module, d)?], ty))
    }

    pub fn void(&mut self, s: &mut Scope, depth: u32) -> Node {
        s.fuel -= 1;
        if depth == 0 || s.fuel < 0 {
            return self.void_leaf(s);
        }
        let d = depth - 1;
        let made = match self.random.weighted(&[28, 10, 22, 16, 14, 6, 10, 10, 8, 5]) {
            0 => self.change(s, d),
            1 => self.object_assignment(s, d),
            2 => self.call(s, Want::Void, d),
            3 => Some(self.control(s, Want::Void, d)),
            4 => {
                let (a, b) = (self.condition(s, d), self.void(s, d));
                Some(Node::new("(void)0", "($ ==> $)", vec![a, b]))
            }
            5 => {
                let (a, b) = (self.condition(s, d), self.void(s, d));
                Some(Node::new("(void)0", "($ || (void)$)", vec![a, b]))
            }
            6 => self.raise(s).map(|raise| {
                let c = self.condition(s, d);
                Node::new("(void)0", "($ ==> $)", vec![c, raise])
            }),
            7 => {
                let parts = vec![self.void(s, d), self.void(s, d), self.void(s, d)];
                Some(Node::new("(void)0", "($, $, $)", parts))
            }
            8 => Some(self.catch(s, d)),
            _ => self.construction(s, d),
        };
        made.unwrap_or_else(|| self.void_leaf(s))
    }

    fn void_leaf(&mut self, s: &mut Scope) -> Node {
        match self.int_place(s, None, true, 0) {
            Some(place) => {
                let value = self.literal();
                Node::new("(void)0", "($ += $)", vec![place, value])
            }
            None => Node::text("(void)0"),
        }
    }

    fn raise(&mut self, s: &Scope) -> Option<Node> {
        let names: Vec<String> =
            s.allowed.iter().filter_map(|&e| self.model.exception_name(e, s.module)).collect();
        self.random.pick_some(&names).map(|name| Node::new("", name.clone(), vec![]))
    }

    /// Something that can raise exceptions, and handlers for them.
    pub fn catch(&mut self, s: &mut Scope, d: u32) -> Node {
        let outer = s.allowed.clone();
        let mut names = Vec::new();
        let catches_all = self.random.percent(25);
        for exception in 0..self.model.exceptions.len() {
            let name = self.model.exception_name(exception, s.module);
            if let Some(name) = name.filter(|_| catches_all || self.random.percent(30)) {
                s.allowed.insert(exception);
                names.push(name);
            }
        }
        if catches_all {
            s.allowed.extend(0..self.model.exceptions.len());
            names = vec!["all".into()];
        }
        let body = self.protected(s, d);
        s.allowed = outer;
        match &names[..] {
            [] => self.handled(s, body, "all".into(), d),
            [one] => self.handled(s, body, one.clone(), d),
            several => self.handled(s, body, format!("({})", several.join(", ")), d),
        }
    }

    /// What handlers surround: likely to raise something.
    fn protected(&mut self, s: &mut Scope, d: u32) -> Node {
        let raise = self.raise(s).filter(|_| self.random.percent(60));
        let before = self.void(s, d);
        let Some(raise) = raise else { return Node::new("", "$", vec![before]) };
        let (c, after) = (self.condition(s, d), self.void(s, d));
        Node::new("", "$, ($ ==> $), $", vec![before, c, raise, after])
    }

    fn handled(&mut self, s: &mut Scope, body: Node, names: String, d: u32) -> Node {
        if self.random.percent(50) {
            return Node::new("true", format!("(($) catch {names})"), vec![body]);
        }
        let handler = self.void(s, d);
        if self.random.percent(40) {
            let last = self.void(s, d);
            return Node::new(
                "true",
                format!("(($) catch {names} ==> $ catch all ==> $)"),
                vec![body, handler, last],
            );
        }
        Node::new("true", format!("(($) catch {names} ==> $)"), vec![body, handler])
    }

    /// `a = b` for objects.
    fn object_assignment(&mut self, s: &mut Scope, d: u32) -> Option<Node> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for Path { text, ty, .. } in self.paths(s) {
            match ty {
                Ty::Object(module) => all.push((text, module)),
                Ty::Pointer(view) => all.push((format!("*{text}"), self.model.views[view].module)),
                _ => {}
            }
        }
        all.retain(|(_, module)| !self.model.modules[*module].is_linked);
        let (place, module) = self.random.prefer(&all, 50, |(place, _)| place.starts_with('*'))?.clone();
        let value = self.object(s, module, d)?;
        Some(Node::new("(void)0", format!("({place} = $)"), vec![value]))
    }

    /// `a.constructor(...)` on an object that is there.
    fn construction(&mut self, s: &mut Scope, d: u32) -> Option<Node> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for Path { text, ty, .. } in self.paths(s) {
            if let Ty::Object(module) = ty {
                all.push((text, module));
            }
        }
        all.retain(|(_, module)| !self.model.modules[*module].is_linked);
        let (place, module) = self.random.pick_some(&all)?.clone();
        let constructor = self.model.modules[module].constructor.clone();
        if constructor.rank >= s.rank || constructor.cost > s.budget {
            return None;
        }
        s.budget -= constructor.cost;
        let args = self.arguments(s, &constructor.params, d)?;
        let places = super::expressions::places(args.len());
        Some(Node::new("(void)0", format!("{place}.constructor({places})"), args))
    }
}
